"""What customers of the refund desk say, as patterns, in English and Chinese; only for Refund.

The patterns were written with the curated openings at hand: a rate on those says nothing about strangers' words.
"""

from __future__ import annotations

import re

PHRASES = {
    "twice": (
        r"\b(?:charged?|debited|booked)\b[^.!?]*\b(?:twice|times|entries)|on my statement|took the money .* twice|"
        r"surplus|扣款|扣了|重复|多扣|多出来的"
    ),
    "cancel": r"\bcancel (?:my|the|this|it|that|order|everything)\b|\bstop (?:my|the|order)\b|取消|拦下",
    "missing": (
        r"(?:not|n't|never|nor) (?:yet )?(?:been )?(?:arrived?|come|came|received?|reached|delivered|turned up|got it)|"
        r"where is (?:my|the|order)|(?:have|got|is|come) nothing|nothing (?:has|have|came|arrived|is)|"
        r"look for my parcel|no trace of|没收到|没有收到|一直没|到现在都?没|没到|未收到|连影子都没有|丢"
    ),
    "late": (
        r"voucher that you give for late|missed it by|waited (?:far |much )?too long|"
        r"(?:came|arrived|delivered) [^.!?]{0,20}\blate|promised for|promised (?:by|until|a day|day)|"
        r"than (?:was )?promised|\bdelay|迟到|晚到|延误|承诺|等了太久"
    ),
    "damage": (
        r"broken|damag|\bcrack|shatter|torn to|smashed|in pieces|\bleak|dripping and|brown and|squash|scratched|"
        r"\bdented|arrived in a bad|碎|破了|破损|裂|压坏|摔坏|损坏|坏了"
    ),
    "defect": (
        r"defect|faulty|\bfault with|rattl|"
        r"(?<!something )(?:does not|doesn't|stopped|no longer|never) (?:really )?(?:work|focus|turn|charg|switch)|"
        r"seam came open|quality problem|故障|不工作|不能用|质量问题"
    ),
    "wrong": (
        r"wrong (?:item|product|article|thing)|not what I (?:had )?ordered|something else (?:came|arrived)|"
        r"different \w+ altogether|发错|寄错|不是我(?:订|买)的"
    ),
    "back": (
        r"sent (?:\w+ ){0,6}(?:back|in\b)|returned|went back|came back|is back with|are back with|"
        r"have(?: had)? .* back|the return of|退回|寄回|退到你们|退货了"
    ),
    "credit": (
        r"store credit (?:instead|is fine|please)|(?:as|have|make it|rather have|prefer|want) store credit|"
        r"商店余额|店铺余额|换成余额"
    ),
    "account": (
        r"(?:new|another|different|other|wife's|husband's|brother's|sister's) (?:bank )?(?:account|card|paypal)\b|"
        r"\bIBAN\b|新账户|新卡|另一个账户|别的账户|另一张卡|别的卡|其他账户"
    ),
    "latest": (
        r"latest order|last thing that I ordered|most recent order|last order|最近的?一?个?订单|最后下的|"
        r"最新的?订单"
    ),
    "whatever": r"call off|calls? (?:the )?(?:whole )?(?:thing|return) off|keep both|cancel (?:the|my) return",
    "goods": (
        r"replacement|replace (?:it|them)|\bnew (?:one|pair|set)s?\b|another one|"
        r"send (?:me )?(?:it|them|mine) (?:again|out)|same \w+ again|want the \w+ (?:that )?I ordered|补发|换货|"
        r"换新|再寄|换一?个"
    ),
    "money": r"money|refund|back (?:on|to) my (?:card|paypal)|pay me back|退款|退钱|把钱|钱退",
    "negated": (
        r"(?:\bno|\bnot an?|not|n't want(?: any)?|without)\s+(?:the )?(?:new|replacement|second|money|refund)\s?\w*|"
        r"money does not \w+|nothing again|不(?:要|用|想)(?:再)?(?:换|补发|寄|退款|退钱)[货新的一个款钱]*"
    ),
    "injured": (
        r"blister|burn(?:t|ed|s)?\b|injur|(?:was|got|is) hurt|"
        r"hurt (?:my (?:hand|finger|eye|foot|leg|arm|head)|myself)|hospital|"
        r"(?:was|fell|got|made \w+) (?:ill|sick)|poison|caught fire|on fire|smok|烫|受伤|起火|着火|烧|中毒|医院|"
        r"吃坏|生病"
    ),
    "legal": (
        r"lawyer|attorney|solicitor|\bcourt\b|\bsue\b|legal action|\bauthorit(?:y|ies)|ombudsman|"
        r"consumer protection|律师|法院|起诉|消协|消费者协会|工商|监管"
    ),
    "person": r"real person|human|\ba person\b|somebody in charge|your manager|supervisor|真人|人工|经理|主管",
    "yes": r"\byes\b|that is it|you are right|是的|没错",
    "voucher": r"voucher|10 ?percent|10 ?%|优惠券|购物券",
    "no_number": r"can't find (?:that|the) number|don't have (?:it|the number)|no number for|不记得(?:订单)?号",
    "other_product": (
        r"another product|different product|other product|not the (?:product|item)|instead of|not what was ordered"
    ),
    "stop": (
        r"\bstop\b|do not cancel|don't cancel|changed my mind|never ?mind|keep (?:it|them|the order|everything)|"
        r"leave (?:it|the order)|order stays|别取消|不要取消|不取消|不用了|算了|不退了|保留|留着|别动|照旧"
    ),
}
"""What is spoken of → pattern."""

_GOODS = """
茶壶 teapot, 雨衣 jacket, 台灯 lamp, 花瓶 vase, 毛衣 jumper, 充电宝 bank, 皮带 belt, 耳机 headphones,
音箱 speaker, 键盘 keyboard, 鼠标 mouse, 阅读器 e-reader, 袜 socks, 衬衫 shirt, 围巾 scarf, 跑鞋 shoes,
水壶 kettle, 镜 mirror, 毯 blanket, 芒果 mangoes, 奶酪 cheese, 兰花 orchid, 郁金香 tulips, 巧克力 truffles,
有声书 audiobook, 钢笔 pen, 手链 bracelet, 地毯 rug, 炉 stove, 坐垫 cushion, 相机 camera, 酒杯 glasses,
床上用品 linen, 砧板 board, 锅 casserole, 咖啡机 coffee
"""

GOODS = dict(entry.split() for entry in re.split(r",\s*", _GOODS.strip()))
"""Goods as Chinese customers call them → a word of the product's English name."""
