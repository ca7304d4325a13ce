"""V40: what Gymnasium asks of an environment, under everything that an agent may send."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.vector.async_vector_env import AsyncState

from agentgym.env import ToolEnv
from agentgym.errors import EpisodeError
from agentgym.text import dumps
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject

_STEPS = 1000
_VECTOR = 3
_VECTOR_STEPS = 14
_LONG = 1_000_000


@check("V40", "Gymnasium")
def gymnasium_interface(subject: Subject) -> Finding:
    """check_env is quiet, whatever is sent stays in the spaces, vectors of every kind agree with single ones."""
    finding = Finding()
    made = list(_made(subject))
    for env in made:
        finding.failures += _checked(env)
    steps, problems = _fuzzed(subject)
    finding.failures += problems
    ways = 0
    for mode in AutoresetMode:
        for parallel in (False, True):
            ways += 1
            finding.failures += _vectors(subject, mode, parallel)
    finding.figure = f"check_env on {len(made)} splits, {steps} fuzzed steps, {ways} kinds of vectors"
    return finding


def _made(subject: Subject) -> Iterator[ToolEnv]:
    """The environment on its test split, and as it is made by default where the domain has a generator."""
    yield subject.make()
    if subject.domain.generator is not None:
        yield subject.make(split="train")


def _checked(env: ToolEnv) -> list[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env)
    except Exception as error:  # noqa: BLE001  the checker raises whatever it likes, and each is a finding
        return [f"check_env: {type(error).__name__}: {str(error)[:200]}"]
    finally:
        env.close()
    return []


# Fuzzing.


def odd_actions() -> list[Any]:
    """Actions as no agent should send them."""
    texts: list[Any] = [
        "😀👩‍👩‍👧🇪🇺", "\u202eright to left \u05e9\u05dc\u05d5\u05dd", "a\x00b", "half \ud83d a pair", "\udc00",
        "x" * _LONG, "", " \n\t", "\ufeff", "a\u0301" * 50, "null", "{", '{"a": 1', "[]", "NaN", "1e400",
        '{"a": NaN}', '"text"',
    ]  # fmt: skip
    others: list[Any] = [
        None, 0, -1, 10**400, 1.5, float("nan"), float("inf"), True, b"bytes", [], [[[[]]]], [{}, [None]], {}, (),
        {"name": None}, {1: 2}, np.int64(3), np.array([1, 2]), {"name": ["finish"]}, {"function": None},
        {"arguments": {}}, {"name": 7, "arguments": {}}, {"name": "respond"}, {"name": "finish", "arguments": None},
        object(), {"function": {"name": "respond", "arguments": "{}"}},
        {"name": "wait", "arguments": {"seconds": 10**30}}, {"name": "finish", "arguments": [1]},
        {"name": "respond", "arguments": {"message": "x"}, "extra": 1},
        {"name": "finish", "arguments": {"outcome": "done", "answer": float("nan")}},
    ]  # fmt: skip
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    wrapped = [{"name": "respond", "arguments": {"message": text}} for text in texts]
    raw = [{"name": "respond", "arguments": text, "thought": text} for text in texts]
    answers = [{"name": "finish", "arguments": {"outcome": text, "answer": {text: [text]}}} for text in texts]
    return [*texts, *others, *wrapped, *raw, *answers, {"name": "respond", "arguments": {"message": deep}}, deep]


def _fuzzed(subject: Subject) -> tuple[int, list[str]]:
    """A thousand steps of odd actions, valid calls, and valid calls with an odd argument."""
    env, odd, failures = subject.make(), odd_actions(), []
    env.action_space.seed(0)
    rng = np.random.Generator(np.random.PCG64(0))
    kept: list[tuple[dict[str, Any], str]] = []
    types: dict[str, type] = {}
    observation, info = env.reset(seed=0)
    resets = 0
    for number in range(_STEPS):
        action: Any = odd[number % len(odd)] if number % 3 else env.action_space.sample()
        if number % 9 == 3 and action["arguments"]:
            key = sorted(action["arguments"])[int(rng.integers(len(action["arguments"])))]
            action["arguments"][key] = odd[int(rng.integers(len(odd)))]
        try:
            observation, reward, terminated, truncated, info = env.step(action)
        except Exception as error:  # noqa: BLE001  nothing that an agent sends may raise
            failures.append(f"{ascii(action)[:100]} raised {type(error).__name__}: {str(error)[:100]}")
            terminated, truncated, reward = True, False, 0.0
        failures += [f"{ascii(action)[:100]}: {problem}" for problem in _misfits(env, observation, reward, info, types)]
        if info["end_reason"] == "infrastructure":
            failures.append(f"{ascii(action)[:100]} broke the environment: {env.verdict.error if env.verdict else ''}")
        kept.append((info, dumps(info)))
        if terminated or truncated:
            resets += 1
            observation, info = env.reset(seed=resets)
            kept.append((info, dumps(info)))
    changed = [text for info, text in kept if dumps(info) != text]
    if changed:
        failures.append(f"info was changed after the step: {changed[0][:100]}")
    if len({id(info) for info, _ in kept}) < len(kept):
        failures.append("two steps share one info object")
    env.close()
    return _STEPS, failures


def _misfits(
    env: ToolEnv, observation: Any, reward: Any, info: Mapping[str, Any], types: dict[str, type]
) -> Iterator[str]:
    if not env.observation_space.contains(observation):
        yield "the observation is outside the space"
    if not isinstance(reward, float) or not np.isfinite(reward):
        yield f"the reward is {reward!r}"
    try:
        if json.loads(json.dumps(info, allow_nan=False)) != info:
            yield "info does not survive JSON"
    except (TypeError, ValueError) as error:
        yield f"info is no JSON: {error}"
    for name, value in info.items():
        if types.setdefault(name, type(value)) is not type(value):
            yield f"info[{name!r}] is a {type(value).__name__} here and a {types[name].__name__} before"


# Vectors.


def _vectors(subject: Subject, mode: AutoresetMode, parallel: bool) -> Iterator[str]:
    """A vector environment gives, element by element, what single ones give."""

    def make() -> gym.Env[Any, Any]:
        return gym.make(subject.env_id, split="test")

    factories = [make] * _VECTOR
    # Custom spaces have no place in shared memory.
    vector = (
        AsyncVectorEnv(factories, shared_memory=False, autoreset_mode=mode)
        if parallel
        else SyncVectorEnv(factories, autoreset_mode=mode)
    )
    where = f"{'async' if parallel else 'sync'}, {mode.value}"
    singles = [make() for _ in range(_VECTOR)]
    try:
        scripts = [_script(subject, number) for number in range(_VECTOR)]
        yield from (f"{where}: {problem}" for problem in _alongside(vector, singles, mode, scripts))
    except Exception as error:  # noqa: BLE001  what a vector environment raises is a finding
        if isinstance(vector, AsyncVectorEnv):
            # Its workers may be gone already, and closing it would wait for the step that is pending.
            vector._state = AsyncState.DEFAULT
            vector.close(terminate=True)
        yield f"{where}: {type(error).__name__}: {str(error)[:200]}"
    finally:
        vector.close()
        for env in singles:
            env.close()


def _script(subject: Subject, number: int) -> list[Any]:
    """Talk, two drawn calls and an end, again and again, at another place in each element."""
    space = subject.make().action_space
    space.seed(number)
    end = {"name": "finish", "arguments": {"outcome": "refused", "answer": {"reason": "x"}}}
    return [
        end if (step + number) % 5 == 4 else "Hello?" if step % 3 == 0 else space.sample()
        for step in range(_VECTOR_STEPS)
    ]


def _alongside(
    vector: Any, singles: Sequence[gym.Env[Any, Any]], mode: AutoresetMode, scripts: Sequence[Sequence[Any]]
) -> Iterator[str]:
    observations, _ = vector.reset(seed=7)
    expected = [env.reset(seed=7 + number)[0] for number, env in enumerate(singles)]
    yield from _same(observations, expected, "reset")
    over = [False] * len(singles)
    for step in range(_VECTOR_STEPS):
        actions = [script[step] for script in scripts]
        if mode == AutoresetMode.DISABLED and any(over):
            observations, _ = vector.reset(options={"reset_mask": np.array(over)})
            expected = [
                env.reset()[0] if done else kept for env, done, kept in zip(singles, over, expected, strict=True)
            ]
            yield from _same(observations, expected, f"reset before step {step}")
            over = [False] * len(singles)
        observations, rewards, terminations, truncations, infos = vector.step(tuple(actions))
        for number, env in enumerate(singles):
            if mode == AutoresetMode.NEXT_STEP and over[number]:
                expected[number], found = env.reset()[0], (0.0, False, False)
                over[number] = False
            else:
                try:
                    expected[number], reward, terminated, truncated, info = env.step(actions[number])
                except EpisodeError as error:
                    yield f"step {step}: {error}"
                    return
                found = (float(reward), terminated, truncated)
                over[number] = terminated or truncated
                if over[number] and mode == AutoresetMode.SAME_STEP:
                    if infos["final_info"]["end_reason"][number] != info["end_reason"]:
                        yield f"step {step}, element {number}: final_info is another"
                    expected[number] = env.reset()[0]
                elif not over[number] and infos["sim_time"][number] != info["sim_time"]:
                    yield f"step {step}, element {number}: info is another"
            if found != (float(rewards[number]), bool(terminations[number]), bool(truncations[number])):
                flags = (terminations[number], truncations[number])
                yield f"step {step}, element {number}: {rewards[number]}, {flags}, expected {found}"
        yield from _same(observations, expected, f"step {step}")


def _same(observations: Any, expected: Sequence[Mapping[str, str]], when: str) -> Iterator[str]:
    for number, wanted in enumerate(expected):
        found = {key: copy.copy(values[number]) for key, values in observations.items()}
        if found != dict(wanted):
            key = next(key for key in wanted if found.get(key) != wanted[key])
            yield f"{when}, element {number}: {key} is {str(found.get(key))[:60]!r}, expected {wanted[key][:60]!r}"
