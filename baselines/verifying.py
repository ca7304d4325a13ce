"""Plays a gold plan with every recovery policy: repeats, waits, converts, reads manuals again, checks facts, asks."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentgym import Recovered, Usage
from agentgym.baselines._view import main

_KINDS: tuple[str, ...] = (
    "outage-before-commit",
    "outage-after-commit",
    "format-shift",
    "schema-drift",
    "pollution",
    "dynamic-state",
    "shutdown",
    "interruption",
    "noise-knowledge",
)


class Verifying:
    """Plays a gold plan and does something about every kind of perturbation.

    Args:
        plan: number of the plan, from 0.
    """

    def __init__(self, plan: int = 0) -> None:
        self.plan = plan
        self.name = f"verifying/{plan}" if plan else "verifying"

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode. It costs nothing."""
        Recovered(self.plan, _KINDS).run(env, seed=seed, options=options)
        return Usage()


if __name__ == "__main__":
    main(Verifying)
