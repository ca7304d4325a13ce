"""Tools that read: orders, goods, money."""

from typing import Annotated

from agentgym.envs.refund.desk import Json, existing, one_customer, one_item, one_order, one_payment, one_return, own
from agentgym.tools import Length, ToolError, tool
from agentgym.world import World


@tool(latency_ms=140, owners=own("customer_id"))
def find_orders(
    world: World,
    customer_id: str,
    placed_from: Annotated[str, Length(10, 20)] = "2000-01-01",
    placed_to: Annotated[str, Length(10, 20)] = "2099-12-31",
) -> Json:
    """List a customer's orders, oldest first.

    Args:
        customer_id: e.g. "C9001"
        placed_from: first day, e.g. "2026-01-01"
        placed_to: last day, e.g. "2026-01-31"

    Raises:
        ToolError: no such customer
    """
    one_customer(world, customer_id)
    found = world.rows(
        "SELECT order_id, placed_at, status, currency, total_minor FROM orders WHERE customer_id = ? "
        "AND substr(placed_at, 1, 10) BETWEEN ? AND ? ORDER BY placed_at, order_id",
        customer_id,
        placed_from[:10],
        placed_to[:10],
    )
    return {"customer_id": customer_id, "orders": found}


@tool(latency_ms=120, owners=own("order_id"))
def get_order(world: World, order_id: str) -> Json:
    """Return an order: customer, status, currency, coupon, shipping and total in minor units, and its items.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    order = one_order(world, order_id)
    items = world.rows(
        "SELECT i.item_id, i.product_id, p.name, i.quantity FROM order_items i JOIN products p USING (product_id) "
        "WHERE i.order_id = ? ORDER BY i.item_id",
        order_id,
    )
    return {**order, "items": items}


@tool(latency_ms=90, owners=own("item_id"))
def get_order_item(world: World, item_id: str) -> Json:
    """Return one line of an order: product, shipment, price per unit, line discount, refunded so far, status.

    Args:
        item_id: order number, dash, line, e.g. "A9001-2"

    Raises:
        ToolError: no such item
    """
    return one_item(world, item_id)


@tool(latency_ms=60)
def get_product(world: World, product_id: str) -> Json:
    """Return a product: name, category, list price, supplier if any, stock.

    Args:
        product_id: e.g. "P901"

    Raises:
        ToolError: no such product
    """
    row = world.row("SELECT * FROM products WHERE product_id = ?", product_id)
    return existing(row, "product", product_id, "get_order names the products of an order")


@tool(latency_ms=160, owners=own("order_id"))
def list_payments(world: World, order_id: str) -> Json:
    """List the payments of an order, oldest first: method, amount, refunded so far, status.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    one_order(world, order_id)
    found = world.rows(
        "SELECT payment_id, method, amount_minor, refunded_minor, currency, status, created_at FROM payments "
        "WHERE order_id = ? ORDER BY created_at, payment_id",
        order_id,
    )
    return {"order_id": order_id, "payments": found}


@tool(latency_ms=160, owners=own("payment_id"))
def get_payment(world: World, payment_id: str) -> Json:
    """Return everything stored on a payment, card token included. Staff only.

    Args:
        payment_id: e.g. "PM9001"

    Raises:
        ToolError: no such payment
    """
    return one_payment(world, payment_id)


@tool(latency_ms=130, owners=own("gift_card_id"))
def get_gift_card(world: World, gift_card_id: str) -> Json:
    """Return a gift card: code, initial amount and balance in minor units, expiry. Staff only.

    Args:
        gift_card_id: e.g. "G9001"

    Raises:
        ToolError: no such gift card
    """
    row = world.row("SELECT * FROM gift_cards WHERE gift_card_id = ?", gift_card_id)
    return existing(row, "gift card", gift_card_id, "get_payment names the gift card of a payment")


@tool(latency_ms=130, owners=own("order_id", "customer_id"))
def list_refunds(world: World, order_id: str | None = None, customer_id: str | None = None) -> Json:
    """List refunds of one order or of all orders of a customer, oldest first.

    Args:
        order_id: order number, e.g. "A9001"
        customer_id: e.g. "C9001"

    Raises:
        ToolError: not exactly one of both given; no such order or customer
    """
    if (order_id is None) == (customer_id is None):
        raise ToolError("list_refunds needs exactly one of order_id and customer_id")
    if order_id is not None:
        one_order(world, order_id)
        where, value = "r.order_id = ?", order_id
    else:
        one_customer(world, customer_id or "")
        where, value = "o.customer_id = ?", customer_id or ""
    found = world.rows(
        "SELECT r.refund_id, r.order_id, r.item_id, r.payment_id, r.amount_minor, r.currency, r.reason, r.status, "
        f"r.created_at FROM refunds r JOIN orders o USING (order_id) WHERE {where} ORDER BY r.created_at, r.refund_id",
        value,
    )
    return {"refunds": found}


@tool(latency_ms=130, owners=own("order_id"))
def list_returns(world: World, order_id: str) -> Json:
    """List the returns of an order, oldest first; get_return has what the inspection found.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    one_order(world, order_id)
    found = world.rows(
        "SELECT r.return_id, r.item_id, r.quantity, r.status, r.created_at "
        "FROM returns r JOIN order_items i USING (item_id) WHERE i.order_id = ? ORDER BY r.created_at, r.return_id",
        order_id,
    )
    return {"order_id": order_id, "returns": found}


@tool(latency_ms=110, owners=own("return_id"))
def get_return(world: World, return_id: str) -> Json:
    """Return one return: reason, who paid the label, status, condition and note of the inspection.

    Args:
        return_id: e.g. "R9001"

    Raises:
        ToolError: no such return
    """
    return one_return(world, return_id)
