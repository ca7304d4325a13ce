"""Canonical tools: leave and its balances."""

# What an endpoint does is said once, in endpoints.py, and becomes the docstring of its function.
# ruff: noqa: D103

from __future__ import annotations

from datetime import date, timedelta

from agentgym.envs.hr.access import Caller, Person, caller, demand, may, person
from agentgym.envs.hr.canonical import Decision, Json, Key, Verdict, canonical, day, fresh, paged, span, text, within
from agentgym.envs.hr.problems import absent, refused, unknown
from agentgym.envs.hr.tools_time import chosen, undecided
from agentgym.world import World


@canonical
def list_leave_types(world: World, page: int = 1, page_size: int = 20) -> Json:
    columns = "leave_type, name, paid, needs_certificate_after_days, notice_days"
    found = paged(world, columns, "leave_types", "leave_type", [], page, page_size)
    for row in found["items"]:
        row["paid"] = bool(row["paid"])
    return found


_TAKEN = (
    "(SELECT coalesce(sum(r.days_hundredths), 0) FROM leave_requests r WHERE r.employee_id = b.employee_id "
    "AND r.from_date BETWEEN b.year || '-01-01' AND b.year || '-12-31' AND r.leave_type = b.leave_type "
    "AND r.status = 'approved')"
)
_BALANCE = (
    f"b.employee_id, b.leave_type, b.year, b.entitled_hundredths, {_TAKEN} AS taken_hundredths, "
    f"b.entitled_hundredths - {_TAKEN} AS left_hundredths, b.carried_until"
)


@canonical
def list_balances(world: World, employee_id: str, year: int | None = None, page: int = 1, page_size: int = 20) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "decide_leave", aim, own=True)
    values = [aim.id, int(who.today[:4]) if year is None else year]
    source = "leave_balances b WHERE b.employee_id = ? AND b.year = ?"
    return paged(world, _BALANCE, source, "b.leave_type", values, page, page_size)


@canonical
def create_balance(
    world: World,
    employee_id: str,
    leave_type: str,
    year: int,
    entitled_hundredths: int,
    idempotency_key: Key | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "administer", aim)
    if not _kind(world, leave_type)["has_balance"]:
        raise refused("unprocessable", f"no days are granted of {{leave_type}} {leave_type}; it has no balance")
    within(year, 2023, 2099, "year")
    within(entitled_hundredths, 0, 10_000, "entitled_hundredths")
    key = (aim.id, leave_type, year)
    sql = "SELECT 1 FROM leave_balances WHERE employee_id = ? AND leave_type = ? AND year = ?"
    if world.value(sql, *key) is not None:
        raise refused("conflict", f"{aim.id} has {{leave_type}} {leave_type} for {year} already")
    row = {"employee_id": aim.id, "leave_type": leave_type, "year": year, "entitled_hundredths": entitled_hundredths}
    world.insert("leave_balances", row)
    sql = f"SELECT {_BALANCE} FROM leave_balances b WHERE employee_id = ? AND leave_type = ? AND year = ?"
    return world.rows(sql, *key)[0]


def _kind(world: World, leave_type: str) -> Json:
    found = world.row("SELECT * FROM leave_types WHERE leave_type = ?", leave_type)
    if found is None:
        raise unknown("leave_type", leave_type)
    return found


_REQUEST = (
    "r.request_id, r.employee_id, r.leave_type, r.from_date, r.to_date, r.days_hundredths, r.status, r.reason, "
    "r.decided_by, r.created_at, r.version"
)


def _seen(world: World, who: Caller, row: Json, people: dict[str, bool]) -> Json:
    """The request without its reason, where the caller may not see that.

    Why somebody is ill is not for their managers: only HR reads the reason of sick leave.
    """
    if row["employee_id"] == who.id or who.role == "hr_admin":
        return row
    if row["leave_type"] == "SICK":
        own = people.get(row["employee_id"])
        if own is None:
            own = may(world, who, "administer", person(world, row["employee_id"]))
            people[row["employee_id"]] = own
        if not own:
            del row["reason"]
    return row


@canonical
def list_leave(
    world: World,
    employee_id: str | None = None,
    department_id: str | None = None,
    status: Decision | None = None,
    from_date: str | None = None,
    to_date: str | None = None,
    page: int = 1,
    page_size: int = 20,
) -> Json:
    parts, values = chosen(world, "decide_leave", employee_id, department_id, few=status == "pending")
    if from_date is not None and to_date is not None:
        span(from_date, to_date)
    for condition, value, field in (
        ("r.to_date >= ?", from_date, "from_date"),
        ("r.from_date <= ?", to_date, "to_date"),
    ):
        if value is not None:
            parts.append(condition)
            values.append(day(value, field))
    if status is not None:
        parts.append("r.status = 'pending'" if status == "pending" else "r.status = ?")
        values += [] if status == "pending" else [status]
    source = f"leave_requests r JOIN employees e ON e.employee_id = r.employee_id WHERE {' AND '.join(parts)}"
    found = paged(world, _REQUEST, source, "r.request_id", values, page, page_size)
    who, people = caller(world), dict[str, bool]()
    found["items"] = [_seen(world, who, row, people) for row in found["items"]]
    return found


def _request(world: World, request_id: str) -> Json:
    found = world.row(f"SELECT {_REQUEST} FROM leave_requests r WHERE r.request_id = ?", request_id)
    if found is None:
        raise absent("request_id", request_id)
    return found


@canonical
def get_leave(world: World, request_id: str) -> Json:
    who, found = caller(world), _request(world, request_id)
    demand(world, who, "decide_leave", person(world, found["employee_id"]), own=True)
    return _seen(world, who, found, {})


@canonical
def create_leave(
    world: World,
    employee_id: str,
    leave_type: str,
    from_date: str,
    to_date: str,
    reason: str | None = None,
    idempotency_key: Key | None = None,
) -> Json:
    who, aim = caller(world), person(world, employee_id)
    demand(world, who, "decide_leave", aim, own=True)
    kind = _kind(world, leave_type)
    span(day(from_date, "from_date"), day(to_date, "to_date"))
    if reason is not None:
        text(reason, "reason")
    if from_date[:4] != to_date[:4]:
        raise refused("unprocessable", "{from_date} and {to_date} must lie in one calendar year")
    if from_date < aim.hired_on or to_date > (aim.left_on or "9999-12-31"):
        raise refused("conflict", f"{aim.id} is not employed on all of these days")
    days = _working_days(world, aim, from_date, to_date)
    if not days:
        raise refused("conflict", "there is no working day among these days")
    other = world.value(
        "SELECT request_id FROM leave_requests WHERE employee_id = ? AND from_date <= ? AND to_date >= ? "
        "AND status IN ('pending', 'approved') ORDER BY from_date LIMIT 1",
        aim.id, to_date, from_date,
    )  # fmt: skip
    if other is not None:
        raise refused("conflict", f"{other} covers some of these days already")
    if kind["has_balance"]:
        _enough(world, aim.id, leave_type, from_date[:4], 100 * days)
    row = {"request_id": world.next_id("LR"), "employee_id": aim.id, "leave_type": leave_type, "from_date": from_date,
           "to_date": to_date, "days_hundredths": 100 * days, "status": "pending", "reason": reason,
           "decided_by": None, "created_at": world.now, "version": 1}  # fmt: skip
    world.insert("leave_requests", row)
    return _seen(world, who, row, {})


def _working_days(world: World, aim: Person, first: str, last: str) -> int:
    sql = "SELECT day FROM public_holidays WHERE site = ? AND day BETWEEN ? AND ?"
    free = {row[0] for row in world.connection.execute(sql, (aim.site, first, last)).fetchall()}
    start = date.fromisoformat(first)
    days = (start + timedelta(n) for n in range((date.fromisoformat(last) - start).days + 1))
    return sum(one.weekday() < 5 and one.isoformat() not in free for one in days)


def _enough(world: World, employee_id: str, leave_type: str, year: str, wanted: int) -> None:
    left = world.value(
        f"SELECT b.entitled_hundredths - {_TAKEN} FROM leave_balances b "
        "WHERE b.employee_id = ? AND b.leave_type = ? AND b.year = ?",
        employee_id, leave_type, int(year),
    )  # fmt: skip
    if (left or 0) < wanted:
        short = f"{{hundredths:{wanted}}} days are needed, {{hundredths:{left or 0}}} are left"
        raise refused("conflict", f"{short} of {{leave_type}} {leave_type} in {year}")


@canonical
def decide_leave(world: World, request_id: str, decision: Verdict, version: int) -> Json:
    who, found = caller(world), _request(world, request_id)
    demand(world, who, "decide_leave", person(world, found["employee_id"]))
    fresh(found["version"], version)
    undecided(found, request_id)
    if decision == "approved" and _kind(world, found["leave_type"])["has_balance"]:
        needed = (found["leave_type"], found["from_date"][:4], found["days_hundredths"])
        _enough(world, found["employee_id"], *needed)
    return _settled(world, who, found, decision)


def _settled(world: World, who: Caller, found: Json, status: str) -> Json:
    version = found["version"] + 1
    world.execute(
        "UPDATE leave_requests SET status = ?, decided_by = ?, version = ? WHERE request_id = ?",
        status, who.id, version, found["request_id"],
    )  # fmt: skip
    return _seen(world, who, {**found, "status": status, "decided_by": who.id, "version": version}, {})


@canonical
def cancel_leave(world: World, request_id: str, version: int) -> Json:
    who, found = caller(world), _request(world, request_id)
    demand(world, who, "decide_leave", person(world, found["employee_id"]), own=True)
    fresh(found["version"], version)
    if found["status"] not in ("pending", "approved"):
        raise refused("conflict", f"{request_id} is {{enum:decision:{found['status']}}}; there is nothing to take back")
    if found["status"] == "approved" and found["from_date"] < who.today:
        raise refused("conflict", f"{request_id} began on {{date:{found['from_date']}}} and cannot be taken back")
    return _settled(world, who, found, "cancelled")
