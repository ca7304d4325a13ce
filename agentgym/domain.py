"""A domain as a value: everything that makes an environment different from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agentgym.common import COMMON_TOOLS, PROMPT
from agentgym.errors import DomainError, did_you_mean
from agentgym.presentation import DIRECT, Presenter
from agentgym.scenario import Scenario, VetoRule
from agentgym.snapshot import snapshot_file
from agentgym.text import dumps
from agentgym.tools import Tool
from agentgym.world import iso

Generator = Callable[[int, str | None], Scenario]
"""``generator(seed, level)`` gives the training scenario of a seed; ``level`` None draws it."""

Prepare = Callable[[Scenario, int, Any], Scenario]
"""``prepare(scenario, seed, settings)`` gives what is played in an episode of that seed; it changes no judgement."""


@dataclass(frozen=True)
class Domain:
    """A domain.

    Attributes:
        name: its short name, also the folder of its curated scenarios.
        folder: where ``schema.sql``, ``policy.md``, ``snapshot.sha256`` are.
        tools: what the agent may call, apart from the common tools.
        scenario_model: validates the ``domain`` section of a scenario.
        generator: gives training scenarios, or None.
        vetoes: forbidden acts in every scenario.
        free_text: columns that hold text the agent writes, as "table.column".
        volatile: columns that change by themselves, as "table.column".
        briefing: what the agent is told about this one case, after the policy; None for the time alone.
        caller: the field of the ``domain`` section with the user's own id, or "".
        scenarios: folder of curated scenarios, None for the package's own.
        settings: model of what ``gym.make`` and the options of ``reset`` take for this domain alone, or None.
        prepare: draws from the seed what differs from episode to episode (an API's spelling), or None.
        presentations: name for ``gym.make(…, tools=NAME)`` → how the agent is shown the tools, the default first;
            none where the tools are shown as they are.
        forms: name → settings under which an episode's interface has a form of its own, the plainest first; the checks
            of ``agentgym validate`` that depend on how tools are shown run in each. None where there is one form only.
        redrawn: settings under which the same scenario in the same form has another interface, where it is drawn.
        world_side: modules besides those of the tools that an image needs.
    """

    name: str
    folder: Path
    tools: tuple[Tool, ...]
    scenario_model: type[BaseModel]
    generator: Generator | None = None
    vetoes: tuple[VetoRule, ...] = ()
    free_text: frozenset[str] = frozenset()
    volatile: frozenset[str] = frozenset()
    caller: str = ""
    briefing: Callable[[Scenario], str] | None = None
    scenarios: Path | None = None
    settings: type[BaseModel] | None = None
    prepare: Prepare | None = None
    presentations: Mapping[str, Presenter] = field(default_factory=dict)
    forms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    redrawn: Mapping[str, Any] = field(default_factory=dict)
    world_side: tuple[str, ...] = ()

    @cached_property
    def toolset(self) -> dict[str, Tool]:
        """All tools by name: the world's, then the common ones.

        Raises:
            DomainError: two tools share a name.
        """
        found: dict[str, Tool] = {}
        for tool in (*self.tools, *COMMON_TOOLS):
            if tool.name in found:
                raise DomainError(f"domain {self.name}: two tools are named {tool.name!r}; rename one")
            found[tool.name] = tool
        return found

    @cached_property
    def vetoes_by_tool(self) -> dict[str, tuple[VetoRule, ...]]:
        """The rules of `vetoes` that speak of a tool, by its name, in their order: sorted once, not at each reset."""
        found: dict[str, tuple[VetoRule, ...]] = {}
        for rule in self.vetoes:
            if rule.tool is not None:
                found[rule.tool] = (*found.get(rule.tool, ()), rule)
        return found

    @cached_property
    def vetoes_by_state(self) -> tuple[VetoRule, ...]:
        """The rules of `vetoes` that speak of a state."""
        return tuple(rule for rule in self.vetoes if rule.sql is not None)

    @cached_property
    def schemas(self) -> list[dict[str, Any]]:
        """The OpenAI function schemas of all tools."""
        return [tool.schema for tool in self.toolset.values()]

    @cached_property
    def schemas_text(self) -> str:
        """The schemas as JSON, encoded once: they are part of ``info["task"]`` at every reset."""
        return dumps(self.schemas)

    @property
    def setting_names(self) -> tuple[str, ...]:
        """Names of the domain's own settings."""
        return tuple(self.settings.model_fields) if self.settings is not None else ()

    def presenter(self, name: str | None) -> Presenter | None:
        """How the presentation called *name* is made; None for the tools as they are, and None names the default.

        Raises:
            ValueError: there is none of that name.
        """
        names = [*self.presentations, DIRECT] if self.presentations else [DIRECT]
        chosen = names[0] if name is None else name
        if chosen not in names:
            raise ValueError(f"expected tools to be one of {', '.join(names)}, got {name!r}")
        return self.presentations.get(chosen)

    def default_schemas(self, name: str | None) -> list[dict[str, Any]]:
        """The schemas that the presentation called *name* shows before there is an episode."""
        presenter = self.presenter(name)
        return self.schemas if presenter is None else presenter(None).schemas

    @cached_property
    def policy(self) -> str:
        """The policy as the agent reads it."""
        return (self.folder / "policy.md").read_text(encoding="utf-8").strip()

    @cached_property
    def system_prompt(self) -> str:
        """The policy and how talking, confirming and ending work."""
        return f"{self.policy}\n\n{PROMPT}"

    @cached_property
    def _prompt_text(self) -> str:
        return dumps(self.system_prompt)

    def prompt_text(self, system: str) -> str:
        """A system text of `task` as JSON; what is the same in every case is encoded once."""
        return self._prompt_text[:-1] + dumps(system[len(self.system_prompt) :])[1:]

    def task(self, scenario: Scenario) -> str:
        """The system text of one case: the policy, how to work, the time and the briefing."""
        briefing = f" {self.briefing(scenario)}" if self.briefing else ""
        return f"{self.system_prompt}\n\n## This case\n\nIt is {iso(scenario.now)}.{briefing}"

    @cached_property
    def snapshot(self) -> Path:
        """The snapshot's database file, built on first use."""
        return snapshot_file(self.folder)


def checked_settings(domain: Domain, settings: Mapping[str, Any]) -> Any:
    """The domain's own settings as its model has them, None where it has no model.

    Raises:
        TypeError: the domain has no such setting.
        ValueError: a setting has a wrong value.
    """
    names = domain.setting_names
    for name in settings:
        if name not in names:
            known = ", ".join(names) or "none"
            raise TypeError(
                f"{domain.name} has no setting {name!r}{did_you_mean(name, names)}; its settings are: {known}"
            )
    if domain.settings is None:
        return None
    try:
        return domain.settings.model_validate(dict(settings))
    except ValidationError as error:
        raise ValueError("; ".join(dict.fromkeys(_wrong(domain.settings, found) for found in error.errors()))) from None


def _wrong(model: type[BaseModel], error: ErrorDetails) -> str:
    """What is wrong with a setting, what it may be, by the description of its field."""
    name = str(error["loc"][0]) if error["loc"] else model.__name__
    field = model.model_fields.get(name)
    if field is None or not field.description:
        return f"{name}: {error['msg']}, got {error['input']!r}"
    return f"expected {name} to be {field.description}, got {error['input']!r}"


def split_settings(domain: Domain, settings: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The settings of one episode, what the options name in place of the environment's own, and the other options."""
    names = domain.setting_names
    own = {name: value for name, value in options.items() if name in names}
    rest = {name: value for name, value in options.items() if name not in names}
    if own:
        settings = checked_settings(domain, {**settings.model_dump(), **own})
    return settings, rest
