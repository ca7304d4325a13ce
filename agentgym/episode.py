"""One episode: the world, the clock, the events, the user, the hooks, the trace and the judge, moved by calls.

The order of a step: hooks see the call · a veto may refuse it · it runs as one transaction · time passes and events
take effect · the judge looks · hooks see the result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentgym.actions import Call as Parsed
from agentgym.actions import Invalid
from agentgym.backends import Backend
from agentgym.domain import Domain
from agentgym.errors import DomainError
from agentgym.events import EventQueue
from agentgym.hooks import Context, Fault, Hook
from agentgym.judge import Judge
from agentgym.presentation import Answer, Presentation
from agentgym.presented import present
from agentgym.random import Stream
from agentgym.refused import REFUSALS, refused
from agentgym.scenario import Effect, Event, Query, Scenario
from agentgym.text import clean, dumps, fresh
from agentgym.tools import Tool, ToolError
from agentgym.trace import Call, Step
from agentgym.users import User
from agentgym.verdict import Verdict
from agentgym.world import CallResult, iso

HOST_TOOLS = frozenset({"respond", "confirm_with_user", "hand_off", "wait", "finish"})
INVALID_STREAK = 20
"""So many invalid calls in a row end the episode."""

_MILLISECONDS = 1000


class Episode:
    """One episode from its opening to its verdict.

    Args:
        scenario: what is played.
        domain: its domain.
        seed: seed of the episode; all streams are its children.
        backend: a world, which is restored here.
        user: the simulated user.
        hooks: outermost first.
        on_veto: overrides the effect of every veto rule.
        presentation: how the agent is shown the tools, None for as they are.

    Attributes:
        declared: the scenario as it was given.
        scenario: the scenario with what the hooks declare besides.
        trace: the steps so far.
        end_reason: "" until the end.
        tools: this episode's tools by the names that the agent was shown.
        verdict: None until the end.
    """

    def __init__(
        self,
        scenario: Scenario,
        domain: Domain,
        seed: int,
        backend: Backend,
        user: User,
        hooks: Sequence[Hook] = (),
        on_veto: Effect | None = None,
        presentation: Presentation | None = None,
    ) -> None:
        self.declared, self.domain, self.seed = scenario, domain, seed
        self.backend, self.user, self.hooks = backend, user, list(hooks)
        self.presentation = presentation
        self._around, self._through = self.hooks, self.hooks
        if presentation is not None:
            self._around = [hook for hook in self.hooks if not hook.beneath]
            self._through = [*self._around, presentation, *(hook for hook in self.hooks if hook.beneath)]
        self._name_streams()
        for hook in reversed(self.hooks):
            scenario = hook.on_scenario(scenario)
        self.scenario = scenario
        self.tools: Mapping[str, Tool] = self._own_tools
        self.now_ms = scenario.now
        self.trace: list[Step] = []
        self.end_reason = ""
        self.verdict: Verdict | None = None
        self.invalid_calls = self.tool_calls = self.redundant_calls = self.fired = 0
        self._invalid_streak = 0
        self._stepping = False
        self._asked: Call | None = None
        self._seen: set[str] = set()
        self._notices: list[dict[str, str]] = []
        self.context = Context(seed, scenario.id, self.now_ms)
        try:
            backend.restore(scenario.initial_state.patch)
        except REFUSALS as error:
            if not scenario.initial_state.patch:
                raise
            raise refused(scenario, domain, error) from error
        user.start(scenario.user, scenario.language)
        self._events = EventQueue(scenario.events)
        self.judge = Judge(scenario, domain, backend.reading, self.trace, on_veto)

    def _name_streams(self) -> None:
        """Give each hook its stream, named after it and counted from the innermost among those of one name."""
        seen: dict[str, int] = {}
        for hook in reversed(self.hooks):
            hook.presentation = self.presentation
            seen[hook.name] = count = seen.get(hook.name, 0) + 1
            hook.stream = Stream(self.seed, f"hook/{hook.name}" + (f"#{count}" if count > 1 else ""))

    @property
    def _own_tools(self) -> Mapping[str, Tool]:
        """The tools as the agent is shown them where no hook changes that."""
        return self.domain.toolset if self.presentation is None else self.presentation.toolset

    def open(self) -> tuple[str, str, list[dict[str, Any]]]:
        """Return the system text, the opening message and the tool schemas as the agent gets them."""
        system, opening = self.domain.task(self.scenario), self.scenario.user.opening
        tools = self.domain.schemas
        if self.presentation is not None:
            system, opening, tools = self.presentation.on_task(system, opening, tools, self.context)
        if self.hooks:
            # A copy, which the hooks may change.
            tools = json.loads((self.presentation or self.domain).schemas_text)
        for hook in reversed(self.hooks):
            hook.scheduled = 0
            system, opening, tools = hook.on_task(system, opening, tools, self.context)
        self.present(tools)
        return system, opening, tools

    def present(self, schemas: list[dict[str, Any]]) -> None:
        """Take the tools as the agent was shown them; calls are parsed by these; hooks turn them into the domain's."""
        hidden = [schema for hook in self.hooks for schema in hook.hidden]
        self.tools = present([*schemas, *hidden], self._own_tools) if self.hooks else self._own_tools

    @property
    def scheduled(self) -> int:
        """How many times the hooks mean to fire."""
        return sum(hook.scheduled for hook in self.hooks)

    @property
    def sim_time(self) -> float:
        """Simulated seconds since the start."""
        return (self.now_ms - self.scenario.now) / _MILLISECONDS

    def step(self, parsed: Parsed | Invalid) -> tuple[dict[str, str], list[str]]:
        """Take one action and return the observation and the names of the checkpoints newly credited."""
        step = Step(len(self.trace) + 1, None, self.now_ms, thought=parsed.thought)
        self.trace.append(step)
        self._stepping = True
        self.context.step, self.context.now_ms, self.context.fired = step.index, self.now_ms, []
        self.context.extra_ms = 0
        tool = self.domain.toolset.get(parsed.name)
        self._asked = None
        if isinstance(parsed, Invalid):
            self._refuse(step, parsed)
        else:
            self._invalid_streak = 0
            self.tool_calls += 1
            step.sent = Call(parsed.name, parsed.arguments)
            self._run(step, step.sent)
            tool = self.domain.toolset.get(step.ran.name if step.ran else parsed.name)
        new = self.judge.after_step(step, tool)
        if (
            self.judge.vetoes.rule
            and self.judge.vetoes.ended
            and self.end_reason in ("", "finished", "handed_off", "user_left")
        ):
            self.end_reason = "veto"
        if not self.end_reason and self._invalid_streak >= INVALID_STREAK:
            self.end_reason = "invalid_streak"
        if not self.end_reason and step.index >= self.scenario.checks.process.max_steps:
            self.end_reason = "step_budget"
        if self.end_reason:
            self._conclude()
        observation = self._observe(step)
        self._stepping = False
        return observation, new

    def abort(self, error: str) -> dict[str, str]:
        """End the episode because something that is not the agent's broke: infrastructure, neither success nor failure.

        Returns the last observation, which tells the agent so much and nothing of the error.
        """
        self.end_reason = "infrastructure"
        self._conclude(error)
        text = "the environment failed; this episode does not count"
        if self._stepping:
            self.trace[-1].role, self.trace[-1].error, self.trace[-1].shown = "error", text, text
        return {"role": "error", "name": "", "content": text, "notices": "[]"}

    def _conclude(self, error: str = "", tamper: bool | None = None) -> None:
        if tamper is None:
            # A backend that broke has nothing to say.
            tamper = not error and self.backend.tampered()
        self.verdict = self.judge.verdict(self.end_reason, self.redundant_calls, tamper)
        if error:
            self.verdict = replace(self.verdict, success=False, status="error", error=error)

    def pass_until(self, moment_ms: int) -> None:
        """Let time pass until a moment, if it lies ahead; what is due by then takes effect."""
        if moment_ms > self.now_ms:
            self._pass(moment_ms - self.now_ms)

    def _refuse(self, step: Step, invalid: Invalid) -> None:
        self.invalid_calls += 1
        self._invalid_streak += 1
        step.role, step.error, step.shown = "error", invalid.error, invalid.error
        step.raw = invalid.raw_arguments
        if invalid.name in self._own_tools:
            step.sent = Call(invalid.name, {})

    def _run(self, step: Step, sent: Call) -> None:
        call = self._hooked(step, sent) if self._through else sent
        if call is None:
            return None
        tool = self.domain.toolset[call.name]
        step.owned = self.judge.owned(call, tool)
        step.blocked = self.judge.blocks(call, tool, step.owned)
        if step.blocked:
            step.role, step.error = "error", f"{sent.name} was refused: the policy forbids it here ({step.blocked})"
            step.shown = step.error
            return None
        step.ran, step.writes = call, tool.writes
        self._count_redundant(call)
        result = self._host_call(step, call) if call.name in HOST_TOOLS else self._world_call(step, call)
        self._show(step, call, result)
        if step.fault:
            # Its result is lost, so asking again is no waste.
            self._seen.discard(dumps(call))
        self._pass(tool.latency_ms + self.context.extra_ms)
        if step.ok:
            self._trigger(step, step.ran)
            for hook in self.hooks:
                if hook.goal is not None and hook.exposed and self.judge.matcher.matches(hook.goal, step.ran):
                    hook.succeeded = True
        return None

    def _hooked(self, step: Step, sent: Call) -> Call | None:
        """The call as the hooks leave it, None when one of them breaks or answers it.

        Raises:
            DomainError: a hook made a call that cannot be made: its bug, not the agent's.
        """
        call = Call(sent.name, fresh(sent.arguments))
        for hook in self._through:
            if hook is self.presentation:
                self._asked = call
            seen = hook.before_call(call, self.context)
            if isinstance(seen, Answer):
                self._answer(step, call, seen)
                return None
            if isinstance(seen, Fault):
                self._break(step, call, hook, seen)
                self._pass(seen.latency_ms + self.context.extra_ms)
                return None
            call = seen
        if call == sent or self.presentation is not None:
            # A presentation has validated what it made.
            return call
        tool = self.domain.toolset.get(call.name)
        try:
            if tool is None:
                raise ToolError(f"there is no tool {call.name!r}")
            return Call(call.name, tool.validate(call.arguments))
        except ToolError as error:
            names = ", ".join(hook.name for hook in self.hooks)
            raise DomainError(f"the hooks ({names}) made a call that cannot be made: {error}") from error

    def _answer(self, step: Step, call: Call, answer: Answer) -> None:
        """Show what the presentation answers itself; hooks around it may change that like any result."""
        self._shown(step, call, CallResult(answer.ok, answer.value, answer.error), self._around)
        self._pass(answer.latency_ms + self.context.extra_ms)

    def _break(self, step: Step, call: Call, hook: Hook, fault: Fault) -> None:
        text = fault.error
        if self.presentation is not None and hook.beneath:
            text = self.presentation.broken(call, self._asked or call, fault)
        step.role, step.error, step.shown, step.fault = "error", text, text, hook.name

    def _show(self, step: Step, call: Call, result: CallResult) -> None:
        """Keep what the call gave and let the hooks change what is shown."""
        step.ok, step.value, step.replayed = result.ok, result.value, result.replayed
        self._shown(step, call, result, self._through)

    def _shown(self, step: Step, call: Call, result: CallResult, hooks: Sequence[Hook]) -> None:
        for hook in reversed(hooks):
            # What stands around the presentation sees the call as the presentation got it.
            own = call if self._asked is None or hook is self.presentation or hook.beneath else self._asked
            seen = hook.after_call(own, result, self.context)
            if isinstance(seen, Fault):
                self._break(step, call, hook, seen)
                self.context.extra_ms += seen.latency_ms
                return
            result = seen
        if not result.ok:
            step.role, step.error = "error", clean(result.error)
            step.shown = step.error
            return
        step.shown = clean(result.value) if isinstance(result.value, str) else dumps(result.value)

    def _world_call(self, step: Step, call: Call) -> CallResult:
        result, step.changes = self.backend.call(call.name, call.arguments, self.now_ms)
        if any(not change.table.startswith("_") for change in step.changes):
            self._seen.clear()
        self.judge.after_call(step.changes)
        return result

    def _count_redundant(self, call: Call) -> None:
        """The same call again, with no change of the world between, is redundant; waiting never is."""
        key = dumps(call)
        if key in self._seen:
            self.redundant_calls += 1
        elif call.name != "wait":
            self._seen.add(key)

    def _host_call(self, step: Step, call: Call) -> CallResult:
        arguments = call.arguments
        if call.name == "respond":
            reply = self.user.reply(arguments["message"])
            step.role, step.user_faults = "user", list(reply.faults)
            self._leave(reply.leaves)
            return CallResult(True, reply.text)
        if call.name == "confirm_with_user":
            return self._confirm(step, arguments)
        if call.name == "wait":
            return CallResult(True, self._wait(arguments["seconds"] * _MILLISECONDS))
        self.end_reason = "handed_off" if call.name == "hand_off" else "finished"
        step.role = "end"
        return CallResult(True, "the case was handed to a person" if call.name == "hand_off" else "the case is closed")

    def _confirm(self, step: Step, arguments: Mapping[str, Any]) -> CallResult:
        name = arguments["tool"]
        tool = self.domain.toolset.get(name)
        if tool is None or not tool.writes:
            return CallResult(False, None, f"tool must be one that changes something, got {dumps(name)}")
        try:
            proposed = Call(name, tool.validate(arguments["arguments"]))
        except ToolError as error:
            return CallResult(False, None, f"the proposed call cannot be made: {error}")
        step.ran = Call("confirm_with_user", {"tool": name, "arguments": proposed.arguments})
        step.role = "user"
        if self.judge.consents.covers(proposed):
            step.granted = True
            return CallResult(True, dumps({"confirmed": True, "reply": "You already have my consent to that."}))
        answer = self.user.confirm(name, proposed.arguments)
        step.granted, step.user_faults = answer.granted, list(answer.faults)
        if answer.granted:
            self.judge.grant(proposed)
        self._leave(answer.leaves)
        return CallResult(True, dumps({"confirmed": answer.granted, "reply": answer.text}))

    def _leave(self, leaves: bool) -> None:
        if leaves:
            self.end_reason = "user_left"

    def _wait(self, limit_ms: int) -> str:
        """Move the clock to the limit or to the first event that the agent is told of."""
        end = self.now_ms + limit_ms
        before = len(self._notices)
        while (due := self._events.pop(end)) is not None:
            self._happen(*due)
            if len(self._notices) > before:
                return f"it is {iso(self.now_ms)}; something happened"
        self.now_ms = end
        return f"it is {iso(self.now_ms)}"

    def _pass(self, milliseconds: int) -> None:
        """Let time pass; events that became due take effect now, between transactions, and none after the end."""
        end = self.now_ms + milliseconds
        while not self.end_reason and (due := self._events.pop(end)) is not None:
            self._happen(*due)
        self.now_ms = self.context.now_ms = max(end, self.now_ms)

    def _trigger(self, step: Step, call: Call) -> None:
        if self._events.idle or self.end_reason:
            return
        self._events.after_call(call, self.now_ms, self.judge.matcher.matches)
        self._watch(frozenset(change.table for change in step.changes))
        self._pass(0)

    def _watch(self, changed: frozenset[str]) -> None:
        if changed:
            reader = self.judge.reader

            def holds(query: Query, tables: frozenset[str]) -> bool:
                return bool(tables & reader.tables(query.sql)) and reader.holds(query)

            self._events.after_change(changed, self.now_ms, holds)

    def _happen(self, due_ms: int, event: Event) -> None:
        """One event takes effect."""
        self.now_ms = self.context.now_ms = max(self.now_ms, due_ms)
        self._seen.clear()
        if event.do:
            changes = self.backend.apply(event.do, "event")
            self.judge.after_event(changes)
            self._watch(frozenset(change.table for change in changes))
        if event.user is not None:
            self.user.change(event.user)
            if event.user.wants is not None:
                self.judge.consents.keep(event.user.wants)
            if event.user.say:
                self._notices.append({"at": iso(self.now_ms), "from": "user", "text": event.user.say})
        if event.notice:
            self._notices.append({"at": iso(self.now_ms), "from": "system", "text": event.notice})
        for hook in self.hooks:
            hook.on_event(event.name, self.context)

    def _observe(self, step: Step) -> dict[str, str]:
        step.notices, self._notices = dumps(self._notices), []
        ran = step.ran if self.presentation is None else None
        name = ran.name if ran else step.sent.name if step.sent else ""
        observation = {"role": step.role, "name": name, "content": step.shown, "notices": step.notices}
        plain = tuple(observation.values())
        for hook in reversed(self.hooks):
            observation = hook.on_observe(observation, self.context)
        if tuple(observation.values()) != plain:
            observation = {key: clean(text) for key, text in observation.items()}
        if len(self.context.fired) > 1:
            place = {hook.name: n for n, hook in enumerate(reversed(self.hooks))}
            self.context.fired.sort(key=lambda name: place.get(name, len(place)))
        step.shown, step.notices = observation["content"], observation["notices"]
        step.fired = list(self.context.fired)
        self.fired += len(self.context.fired)
        return observation

    def get_state(self) -> dict[str, Any]:
        """Everything but the world's bytes, JSON-able."""
        return {
            "seed": self.seed,
            "now_ms": self.now_ms,
            "end": [self.end_reason, *((self.verdict.error, self.verdict.tamper) if self.verdict else ("", False))],
            "counts": [self.invalid_calls, self.tool_calls, self.redundant_calls, self.fired, self._invalid_streak],
            "seen": sorted(self._seen),
            "notices": self._notices,
            "events": self._events.get_state(),
            "user": self.user.get_state(),
            "judge": self.judge.get_state(),
            "hooks": [[h.name, h.scheduled, h.stream.get_state(), h.get_state()] for h in self.hooks],
            "trace": [step.to_json() for step in self.trace],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state that `get_state` gave, in an episode of the same scenario and hooks."""
        self.now_ms = self.context.now_ms = state["now_ms"]
        counts = state["counts"]
        self.invalid_calls, self.tool_calls, self.redundant_calls, self.fired, self._invalid_streak = counts
        self._seen, self._notices = set(state["seen"]), list(state["notices"])
        self._events.set_state(state["events"])
        self.user.set_state(state["user"])
        self.trace[:] = [Step.from_json(row) for row in state["trace"]]
        self.judge.set_state(state["judge"])
        self.context.step, self.context.fired = len(self.trace), []
        for hook, (_, scheduled, stream, own) in zip(self.hooks, state["hooks"], strict=True):
            hook.scheduled = scheduled
            hook.stream.set_state(stream)
            hook.set_state(own)
        self.end_reason, error, tamper = state["end"]
        if self.end_reason:
            self._conclude(error, tamper)
