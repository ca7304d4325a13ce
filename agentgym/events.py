"""The event queue of an episode: declared changes that come at a time, after a call, or when a query becomes true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from agentgym.scenario import Event, Query
from agentgym.trace import Call


class EventQueue:
    """Which events wait for their trigger and which are due when.

    Args:
        events: the scenario's events, in order; each takes place once.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = {event.name: event for event in events}
        self._waiting = [name for name, event in self._events.items() if event.at is None]
        self._due = sorted(
            (event.at + event.delay, n, event.name)
            for n, event in enumerate(self._events.values())
            if event.at is not None
        )

    def after_call(self, call: Call, now_ms: int, matches: Callable[[Any, Call], bool]) -> None:
        """Schedule the events that this successful call triggers."""
        for name in list(self._waiting):
            event = self._events[name]
            if event.after is not None and matches(event.after.call, call):
                self._schedule(name, now_ms)

    def after_change(self, tables: frozenset[str], now_ms: int, holds: Callable[[Query, frozenset[str]], bool]) -> None:
        """Schedule the events whose query has become true; *holds* answers for a query and the tables that changed."""
        for name in list(self._waiting):
            event = self._events[name]
            if event.when is not None and holds(event.when, tables):
                self._schedule(name, now_ms)

    def _schedule(self, name: str, now_ms: int) -> None:
        self._waiting.remove(name)
        order = list(self._events).index(name)
        self._due = sorted([*self._due, (now_ms + self._events[name].delay, order, name)])

    @property
    def idle(self) -> bool:
        """No event is due or waits."""
        return not self._due and not self._waiting

    def pop(self, now_ms: int) -> tuple[int, Event] | None:
        """Take the next event that is due by *now_ms*, with its time, or None."""
        if not self._due or self._due[0][0] > now_ms:
            return None
        due, _, name = self._due.pop(0)
        return due, self._events[name]

    def get_state(self) -> dict[str, Any]:
        """Waiting and due events, JSON-able."""
        return {"waiting": self._waiting, "due": [list(entry) for entry in self._due]}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state that `get_state` gave."""
        self._waiting = list(state["waiting"])
        self._due = [(due, order, name) for due, order, name in state["due"]]
