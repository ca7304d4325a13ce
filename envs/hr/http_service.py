"""The HR API over HTTP, on a world: the same routes and answers as without a socket, byte for byte.

Whatever a client sends is answered by a status below 500. Standard library only: it runs on a port or socket of this
machine and inside a container.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from agentgym.backends.embedded import Embedded
from agentgym.envs.hr.answers import Problem, Response, problem_of, respond
from agentgym.envs.hr.api import route
from agentgym.envs.hr.openapi import openapi
from agentgym.envs.hr.style import CODES, Style, style
from agentgym.text import clean, dumps
from agentgym.tools import Tool, ToolError
from agentgym.tools import shown as quoted
from agentgym.world import CallResult, Patch

LARGEST_BODY = 1 << 20
"""Bytes of a body, at most."""
DOCUMENT = "/openapi.json"
"""Where the server has its OpenAPI document, beside the paths of the API."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

_UTF_8 = ("utf-8", "utf8", "us-ascii", "ascii")
_SIZE = re.compile(rb"[0-9A-Fa-f]+")
_DRAINED = 16 << 20
_LINGER_S = 5.0

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
        # All of it by one at a time: what a large body is parsed into takes many times the memory of its bytes.
        with self._lock:
            return self._answer(method, target, headers, body)

    def _answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        found = route(self.style, method, target, None, headers, body)
        if isinstance(found, Problem):
            return respond(self.style, "", found)
        try:
            arguments = self._tools[found.tool].validate(found.arguments)
        except ToolError as error:
            return respond(self.style, "", Problem("unprocessable", str(error)))
        result = self._call(found.tool, arguments)
        if result.ok:
            return respond(self.style, found.tool, result.value, arguments)
        return respond(self.style, found.tool, problem_of(self.style, result.error))


class Case(NamedTuple):
    """What an episode begins with.

    Attributes:
        seed: what the API's spelling is drawn from.
        level: how far it is from the plain one, 0–3.
        patch: what the world has besides its snapshot: for whom requests are made, in which spelling, and more.
        now_ms: simulated milliseconds since 1970.
    """

    seed: int
    level: int
    patch: Patch
    now_ms: int


def begin(case: Case, home: Any) -> Service:
    """The API over a fresh world; time passes by its calls alone.

    Args:
        case: what it begins with.
        home: what has the ``snapshot`` and the ``toolset``.

    Raises:
        sqlite3.IntegrityError: the patch does not suit the world.
    """
    style_, backend, now = style(case.seed, case.level), Embedded(home), case.now_ms
    backend.restore(case.patch)

    def call(name: str, arguments: Mapping[str, Any]) -> CallResult:
        nonlocal now
        result, _ = backend.call(name, arguments, now)
        now += home.toolset[name].latency_ms
        return result

    return Service(style_, home.toolset, call)


def body_bytes(response: Response) -> bytes:
    """The body of an answer as it goes over the wire."""
    return clean(dumps(response.body)).encode()


class _TooLarge(Exception):
    """The body is longer than `LARGEST_BODY`."""


class Handler(BaseHTTPRequestHandler):
    """One connection, kept open between requests.

    An answer is what ``http_request`` gives for the same method, path, headers and body, and HEAD is GET without the
    body. What is said about bytes alone comes from here: lengths, codings, encodings, and the document.
    """

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "hr", ""
    timeout = 30
    # Buffered, so that head and body leave in one piece: the second of two waits for the receipt of the first.
    wbufsize = -1

    def __init__(self, service: Service, *args: Any) -> None:
        self._service, self._refused = service, False
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
        # As it was sent: `path` has lost the second of two slashes at the beginning.
        target = clean(self.requestline.split()[1].encode("latin-1").decode("utf-8", "replace"))
        method = self.command
        wrong = self._unread() if body else None
        if wrong is not None:
            self._send(respond(self._service.style, "", Problem("unsupported_media_type", wrong)), method)
        elif target.partition("?")[0] == DOCUMENT:
            self._send(self._document(method), method)
        else:
            asked = "GET" if method == "HEAD" else method
            self._send(self._service.answer(asked, target, dict(self.headers.items()), body), method)

    def _document(self, method: str) -> Response:
        if method in ("GET", "HEAD"):
            return Response(200, {}, openapi(self._service.style))
        message = f"{quoted(DOCUMENT)} does not take {quoted(method)}; it takes: GET, HEAD"
        return respond(self._service.style, "", Problem("method_not_allowed", message, {"allow": ["GET", "HEAD"]}))

    def _unread(self) -> str | None:
        """Why the bytes of a body are no JSON text to be read, None where they are."""
        encoding = ", ".join(self.headers.get_all("Content-Encoding", [])).strip()
        if encoding and encoding.lower() != "identity":
            return f"expected the body without a content encoding, got {quoted(encoding)}"
        charset = self.headers.get_content_charset("")
        if self.headers.get_param("charset") is not None and charset not in _UTF_8:
            return f"expected the body in UTF-8, got {quoted(charset)}"
        return None

    def _body(self) -> bytes | None:
        """The body, None where there is none.

        Raises:
            ValueError: where it ends is not said, or not in one way, or it ends early.
        """
        coding = ", ".join(self.headers.get_all("Transfer-Encoding", [])).strip()
        lengths = sorted({text.strip() for text in self.headers.get_all("Content-Length", [])})
        if coding:
            if coding.lower() != "chunked":
                raise ValueError(f'expected it as it is or "chunked", got {quoted(coding)}')
            if lengths:
                raise ValueError("a request has Transfer-Encoding or Content-Length, got both")
            return self._chunks()
        if not lengths:
            return None
        if len(lengths) > 1:
            raise ValueError(f"a request has one Content-Length, got {quoted(', '.join(lengths))}")
        given = lengths[0]
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
            digits = line.partition(b";")[0].strip()
            if not _SIZE.fullmatch(digits):
                raise ValueError("a chunk has no size")
            size = int(digits, 16)
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
        self.close_connection = self._refused = True
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
        why = clean(message or HTTPStatus(code).phrase)[:200]
        if code == HTTPStatus.REQUEST_URI_TOO_LONG:
            why = "the first line of a request has at most 65536 bytes"
        self._refuse(Problem(known, f"this is no request that can be read: {why}"))

    def finish(self) -> None:
        """End the connection, after a refusal not at once."""
        super().finish()
        if self._refused:
            self._drain()

    def _drain(self) -> None:
        """Read on for a while: a client that sends before it reads would lose the answer, were it cut off."""
        left, until = _DRAINED, time.monotonic() + _LINGER_S
        # It may have hung up, or go on for too long.
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while left > 0 and (wait := until - time.monotonic()) > 0:
                self.connection.settimeout(wait)
                data = self.connection.recv(1 << 16)
                if not data:
                    return
                left -= len(data)

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header: a fixed one, since the world has its own time."""
        return super().date_time_string(0.0)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the caller's output is not the server's."""
