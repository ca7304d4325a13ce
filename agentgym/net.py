"""What the agent changed in the end: per row, the row as it would be without the agent against the row as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from agentgym.changes import Change, Row, packed, unpacked


class NetChange(NamedTuple):
    """A row that differs because of the agent: ``base`` without the agent, ``now`` as it is (None: no such row)."""

    table: str
    key: tuple[Any, ...]
    base: Row | None
    now: Row | None

    @property
    def op(self) -> str:
        """insert, update or delete."""
        return "insert" if self.base is None else "delete" if self.now is None else "update"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that differ; all of them for an insert or delete."""
        if self.base is None or self.now is None:
            return tuple(self.base or self.now or ())
        return tuple(column for column, value in self.now.items() if self.base[column] != value)


class NetChanges:
    """Folds changes of all origins, so that what events and the user change is not laid at the agent's door.

    A row that an event changes is changed in both versions, a row that the agent changes in one; a change undone leaves
    nothing.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, tuple[Any, ...]], tuple[Row | None, Row | None]] = {}

    def add(self, changes: Iterable[Change]) -> None:
        """Fold in changes, in the order in which they were made."""
        for change in changes:
            place = (change.table, change.key)
            base, _ = self._rows.get(place, (change.old, change.old))
            if change.origin != "agent":
                base = _moved(base, change)
            self._rows[place] = (base, change.new)

    def __iter__(self) -> Iterator[NetChange]:
        """The rows that differ, in the order of tables and keys; the core's own tables are left out."""
        for (table, key), (base, now) in sorted(self._rows.items(), key=lambda item: (item[0][0], repr(item[0][1]))):
            if base != now and not table.startswith("_"):
                yield NetChange(table, key, base, now)

    def get_state(self) -> list[Any]:
        """The folded rows, JSON-able."""
        return [[table, packed(key), packed(base), packed(now)] for (table, key), (base, now) in self._rows.items()]

    def set_state(self, state: list[Any]) -> None:
        """Take up a state that `get_state` gave."""
        self._rows = {(table, tuple(unpacked(key))): (unpacked(base), unpacked(now)) for table, key, base, now in state}


def _moved(base: Row | None, change: Change) -> Row | None:
    """*base* after a change that is not the agent's: only the columns that it changed."""
    if change.old is None or change.new is None or base is None:
        return change.new if change.old is None or change.new is None else base
    return {**base, **{column: value for column, value in change.new.items() if change.old[column] != value}}
