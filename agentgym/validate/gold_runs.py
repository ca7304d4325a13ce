"""Every gold plan of every scenario, played once and kept: what the checks of gold and of copied gold look at."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from agentgym.errors import AgentGymError
from agentgym.gold import observed
from agentgym.scenario import Scenario
from agentgym.validate.subject import Played, Subject, scripted

_KEPT: WeakKeyDictionary[Subject, list[GoldRun]] = WeakKeyDictionary()


@dataclass(frozen=True)
class GoldRun:
    """One gold plan as it was played.

    Attributes:
        scenario: whose plan it is.
        plan: its number, from 0.
        played: the episode, None when the plan could not go on or the scenario could not start.
        error: why it could not, or "".
    """

    scenario: Scenario
    plan: int
    played: Played | None
    error: str = ""

    @property
    def name(self) -> str:
        """How failures name it: "refund/partial-001 gold[0]"."""
        return f"{self.scenario.id} gold[{self.plan}]"

    @property
    def good(self) -> bool:
        """The plan was played and succeeded."""
        return self.played is not None and self.played.verdict is not None and self.played.verdict.success

    @property
    def actions(self) -> list[dict[str, Any]]:
        """The resolved calls that were sent; none where nothing was played."""
        return self.played.actions if self.played is not None else []

    def results(self) -> dict[str, Any]:
        """Label → what the action labelled so was shown, parsed."""
        if self.played is None:
            return {}
        actions = self.scenario.gold[self.plan].actions
        shown = self.played.observations[1:]
        return {a.label: observed(o["content"]) for a, o in zip(actions, shown, strict=False) if a.label}


def gold_runs(subject: Subject) -> list[GoldRun]:
    """Every gold plan of every scenario under validation, in their order; played on the first call."""
    if subject not in _KEPT:
        _KEPT[subject] = [_run(subject, s, plan) for s in subject.scenarios for plan in range(len(s.gold))]
    return _KEPT[subject]


def good_runs(subject: Subject) -> dict[str, GoldRun]:
    """Scenario id → its first gold plan that succeeds; a scenario without one is left to V08."""
    found: dict[str, GoldRun] = {}
    for run in gold_runs(subject):
        if run.good:
            found.setdefault(run.scenario.id, run)
    return found


def replay(subject: Subject, scenario: Scenario, actions: list[dict[str, Any]], **options: Any) -> Played:
    """Play resolved calls one after the other, whatever they give."""
    return subject.play(scenario, scripted(actions), **options)


def _run(subject: Subject, scenario: Scenario, plan: int) -> GoldRun:
    try:
        return GoldRun(scenario, plan, subject.played_gold(scenario, plan))
    except (AgentGymError, ValueError, KeyError, sqlite3.Error) as error:
        return GoldRun(scenario, plan, None, f"{type(error).__name__}: {error}")
