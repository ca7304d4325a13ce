"""The HR API as a real HTTP server, for any client: over a fresh world here, or over one in a container.

    python -m agentgym.envs.hr.http_server --seed 7 --level 2 --port 8080 --as E1042 --role manager
    python -m agentgym.envs.hr.http_server --docker --scenario hr/access-rights-001 --socket /tmp/hr.sock

It answers the same bytes as the `http_request` tool of an episode. With ``--scenario`` it is the world and the API that
an episode of that scenario begins with; what is done over HTTP counts in no episode.
"""

from __future__ import annotations

import argparse
import json
import signal
import socketserver
import sqlite3
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

    def server_close(self) -> None:
        """Close it and remove the socket."""
        super().server_close()
        Path(str(self.server_address)).unlink(missing_ok=True)


def tcp_server(service: Service | Answerer, port: int = 0, host: str = "127.0.0.1") -> TcpServer:
    """A server on a TCP port, 0 for a free one; ``serve_forever`` and ``shutdown`` are its own."""
    return TcpServer((host, port), _answerer(service))  # type: ignore[arg-type]


def unix_server(service: Service | Answerer, path: Path) -> UnixServer:
    """A server on a Unix socket, a new one in place of one that is there."""
    path.unlink(missing_ok=True)
    return UnixServer(str(path), _answerer(service))  # type: ignore[arg-type]


def _answerer(service: Service | Answerer) -> Answerer:
    return partial(Handler, service) if isinstance(service, Service) else service


class Fresh(NamedTuple):
    """What a world is made from."""

    snapshot: Path
    toolset: dict[str, Tool]


def case(seed: int, level: int, employee_id: str | None = None, role: str = "employee") -> Case:
    """A fresh world for one person (None for somebody), with the API in one spelling."""
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


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to {_LAST_PORT}, got {text!r}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agentgym.envs.hr.http_server", description="Serve the HR API.")
    parser.add_argument("--docker", action="store_true", help="over a world in a container, and from inside it")
    parser.add_argument("--scenario", metavar="ID", help="begin as an episode of this scenario does")
    parser.add_argument("--seed", type=int, help="what names, paths and formats are drawn from (0)")
    parser.add_argument("--level", type=int, choices=LEVELS, help="how far they differ from the plain ones (0)")
    parser.add_argument("--as", dest="employee_id", help="employee id of the person for whom requests are made")
    parser.add_argument("--role", choices=ENUMS["role"], help="the role in which they are made (employee)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--port", type=_port, default=0, help="TCP port on this machine, 0 for a free one")
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
        except (ValueError, OSError, AgentGymError) as error:
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
