"""What is checked: one environment, its curated scenarios, and a sample of generated ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import gymnasium as gym

from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.gold import GoldRunner
from agentgym.loading import load_curated, scenario_ids
from agentgym.presentation import DIRECT
from agentgym.scenario import Scenario
from agentgym.trace import Step
from agentgym.verdict import Verdict

Policy = Callable[[Mapping[str, str] | None], dict[str, Any] | None]
"""Gives the next action from the last observation (the reset observation first), or None when it has no more."""


@dataclass(frozen=True)
class Played:
    """One episode as it was played."""

    scenario: Scenario
    verdict: Verdict | None
    trace: list[Step]
    actions: list[dict[str, Any]]
    observations: list[dict[str, str]]
    rewards: list[float]
    infos: list[dict[str, Any]]


class Form(NamedTuple):
    """One way in which agents are shown a domain's tools.

    Attributes:
        presentation: name of the presentation, "http".
        name: as failures have it, "http, obfuscate=2".
        env: an environment that shows them so, to be reset for each use.
        settings: of the domain, by which it does.
    """

    presentation: str
    name: str
    env: ToolEnv
    settings: Mapping[str, Any]


class Subject:
    """One environment under validation.

    Args:
        env_id: its Gymnasium id.
        generated: how many generated scenarios to add to the curated ones.
        full: whether the nightly set runs, which may take larger samples.
        folder: scenario files to check instead of the curated and the generated ones, in it a folder for each domain.
    """

    def __init__(self, env_id: str, generated: int = 20, full: bool = False, folder: str | Path | None = None) -> None:
        self.env_id, self.full, self.folder = env_id, full, folder
        self.generated = generated if folder is None else 0
        self._played: dict[tuple[int, int], tuple[Scenario, Played | Exception]] = {}

    @property
    def arguments(self) -> tuple[str, int, bool, str | Path | None]:
        """What another process makes the same subject from."""
        return self.env_id, self.generated, self.full, self.folder

    @cached_property
    def env(self) -> ToolEnv:
        """One environment, unwrapped, to be reset for each use."""
        return self.make()

    def make(self, **kwargs: Any) -> ToolEnv:
        """Make another one, unwrapped, on the test split unless told otherwise.

        Where the domain presents its tools in other forms, this one shows them as they are: what the checks play is in
        the domain's own terms.
        """
        return cast("ToolEnv", gym.make(self.env_id, **{"split": "test", "tools": DIRECT, **kwargs}).unwrapped)

    @cached_property
    def forms(self) -> list[Form]:
        """Every form in which agents may be shown the tools, those of the default presentation first.

        None where the domain shows its tools as they are.
        """
        domain = self.env.domain
        settings = domain.forms or {"": {}}
        return [
            Form(presentation, ", ".join(filter(None, (presentation, name))), self.make(tools=presentation, **own), own)
            for presentation in domain.presentations
            for name, own in settings.items()
        ]

    @cached_property
    def default_forms(self) -> list[Form]:
        """The forms of the default presentation: what reference agents play in."""
        return [form for form in self.forms if form.presentation == self.forms[0].presentation]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {scenario.id: place for place, scenario in enumerate(self.scenarios)}

    def turn(self, forms: Sequence[Form], scenario: Scenario, number: int = 0, every: bool = True) -> list[Form]:
        """Those of *forms* in which the play of a *number* in a scenario is checked.

        One in turn; with ``full``, and where *every* one is wanted then, all.

        Neighbours take different ones: a scenario under as many numbers as there are forms is checked in each, and so
        is each number over as many scenarios.
        """
        if (self.full and every) or not forms:
            return list(forms)
        return [forms[(self._places.get(scenario.id, 0) + number) % len(forms)]]

    @cached_property
    def domain(self) -> Domain:
        """The environment's domain, with the scenarios that are checked."""
        domain = self.env.domain
        return domain if self.folder is None else replace(domain, scenarios=Path(self.folder) / domain.name)

    @property
    def named(self) -> list[str]:
        """The ids of the curated scenarios, before any is read."""
        return scenario_ids(self.domain)

    @cached_property
    def curated(self) -> list[Scenario]:
        """The curated scenarios, by id."""
        return list(load_curated(self.domain).values())

    @cached_property
    def scenarios(self) -> list[Scenario]:
        """The curated scenarios and, where the domain has a generator, the generated ones of the seeds from 0 on."""
        generator = self.domain.generator
        made = [generator(seed, None) for seed in range(self.generated)] if generator else []
        return [*self.curated, *made]

    def play(self, scenario: Scenario, policy: Policy, seed: int = 0, env: ToolEnv | None = None) -> Played:
        """Play one episode by *policy* until it ends or the policy has no more actions."""
        env = env or self.env
        observation, info = env.reset(seed=seed, options={"scenario": scenario})
        observations, rewards, infos, actions = [observation], [0.0], [info], []
        ended = False
        action = policy(observation)
        while action is not None and not ended:
            actions.append(action)
            observation, reward, terminated, truncated, info = env.step(action)
            observations.append(observation)
            rewards.append(reward)
            infos.append(info)
            ended = terminated or truncated
            action = None if ended else policy(observation)
        return Played(scenario, env.verdict, list(env.trace), actions, observations, rewards, infos)

    def gold(self, scenario: Scenario, plan: int, seed: int = 0, env: ToolEnv | None = None) -> Played:
        """Play a gold plan through ``step`` with the agent's own view only, as the environment shows the tools."""
        env = env or self.env
        runners: list[GoldRunner] = []

        def act(observation: Mapping[str, str] | None) -> dict[str, Any] | None:
            if not runners:
                # How the tools are presented is known once the episode has begun.
                runners.append(GoldRunner(scenario, plan, env.presentation))
            return runners[0].next(observation)

        return self.play(scenario, act, seed, env)

    @cached_property
    def golds(self) -> dict[str, list[Played]]:
        """Every gold plan of every scenario, played once: scenario id → episodes in the order of the plans."""
        return {s.id: [self.played_gold(s, plan) for plan in range(len(s.gold))] for s in self.scenarios}

    def played_gold(self, scenario: Scenario, plan: int) -> Played:
        """A gold plan of a scenario under validation as it went with seed 0, played on the first call.

        Raises:
            Exception: what came of playing it, each time the same.
        """
        # Scenarios made on the spot may share a name; each is held on to, so that its identity stays its own.
        key = id(scenario), plan
        if key not in self._played:
            try:
                self._played[key] = scenario, self.gold(scenario, plan)
            except Exception as error:  # noqa: BLE001  raised below and again later, whatever it is
                self._played[key] = scenario, error
        found = self._played[key][1]
        if isinstance(found, Exception):
            raise found
        return found


def scripted(actions: list[dict[str, Any]]) -> Policy:
    """A policy that plays a fixed list of actions."""
    rest = iter(actions)
    return lambda observation: next(rest, None)
