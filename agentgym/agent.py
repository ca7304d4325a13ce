"""What a runner needs of an agent: a name, and that it plays one episode and says what that cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym


@dataclass(frozen=True)
class Usage:
    """What one episode cost; all zero for scripted agents.

    Attributes:
        model_calls: answers received from a model.
        prompt_tokens: tokens read by the model, cached ones included.
        completion_tokens: tokens written by the model.
        cost_usd: money, US dollars, 0.0 where no prices are known.
        wall_s: seconds spent waiting for the model, retries included.

    >>> Usage(1, 10, 5, 0.5, 1.0) + Usage(1, 20, 5, 0.25, 0.5)
    Usage(model_calls=2, prompt_tokens=30, completion_tokens=10, cost_usd=0.75, wall_s=1.5)
    """

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    wall_s: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.model_calls + other.model_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost_usd + other.cost_usd,
            self.wall_s + other.wall_s,
        )


class Agent(Protocol):
    """An agent as runners use it."""

    name: str
    """Stands in result tables; different for agents that should be told apart."""

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Reset *env* with *seed* and *options*, play the episode to its end and return what it cost.

        Raises:
            EndpointError: a model's endpoint failed; the episode counts as an infrastructure error.
        """
        ...
