"""Assistant messages, however broken, become steps and well-formed histories."""

import json
import re
from typing import Any

import gymnasium as gym
import pytest
from fault_server import Message, assistant, misuse, tool_call
from openai.types.chat import ChatCompletionMessage
from tiny_domain import TINY

from agentgym import ChatSession, EpisodeError, ToolEnv

OPTIONS = {"scenario": "tiny/renew-001"}
FIND = json.dumps({"email": "ada@example.org"})


class TinyEnv(ToolEnv):
    """The lending desk."""

    domain = TINY


def begin(**settings: Any) -> ChatSession:
    session = ChatSession(TinyEnv(split="test", **settings))
    session.reset(seed=1, options=OPTIONS)
    return session


def check(session: ChatSession) -> None:
    """The history is one that an endpoint accepts and that can be written down."""
    assert misuse({"model": "m", "tools": session.tools, "messages": session.messages}) == ""
    json.dumps(session.messages, ensure_ascii=False).encode()


def send(session: ChatSession, message: Any, finish_reason: str | None = None) -> list[Message]:
    replies = session.send(message, finish_reason)
    check(session)
    assert session.messages[-len(replies) :] == replies
    return replies


def trace(session: ChatSession) -> list[Any]:
    found: list[Any] = session.env.unwrapped.trace  # type: ignore[attr-defined]
    return found


def test_reset_gives_the_system_text_and_the_opening() -> None:
    session = ChatSession(TinyEnv(split="test"))
    messages = session.reset(seed=1, options=OPTIONS)
    assert [message["role"] for message in messages] == ["system", "user"]
    assert "You act only by calling tools" in messages[0]["content"]
    assert messages[1]["content"].startswith("Hello, I'd like to keep Emma")
    assert messages == session.messages
    assert session.info["scenario_id"] == "tiny/renew-001"
    assert {tool["function"]["name"] for tool in session.tools} >= {"respond", "finish", "renew_loan"}


def test_lean_info_gives_the_same_conversation() -> None:
    lean, full = begin(info="lean"), begin()
    assert lean.messages == full.messages
    assert lean.messages[1]["content"].startswith("Hello, ")


def test_a_call_is_a_step_and_its_result_the_reply() -> None:
    session = begin()
    (reply,) = send(session, assistant(tool_call("find_member", FIND, "abc"), content="Let me look."))
    assert reply["role"] == "tool"
    assert reply["tool_call_id"] == "abc"
    assert json.loads(reply["content"])["member_id"] == "M1"
    assert [step.thought for step in trace(session)] == ["Let me look."]
    kept = session.messages[-2]
    assert kept == assistant(tool_call("find_member", FIND, "abc"), content="Let me look.")


def test_objects_of_openai_are_messages_too() -> None:
    session = begin()
    message = ChatCompletionMessage.model_validate(assistant(tool_call("find_member", FIND, "abc")))
    (reply,) = send(session, message, "tool_calls")
    assert json.loads(reply["content"])["name"] == "Ada Byron"


def test_several_calls_run_in_order_the_first_without_arguments() -> None:
    session = begin()
    replies = send(session, assistant(tool_call("find_member", "", "a"), tool_call("find_member", FIND, "b")))
    assert [reply["tool_call_id"] for reply in replies] == ["a", "b"]
    assert replies[0]["content"] == 'error: find_member needs the parameter "email" (string)'
    assert json.loads(replies[1]["content"])["member_id"] == "M1"
    assert session.info["steps"] == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"email": "ada@exam', "are not valid JSON"),
        ("[1]", "must be a JSON object, got a list"),
        ("3", "got a number"),
        ('"x"', "got a string"),
        ("NaN", "hold NaN"),
        ('{"email": 1e400}', "hold 1e400"),
        ('{"email": "a", "email": "b"}', 'name "email" twice'),
        ('{"email": "a", "mail": "b"}', 'has no parameter "mail"'),
        ('{"mail": "b"}', 'has no parameter "mail"'),
        ('{"email": 5}', "email must be a string, got 5"),
        (None, 'needs the parameter "email"'),
        (5, "got a number"),
        ("[" * 50_000, "nested deeper than 64 levels"),
    ],
)
def test_the_bad_call_gets_an_error_and_the_good_one_runs(arguments: Any, told: str) -> None:
    session = begin()
    replies = send(session, assistant(tool_call("find_member", arguments, "a"), tool_call("find_member", FIND, "b")))
    assert told in replies[0]["content"]
    assert replies[0]["content"].startswith("error: ")
    assert json.loads(replies[1]["content"])["member_id"] == "M1"
    assert session.info["invalid_calls"] == 1


def test_missing_and_repeated_ids_are_made_up_anew() -> None:
    session = begin()
    calls = [tool_call("find_member", FIND, i) for i in (None, "x", "x", "", 7, "call_2", "\ud83d")]
    first = [reply["tool_call_id"] for reply in send(session, assistant(*calls))]
    assert first[1] == "x"
    assert len(set(first)) == len(calls)
    (again,) = send(session, assistant(tool_call("find_member", FIND, "x")))
    assert again["tool_call_id"] not in first
    twin = begin()
    assert [reply["tool_call_id"] for reply in send(twin, assistant(*calls))] == first


@pytest.mark.parametrize("calls", [{}, {"tool_calls": None}, {"tool_calls": []}])
@pytest.mark.parametrize("content", [None, "", " \n", []])
def test_an_empty_turn_is_counted(calls: Any, content: Any) -> None:
    session = begin()
    (reply,) = send(session, {"role": "assistant", "content": content, **calls})
    assert reply["role"] == "user"
    assert reply["content"].startswith("[environment] error: the turn is empty")
    assert session.info["invalid_calls"] == 1
    assert "None" not in json.dumps(session.messages[2:])


def test_empty_turns_end_the_episode() -> None:
    session = ChatSession(TinyEnv(split="train"))
    session.reset(seed=1)
    turns = 0
    while not session.done:
        send(session, assistant())
        turns += 1
    assert turns == 20
    assert session.info["end_reason"] == "invalid_streak"


def test_text_alone_is_said_to_the_user() -> None:
    session = begin()
    (reply,) = send(session, assistant(content="What is your address?"))
    assert reply["role"] == "user"
    assert not reply["content"].startswith("[environment]")
    assert trace(session)[0].sent.name == "respond"
    send(session, "And the title?")
    parts = [{"type": "text", "text": "One "}, {"type": "text", "text": "more?"}]
    send(session, assistant(content=parts))
    send(session, {"role": "assistant", "content": None, "refusal": "I cannot do that."})
    said = [step.sent.arguments["message"] for step in trace(session)]
    assert said == ["What is your address?", "And the title?", "One more?", "I cannot do that."]


WRITTEN = [
    '<tool_call>{"name": "renew_loan", "arguments": {"loan_id": "L101", "days": 7}}</tool_call>',
    '```json\n{"name" : "renew_loan", "parameters": {}}\n```',
    "<function=renew_loan>{}</function>",
    "[TOOL_CALLS] [{}]",
]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_call_written_as_text_beside_a_structured_one_is_reported(written: str) -> None:
    session = begin()
    (reply,) = send(session, assistant(tool_call("find_member", FIND), content=written))
    assert json.loads(reply["content"].split("\n\n")[0])["member_id"] == "M1"
    assert re.search(r"\[environment\] a call written as text( \(renew_loan\))? was not run", reply["content"])
    assert [step.sent.name for step in trace(session)] == ["find_member"]


@pytest.mark.parametrize("text", ['The order says {"name": "Ada"}.', "I will call renew_loan now.", "a < b"])
def test_ordinary_text_is_not_taken_for_a_call(text: str) -> None:
    session = begin()
    (reply,) = send(session, assistant(tool_call("find_member", FIND), content=text))
    assert "[environment]" not in reply["content"]


@pytest.mark.parametrize("blank", ["", None, " "])
def test_a_call_that_was_cut_before_its_arguments_never_runs(blank: Any) -> None:
    calls = [tool_call("find_member", FIND, "a"), tool_call("finish", '{"outcome": "done"}', "b")]
    session = begin()
    replies = send(session, assistant(calls[0], tool_call("wait", blank, "b")), "length")
    assert json.loads(replies[0]["content"])["member_id"] == "M1"
    assert replies[1]["content"].startswith("error: the arguments of wait are not valid JSON")
    whole = begin()
    send(whole, assistant(*calls), "length")
    assert whole.done


def test_calls_after_the_end_are_answered_and_not_run() -> None:
    session = begin()
    calls = [
        tool_call("finish", '{"outcome": "done"}', "a"),
        tool_call("find_member", FIND, "b"),
        tool_call("x", "{", "c"),
    ]
    replies = send(session, assistant(*calls))
    assert [reply["tool_call_id"] for reply in replies] == ["a", "b", "c"]
    assert [reply["content"] for reply in replies[1:]] == ["error: the episode has ended; this call was not run"] * 2
    assert session.done
    assert session.info["end_reason"] == "finished"
    assert session.info["steps"] == 1
    with pytest.raises(EpisodeError, match=re.escape("the episode has ended; call reset() first")):
        session.send(assistant(content="more"))


def test_a_session_begins_with_reset() -> None:
    with pytest.raises(EpisodeError, match="the episode has not begun"):
        ChatSession(TinyEnv(split="test")).send("hello")


def test_a_reset_starts_over() -> None:
    session = begin()
    opening = list(session.messages)
    send(session, assistant(tool_call("finish", '{"outcome": "done"}', "a")))
    session.reset(seed=1, options=OPTIONS)
    assert (session.messages, session.done, session.reward) == (opening, False, 0.0)
    assert send(session, assistant(tool_call("find_member", FIND, "a")))[0]["tool_call_id"] == "a"


@pytest.mark.parametrize(
    "calls",
    [
        [None],
        [5],
        ["get"],
        [{}],
        [{"function": None}],
        [{"function": {"name": None}}],
        [{"id": "a", "type": "custom", "custom": {"name": "find_member", "input": "x"}}],
        [tool_call("", "{}")],
        [tool_call("finde member!", FIND)],
        [tool_call("x" * 5000, FIND)],
        [tool_call(["find_member"], FIND)],
        {"oops": 1},
        "call",
    ],
)
def test_what_is_no_call_is_answered(calls: Any) -> None:
    session = begin()
    (reply,) = send(session, {"role": "assistant", "content": None, "tool_calls": calls})
    assert reply["content"].startswith("error: ")
    assert len(reply["content"]) < 700
    assert session.info["invalid_calls"] == 1


def test_the_older_form_of_a_call_works() -> None:
    session = begin()
    (reply,) = send(session, assistant(function_call={"name": "find_member", "arguments": FIND}))
    assert json.loads(reply["content"])["member_id"] == "M1"


def test_the_history_keeps_broken_arguments_as_valid_json() -> None:
    session = begin()
    send(
        session, assistant(tool_call("find_member", '{"email": "ada', "a"), tool_call("find_member", "x" * 10**6, "b"))
    )
    kept = [call["function"]["arguments"] for call in session.messages[2]["tool_calls"]]
    assert json.loads(kept[0]) == {"invalid_arguments": '{"email": "ada'}
    assert len(kept[1]) < 2100


def test_surrogates_and_nul_do_no_harm() -> None:
    session = begin()
    bad = '{"loan_id": "L101", "body": "\\ud83d\\ude00 \\ud83d \\u0000"}'
    send(session, assistant(tool_call("add_note", bad), content="\ud83d\0"))
    assert trace(session)[0].sent.arguments["body"] == "😀 \ufffd ␀"
    assert trace(session)[0].thought == "\ufffd␀"
    assert json.loads(session.messages[2]["tool_calls"][0]["function"]["arguments"])["body"] == "😀 \ufffd ␀"
    send(session, assistant(content="\ud83d\ude00 \udc00\0"))
    assert trace(session)[1].sent.arguments["message"] == "😀 \ufffd␀"


class Noticing(gym.Wrapper[Any, Any, Any, Any]):
    """Something happens by itself at each step."""

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return ({**observation, "notices": '[{"text": "a late reply"}]'}, *rest)


def test_notices_follow_the_result() -> None:
    session = ChatSession(Noticing(TinyEnv(split="test")))
    session.reset(seed=1, options=OPTIONS)
    (reply,) = send(session, assistant(tool_call("find_member", FIND)))
    result, notice = reply["content"].split("\n\n")
    assert json.loads(result)["member_id"] == "M1"
    assert notice == '[environment] what happened since your last step: [{"text": "a late reply"}]'
    (said,) = send(session, assistant(content="Hello"))
    assert "a late reply" in said["content"]


def test_the_return_is_summed() -> None:
    session = begin(reward="shaped")
    send(session, assistant(tool_call("find_member", FIND), tool_call("list_loans", '{"member_id": "M1"}', "b")))
    assert session.reward == session.env.unwrapped.episode_return > 0  # type: ignore[attr-defined]
