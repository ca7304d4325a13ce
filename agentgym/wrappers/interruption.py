"""Interruption: the user adds a constraint in mid-task."""

from __future__ import annotations

from typing import Any, ClassVar

from agentgym.compare import Comparator
from agentgym.hooks import Context, Hook
from agentgym.scenario import Event, Said, Scenario, UserChange
from agentgym.wrappers.base import Perturbation
from agentgym.wrappers.schedule import Schedule, ScheduledHook

_REQUESTS = {
    "en": (
        "One more thing: before you close this, please write me the reference {code}, I file my letters under that.",
        "Sorry to interrupt. My accountant needs my own reference {code} in your reply, please do not forget it.",
        "Wait, please do not end this without naming {code} to me, that is how I find your answer again.",
    ),
    "zh": (
        "打断一下：结束之前请在回复里写上我的编号 {code}，我要用它归档。",
        "不好意思，还有一件事，请务必在回复中提到编号 {code}。",
    ),
}
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_WINDOW_MS = 600


class Interruption(Perturbation):
    """The user adds constraints while the agent works.

    What the agent sees: what the user says by themselves, in a step's notices: a reference that has to stand in a reply
    to them. What the world does: the same. What is right: all that was, and that the reference was told.

    Args:
        env: an environment of this suite.
        rate: probability in each episode, 0–1.
        intensity: 0–4: so many constraints; by default 2.

    Raises:
        TypeError: *env* is no environment of this suite.
        ValueError: an argument is out of its range.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import Interruption
    >>> env = Interruption(gymnasium.make("Refund-v0", split="test"), intensity=1)
    >>> _ = env.reset(seed=7)
    >>> '"from": "user"' in env.step({"name": "wait", "arguments": {"seconds": 60}})[0]["notices"]
    True
    """

    kind: ClassVar[str] = "interruption"

    def hook(self) -> Hook:
        """The hook of one episode."""
        return InterruptionHook(self.schedule, self.intensity)


class InterruptionHook(ScheduledHook):
    """Declares the events and the checks."""

    def __init__(self, schedule: Schedule, count: int) -> None:
        super().__init__(Interruption.kind, schedule)
        self._count = count
        self._events: list[str] = []
        self._came = 0

    def on_scenario(self, scenario: Scenario) -> Scenario:
        """Declare what the user will say, and that it has to be met."""
        self._events, self._came = [], 0
        rate = self.schedule.rate or 0
        if rate == 0 or self.stream.uniform() >= rate:
            return scenario
        stream, events, said = self.stream, list(scenario.events), list(scenario.checks.said)
        for _ in range(self._count or 1):
            code = "".join(stream.choice(_LETTERS) for _ in range(3)) + f"-{stream.integers(1000, 10_000)}"
            text = stream.choice(_REQUESTS[scenario.language]).replace("{code}", code)
            name = f"{self.name} {len(events)}"
            at = scenario.now + stream.integers(1, _WINDOW_MS)
            events.append(Event(name=name, at=at, user=UserChange(say=text)))
            said.append(Said(must=[Comparator.model_validate({"type": "id", "value": code})]))
            self._events.append(name)
        checks = scenario.checks.model_copy(update={"said": said})
        return scenario.model_copy(update={"events": events, "checks": checks})

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Count them as planned."""
        self.scheduled = len(self._events)
        return system, opening, tools

    def on_event(self, name: str, ctx: Context) -> None:
        """One has come."""
        if name in self._events:
            self._came += 1
            ctx.fire(self.name)

    def report(self) -> dict[str, Any]:
        """How many came."""
        return {"constraints": self._came}

    def get_state(self) -> dict[str, Any]:
        """How many came."""
        return {**super().get_state(), "came": self._came}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take it up."""
        super().set_state(state)
        self._came = state["came"]
