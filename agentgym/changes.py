"""The change log of a world: triggers that write each inserted, updated and deleted row into one table.

The triggers are part of the snapshot's schema, so they exist wherever the snapshot is restored. Standard library
only: this runs inside the container image too.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

LOG = "_changes"
"""The log itself. Tables whose name starts with an underscore belong to the core and are exempt from ``may_change``."""

_ON = "_logging"
"""Holds a row while inserts are logged: those of a patch at a reset are not, and would pay for it."""

_BEGIN = f"INSERT OR IGNORE INTO {_ON} VALUES (1)"

_INTERNAL = f"""
CREATE TABLE IF NOT EXISTS {_ON} (yes INTEGER PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS {LOG} (seq INTEGER PRIMARY KEY, tbl TEXT NOT NULL, old TEXT, new TEXT) STRICT;
CREATE TABLE IF NOT EXISTS _counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS _idempotency (
    key TEXT PRIMARY KEY, tool TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

Row = dict[str, Any]
Origin = Literal["agent", "user", "event"]


class Change(NamedTuple):
    """One row changed: ``old`` is None for an insert, ``new`` is None for a delete; ``key`` is the primary key."""

    table: str
    key: tuple[Any, ...]
    old: Row | None
    new: Row | None
    origin: Origin

    @property
    def op(self) -> Literal["insert", "update", "delete"]:
        """What happened to the row."""
        return "insert" if self.old is None else "delete" if self.new is None else "update"

    def to_json(self) -> list[Any]:
        """The change as a JSON list."""
        return [self.table, packed(self.key), packed(self.old), packed(self.new), self.origin]

    @classmethod
    def from_json(cls, parts: list[Any]) -> Change:
        """The inverse of `to_json`."""
        table, key, old, new, origin = parts
        return cls(table, tuple(unpacked(key)), unpacked(old), unpacked(new), origin)


class Table(NamedTuple):
    """A table: its columns in order, its primary key, the columns to spell with care, those that need a value."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    careful: frozenset[str]
    needed: frozenset[str]

    def key_of(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The primary key of *row*."""
        return tuple(row[column] for column in self.key)


def packed(values: Any) -> Any:
    """A row, a key or None as JSON-able data: blobs become ``{"blob": hex}``."""
    if isinstance(values, Mapping):
        return {column: packed(value) for column, value in values.items()}
    if isinstance(values, list | tuple):
        return [packed(value) for value in values]
    return {"blob": values.hex()} if isinstance(values, bytes) else values


def unpacked(values: Any) -> Any:
    """The inverse of `packed`."""
    if isinstance(values, Mapping):
        return {column: _value(value) for column, value in values.items()}
    return [_value(value) for value in values] if isinstance(values, list) else values


def _value(value: Any) -> Any:
    return bytes.fromhex(value["blob"]) if type(value) is dict else value


def quote(name: str) -> str:
    """Return *name* as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def tables(connection: sqlite3.Connection) -> dict[str, Table]:
    """Describe every ordinary table of *connection* but the log's, by name, in alphabetical order.

    Raises:
        ValueError: a table has no primary key, so its rows have no identity to compare by.
    """
    names = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    virtual = [name for name, sql in names if sql.upper().startswith("CREATE VIRTUAL")]
    found: dict[str, Table] = {}
    for name, _ in names:
        if name in (LOG, _ON) or any(name == v or name.startswith(v + "_") for v in virtual):
            continue
        info = connection.execute(f"PRAGMA table_info({quote(name)})").fetchall()
        key = tuple(row[1] for row in sorted((r for r in info if r[5]), key=lambda r: int(r[5])))
        if not key:
            raise ValueError(f"table {name!r} has no primary key; every table of a world needs one")
        # Only a strict table keeps what its columns declare.
        strict = connection.execute("SELECT strict FROM pragma_table_list(?) WHERE schema = 'main'", (name,)).fetchall()
        plain = ("INTEGER", "INT", "TEXT") if strict == [(1,)] else ()
        careful = frozenset(row[1] for row in info if row[2].upper() not in plain)
        needed = frozenset(row[1] for row in info if row[3] and row[4] is None)
        found[name] = Table(name, tuple(row[1] for row in info), key, careful, needed)
    return found


def putting(table: Table, columns: tuple[str, ...]) -> tuple[str, str]:
    """SQL that writes a row given in these columns, inserting or updating it: one statement, or "" and an update.

    A row that leaves out a column without a default can only update one that is there. The update takes the columns by
    number, in the order given.
    """
    number = {column: n for n, column in enumerate(columns, 1)}
    where = " AND ".join(f"{quote(column)} = ?{number[column]}" for column in table.key)
    rest = [column for column in columns if column not in table.key]
    # With nothing but the key, the row is only looked for.
    changed = ", ".join(f"{quote(c)} = ?{number[c]}" for c in rest or table.key[:1])
    if not table.needed <= set(columns):
        return "", f"UPDATE {quote(table.name)} SET {changed} WHERE {where}"
    names, marks = ", ".join(map(quote, columns)), ", ".join("?" for _ in columns)
    keys = ", ".join(map(quote, table.key))
    news = ", ".join(f"{quote(column)} = excluded.{quote(column)}" for column in rest)
    action = f"UPDATE SET {news}" if rest else "NOTHING"
    return f"INSERT INTO {quote(table.name)} ({names}) VALUES ({marks}) ON CONFLICT ({keys}) DO {action}", ""


def filling(name: str, columns: tuple[str, ...]) -> str:
    """SQL that inserts a row given in these columns, but for one that a row already there stands against."""
    names, marks = ", ".join(map(quote, columns)), ", ".join("?" for _ in columns)
    return f"INSERT OR IGNORE INTO {quote(name)} ({names}) VALUES ({marks})"


def install(connection: sqlite3.Connection) -> None:
    """Create the log, the core's own tables and the triggers of every table. Call it after the schema, once."""
    connection.executescript(_INTERNAL)
    # Patches insert most of all, and in each connection the condition takes as much memory as the trigger itself.
    when = f"WHEN EXISTS (SELECT 1 FROM {_ON}) "
    for table in tables(connection).values():
        old, new = _packed(table, "OLD"), _packed(table, "NEW")
        for op, left, right in (("INSERT", "NULL", new), ("UPDATE", old, new), ("DELETE", old, "NULL")):
            connection.execute(
                f"CREATE TRIGGER {quote(f'_log_{table.name}_{op.lower()}')} AFTER {op} ON {quote(table.name)} "
                f"{when if op == 'INSERT' else ''}BEGIN "
                f"INSERT INTO {LOG} (tbl, old, new) VALUES ({_literal(table.name)}, {left}, {right}); END"
            )


def begin(connection: sqlite3.Connection) -> None:
    """Log every change from here on; in a snapshot itself, inserts are not logged."""
    connection.execute(_BEGIN)


def take(connection: sqlite3.Connection, known: Mapping[str, Table], origin: Origin) -> list[Change]:
    """Read the log, empty it and return its changes in order. A row whose values did not change is left out."""
    rows = connection.execute(f"SELECT tbl, old, new FROM {LOG} ORDER BY seq").fetchall()
    if not rows:
        return []
    connection.execute(f"DELETE FROM {LOG}")
    changes: list[Change] = []
    for name, old_text, new_text in rows:
        table = known[name]
        old, new = _unpacked(table, old_text), _unpacked(table, new_text)
        if old is not None and new is not None and table.key_of(old) != table.key_of(new):
            changes.append(Change(name, table.key_of(old), old, None, origin))
            changes.append(Change(name, table.key_of(new), None, new, origin))
        elif old != new:
            changes.append(Change(name, table.key_of(new if new is not None else old or {}), old, new, origin))
    return changes


def replay(connection: sqlite3.Connection, known: Mapping[str, Table], changes: Iterable[Change]) -> None:
    """Apply *changes* to another connection with the same schema, so that both hold the same rows."""
    for change in changes:
        table = known[change.table]
        write, delete = _replaying(table)
        if change.new is None:
            connection.execute(delete, change.key)
        else:
            connection.execute(write, [change.new[column] for column in table.columns])


@lru_cache(maxsize=1024)
def _replaying(table: Table) -> tuple[str, str]:
    """SQL that writes a whole row of *table*, and SQL that deletes the row of a key."""
    # No REPLACE: that deletes the row first, and with it what refers to it.
    marks = ", ".join("?" for _ in table.columns)
    sets = ", ".join(f"{quote(c)} = excluded.{quote(c)}" for c in table.columns if c not in table.key)
    target = ", ".join(quote(column) for column in table.key)
    where = " AND ".join(f"{quote(column)} IS ?" for column in table.key)
    return (
        f"INSERT INTO {quote(table.name)} VALUES ({marks}) "
        f"ON CONFLICT ({target}) DO {f'UPDATE SET {sets}' if sets else 'NOTHING'}",
        f"DELETE FROM {quote(table.name)} WHERE {where}",
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _packed(table: Table, side: str) -> str:
    """SQL of a JSON array of the row. Reals and blobs are spelt here, since json_array loses or refuses them.

    20 digits for a real: SQLite's 17 do not always read back as the same one. Hex for a blob.
    """
    parts = []
    for column in table.columns:
        value = f"{side}.{quote(column)}"
        if column in table.careful:
            value = (
                f"CASE typeof({value}) WHEN 'real' THEN json(replace(printf('%!.20g', {value}), 'Inf', '9e999')) "
                f"WHEN 'blob' THEN json_object('blob', hex({value})) ELSE {value} END"
            )
        parts.append(value)
    return f"json_array({', '.join(parts)})"


def _unpacked(table: Table, text: str | None) -> Row | None:
    if text is None:
        return None
    values = [_value(value) for value in json.loads(text)]
    return dict(zip(table.columns, values, strict=True))
