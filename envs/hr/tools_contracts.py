"""Canonical tools: contracts and grades of people."""

# What an endpoint does is said once, in endpoints.py, and becomes the docstring of its function.
# ruff: noqa: D103

from __future__ import annotations

from agentgym.envs.hr.access import Caller, Person, caller, demand, may, person
from agentgym.envs.hr.canonical import Contract, Json, Key, canonical, day, fresh, paged, span, text, within
from agentgym.envs.hr.problems import refused, said
from agentgym.envs.hr.tools_people import employed
from agentgym.world import World

_CONTRACT = "contract_id, employee_id, type, from_date, to_date, weekly_minutes, grade, probation_until, version"


@canonical
def list_contracts(world: World, employee_id: str, page: int = 1, page_size: int = 20) -> Json:
    who, aim = caller(world), person(world, employee_id)
    paid = _paid_seen(world, who, aim)
    if not paid:
        demand(world, who, "administer", aim)
    columns = _CONTRACT if paid else _CONTRACT.replace("grade, ", "")
    source = "contracts WHERE employee_id = ?"
    return paged(world, columns, source, "from_date, contract_id", [aim.id], page, page_size)


def _paid_seen(world: World, who: Caller, aim: Person) -> bool:
    """Whether the caller may see what a person is paid."""
    return aim.id == who.id or may(world, who, "view_pay", aim)


@canonical
def create_contract(
    world: World,
    employee_id: str,
    type: Contract,
    from_date: str,
    weekly_minutes: int,
    grade: str,
    to_date: str | None = None,
    probation_until: str | None = None,
    idempotency_key: Key | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "administer", aim)
    employed(aim)
    day(from_date, "from_date")
    within(weekly_minutes, 300, 2400, "weekly_minutes")
    _term(type, from_date, to_date, probation_until)
    if from_date < aim.hired_on:
        raise refused("conflict", f"{{from_date}} lies before the first day of work, {{date:{aim.hired_on}}}")
    _offered(world, grade, aim.site)
    other = world.value(
        "SELECT contract_id FROM contracts WHERE employee_id = ?1 AND from_date <= ?3 "
        "AND coalesce(to_date, ?4, '9999-12-31') >= ?2 ORDER BY from_date LIMIT 1",
        aim.id, from_date, to_date or "9999-12-31", aim.left_on,
    )  # fmt: skip
    if other is not None:
        raise refused("conflict", f"{other} holds on some of these days already")
    row = {"contract_id": world.next_id("K"), "employee_id": aim.id, "type": type, "from_date": from_date,
           "to_date": to_date, "weekly_minutes": weekly_minutes, "grade": grade, "probation_until": probation_until,
           "version": 1}  # fmt: skip
    world.insert("contracts", row)
    if _grade_on(world, aim.id, from_date) != grade:
        set_grade(world, who, aim, grade, from_date, "contract")
    if not _paid_seen(world, who, aim):
        del row["grade"]
    return row


def _term(kind: str, first: str, last: str | None, probation: str | None) -> None:
    if (last is None) != (kind == "permanent"):
        need = "has no" if kind == "permanent" else "needs a"
        raise refused("unprocessable", f"{{type}} {{enum:contract:{kind}}} {need} {{to_date}}")
    if last is not None:
        span(first, day(last, "to_date"))
    if probation is not None:
        span(first, day(probation, "probation_until"), ("from_date", "probation_until"))


def _offered(world: World, grade: str, site: str) -> None:
    if world.value("SELECT 1 FROM grade_amounts WHERE site = ? AND grade = ? LIMIT 1", site, grade) is None:
        raise refused("unprocessable", f"{{grade}} {said(grade)} is none of the office {site}")


def _grade_on(world: World, employee_id: str, on: str) -> str | None:
    found = world.value(
        "SELECT grade FROM pay_terms WHERE employee_id = ? AND valid_from <= ? ORDER BY valid_from DESC LIMIT 1",
        employee_id,
        on,
    )
    return None if found is None else str(found)


def set_grade(world: World, who: Caller, aim: Person, grade: str, valid_from: str, note: str) -> None:
    """Enter the grade of a person from a day on; the record's version rises."""
    world.execute(
        "INSERT INTO pay_terms VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (employee_id, valid_from) DO UPDATE SET "
        "grade = excluded.grade, site = excluded.site, note = excluded.note, entered_by = excluded.entered_by",
        aim.id, valid_from, grade, aim.site, note, who.id,
    )  # fmt: skip
    world.execute("UPDATE employees SET version = version + 1 WHERE employee_id = ?", aim.id)


@canonical
def change_grade(
    world: World,
    employee_id: str,
    version: int,
    grade: str,
    valid_from: str,
    note: str,
    idempotency_key: Key | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "change_pay", aim)
    fresh(aim.version, version)
    employed(aim)
    text(note, "note")
    if not day(valid_from, "valid_from").endswith("-01"):
        raise refused("unprocessable", f"{{valid_from}} must be the first day of a month, not {{date:{valid_from}}}")
    _offered(world, grade, aim.site)
    before = _grade_on(world, aim.id, valid_from)
    if before is None:
        raise refused("conflict", f"{aim.id} has no grade on {{date:{valid_from}}} that could change")
    seen = _paid_seen(world, who, aim)
    # Whoever may not see the grade is not told that it is this one: it is entered like any other.
    if seen and before == grade:
        raise refused("conflict", f"{aim.id} is in {grade} on {{date:{valid_from}}} already")
    sql = "SELECT min(valid_from) FROM pay_terms WHERE employee_id = ? AND valid_from > ?"
    after = world.value(sql, aim.id, valid_from)
    if after is not None:
        raise refused("conflict", f"another change holds from {{date:{after}}} on; none can be entered before it")
    set_grade(world, who, aim, grade, valid_from, note)
    paid = paid_on(world, aim.id, valid_from)
    return paid if seen else {name: value for name, value in paid.items() if name not in _AMOUNTS}


_AMOUNTS = ("monthly_base", "hourly_rate")


PAY = (
    "employee_id, grade, monthly_base_minor AS monthly_base, hourly_rate_minor AS hourly_rate, overtime_percent, "
    "currency, valid_from, valid_to"
)
"""Columns of a pay structure, of ``pay_periods``."""


def paid_on(world: World, employee_id: str, on: str) -> Json:
    """What a person is paid on a day.

    Raises:
        ToolError: there is nothing for that day.
    """
    found = world.row(
        f"SELECT {PAY} FROM pay_periods WHERE employee_id = ?1 AND valid_from <= ?2 "
        "AND coalesce(valid_to, '9999-12-31') >= ?2 ORDER BY valid_from LIMIT 1",
        employee_id,
        on,
    )
    if found is None:
        raise refused("not_found", f"there is no pay of {employee_id} on {{date:{on}}}")
    return found
