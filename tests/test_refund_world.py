"""The seed data of the refund desk: size, consistency, and the same bytes everywhere."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentgym.envs.refund
from agentgym.changes import tables
from agentgym.snapshot import build, expected_hash, logical_hash

FOLDER = Path(agentgym.envs.refund.__file__).parent
MODULE = "agentgym.envs.refund.world"


@pytest.fixture(scope="module")
def shop() -> Iterator[sqlite3.Connection]:
    connection = build(FOLDER, MODULE)
    yield connection
    connection.close()


def count(shop: sqlite3.Connection, sql: str) -> int:
    return int(shop.execute(sql).fetchone()[0])


def test_the_committed_hash_is_the_hash_of_what_is_built(shop: sqlite3.Connection) -> None:
    assert logical_hash(shop) == expected_hash(FOLDER)


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_a_new_process_with_another_hash_seed_and_time_zone_builds_the_same(seed: str) -> None:
    code = (
        "import pathlib, agentgym.snapshot as s; "
        f"print(s.logical_hash(s.build(pathlib.Path({str(FOLDER)!r}), {MODULE!r})))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONUTF8": "0"}
    environment["PYTHONPATH"] = str(FOLDER.parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert done.stdout.strip() == expected_hash(FOLDER)


def test_the_shop_is_large_enough_and_its_file_small_enough(shop: sqlite3.Connection) -> None:
    assert count(shop, "SELECT count(*) FROM customers") >= 300
    assert count(shop, "SELECT count(*) FROM orders") >= 1000
    assert count(shop, "SELECT count(DISTINCT currency) FROM orders") == 5
    copy = sqlite3.connect(":memory:")
    shop.backup(copy)
    copy.execute("VACUUM")
    assert len(copy.serialize()) <= 1_500_000
    copy.close()


def test_every_table_is_strict_and_has_no_real_column(shop: sqlite3.Connection) -> None:
    for name, table in tables(shop).items():
        if not name.startswith("_"):
            assert not table.careful
            assert count(shop, f"SELECT strict FROM pragma_table_list WHERE name = '{name}'") == 1


def test_captured_payments_make_up_the_total_but_where_a_charge_was_doubled(shop: sqlite3.Connection) -> None:
    wrong = shop.execute(
        "SELECT o.order_id FROM orders o JOIN payments p USING (order_id) WHERE p.status = 'captured' "
        "GROUP BY o.order_id HAVING sum(p.amount_minor) != o.total_minor ORDER BY 1"
    ).fetchall()
    assert wrong == [("A1009",), ("A1024",)]
    assert count(shop, "SELECT count(*) FROM orders WHERE order_id NOT IN (SELECT order_id FROM payments)") == 0


def test_the_total_is_lines_less_coupon_plus_shipping(shop: sqlite3.Connection) -> None:
    lines = "SELECT sum(unit_price_minor * quantity - discount_minor) FROM order_items i WHERE i.order_id = o.order_id"
    assert count(
        shop, f"SELECT count(*) FROM orders o WHERE ({lines}) - coupon_minor + shipping_minor = total_minor"
    ) == count(shop, "SELECT count(*) FROM orders")


def test_refunded_columns_equal_the_refunds_that_count(shop: sqlite3.Connection) -> None:
    for table, key in (("order_items", "item_id"), ("payments", "payment_id")):
        paid = f"SELECT coalesce(sum(amount_minor), 0) FROM refunds r WHERE r.{key} = t.{key} AND r.status != 'failed'"
        assert count(shop, f"SELECT count(*) FROM {table} t WHERE ({paid}) != refunded_minor") == 0
    assert count(shop, "SELECT count(*) FROM payments WHERE refunded_minor > amount_minor OR amount_minor <= 0") == 0
    assert count(shop, "SELECT count(*) FROM gift_cards WHERE balance_minor < 0") == 0


def test_nothing_happens_after_now_and_nothing_before_its_cause(shop: sqlite3.Connection) -> None:
    now = "'2026-03-14T09:30:00Z'"
    for table, column in (
        ("orders", "placed_at"),
        ("tracking_events", "at"),
        ("payments", "created_at"),
        ("refunds", "created_at"),
        ("returns", "created_at"),
        ("returns", "coalesce(received_at, '')"),
        ("tickets", "created_at"),
        ("ticket_notes", "created_at"),
        ("evidence", "received_at"),
        ("traces", "closed_at"),
        ("customers", "created_at"),
    ):
        assert count(shop, f"SELECT count(*) FROM {table} WHERE {column} > {now}") == 0, table
    parcels = "tracking_events JOIN shipments USING (shipment_id) JOIN orders USING (order_id)"
    assert count(shop, f"SELECT count(*) FROM {parcels} WHERE at < placed_at") == 0
    back = "SELECT count(*) FROM tracking_events a JOIN tracking_events b USING (shipment_id) WHERE a.seq < b.seq AND "
    assert count(shop, back + "a.at > b.at") == 0
    created = "SELECT count(*) FROM orders JOIN customers USING (customer_id) WHERE placed_at < created_at"
    assert count(shop, created) == 0


def test_items_are_delivered_exactly_if_tracking_says_so(shop: sqlite3.Connection) -> None:
    arrived = "EXISTS (SELECT 1 FROM tracking_events e WHERE e.shipment_id = i.shipment_id AND code = 'delivered')"
    there = "i.status IN ('delivered', 'partly_refunded', 'refunded')"
    assert (
        count(shop, f"SELECT count(*) FROM order_items i WHERE shipment_id IS NOT NULL AND {arrived} != {there}") == 0
    )


def test_series_of_ids_go_on_after_what_is_there(shop: sqlite3.Connection) -> None:
    for table, key, prefix in (
        ("refunds", "refund_id", "RF"),
        ("returns", "return_id", "R"),
        ("claims", "claim_id", "CL"),
        ("ticket_notes", "note_id", "N"),
        ("store_credit", "entry_id", "SC"),
        ("traces", "trace_id", "TR"),
        ("fraud_reviews", "review_id", "FR"),
    ):
        most = count(shop, f"SELECT max(CAST(substr({key}, {len(prefix) + 1}) AS INTEGER)) FROM {table}")
        assert count(shop, f"SELECT value FROM _counters WHERE name = '{prefix}'") >= most


def test_the_first_headphones_stand_in_order_a1001(shop: sqlite3.Connection) -> None:
    row = shop.execute(
        "SELECT name, i.status FROM order_items i JOIN products USING (product_id) WHERE item_id = 'A1001-1'"
    ).fetchone()
    assert row == ("Wren over-ear headphones", "delivered")
