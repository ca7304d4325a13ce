"""V32: whatever a tool did to the world's database, the next reset is the pristine one again."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from agentgym import changes as log
from agentgym.env import ToolEnv
from agentgym.errors import AgentGymError
from agentgym.registration import REGISTERED
from agentgym.scenario import Scenario
from agentgym.tools import Tool
from agentgym.validate.isolation import restored
from agentgym.validate.moves import current
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject
from agentgym.world import World

_SPREAD = 5
"""So many scenarios are damaged, spread over the curated ones."""


class _Killed(BaseException):
    """What ends a writer in the middle, as a signal's exception does."""


Damage = Callable[[World], Any]


def _write(world: World) -> None:
    """Change one row of every table."""
    for table in world.tables.values():
        for column in table.columns:
            if column in table.key:
                continue
            name, key = f'"{column}"', ", ".join(f'"{k}"' for k in table.key)
            rows = f'SELECT {key} FROM "{table.name}" ORDER BY {key} LIMIT 1'
            with contextlib.suppress(sqlite3.IntegrityError):
                world.connection.execute(
                    f"UPDATE \"{table.name}\" SET {name} = {name} || '9' WHERE ({key}) IN ({rows})"
                )


def _first(world: World) -> str:
    return next(name for name in sorted(world.tables) if not name.startswith("_"))


def _schema(world: World) -> None:
    connection, table = world.connection, _first(world)
    connection.execute("CREATE TABLE extra (extra_id TEXT PRIMARY KEY)")
    connection.execute("INSERT INTO extra VALUES ('one')")
    connection.execute(f'ALTER TABLE "{table}" ADD COLUMN extra TEXT')
    connection.execute(f'CREATE INDEX extra_index ON "{table}" (extra)')
    for (trigger,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{trigger}"')


def _emptied(world: World) -> None:
    world.connection.execute("PRAGMA defer_foreign_keys = ON")
    for name in world.tables:
        world.connection.execute(f'DELETE FROM "{name}"')


def _dropped(world: World) -> None:
    world.connection.execute("COMMIT")
    world.connection.execute("PRAGMA foreign_keys = OFF")
    for name in world.tables:
        world.connection.execute(f'DROP TABLE "{name}"')


def _committed(world: World) -> None:
    _write(world)
    world.connection.commit()


def _rolled_back(world: World) -> None:
    _write(world)
    world.connection.rollback()


def _open_transaction(world: World) -> None:
    world.connection.execute("COMMIT")
    world.connection.execute("BEGIN")
    _write(world)


def _nested(world: World) -> None:
    for number in range(3):
        world.connection.execute(f"SAVEPOINT call_{number}")
        _write(world)


def _renamed_savepoint(world: World) -> None:
    """Commits, and opens a savepoint of the episode's name over the damage."""
    _write(world)
    world.connection.execute("COMMIT")
    world.connection.execute("SAVEPOINT episode")


def _script(world: World) -> None:
    _write(world)
    # It commits what is open before it runs.
    world.connection.executescript("CREATE TABLE extra (extra_id TEXT PRIMARY KEY);")


def _pragmas(world: World) -> None:
    _write(world)
    for pragma in (
        "recursive_triggers = OFF",
        "ignore_check_constraints = ON",
        "writable_schema = ON",
        "query_only = ON",
    ):
        world.connection.execute(f"PRAGMA {pragma}")


def _loose(world: World) -> None:
    world.connection.execute("COMMIT")
    world.connection.execute("PRAGMA foreign_keys = OFF")
    world.connection.execute("PRAGMA query_only = ON")


def _half_read(world: World) -> list[Any]:
    """Cursors that are left open and, like those of a generator that lives on, kept."""
    cursors = [world.connection.execute(f'SELECT * FROM "{name}"') for name in sorted(world.tables)]
    for cursor in cursors:
        cursor.fetchone()
    _write(world)
    return cursors


def _closed(world: World) -> None:
    _write(world)
    world.connection.close()


def _attached(world: World) -> None:
    _write(world)
    world.connection.execute("ATTACH ':memory:' AS other")
    world.connection.execute("CREATE TEMP TABLE extra (extra_id TEXT PRIMARY KEY)")


def _reading_otherwise(world: World) -> None:
    _write(world)
    world.connection.row_factory = sqlite3.Row


def _refusing(world: World) -> None:
    _write(world)
    world.connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)


def _killed(world: World) -> None:
    _write(world)
    raise _Killed


def _interrupted(world: World) -> None:
    _write(world)
    raise KeyboardInterrupt


def _killed_after_commit(world: World) -> None:
    _committed(world)
    raise _Killed


DAMAGES: dict[str, Damage] = {
    "writes everywhere": _write,
    "every row deleted": _emptied,
    "the schema changed": _schema,
    "every table dropped": _dropped,
    "committed": _committed,
    "rolled back": _rolled_back,
    "a transaction left open": _open_transaction,
    "savepoints left open": _nested,
    "a savepoint of the same name": _renamed_savepoint,
    "a script run": _script,
    "settings changed": _pragmas,
    "foreign keys off, read only": _loose,
    "cursors left half read": _half_read,
    "the connection closed": _closed,
    "a database attached": _attached,
    "another row factory": _reading_otherwise,
    "an authorizer that refuses": _refusing,
    "the writer killed": _killed,
    "the writer interrupted": _interrupted,
    "the writer killed after a commit": _killed_after_commit,
}
"""What a tool may do to the connection that it gets."""

_SETTINGS = ("foreign_keys", "recursive_triggers", "query_only", "ignore_check_constraints", "writable_schema")


@check("V32", "restore", nightly=True)
def restore(subject: Subject) -> Finding:
    """After anything that a tool does to its connection, reset gives the pristine world again.

    On a few scenarios each of `DAMAGES` is done inside a call, and then again with the snapshot's file unlinked while
    the environment runs. The next reset must give the scenario's content hash and the connection's settings.
    """
    finding, resets = Finding(), 0
    chosen = subject.scenarios[:: max(1, len(subject.scenarios) // _SPREAD)][:_SPREAD]
    for unlinked in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "snapshot.db"
            shutil.copyfile(subject.domain.snapshot, file)
            env = _make(subject, file)
            starts = [_start(_make(subject, file), scenario, close=True) for scenario in chosen]
            if unlinked:
                env.reset(seed=0, options={"scenario": chosen[0]})
                file.unlink()
            for scenario, start in zip(chosen, starts, strict=True):
                for name in DAMAGES:
                    resets += 1
                    where = f"{scenario.id}: {name}{', the snapshot file unlinked' if unlinked else ''}"
                    try:
                        wrong = _after(env, scenario, name, start)
                    except (sqlite3.Error, OSError, AgentGymError, TypeError) as error:
                        wrong = f"reset raised {type(error).__name__}: {error}"
                        # The next damage starts from an environment that works.
                        env = _make(subject, subject.domain.snapshot)
                    finding.failures += [f"{where}: {wrong}"] if wrong else []
            env.close()
    # Only registered environments have an image.
    contained = restored(subject) if subject.env_id in REGISTERED else Finding(skipped="no image")
    finding.failures += contained.failures
    inside = contained.figure or contained.skipped
    finding.figure = (
        f"{resets} resets after {len(DAMAGES)} kinds of damage in {len(chosen)} scenarios; container: {inside}"
    )
    return finding


class _Start(NamedTuple):
    """What a reset gives: the content hash, the settings of the connection, and how many changes are logged."""

    content: str
    settings: dict[str, Any]
    logged: int


def _start(env: ToolEnv, scenario: Scenario, close: bool = False) -> _Start:
    env.reset(seed=0, options={"scenario": scenario})
    connection = current(env).backend.reading()
    settings = {name: connection.execute(f"PRAGMA {name}").fetchall() for name in _SETTINGS}
    settings["attached"] = [row[1] for row in connection.execute("PRAGMA database_list").fetchall()]
    logged = connection.execute(f"SELECT count(*) FROM {log.LOG}").fetchall()[0][0]
    found = _Start(env.state_hash, settings, logged)
    if close:
        env.close()
    return found


def _after(env: ToolEnv, scenario: Scenario, damage: str, start: _Start) -> str:
    """Damage the world in a call and reset; what is then other than at the start, or ""."""
    env.reset(seed=0, options={"scenario": scenario})
    with contextlib.suppress(_Killed, KeyboardInterrupt):
        env.step({"name": _TOOL, "arguments": {"how": damage}})
    found = _start(env, scenario)
    if found.content != start.content:
        return "the content hash is another"
    if found.settings != start.settings:
        return f"settings are {found.settings}, expected {start.settings}"
    return "" if found.logged == start.logged else f"{found.logged} changes are logged"


_TOOL = "damage_the_world"


def _make(subject: Subject, file: Path) -> ToolEnv:
    """The subject's environment on this snapshot file, with a tool that does the damage."""
    kept: list[Any] = []

    def run(world: World, how: str) -> str:
        # A cursor that nothing refers to would be closed at once.
        kept[:] = [DAMAGES[how](world)]
        return how

    how = {"type": "string", "enum": list(DAMAGES)}
    parameters = {"type": "object", "properties": {"how": how}, "required": ["how"], "additionalProperties": False}
    tool = Tool(
        _TOOL,
        "Damage the world.",
        parameters,
        {"how": lambda value, _: value},
        frozenset({"how"}),
        {},
        run,
        writes=True,
    )
    domain = dataclasses.replace(subject.domain, tools=(*subject.domain.tools, tool))
    # The domain would build its own on first use.
    domain.__dict__["snapshot"] = file
    make: Callable[..., ToolEnv] = type("DamagedEnv", (type(subject.env),), {"domain": domain})
    return make(split="test")
