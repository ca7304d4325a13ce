"""Many streams of bytes over one line, each in both directions and at its own pace.

A frame is a head (kind, number of the stream, count; big-endian) and, in `DATA`, so many bytes. `OPEN` begins a stream,
`END` says that its sender has no more, `TAKEN` that so many bytes were taken from it, `GONE` that the sender neither
sends nor takes any more. At most `WINDOW` bytes of a stream are on their way in one direction, so that one whose taker
is slow keeps no other waiting.

A stream can be used where a socket is expected: `socketserver.StreamRequestHandler` works on it. Standard library only:
both ends of a line to a container use this.
"""

from __future__ import annotations

import io
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

HEAD = struct.Struct("!BII")
OPEN, DATA, END, TAKEN, GONE = range(5)

WINDOW = 1 << 18
"""Bytes of a stream in one direction that were sent and not taken, at most."""

PIECE = 1 << 15
"""Bytes in a frame, at most."""

_ENOUGH = WINDOW // 4


class Stream:
    """One of the streams of a `Relay`; one thread reads from it and one writes to it."""

    def __init__(self, relay: Relay, number: int) -> None:
        self._relay, self._number = relay, number
        self._change = threading.Condition()
        self._came = bytearray()
        self._ended = self._gone = False
        self._credit, self._owed = WINDOW, 0
        self._timeout: float | None = None

    def settimeout(self, seconds: float | None) -> None:
        """Bound on how long a read or write waits, None for as long as it takes."""
        self._timeout = seconds

    def recv(self, count: int) -> bytes:
        """At most so many bytes, none at the end.

        Raises:
            TimeoutError: none came in time.
            OSError: the line is dead.
        """
        with self._change:
            self._wait(lambda: bool(self._came) or self._ended)
            data = bytes(self._came[:count])
            del self._came[:count]
            self._owed += len(data)
            owed = self._owed if self._owed >= _ENOUGH and not self._ended else 0
            self._owed -= owed
        if owed:
            self._relay.tell(TAKEN, self._number, owed)
        return data

    def sendall(self, data: bytes | bytearray | memoryview) -> None:
        """Send all.

        Raises:
            TimeoutError: it was not taken in time.
            ConnectionResetError: the other end takes no more.
            OSError: the line is dead.
        """
        rest = memoryview(data)
        while rest:
            with self._change:
                self._wait(lambda: self._credit > 0 or self._gone)
                if self._gone:
                    raise ConnectionResetError("the other end of the stream is gone")
                piece = bytes(rest[: min(self._credit, PIECE)])
                self._credit -= len(piece)
            self._relay.tell(DATA, self._number, len(piece), piece)
            rest = rest[len(piece) :]

    def shutdown(self, how: int = socket.SHUT_WR) -> None:
        """Say that nothing more comes from here.

        Raises:
            ValueError: another direction is asked for.
        """
        if how != socket.SHUT_WR:
            raise ValueError(f"a stream can be shut for writing alone, got {how}")
        self._relay.tell(END, self._number)

    def close(self) -> None:
        """End it in both directions; what was sent still arrives. Closing twice is fine."""
        self._relay.leave(self._number)
        self.drop()

    def makefile(self, mode: str, buffering: int = -1) -> Any:
        """A buffered file that reads ("rb") or writes ("wb") it; closing that leaves the stream open."""
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        return io.BufferedReader(_File(self), size) if "r" in mode else io.BufferedWriter(_File(self), size)

    # What the relay tells it.

    def put(self, data: bytes) -> None:
        """Bytes came.

        Raises:
            ValueError: more than are possible.
        """
        with self._change:
            if self._gone:
                # It was left here a moment ago.
                return
            self._came += data
            if len(self._came) > WINDOW or self._ended:
                raise ValueError("the other end of a stream sent more than it may")
            self._change.notify_all()

    def end(self) -> None:
        """No more comes."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def allow(self, count: int) -> None:
        """So many more may be sent."""
        with self._change:
            self._credit += count
            self._change.notify_all()

    def drop(self) -> None:
        """Nothing more comes, and nothing more is taken."""
        with self._change:
            self._ended = self._gone = True
            self._change.notify_all()

    def _wait(self, ready: Callable[[], bool]) -> None:
        if not self._change.wait_for(ready, self._timeout):
            raise TimeoutError("nothing happened in time")


class _File(io.RawIOBase):
    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        self._stream.sendall(data)
        return len(data)


class Relay:
    """One end of a line that carries streams.

    Args:
        read: gives exactly so many bytes from the line.
        write: writes bytes to the line, all of them.
        opened: gets each stream that the other end opens, and must not wait; None where the other end opens none.
    """

    def __init__(
        self, read: Callable[[int], bytes], write: Callable[[bytes], object], opened: Callable[[Stream], object] | None
    ) -> None:
        self._read, self._write, self._opened = read, write, opened
        self._writing, self._changing = threading.Lock(), threading.Lock()
        self._streams: dict[int, Stream] = {}
        self._next = 0
        self._over = False

    def open(self) -> Stream:
        """Begin a stream.

        Raises:
            ConnectionError: the line is closed.
        """
        with self._changing:
            if self._over:
                raise ConnectionAbortedError("the line is closed")
            number, self._next = self._next, self._next + 1
            stream = self._streams[number] = Stream(self, number)
        self.tell(OPEN, number)
        return stream

    def run(self) -> None:
        """Pass on what comes until the line closes; then every stream is gone.

        Raises:
            ValueError: what comes is not possible.
        """
        try:
            while True:
                try:
                    kind, number, count = HEAD.unpack(self._read(HEAD.size))
                    data = self._read(count) if kind == DATA and count <= PIECE else b""
                except (EOFError, OSError):
                    return
                self._take(kind, number, count, data)
        finally:
            with self._changing:
                self._over = True
                left, self._streams = list(self._streams.values()), {}
            for stream in left:
                stream.drop()

    def tell(self, kind: int, number: int, count: int = 0, data: bytes = b"") -> None:
        """Write a frame.

        Raises:
            OSError: the line is dead.
        """
        with self._writing:
            self._write(HEAD.pack(kind, number, count) + data)

    def leave(self, number: int) -> None:
        """Forget a stream and say so, where the line still is."""
        with self._changing:
            known = self._streams.pop(number, None)
        if known is not None:
            try:
                self.tell(GONE, number)
            except OSError:
                # Then the other end is gone too.
                return

    def _take(self, kind: int, number: int, count: int, data: bytes) -> None:
        if kind == OPEN:
            self._begin(number)
            return
        with self._changing:
            stream = self._streams.get(number)
            if kind == GONE:
                self._streams.pop(number, None)
        if kind not in (DATA, END, TAKEN, GONE) or count > WINDOW or (kind == DATA and len(data) != count):
            raise ValueError(f"expected a frame of a relay, got kind {kind} with {count} bytes")
        if stream is None:
            # It was left here a moment ago, and the other end does not know yet.
            return
        if kind == DATA:
            stream.put(data)
        elif kind == END:
            stream.end()
        elif kind == TAKEN:
            stream.allow(count)
        else:
            stream.drop()

    def _begin(self, number: int) -> None:
        with self._changing:
            if self._opened is None or number in self._streams:
                raise ValueError(f"the other end of a line opened the stream {number}, which it may not")
            stream = self._streams[number] = Stream(self, number)
        self._opened(stream)
