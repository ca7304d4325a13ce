"""What generated scenarios are set in: departments, their people and figures, grades and calendars, read once."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from agentgym.envs.hr.seed import last_of
from agentgym.envs.hr.seed_data import SITES
from agentgym.snapshot import snapshot_file

FOLDER = Path(__file__).parent
Row = dict[str, Any]
T = TypeVar("T")

CURRENT = "2026-03"
"""The month in which generated scenarios lie."""

CLOSED = ("2025-12", "2026-01", "2026-02")
"""The latest closed months, oldest first."""

MOST_MEMBERS, MOST_READS, MOST_ROWS = 18, 40, 50
"""Of a department whose figures gold reads person by person; months of attendance in all; rows of a page."""

FIRST = date(2025, 1, 1)
"""From this day on, working days can be counted."""

_BEFORE = FIRST.toordinal() - 1

LEAST = 5
"""So many people a mean that managers may hear is over (policy 2.2)."""


class Department(NamedTuple):
    """A department; *titles* are those of its people, *size* how many are employed in it, *listed* with leavers."""

    id: str
    name: str
    parent: str
    head: str
    partner: str
    cost_centre: str
    site: str
    plan: int
    size: int
    listed: int
    titles: tuple[str, ...]


class Person(NamedTuple):
    """Somebody whom a case brings along."""

    id: str
    name: str
    title: str
    department: str
    manager: str
    site: str
    currency: str
    hired_on: str
    grade: str
    weekly_minutes: int


class Slip(NamedTuple):
    """A pay slip in minor units, and the minutes of overtime behind it."""

    base: int
    overtime: int
    gross: int
    net: int
    minutes: int


class Model(NamedTuple):
    """Somebody without special duties: where and as what people of the department work, and for whom."""

    site: str
    title: str
    manager: str


class Site(NamedTuple):
    """An office: its currency, and per cent of pay that are kept back."""

    currency: str
    percent: int


class Roster(NamedTuple):
    """The members of a department over the latest closed months.

    Attributes:
        listed: employee ids as the API lists them.
        whole: of those who were members on every day.
        paid: currency → of those who are paid in it.
        present: all who are paid in a currency are still in the department.
        slips: pay slips of those who are in the department now.
        overtime: employee id → overtime pay of the months in minor units.
    """

    listed: tuple[str, ...]
    whole: frozenset[str]
    paid: dict[str, tuple[str, ...]]
    present: dict[str, bool]
    slips: int
    overtime: dict[str, int]


class Month(NamedTuple):
    """A month at an office: a code for each day as attendance has it (0 a working day), places of working days."""

    codes: tuple[str, ...]
    working: tuple[int, ...]


class Member(NamedTuple):
    """Somebody employed in a department."""

    id: str
    title: str
    manager: str
    name: str
    hired_on: str


Amounts = tuple[tuple[str, int, int, int], ...]
"""Amounts of a grade, oldest first: first day, monthly base, hourly rate, overtime percent."""


class Reference(NamedTuple):
    """What the snapshot says.

    Attributes:
        departments: by number.
        models: department → its people without special duties.
        members: department → everybody employed in it.
        staff: role → employee ids of those who act in it.
        rosters: (department, number of months) → its members.
        grades: (office, grade) → amounts.
        sites: by name.
        months: (office, month) → its days.
        worked: office → working days before each day from `FIRST` on.
        wanted: (department, title) of positions that are open.
    """

    departments: dict[str, Department]
    models: dict[str, tuple[Model, ...]]
    members: dict[str, tuple[Member, ...]]
    staff: dict[str, tuple[str, ...]]
    rosters: dict[tuple[str, int], Roster]
    grades: dict[tuple[str, str], Amounts]
    sites: dict[str, Site]
    months: dict[tuple[str, str], Month]
    worked: dict[str, tuple[int, ...]]
    wanted: frozenset[tuple[str, str]]


_DEPARTMENTS = """
SELECT department_id, name, coalesce(parent_id, ''), manager_id, partner_id, cost_centre, site, headcount_plan
FROM departments ORDER BY department_id
"""
_PLAIN = """
SELECT department_id, site, title, manager_id FROM employees WHERE status = 'active' AND manager_id IS NOT NULL
AND title NOT LIKE 'Head%' AND title NOT LIKE 'Chief%' AND title NOT LIKE 'Team Lead%'
AND title NOT IN ('HR Partner', 'HR Administrator', 'Recruiter', 'Payroll Officer') ORDER BY employee_id
"""
_TITLED = "SELECT employee_id FROM employees WHERE status = 'active' AND title = '{}' ORDER BY 1"


@lru_cache(maxsize=1)
def reference() -> Reference:
    """Read the snapshot once a process."""
    connection = sqlite3.connect(f"file:{snapshot_file(FOLDER)}?mode=ro", uri=True)

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    departments = _departments(rows)
    holidays = frozenset((row[0], row[1]) for row in rows("SELECT site, day FROM public_holidays WHERE day > '2025'"))
    sites = "SELECT site, currency, deduction_percent FROM sites ORDER BY site"
    found = Reference(
        departments,
        _grouped(rows(_PLAIN), Model),
        _grouped(rows(_MEMBERS), Member),
        _staff(rows, departments),
        _rosters(rows, departments),
        _grades(rows),
        {row[0]: Site(*row[1:]) for row in rows(sites)},
        {(site, month): _month(site, month, holidays) for site in SITES for month in (*CLOSED, CURRENT)},
        {site: _worked(site, holidays) for site in SITES},
        frozenset((r[0], r[1]) for r in rows("SELECT department_id, title FROM requisitions WHERE status = 'open'")),
    )
    connection.close()
    return found


_MEMBERS = """
SELECT department_id, employee_id, title, coalesce(manager_id, ''), name, hired_on FROM employees
WHERE status != 'left' ORDER BY employee_id
"""


def _grouped(rows: list[tuple[Any, ...]], kind: Callable[..., T]) -> dict[str, tuple[T, ...]]:
    """Rows by their first column, the others as values of a type."""
    found: dict[str, list[T]] = defaultdict(list)
    for key, *rest in rows:
        found[key].append(kind(*rest))
    return {key: tuple(each) for key, each in found.items()}


def _departments(rows: Any) -> dict[str, Department]:
    sizes = dict(rows("SELECT department_id, count(*) FROM employees WHERE status != 'left' GROUP BY 1"))
    listed = dict(rows("SELECT department_id, count(*) FROM employees GROUP BY 1"))
    titles: dict[str, list[str]] = defaultdict(list)
    for department, title in rows(
        "SELECT DISTINCT department_id, title FROM employees WHERE status != 'left' AND title NOT LIKE 'Head%' "
        "AND title NOT LIKE 'Team Lead%' AND title NOT LIKE 'Chief%' ORDER BY 1, 2"
    ):
        titles[department].append(title)
    found = {}
    for row in rows(_DEPARTMENTS):
        id_, name, parent, head, partner, cost_centre, site, plan = row
        place = (sizes[id_], listed[id_], tuple(titles[id_]))
        found[id_] = Department(id_, name, parent, head, partner, cost_centre, site, plan, *place)
    return found


def _staff(rows: Any, departments: dict[str, Department]) -> dict[str, tuple[str, ...]]:
    """Role → employee ids of those who act in it; employees without one come with each case."""
    titles = {"hr_admin": "HR Administrator", "payroll_officer": "Payroll Officer", "recruiter": "Recruiter"}
    titled = {role: tuple(row[0] for row in rows(_TITLED.format(title))) for role, title in titles.items()}
    return titled | {
        "manager": tuple(d.head for d in departments.values()),
        "hr_partner": tuple(dict.fromkeys(d.partner for d in departments.values() if d.id != "D19")),
    }


def _rosters(rows: Any, departments: dict[str, Department]) -> dict[tuple[str, int], Roster]:
    """Of the departments whose members fit on a page, over one, two or three months."""
    sql = "SELECT t.employee_id, s.currency FROM pay_terms t JOIN sites s USING (site) ORDER BY 1, valid_from"
    paid = dict(rows(sql))
    now = dict(rows("SELECT employee_id, department_id FROM employees WHERE status != 'left'"))
    slips = {
        (row[0], row[1]): row[2]
        for row in rows(f"SELECT employee_id, month, overtime_minor FROM payslips WHERE month >= '{CLOSED[0]}'")
    }
    found = {}
    for department in departments:
        for months in range(1, len(CLOSED) + 1):
            covered = CLOSED[-months:]
            first, last = f"{covered[0]}-01", last_of(covered[-1])
            roster = rows(
                f"SELECT employee_id, from_date, coalesce(to_date, '9999') FROM memberships WHERE department_id = "
                f"'{department}' AND from_date <= '{last}' AND coalesce(to_date, '9999') >= '{first}' ORDER BY 1, 2"
            )
            if len({row[0] for row in roster}) != len(roster) or len(roster) >= MOST_ROWS:
                continue
            whole = [row[0] for row in roster if row[1] <= first and row[2] >= last]
            in_currency = {c: tuple(w for w in whole if paid[w] == c) for c in ("EUR", "GBP", "JPY")}
            here = [each for each, where in now.items() if where == department]
            found[department, months] = Roster(
                tuple(row[0] for row in roster),
                frozenset(whole),
                in_currency,
                {currency: set(ids) <= set(here) for currency, ids in in_currency.items()},
                sum((each, month) in slips for each in here for month in covered),
                {each: sum(slips[each, month] for month in covered) for each in whole},
            )
    return found


def _grades(rows: Any) -> dict[tuple[str, str], Amounts]:
    found: dict[tuple[str, str], list[tuple[str, int, int, int]]] = defaultdict(list)
    for site, grade, *rest in rows(
        "SELECT site, grade, valid_from, monthly_base_minor, hourly_rate_minor, overtime_percent FROM grade_amounts "
        "ORDER BY site, grade, valid_from"
    ):
        found[site, grade].append((rest[0], rest[1], rest[2], rest[3]))
    return {key: tuple(each) for key, each in found.items()}


def _month(site: str, month: str, holidays: frozenset[tuple[str, str]]) -> Month:
    first = date.fromisoformat(f"{month}-01")
    days = [first + timedelta(n) for n in range(int(last_of(month)[8:]))]
    codes = tuple("1" if d.weekday() > 4 else "2" if (site, d.isoformat()) in holidays else "0" for d in days)
    return Month(codes, tuple(n for n, code in enumerate(codes) if code == "0"))


def _worked(site: str, holidays: frozenset[tuple[str, str]]) -> tuple[int, ...]:
    days = (FIRST + timedelta(n) for n in range(3 * 365))
    return tuple(accumulate((d.weekday() < 5 and (site, d.isoformat()) not in holidays for d in days), initial=0))


def working_days(site: str, first: date, last: date) -> int:
    """Days from *first* to *last*, of 2025 to 2027, that are neither weekend nor holiday of the office."""
    worked = reference().worked[site]
    return worked[last.toordinal() - _BEFORE] - worked[first.toordinal() - _BEFORE - 1]


def amounts(site: str, grade: str, day: str) -> tuple[int, int, int]:
    """Monthly base, hourly rate and overtime percent of a grade at an office on a day."""
    held = [each for each in reference().grades[site, grade] if each[0] <= day]
    return held[-1][1:]
