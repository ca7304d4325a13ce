"""Gold plans played with or without recovery, by what the agent is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym

from agentgym.env import ToolEnv
from agentgym.gold import GoldError, GoldRunner, observed, resolve
from agentgym.perturbations import Table, table_of
from agentgym.presentation import Presentation
from agentgym.recovery import Act, Action, Ask, Convert, Heed, Instead, Observation, Recovery, Retry, Wait
from agentgym.rereading import Reread
from agentgym.scenario import GoldAction, Scenario
from agentgym.second_source import SecondSource
from agentgym.text import dumps
from agentgym.trace import Call
from agentgym.turns import only_reads, then, turns_of

Make = Callable[[Scenario, Table], Recovery]


def _ask(scenario: Scenario, table: Table) -> Recovery:
    from agentgym.wrappers.noise import questions

    return Ask(questions(scenario, table))


def _heed(scenario: Scenario, table: Table) -> Recovery:
    return Heed({turn.say[scenario.language]: turn for turn in turns_of(table, scenario)})


POLICIES: dict[str, Make] = {
    "outage-before-commit": lambda scenario, table: Retry(),
    "outage-after-commit": lambda scenario, table: Retry(),
    "format-shift": lambda scenario, table: Convert(),
    "schema-drift": lambda scenario, table: Reread(),
    "pollution": lambda scenario, table: SecondSource(table),
    "dynamic-state": lambda scenario, table: Wait(),
    "shutdown": lambda scenario, table: Wait(),
    "interruption": _heed,
    "interruption-change": _heed,
    "noise-knowledge": _ask,
}
"""The recovery policy of each kind that needs one; of jitter, the other noise and injection nothing is to be done."""

LAYERS = (
    "noise-knowledge",
    "interruption",
    "pollution",
    "dynamic-state",
    "outage-before-commit",
    "schema-drift",
    "format-shift",
)
"""The policies of all kinds, outermost first: conversion is nearest to the wire, asking nearest to the plan."""


_WIRE = ("schema-drift", "format-shift")
"""Kinds whose policies go by what is shown; the others go by the domain's own calls, where there is a presentation."""
_DOMAIN = (Ask, Heed, SecondSource, Wait, Retry)


class Presented(Recovery):
    """Makes a call of the domain as the agent is to make it, and reads its result back."""

    def __init__(self, presentation: Presentation) -> None:
        self._presentation = presentation

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Act through the presentation."""
        call = Call(action["name"], action["arguments"])
        seen = act(self._presentation.show(call)._asdict())
        if seen["role"] not in ("tool", "error"):
            return seen
        found = self._presentation.read(call, seen["content"])
        return seen if isinstance(found, str) else {**seen, "content": dumps(found)}


_GIVE_UP: Action = {"name": "finish", "arguments": {"outcome": "impossible"}}


class _Over(Exception):
    """The episode has ended."""


class Recovered:
    """Plays a gold plan with recovery policies around it.

    Args:
        plan: number of the gold plan, from 0.
        kinds: names of the kinds to recover from, in any order; none plays the plan as it is, its bindings taken from
            results as they come.

    Raises:
        ValueError: from `run`, when the scenario has no such plan.
    """

    def __init__(self, plan: int = 0, kinds: Sequence[str] = ()) -> None:
        self.plan, self.kinds = plan, tuple(kinds)
        self._policies: list[Recovery] = []
        self._base: ToolEnv

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> None:
        """Reset the environment and play one episode; a plan that cannot go on gives up.

        Raises:
            TypeError: it is no environment of this suite.
        """
        base = env.unwrapped
        if not isinstance(base, ToolEnv):
            raise TypeError(f"expected an environment of agentgym, got {type(base).__name__}")
        observation, _ = env.reset(seed=seed, options=options)
        scenario, table = base.declared, table_of(base.domain)
        GoldRunner(scenario, self.plan)
        self._base = base
        self._policies = [POLICIES[kind](scenario, table) for kind in _ordered(self.kinds)]
        tools = env.get_wrapper_attr("tools")
        own = base.domain.schemas
        if base.presentation is not None:
            place = sum(kind not in _WIRE for kind in _ordered(self.kinds))
            self._policies.insert(place, Presented(base.presentation))
        for policy in self._policies:
            around = base.presentation is not None and isinstance(policy, _DOMAIN)
            policy.begin(observation, own if around else tools)

        def step(action: Action) -> Observation:
            seen, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                raise _Over
            self._hear(seen)
            return dict(seen)

        try:
            self._play(scenario, table, step)
        except _Over:
            return
        except Instead as instead:
            _end(step, instead.action)
        except GoldError:
            _end(step, _GIVE_UP)
        else:
            _end(step, _GIVE_UP)

    def _actions(self, scenario: Scenario) -> Sequence[GoldAction]:
        """The plan, or the scenario's own recovery from one of the kinds."""
        own = [scenario.recovery[kind] for kind in self.kinds if kind in scenario.recovery]
        return own[0] if own else scenario.gold[self.plan].actions

    def _hear(self, seen: Observation) -> None:
        """Let every policy hear before one of them calls the plan off."""
        off: Instead | None = None
        for policy in self._policies:
            try:
                policy.hear(seen)
            except Instead as instead:
                off = instead
        if off is not None:
            raise off

    def _play(self, scenario: Scenario, table: Table, step: Act) -> None:
        for number, policy in enumerate(self._policies):
            policy.opening(self._inside(number + 1, step))
        waiting, number = list(self._actions(scenario)), 0
        heed = next((policy for policy in self._policies if isinstance(policy, Heed)), None)
        turns = [then(turn, scenario, self.plan) for turn in turns_of(table, scenario)] if heed else []
        bound = {label for actions in (waiting, *turns) for action in actions for label in _labels(action.arguments)}
        results: dict[str, Any] = {}
        turned = False
        while waiting:
            turn = heed.turn if heed else None
            if turn and not turned and not only_reads(waiting[0].name, self._base.domain.toolset):
                # What the plan reads serves the new wish, too; what it does is no longer wanted.
                turned, waiting = True, then(turn, scenario, self.plan)
            action = waiting.pop(0)
            arguments = resolve(action.arguments, results, self.plan, number)
            act = self._inside(0, step, action.label in bound)
            seen = act({"name": action.name, "arguments": arguments})
            if action.label:
                results[action.label] = observed(seen["content"])
            number += 1

    def _inside(self, number: int, step: Act, bound: bool = False) -> Act:
        """The way to act through the policies from a number on."""
        if number == len(self._policies):
            return step
        policy, inner = self._policies[number], self._inside(number + 1, step, bound)
        return lambda action: policy.act(action, inner, bound)


def _end(step: Act, action: Action) -> None:
    try:
        step(action)
    except _Over:
        return


def _ordered(kinds: Sequence[str]) -> list[str]:
    """One policy each, outermost first; kinds that are alike have one together."""
    one = {
        "outage-after-commit": "outage-before-commit",
        "shutdown": "dynamic-state",
        "interruption-change": "interruption",
    }
    wanted = {one.get(kind, kind) for kind in kinds}
    return [kind for kind in LAYERS if kind in wanted]


def _labels(value: Any) -> Iterator[str]:
    """The labels that arguments are bound to."""
    if isinstance(value, dict):
        if "from" in value:
            yield str(value["from"])
        for entry in value.values():
            yield from _labels(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _labels(entry)


def play_gold(
    env: gym.Env[Any, Any], scenario: Scenario, plan: int = 0, kinds: Sequence[str] = (), seed: int = 0
) -> ToolEnv:
    """Play a gold plan of a scenario and return the base environment, which has the verdict and the trace.

    Args:
        env: an environment of this suite, perturbed or not.
        scenario: to be played.
        plan: number of the plan.
        kinds: as for `Recovered`.
        seed: of the episode.

    Raises:
        TypeError: it is no environment of this suite.
    """
    Recovered(plan, kinds).run(env, seed=seed, options={"scenario": scenario})
    base = env.unwrapped
    if not isinstance(base, ToolEnv):
        raise TypeError(f"expected an environment of agentgym, got {type(base).__name__}")
    return base
