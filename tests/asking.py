"""Runs a file of questions against the scripted user: how many are answered right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentgym.loading import load_scenario
from agentgym.scenario import Fact, UserSpec
from agentgym.users import ScriptedUser, phrases

DATA = Path(__file__).parent / "data"
scenario_of = cache(load_scenario)


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
        scenario = scenario_of(entry["scenario"])
        spec, language = scenario.user.model_copy(update={"pressure": []}), scenario.language
    user = ScriptedUser()
    user.start(spec, language)
    said = user.reply(entry["ask"]).text
    told = [name for name, held in spec.facts.items() if held.say in said]
    return Asked(entry["scenario"], fact, entry["ask"], said, told == ([fact] if fact else []))


def rate(answers: Sequence[Asked | Played]) -> float:
    """The share that is right."""
    return sum(answer.right for answer in answers) / len(answers)


class Played(NamedTuple):
    """A message to a scenario's own user, the facts that it asks for, those told, what was said, and if it is right."""

    scenario: str
    message: str
    wanted: tuple[str, ...]
    told: tuple[str, ...]
    said: str
    right: bool


def played(name: str) -> list[Played]:
    """Play each message of a JSON lines file to a fresh user of its scenario, with all that the scenario says of it.

    Where facts are asked for, it is right to tell all of them and no other one. Where none is held, the only right
    answers are "I don't know" and a question back: an "OK" to a question counts as wrong.
    """
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [_play(json.loads(line)) for line in lines if line.strip()]


def _play(entry: dict[str, Any]) -> Played:
    scenario = scenario_of(entry["scenario"])
    user = ScriptedUser()
    user.start(scenario.user, scenario.language)
    said = user.reply(entry["message"]).text
    own, wanted = phrases(scenario.language), tuple(sorted(entry["facts"]))
    keys = user.get_state()["asked"]
    told = tuple(sorted(fact for fact, held in scenario.user.facts.items() if f"{fact}: {held.say}" in keys))
    shown = " ".join(_shown(scenario.user.facts[fact], own) for fact in scenario.user.facts if fact in told)
    right = told == wanted and said == (shown if wanted else own["unknown"])
    return Played(entry["scenario"], entry["message"], wanted, told, said, right)


def _shown(fact: Fact, own: Mapping[str, str]) -> str:
    """What a fact asked for the first time brings: itself, the lie, or a question back."""
    return fact.say if not fact.held_back else fact.lie or own["back"]
