"""The waterfall over whole domains: gold is right wherever it is given, and nothing is right without its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import agentgym
from agentgym.env import ToolEnv
from agentgym.loading import load_curated
from agentgym.scenario import Scenario
from agentgym.trace import Call
from agentgym.waterfall import Graded, Waterfall

DOCUMENTS = frozenset({"list_docs", "read_docs", "read_policy", "search_policy"})


def golden(env: ToolEnv, scenario: Scenario, plan: int) -> tuple[list[Call], Any]:
    """What ran in a gold plan in the domain's own terms, and what it answered."""
    observation, _ = env.reset(seed=0, options={"scenario": scenario})
    runner, done = agentgym.GoldRunner(scenario, plan, env.presentation), False
    while not done and (action := runner.next(observation)) is not None:
        observation, _, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
    ran = [step.ran for step in env.trace if step.ran is not None]
    words = {"respond": "message", "hand_off": "summary"}
    told = " ".join(str(call.arguments[words[call.name]]) for call in ran if call.name in words)
    return ran, told if scenario.checks.answer is None and not scenario.checks.answer_state else ran[-1].arguments[
        "answer"
    ]


@pytest.fixture(scope="module", params=["Refund-v0", "HR-v0"])
def desk(request: pytest.FixtureRequest) -> Iterator[tuple[ToolEnv, Waterfall]]:
    env = gym.make(request.param, split="test").unwrapped
    assert isinstance(env, ToolEnv)
    with Waterfall(env.domain, skip=DOCUMENTS) as waterfall:
        yield env, waterfall
    env.close()


def graded(desk: tuple[ToolEnv, Waterfall]) -> Iterator[tuple[Graded, Graded]]:
    env, waterfall = desk
    for scenario in load_curated(env.domain).values():
        calls, answer = golden(env, scenario, 0)
        yield waterfall.grade(scenario, calls, answer), waterfall.grade(scenario, [], answer)


def test_gold_is_correct_and_its_answer_alone_is_not(desk: tuple[ToolEnv, Waterfall]) -> None:
    found = list(graded(desk))
    assert len(found) >= 40
    assert [each for each, _ in found if not each.correct] == []
    assert [each for _, each in found if each.correct] == []


def test_calls_as_agents_are_shown_them_are_refused() -> None:
    env = gym.make("HR-v0", split="test").unwrapped
    assert isinstance(env, ToolEnv)
    scenario = next(iter(load_curated(env.domain).values()))
    with Waterfall(env.domain) as waterfall, pytest.raises(ValueError, match=r"step\.ran"):
        waterfall.grade(scenario, [Call("http_request", {"method": "GET", "path": "/"})], "x")
    env.close()
