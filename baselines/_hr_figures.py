"""Requests for figures at the HR desk: pay of people and departments, counts. Only for HR."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentgym.baselines._hr_case import Member, Slip
from agentgym.baselines._hr_desk import Desk, held
from agentgym.baselines._hr_words import first_of, half_up, last_of, money

Json = dict[str, Any]

_FEWEST = 5


class Figures(Desk):
    """What comes down to a number; nothing is changed."""

    # Figures.

    def _roster(self, place: str) -> list[Member]:
        """Policy 3.4: who was a member on every day of the period."""
        first, last = first_of(self.ask.months[0]), last_of(self.ask.months[-1])
        found = self.case.members(place, first, last)
        return [each for each in found if each.first <= first and (each.last is None or each.last >= last)]

    def _group(self, place: str) -> tuple[list[str], list[Slip]]:
        """The people whom a figure of a department is over, and their slips, of those who have left since as well."""
        roster = [member.id for member in self._roster(place)] if self.habits.roster else None
        slips = self.case.slips(self.ask.months, department=place)
        if roster is None:
            return list(dict.fromkeys(slip.id for slip in slips)), slips
        there = {slip.id for slip in slips} if self.habits.all_pages else set(roster)
        for each in roster:
            if each not in there:
                slips += self.case.slips(self.ask.months, person=each)
        return roster, [slip for slip in slips if slip.id in roster]

    def department_sum(self) -> None:
        people, slips = self._group(self.place().id)
        currency = slips[0].currency
        total = sum(slip.overtime for slip in slips)
        self.done(
            f"The overtime pay of {len(people)} people comes to {money(total, currency)}.",
            {"amount_minor": total, "currency": currency, "count": len(people)},
        )

    def mean(self) -> None:
        place = self.place()
        _, slips = self._group(place.id)
        currency = next((slip.currency for slip in slips if slip.id == place.head), slips[0].currency)
        mean, count = self._over(slips, currency)
        if self.case.role == "manager" and count < _FEWEST:
            self._too_few(count)
        self.done(f"On average it was {money(mean, currency)} a person.", {"amount_minor": mean, "currency": currency})

    @staticmethod
    def _over(slips: list[Slip], currency: str) -> tuple[int, int]:
        """The mean over everybody paid in a currency, and how many they are."""
        chosen = [slip for slip in slips if slip.currency == currency]
        count = len({slip.id for slip in chosen})
        return half_up(sum(slip.overtime for slip in chosen), count) if count else 0, count

    def _too_few(self, count: int) -> None:
        self.refuse(
            "refused",
            "too_few",
            f"The mean would be over {count} people, fewer than five: I may tell neither it nor a difference to it.",
        )

    def compare(self) -> None:
        person = self.person()
        if person is None or (self.case.role == "employee" and person.id != self.case.me):
            self._own_beside_mean()
            return
        place = person.department
        _, slips = self._group(place)
        mine = [slip for slip in slips if slip.id == person.id] or self.case.slips(self.ask.months, person=person.id)
        currency = mine[-1].currency if mine else slips[0].currency
        mean, count = self._over(slips, currency)
        own = sum(slip.overtime for slip in mine)
        if self.case.role == "manager" and count < _FEWEST:
            self._too_few(count)
        wider = self.case.role != "manager"
        difference = own - mean
        parts = [f"It lies {money(abs(difference), currency)} {'above' if difference >= 0 else 'below'} the mean."]
        answer: Json = {"difference_minor": difference, "currency": currency}
        if wider and self.ask.wants_mean:
            parts.insert(0, f"The mean was {money(mean, currency)}.")
        if wider and self.ask.wants_amount:
            parts.insert(0, f"The overtime pay was {money(own, currency)}.")
            answer["amount_minor"] = own
        self.done(" ".join(parts), answer)

    def _own_beside_mean(self) -> None:
        """An employee: their own sum; what others get is not for them."""
        slips = self.case.slips(self.ask.months, person=self.case.me)
        total, currency = sum(slip.overtime for slip in slips), slips[-1].currency
        self.done(
            f"Your overtime pay was {money(total, currency)}. The mean of the department is not open to your role.",
            {"amount_minor": total, "currency": currency, "refused": ["not_permitted"]},
        )

    def amount(self) -> None:
        """An amount of somebody's slips, or worked out anew where the slips must be left alone."""
        person = self.person()
        if person is not None and person.id != self.case.me and not self.may_hear(person):
            self.refuse("refused", "confidential", "What a single person is paid is confidential.")
        who = self.case.me if person is None else person.id
        if self.ask.by_days:
            total, currency = self._by_days(who)
        else:
            slips = self.case.slips(self.ask.months, person=who)
            total, currency = sum(getattr(slip, self.ask.what) for slip in slips), slips[-1].currency
        self.done(f"It comes to {money(total, currency)}.", {"amount_minor": total, "currency": currency})

    def _by_days(self, who: str) -> tuple[int, str]:
        """Policy 3.3: minutes × rate × percent / 6000, rounded month by month."""
        history, total, currency = self.case.pay(who), 0, ""
        for month in self.ask.months:
            pay = held(history, month)
            minutes = sum(self.case.overtime(month, person=who).values())
            total += half_up(minutes * pay.rate * pay.percent, 6000)
            currency = pay.currency
        return total, currency

    def base_cut(self) -> None:
        """Policy 3.5: what unpaid leave took from the base of a month, and its calendar days."""
        (month, *_) = self.ask.months
        slip = self.case.slips((month,), person=self.case.me)[0]
        cut = held(self.case.pay(self.case.me), month).base - slip.base
        paid = self.case.leave_kinds()
        first, last, days = first_of(month), last_of(month), 0
        for leave in self.case.leave((month,), person=self.case.me):
            if not paid[leave.kind]:
                days += (min(leave.last, last) - max(leave.first, first)).days + 1
        self.done(
            f"The base pay was cut by {money(cut, slip.currency)} for {days} calendar days of unpaid leave.",
            {"amount_minor": cut, "currency": slip.currency, "count": days},
        )

    def base_now(self) -> None:
        person = self.person()
        if person is None:
            self.refuse("impossible", "not_found", "I cannot find that person.")
            return
        if not self.may_hear(person):
            self.refuse("refused", "confidential", "What a single person is paid is confidential.")
        pay = self.case.pay(person.id)[-1]
        self.done(
            f"The base pay is {money(pay.base, pay.currency)} a month.",
            {"amount_minor": pay.base, "currency": pay.currency},
        )

    # Counts.

    def overtime_count(self) -> None:
        """People with so many minutes of overtime in a month."""
        place, (month, *_) = self.place(), self.ask.months
        if self.habits.roster:
            days = [self.case.overtime(month, person=each.id) for each in self._roster(place.id)]
        else:
            days = [self.case.overtime(month, department=place.id)]
        totals = Counter[str]()
        for (who, _), minutes in (item for each in days for item in each.items()):
            totals[who] += minutes
        self._count(sum(minutes >= self.ask.minutes for minutes in totals.values()))

    def headcount(self) -> None:
        """People of a department who have not left: hired before a day, or at an office that is named."""
        people = [each for each in self.case.people(department=self.place().id) if not each.gone]
        if self.ask.before is not None:
            people = [each for each in people if each.hired < self.ask.before]
        else:
            people = [each for each in people if each.site in self.ask.text]
        self._count(len(people))

    def leave_count(self) -> None:
        """People of a department today with approved annual leave in a month."""
        place = self.place().id
        here = {each.id for each in self.case.people(department=place) if not each.gone}
        leave = self.case.leave(self.ask.months, department=place)
        self._count(len({each.id for each in leave if each.kind == "ANNUAL"} & here))

    def _count(self, number: int) -> None:
        self.done(f"It is {number}.", {"count": number})
