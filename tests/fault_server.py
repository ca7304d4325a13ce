"""A real server on loopback that speaks /v1/chat/completions and answers as a script says, faults included.

It is as strict as real endpoints are about the history that it is sent: what they would refuse gets a 400.
"""

import json
import re
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from agentgym import GoldRunner, Scenario

Message = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer: *body* as it goes out. ``close`` drops the connection instead, ``cut`` in the middle of the body."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    close: bool = False
    cut: bool = False

    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Script = Callable[[dict[str, Any]], Reply]
"""From the body of a request to the answer."""


def completion(message: Any, finish_reason: str = "tool_calls", **usage: Any) -> Reply:
    """A completion with one choice. *usage* are its fields, by default 100 and 10 tokens."""
    tokens = usage or {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Reply(
        {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": tokens}
    )


def tool_call(name: Any, arguments: Any, call_id: Any = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls: Any, content: Any = None, **extra: Any) -> Message:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **extra}


class GoldModel:
    """A correct model: it knows a gold plan and sees nothing but the messages that it is sent."""

    def __init__(self, scenario: Scenario, plan: int = 0) -> None:
        self._gold = GoldRunner(scenario, plan)
        self._last = ""
        self._count = 0

    def __call__(self, request: dict[str, Any]) -> Reply:
        replies = {m["tool_call_id"]: m["content"] for m in request["messages"] if m["role"] == "tool"}
        shown = replies.get(self._last, "").split("\n\n[environment]")[0]
        action = self._gold.next({"content": shown})
        if action is None:
            return completion(assistant(content="I have nothing left to do."), "stop")
        self._count += 1
        self._last = f"gold_{self._count}"
        return completion(assistant(tool_call(action["name"], json.dumps(action["arguments"]), self._last)))


def after_first(then: Script, *faults: Reply) -> Script:
    """Let *then* answer the first request and those after the *faults*."""
    left = [None, *faults]

    def script(request: dict[str, Any]) -> Reply:
        fault = left.pop(0) if left else None
        return then(request) if fault is None else fault

    return script


def first(faults: Sequence[Reply], then: Script) -> Script:
    """Answer with the *faults* first, then let *then* answer."""
    left = list(faults)
    return lambda request: left.pop(0) if left else then(request)


class FaultServer:
    """Runs a script on a loopback port for the time of a ``with``.

    Attributes:
        requests: the bodies received, refused ones included.
        keys: the Authorization headers received.
        refused: what was wrong with requests that got a 400.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.refused: list[str] = []
        self.stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "FaultServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: dict[str, Any], key: str) -> Reply:
        self.requests.append(request)
        self.keys.append(key)
        wrong = misuse(request)
        if wrong:
            self.refused.append(wrong)
            return Reply({"error": {"message": wrong}}, 400)
        return self.script(request)


def misuse(request: dict[str, Any]) -> str:
    """What a strict endpoint would refuse in a request, or ""."""
    if not request.get("model") or not request.get("tools"):
        return "model and tools are required"
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(request["messages"]):
        where, role = f"messages[{number}]", message["role"]
        if role == "tool":
            if not waiting or message["tool_call_id"] != waiting.pop(0):
                return f"{where} answers no call, or not in order"
        elif waiting:
            return f"{where}: the calls {waiting} have no answer"
        if role == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls", [])]
            if seen.intersection(waiting) or len(set(waiting)) != len(waiting):
                return f"{where}: an id is used twice"
            seen.update(waiting)
        if not isinstance(message.get("content"), str) and not (role == "assistant" and waiting):
            return f"{where} has no content"
        for call in message.get("tool_calls", []):
            if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"]):
                return f"{where}: not a function name: {call['function']['name']!r}"
            try:
                arguments = json.loads(call["function"]["arguments"])
            except ValueError:
                return f"{where}: the arguments are no JSON"
            if not isinstance(arguments, dict):
                return f"{where}: the arguments are no object"
    return f"the calls {waiting} have no answer" if waiting else ""


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _handler(owner: FaultServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path != "/v1/chat/completions":
                reply = Reply({"error": {"message": f"no such path: {self.path}"}}, 404)
            else:
                reply = owner.answer(json.loads(body), self.headers.get("Authorization", ""))
            if reply.delay_s:
                owner.stopping.wait(reply.delay_s)
            try:
                self._send(reply)
            except OSError:
                self.close_connection = True

        def _send(self, reply: Reply) -> None:
            if reply.close:
                self.close_connection = True
                return
            data = reply.data()
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if reply.cut else data)
            self.close_connection = self.close_connection or reply.cut

        def log_message(self, format: str, *args: Any) -> None:
            """Tests keep quiet."""

    return Handler
