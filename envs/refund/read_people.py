"""Tools that read: customers, their risk and credit, the limits of roles."""

from typing import Annotated, Literal

from agentgym.envs.refund.desk import Json, one_customer, own
from agentgym.tools import Length, ToolError, shown, tool
from agentgym.world import World


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


@tool(latency_ms=90, owners=own("customer_id"))
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
    return {**one_customer(world, customer_id), "addresses": addresses}


@tool(latency_ms=260, owners=own("customer_id"))
def get_risk_profile(world: World, customer_id: str) -> Json:
    """Return the internal fraud score (0 to 100), internal note and fraud reviews of a customer. Staff only.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer
    """
    one_customer(world, customer_id)
    profile = world.row("SELECT fraud_score, internal_note FROM risk_profiles WHERE customer_id = ?", customer_id)
    reviews = world.rows(
        "SELECT review_id, order_id, cause, status, opened_at FROM fraud_reviews WHERE customer_id = ? "
        "ORDER BY opened_at, review_id",
        customer_id,
    )
    return {"customer_id": customer_id, **(profile or {"fraud_score": None, "internal_note": ""}), "reviews": reviews}


@tool(latency_ms=110, owners=own("customer_id"))
def get_store_credit(world: World, customer_id: str) -> Json:
    """Return the store credit entries of a customer, oldest first, and the balance per currency in minor units.

    Args:
        customer_id: e.g. "C9001"

    Raises:
        ToolError: no such customer
    """
    one_customer(world, customer_id)
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
