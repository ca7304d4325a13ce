"""Canonical tools: the session, people, departments, contracts and grades."""

# What an endpoint does is said once, in endpoints.py, and becomes the docstring of its function.
# ruff: noqa: D103

from __future__ import annotations

from agentgym.envs.hr import access
from agentgym.envs.hr.access import Caller, Person, caller, demand, may, person, place
from agentgym.envs.hr.canonical import (
    Employment,
    Json,
    Key,
    canonical,
    day,
    fresh,
    paged,
    span,
    text,
)
from agentgym.envs.hr.problems import absent, refused, said, unknown
from agentgym.envs.hr.seed import later
from agentgym.world import World

_OPEN = (
    "e.employee_id, e.name, e.email, e.title, e.department_id, e.manager_id, e.status, e.hired_on, e.left_on, "
    "e.cost_centre, e.site"
)
_GRADE = (
    "(SELECT t.grade FROM pay_terms t WHERE t.employee_id = e.employee_id AND t.valid_from <= ?2 "
    "ORDER BY t.valid_from DESC LIMIT 1) AS grade"
)
_WHOLE = (
    f"SELECT {_OPEN}, {_GRADE}, e.birth_date, e.national_id, e.bank_account, e.version, e.legacy_ref "
    "FROM employees e WHERE e.employee_id = ?1"
)
_CONFIDENTIAL = ("grade", "birth_date", "national_id", "bank_account")
_DEPARTMENT = (
    "d.department_id, d.name, d.parent_id, d.manager_id, d.partner_id, d.cost_centre, "
    "(SELECT count(*) FROM employees e WHERE e.department_id = d.department_id AND e.status != 'left') AS headcount, "
    "d.headcount_plan"
)


def _record(world: World, who: Caller, aim: Person) -> Json:
    """The person's record without what the caller may not see."""
    row = world.rows(_WHOLE, aim.id, who.today)[0]
    own = aim.id == who.id
    shown = {
        "grade": own or may(world, who, "view_pay", aim),
        "birth_date": own or may(world, who, "administer", aim),
        "national_id": own or who.role in ("payroll_officer", "hr_admin"),
    }
    shown["bank_account"] = shown["national_id"]
    for name in _CONFIDENTIAL:
        if not shown[name]:
            del row[name]
    return row


def _exists(world: World, table: str, column: str, value: str, field: str) -> None:
    if world.value(f"SELECT 1 FROM {table} WHERE {column} = ?", value) is None:
        raise unknown(field, value)


def _leader(world: World, manager_id: str) -> Person:
    found = person(world, manager_id, "manager_id", entered=True)
    if found.status == "left":
        raise refused("conflict", f"{{manager_id}} {manager_id} has left and can lead nobody")
    return found


def employed(aim: Person) -> None:
    """Go on only with somebody who has not left.

    Raises:
        ToolError: they have.
    """
    if aim.status == "left":
        raise refused("conflict", f"{aim.id} left on {{date:{aim.left_on}}}; that record is closed")


@canonical
def get_me(world: World) -> Json:
    who = caller(world)
    row = world.rows("SELECT employee_id, name, department_id FROM employees WHERE employee_id = ?", who.id)[0]
    found = world.rows(
        "SELECT d.department_id, ?1 IN (d.manager_id, o.manager_id) AS led, d.partner_id = ?1 AS partnered "
        "FROM departments d LEFT JOIN departments o ON o.department_id = d.parent_id ORDER BY d.department_id",
        who.id,
    )
    return {
        "employee_id": row["employee_id"],
        "name": row["name"],
        "role": who.role,
        "department_id": row["department_id"],
        "manages": [d["department_id"] for d in found if d["led"]],
        "partner_of": [d["department_id"] for d in found if d["partnered"]],
        "today": who.today,
    }


@canonical
def list_employees(
    world: World,
    department_id: str | None = None,
    status: Employment | None = None,
    cost_centre: str | None = None,
    name: str | None = None,
    page: int = 1,
    page_size: int = 20,
) -> Json:
    parts, values = ["1"], list[object]()
    if department_id is not None:
        place(world, department_id)
    for condition, value in (
        ("e.department_id = ?", department_id),
        ("e.status = ?", status),
        ("e.cost_centre = ?", cost_centre),
        ("instr(lower(e.name), lower(?))", name),
    ):
        if value is not None:
            parts.append(condition)
            values.append(value)
    source = f"employees e WHERE {' AND '.join(parts)}"
    return paged(world, f"{_OPEN}, e.version, e.legacy_ref", source, "e.employee_id", values, page, page_size)


@canonical
def get_employee(world: World, employee_id: str) -> Json:
    return _record(world, caller(world), person(world, employee_id))


@canonical
def create_employee(
    world: World,
    name: str,
    email: str,
    title: str,
    department_id: str,
    manager_id: str,
    hired_on: str,
    cost_centre: str,
    site: str,
    idempotency_key: Key | None = None,
) -> Json:
    who = caller(world)
    demand(world, who, "administer", place(world, department_id, entered=True))
    day(hired_on, "hired_on")
    for value, field in ((name, "name"), (email, "email"), (title, "title")):
        text(value, field)
    local, at, host = email.partition("@")
    if not local or not at or "." not in host or " " in email:
        raise refused("unprocessable", f"{{email}} is no e-mail address: {said(email)}")
    _leader(world, manager_id)
    _exists(world, "cost_centres", "cost_centre", cost_centre, "cost_centre")
    _exists(world, "sites", "site", site, "site")
    taken = world.value("SELECT employee_id FROM employees WHERE email = ?", email)
    if taken is not None:
        raise refused("conflict", f"{{email}} {said(email)} belongs to {taken}")
    row = {"employee_id": world.next_id("E"), "name": name, "email": email, "title": title,
           "department_id": department_id, "manager_id": manager_id, "status": "active", "hired_on": hired_on,
           "cost_centre": cost_centre, "site": site, "legacy_ref": "-"}  # fmt: skip
    world.insert("employees", row)
    entry = {"employee_id": row["employee_id"], "from_date": hired_on, "department_id": department_id}
    world.insert("memberships", entry)
    return _record(world, who, person(world, row["employee_id"]))


@canonical
def update_employee(
    world: World,
    employee_id: str,
    version: int,
    title: str | None = None,
    department_id: str | None = None,
    manager_id: str | None = None,
    cost_centre: str | None = None,
    site: str | None = None,
    status: Employment | None = None,
    left_on: str | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "administer", aim)
    fresh(aim.version, version)
    employed(aim)
    given = {"title": title, "department_id": department_id, "manager_id": manager_id, "cost_centre": cost_centre,
             "site": site, "status": status, "left_on": left_on}  # fmt: skip
    changes: dict[str, str | None] = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise refused("unprocessable", "nothing is given to change")
    if title is not None:
        text(title, "title")
    if department_id is not None:
        demand(world, who, "administer", place(world, department_id, entered=True))
    if manager_id is not None:
        _no_circle(world, aim, manager_id)
    if cost_centre is not None:
        _exists(world, "cost_centres", "cost_centre", cost_centre, "cost_centre")
    if site is not None:
        _exists(world, "sites", "site", site, "site")
    changes |= _leaving(aim, who.today, status, left_on)
    columns = ", ".join(f"{name} = ?" for name in changes)
    sql = f"UPDATE employees SET {columns}, version = version + 1 WHERE employee_id = ?"
    world.execute(sql, *changes.values(), employee_id)
    _move(world, aim, who.today, department_id, changes)
    return _record(world, who, person(world, employee_id))


def _leaving(aim: Person, today: str, status: str | None, left_on: str | None) -> dict[str, str | None]:
    """What a new state or last day brings with it.

    Raises:
        ToolError: state and last day do not go together.
    """
    state, last = status or aim.status, left_on or aim.left_on
    if left_on is not None:
        day(left_on, "left_on")
        span(aim.hired_on, left_on, ("hired_on", "left_on"))
    if state in ("notice_given", "left"):
        if last is None:
            raise refused("unprocessable", f"{{status}} {{enum:employment:{state}}} needs {{left_on}}")
        if state == "left" and last > today:
            raise refused("conflict", f"{{left_on}} {{date:{last}}} has not come: nobody has left before it")
        return {}
    if left_on is not None:
        raise refused("unprocessable", f"{{left_on}} does not go with {{status}} {{enum:employment:{state}}}")
    return {"left_on": None} if aim.left_on is not None else {}


def _no_circle(world: World, aim: Person, manager_id: str) -> None:
    above: str | None = _leader(world, manager_id).id
    while above is not None:
        if above == aim.id:
            raise refused("conflict", f"{{manager_id}} {manager_id} reports to {aim.id}, or is the same person")
        above = world.value("SELECT manager_id FROM employees WHERE employee_id = ?", above)


def _move(world: World, aim: Person, today: str, department_id: str | None, changes: dict[str, str | None]) -> None:
    """Keep the history of departments in step with the record."""
    if "left_on" in changes:
        world.execute(
            "UPDATE memberships SET to_date = ?2 WHERE employee_id = ?1 AND from_date = "
            "(SELECT max(from_date) FROM memberships WHERE employee_id = ?1)",
            aim.id,
            changes["left_on"],
        )
    if department_id is None or department_id == aim.place.department_id:
        return
    last = world.rows("SELECT * FROM memberships WHERE employee_id = ? ORDER BY from_date DESC LIMIT 1", aim.id)[0]
    if last["from_date"] >= today:
        sql = "UPDATE memberships SET department_id = ? WHERE employee_id = ? AND from_date = ?"
        world.execute(sql, department_id, aim.id, last["from_date"])
        return
    sql = "UPDATE memberships SET to_date = ? WHERE employee_id = ? AND from_date = ?"
    world.execute(sql, later(today, -1), aim.id, last["from_date"])
    entry = {"employee_id": aim.id, "from_date": today, "to_date": last["to_date"], "department_id": department_id}
    world.insert("memberships", entry)


@canonical
def bulk_update_employees(
    world: World, employee_ids: list[str], cost_centre: str | None = None, manager_id: str | None = None
) -> Json:
    who = caller(world)
    if not 1 <= len(employee_ids) <= 100 or len(set(employee_ids)) != len(employee_ids):
        raise refused("unprocessable", "{employee_ids} must name 1 to 100 people, each once")
    if (cost_centre is None) == (manager_id is None):
        raise refused("unprocessable", "exactly one of {cost_centre} and {manager_id} must be given")
    people = [person(world, employee_id, "employee_ids", entered=True) for employee_id in employee_ids]
    for aim in people:
        demand(world, who, "administer", aim)
        employed(aim)
        if manager_id is not None:
            _no_circle(world, aim, manager_id)
    column, value = ("cost_centre", cost_centre) if cost_centre is not None else ("manager_id", manager_id)
    if cost_centre is not None:
        _exists(world, "cost_centres", "cost_centre", cost_centre, "cost_centre")
    found: Json = {"updated": [], "unchanged": []}
    sql = f"UPDATE employees SET {column} = ?1, version = version + 1 WHERE employee_id = ?2 AND {column} IS NOT ?1"
    for aim in people:
        found["updated" if world.execute(sql, value, aim.id) else "unchanged"].append(aim.id)
    return found


_NAMED = (
    ("employees", "manager_id"),
    ("departments", "manager_id"),
    ("departments", "partner_id"),
    ("requisitions", "hiring_manager_id"),
    ("pay_terms", "entered_by"),
    ("attendance_corrections", "requested_by"),
    ("attendance_corrections", "decided_by"),
    ("leave_requests", "decided_by"),
    ("adjustments", "entered_by"),
    ("access_grants", "granted_by"),
)
_OWNED = (
    "memberships contracts pay_terms attendance_months attendance_corrections leave_balances leave_requests payslips "
    "adjustments access_grants accounts employees"
).split()


@canonical
def delete_employee(world: World, employee_id: str) -> Json:
    who, aim = caller(world), person(world, employee_id)
    if who.role != "hr_admin":
        raise access.denied(who)
    own = "" if aim.id != who.id else " OR 1"
    for table, column in _NAMED:
        mine = "0" if table in ("departments", "requisitions") else "employee_id = ?1"
        sql = f"SELECT 1 FROM {table} WHERE {column} = ?1 AND NOT ({mine}) LIMIT 1"
        if own or world.value(sql, aim.id) is not None:
            raise refused("conflict", f"records of others name {aim.id}; that record must stay")
    for table in _OWNED:
        world.execute(f"DELETE FROM {table} WHERE employee_id = ?", aim.id)
    return {"id": aim.id}


@canonical
def list_departments(world: World, parent_id: str | None = None, page: int = 1, page_size: int = 20) -> Json:
    source = "departments d WHERE ?1 IS NULL OR d.parent_id = ?1"
    return paged(world, _DEPARTMENT, source, "d.department_id", [parent_id], page, page_size)


@canonical
def get_department(world: World, department_id: str) -> Json:
    found = world.row(f"SELECT {_DEPARTMENT} FROM departments d WHERE d.department_id = ?", department_id)
    if found is None:
        raise absent("department_id", department_id)
    return found


@canonical
def list_members(
    world: World,
    department_id: str,
    from_date: str | None = None,
    to_date: str | None = None,
    page: int = 1,
    page_size: int = 20,
) -> Json:
    place(world, department_id)
    if from_date is None and to_date is not None:
        raise refused("unprocessable", "{to_date} needs {from_date}")
    first = day(from_date, "from_date") if from_date is not None else caller(world).today
    last = day(to_date, "to_date") if to_date is not None else first
    span(first, last)
    source = (
        "memberships m JOIN employees e ON e.employee_id = m.employee_id WHERE m.department_id = ? "
        "AND m.from_date <= ? AND coalesce(m.to_date, '9999-12-31') >= ?"
    )
    columns = "m.employee_id, e.name, m.department_id, m.from_date, m.to_date"
    order = "m.employee_id, m.from_date"
    return paged(world, columns, source, order, [department_id, last, first], page, page_size)
