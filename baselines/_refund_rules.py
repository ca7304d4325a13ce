"""The arithmetic of the refund desk's policy, as an agent writes it down after reading the policy: only for Refund.

Pure functions over what the tools return. Amounts are integers of minor units, days are `datetime.date`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

Row = Mapping[str, Any]

DAYS = {"electronics": 30, "apparel": 45, "home": 30, "marketplace": 14, "digital": 14}
MORE_DAYS = {"silver": 7, "gold": 15}
FEES = {"electronics": 15, "home": 10}
LABELS = {"EUR": 590, "USD": 650, "GBP": 510, "JPY": 900, "KRW": 8800}
PAY_ORDER = ("gift_card", "store_credit", "paypal", "card", "bank_transfer")
SETTLED = ("completed", "pending")
CODES = (
    "not_your_order", "not_returnable", "outside_window", "return_not_received", "condition_not_accepted",
    "already_refunded", "no_fault_found", "other_account", "already_shipped", "evidence_missing", "too_early",
    "trace_open",
)  # fmt: skip
"""Reasons to refuse, in the order of their sections."""

WAITING = frozenset({"evidence_missing", "return_not_received", "too_early", "trace_open"})
"""Reasons after which the ticket waits (8.1)."""


def day(moment: str) -> date:
    """The day of an ISO time."""
    return date.fromisoformat(moment[:10])


def rounded(numerator: int, denominator: int) -> int:
    """Divide, half up."""
    return (2 * numerator + denominator) // (2 * denominator)


def line(item: Row) -> int:
    """Price × quantity − discount of a line."""
    return int(item["unit_price_minor"] * item["quantity"] - item["discount_minor"])


def value(coupon: int, item: Row, items: Iterable[Row], units: int) -> int:
    """3.1: what *units* of a line are worth after its share of the coupon."""
    whole = line(item) - rounded(coupon * line(item), sum(line(each) for each in items))
    return rounded(whole * units, item["quantity"])


def after_fee(worth: int, category: str, condition: str, tier: str) -> int | None:
    """3.2: the value less the fee; None where the goods are not accepted."""
    if condition == "used":
        return worth - rounded(worth * 30, 100) if category in FEES else None
    if condition == "opened" and tier == "gold":
        return worth
    percent = 20 if category == "marketplace" else FEES.get(category, 0) if condition == "opened" else 0
    return worth - rounded(worth * percent, 100)


def last_day(start: date, category: str, tier: str, notices: Iterable[Row], holidays: Iterable[str]) -> date:
    """2.1 to 2.4: the last day to ask."""
    more = 0 if category in ("marketplace", "digital") else MORE_DAYS.get(tier, 0)
    extra = sum(row["extra_days"] for row in notices if row["first_day"] <= start.isoformat() <= row["last_day"])
    last, free = start + timedelta(DAYS[category] + more + extra), set(holidays)
    while last.isoweekday() == 7 or last.isoformat() in free:
        last += timedelta(1)
    return last


def split(payments: Sequence[Row], amount: int, used: dict[str, int]) -> list[tuple[str, int]]:
    """4.1: (payment, part); *used* is what was planned on each payment before, and is added to."""
    parts = []
    for row in sorted(
        (row for row in payments if row["status"] == "captured"), key=lambda row: PAY_ORDER.index(row["method"])
    ):
        name = row["payment_id"]
        part = min(amount, row["amount_minor"] - row["refunded_minor"] - used.get(name, 0))
        if part > 0:
            parts.append((name, part))
            used[name] = used.get(name, 0) + part
            amount -= part
    return parts


def charged_twice(payments: Sequence[Row], total: int) -> Row | None:
    """4.3: the later of two equal captured payments that are together more than the total."""
    captured = sorted((row for row in payments if row["status"] == "captured"), key=lambda row: row["created_at"])
    for number, late in enumerate(captured):
        for early in captured[:number]:
            if (
                early["method"] == late["method"]
                and early["amount_minor"] == late["amount_minor"]
                and 2 * late["amount_minor"] > total
            ):
                return late
    return None


def over_limit(due: int, currency: str, limits: Row, refunds: Iterable[Row], today: date) -> bool:
    """7.1: above what the role may refund, at once or with the last 30 days."""
    recent = sum(
        row["amount_minor"]
        for row in refunds
        if row["status"] in SETTLED and row["currency"] == currency and day(row["created_at"]) >= today - timedelta(30)
    )
    return due > 0 and (due > limits["per_refund_minor"] or due + recent > limits["per_customer_30d_minor"])


def money(amount: int, currency: str) -> str:
    """An amount as it is written to a customer.

    >>> money(3559, "EUR"), money(8231, "JPY")
    ('EUR 35.59', 'JPY 8231')
    """
    return f"{currency} {amount}" if currency in ("JPY", "KRW") else f"{currency} {amount // 100}.{amount % 100:02}"
