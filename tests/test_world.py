"""The world: one transaction a call, restore to the pristine rows, saved states on a second connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_domain import TINY

from agentgym.snapshot import logical_hash
from agentgym.tools import ToolError, tool
from agentgym.world import World, iso, parse_iso


@tool(writes=True)
def half(world: World, fail: str) -> dict[str, Any]:
    """Write a row, then fail.

    Args:
        fail: how
    """
    world.insert("notes", {"note_id": world.next_id("N"), "loan_id": "L101", "body": "x"})
    if fail == "tool":
        raise ToolError("no, after all")
    if fail == "bug":
        raise RuntimeError("a bug")
    if fail == "commit":
        world.connection.commit()
    if fail == "schema":
        world.execute("CREATE TABLE extra (x TEXT PRIMARY KEY)")
        world.execute("DROP TRIGGER _log_notes_insert")
        world.execute("DROP TABLE notes")
    if fail == "constraint":
        world.insert("loans", {"loan_id": "L101"})
    return {"ok": True}


TOOLS = TINY.toolset | {"half": half}
NOTE = {"loan_id": "L101", "body": "hi"}


@pytest.fixture
def world() -> Iterator[World]:
    made = World(TINY.snapshot, TOOLS)
    made.reset({})
    yield made
    made.close()


def hashed(world: World) -> str:
    return logical_hash(world.connection)


def test_a_call_that_fails_after_a_write_leaves_no_trace(world: World) -> None:
    before = hashed(world)
    result, changes = world.call("half", {"fail": "tool"}, 0)
    assert (result.ok, result.error, changes, hashed(world)) == (False, "no, after all", [], before)
    with pytest.raises(RuntimeError, match="a bug"):
        world.call("half", {"fail": "bug"}, 0)
    assert hashed(world) == before
    with pytest.raises(sqlite3.IntegrityError):
        world.call("half", {"fail": "constraint"}, 0)
    assert hashed(world) == before
    assert world.call("add_note", NOTE, 0)[0].value == {"note_id": "N1"}


def test_a_call_can_be_rolled_back_until_the_next_and_only_once(world: World) -> None:
    before = hashed(world)
    world.call("add_note", NOTE, 0)
    after = hashed(world)
    world.rollback_call()
    assert hashed(world) == before != after
    world.rollback_call()
    assert hashed(world) == before
    assert world.call("add_note", NOTE, 0)[0].value == {"note_id": "N1"}
    world.apply({}, "event")
    world.rollback_call()
    assert hashed(world) == after


def test_a_rolled_back_idempotency_key_is_free_again(world: World) -> None:
    arguments = {"member_id": "M1", "book_id": "B2", "request_key": "k"}
    world.call("lend_book", arguments, 0)
    world.rollback_call()
    assert not world.call("lend_book", arguments, 0)[0].replayed
    assert world.call("lend_book", arguments, 0)[0].replayed


def test_reset_gives_the_pristine_rows_after_writes_schema_changes_and_open_calls(world: World) -> None:
    pristine = hashed(world)
    for fail in ("", "schema"):
        world.call("half", {"fail": fail}, 0)
        assert hashed(world) != pristine
        world.reset({})
        assert hashed(world) == pristine
        assert [change.table for change in world.call("half", {"fail": ""}, 0)[1]] == ["_counters", "notes"]
        world.reset({})


def test_a_destroyed_savepoint_is_told_so_that_the_backend_refills(world: World) -> None:
    world.call("half", {"fail": "commit"}, 0)
    with pytest.raises(sqlite3.OperationalError, match="the episode's savepoint is gone .*; refill the world"):
        world.reset({})


LASTING: dict[str, Callable[[sqlite3.Connection], object]] = {
    "a setting": lambda connection: connection.execute("PRAGMA query_only = ON"),
    "a setting in brackets": lambda connection: connection.execute("PRAGMA ignore_check_constraints(1)"),
    "an attached database": lambda connection: connection.execute("ATTACH ':memory:' AS other"),
    "an authorizer": lambda connection: connection.set_authorizer(lambda *_: sqlite3.SQLITE_OK),
    "no authorizer": lambda connection: connection.set_authorizer(None),
    "a row factory": lambda connection: setattr(connection, "row_factory", sqlite3.Row),
    "a text factory": lambda connection: setattr(connection, "text_factory", bytes),
}


@pytest.mark.parametrize("before_loading", [True, False])
@pytest.mark.parametrize("what", LASTING)
def test_what_no_rollback_takes_back_is_told_so_that_the_backend_refills(
    world: World, what: str, before_loading: bool
) -> None:
    state = world.save()
    if before_loading:
        # It stays with the connection that the next reset goes back to.
        LASTING[what](world.connection)
    world.load(state)
    if not before_loading:
        LASTING[what](world.connection)
    with pytest.raises(sqlite3.OperationalError, match="the connection is not as it was; refill the world"):
        world.reset({})


@pytest.mark.parametrize(
    "sql", ["PRAGMA foreign_keys", "PRAGMA table_info(notes)", "SELECT * FROM pragma_table_list('notes')", "SELECT 1"]
)
def test_looking_is_no_change(world: World, sql: str) -> None:
    world.connection.execute(sql).fetchall()
    world.reset({})


@pytest.mark.parametrize(
    "patch",
    [
        {"notes": [{"note_id": "N7", "loan_id": "L101", "body": "x"}]},
        {"notes": {"N7": {"loan_id": "L101", "body": "x"}}},
        {"members": {"M1": {"fines_minor": 7}}},
    ],
)
def test_what_a_patch_does_at_a_reset_is_not_logged(world: World, patch: dict[str, Any]) -> None:
    pristine = hashed(world)
    world.reset(patch)
    assert hashed(world) != pristine
    assert world.apply({}, "event") == []
    assert [change.table for change in world.apply({"members": {"M1": {"fines_minor": 9}}}, "event")] == ["members"]


def test_saves_after_a_write_restores_goes_on_then_resets_to_the_pristine_hash(world: World) -> None:
    pristine = hashed(world)
    world.call("add_note", NOTE, 0)
    state = world.save()
    saved = hashed(world)
    world.call("add_note", NOTE, 0)
    later = hashed(world)
    for _ in range(2):
        world.load(state)
        assert hashed(world) == saved
        assert world.call("add_note", NOTE, 0)[0].value == {"note_id": "N2"}
        assert hashed(world) == later
        assert len(world.save()) > 0
    world.reset({})
    assert hashed(world) == pristine
    world.call("add_note", NOTE, 0)
    assert hashed(world) == saved


def test_a_state_saved_on_a_loaded_world_holds_what_was_written_after_loading(world: World) -> None:
    world.call("add_note", NOTE, 0)
    world.load(world.save())
    world.call("add_note", NOTE, 0)
    second = hashed(world)
    state = world.save()
    world.reset({})
    world.load(state)
    assert hashed(world) == second


def test_damaged_state_bytes_leave_the_world_usable(world: World) -> None:
    before = hashed(world)
    with pytest.raises(sqlite3.DatabaseError):
        world.load(b"not a database" * 1000)
    assert hashed(world) == before and world.call("add_note", NOTE, 0)[0].ok


def test_the_scenarios_patch_is_no_change_of_anybody(world: World) -> None:
    world.reset(
        {
            "loans": [
                {"loan_id": "L101", "renewals": 1},
                {"loan_id": "L9", "member_id": "M1", "book_id": "B1", "due_on": "x"},
            ]
        }
    )
    result, changes = world.call("list_loans", {"member_id": "M1"}, 0)
    assert [row["loan_id"] for row in result.value["loans"]] == ["L101", "L102", "L9"] and changes == []
    assert world.value("SELECT renewals FROM loans WHERE loan_id = 'L101'") == 1
    assert world.value("SELECT member_id FROM loans WHERE loan_id = 'L101'") == "M1"


def test_apply_gives_changes_with_their_origin(world: World) -> None:
    [change] = world.apply({"loans": {"L103": None}}, "event")
    assert (change.op, change.key, change.origin) == ("delete", ("L103",), "event")
    assert world.apply({"loans": {"L103": None, "L101": {"status": "open"}}}, "event") == []


def test_the_time_of_a_call_is_what_tools_see(world: World) -> None:
    world.call("renew_loan", {"loan_id": "L101", "days": 7}, parse_iso("2031-05-06T07:08:09.999Z"))
    assert world.value("SELECT updated_at FROM loans WHERE loan_id = 'L101'") == "2031-05-06T07:08:09Z"


@pytest.mark.parametrize("moment", [0, 1_773_480_600_000, 4_102_444_800_000])
def test_iso_and_parse_iso_are_inverse(moment: int) -> None:
    assert parse_iso(iso(moment)) == moment


def test_a_time_without_zone_is_utc_and_one_with_zone_is_converted() -> None:
    assert parse_iso("1970-01-01T00:00:01") == 1000 == parse_iso("1970-01-01T02:00:01+02:00")


def test_a_world_has_its_own_rows_and_closing_twice_is_fine(tmp_path: Path) -> None:
    one, two = World(TINY.snapshot, TOOLS), World(TINY.snapshot, TOOLS)
    one.call("add_note", NOTE, 0)
    assert two.value("SELECT count(*) FROM notes") == 0
    for each in (one, two, one):
        each.close()


def test_no_savepoint_of_a_call_stays_open_over_a_reset(world: World) -> None:
    """An open one makes SQLite's journal grow, and every later savepoint slower."""
    arguments = {"loan_id": "L101", "days": 14}
    for _ in range(3):
        world.call("renew_loan", arguments, 0)
        world.reset({})
        with pytest.raises(sqlite3.OperationalError, match="no such savepoint: call"):
            world.connection.execute("RELEASE call")
    world.call("renew_loan", arguments, 0)
    state = world.save()
    world.call("renew_loan", arguments, 0)
    world.load(state)
    world.reset({})
    with pytest.raises(sqlite3.OperationalError, match="no such savepoint: call"):
        world.connection.execute("RELEASE call")
