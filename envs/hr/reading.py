"""Values of a request: from what was sent to canonical ones, or why they cannot be taken."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agentgym.envs.hr.answers import Problem
from agentgym.envs.hr.endpoints import LARGEST_PAGE, PAGE_SIZE
from agentgym.envs.hr.formats import Wrong
from agentgym.envs.hr.operations import LARGEST_PAGE_NUMBER, Api, Operation, Param
from agentgym.envs.hr.paging import page_of
from agentgym.tools import shown as quoted

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})([.][0-9]{1,18})?([eE][+-]?[0-9]{1,3})?")
_BOOLEANS: Mapping[str, bool] = {"true": True, "false": False}


class Refused(Exception):
    """Carries the problem of a request."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.problem = Problem(code, message, details)


def _where(param: Param, place: str) -> str:
    return (
        {"query": "query parameter", "body": "field", "header": "header", "path": "path parameter"}[place]
        + " "
        + quoted(param.shown)
    )


def wrong(param: Param, place: str, value: object) -> Refused:
    """A value that cannot be taken."""
    return Refused(
        "unprocessable",
        f"{_where(param, place)}: expected {param.codec.expects}, got {brief(value)}",
        field=param.shown,
    )


def brief(value: object) -> str:
    """A value as an error message quotes it."""
    if isinstance(value, str):
        return quoted(value)
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return "a value that is too deep or too long to be shown"
    return text if len(text) <= 80 else text[:79] + "…"


def text_value(param: Param, value: object, place: str) -> Any:
    """A value from where everything is text: it is read as the type that it must have."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        value = "true" if value else "false"
    wire = param.codec.wire
    try:
        if isinstance(value, (int, float)) and wire == "string":
            value = str(value)
        if isinstance(value, str) and wire != "string":
            value = _typed(value, wire)
        return param.codec.decode(value)
    except (Wrong, ValueError):
        raise wrong(param, place, value) from None


def _typed(value: str, wire: str) -> Any:
    if wire == "array":
        return value.split(",")
    text = value.strip()
    if wire == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if wire == "number" and _NUMBER.fullmatch(text):
        return float(text)
    if wire == "boolean" and text in _BOOLEANS:
        return _BOOLEANS[text]
    raise Wrong


def missing(param: Param, place: str) -> Refused:
    """A parameter that was not given."""
    return Refused(
        "bad_request", f"{_where(param, place)} is missing: expected {param.codec.expects}", field=param.shown
    )


def _unknown(name: str, noun: str, known: Mapping[str, Param], more: tuple[str, ...] = ()) -> Refused:
    names = ", ".join([*known, *more]) or "none"
    return Refused("bad_request", f"there is no {noun} {quoted(name)} here; what can be given: {names}")


def read_query(made: Api, operation: Operation, given: Mapping[str, Any], arguments: dict[str, Any]) -> None:
    """Put the canonical values of query parameters into *arguments*.

    Raises:
        Refused: one is unknown, missing or wrong.
    """
    paging, many = made.style.paging, operation.endpoint.many
    known = operation.query
    for name, value in given.items():
        param = known.get(name)
        if param is not None:
            arguments[param.name] = text_value(param, value, "query")
        elif not (many and name in (paging.place, paging.size)):
            raise _unknown(name, "query parameter", known, (paging.place, paging.size) if many else ())
    for name, param in known.items():
        if param.required and name not in given:
            raise missing(param, "query")
    if many:
        arguments.update(_page(made, operation, given))


def _page(made: Api, operation: Operation, given: Mapping[str, Any]) -> dict[str, int]:
    """``page`` and ``page_size`` of a list."""
    paging = made.style.paging
    size = _count(given.get(paging.size), paging.size, 1, LARGEST_PAGE)
    place = given.get(paging.place)
    if paging.kind == "cursor":
        if place is None:
            return {"page": 1, "page_size": size or PAGE_SIZE}
        cursor = place[0] if isinstance(place, list) and len(place) == 1 else place
        found = page_of(made.style, operation.endpoint.tool, cursor)
        if found is None:
            raise Refused("unprocessable", f"query parameter {quoted(paging.place)}: expected the value that the list "
                           f"gave, unchanged, got {brief(place)}", field=paging.place)  # fmt: skip
        if size is not None and size != found[1]:
            raise Refused("unprocessable", f"query parameter {quoted(paging.size)}: it is {found[1]} in "
                           f"{quoted(paging.place)}, got {size}", field=paging.size)  # fmt: skip
        return {"page": found[0], "page_size": found[1]}
    size = size or PAGE_SIZE
    if paging.kind == "offset":
        offset = _count(place, paging.place, 0, LARGEST_PAGE_NUMBER * size) or 0
        if offset % size:
            raise Refused("unprocessable", f"query parameter {quoted(paging.place)}: expected a multiple of "
                           f"{quoted(paging.size)} ({size}), got {offset}", field=paging.place)  # fmt: skip
        return {"page": min(offset // size + 1, LARGEST_PAGE_NUMBER), "page_size": size}
    number = _count(place, paging.place, paging.first, LARGEST_PAGE_NUMBER + paging.first - 1)
    return {"page": 1 if number is None else number - paging.first + 1, "page_size": size}


def _count(value: object, name: str, low: int, high: int) -> int | None:
    if value is None:
        return None
    found = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 12:
        found = int(found)
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        expected = f"expected a whole number in {low}..{high}, got {brief(value)}"
        raise Refused("unprocessable", f"query parameter {quoted(name)}: {expected}", field=name)
    return found


def read_body(made: Api, operation: Operation, body: Mapping[str, Any], arguments: dict[str, Any]) -> None:
    """Put the canonical values of a body into *arguments*.

    Raises:
        Refused: one is unknown, missing or wrong.
    """
    known = operation.body
    amount: Param | None = None
    for name, value in body.items():
        param = known.get(name)
        if param is None:
            raise _unknown(name, "field", known)
        if value is None:
            continue
        if param.kind == "money":
            amount = param
            continue
        try:
            arguments[param.name] = param.codec.decode(value)
        except Wrong:
            raise wrong(param, "body", value) from None
    for name, param in known.items():
        if param.required and body.get(name) is None:
            raise missing(param, "body")
    if amount is not None:
        _read_money(made, amount, body[amount.shown], arguments)


def _read_money(made: Api, param: Param, value: Any, arguments: dict[str, Any]) -> None:
    """Last, since what it means depends on the currency."""
    try:
        if made.money.form == "object" and isinstance(value, Mapping):
            arguments["currency"] = made.codec("text").decode(value.get(made.money.currency))
            value = dict(value)
        arguments[param.name] = made.money.decode(value, arguments.get("currency", ""))
    except Wrong:
        raise wrong(param, "body", value) from None
