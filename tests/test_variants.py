"""Variants of scenarios: the customer writes otherwise, gold still scores 1.0, and nothing protected is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentgym.cli import main
from agentgym.dumping import scenario_yaml
from agentgym.loading import build, load_curated, load_scenario, parse
from agentgym.noise import LEVELS, NoiseLevel, keeps
from agentgym.scenario import Scenario
from agentgym.validate.subject import Subject
from agentgym.validate.variants import variants_keep_the_goal
from agentgym.variants import variants, without_number

CURATED = load_curated("refund")
FEW = ["refund/partial-001", "refund/damage-003", "refund/three-problems-001", "refund/change-of-mind-001"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", FEW)
def test_variants_differ_from_the_scenario_and_each_other_in_nothing_but_the_customers_words(
    name: str, level: NoiseLevel
) -> None:
    original = CURATED[name]
    found = variants(original, level, seed=1, count=3)
    assert len({original.user.opening, *(variant.user.opening for variant in found)}) == 4
    assert [variant.id for variant in found] == [f"{name}-{level}-{n}" for n in (1, 2, 3)]
    assert len({original.canary, *(variant.canary for variant in found)}) == 4
    for variant in found:
        assert variant.twin_of == name and variant.tags[-1] == f"variant:{level}"
        assert variant.checks.final_state == original.checks.final_state and variant.veto == original.veto
        moved = without_number(original) if level == "knowledge" else None
        assert keeps(moved.opening if moved else original.user.opening, variant.user.opening)
        assert moved or variant.gold == original.gold


def test_the_same_arguments_give_the_same_variants_and_other_seeds_others() -> None:
    original = CURATED[FEW[0]]
    assert variants(original, "wording", 1) == variants(original, "wording", 1) != variants(original, "wording", 2)


def test_at_the_level_of_knowledge_a_number_moves_into_a_fact_that_gold_asks_for() -> None:
    original = CURATED["refund/partial-001"]
    (variant,) = variants(original, "knowledge", count=1)
    assert "A1010" not in variant.user.opening and "T-shirts of my order" in variant.user.opening
    assert variant.user.facts["number_asked_for"].say == "It is A1010."
    assert variant.checks.process.max_steps == original.checks.process.max_steps + 1
    for after, before in zip(variant.gold, original.gold, strict=True):
        assert after.actions[0].arguments == {"message": "Could you give me the order number, please?"}
        assert after.actions[1:] == before.actions
    subject = Subject("Refund-v0", 0)
    for plan in range(2):
        played = subject.gold(variant, plan)
        assert played.verdict is not None and played.verdict.success
        assert played.observations[1]["content"] == "It is A1010."


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("refund/three-problems-001", "three orders"),
        ("refund/change-of-mind-001", "an event at a time"),
        ("refund/not-found-001", "a fact that answers the question already"),
        ("refund/defective-001", "no number"),
    ],
)
def test_a_number_stays_where_it_cannot_be_asked_for(name: str, why: str) -> None:
    assert without_number(CURATED[name]) is None, why


@pytest.mark.parametrize("name", CURATED)
def test_a_scenario_written_as_yaml_is_read_back_as_it_is(name: str) -> None:
    assert parse(scenario_yaml(CURATED[name]), name) == CURATED[name]


@pytest.mark.parametrize(
    "text", ["010", "1e5", "true", "null", "~", "", "-3", "2026-03-14", ".5", "a: b", "# x", " y "]
)
def test_texts_that_look_like_something_else_are_read_back_as_texts(text: str) -> None:
    scenario = CURATED[FEW[0]].model_copy(update={"instruction": text, "tags": [text]})
    assert parse(scenario_yaml(scenario), "x") == scenario


def _touched(scenario: Scenario) -> Scenario:
    data = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    data["gold"][0]["actions"] = data["gold"][0]["actions"][:-1]
    return build(data)


def test_the_check_is_green_for_what_keeps_the_goal_and_red_where_gold_fails() -> None:
    subject = Subject("Refund-v0", 0)
    subject.__dict__["scenarios"] = [CURATED[name] for name in FEW]
    finding = variants_keep_the_goal(subject)
    assert finding.failures == [] and finding.figure.startswith("24 variants, 48 plans, 4 with a number")
    subject.__dict__["scenarios"] = [_touched(CURATED[FEW[0]])]
    failures = variants_keep_the_goal(subject).failures
    assert len(failures) == 6 and failures[0].startswith("refund/partial-001-wording-1 gold[0]")


def test_the_command_writes_variants_that_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["variants", FEW[0], "--level", "knowledge", "--count", "2", "--out", str(tmp_path)]
    assert main(arguments) == 0
    files = capsys.readouterr().out.split()
    assert files == [f"{tmp_path}/refund/partial-001-knowledge-{n}.yaml" for n in (1, 2)]
    assert load_scenario(files[0]).twin_of == FEW[0]
    assert main(["validate", "Refund-v0", "--folder", str(tmp_path), "--check", "V08", "--check", "V13"]) == 0
    assert main(arguments) == 2
    assert main(["variants", "refund/none", "--level", "wording", "--out", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("loud", 0, 1), "expected the level to be one of wording, structure, knowledge, got 'loud'"),
        (("wording", 0, 0), "expected a count of at least 1, got 0"),
    ],
)
def test_wrong_arguments_are_told(arguments: tuple[NoiseLevel, int, int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        variants(CURATED[FEW[0]], *arguments)
