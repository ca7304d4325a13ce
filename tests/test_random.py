"""Streams: the same words on every version, children by name, positions that can be kept."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from agentgym.pcg64 import advanced, seeded
from agentgym.random import Stream, derive


def test_the_words_are_pinned() -> None:
    stream = Stream(7, "user")
    assert [stream.integers(0, 1000) for _ in range(5)] == PINNED
    assert derive(7, "scenario") == DERIVED


def test_the_generator_is_the_one_of_numpy_word_for_word() -> None:
    for seed in (*range(300), *(7**power % 2**128 for power in range(300)), 2**64 - 1, 2**64, 2**128 - 1):
        numpys = np.random.PCG64(seed)
        state, increment = seeded(seed)
        assert numpys.state["state"] == {"state": state, "inc": increment}
        words = []
        for _ in range(5):
            state, word = advanced(state, increment)
            words.append(word)
        assert words == numpys.random_raw(5).tolist()


PINNED = [108, 264, 361, 203, 716]
DERIVED = 1686040334114322748


def test_streams_differ_by_seed_and_by_name_and_agree_otherwise() -> None:
    def drawn(seed: int, name: str) -> tuple[int, ...]:
        stream = Stream(seed, name)
        return tuple(stream.integers(0, 2**64) for _ in range(4))

    found = [drawn(seed, name) for seed in (0, 1, 2**63 - 1) for name in ("a", "b", "hook/a", "hook/a#2")]
    assert len(set(found)) == len(found) and drawn(1, "a") == drawn(1, "a")


def test_derived_seeds_are_in_range_and_neighbours_share_nothing() -> None:
    found = [derive(seed, "scenario") for seed in range(1000)]
    assert all(0 <= value < 2**63 for value in found) and len(set(found)) == 1000
    assert max(Counter(value % 12 for value in found).values()) < 130


def test_draws_stay_in_their_range_and_reach_its_ends() -> None:
    stream = Stream(1, "x")
    assert {stream.integers(-2, 3) for _ in range(500)} == {-2, -1, 0, 1, 2}
    assert all(0 <= stream.uniform() < 1 for _ in range(500))
    assert stream.integers(5, 6) == 5
    assert 0 <= stream.integers(0, 2**64) < 2**64


def test_draws_are_even() -> None:
    stream = Stream(1, "x")
    counts = Counter(stream.choice("abc") for _ in range(6000))
    assert all(1850 < count < 2150 for count in counts.values())
    orders = Counter(tuple(stream.sample([1, 2, 3], 3)) for _ in range(6000))
    assert len(orders) == 6 and all(850 < count < 1150 for count in orders.values())


def test_sample_takes_different_ones_and_leaves_its_argument_alone() -> None:
    options = list(range(10))
    found = Stream(1, "x").sample(options, 4)
    assert len(set(found)) == 4 and options == list(range(10)) and Stream(1, "x").sample(options, 0) == []


def test_impossible_draws_are_refused() -> None:
    stream = Stream(1, "x")
    with pytest.raises(ValueError, match=r"expected low < high with at most 2\*\*64 values, got low=3, high=3"):
        stream.integers(3, 3)
    with pytest.raises(ValueError, match="got low=0"):
        stream.integers(0, 2**64 + 1)
    with pytest.raises(ValueError, match="expected at least one option to choose from, got none"):
        stream.choice([])
    with pytest.raises(ValueError, match=r"expected a count in 0\.\.2, got 3"):
        stream.sample([1, 2], 3)


@pytest.mark.parametrize("drawn", [0, 1, 7])
def test_a_position_kept_as_json_goes_on_alike(drawn: int) -> None:
    stream = Stream(3, "x")
    for _ in range(drawn):
        stream.uniform()
    state = json.loads(json.dumps(stream.get_state()))
    ahead = [stream.uniform() for _ in range(5)]
    other = Stream(99, "y")
    other.uniform()
    other.set_state(state)
    assert [other.uniform() for _ in range(5)] == ahead
    stream.set_state(state)
    assert [stream.uniform() for _ in range(5)] == ahead
