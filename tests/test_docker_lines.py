"""Lines to a container: whole messages in time, whatever the other end sends."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from agentgym.backends.lines import NearLine
from agentgym.server import HEAD, MOST, frame, receive


@pytest.fixture
def ends() -> Iterator[tuple[NearLine, socket.socket]]:
    near, far = socket.socketpair()
    far.settimeout(10)
    line = NearLine(near)
    yield line, far
    line.close()
    far.close()


def test_messages_cross_whole_in_both_directions(ends: tuple[NearLine, socket.socket]) -> None:
    line, far = ends
    line.send({"do": []}, b"", 5.0)
    stream = far.makefile("rb")
    assert receive(stream.read) == ({"do": []}, b"")
    # Two answers at once, the second one cut in its head: what is left over begins the next one.
    second = frame({"gave": ["\u00e9"]}, b"abc")
    far.sendall(frame({"gave": [1]}) + second[:5])
    assert line.receive(5.0) == ({"gave": [1]}, b"")
    far.sendall(second[5:])
    assert line.receive(5.0) == ({"gave": ["\u00e9"]}, b"abc")


def test_what_is_watched_for_in_vain_is_watched_for_ever_less(ends: tuple[NearLine, socket.socket]) -> None:
    line, far = ends
    counts = []
    for _ in range(70):
        assert line._watched() is None
        counts.append(line.misses)
    # The next one watched for is 1, 3, 7, 15 and then 31 later.
    assert [counts.index(count) for count in range(1, 7)] == [0, 2, 6, 14, 30, 62]
    far.sendall(b"here")
    found = next(part for part in iter(line._watched, b"") if part is not None)
    assert (found, line.misses) == (b"here", 0)


def test_a_message_longer_than_the_socket_holds_is_sent_whole(ends: tuple[NearLine, socket.socket]) -> None:
    line, far = ends
    blob = os.urandom(1 << 20) * 3
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(receive(far.makefile("rb").read)[1]))
    reader.start()
    line.send({"do": []}, blob, 10.0)
    reader.join()
    assert found == [blob]
    far.sendall(frame({"gave": []}))
    assert line.receive(5.0) == ({"gave": []}, b"")


def test_an_end_that_does_not_read_is_not_waited_for_forever(ends: tuple[NearLine, socket.socket]) -> None:
    with pytest.raises(TimeoutError):
        ends[0].send({"do": []}, b"x" * (8 << 20), 0.2)


def test_bytes_that_drip_do_not_extend_the_deadline(ends: tuple[NearLine, socket.socket]) -> None:
    line, far = ends
    ended = threading.Event()

    def drip() -> None:
        far.sendall(HEAD.pack(1000, 0))
        while not ended.wait(0.02):
            far.sendall(b" ")

    dripping = threading.Thread(target=drip)
    dripping.start()
    start = time.monotonic()
    try:
        with pytest.raises(TimeoutError):
            line.receive(0.3)
    finally:
        ended.set()
        dripping.join()
    assert 0.25 < time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", EOFError),
        (HEAD.pack(10, 0) + b"{}", EOFError),
        (HEAD.pack(MOST + 1, 0), ValueError),
        (HEAD.pack(2, MOST + 1), ValueError),
        (HEAD.pack(2, 0) + b"[]", ValueError),
        (HEAD.pack(2, 0) + b"{]", ValueError),
        (HEAD.pack(4, 0) + b'"\xff\xff"', ValueError),
    ],
)
def test_what_is_no_message_is_an_error(
    ends: tuple[NearLine, socket.socket], data: bytes, error: type[Exception]
) -> None:
    line, far = ends
    far.sendall(data)
    far.shutdown(socket.SHUT_WR)
    with pytest.raises(error):
        line.receive(5.0)
