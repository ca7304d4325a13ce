"""Reads an HTTP API's OpenAPI document and uses the API by it: for agents that never saw the API before.

Nothing is known by its name. Operations are found by the sentence that says what they do, parameters and fields by
the one that says what they are, formats by the one that says how they are written. What is relied upon: the tools
``list_docs``, ``read_docs`` and ``http_request``, a section whose title says that it is the OpenAPI document, and those
sentences, which stay the same however the API is spelt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from agentgym.baselines._api_formats import Format

Json = dict[str, Any]
Call = Callable[[str, Json], Json]

TOOLS = frozenset({"list_docs", "read_docs", "http_request"})
"""What an environment must offer to be read in this way."""

_CURRENCY, _SIZE, _VERSION = "ISO 4217", "records a page", "the version that was read"


@dataclass(frozen=True, eq=False)
class Param:
    """A parameter: where it stands (``path``, ``query``, ``header``, ``body``), what it is, how it is written."""

    name: str
    place: str
    text: str
    required: bool
    schema: Mapping[str, Any]
    format: Format


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of the document.

    Attributes:
        name: its ``operationId``.
        method, path, text: as the document has them; *text* is what it does.
        params: all that it takes, those of a list's pages apart.
        record: name of the schema of what it gives.
        key: under which that stands in an answer, "" for the whole.
        many: a list of such records comes in pages.
        size, place, total, following: names of the parameters of pages and of the fields or headers about them.
        largest: records a page, at most.
        first, by: number of the first page, and whether pages go by ``number``, ``offset`` or ``cursor``.
    """

    name: str
    method: str
    path: str
    text: str
    params: tuple[Param, ...]
    record: str
    key: str
    many: bool = False
    size: str = ""
    place: str = ""
    total: str = ""
    following: str = ""
    largest: int = 0
    first: int = 1
    by: str = "number"

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"


@dataclass(frozen=True)
class Answer:
    """What came back: HTTP status (999 where it is no answer of an API), headers, body, and the observation's text."""

    status: int
    headers: Mapping[str, str]
    body: Any
    content: str

    @property
    def ok(self) -> bool:
        """Whether the request was granted."""
        return self.status < 400


@dataclass(eq=False)
class Document:
    """An OpenAPI document, made ready: its operations, and the fields of its records with their formats."""

    operations: list[Operation]
    records: Mapping[str, list[tuple[str, str, Format]]]
    found: dict[str, Operation] = field(default_factory=dict)

    def operation(self, words: str) -> Operation:
        """The only operation in whose sentence these words stand.

        Raises:
            LookupError: none, or several.
        """
        if words not in self.found:
            fits = [operation for operation in self.operations if words.casefold() in operation.text.casefold()]
            if len(fits) != 1:
                raise LookupError(f"{len(fits)} operations are described by {words!r}, expected one")
            self.found[words] = fits[0]
        return self.found[words]

    def record(self, operation: Operation, shown: Mapping[str, Any]) -> Json:
        """A record by what its fields are: sentence → meaning. Fields that are not documented are left out."""
        fields = self.records[operation.record]
        currency = next((shown.get(name, "") for name, text, _ in fields if text.startswith(_CURRENCY)), "")
        return {text: form.read(shown.get(name), currency) for name, text, form in fields}


class ApiReader:
    """An API as an agent gets to know it.

    Args:
        call: calls a tool and gives the observation. The list of sections and the document are read here, two calls.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        listed = json.loads(call("list_docs", {})["content"])
        self.sections: dict[str, str] = {entry["title"]: entry["section"] for entry in listed["sections"]}
        self._pages: dict[str, str] = {}
        self.document = _document(self.page("OpenAPI document"))

    def page(self, words: str) -> str:
        """The text of the section in whose title these words stand; read once.

        Raises:
            LookupError: none.
        """
        if words not in self._pages:
            found = [section for title, section in self.sections.items() if words.casefold() in title.casefold()]
            if not found:
                raise LookupError(f"no section is about {words!r}")
            self._pages[words] = str(self._call("read_docs", {"section": found[0]})["content"])
        return self._pages[words]

    def value(self, page: str, meaning: str) -> str:
        """The value of an enumeration that has this meaning on a page.

        Raises:
            LookupError: none.
        """
        found = re.search(rf"^- `([^`]+)`: {re.escape(meaning)}", self.page(page), re.MULTILINE)
        if found is None:
            raise LookupError(f"no value on the page about {page!r} means {meaning!r}")
        return found[1]

    def request(self, operation: Operation, given: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Json:
        """The arguments of ``http_request``.

        Args:
            operation: which one.
            given: name of a parameter → its value as shown.
            extra: parameters of pages.
        """
        path, parts = operation.path, {"query": dict(extra or {}), "headers": {}, "body": {}}
        for param in operation.params:
            value = given.get(param.name)
            if value is None:
                continue
            if param.place == "path":
                path = path.replace("{" + param.name + "}", quote(str(value), safe=""))
            else:
                parts["headers" if param.place == "header" else param.place][param.name] = value
        takes_body = any(param.place == "body" for param in operation.params)
        sent = {name: part for name, part in parts.items() if part or (name == "body" and takes_body)}
        return {"method": operation.method, "path": path, **sent}

    def send(self, operation: Operation, given: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Answer:
        """Make a request; where there have been too many, wait as long as the answer says and make it again."""
        for _ in range(3):
            answer = answered(self._call("http_request", self.request(operation, given, extra))["content"])
            if answer.status != 429:
                break
            self._call("wait", {"seconds": int(answer.headers.get("Retry-After", 60))})
        return answer

    def said(self, operation: Operation, given: Mapping[str, Any], currency: str = "") -> Json:
        """Arguments by what their parameters are → by their names and as shown.

        Args:
            operation: which one.
            given: beginning of the parameter's sentence → value; None is left out. The most telling one goes first.
            currency: of an amount.

        Raises:
            LookupError: the operation has no such parameter.
        """
        shown: Json = {}
        for text, value in given.items():
            params = [param for param in operation.params if param.text.startswith(text) and param.name not in shown]
            if not params:
                raise LookupError(f"{operation.name} takes nothing that is {text!r}")
            if value is not None:
                shown[params[0].name] = params[0].format.write(value, currency)
        return shown

    def one(self, operation: Operation, given: Mapping[str, Any]) -> Json | None:
        """The record that an operation gives, None where the API refuses."""
        answer = self.send(operation, self.said(operation, given))
        return self.document.record(operation, _under(answer.body, operation.key)) if answer.ok else None

    def rows(self, operation: Operation, given: Mapping[str, Any], most: int = 100_000) -> list[Json] | None:
        """The records of a list, page after page; None where the API refuses.

        Args:
            operation: which one.
            given: as for `said`.
            most: pages at most; with one, the list is asked for as it comes by default.
        """
        shown, rows = self.said(operation, given), list[Json]()
        extra: Json = {operation.size: operation.largest} if most > 1 else {}
        for number in range(most):
            answer = self.send(operation, shown, extra)
            if not answer.ok:
                return None
            found = _under(answer.body, operation.key)
            rows += [self.document.record(operation, row) for row in found]
            following = _deep(answer.body, operation.following) if operation.by == "cursor" else None
            if not found or len(rows) >= _total(operation, answer) or (operation.by == "cursor" and not following):
                break
            extra = _next(operation, number + 1, extra.get(operation.size, len(found)), following)
        return rows


def _next(operation: Operation, number: int, size: int, following: Any) -> Json:
    if operation.by == "cursor":
        return {operation.place: following}
    place = number * size if operation.by == "offset" else operation.first + number
    return {operation.place: place, operation.size: size}


def answered(content: str) -> Answer:
    """What an observation of ``http_request`` says."""
    try:
        found = json.loads(content)
        return Answer(int(found["status"]), dict(found.get("headers") or {}), found.get("body"), content)
    except (ValueError, TypeError, KeyError):
        return Answer(999, {}, None, content)


def _under(body: Any, key: str) -> Any:
    return body[key] if key else body


def _deep(value: Any, key: str) -> Any:
    """What stands under a key, at the top or one object below."""
    if not isinstance(value, dict):
        return None
    inner = [part for part in value.values() if isinstance(part, dict)]
    return next((part[key] for part in [value, *inner] if key in part), None)


def _total(operation: Operation, answer: Answer) -> int:
    found = answer.headers.get(operation.total) or _deep(answer.body, operation.total)
    return int(found or 0)


# The document.


@lru_cache(maxsize=8)
def _document(text: str) -> Document:
    """The document ready for use; the same text, as from episode to episode of one API, is taken apart once."""
    document = json.loads(text)
    schemas = document["components"]["schemas"]
    records = {
        name: [(key, each.get("description", ""), _format(each, schemas)) for key, each in schema["properties"].items()]
        for name, schema in schemas.items()
        if "properties" in schema and not name.startswith("kind.")
    }
    operations = [
        _operation(path, method, spec, schemas)
        for path, methods in document["paths"].items()
        for method, spec in methods.items()
    ]
    return Document(operations, records)


def resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name that a schema goes by ("" for none) and what it is, apart from that it may be null."""
    if "anyOf" in schema:
        return resolved(schema["anyOf"][0], schemas)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return name, schemas[name]
    return "", schema


def _format(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Format:
    name, found = resolved(schema, schemas)
    return Format(name.removeprefix("kind."), found)


def _operation(path: str, method: str, spec: Json, schemas: Mapping[str, Any]) -> Operation:
    body = spec.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    params = [
        Param(each["name"], each["in"], each.get("description", ""), each["required"], *_both(each["schema"], schemas))
        for each in spec["parameters"]
    ]
    params += [
        Param(name, "body", each.get("description", ""), name in body.get("required", ()), *_both(each, schemas))
        for name, each in body.get("properties", {}).items()
    ]
    good = next(answer for status, answer in spec["responses"].items() if status.startswith("2"))
    schema = good["content"]["application/json"]["schema"]
    key, found = _place_of_record(schema)
    name = found.get("items", found)["$ref"].rpartition("/")[2]
    paging: Json = {}
    if found.get("type") == "array":
        paging = _paging(spec, good, schema)
        params = [param for param in params if param.name not in (paging["size"], paging["place"])]
    return Operation(spec["operationId"], method.upper(), path, spec["summary"], tuple(params), name, key, **paging)


def _both(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Mapping[str, Any], Format]:
    return resolved(schema, schemas)[1], _format(schema, schemas)


def _place_of_record(schema: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Under which key of an answer its record or records stand, and their schema."""
    if "$ref" in schema or schema.get("type") == "array":
        return "", schema
    options = schema["properties"].items()
    return next((key, part) for key, part in options if "$ref" in part or part.get("type") == "array")


def _paging(spec: Json, good: Json, schema: Mapping[str, Any]) -> Json:
    """How the pages of a list are asked for."""
    of_pages = [each for each in spec["parameters"] if "description" not in each]
    size = next(each for each in of_pages if each["schema"]["description"] == _SIZE)
    place = next(each for each in of_pages if each is not size)
    said = place["schema"]["description"]
    by = "cursor" if place["schema"]["type"] == "string" else "offset" if "multiple" in said else "number"
    known = {size["name"], place["name"]}
    counts = {**{name: each["schema"] for name, each in good.get("headers", {}).items()}, **dict(_flat(schema))}
    total = next(name for name, each in counts.items() if each.get("type") == "integer" and name not in known)
    following = re.match(r"the (.+) of the page before", said)
    return {
        "many": True,
        "size": size["name"],
        "place": place["name"],
        "total": total,
        "following": following[1] if following else "",
        "largest": int(size["schema"]["maximum"]),
        "first": int(place["schema"].get("minimum", 1)),
        "by": by,
    }


def _flat(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The properties of an answer, those one object below included."""
    for name, each in schema.get("properties", {}).items():
        yield name, each
        yield from _flat(each)
