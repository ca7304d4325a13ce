"""Net changes: what is the agent's in the end."""

from __future__ import annotations

import json
from typing import Any

from agentgym.changes import Change, Origin
from agentgym.net import NetChanges

A: dict[str, Any] = {"k": "a", "x": 1, "y": 1}


def change(
    old: dict[str, Any] | None, new: dict[str, Any] | None, origin: Origin = "agent", table: str = "t"
) -> Change:
    row = new if new is not None else old
    assert row is not None
    return Change(table, (row["k"],), old, new, origin)


def net(*changes: Change) -> list[tuple[str, tuple[Any, ...], tuple[str, ...]]]:
    found = NetChanges()
    found.add(changes)
    copy = NetChanges()
    copy.set_state(json.loads(json.dumps(found.get_state())))
    assert list(copy) == list(found)
    return [(each.op, each.key, each.columns) for each in found]


def test_first_old_against_last_new() -> None:
    two, three = A | {"x": 2}, A | {"x": 3}
    assert net(change(A, two), change(two, three)) == [("update", ("a",), ("x",))]


def test_a_change_undone_leaves_nothing() -> None:
    two = A | {"x": 2}
    assert net(change(A, two), change(two, A)) == []
    assert net(change(None, A), change(A, None)) == []
    assert net(change(A, None), change(None, A)) == []


def test_a_key_moved_and_moved_back_leaves_nothing() -> None:
    b = A | {"k": "b"}
    assert net(change(A, None), change(None, b), change(b, None), change(None, A)) == []
    assert net(change(A, None), change(None, b)) == [
        ("delete", ("a",), ("k", "x", "y")),
        ("insert", ("b",), ("k", "x", "y")),
    ]


def test_what_an_event_does_to_a_row_is_not_the_agents() -> None:
    two, both = A | {"x": 2}, A | {"x": 2, "y": 2}
    assert net(change(A, two, "event")) == []
    assert net(change(A, two), change(two, both, "event")) == [("update", ("a",), ("x",))]
    assert net(change(A, A | {"y": 2}, "event"), change(A | {"y": 2}, both)) == [("update", ("a",), ("x",))]
    assert net(change(A, None), change(None, A, "event")) == []
    assert net(change(A, two), change(two, None, "event")) == []
    assert net(change(None, A, "event"), change(A, two)) == [("update", ("a",), ("x",))]
    assert net(change(None, A), change(A, two, "user")) == [("insert", ("a",), ("k", "x", "y"))]
    assert net(change(None, A, "user"), change(A, None)) == [("delete", ("a",), ("k", "x", "y"))]


def test_an_agent_who_reverts_what_an_event_did_has_changed_something() -> None:
    two = A | {"x": 2}
    assert net(change(A, two, "event"), change(two, A)) == [("update", ("a",), ("x",))]


def test_null_and_a_missing_row_are_different_things() -> None:
    null = A | {"x": None}
    assert net(change(A, null)) == [("update", ("a",), ("x",))]


def test_the_cores_own_tables_are_left_out_and_the_order_is_that_of_tables_and_keys() -> None:
    b = A | {"k": "b"}
    found = net(change(None, b), change(None, A), change(None, A, table="s"), change(None, A, table="_counters"))
    assert [key for _, key, _ in found] == [("a",), ("a",), ("b",)]


def test_blobs_survive_the_state() -> None:
    assert net(change(A | {"x": b"\x00"}, A | {"x": b"\x01"})) == [("update", ("a",), ("x",))]
