"""Saved, restored, forked, copied and pickled in every phase, an episode goes on to the same bytes."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import pytest
from spawned import (
    CONFIRM,
    GOOD,
    LOOK,
    MIXED,
    RENEW,
    TELL,
    HookWith,
    Noise,
    TinyEnv,
    call,
    play,
    record,
    variant,
    whole,
)

from agentgym.errors import EpisodeError, StateError
from agentgym.forking import fork
from agentgym.hooks import Context, Fault, Hook
from agentgym.trace import Call

Make = Callable[..., TinyEnv]

EVENTS = [
    {"name": "pending", "after": {"call": "list_loans"}, "delay": "PT40S", "notice": "A reminder."},
    {
        "name": "mind",
        "at": "2026-03-14T09:31:30Z",
        "user": {"say": "Oh, and…", "facts": {"x": {"when": ["x"], "say": "y"}}},
    },
    {
        "name": "when",
        "when": {"sql": "SELECT renewals FROM loans WHERE loan_id = 'L101'"},
        "delay": "PT5S",
        "do": {"notes": [{"note_id": "N9", "loan_id": "L102", "body": "x"}]},
    },
]
SCENARIO = variant(events=EVENTS, user={"pressure": ["Hurry.", "Now."], "patience": 2})
ACTIONS: list[Any] = [
    LOOK,
    "Hello?",
    call("add_note", loan_id="L101", body="x"),
    call("confirm_with_user", tool="renew_loan", arguments={"loan_id": "L102", "days": 7}),
    CONFIRM,
    call("nonsense"),
    RENEW,
    call("lend_book", member_id="M1", book_id="B2", request_key="k"),
    call("lend_book", member_id="M1", book_id="B2", request_key="k"),
    call("wait", seconds=600),
    call("wait", seconds=600),
    "x?",
    TELL,
    call("finish", outcome="done"),
]
BUILDS: dict[str, Callable[[Any], Any]] = {
    "bare": lambda env: env,
    "noisy": lambda env: Noise(Noise(env, 0.2), 0.1),
    "limited": lambda env: gym.wrappers.TimeLimit(Noise(env, 0.0), 100),
}


def made(build: str, **arguments: Any) -> Any:
    return BUILDS[build](TinyEnv(reward="shaped", on_veto="flag", **arguments))


def start(env: Any) -> Any:
    env.reset(seed=11, options={"scenario": SCENARIO})
    return env


def rest(env: Any, phase: int) -> bytes:
    """The bytes of everything from *phase* on, of the end, and of the episode after it."""
    steps = play(env, ACTIONS[phase:])
    base = env.unwrapped
    verdict = base.verdict.to_json() if base.verdict else None
    trace = [step.to_json() for step in base.trace]
    found = [steps, base.state_hash, base.episode_return, verdict, trace, base.render(), base.tools, base.system_prompt]
    return record([*found, env.reset(seed=12), play(env, MIXED), env.reset(), play(env, MIXED)])


def saved_and_restored(env: Any, build: str) -> Any:
    state = pickle.loads(pickle.dumps(env.unwrapped.save_state()))
    if env.unwrapped.verdict is not None:
        env.reset()
    play(env, [call("add_note", loan_id="L101", body="astray"), "lost", call("wait", seconds=3600)])
    env.unwrapped.restore_state(state)
    return env


def restored_elsewhere(env: Any, build: str) -> Any:
    other = start(made(build))
    play(other, ACTIONS[:3])
    other.unwrapped.restore_state(env.unwrapped.save_state())
    return other


WAYS: dict[str, Callable[[Any, str], Any]] = {
    "restore": saved_and_restored,
    "elsewhere": restored_elsewhere,
    "fork": lambda env, build: fork(env),
    "deepcopy": lambda env, build: copy.deepcopy(env),
    "pickle": lambda env, build: pickle.loads(pickle.dumps(env)),
    "twice": lambda env, build: fork(pickle.loads(pickle.dumps(fork(env)))),
}


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("way", WAYS)
def test_in_every_phase_it_goes_on_to_the_same_bytes(build: str, way: str) -> None:
    for phase in range(len(ACTIONS) + 1):
        straight = start(made(build))
        play(straight, ACTIONS[:phase])
        other = start(made(build))
        play(other, ACTIONS[:phase])
        copied = WAYS[way](other, build)
        assert rest(copied, phase) == rest(straight, phase), phase
        for env in (straight, other, copied):
            env.close()


def test_a_fork_and_its_origin_do_not_see_each_other(tiny: Make) -> None:
    env = start(tiny())
    play(env, ACTIONS[:3])
    twin: Any = fork(env)
    third: Any = fork(twin)
    twin.step(call("add_note", loan_id="L101", body="mine"))
    assert len({env.state_hash, twin.unwrapped.state_hash}) == 2 and env.state_hash == third.unwrapped.state_hash
    assert len(env.trace) == 3 and len(twin.unwrapped.trace) == 4
    assert rest(env, 3) == rest(third, 3)
    for each in (twin, third):
        each.close()


def test_after_restoring_the_next_reset_is_pristine(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1, options={"scenario": variant()})
    pristine = env.state_hash
    play(env, [LOOK, CONFIRM, RENEW])
    state = env.save_state()
    env.step(call("add_note", loan_id="L101", body="x"))
    env.restore_state(state)
    play(env, [TELL, call("add_note", loan_id="L101", body="y")])
    assert env.state_hash != pristine
    env.reset(seed=1, options={"scenario": variant()})
    assert env.state_hash == pristine
    assert play(env, GOOD)[-1][4]["success"]


def test_an_ended_episode_is_restored_as_ended_with_its_verdict(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1, options={"scenario": variant()})
    play(env, GOOD)
    state, verdict = env.save_state(), env.verdict
    env.reset(seed=2)
    env.restore_state(state)
    assert env.verdict == verdict and env.verdict is not None and env.verdict.success and env.episode_return == 1.0
    with pytest.raises(EpisodeError, match=r"the episode has ended \(finished\); call reset\(\) before the next step"):
        env.step(LOOK)
    env.reset(seed=1)
    assert env.verdict is None


def test_an_infrastructure_error_is_restored_as_such(tiny: Make) -> None:
    env = tiny(user=lambda message: None)
    env.reset(seed=1)
    env.step("Hello")
    twin: Any = copy.deepcopy(env)
    assert twin.verdict == env.verdict and twin.verdict.status == "error" and "TypeError" in twin.verdict.error
    twin.close()


def test_the_same_state_can_be_restored_many_times(tiny: Make) -> None:
    env = start(tiny())
    play(env, ACTIONS[:5])
    state = env.save_state()
    found = set()
    for _ in range(3):
        env.restore_state(state)
        found.add(record([play(env, ACTIONS[5:]), env.state_hash]))
    assert len(found) == 1


def test_a_closed_or_never_reset_environment_takes_up_a_state(tiny: Make) -> None:
    env = start(tiny())
    play(env, ACTIONS[:7])
    state = env.save_state()
    expected = record([play(env, ACTIONS[7:]), env.state_hash])
    env.close()
    env.restore_state(state)
    assert record([play(env, ACTIONS[7:]), env.state_hash]) == expected
    fresh = tiny()
    fresh.restore_state(state)
    assert record([play(fresh, ACTIONS[7:]), fresh.state_hash]) == expected


def test_states_that_do_not_fit_are_refused_with_the_reason(tiny: Make) -> None:
    env = start(tiny())
    env.step(LOOK)
    state = env.save_state()
    with pytest.raises(StateError, match=r"expected what save_state\(\) gave, got dict"):
        env.restore_state({})
    with pytest.raises(StateError, match="the state has format 0, this version reads 1; save it again"):
        env.restore_state(replace(state, version=0))
    with pytest.raises(StateError, match="the state belongs to the domain 'refund', this environment is 'tiny'"):
        env.restore_state(replace(state, domain="refund"))
    wrapped = start(Noise(tiny()))
    with pytest.raises(
        StateError, match=r"saved under the wrappers \[\], this episode has \['noise'\]; wrap it alike and reset first"
    ):
        wrapped.unwrapped.restore_state(state)
    with pytest.raises(StateError, match=r"saved under the wrappers \['noise'\], this episode has \[\]"):
        env.restore_state(wrapped.unwrapped.save_state())
    assert env.step(LOOK)[0]["role"] == "tool" and len(env.trace) == 2


def test_a_damaged_world_is_refused_and_the_next_reset_is_clean(tiny: Make) -> None:
    env = start(tiny())
    state = env.save_state()
    with pytest.raises(StateError, match=r"the world in the state is damaged \(.*\); save it again"):
        env.restore_state(replace(state, world=b"rubbish" * 1000))
    assert whole(env, MIXED, seed=3) == whole(tiny(), MIXED, seed=3)


def test_there_is_nothing_to_save_before_the_first_reset(tiny: Make) -> None:
    with pytest.raises(EpisodeError, match=r"there is no episode yet; call reset\(\) first"):
        tiny().save_state()


def test_an_environment_can_be_copied_before_its_first_reset_and_after_closing(tiny: Make) -> None:
    env = tiny(reward="shaped")
    expected = whole(tiny(reward="shaped"), MIXED, seed=3)
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert whole(copied, MIXED, seed=3) == expected
        copied.close()
        again = copy.deepcopy(copied)
        assert whole(again, MIXED, seed=3) == expected
        again.close()


def test_the_state_is_plain_data_that_another_thread_can_take_up(tiny: Make) -> None:
    env = start(tiny())
    play(env, ACTIONS[:7])
    state = env.save_state()
    json.loads(state.host)
    expected = record(play(env, ACTIONS[7:]))
    found: list[bytes] = []

    def other() -> None:
        fresh = TinyEnv(reward="sparse")
        fresh.restore_state(state)
        found.append(record(play(fresh, ACTIONS[7:])))
        fresh.close()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [expected]


class Backed(Hook):
    """A hook that leans on its wrapper, as perturbations may."""

    name = "backed"

    def __init__(self, wrapper: Leans) -> None:
        self.wrapper = wrapper

    def on_task(self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context) -> Any:
        return system, opening + self.wrapper.suffix, tools

    def before_call(self, call: Call, ctx: Context) -> Call | Fault:
        self.wrapper.seen += 1
        return call


class Leans(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps its settings in itself and its hook as an attribute."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.seen, self.suffix = 0, "!"
        self.hook = Backed(self)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.unwrapped.add_hook(self.hook)  # type: ignore[attr-defined]
        return super().reset(seed=seed, options=options)


@pytest.mark.parametrize("way", ["fork", "pickle"])
def test_a_hook_that_leans_on_its_wrapper_is_copied_with_it(tiny: Make, way: str) -> None:
    env = start(Leans(tiny()))
    env.step(LOOK)
    twin = WAYS[way](env, "bare")
    twin.step(LOOK)
    assert (env.seen, twin.seen, twin.unwrapped._hooks[0] is twin.hook) == (1, 2, True)
    twin.close()


def test_hooks_that_are_shared_by_two_wrappers_stay_shared(tiny: Make) -> None:
    hook = Hook()
    env = start(HookWith(tiny(), hook))
    twin: Any = fork(env)
    assert twin.hook is twin.unwrapped._hooks[0] is not hook
    twin.close()
