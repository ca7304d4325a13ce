"""Requests for another grade: from a month on, backwards with adjustments, refused, handed off."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import Any

from agentgym.envs.hr import gen_checks as checks
from agentgym.envs.hr import gen_gold as gold
from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_data import CLOSED, CURRENT, Person, Slip, amounts
from agentgym.envs.hr.gen_figures import refusal, told_anyway
from agentgym.envs.hr.gen_gold import act, of
from agentgym.envs.hr.gen_people import FULL_TIME, newcomer, pay
from agentgym.envs.hr.gen_request import Request
from agentgym.envs.hr.seed import half_up, later, month_after, months_later
from agentgym.scenario import GoldAction

LIMITS = {"EUR": 250_000, "GBP": 200_000, "JPY": 300_000}
"""Policy 6.4."""

GRADE = "SELECT grade FROM pay_terms WHERE employee_id = :id AND valid_from = :day"
ADDED = (
    "SELECT count(*) FROM adjustments WHERE employee_id = :id AND month = :month AND kind = 'grade_change' "
    "AND amount_minor = :amount"
)
ALL_ADDED = (
    "SELECT sum(amount_minor) FROM adjustments WHERE employee_id = :id AND kind = 'grade_change' AND month = :month"
)
NOTE = "SELECT note FROM adjustments WHERE employee_id = :id AND month = :month AND amount_minor = :amount"
WHY = "SELECT note FROM pay_terms WHERE employee_id = :id AND valid_from = :day"

LACKS = """
WITH g AS (SELECT value ->> 'grade' AS g, value ->> 'monthly_base' AS b, value ->> 'hourly_rate' AS r,
value ->> 'overtime_percent' AS p, value ->> 'valid_from' AS f FROM json_each(:grades)
WHERE value ->> 'valid_from' <= :first),
n AS (SELECT coalesce(sum(value ->> 'overtime_minutes'), 0) AS n FROM json_each(:days)),
o AS (SELECT * FROM g WHERE g = :old ORDER BY f DESC LIMIT 1),
w AS (SELECT * FROM g WHERE g = :new ORDER BY f DESC LIMIT 1)
SELECT w.b - o.b + (2 * n * w.r * w.p + 6000) / (2 * 6000) - (2 * n * o.r * o.p + 6000) / (2 * 6000) FROM o, w, n
""".replace("\n", " ").strip()
"""Policy 6.3 for a month of somebody who works full time and was employed on every day of it."""

_ASK = (
    (
        "{name} goes from {old} to {grade}, from {day} on. Please enter that and everything that follows from it.",
        "Please change the grade of {name} from {old} to {grade} with effect from {day}.",
        "With effect from {day}, {name} is to be in {grade} instead of {old}. Please take care of it.",
    ),
    (
        "{name} 从 {day} 起由 {old} 调到 {grade}，请录入并处理由此产生的一切。",
        "请把 {name} 的职级自 {day} 起从 {old} 调整为 {grade}。",
    ),
)
_SUM = (
    ("If pay is added for past months, tell me how much in all.", "I want to know the sum of any adjustments."),
    ("如果要补发以前月份的工资，请告诉我总额。", "如有补发，请告诉我合计金额。"),
)
_WHY_NOT = {
    "in_probation": ("the probation period is not over", "试用期尚未结束"),
    "too_far_back": ("it lies more than three months back", "生效日期追溯得太久"),
}


def grade_change(case: Case, i: int, hard: bool) -> Request | None:
    """One step up: for the future or into closed months; two steps, too far back or too early are not done."""
    drawn = case.draw.integers(0, 100)
    two, no = drawn < 10 and not i, case.refuses(30)
    early = no and not two and case.chance(50)
    until = date(2026, case.draw.integers(4, 7), case.draw.choice((14, 30))) if early else None
    person = newcomer(
        case,
        case.reach(),
        hired_on=later(months_later(until.isoformat(), -6), 1) if until else "",
        probation_until=until.isoformat() if until else "",
        grade=f"G{case.draw.integers(2, 6)}",
        weekly_minutes=FULL_TIME,
    )
    if person is None:
        return None
    step = f"G{int(person.grade[1:]) + 1}"
    request = Request("grade-change", goal=f"Have the grade of {person.name} changed")
    request.secrets += checks.private(person)
    if two:
        return _two_steps(case, request, i, person)
    if no:
        return _not_done(case, request, i, person, step, early)
    return _done(case, request, i, person, step, hard)


def _done(case: Case, request: Request, i: int, person: Person, step: str, hard: bool) -> Request | None:
    months: tuple[str, ...] = ()
    if hard or case.chance(40):
        months = CLOSED[-2:] if hard and case.chance(60) else CLOSED[-1:]

    def fits(slips: tuple[Slip, ...]) -> bool:
        found = lacks(person, step, months, slips)
        small = all(abs(each) <= LIMITS[person.currency] for each in found)
        return small and len(set(found)) == len(found) and case.hides(*found, sum(found))

    slips = pay(case, person, len(months), fits) if months else ()
    if slips is None:
        return None
    lacking = lacks(person, step, months, slips)
    open_month = CURRENT if case.today.day <= 20 else month_after(CURRENT)
    day = f"{months[0] if months else open_month}-01"
    _asked(case, request, person, step, day)
    if case.chance(70) or months:
        request.ask.append(case.says(*_SUM))
    _read(request, i, person, open_month, months)
    _changes(case, request, i, person, step, day, open_month, months, lacking)
    return request


def lacks(person: Person, grade: str, months: tuple[str, ...], slips: tuple[Slip, ...]) -> tuple[int, ...]:
    """What each of these months lacks with the new grade (policy 6.3), oldest first."""
    found = []
    for month, slip in zip(months, slips, strict=True):
        base, rate, percent = amounts(person.site, grade, f"{month}-01")
        found.append(base + half_up(slip.minutes * rate * percent, 6000) - slip.gross)
    return tuple(found)


def _asked(case: Case, request: Request, person: Person, grade: str, day: str) -> None:
    request.ask.append(case.says(*_ASK).format(name=person.name, old=person.grade, grade=grade, day=day))
    case.told.add(day[:4])
    request.given += [*told_anyway(person.department), person.site, person.grade, grade, day, day[:7]]
    request.wants += [
        checks.want("change_grade", employee_id=person.id, grade=grade),
        checks.want("create_adjustment", employee_id=person.id, kind="grade_change"),
    ]


@cache
def _month_of(months_back: int) -> dict[str, Any]:
    return gold.month(months_back)


def _days(i: int, month: str) -> GoldAction:
    back = 3 - int(month[5:])
    span = {"from_date": gold.month_start(back), "to_date": gold.month_end(back)}
    return act("list_attendance", f"days{i}_{back}", employee_id=gold.who_id(i), **span, page=1, page_size=50)


@cache
def _target(i: int) -> dict[str, Any]:
    """The earliest month whose run is open."""
    sql = "SELECT min(value ->> 'month') FROM json_each(:runs) WHERE value ->> 'status' = 'open'"
    return {"sql": sql, "runs": of(f"runs{i}", "$.items")}


def _read(request: Request, i: int, person: Person, open_month: str, months: tuple[str, ...]) -> None:
    who = gold.who_id(i)
    find = (gold.ME, gold.who(i, person.name), gold.whole(i))
    contracts = act("list_contracts", f"contracts{i}", employee_id=who, page=1, page_size=50)
    pay = act("get_pay", f"pay{i}", employee_id=who)
    history = act("list_pay_history", f"history{i}", employee_id=who, page=1, page_size=50)
    some = act("list_runs", f"runs{i}", status="open", page=1, page_size=50)
    every = act("list_runs", f"runs{i}", page=1, page_size=50)
    grades = act("list_grades", f"grades{i}", site=of(f"person{i}", "$.site"), page=1, page_size=50)
    there = act("list_adjustments", f"there{i}", employee_id=who, month=_target(i), page=1, page_size=50)
    closed = tuple(_days(i, month) for month in months)
    request.reads = (
        (*find, contracts, pay, some, grades, *closed, *((there,) if months else ())),
        (*find, contracts, history, every, grades, *closed, *((there,) if months else ())),
    )
    read = [checks.call("list_contracts", employee_id=person.id)]
    request.required.append(read)
    request.checkpoints += [checks.looked_up(f"found_{i}", person), checks.credited(f"contract_{i}_read", *read)]
    if months:
        stands = checks.call("list_adjustments", employee_id=person.id)
        request.required.append([stands])
        request.checkpoints.append(checks.credited(f"adjustments_{i}_read", stands))
        request.given += [*months, open_month]


def _changes(
    case: Case,
    request: Request,
    i: int,
    person: Person,
    grade: str,
    day: str,
    open_month: str,
    months: tuple[str, ...],
    lacking: tuple[int, ...],
) -> None:
    change = {
        "employee_id": gold.who_id(i),
        "version": of(f"person{i}", "$.version"),
        "grade": grade,
        "valid_from": day,
        "note": "agreed with the manager",
    }
    writes = gold.confirmed("change_grade", f"graded{i}", change)
    for month, amount in zip(months, lacking, strict=True):
        writes += _adjusts(i, person, grade, month)
        _adds(case, request, f"added_{i}_{month}", person, open_month, month, amount)
    told = gold.say("职级已调整。" if case.chinese else "The grade has been changed.")
    if months:
        total = _total(i, months)
        currency = of(f"graded{i}", "$.currency")
        before, after = ("职级已调整，补发合计", "。") if case.chinese else ("The grade is changed; added in all:", ".")
        told = gold.tell(before, after, total, currency)
        wanted = checks.money(sum(lacking), person.currency)
        request.answer = {"adjustments_minor": (wanted, total)}
        request.told.append(wanted)
        request.final_state.append(checks.state(ALL_ADDED, sum(lacking), id=person.id, month=open_month))
    request.writes = (*writes, told)
    _graded(case, request, i, person, grade, day)
    request.steps = (
        "Read contract, grade and open runs",
        "Get a yes and change the grade",
        "Add what each closed month lacks, oldest first",
    )


def _adds(case: Case, request: Request, name: str, person: Person, open_month: str, month: str, amount: int) -> None:
    """What one adjustment is checked by."""
    params: dict[str, Any] = {"id": person.id, "month": open_month, "amount": amount}
    request.final_state.append(checks.state(ADDED, 1, **params))
    request.checkpoints.append(checks.reached(name, ADDED, 1, **params))
    request.text.append(checks.written(NOTE, [checks.text(month)], [], **params))
    request.may_change.append(
        checks.insert(
            "adjustments",
            employee_id=person.id,
            month=open_month,
            kind="grade_change",
            amount_minor=amount,
            currency=person.currency,
            entered_by=case.caller,
        )
    )


def _graded(case: Case, request: Request, i: int, person: Person, grade: str, day: str) -> None:
    """What the change itself is checked by."""
    entered: dict[str, Any] = {"id": person.id, "day": day}
    request.final_state.append(checks.state(GRADE, grade, "text", **entered))
    request.checkpoints.append(checks.reached(f"graded_{i}", GRADE, grade, "text", **entered))
    base, _, _ = amounts(person.site, grade, f"{CURRENT}-01")
    request.text.append(checks.written(WHY, [], [checks.money(base, person.currency)], **entered))
    request.may_change.append(
        checks.insert(
            "pay_terms",
            employee_id=person.id,
            valid_from=day,
            grade=grade,
            site=person.site,
            entered_by=case.caller,
        )
    )


def _adjusts(i: int, person: Person, grade: str, month: str) -> list[GoldAction]:
    back = 3 - int(month[5:])
    amount = {
        "sql": LACKS,
        "grades": of(f"grades{i}", "$.items"),
        "days": of(f"days{i}_{back}", "$.items"),
        "first": gold.month_start(back),
        "old": of(f"person{i}", "$.grade"),
        "new": grade,
    }
    arguments = {
        "employee_id": gold.who_id(i),
        "month": _target(i),
        "kind": "grade_change",
        "amount": amount,
        "currency": of(f"graded{i}", "$.currency"),
        "note": {"sql": "SELECT 'grade change, ' || :month", "month": gold.month(back)},
    }
    del person
    return gold.confirmed("create_adjustment", f"added{i}_{back}", arguments)


def _total(i: int, months: tuple[str, ...]) -> dict[str, Any]:
    labels = [f"added{i}_{3 - int(month[5:])}" for month in months]
    names = [f"a{n}" for n in range(len(labels))]
    found: dict[str, Any] = {"sql": "SELECT " + " + ".join(f":{name}" for name in names)}
    return found | {name: of(label, "$.amount") for name, label in zip(names, labels, strict=True)}


def _not_done(case: Case, request: Request, i: int, person: Person, grade: str, early: bool) -> Request:
    """In the probation period, or too far back."""
    request.code = "in_probation" if early else "too_far_back"
    day = "2026-04-01" if early else case.draw.choice(("2025-11-01", "2025-10-01", "2025-09-01", "2025-08-01"))
    _asked(case, request, person, grade, day)
    _read(request, i, person, CURRENT, ())
    request.writes = (refusal(case, *_WHY_NOT[request.code]),)
    request.steps = ("Read contract and grade", "Hold the day against probation and the time limit", "Refuse")
    return request


def _two_steps(case: Case, request: Request, i: int, person: Person) -> Request:
    """Two steps at once are for the HR partner (policy 6.2)."""
    request.hand_off = "hr_partner"
    _asked(case, request, person, f"G{int(person.grade[1:]) + 2}", "2026-04-01")
    _read(request, i, person, CURRENT, ())
    request.colleague.append(checks.identifier(person.id))
    request.veto.append(checks.banned("change_grade", employee_id=person.id))
    summary = {
        "sql": "SELECT 'A change of two grades is wanted for ' || :id || '; please decide.'",
        "id": gold.who_id(i),
    }
    request.writes = (act("hand_off", reason="hr_partner", summary=summary),)
    request.steps = ("Read contract and grade", "See that it is two steps", "Hand it to the HR partner")
    return request
