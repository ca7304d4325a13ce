"""Containment by values: what is found whatever the order, the company and the form, and what is no evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.compare import Comparator
from agentgym.containment import Containment, Rules, contained
from agentgym.findings import Findings, Result

LOANS = {
    "loans": [
        {"loan_id": "L101", "title": "Emma", "due_on": "2026-03-20", "renewals": 0},
        {"loan_id": "L102", "title": "Dune", "due_on": "2026-03-16", "renewals": 2},
    ]
}
GOLD = [Result("list_loans", {"member_id": "M1"}, LOANS)]


def judged(
    value: Any, gold: Any = LOANS, question: str = "", rules: Rules | None = None, **arguments: Any
) -> Containment:
    """How one call of the agent that gave *value* is judged."""
    found = Findings([Result("any_tool", arguments, value, step=1)])
    return contained([Result("gold_tool", {"member_id": "M1"}, gold)], found, question, rules)


def test_the_same_result_of_another_tool_is_found_and_a_part_of_it_is_not() -> None:
    assert judged(LOANS) == ("yes", ())
    assert judged({"loans": LOANS["loans"][:1]}) == (
        "no",
        ("due_on '2026-03-16'", "loan_id 'L102'", "renewals 2", "title 'Dune'"),
    )


def test_the_order_more_rows_more_fields_and_depth_do_not_matter() -> None:
    rows = [{**row, "shelf": 7} for row in reversed(LOANS["loans"])]
    assert judged({"page": {"of": [{"all": [{"x": 1}, *rows]}]}}).status == "yes"


def test_rows_come_together_from_several_calls_whatever_the_page_size() -> None:
    pages = [
        Result("t", {"page": n + 1}, {"items": [row], "page": n + 1, "page_size": 1, "total": 2}, step=n)
        for n, row in enumerate(LOANS["loans"])
    ]
    gold = [Result("t", {}, {"items": LOANS["loans"], "page": 1, "page_size": 20, "total": 2})]
    assert contained(gold, Findings(pages)).status == "yes"
    assert contained(gold, Findings(pages[:1])).status == "no"


def test_fields_of_other_names_count_but_a_field_of_that_name_must_agree() -> None:
    gold = {"base": 5200, "bonus": 300}
    assert judged({"salary": 5200, "extra": 300}, gold).status == "yes"
    # The values are there, but the other way round: not one record, so undecided.
    assert judged({"base": 300, "bonus": 5200}, gold).status == "undecided"
    assert judged([{"base": 5200}, {"bonus": 300}], gold).status == "undecided"
    assert judged([{"base": 5200}, {"bonus": 301}], gold) == ("no", ("bonus 300",))


@pytest.mark.parametrize(
    ("found", "status"),
    [(1, "yes"), (1.0, "yes"), ("1", "no"), (True, "no"), (None, "no"), ("", "no"), (float("nan"), "no"), ([], "no")],
)
def test_numbers_compare_by_value_and_nothing_else_is_a_number(found: Any, status: str) -> None:
    assert judged({"n": found}, {"n": 1}).status == status
    assert judged({"n": 1}, {"n": True}).status == "no"


def test_declared_types_and_a_tolerance_allow_other_forms() -> None:
    money = Rules(types={"paid": Comparator(type="money", currency="EUR")})
    assert judged({"paid": "12.50 EUR"}, {"paid": 1250}, rules=money).status == "yes"
    assert judged({"paid": "12.51 EUR"}, {"paid": 1250}, rules=money).status == "no"
    assert judged({"mean": 0.3000001}, {"mean": 0.3}, rules=Rules(tolerance=1e-6)).status == "yes"
    assert judged({"mean": 0.3000001}, {"mean": 0.3}).status == "no"
    assert judged({"mean": True}, {"mean": 1}, rules=Rules(tolerance=0.5)).status == "no"


def test_a_repeated_row_must_be_found_as_often_and_asking_twice_is_no_second_row() -> None:
    twice = {"rows": [{"day": "Mon", "minutes": 30}, {"day": "Mon", "minutes": 30}]}
    once = {"rows": [{"day": "Mon", "minutes": 30}]}
    assert judged(twice, twice).status == "yes"
    assert judged(once, twice).status == "no"
    asked = Findings([Result("t", {}, once, step=1), Result("t", {}, once, step=2)])
    assert contained([Result("g", {}, twice)], asked).status == "no"
    assert judged({"tags": ["b", "a"]}, {"tags": ["a", "b"]}).status == "yes"
    assert judged({"tags": ["a"]}, {"tags": ["a", "a"]}).status == "no"


def test_errors_never_match() -> None:
    error = "there is no loan L101"
    broken = [Result("t", {}, error, ok=False)]
    assert contained([Result("g", {}, error)], Findings(broken)).status == "no"
    assert contained(broken, Findings([Result("t", {}, error)])).status == "no"
    assert contained(GOLD, Findings([Result("t", {}, LOANS, ok=False)])).status == "no"
    assert judged(f"error: {json.dumps(LOANS)}").status == "no"


@pytest.mark.parametrize(
    "empty",
    [None, [], {}, "", {"items": [], "page": 1, "page_size": 20, "total": 0}, {"a": [None, {"b": ""}]}],
)
def test_empty_gold_never_passes(empty: Any) -> None:
    assert judged(LOANS, empty) == ("no", ("gold holds nothing that had to be found out",))
    assert contained([], Findings([Result("t", {}, LOANS)])).status == "no"


def test_what_only_stands_in_the_question_or_in_the_arguments_is_no_evidence() -> None:
    gold = {"order": "A1001", "amount": 4500}
    assert judged(gold, gold, "Is A1001 paid?", order="A1001").status == "yes"
    # All of gold stands in the question: nothing had to be found out.
    assert judged(gold, gold, "Is A1001 paid, 4500?").status == "no"
    # The agent's call says back what the agent said.
    assert judged({"query": "Emma", "hits": []}, {"title": "Emma"}, query="Emma").status == "no"
    assert judged({"note": {"amount": 4500}}, {"amount": 4500}, amount=4500).status == "no"
    # A row that it asked for by its id is no echo: the rest of it was found out.
    assert judged(LOANS["loans"][0], {"loans": LOANS["loans"][:1]}, loan_id="L101").status == "yes"


def test_a_number_among_the_arguments_by_another_name_is_a_coincidence() -> None:
    assert judged({"items": [{"overtime": 20}]}, {"overtime": 20}, page_size=20).status == "yes"


SCALARS = st.one_of(
    st.integers(-(10**6), 10**6), st.booleans(), st.text("abcxyz", min_size=1, max_size=6), st.floats(-1e6, 1e6)
)
ROWS = st.lists(st.dictionaries(st.sampled_from("abcdef"), SCALARS, min_size=1), min_size=1, max_size=6)


def respelt(value: Any) -> Any:
    """Equal by value: whole numbers as floats and the other way round."""
    if isinstance(value, dict):
        return {name: respelt(entry) for name, entry in reversed(value.items())}
    if isinstance(value, list):
        return [respelt(entry) for entry in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return float(value) if type(value) is int else value


@settings(deadline=None)
@given(ROWS, ROWS, st.randoms(use_true_random=False))
def test_reordered_superset_and_numerically_equal_rows_are_found(rows: Any, more: Any, random: Any) -> None:
    mixed = [*rows, *more]
    random.shuffle(mixed)
    assert judged(respelt(mixed), rows).status == "yes"
    assert judged({"deep": [{"er": mixed}]}, rows).status == "yes"


@settings(deadline=None)
@given(st.lists(SCALARS, min_size=1, max_size=8, unique_by=repr), st.randoms(use_true_random=False))
def test_sets_are_found_in_any_order(members: list[Any], random: Any) -> None:
    shuffled = list(members)
    random.shuffle(shuffled)
    assert judged({"members": shuffled}, {"members": members}).status == "yes"


@settings(deadline=None)
@given(ROWS, st.data())
def test_a_row_with_another_value_is_not_the_row(rows: Any, data: Any) -> None:
    rows = [{**row, "id": f"k{n}"} for n, row in enumerate(rows)]
    number = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from(sorted(rows[number])))
    changed = [dict(row) for row in rows]
    changed[number][name] = "another"
    assert judged(changed, rows).status != "yes"
    assert judged([row for row in changed if row["id"] != f"k{number}"], rows).status == "no" or name == "id"


@settings(deadline=None)
@given(ROWS, st.text(max_size=40))
def test_an_error_text_never_matches(rows: Any, text: str) -> None:
    assert judged(f"error {text}", rows).status == "no"
    assert contained([Result("g", {}, rows)], Findings([Result("t", {}, rows, ok=False)])).status == "no"


@settings(deadline=None)
@given(ROWS)
def test_an_echo_of_the_arguments_never_matches(rows: Any) -> None:
    assert judged({"rows": rows}, rows, rows=rows).status == "no"
