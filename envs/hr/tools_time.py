"""Canonical tools: attendance and its corrections."""

# What an endpoint does is said once, in endpoints.py, and becomes the docstring of its function.
# ruff: noqa: D103

from __future__ import annotations

import json
from datetime import date, timedelta

from agentgym.envs.hr.access import Caller, Right, caller, demand, person, place, seen
from agentgym.envs.hr.canonical import (
    Decision,
    Json,
    Key,
    Verdict,
    bounded,
    canonical,
    day,
    fresh,
    paged,
    sliced,
    span,
    text,
    within,
)
from agentgym.envs.hr.canonical import (
    month as month_of,
)
from agentgym.envs.hr.problems import absent, refused
from agentgym.world import World

_DAY = "a.employee_id, a.day, a.kind, a.worked_minutes, a.overtime_minutes, a.corrected"


def _shown(rows: list[Json]) -> list[Json]:
    for row in rows:
        row["corrected"] = bool(row["corrected"])
    return rows


@canonical
def list_attendance(
    world: World,
    from_date: str,
    to_date: str,
    employee_id: str | None = None,
    department_id: str | None = None,
    page: int = 1,
    page_size: int = 20,
) -> Json:
    who = caller(world)
    bounded(page, page_size)
    span(day(from_date, "from_date"), day(to_date, "to_date"))
    if from_date[:7] != to_date[:7]:
        raise refused("unprocessable", "{from_date} and {to_date} must lie in one calendar month")
    if (employee_id is None) == (department_id is None):
        raise refused("bad_request", "exactly one of {employee_id} and {department_id} must be given")
    if department_id is not None:
        demand(world, who, "view_attendance", place(world, department_id))
        return _department(world, who, department_id, from_date, to_date, (page, page_size))
    aim = person(world, employee_id or "")
    demand(world, who, "view_attendance", aim, own=True)
    rows = world.rows(
        f"SELECT {_DAY} FROM attendance a WHERE a.employee_id = ? AND a.month = ? AND a.day BETWEEN ? AND ? "
        "AND a.day < ? ORDER BY a.day",
        aim.id, from_date[:7], from_date, to_date, who.today,
    )  # fmt: skip
    return sliced(_shown(rows), page, page_size)


def _department(world: World, who: Caller, department_id: str, first: str, last: str, page: tuple[int, int]) -> Json:
    """A page of a department's days; only those on the page are worked out."""
    end = min(last, (date.fromisoformat(who.today) - timedelta(1)).isoformat())
    months = world.connection.execute(
        "SELECT m.employee_id, m.first_day, m.first_day + json_array_length(m.days) - 1 FROM employees e "
        "JOIN attendance_months m ON m.employee_id = e.employee_id AND m.month = ? "
        "WHERE e.department_id = ? AND e.status != 'left' ORDER BY m.employee_id",
        (first[:7], department_id),
    ).fetchall()
    low, high = int(first[8:]), int(end[8:]) if end >= first else 0
    start, size = (page[0] - 1) * page[1], page[1]
    total, skip, people = 0, 0, list[str]()
    for employee_id, begin, final in months:
        days = max(0, min(high, final) - max(low, begin) + 1)
        if total < start + size and total + days > start:
            if not people:
                skip = start - total
            people.append(employee_id)
        total += days
    rows = world.rows(
        f"SELECT {_DAY} FROM attendance a WHERE a.employee_id IN (SELECT value FROM json_each(?)) AND a.month = ? "
        "AND a.day BETWEEN ? AND ? ORDER BY a.employee_id, a.day",
        json.dumps(people), first[:7], first, end,
    )  # fmt: skip
    return {"items": _shown(rows[skip : skip + size]), "page": page[0], "page_size": size, "total": total}


@canonical
def get_attendance_summary(world: World, employee_id: str, month: str) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "view_attendance", aim, own=True)
    hours = world.value(
        "SELECT coalesce(sum((overtime_minutes + 59) / 60), 0) FROM attendance "
        "WHERE employee_id = ? AND month = ? AND day < ?",
        aim.id, month_of(month, "month"), who.today,
    )  # fmt: skip
    return {"employee_id": aim.id, "month": month, "overtime_hours": hours}


_CORRECTION = (
    "c.correction_id, c.employee_id, c.day, c.worked_minutes, c.overtime_minutes, c.status, c.note, c.requested_by, "
    "c.decided_by, c.version"
)


def chosen(
    world: World, right: Right, employee_id: str | None, department_id: str | None, few: bool = False
) -> tuple[list[str], list[object]]:
    """Conditions on ``e`` and their values, for a list by person, by department, or of all that the caller may see.

    With *few* the list's records are fewer than the people.

    Raises:
        ToolError: there is no such person or department, or the caller has no right over them.
    """
    who = caller(world)
    parts, values = list[str](), list[object]()
    if employee_id is not None:
        demand(world, who, right, person(world, employee_id), own=True)
        parts.append("e.employee_id = ?")
        values.append(employee_id)
    if department_id is not None:
        demand(world, who, right, place(world, department_id))
        parts.append("e.department_id = ?")
        values.append(department_id)
    if not parts:
        condition, values = seen(world, who, right, few)
        parts.append(condition)
    return parts, values


@canonical
def list_corrections(
    world: World,
    employee_id: str | None = None,
    department_id: str | None = None,
    status: Decision | None = None,
    page: int = 1,
    page_size: int = 20,
) -> Json:
    parts, values = chosen(world, "view_attendance", employee_id, department_id, few=True)
    if status is not None:
        parts.append("c.status = ?")
        values.append(status)
    source = f"attendance_corrections c JOIN employees e ON e.employee_id = c.employee_id WHERE {' AND '.join(parts)}"
    return paged(world, _CORRECTION, source, "c.correction_id", values, page, page_size)


@canonical
def create_correction(
    world: World,
    employee_id: str,
    day: str,
    worked_minutes: int,
    overtime_minutes: int,
    note: str,
    idempotency_key: Key | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "decide_leave", aim, own=True)
    _is_day(day)
    text(note, "note")
    within(worked_minutes, 0, 1440, "worked_minutes")
    within(overtime_minutes, 0, worked_minutes, "overtime_minutes")
    if day >= who.today:
        raise refused("conflict", f"{{date:{day}}} is not over; a day can be corrected from the next one on")
    found = world.row(
        "SELECT kind FROM attendance WHERE employee_id = ? AND month = ? AND day = ?", aim.id, day[:7], day
    )
    if found is None:
        raise refused("conflict", f"there is no attendance of {aim.id} on {{date:{day}}}")
    if found["kind"] in ("vacation", "sick", "unpaid"):
        raise refused("conflict", f"{aim.id} had leave on {{date:{day}}}; the leave would have to go first")
    other = world.value(
        "SELECT correction_id FROM attendance_corrections WHERE employee_id = ? AND day = ? "
        "AND status IN ('pending', 'approved') ORDER BY correction_id",
        aim.id, day,
    )  # fmt: skip
    if other is not None:
        raise refused("conflict", f"{other} corrects {{date:{day}}} already")
    row = {"correction_id": world.next_id("AC"), "employee_id": aim.id, "day": day, "worked_minutes": worked_minutes,
           "overtime_minutes": overtime_minutes, "status": "pending", "note": note, "requested_by": who.id,
           "decided_by": None, "version": 1}  # fmt: skip
    world.insert("attendance_corrections", row)
    return row


def _is_day(value: str) -> None:
    day(value, "day")


@canonical
def decide_correction(world: World, correction_id: str, decision: Verdict, version: int) -> Json:
    who = caller(world)
    found = world.row(f"SELECT {_CORRECTION} FROM attendance_corrections c WHERE c.correction_id = ?", correction_id)
    if found is None:
        raise absent("correction_id", correction_id)
    demand(world, who, "decide_leave", person(world, found["employee_id"]))
    fresh(found["version"], version)
    undecided(found, correction_id)
    world.execute(
        "UPDATE attendance_corrections SET status = ?, decided_by = ?, version = version + 1 WHERE correction_id = ?",
        decision, who.id, correction_id,
    )  # fmt: skip
    return {**found, "status": decision, "decided_by": who.id, "version": version + 1}


def undecided(found: Json, key: str) -> None:
    """Go on only with what still waits for a decision.

    Raises:
        ToolError: it does not.
    """
    if found["status"] != "pending":
        raise refused("conflict", f"{key} is {{enum:decision:{found['status']}}} already")
