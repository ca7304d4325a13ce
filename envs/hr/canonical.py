"""Canonical tools: a function for each endpoint, checked against the table of endpoints when it is imported.

What an endpoint says of itself (text, parameters, limits) stands in ``endpoints.py`` alone; ``@canonical`` takes it
from there. Standard library only.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from agentgym.envs.hr.endpoints import BY_TOOL, LARGEST_PAGE, PAGE_SIZE, Endpoint
from agentgym.envs.hr.problems import refused, said
from agentgym.envs.hr.records import ENUMS
from agentgym.tools import Length, Tool, ToolError, build_tool
from agentgym.world import World

Json = dict[str, Any]
Key = Annotated[str, Length(1, 64)]
Employment = Literal["active", "on_leave", "notice_given", "left"]
Contract = Literal["permanent", "fixed_term", "working_student", "intern"]
Decision = Literal["pending", "approved", "rejected", "cancelled"]
Verdict = Literal["approved", "rejected"]
Run = Literal["open", "cut_off", "closed"]
Adjustment = Literal["grade_change", "overtime", "correction", "bonus", "repayment"]
Requisition = Literal["draft", "open", "on_hold", "filled", "closed"]
Stage = Literal["applied", "screening", "interview", "offer", "hired", "withdrawn", "turned_down"]
System = Literal["mail", "time_clock", "expenses", "vpn", "code_host", "crm"]
Access = Literal["view_directory", "view_attendance", "view_pay", "change_pay", "decide_leave", "recruit", "administer"]

OWNER = {
    "employee_id": "SELECT employee_id FROM employees WHERE employee_id = :value",
    "correction_id": "SELECT employee_id FROM attendance_corrections WHERE correction_id = :value",
    "payslip_id": "SELECT employee_id FROM payslips WHERE month = substr(:value, -7) "
    "AND employee_id = 'E' || (CAST(substr(:value, 2, instr(:value, '-') - 2) AS INTEGER) - 9000)",
    "request_id": "SELECT employee_id FROM leave_requests WHERE request_id = :value",
    "grant_id": "SELECT employee_id FROM access_grants WHERE grant_id = :value",
    "account_id": "SELECT employee_id FROM accounts WHERE account_id = :value",
}
"""Parameter → the person to whom the thing belongs."""

_TYPES = {"bool": bool, "ids": list[str]} | dict.fromkeys(("int", "money", "minutes", "hundredths"), int)


def canonical(function: Callable[..., Any]) -> Tool:
    """Turn a function into the tool of the endpoint of its name.

    Raises:
        TypeError: there is no such endpoint, or its parameters are others.
    """
    endpoint = BY_TOOL.get(function.__name__)
    if endpoint is None:
        raise TypeError(f"there is no endpoint for {function.__name__}; add it to endpoints.py")
    texts = _parameters(endpoint)
    _compare(function, endpoint, list(texts))
    lines = "\n".join(f"    {name}: {text}" for name, text in texts.items())
    function.__doc__ = f"{endpoint.text}\n\nArgs:\n{lines}" if lines else endpoint.text
    names = [name for name in texts if name in OWNER]
    built = build_tool(
        function,
        skip=1,
        writes=endpoint.writes,
        latency_ms=300 if endpoint.writes else 250 if endpoint.many else 120,
        owners={name: OWNER[name] for name in names},
        idempotency="idempotency_key" if endpoint.keyed else "",
    )
    made = _maintained(function) if endpoint.writes else function
    limited = _limited(made, endpoint) if endpoint.limit else made
    return dataclasses.replace(built, function=limited, reused=_reused if endpoint.keyed else None)


def _reused(key: str) -> ToolError:
    """The problem of a key that another request has used."""
    text = f"{{idempotency_key}} {said(key)} was already used for another request; use a new one"
    return refused("unprocessable", text)


def _parameters(endpoint: Endpoint) -> dict[str, str]:
    texts = {parameter.field.name: parameter.field.text for parameter in endpoint.parameters}
    if endpoint.conditional:
        texts["version"] = "the version that was read"
    if endpoint.keyed:
        texts["idempotency_key"] = "any text of yours, for this request alone; a repeated key returns the first result"
    if endpoint.many:
        texts["page"] = "number of the page, 1 or more"
        texts["page_size"] = f"records a page, 1 to {LARGEST_PAGE}"
    return texts


def _compare(function: Callable[..., Any], endpoint: Endpoint, names: Sequence[str]) -> None:
    signature = inspect.signature(function).parameters
    found = [name for name in signature if name != "world"]
    if sorted(found) != sorted(names):
        raise TypeError(f"{endpoint.tool} takes {found}, but its endpoint has {names}")
    hints = typing.get_type_hints(function)
    for parameter in endpoint.parameters:
        name, kind = parameter.field.name, parameter.field.kind
        wanted: Any = Literal[ENUMS[kind[5:]]] if kind.startswith("enum:") else _TYPES.get(kind, str)
        if not parameter.required:
            wanted = wanted | None
        optional = signature[name].default is not inspect.Parameter.empty
        if hints[name] != wanted or optional == parameter.required:
            raise TypeError(f"{endpoint.tool}: {name} must be {wanted}, required: {parameter.required}")


def _limited(function: Callable[..., Any], endpoint: Endpoint) -> Callable[..., Any]:
    """The function, which answers 429 once a minute of simulated time has seen as many calls as the limit."""

    @functools.wraps(function)
    def limited(world: World, **arguments: Any) -> Any:
        minute = world.now_ms // 60_000
        calls = world.connection.execute(
            "INSERT INTO _windows VALUES (?, ?, 1) ON CONFLICT (operation) DO UPDATE SET "
            "calls = CASE WHEN minute = excluded.minute THEN calls + 1 ELSE 1 END, minute = excluded.minute "
            "RETURNING calls",
            (endpoint.tool, minute),
        ).fetchall()[0][0]
        if calls > endpoint.limit:
            wait = 60 - world.now_ms // 1000 % 60
            text = f"at most {endpoint.limit} such calls a minute are possible; try again in {wait} s"
            raise refused("rate_limited", text, retry_after_s=wait)
        return function(world, **arguments)

    return limited


def _maintained(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which answers 503 while maintenance goes on."""

    @functools.wraps(function)
    def maintained(world: World, **arguments: Any) -> Any:
        ends = world.value("SELECT ends FROM maintenance WHERE id = 1")
        if ends is not None and ends > world.now:
            left = datetime.fromisoformat(ends.replace("Z", "+00:00")).timestamp() * 1000 - world.now_ms
            text = f"nothing can be changed before {{moment:{ends}}}: maintenance; records can be read"
            raise refused("unavailable", text, retry_after_s=-(-int(left) // 1000))
        return function(world, **arguments)

    return maintained


def paged(
    world: World,
    columns: str,
    source: str,
    order: str,
    parameters: Sequence[object],
    page: int,
    page_size: int = PAGE_SIZE,
) -> Json:
    """One page of a query.

    Args:
        world: the world.
        columns: what is selected.
        source: what stands behind FROM, its conditions included.
        order: of the rows.
        parameters: of *source*.
        page: its number, from 1.
        page_size: rows a page, 1 to `LARGEST_PAGE`.

    Raises:
        ToolError: there can be no such page.
    """
    bounded(page, page_size)
    found = world.connection.execute(f"SELECT count(*) FROM {source}", tuple(parameters)).fetchall()
    count = len(parameters)
    sql = f"SELECT {columns} FROM {source} ORDER BY {order} LIMIT ?{count + 1} OFFSET ?{count + 2}"
    items = world.rows(sql, *parameters, page_size, (page - 1) * page_size)
    return {"items": items, "page": page, "page_size": page_size, "total": found[0][0]}


def sliced(rows: list[Json], page: int, page_size: int) -> Json:
    """One page of rows that are all there.

    Raises:
        ToolError: there can be no such page.
    """
    bounded(page, page_size)
    first = (page - 1) * page_size
    return {"items": rows[first : first + page_size], "page": page, "page_size": page_size, "total": len(rows)}


def bounded(page: int, page_size: int) -> None:
    """Go on only with a page that can be.

    Raises:
        ToolError: its number or size is out of bounds.
    """
    if not 1 <= page <= 100_000:
        raise refused("bad_request", f"there is no page {page}; pages count from 1")
    if not 1 <= page_size <= LARGEST_PAGE:
        raise refused("bad_request", f"a page holds 1 to {LARGEST_PAGE} records, not {page_size}")


def day(value: str, field: str) -> str:
    """A date that exists.

    Raises:
        ToolError: it does not.
    """
    try:
        date.fromisoformat(value)
    except ValueError:
        value = ""
    if len(value) != 10 or value[7] != "-":
        raise refused("unprocessable", f"{{{field}}} is no day of the calendar")
    return value


def month(value: str, field: str) -> str:
    """A month that exists.

    Raises:
        ToolError: it does not.
    """
    try:
        day(f"{value}-01", field)
    except ToolError as error:
        raise refused("unprocessable", f"{{{field}}} is no month of the calendar") from error
    return value


def span(first: str, last: str, names: tuple[str, str] = ("from_date", "to_date")) -> None:
    """Go on only if *last* is not before *first*.

    Raises:
        ToolError: it is.
    """
    if last < first:
        raise refused("unprocessable", f"{{{names[1]}}} lies before {{{names[0]}}}")


def within(value: int, low: int, high: int, field: str) -> None:
    """Go on only with a number in these bounds.

    Raises:
        ToolError: it is not.
    """
    if not low <= value <= high:
        raise refused("unprocessable", f"{{{field}}} is out of bounds")


def text(value: str, field: str, most: int = 500) -> None:
    """Go on only with a text that is there and not too long.

    Raises:
        ToolError: it is not.
    """
    if not 0 < len(value.strip()) or len(value) > most:
        raise refused("unprocessable", f"{{{field}}} must have 1 to {most} characters, got {said(value)}")


def fresh(now: int, read: int) -> None:
    """Go on only if a record still has the version that was read.

    Raises:
        ToolError: it was changed since.
    """
    if now != read:
        raise refused(
            "version_conflict", f"{{version}} is {now} by now, not {read}; read it again", current_version=now
        )
