"""The refund desk's policy as code: what is to be done about one wish; only for Refund.

Everything is decided before anything is written: a hand-off must come without any write.
"""

from __future__ import annotations

from datetime import date, timedelta

from agentgym.baselines import _refund_rules as rules
from agentgym.baselines._refund_case import Json
from agentgym.baselines._refund_money import Decision, Money
from agentgym.baselines._refund_rules import Row, day
from agentgym.baselines._refund_words import broken_units, carrier_damage, says, units

_DAMAGE_DAYS, _DEFECT_DAYS, _WRONG_DAYS, _LOST_DAYS = 7, 730, 30, 10


class Policy(Money):
    """Decides wishes of one case, section by section.

    Args:
        case: what is known.
    """

    def decide(self, order: Json, entry: Json, text: str) -> Decision:
        """One line of an order, by its state first and the customer's words second.

        Args:
            order: as get_order gives it.
            entry: one of its items, as there.
            text: what the customer says about it.
        """
        made = Decision(order["order_id"])
        item = self.case.item(entry["item_id"])
        returns = [row for row in self.case.returns(order["order_id"]) if row["item_id"] == item["item_id"]]
        if returns:
            return self._returned(
                made, order, item, self.case.read("get_return", return_id=returns[-1]["return_id"]), text
            )
        if item.get("shipment_id") and self.case.delivered(item) is None:
            return self.not_arrived(made, order, item, text)
        if says("missing", text) and item.get("shipment_id"):
            return self._traced(made, order, item, text)
        if says("damage", text) or says("wrong", text) or says("defect", text):
            product = self.case.product(item)
            if says("damage", text) and not (says("defect", text) and product["category"] == "electronics"):
                return self._damaged(made, order, item, product, text)
            return self._defective(made, order, item, text)
        return self._unwanted(made, order, item, entry, text)

    # 2, 3: change of mind.

    def _unwanted(self, made: Decision, order: Json, item: Json, entry: Json, text: str) -> Decision:
        product = self.case.product(item)
        count = units(text, entry["name"], item["quantity"])
        refused = self._settled(made, order, item, count) or self._window(
            made, order, item, product, day(self.case.ticket["created_at"])
        )
        if refused:
            return refused
        if product["category"] == "digital":
            self._pay(made, order, item, self.case.value(order, item, count), "change_of_mind", text)
            return made
        label = "shop" if self.case.customer["tier"] == "gold" else "customer"
        made.add("create_return", item_id=item["item_id"], quantity=count, reason="change_of_mind", label=label)
        made.keys["return_id"], made.waits = "return_id", True
        return made

    def _window(self, made: Decision, order: Json, item: Json, product: Json, asked: date) -> Decision | None:
        """2.1 to 2.5; the last day is told in any case."""
        category = product["category"]
        if category not in rules.DAYS or item.get("activated_at"):
            when = f"It was activated on {item['activated_at'][:10]}." if item.get("activated_at") else ""
            return made.refuse("not_returnable", f"{product['name']} cannot be returned. {when}".strip())
        start = day(order["placed_at"]) if category == "digital" else self.case.delivered(item)
        if start is None:
            return made.refuse("too_early")
        country, notices = self.case.customer["country"], []
        if category != "digital":
            notices = self.case.read(
                "list_carrier_notices", carrier=self.case.tracking(item)["carrier"], country=country
            ).get("notices", [])
        holidays = [row["day"] for row in self.case.read("list_holidays", country=country).get("holidays", [])]
        last = rules.last_day(start, category, self.case.customer["tier"], notices, holidays)
        made.tells.append(
            f"The last day to ask for {product['name']} was {last}."
            if asked > last
            else f"The last day to ask for {product['name']} is {last}."
        )
        return made.refuse("outside_window") if asked > last else None

    def _returned(self, made: Decision, order: Json, item: Json, back: Json, text: str) -> Decision:
        """2.6, 3.2, 5.5: a return is there."""
        came = f" and came on {back['received_at'][:10]}" if back["received_at"] else ""
        made.tells.append(f"Your return has the number {back['return_id']}{came}.")
        refused = self._settled(made, order, item, back["quantity"], back["created_at"])
        if refused:
            return refused
        if back["status"] != "inspected":
            made.refuse("return_not_received", "We pay once the goods are here and inspected.")
            if back["status"] == "open" and says("whatever", text):
                made.add("cancel_return", return_id=back["return_id"])
            return made
        reason, product = back["reason"], self.case.product(item)
        if reason in ("defective", "wrong_item"):
            if back["condition"] != reason:
                return made.refuse("no_fault_found", "The inspection found no fault.")
            return self._make_good(made, order, item, back["quantity"], reason, text)
        if reason == "damaged":
            return self._make_good(made, order, item, back["quantity"], reason, text)
        refused = self._window(made, order, item, product, day(back["created_at"]))
        if refused:
            return refused
        tier = self.case.customer["tier"]
        amount = rules.after_fee(
            self.case.value(order, item, back["quantity"]), product["category"], back["condition"], tier
        )
        if amount is None:
            return made.refuse("condition_not_accepted", "The goods were used, so we cannot take them back.")
        if back["label"] == "shop" and tier != "gold":
            amount = max(0, amount - rules.LABELS[order["currency"]])
        self._pay(made, order, item, amount, "change_of_mind", text)
        return made

    # 5: damaged, defective, wrong.

    def _damaged(self, made: Decision, order: Json, item: Json, product: Json, text: str) -> Decision:
        arrived = self.case.delivered(item)
        perishable = product["category"] == "perishable"
        if arrived is None or day(self.case.ticket["created_at"]) > arrived + timedelta(
            2 if perishable else _DAMAGE_DAYS
        ):
            return made.refuse("outside_window", f"Damage must be reported in time after the delivery on {arrived}.")
        refused = self._settled(made, order, item, item["quantity"])
        if refused:
            return refused
        found = self.case.read("list_evidence", item_id=item["item_id"])
        photos = {row["kind"]: row["evidence_id"] for row in found.get("photos", [])}
        asked = {row["kind"] for row in found.get("requests", [])}
        missing = [
            kind
            for kind in (("inner_goods",) if perishable else ("signature", "outer_packaging", "inner_goods"))
            if kind not in photos
        ]
        if missing:
            for kind in missing:
                if kind not in asked:
                    made.add("request_evidence", ticket_id=self.case.ticket_id, item_id=item["item_id"], kind=kind)
            return made.refuse("evidence_missing", f"We still need a photo: {', '.join(missing).replace('_', ' ')}.")
        shows = {
            kind: self.case.read("get_evidence", evidence_id=photo).get("shows", "") for kind, photo in photos.items()
        }
        if says("other_product", shows["inner_goods"]):
            made.photo = shows["inner_goods"]
            return made
        count = broken_units(shows["inner_goods"], item["quantity"])
        if count == 0:
            return made.refuse("no_fault_found", "The photo shows no damage.")
        self._make_good(made, order, item, count, "damaged", text)
        self._claim(
            made,
            order,
            item,
            product,
            count,
            any(carrier_damage(shows.get(kind, "")) for kind in ("signature", "outer_packaging")),
        )
        return made

    def _claim(self, made: Decision, order: Json, item: Json, product: Json, count: int, by_carrier: bool) -> None:
        """5.4: the value from the carrier, else from the supplier in time."""
        arrived, worth = self.case.delivered(item), self.case.value(order, item, count)
        if made.code or arrived is None:
            return
        if by_carrier:
            made.add("file_carrier_claim", item_id=item["item_id"], amount_minor=worth)
        elif product.get("supplier_id"):
            supplier: Row = self.case.read("get_supplier", supplier_id=product["supplier_id"])
            if self.case.today <= arrived + timedelta(supplier["claim_window_days"]):
                made.add("file_supplier_claim", item_id=item["item_id"], amount_minor=worth)

    def _defective(self, made: Decision, order: Json, item: Json, text: str) -> Decision:
        arrived, wrong = self.case.delivered(item), says("wrong", text)
        if arrived is None or self.case.today > arrived + timedelta(_WRONG_DAYS if wrong else _DEFECT_DAYS):
            return made.refuse("outside_window", "It is too late for that.")
        count = item["quantity"]
        made.add(
            "create_return",
            item_id=item["item_id"],
            quantity=count,
            reason="wrong_item" if wrong else "defective",
            label="shop",
        )
        made.keys["return_id"], made.waits = "return_id", True
        return made

    # 6: not arrived.

    def not_arrived(self, made: Decision, order: Json, item: Json, text: str) -> Decision:
        """6.1."""
        promised = date.fromisoformat(self.case.tracking(item)["promised_by"])
        latest = promised + timedelta(_LOST_DAYS)
        if self.case.today <= latest:
            return made.refuse("too_early", f"Please wait until {latest}.")
        return self._lost(made, order, item, text)

    def _traced(self, made: Decision, order: Json, item: Json, text: str) -> Decision:
        """6.2."""
        parcel, arrived = self.case.tracking(item), self.case.delivered(item)
        made.tells.append(f"The carrier says that it was delivered on {arrived}.")
        if not parcel.get("traces"):
            made.add("open_trace", shipment_id=item["shipment_id"])
            made.keys["trace_id"], made.waits = "trace_id", True
            return made
        trace = parcel["traces"][-1]
        if trace["result"] == "delivered_confirmed":
            return made.refuse("no_fault_found", f"The carrier has confirmed the delivery: {trace['finding'] or ''}")
        if trace["result"] is None and self.case.today <= day(trace["opened_at"]) + timedelta(_LOST_DAYS):
            latest = day(trace["opened_at"]) + timedelta(_LOST_DAYS)
            return made.refuse("trace_open", f"The search {trace['trace_id']} goes on until {latest}.")
        return self._lost(made, order, item, text)

    def _lost(self, made: Decision, order: Json, item: Json, text: str) -> Decision:
        refused = self._settled(made, order, item, item["quantity"])
        if refused:
            return refused
        self._make_good(made, order, item, item["quantity"], "not_received", text)
        if not made.code:
            made.add(
                "file_carrier_claim",
                item_id=item["item_id"],
                amount_minor=self.case.value(order, item, item["quantity"]),
            )
        return made
