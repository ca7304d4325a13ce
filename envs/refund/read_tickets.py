"""Tools that read: tickets."""

from agentgym.envs.refund.desk import Json, one_customer, one_ticket, own
from agentgym.tools import tool
from agentgym.world import World


@tool(latency_ms=90, owners=own("ticket_id"))
def get_ticket(world: World, ticket_id: str) -> Json:
    """Return a ticket: whose it is, subject, when it was created, status and notes.

    Args:
        ticket_id: e.g. "T9001"

    Raises:
        ToolError: no such ticket
    """
    ticket = one_ticket(world, ticket_id)
    notes = world.rows(
        "SELECT note_id, author, body, created_at FROM ticket_notes WHERE ticket_id = ? ORDER BY created_at, note_id",
        ticket_id,
    )
    return {**ticket, "notes": notes}


@tool(latency_ms=120, owners=own("customer_id"))
def find_tickets(world: World, customer_id: str) -> Json:
    """List a customer's tickets, oldest first.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer
    """
    one_customer(world, customer_id)
    found = world.rows(
        "SELECT ticket_id, subject, channel, status, created_at FROM tickets WHERE customer_id = ? "
        "ORDER BY created_at, ticket_id",
        customer_id,
    )
    return {"customer_id": customer_id, "tickets": found}
