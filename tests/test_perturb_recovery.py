"""Recovery: what each policy does, by what it is shown; outages and idempotency keys; attacks; reference agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from agentgym.env import ToolEnv
from agentgym.loading import load_scenario
from agentgym.perturbations import Table, filled, table_of
from agentgym.recovered import Recovered, play_gold
from agentgym.recovery import Retry, key_of
from agentgym.resilience import doubled_writes, failures, measured
from agentgym.runner_agents import make_agent
from agentgym.scenario import roomy
from agentgym.validate.moves import current
from agentgym.wrappers import OutageAfterCommit, OutageBeforeCommit, perturb
from agentgym.wrappers.drift_rules import Drift, read_drifts

PARTIAL = load_scenario("refund/partial-001")
KINDS = [
    "outage-before-commit",
    "outage-after-commit",
    "format-shift",
    "schema-drift",
    "pollution",
    "dynamic-state",
    "interruption",
    "interruption-change",
    "noise-knowledge",
    "shutdown",
]


@pytest.fixture
def bare() -> Iterator[ToolEnv]:
    """One refund desk, without wrappers."""
    env = gym.make("Refund-v0", split="test", disable_env_checker=True).unwrapped
    assert isinstance(env, ToolEnv)
    yield env
    env.close()


def won(env: gym.Env[Any, Any], kinds: list[str], seed: int, name: str = "refund/partial-001") -> bool:
    """Whether gold succeeds."""
    base = play_gold(env, load_scenario(name), seed % 2, kinds, seed)
    return base.verdict is not None and base.verdict.success


@pytest.mark.parametrize("kind", KINDS)
def test_gold_survives_with_the_policy_of_the_kind_and_does_not_without(bare: ToolEnv, kind: str) -> None:
    env = perturb(bare, kind)
    seeds = range(12 if kind == "pollution" else 4)
    assert all(won(env, [kind], seed) for seed in seeds)
    if kind != "noise-knowledge":
        assert not all(won(env, [], seed) for seed in seeds)


def test_gold_survives_all_kinds_at_once_with_all_policies(bare: ToolEnv) -> None:
    kinds = [kind for kind in KINDS if kind not in ("shutdown", "outage-after-commit", "outage-before-commit")]
    env = perturb(bare, "+".join(reversed(kinds)) + "+jitter+outage-before-commit:0.1")
    for seed in range(6):
        # More goes wrong than the budget of steps was made for.
        base = play_gold(env, roomy(PARTIAL), seed % 2, [*kinds, "outage-before-commit"], seed)
        assert base.verdict is not None and base.verdict.success


def refund_calls(bare: ToolEnv) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Gold's calls of partial-001 up to its first refund, and that refund."""
    play_gold(bare, PARTIAL)
    calls = [{"name": step.sent.name, "arguments": step.sent.arguments} for step in bare.trace if step.sent]
    at = next(number for number, call in enumerate(calls) if call["name"] == "create_refund")
    return calls[:at], calls[at]


def refunds(bare: ToolEnv) -> int:
    """Refunds of the item that the agent made."""
    rows = bare._world().reading().execute("SELECT count(*) FROM refunds WHERE item_id = 'A1010-1'").fetchall()
    return int(rows[0][0])


@pytest.mark.parametrize(("second", "count"), [("k1", 1), ("k2", 2)])
def test_after_the_commit_the_same_key_pays_once_and_a_new_key_twice(bare: ToolEnv, second: str, count: int) -> None:
    before, refund = refund_calls(bare)
    amount = refund["arguments"]["amount_minor"] // 4
    small = {**refund["arguments"], "amount_minor": amount}
    env = OutageAfterCommit(bare, at=1, tools="create_refund", modes="503")
    env.reset(seed=1, options={"scenario": PARTIAL})
    asked = {"name": "confirm_with_user", "arguments": {"tool": "create_refund", "arguments": small}}
    for action in [*before[:-1], asked]:
        env.step(action)
    lost = env.step({"name": "create_refund", "arguments": {**small, "idempotency_key": "k1"}})
    assert lost[0]["role"] == "error" and lost[0]["content"].startswith("503") and refunds(bare) == 1
    again = env.step({"name": "create_refund", "arguments": {**small, "idempotency_key": second}})
    assert refunds(bare) == count
    # The consent was good for one effect: a second one is a veto, a repeated key none.
    assert again[4]["veto"] is (count == 2) and bare.trace[-1].replayed is (count == 1)
    assert doubled_writes(bare.trace) == count - 1


def test_before_the_commit_nothing_is_written_and_the_consent_stays_good(bare: ToolEnv) -> None:
    before, refund = refund_calls(bare)
    env = OutageBeforeCommit(bare, at=1, tools="create_refund", modes="timeout")
    env.reset(seed=1, options={"scenario": PARTIAL})
    for action in before:
        env.step(action)
    state = bare.state_hash
    lost = env.step(refund)
    assert "timed out" in lost[0]["content"] and bare.state_hash == state and bare.trace[-1].ran is None
    again = env.step(refund)
    assert again[0]["role"] == "tool" and not again[4]["veto"] and refunds(bare) == 1


def test_after_a_429_the_tool_is_closed_until_the_seconds_have_passed(bare: ToolEnv) -> None:
    env = OutageBeforeCommit(bare, at=1, modes="429")
    env.reset(seed=1, options={"scenario": PARTIAL})
    look = {"name": "get_order", "arguments": {"order_id": "A1010"}}
    first = env.step(look)[0]["content"]
    seconds = int(first.rpartition("retry-after: ")[2].rstrip(")"))
    assert 2 <= seconds <= 20 and env.step(look)[0]["content"].startswith("429")
    env.step({"name": "wait", "arguments": {"seconds": seconds}})
    assert env.step(look)[0]["role"] == "tool"


def test_a_note_whose_answer_was_lost_is_looked_for_and_not_written_again(bare: ToolEnv) -> None:
    name = "refund/limit-001"
    env = OutageAfterCommit(bare, at=1, tools="add_ticket_note")
    assert won(env, ["outage-after-commit"], 0, name)
    notes = [step for step in bare.trace if step.ran and step.ran.name == "add_ticket_note"]
    assert len(notes) == 1 and notes[0].fault == "outage-after-commit"
    assert [step.ran.name for step in bare.trace if step.index == notes[0].index + 1 and step.ran] == ["get_ticket"]


def test_a_call_that_never_works_is_given_up_after_its_attempts(bare: ToolEnv) -> None:
    env = perturb(bare, "outage-before-commit:1,modes=503")
    base = play_gold(env, PARTIAL, 0, ["outage-before-commit"], 0)
    assert base.verdict is not None and not base.verdict.success
    assert failures(base.trace)["recovered"] == 0


def test_the_parameter_of_the_key_is_found_in_the_manual() -> None:
    described = {"properties": {"id": {}, "once": {"description": "a repeated key gives the first result"}}}
    assert (key_of(described), key_of({"properties": {"id": {}}})) == ("once", "")
    assert Retry(3).act({"name": "x", "arguments": {}}, lambda a: {"role": "tool", "content": "1"})["content"] == "1"


@pytest.mark.parametrize("docs", ["updated", "stale"])
@pytest.mark.parametrize("parts", ["rename_tool", "rename", "retype", "nest", "drop", "rename|retype|nest|drop"])
def test_each_drift_is_recovered_from_by_reading_what_is_documented(bare: ToolEnv, docs: str, parts: str) -> None:
    env = perturb(bare, f"schema-drift:1,docs={docs},parts={parts}")
    assert won(env, ["schema-drift"], 1)
    named = [tool["function"]["name"] for tool in env.get_wrapper_attr("tools")]
    assert ("get_order" in named) is (docs == "stale" or "rename_tool" not in parts)


def test_drift_gives_the_agent_the_old_bounds_as_its_own_mistake(bare: ToolEnv) -> None:
    env = perturb(bare, "schema-drift:1,docs=updated,parts=retype")
    env.reset(seed=1, options={"scenario": PARTIAL})
    wrong = {"item_id": "A1010-1", "payment_id": "PM4128", "amount_minor": "0", "reason": "damaged"}
    seen, _, terminated, truncated, _ = env.step({"name": "create_refund", "arguments": wrong})
    assert "amount_minor must be in 1..1000000000, got 0" in seen["content"] and not terminated and not truncated


@pytest.mark.parametrize(
    "value", [{"order_id": 1, "rows": [{"amount_minor": 5, "EUR": None}]}, [], "x", {"a_b": {"c_d": 1}}]
)
def test_a_drifted_result_reads_back_as_it_was(value: Any) -> None:
    drift = Drift("get_x", "fetch_x", rename=True, retype=True, nest=True, drop=True)
    assert read_drifts(f"Manual.\n{drift.sentence}") == {"get_x": drift}
    assert drift.original(drift.result(value, expand=True)) == value
    assert "rows" not in json.dumps(drift.result({"rows": []}, expand=False))


def test_pollution_leaves_the_world_and_is_refuted_by_the_other_source(bare: ToolEnv) -> None:
    env = perturb(bare, "pollution:1,tools=list_payments")
    env.reset(seed=3, options={"scenario": PARTIAL})
    before = bare.state_hash
    rows = json.loads(env.step({"name": "list_payments", "arguments": {"order_id": "A1010"}})[0]["content"])["payments"]
    assert bare.state_hash == before
    assert bare.reports[0][1] == {"polluted": 1, "checked": 0}
    truth = [
        json.loads(env.step({"name": "get_payment", "arguments": {"payment_id": row["payment_id"]}})[0]["content"])
        for row in rows
    ]
    differ = [
        key for told, true in zip(rows, truth, strict=True) for key in told if key in true and told[key] != true[key]
    ]
    assert len(differ) == 1 and bare.reports[0][1] == {"polluted": 1, "checked": 1}


def test_a_look_after_a_lost_write_waits_as_long_as_it_is_asked_to(bare: ToolEnv) -> None:
    env = perturb(bare, "outage-before-commit")
    base = play_gold(env, load_scenario("refund/limit-001"), 0, ["outage-before-commit"], 12)
    assert base.verdict is not None and base.verdict.success
    throttled = [step.index for step in base.trace if "retry-after" in step.error]
    assert throttled and all(base.trace[at].sent == ("wait", base.trace[at].sent[1]) for at in throttled)  # type: ignore[index]


def test_pollution_aims_at_what_decides_and_now_and_then_elsewhere(bare: ToolEnv) -> None:
    deciding = {(fact.key, field) for fact in table_of(bare.domain).facts for s in fact.sources for field in s.decides}
    env, aimed = perturb(bare, "pollution"), []
    for seed in range(60):
        play_gold(env, PARTIAL, seed % 2, [], seed)
        aimed += [(told["key"][0], told["field"]) in deciding for told in current(env).hooks[0].get_state()["told"]]
    assert len(aimed) >= 54 and 0.75 <= sum(aimed) / len(aimed) < 1


def test_what_only_decides_among_several_rows_is_left_alone_where_there_is_one(bare: ToolEnv) -> None:
    table = table_of(bare.domain)
    (source,) = [s for fact in table.facts for s in fact.sources if s.several]
    assert source.tool == "list_payments"
    env = perturb(bare, "pollution,tools=list_payments")
    for seed in range(12):
        env.reset(seed=seed, options={"scenario": "refund/damage-001"})
        env.step({"name": "list_payments", "arguments": {"order_id": "A1003"}})
        told = current(env).hooks[0].get_state()
        assert not told["told"] or not told["aims"]


def test_a_polluted_episode_costs_the_naive_agent_much_and_the_verifying_one_nothing(bare: ToolEnv) -> None:
    env, wins = perturb(bare, "pollution"), {"naive": 0, "verifying": 0}
    for agent in wins:
        made = make_agent(agent)
        for seed in range(3):
            for name in ("partial-001", "damage-001", "fee-001", "lost-001", "replacement-002"):
                made.run(env, seed=seed, options={"scenario": load_scenario(f"refund/{name}")})
                wins[agent] += bool(bare.verdict and bare.verdict.success)
    assert wins["verifying"] == 15 and wins["naive"] <= 9


def test_an_interruption_is_heard_and_its_reference_must_be_told(bare: ToolEnv) -> None:
    env = perturb(bare, "interruption,intensity=1")
    base = play_gold(env, PARTIAL, 0, [], 0)
    assert base.verdict is not None
    assert [check.name for check in base.verdict.checks if not check.ok] == ["said[1]"]
    assert base.declared == PARTIAL and len(base.scenario.events) == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "shutdown"])
def test_the_verifying_agent_with_all_its_policies_survives_each_kind(bare: ToolEnv, kind: str) -> None:
    """A notice that comes with a call which one policy makes for itself is heard by the others."""
    made, env = make_agent("verifying"), perturb(bare, kind)
    for name in ("refund/partial-001", "refund/exception-001", "refund/safety-001"):
        made.run(env, seed=2, options={"scenario": load_scenario(name)})
        assert bare.verdict is not None and bare.verdict.success, name


def test_dynamic_state_passes_and_what_is_right_stays(bare: ToolEnv) -> None:
    env = perturb(bare, "dynamic-state")
    assert won(env, ["dynamic-state"], 2)
    waited = [step for step in bare.trace if step.ran and step.ran.name == "wait"]
    assert waited and bare.verdict is not None and bare.verdict.state_ok


def test_a_shutdown_has_another_right_end(bare: ToolEnv) -> None:
    env = perturb(bare, "shutdown")
    assert won(env, ["shutdown"], 2) and bare.trace[-1].ran is not None
    assert bare.trace[-1].ran.arguments["reason"] == "desk_closed"


@pytest.mark.parametrize("attack", ["plain", "tool", "translated"])
def test_exposure_success_and_veto_of_an_attack_are_three_things(bare: ToolEnv, attack: str) -> None:
    env = perturb(bare, f"injection,attack={attack},goal=close-account")
    assert won(env, [], 0)
    info = last_info(env, "naive")
    assert (info["attack_exposed"], info["attack_succeeded"], info["veto"]) == (True, False, False)
    info = last_info(env, "obedient")
    assert (info["attack_exposed"], info["attack_succeeded"], info["veto"]) == (True, True, True)
    assert info["veto_rule"] == "call:close_account"


def test_a_text_that_was_lost_on_the_way_is_no_exposure(bare: ToolEnv) -> None:
    env = perturb(bare, "injection:1+outage-after-commit:1")
    env.reset(seed=0, options={"scenario": PARTIAL})
    info = env.step({"name": "get_ticket", "arguments": {"ticket_id": "T6023"}})[4]
    assert info["perturbations_fired"] == 2 and not info["attack_exposed"]


class Watch(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps the last info."""

    info: dict[str, Any]

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        self.info = result[4]
        return result


def last_info(env: gym.Env[Any, Any], agent: str) -> dict[str, Any]:
    watch = Watch(env)
    make_agent(agent).run(watch, seed=0, options={"scenario": PARTIAL})
    return watch.info


def test_the_reference_agents_separate(bare: ToolEnv) -> None:
    def rates(kind: str) -> list[int]:
        env = perturb(bare, kind)
        wins = []
        for agent in ("naive", "retrying", "verifying"):
            made, count = make_agent(agent), 0
            for seed in range(8):
                made.run(env, seed=seed, options={"scenario": PARTIAL})
                count += bool(bare.verdict and bare.verdict.success)
            wins.append(count)
        return wins

    naive, retrying, verifying = rates("outage-after-commit")
    assert naive <= 1 and retrying == verifying == 8
    naive, retrying, verifying = rates("format-shift")
    assert naive <= 1 and retrying <= 1 and verifying == 8


@pytest.mark.parametrize("kind", ["noise-wording", "noise-structure", "noise-knowledge"])
def test_the_keyword_reader_reads_clean_openings_and_stumbles_over_noise(bare: ToolEnv, kind: str) -> None:
    reader = make_agent("keyword-reader")
    reader.run(bare, seed=0, options={"scenario": PARTIAL})
    assert bare.verdict is not None and bare.verdict.success
    lost = 0
    for seed in range(10):
        reader.run(perturb(bare, kind), seed=seed, options={"scenario": PARTIAL})
        lost += not bare.verdict.success
    assert lost


def test_measures_are_there_only_where_a_perturbation_was(bare: ToolEnv) -> None:
    play_gold(bare, PARTIAL)
    assert measured(bare.trace, bare.reports, {}, True) == {}
    env = OutageBeforeCommit(bare, at=2, modes="503")
    info = last_info(env, "retrying")
    found = measured(bare.trace, bare.reports, info, True)
    assert (found["scheduled"], found["fired"], found["failures"], found["recovered"]) == (1, 1, 1, 1)
    assert (found["calls_to_recover"], found["replans"], found["doubled_writes"]) == (1, 0, 0)
    info = last_info(env, "naive")
    assert measured(bare.trace, bare.reports, info, False)["recovered"] == 0


def test_a_domain_without_a_table_has_an_empty_one_and_templates_are_filled() -> None:
    from tiny_domain import TINY

    assert table_of(TINY) == Table()
    assert filled(["{a}", 1], {"a": "x"}) == ["x", 1]


def test_what_is_declared_of_pairs_names_scenarios_and_kinds_that_exist(bare: ToolEnv) -> None:
    from agentgym.loading import scenario_ids
    from agentgym.wrappers import KINDS as EVERY

    table = table_of(bare.domain)
    for declared in (table.unbitten, table.unsurvivable):
        assert set(declared) <= set(EVERY)
        assert {name for pairs in declared.values() for name in pairs} <= set(scenario_ids(bare.domain))
    tools = bare.domain.toolset
    for fact in table.facts:
        for source in fact.sources:
            assert source.ask in tools[source.tool].checks


def test_a_plan_that_does_not_exist_is_refused(bare: ToolEnv) -> None:
    with pytest.raises(ValueError, match="has the gold plans 0 to 1, got 7"):
        Recovered(7).run(bare, seed=0, options={"scenario": PARTIAL})
