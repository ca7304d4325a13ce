"""The reference calculator against cases of the policy worked out by hand, over the rows of the snapshot."""

from __future__ import annotations

import doctest
import sqlite3
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from agentgym.envs.refund import calculator
from agentgym.envs.refund.env import DOMAIN

Row = dict[str, Any]


@pytest.fixture(scope="module")
def shop() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"{DOMAIN.snapshot.as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


def rows(shop: sqlite3.Connection, sql: str, *values: object) -> list[Row]:
    return [dict(row) for row in shop.execute(sql, values).fetchall()]


def order(shop: sqlite3.Connection, order_id: str) -> tuple[Row, list[Row], list[Row]]:
    (row,) = rows(shop, "SELECT * FROM orders WHERE order_id = ?", order_id)
    items = rows(shop, "SELECT * FROM order_items WHERE order_id = ? ORDER BY item_id", order_id)
    return row, items, rows(shop, "SELECT * FROM payments WHERE order_id = ? ORDER BY payment_id", order_id)


def test_examples_in_the_calculator_hold() -> None:
    tried = doctest.testmod(calculator)
    assert tried.failed == 0
    assert tried.attempted > 25


def test_opened_kettle_pays_fee_and_label() -> None:
    # 2 × 10700 + 7570 yen, coupon 1500: share 1108, line value 20292, one unit 10146, fee 1015, label 900
    kettle = {"unit_price_minor": 10700, "quantity": 2, "discount_minor": 0}
    teapot = {"unit_price_minor": 7570, "quantity": 1, "discount_minor": 0}
    assert calculator.share(1500, kettle, [kettle, teapot]) == 1108
    worth = calculator.value(1500, kettle, [kettle, teapot], 1)
    assert worth == 10146
    assert calculator.change_of_mind(worth, "home", "opened", "silver", "shop", "JPY") == 8231


def test_a1002_from_its_rows(shop: sqlite3.Connection) -> None:
    row, items, _ = order(shop, "A1002")
    worth = calculator.value(row["coupon_minor"], items[0], items, 1)
    assert calculator.change_of_mind(worth, "home", "opened", "silver", "shop", "JPY") == 8231


def test_two_shirts_are_split_between_gift_card_and_card(shop: sqlite3.Connection) -> None:
    row, items, payments = order(shop, "A1010")
    amount = calculator.value(row["coupon_minor"], items[0], items, 2)
    assert amount == 3559
    assert [part for _, part in calculator.split(payments, amount)] == [2500, 1059]


def test_lost_parcel_brings_items_and_shipping_back(shop: sqlite3.Connection) -> None:
    row, items, _ = order(shop, "A1012")
    values = [calculator.value(row["coupon_minor"], item, items) for item in items]
    assert (values, row["shipping_minor"]) == ([8990, 4280], 490)


def test_dear_camera_is_over_the_limit(shop: sqlite3.Connection) -> None:
    row, items, _ = order(shop, "A1014")
    due = calculator.value(row["coupon_minor"], items[0], items) + row["shipping_minor"]
    (limits,) = rows(shop, "SELECT * FROM role_limits WHERE role = 'desk_agent' AND currency = 'USD'")
    assert due == 132429
    assert calculator.over_limit(due, "USD", limits, [], date(2026, 3, 14))


def test_refunds_of_thirty_days_count_for_the_limit(shop: sqlite3.Connection) -> None:
    old = rows(shop, "SELECT * FROM refunds WHERE order_id = 'A1028'")
    (limits,) = rows(shop, "SELECT * FROM role_limits WHERE role = 'desk_agent' AND currency = 'USD'")
    recent = sum(row["amount_minor"] for row in old)
    room = limits["per_customer_30d_minor"] - recent
    assert not calculator.over_limit(room, "USD", limits, old, date(2026, 3, 14))
    assert calculator.over_limit(room + 1, "USD", limits, old, date(2026, 3, 14))


def test_late_parcel_gives_a_tenth(shop: sqlite3.Connection) -> None:
    row, items, _ = order(shop, "A1020")
    values = [calculator.value(row["coupon_minor"], item, items) for item in items]
    assert values == [4981, 7249]
    assert calculator.late_delivery("2026-02-20", date(2026, 3, 2), values) == 1223


def test_used_kettle_of_a_gold_customer_goes_to_two_payments(shop: sqlite3.Connection) -> None:
    row, items, payments = order(shop, "A1022")
    worth = calculator.value(row["coupon_minor"], items[0], items, 1)
    amount = calculator.change_of_mind(worth, "home", "used", "gold", "shop", "EUR")
    assert amount == 4543
    assert [part for _, part in calculator.split(payments, amount)] == [4000, 543]


def test_opened_headphones_within_a_notice(shop: sqlite3.Connection) -> None:
    row, items, _ = order(shop, "A1029")
    worth = calculator.value(row["coupon_minor"], items[0], items, 1)
    assert calculator.change_of_mind(worth, "electronics", "opened", "silver", "customer", "EUR") == 4241
    notices = rows(shop, "SELECT * FROM carrier_notices")
    days = calculator.extra_days(date(2026, 1, 23), "Velox", "FR", notices)
    assert days == 3
    # 23 January + 30 + 7 + 3 days
    assert calculator.last_day(date(2026, 1, 23), "electronics", "silver", days) == date(2026, 3, 4)


@pytest.mark.parametrize(
    ("start", "category", "tier", "holidays", "expected"),
    [
        (date(2026, 2, 6), "home", "standard", [], date(2026, 3, 9)),  # 8 March is a Sunday
        (date(2026, 2, 15), "home", "standard", [date(2026, 3, 17)], date(2026, 3, 18)),
        (date(2026, 2, 13), "home", "standard", [date(2026, 3, 16)], date(2026, 3, 17)),  # Sunday, then a holiday
        (date(2026, 2, 2), "digital", "gold", [], date(2026, 2, 16)),
        (date(2026, 2, 2), "marketplace", "silver", [], date(2026, 2, 16)),
        (date(2026, 2, 2), "apparel", "gold", [], date(2026, 4, 3)),
        (date(2026, 2, 2), "made_to_order", "gold", [], None),
    ],
)
def test_last_day_moves_off_sundays_and_holidays(
    start: date, category: str, tier: str, holidays: list[date], expected: date | None
) -> None:
    assert calculator.last_day(start, category, tier, holidays=holidays) == expected


def test_half_is_rounded_up_and_never_through_floats() -> None:
    assert [calculator.half_up(n, 2) for n in range(5)] == [0, 1, 1, 2, 2]
    big = 10**17 + 1
    assert calculator.half_up(big, 2) == (big + 1) // 2


def test_split_of_more_than_was_paid_is_an_error() -> None:
    payment = {"payment_id": "PM1", "method": "card", "status": "captured", "amount_minor": 100, "refunded_minor": 40}
    with pytest.raises(ValueError, match="5 more than the captured payments have left"):
        calculator.split([payment], 65)


def test_deduction_does_not_go_below_zero() -> None:
    assert calculator.change_of_mind(500, "apparel", "sealed", "standard", "shop", "EUR") == 0
