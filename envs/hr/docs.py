"""The documentation of the API in a style, made from the tables of endpoints and records.

What holds everywhere (formats, paging, errors, versions) stands in the overview alone; a page of a resource has its
endpoints, fields and values. The field that is not documented is on no page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

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


def sections(style: Style) -> list[dict[str, str]]:
    """The sections of the documentation: ``section``, its name for `page`, and ``title``."""
    return [{"section": style.names.sections[section], "title": title} for section, title in TITLES.items()]


@lru_cache(maxsize=256)
def page(style: Style, section: str) -> str:
    """The text of the section with that (shown) name.

    Raises:
        KeyError: there is none.
    """
    canonical = {shown: name for name, shown in style.names.sections.items()}[section]
    if canonical == "overview":
        return overview(style)
    if canonical == "openapi":
        return json.dumps(openapi(style), ensure_ascii=False, separators=(",", ":"))
    if canonical == "rules":
        return _rules(style)
    if canonical == "changelog":
        return _changelog(style)
    return _resource(style, canonical)


def _resource(style: Style, resource: str) -> str:
    made = api(style)
    endpoints = [endpoint for endpoint in ENDPOINTS if endpoint.resource == resource]
    parts = [f"# {TITLES[resource]}"]
    parts += [_endpoint(made, made.operations[endpoint.tool]) for endpoint in endpoints]
    records = dict.fromkeys(endpoint.returns for endpoint in endpoints)
    parts += [_record(made, record) for record in records]
    parts += _values(style, endpoints, list(records))
    parts.append(_example(style, endpoints))
    return "\n\n".join(parts) + "\n"


def _endpoint(made: Api, operation: Operation) -> str:
    endpoint, names = operation.endpoint, made.style.names
    head = f"## {operation.route.method} {operation.route.path(names.fields)}"
    record = names.records[endpoint.returns]
    gives = f"a list of `{record}`" if endpoint.many else f"`{record}`"
    lines = [f"{head}\n(`{names.operations[endpoint.tool]}`) {endpoint.text} Gives {gives}."]
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
    kind = "enum" if param.kind.startswith("enum:") else {"version": "int", "key": "text"}.get(param.kind, param.kind)
    needed = ", required" if param.required and place != "path" else ""
    return f"- `{param.shown}` ({place}, {kind}{needed}): {param.text}"


def _record(made: Api, record: str) -> str:
    names = made.style.names
    lines = [f"## Record `{names.records[record]}`"]
    for field in RECORDS[record]:
        if field.documented:
            lines.append(f"- `{names.fields[field.name]}` ({_kind(field)}): {field.text}")
    return "\n".join(lines)


def _kind(field: Field) -> str:
    kind = "enum" if field.kind.startswith("enum:") else field.kind
    marks = [mark for mark, on in (("may be empty", field.nullable), ("*confidential*", field.confidential)) if on]
    return ", ".join([kind, *marks])


def _values(style: Style, endpoints: list[Endpoint], records: list[str]) -> list[str]:
    """The values of the enumerations of a page, with the fields that take them."""
    fields = [field for record in records for field in RECORDS[record]]
    fields += [parameter.field for endpoint in endpoints for parameter in endpoint.parameters]
    users: dict[str, dict[str, None]] = {}
    for field in fields:
        if field.kind.startswith("enum:"):
            users.setdefault(field.kind.removeprefix("enum:"), {})[style.names.fields[field.name]] = None
    # Two enumerations may have one field's name: the record says which one it is.
    owners: dict[str, list[str]] = {enum: [] for enum in users}
    for record in records:
        for field in RECORDS[record]:
            if field.kind.startswith("enum:"):
                owners[field.kind.removeprefix("enum:")].append(style.names.records[record])
    out = []
    for enum, names in users.items():
        of = f" of {', '.join(f'`{name}`' for name in owners[enum])}" if owners[enum] else ""
        lines = [f"## Values of {', '.join(f'`{name}`' for name in names)}{of}"]
        lines += [f"- `{style.names.values[enum][value]}`: {text}" for value, text in VALUES[enum].items()]
        out.append("\n".join(lines))
    return out


def _example(style: Style, endpoints: list[Endpoint]) -> str:
    """A request and its answer: of a change if there is one, since that shows the most."""
    endpoint = next((e for e in endpoints if e.writes and not e.tool.startswith("bulk")), endpoints[0])
    arguments = arguments_of(endpoint)
    asked = request(style, endpoint.tool, arguments)
    result = record_of(endpoint.returns, documented_only=True)
    if endpoint.many:
        result = {"items": [result], "page": 1, "page_size": PAGE_SIZE, "total": 1}
    answer = respond(style, endpoint.tool, result, arguments)
    return f"## Example\n{_json(asked.arguments())}\n{_json(answer.value())}"


def _json(value: Mapping[str, Any]) -> str:
    return f"```json\n{json.dumps(value, ensure_ascii=False)}\n```"


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
