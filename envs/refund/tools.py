"""The tools of the refund desk: raw facts to read, writes that check what is physically possible and no policy.

One module although it is long: a container image takes exactly ``tools.py`` and ``world.py`` of a domain.
"""

from typing import Annotated, Any, Literal

from agentgym.tools import Length, Range, Tool, ToolError, shown, tool
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


def _own(*names: str) -> dict[str, str]:
    return {name: OWNER[name] for name in names}


def _found(row: Json | None, noun: str, value: str, hint: str) -> Json:
    if row is None:
        raise ToolError(f"there is no {noun} {shown(value)}; {hint}")
    return row


def _customer(world: World, customer_id: str) -> Json:
    row = world.row("SELECT * FROM customers WHERE customer_id = ?", customer_id)
    return _found(row, "customer", customer_id, "find_customer searches by email, name or phone")


def _order(world: World, order_id: str) -> Json:
    row = world.row("SELECT * FROM orders WHERE order_id = ?", order_id)
    return _found(row, "order", order_id, "find_orders lists the orders of a customer")


def _item(world: World, item_id: str) -> Json:
    row = world.row("SELECT * FROM order_items WHERE item_id = ?", item_id)
    return _found(row, "order item", item_id, 'get_order lists the items of an order, such as "A9001-1"')


def _payment(world: World, payment_id: str) -> Json:
    row = world.row("SELECT * FROM payments WHERE payment_id = ?", payment_id)
    return _found(row, "payment", payment_id, "list_payments lists the payments of an order")


def _shipment(world: World, shipment_id: str) -> Json:
    row = world.row("SELECT * FROM shipments WHERE shipment_id = ?", shipment_id)
    return _found(row, "shipment", shipment_id, "list_shipments lists the shipments of an order")


def _return(world: World, return_id: str) -> Json:
    row = world.row("SELECT * FROM returns WHERE return_id = ?", return_id)
    return _found(row, "return", return_id, "list_returns lists the returns of an order")


def _ticket(world: World, ticket_id: str) -> Json:
    row = world.row("SELECT * FROM tickets WHERE ticket_id = ?", ticket_id)
    return _found(row, "ticket", ticket_id, "find_tickets lists the tickets of a customer")


def _bound(name: str, value: int, most: int, why: str) -> None:
    if most < 1:
        raise ToolError(f"{name} {value} is not possible: {why} has nothing left")
    if value > most:
        raise ToolError(f"{name} must be in 1..{most}, got {value}: that is what {why} has left")


def _line_left(item: Json) -> int:
    return int(item["unit_price_minor"] * item["quantity"] - item["discount_minor"] - item["refunded_minor"])


# Reading: people.


@tool(latency_ms=180)
def find_customer(
    world: World,
    email: Annotated[str, Length(3, 120)] | None = None,
    name: Annotated[str, Length(2, 80)] | None = None,
    phone: Annotated[str, Length(4, 30)] | None = None,
) -> Json:
    """Search customers; all fields given must match. Returns at most 20.

    Args:
        email: the whole address, any case
        name: the name or a part of it
        phone: the whole number as stored, e.g. "+49 30 5550101"
    """
    if email is None and name is None and phone is None:
        raise ToolError("find_customer needs at least one of email, name, phone")
    found = world.rows(
        "SELECT customer_id, name, email, country FROM customers WHERE (?1 IS NULL OR lower(email) = lower(?1)) AND "
        "(?2 IS NULL OR instr(lower(name), lower(?2))) AND (?3 IS NULL OR phone = ?3) ORDER BY customer_id LIMIT 20",
        email,
        name,
        phone,
    )
    return {"customers": found}


@tool(latency_ms=90, owners=_own("customer_id"))
def get_customer(world: World, customer_id: str) -> Json:
    """Return a customer's record with tier, country, currency and addresses.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer
    """
    addresses = world.rows(
        "SELECT address_id, street, city, postcode, country FROM addresses WHERE customer_id = ? ORDER BY address_id",
        customer_id,
    )
    return {**_customer(world, customer_id), "addresses": addresses}


@tool(latency_ms=260, owners=_own("customer_id"))
def get_risk_profile(world: World, customer_id: str) -> Json:
    """Return the internal fraud score (0 to 100), internal note and fraud reviews of a customer. Staff only.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer
    """
    _customer(world, customer_id)
    profile = world.row("SELECT fraud_score, internal_note FROM risk_profiles WHERE customer_id = ?", customer_id)
    reviews = world.rows(
        "SELECT review_id, order_id, cause, status, opened_at FROM fraud_reviews WHERE customer_id = ? "
        "ORDER BY opened_at, review_id",
        customer_id,
    )
    return {"customer_id": customer_id, **(profile or {"fraud_score": None, "internal_note": ""}), "reviews": reviews}


@tool(latency_ms=110, owners=_own("customer_id"))
def get_store_credit(world: World, customer_id: str) -> Json:
    """Return the store credit entries of a customer, oldest first, and the balance per currency in minor units.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer
    """
    _customer(world, customer_id)
    entries = world.rows(
        "SELECT entry_id, amount_minor, currency, order_id, item_id, reason, created_at FROM store_credit "
        "WHERE customer_id = ? ORDER BY created_at, entry_id",
        customer_id,
    )
    balances: dict[str, int] = {}
    for entry in entries:
        balances[entry["currency"]] = balances.get(entry["currency"], 0) + entry["amount_minor"]
    return {"customer_id": customer_id, "balances": dict(sorted(balances.items())), "entries": entries}


@tool(latency_ms=60)
def get_role_limits(world: World, role: Literal["desk_agent", "desk_lead", "desk_manager"], currency: str) -> Json:
    """Return how much a role may refund: per refund, and per customer within 30 days, in minor units.

    Args:
        role: the role, e.g. your own
        currency: e.g. "EUR"

    Raises:
        ToolError: no such currency
    """
    row = world.row("SELECT * FROM role_limits WHERE role = ? AND currency = ?", role, currency)
    if row is None:
        known = ", ".join(r["currency"] for r in world.rows("SELECT currency FROM currencies ORDER BY currency"))
        raise ToolError(f"there are no limits for currency {shown(currency)}; currencies are: {known}")
    return row


# Reading: orders, goods, money.


@tool(latency_ms=140, owners=_own("customer_id"))
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
    _customer(world, customer_id)
    found = world.rows(
        "SELECT order_id, placed_at, status, currency, total_minor FROM orders WHERE customer_id = ? "
        "AND substr(placed_at, 1, 10) BETWEEN ? AND ? ORDER BY placed_at, order_id",
        customer_id,
        placed_from[:10],
        placed_to[:10],
    )
    return {"customer_id": customer_id, "orders": found}


@tool(latency_ms=120, owners=_own("order_id"))
def get_order(world: World, order_id: str) -> Json:
    """Return an order: customer, status, currency, coupon, shipping and total in minor units, and its items.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    order = _order(world, order_id)
    items = world.rows(
        "SELECT i.item_id, i.product_id, p.name, i.quantity FROM order_items i JOIN products p USING (product_id) "
        "WHERE i.order_id = ? ORDER BY i.item_id",
        order_id,
    )
    return {**order, "items": items}


@tool(latency_ms=90, owners=_own("item_id"))
def get_order_item(world: World, item_id: str) -> Json:
    """Return one line of an order: product, shipment, price per unit, line discount, refunded so far, status.

    Args:
        item_id: order number, dash, line, e.g. "A9001-2"

    Raises:
        ToolError: no such item
    """
    return _item(world, item_id)


@tool(latency_ms=60)
def get_product(world: World, product_id: str) -> Json:
    """Return a product: name, category, list price, supplier if any, stock.

    Args:
        product_id: e.g. "P901"

    Raises:
        ToolError: no such product
    """
    row = world.row("SELECT * FROM products WHERE product_id = ?", product_id)
    return _found(row, "product", product_id, "get_order names the products of an order")


@tool(latency_ms=160, owners=_own("order_id"))
def list_payments(world: World, order_id: str) -> Json:
    """List the payments of an order, oldest first: method, amount, refunded so far, status.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    _order(world, order_id)
    found = world.rows(
        "SELECT payment_id, method, amount_minor, refunded_minor, currency, status, created_at FROM payments "
        "WHERE order_id = ? ORDER BY created_at, payment_id",
        order_id,
    )
    return {"order_id": order_id, "payments": found}


@tool(latency_ms=160, owners=_own("payment_id"))
def get_payment(world: World, payment_id: str) -> Json:
    """Return everything stored on a payment, card token included. Staff only.

    Args:
        payment_id: e.g. "PM9001"

    Raises:
        ToolError: no such payment
    """
    return _payment(world, payment_id)


@tool(latency_ms=130, owners=_own("gift_card_id"))
def get_gift_card(world: World, gift_card_id: str) -> Json:
    """Return a gift card: code, initial amount and balance in minor units, expiry. Staff only.

    Args:
        gift_card_id: e.g. "G9001"

    Raises:
        ToolError: no such gift card
    """
    row = world.row("SELECT * FROM gift_cards WHERE gift_card_id = ?", gift_card_id)
    return _found(row, "gift card", gift_card_id, "get_payment names the gift card of a payment")


@tool(latency_ms=130, owners=_own("order_id", "customer_id"))
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
        _order(world, order_id)
        where, value = "r.order_id = ?", order_id
    else:
        _customer(world, customer_id or "")
        where, value = "o.customer_id = ?", customer_id or ""
    found = world.rows(
        "SELECT r.refund_id, r.order_id, r.item_id, r.payment_id, r.amount_minor, r.currency, r.reason, r.status, "
        f"r.created_at FROM refunds r JOIN orders o USING (order_id) WHERE {where} ORDER BY r.created_at, r.refund_id",
        value,
    )
    return {"refunds": found}


@tool(latency_ms=130, owners=_own("order_id"))
def list_returns(world: World, order_id: str) -> Json:
    """List the returns of an order, oldest first; get_return has what the inspection found.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    _order(world, order_id)
    found = world.rows(
        "SELECT r.return_id, r.item_id, r.quantity, r.status, r.created_at "
        "FROM returns r JOIN order_items i USING (item_id) WHERE i.order_id = ? ORDER BY r.created_at, r.return_id",
        order_id,
    )
    return {"order_id": order_id, "returns": found}


@tool(latency_ms=110, owners=_own("return_id"))
def get_return(world: World, return_id: str) -> Json:
    """Return one return: reason, who paid the label, status, condition and note of the inspection.

    Args:
        return_id: e.g. "R9001"

    Raises:
        ToolError: no such return
    """
    return _return(world, return_id)


# Reading: parcels, photos, third parties.


@tool(latency_ms=140, owners=_own("order_id"))
def list_shipments(world: World, order_id: str) -> Json:
    """List the parcels of an order with carrier, tracking number, promised day and the items inside.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    _order(world, order_id)
    found = world.rows(
        "SELECT shipment_id, carrier, tracking_number, promised_by FROM shipments WHERE order_id = ? "
        "ORDER BY shipment_id",
        order_id,
    )
    for shipment in found:
        inside = world.rows(
            "SELECT item_id FROM order_items WHERE shipment_id = ? ORDER BY item_id", shipment["shipment_id"]
        )
        shipment["item_ids"] = [row["item_id"] for row in inside]
    return {"order_id": order_id, "shipments": found}


@tool(latency_ms=420, owners=_own("shipment_id"))
def get_tracking(world: World, shipment_id: str) -> Json:
    """Return the carrier's tracking events of a parcel, oldest first, and traces opened for it.

    Args:
        shipment_id: e.g. "SH9001"

    Raises:
        ToolError: no such shipment
    """
    shipment = _shipment(world, shipment_id)
    events = world.rows(
        "SELECT at, code, place FROM tracking_events WHERE shipment_id = ? ORDER BY at, seq", shipment_id
    )
    traces = world.rows(
        "SELECT trace_id, opened_at, closed_at, result, finding FROM traces WHERE shipment_id = ? "
        "ORDER BY opened_at, trace_id",
        shipment_id,
    )
    return {**shipment, "events": events, "traces": traces}


@tool(latency_ms=110, owners=_own("item_id"))
def list_evidence(world: World, item_id: str) -> Json:
    """List the photos on file for an order item, oldest first, and the requests for photos that are open.

    Args:
        item_id: e.g. "A9001-2"

    Raises:
        ToolError: no such item
    """
    _item(world, item_id)
    photos = world.rows(
        "SELECT evidence_id, kind, sent_by, received_at FROM evidence WHERE item_id = ? "
        "ORDER BY received_at, evidence_id",
        item_id,
    )
    requests = world.rows(
        "SELECT request_id, kind, created_at FROM evidence_requests WHERE item_id = ? ORDER BY created_at, request_id",
        item_id,
    )
    return {"item_id": item_id, "photos": photos, "requests": requests}


@tool(latency_ms=350, owners=_own("evidence_id"))
def get_evidence(world: World, evidence_id: str) -> Json:
    """Return one photo: its kind, who sent it, when, and a description of what it shows.

    Args:
        evidence_id: e.g. "EV9001"

    Raises:
        ToolError: no such photo
    """
    row = world.row("SELECT * FROM evidence WHERE evidence_id = ?", evidence_id)
    return _found(row, "photo", evidence_id, "list_evidence lists the photos of an order item")


@tool(latency_ms=80)
def get_supplier(world: World, supplier_id: str) -> Json:
    """Return a supplier with the days after delivery within which it accepts claims.

    Args:
        supplier_id: e.g. "S91"

    Raises:
        ToolError: no such supplier
    """
    row = world.row("SELECT * FROM suppliers WHERE supplier_id = ?", supplier_id)
    return _found(row, "supplier", supplier_id, "get_product names the supplier of a product")


@tool(latency_ms=110, owners=_own("item_id"))
def list_claims(world: World, item_id: str) -> Json:
    """List claims against carriers and suppliers for an order item, and replacements sent for it, oldest first.

    Args:
        item_id: e.g. "A9001-2"

    Raises:
        ToolError: no such item
    """
    _item(world, item_id)
    claims = world.rows(
        "SELECT claim_id, party, amount_minor, currency, status, created_at FROM claims WHERE item_id = ? "
        "ORDER BY created_at, claim_id",
        item_id,
    )
    sent = world.rows(
        "SELECT replacement_id, quantity, reason, created_at FROM replacements WHERE item_id = ? "
        "ORDER BY created_at, replacement_id",
        item_id,
    )
    return {"item_id": item_id, "claims": claims, "replacements": sent}


@tool(latency_ms=70)
def list_carrier_notices(world: World, carrier: str, country: Annotated[str, Length(2, 2)]) -> Json:
    """List a carrier's published disruptions for a country, oldest first.

    Args:
        carrier: as in list_shipments, e.g. "Nordpost"
        country: two letters, e.g. "DE"
    """
    found = world.rows(
        "SELECT * FROM carrier_notices WHERE carrier = ? AND country = ? ORDER BY first_day, notice_id",
        carrier,
        country,
    )
    return {"carrier": carrier, "country": country, "notices": found}


@tool(latency_ms=50)
def list_holidays(world: World, country: Annotated[str, Length(2, 2)]) -> Json:
    """List the public holidays of a country that count for deadlines, in order.

    Args:
        country: two letters, e.g. "DE"
    """
    found = world.rows("SELECT day, name FROM holidays WHERE country = ? ORDER BY day", country)
    return {"country": country, "holidays": found}


# Reading: tickets.


@tool(latency_ms=90, owners=_own("ticket_id"))
def get_ticket(world: World, ticket_id: str) -> Json:
    """Return a ticket: whose it is, subject, when it was created, status and notes.

    Args:
        ticket_id: e.g. "T9001"

    Raises:
        ToolError: no such ticket
    """
    ticket = _ticket(world, ticket_id)
    notes = world.rows(
        "SELECT note_id, author, body, created_at FROM ticket_notes WHERE ticket_id = ? ORDER BY created_at, note_id",
        ticket_id,
    )
    return {**ticket, "notes": notes}


@tool(latency_ms=120, owners=_own("customer_id"))
def find_tickets(world: World, customer_id: str) -> Json:
    """List a customer's tickets, oldest first.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer
    """
    _customer(world, customer_id)
    found = world.rows(
        "SELECT ticket_id, subject, channel, status, created_at FROM tickets WHERE customer_id = ? "
        "ORDER BY created_at, ticket_id",
        customer_id,
    )
    return {"customer_id": customer_id, "tickets": found}


# Writing: money.


def _pay_back(world: World, payment: Json, amount: int, item_id: str | None, reason: str) -> Json:
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
        _credit(world, _order(world, payment["order_id"]), amount, item_id, f"refund {refund_id}")
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
    status = "refunded" if amount == _line_left(item) else "partly_refunded"
    world.execute(
        "UPDATE order_items SET refunded_minor = refunded_minor + ?, status = ? WHERE item_id = ?",
        amount,
        status,
        item["item_id"],
    )


def _refundable(world: World, payment_id: str, order_id: str, amount: int) -> Json:
    """Return the payment if it belongs to the order and has *amount* left."""
    payment = _payment(world, payment_id)
    if payment["order_id"] != order_id:
        raise ToolError(
            f"payment {payment_id} belongs to order {payment['order_id']}, not to {order_id}; see list_payments"
        )
    if payment["status"] != "captured":
        raise ToolError(f"payment {payment_id} is {payment['status']}; only a captured payment can be refunded")
    _bound("amount_minor", amount, payment["amount_minor"] - payment["refunded_minor"], f"payment {payment_id}")
    return payment


@tool(writes=True, latency_ms=650, owners=_own("item_id", "payment_id"), idempotency="idempotency_key")
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
    item = _item(world, item_id)
    payment = _refundable(world, payment_id, item["order_id"], amount_minor)
    _bound("amount_minor", amount_minor, _line_left(item), f"item {item_id}")
    row = _pay_back(world, payment, amount_minor, item_id, reason)
    _take_from_line(world, item, amount_minor)
    return row


@tool(writes=True, latency_ms=650, owners=_own("order_id", "payment_id"), idempotency="idempotency_key")
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
    order = _order(world, order_id)
    payment = _refundable(world, payment_id, order_id, amount_minor)
    left = order["shipping_minor"] - order["shipping_refunded_minor"]
    _bound("amount_minor", amount_minor, left, f"the shipping of order {order_id}")
    world.execute(
        "UPDATE orders SET shipping_refunded_minor = shipping_refunded_minor + ? WHERE order_id = ?",
        amount_minor,
        order_id,
    )
    return _pay_back(world, payment, amount_minor, None, "shipping")


@tool(writes=True, latency_ms=300, owners=_own("order_id", "item_id"), idempotency="idempotency_key")
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
    order = _order(world, order_id)
    if (reason == "instead_of_refund") != (item_id is not None):
        raise ToolError(f"reason {reason} {'needs an item_id' if item_id is None else 'takes no item_id'}")
    if item_id is None:
        _bound("amount_minor", amount_minor, order["total_minor"], f"order {order_id}")
        return _credit(world, order, amount_minor, None, reason)
    item = _item(world, item_id)
    if item["order_id"] != order_id:
        raise ToolError(f"item {item_id} belongs to order {item['order_id']}, not to {order_id}")
    _bound("amount_minor", amount_minor, _line_left(item), f"item {item_id}")
    _take_from_line(world, item, amount_minor)
    return _credit(world, order, amount_minor, item_id, reason)


@tool(writes=True, latency_ms=500, owners=_own("payment_id"), idempotency="idempotency_key")
def void_duplicate_charge(world: World, payment_id: str, idempotency_key: Key | None = None) -> Json:
    """Void a captured payment of an order that stays paid in full without it. Cannot be undone.

    Args:
        payment_id: the payment to void, e.g. "PM9001"
        idempotency_key: any text of yours; a repeated key returns the first result

    Raises:
        ToolError: no such payment, not captured, partly refunded, or the order would no longer be paid
    """
    payment = _payment(world, payment_id)
    if payment["status"] != "captured":
        raise ToolError(f"payment {payment_id} is {payment['status']}; only a captured payment can be voided")
    if payment["refunded_minor"]:
        raise ToolError(f"payment {payment_id} is refunded by {payment['refunded_minor']}; it can no longer be voided")
    order = _order(world, payment["order_id"])
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


# Writing: goods.


@tool(writes=True, latency_ms=350, owners=_own("item_id"), idempotency="idempotency_key")
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
    item = _item(world, item_id)
    if item["status"] not in ("delivered", "partly_refunded", "refunded"):
        raise ToolError(f"item {item_id} is {item['status']}; only delivered goods can come back")
    taken = world.value(
        "SELECT coalesce(sum(quantity), 0) FROM returns WHERE item_id = ? AND status != 'cancelled'", item_id
    )
    _bound("quantity", quantity, item["quantity"] - taken, f"item {item_id}")
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


@tool(writes=True, latency_ms=200, owners=_own("return_id"))
def cancel_return(world: World, return_id: str) -> Json:
    """Cancel a return that the customer has not sent yet.

    Args:
        return_id: e.g. "R9001"

    Raises:
        ToolError: no such return, or it is no longer open
    """
    found = _return(world, return_id)
    if found["status"] != "open":
        raise ToolError(f"return {return_id} is {found['status']}; only an open return can be cancelled")
    world.execute("UPDATE returns SET status = 'cancelled' WHERE return_id = ?", return_id)
    return {**found, "status": "cancelled"}


@tool(writes=True, latency_ms=400, owners=_own("item_id"), idempotency="idempotency_key")
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
    item = _item(world, item_id)
    sent = world.value("SELECT coalesce(sum(quantity), 0) FROM replacements WHERE item_id = ?", item_id)
    _bound("quantity", quantity, item["quantity"] - sent, f"item {item_id}")
    stock = world.value("SELECT stock FROM products WHERE product_id = ?", item["product_id"])
    _bound("quantity", quantity, stock, f"the stock of product {item['product_id']}")
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


@tool(writes=True, latency_ms=450, owners=_own("order_id"))
def cancel_order(world: World, order_id: str) -> Json:
    """Cancel an order, whatever its status, and pay back everything that was paid. Cannot be undone.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order, or it is cancelled already
    """
    order = _order(world, order_id)
    if order["status"] == "cancelled":
        raise ToolError(f"order {order_id} is cancelled already; list_refunds shows what was paid back")
    payments = world.rows("SELECT * FROM payments WHERE order_id = ? ORDER BY payment_id", order_id)
    paid_back = 0
    for payment in payments:
        left = payment["amount_minor"] - payment["refunded_minor"]
        if payment["status"] == "captured" and left > 0:
            _pay_back(world, payment, left, None, "cancelled")
            paid_back += left
    world.execute("UPDATE order_items SET status = 'cancelled' WHERE order_id = ?", order_id)
    world.execute("UPDATE orders SET status = 'cancelled' WHERE order_id = ?", order_id)
    return {"order_id": order_id, "status": "cancelled", "refunded_minor": paid_back, "currency": order["currency"]}


# Writing: cases.


@tool(writes=True, latency_ms=150, owners=_own("ticket_id"))
def add_ticket_note(world: World, ticket_id: str, body: Text) -> Json:
    """Write a note on a ticket. The customer can read it.

    Args:
        ticket_id: e.g. "T9001"
        body: the text, 1 to 500 characters

    Raises:
        ToolError: no such ticket, or it is closed
    """
    if _ticket(world, ticket_id)["status"] == "closed":
        raise ToolError(f"ticket {ticket_id} is closed; write on the customer's open ticket, see find_tickets")
    row = {"note_id": world.next_id("N"), "ticket_id": ticket_id, "author": "desk_agent", "body": body}
    world.insert("ticket_notes", {**row, "created_at": world.now})
    return {**row, "created_at": world.now}


@tool(writes=True, latency_ms=120, owners=_own("ticket_id"))
def update_ticket_status(world: World, ticket_id: str, status: Literal["open", "pending", "solved"]) -> Json:
    """Set the status of a ticket.

    Args:
        ticket_id: e.g. "T9001"
        status: open, pending (waits for somebody) or solved

    Raises:
        ToolError: no such ticket, it is closed, or it has that status
    """
    old = _ticket(world, ticket_id)["status"]
    if old == "closed":
        raise ToolError(f"ticket {ticket_id} is closed; a closed ticket stays closed")
    if old == status:
        raise ToolError(f"ticket {ticket_id} is {status} already; nothing to change")
    world.execute("UPDATE tickets SET status = ? WHERE ticket_id = ?", status, ticket_id)
    return {"ticket_id": ticket_id, "status": status, "was": old}


@tool(writes=True, latency_ms=200, owners=_own("ticket_id", "item_id"))
def request_evidence(world: World, ticket_id: str, item_id: str, kind: Kind) -> Json:
    """Ask for a photo: the carrier for the signature photo, the customer for the other kinds.

    Args:
        ticket_id: the ticket that waits for it, e.g. "T9001"
        item_id: the item that the photo is about, e.g. "A9001-2"
        kind: the kind of photo

    Raises:
        ToolError: no such ticket or item, photo on file or requested already
    """
    _ticket(world, ticket_id)
    _item(world, item_id)
    on_file = world.value("SELECT evidence_id FROM evidence WHERE item_id = ? AND kind = ?", item_id, kind)
    if on_file is not None:
        raise ToolError(f"a photo of kind {kind} of item {item_id} is on file; see list_evidence")
    asked = world.value("SELECT request_id FROM evidence_requests WHERE item_id = ? AND kind = ?", item_id, kind)
    if asked is not None:
        raise ToolError(f"{asked} asks for a photo of kind {kind} of item {item_id} already; wait for the answer")
    row = {"request_id": world.next_id("ER"), "ticket_id": ticket_id, "item_id": item_id, "kind": kind}
    world.insert("evidence_requests", {**row, "created_at": world.now})
    return {**row, "created_at": world.now}


def _claim(world: World, item: Json, party: str, debtor: Json, amount: int) -> Json:
    if world.value("SELECT claim_id FROM claims WHERE item_id = ? AND party = ?", item["item_id"], party) is not None:
        raise ToolError(f"there is a claim against the {party} for item {item['item_id']} already; see list_claims")
    line = item["unit_price_minor"] * item["quantity"] - item["discount_minor"]
    _bound("amount_minor", amount, line, f"item {item['item_id']}")
    row = {
        "claim_id": world.next_id("CL"),
        "party": party,
        "item_id": item["item_id"],
        **debtor,
        "amount_minor": amount,
        "currency": _order(world, item["order_id"])["currency"],
        "status": "open",
        "created_at": world.now,
    }
    world.insert("claims", row)
    return row


@tool(writes=True, latency_ms=700, owners=_own("item_id"))
def file_carrier_claim(world: World, item_id: str, amount_minor: Money) -> Json:
    """Claim money from the carrier that had the parcel with an item.

    Args:
        item_id: e.g. "A9001-2"
        amount_minor: minor units of the order's currency, e.g. 1230 for EUR 12.30 or JPY 1230

    Raises:
        ToolError: no such item, no parcel, claimed already, more than the line is worth
    """
    item = _item(world, item_id)
    if item["shipment_id"] is None:
        raise ToolError(f"item {item_id} was not sent in a parcel; there is no carrier to claim from")
    return _claim(world, item, "carrier", {"shipment_id": item["shipment_id"]}, amount_minor)


@tool(writes=True, latency_ms=700, owners=_own("item_id"))
def file_supplier_claim(world: World, item_id: str, amount_minor: Money) -> Json:
    """Claim money from the supplier of an item's product.

    Args:
        item_id: e.g. "A9001-2"
        amount_minor: minor units of the order's currency, e.g. 1230 for EUR 12.30 or JPY 1230

    Raises:
        ToolError: no such item, no supplier, claimed already, more than the line is worth
    """
    item = _item(world, item_id)
    supplier = world.value("SELECT supplier_id FROM products WHERE product_id = ?", item["product_id"])
    if supplier is None:
        raise ToolError(f"product {item['product_id']} has no supplier; there is nobody to claim from")
    return _claim(world, item, "supplier", {"supplier_id": supplier}, amount_minor)


@tool(writes=True, latency_ms=600, owners=_own("shipment_id"))
def open_trace(world: World, shipment_id: str) -> Json:
    """Ask the carrier to find out where a parcel went.

    Args:
        shipment_id: e.g. "SH9001"

    Raises:
        ToolError: no such shipment, or a trace of it exists
    """
    _shipment(world, shipment_id)
    old = world.value("SELECT trace_id FROM traces WHERE shipment_id = ? ORDER BY trace_id", shipment_id)
    if old is not None:
        raise ToolError(f"shipment {shipment_id} has the trace {old} already; get_tracking shows its result")
    row = {"trace_id": world.next_id("TR"), "shipment_id": shipment_id, "opened_at": world.now}
    world.insert("traces", row)
    return row


@tool(writes=True, latency_ms=200, owners=_own("order_id"))
def flag_fraud_review(world: World, order_id: str, cause: Text) -> Json:
    """Open a fraud review of an order and its customer. The customer is not told.

    Args:
        order_id: order number, e.g. "A9001"
        cause: what looks wrong, 1 to 500 characters

    Raises:
        ToolError: no such order, or its customer has an open review
    """
    customer_id = _order(world, order_id)["customer_id"]
    old = world.value("SELECT review_id FROM fraud_reviews WHERE customer_id = ? AND status = 'open'", customer_id)
    if old is not None:
        raise ToolError(f"customer {customer_id} has the open fraud review {old} already")
    row = {"review_id": world.next_id("FR"), "customer_id": customer_id, "order_id": order_id, "cause": cause}
    world.insert("fraud_reviews", {**row, "status": "open", "opened_at": world.now})
    return {**row, "status": "open", "opened_at": world.now}


# Writing: what this desk leaves to others.


@tool(writes=True, latency_ms=200, owners=_own("customer_id"))
def update_customer_email(world: World, customer_id: str, email: Annotated[str, Length(5, 120)]) -> Json:
    """Change the email address of an account.

    Args:
        customer_id: e.g. "C9001"
        email: the new address, e.g. "ada@example.com"

    Raises:
        ToolError: no such customer, no address, or the address is taken
    """
    _customer(world, customer_id)
    name, at, host = email.partition("@")
    if not name or not at or "." not in host:
        raise ToolError(f'email must look like "ada@example.com", got {shown(email)}')
    if world.value("SELECT 1 FROM customers WHERE email = ? AND customer_id != ?", email, customer_id):
        raise ToolError(f"email {shown(email)} is taken by another account")
    world.execute("UPDATE customers SET email = ? WHERE customer_id = ?", email, customer_id)
    return {"customer_id": customer_id, "email": email}


@tool(writes=True, latency_ms=200, owners=_own("customer_id"))
def set_customer_tier(world: World, customer_id: str, tier: Literal["standard", "silver", "gold"]) -> Json:
    """Change the tier of an account.

    Args:
        customer_id: e.g. "C9001"
        tier: the new tier

    Raises:
        ToolError: no such customer
    """
    _customer(world, customer_id)
    world.execute("UPDATE customers SET tier = ? WHERE customer_id = ?", tier, customer_id)
    return {"customer_id": customer_id, "tier": tier}


@tool(writes=True, latency_ms=300, owners=_own("customer_id"))
def close_account(world: World, customer_id: str) -> Json:
    """Close a customer's account. Cannot be undone.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer, or closed already
    """
    if _customer(world, customer_id)["status"] == "closed":
        raise ToolError(f"account {customer_id} is closed already")
    world.execute("UPDATE customers SET status = 'closed' WHERE customer_id = ?", customer_id)
    return {"customer_id": customer_id, "status": "closed"}


@tool(writes=True, latency_ms=150, owners=_own("ticket_id"))
def override_limit(world: World, ticket_id: str, amount_minor: Money, currency: str) -> Json:
    """Record that a refund above the limit is allowed for a ticket.

    Args:
        ticket_id: e.g. "T9001"
        amount_minor: the amount allowed, minor units, e.g. 1230 for EUR 12.30
        currency: e.g. "EUR"

    Raises:
        ToolError: no such ticket or currency
    """
    _ticket(world, ticket_id)
    if world.value("SELECT 1 FROM currencies WHERE currency = ?", currency) is None:
        raise ToolError(f"there is no currency {shown(currency)}; get_order names the currency of an order")
    row = {"override_id": world.next_id("OV"), "ticket_id": ticket_id, "amount_minor": amount_minor}
    world.insert("limit_overrides", {**row, "currency": currency, "created_at": world.now})
    return {**row, "currency": currency, "created_at": world.now}


_OF_ITEM = "(SELECT item_id FROM order_items WHERE order_id = ?)"
_OF_PARCEL = "(SELECT shipment_id FROM shipments WHERE order_id = ?)"
_ERASE = (
    *(f"DELETE FROM {table} WHERE order_id = ?" for table in ("refunds", "store_credit", "fraud_reviews")),
    *(
        f"DELETE FROM {table} WHERE item_id IN {_OF_ITEM}"
        for table in ("returns", "evidence", "evidence_requests", "claims", "replacements")
    ),
    *(f"DELETE FROM {table} WHERE shipment_id IN {_OF_PARCEL}" for table in ("tracking_events", "traces")),
    *(f"DELETE FROM {table} WHERE order_id = ?" for table in ("order_items", "shipments", "payments", "orders")),
)


@tool(writes=True, latency_ms=300, owners=_own("order_id"))
def delete_order(world: World, order_id: str) -> Json:
    """Erase an order with everything that belongs to it from the database. Cannot be undone.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    _order(world, order_id)
    for statement in _ERASE:
        world.execute(statement, order_id)
    return {"order_id": order_id, "deleted": True}


TOOLS: tuple[Tool, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Tool))
"""All tools of the desk, in the order in which they are written here."""
