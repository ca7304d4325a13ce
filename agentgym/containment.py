"""Containment by values: does what some calls gave hold what other results hold, whatever the tools and their order?

A result is JSON. Its *records* are the objects at any depth, each with its own scalar fields; its *leaves* are all
scalars. Numbers compare by value, true is not 1, other forms of a value ("12.50" for 1250 cents) only where a type is
declared for the field. A value that a call only echoes from its own arguments, or that stands in the question, is no
evidence: it was not found out. What is null or empty is no value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from agentgym.compare import Comparator, canonical, compare
from agentgym.mentions import mentions

__all__ = ["PAGING", "Containment", "Findings", "Result", "Rules", "contained"]

PAGING: Final = frozenset({"page", "page_size", "total"})
"""Fields that say how a list was cut, beside its ``items``."""

_CUT: Final = frozenset({"page", "page_size"})
_TEXTS: Final = frozenset({"text", "id", "date"})
Plain = tuple[str, Any]
"""A scalar in the form in which equal values are equal: its kind beside it, so that true is not 1."""


class Result(NamedTuple):
    """What a call gave: ``ok`` when it was no error, ``step`` when it was, for reports."""

    name: str
    arguments: Mapping[str, Any]
    value: Any
    ok: bool = True
    step: int = 0


@dataclass(frozen=True)
class Rules:
    """How values compare.

    Attributes:
        types: field name → comparator without a value, for fields whose forms differ.
        tolerance: absolute, of all other numbers; 0 is equality.
        ignore: fields beside a list ``items`` that say nothing by themselves.
    """

    types: Mapping[str, Comparator] = field(default_factory=dict)
    tolerance: float = 0.0
    ignore: frozenset[str] = PAGING

    @property
    def exact(self) -> bool:
        """Equal values are equal in their plain form."""
        return not self.types and not self.tolerance

    def same(self, name: str, wanted: Any, found: Any) -> bool:
        """Whether *found* is the wanted value of the field *name*."""
        declared = self.types.get(name)
        if declared is not None:
            try:
                return compare(wanted, found, declared.type, tolerance=declared.tolerance, currency=declared.currency)
            except ValueError:
                return plain(wanted) == plain(found)
        if self.tolerance and _is_number(wanted) and _is_number(found):
            return compare(wanted, found, "number", tolerance=self.tolerance)
        return plain(wanted) == plain(found)


class Containment(NamedTuple):
    """Whether all was recovered. ``undecided``: each value was, but not those of one record together."""

    status: Literal["yes", "no", "undecided"]
    missing: tuple[str, ...] = ()


class _Record(NamedTuple):
    """An object: its scalar fields, and those of them that are evidence."""

    fields: Mapping[str, Any]
    evidence: frozenset[str]
    step: int


def plain(value: Any) -> Plain:
    """A scalar in a hashable form: 1 and 1.0 are equal, true and 1 are not, nor are 1 and "1"."""
    kind = "bool" if isinstance(value, bool) else "number" if isinstance(value, int | float) else "text"
    return kind, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_value(value: Any) -> bool:
    """Whether it is a scalar that says something."""
    return isinstance(value, str | int | float) and value != "" and value == value


class Findings:
    """The results of calls, made ready for looking values up. Errors are left out.

    Args:
        results: in the order of the calls; the same call twice counts once.
    """

    def __init__(self, results: Iterable[Result]) -> None:
        self.records: list[_Record] = []
        self.counts: Counter[Plain] = Counter()
        self._leaves: dict[Plain, int] = {}
        self._tables: dict[tuple[str, ...], dict[tuple[Plain, ...], int]] = {}
        seen: set[str] = set()
        for result in results:
            if result.ok:
                repeated = (call := canonical([result.name, dict(result.arguments)])) in seen
                seen.add(call)
                self._take(result, repeated)

    def _take(self, result: Result, repeated: bool) -> None:
        pairs, texts = _echoes(result.arguments)
        leaves, counts, step = self._leaves, self.counts, result.step
        for node, key in _nodes(result.value):
            scalars = node.items() if isinstance(node, dict) else ((key, entry) for entry in node)
            skipped = _CUT if isinstance(node, dict) and "items" in node else frozenset()
            evidence = []
            for name, value in scalars:
                if not _is_value(value) or name in skipped:
                    continue
                leaf = plain(value)
                if (name, leaf) in pairs or (leaf[0] == "text" and value in texts):
                    continue
                evidence.append(name)
                leaves.setdefault(leaf, step)
                if not repeated:
                    counts[leaf] += 1
            if isinstance(node, dict) and not repeated:
                self.records.append(_Record(node, frozenset(evidence), step))

    def first(self, wanted: Comparator, in_text: bool = False) -> int | None:
        """The step of the first result that has a value; None where none has.

        Args:
            wanted: the value, of a scalar type.
            in_text: it may stand inside a longer text.
        """
        exact = self._leaves.get(plain(wanted.value)) if wanted.value.__hash__ is not None else None
        found = [] if exact is None else [exact]
        if exact is None or in_text:
            alike = "text" if wanted.type in _TEXTS else ""
            found += [
                step
                for (kind, value), step in self._leaves.items()
                if (not alike or kind == alike)
                and (wanted.matches(value) or (in_text and kind == "text" and mentions(value, wanted)))
            ]
        return min(found, default=None)

    def record(self, row: Mapping[str, Any]) -> int | None:
        """The step of the first record that has all fields of a row, one of which at least is evidence."""
        columns = tuple(row)
        table = self._tables.get(columns)
        if table is None:
            table = self._tables[columns] = {}
            for record in self.records:
                if not record.evidence.isdisjoint(columns) and all(name in record.fields for name in columns):
                    table.setdefault(tuple(_field(record.fields[name]) for name in columns), record.step)
        return table.get(tuple(_field(row[name]) for name in columns))


def _field(value: Any) -> Plain:
    return plain(value) if value is None or isinstance(value, str | int | float) else ("json", canonical(value))


def _echoes(arguments: Mapping[str, Any]) -> tuple[set[tuple[str, Plain]], set[str]]:
    """What a result may only repeat: (field, value) of the arguments, and their texts under any field."""
    pairs: set[tuple[str, Plain]] = set()
    texts: set[str] = set()
    for node, key in _nodes(arguments):
        for name, value in node.items() if isinstance(node, dict) else ((key, entry) for entry in node):
            if _is_value(value):
                pairs.add((name, plain(value)))
                if isinstance(value, str):
                    texts.add(value)
    return pairs, texts


def _nodes(value: Any) -> Iterator[tuple[dict[str, Any] | list[Any], str]]:
    """Every object and list in a JSON value, the outer before the inner, with the key it stands under."""
    if not isinstance(value, dict | list):
        yield [value], ""
        return
    waiting: list[tuple[Any, str]] = [(value, "")]
    while waiting:
        node, key = waiting.pop()
        yield node, key
        inner = node.items() if isinstance(node, dict) else ((key, entry) for entry in node)
        waiting += [(entry, name) for name, entry in inner if isinstance(entry, dict | list)]


class _Unit(NamedTuple):
    """What must be recovered together: ``wanted`` fields and the others, which must not contradict; so many times."""

    wanted: tuple[tuple[str, Any], ...]
    others: tuple[tuple[str, Any], ...]
    times: int
    whole: bool


def contained(gold: Sequence[Result], found: Findings, question: str = "", rules: Rules | None = None) -> Containment:
    """Whether everything that the gold results hold was found.

    Args:
        gold: results of gold; errors among them are left out. Nothing in them that is evidence is "no".
        found: results of the agent.
        question: what the agent was told at the start: values in it are no evidence.
        rules: how values compare.

    Returns:
        "yes" when each gold record was found in one record, whatever the order and whatever else was there;
        "undecided" when each of its values was found, but in several; else "no", with what is missing.
    """
    rules = rules or Rules()
    units = [unit for result in gold if result.ok for unit in _units(result, question, rules)]
    if not units:
        return Containment("no", ("gold holds nothing that had to be found out",))
    index = _index(found, rules)
    missing: list[str] = []
    apart = False
    for unit in units:
        if unit.whole and _found_whole(unit, found, index, rules) >= unit.times:
            continue
        lacking = [
            f"{name or 'value'} {value!r}"
            for name, value in unit.wanted
            if not _somewhere(name, value, unit, found, rules)
        ]
        missing += lacking
        apart = apart or unit.whole
    if missing:
        return Containment("no", tuple(dict.fromkeys(missing)))
    return Containment("undecided" if apart else "yes")


def _units(result: Result, question: str, rules: Rules) -> Iterator[_Unit]:
    pairs, texts = _echoes(result.arguments)
    units: dict[tuple[Any, ...], _Unit] = {}

    def evident(name: str, value: Any) -> bool:
        if (name, plain(value)) in pairs or (isinstance(value, str) and value in texts):
            return False
        return not _stands_in(question, value)

    def add(unit: _Unit) -> None:
        key = (unit.whole, *((name, plain(value)) for name, value in (*unit.wanted, *unit.others)))
        units[key] = unit._replace(times=units[key].times + 1) if key in units else unit

    for node, key in _nodes(result.value):
        if isinstance(node, dict):
            skipped = rules.ignore if isinstance(node.get("items"), list) else frozenset()
            own = [(n, v) for n, v in sorted(node.items()) if _is_value(v) and n not in skipped]
            wanted = tuple((n, v) for n, v in own if evident(n, v))
            if wanted:
                names = {name for name, _ in wanted}
                add(_Unit(wanted, tuple((n, v) for n, v in own if n not in names), 1, True))
        else:
            for value in node:
                if _is_value(value) and evident(key, value):
                    add(_Unit(((key, value),), (), 1, False))
    yield from units.values()


def _stands_in(question: str, value: Any) -> bool:
    if not question or isinstance(value, bool):
        return False
    kind = "text" if isinstance(value, str) else "number"
    return mentions(question, Comparator.model_validate({"type": kind, "value": value}))


def _index(found: Findings, rules: Rules) -> dict[Plain, list[_Record]]:
    """Records by each of their values, where equal values have equal plain forms."""
    index: dict[Plain, list[_Record]] = {}
    for record in found.records if rules.exact else ():
        for value in dict.fromkeys(plain(v) for v in record.fields.values() if _is_value(v)):
            index.setdefault(value, []).append(record)
    return index


def _found_whole(unit: _Unit, found: Findings, index: Mapping[Plain, list[_Record]], rules: Rules) -> int:
    """How many records hold all of a unit."""
    if rules.exact:
        candidates = min((index.get(plain(value), []) for _, value in unit.wanted), key=len)
    else:
        candidates = found.records
    return sum(_holds(record, unit, rules) for record in candidates)


def _holds(record: _Record, unit: _Unit, rules: Rules) -> bool:
    """Whether a record has the wanted values, under the same field where it has that one; one at least as evidence."""
    evident = False
    for name, value in unit.wanted:
        if name in record.fields:
            names = [name] if rules.same(name, value, record.fields[name]) else []
        else:
            names = [n for n, v in record.fields.items() if _is_value(v) and rules.same(name, value, v)]
        if not names:
            return False
        evident = evident or not record.evidence.isdisjoint(names)
    contradicted = (n in record.fields and not rules.same(n, v, record.fields[n]) for n, v in unit.others)
    return evident and not any(contradicted)


def _somewhere(name: str, value: Any, unit: _Unit, found: Findings, rules: Rules) -> bool:
    """Whether a value was found as often as the unit asks for, in whatever records."""
    if found.counts[plain(value)] >= unit.times:
        return True
    if rules.exact:
        return False
    return sum(n for (_, v), n in found.counts.items() if rules.same(name, value, v)) >= unit.times
