"""Lint: what only the world can tell. SQL that runs, patches that fit, checks that do not hold yet, keys that exist."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from agentgym.compare import MISSING
from agentgym.domain import checked_settings
from agentgym.lint_subject import Subject, spelt, texts
from agentgym.refused import REFUSALS, begin
from agentgym.scenario import Expectation, Query
from agentgym.sqlcheck import QueryError
from agentgym.tools import shown

_MANY = ("set", "multiset", "list")


def check_queries(subject: Subject) -> None:
    """Every query is one deterministic SELECT over tables that exist, with exactly its parameters."""
    for field, query in subject.queries():
        for name, value in query.params.items():
            if isinstance(value, dict | list):
                raise subject.wrong(f"{field}.params.{name}", shown(value), "a text, a number, a boolean or null")
        try:
            subject.checker.check(query.sql, query.params)
        except QueryError as error:
            raise subject.wrong(f"{field}.sql", error.found, error.expected) from None


def check_patches(subject: Subject) -> None:
    """The patch applies to the snapshot and each event's ``do`` to what the patch gives. Leaves the patched world."""
    for field, patch in list(subject.patches())[1:]:
        _applies(subject, field, patch)
    _applies(subject, "initial_state.patch", {})
    scenario, prepare = subject.scenario, subject.domain.prepare
    if prepare is None:
        return
    # What is played has rows besides, by what the case says in ``domain``.
    begin(subject.world, prepare(scenario, 0, checked_settings(subject.domain, {})), subject.domain)
    subject.world.reset(scenario.initial_state.patch)


def _applies(subject: Subject, field: str, patch: Mapping[str, Any]) -> None:
    try:
        subject.world.reset(subject.scenario.initial_state.patch)
    except REFUSALS as error:
        raise subject.wrong(
            "initial_state.patch", f"rows that SQLite refuses: {error}", "rows that fit the schema"
        ) from None
    try:
        subject.world.patch(patch)
    except REFUSALS as error:
        raise subject.wrong(field, f"rows that SQLite refuses: {error}", "rows that fit the schema") from None


def _column(subject: Subject, field: str, query: Query) -> list[Any]:
    try:
        rows = subject.world.connection.execute(query.sql, query.params).fetchall()
    except (sqlite3.Error, OverflowError) as error:
        raise subject.wrong(
            f"{field}.sql", f"an error of SQLite: {error}", "a query that runs on the initial state"
        ) from None
    return [row[0] for row in rows]


def _holds(subject: Subject, field: str, check: Expectation) -> tuple[bool, Any]:
    values = _column(subject, field, check)
    found = values if check.type in _MANY else values[0] if values else MISSING
    return check.comparator().matches(found, sql=True), found


def check_state(subject: Subject) -> None:
    """In the initial state no check holds yet (unless ``holds: always``), no veto is broken, and secrets exist."""
    for i, check in enumerate(subject.scenario.checks.final_state):
        field = f"checks.final_state[{i}]"
        holds, found = _holds(subject, field, check)
        if holds and check.holds is None:
            raise subject.wrong(
                field,
                f"a check that already holds ({check.expect!r})",
                "one that is false at the start, or holds: always",
            )
        if not holds and check.holds is not None:
            raise subject.wrong(
                f"{field}.holds",
                f"always, but {found!r} at the start",
                f"a check that holds at the start ({check.expect!r})",
            )
    for i, point in enumerate(subject.scenario.checkpoints):
        if point.sql is not None and _holds(subject, f"checkpoints[{i}]", point.expectation())[0]:
            raise subject.wrong(
                f"checkpoints[{i}]", "a checkpoint that already holds", "one that is false at the start"
            )
    for i, rule in enumerate(subject.scenario.veto):
        if rule.sql is not None:
            values = _column(subject, f"veto[{i}]", Query(sql=rule.sql, params=rule.params))
            if values and values[0]:
                raise subject.wrong(
                    f"veto[{i}]", f"a state that is there already ({values[0]!r})", "one that is false at the start"
                )
    for i, secret in enumerate(subject.scenario.secrets):
        if not any(value is not None for value in _column(subject, f"secrets[{i}]", secret)):
            raise subject.wrong(
                f"secrets[{i}].sql", "no row at the start", "a query that gives at least one value to keep"
            )


def check_unborn(subject: Subject) -> None:
    """No check names a key that does not exist yet: the next id of a series, or a row to change that is not there."""
    counters = subject.world.rows("SELECT name, value FROM _counters ORDER BY name")
    series = [(re.compile(re.escape(row["name"]) + r"([1-9][0-9]*)"), int(row["value"])) for row in counters]
    declared = spelt([patch for _, patch in subject.patches()])
    for field, value in _literals(subject):
        for pattern, last in series:
            match = pattern.fullmatch(value)
            if match and int(match[1]) > last and spelt(value) not in declared:
                raise subject.wrong(
                    field,
                    f"{value!r}, a key that does not exist yet",
                    "a key of the initial state, or a row described by other columns",
                )
    declares = {table for _, patch in list(subject.patches())[1:] for table in patch}
    for i, allowed in enumerate(subject.scenario.checks.may_change):
        key = subject.world.tables[allowed.table].key
        if allowed.op not in ("update", "delete") or not set(key) <= allowed.where.keys() or allowed.table in declares:
            continue
        where = " AND ".join(f'"{column}" = ?' for column in key)
        options = [entry if isinstance(entry, list) else [entry] for entry in (allowed.where[column] for column in key)]
        for values in itertools.product(*options):
            if subject.world.row(f'SELECT 1 FROM "{allowed.table}" WHERE {where}', *values) is None:
                raise subject.wrong(
                    f"checks.may_change[{i}].where",
                    f"no row of {allowed.table} with {dict(zip(key, values, strict=True))!r}",
                    "a row that exists at the start",
                )


def _literals(subject: Subject) -> Iterator[tuple[str, str]]:
    """(field, text) of every literal that could be a key."""
    for mention in subject.calls():
        yield from texts(f"{mention.field}.arguments", mention.arguments)
    yield from subject.checked()
