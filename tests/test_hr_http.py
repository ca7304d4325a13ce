from __future__ import annotations

import http.client
import json
import random
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from agentgym.envs.hr.api import parse, request
from agentgym.envs.hr.http_server import stand_alone, tcp_server, unix_server
from agentgym.envs.hr.http_service import LARGEST_BODY, Service, body_bytes
from agentgym.envs.hr.presentation import HttpPresentation
from agentgym.envs.hr.style import style
from agentgym.hooks import Context
from agentgym.trace import Call
from agentgym.world import CallResult

SEED, LEVEL = 7, 2
STYLE = style(SEED, LEVEL)

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
]
"""What is no request, and the status of the answer."""


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


@pytest.fixture(scope="module")
def service() -> Service:
    return stand_alone(SEED, LEVEL, role="hr_admin")


@pytest.fixture(scope="module")
def port(service: Service) -> Iterator[int]:
    with serving(tcp_server(service)) as server:
        yield server.server_address[1]


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


def call(port: int, tool: str, **arguments: Any) -> dict[str, Any]:
    """Ask for a canonical tool over the wire, and read the answer."""
    asked = request(STYLE, tool, arguments)
    target = asked.path + ("?" + urlencode(asked.query) if asked.query else "")
    body = json.dumps(asked.body) if asked.body is not None else None
    status, headers, answer = ask(port, asked.method, target, asked.headers, body)
    return parse(STYLE, tool, status, headers, json.loads(answer))


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


def test_options_names_the_methods_of_the_path_alone(port: int) -> None:
    path = STYLE.routes["bulk_update_employees"].path({})
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    client.request("OPTIONS", path)
    answer = client.getresponse()
    assert answer.status == 200
    assert answer.getheader("Allow") == f"{STYLE.routes['bulk_update_employees'].method}, OPTIONS"
    client.close()


def test_one_connection_serves_many_requests(port: int) -> None:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    path = STYLE.routes["list_leave_types"].path({})
    client.connect()
    first = client.sock
    for method in ("GET", "HEAD", "GET", "DELETE", "OPTIONS", "GET"):
        client.request(method, path, b"{}" if method == "DELETE" else None)
        answer = client.getresponse()
        body = answer.read()
        wanted = {"DELETE": 405}.get(method, 200)
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


@pytest.mark.parametrize(("sent", "status"), NO_REQUESTS)
def test_what_is_no_request_is_answered_and_not_a_fault_of_the_server(port: int, sent: bytes, status: int) -> None:
    answer = raw(port, sent)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    body = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert parse(STYLE, "get_me", status, {}, body)["message"]


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


def test_it_listens_on_a_unix_socket_too(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    for _ in range(2):
        with serving(unix_server(service, path)):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                connection.sendall(
                    f"GET {STYLE.routes['get_me'].path({})} HTTP/1.1\r\nConnection: close\r\n\r\n".encode()
                )
                answer = b""
                while part := connection.recv(65536):
                    answer += part
        wanted = service.answer("GET", STYLE.routes["get_me"].path({}), {}, None)
        assert answer.startswith(b"HTTP/1.1 200 OK") and answer.endswith(body_bytes(wanted))


def test_the_command_serves_a_fresh_world() -> None:
    command = [sys.executable, "-m", "agentgym.envs.hr.http_server", "--seed", "3", "--level", "3", "--role", "manager"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        try:
            status, _, body = ask(int(address.rpartition(":")[2]), "GET", style(3, 3).routes["get_me"].path({}))
        finally:
            process.terminate()
    assert status == 200
    assert parse(style(3, 3), "get_me", 200, {}, json.loads(body))["role"] == "manager"


def test_the_command_knows_whom_it_cannot_serve() -> None:
    command = [sys.executable, "-m", "agentgym.envs.hr.http_server", "--as", "E1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "such as 'E1018' and 'hr_admin', got 'E1' and 'employee'" in done.stderr


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
def test_a_port_that_cannot_be_is_refused_with_the_ones_that_can(port: str) -> None:
    command = [sys.executable, "-m", "agentgym.envs.hr.http_server", f"--port={port}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"expected a port from 0 to 65535, got {port!r}" in done.stderr
