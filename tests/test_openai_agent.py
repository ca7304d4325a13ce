"""The tool-calling agent against a real server on loopback that plays every fault of models and endpoints."""

import json
import re
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from fault_server import (
    FaultServer,
    GoldModel,
    Reply,
    after_first,
    assistant,
    completion,
    first,
    free_port,
    tool_call,
)
from test_chat import TinyEnv

from agentgym import ChatSession, EndpointError, Usage, load_scenario
from agentgym.baselines.openai_agent import OpenAIAgent, main

SCENARIO = load_scenario(Path(__file__).parent / "tiny" / "scenarios" / "renew-001.yaml")
OPTIONS = {"scenario": SCENARIO.id}
KEY = "sk-not-to-be-shown"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def play(server: FaultServer, **settings: Any) -> tuple[ChatSession, OpenAIAgent]:
    agent = OpenAIAgent(model="m", base_url=server.url, **{"max_retries": 1, "timeout_s": 20.0, **settings})
    session = ChatSession(TinyEnv(split="test"))
    agent.play(session, seed=1, options=dict(OPTIONS))
    assert server.refused == []
    return session, agent


def solved(session: ChatSession) -> bool:
    return bool(session.info["success"]) and session.reward == 1.0


def contents(session: ChatSession) -> list[str]:
    """What the environment said after the opening."""
    return [message["content"] for message in session.messages[2:] if message["role"] != "assistant"]


@pytest.mark.parametrize("plan", [0, 1])
def test_a_correct_model_solves_the_scenario(plan: int) -> None:
    with FaultServer(GoldModel(SCENARIO, plan)) as server:
        session, _ = play(server)
    assert solved(session)
    assert session.info["invalid_calls"] == 0
    assert server.keys[0] == f"Bearer {KEY}"


FIND = json.dumps({"email": "ada@example.org"})
ADA = '"member_id": "M1"'

FAULTS: dict[str, tuple[Reply, list[str]]] = {
    "1 blank arguments": (
        completion(assistant(tool_call("find_member", ""))),
        ['error: find_member needs the parameter "email" (string)'],
    ),
    "1 no arguments": (
        completion(assistant({"id": "c", "type": "function", "function": {"name": "find_member"}})),
        ['needs the parameter "email"'],
    ),
    "1 null arguments": (
        completion(assistant(tool_call("find_member", None))),
        ['needs the parameter "email"'],
    ),
    "2 two calls, the first blank": (
        completion(assistant(tool_call("find_member", "", "a"), tool_call("find_member", FIND, "b"))),
        ['needs the parameter "email"', ADA],
    ),
    "3 cut off": (
        completion(assistant(tool_call("find_member", '{"email": "ada@exa')), "length"),
        ["error: the arguments of find_member are not valid JSON"],
    ),
    "3 cut off before the arguments": (
        completion(assistant(tool_call("find_member", FIND, "a"), tool_call("wait", "", "b")), "length"),
        [ADA, "error: the arguments of wait are not valid JSON"],
    ),
    "4 one good and one malformed": (
        completion(assistant(tool_call("find_member", FIND, "a"), tool_call("find_member", "{]", "b"))),
        [ADA, "are not valid JSON"],
    ),
    "5 the same id twice": (
        completion(assistant(tool_call("find_member", FIND, "a"), tool_call("find_member", FIND, "a"))),
        [ADA, ADA],
    ),
    "5 no id": (completion(assistant(tool_call("find_member", FIND, None))), [ADA]),
    "6 no call and no text": (completion({"role": "assistant", "content": None}, "stop"), ["the turn is empty"]),
    "6 null calls": (
        completion({"role": "assistant", "content": None, "tool_calls": None}, "stop"),
        ["[environment] error: the turn is empty"],
    ),
    "6 an empty list of calls": (
        completion({"role": "assistant", "content": "", "tool_calls": []}, "stop"),
        ["[environment] error: the turn is empty"],
    ),
    "7 a list": (completion(assistant(tool_call("find_member", "[1]"))), ["must be a JSON object, got a list"]),
    "7 a number": (completion(assistant(tool_call("find_member", "5"))), ["must be a JSON object, got a number"]),
    "7 a string": (completion(assistant(tool_call("find_member", '"x"'))), ["must be a JSON object, got a string"]),
    "7 NaN": (completion(assistant(tool_call("find_member", "NaN"))), ["hold NaN, which is no JSON number"]),
    "7 1e400": (completion(assistant(tool_call("find_member", '{"email": 1e400}'))), ["hold 1e400"]),
    "7 an object that is not text": (
        completion(assistant(tool_call("find_member", {"email": "ada@example.org"}))),
        [ADA],
    ),
    "8 an extra parameter": (
        completion(assistant(tool_call("find_member", '{"email": "x", "phone": "1"}'))),
        ['error: find_member has no parameter "phone"; its parameters are: email'],
    ),
    "8 an unknown tool": (completion(assistant(tool_call("find_membr", FIND))), ['(did you mean "find_member"?)']),
    "10 a call written as text": (
        completion(assistant(tool_call("find_member", FIND), content='{"name": "list_loans", "arguments": {}}')),
        ["[environment] a call written as text (list_loans) was not run"],
    ),
    "11 surrogates and NUL": (
        completion(
            assistant(tool_call("find_member", '{"email": "\\ud83d\\ude00\\ud83d\\u0000"}'), content="\ud83d \0")
        ),
        ["error: no member has the address '😀\ufffd␀'"],
    ),
    "text alone": (completion(assistant(content="Your phone number?"), "stop"), ["I have none."]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_model_gets_its_observation_and_the_episode_goes_on(fault: str) -> None:
    reply, told = FAULTS[fault]
    with FaultServer(after_first(GoldModel(SCENARIO), reply)) as server:
        session, agent = play(server)
    answers = contents(session)[1:]
    assert len(answers) > len(told)
    for text, answer in zip(told, answers, strict=False):
        assert text in answer
    assert solved(session)
    assert agent.usage.model_calls == len(server.requests)


def test_bug_kind_9_a_model_that_never_sends_a_valid_call_is_truncated() -> None:
    with FaultServer(lambda request: completion(assistant(tool_call("find_member", "{")))) as server:
        agent = OpenAIAgent(model="m", base_url=server.url)
        env = TinyEnv(split="train")
        usage = agent.run(env, seed=1, options={})
    assert env.verdict is not None
    assert (env.verdict.success, env.verdict.end_reason, env.verdict.status) == (False, "invalid_streak", "ok")
    assert usage.model_calls == len(server.requests) == 20


ONCE: dict[str, Reply] = {
    "429": Reply({"error": {"message": "slow down"}}, 429, {"retry-after": "0"}),
    "500": Reply({"error": {"message": "oops"}}, 500),
    "503": Reply(b"<html>", 503),
    "closed": Reply(close=True),
    "cut": Reply({"choices": []}, cut=True),
    "slow": Reply({"choices": []}, delay_s=1.5),
    "no JSON": Reply(b'{"choices": ['),
    "an error with status 200": Reply({"error": {"message": "overloaded"}}),
    "no choices": Reply({"id": "c", "choices": []}),
    "null choices": Reply({"id": "c", "choices": None}),
    "a null message": completion(None, "stop"),
    "another kind of JSON": Reply([1]),
    "null": Reply(None),
}


@pytest.mark.parametrize("fault", ONCE)
def test_a_passing_fault_of_the_endpoint_is_retried_and_counts_for_nothing(fault: str) -> None:
    with FaultServer(first([ONCE[fault]], GoldModel(SCENARIO))) as server:
        session, agent = play(server, timeout_s=0.5)
    assert solved(session)
    assert session.info["invalid_calls"] == 0
    assert len(server.requests) == agent.usage.model_calls + 1


LASTING = {
    "429": "answered 429 after 1 retries: .*slow down.*; run fewer episodes at once, wait, or raise max_retries",
    "500": "answered 500 after 1 retries: .*oops.*; look into the server's log",
    "503": "answered 503 after 1 retries",
    "closed": "cannot be reached, after 1 retries: .*; check that it runs and the base URL",
    "cut": "cannot be reached, after 1 retries",
    "slow": r"gave no answer within 0\.5 s, after 1 retries; raise the time-out",
    "no JSON": r"answered 2 times without a message, last with a body that cannot be read: .*; check that it speaks",
    "an error with status 200": "answered 2 times without a message, last with .*overloaded",
    "no choices": "answered 2 times without a message",
    "null choices": "answered 2 times without a message",
    "a null message": "answered 2 times without a message",
    "another kind of JSON": "answered 2 times without a message",
    "null": "answered 2 times without a message",
}


@pytest.mark.parametrize("fault", LASTING)
def test_a_lasting_fault_of_the_endpoint_is_an_infrastructure_error(fault: str) -> None:
    with FaultServer(lambda request: ONCE[fault]) as server, pytest.raises(EndpointError, match=LASTING[fault]):
        play(server, timeout_s=0.5)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "answered 400: .*; the request does not suit this model"),
        (401, "answered 401: .*; check the API key in [$]OPENAI_API_KEY"),
        (403, "answered 403: .*; the API key in [$]OPENAI_API_KEY may not use this model"),
        (404, "answered 404: .*; check the model's name"),
    ],
)
def test_what_retrying_cannot_help_is_not_retried(status: int, text: str) -> None:
    refusal = Reply({"error": {"message": f"no, not with {KEY}"}}, status)
    with FaultServer(lambda request: refusal) as server, pytest.raises(EndpointError, match=text) as caught:
        play(server, max_retries=5)
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def test_retry_after_is_followed() -> None:
    busy = Reply({"error": {"message": "slow down"}}, 429, {"retry-after": "1"})
    start = time.perf_counter()
    with FaultServer(first([busy], GoldModel(SCENARIO))) as server:
        session, agent = play(server)
    assert solved(session)
    assert time.perf_counter() - start > 1.0
    assert agent.usage.wall_s > 1.0


def test_a_server_that_is_down_is_told() -> None:
    agent = OpenAIAgent(model="m", base_url=f"http://127.0.0.1:{free_port()}/v1", max_retries=0)
    with pytest.raises(EndpointError, match="cannot be reached, after 0 retries: .*; check that it runs"):
        agent.run(TinyEnv(split="test"), seed=1, options=dict(OPTIONS))


def test_what_was_spent_before_a_failure_can_be_read() -> None:
    answers = first([completion(assistant(tool_call("find_member", FIND)))], lambda request: Reply({}, 401))
    with FaultServer(answers) as server:
        agent = OpenAIAgent(model="m", base_url=server.url)
        with pytest.raises(EndpointError, match="401"):
            agent.run(TinyEnv(split="test"), seed=1, options=dict(OPTIONS))
    assert (agent.usage.model_calls, agent.usage.prompt_tokens) == (1, 100)


def test_tokens_and_money_are_summed() -> None:
    gold = GoldModel(SCENARIO)

    def script(request: dict[str, Any]) -> Reply:
        reply = gold(request)
        details = {"cached_tokens": 600}
        usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, "prompt_tokens_details": details}
        return Reply({**reply.body, "usage": usage})

    prices = {"price_prompt": 2.0, "price_completion": 10.0}
    with FaultServer(script) as server:
        _, cached = play(server, **prices, price_cached=0.5)
    gold = GoldModel(SCENARIO)
    with FaultServer(script) as server:
        _, plain = play(server, **prices)
    calls = cached.usage.model_calls
    assert calls == len(server.requests) == len(plain.call_seconds)
    assert (cached.usage.prompt_tokens, cached.usage.completion_tokens) == (1000 * calls, 50 * calls)
    assert cached.usage.cost_usd == pytest.approx(calls * (400 * 2 + 600 * 0.5 + 50 * 10) / 1e6)
    assert plain.usage.cost_usd == pytest.approx(calls * (1000 * 2 + 50 * 10) / 1e6)
    assert plain.usage.wall_s == pytest.approx(sum(plain.call_seconds))


def test_an_endpoint_that_counts_no_tokens_costs_nothing() -> None:
    gold = GoldModel(SCENARIO)
    with FaultServer(lambda request: Reply({**gold(request).body, "usage": None})) as server:
        session, agent = play(server, price_prompt=1.0)
    assert solved(session)
    assert agent.usage == Usage(agent.usage.model_calls, wall_s=agent.usage.wall_s)


def test_settings_go_with_each_request() -> None:
    settings: dict[str, Any] = {"temperature": 0.7, "model_seed": 40, "max_tokens": 99, "extra_body": {"top_k": 5}}
    with FaultServer(GoldModel(SCENARIO)) as server:
        play(server, **settings)
    sent = server.requests[-1]
    assert {name: sent[name] for name in ("model", "temperature", "seed", "max_tokens", "top_k")} == {
        "model": "m",
        "temperature": 0.7,
        "seed": 41,
        "max_tokens": 99,
        "top_k": 5,
    }
    with FaultServer(GoldModel(SCENARIO)) as server:
        play(server, temperature=None)
    assert server.requests[-1].keys() == {"model", "messages", "tools"}


def test_wrong_settings_are_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="expected max_retries ≥ 0 and timeout_s > 0, got -1 and 120.0"):
        OpenAIAgent(model="m", max_retries=-1)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ValueError, match="no API key: set OPENAI_API_KEY, or give the base URL"):
        OpenAIAgent(model="m")
    assert OpenAIAgent(model="m", base_url="http://127.0.0.1:1/v1").name == "openai/m"


@pytest.fixture
def _registered() -> Any:
    gym.register("TinyOpenAI-v0", entry_point="test_chat:TinyEnv")
    yield
    gym.registry.pop("TinyOpenAI-v0")


@pytest.mark.usefixtures("_registered")
def test_the_command_line_plays_one_episode(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["TinyOpenAI-v0", "--scenario", SCENARIO.id, "--model", "m", "--base-url"]
    with FaultServer(GoldModel(SCENARIO)) as server:
        assert main([*options, server.url]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["success"], printed["return"], printed["end_reason"]) == (True, 1.0, "finished")
    assert printed["model_calls"] == len(server.requests)
    assert main([*options, f"http://127.0.0.1:{free_port()}/v1", "--max-retries", "0"]) == 3
    assert re.search("^error: .* cannot be reached", capsys.readouterr().err)


def test_the_command_line_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "--base-url" in capsys.readouterr().out
