"""A generated case while it is put together: its draws and the rows of its world."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache

from agentgym.envs.refund.gen_data import (
    RATES,
    Row,
    numbers_of,
    reference,
    shown_numbers,
)
from agentgym.envs.refund.gen_request import Order
from agentgym.envs.refund.seed_members import COUNTRIES
from agentgym.generating import Draws
from agentgym.world import parse_iso

TABLES = (
    "risk_profiles orders shipments tracking_events order_items gift_cards payments "
    "returns refunds "
    "evidence evidence_requests traces fraud_reviews replacements"
).split()
"""Each after those that it refers to."""


class Case:
    """Rows and draws of one scenario.

    Args:
        stream: all draws.
        country: where the customer lives.
        chinese: whether the customer writes Chinese.
    """

    def __init__(self, stream: Draws, country: str, chinese: bool) -> None:
        self.draw, self.chinese = stream, chinese
        self.unnamed = False
        self.rows: defaultdict[str, list[Row]] = defaultdict(list)
        self.order_days: list[tuple[str, str]] = []
        self._used: set[str] = set()
        self._shown = shown_numbers()
        self.country = _BY_CODE[country]
        self.currency = self.country.currency
        self.member = member = stream.choice(reference().members[country, chinese])
        self.customer_id, self.ticket_id, self.tier = member.customer_id, member.ticket_id, member.tier
        self.today = member.asked + _DAYS[stream.integers(0, 3)]
        self.now = f"{self.today}T{self.clock(12, 7)}Z"
        self._now = numbers_of(self.now)
        self.role = "desk_agent" if stream.integers(0, 4) else "desk_lead"

    def mark(self) -> dict[str, int]:
        """How many rows there are, to `undo` what comes after."""
        return {"": len(self.order_days), **{table: len(rows) for table, rows in self.rows.items()}}

    def undo(self, mark: dict[str, int]) -> None:
        """Drop the rows added since `mark`."""
        del self.order_days[mark[""] :]
        for table, rows in self.rows.items():
            del rows[mark.get(table, 0) :]

    def new_id(self, prefix: str) -> str:
        """A drawn id that no series of the snapshot reaches."""
        while (found := f"{prefix}{self.draw.integers(20_000, 100_000)}") in self._used:
            pass
        self._used.add(found)
        return found

    def clock(self, first: int = 8, hours: int = 11) -> str:
        """A time of day."""
        second = self.draw.integers(0, hours * 3600)
        return f"{_TWO[first + second // 3600]}:{_TWO[second // 60 % 60]}:{_TWO[second % 60]}"

    def hides(self, *amounts: int) -> bool:
        """Whether the agent is shown none of these amounts anyway."""
        return self._shown.isdisjoint(amounts) and self._now.isdisjoint(amounts)

    def at(self, day: date) -> str:
        """A drawn moment of a day."""
        return f"{day}T{self.clock()}Z"

    def moment(self, seconds: int) -> int:
        """A moment so many seconds after the start, in milliseconds since 1970."""
        return parse_iso(self.now) + seconds * 1000

    def chance(self, percent: int) -> bool:
        """Whether something of this likelihood happens."""
        return self.draw.integers(0, 100) < percent

    def says(self, english: Sequence[str], chinese: Sequence[str]) -> str:
        """One wording in the customer's language."""
        return self.draw.choice(chinese if self.chinese else english)

    def price(self, product: Row) -> int:
        """A price in the customer's currency, up to 20 % off the list's, never a number that is shown anyway."""
        rate, step = RATES[self.currency]
        listed, draw = product["list_price_minor"] * rate, self.draw.integers
        while True:
            price = listed * draw(80, 121) // 10_000 // step * step
            price += draw(1, 9) * step if step > 1 else draw(11, 97)
            if self.hides(price):
                return int(price)

    def products(self, categories: Sequence[str], count: int, most: int = 9_000) -> list[Row]:
        """Different products of these categories, none dearer than *most* euro cents."""
        options = _affordable(tuple(categories), most)
        chosen: list[Row] = []
        while len(chosen) < count:
            row = self.draw.choice(options)
            if row not in chosen:
                chosen.append(row)
        return chosen

    def order(
        self,
        products: Sequence[Row],
        quantities: Sequence[int],
        delivered: date | None,
        placed: date | None = None,
        promised: date | None = None,
        coupon: bool = False,
        pay: Sequence[str] = (),
        parcel: bool = True,
    ) -> Order:
        """Add an order with one parcel, its items and payments; the first of two payments takes about a third."""
        order_id = self.new_id("A")
        known = delivered or promised or self.today
        placed = placed or known - timedelta(self.draw.integers(4, 7))
        placed_at = self.at(placed)
        self.order_days.append((placed_at, order_id))
        rate, step = RATES[self.currency]
        shipping = 490 * rate // 100 // step * step if parcel else 0
        while True:
            lines = [(row, quantity, self.price(row)) for row, quantity in zip(products, quantities, strict=True)]
            goods = sum(price * quantity for _, quantity, price in lines)
            off = goods * self.draw.integers(6, 17) // 100 // step * step if coupon else 0
            if self.hides(goods + shipping - off):
                break
        order = {
            "order_id": order_id,
            "customer_id": self.customer_id,
            "address_id": self.member.address_id,
            "placed_at": placed_at,
            "status": "processing" if not parcel else "delivered" if delivered else "shipped",
            "currency": self.currency,
            "coupon_minor": off,
            "shipping_minor": shipping,
            "total_minor": goods + shipping - off,
        }
        self.rows["orders"].append(order)
        parcels = [self._parcel(order_id, placed, promised or known, delivered)] if parcel else []
        status = "delivered" if delivered else "shipped" if parcel else "ordered"
        items = [
            {
                "item_id": f"{order_id}-{number}",
                "order_id": order_id,
                "product_id": row["product_id"],
                "quantity": quantity,
                "shipment_id": parcels[0]["shipment_id"] if parcels else None,
                "unit_price_minor": price,
                "discount_minor": 0,
                "refunded_minor": 0,
                "status": status,
            }
            for number, (row, quantity, price) in enumerate(lines, 1)
        ]
        self.rows["order_items"] += items
        return Order(order, items, parcels, self._payments(order, pay), delivered)

    def _parcel(self, order_id: str, placed: date, promised: date, delivered: date | None) -> Row:
        carrier = self.country.carrier
        parcel = {
            "shipment_id": self.new_id("SH"),
            "order_id": order_id,
            "carrier": carrier,
            "promised_by": promised.isoformat(),
            "tracking_number": f"{carrier[:2].upper()}{self.draw.integers(10**9, 10**10)}{self.country.code}",
        }
        self.rows["shipments"].append(parcel)
        place = self.member.city
        code, day, where = (
            ("delivered", delivered, place) if delivered else ("in_transit", placed + timedelta(2), "sorting centre")
        )
        # One event a parcel: each row of a patch is paid for at every reset.
        self.rows["tracking_events"].append(
            {"shipment_id": parcel["shipment_id"], "seq": 1, "at": self.at(day), "code": code, "place": where}
        )
        return parcel

    def _payments(self, order: Row, methods: Sequence[str]) -> list[Row]:
        methods = methods or (self.draw.choice(("card", "card", "paypal")),)
        left, made = order["total_minor"], []
        for number, method in enumerate(methods, 1):
            amount = left
            if number < len(methods):
                step = RATES[self.currency][1]
                amount = max(left * self.draw.integers(25, 46) // 100, min(left * 3 // 4, 1_010)) // step * step
                while not self.hides(amount) and amount > step:
                    amount -= step
            made.append(self.payment(order, method, amount))
            left -= amount
        return made

    def payment(self, order: Row, method: str, amount: int, at: str = "", status: str = "captured") -> Row:
        """Add a payment, a gift card with its card."""
        card = self.new_id("G") if method == "gift_card" else None
        if card:
            extra = self.draw.integers(0, 3) * 500
            self.rows["gift_cards"].append(
                {
                    "gift_card_id": card,
                    "code": f"LG-{self.draw.integers(10**11, 10**12)}",
                    "customer_id": self.customer_id,
                    "currency": self.currency,
                    "initial_minor": amount + extra,
                    "balance_minor": extra,
                    "expires_on": "2028-12-31",
                }
            )
        token = (
            f"tok_{self.draw.integers(0, 16**8):08x}{self.draw.integers(0, 16**8):08x}" if method == "card" else None
        )
        row = {
            "payment_id": self.new_id("PM"),
            "order_id": order["order_id"],
            "method": method,
            "amount_minor": amount,
            "currency": self.currency,
            "refunded_minor": 0,
            "created_at": at or order["placed_at"],
            "card_token": token,
            "card_last4": f"{self.draw.integers(0, 10_000):04}" if token else None,
            "gift_card_id": card,
            "status": status,
        }
        self.rows["payments"].append(row)
        return row

    def come_back(
        self, item: Row, units: int, reason: str, created: date, condition: str, label: str, status: str = "inspected"
    ) -> Row:
        """Add a return; an inspected one with the condition found."""
        done = status == "inspected"
        row = {
            "return_id": self.new_id("R"),
            "item_id": item["item_id"],
            "quantity": units,
            "reason": reason,
            "label": label,
            "status": status,
            "created_at": self.at(created),
            "received_at": self.at(created + timedelta(3)) if done else None,
            "condition": condition if done else None,
            "inspection_note": f"{units} unit(s), {condition.replace('_', ' ')}" if done else None,
        }
        self.rows["returns"].append(row)
        return row

    def patch(self) -> dict[str, list[Row]]:
        """The rows by table, without empty tables."""
        rows = self.rows
        return {table: rows[table] for table in TABLES if table in rows and rows[table]}


_BY_CODE = {each.code: each for each in COUNTRIES}
_DAYS = tuple(timedelta(days) for days in range(3))
_TWO = tuple(f"{number:02}" for number in range(60))


@cache
def _affordable(categories: tuple[str, ...], most: int) -> tuple[Row, ...]:
    return tuple(
        row for name in categories for row in reference().products[name] if 1_500 <= row["list_price_minor"] <= most
    )
