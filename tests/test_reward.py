"""Rewards: what an episode pays, whatever its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spawned import CONFIRM, DONE, GOOD, LOOK, RENEW, TELL, TinyEnv, call, play, variant

from agentgym.reward import Reward

Make = Callable[..., TinyEnv]


def paid(make: Make, mode: str, actions: list[Any], **fields: Any) -> list[float]:
    env = make(reward=mode)
    env.reset(seed=1, options={"scenario": variant(**fields)})
    rewards = [step[1] for step in play(env, actions)]
    assert all(type(reward) is float for reward in rewards)
    assert sum(rewards) == pytest.approx(env.episode_return, abs=1e-12)
    return rewards


def test_sparse_pays_one_for_success_and_nothing_on_the_way(tiny: Make) -> None:
    assert paid(tiny, "sparse", GOOD) == [0, 0, 0, 0, 1]
    assert paid(tiny, "sparse", [*GOOD[:3], DONE]) == [0, 0, 0, 0]


def test_shaped_pays_half_of_the_share_of_the_checkpoints_and_the_rest_with_success(tiny: Make) -> None:
    assert paid(tiny, "shaped", GOOD) == [0.25, 0, 0.25, 0, 0.5]
    assert paid(tiny, "shaped", [LOOK, DONE]) == [0.25, 0]


def test_shaped_weighs_the_checkpoints(tiny: Make) -> None:
    checkpoints = [{"name": "a", "weight": 3, "called": "list_loans"}, {"name": "b", "called": "lend_book"}]
    assert paid(tiny, "shaped", [LOOK, LOOK, DONE], checkpoints=checkpoints) == [0.375, 0, 0]


def test_undoing_and_redoing_pays_nothing_more(tiny: Make) -> None:
    checkpoints = [
        {"name": "noted", "sql": "SELECT count(*) FROM notes", "expect": 1, "type": "int"},
        {"name": "looked", "called": "list_loans"},
    ]
    note = call("add_note", loan_id="L101", body="x")
    undo = [{"name": "undo", "after": {"call": "list_loans"}, "do": {"notes": {"N1": None}}}]
    rewards = paid(tiny, "shaped", [note, LOOK, note, LOOK, note, DONE], checkpoints=checkpoints, events=undo)
    assert rewards == [0.25, 0.25, 0, 0, 0, 0]


def test_a_veto_brings_the_return_to_minus_one_whatever_was_paid_before(tiny: Make) -> None:
    assert paid(tiny, "shaped", [LOOK, RENEW]) == [0.25, -1.25]
    assert paid(tiny, "sparse", [LOOK, RENEW]) == [0, -1]


def test_a_success_that_comes_with_a_veto_is_a_veto(tiny: Make) -> None:
    assert paid(tiny, "shaped", GOOD, veto=[{"call": "finish"}])[-1] == -1.5


steps = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=20)


@given(steps, st.sampled_from(["sparse", "shaped"]), st.booleans())
def test_the_return_along_any_path_is_its_last_target(path: list[tuple[float, bool]], mode: Any, success: bool) -> None:
    reward = Reward(mode)
    shares = [max(share for share, _ in path[: n + 1]) for n in range(len(path))]
    vetoes = [any(veto for _, veto in path[: n + 1]) for n in range(len(path))]
    last = len(path) - 1
    total = sum(reward.step(shares[n], success and n == last, vetoes[n]) for n in range(len(path)))
    expected = -1.0 if vetoes[-1] else 1.0 if success else 0.5 * shares[-1] if mode == "shaped" else 0.0
    assert total == pytest.approx(expected) and reward.total == expected
    if not success:
        assert reward.total < 1


def test_an_unknown_mode_is_refused(tiny: Make) -> None:
    with pytest.raises(ValueError, match="expected reward to be one of sparse, shaped, got 'dense'"):
        tiny(reward="dense")


def test_cut_off_episodes_keep_what_their_checkpoints_paid(tiny: Make) -> None:
    checks = {"process": {"max_steps": 3}}
    assert paid(tiny, "shaped", [LOOK, CONFIRM, RENEW, TELL], checks=checks) == [0.25, 0, 0.25]
