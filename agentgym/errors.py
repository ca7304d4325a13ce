"""The exceptions of agentgym.

::

    AgentGymError
    ├── ScenarioError       a scenario file is wrong: file, field, found, expected
    ├── DomainError         an environment's schema, tools or policy are wrong
    ├── SnapshotError       a snapshot cannot be built, or is not what its hash says
    ├── EpisodeError        step before reset or after the end
    ├── StateError          a saved state does not fit
    ├── StoreError          a result store cannot be read or written
    ├── EndpointError       a model's endpoint failed after the retries (infrastructure, not the agent)
    ├── BackendError        the container or its engine failed (infrastructure, not the agent)
    └── ToolBugError        a tool raised something else than ToolError: our bug

`ValueError` and `TypeError` are raised for wrong arguments. What an agent does wrong is an observation, never one of
these.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AgentGymError(Exception):
    """Base of all exceptions of this package."""


class ScenarioError(AgentGymError):
    """A scenario is refused, with what was found, what was expected and what to do.

    Args:
        file: path of the file, or the scenario's id.
        field: dotted path of the field, such as ``checks.final_state[0].sql``.
        found: what stands there.
        expected: what should stand there, or what to do.
    """

    def __init__(self, file: str, field: str, found: object, expected: str) -> None:
        self.file, self.field, self.found, self.expected = file, field, found, expected
        super().__init__(f"{file}: {field}: found {found}; expected {expected}")

    def __reduce__(self) -> tuple[type, tuple[str, str, object, str]]:
        """Pickle by the four parts."""
        return type(self), (self.file, self.field, self.found, self.expected)


class DomainError(AgentGymError):
    """An environment's schema, tools or policy are wrong."""


class SnapshotError(AgentGymError):
    """A snapshot cannot be built, or is not what its hash says."""


class EpisodeError(AgentGymError):
    """The caller stepped an environment before reset or after the end of the episode."""


class StateError(AgentGymError):
    """A saved state does not fit the environment that should restore it."""


class StoreError(AgentGymError):
    """A result store cannot be read or written."""


class EndpointError(AgentGymError):
    """A model's endpoint failed after the retries: infrastructure, never a failure of the agent."""


class BackendError(AgentGymError):
    """The container that a world lives in, or its engine, failed: infrastructure, never a failure of the agent."""


class ToolBugError(AgentGymError):
    """A tool raised something else than `ToolError`: a bug of the environment."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``' (did you mean "x"?)'`` for the nearest of *known*, or ""."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f' (did you mean "{near[0]}"?)' if near else ""
