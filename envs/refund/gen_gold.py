"""Pieces of gold plans. They hold bindings and calculations only, so scenarios share them: each is made once a process.

Labels carry the number of the request, since one conversation may have several.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from agentgym.generating import like
from agentgym.scenario import GoldAction

Value = Any


_ACTION = GoldAction.model_validate({"name": "x", "as": "x", "arguments": {}})


def act(name: str, label: str = "", /, **arguments: Value) -> GoldAction:
    """One action of gold."""
    return like(_ACTION, name=name, label=label, arguments=arguments)


def of(label: str, path: str = "$") -> dict[str, str]:
    """A binding."""
    return {"from": label, "path": path}


VALUE = """
WITH line AS (SELECT (:line ->> 'unit_price_minor') * (:line ->> 'quantity') - (:line ->> 'discount_minor') AS total,
:line ->> 'quantity' AS n),
whole AS (SELECT sum((value ->> 'unit_price_minor') * (value ->> 'quantity') - (value ->> 'discount_minor')) AS total
FROM json_each(:lines)),
net AS (SELECT line.total - (2 * (:order ->> 'coupon_minor') * line.total + whole.total) / (2 * whole.total) AS minor,
line.n FROM line, whole)
SELECT (2 * net.minor * :units + net.n) / (2 * net.n) FROM net
""".replace("\n", " ").strip()
"""Policy 3.1, rounded half up in integers: (2a + b) / 2b."""

AFTER_FEE = """
WITH found AS (SELECT :back ->> 'condition' AS condition, :product ->> 'category' AS category, :customer ->> 'tier' AS
tier),
rate AS (SELECT CASE WHEN condition = 'sealed' THEN 0 WHEN condition = 'opened' AND tier = 'gold' THEN 0
WHEN condition = 'used' AND category IN ('electronics', 'home') THEN 30
WHEN condition = 'opened' AND category = 'electronics' THEN 15 WHEN condition = 'opened' AND category = 'home' THEN 10
ELSE 0 END AS percent, tier FROM found),
label AS (SELECT CASE WHEN tier = 'gold' OR :back ->> 'label' = 'customer' THEN 0 ELSE CASE :order ->> 'currency' WHEN
'EUR' THEN 590
WHEN 'USD' THEN 650 WHEN 'GBP' THEN 510 WHEN 'JPY' THEN 900 ELSE 8800 END END AS minor FROM rate)
SELECT max(0, :value - (2 * :value * percent + 100) / 200 - minor) FROM rate, label
""".replace("\n", " ").strip()
"""Policy 3.2 and 3.3."""

_RANK = "instr('gift_card store_credit paypal card bank_transfer', value ->> 'method')"
_OPEN = "FROM json_each(:paid) WHERE value ->> 'status' = 'captured'"

MONEY = (
    "CASE WHEN :currency IN ('JPY', 'KRW') THEN :currency || ' ' || (:amount) "
    "ELSE :currency || ' ' || printf('%d.%02d', (:amount) / 100, (:amount) % 100) END"
)
"""An amount as people write it, of ``:amount`` and ``:currency``."""


@cache
def lines(i: int, count: int) -> tuple[GoldAction, ...]:
    """Read each line of order *i*, as ``line{i}_{n}``."""
    return tuple(
        act("get_order_item", f"line{i}_{n}", item_id=of(f"order{i}", f"$.items[{n}].item_id")) for n in range(count)
    )


def value(i: int, n: int, count: int, units: Value = None) -> dict[str, Value]:
    """The value of *units* (all if None) of line *n*."""
    line = f"line{i}_{n}"
    every = [of(f"line{i}_{k}") for k in range(count)]
    return {
        "sql": VALUE,
        "line": of(line),
        "lines": every,
        "order": of(f"order{i}"),
        "units": of(line, "$.quantity") if units is None else units,
    }


def payment(i: int, rank: int = 0) -> dict[str, Value]:
    """The payment of order *i* that money goes back to as number *rank*."""
    return {
        "sql": f"SELECT value ->> 'payment_id' {_OPEN} ORDER BY {_RANK} LIMIT 1 OFFSET {rank}",
        "paid": of(f"paid{i}", "$.payments"),
    }


def first_part(i: int, due: Value) -> dict[str, Value]:
    """What of *due* goes to the first payment."""
    left = "(value ->> 'amount_minor') - (value ->> 'refunded_minor')"
    return {
        "sql": f"SELECT min(:due, {left}) {_OPEN} ORDER BY {_RANK} LIMIT 1",
        "paid": of(f"paid{i}", "$.payments"),
        "due": due,
    }


def confirmed(name: str, label: str, arguments: dict[str, Value]) -> list[GoldAction]:
    """Ask, then act."""
    return [act("confirm_with_user", tool=name, arguments=arguments), act(name, label, **arguments)]


def refund(i: int, n: int, due: Value, reason: str, parts: int = 1, tag: str = "") -> list[GoldAction]:
    """Pay *due* back for line *n* in one or two parts, labelled ``done{i}{tag}_0`` and ``_1``."""
    item, label = of(f"line{i}_{n}", "$.item_id"), f"done{i}{tag}"
    first = {
        "item_id": item,
        "payment_id": payment(i),
        "amount_minor": due if parts == 1 else first_part(i, due),
        "reason": reason,
    }
    actions = confirmed("create_refund", f"{label}_0", first)
    if parts == 2:  # noqa: PLR2004  two payments
        rest = {"sql": "SELECT :due - :first", "due": due, "first": of(f"{label}_0", "$.amount_minor")}
        second = {"item_id": item, "payment_id": payment(i, 1), "amount_minor": rest, "reason": reason}
        actions += confirmed("create_refund", f"{label}_1", second)
    return actions


def tell(i: int, paid: tuple[tuple[str, str], ...], before: str, after: str) -> GoldAction:
    """Tell each amount, between two pieces of text; the currency is that of order *i*."""
    pieces, params = [], {}
    for k, (label, path) in enumerate(paid):
        pieces.append(MONEY.replace(":amount", f":a{k}"))
        params[f"a{k}"] = of(label, path)
    joined = " || ' + ' || ".join(f"({piece})" for piece in pieces)
    sql = f"SELECT '{_quoted(before)} ' || {joined} || '{_quoted(after)}'"
    return act("respond", message={"sql": sql, "currency": of(f"order{i}", "$.currency"), **params})


def _quoted(text: str) -> str:
    return text.replace("'", "''")


@cache
def say(text: str) -> GoldAction:
    """A message without values to look up."""
    return act("respond", message=text)


@cache
def find_order(i: int, place: int) -> GoldAction:
    """Read order *i* out of the customer's list, in which it stands at *place*."""
    return act("get_order", f"order{i}", order_id=of("orders", f"$.orders[{place}].order_id"))


@cache
def common(i: int) -> dict[str, GoldAction]:
    """Reads that need no more than order *i* or the ticket."""
    order = of(f"order{i}", "$.order_id")
    return {
        "payments": act("list_payments", f"paid{i}", order_id=order),
        "returns": act("list_returns", f"returns{i}", order_id=order),
        "return": act("get_return", f"back{i}", return_id=of(f"returns{i}", "$.returns[0].return_id")),
        "shipments": act("list_shipments", f"parcels{i}", order_id=order),
        "refunds": act("list_refunds", f"refunds{i}", order_id=order),
        "all_refunds": act("list_refunds", f"refunds{i}", customer_id=of("ticket", "$.customer_id")),
        "product": act("get_product", f"product{i}", product_id=of(f"line{i}_0", "$.product_id")),
        "tracking": act("get_tracking", f"way{i}", shipment_id=of(f"line{i}_0", "$.shipment_id")),
        "tracking_b": act("get_tracking", f"way{i}", shipment_id=of(f"parcels{i}", "$.shipments[0].shipment_id")),
        "claims": act("list_claims", f"claims{i}", item_id=of(f"line{i}_0", "$.item_id")),
        "photos": act("list_evidence", f"photos{i}", item_id=of(f"line{i}_0", "$.item_id")),
    }


CUSTOMER = act("get_customer", "customer", customer_id=of("ticket", "$.customer_id"))
RISK = act("get_risk_profile", "risk", customer_id=of("ticket", "$.customer_id"))
ORDERS = act("find_orders", "orders", customer_id=of("ticket", "$.customer_id"))
TICKETS = act("find_tickets", customer_id=of("ticket", "$.customer_id"))
CREDIT = act("get_store_credit", customer_id=of("ticket", "$.customer_id"))
NO_CHANGE = act("finish", outcome="done", answer={"result": "no_change"})
HOLIDAYS = act("list_holidays", "holidays", country=of("customer", "$.country"))


@cache
def limits(role: str) -> GoldAction:
    """Read the limits of one's role, in the currency of the customer."""
    return act("get_role_limits", "limits", role=role, currency=of("customer", "$.currency"))


@cache
def set_ticket(status: str) -> GoldAction:
    """Set the ticket."""
    return act("update_ticket_status", ticket_id=of("ticket", "$.ticket_id"), status=status)


@cache
def finish(paid: tuple[tuple[str, str], ...], keys: tuple[tuple[str, str], ...], codes: tuple[str, ...]) -> GoldAction:
    """The end by 8.2 to 8.4: amounts paid back, keys of what is new with the labels of their actions, codes."""
    if codes and not paid and not keys:
        return act("finish", outcome="refused", answer={"reason": codes[0]})
    answer: dict[str, Value] = {}
    if paid:
        total = " + ".join(f":a{k}" for k in range(len(paid)))
        answer["refund_minor"] = {"sql": f"SELECT {total}", **{f"a{k}": of(*entry) for k, entry in enumerate(paid)}}
        answer["currency"] = of("customer", "$.currency")
    for key, label in keys:
        answer[key] = of(label, f"$.{key}")
    if codes:
        answer["refused"] = list(codes)
    return act("finish", outcome="done", answer=answer)
