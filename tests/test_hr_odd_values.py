"""Whatever stands in any place of a request, the API answers by a status below 500 and nothing raises."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from agentgym.actions import Invalid, parse_action
from agentgym.envs.hr.api import Problem, request, respond, route
from agentgym.envs.hr.endpoints import ENDPOINTS, Endpoint
from agentgym.envs.hr.examples import arguments_of
from agentgym.envs.hr.http_server import stand_alone
from agentgym.envs.hr.http_service import Service, body_bytes
from agentgym.envs.hr.operations import api
from agentgym.envs.hr.presentation import HttpPresentation, TypedPresentation
from agentgym.envs.hr.style import LEVELS, Style, style
from agentgym.envs.hr.typed import typed_request
from agentgym.hooks import Context
from agentgym.presentation import Presentation
from agentgym.text import dumps
from agentgym.trace import Call
from agentgym.world import CallResult

CONTEXT = Context(0, "hr/test", 0)


def nested(depth: int, key: str = "") -> Any:
    """Lists, or with a *key* objects, in each other."""
    out: Any = {} if key else []
    for _ in range(depth):
        out = {key: out} if key else [out]
    return out


TEXTS = (
    "", " ", "[" * 20_000, '{"a":' * 20_000, "9" * 5000, "-" + "9" * 400, "1e999999", "1e999", "NaN", "Infinity",
    "-Infinity", "-0", "007", "1.5", "1_000", "\u00b2", "\u0663", "true", "null", "[]", "{}", "\ud800", "\x00",
    "a" * 20_000, "%", "%ff", "%ED%A0%80", '"', 'W/"', '"3', "*", "2026-13-45", "0000-00-00", "9999-12-31", "99:99",
    "PT9999H9M", "9" * 16, "9" * 19, "zzzz", "{year}", "{money:EUR:1}", "{date:x}", "{enum:run:x}", "\u2028",
    "\r\nX: y", "//", "http://[",
)  # fmt: skip
"""Texts that some reader of texts may stumble over."""

ODD: tuple[Any, ...] = (
    *TEXTS, None, True, False, 0, -1, 1.5, -0.0, 1e15, 1e308, float("nan"), float("inf"), 2**63 - 1, 2**63, 10**400,
    10**5000, [], [[]], [None], [[], []], ["1", "2"], [True], [1.5], [{}], [[["a"]]], ["E1"] * 200, {}, {"a": None},
    {"amount": "1.00", "currency": []}, nested(60), nested(60, "a"), nested(900), nested(900, "a"), nested(5000),
)  # fmt: skip


def places(style_: Style, endpoint: Endpoint) -> list[tuple[str, str]]:
    """Where a value may stand in a request of *endpoint*."""
    operation = api(style_).operations[endpoint.tool]
    found = [("query", name) for name in operation.query] + [("body", name) for name in operation.body]
    found += [("headers", name) for name in ("Content-Type", style_.version_name, style_.key_name)]
    if endpoint.many:
        found += [("query", style_.paging.place), ("query", style_.paging.size)]
    found += [("path", str(number)) for number, part in enumerate(operation.route.segments) if part[0] == "{"]
    return [*found, ("query", "x"), ("body", "x"), ("headers", "x"), ("query", ""), ("headers", ""), ("body", "")]


def spoilt(right: dict[str, Any], place: str, name: str, value: Any) -> dict[str, Any]:
    """A right request with *value* in one place; without a name it is all of that place."""
    if place == "path":
        behind = right["path"].split("/")
        behind[int(name) + 1] = str(value)[:20_000] if isinstance(value, str | float) else "x"
        return {**right, "path": "/".join(behind)}
    return {**right, place: {**(right[place] or {}), name: value} if name else value}


def drawn(seed: int, level: int, each: int) -> Iterator[tuple[Endpoint, str, str, Any]]:
    """For every endpoint of a style so many places and values."""
    drawing = random.Random(seed * 4 + level)
    for endpoint in ENDPOINTS:
        found = places(style(seed, level), endpoint)
        for _ in range(each):
            yield endpoint, *drawing.choice(found), drawing.choice(ODD)


def asked(style_: Style, endpoint: Endpoint) -> dict[str, Any]:
    return request(style_, endpoint.tool, arguments_of(endpoint))._asdict()


@pytest.fixture(scope="module")
def world() -> Service:
    return stand_alone(0, 0, role="hr_admin")


EACH = [(seed, level) for level in LEVELS for seed in range(10)]


@pytest.mark.parametrize(("seed", "level"), EACH)
def test_no_value_in_a_request_raises(seed: int, level: int) -> None:
    style_ = style(seed, level)
    for endpoint, place, name, value in drawn(seed, level, 30):
        found = route(style_, **spoilt(asked(style_, endpoint), place, name, value))
        if isinstance(found, Problem):
            answer = respond(style_, "", found)
            assert 400 <= answer.status < 500
            body_bytes(answer)


@pytest.mark.parametrize(("seed", "level"), EACH)
def test_no_value_that_a_client_sends_is_a_fault_of_the_server(seed: int, level: int, world: Service) -> None:
    style_ = style(seed, level)
    service = Service(style_, world._tools, world._call)
    for endpoint, place, name, value in drawn(seed, level, 12):
        sent = spoilt(asked(style_, endpoint), place, name, value)
        query, headers, body = sent["query"], sent["headers"], sent["body"]
        try:
            target = sent["path"] + ("?" + urlencode(query, doseq=True) if isinstance(query, dict) else f"?{query}")
            lines = {key: text if isinstance(text, str) else json.dumps(text) for key, text in (headers or {}).items()}
            text = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else json.dumps(body).encode()
        except (AttributeError, RecursionError, TypeError, ValueError):
            # No client can write it.
            continue
        answer = service.answer(sent["method"], target, lines, None if body is None else text)
        assert answer.status < 500
        body_bytes(answer)


def answered(presentation: Presentation, name: str, arguments: Any, world: Service) -> None:
    """Do what an episode does with an action, and with one that proposes it."""
    for action in (
        {"name": name, "arguments": arguments},
        {"name": "confirm_with_user", "arguments": {"tool": name, "arguments": arguments}},
    ):
        made = parse_action(action, presentation.toolset)
        if isinstance(made, Invalid):
            continue
        presentation.operation(Call(made.name, made.arguments))
        call = presentation.before_call(Call(made.name, made.arguments), CONTEXT)
        if isinstance(call, Call) and call.name != "confirm_with_user":
            shown = presentation.after_call(call, world._call(call.name, call.arguments), CONTEXT)
            assert isinstance(shown, CallResult)
            presentation.read(call, dumps(shown.value) if shown.ok else shown.error)


@pytest.mark.parametrize(("seed", "level"), EACH)
def test_no_action_ends_an_episode_by_its_values(seed: int, level: int, world: Service) -> None:
    http, typed = HttpPresentation(seed, level), TypedPresentation(seed, level)
    for endpoint, place, name, value in drawn(seed, level, 12):
        sent = spoilt(asked(http.style, endpoint), place, name, value)
        answered(http, "http_request", sent, world)
        own = typed.style.names.operations[endpoint.tool]
        given = typed_request(typed.style, endpoint.tool, arguments_of(endpoint))
        names = [*typed.toolset[own].checks]
        if names:
            answered(typed, own, {**given, random.Random(name).choice(names): value}, world)


@pytest.mark.parametrize("level", LEVELS)
def test_a_text_that_is_no_number_is_refused(level: int) -> None:
    for seed in range(8):
        style_ = style(seed, level)
        endpoint = next(e for e in ENDPOINTS if e.tool == "list_balances")
        name = next(
            param.shown for param in api(style_).operations[endpoint.tool].query.values() if param.name == "year"
        )
        for text in ("[" * 20_000, "9" * 5000, "1e999999", "NaN", "Infinity", "-Infinity", "1.5", "true", "2026x"):
            found = route(style_, **spoilt(asked(style_, endpoint), "query", name, text))
            assert isinstance(found, Problem) and found.code == "unprocessable"


@pytest.mark.parametrize("place", [[], [[]], ["a", "b"], [None], {}])
def test_a_cursor_that_is_no_text_is_refused(place: Any) -> None:
    for level in LEVELS[1:]:
        style_ = next(style(seed, level) for seed in range(99) if style(seed, level).paging.kind == "cursor")
        path = style_.routes["list_leave_types"].path({})
        found = route(style_, "GET", path, {style_.paging.place: place})
        assert isinstance(found, Problem) and found.code == "unprocessable"
