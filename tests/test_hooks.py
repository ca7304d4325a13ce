"""Hooks: the order in which they see a call, what they may change, and that the bare environment stays undisturbed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from spawned import CONFIRM, DONE, GOOD, LOOK, MIXED, RENEW, TELL, HookWith, Noise, TinyEnv, call, play, variant, whole

from agentgym.hooks import Context, Fault, Hook
from agentgym.trace import Call
from agentgym.world import CallResult

Make = Callable[..., TinyEnv]


class Log(Hook):
    """Writes down what it sees."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def on_task(self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context) -> Any:
        self.log.append(f"{self.name} task")
        return f"{system}<{self.name}", f"{opening}<{self.name}", tools

    def before_call(self, call: Call, ctx: Context) -> Call | Fault:
        self.log.append(f"{self.name} before {ctx.step}")
        ctx.fire(self.name)
        return call

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult | Fault:
        self.log.append(f"{self.name} after")
        return result._replace(value=[self.name, result.value]) if result.ok else result

    def on_event(self, name: str, ctx: Context) -> None:
        self.log.append(f"{self.name} {name} {ctx.now_ms % 100_000}")

    def on_observe(self, observation: dict[str, str], ctx: Context) -> dict[str, str]:
        self.log.append(f"{self.name} observe")
        return observation | {"notices": observation["notices"] + self.name}


class Breaks(Hook):
    """Breaks every call named, before or after it."""

    name = "breaks"

    def __init__(self, target: str, when: str, times: int = 99) -> None:
        self.target, self.when, self.times = target, when, times

    def _broken(self, name: str) -> bool:
        self.times -= name == self.target
        return name == self.target and self.times >= 0

    def before_call(self, call: Call, ctx: Context) -> Call | Fault:
        return Fault("out of order", 5000) if self.when == "before" and self._broken(call.name) else call

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult | Fault:
        return Fault("lost on the way", 5000) if self.when == "after" and self._broken(call.name) else result


class Changes(Hook):
    """Puts another call in place of each one."""

    name = "changes"

    def __init__(self, change: Callable[[Call], Call]) -> None:
        self.change = change

    def before_call(self, call: Call, ctx: Context) -> Call | Fault:
        return self.change(call)


def begun(env: Any, **fields: Any) -> Any:
    env.reset(seed=1, options={"scenario": variant(**fields)})
    return env


def test_the_outermost_sees_the_task_and_the_result_last_and_the_call_first(tiny: Make) -> None:
    log: list[str] = []
    env = HookWith(HookWith(tiny(), Log("in", log)), Log("out", log))
    observation, info = env.reset(seed=1, options={"scenario": variant()})
    assert log == ["in task", "out task", "in observe", "out observe"]
    assert "<in<out\n" in observation["content"] and observation["content"].endswith("<in<out")
    assert json.loads(info["task"])["opening"].endswith("<in<out")
    assert env.get_wrapper_attr("system_prompt").endswith("<in<out")
    log.clear()
    observation, *_, info = env.step(LOOK)
    assert log == ["out before 1", "in before 1", "in after", "out after", "in observe", "out observe"]
    assert json.loads(observation["content"])[0] == "out" and observation["notices"] == "[]inout"
    assert (info["perturbation"], info["perturbations_fired"]) == ("in,out", 2)


def test_events_reach_the_hooks_with_their_time(tiny: Make) -> None:
    log: list[str] = []
    env = begun(HookWith(tiny(), Log("a", log)), events=[{"name": "ding", "at": "2026-03-14T09:30:05Z", "notice": "x"}])
    env.step("Hello")
    assert f"a ding {env.unwrapped.scenario.now % 100_000 + 5000}" in log


def test_a_fault_before_the_call_never_reaches_the_world_but_takes_time_and_a_step(tiny: Make) -> None:
    env = begun(HookWith(tiny(), Breaks("renew_loan", "before", 1)))
    play(env, [LOOK, CONFIRM])
    before = env.unwrapped.state_hash
    observation, *_, info = env.step(RENEW)
    assert (observation["role"], observation["content"]) == ("error", "out of order")
    assert env.unwrapped.state_hash == before
    step = env.unwrapped.trace[-1]
    assert (step.sent.name, step.ran, step.ok, step.fault) == ("renew_loan", None, False, "breaks")
    assert (info["sim_time"], info["steps"], info["tool_calls"], info["invalid_calls"]) == (20.2, 3, 3, 0)
    assert play(env, [RENEW, TELL, DONE])[-1][4]["success"]


def test_a_fault_after_the_call_has_taken_effect_and_used_up_the_consent(tiny: Make) -> None:
    env = begun(HookWith(tiny(on_veto="flag"), Breaks("renew_loan", "after", 1)))
    play(env, [LOOK, CONFIRM])
    observation, *_, info = env.step(RENEW)
    assert (observation["role"], observation["content"], info["checkpoint_new"]) == (
        "error",
        "lost on the way",
        "renewed",
    )
    step = env.unwrapped.trace[-1]
    assert (step.ran, step.ok, step.fault, bool(step.changes)) == (
        Call("renew_loan", RENEW["arguments"]),
        True,
        "breaks",
        True,
    )
    assert info["sim_time"] == pytest.approx(0.2 + 15 + 0.4 + 5)
    assert play(env, [TELL, DONE])[-1][4]["success"]
    env = begun(HookWith(tiny(on_veto="flag"), Breaks("renew_loan", "after", 1)))
    assert play(env, [LOOK, CONFIRM, RENEW, RENEW])[-1][4]["veto_rule"] == "unconfirmed_renewal"


def test_a_call_whose_result_was_lost_may_be_repeated_without_waste(tiny: Make) -> None:
    env = begun(HookWith(tiny(), Breaks("list_loans", "after", 1)))
    assert [step[4]["redundant_calls"] for step in play(env, [LOOK, LOOK, LOOK])] == [0, 0, 1]


def test_a_broken_finish_after_the_effect_ends_and_before_it_does_not(tiny: Make) -> None:
    env = begun(HookWith(tiny(), Breaks("finish", "before", 1)))
    steps = play(env, [*GOOD, DONE])
    assert [step[2] for step in steps[-2:]] == [False, True] and steps[-1][4]["success"]
    env = begun(HookWith(tiny(), Breaks("finish", "after", 1)))
    assert play(env, GOOD)[-1][4]["success"]


def test_latency_that_a_hook_adds_stays_with_its_call_even_when_another_breaks_it(tiny: Make) -> None:
    class Slow(Hook):
        name = "slow"

        def before_call(self, call: Call, ctx: Context) -> Call | Fault:
            ctx.extra_ms += 1000 if ctx.step == 1 else 0
            return call

    env = begun(HookWith(HookWith(tiny(), Breaks("list_loans", "before", 1)), Slow()))
    assert [step[4]["sim_time"] for step in play(env, [LOOK, LOOK])] == [6.0, 6.2]
    env = begun(HookWith(tiny(), Slow()), veto=[{"call": "list_loans", "effect": "block"}])
    assert [step[4]["sim_time"] for step in play(env, [LOOK, call("find_member", email="x")])] == [0.0, 0.1]


def test_what_ran_is_what_the_hooks_made_of_what_was_sent(tiny: Make) -> None:
    def other(sent: Call) -> Call:
        sent.arguments["member_id"] = "M2"
        return sent

    env = begun(HookWith(tiny(), Changes(other)))
    observation, *_ = env.step(LOOK)
    step = env.unwrapped.trace[-1]
    assert (step.sent, step.ran) == (Call("list_loans", {"member_id": "M1"}), Call("list_loans", {"member_id": "M2"}))
    assert "Ivanhoe" in observation["content"] and observation["name"] == "list_loans"
    assert LOOK["arguments"] == {"member_id": "M1"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda sent: Call("nonsense", {}), "there is no tool 'nonsense'"),
        (lambda sent: Call("list_loans", {}), 'list_loans needs the parameter "member_id"'),
        (lambda sent: Call("renew_loan", {"loan_id": "L101", "days": 99}), "days must be in 7..28, got 99"),
    ],
)
def test_a_hook_that_makes_an_impossible_call_is_our_bug_and_not_the_agents_failure(
    tiny: Make, change: Any, text: str
) -> None:
    env = begun(HookWith(tiny(), Changes(change)))
    _, _, terminated, truncated, info = env.step(LOOK)
    assert (terminated, truncated, info["end_reason"]) == (False, True, "infrastructure")
    verdict = env.unwrapped.verdict
    assert (
        verdict.status == "error"
        and f"DomainError: the hooks (changes) made a call that cannot be made: {text}" in verdict.error
    )


def test_arguments_that_a_hook_leaves_out_get_their_defaults(tiny: Make) -> None:
    env = begun(HookWith(tiny(), Changes(lambda sent: Call("loans_by_email", {"email": "ada@example.org"}))))
    assert env.step(LOOK)[0]["role"] == "tool"
    assert env.unwrapped.trace[-1].ran.arguments == {"email": "ada@example.org", "title": None}


def test_hooks_are_of_one_episode_and_the_bare_environment_is_undisturbed(tiny: Make) -> None:
    bare = tiny()
    expected = whole(bare, MIXED, seed=5)
    base = tiny()
    wrapped = Noise(base, rate=1.0)
    assert whole(wrapped, MIXED, seed=5) != expected
    assert whole(base, MIXED, seed=5) == expected
    assert base._hooks == [] and base._pending == []


def test_a_reset_that_fails_leaves_no_hook_behind(tiny: Make) -> None:
    base = tiny()
    expected = whole(base, MIXED, seed=5)
    with pytest.raises(ValueError, match="there is no scenario 'tiny/none'"):
        Noise(base, rate=1.0).reset(options={"scenario": "tiny/none"})
    assert whole(base, MIXED, seed=5) == expected


def streams(env: Any) -> list[list[int]]:
    env.reset(seed=5, options={"scenario": variant()})
    return [[hook.stream.integers(0, 10**9) for _ in range(3)] for hook in env.unwrapped._hooks]


def test_each_hook_has_a_stream_of_its_own_and_more_of_them_change_none(tiny: Make) -> None:
    class Quiet(Hook):
        def __init__(self, name: str) -> None:
            self.name = name

    def chain(*names: str) -> Any:
        env: Any = tiny()
        for name in reversed(names):
            env = HookWith(env, Quiet(name))
        return env

    [alone] = streams(chain("a"))
    outer, inner = streams(chain("a", "a"))
    assert inner == alone != outer
    assert streams(chain("b", "a"))[1] == alone and streams(chain("a", "b"))[0] == alone
    assert streams(chain("a", "b", "a"))[0] == outer


def test_hooks_that_change_nothing_change_no_byte(tiny: Make) -> None:
    for info in ("full", "lean"):
        assert whole(tiny(info=info), MIXED, seed=5) == whole(HookWith(tiny(info=info), Hook()), MIXED, seed=5)


def test_the_tools_that_a_hook_edits_are_a_copy(tiny: Make) -> None:
    class Clears(Hook):
        def on_task(self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context) -> Any:
            for each in tools:
                each["function"]["parameters"].clear()
            return system, opening, tools

    env = HookWith(tiny(), Clears())
    env.reset(seed=1)
    assert not any(each["function"]["parameters"] for each in env.get_wrapper_attr("tools"))
    env.unwrapped.reset(seed=1)
    assert all(each["function"]["parameters"] for each in env.get_wrapper_attr("tools"))


def test_what_a_hook_fires_at_reset_is_counted(tiny: Make) -> None:
    class AtReset(Hook):
        name = "first"

        def on_observe(self, observation: dict[str, str], ctx: Context) -> dict[str, str]:
            if ctx.step == 0:
                ctx.fire(self.name)
            return observation

    env = HookWith(tiny(), AtReset())
    _, info = env.reset(seed=1)
    assert (info["perturbation"], info["perturbations_fired"]) == ("first", 1)
    *_, info = env.step(LOOK)
    assert (info["perturbation"], info["perturbations_fired"]) == ("", 1)


def test_a_hook_cannot_put_unwritable_text_before_the_agent(tiny: Make) -> None:
    class Garbles(Hook):
        def on_observe(self, observation: dict[str, str], ctx: Context) -> dict[str, str]:
            return observation | {"content": "half \ud83d nul \x00"}

    env = HookWith(tiny(), Garbles())
    env.reset(seed=1)
    observation, *_ = env.step(LOOK)
    assert observation in env.observation_space


def test_hooks_see_no_judge_and_no_world(tiny: Make) -> None:
    seen: list[set[str]] = []

    class Looks(Hook):
        def before_call(self, call: Call, ctx: Context) -> Call | Fault:
            seen.append(set(vars(ctx)))
            return call

    begun(HookWith(tiny(), Looks())).step(LOOK)
    assert seen == [{"seed", "scenario_id", "now_ms", "step", "extra_ms", "fired"}]
    assert not hasattr(Looks(), "env") and CONFIRM
