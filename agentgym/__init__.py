"""agentgym: Gymnasium environments for language-model agents that use tools.

``import agentgym`` registers the environments; ``gymnasium.make("Refund-v0")`` makes one. Everything public is listed
in `__all__` and imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from agentgym.registration import register as _register

if TYPE_CHECKING:
    from agentgym.agent import Agent, Usage
    from agentgym.chat import ChatSession
    from agentgym.compare import Comparator
    from agentgym.domain import Domain
    from agentgym.env import ToolEnv
    from agentgym.errors import (
        AgentGymError,
        DomainError,
        EndpointError,
        EpisodeError,
        ScenarioError,
        SnapshotError,
        StateError,
        StoreError,
        ToolBugError,
    )
    from agentgym.forking import fork
    from agentgym.gold import GoldRunner
    from agentgym.hooks import Context, Fault, Hook
    from agentgym.loading import load_scenario, scenario_ids
    from agentgym.metrics import pass_at_k, pass_hat_k
    from agentgym.random import Stream
    from agentgym.recovered import Recovered
    from agentgym.scenario import Scenario
    from agentgym.spaces import ActionSpace, UnicodeText
    from agentgym.state import EpisodeState
    from agentgym.tools import Tool, ToolError, tool
    from agentgym.users import ScriptedUser, User
    from agentgym.verdict import CheckResult, Verdict

__version__ = "0.1.0"

_HOMES = {
    "agent": ("Agent", "Usage"),
    "chat": ("ChatSession",),
    "compare": ("Comparator",),
    "domain": ("Domain",),
    "env": ("ToolEnv",),
    "errors": (
        "AgentGymError",
        "DomainError",
        "EndpointError",
        "EpisodeError",
        "ScenarioError",
        "SnapshotError",
        "StateError",
        "StoreError",
        "ToolBugError",
    ),
    "forking": ("fork",),
    "gold": ("GoldRunner",),
    "hooks": ("Context", "Fault", "Hook"),
    "loading": ("load_scenario", "scenario_ids"),
    "metrics": ("pass_at_k", "pass_hat_k"),
    "random": ("Stream",),
    "recovered": ("Recovered",),
    "scenario": ("Scenario",),
    "spaces": ("ActionSpace", "UnicodeText"),
    "state": ("EpisodeState",),
    "tools": ("Tool", "ToolError", "tool"),
    "users": ("ScriptedUser", "User"),
    "verdict": ("CheckResult", "Verdict"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ActionSpace",
    "Agent",
    "AgentGymError",
    "ChatSession",
    "CheckResult",
    "Comparator",
    "Context",
    "Domain",
    "DomainError",
    "EndpointError",
    "EpisodeError",
    "EpisodeState",
    "Fault",
    "GoldRunner",
    "Hook",
    "Recovered",
    "Scenario",
    "ScenarioError",
    "ScriptedUser",
    "SnapshotError",
    "StateError",
    "StoreError",
    "Stream",
    "Tool",
    "ToolBugError",
    "ToolEnv",
    "ToolError",
    "UnicodeText",
    "Usage",
    "User",
    "Verdict",
    "__version__",
    "fork",
    "load_scenario",
    "pass_at_k",
    "pass_hat_k",
    "scenario_ids",
    "tool",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'agentgym' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"agentgym.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


_register()
