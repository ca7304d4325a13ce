"""Runs a file of questions against the scripted user: how many are answered right."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentgym.loading import load_scenario
from agentgym.scenario import UserSpec
from agentgym.users import ScriptedUser

DATA = Path(__file__).parent / "data"


class Asked(NamedTuple):
    """One question, the fact that should be told ("" for none), what the user said, and whether that is right."""

    scenario: str
    fact: str
    ask: str
    said: str
    right: bool


def asked(name: str) -> list[Asked]:
    """Ask each question of a file to a fresh user without pressure.

    A question for a fact that is held is right when exactly this fact is told; one for a fact that is not held, when no
    fact is told.
    """
    data: dict[str, list[dict[str, Any]]] = yaml.safe_load((DATA / name).read_text(encoding="utf-8"))
    users = {entry["name"]: entry for entry in data.get("users", [])}
    return [_ask(entry, users) for part in ("held", "not_held") for entry in data[part]]


def _ask(entry: dict[str, Any], users: dict[str, dict[str, Any]]) -> Asked:
    fact = entry.get("fact", "")
    if entry["scenario"] in users:
        own = users[entry["scenario"]]
        spec, language = UserSpec(opening=own["opening"], facts=own["facts"]), own.get("language", "en")
    else:
        scenario = load_scenario(entry["scenario"])
        spec, language = scenario.user.model_copy(update={"pressure": []}), scenario.language
    user = ScriptedUser()
    user.start(spec, language)
    said = user.reply(entry["ask"]).text
    told = [name for name, held in spec.facts.items() if held.say in said]
    return Asked(entry["scenario"], fact, entry["ask"], said, told == ([fact] if fact else []))


def rate(answers: list[Asked]) -> float:
    """The share that is right."""
    return sum(answer.right for answer in answers) / len(answers)
