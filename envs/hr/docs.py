"""The documentation of the API in a style, made from the tables of endpoints and records.

What holds everywhere (formats, paging, errors, versions) stands in the overview alone; a page of a resource has its
endpoints, fields and values. The field that is not documented is on no page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from agentgym.envs.hr.answers import fill
from agentgym.envs.hr.api import request, respond
from agentgym.envs.hr.docs_overview import overview
from agentgym.envs.hr.docs_text import CONFIDENTIAL, RULES, TITLES, VALUES
from agentgym.envs.hr.endpoints import ENDPOINTS, PAGE_SIZE, Endpoint
from agentgym.envs.hr.examples import arguments_of, record_of
from agentgym.envs.hr.openapi import openapi
from agentgym.envs.hr.operations import Api, Operation, Param, api
from agentgym.envs.hr.records import RECORDS, Field
from agentgym.envs.hr.style import Style

__all__ = ["openapi", "page", "sections"]

_encode = json.JSONEncoder(ensure_ascii=False).encode


def sections(style: Style) -> list[dict[str, str]]:
    """The sections of the documentation: ``section``, its name for `page`, and ``title``."""
    return [{"section": style.names.sections[section], "title": title} for section, title in TITLES.items()]


def page(style: Style, section: str) -> str:
    """The text of the section with that (shown) name.

    Raises:
        KeyError: there is none.
    """
    canonical = {shown: name for name, shown in style.names.sections.items()}[section]
    return _document(style) if canonical == "openapi" else _page(style, canonical)


@lru_cache(maxsize=16)
def _document(style: Style) -> str:
    """It is twenty times as long as a page, so fewer are kept."""
    return json.dumps(openapi(style), ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=512)
def _page(style: Style, canonical: str) -> str:
    if canonical == "overview":
        return overview(style)
    if canonical == "rules":
        return _rules(style)
    if canonical == "changelog":
        return _changelog(style)
    return _resource(style, canonical)


class _Content(NamedTuple):
    """What the page of a resource is made of, the same in every style.

    ``values``: enumeration → the fields that take its values, the records that have them, and values with meanings.
    """

    endpoints: tuple[Endpoint, ...]
    records: tuple[str, ...]
    values: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]], ...]


@cache
def _content(resource: str) -> _Content:
    endpoints = tuple(endpoint for endpoint in ENDPOINTS if endpoint.resource == resource)
    records = tuple(dict.fromkeys(endpoint.returns for endpoint in endpoints))
    fields = [field for record in records for field in RECORDS[record]]
    fields += [parameter.field for endpoint in endpoints for parameter in endpoint.parameters]
    users: dict[str, dict[str, None]] = {}
    for field in fields:
        if field.kind.startswith("enum:"):
            users.setdefault(field.kind.removeprefix("enum:"), {})[field.name] = None
    # Two enumerations may have one field's name: the record says which one it is.
    owners: dict[str, list[str]] = {enum: [] for enum in users}
    for record in records:
        for field in RECORDS[record]:
            if field.kind.startswith("enum:"):
                owners[field.kind.removeprefix("enum:")].append(record)
    values = tuple((enum, tuple(users[enum]), tuple(owners[enum]), tuple(VALUES[enum].items())) for enum in users)
    return _Content(endpoints, records, values)


def _resource(style: Style, resource: str) -> str:
    made, content = api(style), _content(resource)
    parts = [f"# {TITLES[resource]}"]
    parts += [_endpoint(made, made.operations[endpoint.tool]) for endpoint in content.endpoints]
    parts += [_record(made, record) for record in content.records]
    parts += _values(style, content)
    parts.append(_example(style, content.endpoints))
    return "\n\n".join(parts) + "\n"


def _endpoint(made: Api, operation: Operation) -> str:
    endpoint, names, route = operation.endpoint, made.style.names, operation.route
    record = names.records[endpoint.returns]
    gives = f"a list of `{record}`" if endpoint.many else f"`{record}`"
    lines = [
        f"## {route.method} {route.path(names.fields)}\n"
        f"(`{names.operations[endpoint.tool]}`) {endpoint.text} Gives {gives}."
    ]
    if endpoint.limit:
        lines.append(f"At most {endpoint.limit} calls a minute.")
    lines += [_param(param, "path") for param in operation.path]
    lines += [_param(param, "query") for param in operation.query.values()]
    lines += [_param(param, "body") for param in operation.body.values()]
    if operation.version is not None and operation.version_place == "header":
        lines.append(_param(operation.version, "header"))
    if operation.key is not None and made.style.key_place == "header":
        lines.append(_param(operation.key, "header"))
    return "\n".join(lines)


def _param(param: Param, place: str) -> str:
    return f"- `{param.shown}` {_said(place, param.kind, param.required, param.text)}"


@cache
def _said(place: str, kind: str, required: bool, text: str) -> str:
    """What stands behind the name of a parameter, the same in every style."""
    kind = "enum" if kind.startswith("enum:") else {"version": "int", "key": "text"}.get(kind, kind)
    needed = ", required" if required and place != "path" else ""
    return f"({place}, {kind}{needed}): {text}"


def _record(made: Api, record: str) -> str:
    names = made.style.names
    fields = names.fields
    lines = [f"- `{fields[name]}` {said}" for name, said in _fields(record)]
    return "\n".join([f"## Record `{names.records[record]}`", *lines])


@cache
def _fields(record: str) -> tuple[tuple[str, str], ...]:
    """The documented fields of a record with what stands behind their names, the same in every style."""
    return tuple((field.name, f"({_kind(field)}): {field.text}") for field in RECORDS[record] if field.documented)


def _kind(field: Field) -> str:
    kind = "enum" if field.kind.startswith("enum:") else field.kind
    marks = [mark for mark, on in (("may be empty", field.nullable), ("*confidential*", field.confidential)) if on]
    return ", ".join([kind, *marks])


def _values(style: Style, content: _Content) -> list[str]:
    """The values of the enumerations of a page, with the fields that take them."""
    names, out = style.names, []
    for enum, fields, owners, values in content.values:
        # Two fields may have one name.
        takers = dict.fromkeys(names.fields[field] for field in fields)
        of = f" of {', '.join(f'`{names.records[record]}`' for record in owners)}" if owners else ""
        lines = [f"## Values of {', '.join(f'`{name}`' for name in takers)}{of}"]
        shown = names.values[enum]
        lines += [f"- `{shown[value]}`: {text}" for value, text in values]
        out.append("\n".join(lines))
    return out


def _example(style: Style, endpoints: tuple[Endpoint, ...]) -> str:
    """A request and its answer."""
    tool, arguments, result = _exemplary(endpoints)
    asked = request(style, tool, arguments)
    answer = respond(style, tool, result, arguments)
    return f"## Example\n{_json(asked.arguments())}\n{_json(answer.value())}"


@cache
def _exemplary(endpoints: tuple[Endpoint, ...]) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
    """A call and its result: of a change if there is one, since that shows the most. Neither is changed by anybody."""
    endpoint = next((e for e in endpoints if e.writes and not e.tool.startswith("bulk")), endpoints[0])
    result = record_of(endpoint.returns, documented_only=True)
    if endpoint.many:
        result = {"items": [result], "page": 1, "page_size": PAGE_SIZE, "total": 1}
    return endpoint.tool, arguments_of(endpoint), result


def _json(value: Mapping[str, Any]) -> str:
    return f"```json\n{_encode(value)}\n```"


def _rules(style: Style) -> str:
    roles = style.names.values["role"]
    lines = [
        f"# {TITLES['rules']}",
        fill(style, CONFIDENTIAL),
        *(f"- `{roles[role]}`: {fill(style, text)}" for role, text in RULES),
    ]
    return "\n\n".join(lines[:2]) + "\n\n" + "\n".join(lines[2:]) + "\n"


def _changelog(style: Style) -> str:
    lines = [f"# {TITLES['changelog']}", ""]
    made = api(style)
    for endpoint in ENDPOINTS:
        if endpoint.deprecated:
            old, new = (made.operations[tool].route for tool in (endpoint.tool, endpoint.deprecated))
            fields = style.names.fields
            lines.append(
                f"- Deprecated: `{old.method} {old.path(fields)}`. {endpoint.text} Use `{new.method} "
                f"{new.path(fields)}` "
                "instead. It still answers, with the header `Deprecation: true`."
            )
    lines.append("- Added: an update names the version that it read, so that nobody overwrites what was not seen.")
    lines.append("- Added: a request that enters something can be repeated safely (see the overview).")
    return "\n".join(lines) + "\n"
