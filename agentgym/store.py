"""The result store: one SQLite file a run, planned first, then filled; it survives being killed at any moment.

Every cell of the plan (environment × scenario × perturbation × agent × trial) is a row before the first one runs. A
result and the status of its cell are one transaction, so a store never has half of one; the same run opened again goes
on with what is missing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from sqlite_utils import Database

from agentgym.errors import StoreError
from agentgym.storefile import connect, create, is_new, plain, shorten, to_json, told, transacted, verify
from agentgym.storelock import StoreLock

ErrorKind = Literal["infrastructure", "agent-crash", "harness"]
"""Where an error is from: endpoint, killed worker or deadline · the agent's code · the environment or its grading."""

_KEY = ("env_id", "scenario", "perturbation", "agent", "trial")


@dataclass(frozen=True)
class Cell:
    """One planned trial: what runs, with which seed."""

    env_id: str
    scenario: str
    agent: str
    trial: int
    seed: int
    family: str = ""
    level: str = ""
    perturbation: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a trial came to. ``verdict`` and ``trace`` are JSON-able; times in seconds; ``cost_usd`` in US dollars.

    ``measures``: what came of perturbations, see `agentgym.resilience`, and the reasoning score, see
    `agentgym.reasoning.reasoned`; empty where there was neither.
    """

    success: bool
    episode_return: float
    end_reason: str
    veto: bool = False
    veto_rule: str = ""
    checkpoint_completion: float = 0.0
    steps: int = 0
    tool_calls: int = 0
    sim_time: float = 0.0
    wall_s: float = 0.0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    state_hash: str = ""
    measures: dict[str, float] = field(default_factory=dict)
    verdict: dict[str, Any] = field(default_factory=dict)
    trace: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Failure:
    """Why a trial has no outcome: it is missing, neither success nor failure. ``cost_usd`` was spent all the same."""

    kind: ErrorKind
    text: str
    cost_usd: float = 0.0


class Store:
    """One result store. Make it with `Store.plan` (to write) or `Store.read`.

    Attributes:
        path: the file.
        config: the settings of the run, as planned.
        versions: of agentgym, python, gymnasium and sqlite, when it was planned.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: StoreLock | None) -> None:
        self.path, self._lock = path, lock
        self._connection = connection
        self._database = Database(connection)
        row = next(self._database.query("SELECT config, versions FROM run"))
        self.config: dict[str, Any] = json.loads(row["config"])
        self.versions: dict[str, str] = json.loads(row["versions"])

    @classmethod
    def plan(cls, path: str | Path, config: Mapping[str, Any], cells: Sequence[Cell]) -> Store:
        """Open the store for writing: a new one with every cell planned, or the same run again, to go on with it.

        Args:
            path: the file; its folder must exist.
            config: JSON-able settings that make the run what it is; a store goes on only under the same ones.
            cells: the whole plan, each key once.

        Raises:
            StoreError: another run writes to it, it holds a run with other settings, it is damaged or no store, or the
                file cannot be written. What is there stays as it is.
            ValueError: no cells, or two with the same key.
        """
        _check_cells(cells)
        path = Path(path)
        lock = StoreLock(path)
        try:
            connection = connect(path, create=True)
            try:
                if is_new(path, connection):
                    create(path, connection, config, [asdict(cell) for cell in cells])
                verify(path, connection)
                store = cls(path, connection, lock)
                store._must_match(config, cells)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.release()
            raise
        return store

    @classmethod
    def read(cls, path: str | Path) -> Store:
        """Open an existing store to read it, also while a run is writing to it.

        Raises:
            StoreError: there is none, it is damaged, or it is no store.
        """
        path = Path(path)
        if not path.is_file():
            raise StoreError(f"{path}: no such result store; agentgym run ... --store {path} makes one")
        connection = connect(path, create=False)
        try:
            verify(path, connection)
            return cls(path, connection, None)
        except BaseException:
            connection.close()
            raise

    def todo(self) -> list[tuple[int, Cell]]:
        """The cells without an outcome, in the order of the plan: planned, broken off, or ended in an error."""
        columns = ", ".join(Cell.__dataclass_fields__)
        with told(self.path):
            rows = list(self._database.query(f"SELECT id, {columns} FROM cells WHERE status != 'done' ORDER BY id"))
        return [(row.pop("id"), Cell(**row)) for row in rows]

    def start(self, cells: Sequence[int]) -> None:
        """Mark cells as running; each time counts as an attempt."""
        with self._transaction():
            for cell in cells:
                self._set(cell, "running", "", "")
                self._connection.execute("UPDATE cells SET attempts = attempts + 1 WHERE id = ?", (cell,))

    def finish(self, cell: int, outcome: Outcome) -> None:
        """Write the outcome of a cell, once and for all.

        Raises:
            StoreError: it has one, there is no such cell, or the file cannot be written (then nothing was).
        """
        values = {name: plain(value) for name, value in vars(outcome).items()}
        names = ", ".join(values)
        holes = ", ".join(f":{name}" for name in values)
        with self._transaction():
            self._set(cell, "done", "", "")
            self._connection.execute(
                f"INSERT INTO results (cell, {names}) VALUES (:cell, {holes})", {**values, "cell": cell}
            )

    def fail(self, cell: int, failure: Failure) -> None:
        """Write why a cell has no outcome; the same run opened again tries it once more.

        Raises:
            StoreError: as for `finish`.
        """
        with self._transaction():
            self._set(cell, "error", failure.kind, failure.text)
            self._connection.execute("UPDATE cells SET lost_usd = lost_usd + ? WHERE id = ?", (failure.cost_usd, cell))

    def rows(self, traces: bool = True) -> list[dict[str, Any]]:
        """All cells in the order of the plan, each with its result (None where it has none), JSON decoded.

        Args:
            traces: with the verdicts and traces, which are most of a store.
        """
        heavy = ", r.verdict, r.trace" if traces else ""
        light = [name for name in Outcome.__dataclass_fields__ if name not in ("verdict", "trace")]
        columns = ", ".join(f"r.{name}" for name in light)
        with told(self.path):
            query = f"SELECT c.*, {columns}{heavy} FROM cells c LEFT JOIN results r ON r.cell = c.id ORDER BY c.id"
            rows = list(self._database.query(query))
        for row in rows:
            for name in ("success", "veto"):
                row[name] = None if row[name] is None else bool(row[name])
            for name in ("measures", "verdict", "trace") if traces else ("measures",):
                row[name] = None if row[name] is None else json.loads(row[name])
        return rows

    def counts(self) -> dict[str, int]:
        """Number of cells of each status that occurs."""
        with told(self.path):
            rows = list(self._database.query("SELECT status, count(*) AS n FROM cells GROUP BY status ORDER BY status"))
        return {row["status"]: row["n"] for row in rows}

    def close(self) -> None:
        """Close the file and let other runs have it. Closing twice is fine."""
        self._connection.close()
        if self._lock:
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _set(self, cell: int, status: str, kind: str, text: str) -> None:
        changed = self._connection.execute(
            "UPDATE cells SET status = ?, error_kind = ?, error = ? WHERE id = ? AND status != 'done'",
            (status, kind, plain(text), cell),
        )
        if changed.rowcount != 1:
            raise StoreError(f"{self.path}: cell {cell} has a result already or was not planned; nothing was written")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if self._lock is None:
            raise StoreError(f"{self.path}: opened to read; open it with Store.plan to write")
        # By hand: sqlite-utils 3 commits after each of its inserts, sqlite-utils 4 does not.
        with told(self.path), transacted(self._connection):
            yield

    def _must_match(self, config: Mapping[str, Any], cells: Sequence[Cell]) -> None:
        wanted = json.loads(to_json(dict(config)))
        names = sorted(name for name in {*wanted, *self.config} if wanted.get(name) != self.config.get(name))
        if names:
            found = "; ".join(
                f"{n} is {shorten(self.config.get(n))} there and {shorten(wanted.get(n))} now" for n in names
            )
            raise StoreError(
                f"{self.path} holds a run with other settings: {found}; give another --store, or that run's settings"
            )
        planned = [
            tuple(row) for row in self._connection.execute(f"SELECT {', '.join(_KEY)}, seed FROM cells ORDER BY id")
        ]
        if planned != [(*(getattr(cell, name) for name in _KEY), cell.seed) for cell in cells]:
            raise StoreError(f"{self.path} has {len(planned)} planned cells that are not the {len(cells)} of this run")


def _check_cells(cells: Sequence[Cell]) -> None:
    seen = set()
    for cell in cells:
        key = tuple(getattr(cell, name) for name in _KEY)
        if key in seen:
            raise ValueError(f"the plan has {key} twice; each cell is planned once")
        seen.add(key)
    if not seen:
        raise ValueError("the plan has no cells; give at least one agent, scenario and trial")
