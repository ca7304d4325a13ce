"""A clerk of the refund desk: knows the windows and the usual ways of money back; no model. Only for Refund.

Order by order, with the share of the coupon, fees, tiers, double charges, cancellations, consent, risk profile and the
ticket's status. Photos, lost parcels, carrier notices, holidays, limits, a second payment and other exceptions are
beyond it.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from agentgym.baselines import _refund_rules as rules
from agentgym.baselines._refund_case import Case, Json
from agentgym.baselines._refund_rules import day, money
from agentgym.baselines._refund_words import ORDER_ID, mentioned, says, segments
from agentgym.baselines._view import BUDGET, Scripted, View, main

_RISKY = 80


class Clerk(Scripted):
    """Handles each order named, by the policy's first chapters.

    Args:
        budget: steps at most.
    """

    name = "clerk"

    def __init__(self, budget: int = BUDGET) -> None:
        super().__init__(budget)

    def play(self, view: View) -> None:
        """Play the episode."""
        _Work(Case(view)).play()


class _Work:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.codes: list[str] = []
        self.tells: list[str] = []
        self.answer: Json = {}
        self.paid = 0
        self.waits = False

    def play(self) -> None:
        case, opening = self.case, self.case.view.opening
        named = list(dict.fromkeys(ORDER_ID.findall(opening)))
        texts = segments(opening, named) if named else {row["order_id"]: opening for row in case.orders[-1:]}
        for name, text in texts.items():
            order = case.order(case.orders[-1]["order_id"] if name == "latest" and case.orders else name)
            if order:
                self._handle(order, text)
        if not self.tells:
            case.say("I cannot find such an order of yours.")
            case.close("solved")
            case.view.finish("impossible", {"reason": "not_found"})
        case.say(" ".join(self.tells))
        case.close("pending" if self.waits else "solved")
        codes = sorted(set(self.codes), key=rules.CODES.index)
        if codes and not self.answer:
            case.view.finish("refused", {"reason": codes[0]})
        case.view.finish("done", self.answer | ({"refused": codes} if codes else {}))

    def _handle(self, order: Json, text: str) -> None:
        case = self.case
        if order["customer_id"] != case.customer_id:
            self._refuse("not_your_order", f"{order['order_id']} is not your order.")
        elif says("twice", text):
            late = case.duplicate(order)
            if late:
                self._money_back(order, "void_duplicate_charge", payment_id=late["payment_id"])
            else:
                self._refuse("no_fault_found", "The order was charged once.")
        elif says("cancel", text):
            if order["status"] == "processing":
                self._money_back(order, "cancel_order", order_id=order["order_id"])
            else:
                self._refuse("already_shipped", "The order has been sent.")
        else:
            backs = case.returns(order["order_id"])
            returned = {row["item_id"] for row in backs}
            entry = max(order["items"], key=lambda each: (mentioned(each["name"], text), each["item_id"] in returned))
            if entry["item_id"] in returned:
                back = next(row for row in backs if row["item_id"] == entry["item_id"])
                self._refund(order, case.read("get_return", return_id=back["return_id"]))
            else:
                self._send_back(case.item(entry["item_id"]))

    def _refund(self, order: Json, back: Json) -> None:
        """2.6, 3.1 to 3.3, to the payment that took most."""
        case, item = self.case, self.case.item(back["item_id"])
        if back["status"] != "inspected":
            self._refuse("return_not_received", f"Your return {back['return_id']} has not been inspected yet.")
            return
        if item["refunded_minor"]:
            self._refuse("already_refunded", f"{money(item['refunded_minor'], order['currency'])} have been paid back.")
            return
        product, tier = case.product(item), case.customer["tier"]
        amount: int | None = case.value(order, item, back["quantity"])
        if back["reason"] == "change_of_mind":
            amount = rules.after_fee(amount or 0, product["category"], back["condition"], tier)
            if amount is None:
                self._refuse("condition_not_accepted", f"What came with return {back['return_id']} was used.")
                return
            if back["label"] == "shop" and tier != "gold":
                amount = max(0, amount - rules.LABELS[order["currency"]])
        payment = max(case.payments(order["order_id"]), key=lambda row: row["amount_minor"])
        arguments = {
            "item_id": item["item_id"],
            "payment_id": payment["payment_id"],
            "amount_minor": amount,
            "reason": back["reason"],
        }
        self._money_back(order, "create_refund", **arguments)

    def _money_back(self, order: Json, tool: str, **arguments: Any) -> None:
        """1.5, 1.7: whatever pays back."""
        case = self.case
        if (case.read("get_risk_profile", customer_id=case.customer_id).get("fraud_score") or 0) >= _RISKY:
            case.say("A colleague will get in touch with you.")
            case.view.call("hand_off", {"reason": "fraud_suspected", "summary": f"Order {order['order_id']}."})
        made = case.agreed(tool, **arguments)
        if not made:
            self._refuse("already_refunded", "I could not pay that back.")
            return
        paid = made["refunded_minor"] if tool == "cancel_order" else made["amount_minor"]
        self.paid += paid
        self.answer |= {"refund_minor": self.paid, "currency": order["currency"]}
        self.tells.append(f"{money(paid, order['currency'])} go back to you.")

    def _send_back(self, item: Json) -> None:
        """2.1, 2.2, 2.5, 2.6."""
        case, product, tier = self.case, self.case.product(item), self.case.customer["tier"]
        if product["category"] not in rules.DAYS or item["activated_at"]:
            self._refuse("not_returnable", f"{product['name']} cannot be returned.")
            return
        arrived = case.delivered(item)
        if arrived is None:
            promised = case.tracking(item).get("promised_by")
            until = date.fromisoformat(promised) + timedelta(10) if promised else case.today
            self._refuse("too_early", f"Please wait until {until}.")
            return
        more = 0 if product["category"] in ("marketplace", "digital") else rules.MORE_DAYS.get(tier, 0)
        last = arrived + timedelta(rules.DAYS[product["category"]] + more)
        if day(case.ticket["created_at"]) > last:
            self._refuse("outside_window", f"The last day to ask was {last}.")
            return
        label = "shop" if tier == "gold" else "customer"
        made = case.agreed(
            "create_return", item_id=item["item_id"], quantity=item["quantity"], reason="change_of_mind", label=label
        )
        self.tells.append(f"The last day to ask is {last}.")
        if made:
            self.waits = True
            self.answer["return_id"] = made["return_id"]

    def _refuse(self, code: str, message: str) -> None:
        self.codes.append(code)
        self.tells.append(f"{message} Reason: {code.replace('_', ' ')}.")
        self.waits |= code in rules.WAITING


if __name__ == "__main__":
    main(Clerk)
