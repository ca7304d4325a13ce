"""What one request of a generated case asks, and what it is checked by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentgym.chain_spec import Reasoning
from agentgym.compare import Comparator
from agentgym.scenario import (
    AllowedChange,
    AnswerFrom,
    CallSpec,
    Checkpoint,
    Fact,
    GoldAction,
    SecretSpec,
    StateCheck,
    TextCheck,
    VetoRule,
    Want,
)


class Two(NamedTuple):
    """What is one thing in the first gold plan and another in the second."""

    first: Any
    second: Any

    @staticmethod
    def of(value: Any, plan: int) -> Any:
        """A value as a plan has it."""
        return value[plan] if isinstance(value, Two) else value


@dataclass
class Request:
    """One wish of the person: what it adds to the opening, to the checks and to gold.

    Attributes:
        kind: the family that it makes when it is the first one.
        ask: its sentences of the opening.
        goal: what the person wants, for people.
        reads: gold's reads of the first and of the second plan.
        writes: gold's last actions for it, confirmations and messages included; `Two` where the plans differ.
        steps: its part of the plan in words.
        code: the reason, if it is refused.
        answer: key of the answer → what is expected, and what gold gives.
        born: key of the answer → what it must be in the final state.
        required: each entry calls of which any one will do.
        hand_off: the reason to hand the whole case off.
        told: what the person must be told.
        reasoning: the score of the chain, for a case that has no other request.
    """

    kind: str
    ask: list[str] = field(default_factory=list)
    goal: str = ""
    reads: tuple[Sequence[GoldAction], Sequence[GoldAction]] = ((), ())
    writes: Sequence[GoldAction] | Two = ()
    steps: tuple[str, ...] = ()
    code: str = ""
    answer: dict[str, tuple[Comparator, Any]] = field(default_factory=dict)
    born: dict[str, tuple[AnswerFrom, Any]] = field(default_factory=dict)
    told: list[Comparator] = field(default_factory=list)
    facts: dict[str, Fact] = field(default_factory=dict)
    wants: list[Want] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    final_state: list[StateCheck] = field(default_factory=list)
    may_change: list[AllowedChange] = field(default_factory=list)
    text: list[TextCheck] = field(default_factory=list)
    required: list[list[CallSpec]] = field(default_factory=list)
    secrets: list[SecretSpec] = field(default_factory=list)
    veto: list[VetoRule] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    hand_off: str = ""
    colleague: list[Comparator] = field(default_factory=list)
    reasoning: Reasoning | None = None
