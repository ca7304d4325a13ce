"""What customers write instead: colloquial and dialect forms, slips of the pen, small talk, claims that are not so.

None of these sentences holds anything protected (see `agentgym.noise.protect`), and none asks for anything that the
shop would do.
"""

from __future__ import annotations

from typing import Final

COLLOQUIAL: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "en": {
        "please": ("pls", "plz"),
        "hello": ("hiya", "hey", "heya"),
        "thank you": ("thx", "ta", "cheers"),
        "thanks": ("thx", "cheers"),
        "this": ("dis",),
        "that": ("dat",),
        "the": ("da",),
        "them": ("em",),
        "have": ("ave",),
        "for": ("fer",),
        "because": ("cuz", "cos", "coz"),
        "want to": ("wanna",),
        "going to": ("gonna",),
        "have to": ("gotta",),
        "would like": ("'d like", "fancy"),
        "money": ("cash", "dough", "dosh"),
        "really": ("proper", "right"),
        "very": ("dead", "well"),
        "something": ("summat", "sth"),
        "you": ("ya", "u"),
        "your": ("ur",),
        "are": ("r",),
        "my": ("me",),
        "and": ("n", "&"),
        "with": ("w/", "wiv"),
        "about": ("bout",),
        "little": ("wee",),
        "small": ("wee", "tiny"),
        "children": ("bairns", "kids"),
        "quickly": ("quick", "asap"),
        "immediately": ("right now", "asap"),
        "exactly": ("exacly", "spot on"),
        "tell me": ("lemme know",),
        "give me": ("gimme",),
        "though": ("tho",),
        "through": ("thru",),
        "parcel": ("package", "parcle"),
        "receive": ("recieve",),
        "received": ("recieved",),
        "separate": ("seperate",),
        "which": ("wich",),
        "believe": ("belive",),
    },
    "zh": {
        "你好": ("在吗", "哈喽"),
        "您好": ("亲", "在吗"),
        "什么": ("啥",),
        "怎么": ("咋",),
        "为什么": ("为啥",),
        "这样": ("这么着",),
        "我们": ("咱们",),
        "非常": ("贼", "老"),
        "很": ("挺", "贼"),
        "请": ("麻烦",),
        "谢谢": ("谢啦", "多谢"),
        "马上": ("立马", "赶紧"),
        "现在": ("这会儿",),
        "东西": ("玩意儿",),
        "知道": ("晓得",),
        "告诉我": ("跟我说",),
        "账户": ("帐户",),
        "账号": ("帐号",),
        "登录": ("登陆",),
        "已经": ("己经",),
        "收到": ("收着",),
        "时候": ("时侯",),
        "部分": ("部份",),
        "清楚": ("清处",),
        "的钱": ("得钱",),
    },
}
"""Plain form → what is written instead. Longer forms are tried first."""

KEYS: Final = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo", "j": "hk",
    "k": "jl", "l": "k", "m": "n", "n": "bm", "o": "ip", "p": "o", "q": "wa", "r": "et", "s": "ad", "t": "ry",
    "u": "yi", "v": "cb", "w": "qe", "x": "zc", "y": "tu", "z": "x",
}  # fmt: skip
"""Letter → its neighbours on the keyboard."""

OFF_TOPIC: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        "By the way, is it raining where you are as well?",
        "Do you people ever get to sleep, with so many messages?",
        "Also, do you happen to have a shop near the harbour, I am just curious?",
        "My neighbour keeps asking: can people cancel your newsletter, or change how often it comes?",
        "Who writes those lovely cards that you put in, I always wonder?",
        "Funny, a friend of mine got a refund from some shop abroad, for a kayak of course.",
        "Is that music on your hotline a replacement for that old tune, it was so much nicer?",
        "Do you know a good recipe for plum cake, by any chance?",
        "Sorry, my cat is walking over the keyboard again.",
        "Which colour will be in fashion soon, do you think?",
    ),
    "zh": (
        "对了，你们那边也下雨吗？",
        "顺便问问，你们在里斯本有门店吗，我就是好奇。",
        "抱歉，我家的猫又踩键盘了。",
        "你们客服晚上也上班吗，真辛苦。",
        "我邻居老问，你们的订阅邮件能取消吗，还是改改次数？",
        "包裹里的小卡片是谁写的呀，字真好看。",
        "说起来，我朋友上回在隔壁店里退款，退的居然是皮划艇。",
        "你们电话里换的那首音乐叫啥呀？",
    ),
}
"""Asides that have nothing to do with the case; some use its words."""

CLAIMS: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        "As far as I know you sort such things out within the hour.",
        "Everybody says that with you the customer always gets what they ask for.",
        "I read somewhere that you look at a case from the customer's side.",
        "The law is on my side here anyway, I think.",
        "It is the thing that I ordered on that rainy afternoon, you surely remember.",
        "A friend of mine works in your head office and says that this is a formality.",
        "Your website says somewhere that customers are always right.",
        "Your colleague said that this stands in my file already.",
        "It was among those orders where you put the blue paper in, that should be enough to find it.",
    ),
    "zh": (
        "据我所知，这种事你们打个电话就能办好。",
        "人家说，在你们这里客户要什么就给什么。",
        "我有个朋友在你们总部上班，说这就是走个流程。",
        "法律肯定是站在我这边的，我觉得。",
        "就是下雨那天下午买的那个，你们肯定记得。",
        "你们同事说，这些我的档案里写着呢。",
        "就是包装里放蓝色纸的那个单子，应该很好找。",
    ),
}
"""Claims about the shop and vague hints. They are wrong or of no use, and change nothing of what is asked for."""
