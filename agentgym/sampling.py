"""Random values that satisfy a JSON schema, for the subset of JSON Schema that `agentgym.tools` writes.

All draws are made from raw words of the generator that is passed in, since numpy promises no stable distributions.
Patterns are read by a small parser of our own (literals, classes, groups, alternation, quantifiers), so that a stream
does not depend on the version of Python's.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Draw = Callable[[np.random.Generator], str]

_CLASSES = {
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_",
    "s": " ",
    "D": string.ascii_letters,
    "W": " -.,",
    "S": string.ascii_letters + string.digits,
}
_WORDS = string.ascii_lowercase * 3 + string.ascii_uppercase + string.digits + "     .,-'éß✓😀"
_MORE = 8
"""How far an open end reaches: the most repetitions beyond the least, and extra characters of a text."""


def draw(schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """Return a random value that is valid under *schema*."""
    if "enum" in schema:
        return pick(schema["enum"], rng)
    if schema.get("examples") and uniform(rng) < 0.5:
        return pick(schema["examples"], rng)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = pick(kind, rng)
    drawer = _DRAWERS.get(kind or "")
    return drawer(schema, rng) if drawer else _anything(rng)


def integer(rng: np.random.Generator, low: int, high: int) -> int:
    """Return an integer in *low* … *high*, both included; *low* where there is none between."""
    span = max(high - low, 0) + 1
    return low + int(rng.bit_generator.random_raw()) % span


def uniform(rng: np.random.Generator) -> float:
    """Return a float in [0, 1), of 32 random bits."""
    return (int(rng.bit_generator.random_raw()) & 0xFFFFFFFF) / 2**32


def pick(options: Sequence[T], rng: np.random.Generator) -> T:
    """Return one of *options*, each as likely."""
    return options[integer(rng, 0, len(options) - 1)]


def text(rng: np.random.Generator, low: int, high: int) -> str:
    """Return printable text of *low* to *high* characters."""
    return "".join(pick(_WORDS, rng) for _ in range(integer(rng, low, high)))


@functools.lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Draw | None:
    """Return a function that draws strings matching *pattern*, or None where the pattern is beyond the small parser."""
    try:
        return _Parser(pattern).whole()
    except ValueError:
        return None


def _whole_number(schema: Mapping[str, Any], rng: np.random.Generator) -> int:
    low = schema.get("minimum", min(0, schema.get("maximum", 0)))
    return integer(rng, int(np.ceil(low)), int(schema.get("maximum", low + 1000)))


def _number(schema: Mapping[str, Any], rng: np.random.Generator) -> float:
    low = float(schema.get("minimum", min(0.0, schema.get("maximum", 0.0))))
    high = float(schema.get("maximum", low + 1000.0))
    value = round(low + uniform(rng) * (high - low), 2)
    return min(max(value, low), high)


def _string(schema: Mapping[str, Any], rng: np.random.Generator) -> str:
    low = int(schema.get("minLength", 0))
    high = min(int(schema.get("maxLength", low + 3 * _MORE)), low + 3 * _MORE)
    pattern = schema.get("pattern")
    drawer = compile_pattern(pattern) if pattern else None
    if drawer is None:
        return text(rng, max(low, min(1, high)), high)
    found = ""
    for _ in range(16):
        found = drawer(rng)
        if low <= len(found) <= int(schema.get("maxLength", len(found))):
            break
    return found


def _array(schema: Mapping[str, Any], rng: np.random.Generator) -> list[Any]:
    low = int(schema.get("minItems", 0))
    high = min(int(schema.get("maxItems", low + 3)), low + 3)
    return [draw(schema.get("items", {}), rng) for _ in range(integer(rng, low, high))]


def _object(schema: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    required = schema.get("required", ())
    return {
        name: draw(entry, rng)
        for name, entry in schema.get("properties", {}).items()
        if name in required or uniform(rng) < 0.5
    }


def _anything(rng: np.random.Generator) -> Any:
    kind = integer(rng, 0, 3)
    if kind == 0:
        return None
    return uniform(rng) < 0.5 if kind == 1 else integer(rng, 0, 1000) if kind == 2 else text(rng, 1, _MORE)


_DRAWERS: dict[str, Callable[[Mapping[str, Any], np.random.Generator], Any]] = {
    "string": _string,
    "integer": _whole_number,
    "number": _number,
    "boolean": lambda schema, rng: uniform(rng) < 0.5,
    "array": _array,
    "object": _object,
    "null": lambda schema, rng: None,
}


class _Parser:
    """Recursive descent over a regular expression; `ValueError` where it goes beyond the subset."""

    def __init__(self, pattern: str) -> None:
        self.rest = pattern

    def whole(self) -> Draw:
        drawer = self.alternatives()
        if self.rest:
            raise ValueError(f"cannot draw from {self.rest!r}")
        return drawer

    def alternatives(self) -> Draw:
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else lambda rng: pick(branches, rng)(rng)

    def sequence(self) -> Draw:
        parts: list[Draw] = []
        while self.rest and self.rest[0] not in "|)":
            if not (self.take("^") or self.take("$")):
                parts.append(self.repeated(self.atom()))
        return lambda rng: "".join(part(rng) for part in parts)

    def repeated(self, part: Draw) -> Draw:
        counted = re.match(r"\{(\d+)(,?)(\d*)\}[?+]?|([*+?])[?+]?", self.rest)
        if not counted:
            return part
        self.rest = self.rest[counted.end() :]
        if counted[4]:
            low, high = {"*": (0, _MORE), "+": (1, 1 + _MORE), "?": (0, 1)}[counted[4]]
        else:
            low = int(counted[1])
            high = low if not counted[2] else int(counted[3]) if counted[3] else low + _MORE
        return lambda rng: "".join(part(rng) for _ in range(integer(rng, low, high)))

    def atom(self) -> Draw:
        if self.take("("):
            if self.rest.startswith("?") and not self.take("?:"):
                raise ValueError("look-around and named groups are not drawn from")
            inner = self.alternatives()
            if not self.take(")"):
                raise ValueError("a group is not closed")
            return inner
        if self.take("["):
            return self.characters()
        letter = self.next()
        options = self.escaped() if letter == "\\" else _CLASSES["w"] if letter == "." else letter
        return lambda rng: pick(options, rng)

    def characters(self) -> Draw:
        negated, options = self.take("^"), ""
        while not self.take("]"):
            letter = self.next()
            found = self.escaped() if letter == "\\" else letter
            if len(found) == 1 and self.rest[:1] == "-" and self.rest[1:2] not in ("]", ""):
                self.next()
                last = self.next()
                last = self.escaped() if last == "\\" else last
                found = "".join(chr(code) for code in range(ord(found), ord(last) + 1))
            options += found
        if negated:
            options = "".join(c for c in _CLASSES["w"] + " -.,:;" if c not in options)
        if not options:
            raise ValueError("an empty class")
        return lambda rng: pick(options, rng)

    def escaped(self) -> str:
        letter = self.next()
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter.isalnum():
            raise ValueError(f"cannot draw from \\{letter}")
        return letter

    def take(self, prefix: str) -> bool:
        if not self.rest.startswith(prefix):
            return False
        self.rest = self.rest[len(prefix) :]
        return True

    def next(self) -> str:
        if not self.rest:
            raise ValueError("the pattern ends too early")
        letter, self.rest = self.rest[0], self.rest[1:]
        return letter
