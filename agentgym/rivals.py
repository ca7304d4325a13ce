"""What a text says beside the values that were asked for: several answers are none, and one that is denied is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from agentgym.compare import Comparator
from agentgym.days import days
from agentgym.mentions import distinct_amounts, distinct_ids, distinct_numbers, fold, mentions

_CLAUSE: Final = re.compile(r"[.;!?](?=\s|$)|[;。；！？\n]|,? but ")
_DENIAL: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|\w{1,12}n['’]t)\b|[不没無无未非]", re.IGNORECASE
)
_CODE: Final = re.compile(r"(?<!\w)[a-z]{1,40}(?:_[a-z]{1,40}){1,9}(?!\w)")
_WORD: Final = re.compile(r"[a-z]{1,40}(?:_[a-z]{1,40}){0,9}")


def rivals(wanted: Sequence[Comparator], texts: Iterable[str]) -> set[str]:
    """Values of the kinds of *wanted* that texts hold besides them: amounts, ids, days, numbers, codes.

    >>> sorted(rivals([Comparator(type="int", value=5)], ["one of 4, 5 or 6, on 2026-03-16"]))
    ['4', '6']
    """
    every = [option for each in wanted for option in (each.any_of or [each])]
    return {rival for text in texts for like in every for rival in _rivals(like, every, text)}


def _rivals(like: Comparator, wanted: Sequence[Comparator], text: str) -> set[str]:
    values = [other.value for other in wanted if other.type == like.type]
    if like.type == "money":
        # Signs are not read.
        own = {abs(each.value) for each in wanted if (each.type, each.currency) == (like.type, like.currency)}
        return {str(amount) for amount in distinct_amounts(text, like.currency or "") - own}
    if like.type == "id":
        folded = {str(value).casefold() for value in values}
        return {found for found in distinct_ids(text, str(like.value)) if found.casefold() not in folded}
    if like.type == "date":
        known = {(int(v[:4]), int(v[5:7]), int(v[8:10])) for v in map(str, values)}
        known |= {(0, month, day) for _, month, day in known}
        told = set(days(" ".join(fold(text).casefold().split())))
        return {f"{year or '–'}-{month:02}-{day:02}" for year, month, day in told - known}
    if like.type in ("int", "number"):
        numbers = [each for each in wanted if each.type in ("int", "number")]
        return {str(found) for found in distinct_numbers(text) if not any(_near(found, each) for each in numbers)}
    if like.type == "text" and _WORD.fullmatch(str(like.value)):
        return set(_CODE.findall(text)) - {str(value) for value in values}
    return set()


def _near(found: Decimal, wanted: Comparator) -> bool:
    return abs(found - Decimal(repr(wanted.value))) <= Decimal(repr(wanted.tolerance or 0))


def denied(wanted: Comparator, text: str) -> bool:
    """Whether each clause that mentions a value denies something.

    >>> five = Comparator(type="int", value=5)
    >>> denied(five, "It is surely not 5."), denied(five, "No. 5.")
    (True, False)
    """
    told = [clause for clause in _CLAUSE.split(text) if mentions(clause, wanted)]
    return bool(told) and all(_DENIAL.search(clause) for clause in told)


def negative(wanted: Comparator, text: str) -> bool:
    """Whether an amount above zero is only ever written with a minus."""
    if wanted.type != "money" or wanted.value <= 0:
        return False
    bare = re.sub(r"(?<![\w)])[-−] ?(?:[^\W\d]{1,3} ?|[€$£¥] ?)?[0-9][0-9.,'’ ]{0,39}", " ", fold(text))
    return not mentions(bare, wanted)
