"""V15: what is nearly gold is no success, whether in the world that it leaves or in the calls that it makes."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from agentgym.changes import Change
from agentgym.net import NetChange, NetChanges
from agentgym.scenario import Scenario, roomy
from agentgym.text import dumps
from agentgym.tools import Tool
from agentgym.validate.gold_known import Neighbourhood
from agentgym.validate.gold_mutants import Action, Mutant, Mutants
from agentgym.validate.gold_runs import GoldRun, gold_runs
from agentgym.validate.moves import begin, current, go_on, seen_in, stray_writes
from agentgym.validate.near_misses import NearMiss, NearMisses
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Played, Subject
from agentgym.world import World

LEAST = 30
"""So many near misses of its end state each curated scenario has."""

SAMPLE = 6
"""So many mutants of each generated scenario are played."""

_STRAYS = 8
"""So many calls of a tool are tried for one that takes effect on a row that gold never met."""

Effect = list[tuple[str, str, str]]
"""What an episode changed in the end, sorted: (table, key, the row)."""

_NEW = "new "
"""Stands before the key of a row that was not there before."""


@dataclass
class Tally:
    """The mutants of one scenario: how many were played, which survived, and how many of those are equal to gold.

    Attributes:
        scenario: its id.
        near: near misses of the end state.
        actions: mutants of the list of actions.
        killed: mutants that score 0.
        equivalents: why a survivor is as good as gold → how many are.
        survivors: the others, in words.
    """

    scenario: str
    near: int = 0
    actions: int = 0
    killed: int = 0
    equivalents: Counter[str] = field(default_factory=Counter)
    survivors: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Mutants that are not equal to gold."""
        return self.near + self.actions - self.equivalents.total()


@check("V15", "mutation", nightly=True)
def mutation(subject: Subject) -> Finding:
    """Nothing near gold succeeds: one thing in gold's end state another, or one call of gold's another.

    All mutants of the curated scenarios are played, at least `LEAST` near misses of the end state for each; of each
    generated one a sample of `SAMPLE`, of another kind each time. A mutant that succeeds is a failure, unless it is
    equal to gold by a rule: it changes what gold changes and says the same (the call failed, or repeated what was
    done); it sets a value that the checks list beside gold's; or it words a free text otherwise.
    """
    tallies = list(tallied(subject))
    finding = Finding()
    curated = {scenario.id for scenario in subject.curated}
    for tally in tallies:
        finding.failures += [f"{tally.scenario}: {what} still succeeds" for what in tally.survivors]
        if tally.scenario in curated and tally.near < LEAST:
            finding.failures.append(f"{tally.scenario}: only {tally.near} near misses, expected {LEAST} or more")
    finding.figure = _figure(tallies, curated)
    return finding


def _figure(tallies: list[Tally], curated: set[str]) -> str:
    killed, total = sum(tally.killed for tally in tallies), sum(tally.total for tally in tallies)
    equal: Counter[str] = Counter()
    for tally in tallies:
        equal += tally.equivalents
    rate = f"{100 * killed / total:.2f} %" if total else "nothing"
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(equal.items()))
    sampled = sum(tally.scenario not in curated for tally in tallies)
    of_generated = f"; {SAMPLE} for each of {sampled} generated" if sampled else ""
    return f"{killed}/{total} killed ({rate}), {equal.total()} equal to gold ({reasons or 'none'}){of_generated}"


def tallied(subject: Subject) -> Iterator[Tally]:
    """Play the mutants of each scenario with a gold plan that succeeds."""
    world = World(subject.domain.snapshot, subject.domain.toolset)
    curated = {scenario.id for scenario in subject.curated}
    runs: dict[str, list[GoldRun]] = {}
    for run in gold_runs(subject):
        if run.good:
            runs.setdefault(run.scenario.id, []).append(run)
    try:
        for number, group in enumerate(runs.values()):
            lab = _Lab(subject, world, group[0].scenario)
            if lab.tally.scenario in curated:
                for run in group:
                    lab.play(run, lab.everything(run))
            else:
                run = group[number % len(group)]
                lab.play(run, lab.sample(run, number), SAMPLE)
            yield lab.tally
    finally:
        world.close()


class _Candidate(NamedTuple):
    """A mutant to play: a near miss of the end state, or other actions."""

    kind: str
    near: NearMiss | None
    mutant: Mutant | None

    @property
    def key(self) -> str:
        """Equal for equal mutants of one run."""
        return dumps([self.near.patch if self.near else None, self.mutant.actions if self.mutant else None])


class _Outcome(NamedTuple):
    """Whether an episode succeeded, and what it left behind and said: the net changes and the ending call."""

    success: bool
    effect: Effect
    end: str


class _Lab:
    """Plays the mutants of one scenario."""

    def __init__(self, subject: Subject, world: World, scenario: Scenario) -> None:
        self.tally = Tally(scenario.id)
        self._subject, self._env, self._world = subject, subject.env, world
        self._scenario = roomy(scenario)
        self._around: Neighbourhood | None = None
        self._states: list[Effect] = []
        self._alternatives = list(_alternatives(scenario))

    def everything(self, run: GoldRun) -> Iterator[_Candidate]:
        """All mutants of a gold run; of its end state only where no other run of the scenario left the same."""
        effect = _unborn(self._end_state(run))
        if effect not in self._states:
            self._states.append(effect)
            near = self._near(run)
            # Listed first: the world is another once one of them is played.
            close = [*near.changed(), *near.read()]
            close += itertools.islice(near.around(), max(0, 2 * LEAST - len(close)))
            yield from (_Candidate(f"near {miss.kind}", miss, None) for miss in close)
        yield from [_Candidate(kind, None, mutant) for kind, mutants in self._actions(run) for mutant in mutants]

    def sample(self, run: GoldRun, number: int) -> Iterator[_Candidate]:
        """A few mutants of a gold run, each of another kind, other ones for another *number*."""
        by_kind: dict[str, Iterable[_Candidate]] = {}
        close: dict[str, list[_Candidate]] = {}
        self._end_state(run)
        near = self._near(run)
        for miss in [*near.changed(), *near.read()]:
            close.setdefault(f"near {miss.kind}", []).append(_Candidate(f"near {miss.kind}", miss, None))
        by_kind.update(close)
        for kind, mutants in self._actions(run, turn=number):
            # Made only when the turn comes to them.
            by_kind[kind] = (_Candidate(kind, None, mutant) for mutant in mutants)
        kinds = sorted(by_kind)
        # More than are wanted: some are no mutant at all, where the world does not allow them.
        for turn in range(2 * SAMPLE):
            place = number * SAMPLE + turn
            kind = kinds[place % len(kinds)]
            by_kind[kind] = options = list(by_kind[kind])
            if options:
                yield options[place // len(kinds) % len(options)]

    def play(self, run: GoldRun, candidates: Iterator[_Candidate], most: int = 0) -> None:
        """Play the mutants, *most* of them unless it is 0, and count them; one that was played is left out."""
        gold = self._replay(_played(run), run.actions)
        done: set[str] = set()
        for candidate in candidates:
            if most and self.tally.total >= most:
                return
            if candidate.key in done:
                continue
            done.add(candidate.key)
            near = candidate.near
            outcome = self._miss(run, near) if near else self._mutate(run, candidate)
            if outcome is None:
                continue
            self.tally.near += near is not None
            self.tally.actions += near is None
            if not outcome.success:
                self.tally.killed += 1
            elif reason := self._equal(candidate, outcome, gold):
                self.tally.equivalents[reason] += 1
            else:
                what = near.what if near else candidate.mutant.what if candidate.mutant else ""
                self.tally.survivors.append(f"gold[{run.plan}], {what}")

    def _equal(self, candidate: _Candidate, outcome: _Outcome, gold: _Outcome) -> str:
        """The rule by which a mutant that succeeds is as good as gold, or "" where there is none."""
        effects = (gold.effect, outcome.effect)
        differing = _differing(*(effects if candidate.near else map(_unborn, effects)))
        if differing is None or outcome.end != gold.end:
            return ""
        if not differing:
            return "without another effect"
        if all(column in self._subject.domain.free_text for column, _, _ in differing):
            return "free text"
        listed = all(any({was, now} <= group for group in self._alternatives) for _, was, now in differing)
        return "a listed alternative" if listed else ""

    def _end_state(self, run: GoldRun) -> Effect:
        """Play gold to just before its end; what it changed."""
        begin(self._env, _played(run), len(run.actions) - 1, scenario=self._scenario)
        return self._effect()

    def _near(self, run: GoldRun) -> NearMisses:
        episode = current(self._env)
        seen = [value for values in seen_in(_played(run)).values() for value in values]
        return NearMisses(self._subject.domain, run.scenario, episode.backend.reading(), self._net(), seen)

    def _miss(self, run: GoldRun, near: NearMiss) -> _Outcome | None:
        """Gold's end state with a patch, then its ending call; None where the world does not allow the patch."""
        begin(self._env, _played(run), len(run.actions) - 1, scenario=self._scenario)
        episode = current(self._env)
        try:
            changes = episode.backend.apply(near.patch, "agent")
        except sqlite3.IntegrityError:
            return None
        if not changes:
            return None
        episode.judge.after_call(changes)
        return self._ended(run.actions[-1:], changes)

    def _mutate(self, run: GoldRun, candidate: _Candidate) -> _Outcome:
        return self._replay(_played(run), candidate.mutant.actions if candidate.mutant else [])

    def _replay(self, played: Played, actions: list[Action]) -> _Outcome:
        begin(self._env, played, 0, scenario=self._scenario)
        return self._ended(actions)

    def _ended(self, actions: list[Action], changes: Iterable[Change] = ()) -> _Outcome:
        tail = go_on(self._env, actions)
        sent = current(self._env).trace[-1].sent
        return _Outcome(tail.success, self._effect(changes), dumps(sent))

    def _net(self, more: Iterable[Change] = ()) -> NetChanges:
        """What the calls and *more* changed, folded here: what the judge saw is what is under test."""
        net = NetChanges()
        for step in current(self._env).trace:
            net.add(step.changes)
        net.add(more)
        return net

    def _effect(self, more: Iterable[Change] = ()) -> Effect:
        volatile = self._subject.domain.volatile
        return sorted(_told(change, volatile) for change in self._net(more))

    def _actions(self, run: GoldRun, turn: int | None = None) -> Iterator[tuple[str, Iterator[Mutant]]]:
        """The mutants of the calls, by kind; stray writes by each tool, or by one whose *turn* it is."""
        if self._around is None:
            self._around = Neighbourhood(self._world, run.scenario)
        maker = Mutants(self._subject.domain, run, self._around)
        yield "dropped", (maker.without(index) for index in maker.writes)
        for kinds, mutants in maker.groups():
            name = _KINDS.get(kinds)
            if name == "changed":
                mutants = _agreed(run.actions, mutants)
            if name:
                yield name, mutants
        tools = [tool for tool in self._subject.domain.tools if tool.writes]
        yield "stray", self._strays(run, tools if turn is None else [tools[turn % len(tools)]] if tools else [])

    def _strays(self, run: GoldRun, tools: list[Tool]) -> Iterator[Mutant]:
        """Gold and one write by each of these tools on rows that it never met, where one takes effect."""
        played = _played(run)
        for turn, tool in enumerate(tools):
            self._end_state(run)
            options = list(stray_writes(self._env, seen_in(played), turn, tries=_STRAYS, only=tool.name))
            for action in options:
                if current(self._env).end_reason:
                    self._end_state(run)
                go_on(self._env, [action])
                if any(not change.table.startswith("_") for change in current(self._env).trace[-1].changes):
                    what = f"and {tool.name} {dumps(action['arguments'])[:100]}"
                    yield Mutant(what, [*run.actions[:-1], action, run.actions[-1]])
                    break


_KINDS = {
    frozenset({"answer"}): "answer",
    frozenset({"final_state", "may_change", "text"}): "changed",
    frozenset({"final_state", "may_change", "text", "confirm_before"}): "doubled",
    frozenset({"final_state", "may_change", "text", "forbidden"}): "added",
}
"""The groups of `Mutants` that are played here."""


def _agreed(gold: list[Action], mutants: Iterator[Mutant]) -> Iterator[Mutant]:
    """Each mutant with one argument of a write another, and again with the user asked for that call beforehand."""
    for mutant in mutants:
        yield mutant
        at = next((i for i, pair in enumerate(zip(gold, mutant.actions, strict=False)) if pair[0] != pair[1]), None)
        if at is None or len(mutant.actions) != len(gold):
            continue
        asked = {"tool": gold[at]["name"], "arguments": gold[at]["arguments"]}
        now = {"tool": gold[at]["name"], "arguments": mutant.actions[at]["arguments"]}
        actions = [
            {**action, "arguments": now}
            if n < at and action["name"] == "confirm_with_user" and action["arguments"] == asked
            else action
            for n, action in enumerate(mutant.actions)
        ]
        if actions != mutant.actions:
            yield Mutant(f"{mutant.what}, agreed", actions)


def _played(run: GoldRun) -> Played:
    if run.played is None:
        raise ValueError(f"{run.name} was not played; only a good run is mutated")
    return run.played


def _told(change: NetChange, volatile: frozenset[str]) -> tuple[str, str, str]:
    """The table, the key and the new row of a net change, as texts; without columns that change by themselves."""
    row = {c: dumps(v) for c, v in (change.now or {}).items() if f"{change.table}.{c}" not in volatile}
    return change.table, (_NEW if change.base is None else "") + dumps(list(change.key)), dumps(row)


def _unborn(effect: Effect) -> Effect:
    """An effect without the keys of new rows and the moments in them, which another run gives otherwise."""
    found: Effect = []
    for table, key, row in effect:
        if key.startswith(_NEW):
            born = {dumps(value) for value in json.loads(key.removeprefix(_NEW))}
            kept = {c: v for c, v in json.loads(row).items() if v not in born and not c.endswith("_at")}
            found.append((table, _NEW, dumps(kept)))
        else:
            found.append((table, key, row))
    return sorted(found)


def _differing(gold: Effect, found: Effect) -> list[tuple[str, str, str]] | None:
    """The columns in which two effects differ, as (column, value of gold, value found); None if rows have no pair."""
    lacking, spare = (
        list((Counter(gold) - Counter(found)).elements()),
        list((Counter(found) - Counter(gold)).elements()),
    )
    if [row[:2] for row in lacking] != [row[:2] for row in spare]:
        return None
    differing: list[tuple[str, str, str]] = []
    for (table, _, was), (_, _, now) in zip(lacking, spare, strict=True):
        old, new = json.loads(was), json.loads(now)
        if old.keys() != new.keys():
            return None
        differing += [(f"{table}.{column}", old[column], new[column]) for column in old if old[column] != new[column]]
    return differing


def _alternatives(scenario: Scenario) -> Iterator[frozenset[str]]:
    """Each list of values of which the checks take any one, as texts."""
    checks = scenario.checks
    for entry in checks.may_change:
        yield from (frozenset(map(dumps, value)) for value in entry.where.values() if isinstance(value, list))
    for state in checks.final_state:
        if state.any_of is not None:
            yield frozenset(map(dumps, state.any_of))
