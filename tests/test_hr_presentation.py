from __future__ import annotations

import json
from typing import Any

import pytest

from agentgym.actions import Invalid, parse_action
from agentgym.envs.hr.endpoints import ENDPOINTS
from agentgym.envs.hr.examples import arguments_of, record_of
from agentgym.envs.hr.presentation import HttpPresentation, TypedPresentation
from agentgym.envs.hr.problems import problem
from agentgym.envs.hr.style import LEVELS
from agentgym.envs.hr.tools import TOOLS
from agentgym.hooks import Context
from agentgym.presentation import Answer, Presentation
from agentgym.text import dumps
from agentgym.trace import Call
from agentgym.world import CallResult

CONTEXT = Context(0, "hr/test", 0)
TOOLSET = {tool.name: tool for tool in TOOLS}
KINDS = [HttpPresentation, TypedPresentation]
EACH = [(kind, seed, level) for kind in KINDS for level in LEVELS for seed in range(4)]


def sent(presentation: Presentation, call: Call) -> Call:
    """The call as it comes out of an agent's action."""
    action = parse_action({"name": call.name, "arguments": json.dumps(call.arguments)}, presentation.toolset)
    assert not isinstance(action, Invalid), action
    return Call(action.name, action.arguments)


@pytest.mark.parametrize(("kind", "seed", "level"), EACH)
def test_a_gold_plan_acts_and_reads_through_it(kind: Any, seed: int, level: int) -> None:
    presentation = kind(seed, level)
    for endpoint in ENDPOINTS:
        call = Call(endpoint.tool, TOOLSET[endpoint.tool].validate(arguments_of(endpoint)))
        shown = sent(presentation, presentation.show(call))
        assert shown.name in presentation.toolset
        assert presentation.before_call(shown, CONTEXT) == call
        result: dict[str, Any] = record_of(endpoint.returns)
        if endpoint.many:
            result = {"items": [result], "page": 1, "page_size": 20, "total": 1}
        seen = presentation.after_call(call, CallResult(True, result), CONTEXT)
        assert presentation.read(call, dumps(seen.value)) == result
        text = problem(404, "not_found", "there is no {employee_id} E1")
        seen = presentation.after_call(call, CallResult(False, None, text), CONTEXT)
        read = presentation.read(call, seen.error)
        assert (read["code"], read["status"]) == ("not_found", 404)
        assert read["message"] == f"there is no {presentation.style.names.fields['employee_id']} E1"


@pytest.mark.parametrize(("kind", "seed", "level"), EACH)
def test_a_confirmation_speaks_of_the_shown_call(kind: Any, seed: int, level: int) -> None:
    presentation = kind(seed, level)
    arguments = TOOLSET["decide_leave"].validate({"request_id": "LR1", "decision": "approved", "version": 3})
    call = Call("confirm_with_user", {"tool": "decide_leave", "arguments": arguments})
    shown = presentation.show(call)
    assert shown.arguments["tool"] in presentation.toolset
    assert presentation.before_call(sent(presentation, shown), CONTEXT) == call


def refused(presentation: Presentation, name: str, **arguments: Any) -> str:
    found = presentation.before_call(Call(name, arguments), CONTEXT)
    assert isinstance(found, Answer) and not found.ok
    return found.error


def test_a_confirmation_of_no_change_is_refused_without_canonical_names() -> None:
    http = HttpPresentation(5, 3)
    read = http.show(Call("get_employee", {"employee_id": "E1"}))
    texts = [
        refused(http, "confirm_with_user", tool="http_request", arguments=read.arguments),
        refused(http, "confirm_with_user", tool="decide_leave", arguments={}),
        refused(http, "confirm_with_user", tool="http_request", arguments={"method": "GET"}),
        refused(http, "confirm_with_user", tool="http_request", arguments={"method": "POST", "path": "/x"}),
        refused(http, "confirm_with_user", tool="finish", arguments={}),
    ]
    assert "changes nothing, so it needs no consent" in texts[0]
    assert texts[1] == 'tool must be http_request, got "decide_leave"' and texts[4].endswith('got "finish"')
    assert 'needs the parameter \\"path\\"' in texts[2]
    assert 'there is no path \\"/x\\"' in texts[3]
    assert not any("get_employee" in text for text in texts)


def test_a_wrong_request_is_answered_in_the_form_of_an_answer() -> None:
    http = HttpPresentation(5, 2)
    answer = json.loads(refused(http, "http_request", method="GET", path="/x"))
    assert set(answer) == {"status", "headers", "body"} and answer["status"] == 404
    typed = TypedPresentation(5, 2)
    name = typed.style.names.operations["get_pay"]
    shown = typed.show(Call("get_pay", {"employee_id": "E1", "on": "2026-03-01"}))
    wrong = {**shown.arguments, typed.style.names.fields["on"]: "soon"}
    assert typed.style.names.fields["on"] in refused(typed, name, **wrong)


def test_what_the_domain_refuses_of_canonical_arguments_is_told_in_shown_names() -> None:
    """An idempotency key and its like are checked by both; what only the domain's own check refuses is renamed."""
    http = HttpPresentation(5, 3)
    text = http._renamed("create_leave", "create_leave: employee_id must not be")
    names = http.style.names
    assert text == f"{names.operations['create_leave']}: {names.fields['employee_id']} must not be"


def test_documentation_and_the_common_tools_pass_as_they_are() -> None:
    for kind in KINDS:
        presentation = kind(5, 2)
        for call in (Call("list_docs", {}), Call("read_docs", {"section": "x"}), Call("respond", {"message": "hi"})):
            assert presentation.before_call(call, CONTEXT) == call == presentation.show(call)
            result = CallResult(True, {"a": 1})
            assert presentation.after_call(call, result, CONTEXT) == result
            assert presentation.read(call, '{"a": 1}') == {"a": 1} and presentation.read(call, "hi") == "hi"
        lost = CallResult(False, None, problem(404, "not_found", "there is no page"))
        assert presentation.after_call(Call("read_docs", {"section": "x"}), lost, CONTEXT).error == "there is no page"


def test_garbled_observations_come_back_as_they_are() -> None:
    for kind in KINDS:
        presentation, call = kind(5, 2), Call("get_me", {})
        for content in ("<html>", "[1]", "7", '{"status": 200}', '{"status": 200, "headers": {}, "body": {}}'):
            try:
                wanted = json.loads(content)
            except ValueError:
                wanted = content
            assert presentation.read(call, content) == wanted


@pytest.mark.parametrize("level", LEVELS)
def test_typed_tools_are_one_for_each_endpoint_and_names_do_not_clash(level: int) -> None:
    for seed in range(40):
        presentation = TypedPresentation(seed, level)
        assert len(presentation.toolset) == len(presentation.shown) == len(ENDPOINTS) + 2 + 5


def test_typed_and_http_schemas_are_as_small_as_they_can_be() -> None:
    assert len(HttpPresentation(5, 2).schemas_text) < 4_000
    assert len(TypedPresentation(5, 2).schemas_text) < 60_000
