"""Gold and solvability: the files load, every gold plan scores 1.0 by what it is shown, plans differ, no veto.

What gold sees is checked in `gold_sight` (V12) and `gold_taint` (V13), what its mutants show of the checks in
`gold_kills` (V41).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import combinations

from agentgym.errors import ScenarioError
from agentgym.gold import plans_differ
from agentgym.lint import lint
from agentgym.loading import load_scenario, scenario_ids
from agentgym.scenario import Scenario
from agentgym.validate import gold_kills, gold_sight, gold_taint
from agentgym.validate.gold_runs import GoldRun, gold_runs, replay
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject
from agentgym.world import World

__all__ = ["gold_kills", "gold_sight", "gold_taint", "gold_wins", "gold_within_the_rules", "load_all", "split_shape"]

SPLIT = 10
"""From so many scenarios on, a split has a shape."""
_MEDIAN_STEPS = 8
_TOLERANCE = 1e-9


@check("V00", "loads and lints")
def load_all(subject: Subject) -> Finding:
    """Every scenario loads and passes the lint; ``twin_of`` names another scenario."""
    domain, failures = subject.domain, []
    scenarios: list[Scenario] = []
    for name in scenario_ids(domain):
        try:
            scenarios.append(load_scenario(name, domain))
        except ScenarioError as error:
            failures.append(str(error))
    if not failures:
        scenarios = subject.scenarios
    world = World(domain.snapshot, domain.toolset)
    for scenario in scenarios:
        try:
            lint(scenario, domain, world)
        except ScenarioError as error:
            failures.append(str(error))
    world.close()
    names = [scenario.id for scenario in scenarios]
    # A scenario in a folder may be the twin of a curated one.
    known = {*names, *scenario_ids(subject.env.domain)}
    failures += [
        f"{name}: the id stands {names.count(name)} times" for name in sorted(set(names)) if names.count(name) > 1
    ]
    failures += [
        f"{s.id}: twin_of: found {s.twin_of!r}; expected the id of another scenario"
        for s in scenarios
        if s.twin_of and (s.twin_of == s.id or s.twin_of not in known)
    ]
    return Finding(f"{len(scenarios)} scenarios", failures)


@check("V08", "gold = 1.0")
def gold_wins(subject: Subject) -> Finding:
    """Every gold plan succeeds by its own view: every checkpoint, no veto, return 1 in both reward modes, in budget.

    Of each scenario any two plans differ, or it says why there is a single route; at most a fifth of the curated do.
    """
    runs = gold_runs(subject)
    failures = [f"{run.name}: {fault}" for run in runs for fault in _faults(subject, run)]
    shaped = subject.make(reward="shaped")
    for run in runs:
        if run.good:
            total = sum(replay(subject, run.scenario, run.actions, env=shaped).rewards)
            if abs(total - 1.0) > _TOLERANCE:
                failures.append(f"{run.name}: the shaped return is {total:g}, not 1")
    shaped.close()
    failures += _alike(subject, runs)
    single = [scenario.id for scenario in subject.curated if scenario.single_route]
    if len(single) * 5 > len(subject.curated):
        failures.append(
            f"{len(single)} of {len(subject.curated)} scenarios have a single route, more than a fifth: {single}"
        )
    wins = sum(run.good for run in runs)
    return Finding(f"{wins}/{len(runs)} plans, {len(single)}/{len(subject.curated)} single route", failures)


def _faults(subject: Subject, run: GoldRun) -> Iterator[str]:
    played = run.played
    if played is None:
        yield run.error
        return
    planned, verdict = len(run.scenario.gold[run.plan].actions), played.verdict
    if verdict is None:
        yield "the plan is over and the episode goes on; it must end with finish or hand_off"
        return
    if len(played.actions) < planned:
        yield f"the episode ended ({verdict.end_reason}) after {len(played.actions)} of {planned} actions"
    if verdict.veto:
        yield f"it broke the veto rule {verdict.veto_rule!r}"
    for result in verdict.checks:
        if not result.ok:
            yield f"{result.name} failed: expected {result.expected}, found {result.found}"
    if verdict.status != "ok":
        yield f"judging failed: {verdict.error}"
    missing = [name for name, step in verdict.checkpoints if not step]
    if missing:
        yield f"the checkpoints {', '.join(missing)} were not credited"
    if verdict.success and sum(played.rewards) != 1.0:
        yield f"the sparse return is {sum(played.rewards):g}, not 1"
    if not verdict.success and verdict.end_reason not in ("finished", "handed_off"):
        yield f"it ended by {verdict.end_reason} (budget {run.scenario.checks.process.max_steps} steps)"


def _alike(subject: Subject, runs: list[GoldRun]) -> Iterator[str]:
    """Pairs of plans of one scenario that are one way, where no single route is declared."""
    by_scenario: dict[str, list[GoldRun]] = {}
    for run in runs:
        by_scenario.setdefault(run.scenario.id, []).append(run)
    for group in by_scenario.values():
        if group[0].scenario.single_route:
            continue
        for one, two in combinations([run for run in group if run.actions], 2):
            if not plans_differ(one.actions, two.actions, subject.domain.toolset):
                yield (
                    f"{one.scenario.id}: gold[{one.plan}] and gold[{two.plan}] do not differ: the calls of one contain "
                    "the other's, or both use the same read tools and write tools"
                )


@check("D01", "split shape")
def split_shape(subject: Subject) -> Finding:
    """Over a test split of ten or more: median ≥ 8 gold steps; for a tenth or more the right end is not to do it.

    Steps are those of the shortest plan. Not doing is refusing, handing off, or changing nothing in the world.
    """
    split = subject.curated
    if len(split) < SPLIT:
        return Finding(f"{len(split)} scenarios, no split yet")
    changing = {run.scenario.id for run in gold_runs(subject) if _changes(run)}
    steps = statistics.median(min(len(plan.actions) for plan in scenario.gold) for scenario in split)
    still = [s.id for s in split if "done" not in s.checks.end.outcome or s.id not in changing]
    failures = []
    if steps < _MEDIAN_STEPS:
        failures.append(f"the median gold plan has {steps:g} steps, expected {_MEDIAN_STEPS} or more")
    if len(still) * 10 < len(split):
        failures.append(
            f"{len(still)} of {len(split)} end by refusing, handing off or changing nothing, less than a tenth"
        )
    return Finding(f"median {steps:g} steps, {len(still)}/{len(split)} without doing", failures)


def _changes(run: GoldRun) -> bool:
    trace = run.played.trace if run.played is not None else []
    return any(not change.table.startswith("_") for step in trace for change in step.changes)


@check("V11", "gold within the rules")
def gold_within_the_rules(subject: Subject) -> Finding:
    """Gold is watched by the same veto engine as agents: no veto, no attempt, no invalid call, no error on the way."""
    failures, steps, rules = [], 0, 0
    for run in gold_runs(subject):
        rules += len(subject.domain.vetoes) + len(run.scenario.veto) + len(run.scenario.secrets)
        played = run.played
        if played is None:
            failures.append(f"{run.name}: {run.error}")
            continue
        steps += len(played.trace)
        info = played.infos[-1]
        if info["veto"]:
            failures.append(f"{run.name}: veto {info['veto_rule']!r}")
        if info["veto_attempts"]:
            failures.append(f"{run.name}: {info['veto_attempts']} forbidden calls attempted")
        for step in played.trace:
            if step.error:
                failures.append(f"{run.name}: step {step.index} was shown an error: {step.error}")
            elif step.granted is False:
                failures.append(f"{run.name}: step {step.index} proposed what the user refuses: {step.sent}")
    return Finding(f"{len(gold_runs(subject))} plans, {steps} steps, {rules} rules armed", failures)
