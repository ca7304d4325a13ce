"""The embedded backend: the world lives in this process, and the judge reads it directly.

Standard library only: in a container, the server answers with this same class.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from agentgym.changes import Change, Origin
from agentgym.snapshot import logical_hash
from agentgym.world import CallResult, Patch, World, open_snapshot


class Embedded:
    """A `World` on the domain's snapshot, refilled when a tool left its connection unfit for another episode.

    Args:
        domain: a `agentgym.domain.Domain`, or the part of one that is in an image: what has ``snapshot`` and
            ``toolset``.
    """

    def __init__(self, domain: Any) -> None:
        self._domain = domain
        # Kept open, so that a refill does not depend on the file's name.
        self._source = open_snapshot(domain.snapshot)
        self._world = World(self._source, domain.toolset)

    def restore(self, patch: Patch) -> None:
        """Go back to the snapshot and apply the patch."""
        try:
            self._world.reset(patch)
        except sqlite3.Error:
            # Closed, committed, read only, refused by an authorizer: whatever it is, a fresh one does not have it.
            self._world.close()
            self._world = World(self._source, self._domain.toolset)
            self._world.reset(patch)

    def call(self, name: str, arguments: Mapping[str, Any], now_ms: int) -> tuple[CallResult, list[Change]]:
        """Run one tool."""
        return self._world.call(name, arguments, now_ms)

    def replay(self, changes: Iterable[Change]) -> None:
        """Take over what a call changed in another world, for a copy that follows it."""
        self._world.replay(changes)

    def rollback_call(self) -> bool:
        """Undo the call just made."""
        return self._world.rollback_call()

    def apply(self, patch: Patch, origin: Origin) -> list[Change]:
        """Apply a declared change."""
        return self._world.apply(patch, origin)

    def save(self) -> bytes:
        """The state as bytes."""
        return self._world.save()

    def load(self, state: bytes) -> None:
        """Continue from a saved state."""
        self._world.load(state)

    def hash(self) -> str:
        """Logical hash of the state."""
        return logical_hash(self._world.connection)

    def tampered(self) -> bool:
        """Never: the judge reads the world itself."""
        return False

    def reading(self) -> sqlite3.Connection:
        """The world's own connection."""
        return self._world.connection

    def close(self) -> None:
        """Close the connections."""
        self._world.close()
        self._source.close()
