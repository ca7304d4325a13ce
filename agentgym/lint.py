"""Holds a scenario against its domain, at load: names, literals, SQL, checks that say nothing or contradict each other.

Form is checked by the models of `agentgym.scenario`. What needs an episode (gold reaches 1.0, everything can be found
out) is checked by ``agentgym validate``.
"""

from __future__ import annotations

from pydantic import ValidationError

from agentgym.domain import Domain
from agentgym.lint_chain import check_chain, check_reasoning
from agentgym.lint_names import check_calls, check_gold, check_tables
from agentgym.lint_sense import check_free_text, check_given, check_sense
from agentgym.lint_state import check_patches, check_queries, check_state, check_unborn
from agentgym.lint_subject import Subject
from agentgym.misfit import misfit
from agentgym.scenario import Scenario
from agentgym.sqlcheck import checker
from agentgym.world import World


def lint(scenario: Scenario, domain: Domain, world: World | None = None) -> None:
    """Refuse a scenario that cannot mean what it says.

    Args:
        scenario: the scenario.
        domain: its domain.
        world: a world on the domain's snapshot to try it on, left reset to the snapshot; by default one is opened.

    Raises:
        ScenarioError: the first thing that is wrong, with field, found and expected.
    """
    own = world is None
    tried = World(domain.snapshot, domain.toolset) if world is None else world
    try:
        tried.reset({})
        _lint(Subject(scenario, domain, tried, checker(tried.connection)))
    finally:
        tried.reset({})
        if own:
            tried.close()


def _lint(subject: Subject) -> None:
    scenario, domain = subject.scenario, subject.domain
    if scenario.id.partition("/")[0] != domain.name:
        raise subject.wrong("id", repr(scenario.id), f"an id that starts with {domain.name + '/'!r}, the domain")
    try:
        domain.scenario_model.model_validate(scenario.domain)
    except ValidationError as error:
        raise misfit(scenario.id, scenario.domain, error, domain.scenario_model, "domain") from None
    check_calls(subject)
    check_gold(subject)
    check_tables(subject)
    check_queries(subject)
    check_sense(subject)
    check_free_text(subject)
    check_given(subject)
    check_patches(subject)
    check_unborn(subject)
    check_state(subject)
    check_chain(subject)
    check_reasoning(subject)
