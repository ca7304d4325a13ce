"""The check of a chain: facts that the agent's own reads gave, sources it may use, answers that rest on results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from paged_domain import PAGED, PagedEnv
from pydantic import ValidationError
from spawned import CONFIRM, DONE, LOOK, RENEW, TELL, HookWith, call, play, variant

from agentgym.errors import ScenarioError
from agentgym.hooks import Context, Fault, Hook
from agentgym.lint import lint
from agentgym.scenario import Scenario
from agentgym.trace import Call
from agentgym.world import CallResult

FINES = {"name": "fines", "sql": "SELECT fines_minor FROM members WHERE member_id = 'M2'", "type": "int"}
LOAN = {
    "name": "loan",
    "sql": "SELECT loan_id, due_on, renewals FROM loans WHERE member_id = 'M1' ORDER BY loan_id",
    "type": "record",
}
COPIES = {"name": "copies", "sql": "SELECT copies FROM books ORDER BY book_id", "type": "set", "items": "int"}
FIND_BO = call("find_member", email="bo@example.org")


def asking(facts: list[dict[str, Any]], answer: Any = None, said: Any = None, **chain: Any) -> Scenario:
    """A scenario that asks for facts and an answer, and for nothing of the renewal."""
    checks: dict[str, Any] = {"chain": {"facts": facts, **chain}, "final_state": [], "said": said or [], "process": {}}
    return variant(checks | ({"answer": answer} if answer is not None else {}))


@pytest.fixture
def env() -> Iterator[PagedEnv]:
    made = PagedEnv(on_veto="flag")
    yield made
    made.close()


def failed(env: Any, played: Scenario, actions: list[Any]) -> dict[str, str]:
    """The lines of the check that fail, with what was found."""
    lint(played, PAGED)
    env.reset(seed=1, options={"scenario": played})
    play(env, actions)
    verdict = env.unwrapped.verdict
    assert verdict is not None and verdict.status == "ok", verdict
    wrong = {check.name: check.found for check in verdict.checks if check.kind == "chain" and not check.ok}
    assert verdict.success <= (not wrong)
    return wrong


def test_a_fact_must_have_been_read_by_the_agent(env: PagedEnv) -> None:
    played = asking([FINES], grounded=False)
    assert failed(env, played, [FIND_BO, DONE]) == {}
    assert env.verdict is not None and env.verdict.success
    assert failed(env, played, [LOOK, "350, I think", DONE]) == {"chain[fines]": "never: 350"}


def test_what_is_missing_is_named_in_an_order_of_its_own(env: PagedEnv) -> None:
    for sql in ("SELECT copies FROM books ORDER BY copies", "SELECT copies FROM books ORDER BY copies DESC"):
        played = asking([{**COPIES, "sql": sql}], grounded=False)
        assert failed(env, played, [LOOK, DONE]) == {"chain[copies]": "never: 1"}
    loans = "SELECT loan_id, due_on FROM loans WHERE member_id = 'M1' ORDER BY loan_id"
    found = [
        failed(env, asking([{**LOAN, "sql": sql}], grounded=False), [FIND_BO, DONE]) for sql in (loans, f"{loans} DESC")
    ]
    assert found[0] == found[1] and found[0]["chain[loan]"].startswith("never: ")


def test_a_call_that_failed_or_whose_result_was_lost_gave_nothing(env: PagedEnv) -> None:
    played = asking([FINES], grounded=False)
    assert failed(env, played, [call("find_member", email="350"), DONE]) == {"chain[fines]": "never: 350"}

    class Lost(Hook):
        name = "lost"

        def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult | Fault:
            return Fault("busy") if call.name == "find_member" else result

    class Blurred(Hook):
        name = "blurred"

        def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult | Fault:
            return result._replace(value="something else")

    assert failed(HookWith(env, Lost()), played, [FIND_BO, DONE]) == {"chain[fines]": "never: 350"}
    assert failed(HookWith(env, Blurred()), played, [FIND_BO, DONE]) == {}


def test_rows_are_found_as_records_in_any_read_and_a_set_member_by_member(env: PagedEnv) -> None:
    played = asking([LOAN], grounded=False)
    assert failed(env, played, [LOOK, DONE]) == {}
    assert failed(env, played, [call("loans_by_email", email="ada@example.org"), DONE]) == {}
    one = call("loans_by_email", email="ada@example.org", title="Dune")
    other = call("loans_by_email", email="ada@example.org", title="Emma")
    assert failed(env, played, [other, one, DONE]) == {}
    assert list(failed(env, played, [one, DONE])) == ["chain[loan]"]
    # The ids and the days alone are no records with the number of renewals.
    assert list(failed(env, played, [call("list_due", first="2026-03-01", last="2026-03-31"), DONE])) == ["chain[loan]"]
    copies = asking([COPIES], grounded=False)
    books = [call("list_books", page=page) for page in (2, 1)]
    assert failed(env, copies, [*books, DONE]) == {}
    assert failed(env, copies, [books[1], DONE]) == {"chain[copies]": "never: 1"}


def test_facts_are_those_of_the_initial_state(env: PagedEnv) -> None:
    renewed = asking([LOAN | {"sql": "SELECT loan_id, due_on FROM loans WHERE loan_id = 'L101'"}], grounded=False)
    assert failed(env, renewed, [LOOK, CONFIRM, RENEW, DONE]) == {}
    assert list(failed(env, renewed, [CONFIRM, RENEW, LOOK, DONE])) == ["chain[loan]"]


def test_what_the_agent_wrote_or_asked_for_is_no_fact_that_it_found(env: PagedEnv) -> None:
    title = {"name": "title", "sql": "SELECT title FROM books WHERE book_id = 'B2'", "type": "text"}
    played = asking([title], grounded=False)
    lend = call("lend_book", member_id="M1", book_id="B2", request_key="Dune")
    assert list(failed(env, played, [lend, call("list_books", title="Dune"), DONE])) == ["chain[title]"]
    assert failed(env, played, [call("list_books"), DONE]) == {}


ANSWER = {
    "type": "object",
    "fields": {"due": {"type": "date", "value": "2026-03-16"}, "n": {"type": "int", "value": 2}},
}
TOLD = call("finish", outcome="done", answer={"due": "2026-03-16", "n": 2})


def test_each_value_of_the_answer_rests_on_a_result_or_on_the_facts_it_is_calculated_from(env: PagedEnv) -> None:
    day = {"name": "day", "sql": "SELECT due_on FROM loans WHERE loan_id = 'L102'", "type": "date"}
    played = asking([day], ANSWER)
    assert failed(env, played, [LOOK, TOLD]) == {}
    assert env.verdict is not None and env.verdict.success
    assert failed(env, played, [call("find_member", email="ada@example.org"), TOLD]) == {
        "chain[day]": "never: 2026-03-16",
        "chain[grounded]": '["due", "n"]',
    }
    counted = asking([day, FINES], ANSWER, calculated={"n": ["fines"]})
    by_days = call("list_due", first="2026-03-01", last="2026-03-31")
    assert failed(env, counted, [by_days, FIND_BO, TOLD]) == {}
    assert failed(env, counted, [by_days, TOLD]) == {"chain[fines]": "never: 350", "chain[grounded]": '["n"]'}


def test_what_is_said_was_read_before_it_was_said(env: PagedEnv) -> None:
    said = [{"must": [{"type": "date", "value": "2026-04-03"}]}]
    played = asking([LOAN], said=said)
    assert failed(env, played, [LOOK, CONFIRM, RENEW, TELL, DONE]) == {}
    assert env.verdict is not None and env.verdict.success
    assert failed(env, played, [LOOK, TELL, CONFIRM, RENEW, DONE]) == {"chain[grounded]": '["said[0].must[0]"]'}
    assert failed(env, played, [LOOK, TELL, CONFIRM, RENEW, TELL, DONE]) == {}
    guessed = asking([LOAN, FINES], said=said, calculated={"said[0].must[0]": ["fines"]})
    assert failed(env, guessed, [LOOK, FIND_BO, TELL, DONE]) == {}
    assert failed(env, guessed, [LOOK, TELL, FIND_BO, DONE]) == {"chain[grounded]": '["said[0].must[0]"]'}


def test_an_answer_state_rests_on_the_result_that_made_it(env: PagedEnv) -> None:
    made = {"loan": {"sql": "SELECT max(loan_id) FROM loans WHERE book_id = 'B2'", "type": "id"}}
    checks = {"chain": {"facts": [LOAN]}, "final_state": [], "said": [], "process": {}, "answer_state": made}
    played = variant(
        checks | {"may_change": [{"table": "loans", "op": "insert", "max": 1, "where": {"book_id": "B2"}}]}
    )
    lend = call("lend_book", member_id="M1", book_id="B2")
    tell = call("finish", outcome="done", answer={"loan": "L104"})
    assert failed(env, played, [LOOK, lend, tell]) == {}
    twin = variant(
        {
            "chain": {"facts": [LOAN]},
            "said": [],
            "process": {},
            "answer_state": {"loan": {"sql": "SELECT min(book_id) FROM books"}},
        }
    )
    named = call("finish", outcome="done", answer={"loan": "B1"})
    assert failed(env, twin, [LOOK, call("list_books"), named]) == {}
    assert failed(env, twin, [LOOK, named]) == {"chain[grounded]": '["loan"]'}


def test_sources_that_the_policy_leaves_out_are_not_read(env: PagedEnv) -> None:
    forbidden = asking([LOAN], grounded=False, sources={"forbidden": [{"name": "loans_by_email"}]})
    assert failed(env, forbidden, [LOOK, DONE]) == {}
    by_email = call("loans_by_email", email="ada@example.org")
    assert failed(env, forbidden, [LOOK, by_email, DONE]) == {"chain[sources]": "loans_by_email in step 2"}
    allowed = asking(
        [LOAN], grounded=False, sources={"allowed": [{"name": "list_loans", "arguments": {"member_id": "M1"}}]}
    )
    assert failed(env, allowed, [LOOK, CONFIRM, RENEW, "Bye", DONE]) == {}
    assert failed(env, allowed, [LOOK, FIND_BO, DONE]) == {"chain[sources]": "find_member in step 2"}
    other = call("list_loans", member_id="M2")
    assert failed(env, allowed, [LOOK, other, DONE]) == {"chain[sources]": "list_loans in step 2"}


def test_a_fork_in_the_middle_is_judged_alike(env: PagedEnv) -> None:
    played = asking([LOAN | {"sql": "SELECT loan_id, due_on FROM loans WHERE loan_id = 'L101'"}], grounded=False)
    env.reset(seed=1, options={"scenario": played})
    play(env, [LOOK, CONFIRM, RENEW])
    state = env.save_state()
    other = PagedEnv(on_veto="flag")
    other.reset(seed=2)
    other.restore_state(state)
    play(env, [DONE])
    play(other, [DONE])
    assert env.verdict is not None and env.verdict.success and other.verdict == env.verdict
    other.close()


@pytest.mark.parametrize(
    ("facts", "chain", "message"),
    [
        ([], {}, "at least 1 item"),
        ([FINES, FINES], {}, "facts share the name 'fines'"),
        ([FINES], {"calculated": {"n": ["fine"]}}, "calculated.n names the facts that it comes from"),
        ([FINES], {"calculated": {"n": []}}, "calculated.n names the facts that it comes from"),
        ([FINES], {"sources": {}}, "at least one that is allowed or forbidden"),
        ([FINES | {"type": "money"}], {}, "currency goes with money"),
        ([FINES | {"tolerance": 1}], {}, "tolerance goes with number"),
        ([LOAN | {"in_text": True}], {}, "in_text: a record"),
    ],
)
def test_a_chain_without_form_is_refused(facts: list[dict[str, Any]], chain: dict[str, Any], message: str) -> None:
    with pytest.raises((ScenarioError, ValidationError)) as caught:
        asking(facts, ANSWER, **chain)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fact", "chain", "message"),
    [
        ({"sql": "SELECT fine FROM members"}, {}, "checks.chain.facts[0].sql: found SQL that SQLite refuses"),
        ({"sql": "SELECT"}, {}, "checks.chain.facts[0].sql"),
        ({"sql": "SELECT fines_minor FROM members WHERE 0"}, {}, "found no row at the start"),
        ({"sql": "SELECT NULL"}, {}, "found NULL"),
        ({"sql": "SELECT 'many'"}, {}, "'many' from the query"),
        (
            {"sql": "SELECT title FROM books WHERE book_id = 'B1'", "type": "text"},
            {},
            "'Emma', which the opening tells",
        ),
        ({"sql": "SELECT 14"}, {}, "14, which the opening tells"),
        ({}, {"calculated": {"m": ["fines"]}}, "checks.chain.calculated.m: found a field that nothing asks for"),
        ({}, {"sources": {"allowed": ["find_membr"]}}, "checks.chain.sources.allowed[0]"),
    ],
)
def test_a_chain_that_says_nothing_is_refused(fact: dict[str, Any], chain: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        lint(asking([FINES | fact], ANSWER, **chain), PAGED)
    assert message in str(caught.value)
    with pytest.raises(ScenarioError, match="true where nothing has to be told"):
        lint(asking([FINES]), PAGED)


def test_a_fact_may_stand_inside_a_text(env: PagedEnv) -> None:
    title = {"name": "t", "sql": "SELECT substr(name, 4) FROM members WHERE member_id = 'M2'", "type": "text"}
    for in_text, wrong in ((True, {}), (False, {"chain[t]": "never: Lind"})):
        played = asking([title | {"in_text": in_text}], grounded=False)
        assert failed(env, played, [FIND_BO, DONE]) == wrong
