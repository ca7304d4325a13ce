"""Format shift: XML and HTML give back exactly what JSON held."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentgym.text import clean
from agentgym.wrappers.formats import Format, decode, encode, format_of

ODD = [
    "",
    " ",
    "null",
    "true",
    "007",
    "1",
    "1.0",
    "-0",
    "<b>&amp;</b>",
    "a\x00b",
    "\r\n",
    "\t",
    "é😀",
    "\ud83d",
    "]]>",
    "x y",
]
TEXT = st.one_of(st.sampled_from(ODD), st.text(st.characters(), max_size=12))
KEYS = st.one_of(
    st.sampled_from(["order_id", "a key", "item", "entry", "xmlns", "", "1st", "k\x07", "<", "type"]), TEXT
)
SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
PAYLOAD = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=12,
)

# pyright reads HealthCheck's metaclass as what iterating it yields: its __iter__ has no annotation.
HEALTH_CHECKS: list[HealthCheck] = list(HealthCheck)  # pyright: ignore[reportAssignmentType]


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, with the types: 1 is not 1.0 and not True."""
    return json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize("form", ["xml", "html"])
@settings(max_examples=10_000, deadline=None, derandomize=True, suppress_health_check=HEALTH_CHECKS)
@given(value=PAYLOAD)
def test_ten_thousand_payloads_come_back_exactly(form: Format, value: Any) -> None:
    text = encode(value, form)
    assert format_of(text) == form
    assert same(decode(text), value)


@pytest.mark.parametrize("form", ["xml", "html"])
@pytest.mark.parametrize(
    "value",
    [
        {"one": ["only"], "none": [], "nothing": {}},
        {"null": None, "empty": "", "text": "null"},
        {"n": 1, "text": "1", "real": 1.0, "yes": True, "words": "true"},
        {"zeros": "007", "blank key ": " x ", "": 0, "a b": "c\x00\x1b"},
        {"nested": [[], [[]], [{"a": [None]}]]},
        {"order": 1, "z": 2, "a": 3},
    ],
)
def test_what_formats_often_lose_is_kept(form: Format, value: Any) -> None:
    text = encode(value, form)
    assert same(decode(text), value)
    # What agents are shown is cleaned first.
    assert same(decode(clean(text)), value)


@pytest.mark.parametrize("text", ["<result type='object'><a></result>", "<html><body><dl></body></html>"])
def test_a_broken_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="this looks like a result in (XML|HTML) and is none"):
        decode(text)


def test_a_value_that_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a JSON value, got set"):
        encode({"a": set()}, "xml")
