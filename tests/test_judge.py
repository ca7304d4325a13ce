"""The judge: each kind of check is met by what it asks for and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from spawned import CONFIRM, DONE, GOOD, LOOK, RENEW, TELL, TinyEnv, call, play, variant

Make = Callable[..., TinyEnv]
DUE = "SELECT due_on FROM loans WHERE loan_id = 'L101'"
NOTE = call("add_note", loan_id="L101", body="for Ada")


def judged(make: Make, actions: list[Any], **fields: Any) -> tuple[bool, set[str]]:
    """Whether the episode succeeded and the names of the checks that failed."""
    env = make(on_veto="flag")
    env.reset(seed=1, options={"scenario": variant(**fields)})
    steps = play(env, actions)
    verdict = env.verdict
    assert verdict is not None and verdict.status == "ok", verdict
    assert verdict.success == steps[-1][4]["success"]
    failed = {check.name for check in verdict.checks if not check.ok}
    assert verdict.attribution == {
        k: [c.name for c in verdict.checks if not c.ok and c.kind == k] for k in verdict.attribution
    }
    json.dumps(verdict.to_json())
    return verdict.success, failed


def test_the_right_way_succeeds_and_each_part_left_out_fails_by_name(tiny: Make) -> None:
    assert judged(tiny, GOOD) == (True, set())
    assert judged(tiny, [LOOK, CONFIRM, RENEW, DONE]) == (False, {"said[0]"})
    assert judged(tiny, [LOOK, CONFIRM, TELL, DONE]) == (False, {"final_state[0]"})
    assert judged(tiny, [RENEW, TELL, DONE]) == (False, {"confirm_before[renew_loan]"})
    assert judged(tiny, [*GOOD[:-1], call("finish", outcome="refused")]) == (False, {"end"})
    assert judged(tiny, [*GOOD[:-1], call("hand_off", reason="done", summary="done")]) == (False, {"end"})


def test_order_of_independent_steps_and_extra_reads_do_not_matter(tiny: Make) -> None:
    assert judged(tiny, [CONFIRM, LOOK, call("find_member", email="ada@example.org"), RENEW, "Thanks", TELL, DONE])[0]


def test_a_state_that_passes_through_the_goal_or_a_budget_that_runs_out_on_it_is_no_success(tiny: Make) -> None:
    event = {
        "name": "back",
        "after": {"call": "respond"},
        "do": {"loans": [{"loan_id": "L101", "due_on": "2026-03-20"}]},
    }
    assert judged(tiny, GOOD, events=[event]) == (False, {"final_state[0]"})
    budget = {"process": {"max_steps": 4}}
    assert judged(tiny, GOOD[:4], checks=budget) == (False, {"end"})


def test_checkpoints_are_kept_when_the_budget_cuts_the_episode_off(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1, options={"scenario": variant({"process": {"max_steps": 3}})})
    _, _, terminated, truncated, info = play(env, GOOD)[-1]
    assert (terminated, truncated, info["end_reason"], info["steps"]) == (False, True, "step_budget", 3)
    assert (info["checkpoint_completion"], info["checkpoint_new"], info["success"]) == (1.0, "renewed", False)
    assert env.verdict is not None and env.verdict.checkpoints == (("looked_up", 1), ("renewed", 3))


def test_finishing_in_the_last_step_of_the_budget_is_finishing(tiny: Make) -> None:
    assert judged(tiny, GOOD, checks={"process": {"max_steps": 5}})[0]


def test_twenty_invalid_calls_in_a_row_truncate_and_nineteen_do_not(tiny: Make) -> None:
    env = tiny(reward="shaped")
    env.reset(seed=1, options={"scenario": variant({"process": {"max_steps": 100}})})
    bad = [call("nonsense"), {"name": "list_loans", "arguments": "{"}, "", 3, call("list_loans", member=1)]
    steps = play(env, [LOOK, *(bad * 4)[:19], LOOK, *(bad * 4)])
    assert len(steps) == 41
    *_, truncated, info = steps[-1]
    assert truncated and info["end_reason"] == "invalid_streak" and info["invalid_calls"] == 39
    assert (info["checkpoint_completion"], env.episode_return, info["tool_calls"]) == (0.5, 0.25, 2)


STATES: list[tuple[dict[str, Any], bool]] = [
    ({"sql": DUE, "expect": "2026-04-03", "type": "date"}, True),
    ({"sql": DUE, "expect": "2026-04-04", "type": "date"}, False),
    ({"sql": "SELECT renewals FROM loans WHERE loan_id = 'L101'", "expect": 1, "type": "int"}, True),
    ({"sql": "SELECT renewals FROM loans WHERE loan_id = 'L101'", "expect": "1", "type": "text"}, False),
    ({"sql": "SELECT CAST(renewals AS TEXT) FROM loans WHERE loan_id = 'L101'", "expect": 1, "type": "int"}, False),
    ({"sql": "SELECT renewals = 1 FROM loans WHERE loan_id = 'L101'", "expect": True, "type": "bool"}, True),
    ({"sql": "SELECT 0.1 + 0.2", "expect": 0.3, "type": "number", "tolerance": 1e-9}, True),
    ({"sql": "SELECT 0.1 + 0.2", "expect": 0.3, "type": "number"}, False),
    (
        {
            "sql": "SELECT fines_minor FROM members WHERE member_id = 'M2'",
            "expect": 350,
            "type": "money",
            "currency": "EUR",
        },
        True,
    ),
    (
        {
            "sql": "SELECT fines_minor FROM members WHERE member_id = 'M2'",
            "expect": 351,
            "type": "money",
            "currency": "EUR",
        },
        False,
    ),
    ({"sql": "SELECT loan_id FROM loans WHERE loan_id = 'L101'", "expect": "L101", "type": "id"}, True),
    ({"sql": "SELECT NULL", "expect": None, "type": "null"}, True),
    ({"sql": "SELECT NULL WHERE 0", "expect": None, "type": "null"}, False),
    ({"sql": "SELECT NULL", "expect": "null", "type": "text"}, False),
    ({"sql": "SELECT 'null'", "expect": None, "type": "null"}, False),
    ({"sql": "SELECT loan_id FROM loans WHERE 0", "expect": "", "type": "text"}, False),
    ({"sql": "SELECT x'00'", "expect": "\0", "type": "text"}, False),
    (
        {
            "sql": "SELECT loan_id FROM loans",
            "expect": ["L102", "L101", "L103"],
            "type": "set",
            "items": {"type": "id"},
        },
        True,
    ),
    ({"sql": "SELECT loan_id FROM loans", "expect": ["L102", "L101"], "type": "set", "items": {"type": "id"}}, False),
    ({"sql": "SELECT 1 UNION ALL SELECT 1", "expect": [1, 1], "type": "multiset", "items": {"type": "int"}}, True),
    ({"sql": "SELECT 1 UNION ALL SELECT 1", "expect": [1], "type": "multiset", "items": {"type": "int"}}, False),
    (
        {
            "sql": "SELECT loan_id FROM loans ORDER BY 1 DESC",
            "expect": ["L103", "L102", "L101"],
            "type": "list",
            "items": {"type": "id"},
        },
        True,
    ),
    (
        {
            "sql": "SELECT loan_id FROM loans ORDER BY 1",
            "expect": ["L103", "L102", "L101"],
            "type": "list",
            "items": {"type": "id"},
        },
        False,
    ),
    ({"sql": "SELECT 1 WHERE 0", "expect": [], "type": "set", "items": {"type": "int"}}, True),
    ({"sql": "SELECT 'b'", "any_of": ["a", "b"]}, True),
    ({"sql": "SELECT 'c'", "any_of": ["a", "b"]}, False),
    ({"sql": "SELECT :x", "params": {"x": "b"}, "expect": "b"}, True),
    ({"sql": "SELECT json_object('a', 1)", "expect": {"a": 1}, "type": "json"}, True),
    ({"sql": "SELECT json_object('a', 1)", "expect": {"a": True}, "type": "json"}, False),
]


@pytest.mark.parametrize(("check", "ok"), STATES, ids=lambda value: json.dumps(value)[:70])
def test_a_final_state_is_compared_by_its_type(tiny: Make, check: dict[str, Any], ok: bool) -> None:
    assert judged(tiny, GOOD, checks={"final_state": [check]}) == (ok, set() if ok else {"final_state[0]"})


RENEWED = ["loans[loan_id='L101'].due_on", "loans[loan_id='L101'].renewals"]
NOTED: dict[str, Any] = {"table": "notes", "op": "insert", "max": 1, "where": {"loan_id": "L101"}}


@pytest.mark.parametrize(
    ("allowed", "actions", "ok"),
    [
        ([*RENEWED, NOTED], [*GOOD[:3], NOTE, TELL, DONE], True),
        (RENEWED, [*GOOD[:3], NOTE, TELL, DONE], False),
        ([*RENEWED, NOTED], [*GOOD[:3], NOTE, NOTE, TELL, DONE], False),
        ([*RENEWED, NOTED | {"max": 2}], [*GOOD[:3], NOTE, NOTE, TELL, DONE], True),
        (
            [*RENEWED, NOTED | {"where": {"loan_id": ["L101", "L102"], "body": "for Ada"}}],
            [*GOOD[:3], NOTE, TELL, DONE],
            True,
        ),
        ([*RENEWED, NOTED | {"where": {"loan_id": "L102"}}], [*GOOD[:3], NOTE, TELL, DONE], False),
        ([*RENEWED, NOTED | {"op": "update"}], [*GOOD[:3], NOTE, TELL, DONE], False),
        ([*RENEWED, {"table": "notes", "where": {"loan_id": "L101"}}], [*GOOD[:3], NOTE, NOTE, TELL, DONE], True),
        (
            [*RENEWED, {"table": "notes", "where": {"loan_id": "L101"}, "columns": ["body"]}],
            [*GOOD[:3], NOTE, TELL, DONE],
            False,
        ),
        (RENEWED[:1], GOOD, False),
        (["loans[loan_id='L101']"], GOOD, True),
        (["loans[loan_id='L101',member_id='M1']"], GOOD, True),
        (["loans[loan_id='L101',member_id='M2']"], GOOD, False),
        (["loans[renewals=0]"], GOOD, False),
        ([{"table": "loans", "where": {"loan_id": "L101"}, "columns": ["due_on", "renewals"]}], GOOD, True),
        ([{"table": "loans", "op": "update", "where": {"loan_id": "L101"}, "max": 1}], GOOD, True),
    ],
)
def test_only_the_allowed_rows_columns_and_counts_may_change(tiny: Make, allowed: Any, actions: Any, ok: bool) -> None:
    assert judged(tiny, actions, checks={"may_change": allowed}) == (ok, set() if ok else {"may_change"})


def test_a_change_undone_by_the_agent_is_none_and_volatile_columns_are_never_one(tiny: Make) -> None:
    # renew_loan writes updated_at, which RENEWED does not allow.
    assert judged(tiny, GOOD, checks={"may_change": RENEWED})[0]


SAID: list[tuple[dict[str, Any], list[str], bool]] = [
    ({"must": [{"type": "date", "value": "2026-04-03"}]}, ["due on 2026-04-03"], True),
    ({"must": [{"type": "date", "value": "2026-04-03"}]}, ["due on April 3, 2026"], True),
    ({"must": [{"type": "date", "value": "2026-04-03"}]}, ["due on 2026-04-13"], False),
    ({"must": [{"type": "money", "value": 4500, "currency": "EUR"}]}, ["you get 45.00 EUR"], True),
    ({"must": [{"type": "money", "value": 4500, "currency": "EUR"}]}, ["you get 145.00 EUR"], False),
    ({"must": [{"type": "id", "value": "L101"}]}, ["loan L101."], True),
    ({"must": [{"type": "id", "value": "L101"}]}, ["loan L1011"], False),
    ({"must": [{"type": "id", "value": "L101"}, {"type": "id", "value": "L102"}]}, ["L101", "L102"], True),
    ({"must": [{"type": "id", "value": "L101"}, {"type": "id", "value": "L102"}]}, ["L101"], False),
    ({"must": [{"type": "id", "value": "L101"}], "only": True}, ["L101"], True),
    ({"must": [{"type": "id", "value": "L101"}], "only": True}, ["L101, L102 or L103"], False),
    ({"must": [{"type": "id", "value": "L101"}], "only": True}, ["L101", "L102"], False),
    ({"must": [{"type": "money", "value": 4500, "currency": "EUR"}], "only": True}, ["45 EUR or 46 EUR"], False),
    ({"must_not": [{"type": "money", "value": 4500, "currency": "EUR"}]}, ["you get 45 EUR"], False),
    ({"must_not": [{"type": "money", "value": 4500, "currency": "EUR"}]}, ["you get 44 EUR"], True),
    ({"must_not": [{"type": "id", "value": "L101"}]}, ["nothing"], True),
]


@pytest.mark.parametrize(("said", "texts", "ok"), SAID)
def test_what_the_user_was_told_is_compared_by_value(tiny: Make, said: Any, texts: list[str], ok: bool) -> None:
    assert judged(tiny, [*GOOD[:3], *texts, DONE], checks={"said": [said]}) == (ok, set() if ok else {"said[0]"})


def test_what_a_colleague_is_told_is_apart_from_what_the_user_is_told(tiny: Make) -> None:
    checks = {"end": {"hand_off": ["fraud"]}, "said": [{"to": "colleague", "must": [{"type": "id", "value": "L101"}]}]}
    handed = call("hand_off", reason="fraud", summary="see L101")
    assert judged(tiny, [*GOOD[:3], handed], checks=checks) == (True, set())
    other = call("hand_off", reason="fraud", summary="see above")
    assert judged(tiny, [*GOOD[:3], "L101", other], checks=checks) == (False, {"said[0]"})
    assert judged(tiny, [*GOOD[:3], call("hand_off", reason="age", summary="L101")], checks=checks) == (False, {"end"})
    assert judged(tiny, [*GOOD[:3], "I am so sorry, L101", DONE], checks=checks)[0] is False


MONEY = {"type": "money", "value": 0, "currency": "EUR"}
WRONG: list[Any] = ["NaN", "", "null", "[]", "0 if True else 1", None, False, {}, [], 1, "1e-400x"]
OBJECT = {"type": "object", "fields": {"n": {"type": "int", "value": 3}, "id": {"type": "id", "value": "007"}}}


@pytest.mark.parametrize(
    ("expected", "answer", "ok"),
    [
        (MONEY, "0.00", True),
        (MONEY, 0, True),
        *((MONEY, wrong, False) for wrong in WRONG),
        ({"type": "int", "value": 1}, True, False),
        ({"type": "int", "value": 1}, "1", False),
        ({"type": "int", "value": 1}, 2**62, False),
        ({"type": "text", "value": "yes"}, "yes", True),
        ({"type": "text", "value": "yes"}, ["yes", "no"], False),
        (OBJECT, {"n": 3, "id": "007"}, True),
        (OBJECT, {"n": 3, "id": "007", "more": 1}, True),
        (OBJECT | {"closed": True}, {"n": 3, "id": "007", "more": 1}, False),
        (OBJECT, {"n": 3, "id": 7}, False),
        (OBJECT, {"n": 3, "id": "7"}, False),
        (OBJECT, {"n": 3}, False),
        (OBJECT, '{"n": 3, "id": "007"}', False),
        ({"type": "set", "items": {"type": "id"}, "value": ["a", "b"]}, ["b", "a"], True),
        ({"type": "set", "items": {"type": "id"}, "value": ["a", "b"]}, ["a", "b", "c"], False),
        ({"type": "one_of", "any_of": [{"type": "int", "value": 1}, {"type": "text", "value": "one"}]}, "one", True),
        ({"type": "one_of", "any_of": [{"type": "int", "value": 1}, {"type": "text", "value": "one"}]}, "two", False),
        ({"type": "null"}, None, False),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_an_answer_is_compared_by_its_type_and_absence_is_a_mismatch(
    tiny: Make, expected: Any, answer: Any, ok: bool
) -> None:
    end = call("finish", outcome="done", answer=answer)
    assert judged(tiny, [*GOOD[:4], end], checks={"answer": expected}) == (ok, set() if ok else {"answer"})


def test_an_answer_belongs_to_finish_unless_a_hand_off_was_a_right_end(tiny: Make) -> None:
    handed = call("hand_off", reason="fraud", summary="x")
    answer = {"type": "int", "value": 1}
    both = {"end": {"outcome": ["done"], "hand_off": ["fraud"]}, "answer": answer}
    assert judged(tiny, [*GOOD[:4], handed], checks=both) == (True, set())
    assert judged(tiny, [*GOOD[:4], DONE], checks=both) == (False, {"answer"})
    assert judged(tiny, [*GOOD[:4], handed], checks={"answer": answer}) == (False, {"answer", "end"})


TEXT = {
    "sql": "SELECT body FROM notes",
    "must": [{"type": "id", "value": "L101"}],
    "must_not": [{"type": "id", "value": "M2"}],
}


@pytest.mark.parametrize(
    ("bodies", "ok"),
    [(["on L101"], True), (["on L102"], False), (["on L101", "of M2"], False), ([], False), (["L1", "L101"], True)],
)
def test_what_was_written_into_free_text_is_compared_by_value(tiny: Make, bodies: list[str], ok: bool) -> None:
    notes = [call("add_note", loan_id="L101", body=body) for body in bodies]
    allowed = [*RENEWED, {"table": "notes", "op": "insert", "max": 3, "where": {"loan_id": "L101"}}]
    found = judged(tiny, [*GOOD[:4], *notes, DONE], checks={"text": [TEXT], "may_change": allowed})
    assert found == (ok, set() if ok else {"text[0]"})


M1, M2 = (
    {"name": "list_loans", "arguments": {"member_id": "M1"}},
    {"name": "list_loans", "arguments": {"member_id": "M2"}},
)
BY_MAIL = {"name": "loans_by_email", "arguments": {"email": "ada@example.org", "title": None}}


@pytest.mark.parametrize(
    ("process", "failed"),
    [
        ({"required": ["list_loans"]}, set()),
        ({"required": [M1]}, set()),
        ({"required": [M2]}, {"required[0]"}),
        ({"required": ["find_member", "list_loans"]}, {"required[0]"}),
        ({"forbidden": ["list_loans"]}, {"forbidden[0]"}),
        ({"forbidden": [M2]}, set()),
        ({"order": [["list_loans", "renew_loan"]]}, set()),
        ({"order": [["renew_loan", "list_loans"]]}, {"order[0]"}),
        ({"order": [["find_member", "renew_loan"]]}, {"order[0]"}),
        ({"order": [["renew_loan", "lend_book"]]}, set()),
        ({"deadline": [{"call": "renew_loan", "before": "2026-03-14T09:31:00Z"}]}, set()),
        ({"deadline": [{"call": "renew_loan", "before": "2026-03-14T09:30:15Z"}]}, {"deadline[0]"}),
        ({"deadline": [{"call": "lend_book", "before": "2026-03-15"}]}, {"deadline[0]"}),
        ({"max_redundant": 0}, set()),
        ({"own": ["loan_id"]}, set()),
    ],
)
def test_the_process_is_judged_by_what_took_effect(tiny: Make, process: Any, failed: set[str]) -> None:
    assert judged(tiny, GOOD, checks={"process": process}) == (not failed, failed)


def test_a_call_is_matched_after_defaults_and_a_failed_one_never(tiny: Make) -> None:
    checks = {"process": {"required": [BY_MAIL]}}
    short, failing = (
        call("loans_by_email", email="ada@example.org"),
        call("loans_by_email", email="ada@example.org", title=3),
    )
    assert judged(tiny, [*GOOD[:4], short, DONE], checks=checks)[0]
    assert judged(tiny, [*GOOD[:4], failing, DONE], checks=checks) == (False, {"required[0]"})
    late = {"process": {"required": [{"name": "renew_loan", "arguments": {"loan_id": "L102"}}]}}
    gone = call("renew_loan", loan_id="L999", days=14)
    assert judged(tiny, [*GOOD[:4], gone, DONE], checks=late) == (False, {"required[0]"})


def test_a_write_on_what_belongs_to_another_fails_own(tiny: Make) -> None:
    foreign = call("add_note", loan_id="L103", body="x")
    allowed = [*RENEWED, NOTED | {"where": {"loan_id": "L103"}}]
    found = judged(tiny, [*GOOD[:4], foreign, DONE], checks={"may_change": allowed, "process": {"own": ["loan_id"]}})
    assert found == (False, {"own[loan_id]"})


def test_redundant_calls_are_repeats_without_a_change_between(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1, options={"scenario": variant(user={"patience": 9})})
    note = call("add_note", loan_id="L101", body="x")
    wait, ask = (
        call("wait", seconds=1),
        call("confirm_with_user", tool="add_note", arguments={"loan_id": "L101", "body": "x"}),
    )
    steps = play(
        env,
        [
            LOOK,
            LOOK,
            wait,
            wait,
            note,
            LOOK,
            note,
            LOOK,
            LOOK,
            "Hi",
            "Hi",
            ask,
            ask,
            call("nonsense"),
            call("nonsense"),
        ],
    )
    assert [step[4]["redundant_calls"] for step in steps] == [0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4]


CHECKPOINTS = [
    {"name": "asked", "confirmed": "renew_loan"},
    {"name": "told", "said": [{"type": "date", "value": "2026-04-03"}]},
    {"name": "either", "called": [M1, "loans_by_email"], "weight": 2},
    {
        "name": "state",
        "sql": "SELECT renewals FROM loans WHERE loan_id = :l",
        "params": {"l": "L101"},
        "expect": 1,
        "type": "int",
    },
]


def test_each_kind_of_checkpoint_is_credited_once_where_it_was_reached(tiny: Make) -> None:
    env = tiny(on_veto="flag")
    env.reset(seed=1, options={"scenario": variant(checkpoints=CHECKPOINTS)})
    refused = call("confirm_with_user", tool="renew_loan", arguments={"loan_id": "L101", "days": 7})
    steps = play(
        env, [call("list_loans", member_id="M2"), refused, LOOK, LOOK, CONFIRM, RENEW, "Soon.", TELL, TELL, DONE]
    )
    new = [step[4]["checkpoint_new"] for step in steps]
    assert new == ["", "", "either", "", "asked", "state", "", "told", "", ""]
    assert [step[4]["checkpoint_completion"] for step in steps] == [0, 0, 0.4, 0.4, 0.6, 0.8, 0.8, 1, 1, 1]
    assert env.verdict is not None
    assert env.verdict.checkpoints == (("asked", 5), ("told", 8), ("either", 3), ("state", 6))


def test_grading_twice_gives_the_same_bytes_and_leaves_the_world_alone(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1, options={"scenario": variant()})
    play(env, GOOD)
    before, judge = env.state_hash, env._current().judge
    verdicts = {json.dumps(judge.verdict("finished").to_json()) for _ in range(3)}
    assert env.verdict is not None and verdicts == {json.dumps(env.verdict.to_json())}
    assert env.state_hash == before


def test_a_check_that_breaks_is_an_error_status_and_no_reward(tiny: Make) -> None:
    env = tiny()
    # Loading would refuse this query; here it stands for a bug of a grader.
    checks = {"final_state": [{"sql": "SELECT json_extract(title, '$.x') FROM books", "expect": "x"}]}
    env.reset(seed=1, options={"scenario": variant(checks)})
    _, reward, terminated, _, info = play(env, GOOD)[-1]
    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert env.verdict is not None and (env.verdict.status, env.verdict.error) == (
        "error",
        "OperationalError: malformed JSON",
    )
    env.reset(seed=1, options={"scenario": variant()})
    assert play(env, GOOD)[-1][4]["success"]


def test_a_right_state_is_told_apart_from_a_right_end(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1, options={"scenario": variant()})
    play(env, [*GOOD[:4], call("finish", outcome="impossible")])
    assert env.verdict is not None and env.verdict.state_ok and not env.verdict.success
    env.reset(seed=1, options={"scenario": variant()})
    play(env, [LOOK, DONE])
    assert env.verdict is not None
    assert not env.verdict.state_ok
