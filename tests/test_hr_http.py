"""The HR API over a real connection: it sends what the agent is shown, and no bytes break it."""

from __future__ import annotations

import http.client
import json
import random
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from hr_served import LEVEL, SEED, STYLE, ask, serving

from agentgym.envs.hr.api import parse, request
from agentgym.envs.hr.http_server import stand_alone, tcp_server
from agentgym.envs.hr.http_service import DOCUMENT, LARGEST_BODY, Service
from agentgym.envs.hr.presentation import HttpPresentation
from agentgym.hooks import Context
from agentgym.trace import Call
from agentgym.world import CallResult

NO_REQUESTS = [
    (b"garbage\r\n\r\n", 400),
    (b"GET / HTTP/9.9\r\n\r\n", 400),
    (b"GET / HTTP/x\r\n\r\n", 400),
    (b"BREW / HTTP/1.1\r\n\r\n", 404),
    (b"GET /\xff\xfe HTTP/1.1\r\n\r\n", 404),
    (b"GET /%ff HTTP/1.1\r\n\r\n", 400),
    (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 200 + b"\r\n", 400),
    (b"GET / HTTP/1.1\r\nx: " + b"y" * 70_000 + b"\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: " + str(LARGEST_BODY + 1).encode() + b"\r\n\r\n", 413),
    (b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n{}", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: 2, 3\r\n\r\n{} ", 400),
]
"""What is no request, and the status of the answer."""


@pytest.fixture(scope="module")
def service() -> Service:
    return stand_alone(SEED, LEVEL, role="hr_admin")


@pytest.fixture(scope="module")
def port(service: Service) -> Iterator[int]:
    with serving(tcp_server(service)) as server:
        yield server.server_address[1]


def call(port: int, tool: str, **arguments: Any) -> dict[str, Any]:
    """Ask for a canonical tool over the wire, and read the answer."""
    asked = request(STYLE, tool, arguments)
    target = asked.path + ("?" + urlencode(asked.query) if asked.query else "")
    body = json.dumps(asked.body) if asked.body is not None else None
    status, headers, answer = ask(port, asked.method, target, asked.headers, body)
    return parse(STYLE, tool, status, headers, json.loads(answer))


def as_shown(method: str, target: str) -> Any:
    """What the agent is shown where the API itself answers, None where a tool is run."""
    asked = Call("http_request", {"method": method, "path": target})
    found = HttpPresentation(SEED, LEVEL).before_call(asked, Context(0, "hr/test", 0))
    return None if isinstance(found, Call) else json.loads(found.error)


def raw(port: int, sent: bytes) -> bytes:
    """What comes back for such bytes, up to the end of the connection or a pause."""
    with socket.create_connection(("127.0.0.1", port), timeout=1.0) as connection:
        connection.sendall(sent)
        out = b""
        try:
            while part := connection.recv(65536):
                out += part
        except TimeoutError:
            pass
        return out


def test_a_client_reads_pages_and_changes_records(port: int) -> None:
    first = call(port, "list_employees", page=1, page_size=50)
    second = call(port, "list_employees", page=2, page_size=50)
    assert len(first["items"]) == len(second["items"]) == 50 and first["total"] >= 400
    working = next(person for person in second["items"] if person["status"] == "active")
    assert not {p["employee_id"] for p in first["items"]} & {p["employee_id"] for p in second["items"]}
    person = call(port, "get_employee", employee_id=working["employee_id"])
    changed = call(
        port, "update_employee", employee_id=person["employee_id"], title="Tester", version=person["version"]
    )
    assert changed["title"] == "Tester" and changed["version"] == person["version"] + 1
    stale = call(port, "update_employee", employee_id=person["employee_id"], title="Other", version=person["version"])
    assert (stale["status"], stale["details"]) == (412, {"current_version": changed["version"]})
    assert call(port, "get_employee", employee_id=person["employee_id"]) == changed
    missing = call(port, "get_employee", employee_id="E0")
    assert missing["code"] == "not_found" and '"E0"' in missing["message"]


def test_the_server_sends_the_bytes_that_the_agent_is_shown(port: int, service: Service) -> None:
    """The same answer over a socket and through the presentation, for results and for errors."""
    presentation, context = HttpPresentation(SEED, LEVEL), Context(0, "hr/test", 0)
    for tool, arguments in (
        ("list_departments", {}),
        ("get_department", {"department_id": "D01"}),
        ("get_department", {"department_id": "D\u00e4"}),
    ):
        asked = request(STYLE, tool, arguments)
        status, _, body = ask(port, asked.method, asked.path)
        ran = presentation.before_call(Call("http_request", asked.arguments()), context)
        assert isinstance(ran, Call) and ran.name == tool
        result: CallResult = service._call(ran.name, ran.arguments)
        shown = presentation.after_call(ran, result, context)
        value = shown.value if shown.ok else json.loads(shown.error)
        assert (value["status"], json.dumps(value["body"], ensure_ascii=False).encode()) == (status, body)


@pytest.mark.parametrize("method", ["OPTIONS", "options", "TRACE", "PURGE", "get", "head"])
@pytest.mark.parametrize("tool", ["bulk_update_employees", "list_leave_types"])
def test_a_method_that_the_agent_cannot_use_is_refused_over_the_wire_too(port: int, tool: str, method: str) -> None:
    path = STYLE.routes[tool].path({})
    for target in (path, f"/{path}", f"{path}?x=1#y", f"http://hr{path}", "/nowhere"):
        status, headers, body = ask(port, method, target)
        shown = as_shown(method, target)
        if shown is None:
            assert (method, status) == ("get", 200)
        else:
            assert (status, body) == (shown["status"], json.dumps(shown["body"], ensure_ascii=False).encode())
            assert headers.get("Allow") == shown["headers"].get("Allow")


def test_head_is_answered_as_get_is_without_the_body(port: int) -> None:
    for target in (STYLE.routes["list_leave_types"].path({}), STYLE.routes["bulk_update_employees"].path({}), "/x"):
        status, headers, body = ask(port, "GET", target)
        assert ask(port, "HEAD", target) == (status, headers, b"")
        assert headers["Content-Length"] == str(len(body))


def test_one_connection_serves_many_requests(port: int) -> None:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    path = STYLE.routes["list_leave_types"].path({})
    client.connect()
    first = client.sock
    for method in ("GET", "HEAD", "GET", "DELETE", "OPTIONS", "GET"):
        client.request(method, path, b"{}" if method == "DELETE" else None)
        answer = client.getresponse()
        body = answer.read()
        wanted = {"DELETE": 405, "OPTIONS": 405}.get(method, 200)
        assert (answer.status, method == "HEAD" and body != b"") == (wanted, False)
        assert answer.getheader("Content-Type") == "application/json"
        if method in ("DELETE", "OPTIONS"):
            assert "GET" in str(answer.getheader("Allow"))
    assert client.sock is first
    client.close()


def test_it_has_its_openapi_document(port: int) -> None:
    status, _, body = ask(port, "GET", "/openapi.json")
    document = json.loads(body)
    assert status == 200 and document["openapi"] == "3.1.0"
    assert STYLE.routes["get_me"].path({}) in document["paths"]


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS"])
def test_the_document_takes_get_and_head_alone(port: int, method: str) -> None:
    status, headers, body = ask(port, method, DOCUMENT)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")
    message = parse(STYLE, "get_me", status, headers, json.loads(body))["message"]
    assert message == f'"{DOCUMENT}" does not take "{method}"; it takes: GET, HEAD'


@pytest.mark.parametrize(("sent", "status"), NO_REQUESTS)
def test_what_is_no_request_is_answered_and_not_a_fault_of_the_server(port: int, sent: bytes, status: int) -> None:
    answer = raw(port, sent)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    body = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert parse(STYLE, "get_me", status, {}, body)["message"]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", "the first line of a request has at most 65536 bytes"),
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "has one Content-Length"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n{}", 'as it is or "chunked", got "gzip"'),
    ],
)
def test_a_request_that_cannot_be_read_is_told_why_and_the_connection_ends(
    port: int, sent: bytes, message: str
) -> None:
    get = f"GET {STYLE.routes['get_me'].path({})} HTTP/1.1\r\n\r\n".encode()
    head, _, body = raw(port, sent + get).partition(b"\r\n\r\n")
    assert b"\r\nConnection: close" in head
    assert message in parse(STYLE, "get_me", 400, {}, json.loads(body))["message"]


def test_a_content_length_that_is_given_twice_alike_is_one(port: int) -> None:
    path = STYLE.routes["get_me"].path({})
    twice = b"Content-Length: 2\r\n" * 2
    sent = f"GET {path} HTTP/1.1\r\n".encode() + twice + b"Connection: close\r\n\r\n{}"
    assert raw(port, sent).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("header", "value", "message"),
    [
        ("Content-Encoding", "gzip", 'expected the body without a content encoding, got "gzip"'),
        ("Content-Type", "application/json; charset=utf-16", 'expected the body in UTF-8, got "utf-16"'),
        ("Content-Type", 'application/json; charset="latin-1"', 'expected the body in UTF-8, got "latin-1"'),
        ("Content-Encoding", "identity", None),
        ("Content-Type", "application/json; charset=UTF-8", None),
        ("Content-Type", "application/json;charset=utf8", None),
    ],
)
def test_a_body_in_an_encoding_that_is_not_read_is_refused(
    port: int, header: str, value: str, message: str | None
) -> None:
    asked = request(STYLE, "create_leave", {"employee_id": "E0", "leave_type": "X", "from_date": "2026-04-01",
                                            "to_date": "2026-04-01"})  # fmt: skip
    text = json.dumps(asked.body).encode()
    plain = ask(port, asked.method, asked.path, None, text)
    status, headers, body = ask(port, asked.method, asked.path, {header: value}, text)
    if message is None:
        assert (status, body) == (plain[0], plain[2])
    else:
        assert (status, "Connection" in headers) == (415, False)
        assert parse(STYLE, "get_me", status, headers, json.loads(body))["message"] == message
    assert ask(port, asked.method, asked.path, {header: value}, b"")[0] != 415


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4c4b40\r\n",
    ],
)
def test_a_client_that_sends_too_much_before_it_reads_still_gets_the_answer(port: int, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(head + bytes(5_000_000))
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_client_that_never_stops_sending_is_cut_off(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(200):
                connection.sendall(bytes(1 << 20))


def test_strange_encodings_are_never_a_fault_of_the_server(port: int) -> None:
    drawn = random.Random(6)
    characters = b"charset=utf-8;*'\"%,\\ \t\xe4\x00(=0?q_"
    for name in (b"Content-Type", b"Content-Encoding", b"Transfer-Encoding", b"Content-Length"):
        for _ in range(60):
            value = bytes(drawn.choice(characters) for _ in range(drawn.randrange(1, 30)))
            start = b"application/json; charset" if name == b"Content-Type" else b""
            sent = b"PUT /x HTTP/1.1\r\nConnection: close\r\n" + name + b": " + start + value
            length = b"" if name == b"Content-Length" else b"\r\nContent-Length: 2"
            assert re.match(rb"HTTP/1\.1 4\d\d ", raw(port, sent + length + b"\r\n\r\n{}"))


def test_random_bytes_are_never_answered_by_a_fault_of_the_server(port: int) -> None:
    drawn = random.Random(5)
    start = b"POST " + STYLE.routes["create_leave"].path({}).encode() + b" HTTP/1.1\r\nContent-Length: 60\r\n"
    for _ in range(60):
        noise = bytes(drawn.randrange(256) for _ in range(200))
        for sent in (noise + b"\r\n\r\n", start + b"\r\n" + noise[:60], start + noise[:20] + b"\r\n\r\n" + noise):
            with socket.create_connection(("127.0.0.1", port), timeout=5.0) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                answer = b""
                try:
                    while part := connection.recv(65536):
                        answer += part
                except ConnectionResetError:
                    pass
            statuses = [int(found) for found in re.findall(rb"HTTP/1\.1 (\d{3})", answer)]
            assert all(200 <= status < 500 for status in statuses)
    assert ask(port, "GET", STYLE.routes["get_me"].path({}))[0] == 200


def test_a_body_may_come_in_chunks(port: int) -> None:
    asked = request(STYLE, "create_leave", {"employee_id": "E0", "leave_type": "X", "from_date": "2026-04-01",
                                            "to_date": "2026-04-01"})  # fmt: skip
    text = json.dumps(asked.body).encode()
    status, _, whole = ask(port, "POST", asked.path, None, text)
    chunked = ask(port, "POST", asked.path, None, iter([text[:9], text[9:]]))
    assert 400 <= status < 500 and (chunked[0], chunked[2]) == (status, whole)


def test_many_clients_at_once_are_all_answered(port: int) -> None:
    path = STYLE.routes["list_leave_types"].path({})
    wanted = ask(port, "GET", path)[2]
    seen: list[bytes] = []
    threads = [threading.Thread(target=lambda: seen.append(ask(port, "GET", path)[2])) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [wanted] * 24
