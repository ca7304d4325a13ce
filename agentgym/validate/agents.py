"""Agents that must fail, by whatever they do without the decision: luck, talk, effort, a memory of other scenarios.

The reference agents are named as on the command line and imported when a check runs; the core depends on none of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from agentgym.agent import Agent
from agentgym.env import ToolEnv
from agentgym.errors import EpisodeError
from agentgym.runner_agents import make_agent
from agentgym.scenario import Scenario, roomy
from agentgym.state import EpisodeState
from agentgym.text import dumps
from agentgym.validate.gold_known import Neighbourhood, calls, seen_values
from agentgym.validate.gold_runs import GoldRun, gold_runs, good_runs
from agentgym.validate.moves import current
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject, scripted
from agentgym.verdict import Verdict
from agentgym.world import World

Action = dict[str, Any]

_SEEDS = 3
_EPISODES = 300
_SHARE = 0.15
_TENTH = 10
_ENDS = ("done", "refused", "impossible")
_TALK = frozenset({"respond", "confirm_with_user"})


@dataclass(frozen=True)
class Outcome:
    """How an adversary fared in one episode."""

    adversary: str
    scenario: Scenario
    verdict: Verdict
    total: float

    def __str__(self) -> str:
        veto = f", veto {self.verdict.veto_rule}" if self.verdict.veto else ""
        return f"{self.adversary} on {self.scenario.id}: {self.verdict.end_reason}, return {self.total:g}{veto}"


@check("V01", "do-nothing")
def do_nothing(subject: Subject) -> Finding:
    """Finishing at once with each outcome, or empty messages until the budget ends: success and reward 0 everywhere."""
    specs = [f"do-nothing:outcome={outcome}" for outcome in ("done", "refused", "impossible", "silent")]
    outcomes = [o for s in subject.scenarios for turn, spec in enumerate(specs) for o in _play(subject, spec, s, turn)]
    for scenario in subject.scenarios:
        blank = {"name": "respond", "arguments": {"message": " "}}
        blanks = [blank] * scenario.checks.process.max_steps
        outcomes += _scripted(subject, "blank messages", scenario, blanks)
    return _finding(outcomes, lambda o: o.verdict.success or o.total != 0.0)


@check("V02", "talk-only")
def talk_only(subject: Subject) -> Finding:
    """Claiming that it is done, reciting the policy, listing every id: no success and no reward anywhere.

    What it recites may be a disclosure, so the return may be that of a veto.
    """
    outcomes = [o for s in subject.scenarios for o in _play_ends(subject, "talk-only", s)]
    return _finding(outcomes, lambda o: o.verdict.success or o.total > 0.0)


@check("V03", "random", nightly=True)
def random_calls(subject: Subject) -> Finding:
    """Schema-valid calls at random, half of the episodes with values seen before: ≥ 300 episodes, ≥ 3 seeds each.

    No success; the mean checkpoint share is below 0.15.
    """
    scenarios = subject.scenarios
    rounds = max(_SEEDS, -(-_EPISODES // max(1, len(scenarios))))
    outcomes = [o for seed in range(rounds) for s in scenarios for o in _play(subject, "random", s, seed, seed)]
    share = sum(o.verdict.checkpoint_completion for o in outcomes) / max(1, len(outcomes))
    finding = _finding(outcomes, lambda o: o.verdict.success or o.total > 0.0)
    if share >= _SHARE:
        finding.failures.append(f"the mean checkpoint share is {share:.3f}, expected below {_SHARE}")
    return Finding(f"{finding.figure}, mean checkpoint share {share:.3f}", finding.failures)


@check("V04", "read-only")
def read_only(subject: Subject) -> Finding:
    """Reading alone never succeeds: every read on every id, and exactly gold's reads.

    Gold's reads are tried with each bare ``finish`` and, where gold writes, with gold's own words and end as well.
    """
    outcomes = [o for s in subject.scenarios for o in _play_ends(subject, "read-only", s)]
    for run in gold_runs(subject):
        if run.good:
            outcomes += _gold_reads(subject, run)
    return _finding(outcomes, lambda o: o.verdict.success)


@check("V05", "spammer")
def spammer(subject: Subject) -> Finding:
    """Every write on everything, every answer: no success, and a veto on every scenario whose gold writes.

    There are two: the reference agent, which finds things by itself, and one that is given gold's reads and all the
    rows around them. Where the tools are presented in another form, the first plays in that as well, and no less is
    asked of it there: it reads the documentation and writes through what that describes.
    """
    writing = {run.scenario.id for run in gold_runs(subject) if _writes(run)}
    outcomes = [o for s in subject.scenarios for o in _play_ends(subject, "spammer", s)]
    outcomes += _informed_spam(subject)
    finding = _finding(outcomes, lambda o: o.verdict.success or o.total > 0.0)
    missed = [o for o in outcomes if o.scenario.id in writing and not o.verdict.veto]
    finding.failures += [f"no veto: {outcome}" for outcome in missed]
    vetoed = sum(o.verdict.veto for o in outcomes)
    return Finding(f"{finding.figure}, {vetoed} vetoed", finding.failures)


@check("V06", "constant agents")
def constant_agents(subject: Subject) -> Finding:
    """One decision for all: right on at most a tenth of the scenarios, and never on a whole family.

    The decisions are: every end of a gold plan that could be taken from the policy alone (all texts of its answer stand
    there), told to the user before or not; the reference agents that refuse and hand off (each with every code that a
    scenario knows) and that have things confirmed. Curated and generated scenarios are counted apart; a family of one
    that is passed counts as a whole one.
    """
    failures, best, tried = [], 0.0, 0
    for scenarios in (subject.curated, subject.scenarios[len(subject.curated) :]):
        for name, play in _constants(subject):
            outcomes = [outcome for scenario in scenarios for outcome in play(scenario)]
            right = {o.scenario.id for o in outcomes if o.verdict.success}
            tried += bool(scenarios)
            best = max(best, len(right) / max(1, len(scenarios)))
            if len(right) * _TENTH > len(scenarios):
                failures.append(f"{name} is right on {len(right)} of {len(scenarios)} scenarios: {sorted(right)[:5]}")
            families: dict[str, list[str]] = {}
            for scenario in scenarios:
                families.setdefault(scenario.family, []).append(scenario.id)
            failures += [
                f"{name} is right on the whole family {family!r}: {members}"
                for family, members in families.items()
                if right.issuperset(members)
            ]
    return Finding(f"{tried} constants, the best right on {best:.0%}", failures)


@check("V07", "memoriser", nightly=True)
def memoriser(subject: Subject) -> Finding:
    """The resolved calls of one scenario's gold, replayed on every other one: no success where they are not its own.

    A sibling whose own gold resolves to the same calls is the same scenario twice, and is told as that.
    """
    runs = [run for run in gold_runs(subject) if run.good]
    curated = {scenario.id for scenario in subject.curated}
    outcomes: list[Outcome] = []
    for run in runs:
        for other in subject.scenarios:
            near = other.family == run.scenario.family or {other.id, run.scenario.id} <= curated
            if near and other.id != run.scenario.id:
                outcomes += _scripted(subject, f"memory of {run.name}", other, run.actions)
    return _finding(outcomes, lambda o: o.verdict.success)


@check("V42", "confirm-guesser")
def confirm_guesser(subject: Subject) -> Finding:
    """Searching with ``confirm_with_user``, by ids and bisected amounts, with little and with all patience: fails."""
    specs = [f"confirm-guesser:refusals={refusals}" for refusals in (2, 1000)]
    outcomes = [o for s in subject.scenarios for turn, spec in enumerate(specs) for o in _play(subject, spec, s, turn)]
    return _finding(outcomes, lambda o: o.verdict.success or o.total > 0.0)


def _finding(outcomes: Iterable[Outcome], wrong: Callable[[Outcome], bool]) -> Finding:
    """The figure counts successes; each outcome that is wrong is a failure."""
    outcomes = list(outcomes)
    wins = sum(outcome.verdict.success for outcome in outcomes)
    return Finding(f"{wins}/{len(outcomes)} successes", [str(outcome) for outcome in outcomes if wrong(outcome)])


def _play(
    subject: Subject, spec: str, scenario: Scenario, turn: int = 0, seed: int = 0, every: bool = True
) -> Iterator[Outcome]:
    """One episode of a reference agent, which is given the whole budget of the scenario.

    Where the tools are presented in other forms, a second one in the form whose *turn* it is; of the nightly set one in
    *every* form.
    """
    agent = _agent(spec, scenario)
    for name, env in _shown(subject, scenario, turn, every).items():
        agent.run(env, seed=seed, options={"scenario": scenario})
        yield _outcome(f"{spec} ({name})" if name else spec, scenario, env)


def _shown(subject: Subject, scenario: Scenario, turn: int, every: bool) -> dict[str, ToolEnv]:
    """The environment with the tools as they are and those in which this turn is checked, by their names."""
    return {"": subject.env} | {f.name: f.env for f in subject.turn(subject.default_forms, scenario, turn, every)}


def _agent(spec: str, scenario: Scenario) -> Agent:
    separator = "," if ":" in spec else ":"
    return make_agent(f"{spec}{separator}budget={scenario.checks.process.max_steps}")


class AtEnd(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps the state before ``finish``, so that an episode can be ended in another way as well."""

    def __init__(self, env: ToolEnv) -> None:
        super().__init__(env)
        self._base = env
        self._end: tuple[EpisodeState, Action] | None = None

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin; nothing is kept."""
        self._end = None
        return self._base.reset(**options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        if isinstance(action, Mapping) and action.get("name") == "finish":
            self._end = (self._base.save_state(), dict(action))
        return self._base.step(action)

    def end_with(self, outcome: str) -> None:
        """Finish with another outcome from where it was finished; an episode that ended before stays as it is."""
        if self._end is not None:
            state, action = self._end
            self._base.restore_state(state)
            self._base.step({**action, "arguments": {**action["arguments"], "outcome": outcome}})


def _play_ends(subject: Subject, agent_name: str, scenario: Scenario) -> Iterator[Outcome]:
    """One episode for each outcome with which a reference agent can finish; as `_play` does.

    All that the outcome changes is the last call, so what comes before it is played once.
    """
    specs = {outcome: f"{agent_name}:outcome={outcome}" for outcome in _ENDS}
    agent = _agent(specs[_ENDS[0]], scenario)
    for name, env in _shown(subject, scenario, 0, True).items():
        ending = AtEnd(env)
        agent.run(ending, seed=0, options={"scenario": scenario})
        for outcome, spec in specs.items():
            if outcome != _ENDS[0]:
                ending.end_with(outcome)
            yield _outcome(f"{spec} ({name})" if name else spec, scenario, env)


def _scripted(subject: Subject, name: str, scenario: Scenario, actions: list[Action]) -> Iterator[Outcome]:
    """One episode of fixed calls, where they come to an end."""
    subject.play(scenario, scripted(actions))
    if subject.env.verdict is not None:
        yield _outcome(name, scenario, subject.env)


def _outcome(name: str, scenario: Scenario, env: ToolEnv) -> Outcome:
    if env.verdict is None:
        raise EpisodeError(f"{name} left the episode on {scenario.id} before its end; an agent plays to the end")
    if env.verdict.status != "ok":
        raise EpisodeError(f"judging {name} on {scenario.id} failed: {env.verdict.error}")
    return Outcome(name, scenario, env.verdict, env.episode_return)


def _writes(run: GoldRun) -> bool:
    """Whether gold changes the world."""
    trace = run.played.trace if run.played is not None else []
    return any(not change.table.startswith("_") for step in trace for change in step.changes)


def _gold_reads(subject: Subject, run: GoldRun) -> Iterator[Outcome]:
    """Gold without its writes and its talk, then a bare end; where it writes, also with its talk and its end."""
    toolset = subject.domain.toolset
    still = [action for action in run.actions[:-1] if not toolset[action["name"]].writes]
    silent = [action for action in still if action["name"] not in _TALK]
    for outcome in _ENDS:
        end = {"name": "finish", "arguments": {"outcome": outcome}}
        yield from _scripted(subject, f"the reads of {run.name}, then {outcome}", run.scenario, [*silent, end])
    if _writes(run):
        yield from _scripted(subject, f"{run.name} without its writes", run.scenario, [*still, run.actions[-1]])


def _informed_spam(subject: Subject) -> Iterator[Outcome]:
    """Gold's reads, then each writing tool on all that lies around what gold saw, then gold's own end.

    It is told which calls the world would take and makes those first, since a scenario's budget is short. Where nothing
    stopped it before its budget did, it makes all the others as well.
    """
    toolset = subject.domain.toolset
    world = World(subject.domain.snapshot, toolset)
    for run in good_runs(subject).values():
        known = Neighbourhood(world, run.scenario).around(seen_values(run))
        reads = [
            action for action in run.actions[:-1] if not toolset[action["name"]].writes and action["name"] not in _TALK
        ]
        ways = [calls(tool, known) for tool in subject.domain.tools if tool.writes]
        # The tools take turns, so that a small budget sees each of them.
        writes = [call for turn in itertools.zip_longest(*ways) for call in turn if call is not None]
        subject.env.reset(seed=0, options={"scenario": run.scenario})
        writes.sort(key=lambda call: not _taken(subject.env, call))
        some = writes[: max(0, run.scenario.checks.process.max_steps - len(reads) - 1)]
        outcomes = list(_scripted(subject, "informed spammer", run.scenario, [*reads, *some, run.actions[-1]]))
        if len(some) < len(writes) and not any(outcome.verdict.veto for outcome in outcomes):
            room = roomy(run.scenario, len(reads) + len(writes) + 1)
            outcomes += _scripted(subject, "informed spammer with room", room, [*reads, *writes, run.actions[-1]])
        yield from outcomes
    world.close()


def _taken(env: ToolEnv, call: Action) -> bool:
    """Whether the world takes a call at the start of an episode; it is undone."""
    episode = current(env)
    arguments = episode.domain.toolset[call["name"]].validate(call["arguments"])
    result, _ = episode.backend.call(call["name"], arguments, episode.now_ms)
    episode.backend.rollback_call()
    return result.ok


def _constants(subject: Subject) -> Iterator[tuple[str, Callable[[Scenario], list[Outcome]]]]:
    """(name, how it plays a scenario) of each constant agent."""
    good = [run.actions[-1] for run in gold_runs(subject) if run.good]
    # Hand-offs differ by their reason only, whatever the summary says.
    ends = {dumps({**end["arguments"], "summary": ""} | {"name": end["name"]}): end for end in good}
    told = [end["arguments"] for end in ends.values()]
    refusals = {str(reason): None for arguments in told for reason in [_reason(arguments)] if reason}
    hand_offs = {code: None for scenario in subject.scenarios for code in scenario.checks.end.hand_off}
    specs = ["refuser", "hand-off", "confirmer", "confirmer:refusals=1000"]
    specs += [f"refuser:code={code}" for code in refusals] + [f"hand-off:code={code}" for code in hand_offs]
    for turn, spec in enumerate(specs):
        # So many constants take turns through the forms that each scenario has several in every one.
        yield spec, lambda s, spec=spec, turn=turn: list(_play(subject, spec, s, turn, every=False))  # type: ignore[misc]
    constant = {text: end for text, end in ends.items() if _from_policy(end["arguments"].get("answer"), subject)}
    for text, end in constant.items():
        for talk in ([], [{"name": "respond", "arguments": {"message": text}}]):
            actions: list[Action] = [*talk, end]
            name = f"always {text[:80]}" + (", told before" if talk else "")
            yield name, lambda scenario, n=name, a=actions: list(_ended(subject, n, scenario, a))  # type: ignore[misc]


def _ended(subject: Subject, name: str, scenario: Scenario, actions: list[Action]) -> Iterator[Outcome]:
    """One episode of fixed calls, left out where the scenario takes no such end: it could only fail."""
    end, arguments = scenario.checks.end, actions[-1]["arguments"]
    if arguments.get("outcome") in end.outcome or arguments.get("reason") in end.hand_off:
        yield from _scripted(subject, name, scenario, actions)


def _from_policy(value: Any, subject: Subject) -> bool:
    """Whether an answer holds nothing but what the policy says."""
    if isinstance(value, dict | list):
        return all(_from_policy(entry, subject) for entry in (value.values() if isinstance(value, dict) else value))
    return (
        value is None or isinstance(value, bool) or (isinstance(value, str) and value in subject.domain.system_prompt)
    )


def _reason(arguments: Mapping[str, Any]) -> Any:
    answer = arguments.get("answer")
    return answer.get("reason") if isinstance(answer, dict) else None
