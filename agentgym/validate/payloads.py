"""Texts that would do something if they were evaluated, planted wherever an agent can write; and slow ones."""

from __future__ import annotations

import base64
import os
import pickle
import time
from typing import Any

from agentgym.env import ToolEnv
from agentgym.scenario import Scenario, roomy
from agentgym.validate.moves import begin, go_on
from agentgym.validate.registry import Finding
from agentgym.validate.subject import Played, Subject


class _Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (self.path,)


_PRODUCT = "7061*7193"
_RESULT = str(7061 * 7193)
"""If the product shows up anywhere, somebody evaluated the text."""


def payloads(canary: str) -> list[str]:
    """Texts that make *canary*, or show a product, where they are evaluated, formatted with or loaded."""
    pickled = base64.b64encode(pickle.dumps(_Bomb(canary))).decode("ascii")
    return [
        f"__import__('os').mkdir({canary!r}) or {_PRODUCT}",
        f"'; ATTACH DATABASE '{canary}' AS x; CREATE TABLE x.t (a); --",
        f"x' || ({_PRODUCT}) || '",
        f"!!python/object/apply:os.mkdir ['{canary}']",
        f"{{{{ {_PRODUCT} }}}} ${{{_PRODUCT}}} <%= {_PRODUCT} %> #{{{_PRODUCT}}}",
        f"{{{{ cycler.__init__.__globals__.os.mkdir('{canary}') }}}}",
        "{0.__class__.__init__.__globals__} {env} %(secret)s %n %s $HOME",
        f"$(mkdir {canary}) `mkdir {canary}` | mkdir {canary}",
        pickled,
        "&a [*a, *a, *a]",
    ]


def plant(env: ToolEnv, played: Played, text: str, turn: int, finding: Finding) -> int:
    """Gold up to its end, every text argument of some tools set to *text*, then the end; how many calls."""
    tools = list(env.domain.toolset.values())
    calls = 0
    begin(env, played, len(played.actions) - 1, scenario=roomy(played.scenario))
    for tool in tools[turn % len(tools) :] + tools[: turn % len(tools)]:
        arguments = {
            name: text
            for name, schema in tool.parameters["properties"].items()
            if schema.get("type") in ("string", ["string", "null"]) and "enum" not in schema
        }
        if not arguments or tool.name == "hand_off":
            continue
        calls += 1
        if go_on(
            env,
            [{"name": tool.name, "arguments": {**_known_arguments(played, tool.name), **arguments}, "thought": text}],
        ).ended:
            break
    else:
        go_on(
            env,
            [
                {"name": text, "arguments": text},
                {"name": "confirm_with_user", "arguments": {"tool": text, "arguments": {text: text}}},
            ],
        )
        go_on(env, [{"name": "finish", "arguments": {"outcome": "done", "answer": {text: [text]}}}])
    if env.trace[-1].error.startswith("the environment failed") or (env.verdict and env.verdict.status == "error"):
        finding.failures.append(
            f"{played.scenario.id}: {text[:60]!r} broke the environment: {env.verdict.error if env.verdict else ''}"
        )
    told = [step for step in env.trace if _RESULT in step.shown]
    if told:
        finding.failures.append(
            f"{played.scenario.id}: {text[:60]!r} was evaluated by {told[0].ran.name if told[0].ran else 'nothing'}"
        )
    return calls


def _known_arguments(played: Played, name: str) -> dict[str, Any]:
    return next((dict(action["arguments"]) for action in played.actions if action["name"] == name), {})


def pristine(subject: Subject) -> list[str]:
    """A reset after the payloads gives the content of a world that never saw them."""
    fresh = subject.make()
    wrong = []
    for scenario in subject.scenarios[:1]:
        hashes = []
        for env in (subject.env, fresh):
            env.reset(seed=0, options={"scenario": scenario})
            hashes.append(env.state_hash)
        if len(set(hashes)) > 1:
            wrong.append(f"{scenario.id}: the world is not pristine after reset")
    fresh.close()
    return wrong


_CATASTROPHES = (
    "a",
    "1",
    "1,",
    " ",
    "(",
    "-",
    "A1-",
    "&#",
    "\\u00",
    "%4",
    "one two ",
    "$1.0",
    "'",
    "\u0301",
    "1 2 ",
    "ab.",
)


def slowest(subject: Subject, finding: Finding) -> float:
    """The largest ratio of the times for a long and a short text, said to the user and given as an answer."""
    chosen = [s for s in subject.scenarios if s.secrets or s.checks.said][:: max(1, len(subject.scenarios) // 2)][:2]
    worst = 0.0
    for scenario in chosen or subject.scenarios[:1]:
        for unit in _CATASTROPHES:
            short, long = (
                min(_seconds(subject.env, scenario, unit, size) for _ in range(2)) for size in (10_000, 100_000)
            )
            ratio = long / max(short, 0.0005)
            worst = max(worst, ratio)
            if ratio > 20:
                finding.failures.append(f"{scenario.id}: 100 KB of {unit!r} took {ratio:.0f} times as long as 10 KB")
    return worst


def _seconds(env: ToolEnv, scenario: Scenario, unit: str, size: int) -> float:
    text = (unit * (size // len(unit) + 1))[:size] + "!"
    env.reset(seed=0, options={"scenario": scenario})
    # The processor's time, since a machine with other work to do would fail good code.
    start = time.process_time()
    go_on(
        env,
        [
            {"name": "respond", "arguments": {"message": text}},
            {"name": "finish", "arguments": {"outcome": "done", "answer": text}},
        ],
    )
    return time.process_time() - start
