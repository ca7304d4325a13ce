"""What a result store says of each agent, as numbers for a table or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from agentgym.metrics import Interval, cost_per_success, mean, pass_at_k, pass_hat_k
from agentgym.store import Store
from agentgym.trials import Measure, Trials

By = Literal["level", "family", "capability"]
"""What results can be split by."""

UNNAMED = "unnamed"
"""The capability of scenarios that name none."""


@dataclass(frozen=True)
class Estimate:
    """A mean over scenarios, None while it is undefined, and its bounds with the missing trials counted both ways."""

    k: int
    value: float | None
    bounds: Interval | None


@dataclass(frozen=True)
class AgentSummary:
    """One agent's line. Rates are in 0..1; None where nothing can be said.

    Attributes:
        agent: its name in the store.
        planned: number of trials.
        done: of these, with an outcome.
        errors: of these, ended in an error and missing, by kind.
        success: the success rate, pass^1.
        interval: of the success rate of what is done, 95 %, see `agentgym.trials.Trials.interval`.
        successes: number of successful trials.
        checkpoints: mean share of checkpoints.
        vetoes: number of trials with a veto, by rule.
        pass_at: pass@k for each k asked for.
        pass_hat: pass^k for each k asked for.
        episode_return: mean return.
        tool_calls: mean number of tool calls.
        sim_time: mean simulated time, seconds.
        wall_s: mean wall time, seconds.
        model_calls: total.
        prompt_tokens: total.
        completion_tokens: total.
        cost_usd: total in US dollars, what errors cost included.
        cost_per_success: US dollars, None without a success.
        reasoning: mean reasoning score, 0..10, of the trials whose scenario has one; None where none has.
    """

    agent: str
    planned: int
    done: int
    errors: dict[str, int]
    success: Estimate
    interval: Interval | None
    successes: int
    checkpoints: float | None
    vetoes: dict[str, int]
    pass_at: tuple[Estimate, ...]
    pass_hat: tuple[Estimate, ...]
    episode_return: float | None
    tool_calls: float | None
    sim_time: float | None
    wall_s: float | None
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    cost_per_success: float | None
    reasoning: float | None

    @property
    def completeness(self) -> float:
        """Share of the planned trials that have an outcome, 0..1."""
        return self.done / self.planned

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        shown = {**vars(self), "completeness": self.completeness}
        shown["success_rate"] = self.success.value
        shown["success_bounds"] = shown.pop("success").bounds
        for name in ("pass_at", "pass_hat"):
            shown[name] = {str(entry.k): {"value": entry.value, "bounds": entry.bounds} for entry in shown[name]}
        return shown


def summarise(store: Store, ks: Sequence[int] = ()) -> list[AgentSummary]:
    """Sum a store up, agent by agent, in the order of the plan: the undisturbed trials, where there are any.

    Args:
        store: any result store, complete or not.
        ks: the k of pass@k and pass^k; by default 1 and the number of trials.

    Raises:
        ValueError: a k is below 1.
    """
    _check_ks(ks)
    return [_summary(agent, rows, ks) for agent, rows in _grouped(_undisturbed(store), "agent").items()]


def summarise_by(store: Store, by: By, ks: Sequence[int] = ()) -> dict[str, list[AgentSummary]]:
    """Sum a store up, agent by agent, for each level, family or capability apart.

    Args:
        store: any result store, complete or not.
        by: "level", "family" or "capability".
        ks: as for `summarise`.

    Returns:
        group → agents in the order of the plan; groups sorted.

    Raises:
        ValueError: a k is below 1, or *by* is none of these.
    """
    _check_ks(ks)
    if by not in get_args(By):
        raise ValueError(f"expected by to be one of {', '.join(get_args(By))}, got {by!r}")
    groups = _grouped(_undisturbed(store), by)
    return {
        name: [_summary(agent, rows, ks) for agent, rows in _grouped(groups[name], "agent").items()]
        for name in sorted(groups)
    }


def _undisturbed(store: Store) -> list[dict[str, Any]]:
    """The rows that the headline is about; a store that has perturbed ones alone is about these."""
    rows = store.rows(traces=False)
    capabilities = store.config.get("capabilities", {})
    for row in rows:
        row["capability"] = capabilities.get(row["scenario"], UNNAMED)
    return [row for row in rows if not row["perturbation"]] or rows


def _check_ks(ks: Sequence[int]) -> None:
    for k in ks:
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")


def _grouped(rows: Iterable[dict[str, Any]], column: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def _summary(agent: str, rows: Sequence[dict[str, Any]], ks: Sequence[int]) -> AgentSummary:
    trials = trials_of(rows)
    done = [row for row in rows if row["status"] == "done"]
    ks = ks or sorted({1, min(Counter(row["scenario"] for row in rows).values())})
    cost = sum(row["cost_usd"] for row in done) + sum(row["lost_usd"] for row in rows)
    return AgentSummary(
        agent=agent,
        planned=trials.planned,
        done=trials.done,
        errors=_count(row["error_kind"] for row in rows if row["status"] == "error"),
        success=_estimate(trials, pass_hat_k, 1),
        interval=trials.interval() if done else None,
        successes=trials.successes,
        checkpoints=_mean(done, "checkpoint_completion"),
        vetoes=_count(row["veto_rule"] for row in done if row["veto"]),
        pass_at=tuple(_estimate(trials, pass_at_k, k) for k in ks),
        pass_hat=tuple(_estimate(trials, pass_hat_k, k) for k in ks),
        episode_return=_mean(done, "episode_return"),
        tool_calls=_mean(done, "tool_calls"),
        sim_time=_mean(done, "sim_time"),
        wall_s=_mean(done, "wall_s"),
        model_calls=sum(row["model_calls"] for row in done),
        prompt_tokens=sum(row["prompt_tokens"] for row in done),
        completion_tokens=sum(row["completion_tokens"] for row in done),
        cost_usd=cost,
        cost_per_success=cost_per_success(cost, trials.successes),
        reasoning=_reasoning(done),
    )


def trials_of(rows: Sequence[dict[str, Any]]) -> Trials:
    """The trials that rows of a store are; a scenario under a perturbation is another one, of the same family."""
    planned = Counter((row["scenario"], row["perturbation"]) for row in rows)
    names = {key: "+".join(filter(None, key)) for key in planned}
    families = {names[row["scenario"], row["perturbation"]]: row["family"] for row in rows}
    trials = Trials({names[key]: count for key, count in planned.items()}, families)
    for row in rows:
        name = names[row["scenario"], row["perturbation"]]
        if row["status"] == "done":
            trials.add(name, row["trial"], row["success"])
        elif row["status"] == "error":
            trials.add_error(name, row["trial"])
    return trials


def _estimate(trials: Trials, measure: Measure, k: int) -> Estimate:
    try:
        bounds = trials.bounds(measure, k)
    except ValueError:
        return Estimate(k, None, None)
    return Estimate(k, trials.value(measure, k) if not trials.missing else None, bounds)


def _mean(rows: Sequence[dict[str, Any]], column: str) -> float | None:
    return mean(row[column] for row in rows) if rows else None


def _reasoning(rows: Sequence[dict[str, Any]]) -> float | None:
    scores = [row["measures"]["reasoning"] for row in rows if "reasoning" in row["measures"]]
    return mean(scores) if scores else None


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
