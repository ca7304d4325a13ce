"""Tools that write: money."""

from typing import Literal

from agentgym.envs.refund.desk import Json, Key, Money, Reason, bound, line_left, one_item, one_order, one_payment, own
from agentgym.tools import ToolError, tool
from agentgym.world import World


def pay_back(world: World, payment: Json, amount: int, item_id: str | None, reason: str) -> Json:
    """Move *amount* back to where *payment* came from and write the refund."""
    refund_id = world.next_id("RF")
    status = "pending" if payment["method"] == "bank_transfer" else "completed"
    row = {
        "refund_id": refund_id,
        "order_id": payment["order_id"],
        "item_id": item_id,
        "payment_id": payment["payment_id"],
        "amount_minor": amount,
        "currency": payment["currency"],
        "reason": reason,
        "status": status,
        "created_at": world.now,
        "created_by": "desk_agent",
    }
    world.insert("refunds", row)
    world.execute(
        "UPDATE payments SET refunded_minor = refunded_minor + ? WHERE payment_id = ?", amount, payment["payment_id"]
    )
    if payment["gift_card_id"] is not None:
        world.execute(
            "UPDATE gift_cards SET balance_minor = balance_minor + ? WHERE gift_card_id = ?",
            amount,
            payment["gift_card_id"],
        )
    if payment["method"] == "store_credit":
        _credit(world, one_order(world, payment["order_id"]), amount, item_id, f"refund {refund_id}")
    return row


def _credit(world: World, order: Json, amount: int, item_id: str | None, reason: str) -> Json:
    row = {
        "entry_id": world.next_id("SC"),
        "customer_id": order["customer_id"],
        "amount_minor": amount,
        "currency": order["currency"],
        "order_id": order["order_id"],
        "item_id": item_id,
        "reason": reason,
        "created_at": world.now,
    }
    world.insert("store_credit", row)
    return row


def _take_from_line(world: World, item: Json, amount: int) -> None:
    status = "refunded" if amount == line_left(item) else "partly_refunded"
    world.execute(
        "UPDATE order_items SET refunded_minor = refunded_minor + ?, status = ? WHERE item_id = ?",
        amount,
        status,
        item["item_id"],
    )


def _refundable(world: World, payment_id: str, order_id: str, amount: int) -> Json:
    """Return the payment if it belongs to the order and has *amount* left."""
    payment = one_payment(world, payment_id)
    if payment["order_id"] != order_id:
        raise ToolError(
            f"payment {payment_id} belongs to order {payment['order_id']}, not to {order_id}; see list_payments"
        )
    if payment["status"] != "captured":
        raise ToolError(f"payment {payment_id} is {payment['status']}; only a captured payment can be refunded")
    bound("amount_minor", amount, payment["amount_minor"] - payment["refunded_minor"], f"payment {payment_id}")
    return payment


@tool(writes=True, latency_ms=650, owners=own("item_id", "payment_id"), idempotency="idempotency_key")
def create_refund(
    world: World, item_id: str, payment_id: str, amount_minor: Money, reason: Reason, idempotency_key: Key | None = None
) -> Json:
    """Pay money for an order item back to one payment of its order. Cannot be undone.

    Args:
        item_id: the item refunded, e.g. "A9001-2"
        payment_id: the payment that the money goes back to, e.g. "PM9001"
        amount_minor: minor units of the order's currency, e.g. 1230 for EUR 12.30 or JPY 1230
        reason: why
        idempotency_key: any text of yours; a repeated key returns the first result instead of paying again

    Raises:
        ToolError: no such item or payment, payment of another order or not captured, more than line or payment has left
    """
    item = one_item(world, item_id)
    payment = _refundable(world, payment_id, item["order_id"], amount_minor)
    bound("amount_minor", amount_minor, line_left(item), f"item {item_id}")
    row = pay_back(world, payment, amount_minor, item_id, reason)
    _take_from_line(world, item, amount_minor)
    return row


@tool(writes=True, latency_ms=650, owners=own("order_id", "payment_id"), idempotency="idempotency_key")
def refund_shipping(
    world: World, order_id: str, payment_id: str, amount_minor: Money, idempotency_key: Key | None = None
) -> Json:
    """Pay the original shipping of an order back to one of its payments. Cannot be undone.

    Args:
        order_id: order number, e.g. "A9001"
        payment_id: the payment that the money goes back to, e.g. "PM9001"
        amount_minor: minor units of the order's currency, e.g. 1230 for EUR 12.30
        idempotency_key: any text of yours; a repeated key returns the first result instead of paying again

    Raises:
        ToolError: no such order or payment, payment of another order or not captured, more than there is left
    """
    order = one_order(world, order_id)
    payment = _refundable(world, payment_id, order_id, amount_minor)
    left = order["shipping_minor"] - order["shipping_refunded_minor"]
    bound("amount_minor", amount_minor, left, f"the shipping of order {order_id}")
    world.execute(
        "UPDATE orders SET shipping_refunded_minor = shipping_refunded_minor + ? WHERE order_id = ?",
        amount_minor,
        order_id,
    )
    return pay_back(world, payment, amount_minor, None, "shipping")


@tool(writes=True, latency_ms=300, owners=own("order_id", "item_id"), idempotency="idempotency_key")
def issue_store_credit(
    world: World,
    order_id: str,
    amount_minor: Money,
    reason: Literal["instead_of_refund", "late_delivery"],
    item_id: str | None = None,
    idempotency_key: Key | None = None,
) -> Json:
    """Give the customer of an order store credit in the order's currency. Cannot be undone.

    Args:
        order_id: order number, e.g. "A9001"
        amount_minor: minor units of the order's currency, e.g. 1230 for EUR 12.30 or JPY 1230
        reason: instead_of_refund needs item_id; late_delivery takes none
        item_id: the item that the credit stands for, e.g. "A9001-2"
        idempotency_key: any text of yours; a repeated key returns the first result instead of paying again

    Raises:
        ToolError: no such order or item, item of another order or missing, more than the line or order is worth
    """
    order = one_order(world, order_id)
    if (reason == "instead_of_refund") != (item_id is not None):
        raise ToolError(f"reason {reason} {'needs an item_id' if item_id is None else 'takes no item_id'}")
    if item_id is None:
        bound("amount_minor", amount_minor, order["total_minor"], f"order {order_id}")
        return _credit(world, order, amount_minor, None, reason)
    item = one_item(world, item_id)
    if item["order_id"] != order_id:
        raise ToolError(f"item {item_id} belongs to order {item['order_id']}, not to {order_id}")
    bound("amount_minor", amount_minor, line_left(item), f"item {item_id}")
    _take_from_line(world, item, amount_minor)
    return _credit(world, order, amount_minor, item_id, reason)


@tool(writes=True, latency_ms=500, owners=own("payment_id"), idempotency="idempotency_key")
def void_duplicate_charge(world: World, payment_id: str, idempotency_key: Key | None = None) -> Json:
    """Void a captured payment of an order that stays paid in full without it. Cannot be undone.

    Args:
        payment_id: the payment to void, e.g. "PM9001"
        idempotency_key: any text of yours; a repeated key returns the first result

    Raises:
        ToolError: no such payment, not captured, partly refunded, or the order would no longer be paid
    """
    payment = one_payment(world, payment_id)
    if payment["status"] != "captured":
        raise ToolError(f"payment {payment_id} is {payment['status']}; only a captured payment can be voided")
    if payment["refunded_minor"]:
        raise ToolError(f"payment {payment_id} is refunded by {payment['refunded_minor']}; it can no longer be voided")
    order = one_order(world, payment["order_id"])
    paid = world.value(
        "SELECT coalesce(sum(amount_minor), 0) FROM payments WHERE order_id = ? AND status = 'captured'",
        order["order_id"],
    )
    if paid - payment["amount_minor"] < order["total_minor"]:
        raise ToolError(
            f"order {order['order_id']} has {paid} captured for a total of {order['total_minor']}; "
            f"without payment {payment_id} it would not be paid"
        )
    world.execute("UPDATE payments SET status = 'voided' WHERE payment_id = ?", payment_id)
    return {**payment, "status": "voided"}
