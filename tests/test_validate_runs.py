"""V30, V31, V40 and V43: each check passes on the lending desk and fails on a fault planted in it."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import gymnasium as gym
import pytest
from spawned import TinyEnv, variant
from tiny_domain import TINY

import agentgym
from agentgym.tools import Tool, tool
from agentgym.validate import interface, replay, runs, sources
from agentgym.validate.registry import Finding
from agentgym.validate.subject import Subject
from agentgym.world import World

Check = Callable[[Subject], Finding]
CHECKS: list[Check] = [runs.byte_equality, runs.seeds, interface.gymnasium_interface, runs.forks]


def desk(*tools: Tool) -> Any:
    """The lending desk with other tools."""
    by_name = {tool.name: tool for tool in (*TINY.tools, *tools)}
    return dataclasses.replace(TINY, tools=tuple(by_name.values()))


def looking(extra: Callable[[World], Any]) -> Tool:
    """A ``list_loans`` that shows something more."""

    @tool(latency_ms=200)
    def list_loans(world: World, member_id: str) -> dict[str, Any]:
        """List the open loans of a member.

        Args:
            member_id: the member, e.g. "M1"
        """
        sql = "SELECT loan_id, due_on FROM loans WHERE member_id = ? AND status = 'open' ORDER BY loan_id"
        return {"loans": world.rows(sql, member_id), "more": extra(world)}

    return list_loans


class Hashing(TinyEnv):
    """Shows a set in the order of its hashes."""

    domain = desk(looking(lambda world: list({"emma", "dune", "ivanhoe", "ulysses", "walden", "nana", "dracula"})))


class Unordered(TinyEnv):
    """Shows rows in the order in which they come."""

    domain = desk(looking(lambda world: world.rows("SELECT title FROM books")))


class Ticking(TinyEnv):
    """Shows the time on the wall."""

    domain = desk(looking(lambda world: time.time() > 0))


class Drawing(TinyEnv):
    """Lets SQLite draw."""

    domain = desk(looking(lambda world: world.value("SELECT random() IS NULL")))


class Unique(TinyEnv):
    """Makes an identifier out of the air."""

    domain = desk(looking(lambda world: len(str(uuid.uuid4()))))


_LOOKED: list[int] = []


def looked(world: World) -> int:
    """How often this process looked."""
    _LOOKED.append(1)
    return len(_LOOKED)


class Remembering(TinyEnv):
    """Counts in the process, not in the world, how often somebody looked."""

    domain = desk(looking(looked))


class Placed(TinyEnv):
    """Shows where it runs."""

    domain = desk(looking(lambda world: os.getcwd()))


FAULTY: list[type[TinyEnv]] = [TinyEnv, Hashing, Unordered, Ticking, Drawing, Unique, Remembering, Placed]


def name_of(entry: type[TinyEnv]) -> str:
    """The id under which another process finds it too."""
    return f"test_validate_runs:Runs{entry.__name__}-v0"


for _entry in FAULTY:
    if name_of(_entry).partition(":")[2] not in gym.registry:
        gym.register(id=name_of(_entry).partition(":")[2], entry_point=cast("Any", _entry))


def subject(entry: type[TinyEnv], few: bool = False) -> Subject:
    """A lending desk, with one scenario or all."""
    made = Subject(name_of(entry), generated=1)
    if few:
        made.__dict__["scenarios"] = [variant()]
    return made


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_good_domain_passes(check: Check) -> None:
    finding = check(subject(TinyEnv))
    assert finding.failures == []
    assert any(letter in "123456789" for letter in finding.figure), f"nothing was tested: {finding.figure}"


# V30


def test_an_order_by_hashes_is_found_in_another_process() -> None:
    failures = runs.byte_equality(subject(Hashing)).failures
    assert any("in another process: other bytes" in failure for failure in failures)
    assert not any(", again" in failure for failure in failures)


def test_a_folder_that_is_shown_is_found_in_another_process() -> None:
    assert any("in another process" in failure for failure in runs.byte_equality(subject(Placed)).failures)


def test_rows_that_no_query_orders_are_found() -> None:
    failures = runs.byte_equality(subject(Unordered)).failures
    assert failures and all("with rows reversed: step" in failure for failure in failures)


def test_what_a_process_remembers_is_found() -> None:
    failures = runs.byte_equality(subject(Remembering)).failures
    for way in ("again", "after 50 dirty episodes", "beside 8 others"):
        assert any(f", {way}: step" in failure for failure in failures)


def test_a_process_that_fails_is_a_failure() -> None:
    made = Subject("test_validate_runs:NoSuch-v0")
    made.__dict__.update(scenarios=[variant()], env=subject(TinyEnv).env)
    made.make = subject(TinyEnv).make  # type: ignore[method-assign]
    failures = runs.byte_equality(made).failures
    assert len(failures) == 1
    assert failures[0].startswith("another process: gymnasium.error.NameNotFound")


def test_the_replay_prints_a_digest_of_every_script(capsys: pytest.CaptureFixture[str]) -> None:
    replay.main([json.dumps([name_of(TinyEnv), 1, False, None])])
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == [
        f"tiny/{scenario} {kind}"
        for scenario in ("refuse-001", "renew-001", "gen-0")
        for kind in ("gold[0]", "gold[1]", "wild")
    ]
    assert all(len(digest) == 64 for digest, _ in printed.values())
    assert len({content for _, content in printed.values() if content}) == 3


def test_every_form_is_compared_with_another_process_where_the_nightly_set_runs(tmp_path: Path) -> None:
    (tmp_path / "hr").mkdir()
    shutil.copy(Path(agentgym.__file__).parents[1] / "scenarios" / "hr" / "find-person-001.yaml", tmp_path / "hr")
    finding = runs.byte_equality(Subject("HR-v0", 0, full=True, folder=tmp_path))
    assert finding.failures == []
    assert finding.figure == "3 episodes of 1 scenarios, 5 ways; 16 in other forms, 2 ways"


# V31


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (Ticking, "time.time was asked"),
        (Unique, "uuid.uuid4 was asked"),
        (Drawing, "SQL that no seed determines: SELECT"),
    ],
)
def test_a_source_that_no_seed_determines_is_found(entry: type[TinyEnv], found: str) -> None:
    failures = runs.seeds(subject(entry)).failures
    assert any(found in failure for failure in failures)


class Restless(TinyEnv):
    """Draws a new root at each reset without a seed."""

    def _seed(self, seed: int | None) -> int:
        if seed is None:
            self._root = -1
        return super()._seed(seed)


class Deaf(TinyEnv):
    """Takes every seed for the same."""

    def _seed(self, seed: int | None) -> int:
        super()._seed(seed)
        return 5


def test_a_reset_that_does_not_go_on_in_the_stream_is_found() -> None:
    made = Subject("test_validate_runs:RunsRestless-v0")
    gym.register(id="RunsRestless-v0", entry_point=cast("Any", Restless))
    assert "reset() after reset(seed=5) does not continue the same stream" in runs.seeds(made).failures


def test_a_seed_that_is_ignored_is_found() -> None:
    made = Subject("test_validate_runs:RunsDeaf-v0")
    gym.register(id="RunsDeaf-v0", entry_point=cast("Any", Deaf))
    failures = runs.seeds(made).failures
    assert "reset() repeats the seed of an episode before" in failures
    assert "the streams of wrappers do not depend on the seed" in failures


class Shared(TinyEnv):
    """Gives every hook the same stream, and a wrapper a word in it."""

    def _begin(self, scenario: Any, seed: int) -> Any:
        episode = super()._begin(scenario, seed)
        for hook in self._hooks:
            hook.stream = self._hooks[0].stream
        episode.now_ms += 1000 * len(self._hooks)
        return episode


def test_wrappers_that_share_a_stream_or_disturb_are_found() -> None:
    made = Subject("test_validate_runs:RunsShared-v0")
    gym.register(id="RunsShared-v0", entry_point=cast("Any", Shared))
    failures = runs.seeds(made).failures
    assert "a wrapper's stream is no child of the episode's seed" in failures
    assert any("under wrappers: step" in failure for failure in failures)


def test_the_sources_come_back() -> None:
    used: list[str] = []
    with sources.taken_away(used), pytest.raises(sources.Drawn, match="random.random"):
        random.random()
    assert used == ["random.random"]
    assert 0 <= random.random() < 1 and time.time() > 0


# V40


class Loose(TinyEnv):
    """Has a number in info that is a text once the episode ends, and changes it later."""

    def step(self, action: Any) -> Any:
        """Take the step."""
        observation, reward, terminated, truncated, info = super().step(action)
        if terminated:
            info["steps"] = str(info["steps"])
        self._last = getattr(self, "_last", {})
        self._last["family"] = "changed"
        self._last = info
        return observation, reward, terminated, truncated, info


class Fragile(TinyEnv):
    """Cannot bear an action that is no dict."""

    def step(self, action: Any) -> Any:
        """Take the step if it can."""
        if not isinstance(action, dict | str):
            raise TypeError("an action is a dict")
        return super().step(action)


class Cutting(TinyEnv):
    """Shows half a character."""

    def step(self, action: Any) -> Any:
        """Take the step and spoil it."""
        observation, *rest = super().step(action)
        return ({**observation, "notices": "\ud83d"}, *rest)


class Drifting(TinyEnv):
    """Pays by how many of it there are."""

    made: list[int] = []  # noqa: RUF012  (shared on purpose)

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._number = len(self.made)
        self.made.append(self._number)

    def step(self, action: Any) -> Any:
        """Take the step and pay."""
        observation, reward, *rest = super().step(action)
        return (observation, reward + self._number, *rest)


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (Loose, "info['steps'] is a str here and a int before"),
        (Loose, "info was changed after the step"),
        (Fragile, "raised TypeError: an action is a dict"),
        (Cutting, "the observation is outside the space"),
        (Drifting, "sync, NextStep: step 0, element 0"),
    ],
)
def test_what_gymnasium_forbids_is_found(entry: type[TinyEnv], found: str) -> None:
    name = f"Gym{entry.__name__}-v0"
    if name not in gym.registry:
        gym.register(id=name, entry_point=cast("Any", entry))
    failures = interface.gymnasium_interface(Subject(f"test_validate_runs:{name}")).failures
    assert any(found in failure for failure in failures), failures[:5]


# V43


def test_what_a_copy_does_not_take_along_is_found() -> None:
    failures = runs.forks(subject(Remembering, few=True)).failures
    assert any("restored elsewhere before step" in failure for failure in failures)
