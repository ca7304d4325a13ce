"""The tables of perturbations: each beside the undisturbed twin, and success against intensity with the cliff."""

from __future__ import annotations

from collections.abc import Sequence

import click

from agentgym.cli.common import print_table
from agentgym.cli.reporting import UNDEFINED, interval_text, percent
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
    for line in _sweeps(lines, sweep):
        click.echo(line)


def _row(line: Line) -> list[str]:
    return [
        line.agent,
        line.perturbation or "(none)",
        _percent(line.success),
        interval_text(line.interval),
        _percent(line.fall),
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
            filled = round((line.success or 0) * _WIDTH)
            name = line.perturbation or "(none)"
            bar = "█" * filled + "·" * (_WIDTH - filled)
            shown.append(f"  {name:<34} {bar} {_percent(line.success):>6}  {interval_text(line.interval)}")
        edge = cliff(levels)
        found = "no cliff: no level's interval lies below the undisturbed one"
        shown.append(f"  cliff at {edge.perturbation}" if edge else f"  {found}")
    return shown
