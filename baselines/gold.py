"""Replays a gold plan of the scenario. It is the upper bound, and the only agent here that knows the scenario."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentgym import GoldRunner, ToolEnv, Usage
from agentgym.baselines._view import main


class Gold:
    """Plays a gold plan; its bindings are resolved against what the agent is shown.

    Args:
        plan: number of the plan, from 0.

    Raises:
        GoldError: from `run`, when an argument does not resolve.
        ValueError: from `run`, when the scenario has no such plan.
    """

    def __init__(self, plan: int = 0) -> None:
        self.plan = plan
        self.name = f"gold/{plan}" if plan else "gold"

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode. It costs nothing."""
        observation, _ = env.reset(seed=seed, options=options)
        if not isinstance(env.unwrapped, ToolEnv):
            raise TypeError(f"expected an environment of agentgym, got {type(env.unwrapped).__name__}")
        runner = GoldRunner(env.unwrapped.scenario, self.plan, env.unwrapped.presentation)
        ended = False
        while not ended and (action := runner.next(observation)) is not None:
            observation, _, terminated, truncated, _ = env.step(action)
            ended = terminated or truncated
        return Usage()


if __name__ == "__main__":
    main(Gold)
