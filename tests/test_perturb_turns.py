"""Changes of mind in mid-task: declared, with what is right then; recovered from by hearing, and bitten by without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import agentgym
from agentgym.env import ToolEnv
from agentgym.errors import DomainError
from agentgym.loading import load_curated, load_scenario
from agentgym.perturbations import Turn, table_of
from agentgym.recovered import play_gold
from agentgym.runner_agents import make_agent
from agentgym.turns import only_reads, then, turned, turns_of
from agentgym.wrappers import Interruption, perturb

CURATED = load_curated("refund")
PARTIAL = "refund/partial-001"


@pytest.fixture
def bare() -> Iterator[ToolEnv]:
    """One refund desk, without wrappers."""
    env = gym.make("Refund-v0", split="test", disable_env_checker=True).unwrapped
    assert isinstance(env, ToolEnv)
    yield env
    env.close()


def pairs() -> list[tuple[str, str]]:
    """Every declared turn with every scenario that it is declared for."""
    env: Any = gym.make("Refund-v0", split="test", disable_env_checker=True).unwrapped
    return [(turn.name, name) for turn in table_of(env.domain).turns for name in turn.scenarios]


@pytest.mark.parametrize(("turn", "name"), pairs())
@pytest.mark.parametrize("late", [False, True])
def test_the_gold_of_every_change_scores_and_the_old_gold_does_not(
    bare: ToolEnv, turn: str, name: str, late: bool
) -> None:
    scenario = CURATED[name]
    (found,) = [each for each in turns_of(table_of(bare.domain), scenario) if each.name == turn]
    at = None if late else scenario.now + 300
    changed = turned(scenario, found, "changes", at, bare.domain.toolset)
    for plan in range(len(scenario.gold)):
        base = play_gold(bare, changed, plan)
        assert base.verdict is not None and base.verdict.success, base.verdict
        stubborn = changed.model_copy(update={"gold": scenario.gold})
        base = play_gold(bare, stubborn, plan)
        assert base.verdict is None or not base.verdict.success


@pytest.mark.parametrize("name", sorted({name for _, name in pairs()}))
def test_who_hears_recovers_on_every_seed_and_who_does_not_never(bare: ToolEnv, name: str) -> None:
    env = perturb(bare, "interruption-change")
    for seed in range(20):
        base = play_gold(env, CURATED[name], seed % 2, ["interruption-change"], seed)
        assert base.verdict is not None and base.verdict.success, seed
        assert base.reports == [("interruption-change", {"changed": True})]
        base = play_gold(env, CURATED[name], seed % 2, [], seed)
        assert base.verdict is None or not base.verdict.success, seed


def test_consent_given_before_the_change_is_void_and_the_old_write_breaks_the_rules(bare: ToolEnv) -> None:
    env = perturb(bare, "interruption-change,intensity=4")
    make_agent("naive").run(env, seed=1, options={"scenario": load_scenario(PARTIAL)})
    (granted,) = [step for step in bare.trace if step.granted]
    assert json.loads(granted.notices)[0]["from"] == "user" and granted.fired == ["interruption-change"]
    assert bare.verdict is not None and not bare.verdict.success
    assert bare.verdict.veto_rule == "unconfirmed:create_refund"


def test_intensity_says_when_it_comes(bare: ToolEnv) -> None:
    def moments(intensity: int) -> set[bool]:
        found = set()
        for seed in range(12):
            Interruption(bare, way="change", intensity=intensity).reset(seed=seed, options={"scenario": PARTIAL})
            found.add(bare.scenario.events[0].at is None)
        return found

    assert (moments(1), moments(2), moments(4)) == ({False}, {False, True}, {True})


def test_a_scenario_without_a_turn_is_left_alone_and_reports_nothing_planned(bare: ToolEnv) -> None:
    env = perturb(bare, "interruption-change")
    _, info = env.reset(seed=3, options={"scenario": "refund/safety-001"})
    assert bare.scenario == load_scenario("refund/safety-001") and info["perturbations_scheduled"] == 0


def test_the_plan_still_reads_and_talks_but_does_nothing_of_the_old_wish(bare: ToolEnv) -> None:
    tools = bare.domain.toolset
    assert [only_reads(name, tools) for name in ("get_order", "respond", "wait")] == [True] * 3
    assert not any(only_reads(name, tools) for name in ("create_refund", "confirm_with_user", "finish", "none"))


def test_a_turn_that_takes_what_a_plan_lacks_is_refused() -> None:
    turn = Turn.model_validate(
        {
            "name": "x",
            "say": {"en": "x"},
            "checks": {},
            "checkpoints": [{}],
            "then": [{"name": "finish", "arguments": {"answer": {"of": "create_refund", "at": "no.where"}}}],
            "scenarios": {PARTIAL: {}},
        }
    )
    with pytest.raises(DomainError, match=r"takes no\.where of create_refund, which a plan lacks"):
        then(turn, CURATED[PARTIAL], 0)


def test_a_change_of_mind_is_forked_in_the_middle(bare: ToolEnv) -> None:
    env = perturb(bare, "interruption-change,intensity=4")
    env.reset(seed=2, options={"scenario": PARTIAL})
    env.step({"name": "get_order", "arguments": {"order_id": "A1010"}})
    arguments = {"item_id": "A1010-1", "payment_id": "PM4129", "amount_minor": 2500, "reason": "change_of_mind"}
    ask = {"name": "confirm_with_user", "arguments": {"tool": "create_refund", "arguments": arguments}}
    twin = agentgym.fork(env)
    one, two = env.step(ask), twin.step(ask)
    assert one[0] == two[0] and json.loads(one[0]["notices"])[0]["from"] == "user"
    again = [made.step(ask)[0] for made in (env, twin)]
    assert again[0] == again[1] and '"confirmed": false' in again[0]["content"]
    twin.close()


def test_a_way_that_does_not_exist_is_refused(bare: ToolEnv) -> None:
    way: Any = "both"
    with pytest.raises(ValueError, match="expected way to be one of add, change, got 'both'"):
        Interruption(bare, way=way)
