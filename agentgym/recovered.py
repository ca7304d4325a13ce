"""Gold plans played with or without recovery, by what the agent is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym

from agentgym.env import ToolEnv
from agentgym.gold import GoldError, GoldRunner, observed, resolve
from agentgym.perturbations import Table, table_of
from agentgym.recovery import Act, Action, Ask, Convert, Heed, Instead, Observation, Recovery, Reread, Retry, Wait
from agentgym.scenario import Scenario
from agentgym.second_source import SecondSource

Make = Callable[[Scenario, Table], Recovery]


def _ask(scenario: Scenario, table: Table) -> Recovery:
    from agentgym.wrappers.noise import questions

    return Ask(questions(scenario, table))


POLICIES: dict[str, Make] = {
    "outage-before-commit": lambda scenario, table: Retry(),
    "outage-after-commit": lambda scenario, table: Retry(),
    "format-shift": lambda scenario, table: Convert(),
    "schema-drift": lambda scenario, table: Reread(),
    "pollution": lambda scenario, table: SecondSource(table),
    "dynamic-state": lambda scenario, table: Wait(),
    "shutdown": lambda scenario, table: Wait(),
    "interruption": lambda scenario, table: Heed(),
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


class _Over(Exception):
    """The episode has ended."""


class Recovered:
    """Plays a gold plan with recovery policies around it.

    Args:
        scenario: whose plan it is.
        plan: its number, from 0.
        kinds: names of the kinds to recover from, in any order; none plays the plan as it is.
        table: of the domain.
    """

    def __init__(self, scenario: Scenario, plan: int = 0, kinds: Sequence[str] = (), table: Table | None = None) -> None:
        self.scenario, self.plan = scenario, plan
        GoldRunner(scenario, plan)
        self.own = [action for kind in kinds for action in scenario.recovery.get(kind, [])]
        made = [POLICIES[kind](scenario, table or Table()) for kind in _ordered(kinds)]
        self.recoveries: list[Recovery] = made

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> None:
        """Reset the environment and play; a plan that cannot go on stops there.

        Raises:
            TypeError: it is no environment of this suite.
        """
        observation, _ = env.reset(seed=seed, options=options)
        tools = env.get_wrapper_attr("tools")

        def step(action: Action) -> Observation:
            seen, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                raise _Over
            return dict(seen)

        for recovery in self.recoveries:
            recovery.begin(observation, tools)
        try:
            self._play(step)
        except Instead as instead:
            _end(step, instead.action)
        except (_Over, GoldError):
            return

    def _play(self, step: Act) -> None:
        acts = list(self._layers(step))
        for number, recovery in enumerate(self.recoveries):
            recovery.opening(acts[number + 1])
        results: dict[str, Any] = {}
        actions = self.own or self.scenario.gold[self.plan].actions
        bound = {label for action in actions for label in _labels(action.arguments)}
        for number, action in enumerate(actions):
            arguments = resolve(action.arguments, results, self.plan, number)
            seen = self._through(0, {"name": action.name, "arguments": arguments}, step, action.label in bound)
            if action.label:
                results[action.label] = observed(seen["content"])

    def _layers(self, step: Act) -> Iterator[Act]:
        for number in range(len(self.recoveries) + 1):
            yield lambda action, number=number: self._through(number, action, step, False)

    def _through(self, number: int, action: Action, step: Act, bound: bool) -> Observation:
        if number == len(self.recoveries):
            return step(action)
        return self.recoveries[number].act(
            action, lambda inner: self._through(number + 1, inner, step, bound), bound
        )


def _end(step: Act, action: Action) -> None:
    try:
        step(action)
    except _Over:
        return


def _ordered(kinds: Sequence[str]) -> list[str]:
    """One policy each, outermost first; both outages have one."""
    one = {"outage-after-commit": "outage-before-commit", "shutdown": "dynamic-state"}
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
        kinds: kinds to recover from; none plays the plan as it is, its bindings taken from results as they come.
        seed: of the episode.

    Raises:
        TypeError: it is no environment of this suite.
    """
    base = env.unwrapped
    if not isinstance(base, ToolEnv):
        raise TypeError(f"expected an environment of agentgym, got {type(base).__name__}")
    Recovered(scenario, plan, kinds, table_of(base.domain)).run(env, seed=seed, options={"scenario": scenario})
    return base

