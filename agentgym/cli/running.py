"""``agentgym run``: agents × scenarios × trials into a result store, then the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from agentgym.backends import NAMES, VARIABLE, default_backend, make_backend
from agentgym.cli.common import Incomplete, Interrupted, json_option, known_env
from agentgym.cli.perturbed import print_perturbed
from agentgym.cli.reporting import ks_option, percent, print_results
from agentgym.errors import StoreError
from agentgym.rollout import Progress, Rollout, run_cells
from agentgym.runner_agents import BUILT_IN, SCRIPTED
from agentgym.runner_pool import WorkersDiedError
from agentgym.selection import Split
from agentgym.store import Outcome, Store
from agentgym.wrappers.catalogue import COMPOSITIONS, KINDS, read_file, sweep_specs

Report = Callable[[Progress], None]


@click.command("run")
@click.argument("env")
@click.option(
    "--agent",
    "--agents",
    "agents",
    multiple=True,
    metavar="NAME",
    help=f"{', '.join(BUILT_IN)}, all (those without a model; the default), or module:Class; with options as "
    "openai:model=M,base_url=URL. Repeat for more.",
)
@click.option("--scenario", "scenarios", multiple=True, metavar="ID", help="Only this one. Repeat for more.")
@click.option("--trials", type=int, default=1, show_default=True, help="Trials of each scenario by each agent.")
@click.option("--split", type=click.Choice(["test", "train", "private"]), default="test", show_default=True)
@click.option("--folder", type=click.Path(), help="Scenario files of the private split.")
@click.option("--count", type=int, default=20, show_default=True, help="Scenarios of the train split.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the run.")
@click.option("--reward", type=click.Choice(["sparse", "shaped"]), default="sparse", show_default=True)
@click.option(
    "--backend",
    type=click.Choice(NAMES),
    help=f"Where worlds live; by default what {VARIABLE} names, embedded without it.",
)
@click.option(
    "--user",
    default="scripted",
    show_default=True,
    help='"scripted", or a model: model:model=M,base_url=URL; `agentgym users STORE` shows its faults.',
)
@click.option(
    "--store",
    "path",
    type=click.Path(path_type=Path),
    help="Result store; a run that was broken off goes on there. By default a new file in runs/.",
)
@click.option(
    "--perturb",
    "specs",
    multiple=True,
    metavar="KIND[:RATE][,NAME=VALUE]",
    help=f"Run everything under this too, beside the undisturbed twin: {', '.join(KINDS)}; a composition "
    f"({', '.join(COMPOSITIONS)}); or several joined by +. Repeat for more.",
)
@click.option(
    "--perturb-file", type=click.Path(exists=True, dir_okay=False), help="YAML: names of perturbations → specs."
)
@click.option("--sweep", metavar="KIND=0..4", help="Success against the intensity of one kind, with its cliff.")
@click.option("--workers", type=int, help="Processes; by default one for each CPU.")
@click.option("--timeout", "timeout_s", type=float, metavar="SECONDS", help="Bound on the wall time of a trial.")
@ks_option
@json_option
def run_command(  # noqa: PLR0913, RUF100 - one argument an option, as click has it
    env: str,
    agents: tuple[str, ...],
    scenarios: tuple[str, ...],
    trials: int,
    split: Split,
    folder: str | None,
    count: int,
    seed: int,
    reward: str,
    backend: str | None,
    user: str,
    path: Path | None,
    specs: tuple[str, ...],
    perturb_file: str | None,
    sweep: str | None,
    workers: int | None,
    timeout_s: float | None,
    ks: tuple[int, ...],
    as_json: bool,
) -> None:
    """Run agents over the scenarios of ENV and print how they did.

    The same command again goes on where it was broken off, and runs again what ended in an error.
    """
    if (split == "private") != (folder is not None):
        raise click.UsageError("--folder names the files of --split private; give both or neither")
    levels = sweep_specs(sweep)[1:] if sweep else []
    perturbations = (
        *((spec, spec) for spec in specs),
        *(read_file(perturb_file).items() if perturb_file else ()),
        *((spec, spec) for _, spec in levels),
    )
    rollout = Rollout(
        known_env(env),
        _names(agents),
        scenarios,
        trials,
        split,
        seed,
        reward,
        folder,
        count,
        backend,
        user,
        perturbations,
    )
    if (backend or default_backend()) == "docker":
        # Once, and not as the infrastructure error of every trial.
        make_backend("docker", rollout.domain).close()
    with rollout.open(path or _default(rollout)) as store:
        todo = len(store.todo())
        click.echo(f"store: {store.path}" + ("" if todo else " (complete: nothing was left to run)"), err=True)
        try:
            with _progress(todo) as report:
                counts = run_cells(store, workers=workers, progress=report, timeout_s=timeout_s)
        except (StoreError, WorkersDiedError) as error:
            raise Incomplete(str(error)) from error
        except KeyboardInterrupt:
            left = len(store.todo())
            raise Interrupted(
                f"interrupted: {todo - left} of {todo} trials done; the same command goes on with --store {store.path}"
            ) from None
        print_results(store, ks, as_json)
        if perturbations and not as_json:
            click.echo("")
            print_perturbed(store, [spec for _, spec in levels])
        if set(counts) != {"done"}:
            raise Incomplete(_why(store))


def _names(agents: tuple[str, ...]) -> tuple[str, ...]:
    """The agents meant; "all", and names joined by commas, are several."""
    names: list[str] = []
    for agent in agents or ("all",):
        # Where there is a colon, commas are between options.
        for part in [agent] if ":" in agent else agent.split(","):
            names += SCRIPTED if part == "all" else [part]
    return tuple(names)


def _default(rollout: Rollout) -> Path:
    """The store of this run in runs/ that is not complete yet, else a new one."""
    first = rollout.default_store
    first.parent.mkdir(parents=True, exist_ok=True)
    path, number = first, 1
    while path.exists() and path.stat().st_size:
        with Store.read(path) as store:
            if store.todo():
                return path
        number += 1
        path = first.with_stem(f"{first.stem}-{number}")
    return path


def _why(store: Store) -> str:
    """The errors in a line: how many, and the first."""
    failed = [row for row in store.rows(traces=False) if row["status"] != "done"]
    first = next((row for row in failed if row["error"]), None)
    if first is None:
        return f"{len(failed)} trials have not run; the same command with --store {store.path} goes on"
    text = first["error"].splitlines()[-1]
    return (
        f"{len(failed)} trials are missing, the first by {first['agent']} on {first['scenario']}: "
        f"{first['error_kind']}: {text}; the same command with --store {store.path} tries them again"
    )


@contextmanager
def _progress(total: int) -> Iterator[Report | None]:
    """A bar with live success rates on standard error, where that is a terminal."""
    if not sys.stderr.isatty() or total == 0:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
    with Bars(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        whole = bars.add_task("all", total=total, note="")
        tasks: dict[str, tuple[TaskID, list[bool], list[int]]] = {}

        def report(progress: Progress) -> None:
            name = progress.cell.agent
            if name not in tasks:
                tasks[name] = (bars.add_task(name, total=None, note=""), [], [0])
            task, outcomes, errors = tasks[name]
            if isinstance(progress.result, Outcome):
                outcomes.append(progress.result.success)
            else:
                errors[0] += 1
            rate = percent(sum(outcomes) / len(outcomes)) if outcomes else "–"
            failed = f", {errors[0]} errors" if errors[0] else ""
            bars.update(task, completed=len(outcomes) + errors[0], note=f"success {rate}{failed}")
            bars.update(whole, completed=progress.done)

        yield report
