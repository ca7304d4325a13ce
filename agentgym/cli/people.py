"""``agentgym users``: how often the simulated user of a run was at fault."""

from __future__ import annotations

from pathlib import Path

import click

from agentgym.cli.common import json_option, print_json, print_table
from agentgym.cli.reporting import UNDEFINED, percent
from agentgym.store import Store
from agentgym.user_faults import FAULTS
from agentgym.user_report import report


@click.command("users")
@click.argument("store", type=click.Path(path_type=Path))
@json_option
def users_command(store: Path, as_json: bool) -> None:
    """How often the simulated user of a run was at fault, from its STORE, by the agent that it talked to."""
    with Store.read(store) as opened:
        reports = report(opened.rows())
    if as_json:
        print_json({agent: found.to_json() for agent, found in reports.items()})
        return
    rows = []
    for agent, found in reports.items():
        low, high = found.interval() if found.replies else (0.0, 1.0)
        rate = f"{percent(found.rate)} ({percent(low)}…{percent(high)})" if found.replies else UNDEFINED
        counts = [str(found.faults[kind]) for kind in FAULTS]
        rows.append([agent, str(found.replies), rate, *counts, f"{found.faulty_episodes}/{found.episodes}"])
    print_table(["agent", "replies", "faulty", *(kind.replace("_", " ") for kind in FAULTS), "episodes"], rows)
