"""Snapshots: hashed by content, built once, refused when they are not what was committed."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tiny_domain import FOLDER

from agentgym.changes import install
from agentgym.errors import SnapshotError
from agentgym.snapshot import build, build_file, expected_hash, logical_hash, snapshot_file


def test_the_committed_hash_is_what_is_built() -> None:
    connection = build(FOLDER, "tiny_domain")
    assert logical_hash(connection) == expected_hash(FOLDER)
    connection.close()


def test_the_hash_is_of_content_not_of_pages() -> None:
    def made(rows: list[tuple[str, int]], schema: str = "CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER) STRICT") -> str:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.execute(schema)
        install(connection)
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        connection.execute("VACUUM")
        found = logical_hash(connection)
        connection.close()
        return found

    one = made([("a", 1), ("b", 2)])
    assert one == made([("b", 2), ("a", 1)])
    assert one != made([("a", 1), ("b", 3)]) and one != made([("a", 1)])
    assert one != made([("a", 1), ("b", 2)], "CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER NOT NULL) STRICT")


def test_a_built_file_is_whole_and_leaves_no_temporary_one(tmp_path: Path) -> None:
    target = tmp_path / "sub" / "tiny.db"
    assert build_file(FOLDER, target, "tiny_domain") == expected_hash(FOLDER)
    assert [entry.name for entry in target.parent.iterdir()] == ["tiny.db"]
    connection = sqlite3.connect(target)
    assert logical_hash(connection) == expected_hash(FOLDER)
    connection.close()


def test_a_missing_hash_says_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="snapshot.sha256 is missing; write it with: python -m agentgym.snapshot"):
        expected_hash(tmp_path)


def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A domain called minute, as if it were one of the package's."""
    made = tmp_path / "minute"
    shutil.copytree(FOLDER, made)
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "agentgym.envs.minute.world", sys.modules["tiny_domain"])
    return made


def test_the_cache_is_filled_once_and_a_damaged_entry_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = folder(tmp_path, monkeypatch)
    first = snapshot_file(made)
    stamp = first.stat().st_mtime_ns
    assert first.parent == tmp_path / "cache" and snapshot_file(made) == first and first.stat().st_mtime_ns == stamp
    first.write_bytes(b"rubbish")
    assert snapshot_file(made) == first and first.stat().st_size > 1000


def test_a_packaged_file_is_used_only_if_it_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder(tmp_path, monkeypatch)
    build_file(FOLDER, made / "snapshot.db", "tiny_domain")
    assert snapshot_file(made) == made / "snapshot.db"
    connection = sqlite3.connect(made / "snapshot.db")
    connection.execute("DELETE FROM loans")
    connection.commit()
    connection.close()
    assert snapshot_file(made).parent == tmp_path / "cache"


def test_a_changed_schema_is_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder(tmp_path, monkeypatch)
    (made / "snapshot.sha256").write_text("0" * 64)
    with pytest.raises(
        SnapshotError, match="the snapshot of minute has hash .*, expected 000000000000…: .*python -m agentgym.snapshot"
    ):
        snapshot_file(made)


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder(tmp_path, monkeypatch)
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(SnapshotError, match="cannot write the snapshot to .*; free space there, or set AGENTGYM_CACHE"):
        snapshot_file(made)


def test_seed_data_that_break_a_foreign_key_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder(tmp_path, monkeypatch)
    module: Any = ModuleType("agentgym.envs.minute.world")
    module.build = lambda connection: connection.execute("INSERT INTO notes VALUES ('N1', 'L9', 'x')")
    monkeypatch.setitem(sys.modules, "agentgym.envs.minute.world", module)
    with pytest.raises(
        SnapshotError, match=r"seed data of .*minute.world break foreign keys: .*'notes'.*mend its build"
    ):
        snapshot_file(made)
