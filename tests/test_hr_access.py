"""Who may see and do what in the company's API, on the real snapshot."""

from __future__ import annotations

from hr_desk import BY_NAME, NOW, Desk, given, newest

from agentgym.envs.hr.access import ROLE_RIGHTS
from agentgym.envs.hr.records import ENUMS, RECORDS


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


def test_corrections_are_asked_for_by_the_person_and_by_those_who_decide_on_them(desk: Desk) -> None:
    fix = {"employee_id": desk.member, "day": "2026-03-10", "worked_minutes": 480, "overtime_minutes": 0, "note": "x"}
    desk.get("create_grant", employee_id=desk.other, right="view_attendance", department_id="D03")
    lead = str(desk.value("SELECT manager_id FROM employees WHERE employee_id = ?", desk.member))
    for role, who in (("payroll_officer", ""), ("employee", desk.other), ("recruiter", "")):
        assert desk.act(role, who).error("create_correction", **fix)[0] == "forbidden", role
    dates = {"from_date": fix["day"], "to_date": fix["day"]}
    assert desk.act("employee", desk.other).get("list_attendance", employee_id=desk.member, **dates)
    days = iter(["2026-03-03", "2026-03-04", "2026-03-05", "2026-03-06", "2026-03-09", "2026-03-10"])
    for role, who in (("employee", ""), ("manager", ""), ("manager", lead), ("hr_partner", ""), ("hr_admin", "")):
        made = desk.act(role, who).get("create_correction", **{**fix, "day": next(days)})
        assert made["status"] == "pending", role
    for right in ("decide_leave", "administer"):
        desk.act("hr_admin").get("create_grant", employee_id=desk.other, right=right, department_id="D03")
        desk.world.apply({"attendance_corrections": {made["correction_id"]: {"status": "rejected"}}}, "event")
        made = desk.act("employee", desk.other).get("create_correction", **{**fix, "day": made["day"]})
        assert made["requested_by"] == desk.other


def test_whoever_changes_a_grade_without_seeing_pay_is_told_no_pay(desk: Desk) -> None:
    change = given(desk, "change_grade")
    amounts = {"monthly_base", "hourly_rate"}
    assert {field.name for field in RECORDS["pay_structure"] if field.confidential} == amounts
    desk.get("create_grant", employee_id=desk.other, right="change_pay", department_id="D03")
    desk.act("employee", desk.other)
    assert desk.error("get_pay", employee_id=desk.member)[0] == "forbidden"
    made = desk.get("change_grade", **change)
    assert made["grade"] == change["grade"] and not amounts & made.keys()
    # The same grade again: that it is this one already is not told.
    again = desk.get("change_grade", **{**change, "version": change["version"] + 1})
    assert again == made
    desk.act("hr_admin")
    assert "already" in desk.error("change_grade", **{**change, "version": change["version"] + 2})[1]
    seen = desk.get("change_grade", **{**change, "version": change["version"] + 2, "valid_from": "2026-05-01",
                                       "grade": "G1"})  # fmt: skip
    assert amounts <= seen.keys()
