"""Three agents of rising skill separate, level by level; and the table that shows it."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym import scenario_ids
from agentgym.runner_agents import BUILT_IN, LADDER, SCRIPTED, make_agent
from agentgym.scenario import Scenario
from agentgym.store import Cell, Failure, Outcome, Store
from agentgym.summary import summarise_by

BASELINES = Path(__file__).resolve().parent.parent / "baselines"
LEVELS = ("L1", "L2", "L3", "L4", "L5")
FIRST_SEED = 70_000
"""The words of the agents were tried on smaller seeds."""


@pytest.fixture(scope="module")
def refund() -> Iterator[Any]:
    env = gym.make("agentgym:Refund-v0", split="train")
    yield env
    env.close()


def rate(env: Any, name: str, options: list[dict[str, Any]], seeds: range) -> float:
    wins = 0
    for number, seed in enumerate(seeds):
        make_agent(name).run(env, seed=seed, options=options[number % len(options)])
        verdict = env.unwrapped.verdict
        assert verdict is not None and verdict.status == "ok", f"{name} left {env.unwrapped.scenario.id} open"
        wins += verdict.success
    return wins / len(seeds)


@pytest.mark.parametrize("level", LEVELS)
def test_on_generated_scenarios_of_every_level_each_agent_beats_the_one_below(refund: Any, level: str) -> None:
    seeds = range(FIRST_SEED, FIRST_SEED + 40)
    novice, clerk, expert = (rate(refund, name, [{"level": level}], seeds) for name in LADDER)
    assert expert >= 0.8
    assert expert - clerk >= 0.3
    assert clerk >= novice
    if level in ("L1", "L2"):
        assert clerk - novice >= 0.1


def test_on_the_curated_scenarios_each_agent_beats_the_one_below(refund: Any) -> None:
    options = [{"scenario": name} for name in scenario_ids("refund")]
    novice, clerk, expert = (rate(refund, name, options, range(len(options))) for name in LADDER)
    assert 0 < novice < clerk < expert
    assert expert - clerk >= 0.4 and clerk - novice >= 0.1


def test_the_ladder_is_harder_to_climb_from_level_to_level_for_those_who_know_less(refund: Any) -> None:
    seeds = range(FIRST_SEED, FIRST_SEED + 40)
    rates = [rate(refund, "clerk", [{"level": level}], seeds) for level in ("L1", "L3", "L5")]
    assert rates[0] > rates[1] >= rates[2]


def test_the_agents_of_the_ladder_know_neither_scenario_nor_gold_nor_calculator() -> None:
    files = [BASELINES / f"{name}.py" for name in LADDER] + sorted(BASELINES.glob("_refund_*.py"))
    assert len(files) > len(LADDER)
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        ours = {module for module in modules if module.startswith("agentgym")}
        assert all(module.startswith("agentgym.baselines") for module in ours), (file.name, ours)
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert names.isdisjoint({"unwrapped", "scenario", "verdict", "trace", "save_state"}), file.name
        # What comes from nowhere but a scenario file: numbers of orders, customers, tickets.
        assert not re.search(r"\b[ACT]\d{4}\b", file.read_text(encoding="utf-8")), file.name


def test_the_ladder_is_named_on_the_command_line_and_is_no_part_of_all() -> None:
    assert set(LADDER) <= set(BUILT_IN) and set(LADDER).isdisjoint(SCRIPTED)


@pytest.mark.parametrize("name", LADDER)
def test_the_same_episode_is_played_the_same_way_twice(refund: Any, name: str) -> None:
    traces = []
    for _ in range(2):
        make_agent(name).run(refund, seed=FIRST_SEED, options={"level": "L4"})
        traces.append(json.dumps([step.to_json() for step in refund.unwrapped.trace]))
    assert traces[0] == traces[1]


# The table.


def outcome(success: bool) -> Outcome:
    return Outcome(success, float(success), "finished", checkpoint_completion=float(success))


def filled(path: Path) -> Path:
    """A store: "good" succeeds on all, "bad" on L1; one trial of "bad" at L2 is missing."""
    cells = [
        Cell("Refund-v0", f"refund/{level}-{number}", agent, 0, 1, f"f{number}", level)
        for agent in ("good", "bad")
        for level in ("L2", "L1")
        for number in range(2)
    ]
    store = Store.plan(path, {"env_id": "Refund-v0"}, cells)
    for identifier, cell in store.todo():
        store.start([identifier])
        if (cell.agent, cell.scenario) == ("bad", "refund/L2-1"):
            store.fail(identifier, Failure("infrastructure", "gone"))
        else:
            store.finish(identifier, outcome(cell.agent == "good" or cell.level == "L1"))
    store.close()
    return path


def results(*arguments: str | Path, code: int = 0) -> tuple[str, str]:
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-m", "agentgym.cli", "results", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def test_results_by_level_are_a_ladder(tmp_path: Path) -> None:
    lines = results(filled(tmp_path / "run.db"), "--by", "level")[0].splitlines()
    assert lines[0].split() == ["agent", "L1", "L2", "all"]
    assert lines[2].split() == ["good", "100%", "100%", "100%"]
    # What is missing counts both ways, in its own column as in the last.
    assert lines[3].split() == ["bad", "100%", "0%…50%", "50%…75%"]
    assert lines[4].split() == ["trials", "2", "2", "4"]
    assert any("bad: 75% complete (1 infrastructure)" in line for line in lines)


def test_results_by_family_and_as_json(tmp_path: Path) -> None:
    store = filled(tmp_path / "run.db")
    assert results(store, "--by", "family")[0].splitlines()[0].split() == ["agent", "f0", "f1", "all"]
    shown = json.loads(results(store, "--by", "level", "--json")[0])
    by_level = {
        name: {each["agent"]: each["success_rate"] for each in found} for name, found in shown["by_level"].items()
    }
    assert by_level == {"L1": {"good": 1.0, "bad": 1.0}, "L2": {"good": 1.0, "bad": None}}
    assert [each["agent"] for each in shown["agents"]] == ["good", "bad"]
    assert "by_level" not in json.loads(results(store, "--json")[0])


def test_results_are_split_by_level_or_family_only(tmp_path: Path) -> None:
    store = filled(tmp_path / "run.db")
    assert "'colour' is not one of 'level', 'family'" in results(store, "--by", "colour", code=2)[1]
    with (
        Store.read(store) as opened,
        pytest.raises(ValueError, match="expected by to be one of level, family, capability, got 'x'"),
    ):
        summarise_by(opened, "x")  # type: ignore[arg-type]


def test_the_scenarios_played_are_of_the_level_asked_for(refund: Any) -> None:
    refund.reset(seed=FIRST_SEED, options={"level": "L3"})
    scenario: Scenario = refund.unwrapped.scenario
    assert scenario.level == "L3"
