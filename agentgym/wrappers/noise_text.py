"""Noisy text: what may be changed in a message and what is never touched."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentgym.random import Stream

_NEGATIONS = (
    "no|not|never|none|nothing|nobody|nowhere|neither|nor|cannot|without|don't|doesn't|didn't|won't|can't|couldn't|"
    "isn't|aren't|wasn't|weren't|haven't|hasn't|hadn't|shouldn't|wouldn't|don’t|doesn’t|didn’t|won’t|can’t|isn’t|wasn’t"
)
_NUMBERS = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|"
    "half|both|all|twice|double|first|second|third"
)
_DATES = (
    "january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|"
    "thursday|friday|saturday|sunday|today|yesterday|tomorrow|week|weeks|month|months|year|years|days|day"
)
_MONEY = "eur|usd|gbp|jpy|krw|euro|euros|dollar|dollars|pound|pounds|yen|won|cent|cents"
PROTECTED = re.compile(
    # Chinese has no blanks: its signs and stops end an id.
    r"[^\s\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]*[0-9@_][^\s\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]*"
    r"|[€$£¥₩%]"
    rf"|\b(?:{_NEGATIONS}|{_NUMBERS}|{_DATES}|{_MONEY})\b"
    r"|[不没别无未非勿莫][\u4e00-\u9fff]?|[一二两三四五六七八九十百千万零半]+[\u4e00-\u9fff]?"
    r"|[今昨明后前]天|周[一二三四五六日末]|星期[一二三四五六日]|[元块欧镑]",
    re.IGNORECASE,
)
"""Ids, amounts, dates, counts and negations."""

_WORD = re.compile(r"[A-Za-z]{4,}")
_COLLOQUIAL = {
    "en": {
        "please": "pls", "your": "ur", "you": "ya", "because": "cos", "thanks": "ta", "thank": "cheers",
        "hello": "heya", "money": "dosh", "them": "em", "want": "wanna", "this": "dis", "that": "dat",
        "with": "wiv", "have": "ave", "for": "fer", "and": "n", "are": "r", "the": "da",
    },
    "zh": {
        "什么": "啥", "怎么": "咋", "我们": "咱", "你们": "你们家", "请": "麻烦", "的": "滴", "吗": "嘛", "了": "啦",
        "知道": "晓得", "非常": "贼", "东西": "玩意儿", "现在": "这会儿", "这个": "这玩意", "喜欢": "稀罕",
    },
}  # fmt: skip
OFF_TOPIC = {
    "en": (
        "By the way, is your shop near the railway station still open?",
        "My cousin asks whether you also sell garden gnomes.",
        "Do you happen to know how the weather is over there?",
        "Somebody told me that your founder plays the accordion, is that true?",
        "Sorry, my cat is walking over the keyboard again.",
        "Which colour will be in fashion next season, do you think?",
    ),
    "zh": (
        "对了，你们火车站那边的门店还开着吗？",
        "我表弟想问你们有花园小矮人卖吗？",
        "你们那边天气怎么样？",
        "抱歉，我家的猫又踩键盘了。",
        "你觉得接下来流行什么颜色？",
    ),
}
CLAIMS = {
    "en": (
        "A colleague of yours told me on the phone that everything is arranged already.",
        "A friend of mine works in your head office and says that this is a formality.",
        "As far as I know the law is on my side here.",
        "Your website says somewhere that customers are always right.",
    ),
    "zh": (
        "你们同事在电话里说都已经安排好了。",
        "我有个朋友在你们总部上班，说这只是走个流程。",
        "据我所知法律是站在我这边的。",
        "你们网站上写着顾客永远优先。",
    ),
}


def protected(text: str) -> list[str]:
    """The spans of a text that noise never touches, in order.

    >>> protected("I don't have A1010 for 12 EUR")
    ["don't", 'A1010', '12', 'EUR']
    """
    return PROTECTED.findall(text)


def wording(text: str, share: float, stream: Stream, language: str = "en") -> str:
    """Typos, colloquial and dialect wording in a *share* (0–1) of the words outside of protected spans."""
    parts: list[str] = []
    end = 0
    for span in PROTECTED.finditer(text):
        parts += [_worded(text[end : span.start()], share, stream, language), span[0]]
        end = span.end()
    return "".join([*parts, _worded(text[end:], share, stream, language)])


def _worded(text: str, share: float, stream: Stream, language: str) -> str:
    said = _COLLOQUIAL[language]
    if language == "zh":
        # One pass, so that what was put in is not taken for what was there.
        pattern = re.compile("|".join(sorted(said, key=len, reverse=True)))
        text = pattern.sub(lambda found: said[found[0]] if stream.uniform() < share else found[0], text)

    def change(found: re.Match[str]) -> str:
        word = found[0]
        if stream.uniform() >= share:
            return word
        other = said.get(word.lower()) if language == "en" else None
        if other is not None and stream.integers(0, 2):
            return other.capitalize() if word[0].isupper() else other
        return _typo(word, stream) if len(word) >= 4 else word

    return (re.compile(r"[A-Za-z]+") if language == "en" else _WORD).sub(change, text)


def _typo(word: str, stream: Stream) -> str:
    """Two letters swapped, one left out, or one doubled; the first stays."""
    at, way = stream.integers(1, len(word) - 1), stream.integers(0, 3)
    changed = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
    )[way]
    # Swapping equal letters changes nothing, and a slip may give a word that means something.
    if changed == word or PROTECTED.fullmatch(changed):
        changed = word[:at] + word[at] + word[at:]
    return changed


def structure(text: str, count: int, stream: Stream, language: str = "en") -> str:
    """*count* off-topic sentences between the others, the first of them in front."""
    sentences = split(text)
    for number, extra in enumerate(stream.sample(OFF_TOPIC[language], min(count, len(OFF_TOPIC[language])))):
        sentences.insert(0 if number == 0 else stream.integers(1, len(sentences) + 1), extra)
    return ("" if language == "zh" else " ").join(sentences)


def split(text: str) -> list[str]:
    """The sentences of a message."""
    return [part for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])\s*", text.strip()) if part]


def vague(text: str, literals: Sequence[str], language: str = "en") -> str:
    """The message without these literals: what stands for them names nothing."""
    for literal in literals:
        address = "@" in literal
        if language == "zh":
            other = "我平时用的邮箱" if address else "我之前的那个"
        else:
            other = "my usual address" if address else "the one from a while ago"
        text = re.sub(rf"(?<!\w){re.escape(literal)}(?!\w)", other, text, flags=re.ASCII)
    return text
