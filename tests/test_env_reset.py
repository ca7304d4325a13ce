"""What an episode begins with: seeds, options, arguments, splits."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from spawned import LOOK, MIXED, Noise, TinyEnv, play, record, variant, whole

Make = Callable[..., TinyEnv]


# Seeds.


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_bytes(tiny: Make) -> None:
    one, two = tiny(), tiny()
    assert whole(one, MIXED, seed=4) == whole(two, MIXED, seed=4) == whole(one, MIXED, seed=4)
    assert whole(one, MIXED, seed=4) != whole(one, MIXED, seed=5)


@pytest.mark.parametrize("build", [lambda env: env, lambda env: Noise(Noise(env))])
def test_a_reset_without_seed_continues_the_stream_of_the_last_given_seed(tiny: Make, build: Any) -> None:
    def three(env: Any) -> list[bytes]:
        return [whole(env, MIXED, seed=4), whole(env, MIXED), whole(env, MIXED, seed=None)]

    first = three(build(tiny()))
    dirty = build(tiny())
    for seed in range(50):
        dirty.reset(seed=seed)
        play(dirty, MIXED[: seed % 10])
    assert three(dirty) == first and len(set(first)) == 3


def test_without_any_seed_one_is_drawn_told_and_reproduces_the_episode(tiny: Make) -> None:
    env = tiny()
    seeds = [env.reset()[1]["seed"] for _ in range(3)] + [tiny().reset()[1]["seed"]]
    assert len(set(seeds)) == 4 and all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)
    _, info = env.reset()
    steps = play(env, MIXED)
    other = tiny()
    other.reset(seed=info["seed"])
    assert record(play(other, MIXED)) == record(steps)


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 + 1, 2**63 - 1])
def test_seeds_of_any_size_and_of_numpy_are_taken(tiny: Make, seed: int) -> None:
    env = tiny()
    _, info = env.reset(seed=seed)
    assert info["seed"] == seed
    _, other = env.reset(seed=np.int64(seed))  # type: ignore[arg-type]
    assert other == info and type(other["seed"]) is int


@pytest.mark.parametrize("seed", [-1, 2**63, -(2**70)])
def test_seeds_out_of_range_are_refused_and_leave_the_episode_running(tiny: Make, seed: int) -> None:
    env = tiny()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=rf"expected a seed in 0\.\.2\*\*63-1, got {seed}"):
        env.reset(seed=seed)
    assert env.step(LOOK)[0]["role"] == "tool"


@pytest.mark.parametrize("seed", [1.0, "7", [1]])
def test_seeds_that_are_no_integers_are_refused(tiny: Make, seed: Any) -> None:
    with pytest.raises(TypeError, match="expected an integer seed"):
        tiny().reset(seed=seed)


# Options.


def test_options_name_another_scenario_for_one_episode(tiny: Make) -> None:
    env = tiny()
    names = [
        env.reset(seed=1, options={"scenario": "tiny/renew-001"})[1]["scenario_id"],
        env.reset(options={"scenario": "tiny/refuse-001"})[1]["scenario_id"],
        env.reset(options={"scenario": variant()})[1]["scenario_id"],
        env.reset(seed=1, options={})[1]["scenario_id"],
        env.reset(seed=1, options=None)[1]["scenario_id"],
    ]
    assert names == ["tiny/renew-001", "tiny/refuse-001", "tiny/variant-001", "tiny/gen-1", "tiny/gen-1"]


def test_a_level_counts_for_one_episode(tiny: Make) -> None:
    env = tiny()
    assert [env.reset(options=options)[1]["level"] for options in ({"level": "L4"}, {}, {"level": "L2"})] == [
        "L4",
        "L1",
        "L2",
    ]
    assert [tiny(level="L5").reset(options=options)[1]["level"] for options in (None, {"level": "L2"})] == ["L5", "L2"]


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        (
            ValueError,
            {"scenaro": "x"},
            "unknown option 'scenaro' \\(did you mean \"scenario\"\\?\\); options are scenario and level",
        ),
        (
            ValueError,
            {"scenario": "tiny/renew-01"},
            "there is no scenario 'tiny/renew-01' \\(did you mean \"tiny/renew-001\"\\?\\)",
        ),
        (
            TypeError,
            {"scenario": 3},
            r"expected the option scenario to be an id or an .*, got 3 \(int\); agentgym\.load_",
        ),
        (
            TypeError,
            {"scenario": {"id": "x"}},
            r"expected the option scenario to be an id or .*, got {'id': 'x'} \(dict\); ",
        ),
        (ValueError, {1: 2}, r"unknown option 1; options are scenario and level"),
        (TypeError, "x", r"expected options to be a dict such as {\"scenario\": ID}, or None, got 'x'$"),
        (TypeError, "", r"expected options to be a dict such as .* got ''$"),
        (TypeError, [], r"expected options to be a dict such as .* got \[\]$"),
        (TypeError, True, r"expected options to be a dict such as .* got True$"),
        (TypeError, (1, 2), r"expected options to be a dict such as .* got \(1, 2\)$"),
        (ValueError, {"level": "L9"}, "expected level to be one of L1, L2, L3, L4, L5, got 'L9'"),
    ],
)
def test_wrong_options_are_refused_and_leave_the_episode_running(
    tiny: Make, kind: type[Exception], options: Any, text: str
) -> None:
    env = tiny()
    env.reset(seed=1)
    with pytest.raises(kind, match=text):
        env.reset(options=options)
    assert env.step(LOOK)[0]["role"] == "tool"


def test_the_test_split_plays_the_curated_scenarios_and_each_is_reached(tiny: Make) -> None:
    env = tiny(split="test")
    seen = {env.reset(seed=seed)[1]["scenario_id"] for seed in range(30)}
    assert seen == {"tiny/renew-001", "tiny/refuse-001"}
    assert env.reset(seed=3, options={"level": "L3"})[1]["scenario_id"] == "tiny/refuse-001"
    with pytest.raises(ValueError, match="the test split of tiny has no scenario of level L5"):
        env.reset(options={"level": "L5"})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"split": "dev"}, "expected split to be one of train, test, private, got 'dev'"),
        ({"split": "private"}, 'scenarios= names the folder of split="private"'),
        ({"backend": "podman"}, "expected backend to be one of embedded, docker, got 'podman'"),
        ({"info": "none"}, "expected info to be one of full, lean, got 'none'"),
        ({"on_veto": "never"}, "expected on_veto to be None, end, flag or block, got 'never'"),
        ({"level": "L0"}, "expected level to be one of L1, L2, L3, L4, L5, got 'L0'"),
        ({"render_mode": "human"}, "expected render_mode to be None or \"ansi\", got 'human'"),
    ],
)
def test_wrong_arguments_are_refused(tiny: Make, arguments: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tiny(**arguments)


def test_info_tells_the_split_of_the_scenario_and_not_that_of_the_environment(tiny: Make) -> None:
    train, test = tiny(), tiny(split="test")
    for env in (train, test):
        assert env.reset(seed=1, options={"scenario": "tiny/renew-001"})[1]["split"] == "test"
        assert env.step(LOOK)[4]["split"] == "test"
        # One made on the spot is of neither.
        assert env.reset(seed=1, options={"scenario": variant(id="tiny/mine-001")})[1]["split"] == (
            "train" if env is train else "test"
        )
    assert train.reset(seed=1)[1]["split"] == "train"
    assert copy.deepcopy(test).step(LOOK)[4]["split"] == "test"
    shop = gym.make("Refund-v0", split="test", disable_env_checker=True)
    assert shop.reset(seed=1, options={"scenario": "refund/train/L1-7"})[1]["split"] == "train"
    assert shop.reset(seed=1)[1]["split"] == "test"
    shop.close()
