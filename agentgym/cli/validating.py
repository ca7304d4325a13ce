"""``agentgym validate``: the mechanical checks over every scenario."""

from __future__ import annotations

import os
import sys

import click

from agentgym.cli.common import json_option, known_env, print_json, print_table


@click.command("validate")
@click.argument("envs", nargs=-1)
@click.option("--full", is_flag=True, help="Also the nightly checks.")
@click.option("--check", "checks", multiple=True, metavar="V08", help="Only this one. Repeat for more.")
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False),
    help="Check the scenario files in this folder (FOLDER/refund/my-001.yaml) and no others.",
)
@click.option("--generated", type=click.IntRange(min=0), help="Training scenarios beside the curated ones: 20, or 500.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; by default one for each CPU.")
@json_option
@click.pass_context
def validate_command(
    ctx: click.Context,
    envs: tuple[str, ...],
    full: bool,
    checks: tuple[str, ...],
    folder: str | None,
    generated: int | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Check that scores in ENVS (all environments by default) mean something; exit code 1 where a check fails."""
    from agentgym import validate

    def report(result: validate.Result) -> None:
        click.echo(f"{result.env} {result.id} {'ok' if result.ok else 'FAILED'}", err=True)

    live = report if sys.stderr.isatty() else None
    results = validate.run(
        [known_env(env) for env in envs],
        checks,
        full,
        generated,
        report=live,
        folder=folder,
        workers=workers or os.cpu_count() or 1,
    )
    if as_json:
        print_json([result.to_json() for result in results])
    else:
        rows = [
            [
                result.env,
                result.id,
                result.name,
                f"not run: {result.skipped}" if result.skipped else "ok" if result.ok else "FAILED",
                result.figure,
                f"{result.seconds:.1f} s",
            ]
            for result in results
        ]
        print_table(["environment", "check", "name", "", "figure", "time"], rows, left=5)
        for result in results:
            if not result.ok:
                click.echo(f"{result.env} {result.id}: {result.detail}", err=True)
    if not all(result.ok for result in results):
        ctx.exit(1)
