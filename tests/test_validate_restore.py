"""V32: a reset after any damage passes on the lending desk; a world that is not restored is found."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from spawned import TinyEnv

from agentgym.episode import Episode
from agentgym.scenario import Scenario
from agentgym.validate import restore
from agentgym.validate.subject import Subject


class _Again(TinyEnv):
    """Does something to the world at every reset but its first."""

    began = 0

    def _begin(self, scenario: Scenario, seed: int) -> Episode:
        episode = super()._begin(scenario, seed)
        self.began += 1
        if self.began > 1:
            self.spoil(episode)
        return episode

    def spoil(self, episode: Episode) -> None:
        """What it does."""
        raise NotImplementedError


class Forgetful(_Again):
    """One row is not as in the snapshot."""

    def spoil(self, episode: Episode) -> None:
        """Add copies of a book."""
        episode.backend.apply({"books": {"B2": {"copies": 99}}}, "event")


class Loose(_Again):
    """A setting is not as at the start."""

    def spoil(self, episode: Episode) -> None:
        """Let triggers not run other triggers."""
        episode.backend.reading().execute("PRAGMA recursive_triggers = OFF")


class Chatty(_Again):
    """A change is in the log that no call made."""

    def spoil(self, episode: Episode) -> None:
        """Write a row twice, so that it is as before."""
        connection = episode.backend.reading()
        connection.execute("UPDATE books SET copies = copies + 1 WHERE book_id = 'B2'")
        connection.execute("UPDATE books SET copies = copies - 1 WHERE book_id = 'B2'")


def _failures(entry: type[TinyEnv], **options: Any) -> list[str]:
    name = f"{entry.__name__}Restore-v0"
    gym.register(name, entry_point=lambda **arguments: entry(**arguments))
    return restore.restore(Subject(name, generated=0, **options)).failures


def test_every_damage_is_undone_by_a_reset() -> None:
    gym.register("SoundRestore-v0", entry_point=lambda **arguments: TinyEnv(**arguments))
    finding = restore.restore(Subject("SoundRestore-v0", generated=0))
    assert finding.failures == []
    assert finding.figure.startswith(
        f"{2 * 2 * len(restore.DAMAGES)} resets after {len(restore.DAMAGES)} kinds of damage"
    )


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        (Forgetful, "the content hash is another"),
        (Loose, "'recursive_triggers': [(0,)]"),
        (Chatty, "2 changes are logged"),
    ],
)
def test_a_world_that_is_not_restored_is_found(entry: type[TinyEnv], wrong: str) -> None:
    failures = _failures(entry)
    assert any("committed" in failure and wrong in failure for failure in failures)
    assert any("the snapshot file unlinked" in failure and wrong in failure for failure in failures)
