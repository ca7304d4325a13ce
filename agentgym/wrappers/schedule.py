"""When a perturbation fires: at calls of given numbers, once at a condition, once somewhere, or by probability.

A scheduled firing waits for the first call that it can be at, from its number on; what never came to that is reported:
``info["perturbations_scheduled"]`` stays above ``info["perturbations_fired"]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from agentgym.common import COMMON_TOOLS
from agentgym.errors import did_you_mean
from agentgym.findings import is_number
from agentgym.hooks import Context, Hook
from agentgym.random import Stream, derive
from agentgym.scenario import Scenario
from agentgym.tools import Tool
from agentgym.trace import Call

HOST = frozenset(tool.name for tool in COMMON_TOOLS)
"""Tools that the host answers itself: talking and ending are no part of the world's service."""

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_STEP = 0xD1B54A32D192ED03

Condition = Callable[[Call, Context], bool]


def words(name: str, given: object, what: str) -> tuple[str, ...]:
    """An argument that is a text or several.

    Args:
        name: of the argument.
        given: its value.
        what: which texts it may have.

    Raises:
        ValueError: it is something else.
    """
    several = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    found = tuple(word for word in several if isinstance(word, str))
    if len(found) < len(several):
        raise ValueError(f"expected {name} to be a text or a list of texts, of {what}, got {given!r:.200}")
    return found


@dataclass(frozen=True)
class Schedule:
    """When to fire.

    Attributes:
        rate: probability at each call that it can be at, 0–1; None where one of the others says it.
        at: numbers of such calls, from 1.
        when: fires once, at the first such call for which ``when(call, context)`` is true.
        once: fires once, at one of the first *within* such calls, drawn.
        within: see *once*.
        tools: only calls of these tools; None for every tool of the world.
    """

    rate: float | None = None
    at: tuple[int, ...] = ()
    when: Condition | None = None
    once: bool = False
    within: int = 8
    tools: frozenset[str] | None = None

    def __post_init__(self) -> None:
        ways = [self.rate is not None, bool(self.at), self.when is not None, self.once]
        if sum(ways) != 1:
            raise ValueError("expected one of rate, at, when, once=True: they are different ways to say when it fires")
        if self.rate is not None and not (is_number(self.rate) and 0 <= self.rate <= 1):
            raise ValueError(f"expected rate to be in 0..1, got {self.rate!r}")
        if self.when is not None and not callable(self.when):
            raise ValueError(f"expected when to be a function of a call and its context, got {self.when!r}")
        if any(type(n) is not int or n < 1 for n in self.at):
            raise ValueError(f"expected at to be numbers of calls, 1 or more, got {list(self.at)}")
        if self.within < 1:
            raise ValueError(f"expected within to be at least 1, got {self.within}")

    @property
    def never(self) -> bool:
        """It does not fire at all."""
        return self.rate == 0


def chosen_tools(tools: str | Iterable[str] | None, known: dict[str, Tool] | None) -> frozenset[str] | None:
    """The names that a ``tools=`` argument means: None (all), "reads", "writes", or names.

    Args:
        tools: the argument.
        known: the environment's tools by name; None for a third party's, whose names are taken as they are.

    Raises:
        ValueError: a name is no tool of the environment, or it is not known which tools read.
    """
    if known is None:
        if isinstance(tools, str) and tools in ("reads", "writes"):
            raise ValueError(f"which tools of a third party's environment are {tools} is not known; give their names")
        return None if tools is None else frozenset(words("tools", tools, "its tools"))
    own = {name: tool for name, tool in known.items() if name not in HOST}
    if tools is None:
        return None
    if isinstance(tools, str) and tools in ("reads", "writes"):
        return frozenset(name for name, tool in own.items() if tool.writes == (tools == "writes"))
    names = words("tools", tools, "reads, writes or the names of tools")
    for name in names:
        if name not in own:
            raise ValueError(
                f'expected tools to be "reads", "writes" or names of tools, got {name!r}{did_you_mean(name, own)}'
            )
    return frozenset(names)


def _always() -> bool:
    return True


def _mixed(word: int) -> int:
    """The output of SplitMix64 (Steele, Lea, Flood 2014) for a state."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


class _StepStream(Stream):
    """Draws from one word by SplitMix64: a stream for each step must cost next to nothing."""

    def __init__(self, word: int) -> None:
        super().__init__(0, "")
        self._state = word

    def _word(self) -> int:
        self._state = (self._state + _GAMMA) & _MASK
        return _mixed(self._state)


class ScheduledHook(Hook):
    """A hook that fires by a schedule.

    What is drawn for a step depends on the stream and the number of the step alone, so other perturbations, which may
    keep a call from this one, do not change it.

    Args:
        name: of the kind.
        schedule: when it fires.
    """

    def __init__(self, name: str, schedule: Schedule) -> None:
        self.name, self.schedule = name, schedule
        self._calls = 0
        self._root: int | None = None
        self._due: list[int] = []

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Plan what is planned ahead."""
        self._calls, self._root, self._due = 0, None, []
        schedule = self.schedule
        if schedule.at:
            self._due = sorted(schedule.at)
        elif schedule.once:
            self._due = [1 + derive(self._base(), "once") % schedule.within]
        self.scheduled = 1 if schedule.when is not None else len(self._due)
        return system, opening, tools

    def drawn(self) -> bool:
        """Whether this episode is one of those that the rate says; for kinds that are about an episode, not a call."""
        rate = self.schedule.rate or 0
        return rate > 0 and self.stream.uniform() < rate

    def _base(self) -> int:
        return self.stream.integers(0, 1 << 62)

    def _at(self, step: int) -> int:
        """The word of a step: a counter mixed with what the episode's stream gave once."""
        if self._root is None:
            self._root = self.stream.integers(0, 1 << 64)
        return _mixed((self._root + step * _GAMMA) & _MASK)

    def chance(self, ctx: Context) -> float:
        """The number in [0, 1) drawn for this step."""
        return (self._at(ctx.step) >> 11) / float(1 << 53)

    def draws(self, ctx: Context) -> Stream:
        """A stream of this step's own, for as many draws as it takes."""
        # Another constant than the counter's, so that the second draw is not the next step's word.
        return _StepStream(self._at(ctx.step) ^ _STEP)

    def concerns(self, call: Call) -> bool:
        """The schedule is about this call."""
        tools = self.schedule.tools
        return call.name in tools if tools is not None else call.name not in HOST

    def due(self, call: Call, ctx: Context, able: Callable[[], bool] = _always) -> bool:
        """Whether to fire now. Ask once for each call; *able* says whether there is anything here to fire at."""
        schedule = self.schedule
        if schedule.rate == 0 or not self.concerns(call):
            return False
        if schedule.rate is not None:
            hit = (schedule.rate == 1 or self.chance(ctx) < schedule.rate) and able()
            self.scheduled += hit
            return hit
        if schedule.when is not None:
            hit = self._calls == 0 and schedule.when(call, ctx) and able()
            self._calls += hit
            return hit
        # With nothing left to fire, nobody looks whether it could.
        if not self._due:
            return False
        possible = able()
        self._calls += possible if schedule.once else 1
        if possible and self._due[0] <= self._calls:
            self._due.pop(0)
            return True
        return False

    def get_state(self) -> dict[str, Any]:
        """The counters."""
        return {"calls": self._calls, "root": self._root, "due": list(self._due)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take them up."""
        self._calls, self._root, self._due = state["calls"], state["root"], list(state["due"])


class EventHook(ScheduledHook):
    """A hook that declares events of its own in the scenario; each that takes place is a firing.

    Attributes:
        names: of the events that count.
        came: how many of them took place.
    """

    def __init__(self, name: str, schedule: Schedule) -> None:
        super().__init__(name, schedule)
        self.names: list[str] = []
        self.came = 0

    def on_scenario(self, scenario: Scenario) -> Scenario:
        """Declare, in the share of the episodes that the rate says."""
        self.names, self.came = [], 0
        return self.declare(scenario) if self.drawn() else scenario

    def declare(self, scenario: Scenario) -> Scenario:
        """The scenario with the events, whose `names` are noted, and with what is right then."""
        raise NotImplementedError

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Count them as planned."""
        self.scheduled = len(self.names)
        return system, opening, tools

    def on_event(self, name: str, ctx: Context) -> None:
        """One has come."""
        if name in self.names:
            self.came += 1
            ctx.fire(self.name)

    def get_state(self) -> dict[str, Any]:
        """The counters and how many came."""
        return {**super().get_state(), "came": self.came}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take them up."""
        super().set_state(state)
        self.came = state["came"]
