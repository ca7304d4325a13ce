"""The waterfall: policy, containment, answer; what a model may lower; scores by capability."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paged_domain import PAGED
from spawned import call, variant

from agentgym.predictions import (
    Prediction,
    grade_file,
    grade_predictions,
    read_predictions,
    score_by_capability,
)
from agentgym.scenario import Scenario
from agentgym.trace import Call
from agentgym.waterfall import Graded, Question, Waterfall

LOOK = Call("list_loans", {"member_id": "M1"})
BY_EMAIL = Call("loans_by_email", {"email": "ada@example.org"})
ANSWER = {
    "type": "object",
    "fields": {"due": {"type": "date", "value": "2026-03-16"}, "n": {"type": "int", "value": 2}},
}
RIGHT = {"due": "2026-03-16", "n": 2}
RENEWAL = {"loan_id": "L101", "days": 14}


def asking(name: str = "tiny/asked-001", answer: Any = ANSWER, **fields: Any) -> Scenario:
    """When is Ada's other loan due, and how often was it renewed?"""
    checks = {"answer": answer, "final_state": [], "said": [], "process": {}, **fields.pop("checks", {})}
    end = {"name": "finish", "arguments": {"outcome": "done", "answer": RIGHT}}
    looks = [
        [{"name": "find_member", "as": "m", "arguments": {"email": "ada@example.org"}},
         {"name": "list_loans", "arguments": {"member_id": {"from": "m", "path": "$.member_id"}}}],
        [{"name": "loans_by_email", "arguments": {"email": "ada@example.org"}}],
    ]  # fmt: skip
    gold = [{"plan": ["Look", "Tell"], "actions": [*actions, end]} for actions in looks]
    user = {"opening": "When is Dune due? My address is ada@example.org."}
    return variant(checks, user, id=name, gold=fields.pop("gold", gold), **fields)


@pytest.fixture(scope="module")
def waterfall() -> Iterator[Waterfall]:
    with Waterfall(PAGED) as made:
        yield made


def stages(graded: Graded) -> tuple[str, str, str, bool]:
    return graded.policy, graded.containment, graded.answer, graded.correct


def test_gold_and_any_other_way_to_the_same_values_are_correct(waterfall: Waterfall) -> None:
    for calls in (
        [Call("find_member", {"email": "ada@example.org"}), LOOK],
        [BY_EMAIL],
        [LOOK],
        # More than was needed, in two parts, the other way round.
        [Call("loans_by_email", {"email": "ada@example.org", "title": title}) for title in ("Emma", "Dune")]
        + [Call("list_books", {}), LOOK],
    ):
        assert stages(waterfall.grade(asking(), calls, RIGHT)) == ("yes", "yes", "yes", True)
    assert waterfall.grade(asking(), [LOOK], json.dumps(RIGHT)).correct
    assert waterfall.grade(asking(), [LOOK], {"n": 2.0, "due": "2026-03-16T00:00:00Z", "more": 1}).correct


def test_calls_are_made_again_from_the_snapshot_with_the_patch_of_the_scenario(waterfall: Waterfall) -> None:
    renewed = Call("renew_loan", {"loan_id": "L102", "days": 7})
    assert waterfall.execute(asking(), [renewed, LOOK])[1].value["loans"][1]["due_on"] == "2026-03-23"
    assert waterfall.grade(asking(), [LOOK], RIGHT).correct
    patched = asking(initial_state={"patch": {"loans": [{"loan_id": "L102", "due_on": "2026-03-17"}]}})
    assert [r.value["loans"][1]["due_on"] for r in waterfall.execute(patched, [LOOK])] == ["2026-03-17"]
    assert waterfall.grade(patched, [LOOK], RIGHT).reasons == ("due stands in no result; it may be calculated",)


@pytest.mark.parametrize(
    "calls",
    [
        [],
        [Call("list_loans", {"member_id": "M2"})],
        [Call("list_loans", {"member": "M1"})],
        [Call("no_tool", {})],
        [Call("renew_loan", {"loan_id": "L999", "days": 7})],
        [Call("respond", {"message": json.dumps(RIGHT)}), Call("finish", {"outcome": "done", "answer": RIGHT})],
        [Call("loans_by_email", {"email": "ada@example.org", "title": "Dune"})],
    ],
)
def test_without_the_values_a_right_answer_is_no_success(waterfall: Waterfall, calls: list[Call]) -> None:
    assert stages(waterfall.grade(asking(), calls, RIGHT)) == ("yes", "no", "not reached", False)


@pytest.mark.parametrize(
    "answer",
    [
        None, "", {}, {"due": "2026-03-16"}, {"due": "2026-03-16", "n": 3}, {"due": "2026-03-16", "n": True},
        {"due": "2026-03-16", "n": "2"}, [RIGHT], "there is no loan", "It is due on 2026-03-16", "error",
        "When is Dune due? My address is ada@example.org.",
    ],
)  # fmt: skip
def test_a_wrong_answer_an_error_text_and_an_echo_of_the_question_are_wrong(waterfall: Waterfall, answer: Any) -> None:
    assert stages(waterfall.grade(asking(), [LOOK], answer)) == ("yes", "yes", "no", False)


def test_empty_gold_never_passes(waterfall: Waterfall) -> None:
    nothing = [{"name": "loans_by_email", "arguments": {"email": "nobody@example.org"}}]
    end = {"name": "finish", "arguments": {"outcome": "done"}}
    gold = [{"plan": ["x"], "actions": [*nothing, end]}, {"plan": ["y"], "actions": [end]}]
    graded = waterfall.grade(asking(gold=gold), [LOOK], RIGHT)
    assert stages(graded) == ("yes", "no", "not reached", False)
    assert graded.reasons == ("gold holds nothing that had to be found out",)
    unasked = variant({"said": [], "process": {}, "final_state": []})
    assert waterfall.grade(unasked, [LOOK], "anything").reasons[-1] == "the scenario has no gold answer"


def test_sources_that_the_policy_rules_out_come_first(waterfall: Waterfall) -> None:
    facts = [{"name": "day", "sql": "SELECT due_on FROM loans WHERE loan_id = 'L102'", "type": "date"}]
    chain = {"facts": facts, "sources": {"forbidden": ["loans_by_email"]}}
    played = asking(checks={"chain": chain})
    assert waterfall.grade(played, [LOOK], RIGHT).correct
    graded = waterfall.grade(played, [LOOK, BY_EMAIL], RIGHT)
    assert stages(graded) == ("no", "not reached", "not reached", False)
    assert graded.reasons == ("loans_by_email is ruled out",)
    allowed = asking(checks={"chain": {"facts": facts, "sources": {"allowed": [call("list_loans", member_id="M1")]}}})
    assert waterfall.grade(allowed, [LOOK, Call("respond", {"message": "x"})], RIGHT).correct
    assert waterfall.grade(allowed, [LOOK, BY_EMAIL], RIGHT).policy == "no"
    assert waterfall.grade(asking(checks={"process": {"forbidden": ["list_loans"]}}), [LOOK], RIGHT).policy == "no"
    assert waterfall.grade(asking(veto=[{"call": "list_loans"}]), [LOOK], RIGHT).policy == "no"


SEVEN = {"type": "object", "fields": {"sum": {"type": "int", "value": 77}}}


def test_a_value_in_no_result_is_doubtful_and_with_a_chain_it_is_calculated_or_wrong(waterfall: Waterfall) -> None:
    graded = waterfall.grade(asking(answer=SEVEN), [LOOK], {"sum": 77})
    assert stages(graded) == ("yes", "yes", "undecided", True)
    assert graded.reasons == ("sum stands in no result; it may be calculated",)
    facts = [{"name": "fines", "sql": "SELECT fines_minor FROM members WHERE member_id = 'M2'", "type": "int"}]
    strict = asking(answer=SEVEN, checks={"chain": {"facts": facts}})
    assert waterfall.grade(strict, [LOOK], {"sum": 77}).answer == "no"
    declared = asking(answer=SEVEN, checks={"chain": {"facts": facts, "calculated": {"sum": ["fines"]}}})
    assert waterfall.grade(declared, [LOOK], {"sum": 77}).answer == "no"
    find = Call("find_member", {"email": "bo@example.org"})
    assert stages(waterfall.grade(declared, [LOOK, find], {"sum": 77})) == ("yes", "yes", "yes", True)


def test_a_model_is_asked_in_doubt_alone_and_can_only_lower() -> None:
    asked: list[Question] = []

    def judge(verdict: bool) -> Any:
        def answer(question: Question) -> bool:
            asked.append(question)
            return verdict

        return answer

    text = "Dune is due on 2026-03-16, renewed 2 times"
    for verdict in (True, False):
        with Waterfall(PAGED, judge(verdict)) as waterfall:
            doubtful = waterfall.grade(asking(), [LOOK], text)
            assert (doubtful.correct, doubtful.asked) == (verdict, 1)
            assert asked.pop() == Question("tiny/asked-001", "answer", "it is a text that mentions every value", text)
            assert waterfall.grade(asking(), [LOOK], RIGHT).correct
            assert not waterfall.grade(asking(), [LOOK], "no idea").correct
            assert not waterfall.grade(asking(), [], RIGHT).correct
            assert not asked


def test_values_that_came_apart_are_doubtful() -> None:
    end = {"name": "finish", "arguments": {"outcome": "done", "answer": RIGHT}}
    gold = [{"plan": ["x"], "actions": [{"name": "list_loans", "arguments": {"member_id": "M1"}}, end]}] * 2
    played = asking(gold=gold)
    calls = [Call("list_books", {"page_size": 9}), Call("list_due", {"first": "2026-03-01", "last": "2026-03-31"})]
    with Waterfall(PAGED, lambda question: question.stage != "containment") as waterfall:
        graded = waterfall.grade(played, calls, RIGHT)
        assert stages(graded) == ("yes", "no", "not reached", False) and graded.asked == 1
    with Waterfall(PAGED) as waterfall:
        assert waterfall.grade(played, calls, RIGHT).containment == "undecided"


def test_documents_need_not_be_the_same() -> None:
    end = {"name": "finish", "arguments": {"outcome": "done", "answer": RIGHT}}
    look = {"name": "list_loans", "arguments": {"member_id": "M1"}}
    gold = [{"plan": ["x"], "actions": [{"name": "list_books", "arguments": {}}, look, end]}] * 2
    with Waterfall(PAGED) as waterfall:
        assert waterfall.grade(asking(gold=gold), [LOOK], RIGHT).containment == "no"
    with Waterfall(PAGED, skip=frozenset({"list_books"})) as waterfall:
        assert waterfall.grade(asking(gold=gold), [LOOK], RIGHT).correct


def test_what_must_be_said_and_what_is_born_are_answers_too(waterfall: Waterfall) -> None:
    told = variant()
    done = [LOOK, Call("confirm_with_user", {"tool": "renew_loan", "arguments": RENEWAL}), Call("renew_loan", RENEWAL)]
    assert waterfall.grade(told, done, "Emma is now due on 3 April 2026").correct
    assert waterfall.grade(told, done, "Emma is now due on 4 April 2026").answer == "no"
    assert waterfall.grade(told, done[:1], "Emma is now due on 3 April 2026").answer == "no"
    born = {"loan": {"sql": "SELECT max(loan_id) FROM loans", "type": "id"}}
    may = [{"table": "loans", "where": {"member_id": "M1"}}, {"table": "books", "where": {"book_id": "B2"}}]
    changed = {"final_state": [], "may_change": may}
    lent = variant({"answer_state": born, "said": [], "process": {}, **changed})
    lend = Call("lend_book", {"member_id": "M1", "book_id": "B2"})
    assert waterfall.grade(lent, [LOOK, lend], {"loan": "L104"}).correct
    assert waterfall.grade(lent, [LOOK, lend], {"loan": "L103"}).answer == "no"


def test_what_was_to_be_changed_is_a_part_of_the_answer_and_may_be_all_of_it(waterfall: Waterfall) -> None:
    done = [LOOK, Call("confirm_with_user", {"tool": "renew_loan", "arguments": RENEWAL}), Call("renew_loan", RENEWAL)]
    silent = variant({"said": []})
    assert stages(waterfall.grade(silent, done, None)) == ("yes", "yes", "yes", True)
    idle = waterfall.grade(silent, [LOOK], "It is renewed.")
    assert idle.answer == "no" and idle.reasons == ("final_state[0]: expected 2026-04-03, found 2026-03-20",)


def test_forbidden_and_unasked_changes_and_secrets_break_the_policy(waterfall: Waterfall) -> None:
    unconfirmed = waterfall.grade(variant(), [LOOK, Call("renew_loan", RENEWAL)], "Emma is now due on 3 April 2026")
    assert unconfirmed.reasons == ("the policy is broken: unconfirmed_renewal",)
    lend = Call("lend_book", {"member_id": "M1", "book_id": "B2"})
    unasked = waterfall.grade(asking(), [LOOK, lend], RIGHT)
    assert unasked.policy == "no" and unasked.reasons[0].startswith("changed unasked: update of books")
    told = asking(secrets=[{"sql": "SELECT email FROM members WHERE member_id = 'M2'"}])
    assert waterfall.grade(told, [LOOK], RIGHT).correct
    assert waterfall.grade(told, [LOOK], {**RIGHT, "by": "bo@example.org"}).policy == "no"


@pytest.mark.parametrize(
    "text",
    [
        "Dune is due on 2026-03-16 or 2026-03-17, renewed 2 times",
        "Dune is due on 2026-03-16, renewed 1, 2 or 3 times",
        "Dune is not due on 2026-03-16, renewed 2 times",
        "Due 16 March 2026; it was never renewed 2 times",
    ],
)
def test_several_answers_are_none_and_one_that_is_denied_is_none(waterfall: Waterfall, text: str) -> None:
    assert waterfall.grade(asking(), [LOOK], text).answer == "no"


def test_an_id_that_nobody_gave_is_no_calculation(waterfall: Waterfall) -> None:
    loan = asking(answer={"type": "object", "fields": {"loan": {"type": "id", "value": "L103"}}})
    assert waterfall.grade(loan, [LOOK], {"loan": "L103"}).answer == "no"
    opening = {"opening": "Is L103 mine? My address is ada@example.org."}
    asked = loan.model_copy(update={"user": loan.user.model_copy(update=opening)})
    assert waterfall.grade(asked, [LOOK], {"loan": "L103"}).correct


CALLS = [LOOK, BY_EMAIL, Call("list_books", {}), Call("find_member", {"email": "bo@example.org"}), Call("nothing", {})]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(CALLS), max_size=6))
def test_more_calls_never_lose_what_was_found_and_order_does_not_matter(calls: list[Call]) -> None:
    with Waterfall(PAGED) as waterfall:
        found = LOOK in calls or BY_EMAIL in calls
        for order in (calls, calls[::-1]):
            assert waterfall.grade(asking(), order, RIGHT).correct == found


def line(name: str, calls: list[Call], answer: Any) -> str:
    return json.dumps({"scenario": name, "calls": [c._asdict() for c in calls], "answer": answer})


def test_a_file_of_predictions_is_scored_by_capability_and_what_is_missing_is_wrong(
    waterfall: Waterfall, tmp_path: Path
) -> None:
    kinds = [("a", "single"), ("a", "multi"), ("a", "multi"), ("b", None), ("b", "single"), ("", None)]
    scenarios = [
        asking(f"tiny/asked-00{n}", capability=capability, sources=sources)
        for n, (capability, sources) in enumerate(kinds)
    ]
    file = tmp_path / "predictions.jsonl"
    lines = [line(f"tiny/asked-00{n}", [LOOK], RIGHT) for n in (1, 4, 5)] + ["", line("tiny/asked-003", [], RIGHT)]
    file.write_text("\n".join(lines), encoding="utf-8")
    report = grade_file(waterfall, scenarios, file)
    assert [each.correct for each in report.graded] == [False, True, False, False, True, True]
    assert report.missing == ("tiny/asked-000", "tiny/asked-002")
    # a: (2·1 + 0) / (2·2 + 1); b: 1 of 2; the one without a name by itself.
    assert report.capabilities == {"a": 0.4, "b": 0.5, "unnamed": 1.0}
    assert report.leaderboard == pytest.approx(1.9 / 3)
    nothing = grade_predictions(waterfall, scenarios, [])
    assert nothing.leaderboard == 0 and len(nothing.missing) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: found no JSON"),
        ("[]", "line 1: found list; expected an object with scenario, calls, answer"),
        ('{"scenario": "x", "calls": []}', "found calls, scenario; expected"),
        ('{"scenario": "x", "calls": [{"arguments": {}}], "answer": 1}', "calls a list of objects with name"),
        (line("x", [], 1) + "\n" + line("x", [], 1), "line 2: a second prediction of x"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        read_predictions(file)
    assert message in str(caught.value)


def test_a_file_in_another_encoding_is_refused_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_bytes(b"\n" + "{é}".encode("latin-1"))
    with pytest.raises(
        ValueError, match=r"predictions\.jsonl, line 2: found 'utf-8' codec .*; expected JSON lines in UTF"
    ):
        read_predictions(file)


def test_predictions_of_nothing_asked_are_refused(waterfall: Waterfall) -> None:
    with pytest.raises(ValueError, match="did you mean"):
        grade_predictions(waterfall, [asking()], [Prediction("tiny/asked-002", (), 1)])
    with pytest.raises(ValueError, match="a second prediction"):
        grade_predictions(waterfall, [asking()], [Prediction("tiny/asked-001", (), 1)] * 2)
    with pytest.raises(ValueError, match="no scenarios"):
        grade_predictions(waterfall, [], [])


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["single", "multi", None]), st.booleans()), min_size=1)
)
def test_the_score_of_a_capability_counts_several_sources_twice(outcomes: list[Any]) -> None:
    spread = [(name, correct) for name, sources, correct in outcomes for _ in range(2 if sources == "multi" else 1)]
    scores = score_by_capability(outcomes)
    for name in {name for name, _ in spread}:
        own = [correct for other, correct in spread if other == name]
        assert scores[name] == sum(own) / len(own)
