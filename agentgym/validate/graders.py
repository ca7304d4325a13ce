"""V16–V20: the grader sees what nobody asked for, takes what is equal, runs nothing and changes nothing."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from agentgym.compare import MISSING, Comparator
from agentgym.env import ToolEnv
from agentgym.scenario import GoldPlan, Scenario, StateCheck, roomy
from agentgym.text import dumps
from agentgym.validate.contents import Contents
from agentgym.validate.moves import (
    Action,
    begin,
    current,
    free_reads,
    go_on,
    reads,
    seen_in,
    stray_writes,
    with_extras,
)
from agentgym.validate.payloads import payloads, plant, pristine, slowest
from agentgym.validate.registry import Finding, check
from agentgym.validate.strikes import strike
from agentgym.validate.subject import Played, Subject

_OPS = ("insert", "update", "delete")
_TABLES_TRIED = 2
_TOOLS_TRIED = 12
_HUGE = 10**400


# V16


@check("V16", "collateral")
def collateral(subject: Subject) -> Finding:
    """One unrelated row changed before the end is not a success, whether through a tool or in the world itself."""
    finding, direct, by_tool = Finding(), Counter[str](), 0
    flagging = subject.make(on_veto="flag")
    for number, scenario in enumerate(subject.scenarios):
        played = subject.golds[scenario.id][0]
        where = f"{scenario.id}: "
        for op in _OPS:
            for turn in range(_TABLES_TRIED):
                begin(subject.env, played, len(played.actions) - 1)
                what = strike(subject.env, scenario, op, number * _TABLES_TRIED + turn)
                if not what:
                    continue
                direct[op] += 1
                if go_on(subject.env, played.actions[-1:]).success:
                    finding.failures.append(f"{where}success after {what}")
        what = _stray_write(flagging, played, number)
        by_tool += bool(what)
        if what and _unseen(flagging, played):
            finding.failures.append(f"{where}no check sees {what}")
        if not any(direct.values()) and not what:
            finding.failures.append(f"{where}no unrelated row could be changed")
    flagging.close()
    counts = ", ".join(f"{direct[op]} {op}s" for op in _OPS)
    finding.figure = f"{counts}, {by_tool} by tools"
    return finding


def _unseen(env: ToolEnv, played: Played) -> bool:
    """End the episode: whether every check holds in spite of the stray write, a veto of it apart."""
    go_on(env, played.actions[-1:])
    return env.verdict is not None and not env.verdict.attribution


def _stray_write(env: ToolEnv, played: Played, turn: int) -> str:
    """Gold up to its end, then one write on a row that it never met; what it was, or "" where no tool takes effect."""
    tail = begin(env, played, len(played.actions) - 1, scenario=roomy(played.scenario))
    if tail.ended:
        return ""
    for number, action in enumerate(stray_writes(env, seen_in(played), turn)):
        if number >= 3 * _TOOLS_TRIED or go_on(env, [action]).ended:
            return ""
        changes = env.trace[-1].changes
        if any(not change.table.startswith("_") for change in changes):
            return dumps(action)[:160]
    return ""


# V17


@check("V17", "equivalence")
def equivalence(subject: Subject) -> Finding:
    """Other orders, extra reads, other words, other forms and other plans are as good as gold."""
    finding, kinds = Finding(), Counter[str]()
    for scenario in subject.scenarios:
        before = kinds.total()
        for kind, played in equivalents(subject, scenario):
            kinds[kind] += 1
            if played.verdict is None or not played.verdict.success:
                why = (
                    "no end" if played.verdict is None else f"{played.verdict.end_reason}, {played.verdict.attribution}"
                )
                finding.failures.append(
                    f"{scenario.id}: {kind}: not a success ({why}, veto {played.infos[-1]['veto_rule']!r})"
                )
        if kinds.total() - before < 3:
            finding.failures.append(f"{scenario.id}: only {kinds.total() - before} equivalent runs, expected 3 or more")
    finding.figure = f"{kinds.total()} runs: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return finding


_KEPT: WeakKeyDictionary[Subject, dict[str, list[tuple[str, Played]]]] = WeakKeyDictionary()


def equivalents(subject: Subject, scenario: Scenario) -> list[tuple[str, Played]]:
    """Runs that differ from the first gold plan and are as good: (kind, how it went). Played once."""
    kept = _KEPT.setdefault(subject, {})
    if scenario.id not in kept:
        kept[scenario.id] = list(_equivalents(subject, scenario))
    return kept[scenario.id]


def _equivalents(subject: Subject, scenario: Scenario) -> Iterator[tuple[str, Played]]:
    gold = subject.golds[scenario.id][0]

    def run(
        extras: Any = lambda number: (), change: Any = lambda action: action, source: Scenario = scenario
    ) -> Played:
        return subject.play(scenario, with_extras(source, 0, extras, change))

    if any(action["name"] in _WORDS for action in gold.actions):
        yield "reworded", run(change=reworded)
    if any(_keyed(subject.env, action) for action in gold.actions):
        yield "another key", run(change=_Rekeyed(subject.env))
    yield "another wire form", run(change=_as_wire)
    yield "thinking aloud", run(change=lambda action: {**action, "thought": "Let me see: done, refund, yes."})
    for swapped in _reordered(subject.env, scenario):
        yield "reordered", run(source=swapped)
    room = scenario.checks.process.max_steps - len(gold.actions)
    begin(subject.env, gold, len(gold.actions) - 1)
    extra = list(reads(subject.env, scenario, seen_in(gold), only_own=True))[: min(room, 12)]
    if extra and scenario.checks.process.max_redundant is None:
        yield "extra reads", run(extras=lambda number: extra if number == len(gold.actions) - 1 else ())
    for other in subject.golds[scenario.id][1:]:
        yield "another plan", other


_WORDS = ("respond", "hand_off")


def reworded(action: Action) -> Action:
    """The same values in other words: a message or summary with polite words around it."""
    arguments = dict(action["arguments"])
    for name in ("message", "summary"):
        if action["name"] in _WORDS and name in arguments:
            arguments[name] = f"Right then.\n\n{arguments[name]}\n\nAll the best"
    return {**action, "arguments": arguments}


def _keyed(env: ToolEnv, action: Action) -> str:
    tool = env.domain.toolset.get(action["name"])
    return tool.idempotency if tool else ""


class _Rekeyed:
    """Gives each call another idempotency key than gold's, two calls of one key the same."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env
        self._keys: dict[object, str] = {}

    def __call__(self, action: Action) -> Action:
        """The action with its key replaced."""
        name = _keyed(self._env, action)
        if not name:
            return action
        # Without a key, every call is one of its own.
        old = action["arguments"].get(name) or f"none-{len(self._keys)}"
        key = self._keys.setdefault(old, f"validate-{len(self._keys)}")
        return {**action, "arguments": {**action["arguments"], name: key}}


def _as_wire(action: Action) -> Action:
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": action["name"], "arguments": dumps(action["arguments"])},
    }


def _reordered(env: ToolEnv, scenario: Scenario) -> Iterator[Scenario]:
    """The scenario with two neighbouring reads of its first plan swapped, for the first two pairs that allow it."""
    free = {tool.name for tool in free_reads(env, scenario)}
    actions = scenario.gold[0].actions
    found = 0
    for at in range(len(actions) - 1):
        first, second = actions[at], actions[at + 1]
        bound = bool(first.label) and f'"from": {dumps(first.label)}' in dumps(second.arguments)
        if first.name in free and second.name in free and not bound and found < 2:
            found += 1
            swapped = GoldPlan(plan=scenario.gold[0].plan, actions=[*actions[:at], second, first, *actions[at + 2 :]])
            yield scenario.model_copy(update={"gold": [swapped, *scenario.gold[1:]]})


# V18


@check("V18", "absence")
def absence(subject: Subject) -> Finding:
    """What is missing, null, empty, not a number or of another type is never the expected answer."""
    finding, runs, scenarios = Finding(), 0, 0
    for scenario in subject.scenarios:
        played = subject.golds[scenario.id][0]
        last = played.actions[-1]
        if (scenario.checks.answer is None and not scenario.checks.answer_state) or last["name"] != "finish":
            continue
        scenarios += 1
        ended = True
        for answer in _answers(scenario, last["arguments"].get("answer", MISSING)):
            arguments = {name: value for name, value in last["arguments"].items() if name != "answer"}
            if answer is not MISSING:
                arguments["answer"] = answer
            if ended:
                begin(subject.env, played, len(played.actions) - 1, scenario=roomy(scenario))
            runs += 1
            tail = go_on(subject.env, [{"name": "finish", "arguments": arguments}])
            # What cannot be an argument at all leaves the episode open for the next.
            ended = tail.ended
            if tail.success:
                finding.failures.append(f"{scenario.id}: the answer {ascii(answer)[:80]} is a success")
    rows = list(_table())
    finding.failures += [
        f"comparator {type_}: {ascii(bad)[:60]} equals {good!r}" for type_, good, bad, equal in rows if equal
    ]
    finding.figure = f"{runs} answers in {scenarios} scenarios, {len(rows)} comparisons"
    return finding


def _answers(scenario: Scenario, answer: Any) -> Iterator[Any]:
    if scenario.checks.answer is not None:
        yield from _broken(scenario.checks.answer, answer)
    for name in scenario.checks.answer_state:
        yield {key: value for key, value in answer.items() if key != name}
        others: list[Any] = [None, "", True, 0, 1.5, [], "null", f"{answer[name]}0"]
        yield from ({**answer, name: other} for other in others)


def _broken(spec: Comparator, answer: Any) -> Iterator[Any]:
    """Each way to lose the answer or a declared part of it."""
    for value in _blanks(spec, answer):
        if type(value) is not type(answer) or value != answer:
            yield value
    if isinstance(answer, dict) and spec.fields:
        for name, field in spec.fields.items():
            if name in answer:
                for part in _broken(field, answer[name]):
                    rest = {key: value for key, value in answer.items() if key != name}
                    yield rest if part is MISSING else {**rest, name: part}
    if isinstance(answer, list) and spec.items is not None:
        for at, member in enumerate(answer[:3]):
            for part in _broken(spec.items, member):
                if part is not MISSING:
                    yield [*answer[:at], part, *answer[at + 1 :]]


def _blanks(spec: Comparator, answer: Any) -> Sequence[Any]:
    if spec.type == "one_of" and any(option.type == "null" or option.value in ("", None) for option in spec.any_of):
        return []
    blanks = [MISSING, "", float("nan"), float("inf"), -float("inf"), True, _HUGE]
    if spec.type != "null":
        blanks.append(None)
    if spec.type in ("int", "number") and isinstance(answer, int):
        blanks.append(str(answer))
    return blanks


_GOOD: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("text", "a", {}), ("id", "007", {}), ("int", 1, {}), ("int", 0, {}), ("number", 0, {}),
    ("number", 1.5, {"tolerance": 0.1}), ("money", 0, {"currency": "EUR"}), ("money", 100, {"currency": "JPY"}),
    ("bool", True, {}), ("bool", False, {}), ("date", "2026-03-14", {}),
    ("json", {"a": 1}, {}), ("json", 1, {}), ("json", 0, {}),
    ("set", ["a"], {"items": {"type": "text"}}), ("list", [1], {"items": {"type": "int"}}),
    ("multiset", [0], {"items": {"type": "number"}}),
)  # fmt: skip


def _table() -> Iterator[tuple[str, Any, Any, bool]]:
    """(type, expected, found, whether they compare equal) where none may."""
    nan, inf = float("nan"), float("inf")
    for type_, good, options in _GOOD:
        spec = Comparator.model_validate({"type": type_, "value": good, **options})
        bad: list[Any] = [MISSING, None, "", "null", "NaN", "None", nan, inf, -inf, _HUGE, -_HUGE, [], {}, [None]]
        bad += [not good] if type_ == "bool" else [True, False]
        bad += [str(good)] if type_ in ("int", "number") else [7] if type_ == "id" else []
        for found in bad:
            yield type_, good, found, spec.matches(found)


# V19


@check("V19", "nothing evaluated")
def nothing_evaluated(subject: Subject) -> Finding:
    """What an agent writes is data, and takes time in proportion to its length."""
    finding, calls = Finding(), 0
    with tempfile.TemporaryDirectory() as folder:
        canary = Path(folder) / "made"
        texts = payloads(str(canary))
        for number, scenario in enumerate(subject.scenarios):
            played = subject.golds[scenario.id][0]
            for turn in range(2):
                text = texts[(2 * number + turn) % len(texts)]
                calls += plant(subject.env, played, text, number, finding)
                if canary.exists():
                    finding.failures.append(f"{scenario.id}: {text[:80]!r} was executed")
                    canary.unlink() if canary.is_file() else canary.rmdir()
    finding.failures += pristine(subject)
    worst = slowest(subject, finding)
    finding.figure = f"{calls} calls with payloads; 100 KB against 10 KB: at most × {worst:.1f}"
    return finding


# V20


class _Regraded(NamedTuple):
    same: bool
    hash_kept: bool


@check("V20", "pure grading")
def pure(subject: Subject) -> Finding:
    """Grading twice gives the same bytes and changes nothing; a check that breaks is an error, not a reward."""
    finding, twice, broken, contents = Finding(), 0, 0, Contents()
    for scenario in subject.scenarios:
        for plan, played in enumerate(subject.golds[scenario.id]):
            twice += 1
            regraded = _regrade(subject.env, played, contents)
            if not regraded.same:
                finding.failures.append(f"{scenario.id}, plan {plan}: graded again, the verdict is another")
            if not regraded.hash_kept:
                finding.failures.append(f"{scenario.id}, plan {plan}: grading changed the world")
        broken += 1
        finding.failures += _with_failing_check(subject.env, subject.golds[scenario.id][0])
    finding.figure = f"{twice} verdicts graded again, {broken} failing checks"
    return finding


def _regrade(env: ToolEnv, played: Played, contents: Contents) -> _Regraded:
    begin(env, played, len(played.actions))
    episode = current(env)
    reading = episode.backend.reading()
    before = reading.total_changes, contents.of(reading)
    verdicts = [episode.judge.verdict(episode.end_reason, episode.redundant_calls) for _ in range(2)]
    texts = {dumps(verdict.to_json()) for verdict in verdicts}
    if env.verdict is not None:
        texts.add(dumps(env.verdict.to_json()))
    reading = episode.backend.reading()
    return _Regraded(len(texts) == 1, (reading.total_changes, contents.of(reading)) == before)


def _with_failing_check(env: ToolEnv, played: Played) -> list[str]:
    """Play gold against a scenario whose first check overflows when it is run."""
    scenario = played.scenario
    # SQLite finds out only when it runs that this has no result.
    bad = StateCheck(sql="SELECT abs(-9223372036854775807 - 1)", expect=1, type="int")
    checks = scenario.checks.model_copy(update={"final_state": [bad, *scenario.checks.final_state]})
    tail = begin(env, played, len(played.actions), scenario=scenario.model_copy(update={"checks": checks}))
    verdict = env.verdict
    if not tail.ended or verdict is None:
        return [f"{scenario.id}: a check that fails by itself keeps the episode open"]
    if verdict.status != "error" or verdict.success or tail.success or env.episode_return != 0:
        return [
            f"{scenario.id}: a check that fails by itself gives status {verdict.status}, return {env.episode_return:g}"
        ]
    return []
