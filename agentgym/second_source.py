"""Second source: a fact that the plan builds on is read in two places, and in doubt a third time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentgym.perturbations import Fact, Source, Table
from agentgym.recovery import Act, Action, Observation, Recovery, parsed

_MOST = 3
"""So many calls are worth the check of one result."""

Rows = dict[Any, dict[str, Any]]


class SecondSource(Recovery):
    """Reads facts in a second place before it passes them on; of two that differ, the first is asked again.

    What it has read for a check serves the plan too, so that most checks cost nothing in the end.

    Args:
        table: of the domain; which facts have two sources is in its tools' manuals, here as a table.
    """

    def __init__(self, table: Table) -> None:
        self._facts = table.facts
        self._kept: dict[str, Observation] = {}
        self._met: dict[str, dict[Any, None]] = {}

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Act and check what the plan reads; a write makes what was read before old."""
        place = json.dumps(action, sort_keys=True)
        if place in self._kept:
            return self._kept.pop(place)
        seen = act(action)
        self._meet(action["arguments"])
        if seen["role"] != "tool" or not isinstance(parsed(seen["content"]), dict):
            return seen
        if not any(source.tool == action["name"] for fact in self._facts for source in fact.sources):
            if not action["name"].startswith(("get_", "find_", "list_")):
                self._kept.clear()
            return seen
        if bound:
            for fact in self._facts:
                source = _source(fact, action)
                if source is not None:
                    seen = self._checked(fact, source, action, seen, act)
        self._meet(parsed(seen["content"]))
        return seen

    def _checked(self, fact: Fact, source: Source, action: Action, seen: Observation, act: Act) -> Observation:
        """The observation, asked for again where another source contradicts it."""
        rows = _rows(fact, source, seen)
        if self._calls(fact, source, rows) > _MOST:
            # A long list of which each row has a source of its own is read twice instead.
            return self._again(fact, source, action, seen, act)
        for key, row in rows.items():
            for other in fact.sources:
                if other is source:
                    continue
                told = self._other(fact, other, key, row, act)
                if told is None:
                    continue
                if _agree(fact, row, told):
                    break
                # The other source is asked again when the plan comes to it.
                self._forget(other)
                return self._again(fact, source, action, seen, act)
        return seen

    def _again(self, fact: Fact, source: Source, action: Action, seen: Observation, act: Act) -> Observation:
        """The observation asked for again; twice the same is the truth."""
        again = act(action)
        if again["role"] == "error" or _rows(fact, source, again) == _rows(fact, source, seen):
            return seen
        return self._checked(fact, source, action, again, act)

    def _calls(self, fact: Fact, source: Source, rows: Rows) -> int:
        """How many calls it takes to ask another source of every row."""
        places: set[str] = set()
        for row in rows.values():
            for other in fact.sources:
                if other is not source and row.get(other.ask) is not None:
                    places.add(self._place(other, row[other.ask]))
                    break
        return len(places.difference(self._kept))

    @staticmethod
    def _place(source: Source, value: Any) -> str:
        return json.dumps({"name": source.tool, "arguments": {**source.given, source.ask: value}}, sort_keys=True)

    def _other(self, fact: Fact, other: Source, key: Any, row: Mapping[str, Any], act: Act) -> dict[str, Any] | None:
        """What another source tells of a row: ``{}`` where it does not know it, None where it cannot be asked."""
        asked = [row[other.ask]] if other.ask in row else list(self._met.get(other.ask, {}))[-2:]
        found: dict[str, Any] | None = None
        for value in asked:
            place = self._place(other, value)
            seen = self._kept[place] if place in self._kept else act(json.loads(place))
            if seen["role"] == "error":
                found = {}
                continue
            self._kept[place] = seen
            rows = _rows(fact, other, seen)
            if key in rows:
                return rows[key]
            found = {}
        return found

    def _forget(self, source: Source) -> None:
        for place in list(self._kept):
            if json.loads(place)["name"] == source.tool:
                del self._kept[place]

    def _meet(self, value: Any) -> None:
        """Remember values by name: what a source may be asked by."""
        if isinstance(value, dict):
            for name, entry in value.items():
                if isinstance(entry, str):
                    self._met.setdefault(name, {}).pop(entry, None)
                    self._met[name][entry] = None
                else:
                    self._meet(entry)
        elif isinstance(value, list):
            for entry in value:
                self._meet(entry)


def _source(fact: Fact, action: Action) -> Source | None:
    """The source that a call asks: of several of one tool, the one by whose argument it asks."""
    own = [source for source in fact.sources if source.tool == action["name"]]
    asked = [source for source in own if action["arguments"].get(source.ask) is not None]
    return next(iter(asked or own), None)


def _rows(fact: Fact, source: Source, seen: Observation) -> Rows:
    """The rows of a fact in an observation, by key."""
    return {row[fact.key]: row for row in source.found(parsed(seen["content"])) if fact.key in row}


def _agree(fact: Fact, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Two sources tell the same of every field that both have; one that does not know the row contradicts."""
    if not other:
        return False
    return all(one[field] == other[field] for field in fact.fields if field in one and field in other)
