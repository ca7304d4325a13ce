"""V16–V20: the grader sees what was not asked for, takes what is equal, misses nothing, runs nothing and changes nothing."""

from __future__ import annotations

import base64
import os
import pickle
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentgym import changes as log
from agentgym.compare import MISSING, Comparator
from agentgym.env import ToolEnv
from agentgym.scenario import AllowedChange, GoldPlan, Scenario, StateCheck
from agentgym.text import dumps
from agentgym.validate.moves import (
    Action,
    begin,
    current,
    free_reads,
    go_on,
    reads,
    roomy,
    seen_in,
    stray_writes,
    with_extras,
)
from agentgym.validate.registry import Finding, check
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
    for number, scenario in enumerate(subject.scenarios):
        played = subject.golds[scenario.id][0]
        where = f"{scenario.id}: "
        for op in _OPS:
            for turn in range(_TABLES_TRIED):
                begin(subject.env, played, len(played.actions) - 1)
                what = _strike(subject.env, scenario, op, number * _TABLES_TRIED + turn)
                if not what:
                    continue
                direct[op] += 1
                if go_on(subject.env, played.actions[-1:]).success:
                    finding.failures.append(f"{where}success after {what}")
        what = _stray_write(subject.env, played, number)
        by_tool += bool(what)
        if what and go_on(subject.env, played.actions[-1:]).success:
            finding.failures.append(f"{where}success after {what}")
        if not any(direct.values()) and not what:
            finding.failures.append(f"{where}no unrelated row could be changed")
    counts = ", ".join(f"{direct[op]} {op}s" for op in _OPS)
    finding.figure = f"{counts}, {by_tool} by tools"
    return finding


def _strike(env: ToolEnv, scenario: Scenario, op: str, turn: int) -> str:
    """Change one row that the scenario does not allow, as if the agent had; say what, or "" where none can be."""
    backend, judge = current(env).backend, current(env).judge
    connection = backend.reading()
    known = [table for name, table in log.tables(connection).items() if not name.startswith("_")]
    met = {(change.table, change.key) for step in env.trace for change in step.changes}
    start = turn % max(len(known), 1)
    for table in known[start:] + known[:start]:
        if len(table.key) > 1 and op == "delete":
            continue
        names = ", ".join(log.quote(column) for column in table.columns)
        order = ", ".join(log.quote(column) for column in table.key)
        rows = connection.execute(f"SELECT {names} FROM {log.quote(table.name)} ORDER BY {order} LIMIT 60").fetchall()
        for offset in range(min(len(rows), 8)):
            row = dict(zip(table.columns, rows[(turn * 5 + offset) % len(rows)], strict=True))
            if (table.name, table.key_of(row)) in met:
                continue
            for patch in _patches(env, scenario, table, row, op, connection):
                try:
                    found = backend.apply(patch, "agent")
                except sqlite3.Error:
                    continue
                if found:
                    judge.net.add(found)
                    return f"an {op} in {table.name} {dumps(patch)[:120]}"
    return ""


def _patches(
    env: ToolEnv, scenario: Scenario, table: log.Table, row: log.Row, op: str, connection: sqlite3.Connection
) -> Iterator[dict[str, Any]]:
    if op == "delete":
        if not _allowed(scenario, table.name, op, row, ""):
            yield {table.name: {table.key_of(row)[0]: None}}
        return
    if op == "insert":
        column = table.key[-1]
        new = {**row, column: _other(row[column], "-9")}
        if not _allowed(scenario, table.name, op, new, ""):
            yield {table.name: [new]}
        return
    key = {column: row[column] for column in table.key}
    for column in table.columns:
        if column in key or f"{table.name}.{column}" in env.domain.volatile or _allowed(scenario, table.name, op, row, column):
            continue
        name = log.quote(column)
        used = f"SELECT DISTINCT {name} FROM {log.quote(table.name)} WHERE {name} IS NOT ? ORDER BY {name} LIMIT 2"
        for value in [*(found for (found,) in connection.execute(used, (row[column],)).fetchall()), _other(row[column], "x")]:
            yield {table.name: [{**key, column: value}]}


def _other(value: Any, suffix: str) -> Any:
    if isinstance(value, int | float):
        return value + 1_000_000 if suffix == "-9" else value + 1
    return f"{value}{suffix}" if isinstance(value, str) else "x"


def _allowed(scenario: Scenario, table: str, op: str, row: log.Row, column: str) -> bool:
    def covers(rule: AllowedChange) -> bool:
        if rule.table != table or rule.op not in (None, op) or (op == "update" and rule.columns and column not in rule.columns):
            return False
        return all(row.get(c) in (v if isinstance(v, list) else [v]) for c, v in rule.where.items())

    return any(covers(rule) for rule in scenario.checks.may_change)


def _stray_write(env: ToolEnv, played: Played, turn: int) -> str:
    """Gold up to its end, then one write on a row that it never met; what it was, or "" where no tool takes effect."""
    tail = begin(env, played, len(played.actions) - 1, scenario=roomy(played.scenario))
    if tail.ended:
        return ""
    for number, action in enumerate(stray_writes(env, seen_in(played), turn)):
        if number >= _TOOLS_TRIED * 3 or go_on(env, [action]).ended:
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
                why = "no end" if played.verdict is None else f"{played.verdict.end_reason}, {played.verdict.attribution}"
                finding.failures.append(f"{scenario.id}: {kind}: not a success ({why}, veto {played.infos[-1]['veto_rule']!r})")
        if kinds.total() - before < 3:
            finding.failures.append(f"{scenario.id}: only {kinds.total() - before} equivalent runs, expected 3 or more")
    finding.figure = f"{kinds.total()} runs: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return finding


def equivalents(subject: Subject, scenario: Scenario) -> Iterator[tuple[str, Played]]:
    """Runs that differ from the first gold plan and are as good: (kind, how it went)."""
    gold = subject.golds[scenario.id][0]

    def run(extras: Any = lambda number: (), change: Any = lambda action: action, source: Scenario = scenario) -> Played:
        return subject.play(scenario, with_extras(source, 0, extras, change))

    if any(action["name"] in _WORDS for action in gold.actions):
        yield "reworded", run(change=reworded)
    if any(_keyed(subject.env, action) for action in gold.actions):
        yield "another key", run(change=lambda action: _rekeyed(subject.env, action))
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


def _rekeyed(env: ToolEnv, action: Action) -> Action:
    name = _keyed(env, action)
    return {**action, "arguments": {**action["arguments"], name: "validate-another-key"}} if name else action


def _as_wire(action: Action) -> Action:
    return {"id": "call_1", "type": "function", "function": {"name": action["name"], "arguments": dumps(action["arguments"])}}


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
        if scenario.checks.answer is None or last["name"] != "finish":
            continue
        scenarios += 1
        for answer in _broken(scenario.checks.answer, last["arguments"].get("answer", MISSING)):
            arguments = {name: value for name, value in last["arguments"].items() if name != "answer"}
            if answer is not MISSING:
                arguments["answer"] = answer
            begin(subject.env, played, len(played.actions) - 1)
            runs += 1
            if go_on(subject.env, [{"name": "finish", "arguments": arguments}]).success:
                finding.failures.append(f"{scenario.id}: the answer {ascii(answer)[:80]} is a success")
    rows = list(_table())
    finding.failures += [f"comparator {type_}: {ascii(bad)[:60]} equals {good!r}" for type_, good, bad, equal in rows if equal]
    finding.figure = f"{runs} answers in {scenarios} scenarios, {len(rows)} comparisons"
    return finding


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
    ("text", "a", {}), ("id", "007", {}), ("int", 1, {}), ("int", 0, {}), ("number", 0, {}), ("number", 1.5, {"tolerance": 0.1}),
    ("money", 0, {"currency": "EUR"}), ("money", 100, {"currency": "JPY"}), ("bool", True, {}), ("bool", False, {}),
    ("date", "2026-03-14", {}), ("json", {"a": 1}, {}), ("json", 1, {}), ("json", 0, {}),
    ("set", ["a"], {"items": {"type": "text"}}), ("list", [1], {"items": {"type": "int"}}),
    ("multiset", [0], {"items": {"type": "number"}}),
)  # fmt: skip


def _table() -> Iterator[tuple[str, Any, Any, bool]]:
    """(type, expected, found, whether they compare equal) where none may."""
    nan, inf = float("nan"), float("inf")
    for type_, good, options in _GOOD:
        spec = Comparator.model_validate({"type": type_, "value": good, **options})
        for bad in (MISSING, None, "", "null", "NaN", "None", nan, inf, -inf, _HUGE, -_HUGE, [], {}, [None], not bool(good)):
            yield type_, good, bad, spec.matches(bad)
        for bad in (True, False) if type_ != "bool" else ():
            yield type_, good, bad, spec.matches(bad)
        for bad in (str(good),) if type_ in ("int", "number") else (7,) if type_ == "id" else ():
            yield type_, good, bad, spec.matches(bad)


# V19


class _Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (self.path,)


_PRODUCT = "7061*7193"
_RESULT = str(7061 * 7193)
"""If the product shows up anywhere, somebody evaluated the text."""


def payloads(canary: str) -> list[str]:
    """Texts that make *canary*, or show a product, where they are evaluated, formatted with or loaded."""
    pickled = base64.b64encode(pickle.dumps(_Bomb(canary))).decode("ascii")
    return [
        f"__import__('os').mkdir({canary!r}) or {_PRODUCT}",
        f"'; ATTACH DATABASE '{canary}' AS x; CREATE TABLE x.t (a); --",
        f"x' || ({_PRODUCT}) || '",
        f"!!python/object/apply:os.mkdir ['{canary}']",
        f"{{{{ {_PRODUCT} }}}} ${{{_PRODUCT}}} <%= {_PRODUCT} %> #{{{_PRODUCT}}}",
        f"{{{{ cycler.__init__.__globals__.os.mkdir('{canary}') }}}}",
        "{0.__class__.__init__.__globals__} {env} %(secret)s %n %s $HOME",
        f"$(mkdir {canary}) `mkdir {canary}` | mkdir {canary}",
        pickled,
        "&a [*a, *a, *a]",
    ]


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
                calls += _plant(subject.env, played, text, number, finding)
                if canary.exists():
                    finding.failures.append(f"{scenario.id}: {text[:80]!r} was executed")
                    canary.unlink() if canary.is_file() else canary.rmdir()
    finding.failures += _pristine(subject)
    worst = _slowest(subject, finding)
    finding.figure = f"{calls} calls with payloads; 100 KB against 10 KB: at most × {worst:.1f}"
    return finding


def _plant(env: ToolEnv, played: Played, text: str, turn: int, finding: Finding) -> int:
    """Gold up to its end, every text argument of some tools set to *text*, then the end; how many calls."""
    tools = list(env.domain.toolset.values())
    calls = 0
    begin(env, played, len(played.actions) - 1, scenario=roomy(played.scenario))
    for tool in tools[turn % len(tools) :] + tools[: turn % len(tools)]:
        arguments = {name: text for name, schema in tool.parameters["properties"].items() if schema.get("type") in ("string", ["string", "null"]) and "enum" not in schema}
        if not arguments or tool.name == "hand_off":
            continue
        calls += 1
        if go_on(env, [{"name": tool.name, "arguments": {**_known_arguments(played, tool.name), **arguments}, "thought": text}]).ended:
            break
    else:
        go_on(env, [{"name": text, "arguments": text}, {"name": "confirm_with_user", "arguments": {"tool": text, "arguments": {text: text}}}])
        go_on(env, [{"name": "finish", "arguments": {"outcome": "done", "answer": {text: [text]}}}])
    if env.trace[-1].error.startswith("the environment failed") or (env.verdict and env.verdict.status == "error"):
        finding.failures.append(f"{played.scenario.id}: {text[:60]!r} broke the environment: {env.verdict.error if env.verdict else ''}")
    told = [step for step in env.trace if _RESULT in step.shown]
    if told:
        finding.failures.append(f"{played.scenario.id}: {text[:60]!r} was evaluated by {told[0].ran.name if told[0].ran else 'nothing'}")
    return calls


def _known_arguments(played: Played, name: str) -> dict[str, Any]:
    return next((dict(action["arguments"]) for action in played.actions if action["name"] == name), {})


def _pristine(subject: Subject) -> list[str]:
    """A reset after the payloads gives the content of a world that never saw them."""
    fresh = subject.make()
    wrong = []
    for scenario in subject.scenarios[:1]:
        hashes = []
        for env in (subject.env, fresh):
            env.reset(seed=0, options={"scenario": scenario})
            hashes.append(env.state_hash)
        if len(set(hashes)) > 1:
            wrong.append(f"{scenario.id}: the world is not pristine after reset")
    fresh.close()
    return wrong


_CATASTROPHES = ("a", "1", "1,", " ", "(", "-", "A1-", "&#", "\\u00", "%4", "one two ", "$1.0", "'", "\u0301", "1 2 ", "ab.")


def _slowest(subject: Subject, finding: Finding) -> float:
    """The largest ratio of the times for a long and a short text, said to the user and given as an answer."""
    chosen = [s for s in subject.scenarios if s.secrets or s.checks.said][:: max(1, len(subject.scenarios) // 2)][:2]
    worst = 0.0
    for scenario in chosen or subject.scenarios[:1]:
        for unit in _CATASTROPHES:
            short, long = (min(_seconds(subject.env, scenario, unit, size) for _ in range(2)) for size in (10_000, 100_000))
            ratio = long / max(short, 0.0005)
            worst = max(worst, ratio)
            if ratio > 20:
                finding.failures.append(f"{scenario.id}: 100 KB of {unit!r} took {ratio:.0f} times as long as 10 KB")
    return worst


def _seconds(env: ToolEnv, scenario: Scenario, unit: str, size: int) -> float:
    text = (unit * (size // len(unit) + 1))[:size] + "!"
    env.reset(seed=0, options={"scenario": scenario})
    # The processor's time, since a machine with other work to do would fail good code.
    start = time.process_time()
    go_on(env, [{"name": "respond", "arguments": {"message": text}}, {"name": "finish", "arguments": {"outcome": "done", "answer": text}}])
    return time.process_time() - start


# V20


class _Regraded(NamedTuple):
    same: bool
    hash_kept: bool


@check("V20", "pure grading")
def pure(subject: Subject) -> Finding:
    """Grading twice gives the same bytes and changes nothing; a check that fails by itself is an error, not a reward."""
    finding, twice, broken = Finding(), 0, 0
    for number, scenario in enumerate(subject.scenarios):
        for plan, played in enumerate(subject.golds[scenario.id]):
            twice += 1
            # The content hash reads the whole database, so every fourth scenario has it taken.
            regraded = _regrade(subject.env, played, hashed=plan == 0 and number % 4 == 0)
            if not regraded.same:
                finding.failures.append(f"{scenario.id}, plan {plan}: graded again, the verdict is another")
            if not regraded.hash_kept:
                finding.failures.append(f"{scenario.id}, plan {plan}: grading changed the world")
        broken += 1
        finding.failures += _with_failing_check(subject.env, subject.golds[scenario.id][0])
    finding.figure = f"{twice} verdicts graded again, {broken} failing checks"
    return finding


def _regrade(env: ToolEnv, played: Played, hashed: bool) -> _Regraded:
    begin(env, played, len(played.actions))
    episode = current(env)
    total = episode.backend.reading().total_changes
    before = env.state_hash if hashed else ""
    verdicts = [episode.judge.verdict(episode.end_reason, episode.redundant_calls) for _ in range(2)]
    texts = {dumps(verdict.to_json()) for verdict in verdicts}
    if env.verdict is not None:
        texts.add(dumps(env.verdict.to_json()))
    kept = episode.backend.reading().total_changes == total and (not hashed or env.state_hash == before)
    return _Regraded(len(texts) == 1, kept)


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
        return [f"{scenario.id}: a check that fails by itself gives status {verdict.status}, return {env.episode_return:g}"]
    return []
