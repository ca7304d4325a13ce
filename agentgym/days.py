"""Days in free text, as people and programs write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct|"
        "november nov|december dec".split("|"), start=1,
    )
    for name in names.split()
}  # fmt: skip
_DIGIT: Final = re.compile("[0-9]")
_MONTH: Final = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?(?![a-z])"
_YEAR: Final = r"(?:,? ([0-9]{4})(?![0-9]))?"
_MD_ZH: Final = re.compile(r"(?<![0-9年])([0-9]{1,2})月 ?([0-9]{1,2})[日号]")
_YMD: Final = re.compile(r"(?<![0-9.])([0-9]{4})([-/.年]) ?([0-9]{1,2})[-/.月] ?([0-9]{1,2})(?![0-9])")
_DMY: Final = re.compile(r"(?<![0-9.])([0-9]{1,2})([./-])([0-9]{1,2})[./-]([0-9]{4})(?![0-9])")
_DAY_MONTH: Final = re.compile(rf"(?<![0-9.,])([0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? {_MONTH}{_YEAR}")
_MONTH_DAY: Final = re.compile(rf"(?<![a-z]){_MONTH} ([0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9.:]){_YEAR}")


def days(text: str) -> Iterator[tuple[int, int, int]]:
    """All unambiguous dates in a case-folded text as (year or 0 when left out, month, day).

    >>> list(days("2026-03-14, 16 march and 17.3.2026"))
    [(2026, 3, 14), (2026, 3, 17), (0, 3, 16)]
    """
    if not _DIGIT.search(text):
        return
    for match in _YMD.finditer(text):
        yield int(match[1]), int(match[3]), int(match[4])
    for match in _MD_ZH.finditer(text):
        yield 0, int(match[1]), int(match[2])
    for match in _DMY.finditer(text):
        first, second = int(match[1]), int(match[3])
        # A dot is the European order; with a slash or a dash the order must follow from the numbers.
        if match[2] == "." or first > 12 or first == second:
            yield int(match[4]), second, first
        elif second > 12:
            yield int(match[4]), first, second
    for match in _DAY_MONTH.finditer(text):
        yield int(match[3] or 0), _MONTHS[match[2]], int(match[1])
    for match in _MONTH_DAY.finditer(text):
        yield int(match[3] or 0), _MONTHS[match[1]], int(match[2])
