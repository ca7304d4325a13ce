"""Wrappers: what changes an environment without changing what is right."""

from __future__ import annotations

from agentgym.wrappers.simulated_user import SimulatedUser

__all__ = ["SimulatedUser"]
