"""The tools of one episode as they are presented to the agent: the domain's, or what a hook made of their schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agentgym.tools import Check, Length, Pattern, Range, Tool, annotate, compile_type

_HINTS: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "any": Any,
}


def present(schemas: Sequence[Mapping[str, Any]], tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    """Return the tools that answer to *schemas*: a domain's tool where the schema is its own, else one built from it.

    Args:
        schemas: OpenAI function schemas.
        tools: the domain's tools by name.

    Raises:
        TypeError: a schema uses what tools cannot have.
    """
    found: dict[str, Tool] = {}
    for schema in schemas:
        function = schema["function"]
        own = tools.get(function["name"])
        same = (
            own is not None and own.parameters == function["parameters"] and own.description == function["description"]
        )
        found[function["name"]] = own if own is not None and same else _built(function)
    return found


def _built(function: Mapping[str, Any]) -> Tool:
    parameters = function["parameters"]
    properties: Mapping[str, Any] = parameters.get("properties", {})
    required = frozenset(parameters.get("required", ()))
    return Tool(
        name=function["name"],
        description=function.get("description", ""),
        parameters=dict(parameters),
        checks={name: check_of(schema) for name, schema in properties.items()},
        required=required,
        defaults={name: schema.get("default") for name, schema in properties.items() if name not in required},
    )


def check_of(schema: Mapping[str, Any]) -> Check:
    """Compile the argument check of a JSON schema: the forms that tools have.

    Raises:
        TypeError: the schema's type is none of these.
    """
    kinds = schema.get("type", "any")
    kinds = list(kinds) if isinstance(kinds, list) else [kinds]
    nullable = "null" in kinds
    kind = next((k for k in kinds if k != "null"), "any")
    check = _enum(schema["enum"]) if "enum" in schema else _plain(kind, schema)
    for mark in _marks(schema):
        check = annotate({}, check, mark)[1]
    if not nullable:
        return check
    return lambda value, label: None if value is None else check(value, label)


def _plain(kind: str, schema: Mapping[str, Any]) -> Check:
    if kind == "array":
        item = check_of(schema.get("items", {}))
        listed = compile_type(list[Any])[1]
        return lambda value, label: [item(entry, f"{label}[{n}]") for n, entry in enumerate(listed(value, label))]
    if kind not in _HINTS:
        raise TypeError(f"a tool's schema cannot have the type {kind!r}; expected one of {', '.join(_HINTS)}, array")
    return compile_type(_HINTS[kind])[1]


def _enum(options: Sequence[Any]) -> Check:
    names = tuple(option for option in options if option is not None)
    return compile_type(Literal[names])[1]


def _marks(schema: Mapping[str, Any]) -> list[Range | Length | Pattern]:
    marks: list[Range | Length | Pattern] = []
    if "minimum" in schema or "maximum" in schema:
        marks.append(Range(schema.get("minimum"), schema.get("maximum")))
    for low, high in (("minLength", "maxLength"), ("minItems", "maxItems")):
        if low in schema or high in schema:
            marks.append(Length(schema.get(low, 0), schema.get(high)))
    if "pattern" in schema:
        marks.append(Pattern(schema["pattern"].removeprefix("^").removesuffix("$"), schema["pattern"]))
    return marks
