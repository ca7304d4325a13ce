"""The HR API over HTTP inside a container, over the container's own world.

The container has no network. The connections of clients come as streams over the one line to its owner, who listens,
and each is served here, by the same handler as on a port. Standard library only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from agentgym.envs.hr.http_service import Case, Handler, Service, begin
from agentgym.relay import Relay, Stream
from agentgym.server import Home, Message, frame, pack_patch, receive, unpack_patch

MODULE = __name__
"""What the container is told to run."""


def start_message(case: Case) -> list[Any]:
    """The operation that the owner begins with."""
    return ["serve", case.seed, case.level, pack_patch(case.patch), case.now_ms]


def serve(home: Home, read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
    """Begin what the owner asks for, then answer every stream that it opens, until the line closes."""
    message, _ = receive(read)
    service = begin(_case(message), home)
    write(frame({"gave": [None]}))
    Relay(read, write, lambda stream: _thread(service, stream)).run()


def _case(message: Message) -> Case:
    ((_, seed, level, patch, now_ms),) = message["do"]
    return Case(seed, level, unpack_patch(patch), now_ms)


def _thread(service: Service, stream: Stream) -> None:
    threading.Thread(target=_talk, args=(service, stream), daemon=True).start()


def _talk(service: Service, stream: Stream) -> None:
    try:
        Handler(service, stream, "", None)
    except (ConnectionError, TimeoutError):
        # The client went away, or takes nothing.
        return
    finally:
        stream.close()
