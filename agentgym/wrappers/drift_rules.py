"""What a tool of a later version does differently: rules, the words of its documentation, and read back from them.

The rules are few and regular, as in a real migration, so that documentation can say them in a line: the tool has
another name; argument and field names are in camelCase; amounts are text; the result stands in ``data``; lists of the
result are left out unless asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_CASE = "are in camelCase"
AMOUNT = "_minor"
"""Fields whose name ends so are amounts."""
EXPAND = "expand"
PREFIX = "v2_"
"""Before the names of an interface whose spelling is drawn: it goes with any case, and comes off again."""

_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_CAMEL = re.compile(r"[a-z][a-z0-9]*(?:[A-Z0-9][a-z0-9]*)+")
_SENTENCE = re.compile(r"Version 2 of ((?:[A-Z]+ )?\S+): (.*?)\.(?:\s|$)")


@dataclass(frozen=True)
class Drift:
    """How one tool differs.

    Attributes:
        old: its name before; of an endpoint of an HTTP API its method and path.
        new: its name now.
        rename: names of arguments and fields are in camelCase, or with *prefix* begin with `PREFIX`.
        retype: amounts are text.
        nest: the result stands in ``data``.
        drop: lists of rows in the result are left out unless ``expand`` is true.
    """

    old: str
    new: str
    rename: bool = False
    retype: bool = False
    nest: bool = False
    drop: bool = False
    prefix: bool = False

    @property
    def sentence(self) -> str:
        """What the documentation says.

        >>> Drift("get_order", "fetch_order", nest=True).sentence
        'Version 2 of get_order: it is called fetch_order; the result stands in "data".'
        """
        parts = [f"it is called {self.new}"]
        parts += [f"names of arguments and fields {f'begin with {PREFIX}' if self.prefix else _CASE}"] * self.rename
        parts += [f"amounts (arguments and fields in minor units, {AMOUNT}) are text"] * self.retype
        parts += ['the result stands in "data"'] * self.nest
        parts += [f'lists of the result are left out unless "{EXPAND}" is true'] * self.drop
        return f"Version 2 of {self.old}: {'; '.join(parts)}."

    def name(self, key: str) -> str:
        """A name as it is now."""
        if not self.rename:
            return key
        return f"{PREFIX}{key}" if self.prefix else camel(key)

    def _old(self, name: str) -> str:
        if not self.rename:
            return name
        return name.removeprefix(PREFIX) if self.prefix else snake(name)

    def schema(self, function: Mapping[str, Any]) -> dict[str, Any]:
        """The function part of an OpenAI schema as it is now, without what the documentation says."""
        parameters = function["parameters"]
        properties = {self.name(key): self._property(key, entry) for key, entry in parameters["properties"].items()}
        if self.drop:
            properties[EXPAND] = {"type": "boolean", "description": "with the lists of the result", "default": False}
        required = [self.name(key) for key in parameters["required"]]
        return {
            **function,
            "name": self.new,
            "parameters": {**parameters, "properties": properties, "required": required},
        }

    def _property(self, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        if not (self.retype and key.endswith(AMOUNT)):
            return dict(entry)
        kept = {name: value for name, value in entry.items() if name in ("description", "default")}
        return {**kept, "type": "string", "pattern": "^(?:-?[0-9]{1,18})$"}

    def arguments(self, sent: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as they are now, of arguments as they were; *old* are the old ones' schemas."""
        found = {}
        for key, value in sent.items():
            text = self.retype and key.endswith(AMOUNT) and isinstance(value, int) and not isinstance(value, bool)
            found[self.name(key) if key in old else key] = str(value) if text else value
        return {**found, EXPAND: True} if self.drop else found

    def back(self, sent: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as they were, of arguments as they are now."""
        names = {self.name(key): key for key in old}
        found = {names.get(key, key): value for key, value in sent.items() if not (self.drop and key == EXPAND)}
        if self.retype:
            for key, value in found.items():
                if key.endswith(AMOUNT) and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
                    found[key] = int(value)
        return found

    def result(self, value: Any, expand: bool) -> Any:
        """A result as it is now."""
        if self.drop and not expand and isinstance(value, dict):
            value = {key: entry for key, entry in value.items() if not isinstance(entry, list)}
        value = self._walk(value)
        return {"version": 2, "data": value} if self.nest else value

    def _walk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {self.name(name): self._walk(entry, name) for name, entry in value.items()}
        if isinstance(value, list):
            return [self._walk(entry, key) for entry in value]
        amount = self.retype and key.endswith(AMOUNT) and isinstance(value, int) and not isinstance(value, bool)
        return str(value) if amount else value

    def original(self, value: Any) -> Any:
        """A result as it was, of one as it is now; what was left out stays out."""
        if self.nest and isinstance(value, dict) and "data" in value:
            value = value["data"]
        return self._unwalk(value)

    def _unwalk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            names = {name: self._old(name) for name in value}
            return {names[name]: self._unwalk(entry, names[name]) for name, entry in value.items()}
        if isinstance(value, list):
            return [self._unwalk(entry, key) for entry in value]
        amount = self.retype and key.endswith(AMOUNT) and isinstance(value, str)
        return int(value) if amount and re.fullmatch(r"-?[0-9]{1,18}", value) else value


def read_drifts(text: str) -> dict[str, Drift]:
    """The drifts that a text documents, by the old name.

    >>> read_drifts(Drift("get_order", "fetch_order", rename=True).sentence)["get_order"].new
    'fetch_order'
    """
    found = {}
    for old, said in _SENTENCE.findall(text):
        called = re.search(r"it is called ([^;]+)", said)
        if called:
            marks = {"retype": "are text", "nest": 'in "data"', "drop": "left out", "prefix": PREFIX}
            flags = {name: mark in said for name, mark in marks.items()}
            found[old] = Drift(old, called[1], rename="names of arguments" in said, **flags)
    return found


def camel(name: str) -> str:
    """``order_id`` → ``orderId``; what has no underscore between lower-case words stays.

    >>> camel("card_last4"), camel("status"), camel("EUR")
    ('cardLast4', 'status', 'EUR')
    """
    if not _SNAKE.fullmatch(name):
        return name
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def snake(name: str) -> str:
    """The inverse of `camel`.

    >>> snake("cardLast4"), snake("status"), snake("EUR")
    ('card_last4', 'status', 'EUR')
    """
    if not _CAMEL.fullmatch(name):
        return name
    return re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), name)
