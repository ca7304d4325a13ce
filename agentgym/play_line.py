"""What a person types in `agentgym.play`: a line becomes an action, and half a line becomes the ways to go on.

A line is a tool and its arguments, by position or by name: ``get_order A1001``, ``get_order order_id=A1001``,
``finish refused {"reason": "outside_window"}``, ``finish refused reason=outside_window``. ``say`` takes the rest of the
line as it is, ``confirm`` a whole call, and a JSON object stands for all arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentgym.errors import did_you_mean

Json = dict[str, Any]

COMMANDS = ("/help", "/policy", "/quit", "/tools")
SHORT = {"say": "respond", "confirm": "confirm_with_user"}
"""What may be typed for a tool."""

_NAMED = re.compile(r"([A-Za-z_]\w*)=")
_ID = re.compile(r"\b[A-Z]{1,4}-?\d[\w-]*\b")
_EXAMPLE = re.compile(r'e\.g\. "([A-Z]{1,4}-?\d+(?:-\d+)*)"')
_WHOLE = re.compile(r"-?\d{1,30}")
_JSON = json.JSONDecoder()


class LineError(ValueError):
    """The line means no action; the text says what would."""


def parameters(schema: Mapping[str, Any]) -> Json:
    """The JSON schema of a tool's arguments, from its OpenAI function schema."""
    found: Json = schema["function"].get("parameters", {})
    return found


def by_name(schemas: Iterable[Mapping[str, Any]]) -> dict[str, Json]:
    """Tool name → JSON schema of its arguments."""
    return {schema["function"]["name"]: parameters(schema) for schema in schemas}


def parse_line(line: str, tools: Mapping[str, Json]) -> Json:
    """The action that a line means.

    Args:
        line: what was typed, no command.
        tools: see `by_name`.

    Returns:
        ``{"name", "arguments"}``; whether the arguments suit the tool is for the environment to say.

    Raises:
        LineError: the first word is no tool, or the rest cannot be read.

    >>> tools = {"get_order": {"properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}
    >>> parse_line("get_order A1001", tools) == parse_line("get_order order_id=A1001", tools)
    True
    """
    word, _, rest = line.strip().partition(" ")
    name = SHORT.get(word, word)
    if name not in tools:
        hint = did_you_mean(word, [*tools, *SHORT, *COMMANDS])
        raise LineError(
            f'there is no tool or command "{word[:80]}"{hint}; "say ..." speaks to the user, /tools lists the tools'
        )
    rest = rest.strip()
    if name == "respond" and not rest.startswith(("{", "message=")):
        return {"name": name, "arguments": {"message": rest}}
    if name == "confirm_with_user" and not rest.startswith(("{", "tool=")):
        proposed = parse_line(rest, tools) if rest else {"name": "", "arguments": {}}
        return {"name": name, "arguments": {"tool": proposed["name"], "arguments": proposed["arguments"]}}
    return {"name": name, "arguments": _arguments(rest, name, tools[name])}


def _arguments(text: str, tool: str, schema: Json) -> Json:
    properties: Json = schema.get("properties", {})
    parts = split_arguments(text)
    if len(parts) == 1 and parts[0][0] is None and isinstance(parts[0][1], dict):
        return parts[0][1]
    named = {name: value for name, value in parts if name is not None and name in properties}
    others = {name: value for name, value in parts if name is not None and name not in properties}
    free = [name for name in properties if name not in named]
    values = [value for name, value in parts if name is None]
    if len(values) > len(free):
        raise LineError(
            f"{tool} takes {', '.join(properties) or 'no arguments'}; one is too many: {json.dumps(values[len(free)])} "
            "(put quotes around a text with blanks)"
        )
    found = {
        name: _typed(value, properties[name]) for name, value in [*zip(free, values, strict=False), *named.items()]
    }
    if not others:
        return found
    # "finish refused reason=outside_window": fields of the one argument that takes anything.
    if "answer" in properties and "answer" not in found:
        return {**found, "answer": {name: _number(value) for name, value in others.items()}}
    first = next(iter(others))
    raise LineError(
        f"{tool} has no argument {first}{did_you_mean(first, properties)}; it takes {', '.join(properties)}"
    )


def split_arguments(text: str) -> list[tuple[str | None, Any]]:
    """Take arguments apart: (name or None, value); JSON objects, lists and quoted texts are one value each.

    Raises:
        LineError: a quote or a bracket that is never closed, or no JSON.

    >>> split_arguments('A1 note="two words" {"a": [1, 2]}')
    [(None, 'A1'), ('note', 'two words'), (None, {'a': [1, 2]})]
    """
    found: list[tuple[str | None, Any]] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        named = _NAMED.match(text, at)
        at = named.end() if named else at
        value, at = _value(text, at)
        found.append((named[1] if named else None, value))
    return found


def _value(text: str, at: int) -> tuple[Any, int]:
    first = text[at : at + 1]
    if first in ('"', "{", "["):
        try:
            return _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            raise LineError(f"cannot read {text[at : at + 40]!r} as JSON; check quotes and brackets") from None
    if first == "'":
        end = text.find("'", at + 1)
        if end < 0:
            raise LineError(f"a quote is never closed: {text[at : at + 40]}")
        return text[at + 1 : end], end + 1
    end = at
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[at:end], end


def _typed(value: Any, schema: Json) -> Any:
    """A word as the type that the schema wants, where it can be one."""
    if not isinstance(value, str):
        return value
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "string" not in kinds and kinds:
        if "integer" in kinds and _WHOLE.fullmatch(value):
            return int(value)
        if "number" in kinds or "boolean" in kinds or "null" in kinds:
            return _number(value)
    return value


def _number(value: Any) -> Any:
    """A word that is a JSON number, true, false or null as that."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
    return value if isinstance(found, str | float) else found


class Completer:
    """Ways to go on with half a line: tools, argument names, allowed values, and values seen in this episode.

    Args:
        schemas: the episode's OpenAI function schemas.
    """

    def __init__(self, schemas: Sequence[Mapping[str, Any]]) -> None:
        self.tools = by_name(schemas)
        self._seen: dict[str, dict[str, None]] = {}
        self._ids: dict[str, None] = {}

    def learn(self, content: str) -> None:
        """Take in what an observation showed."""
        self._ids.update(dict.fromkeys(_ID.findall(content)))
        try:
            self._walk(json.loads(content), "")
        except (ValueError, RecursionError):
            return

    def _walk(self, value: Any, key: str) -> None:
        if isinstance(value, dict):
            for name, entry in value.items():
                self._walk(entry, name)
        elif isinstance(value, list):
            for entry in value:
                self._walk(entry, key.removesuffix("s"))
        elif isinstance(value, str) and value and not any(char.isspace() for char in value):
            self._seen.setdefault(key, {})[value] = None

    def complete(self, before: str, word: str) -> list[str]:
        """The whole words that *word* may become, sorted.

        Args:
            before: the line up to the word.
            word: what is typed of it so far.
        """
        words = before.split()
        if words[:1] == ["confirm"] or words[:1] == ["confirm_with_user"]:
            words = words[1:]
            heads = list(self.tools)
        else:
            heads = [*self.tools, *SHORT, *COMMANDS]
        if words[:1] == ["/help"]:
            words, heads = [], list(self.tools)
        if not words:
            return sorted(head + " " for head in heads if head.startswith(word))
        schema = self.tools.get(SHORT.get(words[0], words[0]), {})
        return sorted(option for option in self._options(words[1:], word, schema) if option.startswith(word))

    def _options(self, given: Sequence[str], word: str, schema: Json) -> list[str]:
        properties: Json = schema.get("properties", {})
        named = {match[1] for part in given if (match := _NAMED.match(part))}
        started = _NAMED.match(word)
        if started and started[1] in properties:
            name = started[1]
            return [f"{name}={value} " for value in self._values(name, properties[name])]
        free = [name for name in properties if name not in named]
        place = sum(_NAMED.match(part) is None for part in given)
        left = free[place:]
        values = [f"{value} " for value in self._values(left[0], properties[left[0]])] if left else []
        return values + [f"{name}=" for name in left]

    def _values(self, name: str, schema: Json) -> list[str]:
        if "enum" in schema:
            return [str(value) for value in schema["enum"] if value is not None]
        example = _EXAMPLE.search(schema.get("description", ""))
        form = re.sub(r"\d+", r"\\d+", example[1]) if example else ""
        alike = (known for known in self._ids if form and re.fullmatch(form, known))
        return list(dict.fromkeys([*self._seen.get(name, {}), *alike]))
