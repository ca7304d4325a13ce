"""``agentgym new``: skeletons to be filled."""

from __future__ import annotations

from pathlib import Path

import click

from agentgym.cli.common import Commands
from agentgym.registration import REGISTERED
from agentgym.skeleton import copied, skeleton


@click.group("new", cls=Commands)
def new_command() -> None:
    """Start something new from a skeleton."""


@new_command.command("scenario")
@click.argument("name", metavar="DOMAIN/NAME")
@click.option("--from", "source", metavar="ID", help="Copy this scenario, with a new id and canary, instead.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the folders of the domains are; by default scenarios/ here, as in a checkout.",
)
def new_scenario_command(name: str, source: str | None, folder: Path | None) -> None:
    """Write a scenario file to be filled: FOLDER/DOMAIN/NAME.yaml. A file that is there is left alone.

    The skeleton says what each field means. Until it is filled, validate says what is missing.
    """
    domain = name.partition("/")[0]
    if folder is None:
        folder = Path("scenarios")
        if not (folder / domain).is_dir():
            raise click.UsageError(
                f"there is no folder {folder / domain} here; run it in a checkout, or name one with --folder"
            )
    text = copied(name, source) if source else skeleton(name)
    target = folder.joinpath(*name.split("/")).with_name(name.rpartition("/")[2] + ".yaml")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        # "x": what is there is never written over.
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise click.UsageError(
            f"{target} is there already and was left as it is; choose another name, or remove it"
        ) from None
    click.echo(str(target))
    env = next(env for env, owner in REGISTERED.items() if owner == domain)
    click.echo(f"fill it, then: agentgym validate {env} --folder {folder}", err=True)
