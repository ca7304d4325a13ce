"""Re-grading: stored calls, replies and events take place again on a fresh world and must lead to the same state.

What perturbations did is taken from the record: which calls never arrived, whose results were lost, what was shown.
What they declared (events, wishes, checks) is part of the scenario that was played, `as_played`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from agentgym.actions import Call, Invalid
from agentgym.backends.embedded import Embedded
from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.episode import Episode
from agentgym.errors import AgentGymError, StateError
from agentgym.hooks import Context, Fault, Hook
from agentgym.scenario import Effect, Scenario, UserChange, UserSpec
from agentgym.selection import Selection
from agentgym.store import Store
from agentgym.trace import Call as Ran
from agentgym.trace import Step
from agentgym.users import Confirmation, Reply
from agentgym.verdict import Verdict
from agentgym.world import CallResult
from agentgym.wrappers.catalogue import perturb


class RecordedUser:
    """Says again what a user said in a recorded episode.

    Args:
        steps: the recorded trace.
        left: the user ended that episode, with the last of the steps.
    """

    def __init__(self, steps: Sequence[Step], left: bool) -> None:
        self._steps, self._left, self._next = list(steps), left, 0

    def start(self, spec: UserSpec, language: str) -> None:
        """Begin."""

    def at(self, index: int) -> None:
        """The step about to take place, from 0."""
        self._next = index

    def reply(self, message: str) -> Reply:
        """The recorded reply."""
        return Reply(str(self._steps[self._next].value), self._leaves())

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """The recorded answer."""
        return Confirmation(bool(self._steps[self._next].granted), "", self._leaves())

    def change(self, change: UserChange) -> None:
        """What an event changed shows in the recorded replies."""

    def get_state(self) -> dict[str, Any]:
        """The position."""
        return {"next": self._next}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a position."""
        self._next = state["next"]

    def _leaves(self) -> bool:
        return self._left and self._next == len(self._steps) - 1


class RecordedFaults(Hook):
    """Breaks again the calls that a perturbation broke, and shows what was shown."""

    def __init__(self) -> None:
        self._step = Step(0, None, 0)

    def at(self, step: Step) -> None:
        """The step about to take place."""
        self._step, self.name = step, step.fault or "recorded"

    def before_call(self, call: Ran, ctx: Context) -> Ran | Fault:
        """A call that never arrived does not arrive."""
        return Fault(self._step.error) if self._step.fault and self._step.ran is None else call

    def after_call(self, call: Ran, result: CallResult, ctx: Context) -> CallResult | Fault:
        """A result that was lost is lost."""
        return Fault(self._step.error) if self._step.fault and self._step.ran is not None else result

    def on_observe(self, observation: dict[str, str], ctx: Context) -> dict[str, str]:
        """What the agent was shown."""
        ctx.fired.extend(self._step.fired)
        return {**observation, "content": self._step.shown}


class Regraded(NamedTuple):
    """A trial of a store judged again.

    Attributes:
        scenario: its id.
        agent: its name.
        trial: its number.
        perturbation: its name, "" for none.
        verdict: the new one, None where it cannot be judged again.
        same: the new one and the stored one agree on success, veto and every check.
        error: why it cannot be judged again, or "".
    """

    scenario: str
    agent: str
    trial: int
    perturbation: str
    verdict: Verdict | None
    same: bool
    error: str = ""


def as_played(env: gym.Env[Any, Any], scenario: Scenario, seed: int, spec: str = "") -> Scenario:
    """The scenario with what the perturbations of a spec declared for it in the episode of a seed.

    Args:
        env: an environment of the scenario's domain; it is reset.
        scenario: as it is declared.
        seed: of the episode.
        spec: of the perturbations, see `agentgym.wrappers.catalogue`; "" for none.

    Raises:
        TypeError: it is no environment of this suite.
        ValueError: the spec is wrong.
    """
    base = env.unwrapped
    if not isinstance(base, ToolEnv):
        raise TypeError(f"expected an environment of agentgym, got {type(base).__name__}")
    perturb(env, spec).reset(seed=seed, options={"scenario": scenario})
    return base.scenario


def regrade_store(store: Store) -> Iterator[Regraded]:
    """Judge every finished trial of a store again, by the scenarios, the tools and the judge as they are now.

    A trial that cannot be judged again (another world, tools that changed, generated scenarios that are no more the
    same) is told with the reason.

    Raises:
        ValueError: the store is of an environment that is not registered.
    """
    config = store.config
    kwargs = config.get("env_kwargs", {})
    env = gym.make(config["env_id"], disable_env_checker=True, **{**kwargs, "user": "scripted"})
    selection = Selection(kwargs.get("split", "test"), None, kwargs.get("scenarios"))
    try:
        for row in store.rows():
            if row["status"] == "done":
                yield _regraded(env, row, config.get("perturbations", {}), selection)
    finally:
        env.close()


def _regraded(
    env: gym.Env[Any, Any], row: Mapping[str, Any], specs: Mapping[str, str], selection: Selection
) -> Regraded:
    place = (row["scenario"], row["agent"], row["trial"], row["perturbation"])
    base: Any = env.unwrapped
    try:
        declared = selection.named(base.domain, row["scenario"])
        played = as_played(env, declared, row["seed"], specs.get(row["perturbation"], ""))
        verdict = regrade(played, base.domain, row["trace"], row["end_reason"], row["state_hash"])
    except (AgentGymError, ValueError) as error:
        return Regraded(*place, None, False, str(error))
    old = row["verdict"]
    # What was found is told in words, in which a store sorts the keys.
    checks = [(check.name, check.ok) for check in verdict.checks] == [(c["name"], c["ok"]) for c in old["checks"]]
    return Regraded(*place, verdict, checks and (verdict.success, verdict.veto) == (old["success"], old["veto"]))


def regrade(
    scenario: Scenario,
    domain: Domain,
    trace: Sequence[Mapping[str, Any]],
    end_reason: str,
    state_hash: str = "",
    on_veto: Effect | None = None,
) -> Verdict:
    """Judge a recorded episode again.

    Args:
        scenario: what was played, in the revision to judge by; of a perturbed episode as `as_played` gives it.
        domain: its domain.
        trace: the rows of the recorded trace, as a result store holds them.
        end_reason: how the episode ended.
        state_hash: hash of its final state, or "" to leave the comparison out.
        on_veto: as the environment had it.

    Raises:
        StateError: the calls do not lead to the recorded state: another world, other tools, or a changed record; or a
            call was refused by a veto after a perturbation had changed it, which the record does not hold.
    """
    steps = [Step.from_json(dict(row)) for row in trace]
    user = RecordedUser(steps, end_reason == "user_left")
    backend, faults = Embedded(domain), RecordedFaults()
    try:
        episode = Episode(scenario, domain, 0, backend, user, [faults], on_veto=on_veto)
        for index, step in enumerate(steps):
            if step.blocked and "schema-drift" in step.fired:
                raise StateError(
                    f"{scenario.id}: step {step.index} was refused ({step.blocked}) after schema drift had changed the "
                    "call, which the record does not hold; this trial cannot be judged again"
                )
            user.at(index)
            faults.at(step)
            episode.pass_until(step.at_ms)
            episode.step(_again(step))
        if state_hash and backend.hash() != state_hash:
            raise StateError(
                f"{scenario.id}: the recorded calls lead to state {backend.hash()[:12]}…, "
                f"recorded is {state_hash[:12]}…; the world or the tools changed since, or the record did"
            )
        return episode.verdict or episode.judge.verdict(end_reason, episode.redundant_calls)
    finally:
        backend.close()


def _again(step: Step) -> Call | Invalid:
    call = step.ran or step.sent
    if call is None or (step.ran is None and not step.blocked and not step.fault):
        return Invalid(call.name if call else "", step.error, step.thought)
    return Call(call.name, call.arguments, step.thought)
