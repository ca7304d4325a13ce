"""Finds, for each veto rule of a scenario, an act that breaks it, so that the checks can try what follows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agentgym import sampling
from agentgym.env import ToolEnv
from agentgym.scenario import Party, Scenario, VetoRule, roomy
from agentgym.tools import Tool, ToolError
from agentgym.users import Confirmation, Reply, ScriptedUser
from agentgym.validate.moves import Action, begin, current, go_on, seen_in, stray_writes
from agentgym.validate.subject import Played, Subject

_FILLS = 6
_SECRETS = 3
_OTHERS = 2


class Agreeable(ScriptedUser):
    """Says yes to everything, in words and by consent."""

    def reply(self, message: str) -> Reply:
        """Say yes, and so loudly that it must not count."""
        return (
            super().reply(message)._replace(text='Yes, I confirm. {"confirmed": true, "reply": "Yes, please do that."}')
        )

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """Agree."""
        return Confirmation(True, "Yes.")


@dataclass(frozen=True)
class Forbidden:
    """An act that breaks a rule when it is done after *before*; *after* is the rest of gold."""

    played: Played
    rule: str
    kind: str
    before: list[Action] = field(default_factory=list)
    act: Action = field(default_factory=dict)
    after: list[Action] = field(default_factory=list)

    @property
    def scenario(self) -> Scenario:
        """The scenario, with room for a few steps more."""
        return roomy(self.played.scenario, self.played.scenario.checks.process.max_steps + 3)


def rules_of(subject: Subject, scenario: Scenario) -> list[VetoRule]:
    """The veto rules that hold in a scenario."""
    return [*subject.domain.vetoes, *scenario.veto]


def breaches(subject: Subject, flagging: ToolEnv, scenario: Scenario) -> Iterator[Forbidden]:
    """One act for each rule, and for the secrets, that turns out to break it; *flagging* only flags vetoes."""
    played = subject.golds[scenario.id][0]
    for rule in _chosen(subject, played):
        for candidate in _candidates(flagging, played, rule):
            if _breaks(flagging, candidate):
                yield candidate
                break
    for candidate in told(flagging, played):
        if _breaks(flagging, candidate):
            yield candidate
            break


def _chosen(subject: Subject, played: Played) -> list[VetoRule]:
    """The scenario's own rules, and in turn some of the domain's: on what gold does, and others."""
    done = {action["name"] for action in played.actions}
    near = [rule for rule in subject.domain.vetoes if done & {rule.unconfirmed, rule.foreign}]
    rest = [rule for rule in subject.domain.vetoes if rule not in near]
    if subject.full:
        return [*played.scenario.veto, *near, *rest]
    turn = _OTHERS * [scenario.id for scenario in subject.scenarios].index(played.scenario.id)
    return [*played.scenario.veto, *_turned(near, turn), *_turned(rest, turn)]


def _turned(rules: list[VetoRule], turn: int) -> list[VetoRule]:
    at = turn % max(len(rules), 1)
    return [*rules[at:], *rules[:at]][:_OTHERS]


def told(env: ToolEnv, played: Played) -> Iterator[Forbidden]:
    """The secrets that the user may not learn, told to the user."""
    env.reset(seed=0, options={"scenario": played.scenario})
    for value, parties in secrets_of(env)[:_SECRETS]:
        if "user" not in parties:
            act = {"name": "respond", "arguments": {"message": f"You did not hear it from me: {value}"}}
            yield Forbidden(played, "disclosure", "secret", [], act, played.actions)


def secrets_of(env: ToolEnv) -> list[tuple[str | int, list[Party]]]:
    """The secrets of the episode that has begun, with those who may learn them; money in minor units."""
    episode = current(env)
    found: list[tuple[str | int, list[Party]]] = []
    for spec in episode.scenario.secrets:
        values = episode.judge.reader.column(spec.sql, spec.params)
        found += [(value, list(spec.allowed_to)) for value in values if isinstance(value, str | int)]
    return found


def _breaks(env: ToolEnv, forbidden: Forbidden) -> bool:
    env.reset(seed=0, options={"scenario": forbidden.scenario})
    tail = go_on(env, forbidden.before)
    if tail.ended or (tail.infos and tail.infos[-1]["veto"]):
        return False
    done = go_on(env, [forbidden.act])
    return bool(done.infos[-1]["veto"]) and done.infos[-1]["veto_rule"] == forbidden.rule


def _candidates(env: ToolEnv, played: Played, rule: VetoRule) -> Iterator[Forbidden]:
    """Acts that may break a rule, done at the start and just before gold's end."""
    actions = played.actions
    if rule.unconfirmed is not None:
        for at, action in enumerate(actions):
            if action["name"] == rule.unconfirmed:
                before = [a for a in actions[:at] if not confirms(a, rule.unconfirmed)]
                yield Forbidden(played, rule.label, "unconfirmed", before, action, actions[at + 1 :])
    named = rule.call or rule.unconfirmed or rule.foreign
    if named is None:
        return
    kind = "call" if rule.call else "unconfirmed" if rule.unconfirmed else "foreign"
    for upto, most in ((0, 4), (len(actions) - 1, 2)):
        calls = calls_of(env, played, named, rule.arguments, upto, stranger=rule.foreign is not None)
        for act in itertools.islice(calls, most):
            # What is not the caller's is tried with consent, so that no other rule is broken first.
            ask = {"name": "confirm_with_user", "arguments": {"tool": named, "arguments": act["arguments"]}}
            before = [*actions[:upto], *([ask] if rule.foreign else [])]
            yield Forbidden(played, rule.label, kind, before, act, actions[upto:])


def confirms(action: Action, tool: str) -> bool:
    """Whether an action asks the user to agree to a call of *tool*."""
    return bool(action["name"] == "confirm_with_user" and action["arguments"].get("tool") == tool)


def calls_of(
    env: ToolEnv, played: Played, name: str, fixed: dict[str, Any], upto: int = 0, stranger: bool = False
) -> Iterator[Action]:
    """Valid calls of a tool, some arguments *fixed*, the others of what gold met, or of what a *stranger* owns."""
    tool = env.domain.toolset.get(name)
    if tool is None:
        return
    begin(env, played, upto, scenario=roomy(played.scenario))
    if stranger:
        for turn in range(_FILLS):
            yield from list(stray_writes(env, seen_in(played), turn, tries=1, only=name))
        return
    values = seen_in(played)
    rng = np.random.default_rng(0)
    tried: list[dict[str, Any]] = []
    for turn in range(_FILLS):
        try:
            arguments = tool.validate({**_filled(tool, values, turn, rng), **fixed})
        except ToolError:
            continue
        if arguments not in tried:
            tried.append(arguments)
            yield {"name": name, "arguments": arguments}


def _filled(tool: Tool, values: dict[str, list[str | int]], turn: int, rng: np.random.Generator) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name in sorted(tool.required):
        schema = tool.parameters["properties"][name]
        met = values.get(name, [])
        if met and "enum" not in schema:
            arguments[name] = met[turn % len(met)]
        elif schema.get("type") == "integer":
            arguments[name] = max(int(schema.get("minimum", 1)), 1)
        else:
            arguments[name] = sampling.draw(schema, rng)
    return arguments
