"""The checks of perturbations: green for the refund desk, and red where something is wrong."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from agentgym.loading import load_scenario
from agentgym.noise import protected, vague, wording
from agentgym.noise_words import CLAIMS, OFF_TOPIC
from agentgym.perturbations import Table
from agentgym.random import Stream
from agentgym.recovered import play_gold
from agentgym.regrade import regrade
from agentgym.validate.perturbed import Pair, _compared, kinds_of, run_pairs
from agentgym.validate.registry import CHECKS, load_checks
from agentgym.validate.subject import Subject
from agentgym.wrappers import KINDS, perturb
from agentgym.wrappers.wordings import register, wording_of

LIMITED = {"refund/partial-001", "refund/limit-001", "refund/safety-001"}


@pytest.fixture
def subject() -> Any:
    """Three scenarios of the refund desk."""
    made = Subject("Refund-v0", generated=0)
    made.__dict__["curated"] = [load_scenario(name) for name in sorted(LIMITED)]
    yield made
    made.env.close()


@pytest.mark.parametrize("check", ["V10", "V14", "V24P", "V43P", "V45"])
def test_the_checks_are_green_for_the_refund_desk(subject: Subject, check: str) -> None:
    load_checks()
    assert CHECKS[check].function(subject).failures == []


def test_pairs_say_what_survives_and_what_bites(subject: Subject) -> None:
    found = {pair.scenario: pair for pair in run_pairs(subject, "dynamic-state", 3)}
    assert all(pair.won == 3 for pair in found.values())
    assert [found[name].bites for name in sorted(LIMITED)] == [True, True, False]


@pytest.mark.parametrize(
    ("pair", "table", "text"),
    [
        (Pair("pollution", "a", 20, 19, True, "seed 3: x"), {}, "pollution × a: 19 of 20 seeds; seed 3: x"),
        (Pair("pollution", "a", 20, 20, False), {}, "pollution × a: bites on none of 100 seeds"),
        (
            Pair("pollution", "a", 20, 20, True),
            {"unbitten": {"pollution": {"a": "no"}}},
            "declared unbitten, and bites",
        ),
        (Pair("jitter", "a", 20, 20, None), {"unsurvivable": {"jitter": {"a": "no"}}}, "declared not survivable, and"),
    ],
)
def test_what_running_shows_is_held_against_what_is_declared(pair: Pair, table: dict[str, Any], text: str) -> None:
    (failure,) = _compared(Table.model_validate(table), pair)
    assert text in failure


def test_a_domain_without_a_table_is_checked_for_the_kinds_that_need_none() -> None:
    assert set(KINDS) - set(kinds_of(Table())) == {
        "pollution",
        "dynamic-state",
        "shutdown",
        "injection",
        "interruption-change",
    }


@pytest.mark.parametrize(
    "kind", ["outage-before-commit", "outage-after-commit", "dynamic-state", "interruption", "jitter"]
)
def test_a_perturbed_episode_can_be_graded_again(kind: str) -> None:
    scenario = load_scenario("refund/partial-001")
    env = perturb(gym.make("Refund-v0", split="test", disable_env_checker=True), kind)
    base = play_gold(env, scenario, 0, [kind] if kind != "jitter" else [], 3)
    assert base.verdict is not None and base.verdict.success
    rows = [step.to_json() for step in base.trace]
    again = regrade(base.scenario, base.domain, rows, base.verdict.end_reason, base.state_hash)
    assert again.success
    env.close()


def test_stock_sentences_hold_no_protected_span() -> None:
    assert [text for texts in (OFF_TOPIC, CLAIMS) for said in texts.values() for text in said if protected(text)] == []


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("I don't want order A1010, it was EUR 12.50 on 3 May.", ["don't", "A1010", "EUR 12.50", "3", "May"]),
        ("订单 A1030（一盏台灯）我不想等了", ["A1030", "一盏", "不"]),
        ("mail a.b@example.org, please", ["a.b@example.org"]),
    ],
)
def test_ids_amounts_dates_counts_and_negations_are_protected(text: str, spans: list[str]) -> None:
    assert protected(text) == spans
    for seed in range(30):
        assert protected(wording(text, 1.0, Stream(seed, "x"), "zh" if "订单" in text else "en")) == spans


def test_a_literal_that_is_left_out_is_left_out_as_a_whole() -> None:
    assert vague("A1010 and A10101.", ["A1010"]) == "the one from a while ago and A10101."


def test_wordings_are_registered_once_and_need_a_place_for_the_call() -> None:
    with pytest.raises(ValueError, match="there is an attack 'plain' already"):
        register("plain", "{call}")
    with pytest.raises(ValueError, match=r"expected a wording with \{call\} in it"):
        register("empty", "do it")
    with pytest.raises(ValueError, match=r"there is no attack 'plan' \(did you mean \"plain\"\?\)"):
        wording_of("plan")
