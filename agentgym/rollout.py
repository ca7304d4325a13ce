"""Rollouts: agents × scenarios × trials, planned first, then run in processes into a result store.

>>> from agentgym.rollout import Rollout, run_cells
>>> rollout = Rollout("Refund-v0", agents=("gold", "do-nothing"), trials=1)           # doctest: +SKIP
>>> with rollout.open("runs/first.db") as store:                                      # doctest: +SKIP
...     run_cells(store)
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import gymnasium as gym

import agentgym
from agentgym.backends import check_backend
from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.loading import load_curated, load_folder
from agentgym.random import derive
from agentgym.runner_agents import SCRIPTED, make_agent
from agentgym.runner_pool import Entry, Result, run_in_pool
from agentgym.runner_worker import Job, Worker
from agentgym.scenario import Scenario
from agentgym.selection import Selection, Split
from agentgym.snapshot import expected_hash
from agentgym.store import Cell, Failure, Outcome, Store
from agentgym.users import make_user
from agentgym.wrappers.catalogue import perturb, read_specs


@dataclass(frozen=True)
class Rollout:
    """What is to be run. Two with the same fields and the same files are the same run.

    Attributes:
        env_id: id of a registered environment.
        agents: names, see `agentgym.runner_agents`; each once.
        scenarios: ids; empty for all of the split.
        trials: of each scenario by each agent, at least 1.
        split: "test" (curated), "private" (files in *folder*) or "train" (*count* generated ones).
        seed: of the run, from which each trial's is derived.
        reward: "sparse" or "shaped".
        folder: for the private split.
        count: for the train split, how many scenarios.
        backend: where worlds live, None for the default of the process that runs a trial.
        user: "scripted", or "model:model=NAME,base_url=URL".
        perturbations: specs, see `agentgym.wrappers.catalogue`; each scenario is run under each of them and, as its
            undisturbed twin with the same seed, under none. A pair is a name and its spec.

    Raises:
        ValueError: a field is out of range, or an agent, a scenario or a perturbation does not exist.
    """

    env_id: str
    agents: tuple[str, ...] = SCRIPTED
    scenarios: tuple[str, ...] = ()
    trials: int = 1
    split: Split = "test"
    seed: int = 0
    reward: str = "sparse"
    folder: str | None = None
    count: int = 20
    backend: str | None = None
    user: str = "scripted"
    perturbations: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name, low in (("trials", 1), ("count", 1), ("seed", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"expected {name} to be at least {low}, got {getattr(self, name)}")
        if self.backend is not None:
            check_backend(self.backend)
        for what, names in (("agent", self.agents), ("scenario", self.scenarios)):
            double = sorted({name for name in names if names.count(name) > 1})
            if double:
                raise ValueError(f"{what} {double[0]} is given twice; more runs of the same are trials")
        if not self.agents:
            raise ValueError("no agent is given; give at least one")
        for name in self.agents:
            make_agent(name)
        make_user(self.user)
        labels = [label for label, _ in self.perturbations]
        if len(set(labels)) < len(labels) or "" in labels:
            raise ValueError(f"expected perturbations with names that differ, got {labels}")
        self._check_perturbations()

    def _check_perturbations(self) -> None:
        """Put each of them around an environment once: what is wrong with one is no error of an agent's trial."""
        specs = [spec for _, spec in self.perturbations]
        for spec in specs:
            read_specs(spec)
        if not specs:
            return
        env = gym.make(self.env_id, disable_env_checker=True, **self.env_kwargs)
        try:
            for spec in specs:
                perturb(env, spec)
        finally:
            env.close()

    @property
    def env_kwargs(self) -> dict[str, Any]:
        """Arguments for `gymnasium.make`."""
        # The default user is left out, so that stores from before there were others go on.
        user = self.user if self.user != "scripted" else ""
        optional = {"scenarios": self.folder, "backend": self.backend, "user": user}
        given = {name: value for name, value in optional.items() if value}
        return {"split": self.split, "reward": self.reward} | given

    @cached_property
    def domain(self) -> Domain:
        """The environment's domain."""
        env = gym.make(self.env_id, disable_env_checker=True, **self.env_kwargs)
        try:
            if not isinstance(env.unwrapped, ToolEnv):
                raise ValueError(f"{self.env_id} is no environment of agentgym (a subclass of ToolEnv)")
            return env.unwrapped.domain
        finally:
            env.close()

    @cached_property
    def chosen(self) -> list[Scenario]:
        """The scenarios that are run."""
        if self.split == "train" and not self.scenarios:
            if self.domain.generator is None:
                raise ValueError(f"{self.env_id} has no generator, so no train split; use the test split")
            return [self.domain.generator(derive(self.seed, f"train/{i}"), None) for i in range(self.count)]
        if self.scenarios:
            selection = Selection(self.split, None, self.folder)
            return [selection.named(self.domain, name) for name in self.scenarios]
        chosen = list((load_folder(self.folder) if self.folder else load_curated(self.domain)).values())
        if not chosen:
            raise ValueError(f"the {self.split} split of {self.env_id} has no scenario")
        return chosen

    @property
    def cells(self) -> list[Cell]:
        """The plan."""
        labels = ["", *(label for label, _ in self.perturbations)]
        return plan_cells(self.env_id, self.agents, self.chosen, self.trials, self.seed, labels)

    @cached_property
    def config(self) -> dict[str, Any]:
        """What makes it this run, for the store: the settings, and hashes of all that results depend on."""
        return {
            "agentgym": agentgym.__version__,
            "env_id": self.env_id,
            "agents": list(self.agents),
            "scenarios": [scenario.id for scenario in self.chosen],
            "trials": self.trials,
            "seed": self.seed,
            "env_kwargs": self.env_kwargs,
            "scenario_hash": _digest([scenario.model_dump(mode="json", by_alias=True) for scenario in self.chosen]),
            "snapshot_hash": expected_hash(self.domain.folder),
            "tools_hash": _digest(self.domain.schemas),
            **({"perturbations": dict(self.perturbations)} if self.perturbations else {}),
            **({"capabilities": self._capabilities} if self._capabilities else {}),
        }

    @property
    def _capabilities(self) -> dict[str, str]:
        return {scenario.id: scenario.capability for scenario in self.chosen if scenario.capability}

    @property
    def default_store(self) -> Path:
        """Where the command line keeps it: ``runs/refund-v0-1a2b3c4d.db``."""
        name = self.env_id.rpartition(":")[2].lower()
        return Path("runs", f"{name}-{_digest(self.config)[:8]}.db")

    def open(self, path: str | Path) -> Store:
        """Plan it in the store *path*, or go on with it there.

        Raises:
            StoreError: see `Store.plan`.
        """
        return Store.plan(path, self.config, self.cells)


@dataclass(frozen=True)
class Progress:
    """One trial has ended: what it came to, and how many of those to run have."""

    cell: Cell
    result: Outcome | Failure
    done: int
    total: int


def trial_seed(seed: int, scenario: str, trial: int) -> int:
    """The episode's seed of a trial, 0 … 2⁶³ − 1, by SHA-256: the same for every agent, unrelated for neighbours.

    >>> trial_seed(0, "refund/partial-001", 0) == trial_seed(0, "refund/partial-001", 0)
    True
    """
    return derive(seed, f"trial/{scenario}/{trial}")


def plan_cells(
    env_id: str,
    agents: Sequence[str],
    scenarios: Sequence[Scenario],
    trials: int,
    seed: int,
    perturbations: Sequence[str] = ("",),
) -> list[Cell]:
    """Every trial, in the order in which they run: the first of every scenario, by every agent, before the second.

    A trial has one seed under all perturbations, named here, so that each has its undisturbed twin.
    """
    return [
        Cell(env_id, s.id, agent, trial, trial_seed(seed, s.id, trial), s.family, s.level, perturbation)
        for trial in range(trials)
        for s in scenarios
        for agent in agents
        for perturbation in perturbations
    ]


def run_cells(
    store: Store,
    *,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    timeout_s: float | None = None,
) -> dict[str, int]:
    """Run what a store has no outcome for: planned trials, those broken off, those that ended in an error.

    Every result is in the store before the next is waited for. After an interruption (an exception, Ctrl-C, SIGKILL)
    the same call on the same store goes on.

    Args:
        store: from `Rollout.open`.
        workers: number of processes; by default one for each CPU. With 1 everything runs in this process.
        progress: called after each trial.
        timeout_s: bound on the wall time of a trial, seconds; one that takes longer is an infrastructure error.

    Returns:
        Number of cells of each status: "done", "error", "planned".

    Raises:
        ValueError: workers or timeout_s is out of range.
        StoreError: a result cannot be written; what was written before is kept.
        WorkersDiedError: worker processes keep dying.
    """
    workers = (os.cpu_count() or 1) if workers is None else workers
    if workers < 1:
        raise ValueError(f"expected workers to be at least 1, got {workers}")
    if timeout_s is not None and not timeout_s > 0:
        raise ValueError(f"expected timeout_s to be more than 0 seconds, got {timeout_s}")
    specs = {"": "", **store.config.get("perturbations", {})}
    entries: list[Entry] = [
        (number, Job(cell, store.config["env_kwargs"], timeout_s, specs[cell.perturbation]))
        for number, cell in store.todo()
    ]
    if workers == 1:
        results = _in_this_process(entries, store)
    else:
        results = run_in_pool(entries, max(1, min(workers, len(entries))), store.start)
    with contextlib.closing(results):
        for done, (number, job, result) in enumerate(results, start=1):
            if isinstance(result, Outcome):
                store.finish(number, result)
            else:
                store.fail(number, result)
            if progress:
                progress(Progress(job.cell, result, done, len(entries)))
    return store.counts()


def _in_this_process(entries: Sequence[Entry], store: Store) -> Generator[Result, None, None]:
    worker = Worker()
    try:
        for number, job in entries:
            store.start([number])
            yield number, job, worker.run(job)
    finally:
        worker.close()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
