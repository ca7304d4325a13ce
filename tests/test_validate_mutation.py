"""V15: near misses of gold are no success on a strict desk; loose checks and a blind grader are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from faulty_domain import Data, find, put, refuse, renew, simple, subject_of
from spawned import TinyEnv
from tiny_domain import TINY

from agentgym.net import NetChanges
from agentgym.scenario import Scenario
from agentgym.validate import mutation
from agentgym.validate.subject import Subject

LOAN = "SELECT due_on FROM loans WHERE loan_id = 'L101'"


@pytest.fixture
def strict() -> Data:
    """A renewal whose counter is checked too."""
    return put(
        simple(),
        "checks.final_state.+",
        {"sql": "SELECT renewals FROM loans WHERE loan_id = 'L101'", "expect": 1, "type": "int"},
    )


def test_a_strict_desk_passes_with_every_mutant_killed(tmp_path: Path, strict: Data) -> None:
    finding = find("V15", subject_of(tmp_path, strict, refuse()))
    assert finding.failures == []
    killed, total = finding.figure.split(" killed")[0].split("/")
    assert killed == total and int(total) > 120
    assert "(100.00 %)" in finding.figure


def test_each_kind_of_near_miss_is_played(tmp_path: Path, strict: Data) -> None:
    (tally,) = mutation.tallied(subject_of(tmp_path, strict))
    assert tally.near >= mutation.LEAST
    assert tally.actions >= 20
    assert tally.killed == tally.total > 50


def test_a_column_that_no_check_pins_lets_a_mutant_survive(tmp_path: Path) -> None:
    failures = find("V15", subject_of(tmp_path, simple())).failures
    assert "tiny/simple: gold[0], loans['L101'].renewals is 2 instead of 1 still succeeds" in failures
    assert "tiny/simple: gold[0], loans['L101'].renewals is 0 instead of 1 still succeeds" in failures
    assert all(".renewals is" in failure for failure in failures)


def test_a_check_without_the_day_lets_another_argument_survive(tmp_path: Path) -> None:
    loose = put(
        simple(), "checks.final_state.0", {"sql": f"SELECT ({LOAN}) > '2026-03-20'", "expect": 1, "type": "int"}
    )
    loose = put(loose, "user.wants.0.arguments", {"loan_id": "L101"})
    failures = find("V15", subject_of(tmp_path, loose)).failures
    assert "tiny/simple: gold[0], days of actions[3] (renew_loan) is 15, agreed still succeeds" in failures


def test_a_moment_that_a_check_reads_loosely_is_found(tmp_path: Path, strict: Data) -> None:
    check = {"sql": "SELECT due_on >= '2026-04-02' FROM loans WHERE loan_id = 'L101'", "expect": 1, "type": "int"}
    failures = find("V15", subject_of(tmp_path, put(strict, "checks.final_state.0", check))).failures
    assert any('due_on is "2026-04-04" instead of "2026-04-03"' in failure for failure in failures)
    assert any('due_on is "2026-04-02" instead of "2026-04-03"' in failure for failure in failures)


def test_room_for_another_row_lets_an_extra_write_survive(tmp_path: Path, strict: Data) -> None:
    loose = put(
        strict, "checks.may_change.+", {"table": "notes", "op": "insert", "max": 9, "where": {"loan_id": "L101"}}
    )
    failures = find("V15", subject_of(tmp_path, loose)).failures
    assert any("and add_note" in failure for failure in failures)


def test_an_answer_with_a_free_field_is_found(tmp_path: Path) -> None:
    loose = put(refuse(), "checks.answer.fields", {"reason": {"type": "text"}})
    loose = put(loose, "checks.answer.value", {"reason": "renewal_limit"})
    failures = find("V15", subject_of(tmp_path, loose)).failures
    assert any("answer of actions" in failure and "L102x" in failure for failure in failures)


def test_a_value_listed_beside_that_of_gold_is_equal_to_gold(tmp_path: Path, strict: Data) -> None:
    either = put(
        strict,
        "checks.final_state.1",
        {"sql": "SELECT renewals FROM loans WHERE loan_id = 'L101'", "any_of": [1, 2], "type": "int"},
    )
    finding = find("V15", subject_of(tmp_path, either))
    assert finding.failures == []
    assert "1 a listed alternative" in finding.figure


def test_columns_that_change_by_themselves_and_free_text_are_equal_to_gold(tmp_path: Path) -> None:
    finding = find("V15", subject_of(tmp_path, renew()))
    assert not any("updated_at" in failure or "body" in failure for failure in finding.failures)


class _Deaf(NetChanges):
    """Takes in no change."""

    def add(self, changes: Any) -> None:
        """Forget them."""


class _Blind(TinyEnv):
    """Its judge does not see what changes."""

    def _begin(self, scenario: Scenario, seed: int) -> Any:
        episode = super()._begin(scenario, seed)
        episode.judge.net = _Deaf()
        return episode


def test_a_grader_that_does_not_see_changes_is_found() -> None:
    gym.register("BlindMutation-v0", entry_point=lambda **options: _Blind(**options))
    failures = find("V15", Subject("BlindMutation-v0", generated=0)).failures
    assert any("deleted still succeeds" in failure for failure in failures)
    assert any("twice still succeeds" in failure for failure in failures)


def test_of_generated_scenarios_a_sample_is_played() -> None:
    class Own(TinyEnv):
        """The desk with its generator."""

        domain = TINY

    gym.register("SampledMutation-v0", entry_point=lambda **options: Own(**options))
    subject = Subject("SampledMutation-v0", generated=12, full=True)
    tallies = [tally for tally in mutation.tallied(subject) if tally.scenario.startswith("tiny/gen-")]
    assert len(tallies) == 12
    assert all(0 < tally.total <= mutation.SAMPLE for tally in tallies)
    # Another kind each time: the hole in the counter of renewals is found by some of them.
    assert any("renewals" in what for tally in tallies for what in tally.survivors)
