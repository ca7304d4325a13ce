"""What a customer of the refund desk asks for, read off their words with keywords; only for Refund."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentgym.baselines._refund_phrases import GOODS, PHRASES

ORDER_ID = re.compile(r"(?<![A-Za-z0-9])A\d{4,}(?![\d-])")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])\s*")

_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in PHRASES.items()}
_COMMON = frozenset(
    "set pack pieces year with from size course level collection hardcover pairs patterns of the and for back".split()
)
_NUMBERS = {"one": 1, "a": 1, "two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "一": 1, "两": 2, "三": 3, "四": 4}


def says(kind: str, text: str) -> bool:
    """Whether a text speaks of something: a key of the table of words."""
    return _COMPILED[kind].search(text) is not None


def choice(text: str) -> str:
    """What a text chooses: "goods", "money", or "" where it leaves that open; what it says no to does not count.

    >>> choice("The money, no replacement."), choice("I don't want money, send mine out now"), choice("It is broken.")
    ('money', 'goods', '')
    """
    left = _COMPILED["negated"].sub(" ", text)
    found = [name for name in ("goods", "money") if says(name, left)]
    if not found:
        refused = {name for name in ("goods", "money") if says(name, text)}
        found = [name for name in ("goods", "money") if refused and name not in refused]
    return found[0] if len(found) == 1 else ""


def translated(text: str) -> str:
    """The text, with the English words for goods that it names in Chinese behind it."""
    return " ".join([text, *(english for chinese, english in GOODS.items() if chinese in text)]).lower()


def names(product: str) -> list[str]:
    """The words by which a product may be called, the telling ones last."""
    words = re.findall(r"[a-z][a-z-]{2,}", product.lower().split(",")[0])
    return [word for word in words if word not in _COMMON] or words


def mentioned(product: str, text: str) -> int:
    """How many of a product's words stand in a text, in the singular or plural; 0 is not mentioned."""
    return len(heard(product, text)) + 10 * (product.lower() in translated(text))


def heard(product: str, text: str) -> set[str]:
    """The words of a product that stand in a text, in the singular or plural."""
    lowered = translated(text)
    return {word for word in names(product) if re.search(rf"\b{re.escape(word.rstrip('s'))}(?:s|es)?\b", lowered)}


def is_kept(product: str, text: str) -> bool:
    """Whether a text says of a product that it stays or is fine."""
    return any(
        re.search(rf"\b{word}\b[^.!?]{{0,30}}\b(?:fine|stays?|keep|all right|lovely|not part)", text, re.IGNORECASE)
        or re.search(rf"keep the [^.!?]{{0,20}}\b{word}\b", text, re.IGNORECASE)
        for word in map(re.escape, names(product))
    )


def segments(text: str, ids: Iterable[str]) -> dict[str, str]:
    """Order → the sentences about it: those that name it and those after them.

    "" holds what names none, "latest" what is about the newest.

    Sentences before the first order named belong to it.
    """
    known = set(ids)
    found: dict[str, str] = {}
    current = ""
    before: list[str] = []
    for sentence in _SENTENCE.split(text):
        named = [name for name in ORDER_ID.findall(sentence) if name in known]
        if not named and says("latest", sentence):
            named = ["latest"]
        if named:
            for name in named[:-1]:
                found[name] = found.get(name, "") + " " + sentence
            current = named[-1]
            sentence = " ".join([*before, sentence])
            before = []
        if current:
            found[current] = found.get(current, "") + " " + sentence
        else:
            before.append(sentence)
    if before:
        found[""] = " ".join(before)
    return found


def units(text: str, product: str, most: int) -> int:
    """How many units of a product a text is about; all unless it says so."""
    lowered = translated(text)
    for word in names(product):
        stem = rf"{re.escape(word.rstrip('s'))}(?:s|es)?\b"
        match = re.search(
            rf"\b(\d+|{'|'.join(_NUMBERS)}) (?:of (?:my |the )?(?:\w+ )?)?(?:× )?(?:[\w-]+ ){{0,3}}{stem}", lowered
        )
        if match and match[1] not in ("a",):
            return min(most, int(match[1]) if match[1].isdigit() else _NUMBERS[match[1]])
    return most


def broken_units(shows: str, quantity: int) -> int:
    """5.3: how many of *quantity* units a photo shows as damaged."""
    text = shows.lower()
    if (
        re.search(
            r"no (?:visible )?(?:crack|damage|chip|defect)|undamaged$|nothing (?:broken|to be seen)|intact$", text
        )
        and "other" not in text
    ):
        return 0
    if quantity == 1 or re.search(r"\b(?:all|both|each|every)\b", text):
        return quantity
    match = re.search(
        rf"\b(\d+|{'|'.join(_NUMBERS)}) (?:of (?:the )?(?:\d+|\w+)\b|with\b|broken|unit|damaged|cracked)", text
    )
    if match:
        return min(quantity, int(match[1]) if match[1].isdigit() else _NUMBERS[match[1]])
    return quantity


def carrier_damage(shows: str) -> bool:
    """Whether a photo of the signature or of the packaging shows damage."""
    text = re.sub(
        r"without (?:remarks|dents|damage)|no (?:remarks|damage|dents)|unbroken|undamaged|intact", "", shows.lower()
    )
    return re.search(r"crush|torn|dent|wet|damag|ripped|soaked|open|hole|broken|squash", text) is not None
