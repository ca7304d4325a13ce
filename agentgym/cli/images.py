"""``agentgym images``: the container images of the docker backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import click
import gymnasium as gym

from agentgym.cli.common import Commands, json_option, print_json, print_table
from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.errors import BackendError, did_you_mean
from agentgym.registration import REGISTERED

_DOMAINS = "[DOMAIN]..."


@click.group("images", cls=Commands)
def images_command() -> None:
    """Container images for `backend="docker"`: the world side of each domain, with its snapshot.

    DOMAIN is a domain or an environment, such as refund or Refund-v0; without one, all are meant.
    """


def _domains(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("domains", nargs=-1, metavar=_DOMAINS)(function)


@images_command.command("build")
@_domains
@click.option(
    "--base", metavar="IMAGE", help="Build on this image, which has Python 3.11 or newer; by default an official one."
)
@click.option("--quiet", "-q", is_flag=True, help="Only the names of the images.")
def build_command(domains: tuple[str, ...], base: str | None, quiet: bool) -> None:
    """Build the image of each DOMAIN and try it."""
    from agentgym.backends import images

    for domain in _chosen(domains):
        last = ""
        for line in images.build(domain, base):
            if last and not quiet:
                click.echo(last, err=True)
            last = line
        click.echo(last)


@images_command.command("list")
@_domains
@json_option
def list_images_command(domains: tuple[str, ...], as_json: bool) -> None:
    """The images that there are, and whether this installation can use them."""
    from agentgym.backends import images

    found: list[dict[str, Any]] = []
    for domain in _chosen(domains):
        wanted = images.spec(domain)
        for entry in images.images(domain.name):
            current = entry["Labels"].get(images.CONTENT) == wanted.labels[images.CONTENT]
            name = images.names(entry)[0]
            status = "current" if current else "old"
            found.append({"domain": domain.name, "image": name, "status": status, "mib": entry["Size"] / 2**20})
        if not any(entry["status"] == "current" for entry in found if entry["domain"] == domain.name):
            found.append({"domain": domain.name, "image": wanted.name, "status": "missing", "mib": 0.0})
    if as_json:
        print_json(found)
        return
    rows = [[entry["domain"], entry["image"], entry["status"], f"{entry['mib']:.0f} MiB"] for entry in found]
    print_table(["domain", "image", "status", "size"], rows, left=3)


@images_command.command("verify")
@_domains
@json_option
@click.pass_context
def verify_command(ctx: click.Context, domains: tuple[str, ...], as_json: bool) -> None:
    """Start each image and compare what it holds with this installation; exit code 1 where they differ."""
    from agentgym.backends import images

    said: list[dict[str, Any]] = []
    bad = False
    for domain in _chosen(domains):
        try:
            said.append({"ok": True, **images.verify(domain)})
        except BackendError as error:
            bad = True
            said.append({"domain": domain.name, "ok": False, "error": str(error)})
            click.echo(f"{domain.name}: {error}", err=True)
    if as_json:
        print_json(said)
    else:
        keys = ("domain", "image", "snapshot", "tools", "python", "sqlite")
        rows = [["ok" if entry["ok"] else "FAILED", *(_short(entry.get(key, "")) for key in keys)] for entry in said]
        print_table(["", *keys], rows, left=len(keys) + 1)
    if bad:
        ctx.exit(1)


@images_command.command("clean")
@_domains
def clean_command(domains: tuple[str, ...]) -> None:
    """Remove containers whose owners are dead, and images of other versions; nothing else is touched."""
    from agentgym.backends import engine, images

    for name in engine.reap():
        click.echo(f"container {name}")
    for domain in _chosen(domains):
        for name in images.remove_old(domain):
            click.echo(f"image {name}")


def domain_of(env: str) -> Domain:
    """The domain of a registered environment."""
    made = gym.make(env, disable_env_checker=True)
    try:
        return cast("ToolEnv", made.unwrapped).domain
    finally:
        made.close()


def _chosen(names: tuple[str, ...]) -> list[Domain]:
    known = {domain: env for env, domain in REGISTERED.items()}
    envs = []
    for name in names or tuple(known):
        if name not in known and name not in REGISTERED:
            hint = did_you_mean(name, [*known, *REGISTERED])
            raise click.UsageError(f'there is no domain "{name}"{hint}; domains are {", ".join(known)}')
        envs.append(known.get(name, name))
    return [domain_of(env) for env in envs]


def _short(value: Any) -> str:
    text = str(value).split(" ")[0]
    return text[:12] if len(text) == 64 else text
