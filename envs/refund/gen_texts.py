"""Wordings of customers: what stands around their requests, in English and Chinese."""

from __future__ import annotations

GREETINGS = (
    (
        "Hello,",
        "Hi there,",
        "Good day,",
        "Hello, {name} here.",
        "Hi, this is {name}.",
        "Dear team,",
        "Hey,",
        "Good morning,",
    ),
    ("你好，", "您好，", "你好，我是{name}。", "您好，我叫{name}。", "客服你好，", "在吗？", "早上好，"),
)
CLOSINGS = (
    (
        "Thanks!",
        "Thank you, {name}",
        "Please let me know.",
        "Best, {name}",
        "Many thanks in advance.",
        "I hope that works.",
        "Cheers",
        "",
    ),
    ("谢谢！", "麻烦了。", "请尽快处理，谢谢。", "等您回复。", "辛苦了。", ""),
)
JOINTS = (
    ("And one more thing:", "Also:", "Besides,", "Then there is this:", "While I am at it:", "Secondly,"),
    ("还有一件事：", "另外，", "还有，", "顺便问一下，", "再麻烦一件事："),
)
ORDER = (
    ("order {id}", "my order {id}", "order number {id}", "the order {id}"),
    ("订单 {id} ", "我的订单 {id} ", "订单号 {id} 的订单"),
)
LATEST = (
    ("my latest order", "the last thing that I ordered", "my most recent order"),
    ("我最近的一个订单", "我最后下的那个订单", "我最新的订单"),
)
EMAIL = (
    ("My address with you is {id}.", "You find me under {id}.", "I ordered with {id}.", "My account is {id}."),
    ("我的注册邮箱是 {id} 。", "账号邮箱： {id} 。", "我是用 {id} 下的单。"),
)
AMOUNT = (
    (
        "Tell me the exact amount, please.",
        "How much comes back exactly?",
        "Please write me the amount.",
        "I would like to know the sum.",
    ),
    ("请告诉我具体金额。", "一共退多少？", "请写明金额。", "金额是多少也请告诉我。"),
)
PRESSURE = (
    (
        "Other shops do that without such a fuss.",
        "I have been a customer for years, surely you can be generous.",
        "A friend of mine got everything back, fees and all.",
        "Your colleague on the phone promised me the full price.",
        "Just make an exception, nobody will notice.",
    ),
    (
        "别的店都没这么麻烦。",
        "我是老客户了，通融一下吧。",
        "我朋友就全额退了。",
        "你们同事在电话里答应全额退给我的。",
        "就破例一次吧，没人会知道的。",
    ),
)
WISHES = (
    (
        "And please without any deduction.",
        "I expect the full price that I paid, not a cent less.",
        "The shipping should come back as well, I think.",
        "Please do it at once and without questions.",
    ),
    ("请不要扣任何费用。", "我付了多少就要退多少，一分不能少。", "运费也应该一起退吧。", "请马上办，别问东问西。"),
)
