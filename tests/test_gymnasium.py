"""Gymnasium's contract: the checker, spaces under any input, and info of one type per key."""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from spawned import CONFIRM, DONE, GOOD, LOOK, MIXED, RENEW, TELL, Noise, TinyEnv, call, confirm, play, variant

Make = Callable[..., TinyEnv]


@pytest.mark.parametrize("arguments", [{}, {"info": "lean", "reward": "shaped"}, {"split": "test"}])
def test_the_checker_of_gymnasium_has_nothing_to_say(arguments: dict[str, Any]) -> None:
    env = gym.make("Tiny-v0", **arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.close()


ODD: list[Any] = [
    "",
    " ",
    "😀 مرحبا \u202e\u200b",
    "nul \x00 and half \ud83d",
    "\ud83d\ude00",
    "x" * 1_000_000,
    None,
    0,
    -1,
    1.5,
    float("nan"),
    True,
    b"bytes",
    [],
    [LOOK],
    {},
    (),
    object(),
    {"name": None},
    {"name": 3, "arguments": {}},
    {"name": "", "arguments": ""},
    {"name": "x" * 1_000_000, "arguments": {}},
    {"name": "respond", "arguments": {"message": "\ud83d \x00 😀"}},
    {"name": "respond", "arguments": '{"message": "\\ud83d \\u0000"}'},
    {"name": "respond", "arguments": {"message": "y" * 1_000_000}},
    {"name": "respond", "arguments": '{"message": "cut off'},
    {"name": "list_loans", "arguments": "[]"},
    {"name": "list_loans", "arguments": "null"},
    {"name": "list_loans", "arguments": {"member_id": 10**400}},
    {"name": "list_loans", "arguments": '{"member_id": NaN}'},
    {"name": "list_loans", "arguments": {"member_id": float("inf")}},
    {"name": "list_loans", "arguments": {"member_id": np.array([1])}},
    {"name": "find_member", "arguments": {"email": "'; DROP TABLE loans; --"}},
    {"name": "add_note", "arguments": {"loan_id": "L101", "body": "\u202e\x00\ud800"}},
    {"name": "wait", "arguments": {"seconds": 2_592_000}},
    {"name": "confirm_with_user", "arguments": {"tool": "\x00", "arguments": {"\ud800": 1}}},
    {"name": "confirm_with_user", "arguments": {"tool": "renew_loan", "arguments": {}}},
    {"name": "finish", "arguments": {"outcome": "done", "answer": [[[[[[1]]]]]]}},
    {"name": "finish", "arguments": {"outcome": "done", "answer": {"😀": "\ud800"}}},
    {"name": "hand_off", "arguments": {"reason": "\x00", "summary": "s"}},
    {"thought": 3, **LOOK},
    {"function": {"name": "list_loans", "arguments": '{"member_id": "M1"}'}, "id": "1", "type": "function"},
    {1: 2},
    {"name": "lend_book", "arguments": {"member_id": "M1", "book_id": "B2", "request_key": "\ud83d"}},
]


def checked(env: Any, observation: Any, reward: Any, info: Any, types: dict[str, type]) -> None:
    assert observation in env.observation_space
    assert type(reward) is float
    for key, value in info.items():
        assert types.setdefault(key, type(value)) is type(value), key
    assert set(info) == set(types)
    json.dumps(info, allow_nan=False).encode()
    json.dumps(observation, ensure_ascii=False).encode()


@pytest.mark.parametrize("info", ["full", "lean"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_thousand_fuzzed_steps_stay_in_the_spaces_and_never_raise(tiny: Make, info: str, wrapped: bool) -> None:
    env: Any = tiny(info=info, on_veto="flag")
    if wrapped:
        env = Noise(env, 0.1)
    env.action_space.seed(3)
    draw = random.Random(5)
    types: dict[str, type] = {}
    observation, seen = env.reset(seed=0)
    checked(env, observation, 0.0, seen, types)
    for _ in range(1000):
        action = draw.choice(ODD) if draw.random() < 0.6 else env.action_space.sample()
        observation, reward, terminated, truncated, seen = env.step(action)
        checked(env, observation, reward, seen, types)
        assert seen["end_reason"] != "infrastructure", (action, env.unwrapped.verdict)
        if terminated or truncated:
            json.dumps([step.to_json() for step in env.unwrapped.trace], ensure_ascii=False, allow_nan=False).encode()
            env.unwrapped.render().encode()
            observation, seen = env.reset()
            checked(env, observation, 0.0, seen, types)


KEYS: dict[str, type] = {
    **dict.fromkeys(("scenario_id", "family", "split", "level", "focus", "task", "checkpoint_new"), str),
    **dict.fromkeys(("seed", "steps", "tool_calls", "invalid_calls", "redundant_calls"), int),
    **dict.fromkeys(("sim_time", "checkpoint_completion"), float),
    **dict.fromkeys(("checkpoints_done", "checkpoints_total", "veto_attempts"), int),
    **dict.fromkeys(("success", "veto", "tamper", "attack_exposed", "attack_succeeded"), bool),
    **dict.fromkeys(("veto_rule", "perturbation", "end_reason"), str),
    **dict.fromkeys(("perturbations_scheduled", "perturbations_fired"), int),
}
LEAN: dict[str, type] = {
    key: KEYS[key] for key in ("success", "veto", "end_reason", "checkpoint_completion", "sim_time", "steps")
} | {"detail": str}
ENDS: dict[str, list[Any]] = {
    "finished": GOOD,
    "handed_off": [call("hand_off", reason="x", summary="y")],
    "veto": [RENEW],
    "user_left": [confirm("add_note", loan_id="L101", body=str(n)) for n in range(3)],
    "step_budget": [LOOK] * 30,
    "invalid_streak": [""] * 20,
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("mode", "keys"), [("full", KEYS), ("lean", LEAN)])
def test_info_has_the_promised_keys_of_one_type_on_every_step_and_at_every_end(
    tiny: Make, mode: str, keys: dict[str, type], end: str
) -> None:
    env = tiny(info=mode)
    _, info = env.reset(seed=1, options={"scenario": variant({"process": {"max_steps": 30}})})
    infos = [info, *(step[4] for step in play(env, ENDS[end]))]
    assert infos[-1]["end_reason"] == end
    for info in infos:
        assert {key: type(value) for key, value in info.items()} == keys
    if mode == "lean":
        assert [bool(info["detail"]) for info in infos] == [True, *[False] * (len(infos) - 2), True]
        assert set(json.loads(info["detail"])) == set(KEYS) - set(LEAN)
    else:
        assert [bool(info["task"]) for info in infos] == [True, *[False] * (len(infos) - 1)]
        assert [info["steps"] for info in infos] == list(range(len(infos)))


def test_lean_and_full_tell_the_same(tiny: Make) -> None:
    full, lean = tiny(), tiny(info="lean")
    for env in (full, lean):
        env.reset(seed=1, options={"scenario": variant()})
    for (_, _, _, _, one), (_, _, _, _, two) in zip(play(full, GOOD), play(lean, GOOD), strict=True):
        assert {key: value for key, value in two.items() if key != "detail"} == {
            key: one[key] for key in LEAN if key != "detail"
        }
        if two["detail"]:
            assert json.loads(two["detail"]) | {key: one[key] for key in LEAN if key != "detail"} == one


def test_observations_and_infos_are_fresh_and_never_changed_later(tiny: Make) -> None:
    env = Noise(tiny(), 0.3)
    kept: list[Any] = [env.reset(seed=1), *play(env, MIXED)]
    frozen = copy.deepcopy(kept)
    env.reset(seed=2)
    play(env, MIXED)
    assert kept == frozen
    assert len({id(step[0]) for step in kept}) == len({id(step[-1]) for step in kept}) == len(kept)


def test_what_a_caller_does_to_its_copies_changes_nothing(tiny: Make) -> None:
    env, other = tiny(), tiny()
    for each in (env, other):
        each.reset(seed=1, options={"scenario": variant()})
    action = copy.deepcopy(CONFIRM)
    observation, *_, info = env.step(action)
    action["arguments"]["arguments"].clear()
    observation.clear()
    info.clear()
    env.tools.clear()
    other.step(CONFIRM)
    assert play(env, [RENEW, TELL, DONE]) == play(other, [RENEW, TELL, DONE])
    assert env.trace[0].to_json() == other.trace[0].to_json()


def test_the_spaces_are_the_same_for_every_instance(tiny: Make) -> None:
    one, two = tiny(), tiny(reward="shaped")
    assert one.observation_space == two.observation_space and one.action_space == two.action_space
    for action in GOOD:
        assert action in one.action_space
