"""Vector environments: eight together give the bytes of eight alone, in every autoreset mode and with wrappers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from spawned import LOOK, MIXED, Noise, TinyEnv, call, variant

N = 8
Factory = Callable[[], gym.Env[Any, Any]]
WRAPPERS: dict[str, list[Callable[[Any], Any]]] = {"bare": [], "noisy": [Noise, Noise]}


def actions(step: int) -> list[Any]:
    """What each of the eight does in a step: the same things, each from another place on, so that they end apart."""
    return [MIXED[(step + n) % len(MIXED)] for n in range(N)]


def factory(build: str) -> Factory:
    def make() -> gym.Env[Any, Any]:
        env: gym.Env[Any, Any] = TinyEnv(reward="shaped")
        for wrapper in WRAPPERS[build]:
            env = wrapper(env)
        return env

    return make


def alone(build: str, mode: AutoresetMode, steps: int) -> list[Any]:
    """What eight single environments give, reset as *mode* says."""
    found = []
    for n in range(N):
        env = factory(build)()
        rows: list[Any] = [env.reset(seed=7 + n)]
        over = False
        for step in range(steps):
            if over and mode == AutoresetMode.NEXT_STEP:
                rows.append([*env.reset(), 0.0, False, False])
                over = False
                continue
            if over and mode == AutoresetMode.DISABLED:
                env.reset()
            observation, reward, terminated, truncated, info = env.step(actions(step)[n])
            over = terminated or truncated
            if over and mode == AutoresetMode.SAME_STEP:
                observation, info = env.reset()
            rows.append([observation, info, reward, terminated, truncated])
        env.close()
        found.append(rows)
    return found


def together(vector: Any, mode: AutoresetMode, steps: int) -> list[Any]:
    observations, infos = vector.reset(seed=7)
    found: list[Any] = [[row] for row in rows_of(observations, infos)]
    over = [False] * N
    for step in range(steps):
        if mode == AutoresetMode.DISABLED and any(over):
            vector.reset(options={"reset_mask": np.array(over)})
        observations, rewards, terminated, truncated, infos = vector.step(actions(step))
        over = [bool(a or b) for a, b in zip(terminated, truncated, strict=True)]
        for n, (observation, info) in enumerate(rows_of(observations, infos)):
            found[n].append([observation, info, float(rewards[n]), bool(terminated[n]), bool(truncated[n])])
    vector.close()
    return found


def rows_of(observations: Any, infos: Any) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Each environment's own observation and info."""
    rows = []
    for n in range(N):
        observation = {key: str(values[n]) for key, values in observations.items()}
        info = {}
        for key, values in infos.items():
            if not key.startswith("_") and key not in ("final_obs", "final_info") and infos[f"_{key}"][n]:
                value = values[n]
                info[key] = value.item() if hasattr(value, "item") else value
        rows.append((observation, info))
    return rows


def same(one: list[Any], two: list[Any]) -> None:
    for n in range(N):
        assert json.dumps(one[n], sort_keys=True) == json.dumps(two[n], sort_keys=True), n


@pytest.mark.parametrize("build", WRAPPERS)
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_eight_in_one_process_give_the_bytes_of_eight_alone(build: str, mode: AutoresetMode) -> None:
    vector: Any = SyncVectorEnv([factory(build)] * N, autoreset_mode=mode)
    same(together(vector, mode, 25), alone(build, mode, 25))


@pytest.mark.parametrize("build", WRAPPERS)
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_eight_in_their_own_processes_give_the_bytes_of_eight_alone(build: str, mode: AutoresetMode) -> None:
    vector: Any = AsyncVectorEnv([factory(build)] * N, shared_memory=False, autoreset_mode=mode)
    same(together(vector, mode, 25), alone(build, mode, 25))


def test_shared_memory_is_refused_with_a_clear_error() -> None:
    with pytest.raises(ValueError, match="caused an error, you can disable this feature with `shared_memory=False`"):
        AsyncVectorEnv([factory("bare")] * 2, shared_memory=True)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec_takes_wrappers(mode: str) -> None:
    arguments = {"vector_kwargs": {"shared_memory": False}} if mode == "async" else {}
    vector: Any = gym.make_vec(
        "Tiny-v0", N, vectorization_mode=mode, wrappers=[Noise, Noise], reward="shaped", **arguments
    )
    same(together(vector, AutoresetMode.NEXT_STEP, 12), alone("noisy", AutoresetMode.NEXT_STEP, 12))


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_a_veto_pays_once_through_every_autoreset_mode(mode: AutoresetMode) -> None:
    vector: Any = SyncVectorEnv([lambda: TinyEnv(on_veto="flag", reward="shaped")] * 2, autoreset_mode=mode)
    vector.reset(seed=1, options={"scenario": variant()})
    renew = call("renew_loan", loan_id="L101", days=14)
    rewards = [vector.step([action, LOOK])[1].tolist() for action in (renew, LOOK, renew, LOOK)]
    assert [pair[0] for pair in rewards] == [-1.0, 0.0, 0.0, 0.0]
    assert [pair[1] for pair in rewards] == [0.25, 0.0, 0.0, 0.0]
    vector.close()


def test_attributes_and_calls_reach_the_environments() -> None:
    vector: Any = SyncVectorEnv([factory("noisy")] * 2)
    vector.reset(seed=1)
    assert [len(tools) for tools in vector.get_attr("tools")] == [11, 11]
    assert vector.get_attr("episode_return") == (0.0, 0.0)
    vector.close()
