"""``agentgym validate``: the mechanical checks that make a score mean something.

Each check is a function of a `Subject` (one environment with its scenarios) that returns a `Finding`. Checks marked N are slow and run with
``full`` only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentgym.errors import AgentGymError, did_you_mean
from agentgym.registration import REGISTERED
from agentgym.validate.registry import CHECKS, Check, load_checks
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
    generated: int = 20,
    report: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Run the checks over every scenario of each environment.

    Args:
        envs: environment ids; none means all registered ones.
        checks: check ids such as "V08"; none means all of the set.
        full: also the nightly ones.
        generated: how many training scenarios to check beside the curated ones.
        report: called with each result as it comes.

    Raises:
        ValueError: an environment or check is unknown.
    """
    load_checks()
    wanted = [check.upper() for check in checks]
    for name in wanted:
        if name not in CHECKS:
            raise ValueError(f"there is no check {name!r}{did_you_mean(name, CHECKS)}; the checks are {', '.join(sorted(CHECKS))}")
    results: list[Result] = []
    for env in envs or list(REGISTERED):
        if env not in REGISTERED:
            raise ValueError(f"there is no environment {env!r}{did_you_mean(env, REGISTERED)}")
        subject = Subject(env, generated, full)
        for check in sorted(CHECKS.values(), key=lambda entry: entry.id):
            if (check.id in wanted) if wanted else (full or not check.nightly):
                result = _run(check, subject)
                results.append(result)
                if report is not None:
                    report(result)
    return results


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
    return Result(check.id, check.name, subject.env_id, ok, figure, detail, round(time.perf_counter() - start, 3), skipped)
