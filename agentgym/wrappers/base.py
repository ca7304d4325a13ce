"""`Perturbation`: the wrapper that all kinds share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypedDict, Unpack

import gymnasium as gym

from agentgym.env import Observation, ToolEnv
from agentgym.hooks import Hook
from agentgym.wrappers.foreign import Outside, text_space
from agentgym.wrappers.schedule import Condition, Schedule, chosen_tools

STRONGEST = 4
"""The highest intensity; 0 is none."""


class Plan(TypedDict, total=False):
    """What every kind that is about calls takes besides a rate; see `Perturbation`."""

    intensity: int
    at: int | Iterable[int]
    when: Condition | None
    tools: str | Iterable[str] | None


class Perturbation(gym.Wrapper[Observation, Any, Observation, Any]):
    """Makes the episodes of an environment harder; the bare environment beneath stays undisturbed.

    A subclass gives `kind`, `rates` and `hook`. Its own stream is a child of the episode's seed.

    Args:
        env: an environment of this suite, wrapped or not; or, for some kinds, a third party's, see
            `agentgym.wrappers.foreign`.
        rate: probability at each call (or whatever the kind is about), 0–1; by default that of the intensity.
        intensity: 0 (none) to 4.
        at: fire at these calls instead, by number from 1.
        when: fire once, at the first call for which ``when(call, context)`` is true.
        tools: only at calls of these: "reads", "writes", or names; by default every tool of the world.

    Raises:
        TypeError: *env* is no environment that this kind can be over.
        ValueError: an argument is out of its range.
    """

    kind: ClassVar[str] = ""
    rates: ClassVar[tuple[float, float, float, float, float]] = (0.0, 1.0, 1.0, 1.0, 1.0)
    """The rate of each intensity."""
    once: ClassVar[tuple[int, ...]] = ()
    """Intensities at which it fires once an episode, where nothing else is said."""
    inside: ClassVar[str] = ""
    """Why it needs an environment of the suite; "" for kinds that can be over a third party's."""
    within: ClassVar[int] = 8
    """So many calls, of those that it can be at, in which that is."""

    def __init__(self, env: gym.Env[Observation, Any], rate: float | None = None, **plan: Unpack[Plan]) -> None:
        if not isinstance(env, gym.Env):
            raise TypeError(f"expected {type(self).__name__} to be around an environment, got {env!r:.200}")
        super().__init__(env)
        for name in plan:
            if name not in Plan.__annotations__:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}")
        base = env.unwrapped
        self.outside: Outside | None = None
        """Runs the hook around a third party's environment; None over one of the suite."""
        if not isinstance(base, ToolEnv):
            self._go_outside(env)
        self._own = base if isinstance(base, ToolEnv) else None
        # What is given may be of any type, whatever the annotations say.
        given: dict[str, Any] = {**plan}
        intensity, at, when = given.get("intensity", 2), given.get("at", ()), given.get("when")
        if type(intensity) is not int or intensity not in range(STRONGEST + 1):
            raise ValueError(f"expected intensity to be in 0..{STRONGEST}, got {intensity!r}")
        self.intensity: int = intensity
        if not isinstance(at, int) and (isinstance(at, str) or not isinstance(at, Iterable)):
            raise ValueError(f"expected at to be numbers of calls, 1 or more, got {at!r}")
        numbers = (at,) if isinstance(at, int) else tuple(at)
        open_ = rate is None and not numbers and when is None
        once = open_ and intensity in self.once
        self.schedule = Schedule(
            rate=self.rates[intensity] if open_ and not once else rate,
            at=numbers,
            when=when,
            once=once,
            within=self.within,
            tools=chosen_tools(plan.get("tools"), self._own.domain.toolset if self._own else None),
        )

    def hook(self) -> Hook:
        """The hook of one episode."""
        raise NotImplementedError

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Hand a fresh hook over for this episode, then reset what is beneath."""
        if self.outside is not None:
            return self.outside.reset(self.hook(), seed, options)
        self._base.add_hook(self.hook())
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Take an action; the environment beneath runs the hook, a third party's is stepped around it."""
        return self.env.step(action) if self.outside is None else self.outside.step(action)

    @property
    def _base(self) -> ToolEnv:
        """The environment of the suite beneath."""
        if self._own is None:
            raise TypeError(f"{self.kind} is over {type(self.env.unwrapped).__name__}, which is none of agentgym")
        return self._own

    def _go_outside(self, env: gym.Env[Any, Any]) -> None:
        """Get ready for a third party's environment.

        Raises:
            TypeError: this kind cannot be over one, or its observations hold no text.
        """
        name = type(env.unwrapped).__name__
        if self.inside:
            raise TypeError(f"{type(self).__name__} wraps environments of agentgym only, got {name}: {self.inside}")
        self.observation_space = text_space(env, type(self).__name__)
        place, beneath = 1, env
        while isinstance(beneath, gym.Wrapper):
            place += isinstance(beneath, Perturbation) and beneath.kind == self.kind
            beneath = beneath.env
        self.outside = Outside(env, place)
