"""Fingerprints of many worlds that began as one: of a table whose pages are as they were, the digest is known."""

from __future__ import annotations

import hashlib
import marshal
import sqlite3

import numpy as np
from numpy.typing import NDArray

from agentgym import changes as log
from agentgym.changes import Table


class Contents:
    """Gives the SHA-256 of what a database says, as `agentgym.snapshot.fingerprint` does, though not the same one.

    A world is a few megabytes and an episode changes a few rows. Whether a table has changed is seen from the pages
    that it stands on, whatever changed it: the tree of a table whose pages are all alike is the same tree.
    """

    def __init__(self) -> None:
        self._image = b""
        self._size = 0
        self._schema: list[tuple[object, ...]] = []
        self._tables: dict[str, Table] = {}
        self._digests: dict[str, bytes] = {}
        self._pages: dict[str, set[int]] = {}

    def of(self, connection: sqlite3.Connection) -> str:
        """The fingerprint: equal for two worlds if and only if their schemas and rows are."""
        schema = connection.execute(
            "SELECT type, name, rootpage, sql FROM sqlite_schema ORDER BY type, name"
        ).fetchall()
        image = connection.serialize()
        if schema != self._schema:
            self._begin(connection, schema, image)
        digest = hashlib.sha256(marshal.dumps([(kind, name, sql) for kind, name, _, sql in schema], 0))
        changed = self._changed(image)
        for name, known in self._digests.items():
            same = self._pages[name] and self._pages[name].isdisjoint(changed)
            digest.update(known if same else _digest(connection, self._tables[name]))
        return digest.hexdigest()

    def _begin(self, connection: sqlite3.Connection, schema: list[tuple[object, ...]], image: bytes) -> None:
        """Take this world as the one that others are compared with."""
        self._schema, self._image = schema, image
        self._size = connection.execute("PRAGMA page_size").fetchall()[0][0]
        self._tables = log.tables(connection)
        self._digests = {name: _digest(connection, table) for name, table in self._tables.items()}
        self._pages = {name: set() for name in self._digests}
        try:
            found = connection.execute("SELECT name, pageno FROM dbstat").fetchall()
        except sqlite3.OperationalError:
            # Not every SQLite can say which page is whose: each table is read each time then.
            found = []
        for name, page in found:
            if name in self._pages:
                self._pages[name].add(page - 1)

    def _changed(self, image: bytes) -> set[int]:
        """Places of the pages that are not as in the first world, or not there."""
        before, after = self._paged(self._image), self._paged(image)
        shared = min(len(before), len(after))
        differing = np.flatnonzero((before[:shared] != after[:shared]).any(axis=1))
        return {*differing.tolist(), *range(shared, len(before))}

    def _paged(self, image: bytes) -> NDArray[np.uint64]:
        """Page by page; a page is a power of two of at least 512 bytes."""
        return np.frombuffer(image, np.uint64).reshape(-1, self._size // 8)


def _digest(connection: sqlite3.Connection, table: Table) -> bytes:
    order = ", ".join(log.quote(column) for column in table.key)
    rows = connection.execute(f"SELECT * FROM {log.quote(table.name)} ORDER BY {order}").fetchall()
    # The oldest form of marshal is the same in every Python.
    return hashlib.sha256(marshal.dumps((table.name, rows), 0)).digest()
