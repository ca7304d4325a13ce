"""The HR API as a real HTTP server over a world: the same routes and answers as without a socket, byte for byte.

It runs beside a world, on a TCP port or a Unix socket, and stand-alone over a fresh world::

    python -m agentgym.envs.hr.http_server --seed 7 --level 2 --port 8080 --as E1042 --role manager

Whatever a client sends is answered by a status below 500. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import socketserver
import sqlite3
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.envs.hr.answers import Problem, Response, problem_of, respond
from agentgym.envs.hr.api import route
from agentgym.envs.hr.openapi import openapi
from agentgym.envs.hr.records import ENUMS
from agentgym.envs.hr.style import CODES, LEVELS, Style, style
from agentgym.text import clean, dumps
from agentgym.tools import Tool, ToolError
from agentgym.world import CallResult, parse_iso

LARGEST_BODY = 1 << 20
"""Bytes of a body, at most."""
DOCUMENT = "/openapi.json"
"""Where the server has its OpenAPI document, beside the paths of the API."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

Caller = Callable[[str, Mapping[str, Any]], CallResult]
"""Runs a canonical tool, by name and validated arguments."""


class Service:
    """The API of a world in a style.

    Args:
        style_: how it is spelt.
        tools: the canonical tools by name.
        call: runs one of them; it is asked by one thread at a time.
    """

    def __init__(self, style_: Style, tools: Mapping[str, Tool], call: Caller) -> None:
        self.style, self._tools, self._call = style_, tools, call
        self._lock = threading.Lock()

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        """What a request gets.

        Args:
            method: as sent.
            target: the path with its query string.
            headers: by name, in any case.
            body: None where there is none.
        """
        found = route(self.style, method, target, None, headers, body)
        if isinstance(found, Problem):
            return respond(self.style, "", found)
        try:
            arguments = self._tools[found.tool].validate(found.arguments)
        except ToolError as error:
            return respond(self.style, "", Problem("unprocessable", str(error)))
        with self._lock:
            result = self._call(found.tool, arguments)
        if result.ok:
            return respond(self.style, found.tool, result.value, arguments)
        return respond(self.style, found.tool, problem_of(self.style, result.error))


def body_bytes(response: Response) -> bytes:
    """The body of an answer as it goes over the wire."""
    return clean(dumps(response.body)).encode()


class _TooLarge(Exception):
    """The body is longer than `LARGEST_BODY`."""


class Handler(BaseHTTPRequestHandler):
    """One connection, kept open between requests."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "hr", ""
    timeout = 30
    # Buffered, so that head and body leave in one piece: the second of two waits for the receipt of the first.
    wbufsize = -1

    def __init__(self, service: Service, *args: Any) -> None:
        self._service = service
        super().__init__(*args)

    def __getattr__(self, name: str) -> Any:
        """Every method has an answer, the unknown ones too: a server that calls them not implemented answers 501."""
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        try:
            body = self._body()
        except _TooLarge:
            self._refuse(Problem("payload_too_large", f"a body has at most {LARGEST_BODY} bytes"))
            return
        except ValueError as error:
            self._refuse(Problem("bad_request", f"the body cannot be read: {error}"))
            return
        target = clean(self.path.encode("latin-1").decode("utf-8", "replace"))
        method = self.command
        if target.partition("?")[0] == DOCUMENT and method in ("GET", "HEAD"):
            self._send(Response(200, {}, openapi(self._service.style)), method)
            return
        asked = self._service.answer("GET" if method == "HEAD" else method, target, dict(self.headers.items()), body)
        if method == "OPTIONS" and "Allow" in asked.headers:
            asked = Response(200, {"Allow": f"{asked.headers['Allow']}, OPTIONS"}, {})
        self._send(asked, method)

    def _body(self) -> bytes | None:
        """The body, None where there is none.

        Raises:
            ValueError: its length is no number, or it ends early.
        """
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        given = self.headers.get("Content-Length")
        if given is None:
            return None
        if not (given.isascii() and given.isdigit()):
            raise ValueError("Content-Length is no number")
        if len(given) > 9 or int(given) > LARGEST_BODY:
            raise _TooLarge
        body = self.rfile.read(int(given))
        if len(body) != int(given):
            raise ValueError("it ends early")
        return body

    def _chunks(self) -> bytes:
        out = b""
        while True:
            line = self.rfile.readline(64)
            if not line.endswith(b"\n"):
                raise ValueError("a chunk has no size")
            size = int(line.partition(b";")[0].strip() or b"x", 16)
            if size < 0:
                raise ValueError("a chunk has no size")
            if size + len(out) > LARGEST_BODY:
                raise _TooLarge
            if size == 0:
                while self.rfile.readline(1024).strip():
                    pass
                return out
            out += self.rfile.read(size)
            self.rfile.readline(8)

    def _refuse(self, problem: Problem) -> None:
        """Answer and hang up: what follows in the stream belongs to a request that was not read."""
        self.close_connection = True
        self._send(respond(self._service.style, "", problem), self.command or "")

    def _send(self, response: Response, method: str) -> None:
        body = body_bytes(response)
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value.encode("latin-1", "replace").decode("latin-1"))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if method != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is no HTTP, in the API's form; never by a status that blames the server."""
        self.requestline = getattr(self, "requestline", "")
        self.request_version = "HTTP/1.1"
        known = next((name for name, status in CODES.items() if status == code), "bad_request")
        self.command = self.command if getattr(self, "command", None) else ""
        self._refuse(Problem(known, f"this is no request that can be read: {clean(message or str(code))[:200]}"))

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header: a fixed one, since the world has its own time."""
        return super().date_time_string(0.0)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the caller's output is not the server's."""


class _Quiet(socketserver.ThreadingMixIn):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error; anything else is one of ours, and is shown."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)  # type: ignore[misc]


class TcpServer(_Quiet, socketserver.TCPServer):
    """The API on a TCP port."""

    allow_reuse_address = True
    request_queue_size = 64


class UnixServer(_Quiet, socketserver.UnixStreamServer):
    """The API on a Unix socket."""

    request_queue_size = 64


def tcp_server(service: Service, port: int = 0, host: str = "127.0.0.1") -> TcpServer:
    """A server on a TCP port, 0 for a free one; ``serve_forever`` and ``shutdown`` are its own."""
    return TcpServer((host, port), partial(Handler, service))


def unix_server(service: Service, path: Path) -> UnixServer:
    """A server on a Unix socket, a new one in place of one that is there."""
    path.unlink(missing_ok=True)
    return UnixServer(str(path), partial(Handler, service))


class Fresh(NamedTuple):
    """What a world is made from."""

    snapshot: Path
    toolset: Mapping[str, Tool]


def stand_alone(seed: int, level: int, employee_id: str | None = None, role: str = "employee") -> Service:
    """The API over a fresh world, for one person (None for somebody); time passes by its calls alone.

    Raises:
        ValueError: the level is not in 0..3, or there is no such person or role.
    """
    from agentgym.backends.embedded import Embedded
    from agentgym.envs.hr.seed import NOW
    from agentgym.envs.hr.tools import TOOLS
    from agentgym.snapshot import snapshot_file

    tools = {tool.name: tool for tool in TOOLS}
    backend = Embedded(Fresh(snapshot_file(Path(__file__).parent), tools))
    style_ = style(seed, level)
    person = {} if employee_id is None else {"employee_id": employee_id}
    try:
        backend.restore({"session": {1: {"role": role, **person}}, "api_style": {1: {"seed": seed, "level": level}}})
    except sqlite3.IntegrityError as error:
        raise ValueError(f"expected a person and a role that there are, got {employee_id!r} and {role!r}") from error
    now = [parse_iso(NOW)]

    def call(name: str, arguments: Mapping[str, Any]) -> CallResult:
        result, _ = backend.call(name, arguments, now[0])
        now[0] += tools[name].latency_ms
        return result

    return Service(style_, tools, call)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a fresh world until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m agentgym.envs.hr.http_server", description="Serve the HR API.")
    parser.add_argument("--seed", type=int, default=0, help="what names, paths and formats are drawn from")
    parser.add_argument("--level", type=int, default=0, choices=LEVELS, help="how far they differ from the plain ones")
    parser.add_argument("--port", type=int, default=0, help="TCP port on this machine, 0 for a free one")
    parser.add_argument("--as", dest="employee_id", help="employee id of the person for whom requests are made")
    parser.add_argument("--role", default="employee", choices=ENUMS["role"], help="the role in which they are made")
    given = parser.parse_args(arguments)
    try:
        service = stand_alone(given.seed, given.level, given.employee_id, given.role)
    except ValueError as error:
        parser.error(str(error))
    server = tcp_server(service, given.port)
    sys.stdout.write(
        json.dumps({"address": "http://{}:{}".format(*server.server_address), "document": DOCUMENT}) + "\n"
    )
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


if __name__ == "__main__":
    main()
