"""Seed data of the refund desk: about 340 customers and 1,100 orders of a shop, the same bytes wherever it is built.

The first orders (A1001 and following) are written by hand, the rest is drawn. Draws come from SHA-256 of a counter,
since neither Python nor numpy promises that its own streams stay the same. One long module, because a container image
takes exactly ``tools.py`` and ``world.py`` of a domain.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

NOW = "2026-03-14T09:30:00Z"
"""The time up to which the shop's history goes; scenarios start there."""

_CURRENCIES = {"EUR": (2, 100, 1), "GBP": (2, 86, 1), "JPY": (0, 165, 10), "KRW": (0, 1500, 100), "USD": (2, 110, 1)}
"""Currency → (decimals, minor units per 100 euro cents, step of prices)."""

_LIMITS = {"desk_agent": (25_000, 40_000), "desk_lead": (100_000, 200_000), "desk_manager": (500_000, 1_000_000)}
"""Role → (per refund, per customer in 30 days) in euro cents."""

_STAFF = (
    "Ruth Adeyemi:desk_manager,Pavel Horák:desk_lead,Mina Sato:desk_lead,Joris Bakker:desk_agent,Elena Rossi:desk_agent"
)

_SUPPLIERS = """
Aurin Audio GmbH|DE|14
Porcelana Vista Alegre Norte|PT|30
Kōbo Ceramics|JP|21
Fjell Outdoor AS|NO|30
Lumen & Sons Ltd|GB|10
Casa Verde Plantas|ES|7
Bright Circuit Trading|CN|45
Atelier Moreau|FR|28
"""

_PRODUCTS = """
electronics|Wren over-ear headphones|8990|S01
electronics|Wren in-ear headphones|4990|S01
electronics|Pebble bluetooth speaker|3990|S07
electronics|Heron action camera|32900|S07
electronics|Kestrel mirrorless camera|119900|
electronics|Swift e-reader|12900|
electronics|Linnet smart plug, pack of 2|2490|S07
electronics|Tern power bank 20,000 mAh|3490|S07
electronics|Finch mechanical keyboard|10900|
electronics|Finch wireless mouse|3990|
electronics|USB-C cable 2 m|990|S07
electronics|Protective case for phone|1990|S07
electronics|Owl desk lamp with charger|5990|S05
apparel|Merino jumper|7990|S04
apparel|Rain jacket|12990|S04
apparel|Trekking socks, 3 pairs|1890|S04
apparel|Linen shirt|4990|
apparel|Cotton T-shirt|1990|
apparel|Wool scarf|3490|
apparel|Running shoes|9990|
apparel|Leather belt|3990|
home|Stoneware dinner set, 16 pieces|11990|S02
home|Porcelain teapot|4590|S03
home|Set of 4 wine glasses|3290|S02
home|Cast-iron casserole 4 l|8990|
home|Gooseneck kettle|6490|S05
home|Wall mirror 60 cm|7490|S02
home|Table vase|2790|S03
home|Cotton bed linen|5990|
home|Bamboo cutting board|2290|
home|Ceramic table lamp|6990|S05
home|Wool blanket|7990|S04
perishable|Box of 12 mangoes|3490|S06
perishable|Cheese selection|4290|
perishable|Potted orchid|2990|S06
perishable|Bouquet of tulips|2490|S06
perishable|Chocolate truffles 500 g|2690|
digital|Photo editor, one-year licence|5990|
digital|Audiobook: The Salt Road|1490|
digital|Language course, level A1|3990|
digital|Knitting patterns, collection|990|
gift_card|Gift card 25|2500|
gift_card|Gift card 50|5000|
gift_card|Gift card 100|10000|
made_to_order|Engraved fountain pen|6990|S08
made_to_order|Photo book, hardcover|3490|
made_to_order|Curtains cut to size|9990|
made_to_order|Engraved silver bracelet|8490|S08
marketplace|Vintage film camera|14900|S07
marketplace|Handwoven rug 140 × 200|18900|S08
marketplace|Camping stove|5490|S04
marketplace|Floor cushion|4490|S08
"""

_PEOPLE = """
DE|EUR|de|+49 30 55501|Lena Jonas Mia Emil Fatima Jürgen Greta Can|\
Hoffmann Krüger Weiß Öztürk Brandt Scholz|Lindenstraße/Goethestraße/Am Markt|Berlin:10115 Hamburg:20095 Köln:50667
AT|EUR|de|+43 1 55502|Oliver Katharina Lukas Anna Felix|\
Schmidt Gruber Wallner Steiner|Mariengasse/Ringstraße|Wien:1010 Graz:8010
FR|EUR|fr|+33 1 5550|Chloé Hugo Léa Amine Camille Étienne|\
Martin Lefèvre Benali Rousseau Garnier|rue des Lilas/rue Victor Hugo|Lyon:69002 Paris:75011 Nantes:44000
IT|EUR|it|+39 06 5550|Giulia Marco Chiara Luca Elisa|\
Ferraro Conti Moretti Greco|via Garibaldi/via Roma|Torino:10121 Bologna:40121
ES|EUR|es|+34 91 5550|Sofía Javier Lucía Pablo Carmen|\
Herrera Vidal Ortega Núñez|calle Mayor/calle del Sol|Sevilla:41001 Valencia:46001
NL|EUR|nl|+31 20 5550|Jan Sanne Bram Fenna Youssef|\
de_Vries Visser El_Amrani Mulder|Keizersgracht/Dorpsstraat|Utrecht:3511 Amsterdam:1012
PL|EUR|pl|+48 22 5550|Marta Piotr Zofia Łukasz Agnieszka|\
Kowalska Nowak Wiśniewska Zając|ulica Polna/ulica Długa|Kraków:31-001 Gdańsk:80-001
IE|EUR|en|+353 1 5550|Emma Liam Niamh Cian Aoife|\
Murphy O'Connor Byrne Walsh|Mill Lane/Abbey Road|Cork:T12 Galway:H91
SE|EUR|sv|+46 8 5550|Ingrid Axel Elsa Nils|\
Larsson Nyström Åkesson|Storgatan/Kyrkogatan|Malmö:21122 Uppsala:75310
GB|GBP|en|+44 20 5550|Tom Grace Harry Aisha Owen Zainab|\
Baker Hughes Khan Taylor Campbell|Church Lane/Mill Road/High Street|Leeds:LS1 Bristol:BS1 Cardiff:CF10
US|USD|en|+1 212 555|Noah Olivia Jayden Wei Maria Ethan Hannah|\
Williams Zhang Garcia Johnson Cohen Nguyen|Maple Avenue/Oak Street/5th Street|Portland:97201 Austin:78701 Chicago:60601
IN|USD|en|+91 22 5550|Priya Arjun Ananya Rohan Kavya|\
Sharma Iyer Patel Reddy|MG Road/Park Street|Pune:411001 Bengaluru:560001
NG|USD|en|+234 1 5550|Amara Chinedu Ngozi Tunde|\
Okafor Adeyemi Balogun|Broad Street/Allen Avenue|Lagos:100001 Abuja:900001
BR|USD|pt|+55 11 5550|Mateo Beatriz João Larissa|\
Silva Oliveira Souza|rua das Flores/avenida Brasil|Recife:50010 Curitiba:80010
JP|JPY|ja|+81 3 5550|Kenji Hiroshi Yui Haruka Sota Aoi|\
Watanabe Tanaka Sato Kobayashi Mori|Sakura-dori/Aoyama|Tokyo:107-0062 Osaka:530-0001
KR|KRW|ko|+82 2 5550|Ji-woo Min-jun Seo-yeon Do-yun|\
Park Kim Lee Choi|Teheran-ro/Hangang-daero|Seoul:06236 Busan:48058"""

_HOLIDAYS = """
DE 2026-01-01 New Year|DE 2026-04-03 Good Friday|DE 2026-04-06 Easter Monday|DE 2025-12-25 Christmas
DE 2025-12-26 Second Christmas Day|AT 2026-01-01 New Year|AT 2026-01-06 Epiphany|FR 2026-01-01 New Year
IE 2026-02-02 Saint Brigid's Day|IE 2026-03-17 Saint Patrick's Day|PL 2026-01-01 New Year|PL 2026-01-06 Epiphany
ES 2026-01-06 Epiphany|IT 2026-01-06 Epiphany|SE 2026-01-06 Epiphany|NL 2026-01-01 New Year|GB 2026-01-01 New Year
US 2026-02-16 Presidents' Day|US 2026-01-19 Martin Luther King Day|IN 2026-03-04 Holi|BR 2026-02-17 Carnival
JP 2026-02-11 Foundation Day|JP 2026-02-23 Emperor's Birthday|JP 2026-03-20 Vernal Equinox|KR 2026-02-17 Seollal
KR 2026-03-02 Independence Movement Day (observed)
"""

_NOTICES = """
Nordpost|DE|2026-01-12|2026-01-23|5|Sorting centre Hanover closed after snowfall
Nordpost|SE|2026-02-02|2026-02-08|4|Ferry line suspended
Velox|FR|2026-01-19|2026-01-25|3|Strike at the depots
Velox|ES|2026-01-26|2026-02-01|6|Storm damage in Andalusia
Parcelway|GB|2026-01-26|2026-02-03|7|Backlog after move of the hub
Parcelway|US|2026-02-20|2026-02-25|4|Winter storm in the north-east
Tsubame|JP|2026-01-05|2026-01-09|3|New Year backlog
"""

_CARRIERS = {"GB": "Parcelway", "IE": "Parcelway", "US": "Parcelway", "JP": "Tsubame", "KR": "Tsubame", "IN": "Globex"}
_CARRIERS |= {"NG": "Globex", "BR": "Globex", "FR": "Velox", "ES": "Velox", "IT": "Velox"}

_LETTERS = "ä:ae ö:oe ü:ue ß:ss é:e è:e ë:e í:i ó:o ú:u ñ:n ł:l ś:s ą:a ć:c ż:z å:a ã:a É:e Ö:oe Å:a Ł:l"
_ASCII = {pair[0]: pair[2:] for pair in _LETTERS.split()}

_TABLES = (
    "currencies role_limits staff suppliers products customers risk_profiles addresses orders shipments "
    "tracking_events order_items gift_cards payments returns refunds store_credit tickets ticket_notes evidence "
    "claims traces fraud_reviews replacements carrier_notices holidays"
).split()
"""All tables with seed data, each after those that it refers to."""

_SERIES = "C:2000 AD:3300 PM:4100 SH:7300 G:2800 R:3000 RF:8000 SC:2400 T:6000 N:9000 EV:5200 ER:1900 CL:1300 TR:1700 "
_SERIES += "FR:1100 RP:1500 OV:100"

Row = dict[str, Any]
Line = tuple[str, int, int, int]
"""Name of the product, quantity, line discount in minor units, index of the parcel."""
Parcel = tuple[str, str | None]
"""Promised day, time of delivery or None while it is on its way."""


def _day(text: str, days: int, clock: str) -> str:
    """The time *clock* of the day *days* after the day of *text*, ISO 8601."""
    return f"{date.fromisoformat(text[:10]) + timedelta(days)}T{clock}Z"


def _lines(block: str) -> list[list[str]]:
    return [line.split("|") for line in block.strip().splitlines()]


class _Shop:
    """Rows of all tables while they are made up, with the draws and the counters of ids."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {table: [] for table in _TABLES}
        self.last = {name: int(first) for name, first in (pair.split(":") for pair in _SERIES.split())}
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
        person = next(row for row in _lines(_PEOPLE) if row[0] == country)
        first, last, cities = person[4].split(), person[5].split(), person[7].split()
        name = name or f"{self.pick(first)} {self.pick(last).replace('_', ' ')}"
        city, _, postcode = self.pick(cities).partition(":")
        customer_id = self.next_id("C")
        plain = "".join(_ASCII.get(letter, letter) for letter in name).lower()
        address = "".join(c if c.isascii() and (c.isalnum() or c == ".") else "" for c in plain.replace(" ", "."))
        self.add(
            "customers",
            customer_id=customer_id,
            name=name,
            email=f"{address}{self.draw(90) + 10}.{customer_id[-2:]}@example.{self.pick(('com', 'net', 'org'))}",
            phone=f"{person[3]}{self.draw(9000) + 1000}",
            tier=tier or self.pick(("standard",) * 6 + ("silver", "silver", "gold")),
            country=country,
            currency=person[1],
            language=person[2],
            created_at=_day("2021-03-01", self.draw(1640), self.clock()),
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
        _, rate, step = _CURRENCIES[customer["currency"]]
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
        carrier = _CARRIERS.get(country, "Nordpost")
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
        steps = [("picked_up", _day(order["placed_at"], 1, self.clock(14, 5)), "warehouse")]
        if delivered is None:
            steps.append(("in_transit", _day(order["placed_at"], 2, self.clock(0, 6)), "sorting centre"))
        else:
            steps.append(("in_transit", _day(delivered, -1, self.clock(20, 4)), "sorting centre"))
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
                self.credit(customer_id, currency, sign * amount, reason, _day(at, days, at[11:19]))
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
            received_at=_day(at, 3, self.clock()) if found else None,
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
                 "created_at": _day(at, 1, "09:15:00")}
            )  # fmt: skip

    def trace(self, order_id: str, opened_at: str, closed_at: str, result: str, finding: str) -> None:
        """Add a trace of the first parcel of an order."""
        parcel = next(row for row in self.rows["shipments"] if row["order_id"] == order_id)
        self.rows["traces"].append(
            {"trace_id": self.next_id("TR"), "shipment_id": parcel["shipment_id"], "opened_at": opened_at,
             "closed_at": closed_at, "result": result, "finding": finding}
        )  # fmt: skip


def _reference(shop: _Shop) -> None:
    """Add what no episode changes: currencies, limits, staff, suppliers, products, notices, holidays."""
    for currency, (decimals, rate, step) in _CURRENCIES.items():
        shop.add("currencies", currency=currency, decimals=decimals)
        for role, limits in _LIMITS.items():
            one, month = (cents * rate // 100 // step * step for cents in limits)
            shop.rows["role_limits"].append(
                {"role": role, "currency": currency, "per_refund_minor": one, "per_customer_30d_minor": month}
            )
    for number, entry in enumerate(_STAFF.split(","), 1):
        name, _, role = entry.partition(":")
        shop.add("staff", staff_id=f"E{number:02}", name=name, role=role, active=1)
    for number, (name, country, days) in enumerate(_lines(_SUPPLIERS), 1):
        key = f"S{number:02}"
        email = f"claims@{key.lower()}.example.com"
        shop.add(
            "suppliers", supplier_id=key, name=name, country=country, claims_email=email, claim_window_days=int(days)
        )
    for number, (category, name, price, supplier) in enumerate(_lines(_PRODUCTS), 1):
        shop.add("products", product_id=f"P{100 + number}", name=name, category=category, list_price_minor=int(price),
                 currency="EUR", supplier_id=supplier or None, stock=shop.draw(60) + 3)  # fmt: skip
    for number, (carrier, country, first, last, days, text) in enumerate(_lines(_NOTICES), 1):
        shop.add("carrier_notices", notice_id=f"CN{number:02}", carrier=carrier, country=country, first_day=first,
                 last_day=last, extra_days=int(days), notice=text)  # fmt: skip
    for line in _HOLIDAYS.strip().splitlines():
        for entry in line.split("|"):
            country, day, name = entry.split(" ", 2)
            shop.rows["holidays"].append({"country": country, "day": day, "name": name})


def _cases(shop: _Shop) -> None:
    """Add the orders written by hand, each an open question of its customer at the desk."""

    def case(country: str, name: str, tier: str, subject: str, asked: str, score: int = 0) -> str:
        for _ in range(1 + shop.draw(5)):
            shop.customer(shop.pick(_lines(_PEOPLE))[0])
        customer = shop.customer(country, name, tier, score or 1 + shop.draw(40))
        shop.ticket(customer, subject, asked)
        return customer

    order, back, photos = shop.order, shop.back, shop.photos
    clean, fine = "Name and signature; parcel accepted without remarks", "Carton without dents, tape unbroken"

    who = case("DE", "Lena Hoffmann", "standard", "Noise in the headphones", "2026-03-12T16:20:11Z")
    lines = [("Wren over-ear", 1, 0, 0), ("Protective case", 2, 0, 0), ("USB-C cable", 1, 0, 0)]
    order("A1001", who, "2026-02-16T10:02:45Z", lines, [("2026-02-20", "2026-02-20T11:41:09Z")])
    back("A1001-1", 1, "defective", "2026-03-05T08:30:00Z", "defective", "shop")

    who = case("JP", "Kenji Watanabe", "silver", "One kettle goes back", "2026-03-13T01:12:40Z")
    lines = [("Gooseneck", 2, 0, 0), ("Porcelain teapot", 1, 0, 0)]
    order("A1002", who, "2026-02-12T04:40:10Z", lines, [("2026-02-18", "2026-02-18T03:22:31Z")], coupon=1500)
    back("A1002-1", 1, "change_of_mind", "2026-03-02T02:00:00Z", "opened", "shop")

    who = case("NG", "Amara Okafor", "standard", "Plates arrived in pieces", "2026-03-12T14:05:00Z")
    lines = [("Stoneware dinner", 1, 0, 0), ("Set of 4 wine", 1, 0, 1)]
    parcels = [("2026-03-09", "2026-03-10T12:10:54Z"), ("2026-03-09", "2026-03-09T10:31:20Z")]
    order("A1003", who, "2026-03-02T09:15:33Z", lines, parcels)
    photos("A1003-1", "2026-03-12T14:07:00Z", signature=clean,
           outer_packaging="One corner of the carton crushed flat, tape torn",
           inner_goods="Dinner set: nine of sixteen pieces broken")  # fmt: skip

    who = case("IT", "Giulia Ferraro", "standard", "Mirror cracked", "2026-03-13T17:44:02Z")
    lines = [("Wall mirror", 1, 500, 0), ("Table vase", 1, 0, 0)]
    order("A1004", who, "2026-03-03T18:20:00Z", lines, [("2026-03-09", "2026-03-09T09:12:00Z")], [("paypal", 0)])
    photos("A1004-1", "2026-03-13T17:50:00Z", signature=clean, inner_goods="Mirror with a crack across the glass")

    who = case("GB", "Tom Baker", "standard", "Keyboard not for me", "2026-03-13T10:33:19Z")
    order("A1005", who, "2026-01-31T20:11:00Z", [("Finch mech", 1, 0, 0)], [("2026-02-04", "2026-02-05T13:03:00Z")])

    who = case("PL", "Marta Kowalska", "silver", "Send back the e-reader", "2026-03-09T07:55:10Z")
    lines = [("Swift e-reader", 1, 0, 0), ("USB-C", 2, 0, 0)]
    order("A1006", who, "2026-01-26T12:00:30Z", lines, [("2026-01-30", "2026-01-30T15:20:18Z")])

    other = case("US", "Noah Williams", "gold", "Question about a belt", "2026-02-27T15:00:00Z")
    lines = [("Running shoes", 1, 0, 0), ("Leather belt", 1, 0, 0)]
    order("A1007", other, "2026-02-11T16:30:00Z", lines, [("2026-02-16", "2026-02-16T18:00:41Z")])
    back("A1007-1", 1, "change_of_mind", "2026-02-27T15:10:00Z", "sealed")
    who = case("US", "Noah Williamson", "standard", "Refund for running shoes", "2026-03-13T19:26:00Z")
    lines = [("Running shoes", 1, 0, 0), ("Trekking socks", 1, 0, 0)]
    order("A1070", who, "2026-02-14T22:30:00Z", lines, [("2026-02-19", "2026-02-20T17:30:00Z")])
    back("A1070-1", 1, "change_of_mind", "2026-03-04T12:00:00Z", "sealed")

    who = case("KR", "Park Ji-woo", "standard", "Charged several times", "2026-03-13T03:02:00Z")
    order("A1009", who, "2026-03-10T02:11:07Z", [("Rain jacket", 1, 0, 0)], [("2026-03-17", None)])
    amount = shop.index["A1009"]["total_minor"]
    shop.payment("A1009", "card", amount, "2026-03-10T02:12:40Z")
    shop.payment("A1009", "card", amount, "2026-03-10T02:14:02Z", "authorised")

    who = case("ES", "Sofía Herrera", "gold", "Two of three T-shirts", "2026-03-12T11:10:00Z")
    lines = [("Cotton T-shirt", 3, 0, 0), ("Wool scarf", 1, 0, 0)]
    pay = [("card", 6450), ("gift_card", 0)]
    order("A1010", who, "2026-02-05T19:01:00Z", lines, [("2026-02-10", "2026-02-10T12:44:00Z")], pay, coupon=1000)
    back("A1010-1", 2, "change_of_mind", "2026-03-03T09:00:00Z", "sealed")

    who = case("IE", "Emma Murphy", "gold", "Jacket never came", "2026-03-13T12:12:12Z")
    order("A1011", who, "2026-03-01T14:14:00Z", [("Rain jacket", 1, 0, 0)], [("2026-03-06", "2026-03-06T10:05:00Z")])

    who = case("NL", "Jan de Vries", "standard", "Still no parcel", "2026-03-12T08:40:00Z")
    lines = [("Cast-iron", 1, 0, 0), ("Bamboo", 2, 300, 0)]
    order("A1012", who, "2026-02-19T20:45:00Z", lines, [("2026-02-24", "2026-02-24T16:12:00Z")], [("paypal", 0)])
    shop.trace("A1012", "2026-03-02T09:00:00Z", "2026-03-09T14:30:00Z", "not_delivered", "Left at another address")

    who = case("AT", "Oliver Schmidt", "standard", "Where is my money", "2026-03-13T09:09:00Z")
    lines = [("Ceramic table", 1, 0, 0), ("Wool blanket", 1, 0, 0)]
    order("A1013", who, "2026-02-09T11:00:00Z", lines, [("2026-02-13", "2026-02-13T10:00:00Z")], [("bank_transfer", 0)])
    back("A1013-2", 1, "change_of_mind", "2026-03-04T10:00:00Z", "sealed")
    shop.refund("A1013-2", "2026-03-10T13:37:00Z", "change_of_mind", status="pending")

    who = case("IN", "Priya Sharma", "standard", "Camera does not focus", "2026-03-12T06:18:00Z")
    order("A1014", who, "2026-02-02T05:30:00Z", [("Kestrel", 1, 0, 0)], [("2026-02-12", "2026-02-11T08:08:00Z")])
    back("A1014-1", 1, "defective", "2026-03-05T06:00:00Z", "defective", "shop")

    who = case("FR", "Chloé Martin", "standard", "Teapot broken", "2026-03-12T18:30:00Z")
    lines = [("Porcelain teapot", 2, 500, 0), ("Table vase", 1, 0, 0)]
    order("A1015", who, "2026-03-04T13:00:00Z", lines, [("2026-03-09", "2026-03-09T11:20:00Z")])
    photos("A1015-1", "2026-03-12T18:41:00Z", signature=clean, outer_packaging=fine,
           inner_goods="Two teapots, one with the spout broken off, the other without damage")  # fmt: skip

    who = case("JP", "Hiroshi Tanaka", "gold", "Cancel please", "2026-03-14T08:50:00Z")
    lines = [("Heron action", 1, 0, 0), ("Tern power", 1, 0, 0)]
    order("A1016", who, "2026-03-13T23:30:00Z", lines, [], [("card", 0)])

    who = case("IE", "Liam O'Connor", "silver", "Speaker damaged", "2026-03-13T20:00:00Z", 86)
    order("A1017", who, "2026-03-03T08:00:00Z", [("Pebble", 2, 0, 0)], [("2026-03-09", "2026-03-10T09:41:00Z")])
    photos("A1017-1", "2026-03-13T20:02:00Z", signature=clean, outer_packaging=fine,
           inner_goods="Two speakers, grilles torn")  # fmt: skip

    who = case("DE", "Fatima Öztürk", "silver", "Mangoes spoilt", "2026-03-13T18:18:00Z")
    lines = [("Box of 12", 2, 0, 0), ("Chocolate", 1, 0, 0)]
    pay = [("store_credit", 2000), ("card", 0)]
    order("A1018", who, "2026-03-10T06:40:00Z", lines, [("2026-03-12", "2026-03-12T13:13:00Z")], pay)
    photos("A1018-1", "2026-03-13T18:20:00Z", inner_goods="Two boxes; all fruit in both is brown and leaking")

    who = case("BR", "Mateo Silva", "standard", "My lawyer will write", "2026-03-13T21:00:00Z")
    order("A1019", who, "2026-02-01T12:00:00Z", [("Vintage film", 1, 0, 0)], [("2026-02-12", "2026-02-13T15:00:00Z")])

    who = case("SE", "Ingrid Larsson", "silver", "Ten days late", "2026-03-13T13:45:00Z")
    lines = [("Cotton bed", 1, 500, 0), ("Wool blanket", 1, 0, 0)]
    order("A1020", who, "2026-02-15T10:10:00Z", lines, [("2026-02-20", "2026-03-02T15:00:00Z")], coupon=1250)

    who = case("US", "Wei Zhang", "gold", "Pen and belt back", "2026-03-13T22:22:00Z")
    lines = [("Engraved fountain", 1, 0, 0), ("Leather belt", 1, 0, 0)]
    order("A1021", who, "2026-02-24T01:00:00Z", lines, [("2026-03-03", "2026-03-04T19:00:00Z")])

    who = case("AT", "Anna Steiner", "gold", "Three orders, three problems", "2026-03-13T15:15:00Z")
    lines = [("Gooseneck", 1, 0, 0), ("Bamboo", 1, 0, 0)]
    pay = [("gift_card", 4000), ("card", 0)]
    order("A1022", who, "2026-02-03T09:00:00Z", lines, [("2026-02-06", "2026-02-06T09:40:00Z")], pay)
    back("A1022-1", 1, "change_of_mind", "2026-03-06T10:00:00Z", "used", "shop")
    lines = [("Linen shirt", 2, 0, 0), ("Wool scarf", 1, 0, 0)]
    order("A1023", who, "2026-02-18T17:00:00Z", lines, [("2026-02-24", None)], [("paypal", 0)])
    order("A1024", who, "2026-03-08T11:20:00Z", [("Audiobook", 1, 0, 0)], [], shipping=0)
    shop.payment("A1024", "card", shop.index["A1024"]["total_minor"], "2026-03-08T11:21:30Z")

    who = case("GB", "Grace Hughes", "standard", "Power bank burnt my hand", "2026-03-13T08:03:00Z")
    order("A1025", who, "2026-02-20T13:00:00Z", [("Tern power", 1, 0, 0)], [("2026-02-25", "2026-02-25T12:00:00Z")])

    who = case("IN", "Arjun Patel", "silver", "Licence bought twice", "2026-03-13T11:58:00Z")
    lines = [("Photo editor", 1, 0, 0), ("Language course", 1, 0, 0)]
    order("A1026", who, "2026-03-05T07:10:00Z", lines, [], shipping=0)
    shop.index["A1026-1"]["activated_at"] = "2026-03-05T07:31:00Z"

    who = case("KR", "Kim Min-jun", "standard", "Shoes do not fit", "2026-03-13T02:40:00Z")
    order("A1027", who, "2026-02-13T02:00:00Z", [("Running shoes", 1, 0, 0)], [("2026-02-19", "2026-02-20T04:00:00Z")])
    back("A1027-1", 1, "change_of_mind", "2026-03-03T03:00:00Z", "used")

    who = case("BR", "Beatriz Souza", "standard", "Bed linen defective", "2026-03-12T20:20:00Z")
    lines = [("Stoneware dinner", 1, 0, 0), ("Wool blanket", 2, 0, 0), ("Cotton bed", 1, 0, 0), ("Ceramic", 1, 0, 0)]
    order("A1028", who, "2026-01-20T12:00:00Z", lines, [("2026-02-02", "2026-02-03T14:00:00Z")])
    shop.refund("A1028-1", "2026-02-20T14:00:00Z", "defective")
    shop.refund("A1028-2", "2026-02-24T10:00:00Z", "defective")
    shop.refund("A1028-4", "2026-03-02T10:00:00Z", "defective")
    back("A1028-3", 1, "defective", "2026-03-05T13:00:00Z", "defective", "shop")

    who = case("FR", "Camille Rousseau", "silver", "Headphones returned", "2026-03-11T16:00:00Z")
    lines = [("Wren in-ear", 1, 0, 0), ("Protective", 1, 0, 0)]
    order("A1029", who, "2026-01-17T12:00:00Z", lines, [("2026-01-21", "2026-01-23T12:30:00Z")])
    back("A1029-1", 1, "change_of_mind", "2026-03-04T12:10:00Z", "opened")

    who = case("SE", "Elsa Nyström", "standard", "Parcel overdue", "2026-03-13T14:30:00Z")
    order("A1030", who, "2026-03-04T12:12:00Z", [("Ceramic table", 1, 0, 0)], [("2026-03-09", None)])

    who = case("GB", "Harry Taylor", "standard", "Vase is broken", "2026-03-13T16:16:00Z")
    lines = [("Table vase", 1, 0, 0), ("Wool scarf", 1, 0, 0)]
    order("A1031", who, "2026-03-06T10:30:00Z", lines, [("2026-03-11", "2026-03-11T11:11:00Z")])
    photos("A1031-1", "2026-03-13T16:18:00Z", signature=clean, outer_packaging=fine,
           inner_goods="A vase on a table; the glaze is even, no crack and no chip to be seen")  # fmt: skip

    who = case("DE", "Greta Brandt", "gold", "Lamp and desk lamp", "2026-03-13T09:20:00Z")
    lines = [("Owl desk", 2, 1000, 0), ("Linnet", 1, 0, 0)]
    order("A1032", who, "2026-02-21T09:20:00Z", lines, [("2026-02-26", "2026-02-26T10:30:00Z")])
    back("A1032-1", 1, "change_of_mind", "2026-03-12T09:20:00Z")


_HISTORY = 1060
"""Orders that are drawn."""


def _history(shop: _Shop) -> None:
    """Add the drawn orders, spread evenly from September 2025 to the day before `NOW`, with what became of them."""
    while len(shop.rows["customers"]) < 340:
        shop.customer(shop.pick(_lines(_PEOPLE))[0])
    hand = {row["customer_id"] for row in shop.rows["orders"]}
    customers = [row["customer_id"] for row in shop.rows["customers"]]
    names = [row["name"] for row in shop.rows["products"]]
    for number in range(_HISTORY):
        customer = shop.pick(customers)
        placed = _day("2025-09-01", number * 194 // _HISTORY, shop.clock())
        if customer in hand and placed > "2026-01-15":
            customer = shop.pick([other for other in customers if other not in hand])
        _drawn_order(shop, f"A{1101 + number}", customer, placed, names)


def _drawn_order(shop: _Shop, order_id: str, customer: str, placed: str, names: list[str]) -> None:
    _, rate, step = _CURRENCIES[shop.index[customer]["currency"]]
    chosen = list(dict.fromkeys(shop.pick(names) for _ in range(1 + shop.draw(3))))
    lines = [(name, 1 + shop.draw(5) // 3, 0, 0) for name in chosen]
    parcels: list[Parcel] = []
    bodily = any(shop.product(name)["category"] not in ("digital", "gift_card") for name in chosen)
    arrives = _day(placed, 3 + shop.draw(7), shop.clock(8, 10))
    if bodily and placed < "2026-03-12":
        parcels = [(_day(placed, 6, "00:00:00")[:10], arrives if arrives < NOW else None)]
    method = shop.pick(("card",) * 5 + ("paypal",) * 3 + ("bank_transfer",))
    pay: list[tuple[str, int]] = [(method, 0)]
    if bodily and shop.draw(100) < 9:
        pay.insert(0, (shop.pick(("gift_card", "gift_card", "store_credit")), 12 * rate // step * step))
    coupon = shop.pick((0, 0, 0, 0, 2)) * rate
    shop.order(order_id, customer, placed, lines, parcels, pay, coupon, int(bodily))
    if parcels and arrives < "2026-02-25":
        _aftermath(shop, order_id, customer, arrives)


def _aftermath(shop: _Shop, order_id: str, customer: str, arrived: str) -> None:
    """Add what followed on about a quarter of the orders that arrived."""
    fate, item = shop.draw(100), f"{order_id}-1"
    asked = _day(arrived, 1 + shop.draw(9), shop.clock())
    goods = shop.index[shop.index[item]["product_id"]]
    if fate < 9 and goods["category"] in ("electronics", "apparel", "home"):
        found = shop.pick(("sealed", "sealed", "opened"))
        shop.back(item, shop.index[item]["quantity"], "change_of_mind", asked, found)
        shop.refund(item, _day(asked, 4, shop.clock()), "change_of_mind")
        shop.ticket(customer, f"Return of {goods['name']}", asked, "closed", f"Refund of {item} made after inspection.")
    elif 9 <= fate < 14 and shop.index[item]["shipment_id"]:
        outer = shop.pick(("Dented", "Intact", "Wet"))
        shop.photos(item, asked, signature="Signature; no remarks", outer_packaging=outer,
                    inner_goods=f"{goods['name']}: visibly broken")  # fmt: skip
        shop.refund(item, _day(asked, 2, shop.clock()), "damaged")
        shop.ticket(customer, f"{goods['name']} damaged", asked, "closed", f"All photos there; {item} refunded.")
        shop.rows["claims"].append(
            {"claim_id": shop.next_id("CL"), "party": "carrier", "item_id": item, "supplier_id": None,
             "shipment_id": shop.index[item]["shipment_id"], "amount_minor": shop.index[item]["unit_price_minor"],
             "currency": shop.index[order_id]["currency"], "status": shop.pick(("paid", "rejected", "open")),
             "created_at": _day(asked, 2, "16:00:00")}
        )  # fmt: skip
    elif fate == 14:
        shop.trace(order_id, asked, _day(asked, 6, "12:00:00"), "delivered_confirmed", "Handed to the addressee")
        shop.ticket(customer, "Parcel not found", asked, "closed", "Trace: handed over in person.")
    elif fate == 15:
        twin = next(row for row in shop.rows["payments"] if row["order_id"] == order_id)
        shop.payment(order_id, twin["method"], twin["amount_minor"], _day(twin["created_at"], 0, "21:00:00"), "voided")
        shop.ticket(customer, "Paid twice", asked, "closed", "Second charge voided.")
    elif fate == 16:
        shop.rows["fraud_reviews"].append(
            {"review_id": shop.next_id("FR"), "customer_id": customer, "order_id": order_id, "cause": "many claims",
             "status": "cleared", "opened_at": asked}
        )  # fmt: skip
    elif fate in (17, 18):
        shop.ticket(customer, "When will it arrive?", _day(arrived, -1, "10:00:00"), "solved")


def build(connection: sqlite3.Connection) -> None:
    """Fill the tables of an empty database with the domain's schema and start the series of ids."""
    shop = _Shop()
    _reference(shop)
    _cases(shop)
    _history(shop)
    for table in _TABLES:
        for row in shop.rows[table]:
            marks = ", ".join("?" for _ in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    for prefix, value in shop.last.items():
        connection.execute("INSERT INTO _counters VALUES (?, ?)", (prefix, value))
