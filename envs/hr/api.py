"""From a request to a canonical call, and back.

``route`` reads what an agent or an HTTP client sent, checks all of it, and gives the tool with canonical arguments or
the `Problem` to answer. ``request`` is its inverse. Answers are made and read by `agentgym.envs.hr.answers`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from agentgym.envs.hr.answers import Problem, Response, parse, problem_of, respond
from agentgym.envs.hr.asking import Request, request
from agentgym.envs.hr.endpoints import LARGEST_PAGE, PAGE_SIZE
from agentgym.envs.hr.formats import Wrong
from agentgym.envs.hr.operations import LARGEST_PAGE_NUMBER, Api, Node, Operation, Param, api
from agentgym.envs.hr.paging import page_of
from agentgym.envs.hr.style import Style
from agentgym.tools import shown as quoted

__all__ = ["Problem", "Request", "Response", "Routed", "parse", "problem_of", "request", "respond", "route"]


class Routed(NamedTuple):
    """The tool that a request asks for, with canonical arguments (optional ones only as given)."""

    tool: str
    arguments: dict[str, Any]


class _Refused(Exception):
    """Carries the problem of a request."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.problem = Problem(code, message, details)


def route(
    style: Style, method: str, path: str, query: object = None, headers: object = None, body: object = None
) -> Routed | Problem:
    """The call that a request asks for, or why there is none.

    Args:
        style: the API's spelling.
        method: in any case.
        path: with or without a query string; a full URL will do.
        query: object of values or lists, query string, or None.
        headers: object, names in any case, or None.
        body: object, JSON text or bytes, or None.
    """
    try:
        return _route(api(style), method, path, query, headers, body)
    except _Refused as refused:
        return refused.problem


def _route(made: Api, method: str, path: str, query: object, headers: object, body: object) -> Routed:
    where, given = _target(path, query)
    operation, values = _find(made, method.strip().upper(), where)
    fields = _headers(headers)
    arguments: dict[str, Any] = {}
    for param, value in zip(operation.path, values, strict=True):
        arguments[param.name] = _text_value(param, value, "path")
    _read_query(made, operation, given, arguments)
    _read_body(made, operation, _body(operation, fields, body), arguments)
    style = made.style
    if operation.version is not None and operation.version_place == "header":
        arguments["version"] = _version(operation.version, fields, style.etag)
    if operation.key is not None and style.key_place == "header":
        key = fields.get(operation.key.shown.lower())
        if key is not None:
            arguments["idempotency_key"] = _text_value(operation.key, key, "header")
    return Routed(operation.endpoint.tool, arguments)


def _target(path: str, query: object) -> tuple[str, dict[str, Any]]:
    """The path alone, and the query as an object: name → value, or list of values."""
    given: dict[str, Any] = {}
    if "://" in path[:9]:
        try:
            parts = urlsplit(path)
        except ValueError:
            raise _Refused("bad_request", "the path is no URL that can be read") from None
        path = parts.path + ("?" + parts.query if parts.query else "")
    path, _, own = path.partition("#")[0].partition("?")
    texts = [own] if own else []
    if isinstance(query, str):
        texts.append(query.lstrip("?"))
    elif isinstance(query, Mapping):
        given.update((str(name), value) for name, value in query.items() if value is not None)
    elif query is not None:
        raise _Refused("bad_request", "expected the query as an object or a query string")
    for text in texts:
        try:
            pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
        except (ValueError, UnicodeDecodeError):
            raise _Refused("bad_request", "the query string cannot be read") from None
        for name, text_value in pairs:
            before = given.get(name)
            given[name] = (
                text_value if before is None else [*(before if isinstance(before, list) else [before]), text_value]
            )
    return path, given


def _find(made: Api, method: str, path: str) -> tuple[Operation, list[str]]:
    """The operation, and the values in its path."""
    try:
        segments = [unquote(part, errors="strict") if "%" in part else part for part in path.strip("/").split("/")]
    except UnicodeDecodeError:
        raise _Refused("bad_request", "the path is not UTF-8 in percent-encoding") from None
    leaves: list[tuple[Node, list[str]]] = []
    _walk(made.root, path.strip("/").split("/"), segments, 0, [], leaves)
    for node, values in leaves:
        if method in node.methods:
            return node.methods[method], values
    if not leaves:
        base = made.style.plan.base
        hint = "" if path.startswith(base + "/") else f"; every path begins with {base}/"
        raise _Refused("not_found", f"there is no path {quoted(path)}{hint}; the documentation lists the paths")
    allowed = sorted({name for node, _ in leaves for name in node.methods})
    raise _Refused(
        "method_not_allowed",
        f"{quoted(path)} does not take {quoted(method)}; it takes: {', '.join(allowed)}",
        allow=allowed,
    )


def _walk(
    node: Node, raw: list[str], segments: list[str], depth: int, values: list[str], leaves: list[tuple[Node, list[str]]]
) -> None:
    if depth == len(segments):
        if node.methods:
            leaves.append((node, values))
        return
    segment = segments[depth]
    literal = node.literal.get(segment)
    if literal is not None:
        _walk(literal, raw, segments, depth + 1, values, leaves)
    for suffix, child in node.parameter.items():
        # The suffix counts only as written: a colon within an id is percent-encoded.
        if segment and (not suffix or (raw[depth].endswith(suffix) and len(raw[depth]) > len(suffix))):
            value = segment.removesuffix(suffix) if suffix else segment
            _walk(child, raw, segments, depth + 1, [*values, value], leaves)


def _headers(headers: object) -> dict[str, str]:
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        raise _Refused("bad_request", "expected the headers as an object of names and values")
    return {str(name).strip().lower(): str(value).strip() for name, value in headers.items() if value is not None}


def _where(param: Param, place: str) -> str:
    return (
        {"query": "query parameter", "body": "field", "header": "header", "path": "path parameter"}[place]
        + " "
        + quoted(param.shown)
    )


def _wrong(param: Param, place: str, value: object) -> _Refused:
    return _Refused(
        "unprocessable",
        f"{_where(param, place)}: expected {param.codec.expects}, got {_brief(value)}",
        field=param.shown,
    )


def _brief(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:79] + "…"


def _text_value(param: Param, value: object, place: str) -> Any:
    """A value from where everything is text: it is read as the type that it must have."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        value = "true" if value else "false"
    wire = param.codec.wire
    if isinstance(value, (int, float)) and wire == "string":
        value = str(value)
    try:
        if isinstance(value, str) and wire != "string":
            value = _typed(value, wire)
        return param.codec.decode(value)
    except (Wrong, ValueError):
        raise _wrong(param, place, value) from None


def _typed(value: str, wire: str) -> Any:
    if wire == "array":
        return value.split(",")
    found = json.loads(value)
    if wire == "integer" and isinstance(found, int) and not isinstance(found, bool):
        return found
    if (wire == "number" and isinstance(found, (int, float))) or (wire == "boolean" and isinstance(found, bool)):
        return found
    raise Wrong


def _missing(param: Param, place: str) -> _Refused:
    return _Refused(
        "bad_request", f"{_where(param, place)} is missing: expected {param.codec.expects}", field=param.shown
    )


def _unknown(name: str, noun: str, known: Mapping[str, Param], more: tuple[str, ...] = ()) -> _Refused:
    names = ", ".join([*known, *more]) or "none"
    return _Refused("bad_request", f"there is no {noun} {quoted(name)} here; what can be given: {names}")


def _read_query(made: Api, operation: Operation, given: Mapping[str, Any], arguments: dict[str, Any]) -> None:
    paging, many = made.style.paging, operation.endpoint.many
    known = operation.query
    for name, value in given.items():
        param = known.get(name)
        if param is not None:
            arguments[param.name] = _text_value(param, value, "query")
        elif not (many and name in (paging.place, paging.size)):
            raise _unknown(name, "query parameter", known, (paging.place, paging.size) if many else ())
    for name, param in known.items():
        if param.required and name not in given:
            raise _missing(param, "query")
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
        found = page_of(made.style, operation.endpoint.tool, place[0] if isinstance(place, list) else place)
        if found is None:
            raise _Refused("unprocessable", f"query parameter {quoted(paging.place)}: expected the value that the list "
                           f"gave, unchanged, got {_brief(place)}", field=paging.place)  # fmt: skip
        if size is not None and size != found[1]:
            raise _Refused("unprocessable", f"query parameter {quoted(paging.size)}: it is {found[1]} in "
                           f"{quoted(paging.place)}, got {size}", field=paging.size)  # fmt: skip
        return {"page": found[0], "page_size": found[1]}
    size = size or PAGE_SIZE
    if paging.kind == "offset":
        offset = _count(place, paging.place, 0, LARGEST_PAGE_NUMBER * size) or 0
        if offset % size:
            raise _Refused("unprocessable", f"query parameter {quoted(paging.place)}: expected a multiple of "
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
        expected = f"expected a whole number in {low}..{high}, got {_brief(value)}"
        raise _Refused("unprocessable", f"query parameter {quoted(name)}: {expected}", field=name)
    return found


def _body(operation: Operation, headers: Mapping[str, str], body: object) -> Mapping[str, Any]:
    """The body as an object, empty where there is none."""
    if isinstance(body, (bytes, bytearray)):
        try:
            body = body.decode()
        except UnicodeDecodeError:
            raise _Refused("bad_request", "the body is not UTF-8") from None
    if body is None or (isinstance(body, str) and not body.strip()):
        return {}
    kind = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise _Refused("unsupported_media_type", f"expected the body as application/json, got {quoted(kind)}")
    if isinstance(body, str):
        try:
            body = json.loads(body, object_pairs_hook=_object, parse_constant=_no_constant)
        except RecursionError:
            raise _Refused("bad_request", "the body is nested too deeply") from None
        except ValueError as error:
            raise _Refused("bad_request", f"the body is no JSON: {str(error)[:80]}") from None
    if not isinstance(body, Mapping):
        raise _Refused("bad_request", f"expected the body as a JSON object, got {_brief(body)}")
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{quoted(next(name for name in names if names.count(name) > 1))} is given twice")
    return made


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _read_body(made: Api, operation: Operation, body: Mapping[str, Any], arguments: dict[str, Any]) -> None:
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
            raise _wrong(param, "body", value) from None
    for name, param in known.items():
        if param.required and body.get(name) is None:
            raise _missing(param, "body")
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
        raise _wrong(param, "body", value) from None


def _version(param: Param, headers: Mapping[str, str], etag: bool) -> int:
    value = headers.get(param.shown.lower())
    if value is None:
        form = '"3"' if etag else "3"
        raise _Refused("precondition_required", f"header {quoted(param.shown)} is missing: expected the version that "
                       f"was read, such as {form}", field=param.shown)  # fmt: skip
    text = value.removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _wrong(param, "header", value)
    return int(text)
