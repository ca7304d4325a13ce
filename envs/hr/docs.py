"""The documentation of the API in a style, made from the tables of endpoints and records.

What holds everywhere (formats, paging, errors, versions) stands in the overview alone; a page of a resource has its
endpoints, fields and values. The field that is not documented is on no page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, cast

from agentgym.envs.hr.answers import fill
from agentgym.envs.hr.api import request, respond
from agentgym.envs.hr.arranging import Arrangement, arrangement
from agentgym.envs.hr.docs_overview import overview
from agentgym.envs.hr.docs_text import CONFIDENTIAL, RULES, TITLES, VALUES
from agentgym.envs.hr.endpoints import ENDPOINTS, PAGE_SIZE, Endpoint
from agentgym.envs.hr.examples import arguments_of, record_of
from agentgym.envs.hr.openapi import openapi
from agentgym.envs.hr.records import RECORDS, Field
from agentgym.envs.hr.style import Style

__all__ = ["openapi", "page", "sections"]

_Pick = Callable[[Mapping[str, str]], tuple[str, ...]]
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


class _Values(NamedTuple):
    """An enumeration on a page: the fields that take its values, the records that have them, and text for the values.

    ``template`` is to be filled with the values as shown, which ``pick`` gives in order.
    """

    enum: str
    fields: tuple[str, ...]
    owners: tuple[str, ...]
    template: str
    pick: _Pick


class _Content(NamedTuple):
    """What the page of a resource is made of, the same in every style."""

    endpoints: tuple[Endpoint, ...]
    records: tuple[str, ...]
    values: tuple[_Values, ...]


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
    values = tuple(
        _Values(
            enum,
            tuple(users[enum]),
            tuple(owners[enum]),
            "\n".join(f"- `%s`: {_literal(text)}" for text in VALUES[enum].values()),
            _pick(list(VALUES[enum])),
        )
        for enum in users
    )
    return _Content(endpoints, records, values)


def _resource(style: Style, resource: str) -> str:
    content = _content(resource)
    parts = [f"# {TITLES[resource]}"]
    parts += [_endpoint(style, endpoint) for endpoint in content.endpoints]
    parts += [_record(style, record) for record in content.records]
    parts += _values(style, content)
    parts.append(_example(style, resource))
    return "\n\n".join(parts) + "\n"


def _endpoint(style: Style, endpoint: Endpoint) -> str:
    names, route, arranged = style.names, style.routes[endpoint.tool], arrangement(style, endpoint.tool)
    fields = names.fields
    return _template(arranged) % (
        route.method,
        route.path(fields),
        names.operations[endpoint.tool],
        names.records[endpoint.returns],
        *[fields[slot.name] if slot.plain else slot.shown(style) for slot in arranged.slots],
    )


@lru_cache(maxsize=2048)
def _template(arranged: Arrangement) -> str:
    """An endpoint's text, to be filled with method, path, names of the operation, the record and the parameters."""
    endpoint = arranged.endpoint
    gives = "a list of `%s`" if endpoint.many else "`%s`"
    lines = [f"## %s %s\n(`%s`) {_literal(endpoint.text)} Gives {gives}."]
    if endpoint.limit:
        lines.append(f"At most {endpoint.limit} calls a minute.")
    lines += [f"- `%s` {_literal(_said(s.place, s.kind, s.required, s.text))}" for s in arranged.slots]
    return "\n".join(lines)


def _literal(text: str) -> str:
    """*text* as a template has it."""
    return text.replace("%", "%%")


def _said(place: str, kind: str, required: bool, text: str) -> str:
    """What stands behind the name of a parameter, the same in every style."""
    kind = "enum" if kind.startswith("enum:") else {"version": "int", "key": "text"}.get(kind, kind)
    needed = ", required" if required and place != "path" else ""
    return f"({place}, {kind}{needed}): {text}"


def _record(style: Style, record: str) -> str:
    template, fields = _fields(record)
    names = style.names
    return template % (names.records[record], *fields(names.fields))


@cache
def _fields(record: str) -> tuple[str, _Pick]:
    """A record's text, to be filled with its name and those of its documented fields; and what picks these."""
    fields = [field for field in RECORDS[record] if field.documented]
    lines = [f"- `%s` {_literal(f'({_kind(field)}): {field.text}')}" for field in fields]
    return "\n".join(["## Record `%s`", *lines]), _pick([field.name for field in fields])


def _pick(keys: Sequence[str]) -> _Pick:
    """What gives the values of *keys*, always as a tuple."""
    if len(keys) == 1:
        return lambda names: (names[keys[0]],)
    return cast("_Pick", itemgetter(*keys))


def _kind(field: Field) -> str:
    kind = "enum" if field.kind.startswith("enum:") else field.kind
    marks = [mark for mark, on in (("may be empty", field.nullable), ("*confidential*", field.confidential)) if on]
    return ", ".join([kind, *marks])


def _values(style: Style, content: _Content) -> list[str]:
    """The values of the enumerations of a page, with the fields that take them."""
    names, out = style.names, []
    for enum, fields, owners, template, values in content.values:
        # Two fields may have one name.
        takers = dict.fromkeys(names.fields[field] for field in fields)
        of = f" of {', '.join(f'`{names.records[record]}`' for record in owners)}" if owners else ""
        heading = f"## Values of {', '.join(f'`{name}`' for name in takers)}{of}\n"
        out.append(heading + template % values(names.values[enum]))
    return out


def _example(style: Style, resource: str) -> str:
    """A request and its answer."""
    tool, arguments, result = _exemplary(resource)
    asked = request(style, tool, arguments)
    answer = respond(style, tool, result, arguments)
    return f"## Example\n{_json(asked.arguments())}\n{_json(answer.value())}"


@cache
def _exemplary(resource: str) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
    """A call and its result: of a change if there is one, since that shows the most. Neither is changed by anybody."""
    endpoints = _content(resource).endpoints
    endpoint = next((e for e in endpoints if e.writes and not e.tool.startswith("bulk")), endpoints[0])
    result = record_of(endpoint.returns, documented_only=True)
    if endpoint.many:
        result = {"items": [result], "page": 1, "page_size": PAGE_SIZE, "total": 1}
    return endpoint.tool, arguments_of(endpoint), result


def _json(value: Mapping[str, Any]) -> str:
    return f"```json\n{_encode(value)}\n```"


_RULES = "\n".join(
    [f"# {TITLES['rules']}", "", CONFIDENTIAL, "", *(f"- `{{enum:role:{role}}}`: {text}" for role, text in RULES), ""]
)


def _rules(style: Style) -> str:
    return fill(style, _RULES)


def _changelog(style: Style) -> str:
    lines = [f"# {TITLES['changelog']}", ""]
    for endpoint in ENDPOINTS:
        if endpoint.deprecated:
            old, new = (style.routes[tool] for tool in (endpoint.tool, endpoint.deprecated))
            fields = style.names.fields
            lines.append(
                f"- Deprecated: `{old.method} {old.path(fields)}`. {endpoint.text} Use `{new.method} "
                f"{new.path(fields)}` "
                "instead. It still answers, with the header `Deprecation: true`."
            )
    lines.append("- Added: an update names the version that it read, so that nobody overwrites what was not seen.")
    lines.append("- Added: a request that enters something can be repeated safely (see the overview).")
    return "\n".join(lines) + "\n"
