"""What a query of a scenario may be: one SELECT over the world's tables and deterministic functions; and what it reads.

Queries are looked at on a scratch connection with the same, empty schema: an authorizer on a world's own connection
would expire its prepared statements.
"""

from __future__ import annotations

import functools
import re
import sqlite3
import threading
from collections.abc import Collection
from typing import Any

from agentgym.changes import LOG, quote
from agentgym.errors import did_you_mean

_CLOCKS = frozenset({"date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"})
_UNSTEADY = frozenset(
    {
        "changes",
        "current_date",
        "current_time",
        "current_timestamp",
        "last_insert_rowid",
        "load_extension",
        "random",
        "randomblob",
        "sqlite_offset",
        "total_changes",
    }
)
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_ACTIONS = {
    value: name.removeprefix("SQLITE_").replace("_", " ").lower()
    for name, value in sorted(vars(sqlite3).items())
    if re.fullmatch(r"SQLITE_(INSERT|UPDATE|DELETE|PRAGMA|ATTACH|DETACH|TRANSACTION|SAVEPOINT|ANALYZE|REINDEX)", name)
    or re.fullmatch(r"SQLITE_(CREATE|DROP|ALTER)_\w+", name)
}
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_NOW = re.compile(
    r"'\s*(?:now|localtime|utc)\s*'"
    r"|\b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*(?:'subsec(?:ond)?'\s*)?\)"
    r"|\bstrftime\s*\(\s*'[^']*'\s*\)",
    re.IGNORECASE,
)


class QueryError(ValueError):
    """A query that cannot be a check.

    Args:
        found: what it is or does.
        expected: what would be right.
    """

    def __init__(self, found: str, expected: str) -> None:
        self.found, self.expected = found, expected
        super().__init__(f"found {found}; expected {expected}")

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Pickle by the two parts."""
        return type(self), (self.found, self.expected)


class Watch:
    """An authorizer that allows reading only, and keeps what was read and what was refused."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the statement before."""
        self.read: set[str] = set()
        self.clock = False
        self.refused = ""

    def __call__(self, action: int, one: str | None, two: str | None, database: str | None, via: str | None) -> int:
        """The callback of ``set_authorizer``."""
        refused = self._refusal(action, one or "", (two or "").lower())
        if refused:
            self.refused = self.refused or refused
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def _refusal(self, action: int, one: str, two: str) -> str:
        if action not in _READS and one.startswith("sqlite_"):
            return "a table function other than json_each and json_tree"
        if action not in _READS:
            return f"{_ACTIONS.get(action, 'a statement that is no SELECT')} {one}".strip()
        if action == sqlite3.SQLITE_FUNCTION:
            self.clock = self.clock or two in _CLOCKS
            return f"the function {two}()" if two in _UNSTEADY else ""
        if action == sqlite3.SQLITE_READ:
            self.read.add(one)
            return f"the table {one}" if one == LOG or one.startswith("sqlite_") else ""
        return ""


def reads_clock(sql: str, values: Collection[Any] = ()) -> bool:
    """Whether date functions in *sql* would read the wall clock, by ``'now'``, a missing argument or a value "now"."""
    return _asks_clock(sql) or any(
        isinstance(value, str) and value.strip().lower() in ("now", "localtime", "utc") for value in values
    )


@functools.lru_cache(maxsize=4096)
def _asks_clock(sql: str) -> bool:
    return bool(_NOW.search(_COMMENT.sub(" ", sql)))


def prime(connection: sqlite3.Connection) -> None:
    """Make json_each and json_tree known to *connection*: later, the authorizer would refuse to set them up."""
    for function in ("json_each", "json_tree"):
        connection.execute(f"SELECT * FROM {function}('[]')").fetchall()


class _Names(dict[str, Any]):
    """Bindings that give NULL for every parameter and remember its name."""

    def __missing__(self, key: str) -> None:
        self[key] = None


class SqlChecker:
    """Checks queries against one schema. Get one with `checker`, which keeps it.

    Args:
        schema: (database, ``CREATE`` statement) of each table and view, in the order of their creation.
    """

    def __init__(self, schema: tuple[tuple[str, str], ...]) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for database in sorted({name for name, _ in schema if name != "main"}):
            self._connection.execute(f"ATTACH ':memory:' AS {quote(database)}")
        for database, statement in schema:
            self._connection.execute(
                re.sub(r"^CREATE (VIRTUAL TABLE|TABLE|VIEW) ", rf"CREATE \1 {quote(database)}.", statement, count=1)
            )
        self.tables: frozenset[str] = frozenset(
            name
            for database in {name for name, _ in schema}
            for (name,) in self._connection.execute(
                f"SELECT name FROM {quote(database)}.sqlite_schema WHERE type = 'table'"
            ).fetchall()
        )
        prime(self._connection)
        self._watch = Watch()
        self._connection.set_authorizer(self._watch)
        self._known: dict[str, tuple[frozenset[str], frozenset[str], bool]] = {}

    def check(self, sql: str, params: dict[str, Any] | None = None) -> frozenset[str]:
        """Return the tables that *sql* reads.

        Args:
            sql: one SELECT, with named parameters (``:name``).
            params: the values given, to hold against the parameters used; None leaves that out.

        Raises:
            QueryError: it does not parse, is no pure SELECT, reads the wall clock, or its parameters do not agree.
        """
        with self._lock:
            known = self._known.get(sql)
            if known is None:
                known = self._known[sql] = self._prepare(sql)
        tables, used, clock = known
        if clock and reads_clock(sql, list((params or {}).values())):
            raise QueryError("a query that reads the wall clock", "the time as a parameter")
        if params is not None:
            missing, spare = sorted(used - params.keys()), sorted(params.keys() - used)
            if missing:
                raise QueryError(f"no value for the parameter :{missing[0]}", "it under params")
            if spare:
                raise QueryError(
                    f"the unused parameter {spare[0]!r}", f":{spare[0]} in the query, or no such parameter"
                )
        return tables

    def _refusal(self, message: str) -> QueryError:
        if self._watch.refused:
            return QueryError(f"a query that uses {self._watch.refused}", "one that only reads, deterministically")
        if "Binding" in message:
            return QueryError("a parameter without a name", ":name instead of ?")
        what, _, name = message.partition("no such table: ")
        near = did_you_mean(name, self.tables) if name and not what else ""
        return QueryError(f"SQL that SQLite refuses ({message})", f"one SELECT over the tables of the world{near}")

    def _prepare(self, sql: str) -> tuple[frozenset[str], frozenset[str], bool]:
        if not re.match(r"\s*(SELECT|WITH|VALUES)\b", _COMMENT.sub(" ", sql), re.IGNORECASE):
            raise QueryError(repr(sql.strip()[:60]), "a SELECT: a check only reads")
        self._watch.clear()
        names = _Names()
        try:
            # EXPLAIN compiles the statement without running it.
            self._connection.execute(f"EXPLAIN {sql}", names).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._refusal(str(error)) from None
        return frozenset(self._watch.read & self.tables), frozenset(names), self._watch.clock


@functools.lru_cache(maxsize=64)
def _checker(schema: tuple[tuple[str, str], ...]) -> SqlChecker:
    return SqlChecker(schema)


def schema_of(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    """(database, ``CREATE`` statement) of each table and view of *connection*, attached databases included."""
    found: list[tuple[str, str]] = []
    for _, database, _ in connection.execute("PRAGMA database_list").fetchall():
        rows = connection.execute(
            f"SELECT name, sql FROM {quote(database)}.sqlite_schema "
            "WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' AND sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
        virtual = [name for name, sql in rows if sql.upper().startswith("CREATE VIRTUAL")]
        # A full-text table creates its shadow tables itself.
        found += [(database, sql) for name, sql in rows if not any(name.startswith(f"{v}_") for v in virtual)]
    return tuple(found)


def checker(connection: sqlite3.Connection) -> SqlChecker:
    """The checker of the schema that *connection* has. One is kept per schema, so hold on to it where speed counts."""
    return _checker(schema_of(connection))


def tables_read(connection: sqlite3.Connection, sql: str, params: dict[str, Any] | None = None) -> frozenset[str]:
    """Return the names of the tables that *sql* reads in the schema of *connection*; see `SqlChecker.check`."""
    return checker(connection).check(sql, params)
