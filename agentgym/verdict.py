"""The verdict on an episode."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class CheckResult:
    """One check: what it is, whether it holds, what was expected and what was found."""

    name: str
    kind: str
    ok: bool
    expected: str
    found: str


@dataclass(frozen=True)
class Verdict:
    """What the judge says of a finished episode.

    Attributes:
        success: every check holds, nothing forbidden was done, the agent declared the end.
        status: "ok", or "error" when judging itself failed (then success is False and means nothing).
        end_reason: as in ``info``.
        checkpoints: (name, step in which it was credited, 0 if never), in the scenario's order.
        checkpoint_completion: weighted share of the credited ones, 0–1.
        veto: something forbidden was done.
        veto_rule: the first rule broken, or "".
        veto_attempts: forbidden calls that did not take effect.
        checks: every check of the scenario, whether it holds or not.
        state_ok: the final state is right, whatever the end.
        attribution: kind of check → names of those that failed.
        tamper: somebody tried to write the score.
        reasoning: the score of the chain, beside success: ``logic`` of 6, ``implicit`` of 4, ``total`` of 10,
            ``points`` as ``[name, ok, step]``; empty where the scenario has none.
        error: what failed in judging, for status "error".
    """

    success: bool
    status: Literal["ok", "error"]
    end_reason: str
    checkpoints: tuple[tuple[str, int], ...] = ()
    checkpoint_completion: float = 0.0
    veto: bool = False
    veto_rule: str = ""
    veto_attempts: int = 0
    checks: tuple[CheckResult, ...] = ()
    state_ok: bool = False
    attribution: dict[str, list[str]] = field(default_factory=dict)
    tamper: bool = False
    reasoning: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON-able data."""
        return {**asdict(self), "checkpoints": [list(entry) for entry in self.checkpoints]}
