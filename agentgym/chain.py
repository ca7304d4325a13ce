"""The check ``chain``: an answer rests on facts that the agent's own reads gave, and says nothing out of thin air."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from agentgym.chain_spec import Chain, ChainFact, Masked
from agentgym.compare import MISSING, Comparator
from agentgym.disclosure import Secret
from agentgym.findings import Findings, Result
from agentgym.mentions import mentions
from agentgym.reader import Reader
from agentgym.scenario import Scenario
from agentgym.tools import Tool
from agentgym.trace import Step

if TYPE_CHECKING:
    from agentgym.grade import Evidence

_ANY = 1_000_000
"""After every step."""

_KEPT_AT_MOST = 256


@dataclass(frozen=True)
class AtStart:
    """What a scenario's chain and reasoning ask of the initial state.

    Attributes:
        facts: the values of each fact: of the first column, or rows.
        masked: the values of each ``masked`` condition, in the order of `masks`.
    """

    facts: tuple[tuple[Any, ...], ...] = ()
    masked: tuple[tuple[Secret, ...], ...] = ()


NOTHING = AtStart()
_kept: dict[tuple[int, ...], tuple[Any, AtStart]] = {}


def masks(scenario: Scenario) -> list[Masked]:
    """The ``masked`` conditions of a scenario's reasoning, in their order."""
    points = scenario.reasoning.points if scenario.reasoning is not None else []
    return [c.masked for field, point in points for _, c in point.walk(field) if c.masked is not None]


def at_start(scenario: Scenario, reader: Reader) -> AtStart:
    """Read what is asked of the initial state. Call it before anything happens.

    The same scenario starts from the same state, so what it gives is kept.
    """
    chain, reasoning = scenario.checks.chain, scenario.reasoning
    if chain is None and reasoning is None:
        return NOTHING
    key = (id(chain), id(reasoning), id(scenario.initial_state))
    kept = _kept.get(key)
    if kept is None:
        while len(_kept) >= _KEPT_AT_MOST:
            _kept.pop(next(iter(_kept)), None)
        facts = tuple(_values(fact, reader) for fact in chain.facts) if chain is not None else ()
        masked = tuple(_secrets(mask, reader) for mask in masks(scenario))
        # With what the ids belong to, so that nothing else gets them.
        kept = _kept[key] = ((chain, reasoning, scenario.initial_state), AtStart(facts, masked))
    return kept[1]


def _values(fact: ChainFact, reader: Reader) -> tuple[Any, ...]:
    # Several are in an order of their own: a query has none unless it says so, and the first that lacks is named.
    if fact.type == "record":
        return tuple(sorted(reader.rows(fact.sql, fact.params), key=repr))
    values = reader.column(fact.sql, fact.params)
    return tuple(sorted(values, key=repr)) if fact.type == "set" else tuple(values[:1])


def _secrets(mask: Masked, reader: Reader) -> tuple[Secret, ...]:
    values = (value for value in reader.column(mask.sql, mask.params) if value is not None)
    return tuple(Secret(str(v) if mask.type in ("text", "id") else v, mask.type, mask.currency) for v in values)


def delivered(step: Step) -> bool:
    """Whether a call took place and the agent got its result."""
    return step.ran is not None and step.ok and not step.fault


def results(trace: Sequence[Step], tools: Mapping[str, Tool], writes: bool) -> Iterator[Result]:
    """What the world answered to the agent's reads, or *writes*, before anything changed how it is shown."""
    for step in trace:
        call = step.ran
        if call is None or not delivered(step) or step.writes != writes or tools[call.name].function is None:
            continue
        yield Result(call.name, call.arguments, step.value, step=step.index)


class Line(NamedTuple):
    """One line of the check: name, whether it holds, what was expected and found."""

    name: str
    ok: bool
    expected: Any
    found: Any


def chain_lines(evidence: Evidence) -> Iterator[Line]:
    """The check of a chain: a line for each fact, for the sources, and for what the answer rests on."""
    chain = evidence.scenario.checks.chain
    if chain is None:
        return
    read = evidence.read
    since: dict[str, int | None] = {}
    for fact, values in zip(chain.facts, evidence.start.facts, strict=True):
        since[fact.name], lacking = fact_found(fact, values, read)
        yield Line(
            f"chain[{fact.name}]",
            since[fact.name] is not None,
            "read by the agent",
            f"step {since[fact.name]}" if since[fact.name] is not None else f"never: {lacking}",
        )
    if chain.sources is not None:
        wrong = _wrong_source(chain, evidence)
        yield Line("chain[sources]", not wrong, "no other source than the allowed ones", wrong or "none")
    if chain.grounded:
        got = read.joined(results(evidence.trace, evidence.domain.toolset, writes=True))
        loose = list(_ungrounded(chain, evidence, got, since))
        yield Line("chain[grounded]", not loose, "every value from a result", loose[:5] or "all")


def fact_found(fact: ChainFact, values: Sequence[Any], found: Findings) -> tuple[int | None, str]:
    """The step by which a whole fact was found, None when it was not, and then what is missing."""
    steps = (
        found.rows(values)
        if fact.type == "record"
        else [None if v is None else found.first(fact.comparator(v), fact.in_text) for v in values]
    )
    for value, step in zip(values, steps, strict=True):
        if step is None:
            return None, str(value)
    return max((step for step in steps if step is not None), default=None), "" if values else "no such fact"


def _wrong_source(chain: Chain, evidence: Evidence) -> str:
    """The first read of a source that the policy leaves out, or ""."""
    sources, matches = chain.sources, evidence.matcher.matches
    for step in evidence.trace:
        call = step.ran
        if sources is None or call is None or not step.ok:
            continue
        if any(matches(spec, call) for spec in sources.forbidden):
            return f"{call.name} in step {step.index}"
        reads = not step.writes and evidence.domain.toolset[call.name].function is not None
        if reads and sources.allowed and not any(matches(spec, call) for spec in sources.allowed):
            return f"{call.name} in step {step.index}"
    return ""


def _ungrounded(chain: Chain, evidence: Evidence, got: Findings, since: Mapping[str, int | None]) -> Iterator[str]:
    """The fields whose values stand in no result that came before them."""
    for field, wanted, told in _told(evidence):
        if field in chain.given:
            continue
        sources = chain.calculated.get(field)
        if sources is not None:
            steps = [since[name] for name in sources]
            came = None if None in steps else max(step for step in steps if step is not None)
        else:
            came = got.first(wanted)
        if came is None or came >= told:
            yield field


def _told(evidence: Evidence) -> Iterator[tuple[str, Comparator, int]]:
    """(field, value, the last step in which it was told) of everything that the checks ask to be told."""
    checks = evidence.scenario.checks
    if checks.answer is not None:
        last = evidence.trace[-1].ran if evidence.trace else None
        answer = last.arguments.get("answer") if last is not None else None
        for field, leaf in leaves(checks.answer, checks.answer.value, answer):
            yield field, leaf, _ANY
    for name, asked in checks.answer_state.items():
        values = evidence.reader.column(asked.sql, asked.params)
        if values and values[0] is not None:
            yield name, Comparator(type=asked.type, value=values[0], currency=asked.currency), _ANY
    for i, entry in enumerate(checks.said):
        for j, wanted in enumerate(entry.must):
            for option in wanted.any_of or [wanted]:
                told = _last_told(option, entry.to, evidence.trace)
                if told is not None:
                    yield f"said[{i}].must[{j}]", option, told


def _last_told(wanted: Comparator, party: str, trace: Sequence[Step]) -> int | None:
    name, argument = ("respond", "message") if party == "user" else ("hand_off", "summary")
    for step in reversed(trace):
        told = step.ran is not None and step.ok and step.ran.name == name
        if told and step.ran is not None and mentions(str(step.ran.arguments[argument]), wanted):
            return step.index
    return None


def leaves(spec: Comparator, value: Any, found: Any, field: str = "") -> Iterator[tuple[str, Comparator]]:
    """(field, comparator) of each scalar that an answer must have; the answer itself is field "answer".

    Of alternatives it is the first that *found* meets. What is null has no source.
    """
    if spec.type == "one_of":
        met = next((option for option in spec.any_of if option.matches(found)), None)
        if met is not None:
            yield from leaves(met, met.value, found, field)
    elif spec.type == "object":
        values = value if isinstance(value, dict) else {}
        inner = found if isinstance(found, dict) else {}
        for name, part in spec.fields.items():
            place = f"{field}.{name}" if field else name
            yield from leaves(part, values.get(name, part.value), inner.get(name), place)
    elif spec.items is not None and isinstance(value, list):
        for member in value:
            yield from leaves(spec.items, member, member, field)
    elif spec.type == "json":
        for scalar in _scalars(value):
            yield field or "answer", Comparator(type="json", value=scalar)
    elif value is not MISSING and value is not None:
        yield field or "answer", spec.model_copy(update={"value": value})


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _scalars(entry)
    elif value is not None:
        yield value


def fields_told(scenario: Scenario) -> set[str]:
    """Every field that ``calculated`` can name."""
    checks = scenario.checks
    named = {f"said[{i}].must[{j}]" for i, entry in enumerate(checks.said) for j in range(len(entry.must))}
    if checks.answer is not None:
        options = checks.answer.any_of or [checks.answer]
        named |= {field for option in options for field, _ in leaves(option, option.value, option.value)}
    return named | set(checks.answer_state)
