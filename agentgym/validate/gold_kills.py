"""V41: no check is vacuous. Each is false at the start and fails for at least one mutant of gold."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym.env import ToolEnv
from agentgym.scenario import Scenario
from agentgym.validate.gold_known import Neighbourhood
from agentgym.validate.gold_mutants import Mutant, Mutants
from agentgym.validate.gold_runs import GoldRun, gold_runs, replay
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject
from agentgym.verdict import Verdict
from agentgym.world import World

_AMPLE = 1000
"""Steps that a mutant has, so that a longer one is not cut: what is asked is which check sees it."""


@check("V41", "no vacuous check")
def no_vacuous_check(subject: Subject) -> Finding:
    """Each outcome check is false at the start; each check fails for a mutant of gold; each write of gold is missed.

    At the start means: an episode that ends at once as it should, with nothing done. There, ``final_state`` (but for
    ``holds: always``), ``answer``, ``said`` and ``text`` with a ``must``, ``required`` and ``deadline`` must all fail.
    The mutants are gold's resolved calls with one dropped, doubled, changed, said otherwise, ended otherwise, or with
    writes on what lies around, replayed with every veto only flagged and an ample budget; only one that comes to its
    own end counts. Dropping any one call by which gold changes the world must cost success. That no check names a key
    which does not exist yet is seen by the lint (V00).

    Mutants are played until each check was killed, for curated scenarios and for generated ones of families not seen
    yet. With the nightly set all those of curated scenarios are played, and the figure counts the checks that are the
    only one to fail for some mutant.
    """
    env = subject.make(on_veto="flag")
    world = World(subject.domain.snapshot, subject.domain.toolset)
    failures: list[str] = []
    checks = killed = alone = episodes = 0
    runs: dict[str, list[GoldRun]] = {}
    for run in gold_runs(subject):
        if run.good:
            runs.setdefault(run.scenario.id, []).append(run)
    curated = {scenario.id for scenario in subject.curated}
    hunted: set[str] = set()
    for group in runs.values():
        lab = _Lab(subject, env, group[0].scenario)
        failures += lab.holding_at_start()
        around = Neighbourhood(world, group[0].scenario)
        makers = [Mutants(subject.domain, run, around) for run in group]
        for run, maker in zip(group, makers, strict=True):
            failures += [f"{run.name}: {mutant.what} still succeeds" for mutant in lab.unnoticed(maker)]
        names = [result.name for result in _verdict(group[0]).checks]
        if lab.scenario.id not in curated and lab.scenario.family in hunted:
            continue
        hunted.add(lab.scenario.family)
        lab.hunt(set(names), makers, subject.full and lab.scenario.id in curated)
        failures += [
            f"{lab.scenario.id}: {name} fails for no mutant of gold" for name in names if name not in lab.killed
        ]
        checks, killed = checks + len(names), killed + len(lab.killed & set(names))
        alone, episodes = alone + len(lab.alone), episodes + lab.episodes
    env.close()
    world.close()
    by_itself = f", {alone} alone" if subject.full else ""
    return Finding(f"{killed}/{checks} checks killed{by_itself}, {episodes} mutants", failures)


def _verdict(run: GoldRun) -> Verdict:
    if run.played is None or run.played.verdict is None:
        raise ValueError(f"{run.name} has no verdict; only a good run is mutated")
    return run.played.verdict


class _Lab:
    """Plays the mutants of one scenario and keeps what they killed."""

    def __init__(self, subject: Subject, env: ToolEnv, scenario: Scenario) -> None:
        process = scenario.checks.process.model_copy(update={"max_steps": _AMPLE})
        roomy = scenario.checks.model_copy(update={"process": process})
        self.scenario = scenario.model_copy(update={"checks": roomy})
        self._subject, self._env = subject, env
        self.killed: set[str] = set()
        self.alone: set[str] = set()
        self.episodes = 0

    def _play(self, mutant: Mutant, counts: bool = True) -> Verdict | None:
        verdict = replay(self._subject, self.scenario, mutant.actions, env=self._env).verdict
        if verdict is None or verdict.status != "ok" or verdict.end_reason not in ("finished", "handed_off"):
            return None
        if not counts:
            return verdict
        self.episodes += 1
        failed = {result.name for result in verdict.checks if not result.ok}
        self.killed |= failed
        self.alone |= failed if len(failed) == 1 else set()
        return verdict

    def holding_at_start(self) -> Iterator[str]:
        """Outcome checks that hold although nothing was done."""
        checks = self.scenario.checks
        end = checks.end
        if end.outcome:
            action = {"name": "finish", "arguments": {"outcome": end.outcome[0]}}
        else:
            action = {"name": "hand_off", "arguments": {"reason": end.hand_off[0], "summary": "."}}
        verdict = self._play(Mutant("nothing", [action]), counts=False)
        gates = {f"final_state[{i}]" for i, entry in enumerate(checks.final_state) if entry.holds is None}
        gates |= {f"said[{i}]" for i, entry in enumerate(checks.said) if entry.must}
        gates |= {f"text[{i}]" for i, entry in enumerate(checks.text) if entry.must}
        gates |= {f"required[{i}]" for i in range(len(checks.process.required))}
        gates |= {f"deadline[{i}]" for i in range(len(checks.process.deadline))} | {"answer"}
        gates |= {f"answer_state[{name}]" for name in checks.answer_state}
        gates |= {f"chain[{fact.name}]" for fact in checks.chain.facts} if checks.chain is not None else set()
        for result in verdict.checks if verdict is not None else ():
            if result.name in gates and result.ok:
                yield f"{self.scenario.id}: {result.name} already holds at the start: {result.found}"

    def unnoticed(self, maker: Mutants) -> Iterator[Mutant]:
        """Gold without one of its effects, where that costs nothing."""
        for index in maker.writes:
            mutant = maker.without(index)
            verdict = self._play(mutant)
            if verdict is not None and verdict.success:
                yield mutant

    def hunt(self, names: set[str], makers: list[Mutants], whole: bool) -> None:
        """Play mutants until each check was killed or there are no more; the *whole* lot of them if so wished."""
        for maker in makers:
            for kinds, group in maker.groups():
                for mutant in group if whole or _wanted(names - self.killed, kinds) else ():
                    self._play(mutant)
                    if not whole and not _wanted(names - self.killed, kinds):
                        break


def _wanted(names: set[str], kinds: frozenset[str]) -> bool:
    """Whether any of these checks is one that mutants for *kinds* are meant for."""
    return any(name in kinds or name.partition("[")[0] in kinds for name in names)
