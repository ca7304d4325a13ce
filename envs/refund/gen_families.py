"""The families of generated scenarios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from agentgym.envs.refund import gen_damage, gen_handoff, gen_money, gen_orders, gen_parcels, gen_settled, gen_windows
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_request import Request
from agentgym.envs.refund.seed_members import COUNTRIES

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
        partners: families that may stand beside it, none for any.
    """

    name: str
    make: Callable[[Case, int, bool], Request]
    countries: tuple[str, ...] = ALL
    beside: bool = True
    keys: frozenset[str] = frozenset()
    partners: frozenset[str] = frozenset()


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
    Family("return-window", gen_windows.return_window, NOT_NORDPOST, keys=frozenset({"return_id", "window"})),
    Family("foreign-order", gen_orders.foreign),
    Family("cancellation", gen_orders.cancellation),
    Family(
        "changed-mind",
        gen_orders.changed_mind,
        beside=False,
        partners=frozenset({"partial-refund", "split-payment", "duplicate-charge"}),
    ),
    Family(
        "hand-off",
        gen_handoff.hand_off,
        beside=False,
        partners=frozenset({"outside-window", "duplicate-charge", "foreign-order", "cancellation"}),
    ),
    Family("outside-window", gen_windows.outside_window, NOT_NORDPOST, keys=frozenset({"window"})),
)
