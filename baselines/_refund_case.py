"""A case of the refund desk as an agent gets to know it: reads when something is first needed, and only once."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

from agentgym.baselines._refund_rules import Row, charged_twice, day, value
from agentgym.baselines._view import View, parsed

Json = dict[str, Any]

_TICKET = re.compile(r"ticket (T\d+)")
_ROLE = re.compile(r"You work as (\w+)")
_NOW = re.compile(r"It is (\d{4}-\d\d-\d\d)T")


class Case:
    """What the tools say about the customer of the ticket, and the conversation.

    Args:
        view: the running episode.

    Attributes:
        ticket_id: of the conversation, from the system prompt.
        role: the agent's.
        today: the day on which the episode starts.
        heard: everything that the customer said and every notice, in order.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.ticket_id = _found(_TICKET, view.system)
        self.role = _found(_ROLE, view.system) or "desk_agent"
        self.today = date.fromisoformat(_found(_NOW, view.system))
        self.heard: list[str] = [view.opening]
        self.chinese = re.search("[\u4e00-\u9fff]", view.opening) is not None
        self._read: dict[str, Any] = {}

    # Reading.

    def read(self, tool: str, **arguments: Any) -> Json:
        """The result of a read, called at most once; empty where there is nothing."""
        key = json.dumps([tool, arguments], sort_keys=True)
        if key not in self._read:
            observation = self._noted(self.view.call(tool, arguments))
            found = parsed(observation["content"]) if observation["role"] != "error" else {}
            self._read[key] = found if isinstance(found, dict) else {}
        result: Json = self._read[key]
        return result

    @property
    def ticket(self) -> Json:
        """The ticket."""
        return self.read("get_ticket", ticket_id=self.ticket_id)

    @property
    def customer_id(self) -> str:
        """Whose ticket it is."""
        return str(self.ticket.get("customer_id", ""))

    @property
    def customer(self) -> Json:
        """The customer's record."""
        return self.read("get_customer", customer_id=self.customer_id)

    @property
    def orders(self) -> list[Json]:
        """The customer's orders, oldest first."""
        return list(self.read("find_orders", customer_id=self.customer_id).get("orders", []))

    def order(self, order_id: str) -> Json:
        """An order with its items."""
        return self.read("get_order", order_id=order_id)

    def item(self, item_id: str) -> Json:
        """A line of an order."""
        return self.read("get_order_item", item_id=item_id)

    def items(self, order: Json) -> list[Json]:
        """All lines of an order."""
        return [self.item(entry["item_id"]) for entry in order["items"]]

    def product(self, item: Row) -> Json:
        """The product of a line."""
        return self.read("get_product", product_id=item["product_id"])

    def payments(self, order_id: str) -> list[Json]:
        """The payments of an order."""
        return list(self.read("list_payments", order_id=order_id).get("payments", []))

    def returns(self, order_id: str) -> list[Json]:
        """The returns of an order that were not cancelled."""
        found = self.read("list_returns", order_id=order_id).get("returns", [])
        return [row for row in found if row["status"] != "cancelled"]

    def tracking(self, item: Row) -> Json:
        """The parcel of a line with its events."""
        return self.read("get_tracking", shipment_id=item["shipment_id"]) if item.get("shipment_id") else {}

    def delivered(self, item: Row) -> date | None:
        """The day on which the parcel of a line was delivered."""
        days = [day(event["at"]) for event in self.tracking(item).get("events", []) if event["code"] == "delivered"]
        return days[-1] if days else None

    def value(self, order: Json, item: Row, units: int) -> int:
        """What units of a line are worth; without a coupon the other lines need not be read."""
        lines = self.items(order) if order["coupon_minor"] else [item]
        return value(order["coupon_minor"], item, lines, units)

    def duplicate(self, order: Json) -> Row | None:
        """The payment to void, or None."""
        return charged_twice(self.payments(order["order_id"]), order["total_minor"])

    # Talking and writing.

    def say(self, message: str) -> str:
        """Say something; the reply."""
        observation = self._noted(self.view.say(message))
        return str(observation["content"])

    def confirmed(self, tool: str, arguments: Json) -> bool:
        """Ask for consent to a call."""
        observation = self._noted(self.view.call("confirm_with_user", {"tool": tool, "arguments": arguments}))
        answer = parsed(observation["content"])
        return isinstance(answer, dict) and answer.get("confirmed") is True

    def write(self, tool: str, **arguments: Any) -> Json:
        """Call a write; its result, empty where it failed."""
        observation = self._noted(self.view.call(tool, arguments))
        found = parsed(observation["content"])
        return found if observation["role"] != "error" and isinstance(found, dict) else {}

    def agreed(self, tool: str, **arguments: Any) -> Json:
        """Ask for consent, then call; empty where it was refused or failed."""
        return self.write(tool, **arguments) if self.confirmed(tool, arguments) else {}

    def close(self, status: str) -> None:
        """Set the ticket, unless it has that status."""
        if self.ticket.get("status") != status:
            self.write("update_ticket_status", ticket_id=self.ticket_id, status=status)

    def _noted(self, observation: Json) -> Json:
        if observation["role"] == "user":
            self.heard.append(str(observation["content"]))
        for notice in json.loads(observation["notices"]):
            self.heard.append(notice if isinstance(notice, str) else json.dumps(notice, ensure_ascii=False))
        return observation


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
