"""The spaces of every environment, alone and in Gymnasium's vector environments."""

import copy
import json
import pickle
import re
from typing import Annotated, Any, Literal

import gymnasium as gym
import numpy as np
import pytest
from openai.types.chat import ChatCompletionMessageToolCall
from openai.types.chat.chat_completion_message_tool_call import Function

from agentgym.actions import Call, parse_action
from agentgym.common import COMMON_TOOLS
from agentgym.sampling import compile_pattern
from agentgym.spaces import ActionSpace, UnicodeText, observation_space
from agentgym.tools import Length, Pattern, Range, build_tool


def everything(
    text: str,
    order_id: Annotated[str, Pattern(r"A\d{4,6}", "A1001")],
    currency: Annotated[str, Pattern(r"[A-Z]{3}", "EUR"), Length(3, 3)],
    day: Annotated[str, Pattern(r"20\d\d-(?:0[1-9]|1[0-2])-[012][0-8]", "2026-03-14")],
    body: Annotated[str, Length(5, 12)],
    amount: Annotated[int, Range(1, 2500)],
    below: Annotated[int, Range(None, -5)],
    rate: Annotated[float, Range(0.25, 0.5)],
    kind: Literal["a", "b"],
    flag: bool,
    tags: Annotated[list[Annotated[str, Length(1, 4)]], Length(1, 2)],
    details: dict[str, Any],
    free: Any,
    maybe: Annotated[str | None, Length(2, 3)] = None,
    choice: Literal["x", "y"] | None = None,
    count: int = 0,
) -> None:
    """Take all types.

    Args:
        text: t
        order_id: t
        currency: t
        day: t
        body: t
        amount: t
        below: t
        rate: t
        kind: t
        flag: t
        tags: t
        details: t
        free: t
        maybe: t
        choice: t
        count: t
    """


TOOLS = {tool.name: tool for tool in (build_tool(everything, bound=False), *COMMON_TOOLS)}
SCHEMAS = [tool.schema for tool in TOOLS.values()]


class Echo(gym.Env[dict[str, str], Any]):
    """The smallest environment on these spaces: it says back what it was told."""

    def __init__(self) -> None:
        self.observation_space = observation_space()
        self.action_space = ActionSpace(SCHEMAS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return {"role": "task", "name": "", "content": "é — ✓ {}", "notices": "[]"}, {}

    def step(self, action: Any) -> Any:
        return {"role": "tool", "name": "echo", "content": json.dumps(action), "notices": "[]"}, 0.0, False, False, {}


@pytest.mark.parametrize("text", ["", "é — ✓ {}", "😀", "مرحبا", "\t\n", "x" * 1_000_000])
def test_text_holds_all_of_unicode(text: str) -> None:
    assert text in UnicodeText()


@pytest.mark.parametrize("thing", ["a\0b", "\ud83d", "é\udc00", None, 5, b"x", ["x"]])
def test_text_holds_nothing_that_cannot_be_written(thing: Any) -> None:
    assert thing not in UnicodeText()


def test_text_of_bounded_length() -> None:
    space = UnicodeText(max_length=3)
    assert "abc" in space
    assert "abcd" not in space
    assert all(space.sample() in space for _ in range(200))
    with pytest.raises(ValueError, match="max_length must be ≥ 0 or None, got -1"):
        UnicodeText(-1)


def test_text_takes_no_mask() -> None:
    with pytest.raises(ValueError, match="neither mask nor probability"):
        UnicodeText().sample(mask=np.ones(3))


@pytest.mark.parametrize("space", [UnicodeText(), UnicodeText(5), ActionSpace(SCHEMAS), observation_space()])
def test_spaces_are_values(space: gym.Space[Any]) -> None:
    space.seed(7)
    drawn = [space.sample() for _ in range(20)]
    assert all(sample in space for sample in drawn)
    space.seed(7)
    twin, stored = copy.deepcopy(space), pickle.loads(pickle.dumps(space))
    assert space == twin == stored
    for other in (space, twin, stored):
        assert [other.sample() for _ in range(20)] == drawn
    space.seed(8)
    assert [space.sample() for _ in range(20)] != drawn
    assert space.is_np_flattenable is False
    assert eval(repr(UnicodeText(5))) == UnicodeText(5)
    assert json.loads(json.dumps(space.to_jsonable(drawn)))
    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(drawn)))) == drawn


def test_spaces_differ_by_what_they_hold() -> None:
    assert UnicodeText() != UnicodeText(5)
    assert UnicodeText() != gym.spaces.Text(5)
    assert ActionSpace(SCHEMAS) == ActionSpace(SCHEMAS[::-1])
    assert ActionSpace(SCHEMAS) != ActionSpace(SCHEMAS[1:])
    assert repr(ActionSpace(SCHEMAS[1:3])) == "ActionSpace(2 tools: confirm_with_user, respond)"


def test_an_action_space_needs_tools_with_different_names() -> None:
    with pytest.raises(ValueError, match="needs tools with different names, got"):
        ActionSpace([])
    with pytest.raises(ValueError, match="needs tools with different names, got"):
        ActionSpace([SCHEMAS[0], SCHEMAS[0]])


FUNCTION = {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    "action",
    [
        "hello",
        {"name": "no_such_tool", "arguments": {}},
        {"name": "f", "arguments": "{broken"},
        {"name": "f", "arguments": {}, "thought": "hm"},
        {"id": "c1", "type": "function", "function": FUNCTION},
        ChatCompletionMessageToolCall(id="c1", type="function", function=Function(name="f", arguments="{}")),
    ],
)
def test_actions_are_known_by_their_form(action: Any) -> None:
    assert action in ActionSpace(SCHEMAS)


@pytest.mark.parametrize(
    "thing",
    [
        None,
        5,
        [],
        {},
        {"name": "f"},
        {"name": 5, "arguments": {}},
        {"name": "f", "arguments": []},
        {"name": "f", "arguments": {}, "thought": 5},
        {"name": "f", "arguments": {}, "extra": 1},
        {"function": {"name": "f"}},
        {"function": None},
    ],
)
def test_what_has_no_form_of_an_action_is_none(thing: Any) -> None:
    assert thing not in ActionSpace(SCHEMAS)


def test_samples_are_calls_that_the_tools_take() -> None:
    space = ActionSpace(SCHEMAS, seed=3)
    names = set()
    for _ in range(1500):
        action = space.sample()
        result = parse_action(action, TOOLS)
        assert isinstance(result, Call), (action, result)
        assert json.loads(json.dumps(action)) == action
        names.add(result.name)
    assert names == set(TOOLS)


def test_optional_parameters_are_sometimes_given_and_sometimes_null() -> None:
    space = ActionSpace(SCHEMAS, seed=3)
    drawn = [space.sample(mask=["everything"])["arguments"] for _ in range(200)]
    assert {"maybe" in arguments for arguments in drawn} == {True, False}
    assert {arguments.get("choice", "left out") for arguments in drawn} == {"left out", "x", "y", None}


def test_a_mask_limits_the_names() -> None:
    space = ActionSpace(SCHEMAS, seed=1)
    flags = np.array([name in ("finish", "wait") for name in space.names])
    for mask in (["wait", "finish"], frozenset({"wait", "finish"}), flags, flags.astype(np.int8)):
        space.seed(5)
        drawn = [space.sample(mask=mask)["name"] for _ in range(40)]
        assert set(drawn) == {"finish", "wait"}
        space.seed(5)
        assert drawn == [space.sample(mask=("wait", "finish"))["name"] for _ in range(40)]


def test_weights_choose_the_names() -> None:
    space = ActionSpace(SCHEMAS, seed=1)
    weights = [3.0 if name == "finish" else 1.0 if name == "wait" else 0.0 for name in space.names]
    drawn = [space.sample(probability=weights)["name"] for _ in range(400)]
    assert set(drawn) == {"finish", "wait"}
    assert 260 < drawn.count("finish") < 340


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"mask": []}, "the mask allows no tool"),
        ({"mask": ["finsh"]}, "the mask names 'finsh', which is no tool (did you mean \"finish\"?)"),
        ({"mask": np.ones(2, dtype=bool)}, "the mask must have the shape (6,)"),
        ({"probability": [1.0]}, "probability must be 6 weights ≥ 0"),
        ({"probability": [0.0] * 6}, "probability must be 6 weights ≥ 0"),
        ({"probability": [float("nan")] * 6}, "probability must be 6 weights ≥ 0"),
        ({"mask": ["finish"], "probability": [1.0] * 6}, "a mask or a probability, not both"),
    ],
)
def test_wrong_masks_and_weights_are_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        ActionSpace(SCHEMAS).sample(**given)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?:A\d{4,6})$",
        r"[A-Z]{3}-[0-9a-f]{8}",
        r"(?:RMA|RET)-\d+",
        r"\w+@\w+\.(com|org)",
        r"[^,]+",
        r"a?b*c{2,}",
        r"\+\d{1,3} ?\d{6,}",
        r"[\w.-]{1,64}",
        r"x|y|",
    ],
)
def test_patterns_are_drawn_from(pattern: str) -> None:
    draw, rng = compile_pattern(pattern), np.random.default_rng(1)
    assert draw is not None
    drawn = {draw(rng) for _ in range(100)}
    assert all(re.fullmatch(pattern, text) for text in drawn)
    assert len(drawn) > 2


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(a)\1", r"\bword", "(", "[a"])
def test_patterns_beyond_the_parser_fall_back_to_text(pattern: str) -> None:
    assert compile_pattern(pattern) is None
    schema = {"function": {"name": "f", "parameters": {"properties": {"p": {"type": "string", "pattern": pattern}}}}}
    assert isinstance(ActionSpace([schema], seed=1).sample(), dict)


def test_streams_are_the_same_on_every_version() -> None:
    space = ActionSpace(SCHEMAS, seed=7)
    assert [space.sample() for _ in range(3)] == [
        {"name": "hand_off", "arguments": {"reason": "z", "summary": "mbi7lmADHb UxaZ"}},
        {"name": "finish", "arguments": {"outcome": "refused"}},
        {"name": "wait", "arguments": {"seconds": 1219612}},
    ]


def test_a_sync_vector_environment_takes_the_spaces() -> None:
    envs = gym.vector.SyncVectorEnv([Echo, Echo])
    observations, _ = envs.reset(seed=1)
    assert observations in envs.observation_space
    assert observations["content"] == ("é — ✓ {}",) * 2
    envs.action_space.seed(3)
    actions = envs.action_space.sample()
    observations, *_ = envs.step(actions)
    assert [json.loads(content) for content in observations["content"]] == list(actions)
    envs.close()


def test_an_async_vector_environment_takes_them_without_shared_memory() -> None:
    envs = gym.vector.AsyncVectorEnv([Echo, Echo], shared_memory=False)
    envs.reset(seed=1)
    observations, *_ = envs.step(("hello", {"name": "f", "arguments": {}}))
    assert observations["content"] == ('"hello"', '{"name": "f", "arguments": {}}')
    envs.close()


def test_an_async_vector_environment_with_shared_memory_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=re.escape("shared_memory=False")):
        gym.vector.AsyncVectorEnv([Echo, Echo])
