"""The seed data of the company: size, consistency, and the same bytes everywhere."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

import agentgym.envs.hr
from agentgym.changes import tables
from agentgym.envs.hr.seed import half_up, month_after, months_later
from agentgym.snapshot import build, expected_hash, logical_hash

FOLDER = Path(agentgym.envs.hr.__file__).parent
MODULE = "agentgym.envs.hr.world"
NOW = "2026-03-16T09:00:00Z"


@pytest.fixture(scope="module")
def firm() -> Iterator[sqlite3.Connection]:
    connection = build(FOLDER, MODULE)
    yield connection
    connection.close()


def count(firm: sqlite3.Connection, sql: str) -> int:
    return int(firm.execute(sql).fetchone()[0])


def test_the_committed_hash_is_the_hash_of_what_is_built(firm: sqlite3.Connection) -> None:
    assert logical_hash(firm) == expected_hash(FOLDER)


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_a_new_process_with_another_hash_seed_and_time_zone_builds_the_same(seed: str) -> None:
    code = (
        "import pathlib, agentgym.snapshot as s; "
        f"print(s.logical_hash(s.build(pathlib.Path({str(FOLDER)!r}), {MODULE!r})))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONUTF8": "0"}
    environment["PYTHONPATH"] = str(FOLDER.parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=120
    )
    assert done.stdout.strip() == expected_hash(FOLDER)


def test_the_company_is_large_enough_and_its_file_small_enough(firm: sqlite3.Connection) -> None:
    assert count(firm, "SELECT count(*) FROM employees WHERE status != 'left'") >= 400
    assert count(firm, "SELECT count(*) FROM employees WHERE status = 'left'") >= 60
    assert 15 <= count(firm, "SELECT count(*) FROM departments") <= 24
    assert count(firm, "SELECT count(DISTINCT month) FROM attendance_months") == 37
    assert count(firm, "SELECT count(DISTINCT currency) FROM payslips") == 3
    copy = sqlite3.connect(":memory:")
    firm.backup(copy)
    copy.execute("VACUUM")
    assert len(copy.serialize()) <= 4_000_000
    copy.close()


def test_building_takes_less_than_ten_seconds_of_processor_time() -> None:
    start = time.process_time()
    build(FOLDER, MODULE).close()
    assert time.process_time() - start < 10


def test_every_table_is_strict_and_has_no_real_column(firm: sqlite3.Connection) -> None:
    for name, table in tables(firm).items():
        assert not table.careful, name
        assert count(firm, f"SELECT strict FROM pragma_table_list WHERE name = '{name}'") == 1, name


def test_every_foreign_key_has_an_index_or_is_never_searched_by(firm: sqlite3.Connection) -> None:
    plans = {
        "SELECT 1 FROM employees WHERE department_id = 'D03'": "employees_department",
        "SELECT 1 FROM employees WHERE manager_id = 'E1'": "employees_manager",
        "SELECT 1 FROM memberships WHERE department_id = 'D03'": "memberships_department",
        "SELECT 1 FROM leave_requests WHERE employee_id = 'E1' AND from_date < 'x'": "leave_requests_employee",
        "SELECT 1 FROM adjustments WHERE employee_id = 'E1' AND month = 'x'": "adjustments_employee",
        "SELECT 1 FROM candidates WHERE requisition_id = 'RQ1'": "candidates_requisition",
        "SELECT 1 FROM accounts WHERE employee_id = 'E1'": "accounts_employee",
    }
    for sql, index in plans.items():
        assert any(index in row[3] for row in firm.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()), sql


def test_pay_slips_are_base_and_overtime_and_adjustments_as_the_policy_says(firm: sqlite3.Connection) -> None:
    """Worked out anew from the raw rows, without the views that the seed uses."""
    unpaid: dict[tuple[str, str], int] = {}
    away: dict[str, set[str]] = {}
    for person, first, last, paid in firm.execute(
        "SELECT employee_id, from_date, to_date, paid FROM leave_requests JOIN leave_types USING (leave_type) "
        "WHERE status = 'approved'"
    ).fetchall():
        one = date.fromisoformat(first)
        while one <= date.fromisoformat(last):
            day = one.isoformat()
            away.setdefault(person, set()).add(day)
            unpaid[person, day[:7]] = unpaid.get((person, day[:7]), 0) + (not paid)
            one += timedelta(1)
    fixed = {
        (person, day): minutes
        for person, day, minutes in firm.execute(
            "SELECT employee_id, day, overtime_minutes FROM attendance_corrections WHERE status = 'approved'"
        ).fetchall()
    }
    slips = firm.execute(
        "SELECT p.*, m.first_day, m.days FROM payslips p JOIN attendance_months m USING (employee_id, month) "
        "ORDER BY employee_id, month"
    ).fetchall()
    assert len(slips) == count(firm, "SELECT count(*) FROM payslips") > 14_000
    for person, month, base, overtime, adjustments, deductions, currency, first, days in slips[::7]:
        codes = [int(code) for code in days.strip("[]").split(",")]
        minutes = 0
        for number, code in enumerate(codes, first):
            day = f"{month}-{number:02}"
            normal = 0 if code < 4 or day in away.get(person, set()) else code % 1000
            minutes += fixed.get((person, day), normal)
        on = f"{month}-{first:02}"
        grade, site = firm.execute(
            "SELECT grade, site FROM pay_terms WHERE employee_id = ? AND valid_from <= ? "
            "ORDER BY valid_from DESC LIMIT 1",
            (person, on),
        ).fetchone()
        monthly, rate, percent = firm.execute(
            "SELECT monthly_base_minor, hourly_rate_minor, overtime_percent FROM grade_amounts "
            "WHERE site = ? AND grade = ? AND valid_from <= ? ORDER BY valid_from DESC LIMIT 1",
            (site, grade, on),
        ).fetchone()
        (weekly,) = firm.execute(
            "SELECT weekly_minutes FROM contracts WHERE employee_id = ? AND from_date <= ? "
            "ORDER BY from_date DESC LIMIT 1",
            (person, on),
        ).fetchone()
        length = (date.fromisoformat(f"{month_after(month)}-01") - date.fromisoformat(f"{month}-01")).days
        full = half_up(monthly * weekly, 2400)
        assert base == half_up(full * (len(codes) - unpaid.get((person, month), 0)), length), (person, month)
        assert overtime == half_up(minutes * rate * percent, 6000), (person, month)
        (added,) = firm.execute(
            "SELECT coalesce(sum(amount_minor), 0) FROM adjustments WHERE employee_id = ? AND month = ?",
            (person, month),
        ).fetchone()
        assert adjustments == added
        assert 0 <= deductions < max(1, base + overtime + adjustments)
        assert currency == {"Rotterdam": "EUR", "Leeds": "GBP", "Osaka": "JPY"}[site]


def test_everybody_has_a_slip_for_each_closed_month_of_employment(firm: sqlite3.Connection) -> None:
    closed = "SELECT month FROM payroll_runs WHERE status = 'closed'"
    employed = (
        f"SELECT employee_id, month FROM employees JOIN ({closed}) WHERE substr(hired_on, 1, 7) <= month "
        "AND coalesce(substr(left_on, 1, 7), '9999') >= month"
    )
    assert count(firm, f"SELECT count(*) FROM ({employed} EXCEPT SELECT employee_id, month FROM payslips)") == 0
    assert count(firm, f"SELECT count(*) FROM (SELECT employee_id, month FROM payslips EXCEPT {employed})") == 0


def test_leave_never_overlaps_and_costs_the_working_days_of_the_office(firm: sqlite3.Connection) -> None:
    alive = "status IN ('approved', 'pending')"
    twice = (
        f"SELECT count(*) FROM (SELECT * FROM leave_requests WHERE {alive}) a JOIN (SELECT * FROM leave_requests "
        f"WHERE {alive}) b USING (employee_id) WHERE a.request_id < b.request_id AND a.from_date <= b.to_date "
        "AND b.from_date <= a.to_date"
    )
    assert count(firm, twice) == 0
    free = {(site, day) for site, day in firm.execute("SELECT site, day FROM public_holidays").fetchall()}
    rows = firm.execute(
        "SELECT request_id, from_date, to_date, days_hundredths, site FROM leave_requests "
        "JOIN employees USING (employee_id)"
    ).fetchall()
    for request, first, last, cost, site in rows:
        start = date.fromisoformat(first)
        days = [start + timedelta(n) for n in range((date.fromisoformat(last) - start).days + 1)]
        working = sum(day.weekday() < 5 and (site, day.isoformat()) not in free for day in days)
        assert cost == 100 * working > 0, request
        assert first[:4] == last[:4], request


def test_nobody_took_more_than_granted_and_what_was_carried_was_left(firm: sqlite3.Connection) -> None:
    left = {
        (person, year): (granted - taken, granted)
        for person, year, granted, taken in firm.execute(
            "SELECT employee_id, year, entitled_hundredths, (SELECT coalesce(sum(days_hundredths), 0) "
            "FROM leave_requests r WHERE r.employee_id = b.employee_id AND r.leave_type = 'ANNUAL' "
            "AND r.status = 'approved' AND substr(r.from_date, 1, 4) = CAST(b.year AS TEXT)) "
            "FROM leave_balances b WHERE leave_type = 'ANNUAL' ORDER BY employee_id, year"
        ).fetchall()
    }
    assert min(rest for rest, _ in left.values()) >= 0
    whole = {"Rotterdam": 2500, "Leeds": 2800, "Osaka": 2000}
    years = firm.execute(
        "SELECT employee_id, year, carried_until, site FROM leave_balances JOIN employees USING (employee_id) "
        "WHERE leave_type = 'ANNUAL' AND year > 2023 AND hired_on < year || '-01-01' AND left_on IS NULL"
    ).fetchall()
    assert len(years) > 800
    for person, year, until, site in years:
        before = left.get((person, year - 1), (0, 0))[0]
        assert left[person, year][1] == whole[site] + min(500, before), (person, year)
        assert (until is not None) == (before > 0)


def test_contracts_and_departments_follow_each_other_without_gap_or_overlap(firm: sqlite3.Connection) -> None:
    for table in ("contracts", "memberships"):
        spells: dict[str, list[tuple[str, str | None]]] = {}
        for person, first, last in firm.execute(
            f"SELECT employee_id, from_date, to_date FROM {table} ORDER BY employee_id, from_date"
        ).fetchall():
            spells.setdefault(person, []).append((first, last))
        for person, hired, left in firm.execute("SELECT employee_id, hired_on, left_on FROM employees").fetchall():
            mine = spells[person]
            assert mine[0][0] == hired, (table, person)
            for (_, end), (start, _) in zip(mine, mine[1:], strict=False):
                assert end is not None and date.fromisoformat(end) + timedelta(1) == date.fromisoformat(start)
            assert mine[-1][1] is None or mine[-1][1] >= (left or NOW[:10]), (table, person)
    last = (
        "SELECT count(*) FROM employees e JOIN memberships m USING (employee_id) WHERE m.department_id != "
        "e.department_id AND m.from_date = (SELECT max(from_date) FROM memberships n WHERE n.employee_id = "
        "e.employee_id)"
    )
    assert count(firm, last) == 0
    recent = (
        "SELECT count(DISTINCT employee_id) FROM memberships WHERE to_date >= '2025-11-30' AND to_date < '2026-03-01'"
    )
    assert count(firm, recent) >= 10


def test_line_managers_lead_up_to_one_person(firm: sqlite3.Connection) -> None:
    above = dict(firm.execute("SELECT employee_id, manager_id FROM employees").fetchall())
    left = {row[0] for row in firm.execute("SELECT employee_id FROM employees WHERE status = 'left'").fetchall()}
    top = [person for person, manager in above.items() if manager is None]
    assert len(top) == 1
    for person in above:
        walk, step = person, 0
        while walk != top[0]:
            walk, step = above[walk], step + 1
            assert walk not in left and step < 6, person
    partners = "SELECT count(*) FROM departments d JOIN employees e ON e.employee_id = d.partner_id WHERE "
    assert count(firm, partners + "e.department_id = d.department_id OR e.status != 'active'") == 0


def test_probation_ends_the_day_before_the_day_six_months_later(firm: sqlite3.Connection) -> None:
    rows = firm.execute("SELECT from_date, probation_until FROM contracts WHERE probation_until IS NOT NULL").fetchall()
    assert len(rows) > 400
    for start, end in rows:
        assert date.fromisoformat(end) + timedelta(1) == date.fromisoformat(months_later(start, 6))


def test_nothing_is_entered_after_now(firm: sqlite3.Connection) -> None:
    for table, column in (
        ("leave_requests", "created_at"),
        ("adjustments", "created_at"),
        ("requisitions", "opened_on"),
        ("candidates", "applied_on"),
        ("employees", "hired_on"),
    ):
        assert count(firm, f"SELECT count(*) FROM {table} WHERE {column} > '{NOW}'") == 0, table


def test_series_of_ids_go_on_after_what_is_there_and_sort_as_text(firm: sqlite3.Connection) -> None:
    for table, key, prefix, sorts in (
        ("employees", "employee_id", "E", True),
        ("contracts", "contract_id", "K", True),
        ("attendance_corrections", "correction_id", "AC", True),
        ("adjustments", "adjustment_id", "AJ", True),
        ("leave_requests", "request_id", "LR", True),
        ("requisitions", "requisition_id", "RQ", True),
        ("candidates", "candidate_id", "CA", True),
        ("access_grants", "grant_id", "AG", True),
        ("accounts", "account_id", "AT", False),
    ):
        most = count(firm, f"SELECT max(CAST(substr({key}, {len(prefix) + 1}) AS INTEGER)) FROM {table}")
        assert count(firm, f"SELECT value FROM _counters WHERE name = '{prefix}'") >= most
        if sorts:
            assert count(firm, f"SELECT count(DISTINCT length({key})) FROM {table}") == 1, table


def test_there_are_people_for_every_role_and_traps_for_the_careless(firm: sqlite3.Connection) -> None:
    for title, least in (("Payroll Officer", 3), ("Recruiter", 3), ("HR Partner", 4)):
        assert count(firm, f"SELECT count(*) FROM employees WHERE title = '{title}' AND status = 'active'") >= least
    names = "SELECT count(*) FROM (SELECT name FROM employees WHERE status != 'left' GROUP BY name HAVING count(*) > 1)"
    assert count(firm, names) >= 10
    mixed = (
        "SELECT count(*) FROM (SELECT department_id FROM employees WHERE status != 'left' "
        "GROUP BY department_id HAVING count(DISTINCT site) > 1)"
    )
    assert count(firm, mixed) >= 3
    extra = (
        "SELECT count(*) FROM attendance WHERE worked_minutes > daily_minutes + overtime_minutes AND kind = 'worked'"
    )
    assert count(firm, extra) > 1000
    assert count(firm, "SELECT count(*) FROM leave_requests WHERE status = 'pending'") >= 30
    assert count(firm, "SELECT count(*) FROM attendance_corrections WHERE status = 'pending'") >= 10
