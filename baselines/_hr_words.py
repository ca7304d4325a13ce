"""What somebody at the HR desk asks for, by the words that they use: English and Chinese. Only for HR.

It knows requests for figures (overtime pay of one person, beside the mean, of a department; counts of people; base pay
and slips) and three changes that come down to a figure. It reads cues, it does not understand: a request that is put
differently is taken for another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

_NAMES = "January February March April May June July August September October November December".split()
_NUMERALS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_MONTH = re.compile(rf"\b(?:{'|'.join(_NAMES)})\b|(?:{'|'.join(reversed(_NUMERALS))})(?=月)")
_RANGE = re.compile(r"(?:^| )(?:to|until)(?: |$)|到")
_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:van|de|der|den|von|la|di|da|el)){0,2}(?: [A-Z][\w'’-]+)+")

KINDS: tuple[tuple[str, str], ...] = (
    ("correction", r"(?=.*correction of attendance)(?=.*approve)"),
    ("grade", r"(?=.*moved up)(?=.*\bG\d)"),
    ("repayment", r"taken back"),
    ("leave_count", r"(?=.*annual leave|.*年假)(?=.*how many|.*多少人)"),
    ("overtime_count", r"(?=.*\d+ ?(?:minutes|分钟))(?=.*how many|.*多少人)"),
    ("headcount", r"how many people in|有多少人在"),
    ("base_cut", r"(?=.*base pay)(?=.*\bcut\b|.*lower)"),
    ("base_now", r"base pay"),
    ("compare", r"(?=.*\bmean\b|.*average|.*平均)(?=.*above|.*how far|.*differs|.*compare|.*差|.*比)"),
    ("mean", r"\bmean\b|average|平均"),
    ("department_sum", r"(?=.*overtime pay)(?=.*everybody)"),
    ("pay", r"overtime pay|net pay|gross pay|加班费|实发工资|应发工资"),
)
"""Kind of a request → the words that it is known by; the first that fits."""


@dataclass(frozen=True)
class Ask:
    """One request.

    Attributes:
        kind: one of `KINDS`, or "" for none that is known.
        months: the closed months that it is about, in order.
        names: what may be the name of a person, likely ones first.
        what: ``overtime``, ``net`` or ``gross``.
        wants_amount, wants_mean: besides the difference.
        by_days: from attendance and pay, not from slips.
        minutes: of overtime, from which on a person counts.
        before: hired before this day.
        grade: that somebody is to have.
        text: the words themselves.
    """

    kind: str
    months: tuple[str, ...]
    names: tuple[str, ...]
    what: str
    wants_amount: bool
    wants_mean: bool
    by_days: bool
    minutes: int
    before: date | None
    grade: str
    text: str


def understood(opening: str, today: date) -> Ask:
    """What an opening asks for."""
    text = " ".join(opening.split())
    kind = next((kind for kind, cue in KINDS if re.search(cue, text, re.IGNORECASE)), "")
    minutes = re.search(r"(\d+) ?(?:minutes|分钟)", text)
    before = re.search(r"hired before (\d+) (\w+) (\d{4})", text)
    grade = re.search(r"\bG\d+\b", text)
    what = "net" if re.search("net pay|实发", text) else "gross" if re.search("gross pay|应发", text) else "overtime"
    return Ask(
        kind=kind,
        months=_months(text, today),
        names=tuple(_NAME.findall(text)),
        what=what,
        wants_amount=bool(re.search(r"(?<!by )how much overtime|did I get|一共是多少", text, re.IGNORECASE)),
        wants_mean=bool(re.search(r"what is the mean|平均值?是多少", text)),
        by_days=bool(re.search(r"slips (?:themselves )?must not|leave the slips alone", text, re.IGNORECASE)),
        minutes=int(minutes[1]) if minutes else 0,
        before=date(int(before[3]), _NAMES.index(before[2]) + 1, int(before[1])) if before else None,
        grade=grade[0] if grade else "",
        text=text,
    )


def _months(text: str, today: date) -> tuple[str, ...]:
    """The months named, each the last one of that name before this month; "December to February" is all three."""
    day = re.search(r"\b(\d{4}-\d\d)-\d\d\b", text)
    if day:
        return (day[1],)
    if re.search("beginning of this year", text):
        return (f"{today.year}-01",)
    found: list[str] = []
    end = 0
    for match in _MONTH.finditer(text):
        word = match[0]
        number = _NAMES.index(word) + 1 if word in _NAMES else _NUMERALS.index(word) + 1
        month = f"{today.year - (number >= today.month)}-{number:02d}"
        if found and _RANGE.search(text[end : match.start()]) and len(text[end : match.start()]) < 8:
            while found[-1] < month:
                found.append(following(found[-1]))
        elif month not in found:
            found.append(month)
        end = match.end()
    return tuple(sorted(found))


def following(month: str) -> str:
    """The month after one.

    >>> following("2025-12")
    '2026-01'
    """
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12}-{number % 12 + 1:02d}"


def first_of(month: str) -> date:
    """The first day of a month."""
    return date.fromisoformat(f"{month}-01")


def last_of(month: str) -> date:
    """The last day of a month."""
    return date.fromordinal(first_of(following(month)).toordinal() - 1)


def money(minor: int, currency: str) -> str:
    """An amount in words.

    >>> money(-12345, "EUR"), money(500, "JPY")
    ('EUR -123.45', 'JPY 500')
    """
    if currency == "JPY":
        return f"JPY {minor}"
    whole, part = divmod(abs(minor), 100)
    return f"{currency} {'-' if minor < 0 else ''}{whole}.{part:02d}"


def half_up(numerator: int, denominator: int) -> int:
    """A fraction rounded half up."""
    return (2 * numerator + denominator) // (2 * denominator)
