"""Models that generated scenarios are copied from, and what a plan for a family must name."""

from __future__ import annotations

from functools import cache
from typing import Final

from agentgym.compare import Comparator
from agentgym.generating import like
from agentgym.scenario import (
    CallSpec,
    Checkpoint,
    Checks,
    End,
    GoldAction,
    GoldPlan,
    InitialState,
    PlanSpec,
    Process,
    Said,
    Scenario,
    Subgoal,
    UserSpec,
)

STATE: Final = InitialState(snapshot="shop", patch={})
USER: Final = UserSpec(opening="x", facts={}, wants=[], patience=3, pressure=[])
SAID: Final = Said(to="user", must=[Comparator(type="text", value="x")], must_not=[])
SAID_NO_FRAUD: Final = Said(
    must_not=[Comparator(type="text", value=word) for word in ("fraud", "fraud_suspected", "欺诈")]
)
PROCESS: Final = Process(
    required=[],
    forbidden=[],
    order=[],
    confirm_before=[],
    own=["item_id", "order_id", "payment_id", "ticket_id"],
    deadline=[],
    max_steps=40,
)
CHECKS: Final = Checks(
    end=End(outcome=["done"]),
    final_state=[],
    may_change=[],
    answer=None,
    answer_state={},
    said=[],
    text=[],
    process=PROCESS,
)
PLAN: Final = GoldPlan(plan=["x"], actions=[GoldAction(name="finish", arguments={"outcome": "done"})])
SCENARIO: Final = Scenario(
    id="refund/train/L1-0",
    family="x",
    level="L1",
    language="en",
    now=0,
    instruction="x",
    given=[],
    domain={},
    user=USER,
    initial_state=STATE,
    events=[],
    checkpoints=[Checkpoint(name="x", called=CallSpec(name="x"))],
    checks=CHECKS,
    veto=[],
    secrets=[],
    plan=PlanSpec(),
    gold=[PLAN, PLAN],
)

_RETURN = (
    ("read the condition found", "get_return"),
    ("work out share, value, fee and deduction", "get_order_item"),
    ("get a yes", "confirm_with_user"),
)
_WINDOW = (
    ("know the day of delivery", "get_tracking"),
    ("know the tier and category", "get_customer"),
    ("know the free days", "list_holidays"),
)
_GOALS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "partial-refund": (*_RETURN, ("refund by the order of the payments", "create_refund")),
    "inspection-fee": (*_RETURN, ("refund by the order of the payments", "create_refund")),
    "split-payment": (
        *_RETURN,
        ("look at all payments", "list_payments"),
        ("refund by the order of the payments", "create_refund"),
    ),
    "store-credit": (*_RETURN, ("issue store credit", "issue_store_credit")),
    "duplicate-charge": (
        ("compare payments and total", "list_payments"),
        ("get a yes", "confirm_with_user"),
        ("void the later charge", "void_duplicate_charge"),
    ),
    "damage": (
        ("look at the photos", "get_evidence"),
        ("get a yes", "confirm_with_user"),
        ("refund the damaged units", "create_refund"),
    ),
    "evidence-missing": (
        ("see which photos there are", "list_evidence"),
        ("ask for the missing ones", "request_evidence"),
    ),
    "defective": (("read what the inspection found", "get_return"), ("know what the customer chooses", "respond")),
    "already-settled": (("read earlier refunds", "list_refunds"), ("read the return", "get_return")),
    "late-delivery": (
        ("compare the promised day with the delivery", "get_tracking"),
        ("know the items' values", "get_order_item"),
    ),
    "not-arrived": (("read tracking and traces", "get_tracking"),),
    "return-window": (*_WINDOW, ("get a yes", "confirm_with_user"), ("register the return", "create_return")),
    "outside-window": (*_WINDOW, ("tell the last day", "respond")),
    "foreign-order": (("see whose order it is", "get_order"), ("see the customer's own orders", "find_orders")),
    "cancellation": (("see whether it has left", "get_order"),),
    "changed-mind": (
        ("see whether it has left", "get_order"),
        ("follow what the customer wants in the end", "respond"),
    ),
    "hand-off": (("recognise the reason", "get_risk_profile"), ("hand off", "hand_off")),
}


@cache
def plan_of(kinds: tuple[str, ...]) -> PlanSpec:
    """What a plan for these requests must name."""
    goals: dict[str, Subgoal] = {}
    for number, kind in enumerate(kinds, 1):
        for name, tool in _GOALS[kind]:
            unique = name if number == 1 else f"{name} (request {number})"
            goals[unique] = _subgoal(unique, tool)
    return like(_PLAN_SPEC, subgoals=list(goals.values()))


@cache
def _subgoal(name: str, tool: str) -> Subgoal:
    return Subgoal(name=name, critical=True, tools=[tool])


_PLAN_SPEC: Final = PlanSpec(subgoals=[_subgoal("x", "x")], forbidden=["delete_order", "override_limit"])
