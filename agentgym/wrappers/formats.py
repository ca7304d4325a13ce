"""JSON values as XML and as HTML, typed and invertible.

Both keep what JSON keeps: one-element and empty lists, null against "", numbers against their text, booleans, leading
zeros, any key, any character. Text with characters that XML or HTML cannot hold is a JSON string there, marked so.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Literal, get_args
from xml.etree import ElementTree

Format = Literal["json", "xml", "html"]

MEDIA: Mapping[Format, str] = {"json": "application/json", "xml": "application/xml", "html": "text/html"}
"""What the internet calls them."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_HELD_BACK = re.compile(r"(?i)xml|entry$|item$")
_SCALARS = ("string", "integer", "number", "boolean", "null")


def encode(value: Any, form: Format) -> str:
    """Write a JSON value in a format.

    >>> encode({"ids": ["007"], "note": None}, "xml")
    '<result type="object"><ids type="list"><item type="string">007</item></ids><note type="null"/></result>'

    Raises:
        TypeError: *value* is no JSON value.
    """
    if form == "xml":
        return _xml("result", value, "")
    if form == "html":
        return f"<html><body>{_html(value)}</body></html>"
    return json.dumps(value, ensure_ascii=False)


def decode(text: str) -> Any:
    """Read a value back, in whichever of the formats it is.

    Raises:
        ValueError: it is none of these.

    >>> decode(encode([True, 1, "1", ""], "html"))
    [True, 1, '1', '']
    """
    form = format_of(text)
    if form == "xml":
        try:
            return _read_xml(ElementTree.fromstring(text))
        except (ElementTree.ParseError, KeyError) as error:
            raise ValueError(f"this looks like a result in XML and is none: {error}") from None
    if form == "html":
        return _Reader.read(text)
    return json.loads(text)


def format_of(text: str) -> Format:
    """The format that a text of ours is in, by its beginning."""
    if text.startswith("<result"):
        return "xml"
    return "html" if text.startswith("<html>") else "json"


def read(value: Any) -> Any:
    """The payload of a result, which may be a text in XML or HTML already."""
    return decode(value) if isinstance(value, str) and format_of(value) != "json" else value


def edited(value: Any, change: Any) -> Any:
    """Return *value* after ``change(payload)``, where the value may be a text in one of the formats already."""
    if isinstance(value, str) and (form := format_of(value)) != "json":
        return encode(change(decode(value)), form)
    return change(value)


def kind_of(value: Any) -> str:
    """The type of a JSON value by name.

    Raises:
        TypeError: it is none.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "list", dict: "object"}
    for python, name in names.items():
        if isinstance(value, python):
            return name
    raise TypeError(f"expected a JSON value, got {type(value).__name__}")


def check_formats(formats: tuple[str, ...]) -> tuple[Format, ...]:
    """Return them if they are formats.

    Raises:
        ValueError: one is not, or there are none.
    """
    known: tuple[Format, ...] = get_args(Format)
    wrong = [form for form in formats if form not in known]
    if wrong or not formats:
        raise ValueError(f"expected formats to be of {', '.join(known)}, got {wrong[0] if wrong else 'none'!r}")
    return tuple(form for name in formats for form in known if form == name)


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value)


def _plain(text: str) -> bool:
    """XML and HTML hold it and give it back: nothing but printable characters, blanks and line feeds."""
    return text.replace("\n", "").isprintable()


def _scalar(kind: str, text: str, coded: bool) -> Any:
    if kind == "string":
        return json.loads(text) if coded else text
    return None if kind == "null" else json.loads(text)


def _xml(tag: str, value: Any, attributes: str) -> str:
    kind = kind_of(value)
    if isinstance(value, dict):
        inside = "".join(_xml(*_tagged(key, entry)) for key, entry in value.items())
    elif isinstance(value, list):
        inside = "".join(_xml("item", entry, "") for entry in value)
    elif isinstance(value, str) and _plain(value):
        inside = html.escape(value)
    elif isinstance(value, str):
        attributes += ' coded="json"'
        inside = html.escape(json.dumps(value))
    else:
        inside = _text(value)
    head = f'<{tag}{attributes} type="{kind}"'
    return f"{head}>{inside}</{tag}>" if inside else f"{head}/>"


def _tagged(key: str, value: Any) -> tuple[str, Any, str]:
    """An element of its own name where the key can be one, else an ``entry`` with the key as attribute."""
    if _NAME.fullmatch(key) and not _HELD_BACK.match(key):
        return key, value, ""
    return "entry", value, f' key="{html.escape(json.dumps(key))}"'


def _read_xml(element: ElementTree.Element) -> Any:
    kind = element.attrib["type"]
    if kind == "list":
        return [_read_xml(child) for child in element]
    if kind == "object":
        return {
            (json.loads(child.attrib["key"]) if "key" in child.attrib else child.tag): _read_xml(child)
            for child in element
        }
    return _scalar(kind, element.text or "", "coded" in element.attrib)


def _html(value: Any) -> str:
    kind = kind_of(value)
    if isinstance(value, dict):
        rows = (f"<dt>{html.escape(json.dumps(key))}</dt><dd>{_html(entry)}</dd>" for key, entry in value.items())
        return f'<dl class="object">{"".join(rows)}</dl>'
    if isinstance(value, list):
        rows = (f"<li>{_html(entry)}</li>" for entry in value)
        return f'<ol class="list">{"".join(rows)}</ol>'
    if isinstance(value, str) and not _plain(value):
        return f'<span class="string coded">{html.escape(json.dumps(value))}</span>'
    inside = html.escape(value) if isinstance(value, str) else _text(value)
    return f'<span class="{kind}">{inside}</span>'


class _Reader(HTMLParser):
    """Reads `_html` back."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Any] = []
        self._keys: list[str] = []
        self._classes: list[str] = []
        self._text = ""
        self.found: list[Any] = []

    @classmethod
    def read(cls, text: str) -> Any:
        reader = cls()
        reader.feed(text)
        reader.close()
        if len(reader.found) != 1 or reader._open:
            raise ValueError("this looks like a result in HTML and is none")
        return reader.found[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("dl", "ol"):
            self._open.append({} if tag == "dl" else [])
        elif tag in ("span", "dt"):
            self._classes = (dict(attrs).get("class") or "").split()
            self._text = ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("dl", "ol"):
            self._put(self._open.pop())
        elif tag == "dt":
            self._keys.append(json.loads(self._text))
        elif tag == "span":
            if not self._classes or self._classes[0] not in _SCALARS:
                raise ValueError("this looks like a result in HTML and is none: a value without its type")
            self._put(_scalar(self._classes[0], self._text, "coded" in self._classes))

    def _put(self, value: Any) -> None:
        if not self._open:
            self.found.append(value)
        elif isinstance(self._open[-1], dict):
            self._open[-1][self._keys.pop()] = value
        else:
            self._open[-1].append(value)
