"""Waterfall grading of a prediction, which is a list of calls and an answer, without an episode.

Three stages, each reached only when the one before holds:

1. *policy*: no call was of a source that the scenario rules out (``checks.chain.sources``,
   ``checks.process.forbidden``); played with the scripted user, the calls and the answer meet no veto, tell no secret
   and change nothing that nobody asked for;
2. *containment*: everything in the results of gold's reads was recovered by the agent's own calls. Both are made again
   from a clean snapshot, without the scenario's events, and compared as values (`agentgym.containment`); of several
   gold plans any one will do;
3. *answer*: it agrees with the gold answer, each of its values stands in a result of the agent's calls, and what was to
   be changed has been. A text agrees when it mentions every value, denies none and holds no others of their kinds.

Where the second or the third cannot be decided mechanically it counts as met, and a model may be asked, which can only
lower it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from agentgym.actions import Call as Parsed
from agentgym.actions import parse_action
from agentgym.backends.embedded import Embedded
from agentgym.chain import at_start, fact_found, leaves
from agentgym.compare import Comparator
from agentgym.containment import Containment, Rules, contained
from agentgym.domain import Domain, checked_settings
from agentgym.episode import Episode
from agentgym.findings import Findings, Result
from agentgym.gold import GoldRunner
from agentgym.grade import STATE_KINDS, said
from agentgym.mentions import mentions
from agentgym.reader import Matcher, Reader
from agentgym.rivals import denied, negative, rivals
from agentgym.scenario import CallSpec, Scenario, roomy
from agentgym.text import dumps
from agentgym.tools import ToolError
from agentgym.trace import Call
from agentgym.users import make_user
from agentgym.verdict import CheckResult, Verdict
from agentgym.world import World

Status = Literal["yes", "no", "undecided", "not reached"]
_MILLISECONDS = 1000
_READABLE = frozenset({"text", "id", "int", "number", "money", "date"})


class Question(NamedTuple):
    """What a model is asked: is the stage met after all?"""

    scenario: str
    stage: Literal["containment", "answer"]
    doubt: str
    answer: Any


JudgeModel = Callable[[Question], bool]


@dataclass(frozen=True)
class Graded:
    """What a prediction came to.

    Attributes:
        scenario: its id.
        capability: of the scenario.
        sources: "single", "multi", or None.
        correct: every stage is met.
        policy: "yes" or "no".
        containment: as `agentgym.containment.Containment.status`; "no" also where the model lowered it.
        answer: alike.
        reasons: why a stage is not "yes".
        asked: how many times the model was asked.
    """

    scenario: str
    capability: str
    sources: Literal["single", "multi"] | None
    correct: bool
    policy: Status
    containment: Status = "not reached"
    answer: Status = "not reached"
    reasons: tuple[str, ...] = ()
    asked: int = 0


class Waterfall:
    """Grades predictions of one domain.

    Args:
        domain: the domain.
        judge_model: asked where a stage is undecided; None leaves it as met.
        rules: how values compare.
        skip: tools whose results gold need not share, such as those that read documentation.
    """

    def __init__(
        self,
        domain: Domain,
        judge_model: JudgeModel | None = None,
        rules: Rules | None = None,
        skip: frozenset[str] = frozenset(),
    ) -> None:
        self._domain, self._model, self._skip = domain, judge_model, skip
        self._rules = rules or Rules()
        self._matcher = Matcher(domain.toolset)
        self._world = World(domain.snapshot, domain.toolset)
        self._gold: dict[int, tuple[Scenario, list[list[Result]]]] = {}

    def close(self) -> None:
        """Close the world. Closing twice is fine."""
        self._world.close()

    def __enter__(self) -> Waterfall:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def grade(self, scenario: Scenario, calls: Sequence[Call], answer: Any) -> Graded:
        """Grade one prediction.

        Args:
            scenario: what was asked.
            calls: the agent's calls in the domain's own terms, in order, as ``ran`` has them in each step of a trace;
                those that the host answers are no source, but the simulated user hears them.
            answer: its answer, JSON or text.

        Raises:
            GoldError: the scenario's own gold cannot be run.
            ValueError: a call is of a tool in which the domain presents its own to agents.
        """
        played = self._prepared(scenario)
        self._in_own_terms(played, calls)
        gold = self._gold_results(scenario, played)
        verdict = self._played(played, calls, answer)
        undone = [each for each in verdict.checks if each.kind in STATE_KINDS and not each.ok]
        results = self.execute(played, calls)
        graded = Graded(scenario.id, scenario.capability, scenario.sources, False, "yes")
        wrong = self._ruled_out(played, results) or _broken(verdict, undone)
        if wrong:
            return _with(graded, policy="no", reasons=(wrong,))
        best = self._containment(played, gold, results)
        graded = self._settle(graded, "containment", best.status, best.missing, answer)
        if graded.containment == "no":
            return graded
        status, reasons = self._answer(played, results, answer, verdict)
        undone = [each for each in undone if each.kind != "may_change"]
        if status != "no" and undone:
            status = "no"
            reasons = tuple(f"{each.name}: expected {each.expected}, found {each.found}" for each in undone)
        graded = self._settle(graded, "answer", status, reasons, answer)
        return _with(graded, correct=graded.answer != "no")

    def execute(self, scenario: Scenario, calls: Sequence[Call]) -> list[Result]:
        """Make calls on a clean snapshot with the scenario's patch; what each gave. The world is left as they left it.

        A call that cannot be made is an error like one that fails. Time passes by their latencies and by ``wait``.
        """
        self._world.reset(scenario.initial_state.patch)
        now, results = scenario.now, []
        for number, call in enumerate(calls, start=1):
            tool = self._domain.toolset.get(call.name)
            if call.name == "wait":
                seconds = call.arguments.get("seconds")
                now += max(0, seconds) * _MILLISECONDS if type(seconds) is int else 0
            if tool is None:
                results.append(Result(call.name, call.arguments, f"there is no tool {call.name}", False, number))
            elif tool.function is not None:
                try:
                    arguments = tool.validate(call.arguments)
                    done, _ = self._world.call(call.name, arguments, now)
                    results.append(Result(call.name, arguments, done.value, done.ok, number))
                except ToolError as error:
                    results.append(Result(call.name, call.arguments, str(error), False, number))
                now += tool.latency_ms
        return results

    def _in_own_terms(self, scenario: Scenario, calls: Sequence[Call]) -> None:
        """Refuse calls of tools that agents are shown in place of the domain's own: they would count as mistakes."""
        unknown = [call.name for call in calls if call.name not in self._domain.toolset]
        shown = [make(scenario).toolset for make in self._domain.presentations.values()] if unknown else []
        for name in unknown:
            if any(name in tools for tools in shown):
                raise ValueError(
                    f"found a call of {name}, by which agents are shown the tools of {self._domain.name}; expected "
                    "the domain's own: take `step.ran` of the steps in `env.trace`, where there is one"
                )

    def _played(self, scenario: Scenario, calls: Sequence[Call], answer: Any) -> Verdict:
        """What an episode of these calls comes to, with all the steps that they need; its end is the answer."""
        backend = Embedded(self._domain)
        try:
            room = roomy(scenario, len(calls) + 2)
            episode = Episode(room, self._domain, 0, backend, make_user("scripted"), on_veto="flag")
            ends = [call for call in calls if call.name == "hand_off"][-1:]
            ends = ends or [Call("finish", {"outcome": next(iter(room.checks.end.outcome), "done"), "answer": answer})]
            for call in [call for call in calls if call.name not in ("finish", "hand_off")] + ends:
                if not episode.end_reason:
                    action = {"name": call.name, "arguments": dict(call.arguments)}
                    episode.step(parse_action(action, self._domain.toolset))
            return episode.verdict or episode.judge.verdict("", episode.redundant_calls)
        finally:
            backend.close()

    def _prepared(self, scenario: Scenario) -> Scenario:
        prepare = self._domain.prepare
        return scenario if prepare is None else prepare(scenario, 0, checked_settings(self._domain, {}))

    def _gold_results(self, scenario: Scenario, played: Scenario) -> list[list[Result]]:
        known = self._gold.get(id(scenario))
        if known is None:
            plans = [self.execute(played, self._gold_calls(played, plan)) for plan in range(len(played.gold))]
            known = self._gold[id(scenario)] = (scenario, [list(self._reads(results)) for results in plans])
        return known[1]

    def _gold_calls(self, scenario: Scenario, plan: int) -> list[Call]:
        """The resolved calls of a gold plan, as an episode with the scripted user gives them."""
        backend = Embedded(self._domain)
        try:
            episode = Episode(scenario, self._domain, 0, backend, make_user("scripted"), on_veto="flag")
            runner, observation, calls = GoldRunner(scenario, plan), None, []
            while not episode.end_reason and (action := runner.next(observation)) is not None:
                call = Call(action["name"], self._domain.toolset[action["name"]].validate(action["arguments"]))
                observation, _ = episode.step(Parsed(call.name, call.arguments))
                calls.append(call)
            return calls
        finally:
            backend.close()

    def _reads(self, results: Sequence[Result]) -> Iterator[Result]:
        tools = self._domain.toolset
        return (r for r in results if r.ok and r.name not in self._skip and not tools[r.name].writes)

    def _ruled_out(self, scenario: Scenario, results: Sequence[Result]) -> str:
        """The first call that the policy rules out, or ""."""
        checks = scenario.checks
        sources = checks.chain.sources if checks.chain is not None else None
        vetoes = [rule.spec for rule in (*self._domain.vetoes, *scenario.veto) if rule.call is not None]
        forbidden = [*checks.process.forbidden, *vetoes, *(sources.forbidden if sources is not None else ())]
        for result in results:
            if not result.ok:
                continue
            if self._is_any(forbidden, result):
                return f"{result.name} is ruled out"
            reads = not self._domain.toolset[result.name].writes and result.name not in self._skip
            if sources is not None and sources.allowed and reads and not self._is_any(sources.allowed, result):
                return f"{result.name} is no allowed source"
        return ""

    def _is_any(self, specs: Sequence[CallSpec], result: Result) -> bool:
        return any(self._matcher.matches(spec, Call(result.name, dict(result.arguments))) for spec in specs)

    def _containment(
        self, scenario: Scenario, gold: Sequence[Sequence[Result]], results: Sequence[Result]
    ) -> Containment:
        found = Findings(self._reads(results))
        tried = [contained(plan, found, scenario.user.opening, self._rules) for plan in gold]
        order = ("yes", "undecided", "no")
        return min(tried, key=lambda each: order.index(each.status))

    def _answer(
        self, scenario: Scenario, results: Sequence[Result], answer: Any, verdict: Verdict
    ) -> tuple[Status, tuple[str, ...]]:
        status, reason = self._agrees(scenario, answer, verdict)
        if status == "no":
            return "no", (reason,)
        loose = list(self._loose(scenario, results, answer))
        if any(surely for _, surely in loose):
            return "no", tuple(f"{field} rests on no result" for field, surely in loose if surely)
        doubts = [f"{field} stands in no result; it may be calculated" for field, _ in loose]
        doubts += [reason] if status == "undecided" else []
        return ("undecided" if doubts else "yes"), tuple(doubts)

    def _wanted(self, scenario: Scenario, answer: Any) -> list[tuple[str, Comparator]]:
        """(field, value) of everything that the answer must say."""
        checks = scenario.checks
        found: list[tuple[str, Comparator]] = []
        if checks.answer is not None:
            found += leaves(checks.answer, checks.answer.value, answer)
        for name, asked in checks.answer_state.items():
            values = self._reader().column(asked.sql, asked.params)
            if values and values[0] is not None:
                found.append((name, Comparator(type=asked.type, value=values[0], currency=asked.currency)))
        if not found:
            found = [
                (f"said[{i}].must[{j}]", wanted)
                for i, entry in enumerate(checks.said)
                for j, wanted in enumerate(entry.must)
            ]
        return found

    def _reader(self) -> Reader:
        return Reader(lambda: self._world.connection)

    def _agrees(self, scenario: Scenario, answer: Any, verdict: Verdict) -> tuple[Status, str]:
        """Whether the answer is gold's; what has to be said may have been said on the way as well."""
        checks = scenario.checks
        value = _parsed(answer)
        wanted = self._wanted(scenario, value)
        if not (wanted or checks.answer is not None):
            # What was asked for is a change; whether it was made is looked at beside.
            return ("yes", "") if checks.final_state else ("no", "the scenario has no gold answer")
        said_only = checks.answer is None and not checks.answer_state
        if said_only and all(each.ok for each in verdict.checks if each.kind == "said"):
            return "yes", ""
        if answer is None or answer == "":
            return "no", "there is no answer"
        if said_only:
            text = answer if isinstance(answer, str) else dumps(answer)
            wrong = next((why for ok, why in (said(entry, [text]) for entry in checks.said) if not ok), "")
            return ("no", wrong) if wrong else ("yes", "")
        whole = checks.answer is None or checks.answer.matches(value)
        fields = value if isinstance(value, dict) else {}
        states = [name for name in checks.answer_state if not dict(wanted)[name].matches(fields.get(name))]
        if whole and not states:
            return "yes", ""
        if not isinstance(value, str):
            return "no", "it is not the gold answer"
        lacking = [field for field, leaf in wanted if leaf.type in _READABLE and not mentions(value, leaf)]
        if lacking or not wanted:
            return "no", f"it does not say {', '.join(lacking) or 'the gold answer'}"
        leaves_ = [(field, leaf) for field, leaf in wanted if leaf.type in _READABLE]
        values = [leaf for _, leaf in leaves_]
        others = rivals(values, [value]) - rivals(values, [scenario.user.opening])
        if others:
            return "no", f"it also says {', '.join(sorted(others)[:5])}"
        against = [field for field, leaf in leaves_ if denied(leaf, value) or negative(leaf, value)]
        if against:
            return "no", f"it says the opposite of {', '.join(against)}"
        return "undecided", "it is a text that mentions every value"

    def _loose(self, scenario: Scenario, results: Sequence[Result], answer: Any) -> Iterator[tuple[str, bool]]:
        """Fields of the answer that stand in no result, and whether that is surely wrong."""
        chain = scenario.checks.chain
        found = Findings(r for r in results if r.ok)
        for field, wanted in self._wanted(scenario, _parsed(answer)):
            options = wanted.any_of or [wanted]
            if any(found.first(option) is not None for option in options):
                continue
            if chain is not None and field in chain.calculated:
                if not self._facts_found(scenario, chain.calculated[field], results):
                    yield field, True
            else:
                # An id is never calculated.
                invented = wanted.type == "id" and not any(mentions(scenario.user.opening, o) for o in options)
                yield field, invented or not results or (chain is not None and chain.grounded)

    def _facts_found(self, scenario: Scenario, names: Sequence[str], results: Sequence[Result]) -> bool:
        chain, found = scenario.checks.chain, Findings(self._reads(results))
        self._world.reset(scenario.initial_state.patch)
        start = at_start(scenario, self._reader())
        facts = zip(chain.facts, start.facts, strict=True) if chain is not None else ()
        return all(fact_found(fact, values, found)[0] is not None for fact, values in facts if fact.name in names)

    def _settle(
        self,
        graded: Graded,
        stage: Literal["containment", "answer"],
        status: Status,
        reasons: Sequence[str],
        answer: Any,
    ) -> Graded:
        """Take a stage's status over; where it is undecided the model may lower it."""
        asked = graded.asked
        if status == "undecided" and self._model is not None:
            asked += 1
            if not self._model(Question(graded.scenario, stage, "; ".join(reasons) or "apart", answer)):
                status = "no"
        return _with(graded, **{stage: status, "asked": asked, "reasons": (*graded.reasons, *reasons)})


def _broken(verdict: Verdict, undone: Sequence[CheckResult]) -> str:
    """What was done that is forbidden, or ""."""
    if verdict.veto:
        return f"the policy is broken: {verdict.veto_rule}"
    return next((f"changed unasked: {each.found}" for each in undone if each.kind == "may_change"), "")


def _with(graded: Graded, **changes: Any) -> Graded:
    return Graded(**{**vars(graded), **changes})


def _parsed(answer: Any) -> Any:
    """An answer as a value: the JSON that a text is, where it is."""
    if not isinstance(answer, str):
        return answer
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return answer
    return value if isinstance(value, dict | list) else answer
