"""What the checks of `agentgym.lint` look at: a scenario beside its domain, and lists of what stands where in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel

from agentgym.chain_spec import Chain, Condition
from agentgym.domain import Domain
from agentgym.errors import ScenarioError
from agentgym.scenario import CallSpec, Expectation, GoldAction, Process, Query, Scenario, Want
from agentgym.sqlcheck import SqlChecker
from agentgym.world import World

_TEXT = re.compile(r"'((?:[^']|'')*)'")


class Mention(NamedTuple):
    """A tool named in a scenario, with the arguments named there; ``gold`` when they may be bindings."""

    field: str
    tool: str
    arguments: Mapping[str, Any]
    gold: bool = False


@dataclass(frozen=True)
class Subject:
    """A scenario under the lint."""

    scenario: Scenario
    domain: Domain
    world: World
    checker: SqlChecker

    def wrong(self, field: str, found: object, expected: str) -> ScenarioError:
        """The error to raise."""
        return ScenarioError(self.scenario.id, field, found, expected)

    def calls(self) -> Iterator[Mention]:
        """Every call looked for, wished, forbidden or made in the scenario."""
        for i, point in enumerate(self.scenario.checkpoints):
            for call in point.calls:
                yield _spec(f"checkpoints[{i}].called", call)
            if point.confirmed is not None:
                yield Mention(f"checkpoints[{i}].confirmed", point.confirmed, {})
        yield from _process(self.scenario.checks.process)
        yield from _chain(self.scenario.checks.chain)
        for field, condition in self.conditions():
            yield from (_spec(place, call) for place, call in condition.calls(field))
        for i, rule in enumerate(self.scenario.veto):
            for kind in ("call", "unconfirmed", "foreign"):
                name = getattr(rule, kind)
                if name is not None:
                    yield Mention(f"veto[{i}].{kind}", name, rule.arguments)
        for i, event in enumerate(self.scenario.events):
            if event.after is not None:
                yield _spec(f"events[{i}].after.call", event.after.call)
            if event.user is not None:
                yield from _wants(f"events[{i}].user.wants", event.user.wants or [])
        yield from _wants("user.wants", self.scenario.user.wants)
        for i, attack in enumerate(self.scenario.attacks):
            yield _spec(f"attacks[{i}].goal", attack.goal)
        for i, goal in enumerate(self.scenario.plan.subgoals):
            for j, name in enumerate(goal.tools):
                yield Mention(f"plan.subgoals[{i}].tools[{j}]", name, {})
        for i, name in enumerate(self.scenario.plan.forbidden):
            yield Mention(f"plan.forbidden[{i}]", name, {})
        for field, actions in self.plans():
            for j, action in enumerate(actions):
                yield Mention(f"{field}[{j}]", action.name, action.arguments, gold=True)

    def conditions(self) -> Iterator[tuple[str, Condition]]:
        """Every condition of the reasoning score, those within others included."""
        for field, point in self.scenario.reasoning.points if self.scenario.reasoning is not None else ():
            yield from point.walk(field)

    def plans(self) -> Iterator[tuple[str, list[GoldAction]]]:
        """Every list of actions: of gold plans, attacks, recovery plans."""
        for i, plan in enumerate(self.scenario.gold):
            yield f"gold[{i}].actions", plan.actions
        for i, attack in enumerate(self.scenario.attacks):
            yield f"attacks[{i}].gold", attack.gold
        for kind, actions in sorted(self.scenario.recovery.items()):
            yield f"recovery.{kind}", actions

    def queries(self) -> Iterator[tuple[str, Query]]:
        """Every query over the world."""
        checks = self.scenario.checks
        for name, entries in (("final_state", checks.final_state), ("text", checks.text)):
            for i, query in enumerate(entries):
                yield f"checks.{name}[{i}]", query
        for name, wanted in checks.answer_state.items():
            yield f"checks.answer_state.{name}", wanted
        for i, point in enumerate(self.scenario.checkpoints):
            if point.sql is not None:
                yield f"checkpoints[{i}]", point.expectation()
        for i, rule in enumerate(self.scenario.veto):
            if rule.sql is not None:
                yield f"veto[{i}]", Query(sql=rule.sql, params=rule.params)
        for i, secret in enumerate(self.scenario.secrets):
            yield f"secrets[{i}]", secret
        for i, event in enumerate(self.scenario.events):
            if event.when is not None:
                yield f"events[{i}].when", event.when
        for i, fact in enumerate(checks.chain.facts if checks.chain is not None else ()):
            yield f"checks.chain.facts[{i}]", fact
        for field, condition in self.conditions():
            if condition.masked is not None:
                yield f"{field}.masked", condition.masked

    def checked(self) -> Iterator[tuple[str, str]]:
        """(field, text) of every literal in a query, its parameters, its expectation, or the ``where`` of a change."""
        for field, query in self.queries():
            yield from texts(f"{field}.params", query.params)
            yield from ((f"{field}.sql", text.replace("''", "'")) for text in _TEXT.findall(query.sql))
            if isinstance(query, Expectation):
                yield from texts(f"{field}.expect", query.expect)
        for i, allowed in enumerate(self.scenario.checks.may_change):
            yield from texts(f"checks.may_change[{i}].where", allowed.where)

    def patches(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The declared changes of the world: the initial patch and those of events."""
        yield "initial_state.patch", self.scenario.initial_state.patch
        for i, event in enumerate(self.scenario.events):
            yield f"events[{i}].do", event.do


def texts(field: str, value: Any) -> Iterator[tuple[str, str]]:
    """(field, text) of every text in nested *value*."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield from texts(f"{field}.{name}", entry)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from texts(f"{field}[{index}]", entry)


def spelt(value: Any) -> str:
    """*value* as canonical JSON, to compare by."""
    plain = value.model_dump(mode="python") if isinstance(value, BaseModel) else value
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, default=repr)


def _spec(field: str, call: CallSpec) -> Mention:
    return Mention(field, call.name, call.arguments)


def _wants(field: str, wants: list[Want]) -> Iterator[Mention]:
    """Each alternative of ``{any_of: […]}`` is a mention of its own."""
    for i, want in enumerate(wants):
        options = {n: v["any_of"] for n, v in want.arguments.items() if isinstance(v, dict) and "any_of" in v}
        fixed = {name: value for name, value in want.arguments.items() if name not in options}
        yield Mention(f"{field}[{i}]", want.tool, fixed)
        for name, values in options.items():
            for value in values:
                yield Mention(f"{field}[{i}]", want.tool, {name: value})


def _chain(chain: Chain | None) -> Iterator[Mention]:
    sources = chain.sources if chain is not None else None
    for name in ("allowed", "forbidden") if sources is not None else ():
        for i, call in enumerate(getattr(sources, name)):
            yield _spec(f"checks.chain.sources.{name}[{i}]", call)


def _process(process: Process) -> Iterator[Mention]:
    field = "checks.process"
    for i, options in enumerate(process.required):
        for call in options:
            yield _spec(f"{field}.required[{i}]", call)
    for i, call in enumerate(process.forbidden):
        yield _spec(f"{field}.forbidden[{i}]", call)
    for i, pair in enumerate(process.order):
        for j, call in enumerate(pair):
            yield _spec(f"{field}.order[{i}][{j}]", call)
    for i, name in enumerate(process.confirm_before):
        yield Mention(f"{field}.confirm_before[{i}]", name, {})
    for i, deadline in enumerate(process.deadline):
        yield _spec(f"{field}.deadline[{i}].call", deadline.call)
