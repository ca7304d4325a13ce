"""Leave, balances and attendance, month by month: what was asked for, what was granted, who worked how long."""

from __future__ import annotations

import json
from datetime import date, timedelta

from agentgym.envs.hr.seed import FIRST_MONTH, LAST_MONTH, NOW, Row, Seed, day_of, first_of, last_of, later, month_range
from agentgym.envs.hr.seed_people import Person

TODAY = NOW[:10]
_YEARS = (2023, 2024, 2025, 2026)
_REASONS = ("family visit", "summer holiday", "moving house", "school holidays", "travelling", "", "", "", "")
_ILLS = ("flu", "migraine", "back pain", "stomach bug", "bronchitis", "sprained ankle", "dental surgery", "fever")


class Calendar:
    """Which days are weekends or public holidays, by office."""

    def __init__(self, seed: Seed) -> None:
        self._free: dict[str, set[str]] = {}
        for row in seed.rows["public_holidays"]:
            self._free.setdefault(row["site"], set()).add(row["day"])

    def code(self, site: str, day: date) -> int:
        """0 for a working day, 1 for the weekend, 2 for a public holiday."""
        return 1 if day.weekday() > 4 else 2 if day.isoformat() in self._free[site] else 0

    def working_days(self, site: str, first: str, last: str) -> int:
        """Number of working days from *first* to *last*."""
        day, end, count = day_of(first), day_of(last), 0
        while day <= end:
            count += self.code(site, day) == 0
            day += timedelta(1)
        return count


def leave(seed: Seed, found: list[Person], calendar: Calendar) -> None:
    """Requests for leave and balances of everybody; ids follow the time of asking."""
    _long_leave(seed, found, calendar)
    for person in found:
        before: int | None = None
        for year in _YEARS:
            before = _year(seed, person, calendar, year, before)
    _open_requests(seed, found, calendar)
    rows = seed.rows["leave_requests"]
    rows.sort(key=lambda row: (row["created_at"], row["employee_id"], row["from_date"]))
    for row in rows:
        row["request_id"] = seed.next_id("LR")


def _ask(seed: Seed, person: Person, calendar: Calendar, kind: str, first: str, last: str, asked: str,
         **more: object) -> Row:  # fmt: skip
    asked = max(asked, later(person.row["hired_on"], 0))
    row: Row = {"request_id": "", "employee_id": person.id, "leave_type": kind, "from_date": first, "to_date": last,
                "days_hundredths": 100 * calendar.working_days(person.row["site"], first, last), "status": "approved",
                "reason": None, "decided_by": person.row["manager_id"], "created_at": f"{asked}T{seed.clock()}",
                "version": 2}  # fmt: skip
    row.update(more)
    seed.rows["leave_requests"].append(row)
    if row["status"] in ("approved", "pending"):
        person.away.append((first, last))
    return row


def _year(seed: Seed, person: Person, calendar: Calendar, year: int, before: int | None) -> int | None:
    """Leave and balances of one year; gives the hundredths of annual leave left, None where not employed."""
    start = max(f"{year}-01-01", person.row["hired_on"])
    end = min(f"{year}-12-31", person.row["left_on"] or "9999")
    if start > end:
        return None
    days = (day_of(end) - day_of(start)).days + 1
    granted = _entitlement(seed, person, days, year)
    if year == 2023 and start < first_of(FIRST_MONTH):
        # What was taken before the first month with attendance is off already.
        granted = granted * 84 // 5000 * 50
    carried = min(500, before or 0) if year > 2023 else 0
    seed.add("leave_balances", employee_id=person.id, leave_type="ANNUAL", year=year,
             entitled_hundredths=granted + carried, carried_until=f"{year}-03-31" if carried else None)  # fmt: skip
    if year >= 2025 and person.contracts[-1]["type"] in ("permanent", "fixed_term"):
        seed.add("leave_balances", employee_id=person.id, leave_type="STUDY", year=year, entitled_hundredths=500,
                 carried_until=None)  # fmt: skip
    first = max(start, first_of(FIRST_MONTH))
    left = granted + carried
    return left - _blocks(seed, person, calendar, first, end, left)


def _entitlement(seed: Seed, person: Person, days: int, year: int) -> int:
    """Days of a whole year × days employed / days of the year, rounded half up to a half day."""
    whole = next(s for s in seed.rows["sites"] if s["site"] == person.row["site"])["annual_leave_hundredths"]
    length = 366 if year % 4 == 0 else 365
    return int((2 * whole * days + 50 * length) // (100 * length)) * 50


def _blocks(seed: Seed, person: Person, calendar: Calendar, first: str, end: str, left: int) -> int:
    """Draw blocks of leave in spans of five weeks, so that none can overlap; gives the hundredths taken."""
    site, taken = person.row["site"], 0
    horizon = min(end, "2026-08-31")
    slot = day_of(first)
    while (slot + timedelta(34)).isoformat() <= horizon:
        monday = slot + timedelta((7 - slot.weekday()) % 7)
        draw = seed.draw(100)
        if draw < 56:
            wanted = 1 + seed.draw(10)
            begin = monday + timedelta(7 * seed.draw(2) + seed.draw(5 if wanted < 4 else 1))
            taken += _block(seed, person, calendar, begin, wanted, left - taken)
        elif draw < 70 and monday.isoformat() < "2026-03-01":
            begin = monday + timedelta(7 * seed.draw(3) + seed.draw(4))
            _sick(seed, person, calendar, begin)
        elif draw in (70, 71) and calendar.code(site, monday) == 0:
            kind = seed.pick(("SPECIAL", "STUDY"))
            if kind == "SPECIAL" or monday.year >= 2025 and person.contracts[-1]["type"] == "permanent":
                asked = (monday - timedelta(30)).isoformat()
                if asked < TODAY and _clear(person, monday.isoformat(), monday.isoformat()):
                    _ask(seed, person, calendar, kind, monday.isoformat(), monday.isoformat(), asked)
        slot += timedelta(35)
    return taken


def _block(seed: Seed, person: Person, calendar: Calendar, begin: date, wanted: int, left: int) -> int:
    last = begin
    for _ in range(13):
        if calendar.working_days(person.row["site"], begin.isoformat(), last.isoformat()) >= wanted:
            break
        last += timedelta(1)
    while last.weekday() > 4:
        last -= timedelta(1)
    cost = 100 * calendar.working_days(person.row["site"], begin.isoformat(), last.isoformat())
    asked = (begin - timedelta(15 + seed.draw(60))).isoformat()
    if not 0 < cost <= left or asked >= TODAY or not _clear(person, begin.isoformat(), last.isoformat()):
        return 0
    state = "approved" if begin.isoformat() > TODAY or seed.draw(30) else seed.pick(("cancelled", "rejected"))
    _ask(seed, person, calendar, "ANNUAL", begin.isoformat(), last.isoformat(), asked, status=state,
         reason=seed.pick(_REASONS) or None)  # fmt: skip
    return cost if state == "approved" else 0


def _sick(seed: Seed, person: Person, calendar: Calendar, begin: date) -> None:
    last = begin + timedelta(seed.pick((0, 0, 1, 1, 2, 3, 4, 6)))
    first, end = begin.isoformat(), last.isoformat()
    if not calendar.working_days(person.row["site"], first, end) or not _clear(person, first, end):
        return
    reason: str = seed.pick(_ILLS)
    if (last - begin).days > 2:
        reason += f"; certificate of {begin.isoformat()} received"
    _ask(seed, person, calendar, "SICK", first, end, first, reason=reason)


def _clear(person: Person, first: str, last: str) -> bool:
    return all(end < first or begin > last for begin, end in person.away)


def _long_leave(seed: Seed, found: list[Person], calendar: Calendar) -> None:
    """Unpaid and parental leave; who is on parental leave now has that state."""
    steady = [p for p in found if p.row["hired_on"] < "2023-01" and p.row["status"] == "active" and not p.head]
    chosen = seed.some(steady, 60)
    for index, person in enumerate(chosen):
        months = list(month_range("2023-05", "2026-01"))
        first = f"{seed.pick(months)}-{seed.pick(('02', '09', '16'))}"
        if index < 7:
            first, last = f"2026-0{1 + index % 3}-02", f"2026-0{5 + index % 3}-29"
        else:
            last = later(first, seed.pick((4, 6, 11, 18)) if index > 14 else 60)
        if last[:4] == first[:4] and _clear(person, first, last):
            kind = "PARENTAL" if index <= 14 else "UNPAID"
            _ask(seed, person, calendar, kind, first, last, later(first, -70))
            if first <= TODAY <= last:
                person.row["status"] = "on_leave"


def _open_requests(seed: Seed, found: list[Person], calendar: Calendar) -> None:
    """Requests that wait for a decision."""
    there = [p for p in found if p.row["status"] == "active" and not p.head]
    for person in seed.some(there, 44):
        asked = later(TODAY, -1 - seed.draw(12))
        monday = later("2026-04-13", 7 * seed.draw(9))
        last = later(monday, seed.pick((0, 1, 4, 4, 8)))
        if person.row["hired_on"] < asked and _clear(person, monday, last):
            if calendar.working_days(person.row["site"], monday, last):
                _ask(seed, person, calendar, "ANNUAL", monday, last, asked, status="pending", decided_by=None,
                     reason=seed.pick(_REASONS) or None, version=1)  # fmt: skip


def attendance(seed: Seed, found: list[Person], calendar: Calendar) -> None:
    """One row a person and month, from the first month on or the first day of work."""
    codes: dict[tuple[str, str], list[int]] = {}
    for site in ("Rotterdam", "Leeds", "Osaka"):
        for month in month_range(FIRST_MONTH, LAST_MONTH):
            start, length = day_of(first_of(month)), int(last_of(month)[8:])
            codes[site, month] = [calendar.code(site, start + timedelta(n)) for n in range(length)]
    for person in found:
        busy = seed.draw(100)
        last = min(LAST_MONTH, (person.row["left_on"] or LAST_MONTH)[:7])
        for month in month_range(max(FIRST_MONTH, person.row["hired_on"][:7]), last):
            _month(seed, person, month, codes[person.row["site"], month], busy)


def _month(seed: Seed, person: Person, month: str, codes: list[int], busy: int) -> None:
    first = int(person.row["hired_on"][8:]) if person.row["hired_on"][:7] == month else 1
    left = person.row["left_on"]
    final = int(left[8:]) if left and left[:7] == month else len(codes)
    contract = next(c for c in reversed(person.contracts) if c["from_date"] <= f"{month}-{first:02}")
    free = {day for begin, end in person.away for day in _days_in(month, begin, end)}
    extra = contract["type"] in ("intern", "working_student") or person.head
    words, days = seed.word() + seed.word(), []
    for number in range(first, final + 1):
        code, word, more = codes[number - 1], words[number], words[number + 32]
        if code == 0 and number not in free:
            if word < 14 + busy // 3 and not extra:
                code = 15 * (1 + more % (4 if busy < 70 else 9))
            elif word > 247:
                code = 1000 * (5 * (1 + more % 7))
            elif word == 200 and more < 100:
                code = 3
        days.append(code)
    seed.add("attendance_months", employee_id=person.id, month=month, first_day=first,
             daily_minutes=contract["weekly_minutes"] // 5, days=json.dumps(days, separators=(",", ":")))  # fmt: skip


def _days_in(month: str, begin: str, end: str) -> range:
    if begin[:7] > month or end[:7] < month:
        return range(0)
    low = int(begin[8:]) if begin[:7] == month else 1
    return range(low, (int(end[8:]) if end[:7] == month else 31) + 1)


def corrections(seed: Seed, found: list[Person], calendar: Calendar) -> None:
    """Corrections of days: most approved, some rejected, those of the last weeks waiting."""
    notes = ("forgot to clock out", "time clock was out of order", "stayed for the night shift", "client visit",
             "stock taking", "release weekend", "clocked in at the wrong gate")  # fmt: skip
    there = [p for p in found if p.row["status"] == "active" and not p.head]
    used: set[tuple[str, str]] = set()
    for index in range(330):
        person = seed.pick(there)
        late = index >= 300
        day = later("2026-02-16" if late else "2023-03-06", seed.draw(26 if late else 1080))
        if person.row["hired_on"] > day or calendar.code(person.row["site"], day_of(day)) or (person.id, day) in used:
            continue
        if not _clear(person, day, day):
            continue
        used.add((person.id, day))
        normal = next(c for c in reversed(person.contracts) if c["from_date"] <= day)["weekly_minutes"] // 5
        over = 15 * seed.draw(13)
        state = "pending" if late else "approved" if seed.draw(10) else "rejected"
        seed.add("attendance_corrections", correction_id=seed.next_id("AC"), employee_id=person.id, day=day,
                 worked_minutes=normal + over, overtime_minutes=over, status=state, note=seed.pick(notes),
                 requested_by=person.id, decided_by=None if late else person.row["manager_id"],
                 version=1 if late else 2)  # fmt: skip
