"""A validation error of pydantic told as a `ScenarioError`: the field as a path, what was found, what was expected."""

from __future__ import annotations

import types
import typing
from typing import Annotated, Any, Union

from pydantic import BaseModel, ValidationError

from agentgym.errors import ScenarioError, did_you_mean
from agentgym.tools import shown


def misfit(file: str, data: Any, error: ValidationError, model: type[BaseModel], prefix: str = "") -> ScenarioError:
    """Return the first error in full; errors on other fields are counted ("and 2 more").

    Args:
        file: the scenario's file or id.
        data: what was validated.
        error: what pydantic said.
        model: the model it was validated against.
        prefix: path of *data* in the scenario, such as "domain".
    """
    # An unknown key explains the missing one that it was meant to be.
    entries = sorted(error.errors(include_url=False), key=lambda entry: entry["type"] != "extra_forbidden")
    places = [_place(data, entry["loc"], prefix) for entry in entries]
    found, expected = _told(entries[0], model)
    others = len(set(places)) - 1
    return ScenarioError(file, places[0], found, expected + (f" (and {others} more)" if others else ""))


def _place(data: Any, loc: tuple[int | str, ...], prefix: str) -> str:
    """The path as it is in the file: pydantic adds the names of union members, which stand nowhere in the data."""
    path, current = prefix, data
    for index, part in enumerate(loc):
        if isinstance(current, dict) and part in current:
            current = current[part]
        elif isinstance(current, list) and isinstance(part, int) and part < len(current):
            current = current[part]
        elif index < len(loc) - 1 or not str(part).isidentifier() or not isinstance(current, dict):
            continue
        path = f"{path}[{part}]" if isinstance(part, int) else f"{path}.{part}" if path else str(part)
    return path or "scenario"


def _told(entry: Any, model: type[BaseModel]) -> tuple[str, str]:
    kind, value = entry["type"], entry["input"]
    if kind == "extra_forbidden":
        known = _fields(model, entry["loc"][:-1])
        name = str(entry["loc"][-1])
        near = did_you_mean(name, known)
        return f"the unknown key {name!r}", f"one of {', '.join(known)}{near}"
    if kind == "missing":
        return "nothing", "a value: the key is required"
    message = str(entry["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    head, mark, tail = message.partition("; ")
    if isinstance(value, dict | BaseModel) and mark:
        if tail.startswith("this one has "):
            return tail.removeprefix("this one has "), head
        return head, tail.removeprefix("give ")
    return shown(value.model_dump() if isinstance(value, BaseModel) else value), message


def _fields(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys that may stand at *loc*, in the order of the model."""
    current: list[Any] = [model]
    for part in loc:
        # A part that leads nowhere is the name of a union member: stay.
        current = [kind for entry in current for kind in _step(entry, part)] or current
    return [field.alias or name for kind in current if _is_model(kind) for name, field in kind.model_fields.items()]


def _step(kind: Any, part: int | str) -> list[Any]:
    if _is_model(kind):
        for name, field in kind.model_fields.items():
            if part in (name, field.alias):
                return _members(field.annotation)
        return []
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (list, tuple) and isinstance(part, int):
        return _members(arguments[min(part, len(arguments) - 1)])
    if origin is dict:
        return _members(arguments[1])
    return []


def _members(annotation: Any) -> list[Any]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _members(arguments[0])
    if origin in (Union, types.UnionType):
        return [kind for argument in arguments for kind in _members(argument)]
    return [annotation]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
