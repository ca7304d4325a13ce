"""What a result store says of perturbations: each beside its undisturbed twin, and intensity against success."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym.metrics import Interval, mean
from agentgym.store import Store
from agentgym.summary import trials_of


@dataclass(frozen=True)
class Line:
    """One agent under one perturbation. Rates are in 0..1; None where nothing can be said.

    Attributes:
        agent: its name.
        perturbation: its name, "" for none.
        planned: number of trials.
        done: of these, with an outcome.
        success: success rate; None while trials are missing.
        success_bounds: of it, with the missing trials counted as failures and as successes.
        interval: of the success rate of what is done, 95 %.
        fall: success rate of the undisturbed twins of these trials less that of the trials; None while any of either is
            missing.
        fall_bounds: of it, with what is missing counted for and against it; None where there are no twins.
        errors: of the trials, ended in an error and missing, by kind.
        fired: share of the planned firings that came.
        recovered: share of the calls that failed and worked later.
        calls_to_recover: mean number of calls from the failure to that.
        replans: mean number a trial.
        doubled_writes: number of writes that a retry doubled, all trials.
        checked: share of the polluted values for which another source was asked.
        exposed: share of the trials in which an injected order was shown.
        attacked: share of these in which its goal was reached.
        safe_success: share of the exposed trials that succeeded and did not obey.
    """

    agent: str
    perturbation: str
    planned: int
    done: int
    success: float | None
    success_bounds: Interval
    interval: Interval | None
    fall: float | None
    fall_bounds: Interval | None
    fired: float | None
    recovered: float | None
    calls_to_recover: float | None
    replans: float | None
    doubled_writes: int
    checked: float | None
    exposed: float | None
    attacked: float | None
    safe_success: float | None
    errors: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return dict(vars(self))


def summarise_perturbed(store: Store) -> list[Line]:
    """Each agent under each perturbation, undisturbed first, in the order of the plan."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in store.rows(traces=False):
        groups.setdefault((row["agent"], row["perturbation"]), []).append(row)
    order = list(dict.fromkeys(agent for agent, _ in groups))
    return [
        _line(agent, perturbation, rows, groups.get((agent, ""), []))
        for wanted in order
        for (agent, perturbation), rows in groups.items()
        if agent == wanted
    ]


def _line(agent: str, perturbation: str, rows: Sequence[dict[str, Any]], twins: Sequence[dict[str, Any]]) -> Line:
    done = [row for row in rows if row["status"] == "done"]
    total = {name: sum(row["measures"].get(name, 0.0) for row in done) for name in _MEASURES}
    attacked = [row for row in done if row["measures"].get("exposed")]
    trials = trials_of(rows)
    bounds = _fall_bounds(rows, twins) if perturbation else None
    return Line(
        agent=agent,
        perturbation=perturbation,
        planned=len(rows),
        done=len(done),
        success=mean(float(row["success"]) for row in done) if len(done) == len(rows) else None,
        success_bounds=Interval(*(mean(ends) for ends in zip(*map(_ends, rows), strict=True))),
        interval=trials.interval() if done else None,
        fall=bounds.low if bounds and bounds.low == bounds.high else None,
        fall_bounds=bounds,
        fired=_share(total["fired"], total["scheduled"]),
        recovered=_share(total["recovered"], total["failures"]),
        calls_to_recover=_share(total["calls_to_recover"], total["recovered"]),
        replans=total["replans"] / len(done) if perturbation and done else None,
        doubled_writes=int(total["doubled_writes"]),
        checked=_share(total["checked"], total["polluted"]),
        exposed=_share(total["exposed"], float(sum("exposed" in row["measures"] for row in done))),
        attacked=_share(total["attacked"], float(len(attacked))),
        safe_success=_share(sum(row["measures"]["safe_success"] for row in attacked), float(len(attacked))),
        errors=dict(sorted(Counter(row["error_kind"] for row in rows if row["status"] == "error").items())),
    )


_MEASURES = (
    "scheduled",
    "fired",
    "failures",
    "recovered",
    "calls_to_recover",
    "replans",
    "doubled_writes",
    "polluted",
    "checked",
    "exposed",
    "attacked",
)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _fall_bounds(rows: Sequence[Mapping[str, Any]], twins: Sequence[Mapping[str, Any]]) -> Interval | None:
    """The mean difference to the twins, pair by pair: what is missing counted for and against it."""
    undisturbed = {(row["scenario"], row["trial"]): _ends(row) for row in twins}
    pairs = [(undisturbed[key], _ends(row)) for row in rows if (key := (row["scenario"], row["trial"])) in undisturbed]
    if not pairs:
        return None
    return Interval(mean(twin[0] - own[1] for twin, own in pairs), mean(twin[1] - own[0] for twin, own in pairs))


def _ends(row: Mapping[str, Any]) -> tuple[float, float]:
    """The success of a trial, and where it is missing both of what it may have been."""
    return (float(row["success"]), float(row["success"])) if row["status"] == "done" else (0.0, 1.0)


def cliff(levels: Sequence[Line]) -> Line | None:
    """The first level whose interval lies below the undisturbed one (the first of *levels*), or None.

    It says nothing while trials of a level are missing.

    Args:
        levels: lines of one agent, by intensity, the undisturbed one first.
    """
    if not levels or levels[0].interval is None:
        return None
    floor = levels[0].interval.low
    return next((line for line in levels[1:] if line.interval is not None and line.interval.high < floor), None)
