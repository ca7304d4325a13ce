"""A generated case while it is put together: its draws, the caller, and the rows that it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from agentgym.envs.hr.gen_data import Department, Person, Reference, Row, reference
from agentgym.envs.hr.gen_numbers import shown_numbers
from agentgym.generating import Draws, spelt_numbers

TABLES = (
    "employees departments memberships contracts pay_terms attendance_months attendance_corrections payslips "
    "leave_balances leave_requests requisitions candidates access_grants"
).split()
"""Tables that generated cases change, each after those that it refers to."""


_IDS = {"E": (100_000, 210_000), "RQ": (600_000, 700_000)}
"""Where drawn ids of a kind lie, so that in lists by number they stand among those of the snapshot."""


class Case:
    """Rows and draws of one scenario.

    Args:
        stream: all draws but the level's.
        role: in which the caller acts.
        chinese: whether the caller writes Chinese.

    Attributes:
        caller: employee id of who asks.
        me: the caller, if the case brings them along.
        names: those given away.
        centres: cost centres that people are booked on.
        settled: departments in which somebody is brought along.
        counted: departments whose people are counted, so that nobody may join them any more.
        figured: departments whose figures up to February are asked for, so that people may join them only later.
        told: what one request tells the agent that another one may want looked up or worked out.
        sought: such things that a request wants looked up or worked out.
    """

    def __init__(self, stream: Draws, role: str, chinese: bool) -> None:
        self.draw, self.role, self.chinese = stream, role, chinese
        self.data: Reference = reference()
        self.today = date(2026, 3, 9) + timedelta(stream.integers(0, 19))
        second = stream.integers(0, 9 * 3600)
        self.now = f"{self.today}T{7 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
        self.caller = ""
        self.me: Person | None = None
        self.rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        self._stern = self.chance(12)
        self.names: set[str] = set()
        self.centres: set[str] = set()
        self.settled: set[str] = set()
        self.counted: set[str] = set()
        self.figured: set[str] = set()
        self.told: set[str] = set()
        self.sought: set[str] = set()
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
        low, high = _IDS.get(prefix, (700_000, 1_000_000))
        while (found := f"{prefix}{self.draw.integers(low, high)}") in self._ids:
            pass
        self._ids.add(found)
        return found

    def reach(self, late: bool = False) -> list[Department]:
        """Departments that the caller's role reaches and that people may join, with *late* those just now as well."""
        return self.open(self._reached(), late)

    def open(self, places: Iterable[Department], late: bool = False) -> list[Department]:
        """Those of some departments that people may join, with *late* those just now as well."""
        shut = self.counted if late else self.counted | self.figured
        return [place for place in places if place.id not in shut]

    def untouched(self, everywhere: bool = False) -> list[Department]:
        """Departments that the caller's role reaches, or any, and that no request is about, nor anybody in them."""
        shut = self.counted | self.figured | self.settled
        places = self.data.departments.values() if everywhere else self._reached()
        return [place for place in places if place.id not in shut]

    def _reached(self) -> Iterable[Department]:
        every: Iterable[Department] = self.data.departments.values()
        if self.role == "hr_partner":
            return [d for d in every if d.partner == self.caller]
        if self.role == "manager":
            return [d for d in every if d.head == self.caller]
        return every

    def patch(self) -> dict[str, list[Row]]:
        """The rows by table, without empty tables."""
        return {table: rows for table, rows in self.rows.items() if rows}
