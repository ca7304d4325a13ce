"""Who may see and change what: the caller of an episode, the person or department aimed at, the rights between them.

A right comes from the role in which the caller acts, within the reach of that role, or from a grant. One's own record
is open to everybody for reading. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, NamedTuple

from agentgym.envs.hr.problems import absent, refused, unknown
from agentgym.tools import ToolError
from agentgym.world import World, iso

Right = Literal["view_directory", "view_attendance", "view_pay", "change_pay", "decide_leave", "recruit", "administer"]
Reach = Literal["everywhere", "partnered", "led"]
"""Everywhere · where the caller is HR partner · in departments that the caller manages and those below."""

ROLE_RIGHTS: Mapping[str, Mapping[Right, Reach]] = {
    "employee": {"view_directory": "everywhere"},
    "manager": {"view_directory": "everywhere", "view_attendance": "led", "decide_leave": "led", "view_pay": "led"},
    "hr_partner": {
        "view_directory": "everywhere",
        "view_attendance": "partnered",
        "decide_leave": "partnered",
        "view_pay": "partnered",
        "change_pay": "partnered",
        "recruit": "partnered",
        "administer": "partnered",
    },
    "payroll_officer": {
        "view_directory": "everywhere",
        "view_attendance": "everywhere",
        "view_pay": "everywhere",
        "change_pay": "everywhere",
    },
    "recruiter": {"view_directory": "everywhere", "recruit": "everywhere"},
    "hr_admin": {
        "view_directory": "everywhere",
        "view_attendance": "everywhere",
        "decide_leave": "everywhere",
        "view_pay": "everywhere",
        "change_pay": "everywhere",
        "recruit": "everywhere",
        "administer": "everywhere",
    },
}
"""Role → right → how far it reaches. Of attendance and leave a manager also reaches the people who report to them."""

REPORTS: frozenset[Right] = frozenset({"view_attendance", "decide_leave"})
"""Rights of a manager that reach everybody who reports to them directly, whatever the department."""

ADMIN_ONLY: frozenset[Right] = frozenset({"view_pay", "change_pay", "administer"})
"""Rights that only an HR administrator may give or take away."""


class Caller(NamedTuple):
    """For whom requests are made.

    Attributes:
        id: employee id.
        role: the role in which they act.
        today: the simulated day.
    """

    id: str
    role: str
    today: str


class Place(NamedTuple):
    """A department with those who answer for it."""

    department_id: str
    parent_id: str | None
    head: str
    over_head: str | None
    partner: str
    site: str


class Person(NamedTuple):
    """A person as far as rights and rules need them."""

    id: str
    line_manager: str | None
    status: str
    hired_on: str
    left_on: str | None
    site: str
    version: int
    place: Place


_PLACE = "d.department_id, d.parent_id, d.manager_id, o.manager_id, d.partner_id, d.site"
_FROM = "departments d LEFT JOIN departments o ON o.department_id = d.parent_id"
_PERSON = (
    "SELECT e.employee_id, e.manager_id, e.status, e.hired_on, e.left_on, e.site, e.version, "
    f"{_PLACE} FROM employees e JOIN departments d ON d.department_id = e.department_id "
    "LEFT JOIN departments o ON o.department_id = d.parent_id WHERE e.employee_id = ?"
)


def caller(world: World) -> Caller:
    """For whom this request is made."""
    found = world.connection.execute("SELECT employee_id, role FROM session WHERE id = 1").fetchall()[0]
    return Caller(found[0], found[1], iso(world.now_ms)[:10])


def person(world: World, employee_id: str, field: str = "employee_id", *, entered: bool = False) -> Person:
    """The person with that id.

    Args:
        world: the world.
        employee_id: whose.
        field: where the id was given.
        entered: it is part of what is to be entered, not what is asked for.

    Raises:
        ToolError: there is none.
    """
    found = world.connection.execute(_PERSON, (employee_id,)).fetchall()
    if not found:
        raise unknown(field, employee_id) if entered else absent(field, employee_id)
    row = found[0]
    id_, line, status, hired, left, site, version = row[:7]
    return Person(id_, line, status, hired, left, site, version, Place(*row[7:]))


def place(world: World, department_id: str, *, entered: bool = False) -> Place:
    """The department with that id.

    Raises:
        ToolError: there is none.
    """
    found = world.connection.execute(f"SELECT {_PLACE} FROM {_FROM} WHERE d.department_id = ?", (department_id,))
    rows = found.fetchall()
    if not rows:
        raise unknown("department_id", department_id) if entered else absent("department_id", department_id)
    return Place(*rows[0])


def may(world: World, who: Caller, right: Right, aim: Person | Place) -> bool:
    """Whether the caller has a right over a person or a department."""
    where = aim.place if isinstance(aim, Person) else aim
    reach = ROLE_RIGHTS[who.role].get(right)
    if reach == "everywhere":
        return True
    if reach == "partnered" and where.partner == who.id:
        return True
    if reach == "led":
        if who.id in (where.head, where.over_head):
            return True
        if right in REPORTS and isinstance(aim, Person) and aim.line_manager == who.id:
            return True
    return _granted(world, who, right, where)


def _granted(world: World, who: Caller, right: Right, where: Place) -> bool:
    found = world.connection.execute(
        "SELECT 1 FROM access_grants WHERE employee_id = ? AND \"right\" IN (?, 'administer') "
        "AND (department_id IS NULL OR department_id IN (?, ?)) AND (until IS NULL OR until >= ?)",
        (who.id, right, where.department_id, where.parent_id, who.today),
    )
    return bool(found.fetchall())


def demand(world: World, who: Caller, right: Right, aim: Person | Place, *, own: bool = False) -> None:
    """Go on only if the caller has a right, or (*own*) the record is theirs.

    Raises:
        ToolError: they have not.
    """
    if own and isinstance(aim, Person) and aim.id == who.id:
        return
    if not may(world, who, right, aim):
        raise denied(who)


def denied(who: Caller) -> ToolError:
    """The caller's role does not allow it."""
    return refused("forbidden", f"the role {{enum:role:{who.role}}} does not allow this for {who.id}")


class Sight(NamedTuple):
    """Whose records a list may hold, of all of them where ``departments`` is None."""

    departments: str | None
    caller: str
    reports: int


def _owned(table: str) -> str:
    return (
        f"({table}.employee_id = ?2 OR {table}.department_id IN (SELECT value FROM json_each(?1)) "
        f"OR (?3 AND {table}.manager_id = ?2))"
    )


_PEOPLE = f"e.employee_id IN (SELECT s.employee_id FROM employees s WHERE {_owned('s')})"
_EACH = f"(?1 IS NULL OR {_owned('e')})"
"""The same; SQLite looks nobody up by it, since it may hold for all."""


def seen(world: World, who: Caller, right: Right, few: bool = False) -> tuple[str, list[object]]:
    """A condition on ``e`` that keeps a list to what `sight` allows, and its parameters, which come first.

    It names the people, who are few where it is not all, so that a query goes from them to their records; with *few*
    the records are fewer still, and it goes from these.
    """
    found = sight(world, who, right)
    if found.departments is None:
        return "1", []
    return _EACH if few else _PEOPLE, list(found)


def sight(world: World, who: Caller, right: Right) -> Sight:
    """Whose records the caller may see by a right, where a list names nobody."""
    reach = ROLE_RIGHTS[who.role].get(right)
    if reach == "everywhere":
        return Sight(None, who.id, 0)
    grants = world.connection.execute(
        "SELECT department_id FROM access_grants WHERE employee_id = ? AND \"right\" IN (?, 'administer') "
        "AND (until IS NULL OR until >= ?) ORDER BY grant_id",
        (who.id, right, who.today),
    )
    given = [row[0] for row in grants.fetchall()]
    if None in given:
        return Sight(None, who.id, 0)
    found = world.connection.execute(
        f"SELECT d.department_id FROM {_FROM} WHERE (?1 = 'led' AND ?2 IN (d.manager_id, o.manager_id)) "
        "OR (?1 = 'partnered' AND d.partner_id = ?2) OR d.department_id IN (SELECT value FROM json_each(?3)) "
        "OR d.parent_id IN (SELECT value FROM json_each(?3)) ORDER BY d.department_id",
        (reach or "", who.id, json.dumps(given)),
    )
    departments = json.dumps([row[0] for row in found.fetchall()])
    return Sight(departments, who.id, int(reach == "led" and right in REPORTS))
