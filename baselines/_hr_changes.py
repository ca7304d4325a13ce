"""Requests at the HR desk that change pay by a figure which has to be worked out first. Only for HR."""

from __future__ import annotations

import re
from datetime import date

from agentgym.baselines._api_reader import Json
from agentgym.baselines._hr_case import Person
from agentgym.baselines._hr_desk import Desk, held
from agentgym.baselines._hr_words import first_of, following, half_up, money

_ADD, _GRADE, _DECIDE = "Add to or take from the pay", "Give a person another grade", "Approve or reject a correction"
_FOR_GRADE, _FOR_OVERTIME, _BACK = "difference of pay after", "pay for overtime", "taken back from the person"


class Changes(Desk):
    """What is entered is worked out, and agreed to by the user before."""

    def correction(self) -> None:
        """Policy 5.2: a correction in a month that is paid is rejected, and what it would have paid entered."""
        person = self._somebody()
        waiting = self.case.corrections(person.id)
        if not waiting:
            self.refuse("impossible", "not_found", "No correction waits.")
        asked = waiting[0]
        month = asked.day.isoformat()[:7]
        if self.case.is_open(month):
            self._decide(asked.id, asked.version, "agree")
            self.done("The correction is approved.", {"result": "approved"})
        minutes = self.case.overtime(month, person=person.id)
        pay = held(self.case.pay(person.id), month)
        without = sum(minutes.values())
        more = without - minutes.get((person.id, asked.day), 0) + asked.minutes
        share = pay.rate * pay.percent
        amount = half_up(more * share, 6000) - half_up(without * share, 6000)
        into = self._into(person)
        self._decide(asked.id, asked.version, "do not agree")
        self._adjust(person, into, _FOR_OVERTIME, amount, pay.currency, f"Overtime of a closed month, {month}")
        self.done(
            f"That month is paid, so it is rejected and {money(amount, pay.currency)} come with the next pay.",
            {"adjustments_minor": amount, "currency": pay.currency},
        )

    def grade(self) -> None:
        """Policy 6.2, 6.3: the grade, then one adjustment for each month that is paid, oldest first."""
        person = self._somebody()
        self.case.contracts(person.id)
        month = self.ask.months[0]
        into = self._into(person)
        paid = _until(month, into, self.case.today)
        before = self.case.pay(person.id)
        minutes = {each: sum(self.case.overtime(each, person=person.id).values()) for each in paid}
        given: Json = {"the person": person.id, "the new grade": self.ask.grade}
        given |= {"first day of a month": first_of(month)}
        given |= {"why": "As agreed.", "the version that was read": person.version}
        self.case.write(_GRADE, given)
        after, total, currency = self.case.pay(person.id), 0, ""
        for each in paid:
            old, new = held(before, each), held(after, each)
            extra = [half_up(minutes[each] * pay.rate * pay.percent, 6000) for pay in (old, new)]
            amount = new.base - old.base + extra[1] - extra[0]
            self._adjust(person, into, _FOR_GRADE, amount, new.currency, f"Grade change, {each}")
            total, currency = total + amount, new.currency
        self.done(
            f"The grade is changed, and {money(total, currency)} come with the next pay.",
            {"adjustments_minor": total, "currency": currency},
        )

    def repayment(self) -> None:
        """Policy 6.1: what an adjustment gave is taken back in the earliest month that is open."""
        person = self._somebody()
        given = self.case.adjustments(person.id, self.ask.months[0])
        if not given:
            self.refuse("impossible", "not_found", "There is no such adjustment.")
        wanted = set(re.findall(r"\w{4,}", self.ask.text.casefold()))
        old = max(given, key=lambda each: len(wanted & set(re.findall(r"\w{4,}", each.note.casefold()))))
        into = self._into(person)
        self._adjust(person, into, _BACK, -old.amount, old.currency, f"Paid twice: {old.note}")
        day = next(run.pay_day for run in self.case.runs() if run.month == into)
        self.done(
            f"It is taken back with the pay of {day.isoformat()}.",
            {"adjustments_minor": -old.amount, "currency": old.currency},
        )

    def _somebody(self) -> Person:
        person = self.person()
        if person is None:
            self.refuse("impossible", "not_found", "I cannot find that person.")
            raise LookupError("the episode went on after its end")
        return person

    def _into(self, person: Person) -> str:
        """The earliest month whose run is open, once it is known what stands there already."""
        month = self.case.runs()[0].month
        self.case.adjustments(person.id, month)
        return month

    def _decide(self, correction: str, version: int, meaning: str) -> None:
        decision = self.case.api.value("Working time by day", meaning)
        given = {"the correction": correction, "what is decided": decision, "the version that was read": version}
        self.case.write(_DECIDE, given)

    def _adjust(self, person: Person, month: str, kind: str, amount: int, currency: str, note: str) -> None:
        given: Json = {"the person's": currency, "the person": person.id, "a month whose run is open": month}
        given |= {"what it is for": self.case.api.value("payroll runs", kind), "below zero takes": amount, "why": note}
        self.case.write(_ADD, given, currency)


def _until(month: str, into: str, today: date) -> list[str]:
    """The months from one on that are over and paid before another."""
    found = []
    while month < min(into, today.isoformat()[:7]):
        found.append(month)
        month = following(month)
    return found
