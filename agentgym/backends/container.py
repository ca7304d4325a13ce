"""One container with a world: started, asked, ended."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
import weakref
from dataclasses import dataclass
from typing import Any

from agentgym.backends.engine import address, client, explained, history, owner_labels, remove
from agentgym.backends.keeping import keeper
from agentgym.backends.lines import Line, NearLine, Pipe, StreamLine
from agentgym.errors import BackendError
from agentgym.server import NO_SOCKET

TRANSPORT = "AGENTGYM_DOCKER_TRANSPORT"
"""Environment variable: "socket" or "stream"; without it, what works with the engine."""

CALL_SECONDS = "AGENTGYM_DOCKER_CALL_SECONDS"
"""Environment variable: bound on a call's wall time."""

_INSIDE = "/run/agentgym"
_LONGEST_PATH = 100
_GRACE_S = 5.0
"""The container ends a call at its own deadline; so much later the owner ends the container."""

_HUNG = "the container runs, and the call in it does not end"

_no_sockets: set[str] = set()
"""Addresses of engines to which no folder can be mounted."""


class Lost(Exception):
    """The container gave no answer; the text says what became of it.

    Attributes:
        hung: it runs, and was busy with the call for too long.
    """

    hung = False


class Failed(Exception):
    """An operation broke inside. ``kind`` is "late", "memory", "bug" or "start"."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


class _NoSocketError(Exception):
    """The engine does not share this machine's files."""


@dataclass(frozen=True)
class Limits:
    """What a container may use.

    Attributes:
        call_s: wall time of one operation, seconds.
        start_s: wall time until it serves, seconds.
        memory_mib: memory, MiB; there is no swap.
        pids: processes and threads.
        cpus: processors.
    """

    call_s: float = 10.0
    start_s: float = 60.0
    memory_mib: int = 256
    pids: int = 64
    cpus: float = 1.0

    @classmethod
    def default(cls) -> Limits:
        """The limits with the environment's bound on a call.

        Raises:
            ValueError: that is no number of seconds.
        """
        text = os.environ.get(CALL_SECONDS)
        if not text:
            return cls()
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise ValueError(f"expected {CALL_SECONDS} to be seconds, such as 10, got {text!r}")
        return cls(call_s=seconds)


class Container:
    """A container that serves one world to this process. It ends with this process, with `close`, or with the object.

    Args:
        image: id of the image.
        domain: short name of the domain, for the container's name.
        limits: what it may use.
        service: module of the domain's own service, which speaks in place of the server; "" for the server.

    Attributes:
        name: the container's name, unique.
        abandoned: it belongs to the process that this one was forked from.

    Raises:
        BackendError: it cannot be started.
    """

    def __init__(self, image: str, domain: str, limits: Limits, service: str = "") -> None:
        self._image, self._limits, self._service = image, limits, service
        self.name = f"agentgym-{domain}-{os.getpid()}-{secrets.token_hex(6)}"
        self.abandoned = False
        self._until = time.monotonic() + limits.start_s
        self._line = self._opened()
        self._finalizer = weakref.finalize(self, _let_go, self._line, self.name)
        _all.add(self)

    def ask(self, operations: list[list[Any]], blob: bytes = b"") -> tuple[list[Any], bytes]:
        """Run operations in order and return what each gave, and the bytes that came along.

        Raises:
            Lost: no answer came; the container is gone.
            Failed: an operation broke.
        """
        self.send(operations, blob)
        return self.answer()

    def send(self, operations: list[list[Any]], blob: bytes = b"") -> None:
        """The first half of `ask`."""
        seconds = self._limits.call_s
        try:
            self._line.send({"do": operations, "seconds": seconds}, blob, seconds + _GRACE_S)
        except (EOFError, OSError, ValueError) as error:
            raise self._lost(error) from None
        except BaseException:
            self.end()
            raise

    def answer(self) -> tuple[list[Any], bytes]:
        """The second half of `ask`."""
        try:
            message, blob = self._line.receive(self._limits.call_s + _GRACE_S)
        except (EOFError, OSError, ValueError) as error:
            raise self._lost(error) from None
        except BaseException:
            self.end()
            raise
        if message.get("error"):
            raise Failed(*message["error"])
        return message["gave"], blob

    def pipe(self) -> Pipe:
        """The line as plain bytes, for a service that speaks in its own way from now on.

        Raises:
            BackendError: the engine is reached in a way that cannot carry both directions at once.
        """
        try:
            return self._line.pipe()
        except TypeError as error:
            raise BackendError(f"the engine at {address()} carries no service: {error}") from None

    def close(self) -> None:
        """Hang up; the container ends by itself."""
        self._finalizer()

    def kill(self) -> None:
        """Remove the container at once."""
        self._finalizer.detach()
        self._line.close()
        remove(self.name)
        keeper.let_go(self.name, ended=True)

    def end(self) -> None:
        """Remove the container at once, if the engine is there to do it."""
        with contextlib.suppress(BackendError):
            self.kill()

    def abandon(self) -> None:
        """After a fork, in the child: close the copy of the parent's line."""
        self.abandoned = True
        self._finalizer.detach()
        self._line.close()

    def _lost(self, error: Exception) -> Lost:
        """Whatever breaks the line breaks the container: the next answer could be to an older question."""
        fate = self._fate(closed=not isinstance(error, TimeoutError))
        self.end()
        if not isinstance(error, TimeoutError):
            return Lost(f"{fate} ({error})")
        lost = Lost(f"no answer within {self._limits.call_s + _GRACE_S:g} s: {fate}")
        lost.hung = fate == _HUNG
        return lost

    # Starting.

    def _opened(self) -> Line:
        where = address()
        wanted = os.environ.get(TRANSPORT)
        if wanted not in (None, "", "socket", "stream"):
            raise ValueError(f"expected {TRANSPORT} to be socket or stream, got {wanted!r}")
        local = where.startswith("unix://") and sys.platform == "linux" and where not in _no_sockets
        if wanted != "stream" and (local or wanted == "socket"):
            try:
                return self._by_socket()
            except _NoSocketError as error:
                if wanted == "socket":
                    raise BackendError(
                        f"the engine at {where} does not share this machine's temporary folder ({error}); "
                        f"set {TRANSPORT}=stream"
                    ) from None
                _no_sockets.add(where)
        return self._by_stream()

    def _by_socket(self) -> Line:
        folder = os.path.join(tempfile.gettempdir(), f"agentgym-socket-{self.name[-12:]}")
        shared = os.path.join(folder, "s")
        path = os.path.join(shared, "world")
        if len(path) > _LONGEST_PATH:
            raise _NoSocketError(f"{path} is too long for a socket")
        keeper.hold(self.name, folder)
        listener = socket.socket(socket.AF_UNIX)
        try:
            # Only the inner folder is mounted; the outer one keeps other users out.
            with explained(f"make {folder}"):
                os.mkdir(folder, 0o700)
                os.mkdir(shared, 0o755)
                listener.bind(path)
                os.chmod(path, 0o666)
                listener.listen(1)
            self._create(f"{_INSIDE}/world", shared)
            with explained(f"start the container {self.name}"):
                client().start(self.name)
            line = NearLine(self._accepted(listener))
        except BaseException:
            self._drop()
            raise
        finally:
            listener.close()
            shutil.rmtree(folder, ignore_errors=True)
        keeper.hold(self.name)
        return line

    def _accepted(self, listener: socket.socket) -> socket.socket:
        listener.settimeout(0.5)
        while True:
            try:
                return listener.accept()[0]
            except TimeoutError:
                if not self._runs():
                    fate = self._fate()
                    if f"status {NO_SOCKET}" in fate:
                        raise _NoSocketError("the socket is not seen in the container") from None
                    raise BackendError(f"the container {self.name} did not start to serve: {fate}") from None
                if time.monotonic() > self._until:
                    raise BackendError(
                        f"the container {self.name} did not serve within {self._limits.start_s:g} s; is the machine "
                        "overloaded? start fewer environments"
                    ) from None

    def _by_stream(self) -> Line:
        keeper.hold(self.name)
        try:
            self._create("-", None)
            ends = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            with explained(f"start the container {self.name}"):
                attached = client().attach_socket(self.name, params=ends)
                client().start(self.name)
        except BaseException:
            self._drop()
            raise
        # For plain connections the client gives a file object around the socket.
        raw = getattr(attached, "_sock", attached)
        return StreamLine(raw, attached)

    def _drop(self) -> None:
        with contextlib.suppress(BackendError):
            remove(self.name)
        keeper.let_go(self.name, ended=False)

    def _create(self, argument: str, shared: str | None) -> None:
        import docker.errors
        from docker.types import LogConfig, Mount

        limits, api = self._limits, client()
        mounts = [Mount(_INSIDE, shared, type="bind", read_only=True)] if shared else []
        config = api.create_host_config(
            auto_remove=True,
            network_mode="none",
            ipc_mode="none",
            read_only=True,
            tmpfs={"/tmp": "size=16m,mode=1777,noexec,nosuid,nodev"},
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            mem_limit=f"{limits.memory_mib}m",
            memswap_limit=f"{limits.memory_mib}m",
            pids_limit=limits.pids,
            nano_cpus=round(limits.cpus * 1e9),
            mounts=mounts,
            # What it prints would fill the engine's disk.
            log_config=LogConfig(type="none", config={}),
        )
        with explained(f"create the container {self.name}"):
            try:
                api.create_container(
                    self._image,
                    [argument, self._service] if self._service else [argument],
                    name=self.name,
                    hostname="world",
                    labels=owner_labels(),
                    host_config=config,
                    stdin_open=shared is None,
                    detach=shared is not None,
                )
            except docker.errors.APIError as error:
                if shared and "bind source path does not exist" in str(error):
                    raise _NoSocketError(str(error)) from None
                raise

    # Ending.

    def _runs(self) -> bool:
        import docker.errors

        with explained(f"inspect the container {self.name}"):
            try:
                return bool(client().inspect_container(self.name)["State"]["Running"])
            except docker.errors.NotFound:
                return False

    def _fate(self, closed: bool = False) -> str:
        """What became of the container, as the engine tells it; *closed* where its end of the line is."""
        try:
            return self._told(closed)
        except BackendError as error:
            return f"and the engine does not say why: {error}"

    def _told(self, closed: bool) -> str:
        import docker.errors

        with explained("ask for the container's fate"):
            with contextlib.suppress(docker.errors.NotFound):
                state = client().inspect_container(self.name)["State"]
                if state["Paused"]:
                    return "the container is paused"
            # The line may break a moment before the engine notices the end, a busy one some seconds.
            happened: list[dict[str, Any]] = []
            for _ in range(50 if closed else 10):
                happened = history(self.name)
                if any(event["Action"] == "die" for event in happened):
                    break
                if not closed and self._runs():
                    return _HUNG
                time.sleep(0.1)
            else:
                if self._runs():
                    return _HUNG
        return _obituary(happened, self._limits) + self._last_words()

    def _last_words(self) -> str:
        line = getattr(self, "_line", None)
        words = line.errors.decode("utf-8", "replace").strip() if isinstance(line, StreamLine) else ""
        return f": {words.splitlines()[-1]}" if words else ""


def _obituary(events: list[dict[str, Any]], limits: Limits) -> str:
    actions = [event["Action"] for event in events]
    died = next((event for event in events if event["Action"] == "die"), None)
    status = died["Actor"]["Attributes"].get("exitCode", "?") if died else "?"
    if "oom" in actions and status not in ("0", str(NO_SOCKET)):
        return f"the container ran out of memory (limit {limits.memory_mib} MiB)"
    if "kill" in actions:
        return f"the container was killed from outside (status {status})"
    if died:
        return f"the container ended by itself with status {status}"
    return "the container is gone"


def _let_go(line: Line, name: str) -> None:
    line.close()
    keeper.let_go(name, ended=False)


_all: weakref.WeakSet[Container] = weakref.WeakSet()


def _after_fork() -> None:
    for container in list(_all):
        container.abandon()
    _all.clear()


os.register_at_fork(after_in_child=_after_fork)
