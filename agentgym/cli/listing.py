"""``agentgym list`` and ``agentgym show``: what there is."""

from __future__ import annotations

import json
from typing import Any

import click
import gymnasium as gym

from agentgym.cli.common import json_option, known_env, print_json, print_table
from agentgym.errors import did_you_mean
from agentgym.loading import load_curated, scenario_ids
from agentgym.registration import REGISTERED
from agentgym.scenario import Scenario
from agentgym.world import iso


@click.command("list")
@click.argument("env", required=False)
@json_option
def list_command(env: str | None, as_json: bool) -> None:
    """Environments; with ENV its curated scenarios."""
    if env is None:
        found = [{"id": name, "domain": domain, "scenarios": len(scenario_ids(domain))} for name, domain in _envs()]
        if as_json:
            print_json(found)
        else:
            rows = [[str(entry["id"]), str(entry["domain"]), str(entry["scenarios"])] for entry in found]
            print_table(["environment", "domain", "scenarios"], rows, left=2)
        return
    name = known_env(env)
    if name not in REGISTERED:
        raise click.UsageError(f"{name} is not an environment of this package; list knows {', '.join(REGISTERED)}")
    scenarios = [_listed(scenario) for scenario in load_curated(REGISTERED[name]).values()]
    if as_json:
        print_json(scenarios)
        return
    columns = ("id", "family", "level", "impact", "ends", "instruction")
    print_table(columns, [[_shortened(entry[column]) for column in columns] for entry in scenarios], left=len(columns))


@click.command("show")
@click.argument("scenario")
@click.option("--gold", is_flag=True, help="Also what the agent never sees: checks, gold plans, the user's script.")
@json_option
def show_command(scenario: str, gold: bool, as_json: bool) -> None:
    """What an agent gets in SCENARIO: the system prompt, the opening, the tools."""
    domains = {domain: name for name, domain in _envs()}
    domain = scenario.partition("/")[0]
    if domain not in domains:
        ids = [known for name in domains for known in scenario_ids(name)]
        raise click.UsageError(
            f'there is no scenario "{scenario}"{did_you_mean(scenario, ids)}; agentgym list ENV shows all'
        )
    env = gym.make(domains[domain], disable_env_checker=True, split="test")
    try:
        _, info = env.reset(seed=0, options={"scenario": scenario})
        played: Scenario = env.get_wrapper_attr("scenario")
    finally:
        env.close()
    task = json.loads(info["task"])
    shown: dict[str, Any] = {"id": played.id, "family": played.family, "level": played.level, **task}
    hidden = {**played.model_dump(mode="json", by_alias=True, exclude_defaults=True), "now": iso(played.now)}
    if as_json:
        print_json(shown | ({"scenario": hidden} if gold else {}))
    else:
        click.echo(_text(shown))
        if gold:
            import yaml

            rest = yaml.safe_dump(hidden, sort_keys=False, allow_unicode=True, width=110)
            click.echo(f"\n# What the agent never sees\n\n{rest}".rstrip())


def _envs() -> list[tuple[str, str]]:
    return list(REGISTERED.items())


def _listed(scenario: Scenario) -> dict[str, Any]:
    end = scenario.checks.end
    return {
        "id": scenario.id,
        "family": scenario.family,
        "level": scenario.level,
        "revision": scenario.revision,
        "split": "test",
        "focus": scenario.focus,
        "capability": scenario.capability,
        "impact": scenario.impact,
        "language": scenario.language,
        "tags": scenario.tags,
        "twin_of": scenario.twin_of,
        "max_steps": scenario.checks.process.max_steps,
        "trials": scenario.trials,
        "ends": "hand off" if end.hand_off and not end.outcome else ", ".join(end.outcome),
        "instruction": scenario.instruction,
    }


def _shortened(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 70 else text[:69] + "…"


def _text(shown: dict[str, Any]) -> str:
    tools = [entry["function"] for entry in shown["tools"]]
    parts = [
        f"# {shown['id']} ({shown['family']}, {shown['level']})",
        f"## System prompt\n\n{shown['system_prompt']}",
        f"## The user says\n\n{shown['opening']}",
        f"## Tools ({len(tools)})\n\n" + "\n".join(_tool(function) for function in tools),
    ]
    return "\n\n".join(parts)


def _tool(function: dict[str, Any]) -> str:
    schema = function.get("parameters", {})
    required = schema.get("required", [])
    names = [name if name in required else f"{name}?" for name in schema.get("properties", {})]
    summary = (function.get("description") or "").strip().split("\n")[0]
    return f"- {function['name']}({', '.join(names)}): {summary}"
