"""A style made ready for use: each endpoint's parameters with their codecs, and the tree that finds it by its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from agentgym.envs.hr.arranging import arrangement
from agentgym.envs.hr.endpoints import BY_TOOL, Endpoint
from agentgym.envs.hr.filled import Filled
from agentgym.envs.hr.formats import (
    DIGITS,
    LARGEST_INT,
    LARGEST_MONEY,
    LONGEST_ID,
    LONGEST_TEXT,
    PRINTED,
    Codec,
    Wrong,
    bool_codec,
    date_codec,
    decimal,
    enum_codec,
    hundredths_codec,
    ids_codec,
    int_codec,
    minutes_codec,
    moment_codec,
    month_codec,
    text_codec,
    undecimal,
    writer_of,
)
from agentgym.envs.hr.layout import Route
from agentgym.envs.hr.records import RECORDS, Field
from agentgym.envs.hr.style import Style
from agentgym.envs.hr.words import plural

Encode = Callable[[Mapping[str, Any]], dict[str, Any]]
LONGEST_KEY, LARGEST_PAGE_NUMBER = 64, 100_000


class Param(NamedTuple):
    """A parameter as the API has it: canonical name, shown name, and how its value is written."""

    name: str
    shown: str
    codec: Codec
    required: bool
    text: str
    kind: str


class Column(NamedTuple):
    """A field of a record as the API has it."""

    name: str
    shown: str
    codec: Codec
    encode: Callable[[Any], Any] | None
    money: bool
    keep_null: bool
    optional: bool


@dataclass(frozen=True, eq=False)
class Operation:
    """One endpoint in one style.

    Attributes:
        endpoint, route: what and where.
        path: parameters in the path, in order.
        query, body: shown name → parameter; *body* is empty where the request has none.
        version, key: how the version and the idempotency key are given, None where there is none; their places are the
            style's, but for a version that a deletion takes in the query.
        version_place: ``header``, ``query`` or ``body``.
    """

    endpoint: Endpoint
    route: Route
    path: tuple[Param, ...]
    query: Mapping[str, Param]
    body: Mapping[str, Param]
    version: Param | None
    version_place: str
    key: Param | None


class Money:
    """How amounts are written; what they are in minor units depends on the currency."""

    def __init__(self, style: Style) -> None:
        self.form = style.formats["money"]
        self.amount, self.currency = style.names.fields["amount"], style.names.fields["currency"]

    def encode(self, value: int, currency: str) -> Any:
        """The minor units *value* as shown."""
        if self.form == "minor":
            return value
        text = decimal(value, DIGITS.get(currency, 2))
        return text if self.form == "decimal" else {self.amount: text, self.currency: currency}

    def decode(self, shown: Any, currency: str) -> int:
        """The inverse of `encode`.

        Raises:
            Wrong: *shown* is no amount in *currency*.
        """
        if self.form == "minor":
            return int(self.codec.decode(shown))
        if self.form == "object":
            if not isinstance(shown, dict) or set(shown) != {self.amount, self.currency}:
                raise Wrong
            shown = shown[self.amount]
        return undecimal(shown, DIGITS.get(currency, 2))

    @cached_property
    def codec(self) -> Codec:
        """Schema, expectation and example; it decodes only minor units."""
        whole = int_codec(
            -LARGEST_MONEY, LARGEST_MONEY, "minor units, a whole number: 123450 means EUR 1234.50", 123450
        )
        if self.form == "minor":
            return whole
        amount = {"type": "string", "pattern": "^-?[0-9]{1,12}([.][0-9]{1,3})?$"}
        if self.form == "decimal":
            return whole._replace(wire="string", schema=amount, expects='a decimal text such as "1234.50"')
        code = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT, "pattern": PRINTED}
        schema = {
            "type": "object",
            "properties": {self.amount: amount, self.currency: code},
            "required": [self.amount, self.currency],
            "additionalProperties": False,
        }
        expects = f'an object such as {{"{self.amount}": "1234.50", "{self.currency}": "EUR"}}'
        return whole._replace(wire="object", schema=schema, expects=expects)


class Node:
    """A place in the tree of paths: literal segments, a parameter (by what follows it, ":verb" or ""), tools."""

    __slots__ = ("literal", "methods", "parameter")

    def __init__(self) -> None:
        self.literal: dict[str, Node] = {}
        self.parameter: dict[str, Node] = {}
        self.methods: dict[str, str] = {}


class Api:
    """Everything that a style needs at run time."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.money = Money(style)
        self.encoders: dict[str, Encode] = {}
        self._columns: dict[str, tuple[Column, ...]] = {}
        self._codecs: dict[str, Codec] = dict(_CODECS)
        self._writers: dict[str, Callable[[Any], Any] | None] = dict.fromkeys(_CODECS)
        self.operations: Mapping[str, Operation] = Filled(BY_TOOL, lambda tool: self._operation(BY_TOOL[tool]))

    @cached_property
    def root(self) -> Node:
        """The tree of paths."""
        root = Node()
        for tool, route in self.style.routes.items():
            _plant(root, tool, route)
        return root

    def codec(self, kind: str) -> Codec:
        """The codec of a kind of field."""
        found = self._codecs.get(kind)
        if found is None:
            found = self._codecs[kind] = self._codec(kind)
        return found

    def _codec(self, kind: str) -> Codec:
        formats = self.style.formats
        if kind == "money":
            return self.money.codec
        if kind == "moment":
            return _moment(formats["moment"], formats["date"])
        make = _FORMED.get(kind)
        return enum_codec(self.style.names.values[kind.removeprefix("enum:")]) if make is None else make(formats[kind])

    def writer(self, kind: str) -> Callable[[Any], Any] | None:
        """What writes the values of a kind, None where they stay as they are."""
        known = self._writers
        if kind in known:
            return known[kind]
        if kind.startswith("enum:") and kind not in self._codecs:
            # An answer needs no more of an enumeration.
            found = writer_of(self.style.names.values[kind.removeprefix("enum:")])
        else:
            found = self.codec(kind).encode
        known[kind] = found
        return found

    def columns(self, record: str) -> tuple[Column, ...]:
        """The fields of a record; made when they are first asked for, since an episode sees few records."""
        found = self._columns.get(record)
        if found is None:
            found = self._columns[record] = tuple(self._column(field) for field in RECORDS[record])
        return found

    def single_key(self, record: str) -> str:
        """The key under which one record stands, "" for none."""
        key = self.style.envelope.single
        return self.style.names.records[record] if key == "named" else key

    def many_key(self, record: str) -> str:
        """The key under which the records of a list stand."""
        key = self.style.envelope.many
        return plural(self.style.names.records[record]) if key == "named" else key

    def bare_list(self) -> bool:
        """Whether a list is an array and nothing around it."""
        style = self.style
        return style.paging.kind == "link" and not style.envelope.single and not style.envelope.constants

    def _column(self, field: Field) -> Column:
        codec, money = self.codec(field.kind), field.kind == "money"
        keep = not self.style.omit_nulls or field.confidential
        optional = field.confidential or (field.nullable and not keep)
        return Column(field.name, self.style.names.fields[field.name], codec, codec.encode, money, keep, optional)

    def _operation(self, endpoint: Endpoint) -> Operation:
        style = self.style
        arranged = arrangement(style, endpoint.tool)
        placed: dict[str, dict[str, Param]] = {"path": {}, "query": {}, "body": {}, "header": {}}
        version = key = None
        for slot in arranged.slots:
            shown = slot.shown(style)
            # A list that is sent names somebody, one that is answered may be empty.
            codec = _IDS_SENT if slot.kind == "ids" else self.codec(slot.kind)
            param = placed[slot.place][shown] = Param(slot.name, shown, codec, slot.required, slot.text, slot.kind)
            if slot.kind == "version":
                version = param
            elif slot.kind == "key":
                key = param
        return Operation(
            endpoint,
            style.routes[endpoint.tool],
            tuple(placed["path"].values()),
            placed["query"],
            placed["body"],
            version,
            arranged.version_place,
            key,
        )


def _plant(node: Node, tool: str, route: Route) -> None:
    for segment in route.segments:
        if segment[0] == "{":
            suffix = segment.rpartition("}")[2]
            below = node.parameter.get(suffix)
            if below is None:
                below = node.parameter[suffix] = Node()
                if len(node.parameter) > 1:
                    # The bare parameter comes last: it would take the verb behind an id for a part of it.
                    node.parameter = dict(sorted(node.parameter.items(), reverse=True, key=_first))
        else:
            below = node.literal.get(segment)
            if below is None:
                below = node.literal[segment] = Node()
        node = below
    node.methods[route.method] = tool


_CODECS: Mapping[str, Codec] = {
    "id": text_codec(LONGEST_ID, "an id, a text", "E1042"),
    "text": text_codec(LONGEST_TEXT, f"a text of 1 to {LONGEST_TEXT} characters", "text"),
    "int": int_codec(-LARGEST_INT, LARGEST_INT, "a whole number", 3),
    "ids": ids_codec(),
    "version": int_codec(0, LARGEST_INT, "the version, a whole number", 3),
    "key": text_codec(LONGEST_KEY, f"a text of 1 to {LONGEST_KEY} characters", "8f14e45f"),
}
"""Kind → codec, of those that are the same in every style."""

_FORMED: Mapping[str, Callable[[str], Codec]] = {
    "bool": bool_codec,
    "date": date_codec,
    "month": month_codec,
    "minutes": minutes_codec,
    "hundredths": hundredths_codec,
}
"""Kind → what makes the codec from the format."""

_IDS_SENT = ids_codec(least=1)


@lru_cache(maxsize=64)
def _moment(form: str, day: str) -> Codec:
    return moment_codec(form, date_codec(day))


def _first(pair: tuple[str, Node]) -> str:
    return pair[0]


@lru_cache(maxsize=1024)
def api(style: Style) -> Api:
    """The style made ready for use."""
    return Api(style)
