"""Requests about corrections of attendance that wait: approved, handed off, or paid by an adjustment instead."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

from agentgym.envs.hr import gen_checks as checks
from agentgym.envs.hr import gen_gold as gold
from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_data import CURRENT, Person, amounts
from agentgym.envs.hr.gen_figures import told_anyway
from agentgym.envs.hr.gen_gold import act, of
from agentgym.envs.hr.gen_people import attend, newcomer, pay
from agentgym.envs.hr.gen_request import Request
from agentgym.envs.hr.seed import half_up, month_after

CLOSED_MONTH = "2026-02"
STATUS = "SELECT status FROM attendance_corrections WHERE correction_id = :id"
DECIDED = "SELECT status FROM attendance_corrections WHERE correction_id = :id AND decided_by = :by"
ADDED = (
    "SELECT count(*) FROM adjustments WHERE employee_id = :id AND month = :month AND kind = 'overtime' "
    "AND amount_minor = :amount"
)
NOTE = "SELECT note FROM adjustments WHERE employee_id = :id AND month = :month AND amount_minor = :amount"

PAYS = """
WITH n AS (SELECT sum(value ->> 'overtime_minutes') AS n, sum(CASE WHEN value ->> 'day' = :day
THEN value ->> 'overtime_minutes' ELSE 0 END) AS d FROM json_each(:days))
SELECT (2 * (n - d + :new) * :rate * :percent + 6000) / (2 * 6000) - (2 * n * :rate * :percent + 6000)
/ (2 * 6000) FROM n
""".replace("\n", " ").strip()
"""Policy 5.2: the overtime pay of the month with the correction less that without it."""

_ASK = (
    (
        "{name} asked for a correction of their attendance on {day}. Please decide on it as the rules say.",
        "There is a correction of {name} waiting, for {day}. Please settle it by the rules.",
        "Please deal with the correction that {name} wants for {day}, and do all that belongs to it.",
    ),
    (
        "{name} 申请更正 {day} 的考勤，请按规定处理。",
        "{name} 有一条 {day} 的考勤更正在等待审批，请按制度办理。",
        "请处理 {name} 关于 {day} 的考勤更正，以及由此产生的一切。",
    ),
)
_NOTES = ("time clock was out of order", "forgot to clock out", "client visit", "stock taking", "late delivery")


def attendance_correction(case: Case, i: int, hard: bool) -> Request | None:
    """A correction waits: of an open month, of a closed one, or of more overtime than may be approved."""
    way = case.draw.integers(0, 100)
    closed = case.role != "manager" and way < (60 if hard else 35)
    long = not closed and i == 0 and case.refuses(30)
    person = newcomer(case, case.reach(late=not closed))
    made = _waits(case, person, closed, long) if person is not None else None
    if person is None or made is None:
        return None
    row, amount = made
    case.rows["attendance_corrections"].append(row)
    request = Request("attendance-correction", goal=f"Have a correction of {person.name} decided")
    request.ask.append(case.says(*_ASK).format(name=person.name, day=row["day"]))
    request.given += [*told_anyway(person.department), row["day"], row["day"][:7]]
    request.secrets += checks.private(person)
    request.reads = _reads(i, person, closed)
    request.wants += [
        checks.want("decide_correction", correction_id=row["correction_id"]),
        checks.want("create_adjustment", employee_id=person.id, kind="overtime"),
    ]
    found = checks.listed("list_corrections", person)
    run = [checks.call("list_runs"), checks.call("get_run")]
    request.required += [found, run]
    request.checkpoints += [checks.credited(f"correction_{i}_read", *found), checks.credited(f"run_{i}_read", *run)]
    if long:
        return _too_long(request, i, row)
    _decides(case, request, i, row, "rejected" if closed else "approved")
    if closed:
        _pays(case, request, i, person, amount)
    return request


def _waits(case: Case, person: Person, closed: bool, long: bool) -> tuple[dict[str, Any], int] | None:
    """A correction of a day that was worked as planned, and (*closed*) what it would have paid."""
    if not closed:
        row = _row(case, person, CURRENT, attend(case, person), long)
        return None if row is None else (row, 0)
    rows = case.rows["attendance_months"]
    slips = pay(case, person, 1, lambda made: True)
    row = _row(case, person, CLOSED_MONTH, rows[-1]["days"][1:-1].split(","), long)
    if slips is None or row is None:
        return None
    _, rate, percent = amounts(person.site, person.grade, f"{CLOSED_MONTH}-01")
    minutes = slips[0].minutes
    amount = half_up((minutes + row["overtime_minutes"]) * rate * percent, 6000) - slips[0].overtime
    return (row, amount) if amount > 0 and case.hides(amount) else None


def _row(case: Case, person: Person, month: str, codes: list[str], long: bool) -> dict[str, Any] | None:
    first = int(person.hired_on[8:]) if person.hired_on[:7] == month else 1
    last = len(codes) if month == CLOSED_MONTH else (case.today - timedelta(1)).day
    free = [number for number in range(first, last + 1) if codes[number - 1] == "0"]
    if not free:
        return None
    overtime = case.draw.integers(17, 25) * 15 if long else case.draw.integers(3, 16) * 15
    return {
        "correction_id": case.new_id("AC"),
        "employee_id": person.id,
        "day": f"{month}-{case.draw.choice(free):02}",
        "worked_minutes": person.weekly_minutes // 5 + overtime,
        "overtime_minutes": overtime,
        "status": "pending",
        "note": case.draw.choice(_NOTES),
        "requested_by": person.id,
        "decided_by": None,
        "version": case.draw.integers(1, 4),
    }


def _reads(i: int, person: Person, closed: bool) -> tuple[Any, Any]:
    who = gold.who_id(i)
    find = (gold.ME, gold.who(i, person.name))
    waiting = act("list_corrections", f"waiting{i}", employee_id=who, status="pending", page=1, page_size=50)
    runs = act("list_runs", f"runs{i}", page=1, page_size=50)
    some = act("list_runs", f"runs{i}", status="open", page=1, page_size=50)
    day = of(f"waiting{i}", "$.items[0].day")
    one = act("get_run", f"run{i}", month={"sql": "SELECT substr(:day, 1, 7)", "day": day})
    more: tuple[Any, ...] = ()
    if closed:
        span = {"from_date": gold.month_start(1), "to_date": gold.month_end(1)}
        more = (
            act("list_attendance", f"days{i}", employee_id=who, **span, page=1, page_size=50),
            act("get_pay", f"pay{i}", employee_id=who, on=day),
            act("list_adjustments", f"there{i}", employee_id=who, month=_target(i), page=1, page_size=50),
        )
    return (*find, waiting, some, one, *more), (*find, gold.whole(i), waiting, runs, *more)


@cache
def _target(i: int) -> dict[str, Any]:
    """The earliest month whose run is open."""
    sql = "SELECT min(value ->> 'month') FROM json_each(:runs) WHERE value ->> 'status' = 'open'"
    return {"sql": sql, "runs": of(f"runs{i}", "$.items")}


def _decides(case: Case, request: Request, i: int, row: dict[str, Any], decision: str) -> None:
    arguments = {
        "correction_id": of(f"waiting{i}", "$.items[0].correction_id"),
        "decision": decision,
        "version": of(f"waiting{i}", "$.items[0].version"),
    }
    if case.chinese:
        done = gold.say("更正已批准。" if decision == "approved" else "该月已结账，更正已驳回，改为补发。")
    else:
        done = gold.say(f"The correction is {decision}." if decision == "approved" else "That month is closed.")
    request.writes = (*gold.confirmed("decide_correction", f"decided{i}", arguments), done)
    params: dict[str, Any] = {"id": row["correction_id"], "by": case.caller}
    request.final_state.append(checks.state(DECIDED, decision, "text", **params))
    request.checkpoints.append(checks.reached(f"decided_{i}", DECIDED, decision, "text", **params))
    request.may_change.append(
        checks.update("attendance_corrections", "correction_id", row["correction_id"], "status", "decided_by")
    )
    request.steps = ("Find the correction", "See whether the run of its month is closed", "Get a yes and decide")


def _pays(case: Case, request: Request, i: int, person: Person, amount: int) -> None:
    """What the correction would have paid is added to the earliest open month (policy 5.2)."""
    month = CURRENT if case.today.day <= 20 else month_after(CURRENT)
    value = {
        "sql": PAYS,
        "days": of(f"days{i}", "$.items"),
        "day": of(f"waiting{i}", "$.items[0].day"),
        "new": of(f"waiting{i}", "$.items[0].overtime_minutes"),
        "rate": of(f"pay{i}", "$.hourly_rate"),
        "percent": of(f"pay{i}", "$.overtime_percent"),
    }
    arguments = {
        "employee_id": gold.who_id(i),
        "month": _target(i),
        "kind": "overtime",
        "amount": value,
        "currency": of(f"pay{i}", "$.currency"),
        "note": {"sql": "SELECT 'overtime of ' || :day", "day": of(f"waiting{i}", "$.items[0].day")},
    }
    request.writes = (*request.writes, *gold.confirmed("create_adjustment", f"added{i}", arguments))
    params: dict[str, Any] = {"id": person.id, "month": month, "amount": amount}
    request.final_state.append(checks.state(ADDED, 1, **params))
    request.checkpoints.append(checks.reached(f"added_{i}", ADDED, 1, **params))
    base, _, _ = amounts(person.site, person.grade, f"{CURRENT}-01")
    request.text.append(checks.written(NOTE, [], [checks.money(base, person.currency)], **params))
    request.may_change.append(
        checks.insert(
            "adjustments",
            employee_id=person.id,
            month=month,
            kind="overtime",
            amount_minor=amount,
            currency=person.currency,
            entered_by=case.caller,
        )
    )
    request.answer = {"adjustments_minor": (checks.money(amount, person.currency), of(f"added{i}", "$.amount"))}
    request.given += [CLOSED_MONTH, month]
    request.required.append([checks.call("list_adjustments", employee_id=person.id)])
    request.steps = (*request.steps, "Add what it would have paid to the open month")


def _too_long(request: Request, i: int, row: dict[str, Any]) -> Request:
    """More than 240 minutes of overtime on a day are for the HR partner (policy 5.1)."""
    request.hand_off, request.wants = "hr_partner", []
    request.final_state.append(checks.state(STATUS, "pending", "text", holds=True, id=row["correction_id"]))
    request.colleague.append(checks.identifier(row["correction_id"]))
    request.veto.append(checks.banned("decide_correction", correction_id=row["correction_id"]))
    summary = {
        "sql": "SELECT 'The correction ' || :id || ' has more overtime than may be approved; please decide on it.'",
        "id": of(f"waiting{i}", "$.items[0].correction_id"),
    }
    request.writes = (act("hand_off", reason="hr_partner", summary=summary),)
    request.steps = ("Find the correction", "See that its overtime is too long", "Hand it to the HR partner")
    return request
