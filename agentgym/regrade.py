"""Re-grading: stored calls, replies and events take place again on a fresh world and must lead to the same state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym.actions import Call, Invalid
from agentgym.backends.embedded import Embedded
from agentgym.domain import Domain
from agentgym.episode import Episode
from agentgym.errors import StateError
from agentgym.scenario import Effect, Scenario, UserChange, UserSpec
from agentgym.trace import Step
from agentgym.users import Confirmation, Reply
from agentgym.verdict import Verdict


class RecordedUser:
    """Says again what a user said in a recorded episode.

    Args:
        steps: the recorded trace.
        left: the user ended that episode, with the last of the steps.
    """

    def __init__(self, steps: Sequence[Step], left: bool) -> None:
        self._steps, self._left, self._next = list(steps), left, 0

    def start(self, spec: UserSpec, language: str) -> None:
        """Begin."""

    def at(self, index: int) -> None:
        """The step about to take place, from 0."""
        self._next = index

    def reply(self, message: str) -> Reply:
        """The recorded reply."""
        return Reply(str(self._steps[self._next].value), self._leaves())

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """The recorded answer."""
        return Confirmation(bool(self._steps[self._next].granted), "", self._leaves())

    def change(self, change: UserChange) -> None:
        """What an event changed shows in the recorded replies."""

    def get_state(self) -> dict[str, Any]:
        """The position."""
        return {"next": self._next}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a position."""
        self._next = state["next"]

    def _leaves(self) -> bool:
        return self._left and self._next == len(self._steps) - 1


def regrade(
    scenario: Scenario,
    domain: Domain,
    trace: Sequence[Mapping[str, Any]],
    end_reason: str,
    state_hash: str = "",
    on_veto: Effect | None = None,
) -> Verdict:
    """Judge a recorded episode again.

    Args:
        scenario: what was played, in the revision to judge by.
        domain: its domain.
        trace: the rows of the recorded trace, as a result store holds them.
        end_reason: how the episode ended.
        state_hash: hash of its final state, or "" to leave the comparison out.
        on_veto: as the environment had it.

    Raises:
        StateError: the calls do not lead to the recorded state: another world, other tools, or a changed record.
    """
    steps = [Step.from_json(dict(row)) for row in trace]
    user = RecordedUser(steps, end_reason == "user_left")
    backend = Embedded(domain)
    try:
        episode = Episode(scenario, domain, 0, backend, user, on_veto=on_veto)
        for index, step in enumerate(steps):
            user.at(index)
            episode.pass_until(step.at_ms)
            if step.fault and step.ran is None:
                episode.note(step)
            else:
                episode.step(_again(step))
        if state_hash and backend.hash() != state_hash:
            raise StateError(
                f"{scenario.id}: the recorded calls lead to state {backend.hash()[:12]}…, "
                f"recorded is {state_hash[:12]}…; the world or the tools changed since, or the record did"
            )
        return episode.verdict or episode.judge.verdict(end_reason, episode.redundant_calls)
    finally:
        backend.close()


def _again(step: Step) -> Call | Invalid:
    call = step.ran or step.sent
    if call is None or (step.ran is None and not step.blocked):
        return Invalid(call.name if call else "", step.error, step.thought)
    return Call(call.name, call.arguments, step.thought)
