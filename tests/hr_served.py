"""The HR API served over HTTP: what the tests of its server share."""

from __future__ import annotations

import http.client
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentgym.envs.hr.style import style

SEED, LEVEL = 7, 2
STYLE = style(SEED, LEVEL)
COMMAND = [sys.executable, "-m", "agentgym.envs.hr.http_server"]


@contextmanager
def serving(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(
    port: int, method: str, target: str, headers: Any = None, body: Any = None
) -> tuple[int, dict[str, str], bytes]:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        client.request(method, target, body, headers or {})
        answer = client.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        client.close()
