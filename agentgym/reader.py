"""Reading the world for the judge: queries of a scenario, what they give and which tables they depend on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from agentgym.compare import MISSING, Comparator, canonical
from agentgym.scenario import CallSpec, Expectation, Query
from agentgym.sqlcheck import SqlChecker, checker
from agentgym.tools import Tool, ToolError
from agentgym.trace import Call


class Reader:
    """Runs a scenario's queries on the judge's copy of the world.

    Args:
        connection: gives the connection to read; it changes when a state is restored.
    """

    def __init__(self, connection: Callable[[], sqlite3.Connection]) -> None:
        self._connection = connection
        self._checker: SqlChecker | None = None

    def tables(self, sql: str) -> frozenset[str]:
        """The tables that a query reads."""
        if self._checker is None:
            self._checker = checker(self._connection())
        return self._checker.check(sql)

    def column(self, sql: str, params: Mapping[str, Any]) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in self._connection().execute(sql, params).fetchall()]

    def rows(self, sql: str, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """All rows, by the names of their columns."""
        cursor = self._connection().execute(sql, params)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def holds(self, query: Query) -> bool:
        """Whether the first value is true (not NULL, 0 or "")."""
        found = self.column(query.sql, query.params)
        return bool(found and found[0])

    def found(self, expectation: Expectation) -> Any:
        """What the comparator of *expectation* is to be held against: one value, `MISSING` without a row, or a list."""
        values = self.column(expectation.sql, expectation.params)
        if expectation.type in ("set", "multiset"):
            # Their order says nothing, and the report must not depend on it.
            return sorted(values, key=lambda value: (type(value).__name__, value))
        if expectation.type == "list":
            return values
        return values[0] if values else MISSING

    def meets(self, expectation: Expectation, comparator: Comparator | None = None) -> bool:
        """Whether the query gives what is expected."""
        comparator = comparator or expectation.comparator()
        return comparator.matches(self.found(expectation), sql=True)


class Matcher:
    """Compares calls with specifications, after validation and defaults; arguments that are left out are free."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._normal: dict[int, tuple[CallSpec, dict[str, str]]] = {}

    def matches(self, spec: CallSpec, call: Call) -> bool:
        """Whether *call* is one that *spec* means."""
        if call.name != spec.name:
            return False
        known = self._normal.get(id(spec))
        if known is None:
            known = self._normal[id(spec)] = (spec, self._normalised(spec))
        return all(
            name in call.arguments and canonical(call.arguments[name]) == wanted for name, wanted in known[1].items()
        )

    def _normalised(self, spec: CallSpec) -> dict[str, str]:
        tool = self._tools[spec.name]
        try:
            return {name: canonical(tool.checks[name](value, name)) for name, value in spec.arguments.items()}
        except (ToolError, KeyError) as error:
            raise ValueError(f"the call of {spec.name} that the scenario names cannot be made: {error}") from error
