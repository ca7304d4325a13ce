"""Presentations: an episode's tools as the agent is shown them, where they are not the domain's own.

A domain whose interface is drawn anew for each episode keeps its tools, checks, gold plans and users in its own terms.
A `Presentation` stands between them and the agent: it is the innermost hook of an episode, turns what the agent calls
into calls of the domain, and results of the domain into what the agent is shown. It works both ways, so that a gold
plan, which is written in the domain's terms, can act through it and read through it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from agentgym.hooks import Context, Hook
from agentgym.text import dumps
from agentgym.tools import Tool

if TYPE_CHECKING:
    from agentgym.hooks import Fault
    from agentgym.scenario import Scenario
    from agentgym.trace import Call

DIRECT = "direct"
"""Name of the presentation that is none: the domain's tools under their own names."""


class Answer(NamedTuple):
    """What a presentation answers itself, from ``before_call``: the call never reaches the world.

    It is the interface's own answer (there is no such path), not a perturbation.
    """

    ok: bool
    value: Any
    error: str = ""
    latency_ms: int = 0


class Presentation(Hook):
    """How one episode shows the domain's tools. Subclasses set `shown` and translate.

    ``before_call`` gets the call as the agent made it and returns the domain's call, its arguments validated, or an
    `Answer`; ``after_call`` gets the domain's call and result and returns the result as the agent is shown it.

    Attributes:
        shown: the tools as the agent calls them, the common ones included.
    """

    name = "presentation"
    shown: Sequence[Tool] = ()
    http = False
    """Its calls are requests ``{method, path, query, headers, body}``, its results ``{status, headers, body}``."""

    @cached_property
    def toolset(self) -> Mapping[str, Tool]:
        """The tools as shown, by name."""
        return {tool.name: tool for tool in self.shown}

    @cached_property
    def schemas(self) -> list[dict[str, Any]]:
        """The OpenAI function schemas as shown."""
        return [tool.schema for tool in self.shown]

    @cached_property
    def schemas_text(self) -> str:
        """The schemas as JSON."""
        return dumps(self.schemas)

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Show the tools."""
        return system, opening, self.schemas

    def show(self, call: Call) -> Call:
        """A call of the domain as the agent would make it.

        Raises:
            ValueError: it cannot be said.
        """
        raise NotImplementedError

    def operation(self, call: Call) -> str:
        """The domain's tool that a call asks for as it is shown, whatever its arguments; "" for none."""
        return call.name

    def address(self, tool: str) -> str:
        """How the agent is told of the domain's tool: its name as shown, or method and path; "" where it is not."""
        return tool

    def broken(self, call: Call, asked: Call, fault: Fault) -> str:
        """What the agent is shown of a call that something between the presentation and the world broke.

        Args:
            call: of the domain.
            asked: the same call as the agent made it.
            fault: what broke it; its text speaks of the call by the domain's name.
        """
        return fault.error.replace(call.name, asked.name)

    def written(self, call: Call, value: Any, write: Callable[[Any], Any], media: str) -> Any:
        """A result as shown, its payload written in another format; *media* is the name of the format on the internet.

        Args:
            call: as the agent made it.
            value: the result as shown.
            write: the payload in that format.
            media: such as ``application/xml``.
        """
        return write(value)

    def read(self, call: Call, content: str) -> Any:
        """What the observation of a call of the domain says, in the domain's terms: the inverse of ``after_call``.

        What is no result (an error, a text that something garbled) comes back as it is, parsed where it is JSON.
        """
        raise NotImplementedError


Presenter = Callable[["Scenario | None"], Presentation]
"""Makes the presentation of an episode from its scenario; from None the one that stands for all before a reset.

Equal ones may be shared between episodes, as long as they hold no state.
"""
