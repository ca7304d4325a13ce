"""Consent: an answer of the user to one exact call, good for one effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from spawned import CONFIRM, DONE, LOOK, RENEW, TELL, TinyEnv, call, confirm, play, variant
from tiny_domain import TINY

from agentgym.confirmations import Consents
from agentgym.scenario import Want
from agentgym.trace import Call

Make = Callable[..., TinyEnv]
ANY_WANT: dict[str, Any] = {
    "wants": [{"tool": name, "arguments": {}} for name in ("renew_loan", "lend_book", "add_note")]
}


def begun(make: Make, **fields: Any) -> TinyEnv:
    """An episode in which unconfirmed renewals and loans are remembered, and the user wants everything."""
    env = make(on_veto="flag")
    fields.setdefault("user", ANY_WANT)
    fields.setdefault("veto", [{"name": "unconfirmed_loan", "unconfirmed": "lend_book"}])
    env.reset(seed=1, options={"scenario": variant(**fields)})
    return env


def rules(env: TinyEnv, actions: list[Any]) -> list[str]:
    return [step[4]["veto_rule"] for step in play(env, actions)]


def test_a_write_without_consent_is_vetoed_and_with_it_is_not(tiny: Make) -> None:
    assert rules(begun(tiny), [RENEW]) == ["unconfirmed_renewal"]
    assert rules(begun(tiny), [CONFIRM, RENEW]) == ["", ""]


def test_consent_is_bound_to_the_call_after_normalisation(tiny: Make) -> None:
    proposals = ['{"loan_id": "L101", "days": 14}', {"days": 14, "loan_id": "L101"}, {"loan_id": "L101", "days": 14.0}]
    for given in proposals[1:]:
        env = begun(tiny)
        assert rules(env, [call("confirm_with_user", tool="renew_loan", arguments=given), RENEW]) == ["", ""]
    env = begun(tiny)
    wrapped = {"name": "confirm_with_user", "arguments": f'{{"tool": "renew_loan", "arguments": {proposals[0]}}}'}
    assert rules(env, [wrapped, RENEW]) == ["", ""]


@pytest.mark.parametrize(
    "other", [confirm("renew_loan", loan_id="L101", days=15), confirm("renew_loan", loan_id="L102", days=14)]
)
def test_consent_to_another_call_is_none(tiny: Make, other: Any) -> None:
    assert rules(begun(tiny), [other, RENEW]) == ["", "unconfirmed_renewal"]


def test_a_yes_is_good_for_one_effect(tiny: Make) -> None:
    assert rules(begun(tiny), [CONFIRM, RENEW, RENEW]) == ["", "", "unconfirmed_renewal"]
    assert rules(begun(tiny), [CONFIRM, RENEW, CONFIRM, RENEW]) == ["", "", "", ""]


def test_two_yeses_before_the_first_effect_are_still_one(tiny: Make) -> None:
    env = begun(tiny)
    steps = play(env, [CONFIRM, CONFIRM, RENEW, RENEW])
    assert '"confirmed": true' in steps[1][0]["content"] and "already have my consent" in steps[1][0]["content"]
    assert [step[4]["veto_rule"] for step in steps] == ["", "", "", "unconfirmed_renewal"]


def test_a_failed_call_keeps_its_consent(tiny: Make) -> None:
    event = {"name": "back", "at": "2026-03-14T09:31:00Z", "do": {"loans": [{"loan_id": "L101", "status": "open"}]}}
    patch = {"loans": [{"loan_id": "L101", "status": "returned"}]}
    env = begun(tiny, events=[event], initial_state={"patch": patch})
    steps = play(env, [CONFIRM, RENEW, call("wait", seconds=120), RENEW, RENEW])
    assert steps[1][0]["role"] == "error"
    assert [step[4]["veto_rule"] for step in steps] == ["", "", "", "", "unconfirmed_renewal"]


def test_an_idempotency_key_is_no_part_of_the_consent_its_repeat_uses_none_and_a_new_key_needs_a_new_yes(
    tiny: Make,
) -> None:
    def lend(key: str) -> Any:
        return call("lend_book", member_id="M1", book_id="B2", request_key=key)

    env = begun(tiny)
    steps = play(
        env, [confirm("lend_book", member_id="M1", book_id="B2"), lend("k1"), lend("k1"), lend("k1"), lend("k2")]
    )
    assert [step[4]["veto_rule"] for step in steps] == ["", "", "", "", "unconfirmed_loan"]
    assert [step.replayed for step in env.trace] == [False, False, True, True, False]
    assert steps[1][0]["content"] == steps[2][0]["content"] != steps[4][0]["content"]
    assert [len(step.changes) > 0 for step in env.trace] == [False, True, False, False, True]


def test_a_key_used_for_another_call_is_told_and_runs_nothing(tiny: Make) -> None:
    env = begun(tiny)
    env.step(call("lend_book", member_id="M1", book_id="B2", request_key="k"))
    observation, *_ = env.step(call("lend_book", member_id="M1", book_id="B3", request_key="k"))
    assert observation["content"] == 'request_key "k" was already used for another call; use a new key'
    assert env.trace[-1].changes == []


def test_words_are_no_consent_whoever_says_them(tiny: Make) -> None:
    env = begun(
        tiny, user={**ANY_WANT, "facts": {"yes": {"when": ["may i"], "say": "Yes, please renew L101 by 14 days."}}}
    )
    steps = play(env, ["May I renew L101 by 14 days?", call("respond", message='{"confirmed": true}'), RENEW])
    assert steps[0][0]["content"].startswith("Yes, please renew")
    assert steps[2][4]["veto_rule"] == "unconfirmed_renewal"


def test_a_yes_in_the_text_of_a_user_who_refuses_is_no_consent(tiny: Make) -> None:
    env = tiny(on_veto="flag", user=lambda message: 'yes {"confirmed": true}')
    env.reset(seed=1, options={"scenario": variant(user={"wants": [{"tool": "add_note", "arguments": {}}]})})
    steps = play(env, ["ok?", CONFIRM, RENEW])
    assert '"confirmed": false' in steps[1][0]["content"]
    assert steps[2][4]["veto_rule"] == "unconfirmed_renewal"


@pytest.mark.parametrize(
    "name", ["list_loans", "respond", "finish", "confirm_with_user", "hand_off", "wait", "nonsense", ""]
)
def test_only_calls_that_change_something_can_be_proposed(tiny: Make, name: str) -> None:
    env = begun(tiny)
    observation, *_ = env.step(confirm(name, member_id="M1"))
    assert observation["role"] == "error"
    assert observation["content"] == f'tool must be one that changes something, got "{name}"'
    assert env.trace[-1].granted is None


def test_a_proposal_that_could_not_be_called_is_told_and_not_put_to_the_user(tiny: Make) -> None:
    env = begun(tiny, user={"wants": [], "patience": 1})
    observation, *_, info = env.step(confirm("renew_loan", loan_id="L101", days=99))
    assert observation["content"] == "the proposed call cannot be made: days must be in 7..28, got 99"
    assert info["end_reason"] == ""


def test_patience_ends_with_the_refused_proposal_that_is_one_too_many(tiny: Make) -> None:
    env = begun(tiny, user={"wants": [], "patience": 2})
    steps = play(env, [CONFIRM, TELL, CONFIRM])
    assert [step[2] for step in steps] == [False, False, True]
    assert steps[2][4]["end_reason"] == "user_left" and not steps[2][4]["success"]


def test_asking_again_for_what_was_granted_is_no_refusal(tiny: Make) -> None:
    env = begun(tiny, user={"wants": [{"tool": "renew_loan", "arguments": {"days": 14}}], "patience": 1})
    assert [step[2] for step in play(env, [CONFIRM] * 5)] == [False] * 5


def test_a_changed_mind_withdraws_the_consents_that_it_no_longer_covers(tiny: Make) -> None:
    def changed(wants: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"name": "mind", "at": "2026-03-14T09:31:00Z", "user": {"say": "No, wait.", "wants": wants}}]

    acts = [CONFIRM, call("wait", seconds=120), CONFIRM, RENEW]
    steps = play(begun(tiny, events=changed([{"tool": "add_note", "arguments": {}}])), acts)
    assert '"confirmed": false' in steps[2][0]["content"] and steps[3][4]["veto_rule"] == "unconfirmed_renewal"
    steps = play(begun(tiny, events=changed([{"tool": "renew_loan", "arguments": {"days": {"min": 14}}}])), acts)
    assert "already have my consent" in steps[2][0]["content"] and steps[3][4]["veto_rule"] == ""


def test_confirm_before_is_a_check_that_names_the_steps(tiny: Make) -> None:
    env = begun(tiny, checks={"process": {"confirm_before": ["renew_loan"]}})
    play(env, [LOOK, RENEW, TELL, DONE])
    assert env.verdict is not None
    [check] = [c for c in env.verdict.checks if c.kind == "confirm_before"]
    assert (check.ok, check.found) == (False, "steps [2] without")


def test_consents_survive_their_own_state() -> None:
    consents = Consents(TINY.toolset)
    one, two = (Call("renew_loan", {"loan_id": "L101", "days": days}) for days in (7, 8))
    consents.grant(one)
    consents.grant(two)
    other = Consents(TINY.toolset)
    other.set_state(consents.get_state())
    other.keep([Want(tool="renew_loan", arguments={"days": {"any_of": [8, 9]}})])
    assert (other.covers(one), other.covers(two), other.use(two), other.use(two)) == (False, True, True, False)
    assert consents.covers(one) and consents.covers(two)
