"""The docker backend: the world lives in a container, and the judge reads a mirror of it on the host.

Tools run in the container, and what they changed is replayed on the mirror, an embedded world in which no tool runs.
Nothing of the judge crosses the line, its SQL included. Declared changes (patches, events) are made in both. At the end
both must hold the same, else somebody wrote past the tools: `tamper`.

Operations whose result the host knows already (restore, apply, undo) wait for the next one that must be asked, so that
restore, call and changes are one message.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentgym.backends import pool
from agentgym.backends.container import Container, Failed, Limits, Lost
from agentgym.backends.embedded import Embedded
from agentgym.backends.images import ready, spec
from agentgym.changes import Change, Origin
from agentgym.errors import BackendError, ToolBugError
from agentgym.server import pack_patch
from agentgym.snapshot import fingerprint
from agentgym.world import CallResult, Patch

if TYPE_CHECKING:
    from agentgym.domain import Domain

_log = logging.getLogger("agentgym")


class Docker:
    """A world in a container of its own, warm from one episode to the next.

    Args:
        domain: its domain.
        fresh: start every episode in a new container.
        limits: what a container may use.

    Raises:
        BackendError: there is no engine to use, or no image that fits.
    """

    def __init__(self, domain: Domain, fresh: bool = False, limits: Limits | None = None) -> None:
        self._fresh, self._limits = fresh, limits or Limits.default()
        self._spec = spec(domain)
        ready(self._spec)
        self._mirror = Embedded(domain)
        self._container: Container | None = None
        self._waiting: list[list[Any]] = []
        self._patch: list[list[Any]] = []
        self._written = False
        # Whether the last operation was a call that can be undone, and whether the mirror has a change of it to undo.
        self._undoable = self._mirrored = False

    def restore(self, patch: Patch) -> None:
        """Go back to the snapshot and apply the patch, in a new container where there is none."""
        if self._fresh:
            self._hang_up()
        self._undoable = self._mirrored = False
        self._mirror.restore(patch)
        self._patch, self._written = pack_patch(patch), False
        self._waiting = [["restore", self._patch]]
        # What is wrong with the engine is the caller's to know now, not the episode's to fail of.
        self._running()

    def call(self, name: str, arguments: Mapping[str, Any], now_ms: int) -> tuple[CallResult, list[Change]]:
        """Run one tool.

        Raises:
            BackendError: the container is lost, or the call took too long or too much memory.
            ToolBugError: the tool raised something else than a `ToolError`.
        """
        self._undoable = False
        (ok, value, error, replayed, rows), _ = self._ask(["call", name, dict(arguments), now_ms])
        self._undoable = bool(ok)
        if not rows:
            if self._mirrored:
                # As in the container: the call before can no longer be undone.
                self._mirrored = False
                self._mirror.apply({}, "agent")
            return CallResult(ok, value, error, replayed), []
        changes = [Change.from_json(row)._replace(origin="agent") for row in rows]
        if ok:
            self._mirror.replay(changes)
        self._mirrored = bool(ok)
        self._written = True
        return CallResult(ok, value, error, replayed), changes

    def rollback_call(self) -> bool:
        """Undo the call just made."""
        if not self._undoable:
            return False
        if self._mirrored:
            self._mirror.rollback_call()
        self._undoable = self._mirrored = False
        self._waiting.append(["undo"])
        return True

    def apply(self, patch: Patch, origin: Origin) -> list[Change]:
        """Apply a declared change."""
        self._undoable = self._mirrored = False
        changes = self._mirror.apply(patch, origin)
        self._waiting.append(["apply", pack_patch(patch), origin])
        self._written = True
        return changes

    def save(self) -> bytes:
        """The state as the judge sees it, as bytes."""
        self._undoable = self._mirrored = False
        return self._mirror.save()

    def load(self, state: bytes) -> None:
        """Continue from a saved state."""
        self._undoable = self._mirrored = False
        self._mirror.load(state)
        self._written = True
        self._ask(["load"], state)

    def hash(self) -> str:
        """Logical hash of the state in the container, of the mirror where the container is gone."""
        if self._container is None:
            return self._mirror.hash()
        return str(self._ask(["hash"])[0])

    def tampered(self) -> bool:
        """Whether the container holds something else than the judge saw, or somebody opened its decoy."""
        seen: list[str] = []
        (found, touched), _ = self._ask(["look"], meanwhile=lambda: seen.append(fingerprint(self._mirror.reading())))
        if found != seen[0]:
            _log.warning("the world in the container differs from what its tools and events made of it")
        return bool(touched) or found != seen[0]

    def reading(self) -> sqlite3.Connection:
        """The mirror's connection."""
        return self._mirror.reading()

    def close(self) -> None:
        """Hang up and close the mirror. Closing twice is fine."""
        self._hang_up()
        self._mirror.close()

    @property
    def container(self) -> Container | None:
        """The container that runs, if one does."""
        return self._container

    def _ask(self, operation: list[Any], blob: bytes = b"", meanwhile: Callable[[], object] | None = None) -> Any:
        """Run what waits and then *operation*; return what it gave and the bytes that came along.

        A container that is lost while the episode has written nothing is replaced, and the operation runs once more.
        """
        if self._container is not None and self._container.abandoned:
            self._container = None
            if self._waiting[:1] != [["restore", self._patch]]:
                self._waiting.clear()
                self._exchange([["load"]], self._mirror.save(), None)
        operations = [*self._waiting, operation]
        try:
            return self._exchange(operations, blob, meanwhile)
        except Lost as error:
            self._container = None
            if error.hung or (self._written and operation[0] != "load"):
                raise BackendError(str(error)) from None
            _log.warning("a container is replaced: %s", error)
        try:
            return self._exchange([["restore", self._patch], operation], blob, meanwhile)
        except Lost as error:
            self._container = None
            raise BackendError(f"{error}; so it went in a new container too") from None

    def _exchange(self, operations: list[list[Any]], blob: bytes, meanwhile: Callable[[], object] | None) -> Any:
        if self._container is None and operations[0][0] not in ("restore", "load"):
            raise BackendError("the container of this episode is gone; reset to start anew")
        container = self._running()
        try:
            container.send(operations, blob)
            if meanwhile is not None:
                meanwhile()
            gave, answer = container.answer()
        except Failed as error:
            raise self._failure(operations[-1], error) from None
        except BaseException:
            self._container = None
            container.end()
            raise
        self._waiting.clear()
        return gave[-1], answer

    def _failure(self, operation: list[Any], error: Failed) -> Exception:
        what = f"the tool {operation[1]}" if operation[0] == "call" else f"the operation {operation[0]}"
        if error.kind == "bug":
            self._waiting.clear()
            return ToolBugError(f"{what} failed: {error}")
        # Whatever went on in there may still go on.
        self._hang_up(kill=True)
        if error.kind == "late":
            text = f"{what} did not end within {self._limits.call_s:g} s and was ended with its container"
        elif error.kind == "memory":
            text = f"{what} ran out of memory (limit {self._limits.memory_mib} MiB)"
        else:
            text = f"the container does not serve: {error}"
        return BackendError(text)

    def _running(self) -> Container:
        if self._container is None or self._container.abandoned:
            self._container = pool.take(self._spec, self._limits)
        return self._container

    def _hang_up(self, kill: bool = False) -> None:
        container, self._container = self._container, None
        if container is not None:
            if kill:
                container.end()
            else:
                container.close()
