"""Typed equality: what is expected matches in every usual form, and nothing else does (V18)."""

from __future__ import annotations

import json
import math
import pickle
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentgym.compare import MISSING, Comparator, canonical, compare

DEEP = json.loads("[" * 900 + "]" * 900)
ODD: list[Any] = [
    MISSING, None, "", " ", "NaN", "null", "1+1", math.nan, math.inf, -math.inf, True, False, "0", "5", 10**400,
    -(10**400), 1e308, [], {},
    DEEP, {"a": DEEP}, "\ud800", "x" * 100_000, "9" * 10_000, {"amount_minor": None},
    {"amount_minor": True, "currency": "EUR"}, object(),
    {"amount_minor": 5, "currency": 5}, [None], b"5",
]  # fmt: skip
GOLD = [
    Comparator(type="text", value="done"),
    Comparator(type="id", value="007"),
    Comparator(type="int", value=7),
    Comparator(type="number", value=7.5),
    Comparator(type="number", value=7.5, tolerance=0.1),
    Comparator(type="money", value=700, currency="EUR"),
    Comparator(type="date", value="2026-03-14"),
    Comparator(type="set", items=Comparator(type="id"), value=["A1", "A2"]),
    Comparator(type="multiset", items=Comparator(type="number", tolerance=0.1), value=[1, 2]),
    Comparator(type="list", items=Comparator(type="json"), value=[1]),
    Comparator(type="object", fields={"a": Comparator(type="int", value=7)}),
    Comparator(type="json", value={"a": [1, None]}),
    Comparator(type="one_of", any_of=[Comparator(type="int", value=7), Comparator(type="text", value="seven")]),
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("spec", GOLD, ids=lambda spec: spec.type)
@pytest.mark.parametrize("sql", [False, True])
def test_absent_and_odd_values_never_match(spec: Comparator, sql: bool) -> None:
    assert [value for value in ODD if spec.matches(value, sql=sql)] == []


@pytest.mark.parametrize(
    "spec", [*GOLD, Comparator(type="bool", value=True), Comparator(type="null")], ids=lambda spec: spec.type
)
@given(found=json_values)
def test_no_value_raises(spec: Comparator, found: object) -> None:
    assert spec.matches(found) in (True, False)
    assert spec.matches(found, sql=True) in (True, False)


@pytest.mark.parametrize(
    ("type", "expected", "found"),
    [
        ("text", "caf\u00e9", " cafe\u0301\n"), ("id", "007", "007"), ("int", 5, 5), ("int", 5, 5.0),
        ("int", 10**400, 10**400),
        ("number", 5, 5.0), ("number", 0.5, 0.5), ("bool", True, True), ("null", None, None), ("text", "", ""),
        ("text", "NaN", "NaN"),
        ("date", "2026-03-14", "2026-03-14T00:00:00Z"), ("date", "2026-03-14T10:00:00+02:00", "2026-03-14 08:00"),
        ("date", "0001-01-01", "0001-01-01T01:00+01:00"),
        ("set", ["a", "b"], ["b", "a", "b"]), ("set", [], []), ("multiset", [1, 1, 2], [2, 1.0, 1]),
        ("list", [1, "a"], [1, "a"]),
        ("json", {"a": 1, "b": [True, None]}, {"b": [True, None], "a": 1.0}),
    ],
)  # fmt: skip
def test_equal_values_match(type: Any, expected: object, found: object) -> None:
    assert compare(expected, found, type)


@pytest.mark.parametrize(
    ("type", "expected", "found"),
    [
        ("text", "done", "Done"), ("id", "007", "7"), ("id", "007", 7), ("id", "A1", "a1"), ("int", 5, 5.5),
        ("int", 1, True), ("int", 0, False),
        ("int", 5, "5"), ("number", 0.3, 0.30001), ("number", 0, math.nan), ("number", 0, ""), ("bool", True, 1),
        ("bool", False, 0),
        ("bool", True, "true"), ("null", None, ""), ("null", None, 0), ("null", None, MISSING),
        ("date", "2026-03-14", "2026-03-14T00:00:01Z"),
        ("date", "2026-03-14", "14.03.2026"), ("date", "2026-03-14", "2026-02-30"), ("set", ["a"], "a"),
        ("set", ["a"], ["a", "b"]),
        ("set", ["a", "b"], ["a"]), ("multiset", ["a"], ["a", "a"]), ("list", [1, 2], [2, 1]), ("json", [1], [True]),
        ("json", {"a": None}, {}),
        ("json", 1, "1"), ("json", {}, []),
    ],
)  # fmt: skip
def test_unequal_values_do_not_match(type: Any, expected: object, found: object) -> None:
    assert not compare(expected, found, type)


@pytest.mark.parametrize(
    ("minor", "currency", "found"),
    [
        (0, "USD", 0), (0, "USD", 0.00), (0, "USD", "$0.00"), (123450, "USD", "1,234.50"), (1250, "EUR", 12.5),
        (1250, "EUR", "12.50"),
        (1250, "EUR", "12.5 EUR"), (1200, "JPY", "¥1200"), (1200, "JPY", "1,200"), (123450, "EUR", "1.234,50 €"),
        (123450, "EUR", "EUR 1 234,50"),
        (123450, "EUR", 123450), (123450, "EUR", {"amount_minor": 123450, "currency": "EUR"}), (1210, "EUR", 12.1),
        (-450, "EUR", "-4.50 €"),
        (-450, "EUR", "€-4.50"), (-450, "EUR", -4.5), (1234, "KWD", "1.234 KWD"), (1234000, "KWD", "1,234"),
        (123400, "EUR", "1.234"),
        (12345678900, "INR", "₹12,34,56,789"), (4500, "EUR", "４５．００"), (4500, "EUR", "+45,- €"),
        (120000, "JPY", 120000),
    ],
)  # fmt: skip
def test_money_matches_in_every_form(minor: int, currency: str, found: object) -> None:
    assert compare(minor, found, "money", currency=currency)


@pytest.mark.parametrize(
    "found",
    [
        "12.50 USD", "$12.50", "12.505", "1250", "12.5.0", "12.50 or 13.00", "about 12.50", "12,50,0",
        "1250 cents of nothing", 12.505, 1251, True,
        {"amount_minor": 1250, "currency": "USD"}, {"amount_minor": 12.5, "currency": "EUR"}, {"currency": "EUR"},
        "NaN", "1e3", "--12.50", "-12.50",
        "__import__('os')", "12.50 EUR USD", 1e308, "EUR",
    ],
)  # fmt: skip
def test_other_money_does_not_match(found: object) -> None:
    assert not compare(1250, found, "money", currency="EUR")


@given(st.integers(-(10**12), 10**12), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_money_written_with_its_decimals_matches_itself_only(minor: int, currency: str) -> None:
    places = {"EUR": 2, "JPY": 0, "KWD": 3}[currency]
    whole, rest = divmod(abs(minor), 10**places)
    sign = "-" if minor < 0 else ""
    text = f"{sign}{whole:,}" + (f".{rest:0{places}d}" if places else "") + f" {currency}"
    assert compare(minor, text, "money", currency=currency)
    assert not compare(minor + 1, text, "money", currency=currency)


def test_tolerance_is_absolute_and_decimal() -> None:
    assert compare(0.3, 0.4, "number", tolerance=0.1)
    assert not compare(0.3, 0.41, "number", tolerance=0.1)
    assert not compare(0, 10**400, "number", tolerance=1e300)


def test_sql_gives_bools_as_ints_and_structures_as_text() -> None:
    assert compare(True, 1, "bool", sql=True)
    assert not compare(True, 2, "bool", sql=True)
    assert compare(["a"], '["a"]', "list", sql=True)
    assert not compare(["a"], '["a"]', "list")


def test_objects_compare_by_field() -> None:
    fields = {"id": Comparator(type="id", value="A1"), "paid": Comparator(type="money", value=450, currency="EUR")}
    spec = Comparator(type="object", fields=fields)
    assert spec.matches({"id": "A1", "paid": "4.50", "more": 1})
    assert not spec.matches({"id": "A1"})
    assert not spec.matches({"id": "A1", "paid": None})
    assert not Comparator(type="object", fields=fields, closed=True).matches({"id": "A1", "paid": 450, "more": 1})


def test_members_may_be_objects() -> None:
    item = Comparator(
        type="object", fields={"id": Comparator(type="id"), "n": Comparator(type="number", tolerance=0.5)}
    )
    spec = Comparator(type="set", items=item, value=[{"id": "A", "n": 1}, {"id": "B", "n": 2}])
    assert spec.matches([{"id": "B", "n": 2.25}, {"id": "A", "n": 0.75}])
    assert not spec.matches([{"id": "B", "n": 2}, {"id": "A", "n": 3}])


def test_a_multiset_finds_the_pairing_that_a_greedy_choice_misses() -> None:
    spec = Comparator(type="multiset", items=Comparator(type="number", tolerance=1.0), value=[1, 2])
    assert spec.matches([2, 0.5])
    assert spec.matches([0.5, 2])
    assert not spec.matches([0.5, 0.5])


def test_one_of_is_a_typed_list() -> None:
    spec = Comparator(type="one_of", any_of=[Comparator(type="int", value=7), Comparator(type="text", value="seven")])
    assert [spec.matches(value) for value in (7, "seven", "7", None)] == [True, True, False, False]


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ({"type": "money", "value": 5}, "currency: found none, expected one with type 'money'"),
        ({"type": "money", "value": 5.0, "currency": "EUR"}, "value: found 5.0, expected an int of minor units"),
        ({"type": "money", "value": 5, "currency": "euro"}, "currency: found 'euro', expected an ISO 4217 code"),
        (
            {"type": "int", "value": 5, "tolerance": 1},
            "tolerance: found it with type 'int', expected it only with number",
        ),
        ({"type": "int", "value": True}, "value: found True, expected an int"),
        ({"type": "id", "value": 7}, "value: found 7, expected a string"),
        ({"type": "number", "value": math.nan}, "value: found nan, expected a finite number"),
        ({"type": "date", "value": "soon"}, "value: found 'soon', expected an ISO date"),
        ({"type": "null", "value": 0}, "value: found 0, expected null or nothing"),
        ({"type": "set", "value": []}, "items: found none, expected one with type 'set'"),
        ({"type": "set", "items": {"type": "id"}, "value": "A1"}, "value: found 'A1', expected a list"),
        ({"type": "set", "items": {"type": "id"}, "value": [1]}, "value: found 1, expected a string"),
        ({"type": "set", "items": {"type": "id", "value": "A"}}, "items.value: found a value, expected a template"),
        ({"type": "text", "fields": {"a": {"type": "id"}}}, "fields: found it with type 'text'"),
        ({"type": "one_of"}, "any_of: found none"),
        ({"type": "one_of", "any_of": [{"type": "id"}]}, "any_of: found an alternative without value"),
        ({"type": "one_of", "value": 1, "any_of": [{"type": "null"}]}, "value: found 1 with type 'one_of'"),
        (
            {"type": "object", "fields": {"a": {"type": "int", "value": 1}, "b": {"type": "id"}}},
            "fields.b: found no value",
        ),
        (
            {"type": "object", "fields": {"a": {"type": "int"}}, "value": {"b": 1}},
            "value.b: found a field without comparator",
        ),
        ({"type": "json", "value": [math.inf]}, "JSON numbers are finite, found inf"),
        ({"type": "text", "value": "a", "ignore_case": True}, "Extra inputs are not permitted"),
        ({"type": "regex", "value": "a"}, "Input should be 'text', 'id'"),
    ],
)
def test_an_inconsistent_declaration_is_refused(declaration: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Comparator.model_validate(declaration)
    assert message in str(caught.value)


def test_a_template_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="comparator of type 'id' has no value"):
        Comparator(type="id").matches("A1")


def test_a_wrong_expected_value_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="value: found '5', expected an int"):
        compare("5", 5, "int")
    with pytest.raises(ValueError, match="expected a Comparator"):
        compare({}, {}, "object")


def test_a_yaml_date_is_kept_as_text() -> None:
    assert Comparator.model_validate({"type": "date", "value": date(2026, 3, 14)}).value == "2026-03-14"


def test_missing_stays_itself_when_pickled() -> None:
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert not pickle.loads(pickle.dumps(Comparator(type="id"))).has_value


@given(json_values.filter(lambda value: "NaN" not in json.dumps(value) and "Infinity" not in json.dumps(value)))
def test_canonical_json_is_json_of_the_same_value(value: object) -> None:
    text = canonical(value)
    assert compare(value, json.loads(text), "json")
    assert canonical(json.loads(text)) == text


def test_canonical_json_goes_to_any_depth_and_refuses_what_is_no_json() -> None:
    assert canonical(DEEP) == "[" * 900 + "]" * 900
    assert canonical({"b": 2.0, "a": [1, {}]}) == canonical({"a": [1.0, {}], "b": 2}) == '{"a":[1,{}],"b":2}'
    assert canonical(True) != canonical(1)
    with pytest.raises(ValueError, match="finite"):
        canonical({"a": math.nan})
    with pytest.raises(TypeError, match="expected a JSON value"):
        canonical({"a": object()})
