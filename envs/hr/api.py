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
from agentgym.envs.hr.operations import Api, Node, Operation, Param, api
from agentgym.envs.hr.reading import Refused, brief, read_body, read_query, text_value, wrong
from agentgym.envs.hr.style import Style
from agentgym.tools import shown as quoted

__all__ = [
    "Problem",
    "Request",
    "Response",
    "Routed",
    "operation_of",
    "parse",
    "problem_of",
    "request",
    "respond",
    "route",
]


class Routed(NamedTuple):
    """The tool that a request asks for, with canonical arguments (optional ones only as given)."""

    tool: str
    arguments: dict[str, Any]


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
    except Refused as refused:
        return refused.problem


def _route(made: Api, method: str, path: str, query: object, headers: object, body: object) -> Routed:
    where, given = _target(path, query)
    operation, values = _find(made, method.strip().upper(), where)
    fields = _headers(headers)
    arguments: dict[str, Any] = {}
    for param, value in zip(operation.path, values, strict=True):
        arguments[param.name] = text_value(param, value, "path")
    read_query(made, operation, given, arguments)
    read_body(made, operation, _body(operation, fields, body), arguments)
    style = made.style
    if operation.version is not None and operation.version_place == "header":
        arguments["version"] = _version(operation.version, fields, style.etag)
    if operation.key is not None and style.key_place == "header":
        key = fields.get(operation.key.shown.lower())
        if key is not None:
            arguments["idempotency_key"] = text_value(operation.key, key, "header")
    return Routed(operation.endpoint.tool, arguments)


def operation_of(style: Style, method: str, path: str) -> str:
    """The tool that a method and a path stand for, whatever else a request has; "" for none."""
    try:
        where, _ = _target(path, None)
        return _find(api(style), method.strip().upper(), where)[0].endpoint.tool
    except Refused:
        return ""


def _target(path: str, query: object) -> tuple[str, dict[str, Any]]:
    """The path alone, and the query as an object: name → value, or list of values."""
    given: dict[str, Any] = {}
    if "://" in path[:9]:
        try:
            parts = urlsplit(path)
        except ValueError:
            raise Refused("bad_request", "the path is no URL that can be read") from None
        path = parts.path + ("?" + parts.query if parts.query else "")
    path, _, own = path.partition("#")[0].partition("?")
    texts = [own] if own else []
    if isinstance(query, str):
        texts.append(query.lstrip("?"))
    elif isinstance(query, Mapping):
        given.update((str(name), value) for name, value in query.items() if value is not None)
    elif query is not None:
        raise Refused("bad_request", "expected the query as an object or a query string")
    for text in texts:
        try:
            pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
        except (ValueError, UnicodeDecodeError):
            raise Refused("bad_request", "the query string cannot be read") from None
        for name, given_text in pairs:
            before = given.get(name)
            given[name] = (
                given_text if before is None else [*(before if isinstance(before, list) else [before]), given_text]
            )
    return path, given


def _find(made: Api, method: str, path: str) -> tuple[Operation, list[str]]:
    """The operation, and the values in its path."""
    try:
        segments = [unquote(part, errors="strict") if "%" in part else part for part in path.strip("/").split("/")]
    except UnicodeDecodeError:
        raise Refused("bad_request", "the path is not UTF-8 in percent-encoding") from None
    leaves: list[tuple[Node, list[str]]] = []
    _walk(made.root, path.strip("/").split("/"), segments, 0, [], leaves)
    if not leaves:
        base = made.style.plan.base
        hint = "" if path.startswith(base + "/") else f"; every path begins with {base}/"
        raise Refused("not_found", f"there is no path {quoted(path)}{hint}; the documentation lists the paths")
    # What is written out goes before what stands for anything, so that "bulk" is no id of a person.
    node, values = min(leaves, key=lambda leaf: (len(leaf[1]), sum(map(len, leaf[1]))))
    if method in node.methods:
        return made.operations[node.methods[method]], values
    allowed = sorted(node.methods)
    raise Refused(
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
        raise Refused("bad_request", "expected the headers as an object of names and values")
    return {_written(name).lower(): _written(value) for name, value in headers.items() if value is not None}


def _written(value: object) -> str:
    """A header's name or value as the text that it would be on a wire."""
    return (value if isinstance(value, str) else brief(value)).strip()


def _body(operation: Operation, headers: Mapping[str, str], body: object) -> Mapping[str, Any]:
    """The body as an object, empty where there is none."""
    if isinstance(body, (bytes, bytearray)):
        try:
            body = body.decode()
        except UnicodeDecodeError:
            raise Refused("bad_request", "the body is not UTF-8") from None
    if body is None or (isinstance(body, str) and not body.strip()):
        return {}
    kind = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Refused("unsupported_media_type", f"expected the body as application/json, got {quoted(kind)}")
    if isinstance(body, str):
        try:
            body = json.loads(body, object_pairs_hook=_object, parse_constant=_no_constant)
        except RecursionError:
            raise Refused("bad_request", "the body is nested too deeply") from None
        except ValueError as error:
            raise Refused("bad_request", f"the body is no JSON: {str(error)[:80]}") from None
    if not isinstance(body, Mapping):
        raise Refused("bad_request", f"expected the body as a JSON object, got {brief(body)}")
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{quoted(next(name for name in names if names.count(name) > 1))} is given twice")
    return made


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _version(param: Param, headers: Mapping[str, str], etag: bool) -> int:
    value = headers.get(param.shown.lower())
    if value is None:
        form = '"3"' if etag else "3"
        raise Refused("precondition_required", f"header {quoted(param.shown)} is missing: expected the version that "
                       f"was read, such as {form}", field=param.shown)  # fmt: skip
    text = value.removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise wrong(param, "header", value)
    return int(text)
