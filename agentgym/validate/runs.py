"""V30, V31, V43: the same bytes again, elsewhere and after a fork; and randomness from the seed alone."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium as gym

from agentgym.env import ToolEnv
from agentgym.forking import fork
from agentgym.hooks import Hook
from agentgym.random import Stream
from agentgym.users import ScriptedUser
from agentgym.validate.contents import Contents
from agentgym.validate.moves import current
from agentgym.validate.registry import Finding, check
from agentgym.validate.replay import Record, Script, go, last, record, scripts, shown_scripts, start
from agentgym.validate.sources import SQL_SOURCES, Drawing, Drawn, Every, Hooked, Jitter, taken_away
from agentgym.validate.subject import Subject
from agentgym.world import WorldConnection
from agentgym.wrappers import SimulatedUser

_DIRTY = 50
_BESIDE = 8
_DEADLINE_S = 120


# V30


@check("V30", "byte equality")
def byte_equality(subject: Subject) -> Finding:
    """The same actions give the same bytes: again, elsewhere, after dirty episodes, beside others, rows reversed.

    As tools are shown in other forms, each scenario in one in turn: in two environments and in another process.
    """
    with tempfile.TemporaryDirectory() as folder, _elsewhere(subject, folder) as child:
        return _compared(subject, child)


def _compared(subject: Subject, child: subprocess.Popen[str]) -> Finding:
    finding, played = Finding(), scripts(subject)
    fresh = subject.make()
    contents = Contents()
    base = {script.name: record(fresh, script, contents=contents) for script in played}
    fresh.close()
    ways: dict[str, Callable[[], Mapping[str, Record]]] = {
        "again": lambda: {script.name: record(subject.env, script) for script in played},
        "after 50 dirty episodes": lambda: _after_dirt(subject, played),
        "beside 8 others": lambda: _beside(subject, played),
        "with rows reversed": lambda: _reversed(subject, played, contents),
    }
    for way, play in ways.items():
        for name, found in play().items():
            if found.digest != base[name].digest:
                finding.failures.append(f"{name}, {way}: {_first(base[name].rows, found.rows)}")
            elif found.content and found.content != base[name].content:
                finding.failures.append(f"{name}, {way}: the world differs in the end")
    shown = _in_forms(subject, finding, contents)
    finding.failures += _differences(child, base | shown)
    finding.figure = f"{len(played)} episodes of {len(subject.scenarios)} scenarios, {len(ways) + 1} ways"
    finding.figure += f"; {len(shown)} in other forms, 2 ways" if shown else ""
    return finding


def _in_forms(subject: Subject, finding: Finding, contents: Contents) -> dict[str, Record]:
    """What is recorded where tools are shown in other forms; what differs in another environment is a failure."""
    found: dict[str, Record] = {}
    fresh = {form.name: subject.make(tools=form.presentation, **form.settings) for form in subject.forms}
    for form, script in shown_scripts(subject):
        found[script.name] = record(form.env, script, contents=contents)
        again = record(fresh[form.name], script, contents=contents)
        if again != found[script.name]:
            finding.failures.append(
                f"{script.name}, in another environment: {_first(found[script.name].rows, again.rows)}"
            )
    for env in fresh.values():
        env.close()
    return found


def _first(wanted: Sequence[str], found: Sequence[str]) -> str:
    """Where two records part."""
    for step, (one, other) in enumerate(zip(wanted, found, strict=False)):
        if one != other:
            at = next(
                (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
                min(len(one), len(other)),
            )
            return f"step {step}: {one[max(0, at - 30) : at + 40]!r} became {other[max(0, at - 30) : at + 40]!r}"
    return f"{len(found)} rows, expected {len(wanted)}"


@contextlib.contextmanager
def _elsewhere(subject: Subject, folder: str) -> Iterator[subprocess.Popen[str]]:
    """The replay in another process, which runs meanwhile; ended when left."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "4242",
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "tr_TR.UTF-8",
        "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path),
    }
    env_id, generated, full, scenarios = subject.arguments
    # The other process works in another folder.
    same = [env_id, generated, full, None if scenarios is None else os.path.abspath(scenarios)]
    command = [sys.executable, "-m", "agentgym.validate.replay", json.dumps(same)]
    child = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def _differences(child: subprocess.Popen[str], base: Mapping[str, Record]) -> Iterator[str]:
    try:
        out, error = child.communicate(timeout=_DEADLINE_S)
    except subprocess.TimeoutExpired:
        yield f"another process: no answer within {_DEADLINE_S} s"
        return
    if child.returncode:
        yield f"another process: {(error.strip().splitlines() or ['no message'])[-1][:200]}"
        return
    found = json.loads(out)
    if set(found) != set(base):
        yield f"another process has other scenarios: {sorted(set(found) ^ set(base))[:3]}"
    for name, (digest, content) in found.items():
        if name in base and [digest, content] != [base[name].digest, base[name].content]:
            what = "the world differs in the end" if digest == base[name].digest else "other bytes"
            yield f"{name}, in another process: {what}"


def _after_dirt(subject: Subject, played: Sequence[Script]) -> dict[str, Record]:
    for number in range(_DIRTY):
        script = played[number % len(played)]
        start(subject.env, script.scenario, number)
        go(subject.env, script.actions[: len(script.actions) - 1 - number % 2])
    return {script.name: record(subject.env, script) for script in played}


def _beside(subject: Subject, played: Sequence[Script]) -> dict[str, Record]:
    """Nine environments take their steps in turn."""
    envs = [subject.make() for _ in range(_BESIDE + 1)]
    found: dict[str, Record] = {}
    for at in range(0, len(played), len(envs)):
        group = list(zip(envs, played[at : at + len(envs)], strict=False))
        rows = [[start(env, script.scenario, 11)] for env, script in group]
        for step in range(max(len(script.actions) for _, script in group)):
            for (env, script), lines in zip(group, rows, strict=True):
                if not current(env).end_reason:
                    lines += go(env, script.actions[step : step + 1])
        for (env, script), lines in zip(group, rows, strict=True):
            found[script.name] = Record([*lines, last(env)])
    for env in envs:
        env.close()
    return found


def _reversed(subject: Subject, played: Sequence[Script], contents: Contents) -> dict[str, Record]:
    """SQLite gives rows that no query orders in the other order."""
    env = subject.make()
    start(env, played[0].scenario, 0)
    connection = current(env).backend.reading()
    connection.execute("PRAGMA reverse_unordered_selects = ON")
    if isinstance(connection, WorldConnection):
        # Else the next reset would notice, and take another connection.
        connection.watch()
    found = {script.name: record(env, script, contents=contents) for script in played}
    env.close()
    return found


# V31


@check("V31", "seeds")
def seeds(subject: Subject) -> Finding:
    """All randomness comes from the episode's seed, in streams of their own."""
    finding = Finding()
    finding.failures += _continued(subject)
    finding.failures += _streams(subject)
    every = scripts(subject)
    played = [script for script in every if script.hashed]
    finding.failures += _undisturbed(subject, played)
    finding.failures += _touched(subject, every)
    finding.figure = (
        f"{len(played)} episodes with and without wrappers, {len(every)} with clock and global randomness taken away"
    )
    return finding


def _continued(subject: Subject) -> Iterator[str]:
    """``reset()`` after ``reset(seed=…)`` goes on in that seed's stream."""

    def drawn(later: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
        env = subject.make()
        found = []
        for options in [{"seed": 5}, *later]:
            info = env.reset(**options)[1]
            found.append((info["seed"], info["scenario_id"]))
        env.close()
        return found

    wanted = drawn([{}, {}, {}])
    ways: list[list[dict[str, Any]]] = [[{}, {}, {}], [{"seed": None}, {"seed": None}, {}]]
    for later in ways:
        if drawn(later) != wanted:
            yield "reset() after reset(seed=5) does not continue the same stream"
    if len({seed for seed, _ in wanted}) < len(wanted):
        yield "reset() repeats the seed of an episode before"
    if wanted[0][0] != 5:
        yield f"reset(seed=5) played the seed {wanted[0][0]}"
    if drawn([{"seed": 5}])[1] != wanted[0]:
        yield "reset(seed=5) twice gives two episodes"


def _streams(subject: Subject) -> Iterator[str]:
    """Hooks draw from children of the episode's seed, each of its own."""
    env, scenario = subject.make(), subject.scenarios[0]

    def drawn(seed: int) -> list[list[int]]:
        hooks = [Jitter(), Jitter(), Jitter("other")]
        for hook in hooks:
            env.add_hook(hook)
        start(env, scenario, seed)
        go(env, ["Hello?", "Hello!"])
        return [hook.drawn for hook in hooks]

    first = drawn(3)
    if drawn(3) != first:
        yield "the streams of wrappers differ between two episodes of one seed"
    if drawn(4) == first:
        yield "the streams of wrappers do not depend on the seed"
    if len({tuple(values) for values in first}) < len(first):
        yield "two wrappers draw from one stream"
    child = Stream(3, "hook/other")
    if first[2] != [child.integers(0, 1000) for _ in first[2]]:
        yield "a wrapper's stream is no child of the episode's seed"
    env.close()


def _undisturbed(subject: Subject, played: Sequence[Script]) -> Iterator[str]:
    """A wrapper that draws and changes nothing, or another simulated user alike, changes no byte."""
    env = subject.make()
    wrapped = SimulatedUser(Hooked(subject.make(), lambda: [Drawing(), Drawing()]), ScriptedUser())
    for script in played:
        bare, beneath = record(env, script), record(wrapped, script)
        if bare.digest != beneath.digest:
            yield f"{script.name}, under wrappers: {_first(bare.rows, beneath.rows)}"
    env.close()
    wrapped.close()


def _note(statements: Counter[str], sql: str) -> None:
    if SQL_SOURCES.search(sql):
        statements[sql] += 1


def _touched(subject: Subject, played: Sequence[Script]) -> Iterator[str]:
    env = subject.make()
    for script in played:
        used: list[str] = []
        statements: Counter[str] = Counter()
        start(env, script.scenario, 11)
        connection = current(env).backend.reading()
        connection.set_trace_callback(partial(_note, statements))
        try:
            with taken_away(used):
                record(env, script)
        except Drawn as drawn:
            used.append(str(drawn))
        finally:
            connection.set_trace_callback(None)
        if used:
            yield f"{script.name}: {used[0]} was asked"
        if statements:
            yield f"{script.name}: SQL that no seed determines: {next(iter(statements))[:120]}"
    env.close()


# V43


def _hooks() -> list[Hook]:
    return [Every(), Jitter()]


@check("V43", "fork")
def forks(subject: Subject) -> Finding:
    """Saved, restored, forked, copied or pickled at any step, an episode goes on to the same bytes."""
    finding, ways, points = Finding(), Counter[str](), 0

    def make() -> gym.Env[Any, Any]:
        return SimulatedUser(Hooked(subject.make(), _hooks), ScriptedUser())

    env, other = make(), make()
    for number, script in enumerate(script for script in scripts(subject) if script.hashed):
        straight = [start(env, script.scenario, 11), *go(env, script.actions), last(env)]
        # The first scenarios are left at every step, the others at every third: each time all that follows is played.
        stride = 1 if number < _EVERY_STEP or subject.full else 3
        rows, before = [start(env, script.scenario, 11)], 0
        for at in range(number % stride, len(script.actions), stride):
            points += 1
            # The episode itself goes on from one step to the next: what is taken of it must leave it as it is.
            rows += go(env, script.actions[before:at])
            before = at
            # A copy of everything costs more than a saved state: each scenario has two of the four kinds, at two steps.
            copies = {number % stride + stride: number, number % stride + 2 * stride: number + 1}
            for kind in ["restored elsewhere", *([_COPIES[copies[at] % len(_COPIES)]] if at in copies else [])]:
                ways[kind] += 1
                twin = _twin(kind, env, other, script)
                found = [*go(twin, script.actions[at:]), last(twin)]
                if found != straight[at + 1 :]:
                    finding.failures.append(
                        f"{script.name}, {kind} before step {at + 1}: {_first(straight[at + 1 :], found)}"
                    )
                if twin is env:
                    rows = [start(env, script.scenario, 11), *go(env, script.actions[:at])]
                elif twin is not other:
                    twin.close()
        rows += [*go(env, script.actions[before:]), last(env)]
        if rows != straight:
            finding.failures.append(f"{script.name}, copied and saved on the way: {_first(straight, rows)}")
        if [start(other, script.scenario, 11), *go(other, script.actions), last(other)] != straight:
            finding.failures.append(f"{script.name}: after restoring, the next episode is not the same")
    for made in (env, other):
        made.close()
    finding.figure = f"{points} steps: " + ", ".join(f"{count} {way}" for way, count in sorted(ways.items()))
    return finding


_EVERY_STEP = 6
_COPIES = ("forked", "pickled", "deep-copied", "rolled back")


def _twin(kind: str, env: gym.Env[Any, Any], other: gym.Env[Any, Any], script: Script) -> gym.Env[Any, Any]:
    """An environment that is where *env* is."""
    if kind == "forked":
        return fork(env)
    if kind == "deep-copied":
        return copy.deepcopy(env)
    base, target = env.unwrapped, other.unwrapped
    if not isinstance(base, ToolEnv) or not isinstance(target, ToolEnv):
        raise TypeError("expected environments of agentgym")
    if kind == "pickled":
        pickled: ToolEnv = pickle.loads(pickle.dumps(base))
        return pickled
    state = base.save_state()
    if kind == "rolled back":
        go(env, [*script.actions[-1:]])
        base.restore_state(state)
        return env
    start(other, script.scenario, 99)
    target.restore_state(state)
    return other
