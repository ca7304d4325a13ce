"""The lending desk as a registered environment, and agents that misbehave as real ones do."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

import gymnasium as gym
from tiny_domain import TINY

from agentgym.agent import Usage
from agentgym.env import ToolEnv
from agentgym.errors import EndpointError
from agentgym.gold import GoldRunner

ENV = "rollout_parts:Tiny-v0"


class TinyEnv(ToolEnv):
    domain = TINY


if "Tiny-v0" not in gym.registry:
    gym.register("Tiny-v0", entry_point="rollout_parts:TinyEnv")


class Gold:
    """Plays the gold plan, after a pause and with a made-up bill."""

    name = "gold"

    def __init__(self, pause: float = 0.0, cost: float = 0.0) -> None:
        self.pause, self.cost = pause, cost
        self.usage = Usage()

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        self.usage = Usage(2, 100, 10, self.cost, 0.0)
        observation, _ = env.reset(seed=seed, options=options)
        time.sleep(self.pause)
        self.before(env)
        runner = GoldRunner(env.unwrapped.scenario, 0)  # type: ignore[attr-defined]
        while (action := runner.next(observation)) is not None:
            observation, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                break
        return self.usage

    def before(self, env: gym.Env[Any, Any]) -> None:
        """What goes wrong, in the agents below."""


class Idle(Gold):
    def before(self, env: gym.Env[Any, Any]) -> None:
        env.step({"name": "finish", "arguments": {"outcome": "done"}})

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        env.reset(seed=seed, options=options)
        self.before(env)
        return Usage()


class Chatty(Gold):
    def before(self, env: gym.Env[Any, Any]) -> None:
        print("I am an agent that prints")  # noqa: T201
        os.write(1, b"and one that writes to descriptor 1\n")


class Quitter(Gold):
    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        env.reset(seed=seed, options=options)
        return Usage()


class Crasher(Gold):
    def before(self, env: gym.Env[Any, Any]) -> None:
        raise RuntimeError("half \ud83d of a pair")


class Leaver(Gold):
    def before(self, env: gym.Env[Any, Any]) -> None:
        raise SystemExit(7)


class Unreachable(Gold):
    def before(self, env: gym.Env[Any, Any]) -> None:
        raise EndpointError("no answer after 4 attempts")


class Sleeper(Gold):
    def before(self, env: gym.Env[Any, Any]) -> None:
        try:
            time.sleep(60)
        except Exception:  # noqa: BLE001 - an agent that catches all it can
            time.sleep(60)


class Killer(Gold):
    """Kills its process, on one scenario only."""

    def before(self, env: gym.Env[Any, Any]) -> None:
        if env.unwrapped.scenario.id == "tiny/refuse-001":  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGKILL)


class Elsewhere(Gold):
    """Plays another scenario than the one that it was given, or another seed."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        if self.how == "scenario":
            return super().run(env, seed=seed, options={"scenario": "tiny/renew-001"})
        if self.how == "past":
            env.reset(seed=seed, options=options)
            return super().run(env.unwrapped, seed=seed, options={"scenario": "tiny/renew-001"})
        if self.how == "seed":
            return super().run(env, seed=3, options=options)
        if self.how == "caught":
            with contextlib.suppress(ValueError):
                env.reset(seed=seed)
            return super().run(env, seed=seed, options=options)
        return super().run(env, seed=seed, options={})


class Retrier(Gold):
    """Tries until it has succeeded."""

    def __init__(self, caught: bool = False) -> None:
        super().__init__()
        self.caught = caught

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        # Looking at the task before is no try.
        env.reset(seed=seed, options=options)
        env.reset(seed=seed, options=options)
        env.step({"name": "finish", "arguments": {"outcome": "done"}})
        if self.caught:
            with contextlib.suppress(Exception):
                env.reset(seed=seed, options=options)
            return Usage()
        return super().run(env, seed=seed, options=options)


class Absent(Gold):
    """Does nothing at all: what the environment shows is the trial of another."""

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        return Usage()


class Returns(Gold):
    """Plays to the end and returns something else than a Usage."""

    def __init__(self, what: Any = None) -> None:
        super().__init__(cost=0.5)
        self.what = what

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        super().run(env, seed=seed, options=options)
        returned: Usage = self.what
        return returned
