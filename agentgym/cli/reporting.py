"""``agentgym results``, and the table that ``agentgym run`` ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from agentgym.cli.common import json_option, print_json, print_table
from agentgym.export import Format, export
from agentgym.metrics import Interval
from agentgym.store import Store
from agentgym.summary import AgentSummary, By, Estimate, summarise, summarise_by
from agentgym.summary_perturbed import summarise_perturbed

UNDEFINED = "–"


class Ks(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Whole numbers, comma-separated."""

    name = "K,K,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Take "1,2,5" apart."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        if not all(part.strip().isascii() and part.strip().isdigit() and int(part) > 0 for part in parts):
            self.fail(f"expected whole numbers from 1, such as 1,2,5, got {value}", param, ctx)
        return tuple(sorted({int(part) for part in parts}))


ks_option = click.option("--k", "ks", type=Ks(), default=(), help="The k of pass@k and pass^k, such as 1,2,5.")


@click.command("results")
@click.argument("store", type=click.Path(path_type=Path))
@ks_option
@click.option(
    "--export",
    "exports",
    type=(click.Choice(["jsonl", "parquet"]), click.Path(path_type=Path)),
    multiple=True,
    metavar="jsonl|parquet FILE",
    help="Write every trial, with verdict and trace, to FILE.",
)
@click.option(
    "--by",
    type=click.Choice(["level", "family", "capability", "perturbation"]),
    help="Success rates for each of these apart.",
)
@json_option
def results_command(
    store: Path,
    ks: tuple[int, ...],
    exports: tuple[tuple[Format, Path], ...],
    by: By | Literal["perturbation"] | None,
    as_json: bool,
) -> None:
    """How the agents of a run did, from its STORE; also while the run goes on."""
    with Store.read(store) as opened:
        for form, target in exports:
            click.echo(f"{export(opened, form, target)} trials written to {target}", err=True)
        if by == "perturbation" and not as_json:
            from agentgym.cli.perturbed import print_perturbed

            print_perturbed(opened)
        else:
            print_results(opened, ks, as_json, None if by == "perturbation" else by)


def print_results(store: Store, ks: tuple[int, ...], as_json: bool, by: By | None = None) -> None:
    """Print the results of a store on standard output, with *by* the success rates of each group."""
    agents = summarise(store, ks)
    groups = {} if by is None else summarise_by(store, by, ks)
    if as_json:
        run = {"store": str(store.path), "config": store.config, "versions": store.versions}
        split = {f"by_{by}": {name: [each.to_json() for each in found] for name, found in groups.items()}} if by else {}
        disturbed = [line.to_json() for line in summarise_perturbed(store)] if "perturbations" in store.config else []
        extra = {"by_perturbation": disturbed} if disturbed else {}
        print_json({**run, "agents": [agent.to_json() for agent in agents], **split, **extra})
        return
    if by is not None:
        _print_groups(agents, groups)
        return
    shown_ks = [entry.k for entry in agents[0].pass_at if entry.k > 1]
    headers = ["agent", "success", "95% interval", "checkpoints", "vetoes"]
    headers += [f"pass@{k}" for k in shown_ks] + [f"pass^{k}" for k in shown_ks]
    reasoning = any(agent.reasoning is not None for agent in agents)
    headers += ["reasoning"] if reasoning else []
    headers += ["tool calls", "trials", "errors", "$/success"]
    print_table(headers, [_line(agent, reasoning) for agent in agents])
    for line in _notes(agents):
        click.echo(line)


def _print_groups(agents: list[AgentSummary], groups: dict[str, list[AgentSummary]]) -> None:
    """A column for each group, a row for each agent, and the number of trials planned in each group below."""
    cells = {(agent.agent, name): agent for name, found in groups.items() for agent in found}
    rows = [[agent.agent, *_split(cells, agent.agent, groups), _estimate(agent.success)] for agent in agents]
    trials = [str(max(agent.planned for agent in found)) for found in groups.values()]
    rows.append(["trials", *trials, str(max(agent.planned for agent in agents))])
    print_table(["agent", *groups, "all"], rows)
    for line in _notes(agents):
        click.echo(line)


def _split(cells: dict[tuple[str, str], AgentSummary], agent: str, groups: Iterable[str]) -> list[str]:
    return [_estimate(cells[agent, name].success) if (agent, name) in cells else UNDEFINED for name in groups]


def _line(agent: AgentSummary, reasoning: bool) -> list[str]:
    ratio = f"{agent.done}/{agent.planned}"
    estimates = [entry for entries in (agent.pass_at, agent.pass_hat) for entry in entries if entry.k > 1]
    return [
        agent.agent,
        _estimate(agent.success),
        interval_text(agent.interval),
        UNDEFINED if agent.checkpoints is None else percent(agent.checkpoints),
        str(sum(agent.vetoes.values())),
        *(_estimate(entry) for entry in estimates),
        *([UNDEFINED if agent.reasoning is None else f"{agent.reasoning:.1f}/10"] if reasoning else []),
        UNDEFINED if agent.tool_calls is None else f"{agent.tool_calls:.1f}",
        ratio,
        str(sum(agent.errors.values())),
        UNDEFINED if agent.cost_per_success is None else _money(agent.cost_per_success),
    ]


def _notes(agents: list[AgentSummary]) -> list[str]:
    return missing_notes(Missing(agent.agent, agent.planned, agent.done, agent.errors) for agent in agents)


class Missing(NamedTuple):
    """How many trials of a line were planned and have an outcome, and how many ended in an error, by kind."""

    name: str
    planned: int
    done: int
    errors: Mapping[str, int]


def missing_notes(lines: Iterable[Missing]) -> list[str]:
    """What a reader must know about trials that are missing."""
    missing = [line for line in lines if line.done < line.planned]
    if not missing:
        return []
    notes = ["", "Trials are missing: a range counts them as failures, and as successes; they are neither."]
    for line in missing:
        kinds = ", ".join(f"{count} {kind}" for kind, count in line.errors.items())
        rest = line.planned - line.done - sum(line.errors.values())
        parts = [part for part in (kinds, f"{rest} not run" if rest else "") if part]
        notes.append(f"  {line.name}: {percent(line.done / line.planned)} complete ({', '.join(parts)})")
    return notes


def percent(share: float) -> str:
    """A share as a percentage; only a whole is 100%, only nothing is 0%.

    >>> percent(0.125), percent(1.0), percent(0.9999), percent(0.0001)
    ('12.5%', '100%', '99.9%', '0.1%')
    """
    shown = share * 100
    if 0 < shown < 100:
        shown = min(max(round(shown, 1), 0.1), 99.9)
    return f"{shown:g}%"


def _estimate(entry: Estimate) -> str:
    if entry.value is not None:
        return percent(entry.value)
    return UNDEFINED if entry.bounds is None else interval_text(entry.bounds)


def _money(dollars: float) -> str:
    return f"{dollars:.4f}" if dollars else "0"


def interval_text(interval: Interval | None) -> str:
    """An interval as percentages."""
    if interval is None:
        return UNDEFINED
    low, high = (percent(round(end, 9)) for end in interval)
    return f"{low}…{high}"
