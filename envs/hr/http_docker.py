"""The HR API served from inside a container: clients connect here, their bytes go through the container's one line.

The container is as bare as an episode's: no network, a read-only root, no rights. What it may do is answer the
connections that are opened from here.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from types import TracebackType
from typing import Any

from agentgym.backends.container import Container, Failed, Limits, Lost
from agentgym.backends.images import spec
from agentgym.backends.pool import start
from agentgym.envs.hr.env import DOMAIN
from agentgym.envs.hr.http_contained import MODULE, start_message
from agentgym.envs.hr.http_service import Case, Handler
from agentgym.errors import BackendError
from agentgym.relay import PIECE, Relay, Stream

_log = logging.getLogger("agentgym")

MOST_CLIENTS = 64
"""Connections served at a time; more of them wait."""

LIMITS = Limits(memory_mib=512, pids=MOST_CLIENTS + 16)
"""What the container may use: a thread and a body for each client."""

_LINGER_S = 2.0
"""So long a client may still send after the last answer, so that it reads that before it learns that nobody listens."""


class Contained:
    """A container that serves the API over its own world; `socketserver` servers take it as their handler.

    Args:
        case: what the world and the API begin with.
        limits: what the container may use.

    Raises:
        BackendError: there is no engine to use, or no image that fits.
    """

    def __init__(self, case: Case, limits: Limits = LIMITS) -> None:
        self._container = start(spec(DOMAIN), limits, MODULE)
        self._slots = threading.BoundedSemaphore(MOST_CLIENTS)
        try:
            self._container.ask([start_message(case)])
            self._pipe = self._container.pipe()
        except (Lost, Failed) as error:
            self._container.end()
            raise BackendError(f"the container does not serve the HR API: {error}") from None
        except BaseException:
            self._container.end()
            raise
        self._relay = Relay(self._pipe.read, self._pipe.write, None)
        self._thread = threading.Thread(target=self._run, name="agentgym-http", daemon=True)
        self._thread.start()

    @property
    def container(self) -> Container:
        """The container."""
        return self._container

    def __call__(self, client: socket.socket, client_address: Any, server: Any) -> None:
        """Pass a client's bytes to the container and its answers back, until both have ended."""
        with self._slots:
            try:
                stream = self._relay.open()
            except OSError:
                # The container is gone: hanging up is all that is left to say.
                return
            client.settimeout(Handler.timeout)
            sender = threading.Thread(target=_send, args=(client, stream), daemon=True)
            sender.start()
            try:
                _deliver(client, stream)
                sender.join(_LINGER_S)
            finally:
                stream.close()
                _shut(client, socket.SHUT_RDWR)
                sender.join()

    def _run(self) -> None:
        try:
            self._relay.run()
        except ValueError as error:
            _log.warning("the container with the HR API is ended: %s", error)
            self._container.end()

    def close(self) -> None:
        """End the container and every connection. Closing twice is fine."""
        self._pipe.hang_up()
        self._container.close()
        self._thread.join()

    def __enter__(self) -> Contained:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _send(client: socket.socket, stream: Stream) -> None:
    """What the client sends, to the container; what it does not take is read all the same."""
    taken = True
    while True:
        try:
            data = client.recv(PIECE)
        except TimeoutError:
            # The handler in the container decides how long a client may be silent.
            continue
        except OSError:
            stream.close()
            return
        if not data:
            break
        if taken:
            try:
                stream.sendall(data)
            except OSError:
                taken = False
    if taken:
        with contextlib.suppress(OSError):
            stream.shutdown()


def _deliver(client: socket.socket, stream: Stream) -> None:
    """What the container answers, to the client, up to the end of it."""
    try:
        while data := stream.recv(PIECE):
            client.sendall(data)
    except OSError:
        return
    _shut(client, socket.SHUT_WR)


def _shut(client: socket.socket, how: int) -> None:
    # It may have hung up before.
    with contextlib.suppress(OSError):
        client.shutdown(how)
