"""Input noise: the user writes as people do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym

from agentgym.env import Observation
from agentgym.hooks import Context, Hook
from agentgym.noise import LEVELS, NoiseLevel, claims, structure, vague, wording
from agentgym.perturbations import Table, table_of
from agentgym.random import Stream
from agentgym.scenario import Fact, Scenario
from agentgym.trace import Call
from agentgym.world import CallResult
from agentgym.wrappers.base import Perturbation
from agentgym.wrappers.schedule import Schedule, ScheduledHook

SHARES: tuple[float, ...] = (0.0, 0.1, 0.25, 0.4, 0.6)
"""Share of the words that wording noise changes, by intensity."""
_GENERAL: Mapping[str, str] = {r"[A-Z]+-?\d+": "Which number is it, please?"}


def questions(scenario: Scenario, table: Table) -> dict[str, str]:
    """Literals of the opening that knowledge noise leaves out → the question that gets each from the user."""
    return _questions(scenario, {**_GENERAL, **table.asks})


def _questions(scenario: Scenario, asks: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for literal in map(str, scenario.given):
        ask = next((ask for form, ask in reversed(list(asks.items())) if re.fullmatch(form, literal)), "")
        if ask and literal in scenario.user.opening:
            found[literal] = ask
    return found


class Noise(Perturbation):
    """The user's messages are noisy.

    What the agent sees: the opening, and at the first two levels the replies too, with typos, colloquial and dialect
    words (*wording*); with off-topic sentences inserted (*structure*); without identifiers, which the user tells when
    asked, and with claims that are not true (*knowledge*). Ids, amounts, dates, counts and negations are never touched,
    but that the last level leaves identifiers out. What the world does: the same.

    Args:
        env: an environment of this suite, or, but for "knowledge", a third party's (`agentgym.wrappers.foreign`).
        rate: probability for each message, 0–1.
        level: "wording", "structure" or "knowledge".
        intensity: 0–4: share of words 0, 0.1, 0.25 (default), 0.4, 0.6; or so many sentences; or so many claims, the
            identifiers left out from 1 on.

    Raises:
        TypeError: *env* is no environment that it can be over.
        ValueError: an argument is out of its range.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import Noise
    >>> env = Noise(gymnasium.make("Refund-v0", split="test"), level="knowledge")
    >>> observation, _ = env.reset(seed=7, options={"scenario": "refund/partial-001"})
    >>> "A1010" in observation["content"]
    False
    """

    kind: ClassVar[str] = "noise"

    def __init__(
        self,
        env: gym.Env[Observation, Any],
        rate: float | None = None,
        *,
        level: NoiseLevel = "wording",
        intensity: int = 2,
    ) -> None:
        super().__init__(env, rate, intensity=intensity)
        if level not in LEVELS:
            raise ValueError(f"expected level to be one of {', '.join(LEVELS)}, got {level!r}")
        self.level: NoiseLevel = level
        if self._own is None and level == "knowledge":
            raise ValueError("what noise-knowledge leaves out a third party's user could not be asked for")
        self.asks = {**_GENERAL, **(table_of(self._own.domain).asks if self._own else {})}

    def hook(self) -> Hook:
        """The hook of one episode."""
        return NoiseHook(self.level, self.schedule, self.intensity, self.asks)


class NoiseHook(ScheduledHook):
    """Changes the opening and the replies."""

    def __init__(self, level: NoiseLevel, schedule: Schedule, intensity: int, asks: Mapping[str, str]) -> None:
        super().__init__(f"{Noise.kind}-{level}", schedule)
        self._level, self._intensity, self._asks = level, intensity or 1, asks
        self._language = "en"
        self._opened = False

    def on_scenario(self, scenario: Scenario) -> Scenario:
        """Make the opening noisy; what it no longer names, the user knows when asked."""
        self._language, self._opened = scenario.language, False
        user = scenario.user
        if self._level != "knowledge":
            opening = self.on_text(user.opening, scenario.language)
            return scenario.model_copy(update={"user": user.model_copy(update={"opening": opening})})
        if not self.drawn():
            return scenario
        self._opened = True
        left_out = _questions(scenario, self._asks)
        literals = list(left_out)
        opening = vague(user.opening, literals, scenario.language)
        opening = claims(opening, self._intensity, self.stream, scenario.language)
        facts = {
            f"{self.name} {literal}": Fact(when=[question], say=f"{literal}.") for literal, question in left_out.items()
        }
        changed = {"opening": opening, "facts": {**user.facts, **facts}}
        return scenario.model_copy(update={"user": user.model_copy(update=changed)})

    def on_text(self, text: str, language: str) -> str:
        """Make what the user writes first noisy, at the first two levels."""
        self._language, self._opened = language, self.drawn()
        return self._noisy(text, self.stream) if self._opened else text

    def _noisy(self, text: str, stream: Stream) -> str:
        if self._level == "wording":
            return wording(text, SHARES[self._intensity], stream, self._language)
        return structure(text, self._intensity, stream, self._language, joined=SHARES[self._intensity])

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Report what was done to the opening."""
        super().on_task(system, opening, tools, ctx)
        if self._opened:
            self.scheduled += 1
            ctx.fire(self.name)
        return system, opening, tools

    def concerns(self, call: Call) -> bool:
        """Only what the user says in words."""
        return call.name == "respond" and self._level != "knowledge"

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        """Make a reply noisy."""
        if not result.ok or not isinstance(result.value, str) or not self.due(call, ctx):
            return result
        ctx.fire(self.name)
        return result._replace(value=self._noisy(result.value, self.draws(ctx)))
