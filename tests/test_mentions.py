"""Typed values in free text, in the ways that people write them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.compare import Comparator
from agentgym.mentions import amounts, distinct_amounts, distinct_ids, mentions


def money(minor: int, currency: str) -> Comparator:
    return Comparator(type="money", value=minor, currency=currency)


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (4500, "EUR", "You get 45.00 back."), (4500, "EUR", "You get €45."), (4500, "EUR", "45,00 EUR"),
        (4500, "EUR", "45 euros, gladly"),
        (4500, "EUR", "EUR45"), (4500, "EUR", "(45.00)"), (4500, "EUR", "a refund of -45.00 EUR"),
        (4500, "EUR", "45,- €"), (4500, "EUR", "4500 cents"),
        (123450, "USD", "$1,234.50"), (123450, "USD", "$1 234.50"), (123450, "USD", "1,234.50"),
        (123450, "EUR", "1.234,50 €"), (4500, "JPY", "¥4,500"),
        (4500, "JPY", "4500 yen"), (4500, "JPY", "合計4500円"), (4500, "CNY", "退款45.00元。"),
        (4500, "CNY", "已退45元"), (4500, "CNY", "￥４５．００"),
        (4550, "EUR", "45 euros and 50 cents"), (6000, "USD", "EUR 45 USD 60"), (4500, "EUR", "between 45 € 60 €"),
        (1234, "KWD", "1.234 KWD"),
        (4500, "USD", "**$45.00**"), (4500, "USD", "US$45"), (4500, "EUR", "45\u00a0€"), (4500, "GBP", "£45/order"),
        (0, "EUR", "0.00 EUR"),
    ],
)  # fmt: skip
def test_an_amount_is_found_as_people_write_it(minor: int, currency: str, text: str) -> None:
    assert mentions(text, money(minor, currency))
    assert minor in distinct_amounts(text, currency)


@pytest.mark.parametrize(
    "text",
    [
        "4500", "450", "450 EUR", "45 minutes", "145.00", "45.001", "45.00%", "45 %", "$45.00", "A45.00", "45.00.1",
        "1,045.00", "45.00kg", "2045.00",
        "order 45", "EUR", "", "45,000 EUR", "on 14.03.45 EUR", "0.45 EUR", "45 yen", "forty", "45 eurozone countries",
    ],
)  # fmt: skip
def test_other_numbers_are_not_45_euros(text: str) -> None:
    assert not mentions(text, money(4500, "EUR"))
    assert 4500 not in distinct_amounts(text, "EUR")


@pytest.mark.parametrize("text", ["order 14500", "A4500", "2026-4500", "4500.5", "12:4500", "#4500", "$4500", "45.00"])
def test_other_numbers_are_not_4500_yen(text: str) -> None:
    assert not mentions(text, money(4500, "JPY"))


@given(
    st.integers(0, 10**9),
    st.sampled_from([("{:,}.{:02d}", ""), ("{}.{:02d}", ""), ("€{:,}.{:02d}", ""), ("{},{:02d} EUR", "")]),
)
def test_an_amount_in_a_sentence_is_the_only_one_in_it(minor: int, form: tuple[str, str]) -> None:
    text = "Refunded " + form[0].format(*divmod(minor, 100)) + ", thanks."
    assert distinct_amounts(text, "EUR") == {minor}


def test_a_list_of_candidates_is_counted() -> None:
    assert distinct_amounts("45.00 or 60.00, maybe 75 EUR or 45,00 €; certainly not $99", "EUR") == {4500, 6000, 7500}
    assert [str(each.value) for each in amounts("45.00 or $60")] == ["45.00", "60"]
    assert distinct_ids("A1001/a1002, (A1003) A10011 B7 订单A1004", like="A9999") == {
        "A1001",
        "A1002",
        "A1003",
        "A1004",
    }
    assert distinct_ids("ORD-1 and ord-2, ORD-33", like="ORD-9") == {"ORD-1", "ORD-2"}


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ({"type": "id", "value": "A1001"}, "Your order (a1001)."),
        ({"type": "id", "value": "A1001"}, "订单A1001已退款"),
        ({"type": "id", "value": "A1001"}, "A10011, then A1001"), ({"type": "id", "value": "0042"}, "#0042."),
        ({"type": "id", "value": "A1001"}, "A1001-related"),
        ({"type": "int", "value": 3}, "within 3 days"), ({"type": "int", "value": 3}, "Three days"),
        ({"type": "int", "value": 1234}, "1,234 of them"),
        ({"type": "int", "value": -5}, "-5 degrees"), ({"type": "int", "value": 15}, "15%"),
        ({"type": "number", "value": 2.5}, "2.50 kg"),
        ({"type": "number", "value": 2.5, "tolerance": 0.1}, "about 2,45"), ({"type": "int", "value": 5}, "共5天"),
        ({"type": "date", "value": "2026-03-14"}, "on 2026-03-14."),
        ({"type": "date", "value": "2026-03-14"}, "on 14 March 2026"),
        ({"type": "date", "value": "2026-03-14"}, "on March 14, 2026"),
        ({"type": "date", "value": "2026-03-14"}, "Mar 14th"),
        ({"type": "date", "value": "2026-03-14"}, "am 14.03.2026"),
        ({"type": "date", "value": "2026-03-14"}, "03/14/2026"),
        ({"type": "date", "value": "2026-03-14T08:00:00Z"}, "2026年3月14日"),
        ({"type": "date", "value": "2026-03-14"}, "2026-03-14T09:30:00Z"),
        ({"type": "text", "value": "store credit"}, "As Store\n credit."),
        ({"type": "text", "value": "退款"}, "已经退款了"),
        ({"type": "one_of", "any_of": [{"type": "id", "value": "A1"}, {"type": "int", "value": 7}]}, "it is 7"),
    ],
)  # fmt: skip
def test_a_value_is_found(declaration: dict[str, Any], text: str) -> None:
    assert mentions(text, Comparator.model_validate(declaration))


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ({"type": "id", "value": "A1001"}, "A10011 AA1001 A1001-2 A1001_x XA1001"),
        ({"type": "id", "value": "1001"}, "A-1001, 1001.5, 11001, 0.1001"),
        ({"type": "int", "value": 3}, "13 30 3.5 A3 3rd 1-3 threefold"), ({"type": "int", "value": 5}, "-5"),
        ({"type": "number", "value": 2.5}, "12.5 2.51 25"),
        ({"type": "date", "value": "2026-04-03"}, "03/04/2026 or 04/03/2026"),
        ({"type": "date", "value": "2026-03-14"}, "14 March 2025, March 1, 2026"),
        ({"type": "date", "value": "2026-03-14"}, "2026-03-145, 114.03.2026, 14 marching"),
        ({"type": "text", "value": "credit"}, "credits, accredit"),
        ({"type": "one_of", "any_of": [{"type": "id", "value": "A1"}, {"type": "int", "value": 7}]}, "A17"),
    ],
)  # fmt: skip
def test_another_value_is_not_found(declaration: dict[str, Any], text: str) -> None:
    assert not mentions(text, Comparator.model_validate(declaration))


@pytest.mark.parametrize(
    "unit",
    ["1", "1 ", "1,", "1.1", "45.00 ", "€", "$1", "A1001", "a", "1 a", "14 March ", "A1001-2 ", "退", "９", "12 345"],
)
def test_a_long_text_is_read_in_bounded_time(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit)))[:1_000_000]
    specs = [
        money(4321, "EUR"), Comparator(type="id", value="A1001-9"), Comparator(type="int", value=987),
        Comparator(type="date", value="2026-03-15"),
        Comparator(type="text", value="a b"),
    ]  # fmt: skip
    # Of this process: how long it takes on the wall is for others to say.
    start = time.process_time()
    assert not any(mentions(text, spec) for spec in specs)
    distinct_amounts(text, "EUR")
    distinct_ids(text, "A1001")
    assert time.process_time() - start < 10


@given(st.text())
def test_no_text_raises(text: str) -> None:
    amounts(text)
    distinct_ids(text, "A1")
    for declaration in (
        {"type": "int", "value": 3},
        {"type": "date", "value": "2026-03-14"},
        {"type": "text", "value": "a"},
    ):
        assert mentions(text, Comparator.model_validate(declaration)) in (True, False)


def test_a_type_that_cannot_be_mentioned_is_the_authors_mistake() -> None:
    with pytest.raises(ValueError, match="a text cannot be searched for type 'bool'"):
        mentions("true", Comparator(type="bool", value=True))
    with pytest.raises(ValueError, match="a mentioned id needs a value, found none"):
        mentions("A1", Comparator(type="id"))
