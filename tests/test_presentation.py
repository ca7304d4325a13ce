"""A presentation stands between the agent and the domain's tools: both ways, in every part of an episode."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from typing import Any, Literal

import gymnasium as gym
import pytest
from pydantic import BaseModel, ConfigDict
from spawned import GOOD, call, confirm, variant
from tiny_domain import TINY

import agentgym
from agentgym import GoldRunner
from agentgym.common import COMMON_TOOLS
from agentgym.env import ToolEnv
from agentgym.hooks import Context, Hook
from agentgym.presentation import Answer, Presentation
from agentgym.presented import present
from agentgym.scenario import GoldAction, Scenario
from agentgym.tools import ToolError
from agentgym.trace import Call
from agentgym.world import CallResult

_ASK = {
    "type": "function",
    "function": {
        "name": "ask",
        "description": "Call what the desk can do.",
        "parameters": {
            "type": "object",
            "properties": {
                "what": {"type": "string", "description": "its name, spelt backwards"},
                "with": {"type": "object", "description": "its arguments", "default": {}},
            },
            "required": ["what"],
            "additionalProperties": False,
        },
    },
}
_COMMON = {tool.name: tool for tool in COMMON_TOOLS}


class Backwards(Presentation):
    """Everything behind one tool; names are spelt backwards, results stand under a key that is drawn."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.shown = tuple(present([_ASK, *(tool.schema for tool in COMMON_TOOLS)], _COMMON).values())

    def before_call(self, call: Call, ctx: Context) -> Call | Answer:
        if call.name == "confirm_with_user":
            inner = self._plain(call.arguments["arguments"])
            if isinstance(inner, Answer):
                return inner
            return Call("confirm_with_user", {"tool": inner.name, "arguments": inner.arguments})
        return self._plain(call.arguments) if call.name == "ask" else call

    def _plain(self, asked: dict[str, Any]) -> Call | Answer:
        name = asked["what"][::-1]
        tool = TINY.toolset.get(name)
        if tool is None:
            return Answer(False, None, f"nothing is called {asked['what']}", latency_ms=50)
        try:
            return Call(name, tool.validate(asked.get("with", {})))
        except ToolError as error:
            return Answer(False, None, str(error))

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        if call.name in _COMMON or not result.ok:
            return result
        return result._replace(value={self.key: result.value})

    def show(self, call: Call) -> Call:
        asked = {"what": call.name[::-1], "with": call.arguments}
        if call.name == "confirm_with_user":
            inner = self.show(Call(call.arguments["tool"], call.arguments["arguments"]))
            return Call("confirm_with_user", {"tool": "ask", "arguments": inner.arguments})
        return call if call.name in _COMMON else Call("ask", asked)

    def read(self, call: Call, content: str) -> Any:
        value = json.loads(content)
        return value if call.name in _COMMON else value[self.key]


class Settings(BaseModel):
    """What Backwards-v0 takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    key: Literal["found", "got", ""] = ""


def _prepare(scenario: Scenario, seed: int, settings: Settings) -> Scenario:
    key = settings.key or ("found", "got")[seed % 2]
    return scenario.model_copy(update={"tags": [*scenario.tags, f"key:{key}"]})


def _presenter(scenario: Scenario | None) -> Backwards:
    tags = scenario.tags if scenario is not None else []
    return Backwards(next((tag[4:] for tag in tags if tag.startswith("key:")), "got"))


class BackwardsEnv(ToolEnv):
    domain = replace(TINY, settings=Settings, prepare=_prepare, presentations={"backwards": _presenter})


if "Backwards-v0" not in gym.registry:
    gym.register(id="Backwards-v0", entry_point="test_presentation:BackwardsEnv")

SCENARIO = variant()


def make(**kwargs: Any) -> ToolEnv:
    env = gym.make("Backwards-v0", split="train", disable_env_checker=True, **kwargs).unwrapped
    assert isinstance(env, ToolEnv)
    return env


def shown(env: ToolEnv, action: dict[str, Any]) -> dict[str, Any]:
    assert env.presentation is not None
    return env.presentation.show(Call(**action))._asdict()


def test_the_agent_sees_the_presentation_and_the_judge_the_domain() -> None:
    env = make()
    assert [tool["function"]["name"] for tool in env.tools][0] == "ask", "also before the first reset"
    _, info = env.reset(seed=4, options={"scenario": SCENARIO})
    assert "list_loans" not in info["task"] and '"name": "ask"' in info["task"]
    contents = []
    for action in GOOD:
        observation, *_, info = env.step(shown(env, action))
        contents.append(observation["content"])
        assert observation["name"] != "list_loans"
    assert env.verdict is not None and env.verdict.success and info["tool_calls"] == 5
    assert json.loads(contents[0])["found"]["loans"]
    assert [step.sent.name for step in env.trace if step.sent][:3] == ["ask", "confirm_with_user", "ask"]
    assert [step.ran.name for step in env.trace if step.ran][:3] == ["list_loans", "confirm_with_user", "renew_loan"]


def test_direct_shows_the_domains_own_tools() -> None:
    env = make(tools="direct")
    env.reset(seed=4, options={"scenario": SCENARIO})
    assert env.presentation is None and env.tools == TINY.schemas
    for action in GOOD:
        env.step(action)
    assert env.verdict is not None and env.verdict.success


def test_gold_acts_and_reads_through_the_presentation() -> None:
    for seed in (1, 2):
        env = make()
        scenario = build_bound()
        observation, _ = env.reset(seed=seed, options={"scenario": scenario})
        runner = GoldRunner(env.scenario, 0, env.presentation)
        while (action := runner.next(observation)) is not None:
            runner.set_state(json.loads(json.dumps(runner.get_state())))
            observation, *_ = env.step(action)
        assert env.verdict is not None and env.verdict.success, env.verdict


def build_bound() -> Scenario:
    """The renewal with a gold plan that binds the loan to what the list shows."""
    renew: dict[str, Any] = {"loan_id": {"from": "look", "path": "$.loans[0].loan_id"}, "days": 14}
    actions = [
        build_action("list_loans", "look", member_id="M1"),
        build_action("confirm_with_user", tool="renew_loan", arguments=renew),
        build_action("renew_loan", **renew),
        build_action("respond", message="Emma is now due on 2026-04-03."),
        build_action("finish", outcome="done"),
    ]
    return SCENARIO.model_copy(update={"gold": [SCENARIO.gold[0].model_copy(update={"actions": actions})]})


def build_action(name: str, label: str = "", **arguments: Any) -> GoldAction:
    return GoldAction.model_validate({"name": name, "arguments": arguments} | ({"as": label} if label else {}))


def test_what_the_interface_answers_itself_never_reaches_the_world() -> None:
    env = make()
    env.reset(seed=4, options={"scenario": SCENARIO})
    before = env.state_hash
    observation, *_, info = env.step(call("ask", what="nonsense"))
    assert observation["role"] == "error" and observation["content"] == "nothing is called nonsense"
    assert observation["name"] == "ask" and info["sim_time"] == 0.05 and info["perturbation"] == ""
    assert env.trace[-1].ran is None and env.trace[-1].fault == "" and env.state_hash == before
    observation, *_ = env.step(confirm("ask", what="naol_wener", **{"with": {"loan_id": "L101", "days": 99}}))
    assert "days must be in 7..28" in observation["content"] and env.trace[-1].granted is None


class Watching(Hook):
    """Remembers the calls that it was asked about."""

    name = "watching"

    def __init__(self) -> None:
        self.before: list[str] = []
        self.after: list[str] = []

    def before_call(self, call: Call, ctx: Context) -> Call:
        self.before.append(call.name)
        return call

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        self.after.append(call.name)
        return result


def test_hooks_around_it_see_calls_and_results_as_shown() -> None:
    env, watching = make(), Watching()
    env.add_hook(watching)
    env.reset(seed=4, options={"scenario": SCENARIO})
    env.step(shown(env, GOOD[0]))
    env.step(call("ask", what="nonsense"))
    assert watching.before == watching.after == ["ask", "ask"]


def test_settings_of_make_and_of_one_reset() -> None:
    env = make(key="got")
    env.reset(seed=4, options={"scenario": SCENARIO})
    assert "got" in json.loads(env.step(shown(env, GOOD[0]))[0]["content"])
    env.reset(seed=4, options={"scenario": SCENARIO, "key": "found"})
    assert "found" in json.loads(env.step(shown(env, GOOD[0]))[0]["content"])
    with pytest.raises(TypeError, match=r"has no setting 'kee' \(did you mean \"key\"\?\)"):
        make(kee="got")
    with pytest.raises(ValueError, match="key"):
        make(key="other")
    with pytest.raises(ValueError, match="expected tools to be one of backwards, direct, got 'forwards'"):
        make(tools="forwards")
    with pytest.raises(ValueError, match=r"unknown option 'kex' .*options are scenario, level and key"):
        env.reset(options={"kex": 1})


def test_a_copy_in_mid_episode_is_presented_alike() -> None:
    env = make()
    env.reset(seed=5, options={"scenario": SCENARIO})
    actions = [shown(env, action) for action in GOOD]
    env.step(actions[0])
    state = env.save_state()
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), agentgym.fork(env)]
    rest = [env.step(action)[0] for action in actions[1:]]
    for other in copies:
        assert [other.step(action)[0] for action in actions[1:]] == rest
    env.reset(seed=4, options={"scenario": SCENARIO})
    env.restore_state(state)
    assert [env.step(action)[0] for action in actions[1:]] == rest


def test_a_domain_without_presentations_takes_none() -> None:
    with pytest.raises(ValueError, match="expected tools to be one of direct, got 'typed'"):
        gym.make("agentgym:Refund-v0", tools="typed")
