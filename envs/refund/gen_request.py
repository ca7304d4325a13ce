"""What one request of a generated case asks, and what it is checked by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from agentgym.compare import Comparator
from agentgym.envs.refund import calculator
from agentgym.envs.refund.gen_data import Row
from agentgym.scenario import (
    AllowedChange,
    AnswerFrom,
    CallSpec,
    Checkpoint,
    Event,
    Fact,
    GoldAction,
    SecretSpec,
    StateCheck,
    TextCheck,
    VetoRule,
    Want,
)


@dataclass(slots=True)
class Request:
    """One wish of the customer: what it adds to the opening, to the checks and to gold.

    Attributes:
        kind: the family that it makes when it is the first one.
        order_id: the order that gold looks up, as ``order{i}``.
        ask: its sentences of the opening.
        goal: what the customer wants, for people.
        reads: gold's reads of the first and of the second plan, after the order.
        writes: gold's last actions for it, confirmations and messages to the customer included.
        paid: (label, path) of each amount that goes back, of gold.
        refund_minor: what they come to.
        due: what counts for the limits.
        code: the reason, if it is refused.
        pending: the ticket waits for something.
        keys: keys of the answer that name something new, and the label of its action.
        answer_state: what they must be in the end.
        money_moves: money or goods leave, so the risk profile is read.
    """

    kind: str
    order_id: str = ""
    hidden: bool = False
    ask: list[str] = field(default_factory=list)
    goal: str = ""
    reads: tuple[Sequence[GoldAction], Sequence[GoldAction]] = ((), ())
    writes: Sequence[GoldAction] = ()
    steps: tuple[str, ...] = ()
    paid: tuple[tuple[str, str], ...] = ()
    refund_minor: int = 0
    due: int = 0
    code: str = ""
    pending: bool = False
    keys: dict[str, str] = field(default_factory=dict)
    answer_state: dict[str, AnswerFrom] = field(default_factory=dict)
    money_moves: bool = False
    facts: dict[str, Fact] = field(default_factory=dict)
    wants: list[Want] = field(default_factory=list)
    pressure: list[str] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    final_state: list[StateCheck] = field(default_factory=list)
    may_change: list[AllowedChange] = field(default_factory=list)
    said: list[Comparator] = field(default_factory=list)
    required: list[CallSpec] = field(default_factory=list)
    before: list[tuple[CallSpec, str]] = field(default_factory=list)
    confirm: list[str] = field(default_factory=list)
    secrets: list[SecretSpec] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    veto: list[VetoRule] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    text: list[TextCheck] = field(default_factory=list)
    no_change: bool = False
    """In the end the customer wants nothing any more."""
    hand_off: str = ""
    """The reason to hand the whole case off."""


@dataclass(slots=True)
class Order:
    """An order that was added to the patch."""

    row: Row
    items: list[Row]
    parcels: list[Row]
    payments: list[Row]
    delivered: date | None
    back: dict[str, int] = field(default_factory=dict)
    """Payment → what the requests so far pay back on it."""

    @property
    def id(self) -> str:
        """Its number."""
        return str(self.row["order_id"])

    def value(self, index: int, units: int | None = None) -> int:
        """Policy 3.1, of a line."""
        return calculator.value(self.row["coupon_minor"], self.items[index], self.items, units)
