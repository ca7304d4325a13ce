"""Lint: facts of a chain exist and are not given away, fields that it names are told, points of reasoning are open."""

from __future__ import annotations

import sqlite3
from typing import Any

from agentgym.chain import AtStart, at_start, fields_told
from agentgym.chain_spec import ChainFact
from agentgym.compare import Comparator
from agentgym.errors import did_you_mean
from agentgym.findings import Findings
from agentgym.lint_subject import Subject
from agentgym.mentions import mentions
from agentgym.reader import Matcher, Reader
from agentgym.reasoning import reasoning_score

_READABLE = frozenset({"text", "id", "int", "number", "money", "date"})


def _start(subject: Subject) -> AtStart:
    """What is asked of the initial state, which is the state that the checks of patches leave."""
    return at_start(subject.scenario, Reader(lambda: subject.world.connection))


def check_chain(subject: Subject) -> None:
    """Each fact has values of its type that the opening does not tell, and ``calculated`` names what is told."""
    chain = subject.scenario.checks.chain
    if chain is None:
        return
    try:
        start = _start(subject)
    except (sqlite3.Error, OverflowError, TypeError, ValueError) as error:
        raise subject.wrong(
            "checks.chain", f"a query that fails on the initial state: {error}", "queries that give the facts"
        ) from None
    for i, (fact, values) in enumerate(zip(chain.facts, start.facts, strict=True)):
        _check_fact(subject, f"checks.chain.facts[{i}]", fact, values)
    known = fields_told(subject.scenario)
    for field in chain.calculated:
        if field not in known:
            raise subject.wrong(
                f"checks.chain.calculated.{field}",
                "a field that nothing asks for",
                f"one of {', '.join(sorted(known)) or 'none'}{did_you_mean(field, known)}",
            )
    if chain.grounded and not known:
        raise subject.wrong(
            "checks.chain.grounded", "true where nothing has to be told", "an answer or a said with must, or false"
        )


def _check_fact(subject: Subject, field: str, fact: ChainFact, values: tuple[Any, ...]) -> None:
    if not values:
        raise subject.wrong(f"{field}.sql", "no row at the start", "a query that gives at least one value")
    known = []
    for value in values:
        cells = dict(value) if fact.type == "record" else {"": value}
        if not any(cell is not None for cell in cells.values()) or (fact.type != "record" and value is None):
            raise subject.wrong(f"{field}.sql", "NULL", "a value")
        known.append(all(_told(subject, field, fact, cell) for cell in cells.values() if cell is not None))
    if all(known):
        shown = values[0] if len(values) == 1 else list(values)
        raise subject.wrong(field, f"{shown!r}, which the opening tells", "a fact that must be looked up")


def _told(subject: Subject, field: str, fact: ChainFact, value: Any) -> bool:
    """Whether the opening has a value."""
    opening = subject.scenario.user.opening
    if fact.type == "record":
        kind = "text" if isinstance(value, str) else "number"
        return value == "" or mentions(opening, Comparator.model_validate({"type": kind, "value": value}))
    try:
        wanted = fact.comparator(value)
    except ValueError:
        raise subject.wrong(f"{field}.type", f"{value!r} from the query", f"a value of type {fact.type}") from None
    return wanted.type in _READABLE and mentions(opening, wanted)


def check_reasoning(subject: Subject) -> None:
    """No point is earned by doing nothing, masked values exist, and a period names arguments of its tool."""
    scenario = subject.scenario
    if scenario.reasoning is None:
        return
    for field, condition in subject.conditions():
        period = condition.period
        if period is not None:
            known = subject.domain.toolset[period.call.name].checks
            for name in period.arguments:
                if name not in known:
                    raise subject.wrong(
                        f"{field}.period.arguments",
                        f"{name!r}, which {period.call.name} does not have",
                        f"of its parameters {', '.join(known)}{did_you_mean(name, known)}",
                    )
    try:
        start = _start(subject)
    except (sqlite3.Error, OverflowError, TypeError, ValueError) as error:
        raise subject.wrong("reasoning", f"a masked that is none: {error}", "values of the declared type") from None
    masked = [field for field, condition in subject.conditions() if condition.masked is not None]
    for field, values in zip(masked, start.masked, strict=True):
        if not values:
            raise subject.wrong(f"{field}.masked.sql", "no row at the start", "a query that gives values to keep back")
    score = reasoning_score(scenario, start, (), Matcher(subject.domain.toolset), Findings)
    for (field, _), (name, ok, _) in zip(scenario.reasoning.points, score["points"], strict=True):
        if ok:
            raise subject.wrong(
                field, f"the point {name!r}, which doing nothing earns", "a point that something must be done for"
            )
