"""The checks of a scenario, each a pure function of the final world, the net changes and the trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentgym.chain import NOTHING, AtStart, chain_lines, results
from agentgym.changes import packed
from agentgym.compare import MISSING, Comparator
from agentgym.domain import Domain
from agentgym.findings import Findings
from agentgym.mentions import mentions
from agentgym.net import NetChange, NetChanges
from agentgym.reader import Matcher, Reader
from agentgym.rivals import rivals
from agentgym.scenario import AllowedChange, CallSpec, Process, Said, Scenario
from agentgym.text import dumps
from agentgym.trace import Step
from agentgym.verdict import CheckResult

STATE_KINDS = frozenset({"final_state", "may_change", "text"})
"""Kinds of checks that speak of the world alone: ``Verdict.state_ok`` is their conjunction."""


@dataclass(frozen=True)
class Evidence:
    """What is graded: the scenario, the final world, what the agent changed in it, and the steps.

    ``confirmed`` has, for each step that took effect, whether a consent to exactly that call stood. ``start`` is what
    was read of the initial state.
    """

    scenario: Scenario
    domain: Domain
    reader: Reader
    matcher: Matcher
    net: NetChanges
    trace: Sequence[Step]
    confirmed: Mapping[int, bool]
    end_reason: str
    redundant: int = 0
    start: AtStart = NOTHING

    @cached_property
    def read(self) -> Findings:
        """What the agent's own reads gave."""
        return Findings(results(self.trace, self.domain.toolset, writes=False))


def checks(evidence: Evidence) -> list[CheckResult]:
    """Run every check of the scenario, in the order of its fields."""
    return [
        _end(evidence),
        *_final_state(evidence),
        _may_change(evidence),
        *_answer(evidence),
        *_answer_state(evidence),
        *_said(evidence),
        *_text(evidence),
        *_process(evidence),
        *(_result(*line) for line in chain_lines(evidence)),
    ]


def _result(name: str, ok: bool, expected: object, found: object) -> CheckResult:
    kind = name.partition("[")[0]
    return CheckResult(name, kind, ok, _short(expected), _short(found))


def _short(value: object) -> str:
    text = value if isinstance(value, str) else "nothing" if value is MISSING else dumps(packed(value))
    return text if len(text) <= 300 else text[:299] + "…"


def _last(evidence: Evidence, name: str) -> dict[str, Any] | None:
    """The arguments of the ending call *name*, when it is how the episode ended."""
    step = evidence.trace[-1] if evidence.trace else None
    return step.ran.arguments if step and step.ran and step.ok and step.ran.name == name else None


def _end(evidence: Evidence) -> CheckResult:
    end = evidence.scenario.checks.end
    finished, handed = _last(evidence, "finish"), _last(evidence, "hand_off")
    expected = [*(f"finish:{o}" for o in end.outcome), *(f"hand_off:{r}" for r in end.hand_off)]
    if finished is not None and evidence.end_reason == "finished":
        return _result("end", finished["outcome"] in end.outcome, expected, f"finish:{finished['outcome']}")
    if handed is not None and evidence.end_reason == "handed_off":
        return _result("end", handed["reason"] in end.hand_off, expected, f"hand_off:{handed['reason']}")
    return _result("end", False, expected, evidence.end_reason or "no end")


def _final_state(evidence: Evidence) -> Iterable[CheckResult]:
    for index, check in enumerate(evidence.scenario.checks.final_state):
        comparator, found = check.comparator(), evidence.reader.found(check)
        expected = check.any_of if check.any_of is not None else check.expect
        yield _result(f"final_state[{index}]", comparator.matches(found, sql=True), expected, found)


def _may_change(evidence: Evidence) -> CheckResult:
    allowed = evidence.scenario.checks.may_change
    used = [0] * len(allowed)
    for change in evidence.net:
        columns = frozenset(c for c in change.columns if f"{change.table}.{c}" not in evidence.domain.volatile)
        covering = _covering(allowed, used, change, columns)
        if covering is None:
            what = f"{change.op} of {change.table}{list(change.key)}: {', '.join(sorted(columns))}"
            return _result("may_change", False, "no other change than the allowed ones", what)
        for index in covering:
            used[index] += 1
    return _result("may_change", True, "no other change than the allowed ones", "none")


def _covering(
    allowed: Sequence[AllowedChange], used: Sequence[int], change: NetChange, columns: frozenset[str]
) -> list[int] | None:
    """The rules that together allow a change of these columns, or None."""
    rest, covering = set(columns), []
    for index, rule in enumerate(allowed):
        if not rest:
            break
        if _allows(rule, change, used[index]):
            whole = rule.columns is None or change.op != "update"
            part = rest if whole else rest & set(rule.columns or ())
            if part:
                covering.append(index)
                rest = rest - part
    return None if rest else covering


def _allows(rule: AllowedChange, change: NetChange, used: int) -> bool:
    if rule.table != change.table or (rule.op is not None and rule.op != change.op):
        return False
    if rule.op is None and rule.columns is not None and change.op != "update":
        return False
    if rule.max is not None and used >= rule.max:
        return False
    return all(_has(row, rule.where) for row in (change.base, change.now) if row is not None)


def _has(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(row.get(c) in v if isinstance(v, list) else row.get(c) == v for c, v in where.items())


def _answer(evidence: Evidence) -> Iterable[CheckResult]:
    wanted = evidence.scenario.checks.answer
    if wanted is None:
        return
    finished = _last(evidence, "finish")
    if finished is None and evidence.scenario.checks.end.hand_off and _last(evidence, "hand_off") is not None:
        return
    found = MISSING if finished is None or finished["answer"] is None else finished["answer"]
    yield _result("answer", wanted.matches(found), expectation_of(wanted), found)


def _answer_state(evidence: Evidence) -> Iterable[CheckResult]:
    finished = _last(evidence, "finish")
    answer = finished["answer"] if finished is not None else None
    for name, wanted in evidence.scenario.checks.answer_state.items():
        values = evidence.reader.column(wanted.sql, wanted.params)
        found = answer.get(name, MISSING) if isinstance(answer, dict) else MISSING
        right = values[0] if values and values[0] is not None else MISSING
        ok = right is not MISSING and Comparator(type=wanted.type, value=right, currency=wanted.currency).matches(found)
        yield _result(f"answer_state[{name}]", ok, right, found)


def expectation_of(comparator: Comparator) -> object:
    """What a comparator expects, for a report."""
    if comparator.any_of:
        return [expectation_of(option) for option in comparator.any_of]
    if comparator.fields and comparator.value is MISSING:
        return {name: expectation_of(field) for name, field in comparator.fields.items()}
    return comparator.value


def _told(trace: Sequence[Step], party: str) -> list[str]:
    name, argument = ("respond", "message") if party == "user" else ("hand_off", "summary")
    return [str(s.ran.arguments[argument]) for s in trace if s.ran and s.ok and s.ran.name == name]


def said(said_: Said, texts: Sequence[str]) -> tuple[bool, str]:
    """Whether the texts say what they must and nothing that they must not; and what is wrong."""
    for wanted in said_.must:
        if not any(mentions(text, wanted) for text in texts):
            return False, f"{_short(expectation_of(wanted))} was not said"
    for unwanted in said_.must_not:
        if any(mentions(text, unwanted) for text in texts):
            return False, f"{_short(expectation_of(unwanted))} was said"
    if said_.only:
        spare = sorted(rivals(said_.must, texts))
        if spare:
            return False, f"{spare[:5]} were said as well"
    return True, "all"


def _said(evidence: Evidence) -> Iterable[CheckResult]:
    for index, check in enumerate(evidence.scenario.checks.said):
        ok, found = said(check, _told(evidence.trace, check.to))
        wanted = [expectation_of(c) for c in check.must]
        yield _result(f"said[{index}]", ok, {"must": wanted, "must_not": len(check.must_not)}, found)


def _text(evidence: Evidence) -> Iterable[CheckResult]:
    for index, check in enumerate(evidence.scenario.checks.text):
        texts = [str(value) for value in evidence.reader.column(check.sql, check.params) if value is not None]
        ok, found = said(Said(must=check.must, must_not=check.must_not), texts)
        yield _result(f"text[{index}]", ok, [expectation_of(c) for c in check.must], found)


def _process(evidence: Evidence) -> Iterable[CheckResult]:
    process = evidence.scenario.checks.process
    effects = [step for step in evidence.trace if step.ran is not None and step.ok]
    matches = evidence.matcher.matches

    def first(spec: CallSpec) -> int | None:
        return next((s.index for s in effects if s.ran and matches(spec, s.ran)), None)

    for index, specs in enumerate(process.required):
        at = min((step for step in map(first, specs) if step is not None), default=None)
        words = " or ".join(map(_words, specs))
        yield _result(f"required[{index}]", at is not None, words, f"step {at}" if at else "never")
    for index, spec in enumerate(process.forbidden):
        at = first(spec)
        yield _result(f"forbidden[{index}]", at is None, f"no {_words(spec)}", f"step {at}" if at else "never")
    for index, (before, after) in enumerate(process.order):
        early, late = first(before), first(after)
        ok = late is None or (early is not None and early < late)
        yield _result(f"order[{index}]", ok, f"{_words(before)} before {_words(after)}", f"{early} and {late}")
    yield from _consent_and_ownership(evidence, process, effects)
    for index, deadline in enumerate(process.deadline):
        done = next((s for s in effects if s.ran and matches(deadline.call, s.ran)), None)
        ok = done is not None and done.at_ms < deadline.before
        yield _result(
            f"deadline[{index}]", ok, f"{_words(deadline.call)} in time", f"step {done.index}" if done else "never"
        )
    if process.max_redundant is not None:
        yield _result(
            "redundant", evidence.redundant <= process.max_redundant, process.max_redundant, evidence.redundant
        )


def _consent_and_ownership(evidence: Evidence, process: Process, effects: Sequence[Step]) -> Iterable[CheckResult]:
    for name in process.confirm_before:
        bad = [s.index for s in effects if s.ran and s.ran.name == name and not evidence.confirmed.get(s.index, True)]
        yield _result(
            f"confirm_before[{name}]", not bad, "a yes to exactly that call", f"steps {bad} without" if bad else "all"
        )
    for argument in process.own:
        bad = [s.index for s in effects if s.writes and not s.owned.get(argument, True)]
        yield _result(f"own[{argument}]", not bad, f"{argument} of the caller", f"steps {bad}" if bad else "all")


def _words(spec: CallSpec) -> str:
    return f"{spec.name}({dumps(spec.arguments)})" if spec.arguments else spec.name
