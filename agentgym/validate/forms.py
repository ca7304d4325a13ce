"""Gold and the memoriser where tools are presented in other forms: V08F, V07F, V13F (see ``Domain.forms``).

In a domain that shows its tools as they are there is nothing to do. The reference agents play in every form as well
(`agentgym.validate.agents`), and so do V12, V30 and V44.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentgym.errors import AgentGymError
from agentgym.gold import GoldRunner
from agentgym.presentation import Presentation
from agentgym.scenario import Scenario
from agentgym.text import dumps
from agentgym.trace import Step
from agentgym.validate.gold_runs import GoldRun, gold_runs, good_runs
from agentgym.validate.interface_words import faults_of
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Form, Played, Subject, scripted

_NONE = "tools are shown as they are"


@check("V08F", "gold in every form")
def gold_in_every_form(subject: Subject) -> Finding:
    """Gold plans succeed by what they are shown, whatever the form, and make the same calls of the domain.

    Each plan is played in each form of the default presentation, and in one form of the others by turns, with ``full``
    in all. It must reach every checkpoint, without a veto or an error on the way, and what reached the
    world must be what reached it where tools are shown as they are.
    """
    failures, played = [], Counter[str]()
    others = subject.forms[len(subject.default_forms) :]
    for run in gold_runs(subject):
        for form in (*subject.default_forms, *subject.turn(others, run.scenario, run.plan)):
            played[form.name] += 1
            failures += [f"{run.name} ({form.name}): {fault}" for fault in _faults(subject, run, form)]
    return Finding(_counted(played, "plans"), failures)


def _faults(subject: Subject, run: GoldRun, form: Form) -> Iterator[str]:
    try:
        found = subject.gold(run.scenario, run.plan, env=form.env)
    except (AgentGymError, ValueError, KeyError) as error:
        yield f"{type(error).__name__}: {error}"
        return
    verdict, presentation = found.verdict, form.env.presentation
    if verdict is None or not verdict.success or not all(step for _, step in verdict.checkpoints):
        why = "it does not end" if verdict is None else next(iter(_lacking(found)), verdict.end_reason)
        yield f"gold does not score 1.0: {why}"
    yield from (f"step {step.index} was shown an error: {step.error}" for step in found.trace if step.error)
    if run.played is not None and presentation is not None:
        wanted, got = (_domain_calls(trace, presentation) for trace in (run.played.trace, found.trace))
        if wanted != got:
            one, other = next((pair for pair in zip(wanted, got, strict=False) if pair[0] != pair[1]), ("", ""))
            yield f"the calls that reach the world are others: {other or got[-1:]} for {one or wanted[-1:]}"


def _lacking(found: Played) -> Iterator[str]:
    """What a verdict finds wanting."""
    verdict = found.verdict
    if verdict is not None:
        yield from (f"veto {verdict.veto_rule!r}" for _ in range(verdict.veto))
        yield from (f"{c.name}: expected {c.expected}, found {c.found}" for c in verdict.checks if not c.ok)
        yield from (f"the checkpoint {name} was not credited" for name, step in verdict.checkpoints if not step)


def _domain_calls(trace: Sequence[Step], presentation: Presentation) -> list[str]:
    """The calls that a presentation translates: those of tools that it does not show as they are."""
    return [dumps(step.ran) for step in trace if step.ran is not None and step.ran.name not in presentation.toolset]


@check("V07F", "memoriser of one form")
def memoriser_of_one_form(subject: Subject) -> Finding:
    """Gold's calls as they were made in one form, replayed in the others and where it is drawn anew: no success.

    Each scenario's are recorded in one form by turns, with ``full`` in each. Where gold itself makes the very same
    calls (a form may be spelt alike for all), that is no memory but the way; the figure counts these.
    """
    failures, tried, same = [], 0, 0
    for run in good_runs(subject).values() if subject.default_forms else ():
        for form in subject.turn(subject.default_forms, run.scenario):
            actions = subject.gold(run.scenario, run.plan, env=form.env).actions
            for other, redrawn in _elsewhere(subject, form):
                tried += 1
                if not _succeeds(run.scenario, actions, other, redrawn):
                    continue
                own = _shown_gold(run, other, redrawn)
                if own == actions:
                    same += 1
                else:
                    where = f"{other.name}, drawn anew" if redrawn else other.name
                    failures.append(f"{run.name}: the calls of {form.name} succeed in {where}")
    if not subject.default_forms:
        return Finding(_NONE)
    return Finding(f"{tried} replays, {same} where the form is spelt alike", failures)


def _elsewhere(subject: Subject, form: Form) -> Iterator[tuple[Form, Mapping[str, Any]]]:
    yield from ((other, {}) for other in subject.default_forms if other is not form)
    if subject.domain.redrawn:
        yield form, subject.domain.redrawn


def _succeeds(scenario: Scenario, actions: Sequence[Any], form: Form, redrawn: Mapping[str, Any]) -> bool:
    """Whether fixed calls succeed."""
    form.env.reset(seed=0, options={"scenario": scenario, **redrawn})
    policy = scripted(list(actions))
    while (action := policy(None)) is not None:
        _, _, terminated, truncated, info = form.env.step(action)
        if terminated or truncated:
            return bool(info["success"])
    return False


def _shown_gold(run: GoldRun, form: Form, redrawn: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls that a gold plan makes itself."""
    env = form.env
    env.reset(seed=0, options={"scenario": run.scenario, **redrawn})
    runner, made = GoldRunner(run.scenario, run.plan, env.presentation), []
    action = runner.next()
    while action is not None:
        made.append(action)
        observation, _, terminated, truncated, _ = env.step(action)
        action = None if terminated or truncated else runner.next(observation)
    return made


@check("V13F", "interface words")
def interface_words(subject: Subject) -> Finding:
    """What gold must call things by is told before it does so, and only by what tells it.

    Each plan is played in one form of all presentations by turns, with ``full`` in each. Of every call that was
    translated, the words of the interface (parts of paths, names of parameters and fields, values of enumerations) must
    have been shown before in the same run. Those in which the form differs from the plainest one and which no language
    has (such as ``start-day``) must stand neither in the reset observation nor, where calls are requests, in the tool
    schemas: they are to be read in the documentation. The calls are made again with wrong values and without any: no
    error has a name of the domain's own for a tool or an argument, unless it is the interface's name, too.
    """
    failures, words, forms = [], 0, Counter[str]()
    for run in gold_runs(subject):
        for form in subject.turn(subject.forms, run.scenario, run.plan) if run.good else ():
            forms[form.name] += 1
            count, faults = faults_of(subject, run, form)
            words += count
            failures += [f"{run.name} ({form.name}): {fault}" for fault in faults]
    return Finding(f"{words} words; {_counted(forms, 'plans')}" if forms else _NONE, failures)


def _counted(forms: Counter[str], what: str) -> str:
    return ", ".join(f"{count} {what} {name}" for name, count in forms.items()) or _NONE
