"""What models really send as tool calls: bug kinds 1 to 11 at the level of one action."""

import json
import time
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageToolCall
from openai.types.chat.chat_completion_message_tool_call import Function

from agentgym.actions import MAX_DEPTH, Call, Invalid, parse_action
from agentgym.common import COMMON_TOOLS
from agentgym.text import clean, dumps
from agentgym.tools import Length, Pattern, Range, build_tool


def get_order(order_id: Annotated[str, Pattern(r"A\d{4,6}", "A1001")]) -> None:
    """Show an order.

    Args:
        order_id: the order, e.g. "A1001"
    """


def list_orders(limit: Annotated[int, Range(1, 50)] = 10) -> None:
    """List orders.

    Args:
        limit: at most so many
    """


def add_note(text: Annotated[str, Length(1, 5000)], extra: dict[str, Any] | None = None) -> None:
    """Write a note.

    Args:
        text: the text
        extra: anything
    """


TOOLS = {
    tool.name: tool
    for tool in (*(build_tool(function, bound=False) for function in (get_order, list_orders, add_note)), *COMMON_TOOLS)
}


def call(name: Any, *arguments: Any) -> Call | Invalid:
    return parse_action({"name": name, "arguments": arguments[0]} if arguments else {"name": name}, TOOLS)


def error(result: Call | Invalid) -> str:
    assert isinstance(result, Invalid), result
    assert "\n" not in result.error
    result.error.encode()
    return result.error


@pytest.mark.parametrize("blank", ["", " \n", "null", "{}", None, {}])
def test_blank_arguments_are_none_given(blank: Any) -> None:
    assert call("list_orders", blank) == Call("list_orders", {"limit": 10})
    assert error(call("get_order", blank)) == 'get_order needs the parameter "order_id" (string)'


def test_missing_arguments_are_none_given() -> None:
    assert call("list_orders") == Call("list_orders", {"limit": 10})
    assert 'needs the parameter "order_id"' in error(call("get_order"))


def test_raw_json_and_a_dict_mean_the_same() -> None:
    assert call("get_order", '{"order_id": "A1001"}') == call("get_order", {"order_id": "A1001"})


WHOLE = '{"order_id": "A1001", "x": [1, {"y": null}], "é": "\\u00e9"}'


@pytest.mark.parametrize("end", range(1, len(WHOLE)))
def test_cut_off_arguments_are_never_repaired(end: int) -> None:
    assert "are not valid JSON: got " in error(call("list_orders", WHOLE[:end]))


@pytest.mark.parametrize(
    ("sent", "kind"),
    [("[1]", "a list"), ("3", "a number"), ("2.5", "a number"), ('"x"', "a string"), ("true", "a boolean")],
)
def test_arguments_that_are_no_object_are_a_type_error(sent: str, kind: str) -> None:
    expected = f"the arguments of list_orders must be a JSON object, got {kind}"
    assert error(call("list_orders", sent)).startswith(expected)
    if kind != "a string":
        assert error(call("list_orders", json.loads(sent))).startswith(expected)


def test_doubly_encoded_arguments_are_a_type_error() -> None:
    assert "got a string" in error(call("get_order", json.dumps('{"order_id": "A1001"}')))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
@pytest.mark.parametrize("form", ["%s", '{"limit": %s}', '{"outcome": [%s]}'])
def test_numbers_that_json_has_not_are_refused(number: str, form: str) -> None:
    assert f"hold {number}, which is no" in error(call("finish", form % number))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), np.float64("nan")])
def test_such_numbers_in_a_dict_are_refused_too(number: float) -> None:
    assert "which is no finite number" in error(call("finish", {"outcome": "done", "answer": [number]}))


@pytest.mark.parametrize("sent", ["1" * 5000, '{"answer": %s}' % ("1" * 5000), {"answer": 10**5000}, {"answer": 2**63}])
def test_integers_beyond_63_bits_are_refused(sent: Any) -> None:
    assert "integers have at most 63 bits" in error(call("finish", sent))


@pytest.mark.parametrize("sent", ['{"limit": 1, "limit": 2}', '{"outcome": "done", "answer": {"a": 1, "a": 1}}'])
def test_a_key_given_twice_is_ambiguous(sent: str) -> None:
    assert "twice; send each parameter once" in error(call("finish", sent))


def test_a_hundred_thousand_keys_are_no_trap() -> None:
    pairs = ", ".join(f'"k{number}": 0' for number in [*range(100_000), 99_999])
    start = time.process_time()
    assert 'name "k99999" twice' in error(call("finish", "{" + pairs + "}"))
    assert time.process_time() - start < 5


def test_keys_that_are_one_after_cleaning_are_given_twice() -> None:
    answer = dict.fromkeys(["a" + half for half in ("\ud83d", "\ude00")], 1)
    assert "twice" in error(call("finish", {"outcome": "done", "answer": answer}))


def test_schema_errors_name_the_parameter() -> None:
    assert error(call("list_orders", {"limit": 99})) == "limit must be in 1..50, got 99"
    unknown = 'list_orders has no parameter "page"; its parameters are: limit'
    assert error(call("list_orders", {"page": 2})) == unknown
    assert 'order_id must look like "A1001", got "A1"' in error(call("get_order", {"order_id": "A1"}))


def test_an_unknown_tool_is_told_with_the_nearest_and_the_list() -> None:
    told = error(call("get_ordr", {}))
    assert told.startswith('there is no tool "get_ordr" (did you mean "get_order"?); the tools are: get_order, ')
    assert told.endswith("finish")


def test_a_name_of_a_megabyte_is_shortened() -> None:
    result = call("x" * 1_000_000, {})
    assert len(error(result)) < 400
    assert len(result.name) == 64


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_deep_nesting_is_an_observation(text: str) -> None:
    assert "nested deeper than 64 levels" in error(call("finish", text))


def test_nesting_is_counted_in_dicts_too() -> None:
    def nested(depth: int) -> Any:
        return [] if depth == 1 else [nested(depth - 1)]

    # The object of the arguments is a level itself.
    assert isinstance(call("finish", {"outcome": "done", "answer": nested(MAX_DEPTH - 1)}), Call)
    assert "nested deeper" in error(call("finish", {"outcome": "done", "answer": nested(MAX_DEPTH)}))
    looped: list[Any] = []
    looped.append(looped)
    assert "nested deeper" in error(call("finish", {"outcome": "done", "answer": looped}))


def test_a_megabyte_of_text_passes_or_is_told() -> None:
    assert isinstance(call("respond", {"message": "é" * 1_000_000}), Call)
    assert "must have 1 to 5000 characters, got 1000000" in error(call("add_note", {"text": "x" * 1_000_000}))


@pytest.mark.parametrize("key", [1, None, ("a",), True])
def test_keys_that_are_no_strings_are_refused(key: Any) -> None:
    assert "keys are strings" in error(call("finish", {key: 1}))
    assert "keys are strings" in error(call("finish", {"outcome": "done", "answer": {key: 1}}))


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), 1j, np.zeros(2)])
def test_values_that_json_has_not_are_refused_without_an_address(value: Any) -> None:
    result = call("finish", {"outcome": "done", "answer": value})
    assert "which is no JSON value" in error(result)
    assert isinstance(result, Invalid)
    assert "0x" not in result.error + result.raw_arguments


def test_scalars_of_numpy_and_tuples_become_plain() -> None:
    result = call("finish", {"outcome": np.str_("done"), "answer": (np.int64(1), np.float32(0.5), np.True_)})
    assert result == Call("finish", {"outcome": "done", "answer": [1, 0.5, True]})
    assert isinstance(result, Call)
    assert [type(value) for value in result.arguments["answer"]] == [int, float, bool]
    assert type(result.arguments["outcome"]) is str


def test_surrogates_and_nul_are_joined_or_replaced_everywhere() -> None:
    raw = r'{"text": "\ud83d\ude00 \ud83d \u0000", "extra": {"k\ud83d": ["\udc00\u0007"]}}'
    wanted = {"text": "😀 \ufffd ␀", "extra": {"k\ufffd": ["\ufffd␇"]}}
    assert call("add_note", raw) == Call("add_note", wanted)
    assert call("add_note", {"text": "\ud83d\ude00 \ud83d \0", "extra": {"k\ud83d": ["\udc00\a"]}}) == Call(
        "add_note", wanted
    )


def test_surrogates_in_names_keys_and_thoughts_can_be_written() -> None:
    bad = "\ud83d\0"
    for action in (
        {"name": bad},
        {bad: 1},
        {"name": "finish", "arguments": {bad: bad}, "thought": bad},
        {"name": bad, bad: 1},
    ):
        result = parse_action(action, TOOLS)
        assert isinstance(result, Invalid)
        "".join(result).encode()
        assert "\0" not in "".join(result)


def test_arguments_are_a_copy() -> None:
    sent = {"text": "a", "extra": {"list": [1]}}
    result = call("add_note", sent)
    sent["extra"]["list"].append(2)  # type: ignore[index]
    assert result == Call("add_note", {"text": "a", "extra": {"list": [1]}})


def test_a_plain_string_is_said_to_the_user() -> None:
    assert parse_action("Hello \ud83d\ude00", TOOLS) == Call("respond", {"message": "Hello 😀"})


@pytest.mark.parametrize("turn", ["", "  \n"])
def test_an_empty_turn_is_invalid(turn: str) -> None:
    assert error(parse_action(turn, TOOLS)).startswith("the turn is empty; an action is ")


@pytest.mark.parametrize(
    "action", [None, 5, 2.5, True, [], {}, (), b"x", object(), [{"name": "get_order"}], {"function": 5}]
)
def test_what_is_no_action_is_told_what_one_is(action: Any) -> None:
    told = error(parse_action(action, TOOLS))
    assert told.startswith("got ")
    assert 'an action is {"name": "<tool>", "arguments": {…}}' in told


@pytest.mark.parametrize("name", [None, 5, [], {}])
def test_a_name_that_is_no_string_is_told(name: Any) -> None:
    assert "an action is" in error(call(name, {}))


def test_arguments_under_another_key_are_not_dropped() -> None:
    told = error(parse_action({"name": "list_orders", "parameters": {"limit": 3}}, TOOLS))
    assert told.startswith('an action has no key "parameters"')


def test_the_thought_is_kept_apart() -> None:
    action = {"name": "list_orders", "arguments": {}, "thought": "let me see"}
    assert parse_action(action, TOOLS) == Call("list_orders", {"limit": 10}, "let me see")
    assert parse_action({**action, "thought": None}, TOOLS) == Call("list_orders", {"limit": 10})
    assert error(parse_action({**action, "thought": 5}, TOOLS)).startswith("thought must be a string, got a number")


def test_tool_calls_of_openai_are_actions() -> None:
    wanted = Call("get_order", {"order_id": "A1001"})
    function = {"name": "get_order", "arguments": '{"order_id": "A1001"}'}
    assert parse_action({"id": "c1", "type": "function", "function": function}, TOOLS) == wanted
    assert parse_action({"type": "function_call", "call_id": "c1", **function}, TOOLS) == wanted
    typed = ChatCompletionMessageToolCall(id="c1", type="function", function=Function(**function))
    assert parse_action(typed, TOOLS) == wanted
    assert parse_action({"function": typed.function}, TOOLS) == wanted


def test_what_could_not_run_is_kept_as_text() -> None:
    assert call("get_order", '{"order_id": "A1').raw_arguments == '{"order_id": "A1'  # type: ignore[union-attr]
    assert call("get_order", {"order_id": 5}).raw_arguments == '{"order_id": 5}'  # type: ignore[union-attr]


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=[]))
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
    max_leaves=8,
)


@given(
    st.sampled_from([*TOOLS, "nothing"]),
    anything | st.text(alphabet='{}[]",:\\ud83ea0 ').map(lambda text: "{" + text),
    anything,
)
def test_nothing_raises_and_everything_can_be_written(name: str, arguments: Any, other: Any) -> None:
    for action in (other, {"name": name, "arguments": arguments}, {"function": {"name": name, "arguments": arguments}}):
        result = parse_action(action, TOOLS)
        json.dumps(result, allow_nan=False, ensure_ascii=False).encode()
        assert isinstance(result, Call) or result.error


@given(st.text(st.characters(exclude_categories=[])))
def test_clean_text_can_be_encoded_and_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = clean(text)
    once.encode()
    assert clean(once) == once
    assert not set(once) & {chr(code) for code in [*range(32), 127]} - set("\t\n\r")


def test_clean_keeps_what_is_clean() -> None:
    text = "Zoë\t“ok”\r\n\u202eمرحبا\u200b 😀"
    assert clean(text) is text


def test_the_json_shown_keeps_order_and_letters() -> None:
    assert dumps({"b": "Zoë", "a": [1, 2.5, None, True]}) == '{"b": "Zoë", "a": [1, 2.5, null, true]}'
    assert dumps({"x": "\ud83d\ude00\ud83d\x7f"}) == '{"x": "😀\ufffd␡"}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps(float("nan"))
