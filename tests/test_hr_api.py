from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.envs.hr.api import Problem, Routed, parse, problem_of, request, respond, route
from agentgym.envs.hr.endpoints import ENDPOINTS, Endpoint
from agentgym.envs.hr.formats import LARGEST_HUNDREDTHS, LARGEST_INT, LARGEST_MINUTES, LARGEST_MONEY
from agentgym.envs.hr.operations import api
from agentgym.envs.hr.records import ENUMS, RECORDS, Field
from agentgym.envs.hr.style import CODES, LEVELS, Style, style

LETTERS = st.characters(exclude_categories=("C", "Z"))
TEXTS = st.builds("{}{}".format, LETTERS, st.text(LETTERS | st.just(" "), max_size=12))
IDS = st.one_of(st.from_regex(r"[A-Z]{1,2}[0-9]{3,5}", fullmatch=True), TEXTS)
DATES = st.dates(date(1000, 1, 1), date(2999, 12, 31)).map(lambda day: day.isoformat())
STYLES = st.builds(style, st.integers(0, 10**6), st.sampled_from(LEVELS))
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "id": IDS,
    "text": TEXTS,
    "int": st.integers(-LARGEST_INT, LARGEST_INT),
    "bool": st.booleans(),
    "date": DATES,
    "month": DATES.map(lambda day: day[:7]),
    "moment": st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 31)).map(
        lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")
    ),
    "money": st.integers(-LARGEST_MONEY, LARGEST_MONEY),
    "minutes": st.integers(0, LARGEST_MINUTES),
    "hundredths": st.integers(-LARGEST_HUNDREDTHS, LARGEST_HUNDREDTHS),
    "ids": st.lists(IDS, min_size=1, max_size=5, unique=True),
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
        value = st.just([]) | value if field.kind == "ids" else value
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


def asked(style_: Style, tool: str, **arguments: Any) -> dict[str, Any]:
    """A right request, to be spoilt: method, path, query, headers, body."""
    found = request(style_, tool, arguments)._asdict()
    return {name: dict(value) if isinstance(value, dict) else value for name, value in found.items()}


PLAIN = style(0, 0)
LEAVE = {"employee_id": "E1", "leave_type": "ANNUAL", "from_date": "2026-03-02", "to_date": "2026-03-03"}


@pytest.mark.parametrize(
    ("spoil", "code", "message"),
    [
        ({"path": "/api/nothing"}, "not_found", 'there is no path "/api/nothing"; the documentation lists the paths'),
        ({"path": "/leave-requests"}, "not_found", "every path begins with /api/"),
        ({"method": "PUT"}, "method_not_allowed", 'does not take "PUT"; it takes: GET, POST'),
        ({"query": {"x": 1}}, "bad_request", 'there is no query parameter "x" here; what can be given: none'),
        ({"query": "a=%FF"}, "bad_request", "the query string cannot be read"),
        ({"query": [1]}, "bad_request", "expected the query as an object or a query string"),
        ({"path": "/api/%FF"}, "bad_request", "the path is not UTF-8 in percent-encoding"),
        ({"headers": "a: b"}, "bad_request", "expected the headers as an object"),
        ({"headers": {"content-type": "text/xml"}}, "unsupported_media_type", 'as application/json, got "text/xml"'),
        ({"body": "{"}, "bad_request", "the body is no JSON"),
        ({"body": '{"note": 1, "note": 2}'}, "bad_request", '"note" is given twice'),
        ({"body": '{"note": NaN}'}, "bad_request", "NaN is no JSON number"),
        ({"body": "[" * 100_000}, "bad_request", "the body is"),
        ({"body": b"\xff"}, "bad_request", "the body is not UTF-8"),
        ({"body": [1]}, "bad_request", "expected the body as a JSON object, got [1]"),
        ({"body": {"foo": 1}}, "bad_request", 'there is no field "foo" here; what can be given: employee_id, '),
        ({"body": {**LEAVE, "to_date": None}}, "bad_request", 'field "to_date" is missing: expected a date YYYY-MM-DD'),
        ({"body": {**LEAVE, "to_date": "3.3.2026"}}, "unprocessable", 'field "to_date": expected a date YYYY-MM-DD '
         'such as 2019-08-27, got "3.3.2026"'),
        ({"body": {**LEAVE, "to_date": "2026-02-30"}}, "unprocessable", 'got "2026-02-30"'),
        ({"body": {**LEAVE, "to_date": "2026-03-0٣"}}, "unprocessable", 'field "to_date"'),
        ({"body": {**LEAVE, "employee_id": 7}}, "unprocessable", 'field "employee_id": expected an id, a text, got 7'),
        ({"body": {**LEAVE, "reason": "\ud800"}}, "unprocessable", 'field "reason": expected a text'),
        ({"body": {**LEAVE, "reason": " "}}, "unprocessable", 'field "reason": expected a text'),
    ],
)  # fmt: skip
def test_a_wrong_request_is_told_what_is_wrong(spoil: dict[str, Any], code: str, message: str) -> None:
    right = asked(PLAIN, "create_leave", **LEAVE)
    assert isinstance(route(PLAIN, **right), Routed)
    problem = refused(PLAIN, *{**right, **spoil}.values())
    assert problem.code == code
    assert message in problem.message


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"page": 0}, 'query parameter "page": expected a whole number in 1..100000, got 0'),
        ({"page_size": "51"}, 'query parameter "page_size": expected a whole number in 1..50, got "51"'),
        ({"page": ["1", "2"]}, 'query parameter "page": expected a whole number'),
        ({"page": True}, 'query parameter "page": expected a whole number'),
        ({"status": "gone"}, 'query parameter "status": expected one of "active", "on_leave", "notice_given", "left"'),
        ({"status": ["left", "active"]}, 'query parameter "status": expected one of'),
    ],
)
def test_a_wrong_value_of_a_query_is_told_what_can_be(query: dict[str, Any], message: str) -> None:
    assert message in refused(PLAIN, "GET", "/api/employees", query).message


def test_what_a_sane_api_takes_is_taken() -> None:
    wanted = Routed("list_employees", {"name": "Ö 1", "page": 2, "page_size": 20})
    for path, query in (
        ("/api/employees?name=%C3%96+1&page=2", None),
        ("/api/employees/?page=2&name=%C3%96%201", {}),
        ("https://hr.example/api/employees?page=2#top", {"name": "Ö 1"}),
        ("api/employees", "?name=%C3%96%201&page=2"),
        ("/api/employees", {"name": ["Ö 1"], "page": "2", "page_size": None}),
    ):
        assert route(PLAIN, " get ", path, query, {"X-Any": "thing"}, "") == wanted
    assert route(PLAIN, "GET", "/api/employees", {"name": 1815}) == Routed(
        "list_employees", {"name": "1815", "page": 1, "page_size": 20}
    )


@settings(max_examples=300, deadline=None)
@given(
    style_=STYLES,
    method=st.sampled_from(["GET", "POST", "PATCH", "", "get"]) | st.text(max_size=5),
    path=st.text(max_size=30),
    query=st.none() | st.text(max_size=30) | st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)),
    headers=st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=5)),
    body=st.none()
    | st.text(max_size=30)
    | st.binary(max_size=30)
    | st.dictionaries(st.text(max_size=5), st.integers()),
)
def test_nothing_that_is_sent_raises(
    style_: Style, method: str, path: str, query: Any, headers: Any, body: Any
) -> None:
    for target in (path, style_.plan.base + "/" + path):
        found = route(style_, method, target, query, headers, body)
        if isinstance(found, Problem):
            assert 400 <= respond(style_, "", found).status < 500


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.tool)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_one_wrong_value_in_a_right_request_is_refused_by_its_shown_name(
    endpoint: Endpoint, data: st.DataObject
) -> None:
    """A value of a type that the parameter never has; the message names it, and no canonical name that is not shown."""
    style_ = data.draw(STYLES)
    right = asked(style_, endpoint.tool, **data.draw(arguments_of(endpoint)))
    places = [(place, name) for place in ("query", "body") for name in right[place] or ()]
    if not places:
        return
    place, name = data.draw(st.sampled_from(places))
    right[place][name] = {"a": ["wrong", {"thing": 1}]}
    problem = refused(style_, *right.values())
    assert problem.code == "unprocessable" and f'"{name}"' in problem.message
    shown = {*style_.names.fields.values(), style_.paging.place, style_.paging.size}
    for canonical in ("employee_id", "department_id", "from_date", "cost_centre", "idempotency_key", "page_size"):
        assert canonical in shown or canonical not in problem.message.replace(name, "")


@settings(max_examples=200, deadline=None)
@given(
    style_=STYLES,
    code=st.sampled_from(sorted(CODES)),
    message=TEXTS,
    details=st.fixed_dictionaries({}, optional={"current_version": st.integers(0), "retry_after_s": st.integers(0)}),
)
def test_problems_come_back_as_they_were(style_: Style, code: str, message: str, details: dict[str, int]) -> None:
    answer = respond(style_, "", Problem(code, message, details))
    # Only what maintenance answers is the server's doing.
    assert 400 <= answer.status < 500 or (code, answer.status) == ("unavailable", 503)
    read = parse(style_, "get_me", answer.status, answer.headers, json.loads(json.dumps(answer.body)))
    assert read == {"status": CODES[code], "code": code, "message": message, "details": details}


def test_a_tools_problem_is_told_in_the_names_and_formats_of_the_api() -> None:
    for seed in range(40):
        style_ = style(seed, 2)
        message = (
            "{to_date} lies before {from_date}: {date:2026-03-14}, the run is {enum:run:closed}, {money:EUR:-1050}"
        )
        text = json.dumps({"status": 409, "code": "conflict", "message": message, "details": {}})
        problem = problem_of(style_, text)
        names, made = style_.names, api(style_)
        assert problem.code == "conflict"
        assert problem.message.startswith(f"{names.fields['to_date']} lies before {names.fields['from_date']}: ")
        assert made.codec("date").show("2026-03-14") in problem.message
        assert names.values["run"]["closed"] in problem.message
        assert ("-1050" if style_.formats["money"] == "minor" else "-10.50") in problem.message


def test_a_text_that_is_no_problem_becomes_one() -> None:
    assert problem_of(PLAIN, "what {is} this") == Problem("unprocessable", "what {is} this", {})


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_cursor_is_good_for_its_own_list_only(level: int) -> None:
    style_ = next(style(seed, level) for seed in range(99) if style(seed, level).paging.kind == "cursor")
    paging = style_.paging
    right = asked(style_, "list_employees", page=3, page_size=10)
    assert list(right["query"]) == [paging.place]
    other = asked(style_, "list_departments")
    other["query"] = right["query"]
    for query in (other["query"], {paging.place: "0"}, {paging.place: "zzzzzzzzzzzzzzzzz"}, {paging.place: 5}):
        assert refused(style_, *{**other, "query": query}.values()).code == "unprocessable"
    assert "it is 10 in" in refused(style_, *{**right, "query": {**right["query"], paging.size: 20}}.values()).message


def test_an_offset_within_a_page_is_refused() -> None:
    style_ = next(style(seed, 1) for seed in range(99) if style(seed, 1).paging.kind == "offset")
    right = asked(style_, "list_employees", page=3, page_size=10)
    assert right["query"] == {style_.paging.place: 20, style_.paging.size: 10}
    right["query"][style_.paging.place] = 15
    assert f'expected a multiple of "{style_.paging.size}" (10), got 15' in refused(style_, *right.values()).message


def test_a_header_with_the_version_may_be_written_in_any_usual_way() -> None:
    style_ = next(style(seed, 1) for seed in range(99) if style(seed, 1).etag)
    right = asked(style_, "cancel_leave", request_id="LR1", version=7)
    for value in ('"7"', "7", 'W/"7"'):
        right["headers"] = {"if-match": value}
        assert route(style_, **right) == Routed("cancel_leave", {"request_id": "LR1", "version": 7})
    right["headers"] = {"If-Match": "*"}
    assert refused(style_, *right.values()).code == "unprocessable"
    right["headers"] = {}
    assert refused(style_, *right.values()).code == "precondition_required"


def test_links_lead_to_the_next_page_with_the_same_filters() -> None:
    for kind in ("link", "links"):
        style_ = next(style(seed, 2) for seed in range(99) if style(seed, 2).paging.kind == kind)
        arguments = {"status": "left", "name": "ü", "page": 1, "page_size": 7}
        seen = []
        answer = respond(style_, "list_employees", {"items": [], "page": 1, "page_size": 7, "total": 20}, arguments)
        while True:
            if kind == "link":
                parts = [part[1:-1].split('>; rel="') for part in answer.headers["Link"].split(", ")]
                url = next((url for url, rel in parts if rel == "next"), None)
            else:
                meta = answer.body[style_.envelope.meta] if style_.envelope.meta else answer.body
                url = meta.get(style_.paging.following)
            if url is None:
                break
            found = route(style_, "GET", url)
            assert isinstance(found, Routed)
            seen.append(found.arguments)
            result = {"items": [], "page": found.arguments["page"], "page_size": 7, "total": 20}
            answer = respond(style_, "list_employees", result, found.arguments)
        assert seen == [{**arguments, "page": 2}, {**arguments, "page": 3}]


def test_an_answer_that_is_none_of_the_style_cannot_be_read() -> None:
    bodies: list[Any] = [{}, [], None, {"items": 1}, {"items": [{}], "page": 1, "page_size": 1, "total": 1}]
    for body in bodies:
        with pytest.raises(ValueError, match="this is no answer of list_employees in this style"):
            parse(PLAIN, "list_employees", 200, {}, body)


def test_a_wrong_canonical_call_is_no_request() -> None:
    with pytest.raises(ValueError, match="get_employee cannot be asked for without employee_id"):
        request(PLAIN, "get_employee", {})


@pytest.mark.parametrize("level", LEVELS)
def test_a_path_is_told_to_take_its_own_methods_and_no_longer_ones(level: int) -> None:
    for seed in range(5):
        style_ = style(seed, level)
        paths = {
            endpoint.tool: style_.routes[endpoint.tool].path(dict.fromkeys(style_.names.fields, "X1"))
            for endpoint in ENDPOINTS
        }
        for path in paths.values():
            wanted = sorted({style_.routes[tool].method for tool, other in paths.items() if other == path})
            filled = re.sub(r"\{[^}]*\}", "X1", path)
            found = route(style_, "OPTIONS", filled)
            assert isinstance(found, Problem)
            assert found.details["allow"] == wanted, filled
            other = next(method for method in ("GET", "DELETE", "PUT", "PATCH") if method not in wanted)
            refused_ = route(style_, other, filled)
            assert isinstance(refused_, Problem)
            assert refused_.code == "method_not_allowed"
