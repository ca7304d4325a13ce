"""The owner's end of the janitor: what this process holds, told to a process that outlives it."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from agentgym.backends.engine import address


class Keeper:
    """Tells a janitor what this process holds, starting one when it is first needed and again if it died."""

    def __init__(self) -> None:
        # An object that is collected while a line is written tells its own from within.
        self._lock = threading.RLock()
        self._pipe = -1
        self._held: dict[str, str] = {}

    def hold(self, name: str, folder: str = "") -> None:
        """A container of this name, and a folder, are about to exist; called again, the folder is gone."""
        with self._lock:
            self._held[name] = folder
            self._tell(f"+ {name} {folder}")

    def let_go(self, name: str, ended: bool) -> None:
        """The container is gone (*ended*), or ends by itself now."""
        with self._lock:
            if self._held.pop(name, None) is not None:
                self._tell(f"{'-' if ended else '~'} {name} ")

    def forget(self) -> None:
        """After a fork, in the child: what there is belongs to the parent."""
        if self._pipe >= 0:
            os.close(self._pipe)
        self.__init__()  # type: ignore[misc]

    def _tell(self, line: str) -> None:
        data = os.fsencode(line) + b"\n"
        if self._pipe >= 0:
            try:
                os.write(self._pipe, data)
                return
            except BrokenPipeError:
                os.close(self._pipe)
        self._pipe = _spawn()
        for name, folder in list(self._held.items()):
            os.write(self._pipe, os.fsencode(f"+ {name} {folder}\n"))
        os.write(self._pipe, data)


def _spawn() -> int:
    """Start a janitor in a session of its own, where a signal to this process's group does not reach it."""
    where = address()
    reader, writer = os.pipe()
    script = str(Path(__file__).with_name("janitor.py"))
    lean = ["-S"] if where.startswith("unix://") else []
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-B", *lean, script, where],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, reader, 0), *null],
            setsid=True,
        )
    finally:
        os.close(reader)
    return writer


keeper = Keeper()
os.register_at_fork(after_in_child=keeper.forget)
