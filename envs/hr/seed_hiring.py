"""Positions to fill and the people who applied."""

from __future__ import annotations

from agentgym.envs.hr import seed_data as data
from agentgym.envs.hr.seed import NOW, Row, Seed, half_up, later
from agentgym.envs.hr.seed_people import Person

_STAGES = ("applied", "screening", "interview", "offer")
_NOTES = ("no findings", "degree confirmed", "one employer could not be reached", "gap of four months explained")


def hiring(seed: Seed, found: list[Person]) -> None:
    """Requisitions in every state with their candidates; open ones of most departments."""
    departments = seed.rows["departments"]
    states = ("open", "open", "open", "on_hold", "filled", "filled", "closed", "draft")
    for index in range(34):
        department = departments[(index * 7 + 2) % len(departments)]
        line = data.DEPARTMENTS.strip().splitlines()[int(department["department_id"][1:]) - 1].split("|")
        state = states[index % len(states)]
        openings = 1 + seed.draw(5) // 2
        age = seed.draw(70) if state in ("open", "draft", "on_hold") else 120 + seed.draw(600)
        row = seed.add(
            "requisitions", requisition_id=seed.next_id("RQ"), department_id=department["department_id"],
            title=seed.pick(line[6].split("/")), grade=f"G{3 + seed.draw(4)}", status=state, openings=openings,
            filled=openings if state == "filled" else 0, hiring_manager_id=department["manager_id"],
            opened_on=later(NOW, -3 - age), version=1 + seed.draw(4),
        )  # fmt: skip
        if state != "draft":
            _candidates(seed, row, department["site"])


def _candidates(seed: Seed, requisition: Row, site: str) -> None:
    currency = data.SITES[site][1]
    unit, bases = data.BASES[currency]
    usual = bases[int(requisition["grade"][1:]) - 1] * unit
    last = len(_STAGES) if requisition["status"] in ("open", "on_hold") else 1
    hires = requisition["filled"]
    for number in range(5 + seed.draw(9) + 12 * (requisition["status"] == "open" and seed.draw(3) == 0)):
        stage = _STAGES[min(seed.draw(9) // 2, last - 1)] if seed.draw(4) else seed.pick(("withdrawn", "turned_down"))
        if requisition["status"] in ("filled", "closed"):
            stage = "hired" if number < hires else seed.pick(("withdrawn", "turned_down", "turned_down"))
        met = stage in ("interview", "offer", "hired") or (stage == "turned_down" and seed.draw(2) == 0)
        checked = stage in ("offer", "hired")
        where = seed.pick(list(data.FIRST_NAMES))
        name = f"{seed.pick(data.FIRST_NAMES[where].split())} {seed.pick(data.LAST_NAMES[where].split('|'))}"
        address = "".join(c for c in name.lower().replace(" ", ".") if c.isascii() and (c.isalpha() or c == "."))
        candidate = seed.next_id("CA")
        applied = min(later(requisition["opened_on"], 1 + seed.draw(40)), later(NOW, -1))
        seed.add(
            "candidates", candidate_id=candidate, requisition_id=requisition["requisition_id"], name=name,
            email=f"{address}.{candidate[2:]}@example.{seed.pick(('com', 'net', 'org'))}", stage=stage,
            score_hundredths=220 + 10 * seed.draw(27) if met else None,
            source=seed.pick(("referral", "job_board", "agency", "careers_page")), applied_on=applied,
            expected_pay_minor=half_up(usual * (90 + seed.draw(35)), 100 * unit) * unit if seed.draw(5) else None,
            currency=currency, background_note=seed.pick(_NOTES) if checked else None, version=1 + seed.draw(3),
        )  # fmt: skip
