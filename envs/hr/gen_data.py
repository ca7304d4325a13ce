"""What generated scenarios are made of: people, departments, figures and open matters of the snapshot, read once."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.envs.hr.seed import half_up
from agentgym.snapshot import snapshot_file

FOLDER = Path(__file__).parent
Row = dict[str, Any]

CURRENT = "2026-03"
"""The month in which generated scenarios lie."""

CLOSED = ("2025-12", "2026-01", "2026-02")
"""The latest closed months, oldest first."""

MOST_MEMBERS, MOST_READS, MOST_ROWS = 18, 40, 50
"""Of a department whose figures gold reads person by person; months of attendance in all; rows of a page."""

LEAST = 5
"""So many people a mean that managers may hear is over (policy 2.2)."""


class Person(NamedTuple):
    """Somebody employed, whose name nobody shares."""

    id: str
    name: str
    title: str
    department: str
    manager: str
    site: str
    status: str
    hired_on: str
    currency: str
    grade: str
    grade_since: str
    weekly_minutes: int
    probation_until: str
    bank_account: str
    contract_id: str


class Department(NamedTuple):
    """A department; *titles* are those of its people, *size* how many are employed in it."""

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


class Slip(NamedTuple):
    """A pay slip in minor units."""

    base: int
    overtime: int
    gross: int
    net: int


class Comparison(NamedTuple):
    """One person's overtime pay over months beside the mean of the department.

    Attributes:
        person: whom it is about.
        months: how many, up to the latest closed one.
        roster: places in the list of members of those who were members on every day.
        place: that of the person.
        same: how many of them are paid in the person's currency.
        own, mean: minor units; the mean is 0 where *same* is less than five.
        ids: the people whose mean it is.
    """

    person: Person
    months: int
    roster: tuple[int, ...]
    place: int
    same: int
    own: int
    mean: int
    ids: tuple[str, ...]


class Balance(NamedTuple):
    """Annual leave of this year in hundredths of a day: granted, taken, left of last year (5 days at most)."""

    entitled: int
    taken: int
    carried: int


class Position(NamedTuple):
    """An open position."""

    id: str
    department: str
    title: str
    grade: str
    openings: int
    filled: int
    names: frozenset[str]


class Reference(NamedTuple):
    """What the snapshot says."""

    people: dict[str, Person]
    order: tuple[str, ...]
    by_department: dict[str, tuple[Person, ...]]
    departments: dict[str, Department]
    staff: dict[str, tuple[str, ...]]
    slips: dict[tuple[str, str], Slip]
    minutes: dict[tuple[str, str], int]
    comparisons: dict[tuple[str, bool], tuple[Comparison, ...]]
    balances: dict[str, Balance]
    leave: dict[str, tuple[tuple[str, str, str], ...]]
    holidays: frozenset[tuple[str, str]]
    grades: dict[tuple[str, str], tuple[tuple[str, int, int, int], ...]]
    sites: dict[str, str]
    positions: tuple[Position, ...]
    grants: frozenset[tuple[str, str, str | None]]
    adjusted: frozenset[str]
    unpaid: frozenset[str]
    waiting: frozenset[str]
    members: dict[str, tuple[tuple[str, str, str, str, str], ...]]
    corrected: frozenset[tuple[str, str]]
    attendance: dict[tuple[str, str], tuple[int, ...]]


_PEOPLE = """
SELECT e.employee_id, e.name, e.title, e.department_id, coalesce(e.manager_id, ''), e.site, e.status, e.hired_on,
s.currency, t.grade, t.valid_from, c.weekly_minutes, coalesce(c.probation_until, ''), e.bank_account, c.contract_id
FROM employees e JOIN pay_terms t ON t.employee_id = e.employee_id AND t.valid_from = (SELECT max(n.valid_from)
FROM pay_terms n WHERE n.employee_id = e.employee_id) JOIN sites s ON s.site = t.site
JOIN contracts c ON c.employee_id = e.employee_id AND c.from_date <= '2026-03-01'
AND coalesce(c.to_date, '9999') >= '2026-09-30' WHERE e.status != 'left' AND t.valid_from <= '2026-03-01'
ORDER BY e.employee_id
"""
_DEPARTMENTS = """
SELECT department_id, name, coalesce(parent_id, ''), manager_id, partner_id, cost_centre, site, headcount_plan
FROM departments ORDER BY department_id
"""
_MINUTES = """
SELECT employee_id, month, sum(overtime_minutes) FROM attendance WHERE month BETWEEN '2025-12' AND '2026-02'
GROUP BY employee_id, month ORDER BY employee_id, month
"""
_BALANCES = """
SELECT b.employee_id, b.year, b.entitled_hundredths, b.carried_until IS NOT NULL, (SELECT coalesce(sum(days_hundredths),
0) FROM leave_requests r WHERE r.employee_id = b.employee_id AND r.leave_type = 'ANNUAL' AND r.status = 'approved'
AND substr(r.from_date, 1, 4) = CAST(b.year AS TEXT)) FROM leave_balances b WHERE b.leave_type = 'ANNUAL'
AND b.year IN (2025, 2026) ORDER BY 1, 2
"""


_WAITING = "SELECT employee_id FROM attendance_corrections WHERE status = 'pending'"
_UNPAID = """
SELECT employee_id FROM leave_requests WHERE leave_type IN ('UNPAID', 'PARENTAL') AND to_date >= '2025-12-01'
"""


@lru_cache(maxsize=1)
def reference() -> Reference:
    """Read the snapshot once a process."""
    connection = sqlite3.connect(f"file:{snapshot_file(FOLDER)}?mode=ro", uri=True)

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    shared = [name for name, count in Counter(r[0] for r in rows("SELECT name FROM employees")).items() if count > 1]
    everybody = [Person(*row) for row in rows(_PEOPLE)]
    names = {row[0] for row in rows("SELECT name FROM employees")}
    # The search is by part of a name, so a name inside another one is no good either.
    inside = {name for name in names for other in names if name != other and name.casefold() in other.casefold()}
    people = {p.id: p for p in everybody if p.name not in shared and p.name not in inside and p.id != "E1042"}
    departments = _departments(rows)
    grouped: dict[str, list[Person]] = defaultdict(list)
    for person in people.values():
        grouped[person.department].append(person)
    slips = _slips(rows)
    found = Reference(
        people,
        tuple(people),
        {each: tuple(grouped[each]) for each in departments},
        departments,
        _staff(rows, everybody, departments),
        slips,
        {(row[0], row[1]): row[2] for row in rows(_MINUTES)},
        _comparisons(rows, people, departments, slips),
        _balances(rows),
        _leave(rows),
        frozenset((row[0], row[1]) for row in rows("SELECT site, day FROM public_holidays WHERE day > '2026'")),
        _grades(rows),
        {row[0]: row[1] for row in rows("SELECT site, currency FROM sites ORDER BY site")},
        _positions(rows),
        frozenset((r[0], r[1], r[2]) for r in rows('SELECT employee_id, "right", department_id FROM access_grants')),
        frozenset(r[0] for r in rows("SELECT employee_id FROM adjustments WHERE month >= '2026-03'")),
        frozenset(row[0] for row in rows(_UNPAID)),
        frozenset(row[0] for row in rows(_WAITING)),
        _members(rows),
        frozenset((r[0], r[1]) for r in rows("SELECT employee_id, day FROM attendance_corrections")),
        _attendance(rows),
    )
    connection.close()
    return found


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


def _staff(rows: Any, everybody: list[Person], departments: dict[str, Department]) -> dict[str, tuple[str, ...]]:
    """Role → employee ids of those who act in it."""
    del rows
    active = [p for p in everybody if p.status == "active"]
    titled = {
        role: tuple(p.id for p in active if p.title == title)
        for role, title in (
            ("hr_admin", "HR Administrator"),
            ("payroll_officer", "Payroll Officer"),
            ("recruiter", "Recruiter"),
        )
    }
    plain = tuple(p.id for p in active if not p.title.startswith(("Head", "Chief", "HR", "Payroll", "Recruiter")))
    return titled | {
        "manager": tuple(d.head for d in departments.values()),
        "hr_partner": tuple(dict.fromkeys(d.partner for d in departments.values() if d.id != "D19")),
        "employee": tuple(i for i in plain if i not in {d.partner for d in departments.values()}),
    }


def _slips(rows: Any) -> dict[tuple[str, str], Slip]:
    sql = (
        "SELECT employee_id, month, base_minor, overtime_minor, base_minor + overtime_minor + adjustments_minor, "
        "base_minor + overtime_minor + adjustments_minor - deductions_minor FROM payslips WHERE month >= '2025-12'"
    )
    return {(row[0], row[1]): Slip(*row[2:]) for row in rows(sql)}


def _members(rows: Any) -> dict[str, tuple[tuple[str, str, str, str, str], ...]]:
    """Department → everybody employed in it, shared names too: id, title, line manager, name, day hired."""
    found: dict[str, list[tuple[str, str, str, str, str]]] = defaultdict(list)
    for department, *rest in rows(
        "SELECT department_id, employee_id, title, coalesce(manager_id, ''), name, hired_on FROM employees "
        "WHERE status != 'left' ORDER BY employee_id"
    ):
        found[department].append(tuple(rest))
    return {department: tuple(each) for department, each in found.items()}


Slips = dict[tuple[str, str], Slip]


def _comparisons(
    rows: Any, people: dict[str, Person], departments: dict[str, Department], slips: Slips
) -> dict[tuple[str, bool], tuple[Comparison, ...]]:
    """(Department, whether the mean may be taken) → comparisons over one, two or three months."""
    found: dict[tuple[str, bool], list[Comparison]] = defaultdict(list)
    sql = "SELECT t.employee_id, s.currency FROM pay_terms t JOIN sites s USING (site) ORDER BY 1, valid_from"
    paid = dict(rows(sql))
    now = dict(rows("SELECT employee_id, department_id FROM employees WHERE status != 'left'"))
    for department in departments.values():
        for months in (1, 2, 3):
            first, last = f"{CLOSED[-months]}-01", "2026-02-28"
            roster = rows(
                f"SELECT employee_id, from_date, coalesce(to_date, '9999') FROM memberships WHERE department_id = "
                f"'{department.id}' AND from_date <= '{last}' AND coalesce(to_date, '9999') >= '{first}' ORDER BY 1, 2"
            )
            if len({row[0] for row in roster}) != len(roster) or len(roster) > MOST_ROWS:
                continue
            places = {row[0]: n for n, row in enumerate(roster) if row[1] <= first and row[2] >= last}
            here = [each for each, where in now.items() if where == department.id]
            of_slips = sum((each, month) in slips for each in here for month in CLOSED[-months:])
            for who in places:
                if who in people and people[who].department == department.id and who != department.head:
                    ids = tuple(each for each in places if paid[each] == people[who].currency)
                    whole = of_slips <= MOST_ROWS and set(ids) <= set(here)
                    made = _compared(people[who], months, places, ids, slips)
                    if _readable(made, whole, of_slips):
                        found[department.id, made.same >= LEAST].append(made)
    return {key: tuple(each) for key, each in found.items()}


def _compared(person: Person, months: int, places: dict[str, int], ids: tuple[str, ...], slips: Slips) -> Comparison:
    sums = {each: sum(slips[each, month].overtime for month in CLOSED[-months:]) for each in ids}
    mean = 0 if len(ids) < LEAST else half_up(sum(sums.values()), len(ids))
    roster = tuple(places.values())
    return Comparison(person, months, roster, places[person.id], len(ids), sums[person.id], mean, ids)


def _readable(made: Comparison, whole: bool, of_slips: int) -> bool:
    """Whether gold can read all of it: person by person, and by the department's pay slips on one page."""
    if made.same < LEAST:
        return of_slips <= MOST_ROWS
    return whole and len(made.roster) <= MOST_MEMBERS and len(made.roster) * made.months <= MOST_READS


def _balances(rows: Any) -> dict[str, Balance]:
    years = {(row[0], row[1]): row[2:] for row in rows(_BALANCES)}
    found = {}
    for (who, year), (entitled, ends, taken) in years.items():
        before = years.get((who, 2025))
        if year == 2026:
            carried = min(before[0] - before[2], 500) if before and ends else 0
            found[who] = Balance(entitled, taken, max(0, carried))
    return found


def _leave(rows: Any) -> dict[str, tuple[tuple[str, str, str], ...]]:
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for who, *rest in rows(
        "SELECT employee_id, from_date, to_date, status FROM leave_requests WHERE to_date >= '2025-12-01' "
        "AND status IN ('pending', 'approved') ORDER BY employee_id, from_date"
    ):
        found[who].append(tuple(rest))
    return {who: tuple(each) for who, each in found.items()}


def _grades(rows: Any) -> dict[tuple[str, str], tuple[tuple[str, int, int, int], ...]]:
    """(Office, grade) → its amounts, oldest first: first day, base, hourly rate, percent."""
    found: dict[tuple[str, str], list[tuple[str, int, int, int]]] = defaultdict(list)
    for site, grade, *rest in rows(
        "SELECT site, grade, valid_from, monthly_base_minor, hourly_rate_minor, overtime_percent FROM grade_amounts "
        "ORDER BY site, grade, valid_from"
    ):
        found[site, grade].append(tuple(rest))
    return {key: tuple(each) for key, each in found.items()}


def _positions(rows: Any) -> tuple[Position, ...]:
    names: dict[str, set[str]] = defaultdict(set)
    for position, name in rows("SELECT requisition_id, name FROM candidates"):
        names[position].add(name)
    sql = "SELECT requisition_id, department_id, title, grade, openings, filled FROM requisitions WHERE status = 'open'"
    found = []
    for id_, department, title, grade, openings, filled in rows(f"{sql} ORDER BY 1"):
        found.append(Position(id_, department, title, grade, openings, filled, frozenset(names[id_])))
    return tuple(found)


def _attendance(rows: Any) -> dict[tuple[str, str], tuple[int, ...]]:
    """(Person, month) → codes of the days of a whole month, of the last months."""
    found = {}
    for who, month, first, days in rows(
        "SELECT employee_id, month, first_day, days FROM attendance_months WHERE month >= '2026-01'"
    ):
        if first == 1:
            found[who, month] = tuple(int(code) for code in days.strip("[]").split(","))
    return found


def working_days(site: str, first: date, last: date) -> int:
    """Days from *first* to *last* that are neither weekend nor holiday of the office."""
    free = reference().holidays
    days = (date.fromordinal(n) for n in range(first.toordinal(), last.toordinal() + 1))
    return sum(day.weekday() < 5 and (site, day.isoformat()) not in free for day in days)
