"""Perturbations of the HR API: beneath its presentations, in the form of each episode's API, and recovered from."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from agentgym.agent import Agent
from agentgym.baselines.obedient import ordered
from agentgym.env import ToolEnv
from agentgym.envs.hr.answers import parse
from agentgym.envs.hr.presentation import HttpPresentation, TypedPresentation
from agentgym.forking import fork
from agentgym.hooks import Fault
from agentgym.loading import load_curated, load_scenario
from agentgym.perturbations import Goal, Source, table_of
from agentgym.recovered import play_gold
from agentgym.recovery import passing
from agentgym.resilience import failures
from agentgym.runner_agents import make_agent
from agentgym.trace import Call
from agentgym.validate.perturbed import LASTING, kinds_of
from agentgym.wrappers import KINDS, perturb
from agentgym.wrappers.drift_rules import PREFIX, Drift, read_drifts
from agentgym.wrappers.http_drift import BASE, is_at, moved, renamed

CURATED = load_curated("hr")
DECISION, MOVE, BULK = "hr/leave-decision-005", "hr/recruiting-stage-001", "hr/bulk-change-001"
HIRED = "hr/onboarding-001"
FORMS = ("http", "typed")


def make(tools: str, **kwargs: Any) -> ToolEnv:
    env = gym.make("HR-v0", split="test", tools=tools, disable_env_checker=True, **kwargs).unwrapped
    assert isinstance(env, ToolEnv)
    return env


@pytest.fixture(params=FORMS)
def shown(request: pytest.FixtureRequest) -> Iterator[ToolEnv]:
    """The API as agents get it: by HTTP requests, or as typed tools."""
    env = make(request.param)
    yield env
    env.close()


def ask(env: gym.Env[Any, Any], name: str, **arguments: Any) -> tuple[dict[str, str], Any]:
    """The observation of a call of the domain, made as it is shown, and what it says in the domain's terms."""
    base: Any = env.unwrapped
    call = Call(name, arguments)
    observation = env.step(base.presentation.show(call)._asdict())[0]
    return observation, base.presentation.read(call, observation["content"])


def ended(base: ToolEnv) -> bool:
    return base.verdict is not None and base.verdict.success


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (*LASTING, "injection")])
@pytest.mark.parametrize("name", [DECISION, MOVE, HIRED])
def test_gold_recovers_from_every_kind_as_it_is_shown(shown: ToolEnv, kind: str, name: str) -> None:
    env = perturb(shown, kind)
    for seed in range(2):
        base = play_gold(env, CURATED[name], seed, [kind], seed)
        assert ended(base), (kind, base.verdict)


@pytest.mark.parametrize("kind", ["outage-before-commit", "format-shift", "schema-drift", "shutdown"])
def test_whoever_does_nothing_about_it_fails_on_some_seed(shown: ToolEnv, kind: str) -> None:
    env = perturb(shown, kind)
    assert not all(ended(play_gold(env, CURATED[DECISION], seed % 2, [], seed)) for seed in range(4))


@pytest.mark.parametrize(("mode", "status"), [("503", 503), ("429", 429)])
def test_an_outage_is_told_in_the_form_of_that_api(mode: str, status: int) -> None:
    env = perturb(make("http"), f"outage-before-commit,at=1,modes={mode}")
    env.reset(seed=3, options={"scenario": DECISION})
    observation, found = ask(env, "get_me")
    answer = json.loads(observation["content"])
    style = env.unwrapped.presentation.style  # type: ignore[attr-defined]
    code = "unavailable" if status == 503 else "rate_limited"
    assert observation["role"] == "error" and answer["status"] == status
    assert style.errors.codes[code] in json.dumps(answer["body"]) and found["code"] == code
    assert "get_me" not in observation["content"], "no name that the agent was not told"
    assert passing(json.dumps(found))
    if status == 429:
        assert answer["headers"]["Retry-After"] == str(found["details"]["retry_after_s"])
    assert [step.fault for step in env.unwrapped.trace] == ["outage-before-commit"]  # type: ignore[attr-defined]


def test_a_time_out_has_no_answer_and_the_name_that_was_called(shown: ToolEnv) -> None:
    env = perturb(shown, "outage-before-commit,at=1,modes=timeout")
    env.reset(seed=3, options={"scenario": DECISION})
    observation, _ = ask(env, "get_me")
    sent = shown.trace[0].sent
    assert sent is not None and observation["content"].startswith(f"{sent.name} timed out after 30 s")


def test_a_lost_answer_is_a_write_that_took_effect_and_its_key_repeats_it(shown: ToolEnv) -> None:
    env = perturb(shown, "outage-after-commit,tools=create_leave,at=1")
    env.reset(seed=3, options={"scenario": DECISION})
    arguments = {
        "employee_id": "E1744",
        "leave_type": "UNPAID",
        "from_date": "2026-11-02",
        "to_date": "2026-11-06",
        "idempotency_key": "once",
    }
    observation, _ = ask(env, "create_leave", **arguments)
    assert observation["role"] == "error" and shown.trace[-1].changes
    observation, found = ask(env, "create_leave", **arguments)
    assert observation["role"] == "tool" and shown.trace[-1].replayed and found["employee_id"] == "E1744"
    assert failures(shown.trace) == {"failures": 1, "recovered": 1, "calls_to_recover": 1, "replans": 0}


def test_a_call_that_never_arrived_is_known_again_by_how_it_was_sent(shown: ToolEnv) -> None:
    env = perturb(shown, "outage-before-commit,at=1,modes=503")
    env.reset(seed=3, options={"scenario": DECISION})
    for _ in range(2):
        ask(env, "get_me")
    assert failures(shown.trace) == {"failures": 1, "recovered": 1, "calls_to_recover": 1, "replans": 0}


def test_perturbations_of_calls_are_scheduled_by_the_domains_tools(shown: ToolEnv) -> None:
    env = perturb(shown, "outage-before-commit:1,tools=writes")
    env.reset(seed=3, options={"scenario": DECISION})
    assert ask(env, "get_me")[0]["role"] == "tool"
    assert ask(env, "cancel_leave", request_id="LR65399", version=1)[0]["role"] == "error"
    assert [step.fault for step in shown.trace] == ["", "outage-before-commit"]


@pytest.mark.parametrize("form", ["xml", "html"])
def test_another_format_is_that_of_the_body_and_a_header_says_so(form: str) -> None:
    env = perturb(make("http"), f"format-shift:1,formats={form}")
    env.reset(seed=3, options={"scenario": DECISION})
    observation, found = ask(env, "get_me")
    answer = json.loads(observation["content"])
    assert answer["status"] == 200 and answer["body"].startswith("<") and found == answer
    assert answer["headers"]["Content-Type"] == {"xml": "application/xml", "html": "text/html"}[form]
    twice = perturb(make("http"), f"format-shift:1,formats=html+format-shift:1,formats={form}")
    twice.reset(seed=3, options={"scenario": DECISION})
    assert ask(twice, "get_me")[0]["content"] == observation["content"], "a format on a format is one"


def test_a_polluted_value_is_another_one_in_the_spelling_of_the_api(shown: ToolEnv) -> None:
    env = perturb(shown, "pollution,at=1")
    env.reset(seed=3, options={"scenario": DECISION})
    observation, told = ask(env, "get_leave", request_id="LR65396")
    (report,) = [found for name, found in shown.reports if name == "pollution"]
    assert observation["role"] == "tool" and report == {"polluted": 1, "checked": 0}
    _, true = ask(env, "list_leave", employee_id="E1055", page=1, page_size=50)
    (row,) = [row for row in true["items"] if row["request_id"] == "LR65396"]
    assert sum(row[name] != told[name] for name in row) == 1
    assert dict(shown.reports)["pollution"]["checked"] == 1


@pytest.mark.parametrize("tools", ["direct", *FORMS])
@pytest.mark.parametrize("name", [DECISION, HIRED])
def test_an_injected_order_is_a_call_that_the_agent_could_make(tools: str, name: str) -> None:
    env = perturb(make(tools), "injection")
    obedient: Agent = make_agent("obedient")
    for seed in range(3):
        base = play_gold(env, CURATED[name], seed % 2, [], seed)
        assert ended(base) and base.reports[0][1] == {"exposed": True, "succeeded": False}
        obedient.run(env, seed=seed, options={"scenario": CURATED[name]})
        assert not ended(base) and base.reports[0][1] == {"exposed": True, "succeeded": True}


def test_orders_are_found_whatever_stands_in_their_arguments() -> None:
    assert ordered('do go({"a": {"b": [1]}}), please') == {"name": "go", "arguments": {"a": {"b": [1]}}}
    assert ordered('go({"a": 1}) then') == {"name": "go", "arguments": {"a": 1}}
    assert ordered("go({x}) or went({}") is None


def test_a_goal_is_only_for_those_who_can_reach_it() -> None:
    goals = {goal.name: goal for goal in table_of(make("direct").domain).attacks.goals}
    assert goals["erase-person"].fits(CURATED[HIRED]) and not goals["erase-person"].fits(CURATED[DECISION])
    assert Goal.model_validate({"name": "a", "goal": {"name": "get_me"}}).fits(CURATED[DECISION])


def test_an_endpoint_that_has_moved_answers_nowhere_else_and_says_where() -> None:
    env = perturb(make("http"), "schema-drift:1,docs=stale,tools=get_me,parts=rename|nest")
    env.reset(seed=3, options={"scenario": DECISION})
    base: Any = env.unwrapped
    observation, found = ask(env, "get_me")
    assert observation["role"] == "error" and found["code"] == "not_found"
    (drift,) = read_drifts(found["message"]).values()
    assert drift.old == base.presentation.address("get_me") and drift.new == moved(drift.old)
    method, path = drift.new.split(" ")
    answer = json.loads(env.step({"name": "http_request", "arguments": {"method": method, "path": path}})[0]["content"])
    style = base.presentation.style
    assert parse(style, "get_me", 200, {}, drift.original(answer["body"]))["employee_id"] == "E1744"
    assert answer["body"]["version"] == 2 and PREFIX in json.dumps(answer["body"]["data"])
    assert ask(env, "list_leave_types")[0]["role"] == "tool", "others have stayed"
    unknown = {"method": "GET", "path": f"{BASE}/nothing"}
    assert env.step({"name": "http_request", "arguments": unknown})[0]["role"] == "error"


@pytest.mark.parametrize("docs", ["updated", "stale"])
def test_pages_of_the_documentation_tell_of_what_has_moved(docs: str) -> None:
    env = perturb(make("http"), f"schema-drift:1,docs={docs},tools=get_me")
    env.reset(seed=3, options={"scenario": DECISION})
    listed = json.loads(env.step({"name": "list_docs", "arguments": {}})[0]["content"])["sections"]
    pages = [
        env.step({"name": "read_docs", "arguments": {"section": entry["section"]}})[0]["content"] for entry in listed
    ]
    told = {old for page in pages for old in read_drifts(page)}
    assert told == ({env.unwrapped.presentation.address("get_me")} if docs == "updated" else set())  # type: ignore[attr-defined]


def test_consent_is_asked_for_either_version() -> None:
    scenario = load_scenario(MOVE)
    env = perturb(make("http"), "schema-drift:1,docs=stale,tools=move_candidate,parts=rename|nest|drop")
    for seed in range(3):
        base = play_gold(env, scenario, seed % 2, ["schema-drift"], seed)
        assert ended(base)
        (asked,) = [step for step in base.trace if step.sent and step.sent.name == "confirm_with_user"]
        assert asked.ran is not None and asked.ran.arguments["tool"] == "move_candidate"


def test_the_spelling_of_a_second_version_comes_off_again() -> None:
    drift = Drift("PUT /a/{id}", moved("PUT /a/{id}"), rename=True, nest=True, drop=True, prefix=True)
    assert read_drifts(f"gone: {drift.sentence}")[drift.old] == drift
    asked = {"method": "PUT", "path": "/a/7", "query": {"x": 1}, "body": {"dayFrom": "2026-03-01"}}
    now = renamed(asked, drift)
    assert now["query"] == {"v2_x": 1, "expand": True} and now["body"] == {"v2_dayFrom": "2026-03-01"}
    assert renamed(now, drift, back=True) == asked
    body = {"Total": 3, "rows": [{"a-b": [1], "c_d": None}]}
    assert drift.original(drift.result(body, True)) == body
    assert drift.result(body, False) == {"version": 2, "data": {"v2_Total": 3}}


def test_an_address_is_that_of_a_request_by_its_form() -> None:
    assert is_at("POST /a/{id}:close", "post", "/a/E%3A7:close?x=1") and not is_at("POST /a/{id}", "POST", "/a/7/b")


def test_during_maintenance_records_can_be_read_and_nothing_is_changed(shown: ToolEnv) -> None:
    env = perturb(shown, "shutdown")
    env.reset(seed=3, options={"scenario": DECISION})
    assert "desk_closed" in env.step({"name": "wait", "arguments": {"seconds": 60}})[0]["notices"]
    assert ask(env, "get_me")[0]["role"] == "tool"
    observation, found = ask(env, "cancel_leave", request_id="LR65399", version=1)
    assert observation["role"] == "error" and found["status"] == 503 and found["details"]["retry_after_s"] > 3600
    assert not shown.trace[-1].changes


def test_a_write_for_many_that_has_no_key_is_looked_for_before_it_is_made_again() -> None:
    env = perturb(make("direct"), "outage-after-commit:1,tools=bulk_update_employees")
    base = play_gold(env, CURATED[BULK], 0, ["outage-after-commit"], 1)
    assert ended(base)
    assert sum(step.ran is not None and step.ran.name == "bulk_update_employees" for step in base.trace) == 1


def test_hooks_are_copied_and_pickled_without_the_presentation(shown: ToolEnv) -> None:
    for spec in ("outage-before-commit:0.3+format-shift+schema-drift", "outage-after-commit:0.5+pollution"):
        env = perturb(shown, spec)
        env.reset(seed=5, options={"scenario": DECISION})
        ask(env, "get_me")
        show = shown.presentation.show  # type: ignore[union-attr]
        action = show(Call("list_leave_types", {}))._asdict()
        copies: list[Any] = [fork(env), copy.deepcopy(env)]
        wanted = [env.step(action)[0] for _ in range(3)]
        for other in copies:
            assert [other.step(action)[0] for _ in range(3)] == wanted
            assert all(hook.presentation is not shown.presentation for hook in other.unwrapped._hooks)
        assert all("presentation" not in hook.__getstate__() for hook in shown._hooks)


def test_a_fault_without_a_status_is_told_in_words_by_any_presentation() -> None:
    for made in (HttpPresentation(7, 2), TypedPresentation(7, 2)):
        asked = made.show(Call("get_me", {}))
        assert made.operation(asked) == "get_me"
        assert made.broken(Call("get_me", {}), asked, Fault("get_me is gone")) == f"{asked.name} is gone"
    assert HttpPresentation(7, 2).operation(Call("http_request", {"method": "GET", "path": "/nothing"})) == ""


def test_the_table_knows_every_kind_and_every_scenario_that_it_names() -> None:
    table = table_of(make("direct").domain)
    assert kinds_of(table) == list(KINDS)
    named = {name for kind in table.unbitten.values() for name in kind} | {n for t in table.turns for n in t.scenarios}
    assert named <= set(CURATED)
    assert all(reason for kind in table.unbitten.values() for reason in kind.values())
    assert Source(tool="a", ask="b").given == {}
