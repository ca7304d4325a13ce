"""Customers who have registered and not ordered yet: those whom generated cases are about.

A generated case brings its own orders; its customer, the address, the risk profile and the ticket are here, since each
row that a scenario brings is paid for at every reset. Standard library only.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple

from agentgym.envs.refund.seed_data import NOTICES, NOW
from agentgym.envs.refund.seed_shop import Shop, entries, plain

SUBJECT = "Request"
"""The subject of their tickets."""

_FIRST, _LAST = date(2026, 2, 1), date.fromisoformat(NOW[:10]) - timedelta(1)
"""The days of their tickets."""
_DAYS = {"standard": 30, "silver": 37, "gold": 45}
"""Days to send back most goods, by tier."""
_EACH, _CHINESE = 24, 6
"""Members a country, and how many of them write Chinese."""


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

NOTES = (
    "asks for the amount in writing",
    "called twice in January",
    "prefers e-mail",
    "moved house last autumn",
    "was sent a voucher in May",
)
"""Internal notes: nobody outside reads them."""


def members(shop: Shop) -> None:
    """Add them, each with an address, a risk profile and an open ticket of February or March."""
    for country in COUNTRIES:
        for number in range(_EACH):
            tier = shop.pick(tuple(_DAYS))
            _member(shop, country, number < _CHINESE, tier, _asked(shop, country, tier, number % 2 == 1))


def _asked(shop: Shop, country: Country, tier: str, noticed: bool) -> date:
    """The day of the ticket; *noticed*: one on which a notice of the carrier decides whether goods may go back."""
    notice = next((row for row in entries(NOTICES) if row[:2] == [country.carrier, country.code]), None)
    if notice is not None and noticed:
        delivered = date.fromisoformat(notice[2]) + timedelta(shop.draw(4))
        last = delivered + timedelta(_DAYS[tier] + int(notice[4]))
        day = last + timedelta(shop.draw(12) - 6)
        if _FIRST <= day <= _LAST:
            return day
    return _FIRST + timedelta(shop.draw((_LAST - _FIRST).days + 1))


def _member(shop: Shop, country: Country, chinese: bool, tier: str, day: date) -> None:
    name = shop.pick(CHINESE)[1] if chinese else f"{shop.pick(country.first)} {shop.pick(country.last)}"
    customer_id = shop.next_id("C")
    shop.add(
        "customers",
        customer_id=customer_id,
        name=name,
        email=f"{plain(name)}.{shop.draw(90_000) + 10_000}@example.com",
        phone=f"{country.phone}{shop.draw(9 * 10**6) + 10**6}",
        tier=tier,
        country=country.code,
        currency=country.currency,
        language="zh" if chinese else "en",
        created_at=f"{date(2023, 1, 1) + timedelta(shop.draw(900))}T{shop.clock()}Z",
    )
    shop.add(
        "addresses",
        address_id=shop.next_id("AD"),
        customer_id=customer_id,
        street=f"{shop.pick(country.streets)} {shop.draw(139) + 1}",
        city=shop.pick(country.cities),
        postcode=str(shop.draw(89_999) + 10_000),
        country=country.code,
    )
    shop.rows["risk_profiles"].append(
        {"customer_id": customer_id, "fraud_score": shop.draw(70) + 2, "internal_note": shop.pick(NOTES)}
    )
    shop.rows["tickets"].append(
        {"ticket_id": shop.next_id("T"), "customer_id": customer_id, "channel": shop.pick(("chat", "email", "phone")),
         "subject": SUBJECT, "created_at": f"{day}T{shop.clock(8, 4)}Z", "status": "open"}
    )  # fmt: skip
