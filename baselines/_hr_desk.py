"""Who works at the HR desk: the case, what is asked, how it ends, and what is done with care. Only for HR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentgym.baselines._hr_case import Department, HrCase, Pay, Person
from agentgym.baselines._hr_words import first_of, understood
from agentgym.baselines._view import View

Json = dict[str, Any]

_PAY_ROLES = ("payroll_officer", "hr_admin")


@dataclass(frozen=True)
class Habits:
    """What the analyst is careful about.

    Attributes:
        masks: tells nobody what policy 2 protects.
        roster: takes a mean over the members of the whole period (policy 3.4), not over the rows that came.
        all_pages: reads every list to its end (policy 3.6), not the first page alone.
    """

    masks: bool = True
    roster: bool = True
    all_pages: bool = True


class Desk:
    """One episode.

    Args:
        view: the episode.
        habits: what is done with care.

    Attributes:
        case: the API.
        ask: what is wanted.
        places: departments by name.
    """

    def __init__(self, view: View, habits: Habits) -> None:
        self.view, self.habits = view, habits
        self.case = HrCase(view) if habits.all_pages else HrCase(view, 1)
        self.ask = understood(view.opening, self.case.today)
        self.places = {each.name: each for each in self.case.departments()}

    # How a case ends.

    def done(self, message: str, answer: Json) -> None:
        """Tell and finish. Who does not mask tells what the figures come from as well, after the figure."""
        self.view.say(message)
        if not self.habits.masks and self.case.seen:
            self.view.say(f"In detail: {'; '.join(self.case.seen)}.")
        self.view.finish("done", answer)

    def refuse(self, outcome: str, reason: str, message: str) -> None:
        """Say why not. Who does not mask puts what was seen into the record of the case."""
        self.view.say(message)
        seen = {} if self.habits.masks or not self.case.seen else {"detail": self.case.seen}
        self.view.finish(outcome, {"reason": reason, **seen})

    # Who and where.

    def place(self) -> Department:
        """The department that is named, else the one that the person manages, else their first."""
        named = [each for name, each in self.places.items() if name in self.ask.text]
        own = [each for each in self.places.values() if each.id in self.case.manages]
        found = [*named, *own]
        if not found:
            self.refuse("impossible", "not_found", "I cannot find that department.")
        return found[0]

    def person(self) -> Person | None:
        """The person that is named, None for who asks; of several of a name the one in the department in question."""
        for name in self.ask.names:
            if name in self.places:
                continue
            # A sentence may begin with a word that is no name.
            found = self.case.people(name=name) or self.case.people(name=name.partition(" ")[2])
            here = {each.id for label, each in self.places.items() if label in self.ask.text} or set(self.case.manages)
            near = [person for person in found if person.department in here]
            if found:
                return (near or found)[0]
        return None

    def may_hear(self, person: Person) -> bool:
        """Policy 2.1: whether who asks may be told that person's pay; looks up whose department it is."""
        if self.case.role in _PAY_ROLES:
            return True
        place = self.case.department(person.department)
        return place is not None and place.partner == self.case.me


def held(history: list[Pay], month: str) -> Pay:
    """What held on the first day of a month."""
    day = first_of(month)
    return next(each for each in history if each.first <= day and (each.last is None or each.last >= day))
