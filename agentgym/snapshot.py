"""Snapshots: built from a domain's ``schema.sql`` and ``world.py``, hashed by content, cached as a database file.

Standard library only, so that a wheel build and an image build can run it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import marshal
import os
import sqlite3
import tempfile
from pathlib import Path

from agentgym import changes as log
from agentgym.errors import SnapshotError

_FILE = "snapshot.db"
_HASH = "snapshot.sha256"


def logical_hash(connection: sqlite3.Connection) -> str:
    """SHA-256 of what a database says: its schema and its rows in the order of their keys, whatever its pages."""
    digest = hashlib.sha256()
    schema = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
    for entry in schema.fetchall():
        digest.update(json.dumps(entry).encode())
    for table in log.tables(connection).values():
        order = ", ".join(log.quote(column) for column in table.key)
        rows = connection.execute(f"SELECT * FROM {log.quote(table.name)} ORDER BY {order}").fetchall()
        digest.update(json.dumps([table.name, rows], default=lambda blob: blob.hex()).encode())
    return digest.hexdigest()


def fingerprint(connection: sqlite3.Connection) -> str:
    """SHA-256 of the same content as `logical_hash`, in half the time; kept nowhere, so that its form may change."""
    digest = hashlib.sha256()
    schema = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name"
    # The oldest form of marshal is the same in every Python.
    digest.update(marshal.dumps(connection.execute(schema).fetchall(), 0))
    for table in log.tables(connection).values():
        order = ", ".join(log.quote(column) for column in table.key)
        rows = connection.execute(f"SELECT * FROM {log.quote(table.name)} ORDER BY {order}").fetchall()
        digest.update(marshal.dumps((table.name, rows), 0))
    return digest.hexdigest()


def build(folder: Path, module: str) -> sqlite3.Connection:
    """Build the snapshot of the domain in *folder* in memory: ``schema.sql``, then ``build(…)`` of *module*."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    # Not enforced while building: the check at the end names every broken row.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.executescript((folder / "schema.sql").read_text(encoding="utf-8"))
    log.install(connection)
    connection.execute("BEGIN")
    importlib.import_module(module).build(connection)
    connection.execute("COMMIT")
    _scatter(connection)
    broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    if broken:
        raise SnapshotError(f"the seed data of {module} break foreign keys: {broken[:3]}; mend its build()")
    return connection


def _scatter(connection: sqlite3.Connection) -> None:
    """Write all rows anew in an order that has nothing to do with their keys.

    Rows written in the order of their keys fill every page to the brim, so that each row that an episode adds splits
    one; written like this they leave room, and a row takes two thirds of the time.
    """
    keyed = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND wr"
    bare = {name for (name,) in connection.execute(keyed).fetchall()}
    kept = {}
    for table in log.tables(connection).values():
        columns = ", ".join(log.quote(column) for column in table.columns)
        # Where a table has row numbers, a query without an order goes by them.
        names = columns if table.name in bare else f"_rowid_, {columns}"
        kept[table.name, names] = connection.execute(f"SELECT {names} FROM {log.quote(table.name)}").fetchall()
        connection.execute(f"DELETE FROM {log.quote(table.name)}")
    connection.execute(f"DELETE FROM {log.LOG}")
    connection.execute("VACUUM")
    connection.execute("BEGIN")
    for (name, names), rows in kept.items():
        if rows:
            marks = ", ".join("?" for _ in rows[0])
            rows.sort(key=lambda row: hashlib.sha256(repr(row).encode()).digest())
            connection.executemany(f"INSERT INTO {log.quote(name)} ({names}) VALUES ({marks})", rows)
    connection.execute("COMMIT")


def build_file(folder: Path, target: Path, module: str | None = None) -> str:
    """Build the snapshot of the domain in *folder* into the file *target* (replaced at once) and return its hash.

    Args:
        folder: the domain's folder, ``envs/refund``.
        target: the database file to write.
        module: the module with ``build``; by default ``agentgym.envs.<folder name>.world``.
    """
    connection = build(folder, module or f"agentgym.envs.{folder.name}.world")
    found = logical_hash(connection)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".snapshot-")
    os.close(handle)
    try:
        output = sqlite3.connect(name)
        connection.backup(output)
        output.close()
        os.replace(name, target)
    finally:
        connection.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    return found


def expected_hash(folder: Path) -> str:
    """The committed hash of the domain's snapshot.

    Raises:
        SnapshotError: the file is missing.
    """
    path = folder / _HASH
    if not path.is_file():
        raise SnapshotError(f"{path} is missing; write it with: python -m agentgym.snapshot {folder}")
    return path.read_text(encoding="ascii").strip()


def snapshot_file(folder: Path) -> Path:
    """Return the snapshot of the domain in *folder*: the wheel's file, or one built on first use and kept in the cache.

    Raises:
        SnapshotError: what was built is not what the committed hash says.
    """
    wanted = expected_hash(folder)
    there = cached_file(folder)
    if there is not None:
        return there
    cached = _cache_file(folder, wanted)
    try:
        found = build_file(folder, cached)
    except (OSError, sqlite3.OperationalError) as error:
        raise SnapshotError(
            f"cannot write the snapshot to {cached.parent} ({error}); "
            "free space there, or set AGENTGYM_CACHE to a folder that can be written"
        ) from error
    if found != wanted:
        raise SnapshotError(
            f"the snapshot of {folder.name} has hash {found[:12]}…, expected {wanted[:12]}…: "
            f"schema.sql or world.py changed; if that is intended, run: python -m agentgym.snapshot {folder}"
        )
    return cached


def cached_file(folder: Path) -> Path | None:
    """The snapshot of the domain in *folder*, the wheel's or the cache's, if it is at hand and whole; nothing is built.

    Raises:
        SnapshotError: the committed hash is missing.
    """
    wanted = expected_hash(folder)
    places = (folder / _FILE, _cache_file(folder, wanted))
    return next((path for path in places if path.is_file() and _hash_of(path) == wanted), None)


def _cache_file(folder: Path, wanted: str) -> Path:
    return cache_folder() / f"{folder.name}-{wanted[:24]}.db"


def cache_folder() -> Path:
    """Where snapshots that were built on first use are kept: AGENTGYM_CACHE, else the user's cache folder."""
    root = os.environ.get("AGENTGYM_CACHE")
    if root:
        return Path(root)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "agentgym"


def _hash_of(path: Path) -> str:
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return logical_hash(connection)
        finally:
            connection.close()
    except (sqlite3.Error, ValueError):
        return ""


def main(arguments: list[str]) -> None:
    """Write the committed hash of each domain folder named."""
    for name in arguments:
        folder = Path(name)
        connection = build(folder, f"agentgym.envs.{folder.name}.world")
        (folder / _HASH).write_text(logical_hash(connection) + "\n", encoding="ascii")
        connection.close()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
