from __future__ import annotations

from typing import Any

import pytest
from spawned import TinyEnv
from tiny_domain import TINY

from agentgym.gold import GoldRunner
from agentgym.hooks import Context, Hook
from agentgym.presented import check_of, present
from agentgym.tools import ToolError
from agentgym.trace import Call

RENAMED = {"renew_loan": "extend_loan"}


class Rename(Hook):
    """Shows one tool and one of its parameters under other names, and turns calls back."""

    name = "rename"

    def on_task(self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context) -> Any:
        for tool in tools:
            function = tool["function"]
            if function["name"] == "renew_loan":
                function["name"] = "extend_loan"
                parameters = function["parameters"]
                parameters["properties"]["length_days"] = parameters["properties"].pop("days")
                parameters["required"] = ["loan_id", "length_days"]
        return system, opening, tools

    def before_call(self, call: Call, ctx: Context) -> Call:
        if call.name == "extend_loan":
            arguments = dict(call.arguments)
            return Call("renew_loan", {"loan_id": arguments["loan_id"], "days": arguments["length_days"]})
        return call


def test_a_domains_own_schemas_give_its_own_tools() -> None:
    assert present(TINY.schemas, TINY.toolset) == TINY.toolset


@pytest.mark.parametrize("name", sorted(TINY.toolset))
def test_checks_built_from_a_schema_agree_with_the_tools_own(name: str) -> None:
    tool = TINY.toolset[name]
    for parameter, schema in tool.parameters["properties"].items():
        built = check_of(schema)
        for value in (None, True, 0, 5, 14, 10**30, 7.0, 1.5, "", "L101", "x" * 600, [], {}, ["a"], {"a": 1}):
            outcomes: list[Any] = []
            for check in (tool.checks[parameter], built):
                try:
                    outcomes.append(check(value, parameter))
                except ToolError:
                    outcomes.append(ToolError)
            assert outcomes[0] == outcomes[1], (parameter, value)


def test_a_renamed_tool_is_called_by_the_name_that_the_agent_was_shown() -> None:
    env = TinyEnv(split="test")
    env.add_hook(Rename())
    observation, _ = env.reset(seed=1, options={"scenario": "tiny/renew-001"})
    runner = GoldRunner(env.scenario, 0)
    action = runner.next(observation)
    refused = env.step({"name": "renew_loan", "arguments": {"loan_id": "L101", "days": 14}})[0]
    assert refused["role"] == "error" and 'there is no tool "renew_loan"' in refused["content"]
    short = env.step({"name": "extend_loan", "arguments": {"loan_id": "L101", "length_days": 1}})[0]
    assert short["content"] == "length_days must be in 7..28, got 1"
    info: dict[str, Any] = {}
    while action is not None:
        if action["name"] == "renew_loan":
            arguments = action["arguments"]
            action = {
                "name": "extend_loan",
                "arguments": {"loan_id": arguments["loan_id"], "length_days": arguments["days"]},
            }
        observation, _, terminated, truncated, info = env.step(action)
        action = None if terminated or truncated else runner.next(observation)
    assert info["success"]


def test_an_unknown_type_in_a_schema_is_refused() -> None:
    with pytest.raises(TypeError, match=r"cannot have the type 'tuple'; expected one of string, integer"):
        check_of({"type": "tuple"})
