"""What the tests of the core share, importable by other processes: a tiny environment, wrappers, scenarios, records."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tiny_domain import TINY, renewal

from agentgym.env import ToolEnv
from agentgym.hooks import Context, Fault, Hook
from agentgym.loading import build
from agentgym.scenario import Scenario
from agentgym.snapshot import build_file
from agentgym.tools import Tool
from agentgym.trace import Call
from agentgym.world import CallResult, World


class TinyEnv(ToolEnv):
    """The lending desk."""

    domain = TINY


if "Tiny-v0" not in gym.registry:
    gym.register(id="Tiny-v0", entry_point="spawned:TinyEnv")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """An action."""
    return {"name": name, "arguments": arguments}


def confirm(tool: str, **arguments: Any) -> dict[str, Any]:
    """The action of asking for consent."""
    return call("confirm_with_user", tool=tool, arguments=arguments)


LOOK = call("list_loans", member_id="M1")
CONFIRM = confirm("renew_loan", loan_id="L101", days=14)
RENEW = call("renew_loan", loan_id="L101", days=14)
TELL = call("respond", message="Emma is now due on 2026-04-03.")
DONE = call("finish", outcome="done")
GOOD = [LOOK, CONFIRM, RENEW, TELL, DONE]


def variant(checks: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **fields: Any) -> Scenario:
    """The renewal of L101 by 14 days with some fields changed; *checks* and *user* are merged into those there."""
    data = renewal("tiny/variant-001", 14)
    data |= fields
    data["checks"] = data["checks"] | (checks or {})
    data["user"] = data["user"] | (user or {})
    return build(data)


def play(env: Any, actions: Iterable[Any]) -> list[tuple[dict[str, str], float, bool, bool, dict[str, Any]]]:
    """Take the actions until the episode ends; the steps' results."""
    steps = []
    for action in actions:
        steps.append(env.step(action))
        if steps[-1][2] or steps[-1][3]:
            break
    return steps


def record(steps: Sequence[Any]) -> bytes:
    """The bytes of what `reset` and `step` gave."""
    return json.dumps(steps).encode()


def whole(env: Any, actions: Iterable[Any], **reset: Any) -> bytes:
    """The bytes of an episode from its reset on, with the final state."""
    start = env.reset(**reset)
    steps = play(env, actions)
    return record([start, steps, env.unwrapped.state_hash, env.unwrapped.episode_return])


class NoiseHook(Hook):
    """Draws on each call, counts, slows calls down and now and then breaks one; remembers all of it."""

    name = "noise"

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.seen: list[str] = []

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        self.scheduled = 1
        self.seen = []
        return system, f"{opening} ({self.stream.integers(0, 1000)})", tools

    def before_call(self, call: Call, ctx: Context) -> Call | Fault:
        self.seen.append(call.name)
        ctx.extra_ms += self.stream.integers(1, 500)
        if self.stream.uniform() < self.rate:
            ctx.fire(self.name)
            return Fault(f"busy, try again ({len(self.seen)})", 700)
        return call

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult | Fault:
        if result.ok and isinstance(result.value, str):
            return result._replace(value=f"{result.value} [{len(self.seen)}:{self.stream.integers(0, 10)}]")
        return result

    def get_state(self) -> dict[str, Any]:
        return {"seen": list(self.seen)}

    def set_state(self, state: dict[str, Any]) -> None:
        self.seen = list(state["seen"])


class Noise(gym.Wrapper[Any, Any, Any, Any]):
    """A perturbation with state and a stream."""

    def __init__(self, env: gym.Env[Any, Any], rate: float = 0.3) -> None:
        super().__init__(env)
        self._rate = rate

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.unwrapped.add_hook(NoiseHook(self._rate))  # type: ignore[attr-defined]
        return super().reset(seed=seed, options=options)


class HookWith(gym.Wrapper[Any, Any, Any, Any]):
    """Hands one given hook to each episode."""

    def __init__(self, env: gym.Env[Any, Any], hook: Hook) -> None:
        super().__init__(env)
        self.hook = hook

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.unwrapped.add_hook(self.hook)  # type: ignore[attr-defined]
        return super().reset(seed=seed, options=options)


MIXED = [LOOK, CONFIRM, "Hello?", call("nonsense"), LOOK, RENEW, call("wait", seconds=60), RENEW, TELL, DONE]
"""Reads, writes, talk, nonsense: what a determinism test plays."""


def main() -> None:
    """Print the bytes of three episodes, bare and wrapped, for a comparison between processes."""
    bare, wrapped = TinyEnv(reward="shaped"), Noise(Noise(TinyEnv(info="lean")))
    for seed in (3, 4, 2**62 + 1):
        for env in (bare, wrapped):
            sys.stdout.write(whole(env, MIXED, seed=seed).decode() + "\n")
    sys.stdout.write(whole(bare, MIXED).decode() + "\n")


if __name__ == "__main__":
    main()


@contextmanager
def built_world(folder: Path, tools: Mapping[str, Tool], where: Path) -> Iterator[World]:
    """The world of the domain in a folder, built from its seed data into another folder."""
    file = where / "snapshot.db"
    build_file(folder, file)
    world = World(file, tools)
    yield world
    world.close()
