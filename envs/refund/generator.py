"""Training scenarios of the refund desk: `generate` makes the one of a seed, with a world, checks and two gold plans.

A scenario has one to three requests, by its level: L1 one plain request, L2 one with a complication and pressure, L3
two, L4 two with complications and pressure, L5 three. The family is that of the first request.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, TypeVar

from pydantic import BaseModel

from agentgym.compare import Comparator
from agentgym.envs.refund import calculator
from agentgym.envs.refund import gen_checks as checks
from agentgym.envs.refund import gen_gold as gold
from agentgym.envs.refund import gen_texts as texts
from agentgym.envs.refund.gen_case import Case
from agentgym.envs.refund.gen_data import reference
from agentgym.envs.refund.gen_families import FAMILIES, Family
from agentgym.envs.refund.gen_plans import CHECKS, PLAN, PROCESS, SAID, SAID_NO_FRAUD, SCENARIO, STATE, USER, plan_of
from agentgym.envs.refund.gen_request import Request
from agentgym.generating import Draws, Late, among, late, like
from agentgym.scenario import (
    CallSpec,
    Checkpoint,
    Checks,
    End,
    Fact,
    GoldAction,
    GoldPlan,
    Process,
    Said,
    Scenario,
    UserSpec,
)
from agentgym.world import parse_iso

M = TypeVar("M", bound=BaseModel)

LEVELS: Final = ("L1", "L2", "L3", "L4", "L5")
_REQUESTS: Final = {"L1": 1, "L2": 1, "L3": 2, "L4": 2, "L5": 3}
_HARD: Final = frozenset({"L2", "L4", "L5"})
_CHINESE: Final = 25
"""Per cent of the customers who write Chinese."""

CODES: Final = (
    "not_your_order not_returnable outside_window return_not_received condition_not_accepted already_refunded "
    "no_fault_found "
    "other_account already_shipped evidence_missing too_early trace_open"
).split()
"""Reasons of refusals in the order of their sections."""

_PLACE: Final[dict[str, int]] = {code: place for place, code in enumerate(CODES)}


class _Generated(Late, Scenario):
    """A scenario whose gold is made when somebody wants to see it."""

    late = ("instruction", "plan", "gold")


class _GeneratedChecks(Late, Checks):
    """Checks of which those of the end are made there."""

    late = ("end", "final_state", "may_change", "answer", "answer_state", "said", "text")


def generate(seed: int, level: str | None = None) -> Scenario:
    """Make the training scenario of a seed.

    Args:
        seed: 0 … 2⁶³ − 1.
        level: "L1" to "L5"; None draws it.

    Raises:
        ValueError: an unknown level.
    """
    stream = Draws(seed, "scenario")
    # Drawn also where it is given: what comes after it stays the same.
    drawn = stream.choice(LEVELS)
    level = drawn if level is None else level
    if level not in LEVELS:
        raise ValueError(f"expected level to be one of {', '.join(LEVELS)}, got {level!r}")
    family = stream.choice(FAMILIES)
    chinese = stream.integers(0, 100) < _CHINESE
    while True:
        case = Case(stream, stream.choice(family.countries), chinese)
        requests = _requests(case, family, level)
        # What several requests come to must not be a number that is shown anyway, just as what each one does.
        total = sum(request.refund_minor for request in requests) if len(requests) > 1 else 0
        if not total or case.hides(total):
            break
    return _scenario(f"refund/train/{level}-{seed}", level, family, case, requests)


def _requests(case: Case, family: Family, level: str) -> list[Request]:
    """Draw the requests of a case; those after the first one are of other families that may stand beside it."""
    hard, count = level in _HARD, _REQUESTS[level]
    case.unnamed = level == "L2" and case.chance(60)
    first = family.make(case, 0, hard)
    requests = [first]
    options = [FAMILIES[place] for place in _beside(family.name, case.country.code)] if count > 1 else []
    taken = set(family.keys)
    while len(requests) < count and options:
        other = options.pop(case.draw.integers(0, len(options)))
        if taken.isdisjoint(other.keys):
            requests.append(other.make(case, len(requests), hard))
            taken |= other.keys
    for request in requests[1:] if first.hand_off else ():
        _only_asked(request)
    for request in requests:
        if request.events:
            # Who takes one wish back still has the others.
            left = [want for other in requests if other is not request for want in other.wants]
            request.events = [
                like(event, user=like(event.user, wants=left)) if event.user else event for event in request.events
            ]
    return requests


@cache
def _beside(name: str, country: str) -> tuple[int, ...]:
    """Places of the families that may stand beside the one of this name."""
    family = next(each for each in FAMILIES if each.name == name)
    return tuple(
        number
        for number, each in enumerate(FAMILIES)
        if each.beside
        and each is not family
        and country in each.countries
        and (not family.partners or each.name in family.partners)
    )


def _only_asked(request: Request) -> None:
    """Beside a reason to hand the case off, another request is asked and looked at, but nothing is done about it."""
    blank = Request(request.kind)
    for name in (
        "writes",
        "paid",
        "refund_minor",
        "due",
        "code",
        "pending",
        "keys",
        "answer_state",
        "money_moves",
        "checkpoints",
        "final_state",
        "may_change",
        "said",
        "required",
        "before",
        "confirm",
    ):
        setattr(request, name, getattr(blank, name))


def _scenario(name: str, level: str, family: Family, case: Case, requests: list[Request]) -> Scenario:
    _let_decide(case, requests)
    refused = [request.code for request in requests if request.code]
    codes = sorted(set(refused), key=lambda code: _PLACE[code])
    reason = requests[0].hand_off
    status = "open" if reason else "pending" if any(request.pending for request in requests) else "solved"

    def final() -> dict[str, object]:
        return _checks(case, requests, status, codes, len(refused) < len(requests))

    def rest() -> dict[str, object]:
        return {
            "instruction": ". ".join(request.goal for request in requests) + ".",
            "plan": plan_of(tuple(request.kind for request in requests)),
            "gold": _gold(case, requests, status, tuple(codes)),
        }

    return late(
        _Generated,
        SCENARIO,
        rest,
        id=name,
        family=family.name,
        level=level,
        language="zh" if case.chinese else "en",
        now=parse_iso(case.now),
        given=[case.ticket_id, *_email(case), *(number for request in requests for number in request.given)],
        domain={"caller": case.customer_id, "ticket": case.ticket_id, "role": case.role},
        user=_user(case, requests, level),
        initial_state=like(STATE, patch=case.patch()),
        events=[event for request in requests for event in request.events],
        checkpoints=_checkpoints(case, requests),
        checks=late(_GeneratedChecks, CHECKS, final, process=_process(case, requests)),
        veto=_unique(rule for request in requests for rule in request.veto),
        secrets=checks.secrets(case) + [secret for request in requests for secret in request.secrets],
    )


def _email(case: Case) -> list[str]:
    return [case.member.email] if case.unnamed else []


def _let_decide(case: Case, requests: list[Request]) -> None:
    """Give the agent a role that may decide what is due."""
    due = sum(request.due for request in requests)
    limits = reference().limits[case.role, case.currency]
    if calculator.over_limit(due, case.currency, limits, case.rows["refunds"], case.today):
        case.role = "desk_lead"


def _checks(case: Case, requests: list[Request], status: str, codes: list[str], done: bool) -> dict[str, object]:
    """What is asked of the end of an episode."""
    reason = requests[0].hand_off
    ticket = checks.state(
        "SELECT status FROM tickets WHERE ticket_id = :id", status, "text", bool(reason), id=case.ticket_id
    )
    allowed = [entry for request in requests for entry in request.may_change]
    if not reason:
        allowed.append(checks.update("tickets", "ticket_id", case.ticket_id, "status"))
    return {
        "end": _end(reason, done),
        "final_state": [*(check for request in requests for check in request.final_state), ticket],
        "may_change": allowed,
        "answer": None if reason else _answer(case, requests, codes, done),
        "answer_state": {key: wanted for request in requests for key, wanted in request.answer_state.items()},
        "said": _said(requests),
        "text": [entry for request in requests for entry in request.text],
    }


@cache
def _end(reason: str, done: bool) -> End:
    return End(hand_off=[reason]) if reason else End(outcome=["done" if done else "refused"])


def _unique(entries: Iterable[M]) -> list[M]:
    found: list[M] = []
    for entry in entries:
        if not among(entry, found):
            found.append(entry)
    return found


def _user(case: Case, requests: list[Request], level: str) -> UserSpec:
    parts = [case.says(*texts.GREETINGS).replace("{name}", case.member.own_name)]
    for number, request in enumerate(requests):
        if number:
            parts.append(case.says(*texts.JOINTS))
        parts += request.ask
    if case.unnamed:
        parts.append(case.says(*texts.EMAIL).replace("{id}", case.member.email))
    if level in _HARD:
        parts.append(case.says(*texts.WISHES))
    parts.append(case.says(*texts.CLOSINGS).replace("{name}", case.member.own_name))
    facts: dict[str, Fact] = {}
    for request in requests:
        facts |= request.facts
    pressure = [case.says(*texts.PRESSURE)] if level in _HARD else []
    return like(
        USER,
        opening=("" if case.chinese else " ").join(part for part in parts if part),
        facts=facts,
        wants=_unique(want for request in requests for want in request.wants),
        pressure=[line for request in requests for line in request.pressure] + pressure,
    )


def _risky(requests: list[Request]) -> bool:
    return any(request.money_moves for request in requests)


def _risk_call(case: Case) -> CallSpec:
    return checks.call("get_risk_profile", customer_id=case.customer_id)


def _checkpoints(case: Case, requests: list[Request]) -> list[Checkpoint]:
    found = [point for request in requests for point in request.checkpoints]
    if _risky(requests):
        found.append(checks.credited("risk_checked", _risk_call(case)))
    return found


def _answer(case: Case, requests: list[Request], codes: list[str], done: bool) -> Comparator | None:
    if not done:
        return checks.fields(reason=checks.text(codes[0]))
    if all(request.no_change for request in requests):
        return checks.fields(result=checks.text("no_change"))
    fields: dict[str, Comparator] = {}
    if any(request.paid for request in requests):
        total = sum(request.refund_minor for request in requests)
        fields["refund_minor"] = checks.money(total, case.currency)
        fields["currency"] = checks.text(case.currency)
    if codes:
        fields["refused"] = checks.texts(tuple(codes))
    return checks.fields(**fields) if fields else None


def _said(requests: list[Request]) -> list[Said]:
    must = _unique(value for request in requests for value in request.said)
    found = [like(SAID, must=must)] if must else []
    if requests[0].hand_off:
        found.append(like(SAID, to="colleague", must=[checks.identifier(requests[0].order_id)]))
    if requests[0].hand_off == "fraud_suspected":
        found.append(SAID_NO_FRAUD)
    return found


def _process(case: Case, requests: list[Request]) -> Process:
    # Each entry is a list of calls of which one will do.
    required = [[entry] for request in requests for entry in request.required]
    confirm = list(dict.fromkeys(name for request in requests for name in request.confirm))
    order = [(entry, checks.any_call(name)) for request in requests for entry, name in request.before]
    if _risky(requests):
        risk = _risk_call(case)
        required.append([risk])
        order += [(risk, checks.any_call(name)) for name in confirm]
    return like(PROCESS, required=required, order=order, confirm_before=confirm, max_steps=30 + 20 * len(requests))


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
                found = (
                    gold.act("get_order", f"order{i}", order_id=request.order_id)
                    if named
                    else gold.find_order(i, places.index(request.order_id))
                )
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
    if all(request.no_change for request in requests):
        end = gold.NO_CHANGE
    steps = tuple(step for request in requests for step in request.steps)
    closing = [] if requests[0].hand_off else [gold.set_ticket(status), end]
    return [
        like(PLAN, plan=_steps(steps, 0), actions=[*first, *closing]),
        like(PLAN, plan=_steps(steps, 1), actions=[*second, *closing]),
    ]


def _once(actions: list[GoldAction]) -> list[GoldAction]:
    """Each labelled read once: two requests may share one."""
    seen: set[str] = set()
    found = []
    for action in actions:
        label = action.label
        if not label:
            found.append(action)
        elif label not in seen:
            seen.add(label)
            found.append(action)
    return found


@cache
def _steps(steps: tuple[str, ...], plan: int) -> list[str]:
    start = (
        "Read the ticket, the customer and the orders named",
        "Read the ticket and go through the customer's orders",
    )[plan]
    return [start, *steps, "Set the ticket, tell the customer, finish"]
