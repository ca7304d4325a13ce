"""Training scenarios of the HR desk: `generate` makes the one of a seed, with a world, checks and two gold plans.

A scenario has one to three requests, by its level: L1 one plain request, L2 one with a complication and pressure, L3
two, L4 two with complications and pressure, L5 three. The family is that of the first request. How the API is spelt is
no part of a scenario: it is drawn from the episode's seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, TypeVar

from agentgym.compare import Comparator
from agentgym.envs.hr import gen_checks as checks
from agentgym.envs.hr import gen_gold as gold
from agentgym.envs.hr import gen_texts as texts
from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_families import FAMILIES, Family
from agentgym.envs.hr.gen_people import opened
from agentgym.envs.hr.gen_plans import CHECKS, OWN, PLAN, PROCESS, SAID, SCENARIO, STATE, USER, plan_of
from agentgym.envs.hr.gen_request import Request, Two
from agentgym.generating import Draws, like
from agentgym.random import Stream
from agentgym.scenario import Checks, End, GoldAction, GoldPlan, Said, Scenario, UserSpec, VetoRule
from agentgym.world import parse_iso

T = TypeVar("T")

LEVELS: Final = ("L1", "L2", "L3", "L4", "L5")
_REQUESTS: Final = {"L1": 1, "L2": 1, "L3": 2, "L4": 2, "L5": 3}
_HARD: Final = frozenset({"L2", "L4", "L5"})
_CHINESE: Final = 25
"""Per cent of the callers who write Chinese."""

_TRIES: Final = 24

CODES: Final = (
    "not_permitted own_matter never_done confidential too_few notice_too_short no_days_left blocked_period "
    "certificate_missing already_begun too_late already_done in_probation too_far_back no_headcount stage_order "
    "score_too_low over_grade check_open"
).split()
"""Reasons of refusals in the order of their sections."""

_PLACE: Final[dict[str, int]] = {code: place for place, code in enumerate(CODES)}


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
    stream = Draws(seed, "scenario")
    family = stream.choice(FAMILIES)
    chinese = stream.integers(0, 100) < _CHINESE
    for _ in range(_TRIES):
        roles = _roles(family, _REQUESTS[level])
        role = stream.choice(roles)
        case = opened(stream, role, chinese)
        requests = _requests(case, family, level)
        if requests is not None and case.told.isdisjoint(case.sought):
            return _scenario(f"hr/train/{level}-{seed}", level, family, case, requests)
    raise RuntimeError(f"no case of {family.name} for seed {seed} after {_TRIES} tries; widen what it chooses from")


@cache
def _roles(family: Family, count: int) -> tuple[str, ...]:
    """The roles of a family in which so many requests can stand side by side."""
    return tuple(role for role in family.roles if _most(family, role) >= count)


def _most(family: Family, role: str) -> int:
    taken, count = set(family.keys), 1
    for other in FAMILIES:
        if other is not family and role in other.roles and taken.isdisjoint(other.keys):
            taken |= other.keys
            count += 1
    return count


def _requests(case: Case, family: Family, level: str) -> list[Request] | None:
    """Draw the requests of a case; those after the first one are of other families with other keys."""
    hard, count = level in _HARD, _REQUESTS[level]
    first = family.make(case, 0, hard)
    if first is None:
        return None
    requests = [first]
    options = [each for each in FAMILIES if each is not family and case.role in each.roles]
    taken = set(family.keys)
    while len(requests) < count and options:
        other = options.pop(case.draw.integers(0, len(options)))
        if taken.isdisjoint(other.keys):
            made = other.make(case, len(requests), hard)
            if made is not None:
                requests.append(made)
                taken |= other.keys
    if len(requests) < count:
        return None
    for request in requests[1:] if first.hand_off else ():
        _only_asked(request)
    return requests


def _only_asked(request: Request) -> None:
    """Beside a reason to hand the case off, another request is asked and looked at, but nothing is done about it."""
    blank = Request(request.kind)
    for name in (
        "writes",
        "code",
        "answer",
        "born",
        "told",
        "checkpoints",
        "may_change",
        "text",
        "required",
        "colleague",
    ):
        setattr(request, name, getattr(blank, name))
    request.final_state = [check for check in request.final_state if check.holds is not None]


def _scenario(name: str, level: str, family: Family, case: Case, requests: list[Request]) -> Scenario:
    refused = [request.code for request in requests if request.code]
    codes = tuple(sorted(set(refused), key=lambda code: _PLACE[code]))
    plans = _gold(requests, codes, len(refused) < len(requests))
    return like(
        SCENARIO,
        id=name,
        family=family.name,
        level=level,
        language="zh" if case.chinese else "en",
        now=parse_iso(case.now),
        instruction=". ".join(request.goal for request in requests) + ".",
        given=[case.caller, *_unique(value for request in requests for value in request.given), *gold.SECTION_NAMES],
        domain={"caller": case.caller, "role": case.role},
        user=_user(case, requests, level),
        initial_state=like(STATE, patch=case.patch()),
        checkpoints=[point for request in requests for point in request.checkpoints],
        checks=_checks(requests, codes, len(refused) < len(requests), max(len(plan.actions) for plan in plans)),
        veto=[*_own(case.caller), *_unique(rule for request in requests for rule in request.veto)],
        # Another request may read the same lists for other days.
        reasoning=requests[0].reasoning if len(requests) == 1 else None,
        secrets=_unique(secret for request in requests for secret in request.secrets),
        plan=plan_of(tuple(request.kind for request in requests)),
        gold=plans,
    )


def _checks(requests: list[Request], codes: tuple[str, ...], done: bool, steps: int) -> Checks:
    reason = requests[0].hand_off
    return like(
        CHECKS,
        end=_end(reason, done),
        final_state=[check for request in requests for check in request.final_state],
        may_change=[entry for request in requests for entry in request.may_change],
        answer=None if reason else _answer(requests, codes, done),
        answer_state={key: wanted for request in requests for key, (wanted, _) in request.born.items()},
        said=_said(requests),
        text=[entry for request in requests for entry in request.text],
        process=like(
            PROCESS, required=_unique(entry for request in requests for entry in request.required), max_steps=steps + 30
        ),
    )


@cache
def _own(caller: str) -> tuple[VetoRule, ...]:
    """Policy 1.6: the caller's own record, grade and pay stay as they are."""
    return tuple(like(checks.banned(name, employee_id=caller), name=f"own_matter:{name}") for name in OWN)


@cache
def _end(reason: str, done: bool) -> End:
    return End(hand_off=[reason]) if reason else End(outcome=["done" if done else "refused"])


def _unique(entries: Iterable[T]) -> list[T]:
    found: list[T] = []
    for entry in entries:
        if entry not in found:
            found.append(entry)
    return found


def _answer(requests: list[Request], codes: tuple[str, ...], done: bool) -> Comparator | None:
    if not done:
        return checks.fields({"reason": checks.text(codes[0])})
    found = {key: wanted for request in requests for key, (wanted, _) in request.answer.items()}
    if codes:
        found["refused"] = checks.texts(codes)
    return checks.fields(found) if found else None


def _said(requests: list[Request]) -> list[Said]:
    must = _unique(value for request in requests for value in request.told)
    found = [like(SAID, must=must)] if must else []
    colleague = [value for request in requests for value in request.colleague]
    if colleague:
        found.append(like(SAID, to="colleague", must=colleague))
    return found


def _user(case: Case, requests: list[Request], level: str) -> UserSpec:
    parts = [case.says(*texts.GREETINGS)]
    for number, request in enumerate(requests):
        if number:
            parts.append(case.says(*texts.JOINTS))
        parts += request.ask
    if level in _HARD:
        parts.append(case.says(*texts.HURRY))
    parts.append(case.says(*texts.CLOSINGS))
    facts: dict[str, Any] = {}
    for request in requests:
        facts |= request.facts
    return like(
        USER,
        opening=("" if case.chinese else " ").join(part for part in parts if part),
        facts=facts,
        wants=_unique(want for request in requests for want in request.wants),
        pressure=[case.says(*texts.PRESSURE)] if level in _HARD else [],
    )


def _gold(requests: list[Request], codes: tuple[str, ...], done: bool) -> list[GoldPlan]:
    answers: list[dict[str, Any]] = [{}, {}]
    for request in requests:
        for key, (_, value) in [*request.answer.items(), *request.born.items()]:
            for plan in (0, 1):
                answers[plan][key] = Two.of(value, plan)
    steps = tuple(step for request in requests for step in request.steps)
    plans = []
    for plan in (0, 1):
        reads = _once(action for request in requests for action in request.reads[plan])
        ordered = requests[1:] + requests[:1] if requests[0].hand_off else requests
        actions = [*reads, *(action for request in ordered for action in Two.of(request.writes, plan))]
        if not requests[0].hand_off:
            actions.append(gold.finish(answers[plan], codes, done))
        plans.append(like(PLAN, plan=_steps(steps, plan), actions=[*gold.documented(actions), *actions]))
    return plans


def _once(actions: Iterable[GoldAction]) -> list[GoldAction]:
    """Each labelled read once: two requests may share one."""
    seen: set[str] = set()
    found = []
    for action in actions:
        if action.label not in seen:
            found.append(action)
        if action.label:
            seen.add(action.label)
    return found


@cache
def _steps(steps: tuple[str, ...], plan: int) -> list[str]:
    start = ("Read the documentation and who asks", "Read the documentation and the records one by one")[plan]
    return [start, *steps, "Say what was done, finish"]
