"""Plays fixed episodes and prints a digest of each: ``python -m agentgym.validate.replay SUBJECT``.

V30 runs it in another process, with another hash seed, time zone, locale and folder, and compares.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from agentgym.random import derive
from agentgym.scenario import Scenario
from agentgym.text import dumps
from agentgym.validate.contents import Contents
from agentgym.validate.moves import current
from agentgym.validate.subject import Form, Subject

_WILD = 12


class Script(NamedTuple):
    """Fixed actions in a scenario. ``hashed``: the content hash of the world is taken at the end."""

    name: str
    scenario: Scenario
    actions: list[Any]
    hashed: bool


class Record(NamedTuple):
    """The bytes of every step, and the content hash at the end or ""."""

    rows: list[str]
    content: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the rows."""
        return hashlib.sha256("\n".join(self.rows).encode()).hexdigest()


def scripts(subject: Subject) -> list[Script]:
    """Each gold plan of each scenario, and a dozen schema-valid calls drawn at random."""
    found, space = [], subject.make().action_space
    for scenario in subject.scenarios:
        golds = subject.golds[scenario.id]
        for plan, played in enumerate(golds):
            found.append(Script(f"{scenario.id} gold[{plan}]", scenario, played.actions, plan == 0))
        space.seed(derive(0, scenario.id) % 2**32)
        own = [played.actions[0] for played in golds]
        wild = [space.sample() for _ in range(_WILD)]
        found.append(Script(f"{scenario.id} wild", scenario, [*own, "Hello?", *wild, {"name": "no_such_tool"}], False))
    return found


def shown_scripts(subject: Subject) -> list[tuple[Form, Script]]:
    """The first gold plan of each scenario and drawn calls, as they are in one form in turn, with ``full`` in each."""
    found = []
    for scenario in subject.scenarios:
        for form in subject.turn(subject.forms, scenario):
            actions = subject.gold(scenario, 0, env=form.env).actions
            form.env.action_space.seed(derive(1, scenario.id) % 2**32)
            wild = [form.env.action_space.sample() for _ in range(_WILD)]
            name = f"{scenario.id} ({form.name})"
            found.append((form, Script(f"{name} gold[0]", scenario, actions, True)))
            found.append((form, Script(f"{name} wild", scenario, [*actions[: len(actions) // 2], *wild], False)))
    return found


def row(observation: Any, reward: Any, terminated: bool, truncated: bool, info: Any) -> str:
    """One step as text: equal steps give equal text."""
    return dumps([observation, float(reward), terminated, truncated, info])


def start(env: gym.Env[Any, Any], scenario: Scenario, seed: int) -> str:
    """Reset and return the first row."""
    observation, info = env.reset(seed=seed, options={"scenario": scenario})
    return row(observation, 0.0, False, False, info)


def go(env: gym.Env[Any, Any], actions: Sequence[Any]) -> list[str]:
    """Take *actions* until the end, as rows."""
    rows = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        rows.append(row(observation, reward, terminated, truncated, info))
        if terminated or truncated:
            break
    return rows


def last(env: gym.Env[Any, Any]) -> str:
    """The verdict and the trace, as a row."""
    episode = current(env)
    return dumps([episode.verdict.to_json() if episode.verdict else None, [step.to_json() for step in episode.trace]])


def record(env: gym.Env[Any, Any], script: Script, seed: int = 11, contents: Contents | None = None) -> Record:
    """Play a script and keep every byte of it, with *contents* also what its world says in the end."""
    rows = [start(env, script.scenario, seed), *go(env, script.actions), last(env)]
    return Record(rows, contents.of(current(env).backend.reading()) if contents and script.hashed else "")


def main(argv: Sequence[str] | None = None) -> None:
    """Print one JSON object: name of each script → [digest, content hash].

    Args:
        argv: `Subject.arguments` as one JSON list; by default the program's.
    """
    subject = Subject(*json.loads((sys.argv[1:] if argv is None else argv)[0]))
    contents = Contents()
    records = {script.name: record(subject.env, script, contents=contents) for script in scripts(subject)}
    records |= {script.name: record(form.env, script, contents=contents) for form, script in shown_scripts(subject)}
    sys.stdout.write(json.dumps({name: [found.digest, found.content] for name, found in records.items()}) + "\n")


if __name__ == "__main__":
    main()
