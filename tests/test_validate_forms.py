"""Checks in every form in which tools are presented: each fails on a fault that one level of obfuscation alone has."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import gymnasium as gym
import pytest

from agentgym.env import ToolEnv
from agentgym.envs.hr.api import Routed, route
from agentgym.envs.hr.asking import request
from agentgym.envs.hr.env import DOMAIN
from agentgym.envs.hr.presentation import HttpPresentation, TypedPresentation
from agentgym.envs.hr.style import style
from agentgym.hooks import Context
from agentgym.loading import load_scenario
from agentgym.presentation import Answer
from agentgym.scenario import Scenario
from agentgym.trace import Call
from agentgym.validate.registry import CHECKS, Finding, load_checks
from agentgym.validate.subject import Subject
from agentgym.world import CallResult

NAMES = ("hr/access-rights-001", "hr/find-person-001", "hr/leave-decision-001", "hr/pay-query-001")
WHO = "find-person-001"
LEVELS = [f"http, obfuscate={level}" for level in range(4)]
_numbers = itertools.count()


def subject(http: Any = HttpPresentation, typed: Any = TypedPresentation, env: Any = ToolEnv, **fields: Any) -> Subject:
    """The HR desk with four scenarios, presented so."""

    def made(kind: Any) -> Callable[[Scenario | None], Any]:
        def presenter(scenario: Scenario | None) -> Any:
            api = scenario.domain["api"] if scenario is not None else {"seed": 0, "obfuscate": 0}
            return kind(api["seed"], api["obfuscate"])

        return presenter

    domain = replace(DOMAIN, presentations={"http": made(http), "typed": made(typed)}, generator=None, **fields)
    name = f"Formed{next(_numbers)}-v0"
    gym.register(name, entry_point=cast("Any", type("FormedEnv", (env,), {"domain": domain})))
    found = Subject(name, generated=0)
    scenarios = [load_scenario(each, DOMAIN) for each in NAMES]
    found.__dict__.update(curated=scenarios, scenarios=scenarios)
    return found


def find(check: str, of: Subject) -> Finding:
    load_checks()
    return CHECKS[check].function(of)


@pytest.fixture(scope="module")
def sound() -> Subject:
    return subject()


@pytest.mark.parametrize("check", ["V01", "V02", "V07F", "V08F", "V12", "V13F", "V44"])
def test_the_desk_passes(sound: Subject, check: str) -> None:
    assert find(check, sound).failures == []


def test_gold_is_played_at_every_level_and_through_every_presentation(sound: Subject) -> None:
    figure = find("V08F", sound).figure
    assert figure.count("8 plans http, obfuscate=") == 4
    assert figure.count("2 plans typed, obfuscate=") == 4


def test_neighbours_take_turns_and_the_nightly_set_takes_all(sound: Subject) -> None:
    first, second, *_ = sound.scenarios
    assert [sound.turn(sound.default_forms, first, n)[0].name for n in range(5)] == [*LEVELS, LEVELS[0]]
    assert [form.name for form in sound.turn(sound.default_forms, second)] == [LEVELS[1]]
    nightly = Subject(sound.env_id, generated=0, full=True)
    assert [form.name for form in nightly.turn(nightly.default_forms, second)] == LEVELS
    assert len(nightly.turn(nightly.default_forms, second, every=False)) == 1


def test_a_domain_that_shows_its_tools_as_they_are_has_no_forms() -> None:
    refund = Subject("Refund-v0", generated=0)
    assert refund.forms == refund.default_forms == refund.turn([], refund.curated[0]) == []
    refund.__dict__["scenarios"] = refund.curated[:1]
    for check in ("V07F", "V08F", "V13F"):
        assert find(check, refund) == Finding("tools are shown as they are")


def at(failures: list[str]) -> set[str]:
    """The forms that failures name."""
    return {form for form in [*LEVELS, *(f"typed, obfuscate={n}" for n in range(4))] for f in failures if form in f}


class Forgetful(HttpPresentation):
    """Drops a filter at the second level."""

    def _routed(self, call: Call) -> Any:
        routed = super()._routed(call)
        if isinstance(routed, Routed) and self.style.level == 2:
            return Routed(routed.tool, {k: v for k, v in routed.arguments.items() if k != "page_size"})
        return routed


class Unclear(HttpPresentation):
    """Gives lists without their rows at the first level."""

    def read(self, call: Call, content: str) -> Any:
        found = super().read(call, content)
        return (
            {**found, "items": []} if self.style.level == 1 and isinstance(found, dict) and "items" in found else found
        )


@pytest.mark.parametrize(
    ("kind", "level", "text"),
    [(Forgetful, 2, "the calls that reach the world are others"), (Unclear, 1, "GoldError")],
)
def test_a_call_or_a_result_that_is_lost_at_one_level_is_found(kind: Any, level: int, text: str) -> None:
    failures = find("V08F", subject(kind)).failures
    assert at(failures) == {LEVELS[level]}
    assert any(text in failure for failure in failures)


class Lenient(HttpPresentation):
    """Takes requests to the plain API as well."""

    def _routed(self, call: Call) -> Any:
        routed = super()._routed(call)
        if isinstance(routed, Routed) or self.style.level != 3 or call.name != "http_request":
            return routed
        asked = call.arguments
        return route(style(0, 0), asked["method"], asked["path"], *(asked.get(x) for x in ("query", "headers", "body")))

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        # The pages have the plain names too, or what was learnt could not be read again.
        shown = super().after_call(call, result, ctx)
        return shown if shown.ok or self.style.level != 3 else shown._replace(ok=True, value={}, error="")


def test_an_api_that_takes_what_was_learnt_of_another_is_found() -> None:
    failures = find("V07F", subject(Lenient)).failures
    assert failures
    assert all("the calls of http, obfuscate=0 succeed in http, obfuscate=3" in failure for failure in failures)


class Mute(HttpPresentation):
    """Its pages say nothing at the third level."""

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        shown = super().after_call(call, result, ctx)
        quiet = call.name == "read_docs" and self.style.level == 3
        return shown._replace(value={"text": "see elsewhere"}) if quiet else shown


class Canonical(HttpPresentation):
    """Speaks of arguments by the domain's names at the second level."""

    def before_call(self, call: Call, ctx: Context) -> Call | Answer:
        done = super().before_call(call, ctx)
        if isinstance(done, Answer) and self.style.level == 2:
            return done._replace(error="employee_id and leave_type and page_size are wrong for list_employees")
        return done


def test_words_that_no_page_tells_are_found_at_their_level() -> None:
    failures = find("V13F", subject(Mute)).failures
    assert at(failures) == {LEVELS[3]}
    assert all("which was not shown" in failure for failure in failures)


def test_an_error_in_the_domains_own_names_is_found_at_its_level() -> None:
    failures = find("V13F", subject(Canonical)).failures
    assert at(failures) == {LEVELS[2]}
    assert all("the domain's own" in failure for failure in failures)


def test_a_drawn_name_in_the_prompt_is_found() -> None:
    def told(scenario: Scenario) -> str:
        asked = request(
            style(scenario.domain["api"]["seed"], scenario.domain["api"]["obfuscate"]), "list_employees", {"name": "x"}
        )
        return f"Ask at {asked.path} by {' '.join(asked.query or {})}."

    failures = find("V13F", subject(briefing=told)).failures
    assert failures
    assert all("stands in the prompt" in failure for failure in failures)
    assert not any("obfuscate=0" in failure for failure in failures)


class Telling(TypedPresentation):
    """Has an answer among its schemas at the second level."""

    def __init__(self, seed: int, level: int) -> None:
        super().__init__(seed, level)
        if level == 2:
            first, *rest = self.shown
            self.shown = (replace(first, description=f"{first.description} As for E1821."), *rest)


def test_an_answer_in_the_schemas_of_one_form_is_found() -> None:
    telling = subject(typed=Telling)
    telling.full = True
    failures = find("V12", telling).failures
    wanted = "'E1821' stands in the tool schemas (typed, obfuscate=2)"
    assert [failure.partition(": ")[0] for failure in failures if wanted in failure] == [f"hr/{WHO}"] * len(failures)
    assert failures


class Generous(ToolEnv):
    """Pays for nothing at the third level."""

    @property
    def episode_return(self) -> float:
        """The return."""
        generous = isinstance(self.presentation, HttpPresentation) and self.presentation.style.level == 3
        return 1.0 if generous else super().episode_return


@pytest.mark.parametrize("check", ["V01", "V02"])
def test_a_level_at_which_nothing_is_asked_is_found(check: str) -> None:
    failures = find(check, subject(env=Generous)).failures
    # Every scenario meets the level by one of the ends that are tried, which are three for talkers.
    assert at(failures) == {LEVELS[3]}
    assert len(failures) == {"V01": 4, "V02": 3}[check]


class Deaf(HttpPresentation):
    """At the second level what is said reaches nobody as it was said."""

    def before_call(self, call: Call, ctx: Context) -> Call | Answer:
        if call.name == "respond" and self.style.level == 2:
            return Call("respond", {"message": "hello"})
        return super().before_call(call, ctx)


def test_a_secret_that_is_told_at_one_level_is_found() -> None:
    failures = find("V44", subject(Deaf)).failures
    assert failures
    assert all("respond (http, obfuscate=2)" in failure for failure in failures)


class Counting(HttpPresentation):
    """At the first level it remembers how often the process was asked."""

    asked = itertools.count()

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        shown = super().after_call(call, result, ctx)
        counts = call.name == "list_docs" and self.style.level == 1
        return shown._replace(value={**shown.value, "asked": next(self.asked)}) if counts else shown


def test_bytes_that_differ_at_one_level_are_found() -> None:
    failures = [f for f in find("V30", subject(Counting)).failures if "in another environment" in f]
    assert at(failures) == {LEVELS[1]}
