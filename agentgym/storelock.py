"""The lock that lets one run write to a result store; the system drops it when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from agentgym.errors import StoreError


class StoreLock:
    """An exclusive lock on a store, held from construction to `release`.

    It stands on a file of its own beside the store: closing any handle of the store would drop SQLite's locks on it.

    Args:
        path: the store, which need not exist yet.

    Raises:
        StoreError: another process holds the lock, or the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        # Two names of one file are one store.
        self._path = Path(os.path.realpath(path) + ".lock")
        self._handle: int | None = None
        try:
            while self._handle is None:
                self._handle = self._attempt()
        except BlockingIOError:
            raise StoreError(
                f"{path}: another run ({self._holder()}) is writing to it; wait until it ends, or give another --store"
            ) from None
        except OSError as error:
            raise StoreError(
                f"{path}: {error.strerror} ({self._path}); its folder must exist and be writable"
            ) from error

    def _attempt(self) -> int | None:
        """Open and lock the file; None when its holder removed it in between."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self._is_current(handle):
                os.close(handle)
                return None
            # Only for the message to others: without room for it the lock holds as well.
            with contextlib.suppress(OSError):
                os.truncate(handle, 0)
                os.write(handle, f"process {os.getpid()}".encode("ascii"))
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _is_current(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _holder(self) -> str:
        try:
            return self._path.read_text(encoding="ascii", errors="replace") or "process unknown"
        except OSError:
            return "process unknown"

    def release(self) -> None:
        """Remove the file and drop the lock. Releasing twice is fine."""
        if self._handle is None:
            return
        # Removed while it is locked, so that nobody can hold a lock on a file that is gone and believe it.
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        os.close(self._handle)
        self._handle = None
