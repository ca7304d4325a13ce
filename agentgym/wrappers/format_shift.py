"""Format shift: the same payload as XML or HTML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Unpack

import gymnasium as gym

from agentgym.env import Observation
from agentgym.hooks import Context, Hook
from agentgym.trace import Call
from agentgym.world import CallResult
from agentgym.wrappers.base import Perturbation, Plan
from agentgym.wrappers.formats import MEDIA, Format, check_formats, encode, read
from agentgym.wrappers.schedule import Schedule, ScheduledHook, words


class FormatShift(Perturbation):
    """Results come in another format, in turns.

    What the agent sees: results of the world's tools as XML or HTML, with the type of each value; the rest, errors and
    what the user says stay as they are. Of an HTTP answer it is the body, and a header says so. What the world does:
    the same.

    Args:
        env: an environment of this suite, or a third party's (`agentgym.wrappers.foreign`).
        rate: probability at each result, 0–1.
        intensity: 0–4: rates of 0, ⅓, ⅔ (default), 0.9, 1.
        formats: which, in turns from a drawn one on: of "json", "xml", "html"; by default xml and html.
        plan: at, when, tools, as for `Perturbation`.

    Raises:
        TypeError: *env* is no environment that it can be over.
        ValueError: an argument is out of its range.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import FormatShift
    >>> env = FormatShift(gymnasium.make("Refund-v0", split="test"), rate=1, formats="xml")
    >>> _ = env.reset(seed=7)
    >>> env.step({"name": "list_holidays", "arguments": {"country": "XX"}})[0]["content"]
    '<result type="object"><country type="string">XX</country><holidays type="list"/></result>'
    """

    kind: ClassVar[str] = "format-shift"
    rates: ClassVar[tuple[float, float, float, float, float]] = (0.0, 1 / 3, 2 / 3, 0.9, 1.0)

    def __init__(
        self,
        env: gym.Env[Observation, Any],
        rate: float | None = None,
        *,
        formats: str | Iterable[str] = ("xml", "html"),
        **plan: Unpack[Plan],
    ) -> None:
        super().__init__(env, rate, **plan)
        self.formats = check_formats(words("formats", formats, "json, xml and html"))

    def hook(self) -> Hook:
        """The hook of one episode."""
        return FormatShiftHook(self.schedule, self.formats)


class FormatShiftHook(ScheduledHook):
    """Writes results in another format."""

    def __init__(self, schedule: Schedule, formats: tuple[Format, ...]) -> None:
        super().__init__(FormatShift.kind, schedule)
        self._formats = formats
        self._turn = 0

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Draw where the turns begin."""
        system, opening, tools = super().on_task(system, opening, tools, ctx)
        self._turn = self.stream.integers(0, len(self._formats))
        return system, opening, tools

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        """Write the result in the format whose turn it is."""
        # A third party's results may be mere text, which has no other format.
        if not result.ok or not self.due(call, ctx, lambda: not isinstance(read(result.value), str)):
            return result
        form = self._formats[self._turn % len(self._formats)]
        self._turn += 1
        ctx.fire(self.name)

        def write(payload: Any) -> str:
            return encode(read(payload), form)

        if self.presentation is None:
            return result._replace(value=write(result.value))
        return result._replace(value=self.presentation.written(call, result.value, write, MEDIA[form]))

    def get_state(self) -> dict[str, Any]:
        """The counters and the turn."""
        return {**super().get_state(), "turn": self._turn}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take them up."""
        super().set_state(state)
        self._turn = state["turn"]
