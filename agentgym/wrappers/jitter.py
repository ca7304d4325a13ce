"""Network jitter: calls take longer, on the simulated clock."""

from __future__ import annotations

import math
import time
from typing import Any, ClassVar, Literal, Unpack, get_args

import gymnasium as gym

from agentgym.env import Observation
from agentgym.findings import is_number
from agentgym.hooks import Context, Hook
from agentgym.random import Stream
from agentgym.trace import Call
from agentgym.wrappers.base import Perturbation, Plan
from agentgym.wrappers.schedule import Schedule, ScheduledHook

Distribution = Literal["lognormal", "normal", "uniform"]

BOUNDS: tuple[tuple[int, int], ...] = ((0, 0), (50, 500), (50, 2_000), (200, 10_000), (1_000, 60_000))
"""Least and most delay of each intensity, milliseconds."""


class Jitter(Perturbation):
    """Calls take longer, by a random delay.

    What the agent sees: the same results; later times in what it reads. What the world does: the clock moves further,
    so events come earlier in the conversation and deadlines nearer.

    Args:
        env: an environment of this suite, or a third party's (`agentgym.wrappers.foreign`).
        rate: probability of a delay at each call, 0–1.
        intensity: 0–4: delays of none, 50–500 ms, 50 ms–2 s (default), 200 ms–10 s, 1–60 s.
        low_ms: least delay, milliseconds; by default that of the intensity.
        high_ms: most delay, milliseconds.
        distribution: "lognormal" (its middle 95 % lie between the bounds; the default), "normal" (likewise) or
            "uniform". Draws outside of the bounds are cut to them.
        realtime: also sleep that long.
        plan: at, when, tools, as for `Perturbation`.

    Raises:
        TypeError: *env* is no environment that it can be over.
        ValueError: an argument is out of its range.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import Jitter
    >>> env = Jitter(gymnasium.make("Refund-v0", split="test"))
    >>> _ = env.reset(seed=7)
    >>> env.step({"name": "list_holidays", "arguments": {"country": "DE"}})[4]["perturbation"]
    'jitter'
    """

    kind: ClassVar[str] = "jitter"

    def __init__(
        self,
        env: gym.Env[Observation, Any],
        rate: float | None = None,
        *,
        low_ms: int | None = None,
        high_ms: int | None = None,
        distribution: Distribution = "lognormal",
        realtime: bool = False,
        **plan: Unpack[Plan],
    ) -> None:
        super().__init__(env, rate, **plan)
        low, high = BOUNDS[self.intensity]
        self.low_ms = low if low_ms is None else low_ms
        self.high_ms = high if high_ms is None else high_ms
        if not (is_number(self.low_ms) and is_number(self.high_ms) and 0 <= self.low_ms <= self.high_ms):
            raise ValueError(f"expected 0 ≤ low_ms ≤ high_ms, got {self.low_ms!r} and {self.high_ms!r}")
        if not isinstance(realtime, bool):
            raise ValueError(f"expected realtime to be true or false, got {realtime!r}")
        if distribution not in get_args(Distribution):
            raise ValueError(
                f"expected distribution to be one of {', '.join(get_args(Distribution))}, got {distribution!r}"
            )
        if distribution == "lognormal" and self.low_ms == 0 and self.schedule.rate != 0:
            raise ValueError("a lognormal delay is above 0; give low_ms ≥ 1")
        self.distribution: Distribution = distribution
        self.realtime = realtime

    def hook(self) -> Hook:
        """The hook of one episode."""
        return JitterHook(self.schedule, self.low_ms, self.high_ms, self.distribution, self.realtime)


class JitterHook(ScheduledHook):
    """Adds the delay before a call."""

    beneath = True

    def __init__(self, schedule: Schedule, low: int, high: int, distribution: Distribution, realtime: bool) -> None:
        super().__init__(Jitter.kind, schedule)
        self._low, self._high, self._realtime = low, high, realtime
        self._distribution: Distribution = distribution
        self._total = 0

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Start from nothing."""
        self._total = 0
        return super().on_task(system, opening, tools, ctx)

    def before_call(self, call: Call, ctx: Context) -> Call:
        """Draw a delay."""
        if self.due(call, ctx):
            delay = delay_ms(self.draws(ctx), self._low, self._high, self._distribution)
            ctx.extra_ms += delay
            self._total += delay
            ctx.fire(self.name)
            if self._realtime:
                time.sleep(delay / 1000)
        return call

    def report(self) -> dict[str, Any]:
        """How much time it took."""
        return {"delay_ms": self._total}

    def get_state(self) -> dict[str, Any]:
        """The counters and the delay so far."""
        return {**super().get_state(), "total": self._total}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take them up."""
        super().set_state(state)
        self._total = state["total"]


def delay_ms(stream: Stream, low: int, high: int, distribution: Distribution) -> int:
    """Draw a delay between *low* and *high* milliseconds."""
    if distribution == "uniform":
        return stream.integers(low, high + 1)
    # Box and Muller; 1 − u keeps the logarithm finite.
    normal = math.sqrt(-2 * math.log(1 - stream.uniform())) * math.cos(2 * math.pi * stream.uniform())
    if distribution == "normal":
        value = (low + high) / 2 + normal * (high - low) / 4
    else:
        middle, spread = (math.log(low) + math.log(high)) / 2, (math.log(high) - math.log(low)) / 4
        value = math.exp(middle + normal * spread)
    return min(max(round(value), low), high)
