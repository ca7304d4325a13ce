"""Where the HTTP server of the HR API listens, and its command."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from hr_served import COMMAND, LEVEL, SEED, STYLE, ask, serving

from agentgym.envs.hr.api import parse
from agentgym.envs.hr.http_server import case, stand_alone, tcp_server, unix_server
from agentgym.envs.hr.http_service import Service, body_bytes
from agentgym.envs.hr.style import style


@pytest.fixture(scope="module")
def service() -> Service:
    return stand_alone(SEED, LEVEL, role="hr_admin")


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
