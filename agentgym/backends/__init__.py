"""Where the world lives: the `Backend` protocol and the way to get one by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from agentgym.changes import Change, Origin
from agentgym.world import CallResult, Patch

if TYPE_CHECKING:
    from agentgym.domain import Domain

NAMES = ("embedded",)


class Backend(Protocol):
    """One world. Each method is one message; saved states are interchangeable between backends."""

    def restore(self, patch: Patch) -> None:
        """Go back to the snapshot and apply the scenario's patch."""

    def call(self, name: str, arguments: Mapping[str, Any], now_ms: int) -> tuple[CallResult, list[Change]]:
        """Run one tool at a simulated time and return its result and the rows it changed."""

    def rollback_call(self) -> None:
        """Undo the call just made."""

    def apply(self, patch: Patch, origin: Origin) -> list[Change]:
        """Apply a declared change and return the rows it changed."""

    def save(self) -> bytes:
        """The state as bytes of an SQLite database."""

    def load(self, state: bytes) -> None:
        """Continue from a saved state."""

    def hash(self) -> str:
        """Logical hash of the state."""

    def reading(self) -> sqlite3.Connection:
        """The connection that the judge reads, on the host."""

    def close(self) -> None:
        """Give everything back. Closing twice is fine."""


def make_backend(name: str, domain: Domain) -> Backend:
    """Start the backend *name* for *domain*.

    Raises:
        ValueError: there is no such backend.
    """
    check_backend(name)
    from agentgym.backends.embedded import Embedded

    return Embedded(domain)


def check_backend(name: str) -> None:
    """Raise a `ValueError` unless *name* is a backend of this version."""
    if name not in NAMES:
        raise ValueError(f"expected backend to be one of {', '.join(NAMES)}, got {name!r}")
