"""Near misses of a gold end state: the world as gold leaves it with one thing in it wrong."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agentgym import changes as log
from agentgym.changes import Row, Table
from agentgym.domain import Domain
from agentgym.net import NetChange
from agentgym.scenario import Scenario
from agentgym.text import dumps

Values = frozenset[Any]

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_SIBLINGS = 2
_EXTRA_KEY = "-near"


class NearMiss(NamedTuple):
    """A patch of the world, what it does in words, and its kind.

    ``kind`` is one of amount, other, status, time, moved, extra, deleted, undone.
    """

    kind: str
    what: str
    patch: dict[str, Any]


class NearMisses:
    """Makes the near misses of one end state.

    Args:
        domain: its domain.
        scenario: whose end state it is.
        connection: the world as gold leaves it, before the ending call.
        net: what gold changed in it.
        seen: every value that gold sent or was shown.
    """

    def __init__(
        self,
        domain: Domain,
        scenario: Scenario,
        connection: sqlite3.Connection,
        net: Iterable[NetChange],
        seen: Iterable[Any],
    ) -> None:
        self._connection, self._net = connection, list(net)
        self._volatile = domain.volatile
        self._tables = {n: t for n, t in log.tables(connection).items() if not n.startswith("_")}
        self._holders = {t.key[0]: t for t in self._tables.values() if len(t.key) == 1}
        self._texts = _query_texts(scenario)
        self._literals = frozenset(_literals(scenario))
        self._seen = frozenset(value for value in seen if isinstance(value, str))
        self._legal = {name: _legal_values(connection, name) for name in self._tables}

    def changed(self) -> Iterator[NearMiss]:
        """Near misses in the rows that gold changed."""
        for change in self._net:
            table = self._tables[change.table]
            if change.now is None:
                yield NearMiss("undone", f"{_name(change)} is back", {table.name: [change.base]})
                continue
            yield from self._columns(table, change.now)
            if change.base is None:
                yield from self._copies(table, change.now)
            else:
                yield from self._reverts(table, change, change.base, change.now)

    def read(self) -> Iterator[NearMiss]:
        """Near misses in the other rows that the checks name."""
        return self._unchanged(self._literals)

    def around(self) -> Iterator[NearMiss]:
        """Near misses in the rows that the checks do not name: first those that gold came across."""
        yield from self._unchanged(self._seen - self._literals)
        yield from self._unchanged(None)

    def _unchanged(self, known: Values | None) -> Iterator[NearMiss]:
        met = {(change.table, change.key) for change in self._net}
        for table in self._tables.values():
            for row in self._all(f"SELECT * FROM {log.quote(table.name)} ORDER BY {_keys(table)}", table):
                place = (table.name, table.key_of(row))
                if place not in met and (known is None or row[table.key[0]] in known):
                    yield from self._columns(table, row)
                    yield from self._copies(table, row)

    def _all(self, sql: str, table: Table, *values: Any) -> list[Row]:
        return [dict(zip(table.columns, row, strict=True)) for row in self._connection.execute(sql, values).fetchall()]

    def _columns(self, table: Table, row: Row) -> Iterator[NearMiss]:
        """One column of a row another."""
        for column in table.columns:
            if column in table.key or f"{table.name}.{column}" in self._volatile:
                continue
            for kind, value in self._others(table, column, row):
                place = f"{table.name}{list(table.key_of(row))}.{column}"
                what = f"{place} is {dumps(value)} instead of {dumps(row[column])}"
                yield NearMiss(kind, what, {table.name: [{**_key(table, row), column: value}]})

    def _others(self, table: Table, column: str, row: Row) -> Iterator[tuple[str, Any]]:
        value = row[column]
        legal = self._legal[table.name].get(column, ())
        if isinstance(value, int):
            yield from (("amount", value + step) for step in (1, -1))
        elif legal:
            yield from (("status", other) for other in legal if other != value)
        elif column in self._holders or (column.endswith("_id") and value is not None):
            yield from (("other", other) for other in self._siblings(column, row))
        elif isinstance(value, str) and _DATE.fullmatch(value):
            # A moment is only looked at where a check names the column; nothing else can be asked of the clock.
            if re.search(rf"\b{re.escape(column)}\b", self._texts):
                yield from (("time", _shifted(self._connection, value, days)) for days in (1, -1))
        elif isinstance(value, str):
            name, where = log.quote(column), log.quote(table.name)
            sql = f"SELECT DISTINCT {name} FROM {where} WHERE {name} IS NOT ? ORDER BY {name} LIMIT ?"
            yield from (("other", found) for (found,) in self._connection.execute(sql, (value, _SIBLINGS)).fetchall())

    def _siblings(self, column: str, row: Row) -> list[Any]:
        """Keys of other rows for a column that names one: first those that share most with the row named."""
        holder = self._holders.get(column)
        if holder is None:
            return []
        rows = self._all(f"SELECT * FROM {log.quote(holder.name)} ORDER BY {_keys(holder)}", holder)
        own = next((r for r in rows if r[column] == row[column]), row)
        shared = [c for c in holder.columns if c.endswith("_id") and c != column and own.get(c) is not None]
        others = [r for r in rows if r[column] != row[column]]
        others.sort(key=lambda r: -sum(r[c] == own[c] for c in shared))
        return [r[column] for r in others[:_SIBLINGS]]

    def _copies(self, table: Table, row: Row) -> Iterator[NearMiss]:
        """A row once more, or not at all."""
        key = table.key_of(row)
        last = table.key[-1]
        new = f"{row[last]}{_EXTRA_KEY}" if isinstance(row[last], str) else row[last] + 1_000_000
        yield NearMiss("extra", f"{table.name}{list(key)} twice", {table.name: [{**row, last: new}]})
        if len(key) == 1:
            yield NearMiss("deleted", f"{table.name}{list(key)} deleted", {table.name: {key[0]: None}})

    def _reverts(self, table: Table, change: NetChange, base: Row, now: Row) -> Iterator[NearMiss]:
        """An update not made, or made in a sibling row."""
        columns = [c for c in change.columns if f"{table.name}.{c}" not in self._volatile]
        for column in columns:
            patch = {table.name: [{**_key(table, now), column: base[column]}]}
            yield NearMiss("undone", f"{_name(change)}.{column} is unchanged", patch)
        if len(table.key) != 1 or not columns:
            return
        undo = {**_key(table, now), **{column: base[column] for column in columns}}
        for key in self._siblings(table.key[0], now):
            other = {table.key[0]: key, **{column: now[column] for column in columns}}
            yield NearMiss("moved", f"{_name(change)} done to {key}", {table.name: [undo, other]})


def _key(table: Table, row: Row) -> Row:
    return {column: row[column] for column in table.key}


def _keys(table: Table) -> str:
    return ", ".join(log.quote(column) for column in table.key)


def _name(change: NetChange) -> str:
    return f"{change.table}{list(change.key)}"


def _shifted(connection: sqlite3.Connection, value: str, days: int) -> str:
    day = connection.execute("SELECT date(?, ?)", (value[:10], f"{days:+d} days")).fetchall()[0][0]
    return f"{day}{value[10:]}"


def _legal_values(connection: sqlite3.Connection, table: str) -> dict[str, list[Any]]:
    """Column → the values that its CHECK names."""
    sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchall()[0][0]
    found = re.findall(r"CHECK\s*\(\s*\"?(\w+)\"?\s+IN\s*\(([^)]*)\)", sql, re.IGNORECASE)
    return {column: [text.replace("''", "'") for text in _QUOTED.findall(values)] for column, values in found}


def _query_texts(scenario: Scenario) -> str:
    checks = scenario.checks
    queries = [*checks.final_state, *checks.text, *checks.answer_state.values()]
    columns = [column for entry in checks.may_change for column in entry.where]
    return " ".join([*(query.sql for query in queries), *columns])


def _literals(scenario: Scenario) -> Iterator[Any]:
    """What the checks' queries and allowed changes name."""
    checks = scenario.checks
    for query in (*checks.final_state, *checks.text, *checks.answer_state.values()):
        yield from (text.replace("''", "'") for text in _QUOTED.findall(query.sql))
        yield from _scalars(query.params)
    for entry in checks.may_change:
        yield from _scalars(entry.where)


def _scalars(values: Mapping[str, Any]) -> Iterator[Any]:
    for value in values.values():
        yield from (entry for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, str))
