"""What generated scenarios are made of: the snapshot's reference tables, names, numbers that are shown anyway."""

from __future__ import annotations

import json
import sqlite3
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.generating import spelt_numbers
from agentgym.snapshot import snapshot_file

FOLDER = Path(__file__).parent
Row = dict[str, Any]

RATES = {"EUR": (100, 1), "GBP": (86, 1), "JPY": (165, 10), "KRW": (1500, 100), "USD": (110, 1)}
"""Currency → (minor units per 100 euro cents, step of prices), as in the snapshot."""

PLAIN_CATEGORIES = ("electronics", "apparel", "home")


class Country(NamedTuple):
    """Where a customer lives."""

    code: str
    currency: str
    carrier: str
    phone: str
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    first: tuple[str, ...]
    last: tuple[str, ...]


def _country(line: str) -> Country:
    code, currency, carrier, phone, cities, streets, first, last = (part.strip() for part in line.split("|"))
    return Country(
        code,
        currency,
        carrier,
        phone,
        tuple(cities.split(",")),
        tuple(streets.split(",")),
        tuple(first.split()),
        tuple(last.split()),
    )


COUNTRIES = tuple(
    _country(line)
    for line in """
DE|EUR|Nordpost|+49 30 6|Bremen,Leipzig,Dresden|Gartenweg,Bahnhofstraße|\
Nele Paul Ida Ömer Frieda Anton|Vogt Seidel Lorenz Yildiz Busch
AT|EUR|Nordpost|+43 1 6|Linz,Salzburg|Landstraße,Kirchengasse|\
Lea Jakob Theresa Florian|Hofer Pichler Leitner Egger
FR|EUR|Velox|+33 1 6|Lille,Rennes,Toulouse|rue de la Gare,rue Pasteur|\
Manon Théo Inès Karim Louise|Dubois Moreau Petit Haddad
IT|EUR|Velox|+39 06 6|Verona,Napoli|via Dante,via Mazzini|\
Sara Matteo Francesca Davide|Rinaldi Villa Marino Testa
ES|EUR|Velox|+34 91 6|Bilbao,Zaragoza|calle Nueva,calle Real|\
Elena Diego Marta Álvaro|Castro Ramos Gil Serrano
NL|EUR|Nordpost|+31 20 6|Leiden,Groningen|Kerkstraat,Molenweg|\
Lotte Daan Noor Thijs|Bakker Smit Dekker Vos
PL|EUR|Nordpost|+48 22 6|Łódź,Poznań|ulica Leśna,ulica Ogrodowa|\
Julia Jan Hanna Szymon|Wójcik Mazur Krawczyk Dudek
IE|EUR|Parcelway|+353 1 6|Dublin,Limerick|Main Street,Castle Road|\
Saoirse Conor Ciara Sean|Kelly Ryan Doyle Nolan
GB|GBP|Parcelway|+44 20 6|York,Bath,Glasgow|Station Road,Park Lane|\
Emily Oliver Zara Callum Ruby|Evans Wright Ahmed Cooper Reid
US|USD|Parcelway|+1 312 6|Denver,Boston,Seattle|Elm Street,Pine Avenue|\
Ava Lucas Chloe Diego Naomi|Miller Brooks Rivera Kim Foster
IN|USD|Globex|+91 80 6|Chennai,Jaipur|Lake Road,Station Road|\
Meera Vikram Divya Rahul|Nair Gupta Rao Desai
BR|USD|Globex|+55 21 6|Santos,Fortaleza|rua do Sol,avenida Central|\
Ana Bruno Camila Rafael|Costa Lima Pereira Rocha
JP|JPY|Tsubame|+81 6 6|Kyoto,Sapporo|Hon-dori,Ekimae|\
Mio Ren Hana Takumi|Suzuki Ito Nakamura Yamada
KR|KRW|Globex|+82 51 6|Incheon,Daegu|Jung-ro,Haeun-daero|\
Ha-eun Jun-ho Su-bin Min-seo|Jung Kang Yoon Lim
""".strip().splitlines()
)

CHINESE = tuple(
    tuple(pair.split(":"))
    for pair in "王芳:Wang Fang,李伟:Li Wei,张敏:Zhang Min,刘洋:Liu Yang,陈静:Chen Jing,杨帆:Yang Fan,赵磊:Zhao "
    "Lei,周婷:Zhou Ting,吴强:Wu Qiang,"
    "徐丽:Xu Li,孙浩:Sun Hao,马超:Ma Chao,朱琳:Zhu Lin,胡军:Hu Jun,郭雪:Guo Xue,何平:He Ping".split(",")
)
"""Names as their owners write them, and as they stand in the shop's records."""


class Reference(NamedTuple):
    """What the snapshot says that no episode changes."""

    products: dict[str, tuple[Row, ...]]
    windows: dict[str, int]
    limits: dict[tuple[str, str], Row]
    notices: tuple[Row, ...]
    holidays: dict[str, frozenset[date]]
    strangers: tuple[Row, ...]


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
    )
    connection.close()
    return found


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
