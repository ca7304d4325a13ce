"""``agentgym draft`` and ``agentgym variants``: scenarios from logs, and from scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
import gymnasium as gym

from agentgym.dumping import scenario_yaml
from agentgym.errors import did_you_mean
from agentgym.loading import load_curated, load_scenario
from agentgym.noise import LEVELS, NoiseLevel
from agentgym.registration import REGISTERED

_OUT = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Where to write: OUT/DOMAIN/NAME.yaml. A file that is there is left alone.",
)


@click.command("draft")
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--domain", required=True, help="Whose scenarios they are to be, such as refund.")
@_OUT
def draft_command(log: Path, domain: str, out: Path) -> None:
    """Write drafts of scenarios from LOG, JSON lines of conversations: {"id", "messages": [{"role", "content"}]}.

    A draft says `draft: true` and is refused wherever scenarios are loaded, until checks and gold are written.
    """
    from agentgym.draft import drafts
    from agentgym.service_log import read_log

    names = {owner: env for env, owner in REGISTERED.items()}
    if domain not in names:
        known = ", ".join(names)
        raise click.UsageError(f'there is no domain "{domain}"{did_you_mean(domain, names)}; domains are {known}')
    conversations = read_log(log)
    env = gym.make(names[domain], disable_env_checker=True)
    fields = list(env.get_wrapper_attr("domain").scenario_model.model_fields)
    env.close()
    _write(drafts(conversations, domain, load_curated(domain), fields), out)


@click.command("variants")
@click.argument("scenario")
@click.option("--level", type=click.Choice(LEVELS), required=True, help="What is made harder to read.")
@click.option("--count", type=int, default=3, show_default=True, help="How many.")
@click.option("--seed", type=int, default=0, show_default=True, help="Other seeds give other variants.")
@_OUT
def variants_command(scenario: str, level: NoiseLevel, count: int, seed: int, out: Path) -> None:
    """Write adversarial variants of SCENARIO (an id or a file), each after its gold plans were seen to score 1.0."""
    from agentgym.gold import GoldRunner
    from agentgym.variants import variants

    original = load_scenario(scenario)
    names = {owner: env for env, owner in REGISTERED.items()}
    env = gym.make(names[original.id.partition("/")[0]], disable_env_checker=True)
    files: dict[str, str] = {}
    try:
        for variant in variants(original, level, seed, count):
            for plan in range(len(variant.gold)):
                runner = GoldRunner(variant, plan)
                observation, _ = env.reset(seed=0, options={"scenario": variant})
                while (action := runner.next(observation)) is not None:
                    observation, *_ = env.step(action)
                verdict = env.get_wrapper_attr("verdict")
                if verdict is None or not verdict.success:
                    raise click.ClickException(
                        f"{variant.id}: gold plan {plan} does not score 1.0 in it; nothing was written"
                    )
            files[variant.id] = scenario_yaml(variant)
    finally:
        env.close()
    _write(files, out)


def _write(files: Mapping[str, str], out: Path) -> None:
    """Write each text to OUT/ID.yaml, or nothing where one of the files is there already."""
    targets = {
        out.joinpath(*name.split("/")).with_name(name.rpartition("/")[2] + ".yaml"): files[name] for name in files
    }
    there = [target for target in targets if target.exists()]
    if there:
        raise click.UsageError(
            f"{there[0]} is there already and was left as it was; remove it, or choose another --out"
        )
    for target, text in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
        click.echo(str(target))
