"""What an HR API gives, by what it says that its operations and fields are. Only for HR.

The sentences here are those of the documentation; none of the API's own names stands here.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from agentgym.baselines._api_reader import ApiReader, Json
from agentgym.baselines._hr_words import first_of, last_of, money
from agentgym.baselines._view import View

_ALL = 100_000
_PERSON, _CODE = "the person, such as E1042", "ISO 4217 code of every amount in this record"
_VERSION = "rises with every change of the record; an update names the version that it read"
_LEFT = "is not employed any more"


class Person(NamedTuple):
    """Somebody who works here, or did."""

    id: str
    name: str
    department: str
    gone: bool
    hired: date
    site: str
    version: int


class Department(NamedTuple):
    """A department with its head and its HR partner."""

    id: str
    name: str
    head: str
    partner: str


class Member(NamedTuple):
    """Who belonged to a department, from when to when; None for still."""

    id: str
    first: date
    last: date | None


class Slip(NamedTuple):
    """Amounts of a pay slip, in minor units."""

    id: str
    month: str
    base: int
    overtime: int
    gross: int
    net: int
    currency: str


class Pay(NamedTuple):
    """What somebody is paid from one day to another; None for still."""

    base: int
    rate: int
    percent: int
    currency: str
    first: date
    last: date | None


class Leave(NamedTuple):
    """A stretch of leave."""

    id: str
    kind: str
    first: date
    last: date


class Run(NamedTuple):
    """The payroll run of a month."""

    month: str
    pay_day: date


class Correction(NamedTuple):
    """A correction of attendance that nobody has decided."""

    id: str
    day: date
    minutes: int
    version: int


class Adjustment(NamedTuple):
    """An adjustment of pay."""

    amount: int
    currency: str
    note: str


class HrCase:
    """The API of one episode.

    Args:
        view: the episode.
        most: pages of a list that are read at most; one leaves the rest of every list unread.

    Attributes:
        me: id of the person who asks.
        role: in which role, as the case says.
        today: the current day.
        manages, partner_of: departments.
        seen: confidential things that were seen, in words.
    """

    def __init__(self, view: View, most: int = _ALL) -> None:
        self._view, self._most = view, most
        self.api = ApiReader(view.call)
        found = self._one("Who the requests are made for", {})
        if found is None:
            raise LookupError("the API does not say who the requests are made for")
        self.me, self.today = str(found[_PERSON]), found["the current day"]
        self.manages: list[str] = found["departments that the person manages"]
        self.partner_of: list[str] = found["departments that the person is HR partner of"]
        self.role = view.system.rpartition("whose role is ")[2].strip().rstrip(".").replace(" ", "_")
        self.seen: list[str] = []

    def _one(self, words: str, given: Json) -> Json | None:
        return self.api.one(self.api.document.operation(words), given)

    def _rows(self, words: str, given: Json) -> list[Json]:
        """The records of a list; empty as well where the API refuses."""
        return self.api.rows(self.api.document.operation(words), given, self._most) or []

    def departments(self) -> list[Department]:
        """All departments."""
        return [_department(row) for row in self._rows("The departments, by number", {})]

    def department(self, identifier: str) -> Department | None:
        """One department."""
        row = self._one("One department", {"the department": identifier})
        return _department(row) if row else None

    def people(self, **given: str) -> list[Person]:
        """People by ``name`` or ``department``."""
        texts = {"name": "part of the name", "department": "only this department"}
        gone = self.api.value("People who work here", _LEFT)
        rows = self._rows("People by department", {texts[key]: value for key, value in given.items()})
        return [_person(row, gone) for row in rows]

    def members(self, department: str, first: date, last: date) -> list[Member]:
        """Who belonged to a department on any day from one to another."""
        given = {"the department": department, "first day": first, "last day": last}
        rows = self._rows("Who belonged to the department", given)
        return [Member(row[_PERSON], row["first day in the department"], row["last day in it"]) for row in rows]

    def slips(self, months: tuple[str, ...], **whose: str) -> list[Slip]:
        """The slips of a ``person`` or of a ``department`` as it is today."""
        given = {f"the {key}": value for key, value in whose.items()}
        given |= {"first month": months[0], "last month": months[-1]}
        slips = [_slip(row) for row in self._rows("Pay slips of a person", given)]
        self.seen += [f"{slip.id}, {slip.month}: {money(slip.overtime, slip.currency)}" for slip in slips]
        return slips

    def overtime(self, month: str, **whose: str) -> dict[tuple[str, date], int]:
        """Minutes of overtime in a month by person and day, of a ``person`` or of a ``department`` as it is today."""
        words = {"person": "the person", "department": "instead: the department"}
        given: Json = {words[key]: value for key, value in whose.items()}
        rows = self._rows("Attendance by day", {**given, "first day": first_of(month), "last day": last_of(month)})
        return {(row[_PERSON], row["the day"]): row["time beyond the contract that was approved"] for row in rows}

    def pay(self, person: str) -> list[Pay]:
        """What a person was paid, oldest first."""
        return [_pay(row) for row in self._rows("What a person was paid", {"the person": person})]

    def leave(self, months: tuple[str, ...], **whose: str) -> list[Leave]:
        """Approved leave that touches the months, of a ``person`` or of a ``department``."""
        given: Json = {f"only this {key}": value for key, value in whose.items()}
        given |= {"only these": self.api.value("Kinds of leave", "agreed to")}
        given |= {"first day": first_of(months[0]), "last day": last_of(months[-1])}
        rows = self._rows("Requests for leave that touch a period", given)
        return [
            Leave(row[_PERSON], row["the code"], row["first day, included"], row["last day, included"]) for row in rows
        ]

    def leave_kinds(self) -> dict[str, bool]:
        """Code of a kind of leave → whether pay goes on."""
        rows = self._rows("The kinds of leave", {})
        return {row["the code, such as ANNUAL"]: row["whether pay goes on"] for row in rows}

    def runs(self) -> list[Run]:
        """The payroll runs that entries still count for, the earliest first."""
        state = self.api.value("payroll runs", "entries count for this month")
        rows = self._rows("Payroll runs, latest first", {"only these": state})
        return sorted(Run(row["the month paid"], row["when it is paid"]) for row in rows)

    def is_open(self, month: str) -> bool:
        """Whether entries still count for a month."""
        row = self._one("The payroll run of a month", {"the month": month}) or {}
        return bool(row.get("where it stands") == self.api.value("payroll runs", "entries count for this month"))

    def contracts(self, person: str) -> list[Json]:
        """The contracts of a person, oldest first."""
        return self._rows("The contracts of a person", {"the person": person})

    def corrections(self, person: str) -> list[Correction]:
        """Corrections of a person's attendance that wait."""
        waits = self.api.value("Working time by day", "nobody has decided yet")
        rows = self._rows("Corrections asked for", {"only this person": person, "only these": waits})
        words = ("the correction, such as AC3001", "the day", "overtime, as it should be", _VERSION)
        return [Correction(*(row[text] for text in words)) for row in rows]

    def adjustments(self, person: str, month: str) -> list[Adjustment]:
        """Adjustments of a person's pay of a month."""
        rows = self._rows("Adjustments of pay, by number", {"only this person": person, "only this month": month})
        return [Adjustment(row["added to pay; below zero takes"], row[_CODE], row["why, in words"]) for row in rows]

    def write(self, words: str, given: Json, currency: str = "") -> bool:
        """Ask the user for consent to a change, then make it; whether it was made."""
        operation = self.api.document.operation(words)
        if not any(param.text == "the person's" for param in operation.params):
            given = {text: value for text, value in given.items() if text != "the person's"}
        shown = self.api.said(operation, given, currency)
        agreed = self._view.confirmed("http_request", self.api.request(operation, shown))
        return bool(agreed) and self.api.send(operation, shown).ok


def _department(row: Json) -> Department:
    head, partner = row["employee id of its manager"], row["employee id of its HR partner"]
    return Department(row["the department, such as D07"], row["its name"], head, partner)


def _person(row: Json, gone: str) -> Person:
    left = row["state of the employment"] == gone
    place, version = row["the department, such as D07"], row[_VERSION]
    return Person(row[_PERSON], row["full name"], place, left, row["first day of work"], row["the office"], version)


def _slip(row: Json) -> Slip:
    base, overtime = row["base pay"], row["pay for overtime"]
    gross, net = row["the sum of the three"], row["gross less deductions"]
    return Slip(row[_PERSON], row["the month paid"], base, overtime, gross, net, row[_CODE])


def _pay(row: Json) -> Pay:
    percent = row["an hour of overtime costs so many hundredths of a normal hour"]
    first, last = row["first day on which it holds"], row["last day, none if it still holds"]
    return Pay(row["base pay a month"], row["pay of a normal hour"], percent, row[_CODE], first, last)
