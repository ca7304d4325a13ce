"""Why a world does not take the rows that a scenario begins with, in words about the scenario."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from agentgym.changes import quote
from agentgym.domain import Domain
from agentgym.errors import ScenarioError
from agentgym.scenario import Scenario
from agentgym.world import World

REFUSALS = (sqlite3.Error, KeyError, OverflowError)
"""What applying a patch raises where the patch is wrong."""


def begin(world: World, scenario: Scenario, domain: Domain) -> None:
    """Reset a world to where a scenario begins.

    Raises:
        ScenarioError: the world refuses its rows.
    """
    try:
        world.reset(scenario.initial_state.patch)
    except REFUSALS as error:
        raise refused(scenario, domain, error) from error


def refused(scenario: Scenario, domain: Domain, error: Exception) -> ScenarioError:
    """The error of a scenario, prepared or not, whose patch was refused.

    Where a row names another that is not there, the field is that of the value: of the case in ``domain``, which
    `Domain.prepare` writes into rows, or of the patch.
    """
    patch = scenario.initial_state.patch
    if isinstance(error, KeyError) and error.args[0] in patch:
        return ScenarioError(
            scenario.id, f"initial_state.patch.{error.args[0]}", "no such table", "a table of the world"
        )
    try:
        for table, column, value, wanted in _references(patch, domain):
            field = next((f"domain.{name}" for name, own in scenario.domain.items() if own == value), "")
            place = field or f"initial_state.patch.{table}"
            expected = f"a row of {wanted} that exists ({table}.{column} refers to it)"
            return ScenarioError(scenario.id, place, repr(value), expected)
    except REFUSALS:
        # The patch is worse than that.
        pass
    return ScenarioError(
        scenario.id, "initial_state.patch", f"rows that SQLite refuses: {error}", "rows that fit the schema"
    )


def _references(patch: Mapping[str, Any], domain: Domain) -> Iterator[tuple[str, str, Any, str]]:
    """(table, column, value, table referred to) of every reference in a patch that leads nowhere."""
    world = World(domain.snapshot, domain.toolset)
    try:
        for table, rows in patch.items():
            links = world.rows('SELECT "from" AS own, "table" AS other FROM pragma_foreign_key_list(?)', table)
            for row in rows.values() if isinstance(rows, Mapping) else rows:
                for own, other in ((link["own"], link["other"]) for link in links):
                    value = (row or {}).get(own)
                    if value is not None and not _exists(world, patch.get(other, ()), other, value):
                        yield table, own, value, other
    finally:
        world.close()


def _exists(world: World, added: Any, table: str, value: Any) -> bool:
    key = world.tables[table].key
    if len(key) != 1:
        return True
    if world.row(f"SELECT 1 FROM {quote(table)} WHERE {quote(key[0])} = ?", value) is not None:
        return True
    return value in added if isinstance(added, Mapping) else any(row.get(key[0]) == value for row in added)
