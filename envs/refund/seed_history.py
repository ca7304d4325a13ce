"""The drawn orders, and what became of them."""

from __future__ import annotations

from agentgym.envs.refund.seed_data import CURRENCIES, NOW, PEOPLE
from agentgym.envs.refund.seed_shop import Parcel, Shop, after, entries

_HISTORY = 1060
"""Orders that are drawn."""


def history(shop: Shop) -> None:
    """Add the drawn orders, spread evenly from September 2025 to the day before `NOW`, with what became of them."""
    while len(shop.rows["customers"]) < 340:
        shop.customer(shop.pick(entries(PEOPLE))[0])
    hand = {row["customer_id"] for row in shop.rows["orders"]}
    customers = [row["customer_id"] for row in shop.rows["customers"]]
    names = [row["name"] for row in shop.rows["products"]]
    for number in range(_HISTORY):
        customer = shop.pick(customers)
        placed = after("2025-09-01", number * 194 // _HISTORY, shop.clock())
        if customer in hand and placed > "2026-01-15":
            customer = shop.pick([other for other in customers if other not in hand])
        _drawn_order(shop, f"A{1101 + number}", customer, placed, names)


def _drawn_order(shop: Shop, order_id: str, customer: str, placed: str, names: list[str]) -> None:
    _, rate, step = CURRENCIES[shop.index[customer]["currency"]]
    chosen = list(dict.fromkeys(shop.pick(names) for _ in range(1 + shop.draw(3))))
    lines = [(name, 1 + shop.draw(5) // 3, 0, 0) for name in chosen]
    parcels: list[Parcel] = []
    bodily = any(shop.product(name)["category"] not in ("digital", "gift_card") for name in chosen)
    arrives = after(placed, 3 + shop.draw(7), shop.clock(8, 10))
    if bodily and placed < "2026-03-12":
        parcels = [(after(placed, 6, "00:00:00")[:10], arrives if arrives < NOW else None)]
    method = shop.pick(("card",) * 5 + ("paypal",) * 3 + ("bank_transfer",))
    pay: list[tuple[str, int]] = [(method, 0)]
    if bodily and shop.draw(100) < 9:
        pay.insert(0, (shop.pick(("gift_card", "gift_card", "store_credit")), 12 * rate // step * step))
    coupon = shop.pick((0, 0, 0, 0, 2)) * rate
    shop.order(order_id, customer, placed, lines, parcels, pay, coupon, int(bodily))
    if parcels and arrives < "2026-02-25":
        _aftermath(shop, order_id, customer, arrives)


def _aftermath(shop: Shop, order_id: str, customer: str, arrived: str) -> None:
    """Add what followed on about a quarter of the orders that arrived."""
    fate, item = shop.draw(100), f"{order_id}-1"
    asked = after(arrived, 1 + shop.draw(9), shop.clock())
    goods = shop.index[shop.index[item]["product_id"]]
    if fate < 9 and goods["category"] in ("electronics", "apparel", "home"):
        found = shop.pick(("sealed", "sealed", "opened"))
        shop.back(item, shop.index[item]["quantity"], "change_of_mind", asked, found)
        shop.refund(item, after(asked, 4, shop.clock()), "change_of_mind")
        shop.ticket(customer, f"Return of {goods['name']}", asked, "closed", f"Refund of {item} made after inspection.")
    elif 9 <= fate < 14 and shop.index[item]["shipment_id"]:
        outer = shop.pick(("Dented", "Intact", "Wet"))
        shop.photos(item, asked, signature="Signature; no remarks", outer_packaging=outer,
                    inner_goods=f"{goods['name']}: visibly broken")  # fmt: skip
        shop.refund(item, after(asked, 2, shop.clock()), "damaged")
        shop.ticket(customer, f"{goods['name']} damaged", asked, "closed", f"All photos there; {item} refunded.")
        shop.rows["claims"].append(
            {"claim_id": shop.next_id("CL"), "party": "carrier", "item_id": item, "supplier_id": None,
             "shipment_id": shop.index[item]["shipment_id"], "amount_minor": shop.index[item]["unit_price_minor"],
             "currency": shop.index[order_id]["currency"], "status": shop.pick(("paid", "rejected", "open")),
             "created_at": after(asked, 2, "16:00:00")}
        )  # fmt: skip
    elif fate == 14:
        shop.trace(order_id, asked, after(asked, 6, "12:00:00"), "delivered_confirmed", "Handed to the addressee")
        shop.ticket(customer, "Parcel not found", asked, "closed", "Trace: handed over in person.")
    elif fate == 15:
        twin = next(row for row in shop.rows["payments"] if row["order_id"] == order_id)
        shop.payment(order_id, twin["method"], twin["amount_minor"], after(twin["created_at"], 0, "21:00:00"), "voided")
        shop.ticket(customer, "Paid twice", asked, "closed", "Second charge voided.")
    elif fate == 16:
        shop.rows["fraud_reviews"].append(
            {"review_id": shop.next_id("FR"), "customer_id": customer, "order_id": order_id, "cause": "many claims",
             "status": "cleared", "opened_at": asked}
        )  # fmt: skip
    elif fate in (17, 18):
        shop.ticket(customer, "When will it arrive?", after(arrived, -1, "10:00:00"), "solved")
