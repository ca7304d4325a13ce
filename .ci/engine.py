"""Talks to a container engine at a local socket: ``ping SOCKET``, ``load SOCKET TAR NAME``. Standard library only."""

from __future__ import annotations

import http.client
import socket
import sys
import urllib.parse
from pathlib import Path


class Engine(http.client.HTTPConnection):
    """A connection to the engine's socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=300)
        self.path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(300)
        self.sock.connect(self.path)


def main(arguments: list[str]) -> int:
    """Run one subcommand."""
    command, path = arguments[:2]
    engine = Engine(path)
    if command == "ping":
        try:
            engine.request("GET", "/_ping")
            return int(engine.getresponse().status != 200)
        except OSError:
            return 1
    tar, name = Path(arguments[2]), arguments[3]
    query = urllib.parse.urlencode({"fromSrc": "-", "repo": name, "tag": "latest"})
    with tar.open("rb") as file:
        headers = {"Content-Type": "application/x-tar", "Content-Length": str(tar.stat().st_size)}
        engine.request("POST", f"/images/create?{query}", body=file, headers=headers)
        answer = engine.getresponse()
        text = answer.read().decode()
    if answer.status != 200 or '"error"' in text:
        sys.exit(f"the engine did not take {tar}: {answer.status} {text[-500:]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
