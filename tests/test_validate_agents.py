"""Each check of agents that must fail: passes on good scenarios, fails on a planted fault."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from faulty_domain import DESK, Data, find, put, refuse, renew, simple, subject_of

from agentgym.env import ToolEnv
from agentgym.runner_agents import make_agent
from agentgym.text import dumps
from agentgym.validate.agents import AtEnd
from agentgym.validate.subject import Subject

AGENT_CHECKS = ("V01", "V02", "V04", "V05", "V06", "V07", "V42")


def easy(**checks: Any) -> Data:
    """A renewal's scenario that asks for nothing but what is given here."""
    data = simple("tiny/easy")
    return {**data, "checks": {"end": {"outcome": ["done"]}, **checks}}


@pytest.mark.parametrize("check", AGENT_CHECKS)
def test_good_scenarios_are_passed_by_no_adversary(check: str, tmp_path: Path) -> None:
    finding = find(check, subject_of(tmp_path, renew(), refuse()))
    assert finding.failures == []


def test_the_figure_of_the_do_nothing_check_counts_every_variant_on_every_scenario(tmp_path: Path) -> None:
    assert find("V01", subject_of(tmp_path, renew(), refuse())).figure == "0/10 successes"


def test_a_scenario_that_doing_nothing_passes_is_found(tmp_path: Path) -> None:
    always = {"sql": "SELECT renewals FROM loans WHERE loan_id = 'L101'", "expect": 0, "type": "int", "holds": "always"}
    finding = find("V01", subject_of(tmp_path, renew(), easy(final_state=[always])))
    assert finding.failures == ["do-nothing:outcome=done on tiny/easy: finished, return 1"]


def test_a_refusal_that_asks_for_no_evidence_is_found(tmp_path: Path) -> None:
    bare = put(refuse(), "checks.answer", None)
    finding = find("V01", subject_of(tmp_path, bare))
    assert finding.failures == ["do-nothing:outcome=refused on tiny/refuse-001: finished, return 1"]


def test_a_scenario_that_talk_passes_is_found(tmp_path: Path) -> None:
    finding = find("V02", subject_of(tmp_path, easy(said=[{"must": [{"type": "text", "value": "done"}]}])))
    assert finding.failures == ["talk-only:outcome=done on tiny/easy: finished, return 1"]


def test_a_scenario_that_reading_passes_is_found(tmp_path: Path) -> None:
    finding = find("V04", subject_of(tmp_path, easy(process={"required": ["list_loans"]})))
    assert "read-only:outcome=done on tiny/easy: finished, return 1" in finding.failures


def test_gold_that_writes_for_nothing_is_found_by_leaving_its_writes_out(tmp_path: Path) -> None:
    said = [{"must": [{"type": "date", "value": "2026-04-03"}]}]
    loose = put(put(renew(), "checks.final_state", []), "checks.said", said)
    finding = find("V04", subject_of(tmp_path, loose))
    assert "tiny/renew-001 gold[0] without its writes on tiny/renew-001: finished, return 1" in finding.failures


def test_writes_that_nothing_forbids_are_found(tmp_path: Path) -> None:
    lawless = dataclasses.replace(DESK, vetoes=())
    finding = find("V05", subject_of(tmp_path, renew(), domain=lawless))
    assert finding.failures
    assert all(failure.startswith("no veto: ") for failure in finding.failures)
    assert any(failure.startswith("no veto: informed spammer on tiny/renew-001") for failure in finding.failures)


def test_a_family_that_a_constant_refusal_passes_is_found(tmp_path: Path) -> None:
    answer = {"type": "object", "value": {"reason": "renewal_limit"}, "fields": {"reason": {"type": "text"}}}
    finding = find("V06", subject_of(tmp_path, renew(), put(refuse(), "checks.answer", answer)))
    assert "refuser:code=renewal_limit is right on 1 of 2 scenarios: ['tiny/refuse-001']" in finding.failures
    whole = "refuser:code=renewal_limit is right on the whole family 'renewal-limit': ['tiny/refuse-001']"
    assert whole in finding.failures


def test_one_constant_hand_off_is_found(tmp_path: Path) -> None:
    data = easy(end={"outcome": [], "hand_off": ["no_policy"]})
    data["gold"] = [
        {**plan, "actions": [{"name": "hand_off", "arguments": {"reason": "no_policy", "summary": "Please look."}}]}
        for plan in data["gold"]
    ]
    finding = find("V06", subject_of(tmp_path, data))
    assert "hand-off:code=no_policy is right on 1 of 1 scenarios: ['tiny/easy']" in finding.failures


def test_two_scenarios_with_the_same_way_out_are_found(tmp_path: Path) -> None:
    finding = find("V07", subject_of(tmp_path, simple("tiny/one", 14), simple("tiny/two", 14), simple("tiny/six", 15)))
    assert len(finding.failures) == 4
    assert finding.failures[0] == "memory of tiny/one gold[0] on tiny/two: finished, return 1"


def test_random_calls_get_nowhere_where_the_one_checkpoint_is_the_goal(tmp_path: Path) -> None:
    goal = put(renew(), "checkpoints", renew()["checkpoints"][-1:])
    finding = find("V03", subject_of(tmp_path, goal))
    assert finding.failures == []
    assert finding.figure.startswith("0/300 successes, mean checkpoint share 0.")


def test_checkpoints_that_come_by_chance_are_found(tmp_path: Path) -> None:
    chance = put(refuse(), "checkpoints", [{"name": "any", "called": [{"name": "finish"}, {"name": "hand_off"}]}])
    finding = find("V03", subject_of(tmp_path, chance))
    assert finding.failures
    assert finding.failures[-1].startswith("the mean checkpoint share is ")


def test_a_user_who_gives_the_answer_away_by_their_yes_is_found(tmp_path: Path) -> None:
    finding = find("V42", subject_of(tmp_path, simple()))
    assert finding.failures == ["confirm-guesser:refusals=2 on tiny/simple: finished, return 1"]


@pytest.mark.parametrize("name", ["talk-only", "read-only", "spammer"])
@pytest.mark.parametrize("env_id", ["Refund-v0", "HR-v0"])
def test_an_episode_that_is_ended_in_three_ways_is_three_episodes(name: str, env_id: str) -> None:
    subject = Subject(env_id, 0)

    def told(env: ToolEnv) -> str:
        steps = [step.to_json() for step in env.trace]
        return dumps([env.verdict.to_json() if env.verdict else None, env.episode_return, steps])

    for scenario in subject.curated[::25]:
        budget = scenario.checks.process.max_steps
        for env in [subject.env, *(form.env for form in subject.turn(subject.default_forms, scenario))]:
            apart = []
            for outcome in ("done", "refused", "impossible"):
                agent = make_agent(f"{name}:outcome={outcome},budget={budget}")
                agent.run(env, seed=0, options={"scenario": scenario})
                apart.append(told(env))
            ending = AtEnd(env)
            make_agent(f"{name}:outcome=done,budget={budget}").run(ending, seed=0, options={"scenario": scenario})
            together = [told(env)]
            for outcome in ("refused", "impossible"):
                ending.end_with(outcome)
                together.append(told(env))
            assert together == apart
