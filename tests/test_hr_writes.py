"""What writes do in the company, on the real snapshot."""

from __future__ import annotations

from hr_desk import BY_NAME, Desk, given, newest, ops

from agentgym.world import parse_iso


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
