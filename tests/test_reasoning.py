"""The reasoning score: each point is earned by what it asks for, lost by what it forbids, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paged_domain import PAGED, PagedEnv
from pydantic import ValidationError
from rollout_parts import ENV
from spawned import CONFIRM, DONE, GOOD, LOOK, RENEW, TELL, call, play, variant

from agentgym.cli import main
from agentgym.dumping import scenario_yaml
from agentgym.errors import ScenarioError
from agentgym.lint import lint
from agentgym.regrade import regrade
from agentgym.rollout import Rollout, run_cells
from agentgym.scenario import Scenario
from agentgym.summary import summarise, summarise_by

FINES = {"sql": "SELECT fines_minor FROM members WHERE fines_minor > 0", "type": "money", "currency": "EUR"}
FIND_BO = call("find_member", email="bo@example.org")
FIND_ADA = call("find_member", email="ada@example.org")
LOGIC = {"name": "looked", "weight": 6, "called": ["list_loans", "loans_by_email"]}
IMPLICIT = {"name": "masked", "weight": 4, "masked": FINES}


def scenario(logic: Any = None, implicit: Any = None, **fields: Any) -> Scenario:
    """The renewal with the points given; one that is left out is a simple one."""
    points = {"logic": [LOGIC] if logic is None else logic, "implicit": [IMPLICIT] if implicit is None else implicit}
    return variant(reasoning=points, **fields)


@pytest.fixture
def env() -> Iterator[PagedEnv]:
    made = PagedEnv(on_veto="flag")
    yield made
    made.close()


def scored(env: PagedEnv, played: Scenario, actions: list[Any]) -> dict[str, Any]:
    """The reasoning score of the actions; grading them again from the trace gives the same."""
    lint(played, PAGED)
    env.reset(seed=1, options={"scenario": played})
    play(env, actions)
    verdict = env.verdict
    assert verdict is not None and verdict.status == "ok", verdict
    again = regrade(played, PAGED, [s.to_json() for s in env.trace], verdict.end_reason, env.state_hash, "flag")
    assert again.to_json() == verdict.to_json()
    return verdict.reasoning


def point(env: PagedEnv, condition: dict[str, Any], actions: list[Any]) -> tuple[bool, int]:
    """Whether, and at which step, a single condition earned its points."""
    score = scored(env, scenario(implicit=[{"name": "it", "weight": 4, **condition}]), [*actions, DONE])
    name, ok, step = score["points"][1]
    assert [name, score["implicit"]] == ["it", 4 if ok else 0]
    return bool(ok), int(step)


def test_the_score_stands_beside_success_and_decides_nothing(env: PagedEnv) -> None:
    played = scenario()
    bad = scored(env, played, [LOOK, FIND_BO, call("respond", message="Bo owes 3.50 EUR"), *GOOD[1:]])
    assert env.verdict is not None and env.verdict.success
    assert bad == {"logic": 6.0, "implicit": 0.0, "total": 6.0, "points": [["looked", True, 1], ["masked", False, 3]]}
    good = scored(env, played, [FIND_BO, *GOOD])
    assert good["total"] == 10.0
    assert scored(env, played, [DONE]) == {
        "logic": 0.0, "implicit": 0.0, "total": 0.0, "points": [["looked", False, 0], ["masked", False, 0]],
    }  # fmt: skip
    assert not env.verdict.success


def test_a_scenario_without_it_has_no_score(env: PagedEnv) -> None:
    assert scored(env, variant(), GOOD) == {}


CALLED = {"called": {"name": "renew_loan", "arguments": {"loan_id": "L101"}}}
ORDER = {"order": ["find_member", ["list_loans", "loans_by_email"]]}
BY_EMAIL = call("loans_by_email", email="ada@example.org")


@pytest.mark.parametrize(
    ("condition", "actions", "found"),
    [
        (CALLED, [LOOK, CONFIRM, RENEW], (True, 3)),
        (CALLED, [LOOK, call("renew_loan", loan_id="L102", days=14)], (False, 0)),
        (CALLED, [call("renew_loan", loan_id="L101", days=1000)], (False, 0)),
        (ORDER, [FIND_ADA, LOOK], (True, 2)),
        (ORDER, [FIND_ADA, BY_EMAIL, LOOK], (True, 2)),
        (ORDER, [LOOK, FIND_ADA, LOOK], (False, 1)),
        (ORDER, [FIND_ADA], (False, 0)),
        (ORDER, [LOOK], (False, 1)),
        ({"said": [{"type": "date", "value": "2026-04-03"}]}, [TELL], (True, 1)),
        ({"said": [{"type": "date", "value": "2026-04-03"}]}, ["Hello"], (False, 0)),
        ({"never": "lend_book", "needs": ["looked"]}, [LOOK, CONFIRM], (True, 0)),
        (
            {"never": "lend_book", "needs": ["looked"]},
            [LOOK, call("lend_book", member_id="M1", book_id="B2")],
            (False, 2),
        ),
        ({"never": "lend_book", "needs": ["looked"]}, [FIND_ADA], (False, 0)),
        ({"any_of": [CALLED, {"said": [{"type": "int", "value": 7}]}]}, [LOOK, "7 days"], (True, 2)),
        ({"any_of": [CALLED, {"said": [{"type": "int", "value": 7}]}]}, [LOOK], (False, 0)),
        ({"all_of": [ORDER, CALLED]}, [FIND_ADA, LOOK, RENEW], (True, 3)),
        ({"all_of": [ORDER, CALLED]}, [FIND_ADA, LOOK], (False, 0)),
    ],
)
def test_calls_orders_words_and_what_never_happened(
    env: PagedEnv, condition: dict[str, Any], actions: list[Any], found: tuple[bool, int]
) -> None:
    assert point(env, condition, actions) == found


def books(page: int, size: int = 2, **more: Any) -> dict[str, Any]:
    return call("list_books", page=page, page_size=size, **more)


TO_END = {"read_to_end": {"call": "list_books"}}


@pytest.mark.parametrize(
    ("actions", "found"),
    [
        ([books(1), books(2)], (True, 2)),
        ([books(2), LOOK, books(1)], (True, 3)),
        ([books(1, 50)], (True, 1)),
        ([books(2, 1), books(1, 2), books(3, 1)], (True, 3)),
        ([books(1)], (False, 1)),
        ([books(2)], (False, 1)),
        ([books(1), books(1)], (False, 2)),
        # Three pages of an empty tail are no first page, and another list's page is not this one's.
        ([books(7), books(8)], (False, 2)),
        ([books(1), books(2, title="Emma")], (False, 2)),
        ([books(1, title="Emma")], (True, 1)),
        ([LOOK], (False, 0)),
    ],
)
def test_a_list_is_read_to_its_end_by_pages_of_any_size_and_order(
    env: PagedEnv, actions: list[Any], found: tuple[bool, int]
) -> None:
    assert point(env, TO_END, actions) == found


@settings(max_examples=50, deadline=None)
@given(st.permutations([(page, size) for size in (1, 2) for page in range(1, 4)]), st.integers(0, 6))
def test_a_list_is_complete_with_the_page_that_brings_its_last_row(order: list[tuple[int, int]], count: int) -> None:
    env = PagedEnv()
    read = order[:count]
    rows: set[int] = set()
    complete = 0
    for number, (page, size) in enumerate(read, start=1):
        rows |= set(range((page - 1) * size, page * size)) & {0, 1, 2}
        complete = complete or (number if len(rows) == 3 else 0)
    ok, step = point(env, TO_END, [books(*each) for each in read])
    assert (ok, step) == ((True, complete) if complete else (False, len(read)))
    env.close()


def test_the_list_is_read_before_what_is_worked_out_from_it(env: PagedEnv) -> None:
    before = {"before": {"first": TO_END, "then": {"said": [{"type": "int", "value": 3}]}}}
    tell = call("respond", message="We have 3 titles")
    assert point(env, before, [books(1), books(2), tell]) == (True, 3)
    assert point(env, before, [books(1), tell, books(2)]) == (False, 2)
    assert point(env, before, [tell]) == (False, 1)
    assert point(env, before, [books(1), books(2)]) == (False, 0)


def due(first: str, last: str, page: int = 1) -> dict[str, Any]:
    return call("list_due", first=f"2026-{first}", last=f"2026-{last}", page=page)


def period(exact: bool = True) -> dict[str, Any]:
    span = {"call": "list_due", "from": "2026-02-01", "to": "2026-03-31", "arguments": ["first", "last"]}
    return {"period": {**span, "exact": exact}}


@pytest.mark.parametrize(
    ("actions", "exact", "found"),
    [
        ([due("02-01", "03-31"), due("02-01", "03-31", 2)], True, (True, 2)),
        # Three loans are due in March, two a page: half of them are not the month.
        ([due("02-01", "03-31")], True, (False, 0)),
        ([due("02-01", "02-28"), due("03-01", "03-17"), due("03-18", "03-31")], True, (True, 3)),
        ([due("03-15", "03-19"), due("02-01", "03-16"), due("03-17", "03-31")], True, (True, 3)),
        ([due("02-01", "02-28"), due("03-02", "03-17"), due("03-18", "03-31")], True, (False, 0)),
        ([due("02-01", "03-30"), due("02-01", "03-30", 2)], True, (False, 0)),
        ([due("01-31", "03-31"), due("01-31", "03-31", 2)], True, (False, 1)),
        ([due("01-31", "03-31"), due("01-31", "03-31", 2)], False, (True, 2)),
        ([due("03-31", "02-01")], False, (False, 0)),
        ([call("list_due", first="soon", last="later")], True, (False, 0)),
        ([LOOK], True, (False, 0)),
    ],
)
def test_the_days_asked_for_cover_the_period(
    env: PagedEnv, actions: list[Any], exact: bool, found: tuple[bool, int]
) -> None:
    assert point(env, period(exact), actions) == found


def test_some_days_are_enough_where_the_whole_period_is_not_asked_for(env: PagedEnv) -> None:
    some = {"period": {**period(exact=False)["period"], "whole": False}}
    assert point(env, some, [LOOK, due("02-01", "02-01")]) == (True, 2)
    assert point(env, some, [due("01-31", "02-01"), due("03-18", "03-31")]) == (True, 2)
    # Half of the pages are no answer; days outside are other days.
    assert point(env, some, [due("03-01", "03-31")]) == (False, 0)
    assert point(env, some, [due("04-01", "04-02")]) == (False, 0)


def test_months_are_periods_too(env: PagedEnv) -> None:
    quarter = {"call": "count_due", "from": "2025-12-01", "to": "2026-02-28", "arguments": ["month"]}
    months = [call("count_due", month=month) for month in ("2026-01", "2025-12", "2026-02")]
    assert point(env, {"period": quarter}, months) == (True, 3)
    assert point(env, {"period": quarter}, months[:2]) == (False, 0)
    assert point(env, {"period": quarter}, [*months, call("count_due", month="2026-03")]) == (False, 4)


MASKED = {"masked": FINES}


@pytest.mark.parametrize(
    ("actions", "found"),
    [
        ([FIND_BO, TELL], (True, 3)),
        ([TELL], (False, 0)),
        ([FIND_BO, call("respond", message="3,50 €")], (False, 2)),
        ([FIND_BO, call("add_note", loan_id="L101", body="owes 3.50")], (False, 2)),
        ([FIND_BO, call("finish", outcome="done", answer={"fines": "3.50 EUR"})], (False, 2)),
    ],
)
def test_masked_values_are_seen_and_kept_back(env: PagedEnv, actions: list[Any], found: tuple[bool, int]) -> None:
    assert point(env, MASKED, actions) == found


def test_a_masked_value_told_in_two_pieces_is_told(env: PagedEnv) -> None:
    name = {"masked": {"sql": "SELECT name FROM members WHERE member_id = 'M2'"}}
    assert point(env, name, [FIND_BO, "It is Bo", "Ada too", TELL]) == (True, 5)
    assert point(env, name, [FIND_BO, "It is Bo", "Lind", TELL]) == (False, 3)


def test_masked_speaks_of_those_it_names_and_of_the_state_at_the_start(env: PagedEnv) -> None:
    told = [FIND_BO, call("respond", message="3.50 EUR")]
    assert point(env, {"masked": {**FINES, "to": ["record"]}}, told) == (True, 3)
    needs = {"masked": FINES, "needs": ["looked"]}
    assert point(env, needs, [LOOK, TELL]) == (True, 3)
    assert point(env, needs, [FIND_BO, TELL]) == (False, 0)


def test_the_weights_add_up_and_each_part_counts(env: PagedEnv) -> None:
    logic = [
        {"name": "a", "weight": 3.5, "called": "find_member"},
        {"name": "b", "weight": 2.5, "called": "list_loans"},
    ]
    implicit = [{"name": "c", **TO_END}, {"name": "d", "weight": 3, "called": "renew_loan"}]
    score = scored(env, scenario(logic, implicit), [LOOK, books(1, 9), DONE])
    assert (score["logic"], score["implicit"], score["total"]) == (2.5, 1.0, 3.5)
    assert score["points"] == [["a", False, 0], ["b", True, 1], ["c", True, 2], ["d", False, 0]]


@pytest.mark.parametrize(
    ("logic", "implicit", "message"),
    [
        ([], None, "at least 1 item"),
        (None, [], "at least 1 item"),
        ([{**LOGIC, "weight": 5}], None, "the weights of logic add up to 6, got 5"),
        (None, [{**IMPLICIT, "weight": 5}], "the weights of implicit add up to 4, got 5"),
        (None, [{**IMPLICIT, "name": "looked"}], "points share the name 'looked'"),
        (None, [{**IMPLICIT, "needs": ["later"]}], "reasoning.implicit[0] needs 'later', which is no point before it"),
        (None, [{"name": "x", "weight": 4}], "a condition has exactly one of called, order, never"),
        (
            None,
            [{**IMPLICIT, "called": "list_loans"}],
            "found ['called', 'masked']; expected a condition has exactly one",
        ),
        (None, [{"name": "x", "weight": 4, "period": {**period()["period"], "to": "soon"}}], "a day must look like"),
        (None, [{"name": "x", "weight": 4, "period": {**period()["period"], "to": "2026-01-01"}}], "goes forward"),
    ],
)
def test_points_that_cannot_be_are_refused(logic: Any, implicit: Any, message: str) -> None:
    with pytest.raises((ScenarioError, ValidationError)) as caught:
        scenario(logic, implicit)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"never": "lend_book"}, "the point 'x', which doing nothing earns"),
        ({"any_of": [TO_END, {"never": "lend_book"}]}, "the point 'x', which doing nothing earns"),
        ({"called": "lend_boke"}, 'did you mean "lend_book"?'),
        ({"read_to_end": {"call": "list_boks"}}, "reasoning.implicit[0].read_to_end.call"),
        ({"period": {**period()["period"], "arguments": ["from", "last"]}}, "'from', which list_due does not have"),
        ({"masked": {**FINES, "sql": "SELECT fine FROM members"}}, "reasoning.implicit[0].masked.sql"),
        ({"masked": {**FINES, "sql": "SELECT fines_minor FROM members WHERE 0"}}, "no row at the start"),
        ({"masked": {**FINES, "type": "int"}}, "a masked that is none"),
        ({"before": {"first": TO_END, "then": {"called": "fnish"}}}, "reasoning.implicit[0].before.then.called[0]"),
    ],
)
def test_points_that_mean_nothing_in_their_domain_are_refused(condition: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        lint(scenario(implicit=[{"name": "x", "weight": 4, **condition}]), PAGED)
    assert message in str(caught.value)


def test_a_run_keeps_the_score_and_results_show_its_mean_out_of_ten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    implicit = [{"name": "told", "weight": 4, "said": [{"type": "date", "value": "2026-04-03"}]}]
    split = tmp_path / "tiny"
    split.mkdir()
    for number, capability in ((1, "chains"), (2, "")):
        canary = f"agentgym:{number:032x}"
        asked = scenario(implicit=implicit, id=f"tiny/asked-{number}", canary=canary, capability=capability)
        (split / f"asked-{number}.yaml").write_text(scenario_yaml(asked), encoding="utf-8")
    rollout = Rollout(ENV, agents=("gold", "do-nothing"), split="private", folder=str(tmp_path))
    with rollout.open(tmp_path / "run.db") as store:
        assert run_cells(store, workers=1) == {"done": 4}
        gold, nothing = summarise(store)
        assert (gold.reasoning, nothing.reasoning) == (10.0, 0.0)
        rows = store.rows(traces=False)
        assert rows[0]["measures"] == {"reasoning": 10.0, "reasoning_logic": 6.0, "reasoning_implicit": 4.0}
        groups = summarise_by(store, "capability")
        assert {name: [each.success.value for each in found] for name, found in groups.items()} == {
            "chains": [1.0, 0.0],
            "unnamed": [1.0, 0.0],
        }
    capsys.readouterr()
    assert main(["results", str(tmp_path / "run.db")]) == 0
    shown = capsys.readouterr().out
    assert "reasoning" in shown and "10.0/10" in shown
    assert main(["results", str(tmp_path / "run.db"), "--by", "capability"]) == 0
    shown = capsys.readouterr().out
    assert "chains" in shown and "unnamed" in shown
