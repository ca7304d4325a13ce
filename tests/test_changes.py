"""The change log: what triggers see, in which form, and that it can be replayed."""

from __future__ import annotations

import json
import math
import sqlite3
from typing import Any

import pytest

from agentgym import changes as log
from agentgym.changes import Change
from agentgym.world import connect

SCHEMA = """
CREATE TABLE things (k TEXT PRIMARY KEY, n INTEGER, t TEXT, r REAL, b BLOB, a ANY) STRICT;
CREATE TABLE loose (k INTEGER PRIMARY KEY, n INTEGER, t TEXT);
CREATE TABLE pairs (x TEXT, y INTEGER, v TEXT, PRIMARY KEY (y, x)) STRICT, WITHOUT ROWID;
CREATE TABLE parents (id TEXT PRIMARY KEY) STRICT;
CREATE TABLE children (id TEXT PRIMARY KEY, parent TEXT REFERENCES parents ON DELETE CASCADE) STRICT;
CREATE TABLE "od'd ""name" ("a b" TEXT PRIMARY KEY, "select" TEXT) STRICT;
"""


def world() -> sqlite3.Connection:
    connection = connect()
    connection.executescript(SCHEMA)
    log.install(connection)
    log.begin(connection)
    return connection


def take(connection: sqlite3.Connection) -> list[Change]:
    return log.take(connection, log.tables(connection), "agent")


VALUES: list[Any] = [
    0.1 + 0.2,
    1e-300,
    math.inf,
    -math.inf,
    5e-324,
    1.7976931348623157e308,
    b"\x00\xff",
    b"",
    2**63 - 1,
    -(2**63),
    "",
    "é\u202e😀\n\"'\\",
    None,
    '{"blob": "00"}',
    "null",
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("table", ["things", "loose"])
def test_every_value_comes_back_from_the_log_and_through_json_as_it_is(table: str, value: Any) -> None:
    connection = world()
    column = "a" if table == "things" else "n"
    connection.execute(f"INSERT INTO {table} (k, {column}) VALUES (1, ?)", (value,))
    [change] = take(connection)
    stored = connection.execute(f"SELECT {column} FROM {table}").fetchall()[0][0]
    assert change.new is not None
    assert change.new[column] == stored and type(change.new[column]) is type(stored)
    assert Change.from_json(json.loads(json.dumps(change.to_json()))) == change


def test_an_update_has_both_sides_and_one_that_changes_nothing_is_left_out() -> None:
    connection = world()
    connection.execute("INSERT INTO things (k, n) VALUES ('a', 1)")
    [inserted] = take(connection)
    assert (inserted.op, inserted.key, inserted.old) == ("insert", ("a",), None)
    connection.execute("UPDATE things SET n = 1")
    assert take(connection) == []
    connection.execute("UPDATE things SET n = 2")
    [updated] = take(connection)
    assert updated.old is not None and updated.new is not None
    assert (updated.op, updated.old["n"], updated.new["n"]) == ("update", 1, 2)
    assert take(connection) == []


def test_a_changed_primary_key_is_a_row_less_and_a_row_more() -> None:
    connection = world()
    connection.execute("INSERT INTO pairs VALUES ('a', 1, 'v')")
    take(connection)
    connection.execute("UPDATE pairs SET x = 'b'")
    assert [(change.op, change.key) for change in take(connection)] == [("delete", (1, "a")), ("insert", (1, "b"))]


def test_a_replaced_row_and_a_cascade_are_seen() -> None:
    connection = world()
    connection.execute("INSERT INTO parents VALUES ('p')")
    connection.execute("INSERT INTO children VALUES ('c', 'p')")
    connection.execute("INSERT INTO things (k, n) VALUES ('a', 1)")
    take(connection)
    connection.execute("INSERT OR REPLACE INTO things (k, n) VALUES ('a', 2)")
    assert [change.op for change in take(connection)] == ["delete", "insert"]
    connection.execute("DELETE FROM parents")
    assert sorted((change.table, change.op) for change in take(connection)) == [
        ("children", "delete"),
        ("parents", "delete"),
    ]


def test_odd_names_are_quoted() -> None:
    connection = world()
    name = "od'd \"name"
    connection.execute(f"INSERT INTO {log.quote(name)} VALUES ('k', 'v')")
    assert take(connection) == [Change(name, ("k",), None, {"a b": "k", "select": "v"}, "agent")]


def test_replaying_the_changes_gives_the_same_rows() -> None:
    one, two = world(), world()
    one.execute("INSERT INTO parents VALUES ('p'), ('q')")
    one.execute("INSERT INTO children VALUES ('c', 'p')")
    one.executemany("INSERT INTO things (k, a) VALUES (?, ?)", [(str(n), v) for n, v in enumerate(VALUES)])
    one.execute("UPDATE things SET k = 'z' || k WHERE k < '5'")
    one.execute("INSERT INTO pairs VALUES ('a', 1, 'v'), ('b', 1, NULL)")
    one.execute("DELETE FROM pairs WHERE x = 'a'")
    one.execute("DELETE FROM parents WHERE id = 'p'")
    log.replay(two, log.tables(two), take(one))
    for table in log.tables(one):
        query = f"SELECT * FROM {log.quote(table)} ORDER BY 1"
        assert one.execute(query).fetchall() == two.execute(query).fetchall(), table


def test_a_table_without_primary_key_is_refused() -> None:
    connection = connect()
    connection.execute("CREATE TABLE bare (x TEXT)")
    with pytest.raises(ValueError, match="table 'bare' has no primary key; every table of a world needs one"):
        log.install(connection)
