"""Requests about defects, and about money that is on its way or long paid."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_data import PLAIN_CATEGORIES
from agentgym.envs.refund.gen_gold import of
from agentgym.envs.refund.gen_request import Request
from agentgym.envs.refund.gen_words import fact, facts, mention, tail
from agentgym.generating import like
from agentgym.scenario import GoldAction

Actions = tuple[GoldAction, ...]


@cache
def _gold_defective(i: int, count: int, replace: bool, found: str, chinese: bool) -> tuple[Actions, Actions, Actions]:
    reads = gold.common(i)
    shared = (*gold.lines(i, count), reads["product"], reads["returns"], reads["return"])
    one = (*shared, reads["tracking"], reads["payments"], reads["refunds"])
    two = (reads["shipments"], *shared, reads["tracking_b"], reads["payments"], reads["claims"], reads["all_refunds"])
    units, item = of(f"back{i}", "$.quantity"), of(f"line{i}_0", "$.item_id")
    if found == "sealed":
        text = (
            "抱歉，检查没有发现问题（no fault found），无法退款。"
            if chinese
            else "I am sorry, the inspection found no fault (no fault found), so there is no refund for a defect."
        )
        return one, two, (gold.say(text),)
    if replace:
        arguments = {"item_id": item, "quantity": units, "reason": of(f"back{i}", "$.condition")}
        text = (
            "新的已经给您寄出，很抱歉。" if chinese else "A new one is on its way to you. We are sorry for the trouble."
        )
        return one, two, (*gold.confirmed("send_replacement", f"sent{i}", arguments), gold.say(text))
    writes = gold.refund(i, 0, gold.value(i, 0, count, units), found)
    told = gold.tell(
        i,
        ((f"done{i}_0", "$.amount_minor"),),
        "抱歉，退款金额为" if chinese else "We are sorry. Your money:",
        "。" if chinese else " goes back in full.",
    )
    return one, two, (*writes, told)


def _ask_defective(case: Case, where: str, name: str, what: tuple[str, str], wish: tuple[str, str]) -> str:
    return case.says(
        (
            f"One {name} from {where} {what[0]}; I sent it back with your label. I would like {wish[0]}.",
            f"I returned one {name} of {where} since it {what[0]}. Please give me {wish[0]}.",
            f"About {where}: one {name} {what[0]} and is back with you. What I want is {wish[0]}.",
        ),
        (
            f"{where}的{name}有一件{what[1]}，已经用你们的标签寄回，我要{wish[1]}。",
            f"我退回了{where}里的一件{name}，因为{what[1]}。请给我{wish[1]}。",
        ),
    )


def defective(case: Case, i: int, hard: bool) -> Request:
    """Goods came back as defective or wrong: the inspection decides; refund or replacement as the customer chooses."""
    draw, mark = case.draw, case.mark()
    product = case.products(("electronics", "home", "apparel"), 1, 8_000)[0]
    found = draw.choice(("defective", "defective", "wrong_item", "sealed"))
    replace = found != "sealed" and i == 0 and draw.integers(0, 3) == 0
    delivered = case.today - timedelta(draw.integers(12, 24))
    count, units = draw.integers(2, 4) if hard else draw.integers(1, 3), 1
    others = [row for row in case.products(PLAIN_CATEGORIES, count, 8_000) if row is not product][: count - 1]
    order = case.order([product, *others], [units + draw.integers(1, 3), *(1 for _ in others)], delivered, coupon=hard)
    amount, item = order.value(0, units), order.items[0]
    if not case.hides(amount):
        case.undo(mark)
        return defective(case, i, hard)
    reason = "wrong_item" if found == "wrong_item" else "defective"
    back = case.come_back(item, units, reason, delivered + timedelta(draw.integers(2, 6)), found, "shop")
    request = Request("defective", order.id)
    where, name = mention(case, request, order), product["name"]
    what = (
        ("was not what I had ordered", "发错了")
        if reason == "wrong_item"
        else (case.says(("stopped working", "is faulty", "never worked right"), ("",)), "有质量问题")
    )
    wish = (
        ("a new one, not the money", "换一个新的，不要退款")
        if replace
        else ("my money back, not a new one", "退款，不要换新的")
    )
    request.ask.append(_ask_defective(case, where, name, what, wish))
    request.goal = f"For one {name} that {what[0]}: {wish[0]}"
    if not replace:
        tail(case, request)
    request.facts |= facts(case)
    request.facts["choice"] = fact(
        case, "replacement,exchange,choose", "换货,换新", f"I want {wish[0]}.", f"我要{wish[1]}。"
    )
    checks.looked_up(request, i, order, item)
    write = "send_replacement" if replace else "create_refund"
    checks.must_read(
        request, i, "return", checks.call("get_return", return_id=back["return_id"]), "" if found == "sealed" else write
    )
    if found == "sealed":
        request.code = "no_fault_found"
        checks.without(request, order, "create_refund", "send_replacement")
        request.wants.append(checks.want("create_refund", item_id=item["item_id"]))
    elif replace:
        _replaced(request, i, item["item_id"], product["product_id"], product["stock"], reason)
    else:
        checks.pays(request, case, order, item, amount, reason)
        request.paid = ((f"done{i}_0", "$.amount_minor"),)
    one, two, request.writes = _gold_defective(i, 1 + len(others), replace, found, case.chinese)
    request.reads = (one, two)
    request.steps = (
        "Read the return and what the inspection found",
        "Do what the customer chose, for the units that came back, if a fault was found",
    )
    return request


def _replaced(request: Request, i: int, item_id: str, product_id: str, stock: int, reason: str) -> None:
    sql = "SELECT sum(quantity) FROM replacements WHERE item_id = :id AND reason = :reason"
    request.final_state += [
        checks.state(sql, 1, id=item_id, reason=reason),
        checks.state("SELECT stock FROM products WHERE product_id = :id", stock - 1, id=product_id),
    ]
    request.may_change += [
        checks.insert("replacements", item_id=item_id, quantity=1, reason=reason),
        checks.update("products", "product_id", product_id, "stock"),
    ]
    request.checkpoints.append(checks.reached(f"replaced_{i}", sql, 1, id=item_id, reason=reason))
    request.wants.append(checks.want("send_replacement", item_id=item_id))
    request.confirm.append("send_replacement")
    request.keys = {"replacement_id": f"sent{i}"}
    sent = "SELECT replacement_id FROM replacements WHERE item_id = :id"
    request.answer_state = {"replacement_id": checks.born(sent, id=item_id)}
    request.money_moves = True


@cache
def _gold_settled(i: int, chinese: bool) -> tuple[Actions, Actions, Actions]:
    reads = gold.common(i)
    line = gold.lines(i, 1)
    text = (
        "这笔款已经退过了（already refunded），不能再退一次；银行转账可能需要几天到账。"
        if chinese
        else (
            "That was refunded before (already refunded), so we cannot pay it again; a bank transfer may take "
            "some days."
        )
    )
    one = (*line, reads["returns"], reads["return"], reads["payments"], reads["refunds"])
    return (
        one,
        (reads["shipments"], *line, reads["returns"], reads["return"], reads["claims"], reads["all_refunds"]),
        (gold.say(text),),
    )


@cache
def _gold_failed(i: int, chinese: bool) -> tuple[Actions, Actions, Actions]:
    one, two, _ = _gold_settled(i, chinese)
    writes = gold.refund(i, 0, gold.value(i, 0, 1, of(f"back{i}", "$.quantity")), "change_of_mind")
    told = gold.tell(
        i,
        ((f"done{i}_0", "$.amount_minor"),),
        "上次退款失败，现在重新退还" if chinese else "The first refund had failed. Now paid:",
        "。" if chinese else ".",
    )
    return one, (*two, gold.common(i)["payments"]), (*writes, told)


def _ask_settled(case: Case, where: str, name: str, units: int) -> str:
    return case.says(
        (
            f"Weeks ago {units} × {name} of {where} went back and I see no money on my account. Please pay it now.",
            f"Where is the money for the {name} that I returned from {where}? Nothing has come. Pay it again, please.",
            f"I am still waiting for the refund of {units} × {name} of {where}; send it once more.",
        ),
        (
            f"{where}的{name}早就退回了{units}件，钱一直没到账，请马上退款。",
            f"我退了{where}里的{name}，到现在账户上没有钱，请再退一次。",
            f"{where}退回的{name}（{units}件）一直没有收到退款，请重新退。",
        ),
    )


def settled(case: Case, i: int, hard: bool) -> Request:
    """Asks for money that was paid or is on its way; or a refund that failed, which settles nothing."""
    draw, mark = case.draw, case.mark()
    status = draw.choice(("completed", "pending", "failed") if hard else ("completed", "pending", "pending", "failed"))
    method = "bank_transfer" if status == "pending" else "paypal" if status == "completed" else "card"
    product = case.products(("apparel",), 1, 8_000)[0]
    delivered = case.today - timedelta(draw.integers(18, 28))
    units = draw.integers(1, 3)
    order = case.order([product], [units + draw.integers(1, 3)], delivered, pay=(method,))
    item, amount = order.items[0], order.value(0, units)
    if not case.hides(amount):
        case.undo(mark)
        return settled(case, i, hard)
    created = delivered + timedelta(draw.integers(2, 5))
    back = case.come_back(item, units, "change_of_mind", created, "sealed", "customer")
    paid_on = case.today - timedelta(draw.integers(1, 7))
    case.rows["refunds"].append(
        {
            "refund_id": case.new_id("RF"),
            "order_id": order.id,
            "item_id": item["item_id"],
            "payment_id": order.payments[0]["payment_id"],
            "amount_minor": amount,
            "currency": case.currency,
            "reason": "change_of_mind",
            "status": status,
            "created_at": case.at(paid_on),
            "created_by": "desk_agent",
        }
    )
    if status != "failed":
        item.update(refunded_minor=amount, status="partly_refunded")
        order.payments[0]["refunded_minor"] = amount
    request = Request("already-settled", order.id)
    where, name = mention(case, request, order), product["name"]
    request.ask.append(_ask_settled(case, where, name, units))
    request.goal = f"The money for {units} of {name}, which came back weeks ago"
    tail(case, request)
    request.facts |= facts(case)
    checks.looked_up(request, i, order, item)
    either = [checks.call("list_refunds", order_id=order.id), checks.call("list_refunds", customer_id=case.customer_id)]
    request.checkpoints.append(checks.credited(f"refunds_{i}_read", *either))
    needed = checks.call("get_return", return_id=back["return_id"])
    request.required += [checks.call("list_refunds"), needed]
    if status == "failed":
        checks.pays(request, case, order, item, amount, "change_of_mind")
        # The failed refund stands on the same payment: only what settles counts.
        sql = (
            "SELECT sum(amount_minor) FROM refunds WHERE item_id = :id AND payment_id = :payment AND status != 'failed'"
        )
        request.final_state = [
            like(each, sql=sql) if each.sql == checks.PAID_TO else each for each in request.final_state
        ]
        request.checkpoints = [
            like(each, sql=sql) if each.sql == checks.PAID_TO else each for each in request.checkpoints
        ]
        request.before.append((checks.call("list_refunds"), "create_refund"))
        one, two, request.writes = _gold_failed(i, case.chinese)
        request.paid = ((f"done{i}_0", "$.amount_minor"),)
        request.steps = (
            "Read the return and all earlier refunds: the one that there was has failed",
            "Get a yes and pay the value",
        )
    else:
        request.code = "already_refunded"
        request.final_state.append(checks.state(checks.NO_REFUND, 1, holds=True, id=order.id))
        checks.without(request, order, "create_refund")
        request.wants.append(checks.want("create_refund", item_id=item["item_id"]))
        one, two, request.writes = _gold_settled(i, case.chinese)
        request.steps = ("Read the return and all earlier refunds", "Refuse: it is settled")
    request.reads = (one, two)
    return request
