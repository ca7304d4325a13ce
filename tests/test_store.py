"""The result store under interruption, damage, a full disk and a second run."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentgym.errors import StoreError
from agentgym.store import Cell, Failure, Outcome, Store

CONFIG: dict[str, Any] = {"env_id": "Refund-v0", "agents": ["a", "b"], "trials": 2, "reward": "sparse"}
CELLS = [
    Cell("Refund-v0", scenario, agent, trial, seed=7, family="f", level="L1")
    for agent in ("a", "b")
    for scenario in ("refund/x", "refund/y")
    for trial in range(2)
]
OUTCOME = Outcome(True, 1.0, "finished", steps=3, verdict={"success": True}, trace=[{"index": 1, "shown": "ok"}])


def filled(path: Path) -> bytes:
    """A store with one outcome and one error; returns what is in the file."""
    with Store.plan(path, CONFIG, CELLS) as store:
        store.start([1, 2])
        store.finish(1, OUTCOME)
        store.fail(2, Failure("infrastructure", "503"))
    return path.read_bytes()


def in_a_process(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", f"from tests.test_store import *\n{code}", *arguments]
    root = Path(__file__).resolve().parent.parent
    return subprocess.Popen(command, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_every_cell_is_planned_before_the_first_runs_and_a_result_fills_its_cell(tmp_path: Path) -> None:
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        assert store.counts() == {"planned": 8}
        assert [cell for _, cell in store.todo()] == CELLS
        store.start([1])
        assert store.counts() == {"planned": 7, "running": 1}
        store.finish(1, OUTCOME)
        row = store.rows()[0]
    assert (row["status"], row["success"], row["seed"], row["attempts"]) == ("done", True, 7, 1)
    assert row["trace"] == [{"index": 1, "shown": "ok"}]
    assert os.listdir(tmp_path) == ["run.db"]


def test_the_same_run_goes_on_with_what_has_no_outcome_and_keeps_the_rest(tmp_path: Path) -> None:
    filled(tmp_path / "run.db")
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        store.start([3])
        assert [number for number, _ in store.todo()] == [2, 3, 4, 5, 6, 7, 8]
        store.start([2])
        store.finish(2, OUTCOME)
        row = store.rows()[1]
    assert (row["status"], row["error"], row["error_kind"], row["attempts"]) == ("done", "", "", 2)


def test_a_cell_gets_one_result_and_no_more(tmp_path: Path) -> None:
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        store.finish(1, OUTCOME)
        text = r"cell 1 has a result already or was not planned; nothing was written"
        with pytest.raises(StoreError, match=text):
            store.finish(1, OUTCOME)
        with pytest.raises(StoreError, match=text):
            store.fail(1, Failure("harness", "late"))
        with pytest.raises(StoreError, match=text):
            store.start([2, 1])
        with pytest.raises(StoreError, match=r"cell 99 has a result already or was not planned"):
            store.finish(99, OUTCOME)
        assert store.counts() == {"done": 1, "planned": 7}


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"trials": 5}, r"trials is 2 there and 5 now"),
        (
            {"agents": ["a"], "reward": "shaped"},
            r'agents is \["a", "b"\] there and \["a"\] now; reward is "sparse" there',
        ),
        ({"new": 1}, r"new is null there and 1 now"),
    ],
)
def test_a_store_of_a_run_with_other_settings_is_refused_and_kept(
    tmp_path: Path, changed: dict[str, Any], text: str
) -> None:
    before = filled(tmp_path / "run.db")
    with pytest.raises(StoreError, match=text + ".*give another --store"):
        Store.plan(tmp_path / "run.db", {**CONFIG, **changed}, CELLS)
    assert (tmp_path / "run.db").read_bytes() == before


def test_a_store_whose_plan_is_another_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "run.db")
    with pytest.raises(StoreError, match=r"has 8 planned cells that are not the 7 of this run"):
        Store.plan(tmp_path / "run.db", CONFIG, CELLS[:-1])


def test_a_plan_with_a_cell_twice_or_without_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the plan has .*'refund/x', '', 'a', 0\) twice"):
        Store.plan(tmp_path / "run.db", CONFIG, [CELLS[0], CELLS[0]])
    with pytest.raises(ValueError, match=r"the plan has no cells"):
        Store.plan(tmp_path / "run.db", CONFIG, [])
    assert os.listdir(tmp_path) == []


def test_a_second_run_on_the_same_store_is_refused_also_by_another_name(tmp_path: Path) -> None:
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        (tmp_path / "link.db").symlink_to("run.db")
        for name in ("run.db", "link.db"):
            with pytest.raises(StoreError, match=rf"another run \(process {os.getpid()}\) is writing to it"):
                Store.plan(tmp_path / name, CONFIG, CELLS)
        with Store.read(tmp_path / "run.db") as reader:
            assert reader.counts() == {"planned": 8}
            with pytest.raises(StoreError, match=r"opened to read"):
                reader.finish(1, OUTCOME)
        store.finish(1, OUTCOME)
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        assert store.counts() == {"done": 1, "planned": 7}


def test_the_lock_dies_with_a_run_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    code = "store = Store.plan(sys.argv[1], CONFIG, CELLS); store.finish(1, OUTCOME); print('up', flush=True); input()"
    with in_a_process(code, str(path), stdin=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == "up\n", process.stderr and process.stderr.read()
        with pytest.raises(StoreError, match=rf"another run \(process {process.pid}\) is writing to it"):
            Store.plan(path, CONFIG, CELLS)
        process.kill()
        process.wait()
    with Store.plan(path, CONFIG, CELLS) as store:
        assert store.counts() == {"done": 1, "planned": 7}


def test_a_run_killed_at_any_moment_leaves_whole_results_only(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    cells = [Cell("Refund-v0", f"refund/{number}", "a", 0, seed=7) for number in range(3000)]
    code = (
        "cells = [Cell('Refund-v0', f'refund/{number}', 'a', 0, seed=7) for number in range(3000)]\n"
        "store = Store.plan(sys.argv[1], CONFIG, cells)\nprint('up', flush=True)\n"
        "for number, _ in store.todo():\n"
        "    store.start([number])\n"
        "    store.finish(number, Outcome(True, 1.0, 'finished', trace=[{'x': 'y' * 20000}]))\n"
    )
    done = 0
    for _ in range(6):
        with in_a_process(code, str(path)) as process:
            assert process.stdout and process.stdout.readline() == "up\n", process.stderr and process.stderr.read()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.15)
            process.kill()
        with Store.plan(path, CONFIG, cells) as store:
            rows = store.rows()
        assert len(rows) == 3000
        assert all((row["status"] == "done") == (row["success"] is not None) for row in rows)
        assert all(row["attempts"] <= 2 for row in rows)
        now = sum(row["status"] == "done" for row in rows)
        assert now >= done
        done = now
    assert done > 0


def test_a_run_killed_before_its_plan_was_written_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "run.db").touch()
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        assert store.counts() == {"planned": 8}


def not_a_database(path: Path) -> None:
    path.write_bytes(b"these are my notes, do not lose them\n" * 400)


def truncated(path: Path) -> None:
    filled(path)
    os.truncate(path, path.stat().st_size // 2)


def scribbled(path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


def another_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE mine (x); INSERT INTO mine VALUES (1);")
    connection.close()


def another_version(path: Path) -> None:
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (not_a_database, r"file is not a database; it is damaged or no result store, and was left as it is"),
        (
            truncated,
            r"malformed; it is damaged or no result store, and was left|is damaged (?s:.*) left as it is",
        ),
        (
            scribbled,
            r"malformed; it is damaged or no result store, and was left|is damaged (?s:.*) left as it is",
        ),
        (another_database, r"is a SQLite database but no result store of agentgym; give another --store"),
        (another_version, r"is a result store of version 99, this agentgym reads version 2; read it with the agentgym"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_damaged_or_foreign_file_is_refused_and_left_as_it_is(tmp_path: Path, damage: Any, text: str) -> None:
    path = tmp_path / "run.db"
    damage(path)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError, match=text):
            Store.plan(path, CONFIG, CELLS)
        with pytest.raises(StoreError, match=text):
            Store.read(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.db"]


def test_a_store_that_is_not_there_or_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no such result store; agentgym run \.\.\. --store .*none\.db makes one"):
        Store.read(tmp_path / "none.db")
    with pytest.raises(StoreError, match=r"No such file or directory.*its folder must (exist and )?be writable"):
        Store.plan(tmp_path / "no" / "run.db", CONFIG, CELLS)
    with pytest.raises(StoreError, match=r"unable to open database file; see that the file and its folder"):
        Store.plan(tmp_path, CONFIG, CELLS)


def test_a_full_disk_loses_nothing_that_was_written_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    before = filled(path)
    code = (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "store = Store.plan(sys.argv[1], CONFIG, CELLS)\n"
        "try:\n"
        "    for number, _ in store.todo():\n"
        "        store.finish(number, Outcome(True, 1.0, 'finished', trace=[{'x': 'y' * 70_000}]))\n"
        "except StoreError as error:\n"
        "    print(error)\n"
        "    print(store.counts())\n"
    )
    with in_a_process(code, str(path)) as process:
        out, err = process.communicate(timeout=60)
    assert "free space there and run again: every result written so far is kept" in out, out + err
    with Store.plan(path, CONFIG, CELLS) as store:
        rows = store.rows()
        done = [row["id"] for row in rows if row["status"] == "done"]
        assert done == [1, 2, 3]
        assert rows[1]["trace"] == [{"x": "y" * 70_000}]
        store.finish(4, OUTCOME)
    assert len(before) < 200_000


def test_a_disk_that_is_full_from_the_start_leaves_no_half_store(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    code = (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))\n"
        "try:\n    Store.plan(sys.argv[1], CONFIG, CELLS)\nexcept StoreError as error:\n    print(error)\n"
    )
    with in_a_process(code, str(path)) as process:
        out, err = process.communicate(timeout=60)
    assert "free space there and run again" in out, out + err
    with Store.plan(path, CONFIG, CELLS) as store:
        assert store.counts() == {"planned": 8}


def test_texts_and_numbers_that_no_file_can_hold_are_written_visibly(tmp_path: Path) -> None:
    broken = "half \ud83d of a pair, and NUL \0"
    outcome = Outcome(False, 0.0, broken, trace=[{"shown": broken, "value": [float("nan"), float("-inf"), 2**80]}])
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        store.finish(1, outcome)
        store.fail(2, Failure("agent-crash", broken))
        first, second = store.rows()[:2]
    assert first["end_reason"] == second["error"] == "half \\ud83d of a pair, and NUL \0"
    assert first["trace"] == [{"shown": broken, "value": ["NaN", "-Infinity", 2**80]}]
    json.dumps(first, allow_nan=False)


def test_a_terminated_run_leaves_a_store_that_goes_on(tmp_path: Path) -> None:
    code = "store = Store.plan(sys.argv[1], CONFIG, CELLS); store.start([1]); print('up', flush=True); input()"
    with in_a_process(code, str(tmp_path / "run.db"), stdin=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGTERM)
        process.wait()
    with Store.plan(tmp_path / "run.db", CONFIG, CELLS) as store:
        assert len(store.todo()) == 8
        assert store.versions.keys() == {"agentgym", "gymnasium", "python", "sqlite"}
