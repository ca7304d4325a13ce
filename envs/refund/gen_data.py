"""What generated scenarios are made of: the snapshot's reference tables, names, numbers that are shown anyway."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.envs.refund.seed_members import CHINESE, SUBJECT
from agentgym.generating import spelt_numbers
from agentgym.snapshot import snapshot_file

FOLDER = Path(__file__).parent
Row = dict[str, Any]

RATES = {"EUR": (100, 1), "GBP": (86, 1), "JPY": (165, 10), "KRW": (1500, 100), "USD": (110, 1)}
"""Currency → (minor units per 100 euro cents, step of prices), as in the snapshot."""

PLAIN_CATEGORIES = ("electronics", "apparel", "home")


class Member(NamedTuple):
    """A customer of the snapshot who has not ordered anything yet and wrote a ticket: who a generated case is about."""

    customer_id: str
    own_name: str
    email: str
    tier: str
    address_id: str
    city: str
    ticket_id: str
    ticket_at: str
    asked: date
    fraud_score: int


class Reference(NamedTuple):
    """What the snapshot says that no episode changes."""

    products: dict[str, tuple[Row, ...]]
    windows: dict[str, int]
    limits: dict[tuple[str, str], Row]
    notices: tuple[Row, ...]
    holidays: dict[str, frozenset[date]]
    strangers: tuple[Row, ...]
    members: dict[tuple[str, bool], tuple[Member, ...]]
    """By country and by whether they write Chinese."""


@lru_cache(maxsize=1)
def reference() -> Reference:
    """Read the snapshot once a process."""
    connection = sqlite3.connect(f"file:{snapshot_file(FOLDER)}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row

    def rows(sql: str) -> list[Row]:
        return [dict(row) for row in connection.execute(sql).fetchall()]

    products: dict[str, list[Row]] = {}
    for row in rows("SELECT * FROM products ORDER BY product_id"):
        products.setdefault(row["category"], []).append(row)
    holidays: dict[str, set[date]] = {}
    for row in rows("SELECT country, day FROM holidays ORDER BY country, day"):
        holidays.setdefault(row["country"], set()).add(date.fromisoformat(row["day"]))
    found = Reference(
        {category: tuple(each) for category, each in products.items()},
        {row["supplier_id"]: row["claim_window_days"] for row in rows("SELECT * FROM suppliers ORDER BY supplier_id")},
        {(row["role"], row["currency"]): row for row in rows("SELECT * FROM role_limits ORDER BY role, currency")},
        tuple(rows("SELECT * FROM carrier_notices ORDER BY notice_id")),
        {country: frozenset(days) for country, days in holidays.items()},
        tuple(
            rows(
                "SELECT o.order_id, o.customer_id, substr(o.placed_at, 1, 10) AS day, p.name FROM orders o "
                "JOIN order_items i USING (order_id) JOIN products p USING (product_id) "
                "WHERE o.placed_at < '2026-01-20' AND o.status = 'delivered' AND i.item_id LIKE '%-1' "
                "AND p.category IN ('electronics', 'apparel', 'home') AND NOT EXISTS (SELECT 1 FROM refunds r "
                "WHERE r.order_id = o.order_id) ORDER BY o.order_id"
            )
        ),
        _members(rows),
    )
    connection.close()
    return found


def _members(rows: Callable[[str], list[Row]]) -> dict[tuple[str, bool], tuple[Member, ...]]:
    own_names = {written: own for own, written in CHINESE}
    found: dict[tuple[str, bool], list[Member]] = {}
    for row in rows(
        "SELECT customer_id, name, email, tier, c.country, language, address_id, city, ticket_id, "
        "t.created_at AS ticket_at, fraud_score FROM customers c JOIN addresses USING (customer_id) "
        "JOIN tickets t USING (customer_id) JOIN risk_profiles USING (customer_id) "
        f"WHERE t.subject = '{SUBJECT}' AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id) "
        "ORDER BY customer_id"
    ):
        chinese = row.pop("language") == "zh"
        country, name = row.pop("country"), row.pop("name")
        row["own_name"] = own_names[name] if chinese else name
        row["asked"] = date.fromisoformat(row["ticket_at"][:10])
        found.setdefault((country, chinese), []).append(Member(**row))
    return {key: tuple(members) for key, members in found.items()}


_PAIRS = tuple(slice(place, place + 2) for place in (5, 8, 11, 14, 17))
"""Where month, day, hour, minute and second stand in an ISO time."""
_BACKWARDS = tuple(number % 10 * 10 + number // 10 for number in range(100))


def numbers_of(moment: str) -> set[int]:
    """Numbers of four to eight digits that an ISO time spells, and its parts as whole units of money.

    >>> sorted(numbers_of("2026-03-14T09:30:15Z") & {314, 1409, 9041, 930, 3000, 4444})
    [314, 930, 1409, 3000, 9041]
    """
    parts = [int(moment[place]) for place in _PAIRS]
    found = {part * 100 for part in parts}
    for start, first in enumerate(parts[:-1], 1):
        forth, back, weight = first, _BACKWARDS[first], 1
        for part in parts[start : start + 3]:
            forth, weight = forth * 100 + part, weight * 100
            back += _BACKWARDS[part] * weight
            found.add(forth)
            found.add(back)
    return found


@lru_cache(maxsize=1)
def shown_numbers() -> frozenset[int]:
    """Numbers in the policy or the manuals, as they are and as minor units: no amount to find out may be one."""
    from agentgym.envs.refund.env import DOMAIN  # the environment imports the generator

    texts = (DOMAIN.system_prompt, json.dumps(DOMAIN.schemas))
    return frozenset(set(range(1000)).union(*map(spelt_numbers, texts)))
