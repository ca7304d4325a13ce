"""What the checks play: gold runs replayed in part, extra reads, writes that nobody asked for, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from agentgym import changes as log
from agentgym import sampling
from agentgym.env import ToolEnv
from agentgym.episode import Episode
from agentgym.gold import GoldError, GoldRunner, observed
from agentgym.hooks import Hook
from agentgym.scenario import CallSpec, Scenario, roomy
from agentgym.tools import Tool, ToolError
from agentgym.trace import Call
from agentgym.validate.subject import Played, Policy

Action = dict[str, Any]


class Tail(NamedTuple):
    """How an episode went on: the rewards and infos of the steps taken, and whether it ended."""

    rewards: list[float]
    infos: list[dict[str, Any]]
    ended: bool

    @property
    def success(self) -> bool:
        """The episode ended in success."""
        return self.ended and bool(self.infos[-1]["success"])


def current(env: gym.Env[Any, Any]) -> Episode:
    """The episode that an environment plays."""
    base = env.unwrapped
    if not isinstance(base, ToolEnv):
        raise TypeError(f"expected an environment of agentgym, got {type(base).__name__}")
    return base._current()


def go_on(env: gym.Env[Any, Any], actions: Sequence[Any]) -> Tail:
    """Take *actions* until the episode ends or they are used up."""
    rewards: list[float] = []
    infos: list[dict[str, Any]] = []
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(float(reward))
        infos.append(info)
        if terminated or truncated:
            return Tail(rewards, infos, True)
    return Tail(rewards, infos, False)


def begin(
    env: gym.Env[Any, Any],
    played: Played,
    upto: int,
    seed: int = 0,
    hooks: Sequence[Hook] = (),
    scenario: Scenario | None = None,
) -> Tail:
    """Start the scenario of *played* and take its first *upto* actions again."""
    base = env.unwrapped
    if isinstance(base, ToolEnv):
        for hook in hooks:
            base.add_hook(hook)
    env.reset(seed=seed, options={"scenario": scenario or played.scenario})
    return go_on(env, played.actions[:upto])


def scalars(value: Any, key: str = "") -> Iterator[tuple[str, str | int]]:
    """Every text and whole number in a JSON value, with the key it stands under."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from scalars(entry, str(name))
    elif isinstance(value, list):
        for entry in value:
            yield from scalars(entry, key)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield key, value


def known(contents: Sequence[Any]) -> dict[str, list[str | int]]:
    """Key → the values seen under it in results and arguments, in order."""
    found: dict[str, dict[str | int, None]] = {}
    for content in contents:
        for key, value in scalars(observed(content) if isinstance(content, str) else content):
            found.setdefault(key, {})[value] = None
    return {key: list(values) for key, values in found.items()}


def seen_in(played: Played) -> dict[str, list[str | int]]:
    """What a run was shown and sent, by key."""
    return known([*(o["content"] for o in played.observations), *(a["arguments"] for a in played.actions)])


def free_reads(env: ToolEnv, scenario: Scenario) -> list[Tool]:
    """The reading tools that no rule, event, order or deadline of the scenario names."""
    process = scenario.checks.process
    named = {rule.call for rule in (*env.domain.vetoes, *scenario.veto)}
    named |= {spec.name for spec in process.forbidden} | {deadline.call.name for deadline in process.deadline}
    named |= {spec.name for pair in process.order for spec in pair}
    named |= {event.after.call.name for event in scenario.events if event.after}
    return [tool for tool in env.domain.tools if not tool.writes and tool.name not in named]


def reads(
    env: ToolEnv, scenario: Scenario, values: Mapping[str, Sequence[str | int]], only_own: bool
) -> Iterator[Action]:
    """Valid calls of the free reading tools on what was seen; with *only_own*, on things of the caller only."""
    for tool in free_reads(env, scenario):
        wanted = sorted(tool.required) or [name for name in tool.checks if name in values]
        if not wanted:
            yield {"name": tool.name, "arguments": {}}
        alternatives = [wanted] if tool.required else [[name] for name in wanted]
        for names in alternatives:
            yield from _filled(env, tool, names, values, only_own)


def _filled(
    env: ToolEnv, tool: Tool, names: Sequence[str], values: Mapping[str, Sequence[str | int]], only_own: bool
) -> Iterator[Action]:
    options = [list(_candidates(env, tool, name, values, only_own)) for name in names]
    for number in range(max((len(option) for option in options), default=0)):
        if all(options):
            arguments = {name: option[number % len(option)] for name, option in zip(names, options, strict=True)}
            try:
                tool.validate(arguments)
            except ToolError:
                continue
            yield {"name": tool.name, "arguments": arguments}


def _candidates(
    env: ToolEnv, tool: Tool, name: str, values: Mapping[str, Sequence[str | int]], only_own: bool
) -> Iterator[str | int]:
    schema = tool.parameters["properties"][name]
    if "enum" in schema:
        yield from [value for value in schema["enum"] if value is not None]
        return
    if not only_own or name not in tool.owners:
        yield from values.get(name, ())
        return
    judge, sql = current(env).judge, tool.owners[name]
    # An expression names its owner as well as a query does.
    sql = sql if sql.lstrip().upper().startswith(("SELECT", "WITH")) else f"SELECT {sql}"
    owner = current(env).scenario.domain.get(env.domain.caller)
    every = dict.fromkeys(
        value for found in values.values() for value in found if isinstance(value, str) and len(value) < 40
    )
    for value in every:
        if owner is not None and judge.reader.column(sql, {"value": value}) == [owner]:
            yield value


def own_reads(env: ToolEnv, scenario: Scenario, limit: int = 40) -> tuple[list[Action], Tail]:
    """Read breadth first everything of the caller's, from their own id on: the calls, and how the episode went."""
    env.reset(seed=0, options={"scenario": roomy(scenario)})
    values = known([dict(scenario.domain), {"given": list(scenario.given)}])
    done: dict[str, Action] = {}
    tail = Tail([], [], False)
    grew = True
    while grew and len(done) < limit:
        grew = False
        for action in list(reads(env, scenario, values, only_own=True)):
            key = json.dumps(action, sort_keys=True)
            if key in done or len(done) >= limit:
                continue
            grew, done[key] = True, action
            part = go_on(env, [action])
            tail = Tail(tail.rewards + part.rewards, tail.infos + part.infos, part.ended)
            if part.ended:
                return list(done.values()), tail
            for name, found in known([current(env).trace[-1].shown]).items():
                values[name] = list(dict.fromkeys([*values.get(name, []), *found]))
    return list(done.values()), tail


def stray_writes(
    env: ToolEnv, seen: Mapping[str, Sequence[str | int]], turn: int, tries: int = 3, only: str = ""
) -> Iterator[Action]:
    """Schema-valid calls of every writing tool, or *only* one, on rows that the run never met.

    Each *turn* starts with another tool.
    """
    tools = [tool for tool in env.domain.tools if tool.writes and only in ("", tool.name)]
    rows = _Rows(env, {value for values in seen.values() for value in values})
    rng = np.random.default_rng(turn)
    start = turn % max(len(tools), 1)
    for tool in tools[start:] + tools[:start]:
        for attempt in range(tries):
            # Rows that belong together: the payment of the order of the item.
            chosen: dict[str, Any] = {}
            arguments: dict[str, Any] = {}
            for name in tool.required:
                arguments[name] = rows.pick(name, chosen, turn * 7 + attempt * 3)
                if arguments[name] is None:
                    schema = tool.parameters["properties"][name]
                    small = schema.get("type") == "integer"
                    arguments[name] = max(int(schema.get("minimum", 1)), 1) if small else sampling.draw(schema, rng)
            try:
                yield {"name": tool.name, "arguments": tool.validate(arguments)}
            except ToolError:
                continue


class _Rows:
    """Keys of rows that a run never met."""

    def __init__(self, env: ToolEnv, met: set[str | int]) -> None:
        self._connection = current(env).backend.reading()
        self._met = met
        self._holders = {t.key[0]: t for t in log.tables(self._connection).values() if len(t.key) == 1}

    def pick(self, name: str, chosen: dict[str, Any], turn: int) -> Any:
        """A key for the argument *name*, of a row that goes with the rows *chosen* so far; None where there is none."""
        table = self._holders.get(name)
        if table is None:
            return chosen.get(name)
        shared = [column for column in table.columns if column.endswith("_id") and column in chosen]
        where = " AND ".join(f"{log.quote(column)} IS ?" for column in shared) or "1"
        sql = f"SELECT * FROM {log.quote(table.name)} WHERE {where} ORDER BY {log.quote(name)} LIMIT 200"
        cursor = self._connection.execute(sql, [chosen[column] for column in shared])
        found = [dict(zip(table.columns, row, strict=True)) for row in cursor.fetchall()]
        strange = [row for row in found if row[name] not in self._met]
        if not strange:
            return None
        row = strange[turn % len(strange)]
        chosen.update({column: value for column, value in row.items() if column.endswith("_id")})
        return row[name]


def with_extras(
    scenario: Scenario, plan: int, extras: Callable[[int], Sequence[Any]], change: Callable[[Action], Any]
) -> Policy:
    """Gold that takes *extras* after each of its actions and changes what it sends.

    The actions are counted from 1; 0 is before the first. Gold sees only what its own actions gave.
    """
    runner = GoldRunner(scenario, plan)
    queue: list[Any] = list(extras(0))
    own: list[Mapping[str, str] | None] = [None]
    state = {"number": 0, "waiting": True}

    def policy(observation: Mapping[str, str] | None) -> Any:
        if state["waiting"]:
            own[0], state["waiting"] = observation, False
        if queue:
            return queue.pop(0)
        try:
            action = runner.next(own[0])
        except GoldError:
            # What it binds to is not there: the episode stays open, which is no success.
            action = None
        if action is None:
            return None
        state["number"] += 1
        state["waiting"] = True
        queue.extend(extras(state["number"]))
        return change(action)

    return policy


def matches_rule(env: ToolEnv, scenario: Scenario, action: Action) -> bool:
    """Whether a call rule of the domain or the scenario forbids an action."""
    matcher = current(env).judge.matcher
    rules = [rule for rule in (*env.domain.vetoes, *scenario.veto) if rule.call]
    call = Call(action["name"], action["arguments"])
    return any(matcher.matches(CallSpec(name=rule.call or "", arguments=rule.arguments), call) for rule in rules)
