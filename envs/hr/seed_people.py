"""The people of the company: offices, departments, who worked where and when, contracts, grades, rights, accounts."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentgym.envs.hr import seed_data as data
from agentgym.envs.hr.seed import (
    NOW,
    Row,
    Seed,
    first_of,
    half_up,
    last_of,
    later,
    month_after,
    month_range,
    months_later,
)

TODAY = NOW[:10]
LEAVERS = 86
"""People who have left since the first month with attendance."""

_SPECIALISTS = ("HR Partner", "Recruiter", "Payroll Officer")
"""Titles that go with a role of their own."""


@dataclass
class Person:
    """A person while the company is made up.

    Attributes:
        row: the row of ``employees``.
        home: the department that the person is in now, or was in last.
        head: manager of that department.
        moved: (month, department before) where the person came from another one.
        contracts: rows of ``contracts``, oldest first.
        away: first and last day of each leave that is approved or asked for.
    """

    row: Row
    home: str
    head: bool = False
    moved: tuple[str, str] | None = None
    contracts: list[Row] = field(default_factory=list)
    away: list[tuple[str, str]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The employee id."""
        return str(self.row["employee_id"])


def places(seed: Seed) -> None:
    """Offices, days off, cost centres, amounts of the grades, kinds of leave."""
    for site, (country, currency, percent, days) in data.SITES.items():
        seed.add("sites", site=site, country=country, currency=currency, deduction_percent=percent,
                 annual_leave_hundredths=days)  # fmt: skip
        _amounts(seed, site, currency)
    for site, day, name in data.holidays():
        seed.add("public_holidays", site=site, day=day, name=name)
    for line in data.DEPARTMENTS.strip().splitlines():
        number, name = line.split("|")[:2]
        seed.add("cost_centres", cost_centre=f"CC{100 + 10 * int(number[1:])}", name=name)
    for number, name in (("CC905", "Project Halyard"), ("CC910", "Project Sextant"), ("CC915", "Project Tern")):
        seed.add("cost_centres", cost_centre=number, name=name)
    for code, name, paid, certificate, notice, kind, balance in data.LEAVE_TYPES:
        seed.add("leave_types", leave_type=code, name=name, paid=paid, needs_certificate_after_days=certificate,
                 notice_days=notice, day_kind=kind, has_balance=balance)  # fmt: skip


def _amounts(seed: Seed, site: str, currency: str) -> None:
    unit, bases = data.BASES[currency]
    starts = list(data.RAISES)
    for grade, base, percent in zip(data.GRADES, bases, data.OVERTIME[currency], strict=True):
        for start, after in zip(starts, [*starts[1:], ""], strict=True):
            monthly = half_up(base * unit * data.RAISES[start], 1000)
            seed.add("grade_amounts", site=site, grade=grade, valid_from=start,
                     valid_to=later(after, -1) if after else None, monthly_base_minor=monthly,
                     hourly_rate_minor=half_up(monthly * 12, 52 * 40), overtime_percent=percent)  # fmt: skip


def people(seed: Seed) -> list[Person]:
    """Everybody who works at the company or has left since the first month, with departments and line managers."""
    lines = [line.split("|") for line in data.DEPARTMENTS.strip().splitlines()]
    slots: list[tuple[str, int]] = [(line[0], rank) for line in lines for rank in range(int(line[5]))]
    crowd = [line[0] for line in lines if int(line[5]) > 12]
    slots += [(seed.pick(crowd), -1) for _ in range(LEAVERS)]
    taken: set[str] = set()
    found: list[Person] = []
    # Heads first, so that the highest people have low numbers; the rest in an order that says nothing.
    for number, rank in [s for s in slots if s[1] == 0] + seed.some([s for s in slots if s[1] != 0], len(slots)):
        line = lines[int(number[1:]) - 1]
        found.append(_person(seed, line, rank, taken))
    _lines_of_management(seed, lines, found)
    _moves(seed, found)
    for person in found:
        _membership(seed, person)
    return found


def _person(seed: Seed, line: list[str], rank: int, taken: set[str]) -> Person:
    number, name, _, office, second, _, titles = line
    site = second if second and rank != 0 and seed.draw(4) == 0 else office
    full = f"{seed.pick(data.FIRST_NAMES[site].split())} {seed.pick(data.LAST_NAMES[site].split('|'))}"
    if rank == 0:
        hired = f"{2011 + seed.draw(10)}-{1 + seed.draw(12):02}-01"
    elif seed.draw(100) < 58:
        hired = f"{2012 + seed.draw(10)}-{1 + seed.draw(12):02}-{seed.pick(('01', '01', '15'))}"
    else:
        months = list(month_range("2022-01", "2026-02"))
        hired = f"{seed.pick(months)}-{seed.pick(('01', '01', '01', '15'))}"
    left = _left(seed, hired) if rank < 0 else None
    title = _title(seed, number, name, titles, rank)
    birth = f"{int(hired[:4]) - 22 - seed.draw(24)}-{1 + seed.draw(12):02}-{1 + seed.draw(28):02}"
    employee_id = seed.next_id("E")
    row = seed.add(
        "employees", employee_id=employee_id, name=full, email=_address(full, taken), title=title,
        department_id=number, manager_id=None, status="left" if left else "active", hired_on=hired, left_on=left,
        cost_centre=f"CC{100 + 10 * int(number[1:])}", site=site, birth_date=birth,
        national_id=_national(seed, site, birth), bank_account=_account(seed, site),
        legacy_ref=f"TW-{int(employee_id[1:]) * 7919 % 90007:05}", version=1 + seed.draw(6),
    )  # fmt: skip
    return Person(row, number, rank == 0)


def _left(seed: Seed, hired: str) -> str:
    months = [m for m in month_range("2023-04", "2026-02") if m > month_after(hired[:7], 3)]
    return last_of(seed.pick(months or ["2026-02"]))


def _title(seed: Seed, number: str, name: str, titles: str, rank: int) -> str:
    if rank == 0:
        return "Chief Executive" if number == "D01" else f"Head of {name}"
    options = titles.split("/")
    if number in ("D18", "D19") and rank > 0:
        # There must be people for payroll, recruiting and each HR partner's departments.
        return options[1] if rank <= 3 else options[2] if rank <= 8 else options[0]
    return options[min(seed.draw(5) // 2, 2)]


def _address(full: str, taken: set[str]) -> str:
    plain = "".join(data.ASCII.get(letter, letter) for letter in full.lower())
    plain = "".join(c if c.isascii() and (c.isalnum() or c == ".") else "" for c in plain.replace(" ", "."))
    address, number = plain, 1
    while address in taken:
        number += 1
        address = f"{plain}{number}"
    taken.add(address)
    return f"{address}@tidewell.example"


def _national(seed: Seed, site: str, birth: str) -> str:
    digits = f"{seed.draw(10**12):012}"
    if site == "Leeds":
        return f"QQ{digits[:6]}{'ABCD'[int(digits[6]) % 4]}"
    return f"0{digits[:8]}" if site == "Rotterdam" else f"{birth[2:4]}{digits[:10]}"


def _account(seed: Seed, site: str) -> str:
    digits = f"{seed.draw(10**14):014}"
    if site == "Rotterdam":
        return f"NL00TIDE{digits[:10]}"
    return f"GB00TIDE{digits}" if site == "Leeds" else f"TIDEJP{digits[:10]}"


def _lines_of_management(seed: Seed, lines: list[list[str]], found: list[Person]) -> None:
    """Line managers, departments and their HR partners: a team lead for about nine people of a large department."""
    heads = {person.home: person for person in found if person.head}
    staff = [p for p in found if p.home == "D19" and p.row["status"] == "active" and p.row["title"] == "HR Partner"]
    for line in lines:
        number, name, parent, office = line[:4]
        head = heads[number]
        head.row["manager_id"] = heads[parent or "D01"].id if number != "D01" else None
        # An HR partner looks after about five departments, and never after their own.
        partner = staff[int(number[1:]) % 4] if number != "D19" else heads["D17"]
        size = int(line[5])
        seed.add("departments", department_id=number, name=name, parent_id=parent or None, manager_id=head.id,
                 partner_id=partner.id, cost_centre=head.row["cost_centre"], site=office,
                 headcount_plan=size + seed.draw(4))  # fmt: skip
        members = [person for person in found if person.home == number and not person.head]
        settled = [p for p in members if p.row["status"] == "active" and p.row["hired_on"] < "2022-06"]
        settled = [p for p in settled if p.row["title"] not in _SPECIALISTS]
        leads = seed.some(settled, len(members) // 9) if len(members) >= 16 else []
        for lead in leads:
            lead.row["manager_id"] = head.id
            lead.row["title"] = f"Team Lead {name}"
        others = [person for person in members if person not in leads]
        for index, person in enumerate(others):
            person.row["manager_id"] = leads[index % len(leads)].id if leads else head.id


def _moves(seed: Seed, found: list[Person]) -> None:
    """Some people came from another department; a dozen of them in the last months."""
    recent, older = list(month_range("2025-12", "2026-03")), list(month_range("2023-07", "2025-11"))
    staying = [p for p in found if not p.head and p.row["status"] == "active" and p.row["hired_on"] < "2023-04"]
    sites = {person.home: set() for person in found}  # type: dict[str, set[str]]
    for person in found:
        sites[person.home].add(person.row["site"])
    for index, person in enumerate(seed.some(staying, 46)):
        options = sorted(d for d in sites if person.row["site"] in sites[d] and d not in (person.home, "D01", "D19"))
        person.moved = (seed.pick(recent if index < 14 else older), seed.pick(options))


def _membership(seed: Seed, person: Person) -> None:
    row = person.row
    start = row["hired_on"]
    if person.moved:
        month, before = person.moved
        seed.add("memberships", employee_id=person.id, from_date=start, to_date=later(first_of(month), -1),
                 department_id=before)  # fmt: skip
        start = first_of(month)
    seed.add("memberships", employee_id=person.id, from_date=start, to_date=row["left_on"], department_id=person.home)


def contracts(seed: Seed, found: list[Person]) -> None:
    """Contracts, grades from the first contract on, and the states of employment that follow."""
    ending = [p for p in found if p.row["status"] == "active" and not p.head and p.row["hired_on"] < "2025-01"]
    for person, day in zip(seed.some(ending, 6), ["2026-03-31", "2026-04-30"] * 3, strict=True):
        person.row |= {"status": "notice_given", "left_on": day}
        next(m for m in reversed(seed.rows["memberships"]) if m["employee_id"] == person.id)["to_date"] = day
    for person in found:
        kind = _kind(seed, person)
        grade = _grade(seed, person, kind)
        _contract(seed, person, kind, grade)
        if kind == "permanent":
            _promotions(seed, person, grade)
    people_team = [p for p in found if p.home == "D19" and p.row["title"] == "HR Administrator"]
    for terms in seed.rows["pay_terms"]:
        terms["entered_by"] = seed.pick(people_team).id


def _kind(seed: Seed, person: Person) -> str:
    hired, state = person.row["hired_on"], person.row["status"]
    lead = person.row["title"].startswith(("Team Lead", *_SPECIALISTS))
    if person.head or lead or hired < "2023-04" or state == "notice_given":
        return "permanent"
    draw = seed.draw(100)
    if draw < 22:
        return "fixed_term"
    if hired >= "2025-02" and draw < 42:
        return "working_student"
    return "intern" if hired >= "2025-09" and draw < 62 else "permanent"


def _grade(seed: Seed, person: Person, kind: str) -> int:
    """Number of the grade on the first day."""
    if person.head:
        return 9 if person.home == "D01" else 8
    if kind in ("intern", "working_student"):
        return 1
    if person.row["title"].startswith("Team Lead"):
        return 5 + seed.draw(2)
    low = {"D08": 1, "D09": 1, "D10": 2, "D11": 2, "D15": 2, "D19": 3, "D18": 3}.get(person.home, 3)
    return low + seed.draw(4)


def _contract(seed: Seed, person: Person, kind: str, grade: int) -> None:
    hired, left = person.row["hired_on"], person.row["left_on"]
    minutes = 1200 if kind == "working_student" else seed.pick((2400,) * 8 + (1920, 1440))
    if person.head or kind == "intern":
        minutes = 2400
    ends: str | None = None
    if kind == "intern":
        ends = later(months_later(hired, 8), -1)
    elif kind == "working_student":
        ends = "2026-09-30"
    elif kind == "fixed_term":
        ends = last_of(month_after(hired[:7], 11 + 6 * seed.draw(3)))
    if left and ends:
        ends = max(ends, left)
    probation = later(months_later(hired, 6), -1)
    _terms(seed, person, hired, grade, "first contract")
    _signed(seed, person, kind, hired, ends, minutes, grade, probation)
    if kind == "fixed_term" and ends is not None and ends < (left or "2026-04"):
        minutes = seed.pick((minutes, minutes, 2400, 1920))
        _signed(seed, person, "permanent", later(ends, 1), None, minutes, grade, None)


def _signed(seed: Seed, person: Person, kind: str, start: str, end: str | None, minutes: int, grade: int,
            probation: str | None) -> None:  # fmt: skip
    row = seed.add("contracts", contract_id=seed.next_id("K"), employee_id=person.id, type=kind, from_date=start,
                   to_date=end, weekly_minutes=minutes, grade=f"G{grade}", probation_until=probation,
                   version=1)  # fmt: skip
    person.contracts.append(row)


def _terms(seed: Seed, person: Person, start: str, grade: int, note: str) -> None:
    seed.add("pay_terms", employee_id=person.id, valid_from=start, grade=f"G{grade}", site=person.row["site"],
             note=note, entered_by="")  # fmt: skip


def _promotions(seed: Seed, person: Person, grade: int) -> None:
    last = (person.row["left_on"] or "2026-03")[:7]
    months = [m for m in month_range("2023-06", "2026-03") if month_after(person.row["hired_on"][:7], 8) < m < last]
    if months and grade < 8 and seed.draw(100) < 42:
        first = seed.pick(months)
        _terms(seed, person, first_of(first), grade + 1, "promotion after the yearly review")
        second = [m for m in months if m > month_after(first, 14)]
        if second and grade < 7 and seed.draw(3) == 0:
            _terms(seed, person, first_of(seed.pick(second)), grade + 2, "promotion after the yearly review")


def rights(seed: Seed, found: list[Person]) -> None:
    """Rights beyond those of a role, and accounts."""
    team = [p for p in found if p.home == "D19" and p.row["title"] == "HR Administrator"]
    there = [p for p in found if p.row["status"] != "left"]

    def grant(person: Person, right: str, department: str | None = None, until: str | None = None) -> None:
        seed.add("access_grants", grant_id=seed.next_id("AG"), employee_id=person.id, right=right,
                 department_id=department, until=until, granted_by=seed.pick(team).id)  # fmt: skip

    for person in found:
        if person.row["status"] == "left":
            continue
        grant(person, "view_directory")
        title = person.row["title"]
        if title == "Payroll Officer":
            for right in ("view_attendance", "view_pay", "change_pay"):
                grant(person, right)
        elif title == "Recruiter":
            grant(person, "recruit")
        elif title.startswith("Team Lead"):
            grant(person, "view_attendance", person.home)
    for person in seed.some([p for p in there if not p.head], 24):
        right = seed.pick(("view_attendance", "decide_leave", "recruit", "view_pay"))
        until = seed.pick((None, "2025-12-31", "2026-02-28", "2026-06-30", "2026-12-31"))
        grant(person, right, seed.pick(("D03", "D08", "D10", "D13", "D15", person.home)), until)
    engineers, sellers = ("D02", "D03", "D04", "D05", "D06"), ("D12", "D13", "D14", "D15")
    for person in found:
        systems = ["mail", "time_clock", "expenses"]
        systems += ["vpn", "code_host"] if person.home in engineers else ["crm"] if person.home in sellers else []
        if person.head:
            systems.append("vpn")
        for system in dict.fromkeys(systems):
            gone = person.row["status"] == "left" or (system == "expenses" and seed.draw(20) == 0)
            seed.add("accounts", account_id=seed.next_id("AT"), employee_id=person.id, system=system,
                     active=int(not gone))  # fmt: skip
