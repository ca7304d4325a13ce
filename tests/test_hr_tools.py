"""Each canonical tool of the company's API on the real snapshot: against the table of endpoints."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hr_desk import BY_NAME, NOW, Desk, given, ops

from agentgym.envs.hr.endpoints import ENDPOINTS
from agentgym.envs.hr.records import ENUMS, RECORDS, Field
from agentgym.tools import ToolError

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
