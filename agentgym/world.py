"""The world: one SQLite database, in which an episode is a savepoint and a tool call a nested one.

Nothing else holds state. The host sends the simulated time with each call. Standard library only: this runs inside the
container image too.

The order of the statements here was found by trying: ``deserialize`` into a connection in use crashes, ``serialize`` of
a deserialized connection inside a savepoint gives the state before it, ``commit`` destroys the savepoint. So the
connection is a plain ``:memory:`` one, filled with the backup interface, and is never committed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from agentgym import changes as log
from agentgym.changes import Change, Origin, Row, Table
from agentgym.tools import Tool, ToolError

Patch = Mapping[str, Any]
"""``{table: [row, …]}`` or ``{table: {key: row or None}}``: an existing row is updated in the columns given, a missing
one inserted, None deletes."""


class CallResult(NamedTuple):
    """What a call gave: ``value`` (JSON-able) when ``ok``, else ``error``; ``replayed`` if a key repeated."""

    ok: bool
    value: Any
    error: str = ""
    replayed: bool = False


_EPOCH = date(1970, 1, 1).toordinal()
_TWO = tuple(f"{number:02}" for number in range(60))


def iso(now_ms: int) -> str:
    """Milliseconds since 1970 as "2026-03-14T09:30:00Z" (fractions of a second are cut off)."""
    days, second = divmod(now_ms // 1000, 86_400)
    minute = second // 60
    day = date.fromordinal(_EPOCH + days)
    return f"{day}T{_TWO[minute // 60]}:{_TWO[minute % 60]}:{_TWO[second % 60]}Z"


def parse_iso(text: str) -> int:
    """The inverse of `iso`, in milliseconds. A time without a zone is UTC.

    Raises:
        ValueError: *text* is not an ISO 8601 date or time.
    """
    moment = datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


_DESCRIBING = frozenset(
    "table_info table_xinfo table_list index_info index_xinfo index_list database_list foreign_key_list "
    "foreign_key_check integrity_check quick_check".split()
)
"""Settings with an argument that change nothing."""


class WorldConnection(sqlite3.Connection):
    """A connection that notices what no rollback takes back: settings, attached databases, how rows are read.

    Statements are looked at when they are compiled, which costs a call nothing; asking for all settings at each reset
    takes longer than the rest of it.
    """

    _touched: list[str]

    def watch(self) -> None:
        """Notice it from here on."""
        touched = self._touched = []

        def look(action: int, one: str | None, two: str | None, _database: str | None, _via: str | None) -> int:
            if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) or (
                action == sqlite3.SQLITE_PRAGMA and two is not None and one not in _DESCRIBING
            ):
                touched.append(one or "")
            return sqlite3.SQLITE_OK

        super().set_authorizer(look)

    def set_authorizer(self, authorizer_callback: Any) -> None:
        """Let somebody else look, which is noticed as well."""
        self._touched.append("an authorizer")
        super().set_authorizer(authorizer_callback)

    @property
    def altered(self) -> bool:
        """Whether something like that was done."""
        return bool(self._touched) or self.row_factory is not None or self.text_factory is not str


def connect() -> WorldConnection:
    """Open an empty in-memory connection with the settings that every world uses."""
    connection = sqlite3.connect(
        ":memory:", isolation_level=None, check_same_thread=False, cached_statements=512, factory=WorldConnection
    )
    connection.execute("PRAGMA recursive_triggers = ON")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.watch()
    return connection


def open_snapshot(file: Path) -> sqlite3.Connection:
    """Open a snapshot for reading. It can be read until it is closed, also when the file is unlinked meanwhile."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


class World:
    """The database of one environment and what tools may do with it.

    Args:
        snapshot: the snapshot's database file, or a connection to it, which is only read.
        tools: the tools of the domain, by name.
    """

    def __init__(self, snapshot: Path | sqlite3.Connection, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._pristine = connect()
        source = open_snapshot(snapshot) if isinstance(snapshot, Path) else snapshot
        try:
            source.backup(self._pristine)
            # It may stay open and idle: the pages that it keeps would cost each environment as much as the world
            # itself, and any setting that prevents that has it keep the schema instead.
            source.execute("PRAGMA shrink_memory")
        finally:
            if source is not snapshot:
                source.close()
        self.connection = self._pristine
        self.tables: dict[str, Table] = log.tables(self.connection)
        self._open_call = False
        self._puts: dict[tuple[str, ...], tuple[str, str]] = {}
        self._fills: dict[tuple[str, tuple[str, ...]], str] = {}
        self.now_ms = 0
        self._begin()
        log.begin(self.connection)

    # What tools use.

    @property
    def now(self) -> str:
        """The simulated time, ISO 8601 in UTC."""
        return iso(self.now_ms)

    def rows(self, sql: str, *parameters: Any) -> list[Row]:
        """Return all rows as dicts. The query orders them: row order is part of what the agent sees."""
        cursor = self.connection.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def row(self, sql: str, *parameters: Any) -> Row | None:
        """Return the first row as a dict, or None."""
        found = self.rows(sql, *parameters)
        return found[0] if found else None

    def value(self, sql: str, *parameters: Any) -> Any:
        """Return the first column of the first row, or None."""
        found = self.connection.execute(sql, parameters).fetchall()
        return found[0][0] if found else None

    def execute(self, sql: str, *parameters: Any) -> int:
        """Run one writing statement and return how many rows it touched."""
        return self.connection.execute(sql, parameters).rowcount

    def insert(self, table: str, row: Mapping[str, Any]) -> None:
        """Insert one row; columns left out get their defaults."""
        names = ", ".join(log.quote(name) for name in row)
        marks = ", ".join("?" for _ in row)
        self.connection.execute(f"INSERT INTO {log.quote(table)} ({names}) VALUES ({marks})", tuple(row.values()))

    def next_id(self, prefix: str) -> str:
        """Return the next id of a series, such as "R1042"; series start after the snapshot's ``_counters``."""
        self.connection.execute(
            "INSERT INTO _counters VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1", (prefix,)
        )
        return f"{prefix}{self.value('SELECT value FROM _counters WHERE name = ?', prefix)}"

    # What a backend uses.

    def reset(self, patch: Patch) -> None:
        """Go back to the snapshot, then apply the scenario's *patch*; its changes are not logged.

        Raises:
            sqlite3.Error: a tool left the connection unfit for another episode, or the patch does not fit the world.
        """
        if self.connection.altered or self._pristine.altered:
            raise sqlite3.OperationalError("the connection is not as it was; refill the world")
        try:
            # Left open, the savepoint of the last call makes every later one slower.
            self._settle()
            if self.connection is not self._pristine:
                self.connection.close()
                self.connection = self._pristine
            # This proves that the savepoint was there. Without a new transaction, each reset would write back every
            # page that any episode before it has changed.
            self.connection.execute("RELEASE episode")
            self.connection.execute("ROLLBACK")
            self._begin()
        except sqlite3.OperationalError as error:
            raise sqlite3.OperationalError(f"the episode's savepoint is gone ({error}); refill the world") from error
        for name, rows in patch.items():
            if (type(rows) is not list and isinstance(rows, Mapping)) or not self._filled(name, rows):
                self.patch({name: rows})
                self.connection.execute(f"DELETE FROM {log.LOG}")
        log.begin(self.connection)

    def call(self, name: str, arguments: Mapping[str, Any], now_ms: int) -> tuple[CallResult, list[Change]]:
        """Run one tool with validated *arguments* as one transaction; a `ToolError` leaves no trace.

        Until the next operation, `rollback_call` can still undo it.
        """
        self._settle()
        self.now_ms = now_ms
        self.connection.execute("SAVEPOINT call")
        try:
            result = self._run(self._tools[name], arguments)
        except ToolError as error:
            self._undo()
            return CallResult(False, None, str(error)), []
        except BaseException:
            self._undo()
            raise
        self._open_call = True
        return result, log.take(self.connection, self.tables, "agent")

    def replay(self, changes: Iterable[Change]) -> None:
        """Take over what a call changed in another world; `rollback_call` can still undo it, as after a call."""
        self._settle()
        self.connection.execute("SAVEPOINT call")
        try:
            log.replay(self.connection, self.tables, changes)
            self.connection.execute(f"DELETE FROM {log.LOG}")
        except BaseException:
            self._undo()
            raise
        self._open_call = True

    def rollback_call(self) -> bool:
        """Undo the call just made, as if it had never reached the world, and return whether there was one."""
        if not self._open_call:
            return False
        self._undo()
        self._open_call = False
        return True

    def apply(self, patch: Patch, origin: Origin) -> list[Change]:
        """Apply a declared change of the world (an event, the user's own act) and return the rows it changed."""
        self._settle()
        self.patch(patch)
        return log.take(self.connection, self.tables, origin)

    def patch(self, patch: Patch) -> None:
        """Write rows by primary key, without a transaction of its own."""
        for name, rows in patch.items():
            table = self.tables[name]
            if isinstance(rows, Mapping):
                for key, row in rows.items():
                    self._put(table, (key,), row)
            else:
                for row in rows:
                    self._put(table, table.key_of(row), row)

    def save(self) -> bytes:
        """The whole database as bytes."""
        self._settle()
        return self.connection.serialize()

    def load(self, state: bytes) -> None:
        """Continue from bytes that `save` gave, on a second connection; the pristine one is kept for the next reset."""
        source = sqlite3.connect(":memory:")
        target = connect()
        try:
            source.deserialize(state)
            source.backup(target)
        except BaseException:
            target.close()
            raise
        finally:
            source.close()
        self._settle()
        if self.connection is not self._pristine:
            self.connection.close()
        self.connection = target
        self._begin()

    def close(self) -> None:
        """Close the connections. Closing twice is fine."""
        self.connection.close()
        self._pristine.close()

    def _run(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        if tool.function is None:
            raise TypeError(f"tool {tool.name} has no function to run in the world")
        key = arguments.get(tool.idempotency) if tool.idempotency else None
        if key is None:
            return CallResult(True, tool.function(self, **arguments))
        wanted = json.dumps(arguments, sort_keys=True)
        stored = self.row("SELECT tool, arguments, result FROM _idempotency WHERE key = ?", key)
        if stored is None:
            value = tool.function(self, **arguments)
            self.execute("INSERT INTO _idempotency VALUES (?, ?, ?, ?)", key, tool.name, wanted, json.dumps(value))
            return CallResult(True, value)
        if (stored["tool"], stored["arguments"]) != (tool.name, wanted):
            if tool.reused is not None:
                raise tool.reused(key)
            raise ToolError(f"{tool.idempotency} {json.dumps(key)} was already used for another call; use a new key")
        return CallResult(True, json.loads(stored["result"]), replayed=True)

    def _begin(self) -> None:
        self.connection.execute("BEGIN")
        self.connection.execute("SAVEPOINT episode")

    def _settle(self) -> None:
        if self._open_call:
            self._open_call = False
            self.connection.execute("RELEASE call")

    def _undo(self) -> None:
        self.connection.execute("ROLLBACK TO call")
        self.connection.execute("RELEASE call")

    def _filled(self, name: str, rows: Sequence[Row]) -> bool:
        """Insert the rows of a table: False if one of them is there, or not as it must be.

        What was inserted nevertheless may be put again.
        """
        if not rows:
            return False
        columns = tuple(rows[0])
        statement = self._fills.get((name, columns))
        if statement is None:
            if not self.tables[name].needed.union(self.tables[name].key) <= set(columns):
                return False
            statement = self._fills[name, columns] = log.filling(name, columns)
        if len(rows) == 1:
            return self.connection.execute(statement, tuple(rows[0].values())).rowcount == 1
        if list(map(tuple, rows)).count(columns) < len(rows):
            return False
        values = [tuple(row.values()) for row in rows]
        return self.connection.executemany(statement, values).rowcount == len(rows)

    def _put(self, table: Table, key: tuple[Any, ...], row: Mapping[str, Any] | None) -> None:
        if row is None:
            where = " AND ".join(f"{log.quote(column)} = ?" for column in table.key)
            self.connection.execute(f"DELETE FROM {log.quote(table.name)} WHERE {where}", key)
            return
        values = dict(zip(table.key, key, strict=True))
        values.update(row)
        shape = (table.name, *values)
        statements = self._puts.get(shape)
        if statements is None:
            statements = self._puts[shape] = log.putting(table, tuple(values))
        whole, update = statements
        if whole:
            self.connection.execute(whole, tuple(values.values()))
        elif not self.connection.execute(update, tuple(values.values())).rowcount:
            self.insert(table.name, values)
