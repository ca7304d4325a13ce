"""The results of an agent's calls, made ready for looking values up.

A result is JSON. Its *records* are the objects at any depth, each with its own scalar fields. A value that a call only
echoes from its own arguments is no evidence: it was not found out. What is null or empty is no value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, NamedTuple

from agentgym.compare import Comparator, canonical
from agentgym.mentions import exponent, mentions, read_money

__all__ = [
    "Echo",
    "Findings",
    "Plain",
    "Record",
    "Result",
    "echo_of",
    "entries",
    "is_number",
    "is_value",
    "nodes",
    "plain",
]

_CUT: Final = frozenset({"page", "page_size"})
_AMOUNT: Final = re.compile(r"[A-Za-z]{0,3}[^A-Za-z]{1,40}[A-Za-z]{0,8}\.?")
"""What an amount of money may look like at all."""

Plain = tuple[str, Any]
"""A scalar in the form in which equal values are equal: its kind beside it, so that true is not 1."""


class Result(NamedTuple):
    """What a call gave: ``ok`` when it was no error, ``step`` when it was, for reports."""

    name: str
    arguments: Mapping[str, Any]
    value: Any
    ok: bool = True
    step: int = 0


class Record(NamedTuple):
    """An object: its scalar fields, and those of them that are evidence."""

    fields: Mapping[str, Any]
    evidence: frozenset[str]
    step: int


def plain(value: Any) -> Plain:
    """A scalar in a hashable form: 1 and 1.0 are equal, true and 1 are not, nor are 1 and "1"."""
    kind = "bool" if isinstance(value, bool) else "number" if isinstance(value, int | float) else "text"
    return kind, value


def is_number(value: Any) -> bool:
    """Whether it is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_value(value: Any) -> bool:
    """Whether it is a scalar that says something."""
    return isinstance(value, str | int | float) and value != "" and value == value


class Echo(NamedTuple):
    """What a result may only repeat: (field, value) of the arguments, and their values under any field."""

    pairs: frozenset[tuple[str, Plain]]
    values: frozenset[Any]

    def repeats(self, name: str, value: Any) -> bool:
        """Whether the field *name* says back what the caller said: a text anywhere, a number under its name."""
        if not self.values or not is_value(value) or value not in self.values:
            return False
        return (name, plain(value)) in self.pairs or isinstance(value, str)


@dataclass(frozen=True)
class _Taken:
    """A result taken in: the values in it that are evidence, and its objects; *kept* is what was sorted out of them."""

    result: Result
    echo: Echo
    values: set[Any]
    objects: list[dict[str, Any]]
    kept: dict[str, Any]

    def has_alike(self, wanted: Comparator) -> bool:
        """Whether it has the wanted value in another form."""
        if wanted.type == "money":
            # Each amount is read once, however many are wanted.
            currency = wanted.currency or ""
            name = f"money {currency}"
            if name not in self.kept:
                self.kept[name] = {read_money(text, currency) for text in self.texts("") if _AMOUNT.fullmatch(text)}
            return type(wanted.value) is int and wanted.value in self.kept[name]
        return any(wanted.matches(value) for value in _alike(wanted, self))

    def texts(self, ending: str) -> list[str]:
        """The texts among the values that end in a character, but for white space; "" for all."""
        if "texts" not in self.kept:
            texts: dict[str, list[str]] = {"": []}
            for value in self.values:
                if type(value) is str:
                    texts[""].append(value)
                    texts.setdefault(value.rstrip()[-1:], []).append(value)
            self.kept["texts"] = texts
        found: list[str] = self.kept["texts"].get(ending, [])
        return found

    @cached_property
    def numbers(self) -> frozenset[tuple[type, Any]]:
        """The numbers, true and false with their types: in a set, 1, 1.0 and true are the same."""
        return frozenset(
            (type(found), found)
            for node, key in nodes(self.result.value)
            for name, found in entries(node, key)
            if isinstance(found, int | float) and not self.echo.repeats(name, found)
        )

    def has(self, value: Any, kinds: tuple[type, ...]) -> bool:
        """Whether it has a value in one of these types."""
        if value not in self.values:
            return False
        return isinstance(value, str) or any((kind, value) in self.numbers for kind in kinds)


class Findings:
    """The results of calls, made ready for looking values up. Errors are left out.

    Args:
        results: in the order of the calls; the same call twice counts once.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._taken: list[_Taken] = []
        self.add(results)

    def add(self, results: Iterable[Result]) -> None:
        """Take more results in."""
        self._taken += [_take(result) for result in results if result.ok]
        self._taken.sort(key=lambda taken: taken.result.step)
        for lazy in ("records", "counts"):
            self.__dict__.pop(lazy, None)

    @cached_property
    def records(self) -> list[Record]:
        """Every object of distinct calls."""
        return [
            Record(node, frozenset(n for n, v in node.items() if is_value(v) and not echo.repeats(n, v)), result.step)
            for result, echo in self._distinct
            for node, _ in nodes(result.value)
            if isinstance(node, dict)
        ]

    @cached_property
    def counts(self) -> Counter[Plain]:
        """How often distinct calls gave each value."""
        counts: Counter[Plain] = Counter()
        for result, echo in self._distinct:
            for node, key in nodes(result.value):
                for name, value in entries(node, key):
                    if is_value(value) and not echo.repeats(name, value):
                        counts[plain(value)] += 1
        return counts

    @property
    def _distinct(self) -> Iterator[tuple[Result, Echo]]:
        calls = {canonical([t.result.name, dict(t.result.arguments)]): t for t in reversed(self._taken)}
        return ((taken.result, taken.echo) for taken in reversed(calls.values()))

    def first(self, wanted: Comparator, in_text: bool = False) -> int | None:
        """The step of the first result that has a value; None where none has.

        Args:
            wanted: the value, of a scalar type.
            in_text: it may stand inside a longer text.
        """
        for taken in self._taken:
            if any(taken.has(value, kinds) for value, kinds in _forms(wanted)):
                return taken.result.step
        for taken in self._taken:
            if taken.has_alike(wanted):
                return taken.result.step
            if in_text and any(isinstance(text, str) and mentions(text, wanted) for text in taken.values):
                return taken.result.step
        return None

    def first_of(self, wanted: Sequence[Comparator]) -> int | None:
        """The step of the first result that has one of some values, as they stand or, if none has, in another form."""
        forms = [form for each in wanted for form in _forms(each)]
        values = {value for value, _ in forms}
        for taken in self._taken:
            if not values.isdisjoint(taken.values) and any(taken.has(value, kinds) for value, kinds in forms):
                return taken.result.step
        for taken in self._taken:
            if any(taken.has_alike(each) for each in wanted):
                return taken.result.step
        return None

    def joined(self, results: Iterable[Result]) -> Findings:
        """These results and more, as findings of their own."""
        both = Findings()
        both._taken = list(self._taken)
        both.add(results)
        return both

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> list[int | None]:
        """For each of some rows with the same columns, the step of the first record that has all its fields.

        One field at least must be evidence. Rows come from SQL, where true is 1.
        """
        if not rows:
            return []
        columns = tuple(rows[0])
        cells = itemgetter(*columns)
        wanted: dict[Any, int | None] = {cells(row): None for row in rows}
        for taken in self._taken:
            for node in taken.objects:
                try:
                    key = cells(node)
                    if wanted.get(key, 0) is not None or all(taken.echo.repeats(name, node[name]) for name in columns):
                        continue
                except (KeyError, TypeError):
                    # Without a column, or with a list or an object there, it is no such row.
                    continue
                wanted[key] = taken.result.step
        return [wanted[cells(row)] for row in rows]


def _take(result: Result) -> _Taken:
    echo = echo_of(result.arguments)
    taken = _Taken(result, echo, set(), [], {})
    values, said = taken.values, echo.values
    waiting: list[tuple[Any, str]] = [(result.value if isinstance(result.value, dict | list) else [result.value], "")]
    while waiting:
        node, key = waiting.pop()
        if type(node) is dict:
            taken.objects.append(node)
            # A plain row at once: a verdict looks thousands of values over.
            inner = node.values()
            try:
                if "items" not in node and (not said or said.isdisjoint(inner)):
                    values.update(inner)
                    continue
            except TypeError:
                # Something in it is an object or a list.
                pass
        skipped = _CUT if type(node) is dict and "items" in node else frozenset()
        for name, value in entries(node, key):
            if isinstance(value, dict | list):
                waiting.append((value, name))
            elif name not in skipped and not echo.repeats(name, value):
                values.add(value)
    values.difference_update((None, ""))
    return taken


def _forms(wanted: Comparator) -> list[tuple[Any, tuple[type, ...]]]:
    """The values, with their types, that are the wanted one as they stand."""
    value = wanted.value
    if isinstance(value, bool):
        return [(value, (bool,))]
    if wanted.type == "money":
        return [(value, (int,)), (value / 10 ** exponent(wanted.currency or ""), (float,))]
    return [(value, (str,) if isinstance(value, str) else (int, float))]


def _alike(wanted: Comparator, taken: _Taken) -> Iterator[Any]:
    """Those of the values of a result that may be the wanted one, which is no amount, in another form."""
    if wanted.type == "number" and wanted.tolerance:
        near = 1.01 * wanted.tolerance + 1e-9 * abs(wanted.value)
        yield from (value for value in taken.values if is_number(value) and abs(value - wanted.value) <= near)
    elif wanted.type == "date":
        yield from (text for text in taken.texts("") if text[4:8:3] == "--" or text[:1].isspace())
    elif wanted.type == "text":
        yield from taken.texts(wanted.value.strip()[-1:] if wanted.value.isascii() else "")


def echo_of(arguments: Mapping[str, Any]) -> Echo:
    """What a result of these arguments may only repeat."""
    pairs = {
        (name, plain(value))
        for node, key in nodes(dict(arguments))
        for name, value in entries(node, key)
        if is_value(value)
    }
    return Echo(frozenset(pairs), frozenset(value for _, (_, value) in pairs))


def entries(node: dict[str, Any] | list[Any], key: str) -> Iterator[tuple[str, Any]]:
    """(field, value) of an object, or of the members of a list under its own field."""
    return iter(node.items()) if isinstance(node, dict) else ((key, entry) for entry in node)


def nodes(value: Any) -> Iterator[tuple[dict[str, Any] | list[Any], str]]:
    """Every object and list in a JSON value, the outer before the inner, with the key it stands under."""
    waiting: list[tuple[Any, str]] = [(value if isinstance(value, dict | list) else [value], "")]
    while waiting:
        node, key = waiting.pop()
        yield node, key
        waiting += [(entry, name) for name, entry in entries(node, key) if isinstance(entry, dict | list)]
