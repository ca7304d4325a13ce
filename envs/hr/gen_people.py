"""People whom a generated case brings along: records, attendance and pay slips, as the company would keep them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cache

from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_data import CLOSED, CURRENT, Department, Person, Slip, amounts
from agentgym.envs.hr.gen_names import FAMILY, GIVEN
from agentgym.envs.hr.seed import half_up, later, months_later
from agentgym.generating import Draws

DAYS = {"Rotterdam": 25, "Leeds": 28, "Osaka": 20}
"""Policy 7.2: days of annual leave of a whole year."""

FULL_TIME = 2400
LATE = "2026-03-02"
"""First day of who joins a department whose figures up to February are asked for."""

_WEEKS = (FULL_TIME, FULL_TIME, FULL_TIME, FULL_TIME, 1920, 1440)
_STEP = 3
"""Overtime comes in steps of so many minutes, so that hours with two decimals are exact."""


def opened(stream: Draws, role: str, chinese: bool) -> Case:
    """A case of a caller in this role: an employee who is brought along, or one of those who act in it."""
    case = Case(stream, role, chinese)
    if role == "employee":
        case.me = newcomer(case, tuple(case.data.departments.values()))
    else:
        case.caller = stream.choice(case.data.staff[role])
    if case.me is not None:
        case.caller = case.me.id
    return case


def new_name(case: Case) -> tuple[str, str]:
    """A name that nobody bears, and an e-mail address."""
    while True:
        name = f"{case.draw.choice(GIVEN)} {case.draw.choice(FAMILY)}"
        if name not in case.names:
            break
    case.names.add(name)
    return name, f"{name.lower().replace(' ', '.')}.{case.draw.integers(10_000, 100_000)}@tidewell.example"


def newcomer(
    case: Case,
    places: Sequence[Department],
    *,
    site: str = "",
    title: str = "",
    manager: str = "",
    hired_on: str = "",
    left_on: str = "",
    grade: str = "",
    weekly_minutes: int = 0,
    probation_until: str = "",
) -> Person | None:
    """Bring somebody along in one of these departments, None if there is none; what is not given is drawn.

    Where the figures of the department up to February are asked for, they come afterwards and have none.
    """
    places = [place for place in places if place.id in case.data.models or title]
    if not places:
        return None
    draw, department = case.draw, case.draw.choice(places)
    if department.id in case.data.models:
        model = draw.choice(case.data.models[department.id])
        site, title, manager = site or model.site, title or model.title, manager or model.manager
    hired_on = hired_on or _first_day(case, department)
    name, email = new_name(case)
    site, number = site or department.site, case.new_id("E")
    grade, minutes = grade or f"G{draw.integers(2, 8)}", weekly_minutes or draw.choice(_WEEKS)
    line, currency = manager or department.head, case.data.sites[site].currency
    person = Person(number, name, title, department.id, line, site, currency, hired_on, grade, minutes)
    case.settled.add(department.id)
    _record(case, person, email, left_on, department.cost_centre)
    _terms(case, person, left_on, probation_until or later(months_later(hired_on, 6), -1))
    return person


def _first_day(case: Case, department: Department) -> str:
    if department.id in case.figured:
        return LATE
    return f"{2021 + case.draw.integers(0, 4)}-{1 + case.draw.integers(0, 12):02}-01"


def _record(case: Case, person: Person, email: str, left_on: str, cost_centre: str) -> None:
    """The person's record and department."""
    draw, born = case.draw, f"{1964 + case.draw.integers(0, 36)}-{1 + case.draw.integers(0, 12):02}"
    digits = f"{draw.integers(10**6, 10**7)}{draw.integers(10**6, 10**7)}"
    case.rows["employees"].append(
        {
            "employee_id": person.id,
            "name": person.name,
            "email": email,
            "title": person.title,
            "department_id": person.department,
            "manager_id": person.manager,
            "status": "left" if left_on else "active",
            "hired_on": person.hired_on,
            "left_on": left_on or None,
            "cost_centre": cost_centre,
            "site": person.site,
            "birth_date": f"{born}-{1 + draw.integers(0, 28):02}",
            "national_id": _national(person.site, born, digits),
            "bank_account": _account(person.site, digits),
            "legacy_ref": f"TW-{draw.integers(10_000, 100_000)}",
            "version": draw.integers(1, 6),
        }
    )
    case.rows["memberships"].append(
        {
            "employee_id": person.id,
            "from_date": person.hired_on,
            "to_date": left_on or None,
            "department_id": person.department,
        }
    )


def _national(site: str, born: str, digits: str) -> str:
    if site == "Leeds":
        return f"QQ{digits[:6]}{'ABCD'[int(digits[6]) % 4]}"
    return f"0{digits[:8]}" if site == "Rotterdam" else f"{born[2:4]}{digits[:10]}"


def _account(site: str, digits: str) -> str:
    if site == "Rotterdam":
        return f"NL00TIDE{digits[4:]}"
    return f"GB00TIDE{digits}" if site == "Leeds" else f"TIDEJP{digits[4:]}"


def _terms(case: Case, person: Person, left_on: str, probation_until: str) -> None:
    """The contract and the grade."""
    case.rows["contracts"].append(
        {
            "contract_id": case.new_id("K"),
            "employee_id": person.id,
            "type": "permanent",
            "from_date": person.hired_on,
            "to_date": left_on or None,
            "weekly_minutes": person.weekly_minutes,
            "grade": person.grade,
            "probation_until": probation_until,
            "version": 1,
        }
    )
    case.rows["pay_terms"].append(
        {
            "employee_id": person.id,
            "valid_from": person.hired_on,
            "grade": person.grade,
            "site": person.site,
            "note": "first contract",
            "entered_by": case.draw.choice(case.data.staff["hr_admin"]),
        }
    )


def pay(case: Case, person: Person, months: int, fits: Callable[[tuple[Slip, ...]], bool]) -> tuple[Slip, ...] | None:
    """Enter attendance and pay slips of the latest closed months, such that they fit; None if none were found."""
    for _ in range(20):
        days = [_days(case, person.site, month) for month in CLOSED[-months:]]
        slips = tuple(
            _slip(case, person, month, minutes) for month, (_, minutes) in zip(CLOSED[-months:], days, strict=True)
        )
        if fits(slips):
            for month, (codes, _), slip in zip(CLOSED[-months:], days, slips, strict=True):
                _attended(case, person, month, codes)
                _paid(case, person, month, slip)
            return slips
    return None


def attend(case: Case, person: Person) -> list[str]:
    """Enter attendance of the current month, from the first day of work on; gives the codes of its days."""
    codes, _ = _days(case, person.site, CURRENT)
    _attended(case, person, CURRENT, codes)
    return codes


def _days(case: Case, site: str, month: str) -> tuple[list[str], int]:
    """Codes of the days of a month, and its minutes of overtime."""
    days = case.data.months[site, month]
    codes, minutes = list(days.codes), 0
    for _ in range(case.draw.integers(3, 8)):
        place = case.draw.choice(days.working)
        if codes[place] == "0":
            more = _STEP * case.draw.integers(4, 50)
            codes[place] = str(more)
            minutes += more
    return codes, minutes


def _attended(case: Case, person: Person, month: str, codes: list[str]) -> None:
    first = int(person.hired_on[8:]) if person.hired_on[:7] == month else 1
    case.rows["attendance_months"].append(
        {
            "employee_id": person.id,
            "month": month,
            "first_day": first,
            "daily_minutes": person.weekly_minutes // 5,
            "days": f"[{','.join(codes[first - 1 :])}]",
        }
    )


def _slip(case: Case, person: Person, month: str, minutes: int) -> Slip:
    """Policy 3.3 and 3.5 for a whole month."""
    monthly, rate, percent = amounts(person.site, person.grade, f"{month}-01")
    base = half_up(monthly * person.weekly_minutes, FULL_TIME)
    overtime = half_up(minutes * rate * percent, 6000)
    gross = base + overtime
    return Slip(base, overtime, gross, gross - half_up(gross * case.data.sites[person.site].percent, 100), minutes)


def _paid(case: Case, person: Person, month: str, slip: Slip) -> None:
    case.rows["payslips"].append(
        {
            "employee_id": person.id,
            "month": month,
            "base_minor": slip.base,
            "overtime_minor": slip.overtime,
            "adjustments_minor": 0,
            "deductions_minor": slip.gross - slip.net,
            "currency": person.currency,
        }
    )


@cache
def year_days(site: str, start: str) -> int:
    """Policy 7.2 for the year of a first day, in hundredths of a day; no year that is drawn is a leap year."""
    employed = (date.fromisoformat(f"{start[:4]}-12-31") - date.fromisoformat(start)).days + 1
    return 50 * half_up(2 * DAYS[site] * employed, 365)
