"""The orders written by hand (A1001 and following), each an open question of its customer at the desk."""

from __future__ import annotations

from agentgym.envs.refund.seed_data import PEOPLE
from agentgym.envs.refund.seed_shop import Shop, entries


def cases(shop: Shop) -> None:
    """Add the orders written by hand, each an open question of its customer at the desk."""

    def case(country: str, name: str, tier: str, subject: str, asked: str, score: int = 0) -> str:
        for _ in range(1 + shop.draw(5)):
            shop.customer(shop.pick(entries(PEOPLE))[0])
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
