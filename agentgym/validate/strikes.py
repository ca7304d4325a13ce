"""One change of the world that nobody asked for, made as if the agent had."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from agentgym import changes as log
from agentgym.env import ToolEnv
from agentgym.scenario import AllowedChange, Scenario
from agentgym.text import dumps
from agentgym.validate.moves import current


def strike(env: ToolEnv, scenario: Scenario, op: str, turn: int) -> str:
    """Change one row that the scenario does not allow, as if the agent had; say what, or "" where none can be."""
    backend, judge = current(env).backend, current(env).judge
    connection = backend.reading()
    known = [table for name, table in log.tables(connection).items() if not name.startswith("_")]
    met = {(change.table, change.key) for step in env.trace for change in step.changes}
    start = turn % max(len(known), 1)
    for table in known[start:] + known[:start]:
        if len(table.key) > 1 and op == "delete":
            continue
        names = ", ".join(log.quote(column) for column in table.columns)
        order = ", ".join(log.quote(column) for column in table.key)
        rows = connection.execute(f"SELECT {names} FROM {log.quote(table.name)} ORDER BY {order} LIMIT 60").fetchall()
        for offset in range(min(len(rows), 8)):
            row = dict(zip(table.columns, rows[(turn * 5 + offset) % len(rows)], strict=True))
            if (table.name, table.key_of(row)) in met:
                continue
            for patch in _patches(env, scenario, table, row, op, connection):
                try:
                    found = backend.apply(patch, "agent")
                except sqlite3.Error:
                    continue
                if found:
                    judge.net.add(found)
                    return f"one {op} in {table.name} {dumps(patch)[:120]}"
    return ""


def _patches(
    env: ToolEnv, scenario: Scenario, table: log.Table, row: log.Row, op: str, connection: sqlite3.Connection
) -> Iterator[dict[str, Any]]:
    if op == "delete":
        if not _allowed(scenario, table.name, op, row, ""):
            yield {table.name: {table.key_of(row)[0]: None}}
        return
    if op == "insert":
        column = table.key[-1]
        new = {**row, column: _other(row[column], "-9")}
        if not _allowed(scenario, table.name, op, new, ""):
            yield {table.name: [new]}
        return
    key = {column: row[column] for column in table.key}
    for column in table.columns:
        if (
            column in key
            or f"{table.name}.{column}" in env.domain.volatile
            or _allowed(scenario, table.name, op, row, column)
        ):
            continue
        name = log.quote(column)
        used = f"SELECT DISTINCT {name} FROM {log.quote(table.name)} WHERE {name} IS NOT ? ORDER BY {name} LIMIT 2"
        for value in [
            *(found for (found,) in connection.execute(used, (row[column],)).fetchall()),
            _other(row[column], "x"),
        ]:
            yield {table.name: [{**key, column: value}]}


def _other(value: Any, suffix: str) -> Any:
    if isinstance(value, int | float):
        return value + 1_000_000 if suffix == "-9" else value + 1
    return f"{value}{suffix}" if isinstance(value, str) else "x"


def _allowed(scenario: Scenario, table: str, op: str, row: log.Row, column: str) -> bool:
    def covers(rule: AllowedChange) -> bool:
        if (
            rule.table != table
            or rule.op not in (None, op)
            or (op == "update" and rule.columns and column not in rule.columns)
        ):
            return False
        return all(row.get(c) in (v if isinstance(v, list) else [v]) for c, v in rule.where.items())

    return any(covers(rule) for rule in scenario.checks.may_change)
