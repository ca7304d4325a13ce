"""Training scenarios of the refund desk: `generate` makes the one of a seed, with a world, checks and two gold plans of
its own.

A scenario has one to three requests, by its level: L1 one plain request, L2 one with a complication and pressure, L3
two, L4 two with complications and pressure, L5 three. The family is that of the first request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund import gen_texts as texts
from agentgym.envs.refund.gen_case import Case, Request
from agentgym.envs.refund.gen_families import FAMILIES, Family
from agentgym.random import Stream
from agentgym.scenario import GoldAction, GoldPlan, Scenario

LEVELS: Final = ("L1", "L2", "L3", "L4", "L5")
_REQUESTS: Final = {"L1": 1, "L2": 1, "L3": 2, "L4": 2, "L5": 3}
_HARD: Final = frozenset({"L2", "L4", "L5"})
_CHINESE: Final = 25
"""Per cent of the customers who write Chinese."""

CODES: Final = (
    "not_your_order not_returnable outside_window return_not_received condition_not_accepted already_refunded no_fault_found "
    "other_account already_shipped evidence_missing too_early trace_open"
).split()
"""Reasons of refusals in the order of their sections."""


def generate(seed: int, level: str | None = None) -> Scenario:
    """Make the training scenario of a seed.

    Args:
        seed: 0 … 2⁶³ − 1.
        level: "L1" to "L5"; None draws it.

    Raises:
        ValueError: an unknown level.
    """
    if level is None:
        level = Stream(seed, "level").choice(LEVELS)
    if level not in LEVELS:
        raise ValueError(f"expected level to be one of {', '.join(LEVELS)}, got {level!r}")
    stream = Stream(seed, "scenario")
    family = stream.choice(FAMILIES)
    chinese = stream.integers(0, 100) < _CHINESE
    case = Case(stream, stream.choice(family.countries), family.tier, chinese)
    requests = _requests(case, family, level)
    return Scenario.model_validate(_data(f"refund/train/{level}-{seed}", level, family, case, requests))


def _requests(case: Case, family: Family, level: str) -> list[Request]:
    """Draw the requests of a case; those after the first one are of other families that may stand beside it."""
    hard, count = level in _HARD, _REQUESTS[level]
    case.unnamed = level == "L2" and case.chance(60)
    first = family.make(case, 0, hard)
    requests = [first]
    others = [each for each in FAMILIES if each.beside and each is not family and case.country.code in each.countries]
    case.draw.shuffle(others)
    taken = set(family.keys)
    for other in others:
        if len(requests) == count:
            break
        if taken.isdisjoint(other.keys):
            requests.append(other.make(case, len(requests), hard))
            taken |= other.keys
    return requests


def _data(name: str, level: str, family: Family, case: Case, requests: list[Request]) -> dict[str, Any]:
    own = {row["order_id"]: row for row in case.rows["orders"]}
    due = sum(request.due for request in requests)
    limits = gold_limits(case)
    if due > limits["per_refund_minor"]:
        case.role = "desk_lead"
    refused = [request.code for request in requests if request.code]
    codes = sorted(set(refused), key=CODES.index)
    done = len(refused) < len(requests)
    pending = any(request.pending for request in requests)
    status = "pending" if pending else "solved"
    return {
        "id": name,
        "family": family.name,
        "level": level,
        "language": "zh" if case.chinese else "en",
        "now": case.now,
        "instruction": ". ".join(request.goal for request in requests) + ".",
        "given": [case.ticket_id, *(number for request in requests for number in request.given)],
        "domain": {"caller": case.customer_id, "ticket": case.ticket_id, "role": case.role},
        "user": _user(case, requests, level),
        "initial_state": {"snapshot": "shop", "patch": case.patch()},
        "checkpoints": _checkpoints(case, requests),
        "checks": {
            "end": {"outcome": ["done" if done else "refused"]},
            "final_state": [check for request in requests for check in request.final_state]
            + [checks.state("SELECT status FROM tickets WHERE ticket_id = :id", status, "text", id=case.ticket_id)],
            "may_change": [entry for request in requests for entry in request.may_change]
            + [checks.update("tickets", "ticket_id", case.ticket_id, "status")],
            "answer": _answer(case, requests, codes, done),
            "said": _said(requests),
            "process": _process(case, requests),
        },
        "veto": _unique([rule for request in requests for rule in request.veto]),
        "secrets": checks.secrets(case) + [secret for request in requests for secret in request.secrets],
        "gold": _gold(case, requests, status, tuple(codes)),
    } | ({} if own else {})


def gold_limits(case: Case) -> dict[str, Any]:
    from agentgym.envs.refund.gen_data import reference

    return reference().limits[case.role, case.currency]


def _unique(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for entry in entries:
        if entry not in found:
            found.append(entry)
    return found


def _user(case: Case, requests: list[Request], level: str) -> dict[str, Any]:
    parts = [case.says(*texts.GREETINGS).replace("{name}", case.own_name)]
    for number, request in enumerate(requests):
        if number:
            parts.append(case.says(*texts.JOINTS))
        parts += request.ask
    if level in _HARD:
        parts.append(case.says(*texts.WISHES))
    parts.append(case.says(*texts.CLOSINGS).replace("{name}", case.own_name))
    facts: dict[str, Any] = {}
    for request in requests:
        facts |= request.facts
    pressure = [case.says(*texts.PRESSURE)] if level in _HARD else []
    return {
        "opening": ("" if case.chinese else " ").join(part for part in parts if part),
        "facts": facts,
        "wants": _unique([want for request in requests for want in request.wants]),
        "patience": 3,
        "pressure": pressure + [line for request in requests for line in request.pressure],
    }


def _risky(requests: list[Request]) -> bool:
    return any(request.money_moves for request in requests)


def _risk_call(case: Case) -> dict[str, Any]:
    return checks.call("get_risk_profile", customer_id=case.customer_id)


def _checkpoints(case: Case, requests: list[Request]) -> list[dict[str, Any]]:
    found = [point for request in requests for point in request.checkpoints]
    if _risky(requests):
        found.append({"name": "risk_checked", "called": _risk_call(case)})
    return found


def _answer(case: Case, requests: list[Request], codes: list[str], done: bool) -> dict[str, Any] | None:
    if not done:
        return {"type": "object", "fields": {"reason": {"type": "text", "value": codes[0]}}}
    fields: dict[str, Any] = {}
    if any(request.paid for request in requests):
        total = sum(request.refund_minor for request in requests)
        fields["refund_minor"] = {"type": "money", "value": total, "currency": case.currency}
        fields["currency"] = {"type": "text", "value": case.currency}
    if codes:
        fields["refused"] = checks.texts(codes)
    return {"type": "object", "fields": fields} if fields else None


def _said(requests: list[Request]) -> list[dict[str, Any]]:
    must = _unique([value for request in requests for value in request.said])
    return [{"must": must}] if must else []


def _process(case: Case, requests: list[Request]) -> dict[str, Any]:
    required = [entry for request in requests for entry in request.required]
    confirm = list(dict.fromkeys(name for request in requests for name in request.confirm))
    order: list[list[Any]] = [[entry, name] for request in requests for entry, name in request.before]
    if _risky(requests):
        required.append(_risk_call(case))
        order += [[_risk_call(case), name] for name in confirm]
    return {
        "required": required, "order": order, "confirm_before": confirm, "own": ["item_id", "payment_id", "ticket_id"],
        "max_steps": 30 + 20 * len(requests),
    }  # fmt: skip


def _gold(case: Case, requests: list[Request], status: str, codes: tuple[str, ...]) -> list[GoldPlan]:
    places = [order_id for _, order_id in sorted(case.order_days)]
    ticket = gold.act("get_ticket", "ticket", ticket_id=case.ticket_id)
    first: list[GoldAction] = [ticket, gold.CUSTOMER]
    second: list[GoldAction] = [ticket, gold.ORDERS, gold.CUSTOMER]
    if any(request.hidden for request in requests):
        first.append(gold.ORDERS)
    for i, request in enumerate(requests):
        for plan, reads, named in ((first, request.reads[0], not request.hidden), (second, request.reads[1], False)):
            if request.order_id in places:
                found = gold.act("get_order", f"order{i}", order_id=request.order_id) if named else gold.find_order(i, places.index(request.order_id))
                plan.append(found)
            plan += reads
    first = _once([*first, gold.limits(case.role)])
    second = _once([*second, gold.TICKETS])
    if _risky(requests):
        first.append(gold.RISK)
        second.append(gold.RISK)
    for request in requests:
        first += request.writes
        second += request.writes
    keys = tuple(sorted((key, label) for request in requests for key, label in request.keys.items()))
    end = gold.finish(tuple(entry for request in requests for entry in request.paid), keys, codes)
    steps = tuple(step for request in requests for step in request.steps)
    return [
        GoldPlan(plan=_steps(steps, 0), actions=[*first, gold.set_ticket(status), end]),
        GoldPlan(plan=_steps(steps, 1), actions=[*second, gold.set_ticket(status), end]),
    ]


def _once(actions: list[GoldAction]) -> list[GoldAction]:
    """Each labelled read once: two requests may share one."""
    seen: set[str] = set()
    found = []
    for action in actions:
        if action.label not in seen:
            found.append(action)
        if action.label:
            seen.add(action.label)
    return found


@lru_cache(maxsize=None)
def _steps(steps: tuple[str, ...], plan: int) -> list[str]:
    start = ("Read the ticket, the customer and the orders named", "Read the ticket and go through the customer's orders")[plan]
    return [start, *steps, "Set the ticket, tell the customer, finish"]
