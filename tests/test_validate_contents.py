"""Fingerprints of worlds by table: the same for the same content, whatever changed it and wherever it stands."""

from __future__ import annotations

import sqlite3

import pytest

from agentgym.snapshot import fingerprint
from agentgym.validate.contents import Contents

ROWS = 3000


@pytest.fixture
def world() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL, note TEXT) STRICT, WITHOUT ROWID")
    connection.execute("CREATE TABLE slips (id INTEGER PRIMARY KEY, person TEXT, amount INTEGER) STRICT")
    connection.execute("CREATE INDEX slips_person ON slips (person)")
    connection.executemany(
        "INSERT INTO people VALUES (?, ?, ?)", [(f"E{n:05}", f"Name {n}", "x" * (n % 7)) for n in range(ROWS)]
    )
    connection.executemany("INSERT INTO slips VALUES (?, ?, ?)", [(n, f"E{n:05}", n * 7) for n in range(ROWS)])
    return connection


def copy_of(world: sqlite3.Connection) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None)
    world.backup(copy)
    return copy


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE people SET name = 'Nobody' WHERE id = 'E01500'",
        "UPDATE people SET note = NULL WHERE id = 'E00001'",
        "UPDATE people SET note = printf('%.9000c', 'y') WHERE id = 'E00001'",
        "UPDATE slips SET amount = amount + 1 WHERE id = 2999",
        "DELETE FROM slips WHERE id = 0",
        "INSERT INTO slips VALUES (3000, NULL, NULL)",
        "DELETE FROM people",
        "CREATE INDEX people_name ON people (name)",
    ],
)
def test_every_change_is_seen_and_gone_when_it_is_undone(world: sqlite3.Connection, change: str) -> None:
    contents = Contents()
    first, other = contents.of(world), copy_of(world)
    other.execute("BEGIN")
    other.execute(change)
    assert contents.of(other) != first
    other.execute("ROLLBACK")
    assert contents.of(other) == first


def test_the_same_rows_on_other_pages_are_the_same(world: sqlite3.Connection) -> None:
    contents, other = Contents(), copy_of(world)
    first = contents.of(world)
    rows = other.execute("SELECT * FROM people").fetchall()
    other.execute("DELETE FROM people")
    other.execute("UPDATE slips SET person = person || ' of some other place'")
    other.executemany("INSERT INTO people VALUES (?, ?, ?)", rows[::-1])
    other.execute("UPDATE slips SET person = substr(person, 1, 6)")
    assert other.serialize() != world.serialize()
    assert contents.of(other) == first


def test_it_tells_apart_what_the_fingerprint_of_the_whole_tells_apart(world: sqlite3.Connection) -> None:
    contents, by_table, by_whole = Contents(), list[str](), list[str]()
    for number in range(12):
        other = copy_of(world)
        other.execute("UPDATE slips SET amount = ? WHERE id = ?", (number % 3, 40 * (number % 2)))
        by_table.append(contents.of(other))
        by_whole.append(fingerprint(other))
    assert [by_table.index(each) for each in by_table] == [by_whole.index(each) for each in by_whole]
    assert len(set(by_table)) == 6


def test_what_began_elsewhere_is_read_as_a_whole(world: sqlite3.Connection) -> None:
    contents, other = Contents(), sqlite3.connect(":memory:", isolation_level=None)
    other.execute("CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL, note TEXT) STRICT, WITHOUT ROWID")
    found = [contents.of(each) for each in (world, other, world)]
    assert found[0] == found[2] != found[1]
