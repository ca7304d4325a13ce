"""Copies of an environment in mid-episode."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym


def fork(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """Return an independent copy of *env* and all its wrappers, in the middle of the same episode.

    Both go on to the same bytes when they are stepped alike; neither sees the other.

    >>> import agentgym, gymnasium
    >>> env = gymnasium.make("Refund-v0")
    >>> _ = env.reset(seed=7)
    >>> twin = agentgym.fork(env)
    >>> env.step("Hello?")[0] == twin.step("Hello?")[0]
    True

    Raises:
        TypeError: *env* is no environment.
    """
    if not isinstance(env, gym.Env):
        raise TypeError(f"expected an environment to fork, got {env!r:.200}")
    return copy.deepcopy(env)
