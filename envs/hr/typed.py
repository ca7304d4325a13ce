"""The endpoints as functions with typed arguments, in a style: everything in arguments, no paths, headers or status.

The styles here are those that `agentgym.envs.hr.style.typed` gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.envs.hr.answers import Problem, status_of
from agentgym.envs.hr.api import Routed
from agentgym.envs.hr.asking import request
from agentgym.envs.hr.openapi import paging_schemas
from agentgym.envs.hr.operations import Operation, Param, api
from agentgym.envs.hr.reading import Refused, missing, read_body, read_query, text_value
from agentgym.envs.hr.style import Style


def typed_parameters(style: Style, tool: str) -> dict[str, Any]:
    """JSON Schema of the arguments of *tool*."""
    operation = api(style).operations[tool]
    properties = {param.shown: _schema(style, param) for param in _params(operation)}
    if operation.endpoint.many:
        properties |= paging_schemas(style)
    return {
        "type": "object",
        "properties": properties,
        "required": [param.shown for param in _params(operation) if param.required],
        "additionalProperties": False,
    }


def _params(operation: Operation) -> list[Param]:
    return [*operation.path, *operation.query.values(), *operation.body.values()]


def _schema(style: Style, param: Param) -> dict[str, Any]:
    text = f"{param.text}: {param.codec.expects}"
    if param.kind == "key":
        code = style.errors.codes["unprocessable"]
        text += f"; another request with it is refused with {status_of(style, 'unprocessable')} {code}"
    return {**param.codec.schema, "description": text}


def typed_route(style: Style, tool: str, given: Mapping[str, Any]) -> Routed | Problem:
    """The canonical call that a shown one asks for, or why there is none.

    Args:
        style: the API's spelling.
        tool: canonical name of the tool.
        given: its arguments as shown; None counts as left out.
    """
    made = api(style)
    operation = made.operations[tool]
    values = {name: value for name, value in given.items() if value is not None}
    arguments: dict[str, Any] = {}
    try:
        for param in operation.path:
            if param.shown not in values:
                raise missing(param, "path")
            arguments[param.name] = text_value(param, values.pop(param.shown), "path")
        body = {name: values.pop(name) for name in list(values) if name in operation.body}
        read_query(made, operation, values, arguments)
        read_body(made, operation, body, arguments)
    except Refused as refused:
        return refused.problem
    return Routed(tool, arguments)


def typed_request(style: Style, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The shown arguments that ask for *tool* with canonical *arguments*: the inverse of `typed_route`.

    Raises:
        ValueError: a parameter in the path is missing.
    """
    asked = request(style, tool, arguments)
    path = {param.shown: param.codec.show(arguments[param.name]) for param in api(style).operations[tool].path}
    return {**path, **(asked.query or {}), **(asked.body or {})}
