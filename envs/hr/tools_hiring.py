"""Canonical tools: positions, candidates, rights and accounts."""

# What an endpoint does is said once, in endpoints.py, and becomes the docstring of its function.
# ruff: noqa: D103

from __future__ import annotations

from agentgym.envs.hr.access import ADMIN_ONLY, Caller, Person, Place, caller, demand, denied, may, person, place, sight
from agentgym.envs.hr.canonical import (
    Access,
    Json,
    Key,
    Requisition,
    Stage,
    System,
    canonical,
    day,
    fresh,
    paged,
    text,
    within,
)
from agentgym.envs.hr.problems import absent, refused, said
from agentgym.world import World

_POSITION = (
    "q.requisition_id, q.department_id, q.title, q.grade, q.status, q.openings, q.filled, q.hiring_manager_id, "
    "q.opened_on, q.version"
)


def _looks(world: World, who: Caller, where: Place, hiring_manager: str) -> bool:
    """Whether the caller may look at a position: who recruits there, who hires, and the department's managers."""
    if may(world, who, "recruit", where):
        return True
    return who.role == "manager" and who.id in (hiring_manager, where.head, where.over_head)


@canonical
def list_requisitions(
    world: World,
    department_id: str | None = None,
    status: Requisition | None = None,
    page: int = 1,
    page_size: int = 20,
) -> Json:
    who = caller(world)
    parts, values = list[str](), list[object]()
    if department_id is not None:
        if not _looks(world, who, place(world, department_id), ""):
            raise denied(who)
        parts.append("q.department_id = ?")
        values.append(department_id)
    else:
        seen = sight(world, who, "recruit")
        led = who.role == "manager"
        parts.append(
            "(?1 IS NULL OR q.department_id IN (SELECT value FROM json_each(?1)) "
            "OR (?2 AND ?3 IN (q.hiring_manager_id, d.manager_id, o.manager_id)))"
        )
        values += [seen.departments, int(led), who.id]
    if status is not None:
        parts.append("q.status = ?")
        values.append(status)
    source = (
        "requisitions q JOIN departments d ON d.department_id = q.department_id "
        f"LEFT JOIN departments o ON o.department_id = d.parent_id WHERE {' AND '.join(parts)}"
    )
    return paged(world, _POSITION, source, "q.requisition_id", values, page, page_size)


@canonical
def create_requisition(
    world: World,
    department_id: str,
    title: str,
    grade: str,
    openings: int,
    hiring_manager_id: str,
    idempotency_key: Key | None = None,
) -> Json:
    who, where = caller(world), place(world, department_id, entered=True)
    demand(world, who, "recruit", where)
    text(title, "title")
    within(openings, 1, 100, "openings")
    if world.value("SELECT 1 FROM grade_amounts WHERE site = ? AND grade = ? LIMIT 1", where.site, grade) is None:
        raise refused("unprocessable", f"{{grade}} {said(grade)} is none of the office {where.site}")
    manager = person(world, hiring_manager_id, "hiring_manager_id", entered=True)
    if manager.status == "left":
        raise refused("conflict", f"{{hiring_manager_id}} {manager.id} has left")
    row = {"requisition_id": world.next_id("RQ"), "department_id": department_id, "title": title, "grade": grade,
           "status": "open", "openings": openings, "filled": 0, "hiring_manager_id": manager.id,
           "opened_on": who.today, "version": 1}  # fmt: skip
    world.insert("requisitions", row)
    return row


def _position(world: World, requisition_id: str) -> Json:
    found = world.row(f"SELECT {_POSITION} FROM requisitions q WHERE q.requisition_id = ?", requisition_id)
    if found is None:
        raise absent("requisition_id", requisition_id)
    return found


@canonical
def update_requisition(
    world: World,
    requisition_id: str,
    version: int,
    status: Requisition | None = None,
    openings: int | None = None,
) -> Json:
    who, found = caller(world), _position(world, requisition_id)
    demand(world, who, "recruit", place(world, found["department_id"]))
    fresh(found["version"], version)
    if status is None and openings is None:
        raise refused("unprocessable", "nothing is given to change")
    if found["status"] == "closed":
        raise refused("conflict", f"{requisition_id} is {{enum:requisition:closed}} and stays so")
    after = {**found, "status": status or found["status"], "openings": openings or found["openings"]}
    if openings is not None:
        within(openings, 1, 100, "openings")
        if openings < found["filled"]:
            raise refused("conflict", f"{found['filled']} people are hired for {requisition_id} already")
    if status == "filled" and after["filled"] < after["openings"]:
        left = after["openings"] - after["filled"]
        raise refused("conflict", f"{requisition_id} is not {{enum:requisition:filled}}: {left} of its places are free")
    world.execute(
        "UPDATE requisitions SET status = ?, openings = ?, version = version + 1 WHERE requisition_id = ?",
        after["status"], after["openings"], requisition_id,
    )  # fmt: skip
    return {**after, "version": version + 1}


_CANDIDATE = (
    "c.candidate_id, c.requisition_id, c.name, c.email, c.stage, c.score_hundredths, c.source, c.applied_on, "
    "c.expected_pay_minor AS expected_pay, c.currency, c.background_note, c.version"
)


def _seen(world: World, who: Caller, row: Json, where: Place) -> Json:
    """The candidate without what the caller may not see: pay for those who recruit, the check for recruiters and HR."""
    if not may(world, who, "recruit", where):
        del row["expected_pay"]
    if who.role not in ("recruiter", "hr_admin"):
        del row["background_note"]
    return row


@canonical
def list_candidates(
    world: World, requisition_id: str, stage: Stage | None = None, page: int = 1, page_size: int = 20
) -> Json:
    who, position = caller(world), _position(world, requisition_id)
    where = place(world, position["department_id"])
    if not _looks(world, who, where, position["hiring_manager_id"]):
        raise denied(who)
    source = "candidates c WHERE c.requisition_id = ?1 AND (?2 IS NULL OR c.stage = ?2)"
    found = paged(world, _CANDIDATE, source, "c.candidate_id", [requisition_id, stage], page, page_size)
    if found["items"]:
        dropped = found["items"][0].keys() - _seen(world, who, dict(found["items"][0]), where).keys()
        for row in found["items"]:
            for name in dropped:
                del row[name]
    return found


def _applicant(world: World, candidate_id: str) -> Json:
    found = world.row(f"SELECT {_CANDIDATE} FROM candidates c WHERE c.candidate_id = ?", candidate_id)
    if found is None:
        raise absent("candidate_id", candidate_id)
    return found


@canonical
def get_candidate(world: World, candidate_id: str) -> Json:
    who, found = caller(world), _applicant(world, candidate_id)
    position = _position(world, found["requisition_id"])
    where = place(world, position["department_id"])
    if not _looks(world, who, where, position["hiring_manager_id"]):
        raise denied(who)
    return _seen(world, who, found, where)


@canonical
def move_candidate(world: World, candidate_id: str, stage: Stage, version: int) -> Json:
    who, found = caller(world), _applicant(world, candidate_id)
    position = _position(world, found["requisition_id"])
    where = place(world, position["department_id"])
    demand(world, who, "recruit", where)
    fresh(found["version"], version)
    if found["stage"] in ("hired", "withdrawn", "turned_down", stage):
        raise refused("conflict", f"{candidate_id} is at {{stage}} {{enum:stage:{found['stage']}}} and stays there")
    if stage in ("offer", "hired") and position["status"] != "open":
        state = f"{{enum:requisition:{position['status']}}}"
        raise refused("conflict", f"{position['requisition_id']} is {state}; nobody can be taken on for it")
    if stage == "hired":
        if position["filled"] >= position["openings"]:
            raise refused("conflict", f"all places of {position['requisition_id']} are taken")
        world.execute(
            "UPDATE requisitions SET filled = filled + 1, version = version + 1, "
            "status = CASE WHEN filled + 1 = openings THEN 'filled' ELSE status END WHERE requisition_id = ?",
            position["requisition_id"],
        )
    sql = "UPDATE candidates SET stage = ?, version = version + 1 WHERE candidate_id = ?"
    world.execute(sql, stage, candidate_id)
    return _seen(world, who, {**found, "stage": stage, "version": version + 1}, where)


# Rights and accounts.


def _looked_after(world: World, employee_id: str) -> tuple[Caller, Person]:
    """The caller, and a person whose rights and accounts they may see."""
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "administer", aim, own=True)
    return who, aim


_GRANT = 'g.grant_id, g.employee_id, g."right", g.department_id, g.until, g.granted_by'


@canonical
def list_grants(world: World, employee_id: str, page: int = 1, page_size: int = 20) -> Json:
    _, aim = _looked_after(world, employee_id)
    source = "access_grants g WHERE g.employee_id = ?"
    return paged(world, _GRANT, source, "length(g.grant_id), g.grant_id", [aim.id], page, page_size)


def _may_give(world: World, who: Caller, aim: Person, right: str) -> None:
    demand(world, who, "administer", aim)
    if right in ADMIN_ONLY and who.role != "hr_admin":
        raise denied(who)


@canonical
def create_grant(
    world: World,
    employee_id: str,
    right: Access,
    department_id: str | None = None,
    until: str | None = None,
    idempotency_key: Key | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    _may_give(world, who, aim, right)
    if aim.status == "left":
        raise refused("conflict", f"{aim.id} has left")
    if department_id is not None:
        place(world, department_id, entered=True)
    if until is not None and day(until, "until") < who.today:
        raise refused("unprocessable", f"{{until}} {{date:{until}}} is over")
    other = world.value(
        'SELECT grant_id FROM access_grants WHERE employee_id = ? AND "right" = ? AND department_id IS ? '
        "AND (until IS NULL OR until >= ?) ORDER BY grant_id",
        aim.id, right, department_id, who.today,
    )  # fmt: skip
    if other is not None:
        raise refused("conflict", f"{other} gives {aim.id} that already")
    row = {"grant_id": world.next_id("AG"), "employee_id": aim.id, "right": right, "department_id": department_id,
           "until": until, "granted_by": who.id}  # fmt: skip
    world.insert("access_grants", row)
    return row


@canonical
def revoke_grant(world: World, grant_id: str) -> Json:
    who = caller(world)
    found = world.row('SELECT employee_id, "right" FROM access_grants WHERE grant_id = ?', grant_id)
    if found is None:
        raise absent("grant_id", grant_id)
    _may_give(world, who, person(world, found["employee_id"]), found["right"])
    world.execute("DELETE FROM access_grants WHERE grant_id = ?", grant_id)
    return {"id": grant_id}


def _account(row: Json) -> Json:
    return {**row, "active": bool(row["active"])}


@canonical
def list_accounts(world: World, employee_id: str, page: int = 1, page_size: int = 20) -> Json:
    _, aim = _looked_after(world, employee_id)
    columns, source = "account_id, employee_id, system, active", "accounts WHERE employee_id = ?"
    found = paged(world, columns, source, "length(account_id), account_id", [aim.id], page, page_size)
    found["items"] = [_account(row) for row in found["items"]]
    return found


@canonical
def create_account(world: World, employee_id: str, system: System, idempotency_key: Key | None = None) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "administer", aim)
    if aim.status == "left":
        raise refused("conflict", f"{aim.id} has left")
    sql = "SELECT account_id FROM accounts WHERE employee_id = ? AND system = ? AND active ORDER BY account_id"
    other = world.value(sql, aim.id, system)
    if other is not None:
        raise refused("conflict", f"{other} is an account of {aim.id} there already")
    row = {"account_id": world.next_id("AT"), "employee_id": aim.id, "system": system, "active": 1}
    world.insert("accounts", row)
    return _account(row)


@canonical
def close_account(world: World, account_id: str) -> Json:
    who = caller(world)
    found = world.row("SELECT account_id, employee_id, system, active FROM accounts WHERE account_id = ?", account_id)
    if found is None:
        raise absent("account_id", account_id)
    demand(world, who, "administer", person(world, found["employee_id"]))
    if not found["active"]:
        raise refused("conflict", f"{account_id} is closed already")
    world.execute("UPDATE accounts SET active = 0 WHERE account_id = ?", account_id)
    return _account({**found, "active": 0})
