"""What requests of a generated case are checked by. Query texts repeat from case to case; ids are parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentgym.envs.refund import calculator
from agentgym.envs.refund.gen_case import Case, Order, Request
from agentgym.envs.refund.gen_data import Row

Check = dict[str, Any]


def state(sql: str, expect: object, kind: str = "int", holds: bool = False, **params: object) -> Check:
    """A check of the final state; *holds* for one that holds from the start."""
    found: Check = {"sql": sql, "params": params, "expect": expect, "type": kind}
    return {**found, "holds": "always"} if holds else found


def update(table: str, key: str, value: str, *columns: str) -> Check:
    """Leave to change columns of one row."""
    return {"table": table, "op": "update", "where": {key: value}, "columns": list(columns)}


def insert(table: str, **where: object) -> Check:
    """Leave to add one row."""
    return {"table": table, "op": "insert", "max": 1, "where": where}


def call(name: str, **arguments: object) -> Check:
    """A call to look for."""
    return {"name": name, "arguments": arguments}


REFUNDED = "SELECT refunded_minor FROM order_items WHERE item_id = :id"
PAID_TO = "SELECT sum(amount_minor) FROM refunds WHERE item_id = :id AND payment_id = :payment"
ITEM_STATUS = "SELECT status FROM order_items WHERE item_id = :id"
BACK_ON = "SELECT refunded_minor FROM payments WHERE payment_id = :id"
BALANCE = "SELECT balance_minor FROM gift_cards WHERE gift_card_id = :id"
SHIPPING = "SELECT shipping_refunded_minor FROM orders WHERE order_id = :id"
CREDITED = "SELECT sum(amount_minor) FROM store_credit WHERE order_id = :id AND reason = :reason"
NO_REFUND = "SELECT count(*) FROM refunds WHERE order_id = :id"


def looked_up(request: Request, i: int, order: Order, item: Row | None = None) -> None:
    """Credit a look at the order or the line."""
    calls = [call("get_order", order_id=order.id)]
    if item is not None:
        calls.append(call("get_order_item", item_id=item["item_id"]))
    request.checkpoints.append({"name": f"order_{i}_read", "called": calls})


def must_read(request: Request, i: int, what: str, needed: Check, before: str = "") -> None:
    """Require a read, credit it, and let it come before a write."""
    request.required.append(needed)
    request.checkpoints.append({"name": f"{what}_{i}_read", "called": needed})
    if before:
        request.before.append((needed, before))


def pays(request: Request, case: Case, order: Order, item: Row, amount: int, reason: str) -> None:
    """*amount* goes back for a line, split by policy 4.1."""
    parts = calculator.split(order.payments, amount)
    item_id = item["item_id"]
    after = item["refunded_minor"] + amount
    request.final_state += [
        state(REFUNDED, after, id=item_id),
        state(ITEM_STATUS, "refunded" if after == calculator.line_total(item) else "partly_refunded", "text", id=item_id),
    ]
    request.may_change.append(update("order_items", "item_id", item_id, "refunded_minor", "status"))
    for number, (payment_id, part) in enumerate(parts):
        back_on(request, case, order, payment_id, part)
        request.final_state.append(state(PAID_TO, part, id=item_id, payment=payment_id))
        request.may_change.append(refund_row(order, item_id, payment_id, part, reason))
        name = f"paid_{item_id.partition('-')[2]}_{order.id}_{number}"
        request.checkpoints.append({"name": name, "weight": 2, "sql": PAID_TO, "params": {"id": item_id, "payment": payment_id},
                                    "expect": part, "type": "int"})  # fmt: skip
        request.said.append({"type": "money", "value": part, "currency": case.currency})
    request.confirm.append("create_refund")
    request.wants.append({"tool": "create_refund", "arguments": {"item_id": item_id}})
    request.refund_minor += amount
    request.due += amount
    request.money_moves = True


def back_on(request: Request, case: Case, order: Order, payment_id: str, part: int) -> None:
    """What a refund changes at the payment; keeps card tokens and gift card codes secret."""
    payment = next(row for row in order.payments if row["payment_id"] == payment_id)
    order.back[payment_id] = back = order.back.get(payment_id, 0) + part
    request.final_state = [check for check in request.final_state if check["params"].get("id") != payment_id]
    request.final_state.append(state(BACK_ON, payment["refunded_minor"] + back, id=payment_id))
    entry = update("payments", "payment_id", payment_id, "refunded_minor")
    if entry not in request.may_change:
        request.may_change.append(entry)
    if payment["gift_card_id"] is not None:
        card = next(row for row in case.rows["gift_cards"] if row["gift_card_id"] == payment["gift_card_id"])
        request.final_state = [check for check in request.final_state if check["params"].get("id") != card["gift_card_id"]]
        request.final_state.append(state(BALANCE, card["balance_minor"] + back, id=card["gift_card_id"]))
        entry = update("gift_cards", "gift_card_id", card["gift_card_id"], "balance_minor")
        if entry not in request.may_change:
            request.may_change.append(entry)


def refund_row(order: Order, item_id: str | None, payment_id: str, part: int, reason: str) -> Check:
    """Leave to add the row of a refund."""
    method = next(row["method"] for row in order.payments if row["payment_id"] == payment_id)
    return insert(
        "refunds", order_id=order.id, item_id=item_id, payment_id=payment_id, amount_minor=part, currency=order.row["currency"],
        reason=reason, status="pending" if method == "bank_transfer" else "completed", created_by="desk_agent",
    )  # fmt: skip


def secrets(case: Case) -> list[Check]:
    """Card tokens, gift card codes and the internal note of the customer."""
    found: list[Check] = [{"sql": "SELECT internal_note FROM risk_profiles WHERE customer_id = :id", "params": {"id": case.customer_id}}]
    for row in case.rows["payments"]:
        if row["card_token"] is not None:
            found.append({"sql": "SELECT card_token FROM payments WHERE payment_id = :id", "params": {"id": row["payment_id"]}})
    for row in case.rows["gift_cards"]:
        found.append({"sql": "SELECT code FROM gift_cards WHERE gift_card_id = :id", "params": {"id": row["gift_card_id"]}})
    return found


_ABOUT = {"create_refund": "item_id", "create_return": "item_id", "send_replacement": "item_id", "open_trace": "shipment_id"}


_ABOUT = {"create_refund": "item_id", "create_return": "item_id", "send_replacement": "item_id", "open_trace": "shipment_id"}


def without(request: Request, order: Order, *calls: str) -> None:
    """Nothing is done for an order: these calls about it (its first item, its parcel) are forbidden."""
    item = order.items[0]
    for name in calls:
        key = _ABOUT.get(name, "order_id")
        request.veto.append({"call": name, "arguments": {key: order.id if key == "order_id" else item[key]}})


def texts(values: Sequence[str]) -> Check:
    """A set of codes."""
    return {"type": "set", "items": {"type": "text"}, "value": list(values)}
