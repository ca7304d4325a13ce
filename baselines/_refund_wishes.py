"""Which orders and which of their lines a customer of the refund desk speaks of; only for Refund."""

from __future__ import annotations

from collections.abc import Collection

from agentgym.baselines._refund_case import Case, Json
from agentgym.baselines._refund_words import ORDER_ID, heard, is_kept, mentioned, names, says, segments

_LATEST = 6
"""So many of the newest orders are searched where none is named."""


class Wishes:
    """Finds what the opening is about.

    Args:
        case: what is known.

    Attributes:
        seen: the customer's orders that it is about, by number.
        foreign: orders named that are somebody else's.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.seen: dict[str, Json] = {}
        self.foreign: list[str] = []

    def find(self, opening: str) -> list[tuple[Json, str]]:
        """(order, what is said about it); orders of others are refused on the way."""
        named = list(dict.fromkeys(ORDER_ID.findall(opening)))
        parts = segments(opening, named)
        wishes: list[tuple[Json, str]] = []
        for name, text in parts.items():
            if name == "latest":
                order = self._order(self.case.orders[-1]["order_id"]) if self.case.orders else {}
            elif not name:
                order = self._search(text, ())
                if not order and says("cancel", text) and self.case.orders:
                    order = self._order(self.case.orders[-1]["order_id"])
            else:
                order = self._own(name, opening)
            if order:
                wishes.append((order, text))
        if says("no_number", opening) and "" not in parts:
            other = self._search(opening, [order["order_id"] for order, _ in wishes])
            if other:
                wishes.append((other, opening))
        return wishes

    def _order(self, name: str) -> Json:
        found = self.case.order(name)
        if found:
            self.seen[name] = found
        return found

    def _own(self, name: str, text: str) -> Json:
        """The order of this number if it is the customer's; else the own one that fits and is recognised (1.2)."""
        order = self.case.order(name)
        if order and order["customer_id"] == self.case.customer_id:
            self.seen[name] = order
            return order
        other = self._search(text, ORDER_ID.findall(text))
        if other:
            ask = f"{name} is not your order. Do you mean your order {other['order_id']}?"
            reply = self.case.say(
                f"{name} 不是您的订单。您是指您的订单 {other['order_id']} 吗？" if self.case.chinese else ask
            )
            if other["order_id"] in reply or says("yes", reply):
                return other
        if order:
            self.foreign.append(name)
        return {}

    def _search(self, text: str, without: Collection[str]) -> Json:
        """The customer's own order whose goods fit a text best, the newest of equals."""
        best: tuple[int, Json] = (0, {})
        for entry in reversed(self.case.orders[-_LATEST:]):
            if entry["order_id"] in without:
                continue
            order = self.case.order(entry["order_id"])
            score = max((mentioned(item["name"], text) for item in order["items"]), default=0)
            if score > best[0]:
                best = (score, order)
        if best[1]:
            self.seen[best[1]["order_id"]] = best[1]
        return best[1]

    def meant(self, order: Json, text: str) -> list[Json]:
        """The lines that a text is about: those named, else those with a return, else all."""
        entries: list[Json] = order["items"]
        if len(entries) == 1:
            return entries
        if says("missing", text):
            pending = [
                entry
                for entry in entries
                if self.case.item(entry["item_id"])["status"] not in ("refunded", "cancelled")
            ]
            return pending
        scores = {entry["item_id"]: mentioned(entry["name"], text) for entry in entries}
        back = {row["item_id"] for row in self.case.returns(order["order_id"])}
        named = [entry for entry in entries if scores[entry["item_id"]] and not is_kept(entry["name"], text)]
        both = [entry for entry in named if entry["item_id"] in back]
        if both and says("back", text):
            return both
        if named:
            # Of two lamps only the one whose whole name was said, but the vase beside it by its own word.
            whole = {word for entry in named if scores[entry["item_id"]] > 10 for word in names(entry["name"])}
            return [entry for entry in named if scores[entry["item_id"]] > 10 or heard(entry["name"], text) - whole]
        return [entry for entry in entries if entry["item_id"] in back] or entries
