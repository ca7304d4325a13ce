"""Gold plans: bindings, calculations and the runner."""

from __future__ import annotations

import json
import pickle
from typing import Any

import gymnasium as gym
import pytest
from tiny_domain import TINY, generate

from agentgym.gold import GoldError, GoldRunner, plans_differ, resolve, resolved_calls

SEEN: dict[str, Any] = {
    "look": {
        "items": [{"id": "A1", "n": 10**30, "ok": True, "gone": None}, {"id": "A2"}],
        "paid": 5000,
        "day": "2026-01-30",
    },
    "said": "it broke",
}


def binding(path: str) -> dict[str, str]:
    return {"from": "look", "path": path}


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        (17, 17),
        (binding("$.items[0].id"), "A1"),
        (binding("$.items[#-1].id"), "A2"),
        (binding("$.items[0].n"), 10**30),
        (binding("$.items[0].ok"), True),
        (binding("$.items[0].gone"), None),
        (binding("$.items[1]"), {"id": "A2"}),
        ({"from": "said"}, "it broke"),
        ({"from": "2026-01-01", "to": "2026-02-01"}, {"from": "2026-01-01", "to": "2026-02-01"}),
        ({"deep": [binding("$.paid")]}, {"deep": [5000]}),
        ({"sql": "SELECT :paid * 85 / 100", "paid": binding("$.paid")}, 4250),
        ({"sql": "SELECT date(:day, '+3 days')", "day": binding("$.day")}, "2026-02-02"),
        ({"sql": "SELECT count(*) FROM json_each(:list)", "list": binding("$.items")}, 2),
        ({"sql": "SELECT json_array(:a, :b)", "a": 1, "b": binding("$.paid"), "as_json": True}, [1, 5000]),
        ({"sql": "SELECT json_array(:a)", "a": 1}, "[1]"),
        ({"sql": "SELECT :a + :b", "a": 1, "b": {"sql": "SELECT :c * 2", "c": 3}}, 7),
    ],
)
def test_an_argument_is_a_literal_a_binding_a_calculation_or_a_nest_of_them(argument: Any, value: Any) -> None:
    found = resolve({"x": argument}, SEEN)["x"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            {"from": "lok", "path": "$.id"},
            "gold[1].actions[4]: from 'lok', path '$.id': found no earlier action with that label; "
            "labels so far: look, said",
        ),
        (
            {"from": "said", "path": "$.reason"},
            "gold[1].actions[4]: from 'said', path '$.reason': found nothing there; the observation was \"it broke\"",
        ),
        (binding("items"), "gold[1].actions[4]: from 'look', path 'items': found a path that does not start with $"),
        (
            binding("$.items[0"),
            "gold[1].actions[4]: from 'look', path '$.items[0': found an error of SQLite: JSON path error near '[0'",
        ),
        (
            {"sql": "SELECT 1", "paid": 3},
            "gold[1].actions[4]: sql 'SELECT 1': found the parameter 'paid', which the SQL does not use",
        ),
        (
            {"sql": "SELECT sum(value) FROM json_each(:l)", "l": []},
            "gold[1].actions[4]: sql 'SELECT sum(value) FROM json_each(:l)': "
            'found NULL with the parameters {"l": []}',
        ),
        (
            {"sql": "SELECT 1 WHERE 0"},
            "gold[1].actions[4]: sql 'SELECT 1 WHERE 0': found no row with the parameters {}",
        ),
        (
            {"sql": "SELECT date('now')"},
            "gold[1].actions[4]: sql \"SELECT date('now')\": found a calculation that reads the wall clock; "
            "bind the time to an observation",
        ),
        (
            {"sql": "SELECT 'x'", "as_json": True},
            'gold[1].actions[4]: sql "SELECT \'x\'": found "x", which is not JSON text as as_json says',
        ),
        (
            {"sql": "SELECT x'00'"},
            "gold[1].actions[4]: sql \"SELECT x'00'\": found a blob; a result is a number or text",
        ),
    ],
)
def test_an_argument_that_does_not_resolve_tells_plan_action_label_path_and_what_was_found(
    argument: Any, message: str
) -> None:
    with pytest.raises(GoldError) as caught:
        resolve({"x": argument}, SEEN, plan=1, action=4)
    assert str(caught.value) == message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT random()",
        "SELECT current_timestamp",
        "CREATE TABLE t (a)",
        "ATTACH 'x.db' AS x",
        "PRAGMA user_version",
        "SELECT * FROM sqlite_schema",
        "SELECT * FROM loans",
        "SELECT 1; SELECT 2",
    ],
)
def test_a_calculation_sees_no_world_and_writes_and_draws_nothing(sql: str) -> None:
    with pytest.raises(GoldError, match="found an error of SQLite"):
        resolve({"x": {"sql": sql}}, {})


def answers(name: str) -> dict[str, str]:
    value = {
        "find_member": {"member_id": "M1"},
        "list_loans": {"loans": [{"loan_id": "L101"}]},
        "loans_by_email": {"loans": [{"loan_id": "L101"}]},
        "renew_loan": {"due_on": "2026-04-03"},
    }.get(name, "fine")
    return {
        "role": "tool",
        "name": name,
        "content": value if isinstance(value, str) else json.dumps(value),
        "notices": "[]",
    }


def run(plan: int) -> list[dict[str, Any]]:
    runner, observation, calls = GoldRunner(generate(7, None), plan), None, []
    while (action := runner.next(observation)) is not None:
        calls.append(action)
        observation = answers(action["name"])
    assert runner.next(observation) is None
    return calls


def test_the_runner_gives_each_call_from_what_was_observed() -> None:
    assert run(0) == [
        {"name": "find_member", "arguments": {"email": "ada@example.org"}},
        {"name": "list_loans", "arguments": {"member_id": "M1"}},
        {
            "name": "confirm_with_user",
            "arguments": {"tool": "renew_loan", "arguments": {"loan_id": "L101", "days": 14}},
        },
        {"name": "renew_loan", "arguments": {"loan_id": "L101", "days": 14}},
        {"name": "respond", "arguments": {"message": "It is due on 2026-04-03"}},
        {"name": "finish", "arguments": {"outcome": "done"}},
    ]


def test_a_runner_restored_in_the_middle_goes_on_with_the_same_calls() -> None:
    whole, first, second = run(0), GoldRunner(generate(7, None)), GoldRunner(generate(7, None))
    action = first.next()
    for _ in range(2):
        assert action is not None
        action = first.next(answers(action["name"]))
    state = json.loads(json.dumps(first.get_state()))
    second.set_state(state)
    first.next(answers("confirm_with_user"))
    assert (second.step_label, second.next(answers("confirm_with_user"))) == ("", whole[3])
    assert second.step_label == "renewed"
    with pytest.raises(ValueError, match=r"^the state is of gold plan 0, this runner runs plan 1$"):
        GoldRunner(generate(7, None), 1).set_state(state)


def test_the_runner_needs_the_observation_of_a_labelled_action_and_a_plan_that_exists() -> None:
    runner = GoldRunner(generate(7, None))
    runner.next()
    with pytest.raises(
        ValueError, match=r"^next\(\) needs the observation that the action labelled 'member' gave, got None$"
    ):
        runner.next()
    with pytest.raises(ValueError, match=r"^tiny/gen-7 has the gold plans 0 to 1, got 2$"):
        GoldRunner(generate(7, None), 2)


def test_plans_differ_in_a_source_or_a_write_and_not_by_more_or_reordered_calls() -> None:
    first, second = run(0), run(1)
    assert plans_differ(first, second, TINY.toolset)
    assert not plans_differ(first, first[::-1], TINY.toolset)
    assert not plans_differ(first, [*first, *second], TINY.toolset)
    chatty = [*first[:-1], {"name": "respond", "arguments": {"message": "hi"}}]
    assert not plans_differ(first, chatty, TINY.toolset)
    other = [{"name": "find_member", "arguments": {"email": "bo@example.org"}}, *first[1:]]
    assert not plans_differ(first, other, TINY.toolset)
    assert sum(resolved_calls([*first, *first]).values()) == 2 * len(first)


def test_a_runner_without_the_presentation_says_that_it_needs_it() -> None:
    env: Any = gym.make("HR-v0", split="test", disable_env_checker=True).unwrapped
    observation, _ = env.reset(seed=1, options={"scenario": "hr/leave-decision-005"})
    runner = GoldRunner(env.scenario)
    with pytest.raises(
        GoldError, match=r"; where an environment shows .*\(scenario, plan, presentation=env\.unwrapped\.p"
    ):
        while (action := runner.next(observation)) is not None:
            observation = env.step(action)[0]
    env.close()
