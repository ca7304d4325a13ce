"""Registration with Gymnasium: environments are named here, as strings, and imported when they are made."""

from __future__ import annotations

import gymnasium as gym

REGISTERED: dict[str, str] = {"Refund-v0": "refund", "HR-v0": "hr"}
"""Environment id → domain name."""

_ENTRY_POINTS = {"Refund-v0": "agentgym.envs.refund.env:RefundEnv", "HR-v0": "agentgym.envs.hr.env:HrEnv"}


def entry_point(env: str) -> str:
    """Where the class of a registered environment is, as "module:Class"."""
    return _ENTRY_POINTS[env]


def register() -> None:
    """Register every environment once."""
    for name, entry_point in _ENTRY_POINTS.items():
        if name not in gym.registry:
            gym.register(id=name, entry_point=entry_point)
