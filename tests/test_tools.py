"""Tools: schemas from signatures, compiled checks, errors that tell the way out."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Optional

import pytest
from tiny_domain import lend_book, renew_loan

from agentgym.tools import Length, Pattern, Range, ToolError, build_tool, compile_type, tool


def everything(
    world: object,
    text: str,
    count: int,
    share: float,
    flag: bool,
    kind: Literal["a", "b"],
    tags: Annotated[list[Annotated[str, Length(1)]], Length(1, 3)],
    extra: dict[str, Any],
    anything: Any,
    code: Annotated[str, Pattern(r"A\d+", "A1001")] | None = None,
    days: Annotated[int, Range(7, 28)] = 7,
    level: Optional[Literal["x", "y"]] = None,  # noqa: UP045
) -> None:
    """Do everything.

    More of it
    on two lines.

    Args:
        text: a text
        count (int): a count, which goes on
            over two lines
        share: a share
        flag: a flag
        kind: a kind
        tags: some tags
        extra: more
        anything: whatever
        code: a code, e.g. "A1001"
        days: days
        level: a level

    Raises:
        ToolError: never
    """


TOOL = build_tool(everything, skip=1)
GOOD = {
    "text": "t",
    "count": 1,
    "share": 0.5,
    "flag": True,
    "kind": "a",
    "tags": ["x"],
    "extra": {},
    "anything": [None],
}


def test_the_schema_is_what_the_signature_and_the_docstring_say() -> None:
    function = TOOL.schema["function"]
    assert (function["name"], function["description"]) == ("everything", "Do everything.\nMore of it on two lines.")
    parameters = function["parameters"]
    assert parameters["required"] == list(GOOD) and parameters["additionalProperties"] is False
    properties = parameters["properties"]
    assert properties["count"] == {"type": "integer", "description": "a count, which goes on over two lines"}
    assert properties["tags"] == {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "maxItems": 3,
        "description": "some tags",
    }
    assert properties["days"] == {"type": "integer", "minimum": 7, "maximum": 28, "default": 7, "description": "days"}
    assert properties["code"] == {
        "type": ["string", "null"],
        "pattern": r"^(?:A\d+)$",
        "description": 'a code, e.g. "A1001"',
    }
    assert properties["level"]["enum"] == ["x", "y", None]
    assert properties["anything"] == {"description": "whatever"}


def test_the_schema_is_a_fresh_object() -> None:
    TOOL.schema["function"]["parameters"]["properties"].clear()
    assert "text" in TOOL.schema["function"]["parameters"]["properties"]


def test_validation_completes_with_defaults_in_the_order_of_the_signature() -> None:
    found = TOOL.validate(dict(reversed(GOOD.items())))
    assert list(found) == [*GOOD, "code", "days", "level"]
    assert found == GOOD | {"code": None, "days": 7, "level": None}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("text", 3, "text must be a string, got 3"),
        ("text", None, "text must be a string, got null"),
        ("count", "1", 'count must be an integer, got "1"'),
        ("count", True, "count must be an integer, got true"),
        ("count", 1.5, "count must be an integer, got 1.5"),
        ("count", 2**63, "count must be an integer of at most 63 bits, got 9223372036854775808"),
        ("count", math.inf, "count must be an integer, got Infinity"),
        ("count", math.nan, "count must be an integer, got NaN"),
        ("share", math.nan, "share must be a finite number, got NaN"),
        ("share", -math.inf, "share must be a finite number, got -Infinity"),
        ("share", True, "share must be a finite number, got true"),
        ("share", "0.5", 'share must be a finite number, got "0.5"'),
        ("share", 10**400, "share must be a finite number, got 1000000000"),
        ("flag", 1, "flag must be true or false, got 1"),
        ("flag", "true", 'flag must be true or false, got "true"'),
        ("kind", "c", 'kind must be one of a, b; got "c"'),
        ("kind", ["a"], 'kind must be one of a, b; got ["a"]'),
        ("tags", "x", 'tags must be a list, got "x"'),
        ("tags", [], "tags must have 1 to 3 items, got 0"),
        ("tags", ["a", "b", "c", "d"], "tags must have 1 to 3 items, got 4"),
        ("tags", ["a", ""], "tags[1] must have at least 1 characters, got 0"),
        ("tags", ["a", 2], "tags[1] must be a string, got 2"),
        ("extra", [], "extra must be an object, got []"),
        ("code", "B1", 'code must look like "A1001", got "B1"'),
        ("code", "A1\n", 'code must look like "A1001", got "A1\\n"'),
        ("days", 6, "days must be in 7..28, got 6"),
        ("days", 29, "days must be in 7..28, got 29"),
        ("level", "z", 'level must be one of x, y; got "z"'),
    ],
)
def test_a_wrong_argument_is_told_with_its_name_its_value_and_the_way_out(name: str, value: Any, text: str) -> None:
    with pytest.raises(ToolError) as caught:
        TOOL.validate(GOOD | {name: value})
    assert str(caught.value).startswith(text)


def test_missing_and_unknown_parameters_are_named() -> None:
    with pytest.raises(ToolError, match=r'^everything needs the parameter "count" \(integer\)$'):
        TOOL.validate({name: value for name, value in GOOD.items() if name != "count"})
    with pytest.raises(ToolError, match=r'^everything needs the parameter "anything" \(any JSON value\)$'):
        TOOL.validate({name: value for name, value in GOOD.items() if name != "anything"})
    with pytest.raises(ToolError, match=r'^everything has no parameter "cuont"; its parameters are: text, count, '):
        TOOL.validate(GOOD | {"cuont": 1})


def test_whole_floats_are_integers_and_integers_are_numbers() -> None:
    found = TOOL.validate(GOOD | {"count": 14.0, "share": 1, "days": 8.0, "code": None})
    assert (found["count"], type(found["count"])) == (14, int)
    assert (found["share"], type(found["share"])) == (1.0, float)
    assert type(found["days"]) is int


def test_one_sided_ranges_say_so() -> None:
    _, low = compile_type(Annotated[int, Range(low=1)])
    _, high = compile_type(Annotated[float, Range(high=1)])
    with pytest.raises(ToolError, match="n must be ≥ 1, got 0"):
        low(0, "n")
    with pytest.raises(ToolError, match=r"n must be ≤ 1, got 1.5"):
        high(1.5, "n")


@pytest.mark.parametrize("hint", [int | str, bytes, tuple[int], Literal[1, 2], int | str | None])
def test_types_that_json_has_not_are_refused_at_import(hint: Any) -> None:
    with pytest.raises(TypeError, match="tools? can" if hint != Literal[1, 2] else "takes strings only"):
        compile_type(hint)


def test_a_function_without_docstring_description_or_type_is_refused() -> None:
    def bare(world: object) -> None: ...

    def undescribed(world: object, x: int) -> None:
        """Do it."""

    def untyped(world, x):  # type: ignore[no-untyped-def]
        """Do it.

        Args:
            x: something
        """

    with pytest.raises(TypeError, match="tool bare needs a docstring: one imperative line, then Args:"):
        tool()(bare)
    for function in (undescribed, untyped):
        with pytest.raises(TypeError, match="parameter 'x' needs a type and a line under Args:"):
            tool()(function)


def test_owners_and_idempotency_must_name_parameters() -> None:
    def plain(world: object, x: int) -> None:
        """Do it.

        Args:
            x: something
        """

    with pytest.raises(TypeError, match="tool plain: idempotency names 'key', which is no parameter of it"):
        tool(idempotency="key")(plain)
    with pytest.raises(TypeError, match="tool plain: owners names 'y', which is no parameter of it"):
        tool(owners={"y": "SELECT 1"})(plain)


def test_what_a_tool_declares_is_kept() -> None:
    assert (renew_loan.writes, renew_loan.latency_ms, list(renew_loan.owners)) == (True, 400, ["loan_id"])
    assert (
        lend_book.idempotency == "request_key"
        and lend_book.validate({"member_id": "M1", "book_id": "B1"})["request_key"] is None
    )


def test_values_in_errors_are_short() -> None:
    with pytest.raises(ToolError) as caught:
        TOOL.validate(GOOD | {"count": "x" * 1_000_000})
    assert len(str(caught.value)) < 120
