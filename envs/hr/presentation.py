"""How the agent is shown the HR API: as documentation and HTTP requests, or as one typed tool for each endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentgym.common import COMMON_TOOLS
from agentgym.envs.hr.answers import Problem, Response, parse, problem_of, respond
from agentgym.envs.hr.api import Routed, operation_of, route
from agentgym.envs.hr.asking import request
from agentgym.envs.hr.endpoints import BY_TOOL, ENDPOINTS
from agentgym.envs.hr.style import CODES, Style, style, typed
from agentgym.envs.hr.tools import TOOLS
from agentgym.envs.hr.typed import typed_parameters, typed_request, typed_route
from agentgym.hooks import Context, Fault
from agentgym.presentation import Answer, Presentation
from agentgym.text import dumps
from agentgym.tools import Tool, ToolError, build_tool
from agentgym.trace import Call
from agentgym.world import CallResult

LATENCY_MS = 60
"""Simulated time of a request that the interface answers itself."""

_CONFIRM = "confirm_with_user"
_OWN = {tool.name: tool for tool in TOOLS}
_DOCS = tuple(tool for tool in TOOLS if tool.name not in BY_TOOL)


def http_request(method: str, path: str, query: Any = None, headers: Any = None, body: Any = None) -> None:
    """Send a request to the company's HTTP API; the result has its status, headers and body.

    Args:
        method: GET, POST, PUT, PATCH or DELETE
        path: as the documentation has it, values in it percent-encoded
        query: an object of query parameters
        headers: an object of headers
        body: an object, sent as JSON
    """


HTTP_REQUEST = build_tool(http_request, latency_ms=LATENCY_MS, bound=False)


class _HttpTools(Presentation):
    """The tools by which any style is shown over HTTP; its schemas are made once for all of them."""

    shown = (*_DOCS, HTTP_REQUEST, *COMMON_TOOLS)


_HTTP_TOOLS = _HttpTools()


class _HrPresentation(Presentation):
    """What both have in common: they translate calls and results by a style.

    Args:
        seed: what the style is drawn from.
        level: how far it differs from the plain one, 0–3.
    """

    style: Style

    def _routed(self, call: Call) -> Routed | Problem | None:
        """The canonical call that a shown one asks for; None where it is no call of the API."""
        raise NotImplementedError

    def _shown_call(self, call: Call) -> Call:
        """A canonical call of the API as shown."""
        raise NotImplementedError

    def _content(self, response: Response) -> Any:
        """An answer of the API as shown."""
        raise NotImplementedError

    def before_call(self, call: Call, ctx: Context) -> Call | Answer:
        """Turn a shown call into a canonical one, or answer why there is none."""
        if call.name == _CONFIRM:
            return self._proposed(call)
        routed = self._routed(call)
        if routed is None:
            return call
        checked = self._checked(routed)
        return self._refusal(checked) if isinstance(checked, Problem) else checked

    def _proposed(self, call: Call) -> Call | Answer:
        """A confirmation, with the canonical call in place of the shown one."""
        name, arguments = call.arguments["tool"], call.arguments["arguments"]
        routed = self._routed(Call(name, arguments)) if name in self.toolset else None
        if routed is None:
            names = "http_request" if "http_request" in self.toolset else "one that changes something"
            return Answer(False, None, f"tool must be {names}, got {dumps(name)}", LATENCY_MS)
        checked = self._checked(routed)
        if isinstance(checked, Problem):
            shown = dumps(self._content(respond(self.style, "", checked)))
            return Answer(False, None, f"the proposed request cannot be made: {shown}", LATENCY_MS)
        if not BY_TOOL[checked.name].writes:
            return Answer(False, None, "the proposed request changes nothing, so it needs no consent", LATENCY_MS)
        return Call(_CONFIRM, {"tool": checked.name, "arguments": checked.arguments})

    def _checked(self, routed: Routed | Problem) -> Call | Problem:
        if isinstance(routed, Problem):
            return routed
        try:
            return Call(routed.tool, _OWN[routed.tool].validate(routed.arguments))
        except ToolError as error:
            return Problem("unprocessable", self._renamed(routed.tool, str(error)))

    def _renamed(self, tool: str, text: str) -> str:
        """A message about canonical arguments, in the style's names."""
        names = self.style.names
        for parameter in BY_TOOL[tool].parameters:
            text = text.replace(parameter.field.name, names.fields[parameter.field.name])
        return text.replace(tool, names.operations[tool])

    def _refusal(self, problem: Problem) -> Answer:
        return Answer(False, None, dumps(self._content(respond(self.style, "", problem))), LATENCY_MS)

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        """Turn a canonical result into the API's answer."""
        if call.name in BY_TOOL:
            if result.ok:
                answer = respond(self.style, call.name, result.value, call.arguments)
                return result._replace(value=self._content(answer))
            problem = problem_of(self.style, result.error)
            return result._replace(error=dumps(self._content(respond(self.style, call.name, problem))))
        if call.name in _OWN and not result.ok:
            return result._replace(error=problem_of(self.style, result.error).message)
        return result

    def broken(self, call: Call, asked: Call, fault: Fault) -> str:
        """A fault as the API's own answer; no answer at all is told in words."""
        if self.operation(asked) not in BY_TOOL or not fault.status:
            return super().broken(call, asked, fault)
        if fault.status == CODES["not_found"]:
            problem = Problem("not_found", fault.error)
        elif fault.status == CODES["rate_limited"]:
            problem = Problem("rate_limited", f"try again in {fault.wait_s} s", {"retry_after_s": fault.wait_s})
        else:
            problem = Problem("unavailable", "the request may or may not have taken effect")
        return dumps(self._content(respond(self.style, "", problem)))

    def show(self, call: Call) -> Call:
        """A canonical call as the agent would make it."""
        if call.name == _CONFIRM and call.arguments.get("tool") in BY_TOOL:
            shown = self._shown_call(Call(call.arguments["tool"], call.arguments["arguments"]))
            return Call(_CONFIRM, {"tool": shown.name, "arguments": shown.arguments})
        return self._shown_call(call) if call.name in BY_TOOL else call


class HttpPresentation(_HrPresentation):
    """Documentation to list and read, and HTTP requests."""

    http = True

    def __init__(self, seed: int, level: int) -> None:
        self.style = style(seed, level)
        self.shown: Sequence[Tool] = _HTTP_TOOLS.shown

    @property
    def toolset(self) -> Mapping[str, Tool]:
        """The tools as shown, by name."""
        return _HTTP_TOOLS.toolset

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """The OpenAI function schemas as shown, the same objects in every episode."""
        return _HTTP_TOOLS.schemas

    @property
    def schemas_text(self) -> str:
        """The schemas as JSON."""
        return _HTTP_TOOLS.schemas_text

    def _routed(self, call: Call) -> Routed | Problem | None:
        if call.name != HTTP_REQUEST.name:
            return None
        try:
            asked = HTTP_REQUEST.validate(call.arguments)
        except ToolError as error:
            return Problem("bad_request", str(error))
        return route(self.style, **asked)

    def _shown_call(self, call: Call) -> Call:
        return Call(HTTP_REQUEST.name, request(self.style, call.name, call.arguments).arguments())

    def _content(self, response: Response) -> Any:
        return response.value()

    def operation(self, call: Call) -> str:
        """The tool behind a method and a path."""
        if call.name != HTTP_REQUEST.name:
            return call.name
        return operation_of(self.style, str(call.arguments.get("method")), str(call.arguments.get("path")))

    def address(self, tool: str) -> str:
        """Method and path, as the documentation has them."""
        if tool not in BY_TOOL:
            return ""
        route_ = self.style.routes[tool]
        return f"{route_.method} {route_.path(self.style.names.fields)}"

    def written(self, call: Call, value: Any, write: Callable[[Any], Any], media: str) -> Any:
        """An answer whose body is in another format, as a header says."""
        if call.name != HTTP_REQUEST.name:
            return write(value)
        return {**value, "headers": {**value["headers"], "Content-Type": media}, "body": write(value["body"])}

    def read(self, call: Call, content: str) -> Any:
        """The canonical result that an observation says; what is no such result comes back parsed where it is JSON."""
        found = _json(content)
        if call.name not in BY_TOOL or not isinstance(found, dict):
            return found
        try:
            return parse(self.style, call.name, found["status"], found["headers"], found["body"])
        except (KeyError, TypeError, ValueError, AttributeError):
            return found


class TypedPresentation(_HrPresentation):
    """One typed tool for each endpoint."""

    def __init__(self, seed: int, level: int) -> None:
        self.style = typed(style(seed, level))
        self._tools = {name: tool for tool, name in self.style.names.operations.items()}
        self.shown: Sequence[Tool] = _typed_tools(self.style)

    def _routed(self, call: Call) -> Routed | Problem | None:
        tool = self._tools.get(call.name)
        return None if tool is None else typed_route(self.style, tool, call.arguments)

    def _shown_call(self, call: Call) -> Call:
        return Call(self.style.names.operations[call.name], typed_request(self.style, call.name, call.arguments))

    def _content(self, response: Response) -> Any:
        return response.body

    def operation(self, call: Call) -> str:
        """The tool behind a name."""
        return self._tools.get(call.name, call.name)

    def address(self, tool: str) -> str:
        """Its name in the style; the pages of the documentation are as they are."""
        return self.style.names.operations.get(tool, "")

    def read(self, call: Call, content: str) -> Any:
        """The canonical result that an observation says; what is no such result comes back parsed where it is JSON."""
        found = _json(content)
        if call.name not in BY_TOOL:
            return found
        for status in (200, 400):
            try:
                return parse(self.style, call.name, status, {}, found)
            except ValueError:
                continue
        return found


def _json(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content


@lru_cache(maxsize=512)
def _typed_tools(style_: Style) -> tuple[Tool, ...]:
    """The tools of a style. The API checks values itself, so that errors look like its own."""
    made = []
    for endpoint in ENDPOINTS:
        parameters = typed_parameters(style_, endpoint.tool)
        record = style_.names.records[endpoint.returns]
        gives = f"a list of {record}" if endpoint.many else record
        made.append(
            Tool(
                name=style_.names.operations[endpoint.tool],
                description=f"{endpoint.text} Gives {gives}.",
                parameters=parameters,
                checks=dict.fromkeys(parameters["properties"], _any),
                required=frozenset(parameters["required"]),
                defaults=dict.fromkeys(set(parameters["properties"]) - set(parameters["required"])),
                writes=endpoint.writes,
                latency_ms=_OWN[endpoint.tool].latency_ms,
            )
        )
    return (*_DOCS, *made, *COMMON_TOOLS)


def _any(value: Any, label: str) -> Any:
    return value
