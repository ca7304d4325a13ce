"""The small server in front of a world in a container, and the messages that it speaks.

A message is a head (two lengths, 4 bytes each, big-endian), JSON, and bytes (a saved state, usually none). A request
is ``{"do": [operation, …], "seconds": bound of them}``, an operation a list of its name and arguments; they run in
order, so that restore, call and changes take one message. The answer is ``{"gave": [result, …]}``, with ``"error":
[kind, text]`` where an operation broke and the rest did not run.

The process serves one connection and ends with it: it connects to a socket in a mounted folder, where the owner
listens, or speaks on standard input and output. Standard library only: this is what runs in the image.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sqlite3
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

from agentgym.backends.embedded import Embedded
from agentgym.changes import Row, packed, unpacked
from agentgym.snapshot import fingerprint
from agentgym.tools import Tool

PROTOCOL = 1
"""Rises when the messages change; part of what an image is named after."""

PATIENCE_S = 10.0
"""So long the server waits for its owner, at the start only."""

NO_SOCKET = 75
"""Exit status where the mounted folder has no socket: the engine runs elsewhere."""

HEAD = struct.Struct("!II")
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode
MOST = 64 << 20
"""Longest part of a message, bytes."""

Write = Callable[[bytes], object]
Read = Callable[[int], bytes]
Message = dict[str, Any]


class Overrun(BaseException):
    """An operation took too long. No `Exception`, so that a tool which catches all of those does not catch it."""


def frame(message: Message, blob: bytes = b"") -> bytes:
    """A message as bytes."""
    text = _encode(message).encode("ascii")
    if max(len(text), len(blob)) > MOST:
        raise ValueError(f"a message of {max(len(text), len(blob))} bytes is too long, at most {MOST} are possible")
    return HEAD.pack(len(text), len(blob)) + text + blob


def receive(read: Read) -> tuple[Message, bytes]:
    """Read one message; *read* gives exactly so many bytes.

    Raises:
        ValueError: what comes is no message.
    """
    sizes = HEAD.unpack(read(HEAD.size))
    if max(sizes) > MOST:
        raise ValueError(f"expected a message of at most {MOST} bytes, {max(sizes)} are announced")
    message = _decode(read(sizes[0]).decode("ascii"))
    if not isinstance(message, dict):
        raise ValueError(f"expected a message, got {type(message).__name__}")
    return message, read(sizes[1]) if sizes[1] else b""


def pack_patch(patch: Mapping[str, Any]) -> list[list[Any]]:
    """A patch as JSON-able data that keeps the types of keys."""
    return [
        [table, True, [[key, packed(row)] for key, row in rows.items()]]
        if isinstance(rows, Mapping)
        else [table, False, [packed(row) for row in rows]]
        for table, rows in patch.items()
    ]


def unpack_patch(parts: Iterable[list[Any]]) -> dict[str, Any]:
    """The inverse of `pack_patch`."""
    patch: dict[str, dict[Any, Row | None] | list[Row]] = {}
    for table, keyed, rows in parts:
        patch[table] = {key: unpacked(row) for key, row in rows} if keyed else [unpacked(row) for row in rows]
    return patch


def tools_hash(tools: Iterable[Tool]) -> str:
    """SHA-256 of the schemas of *tools*, in the order of their names."""
    schemas = [tool.schema for tool in sorted(tools, key=lambda tool: tool.name)]
    return hashlib.sha256(json.dumps(schemas, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Home:
    """What the image holds of a domain.

    Attributes:
        folder: with ``manifest.json`` and ``snapshot.db``.
        manifest: what the image was built as.
    """

    folder: Path
    manifest: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Home:
        """Read the manifest in *folder*."""
        return cls(folder, json.loads((folder / "manifest.json").read_text(encoding="utf-8")))

    @property
    def snapshot(self) -> Path:
        """The snapshot's database file."""
        return self.folder / "snapshot.db"

    @cached_property
    def toolset(self) -> dict[str, Tool]:
        """The tools of the domain's modules, by name."""
        found: dict[str, Tool] = {}
        for name in self.manifest["modules"]:
            values = vars(importlib.import_module(name)).values()
            found |= {value.name: value for value in values if isinstance(value, Tool)}
        return {name: found[name] for name in self.manifest["tools"]}


class Server:
    """Answers messages on a world.

    Args:
        home: the domain.
        decoy: says whether somebody opened the decoy since it was last asked.
        purge: ends what the last episode left running or lying about.
    """

    def __init__(self, home: Home, decoy: Callable[[], bool], purge: Callable[[], None]) -> None:
        self._home, self._decoy, self._purge = home, decoy, purge
        self._world = Embedded(home)
        self._process = os.getpid()
        signal.signal(signal.SIGALRM, self._ring)
        self._late = False
        self._blob = b""
        self._touched = False

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        self._late = True
        raise Overrun

    def _look_up(self) -> int:
        return int(self._late)

    def serve(self, read: Read, write: Write) -> None:
        """Answer until the connection closes."""
        while True:
            try:
                message, self._blob = receive(read)
            except (EOFError, ConnectionError):
                return
            answer = self._answer(message)
            if os.getpid() != self._process:
                # A tool forked, and this is what it left.
                os._exit(1)
            write(frame(answer, self._blob))

    def _answer(self, message: Message) -> Message:
        gave: list[Any] = []
        given, self._blob = self._blob, b""
        self._late = False
        try:
            self._bound(float(message["seconds"]))
            try:
                for name, *arguments in message["do"]:
                    gave.append(self._operate(name, arguments, given))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if not self._late:
                return {"gave": gave}
            kind, text = "late", ""
        except Overrun:
            kind, text = "late", ""
        except MemoryError:
            kind, text = "memory", ""
        except Exception as error:  # noqa: BLE001  whatever a tool raises is told to the owner, who decides
            kind = "late" if self._late else "bug"
            text = "".join(traceback.format_exception(error, limit=-3))[-2000:]
            text = f"{type(error).__name__}: {error}\n{text}"
        self._blob = b""
        if self._late:
            self._purge()
        return {"gave": gave, "error": [kind, text]}

    def _operate(self, name: str, arguments: list[Any], blob: bytes) -> Any:
        world = self._world
        match name:
            case "call":
                result, changes = world.call(*arguments)
                return [*result, [change.to_json() for change in changes]]
            case "restore":
                self._purge()
                self._decoy()
                self._touched = False
                return world.restore(unpack_patch(arguments[0]))
            case "apply":
                return [change.to_json() for change in world.apply(unpack_patch(arguments[0]), arguments[1])]
            case "undo":
                return world.rollback_call()
            case "hash":
                return world.hash()
            case "look":
                self._touched = self._decoy() or self._touched
                return [fingerprint(world.reading()), self._touched]
            case "save":
                self._blob = world.save()
                return None
            case "load":
                return world.load(blob)
            case "hello":
                return self._hello()
        raise ValueError(f"there is no operation {name!r}")

    def _hello(self) -> Message:
        known = {key: self._home.manifest[key] for key in ("domain", "content", "snapshot")}
        tools = tools_hash(self._home.toolset.values())
        return known | {"protocol": PROTOCOL, "tools": tools, "python": sys.version, "sqlite": sqlite3.sqlite_version}

    def _bound(self, seconds: float) -> None:
        """Raise `Overrun` after so many seconds, again every second where a tool swallows it."""
        # A long statement runs no Python: the handler gives it a place in which the signal is noticed.
        self._world.reading().set_progress_handler(self._look_up, 100_000)
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)


def decoy(path: Path) -> Callable[[], bool]:
    """Watch *path*: the function returned says whether somebody opened it since it was last asked.

    Raises:
        OSError: the kernel has no watch to give.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    opened_changed_or_moved = 0x20 | 0x2 | 0x4 | 0xC00
    if handle < 0 or libc.inotify_add_watch(handle, os.fsencode(path), opened_changed_or_moved) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))

    def touched() -> bool:
        try:
            return bool(os.read(handle, 65536))
        except BlockingIOError:
            return False

    return touched


def purge() -> None:
    """End every other process of this container and empty its writable folder; outside of a container do nothing."""
    if os.getpid() != 1:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    for entry in os.scandir("/tmp"):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)


def _close_in() -> None:
    """Let no other process of this container, though it runs as the same user, read or write the memory of this one."""
    not_dumpable = 4
    ctypes.CDLL(None).prctl(not_dumpable, 0, 0, 0, 0)


def _connected(path: str) -> socket.socket:
    """Connect to the owner, which listens before the container starts."""
    until = time.monotonic() + PATIENCE_S
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection
        except FileNotFoundError:
            raise SystemExit(NO_SOCKET) from None
        except OSError as error:
            connection.close()
            if error.errno not in (errno.ECONNREFUSED, errno.EAGAIN) or time.monotonic() > until:
                raise SystemExit(NO_SOCKET) from None
            time.sleep(0.1)


def _ends(path: str) -> tuple[int, Read, Write]:
    """The descriptor to wait on, and how to read and write."""
    if path != "-":
        connection = _connected(path)
        return connection.fileno(), _buffered(connection.recv), connection.sendall
    # What a tool prints must not get between the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def write(data: bytes) -> None:
        out.write(data)
        out.flush()

    return 0, _exact(os.fdopen(0, "rb", closefd=False).read), write


def _buffered(receive_some: Read) -> Read:
    """Reads from a socket, with fewer steps between than a file around it has."""
    buffer = bytearray()

    def whole(count: int) -> bytes:
        while len(buffer) < count:
            part = receive_some(1 << 16)
            if not part:
                raise EOFError("the connection closed")
            buffer.extend(part)
        data = bytes(buffer[:count])
        del buffer[:count]
        return data

    return whole


def _exact(read: Read) -> Read:
    def whole(count: int) -> bytes:
        data = read(count)
        if len(data) < count:
            raise EOFError("the connection closed")
        return data

    return whole


def main(arguments: list[str]) -> None:
    """Serve ``arguments[0]``, a socket's path or "-", with the domain in the folder ``arguments[1]``.

    Where there is a third argument, it names a module whose ``serve(home, read, write)`` speaks instead: the domain's
    own service.
    """
    path, folder = arguments[0], Path(arguments[1])
    # The first process of a container is spared signals that it has no handler for.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: os._exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _close_in()
    handle, read, write = _ends(path)
    if not select.select([handle], [], [], PATIENCE_S)[0]:
        raise SystemExit(NO_SOCKET)
    try:
        if arguments[2:]:
            importlib.import_module(arguments[2]).serve(Home.read(folder), read, write)
        else:
            Server(Home.read(folder), decoy(folder / "gold.json"), purge).serve(read, write)
    except Exception as error:  # noqa: BLE001  the owner sees the first message unanswered, and why
        write(frame({"gave": [], "error": ["start", f"{type(error).__name__}: {error}"]}))
        raise


if __name__ == "__main__":
    main(sys.argv[1:])
