"""The scripted agents: those that must fail do, gold does not, and each is what its name says."""

import json
from typing import Any

import gymnasium as gym
import pytest
from spawned import TinyEnv
from tiny_domain import TINY, renewal

from agentgym import ToolEnv, scenario_ids
from agentgym.baselines import do_nothing
from agentgym.baselines._known import Known
from agentgym.baselines._policy import hand_off_codes, refusal_codes
from agentgym.baselines._view import View, main
from agentgym.baselines.confirm_guesser import ConfirmGuesser
from agentgym.baselines.do_nothing import DoNothing
from agentgym.baselines.gold import Gold
from agentgym.baselines.random_agent import RandomAgent
from agentgym.baselines.read_only import ReadOnly
from agentgym.baselines.spammer import Spammer
from agentgym.loading import build
from agentgym.runner_agents import BUILT_IN, SCRIPTED, make_agent

TINY_IDS = scenario_ids(TINY)
REFUND_IDS = scenario_ids("refund")
MUST_FAIL = [
    *(f"do-nothing:outcome={outcome}" for outcome in do_nothing.OUTCOMES),
    "talk-only",
    "talk-only:outcome=refused",
    "random",
    "read-only",
    "read-only:outcome=impossible",
    "spammer",
    "confirmer",
    "confirm-guesser",
    "confirm-guesser:refusals=99",
]
SHARE = 0.1
"""Of the scenarios a constant agent may be right on so many."""


def _play(spec: str, scenario: Any, seed: int = 1, **settings: Any) -> ToolEnv:
    """Play an episode of the lending desk."""
    env = TinyEnv(split="test", **settings)
    make_agent(spec).run(env, seed=seed, options={"scenario": scenario})
    return env


def _succeeds(env: gym.Env[Any, Any], spec: str, scenario: str) -> bool:
    make_agent(spec).run(env, seed=1, options={"scenario": scenario})
    verdict = env.get_wrapper_attr("verdict")
    assert verdict is not None and verdict.status == "ok"
    return bool(verdict.success)


def _trace(env: ToolEnv) -> str:
    return json.dumps([step.to_json() for step in env.trace])


def _within(spec: str, budget: int) -> str:
    return f"{spec}{',' if ':' in spec else ':'}budget={budget}"


@pytest.fixture(scope="module")
def refund() -> Any:
    env = gym.make("agentgym:Refund-v0", split="test")
    yield env
    env.close()


@pytest.mark.parametrize("scenario", TINY_IDS)
@pytest.mark.parametrize("budget", [40, 12])
@pytest.mark.parametrize("spec", MUST_FAIL)
def test_an_adversary_ends_its_episode_and_fails(spec: str, budget: int, scenario: str) -> None:
    env = _play(_within(spec, budget), scenario)
    assert env.verdict is not None and env.verdict.status == "ok"
    assert not env.verdict.success
    assert env.episode_return <= 0
    # Silence has no end of its own: the episode is cut.
    assert len(env.trace) <= budget or spec.endswith("silent")


@pytest.mark.parametrize("spec", [*MUST_FAIL, "refuser", "hand-off"])
def test_an_adversary_keeps_its_budget_where_the_scenario_sets_none(spec: str) -> None:
    data = renewal("tiny/long", 14)
    # A user who wants nothing: this one can be solved by asking for what the opening says.
    data["user"]["wants"], data["user"]["patience"] = [], 1000
    data["checks"]["process"]["max_steps"] = 1000
    env = _play(_within(spec, 25), build(data), on_veto="flag")
    assert env.verdict is not None and not env.verdict.success
    assert len(env.trace) <= 25
    ending = {"do-nothing:outcome=silent": "invalid_streak", "hand-off": "handed_off", "random": "handed_off"}
    assert env.verdict.end_reason == ending.get(spec, "finished")


@pytest.mark.parametrize("scenario", TINY_IDS)
@pytest.mark.parametrize("plan", [0, 1])
def test_gold_succeeds_by_each_plan(plan: int, scenario: str) -> None:
    env = _play(f"gold:plan={plan}", scenario)
    assert env.verdict is not None and env.verdict.success
    assert env.verdict.checkpoint_completion == 1.0 and env.episode_return == 1.0


def test_gold_names_the_plans_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"tiny/renew-001 has the gold plans 0 to 1, got 2"):
        _play("gold:plan=2", "tiny/renew-001")


@pytest.mark.parametrize("spec", ["refuser", "hand-off"])
def test_a_constant_agent_is_right_at_most_where_its_constant_is(spec: str) -> None:
    right = {scenario for scenario in TINY_IDS if _succeeds(TinyEnv(split="test"), spec, scenario)}
    assert right <= ({"tiny/refuse-001"} if spec == "refuser" else set())


@pytest.mark.parametrize("scenario", TINY_IDS)
@pytest.mark.parametrize("spec", [*SCRIPTED, "gold:plan=1"])
def test_the_same_seed_gives_the_same_trace(spec: str, scenario: str) -> None:
    assert _trace(_play(spec, scenario, seed=5)) == _trace(_play(spec, scenario, seed=5))


def test_random_differs_by_seed_and_draws_seen_values_in_half_of_the_episodes() -> None:
    env = TinyEnv(split="test")
    known, traces = 0, set()
    for seed in range(60):
        RandomAgent().run(env, seed=seed, options={"scenario": "tiny/renew-001"})
        traces.add(_trace(env))
        known += any("ada@example.org" in step.sent.arguments.values() for step in env.trace if step.sent)
        assert env.verdict is not None and not env.verdict.success
    assert len(traces) > 50
    assert 10 <= known <= 40


def test_random_goes_on_without_a_seed_of_its_own() -> None:
    env = TinyEnv(split="test")
    RandomAgent().run(env, seed=3, options={})
    first = _trace(env)
    RandomAgent().run(env, seed=None, options={})
    assert env.verdict is not None and _trace(env) != first


def test_random_reads_lean_info() -> None:
    assert _trace(_play("random", "tiny/renew-001", info="lean")) == _trace(_play("random", "tiny/renew-001"))


def test_do_nothing_takes_one_step_and_silence_is_cut() -> None:
    assert [step.sent for step in _play("do-nothing:outcome=refused", "tiny/refuse-001").trace] == [
        ("finish", {"outcome": "refused", "answer": None})
    ]
    env = _play("do-nothing:outcome=silent", "tiny/renew-001")
    assert env.verdict is not None and env.verdict.end_reason == "step_budget"
    with pytest.raises(ValueError, match=r"expected outcome to be one of done, .*, silent, got 'asleep'"):
        DoNothing(outcome="asleep")


def test_talk_only_calls_no_tool_of_the_world_and_recites_everything() -> None:
    env = _play("talk-only", "tiny/renew-001")
    names = [step.sent.name for step in env.trace if step.sent]
    assert set(names) == {"respond", "finish"}
    said = " ".join(str(step.sent.arguments.get("message")) for step in env.trace if step.sent)
    assert "renewed by 7 to 28 days" in said and "ada@example.org" in said and "14" in said


def test_read_only_reaches_what_it_can_and_writes_nothing() -> None:
    env = _play("read-only", "tiny/renew-001")
    calls = [step.sent for step in env.trace]
    assert ("find_member", {"email": "ada@example.org"}) in calls
    assert ("list_loans", {"member_id": "M1"}) in calls
    assert not any(step.writes and step.changes for step in env.trace)


@pytest.mark.parametrize("scenario", TINY_IDS)
def test_the_spammer_is_vetoed_and_uses_every_write(scenario: str) -> None:
    env = _play("spammer", scenario)
    assert env.verdict is not None and env.verdict.veto and env.episode_return == -1.0
    flagged = _play("spammer", build({**renewal("tiny/spam", 14), "veto": []}), on_veto="flag")
    used = {step.sent.name for step in flagged.trace if step.sent and step.ok}
    assert used >= {"renew_loan", "add_note"}
    assert any(step.sent and step.sent.name == "lend_book" for step in flagged.trace), "a book by the manual's example"


def test_the_guesser_finds_the_most_that_the_user_agrees_to_and_does_it() -> None:
    data = renewal("tiny/guess", 14)
    data["user"]["wants"] = [{"tool": "renew_loan", "arguments": {"loan_id": "L101", "days": {"min": 9, "max": 20}}}]
    data["user"]["patience"] = 1000
    env = TinyEnv(split="test")
    ConfirmGuesser(refusals=99).run(env, seed=1, options={"scenario": build(data)})
    renewed = [step.sent.arguments for step in env.trace if step.sent and step.sent.name == "renew_loan" and step.ok]
    assert renewed[0] == {"loan_id": "L101", "days": 20}
    assert env.verdict is not None and not env.verdict.success and not env.verdict.veto


def test_the_guesser_stops_before_the_user_has_had_enough() -> None:
    data = renewal("tiny/patient", 14)
    data["user"]["wants"], data["user"]["patience"] = [], 3
    env = TinyEnv(split="test")
    ConfirmGuesser().run(env, seed=1, options={"scenario": build(data)})
    assert env.verdict is not None and env.verdict.end_reason == "finished"
    assert [step.granted for step in env.trace if step.granted is not None] == [False, False]


@pytest.mark.parametrize("spec", SCRIPTED)
def test_each_has_its_name_and_costs_nothing(spec: str) -> None:
    agent = make_agent(spec)
    assert agent.name == spec
    usage = agent.run(TinyEnv(split="test"), seed=1, options={})
    assert (usage.model_calls, usage.cost_usd, usage.wall_s) == (0, 0.0, 0.0)
    assert BUILT_IN[spec].startswith("agentgym.baselines.")


def test_a_budget_is_at_least_one_step() -> None:
    with pytest.raises(ValueError, match=r"expected budget ≥ 1, got 0"):
        ReadOnly(budget=0)
    env = _play("spammer:budget=1", "tiny/renew-001")
    assert len(env.trace) <= 3 and Spammer().budget == 40


def test_codes_are_read_off_the_policies(refund: Any) -> None:
    tiny = View(TinyEnv(split="test"), 1, {}, 40)
    assert refusal_codes(tiny) == ["renewal_limit"]
    assert hand_off_codes(tiny) == ["other"]
    # The policy's text is there before the first reset.
    tiny.system, tiny.tools = refund.get_wrapper_attr("system_prompt"), dict.fromkeys(["create_return"], {})
    assert {"outside_window", "evidence_missing", "trace_open"} <= set(refusal_codes(tiny))
    assert not {"done", "create_return", "refused"} & set(refusal_codes(tiny))
    assert hand_off_codes(tiny)[:2] == ["safety", "legal_threat"]


def test_known_values_go_by_key_form_and_bounds() -> None:
    known = Known()
    known.learn('Order A1001, not A1002-3, for Ada Byron <ada@example.org>: 12 of 90, "EUR"')
    known.learn('{"loans": [{"loan_id": "L7", "left_minor": 250, "tags": ["x"]}], "item_ids": ["A1-1"], "gone": true}')
    text = {"type": "string"}
    assert known.suitable("email", text) == ["ada@example.org"]
    assert known.suitable("name", text) == ["Ada Byron"]
    assert known.suitable("order_id", {**text, "description": 'the order, e.g. "A9"'}) == ["A1001"]
    assert known.suitable("item_id", {**text, "description": 'e.g. "A9001-2"'}) == ["A1-1", "A1002-3"]
    assert known.suitable("loan_id", {**text, "pattern": r"^(?:M\d+)$"}) == []
    assert known.suitable("amount_minor", {"type": "integer", "minimum": 1, "maximum": 89}) == [12, 1]
    assert known.suitable("amount_minor", {"type": "integer"}) == [250, 12, 90]
    assert known.suitable("kind", {"enum": ["a", None]}) == ["a"]
    assert known.suitable("flag", {"type": ["boolean", "null"]}) == [True, False]


def test_calls_prefer_values_that_stood_together() -> None:
    known = Known()
    known.learn('[{"loan_id": "L1", "book_id": "B1"}, {"loan_id": "L2", "book_id": "B2"}]')
    parameters: dict[str, Any] = {
        "properties": {"loan_id": {"type": "string"}, "book_id": {"type": "string"}, "body": {"type": "string"}},
        "required": ["loan_id", "book_id"],
    }
    calls = known.calls(parameters)
    assert calls[:2] == [{"loan_id": "L1", "book_id": "B1"}, {"loan_id": "L2", "book_id": "B2"}]
    assert len(calls) == 4
    required = {**parameters, "required": ["loan_id", "body"]}
    assert known.calls(required) == []
    assert {call["body"] for call in known.calls(required, text="x")} == {"x"}
    parameters["properties"]["body"] = {"type": "string", "description": 'a note, e.g. "Z7"'}
    assert {call["body"] for call in known.calls(required, text="x")} == {"Z7"}


def test_each_file_is_a_program_that_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(DoNothing, ["Tiny-v0", "--scenario", "tiny/renew-001", "--seed", "3"])
    main(Gold, ["agentgym:Tiny-v0", "--scenario", "tiny/renew-001"])
    assert capsys.readouterr().out.splitlines() == [
        "do-nothing: tiny/renew-001: no success (finished), return 0, checkpoints 0%, 1 steps",
        "gold: tiny/renew-001: success (finished), return 1, checkpoints 100%, 6 steps",
    ]


@pytest.mark.parametrize("scenario", REFUND_IDS)
@pytest.mark.parametrize("spec", MUST_FAIL)
def test_an_adversary_fails_on_the_refund_desk(refund: Any, spec: str, scenario: str) -> None:
    assert not _succeeds(refund, spec, scenario)


@pytest.mark.parametrize("scenario", REFUND_IDS)
def test_gold_solves_the_refund_desk_by_each_plan(refund: Any, scenario: str) -> None:
    refund.reset(options={"scenario": scenario})
    for plan in range(len(refund.unwrapped.scenario.gold)):
        assert _succeeds(refund, f"gold:plan={plan}", scenario), refund.unwrapped.render()


@pytest.mark.skipif(not REFUND_IDS, reason="no curated scenario of the refund desk")
@pytest.mark.parametrize("name", ["refuser", "hand-off"])
def test_a_constant_agent_is_right_on_few_scenarios_and_no_whole_family(refund: Any, name: str) -> None:
    view = View(refund, 1, {}, 40)
    codes = {"refuser": refusal_codes, "hand-off": hand_off_codes}[name](view)
    for code in ["", *codes]:
        right: dict[str, list[bool]] = {}
        for scenario in REFUND_IDS:
            success = _succeeds(refund, f"{name}:code={code}" if code else name, scenario)
            right.setdefault(refund.unwrapped.scenario.family, []).append(success)
        assert sum(map(sum, right.values())) <= SHARE * len(REFUND_IDS), (code, right)
        assert not any(all(results) for results in right.values()), (code, right)
