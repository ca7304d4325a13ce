"""Isolation and life cycle: what runs beside the world in its container reaches neither gold, score nor network."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from agentgym.backends import engine
from agentgym.backends.docker import Docker
from agentgym.env import ToolEnv
from agentgym.gold import GoldRunner
from agentgym.scenario import Scenario
from agentgym.text import dumps
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject

REQUIRED = "AGENTGYM_REQUIRE_DOCKER"
"""Environment variable: "1" makes a missing engine a failure of these checks."""

_CANARY = r"agentgym:[0-9a-f]{32}"
_WITHIN_S = 15.0

Test = Callable[[Subject], Finding]


def _needs_engine(function: Test) -> Test:
    """Do not run the check where there is no engine, unless one is required."""

    @wraps(function)
    def run(subject: Subject) -> Finding:
        reason = engine.unavailable()
        if reason and os.environ.get(REQUIRED) == "1":
            return Finding("no engine", [f"{REQUIRED}=1, and {reason}"])
        return Finding("", skipped="no engine") if reason else function(subject)

    return run


@contextmanager
def _contained(subject: Subject) -> Iterator[ToolEnv]:
    env = subject.make(backend="docker")
    try:
        yield env
    finally:
        env.close()


def _world(env: ToolEnv) -> Docker:
    world = env._world()
    if not isinstance(world, Docker):
        raise TypeError(f"expected a world in a container, got {type(world).__name__}")
    return world


def _name(env: ToolEnv) -> str:
    container = _world(env).container
    return container.name if container is not None else ""


def _inside(env: ToolEnv, script: str, detach: bool = False, control: dict[str, str] | None = None) -> str:
    """Run Python in the container of *env*, as the user of its server, and return what it prints."""
    api = engine.client()
    made = api.exec_create(_name(env), ["python3", "-c", script], environment=control)
    output = api.exec_start(made["Id"], detach=detach)
    return "" if detach else bytes(output).decode("utf-8", "replace")


def _finish(env: ToolEnv, scenario: Scenario, plan: int = 0) -> dict[str, Any]:
    """Take the rest of a gold plan of the episode that has just begun and return the last info."""
    runner = GoldRunner(scenario, plan)
    info: dict[str, Any] = {}
    action = runner.next({"role": "task", "name": "", "content": dumps(scenario.user.opening), "notices": "[]"})
    while action is not None:
        observation, _, terminated, truncated, info = env.step(action)
        action = None if terminated or truncated else runner.next(observation)
    return info


_SEARCH = f"""
import os, re
pattern = re.compile(rb"{_CANARY}")
places, hits = 0, []
for top, folders, files in os.walk("/"):
    if top.startswith("/sys"):
        folders.clear()
        continue
    for name in files:
        path = os.path.join(top, name)
        if top.startswith("/proc") and name not in ("environ", "cmdline", "comm", "mountinfo", "maps", "mem"):
            continue
        try:
            with open(path, "rb") as file:
                data = file.read(1 << 24) if not top.startswith("/dev") else b""
        except OSError:
            continue
        places += 1
        if pattern.search(data):
            hits.append(path)
print(places, hits, [name for name, value in os.environ.items() if pattern.search(value.encode())])
"""


@check("V26", "oracle out of reach")
@_needs_engine
def out_of_reach(subject: Subject) -> Finding:
    """No canary in the container's files and processes, in the image's layers, or in what an agent is shown."""
    finding, shown = Finding(), []
    with _contained(subject) as env:
        for scenario in subject.curated:
            played = subject.gold(scenario, 0, env=env)
            shown.append(dumps([played.observations, played.infos]))
            env.reset(seed=0, options={"scenario": scenario})
            for action in ({"name": "no_such_tool"}, "?", {"name": "finish", "arguments": {"outcome": "lost"}}):
                shown.append(dumps(env.step(action)[0]))
        env.reset(seed=0, options={"scenario": subject.curated[0]})
        places, _, found = _inside(env, _SEARCH).strip().partition(" ")
        if "agentgym_control" not in _inside(env, _SEARCH, control={"agentgym_control": "agentgym:" + "0" * 32}):
            finding.failures.append("the search does not find what is there")
        if found != "[] []":
            finding.failures.append(f"the search in the container found {found[:300]}")
        image = engine.client().inspect_container(_name(env))["Image"]
    texts = [scenario.canary for scenario in subject.curated]
    finding.failures += [f"an agent was shown the canary {c}" for c in texts if any(c in text for text in shown)]
    size = 0
    tail = b""
    pattern = re.compile(_CANARY.encode())
    for piece in engine.client().get_image(image):
        size += len(piece)
        if pattern.search(tail + piece):
            finding.failures.append("a layer of the image holds a canary")
            break
        tail = piece[-64:]
    finding.figure = f"{places} files, {size >> 20} MiB of layers, {len(shown)} texts"
    if int(places) < 100:
        finding.failures.append(f"only {places} files were searched")
    return finding


_VANDAL = """
import ctypes, glob, os, sqlite3
def attempt(name, act):
    try:
        act()
    except BaseException:
        return
    print(name)
def put(path, text="x"):
    with open(path, "a") as file:
        file.write(text)
attempt("verdict", lambda: put("/opt/agentgym/verdict.json", '{"success": true}'))
attempt("server", lambda: put("/opt/agentgym/agentgym/server.py", "raise SystemExit"))
attempt("tools", lambda: [put(p) for p in glob.glob("/opt/agentgym/agentgym/envs/*/*.py")] and None)
attempt("stdlib", lambda: put(json_path()))
def json_path():
    import json
    return json.__file__
attempt("shadow", lambda: put("/opt/agentgym/sqlite3.py"))
attempt("database", lambda: sqlite3.connect("/opt/agentgym/snapshot.db").execute("CREATE TABLE x (y)"))
attempt("symlink", lambda: os.symlink("/tmp", "/opt/agentgym/envs"))
attempt("unlink", lambda: os.unlink("/opt/agentgym/snapshot.db"))
attempt("memory", lambda: open("/proc/1/mem", "r+b").close())
attempt("environment", lambda: open("/proc/1/environ", "rb").read())
attempt("trace", lambda: 1 / (ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0))
attempt("mount", lambda: 1 / (ctypes.CDLL(None).mount(b"/tmp", b"/opt", None, 4096, None) == 0))
attempt("root", lambda: os.setuid(0))
attempt("descriptors", lambda: os.listdir("/proc/1/fd"))
attempt("socket", lambda: os.unlink("/run/agentgym/world"))
put("/tmp/verdict.json", '{"success": true, "reward": 1.0}')
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            put("/tmp/later", "w" * 1000)
        except OSError:
            pass
"""


@check("V27", "score not writable", nightly=True)
@_needs_engine
def score_not_writable(subject: Subject) -> Finding:
    """Code beside the world changes nothing that counts; a world changed past its tools is tamper."""
    finding, tried, caught = Finding(), 0, 0
    with _contained(subject) as env:
        for scenario in subject.curated:
            env.reset(seed=0, options={"scenario": scenario})
            env.step({"name": "no_such_tool", "arguments": {}})
            made = _inside(env, f"{_VANDAL}").split()
            tried += 1
            finding.failures += [f"{scenario.id}: code in the container could do: {name}" for name in made]
            _, reward, _, _, info = env.step({"name": "finish", "arguments": {"outcome": "done"}})
            if info["success"] or reward > 0:
                finding.failures.append(f"{scenario.id}: an empty episode succeeded beside a vandal")
            env.reset(seed=0, options={"scenario": scenario})
            caught += _changed_past_the_tools(env, scenario, finding)
    finding.figure = f"{tried} vandals, {caught} changes caught"
    return finding


def _changed_past_the_tools(env: ToolEnv, scenario: Scenario, finding: Finding) -> bool:
    """Delete a row in the container alone, then play gold: tamper, and no success."""
    world = _world(env)
    tables = world.reading().execute("SELECT name FROM sqlite_schema WHERE name = '_counters'").fetchall()
    name = tables[0][0]
    key = world.reading().execute(f"SELECT name FROM {name} ORDER BY name LIMIT 1").fetchall()[0][0]
    world.hash()
    if world.container is not None:
        world.container.ask([["apply", [[name, True, [[key, {"value": 10**9}]]]], "event"]])
    info = _finish(env, scenario)
    if not info.get("tamper") or info.get("success") or env.episode_return > 0:
        finding.failures.append(f"{scenario.id}: a row changed in the container alone was not noticed")
        return False
    return True


_CALL_OUT = """
import socket
targets = {targets!r}
for family, address in targets:
    try:
        with socket.socket(getattr(socket, family)) as door:
            door.settimeout(2)
            door.connect(tuple(address) if isinstance(address, list) else address)
        print(address)
    except OSError:
        pass
try:
    print(socket.getaddrinfo("example.com", 80)[0][4])
except OSError:
    pass
print("interfaces", sorted(name for _, name in socket.if_nameindex()))
"""


@check("V28", "no network")
@_needs_engine
def no_network(subject: Subject) -> Finding:
    """No route out of the container: not to the host's loopback, its addresses, its sockets, a gateway or a name."""
    finding = Finding()
    listener = socket.create_server(("0.0.0.0", 0))
    hidden = socket.socket(socket.AF_UNIX)
    hidden.bind(f"\0agentgym-validate-{os.getpid()}")
    hidden.listen()
    port = listener.getsockname()[1]
    own = {"127.0.0.1", "172.17.0.1", "192.168.65.2", *_addresses()}
    targets: list[tuple[str, Any]] = [("AF_INET", [address, port]) for address in sorted(own)]
    targets += [("AF_INET", ["192.0.2.1", 80]), ("AF_INET", ["169.254.169.254", 80]), ("AF_INET6", ["::1", port])]
    targets += [("AF_UNIX", f"\0agentgym-validate-{os.getpid()}"), ("AF_UNIX", "/var/run/docker.sock")]
    try:
        with _contained(subject) as env:
            env.reset(seed=0, options={"scenario": subject.curated[0]})
            lines = _inside(env, _CALL_OUT.format(targets=targets)).splitlines()
    finally:
        listener.close()
        hidden.close()
    if lines[-1:] != ["interfaces ['lo']"]:
        finding.failures.append(f"expected the loopback alone, the container has {lines[-1:]}")
    finding.failures += [f"the container reaches {line}" for line in lines[:-1]]
    finding.figure = f"{len(targets) + 1} ways out tried"
    return finding


def _addresses() -> list[str]:
    try:
        return [str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    except OSError:
        return []


@check("V29", "honeypot", nightly=True)
@_needs_engine
def honeypot(subject: Subject) -> Finding:
    """Opening the decoy in the container is tamper; gold never is."""
    finding, golds = Finding(), 0
    with _contained(subject) as env:
        for scenario in subject.curated:
            for plan in range(len(scenario.gold)):
                played = subject.gold(scenario, plan, env=env)
                golds += 1
                if played.infos[-1]["tamper"] or not played.infos[-1]["success"]:
                    finding.failures.append(f"{scenario.id}: gold plan {plan} counts as tampering or fails")
            env.reset(seed=0, options={"scenario": scenario})
            _world(env).hash()
            _inside(env, "open('/opt/agentgym/gold.json').read()")
            info = _finish(env, scenario)
            if not info.get("tamper") or info.get("success"):
                finding.failures.append(f"{scenario.id}: nobody noticed that the decoy was opened")
    finding.figure = f"{golds} gold plans, {len(subject.curated)} thieves"
    return finding


@_needs_engine
def restored(subject: Subject) -> Finding:
    """The part of V32 that needs a container: after anything a reset gives the pristine world."""
    finding, scenario = Finding(), subject.curated[0]
    plain = subject.make(backend="embedded")
    pristine = _start(plain, scenario)
    plain.close()
    with _contained(subject) as env:
        ways = _ways_to_spoil(env)
        for name, spoil in ways.items():
            _start(env, scenario)
            spoil()
            if _start(env, scenario) != pristine:
                finding.failures.append(f"docker: the world is not pristine after: {name}")
        if not _finish(env, scenario)["success"]:
            finding.failures.append("docker: gold fails after all that")
    finding.figure = f"{len(ways)} ways"
    return finding


def _start(env: ToolEnv, scenario: Scenario) -> str:
    env.reset(seed=0, options={"scenario": scenario})
    return env.state_hash


def _ways_to_spoil(env: ToolEnv) -> dict[str, Callable[[], object]]:
    def ask(*operation: Any) -> object:
        container = _world(env).container
        return None if container is None else container.ask([list(operation)])

    return {
        "rows changed past the tools": lambda: ask("apply", [["_counters", True, [["x", {"value": 1}]]]], "event"),
        "a vandal, and a writer left behind": lambda: _inside(env, _VANDAL),
        "the server killed by code beside it": lambda: _inside(env, "import os; os.kill(1, 15)"),
        "the container killed": lambda: engine.client().kill(_name(env)),
        "the container removed": lambda: engine.remove(_name(env)),
        "the temporary folder filled": lambda: _inside(env, "open('/tmp/full', 'wb').write(bytes(1 << 30))"),
        "a fork bomb": lambda: _inside(env, "import os\nwhile True:\n    os.fork()", detach=True),
        "a load of another state": lambda: env._world().load(env._world().save()),
    }


_OWNER_SCRIPT = """
import sys
import gymnasium as gym
import agentgym
env = gym.make(sys.argv[1], split="test", backend="docker", disable_env_checker=True)
print("started", flush=True)
while True:
    env.reset(seed=0, options={"scenario": sys.argv[2]})
    print("playing", flush=True)
    for _ in range(3):
        env.step("Hello?")
"""


@check("V33", "no leaks", nightly=True)
@_needs_engine
def no_leaks(subject: Subject) -> Finding:
    """Close, signals and kills at several moments leave no container, volume, process or folder behind."""
    finding = Finding()
    api = engine.client()
    before = {entry["Name"] for entry in api.volumes()["Volumes"] or []}
    threads = threading.active_count()
    plain = subject.make(backend="embedded")
    for seed in range(200):
        plain.reset(seed=seed, options={"scenario": subject.curated[0]})
        plain.close()
    for _ in range(10):
        with _contained(subject) as env:
            env.reset(seed=0, options={"scenario": subject.curated[0]})
    if threading.active_count() > threads:
        finding.failures.append(f"{threading.active_count() - threads} threads are left")
    pids = [os.getpid()]
    with tempfile.TemporaryDirectory(prefix="v33-") as folder:
        for number, word, pause in (
            (2, "playing", 0.1),
            (15, "playing", 0.1),
            (9, "playing", 0.1),
            (9, "started", 0.4),
        ):
            pids.append(_killed(subject, folder, number, word, pause))
        until = time.monotonic() + _WITHIN_S
        while (left := _left(pids, folder)) and time.monotonic() < until:
            time.sleep(0.5)
    finding.failures += left
    finding.failures += [f"volume {e['Name']}" for e in api.volumes()["Volumes"] or [] if e["Name"] not in before]
    finding.figure = f"210 closes, {len(pids) - 1} signals"
    return finding


def _killed(subject: Subject, folder: str, number: int, word: str, pause: float) -> int:
    """Start an owner of a container, send it a signal some seconds after it said *word*, and return its id."""
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER_SCRIPT, subject.env_id, subject.curated[0].id],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": folder, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
    ) as owner:
        if owner.stdout is not None:
            while (line := owner.stdout.readline()) and line.strip() != word:
                pass
        time.sleep(pause)
        owner.send_signal(number)
    return owner.pid


def _left(pids: list[int], folder: str) -> list[str]:
    found = [f"folder {name}" for name in os.listdir(folder)]
    for entry in engine.client().containers(all=True, filters={"label": engine.OWNER}):
        owner = entry["Labels"][engine.OWNER].partition(":")[0]
        if owner in map(str, pids):
            found.append(f"container {entry['Names'][0]} ({entry['Status']})")
    return found
