"""``agentgym doctor``: what is installed, what is missing, how to get it."""

from __future__ import annotations

import sys

import click

from agentgym.cli.common import json_option, print_json, print_table
from agentgym.doctor import Finding, examine


@click.command("doctor")
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool) -> None:
    """What is installed, what is missing and how to get it; exit code 1 where something needed is missing.

    Of secrets only whether they are set is shown.
    """
    findings = examine()
    if as_json:
        print_json({"ok": all(_fine(found) for found in findings), "findings": [vars(found) for found in findings]})
    else:
        print_table(["", "what", "found"], [[found.state, found.name, found.found] for found in findings], left=3)
        for found in findings:
            if found.advice:
                click.echo(f"{found.name}: {found.advice}", err=found.state == "missing")
    sys.stdout.flush()
    if not all(_fine(found) for found in findings):
        ctx.exit(1)


def _fine(found: Finding) -> bool:
    return found.state != "missing"
