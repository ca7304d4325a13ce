"""What the company's API refuses, and how it says so, on the real snapshot."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hr_desk import BY_NAME, FOLDER, NOW, Desk, given, ops

from agentgym.envs.hr.answers import problem_of
from agentgym.envs.hr.endpoints import BY_TOOL, ENDPOINTS
from agentgym.envs.hr.problems import said
from agentgym.envs.hr.records import RECORDS
from agentgym.envs.hr.style import style, typed


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


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if e.keyed], ids=lambda endpoint: endpoint.tool)
def test_a_key_of_another_request_is_refused_by_the_name_that_the_api_gives_it(desk: Desk, endpoint: Any) -> None:
    desk.run("create_account", {**given(desk, "create_account"), "idempotency_key": "k{date:x}"})
    arguments = given(desk, endpoint.tool)
    if endpoint.tool == "create_account":
        arguments["system"] = "vpn"
    code, message = desk.error(endpoint.tool, **arguments, idempotency_key="k{date:x}")
    assert code == "unprocessable"
    assert message == '{idempotency_key} "k(date:x)" was already used for another request; use a new one'
    for seed in range(12):
        for style_ in (style(seed, seed % 4), typed(style(seed, seed % 4))):
            shown = problem_of(style_, json.dumps({"code": code, "message": message})).message
            assert shown.startswith(f'{style_.key_name} "k(date:x)" was already')
