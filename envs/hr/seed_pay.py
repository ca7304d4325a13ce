"""Payroll runs, adjustments and pay slips, computed from attendance and pay as the policy says."""

from __future__ import annotations

import sqlite3

from agentgym.envs.hr.seed import FIRST_MONTH, NOW, Seed, half_up, last_of, later, month_after, month_range
from agentgym.envs.hr.seed_people import Person

CLOSED = "2026-02"
"""The last month whose run is closed."""


def runs(seed: Seed) -> None:
    """A payroll run for each month up to the next one."""
    for month in month_range(FIRST_MONTH, month_after(CLOSED, 2)):
        seed.add("payroll_runs", month=month, run_id=f"PR{month}", cut_off=f"{month}-20", pay_day=f"{month}-27",
                 status="closed" if month <= CLOSED else "open")  # fmt: skip


def adjustments(seed: Seed, found: list[Person]) -> None:
    """Bonuses, corrections and repayments; a few of the month that is open."""
    officers = [p for p in found if p.row["title"] == "Payroll Officer"]
    currency = {row["site"]: row["currency"] for row in seed.rows["sites"]}
    notes = {"bonus": "yearly bonus", "correction": "travel allowance was missing", "repayment": "advance paid back",
             "overtime": "overtime of a closed month"}  # fmt: skip
    rows = []
    for index in range(230):
        person = seed.pick(found)
        first = max(FIRST_MONTH, month_after(person.row["hired_on"][:7]))
        month = f"{2024 + seed.draw(3)}-03" if index < 70 else seed.pick(list(month_range(FIRST_MONTH, "2026-03")))
        if not first <= month <= (person.row["left_on"] or "2026-03")[:7]:
            continue
        kind = "bonus" if index < 70 else seed.pick(("correction", "correction", "repayment", "overtime"))
        # In cents, and of much the same worth in yen, which have none.
        amount = 2000 + 25 * seed.draw(400) if kind != "bonus" else 25000 + 500 * seed.draw(300)
        day = min(f"{month}-{2 + seed.draw(17):02}", later(NOW, -1))
        rows.append(
            {"adjustment_id": "", "employee_id": person.id, "month": month, "kind": kind,
             "amount_minor": -amount if kind == "repayment" else amount, "currency": currency[person.row["site"]],
             "note": notes[kind], "entered_by": seed.pick(officers).id, "created_at": f"{day}T{seed.clock()}"}
        )  # fmt: skip
    rows.sort(key=lambda row: (row["created_at"], row["employee_id"]))
    for row in rows:
        row["adjustment_id"] = seed.next_id("AJ")
    seed.rows["adjustments"] = rows


def slips(connection: sqlite3.Connection) -> None:
    """Write a pay slip for every person and closed month, from what the database holds of them."""
    overtime = _overtime(connection)
    unpaid = _unpaid(connection)
    added: dict[tuple[str, str], int] = {}
    for person, month, amount in connection.execute("SELECT employee_id, month, amount_minor FROM adjustments"):
        added[person, month] = added.get((person, month), 0) + amount
    percent = dict(connection.execute("SELECT site, deduction_percent FROM sites").fetchall())
    terms: dict[str, list[tuple[str, str, int, int, int, str]]] = {}
    for person, start, end, *pay in connection.execute(
        "SELECT employee_id, valid_from, coalesce(valid_to, '9999-12-31'), monthly_base_minor, hourly_rate_minor, "
        "overtime_percent, currency FROM pay_periods ORDER BY employee_id, valid_from"
    ):
        terms.setdefault(person, []).append((start, end, *pay))
    people = connection.execute(
        "SELECT employee_id, month, first_day, json_array_length(days), site FROM attendance_months "
        f"JOIN employees USING (employee_id) WHERE month <= '{CLOSED}' ORDER BY employee_id, month"
    ).fetchall()
    for person, month, first, days, site in people:
        day = f"{month}-{first:02}"
        base, rate, share, currency = next(p[2:] for p in terms[person] if p[0] <= day <= p[1])
        length = int(last_of(month)[8:])
        paid = half_up(base * (days - unpaid.get((person, month), 0)), length)
        over = half_up(overtime.get((person, month), 0) * rate * share, 6000)
        extra = added.get((person, month), 0)
        # Nothing is kept back from a slip that is below zero.
        kept = half_up(max(0, paid + over + extra) * percent[site], 100)
        connection.execute(
            "INSERT INTO payslips VALUES (?, ?, ?, ?, ?, ?, ?)", (person, month, paid, over, extra, kept, currency)
        )


def _overtime(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    rows = connection.execute("SELECT employee_id, month, sum(overtime_minutes) FROM attendance GROUP BY 1, 2")
    return {(person, month): minutes for person, month, minutes in rows}


def _unpaid(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Calendar days of approved unpaid leave by person and month."""
    found: dict[tuple[str, str], int] = {}
    rows = connection.execute(
        "SELECT employee_id, from_date, to_date FROM leave_requests JOIN leave_types USING (leave_type) "
        "WHERE paid = 0 AND status = 'approved'"
    )
    for person, first, last in rows:
        for month in month_range(first[:7], last[:7]):
            begin, end = max(first, f"{month}-01"), min(last, last_of(month))
            found[person, month] = found.get((person, month), 0) + int(end[8:]) - int(begin[8:]) + 1
    return found
