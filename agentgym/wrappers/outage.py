"""Outages: a call fails, before it reached the world or after it has taken effect."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal, Unpack, cast, get_args

import gymnasium as gym

from agentgym.env import Observation
from agentgym.hooks import Context, Fault, Hook
from agentgym.trace import Call
from agentgym.world import CallResult
from agentgym.wrappers.base import Perturbation, Plan
from agentgym.wrappers.schedule import Schedule, ScheduledHook, words

Mode = Literal["503", "429", "timeout"]

_TIMEOUT_MS = 30_000
_TEXTS = {
    "503": "503 Service Unavailable: {name} did not answer properly; the call may or may not have taken effect",
    "timeout": "{name} timed out after 30 s without an answer; the call may or may not have taken effect",
}


class _Outage(Perturbation):
    rates: ClassVar[tuple[float, float, float, float, float]] = (0.0, 0.1, 0.2, 0.35, 0.6)
    possible: ClassVar[tuple[Mode, ...]] = get_args(Mode)

    def __init__(
        self,
        env: gym.Env[Observation, Any],
        rate: float | None = None,
        *,
        modes: Mode | Iterable[Mode] | None = None,
        **plan: Unpack[Plan],
    ) -> None:
        super().__init__(env, rate, **plan)
        given = self.possible if modes is None else words("modes", modes, ", ".join(map(repr, self.possible)))
        self.modes: tuple[Mode, ...] = cast("tuple[Mode, ...]", given)
        if self._own is None and "429" in self.modes:
            if modes is not None:
                raise ValueError("a third party's environment has no clock to wait on; give modes 503 and timeout")
            self.modes = tuple(mode for mode in self.modes if mode != "429")
        for mode in self.modes or ("none",):
            if mode not in self.possible:
                raise ValueError(f"expected modes to be of {', '.join(self.possible)}, got {mode!r}")


class OutageBeforeCommit(_Outage):
    """Calls fail before they reach the world.

    What the agent sees: an error instead of the result: 503, 429 with the seconds to wait, or a time-out after 30 s; it
    does not say whether the call took effect. An HTTP API says so in its own form; of a time-out it says nothing. What
    the world does: nothing, the call never arrives; the time passes. After a 429 that tool answers no call until the
    seconds have passed.

    Args:
        env: an environment of this suite, or a third party's (`agentgym.wrappers.foreign`).
        rate: probability at each call, 0–1.
        intensity: 0–4: rates of 0, 0.1, 0.2 (default), 0.35, 0.6.
        modes: of "503", "429", "timeout"; each as likely.
        plan: at, when, tools, as for `Perturbation`.

    Raises:
        TypeError: *env* is no environment that it can be over.
        ValueError: an argument is out of its range.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import OutageBeforeCommit
    >>> env = OutageBeforeCommit(gymnasium.make("Refund-v0", split="test"), at=1, modes="503")
    >>> _ = env.reset(seed=7)
    >>> env.step({"name": "list_holidays", "arguments": {"country": "DE"}})[0]["content"][:23]
    '503 Service Unavailable'
    """

    kind: ClassVar[str] = "outage-before-commit"

    def hook(self) -> Hook:
        """The hook of one episode."""
        return OutageHook(self.kind, self.schedule, self.modes, after=False)


class OutageAfterCommit(_Outage):
    """Calls take effect, but their results are lost.

    What the agent sees: an error instead of the result, the same one as of an outage before the commit (503 or a
    time-out). What the world does: the call takes effect. An idempotency key makes it survivable: a repeated key gives
    the first result. Without one, look before you call again.

    Args:
        env: an environment of this suite, or a third party's (`agentgym.wrappers.foreign`).
        rate: probability at each call, 0–1.
        intensity: 0–4: rates of 0, 0.1, 0.2 (default), 0.35, 0.6.
        modes: of "503", "timeout"; each as likely.
        plan: at, when, tools, as for `Perturbation`.

    Raises:
        TypeError: *env* is no environment that it can be over.
        ValueError: an argument is out of its range.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import OutageAfterCommit
    >>> env = OutageAfterCommit(gymnasium.make("Refund-v0", split="test"), at=1)
    >>> _ = env.reset(seed=7)
    >>> env.step({"name": "list_holidays", "arguments": {"country": "DE"}})[0]["role"]
    'error'
    """

    kind: ClassVar[str] = "outage-after-commit"
    possible: ClassVar[tuple[Mode, ...]] = ("503", "timeout")

    def hook(self) -> Hook:
        """The hook of one episode."""
        return OutageHook(self.kind, self.schedule, self.modes, after=True)


class OutageHook(ScheduledHook):
    """Breaks calls."""

    beneath = True

    def __init__(self, name: str, schedule: Schedule, modes: tuple[Mode, ...], after: bool) -> None:
        super().__init__(name, schedule)
        self._modes, self._after = modes, after
        self._closed: dict[str, int] = {}

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Open everything."""
        self._closed = {}
        return super().on_task(system, opening, tools, ctx)

    def before_call(self, call: Call, ctx: Context) -> Call | Fault:
        """Break the call before it reaches the world."""
        if self._after:
            return call
        if self._closed.get(call.name, 0) > ctx.now_ms:
            self.scheduled += 1
            return self._throttled(call, ctx)
        if not self.due(call, ctx):
            return call
        stream = self.draws(ctx)
        mode = stream.choice(self._modes)
        if mode == "429":
            self._closed[call.name] = ctx.now_ms + 1000 * stream.integers(2, 21)
            return self._throttled(call, ctx)
        return self._fault(call, mode, ctx)

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult | Fault:
        """Lose the result of a call that has taken effect; an answer that is an error anyway is none to lose."""
        if self._after and result.ok and self.due(call, ctx):
            return self._fault(call, self.draws(ctx).choice(self._modes), ctx)
        return result

    def _throttled(self, call: Call, ctx: Context) -> Fault:
        ctx.fire(self.name)
        seconds = -(-(self._closed[call.name] - ctx.now_ms) // 1000)
        text = f"429 Too Many Requests: {call.name} takes calls again in {seconds} s (retry-after: {seconds})"
        return Fault(text, 50, 429, seconds)

    def _fault(self, call: Call, mode: Mode, ctx: Context) -> Fault:
        ctx.fire(self.name)
        text = _TEXTS[mode].format(name=call.name)
        return Fault(text, _TIMEOUT_MS) if mode == "timeout" else Fault(text, 200, 503)

    def get_state(self) -> dict[str, Any]:
        """The counters and which tools are closed until when."""
        return {**super().get_state(), "closed": self._closed}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take them up."""
        super().set_state(state)
        self._closed = dict(state["closed"])
