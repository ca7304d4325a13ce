"""Streams over one line: they keep their bytes, their ends and their pace apart."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from agentgym.relay import DATA, END, GONE, HEAD, OPEN, PIECE, TAKEN, WINDOW, Relay, Stream


def ends(line: socket.socket) -> tuple[Callable[[int], bytes], Callable[[bytes], object]]:
    def read(count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = line.recv(count - len(data))
            if not part:
                raise EOFError("the line closed")
            data += part
        return data

    return read, line.sendall


@contextmanager
def pair(opened: Callable[[Stream], object]) -> Iterator[tuple[Relay, socket.socket]]:
    """The end that opens streams, and its socket; the other end gives each to *opened*, in a thread of its own."""
    near, far = socket.socketpair()

    def begun(stream: Stream) -> None:
        threading.Thread(target=opened, args=(stream,), daemon=True).start()

    one, other = Relay(*ends(near), None), Relay(*ends(far), begun)
    threads = [threading.Thread(target=relay.run) for relay in (one, other)]
    for thread in threads:
        thread.start()
    try:
        yield one, near
    finally:
        near.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(5)
        near.close()
        far.close()
        assert not any(thread.is_alive() for thread in threads)


def echo(stream: Stream) -> None:
    while data := stream.recv(5000):
        stream.sendall(data)
    stream.close()


def whole(stream: Stream) -> bytes:
    out = b""
    while data := stream.recv(70_000):
        out += data
    return out


def test_streams_side_by_side_give_back_what_they_were_given() -> None:
    with pair(echo) as (relay, _):

        def one(number: int) -> None:
            data = random.Random(number).randbytes(3 * WINDOW + number)
            stream = relay.open()
            reader = threading.Thread(target=lambda: found.__setitem__(number, hashlib.sha256(whole(stream)).digest()))
            reader.start()
            stream.sendall(data)
            stream.shutdown()
            reader.join()
            wanted[number] = hashlib.sha256(data).digest()
            stream.close()

        wanted: dict[int, bytes] = {}
        found: dict[int, bytes] = {}
        threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(found) == 12
    assert found == wanted


def test_a_stream_that_nobody_reads_stops_at_its_window_and_no_other_waits_for_it() -> None:
    sent: list[int] = []

    def flood(stream: Stream) -> None:
        if stream.recv(1) != b"f":
            echo(stream)
            return
        stream.settimeout(0.3)
        try:
            for _ in range(2 * WINDOW // PIECE):
                stream.sendall(bytes(PIECE))
                sent.append(PIECE)
        except TimeoutError:
            sent.append(-1)

    with pair(flood) as (relay, _):
        stuck, free = relay.open(), relay.open()
        stuck.sendall(b"f")
        free.sendall(b"?" + b"x" * WINDOW)
        free.shutdown()
        assert whole(free) == b"x" * WINDOW
        threading.Event().wait(0.6)
        assert sent == [PIECE] * (WINDOW // PIECE) + [-1]
        stuck.close()


def test_what_was_sent_before_a_stream_was_closed_still_arrives() -> None:
    def answer_and_close(stream: Stream) -> None:
        stream.recv(1)
        stream.sendall(b"answer")
        stream.close()
        stream.close()

    with pair(answer_and_close) as (relay, _):
        stream = relay.open()
        stream.sendall(b"x")
        assert whole(stream) == b"answer"
        with pytest.raises(ConnectionResetError, match="the other end of the stream is gone"):
            for _ in range(100):
                stream.sendall(bytes(PIECE))
        stream.close()


def test_a_stream_serves_as_a_file() -> None:
    def upper(stream: Stream) -> None:
        with stream.makefile("rb") as lines, stream.makefile("wb") as out:
            for line in lines:
                out.write(line.upper())
        stream.close()

    with pair(upper) as (relay, _):
        stream = relay.open()
        stream.sendall(b"one\ntwo\n")
        stream.shutdown()
        assert whole(stream) == b"ONE\nTWO\n"
        with pytest.raises(ValueError, match="can be shut for writing alone"):
            stream.shutdown(socket.SHUT_RD)
        stream.close()


def test_a_wait_is_bounded() -> None:
    with pair(lambda stream: None) as (relay, _):
        stream = relay.open()
        stream.settimeout(0.05)
        with pytest.raises(TimeoutError):
            stream.recv(1)
        with pytest.raises(TimeoutError):
            stream.sendall(bytes(WINDOW + 1))
        stream.close()


def test_a_closed_line_ends_its_streams() -> None:
    with pair(lambda stream: None) as (relay, line):
        stream = relay.open()
        line.shutdown(socket.SHUT_RDWR)
        assert stream.recv(1) == b""
        with pytest.raises(OSError, match="gone|[Bb]roken"):
            stream.sendall(b"x")
        stream.close()
        with pytest.raises(ConnectionAbortedError, match="the line is closed"):
            relay.open()


@pytest.mark.parametrize(
    "frame",
    [
        HEAD.pack(9, 0, 0),
        HEAD.pack(DATA, 0, PIECE + 1),
        HEAD.pack(TAKEN, 0, WINDOW + 1),
        HEAD.pack(OPEN, 0, 0),
        HEAD.pack(OPEN, 5, 0),
        HEAD.pack(END, 0, 0) + HEAD.pack(DATA, 0, 1) + b"x",
        b"".join(HEAD.pack(DATA, 0, PIECE) + bytes(PIECE) for _ in range(WINDOW // PIECE + 1)),
    ],
)
def test_what_is_not_possible_ends_the_line(frame: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        relay = Relay(*ends(near), None)
        stream = relay.open()
        threading.Thread(target=far.sendall, args=(frame,), daemon=True).start()
        with pytest.raises(ValueError, match="may not|expected a frame|more than it may"):
            relay.run()
        with pytest.raises(ConnectionResetError):
            stream.sendall(b"x")


def test_frames_of_streams_that_were_left_are_passed_over() -> None:
    near, far = socket.socketpair()
    with near, far:
        relay = Relay(*ends(near), None)
        relay.open().close()
        for kind in (DATA, END, TAKEN, GONE):
            far.sendall(HEAD.pack(kind, 0, 3) + (os.urandom(3) if kind == DATA else b""))
        far.shutdown(socket.SHUT_WR)
        relay.run()
        assert far.recv(100) == HEAD.pack(OPEN, 0, 0) + HEAD.pack(GONE, 0, 0)
