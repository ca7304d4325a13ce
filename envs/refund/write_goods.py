"""Tools that write: goods."""

from typing import Annotated, Literal

from agentgym.envs.refund.desk import Json, Key, Reason, bound, one_item, one_order, one_return, own
from agentgym.envs.refund.write_money import pay_back
from agentgym.tools import Range, ToolError, tool
from agentgym.world import World


@tool(writes=True, latency_ms=350, owners=own("item_id"), idempotency="idempotency_key")
def create_return(
    world: World,
    item_id: str,
    quantity: Annotated[int, Range(1, 1000)],
    reason: Reason,
    label: Literal["shop", "customer"],
    idempotency_key: Key | None = None,
) -> Json:
    """Register a return of an order item and send the customer the instructions.

    Args:
        item_id: e.g. "A9001-2"
        quantity: units that come back, e.g. 1
        reason: why
        label: who pays the return parcel
        idempotency_key: any text of yours; a repeated key returns the first result

    Raises:
        ToolError: no such item, not delivered, more units than are not yet in a return
    """
    item = one_item(world, item_id)
    if item["status"] not in ("delivered", "partly_refunded", "refunded"):
        raise ToolError(f"item {item_id} is {item['status']}; only delivered goods can come back")
    taken = world.value(
        "SELECT coalesce(sum(quantity), 0) FROM returns WHERE item_id = ? AND status != 'cancelled'", item_id
    )
    bound("quantity", quantity, item["quantity"] - taken, f"item {item_id}")
    row = {
        "return_id": world.next_id("R"),
        "item_id": item_id,
        "quantity": quantity,
        "reason": reason,
        "label": label,
        "status": "open",
        "created_at": world.now,
    }
    world.insert("returns", row)
    return row


@tool(writes=True, latency_ms=200, owners=own("return_id"))
def cancel_return(world: World, return_id: str) -> Json:
    """Cancel a return that the customer has not sent yet.

    Args:
        return_id: e.g. "R9001"

    Raises:
        ToolError: no such return, or it is no longer open
    """
    found = one_return(world, return_id)
    if found["status"] != "open":
        raise ToolError(f"return {return_id} is {found['status']}; only an open return can be cancelled")
    world.execute("UPDATE returns SET status = 'cancelled' WHERE return_id = ?", return_id)
    return {**found, "status": "cancelled"}


@tool(writes=True, latency_ms=400, owners=own("item_id"), idempotency="idempotency_key")
def send_replacement(
    world: World,
    item_id: str,
    quantity: Annotated[int, Range(1, 1000)],
    reason: Literal["damaged", "defective", "wrong_item", "not_received"],
    idempotency_key: Key | None = None,
) -> Json:
    """Send the same product again at no charge. Cannot be undone.

    Args:
        item_id: e.g. "A9001-2"
        quantity: units to send, e.g. 1
        reason: why
        idempotency_key: any text of yours; a repeated key returns the first result

    Raises:
        ToolError: no such item, more units than ordered and not yet replaced, not enough in stock
    """
    item = one_item(world, item_id)
    sent = world.value("SELECT coalesce(sum(quantity), 0) FROM replacements WHERE item_id = ?", item_id)
    bound("quantity", quantity, item["quantity"] - sent, f"item {item_id}")
    stock = world.value("SELECT stock FROM products WHERE product_id = ?", item["product_id"])
    bound("quantity", quantity, stock, f"the stock of product {item['product_id']}")
    row = {
        "replacement_id": world.next_id("RP"),
        "item_id": item_id,
        "quantity": quantity,
        "reason": reason,
        "created_at": world.now,
    }
    world.insert("replacements", row)
    world.execute("UPDATE products SET stock = stock - ? WHERE product_id = ?", quantity, item["product_id"])
    return row


@tool(writes=True, latency_ms=450, owners=own("order_id"))
def cancel_order(world: World, order_id: str) -> Json:
    """Cancel an order, whatever its status, and pay back everything that was paid. Cannot be undone.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order, or it is cancelled already
    """
    order = one_order(world, order_id)
    if order["status"] == "cancelled":
        raise ToolError(f"order {order_id} is cancelled already; list_refunds shows what was paid back")
    payments = world.rows("SELECT * FROM payments WHERE order_id = ? ORDER BY payment_id", order_id)
    paid_back = 0
    for payment in payments:
        left = payment["amount_minor"] - payment["refunded_minor"]
        if payment["status"] == "captured" and left > 0:
            pay_back(world, payment, left, None, "cancelled")
            paid_back += left
    world.execute("UPDATE order_items SET status = 'cancelled' WHERE order_id = ?", order_id)
    world.execute("UPDATE orders SET status = 'cancelled' WHERE order_id = ?", order_id)
    return {"order_id": order_id, "status": "cancelled", "refunded_minor": paid_back, "currency": order["currency"]}
