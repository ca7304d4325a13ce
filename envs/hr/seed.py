"""What all parts of the seed data share: rows by table, draws, ids, and arithmetic of days and money.

Draws come from SHA-256 of a counter, since neither Python nor numpy promises that its own streams stay the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any, TypeVar

T = TypeVar("T")
Row = dict[str, Any]

NOW = "2026-03-16T09:00:00Z"
"""The time up to which the company's history goes; scenarios start there or later in that month."""

FIRST_MONTH, LAST_MONTH = "2023-03", "2026-03"
"""Months with attendance; the last one runs to its end, so that days pass while an episode does."""

TABLES = (
    "sites public_holidays cost_centres departments employees memberships contracts grade_amounts pay_terms "
    "attendance_months attendance_corrections leave_types leave_balances leave_requests payroll_runs payslips "
    "adjustments requisitions candidates access_grants accounts session api_style maintenance"
).split()
"""All tables with seed data."""

_SERIES = "E:1000 K:2000 AC:3000 AJ:4000 LR:50000 RQ:600 CA:7000 AG:8000 AT:9000"


def half_up(numerator: int, denominator: int) -> int:
    """The quotient rounded to an integer, halves upwards."""
    return (2 * numerator + denominator) // (2 * denominator)


def day_of(text: str) -> date:
    """The day of a date or time."""
    return date.fromisoformat(text[:10])


def later(text: str, days: int) -> str:
    """The day so many days after that of *text*."""
    return (day_of(text) + timedelta(days)).isoformat()


def month_after(month: str, months: int = 1) -> str:
    """The month so many months later."""
    number = int(month[:4]) * 12 + int(month[5:7]) - 1 + months
    return f"{number // 12}-{number % 12 + 1:02}"


def first_of(month: str) -> str:
    """First day of a month."""
    return f"{month}-01"


def last_of(month: str) -> str:
    """Last day of a month."""
    return later(first_of(month_after(month)), -1)


def month_range(first: str, last: str) -> Iterator[str]:
    """Months from *first* to *last*, both included."""
    while first <= last:
        yield first
        first = month_after(first)


def months_later(day: str, months: int) -> str:
    """The same day of the month so many months later, or the last day of that month."""
    month = month_after(day[:7], months)
    return min(f"{month}{day[7:10]}", last_of(month))


class Seed:
    """Rows of all tables while they are made up, with the draws and the counters of ids."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        self.last = {name: int(first) for name, first in (pair.split(":") for pair in _SERIES.split())}
        self._count = 0

    def word(self) -> bytes:
        """32 drawn bytes."""
        self._count += 1
        return hashlib.sha256(f"hr:{self._count}".encode()).digest()

    def draw(self, n: int) -> int:
        """The next draw from 0..n-1."""
        return int.from_bytes(self.word()[:8], "big") % n

    def pick(self, options: Sequence[T]) -> T:
        """One of *options*."""
        return options[self.draw(len(options))]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """*count* different ones of *options*, in the order drawn; all of them where there are fewer."""
        left = list(options)
        return [left.pop(self.draw(len(left))) for _ in range(min(count, len(left)))]

    def clock(self) -> str:
        """A time of a working day."""
        return f"{7 + self.draw(10):02}:{self.draw(60):02}:{self.draw(60):02}Z"

    def next_id(self, prefix: str) -> str:
        """The next id of a series, with gaps: an id must not tell another."""
        self.last[prefix] += 1 + self.draw(3)
        return f"{prefix}{self.last[prefix]}"

    def add(self, table: str, **row: Any) -> Row:
        """Keep a row."""
        self.rows[table].append(row)
        return row
