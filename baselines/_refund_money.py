"""What is decided about a wish, and the money of it: sections 3 and 4 of the refund desk's policy; only for Refund."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from agentgym.baselines import _refund_rules as rules
from agentgym.baselines._refund_case import Case, Json
from agentgym.baselines._refund_rules import day, money
from agentgym.baselines._refund_words import choice, says

_LATE_DAYS = 5
CONFIRMED = (
    "create_refund", "refund_shipping", "issue_store_credit", "void_duplicate_charge",
    "create_return", "cancel_return", "send_replacement", "cancel_order",
)  # fmt: skip
"""1.5."""


@dataclass
class Decision:
    """What is done about a wish.

    Attributes:
        order_id: what it is about, "" if nothing fits.
        code: why it is refused, "" if it is met.
        writes: calls (tool, arguments) in their order.
        paid: money that goes back.
        due: what of it counts for the limits.
        keys: key of the answer → key of a write's result.
        tells: what the customer is told.
        risky: money or goods leave.
        waits: the ticket waits for something.
        photo: a photo that shows another product (7.1).
    """

    order_id: str = ""
    code: str = ""
    writes: list[tuple[str, Json]] = field(default_factory=list)
    paid: int = 0
    due: int = 0
    keys: dict[str, str] = field(default_factory=dict)
    tells: list[str] = field(default_factory=list)
    risky: bool = False
    waits: bool = False
    photo: str = ""

    def refuse(self, code: str, *tells: str) -> Decision:
        """Refuse it."""
        self.code, self.waits = code, code in rules.WAITING
        self.tells += tells
        return self

    def add(self, tool: str, **arguments: Any) -> None:
        """Plan a write."""
        self.writes.append((tool, arguments))
        self.risky |= tool in CONFIRMED and tool not in ("create_return", "cancel_return")


class Money:
    """Decides what is paid back, and how.

    Args:
        case: what is known.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.paid: dict[str, int] = {}
        """What is planned on each payment."""
        self.gone: dict[str, int] = {}
        """Units of each item that are paid back in full by plan."""

    def _settled(self, made: Decision, order: Json, item: Json, count: int, since: str = "") -> Decision | None:
        """3.6: what was paid back or replaced."""
        if item["refunded_minor"] == 0:
            return None
        rows = self.case.read("list_refunds", order_id=order["order_id"]).get("refunds", [])
        rows = [
            row
            for row in rows
            if row["item_id"] == item["item_id"] and row["status"] in rules.SETTLED and row["created_at"] >= since
        ]
        if not rows:
            return None
        total = sum(row["amount_minor"] for row in rows)
        told = f"{money(total, order['currency'])} were paid back on {rows[-1]['created_at'][:10]}"
        latest = day(rows[-1]["created_at"]) + timedelta(10)
        return made.refuse("already_refunded", f"{told}; a bank transfer arrives by {latest}.")

    # 3.4, 3.5, 4.1: money and goods.

    def _pay(self, made: Decision, order: Json, item: Json, amount: int, reason: str, text: str) -> None:
        if says("account", text):
            parts = rules.split(self.case.payments(order["order_id"]), amount, {})
            sums = ", ".join(money(part, order["currency"]) for part in (amount, *(part for _, part in parts)))
            made.refuse("other_account", f"We can pay back only to where the money came from; it would be {sums}.")
            return
        if amount <= 0:
            return
        made.paid += amount
        if says("credit", text):
            made.add(
                "issue_store_credit",
                order_id=order["order_id"],
                amount_minor=amount,
                reason="instead_of_refund",
                item_id=item["item_id"],
            )
            return
        made.due += amount
        for payment_id, part in rules.split(self.case.payments(order["order_id"]), amount, self.paid):
            made.add("create_refund", item_id=item["item_id"], payment_id=payment_id, amount_minor=part, reason=reason)

    def _make_good(self, made: Decision, order: Json, item: Json, count: int, reason: str, text: str) -> Decision:
        """3.4: the full value, or the same product again, as the customer chooses."""
        if self._wants_goods(text) and self.case.product(item)["stock"] >= count:
            made.add("send_replacement", item_id=item["item_id"], quantity=count, reason=reason)
            made.keys["replacement_id"] = "replacement_id"
            return made
        self._pay(made, order, item, self.case.value(order, item, count), reason, text)
        self.gone[item["item_id"]] = self.gone.get(item["item_id"], 0) + count
        return made

    def shipping(self, made: Decision, order: Json) -> None:
        """3.5, after all items: the shipping, if with this every unit of the order is refunded."""
        left = order["shipping_minor"] - order["shipping_refunded_minor"]
        whole = all(
            self.gone.get(entry["item_id"], 0) >= entry["quantity"]
            or self.case.item(entry["item_id"])["status"] == "refunded"
            for entry in order["items"]
        )
        if left > 0 and whole and not made.code:
            for payment_id, part in rules.split(self.case.payments(order["order_id"]), left, self.paid):
                made.add("refund_shipping", order_id=order["order_id"], payment_id=payment_id, amount_minor=part)
            made.paid, made.due = made.paid + left, made.due + left

    def _wants_goods(self, text: str) -> bool:
        """Whether the customer chooses a replacement; they are asked where their words leave it open."""
        chosen = choice(text)
        if chosen:
            return chosen == "goods"
        question = (
            "您希望退款还是换货（补发）？" if self.case.chinese else "Would you prefer a refund or a replacement?"
        )
        return choice(self.case.say(question)) == "goods"

    # 3.8, 4: late parcels, payments.

    def late(self, order: Json) -> Decision:
        """3.8."""
        made = Decision(order["order_id"])
        item = self.case.item(order["items"][0]["item_id"])
        parcel, arrived = self.case.tracking(item), self.case.delivered(item)
        credits = self.case.read("get_store_credit", customer_id=self.case.customer_id).get("entries", [])
        given = any(row["order_id"] == order["order_id"] and row["reason"] == "late_delivery" for row in credits)
        if given or arrived is None or (arrived - date.fromisoformat(parcel["promised_by"])).days <= _LATE_DAYS:
            return made.refuse(
                "already_refunded" if given else "no_fault_found", "There is nothing to pay for the delay."
            )
        inside = [line for line in self.case.items(order) if line["shipment_id"] == item["shipment_id"]]
        made.paid = rules.rounded(10 * sum(self.case.value(order, line, line["quantity"]) for line in inside), 100)
        made.add("issue_store_credit", order_id=order["order_id"], amount_minor=made.paid, reason="late_delivery")
        return made

    def twice(self, order: Json) -> Decision:
        """4.3."""
        made = Decision(order["order_id"])
        late = self.case.duplicate(order)
        if late is None:
            return made.refuse("no_fault_found", "The order was charged once; a reserved amount is no charge.")
        made.paid = late["amount_minor"]
        made.add("void_duplicate_charge", payment_id=late["payment_id"])
        return made

    def cancel(self, order: Json) -> Decision:
        """4.5."""
        made = Decision(order["order_id"])
        if order["status"] != "processing":
            item = self.case.item(order["items"][0]["item_id"])
            sent = [event["at"][:10] for event in self.case.tracking(item).get("events", [])][:1]
            return made.refuse("already_shipped", f"The order has been sent already{' on ' + sent[0] if sent else ''}.")
        rows = [row for row in self.case.payments(order["order_id"]) if row["status"] == "captured"]
        made.paid = sum(row["amount_minor"] - row["refunded_minor"] for row in rows)
        made.add("cancel_order", order_id=order["order_id"])
        return made
