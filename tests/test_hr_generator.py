"""The generator of HR-v0's training scenarios: sound, solvable, varied, the same everywhere, fast."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from datetime import date
from typing import Any

import pytest

from agentgym.envs.hr.env import DOMAIN, HrEnv
from agentgym.envs.hr.gen_families import FAMILIES
from agentgym.envs.hr.gen_gold import RESOURCES
from agentgym.envs.hr.gen_names import FAMILY, GIVEN
from agentgym.envs.hr.generator import LEVELS, generate
from agentgym.envs.hr.seed import half_up
from agentgym.gold import GoldRunner, plans_differ
from agentgym.lint import lint
from agentgym.scenario import Scenario
from agentgym.selection import Selection
from agentgym.validate.gold_sight import answer_not_in_prompt
from agentgym.validate.gold_taint import information_sufficiency
from agentgym.validate.subject import Subject, scripted
from agentgym.world import World

SOUND = 150


def spelt(scenario: Scenario) -> str:
    return json.dumps(scenario.model_dump(mode="json", by_alias=True), sort_keys=True, ensure_ascii=False)


def play(env: HrEnv, scenario: Scenario, plan: int, seed: int = 1) -> list[dict[str, Any]]:
    """Play a gold plan and return its calls; it must succeed without a veto or an error, with all checkpoints."""
    calls: list[dict[str, Any]] = []
    info: dict[str, Any] = {}
    observation, _ = env.reset(seed=seed, options={"scenario": scenario})
    runner = GoldRunner(scenario, plan, env.presentation)
    action, over, reward = runner.next(observation), False, 0.0
    while action is not None and not over:
        calls.append(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation["role"] != "error", f"{scenario.id} gold[{plan}] {action}: {observation['content']}"
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
    env = HrEnv(tools="direct")
    for seed in range(SOUND):
        scenario = generate(seed)
        first, second = (play(env, scenario, plan) for plan in (0, 1))
        assert plans_differ(first, second, DOMAIN.toolset), scenario.id
    env.close()


@pytest.mark.parametrize("tools", ["http", "typed"])
def test_gold_scores_one_as_the_api_is_shown(tools: str) -> None:
    env = HrEnv(tools=tools)
    for seed in range(40):
        play(env, generate(seed), seed % 2, seed=seed)
    env.close()


def test_gold_reads_the_documentation_of_all_that_it_uses() -> None:
    for seed in range(SOUND):
        for plan in generate(seed).gold:
            names = [action.name for action in plan.actions]
            pages = names.count("read_docs")
            assert names[0] == "list_docs"
            assert 2 <= pages <= len(RESOURCES)
            assert names.index("read_docs") == 1


@pytest.mark.parametrize("end", [{"outcome": "done"}, {"outcome": "refused", "answer": {"reason": "not_permitted"}}])
def test_doing_nothing_scores_zero(end: dict[str, Any]) -> None:
    env = HrEnv()
    for seed in range(SOUND):
        env.reset(seed=seed, options={"scenario": generate(seed)})
        _, reward, terminated, _, info = env.step({"name": "finish", "arguments": end})
        assert terminated
        assert (reward, info["success"]) == (0.0, False), env.scenario.id
    env.close()


@pytest.mark.parametrize(("count", "share"), [(2_000, 5), pytest.param(10_000, 5, marks=pytest.mark.slow)])
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
        ends["done" if scenario.checks.end.outcome == ["done"] else "not done"] += 1
    assert len(seen) == count
    assert set(families) == {family.name for family in FAMILIES}
    assert len(families) >= 8
    assert min(families.values()) >= count * share // 100, families
    assert languages["zh"] >= count // 5
    assert set(levels) == set(LEVELS)
    assert ends["not done"] >= count * 15 // 100, ends


def test_each_level_is_a_parameter_and_a_drawn_one_gives_the_same() -> None:
    for seed in range(30):
        drawn = generate(seed)
        assert spelt(generate(seed, drawn.level)) == spelt(drawn)
        for level in LEVELS:
            scenario = generate(seed, level)
            assert (scenario.level, scenario.id, scenario.family) == (level, f"hr/train/{level}-{seed}", drawn.family)


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


def test_the_spelling_of_the_api_is_no_part_of_a_scenario() -> None:
    scenario = generate(5)
    assert set(scenario.domain) == {"caller", "role"}
    env = HrEnv()
    shown = []
    for seed in (1, 2):
        env.reset(seed=seed, options={"scenario": scenario})
        shown.append(env.scenario.domain["api"])
    env.close()
    assert shown[0] != shown[1]


_PRINT = """
import hashlib, json
from agentgym.envs.hr.generator import generate
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


def test_differences_follow_from_attendance_and_pay_alone() -> None:
    """Policy 3.3 and 3.4 worked out once more from the tools' results, for as many people as it takes."""
    world = World(DOMAIN.snapshot, DOMAIN.toolset)
    tried = 0
    for seed in range(400):
        scenario = generate(seed, "L1")
        answer = scenario.checks.answer
        world.reset(scenario.initial_state.patch)
        if scenario.family != "overtime-mean" or answer is None or "difference_minor" not in answer.fields:
            continue
        name = (
            scenario.gold[0]
            .actions[[a.name for a in scenario.gold[0].actions].index("list_employees")]
            .arguments["name"]
        )
        own = world.row("SELECT employee_id, department_id FROM employees WHERE name = ?", name)
        assert own is not None
        members = world.rows(
            "SELECT m.employee_id AS id, s.currency AS c FROM memberships m JOIN pay_terms t ON t.employee_id = "
            "m.employee_id AND t.valid_from = (SELECT max(valid_from) FROM pay_terms n WHERE n.employee_id = "
            "m.employee_id) JOIN sites s ON s.site = t.site WHERE m.department_id = ? AND m.from_date <= '2026-02-01' "
            "AND coalesce(m.to_date, '9999') >= '2026-02-28'",
            own["department_id"],
        )
        currency = next(row["c"] for row in members if row["id"] == own["employee_id"])
        sums = {row["id"]: _overtime(world, row["id"]) for row in members if row["c"] == currency}
        mean = half_up(sum(sums.values()), len(sums))
        assert answer.fields["difference_minor"].value == sums[own["employee_id"]] - mean, scenario.id
        tried += 1
    world.close()
    assert tried >= 15


def _overtime(world: World, employee_id: str) -> int:
    minutes = world.value(
        "SELECT sum(overtime_minutes) FROM attendance WHERE employee_id = ? AND month = '2026-02'", employee_id
    )
    pay = world.row(
        "SELECT hourly_rate_minor AS r, overtime_percent AS p FROM pay_periods WHERE employee_id = ? "
        "AND valid_from <= '2026-02-01' AND coalesce(valid_to, '9999') >= '2026-02-28'",
        employee_id,
    )
    assert pay is not None
    return half_up(int(minutes or 0) * pay["r"] * pay["p"], 6000)


def test_decisions_on_leave_follow_from_the_rows_alone() -> None:
    """Policy 4.1 to 4.4 from what the API shows: what is approved may be, what is not may not."""
    tried = Counter[str]()
    world = World(DOMAIN.snapshot, DOMAIN.toolset)
    for seed in range(1_500):
        scenario = generate(seed, "L1")
        if scenario.family != "leave-decision":
            continue
        world.reset(scenario.initial_state.patch)
        (row,) = (each for each in scenario.initial_state.patch["leave_requests"] if each["status"] == "pending")
        first, last = date.fromisoformat(row["from_date"]), date.fromisoformat(row["to_date"])
        person = world.rows("SELECT * FROM employees WHERE employee_id = ?", row["employee_id"])[0]
        days = 100 * _working_days(world, person["site"], first, last)
        assert days == row["days_hundredths"]
        short = (first - date.fromisoformat(row["created_at"][:10])).days < 14
        blocked = person["department_id"] == "D18" and any(
            date.fromordinal(n).day in (18, 19, 20) for n in range(first.toordinal(), last.toordinal() + 1)
        )
        why = "certificate" if row["leave_type"] == "SICK" else ""
        if row["leave_type"] == "ANNUAL":
            left = _left(world, person["employee_id"], row["from_date"])
            why = "short" if short else "days" if days > left else "blocked" if blocked else ""
        approved = any(check.expect == "approved" for check in scenario.checks.final_state)
        assert approved == (not why), (scenario.id, why, scenario.checks.end)
        tried[why] += 1
    world.close()
    assert min(tried[each] for each in ("", "short", "days", "certificate")) >= 10, tried


def _working_days(world: World, site: str, first: date, last: date) -> int:
    free = {row["day"] for row in world.rows("SELECT day FROM public_holidays WHERE site = ?", site)}
    days = [date.fromordinal(n) for n in range(first.toordinal(), last.toordinal() + 1)]
    return sum(day.weekday() < 5 and day.isoformat() not in free for day in days)


def _left(world: World, employee_id: str, start: str) -> int:
    """Policy 4.2: hundredths of days that leave from a day on can use."""

    def balance(year: int) -> dict[str, Any]:
        taken = world.value(
            "SELECT coalesce(sum(days_hundredths), 0) FROM leave_requests WHERE employee_id = ? AND status = "
            "'approved' AND leave_type = 'ANNUAL' AND substr(from_date, 1, 4) = ?",
            employee_id,
            str(year),
        )
        found = world.row("SELECT * FROM leave_balances WHERE employee_id = ? AND year = ?", employee_id, year)
        return {**(found or {"entitled_hundredths": 0, "carried_until": None}), "taken": taken}

    now, before = balance(2026), balance(2025)
    left = now["entitled_hundredths"] - now["taken"]
    if now["carried_until"] is None or start <= now["carried_until"]:
        return int(left)
    carried = min(500, before["entitled_hundredths"] - before["taken"])
    return int(left - max(0, carried - now["taken"]))


def test_whom_a_case_brings_along_is_kept_as_everybody_is() -> None:
    """Contract, grade, department, entitlement and pay slips of the people that come with a case follow the rules."""
    world = World(DOMAIN.snapshot, DOMAIN.toolset)
    slips = days = 0
    for seed in range(SOUND):
        patch = generate(seed).initial_state.patch
        world.reset(patch)
        for row in patch.get("employees", []):
            who = row["employee_id"]
            terms = world.rows("SELECT * FROM pay_terms WHERE employee_id = ?", who)
            (contract,) = world.rows("SELECT * FROM contracts WHERE employee_id = ?", who)
            (member,) = world.rows("SELECT * FROM memberships WHERE employee_id = ?", who)
            assert [(t["valid_from"], t["grade"], t["site"]) for t in terms] == [
                (row["hired_on"], contract["grade"], row["site"])
            ]
            assert (member["department_id"], member["from_date"]) == (row["department_id"], row["hired_on"])
            assert member["to_date"] == contract["to_date"] == row["left_on"]
            assert (row["status"] == "left") == (row["left_on"] is not None)
            assert row["birth_date"] < "2000" and row["bank_account"] and row["national_id"]
        for slip in patch.get("payslips", []):
            assert _slip(world, slip["employee_id"], slip["month"]) == slip
            slips += 1
        for row in patch.get("leave_requests", []):
            person = world.rows("SELECT site FROM employees WHERE employee_id = ?", row["employee_id"])[0]
            first, last = date.fromisoformat(row["from_date"]), date.fromisoformat(row["to_date"])
            assert row["days_hundredths"] == 100 * _working_days(world, person["site"], first, last)
            days += 1
    world.close()
    assert min(slips, days) >= 20


def _slip(world: World, employee_id: str, month: str) -> dict[str, Any]:
    """A pay slip worked out from attendance and pay (policy 3.3 and 3.5), for somebody employed all month."""
    (pay,) = world.rows(
        "SELECT * FROM pay_periods WHERE employee_id = ?1 AND valid_from <= ?2 || '-01' "
        "AND coalesce(valid_to, '9999') >= ?2 || '-01'",
        employee_id,
        month,
    )
    minutes = world.value(
        "SELECT sum(overtime_minutes) FROM attendance WHERE employee_id = ? AND month = ?", employee_id, month
    )
    overtime = half_up(int(minutes) * pay["hourly_rate_minor"] * pay["overtime_percent"], 6000)
    gross = pay["monthly_base_minor"] + overtime
    percent = world.value("SELECT deduction_percent FROM sites WHERE currency = ?", pay["currency"])
    return {
        "employee_id": employee_id,
        "month": month,
        "base_minor": pay["monthly_base_minor"],
        "overtime_minor": overtime,
        "adjustments_minor": 0,
        "deductions_minor": half_up(gross * int(percent), 100),
        "currency": pay["currency"],
    }


def test_names_that_cases_give_away_stand_in_no_other_name() -> None:
    """A search by part of a name finds one person alone."""
    world = World(DOMAIN.snapshot, DOMAIN.toolset)
    everybody = [
        row["name"].casefold() for row in world.rows("SELECT name FROM employees UNION SELECT name FROM candidates")
    ]
    world.close()
    pairs = {(given, family) for given in GIVEN for family in FAMILY}
    assert len(pairs) == len(GIVEN) * len(FAMILY) >= 20_000
    assert not [a for a in GIVEN for b in GIVEN if a != b and b.casefold().endswith(a.casefold())]
    assert not [a for a in FAMILY for b in FAMILY if a != b and b.casefold().startswith(a.casefold())]
    for name in everybody:
        ends = [given for given in GIVEN if f"{given.casefold()} " in name]
        assert not [f for f in FAMILY if f" {f.casefold()}" in name and ends], name


def test_the_memory_of_one_scenario_helps_with_no_other() -> None:
    """Gold of one seed played on another one's scenario of its family fails, by family and refusal."""
    subject = Subject("HR-v0", generated=0)
    by_end: dict[tuple[str, str], list[Scenario]] = {}
    for seed in range(700):
        scenario = generate(seed, "L1")
        answer = scenario.checks.answer
        reason = str(answer.fields["reason"].value) if answer is not None and "reason" in answer.fields else ""
        same = by_end.setdefault((scenario.family, reason), [])
        if len(same) < 5:
            same.append(scenario)
    assert sum(len(same) > 1 for same in by_end.values()) >= 20, {key: len(same) for key, same in by_end.items()}
    for same in by_end.values():
        for scenario in same:
            for actions in ([*subject.gold(scenario, plan).actions] for plan in (0, 1)):
                for other in same:
                    verdict = subject.play(other, scripted(actions)).verdict
                    right = verdict is not None and verdict.success
                    assert right == (other is scenario), f"memory of {scenario.id} on {other.id} ({other.family})"


def test_nothing_is_told_at_first_and_everything_can_be_known() -> None:
    subject = Subject("HR-v0", generated=60)
    subject.__dict__["curated"] = []
    assert answer_not_in_prompt(subject).failures == []
    assert information_sufficiency(subject).failures == []


def test_a_scenario_is_made_in_half_a_millisecond() -> None:
    generate(0)
    times = []
    for seed in range(1_000):
        start = time.perf_counter()
        generate(seed)
        times.append(time.perf_counter() - start)
    # Other work on the machine makes it slower at times, never faster.
    assert min(statistics.median(times[n : n + 100]) for n in range(0, 1_000, 100)) <= 0.0005
