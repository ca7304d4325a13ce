"""Each canonical tool of the company's API on the real snapshot: against the table of endpoints, and for each error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agentgym.envs.hr
from agentgym.changes import Change
from agentgym.envs.hr.access import ROLE_RIGHTS
from agentgym.envs.hr.endpoints import BY_TOOL, ENDPOINTS
from agentgym.envs.hr.problems import STATUS, said
from agentgym.envs.hr.records import ENUMS, RECORDS, Field
from agentgym.envs.hr.tools import TOOLS
from agentgym.snapshot import build_file
from agentgym.tools import ToolError
from agentgym.world import World, parse_iso

FOLDER = Path(agentgym.envs.hr.__file__).parent
BY_NAME = {tool.name: tool for tool in TOOLS}
NOW = parse_iso("2026-03-16T09:00:00Z")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    file = tmp_path_factory.mktemp("hr") / "snapshot.db"
    build_file(FOLDER, file)
    world = World(file, BY_NAME)
    yield world
    world.close()


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


@pytest.fixture
def desk(opened: World) -> Desk:
    opened.reset({})
    return Desk(opened).act("hr_admin")


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


_SHAPES = {"date": r"\d{4}-\d\d-\d\d", "month": r"\d{4}-\d\d", "moment": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"}


def fits(field: Field, value: Any) -> bool:
    if value is None:
        return field.nullable
    if field.kind == "ids":
        return type(value) is list and all(type(entry) is str for entry in value)
    if field.kind.startswith("enum:"):
        return value in ENUMS[field.kind[5:]]
    if field.kind in ("int", "money", "minutes", "hundredths"):
        return type(value) is int
    if field.kind == "bool":
        return type(value) is bool
    return type(value) is str and re.fullmatch(_SHAPES.get(field.kind, ".*"), value) is not None


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.tool)
def test_every_endpoint_has_its_tool_and_gives_the_record_that_the_table_says(desk: Desk, endpoint: Any) -> None:
    tool = BY_NAME[endpoint.tool]
    assert tool.writes == endpoint.writes
    assert (tool.idempotency == "idempotency_key") == endpoint.keyed
    assert ("version" in tool.required) == endpoint.conditional
    assert ("page" in tool.checks) == endpoint.many
    required = {p.field.name for p in endpoint.parameters if p.required} | (
        {"version"} if endpoint.conditional else set()
    )
    assert tool.required == required
    value, changes = desk.run(endpoint.tool, given(desk, endpoint.tool))
    assert bool(ops(changes)) == endpoint.writes
    if endpoint.many:
        assert list(value) == ["items", "page", "page_size", "total"]
        assert value["total"] >= len(value["items"]) > 0
    fields = RECORDS[endpoint.returns]
    for record in value["items"] if endpoint.many else [value]:
        names = [field.name for field in fields if field.name in record or not field.confidential]
        assert list(record) == names
        for field in fields:
            assert field.name not in record or fits(field, record[field.name]), (field.name, record)
    json.dumps(value)


def test_every_page_of_a_list_together_holds_each_record_once(desk: Desk) -> None:
    for name in (endpoint.tool for endpoint in ENDPOINTS if endpoint.many):
        arguments = {**given(desk, name), "page_size": 7}
        found: list[Any] = []
        for page in range(1, 200):
            value, _ = desk.run(name, {**arguments, "page": page}, NOW + page * 61_000)
            found += value["items"]
            if len(value["items"]) < 7:
                break
            if page == 12:
                break
        else:
            raise AssertionError(name)
        assert len({json.dumps(item) for item in found}) == len(found), name
        whole, _ = desk.run(name, {**arguments, "page_size": 50}, NOW + 9_000_000)
        assert whole["items"] == found[:50], name
        assert desk.get(name, **{**arguments, "page": 90_000})["items"] == []


def test_a_department_by_day_is_its_people_one_after_the_other(desk: Desk) -> None:
    people = [e["employee_id"] for e in desk.get("list_employees", department_id="D11", page_size=50)["items"]]
    for first, last in (("2026-02-01", "2026-02-28"), ("2026-03-03", "2026-03-31"), ("2026-03-05", "2026-03-05")):
        wanted: list[Any] = []
        for who in people:
            if desk.value("SELECT status FROM employees WHERE employee_id = ?", who) != "left":
                wanted += desk.get("list_attendance", employee_id=who, from_date=first, to_date=last, page_size=50)[
                    "items"
                ]
        found: list[Any] = []
        for page in range(1, 60):
            value = desk.get(
                "list_attendance", department_id="D11", from_date=first, to_date=last, page=page, page_size=9
            )
            assert value["total"] == len(wanted)
            found += value["items"]
            if not value["items"]:
                break
        assert found == wanted
        assert max(row["day"] for row in found) < "2026-03-16"


def test_attendance_changes_with_approved_leave_and_corrections(desk: Desk) -> None:
    def day(on: str) -> Any:
        return desk.get("list_attendance", employee_id=desk.member, from_date=on, to_date=on)["items"][0]

    worked = desk.world.rows(
        "SELECT day FROM attendance WHERE employee_id = ? AND month = '2026-03' AND kind = 'worked' "
        "AND day < '2026-03-16' AND NOT corrected ORDER BY day",
        desk.member,
    )
    first, second = worked[0]["day"], worked[1]["day"]
    made = desk.get("create_leave", employee_id=desk.member, leave_type="SICK", from_date=first, to_date=first)
    assert day(first)["kind"] == "worked"
    desk.get("decide_leave", request_id=made["request_id"], decision="approved", version=made["version"])
    assert (day(first)["kind"], day(first)["worked_minutes"]) == ("sick", 0)
    fix = desk.get("create_correction", employee_id=desk.member, day=second, worked_minutes=600, overtime_minutes=75,
                   note="late shift")  # fmt: skip
    assert not day(second)["corrected"]
    desk.get("decide_correction", correction_id=fix["correction_id"], decision="approved", version=1)
    assert day(second) == {"employee_id": desk.member, "day": second, "kind": "worked", "worked_minutes": 600,
                           "overtime_minutes": 75, "corrected": True}  # fmt: skip
    assert desk.error("create_correction", employee_id=desk.member, day=first, worked_minutes=1, overtime_minutes=0,
                      note="x")[0] == "conflict"  # fmt: skip
    again = {"employee_id": desk.member, "day": second, "worked_minutes": 1, "overtime_minutes": 0, "note": "x"}
    assert fix["correction_id"] in desk.error("create_correction", **again)[1]


# Who may see and do what.


def test_an_employee_sees_their_own_pay_and_nobody_elses(desk: Desk) -> None:
    desk.act("employee")
    assert desk.get("get_pay", employee_id=desk.member)["currency"] == "EUR"
    assert (
        desk.get("list_payslips", page_size=50)["total"] == desk.get("list_payslips", employee_id=desk.member)["total"]
    )
    for name in ("get_pay", "list_pay_history", "list_payslips", "list_adjustments", "list_contracts", "list_balances",
                 "list_leave", "list_corrections", "list_grants", "list_accounts"):  # fmt: skip
        assert desk.error(name, employee_id=desk.other)[0] == "forbidden", name
        assert desk.get(name, employee_id=desk.member)
    slip = f"P{int(desk.other[1:]) + 9000}-2026-02"
    assert desk.error("get_payslip", payslip_id=slip)[0] == "forbidden"
    dates = {"from_date": "2026-02-01", "to_date": "2026-02-28"}
    assert desk.error("list_attendance", employee_id=desk.other, **dates)[0] == "forbidden"
    assert desk.error("list_attendance", department_id="D03", **dates)[0] == "forbidden"


def test_a_manager_reaches_the_departments_below_but_no_other(desk: Desk) -> None:
    over = str(desk.value("SELECT manager_id FROM departments WHERE department_id = 'D02'"))
    for who in (desk.head, over):
        desk.act("manager", who)
        assert desk.get("get_pay", employee_id=desk.member)
        assert desk.error("get_pay", employee_id=desk.other)[0] == "forbidden"
        assert "D03" in desk.get("get_me")["manages"]
    assert desk.get("get_me")["manages"] == ["D02", "D03", "D04", "D05", "D06"]
    for name, arguments in (
        ("create_adjustment", given(desk.act("hr_admin"), "create_adjustment")),
        ("change_grade", given(desk, "change_grade")),
        ("update_employee", given(desk, "update_employee")),
        ("delete_employee", {"employee_id": desk.member}),
        ("create_grant", given(desk, "create_grant")),
    ):
        assert desk.act("manager").error(name, **arguments)[0] == "forbidden", name


def test_a_team_lead_decides_on_leave_of_reports_and_does_not_see_their_pay(desk: Desk) -> None:
    lead = str(desk.value("SELECT manager_id FROM employees WHERE employee_id = ?", desk.member))
    assert lead != desk.head
    desk.act("manager", lead)
    assert desk.get("list_balances", employee_id=desk.member)["total"] >= 1
    assert desk.error("get_pay", employee_id=desk.member)[0] == "forbidden"
    assert desk.member in {row["employee_id"] for row in desk.get("list_leave", page_size=50)["items"]} or desk.get(
        "list_leave", employee_id=desk.member
    )


def test_an_hr_partner_reaches_their_departments_and_gives_no_rights_of_pay(desk: Desk) -> None:
    desk.act("hr_partner")
    mine = desk.get("get_me")["partner_of"]
    assert "D03" in mine and "D08" not in mine
    assert desk.get("get_pay", employee_id=desk.member)
    assert desk.error("get_pay", employee_id=desk.other)[0] == "forbidden"
    assert desk.error("create_grant", employee_id=desk.member, right="view_pay", department_id="D03")[0] == "forbidden"
    assert desk.get("create_grant", employee_id=desk.member, right="recruit", department_id="D03")["right"] == "recruit"
    seen = {row["employee_id"] for row in desk.get("list_payslips", from_month="2026-02", page_size=50)["items"]}
    homes = {
        desk.value("SELECT department_id FROM employees WHERE employee_id = ?", who) for who in seen - {desk.partner}
    }
    assert homes <= set(mine)


def test_grants_add_rights_until_they_end(desk: Desk) -> None:
    desk.get("create_grant", employee_id=desk.member, right="view_pay", department_id="D08", until="2026-03-16")
    desk.act("employee")
    assert desk.get("get_pay", employee_id=desk.other)
    later = NOW + 86_400_000
    result, _ = desk.world.call("get_pay", BY_NAME["get_pay"].validate({"employee_id": desk.other}), later)
    assert not result.ok


def test_confidential_fields_are_shown_by_role(desk: Desk) -> None:
    wanted = {
        ("employee", "member"): {"grade", "birth_date", "national_id", "bank_account"},
        ("employee", "other"): set(),
        ("manager", "member"): {"grade"},
        ("hr_partner", "member"): {"grade", "birth_date"},
        ("payroll_officer", "other"): {"grade", "national_id", "bank_account"},
        ("recruiter", "other"): set(),
        ("hr_admin", "other"): {"grade", "birth_date", "national_id", "bank_account"},
    }
    secret = {field.name for field in RECORDS["employee"] if field.confidential}
    for (role, whom), fields in wanted.items():
        record = desk.act(role).get("get_employee", employee_id=getattr(desk, whom))
        assert secret & record.keys() == fields, (role, whom)
        listed = desk.get("list_employees", department_id="D03")["items"][0]
        assert not secret & listed.keys()


def test_the_reason_of_sick_leave_is_for_hr_and_the_person(desk: Desk) -> None:
    row = desk.world.rows(
        "SELECT request_id, r.employee_id FROM leave_requests r JOIN employees e USING (employee_id) "
        "WHERE leave_type = 'SICK' AND e.department_id = 'D03' AND e.status = 'active' AND e.title NOT LIKE 'Head%' "
        "ORDER BY 1 DESC LIMIT 1"
    )[0]
    shown = {
        role: "reason" in desk.act(role).get("get_leave", request_id=row["request_id"])
        for role in ("manager", "hr_partner", "hr_admin")
    }
    assert shown == {"manager": False, "hr_partner": True, "hr_admin": True}
    assert "reason" in desk.act("employee", row["employee_id"]).get("get_leave", request_id=row["request_id"])


def test_candidates_hide_pay_and_checks_from_hiring_managers(desk: Desk) -> None:
    position = newest(desk, "requisitions", "requisition_id", "status = 'open'")
    boss = str(desk.value("SELECT hiring_manager_id FROM requisitions WHERE requisition_id = ?", position))
    hidden = {"expected_pay", "background_note"}
    for role, who, seen in (("recruiter", "", hidden), ("manager", boss, set()), ("hr_admin", "", hidden)):
        desk.act(role, who)
        listed = desk.get("list_candidates", requisition_id=position)["items"]
        assert all(hidden & row.keys() == seen for row in listed)
        assert hidden & desk.get("get_candidate", candidate_id=listed[0]["candidate_id"]).keys() == seen
    assert desk.act("employee").error("list_candidates", requisition_id=position)[0] == "forbidden"
    assert desk.get("list_requisitions")["total"] == 0


def test_every_role_has_its_rights_written_down() -> None:
    assert set(ROLE_RIGHTS) == set(ENUMS["role"])
    assert {right for rights in ROLE_RIGHTS.values() for right in rights} == set(ENUMS["access"])


# Errors.


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if e.conditional], ids=lambda endpoint: endpoint.tool)
def test_an_old_version_is_refused_and_the_new_one_named(desk: Desk, endpoint: Any) -> None:
    arguments = given(desk, endpoint.tool)
    code, message = desk.error(endpoint.tool, **{**arguments, "version": arguments["version"] + 1})
    assert code == "version_conflict"
    assert str(arguments["version"]) in message


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if e.keyed], ids=lambda endpoint: endpoint.tool)
def test_a_repeated_key_writes_once(desk: Desk, endpoint: Any) -> None:
    arguments = {**given(desk, endpoint.tool), "idempotency_key": "k1"}
    first, changes = desk.run(endpoint.tool, arguments)
    again, none = desk.run(endpoint.tool, arguments)
    assert first == again
    assert ops(changes) and not ops(none)


ABSENT = {"employee_id": "E9999", "department_id": "D99", "correction_id": "AC9", "payslip_id": "P10042-1999-01",
          "request_id": "LR9", "requisition_id": "RQ9", "candidate_id": "CA9", "grant_id": "AG9",
          "account_id": "AT9"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "field"),
    [(e.tool, p.field.name) for e in ENDPOINTS for p in e.parameters if p.place == "path" and p.field.name in ABSENT],
)
def test_what_is_not_there_is_not_found(desk: Desk, name: str, field: str) -> None:
    code, message = desk.error(name, **{**given(desk, name), field: ABSENT[field]})
    assert code == "not_found"
    assert f"{{{field}}}" in message and ABSENT[field] in message


ERRORS: list[tuple[str, dict[str, Any], str, str]] = [
    ("list_employees", {"page": 0}, "bad_request", "no page 0"),
    ("list_employees", {"page_size": 51}, "bad_request", "not 51"),
    ("create_employee", {"email": "ada"}, "unprocessable", "{email}"),
    ("create_employee", {"name": "  "}, "unprocessable", "{name}"),
    ("create_employee", {"hired_on": "2026-02-30"}, "unprocessable", "{hired_on}"),
    ("create_employee", {"cost_centre": "CC1"}, "unprocessable", "{cost_centre}"),
    ("create_employee", {"site": "Oslo"}, "unprocessable", "{site}"),
    ("create_employee", {"department_id": "D99"}, "unprocessable", "{department_id}"),
    ("create_employee", {"manager_id": "E9999"}, "unprocessable", "{manager_id}"),
    ("create_employee", {"manager_id": "=left"}, "conflict", "has left"),
    ("create_employee", {"email": "=taken"}, "conflict", "belongs to"),
    ("update_employee", {"title": None}, "unprocessable", "nothing is given"),
    ("update_employee", {"manager_id": "=member"}, "conflict", "{manager_id}"),
    ("update_employee", {"status": "left"}, "unprocessable", "{left_on}"),
    ("update_employee", {"status": "left", "left_on": "2026-03-31"}, "conflict", "{date:2026-03-31}"),
    ("update_employee", {"left_on": "2026-03-31"}, "unprocessable", "does not go with"),
    ("update_employee", {"status": "notice_given", "left_on": "1999-01-31"}, "unprocessable", "lies before"),
    ("bulk_update_employees", {"manager_id": "E1007"}, "unprocessable", "exactly one"),
    ("bulk_update_employees", {"employee_ids": []}, "unprocessable", "{employee_ids}"),
    ("bulk_update_employees", {"employee_ids": ["E1007", "E1007"]}, "unprocessable", "each once"),
    ("bulk_update_employees", {"employee_ids": ["E9999"]}, "unprocessable", "E9999"),
    ("bulk_update_employees", {"employee_ids": ["=left"]}, "conflict", "left on"),
    ("bulk_update_employees", {"cost_centre": "CC1"}, "unprocessable", "{cost_centre}"),
    ("delete_employee", {"employee_id": "=head"}, "conflict", "must stay"),
    ("delete_employee", {"employee_id": "=admin"}, "conflict", "must stay"),
    ("list_members", {"from_date": None}, "unprocessable", "needs {from_date}"),
    ("list_members", {"to_date": "2025-01-01"}, "unprocessable", "{to_date} lies before {from_date}"),
    ("create_contract", {"employee_id": "=left"}, "conflict", "left on"),
    ("create_contract", {"type": "fixed_term"}, "unprocessable", "{enum:contract:fixed_term}"),
    ("create_contract", {"to_date": "2027-01-01"}, "unprocessable", "has no {to_date}"),
    ("create_contract", {"weekly_minutes": 9999}, "unprocessable", "{weekly_minutes}"),
    ("create_contract", {"grade": "G77"}, "unprocessable", "G77"),
    ("create_contract", {"probation_until": "2026-01-01"}, "unprocessable", "{probation_until}"),
    ("create_contract", {"from_date": "1999-01-01"}, "conflict", "{from_date}"),
    ("create_contract", {"employee_id": "=member"}, "conflict", "already"),
    ("change_grade", {"valid_from": "2026-04-02"}, "unprocessable", "{date:2026-04-02}"),
    ("change_grade", {"grade": "G77"}, "unprocessable", "G77"),
    ("change_grade", {"valid_from": "1999-01-01"}, "conflict", "no grade"),
    ("change_grade", {"note": ""}, "unprocessable", "{note}"),
    ("list_attendance", {"department_id": "D03"}, "bad_request", "exactly one"),
    ("list_attendance", {"employee_id": None}, "bad_request", "exactly one"),
    ("list_attendance", {"to_date": "2026-03-01"}, "unprocessable", "one calendar month"),
    ("list_attendance", {"from_date": "2026-2-1"}, "unprocessable", "{from_date}"),
    ("get_attendance_summary", {"month": "2026-13"}, "unprocessable", "{month}"),
    ("create_correction", {"day": "2026-03-16"}, "conflict", "not over"),
    ("create_correction", {"day": "2020-03-16"}, "conflict", "no attendance"),
    ("create_correction", {"overtime_minutes": 121}, "unprocessable", "{overtime_minutes}"),
    ("create_correction", {"worked_minutes": 1441}, "unprocessable", "{worked_minutes}"),
    ("get_pay", {"on": "1999-01-01"}, "not_found", "{date:1999-01-01}"),
    ("list_payslips", {"to_month": "2024-01"}, "unprocessable", "{to_month} lies before {from_month}"),
    ("get_run", {"month": "1999-01"}, "not_found", "{month}"),
    ("create_adjustment", {"month": "2026-02"}, "conflict", "{enum:run:closed}"),
    ("create_adjustment", {"month": "2027-02"}, "not_found", "2027-02"),
    ("create_adjustment", {"currency": "GBP"}, "unprocessable", "paid in EUR"),
    ("create_adjustment", {"amount": 0}, "unprocessable", "{amount}"),
    ("create_adjustment", {"employee_id": "=left"}, "conflict", "not employed"),
    ("create_balance", {"year": 2026}, "conflict", "already"),
    ("create_balance", {"leave_type": "SICK"}, "unprocessable", "no balance"),
    ("create_balance", {"leave_type": "NONE"}, "unprocessable", "NONE"),
    ("create_balance", {"entitled_hundredths": -1}, "unprocessable", "{entitled_hundredths}"),
    ("create_leave", {"to_date": "2026-11-15"}, "unprocessable", "lies before"),
    ("create_leave", {"to_date": "2027-01-05"}, "unprocessable", "calendar year"),
    ("create_leave", {"from_date": "2026-11-14", "to_date": "2026-11-15"}, "conflict", "no working day"),
    ("create_leave", {"leave_type": "ANNUAL", "to_date": "2026-12-31"}, "conflict", "{hundredths:"),
    ("create_leave", {"employee_id": "=left"}, "conflict", "not employed"),
    ("create_requisition", {"openings": 0}, "unprocessable", "{openings}"),
    ("create_requisition", {"grade": "G0"}, "unprocessable", "G0"),
    ("create_requisition", {"hiring_manager_id": "=left"}, "conflict", "has left"),
    ("update_requisition", {"status": None}, "unprocessable", "nothing is given"),
    ("update_requisition", {"status": "filled"}, "conflict", "{enum:requisition:filled}"),
    ("create_grant", {"department_id": "D99"}, "unprocessable", "{department_id}"),
    ("create_grant", {"until": "2026-03-01"}, "unprocessable", "{until}"),
    ("create_grant", {"right": "view_directory", "department_id": None}, "conflict", "already"),
    ("create_account", {"system": "mail"}, "conflict", "already"),
    ("create_account", {"employee_id": "=left"}, "conflict", "has left"),
    ("read_docs", {"section": "no such page"}, "not_found", "no such page"),
]


@pytest.mark.parametrize(("name", "change", "code", "words"), ERRORS, ids=lambda value: str(value)[:40])
def test_what_cannot_be_done_is_said(desk: Desk, name: str, change: dict[str, Any], code: str, words: str) -> None:
    left = str(desk.value("SELECT employee_id FROM employees WHERE status = 'left' ORDER BY 1 LIMIT 1"))
    stand = {"=left": left, "=member": desk.member, "=head": desk.head, "=admin": desk.admin,
             "=taken": desk.value("SELECT email FROM employees WHERE employee_id = ?", desk.head)}  # fmt: skip
    arguments = given(desk, name) if name in BY_TOOL else {}
    for key, value in change.items():
        arguments[key] = [stand.get(v, v) for v in value] if isinstance(value, list) else stand.get(str(value), value)
    found = desk.error(name, **arguments)
    assert found[0] == code and words in found[1], found


def test_messages_name_fields_and_values_only_by_placeholders() -> None:
    source = "".join((FOLDER / f"{name}.py").read_text() for name in ("tools_people", "tools_time", "tools_leave",
                     "tools_pay", "tools_hiring", "tools_contracts", "canonical", "access", "problems"))  # fmt: skip
    names = {field.name for fields in RECORDS.values() for field in fields if "_" in field.name}
    names |= set(BY_TOOL)
    for message in re.findall(r'refused\(\s*"[a-z_]+",\s*f?"((?:[^"\\]|\\.)*)"', source):
        bare = re.sub(r"\{\{?[^{}]*\}?\}", "", message)
        assert not [name for name in names if name in bare], message
    assert said({"a": 1}) == '("a": 1)'


def test_calls_beyond_the_limit_are_refused_until_the_next_minute(desk: Desk) -> None:
    arguments = given(desk, "bulk_update_employees")
    for _ in range(BY_TOOL["bulk_update_employees"].limit):
        desk.run("bulk_update_employees", arguments, NOW)
    valid = BY_NAME["bulk_update_employees"].validate(arguments)
    result, changes = desk.world.call("bulk_update_employees", valid, NOW + 1500)
    problem = json.loads(result.error)
    assert (problem["status"], problem["details"]) == (429, {"retry_after_s": 59})
    assert changes == []
    desk.run("bulk_update_employees", arguments, NOW + 60_000)


# What writes do.


def test_onboarding_in_five_writes(desk: Desk) -> None:
    desk.act("hr_partner")
    made, changes = desk.run("create_employee", given(desk.act("hr_admin"), "create_employee"))
    assert ops(changes) == [("employees", "insert"), ("memberships", "insert")]
    desk.act("hr_partner")
    who = {"employee_id": made["employee_id"]}
    assert made["grade"] is None and made["birth_date"] is None and made["status"] == "active"
    contract = {**who, "type": "permanent", "from_date": "2026-04-01", "weekly_minutes": 1920, "grade": "G5",
                "probation_until": "2026-09-30"}  # fmt: skip
    assert desk.get("create_contract", **contract)["contract_id"].startswith("K")
    assert desk.get("create_balance", **who, leave_type="ANNUAL", year=2026, entitled_hundredths=1900) == {
        **who, "leave_type": "ANNUAL", "year": 2026, "entitled_hundredths": 1900, "taken_hundredths": 0,
        "left_hundredths": 1900, "carried_until": None,
    }  # fmt: skip
    desk.get("create_grant", **who, right="view_directory")
    desk.get("create_account", **who, system="mail")
    pay = desk.get("get_pay", **who, on="2026-04-01")
    full = desk.value(
        "SELECT monthly_base_minor FROM grade_amounts WHERE site = 'Rotterdam' AND grade = 'G5' AND valid_to IS NULL"
    )
    assert pay["monthly_base"] == (full * 1920 * 2 + 2400) // 4800
    assert desk.get("get_employee", **who)["version"] == 2
    assert made["employee_id"] in {m["employee_id"] for m in desk.get("list_members", department_id="D03",
                                   from_date="2026-04-01", page_size=50)["items"]}  # fmt: skip


def test_a_grade_change_splits_the_history_and_leaves_slips_alone(desk: Desk) -> None:
    before = desk.get("list_pay_history", employee_id=desk.member)["items"]
    old, slips = before[-1], desk.get("list_payslips", employee_id=desk.member, page_size=50)
    step = f"G{int(old['grade'][1:]) + 1}"
    start = max("2026-01-01", old["valid_from"])
    arguments = {"employee_id": desk.member, "grade": step, "note": "review", "version": desk.version(desk.member)}
    found, changes = desk.run("change_grade", {**arguments, "valid_from": "2026-02-01"})
    assert ops(changes) == [("employees", "update"), ("pay_terms", "insert")]
    assert (found["grade"], found["valid_from"], found["valid_to"]) == (step, "2026-02-01", None)
    after = desk.get("list_pay_history", employee_id=desk.member)["items"]
    if start < "2026-02-01":
        assert after[-2] == {**old, "valid_to": "2026-01-31"}
    assert desk.get("list_payslips", employee_id=desk.member, page_size=50) == slips
    again = {**arguments, "version": desk.version(desk.member)}
    assert desk.error("change_grade", **again, valid_from="2026-02-01")[1].endswith("already")
    assert "{date:2026-02-01}" in desk.error("change_grade", **again, valid_from="2026-01-01")[1]


def test_leaving_closes_the_membership_and_then_the_record(desk: Desk) -> None:
    who = {"employee_id": desk.member}
    found, changes = desk.run("update_employee", {**who, "version": desk.version(desk.member), "status": "notice_given",
                              "left_on": "2026-03-15"})  # fmt: skip
    assert ops(changes) == [("employees", "update"), ("memberships", "update")]
    back = desk.get("update_employee", **who, version=found["version"], status="active")
    assert back["left_on"] is None
    assert desk.value("SELECT max(coalesce(to_date, '9')) FROM memberships WHERE employee_id = ?", desk.member) == "9"
    gone = desk.get("update_employee", **who, version=back["version"], status="left", left_on="2026-03-15")
    assert "left on" in desk.error("update_employee", **who, version=gone["version"], title="x")[1]


def test_a_move_to_another_department_keeps_the_history(desk: Desk) -> None:
    people = desk.get("get_department", department_id="D03")["headcount"]
    desk.get("update_employee", employee_id=desk.member, version=desk.version(desk.member), department_id="D04",
             manager_id=str(desk.value("SELECT manager_id FROM departments WHERE department_id = 'D04'")))  # fmt: skip
    assert desk.get("get_department", department_id="D03")["headcount"] == people - 1
    spells = desk.world.rows(
        "SELECT department_id, from_date, to_date FROM memberships WHERE employee_id = ? "
        "ORDER BY from_date DESC LIMIT 2",
        desk.member,
    )
    assert spells[0] == {"department_id": "D04", "from_date": "2026-03-16", "to_date": None}
    assert (spells[1]["department_id"], spells[1]["to_date"]) == ("D03", "2026-03-15")


def test_a_bulk_change_touches_the_people_named_or_nobody(desk: Desk) -> None:
    arguments = {"employee_ids": [desk.member, desk.other], "cost_centre": "CC130"}
    found, changes = desk.run("bulk_update_employees", arguments)
    assert found == {"updated": [desk.other], "unchanged": [desk.member]}
    assert ops(changes) == [("employees", "update")]
    desk.act("hr_partner")
    assert (
        desk.error("bulk_update_employees", employee_ids=[desk.member, desk.other], cost_centre="CC905")[0]
        == "forbidden"
    )


def test_erasing_somebody_takes_everything_of_theirs(desk: Desk) -> None:
    leaver = given(desk, "delete_employee")["employee_id"]
    desk.run("delete_employee", {"employee_id": leaver})
    for table in (
        "memberships",
        "contracts",
        "pay_terms",
        "attendance_months",
        "leave_requests",
        "payslips",
        "accounts",
    ):
        assert desk.value(f"SELECT count(*) FROM {table} WHERE employee_id = ?", leaver) == 0
    assert desk.world.rows("PRAGMA foreign_key_check") == []


def test_taking_leave_back_gives_the_days_back(desk: Desk) -> None:
    def left() -> int:
        found = desk.get("list_balances", employee_id=desk.member)["items"]
        return int(next(row["left_hundredths"] for row in found if row["leave_type"] == "ANNUAL"))

    desk.world.apply(
        {
            "leave_balances": [
                {"employee_id": desk.member, "leave_type": "ANNUAL", "year": 2026, "entitled_hundredths": 6000}
            ]
        },
        "event",
    )
    before = left()
    made = desk.get("create_leave", employee_id=desk.member, leave_type="ANNUAL", from_date="2026-11-16",
                    to_date="2026-11-20")  # fmt: skip
    assert (made["days_hundredths"], left()) == (500, before)
    done = desk.get("decide_leave", request_id=made["request_id"], decision="approved", version=1)
    assert left() == before - 500
    again = {"request_id": made["request_id"], "version": done["version"]}
    assert "{enum:decision:approved}" in desk.error("decide_leave", **again, decision="rejected")[1]
    overlap = desk.error("create_leave", employee_id=desk.member, leave_type="UNPAID", from_date="2026-11-20",
                         to_date="2026-11-23")  # fmt: skip
    assert overlap[0] == "conflict" and made["request_id"] in overlap[1]
    gone = desk.act("employee").get("cancel_leave", **again)
    assert (gone["status"], left()) == ("cancelled", before)
    assert desk.error("cancel_leave", request_id=made["request_id"], version=gone["version"])[0] == "conflict"
    past = desk.world.rows("SELECT request_id, version FROM leave_requests WHERE employee_id = ? "
                           "AND status = 'approved' AND from_date < '2026-01-01' LIMIT 1", desk.member)[0]  # fmt: skip
    assert "began on" in desk.error("cancel_leave", **past)[1]


def test_a_run_takes_nothing_after_its_cut_off(desk: Desk) -> None:
    def status(now: str) -> str:
        return str(desk.run("get_run", {"month": "2026-03"}, parse_iso(now))[0]["status"])

    assert (status("2026-03-20T23:00:00Z"), status("2026-03-21T00:00:00Z")) == ("open", "cut_off")
    listed, _ = desk.run("list_runs", {"status": "cut_off"}, parse_iso("2026-03-21T00:00:00Z"))
    assert [run["month"] for run in listed["items"]] == ["2026-03"]
    valid = BY_NAME["create_adjustment"].validate(given(desk, "create_adjustment"))
    result, _ = desk.world.call("create_adjustment", valid, parse_iso("2026-03-21T00:00:00Z"))
    assert "{enum:run:cut_off}" in result.error


def test_hiring_fills_the_position_and_ends_there(desk: Desk) -> None:
    position = newest(desk, "requisitions", "requisition_id", "status = 'open'")
    desk.world.apply({"requisitions": {position: {"openings": 1, "filled": 0}}}, "event")
    rows = desk.world.rows(
        "SELECT candidate_id, version FROM candidates WHERE requisition_id = ? AND stage NOT IN "
        "('offer', 'hired', 'withdrawn', 'turned_down') ORDER BY 1 LIMIT 2",
        position,
    )
    desk.act("recruiter")
    found, changes = desk.run("move_candidate", {**rows[0], "stage": "hired"})
    assert ops(changes) == [("candidates", "update"), ("requisitions", "update")]
    assert desk.value("SELECT status FROM requisitions WHERE requisition_id = ?", position) == "filled"
    assert "nobody can be taken on" in desk.error("move_candidate", **rows[1], stage="offer")[1]
    assert "stays there" in desk.error("move_candidate", candidate_id=found["candidate_id"], version=found["version"],
                                       stage="screening")[1]  # fmt: skip


def test_the_summary_rounds_each_day_up(desk: Desk) -> None:
    days = desk.world.rows(
        "SELECT overtime_minutes AS m FROM attendance WHERE employee_id = ? AND month = '2026-02'", desk.member
    )
    hours = desk.get("get_attendance_summary", employee_id=desk.member, month="2026-02")["overtime_hours"]
    assert hours == sum(-(-row["m"] // 60) for row in days)


def test_the_documentation_is_that_of_the_episode_s_spelling(desk: Desk) -> None:
    desk.world.apply({"api_style": {1: {"seed": 7, "level": 2}}}, "event")
    first = desk.get("list_docs")
    pages = [desk.get("read_docs", section=entry["section"]) for entry in first["sections"]]
    assert all(len(page) > 100 for page in pages)
    desk.world.apply({"api_style": {1: {"seed": 8, "level": 2}}}, "event")
    assert [desk.get("read_docs", section=e["section"]) for e in desk.get("list_docs")["sections"]] != pages


def test_a_schema_error_is_raised_before_the_world_is_reached() -> None:
    with pytest.raises(ToolError, match="status must be one of"):
        BY_NAME["list_employees"].validate({"status": "retired"})
