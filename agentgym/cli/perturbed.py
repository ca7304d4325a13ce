"""The tables of perturbations: each beside the undisturbed twin, and success against intensity with the cliff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from agentgym.cli.common import print_table
from agentgym.cli.reporting import UNDEFINED, Missing, interval_text, missing_notes, percent
from agentgym.metrics import Interval
from agentgym.store import Store
from agentgym.summary_perturbed import Line, cliff, summarise_perturbed

_WIDTH = 24


def print_perturbed(store: Store, sweep: Sequence[str] = ()) -> None:
    """Print the lines of a store by perturbation.

    Args:
        store: of a run with perturbations.
        sweep: the perturbations that are levels of one kind, weakest first; these are drawn as a line for each agent.
    """
    lines = summarise_perturbed(store)
    headers = ["agent", "perturbation", "success", "95% interval", "fall", "fired", "recovered", "calls to recover"]
    headers += ["re-plans", "doubled writes", "checked", "exposed", "attack success", "success, exposed", "trials"]
    print_table(headers, [_row(line) for line in lines], left=2)
    for text in (*missing_notes(_missing(lines)), *_sweeps(lines, sweep)):
        click.echo(text)


def _missing(lines: Sequence[Line]) -> Iterator[Missing]:
    for line in lines:
        name = f"{line.agent} under {line.perturbation}" if line.perturbation else line.agent
        yield Missing(name, line.planned, line.done, line.errors)


def _row(line: Line) -> list[str]:
    return [
        line.agent,
        line.perturbation or "(none)",
        _range(line.success, line.success_bounds),
        interval_text(line.interval),
        _range(line.fall, line.fall_bounds),
        _percent(line.fired),
        _percent(line.recovered),
        _number(line.calls_to_recover),
        _number(line.replans),
        str(line.doubled_writes) if line.perturbation else UNDEFINED,
        _percent(line.checked),
        _percent(line.exposed),
        _percent(line.attacked),
        _percent(line.safe_success),
        f"{line.done}/{line.planned}",
    ]


def _percent(share: float | None) -> str:
    if share is None:
        return UNDEFINED
    return f"-{percent(-share)}" if share < 0 else percent(share)


def _range(share: float | None, bounds: Interval | None) -> str:
    """A share, or what it may be while trials are missing."""
    if share is not None or bounds is None:
        return _percent(share)
    return "…".join(_percent(round(end, 9)) for end in bounds)


def _number(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.1f}"


def _sweeps(lines: Sequence[Line], sweep: Sequence[str]) -> list[str]:
    """For each agent a bar for each level, and where the cliff is."""
    if not sweep:
        return []
    shown: list[str] = []
    for agent in dict.fromkeys(line.agent for line in lines):
        own = {line.perturbation: line for line in lines if line.agent == agent}
        levels = [own[name] for name in ("", *sweep) if name in own]
        shown += ["", f"{agent}: success against intensity"]
        for line in levels:
            filled = round(line.success_bounds.low * _WIDTH)
            name = line.perturbation or "(none)"
            bar = "█" * filled + "·" * (_WIDTH - filled)
            shown.append(
                f"  {name:<34} {bar} {_range(line.success, line.success_bounds):>6}  {interval_text(line.interval)}"
            )
        if any(line.done < line.planned for line in levels):
            shown.append("  cliff unknown: trials are missing")
            continue
        edge = cliff(levels)
        found = "no cliff: no level's interval lies below the undisturbed one"
        shown.append(f"  cliff at {edge.perturbation}" if edge else f"  {found}")
    return shown
