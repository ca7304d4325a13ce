"""V14: variants keep the goal state, and noise never touches a protected span."""

from __future__ import annotations

from agentgym.errors import AgentGymError
from agentgym.noise import LEVELS, NoiseLevel, keeps
from agentgym.scenario import Scenario
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject
from agentgym.variants import variants, without_number

_COUNT = 2


@check("V14", "variants keep the goal")
def variants_keep_the_goal(subject: Subject) -> Finding:
    """Two variants of each scenario at each level: gold scores 1.0, protected spans stand in their order, no veto.

    At the level of knowledge a number may move from the opening into a fact that the gold plans ask for; it must be
    told then, and all else that is protected must stand.
    """
    failures: list[str] = []
    made = moved = played = 0
    for scenario in subject.scenarios:
        for level in LEVELS:
            found = variants(scenario, level, seed=0, count=_COUNT)
            made += len(found)
            for variant in found:
                moved += len(variant.user.facts) > len(scenario.user.facts)
                failures += _touched(scenario, variant, level)
                for plan in range(len(variant.gold)):
                    played += 1
                    failures += _fails(subject, variant, plan)
    return Finding(f"{made} variants, {played} plans, {moved} with a number to ask for", failures)


def _touched(scenario: Scenario, variant: Scenario, level: NoiseLevel) -> list[str]:
    taken = without_number(scenario) if level == "knowledge" else None
    before = taken.opening if taken else scenario.user.opening
    if not keeps(before, variant.user.opening):
        return [f"{variant.id}: something protected in the opening was touched"]
    if taken and not any(taken.number in fact.say for fact in variant.user.facts.values()):
        return [f"{variant.id}: {taken.number} was taken away and no fact tells it"]
    return []


def _fails(subject: Subject, variant: Scenario, plan: int) -> list[str]:
    name = f"{variant.id} gold[{plan}]"
    try:
        played = subject.gold(variant, plan)
    except AgentGymError as error:
        return [f"{name}: {error}"]
    verdict = played.verdict
    if verdict is None or not verdict.success or verdict.veto:
        return [f"{name}: {verdict.veto_rule or verdict.end_reason or 'no success' if verdict else 'no end'}"]
    return []
