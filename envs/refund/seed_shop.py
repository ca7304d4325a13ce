"""A shop of which the seed data are made: its rows, its draws, its series of ids."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from agentgym.envs.refund.seed_data import ASCII, CARRIERS, CURRENCIES, PEOPLE, SERIES, TABLES

Row = dict[str, Any]
Line = tuple[str, int, int, int]
"""Name of the product, quantity, line discount in minor units, index of the parcel."""
Parcel = tuple[str, str | None]
"""Promised day, time of delivery or None while it is on its way."""


def after(text: str, days: int, clock: str) -> str:
    """The time *clock* of the day *days* after the day of *text*, ISO 8601."""
    return f"{date.fromisoformat(text[:10]) + timedelta(days)}T{clock}Z"


def entries(block: str) -> list[list[str]]:
    """The lines of a block, each as its fields."""
    return [line.split("|") for line in block.strip().splitlines()]


def plain(name: str) -> str:
    """A name as it stands in an e-mail address.

    >>> plain("Łukasz O'Connor")
    'lukasz.oconnor'
    """
    letters = "".join(ASCII.get(letter, letter) for letter in name).lower().replace(" ", ".")
    return "".join(letter for letter in letters if letter.isascii() and (letter.isalnum() or letter == "."))


class Shop:
    """Rows of all tables while they are made up, with the draws and the counters of ids."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        self.last = {name: int(first) for name, first in (pair.split(":") for pair in SERIES.split())}
        self.index: dict[str, Row] = {}
        self.home: dict[str, Row] = {}
        self._count = 0

    def draw(self, n: int) -> int:
        """The next draw from 0..n-1."""
        self._count += 1
        return int.from_bytes(hashlib.sha256(f"refund:{self._count}".encode()).digest()[:8], "big") % n

    def pick(self, options: Sequence[Any]) -> Any:
        """One of *options*."""
        return options[self.draw(len(options))]

    def clock(self, first: int = 7, hours: int = 13) -> str:
        """A time of day."""
        return f"{first + self.draw(hours):02}:{self.draw(60):02}:{self.draw(60):02}"

    def next_id(self, prefix: str) -> str:
        """The next id of a series, with gaps: an id must not tell another."""
        self.last[prefix] += 1 + self.draw(4)
        return f"{prefix}{self.last[prefix]}"

    def add(self, table: str, **row: Any) -> Row:
        """Keep a row, findable under the value of its first column."""
        self.rows[table].append(row)
        self.index[str(next(iter(row.values())))] = row
        return row

    def product(self, name: str) -> Row:
        """The product whose name starts with *name*."""
        return next(row for row in self.rows["products"] if row["name"].startswith(name))

    def customer(self, country: str, name: str = "", tier: str = "", score: int = 0) -> str:
        """Add a customer with address and risk profile, drawn where nothing is given; return the id."""
        person = next(row for row in entries(PEOPLE) if row[0] == country)
        first, last, cities = person[4].split(), person[5].split(), person[7].split()
        name = name or f"{self.pick(first)} {self.pick(last).replace('_', ' ')}"
        city, _, postcode = self.pick(cities).partition(":")
        customer_id = self.next_id("C")
        self.add(
            "customers",
            customer_id=customer_id,
            name=name,
            email=f"{plain(name)}{self.draw(90) + 10}.{customer_id[-2:]}@example.{self.pick(('com', 'net', 'org'))}",
            phone=f"{person[3]}{self.draw(9000) + 1000}",
            tier=tier or self.pick(("standard",) * 6 + ("silver", "silver", "gold")),
            country=country,
            currency=person[1],
            language=person[2],
            created_at=after("2021-03-01", self.draw(1640), self.clock()),
        )
        street = f"{self.pick(person[6].split('/'))} {self.draw(140) + 1}"
        self.home[customer_id] = self.add(
            "addresses",
            address_id=self.next_id("AD"),
            customer_id=customer_id,
            street=street,
            city=city,
            postcode=postcode,
            country=country,
        )
        note = "" if score < 60 else "several claims for parcels that were signed for; watch"
        self.rows["risk_profiles"].append(
            {"customer_id": customer_id, "fraud_score": score or self.draw(55), "internal_note": note}
        )
        return customer_id

    def order(
        self,
        order_id: str,
        customer_id: str,
        placed_at: str,
        lines: Sequence[Line],
        parcels: Sequence[Parcel],
        pay: Sequence[tuple[str, int]] = (("card", 0),),
        coupon: int = 0,
        shipping: int = 1,
    ) -> str:
        """Add an order with parcels, tracking, items and payments (amount 0: what is left to pay); return its id."""
        customer = self.index[customer_id]
        _, rate, step = CURRENCIES[customer["currency"]]
        address = self.home[customer_id]
        arrived = [delivered is not None for _, delivered in parcels]
        order = self.add(
            "orders",
            order_id=order_id,
            customer_id=customer_id,
            address_id=address["address_id"],
            status="processing" if not arrived else "delivered" if all(arrived) else "shipped",
            placed_at=placed_at,
            currency=customer["currency"],
            coupon_minor=coupon,
            shipping_minor=shipping and 490 * rate // 100 // step * step,
            shipping_refunded_minor=0,
        )
        sent = [self._parcel(order, customer["country"], parcel) for parcel in parcels]
        total = order["shipping_minor"] - coupon
        for number, (name, quantity, discount, parcel) in enumerate(lines, 1):
            product = self.product(name)
            unsent = product["category"] in ("digital", "gift_card")
            delivered = unsent or (parcel < len(arrived) and arrived[parcel])
            price = product["list_price_minor"] * rate // 100 // step * step
            total += price * quantity - discount
            self.add(
                "order_items",
                item_id=f"{order_id}-{number}",
                order_id=order_id,
                product_id=product["product_id"],
                shipment_id=None if unsent or not sent else sent[parcel],
                quantity=quantity,
                unit_price_minor=price,
                discount_minor=discount,
                refunded_minor=0,
                activated_at=None,
                engraving="with love, M." if "Engraved" in name else None,
                status="delivered" if delivered else "shipped" if sent else "ordered",
            )
        order["total_minor"] = total
        if all(row["status"] == "delivered" for row in self.rows["order_items"][-len(lines) :]):
            order["status"] = "delivered"
        for method, amount in pay:
            self.payment(order_id, method, amount or total, placed_at)
            total -= amount or total
        return order_id

    def _parcel(self, order: Row, country: str, parcel: Parcel) -> str:
        promised, delivered = parcel
        shipment = self.next_id("SH")
        carrier = CARRIERS.get(country, "Nordpost")
        number = f"{carrier[:2].upper()}{self.draw(10**10):010}{country}"
        self.add(
            "shipments",
            shipment_id=shipment,
            order_id=order["order_id"],
            carrier=carrier,
            tracking_number=number,
            promised_by=promised,
        )
        place = self.index[order["address_id"]]["city"]
        steps = [("picked_up", after(order["placed_at"], 1, self.clock(14, 5)), "warehouse")]
        if delivered is None:
            steps.append(("in_transit", after(order["placed_at"], 2, self.clock(0, 6)), "sorting centre"))
        else:
            steps.append(("in_transit", after(delivered, -1, self.clock(20, 4)), "sorting centre"))
            steps.append(("delivered", delivered, place))
        for seq, (code, at, where) in enumerate(steps, 1):
            self.rows["tracking_events"].append(
                {"shipment_id": shipment, "seq": seq, "at": at, "code": code, "place": where}
            )
        return shipment

    def payment(self, order_id: str, method: str, amount: int, at: str, status: str = "captured") -> Row:
        """Add a payment; one by gift card brings the gift card, one by store credit its entries."""
        order = self.index[order_id]
        currency, customer_id = order["currency"], order["customer_id"]
        card = None
        if method == "gift_card":
            card = self.next_id("G")
            code = f"LG-{self.draw(10**12):012}"
            initial = amount + self.draw(3) * 500
            self.rows["gift_cards"].append(
                {"gift_card_id": card, "code": code, "customer_id": customer_id, "currency": currency,
                 "initial_minor": initial, "balance_minor": initial - amount, "expires_on": "2028-12-31"}
            )  # fmt: skip
        if method == "store_credit":
            for days, sign, reason in ((-20, 1, "goodwill"), (0, -1, f"payment of {order_id}")):
                self.credit(customer_id, currency, sign * amount, reason, after(at, days, at[11:19]))
        token = f"tok_{hashlib.sha256(f'{order_id}{self.draw(10**9)}'.encode()).hexdigest()[:16]}"
        return self.add(
            "payments",
            payment_id=self.next_id("PM"),
            order_id=order_id,
            method=method,
            amount_minor=amount,
            currency=currency,
            refunded_minor=0,
            created_at=at,
            card_last4=f"{self.draw(10_000):04}" if method == "card" else None,
            card_token=token if method == "card" else None,
            gift_card_id=card,
            status=status,
        )

    def credit(self, customer_id: str, currency: str, amount: int, reason: str, at: str) -> None:
        """Add an entry of store credit."""
        self.rows["store_credit"].append(
            {"entry_id": self.next_id("SC"), "customer_id": customer_id, "amount_minor": amount, "currency": currency,
             "order_id": None, "item_id": None, "reason": reason, "created_at": at}
        )  # fmt: skip

    def back(self, item_id: str, quantity: int, reason: str, at: str, found: str = "", label: str = "customer") -> None:
        """Add a return, inspected three days later if a condition was *found*."""
        self.add(
            "returns",
            return_id=self.next_id("R"),
            item_id=item_id,
            quantity=quantity,
            reason=reason,
            label=label,
            status="inspected" if found else "open",
            created_at=at,
            received_at=after(at, 3, self.clock()) if found else None,
            condition=found or None,
            inspection_note=f"{quantity} unit(s), {found.replace('_', ' ')}" if found else None,
        )

    def refund(self, item_id: str, at: str, reason: str, amount: int = 0, status: str = "completed") -> None:
        """Add a refund of an item to the first payment of its order; 0: the whole line, as far as the payment goes."""
        item = self.index[item_id]
        payment = next(row for row in self.rows["payments"] if row["order_id"] == item["order_id"])
        line = item["unit_price_minor"] * item["quantity"] - item["discount_minor"] - item["refunded_minor"]
        amount = min(amount or line, line, payment["amount_minor"] - payment["refunded_minor"])
        if amount < 1:
            return
        if status != "failed":
            item["refunded_minor"] += amount
            payment["refunded_minor"] += amount
            item["status"] = "refunded" if amount == line else "partly_refunded"
        self.add(
            "refunds",
            refund_id=self.next_id("RF"),
            order_id=item["order_id"],
            item_id=item_id,
            payment_id=payment["payment_id"],
            amount_minor=amount,
            currency=payment["currency"],
            reason=reason,
            status=status,
            created_at=at,
            created_by="desk_agent",
        )

    def photos(self, item_id: str, at: str, **shows: str) -> None:
        """Add photos of an item by kind; the carrier sends the signature photo."""
        for kind, text in shows.items():
            self.rows["evidence"].append(
                {"evidence_id": self.next_id("EV"), "item_id": item_id, "kind": kind, "received_at": at, "shows": text,
                 "sent_by": "carrier" if kind == "signature" else "customer"}
            )  # fmt: skip

    def ticket(self, customer_id: str, subject: str, at: str, status: str = "open", note: str = "") -> None:
        """Add a ticket, with a note if there is one."""
        ticket = self.next_id("T")
        channel = self.pick(("chat", "email", "email", "phone"))
        self.rows["tickets"].append(
            {"ticket_id": ticket, "customer_id": customer_id, "channel": channel, "subject": subject, "created_at": at,
             "status": status}
        )  # fmt: skip
        if note:
            self.rows["ticket_notes"].append(
                {"note_id": self.next_id("N"), "ticket_id": ticket, "author": "desk_agent", "body": note,
                 "created_at": after(at, 1, "09:15:00")}
            )  # fmt: skip

    def trace(self, order_id: str, opened_at: str, closed_at: str, result: str, finding: str) -> None:
        """Add a trace of the first parcel of an order."""
        parcel = next(row for row in self.rows["shipments"] if row["order_id"] == order_id)
        self.rows["traces"].append(
            {"trace_id": self.next_id("TR"), "shipment_id": parcel["shipment_id"], "opened_at": opened_at,
             "closed_at": closed_at, "result": result, "finding": finding}
        )  # fmt: skip
