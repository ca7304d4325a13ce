"""What goes wrong in a container ends the episode as infrastructure, told as what it was, and touches no other."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator

import gymnasium as gym
import pytest
from docker.errors import APIError
from hostile_domain import HostileEnv, call

from agentgym.backends import engine
from agentgym.backends.container import CALL_SECONDS, Limits
from agentgym.backends.engine import client
from agentgym.errors import BackendError

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("engine")]


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileEnv]:
    monkeypatch.setenv(CALL_SECONDS, "1")
    made = HostileEnv(backend="docker")
    yield made
    made.close()


def error_of(env: HostileEnv) -> str:
    assert env.verdict is not None
    assert env.verdict.status == "error"
    assert not env.verdict.success
    assert not env.verdict.tamper
    return env.verdict.error


def good_episode(env: HostileEnv) -> bool:
    env.begin()
    env.act("put", name="apple", value=5)
    return bool(env.act("finish", outcome="done")[1]["success"])


@pytest.mark.parametrize("how", ["python", "stubborn", "sql", "sleep"])
def test_a_tool_that_does_not_end_is_ended_inside(env: HostileEnv, how: str) -> None:
    env.begin()
    observation, reward, terminated, truncated, info = env.step(call("hang", how=how))
    assert (reward, terminated, truncated, info["end_reason"]) == (0.0, False, True, "infrastructure")
    assert observation["content"] == "the environment failed; this episode does not count"
    assert "the tool hang did not end within 1 s" in error_of(env)
    assert good_episode(env)


def test_a_tool_that_hears_no_signal_is_ended_from_outside(env: HostileEnv) -> None:
    env.begin()
    assert env.act("hang", how="deaf")[1]["end_reason"] == "infrastructure"
    assert "no answer within 6 s: the container runs, and the call in it does not end" in error_of(env)
    assert good_episode(env)


@pytest.mark.parametrize("wrote", [False, True])
def test_a_tool_that_fills_the_memory_is_reported_as_that(
    env: HostileEnv, wrote: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CALL_SECONDS, "30")
    env.begin()
    if wrote:
        env.act("put", name="fig", value=8)
    assert env.act("fill_memory")[1]["end_reason"] == "infrastructure"
    assert "ran out of memory (limit 256 MiB)" in error_of(env)
    assert good_episode(env)


def test_a_tool_that_ends_its_process_is_reported_as_that(env: HostileEnv) -> None:
    env.begin()
    env.act("put", name="fig", value=8)
    assert env.act("crash")[1]["end_reason"] == "infrastructure"
    assert "the container ended by itself with status 3" in error_of(env)
    assert good_episode(env)


def test_a_fork_bomb_meets_its_limit_and_the_next_episode_is_clean(env: HostileEnv) -> None:
    env.begin()
    name = env.box().name
    assert env.act("fork_bomb")[1]["end_reason"] == "infrastructure"
    assert "BlockingIOError" in error_of(env)
    assert good_episode(env)
    assert env.box().name == name
    # A killed process is gone once the kernel has reaped it.
    deadline = time.monotonic() + 5
    while len(client().top(name)["Processes"]) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(client().top(name)["Processes"]) == 1


def test_a_bug_of_a_tool_is_told_as_one_and_costs_no_container(env: HostileEnv) -> None:
    env.begin()
    name = env.box().name
    assert env.act("bug")[1]["end_reason"] == "infrastructure"
    assert error_of(env).startswith("ToolBugError: the tool bug failed: KeyError: 'missing'")
    assert good_episode(env)
    assert env.box().name == name


def test_a_container_killed_after_a_write_ends_the_episode(env: HostileEnv) -> None:
    env.begin()
    env.act("put", name="fig", value=8)
    client().kill(env.box().name)
    assert env.act("get", name="fig")[1]["end_reason"] == "infrastructure"
    assert "the container was killed from outside" in error_of(env)
    assert good_episode(env)


def test_a_container_killed_before_any_write_is_replaced_unseen(env: HostileEnv) -> None:
    pristine = env.begin()
    env.act("get", name="fig")
    client().kill(env.box().name)
    content, info = env.act("get", name="fig")
    assert json.loads(content)["value"] == 3
    assert info["end_reason"] == ""
    client().kill(env.box().name)
    assert env.state_hash == pristine
    env.act("put", name="apple", value=5)
    assert env.act("finish", outcome="done")[1]["success"]


def test_a_container_killed_between_episodes_is_replaced(env: HostileEnv) -> None:
    assert good_episode(env)
    client().kill(env.box().name)
    assert good_episode(env)


def test_a_paused_container_is_reported_as_that_and_removed(env: HostileEnv) -> None:
    env.begin()
    env.act("put", name="fig", value=8)
    name = env.box().name
    client().pause(name)
    assert env.act("get", name="fig")[1]["end_reason"] == "infrastructure"
    assert "no answer within 6 s: the container is paused" in error_of(env)
    assert name not in [entry["Names"][0][1:] for entry in client().containers(all=True)]
    assert good_episode(env)


def test_processes_that_somebody_runs_in_the_container_do_not_reach_the_world(env: HostileEnv) -> None:
    env.begin()
    env.act("put", name="apple", value=5)
    hog = "import os\nwhile True:\n    os.fork()"
    for script in (hog, "held = [bytearray(1 << 24) for _ in range(100)]"):
        made = client().exec_create(env.box().name, ["python3", "-c", script])
        # Where the first has taken all processes there may be, the engine cannot start a second one.
        with contextlib.suppress(APIError) if script != hog else contextlib.nullcontext():
            client().exec_start(made["Id"], detach=True)
    assert json.loads(env.act("get", name="fig")[0])["value"] == 3
    assert env.act("finish", outcome="done")[1]["success"]
    assert good_episode(env)


def test_a_batch_goes_on_when_the_container_of_one_environment_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = [HostileEnv(backend="docker") for _ in range(3)]
    for env in envs:
        env.begin()
        env.act("put", name="fig", value=8)
    client().kill(envs[1].box().name)
    ends = [env.act("get", name="fig")[1]["end_reason"] for env in envs]
    assert ends == ["", "infrastructure", ""]
    assert all(good_episode(env) for env in envs)
    for env in envs:
        env.close()


def test_eight_environments_side_by_side_see_only_their_own_world() -> None:
    envs = [HostileEnv(backend="docker") for _ in range(8)]
    failures: list[str] = []

    def play(number: int) -> None:
        env = envs[number]
        for turn in range(5):
            env.begin()
            env.act("put", name="fig", value=100 * number + turn)
            found = json.loads(env.act("get", name="fig")[0])["value"]
            if found != 100 * number + turn:
                failures.append(f"environment {number} read {found} in turn {turn}")
            env.act("put", name="apple", value=5)
            if env.act("finish", outcome="done")[1]["tamper"]:
                failures.append(f"environment {number}: tampered")

    threads = [threading.Thread(target=play, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len({env.box().name for env in envs}) == 8
    for env in envs:
        env.close()


def test_an_interrupt_in_a_call_leaves_no_answer_for_the_next_one(env: HostileEnv) -> None:
    import signal
    import time

    class Ring(BaseException):
        pass

    def ring(_number: int, _frame: object) -> None:
        raise Ring

    env.begin()
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Ring):
            env.act("hang", how="sleep")
    finally:
        signal.signal(signal.SIGALRM, before)
    time.sleep(0.1)
    assert good_episode(env)


def test_without_an_engine_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    env = HostileEnv(backend="docker")
    with pytest.raises(BackendError, match=r"no container engine answers at unix:///nowhere.*systemctl start"):
        env.begin()
    env.close()
    assert "start one" in engine.unavailable()


def test_a_backend_that_does_not_exist_and_one_without_containers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="expected backend to be one of embedded, docker, got 'podman'"):
        gym.make("Refund-v0", backend="podman")
    with pytest.raises(ValueError, match='fresh_container=True needs backend="docker"'):
        HostileEnv(backend="embedded", fresh_container=True)
    monkeypatch.setenv("AGENTGYM_BACKEND", "podman")
    with pytest.raises(ValueError, match="expected AGENTGYM_BACKEND to be one of embedded, docker, got 'podman'"):
        HostileEnv()
    monkeypatch.setenv(CALL_SECONDS, "soon")
    with pytest.raises(ValueError, match="expected AGENTGYM_DOCKER_CALL_SECONDS to be seconds"):
        Limits.default()
