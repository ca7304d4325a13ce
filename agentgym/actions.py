"""What an agent sent becomes a `Call` with validated arguments, or an `Invalid` with the reason. Never an exception.

Models write arguments in every broken way there is. The rule for all of them: what is ambiguous or incomplete is told
to the agent and never repaired into a call that runs.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from agentgym.errors import did_you_mean
from agentgym.text import clean
from agentgym.tools import Tool, ToolError, shown

MAX_DEPTH = 64
"""Deepest nesting of arguments; far below what JSON encoders take, so that everything accepted can be written again."""

NO_TOOL = "there is no tool"
"""How the error of a call of a tool that there is not begins."""

_MAX_INT = 2**63 - 1
_MAX_NAME = 64
_KEYS = frozenset({"name", "arguments", "thought", "id", "type", "call_id", "status", "index"})
_FORM = 'an action is {"name": "<tool>", "arguments": {…}}, a tool call, or a plain string said to the user'


class Call(NamedTuple):
    """A call that can run: the *arguments* are validated, normalised and complete with defaults."""

    name: str
    arguments: dict[str, Any]
    thought: str = ""


class Invalid(NamedTuple):
    """What is no call: the *name* as far as known (or ""), and the *error* that the agent is told."""

    name: str
    error: str
    thought: str = ""
    raw_arguments: str = ""


class BadArguments(Exception):
    """Why arguments cannot be taken: for the agent, a clause that goes on after "the arguments of NAME"."""


def parse_action(action: object, tools: Mapping[str, Tool]) -> Call | Invalid:
    """Return the call that *action* asks for, or why there is none.

    Args:
        action: ``{"name", "arguments", "thought"?}``, an OpenAI tool call (a dict or an object of the openai package)
            or a plain string, which is said to the user. ``arguments`` is a dict or raw JSON text; missing, null or
            blank ones are ``{}``.
        tools: the tools of this episode, by name.
    """
    form = _unwrap(action)
    if isinstance(form, Invalid):
        return form
    name, arguments, thought = form
    tool = tools.get(name)
    if tool is None:
        short = _short(name)
        error = f"{NO_TOOL} {shown(short)}{did_you_mean(short, tools)}; the tools are: {', '.join(tools)}"
        return Invalid(short, error, thought, raw_text(arguments))
    try:
        return Call(name, tool.validate(decode_arguments(arguments)), thought)
    except BadArguments as bad:
        return Invalid(name, f"the arguments of {name} {bad}", thought, raw_text(arguments))
    except ToolError as error:
        return Invalid(name, clean(str(error)), thought, raw_text(arguments))


def _unwrap(action: object) -> tuple[str, Any, str] | Invalid:
    """Take *action* apart into (name, arguments as sent, thought)."""
    if isinstance(action, str):
        if not action.strip():
            return Invalid("", f"the turn is empty; {_FORM}")
        return "respond", {"message": str(action)}, ""
    if type(action) is not dict and not isinstance(action, Mapping):
        function = getattr(action, "function", None)
        if function is None:
            return Invalid("", f"got {_kind(action)}; {_FORM}")
        return _named(getattr(function, "name", None), getattr(function, "arguments", None), None)
    thought = action.get("thought")
    function = action.get("function")
    if "name" not in action and function is not None:
        if not isinstance(function, Mapping):
            return _named(getattr(function, "name", None), getattr(function, "arguments", None), thought)
        return _named(function.get("name"), function.get("arguments"), thought)
    if len(action) > 2 or "arguments" not in action:
        for key in action:
            if key not in _KEYS:
                name = action.get("name")
                shown_key = shown(clean(key)) if isinstance(key, str) else _kind(key)
                return Invalid(_short(name), f"an action has no key {shown_key}; {_FORM}", "", raw_text(dict(action)))
    return _named(action.get("name"), action.get("arguments"), thought)


def _named(name: object, arguments: object, thought: object) -> tuple[str, Any, str] | Invalid:
    said = clean(thought) if isinstance(thought, str) else ""
    if thought is not None and not isinstance(thought, str):
        return Invalid(
            _short(name), f"thought must be a string, got {_kind(thought)}; {_FORM}", "", raw_text(arguments)
        )
    if not isinstance(name, str):
        got = "no name" if name is None else f"a name that is {_kind(name)}"
        return Invalid("", f"got {got}; {_FORM}", said, raw_text(arguments))
    return str(name), arguments, said


def decode_arguments(sent: Any) -> dict[str, Any]:
    """Return arguments as they arrived (raw JSON text, a mapping or None) as a fresh, clean dict.

    Raises:
        BadArguments: they are no JSON object, or hold what cannot be kept.
    """
    if isinstance(sent, str):
        sent = _decode(sent)
    if sent is None:
        return {}
    if not isinstance(sent, Mapping):
        raise BadArguments(f"must be a JSON object, got {_kind(sent)}: {raw_text(sent)[:60]}")
    return _object(sent, MAX_DEPTH)


def _decode(text: str) -> Any:
    """Decode raw JSON *text* strictly: no NaN, no infinite number, no key twice. Blank text is None."""
    if not text or text.isspace():
        return None
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise BadArguments(_DEEP) from None
    except ValueError:
        # The decoder's own words differ between versions of Python, and what an agent sees must not.
        hint = "send one complete JSON object with double-quoted keys"
        raise BadArguments(f"are not valid JSON: got {shown(clean(text))} ({len(text)} characters); {hint}") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        # Counted in one pass: a megabyte of keys must not take minutes.
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise BadArguments(f"name {shown(clean(twice))} twice; send each parameter once")
    return found


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise BadArguments(f"hold {text[:40]}, which is no finite number; send a number that fits")
    return number


def _integer(text: str) -> int:
    # Python itself refuses to read thousands of digits, with a ValueError that would pass for broken JSON.
    if len(text) > 20:
        raise BadArguments(f"hold an integer of {len(text)} digits; integers have at most 63 bits")
    return int(text)


def _constant(text: str) -> float:
    raise BadArguments(f"hold {text}, which is no JSON number; send a finite number or null")


_DEEP = f"are nested deeper than {MAX_DEPTH} levels; send a flatter object"
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant)


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, entry in value.items():
        if not isinstance(key, str):
            raise BadArguments(f"have a key that is {_kind(key)}; keys are strings")
        if type(entry) is not str or not entry.isprintable():
            entry = _json(entry, depth - 1)
        key = clean(key)
        if key in out:
            raise BadArguments(f"name {shown(key)} twice; send each parameter once")
        out[key] = entry
    return out


def _json(value: Any, depth: int) -> Any:
    """Return a clean, fresh copy of a JSON value; subclasses and NumPy scalars become the plain types."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, int):
        if abs(value) > _MAX_INT:
            raise BadArguments(f"hold an integer of {value.bit_length()} bits; integers have at most 63 bits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadArguments(f"hold {float(value)}, which is no finite number; send a finite number or null")
        return float(value)
    if depth <= 0:
        raise BadArguments(_DEEP)
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, list | tuple):
        return [_json(entry, depth - 1) for entry in value]
    if isinstance(value, np.bool_ | np.number):
        return _json(value.item(), depth)
    raise BadArguments(
        f"hold {_kind(value)}, which is no JSON value; send strings, numbers, booleans, null, lists or objects"
    )


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "a boolean", str: "a string", list: "a list", dict: "an object"}
    if type(value) in names:
        return names[type(value)]
    return "a number" if isinstance(value, int | float) else f"a value of type {clean(type(value).__name__)}"


def _short(name: object) -> str:
    if not isinstance(name, str):
        return ""
    text = clean(name[: _MAX_NAME + 1])
    return text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…"


def raw_text(arguments: object) -> str:
    """Return arguments as text for the trace, whatever they are; what is no JSON shows its type, never its address."""
    if isinstance(arguments, str):
        return clean(arguments)
    if arguments is None:
        return ""
    try:
        return clean(json.dumps(arguments, ensure_ascii=False, default=lambda value: f"<{type(value).__name__}>"))
    except (TypeError, ValueError, RecursionError):
        return f"<{type(arguments).__name__}>"
