"""Plays a gold plan and takes every result as it comes: what a perturbation does if nobody does anything about it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentgym import Recovered, Usage
from agentgym.baselines._view import main

_KINDS: tuple[str, ...] = ()


class Naive:
    """Plays a gold plan; where an argument does not resolve it gives up.

    Args:
        plan: number of the plan, from 0.
    """

    def __init__(self, plan: int = 0) -> None:
        self.plan = plan
        self.name = f"naive/{plan}" if plan else "naive"

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode. It costs nothing."""
        Recovered(self.plan, _KINDS).run(env, seed=seed, options=options)
        return Usage()


if __name__ == "__main__":
    main(Naive)
