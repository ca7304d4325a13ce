"""Files of predictions, graded by the waterfall and summed up by capability.

A file has one JSON object a line: ``{"scenario": ID, "calls": [{"name": …, "arguments": {…}}, …], "answer": …}``. What
is not predicted is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agentgym.errors import did_you_mean
from agentgym.metrics import capability_score, mean
from agentgym.scenario import Scenario
from agentgym.summary import UNNAMED
from agentgym.trace import Call
from agentgym.waterfall import Graded, Waterfall


class Prediction(NamedTuple):
    """What an agent did about a scenario and what it answered."""

    scenario: str
    calls: tuple[Call, ...]
    answer: Any


@dataclass(frozen=True)
class Report:
    """What a file of predictions came to.

    Attributes:
        graded: one for each scenario, in their order; what was missing is graded as wrong.
        capabilities: capability → its score in 0..1, sorted.
        leaderboard: the mean over capabilities.
        missing: ids of scenarios without a prediction.
    """

    graded: tuple[Graded, ...]
    capabilities: dict[str, float]
    leaderboard: float
    missing: tuple[str, ...]


def read_predictions(path: str | Path) -> list[Prediction]:
    """Read a file of predictions; empty lines are passed over.

    Raises:
        ValueError: a line is none, or two are of one scenario; or the file is no text in UTF-8.
    """
    found: dict[str, Prediction] = {}
    with Path(path).open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"{path}, line {number}: found {error}; expected JSON lines in UTF-8") from None
            if not line.strip():
                continue
            prediction = _prediction(line, f"{path}, line {number}")
            if prediction.scenario in found:
                raise ValueError(f"{path}, line {number}: a second prediction of {prediction.scenario}; give one each")
            found[prediction.scenario] = prediction
    return list(found.values())


def _prediction(line: str, place: str) -> Prediction:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: found no JSON ({error}); expected an object with scenario, calls, answer") from None
    if not isinstance(data, dict) or data.keys() != {"scenario", "calls", "answer"}:
        names = ", ".join(sorted(data)) if isinstance(data, dict) else type(data).__name__
        raise ValueError(f"{place}: found {names or 'nothing'}; expected an object with scenario, calls, answer")
    calls = data["calls"]
    if not isinstance(data["scenario"], str) or not isinstance(calls, list) or not all(map(_is_call, calls)):
        raise ValueError(f"{place}: expected scenario to be an id, calls a list of objects with name and arguments")
    made = tuple(Call(call["name"], call.get("arguments") or {}) for call in calls)
    return Prediction(data["scenario"], made, data["answer"])


def _is_call(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("arguments") or {}, dict)
        and value.keys() <= {"name", "arguments"}
    )


def grade_predictions(waterfall: Waterfall, scenarios: Sequence[Scenario], predictions: Iterable[Prediction]) -> Report:
    """Grade predictions of the scenarios of one domain.

    Raises:
        ValueError: there are no scenarios, or a prediction is of none of them, or a second one.
    """
    known = {scenario.id: scenario for scenario in scenarios}
    if not known:
        raise ValueError("no scenarios were given; a score over none is undefined")
    given: dict[str, Prediction] = {}
    for prediction in predictions:
        name = prediction.scenario
        if name not in known:
            raise ValueError(f"a prediction of {name!r}, which is none of the scenarios{did_you_mean(name, known)}")
        if name in given:
            raise ValueError(f"a second prediction of {name!r}; give one each")
        given[name] = prediction
    graded = tuple(
        waterfall.grade(scenario, given[name].calls, given[name].answer) if name in given else _missing(scenario)
        for name, scenario in known.items()
    )
    capabilities = score_by_capability((each.capability, each.sources, each.correct) for each in graded)
    missing = tuple(name for name in known if name not in given)
    return Report(graded, capabilities, mean(capabilities.values()), missing)


def grade_file(waterfall: Waterfall, scenarios: Sequence[Scenario], path: str | Path) -> Report:
    """Grade a file of predictions; see `read_predictions` and `grade_predictions`."""
    return grade_predictions(waterfall, scenarios, read_predictions(path))


def _missing(scenario: Scenario) -> Graded:
    return Graded(
        scenario.id, scenario.capability, scenario.sources, False, "not reached", reasons=("there is no prediction",)
    )


def score_by_capability(
    outcomes: Iterable[tuple[str, Literal["single", "multi"] | None, bool]],
) -> dict[str, float]:
    """Capability → `agentgym.metrics.capability_score` of its (capability, sources, correct); sorted by name."""
    counts: dict[str, dict[bool, list[bool]]] = {}
    for capability, sources, correct in outcomes:
        counts.setdefault(capability or UNNAMED, {False: [], True: []})[sources == "multi"].append(correct)
    return {
        name: capability_score((sum(kinds[False]), len(kinds[False])), (sum(kinds[True]), len(kinds[True])))
        for name, kinds in sorted(counts.items())
    }
