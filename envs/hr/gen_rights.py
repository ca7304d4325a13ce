"""Requests about rights: one is given or taken away; rights of pay only by HR administrators."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

from agentgym.envs.hr import gen_checks as checks
from agentgym.envs.hr import gen_gold as gold
from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_data import Department, Person
from agentgym.envs.hr.gen_figures import refusal, told_anyway
from agentgym.envs.hr.gen_gold import act, of
from agentgym.envs.hr.gen_people import newcomer
from agentgym.envs.hr.gen_request import Request

PLAIN = ("view_attendance", "decide_leave", "recruit")
OF_PAY = ("view_pay", "change_pay", "administer")

_RIGHTS = {
    "view_attendance": ("see the attendance", "查看考勤"),
    "decide_leave": ("decide on leave", "审批休假"),
    "recruit": ("recruit", "招聘"),
    "view_pay": ("see the pay", "查看薪酬"),
    "change_pay": ("change the pay", "修改薪酬"),
    "administer": ("administer people", "管理人员信息"),
}
_GIVE = (
    (
        "Please allow {name} to {right} in {department}{until}.",
        "{name} needs the right to {right} in {department}{until}. Please set that up.",
        "Could you give {name} the right to {right} in {department}{until}?",
    ),
    (
        "请给 {name} 开通在 {department} {right}的权限{until}。",
        "{name} 需要在 {department} {right}的权限{until}，请开通。",
    ),
)
_UNTIL = ((" until {day}",), ("，有效期到 {day}",))
_TAKE = (
    (
        "{name} no longer needs the right to {right} in {department}. Please take it away.",
        "Please take the right to {right} in {department} away from {name}.",
    ),
    ("请收回 {name} 在 {department} {right}的权限。", "{name} 不再需要在 {department} {right}的权限，请取消。"),
)

UNTIL = (
    'SELECT until FROM access_grants WHERE employee_id = :id AND "right" = :what AND department_id = :department '
    "AND granted_by = :by"
)
THERE = "SELECT count(*) FROM access_grants WHERE grant_id = :id"


@cache
def _in_ninety_days() -> dict[str, Any]:
    return {"sql": "SELECT date(:today, '+90 days')", "today": gold.TODAY}


def _reads(i: int, person: Person, department: Department) -> tuple[Any, Any]:
    grants = act("list_grants", f"grants{i}", employee_id=gold.who_id(i), page=1, page_size=50)
    where = act("get_department", f"where{i}", department_id=gold.department_id(department.name))
    find = (gold.ME, gold.who(i, person.name), gold.DEPARTMENTS)
    return (*find, where, grants), (*find, gold.whole(i), grants)


def access_rights(case: Case, i: int, hard: bool) -> Request | None:
    """Give or take a right."""
    person = newcomer(case, case.reach(late=True))
    if person is None:
        return None
    every = tuple(case.data.departments.values())
    department = case.data.departments[person.department] if case.chance(40) else case.draw.choice(every)
    no = case.role == "hr_partner" and case.refuses(50)
    what = case.draw.choice(OF_PAY if no or (case.role == "hr_admin" and hard and case.chance(30)) else PLAIN)
    case.rows["access_grants"].append(_right(case, person, "view_directory", None, None))
    request = Request("access-rights")
    request.secrets += checks.private(person)
    request.given += told_anyway(department.id, person.department)
    request.reads = _reads(i, person, department)
    words = {"name": person.name, "right": _RIGHTS[what][case.chinese], "department": department.name}
    grants = checks.call("list_grants", employee_id=person.id)
    request.checkpoints.append(checks.looked_up(f"found_{i}", person))
    if no:
        return _not_permitted(case, request, i, (person, department, what), words)
    request.required.append([grants, *checks.found(person)])
    if case.chance(35):
        _take(case, request, i, (person, department, what), words)
    else:
        _give(case, request, i, (person, department, what), words)
    return request


def _right(case: Case, person: Person, what: str, department_id: str | None, until: str | None) -> dict[str, Any]:
    return {
        "grant_id": case.new_id("AG"),
        "employee_id": person.id,
        "right": what,
        "department_id": department_id,
        "until": until,
        "granted_by": case.draw.choice(case.data.staff["hr_admin"]),
    }


Aim = tuple[Person, Department, str]


def _give(case: Case, request: Request, i: int, aim: Aim, words: dict[str, str]) -> None:
    person, department, what = aim
    day = ""
    if case.chance(45):
        day = (case.today + timedelta(case.draw.integers(20, 340))).isoformat()
    until = day or (case.today + timedelta(90)).isoformat()
    tail = case.says(*_UNTIL).format(day=day) if day else ""
    request.goal = f"Give {person.name} a right"
    request.ask.append(case.says(*_GIVE).format(until=tail, **words))
    new = act(
        "create_grant",
        f"granted{i}",
        employee_id=gold.who_id(i),
        right=what,
        department_id=gold.department_id(department.name),
        until=day or _in_ninety_days(),
    )
    request.writes = (new, gold.say("权限已开通。" if case.chinese else "The right has been given."))
    params: dict[str, Any] = {"id": person.id, "what": what, "department": department.id, "by": case.caller}
    request.final_state.append(checks.state(UNTIL, until, "text", **params))
    request.checkpoints.append(checks.reached(f"given_{i}", UNTIL, until, "text", **params))
    request.may_change.append(
        checks.insert(
            "access_grants",
            employee_id=person.id,
            right=what,
            department_id=department.id,
            until=until,
            granted_by=case.caller,
        )
    )
    request.steps = ("Find the person and the department", "Give the right with an end, there only")


def _take(case: Case, request: Request, i: int, aim: Aim, words: dict[str, str]) -> None:
    person, department, what = aim
    until = (case.today + timedelta(case.draw.integers(10, 300))).isoformat()
    row = _right(case, person, what, department.id, until)
    case.rows["access_grants"].append(row)
    request.goal = f"Take a right away from {person.name}"
    request.ask.append(case.says(*_TAKE).format(**words))
    one = {
        "sql": "SELECT value ->> 'grant_id' FROM json_each(:grants) WHERE value ->> 'right' = :right "
        "AND value ->> 'department_id' = :department",
        "grants": of(f"grants{i}", "$.items"),
        "right": what,
        "department": gold.department_id(department.name),
    }
    done = gold.say("权限已收回。" if case.chinese else "The right has been taken away.")
    request.writes = (*gold.confirmed("revoke_grant", f"revoked{i}", {"grant_id": one}), done)
    request.wants.append(checks.want("revoke_grant", grant_id=row["grant_id"]))
    request.final_state.append(checks.state(THERE, 0, id=row["grant_id"]))
    request.checkpoints.append(checks.reached(f"taken_{i}", THERE, 0, id=row["grant_id"]))
    request.may_change.append(checks.delete("access_grants", "grant_id", row["grant_id"]))
    request.steps = ("Find the person and the right", "Get a yes and take it away")


def _not_permitted(case: Case, request: Request, i: int, aim: Aim, words: dict[str, str]) -> Request:
    """Rights of pay and administration are given by HR administrators only (policy 7.6)."""
    person = aim[0]
    request.code, request.goal = "not_permitted", f"Give {person.name} a right of pay"
    request.ask.append(case.says(*_GIVE).format(until="", **words))
    grants = checks.call("list_grants", employee_id=person.id)
    request.required += [[checks.call("get_me")], [grants, *checks.found(person)]]
    request.writes = (refusal(case, "only HR administrators may give that right", "只有人事管理员才能授予该权限"),)
    request.steps = ("Find the person", "See that the role may not give the right", "Refuse")
    return request
