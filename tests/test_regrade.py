"""Judging stored trials again: perturbed ones too, with what perturbations did and declared."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym.env import ToolEnv
from agentgym.errors import StateError
from agentgym.loading import load_scenario
from agentgym.recovered import play_gold
from agentgym.regrade import as_played, regrade, regrade_store
from agentgym.rollout import Rollout, run_cells
from agentgym.store import Store
from agentgym.wrappers import COMPOSITIONS, KINDS, perturb

SCENARIOS = ("refund/partial-001", "refund/damage-001", "refund/safety-001")


def test_every_trial_of_a_perturbed_store_is_judged_again_as_it_was(tmp_path: Path) -> None:
    specs = tuple((name, name) for name in (*KINDS, *COMPOSITIONS))
    rollout = Rollout("Refund-v0", ("naive", "verifying"), SCENARIOS, perturbations=specs)
    with rollout.open(tmp_path / "a.db") as store:
        assert run_cells(store, workers=1) == {"done": len(rollout.cells)}
    with Store.read(tmp_path / "a.db") as store:
        again = list(regrade_store(store))
    assert [found for found in again if not found.same] == []
    assert len(again) == 2 * 3 * (len(specs) + 1)
    outcomes = Counter(found.verdict.success for found in again if found.verdict)
    assert outcomes[True] > 40 and outcomes[False] > 20


def test_a_changed_record_is_told_and_not_judged(tmp_path: Path) -> None:
    spec = "outage-after-commit,at=1,tools=create_refund"
    rollout = Rollout("Refund-v0", ("verifying",), SCENARIOS[:1], perturbations=(("lost", spec),))
    with rollout.open(tmp_path / "a.db") as store:
        run_cells(store, workers=1)
        rows = store.rows()
    lost = next(step for step in rows[1]["trace"] if step["fault"] and step["writes"])
    env = gym.make("Refund-v0", split="test", disable_env_checker=True)
    scenario = as_played(env, load_scenario(SCENARIOS[0]), rows[1]["seed"], spec)
    domain = env.unwrapped.domain  # type: ignore[attr-defined]
    assert regrade(scenario, domain, rows[1]["trace"], rows[1]["end_reason"], rows[1]["state_hash"]).success
    # The write whose answer was lost has taken effect; the retry with its key has not.
    lost["ran"]["arguments"]["amount_minor"] -= 1
    with pytest.raises(StateError, match="the recorded calls lead to state"):
        regrade(scenario, domain, rows[1]["trace"], rows[1]["end_reason"], rows[1]["state_hash"])
    env.close()


def test_what_a_perturbation_declared_is_judged_by_and_without_it_another_thing_is_right() -> None:
    env = perturb(gym.make("Refund-v0", split="test", disable_env_checker=True), "interruption-change")
    scenario = load_scenario("refund/partial-001")
    base = play_gold(env, scenario, 0, ["interruption-change"], 3)
    rows = [step.to_json() for step in base.trace]
    played = as_played(base, scenario, 3, "interruption-change")
    assert regrade(played, base.domain, rows, "finished").success
    assert not regrade(scenario, base.domain, rows, "finished").success
    env.close()


def test_a_retry_after_a_lost_result_is_no_waste_when_it_is_judged_again() -> None:
    env = perturb(
        gym.make("Refund-v0", split="test", disable_env_checker=True), "outage-after-commit:1,tools=get_order"
    )
    scenario = load_scenario("refund/partial-001")
    process = scenario.checks.process.model_copy(update={"max_redundant": 0})
    strict = scenario.model_copy(update={"checks": scenario.checks.model_copy(update={"process": process})})
    base: Any = env.unwrapped
    env.reset(seed=1, options={"scenario": strict})
    for _ in range(2):
        env.step({"name": "get_order", "arguments": {"order_id": "A1010"}})
    env.step({"name": "finish", "arguments": {"outcome": "impossible"}})
    rows = [step.to_json() for step in base.trace]
    again = regrade(base.scenario, base.domain, rows, "finished", base.state_hash)
    assert again.checks == base.verdict.checks
    env.close()


def test_a_veto_upon_a_call_that_drift_had_changed_is_refused_with_the_reason() -> None:
    made: Any = gym.make("Refund-v0", split="test", disable_env_checker=True, on_veto="block")
    env = perturb(made, "schema-drift:1,docs=updated,parts=rename")
    base = env.unwrapped
    assert isinstance(base, ToolEnv)
    env.reset(seed=1, options={"scenario": "refund/partial-001"})
    env.step({"name": "close_account", "arguments": {"customerId": "C2094"}})
    assert base.trace[0].blocked == "call:close_account" and base.trace[0].fired == ["schema-drift"]
    env.step({"name": "finish", "arguments": {"outcome": "impossible"}})
    rows = [step.to_json() for step in base.trace]
    with pytest.raises(StateError, match="refused .* after schema drift had changed the call"):
        regrade(base.scenario, base.domain, rows, "finished", on_veto="block")
    env.close()


def test_a_store_of_trials_that_cannot_be_played_any_more_says_so(tmp_path: Path) -> None:
    rollout = Rollout("Refund-v0", ("naive",), SCENARIOS[2:])
    with rollout.open(tmp_path / "a.db") as store:
        run_cells(store, workers=1)
        store._connection.execute("UPDATE cells SET scenario = 'refund/gone-001'")
        (found,) = regrade_store(store)
    assert found.verdict is None and not found.same and "gone-001" in found.error
