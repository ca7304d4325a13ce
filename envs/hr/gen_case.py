"""A generated case while it is put together: its draws, the caller, and the rows that it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta

from agentgym.envs.hr.gen_data import Department, Person, Reference, Row, reference
from agentgym.envs.hr.gen_numbers import shown_numbers
from agentgym.generating import spelt_numbers
from agentgym.random import Stream

TABLES = (
    "departments employees memberships contracts leave_balances leave_requests candidates access_grants "
    "attendance_corrections adjustments"
).split()
"""Tables that generated cases change, each after those that it refers to."""


class Draws(Stream):
    """Small draws, several of them out of one word; what is left of a word stays 2¹⁶ times wider than a draw."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, name)
        self._rest, self._width = 0, 1

    def integers(self, low: int, high: int) -> int:
        """An integer in low … high − 1, each as likely up to 1 : 65,536."""
        span = high - low
        if self._width < span << 16:
            self._rest, self._width = super().integers(0, 1 << 63), 1 << 63
        self._rest, found = divmod(self._rest, span)
        self._width //= span
        return low + found


class Case:
    """Rows and draws of one scenario.

    Args:
        stream: all draws but the level's.
        role: in which the caller acts.
        chinese: whether the caller writes Chinese.
        caller: who that is, None to draw it.
    """

    def __init__(self, stream: Draws, role: str, chinese: bool, callers: Sequence[str]) -> None:
        self.draw, self.role, self.chinese = stream, role, chinese
        self.data: Reference = reference()
        self.today = date(2026, 3, 9) + timedelta(stream.integers(0, 19))
        second = stream.integers(0, 9 * 3600)
        self.now = f"{self.today}T{7 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
        self.caller = stream.choice(callers)
        self.rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        self._stern = self.chance(12)
        self.used: set[str] = {self.caller}
        self.used_departments: set[str] = set()
        self._ids: set[str] = set()
        self._shown = shown_numbers()
        self._now = spelt_numbers(self.now)

    def chance(self, percent: int) -> bool:
        """Whether something of this likelihood happens."""
        return self.draw.integers(0, 100) < percent

    def refuses(self, percent: int) -> bool:
        """Whether a rule forbids what is asked for: with this likelihood, and for all requests of some cases."""
        return self.chance(percent) or self._stern

    def says(self, english: Sequence[str], chinese: Sequence[str]) -> str:
        """One wording in the caller's language."""
        return self.draw.choice(chinese if self.chinese else english)

    def hides(self, *amounts: int) -> bool:
        """Whether the agent is shown none of these amounts anyway."""
        return all(abs(each) not in self._shown and abs(each) not in self._now for each in amounts)

    def new_id(self, prefix: str) -> str:
        """A drawn id that no series of the snapshot reaches."""
        while (found := f"{prefix}{self.draw.integers(70_000, 100_000)}") in self._ids:
            pass
        self._ids.add(found)
        return found

    def reach(self, right: str = "administer") -> list[Department]:
        """Departments that the caller's role reaches, without those that another request is about."""
        every: Iterable[Department] = self.data.departments.values()
        if self.role == "hr_partner":
            every = (d for d in every if d.partner == self.caller)
        elif self.role == "manager":
            every = (d for d in every if d.head == self.caller)
        del right
        return [d for d in every if d.id not in self.used_departments]

    def person(self, fits: Callable[[Person], bool], departments: Sequence[Department] | None = None) -> Person | None:
        """Somebody within reach that no other request is about, None if nobody fits."""
        places = self.reach() if departments is None else departments
        found = [p for d in places for p in self.data.by_department[d.id] if p.id not in self.used]
        for _ in range(60):
            if not found:
                return None
            chosen = found.pop(self.draw.integers(0, len(found)))
            if fits(chosen):
                self.used.add(chosen.id)
                return chosen
        return None

    def patch(self) -> dict[str, list[Row]]:
        """The rows by table, without empty tables."""
        return {table: rows for table, rows in self.rows.items() if rows}
