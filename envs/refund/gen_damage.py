"""Requests about goods that arrived damaged: the three kinds of photos, one missing, and who pays in the end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from agentgym.envs.refund import calculator
from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_data import Row, reference
from agentgym.envs.refund.gen_gold import act, of
from agentgym.envs.refund.gen_request import Order, Request
from agentgym.envs.refund.gen_words import fact, facts, mention, tail
from agentgym.scenario import GoldAction

Actions = tuple[GoldAction, ...]
KINDS = ("inner_goods", "outer_packaging", "signature")

_CLEAN = ("Name and signature; parcel accepted without remarks", "Signed for; no remark about the parcel")
_REMARK = ("Signed; remark: carton crushed on one side", "Signature with the note 'parcel was open at the bottom'")
_FINE = ("Carton without dents, tape unbroken", "Outer carton in good order on all sides")
_DENTED = ("Carton with a deep dent in one corner", "Carton torn along one edge, tape loose")


def _photos(
    case: Case,
    item: Row,
    product: Row,
    units: int,
    carrier_at_fault: bool,
    missing: Sequence[str],
    requested: Sequence[str],
) -> list[Row]:
    draw = case.draw
    remark = carrier_at_fault and draw.integers(0, 2) == 0
    number = ("One unit", "Two units", "Three units")[units - 1]
    rest = "; the others are without damage" if item["quantity"] > units else ""
    inner = f"{number} of {product['name']}: {draw.choice(('broken', 'cracked', 'torn', 'bent out of shape'))}{rest}"
    shows = {
        "inner_goods": inner,
        "outer_packaging": draw.choice(_DENTED if carrier_at_fault and not remark else _FINE),
        "signature": draw.choice(_REMARK if remark else _CLEAN),
    }
    at, made = case.member.ticket_at, []
    for kind in KINDS:
        if kind not in missing:
            sender = "carrier" if kind == "signature" else "customer"
            made.append(
                {
                    "evidence_id": case.new_id("EV"),
                    "item_id": item["item_id"],
                    "kind": kind,
                    "sent_by": sender,
                    "received_at": at,
                    "shows": shows[kind],
                }
            )
        elif kind in requested:
            case.rows["evidence_requests"].append(
                {
                    "request_id": case.new_id("ER"),
                    "ticket_id": case.ticket_id,
                    "item_id": item["item_id"],
                    "kind": kind,
                    "created_at": at,
                }
            )
    case.rows["evidence"] += made
    return made


def _photo(i: int, kind: str) -> GoldAction:
    sql = "SELECT value ->> 'evidence_id' FROM json_each(:photos) WHERE value ->> 'kind' = '" + kind + "'"
    return act("get_evidence", f"{kind}{i}", evidence_id={"sql": sql, "photos": of(f"photos{i}", "$.photos")})


@cache
def _reads(i: int, count: int, seen: tuple[str, ...]) -> tuple[Actions, Actions]:
    reads = gold.common(i)
    lines = gold.lines(i, count)
    photos = tuple(_photo(i, kind) for kind in seen)
    one = (*lines, reads["product"], reads["tracking"], reads["photos"], *photos, reads["payments"], reads["refunds"])
    two = (
        reads["shipments"],
        *lines,
        reads["product"],
        reads["tracking_b"],
        reads["claims"],
        reads["photos"],
        *photos,
        reads["payments"],
        reads["all_refunds"],
    )
    return one, two


@cache
def _gold_damage(i: int, count: int, units: int, party: str, chinese: bool) -> tuple[Actions, Actions, Actions]:
    one, two = _reads(i, count, KINDS)
    supplier: Actions = ()
    if party != "carrier":
        supplier = (act("get_supplier", supplier_id=of(f"product{i}", "$.supplier_id")),) if party == "supplier" else ()
    due = gold.value(i, 0, count, units)
    writes = gold.refund(i, 0, due, "damaged")
    if party:
        writes.append(act(f"file_{party}_claim", item_id=of(f"line{i}_0", "$.item_id"), amount_minor=due))
    told = gold.tell(
        i,
        ((f"done{i}_0", "$.amount_minor"),),
        "抱歉给您添麻烦了，退款金额为" if chinese else "We are sorry. Your money:",
        "，商品您可以留着。" if chinese else " goes back; you keep the goods.",
    )
    return (*one, *supplier), (*two, *supplier), (*writes, told)


def damage(case: Case, i: int, hard: bool) -> Request:
    """All photos are there: refund of the damaged units, and a claim against whoever has to pay."""
    draw, mark = case.draw, case.mark()
    product = case.products(("home", "electronics"), 1, 9_000)[0]
    gap = draw.integers(0, 7)
    delivered = case.member.asked - timedelta(gap)
    count = draw.integers(2, 4) if hard else draw.integers(1, 3)
    others = [row for row in case.products(("home", "apparel"), count, 8_000) if row is not product][: count - 1]
    units = draw.integers(1, 3) if hard else 1
    quantity = units + draw.integers(0, 2)
    order = case.order(
        [product, *others], [quantity, *(1 for _ in others)], delivered, coupon=hard or draw.integers(0, 2) == 0
    )
    carrier = draw.integers(0, 2) == 0
    photos = _photos(case, order.items[0], product, units, carrier, (), ())
    amount = order.value(0, units)
    whole = units == quantity and not others
    if whole or not case.hides(amount):
        case.undo(mark)
        return damage(case, i, hard)
    window = reference().windows.get(product["supplier_id"])
    party = calculator.claim_party(delivered, case.today, carrier, window) or ""
    request = Request("damage", order.id)
    _ask_damage(case, request, order, product, units)
    checks.looked_up(request, i, order, order.items[0])
    for row in photos:
        needed = checks.call("get_evidence", evidence_id=row["evidence_id"])
        checks.must_read(request, i, row["kind"], needed, "create_refund" if row["kind"] == "inner_goods" else "")
    checks.pays(request, case, order, order.items[0], amount, "damaged")
    if party:
        _claims(case, request, i, order.items[0], product, party, amount)
    elif product["supplier_id"] is not None or carrier:
        request.final_state.append(
            checks.state("SELECT count(*) FROM claims WHERE item_id = :id", 0, holds=True, id=order.items[0]["item_id"])
        )
    one, two, request.writes = _gold_damage(i, 1 + len(others), units, party, case.chinese)
    request.reads, request.paid = (one, two), ((f"done{i}_0", "$.amount_minor"),)
    request.steps = (
        "Look at all three photos and at the day of delivery",
        "Get a yes and refund the full value of the damaged units",
        "Claim the value from whoever has to pay, if anybody",
    )
    return request


def _claims(case: Case, request: Request, i: int, item: Row, product: Row, party: str, amount: int) -> None:
    sql = "SELECT sum(amount_minor) FROM claims WHERE item_id = :id AND party = :party"
    carrier = party == "carrier"
    request.final_state.append(checks.state(sql, amount, id=item["item_id"], party=party))
    request.may_change.append(
        checks.insert(
            "claims",
            party=party,
            item_id=item["item_id"],
            amount_minor=amount,
            currency=case.currency,
            status="open",
            shipment_id=item["shipment_id"] if carrier else None,
            supplier_id=None if carrier else product["supplier_id"],
        )
    )
    params: dict[str, Any] = {"id": item["item_id"], "party": party}
    request.checkpoints.append(checks.reached(f"claimed_{i}", sql, amount, weight=2, **params))


def _ask_damage(case: Case, request: Request, order: Order, product: Row, units: int) -> None:
    where, name = mention(case, request, order), product["name"]
    request.ask.append(
        case.says(
            (
                f"The {name} from {where} arrived damaged. I would like my money back, no replacement.",
                f"Something in {where} was broken when I opened it: the {name}. Please refund the damaged part.",
                f"I unpacked {where} and the {name} is damaged. I want a refund for what is broken.",
            ),
            (
                f"{where}里的{name}到货时就坏了，我要退款，不要换货。",
                f"{where}打开一看，{name}有破损，请退坏掉部分的钱。",
                f"收到{where}后发现{name}损坏了，要求退款。",
            ),
        )
    )
    request.goal = f"The money for damaged goods ({units} of {name})"
    tail(case, request)
    request.facts |= facts(case)
    request.facts["choice"] = fact(
        case, "replacement,exchange,instead", "换货,补发", "No replacement, the money please.", "不要换货，退款就好。"
    )


@cache
def _gold_missing(
    i: int, seen: tuple[str, ...], ask: tuple[str, ...], chinese: bool
) -> tuple[Actions, Actions, Actions]:
    one, two = _reads(i, 1, seen)
    item, ticket = of(f"line{i}_0", "$.item_id"), of("ticket", "$.ticket_id")
    writes = tuple(act("request_evidence", ticket_id=ticket, item_id=item, kind=kind) for kind in ask)
    text = (
        "还缺少照片证据（evidence missing），我们收到后才能处理，请补充。"
        if chinese
        else "A photo is still missing (evidence missing); we can only decide once all of them are here."
    )
    return one, two, (*writes, gold.say(text))


def evidence_missing(case: Case, i: int, hard: bool) -> Request:
    """One or two photos are missing: ask for those not asked for yet, refuse until they are there."""
    draw = case.draw
    product = case.products(("home", "electronics"), 1, 9_000)[0]
    delivered = case.member.asked - timedelta(draw.integers(0, 7))
    missing = tuple(draw.sample(KINDS, 2 if hard else 1))
    requested = missing[1:] if hard and draw.integers(0, 2) else ()
    order = case.order([product], [draw.integers(1, 3)], delivered)
    item = order.items[0]
    photos = _photos(case, item, product, 1, False, missing, requested)
    request = Request("evidence-missing", order.id, code="evidence_missing", pending=True)
    _ask_damage(case, request, order, product, 1)
    checks.looked_up(request, i, order, item)
    listed = checks.call("list_evidence", item_id=item["item_id"])
    checks.must_read(request, i, "photos", listed, "request_evidence")
    ask = tuple(kind for kind in KINDS if kind in missing and kind not in requested)
    sql = "SELECT kind FROM evidence_requests WHERE item_id = :id ORDER BY kind"
    request.final_state.append(checks.state(sql, sorted(missing), "multiset", id=item["item_id"]))
    request.final_state.append(checks.state(checks.NO_REFUND, 0, holds=True, id=order.id))
    for kind in ask:
        request.may_change.append(
            checks.insert("evidence_requests", ticket_id=case.ticket_id, item_id=item["item_id"], kind=kind)
        )
        one = "SELECT count(*) FROM evidence_requests WHERE item_id = :id AND kind = :photo"
        request.checkpoints.append(
            checks.reached(f"{kind}_{i}_asked", one, 1, weight=2, id=item["item_id"], photo=kind)
        )
    request.wants.append(checks.want("create_refund", item_id=item["item_id"]))
    checks.without(request, order, "create_refund", "send_replacement")
    seen = tuple(row["kind"] for row in photos)
    first, second, request.writes = _gold_missing(i, seen, ask, case.chinese)
    request.reads = (first, second)
    request.steps = (
        "See which of the three photos are there or asked for",
        "Ask for each other one and refuse until they are there",
    )
    return request
