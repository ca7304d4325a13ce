"""A saved episode: the scenario, the world's bytes and everything that the host holds, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentgym.errors import StateError
from agentgym.scenario import Scenario

if TYPE_CHECKING:
    from agentgym.backends import Backend
    from agentgym.domain import Domain
    from agentgym.episode import Episode
    from agentgym.hooks import Hook
    from agentgym.reward import Reward

VERSION = 1


@dataclass(frozen=True)
class EpisodeState:
    """What `save_state` gives. Treat it as opaque; it can be pickled and sent to another process.

    Attributes:
        domain: name of the domain.
        scenario: the scenario played.
        host: JSON of everything but the world.
        world: the database, as SQLite serializes it.
        version: of this format.
    """

    domain: str
    scenario: Scenario
    host: str
    world: bytes
    version: int = VERSION

    def __deepcopy__(self, memo: dict[int, Any]) -> EpisodeState:
        """Itself: nothing in it changes."""
        return self


def pack(episode: Episode, backend: Backend, reward: Reward) -> EpisodeState:
    """Save a running or finished episode."""
    host = {"episode": episode.get_state(), "reward": reward.get_state()}
    return EpisodeState(episode.domain.name, episode.declared, json.dumps(host), backend.save())


def unpack(state: EpisodeState, domain: Domain, hooks: Sequence[Hook]) -> dict[str, Any]:
    """Check that a state fits and return what the host held.

    Raises:
        StateError: it does not.
    """
    if not isinstance(state, EpisodeState):
        raise StateError(f"expected what save_state() gave, got {type(state).__name__}")
    if state.version != VERSION:
        raise StateError(f"the state has format {state.version}, this version reads {VERSION}; save it again")
    if state.domain != domain.name:
        raise StateError(f"the state belongs to the domain {state.domain!r}, this environment is {domain.name!r}")
    host: dict[str, Any] = json.loads(state.host)
    saved, present = [entry[0] for entry in host["episode"]["hooks"]], [hook.name for hook in hooks]
    if saved != present:
        raise StateError(
            f"the state was saved under the wrappers {saved}, this episode has {present}; wrap it alike and reset first"
        )
    return host
