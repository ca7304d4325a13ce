"""The hostile domain as the tests of containers use it, and what they share."""

from __future__ import annotations

import importlib
import os
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import gymnasium as gym
from hostile.tools import TOOLS
from pydantic import BaseModel, ConfigDict

from agentgym.backends import images
from agentgym.backends.container import Container
from agentgym.backends.docker import Docker
from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.errors import BackendError
from agentgym.loading import build as build_scenario
from agentgym.scenario import Scenario
from agentgym.snapshot import build_file, expected_hash

FOLDER = Path(__file__).parent / "hostile"
BASE = "AGENTGYM_TEST_BASE"
"""Environment variable with the base image to build on, where the Dockerfile's cannot be fetched."""


class Nothing(BaseModel):
    """An empty ``domain`` section."""

    model_config = ConfigDict(extra="forbid")


class _Hostile(Domain):
    @cached_property
    def snapshot(self) -> Path:
        """Built into a temporary folder, as the tests' folder is no package of the distribution."""
        target = Path(tempfile.gettempdir()) / f"hostile-{expected_hash(self.folder)[:16]}-{os.getpid()}.db"
        importlib.import_module("hostile.world")
        build_file(self.folder, target, "hostile.world")
        return target


HOSTILE = _Hostile(name="hostile", folder=FOLDER, tools=TOOLS, scenario_model=Nothing)


def goal(value: int = 5, **fields: Any) -> Scenario:
    """Set the apple to *value*."""
    find = {"sql": "SELECT value FROM items WHERE name = 'apple'", "expect": value, "type": "int"}
    data: dict[str, Any] = {
        "id": "hostile/apple-001",
        "family": "apple",
        "now": "2026-03-14T09:30:00Z",
        "instruction": "Set the apple.",
        "domain": {},
        "user": {"opening": f"Set the apple to {value}."},
        "checkpoints": [{"name": "set", **find}],
        "checks": {
            "final_state": [find],
            "may_change": ["items[name='apple'].value"],
            "process": {"max_steps": 50},
        },
        "single_route": "there is one tool for it",
        "gold": [
            {"plan": ["Set it"], "actions": [call("put", name="apple", value=value), call("finish", outcome="done")]}
        ],
    }
    return build_scenario(data | fields)


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """An action."""
    return {"name": name, "arguments": arguments}


class HostileEnv(ToolEnv):
    """The hostile desk."""

    domain = HOSTILE

    def begin(self, **fields: Any) -> str:
        """Start an episode and return the hash of the world in it."""
        self.reset(seed=1, options={"scenario": goal(**fields)})
        return self.state_hash

    def act(self, name: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """Take one action: what was shown, and the info."""
        observation, _, _, _, info = self.step(call(name, **arguments))
        return observation["content"], info

    def box(self) -> Container:
        """The container that runs."""
        backend = self._world()
        assert isinstance(backend, Docker)
        assert backend.container is not None
        return backend.container


if "Hostile-v0" not in gym.registry:
    gym.register(id="Hostile-v0", entry_point="hostile_domain:HostileEnv")


def provide(domain: Domain) -> None:
    """Build the image of *domain* unless it is there."""
    try:
        images.ready(images.spec(domain))
    except BackendError:
        for _ in images.build(domain, os.environ.get(BASE)):
            pass
