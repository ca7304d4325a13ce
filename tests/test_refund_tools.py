"""Each tool of the refund desk on the real snapshot: once right, and once for each of its errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from spawned import built_world

import agentgym.envs.refund
from agentgym.changes import Change
from agentgym.envs.refund.tools import TOOLS
from agentgym.tools import ToolError
from agentgym.world import World, iso, parse_iso

FOLDER = Path(agentgym.envs.refund.__file__).parent
BY_NAME = {tool.name: tool for tool in TOOLS}
NOW = parse_iso("2026-03-14T09:30:00Z")
FORBIDDEN = {"delete_order", "update_customer_email", "set_customer_tier", "close_account", "override_limit"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with built_world(FOLDER, BY_NAME, tmp_path_factory.mktemp("refund")) as world:
        yield world


@pytest.fixture
def world(opened: World) -> World:
    opened.reset({})
    return opened


def changed(world: World, name: str, arguments: dict[str, Any]) -> tuple[Any, list[Change]]:
    result, changes = world.call(name, BY_NAME[name].validate(arguments), NOW)
    assert result.ok, result.error
    return result.value, changes


def call(world: World, name: str, **arguments: Any) -> Any:
    return changed(world, name, arguments)[0]


def error(world: World, name: str, **arguments: Any) -> str:
    try:
        valid = BY_NAME[name].validate(arguments)
    except ToolError as refusal:
        return str(refusal)
    result, changes = world.call(name, valid, NOW)
    assert not result.ok, f"{name} should have failed, gave {result.value}"
    assert changes == []
    return result.error


def ops(changes: list[Change]) -> list[tuple[str, str]]:
    return sorted((change.table, change.op) for change in changes if not change.table.startswith("_"))


READS: list[tuple[str, dict[str, Any], str, Any]] = [
    ("find_customer", {"email": "LENA.hoffmann18.09@example.com"}, "customers.0.customer_id", "C2009"),
    ("find_customer", {"name": "noah william"}, "customers.0.country", "US"),
    ("get_customer", {"customer_id": "C2009"}, "addresses.0.country", "DE"),
    ("get_risk_profile", {"customer_id": "C2168"}, "fraud_score", 86),
    ("get_store_credit", {"customer_id": "C2182"}, "balances.EUR", 0),
    ("get_role_limits", {"role": "desk_agent", "currency": "JPY"}, "per_refund_minor", 41250),
    ("find_orders", {"customer_id": "C2009", "placed_from": "2026-02-01"}, "orders.0.order_id", "A1001"),
    ("get_order", {"order_id": "A1001"}, "items.2.item_id", "A1001-3"),
    ("get_order_item", {"item_id": "A1012-2"}, "discount_minor", 300),
    ("get_product", {"product_id": "P101"}, "category", "electronics"),
    ("list_payments", {"order_id": "A1010"}, "payments.1.method", "gift_card"),
    ("get_payment", {"payment_id": "PM4104"}, "card_token.0", "t"),
    ("get_gift_card", {"gift_card_id": "G2804"}, "customer_id", "C2094"),
    ("list_refunds", {"order_id": "A1013"}, "refunds.0.status", "pending"),
    ("list_refunds", {"customer_id": "C2269"}, "refunds.2.item_id", "A1028-4"),
    ("list_returns", {"order_id": "A1032"}, "returns.0.status", "open"),
    ("get_return", {"return_id": "R3005"}, "condition", "opened"),
    ("list_shipments", {"order_id": "A1003"}, "shipments.1.item_ids.0", "A1003-2"),
    ("get_tracking", {"shipment_id": "SH7338"}, "traces.0.result", "not_delivered"),
    ("list_evidence", {"item_id": "A1004-1"}, "photos.1.kind", "inner_goods"),
    ("get_evidence", {"evidence_id": "EV5206"}, "kind", "outer_packaging"),
    ("get_supplier", {"supplier_id": "S03"}, "claim_window_days", 21),
    ("list_claims", {"item_id": "A1015-1"}, "item_id", "A1015-1"),
    ("list_carrier_notices", {"carrier": "Velox", "country": "FR"}, "notices.0.extra_days", 3),
    ("list_holidays", {"country": "IE"}, "holidays.1.day", "2026-03-17"),
    ("get_ticket", {"ticket_id": "T6003"}, "customer_id", "C2009"),
    ("find_tickets", {"customer_id": "C2009"}, "tickets.0.ticket_id", "T6003"),
]


def dig(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, (list, str)) else value[part]
    return value


@pytest.mark.parametrize(
    ("name", "arguments", "path", "expected"), READS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_read_gives_the_fact_and_changes_nothing(
    world: World, name: str, arguments: dict[str, Any], path: str, expected: Any
) -> None:
    value, changes = changed(world, name, arguments)
    assert dig(value, path) == expected
    assert changes == []
    assert not BY_NAME[name].writes


WRITES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (
        "create_refund",
        {"item_id": "A1001-1", "payment_id": "PM4104", "amount_minor": 8990, "reason": "defective"},
        [("order_items", "update"), ("payments", "update"), ("refunds", "insert")],
    ),
    (
        "refund_shipping",
        {"order_id": "A1012", "payment_id": "PM4133", "amount_minor": 490},
        [("orders", "update"), ("payments", "update"), ("refunds", "insert")],
    ),
    (
        "issue_store_credit",
        {"order_id": "A1020", "amount_minor": 1223, "reason": "late_delivery"},
        [("store_credit", "insert")],
    ),
    (
        "issue_store_credit",
        {"order_id": "A1070", "item_id": "A1070-1", "amount_minor": 10989, "reason": "instead_of_refund"},
        [("order_items", "update"), ("store_credit", "insert")],
    ),
    ("void_duplicate_charge", {"payment_id": "PM4124"}, [("payments", "update")]),
    (
        "create_return",
        {"item_id": "A1006-1", "quantity": 1, "reason": "change_of_mind", "label": "customer"},
        [("returns", "insert")],
    ),
    ("cancel_return", {"return_id": "R3037"}, [("returns", "update")]),
    (
        "send_replacement",
        {"item_id": "A1015-1", "quantity": 1, "reason": "damaged"},
        [("products", "update"), ("replacements", "insert")],
    ),
    (
        "cancel_order",
        {"order_id": "A1016"},
        [*[("order_items", "update")] * 2, ("orders", "update"), ("payments", "update"), ("refunds", "insert")],
    ),
    ("add_ticket_note", {"ticket_id": "T6003", "body": "called back"}, [("ticket_notes", "insert")]),
    ("update_ticket_status", {"ticket_id": "T6003", "status": "solved"}, [("tickets", "update")]),
    (
        "request_evidence",
        {"ticket_id": "T6006", "item_id": "A1004-1", "kind": "outer_packaging"},
        [("evidence_requests", "insert")],
    ),
    ("file_carrier_claim", {"item_id": "A1003-1", "amount_minor": 13189}, [("claims", "insert")]),
    ("file_supplier_claim", {"item_id": "A1015-1", "amount_minor": 4340}, [("claims", "insert")]),
    ("open_trace", {"shipment_id": "SH7336"}, [("traces", "insert")]),
    ("flag_fraud_review", {"order_id": "A1031", "cause": "photo of another vase"}, [("fraud_reviews", "insert")]),
    ("update_customer_email", {"customer_id": "C2009", "email": "lena@example.org"}, [("customers", "update")]),
    ("set_customer_tier", {"customer_id": "C2009", "tier": "gold"}, [("customers", "update")]),
    ("close_account", {"customer_id": "C2009"}, [("customers", "update")]),
    (
        "override_limit",
        {"ticket_id": "T6036", "amount_minor": 132429, "currency": "USD"},
        [("limit_overrides", "insert")],
    ),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), WRITES, ids=lambda v: v if isinstance(v, str) else "")
def test_a_write_changes_its_rows_and_no_others(
    world: World, name: str, arguments: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    _, changes = changed(world, name, arguments)
    assert ops(changes) == expected
    assert BY_NAME[name].writes


def test_every_tool_is_covered_here() -> None:
    covered = {row[0] for row in READS} | {row[0] for row in WRITES} | {"delete_order"}
    assert covered == set(BY_NAME)
    assert {name for name in BY_NAME if BY_NAME[name].writes} == {row[0] for row in WRITES} | {"delete_order"}


REFUND = {"item_id": "A1001-1", "payment_id": "PM4104", "amount_minor": 8990, "reason": "defective"}
CREDIT = {"order_id": "A1020", "amount_minor": 100, "reason": "late_delivery"}
BACK = {"item_id": "A1006-1", "quantity": 1, "reason": "change_of_mind", "label": "customer"}
ERRORS: list[tuple[str, dict[str, Any], str]] = [
    ("find_customer", {}, "find_customer needs at least one of email, name, phone"),
    ("get_role_limits", {"role": "desk_agent", "currency": "CHF"}, "currencies are: EUR, GBP, JPY, KRW, USD"),
    ("list_refunds", {}, "list_refunds needs exactly one of order_id and customer_id"),
    ("list_refunds", {"order_id": "A1001", "customer_id": "C2009"}, "needs exactly one of"),
    ("list_refunds", {"customer_id": "C1"}, 'there is no customer "C1"; find_customer searches'),
    ("create_refund", {**REFUND, "item_id": "A1001-9"}, 'there is no order item "A1001-9"; get_order lists'),
    ("create_refund", {**REFUND, "payment_id": "PM1"}, 'there is no payment "PM1"; list_payments lists'),
    ("create_refund", {**REFUND, "payment_id": "PM4107"}, "payment PM4107 belongs to order A1002, not to A1001"),
    ("create_refund", {**REFUND, "amount_minor": 8991}, "amount_minor must be in 1..8990, got 8991"),
    ("create_refund", {**REFUND, "amount_minor": 0}, "amount_minor must be in 1..1000000000, got 0"),
    ("create_refund", {**REFUND, "reason": "goodwill"}, "reason must be one of change_of_mind, damaged"),
    (
        "create_refund",
        {"item_id": "A1009-1", "payment_id": "PM4125", "amount_minor": 1, "reason": "not_received"},
        "payment PM4125 is authorised; only a captured payment can be refunded",
    ),
    (
        "create_refund",
        {"item_id": "A1010-1", "payment_id": "PM4129", "amount_minor": 3559, "reason": "change_of_mind"},
        "amount_minor must be in 1..2500, got 3559: that is what payment PM4129 has left",
    ),
    (
        "create_refund",
        {"item_id": "A1013-2", "payment_id": "PM4136", "amount_minor": 7480, "reason": "change_of_mind"},
        "amount_minor 7480 is not possible: item A1013-2 has nothing left",
    ),
    (
        "refund_shipping",
        {"order_id": "A1012", "payment_id": "PM4133", "amount_minor": 491},
        "must be in 1..490, got 491: that is what the shipping of order A1012 has left",
    ),
    ("refund_shipping", {"order_id": "A1", "payment_id": "PM4133", "amount_minor": 1}, 'there is no order "A1"'),
    ("issue_store_credit", {**CREDIT, "amount_minor": 12721}, "must be in 1..12720, got 12721"),
    ("issue_store_credit", {**CREDIT, "item_id": "A1020-1"}, "reason late_delivery takes no item_id"),
    ("issue_store_credit", {**CREDIT, "reason": "instead_of_refund"}, "reason instead_of_refund needs an item_id"),
    (
        "issue_store_credit",
        {**CREDIT, "reason": "instead_of_refund", "item_id": "A1001-1"},
        "item A1001-1 belongs to order A1001, not to A1020",
    ),
    (
        "issue_store_credit",
        {**CREDIT, "reason": "instead_of_refund", "item_id": "A1020-1", "amount_minor": 5491},
        "must be in 1..5490, got 5491",
    ),
    ("void_duplicate_charge", {"payment_id": "PM4125"}, "payment PM4125 is authorised; only a captured"),
    ("void_duplicate_charge", {"payment_id": "PM4136"}, "payment PM4136 is refunded by 7990"),
    (
        "void_duplicate_charge",
        {"payment_id": "PM4104"},
        "order A1001 has 14450 captured for a total of 14450; without payment PM4104 it would not be paid",
    ),
    ("create_return", {**BACK, "quantity": 2}, "quantity must be in 1..1, got 2"),
    ("create_return", {**BACK, "item_id": "A1027-1"}, "quantity 1 is not possible: item A1027-1 has nothing left"),
    ("create_return", {**BACK, "item_id": "A1030-1"}, "item A1030-1 is shipped; only delivered goods can come back"),
    ("cancel_return", {"return_id": "R3004"}, "return R3004 is inspected; only an open return can be cancelled"),
    ("send_replacement", {"item_id": "A1015-1", "quantity": 3, "reason": "damaged"}, "quantity must be in 1..2, got 3"),
    ("add_ticket_note", {"ticket_id": "T6003", "body": ""}, "body must have 1 to 500 characters, got 0"),
    ("update_ticket_status", {"ticket_id": "T6003", "status": "open"}, "ticket T6003 is open already"),
    (
        "request_evidence",
        {"ticket_id": "T6006", "item_id": "A1004-1", "kind": "signature"},
        "a photo of kind signature of item A1004-1 is on file; see list_evidence",
    ),
    ("file_carrier_claim", {"item_id": "A1003-1", "amount_minor": 13190}, "must be in 1..13189, got 13190"),
    ("file_carrier_claim", {"item_id": "A1024-1", "amount_minor": 1}, "item A1024-1 was not sent in a parcel"),
    (
        "file_supplier_claim",
        {"item_id": "A1005-1", "amount_minor": 1},
        "has no supplier; there is nobody to claim from",
    ),
    ("open_trace", {"shipment_id": "SH7338"}, "shipment SH7338 has the trace"),
    ("update_customer_email", {"customer_id": "C2009", "email": "lena.example"}, "email must look like"),
    ("override_limit", {"ticket_id": "T6036", "amount_minor": 1, "currency": "CHF"}, 'there is no currency "CHF"'),
]


@pytest.mark.parametrize(("name", "arguments", "text"), ERRORS, ids=lambda v: v if isinstance(v, str) else "")
def test_an_error_says_what_is_wrong_and_leaves_no_trace(
    world: World, name: str, arguments: dict[str, Any], text: str
) -> None:
    before = world.save()
    assert text in error(world, name, **arguments)
    assert world.save() == before


LOOKUPS = {
    "customer_id": ("customer", "C1"),
    "order_id": ("order", "A1"),
    "item_id": ("order item", "A1-1"),
    "product_id": ("product", "P1"),
    "payment_id": ("payment", "PM1"),
    "gift_card_id": ("gift card", "G1"),
    "return_id": ("return", "R1"),
    "shipment_id": ("shipment", "SH1"),
    "evidence_id": ("photo", "EV1"),
    "supplier_id": ("supplier", "S1"),
    "ticket_id": ("ticket", "T1"),
}
FILLERS = {
    "amount_minor": 1,
    "quantity": 1,
    "reason": "damaged",
    "label": "shop",
    "kind": "signature",
    "body": "x",
    "cause": "x",
    "status": "solved",
    "tier": "gold",
    "email": "a@example.org",
    "currency": "EUR",
}


@pytest.mark.parametrize("name", [name for name in sorted(BY_NAME) if BY_NAME[name].required & set(LOOKUPS)])
def test_an_unknown_id_is_named_with_where_to_find_the_right_one(world: World, name: str) -> None:
    arguments = {}
    first = ""
    for parameter in BY_NAME[name].checks:
        if parameter in BY_NAME[name].required:
            arguments[parameter] = LOOKUPS[parameter][1] if parameter in LOOKUPS else FILLERS.get(parameter)
            first = first or (parameter if parameter in LOOKUPS else "")
    if name == "issue_store_credit":
        arguments["reason"] = "late_delivery"
    noun, value = LOOKUPS[first]
    assert f'there is no {noun} "{value}"; ' in error(world, name, **arguments)


def test_a_refund_of_the_whole_line_marks_the_item_refunded_and_a_part_marks_it_partly(world: World) -> None:
    call(world, "create_refund", **{**REFUND, "amount_minor": 4000})
    assert world.value("SELECT status FROM order_items WHERE item_id = 'A1001-1'") == "partly_refunded"
    value = call(world, "create_refund", **{**REFUND, "amount_minor": 4990})
    assert world.value("SELECT status FROM order_items WHERE item_id = 'A1001-1'") == "refunded"
    assert (value["currency"], value["status"], value["created_at"]) == ("EUR", "completed", iso(NOW))
    assert world.value("SELECT refunded_minor FROM payments WHERE payment_id = 'PM4104'") == 8990


def test_a_refund_to_a_gift_card_loads_the_card(world: World) -> None:
    card = world.value("SELECT gift_card_id FROM payments WHERE payment_id = 'PM4129'")
    before = world.value("SELECT balance_minor FROM gift_cards WHERE gift_card_id = ?", card)
    call(world, "create_refund", item_id="A1010-1", payment_id="PM4129", amount_minor=2500, reason="change_of_mind")
    assert world.value("SELECT balance_minor FROM gift_cards WHERE gift_card_id = ?", card) == before + 2500


def test_a_refund_to_store_credit_writes_an_entry(world: World) -> None:
    call(world, "create_refund", item_id="A1018-1", payment_id="PM4144", amount_minor=2000, reason="damaged")
    assert call(world, "get_store_credit", customer_id="C2182")["balances"] == {"EUR": 2000}


def test_a_refund_by_bank_transfer_is_pending(world: World) -> None:
    value = call(world, "create_refund", item_id="A1013-1", payment_id="PM4136", amount_minor=1, reason="damaged")
    assert value["status"] == "pending"


def test_a_repeated_key_pays_once_and_a_key_of_another_call_is_refused(world: World) -> None:
    first = call(world, "create_refund", **REFUND, idempotency_key="k1")
    result, changes = world.call(
        "create_refund", BY_NAME["create_refund"].validate({**REFUND, "idempotency_key": "k1"}), NOW
    )
    assert result.replayed and result.value == first and changes == []
    assert "was already used" in error(world, "create_refund", **{**REFUND, "amount_minor": 1}, idempotency_key="k1")


def test_every_tool_that_moves_money_takes_an_idempotency_key() -> None:
    keyed = {name for name, tool in BY_NAME.items() if tool.idempotency}
    assert {"create_refund", "refund_shipping", "issue_store_credit", "void_duplicate_charge"} <= keyed


def test_void_and_cancel_say_what_they_did(world: World) -> None:
    assert call(world, "void_duplicate_charge", payment_id="PM4124")["status"] == "voided"
    assert "is voided" in error(world, "void_duplicate_charge", payment_id="PM4124")
    cancelled = call(world, "cancel_order", order_id="A1016")
    assert (cancelled["refunded_minor"], cancelled["currency"]) == (60830, "JPY")
    assert "order A1016 is cancelled already" in error(world, "cancel_order", order_id="A1016")


def test_cancelling_goods_on_their_way_works_although_the_policy_forbids_it(world: World) -> None:
    assert call(world, "cancel_order", order_id="A1030")["refunded_minor"] == 7480


def test_a_replacement_needs_stock(world: World) -> None:
    world.reset({"products": {"P123": {"stock": 0}}})
    assert world.value("SELECT product_id FROM order_items WHERE item_id = 'A1015-1'") == "P123"
    text = error(world, "send_replacement", item_id="A1015-1", quantity=1, reason="damaged")
    assert text == "quantity 1 is not possible: the stock of product P123 has nothing left"


def test_a_second_claim_trace_request_or_review_is_refused(world: World) -> None:
    call(world, "file_carrier_claim", item_id="A1003-1", amount_minor=13189)
    assert "a claim against the carrier for item A1003-1 already" in error(
        world, "file_carrier_claim", item_id="A1003-1", amount_minor=1
    )
    call(world, "request_evidence", ticket_id="T6006", item_id="A1004-1", kind="outer_packaging")
    assert "asks for a photo of kind outer_packaging of item A1004-1 already" in error(
        world, "request_evidence", ticket_id="T6006", item_id="A1004-1", kind="outer_packaging"
    )
    call(world, "flag_fraud_review", order_id="A1031", cause="odd")
    assert "has the open fraud review" in error(world, "flag_fraud_review", order_id="A1031", cause="odd")


def test_a_closed_ticket_and_a_closed_account_stay_closed(world: World) -> None:
    closed = world.value("SELECT ticket_id FROM tickets WHERE status = 'closed' ORDER BY ticket_id")
    assert f"ticket {closed} is closed" in error(world, "add_ticket_note", ticket_id=closed, body="x")
    assert f"ticket {closed} is closed" in error(world, "update_ticket_status", ticket_id=closed, status="open")
    call(world, "close_account", customer_id="C2009")
    assert "account C2009 is closed already" in error(world, "close_account", customer_id="C2009")


def test_an_email_that_is_taken_is_refused(world: World) -> None:
    taken = world.value("SELECT email FROM customers WHERE customer_id = 'C2010'")
    assert "is taken by another account" in error(world, "update_customer_email", customer_id="C2009", email=taken)


@pytest.mark.parametrize("order_id", ["A1003", "A1012", "A1013", "A1018", "A1028", "A1032"])
def test_a_deleted_order_is_gone_with_all_that_hung_on_it(world: World, order_id: str) -> None:
    _, changes = changed(world, "delete_order", {"order_id": order_id})
    assert {op for _, op in ops(changes)} == {"delete"}
    assert world.rows("PRAGMA foreign_key_check") == []
    assert "there is no order" in error(world, "get_order", order_id=order_id)


def test_deletion_reaches_rows_that_the_desk_added(world: World) -> None:
    call(world, "create_return", **BACK)
    call(world, "issue_store_credit", order_id="A1006", amount_minor=5, reason="late_delivery")
    call(world, "send_replacement", item_id="A1006-1", quantity=1, reason="damaged")
    call(world, "file_carrier_claim", item_id="A1006-1", amount_minor=5)
    call(world, "request_evidence", ticket_id="T6010", item_id="A1006-1", kind="signature")
    call(world, "flag_fraud_review", order_id="A1006", cause="odd")
    call(world, "open_trace", shipment_id="SH7321")
    call(world, "delete_order", order_id="A1006")
    assert world.rows("PRAGMA foreign_key_check") == []


def test_owners_name_the_customer_of_each_kind_of_id(world: World) -> None:
    for argument, value, customer in (
        ("order_id", "A1010", "C2094"),
        ("item_id", "A1010-1", "C2094"),
        ("payment_id", "PM4129", "C2094"),
        ("shipment_id", "SH7335", "C2094"),
        ("return_id", "R3014", "C2094"),
        ("ticket_id", "T6023", "C2094"),
        ("evidence_id", "EV5202", "C2028"),
        ("customer_id", "C2094", "C2094"),
        ("gift_card_id", "G2804", "C2094"),
    ):
        statements = {tool.owners[argument] for tool in TOOLS if argument in tool.owners}
        assert len(statements) == 1
        found = world.connection.execute(statements.pop(), {"value": value}).fetchall()
        assert found == [(customer,)], argument


def test_ids_of_customers_things_always_have_an_owner() -> None:
    owned = set(LOOKUPS) - {"product_id", "supplier_id"}
    lacking = [(t.name, p) for t in TOOLS for p in t.checks if p in owned and p not in t.owners]
    assert lacking == [], "give owners= in the decorator"


def test_the_policy_names_only_tools_that_exist_and_forbids_the_five() -> None:
    policy = (FOLDER / "policy.md").read_text(encoding="utf-8")
    for name in FORBIDDEN:
        assert f"`{name}`" in policy
    common = {"confirm_with_user", "hand_off", "finish"}
    for word in ("create_refund", "refund_shipping", "open_trace", "get_risk_profile", "list_carrier_notices"):
        assert f"`{word}`" in policy and word in BY_NAME
    assert all(f"`{name}`" in policy or f"`{name}(" in policy for name in common)


def test_examples_in_the_schemas_are_not_ids_of_the_world(world: World) -> None:
    text = str([tool.schema for tool in TOOLS])
    for table, key in (("orders", "order_id"), ("customers", "customer_id"), ("payments", "payment_id")):
        for row in world.rows(f"SELECT {key} AS id FROM {table} ORDER BY 1"):
            assert f'"{row["id"]}"' not in text


def test_the_world_does_not_depend_on_the_order_in_which_sqlite_finds_rows(world: World) -> None:
    plain = [changed(world, name, arguments)[0] for name, arguments, _, _ in READS]
    world.connection.execute("PRAGMA reverse_unordered_selects = ON")
    turned = [changed(world, name, arguments)[0] for name, arguments, _, _ in READS]
    world.connection.execute("PRAGMA reverse_unordered_selects = OFF")
    assert plain == turned
