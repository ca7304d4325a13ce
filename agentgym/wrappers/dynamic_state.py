"""Dynamic state: the world changes by itself, legally, for a while or for good."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym

from agentgym.env import Observation
from agentgym.hooks import Hook
from agentgym.perturbations import Change, filled, names_of, table_of
from agentgym.scenario import Checks, Event, GoldAction, GoldPlan, Process, Scenario
from agentgym.world import iso
from agentgym.wrappers.base import Perturbation
from agentgym.wrappers.schedule import EventHook, Schedule

MINUTES: tuple[int, ...] = (0, 10, 30, 120, 600)
"""How long the change lasts, by intensity."""


class DynamicState(Perturbation):
    """The world changes for a while, and the agent is told until when.

    What the agent sees: a notice in its first steps, and errors from calls that the change forbids, until it has passed
    (`wait`). What the world does: a declared event changes it and another one changes it back; what is right stays the
    same. The changes of a domain are in its ``perturbations.yaml``.

    Args:
        env: an environment of this suite whose domain declares such changes.
        rate: probability in each episode, 0–1.
        intensity: 0–4: none, 10 minutes, 30 minutes (default), 2 hours, 10 hours.

    Raises:
        TypeError: *env* is no environment of this suite.
        ValueError: an argument is out of its range, or the domain declares no such change.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import DynamicState
    >>> env = DynamicState(gymnasium.make("Refund-v0", split="test"))
    >>> _ = env.reset(seed=7)
    >>> "takes no changes until" in env.step({"name": "wait", "arguments": {"seconds": 60}})[0]["notices"]
    True
    """

    kind: ClassVar[str] = "dynamic-state"
    inside: ClassVar[str] = "a change of the world is a declared event of a scenario, which others do not have"

    def __init__(self, env: gym.Env[Observation, Any], rate: float | None = None, *, intensity: int = 2) -> None:
        super().__init__(env, rate, intensity=intensity)
        self.changes = self._declared()
        if not self.changes and self.schedule.rate != 0:
            name = self._base.domain.name
            raise ValueError(f"the domain {name} declares no change for {self.kind}; give it a perturbations.yaml")

    def _declared(self) -> list[Change]:
        return table_of(self._base.domain).dynamic_state

    def hook(self) -> Hook:
        """The hook of one episode."""
        return DynamicStateHook(self.kind, self.schedule, self.changes, MINUTES[self.intensity])


class Shutdown(DynamicState):
    """The world changes for good, so that the goal cannot be reached; the agent is told what is right instead.

    What the agent sees: a notice with its first result that says how to end; errors from calls that the change forbids.
    What the world does: a declared event changes it. What is right changes with it: the end that the notice names, and
    nothing written.

    Args:
        env: an environment of this suite whose domain declares such changes.
        rate: probability in each episode, 0–1.
        intensity: 0–4; 0 is none, the others are alike.

    Raises:
        TypeError: *env* is no environment of this suite.
        ValueError: an argument is out of its range, or the domain declares no such change.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import Shutdown
    >>> env = Shutdown(gymnasium.make("Refund-v0", split="test"))
    >>> _ = env.reset(seed=7)
    >>> "desk_closed" in env.step({"name": "wait", "arguments": {"seconds": 60}})[0]["notices"]
    True
    """

    kind: ClassVar[str] = "shutdown"

    def _declared(self) -> list[Change]:
        return table_of(self._base.domain).shutdown


class DynamicStateHook(EventHook):
    """Declares the change, the one that undoes it, and the right end where it does not pass."""

    def __init__(self, name: str, schedule: Schedule, changes: list[Change], minutes: int) -> None:
        super().__init__(name, schedule)
        self._changes, self._minutes = changes, minutes

    def declare(self, scenario: Scenario) -> Scenario:
        """One of the domain's changes, soon."""
        change = self.stream.choice(self._changes)
        start = scenario.now + self.stream.integers(1, 40)
        until = start + self._minutes * 60_000
        # Minutes, so that the time that is told is the time that it is.
        until -= until % 60_000
        values = {**names_of(scenario), "until": iso(until)}
        name = f"{self.name} {len(scenario.events)}"
        self.names.append(name)
        events = [Event(name=name, at=start, do=filled(change.do, values), notice=filled(change.notice, values))]
        if change.undo:
            events.append(Event(name=f"{name} over", at=until, do=filled(change.undo, values)))
        scenario = scenario.model_copy(update={"events": [*scenario.events, *events]})
        return scenario if change.end is None else _ending(scenario, change)

    def report(self) -> dict[str, Any]:
        """Whether it came."""
        return {"changed": self.came > 0}


def _ending(scenario: Scenario, change: Change) -> Scenario:
    """The scenario with another right end: that one, and nothing written."""
    if change.end is None:
        raise ValueError("expected a change with an end of its own")
    steps = scenario.checks.process.max_steps
    checks = Checks(end=change.end, process=Process(max_steps=steps))
    reason = change.end.hand_off[0] if change.end.hand_off else ""
    ends = (
        {"name": "hand_off", "arguments": {"reason": reason, "summary": change.notice}}
        if reason
        else {"name": "finish", "arguments": {"outcome": change.end.outcome[0]}}
    )
    gold = [
        GoldPlan(plan=["Look", "End as the notice says"], actions=[plan.actions[0], GoldAction.model_validate(ends)])
        for plan in scenario.gold
    ]
    return scenario.model_copy(update={"checks": checks, "gold": gold})
