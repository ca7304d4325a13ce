"""What an agent is given in a trial: its environment, for the one episode that counts."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentgym.errors import EpisodeError


class OneEpisode(gym.Wrapper[Any, Any, Any, Any]):
    """Lets one episode be played, with the trial's seed and scenario, and keeps the last info.

    An agent may reset again before its first step, not after it: the best of several tries is no trial.

    Args:
        env: what the trial is played in.
        seed: of the trial.
        scenario: id of the trial's scenario.
    """

    def __init__(self, env: gym.Env[Any, Any], seed: int, scenario: str) -> None:
        super().__init__(env)
        self.last: dict[str, Any] = {}
        self._given = (seed, {"scenario": scenario})
        self._steps = -1
        """Steps of the episode; -1 before the first reset."""
        self._refused = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start the episode of the trial.

        Raises:
            ValueError: the seed or the options are not those that the agent was given.
            EpisodeError: the episode has begun.
        """
        if self._steps > 0:
            raise EpisodeError(self._refuse(_again(self._steps)))
        if (seed, options) != self._given:
            raise ValueError(self._refuse(_other(self._given, seed, options)))
        observation, self.last = self.env.reset(seed=seed, options=options)
        self._steps = 0
        return observation, self.last

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, and keep the info."""
        if self._steps < 0:
            raise EpisodeError("the agent stepped before it reset; call env.reset(seed=seed, options=options) first")
        observation, reward, terminated, truncated, self.last = self.env.step(action)
        self._steps += 1
        return observation, reward, terminated, truncated, self.last

    def fault(self) -> str:
        """Why what was played is not the trial, though nothing was raised out of the agent; "" if it is."""
        if self._refused:
            return self._refused
        if self._steps < 0:
            # The environment may still show the episode of the trial before.
            return (
                "the agent returned without an episode; call env.reset(seed=seed, options=options) and play to the end"
            )
        base: Any = self.unwrapped
        # It may have been reset past this wrapper.
        found = {"scenario": base.declared.id}
        return "" if found == self._given[1] else _other(self._given, self._given[0], found)

    def _refuse(self, text: str) -> str:
        self._refused = self._refused or text
        return text


def _again(steps: int) -> str:
    return (
        f"expected one episode in a trial, got another reset after {steps} steps; return from run() at the end of the "
        "episode (more tries are more trials: --trials)"
    )


def _other(given: tuple[int, dict[str, str]], seed: object, options: object) -> str:
    return (
        f"expected reset(seed={given[0]}, options={given[1]}), what run() was given for this trial, got "
        f"seed={seed!r:.100}, options={options!r:.200}; pass both on: env.reset(seed=seed, options=options)"
    )
