"""Hooks: how a wrapper reaches into one episode.

A wrapper's ``reset`` hands a `Hook` to the environment beneath (``env.unwrapped.add_hook(hook)``) and then resets it;
the base takes the pending hooks for that episode only. The outermost wrapper sees a call first and its result last.
Hooks see parsed calls and the public context, never the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from agentgym.presentation import Answer, Presentation
    from agentgym.random import Stream
    from agentgym.scenario import CallSpec, Scenario
    from agentgym.trace import Call
    from agentgym.world import CallResult


class Fault(NamedTuple):
    """A broken call: what the agent is shown instead of the result, and the simulated time that it took.

    From ``before_call`` the call never reaches the world; from ``after_call`` it has taken effect and only its result
    is lost. A presentation shows the fault of a hook beneath it in its own form; it goes by the last two.

    Attributes:
        error: what the agent is shown.
        latency_ms: simulated time.
        status: of HTTP, for what is answered at all; 0 for no answer.
        wait_s: after so many seconds the call can be made; 0 where nothing is said of that.
    """

    error: str
    latency_ms: int = 0
    status: int = 0
    wait_s: int = 0


class Context:
    """What a hook may know of the episode, and how it reports that it fired.

    Attributes:
        seed: the episode's seed.
        scenario_id: id of the scenario.
        step: number of the current step, 0 at reset.
        now_ms: simulated time, milliseconds since 1970.
        extra_ms: simulated latency that the hook adds to the current call.
        fired: names of the hooks that fired in this step, innermost first once the step is over.
    """

    def __init__(self, seed: int, scenario_id: str, now_ms: int) -> None:
        self.seed, self.scenario_id, self.now_ms = seed, scenario_id, now_ms
        self.step = 0
        self.extra_ms = 0
        self.fired: list[str] = []

    def fire(self, name: str) -> None:
        """Report that a perturbation fired in this step."""
        self.fired.append(name)


class Hook:
    """Base of all hooks: changes nothing.

    Attributes:
        name: shown in ``info["perturbation"]`` and part of the stream's name.
        stream: the hook's own random stream, given at the start of each episode.
        presentation: how the episode shows the tools, given likewise; None for as they are.
        beneath: it is about the domain's calls and results, and stands between the presentation, where there is one,
            and the world; a hook around the presentation sees what the agent sees.
        scheduled: how many times it means to fire in this episode; set it in ``on_task``.
        hidden: schemas of tools that answer although the agent is not shown them; set it in ``on_task``.
        goal: the call that an injected order wants, or None.
        exposed: the injected text was shown to the agent; set by the hook.
        succeeded: a call like *goal* took effect after that; set by the episode.
    """

    name = "hook"
    stream: Stream
    presentation: Presentation | None = None
    beneath = False
    scheduled = 0
    hidden: Sequence[dict[str, Any]] = ()
    goal: CallSpec | None = None
    exposed = False
    succeeded = False

    def on_scenario(self, scenario: Scenario) -> Scenario:
        """Declare more than the scenario does: events, what the user knows, checks. Called before the world is set up.

        It must come to the same each time that the stream is at its start: a restored episode calls it again.
        """
        return scenario

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """See and change the system text, the opening message and the tool schemas (a fresh copy) at reset."""
        return system, opening, tools

    def before_call(self, call: Call, ctx: Context) -> Call | Fault | Answer:
        """See and change a call before it runs, or break it."""
        return call

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult | Fault:
        """See and change a result, or break it after the effect."""
        return result

    def on_event(self, name: str, ctx: Context) -> None:
        """Learn that a declared event took place."""

    def on_observe(self, observation: dict[str, str], ctx: Context) -> dict[str, str]:
        """See and change what the agent is shown."""
        return observation

    def report(self) -> dict[str, Any]:
        """What is worth knowing of the episode once it is over, JSON-able."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the presentation, which an episode gives anew."""
        return {name: value for name, value in self.__dict__.items() if name != "presentation"}

    def get_state(self) -> dict[str, Any]:
        """What the hook must remember in mid-episode, JSON-able (its stream is kept by the base)."""
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state that `get_state` gave."""
