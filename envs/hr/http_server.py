"""The HR API as a real HTTP server, for any client: over a fresh world here, or over one in a container.

    python -m agentgym.envs.hr.http_server --seed 7 --level 2 --port 8080 --as E1042 --role manager
    python -m agentgym.envs.hr.http_server --docker --scenario hr/access-rights-001 --socket /tmp/hr.sock

It answers the same bytes as the `http_request` tool of an episode, and HEAD as GET without the body.

With ``--scenario`` it is the world and the API that an episode of that scenario begins with; what is done over HTTP
counts in no episode.
"""

from __future__ import annotations

import argparse
import errno
import json
import signal
import socket
import socketserver
import sqlite3
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.envs.hr.http_service import DOCUMENT, Case, Handler, Service, begin
from agentgym.envs.hr.records import ENUMS
from agentgym.envs.hr.seed import NOW
from agentgym.envs.hr.style import LEVELS
from agentgym.errors import AgentGymError
from agentgym.tools import Tool
from agentgym.world import parse_iso

_LAST_PORT = 65535
_LAST_SEED = 2**63 - 1
_PROBE_S = 2.0

Answerer = Callable[[Any, Any, Any], object]
"""Serves one connection: the arguments of a handler of `socketserver`."""


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
    """The API on a Unix socket, which goes when the server is closed."""

    request_queue_size = 64
    _own: tuple[int, int] | None = None

    def server_bind(self) -> None:
        """Make the socket, and remember which file it is."""
        super().server_bind()
        self._own = _identity(Path(str(self.server_address)))

    def server_close(self) -> None:
        """Remove the socket, where it is still this server's, and close it."""
        path = Path(str(self.server_address))
        # While it is open, its number is given to no other file.
        if self._own is not None and _identity(path) == self._own:
            path.unlink(missing_ok=True)
        self._own = None
        super().server_close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is, None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def tcp_server(service: Service | Answerer, port: int = 0, host: str = "127.0.0.1") -> TcpServer:
    """A server on a TCP port, 0 for a free one; ``serve_forever`` and ``shutdown`` are its own.

    Raises:
        OSError: the port cannot be had, for example because another server has it.
    """
    try:
        return TcpServer((host, port), _answerer(service))  # type: ignore[arg-type]
    except OSError as error:
        why = error.strerror or str(error)
        advice = "give another port, or 0 for a free one"
        raise OSError(error.errno, f"cannot listen on port {port} of {host}: {why}; {advice}") from error


def unix_server(service: Service | Answerer, path: Path) -> UnixServer:
    """A server on a Unix socket, a new one in place of one on which nobody listens any more.

    Raises:
        FileExistsError: there is something else than a socket.
        OSError: another server listens there, or no socket can be made.
    """
    _clear(path)
    try:
        return UnixServer(str(path), _answerer(service))  # type: ignore[arg-type]
    except OSError as error:
        why = error.strerror or str(error)
        raise OSError(error.errno, f"cannot listen on {path}: {why}; give another path for the socket") from error


def _clear(path: Path) -> None:
    """Remove a socket that a server left behind; whatever else is there stays, and is an error."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        # Nothing is there, or nothing can be: making the socket tells.
        return
    if not stat.S_ISSOCK(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a symbolic link" if stat.S_ISLNK(mode) else "a file"
        raise FileExistsError(
            errno.EEXIST, f"{path} is {kind}, not a socket: it stays as it is; give another path for the socket"
        )
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except PermissionError as error:
            advice = "give another path for the socket"
            raise PermissionError(error.errno, f"{path} is a socket of another user: {advice}") from error
        except OSError:
            # Busy, or of another kind: somebody has it.
            pass
    raise OSError(
        errno.EADDRINUSE, f"another server listens on {path}: end that one or give another path for the socket"
    )


def _answerer(service: Service | Answerer) -> Answerer:
    return partial(Handler, service) if isinstance(service, Service) else service


class Fresh(NamedTuple):
    """What a world is made from."""

    snapshot: Path
    toolset: dict[str, Tool]


def case(seed: int, level: int, employee_id: str | None = None, role: str = "employee") -> Case:
    """A fresh world for one person (None for somebody), with the API in one spelling.

    Raises:
        ValueError: the seed is none that an episode can have.
    """
    if not 0 <= seed <= _LAST_SEED:
        raise ValueError(f"expected a seed from 0 to {_LAST_SEED}, got {seed}")
    person = {} if employee_id is None else {"employee_id": employee_id}
    patch = {"session": {1: {"role": role, **person}}, "api_style": {1: {"seed": seed, "level": level}}}
    return Case(seed, level, patch, parse_iso(NOW))


def case_of(scenario_id: str, seed: int = 0, **settings: Any) -> Case:
    """What an episode of a scenario begins with.

    Args:
        scenario_id: its id, or the path of its file.
        seed: of the episode.
        settings: ``obfuscate`` and ``api_seed``, as for `gymnasium.make`.

    Raises:
        ScenarioError: there is no such scenario.
        ValueError: a setting has a wrong value.
    """
    from agentgym.domain import checked_settings
    from agentgym.envs.hr.env import DOMAIN, prepare
    from agentgym.loading import load_scenario

    scenario = prepare(load_scenario(scenario_id, DOMAIN), seed, checked_settings(DOMAIN, settings))
    api = scenario.domain["api"]
    return Case(api["seed"], api["obfuscate"], scenario.initial_state.patch, scenario.now)


def embedded(what: Case) -> Service:
    """The API over a world in this process.

    Raises:
        ValueError: the level is not in 0..3, or there is no such person or role.
    """
    from agentgym.envs.hr.tools import TOOLS
    from agentgym.snapshot import snapshot_file

    try:
        return begin(what, Fresh(snapshot_file(Path(__file__).parent), {tool.name: tool for tool in TOOLS}))
    except sqlite3.IntegrityError as error:
        row = what.patch["session"][1]
        who = f"{row.get('employee_id')!r} and {row['role']!r}"
        raise ValueError(
            f"expected an employee and a role that there are, such as 'E1018' and 'hr_admin', got {who}"
        ) from error


def stand_alone(seed: int, level: int, employee_id: str | None = None, role: str = "employee") -> Service:
    """The API over a fresh world in this process; see `case` and `embedded`."""
    return embedded(case(seed, level, employee_id, role))


def _number(what: str, most: int) -> Callable[[str], int]:
    """Reads a whole number from 0 to *most*."""

    def read(text: str) -> int:
        # No more digits than that are made a number: Python refuses thousands of them.
        if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and int(text) <= most):
            shown = text if len(text) <= 40 else f"{text[:39]}…"
            raise argparse.ArgumentTypeError(f"expected a {what} from 0 to {most}, got {shown!r}")
        return int(text)

    return read


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agentgym.envs.hr.http_server", description="Serve the HR API.")
    parser.add_argument("--docker", action="store_true", help="over a world in a container, and from inside it")
    parser.add_argument("--scenario", metavar="ID", help="begin as an episode of this scenario does")
    parser.add_argument(
        "--seed", type=_number("seed", _LAST_SEED), help="what names, paths and formats are drawn from (0)"
    )
    parser.add_argument("--level", type=int, choices=LEVELS, help="how far they differ from the plain ones (0)")
    parser.add_argument("--as", dest="employee_id", help="employee id of the person for whom requests are made")
    parser.add_argument("--role", choices=ENUMS["role"], help="the role in which they are made (employee)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--port", type=_number("port", _LAST_PORT), default=0, help="TCP port on this machine, 0 for a free one"
    )
    where.add_argument("--socket", type=Path, metavar="PATH", help="a Unix socket in place of a port")
    return parser


def _case(given: argparse.Namespace) -> Case:
    if given.scenario is None:
        return case(given.seed or 0, given.level or 0, given.employee_id, given.role or "employee")
    if given.employee_id is not None or given.role is not None:
        raise ValueError("a scenario says for whom requests are made: leave out --as and --role")
    settings = {"api_seed": given.seed, "obfuscate": given.level}
    return case_of(given.scenario, **settings)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted or terminated."""
    parser = _parser()
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as ends:
        try:
            what = _case(given)
            service: Service | Answerer = embedded(what)
            if given.docker:
                from agentgym.envs.hr.http_docker import Contained

                service = ends.enter_context(Contained(what))
            server = unix_server(service, given.socket) if given.socket else tcp_server(service, given.port)
        except OSError as error:
            parser.error(str(error) if error.filename or not error.strerror else error.strerror)
        except (ValueError, AgentGymError) as error:
            parser.error(str(error))
        ends.callback(server.server_close)
        where = server.socket.getsockname()
        place = {"socket": where} if given.socket else {"address": f"http://{where[0]}:{where[1]}"}
        sys.stdout.write(json.dumps({**place, "document": DOCUMENT}) + "\n")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
