"""Typed equality of what an author expects with what an agent, or a query, gave.

`Comparator` is the declaration in a scenario file, `compare` the same rule for a value that is only known later. Both
are pure and never raise on what was found: anything that is not exactly the expected value of the declared type is a
mismatch.

========= =====================================================================================================
type      equal to the expected value
========= =====================================================================================================
text      the same string after NFC and trimming
id        the same string; an int never equals an id, leading zeros count
int       the same int; a float with the same whole value too (models write 5.0); never a bool or a string
number    an int or finite float within the absolute `tolerance` (none: equal); never a bool or a string
money     int of minor units · float or text in major units ("1,234.50", "12.5 EUR") · {"amount_minor", "currency"}
bool      the same bool; from SQL also 0 and 1
null      None
date      an ISO date or time at the same instant; no zone is UTC, no time is midnight
set       a list with the same members, in any order, repeats ignored
multiset  a list with the same members as often, in any order
list      a list with the same members in order
object    an object whose declared fields match; others may be there unless `closed`
json      the same JSON value, numbers by value, true is not 1
one_of    what any of the comparators in `any_of` accepts
========= =====================================================================================================
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agentgym.mentions import CURRENCIES, exponent, read_money

__all__ = ["MISSING", "Comparator", "Expected", "ValueType", "canonical", "compare"]


class _Missing(Enum):
    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing.MISSING
"""What is not there at all, as against null. It matches nothing."""

ValueType = Literal[
    "text",
    "id",
    "int",
    "number",
    "money",
    "bool",
    "null",
    "date",
    "set",
    "multiset",
    "list",
    "object",
    "json",
    "one_of",
]
_COLLECTIONS: Final = ("set", "multiset", "list")
_STRUCTURED: Final = (*_COLLECTIONS, "object")
_MANY: Final = 10_000
"""More members than this never match: an agent's list must not cost the judge seconds."""
_EXACT: Final = Context(prec=1400, traps=[])
_ISO: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]{1,6})?(?:(Z)|([+-])([0-9]{2}):?([0-9]{2}))?)?"
)
_EPOCH: Final = datetime(1970, 1, 1)


class Comparator(BaseModel):
    """A typed expected value. Without `value` it is a template for the members or fields of an enclosing comparator.

    Attributes:
        type: How to compare; see the module's table.
        value: What is expected; minor units for money, an ISO string for date.
        currency: ISO code, for money.
        tolerance: Absolute, ≥ 0, for number.
        items: Template of each member, for set, multiset, list.
        fields: Comparator by field, for object; templates when `value` gives the fields.
        closed: Whether an object may have no other fields.
        any_of: The accepted alternatives, for one_of.

    Example:
        >>> Comparator(type="money", value=123450, currency="EUR").matches("1.234,50 €")
        True
        >>> Comparator(type="set", items=Comparator(type="id"), value=["A1", "A2"]).matches(["A2", "A1", "A2"])
        True
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: ValueType
    value: Any = MISSING
    currency: str | None = None
    tolerance: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    items: Comparator | None = None
    fields: dict[str, Comparator] = {}  # noqa: RUF012  (pydantic copies defaults)
    closed: bool = False
    any_of: list[Comparator] = []  # noqa: RUF012

    @model_validator(mode="before")
    @classmethod
    def _dates_as_text(cls, data: Any) -> Any:
        """YAML reads 2026-03-14 as a date; the declaration keeps it as text."""
        if isinstance(data, dict) and data.get("type") == "date" and isinstance(data.get("value"), date):
            return {**data, "value": data["value"].isoformat()}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Comparator:
        _check_options(self)
        _check_nested(self)
        if self.value is not MISSING:
            _check_value(self, self.value)
        return self

    @property
    def has_value(self) -> bool:
        """Whether it says what is expected by itself, that is, whether it is no template."""
        if self.type in ("null", "one_of"):
            return True
        return self.value is not MISSING or (self.type == "object" and all(f.has_value for f in self.fields.values()))

    def matches(self, found: object, *, sql: bool = False) -> bool:
        """Whether `found` is the expected value.

        Args:
            found: Any JSON value, or MISSING; with `sql`, a value as SQLite returns it.
            sql: Read 0 and 1 as bools, and JSON text as the structured types.

        Raises:
            ValueError: If this is a template; never because of `found`.
        """
        if not self.has_value:
            raise ValueError(f"comparator of type {self.type!r} has no value; expected `value` to be given")
        return _match(self, self.value, found, sql)


def _complete(spec: Comparator) -> Comparator:
    if not spec.has_value:
        raise ValueError(f"found a {spec.type} comparator without value, expected `value`")
    return spec


Expected = Annotated[Comparator, AfterValidator(_complete)]
"""A comparator that says what it expects: the type for a field of a scenario model."""


def _check_options(spec: Comparator) -> None:
    """Each option belongs to certain types; raises ValueError for one that would be ignored."""
    owners: dict[str, tuple[bool, tuple[str, ...]]] = {
        "currency": (spec.currency is not None, ("money",)),
        "tolerance": (spec.tolerance is not None, ("number",)),
        "items": (spec.items is not None, _COLLECTIONS),
        "fields": (bool(spec.fields), ("object",)),
        "closed": (spec.closed, ("object",)),
        "any_of": (bool(spec.any_of), ("one_of",)),
    }
    for option, (given, types) in owners.items():
        if given and spec.type not in types:
            raise ValueError(f"{option}: found it with type {spec.type!r}, expected it only with {' or '.join(types)}")
    required = {"money": "currency", "one_of": "any_of", "object": "fields", **dict.fromkeys(_COLLECTIONS, "items")}
    option = required.get(spec.type, "")
    if option and not owners[option][0]:
        raise ValueError(f"{option}: found none, expected one with type {spec.type!r}")
    if spec.currency is not None and spec.currency not in CURRENCIES:
        raise ValueError(f"currency: found {spec.currency!r}, expected an ISO 4217 code such as 'EUR'")


def _check_nested(spec: Comparator) -> None:
    if spec.items is not None and spec.items.value is not MISSING:
        raise ValueError(
            "items.value: found a value, expected a template; the members stand in `value` of the collection"
        )
    if spec.type == "one_of":
        if spec.value is not MISSING:
            raise ValueError(
                f"value: found {_short(spec.value)} with type 'one_of', expected alternatives in `any_of` only"
            )
        if not all(each.has_value for each in spec.any_of):
            raise ValueError("any_of: found an alternative without value, expected each to have one")
    if spec.type == "object" and spec.value is MISSING:
        with_value = [field.has_value for name, field in spec.fields.items() if field.type != "null"]
        if any(with_value) and not all(with_value):
            lacking = next(name for name, field in spec.fields.items() if not field.has_value)
            raise ValueError(f"fields.{lacking}: found no value, expected one as its siblings have one")
    if spec.type == "object" and isinstance(spec.value, dict):
        double = [name for name, field in spec.fields.items() if field.value is not MISSING]
        unknown = [name for name in spec.value if name not in spec.fields]
        if double:
            raise ValueError(f"fields.{double[0]}.value: found a second value, expected only the one in `value`")
        if unknown:
            raise ValueError(f"value.{unknown[0]}: found a field without comparator, expected it in `fields`")


def _check_value(spec: Comparator, value: Any) -> None:
    """Raise ValueError unless `value` can be expected by `spec`."""
    if spec.type in _COLLECTIONS:
        if not isinstance(value, list):
            raise ValueError(f"value: found {_short(value)}, expected a list with type {spec.type!r}")
        for member in value:
            _check_value(cast("Comparator", spec.items), member)
    elif spec.type == "object":
        if not isinstance(value, dict) or any(
            name not in value for name in spec.fields if spec.fields[name].type != "one_of"
        ):
            raise ValueError(
                f"value: found {_short(value)}, expected an object with the fields {', '.join(spec.fields)}"
            )
        for name, field in spec.fields.items():
            if name in value:
                _check_value(field, value[name])
    elif spec.type == "json":
        try:
            canonical(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"value: found {_short(value)}, expected JSON: {error}") from error
    elif spec.type == "null":
        if value is not None:
            raise ValueError(f"value: found {_short(value)}, expected null or nothing with type 'null'")
    elif not isinstance(value, _PYTHON[spec.type]) or (isinstance(value, bool) and spec.type != "bool"):
        raise ValueError(f"value: found {_short(value)}, expected {_WORDING[spec.type]}")
    elif _key(spec.type, spec.currency, value, False) is None:
        raise ValueError(f"value: found {_short(value)}, expected {_WORDING[spec.type]}")


_PYTHON: Final[dict[str, tuple[type, ...]]] = {
    "text": (str,), "id": (str,), "date": (str,), "int": (int,), "number": (int, float), "money": (int,),
    "bool": (bool,),
    "one_of": (),
}  # fmt: skip
_WORDING: Final = {
    "text": "a string", "id": "a string (quote it: ids keep their leading zeros)", "date": "an ISO date or time",
    "int": "an int",
    "number": "a finite number", "money": "an int of minor units", "bool": "true or false",
    "one_of": "no value outside `any_of`",
}  # fmt: skip


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def compare(
    expected: Any,
    found: object,
    type: ValueType,
    *,
    tolerance: float | None = None,
    currency: str | None = None,
    sql: bool = False,
) -> bool:
    """Whether `found` equals `expected` by the rule of a type; members of a set, multiset or list compare as JSON.

    Args:
        expected: The author's value, or one that gold or a query produced.
        found: Any JSON value, or MISSING; never raises because of it.
        type: One of `ValueType`, except object and one_of, which need a `Comparator`.
        tolerance: Absolute, for number.
        currency: ISO code, for money.
        sql: As in `Comparator.matches`.

    Raises:
        ValueError: If the type needs a Comparator, an option does not fit it, or `expected` is no value of it.

    Example:
        >>> compare(1250, "12.5 EUR", "money", currency="EUR"), compare("007", 7, "id"), compare(5, True, "int")
        (True, False, False)
    """
    if type in ("object", "one_of"):
        raise ValueError(f"compare() cannot take type {type!r}; expected a Comparator, which declares its parts")
    spec = _template(type, tolerance, currency)
    _check_value(spec, expected)
    return _match(spec, expected, found, sql)


@lru_cache(maxsize=256)
def _template(type: ValueType, tolerance: float | None, currency: str | None) -> Comparator:
    items = Comparator(type="json") if type in _COLLECTIONS else None
    return Comparator(type=type, tolerance=tolerance, currency=currency, items=items)


def _match(spec: Comparator, expected: Any, found: object, sql: bool) -> bool:
    if found is MISSING:
        return False
    if spec.type == "one_of":
        return any(each.matches(found, sql=sql) for each in spec.any_of)
    if spec.type == "null":
        return found is None
    if sql and isinstance(found, str) and _in_json_text(spec, expected):
        # What stands in JSON text is JSON: its bools are bools. A text beside a scalar of type json is just a text.
        found, sql = _loads(found), False
    if spec.type == "number" and spec.tolerance:
        return _near(expected, found, spec.tolerance)
    if spec.type == "json":
        return _same_json(expected, found)
    if spec.type == "object":
        return _match_object(spec, expected, found, sql)
    if spec.type in _COLLECTIONS:
        return isinstance(found, (list, tuple)) and len(found) <= _MANY and _match_members(spec, expected, found, sql)
    wanted = _key(spec.type, spec.currency, expected, False)
    return wanted is not None and wanted == _key(spec.type, spec.currency, found, sql)


def _in_json_text(spec: Comparator, expected: object) -> bool:
    return spec.type in _STRUCTURED or isinstance(expected, (dict, list))


def _match_object(spec: Comparator, expected: Any, found: object, sql: bool) -> bool:
    if not isinstance(found, dict) or (spec.closed and len(found) != len(spec.fields)):
        return False
    values = expected if isinstance(expected, dict) else {}
    for name, field in spec.fields.items():
        if not _match(field, values.get(name, field.value), found.get(name, MISSING), sql):
            return False
    return True


def _match_members(spec: Comparator, expected: Sequence[Any], found: Sequence[object], sql: bool) -> bool:
    item = cast("Comparator", spec.items)
    if spec.type != "set" and len(expected) != len(found):
        return False
    if spec.type == "list":
        return all(_match(item, want, have, sql) for want, have in zip(expected, found, strict=True))
    if item.type in _PYTHON and item.type != "one_of" and not item.tolerance:
        # One key a member: linear, and exact since such equality is transitive.
        wants = [_key(item.type, item.currency, each, False) for each in expected]
        haves = [_key(item.type, item.currency, each, sql) for each in found]
        if None in haves:
            return False
        return set(wants) == set(haves) if spec.type == "set" else Counter(wants) == Counter(haves)

    def same(want: int, have: int) -> bool:
        return _match(item, expected[want], found[have], sql)

    if spec.type == "multiset":
        return _pairs_up(len(expected), same)
    return all(any(same(w, h) for h in range(len(found))) for w in range(len(expected))) and all(
        any(same(w, h) for w in range(len(expected))) for h in range(len(found))
    )


def _pairs_up(count: int, same: Callable[[int, int], bool]) -> bool:
    """Whether each expected member can have a found one of its own (augmenting paths; a greedy choice can be wrong)."""
    owner: dict[int, int] = {}

    def place(want: int, tried: set[int]) -> bool:
        for have in range(count):
            if have not in tried and same(want, have):
                tried.add(have)
                if have not in owner or place(owner[have], tried):
                    owner[have] = want
                    return True
        return False

    return all(place(want, set()) for want in range(count))


def _key(type: str, currency: str | None, value: object, sql: bool) -> Hashable | None:
    """A value of a scalar type in the form in which equality is plain equality; None if it is no value of the type."""
    if isinstance(value, bool):
        return value if type == "bool" else None
    if type == "text":
        return _text(value) if isinstance(value, str) else None
    if type == "id":
        return value if isinstance(value, str) else None
    if type == "money":
        return _minor(value, currency or "")
    if type == "date":
        return _instant(value) if isinstance(value, str) else None
    if type == "bool":
        return bool(value) if sql and isinstance(value, int) and value in (0, 1) else None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value if type == "number" or value.is_integer() else None
    return None


def _text(value: str) -> str:
    return value.strip() if value.isascii() else unicodedata.normalize("NFC", value).strip()


def _minor(value: object, currency: str) -> int | None:
    """Minor units of an amount in any accepted form."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return read_money(value, currency)
    if isinstance(value, float) and math.isfinite(value):
        # repr is the shortest decimal that means this float: 12.1 is 12.10, whatever its binary digits are.
        minor = _EXACT.scaleb(Decimal(repr(value)), exponent(currency))
        return int(minor) if minor == minor.to_integral_value() else None
    if isinstance(value, dict):
        amount, code = value.get("amount_minor"), value.get("currency", currency)
        if (
            isinstance(amount, int)
            and not isinstance(amount, bool)
            and isinstance(code, str)
            and code.upper() == currency
        ):
            return amount
    return None


def _instant(text: str) -> timedelta | None:
    """Time since 1970 in UTC of an ISO date or time."""
    match = _ISO.fullmatch(text.strip()) if len(text) <= 64 else None
    if match is None:
        return None
    fraction = (match[4] or ".0")[1:].ljust(6, "0")
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}{match[3] or ':00'}.{fraction}")
    except ValueError:
        return None
    hours, minutes = int(match[7] or 0), int(match[8] or 0)
    if hours > 23 or minutes > 59:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return moment - _EPOCH - (-offset if match[6] == "-" else offset)


def _near(expected: int | float, found: object, tolerance: float) -> bool:
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return False
    if found == expected:
        return True
    if (isinstance(found, float) and not math.isfinite(found)) or max(abs(found), abs(expected)) > 10**600:
        return False
    # In decimal, so that 0.4 is within 0.1 of 0.3 as the author reads it.
    gap = _EXACT.subtract(Decimal(repr(found)), Decimal(repr(expected)))
    return abs(gap) <= Decimal(repr(tolerance))


def _same_json(expected: object, found: object) -> bool:
    """Equality of JSON values; goes only as deep as the expected one."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and len(expected) == len(found) and all(
            key in found and _same_json(value, found[key]) for key, value in expected.items()
        )  # fmt: skip
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(found, (list, tuple)) and len(expected) == len(found) and all(map(_same_json, expected, found))
        )
    if isinstance(expected, bool) or isinstance(found, bool) or expected is None or isinstance(expected, str):
        return type(expected) is type(found) and expected == found
    return isinstance(found, (int, float)) and expected == found


def _loads(text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return MISSING


def canonical(value: object) -> str:
    r"""Canonical JSON: equal texts for equal values, at any depth (no recursion).

    Keys are sorted, whole floats are written as ints, all else is ASCII without spaces.

    Raises:
        ValueError: If a number is NaN or infinite.
        TypeError: If something is no JSON value.

    >>> canonical({"b": 1.0, "a": [True, None, "é"]})
    '{"a":[true,null,"\\u00e9"],"b":1}'
    """
    parts: list[str] = []
    stack: list[object] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Raw):
            parts.append(item)
        elif isinstance(item, dict):
            stack.append(_Raw("}"))
            for number, key in enumerate(sorted(item, reverse=True)):
                if not isinstance(key, str):
                    raise TypeError(f"JSON keys are strings, found {_short(key)}")
                stack += (*((_Raw(","),) if number else ()), item[key], _Raw(json.dumps(key) + ":"))
            parts.append("{")
        elif isinstance(item, (list, tuple)):
            stack.append(_Raw("]"))
            for number, member in enumerate(reversed(item)):
                stack += (_Raw(","), member) if number else (member,)
            parts.append("[")
        else:
            parts.append(_scalar(item))
    return "".join(parts)


class _Raw(str):
    """A piece of finished JSON on the stack, as against a string that is a value."""


def _scalar(item: object) -> str:
    if isinstance(item, float):
        if not math.isfinite(item):
            raise ValueError(f"JSON numbers are finite, found {item!r}")
        return str(int(item)) if item.is_integer() else repr(item)
    if item is None or isinstance(item, (str, bool)):
        return json.dumps(item)
    if isinstance(item, int):
        return str(int(item))
    raise TypeError(f"expected a JSON value, found {_short(item)}")
