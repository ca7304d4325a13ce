"""Requests about parcels: late ones, lost ones, ones that nobody got."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from agentgym.envs.refund import calculator
from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_data import PLAIN_CATEGORIES
from agentgym.envs.refund.gen_gold import act, of
from agentgym.envs.refund.gen_request import Order, Request
from agentgym.envs.refund.gen_words import facts, mention, tail
from agentgym.scenario import GoldAction

Actions = tuple[GoldAction, ...]


def _reads(i: int, count: int) -> tuple[list[GoldAction], list[GoldAction]]:
    """Lines, tracking, payments and refunds of order *i*, in two ways."""
    reads = gold.common(i)
    lines = gold.lines(i, count)
    one = [*lines, reads["shipments"], reads["tracking"], reads["payments"], reads["refunds"]]
    two = [reads["shipments"], *lines, reads["tracking_b"], reads["claims"], reads["payments"], reads["all_refunds"]]
    return one, two


@cache
def _gold_late(i: int, count: int, chinese: bool) -> tuple[Actions, Actions, Actions]:
    one, two = _reads(i, count)
    total = " + ".join(f":v{n}" for n in range(count))
    credit = {"sql": f"SELECT (2 * ({total}) + 10) / 20", **{f"v{n}": gold.value(i, n, count) for n in range(count)}}
    arguments = {"order_id": of(f"order{i}", "$.order_id"), "amount_minor": credit, "reason": "late_delivery"}
    writes = gold.confirmed("issue_store_credit", f"done{i}_0", arguments)
    after = "，已存为商店余额，抱歉让您久等。" if chinese else " as store credit. We are sorry for the wait."
    told = gold.tell(i, ((f"done{i}_0", "$.amount_minor"),), "补偿金额为" if chinese else "You get", after)
    return (*one, gold.CREDIT), (*two, gold.CREDIT), (*writes, told)


@cache
def _gold_on_time(i: int, count: int, chinese: bool) -> tuple[Actions, Actions, Actions]:
    one, two = _reads(i, count)
    text = (
        "很抱歉，包裹没有晚到超过规定的天数，我们查不到过失（no fault found），无法补偿。"
        if chinese
        else ("I am sorry: the parcel was not late enough for a compensation, so no fault was found (no fault found).")
    )
    return tuple(one), tuple(two), (gold.say(text),)


def _ask_late_delivery(case: Case, where: str) -> str:
    return case.says(
        (
            f"The parcel with {where} came much later than you promised. I would like a compensation for that.",
            f"You promised a day for {where} and missed it by far. What do I get for the wait?",
            f"I waited far too long for {where}. Is there anything that you can do for me?",
        ),
        (
            f"{where}比承诺的日期晚到了，我要求补偿。",
            f"{where}你们承诺的送达日期早过了才到，怎么补偿我？",
            f"{where}等了太久才收到，请给个说法。",
        ),
    )


def late_delivery(case: Case, i: int, hard: bool) -> Request:
    """A parcel came late: a tenth of its value as store credit, if it was late enough."""
    draw = case.draw
    refuse = draw.integers(0, 5) == 0
    late = draw.integers(2, 6) if refuse else draw.integers(6, 15)
    delivered = case.member.asked - timedelta(draw.integers(1, 9))
    promised = delivered - timedelta(late)
    count = draw.integers(2, 4) if hard else draw.integers(1, 3)
    mark = case.mark()
    order = case.order(
        case.products(PLAIN_CATEGORIES, count, 9_000),
        [draw.integers(1, 3) for _ in range(count)],
        delivered,
        placed=promised - timedelta(draw.integers(3, 6)),
        promised=promised,
        coupon=hard,
    )
    values = [order.value(n) for n in range(count)]
    amount = calculator.late_delivery(promised.isoformat(), delivered, values)
    if not amount or not case.hides(amount, *values):
        case.undo(mark)
        return late_delivery(case, i, hard)
    request = Request("late-delivery", order.id)
    where = mention(case, request, order)
    request.ask.append(_ask_late_delivery(case, where))
    request.goal = "A compensation for a parcel that came late"
    tail(case, request)
    request.facts |= facts(case)
    checks.looked_up(request, i, order)
    tracking = checks.call("get_tracking", shipment_id=order.parcels[0]["shipment_id"])
    checks.must_read(request, i, "tracking", tracking, "" if refuse else "issue_store_credit")
    request.wants.append(checks.want("issue_store_credit", order_id=order.id, reason="late_delivery"))
    if amount is None:
        one, two, request.writes = _gold_on_time(i, count, case.chinese)
        request.reads, request.code = (one, two), "no_fault_found"
        checks.without(request, order, "create_refund")
        request.steps = ("Compare the promised day with the day of delivery", "Refuse: it was not late enough")
        return request
    request.final_state += [
        checks.state(checks.CREDITED, amount, id=order.id, reason="late_delivery"),
        checks.state(checks.NO_REFUND, 0, holds=True, id=order.id),
    ]
    request.may_change.append(
        checks.insert(
            "store_credit",
            customer_id=case.customer_id,
            order_id=order.id,
            item_id=None,
            amount_minor=amount,
            currency=case.currency,
            reason="late_delivery",
        )
    )
    request.checkpoints.append(
        checks.reached(f"compensated_{i}", checks.CREDITED, amount, id=order.id, reason="late_delivery")
    )
    request.said.append(checks.money(amount, case.currency))
    request.confirm.append("issue_store_credit")
    request.refund_minor, request.money_moves = amount, True
    one, two, request.writes = _gold_late(i, count, case.chinese)
    request.reads, request.paid = (one, two), ((f"done{i}_0", "$.amount_minor"),)
    request.steps = (
        "Compare the promised day with the day of delivery",
        "Work out a tenth of the values of the items, rounded half up",
        "Get a yes and issue it as store credit",
    )
    return request


@cache
def _gold_lost(i: int, count: int, chinese: bool) -> tuple[Actions, Actions, Actions]:
    one, two = _reads(i, count)
    writes: list[GoldAction] = []
    for n in range(count):
        writes += gold.refund(i, n, gold.value(i, n, count), "not_received", tag=f"l{n}")
    shipping = {
        "order_id": of(f"order{i}", "$.order_id"),
        "payment_id": gold.payment(i),
        "amount_minor": of(f"order{i}", "$.shipping_minor"),
    }
    writes += gold.confirmed("refund_shipping", f"done{i}s", shipping)
    for n in range(count):
        writes.append(
            act("file_carrier_claim", item_id=of(f"line{i}_{n}", "$.item_id"), amount_minor=gold.value(i, n, count))
        )
    paid = _lost_labels(i, count)
    total = " + ".join(f":a{k}" for k in range(len(paid)))
    sum_of = {"sql": f"SELECT {total}", **{f"a{k}": of(*entry) for k, entry in enumerate(paid)}}
    sql = gold.MONEY
    before, after = (
        ("包裹已确认丢失，退款共计", "，含运费。")
        if chinese
        else ("The parcel is lost, we are sorry. In all ", " goes back to you, shipping included.")
    )
    told = act(
        "respond",
        message={
            "sql": f"SELECT '{before}' || ({sql}) || '{after}'",
            "currency": of(f"order{i}", "$.currency"),
            "amount": sum_of,
        },
    )
    return tuple(one), tuple(two), (*writes, told)


def _lost_labels(i: int, count: int) -> tuple[tuple[str, str], ...]:
    return (*((f"done{i}l{n}_0", "$.amount_minor") for n in range(count)), (f"done{i}s", "$.amount_minor"))


@cache
def _gold_wait(i: int, code: str, chinese: bool) -> tuple[Actions, Actions, Actions]:
    one, two = _reads(i, 1)
    english = {
        "too_early": "I am sorry, it is too early to count the parcel as lost (too early); please wait some more days.",
        "trace_open": "I am sorry, the carrier's trace is still open (trace open); we have to wait for its result.",
        "no_fault_found": "I am sorry, the carrier's trace confirms the delivery, so no fault was found (no "
        "fault found).",
    }
    zh = {
        "too_early": "抱歉，现在认定丢失还太早（too early），请再等几天。",
        "trace_open": "抱歉，物流查询还没有结果（trace open），请稍候。",
        "no_fault_found": "抱歉，物流查询确认已送达，查不到过失（no fault found）。",
    }
    return tuple(one), tuple(two), (gold.say((zh if chinese else english)[code]),)


@cache
def _gold_trace(i: int, chinese: bool) -> tuple[Actions, Actions, Actions]:
    one, two = _reads(i, 1)
    text = (
        "我已请物流公司查询包裹去向，有结果前请稍等。"
        if chinese
        else "I have asked the carrier to find out where the parcel went; please wait for the result."
    )
    return (
        tuple(one),
        tuple(two),
        (act("open_trace", f"trace{i}", shipment_id=of(f"way{i}", "$.shipment_id")), gold.say(text)),
    )


def not_arrived(case: Case, i: int, hard: bool) -> Request:
    """A parcel did not come: lost, too early to tell, or marked as delivered, with or without a trace."""
    kind = case.draw.choice(("lost", "lost", "lost_by_trace", "too_early", "trace", "trace_open", "no_fault_found"))
    if kind == "trace" and i:
        kind = "lost"
    count = case.draw.integers(1, 3) if kind.startswith("lost") else 1
    mark = case.mark()
    order = _missing(case, kind, count)
    values = [order.value(n) for n in range(count)]
    shipping = order.row["shipping_minor"]
    if not case.hides(*values, sum(values) + shipping):
        case.undo(mark)
        return not_arrived(case, i, hard)
    request = Request("not-arrived", order.id)
    _ask_missing(case, request, order)
    checks.looked_up(request, i, order)
    tracking = checks.call("get_tracking", shipment_id=order.parcels[0]["shipment_id"])
    checks.must_read(request, i, "tracking", tracking, "create_refund" if kind.startswith("lost") else "")
    if kind.startswith("lost"):
        _lost(case, request, i, order, values)
    elif kind == "trace":
        _trace(case, request, i, order)
    else:
        one, two, request.writes = _gold_wait(i, kind, case.chinese)
        request.reads, request.code, request.pending = (one, two), kind, kind != "no_fault_found"
        checks.without(request, order, "create_refund", "refund_shipping", "send_replacement", "open_trace")
        request.wants.append(checks.want("create_refund", item_id=order.items[0]["item_id"]))
        request.steps = ("Look at the tracking and the traces of the parcel", "Refuse for now, with the reason")
    return request


def _missing(case: Case, kind: str, count: int) -> Order:
    draw = case.draw
    products = case.products(PLAIN_CATEGORIES, count, 7_000)
    if kind in ("lost", "too_early"):
        over = draw.integers(11, 20) if kind == "lost" else draw.integers(2, 10)
        return case.order(products, [1] * count, None, promised=case.today - timedelta(over))
    gap = draw.integers(14, 24) if kind != "trace" else draw.integers(2, 8)
    order = case.order(products, [1] * count, case.today - timedelta(gap))
    if kind == "trace":
        return order
    days = {"trace_open": draw.integers(2, 9), "no_fault_found": gap - 2, "lost_by_trace": gap - 2}[kind]
    opened = case.today - timedelta(days)
    result = {"trace_open": None, "no_fault_found": "delivered_confirmed", "lost_by_trace": "not_delivered"}[kind]
    closed = case.at(opened + timedelta(draw.integers(2, 8))) if result else None
    finding = {"no_fault_found": "Handed to the addressee, who signed", "lost_by_trace": "Left at another address"}.get(
        kind
    )
    case.rows["traces"].append(
        {
            "trace_id": case.new_id("TR"),
            "shipment_id": order.parcels[0]["shipment_id"],
            "opened_at": case.at(opened),
            "closed_at": closed,
            "result": result,
            "finding": finding,
        }
    )
    return order


def _ask_missing(case: Case, request: Request, order: Order) -> None:
    where = mention(case, request, order)
    request.ask.append(
        case.says(
            (
                f"The parcel with {where} never reached me. I want my money back, no second try.",
                f"I am still waiting for {where}; nothing came. Please refund it, no replacement.",
                f"Where is {where}? I have got nothing and would like to have the money instead.",
            ),
            (
                f"{where}的包裹我一直没收到，请退款，不要补发。",
                f"{where}到现在都没收到，不想等了，请退钱。",
                f"{where}在哪儿？我什么也没收到，想要退款，不用重发。",
            ),
        )
    )
    request.goal = "The money for a parcel that did not arrive"
    tail(case, request)
    request.facts |= facts(case)


def _lost(case: Case, request: Request, i: int, order: Order, values: list[int]) -> None:
    count, shipping = len(values), order.row["shipping_minor"]
    for item, worth in zip(order.items, values, strict=True):
        checks.pays(request, case, order, item, worth, "not_received")
        sql = "SELECT sum(amount_minor) FROM claims WHERE item_id = :id AND party = 'carrier'"
        request.final_state.append(checks.state(sql, worth, id=item["item_id"]))
        request.may_change.append(
            checks.insert(
                "claims",
                party="carrier",
                item_id=item["item_id"],
                amount_minor=worth,
                currency=case.currency,
                shipment_id=item["shipment_id"],
                supplier_id=None,
                status="open",
            )
        )
    payment = order.payments[0]["payment_id"]
    checks.back_on(request, case, order, payment, shipping)
    request.final_state += [
        checks.state(checks.SHIPPING, shipping, id=order.id),
        checks.state(checks.PAID_FOR_ORDER, shipping, id=order.id, payment=payment),
    ]
    request.may_change += [
        checks.update("orders", "order_id", order.id, "shipping_refunded_minor"),
        checks.refund_row(order, None, payment, shipping, "shipping"),
    ]
    request.wants.append(checks.want("refund_shipping", order_id=order.id))
    request.confirm.append("refund_shipping")
    request.refund_minor += shipping
    request.due += shipping
    request.said = [checks.money(request.refund_minor, case.currency)]
    one, two, request.writes = _gold_lost(i, count, case.chinese)
    request.reads, request.paid = (one, two), _lost_labels(i, count)
    request.steps = (
        "Look at the tracking and the traces: the parcel is lost",
        "Get a yes for each and refund the items, then shipping",
        "Claim the value of each item from the carrier",
    )


def _trace(case: Case, request: Request, i: int, order: Order) -> None:
    shipment = order.parcels[0]["shipment_id"]
    sql = "SELECT count(*) FROM traces WHERE shipment_id = :id"
    request.final_state += [
        checks.state(sql, 1, id=shipment),
        checks.state(checks.NO_REFUND, 0, holds=True, id=order.id),
    ]
    request.may_change.append(checks.insert("traces", shipment_id=shipment, closed_at=None, result=None))
    request.checkpoints.append(checks.reached(f"traced_{i}", sql, 1, weight=2, id=shipment))
    request.wants.append(checks.want("create_refund", item_id=order.items[0]["item_id"]))
    checks.without(request, order, "create_refund", "refund_shipping", "send_replacement")
    one, two, request.writes = _gold_trace(i, case.chinese)
    request.reads, request.keys, request.pending = (one, two), {"trace_id": f"trace{i}"}, True
    opened = "SELECT trace_id FROM traces WHERE shipment_id = :id"
    request.answer_state = {"trace_id": checks.born(opened, id=shipment)}
    request.steps = ("Look at the tracking: it says delivered, and there is no trace", "Open a trace, pay nothing yet")
