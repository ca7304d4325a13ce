"""Changes of mind: what is right once the user wants something else in mid-task, and what a plan does then.

A `agentgym.perturbations.Turn` of the domain's table says it for some scenarios. It comes early, by the clock, or late,
after the first request for consent: before either nothing of the old wish can have been done by the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentgym.common import COMMON_TOOLS
from agentgym.errors import DomainError
from agentgym.perturbations import Table, Turn, filled, names_of
from agentgym.scenario import Checkpoint, Checks, Event, GoldAction, GoldPlan, Process, Scenario, UserChange
from agentgym.tools import Tool

_TALK = ("respond", "wait")
_CONSENT = "confirm_with_user"
_HOST = frozenset(tool.name for tool in COMMON_TOOLS)


def turns_of(table: Table, scenario: Scenario) -> list[Turn]:
    """The turns that a domain declares for a scenario."""
    return [turn for turn in table.turns if scenario.id in turn.scenarios]


def turned(scenario: Scenario, turn: Turn, name: str, at: int | None, tools: Mapping[str, Tool]) -> Scenario:
    """The scenario in which the user changes their mind.

    Args:
        scenario: as it is declared.
        turn: what changes.
        name: of the event.
        at: when, milliseconds since 1970; None for after the first request for consent.
        tools: of the domain, by name.

    Raises:
        DomainError: the turn needs of a plan what it does not have.
    """
    values = _values(turn, scenario)
    change = UserChange.model_validate(
        {"say": turn.say[scenario.language], "wants": filled(turn.wants, values), "facts": filled(turn.facts, values)}
    )
    after = {"call": _CONSENT} if at is None else None
    event = Event.model_validate({"name": name, "at": at, "after": after, "user": change})
    declared = {**filled(turn.checks, values), "process": _process(scenario, turn)}
    gold = [
        GoldPlan(
            plan=[*plan.plan[:1], "As the customer changes their mind, do what they want now"],
            actions=[*_before(plan.actions, tools, asks=at is None), *then(turn, scenario, number)],
        )
        for number, plan in enumerate(scenario.gold)
    ]
    changed = {
        "events": [*scenario.events, event],
        "checks": Checks.model_validate(declared),
        "checkpoints": [Checkpoint.model_validate(entry) for entry in filled(turn.checkpoints, values)],
        "veto": [rule for rule in scenario.veto if rule.call not in turn.allows],
        "gold": gold,
    }
    return scenario.model_copy(update=changed)


def then(turn: Turn, scenario: Scenario, plan: int) -> list[GoldAction]:
    """What a plan does from the change of mind on, once it has read what it reads.

    Raises:
        DomainError: the turn takes a value from a call that the plan does not make.
    """
    actions = scenario.gold[plan].actions
    values = {**_values(turn, scenario), "language": scenario.language}
    return [GoldAction.model_validate(_taken(entry, actions, scenario.id)) for entry in filled(turn.then, values)]


def only_reads(name: str, tools: Mapping[str, Tool]) -> bool:
    """A call that a plan still makes after a change of mind: it reads or talks."""
    return name in _TALK or (name in tools and name not in _HOST and not tools[name].writes)


def _values(turn: Turn, scenario: Scenario) -> dict[str, Any]:
    return {**names_of(scenario), **turn.scenarios[scenario.id]}


def _process(scenario: Scenario, turn: Turn) -> Process:
    """The old process with the new tools in it, or, where nothing takes the place of the old wish, only whose it is."""
    old = scenario.checks.process
    steps = old.max_steps + len(turn.then)
    if not turn.instead:
        return Process(own=old.own, max_steps=steps)
    data = old.model_dump()

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turn.instead.get(v, v) if key == "name" else renamed(v) for key, v in value.items()}
        return [renamed(entry) for entry in value] if isinstance(value, list | tuple) else value

    confirm = [turn.instead.get(name, name) for name in old.confirm_before]
    kept = {key: renamed(data[key]) for key in ("required", "order")}
    return Process.model_validate({**data, **kept, "confirm_before": confirm, "max_steps": steps})


def _before(actions: Sequence[GoldAction], tools: Mapping[str, Tool], asks: bool) -> Iterator[GoldAction]:
    """The actions before the first that acts; with the request for consent if that is it and *asks*."""
    for action in actions:
        if not only_reads(action.name, tools):
            if asks and action.name == _CONSENT:
                yield action
            return
        yield action


def _taken(value: Any, actions: Sequence[GoldAction], name: str) -> Any:
    """*value* with each ``{of: TOOL, at: a.b}`` replaced by what the plan's first call of that tool has there."""
    if isinstance(value, Mapping):
        if set(value) != {"of", "at"}:
            return {key: _taken(entry, actions, name) for key, entry in value.items()}
        found: Any = next((action.arguments for action in actions if action.name == value["of"]), None)
        for key in str(value["at"]).split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        if found is None:
            raise DomainError(f"{name}: a change of mind takes {value['at']} of {value['of']}, which a plan lacks")
        return found
    return [_taken(entry, actions, name) for entry in value] if isinstance(value, list) else value
