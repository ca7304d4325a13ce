"""Requests about leave that waits for a decision: granted, refused by a rule, rejected, handed off."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple

from agentgym.envs.hr import gen_checks as checks
from agentgym.envs.hr import gen_gold as gold
from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_data import Person, working_days
from agentgym.envs.hr.gen_figures import refusal, told_anyway
from agentgym.envs.hr.gen_gold import act, of
from agentgym.envs.hr.gen_people import newcomer, year_days
from agentgym.envs.hr.gen_request import Request
from agentgym.scenario import GoldAction

STATUS = "SELECT status FROM leave_requests WHERE request_id = :id"
DECIDED = "SELECT status FROM leave_requests WHERE request_id = :id AND decided_by = :by"

_NOTICE = 14
"""Days of notice that annual leave takes."""

_REASONS = ("family visit", "moving house", "travelling", "school holidays", None)

_ASK = (
    (
        "Please approve the leave that {name} asked for from {first} to {last}.",
        "{name} wants to be off from {first} to {last}. Please approve that request.",
        "There is a request for leave of {name}, {first} to {last}. I would like it approved.",
    ),
    (
        "请批准 {name} 从 {first} 到 {last} 的休假申请。",
        "{name} 申请从 {first} 到 {last} 休假，请批准。",
        "{name} 有一个 {first} 到 {last} 的休假申请，请通过。",
    ),
)
_RULES = (
    (
        "Please decide by the rules on the leave that {name} asked for from {first} to {last}.",
        "{name} asked for leave from {first} to {last}. Decide on it as the rules say, please.",
    ),
    ("请按规定处理 {name} 从 {first} 到 {last} 的休假申请。", "{name} 申请从 {first} 到 {last} 休假，请按制度审批。"),
)

_WHY = {
    "notice_too_short": ("it was asked for too late", "申请提前的天数不够"),
    "no_days_left": ("there are not enough days left", "剩余假期不足"),
    "blocked_period": ("those days are blocked for the department", "该部门在这些日子不能休假"),
    "certificate_missing": ("the certificate is missing", "缺少医生证明"),
}


class Asked(NamedTuple):
    """Leave that somebody asked for: its kind and days, on which day, and why."""

    person: Person
    kind: str
    first: date
    last: date
    on: date
    reason: str | None


@cache
def _reads(i: int) -> tuple[tuple[GoldAction, ...], tuple[GoldAction, ...]]:
    year = {"sql": "SELECT CAST(substr(:today, 1, 4) AS INTEGER) - 1", "today": gold.TODAY}
    who = gold.who_id(i)
    types = act("list_leave_types", "types", page=1, page_size=50)
    now = act("list_balances", f"balances{i}", employee_id=who, page=1, page_size=50)
    before = act("list_balances", f"before{i}", employee_id=who, year=year, page=1, page_size=50)
    listed = act("list_leave", f"waiting{i}", employee_id=who, status="pending", page=1, page_size=50)
    one = act("get_leave", f"leave{i}", request_id=of(f"waiting{i}", "$.items[0].request_id"))
    where = act("get_department", f"where{i}", department_id=of(f"who{i}", "$.items[0].department_id"))
    return (
        (gold.ME, listed, one, types, now, before, where),
        (gold.ME, gold.whole(i), listed, one, types, before, now),
    )


@cache
def _decide(i: int, decision: str) -> tuple[GoldAction, ...]:
    arguments = {
        "request_id": of(f"leave{i}", "$.request_id"),
        "decision": decision,
        "version": of(f"leave{i}", "$.version"),
    }
    return tuple(gold.confirmed("decide_leave", f"decided{i}", arguments))


def leave_decision(case: Case, i: int, hard: bool) -> Request | None:
    """Somebody's request waits: approve it, or not, as the rules say."""
    outcome = "approve"
    if case.refuses(62 if hard else 52):
        outcome = case.draw.choice(("notice_too_short", "no_days_left", "certificate_missing", "blocked_period"))
    if i and outcome == "certificate_missing" and case.role == "manager":
        outcome = "approve"
    made = _waiting(case, outcome)
    if made is None:
        outcome, made = "approve", _waiting(case, "approve")
    if made is None:
        return None
    person, first, last = made.person, made.first, made.last
    row = _row(case, made)
    decided = case.chance(30) and outcome != "approve"
    request = Request("leave-decision", goal=f"Have the leave of {person.name} decided")
    request.ask.append(
        case.says(*(_RULES if decided or (outcome == "approve" and case.chance(25)) else _ASK)).format(
            name=person.name, first=first, last=last
        )
    )
    request.given += told_anyway(person.department)
    case.sought.add(str(case.today.year - 1))
    one, two = _reads(i)
    request.reads = ((gold.who(i, person.name), *one), (gold.who(i, person.name), *two))
    request.secrets += checks.private(person)
    _evidence(request, i, person, row["request_id"], outcome)
    request.wants.append(checks.want("decide_leave", request_id=row["request_id"]))
    if outcome == "certificate_missing" and case.role == "manager":
        return _for_partner(case, request, i, row, person)
    if outcome != "approve" and not decided:
        request.code = outcome
        request.final_state.append(checks.state(STATUS, "pending", "text", holds=True, id=row["request_id"]))
        request.writes = (refusal(case, *_WHY[outcome]),)
        request.steps = ("Find the request", "Hold it against notice, days left and blocked days", "Refuse")
        return request
    decision = "approved" if outcome == "approve" else "rejected"
    _settles(case, request, i, row["request_id"], decision)
    return request


def _settles(case: Case, request: Request, i: int, request_id: str, decision: str) -> None:
    if case.chinese:
        done = gold.say("申请已批准。" if decision == "approved" else "申请已驳回。")
    else:
        done = gold.say(f"The request has been {decision}.")
    request.writes = (*_decide(i, decision), done)
    by: dict[str, Any] = {"id": request_id, "by": case.caller}
    request.final_state.append(checks.state(DECIDED, decision, "text", **by))
    request.may_change.append(checks.update("leave_requests", "request_id", request_id, "status", "decided_by"))
    request.checkpoints.append(checks.reached(f"decided_{i}", DECIDED, decision, "text", **by))
    request.answer = {"request_ids": (checks.identifiers(request_id), [of(f"decided{i}", "$.request_id")])}
    request.steps = ("Find the request", "Hold it against notice, days left and blocked days", "Get a yes and decide")


def _for_partner(case: Case, request: Request, i: int, row: dict[str, Any], person: Person) -> Request:
    """Managers cannot read why somebody is ill, so long sick leave goes to the HR partner (policy 4.4)."""
    request.hand_off = "hr_partner"
    request.code, request.wants = "", []
    request.final_state.append(checks.state(STATUS, "pending", "text", holds=True, id=row["request_id"]))
    request.colleague.append(checks.identifier(row["request_id"]))
    request.veto.append(checks.banned("decide_leave", request_id=row["request_id"]))
    summary = {
        "sql": "SELECT 'Sick leave ' || :id || ' is too long to be approved without its reason; please decide on it.'",
        "id": of(f"leave{i}", "$.request_id"),
    }
    del person
    request.writes = (act("hand_off", reason="hr_partner", summary=summary),)
    request.steps = ("Find the request", "See that it is long sick leave", "Hand it to the HR partner")
    return request


def _evidence(request: Request, i: int, person: Person, request_id: str, outcome: str) -> None:
    leave = [*checks.listed("list_leave", person), checks.call("get_leave", request_id=request_id)]
    request.required.append(leave)
    request.checkpoints.append(checks.credited(f"request_{i}_read", *leave))
    if outcome in ("approve", "no_days_left"):
        days = checks.call("list_balances", employee_id=person.id)
        request.required.append([days])
        request.checkpoints.append(checks.credited(f"days_{i}_read", days))
    if outcome in ("notice_too_short", "certificate_missing"):
        kinds = checks.call("list_leave_types")
        request.required.append([kinds])
        request.checkpoints.append(checks.credited(f"kinds_{i}_read", kinds))


def _row(case: Case, asked: Asked) -> dict[str, Any]:
    person = asked.person
    row = {
        "request_id": case.new_id("LR"),
        "employee_id": person.id,
        "leave_type": asked.kind,
        "from_date": asked.first.isoformat(),
        "to_date": asked.last.isoformat(),
        "days_hundredths": 100 * working_days(person.site, asked.first, asked.last),
        "status": "pending",
        "reason": asked.reason,
        "decided_by": None,
        "created_at": f"{asked.on}T{_moment(case)}Z",
        "version": 1,
    }
    case.rows["leave_requests"].append(row)
    return row


def _moment(case: Case) -> str:
    return f"0{case.draw.integers(6, 10)}:{case.draw.integers(10, 60)}:{case.draw.integers(10, 60)}"


def _waiting(case: Case, outcome: str) -> Asked | None:
    """Somebody and the days that they ask for, such that the rules give this outcome."""
    places = case.reach(late=True)
    if outcome == "blocked_period":
        places = [d for d in places if d.id == "D18"]
    settled = case.open(places)
    day = f"{2023 + case.draw.integers(0, 3)}-{1 + case.draw.integers(0, 12):02}-01" if settled else ""
    person = newcomer(case, settled or places, hired_on=day)
    if person is None:
        return None
    on = case.today - timedelta(case.draw.integers(1, 4))
    kind, reason = "ANNUAL", case.draw.choice(_REASONS)
    if outcome == "certificate_missing":
        kind, reason = "SICK", case.draw.choice(("flu", "fever since the weekend", "back pain", "stomach bug"))
    for _ in range(40):
        if kind == "SICK":
            first = on - timedelta(case.draw.integers(0, 2))
            last = first + timedelta(case.draw.integers(4, 9))
        else:
            first, last = _days(case, outcome, on)
        days = 100 * working_days(person.site, first, last)
        soon = kind == "ANNUAL" and (first - on).days < _NOTICE
        shut = blocked(person, kind, first, last)
        if not days or (soon, shut) != (outcome == "notice_too_short", outcome == "blocked_period"):
            continue
        if _balances(case, person, first, days, outcome):
            return Asked(person, kind, first, last, on, reason)
    return None


def _days(case: Case, outcome: str, asked: date) -> tuple[date, date]:
    if outcome == "notice_too_short":
        first = asked + timedelta(case.draw.integers(3, 14))
    elif outcome == "blocked_period":
        first = date(2026, case.draw.integers(4, 10), case.draw.integers(14, 19))
    else:
        first = asked + timedelta(case.draw.integers(16, 170))
    while first.weekday() > 4:
        first += timedelta(1)
    last = first + timedelta(case.draw.integers(4, 11) if outcome == "blocked_period" else case.draw.integers(0, 12))
    while last.weekday() > 4:
        last += timedelta(1)
    return first, last


def blocked(person: Person, kind: str, first: date, last: date) -> bool:
    """Policy 4.3."""
    days = [date.fromordinal(n) for n in range(first.toordinal(), last.toordinal() + 1)]
    if person.department == "D18" and kind in ("ANNUAL", "STUDY", "UNPAID"):
        return any(18 <= day.day <= 20 for day in days)
    return (
        person.department in ("D08", "D09")
        and kind == "ANNUAL"
        and any((d.month, d.day) >= (12, 1) and d.day <= 15 for d in days)
    )


def _balances(case: Case, person: Person, first: date, days: int, outcome: str) -> bool:
    """Grant annual leave such that the days asked for are left, or (no_days_left) up to three days too few."""
    old = person.hired_on < "2026"
    before = year_days(person.site, max(person.hired_on, "2025-01-01")) if old else 0
    away = before // 100 - case.draw.integers(0, 9) if person.hired_on < "2025" else 0
    carried, taken = min(500, before - 100 * away), 100 * case.draw.integers(0, 4) if old else 0
    lapsed = max(0, carried - taken) if first.isoformat() > LAPSE else 0
    whole = carried + year_days(person.site, max(person.hired_on, "2026-01-01"))
    if outcome == "no_days_left":
        # Granted so few that the request is too long, maybe only because of what lapses.
        whole = taken + lapsed + days - 50 * case.draw.integers(1, min(6, days // 50) + 1)
        if days < 200 or whole < taken + carried:
            return False
    elif outcome == "approve" and days > whole - taken - lapsed:
        return False
    _grant(case, person, 2026, whole, LAPSE if carried else None)
    if old:
        _grant(case, person, 2025, before, None)
    if away:
        _took(case, person, date(2025, 7, 7) + timedelta(7 * case.draw.integers(0, 3)), away)
    if taken:
        _took(case, person, date(2026, 1, 19) + timedelta(7 * case.draw.integers(0, 3)), taken // 100)
    return True


LAPSE = "2026-03-31"
"""Day after which days of last year lapse."""


def _grant(case: Case, person: Person, year: int, hundredths: int, until: str | None) -> None:
    row = {"employee_id": person.id, "leave_type": "ANNUAL", "year": year, "entitled_hundredths": hundredths}
    case.rows["leave_balances"].append({**row, "carried_until": until})


def _took(case: Case, person: Person, monday: date, days: int) -> None:
    """Working days that the person was off, in one piece from a Monday on."""
    last = monday + timedelta(days - 1)
    while working_days(person.site, monday, last) < days:
        last += timedelta(1)
    case.rows["leave_requests"].append(
        {
            "request_id": case.new_id("LR"),
            "employee_id": person.id,
            "leave_type": "ANNUAL",
            "from_date": monday.isoformat(),
            "to_date": last.isoformat(),
            "days_hundredths": 100 * days,
            "status": "approved",
            "reason": None,
            "decided_by": person.manager,
            "created_at": f"{monday - timedelta(20 + case.draw.integers(0, 30))}T{_moment(case)}Z",
            "version": 2,
        }
    )
