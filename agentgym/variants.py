"""Adversarial variants of a scenario at three levels: the customer writes otherwise, what is right stays the same.

*wording* and *structure* change the opening by `agentgym.noise`. *knowledge* adds claims that are not so, and where the
opening names one thing by its number ("order A1010"), the number moves into a fact: the agent must ask for it, and so
do the gold plans. Nothing else of the scenario changes.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, NamedTuple

from agentgym.hearing import asked_for
from agentgym.loading import build
from agentgym.noise import LEVELS, NoiseLevel, noisy
from agentgym.random import Stream
from agentgym.scenario import Fact, Scenario

_TRIES = 20
_RATE = 0.25
_FACT = "number_asked_for"
_KINDS = "order|loan|ticket|booking|case|invoice|contract|policy"


class Moved(NamedTuple):
    """A number taken out of an opening: what is left, the number, its kind ("order"), and how to ask for it."""

    opening: str
    number: str
    kind: str
    question: str


def variants(scenario: Scenario, level: NoiseLevel, seed: int = 0, count: int = 3) -> list[Scenario]:
    """Return up to *count* variants of a scenario, which differ from it and from each other.

    Their ids are the scenario's with "-LEVEL-N", ``twin_of`` is the scenario, ``tags`` say the level. The same
    arguments give the same variants.

    Args:
        scenario: the scenario.
        level: "wording", "structure" or "knowledge".
        seed: of all draws.
        count: how many, at least 1. Fewer are returned where the opening is too short to be written in so many ways.

    Raises:
        ValueError: the level is unknown, or the count is not at least 1.
    """
    if level not in LEVELS:
        raise ValueError(f"expected the level to be one of {', '.join(LEVELS)}, got {level!r}")
    if count < 1:
        raise ValueError(f"expected a count of at least 1, got {count}")
    moved = without_number(scenario) if level == "knowledge" else None
    opening = moved.opening if moved else scenario.user.opening
    stream = Stream(seed, f"variant/{scenario.id}/{level}")
    found: list[str] = []
    for _ in range(_TRIES * count):
        text = noisy(opening, level, stream, scenario.language, _RATE)
        if text != scenario.user.opening and text not in found:
            found.append(text)
        if len(found) == count:
            break
    return [_variant(scenario, level, number, text, moved) for number, text in enumerate(found, start=1)]


def without_number(scenario: Scenario) -> Moved | None:
    """Take the number of the one thing that the opening names out of it, where the user may tell it on being asked.

    None where there is no such number or several, where the user's facts answer a question for it already, and where
    events happen at a time, which a question more would shift.
    """
    if any(event.at is not None for event in scenario.events):
        return None
    opening, chinese = scenario.user.opening, scenario.language == "zh"
    given = [str(each) for each in scenario.given]
    numbers = [each for each in given if re.search(rf"(?<!\w){re.escape(each)}(?![\w-])", opening, re.ASCII)]
    if len(numbers) != 1 or opening.count(numbers[0]) != 1:
        return None
    number = numbers[0]
    pattern = (
        rf"(?:我的?)?(?P<kind>[\u4e00-\u9fff]{{2}})号? ?{re.escape(number)}(?![\w-])"
        if chinese
        else rf"(?:\b(?:my|the|your|our) )?\b(?P<kind>{_KINDS}) (?:number |no\.? )?{re.escape(number)}\b"
    )
    match = re.search(pattern, opening, re.ASCII if chinese else re.IGNORECASE)
    if match is None:
        return None
    kind = match["kind"] if chinese else match["kind"].lower()
    question = f"请问您的{kind}号是多少？" if chinese else f"Could you give me the {kind} number, please?"
    if asked_for(question, scenario.user.facts):
        return None
    before, after = opening[: match.start()], opening[match.end() :]
    if chinese:
        return Moved(f"{before}我的那个{kind}{after.lstrip(' ')}", number, kind, question)
    starts = not before.strip() or before.rstrip()[-1] in ".!?"
    return Moved(f"{before}{'My' if starts else 'my'} {kind}{after}", number, kind, question)


def _variant(scenario: Scenario, level: NoiseLevel, number: int, opening: str, moved: Moved | None) -> Scenario:
    name = f"{scenario.id}-{level}-{number}"
    data: dict[str, Any] = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    data |= {"id": name, "revision": 1, "canary": _canary(scenario, name), "twin_of": scenario.id}
    data["tags"] = [*scenario.tags, f"variant:{level}"]
    data["user"]["opening"] = opening
    if moved:
        _ask_first(data, scenario, moved)
    return build(data, name)


def _ask_first(data: dict[str, Any], scenario: Scenario, moved: Moved) -> None:
    """Give the number as a fact, let every gold plan ask for it, and allow the step that this takes."""
    chinese = scenario.language == "zh"
    kind, number = moved.kind, moved.number
    when = [f"{kind}号", f"哪个{kind}"] if chinese else [f"{kind} number", f"which {kind}", f"number of the {kind}"]
    fact = Fact(when=when, say=f"是 {number}。" if chinese else f"It is {number}.")
    data["user"]["facts"] = {**data["user"].get("facts", {}), _FACT: fact.model_dump(exclude_defaults=True)}
    for plan in data["gold"]:
        plan["plan"] = [f"Ask the customer for the number of the {'case' if chinese else kind}", *plan["plan"]]
        plan["actions"] = [{"name": "respond", "arguments": {"message": moved.question}}, *plan["actions"]]
    checks = data.setdefault("checks", {})
    checks["process"] = {**checks.get("process", {}), "max_steps": scenario.checks.process.max_steps + 1}


def _canary(scenario: Scenario, name: str) -> str:
    """A canary of its own, the same at each call."""
    return f"agentgym:{hashlib.sha256(f'{scenario.canary}/{name}'.encode()).hexdigest()[:32]}"
