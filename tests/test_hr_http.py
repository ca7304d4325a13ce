from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
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
from agentgym.envs.hr.http_server import case, stand_alone, tcp_server, unix_server
from agentgym.envs.hr.http_service import DOCUMENT, LARGEST_BODY, Service, body_bytes
from agentgym.envs.hr.presentation import HttpPresentation
from agentgym.envs.hr.style import style
from agentgym.hooks import Context
from agentgym.trace import Call
from agentgym.world import CallResult

SEED, LEVEL = 7, 2
STYLE = style(SEED, LEVEL)
COMMAND = [sys.executable, "-m", "agentgym.envs.hr.http_server"]

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


def over_unix(path: Path) -> bytes:
    """What a server on that socket says about the caller."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(f"GET {STYLE.routes['get_me'].path({})} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


def refused(*arguments: str) -> str:
    """What the command says when it does not take its arguments."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return done.stderr


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


def test_it_listens_on_a_unix_socket_too(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    for _ in range(2):
        with serving(unix_server(service, path)):
            answer = over_unix(path)
        wanted = service.answer("GET", STYLE.routes["get_me"].path({}), {}, None)
        assert answer.startswith(b"HTTP/1.1 200 OK") and answer.endswith(body_bytes(wanted))


def test_a_file_in_the_place_of_a_socket_is_kept(service: Service, tmp_path: Path) -> None:
    file, folder, link = tmp_path / "file", tmp_path / "folder", tmp_path / "link"
    file.write_text("kept")
    folder.mkdir()
    link.symlink_to(file)
    for path, kind in ((file, "a file"), (folder, "a folder"), (link, "a symbolic link")):
        with pytest.raises(FileExistsError, match=f"{re.escape(str(path))} is {kind}, not a socket.*another path"):
            unix_server(service, path)
    assert file.read_text() == "kept" and folder.is_dir() and link.is_symlink()


def test_a_socket_on_which_somebody_answers_is_left_to_them(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    with serving(unix_server(service, path)):
        for _ in range(2):
            with pytest.raises(OSError, match=f"another server listens on {re.escape(str(path))}.*another path"):
                unix_server(service, path)
            assert over_unix(path).startswith(b"HTTP/1.1 200 ")
    assert not path.exists()


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
def test_a_socket_of_another_kind_is_left_alone(service: Service, tmp_path: Path, kind: socket.SocketKind) -> None:
    path = tmp_path / "other.sock"
    with socket.socket(socket.AF_UNIX, kind) as other:
        other.bind(str(path))
        with pytest.raises(OSError, match="another server listens on"):
            unix_server(service, path)
        assert path.is_socket()


def test_a_socket_that_nobody_answers_on_is_replaced(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with serving(unix_server(service, path)):
        assert over_unix(path).startswith(b"HTTP/1.1 200 ")
    assert not path.exists()


def test_a_server_that_ends_removes_no_socket_but_its_own(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    with serving(unix_server(service, path)):
        path.unlink()
        second = unix_server(service, path)
    with serving(second):
        assert over_unix(path).startswith(b"HTTP/1.1 200 ")
    assert not path.exists()


def test_a_socket_where_none_can_be_says_so(service: Service, tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "folder", tmp_path / ("long" * 40)):
        with pytest.raises(OSError, match=f"cannot listen on {re.escape(str(path))}: .*another path"):
            unix_server(service, path)


def test_a_port_in_use_is_named_with_the_way_out(service: Service) -> None:
    with tcp_server(service) as first:
        port = first.server_address[1]
        with pytest.raises(
            OSError, match=f"cannot listen on port {port} of 127.0.0.1: .* in use; give another"
        ) as seen:
            tcp_server(service, port)
        assert seen.value.errno is not None
        error = refused("--port", str(port))
    assert f"error: cannot listen on port {port} of 127.0.0.1: " in error


def test_the_command_refuses_a_socket_that_is_not_its_own(tmp_path: Path) -> None:
    file, path = tmp_path / "notes.txt", tmp_path / "http.sock"
    file.write_text("kept")
    assert f"error: {file} is a file, not a socket" in refused("--socket", str(file))
    assert file.read_text() == "kept"
    command = [*COMMAND, "--socket", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["socket"] == str(path)
        try:
            assert f"error: another server listens on {path}" in refused("--socket", str(path))
            assert path.is_socket()
        finally:
            process.send_signal(signal.SIGTERM)
    assert (process.returncode, os.path.lexists(path)) == (0, False)


@pytest.mark.parametrize("seed", ["-1", str(2**63), "99999999999999999999", "9" * 5000, "1.5", "x", ""])
def test_a_seed_that_no_episode_can_have_is_refused(seed: str) -> None:
    for more in ((), ("--scenario", "hr/access-rights-001")):
        error = refused(f"--seed={seed}", *more)
        assert "error: argument --seed: expected a seed from 0 to 9223372036854775807, got '" in error
        assert len(error) < 1200


def test_a_case_has_a_seed_that_an_episode_can_have() -> None:
    assert case(2**63 - 1, 0).seed == 2**63 - 1
    for seed in (-1, 2**63):
        with pytest.raises(ValueError, match=f"expected a seed from 0 to 9223372036854775807, got {seed}"):
            case(seed, 0)


def test_the_command_serves_a_fresh_world() -> None:
    command = [*COMMAND, "--seed", "3", "--level", "3", "--role", "manager"]
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
    assert "such as 'E1018' and 'hr_admin', got 'E1' and 'employee'" in refused("--as", "E1")


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
def test_a_port_that_cannot_be_is_refused_with_the_ones_that_can(port: str) -> None:
    assert f"expected a port from 0 to 65535, got {port!r}" in refused(f"--port={port}")
