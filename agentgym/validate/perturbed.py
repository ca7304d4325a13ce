"""V09, V10, V14, V24P, V43P, V45: gold under perturbations, and what perturbations may not do.

A *pair* is a curated scenario and a kind. Which pairs a kind does not bite, and which leave no way to the goal, is
declared in the domain's ``perturbations.yaml`` and compared with what running shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from agentgym.env import ToolEnv
from agentgym.hooks import Hook
from agentgym.noise import keeps
from agentgym.perturbations import Table, table_of
from agentgym.recovered import Recovered, play_gold
from agentgym.runner_agents import make_agent
from agentgym.scenario import Scenario
from agentgym.turns import turns_of
from agentgym.validate.moves import current, go_on, own_reads
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject
from agentgym.wrappers.catalogue import COMPOSITIONS, KINDS, perturb
from agentgym.wrappers.wordings import names

SEEDS = 20
_MOST_SEEDS = 100
"""So many seeds are tried for one that bites."""

ACTS = (
    "outage-before-commit",
    "outage-after-commit",
    "schema-drift",
    "dynamic-state",
    "interruption",
    "interruption-change",
)
SEEN = ("format-shift", "pollution")
NOISE = ("noise-wording", "noise-structure", "noise-knowledge")
LASTING = ("shutdown",)
"""Kinds that never leave a way to the goal, only to the end that they declare."""
_NEEDS = {
    "pollution": "facts",
    "dynamic-state": "dynamic_state",
    "shutdown": "shutdown",
    "injection": "attacks",
    "interruption-change": "turns",
}


def kinds_of(table: Table) -> list[str]:
    """The kinds that a domain supports."""
    return [kind for kind in KINDS if kind not in _NEEDS or _has(table, kind)]


def _has(table: Table, kind: str) -> bool:
    return bool(table.attacks.goals) if kind == "injection" else bool(getattr(table, _NEEDS[kind]))


def _success(env: gym.Env[Any, Any], scenario: Scenario, kinds: list[str], seed: int) -> bool:
    base = play_gold(env, scenario, seed % len(scenario.gold), kinds, seed)
    return base.verdict is not None and base.verdict.success


def _told(base: ToolEnv) -> str:
    verdict = base.verdict
    if verdict is None:
        return f"the episode did not end after {len(base.trace)} steps"
    failed = "; ".join(f"{c.name}: expected {c.expected}, found {c.found}" for c in verdict.checks if not c.ok)
    return f"{verdict.end_reason} after {len(base.trace)} steps {verdict.veto_rule} {verdict.error} {failed}"[:300]


# V09


@dataclass(frozen=True)
class Pair:
    """What running shows of a scenario under a kind.

    Attributes:
        kind: the kind.
        scenario: id of the scenario.
        seeds: number of seeds that were played.
        won: of these, with success under the kind's recovery policy.
        bites: the naive gold plan fails on some seed; None for kinds that do not have to.
        lost: how the first one failed that did, or "".
    """

    kind: str
    scenario: str
    seeds: int
    won: int
    bites: bool | None
    lost: str = ""


def concerned(subject: Subject, kind: str) -> list[Scenario]:
    """The curated scenarios that a kind is about: all, but for a change of mind, which is declared for some."""
    if kind != "interruption-change":
        return subject.curated
    table = table_of(subject.domain)
    return [scenario for scenario in subject.curated if turns_of(table, scenario)]


def run_pairs(subject: Subject, kind: str, seeds: int = SEEDS) -> list[Pair]:
    """Play every curated scenario under a kind: gold with the kind's recovery policy, and naive gold."""
    env, found = perturb(subject.make(), kind), []
    for scenario in concerned(subject, kind):
        failed = [seed for seed in range(seeds) if not _success(env, scenario, [kind], seed)]
        lost = ""
        if failed:
            _success(env, scenario, [kind], failed[0])
            lost = f"seed {failed[0]}: {_told(_base(env))}"
        bites = _bites(env, scenario) if kind in ACTS + SEEN + LASTING else None
        found.append(Pair(kind, scenario.id, seeds, seeds - len(failed), bites, lost))
    env.close()
    return found


@check("V09", "gold under stress", nightly=True)
def gold_under_stress(subject: Subject) -> Finding:
    """Gold under the kind's recovery policy succeeds on every survivable pair and seed, and the perturbation bites."""
    table, finding, count, bitten = table_of(subject.domain), Finding(), 0, 0
    kinds = [kind for kind in kinds_of(table) if kind not in (*LASTING, "injection")]
    for kind in kinds:
        for pair in run_pairs(subject, kind):
            count, bitten = count + 1, bitten + bool(pair.bites)
            finding.failures += _compared(table, pair)
        if kind in ("jitter", *NOISE):
            env = perturb(subject.make(), kind)
            finding.failures += _slower(subject, env) if kind == "jitter" else _misread(subject, env, kind)
            env.close()
    finding.figure = f"{count} pairs × {SEEDS} seeds, {bitten} bite"
    return finding


def _compared(table: Table, pair: Pair) -> Iterator[str]:
    """Where what is declared of a pair and what running shows differ."""
    name = f"{pair.kind} × {pair.scenario}"
    survivable = pair.scenario not in table.unsurvivable.get(pair.kind, {})
    if survivable and pair.won < pair.seeds:
        yield f"{name}: {pair.won} of {pair.seeds} seeds; {pair.lost}"
    if not survivable and pair.won == pair.seeds:
        yield f"{name}: declared not survivable, and its recovery policy survives it"
    if pair.bites is not None and pair.bites == (pair.scenario in table.unbitten.get(pair.kind, {})):
        yield f"{name}: {'declared unbitten, and bites' if pair.bites else f'bites on none of {_MOST_SEEDS} seeds'}"


def _base(env: gym.Env[Any, Any]) -> ToolEnv:
    base = env.unwrapped
    if not isinstance(base, ToolEnv):
        raise TypeError(f"expected an environment of agentgym, got {type(base).__name__}")
    return base


def _bites(env: gym.Env[Any, Any], scenario: Scenario) -> bool:
    """The naive gold plan, which takes its bindings from results as they come, fails on some seed."""
    return any(not _success(env, scenario, [], seed) for seed in range(_MOST_SEEDS))


def _slower(subject: Subject, env: gym.Env[Any, Any]) -> Iterator[str]:
    bare = subject.make()
    for scenario in subject.curated:
        play_gold(bare, scenario)
        play_gold(env, scenario)
        if current(env).sim_time <= current(bare).sim_time:
            yield f"jitter × {scenario.id}: the simulated time is not more than without"
    bare.close()


def _misread(subject: Subject, env: gym.Env[Any, Any], kind: str) -> Iterator[str]:
    """The keyword reader understands every opening as it is, and at least one not that is noisy."""
    reader: Any = make_agent("keyword-reader")
    reader.scenarios = subject.curated
    bare, failed = subject.make(), 0
    for scenario in subject.curated:
        options = {"scenario": scenario}
        reader.run(bare, seed=0, options=options)
        if bare.verdict is None or not bare.verdict.success:
            yield f"{kind} × {scenario.id}: the keyword reader fails without noise"
        for seed in range(SEEDS):
            reader.run(env, seed=seed, options=options)
            verdict = _base(env).verdict
            failed += verdict is None or not verdict.success
    bare.close()
    if not failed:
        yield f"{kind}: the keyword reader fails on no seed"


# V10


@check("V10", "not survivable")
def not_survivable(subject: Subject) -> Finding:
    """Where the goal cannot be reached the declared end can: its plan and the policy succeed, the naive plan fails."""
    table, finding, pairs = table_of(subject.domain), Finding(), 0
    seeds = range(SEEDS if subject.full else 3)
    for kind in [kind for kind in LASTING if kind in kinds_of(table)]:
        env = perturb(subject.make(), kind)
        for scenario in subject.curated:
            pairs += 1
            for seed in seeds:
                if not _success(env, scenario, [kind], seed):
                    finding.failures.append(f"{kind} × {scenario.id}, seed {seed}: {_told(_base(env))}")
                if _success(env, scenario, [], seed):
                    finding.failures.append(f"{kind} × {scenario.id}, seed {seed}: the plan that ignores it succeeds")
            env.reset(seed=0, options={"scenario": scenario})
            for plan in _base(env).scenario.gold:
                env.reset(seed=0, options={"scenario": scenario})
                # The first action is the scenario's own, without bindings; the second ends.
                actions = [{"name": action.name, "arguments": dict(action.arguments)} for action in plan.actions]
                if not go_on(env, actions).success:
                    finding.failures.append(f"{kind} × {scenario.id}: its declared plan fails: {_told(_base(env))}")
        env.close()
    declared = sum(len(found) for found in table.unsurvivable.values())
    finding.figure = f"{pairs} pairs with an end of their own, {declared} declared besides"
    return finding


# V14


@check("V14P", "noise keeps the meaning")
def noise_keeps_meaning(subject: Subject) -> Finding:
    """Wording and structure noise touch no protected span, gold ends in the same state; with any noise it succeeds."""
    finding, variants = Finding(), 0
    bare = subject.make()
    goals = {}
    for scenario in subject.scenarios:
        play_gold(bare, scenario)
        goals[scenario.id] = current(bare).judge.net.get_state()
    bare.close()
    for kind in NOISE:
        for intensity in (1, 2, 4):
            env = perturb(subject.make(), f"{kind},intensity={intensity}")
            for scenario in subject.scenarios if intensity == 2 else subject.curated:
                variants += 1
                base = play_gold(env, scenario, 0, [kind], intensity)
                if base.verdict is None or not base.verdict.success:
                    finding.failures.append(f"{kind},intensity={intensity} × {scenario.id}: {_told(base)}")
                opening = base.scenario.user.opening
                if kind == NOISE[2]:
                    continue
                if not keeps(scenario.user.opening, opening):
                    finding.failures.append(f"{kind} × {scenario.id}: a protected span was touched: {opening[:200]}")
                if current(base).judge.net.get_state() != goals[scenario.id]:
                    finding.failures.append(f"{kind} × {scenario.id}: gold leads to another state")
            env.close()
    finding.figure = f"{variants} variants"
    return finding


# V24


@check("V24P", "perturbations innocent")
def innocent(subject: Subject) -> Finding:
    """No perturbation or composition brings a veto upon recovered gold, or upon reading what is the caller's own."""
    table, finding, runs = table_of(subject.domain), Finding(), 0
    wanted = kinds_of(table)
    specs = {**{kind: [kind] for kind in wanted}, **{n: _parts(s) for n, s in COMPOSITIONS.items()}}
    specs = {name: kinds for name, kinds in specs.items() if all(kind in wanted for kind in kinds)}
    reads = {s.id: own_reads(subject.env, s, 12)[0] for s in subject.curated}
    for name, kinds in specs.items():
        env = perturb(subject.make(), name)
        for number, scenario in enumerate(subject.curated):
            for seed in range(number, number + (5 if subject.full else 1)):
                runs += 1
                base = play_gold(env, scenario, seed % len(scenario.gold), kinds, seed)
                if base.verdict is not None and base.verdict.veto:
                    finding.failures.append(f"{name} × {scenario.id}, seed {seed}: {base.verdict.veto_rule}")
                env.reset(seed=seed, options={"scenario": scenario})
                tail = go_on(env, reads[scenario.id])
                if any(info["veto"] for info in tail.infos):
                    finding.failures.append(f"{name} × {scenario.id}, seed {seed}: a veto for reading")
        env.close()
    finding.figure = f"{runs} runs under {len(specs)} kinds and compositions"
    return finding


def _parts(spec: str) -> list[str]:
    return [part.partition(":")[0].partition(",")[0] for part in spec.split("+")]


# V43


@check("V43P", "fork under perturbations")
def forks(subject: Subject) -> Finding:
    """Under each kind, and under all at once, a saved or forked episode goes on to the same bytes."""
    from agentgym.forking import fork
    from agentgym.validate.replay import go, last, start

    table, finding, points = table_of(subject.domain), Finding(), 0
    kinds = kinds_of(table)
    specs = [*kinds, "+".join(kind for kind in kinds if kind not in LASTING)]
    for number, spec in enumerate(specs):
        env, other = perturb(subject.make(), spec), perturb(subject.make(), spec)
        chosen = subject.curated[number :: len(specs)][: None if subject.full else 2]
        for scenario in chosen:
            actions = _recorded(env, scenario)
            straight = [start(env, scenario, 11), *go(env, actions), last(env)]
            rows = [start(env, scenario, 11)]
            for at, action in enumerate(actions):
                if at % 2 != number % 2:
                    rows += go(env, [action])
                    continue
                points += 1
                twin = fork(env)
                state = _base(env).save_state()
                start(other, scenario, 99)
                _base(other).restore_state(state)
                for way, copy in (("forked", twin), ("restored", other)):
                    if [*go(copy, actions[at:]), last(copy)] != straight[at + 1 :]:
                        finding.failures.append(f"{spec} × {scenario.id}, {way} before step {at + 1}: other bytes")
                twin.close()
                rows += go(env, [action])
            if [*rows, last(env)] != straight:
                finding.failures.append(f"{spec} × {scenario.id}: being copied and saved changes what follows")
        env.close()
        other.close()
    finding.figure = f"{points} steps under {len(specs)} wrappers and stacks"
    return finding


def _recorded(env: gym.Env[Any, Any], scenario: Scenario) -> list[dict[str, Any]]:
    """What the verifying agent sends under the wrappers."""
    sent: list[dict[str, Any]] = []

    class Noted(gym.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            sent.append(action)
            return self.env.step(action)

    kinds = [kind for kind in KINDS if kind not in LASTING]
    Recovered(0, [kind for kind in kinds if kind not in ("jitter", "injection", *NOISE[:2])]).run(
        Noted(env), seed=11, options={"scenario": scenario}
    )
    return sent


# V45


@check("V45", "attacks")
def attacks(subject: Subject) -> Finding:
    """Gold reads every injected text and does not obey; obeying reaches the goal and is vetoed or counted."""
    table, finding, shown = table_of(subject.domain), Finding(), 0
    obedient = make_agent("obedient")
    for attack in names():
        env = perturb(subject.make(), f"injection,attack={attack}")
        for number, scenario in enumerate(subject.curated):
            if not table.attacks.goals and not scenario.attacks:
                continue
            shown += 1
            base = play_gold(env, scenario, number % len(scenario.gold), [], number)
            exposed, succeeded = _attacked(base)
            good = base.verdict is not None and base.verdict.success
            if not exposed or succeeded or not good:
                finding.failures.append(
                    f"{attack} × {scenario.id}: gold: exposed {exposed}, attack succeeded {succeeded}, success {good}"
                )
            obedient.run(env, seed=number, options={"scenario": scenario})
            exposed, succeeded = _attacked(base)
            counted = base.verdict is not None and (base.verdict.veto or not base.verdict.success)
            if not (exposed and succeeded and counted):
                finding.failures.append(
                    f"{attack} × {scenario.id}: obeying: exposed {exposed}, attack succeeded {succeeded}, "
                    f"vetoed or failed {counted}"
                )
        env.close()
    finding.figure = f"{shown} injected texts, {len(names())} wordings"
    return finding


def _attacked(base: ToolEnv) -> tuple[bool, bool]:
    hooks: list[Hook] = current(base).hooks
    return any(hook.exposed for hook in hooks), any(hook.succeeded for hook in hooks)
