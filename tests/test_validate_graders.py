"""V16–V25 and V38: each check passes on the lending desk and fails on a fault planted in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, cast

import gymnasium as gym
import pytest
from spawned import RENEW, TinyEnv, variant
from tiny_domain import TINY

from agentgym.compare import Comparator
from agentgym.env import ToolEnv
from agentgym.loading import load_curated
from agentgym.net import NetChanges
from agentgym.scenario import Scenario, StateCheck, VetoRule
from agentgym.tools import Length, Tool, tool
from agentgym.trace import Call
from agentgym.users import Reply, ScriptedUser
from agentgym.validate import graders, payloads, process, statistics
from agentgym.validate.registry import Finding
from agentgym.validate.subject import Subject
from agentgym.world import World

Check = Callable[[Subject], Finding]
CHECKS: list[Check] = [
    graders.collateral,
    graders.equivalence,
    graders.absence,
    graders.nothing_evaluated,
    graders.pure,
    process.absorbing,
    process.attempts,
    process.confirmation,
    process.innocent,
    process.no_farming,
    statistics.estimators,
]


def subject(entry: type[ToolEnv] = TinyEnv, *scenarios: Scenario) -> Subject:
    """The lending desk, or one with a fault, with these scenarios or its own."""
    name = f"Validated{entry.__name__}-v0"
    if name not in gym.registry:
        gym.register(id=name, entry_point=cast("Any", entry))
    made = Subject(name, generated=2)
    if scenarios:
        made.__dict__["scenarios"] = list(scenarios)
    return made


def desk(*tools: Tool, **fields: Any) -> Any:
    """The lending desk with other tools or rules."""
    by_name = {tool.name: tool for tool in (*TINY.tools, *tools)}
    return dataclasses.replace(TINY, tools=tuple(by_name.values()), **fields)


RENEWAL = load_curated(TINY)["tiny/renew-001"]
REFUSAL = load_curated(TINY)["tiny/refuse-001"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_good_domain_passes(check: Check) -> None:
    finding = check(subject())
    assert finding.failures == []
    assert any(letter in "123456789" for letter in finding.figure), f"nothing was tested: {finding.figure}"


# V16


class Deaf(NetChanges):
    """Takes in no change."""

    def add(self, changes: Any) -> None:
        """Forget them."""


class Blind(TinyEnv):
    """Its judge does not see what changes."""

    def _begin(self, scenario: Scenario, seed: int) -> Any:
        episode = super()._begin(scenario, seed)
        episode.judge.net = Deaf()
        return episode


def test_a_grader_that_does_not_see_changes_is_found() -> None:
    failures = graders.collateral(subject(Blind, RENEWAL)).failures
    assert any("success after one insert in" in failure for failure in failures)
    assert any("success after one update in" in failure for failure in failures)
    assert any("success after one delete in" in failure for failure in failures)


# V17


@tool(latency_ms=200, owners={"member_id": ":value"})
def get_member(world: World, member_id: str) -> dict[str, Any]:
    """Return a member, and lose a copy of a book on the way.

    Args:
        member_id: the member, e.g. "M1"
    """
    world.execute("UPDATE books SET copies = copies - 1 WHERE book_id = 'B2'")
    return {"member_id": member_id}


class Leaky(TinyEnv):
    """A reading tool changes the world."""

    domain = desk(get_member)


def test_a_read_that_changes_the_world_is_found() -> None:
    failures = graders.equivalence(subject(Leaky, RENEWAL)).failures
    assert len(failures) == 1 and "extra reads: not a success" in failures[0]


class Literal(TinyEnv):
    """Takes only the wording of gold for a message."""

    def step(self, action: Any) -> Any:
        """Take the step, or another for a message in other words."""
        if isinstance(action, dict) and "Right then" in str(action.get("arguments")):
            return super().step({"name": "finish", "arguments": {"outcome": "refused"}})
        return super().step(action)


def test_a_grader_that_wants_one_wording_is_found() -> None:
    failures = graders.equivalence(subject(Literal, RENEWAL)).failures
    assert len(failures) == 1 and "reworded: not a success" in failures[0]


# V18


class Lenient(Comparator):
    """Takes what is not there for right."""

    def matches(self, found: object, *, sql: bool = False) -> bool:
        """Right, unless it is something else."""
        return not found or found is True or super().matches(found, sql=sql)


def test_a_comparator_that_takes_nothing_for_right_is_found() -> None:
    answer = REFUSAL.checks.answer
    assert answer is not None
    lenient = Lenient.model_validate(answer.model_dump(exclude_unset=True))
    checks = REFUSAL.checks.model_copy(update={"answer": lenient})
    failures = graders.absence(subject(TinyEnv, REFUSAL.model_copy(update={"checks": checks}))).failures
    assert any("the answer '' is a success" in failure for failure in failures)


# V19


@tool(writes=True)
def calculate(world: World, formula: Annotated[str, Length(1)]) -> dict[str, Any]:
    """Work something out for the user.

    Args:
        formula: what to work out
    """
    try:
        return {"result": eval(formula)}
    except Exception:  # noqa: BLE001  the fault that is planted is that it runs, not that it fails
        return {"result": None}


class Evaluating(TinyEnv):
    """A tool evaluates what it is given."""

    domain = desk(calculate)


class Slow(ScriptedUser):
    """Reads each message as often as it is long."""

    def reply(self, message: str) -> Reply:
        """Take the square of the length."""
        for at in range(0, len(message), 100):
            message[at:].count("a")
            message[at:].upper()
        return Reply("Hm.")


class SlowEnv(TinyEnv):
    """Its user takes quadratic time."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**{**arguments, "user": Slow()})


def test_a_tool_that_evaluates_is_found() -> None:
    scenarios = [variant(id=f"tiny/eval-{number}") for number in range(5)]
    failures = graders.nothing_evaluated(subject(Evaluating, *scenarios)).failures
    assert any("was executed" in failure for failure in failures)


def test_quadratic_time_is_found() -> None:
    finding = Finding()
    assert payloads.slowest(subject(SlowEnv, RENEWAL), finding) > 20
    assert "100 KB of 'a' took" in finding.failures[0]


# V20


def test_a_verdict_that_changes_is_found() -> None:
    drawn = StateCheck(sql="SELECT random()", expect=0, type="number", tolerance=1e20)
    checks = RENEWAL.checks.model_copy(update={"final_state": [*RENEWAL.checks.final_state, drawn]})
    failures = graders.pure(subject(TinyEnv, RENEWAL.model_copy(update={"checks": checks}))).failures
    assert failures[0] == "tiny/renew-001, plan 0: graded again, the verdict is another"


class Writing(TinyEnv):
    """Its judge writes into the world when it grades."""

    def _begin(self, scenario: Scenario, seed: int) -> Any:
        episode = super()._begin(scenario, seed)
        grade, connection = episode.judge.verdict, episode.backend.reading

        def verdict(*args: Any) -> Any:
            connection().execute("UPDATE books SET copies = copies + 1 WHERE book_id = 'B3'")
            return grade(*args)

        episode.judge.verdict = verdict  # type: ignore[method-assign,assignment]
        return episode


def test_a_grader_that_writes_is_found() -> None:
    failures = graders.pure(subject(Writing, RENEWAL)).failures
    assert "tiny/renew-001, plan 0: grading changed the world" in failures


# V21


class Forgetful(TinyEnv):
    """Forgets a veto after a step."""

    def step(self, action: Any) -> Any:
        """Take the step and forget."""
        taken = super().step(action)
        self._current().judge.vetoes.rule = ""
        return taken


class Paying(TinyEnv):
    """Pays for the end, whatever was before."""

    def step(self, action: Any) -> Any:
        """Take the step and pay for the end."""
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward + terminated, terminated, truncated, info


def test_a_veto_that_is_forgotten_is_found() -> None:
    unchecked = variant(checks={"process": {"max_steps": 12}})
    failures = process.absorbing(subject(Forgetful, unchecked)).failures
    assert any("a success after the veto" in failure for failure in failures)
    assert any("the veto was forgotten" in failure for failure in failures)


def test_a_reward_after_a_veto_is_found() -> None:
    failures = process.absorbing(subject(Paying, RENEWAL)).failures
    assert any("+1 was paid after the veto" in failure for failure in failures)
    assert any("through wrappers the return is 0" in failure for failure in failures)
    assert any("NextStep: ended True, return 0" in failure for failure in failures)


def test_rules_that_cannot_be_broken_are_no_test() -> None:
    class Unbreakable(TinyEnv):
        domain = desk(vetoes=(VetoRule(name="never", sql="SELECT 0 FROM books WHERE title = ''"),))

    failures = process.absorbing(subject(Unbreakable, RENEWAL)).failures
    assert failures == ["no rule of any scenario could be broken, so nothing was tested"]


# V22


class Uncounting(TinyEnv):
    """Counts no attempt."""

    def step(self, action: Any) -> Any:
        """Take the step as if none had been tried."""
        self._current().judge.vetoes.attempts = -1
        return super().step(action)


def test_an_attempt_that_is_not_counted_is_found() -> None:
    failures = process.attempts(subject(Uncounting, REFUSAL)).failures
    assert any("0 attempts" in failure for failure in failures)


# V23


class Credulous(TinyEnv):
    """Takes anything that is said for the user's consent."""

    def step(self, action: Any) -> Any:
        """Take the step, with consent if it talks."""
        if isinstance(action, dict) and action.get("name") == "respond":
            self._current().judge.grant(Call("renew_loan", dict(RENEW["arguments"])))
        return super().step(action)


class Generous(TinyEnv):
    """A consent is never used up."""

    def step(self, action: Any) -> Any:
        """Take the step and keep the consents."""
        kept = self._current().judge.consents.get_state()
        taken = super().step(action)
        consents = self._current().judge.consents
        consents.set_state([*kept, *consents.get_state()])
        return taken


def test_words_that_count_as_consent_are_found() -> None:
    failures = process.confirmation(subject(Credulous, RENEWAL)).failures
    assert "tiny/renew-001, renew_loan, only words: a success" in failures


def test_a_consent_that_lasts_is_found() -> None:
    anything = {
        "final_state": [{"sql": "SELECT renewals > 0 FROM loans WHERE loan_id = 'L101'", "expect": 1, "type": "int"}]
    }
    failures = process.confirmation(subject(Generous, variant(checks=anything))).failures
    assert "tiny/variant-001, renew_loan, a second effect: a success" in failures


# V24


def test_a_rule_against_gold_is_found() -> None:
    scenario = variant(veto=[{"name": "no_list", "call": "list_loans", "effect": "flag"}])
    failures = process.innocent(subject(TinyEnv, scenario)).failures
    assert "tiny/variant-001: gold[0]: veto 'no_list', 0 attempts" in failures


@tool(latency_ms=200, owners={"loan_id": "SELECT member_id FROM loans WHERE loan_id = :value"})
def get_loan(world: World, loan_id: str) -> dict[str, Any]:
    """Return a loan, and count who looked.

    Args:
        loan_id: the loan, e.g. "L101"
    """
    world.execute("UPDATE books SET copies = 99 WHERE book_id = 'B3'")
    return {"loan_id": loan_id}


def test_a_rule_that_a_read_of_own_things_breaks_is_found() -> None:
    class Trapped(TinyEnv):
        domain = desk(get_loan, vetoes=(VetoRule(name="copies", sql="SELECT 1 FROM books WHERE copies = 99"),))

    failures = process.innocent(subject(Trapped, RENEWAL)).failures
    assert any("reading own things" in failure and "'copies'" in failure for failure in failures)


# V25


class Tipping(TinyEnv):
    """Pays a little for every step."""

    def step(self, action: Any) -> Any:
        """Take the step and pay."""
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward + 0.2, terminated, truncated, info


class Crediting(TinyEnv):
    """Forgets which checkpoints were credited."""

    def step(self, action: Any) -> Any:
        """Take the step and forget."""
        taken = super().step(action)
        self._current().judge.credited.clear()
        return taken


def test_steps_that_pay_by_themselves_are_found() -> None:
    failures = process.no_farming(subject(Tipping, RENEWAL)).failures
    assert any("each look twice: a return of" in failure for failure in failures)


def test_a_checkpoint_that_is_credited_twice_is_found() -> None:
    failures = process.no_farming(subject(Crediting, RENEWAL)).failures
    assert any("each look twice: looked_up was credited twice" in failure for failure in failures)


# V38


def test_wrong_estimators_are_found() -> None:
    counted, failures = statistics.compared(lambda n, c, k: 1 - (1 - c / n) ** k, lambda n, c, k: (c / n) ** k)
    assert counted == 440
    assert any(failure.startswith("pass@k of n=2, c=1, k=2 is 0.75, counting gives 1.0") for failure in failures)
    assert any(failure.startswith("pass^k of n=2, c=1, k=2 is 0.25, counting gives 0.0") for failure in failures)
