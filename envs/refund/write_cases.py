"""Tools that write: tickets, evidence, claims, traces, reviews."""

from typing import Literal

from agentgym.envs.refund.desk import Json, Kind, Money, Text, bound, one_item, one_order, one_shipment, one_ticket, own
from agentgym.tools import ToolError, tool
from agentgym.world import World


@tool(writes=True, latency_ms=150, owners=own("ticket_id"))
def add_ticket_note(world: World, ticket_id: str, body: Text) -> Json:
    """Write a note on a ticket. The customer can read it.

    Args:
        ticket_id: e.g. "T9001"
        body: the text, 1 to 500 characters

    Raises:
        ToolError: no such ticket, or it is closed
    """
    if one_ticket(world, ticket_id)["status"] == "closed":
        raise ToolError(f"ticket {ticket_id} is closed; write on the customer's open ticket, see find_tickets")
    row = {"note_id": world.next_id("N"), "ticket_id": ticket_id, "author": "desk_agent", "body": body}
    world.insert("ticket_notes", {**row, "created_at": world.now})
    return {**row, "created_at": world.now}


@tool(writes=True, latency_ms=120, owners=own("ticket_id"))
def update_ticket_status(world: World, ticket_id: str, status: Literal["open", "pending", "solved"]) -> Json:
    """Set the status of a ticket.

    Args:
        ticket_id: e.g. "T9001"
        status: open, pending (waits for somebody) or solved

    Raises:
        ToolError: no such ticket, it is closed, or it has that status
    """
    old = one_ticket(world, ticket_id)["status"]
    if old == "closed":
        raise ToolError(f"ticket {ticket_id} is closed; a closed ticket stays closed")
    if old == status:
        raise ToolError(f"ticket {ticket_id} is {status} already; nothing to change")
    world.execute("UPDATE tickets SET status = ? WHERE ticket_id = ?", status, ticket_id)
    return {"ticket_id": ticket_id, "status": status, "was": old}


@tool(writes=True, latency_ms=200, owners=own("ticket_id", "item_id"))
def request_evidence(world: World, ticket_id: str, item_id: str, kind: Kind) -> Json:
    """Ask for a photo: the carrier for the signature photo, the customer for the other kinds.

    Args:
        ticket_id: the ticket that waits for it, e.g. "T9001"
        item_id: the item that the photo is about, e.g. "A9001-2"
        kind: the kind of photo

    Raises:
        ToolError: no such ticket or item, photo on file or requested already
    """
    one_ticket(world, ticket_id)
    one_item(world, item_id)
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
    bound("amount_minor", amount, line, f"item {item['item_id']}")
    row = {
        "claim_id": world.next_id("CL"),
        "party": party,
        "item_id": item["item_id"],
        **debtor,
        "amount_minor": amount,
        "currency": one_order(world, item["order_id"])["currency"],
        "status": "open",
        "created_at": world.now,
    }
    world.insert("claims", row)
    return row


@tool(writes=True, latency_ms=700, owners=own("item_id"))
def file_carrier_claim(world: World, item_id: str, amount_minor: Money) -> Json:
    """Claim money from the carrier that had the parcel with an item.

    Args:
        item_id: e.g. "A9001-2"
        amount_minor: minor units of the order's currency, e.g. 1230 for EUR 12.30 or JPY 1230

    Raises:
        ToolError: no such item, no parcel, claimed already, more than the line is worth
    """
    item = one_item(world, item_id)
    if item["shipment_id"] is None:
        raise ToolError(f"item {item_id} was not sent in a parcel; there is no carrier to claim from")
    return _claim(world, item, "carrier", {"shipment_id": item["shipment_id"]}, amount_minor)


@tool(writes=True, latency_ms=700, owners=own("item_id"))
def file_supplier_claim(world: World, item_id: str, amount_minor: Money) -> Json:
    """Claim money from the supplier of an item's product.

    Args:
        item_id: e.g. "A9001-2"
        amount_minor: minor units of the order's currency, e.g. 1230 for EUR 12.30 or JPY 1230

    Raises:
        ToolError: no such item, no supplier, claimed already, more than the line is worth
    """
    item = one_item(world, item_id)
    supplier = world.value("SELECT supplier_id FROM products WHERE product_id = ?", item["product_id"])
    if supplier is None:
        raise ToolError(f"product {item['product_id']} has no supplier; there is nobody to claim from")
    return _claim(world, item, "supplier", {"supplier_id": supplier}, amount_minor)


@tool(writes=True, latency_ms=600, owners=own("shipment_id"))
def open_trace(world: World, shipment_id: str) -> Json:
    """Ask the carrier to find out where a parcel went.

    Args:
        shipment_id: e.g. "SH9001"

    Raises:
        ToolError: no such shipment, or a trace of it exists
    """
    one_shipment(world, shipment_id)
    old = world.value("SELECT trace_id FROM traces WHERE shipment_id = ? ORDER BY trace_id", shipment_id)
    if old is not None:
        raise ToolError(f"shipment {shipment_id} has the trace {old} already; get_tracking shows its result")
    row = {"trace_id": world.next_id("TR"), "shipment_id": shipment_id, "opened_at": world.now}
    world.insert("traces", row)
    return row


@tool(writes=True, latency_ms=200, owners=own("order_id"))
def flag_fraud_review(world: World, order_id: str, cause: Text) -> Json:
    """Open a fraud review of an order and its customer. The customer is not told.

    Args:
        order_id: order number, e.g. "A9001"
        cause: what looks wrong, 1 to 500 characters

    Raises:
        ToolError: no such order, or its customer has an open review
    """
    customer_id = one_order(world, order_id)["customer_id"]
    old = world.value("SELECT review_id FROM fraud_reviews WHERE customer_id = ? AND status = 'open'", customer_id)
    if old is not None:
        raise ToolError(f"customer {customer_id} has the open fraud review {old} already")
    row = {"review_id": world.next_id("FR"), "customer_id": customer_id, "order_id": order_id, "cause": cause}
    world.insert("fraud_reviews", {**row, "status": "open", "opened_at": world.now})
    return {**row, "status": "open", "opened_at": world.now}
