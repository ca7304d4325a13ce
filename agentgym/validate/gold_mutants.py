"""Mutants of a gold run: its resolved calls with one thing wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from agentgym.compare import Comparator
from agentgym.domain import Domain
from agentgym.mentions import exponent
from agentgym.scenario import CallSpec, Said, TextCheck
from agentgym.tools import Tool
from agentgym.validate.gold_known import Neighbourhood, Values, calls, other_values, seen_values
from agentgym.validate.gold_runs import GoldRun

Action = dict[str, Any]

_MONTH_S = 30 * 86_400
_SPEECH = {"respond": "message", "hand_off": "summary"}


class Mutant(NamedTuple):
    """The calls, and what is wrong with them."""

    what: str
    actions: list[Action]


class Mutants:
    """Makes the mutants of one gold run.

    Args:
        domain: its domain.
        run: a run that succeeds.
        around: the world at its start.
    """

    def __init__(self, domain: Domain, run: GoldRun, around: Neighbourhood) -> None:
        self._domain, self._run, self._around = domain, run, around
        self._scenario, self._actions = run.scenario, run.actions
        self._known: Values | None = None

    @property
    def writes(self) -> list[int]:
        """Numbers of the actions that change the world."""
        trace = self._run.played.trace if self._run.played is not None else []
        return [i for i, step in enumerate(trace) if any(not change.table.startswith("_") for change in step.changes)]

    def without(self, index: int) -> Mutant:
        """Gold without one action."""
        return Mutant(f"without {self._label(index)}", self._actions[:index] + self._actions[index + 1 :])

    def groups(self) -> Iterator[tuple[frozenset[str], Iterator[Mutant]]]:
        """The mutants by what is done, cheap ones first, with the checks that they are meant for (kind or name)."""
        kept = (self.without(index) for index in range(len(self._actions) - 1) if index not in self.writes)
        for kinds, group in (
            ("end", self._ends()),
            ("answer", self._answers()),
            ("said required order confirm_before chain", kept),
            ("chain", self._chains()),
            ("said", self._speeches()),
            ("required order forbidden confirm_before deadline redundant", self._processes()),
            *((f"own[{argument}]", self._trespasses(argument)) for argument in self._scenario.checks.process.own),
            ("final_state may_change text", self._arguments()),
            ("final_state may_change text confirm_before", self._doubles()),
            ("final_state may_change text forbidden", self._additions()),
        ):
            yield frozenset(kinds.split()), group

    def _label(self, index: int) -> str:
        return f"actions[{index}] ({self._actions[index]['name']})"

    def _known_values(self) -> Values:
        if self._known is None:
            start = seen_values(self._run)
            if self._domain.caller:
                start.setdefault(self._domain.caller, []).append(self._scenario.domain[self._domain.caller])
            self._known = self._around.around(start)
        return self._known

    def _ending(self, end: Action, what: str) -> Mutant:
        return Mutant(what, [*self._actions[:-1], end])

    def _before_end(self, extra: Iterable[Action], what: str) -> Mutant:
        return Mutant(what, [*self._actions[:-1], *extra, self._actions[-1]])

    def _changed(self, index: int, argument: str, value: Any) -> Mutant:
        action = {**self._actions[index], "arguments": {**self._actions[index]["arguments"], argument: value}}
        return Mutant(
            f"{argument} of {self._label(index)} is {value!r}",
            [*self._actions[:index], action, *self._actions[index + 1 :]],
        )

    def _ends(self) -> Iterator[Mutant]:
        end, arguments = self._scenario.checks.end, self._actions[-1]["arguments"]
        for outcome in ("done", "refused", "impossible"):
            if outcome not in end.outcome:
                kept = {"answer": arguments["answer"]} if "answer" in arguments else {}
                yield self._ending({"name": "finish", "arguments": {"outcome": outcome, **kept}}, f"finish {outcome}")
        reason = {"reason": "no_such_reason", "summary": arguments.get("summary", "See the notes.")}
        yield self._ending({"name": "hand_off", "arguments": reason}, "hand_off for no reason")

    def _answers(self) -> Iterator[Mutant]:
        if self._actions[-1]["arguments"].get("answer") is not None:
            last = len(self._actions) - 1
            for answer in (None, *_near(self._actions[-1]["arguments"]["answer"])):
                yield self._changed(last, "answer", answer)

    def _speeches(self) -> Iterator[Mutant]:
        checks = self._scenario.checks
        entries: list[Said | TextCheck] = [*checks.said, *checks.text]
        unwanted = [_spelt(w) for entry in entries for w in entry.must_not]
        unwanted += [_spelt(w, beside=True) for entry in checks.said if entry.only for w in entry.must]
        wanted = [_spelt(w) for entry in entries for w in entry.must]
        for index, action in enumerate(self._actions):
            argument = _SPEECH.get(action["name"])
            if argument:
                yield self._changed(index, argument, "Thank you for your patience.")
                text = action["arguments"][argument]
                yield from (self._changed(index, argument, f"{text} {value}") for value in unwanted)
                yield from (self._changed(index, argument, value) for value in wanted)
        for value in unwanted:
            yield self._before_end([{"name": "respond", "arguments": {"message": value}}], f"respond {value!r}")

    def _arguments(self) -> Iterator[Mutant]:
        texts = [_spelt(wanted) for entry in self._scenario.checks.text for wanted in entry.must_not]
        for index in self.writes:
            action = self._actions[index]
            tool = self._domain.toolset[action["name"]]
            for name, value in action["arguments"].items():
                for other in other_values(tool, name, value, self._known_values()):
                    yield self._changed(index, name, other)
                if isinstance(value, str):
                    yield from (self._changed(index, name, f"{value} {text}") for text in texts)

    def _doubles(self) -> Iterator[Mutant]:
        for index in self.writes:
            action = self._actions[index]
            key = self._domain.toolset[action["name"]].idempotency
            again = {**action, "arguments": {n: v for n, v in action["arguments"].items() if n != key}}
            asked = [
                a for a in self._actions[:index] if a["name"] == "confirm_with_user" and _proposes(a, action["name"])
            ]
            for extra in ([again], [*asked[-1:], again]):
                head, tail = self._actions[: index + 1], self._actions[index + 1 :]
                yield Mutant(f"{self._label(index)} twice", [*head, *extra, *tail])

    def _chains(self) -> Iterator[Mutant]:
        """Nothing read before the end but the documentation, nothing read at all, a source that must not be read."""
        chain = self._scenario.checks.chain
        if chain is None:
            return
        tools = self._domain.toolset
        written = [a for a in self._actions[:-1] if tools[a["name"]].writes or a["name"] in _SPEECH]
        yield Mutant("without any read", [*written, self._actions[-1]])
        yield Mutant("nothing but the end", [self._actions[-1]])
        for spec in chain.sources.forbidden if chain.sources is not None else ():
            yield self._before_end(self._made(spec), f"with {spec.name}")
        if chain.sources is not None and chain.sources.allowed:
            allowed = {spec.name for spec in chain.sources.allowed}
            others = [tool for tool in self._domain.tools if not tool.writes and tool.name not in allowed]
            for tool in others:
                yield self._before_end(calls(tool, self._known_values())[:1], f"with {tool.name}")

    def _processes(self) -> Iterator[Mutant]:
        process, known = self._scenario.checks.process, self._known_values()
        tools = self._domain.toolset
        for options in process.required:
            names = {spec.name for spec in options}
            rest = [a for a in self._actions if a["name"] not in names]
            yield Mutant(f"without any {' or '.join(sorted(names))}", rest)
        for spec in (before for before, _ in process.order):
            rest = [a for a in self._actions if a["name"] != spec.name]
            for _, after in process.order:
                yield Mutant(f"{after.name} without {spec.name}", [*rest[:-1], *self._made(after), *rest[-1:]])
        for before, after in process.order:
            moved = [a for a in self._actions if a["name"] == before.name]
            rest = [a for a in self._actions if a["name"] != before.name]
            yield Mutant(f"{before.name} after {after.name}", [*rest[:-1], *moved, *rest[-1:]])
        for spec in process.forbidden:
            yield self._before_end(self._made(spec), f"with {spec.name}")
        for name in process.confirm_before:
            kept = [a for a in self._actions if not (a["name"] == "confirm_with_user" and _proposes(a, name))]
            yield Mutant(f"{name} unconfirmed", [*kept[:-1], *calls(tools[name], known), kept[-1]])
            yield Mutant(f"no confirmation of {name}", kept)
        for entry in process.deadline:
            late = (entry.before - self._scenario.now) // 1000 + 1
            waits = [min(_MONTH_S, late - done) for done in range(0, late, _MONTH_S)]
            yield Mutant("too late", [*({"name": "wait", "arguments": {"seconds": s}} for s in waits), *self._actions])
        if process.max_redundant is not None:
            first = next((a for a in self._actions if a["name"] not in _SPEECH), self._actions[0])
            yield Mutant("the same again and again", [*[first] * (process.max_redundant + 3), *self._actions])

    def _made(self, spec: CallSpec) -> list[Action]:
        return calls(self._domain.toolset[spec.name], self._known_values(), spec.arguments)

    def _additions(self) -> Iterator[Mutant]:
        """Each writing tool on what lies around: all calls in one run, first alone, then after a yes asked for."""
        for tool in self._domain.tools:
            if tool.writes:
                extra = calls(tool, self._known_values())
                yield self._before_end(extra[:1], f"and {tool.name}")
                yield self._before_end(extra, f"and {tool.name} on everything")
        texts = [_spelt(wanted) for entry in self._scenario.checks.text for wanted in entry.must_not]
        for tool in self._domain.tools:
            for name, schema in tool.parameters["properties"].items() if tool.writes else ():
                if schema.get("type") == "string" and name in {
                    column.rpartition(".")[2] for column in self._domain.free_text
                }:
                    for text in texts:
                        yield self._before_end(
                            calls(tool, self._known_values(), {name: text}), f"{tool.name} with {text!r}"
                        )

    def _trespasses(self, argument: str) -> Iterator[Mutant]:
        caller = self._scenario.domain.get(self._domain.caller)
        tools = [tool for tool in self._domain.tools if tool.writes and argument in tool.owners]
        # First a few, then many, since most rows are in no state to be written to.
        for most in (2, None):
            for tool in tools:
                values = self._around.foreign(tool, argument, caller)[:most]
                extra = [call for value in values for call in self._foreign_calls(tool, argument, value)]
                yield self._before_end(extra, f"{tool.name} on {argument}s of others")

    def _foreign_calls(self, tool: Tool, argument: str, value: Any) -> list[Action]:
        return calls(tool, self._around.around({argument: [value]}), {argument: value})[:4]


def _proposes(action: Action, tool: str) -> bool:
    return bool(action["arguments"].get("tool") == tool)


def _near(answer: Any) -> Iterator[Any]:
    """Answers that differ in one leaf, or lack one."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield {key: entry for key, entry in answer.items() if key != name}
            yield from ({**answer, name: other} for other in _near(value))
    elif isinstance(answer, list):
        yield answer[:-1]
        for index, value in enumerate(answer):
            yield from ([*answer[:index], other, *answer[index + 1 :]] for other in _near(value))
    elif isinstance(answer, bool):
        yield not answer
    elif isinstance(answer, int | float):
        yield from (answer + 1, answer - 1)
    else:
        yield f"{answer}x" if isinstance(answer, str) else "x"


def _spelt(wanted: Comparator, beside: bool = False) -> str:
    """A value as somebody would write it; *beside* gives another one of its type."""
    if wanted.type == "one_of":
        return _spelt(wanted.any_of[0], beside)
    value = wanted.value
    if wanted.type == "money":
        currency = wanted.currency or "EUR"
        return f"{Decimal(value + beside).scaleb(-exponent(currency)):f} {currency}"
    if beside and isinstance(value, str):
        return re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit[0]) + 1) % 10), value)
    return (
        str(value + beside)
        if isinstance(value, int | float)
        else value
        if isinstance(value, str)
        else json.dumps(value)
    )
