"""Seed data of the refund desk: about 680 customers and 1,100 orders of a shop, the same bytes wherever it is built.

The first orders (A1001 and following) are written by hand, the rest is drawn. Draws come from SHA-256 of a counter,
since neither Python nor numpy promises that its own streams stay the same. Standard library only.
"""

from __future__ import annotations

import sqlite3

from agentgym.envs.refund.seed_cases import cases
from agentgym.envs.refund.seed_data import CURRENCIES, HOLIDAYS, LIMITS, NOTICES, PRODUCTS, STAFF, SUPPLIERS, TABLES
from agentgym.envs.refund.seed_history import history
from agentgym.envs.refund.seed_members import members
from agentgym.envs.refund.seed_shop import Shop, entries


def reference(shop: Shop) -> None:
    """Add what no episode changes: currencies, limits, staff, suppliers, products, notices, holidays."""
    for currency, (decimals, rate, step) in CURRENCIES.items():
        shop.add("currencies", currency=currency, decimals=decimals)
        for role, limits in LIMITS.items():
            one, month = (cents * rate // 100 // step * step for cents in limits)
            shop.rows["role_limits"].append(
                {"role": role, "currency": currency, "per_refund_minor": one, "per_customer_30d_minor": month}
            )
    for number, entry in enumerate(STAFF.split(","), 1):
        name, _, role = entry.partition(":")
        shop.add("staff", staff_id=f"E{number:02}", name=name, role=role, active=1)
    for number, (name, country, days) in enumerate(entries(SUPPLIERS), 1):
        key = f"S{number:02}"
        email = f"claims@{key.lower()}.example.com"
        shop.add(
            "suppliers", supplier_id=key, name=name, country=country, claims_email=email, claim_window_days=int(days)
        )
    for number, (category, name, price, supplier) in enumerate(entries(PRODUCTS), 1):
        shop.add("products", product_id=f"P{100 + number}", name=name, category=category, list_price_minor=int(price),
                 currency="EUR", supplier_id=supplier or None, stock=shop.draw(60) + 3)  # fmt: skip
    for number, (carrier, country, first, last, days, text) in enumerate(entries(NOTICES), 1):
        shop.add("carrier_notices", notice_id=f"CN{number:02}", carrier=carrier, country=country, first_day=first,
                 last_day=last, extra_days=int(days), notice=text)  # fmt: skip
    for line in HOLIDAYS.strip().splitlines():
        for entry in line.split("|"):
            country, day, name = entry.split(" ", 2)
            shop.rows["holidays"].append({"country": country, "day": day, "name": name})


def build(connection: sqlite3.Connection) -> None:
    """Fill the tables of an empty database with the domain's schema and start the series of ids."""
    shop = Shop()
    reference(shop)
    cases(shop)
    history(shop)
    members(shop)
    for table in TABLES:
        for row in shop.rows[table]:
            marks = ", ".join("?" for _ in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    for prefix, value in shop.last.items():
        connection.execute("INSERT INTO _counters VALUES (?, ?)", (prefix, value))
