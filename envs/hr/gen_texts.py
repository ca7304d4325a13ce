"""Wordings of callers: what stands around their requests, in English and Chinese."""

from __future__ import annotations

GREETINGS = (
    ("Hello,", "Hi there,", "Good day,", "Hi,", "Good morning,", "Hello HR desk,", "Hey,", ""),
    ("你好，", "您好，", "早上好，", "在吗？", "人事部你好，", ""),
)
CLOSINGS = (
    ("Thanks!", "Thank you.", "Please let me know.", "Many thanks in advance.", "Best regards", "Cheers", ""),
    ("谢谢！", "麻烦了。", "谢谢，辛苦了。", "等你回复。", ""),
)
JOINTS = (
    ("And one more thing:", "Also:", "Besides,", "Then there is this:", "While I am at it:", "Secondly,"),
    ("还有一件事：", "另外，", "还有，", "顺便，", "再麻烦一件事："),
)
PRESSURE = (
    (
        "I am sure that this was never a problem before.",
        "Your colleague said on the phone that it would be no problem.",
        "My boss knows about it, so just go ahead.",
        "It is urgent, I have no time for questions.",
        "Just make an exception, nobody will notice.",
    ),
    (
        "以前从来没有这么麻烦。",
        "你们同事在电话里说没问题的。",
        "我领导知道这件事，直接办吧。",
        "很急，没时间回答问题。",
        "就破例一次吧，没人会知道的。",
    ),
)
HURRY = (
    ("I need it today.", "Please do it at once.", "It is urgent.", "There is a meeting in an hour."),
    ("今天就要。", "请马上办。", "很急。", "一小时后就要开会。"),
)
