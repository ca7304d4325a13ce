from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hr_desk import Desk, given

from agentgym.envs.hr.answers import status_of
from agentgym.envs.hr.api import Problem, Routed, request, respond, route
from agentgym.envs.hr.docs import openapi, page, sections
from agentgym.envs.hr.docs_text import RULES, VALUES
from agentgym.envs.hr.endpoints import ENDPOINTS
from agentgym.envs.hr.examples import arguments_of, record_of
from agentgym.envs.hr.formats import LARGEST_MINUTES, hundredths_codec, minutes_codec
from agentgym.envs.hr.operations import api
from agentgym.envs.hr.records import ENUMS, RECORDS
from agentgym.envs.hr.style import CODES, LEVELS, Style, style, typed
from agentgym.envs.hr.typed import typed_parameters

STYLES = [style(seed, level) for seed in range(6) for level in LEVELS]


def pages(style_: Style) -> dict[str, str]:
    """Canonical name of a section → its text."""
    return {name: page(style_, shown) for name, shown in style_.names.sections.items()}


def resources(style_: Style) -> dict[str, str]:
    """The pages of resources."""
    other = ("overview", "rules", "changelog", "openapi")
    return {name: text for name, text in pages(style_).items() if name not in other}


@pytest.mark.parametrize("style_", STYLES, ids=lambda s: f"{s.seed}-{s.level}")
def test_every_endpoint_parameter_field_and_value_is_documented_under_its_name(style_: Style) -> None:
    texts, made, names = pages(style_), api(style_), style_.names
    for endpoint in ENDPOINTS:
        text, operation = texts[endpoint.resource], made.operations[endpoint.tool]
        head = (
            f"## {operation.route.method} {operation.route.path(names.fields)}\n(`{names.operations[endpoint.tool]}`)"
        )
        assert head in text
        part = text.split(head)[1].split("\n## ")[0]
        for param in (*operation.path, *operation.query.values(), *operation.body.values()):
            assert f"- `{param.shown}` (" in part
        assert ("calls a minute" in part) == bool(endpoint.limit)
        for field in RECORDS[endpoint.returns]:
            assert (f"- `{names.fields[field.name]}` (" in text) or not field.documented
            if field.kind.startswith("enum:"):
                assert all(f"- `{value}`: " in text for value in names.values[field.kind[5:]].values())
    assert all(f"`{code}`" in texts["overview"] for code in style_.errors.codes.values())
    assert {enum: set(values) for enum, values in VALUES.items()} == {enum: set(v) for enum, v in ENUMS.items()}
    assert [role for role, _ in RULES] == list(ENUMS["role"])


@pytest.mark.parametrize("style_", STYLES, ids=lambda s: f"{s.seed}-{s.level}")
def test_the_undocumented_field_is_on_no_page_yet_in_the_answers(style_: Style) -> None:
    hidden = style_.names.fields["legacy_ref"]
    assert all(re.search(rf"(?<![\w-]){re.escape(hidden)}(?![\w-])", text) is None for text in pages(style_).values())
    assert hidden in json.dumps(respond(style_, "get_employee", record_of("employee")).body)


@pytest.mark.parametrize("seed", range(20))
def test_documentation_of_invented_words_tells_no_canonical_name(seed: int) -> None:
    style_ = style(seed, 3)
    names = style_.names
    shown = {*names.fields.values(), *names.operations.values()}.union(*(v.values() for v in names.values.values()))
    canonical = [name for name in style_.names.fields if "_" in name] + [endpoint.tool for endpoint in ENDPOINTS]
    text = "\n".join(pages(style_).values())
    found = [name for name in canonical if name not in shown and re.search(rf"(?<!\w){name}(?!\w)", text)]
    assert found == []


def test_paging_formats_and_deprecation_are_said_once() -> None:
    for style_ in STYLES:
        texts = resources(style_)
        assert all(style_.paging.size not in re.findall(r"`([^`]+)`", text) for text in texts.values())
        assert all("eprecat" not in text for text in texts.values())
        deprecated = api(style_).operations["get_attendance_summary"].route
        assert f"`{deprecated.method} {deprecated.path(style_.names.fields)}`" in pages(style_)["changelog"]
        for kind in ("date", "month", "moment", "money", "minutes", "hundredths", "bool"):
            assert f"- {kind}: {api(style_).codec(kind).expects}" in pages(style_)["overview"]


def test_pages_are_short_enough_to_read() -> None:
    for style_ in STYLES:
        sizes = {name: len(text) for name, text in pages(style_).items()}
        assert sizes.pop("openapi") < 90_000
        assert max(sizes.values()) < 6_500


@pytest.mark.parametrize("style_", STYLES, ids=lambda s: f"{s.seed}-{s.level}")
def test_the_example_of_a_page_is_a_right_request_and_its_answer(style_: Style) -> None:
    for name, text in resources(style_).items():
        asked, answer = (json.loads(found) for found in re.findall(r"```json\n(.+)\n```", text))
        found = route(style_, **asked)
        assert isinstance(found, Routed)
        assert next(e for e in ENDPOINTS if e.tool == found.tool).resource == name
        assert set(answer) == {"status", "headers", "body"} and answer["status"] in (200, 201)


def test_sections_are_listed_by_the_names_that_the_pages_have() -> None:
    style_ = style(5, 2)
    listed = sections(style_)
    assert [entry["section"] for entry in listed] == list(style_.names.sections.values())
    assert all(entry["title"] and page(style_, entry["section"]) for entry in listed)
    with pytest.raises(KeyError):
        page(style_, "nothing")


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


KNOWN = {"$ref", "anyOf", "const", "enum", "type", "properties", "required", "additionalProperties", "items", "pattern",
         "minimum", "maximum", "description", "format", "minLength", "maxLength", "minItems", "maxItems",
         "uniqueItems"}  # fmt: skip
"""Keywords of schemas that `fits` heeds, or that these values cannot break."""


def fits(document: dict[str, Any], schema: dict[str, Any], value: Any) -> bool:
    """Whether *value* has the form of *schema*: the part of JSON Schema that the document uses."""
    assert schema.keys() <= KNOWN, schema.keys() - KNOWN
    if "$ref" in schema:
        schema = {**resolved(document, schema["$ref"]), **{k: v for k, v in schema.items() if k != "$ref"}}
    if "anyOf" in schema and not any(fits(document, option, value) for option in schema["anyOf"]):
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    types: dict[str, Any] = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
    wanted = schema.get("type", [])
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if name == "object" and isinstance(value, dict):
            known = schema.get("properties", {})
            closed = schema.get("additionalProperties") is False
            return (
                set(schema.get("required", [])) <= set(value)
                and (not closed or set(value) <= set(known))
                and all(fits(document, known[key], inner) for key, inner in value.items() if key in known)
            )
        if name == "array" and isinstance(value, list):
            return all(fits(document, schema["items"], inner) for inner in value)
        if name in types and isinstance(value, types[name]) and (isinstance(value, bool) == (name == "boolean")):
            pattern = schema.get("pattern") if isinstance(value, str) else None
            low, high = schema.get("minimum"), schema.get("maximum")
            return (pattern is None or re.search(pattern, value) is not None) and (
                isinstance(value, (str, bool, type(None)))
                or (low is None or low <= value)
                and (high is None or value <= high)
            )
    return not wanted


def resolved(document: dict[str, Any], reference: str) -> dict[str, Any]:
    found: Any = document
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


@pytest.mark.parametrize("style_", STYLES, ids=lambda s: f"{s.seed}-{s.level}")
def test_the_openapi_document_says_what_requests_and_answers_are(style_: Style) -> None:
    document = openapi(style_)
    assert document["openapi"].startswith("3.1") and json.loads(json.dumps(document)) == document
    assert all(resolved(document, reference) for reference in references(document))
    operations = [(path, method, op) for path, ops in document["paths"].items() for method, op in ops.items()]
    by_id = {op["operationId"]: (path, method, op) for path, method, op in operations}
    assert len(by_id) == len(operations) == len(ENDPOINTS)
    for endpoint in ENDPOINTS:
        path, method, said = by_id[style_.names.operations[endpoint.tool]]
        arguments = arguments_of(endpoint)
        asked = request(style_, endpoint.tool, arguments)
        assert asked.method.lower() == method
        assert re.fullmatch(re.sub(r"\\{[^{}]*\\}", "[^/]+", re.escape(path)), asked.path)
        assert set(re.findall(r"{([^{}]*)}", path)) == {p["name"] for p in said["parameters"] if p["in"] == "path"}
        given = {**(asked.query or {}), **(asked.headers or {})}
        parameters = {p["name"]: p for p in said["parameters"] if p["in"] != "path"}
        assert set(given) <= set(parameters)
        assert {name for name, p in parameters.items() if p["required"]} <= set(given)
        assert all(fits(document, parameters[name]["schema"], value) for name, value in given.items())
        if asked.body is not None:
            assert fits(document, said["requestBody"]["content"]["application/json"]["schema"], asked.body)
            assert not fits(document, said["requestBody"]["content"]["application/json"]["schema"], {"x": 1})
        result = record_of(endpoint.returns)
        if endpoint.many:
            result = {"items": [result, result], "page": 1, "page_size": 2, "total": 3}
        answer = respond(style_, endpoint.tool, result, arguments)
        schema = said["responses"][str(answer.status)]["content"]["application/json"]["schema"]
        assert fits(document, schema, answer.body)
        assert set(said["responses"][str(answer.status)].get("headers", {})) == set(answer.headers)
        assert bool(said.get("deprecated")) == bool(endpoint.deprecated)


@pytest.mark.parametrize("style_", STYLES, ids=lambda s: f"{s.seed}-{s.level}")
def test_every_answer_from_the_company_s_records_fits_the_openapi_document(style_: Style, desk: Desk) -> None:
    document = openapi(style_)
    operations = {op["operationId"]: op for ops in document["paths"].values() for op in ops.values()}
    for endpoint in ENDPOINTS:
        if endpoint.writes:
            continue
        arguments = given(desk, endpoint.tool) | ({"page_size": 50} if endpoint.many else {})
        answer = respond(style_, endpoint.tool, desk.get(endpoint.tool, **arguments), arguments)
        said = operations[style_.names.operations[endpoint.tool]]["responses"]["200"]
        assert fits(document, said["content"]["application/json"]["schema"], answer.body), endpoint.tool


def test_a_number_with_two_decimals_is_no_multiple_that_validators_reject() -> None:
    for form in ("int", "number", "text"):
        codec = hundredths_codec(form)
        assert "multipleOf" not in codec.schema and "decimals" in codec.expects or form == "int"
        for value in (435, 29, -1, 1, 114, 999_999_999 // 100):
            assert codec.decode(codec.show(value)) == value
            assert fits({}, dict(codec.schema), codec.show(value))
    top = minutes_codec("hours")
    assert fits({}, dict(top.schema), top.show(LARGEST_MINUTES))
    assert top.decode(top.show(LARGEST_MINUTES)) == LARGEST_MINUTES


@pytest.mark.parametrize("style_", STYLES, ids=lambda s: f"{s.seed}-{s.level}")
def test_a_key_is_said_to_be_good_for_one_request(style_: Style) -> None:
    for shown, text in ((style_, pages(style_)["overview"]), (typed(style_), "")):
        status, code = status_of(shown, "unprocessable"), shown.errors.codes["unprocessable"]
        if text:
            assert f"another request with it is refused with {status} `{code}`" in text
            continue
        for endpoint in ENDPOINTS:
            if endpoint.keyed:
                said = typed_parameters(shown, endpoint.tool)["properties"][shown.key_name]["description"]
                assert "good for one request only" in said
                assert f"another request with it is refused with {status} {code}" in said


@pytest.mark.parametrize("style_", STYLES, ids=lambda s: f"{s.seed}-{s.level}")
def test_the_openapi_document_says_what_errors_are(style_: Style) -> None:
    document = openapi(style_)
    error = resolved(document, "#/components/responses/Error")["content"]["application/json"]["schema"]
    for code in CODES:
        assert fits(document, error, respond(style_, "", Problem(code, "why", {"retry_after_s": 3})).body)
    assert not fits(document, error, {"what": "else"})


def test_the_overview_tells_the_truth_of_the_second_page() -> None:
    for style_ in STYLES:
        query = json.loads(re.findall(r"second page of 50: query `(.+?)`", pages(style_)["overview"])[0])
        path = style_.routes["list_departments"].path({})
        found = route(style_, "GET", path, query)
        assert found == Routed("list_departments", {"page": 2, "page_size": 50})
