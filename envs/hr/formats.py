"""How an API writes dates, months, moments, money, times and numbers, and how it reads them back.

A `Codec` turns a canonical value into the one shown and back; both ways are exact. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from agentgym.text import clean

Wire = Literal["string", "integer", "number", "boolean", "array", "object"]
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LARGEST_INT, LARGEST_MONEY, LARGEST_MINUTES, LARGEST_HUNDREDTHS = 10**9, 10**12, 100_000, 10_000_000
EXAMPLE_DAY = "2019-08-27"
"""Before the company's records begin, so that no example is an answer."""
LONGEST_ID, LONGEST_TEXT, MOST_IDS = 64, 500, 100

DIGITS: Mapping[str, int] = {"JPY": 0, "KRW": 0, "VND": 0, "ISK": 0, "CLP": 0, "KWD": 3, "BHD": 3, "TND": 3}
"""Decimal places of currencies that do not have two."""

_CONTROL = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f"
PRINTED = rf"^[^{_CONTROL}]*[^\s{_CONTROL}][^{_CONTROL}]*$"
"""Pattern of a text that is not blank and has no control characters but tabs and ends of lines."""

DATES: Mapping[str, tuple[str, str]] = {
    "iso": ("YYYY-MM-DD", r"(?P<y>[12]\d{3})-(?P<m>\d\d)-(?P<d>\d\d)"),
    "dots": ("DD.MM.YYYY", r"(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>[12]\d{3})"),
    "compact": ("YYYYMMDD", r"(?P<y>[12]\d{3})(?P<m>\d\d)(?P<d>\d\d)"),
    "slashes": ("DD/MM/YYYY", r"(?P<d>\d\d)/(?P<m>\d\d)/(?P<y>[12]\d{3})"),
    "american": ("MM/DD/YYYY", r"(?P<m>\d\d)/(?P<d>\d\d)/(?P<y>[12]\d{3})"),
    "named": ("DD-Mon-YYYY", rf"(?P<d>\d\d)-(?P<m>{'|'.join(MONTHS)})-(?P<y>[12]\d{{3}})"),
}
"""Name of a date format → how it is written, and the pattern that reads it."""

MONTH_FORMATS: Mapping[str, tuple[str, str]] = {
    "iso": ("YYYY-MM", r"(?P<y>[12]\d{3})-(?P<m>\d\d)"),
    "compact": ("YYYYMM", r"(?P<y>[12]\d{3})(?P<m>\d\d)"),
    "reversed": ("MM-YYYY", r"(?P<m>\d\d)-(?P<y>[12]\d{3})"),
    "dots": ("MM.YYYY", r"(?P<m>\d\d)\.(?P<y>[12]\d{3})"),
    "named": ("Mon-YYYY", rf"(?P<m>{'|'.join(MONTHS)})-(?P<y>[12]\d{{3}})"),
}

_WRITERS: Mapping[str, Callable[[str], Any]] = {
    "dots": lambda v: f"{v[8:]}.{v[5:7]}.{v[:4]}",
    "compact": lambda v: v[:4] + v[5:7] + v[8:],
    "slashes": lambda v: f"{v[8:]}/{v[5:7]}/{v[:4]}",
    "american": lambda v: f"{v[5:7]}/{v[8:]}/{v[:4]}",
    "named": lambda v: f"{v[8:]}-{MONTHS[int(v[5:7]) - 1]}-{v[:4]}",
}
_MONTH_WRITERS: Mapping[str, Callable[[str], Any]] = {
    "compact": lambda v: v[:4] + v[5:],
    "reversed": lambda v: f"{v[5:]}-{v[:4]}",
    "dots": lambda v: f"{v[5:]}.{v[:4]}",
    "named": lambda v: f"{MONTHS[int(v[5:]) - 1]}-{v[:4]}",
}


class Wrong(Exception):
    """A value that cannot be read."""


class Codec(NamedTuple):
    """How one kind of value is shown.

    Attributes:
        encode: canonical value → shown value; None where they are the same.
        decode: shown value → canonical value; raises `Wrong`.
        wire: its JSON type.
        schema: its JSON Schema.
        expects: what it looks like, for documentation and error messages.
        example: a canonical value.
    """

    encode: Callable[[Any], Any] | None
    decode: Callable[[Any], Any]
    wire: Wire
    schema: Mapping[str, Any]
    expects: str
    example: Any

    def show(self, value: Any) -> Any:
        """The canonical *value* as shown."""
        return value if self.encode is None else self.encode(value)


def _string(value: Any, most: int) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= most or not value.strip() or clean(value) != value:
        raise Wrong
    return value


@lru_cache(maxsize=64)
def text_codec(most: int, expects: str, example: str) -> Codec:
    """Any text of 1 to *most* characters, not blank."""
    schema = {"type": "string", "minLength": 1, "maxLength": most, "pattern": PRINTED}
    return Codec(None, lambda value: _string(value, most), "string", schema, expects, example)


def _whole(value: Any, low: int, high: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Wrong
    return value


@lru_cache(maxsize=64)
def int_codec(low: int, high: int, expects: str, example: int) -> Codec:
    """A whole number in *low*..*high*."""
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return Codec(None, lambda value: _whole(value, low, high), "integer", schema, expects, example)


def _month_number(text: str) -> int:
    return int(text) if text.isdigit() else MONTHS.index(text) + 1


def _reader(pattern: str, day: bool) -> Callable[[Any], str]:
    match = re.compile(pattern, re.ASCII).fullmatch

    def read(value: Any) -> str:
        found = match(value) if isinstance(value, str) else None
        if found is None:
            raise Wrong
        try:
            made = date(int(found["y"]), _month_number(found["m"]), int(found["d"]) if day else 1)
        except ValueError as error:
            raise Wrong from error
        return made.isoformat() if day else made.isoformat()[:7]

    return read


def _plain(pattern: str) -> str:
    """The pattern as JSON Schema has it, without names of groups."""
    return "^" + re.sub(r"\?P<\w>", "", pattern).replace(r"\d", "[0-9]") + "$"


def _remembered(encode: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """The same days and lengths of time come up in every record of a list."""
    return None if encode is None else lru_cache(maxsize=2048)(encode)


@lru_cache(maxsize=64)
def date_codec(form: str) -> Codec:
    """A calendar day; canonical "2026-03-14"."""
    written, pattern = DATES[form]
    encode = _remembered(_WRITERS.get(form))
    example = EXAMPLE_DAY
    shown = encode(example) if encode else example
    schema: dict[str, Any] = {"type": "string", "pattern": _plain(pattern)}
    if form == "iso":
        schema["format"] = "date"
    return Codec(encode, _reader(pattern, True), "string", schema, f"a date {written} such as {shown}", example)


@lru_cache(maxsize=64)
def month_codec(form: str) -> Codec:
    """A calendar month; canonical "2026-03"."""
    written, pattern = MONTH_FORMATS[form]
    encode = _remembered(_MONTH_WRITERS.get(form))
    example = EXAMPLE_DAY[:7]
    shown = encode(example) if encode else example
    schema = {"type": "string", "pattern": _plain(pattern)}
    return Codec(encode, _reader(pattern, False), "string", schema, f"a month {written} such as {shown}", example)


def _epoch(value: str) -> int:
    return int(datetime.fromisoformat(value).timestamp())


def _from_epoch(value: Any, unit: int) -> str:
    seconds = _whole(value, 0, 2**40 * unit) // unit
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError) as error:
        raise Wrong from error


def moment_codec(form: str, day: Codec) -> Codec:
    """A second in UTC; canonical "2026-03-14T09:30:00Z". *day* is how the API writes dates."""
    example = f"{EXAMPLE_DAY}T09:30:00Z"
    if form in ("seconds", "milliseconds"):
        unit = 1 if form == "seconds" else 1000
        schema = {"type": "integer", "minimum": 0}
        expects = f"{form} since 1970-01-01T00:00:00Z such as {_epoch(example) * unit}"
        return Codec(lambda v: _epoch(v) * unit, lambda v: _from_epoch(v, unit), "integer", schema, expects, example)
    if form == "iso":
        read_iso = _moment_reader("T", "Z", day)
        return Codec(None, read_iso, "string", {"type": "string", "format": "date-time"}, "a time in UTC such as "
                     + example, example)  # fmt: skip

    def write(value: str) -> str:
        return f"{day.show(value[:10])} {value[11:19]}"

    expects = f"a date and time in UTC such as {write(example)}"
    return Codec(write, _moment_reader(" ", "", day), "string", {"type": "string"}, expects, example)


def _moment_reader(between: str, end: str, day: Codec) -> Callable[[Any], str]:
    plain = date_codec("iso") if end else day

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.endswith(end):
            raise Wrong
        first, _, second = value.removesuffix(end).partition(between)
        if re.fullmatch(r"([01][0-9]|2[0-3])(:[0-5][0-9]){2}", second) is None:
            raise Wrong
        return f"{plain.decode(first)}T{second}Z"

    return read


@lru_cache(maxsize=64)
def minutes_codec(form: str) -> Codec:
    """A length of time; canonical whole minutes."""
    if form == "clock":
        return Codec(
            _remembered(lambda v: f"{v // 60:02d}:{v % 60:02d}"),
            _time_reader(r"(\d{2,4}):([0-5]\d)"),
            "string",
            {"type": "string", "pattern": "^[0-9]{2,4}:[0-5][0-9]$"},
            "hours and minutes HH:MM such as 07:45",
            465,
        )
    if form == "duration":
        return Codec(
            _remembered(lambda v: f"PT{v // 60}H{v % 60}M"),
            _time_reader(r"PT(\d{1,4})H([0-5]?\d)M"),
            "string",
            {"type": "string", "pattern": "^PT[0-9]{1,4}H[0-5]?[0-9]M$"},
            "a duration PT…H…M such as PT7H45M",
            465,
        )
    if form == "hours":
        schema = {"type": "number", "minimum": 0, "maximum": round(LARGEST_MINUTES / 60, 2)}
        expects = "hours with two decimals such as 7.75; 60 times that, rounded, are the minutes meant"
        return Codec(lambda v: round(v / 60, 2), _hours, "number", schema, expects, 465)
    return int_codec(0, LARGEST_MINUTES, "whole minutes such as 465", 465)


def _time_reader(pattern: str) -> Callable[[Any], int]:
    match = re.compile(pattern, re.ASCII).fullmatch

    def read(value: Any) -> int:
        found = match(value) if isinstance(value, str) else None
        minutes = int(found[1]) * 60 + int(found[2]) if found else -1
        return _whole(minutes, 0, LARGEST_MINUTES)

    return read


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 10**15:
        raise Wrong
    return value


def _hours(value: Any) -> int:
    return _whole(round(_number(value) * 60), 0, LARGEST_MINUTES)


@lru_cache(maxsize=64)
def hundredths_codec(form: str) -> Codec:
    """A number with two decimals; canonical 100 times that."""
    most = LARGEST_HUNDREDTHS
    if form == "text":
        schema: dict[str, Any] = {"type": "string", "pattern": r"^-?[0-9]{1,6}\.[0-9]{2}$"}
        return Codec(
            lambda v: decimal(v, 2), lambda v: undecimal(v, 2, most), "string", schema,
            'a text with two decimals such as "12.34"', 1234,
        )  # fmt: skip
    if form == "number":
        schema = {"type": "number", "minimum": -most // 100, "maximum": most // 100}
        return Codec(
            lambda v: v / 100, _hundredths, "number", schema, "a number with at most two decimals such as 12.34", 1234
        )
    return int_codec(-most, most, "hundredths, a whole number: 1234 means 12.34", 1234)


def _hundredths(value: Any) -> int:
    scaled = _number(value) * 100
    if abs(scaled - round(scaled)) > 1e-6:
        raise Wrong
    return _whole(round(scaled), -LARGEST_HUNDREDTHS, LARGEST_HUNDREDTHS)


def decimal(value: int, digits: int) -> str:
    """Minor units as a decimal text.

    >>> decimal(-5, 2), decimal(123456, 2), decimal(-7, 0)
    ('-0.05', '1234.56', '-7')
    """
    if not digits:
        return str(value)
    whole, part = divmod(abs(value), 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{digits}d}"


def undecimal(value: Any, digits: int, most: int = LARGEST_MONEY) -> int:
    """The inverse of `decimal`; the decimals may be left out, but there may be no more than *digits*.

    Raises:
        Wrong: *value* is no such text, or beyond *most* minor units.
    """
    found = re.fullmatch(r"(-?)(\d{1,15})(?:\.(\d{1,3}))?", value, re.ASCII) if isinstance(value, str) else None
    part = (found[3] or "") if found else ""
    if found is None or len(part) > digits:
        raise Wrong
    minor = int(found[2]) * 10**digits + int(part.ljust(digits, "0") or 0)
    return _whole(-minor if found[1] else minor, -most, most)


@lru_cache(maxsize=64)
def bool_codec(form: str) -> Codec:
    """Yes or no."""
    pairs: Mapping[str, tuple[Any, Any]] = {"json": (True, False), "yes": ("yes", "no"), "letter": ("Y", "N")}
    yes, no = pairs[form]
    wire: Wire = "boolean" if form == "json" else "string"
    schema: dict[str, Any] = {"type": "boolean"} if form == "json" else {"type": "string", "enum": [yes, no]}
    encode = None if form == "json" else (lambda value: yes if value else no)
    expects = "true or false" if form == "json" else f'"{yes}" or "{no}"'

    def read(value: Any) -> bool:
        if type(value) is not type(yes) or value not in (yes, no):
            raise Wrong
        return bool(value == yes)

    return Codec(encode, read, wire, schema, expects, True)


def writer_of(values: Mapping[str, str]) -> Callable[[str], str] | None:
    """What shows the values of an enumeration, None where they are shown as they are."""
    return None if all(a == b for a, b in values.items()) else values.__getitem__


def enum_codec(values: Mapping[str, str]) -> Codec:
    """One of *values*, canonical → shown."""
    back = {shown: value for value, shown in values.items()}

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in back:
            raise Wrong
        return back[value]

    shown = list(values.values())
    expects = "one of " + ", ".join(f'"{value}"' for value in shown)
    return Codec(writer_of(values), read, "string", {"type": "string", "enum": shown}, expects, next(iter(values)))


@lru_cache(maxsize=64)
def ids_codec(least: int = 0) -> Codec:
    """A list of at least so many ids, different from each other."""

    def read(value: Any) -> list[str]:
        if not isinstance(value, list) or not least <= len(value) <= MOST_IDS:
            raise Wrong
        found = [_string(item, LONGEST_ID) for item in value]
        if len(set(found)) != len(found):
            raise Wrong
        return found

    item = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID, "pattern": PRINTED}
    schema = {"type": "array", "items": item, "minItems": least, "maxItems": MOST_IDS, "uniqueItems": True}
    return Codec(None, read, "array", schema, "a list of ids, none twice", ["E1042", "E1077"])
