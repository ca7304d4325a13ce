"""Canonical tools: grades, pay, pay slips, payroll runs and adjustments."""

# What an endpoint does is said once, in endpoints.py, and becomes the docstring of its function.
# ruff: noqa: D103

from __future__ import annotations

import re

from agentgym.envs.hr.access import Right, caller, demand, person, place, seen
from agentgym.envs.hr.canonical import Adjustment, Json, Key, Run, canonical, day, paged, span, text
from agentgym.envs.hr.canonical import month as month_of
from agentgym.envs.hr.problems import absent, refused
from agentgym.envs.hr.seed import first_of, last_of
from agentgym.envs.hr.tools_contracts import PAY, paid_on
from agentgym.world import World

_PAY: Right = "view_pay"
_SLIP = (
    "'P' || (CAST(substr(p.employee_id, 2) AS INTEGER) + 9000) || '-' || p.month AS payslip_id, p.employee_id, "
    "p.month, p.base_minor AS base, p.overtime_minor AS overtime, p.adjustments_minor AS adjustments, "
    "p.base_minor + p.overtime_minor + p.adjustments_minor AS gross, p.deductions_minor AS deductions, "
    "p.base_minor + p.overtime_minor + p.adjustments_minor - p.deductions_minor AS net, p.currency, "
    "'PR' || p.month AS run_id"
)


@canonical
def list_grades(
    world: World, site: str | None = None, grade: str | None = None, page: int = 1, page_size: int = 20
) -> Json:
    source = (
        "grade_amounts g JOIN sites s ON s.site = g.site WHERE (?1 IS NULL OR g.site = ?1) "
        "AND (?2 IS NULL OR g.grade = ?2)"
    )
    columns = (
        "g.grade, g.site, g.monthly_base_minor AS monthly_base, g.overtime_percent, "
        "g.hourly_rate_minor AS hourly_rate, s.currency, g.valid_from"
    )
    return paged(world, columns, source, "g.site, g.grade, g.valid_from", [site, grade], page, page_size)


@canonical
def get_pay(world: World, employee_id: str, on: str | None = None) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, _PAY, aim, own=True)
    return paid_on(world, aim.id, day(on, "on") if on is not None else who.today)


@canonical
def list_pay_history(world: World, employee_id: str, page: int = 1, page_size: int = 20) -> Json:
    aim = person(world, employee_id)
    demand(world, caller(world), _PAY, aim, own=True)
    return paged(world, PAY, "pay_periods WHERE employee_id = ?", "valid_from", [aim.id], page, page_size)


@canonical
def list_payslips(
    world: World,
    employee_id: str | None = None,
    department_id: str | None = None,
    from_month: str | None = None,
    to_month: str | None = None,
    page: int = 1,
    page_size: int = 20,
) -> Json:
    who = caller(world)
    parts, values = list[str](), list[object]()
    if employee_id is not None:
        demand(world, who, _PAY, person(world, employee_id), own=True)
        parts.append("e.employee_id = ?")
        values.append(employee_id)
    if department_id is not None:
        demand(world, who, _PAY, place(world, department_id))
        parts.append("e.department_id = ? AND e.status != 'left'")
        values.append(department_id)
    if not parts:
        condition, values = seen(world, who, _PAY)
        parts.append(condition)
    if from_month is not None and to_month is not None:
        span(from_month, to_month, ("from_month", "to_month"))
    for condition, value, field in (("p.month >= ?", from_month, "from_month"), ("p.month <= ?", to_month, "to_month")):
        if value is not None:
            parts.append(condition)
            values.append(month_of(value, field))
    source = f"employees e JOIN payslips p ON p.employee_id = e.employee_id WHERE {' AND '.join(parts)}"
    return paged(world, _SLIP, source, "p.month, p.employee_id", values, page, page_size)


@canonical
def get_payslip(world: World, payslip_id: str) -> Json:
    match = re.fullmatch(r"P([0-9]{4,9})-([0-9]{4}-[0-9]{2})", payslip_id)
    owner = f"E{int(match[1]) - 9000}" if match else ""
    found = world.row(f"SELECT {_SLIP} FROM payslips p WHERE employee_id = ? AND month = ?", owner, payslip_id[-7:])
    if found is None:
        raise absent("payslip_id", payslip_id)
    demand(world, caller(world), _PAY, person(world, owner), own=True)
    return found


_STATE = "CASE WHEN status = 'open' AND cut_off < ?1 THEN 'cut_off' ELSE status END"
_RUN = f"run_id, month, cut_off, pay_day, {_STATE} AS status"


@canonical
def list_runs(world: World, status: Run | None = None, page: int = 1, page_size: int = 20) -> Json:
    source = f"payroll_runs WHERE ?2 IS NULL OR {_STATE} = ?2"
    return paged(world, _RUN, source, "month DESC", [caller(world).today, status], page, page_size)


def _run(world: World, month: str, today: str) -> Json:
    found = world.row(f"SELECT {_RUN} FROM payroll_runs WHERE month = ?2", today, month_of(month, "month"))
    if found is None:
        raise absent("month", month)
    return found


@canonical
def get_run(world: World, month: str) -> Json:
    return _run(world, month, caller(world).today)


_ADJUSTMENT = (
    "a.adjustment_id, a.employee_id, a.month, a.kind, a.amount_minor AS amount, a.currency, a.note, a.entered_by, "
    "a.created_at"
)


@canonical
def list_adjustments(
    world: World, employee_id: str | None = None, month: str | None = None, page: int = 1, page_size: int = 20
) -> Json:
    who = caller(world)
    parts, values = list[str](), list[object]()
    if employee_id is not None:
        demand(world, who, _PAY, person(world, employee_id), own=True)
        parts.append("e.employee_id = ?")
        values.append(employee_id)
    else:
        condition, values = seen(world, who, _PAY, few=True)
        parts.append(condition)
    if month is not None:
        parts.append("a.month = ?")
        values.append(month_of(month, "month"))
    source = f"adjustments a JOIN employees e ON e.employee_id = a.employee_id WHERE {' AND '.join(parts)}"
    return paged(world, _ADJUSTMENT, source, "a.adjustment_id", values, page, page_size)


@canonical
def create_adjustment(
    world: World,
    employee_id: str,
    month: str,
    kind: Adjustment,
    amount: int,
    currency: str,
    note: str,
    idempotency_key: Key | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "change_pay", aim)
    run = _run(world, month, who.today)
    text(note, "note")
    if run["status"] != "open":
        raise refused(
            "conflict", f"the run of {{month:{month}}} is {{enum:run:{run['status']}}}; it takes nothing more"
        )
    if not 0 < abs(amount) <= 1_000_000_000:
        raise refused("unprocessable", "{amount} must not be nothing, nor beyond 1,000,000,000 minor units")
    if aim.hired_on > last_of(month) or (aim.left_on or "9999") < first_of(month):
        raise refused("conflict", f"{aim.id} is not employed in {{month:{month}}}")
    paid = world.value(
        "SELECT s.currency FROM pay_terms t JOIN sites s ON s.site = t.site WHERE t.employee_id = ? "
        "AND t.valid_from <= ? ORDER BY t.valid_from DESC LIMIT 1",
        aim.id, last_of(month),
    )  # fmt: skip
    if paid is None:
        raise refused("conflict", f"{aim.id} has no pay in {{month:{month}}}")
    if paid != currency:
        raise refused("unprocessable", f"{aim.id} is paid in {paid}; {{currency}} must be that")
    row = {"adjustment_id": world.next_id("AJ"), "employee_id": aim.id, "month": month, "kind": kind,
           "amount_minor": amount, "currency": currency, "note": note, "entered_by": who.id,
           "created_at": world.now}  # fmt: skip
    world.insert("adjustments", row)
    return {"amount" if name == "amount_minor" else name: value for name, value in row.items()}
