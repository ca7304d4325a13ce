"""Lint: tools, arguments, tables and columns that a scenario names exist, and literals are values that they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentgym.errors import did_you_mean
from agentgym.gold import is_binding, is_calculation, parameters_of
from agentgym.lint_subject import Mention, Subject
from agentgym.scenario import GoldAction
from agentgym.sqlcheck import QueryError, SqlChecker
from agentgym.tools import ToolError, shown

_EMPTY = SqlChecker(())


def check_calls(subject: Subject) -> None:
    """Tools exist, arguments are theirs, literals pass their validation."""
    for mention in subject.calls():
        _check_call(subject, mention)
    owned = {argument for tool in subject.domain.toolset.values() for argument in tool.owners}
    for i, argument in enumerate(subject.scenario.checks.process.own):
        if argument not in owned:
            hint = did_you_mean(argument, owned)
            raise subject.wrong(
                f"checks.process.own[{i}]", repr(argument), f"an argument whose owner a tool declares{hint}"
            )


def _check_call(subject: Subject, mention: Mention) -> None:
    field, arguments = mention.field, mention.arguments
    tool = subject.domain.toolset.get(mention.tool)
    if tool is None:
        hint = did_you_mean(mention.tool, subject.domain.toolset)
        raise subject.wrong(field, f"the tool {mention.tool!r}", f"a tool of {subject.domain.name}{hint}")
    for name, value in arguments.items():
        if name not in tool.checks:
            known = ", ".join(tool.checks) or "none"
            raise subject.wrong(
                f"{field}.arguments",
                f"the parameter {name!r}, which {tool.name} does not have",
                f"one of {known}{did_you_mean(name, tool.checks)}",
            )
        if not (mention.gold and _computed(value)):
            try:
                tool.checks[name](value, name)
            except ToolError as error:
                raise subject.wrong(
                    f"{field}.arguments.{name}", shown(value), f"what {tool.name} takes: {error}"
                ) from None
    missing = sorted(tool.required - arguments.keys()) if mention.gold else []
    if missing:
        raise subject.wrong(f"{field}.arguments", f"no {missing[0]!r}", f"every parameter that {tool.name} requires")
    if tool.name == "confirm_with_user" and isinstance(arguments.get("tool"), str):
        inner = arguments.get("arguments", {})
        if isinstance(inner, Mapping) and not is_binding(inner) and not is_calculation(inner):
            # An idempotency key may be left out of a confirmation, so nothing is required here.
            named = {name: value for name, value in inner.items() if not (mention.gold and _computed(value))}
            _check_call(subject, Mention(f"{field}.arguments", arguments["tool"], named))


def _computed(value: Any) -> bool:
    """Whether a binding or a calculation stands anywhere in *value*."""
    if is_binding(value) or is_calculation(value):
        return True
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(_computed(entry) for entry in inside)


def check_gold(subject: Subject) -> None:
    """Labels are unique, bindings name an earlier one, calculations parse and use what they are given."""
    for field, actions in subject.plans():
        labels: list[str] = []
        for j, action in enumerate(actions):
            _check_values(subject, f"{field}[{j}].arguments", action.arguments, labels)
            if action.label in labels:
                raise subject.wrong(
                    f"{field}[{j}].as", f"the label {action.label!r} twice", "labels that are unique in a plan"
                )
            labels += [action.label] if action.label else []
        _check_end(subject, field, actions)
    known = [goal.name for goal in subject.scenario.plan.subgoals]
    for i, pair in enumerate(subject.scenario.plan.order):
        for name in pair:
            if name not in known:
                hint = did_you_mean(name, known)
                raise subject.wrong(f"plan.order[{i}]", f"the subgoal {name!r}", f"the name of a subgoal{hint}")


def _check_end(subject: Subject, field: str, actions: list[GoldAction]) -> None:
    """A gold plan ends with the end that the checks want."""
    if not field.startswith("gold"):
        return
    last, end = actions[-1], subject.scenario.checks.end
    said = last.arguments.get("outcome" if last.name == "finish" else "reason")
    wanted: list[Any] = list(end.outcome) if last.name == "finish" else end.hand_off if last.name == "hand_off" else []
    if not _computed(said) and said not in wanted:
        ends = [f"finish {outcome}" for outcome in end.outcome] + [f"hand_off {reason}" for reason in end.hand_off]
        raise subject.wrong(
            f"{field}[{len(actions) - 1}]",
            f"{last.name} {said or ''}".strip(),
            f"an end that checks.end takes: {', '.join(ends)}",
        )


def _check_values(subject: Subject, field: str, value: Any, labels: list[str]) -> None:
    if isinstance(value, list):
        for index, entry in enumerate(value):
            _check_values(subject, f"{field}[{index}]", entry, labels)
    if not isinstance(value, Mapping):
        return
    if value.get("from") in labels and not is_binding(value):
        odd = sorted(value.keys() - {"from", "path"})[0]
        raise subject.wrong(field, f"the key {odd!r} in a binding", f"from and path only{did_you_mean(odd, ['path'])}")
    if is_binding(value):
        label = value["from"]
        if label not in labels:
            near = did_you_mean(str(label), labels)
            raise subject.wrong(field, f"a binding to {label!r}", f"the label (as) of an earlier action{near}")
        return
    inner = value
    if is_calculation(value):
        inner = parameters_of(value)
        try:
            _EMPTY.check(value["sql"], {name: None for name in inner})
        except QueryError as error:
            raise subject.wrong(
                f"{field}.sql", error.found, f"{error.expected} (a calculation sees no table)"
            ) from None
    for name, entry in inner.items():
        _check_values(subject, f"{field}.{name}", entry, labels)


def check_tables(subject: Subject) -> None:
    """Tables and columns of patches and of ``may_change`` exist."""
    for field, patch in subject.patches():
        for table, rows in patch.items():
            _known_table(subject, field, table)
            for place, row in _rows(subject, f"{field}.{table}", table, rows):
                _known_columns(subject, place, table, row)
    for i, allowed in enumerate(subject.scenario.checks.may_change):
        field = f"checks.may_change[{i}]"
        _known_table(subject, f"{field}.table", allowed.table)
        _known_columns(subject, f"{field}.where", allowed.table, allowed.where)
        _known_columns(subject, f"{field}.columns", allowed.table, allowed.columns or [])


def _rows(subject: Subject, field: str, table: str, rows: Any) -> Iterable[tuple[str, Mapping[str, Any]]]:
    key = subject.world.tables[table].key
    if isinstance(rows, Mapping):
        if len(key) != 1:
            raise subject.wrong(field, "rows by one key", f"a list of rows: the key of {table} is {', '.join(key)}")
        entries = [(f"{field}.{name}", row) for name, row in rows.items() if row is not None]
    elif isinstance(rows, list):
        entries = [(f"{field}[{index}]", row) for index, row in enumerate(rows)]
    else:
        raise subject.wrong(field, shown(rows), "a list of rows, or a mapping of key to row (null deletes)")
    for place, row in entries:
        if not isinstance(row, Mapping):
            raise subject.wrong(place, shown(row), f"a row: a mapping of the columns of {table}")
        missing = [column for column in key if column not in row]
        if isinstance(rows, list) and missing:
            raise subject.wrong(place, f"no {missing[0]!r}", f"the primary key of {table}: {', '.join(key)}")
    return entries


def _known_table(subject: Subject, field: str, table: str) -> None:
    if table not in subject.world.tables:
        hint = did_you_mean(table, subject.world.tables)
        raise subject.wrong(field, f"the table {table!r}", f"a table of {subject.domain.name}{hint}")


def _known_columns(subject: Subject, field: str, table: str, columns: Iterable[str]) -> None:
    known = subject.world.tables[table].columns
    for column in columns:
        if column not in known:
            raise subject.wrong(
                field, f"the column {column!r}", f"a column of {table}: {', '.join(known)}{did_you_mean(column, known)}"
            )
