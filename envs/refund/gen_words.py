"""How a customer puts a request: which order, the exact amount, pressure, answers to questions."""

from __future__ import annotations

from functools import cache

from agentgym.envs.refund import gen_texts as texts
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_request import Order, Request
from agentgym.scenario import Fact


def mention(case: Case, request: Request, order: Order) -> str:
    """How the order is named: by its number, which is then given, or as the latest one."""
    if case.unnamed:
        request.hidden = True
        return case.says(*texts.LATEST)
    request.given.append(order.id)
    return case.says(*texts.ORDER).replace("{id}", order.id)


def tail(case: Case, request: Request) -> None:
    """Ask for the exact amount."""
    if case.chance(70):
        request.ask.append(case.says(*texts.AMOUNT))


def fact(case: Case, english: str, chinese: str, say_english: str, say_chinese: str) -> Fact:
    """A fact: phrases that ask for it, comma-separated, and what is then said."""
    return _fact(chinese, say_chinese) if case.chinese else _fact(english, say_english)


@cache
def _fact(when: str, say: str) -> Fact:
    return Fact(when=when.split(","), say=say)


def facts(case: Case, i_reason: bool = False) -> dict[str, Fact]:
    """Answers that anybody has: why, how it was paid."""
    found = {
        "account": fact(
            case,
            "card,account,payment",
            "付款方式,银行卡,账户",
            "Back to where it came from, please.",
            "原路退回就行。",
        ),
    }
    if i_reason:
        found["why"] = fact(case, "why,reason", "为什么,原因", "I simply don't need it.", "就是不需要了。")
    return found
