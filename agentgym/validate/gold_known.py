"""What calls could be made beside gold's: arguments from what gold came across and from the rows around it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from agentgym import changes as log
from agentgym.sampling import draw
from agentgym.scenario import Scenario
from agentgym.tools import Tool, ToolError
from agentgym.validate.gold_runs import GoldRun
from agentgym.world import World

Values = dict[str, list[Any]]
"""Name of a column or parameter → values, the nearest first."""

_ROWS = 6
"""So many rows are taken from a table for one value."""
_OPTIONS = 8
_CALLS = 24
_FOREIGN = 40


def seen_values(run: GoldRun) -> Values:
    """Every scalar that gold sent or was shown as JSON, under its key."""
    found: Values = {}
    for action in run.actions:
        _collect(action["arguments"], "", found)
    for observation in run.played.observations[1:] if run.played is not None else []:
        try:
            _collect(json.loads(observation["content"]), "", found)
        except ValueError:
            continue
    return found


def _collect(value: Any, key: str, found: Values) -> None:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            _collect(entry, str(name), found)
    elif isinstance(value, list):
        for entry in value:
            _collect(entry, key, found)
    elif value is not None and value not in found.setdefault(key, []):
        found[key].append(value)


class Neighbourhood:
    """Rows of the world at a scenario's start, found by the keys that they share. No agent may look like this.

    Args:
        world: reset here to the scenario's start.
        scenario: whose start it is.
    """

    def __init__(self, world: World, scenario: Scenario) -> None:
        world.reset(scenario.initial_state.patch)
        self._world = world
        self._columns = [
            (table, column)
            for table, shape in sorted(world.tables.items())
            for column in shape.columns
            if not table.startswith("_") and (column in shape.key or column.endswith("_id"))
        ]
        self._names = {column for _, column in self._columns}

    def around(self, start: Values, hops: int = 2) -> Values:
        """*start* and the keys in rows that hold one of its values, in rows that hold those, and so on."""
        found = {name: dict.fromkeys(values) for name, values in start.items()}
        fresh = [(name, value) for name, values in start.items() if name in self._names for value in values]
        for _ in range(hops):
            wanted: dict[str, list[Any]] = {}
            for name, value in fresh:
                wanted.setdefault(name, []).append(value)
            rows = {
                (table, name): self._rows(table, name, wanted[name]) for table, name in self._columns if name in wanted
            }
            reached = dict.fromkeys(
                pair
                for name, value in fresh
                for table in (table for table, column in self._columns if column == name)
                for row in rows[table, name].get(str(value), ())
                for pair in row
            )
            fresh = []
            for name, value in reached:
                values = found.setdefault(name, {})
                if value not in values:
                    values[value] = None
                    fresh.append((name, value))
        return {name: list(values) for name, values in found.items()}

    def _rows(self, table: str, name: str, values: list[Any]) -> dict[str, list[list[tuple[str, Any]]]]:
        """Value of a column, as text → (name, value) of the keys in each of the first rows that have it."""
        shape = self._world.tables[table]
        names = [column for column in shape.columns if column in self._names]
        shown, order = (", ".join(log.quote(column) for column in columns) for columns in (names, shape.key))
        sql = f"SELECT {shown} FROM {log.quote(table)} WHERE {log.quote(name)} = ? ORDER BY {order} LIMIT {_ROWS}"
        return {
            str(value): [
                [pair for pair in zip(names, row, strict=True) if pair[1] is not None]
                for row in self._world.connection.execute(sql, (value,)).fetchall()
            ]
            for value in values
        }

    def foreign(self, tool: Tool, argument: str, caller: Any) -> list[Any]:
        """Values of an argument that belong to somebody else than the caller, spread over the table."""
        values: list[Any] = []
        for table in (table for table, column in self._columns if column == argument):
            rows = self._world.rows(f'SELECT DISTINCT "{argument}" AS found FROM "{table}" ORDER BY 1')
            values += [row["found"] for row in rows]
        found = []
        for value in values[:: max(1, len(values) // _FOREIGN)]:
            owner = self._world.connection.execute(tool.owners[argument], {"value": value}).fetchall()
            if owner and owner[0][0] != caller:
                found.append(value)
        return found


def calls(tool: Tool, known: Values, fixed: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Calls of a tool with valid arguments made of what is known; required parameters only, beside the *fixed* ones."""
    fixed = fixed or {}
    names = [name for name in tool.checks if name in tool.required or name in fixed]
    options = [[fixed[name]] if name in fixed else _options(tool, name, known) for name in names]
    found = []
    for values in itertools.islice(itertools.product(*options), 40 * _CALLS):
        arguments = dict(zip(names, values, strict=True))
        try:
            tool.validate(arguments)
        except ToolError:
            continue
        found.append({"name": tool.name, "arguments": arguments})
    # Spread over the product, so that the first parameter does not stay at its first value.
    step = max(1, len(found) // _CALLS)
    return found[::step][:_CALLS]


def _options(tool: Tool, name: str, known: Values) -> list[Any]:
    schema = tool.parameters["properties"][name]
    if "enum" in schema:
        return [value for value in schema["enum"] if value is not None]
    options: list[Any] = [value for value in known.get(name, []) if _valid(tool, name, value)][:_OPTIONS]
    kind = schema.get("type")
    if kind == "integer":
        return [int(schema.get("minimum", 1)), *options[:2]]
    if options and ("pattern" in schema or name.endswith("_id")):
        return options
    if kind == "string" and "pattern" not in schema:
        return [*options[:2], "Something else."[: schema.get("maxLength", 15)]]
    return options or [draw(schema, np.random.Generator(np.random.PCG64(0)))]


def _valid(tool: Tool, name: str, value: Any) -> bool:
    try:
        tool.checks[name](value, name)
    except ToolError:
        return False
    return True


def other_values(tool: Tool, name: str, value: Any, known: Values) -> Iterable[Any]:
    """Values that an argument could have instead, near ones first."""
    schema = tool.parameters["properties"].get(name, {})
    near: list[Any] = []
    if isinstance(value, bool):
        near = [not value]
    elif isinstance(value, int):
        near = [value - 1, value + 1]
    elif "enum" in schema:
        near = [option for option in schema["enum"] if option != value]
    elif isinstance(value, str):
        near = [option for option in known.get(name, []) if option != value][:4]
        near += [] if near and "pattern" in schema else ["Something else."]
    return [option for option in near if _valid(tool, name, option)]
