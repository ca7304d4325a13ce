"""The list of checks."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentgym.validate.subject import Subject

MODULES = (
    "agents",
    "gold",
    "graders",
    "mutation",
    "process",
    "restore",
    "runs",
    "statistics",
    "interface",
    "forms",
    "secrecy",
    "isolation",
    "variants",
    "perturbed",
)
"""The modules of this package that hold checks."""


@dataclass
class Finding:
    """What a check found: a figure for the table and one line for each failure; ``skipped`` says why it did not run."""

    figure: str = ""
    failures: list[str] = field(default_factory=list)
    skipped: str = ""


@dataclass(frozen=True)
class Check:
    """One check: its id and name in the table, whether it is nightly, and the function."""

    id: str
    name: str
    nightly: bool
    function: Callable[[Subject], Finding]


CHECKS: dict[str, Check] = {}

LONG = (
    "V15 V03 V06 V24P V30 V43P V05 V04 V43 V41 V44 V45 V40 V42 V14 V21 V19 V14P V20 V25 V02 V16 V17 V24 V13 V18 V31 V23"
).split()
"""The checks that take longest, the longest first."""


def check(
    id: str, name: str, nightly: bool = False
) -> Callable[[Callable[[Subject], Finding]], Callable[[Subject], Finding]]:
    """Enter a function into the list of checks."""

    def enter(function: Callable[[Subject], Finding]) -> Callable[[Subject], Finding]:
        CHECKS[id] = Check(id, name, nightly, function)
        return function

    return enter


def load_checks() -> None:
    """Import every module with checks."""
    for name in MODULES:
        importlib.import_module(f"agentgym.validate.{name}")
