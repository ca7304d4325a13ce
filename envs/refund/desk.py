"""What the tools of the refund desk share: types of arguments, whose a thing is, rows that must be there."""

from typing import Annotated, Any, Literal

from agentgym.tools import Length, Range, ToolError, shown
from agentgym.world import World

Json = dict[str, Any]
Key = Annotated[str, Length(1, 64)]
Money = Annotated[int, Range(1, 1_000_000_000)]
Text = Annotated[str, Length(1, 500)]
Kind = Literal["signature", "outer_packaging", "inner_goods"]
Reason = Literal["change_of_mind", "damaged", "defective", "wrong_item", "not_received"]

_ITEMS = "SELECT o.customer_id FROM order_items i JOIN orders o USING (order_id)"
OWNER = {
    "customer_id": "SELECT customer_id FROM customers WHERE customer_id = :value",
    "order_id": "SELECT customer_id FROM orders WHERE order_id = :value",
    "item_id": f"{_ITEMS} WHERE i.item_id = :value",
    "payment_id": "SELECT o.customer_id FROM payments p JOIN orders o USING (order_id) WHERE p.payment_id = :value",
    "shipment_id": "SELECT o.customer_id FROM shipments s JOIN orders o USING (order_id) WHERE s.shipment_id = :value",
    "return_id": f"{_ITEMS} JOIN returns r USING (item_id) WHERE r.return_id = :value",
    "evidence_id": f"{_ITEMS} JOIN evidence e USING (item_id) WHERE e.evidence_id = :value",
    "gift_card_id": "SELECT customer_id FROM gift_cards WHERE gift_card_id = :value",
    "ticket_id": "SELECT customer_id FROM tickets WHERE ticket_id = :value",
}
"""Argument name → the customer to whom the thing belongs."""


def own(*names: str) -> dict[str, str]:
    """The owners of arguments of these names."""
    return {name: OWNER[name] for name in names}


def existing(row: Json | None, noun: str, value: str, hint: str) -> Json:
    """The row, or an error that says what there is none of and where to look."""
    if row is None:
        raise ToolError(f"there is no {noun} {shown(value)}; {hint}")
    return row


def one_customer(world: World, customer_id: str) -> Json:
    """The customer of this id."""
    row = world.row("SELECT * FROM customers WHERE customer_id = ?", customer_id)
    return existing(row, "customer", customer_id, "find_customer searches by email, name or phone")


def one_order(world: World, order_id: str) -> Json:
    """The order of this id."""
    row = world.row("SELECT * FROM orders WHERE order_id = ?", order_id)
    return existing(row, "order", order_id, "find_orders lists the orders of a customer")


def one_item(world: World, item_id: str) -> Json:
    """The line of an order of this id."""
    row = world.row("SELECT * FROM order_items WHERE item_id = ?", item_id)
    return existing(row, "order item", item_id, 'get_order lists the items of an order, such as "A9001-1"')


def one_payment(world: World, payment_id: str) -> Json:
    """The payment of this id."""
    row = world.row("SELECT * FROM payments WHERE payment_id = ?", payment_id)
    return existing(row, "payment", payment_id, "list_payments lists the payments of an order")


def one_shipment(world: World, shipment_id: str) -> Json:
    """The shipment of this id."""
    row = world.row("SELECT * FROM shipments WHERE shipment_id = ?", shipment_id)
    return existing(row, "shipment", shipment_id, "list_shipments lists the shipments of an order")


def one_return(world: World, return_id: str) -> Json:
    """The return of this id."""
    row = world.row("SELECT * FROM returns WHERE return_id = ?", return_id)
    return existing(row, "return", return_id, "list_returns lists the returns of an order")


def one_ticket(world: World, ticket_id: str) -> Json:
    """The ticket of this id."""
    row = world.row("SELECT * FROM tickets WHERE ticket_id = ?", ticket_id)
    return existing(row, "ticket", ticket_id, "find_tickets lists the tickets of a customer")


def bound(name: str, value: int, most: int, why: str) -> None:
    """Refuse a number above what is left."""
    if most < 1:
        raise ToolError(f"{name} {value} is not possible: {why} has nothing left")
    if value > most:
        raise ToolError(f"{name} must be in 1..{most}, got {value}: that is what {why} has left")


def line_left(item: Json) -> int:
    """What of a line was not paid back yet, in minor units."""
    return int(item["unit_price_minor"] * item["quantity"] - item["discount_minor"] - item["refunded_minor"])
