"""Lines to a container: whole messages over a Unix socket or the engine's attached streams, each with a deadline."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import struct
import time
from collections.abc import Callable
from typing import Any, Protocol

from agentgym.server import Message, frame, receive

_LONGEST_POLL_MS = 2**31 - 1

_WATCH_S = 150e-6
_MOST_MISSES = 6


class Socket(Protocol):
    """What is used of a socket; TLS sockets and SSH channels have it too."""

    def recv(self, count: int, /) -> bytes:
        """Some bytes, none at the end."""
        ...

    def sendall(self, data: bytes, /) -> object:
        """Send all."""

    def settimeout(self, seconds: float | None, /) -> object:
        """Bound on each of the above."""

    def close(self) -> object:
        """Close it."""


class Pipe:
    """A line as plain bytes: one thread may read it while others, one at a time, write.

    Args:
        socket: the connection.
        read: gives exactly so many bytes, however long they take.
    """

    def __init__(self, socket: socket.socket, read: Callable[[int], bytes]) -> None:
        self._socket, self.read = socket, read

    def write(self, data: bytes) -> None:
        """Send all.

        Raises:
            OSError: the line is dead.
        """
        self._socket.sendall(data)

    def hang_up(self) -> None:
        """End both directions; whoever waits for one of them waits no longer."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Line:
    """A line over a socket.

    Args:
        socket: the connection.
        holder: what must live as long as it.
    """

    def __init__(self, socket: Socket, holder: Any = None) -> None:
        self._socket, self._holder = socket, holder
        self._buffer = bytearray()
        self._until = 0.0

    def send(self, message: Message, blob: bytes, seconds: float) -> None:
        """Send a message within so many seconds.

        Raises:
            TimeoutError: it was not taken.
            OSError: the line is dead.
        """
        self._socket.settimeout(seconds)
        self._socket.sendall(frame(message, blob))

    def receive(self, seconds: float) -> tuple[Message, bytes]:
        """Receive a message within so many seconds.

        Raises:
            TimeoutError: none came.
            EOFError: the line is closed.
            OSError: the line is dead.
            ValueError: what came is no message.
        """
        self._until = time.monotonic() + seconds
        return receive(self._read)

    def pipe(self) -> Pipe:
        """The line as plain bytes; no more messages can be sent or received.

        Raises:
            TypeError: the socket is none that one thread can read while another writes.
        """
        if not isinstance(self._socket, socket.socket) or isinstance(self._socket, ssl.SSLSocket):
            raise TypeError(f"a {type(self._socket).__name__} is not read and written at the same time")
        self._socket.setblocking(True)
        self._until = float("inf")
        return Pipe(self._socket, self._read)

    def close(self) -> None:
        """Close it."""
        with contextlib.suppress(OSError):
            self._socket.close()
        if self._holder is not None:
            self._holder.close()

    def _read(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._more()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _more(self) -> None:
        self._buffer += self._received()

    def _received(self) -> bytes:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        self._socket.settimeout(left if left < float("inf") else None)
        part = self._socket.recv(65536)
        if not part:
            raise EOFError("the connection closed")
        return part


class NearLine(Line):
    """A line over a Unix socket of this machine.

    The socket does not block, so that a message most often takes one call to send and one to receive. An answer is
    watched for before it is waited for: to wake a processor that slept takes as long as many a call. Where that was in
    vain, the next answers are just waited for, more of them each time in a row, so that little is lost where calls are
    long or other processes want the processor.

    Args:
        socket: the connection.

    Attributes:
        misses: times in a row that an answer was watched for in vain, at most 6.
    """

    def __init__(self, socket: socket.socket) -> None:
        super().__init__(socket)
        self._near = socket
        self._near.setblocking(False)
        self.misses = self._unwatched = 0
        self._poll = select.poll()
        self._poll.register(self._near, select.POLLIN)

    def send(self, message: Message, blob: bytes, seconds: float) -> None:
        """Send a message within so many seconds."""
        data = frame(message, blob)
        try:
            sent = self._near.send(data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self._near.settimeout(seconds)
            self._near.sendall(memoryview(data)[sent:])
            self._near.setblocking(False)

    def _received(self) -> bytes:
        part = self._taken()
        if part is None:
            part = self._watched()
        while part is None:
            self._wait()
            part = self._taken()
        if not part:
            raise EOFError("the connection closed")
        return part

    def _watched(self) -> bytes | None:
        if self._unwatched:
            self._unwatched -= 1
            return None
        until = time.perf_counter() + _WATCH_S
        while time.perf_counter() < until:
            if (part := self._taken()) is not None:
                self.misses = 0
                return part
        self.misses = min(self.misses + 1, _MOST_MISSES)
        self._unwatched = 2**self.misses - 1
        return None

    def _wait(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0 or not self._poll.poll(min(left * 1000, _LONGEST_POLL_MS)):
            raise TimeoutError("no answer in time")

    def _taken(self) -> bytes | None:
        try:
            return self._near.recv(65536)
        except BlockingIOError:
            return None


class StreamLine(Line):
    """A line over attached streams, on which the engine marks each piece of standard output and standard error.

    Attributes:
        errors: the end of what came on standard error.
    """

    _head = struct.Struct(">BxxxL")
    _output = 1

    def __init__(self, socket: Socket, holder: Any = None) -> None:
        super().__init__(socket, holder)
        self._raw = bytearray()
        self.errors = b""

    def _more(self) -> None:
        self._raw += self._received()
        while len(self._raw) >= self._head.size:
            kind, length = self._head.unpack_from(self._raw)
            whole = self._head.size + length
            if len(self._raw) < whole:
                return
            piece = bytes(self._raw[self._head.size : whole])
            del self._raw[:whole]
            if kind == self._output:
                self._buffer += piece
            else:
                self.errors = (self.errors + piece)[-2000:]
