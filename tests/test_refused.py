"""Rows that a world does not take are an error of the scenario, in words, wherever they are met first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from faulty_domain import find, put, refuse, renew, subject_of
from tiny_domain import TINY

import agentgym
from agentgym.env import ToolEnv
from agentgym.envs.hr.env import DOMAIN, HrEnv
from agentgym.errors import ScenarioError
from agentgym.lint import lint
from agentgym.loading import build
from agentgym.validate import _run
from agentgym.validate.registry import CHECKS, load_checks

HUGE = {"loans": {"L1": {"renewals": 2**70}}}
STRANGER = r"^hr/leave-decision-005: domain\.caller: found 'E9999'; expected a row of employees that exists \(session\."


class TinyEnv(ToolEnv):
    domain = TINY


def test_a_number_beyond_64_bits_is_refused_by_the_reset_and_the_next_one_is_as_ever() -> None:
    env = TinyEnv()
    expected = env.reset(seed=1)[0]
    hash_ = env.state_hash
    wrong = build(put(renew(), "initial_state", {"snapshot": "tiny", "patch": HUGE}))
    with pytest.raises(
        ScenarioError, match=r"^tiny/renew-001: initial_state\.patch: found rows that SQLite refuses: .*int"
    ):
        env.reset(seed=1, options={"scenario": wrong})
    assert env.reset(seed=1)[0] == expected and env.state_hash == hash_
    env.close()


def test_every_check_of_such_a_scenario_is_refused_by_its_name_and_none_dies(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, put(renew(), "initial_state", {"snapshot": "tiny", "patch": HUGE}), refuse())
    assert "tiny/renew-001: initial_state.patch: found rows" in find("V00", subject).failures[0]
    load_checks()
    for name in ("V08", "V11", "V12"):
        result = _run(CHECKS[name], subject)
        assert not result.ok and "tiny/renew-001" in result.detail and "initial_state.patch" in result.detail, result


def test_a_person_who_does_not_exist_is_told_by_the_field_of_the_case() -> None:
    scenario: Any = agentgym.load_scenario("hr/leave-decision-005")
    wrong = scenario.model_copy(update={"domain": {**scenario.domain, "caller": "E9999"}})
    with pytest.raises(ScenarioError, match=STRANGER):
        lint(wrong, DOMAIN)
    env = HrEnv(split="test")
    with pytest.raises(ScenarioError, match=STRANGER):
        env.reset(seed=1, options={"scenario": wrong})
    assert env.reset(seed=1, options={"scenario": scenario})[1]["scenario_id"] == scenario.id
    env.close()


def test_a_row_that_names_another_that_is_not_there_is_told_by_its_table() -> None:
    scenario: Any = agentgym.load_scenario("hr/leave-decision-005")
    patch = {**scenario.initial_state.patch, "employees": {"E1001": {"office_id": "nowhere"}}}
    state = scenario.initial_state.model_copy(update={"patch": patch})
    with pytest.raises(ScenarioError, match=r"initial_state\.patch"):
        lint(scenario.model_copy(update={"initial_state": state}), DOMAIN)
