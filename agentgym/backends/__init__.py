"""Where the world lives: the `Backend` protocol and the way to get one by name.

"embedded" keeps it in this process; "docker" in a container, with the same trajectories byte for byte.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from agentgym.changes import Change, Origin
from agentgym.world import CallResult, Patch

if TYPE_CHECKING:
    from agentgym.domain import Domain

NAMES = ("embedded", "docker")

VARIABLE = "AGENTGYM_BACKEND"
"""Environment variable with the backend of environments that are made without one."""


class Backend(Protocol):
    """One world. Each method is one message; saved states are interchangeable between backends."""

    def restore(self, patch: Patch) -> None:
        """Go back to the snapshot and apply the scenario's patch."""

    def call(self, name: str, arguments: Mapping[str, Any], now_ms: int) -> tuple[CallResult, list[Change]]:
        """Run one tool at a simulated time and return its result and the rows it changed."""
        ...

    def rollback_call(self) -> bool:
        """Undo the call just made and return whether there was one."""
        ...

    def apply(self, patch: Patch, origin: Origin) -> list[Change]:
        """Apply a declared change and return the rows it changed."""
        ...

    def save(self) -> bytes:
        """The state as bytes of an SQLite database."""
        ...

    def load(self, state: bytes) -> None:
        """Continue from a saved state."""

    def hash(self) -> str:
        """Logical hash of the state."""
        ...

    def tampered(self) -> bool:
        """Whether the world holds something else than what the judge saw of it. Asked at the end of an episode."""
        ...

    def reading(self) -> sqlite3.Connection:
        """The connection that the judge reads, on the host."""
        ...

    def close(self) -> None:
        """Give everything back. Closing twice is fine."""


def make_backend(name: str, domain: Domain, fresh_container: bool = False) -> Backend:
    """Start the backend *name* for *domain*.

    Args:
        name: one of `NAMES`.
        domain: the domain.
        fresh_container: for "docker", start every episode in a new container.

    Raises:
        ValueError: there is no such backend, or it has no containers.
        BackendError: there is no engine to use, or no image that fits.
    """
    check_backend(name, fresh_container)
    if name == "docker":
        from agentgym.backends.docker import Docker

        return Docker(domain, fresh_container)
    from agentgym.backends.embedded import Embedded

    return Embedded(domain)


def check_backend(name: str, fresh_container: bool = False) -> None:
    """Raise a `ValueError` unless *name* is a backend of this version that has what is asked of it."""
    if name not in NAMES:
        raise ValueError(f"expected backend to be one of {', '.join(NAMES)}, got {name!r}")
    if fresh_container and name != "docker":
        raise ValueError(f'fresh_container=True needs backend="docker", the backend is {name!r}')


def default_backend() -> str:
    """The backend that AGENTGYM_BACKEND names, "embedded" without it.

    Raises:
        ValueError: there is no such backend.
    """
    name = os.environ.get(VARIABLE) or "embedded"
    if name not in NAMES:
        raise ValueError(f"expected {VARIABLE} to be one of {', '.join(NAMES)}, got {name!r}")
    return name
