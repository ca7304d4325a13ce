"""One trial, from a planned cell to what it came to; whatever happens in it is data, never the end of a batch."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import gymnasium as gym

from agentgym.agent import Agent, Usage
from agentgym.errors import (
    AgentGymError,
    BackendError,
    DomainError,
    EndpointError,
    ScenarioError,
    SnapshotError,
    StateError,
    ToolBugError,
)
from agentgym.reasoning import reasoned
from agentgym.resilience import measured
from agentgym.runner_agents import make_agent
from agentgym.runner_trial import OneEpisode
from agentgym.store import Cell, ErrorKind, Failure, Outcome
from agentgym.wrappers.catalogue import perturb

_OURS = (DomainError, ScenarioError, SnapshotError, StateError, ToolBugError)
_LONGEST = 4000


@dataclass(frozen=True)
class Job:
    """A cell and how to run it.

    ``kwargs`` go to `gymnasium.make`; ``timeout_s`` is wall time, None for no bound; ``perturbation`` is a spec or "".
    """

    cell: Cell
    kwargs: dict[str, Any]
    timeout_s: float | None = None
    perturbation: str = ""


class _Deadline(BaseException):
    """The trial took too long. No `Exception`, so that an agent which catches all of those does not catch it."""


class Worker:
    """Runs trials one after another, and keeps the environment between them."""

    def __init__(self) -> None:
        self._env: gym.Env[Any, Any] | None = None
        self._made_by: tuple[str, str] = ("", "")

    def run(self, job: Job) -> Outcome | Failure:
        """Run one trial and return what it came to.

        `KeyboardInterrupt` passes through; everything else that goes wrong is a `Failure`.
        """
        agent: Agent | None = None
        start = time.perf_counter()
        try:
            # What an agent prints is no result: standard output carries data only.
            with contextlib.redirect_stdout(sys.stderr), _bounded(job.timeout_s):
                env = OneEpisode(perturb(self._environment(job), job.perturbation), job.cell.seed, job.cell.scenario)
                agent = make_agent(job.cell.agent)
                usage = agent.run(env, seed=job.cell.seed, options={"scenario": job.cell.scenario})
                return _outcome(env, _checked(usage, agent), time.perf_counter() - start)
        except _Deadline:
            failure = Failure("infrastructure", f"no end within {job.timeout_s:g} s (wall time)", _spent(agent))
        except (BackendError, EndpointError) as error:
            failure = Failure("infrastructure", f"{type(error).__name__}: {error}", _spent(agent))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever an agent's code raises is data here
            kind: ErrorKind = "harness" if isinstance(error, _OURS) else "agent-crash"
            failure = Failure(kind, traceback.format_exc()[-_LONGEST:].strip(), _spent(agent))
        self.close()
        return failure

    def close(self) -> None:
        """Close the environment that is kept."""
        env, self._env = self._env, None
        if env is not None:
            # It may be what failed.
            with contextlib.suppress(AgentGymError, OSError):
                env.close()

    def _environment(self, job: Job) -> gym.Env[Any, Any]:
        wanted = (job.cell.env_id, json.dumps(job.kwargs, sort_keys=True))
        if self._env is None or self._made_by != wanted:
            self.close()
            self._env = gym.make(job.cell.env_id, disable_env_checker=True, **job.kwargs)
            self._made_by = wanted
        return self._env


def _outcome(env: OneEpisode, usage: Usage, wall_s: float) -> Outcome | Failure:
    if fault := env.fault():
        return Failure("agent-crash", fault, usage.cost_usd)
    base: Any = env.unwrapped
    verdict = base.verdict
    if verdict is None:
        text = f"the agent returned before the episode ended, after {len(base.trace)} steps"
        return Failure("agent-crash", text, usage.cost_usd)
    if verdict.status == "error" or verdict.end_reason == "infrastructure":
        # A container, or the model behind a simulated user, may fail in the midst of a step.
        broke = verdict.status == "ok" or verdict.error.startswith((f"{BackendError.__name__}: ", "EndpointError"))
        kind: ErrorKind = "infrastructure" if broke else "harness"
        return Failure(kind, verdict.error or "the environment ended the episode", usage.cost_usd)
    return Outcome(
        success=verdict.success,
        episode_return=float(base.episode_return),
        end_reason=verdict.end_reason,
        veto=verdict.veto,
        veto_rule=verdict.veto_rule,
        checkpoint_completion=verdict.checkpoint_completion,
        steps=len(base.trace),
        tool_calls=int(env.last.get("tool_calls", 0)),
        sim_time=float(env.last.get("sim_time", 0.0)),
        wall_s=wall_s,
        model_calls=usage.model_calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost_usd=usage.cost_usd,
        state_hash=base.state_hash,
        measures=measured(base.trace, base.reports, env.last, verdict.success) | reasoned(verdict.reasoning),
        verdict=verdict.to_json(),
        trace=[step.to_json() for step in base.trace],
    )


def _checked(usage: object, agent: Agent) -> Usage:
    """What the agent says that the episode cost; nothing where it says nothing: an episode played is not lost for it.

    Raises:
        TypeError: it returned something else.
    """
    if usage is None:
        kept = getattr(agent, "usage", None)
        return kept if isinstance(kept, Usage) else Usage()
    if not isinstance(usage, Usage):
        raise TypeError(
            f"expected {type(agent).__name__}.run to return an agentgym.agent.Usage (Usage() where it cost nothing), "
            f"got {usage!r:.200}"
        )
    return usage


def _spent(agent: Agent | None) -> float:
    """What a trial that failed cost, where the agent says so."""
    usage = getattr(agent, "usage", None)
    return usage.cost_usd if isinstance(usage, Usage) else 0.0


@contextlib.contextmanager
def _bounded(seconds: float | None) -> Iterator[None]:
    """Raise `_Deadline` in the block after so many seconds of wall time."""
    if seconds is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread():
        raise ValueError(
            "timeout_s works in the main thread of a process only; give workers=2 or more, or no timeout_s"
        )

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _Deadline

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
