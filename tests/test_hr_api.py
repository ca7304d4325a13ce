from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.envs.hr.api import Problem, Routed, parse, request, respond, route
from agentgym.envs.hr.endpoints import ENDPOINTS, Endpoint
from agentgym.envs.hr.formats import LARGEST_HUNDREDTHS, LARGEST_INT, LARGEST_MINUTES, LARGEST_MONEY
from agentgym.envs.hr.records import ENUMS, RECORDS, Field
from agentgym.envs.hr.style import LEVELS, Style, style

LETTERS = st.characters(exclude_categories=("C", "Z"))
TEXTS = st.builds("{}{}".format, LETTERS, st.text(LETTERS | st.just(" "), max_size=12))
IDS = st.one_of(st.from_regex(r"[A-Z]{1,2}[0-9]{3,5}", fullmatch=True), TEXTS)
DATES = st.dates().map(lambda day: day.isoformat())
STYLES = st.builds(style, st.integers(0, 10**6), st.sampled_from(LEVELS))
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "id": IDS,
    "text": TEXTS,
    "int": st.integers(-LARGEST_INT, LARGEST_INT),
    "bool": st.booleans(),
    "date": DATES,
    "month": DATES.map(lambda day: day[:7]),
    "moment": st.datetimes(min_value=datetime(1970, 1, 1)).map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")),
    "money": st.integers(-LARGEST_MONEY, LARGEST_MONEY),
    "minutes": st.integers(0, LARGEST_MINUTES),
    "hundredths": st.integers(-LARGEST_HUNDREDTHS, LARGEST_HUNDREDTHS),
    "ids": st.lists(IDS, max_size=5, unique=True),
    **{f"enum:{name}": st.sampled_from(values) for name, values in ENUMS.items()},
}


@st.composite
def arguments_of(draw: st.DrawFn, endpoint: Endpoint) -> dict[str, Any]:
    """Canonical arguments, optional ones now and then."""
    out: dict[str, Any] = {}
    for parameter in endpoint.parameters:
        if parameter.required or draw(st.booleans()):
            out[parameter.field.name] = draw(_value(parameter.field))
    if "currency" in out:
        out["currency"] = draw(st.sampled_from(["EUR", "GBP", "JPY", "KWD"]))
    if endpoint.many:
        out |= {"page": draw(st.integers(1, 2000)), "page_size": draw(st.integers(1, 50))}
    if endpoint.conditional:
        out["version"] = draw(st.integers(0, 10**6))
    if endpoint.keyed and draw(st.booleans()):
        # Blanks at the ends of a header's value do not count.
        out["idempotency_key"] = draw(st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
    return out


def _value(field: Field) -> st.SearchStrategy[Any]:
    return KINDS[field.kind]


@st.composite
def record_of(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A canonical record: values, nulls, and confidential fields left out."""
    out: dict[str, Any] = {}
    hidden = draw(st.booleans())
    for field in RECORDS[name]:
        if field.confidential and hidden:
            continue
        value = st.sampled_from(["EUR", "GBP", "JPY", "KWD"]) if field.name == "currency" else _value(field)
        out[field.name] = draw(st.none() | value if field.nullable else value)
    return out


@st.composite
def result_of(draw: st.DrawFn, endpoint: Endpoint) -> dict[str, Any]:
    record = record_of(endpoint.returns)
    if not endpoint.many:
        return draw(record)
    items = draw(st.lists(record, max_size=3))
    page, size = draw(st.integers(1, 2000)), draw(st.integers(1, 50))
    return {"items": items, "page": page, "page_size": size, "total": draw(st.integers(0, 10**6))}


def refused(style_: Style, *request_: Any) -> Problem:
    found = route(style_, *request_)
    assert isinstance(found, Problem), found
    return found


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.tool)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_request_asks_for_is_what_route_reads(endpoint: Endpoint, data: st.DataObject) -> None:
    style_, arguments = data.draw(STYLES), data.draw(arguments_of(endpoint))
    asked = request(style_, endpoint.tool, arguments)
    assert route(style_, *asked) == Routed(endpoint.tool, arguments)
    # As it goes over a wire: the query in the path, the body as text, names of headers in another case.
    path = asked.path + ("?" + urlencode(asked.query) if asked.query else "")
    headers = {name.lower(): value for name, value in (asked.headers or {}).items()}
    body = json.dumps(asked.body) if asked.body is not None else None
    assert route(style_, asked.method.lower(), path, None, headers, body) == Routed(endpoint.tool, arguments)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.tool)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_respond_writes_is_what_parse_reads(endpoint: Endpoint, data: st.DataObject) -> None:
    style_, result = data.draw(STYLES), data.draw(result_of(endpoint))
    arguments = {**data.draw(arguments_of(endpoint)), "page": 1}
    answer = respond(style_, endpoint.tool, result, arguments)
    shown = json.loads(json.dumps(answer.value()))
    assert parse(style_, endpoint.tool, shown["status"], shown["headers"], shown["body"]) == result
