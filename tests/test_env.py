"""The environment: resets, seeds, options, determinism, threads, and that a failure of ours is not the agent's."""

from __future__ import annotations

import copy
import datetime
import gc
import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from spawned import (
    CONFIRM,
    DONE,
    GOOD,
    LOOK,
    MIXED,
    RENEW,
    HookWith,
    Noise,
    TinyEnv,
    call,
    play,
    record,
    variant,
    whole,
)

import agentgym
from agentgym.errors import EpisodeError, ScenarioError
from agentgym.hooks import Context, Hook
from agentgym.text import dumps
from agentgym.trace import Call

Make = Callable[..., TinyEnv]
HERE = Path(__file__).resolve().parent

# Life cycle.


def test_steps_out_of_turn_are_the_callers_mistake(tiny: Make) -> None:
    env = tiny()
    with pytest.raises(EpisodeError, match=r"there is no episode yet; call reset\(\) first"):
        env.step(LOOK)
    env.reset(seed=1)
    env.step(DONE)
    with pytest.raises(EpisodeError, match=r"the episode has ended \(finished\); call reset\(\) before the next step"):
        env.step(LOOK)
    env.close()
    env.close()
    with pytest.raises(EpisodeError, match="there is no episode yet"):
        env.step(LOOK)
    env.reset(seed=1)
    assert env.step(LOOK)[0]["role"] == "tool"


def test_what_can_be_read_after_the_end_stays_until_the_next_reset(tiny: Make) -> None:
    env = tiny()
    assert (env.verdict, env.trace, env.episode_return, env.render()) == (None, [], 0.0, "(no episode yet: call reset)")
    env.reset(seed=1, options={"scenario": variant()})
    assert env.verdict is None
    play(env, GOOD)
    assert env.verdict is not None and len(env.trace) == 5 and env.episode_return == 1.0
    env.reset(seed=1)
    assert (env.verdict, env.trace, env.episode_return) == (None, [], 0.0)


def test_render_is_the_conversation_with_its_end(tiny: Make) -> None:
    env = tiny(render_mode="ansi")
    env.reset(seed=1, options={"scenario": variant()})
    play(env, [{**LOOK, "thought": "Let me see."}, "Hello?", call("nonsense"), DONE])
    text = env.render()
    assert text.startswith("user    Please renew Emma by 14 days.")
    assert "thought Let me see.\nagent   list_loans(member_id=" in text
    assert text.endswith("end     finished: no success, failed: final_state[0], said[0]")


def test_the_task_is_whole_in_the_first_observation_and_in_info(tiny: Make) -> None:
    env = tiny()
    observation, info = env.reset(seed=1, options={"scenario": variant()})
    task = json.loads(info["task"])
    assert observation["role"] == "task" and observation["notices"] == "[]"
    assert task["system_prompt"] in observation["content"] and task["opening"] in observation["content"]
    assert task["tools"] == env.tools and task["system_prompt"] == env.system_prompt


def test_a_thought_is_kept_and_seen_by_nobody(tiny: Make) -> None:
    one, two = tiny(), tiny()
    thinking = [action | {"thought": "Bo Lind!"} for action in GOOD]
    for env in (one, two):
        env.reset(
            seed=1, options={"scenario": variant(secrets=[{"sql": "SELECT name FROM members WHERE member_id = 'M2'"}])}
        )
    assert record(play(one, GOOD)) == record(play(two, thinking))
    assert two.trace[0].thought == "Bo Lind!" and one.verdict == two.verdict


# Failures of ours.


class Bug(Hook):
    """Raises in a place and a step."""

    def __init__(self, place: str, error: Exception) -> None:
        self.place, self.error = place, error

    def before_call(self, call: Call, ctx: Context) -> Any:
        return self._raise("before", call)

    def after_call(self, call: Call, result: Any, ctx: Context) -> Any:
        return self._raise("after", result)

    def on_observe(self, observation: dict[str, str], ctx: Context) -> Any:
        return self._raise("observe", observation) if ctx.step else observation

    def _raise(self, place: str, value: Any) -> Any:
        if place == self.place:
            raise self.error
        return value


@pytest.mark.parametrize("place", ["before", "after", "observe"])
@pytest.mark.parametrize("reward", ["sparse", "shaped"])
def test_a_failure_of_ours_truncates_as_infrastructure_and_the_next_reset_is_clean(
    tiny: Make, caplog: pytest.LogCaptureFixture, place: str, reward: str
) -> None:
    base = tiny(reward=reward)
    clean = whole(base, MIXED, seed=9)
    env = HookWith(base, Bug(place, ZeroDivisionError("secret gold")))
    env.reset(seed=9, options={"scenario": variant()})
    with caplog.at_level(logging.ERROR, "agentgym"):
        observation, paid, terminated, truncated, info = env.step(call("add_note", loan_id="L101", body="x"))
    assert (paid, terminated, truncated, info["end_reason"], info["success"]) == (
        0.0,
        False,
        True,
        "infrastructure",
        False,
    )
    assert observation in env.observation_space and "secret" not in json.dumps(observation)
    assert base.verdict is not None and (base.verdict.status, base.verdict.success) == ("error", False)
    assert base.verdict.error == "ZeroDivisionError: secret gold" and "the environment failed" in caplog.text
    with pytest.raises(EpisodeError, match="infrastructure"):
        env.step(LOOK)
    assert whole(base, MIXED, seed=9) == clean


@pytest.mark.parametrize("place", ["before", "after", "observe"])
def test_the_trace_of_a_failed_step_says_what_was_shown(tiny: Make, place: str) -> None:
    env: Any = HookWith(tiny(), Bug(place, ZeroDivisionError()))
    env.reset(seed=9)
    observation, *_ = env.step(LOOK)
    assert env.unwrapped.trace[-1].shown == observation["content"]
    assert env.unwrapped.render().count("the environment failed") == 1


def test_a_reset_that_fails_halfway_leaves_no_half_episode(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1)
    bad = variant(initial_state={"patch": {"nonsense": [{"x": 1}]}})
    with pytest.raises(
        ScenarioError, match=r"variant-001: initial_state\.patch\.nonsense: found no such table; expected a t"
    ):
        env.reset(options={"scenario": bad})
    with pytest.raises(EpisodeError, match="there is no episode yet"):
        env.step(LOOK)
    assert whole(env, MIXED, seed=3) == whole(tiny(), MIXED, seed=3)


# Determinism.


def test_nothing_reads_the_clock_the_global_streams_or_fresh_uuids(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    env = Noise(tiny())
    expected = whole(env, MIXED, seed=4)

    def refuse(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("drawn from what differs between runs")

    for module, names in (
        (time, ("time", "time_ns", "localtime", "gmtime")),
        (random, ("random", "randint", "choice", "shuffle", "getrandbits", "sample")),
        (np.random, ("random", "rand", "randint", "choice", "seed", "default_rng", "shuffle")),
        (uuid, ("uuid1", "uuid4")),
        (os, ("urandom",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, refuse)

    no_now = type("NoNow", (datetime.datetime,), dict.fromkeys(("now", "today", "utcnow"), classmethod(refuse)))
    monkeypatch.setattr(datetime, "datetime", no_now)
    monkeypatch.setattr("agentgym.world.datetime", no_now)
    found = whole(env, MIXED, seed=4)
    after = whole(env, MIXED)
    monkeypatch.undo()
    assert found == expected and whole(env, MIXED, seed=4) and after


def test_the_global_streams_are_left_where_they_were(tiny: Make) -> None:
    before = random.getstate(), str(np.random.get_state())
    whole(Noise(tiny()), MIXED, seed=4)
    assert before == (random.getstate(), str(np.random.get_state()))


def spawned(folder: Path, **environment: str) -> str:
    variables = {**os.environ, "PYTHONPATH": f"{HERE.parent}{os.pathsep}{HERE}", **environment}
    command = [sys.executable, str(HERE / "spawned.py")]
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=True, timeout=120
    ).stdout


def test_another_process_hash_seed_time_zone_locale_and_folder_give_the_same_bytes(tmp_path: Path) -> None:
    one = spawned(HERE, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C.UTF-8")
    two = spawned(tmp_path, PYTHONHASHSEED="424242", TZ="Asia/Kathmandu", LC_ALL="C", PYTHONUTF8="1")
    assert one == two and len(one.splitlines()) == 7


def test_rows_come_in_the_order_that_queries_ask_for(tiny: Make) -> None:
    plain = tiny()
    expected = whole(plain, MIXED, seed=4)
    turned = tiny()
    turned.reset(seed=0)
    turned._world().reading().execute("PRAGMA reverse_unordered_selects = ON")
    assert whole(turned, MIXED, seed=4) == expected


def test_eight_beside_each_other_in_threads_give_the_bytes_of_one_alone(tiny: Make) -> None:
    expected = [whole(tiny(), MIXED, seed=seed) for seed in range(8)]
    envs = [tiny() for _ in range(8)]
    for env in envs:
        env.reset(seed=99)
    found: dict[int, bytes] = {}

    def play_one(seed: int) -> None:
        for _ in range(5):
            found[seed] = whole(envs[seed], MIXED, seed=seed)

    threads = [threading.Thread(target=play_one, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in range(8)] == expected


def test_every_step_may_come_from_another_thread(tiny: Make) -> None:
    expected = whole(tiny(), GOOD, seed=1, options={"scenario": variant()})
    env = tiny()
    start = env.reset(seed=1, options={"scenario": variant()})
    steps: list[Any] = []
    for action in GOOD:
        thread = threading.Thread(target=lambda action=action: steps.append(env.step(action)))
        thread.start()
        thread.join()
    assert record([start, steps, env.state_hash, env.episode_return]) == expected


# Leaks.


def resources() -> tuple[int, int]:
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts what /proc shows")
@pytest.mark.parametrize("way", ["reset", "restore", "copy"])
def test_a_thousand_resets_in_mid_episode_leave_threads_files_and_memory_flat(tiny: Make, way: str) -> None:
    env: Any = Noise(tiny(on_veto="flag"), 0.0)
    actions = [LOOK, CONFIRM, RENEW, "Hello", call("nonsense")]

    def once(seed: int) -> None:
        env.reset(seed=seed % 20)
        play(env, actions[: 1 + seed % 5])
        if way == "restore":
            env.unwrapped.restore_state(env.unwrapped.save_state())
            env.step(LOOK)
        if way == "copy":
            twin = copy.deepcopy(env)
            twin.step(LOOK)
            twin.close()

    rounds = 1000 if way == "reset" else 100
    for seed in range(60):
        once(seed)
    once(0)
    gc.collect()
    before, blocks = resources(), sys.getallocatedblocks()
    for seed in range(rounds):
        once(seed)
    once(0)
    gc.collect()
    assert resources() == before
    assert sys.getallocatedblocks() - blocks < 1000


def rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts what /proc shows")
def test_sqlite_keeps_no_memory_of_past_episodes(tiny: Make) -> None:
    env = tiny()

    def once(seed: int) -> None:
        env.reset(seed=seed % 20)
        play(env, [LOOK, *[call("add_note", loan_id="L101", body="x" * 200)] * 10])
        env.restore_state(env.save_state())

    for seed in range(50):
        once(seed)
    gc.collect()
    before = rss()
    for seed in range(300):
        once(seed)
    gc.collect()
    assert rss() - before < 4 * 2**20


def test_gym_make_gives_the_environment_by_its_id() -> None:
    env = gym.make("Tiny-v0", reward="shaped")
    assert isinstance(env.unwrapped, TinyEnv)
    env.reset(seed=1)
    env.close()


def test_the_task_in_info_is_the_json_of_prompt_opening_and_tools(tiny: Make) -> None:
    env = tiny()
    _, info = env.reset(seed=1)
    task = json.loads(info["task"])
    assert (task["system_prompt"], task["tools"]) == (env.system_prompt, env.tools)
    assert info["task"] == dumps({"system_prompt": env.system_prompt, "opening": task["opening"], "tools": env.tools})


@pytest.mark.parametrize("what", [None, 1, "Refund-v0"])
def test_what_is_no_environment_cannot_be_forked(what: Any) -> None:
    with pytest.raises(TypeError, match="expected an environment to fork, got "):
        agentgym.fork(what)
