"""Cases that go to a person (policy 7.1): the reason has to be found or heard, and nothing else may be done."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache

from agentgym.compare import Comparator
from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_data import Row, reference
from agentgym.envs.refund.gen_gold import act, of
from agentgym.envs.refund.gen_request import Order, Request
from agentgym.envs.refund.gen_words import facts, mention
from agentgym.scenario import GoldAction, TextCheck

Actions = tuple[GoldAction, ...]
REASONS = ("safety", "legal_threat", "fraud_suspected", "over_limit", "over_limit", "customer_requests_person")

_SAYS = {
    "safety": (
        (
            "It got so hot that it burnt my hand.",
            "It started to smoke and left a burn on the table.",
            "My daughter got a blister from it, it was that hot.",
        ),
        ("它烫得把我的手都烧伤了。", "它冒烟了，还把桌子烧出了一个印子。", "我女儿被它烫出了水泡。"),
    ),
    "legal_threat": (
        (
            "If the money is not here soon, my lawyer will write to you.",
            "I am going to take you to court over this.",
            "I will report you to the consumer authority today.",
        ),
        ("再不退钱我就让律师联系你们。", "我要去法院告你们。", "我今天就去消费者保护机构投诉你们。"),
    ),
    "customer_requests_person": (
        (
            "I would rather talk with a person, please.",
            "Can I speak to a human, please?",
            "Is there a real person whom I can talk to?",
        ),
        ("我想和人工客服说。", "能转真人客服吗？", "请问可以找真人聊吗？"),
    ),
}
_AGAIN = (
    (
        "I asked for a person. Please put me through to one now.",
        "No. A human, please, as I said.",
        "I still want to talk with a real person.",
    ),
    ("我说了要人工客服，请马上转。", "不，我要真人，刚才说过了。", "我还是要找真人客服。"),
)
_BYE = {
    "safety": ("I am very sorry to hear that. A colleague takes over at once.", "非常抱歉，马上由同事接手处理。"),
    "legal_threat": ("I hand this to a colleague who will answer you.", "我会把此事转给同事，由他们答复您。"),
    "fraud_suspected": ("A colleague will look at your case and get back to you.", "同事会查看您的情况并与您联系。"),
    "over_limit": (
        "The amount is beyond what I may decide; a colleague takes over.",
        "金额超出我的权限，将由同事处理。",
    ),
    "customer_requests_person": ("May I help you with this first?", "我先帮您看一下可以吗？"),
}


@cache
def _gold(i: int, reason: str, chinese: bool) -> tuple[Actions, Actions, Actions]:
    reads = gold.common(i)
    back = (*gold.lines(i, 1), reads["product"], reads["returns"], reads["return"])
    one = (*back, reads["payments"], reads["refunds"])
    two = (reads["shipments"], *back, reads["tracking_b"], reads["all_refunds"])
    writes = [gold.RISK, gold.say(_BYE[reason][chinese])]
    if reason == "over_limit":
        due = {
            "sql": gold.AFTER_FEE,
            "value": gold.value(i, 0, 1, of(f"back{i}", "$.quantity")),
            "back": of(f"back{i}"),
            "product": of(f"product{i}"),
            "customer": of("customer"),
            "order": of(f"order{i}"),
        }
        note = act(
            "add_ticket_note",
            ticket_id=of("ticket", "$.ticket_id"),
            body={"sql": "SELECT 'Due: ' || :due || ' minor units'", "due": due},
        )
        writes.insert(1, note)
    order = of(f"order{i}", "$.order_id")
    summary = {
        "sql": f"SELECT 'Order ' || :order || ', reason {reason}. The goods came back; nothing was paid.'",
        "order": order,
    }
    return one, two, (*writes, act("hand_off", reason=reason, summary=summary))


def _ask_hand_off(case: Case, where: str, name: str) -> str:
    return case.says(
        (
            f"The {name} from {where} went back to you days ago. I want my money.",
            f"I returned the {name} of {where}; where is my refund?",
            f"About {where}: the {name} is back with you, so please pay.",
        ),
        (
            f"{where}里的{name}几天前就退回给你们了，请退款。",
            f"我退了{where}的{name}，钱呢？",
            f"关于{where}：{name}已经退到你们那里，请付款。",
        ),
    )


def hand_off(case: Case, i: int, hard: bool) -> Request:
    """A case for a person, for one of five reasons."""
    draw = case.draw
    reason = draw.choice(REASONS)
    category = "electronics" if reason in ("safety", "over_limit") else draw.choice(("electronics", "apparel", "home"))
    delivered = case.today - timedelta(draw.integers(12, 24))
    order, back, amount = _came_back(case, category, reason, delivered)
    request = Request("hand-off", order.id, hand_off=reason)
    where, name = (
        mention(case, request, order),
        next(
            row["name"] for row in reference().products[category] if row["product_id"] == order.items[0]["product_id"]
        ),
    )
    request.ask.append(_ask_hand_off(case, where, name))
    if reason in _SAYS:
        request.ask.append(case.says(*_SAYS[reason]))
    request.goal = "Money for goods that came back; in truth a case for a person"
    checks.looked_up(request, i, order, order.items[0])
    request.checkpoints.append(checks.credited("handed_off", checks.call("hand_off", reason=reason), weight=2))
    request.required.append(checks.call("get_order", order_id=order.id))
    request.final_state.append(checks.state(checks.NO_REFUND, 0, holds=True, id=order.id))
    request.wants.append(checks.want("create_refund", item_id=order.items[0]["item_id"]))
    checks.without(request, order, "create_refund", "send_replacement", "issue_store_credit")
    _reasons(case, request, i, reason, back, amount)
    one, two, request.writes = _gold(i, reason, case.chinese)
    request.reads = (one, two)
    request.steps = (
        "Read the order, the return and the risk profile",
        "Recognise the reason to hand the case off",
        "Pay nothing, hand it off",
    )
    return request


def _came_back(case: Case, category: str, reason: str, delivered: date) -> tuple[Order, Row, int]:
    draw, mark = case.draw, case.mark()
    while True:
        low, high = (30_000, 200_000) if reason == "over_limit" else (1_500, 15_000)
        product = draw.choice([row for row in reference().products[category] if low <= row["list_price_minor"] <= high])
        order = case.order([product], [1], delivered)
        back = case.come_back(order.items[0], 1, "change_of_mind", delivered + timedelta(4), "sealed", "customer")
        amount = order.value(0)
        if case.hides(amount):
            return order, back, amount
        case.undo(mark)


def _reasons(case: Case, request: Request, i: int, reason: str, back: Row, amount: int) -> None:
    risk = checks.call("get_risk_profile", customer_id=case.customer_id)
    if reason == "over_limit":
        case.role = "desk_agent"
        checks.must_read(request, i, "return", checks.call("get_return", return_id=back["return_id"]), "hand_off")
        request.may_change.append(checks.insert("ticket_notes", ticket_id=case.ticket_id, author="desk_agent"))
        sql = "SELECT body FROM ticket_notes WHERE ticket_id = :id"
        request.text.append(
            TextCheck(sql=sql, params={"id": case.ticket_id}, must=[Comparator(type="int", value=amount)])
        )
        request.checkpoints.append(
            checks.reached(
                "noted", "SELECT count(*) FROM ticket_notes WHERE ticket_id = :id", 1, weight=1, id=case.ticket_id
            )
        )
    elif reason == "fraud_suspected":
        case.rows["risk_profiles"].append(
            {
                "customer_id": case.customer_id,
                "fraud_score": case.draw.integers(80, 99),
                "internal_note": "several claims for parcels that were signed for; watch",
            }
        )
        checks.must_read(request, i, "risk", risk, "hand_off")
    elif reason == "customer_requests_person":
        request.pressure.append(case.says(*_AGAIN))
        request.before.append((checks.any_call("respond"), "hand_off"))
    if reason != "customer_requests_person":
        request.facts |= facts(case)
