"""Containers end with their owner, however it ends; nobody else's is touched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hostile_domain import HOSTILE, HostileEnv

from agentgym.backends import engine, images
from agentgym.backends.engine import HOST, OWNER, client, owner_labels
from agentgym.errors import ScenarioError

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("engine")]

VICTIM = Path(__file__).with_name("docker_victim.py")
WITHIN_S = 15.0


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts victims, each in a process group of its own, with a temporary folder that shows what they leave."""
    started: list[subprocess.Popen[str]] = []

    def begin(how: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(VICTIM), how],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "TMPDIR": str(short(tmp_path)), "AGENTGYM_CACHE": str(tmp_path)},
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    short(tmp_path).unlink()


def short(folder: Path) -> Path:
    """A socket's path may be 100 characters long."""
    link = Path("/tmp") / f"life-{os.getpid()}-{abs(hash(str(folder))) % 10**8}"
    if not link.is_symlink():
        link.symlink_to(folder)
    return link


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    while (line := process.stdout.readline()).strip() != word:
        assert line, f"the victim ended with {process.wait()}"


def left(pids: set[int], folder: Path) -> list[str]:
    """What processes that are gone have left: containers, folders of sockets, janitors."""
    found = []
    for entry in client().containers(all=True, filters={"label": OWNER}):
        if entry["Labels"][OWNER].partition(":")[0] in map(str, pids):
            found.append(f"container {entry['Names']} {entry['Status']}")
    found += [str(path) for path in folder.glob("agentgym-*")]
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command, told = (path / "cmdline").read_bytes(), (path / "environ").read_bytes()
        except OSError:
            continue
        if b"janitor.py" in command and str(short(folder)).encode() in told:
            found.append(f"process {path.name}")
    return found


def volumes() -> list[str]:
    return sorted(entry["Name"] for entry in client().volumes()["Volumes"] or [])


def assert_nothing_left(pids: set[int], folder: Path) -> None:
    until = time.monotonic() + WITHIN_S
    while (found := left(pids, folder)) and time.monotonic() < until:
        time.sleep(0.2)
    assert not found


@pytest.fixture
def foreigners(tmp_path: Path) -> Iterator[list[str]]:
    """Containers that are not ours to remove: somebody's, another machine's, and one of a process that lives."""
    image = images.ready(images.spec(HOSTILE))
    sleep = ["python3", "-c", "import time; time.sleep(3600)"]
    made = []
    for labels in (
        {},
        {OWNER: "1:1", HOST: "elsewhere"},
        owner_labels(),
        {OWNER: "no number", HOST: owner_labels()[HOST]},
    ):
        alone = client().create_host_config(network_mode="none")
        name = client().create_container(image, labels=labels, entrypoint=sleep, host_config=alone)["Id"]
        client().start(name)
        made.append(name)
    yield made
    for name in made:
        client().remove_container(name, force=True)


def assert_alive(names: list[str]) -> None:
    assert all(client().inspect_container(name)["State"]["Running"] for name in names)


def kill_at_random(
    start: Callable[[str], subprocess.Popen[str]], folder: Path, count: int, seed: int, group: bool
) -> None:
    stream = random.Random(seed)
    before, pids = volumes(), set()
    for number in range(count):
        process = start("fresh" if number % 2 else "warm")
        pids.add(process.pid)
        wait_for(process, "started")
        time.sleep(stream.uniform(0.0, 2.5))
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
    assert_nothing_left(pids, folder)
    assert volumes() == before


def test_owners_killed_at_random_moments_leave_nothing_and_touch_nobody(
    start: Callable[[str], subprocess.Popen[str]], tmp_path: Path, foreigners: list[str]
) -> None:
    kill_at_random(start, tmp_path, 8, seed=1, group=False)
    assert_alive(foreigners)


@pytest.mark.slow
def test_fifty_owners_killed_at_random_moments_leave_nothing(
    start: Callable[[str], subprocess.Popen[str]], tmp_path: Path, foreigners: list[str]
) -> None:
    kill_at_random(start, tmp_path, 25, seed=2, group=False)
    kill_at_random(start, tmp_path, 25, seed=3, group=True)
    assert_alive(foreigners)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_in_the_middle_of_a_call_leaves_nothing(
    start: Callable[[str], subprocess.Popen[str]], tmp_path: Path, number: signal.Signals
) -> None:
    process = start("hang")
    wait_for(process, "playing")
    time.sleep(0.3)
    os.killpg(process.pid, number)
    process.wait()
    assert_nothing_left({process.pid}, tmp_path)


def test_a_container_paused_when_its_owner_is_killed_is_removed_all_the_same(
    start: Callable[[str], subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = start("hang")
    wait_for(process, "playing")
    own = [
        entry["Id"]
        for entry in client().containers(filters={"label": OWNER})
        if entry["Labels"][OWNER].startswith(f"{process.pid}:")
    ]
    assert len(own) == 1
    client().pause(own[0])
    process.kill()
    process.wait()
    assert_nothing_left({process.pid}, tmp_path)


def test_containers_of_dead_owners_are_reaped_and_no_others(foreigners: list[str]) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    image = images.ready(images.spec(HOSTILE))
    labels = {OWNER: f"{dead.pid}:12345", HOST: owner_labels()[HOST]}
    name = f"agentgym-of-the-dead-{dead.pid}"
    client().create_container(image, ["-"], labels=labels, name=name)
    assert name in engine.reap()
    assert_alive(foreigners)
    assert f"/{name}" not in [entry["Names"][0] for entry in client().containers(all=True)]


def test_closing_ends_the_container_and_many_leave_nothing() -> None:
    env = HostileEnv(backend="docker")
    for _ in range(5):
        env.begin()
        env.close()
        env.close()
    env.begin()
    del env
    until = time.monotonic() + WITHIN_S
    mine = f"{os.getpid()}:"
    names: list[dict[str, Any]] = []
    while time.monotonic() < until:
        found = client().containers(all=True, filters={"label": OWNER})
        names = [entry for entry in found if entry["Labels"][OWNER].startswith(mine)]
        if not names:
            break
        time.sleep(0.2)
    assert not names


def test_an_exception_in_reset_leaves_a_container_that_serves_the_next() -> None:
    env = HostileEnv(backend="docker")
    env.begin()
    name = env.box().name
    with pytest.raises(ScenarioError, match=r"initial_state\.patch\.no_such_table: found no such table"):
        env.begin(initial_state={"patch": {"no_such_table": [{"id": 1}]}})
    pristine = env.begin()
    assert env.box().name == name
    assert pristine == hostile_hash()
    env.close()


def hostile_hash() -> str:
    env = HostileEnv(backend="embedded")
    try:
        return env.begin()
    finally:
        env.close()


def test_a_vector_environment_that_is_terminated_leaves_nothing() -> None:
    envs = gym.vector.AsyncVectorEnv(
        [lambda: gym.make("Refund-v0", split="test", backend="docker", info="lean") for _ in range(2)],
        shared_memory=False,
    )
    envs.reset(seed=[1, 2])
    pids = {process.pid for process in envs.processes if process.pid}
    envs.close(terminate=True)
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        names = client().containers(all=True, filters={"label": OWNER})
        if not [entry for entry in names if entry["Labels"][OWNER].partition(":")[0] in map(str, pids)]:
            return
        time.sleep(0.2)
    pytest.fail("containers of terminated workers are left")


def test_a_process_forked_in_mid_episode_goes_on_in_a_container_of_its_own() -> None:
    env = HostileEnv(backend="docker")
    env.begin()
    env.act("put", name="fig", value=8)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, env.act("get", name="fig")[0].encode() + env.box().name.encode())
            env.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    told = os.read(reader, 10_000).decode()
    os.close(reader)
    assert '"value": 8' in told
    assert env.box().name not in told
    assert '"value": 8' in env.act("get", name="fig")[0]
    env.close()


def test_two_suites_side_by_side_do_not_meet(start: Callable[[str], subprocess.Popen[str]], tmp_path: Path) -> None:
    victims = [start("fresh"), start("fresh")]
    for victim in victims:
        for _ in range(3):
            wait_for(victim, "playing")
    env = HostileEnv(backend="docker")
    pristine = env.begin()
    assert pristine == hostile_hash()
    for victim in victims:
        assert victim.poll() is None
        victim.kill()
        victim.wait()
    assert env.state_hash == pristine
    env.close()
    assert_nothing_left({victim.pid for victim in victims}, tmp_path)
