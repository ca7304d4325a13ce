"""The HR domain in a container: the same bytes, and its API answers real clients of HTTP from inside."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import gymnasium as gym
import pytest
from hostile_domain import provide
from hr_served import STYLE, ask, serving
from test_hr_docs import fits
from test_hr_http import NO_REQUESTS, call, raw

from agentgym.agent import Agent
from agentgym.backends import NAMES, engine, images
from agentgym.backends.container import TRANSPORT
from agentgym.env import ToolEnv
from agentgym.envs.hr.asking import request
from agentgym.envs.hr.endpoints import ENDPOINTS
from agentgym.envs.hr.env import DOMAIN
from agentgym.envs.hr.http_contained import MODULE, start_message
from agentgym.envs.hr.http_docker import MOST_CLIENTS, Contained
from agentgym.envs.hr.http_server import case, case_of, embedded, stand_alone, tcp_server
from agentgym.envs.hr.http_service import LARGEST_BODY
from agentgym.envs.hr.openapi import openapi
from agentgym.envs.hr.style import LEVELS, style
from agentgym.errors import BackendError
from agentgym.gold import GoldRunner
from agentgym.loading import load_curated
from agentgym.relay import Relay
from agentgym.runner_agents import make_agent
from agentgym.scenario import Scenario
from agentgym.server import frame, receive
from agentgym.snapshot import fingerprint

CURATED = list(load_curated(DOMAIN).values())
FIRST = {scenario.family: scenario.id for scenario in reversed(CURATED)}
CASE = case(7, 2, role="hr_admin")
SILENT = ("http_request", "list_docs", "read_docs")
JUDGE = ("env.py", "presentation.py", "generator.py", "gen_", "policy.md", "http_server.py", "http_docker.py")


@pytest.fixture(scope="module")
def image(engine: None) -> None:
    """The image of the HR desk."""
    provide(DOMAIN)


def docker_test(function: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that needs an engine with the image; the others of this module need none."""
    marked: Callable[..., None] = pytest.mark.docker(pytest.mark.usefixtures("image")(function))
    return marked


# What is in the image.


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the build of the image gets."""
    folder = tmp_path_factory.mktemp("image")
    with tarfile.open(fileobj=images.context(images.spec(DOMAIN))) as tar:
        tar.extractall(folder, filter="data")
    return folder / "world" / "opt" / "agentgym"


def test_the_image_holds_the_world_side_and_nothing_of_the_judge(home: Path) -> None:
    found = {str(path.relative_to(home)) for path in home.rglob("*.py")}
    core = {f"agentgym/{name}.py" for name in (*images.CORE, "relay", "text", "__init__", "backends/__init__")}
    other = {name for name in found if not name.startswith("agentgym/envs/")}
    assert other == core | {"serve.py"}
    own = {path.name for path in (home / "agentgym" / "envs" / "hr").iterdir()}
    assert not [name for name in own if name.startswith(JUDGE)]
    everything = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file()).decode("latin-1")
    assert not re.search(r"agentgym:[0-9a-f]{32}", everything)
    assert not [scenario.id for scenario in CURATED if scenario.id in everything or scenario.canary in everything]


def test_every_module_of_the_image_imports_in_a_bare_python(home: Path) -> None:
    names = [
        str(path.relative_to(home).with_suffix("")).replace("/", ".").removesuffix(".__init__")
        for path in sorted(home.rglob("*.py"))
        if path.name != "serve.py"
    ]
    script = (
        "import importlib, sys; sys.path.insert(0, sys.argv[1]); [importlib.import_module(n) for n in sys.argv[2:]]"
    )
    command = [sys.executable, "-I", "-S", "-B", "-c", script, str(home), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(names) > 40


def test_the_service_of_the_image_speaks_over_standard_input_in_any_python(home: Path) -> None:
    command = [sys.executable, "-I", "-S", "-B", str(home / "serve.py"), "-", MODULE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        out, back = process.stdin, process.stdout

        def read(count: int) -> bytes:
            data = back.read(count)
            if len(data) < count:
                raise EOFError
            return data

        def write(data: bytes) -> None:
            out.write(data)
            out.flush()

        write(frame({"do": [start_message(CASE)], "seconds": 10}))
        assert receive(read)[0] == {"gave": [None]}
        relay = Relay(read, write, None)
        thread = threading.Thread(target=relay.run)
        thread.start()
        stream = relay.open()
        stream.sendall(f"GET {STYLE.routes['get_me'].path({})} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: stream.recv(1000), b""))
        out.close()
        thread.join(10)
    wanted = stand_alone(7, 2, role="hr_admin").answer("GET", STYLE.routes["get_me"].path({}), {}, None)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == wanted.body
    assert process.returncode == 0


# The same bytes.


class Record(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps the bytes of everything that reset and step give."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.kept: list[bytes] = []

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        found = self.env.reset(**arguments)
        self.kept.append(json.dumps(found).encode())
        return found

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        found = self.env.step(action)
        self.kept.append(json.dumps(found).encode())
        return found

    @property
    def base(self) -> ToolEnv:
        return cast("ToolEnv", self.env.unwrapped)

    def ends(self) -> tuple[list[bytes], str, dict[str, Any]]:
        """All bytes since the last time, what the judge's world holds, and the verdict."""
        assert self.base.verdict is not None
        kept, self.kept = self.kept, []
        return kept, fingerprint(self.base._world().reading()), self.base.verdict.to_json()


@pytest.fixture(scope="module", params=["http", "typed"])
def both(request: pytest.FixtureRequest, image: None) -> Iterator[list[Record]]:
    envs = [Record(gym.make("HR-v0", split="test", backend=name, tools=request.param)) for name in NAMES]
    yield envs
    for env in envs:
        env.close()


@pytest.mark.docker
@pytest.mark.parametrize(
    "scenario",
    [pytest.param(s, id=s.id, marks=[] if s.id in FIRST.values() else pytest.mark.slow) for s in CURATED],
)
def test_the_gold_plans_of_a_scenario_give_the_same_bytes_in_a_container(
    both: list[Record], scenario: Scenario
) -> None:
    for plan in range(len(scenario.gold)):
        found = []
        for env in both:
            observation, _ = env.reset(seed=plan, options={"scenario": scenario})
            runner = GoldRunner(scenario, plan, env.base.presentation)
            while (action := runner.next(observation)) is not None:
                observation, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    break
            found.append(env.ends())
            assert env.base.verdict is not None
            assert env.base.verdict.success
        assert found[0] == found[1]


@pytest.mark.docker
@pytest.mark.parametrize("episodes", [range(16), pytest.param(range(16, 120), marks=pytest.mark.slow)], ids=str)
def test_random_episodes_give_the_same_bytes_in_a_container(both: list[Record], episodes: range) -> None:
    agents: list[Agent] = [make_agent("random"), make_agent("spammer"), make_agent("read-only")]
    for number in episodes:
        found = []
        for env in both:
            options: dict[str, Any] = {"obfuscate": number % 4, "api_seed": number}
            if number % 2:
                options["scenario"] = CURATED[number % len(CURATED)].id
            agents[0 if number % 8 else number % 3].run(env, seed=number, options=options)
            found.append(env.ends())
        assert found[0] == found[1], f"episode {number}"


# Real clients.


@pytest.fixture(scope="module")
def contained(image: None) -> Iterator[Contained]:
    with Contained(CASE) as made:
        yield made


@pytest.fixture(scope="module")
def port(contained: Contained) -> Iterator[int]:
    with serving(tcp_server(contained)) as server:
        yield server.server_address[1]


@pytest.fixture(scope="module")
def other(image: None) -> Iterator[int]:
    """The port of the same API over a world of this process."""
    with serving(tcp_server(embedded(CASE))) as server:
        yield server.server_address[1]


@docker_test
def test_a_client_reads_and_writes_in_the_container_as_it_does_without(port: int, other: int) -> None:
    """Whole answers, heads included; first what changes the world, then everything that can be listed."""
    people = call(port, "list_employees", page=1, page_size=50)
    assert people == call(other, "list_employees", page=1, page_size=50)
    someone = next(person for person in people["items"] if person["status"] == "active")
    person = call(port, "get_employee", employee_id=someone["employee_id"])
    assert person == call(other, "get_employee", employee_id=someone["employee_id"])
    change = {"employee_id": person["employee_id"], "title": "Prüferin 猫", "version": person["version"]}
    requests = [request(STYLE, "update_employee", change)] * 2
    requests += [request(STYLE, e.tool, {}) for e in ENDPOINTS if e.many and not any(p.required for p in e.parameters)]
    assert len(requests) > 6
    statuses = []
    for asked in requests:
        arguments = (asked.method, asked.path, asked.headers, None if asked.body is None else json.dumps(asked.body))
        found = ask(port, *arguments)
        assert found == ask(other, *arguments)
        statuses.append(found[0])
    assert statuses[:2] == [200, 412]
    assert set(statuses[2:]) == {200}


@docker_test
@pytest.mark.parametrize(("sent", "status"), NO_REQUESTS)
def test_what_is_no_request_is_answered_as_it_is_without_a_container(
    port: int, other: int, sent: bytes, status: int
) -> None:
    answer = raw(port, sent)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer == raw(other, sent)


@docker_test
def test_http_gives_what_an_episode_of_the_scenario_is_shown_by_its_tool() -> None:
    """The requests of gold, up to the first word with the user, sent by a client to a container."""
    env = gym.make("HR-v0", split="test", backend="docker")
    sent = 0
    for scenario in [s for s in CURATED if s.id in FIRST.values()][:6]:
        observation, _ = env.reset(seed=0, options={"scenario": scenario, "obfuscate": 3})
        base = cast("ToolEnv", env.unwrapped)
        runner = GoldRunner(scenario, 0, base.presentation)
        with Contained(case_of(scenario.id, obfuscate=3)) as made, serving(tcp_server(made)) as server:
            while (action := runner.next(observation)) is not None and action["name"] in SILENT:
                observation = env.step(action)[0]
                if action["name"] != "http_request":
                    continue
                shown, asked = json.loads(observation["content"]), {"query": None, **action["arguments"]}
                target = asked["path"] + (f"?{urlencode(asked['query'])}" if asked["query"] else "")
                body = None if asked.get("body") is None else json.dumps(asked["body"])
                status, headers, content = ask(
                    server.server_address[1], asked["method"], target, asked.get("headers"), body
                )
                assert (status, json.loads(content)) == (shown["status"], shown["body"])
                assert content == json.dumps(shown["body"], ensure_ascii=False).encode()
                assert shown["headers"].items() <= headers.items()
                sent += 1
    env.close()
    assert sent > 10


@docker_test
@pytest.mark.parametrize("level", LEVELS)
def test_the_openapi_document_of_the_container_is_true_of_its_answers(level: int) -> None:
    style_ = style(30 + level, level)
    with Contained(case(30 + level, level, role="hr_admin")) as made, serving(tcp_server(made)) as server:
        where = server.server_address[1]
        document = json.loads(ask(where, "GET", "/openapi.json")[2])
        assert document == json.loads(json.dumps(openapi(style_)))
        tried = 0
        for endpoint in ENDPOINTS:
            if endpoint.writes or any(parameter.required for parameter in endpoint.parameters):
                continue
            asked = request(style_, endpoint.tool, {})
            status, _, body = ask(where, asked.method, asked.path, asked.headers)
            said = document["paths"][asked.path][asked.method.lower()]["responses"][str(status)]
            assert status == 200
            assert fits(document, said["content"]["application/json"]["schema"], json.loads(body))
            tried += 1
    assert tried > 6


# Bad clients.


def timed_ask(port: int) -> float:
    """Seconds that a good client waits."""
    start = time.monotonic()
    assert ask(port, "GET", STYLE.routes["get_me"].path({}))[0] == 200
    return time.monotonic() - start


@docker_test
def test_clients_that_hang_keep_nobody_waiting(port: int) -> None:
    starts = [b"", b"GET / HT", b"GET / HTTP/1.1\r\nx: ", b"POST / HTTP/1.1\r\nContent-Length: 900000\r\n\r\n[1,"]
    hung = []
    for number in range(MOST_CLIENTS * 3 // 4):
        hung.append(socket.create_connection(("127.0.0.1", port)))
        hung[-1].sendall(starts[number % len(starts)])
    try:
        assert max(timed_ask(port) for _ in range(5)) < 5
    finally:
        for connection in hung:
            connection.close()
    # Their places are free again.
    assert timed_ask(port) < 5


@docker_test
def test_a_client_that_does_not_read_its_answers_keeps_nobody_waiting(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as greedy:
        greedy.settimeout(2)
        asked = b"GET /openapi.json HTTP/1.1\r\n\r\n"
        try:
            greedy.sendall(asked * 20_000)
        except TimeoutError:
            pass
        assert max(timed_ask(port) for _ in range(5)) < 5


@docker_test
def test_half_a_request_and_a_hang_up_leaves_no_trace(port: int) -> None:
    for sent in (b"", b"GET", b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n123", b"\x00" * 100):
        for reset in (False, True):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(sent)
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            connection.close()
    assert timed_ask(port) < 5
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n123")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


@docker_test
def test_more_clients_than_there_are_places_are_all_answered(port: int) -> None:
    path = STYLE.routes["list_leave_types"].path({})
    wanted = ask(port, "GET", path)[2]
    seen: list[bytes] = []
    threads = [threading.Thread(target=lambda: seen.append(ask(port, "GET", path)[2])) for _ in range(3 * MOST_CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [wanted] * len(threads)


@docker_test
def test_the_largest_bodies_at_once_are_answered_and_a_larger_one_is_refused_after_it_was_sent(port: int) -> None:
    path = request(STYLE, "create_leave", {"employee_id": "E0", "leave_type": "X", "from_date": "2026-04-01",
                                           "to_date": "2026-04-01"}).path  # fmt: skip
    large = b"[" + b"{}," * ((LARGEST_BODY - 4) // 3) + b"{}]"
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(ask(port, "POST", path, None, large)[0])) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 24
    assert set(seen) <= {400, 422}
    assert ask(port, "POST", path, None, large + b" " * LARGEST_BODY)[0] == 413
    deep = b"[" * 500_000
    assert ask(port, "POST", path, None, deep)[0] == 400


# The container.


@docker_test
def test_the_container_of_a_server_has_no_network_and_no_rights(contained: Contained) -> None:
    told = engine.client().inspect_container(contained.container.name)
    config = told["HostConfig"]
    assert config["NetworkMode"] == "none"
    assert config["ReadonlyRootfs"]
    assert config["CapDrop"] == ["ALL"]
    assert config["PortBindings"] in (None, {})
    assert [mount["RW"] for mount in told["Mounts"]] == [False]
    assert told["Config"]["User"] == "65534:65534"
    script = "print(open('/proc/net/tcp').read().count('\\n'), open('/proc/net/unix').read().count(' 00010000 '))"
    made = engine.client().exec_create(contained.container.name, ["python3", "-c", script])
    assert engine.client().exec_start(made["Id"]) == b"1 0\n", "something listens in the container"


def gone(name: str) -> bool:
    """Whether a container is gone within 10 s."""
    until = time.monotonic() + 10
    while engine.client().containers(all=True, filters={"name": name}):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


@docker_test
def test_a_container_that_is_lost_hangs_up_on_its_clients_and_a_closed_one_is_gone() -> None:
    with Contained(CASE) as made, serving(tcp_server(made)) as server:
        where = server.server_address[1]
        with socket.create_connection(("127.0.0.1", where), timeout=10) as waiting:
            waiting.sendall(b"GET / HT")
            timed_ask(where)
            engine.remove(made.container.name)
            assert waiting.recv(10) == b""
        with pytest.raises(ConnectionError):
            ask(where, "GET", "/")
    made.close()
    with Contained(CASE) as closed:
        name = closed.container.name
    assert gone(name)


@docker_test
def test_a_server_in_a_container_works_over_the_streams_of_the_engine(
    monkeypatch: pytest.MonkeyPatch, other: int
) -> None:
    monkeypatch.setenv(TRANSPORT, "stream")
    with Contained(CASE) as made, serving(tcp_server(made)) as server:
        where = server.server_address[1]
        assert ask(where, "GET", "/openapi.json") == ask(other, "GET", "/openapi.json")
        assert timed_ask(where) < 5


@docker_test
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_command_serves_from_a_container_until_it_ends(tmp_path: Path, number: int) -> None:
    path = tmp_path / "hr.sock"
    command = [sys.executable, "-m", "agentgym.envs.hr.http_server", "--docker", "--scenario", CURATED[0].id]
    with subprocess.Popen([*command, "--socket", str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"socket": str(path), "document": "/openapi.json"}
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        found = engine.client().containers(filters={"label": engine.OWNER})
        (name,) = [e["Names"][0] for e in found if e["Labels"][engine.OWNER].startswith(f"{process.pid}:")]
        process.send_signal(number)
    what = case_of(CURATED[0].id)
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == json.loads(json.dumps(openapi(style(what.seed, what.level))))
    assert gone(name.lstrip("/"))
    assert path.exists() == (number == signal.SIGKILL)


def test_the_command_says_what_it_cannot_do() -> None:
    nowhere = {**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    for arguments, text in (
        (["--scenario", "hr/nothing-001"], "hr/nothing-001: id: found no such scenario"),
        (["--scenario", CURATED[0].id, "--role", "manager"], "leave out --as and --role"),
        (["--docker"], "cannot reach the container engine"),
        (["--docker", "--as", "E1"], "such as 'E1018' and 'hr_admin', got 'E1' and 'employee'"),
    ):
        command = [sys.executable, "-m", "agentgym.envs.hr.http_server", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=nowhere)
        assert done.returncode == 2
        assert text in done.stderr
        assert "Traceback" not in done.stderr


def test_a_container_is_told_nothing_of_the_judge() -> None:
    for scenario in CURATED:
        told = json.dumps(start_message(case_of(scenario.id)))
        assert not [text for text in (scenario.id, scenario.canary, scenario.user.opening) if text in told]
        assert {"session", "api_style"} <= {table for table, *_ in json.loads(told)[3]}


@docker_test
def test_a_world_that_cannot_begin_is_told() -> None:
    with pytest.raises(BackendError, match="the container does not serve the HR API: IntegrityError"):
        Contained(case(7, 2, "E1"))
