"""What happens by itself: at a time, after a call, when a query becomes true; it is not laid at the agent's door."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from spawned import CONFIRM, DONE, GOOD, LOOK, RENEW, TELL, TinyEnv, call, play, variant

Make = Callable[..., TinyEnv]
NOTE = {"notes": [{"note_id": "N9", "loan_id": "L101", "body": "x"}]}


def begun(make: Make, *events: dict[str, Any], **fields: Any) -> TinyEnv:
    env = make()
    named = [{"name": f"event-{n}", **event} for n, event in enumerate(events)]
    env.reset(seed=1, options={"scenario": variant(events=named, **fields)})
    return env


def notices(step: Any) -> list[Any]:
    return [(n["at"], n["from"], n["text"]) for n in json.loads(step[0]["notices"])]


def notes(env: TinyEnv) -> int:
    found = env._world().reading().execute("SELECT count(*) FROM notes").fetchall()
    return int(found[0][0])


def test_an_event_at_a_time_takes_effect_during_the_call_that_reaches_it(tiny: Make) -> None:
    env = begun(tiny, {"at": "2026-03-14T09:30:00.300Z", "do": NOTE, "notice": "A note came."})
    first, second = play(env, [LOOK, LOOK])
    assert notices(first) == [] and notices(second) == [("2026-03-14T09:30:00Z", "system", "A note came.")]
    assert (first[4]["sim_time"], second[4]["sim_time"]) == (0.2, 0.4)
    assert notes(env) == 1
    assert notices(play(env, [LOOK])[0]) == []


def test_wait_ends_at_the_first_notice_and_goes_through_silent_events(tiny: Make) -> None:
    env = begun(
        tiny,
        {"at": "2026-03-14T09:31:00Z", "do": NOTE},
        {"at": "2026-03-14T09:32:00Z", "notice": "Two minutes."},
        {"at": "2026-03-14T09:33:00Z", "user": {"say": "Still there?"}},
    )
    first, second, third = play(env, [call("wait", seconds=600)] * 3)
    assert first[0]["content"] == "it is 2026-03-14T09:32:00Z; something happened" and first[4]["sim_time"] == 120.0
    assert notices(second) == [("2026-03-14T09:33:00Z", "user", "Still there?")]
    assert third[0]["content"] == "it is 2026-03-14T09:43:00Z" and notices(third) == []


def test_an_event_after_a_call_comes_once_after_its_delay_and_only_after_a_call_that_worked(tiny: Make) -> None:
    after = {
        "after": {"call": {"name": "list_loans", "arguments": {"member_id": "M1"}}},
        "delay": "PT10S",
        "notice": "Ding.",
    }
    env = begun(tiny, after)
    steps = play(
        env,
        [call("list_loans", member_id="M2"), call("wait", seconds=60), call("list_loans"), call("wait", seconds=60)],
    )
    assert [notices(step) for step in steps] == [[], [], [], []]
    steps = play(env, [LOOK, call("wait", seconds=60), LOOK, call("wait", seconds=60)])
    assert [bool(notices(step)) for step in steps] == [False, True, False, False]
    assert steps[1][4]["sim_time"] - steps[0][4]["sim_time"] == pytest.approx(10.0)


def test_an_event_without_delay_comes_with_the_observation_of_the_call_that_triggered_it(tiny: Make) -> None:
    env = begun(tiny, {"after": {"call": "list_loans"}, "notice": "Ding."})
    assert notices(env.step(LOOK)) == [("2026-03-14T09:30:00Z", "system", "Ding.")]


def test_an_event_comes_when_a_query_becomes_true_by_the_agent_or_by_another_event(tiny: Make) -> None:
    renewed = {"when": {"sql": "SELECT renewals FROM loans WHERE loan_id = 'L101'"}, "do": NOTE, "delay": "PT5S"}
    noted = {"when": {"sql": "SELECT count(*) FROM notes"}, "notice": "A note came."}
    env = begun(tiny, renewed, noted)
    steps = play(env, [LOOK, CONFIRM, RENEW, call("wait", seconds=60)])
    assert [bool(notices(step)) for step in steps] == [False, False, False, True]
    assert steps[3][4]["sim_time"] - steps[2][4]["sim_time"] == pytest.approx(5.0)


def test_events_of_one_moment_come_in_the_order_of_the_scenario(tiny: Make) -> None:
    at = "2026-03-14T09:30:10Z"
    env = begun(
        tiny, {"at": at, "notice": "b"}, {"at": at, "notice": "a"}, {"at": "2026-03-14T09:30:09Z", "notice": "c"}
    )
    assert [text for _, _, text in notices(env.step("Hello"))] == ["c", "b", "a"]


def test_what_others_change_is_not_laid_at_the_agents_door(tiny: Make) -> None:
    env = begun(
        tiny,
        {"at": "2026-03-14T09:30:00.300Z", "do": NOTE | {"members": [{"member_id": "M1", "fines_minor": 5}]}},
        {"after": {"call": "renew_loan"}, "do": {"loans": [{"loan_id": "L101", "status": "returned"}]}},
    )
    assert play(env, GOOD)[-1][4]["success"]


def test_an_event_on_the_row_and_in_the_latency_of_the_agents_own_change_is_kept_apart_from_it(tiny: Make) -> None:
    # The renewal starts at 15.2 s and takes 0.4 s.
    event = {"at": "2026-03-14T09:30:15.400Z", "do": {"loans": [{"loan_id": "L101", "status": "returned"}]}}
    env = begun(tiny, event)
    assert play(env, GOOD)[-1][4]["success"]
    [change] = list(env._current().judge.net)
    assert (change.op, change.columns) == ("update", ("due_on", "renewals", "updated_at"))


def test_an_event_does_not_excuse_a_change_of_the_agent_on_the_same_row(tiny: Make) -> None:
    event = {"at": "2026-03-14T09:30:15.400Z", "do": {"loans": [{"loan_id": "L101", "status": "returned"}]}}
    env = begun(tiny, event, checks={"may_change": ["loans[loan_id='L101'].due_on"]})
    assert not play(env, GOOD)[-1][4]["success"]
    assert env.verdict is not None and env.verdict.attribution == {"may_change": ["may_change"]}


def test_a_checkpoint_is_credited_for_what_the_agent_did_not_for_what_an_event_undid_or_did(tiny: Make) -> None:
    undo = {"at": "2026-03-14T09:30:15.400Z", "do": {"loans": [{"loan_id": "L101", "due_on": "2026-03-20"}]}}
    env = begun(tiny, undo)
    assert play(env, GOOD[:3])[-1][4]["checkpoint_new"] == "renewed"
    done = {"at": "2026-03-14T09:30:00.100Z", "do": {"loans": [{"loan_id": "L101", "due_on": "2026-04-03"}]}}
    env = begun(tiny, done)
    assert [step[4]["checkpoint_new"] for step in play(env, [LOOK, TELL, LOOK])] == ["looked_up", "", ""]


def test_nothing_happens_after_the_end(tiny: Make) -> None:
    at_end = {"at": "2026-03-14T09:30:00.500Z", "do": NOTE, "notice": "too late"}
    env = begun(tiny, at_end)
    observation, *_, info = env.step(call("hand_off", reason="other", summary="x"))
    assert info["end_reason"] == "handed_off" and observation["notices"] == "[]" and notes(env) == 0
    env = begun(tiny, {"after": {"call": "finish"}, "do": NOTE})
    env.step(DONE)
    assert notes(env) == 0
    env = begun(tiny, at_end, user={"patience": 1, "wants": []})
    assert env.step(CONFIRM)[4]["end_reason"] == "user_left" and notes(env) == 0


def test_a_write_and_the_event_that_it_triggers_are_both_in_the_hash(tiny: Make) -> None:
    env, bare = begun(tiny, {"after": {"call": "renew_loan"}, "do": NOTE}), begun(tiny)
    for each in (env, bare):
        play(each, [LOOK, CONFIRM, RENEW])
    assert env.state_hash != bare.state_hash


def test_an_event_lets_a_repeated_read_be_no_waste(tiny: Make) -> None:
    env = begun(tiny, {"at": "2026-03-14T09:31:00Z", "notice": "Look again."})
    steps = play(env, [LOOK, LOOK, call("wait", seconds=100), call("wait", seconds=100), LOOK, LOOK])
    assert [step[4]["redundant_calls"] for step in steps] == [0, 1, 1, 1, 1, 2]


def test_an_event_may_insert_update_and_delete(tiny: Make) -> None:
    do = {"notes": {"N9": {"loan_id": "L101", "body": "x"}}, "loans": {"L103": None, "L102": {"renewals": 0}}}
    env = begun(tiny, {"at": "2026-03-14T09:30:01Z", "do": do})
    env.step(call("wait", seconds=5))
    read = env._world().reading().execute
    assert read("SELECT loan_id, renewals FROM loans ORDER BY loan_id").fetchall() == [("L101", 0), ("L102", 0)]
    assert read("SELECT * FROM notes").fetchall() == [("N9", "L101", "x")]
