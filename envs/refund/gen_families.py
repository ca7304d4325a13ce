"""The families of generated scenarios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from agentgym.envs.refund import gen_damage, gen_money, gen_parcels, gen_rules, gen_settled
from agentgym.envs.refund.gen_case import Case, Request
from agentgym.envs.refund.gen_data import COUNTRIES

ALL = tuple(each.code for each in COUNTRIES)
NOT_NORDPOST = tuple(each.code for each in COUNTRIES if each.carrier != "Nordpost")
"""The manuals name Nordpost, so where gold looks a carrier up it is another one."""


@dataclass(frozen=True)
class Family:
    """One family.

    Attributes:
        name: as in the scenario.
        make: adds a request to a case: (case, number of the request, hard).
        countries: where its customers live.
        beside: it may stand beside another request.
        keys: what only one request of a case may have: keys of the answer, kinds of requests.
        tier: of the customer, "" for any.
    """

    name: str
    make: Callable[[Case, int, bool], Request]
    countries: tuple[str, ...] = ALL
    beside: bool = True
    keys: frozenset[str] = frozenset()
    tier: str = ""


FAMILIES = (
    Family("partial-refund", gen_money.returned),
    Family("inspection-fee", partial(gen_money.returned, kind="inspection-fee")),
    Family("split-payment", partial(gen_money.returned, kind="split-payment")),
    Family("store-credit", partial(gen_money.returned, kind="store-credit")),
    Family("duplicate-charge", gen_money.duplicate),
    Family("damage", gen_damage.damage),
    Family("evidence-missing", gen_damage.evidence_missing),
    Family("defective", gen_settled.defective),
    Family("already-settled", gen_settled.settled),
    Family("late-delivery", gen_parcels.late_delivery),
    Family("not-arrived", gen_parcels.not_arrived, beside=False, keys=frozenset({"trace_id"})),
    Family("outside-window", gen_rules.outside_window, NOT_NORDPOST),
)
