"""Containers kept ready, so that nobody waits for one to start."""

from __future__ import annotations

import logging
import os
import queue
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from agentgym.backends.container import Container, Limits
from agentgym.backends.engine import reap
from agentgym.backends.images import CONTENT, Spec, ready, spec
from agentgym.errors import BackendError

if TYPE_CHECKING:
    from agentgym.domain import Domain

_log = logging.getLogger("agentgym")
_reaped: set[int] = set()
_pools: dict[tuple[int, str], Pool] = {}


def start(wanted: Spec, limits: Limits, service: str = "") -> Container:
    """Start a container. The first one of a process is preceded by the removal of those whose owners are dead.

    Args:
        wanted: its image.
        limits: what it may use.
        service: module of the domain's own service, "" for the server of an environment.

    Raises:
        BackendError: there is no engine to use, no image that fits, or the container does not start.
    """
    image = ready(wanted)
    if os.getpid() not in _reaped:
        _reaped.add(os.getpid())
        reap()
    return Container(image, wanted.domain, limits, service)


def take(wanted: Spec, limits: Limits) -> Container:
    """A container from the pool of this process for this image, where there is one that has one, else a new one."""
    pool = _pools.get((os.getpid(), wanted.labels[CONTENT]))
    found = pool.take() if pool is not None else None
    return found or start(wanted, limits)


class Pool:
    """Keeps *size* containers of a domain ready in this process, for every environment made in it.

    With ``fresh_container=True`` a reset then takes milliseconds as long as a container is ready.

    Args:
        domain: whose containers.
        size: how many are kept ready, at least 1.
        limits: what each may use.

    Raises:
        ValueError: size is less than 1, or this process has a pool for the domain already.
        BackendError: there is no engine to use, or no image that fits.
    """

    def __init__(self, domain: Domain, size: int, limits: Limits | None = None) -> None:
        if size < 1:
            raise ValueError(f"expected size to be at least 1, got {size}")
        self._spec, self._limits = spec(domain), limits or Limits.default()
        self._key = (os.getpid(), self._spec.labels[CONTENT])
        if self._key in _pools:
            raise ValueError(f"this process has a pool for the domain {domain.name} already; close it first")
        self._ready: queue.Queue[Container] = queue.Queue()
        self._wanted = threading.Semaphore(size)
        self._closed = threading.Event()
        self._ready.put(start(self._spec, self._limits))
        self._wanted.acquire()
        self._thread = threading.Thread(target=self._fill, name="agentgym-pool", daemon=True)
        self._thread.start()
        _pools[self._key] = self

    def take(self) -> Container | None:
        """A container that is ready, None when there is none just now; another one is started for it."""
        try:
            found = self._ready.get_nowait()
        except queue.Empty:
            return None
        self._wanted.release()
        return found

    @property
    def ready(self) -> int:
        """How many are ready."""
        return self._ready.qsize()

    def close(self) -> None:
        """End the containers that nobody took. Closing twice is fine."""
        _pools.pop(self._key, None)
        self._closed.set()
        self._wanted.release()
        self._thread.join()
        while not self._ready.empty():
            self._ready.get_nowait().close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _fill(self) -> None:
        while True:
            self._wanted.acquire()
            if self._closed.is_set():
                return
            try:
                self._ready.put(start(self._spec, self._limits))
            except BackendError as error:
                # Whoever needs one starts it and is told.
                _log.warning("the pool could not start a container: %s", error)
                self._closed.wait(1.0)
                self._wanted.release()
