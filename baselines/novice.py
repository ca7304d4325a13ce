"""A first day at the refund desk: takes the opening literally, one order, no subtleties; no model. Only for Refund.

It asks for consent, reads the risk profile without drawing conclusions, pays the price of what came back, and closes
the ticket.
"""

from __future__ import annotations

from agentgym.baselines._refund_case import Case, Json
from agentgym.baselines._refund_rules import money
from agentgym.baselines._refund_words import ORDER_ID, mentioned, says
from agentgym.baselines._view import BUDGET, Scripted, View, main


class Novice(Scripted):
    """Does what the customer seems to ask for.

    Args:
        budget: steps at most.
    """

    name = "novice"

    def __init__(self, budget: int = BUDGET) -> None:
        super().__init__(budget)

    def play(self, view: View) -> None:
        """Play the episode."""
        case = Case(view)
        named = ORDER_ID.findall(view.opening) or [row["order_id"] for row in case.orders[-1:]]
        order = case.order(named[0]) if named else {}
        if not order:
            case.say("I cannot find the order.")
            case.close("solved")
            view.finish("impossible", {"reason": "not_found"})
        if says("twice", view.opening):
            self._void(case, order)
        entry = max(order["items"], key=lambda each: mentioned(each["name"], view.opening))
        backs = [row for row in case.returns(order["order_id"]) if row["item_id"] == entry["item_id"]]
        if backs:
            self._refund(case, order, backs[-1])
        self._send_back(case, entry)

    def _refund(self, case: Case, order: Json, back: Json) -> None:
        """The price of the units that came back, to the first payment."""
        reason = case.read("get_return", return_id=back["return_id"])["reason"]
        case.read("get_risk_profile", customer_id=case.customer_id)
        item, payment = case.item(back["item_id"]), case.payments(order["order_id"])[0]
        amount, currency = item["unit_price_minor"] * back["quantity"], order["currency"]
        paid = case.agreed(
            "create_refund",
            item_id=item["item_id"],
            payment_id=payment["payment_id"],
            amount_minor=amount,
            reason=reason,
        )
        if not paid:
            case.say("I could not pay that back.")
            case.close("solved")
            case.view.finish("refused", {"reason": "already_refunded"})
        case.say(f"{money(amount, currency)} go back to you.")
        case.close("solved")
        case.view.finish("done", {"refund_minor": amount, "currency": currency})

    def _void(self, case: Case, order: Json) -> None:
        """The newest captured payment."""
        case.read("get_risk_profile", customer_id=case.customer_id)
        payment = [row for row in case.payments(order["order_id"]) if row["status"] == "captured"][-1]
        voided = case.agreed("void_duplicate_charge", payment_id=payment["payment_id"])
        case.say(
            f"{money(payment['amount_minor'], order['currency'])} come back to you." if voided else "That is in order."
        )
        case.close("solved")
        if voided:
            case.view.finish("done", {"refund_minor": payment["amount_minor"], "currency": order["currency"]})
        case.view.finish("refused", {"reason": "no_fault_found"})

    def _send_back(self, case: Case, entry: Json) -> None:
        """A return of everything, whatever was asked."""
        made = case.agreed(
            "create_return",
            item_id=entry["item_id"],
            quantity=entry["quantity"],
            reason="change_of_mind",
            label="customer",
        )
        case.say("Please send it back." if made else "That cannot be sent back.")
        case.close("pending" if made else "solved")
        if made:
            case.view.finish("done", {"return_id": made["return_id"]})
        case.view.finish("refused", {"reason": "not_returnable"})


if __name__ == "__main__":
    main(Novice)
