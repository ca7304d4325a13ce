"""Plays a gold plan and repeats what failed: with the same key, after waiting where that was asked for."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentgym import Recovered, Usage
from agentgym.baselines._view import main

_KINDS: tuple[str, ...] = ("outage-before-commit", "outage-after-commit", "dynamic-state")


class Retrying:
    """Plays a gold plan with same-key retry and waiting; it believes what it reads.

    Args:
        plan: number of the plan, from 0.
    """

    def __init__(self, plan: int = 0) -> None:
        self.plan = plan
        self.name = f"retrying/{plan}" if plan else "retrying"

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode. It costs nothing."""
        Recovered(self.plan, _KINDS).run(env, seed=seed, options=options)
        return Usage()


if __name__ == "__main__":
    main(Retrying)
