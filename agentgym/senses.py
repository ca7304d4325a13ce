"""Words that mean the same to the scripted user, wide: what people say for one thing when they ask for it.

A *sense* is as wide as a question may be: "who is his superior" and "whom does he report to" are one. That is too wide
to be sure by itself, so senses are weighed (`agentgym.weighing`) and count where `agentgym.lexicon`, which is narrow,
hears nothing. A phrase is found by the stems of its words; a word may have several senses.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import Final, NamedTuple

from agentgym.lexicon import STOP, stemmed

_SENSES: Final = """
reason: why, reason, cause, caused, motive, ground for, grounds, what made, what make, what led, what prompted,
    how come, justification, justify, justified, explain, explanation, background, rationale, what is behind,
    what's behind, basis, on what basis, because, what happened, what didn't you like, what don't you like,
    you don't like, you didn't like, not like about, didn't like about, dislike, what was the problem, what went wrong,
    what is the matter, what's the matter, due to, change of mind, change your mind, motivation, no longer want,
    don't want, not want, any more, unhappy with, dissatisfied, the matter with, was the matter, the matter / 为什么,
    为何, 为啥, 原因, 理由, 缘由, 怎么回事, 因为什么, 依据, 出于什么, 怎么想, 不想要, 不满意, 何故, 缘故
purpose: what for, for what, purpose, intend to use, intended for, use it for, need it for, need this for,
    need that for, need them for, needed for, used for, want it for, know that for, intention, aim, why do you need,
    why do you want to know, why do you ask, need this data / 用途, 目的, 做什么用, 干什么用, 用来, 为了什么,
    为什么需要, 为何需要, 做什么
count: how many, what number of, how much of, quantity, count, how often, how many times, one or two, one or both,
    both or only, just one, only one, or two, or both, all of them or / 几个, 几件, 几只, 几次, 几份, 几套, 多少个,
    多少次, 多少件, 数量, 几口, 都还是, 还是只, 多少
which: which, which one, which of, whom do you mean, who do you mean, you mean, is meant, are meant, have in mind,
    refer to, referring to, talking about, who is it about, whom is it about, mean by, in question, specify, 's meant,
    who exactly, whom exactly / 哪位, 哪一位, 哪个, 哪一个, 指的是, 是指, 哪一份, 说的是, 哪一种, 哪名, 哪份, 要改的是,
    哪一条, 哪条, 哪件, 哪笔
ambiguous: two people, two employees, two persons, several people, more than one, two of them, by that name,
    of that name, by the name of, people called, employee called, person called, people named, employee named,
    persons named, same name, several, there are two, I find two, two with, namesake, two request, multiple,
    different people, there are three, identical name / 同名, 两位, 两个, 好几位, 不止一位, 有几位, 多位, 几个人,
    不止一个, 两份, 多份, 好几个
who: who, whom, whose, by whom, to whom, which person / 谁, 何人
when: when, what day, which day, what date, which date, date, on what day, what time, how long ago, as of, since when,
    what month, which month, from when / 什么时候, 何时, 哪天, 哪一天, 几号, 几月, 日期, 什么时间, 从哪天, 哪一日, 何日
where: where, whereabouts, which place, what place, location, located, which part, what part, which spot,
    part of the company, which area, which office, which site, based / 哪里, 哪儿, 何处, 什么地方, 位置, 在哪
howlong: how long, until when, until, till, expire, expiry, end date, ends, time limit, limited time, limited,
    duration, for what period, how much time, run out, indefinite, permanent, temporary, for good, last until, forever,
    valid, validity / 多久, 到什么时候, 到哪天, 期限, 有效期, 截止, 到期, 多长时间, 多长
period: period, which months, what months, which month, which year, what year, of what year, this year or last, year,
    time span, time frame, timeframe, months, range, from when to when, over what period, last year, interval,
    / 哪一年, 哪年, 年份, 期间, 时间段, 月份, 哪几个月, 时间范围
amount: how much, amount, sum, total, what sum, figure / 多少钱, 金额, 总额, 数额, 多大金额
name: name, spelled, spelt, spelling, written differently, spell, surname, full name, another name, other name / 名字,
    姓名, 拼写, 叫什么, 写法
manager: manager, line manager, supervisor, superior, boss, team lead, team leader, lead, head, report to, reports to,
    reporting to, report, chief, principal / 经理, 上级, 主管, 领导, 组长, 负责人, 汇报, 直属
responsible: responsible, in charge, look after, looks after, looking after, take care of, who handles, competent,
    accountable, business partner, partner / 负责, 主管, 分管
admin: administrator, admin, system administrator / 管理员, 系统管理
self: yourself, include you, count you, including you, you yourself, count yourself, include me, including me,
    count me / 您自己, 你自己, 您本人, 包括您, 包括你, 把您, 算上您, 本人, 自己, 包括我, 算我
former: left, has left, gone, no longer employed, no longer with, no longer work, no longer here, former, ex-employee,
    resigned, departed, quit, have left, left since, not here any more, leaver, past employee, already left,
    terminated / 离职, 已离开, 走了, 前员工, 不在职, 已经走
onleave: on leave, parental leave, maternity, given notice, gave notice, handed in their notice, handed in notice,
    resign, absent, away / 休假, 产假, 提出离职, 请假中
notice: notice, told you, tell you, ask you, announce, announced, inform, informed, notified, notify / 通知, 告知,
    提前, 告诉您
candidate: candidate, applicant, application, who applied, contender, interviewee / 候选人, 应聘, 申请人, 求职者
position: position, vacancy, post, opening, job opening, requisition, role, advert, job / 职位, 岗位, 空缺, 招聘
title: title, job title, designation, function, senior / 职称, 头衔, 职务, 职位名
colleague: colleague, coworker, co-worker, somebody in particular, specific person, particular person,
    anyone in particular / 同事, 某个人, 某位
neighbour: neighbour, neighbor, next door, flatmate, housemate, roommate, family, household, relative, someone else,
    somebody else, anybody else, anyone else, concierge, porter, lives with you, someone at home / 邻居, 家人, 同住,
    门卫, 物业, 室友, 隔壁, 代收, 其他人, 别人, 家里人
lawyer: lawyer, attorney, solicitor, legal, counsel, represented, represent you, law firm, legal advice, court,
    represents / 律师, 法律, 代理人
proof: proof, prove, evidence, confirm, vouch, witness, testify, back up, documentation, anything in writing,
    can confirm, document, show that, shows that, demonstrate, attest, belong, verify, support this, how do you know,
    supporting / 证明, 证据, 证人, 作证, 凭证, 佐证
grade: grade, pay grade, band, level, promoted, promotion, moved up, step up / 职级, 薪级, 几级, 等级, 哪一级, 晋升,
    级别, 升级
parttime: part time, part-time, full time, full-time, hours a week, working time, weekly hours, hours per week,
    working hours, workload, days a week, how many hours, hour / 兼职, 全职, 工时, 每周, 工作时间
rights: right, rights, access, permission, authorised, authorized, authorisation, authorization, allowed, entitled,
    privilege, credentials, login, user account, account, allow, role / 权限, 账号, 授权, 访问, 有权, 帐号, 登录
probation: probation, probationary, trial period / 试用期, 试用
cost: cost centre, cost center, cost unit, charged to, booked on, budget line, costs booked / 成本中心, 费用记,
    费用归属, 记在, 成本
plan: plan, headcount, budget, budgeted, budgeting, approved post, planned, staffing plan, allotted, funded,
    funding / 编制, 预算, 计划, 名额
leavekind: what kind, which kind, what type, which type, paid or unpaid, type of leave, kind of leave, unpaid,
    sort of leave, what sort, category / 哪种, 什么假, 类型, 哪一种假, 哪种假, 什么类型, 哪类, 种类
holiday: holiday, vacation, annual leave, annual, days off, time off, leave day, day of leave / 年假, 假期, 休假
absence: absent, absence, away, time off, off work, unpaid leave, without pay, off sick, missed work, not work,
    day off, days off / 缺勤, 请假, 没上班, 无薪
sicknote: certificate, note, doctor's note, medical certificate, sick note, medical note, attest / 病假条, 证明,
    诊断书, 医生证明
correction: correction, amendment, adjust, pending, waiting, not yet processed, unprocessed, outstanding,
    still waiting, awaiting, open request / 更正, 补登, 待批, 未处理, 尚未处理, 待审批, 修正
already: already, before, entered before, someone already, previously, duplicate, twice / 已经, 之前, 重复, 录入过
slip: slip, payslip, pay slip, wage slip, statement of pay, salary statement / 工资单, 工资条, 薪资单
currency: currency, euros or, pounds or, in euros, in pounds, what money / 货币, 币种, 欧元还是, 什么币
office: office, site, work at, based, location, workplace, where does, branch / 办公室, 地点, 办公地
department: department, team, unit, division, which team, group / 部门, 团队, 组
since: join, joined, hired, start, started, been here, been working here, been with, how long has, enter the company,
    since when, employed since / 入职, 来公司, 工作多久
agreed: agree, agreed, consent, approve of, support, know about, let him go, let her go, on board, approval of,
    sign off, okay with, accept / 同意, 批准, 答应, 认可
rule: approve or reject, decide, decision, criteria, how shall, how should I decide, how would you like me to,
    conflict with, by what, priority / 怎么决定, 审批标准, 如何决定, 怎么批
reject: reject, decline, turn down, turn it down, refuse, deny, say no, dismiss, disapprove / 拒绝, 驳回, 否决, 不批
shorter: shorter, fewer, less, reduce, shorten, cut, instead of five, weeks instead, content with, part of it, trim,
    / 缩短, 少请, 减少, 短一些
erase: erase, delete, remove, wipe, deletion, purge, data / 删除, 删掉, 清除, 抹掉, 资料
holdback: on hold, hold, paused, pause, suspend, frozen, freeze, for good, permanently, closed, close / 暂停, 搁置,
    关闭, 冻结
changed: changed, has changed, changed since, meanwhile, in the meantime, somebody else, someone else, overwrite,
    overwritten, already changed, has been set, was set, set to, booked her on, booked him on, other value,
    another value, conflicting, different value / 已被, 有人改, 同时, 覆盖, 被改, 改过
current: current, at present, at the moment, right now, until now, so far, now, today, present, existing,
    as it stands / 目前, 现在, 当前, 现有
withdraw: withdraw, withdrawn, take back, cancel, revoke, call off, annul, drop, cancelled, retract, undo, rescind,
    cancellation, abandon, stop / 撤回, 取消, 撤销, 收回, 作废
otherdate: other date, another date, other time, another time, another day, different day, other day, later, earlier,
    postpone, move it, shift, reschedule, put off, delay, next week, next month, end of the month, instead of,
    other dates, different date, other dates be, another week, do as well, be fine for you, last day, different last,
    bring forward, push back, alternative date / 改期, 换个时间, 推迟, 延后, 提前, 其他日期, 别的时间, 晚一点, 换一天
otherplace: other department, another department, elsewhere, different department, other team, somewhere else,
    another team, other site, some other department / 其他部门, 别的部门, 另一个部门
partially: only one, one of, one of them, one of the two, cannot, can't both, just one, at least one, partly,
    part of it, half / 只能, 其中一个, 一部分
staffno: staff number, employee number, personnel number, staff id, employee id / 员工编号, 工号
orderno: order number, number of the order, order id, order no, order code, order reference, its number, number,
    what number, under what number, number again / 订单号, 订单编号, 单号, 编号, 哪一单, 哪个订单, 哪一笔
recheck: double check, double-check, check again, check the number, number again, right number, correct number,
    mistyped, typo, read it, verify the number, sure about the number, mix up, mixed up, look again, number correct,
    mistake / 写错, 核对, 再看一下, 没写错, 记错, 确认一下订单
otherorder: other order, another order, own order, your orders, any orders, order before, ordered before, own account,
    previous order, orders under, bought anything else, placed any / 其他订单, 别的订单, 另外的订单
bought: what else, bought, buy, purchase, order, ordered, placed, when did you order, contents, what was in it,
    in that order, in the order / 买了, 购买, 下单, 还买
arrived: arrive, arrival, deliver, delivered, delivery, receive, received, reach, reached, get the, got it, get it,
    come, came, turn up, hand over, in your hands, take delivery / 收到, 到货, 送达, 到达, 送到, 拿到, 签收, 到手
sent: send, sent, post, posted, ship, shipped, dispatch, dispatched, on its way, underway, under way, mail, mailed,
    returned, hand over, handed over, in the post, given to the carrier, carrier, courier, announce, announced,
    registered, send off, left your house, drop off, dropped off, sent off, set off, requested the return,
    ask for the return / 寄出, 寄回, 寄了, 发出, 已经寄, 退回
howsent: how did you send, how was it sent, how did it go back, how did you return, way of sending / 怎么寄, 如何寄,
    用什么寄
label: label, postage, shipping cost, return shipping, shipping, cost of the return, pay for the parcel,
    cost of sending, return slip, return label, paid for the return, freight, carriage, cost of return,
    return costs / 运单, 邮费, 运费, 退货标签, 邮资, 快递费, 寄费
keep: keep, keeping, hold on to, stay with you, stays, retain, hang on to, still want, do you want the, hand back,
    give back, send back too, send back as well, return too, return as well, returned too, go back too,
    come back as well, also return, return the, returned as well, returned, part with, want back, return,
    dispose / 留着, 留下, 保留, 还要, 要退, 一起退, 一并退, 也退, 想退, 退掉, 打算退, 处理
state: condition, state, use, used, in use, opened, open, unopened, sealed, seal, unpacked, unwrap, taken out, worn,
    wear, tried, try, tried on, tested, test, charged, run, running, look like, looks like, signs of use, as new,
    like new, brand new, original packaging, been using, put into operation, touched, activated, installed, washed,
    played with / 用过, 使用, 状况, 状态, 拆开, 拆封, 穿过, 痕迹, 开封, 用了, 新旧, 试过
activated: activate, activated, activation, install, installed, installation, log in, logged in, run, started, opened,
    launch, launched, entered the key, redeem, redeemed / 激活, 安装, 登录, 启用
fault: fault, faulty, defect, defective, broken, break, damage, damaged, wrong with, what is wrong, problem, trouble,
    trouble with, trouble have, function, functioning, work as it should, works as it should, work properly, not work,
    doesn't work, malfunction, failure, fail, flaw, torn, tear, crack, cracked, chip, chipped, matter with, go wrong,
    symptoms, misbehave, imperfection, out of order, all right, in order, describe the, describe what, look like,
    intact, undamaged, in good shape, good condition, good state, bad condition, make it, made it, unharmed, survive,
    hurt, dent, dented, the matter with, was the matter, the matter / 故障, 坏, 损坏, 问题, 毛病, 缺陷, 破损, 碎, 裂,
    质量, 破, 完好, 瑕疵, 不良
intact: complete, missing, intact, all there, everything there, undamaged, in good shape, good condition, good state,
    make it, made it, safely, in one piece, survive, all items, in good order, unharmed, well, in order, arrive safely,
    fine, all right, whole, ok, okay, shortage / 完好, 齐全, 缺件, 少了, 没有问题, 完整, 无损, 有没有问题, 损坏
box: box, packaging, package, carton, cardboard, outer, wrapping, container, outside, parcel look, packing, exterior,
    crate, from the outside, wrapper / 外箱, 包装, 纸箱, 箱子, 盒子, 外包装, 压坏, 压扁
photo: photo, picture, image, photograph, snapshot, further picture, more pictures, further ones, take one, shot,
    pictures / 照片, 图片, 拍照, 拍一张, 相片
otheritems: other item, other items, rest of the order, rest of, other things, remaining, everything else,
    anything else, accessories, accessory, other goods, other products, other article, other parcel, else in the order,
    the rest / 其他商品, 其余, 另外的, 其他东西, 其它商品, 另一件, 别的商品
choice: prefer, rather, choose, choice, option, refund or, or a refund, money or, replacement or, which would suit,
    suit you better, what shall it be, what would you like, what do you want us, how do you want us, make up for,
    make it right, make it good, remedy, solve, settle, solution, resolve, what can we do, what should we do, instead,
    alternative, compensation, how would you like us, put right, put it right, way forward, outcome, two options,
    either, one of these, better for you, best for you, like best, go for, pick, in favour of, your wish,
    what do you wish, how do you wish, go on / 还是, 更希望, 倾向, 选择, 更想, 希望怎么, 怎么处理, 如何解决, 哪种方案,
    怎么解决, 更愿意
replace: replacement, replace, new one, new ones, new pair, new set, another one, exchange, swap, substitute, resend,
    send again, once more, second time, send out a new, send another, reship, anew, deliver again, trade,
    instead of the refund, correct one, reorder, order again, ship again / 换货, 补发, 换新, 更换, 再寄, 重新发,
    重新寄, 重寄, 补寄, 换一, 另发, 再发
money: refund, money, money back, reimburse, pay back, paid back, repay, pay out, cash, get your money, payout,
    returned money / 退款, 退钱, 还钱, 款项
credit: store credit, shop credit, credit, voucher, coupon, credit note, credit in our shop, store balance,
    goodwill / 代金券, 优惠券, 余额, 积分, 购物券
giftcard: gift card, gift voucher, gift certificate, giftcard, present card / 礼品卡, 礼物卡
payhow: pay, paid, payment, payment method, how did you pay, means of payment, way of payment, by what means,
    method of payment, card, which card, paypal, account, paid with, credit card, settle the bill, bank transfer,
    / 付款, 支付, 怎么付, 付的款, 信用卡, 付款方式
original: original payment, same account, same card, where it came from, account you paid from, paid from, paid with,
    original method, originally, way it was paid, came from / 原路, 原账户, 原卡
account: account, bank account, iban, bank details, account number, which account, where shall we send the money,
    where should the money, transfer to, pay into, where do you want the money, credit to, bank, account details,
    / 账户, 账号, 卡号, 银行, 收款, 退到哪
closed: closed, shut, shut down, close, active, still open, still exist, in existence, still valid, still use,
    still in use, terminated, dissolve / 注销, 关闭, 销户, 还在用
entries: entries, entry, charge, charges, charged, statement, debit, booked, booking, transaction, bank app, appear,
    show up, deduction, pending / 扣款, 账单, 扣费, 交易, 记录
parts: in parts, instalment, installment, part of it, partly, several steps, stages, share, remainder, rest tomorrow,
    portion, portions, partial, piecemeal, split, tranche, bit by bit, in two, step by step, several payments,
    two payments, separate payments / 分期, 分批, 分几次, 部分, 分次, 分开
split: split, divide, divided, split up, spread, distributed, allocate, between card, gets back first, partly on,
    part goes / 拆分, 分开, 分到, 分摊
whole: whole, whole order, everything, all of it, entire, complete order, both, only one, all items, full order,
    only the, just the, too, as well, also, both of them, all of them, completely / 全部, 整个, 整单, 所有, 都要, 一起
size: size, fit, narrow, wide, small, big, tight, large, measure, dimension / 尺码, 尺寸, 合脚, 大小, 码
address: address, delivery address, street, correct address, where do you live, shipping address, recipient / 地址,
    住址, 收件, 收货
sender: sender, who sent, who send, from whom, which shop, which store, other shop, seller, retailer, website,
    e-mail from, issued, shop, company sent, issuer, merchant, address from / 发件人, 哪家, 商店, 店铺, 网站, 谁发,
    哪家店, 卖家, 发件
signed: signed, sign for, accepted, took it in, take it in, hand over, handed over, received it for you, deposit,
    left with, accept the parcel, collect it for you, who took / 签收, 代收, 代签, 收下
wait: wait, waiting, patience, patient, working days, business days, few days, hold on, bear with / 等待, 等几天, 再等,
    工作日, 耐心, 愿意等
stock: stock, out of stock, sold out, available, unavailable, run out, back order, in store, discontinued,
    no longer sold / 没货, 缺货, 无货, 库存, 断货, 售罄
track: tracking, shipment status, where is the parcel, latest status, tracking page, status, last scan, on the website,
    carrier's page, movement / 物流, 快递信息, 物流信息, 到哪, 快递页面, 运输状态
refuse: refuse the parcel, refuse delivery, reject the parcel, when it arrives, once it arrives, don't accept, / 拒收,
    到货后, 收到后, 签收
injury: hurt, injure, injury, injured, doctor, blister, burn, burnt, wound, hand, palm, medical, hospital, pain,
    are you all right, heal, skin, health / 受伤, 医生, 烫伤, 手, 伤口
device: where is it, device, where have you put, keep it, store it, safe place, in a safe, examination, send it in,
    examine, unit now, location of the / 设备, 放在哪, 在哪里
sure: sure, certain, really, really want, definitely, convinced, positive, absolutely, can't have it later, final,
    are you aware / 确定, 肯定, 真的, 确实
important: important, most important, more important, priority, prioritise, urgent, first of all, come first,
    only do one, only one today, matter most, preference, favour / 最重要, 优先, 更要紧, 先处理
engraved: engrave, engraved, engraving, inscription, personalised, personalized, custom, monogram, initials, lettering,
    made to order / 刻字, 定制, 个性化, 刻
key: key, licence key, code, licence code, activation code, who else, got hold of, passed on / 密钥, 激活码, 序列
late: late, delay, too late, delayed, belated, lateness / 晚, 迟, 延误
usedfor: for how long, how long have you been using, how often, long time / 用了多久, 用了多少次, 多少次, 几次
"""
"""One sense a paragraph: its name, English phrases, then Chinese ones."""

_WORD: Final = re.compile(r"[a-z0-9][a-z0-9']*")
_HAN: Final = re.compile("[\u3400-\u9fff]")


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """The stem, unless it would be a word that says nothing: a note is not "not"."""
    stem = stemmed(word)
    return word if word.endswith("e") and stem in STOP else stem


class Span(NamedTuple):
    """Words of a text that mean something: where they begin and end in it, their stems, and their senses, if known.

    ``keys``: the senses in order, and the stems marked as such.
    """

    start: int
    end: int
    stems: str
    senses: frozenset[str]
    keys: tuple[str, ...]


_Phrases = list[tuple[tuple[str, ...], frozenset[str]]]


class _Table(NamedTuple):
    """The senses of single stems, of phrases by their first two stems, and of Chinese words by their first letter.

    Longer phrases stand before shorter ones. ``firsts``: what phrases begin with.
    """

    single: dict[str, frozenset[str]]
    firsts: set[str]
    phrases: dict[tuple[str, str], _Phrases]
    han: dict[str, list[tuple[str, frozenset[str]]]]


@lru_cache(maxsize=1)
def _table() -> _Table:
    """The senses by what they begin with. Read when first needed, so that importing costs nothing."""
    words: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    han: defaultdict[str, set[str]] = defaultdict(set)
    for paragraph in re.split(r"\n(?! )", _SENSES.strip()):
        name, _, listed = paragraph.partition(":")
        english, _, chinese = listed.partition(" / ")
        for phrase in filter(str.strip, english.split(",")):
            words[tuple([_stem(word) for word in _WORD.findall(phrase.lower())])].add(name)
        for phrase in filter(None, map(str.strip, chinese.split(","))):
            han[phrase].add(name)
    table = _Table({}, set(), {}, {})
    for stems in sorted(words, key=lambda stems: (-len(stems), stems)):
        if len(stems) == 1:
            table.single[stems[0]] = frozenset(words[stems])
        else:
            table.firsts.add(stems[0])
            table.phrases.setdefault((stems[0], stems[1]), []).append((stems, frozenset(words[stems])))
    for letters in sorted(han, key=lambda letters: (-len(letters), letters)):
        table.han.setdefault(letters[0], []).append((letters, frozenset(han[letters])))
    return table


@lru_cache(maxsize=8192)
def keys_of(stems: str, senses: frozenset[str]) -> tuple[str, ...]:
    """What a profile knows some words by: their senses in order, and their stems marked as such."""
    return (*sorted(senses), f"~{stems}")


@lru_cache(maxsize=1024)
def spans(text: str) -> tuple[Span, ...]:
    """What the words of a `agentgym.lexicon.folded` text mean: the longest phrases, then single words.

    >>> [(span.stems, sorted(span.senses)) for span in spans("does his supervisor agree")]
    [('supervisor', ['manager']), ('agre', ['agreed'])]
    """
    table = _table()
    found = [*_english(text, table), *(_chinese(text, table) if _HAN.search(text) else ())]
    return tuple(found)


@lru_cache(maxsize=4096)
def all_senses(text: str) -> frozenset[str]:
    """Every sense that a folded text may have, those of words within a longer phrase too."""
    table = _table()
    stems = tuple([_stem(word) for word in _WORD.findall(text)])
    found = [table.single.get(stem, frozenset()) for stem in stems]
    for at in range(len(stems) - 1):
        for phrase, senses in table.phrases.get((stems[at], stems[at + 1]), ()):
            if stems[at : at + len(phrase)] == phrase:
                found.append(senses)
    for at, letter in enumerate(text):
        found += [senses for word, senses in table.han.get(letter, ()) if text.startswith(word, at)]
    return frozenset().union(*found)


@lru_cache(maxsize=8192)
def _word(word: str) -> tuple[str, frozenset[str] | None, bool]:
    """A word's stem, its senses or None if it means nothing by itself, and whether a phrase may begin with it."""
    table, stem = _table(), _stem(word)
    senses = table.single.get(stem)
    if senses is None and len(stem) > 1 and word not in STOP and stem not in STOP:
        senses = frozenset()
    return stem, senses, stem in table.firsts


def _english(text: str, table: _Table) -> list[Span]:
    found: list[Span] = []
    matches = list(_WORD.finditer(text))
    words = [_word(match[0]) for match in matches]
    end = 0
    for at, (stem, senses, begins) in enumerate(words):
        if at < end:
            continue
        size = 1
        if begins and at + 1 < len(words):
            for phrase, meant in table.phrases.get((stem, words[at + 1][0]), ()):
                if len(phrase) == 2 or tuple([word[0] for word in words[at : at + len(phrase)]]) == phrase:
                    size, senses, stem = len(phrase), meant, " ".join(phrase)
                    break
        if senses is not None:
            found.append(Span(matches[at].start(), matches[at + size - 1].end(), stem, senses, keys_of(stem, senses)))
        end = at + size
    return found


def _chinese(text: str, table: _Table) -> list[Span]:
    found = []
    at = 0
    while at < len(text):
        for letters, senses in table.han.get(text[at], ()):
            if text.startswith(letters, at):
                found.append(Span(at, at + len(letters), letters, senses, keys_of(letters, senses)))
                at += len(letters)
                break
        else:
            at += 1
    return found
