"""What the scripted user's ear knows of English and Chinese: words that mean the same, and how one asks.

A *term* is a concept of this lexicon (``@phone``) or the stem of a word that it does not know. `docs/users.md` says in
words what is here. All patterns are constant and have no nested repeats, so reading is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from agentgym.patterns import ANY_HAN, by_head

ATTRIBUTES: Final[dict[str, str]] = {
    "order_no": r"order (?:numbers?|no|nr|ids?|references?|codes?)|number of (?:the|your|that|this) (?:order"
    r"|purchase)"
    r"|numbers?(?= [a-z ]{0,25}order(?:ed)?\b)"
    r"|订单的?(?:编号|号码?)",
    "sender": r"senders?|who (?:sent|mailed|wrote|issued)|sent by|(?:谁|哪[个家](?:商店|店铺|网站|公司|店)?).{0,3}(?:发"
    r"|寄)(?:给|的|来)|(?:发[件信送]|寄件)[人者方]",
    "carrier": r"(?:which|what|name of the) (?:courier|carrier|delivery (?:company|service)|shipping company)"
    r"|哪家(?:快递|物流)(?:公司)?|快递公司",
    "bank": r"(?:which|what) bank(?! (?:account|app|statement|details))|name of (?:the|your) bank|issuing bank"
    r"|开户行|哪家银行",
    "venue": r"(?:which|what) (?:post )?(?:office|branch|shop|store|depot|airport|station|city|town|country|floor)"
    r"|(?:name|address|website|link) (?:of|to) the (?:other )?(?:shop|store|seller)"
    r"|哪[家个](?:邮局|网点|门店|城市)|几楼",
    "property": r"temperatures?|brands?|firmware|versions?|operating systems?|weigh(?:t|s)?|voltage|wattage"
    r"|thickness|capacity|length|height|width|diameter|resolution|power rating|detergents?"
    r"|how (?:long|heavy|warm|cold|deep|thick) (?:is|was|are|were)|how (?:far|fast|loud|hot|strong|bright)"
    r"|牌子|品牌|温度|重量|多重|版本|操作系统|工号",
    "slot": r"time ?slots?|pick(?:ed|ing)? ?up|collections?|collected|appointments?|when (?:are|would"
    r"|will) you (?:be )?(?:home|available|in)"
    r"|at home|时间段|取件|上门|在家",
    "receipt": r"invoices?|receipts?|proof(?: of \w+)?|prove[ds]?|evidence|发票|收据|凭证|小票",
    "tracking": r"(?:tracking|parcel|shipment|consignment) (?:numbers?|codes?|ids?|no)|快递单?号|运单号"
    r"|物流(?:单号|编号)",
    "phone": r"(?:phone|telephone|mobile|cell)(?: phone)? numbers?|telephone|(?:phone|mobile|cell)(?! cases?\b)"
    r"|电话|手机号码?|联系方式",
    "email": r"e-?mails?(?: address(?:es)?)?|mail address|邮箱(?:地址)?|电子邮件(?:地址)?|邮件地址",
    "birthday": r"birthdays?|date of birth|birth|born|生日|出生",
    "bank_no": r"iban|where (?:should|shall|can|do|would)(?: \w+){1,4} (?:money|refund)\b|account (?:numbers?"
    r"|details)|bank details|sort code|card numbers?|(?:last )?(?:four |4 )?digits"
    r"|账号|帐号|卡号|银行信息",
    "address": r"address(?:es)?|street|house number|where (?:do|are) you liv(?:e|ing)|地址|住址|住在?哪",
    "postcode": r"post(?:al )?code|zip(?: code)?|邮编|邮政编码",
    "serial": r"(?:serial|model|part) (?:numbers?|no)|serial|序列号|型号",
    "client": r"(?:customer|client|member) (?:ids?|numbers?|no)|身份证号?码?|passport|id card|driving licence|会员号",
    "code": r"(?:coupon|voucher|security|discount|promo(?:tion)?|item|article|bar|product) (?:codes?|name"
    r"|numbers?)|codes?"
    r"|password|pin|cvv|密码|(?:验证|优惠|折扣|兑换|条形?)码|代码|编码",
    "name": r"(?:full |first |last |sur|user)?names?|姓名|名字|叫什么|怎么称呼",
    "colour": r"colou?rs?|颜色",
    "age": r"how old|age|年纪|年龄|几岁|多大岁数",
    "size": r"sizes?|how (?:tall|big|large|wide|high)|尺码|尺寸|码数|多高|身高",
    "price": r"prices?|how much|worth|价格|价钱|多少(?:钱|[邮运]费|费用|快递费)|金额|几块钱?|几元",
    "video": r"videos?|视频|录像",
    "insurance": r"insurances?|insured|warranty|保险|保修",
    "number": r"numbers?(?! of (?!the|your|this|that|an?\b)[a-z])|号码|编号",
    "provider": r"provider|browser|employer|profession|job|职业|工作单位",
}
"""What a person can be asked for by name. A fact that is not about it is not what was asked for."""

PEOPLE: Final[dict[str, str]] = {
    "relative": r"sisters?|brothers?|mothers?|fathers?|mum|dad|daughters?|sons?|wife|husband|child(?:ren)?|kids?"
    r"|parents?"
    r"|妈妈?|母亲|爸爸?|父亲|儿子|女儿|孩子|太太|先生的|妻子|丈夫",
    "company": r"guests?|friends?|colleagues?|flatmates?|drivers?|cousins?|cats?|dogs?|pets?|客人|朋友|同事|客服"
    r"|快递员",
}
"""Others than the user: "how many" of them is not "how many" of the goods."""

ASKING: Final[dict[str, str]] = {
    "reason": r"why|reasons?|causes?|what (?:made|makes|led|prompted) you|how come|motive|grounds? for"
    r"|no longer (?:need|want|like)|changed? your mind"
    r"|为什么|为何|为啥|原因|理由|缘由|怎么回事|不喜欢|不满意|不想要",
    "count": r"how many|quantit(?:y|ies)|(?:number|amount) of(?= (?:the |those |these |all )?(?:damaged "
    r"|broken |missing )?\w+[^s\W]s\b)|how often"
    r"|both(?=[a-z -]{0,40}\bor (?:only|just) )|one(?=[a-z ,-]{0,40}\bor (?:both|all|more|two)\b)"
    r"|one or (?:both|two|more)|all(?=[a-z -]{0,40}\bor (?:only|just) )"
    r"|几(?=[个件只次份套把张条双盏台本箱])|多少(?!钱|[邮运]费|费|度)|数量|几次|还是只有(?:其中)?一",
    "time": r"when (?:did|do|does|is|was|were|are|will|exactly|about|roughly)|(?:remember|recall|know"
    r"|tell (?:me|us)|roughly|approximately"
    r"|say|confirm|sure"
    r"|wonder|wondering|idea|and|exactly|since|until|by) when|(?:what|which) (?:day|date|time|month|week|year)"
    r"|(?:exact )?dates?|days? of|how long ago"
    r"|什么时候|什么时间|何时|哪一?天|哪个?月|几号|几月|日期|时间",
    "who": r"who|whom|谁",
    "place": r"where|whereabouts|which place|哪里|哪儿|在哪|何处",
    "which": r"which|what|哪(?:一)?(?:个|件|只|款|种|些|笔|家)|什么",
}
"""Question words. Alone they point at a fact only if nothing in the question points elsewhere."""

TOPICS: Final[dict[str, str]] = {
    "which_order": r"(?:which|what)(?: one)?(?: of)?(?: your| the| these| all)* orders?"
    r"(?! (?:numbers?|no|nr|ids?|references?|codes?|status)\b)|哪一?[个笔]?订单|哪一[单笔]",
    "contents": r"what (?:else )?(?:did|have) you (?:buy|bought|order(?:ed)?|purchased?)"
    r"|(?:which|what)(?: of)?(?: the| your| these| those| other)* (?:items?|things|products?|goods|articles?)"
    r"|which (?:ones? )?of (?:the|your|these|those|them)(?! (?:two|three|following)\b)"
    r"|what else|what (?:is|was|were) (?:in|part of) (?:the|your|that|this) (?:order|parcel)|买了(?:些|哪些)?什么",
    "in_name": r"(?:in|under|on) your (?:own )?name",
    "missing": r"missing|incomplete|all there|齐全|齐|缺件|少了|缺少|漏发|少件",
    "pay_how": r"怎么(?:支付|付)(?:款|钱)?|(?:付款|支付)方式"
    r"|(?:用|以|通过)(?:的是)?(?:什么|哪种|哪张|何种)(?:方式|卡|方法)?(?:支付|付)(?:款|钱)?",
    "send_how": r"怎么(?:邮)?寄|(?:用|以|通过)(?:的是)?(?:什么|哪种)(?:方式|快递|方法)?寄",
    "gift_card": r"gift (?:cards?|certificates?|vouchers?)|礼品卡|礼物卡",
    "stock": r"(?:out of|in|no|not in) stock|sold out|unavailable|available|没有?货|缺货|无货|库存|断货|售罄",
    "credit": r"(?:store|shop) credit|credit(?! card)|vouchers?|代金券|购物券|优惠券|店铺余额",
    "prefer": r"(?:would|do|'d) (?:you |u )?(?:rather|prefer|choose|like us to)|you(?:'d| would) (?:rather"
    r"|prefer|like us to)"
    r"|prefer\w*|rather|choice|choose|alternatives?"
    r"|what (?:would|do|should|can) (?:you (?:like|want)|we)(?: us)?(?: to)? do|how (?:should|shall|can|may"
    r"|would) (?:we|you)"
    r"(?: like us to| want us to)? (?:proceed|resolve|solve|handle|settle)|(?:which|what) (?:solution|remedy"
    r"|outcome|option)"
    r"|还是|希望|更愿意|倾向|更想|(?:怎么|如何)(?:处理|解决|办)",
    "refund": r"refund(?:s|ed|ing)?|money back|reimburse\w*|(?:pay|paid|paying) (?:you |it |them |everything )?back"
    r"|your money|退款|退钱|还钱",
    "replace": r"replac\w+|exchang\w+|swap\w*|substitut\w*|(?:re-?send|re-?sent|re-?ship\w*)"
    r"|send(?:ing)? (?:\w+ ){0,3}again"
    r"|new (?:ones?|pairs?|sets?|units?|parcels?|box(?:es)?)|换货|补发|换新|更换|换一|再寄|重新?[寄发]|重寄|再发",
    "arrive": r"arriv\w+|deliver(?:y|ed|ies)?|receiv\w+|reach(?:ed|es)?|turn(?:ed)? up"
    r"|g[eo]t to you(?:r (?:place|home|house|door))?"
    r"|到货|送达"
    r"|收到|到达|送到|派送|投递",
    "buy": r"buy|bought|purchas\w+|ordered|ordering|placed? (?:the|your|an|this|that) order|did you order|you order"
    r"|下单|购买|买",
    "send_back": r"(?:send|sent|ship|shipped|post|posted|mail|mailed|give|gave|put)(?: \w+){0,2} (?:back|in the post)"
    r"|returned|returning|(?:you|to|i|we) return|sent it|posted|post(?! office)(?= (?:it|them|the)\b)|on its way"
    r"|hand(?:ed)? (?:(?:it|them|the (?:parcel|package)) )?(?:in|over to the|to the) (?:post|carrier|courier)\w*"
    r"|(?:taken|brought|given|took) (?:(?:it|them) )?to the (?:post|carrier|courier)\w*|drop(?:ped)? (?:(?:it"
    r"|them) )?off|dispatch(?:ed)?|shipped"
    r"|under ?way|en route|寄回"
    r"|退回|寄出",
    "cancel": r"cancel\w*|call(?:ed|ing)? (?:it |the whole thing |everything )?off|取消",
    "keep": r"keep(?:ing|s)?|kept|hold(?:ing)? on to|retain\w*|留着|留下|保留",
    "activate": r"activat\w+|install\w*|logged in|log in|激活|安装|登录",
    "condition": r"conditions?|state|(?:un)?open(?:ed|ing)?|seal\w*|unseal\w*|unpack\w*|(?:un)?used|use it|worn"
    r"|wear(?:ing)?|wore"
    r"|tried|try(?:ing)?(?: it| them)?|unwrapp?\w*|状况|状态|情况|拆开|拆封|用过|使用|穿过|用了|痕迹|新旧",
    "broken": r"broken?|damag\w+|crack\w*|chipp?(?:ed|s)?|smash\w*|shatter\w*|defect\w*|fault\w*|torn|in pieces"
    r"|intact"
    r"|survived?|in (?:good |perfect )?order(?! to\b)|rip(?:ped|s)?|tears?|holes?|dent(?:s|ed)?|malfunction\w*"
    r"|(?:is |was |'s )?wrong with|go(?:es)? wrong|went wrong"
    r"|(?:not|n't|stopped|no longer) (?:be )?(?:work|function)(?:s|ed|ing)?|work(?:s|ing)? (?:properly"
    r"|correctly|as it should)"
    r"|what(?: is|'s"
    r"| was) wrong|problems?"
    r"|坏|碎|破损?|损坏|裂|完好|故障|毛病|质量|没事|问题",
    "parcel": r"parcels?|packages?|(?:in|with|of) (?:the|your|this|that) (?:delivery|shipment)|包裹",
    "sure": r"sure|certain|positive|确定|肯定",
    "yours": r"(?<!of )yours|belongs? to you|your own|(?:placed|made|ordered) by you"
    r"|(?:placed|made|ordered|registered|is|was) (?:in|under|on) your (?:own )?name|registered (?:to|under"
    r"|on) you|是您的|您本人的",
    "box": r"(?:outer )?(?:packaging|packing|box(?:es)?(?! of\b)|cartons?|cardboard)|wrapping|外箱|外?包装|纸箱"
    r"|箱子|盒子",
    "photo": r"photos?|photographs?|pictures?|images?|snapshots?|screenshots?|照片|图片|相片",
    "postage": r"(?:(?:pay|paid|pays|paying|covers?|covered) (?:for )?(?:the )?)?(?:return (?:shipping|postage"
    r"|transport)|shipping)(?! address)"
    r"|(?:return |shipping )?labels?|postage|return (?:slip|parcel|shipping|postage|costs?)"
    r"|shipping (?:costs?|fees?)"
    r"|pay for the parcel|运单|退货单|面单|邮费|邮资|运费|快递费",
    "injury": r"hurt\w*|injur\w+|wounds?|burns?|burnt|burned|doctors?|medical|hospital|blisters?|受伤|医生|医院|烫伤",
    "important": r"(?:more|most)?important|importance|matters?(?: (?:more|most))?|priorit\w+|urgent|最重要|优先|要紧",
    "former": r"old|previous|former|earlier|prior|原来的|以前的|之前的|旧",
    "active": r"closed?|shut(?: down)?|active|still open|terminated|注销|关闭",
    "only": r"only|just|solely|merely|仅|只",
    "whole": r"everything|whole|entire(?:ly)?|all of (?:it|them)|complete(?:ly)?|全部|整个|所有",
    "others": r"(?:other|remaining) (?:items?|things?|goods|products?|articles?|parts?)|rest of (?:the|your) \w+"
    r"|anything else in|其他|其它|另外(?:一[个件只把盏套])?|另一[个件只把盏套]|其余|别的",
    "neighbour": r"neighbou?rs?|next door|someone else|anybody else|anyone else|邻居|门口|信箱|物业|门卫|隔壁",
    "household": r"family|household|flat ?mates?|家人|家里|同住|室友",
    "signed": r"sign(?:ed)?(?: for)?|hand(?:ed)? over|accepted (?:it|the parcel)|代收|签收|代签|帮忙收",
    "pay": r"pay(?:ing|s)?|paid|payment|付款|支付",
    "seller": r"sellers?|(?:别的|其他|另一家)店|商店|店铺|网站|哪家店?",
    "lawyer": r"lawyers?|attorneys?|solicitors?|legal|律师",
    "charge": r"charg(?:e|es|ed)|entr(?:y|ies)|bookings?|debit(?:s|ed)?|扣款|扣费",
    "parts": r"in (?:(?:several|two|three|more|multiple|separate|a few) )?(?:parts|steps|stages|tranches"
    r"|portions|rates"
    r"|(?:part(?:ial)? )?payments)|bit by bit|instal?ments?|partial(?:ly)?|part of it|partly|分期|部分",
    "carrier_info": r"tracking|(?:快递|运输)(?:信息|状态)|物流信息|物流|查询",
}
"""What a conversation is about. Words of one line mean the same to the user."""

ASKED: Final = frozenset(f"@{name}" for name in ASKING)
SPECIFIC: Final = frozenset(f"@{name}" for name in ATTRIBUTES)
POINTED: Final = SPECIFIC | frozenset(f"@{name}" for name in PEOPLE)

QUALIFIED: Final[dict[str, str]] = {
    "other": "@other",
    "others": "@other",
    "another": "@another",
    "both": "@both",
    "first": "@first",
    "second": "@second",
}
"""Words that tell one thing from another: a phrase with one of them is not heard without it."""

THINGS: Final = frozenset(f"@{name}" for name in ("box", "photo", "postage"))
"""Concepts that are things by themselves, as every word is that the lexicon does not know."""

CHOICES: Final = frozenset(
    f"@{name}" for name in ("prefer", "refund", "replace", "credit", "which", "price", "cancel", "keep")
)
"""What a question for the user's choice speaks of."""

GENERAL: Final = frozenset(
    f"@{name}" for name in ("broken", "condition", "keep", "send_back", "arrive", "buy", "active", "parcel")
)
"""What may be true of any thing."""

WEAK: Final = ASKED | frozenset(QUALIFIED.values())
"""What says nothing by itself."""

WHAT_KIND: Final = frozenset(("@time", "@place", "@count", "@who"))
"""What kind of answer is asked for."""

STOP: Final = frozenset(
    """a an the this that these those it its they them their he she his her i me my we us our you your yours u and
    or but if so than then of to in on at by for from with about into as be is are was were am been being do
    does did done doing have has had having can could would will shall should may might must need needs please
    kindly tell give let know say ask just any some no not yes also too very much more most one ones ok thank
    thanks sorry there here out up down back get got go going want like would'd us how who whom whose whether
    happen confirm provide describe share state exactly actually really still already now moment well all
    each two three four else order item items thing things product goods parcel
    question check see look find help able make sure remember think available option something anything
    information info detail details""".split()
)
_HAN: Final = "\u3400-\u9fff"
_BORDER: Final = re.compile(rf"(?<=[{_HAN}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{_HAN}])")
_WORD: Final = re.compile(rf"[a-z0-9][a-z0-9'-]*|[{_HAN}]+")
_IDIOMS: Final = re.compile(
    r"\b(?:(?:in|on|for|about) (?:this|that|any|your|the|such) case\b|just in case\b|(?:your|this) case\b|used to \w+"
    r"|(?<=[a-z] )(?:in|for|to|from|at|by|with) which\b)"
)
_BY_THE_WAY: Final = re.compile(r"\W*(?:另外|顺便)(?=[,，]?(?:还|我|再|也)?(?:想|请|麻烦|需要|跟|问))")
_OBJECT: Final = re.compile(r"把[^,，。？?\s]{1,6}?(?=寄|退|付|发|送|拿|留)")
_DETERMINED: Final = re.compile(
    r"\b(?<!with )(?<!on )(?<!in )(?<!from )(?<!to )(?<!at )(?<!by )(?:new|another|different|fresh)"
    r" (?!account|address|photo|picture|image|card|bank|phone|e-?mail|number|order"
    r"|question|one\b)"
    r"(?=[a-z])"
)


def _replaced(text: str, starts: re.Pattern[str], concepts: dict[str, re.Pattern[str]], found: set[str]) -> str:
    """The text with a blank for each concept, the leftmost and the first of the lexicon; *found* gets them."""
    kept, end = [], 0
    for start in starts.finditer(text):
        pattern = concepts.get(start[0])
        if pattern and (at := start.start()) >= end and (match := pattern.match(text, at)):
            found.add(f"@{match.lastgroup}")
            kept.append(text[end:at])
            end = match.end()
    return " ".join([*kept, text[end:]]) if kept else text


_TABLES: Final = (ATTRIBUTES, PEOPLE, TOPICS, ASKING)
_ENGLISH: Final = by_head(_TABLES, han=False)
_CHINESE: Final = by_head(_TABLES, han=True)
_WORD_START: Final = re.compile(r"\b[a-z0-9'].")
_PRONOUNS: Final = frozenset(("yours", "ours", "theirs", "hers", "this", "his", "its"))
_SMALL: Final = {"'s": "", "n't": ""}


class Terms(NamedTuple):
    """The terms of a text: concepts and stems.

    ``weak``: question words, and words that tell one thing from another; ``content``: all others but "would you
    prefer", which only counts where there is nothing else.
    """

    all: frozenset[str]
    weak: frozenset[str]
    content: frozenset[str]


def sorted_out(found: frozenset[str]) -> Terms:
    """Return terms by what they are worth."""
    strong = found - WEAK
    return Terms(found, found & WEAK, strong - {"@prefer"} or strong)


def folded(text: str) -> str:
    """Case and width folded, typographic quotes plain, a blank between Chinese and other letters."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("‘", "'")
    return _BORDER.sub(" ", plain)


@lru_cache(maxsize=1024)
def terms(text: str) -> Terms:
    """The terms of a `folded` text."""
    if "-" in text and "e-mail" not in text:
        text = text.replace("-", " ")
    if "case" in text or " which" in text or "used to" in text:
        text = _IDIOMS.sub(" ", text)
    if ANY_HAN.search(text):
        text = _BY_THE_WAY.sub(" ", _OBJECT.sub("", text), count=1)
    found: set[str] = set()

    rest = _replaced(text, _WORD_START, _ENGLISH, found)
    if ANY_HAN.search(rest):
        rest = _replaced(rest, ANY_HAN, _CHINESE, found)
    if ("new " in text or "different " in text or "another " in text or "fresh " in text) and _DETERMINED.search(text):
        found.add("@replace")
    for word in _WORD.findall(rest):
        if "\u3400" <= word[0] <= "\u9fff":
            found.update(word[i : i + 2] for i in range(len(word) - 1))
        elif term := _term(word):
            found.add(term)
    return sorted_out(frozenset(found))


@lru_cache(maxsize=8192)
def _term(word: str) -> str:
    """The term that a word of no concept is, "" if it says nothing."""
    stem = stemmed(word)
    return QUALIFIED.get(word) or ("" if word in STOP or stem in STOP else stem)


@lru_cache(maxsize=8192)
def stemmed(word: str) -> str:
    """The word without the endings of plural, past and progressive.

    >>> [stemmed(word) for word in ("boxes", "glasses", "cutting", "charged", "charges", "batteries")]
    ['box', 'glass', 'cut', 'charg', 'charg', 'battery']
    """
    if word in _PRONOUNS:
        return word
    for ending, put in _SMALL.items():
        word = word.removesuffix(ending) + put if word.endswith(ending) else word
    word = word.strip("'-")
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and re.search("[aeiouy]", base):
            word = base[:-1] if base[-1] == base[-2] and base[-1] not in "ls" else base
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
