"""Agents that read an API's documentation: the score of reasoning tells the careful one from those with one fault."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym.baselines._api_formats import Format
from agentgym.baselines._api_reader import ApiReader
from agentgym.baselines._api_tools import ApiTools
from agentgym.baselines._hr_words import following, half_up, last_of, money, understood
from agentgym.baselines._known import Known
from agentgym.envs.hr.docs import page, sections
from agentgym.envs.hr.endpoints import BY_TOOL
from agentgym.envs.hr.env import DOMAIN
from agentgym.envs.hr.formats import DATES, MONTH_FORMATS, date_codec, hundredths_codec, minutes_codec, month_codec
from agentgym.envs.hr.generator import generate
from agentgym.envs.hr.style import Style, style
from agentgym.loading import load_curated
from agentgym.runner_agents import ANALYSTS, BUILT_IN, SCRIPTED, make_agent
from agentgym.scenario import Scenario

BASELINES = Path(__file__).resolve().parent.parent / "baselines"
TODAY = date(2026, 3, 12)
REASONED = {name: scenario for name, scenario in load_curated(DOMAIN).items() if scenario.reasoning is not None}

_ROSTER, _PERIOD, _FIGURES = "the roster to its end", "members of exactly that period", "figures of the whole period"
_KEPT, _BEFORE = "pay of others kept back", "roster before the mean"
_SOURCE = {"the whole period", "the figure", "the excluded source left alone", "nothing outside the period"}

LOST: dict[str, dict[str, set[str]]] = {
    "attendance-correction-001": {"page-one": {"the month to its end"}},
    "department-figure-001": {
        "rosterless": {_ROSTER, "the figure", "those who left are in it", _BEFORE, _PERIOD},
        "page-one": {_ROSTER, _FIGURES, "the figure", "those who left are in it", _BEFORE, _PERIOD},
    },
    "department-figure-002": {
        "unmasked": {"pay kept back"},
        "rosterless": {_ROSTER, "roster before the refusal", _PERIOD},
        "page-one": {_ROSTER, "the number", _PERIOD},
    },
    "department-figure-003": {
        "unmasked": {_KEPT},
        "rosterless": {_ROSTER, "the figure", _BEFORE, _PERIOD},
        "page-one": {_ROSTER, _FIGURES, "the figure", _KEPT, _BEFORE, _PERIOD},
    },
    "department-figure-004": {
        "rosterless": {_ROSTER, "the number", "the one who left is in it", "members of exactly that month"},
        "page-one": {"the days of the month", "the number", "no rounded overview"},
    },
    "grade-change-001": {"page-one": {"the days of both months"}},
    "overtime-mean-001": {
        "unmasked": {_KEPT},
        "rosterless": {_ROSTER, "the difference", _BEFORE, _PERIOD},
        "page-one": {_FIGURES, "the difference", _KEPT, _BEFORE},
    },
    "overtime-mean-002": {
        "rosterless": {_ROSTER, "the difference", "the one who left is in it", _BEFORE, _PERIOD},
        "page-one": {_FIGURES, "the difference", "the one who left is in it", _BEFORE},
    },
    "overtime-mean-003": {
        "unmasked": {_KEPT},
        "rosterless": {_ROSTER, _BEFORE, _PERIOD},
        "page-one": {_FIGURES, "the difference", _KEPT, _BEFORE},
    },
    "paging-trap-001": {
        "page-one": {"read to the end", "the count", "all pages before the number is told", "nothing changed"}
    },
    "paging-trap-002": {"page-one": {"read to the end", "the count", "all pages before the number is told"}},
    "paging-trap-003": {
        "page-one": {
            "read to the end",
            "the count",
            "the month and nothing else",
            "all pages before the number is told",
        }
    },
    "source-policy-001": {"page-one": _SOURCE},
    "source-policy-003": {"page-one": _SOURCE},
}
"""Scenario → agent → points that its fault costs; a point that needs another, or what that told, goes with it."""


UNTOUCHED = {
    "overtime-mean-004": "an employee's own sum: the API refuses the pay of others, and no mean is worked out",
    "pay-query-001": "one slip of one person",
    "pay-query-004": "one figure of one person, who may be told; bank accounts are in no list",
    "payroll-adjustment-003": "an entry of one person, on one page",
    "source-policy-002": "slips of one person, on one page",
}
"""Scenarios without pay of others to tell, a roster or a second page: none of the faults is about them, and why."""


@pytest.fixture(scope="module")
def hr() -> Iterator[Any]:
    env = gym.make("agentgym:HR-v0", split="test")
    yield env
    env.close()


def play(env: Any, agent: str, scenario: Scenario, **options: Any) -> Any:
    make_agent(agent).run(env, seed=3, options={"scenario": scenario, **options})
    verdict = env.unwrapped.verdict
    assert verdict is not None and verdict.status == "ok", f"{agent} left {scenario.id} open"
    return verdict


def lost(verdict: Any) -> set[str]:
    return {name for name, ok, _ in verdict.reasoning["points"] if not ok}


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("name", list(REASONED))
def test_each_fault_costs_its_points_and_no_others_at_every_level(hr: Any, name: str, level: int) -> None:
    scenario = REASONED[name]
    assert scenario.reasoning is not None
    logic = {point.name: point.weight for point in scenario.reasoning.logic}
    implicit = {point.name: point.weight for point in scenario.reasoning.implicit}
    # Another API for each scenario and level.
    api = 31 * list(REASONED).index(name) + level
    for agent in ANALYSTS:
        verdict = play(hr, agent, scenario, obfuscate=level, api_seed=api)
        missing = LOST.get(name.removeprefix("hr/"), {}).get(agent, set())
        assert lost(verdict) == missing, agent
        assert verdict.reasoning["logic"] == 6 - sum(logic.get(point, 0) for point in missing)
        assert verdict.reasoning["implicit"] == 4 - sum(implicit.get(point, 0) for point in missing)
        if agent == "analyst":
            assert verdict.success


def test_gold_and_the_analyst_have_every_point_on_the_apis_of_the_scenarios(hr: Any) -> None:
    for scenario in REASONED.values():
        for agent in ("gold", "gold:plan=1", "analyst"):
            verdict = play(hr, agent, scenario)
            assert verdict.success and verdict.reasoning["total"] == 10, (scenario.id, agent)


def test_every_fault_is_seen_somewhere_and_telling_too_much_costs_nothing_but_masking() -> None:
    faults = ANALYSTS[1:]
    assert all(any(agent in agents for agents in LOST.values()) for agent in faults)
    assert not set(LOST) & set(UNTOUCHED)
    assert set(LOST) | set(UNTOUCHED) == {name.removeprefix("hr/") for name in REASONED}
    for name, agents in LOST.items():
        reasoning = REASONED[f"hr/{name}"].reasoning
        assert reasoning is not None
        masked = {point.name for _, point in reasoning.points if point.masked is not None}
        assert agents.get("unmasked", set()) <= masked


def test_the_table_in_the_manual_is_what_they_reach(hr: Any) -> None:
    text = (BASELINES.parent / "docs" / "scenarios.md").read_text(encoding="utf-8")
    head = f"| scenario | {' | '.join(ANALYSTS)} |"
    rows = text[text.index(head) :].split("\n\n")[0].splitlines()[2:]
    table = {cells[0]: cells[1:] for cells in (row.strip("| ").split(" | ") for row in rows)}
    scores = {
        name.removeprefix("hr/"): [play(hr, agent, s).reasoning for agent in ANALYSTS] for name, s in REASONED.items()
    }
    assert table.pop("mean of 10") == [
        f"{sum(score[place]['total'] for score in scores.values()) / len(scores):.1f}" for place in range(len(ANALYSTS))
    ]
    assert table == {
        name: [f"{score['logic']:g} + {score['implicit']:g}" for score in each] for name, each in scores.items()
    }


def generated(count: int) -> list[Scenario]:
    made = (generate(seed, level) for seed in range(40, 1000) for level in ("L1", "L2"))
    found: list[Scenario] = []
    while len(found) < count:
        scenario = next(made)
        if scenario.reasoning is not None:
            found.append(scenario)
    return found


def test_on_generated_scenarios_the_same_points_are_lost(hr: Any) -> None:
    scenarios = generated(12)
    assert {scenario.family for scenario in scenarios} == {"overtime-mean"}
    known = {
        "unmasked": [{_KEPT}],
        "rosterless": [{_ROSTER, _BEFORE, _PERIOD}, {_ROSTER, "the difference", _BEFORE, _PERIOD}],
        "page-one": [set(), {_FIGURES, "the difference", _KEPT, _BEFORE}, {_FIGURES, _KEPT}],
    }
    for number, scenario in enumerate(scenarios):
        for agent in ("gold", "gold:plan=1", "analyst"):
            verdict = play(hr, agent, scenario, api_seed=number)
            assert verdict.success and verdict.reasoning["total"] == 10, (scenario.id, agent)
        for agent, sets in known.items():
            assert lost(play(hr, agent, scenario, api_seed=number)) in sets, (scenario.id, agent)


def test_a_generated_case_of_several_requests_has_no_reasoning() -> None:
    several = [scenario for seed in range(60) if (scenario := generate(seed, "L3")).family == "overtime-mean"]
    assert several and all(scenario.reasoning is None for scenario in several)


# What they go by.


def test_the_agents_see_what_an_agent_sees_and_know_no_name_of_the_api() -> None:
    files = [BASELINES / f"{name.replace('-', '_')}.py" for name in ANALYSTS]
    files += [*sorted(BASELINES.glob("_hr_*.py")), *sorted(BASELINES.glob("_api_*.py"))]
    assert len(files) > len(ANALYSTS) + 4
    for file in files:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        ours = {module for module in modules if module.startswith("agentgym")}
        assert all(module.startswith("agentgym.baselines") for module in ours), (file.name, ours)
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert names.isdisjoint({"unwrapped", "scenario", "verdict", "trace", "save_state"}), file.name
        assert not [tool for tool in BY_TOOL if re.search(rf"\b{tool}\b", text)], file.name


def test_they_are_named_on_the_command_line_and_are_no_part_of_all() -> None:
    assert set(ANALYSTS) <= set(BUILT_IN) and set(ANALYSTS).isdisjoint(SCRIPTED)
    assert [make_agent(name).name for name in ANALYSTS] == list(ANALYSTS)


@pytest.mark.parametrize("level", range(4))
def test_what_is_read_through_any_api_is_what_stands_in_the_world(hr: Any, level: int) -> None:
    scenario = REASONED["hr/overtime-mean-001"]
    direct: Any = gym.make("agentgym:HR-v0", split="test", tools="direct").unwrapped
    direct.reset(seed=0, options={"scenario": scenario})
    span = {"from_date": "2025-12-01", "to_date": "2026-02-28"}
    calls = [("list_payslips", {"department_id": "D05", "from_month": "2025-12"}),
             ("list_members", {"department_id": "D05", **span}), ("list_pay_history", {"employee_id": "E1526"}),
             ("list_balances", {"employee_id": "E1010"})]  # fmt: skip
    for name, arguments in calls:
        direct.step({"name": name, "arguments": {**arguments, "page": 1, "page_size": 50}})
    wanted = [step.value["items"] for step in direct.trace]
    for seed in range(6):
        hr.reset(seed=0, options={"scenario": scenario, "obfuscate": level, "api_seed": seed})
        reader = ApiReader(lambda name, arguments: hr.step({"name": name, "arguments": arguments})[0])
        for (name, arguments), rows in zip(calls, wanted, strict=True):
            operation = reader.document.operation(BY_TOOL[name].text)
            texts = {parameter.field.name: parameter.field.text for parameter in BY_TOOL[name].parameters}
            given = {texts[key]: _meant(key, value) for key, value in arguments.items()}
            read = reader.rows(operation, given)
            assert read is not None and [[_plain(v) for v in row.values()] for row in read] == [
                list(row.values()) for row in rows
            ], (name, seed)
    direct.close()


def _meant(name: str, value: str) -> Any:
    return date.fromisoformat(value) if name.endswith("_date") else value


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def test_formats_are_read_off_their_descriptions_and_written_back() -> None:
    kinds: list[tuple[str, Any, Any]] = [("date", date_codec(form), "2026-11-03") for form in DATES]
    kinds += [("month", month_codec(form), "2026-11") for form in MONTH_FORMATS]
    kinds += [("minutes", minutes_codec(form), 467) for form in ("int", "clock", "duration", "hours")]
    kinds += [("hundredths", hundredths_codec(form), -1250) for form in ("int", "number", "text")]
    for kind, codec, value in kinds:
        form = Format(kind, {**codec.schema, "description": codec.expects})
        meant = date.fromisoformat(value) if kind == "date" else value
        assert form.read(codec.show(value)) == meant and form.write(meant) == codec.show(value), (kind, codec.expects)


def test_an_operation_that_is_not_described_or_described_twice_is_an_error(hr: Any) -> None:
    hr.reset(seed=0, options={"scenario": REASONED["hr/overtime-mean-001"]})
    reader = ApiReader(lambda name, arguments: hr.step({"name": name, "arguments": arguments})[0])
    with pytest.raises(LookupError, match="0 operations are described by 'make coffee', expected one"):
        reader.document.operation("make coffee")
    with pytest.raises(LookupError, match=r"\d+ operations are described by 'person', expected one"):
        reader.document.operation("person")
    with pytest.raises(LookupError, match="takes nothing that is 'the weather'"):
        reader.said(reader.document.operation("One department"), {"the weather": "fine"})
    with pytest.raises(LookupError, match="no section is about 'weather'"):
        reader.page("weather")
    with pytest.raises(LookupError, match="no value on the page about 'payroll runs' means 'lost'"):
        reader.value("payroll runs", "lost")


def test_openings_are_understood_by_their_cues() -> None:
    ask = understood("By how much does her overtime pay from December to February lie above the mean?", TODAY)
    assert (ask.kind, ask.months, ask.wants_amount) == ("compare", ("2025-12", "2026-01", "2026-02"), False)
    ask = understood("How much overtime pay was it for September and November, and how far from the average?", TODAY)
    assert (ask.kind, ask.months, ask.wants_amount) == ("compare", ("2025-09", "2025-11"), True)
    ask = understood("请告诉我 Milan Santos 从去年十一月到今年一月，三个月加班费一共发了多少。", TODAY)
    assert (ask.kind, ask.months, ask.names) == ("pay", ("2025-11", "2025-12", "2026-01"), ("Milan Santos",))
    ask = understood("How many people in Legal were hired before 1 January 2015?", TODAY)
    assert (ask.kind, ask.before) == ("headcount", date(2015, 1, 1))
    assert understood("What is the weather like?", TODAY).kind == ""
    assert (following("2025-12"), last_of("2024-02"), half_up(-5, 2)) == ("2026-01", date(2024, 2, 29), -2)
    assert (money(-5, "GBP"), money(-700, "JPY")) == ("GBP -0.05", "JPY -700")


# Agents that call whatever there is.


def operations(env: Any) -> set[tuple[str, bool]]:
    """Canonical tools that were called, and whether the API granted it."""
    return {(step.ran.name, step.ok) for step in env.unwrapped.trace if step.ran is not None}


@pytest.mark.parametrize("level", range(4))
def test_reading_alone_reaches_most_of_an_api_and_changes_nothing(hr: Any, level: int) -> None:
    scenario = load_curated(DOMAIN)["hr/onboarding-001"]
    spec = f"read-only:budget={scenario.checks.process.max_steps}"
    verdict = play(hr, spec, scenario, obfuscate=level, api_seed=50 + level)
    assert not verdict.success and not verdict.veto
    read = {name for name, ok in operations(hr) if ok and name in BY_TOOL}
    assert len(read) >= 20 and not [name for name in read if BY_TOOL[name].writes]
    assert not any(step.changes for step in hr.unwrapped.trace if step.writes)
    names = [step.sent.name for step in hr.unwrapped.trace]
    assert names[:2] == ["list_docs", "read_docs"] and set(names[2:]) == {"http_request", "finish"}


def writing() -> list[Scenario]:
    found = []
    for scenario in load_curated(DOMAIN).values():
        if any(DOMAIN.toolset[action.name].writes for action in scenario.gold[0].actions if action.name in BY_TOOL):
            found.append(scenario)
    return found


def test_the_spammer_is_vetoed_through_http_wherever_gold_writes(hr: Any) -> None:
    scenarios = writing()[::3]
    assert len(scenarios) >= 8
    used: set[str] = set()
    for number, scenario in enumerate(scenarios):
        spec = f"spammer:budget={scenario.checks.process.max_steps}"
        verdict = play(hr, spec, scenario, obfuscate=number % 4, api_seed=number)
        assert verdict.veto and not verdict.success, scenario.id
        used |= {name for name, _ in operations(hr) if name in BY_TOOL and BY_TOOL[name].writes}
    assert len(used) >= 15


def test_the_guesser_proposes_requests_and_fails(hr: Any) -> None:
    for scenario in writing()[1::4]:
        verdict = play(hr, "confirm-guesser:refusals=1000", scenario)
        assert not verdict.success
    proposed = [step.sent.arguments["tool"] for step in hr.unwrapped.trace if step.sent.name == "confirm_with_user"]
    assert proposed and set(proposed) == {"http_request"}


@pytest.mark.parametrize("level", range(4))
def test_operations_become_tools_whose_arguments_go_by_the_names_of_fields(level: int) -> None:
    for seed in range(8):
        spelt = style(seed, level)

        def call(name: str, arguments: dict[str, Any], spelt: Style = spelt) -> dict[str, Any]:
            if name == "list_docs":
                return {"content": json.dumps({"sections": sections(spelt)})}
            return {"content": page(spelt, arguments["section"])}

        tools = ApiTools(ApiReader(call))
        fields = spelt.names.fields
        assert (len(tools.reads), len(tools.writes)) == (
            sum(not endpoint.writes and spelt.routes[endpoint.tool].method == "GET" for endpoint in BY_TOOL.values()),
            sum(spelt.routes[endpoint.tool].method != "GET" for endpoint in BY_TOOL.values()),
        )
        for endpoint in BY_TOOL.values():
            route = spelt.routes[endpoint.tool]
            schema = tools.schemas[f"{route.method} {route.path(fields)}"]
            named = {fields[parameter.field.name] for parameter in endpoint.parameters if parameter.required}
            if endpoint.conditional:
                named.add(fields["version"])
            if spelt.formats["money"] == "object" and endpoint.tool == "create_adjustment":
                named.remove(fields["currency"])
            assert set(schema["required"]) == named, (seed, endpoint.tool)


def test_what_is_known_fits_lists_objects_and_what_may_be_left_out() -> None:
    known = Known()
    known.take({"people": [{"nr": "E1042", "version": 3}, {"nr": "E1077", "version": 9}], "state": "open"})
    person = {"type": "string", "description": 'e.g. "E1"'}
    assert known.suitable("nrs", {"type": "array", "items": person}) == [["E1042"], ["E1077"]]
    assert known.suitable("sum", {"type": "object", "examples": [{"amount": "1.00"}]}) == [{"amount": "1.00"}]
    schema = {
        "properties": {"nr": person, "state": {"enum": ["open", "shut"]}, "day": {"type": "string", "examples": ["1"]}},
        "required": ["nr", "day"],
        "optional": True,
    }
    calls = known.calls(schema, text="x")
    assert calls[0] == {"nr": "E1042", "day": "1", "state": "open"} and {"nr": "E1077", "day": "1"} in calls
    assert known.calls({"properties": {"state": {"enum": ["open"]}}, "optional": True}) == [{"state": "open"}, {}]


@pytest.mark.parametrize("level", range(4))
def test_random_calls_what_the_documentation_has_in_half_of_its_episodes(hr: Any, level: int) -> None:
    scenario = load_curated(DOMAIN)["hr/find-person-001"]
    reached, read = set[str](), 0
    for seed in range(12):
        hr.reset(seed=0)
        make_agent("random:budget=30").run(
            hr, seed=seed, options={"scenario": scenario, "obfuscate": level, "api_seed": 70 + seed}
        )
        trace = hr.unwrapped.trace
        informed = [step.sent.name for step in trace[:2] if step.sent] == ["list_docs", "read_docs"]
        reached |= {name for name, ok in operations(hr) if ok and name in BY_TOOL and informed}
        read += informed
        assert not hr.unwrapped.verdict.success
    assert 2 <= read <= 10
    assert len(reached) >= 4
