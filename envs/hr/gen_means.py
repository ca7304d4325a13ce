"""Somebody's overtime pay beside the mean of the department that they are brought along in."""

from __future__ import annotations

from bisect import bisect
from typing import NamedTuple

from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_data import (
    LEAST,
    MOST_MEMBERS,
    MOST_READS,
    MOST_ROWS,
    Department,
    Person,
    Roster,
    Slip,
)
from agentgym.envs.hr.gen_people import newcomer, pay
from agentgym.envs.hr.seed import half_up

_TRIES = 12


class Comparison(NamedTuple):
    """One person's overtime pay over months beside the mean of the department.

    Attributes:
        person: whom it is about.
        months: how many, up to the latest closed one.
        roster: places in the list of members of those who were members on every day.
        place: that of the person.
        own, mean: minor units; the mean is 0 where it is one of less than five people.
        ids: the people whose mean it is.
    """

    person: Person
    months: int
    roster: tuple[int, ...]
    place: int
    own: int
    mean: int
    ids: tuple[str, ...]


def comparison(case: Case, few: bool, most: int) -> Comparison | None:
    """Bring somebody along whose figures can be compared, or (*few*) who is one of less than five in their currency.

    Args:
        case: the case.
        few: whether the mean is one that managers may not hear.
        most: months, at most.
    """
    places = case.untouched()
    for _ in range(_TRIES if places else 0):
        department, months = case.draw.choice(places), case.draw.integers(1, most + 1)
        roster = case.data.rosters.get((department.id, months))
        site = case.draw.choice(tuple(case.data.sites)) if few else department.site
        if roster is not None and _readable(roster, case.data.sites[site].currency, months, few):
            return _compared(case, department, site, roster, months)
    return None


def _readable(roster: Roster, currency: str, months: int, few: bool) -> bool:
    """Whether gold can read all of it: person by person, and by the department's pay slips on one page."""
    count = len(roster.paid[currency]) + 1
    if roster.slips + months > MOST_ROWS or (count < LEAST) != few:
        return False
    members = len(roster.whole) + 1
    return few or (roster.present[currency] and members <= MOST_MEMBERS and members * months <= MOST_READS)


def _compared(case: Case, department: Department, site: str, roster: Roster, months: int) -> Comparison | None:
    person = newcomer(case, [department], site=site)
    if person is None:
        return None
    case.figured.add(department.id)
    others = roster.paid[person.currency]
    total, count = sum(roster.overtime[each] for each in others), len(others) + 1
    few = count < LEAST

    def fits(slips: tuple[Slip, ...]) -> bool:
        own, base = sum(slip.overtime for slip in slips), slips[-1].base
        mean = half_up(total + own, count)
        if few:
            return own > 0 and case.hides(own, base)
        apart = {own, mean, base, 0}
        return own > 0 and abs(own - mean) not in apart and case.hides(own - mean, own, mean, base)

    slips = pay(case, person, months, fits)
    if slips is None:
        return None
    own = sum(slip.overtime for slip in slips)
    place = bisect(roster.listed, person.id)
    listed = [*roster.listed[:place], person.id, *roster.listed[place:]]
    whole = tuple(n for n, each in enumerate(listed) if each in roster.whole or n == place)
    mean = 0 if few else half_up(total + own, count)
    return Comparison(person, months, whole, place, own, mean, (*others, person.id))
