"""Reference calculator of the refund desk's policy, section by section; it belongs to the judge and is in no image.

Pure functions over rows as the tables have them. Amounts are integers of minor units, days `datetime.date`; every step
is rounded half up (policy 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Literal

Row = Mapping[str, Any]

WINDOWS = {"electronics": 30, "apparel": 45, "home": 30, "marketplace": 14, "digital": 14}
"""2.1: days to ask, by category; other categories never come back."""

EXTRA_DAYS = {"standard": 0, "silver": 7, "gold": 15}
"""2.2, not for marketplace and digital."""

LABEL = {"EUR": 590, "USD": 650, "GBP": 510, "JPY": 900, "KRW": 8800}
"""3.3: what a parcel with the shop's label costs."""

ORDER_OF_PAYMENT = ("gift_card", "store_credit", "paypal", "card", "bank_transfer")
"""4.1: to which payments money goes back first."""


def half_up(numerator: int, denominator: int) -> int:
    """Divide and round half up (3.1); both are ≥ 0, the denominator > 0.

    >>> half_up(5, 2), half_up(7, 3), half_up(0, 9)
    (3, 2, 0)
    """
    return (2 * numerator + denominator) // (2 * denominator)


def day_of(moment: str) -> date:
    """The UTC day of an ISO time.

    >>> day_of("2026-02-20T23:59:59Z")
    datetime.date(2026, 2, 20)
    """
    return date.fromisoformat(moment[:10])


# 3 Amounts.


def line_total(item: Row) -> int:
    """3.1: unit price × quantity − line discount.

    >>> line_total({"unit_price_minor": 1990, "quantity": 3, "discount_minor": 70})
    5900
    """
    return int(item["unit_price_minor"] * item["quantity"] - item["discount_minor"])


def share(coupon: int, item: Row, items: Iterable[Row]) -> int:
    """3.1: the part of the order's coupon that falls on a line; *items* are all lines of the order.

    >>> shirts = {"unit_price_minor": 1990, "quantity": 3, "discount_minor": 0}
    >>> scarf = {"unit_price_minor": 3490, "quantity": 1, "discount_minor": 0}
    >>> share(1000, shirts, [shirts, scarf])
    631
    """
    return half_up(coupon * line_total(item), sum(line_total(each) for each in items))


def line_value(coupon: int, item: Row, items: Iterable[Row]) -> int:
    """3.1: line − share.

    >>> shirts = {"unit_price_minor": 1990, "quantity": 3, "discount_minor": 0}
    >>> scarf = {"unit_price_minor": 3490, "quantity": 1, "discount_minor": 0}
    >>> line_value(1000, shirts, [shirts, scarf])
    5339
    """
    return line_total(item) - share(coupon, item, items)


def value(coupon: int, item: Row, items: Iterable[Row], units: int | None = None) -> int:
    """3.1: value of *units* (all if None) of a line.

    >>> shirts = {"unit_price_minor": 1990, "quantity": 3, "discount_minor": 0}
    >>> scarf = {"unit_price_minor": 3490, "quantity": 1, "discount_minor": 0}
    >>> value(1000, shirts, [shirts, scarf], 2)
    3559
    """
    whole = line_value(coupon, item, items)
    return whole if units is None else half_up(whole * units, item["quantity"])


def fee_percent(category: str, condition: str, tier: str) -> int | None:
    """3.2: the fee in per cent of the value, None where the goods are not accepted.

    >>> fee_percent("electronics", "opened", "silver"), fee_percent("home", "opened", "gold")
    (15, 0)
    >>> fee_percent("home", "used", "gold")
    30
    >>> fee_percent("apparel", "used", "gold"), fee_percent("marketplace", "sealed", "standard")
    (None, 20)
    """
    if condition == "used":
        return 30 if category in ("electronics", "home") else None
    if condition == "opened" and tier == "gold":
        return 0
    if category == "marketplace":
        return 20
    if condition == "opened":
        return {"electronics": 15, "home": 10}.get(category, 0)
    return 0


def deduction(currency: str, label: str, tier: str) -> int:
    """3.3: what the shop's label costs the customer, per return.

    >>> deduction("JPY", "shop", "silver"), deduction("EUR", "shop", "gold"), deduction("EUR", "customer", "standard")
    (900, 0, 0)
    """
    return LABEL[currency] if label == "shop" and tier != "gold" else 0


def change_of_mind(worth: int, category: str, condition: str, tier: str, label: str, currency: str) -> int | None:
    """3.2 and 3.3: what is paid for units of the value *worth* that came back, None where they are not accepted.

    >>> change_of_mind(10146, "home", "opened", "silver", "shop", "JPY")
    8231
    >>> change_of_mind(4990, "electronics", "opened", "silver", "customer", "EUR")
    4241
    """
    percent = fee_percent(category, condition, tier)
    if percent is None:
        return None
    return max(0, worth - half_up(worth * percent, 100) - deduction(currency, label, tier))


def late_delivery(promised_by: str, delivered: date, values: Iterable[int]) -> int | None:
    """3.8: the store credit for a late parcel, None where it is not late enough; *values* are those of its items.

    >>> late_delivery("2026-02-20", date(2026, 3, 2), [5047, 7189])
    1224
    >>> late_delivery("2026-02-20", date(2026, 2, 25), [5047, 7189])
    """
    if (delivered - date.fromisoformat(promised_by)).days <= 5:
        return None
    return half_up(sum(values) * 10, 100)


# 4 Payments.


def split(payments: Iterable[Row], amount: int) -> list[tuple[str, int]]:
    """4.1: (payment, part) of an amount paid back, in order.

    Raises:
        ValueError: the captured payments have less left.

    >>> gift = {"payment_id": "PM2", "method": "gift_card", "status": "captured"}
    >>> gift |= {"amount_minor": 2500, "refunded_minor": 0}
    >>> card = {"payment_id": "PM1", "method": "card", "status": "captured"}
    >>> card |= {"amount_minor": 6450, "refunded_minor": 0}
    >>> split([card, gift], 3559)
    [('PM2', 2500), ('PM1', 1059)]
    """
    captured = [row for row in payments if row["status"] == "captured"]
    parts: list[tuple[str, int]] = []
    for row in sorted(captured, key=lambda each: ORDER_OF_PAYMENT.index(each["method"])):
        part = min(amount, row["amount_minor"] - row["refunded_minor"])
        if part > 0:
            parts.append((row["payment_id"], part))
            amount -= part
    if amount > 0:
        raise ValueError(f"{amount} more than the captured payments have left")
    return parts


def duplicate(payments: Sequence[Row], total: int) -> str | None:
    """4.3: the payment to void, None if the order was not charged twice.

    >>> one = {"payment_id": "PM1", "method": "card", "status": "captured", "amount_minor": 500}
    >>> one |= {"created_at": "2026-03-01T10:00:00Z"}
    >>> two = {**one, "payment_id": "PM2", "created_at": "2026-03-01T10:02:00Z"}
    >>> duplicate([one, two], 500)
    'PM2'
    >>> duplicate([one, {**two, "status": "authorised"}], 500)
    """
    captured = sorted((row for row in payments if row["status"] == "captured"), key=lambda row: row["created_at"])
    for index, late in enumerate(captured):
        for early in captured[:index]:
            alike = (early["method"], early["amount_minor"]) == (late["method"], late["amount_minor"])
            if alike and early["amount_minor"] + late["amount_minor"] > total:
                return str(late["payment_id"])
    return None


# 2 Change of mind: days.


def extra_days(delivered: date, carrier: str, country: str, notices: Iterable[Row]) -> int:
    """2.3: days added since the parcel was delivered within a notice of its carrier.

    >>> notice = {"carrier": "Velox", "country": "FR", "extra_days": 3}
    >>> notice |= {"first_day": "2026-01-19", "last_day": "2026-01-25"}
    >>> [extra_days(date(2026, 1, day), "Velox", "FR", [notice]) for day in (23, 26)]
    [3, 0]
    """
    return sum(
        row["extra_days"]
        for row in notices
        if (row["carrier"], row["country"]) == (carrier, country)
        and row["first_day"] <= delivered.isoformat() <= row["last_day"]
    )


def working_day(day: date, holidays: Iterable[date]) -> date:
    """2.4: *day*, or the next one that is neither a Sunday nor a holiday.

    >>> working_day(date(2026, 3, 8), [date(2026, 3, 9)])
    datetime.date(2026, 3, 10)
    """
    free = set(holidays)
    while day.isoweekday() == 7 or day in free:  # noqa: PLR2004  ISO: Sunday is 7
        day += timedelta(1)
    return day


def last_day(start: date, category: str, tier: str, notice_days: int = 0, holidays: Iterable[date] = ()) -> date | None:
    """2.1 to 2.4: the last day to ask, None for goods that never come back.

    Args:
        start: day of delivery; of a digital good the day of the order.
        category: of the product.
        tier: of the customer.
        notice_days: see `extra_days`.
        holidays: of the customer's country.

    >>> last_day(date(2026, 1, 30), "electronics", "silver")
    datetime.date(2026, 3, 9)
    >>> last_day(date(2026, 1, 30), "perishable", "gold")
    """
    if category not in WINDOWS:
        return None
    more = 0 if category in ("marketplace", "digital") else EXTRA_DAYS[tier]
    return working_day(start + timedelta(WINDOWS[category] + more + notice_days), holidays)


# 5 and 6: damage, parcels that did not come.


def damage_deadline(delivered: date, category: str) -> date:
    """5.1: the last day to report damage.

    >>> damage_deadline(date(2026, 3, 10), "home"), damage_deadline(date(2026, 3, 10), "perishable")
    (datetime.date(2026, 3, 17), datetime.date(2026, 3, 12))
    """
    return delivered + timedelta(2 if category == "perishable" else 7)


def evidence_needed(category: str) -> tuple[str, ...]:
    """5.2: kinds of photos that a damage claim needs.

    >>> evidence_needed("perishable")
    ('inner_goods',)
    """
    return ("inner_goods",) if category == "perishable" else ("signature", "outer_packaging", "inner_goods")


def claim_party(
    delivered: date, today: date, carrier_at_fault: bool, claim_window_days: int | None
) -> Literal["carrier", "supplier"] | None:
    """5.4: from whom the value of damaged goods is claimed; *claim_window_days* is None without a supplier.

    >>> [claim_party(date(2026, 3, 1), date(2026, 3, day), False, 14) for day in (14, 16)]
    ['supplier', None]
    """
    if carrier_at_fault:
        return "carrier"
    if claim_window_days is not None and today <= delivered + timedelta(claim_window_days):
        return "supplier"
    return None


def overdue(promised_by: str, today: date) -> bool:
    """6.1: whether a parcel without `delivered` event counts as lost.

    >>> overdue("2026-03-01", date(2026, 3, 11)), overdue("2026-03-01", date(2026, 3, 12))
    (False, True)
    """
    return today > date.fromisoformat(promised_by) + timedelta(10)


# 7 Hand-off.


def over_limit(due: int, currency: str, limits: Row, refunds: Iterable[Row], today: date) -> bool:
    """7.1: whether *due* is above the role's limit, alone or with the customer's refunds of the last 30 days.

    >>> limits = {"per_refund_minor": 25000, "per_customer_30d_minor": 40000}
    >>> old = {"status": "completed", "currency": "EUR", "amount_minor": 20000}
    >>> old |= {"created_at": "2026-03-01T08:00:00Z"}
    >>> [over_limit(due, "EUR", limits, [old], date(2026, 3, 14)) for due in (20000, 20001)]
    [False, True]
    """
    recent = sum(
        row["amount_minor"]
        for row in refunds
        if row["status"] in ("completed", "pending")
        and row["currency"] == currency
        and day_of(row["created_at"]) >= today - timedelta(30)
    )
    return due > 0 and (due > limits["per_refund_minor"] or due + recent > limits["per_customer_30d_minor"])
