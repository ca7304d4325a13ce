"""Tools: a typed function becomes a JSON schema and a compiled argument check.

A tool is a plain function whose first parameter is the world, like the ones in ``envs/refund/tools.py``. Its docstring
says in one imperative line what it does, and under ``Args:`` what each parameter is, with a unit and an example::

    @tool(writes=True, latency_ms=400)
    def add_note(world: World, order_id: str, note: Annotated[str, Length(1, 500)]) -> dict[str, object]:
        ...

The schema and the check are built once, when the module is imported. This module runs inside the container
image too, so it imports the standard library only.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Check = Callable[[Any, str], Any]
"""``check(value, label)`` returns the normalised value or raises `ToolError` naming *label*."""

_MAX_INT = 2**63 - 1


class ToolError(Exception):
    """What the agent is told when a call cannot be done: one lower-case sentence with the value and the way out.

    Any other exception that leaves a tool is a bug of the environment.
    """


@dataclass(frozen=True)
class Range:
    """Inclusive bounds of a number, for ``Annotated[int, Range(1, 2500)]``. ``None`` leaves an end open."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Length:
    """Inclusive bounds of the length of a string (characters) or a list (items)."""

    low: int = 0
    high: int | None = None


@dataclass(frozen=True)
class Pattern:
    """A regular expression that the whole string must match, with *example* for the error text."""

    regex: str
    example: str


@dataclass(frozen=True)
class Tool:
    """One tool as the environment uses it.

    Attributes:
        name: what the agent calls it.
        description: the manual line(s) shown to the agent.
        parameters: JSON Schema of the arguments (``type: object``, ``additionalProperties: false``).
        function: ``function(world, **arguments)``; ``None`` for tools that the host answers itself.
        writes: the tool changes the world or speaks to somebody.
        latency_ms: simulated milliseconds that one call takes.
        owners: argument name → SQL with one ``:value`` giving the owner of the thing that the argument names.
        idempotency: name of the argument that carries an idempotency key, or "".
        reused: the error for a key that another call has used already; None for one that names the argument.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    checks: Mapping[str, Check]
    required: frozenset[str]
    defaults: Mapping[str, Any]
    function: Callable[..., Any] | None = None
    writes: bool = False
    latency_ms: int = 200
    owners: Mapping[str, str] = field(default_factory=dict)
    idempotency: str = ""
    reused: Callable[[str], ToolError] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The OpenAI function schema, a fresh object."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return typing.cast("dict[str, Any]", json.loads(json.dumps({"type": "function", "function": function})))

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments checked, normalised and completed with defaults, in the order of the signature.

        Raises:
            ToolError: a parameter is missing, unknown, of the wrong type or out of its bounds.
        """
        for name in arguments:
            if name not in self.checks:
                raise ToolError(_unknown(self, name))
        out: dict[str, Any] = {}
        for name, check in self.checks.items():
            if name in arguments:
                out[name] = check(arguments[name], name)
            elif name in self.required:
                raise ToolError(f'{self.name} needs the parameter "{name}" ({_kind(self.parameters, name)})')
            else:
                out[name] = self.defaults[name]
        return out


def _unknown(tool_: Tool, name: str) -> str:
    known = ", ".join(tool_.checks) or "none"
    return f"{tool_.name} has no parameter {shown(name)}; its parameters are: {known}"


def _kind(parameters: Mapping[str, Any], name: str) -> str:
    entry = parameters["properties"].get(name, {})
    return str(entry.get("type", "any JSON value"))


def tool(
    *,
    writes: bool = False,
    latency_ms: int = 200,
    owners: Mapping[str, str] | None = None,
    idempotency: str = "",
) -> Callable[[Callable[..., Any]], Tool]:
    """Turn a typed, documented function into a `Tool`.

    Args:
        writes: the tool changes the world.
        latency_ms: simulated duration of a call, milliseconds, ≥ 0.
        owners: argument → SQL with ``:value``, one row with the owner's id.
        idempotency: the parameter that carries an idempotency key: a repeated key returns the first result.

    Raises:
        TypeError: the function lacks a docstring, a type or the description of a parameter.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        return build_tool(
            function, skip=1, writes=writes, latency_ms=latency_ms, owners=owners or {}, idempotency=idempotency
        )

    return decorate


def build_tool(
    function: Callable[..., Any],
    *,
    skip: int = 0,
    writes: bool = False,
    latency_ms: int = 200,
    owners: Mapping[str, str] | None = None,
    idempotency: str = "",
    bound: bool = True,
) -> Tool:
    """Build a `Tool` from a function's signature and docstring, leaving out its first *skip* parameters."""
    name = function.__name__
    text, described = _docstring(function)
    hints = typing.get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    checks: dict[str, Check] = {}
    defaults: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        if parameter.name not in hints or parameter.name not in described:
            raise TypeError(f"tool {name}: parameter {parameter.name!r} needs a type and a line under Args:")
        schema, check = compile_type(hints[parameter.name])
        schema["description"] = described[parameter.name]
        if parameter.default is not inspect.Parameter.empty:
            defaults[parameter.name] = parameter.default
            if parameter.default is not None:
                schema["default"] = parameter.default
        properties[parameter.name] = schema
        checks[parameter.name] = check
    required = [p for p in checks if p not in defaults]
    if idempotency and idempotency not in checks:
        raise TypeError(f"tool {name}: idempotency names {idempotency!r}, which is no parameter of it")
    for argument in owners or {}:
        if argument not in checks:
            raise TypeError(f"tool {name}: owners names {argument!r}, which is no parameter of it")
    return Tool(
        name=name,
        description=text,
        parameters={
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
        checks=checks,
        required=frozenset(required),
        defaults=defaults,
        function=function if bound else None,
        writes=writes,
        latency_ms=latency_ms,
        owners=dict(owners or {}),
        idempotency=idempotency,
    )


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Split a Google docstring into what the agent reads and the descriptions of the parameters."""
    doc = inspect.getdoc(function)
    if not doc:
        raise TypeError(f"tool {function.__name__} needs a docstring: one imperative line, then Args:")
    head, _, rest = doc.partition("\nArgs:\n")
    arguments = re.split(r"\n(?=\S)", rest)[0]
    described: dict[str, str] = {}
    for match in re.finditer(r"^ {4}(\w+)(?: \([^)]*\))?: (.+(?:\n {6,}.+)*)", arguments, re.MULTILINE):
        described[match[1]] = " ".join(match[2].split())
    text = re.split(r"\n(?:Raises|Returns):\n", head)[0]
    return "\n".join(" ".join(block.split()) for block in text.strip().split("\n\n")), described


def compile_type(hint: Any) -> tuple[dict[str, Any], Check]:
    """Compile a type annotation to (JSON schema, check).

    Supported: ``str int float bool``, ``Literal`` of strings, ``list[T]``, ``dict[str, Any]``, ``Any`` (any JSON
        value),
    ``T | None`` and ``Annotated`` with `Range`, `Length`, `Pattern`.

    Raises:
        TypeError: the annotation is none of these.
    """
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        base, *marks = typing.get_args(hint)
        return _annotated(*compile_type(base), marks)
    if origin in (typing.Union, types.UnionType):
        return _optional(hint)
    if origin is typing.Literal:
        return _literal(typing.get_args(hint))
    if origin is list:
        return _list(*compile_type(typing.get_args(hint)[0]))
    if hint is dict or origin is dict:
        return {"type": "object"}, _typed(dict, "an object")
    if hint is Any or hint is object:
        return {}, lambda value, label: value
    scalars: dict[Any, tuple[dict[str, Any], Check]] = {
        str: ({"type": "string"}, _typed(str, "a string")),
        bool: ({"type": "boolean"}, _typed(bool, "true or false")),
        int: ({"type": "integer"}, _integer),
        float: ({"type": "number"}, _number),
    }
    if hint not in scalars:
        raise TypeError(f"tools cannot take {hint!r}; use str, int, float, bool, Literal, list, dict or T | None")
    schema, check = scalars[hint]
    return dict(schema), check


def shown(value: object) -> str:
    """Return *value* as short JSON for an error text."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"


def _typed(kind: type, words: str) -> Check:
    def check(value: Any, label: str) -> Any:
        if type(value) is not kind:
            raise ToolError(f"{label} must be {words}, got {shown(value)}")
        return value

    return check


def _integer(value: Any, label: str) -> int:
    if type(value) is float and value.is_integer() and abs(value) < _MAX_INT:
        value = int(value)
    if type(value) is not int:
        raise ToolError(f"{label} must be an integer, got {shown(value)}")
    if abs(value) > _MAX_INT:
        raise ToolError(f"{label} must be an integer of at most 63 bits, got {shown(value)}")
    return int(value)


def _number(value: Any, label: str) -> float:
    if type(value) not in (int, float) or value != value or abs(value) > 1e300:
        raise ToolError(f"{label} must be a finite number, got {shown(value)}")
    return float(value)


def _optional(hint: Any) -> tuple[dict[str, Any], Check]:
    inner = [a for a in typing.get_args(hint) if a is not type(None)]
    if len(inner) != 1 or len(typing.get_args(hint)) != 2:
        raise TypeError(f"tools cannot take the union {hint!r}; only T | None")
    schema, check = compile_type(inner[0])
    if "type" in schema:
        schema["type"] = [schema["type"], "null"]
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    return schema, lambda value, label: None if value is None else check(value, label)


def _literal(options: tuple[Any, ...]) -> tuple[dict[str, Any], Check]:
    if not all(type(option) is str for option in options):
        raise TypeError(f"a Literal of a tool takes strings only, got {options!r}")
    allowed = frozenset(options)
    listing = ", ".join(options)

    def check(value: Any, label: str) -> Any:
        if type(value) is not str or value not in allowed:
            raise ToolError(f"{label} must be one of {listing}; got {shown(value)}")
        return value

    return {"type": "string", "enum": list(options)}, check


def _list(item_schema: dict[str, Any], item: Check) -> tuple[dict[str, Any], Check]:
    def check(value: Any, label: str) -> Any:
        if type(value) is not list:
            raise ToolError(f"{label} must be a list, got {shown(value)}")
        return [item(entry, f"{label}[{index}]") for index, entry in enumerate(value)]

    return {"type": "array", "items": item_schema}, check


def _annotated(schema: dict[str, Any], check: Check, marks: list[Any]) -> tuple[dict[str, Any], Check]:
    for mark in marks:
        schema, check = annotate(schema, check, mark)
    return schema, check


def annotate(schema: dict[str, Any], check: Check, mark: object) -> tuple[dict[str, Any], Check]:
    """Narrow a schema and its check by a `Range`, `Length` or `Pattern`; other marks change nothing."""
    if isinstance(mark, Range):
        return _ranged(schema, check, mark)
    if isinstance(mark, Length):
        return _sized(schema, check, mark)
    return _patterned(schema, check, mark) if isinstance(mark, Pattern) else (schema, check)


def _ranged(schema: dict[str, Any], inner: Check, mark: Range) -> tuple[dict[str, Any], Check]:
    low, high = mark.low, mark.high
    words = f"in {low}..{high}" if high is not None and low is not None else f"≥ {low}" if high is None else f"≤ {high}"
    bounds = {"minimum": low, "maximum": high}

    def check(value: Any, label: str) -> Any:
        value = inner(value, label)
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise ToolError(f"{label} must be {words}, got {shown(value)}")
        return value

    return {**schema, **{k: v for k, v in bounds.items() if v is not None}}, check


def _sized(schema: dict[str, Any], inner: Check, mark: Length) -> tuple[dict[str, Any], Check]:
    low, high = mark.low, mark.high
    listed = "items" in schema
    words = f"{low} to {high}" if high is not None else f"at least {low}"
    keys = ("minItems", "maxItems") if listed else ("minLength", "maxLength")

    def check(value: Any, label: str) -> Any:
        value = inner(value, label)
        if value is not None and (len(value) < low or (high is not None and len(value) > high)):
            unit = "items" if listed else "characters"
            raise ToolError(f"{label} must have {words} {unit}, got {len(value)}")
        return value

    return {**schema, keys[0]: low, **({keys[1]: high} if high is not None else {})}, check


def _patterned(schema: dict[str, Any], inner: Check, mark: Pattern) -> tuple[dict[str, Any], Check]:
    pattern = re.compile(mark.regex)

    def check(value: Any, label: str) -> Any:
        value = inner(value, label)
        if value is not None and not pattern.fullmatch(value):
            raise ToolError(f'{label} must look like "{mark.example}", got {shown(value)}')
        return value

    return {**schema, "pattern": f"^(?:{mark.regex})$"}, check
