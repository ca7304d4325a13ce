"""The generator of training scenarios: sound, solvable, varied, the same everywhere, fast."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from functools import cached_property
from typing import Any

import pytest

from agentgym.envs.refund import calculator
from agentgym.envs.refund.env import DOMAIN, RefundEnv
from agentgym.envs.refund.gen_data import reference
from agentgym.envs.refund.gen_families import FAMILIES
from agentgym.envs.refund.generator import LEVELS, generate
from agentgym.gold import GoldRunner, plans_differ
from agentgym.lint import lint
from agentgym.scenario import Scenario
from agentgym.selection import Selection
from agentgym.validate.gold_sight import answer_not_in_prompt
from agentgym.validate.gold_taint import information_sufficiency
from agentgym.validate.subject import Subject
from agentgym.world import World

SOUND = 300


def spelt(scenario: Scenario) -> str:
    return json.dumps(scenario.model_dump(mode="json", by_alias=True), sort_keys=True, ensure_ascii=False)


def play(env: RefundEnv, scenario: Scenario, plan: int) -> list[dict[str, Any]]:
    """Play a gold plan and return its calls; it must succeed without a veto or an error, with all checkpoints."""
    runner = GoldRunner(scenario, plan)
    calls: list[dict[str, Any]] = []
    info: dict[str, Any] = {}
    observation, _ = env.reset(seed=1, options={"scenario": scenario})
    action, over, reward = runner.next(observation), False, 0.0
    while action is not None and not over:
        calls.append(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation["role"] != "error", f"{scenario.id} gold[{plan}]: {observation['content']}"
        over = terminated or truncated
        action = None if over else runner.next(observation)
    verdict = env.verdict
    assert verdict is not None, f"{scenario.id} gold[{plan}] has no end"
    failed = [(check.name, check.expected, check.found) for check in verdict.checks if not check.ok]
    assert verdict.success, (
        f"{scenario.id} ({scenario.family}) gold[{plan}]: {verdict.end_reason} {verdict.veto_rule} {failed}"
    )
    assert (reward, verdict.checkpoint_completion, info["veto_attempts"]) == (1.0, 1.0, 0), scenario.id
    return calls


def test_generated_scenarios_pass_the_lint_and_full_validation() -> None:
    world = World(DOMAIN.snapshot, DOMAIN.toolset)
    for seed in range(SOUND):
        scenario = generate(seed)
        assert Scenario.model_validate(scenario.model_dump(by_alias=True)) == scenario, scenario.id
        lint(scenario, DOMAIN, world)
    world.close()


def test_both_gold_plans_score_one_and_differ() -> None:
    env = RefundEnv()
    for seed in range(SOUND):
        scenario = generate(seed)
        first, second = (play(env, scenario, plan) for plan in (0, 1))
        assert plans_differ(first, second, DOMAIN.toolset), scenario.id
    env.close()


@pytest.mark.parametrize("end", [{"outcome": "done"}, {"outcome": "refused", "answer": {"reason": "outside_window"}}])
def test_doing_nothing_scores_zero(end: dict[str, Any]) -> None:
    env = RefundEnv()
    for seed in range(SOUND):
        env.reset(seed=seed)
        _, reward, terminated, _, info = env.step({"name": "finish", "arguments": end})
        assert terminated
        assert (reward, info["success"]) == (0.0, False), env.scenario.id
    env.close()


def test_handing_off_at_once_scores_zero() -> None:
    env = RefundEnv()
    for seed in range(SOUND):
        env.reset(seed=seed)
        reason = env.scenario.checks.end.hand_off[:1] or ["legal_threat"]
        _, reward, _, _, _ = env.step(
            {"name": "hand_off", "arguments": {"reason": reason[0], "summary": "please see to it"}}
        )
        assert reward == 0.0, env.scenario.id
    env.close()


@pytest.mark.parametrize(("count", "share"), [(2_000, 4), pytest.param(10_000, 5, marks=pytest.mark.slow)])
def test_as_many_scenarios_as_seeds_and_fair_shares(count: int, share: int) -> None:
    seen: set[bytes] = set()
    families, languages, levels, ends = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for seed in range(count):
        scenario = generate(seed)
        parts = [json.dumps(scenario.initial_state.patch, sort_keys=True), scenario.user.opening, repr(scenario.checks)]
        seen.add(hashlib.sha256("\n".join(parts).encode()).digest())
        families[scenario.family] += 1
        languages[scenario.language] += 1
        levels[scenario.level] += 1
        ends[
            "done" if scenario.checks.end.outcome == ["done"] and scenario.family != "changed-mind" else "not done"
        ] += 1
    assert len(seen) == count
    assert set(families) == {family.name for family in FAMILIES}
    assert len(families) >= 10
    assert min(families.values()) >= count * share // 100, families
    assert languages["zh"] >= count // 5
    assert set(levels) == set(LEVELS)
    assert ends["not done"] >= count // 10


def test_each_level_is_a_parameter_and_a_drawn_one_gives_the_same() -> None:
    for seed in range(40):
        drawn = generate(seed)
        assert spelt(generate(seed, drawn.level)) == spelt(drawn)
        for level in LEVELS:
            scenario = generate(seed, level)
            assert (scenario.level, scenario.id, scenario.family) == (
                level,
                f"refund/train/{level}-{seed}",
                drawn.family,
            )


def test_higher_levels_ask_for_more() -> None:
    def steps(level: str) -> float:
        return statistics.mean(min(len(plan.actions) for plan in generate(seed, level).gold) for seed in range(150))

    found = {level: steps(level) for level in LEVELS}
    assert found["L1"] < found["L3"] < found["L5"], found
    assert found["L2"] < found["L4"] < found["L5"], found


def test_an_unknown_level_is_told() -> None:
    with pytest.raises(ValueError, match="expected level to be one of L1, L2, L3, L4, L5, got 'L6'"):
        generate(1, "L6")


def test_an_id_leads_back_to_its_scenario() -> None:
    scenario = generate(123456789012)
    assert spelt(Selection("train").named(DOMAIN, scenario.id)) == spelt(scenario)


_PRINT = """
import hashlib, json
from agentgym.envs.refund.generator import generate
found = [generate(seed).model_dump(mode="json", by_alias=True) for seed in range(60)]
print(hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest())
"""


def test_seeds_mean_the_same_in_every_process() -> None:
    def digest(hash_seed: str) -> str:
        settings = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": "Asia/Tokyo" if hash_seed == "1" else "UTC"}
        return subprocess.run(
            [sys.executable, "-c", _PRINT], env=settings, check=True, capture_output=True, text=True
        ).stdout

    assert digest("1") == digest("2") != ""


def people(world: World, scenario: Scenario) -> tuple[dict[str, Any], dict[str, Any]]:
    """The customer and the ticket that a scenario is about."""
    world.reset(scenario.initial_state.patch)
    customer = world.row("SELECT * FROM customers WHERE customer_id = ?", scenario.domain["caller"])
    ticket = world.row("SELECT * FROM tickets WHERE ticket_id = ?", scenario.domain["ticket"])
    assert customer is not None
    assert ticket is not None
    assert ticket["customer_id"] == customer["customer_id"]
    return customer, ticket


def test_amounts_follow_from_the_calculator_and_the_rows_alone() -> None:
    tried, world = Counter[str](), World(DOMAIN.snapshot, DOMAIN.toolset)
    kinds = {
        product["product_id"]: category for category, products in reference().products.items() for product in products
    }
    for seed in range(1500):
        scenario = generate(seed, "L1")
        if scenario.family not in ("partial-refund", "inspection-fee", "split-payment", "store-credit"):
            continue
        patch = scenario.initial_state.patch
        (order,), (back,) = patch["orders"], patch["returns"]
        customer, _ = people(world, scenario)
        item = next(row for row in patch["order_items"] if row["item_id"] == back["item_id"])
        worth = calculator.value(order["coupon_minor"], item, patch["order_items"], back["quantity"])
        category = kinds[item["product_id"]]
        amount = calculator.change_of_mind(
            worth, category, back["condition"], customer["tier"], back["label"], order["currency"]
        )
        answer = scenario.checks.answer
        assert answer is not None
        assert answer.fields["refund_minor"].value == amount, scenario.id
        tried[scenario.family] += 1
    assert min(tried.values()) >= 50, tried
    world.close()


def test_windows_follow_from_the_calculator_and_the_rows_alone() -> None:
    tried, world = Counter[str](), World(DOMAIN.snapshot, DOMAIN.toolset)
    kinds = {
        product["product_id"]: category for category, products in reference().products.items() for product in products
    }
    for seed in range(1000):
        scenario = generate(seed, "L2")
        if scenario.family not in ("return-window", "outside-window"):
            continue
        patch, known = scenario.initial_state.patch, reference()
        (parcel,), (event,), (item,) = (patch[table] for table in ("shipments", "tracking_events", "order_items"))
        customer, ticket = people(world, scenario)
        delivered, country = calculator.day_of(event["at"]), customer["country"]
        notice = calculator.extra_days(delivered, parcel["carrier"], country, known.notices)
        last = calculator.last_day(
            delivered, kinds[item["product_id"]], customer["tier"], notice, known.holidays.get(country, ())
        )
        assert last is not None
        in_time = calculator.day_of(ticket["created_at"]) <= last
        assert in_time == (scenario.family == "return-window"), scenario.id
        assert [value.value for value in scenario.checks.said[0].must] == [last.isoformat()], scenario.id
        tried[f"{scenario.family}, notice {notice > 0}"] += 1
    assert tried["return-window, notice True"] >= 5, tried
    world.close()


class _Generated(Subject):
    @cached_property
    def curated(self) -> list[Scenario]:
        return []


def test_answers_do_not_stand_in_the_prompt_and_gold_knows_what_it_says() -> None:
    subject = _Generated("Refund-v0", generated=40)
    for check in (answer_not_in_prompt, information_sufficiency):
        assert check(subject).failures == []
    subject.env.close()


def test_ids_do_not_tell_each_other() -> None:
    scenario = generate(5, "L5")
    patch = scenario.initial_state.patch
    numbers = [
        row[key][len(prefix) :]
        for table, key, prefix in (
            ("orders", "order_id", "A"),
            ("payments", "payment_id", "PM"),
            ("shipments", "shipment_id", "SH"),
        )
        for row in patch[table]
    ]
    assert len(set(numbers)) == len(numbers)
    gaps = {abs(int(a) - int(b)) for a in numbers for b in numbers if a != b}
    assert min(gaps) > 1


def test_generating_is_fast(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(200):
        generate(seed)
    took = []
    for seed in range(200, 1200):
        start = time.perf_counter()
        generate(seed)
        took.append(time.perf_counter() - start)
    median = statistics.median(took)
    with capsys.disabled():
        sys.stdout.write(f"\ngenerate: median {median * 1e6:.0f} µs\n")
    # The budget proper is the benchmark's, which scales by the machine; this only catches a slip of an order of
    # magnitude.
    assert median < 0.01
