"""Wrappers: what changes an environment without changing what is right."""

from __future__ import annotations

from agentgym.wrappers.base import Perturbation
from agentgym.wrappers.catalogue import COMPOSITIONS, KINDS, perturb, read_specs
from agentgym.wrappers.dynamic_state import DynamicState, Shutdown
from agentgym.wrappers.format_shift import FormatShift
from agentgym.wrappers.injection import Injection
from agentgym.wrappers.interruption import Interruption
from agentgym.wrappers.jitter import Jitter
from agentgym.wrappers.noise import Noise
from agentgym.wrappers.outage import OutageAfterCommit, OutageBeforeCommit
from agentgym.wrappers.pollution import Pollution
from agentgym.wrappers.schema_drift import SchemaDrift
from agentgym.wrappers.simulated_user import SimulatedUser

__all__ = [
    "COMPOSITIONS",
    "KINDS",
    "DynamicState",
    "FormatShift",
    "Injection",
    "Interruption",
    "Jitter",
    "Noise",
    "OutageAfterCommit",
    "OutageBeforeCommit",
    "Perturbation",
    "Pollution",
    "SchemaDrift",
    "Shutdown",
    "SimulatedUser",
    "perturb",
    "read_specs",
]
