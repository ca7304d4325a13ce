"""A small process beside the owner of containers: when the owner ends, however it ends, what is left of its is removed.

A container that serves ends by itself with its connection. What cannot is one that is created and not yet started, one
that is paused, and the folder of a socket. The owner registers each before it exists, one line on this process's
standard input: ``+ NAME FOLDER``; ``- NAME`` once it is gone, ``~ NAME`` when it should end by itself now. Run as a
file, with the engine's address as its one argument. Standard library only for a local engine, so that it is small and
quick to start.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import sys
import threading
import time

_PATIENCE_S = 6.0
"""So long the engine may take to create a container whose owner died while it asked for it."""

_GRACE_S = 3.0
"""So long a container that was let go may take to end by itself."""

_UNIX = "unix://"


class _Local(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=10)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(self._path)


def remove(address: str, name: str) -> bool:
    """Remove a container by force and return whether there was one."""
    if address.startswith(_UNIX):
        connection = _Local(address.removeprefix(_UNIX))
        try:
            connection.request("DELETE", f"/containers/{name}?force=1&v=1")
            return connection.getresponse().status != 404
        finally:
            connection.close()
    import docker
    import docker.errors

    client = docker.from_env()
    try:
        client.api.remove_container(name, force=True, v=True)
    except docker.errors.NotFound:
        return False
    finally:
        client.close()
    return True


def main(address: str) -> None:
    """Follow the owner to its end, then remove what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    held: dict[str, str] = {}

    def end(name: str) -> None:
        with contextlib.suppress(Exception):
            remove(address, name)
            held.pop(name, None)

    for line in sys.stdin.buffer:
        sign, name, folder = os.fsdecode(line).rstrip("\n").split(" ", 2)
        if sign == "+":
            held[name] = folder
        elif sign == "-":
            held.pop(name, None)
        else:
            timer = threading.Timer(_GRACE_S, end, (name,))
            timer.daemon = True
            timer.start()
    for folder in list(held.values()):
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    until = time.monotonic() + _PATIENCE_S
    while held and time.monotonic() < until:
        for name in list(held):
            with contextlib.suppress(Exception):
                if remove(address, name):
                    del held[name]
        time.sleep(0.5)


if __name__ == "__main__":
    main(sys.argv[1])
