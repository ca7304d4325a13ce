"""``agentgym validate``: the mechanical checks that make a score mean something.

Each check is a function of a `Subject` (one environment with its scenarios) that returns a `Finding`. Checks marked N
are slow and run with ``full`` only.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.errors import AgentGymError, ScenarioError, did_you_mean
from agentgym.registration import REGISTERED
from agentgym.validate.registry import CHECKS, LONG, Check, load_checks
from agentgym.validate.subject import Subject

__all__ = ["CHECKS", "Check", "Result", "Subject", "run"]


@dataclass(frozen=True)
class Result:
    """The outcome of one check on one environment.

    Attributes:
        id: "V08".
        name: "gold = 1.0".
        env: "Refund-v0".
        ok: the check passed, or did not run.
        figure: what was measured, such as "24/24 plans".
        detail: the first failures, or "".
        seconds: how long it took.
        skipped: why it did not run, such as "no engine", or "".
    """

    id: str
    name: str
    env: str
    ok: bool
    figure: str
    detail: str
    seconds: float
    skipped: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON-able data."""
        return asdict(self)


def run(
    envs: Sequence[str] = (),
    checks: Iterable[str] = (),
    full: bool = False,
    generated: int | None = None,
    report: Callable[[Result], None] | None = None,
    folder: str | Path | None = None,
    workers: int = 1,
) -> list[Result]:
    """Run the checks over every scenario of each environment.

    Args:
        envs: environment ids; none means all registered ones.
        checks: check ids such as "V08"; none means all of the set.
        full: also the nightly ones.
        generated: how many training scenarios to check beside the curated ones; by default 20, with *full* 500.
        report: called with each result as it comes.
        folder: check the scenario files in it, ``FOLDER/refund/my-001.yaml``, and no others.
        workers: processes to run checks in; with more than one, *report* hears of results as they are ready.

    Raises:
        ValueError: an environment or check is unknown.
        ScenarioError: the folder has no scenario of an environment that was named; without names it is passed over.
    """
    load_checks()
    if generated is None:
        generated = 500 if full else 20
    wanted = [check.upper() for check in checks]
    for name in wanted:
        if name not in CHECKS:
            raise ValueError(
                f"there is no check {name!r}{did_you_mean(name, CHECKS)}; the checks are {', '.join(sorted(CHECKS))}"
            )
    subjects: list[Subject] = []
    empty: list[str] = []
    for env in envs or list(REGISTERED):
        if env not in REGISTERED:
            raise ValueError(f"there is no environment {env!r}{did_you_mean(env, REGISTERED)}")
        subject = Subject(env, generated, full, folder)
        if folder is not None and not subject.named:
            empty.append(REGISTERED[env])
        else:
            subjects.append(subject)
    if empty and (envs or not subjects):
        places = " or ".join(f"{name}/NAME.yaml" for name in empty)
        raise ScenarioError(str(folder), "folder", "no scenario", f"a file {places} in it")
    chosen = [c for c in sorted(CHECKS) if (c in wanted if wanted else full or not CHECKS[c].nightly)]
    results: list[Result] = []
    for result in _results(subjects, chosen, workers):
        results.append(result)
        if report is not None:
            report(result)
    order = {subject.env_id: n for n, subject in enumerate(subjects)}
    return sorted(results, key=lambda result: (order[result.env], result.id))


def _results(subjects: Sequence[Subject], checks: Sequence[str], workers: int) -> Iterator[Result]:
    if workers <= 1 or len(subjects) * len(checks) <= 1:
        yield from (_run(CHECKS[name], subject) for subject in subjects for name in checks)
        return
    # The long ones first, so that no process is left alone with one of them at the end.
    ranked = sorted(checks, key=lambda name: LONG.index(name) if name in LONG else len(LONG))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=_worker) as pool:
        jobs = [pool.submit(_elsewhere, subject.arguments, name) for subject in subjects for name in ranked]
        for job in as_completed(jobs):
            yield job.result()


def _worker() -> None:
    """Keep what checks break on purpose off standard error: no handler of the caller is here.

    Scenarios and plays are kept by the thousand, so looking through all of them for garbage is done more rarely.
    """
    gc.set_threshold(50_000, 20, 50)
    logging.getLogger("agentgym").addHandler(logging.NullHandler())


@lru_cache(maxsize=8)
def _subject(env_id: str, generated: int, full: bool, folder: str | Path | None) -> Subject:
    return Subject(env_id, generated, full, folder)


def _elsewhere(arguments: tuple[str, int, bool, str | Path | None], name: str) -> Result:
    """Run one check in a worker process, which keeps its subject for the next."""
    load_checks()
    return _run(CHECKS[name], _subject(*arguments))


def _run(check: Check, subject: Subject) -> Result:
    start = time.perf_counter()
    skipped = ""
    try:
        finding = check.function(subject)
        ok, figure, detail = not finding.failures, finding.figure, "; ".join(finding.failures[:5])
        skipped = finding.skipped
        if len(finding.failures) > 5:
            detail += f"; and {len(finding.failures) - 5} more"
    except AgentGymError as error:
        ok, figure, detail = False, "refused", str(error)
    return Result(
        check.id, check.name, subject.env_id, ok, figure, detail, round(time.perf_counter() - start, 3), skipped
    )
