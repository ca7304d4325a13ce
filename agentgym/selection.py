"""Which scenario an episode plays."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

from agentgym.domain import Domain
from agentgym.errors import ScenarioError, did_you_mean
from agentgym.lint import lint
from agentgym.loading import load_curated, load_folder, scenario_ids
from agentgym.random import derive
from agentgym.scenario import Level, Scenario
from agentgym.world import World

Split = Literal["train", "test", "private"]
_GENERATED = re.compile(r"(?P<domain>[\w-]+)/train/(?P<level>L[1-5])-(?P<seed>\d{1,19})")


class Selection:
    """Chooses scenarios of a domain.

    Args:
        split: "train", "test" or "private".
        level: for train, the only level to draw, or None.
        folder: for private, where the files are.

    Raises:
        ValueError: the split or level is unknown, or private has no folder.
    """

    def __init__(self, split: Split, level: str | None = None, folder: str | None = None) -> None:
        if split not in get_args(Split):
            raise ValueError(f"expected split to be one of {', '.join(get_args(Split))}, got {split!r}")
        if (split == "private") != (folder is not None):
            raise ValueError(
                f'scenarios= names the folder of split="private"; got split={split!r}, scenarios={folder!r}'
            )
        self.split: Split = split
        self._folder = folder
        self._level = _checked(level)
        self._files: dict[str, Scenario] | None = None
        self._known: dict[str, Scenario] | None = None
        self._ids: frozenset[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the scenarios read so far: a copy in another process reads them again."""
        return {**self.__dict__, "_files": None, "_known": None, "_ids": None}

    def choose(self, domain: Domain, seed: int, options: dict[str, Any]) -> Scenario:
        """The scenario of an episode: the one that *options* names, else one by a hash of the seed.

        Raises:
            ValueError: an unknown option or scenario.
            TypeError: the scenario is named by something else than an id.
        """
        for name in options:
            if name not in ("scenario", "level"):
                known = ("scenario", "level", *domain.setting_names)
                listed = f"{', '.join(known[:-1])} and {known[-1]}"
                raise ValueError(f"unknown option {name!r}{did_you_mean(str(name), known)}; options are {listed}")
        named = options.get("scenario")
        if isinstance(named, Scenario):
            if named.id.partition("/")[0] != domain.name:
                raise ValueError(f"expected a scenario of {domain.name}, got {named.id!r}")
            return named
        if named is not None:
            if not isinstance(named, str):
                raise TypeError(
                    f"expected the option scenario to be an id or an agentgym.scenario.Scenario, got {named!r:.100} "
                    f"({type(named).__name__}); agentgym.load_scenario(PATH) and agentgym.loading.build(DATA) make one"
                )
            return self.named(domain, named)
        level = _checked(options.get("level")) or self._level
        if self.split == "train":
            return _generated(domain, seed, level)
        files = self._curated(domain)
        ids = [id_ for id_, scenario in files.items() if level is None or scenario.level == level]
        if not ids:
            raise ValueError(f"the {self.split} split of {domain.name} has no scenario of level {level}")
        return files[ids[derive(seed, "scenario") % len(ids)]]

    def split_of(self, domain: Domain, scenario: Scenario) -> Split:
        """The split that a scenario is of: a curated one is of the test set in whatever environment it is played.

        A scenario that is of none of them, since it was made on the spot, counts as one of the environment's own.
        """
        match = _GENERATED.fullmatch(scenario.id)
        if match and match["domain"] == domain.name:
            return "train"
        if self._ids is None:
            self._ids = frozenset(scenario_ids(domain))
        if scenario.id not in self._ids:
            return self.split
        own = self._folder is not None and (Path(self._folder) / f"{scenario.id}.yaml").is_file()
        return "private" if own else "test"

    def named(self, domain: Domain, name: str) -> Scenario:
        """The scenario called *name*: a curated one, one of the private folder, or a generated one by its id."""
        match = _GENERATED.fullmatch(name)
        if match and match["domain"] == domain.name:
            return _generated(domain, int(match["seed"]), match["level"])
        known = self._known
        if known is None:
            # Read once: looking at every file again costs more than the reset itself.
            known = self._known = dict(load_curated(domain))
            if self._folder is not None:
                known.update(self._curated(domain))
        if name not in known:
            raise ValueError(f"there is no scenario {name!r}{did_you_mean(name, known)}; `agentgym list` shows all")
        _lint_once(domain, [known[name]])
        return known[name]

    def _curated(self, domain: Domain) -> dict[str, Scenario]:
        if self._files is None:
            files = load_folder(Path(self._folder)) if self._folder is not None else load_curated(domain)
            if not files:
                raise ScenarioError(
                    str(self._folder or domain.name), "(folder)", "no scenario", "at least one *.yaml file"
                )
            _lint_once(domain, files.values())
            self._files = dict(files)
        return self._files


_linted: dict[int, Scenario] = {}


def _lint_once(domain: Domain, scenarios: Iterable[Scenario]) -> None:
    """Check scenarios against their domain, once a process: a fault is refused before anything is scored by it."""
    fresh = [scenario for scenario in scenarios if id(scenario) not in _linted]
    if not fresh:
        return
    world = World(domain.snapshot, domain.toolset)
    try:
        for scenario in fresh:
            lint(scenario, domain, world)
            _linted[id(scenario)] = scenario
    finally:
        world.close()


def _generated(domain: Domain, seed: int, level: str | None) -> Scenario:
    if domain.generator is None:
        raise ValueError(f'{domain.name} has no generator yet, so no split="train"; use split="test"')
    return domain.generator(seed, level)


def _checked(level: object) -> str | None:
    if level is not None and level not in get_args(Level):
        raise ValueError(f"expected level to be one of {', '.join(get_args(Level))}, got {level!r}")
    return level if isinstance(level, str) else None
