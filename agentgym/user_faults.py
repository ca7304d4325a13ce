"""Faults of a model that plays the user, found by rules: a value that it cannot know, a yes to what it does not want.

The rules look at what is written only. They know nothing of what a value means, so that a made-up story without any
number, date, address or name goes unseen; `docs/users.md` says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

FAULTS: Final = {
    "invents": "said a number, an id, a date, an address or a name that it cannot know",
    "ends_early": "wanted to leave although its patience was not used up",
    "never_ends": "went on talking beyond the bound",
    "gives_in": "agreed to what it does not want",
    "balks": "refused what it wants",
    "silent": "said nothing, or gave no decision on a proposal",
}
"""Kinds of faults. None of them counts as a fault of the agent."""

_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")
_ID: Final = re.compile(r"\b(?=[A-Za-z-]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\b")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_HAN_NUMBER: Final = re.compile(r"[一二三四五六七八九十百千两]{1,8}(?=元|块|月|号|日|英镑|欧元|美元)")
_WORD: Final = re.compile(r"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ'’-]*")
_SENTENCE: Final = re.compile(r"(?:^|[.!?:;\n\"“(«]\s*|[-–—]\s+)$")
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)\b")
_WORDS: Final = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "seventy": "70",
    "eighty": "80",
    "ninety": "90",
    "hundred": "100",
}
_SPOKEN: Final = frozenset(("zero", "one", "two", "three"))
"""Said without meaning a number: "one more thing", "a day or two"."""

_DAYS: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august september "
    "october november december".split()
)
_COMMON: Final = frozenset(
    "i i'm i'd i'll i've ok okay tv pc sms dvd usb faq id pin iban vat eu uk us usa english chinese german french "
    "italian spanish sir madam mr mrs ms dr hello hi dear thanks god internet euro euros march may".split()
)
_CONSENT: Final = re.compile(
    r"\b(?:yes|ok|okay|sure|fine|agreed|alright|all right)\b[^.?!]{0,30}\b(?:do (?:that|it|so)|go ahead"
    r"|please do|proceed|works for me"
    r"|agree|accept)\b|\bgo ahead\b|\bi (?:agree|accept|consent)\b|\bthat(?:'s| is| would be) (?:fine|ok|okay"
    r"|all right) (?:with|by|for) me\b"
    r"|\b(?:deal|agreed)[.!]|我同意|可以，(?:就)?这样|就这么办|没问题，就|行，就"
)
_REFUSAL: Final = re.compile(r"\b(?:not|don't|can't|won't|never|no)\b|n't\b|不|没")


def invented(text: str, known: str) -> list[str]:
    """The values in *text* that do not stand in *known*, in their order.

    >>> invented("My order is A1007, sent on Monday by Bob Ray.", "It was sent on a Monday. Bob")
    ['A1007', 'Ray']
    """
    plain = unicodedata.normalize("NFKC", known)
    have = {value.casefold() for value in _values(plain)} | {word.casefold() for word in _WORD.findall(plain)}
    have |= {_WORDS[word] for word in have & _WORDS.keys()}
    found = dict.fromkeys(
        value for value in _values(unicodedata.normalize("NFKC", text)) if value.casefold() not in have
    )
    return list(found)


def consents(text: str) -> bool:
    """Whether a text says yes to something, and no to nothing."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace(",", "，")
    return any(_CONSENT.search(part) and not _REFUSAL.search(part) for part in re.split(r"(?<=[.!?。！？])", folded))


def _values(text: str) -> Iterator[str]:
    rest = text
    for pattern in (_EMAIL, _ORDINAL, _ID, _NUMBER, _HAN_NUMBER):
        for match in pattern.finditer(rest):
            yield _plain(match[1] if pattern is _ORDINAL else match[0])
        rest = pattern.sub(" , ", rest)
    for match in _WORD.finditer(rest):
        word = match[0].removesuffix("'s").removesuffix("’s")
        folded = word.casefold()
        if folded in _WORDS and folded not in _SPOKEN:
            yield _WORDS[folded]
        elif folded in _DAYS:
            yield folded
        elif word[0].isupper() and folded not in _COMMON and not _SENTENCE.search(rest, 0, match.start()):
            yield word


def _plain(value: str) -> str:
    """Grouping and trailing zeros of a number folded: "1,234.50" is "1234.5"."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", value):
        value = value.replace(",", "")
    if re.fullmatch(r"\d+[.,]\d{1,2}", value):
        value = value.replace(",", ".").rstrip("0").rstrip(".")
    return value
