"""Seed data."""

from __future__ import annotations

import sqlite3


def build(connection: sqlite3.Connection) -> None:
    """Fill the snapshot."""
    connection.executemany("INSERT INTO items VALUES (?, ?, NULL)", [("apple", 1), ("pear", 2), ("fig", 3)])
    connection.executemany(
        "INSERT INTO parts VALUES (?, ?, ?, ?)", [(1, "apple", 0.1, b"\x00\xff"), (2, "pear", 2.5, None)]
    )
