"""What an agent without a model knows: the values it has seen, and which of them would suit a parameter of a tool."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

Json = dict[str, Any]
Schema = Mapping[str, Any]

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+\d[\d ]{5,18}\d")
_ID = re.compile(r"\b[A-Z]{1,4}-?\d[\w-]*\b")
_NUMBER = re.compile(r"(?<![\w.,-])\d{1,12}(?![\w-])")
_NAMES = re.compile(r"(?<=[\w,] )[A-Z][^\W\d_A-Z]+(?: [A-Z][^\W\d_A-Z]+)*")
_EXAMPLE = re.compile(r'e\.g\. "([A-Z]{1,4}-?\d+(?:-\d+)*)"')
_NAMED = ("name", "title")
_MOST_NAMES = 3
_MOST_CALLS = 400
"""So many combinations of arguments of one tool are looked at; the best of them come first."""
_MOST_FREE = 6
"""So many values of an argument that may be left out are tried, where that holds for most of them."""


class Known:
    """Every value seen in observations, in the order in which it was seen first.

    Attributes:
        values: key → the values seen under it; ``item_ids`` counts as ``item_id``. Numbers in texts stand under "".
        ids: what looks like an identifier, wherever it stood.
    """

    def __init__(self) -> None:
        self.values: dict[str, dict[Any, None]] = {}
        self.ids: dict[str, None] = {}
        self._places: dict[tuple[str, Any], set[int]] = {}
        self._records = 0
        self._forms: dict[str, tuple[int, list[str]]] = {}

    def learn(self, content: str) -> None:
        """Take in the content of an observation: JSON by its keys, anything else as words."""
        try:
            found = json.loads(content)
        except ValueError:
            found = content
        self.take(found)

    def take(self, value: Any) -> None:
        """Take in a value: an object by its keys, a text by its words."""
        self._walk(value, "")

    def _walk(self, value: Any, key: str) -> None:
        if isinstance(value, dict):
            self._records += 1
            place = self._records
            for name, entry in value.items():
                if isinstance(entry, str | int):
                    self._places.setdefault(_pair(name, entry), set()).add(place)
                self._walk(entry, name)
        elif isinstance(value, list):
            for entry in value:
                self._walk(entry, key.removesuffix("s"))
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            if key or not isinstance(value, str):
                self._keep(key, value)
            if isinstance(value, str):
                self._read(value)

    def _read(self, text: str) -> None:
        kept, ids = _found_in(text)
        for key, value in kept:
            self._keep(key, value)
        for value in ids:
            self.ids[value] = None

    def _keep(self, key: str, value: Any) -> None:
        self.values.setdefault(key, {})[value] = None

    def suitable(self, parameter: str, schema: Schema) -> list[Any]:
        """The values that a parameter could take, likely ones first; empty where nothing seen fits.

        Args:
            parameter: its name, compared with the keys of results.
            schema: its JSON schema; an enumeration gives all its values, an object its examples, a list what would suit
                an item, each alone.
        """
        if "enum" in schema:
            return [value for value in schema["enum"] if value is not None]
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if "array" in kinds:
            return [[value] for value in self.suitable(parameter.removesuffix("s"), schema.get("items", {}))]
        if "object" in kinds:
            return list(schema.get("examples", ()))
        found = dict(self.values.get(parameter, {}))
        if "integer" in kinds:
            for key in sorted(key for key in self.values if _unit(key) == _unit(parameter)):
                found.update(self.values[key])
            found.update(self.values.get("", {}))
            found.update({schema["minimum"]: None} if "minimum" in schema else {})
        elif "boolean" in kinds:
            return [True, False]
        elif "string" in kinds:
            form = _form(schema)
            if form:
                found.update(dict.fromkeys(self._formed(form)))
            if parameter in _NAMED:
                found = dict(list({**self.values.get("a name", {}), **found}.items())[:_MOST_NAMES])
        return [value for value in found if _fits(value, kinds, schema)]

    def _formed(self, form: str) -> list[str]:
        """The identifiers of a form; only those that came since the last time are looked at."""
        seen, found = self._forms.get(form, (0, []))
        if seen < len(self.ids):
            found += [value for value in itertools.islice(self.ids, seen, None) if _is_like(value, form)]
            self._forms[form] = (len(self.ids), found)
        return found

    def calls(self, parameters: Schema, text: str = "") -> list[Json]:
        """Arguments for a tool made of what is known, coherent ones (values that stood in one record) first.

        Args:
            parameters: JSON schema of the tool's arguments; with ``optional`` any of those that are not required may be
                left out, whatever they are called.
            text: stands in for a required text of which nothing is known and whose manual has no example; "" leaves out
                a tool that needs one.
        """
        return list(self.ways(parameters, text))

    def ways(self, parameters: Schema, text: str = "") -> Iterator[Json]:
        """Like `calls`, one by one, by what is known now: few are taken of many."""
        properties = parameters.get("properties", {})
        required = [name for name in properties if name in parameters.get("required", ())]
        options = {name: self.suitable(name, properties[name]) for name in properties}
        for name in required:
            if not options[name] and text:
                options[name] = _made_up(properties[name], text)
        base = self._combined({name: options[name] for name in required})
        first = list(itertools.islice(base, 8))
        free = bool(parameters.get("optional"))
        others = [name for name in properties if name not in required and ("_id" in name or not required or free)]
        most = _MOST_FREE if free else None
        widened = [
            {**arguments, name: value} for name in others for arguments in first for value in options[name][:most]
        ]
        if free:
            return itertools.chain(widened, first, base)
        return itertools.chain(first, base, widened) if required or not others else iter(widened)

    def _combined(self, options: Mapping[str, list[Any]]) -> Iterator[Json]:
        """Arguments of the first of the options, those first in which most pairs stood in one object of a result."""
        if not options:
            return iter([{}])
        most = max(2, int(_MOST_CALLS ** (1 / len(options))))
        if len(options) == 1:
            return iter([{name: value} for name, values in options.items() for value in values[:most]])
        ways = [[(value, self._place(name, value)) for value in values[:most]] for name, values in options.items()]
        products = sorted(itertools.product(*ways), key=_disorder)
        return (dict(zip(options, [value for value, _ in product], strict=True)) for product in products)

    def _place(self, key: str, value: Any) -> set[int] | None:
        """The objects in which an argument stood."""
        return self._places.get(_pair(key, value)) if isinstance(value, str | int) else None


def _disorder(product: Iterable[tuple[Any, set[int] | None]]) -> int:
    """Minus the number of pairs of arguments that stood together in one object of a result."""
    places = [place for _, place in product if place is not None]
    if len(places) == 2:
        return -1 if not places[0].isdisjoint(places[1]) else 0
    return -sum(not one.isdisjoint(two) for one, two in itertools.combinations(places, 2))


@lru_cache(maxsize=1 << 14)
def _found_in(text: str) -> tuple[list[tuple[str, Any]], list[str]]:
    """What a text holds: (key, value) of addresses, numbers and names; and what looks like an identifier."""
    kept: list[tuple[str, Any]] = [("email", found) for found in _EMAIL.findall(text)]
    kept += [("phone", found) for found in _PHONE.findall(text)]
    kept += [("", int(number)) for number in _NUMBER.findall(text)]
    kept += [("a name", name) for name in (_NAMES.findall(text) if " " in text else ())]
    return kept, _ID.findall(text)


@lru_cache(maxsize=1 << 16)
def _is_like(value: str, form: str) -> bool:
    return re.fullmatch(form, value) is not None


def _made_up(schema: Schema, text: str) -> list[Any]:
    """A value for a parameter of which nothing is known: an example of the manual, else *text* for a text."""
    if "examples" in schema:
        return list(schema["examples"])
    if schema.get("type") != "string":
        return []
    example = _EXAMPLE.search(schema.get("description", ""))
    return [example[1] if example else text]


def _unit(key: str) -> str:
    """``amount_minor`` and ``unit_price_minor`` are of one kind."""
    return key.rpartition("_")[2]


def _pair(key: str, value: Any) -> tuple[str, Any]:
    return (_unit(key) if isinstance(value, int) else key), value


def _form(schema: Schema) -> str:
    """The form of an identifier: the schema's pattern, else read off the example in its description, else ""."""
    if "pattern" in schema:
        return str(schema["pattern"])
    example = _EXAMPLE.search(schema.get("description", ""))
    return re.sub(r"\d+", r"\\d+", example[1]) if example else ""


def _fits(value: Any, kinds: list[str], schema: Schema) -> bool:
    if isinstance(value, str):
        long_enough = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        return "string" in kinds and long_enough and ("pattern" not in schema or _is_like(value, schema["pattern"]))
    right = "number" in kinds or ("integer" in kinds and isinstance(value, int))
    return right and bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
