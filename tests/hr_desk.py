"""The company with somebody who calls: what the tests of its API share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import agentgym.envs.hr
from agentgym.changes import Change
from agentgym.envs.hr.endpoints import BY_TOOL
from agentgym.envs.hr.problems import STATUS
from agentgym.envs.hr.tools import TOOLS
from agentgym.world import World, parse_iso

FOLDER = Path(agentgym.envs.hr.__file__).parent
BY_NAME = {tool.name: tool for tool in TOOLS}
NOW = parse_iso("2026-03-16T09:00:00Z")


class Desk:
    """The world with a caller, and the people that the tests speak of."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.now = NOW
        plain = (
            "SELECT employee_id FROM employees e WHERE department_id = ? AND status = 'active' "
            "AND hired_on < '2023-01' AND title NOT LIKE 'Team Lead%' AND title NOT LIKE 'Head%' "
            "AND NOT EXISTS (SELECT 1 FROM access_grants g "
            "WHERE g.employee_id = e.employee_id AND \"right\" != 'view_directory') ORDER BY 1"
        )
        self.member = str(world.value(plain, "D03"))
        self.other = str(world.value(plain, "D08"))
        self.head = str(world.value("SELECT manager_id FROM departments WHERE department_id = 'D03'"))
        self.partner = str(world.value("SELECT partner_id FROM departments WHERE department_id = 'D03'"))
        self.admin = str(world.value("SELECT manager_id FROM departments WHERE department_id = 'D19'"))
        title = "SELECT employee_id FROM employees WHERE title = ? AND status = 'active' ORDER BY 1"
        self.officer = str(world.value(title, "Payroll Officer"))
        self.recruiter = str(world.value(title, "Recruiter"))

    def act(self, role: str, employee_id: str = "") -> Desk:
        callers = {"employee": self.member, "manager": self.head, "hr_partner": self.partner, "hr_admin": self.admin,
                   "payroll_officer": self.officer, "recruiter": self.recruiter}  # fmt: skip
        self.world.apply({"session": {1: {"employee_id": employee_id or callers[role], "role": role}}}, "event")
        return self

    def run(self, name: str, arguments: dict[str, Any], now: int = 0) -> tuple[Any, list[Change]]:
        # A second and more a call, so that the limits of calls a minute are not met by chance.
        self.now += 1100
        result, changes = self.world.call(name, BY_NAME[name].validate(arguments), now or self.now)
        assert result.ok, f"{name}: {result.error}"
        return result.value, changes

    def get(self, name: str, /, **arguments: Any) -> Any:
        return self.run(name, arguments)[0]

    def error(self, name: str, /, **arguments: Any) -> tuple[str, str]:
        result, changes = self.world.call(name, BY_NAME[name].validate(arguments), NOW)
        assert not result.ok, f"{name} should have failed, gave {result.value}"
        assert changes == []
        problem = json.loads(result.error)
        assert list(problem) == ["status", "code", "message", "details"]
        assert STATUS[problem["code"]] == problem["status"]
        return problem["code"], problem["message"]

    def value(self, sql: str, *parameters: Any) -> Any:
        return self.world.value(sql, *parameters)

    def version(self, employee_id: str) -> int:
        return int(self.value("SELECT version FROM employees WHERE employee_id = ?", employee_id))


def ops(changes: list[Change]) -> list[tuple[str, str]]:
    return sorted((change.table, change.op) for change in changes if not change.table.startswith("_"))


def newest(desk: Desk, table: str, key: str, where: str = "1") -> str:
    return str(desk.value(f"SELECT {key} FROM {table} WHERE {where} ORDER BY length({key}) DESC, {key} DESC LIMIT 1"))


def given(desk: Desk, name: str) -> dict[str, Any]:
    """Arguments with which the tool works for an HR administrator."""
    who = {"employee_id": desk.member}
    lr = newest(desk, "leave_requests", "request_id", "status = 'pending'")
    ac = newest(desk, "attendance_corrections", "correction_id", "status = 'pending'")
    rq = newest(desk, "requisitions", "requisition_id", "status = 'open'")
    ca = newest(desk, "candidates", "candidate_id", f"requisition_id = '{rq}' AND stage IN ('applied', 'screening')")
    if ca == "None":
        ca = newest(desk, "candidates", "candidate_id", "stage IN ('applied', 'screening')")
    leaver = str(desk.value("SELECT employee_id FROM employees WHERE status = 'left' ORDER BY 1 LIMIT 1"))

    def version(table: str, key: str, value: str) -> int:
        return int(desk.value(f"SELECT version FROM {table} WHERE {key} = ?", value))

    grade = str(desk.get("get_pay", employee_id=desk.member)["grade"])
    step = f"G{int(grade[1:]) + 1}"
    new = {"name": "Ada Rask", "email": "ada.rask@tidewell.example", "title": "Developer", "department_id": "D03",
           "manager_id": desk.head, "hired_on": "2026-04-01", "cost_centre": "CC130", "site": "Rotterdam"}  # fmt: skip
    table: dict[str, dict[str, Any]] = {
        "list_employees": {"department_id": "D03"},
        "create_employee": new,
        "update_employee": {**who, "version": desk.version(desk.member), "title": "Architect"},
        "bulk_update_employees": {"employee_ids": [desk.member, desk.other], "cost_centre": "CC905"},
        "delete_employee": {"employee_id": leaver},
        "get_department": {"department_id": "D03"},
        "list_members": {"department_id": "D03", "from_date": "2025-12-01", "to_date": "2026-02-28"},
        "create_contract": {"employee_id": "", "type": "permanent", "from_date": "2026-04-01",
                            "weekly_minutes": 2400, "grade": "G4"},
        "change_grade": {**who, "version": desk.version(desk.member), "grade": step, "valid_from": "2026-04-01",
                         "note": "promotion"},
        "list_attendance": {**who, "from_date": "2026-02-01", "to_date": "2026-02-28"},
        "get_attendance_summary": {**who, "month": "2026-02"},
        "create_correction": {**who, "day": "2026-03-14", "worked_minutes": 120, "overtime_minutes": 120,
                              "note": "release"},
        "decide_correction": {"correction_id": ac, "decision": "approved",
                              "version": version("attendance_corrections", "correction_id", ac)},
        "list_payslips": {**who, "from_month": "2025-12", "to_month": "2026-02"},
        "get_payslip": {"payslip_id": f"P{int(desk.member[1:]) + 9000}-2026-02"},
        "get_run": {"month": "2026-03"},
        "create_adjustment": {**who, "month": "2026-03", "kind": "bonus", "amount": 12500, "currency": "EUR",
                              "note": "spot award"},
        "create_balance": {**who, "leave_type": "ANNUAL", "year": 2027, "entitled_hundredths": 2500},
        "get_leave": {"request_id": lr},
        "create_leave": {**who, "leave_type": "SPECIAL", "from_date": "2026-11-16", "to_date": "2026-11-17"},
        "decide_leave": {"request_id": lr, "decision": "approved",
                         "version": version("leave_requests", "request_id", lr)},
        "cancel_leave": {"request_id": lr, "version": version("leave_requests", "request_id", lr)},
        "create_requisition": {"department_id": "D03", "title": "Engineer", "grade": "G5", "openings": 2,
                               "hiring_manager_id": desk.head},
        "update_requisition": {"requisition_id": rq, "version": version("requisitions", "requisition_id", rq),
                               "status": "on_hold"},
        "list_candidates": {"requisition_id": rq},
        "get_candidate": {"candidate_id": ca},
        "move_candidate": {"candidate_id": ca, "stage": "interview",
                           "version": version("candidates", "candidate_id", ca)},
        "create_grant": {**who, "right": "view_attendance", "department_id": "D03", "until": "2026-06-30"},
        "revoke_grant": {"grant_id": newest(desk, "access_grants", "grant_id")},
        "create_account": {**who, "system": "crm"},
        "close_account": {"account_id": newest(desk, "accounts", "account_id", "active")},
    }  # fmt: skip
    if name == "create_contract":
        table[name]["employee_id"] = desk.get("create_employee", **new)["employee_id"]
    if name in table:
        return table[name]
    return who if any(p.field.name == "employee_id" and p.required for p in BY_TOOL[name].parameters) else {}
