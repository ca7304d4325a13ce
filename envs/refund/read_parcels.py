"""Tools that read: parcels, photos, third parties."""

from typing import Annotated

from agentgym.envs.refund.desk import Json, existing, one_item, one_order, one_shipment, own
from agentgym.tools import Length, tool
from agentgym.world import World


@tool(latency_ms=140, owners=own("order_id"))
def list_shipments(world: World, order_id: str) -> Json:
    """List the parcels of an order with carrier, tracking number, promised day and the items inside.

    Args:
        order_id: order number, e.g. "A9001"

    Raises:
        ToolError: no such order
    """
    one_order(world, order_id)
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


@tool(latency_ms=420, owners=own("shipment_id"))
def get_tracking(world: World, shipment_id: str) -> Json:
    """Return the carrier's tracking events of a parcel, oldest first, and traces opened for it.

    Args:
        shipment_id: e.g. "SH9001"

    Raises:
        ToolError: no such shipment
    """
    shipment = one_shipment(world, shipment_id)
    events = world.rows(
        "SELECT at, code, place FROM tracking_events WHERE shipment_id = ? ORDER BY at, seq", shipment_id
    )
    traces = world.rows(
        "SELECT trace_id, opened_at, closed_at, result, finding FROM traces WHERE shipment_id = ? "
        "ORDER BY opened_at, trace_id",
        shipment_id,
    )
    return {**shipment, "events": events, "traces": traces}


@tool(latency_ms=110, owners=own("item_id"))
def list_evidence(world: World, item_id: str) -> Json:
    """List the photos on file for an order item, oldest first, and the requests for photos that are open.

    Args:
        item_id: e.g. "A9001-2"

    Raises:
        ToolError: no such item
    """
    one_item(world, item_id)
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


@tool(latency_ms=350, owners=own("evidence_id"))
def get_evidence(world: World, evidence_id: str) -> Json:
    """Return one photo: its kind, who sent it, when, and a description of what it shows.

    Args:
        evidence_id: e.g. "EV9001"

    Raises:
        ToolError: no such photo
    """
    row = world.row("SELECT * FROM evidence WHERE evidence_id = ?", evidence_id)
    return existing(row, "photo", evidence_id, "list_evidence lists the photos of an order item")


@tool(latency_ms=80)
def get_supplier(world: World, supplier_id: str) -> Json:
    """Return a supplier with the days after delivery within which it accepts claims.

    Args:
        supplier_id: e.g. "S91"

    Raises:
        ToolError: no such supplier
    """
    row = world.row("SELECT * FROM suppliers WHERE supplier_id = ?", supplier_id)
    return existing(row, "supplier", supplier_id, "get_product names the supplier of a product")


@tool(latency_ms=110, owners=own("item_id"))
def list_claims(world: World, item_id: str) -> Json:
    """List claims against carriers and suppliers for an order item, and replacements sent for it, oldest first.

    Args:
        item_id: e.g. "A9001-2"

    Raises:
        ToolError: no such item
    """
    one_item(world, item_id)
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
