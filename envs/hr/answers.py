"""From a canonical result or problem to what the API answers in a style, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from agentgym.envs.hr.asking import links
from agentgym.envs.hr.endpoints import BY_TOOL, Endpoint
from agentgym.envs.hr.formats import Wrong
from agentgym.envs.hr.operations import Api, Encode, api
from agentgym.envs.hr.paging import cursor_of, page_of
from agentgym.envs.hr.records import RECORDS
from agentgym.envs.hr.style import CODES, Style

_MISSING = object()
_PLACEHOLDER = re.compile(r"\{([a-z_.]+)(?::([^{}]*))?\}")
_LINK = re.compile(r'<([^<>]*)>; rel="(\w+)"')


@dataclass(frozen=True)
class Problem:
    """Why there is no result.

    Attributes:
        code: a canonical code, a key of `CODES`.
        message: as the agent reads it, in the style's names.
        details: canonical name → value; ``allow`` (methods) becomes a header.
    """

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The canonical status."""
        return CODES[self.code]


class Response(NamedTuple):
    """What the API answers; the headers are those that say something."""

    status: int
    headers: dict[str, str]
    body: Any

    def value(self) -> dict[str, Any]:
        """As ``http_request`` gives it."""
        return {"status": self.status, "headers": self.headers, "body": self.body}


def problem_of(style: Style, text: str) -> Problem:
    """The problem that a tool raised (its canonical JSON text), the message in the style's names.

    A text that is no such JSON becomes the message of an ``unprocessable`` one.
    """
    try:
        found = json.loads(text)
        code, message, details = found["code"], found["message"], found.get("details") or {}
    except (ValueError, TypeError, KeyError):
        code, message, details = "unprocessable", text, {}
    if code not in CODES:
        code = "unprocessable"
    return Problem(code, fill(style, message), details)


def fill(style: Style, message: str) -> str:
    """*message* with the style's names and formats in place of ``{field}`` and ``{kind:value}``."""
    made = api(style)

    def put(match: re.Match[str]) -> str:
        name, value = match[1], match[2]
        if value is None:
            return style.key_name if name == "idempotency_key" else style.names.fields.get(name, match[0])
        try:
            return _written(made, name, value)
        except (Wrong, ValueError, KeyError, IndexError):
            return value

    return _PLACEHOLDER.sub(put, message)


def _written(made: Api, kind: str, value: str) -> str:
    if kind == "enum":
        enum, _, value = value.partition(":")
        return made.style.names.values[enum][value]
    if kind == "money":
        currency, _, value = value.partition(":")
        shown = made.money.encode(int(value), currency)
        return json.dumps(shown) if isinstance(shown, dict) else str(shown)
    shown = made.codec(kind).show(int(value) if kind in ("minutes", "hundredths", "int") else value)
    return str(shown)


def respond(
    style: Style, tool: str, result: Mapping[str, Any] | Problem, arguments: Mapping[str, Any] | None = None
) -> Response:
    """What the API answers.

    Args:
        style: the API's spelling.
        tool: the canonical tool that ran ("" for a problem without one).
        result: its canonical result, or the problem.
        arguments: its canonical arguments, which links to other pages repeat.
    """
    if isinstance(result, Problem):
        return _error(style, result)
    made = api(style)
    endpoint = BY_TOOL[tool]
    if endpoint.many:
        items = result["items"]
        if items:
            encode = _encode(made, endpoint.returns)
            items = [encode(item) for item in items]
        headers, body = _list(made, endpoint, result, items, arguments or {})
    else:
        headers, body = {}, _single(made, endpoint.returns, _encode(made, endpoint.returns)(result))
        if style.version_place == "header" and "version" in result:
            name = "ETag" if style.etag else style.version_name
            headers[name] = f'"{result["version"]}"' if style.etag else str(result["version"])
    if endpoint.deprecated:
        headers["Deprecation"] = "true"
    return Response(style.created if endpoint.tool.startswith("create") else 200, headers, body)


def _encode(made: Api, record: str) -> Encode:
    """What writes a record; made when it is first needed."""
    found = made.encoders.get(record)
    if found is None:
        found = made.encoders[record] = _encoder(made, record)
    return found


@cache
def _columns(record: str) -> list[tuple[str, str, bool]]:
    """Name, kind and confidentiality of the fields."""
    return [(field.name, field.kind, field.confidential) for field in RECORDS[record]]


def _encoder(made: Api, record: str) -> Encode:
    names, every, write = made.style.names.fields, not made.style.omit_nulls, made.writer
    columns = [
        (name, names[name], write(kind), kind == "money", every or confidential)
        for name, kind, confidential in _columns(record)
    ]
    money = made.money.encode

    def encode(values: Mapping[str, Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        get = values.get
        for name, shown, write, is_money, keep in columns:
            value = get(name, _MISSING)
            if value is None:
                if keep:
                    out[shown] = None
            elif value is not _MISSING:
                if is_money:
                    value = money(value, values["currency"])
                elif write is not None:
                    value = write(value)
                out[shown] = value
        return out

    return encode


def _single(made: Api, record: str, value: dict[str, Any]) -> dict[str, Any]:
    key = made.single_key(record)
    return {**dict(made.style.envelope.constants), key: value} if key else value


def _list(
    made: Api, endpoint: Endpoint, result: Mapping[str, Any], items: list[dict[str, Any]], arguments: Mapping[str, Any]
) -> tuple[dict[str, str], Any]:
    """Headers and body of a page of a list."""
    style, paging, tool = made.style, made.style.paging, endpoint.tool
    page, size, total = result["page"], result["page_size"], result["total"]
    more = page * size < total
    headers: dict[str, str] = {}
    meta: dict[str, Any] = {}
    if paging.kind == "link":
        url = links(style, tool, arguments)
        headers = {"Link": f'<{url(page, size)}>; rel="self"', paging.total: str(total)}
        if more:
            headers["Link"] += f', <{url(page + 1, size)}>; rel="next"'
    elif paging.kind in ("cursor", "links"):
        put = links(style, tool, arguments) if paging.kind == "links" else lambda p, n: cursor_of(style, tool, p, n)
        meta[paging.own] = put(page, size)
        if more or not style.omit_nulls:
            meta[paging.following] = put(page + 1, size) if more else None
    else:
        meta[paging.place] = (page - 1) * size if paging.kind == "offset" else page - 1 + paging.first
        meta[paging.size] = size
    if paging.kind != "link":
        meta[paging.total] = total
    if made.bare_list():
        return headers, items
    key = made.many_key(endpoint.returns)
    apart = {style.envelope.meta: meta} if style.envelope.meta and meta else meta
    return headers, {**dict(style.envelope.constants), key: items, **apart}


def status_of(style: Style, code: str) -> int:
    """The status with which problems of that code are answered."""
    return style.errors.invalid if code == "unprocessable" else CODES[code]


def _error(style: Style, problem: Problem) -> Response:
    shape, status = style.errors, status_of(style, problem.code)
    headers: dict[str, str] = {}
    details = {shape.detail_names.get(k, k): v for k, v in problem.details.items() if k not in ("allow", "field")}
    if "allow" in problem.details:
        headers["Allow"] = ", ".join(problem.details["allow"])
    if "retry_after_s" in problem.details:
        headers["Retry-After"] = str(problem.details["retry_after_s"])
    inner: dict[str, Any] = {shape.code: shape.codes[problem.code], shape.message: problem.message}
    if shape.status:
        inner[shape.status] = status
    if details:
        inner[shape.details] = details
    body = {shape.outer: [inner]} if shape.kind == "list" else {shape.outer: inner} if shape.kind == "nested" else inner
    return Response(status, headers, body)


def parse(style: Style, tool: str, status: int, headers: Mapping[str, str], body: Any) -> dict[str, Any]:
    """The canonical result that an answer says: the inverse of `respond`.

    Of an error it is ``{status, code, message, details}``, the message as shown.

    Raises:
        ValueError: the answer is not one of this endpoint in this style.
    """
    made = api(style)
    try:
        return _parse_error(style, body) if status >= 400 else _parse(made, tool, headers, body)
    except (Wrong, KeyError, TypeError, IndexError, AttributeError, StopIteration) as error:
        raise ValueError(f"this is no answer of {tool} in this style: {str(error)[:120]}") from error


def _parse(made: Api, tool: str, headers: Mapping[str, str], body: Any) -> dict[str, Any]:
    endpoint = BY_TOOL[tool]
    if not endpoint.many:
        key = made.single_key(endpoint.returns)
        return _decode(made, endpoint.returns, body[key] if key else body)
    items = body if made.bare_list() else body[made.many_key(endpoint.returns)]
    page, size, total = _parse_page(made, tool, headers, body)
    records = [_decode(made, endpoint.returns, item) for item in items]
    return {"items": records, "page": page, "page_size": size, "total": total}


def _parse_page(made: Api, tool: str, headers: Mapping[str, str], body: Any) -> tuple[int, int, int]:
    style, paging = made.style, made.style.paging
    if paging.kind == "link":
        lower = {name.lower(): value for name, value in headers.items()}
        own = next(url for url, rel in _LINK.findall(lower["link"]) if rel == "self")
        return (*_linked(style, own), int(lower[paging.total.lower()]))
    meta = body[style.envelope.meta] if style.envelope.meta else body
    total = int(meta[paging.total])
    if paging.kind == "links":
        return (*_linked(style, meta[paging.own]), total)
    if paging.kind == "cursor":
        found = page_of(style, tool, meta[paging.own])
        if found is None:
            raise Wrong(f"{meta[paging.own]!r} is no cursor of {tool}")
        return (*found, total)
    size, place = int(meta[paging.size]), int(meta[paging.place])
    return (place // size + 1 if paging.kind == "offset" else place + 1 - paging.first, size, total)


def _linked(style: Style, url: str) -> tuple[int, int]:
    query = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    return int(query[style.paging.place]) + 1 - style.paging.first, int(query[style.paging.size])


def _decode(made: Api, record: str, shown: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    currency = str(shown.get(made.money.currency, ""))
    for column in made.columns(record):
        value = shown.get(column.shown, _MISSING)
        if value is _MISSING:
            if not column.optional:
                raise Wrong(f"{column.shown} is missing")
            if not column.keep_null:
                out[column.name] = None
        elif value is None:
            out[column.name] = None
        else:
            out[column.name] = made.money.decode(value, currency) if column.money else column.codec.decode(value)
    return out


def _parse_error(style: Style, body: Any) -> dict[str, Any]:
    shape = style.errors
    inner = body[shape.outer][0] if shape.kind == "list" else body[shape.outer] if shape.kind == "nested" else body
    code = next(code for code, shown in shape.codes.items() if shown == inner[shape.code])
    back = {shown: name for name, shown in shape.detail_names.items()}
    details = {back.get(name, name): value for name, value in inner.get(shape.details, {}).items()}
    return {"status": CODES[code], "code": code, "message": inner[shape.message], "details": details}
