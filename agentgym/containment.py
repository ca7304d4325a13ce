"""Containment by values: does what some calls gave hold what other results hold, whatever the tools and their order?

Numbers compare by value, true is not 1, other forms of a value ("12.50" for 1250 cents) only where a type is declared
for the field. A value that a call only echoes from its own arguments, or that stands in the question, is no evidence:
it was not found out. What is null or empty is no value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from agentgym.compare import Comparator, compare
from agentgym.findings import Findings, Plain, Record, Result, echo_of, is_number, is_value, nodes, plain
from agentgym.mentions import mentions

__all__ = ["PAGING", "Containment", "Rules", "contained"]

PAGING: Final = frozenset({"page", "page_size", "total"})
"""Fields that say how a list was cut, beside its ``items``."""


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
        if self.tolerance and is_number(wanted) and is_number(found):
            return compare(wanted, found, "number", tolerance=self.tolerance)
        return plain(wanted) == plain(found)


class Containment(NamedTuple):
    """Whether all was recovered. ``undecided``: each value was, but not those of one record together."""

    status: Literal["yes", "no", "undecided"]
    missing: tuple[str, ...] = ()


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
    echo = echo_of(result.arguments)
    units: dict[tuple[Any, ...], _Unit] = {}

    def evident(name: str, value: Any) -> bool:
        return not echo.repeats(name, value) and not _stands_in(question, value)

    def add(unit: _Unit) -> None:
        key = (unit.whole, *((name, plain(value)) for name, value in (*unit.wanted, *unit.others)))
        units[key] = unit._replace(times=units[key].times + 1) if key in units else unit

    for node, key in nodes(result.value):
        if isinstance(node, dict):
            skipped = rules.ignore if isinstance(node.get("items"), list) else frozenset()
            own = [(n, v) for n, v in sorted(node.items()) if is_value(v) and n not in skipped]
            wanted = tuple((n, v) for n, v in own if evident(n, v))
            if wanted:
                names = {name for name, _ in wanted}
                add(_Unit(wanted, tuple((n, v) for n, v in own if n not in names), 1, True))
        else:
            for value in node:
                if is_value(value) and evident(key, value):
                    add(_Unit(((key, value),), (), 1, False))
    yield from units.values()


def _stands_in(question: str, value: Any) -> bool:
    if not question or isinstance(value, bool):
        return False
    kind = "text" if isinstance(value, str) else "number"
    return mentions(question, Comparator.model_validate({"type": kind, "value": value}))


def _index(found: Findings, rules: Rules) -> dict[Plain, list[Record]]:
    """Records by each of their values, where equal values have equal plain forms."""
    index: dict[Plain, list[Record]] = {}
    for record in found.records if rules.exact else ():
        for value in dict.fromkeys(plain(v) for v in record.fields.values() if is_value(v)):
            index.setdefault(value, []).append(record)
    return index


def _found_whole(unit: _Unit, found: Findings, index: Mapping[Plain, list[Record]], rules: Rules) -> int:
    """How many records hold all of a unit."""
    if rules.exact:
        candidates = min((index.get(plain(value), []) for _, value in unit.wanted), key=len)
    else:
        candidates = found.records
    return sum(_holds(record, unit, rules) for record in candidates)


def _holds(record: Record, unit: _Unit, rules: Rules) -> bool:
    """Whether a record has the wanted values, under the same field where it has that one; one at least as evidence."""
    evident = False
    for name, value in unit.wanted:
        if name in record.fields:
            names = [name] if rules.same(name, value, record.fields[name]) else []
        else:
            names = [n for n, v in record.fields.items() if is_value(v) and rules.same(name, value, v)]
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
