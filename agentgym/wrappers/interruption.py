"""Interruption: the user adds a constraint in mid-task, or wants something else."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import gymnasium as gym

from agentgym.compare import Comparator
from agentgym.domain import Domain
from agentgym.env import Observation
from agentgym.hooks import Hook
from agentgym.perturbations import table_of
from agentgym.scenario import Event, Said, Scenario, UserChange
from agentgym.turns import turned, turns_of
from agentgym.wrappers.base import STRONGEST, Perturbation
from agentgym.wrappers.schedule import EventHook, Schedule

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

Way = Literal["add", "change"]


class Interruption(Perturbation):
    """The user adds constraints while the agent works, or changes what they want.

    What the agent sees: what the user says by themselves, in a step's notices: a reference that has to stand in a reply
    to them; or another wish (store credit instead of money, nothing at all any more), early or right after they have
    agreed to the first one. What the world does: the same; the user agrees to what they want now, and consent that was
    given to anything else is void. What is right: all that was, and that the reference was told; or what the new wish
    comes to. Which wishes change into which, and for which scenarios, is in the domain's ``perturbations.yaml``.

    Args:
        env: an environment of this suite.
        rate: probability in each episode, 0–1.
        way: "add" (the default) or "change".
        intensity: 0–4: so many constraints; by default 2. With "change" 1 is early, 2 and 3 either, 4 after consent.

    Raises:
        TypeError: *env* is no environment of this suite.
        ValueError: an argument is out of its range, or the domain declares no change of mind.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import Interruption
    >>> env = Interruption(gymnasium.make("Refund-v0", split="test"), intensity=1)
    >>> _ = env.reset(seed=7)
    >>> '"from": "user"' in env.step({"name": "wait", "arguments": {"seconds": 60}})[0]["notices"]
    True
    """

    kind: ClassVar[str] = "interruption"
    inside: ClassVar[str] = "what the user adds must count in the verdict, and others have a judge of their own"

    def __init__(
        self, env: gym.Env[Observation, Any], rate: float | None = None, *, way: Way = "add", intensity: int = 2
    ) -> None:
        super().__init__(env, rate, intensity=intensity)
        if way not in get_args(Way):
            raise ValueError(f"expected way to be one of {', '.join(get_args(Way))}, got {way!r}")
        domain = self._base.domain
        if way == "change" and not self.schedule.never and not table_of(domain).turns:
            raise ValueError(f"the domain {domain.name} declares no change of mind; give it a perturbations.yaml")
        self.way: Way = way

    def hook(self) -> Hook:
        """The hook of one episode."""
        if self.way == "change":
            return ChangeHook(self.schedule, self.intensity, self._base.domain)
        return InterruptionHook(self.schedule, self.intensity)


class InterruptionHook(EventHook):
    """Declares what the user will say, and that it has to be met."""

    def __init__(self, schedule: Schedule, count: int) -> None:
        super().__init__(Interruption.kind, schedule)
        self._count = count

    def declare(self, scenario: Scenario) -> Scenario:
        """A reference each."""
        stream, events, said, given = self.stream, list(scenario.events), list(scenario.checks.said), []
        for _ in range(self._count or 1):
            code = "".join(stream.choice(_LETTERS) for _ in range(3)) + f"-{stream.integers(1000, 10_000)}"
            text = stream.choice(_REQUESTS[scenario.language]).replace("{code}", code)
            name = f"{self.name} {len(events)}"
            at = scenario.now + stream.integers(1, _WINDOW_MS)
            events.append(Event(name=name, at=at, user=UserChange(say=text)))
            given.append(f"said[{len(said)}].must[0]")
            said.append(Said(must=[Comparator.model_validate({"type": "id", "value": code})]))
            self.names.append(name)
        checks, chain = scenario.checks.model_copy(update={"said": said}), scenario.checks.chain
        if chain is not None:
            # The references come from the user: no result has them.
            chain = chain.model_copy(update={"given": [*chain.given, *given]})
            checks = checks.model_copy(update={"chain": chain})
        return scenario.model_copy(update={"events": events, "checks": checks})

    def report(self) -> dict[str, Any]:
        """How many came."""
        return {"constraints": self.came}


class ChangeHook(EventHook):
    """Declares that the user will want something else, and what is right then; nothing where no turn is declared."""

    def __init__(self, schedule: Schedule, intensity: int, domain: Domain) -> None:
        super().__init__(f"{Interruption.kind}-change", schedule)
        self._intensity, self._domain = intensity, domain

    def declare(self, scenario: Scenario) -> Scenario:
        """One of the scenario's turns."""
        turns = turns_of(table_of(self._domain), scenario)
        if not turns:
            return scenario
        turn, stream = self.stream.choice(turns), self.stream
        late = bool(stream.integers(0, 2)) if self._intensity in (2, 3) else self._intensity == STRONGEST
        name = f"{self.name} {len(scenario.events)}"
        self.names.append(name)
        at = None if late else scenario.now + stream.integers(1, _WINDOW_MS)
        return turned(scenario, turn, name, at, self._domain.toolset)

    def report(self) -> dict[str, Any]:
        """Whether it came."""
        return {"changed": self.came > 0}
