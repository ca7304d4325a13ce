"""`SimulatedUser`: put another user in front of the agent."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentgym.env import Observation, ToolEnv
from agentgym.users import make_user


class SimulatedUser(gym.Wrapper[Observation, Any, Observation, Any]):
    """Replaces the user of the environment beneath; the bare environment keeps its own.

    The agent sees the words of that user as results of ``respond`` and ``confirm_with_user``. The world and what is
    right stay the same. Of several of these wrappers the outermost counts.

    Args:
        env: an environment of this suite.
        user: "scripted", "model:model=NAME,base_url=URL", a callable ``message → reply``, or a `agentgym.User` such as
            `agentgym.model_user.ModelUser`.

    Raises:
        TypeError: *env* is no environment of this suite, or *user* is none of these.
        ValueError: *user* is an unknown name.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import SimulatedUser
    >>> env = SimulatedUser(gymnasium.make("Refund-v0", split="test"), lambda message: "Who is asking?")
    >>> _ = env.reset(seed=7)
    >>> env.step("Hello")[0]["content"]
    'Who is asking?'
    """

    def __init__(self, env: gym.Env[Observation, Any], user: object) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, ToolEnv):
            raise TypeError(f"SimulatedUser wraps environments of agentgym, got {type(env.unwrapped).__name__}")
        self._base: ToolEnv = env.unwrapped
        self.user = make_user(user)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Hand the user over for this episode, then reset what is beneath."""
        self._base.use_user(self.user)
        return super().reset(seed=seed, options=options)
