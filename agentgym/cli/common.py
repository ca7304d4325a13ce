"""What the commands share: names with hints, JSON, tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from agentgym.errors import did_you_mean
from agentgym.registration import REGISTERED


class Commands(click.Group):
    """A group that knows what a mistyped command may have meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which there are."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            names = self.list_commands(ctx)
            ctx.fail(f'there is no command "{args[0]}"{did_you_mean(args[0], names)}; commands are {", ".join(names)}')
        return super().resolve_command(ctx, args)


class Incomplete(click.ClickException):
    """Trials are missing: exit code 3."""

    exit_code = 3


class Interrupted(click.ClickException):
    """The user has had enough."""

    exit_code = 130


_NO_WIDTH = 10_000

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def known_env(name: str) -> str:
    """The id of a registered environment; "module:Id-v0" names one that *module* registers.

    Raises:
        click.UsageError: there is none of this name.
    """
    name = name.removeprefix("agentgym:")
    if name not in REGISTERED and ":" not in name:
        hint = did_you_mean(name, REGISTERED)
        raise click.UsageError(f'there is no environment "{name}"{hint}; environments are {", ".join(REGISTERED)}')
    return name


def print_json(value: Any) -> None:
    """Print JSON that any reader takes: ASCII, without NaN."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> None:
    """Print a table on standard output, never cut off where the output is no terminal.

    Args:
        headers: of the columns.
        rows: a text for each column.
        left: so many columns are aligned to the left, the others (numbers) to the right. Where a terminal is too
            narrow, the last of several on the left gets more lines.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, header in enumerate(headers):
        table.add_column(header, justify="left" if number < left else "right", no_wrap=number < max(1, left - 1))
    for row in rows:
        # As Text, so that square brackets are no markup.
        table.add_row(*(Text(cell) for cell in row))
    # Files and pipes have no width.
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _NO_WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(table)
    # The box has an empty line above and below, and an empty column on the left.
    lines = [line[1:].rstrip() for line in captured.get().splitlines()]
    click.echo("\n".join(line for line in lines if line))
