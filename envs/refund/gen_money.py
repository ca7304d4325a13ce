"""Requests for money: goods that came back, defects, what was paid already, what was charged twice."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from agentgym.envs.refund import calculator
from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_data import PLAIN_CATEGORIES, Row
from agentgym.envs.refund.gen_gold import act, of
from agentgym.envs.refund.gen_request import Order, Request
from agentgym.envs.refund.gen_words import facts, mention, tail
from agentgym.scenario import GoldAction

Actions = tuple[GoldAction, ...]


@cache
def _gold_returned(i: int, count: int, parts: int, credit: bool, chinese: bool) -> tuple[Actions, Actions, Actions]:
    """Reads of both plans and the writes for units of line 0 that came back."""
    reads = gold.common(i)
    shared = (*gold.lines(i, count), reads["product"], reads["returns"], reads["return"])
    due = {
        "sql": gold.AFTER_FEE,
        "value": gold.value(i, 0, count, of(f"back{i}", "$.quantity")),
        "back": of(f"back{i}"),
        "product": of(f"product{i}"),
        "customer": of("customer"),
        "order": of(f"order{i}"),
    }
    one = (*shared, reads["tracking"], reads["payments"], reads["refunds"])
    two = (reads["shipments"], *shared, reads["tracking_b"], reads["payments"], reads["all_refunds"])
    if credit:
        arguments = {
            "order_id": of(f"order{i}", "$.order_id"),
            "item_id": of(f"line{i}_0", "$.item_id"),
            "amount_minor": due,
            "reason": "instead_of_refund",
        }
        writes = gold.confirmed("issue_store_credit", f"done{i}_0", arguments)
        after = (" as store credit.", "，已存为商店余额。")
    else:
        writes = gold.refund(i, 0, due, "change_of_mind", parts)
        after = (" is on its way back to you.", "，已按原付款方式退还。")
    labels = tuple((f"done{i}_{part}", "$.amount_minor") for part in range(1 if credit else parts))
    told = gold.tell(i, labels, "退款金额为" if chinese else "Your money:", after[chinese])
    return one, two, (*writes, told)


def returned(case: Case, i: int, hard: bool, kind: str = "partial-refund") -> Request:
    """Units of a line came back and were inspected; the policy says how much goes back, and where to."""
    draw, mark = case.draw, case.mark()
    count = draw.integers(2, 4) if hard else draw.integers(1, 3)
    delivered = case.today - timedelta(draw.integers(14, 24))
    category = (
        "electronics"
        if kind == "inspection-fee" and draw.integers(0, 2)
        else "home"
        if kind == "inspection-fee"
        else ""
    )
    first = case.products((category,) if category else PLAIN_CATEGORIES, 1, 6_000)[0]
    others = [row for row in case.products(PLAIN_CATEGORIES, count, 6_000) if row is not first][: count - 1]
    units = draw.integers(1, 3) if kind == "partial-refund" else 1
    quantity = units + draw.integers(1, 3) if kind == "partial-refund" else draw.integers(1, 3)
    quantities = [quantity, *(draw.integers(1, 3) for _ in others)]
    pay = (
        ("gift_card", draw.choice(("card", "paypal")))
        if kind == "split-payment" or (hard and draw.integers(0, 3) == 0)
        else ()
    )
    order = case.order([first, *others], quantities, delivered, coupon=hard or draw.integers(0, 2) == 0, pay=pay)
    condition, label = _condition(case, kind, first["category"])
    back = case.come_back(
        order.items[0], units, "change_of_mind", delivered + timedelta(draw.integers(2, 7)), condition, label
    )
    amount = calculator.change_of_mind(
        order.value(0, units), first["category"], condition, case.tier, label, case.currency
    )
    request = Request(kind, order.id)
    if not amount or not _hidden_amounts(case, order, order.value(0, units), amount, kind == "store-credit"):
        case.undo(mark)
        return returned(case, i, hard, kind)
    _ask_returned(case, request, order, first, units, kind)
    checks.looked_up(request, i, order, order.items[0])
    checks.must_read(
        request,
        i,
        "return",
        checks.call("get_return", return_id=back["return_id"]),
        "issue_store_credit" if kind == "store-credit" else "create_refund",
    )
    if kind == "store-credit":
        credited(request, case, order, order.items[0], amount)
    else:
        checks.pays(request, case, order, order.items[0], amount, "change_of_mind")
    parts = len(order.back) or 1
    one, two, request.writes = _gold_returned(i, 1 + len(others), parts, kind == "store-credit", case.chinese)
    request.reads = (one, two)
    request.paid = tuple((f"done{i}_{part}", "$.amount_minor") for part in range(parts))
    request.steps = (
        "Read the order with all its lines, the product and the return with the condition found",
        "Work out share of the coupon, value, fee and deduction",
        "Get a yes and pay by the order of the payments",
    )
    return request


def _hidden_amounts(case: Case, order: Order, worth: int, amount: int, credit: bool) -> bool:
    """Whether no amount of the answer is a number that the agent is shown anyway."""
    parts = [] if credit else [part for _, part in calculator.split(order.payments, amount)]
    return case.hides(amount, worth, *parts)


def _condition(case: Case, kind: str, category: str) -> tuple[str, str]:
    if kind == "inspection-fee":
        return case.draw.choice(("opened", "opened", "used")), case.draw.choice(("customer", "shop"))
    return case.draw.choice(("sealed", "sealed", "opened")), case.draw.choice(("customer", "customer", "shop"))


def credited(request: Request, case: Case, order: Order, item: Row, amount: int) -> None:
    """3.7: *amount* as store credit instead of money."""
    item_id = item["item_id"]
    whole = "refunded" if amount == calculator.line_total(item) else "partly_refunded"
    sql = "SELECT sum(amount_minor) FROM store_credit WHERE item_id = :id"
    request.final_state += [
        checks.state(sql, amount, id=item_id),
        checks.state(checks.REFUNDED, amount, id=item_id),
        checks.state(checks.ITEM_STATUS, whole, "text", id=item_id),
        checks.state(checks.NO_REFUND, 0, holds=True, id=order.id),
    ]
    request.may_change += [
        checks.update("order_items", "item_id", item_id, "refunded_minor", "status"),
        checks.insert(
            "store_credit",
            customer_id=case.customer_id,
            order_id=order.id,
            item_id=item_id,
            amount_minor=amount,
            currency=case.currency,
            reason="instead_of_refund",
        ),
    ]
    request.checkpoints.append(checks.reached(f"credited_{order.id}", sql, amount, id=item_id))
    request.said.append(checks.money(amount, case.currency))
    request.confirm.append("issue_store_credit")
    request.wants.append(checks.want("issue_store_credit", order_id=order.id, item_id=item_id))
    request.refund_minor += amount
    request.money_moves = True


def _ask_returned(case: Case, request: Request, order: Order, product: Row, units: int, kind: str) -> None:
    where, name = mention(case, request, order), product["name"]
    request.ask.append(
        case.says(
            (
                f"I sent back {units} × {name} from {where} and would like my money for that.",
                f"Recently {units} × {name} of {where} went back to you; it should have been inspected by now. "
                "Please refund it.",
                f"You have had {units} × {name} of {where} back for some days. When do I get the money?",
                f"About {where}: the return of {units} × {name} arrived at your place. Please pay me back.",
            ),
            (
                f"{where}里的{name}我退回了{units}件，请退款。",
                f"我把{where}中的{name}寄回了{units}件，应该已经检查过了，麻烦退钱给我。",
                f"{where}的{name}（{units}件）已经退到你们那里好几天了，什么时候退款？",
                f"关于{where}：退回的{units}件{name}你们已收到，请把钱退给我。",
            ),
        )
    )
    if kind == "store-credit":
        request.ask.append(
            case.says(
                (
                    "I would rather have store credit than money.",
                    "Please make it store credit instead of money.",
                    "Store credit is fine for me, no money needed.",
                ),
                ("我想要商店余额，不要退到卡上。", "请退成商店余额。", "不用退现金，换成店铺余额就行。"),
            )
        )
    request.goal = f"The money for {units} of {name}, which came back"
    tail(case, request)
    request.facts |= facts(case, i_reason=True)


@cache
def _gold_duplicate(i: int, chinese: bool) -> tuple[Actions, Actions, Actions]:
    reads = gold.common(i)
    latest = {
        "sql": "SELECT value ->> 'payment_id' FROM json_each(:paid) WHERE value ->> 'status' = 'captured' "
        "ORDER BY value ->> 'created_at' DESC LIMIT 1",
        "paid": of(f"paid{i}", "$.payments"),
    }
    two = (reads["shipments"], reads["payments"], act("get_payment", payment_id=latest), reads["all_refunds"])
    writes = gold.confirmed("void_duplicate_charge", f"done{i}_0", {"payment_id": latest})
    told = gold.tell(
        i,
        ((f"done{i}_0", "$.amount_minor"),),
        "已撤销重复扣款" if chinese else "The second charge is void:",
        "。" if chinese else " comes back to you.",
    )
    return (reads["payments"], reads["refunds"]), two, (*writes, told)


def _ask_duplicate(case: Case, where: str, times: tuple[str, str]) -> str:
    return case.says(
        (
            f"I was charged {times[0]} for {where}. Please take back what is too much.",
            f"Why does {where} stand {times[0]} on my statement? I want the surplus back.",
            f"{where[0].upper()}{where[1:]} was debited {times[0]}. Please correct that.",
        ),
        (
            f"{where}扣了我{times[1]}款，请把多扣的退回来。",
            f"为什么{where}在账单上出现了{times[1]}？多出来的请退给我。",
            f"{where}被重复扣款（{times[1]}），请更正。",
        ),
    )


def duplicate(case: Case, i: int, hard: bool) -> Request:
    """One order was charged twice; a third payment may only be authorised."""
    draw = case.draw
    delivered = None if draw.integers(0, 2) else case.today - timedelta(draw.integers(3, 9))
    promised = delivered or case.today + timedelta(draw.integers(1, 4))
    count = draw.integers(1, 3)
    order = case.order(case.products(PLAIN_CATEGORIES, count, 9_000), [1] * count, delivered, promised=promised)
    first, total = order.payments[0], order.row["total_minor"]
    day, clock = first["created_at"][:11], draw.integers(20, 59)
    late = case.payment(order.row, first["method"], total, f"{day}21:{clock}:{draw.integers(10, 60)}Z")
    order.payments.append(late)
    request = Request("duplicate-charge", order.id, money_moves=True, refund_minor=total)
    if hard:
        case.payment(order.row, first["method"], total, f"{day}22:{clock}:{draw.integers(10, 60)}Z", "authorised")
    times = ("three times", "三次") if hard else ("twice", "两次")
    where = mention(case, request, order)
    request.ask.append(_ask_duplicate(case, where, times))
    request.goal = "What was charged too often for one order"
    tail(case, request)
    payment_id = late["payment_id"]
    checks.looked_up(request, i, order)
    checks.must_read(request, i, "payments", checks.call("list_payments", order_id=order.id), "void_duplicate_charge")
    sql = "SELECT status FROM payments WHERE payment_id = :id"
    request.final_state += [
        checks.state(sql, "voided", "text", id=payment_id),
        checks.state(sql, "captured", "text", holds=True, id=first["payment_id"]),
    ]
    request.may_change.append(checks.update("payments", "payment_id", payment_id, "status"))
    request.checkpoints.append(checks.reached(f"voided_{i}", sql, "voided", "text", id=payment_id))
    request.said.append(checks.money(total, case.currency))
    request.confirm.append("void_duplicate_charge")
    request.wants += [checks.want("void_duplicate_charge")]
    one, two, request.writes = _gold_duplicate(i, case.chinese)
    request.reads, request.paid = (one, two), ((f"done{i}_0", "$.amount_minor"),)
    request.steps = (
        "Compare the payments of the order with its total",
        "Get a yes and void the later of the two equal captured payments",
    )
    return request
