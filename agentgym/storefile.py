"""The file of a result store: made whole or not at all, looked over before it is used, and never overwritten."""

from __future__ import annotations

import json
import math
import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from agentgym.errors import StoreError

_APPLICATION = 0x61677931
_VERSION = 2
_SCHEMA = (
    """CREATE TABLE run (
      id INTEGER PRIMARY KEY CHECK (id = 1), created_at TEXT NOT NULL, config TEXT NOT NULL, versions TEXT NOT NULL)""",
    """CREATE TABLE cells (
      id INTEGER PRIMARY KEY, env_id TEXT NOT NULL, scenario TEXT NOT NULL, perturbation TEXT NOT NULL,
      agent TEXT NOT NULL, trial INTEGER NOT NULL, seed INTEGER NOT NULL, family TEXT NOT NULL, level TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('planned', 'running', 'done', 'error')),
      attempts INTEGER NOT NULL DEFAULT 0, error_kind TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
      lost_usd REAL NOT NULL DEFAULT 0,
      UNIQUE (env_id, scenario, perturbation, agent, trial))""",
    """CREATE TABLE results (
      cell INTEGER PRIMARY KEY REFERENCES cells (id), success INTEGER NOT NULL CHECK (success IN (0, 1)),
      episode_return REAL NOT NULL, end_reason TEXT NOT NULL, veto INTEGER NOT NULL, veto_rule TEXT NOT NULL,
      checkpoint_completion REAL NOT NULL, steps INTEGER NOT NULL, tool_calls INTEGER NOT NULL, sim_time REAL NOT NULL,
      wall_s REAL NOT NULL, model_calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
      completion_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL, state_hash TEXT NOT NULL, measures TEXT NOT NULL,
      verdict TEXT NOT NULL,
      trace TEXT NOT NULL)""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open the file; SQLite then undoes what a killed run left half done.

    Raises:
        StoreError: its folder does not exist, or it cannot be opened.
    """
    if create and not path.absolute().parent.is_dir():
        raise StoreError(f"{path}: the folder {path.absolute().parent} does not exist; make it first")
    mode = "rwc" if create else "rw"
    with told(path):
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=30,
            check_same_thread=False,
        )


def is_new(path: Path, connection: sqlite3.Connection) -> bool:
    """Whether there is nothing in the file: a run that was killed before its plan was written leaves it empty."""
    with told(path):
        return not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()


def create(
    path: Path, connection: sqlite3.Connection, config: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]
) -> None:
    """Write a new store in one transaction: the schema, the run and every cell, as planned.

    Args:
        path: the file, for messages.
        connection: to the empty file.
        config: JSON-able settings.
        cells: their columns.
    """
    versions = {
        "agentgym": _version("agentgym-suite"),
        "gymnasium": _version("gymnasium"),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    run = (datetime.now(UTC).isoformat(timespec="seconds"), to_json(dict(config)), to_json(versions))
    columns = list(cells[0])
    holes = ", ".join(f":{name}" for name in columns)
    insert = f"INSERT INTO cells ({', '.join(columns)}, status) VALUES ({holes}, 'planned')"
    with told(path), transacted(connection):
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO run VALUES (1, ?, ?, ?)", run)
        connection.executemany(insert, cells)


def verify(path: Path, connection: sqlite3.Connection) -> None:
    """Look the whole file over.

    Raises:
        StoreError: it is no store, one of another version, or damaged.
    """
    with told(path):
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION:
            raise StoreError(f"{path} is a SQLite database but no result store of agentgym; give another --store")
        if version != _VERSION:
            raise StoreError(
                f"{path} is a result store of version {version}, this agentgym reads version {_VERSION}; "
                "read it with the agentgym that wrote it"
            )
        damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if damage != "ok":
        damage = " ".join(damage.replace("*** in database main ***", "").split())
        raise StoreError(f"{path} is damaged ({damage}); it was left as it is: restore a copy, or give another --store")


@contextmanager
def transacted(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction, undone as a whole if the block raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "not a database" in text or "malformed" in text:
            advice = "it is damaged or no result store, and was left as it is: restore a copy, or give another --store"
        elif "full" in text or "disk I/O" in text:
            advice = "free space there and run again: every result written so far is kept"
        elif "locked" in text:
            advice = "another program holds it open; close it and run again"
        else:
            advice = "see that the file and its folder can be written"
        raise StoreError(f"{path}: {text}; {advice}") from error


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def plain(value: Any) -> Any:
    """A value that SQLite takes: JSON text for containers, lone surrogates made visible, numbers finite."""
    if isinstance(value, dict | list):
        return to_json(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def to_json(value: Any) -> str:
    """ASCII JSON text, which no lone surrogate can break; NaN and infinities become the strings "NaN", "Infinity"."""
    return json.dumps(_finite(value), allow_nan=False, sort_keys=True)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def shorten(value: Any) -> str:
    """The value as JSON in at most 60 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
