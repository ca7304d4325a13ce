"""What five stacked perturbations add to a step, against the budget of 0.1 ms, scaled to this machine.

Run it with ``python benchmarks/perturbations.py``. The same gold plan is played bare and under five perturbations that
leave its calls as they are, in turns; the mean difference of a step, taken step by step, is divided by how long 10,000
indexed selects take at that moment against 80 ms. Exit status 1 when the budget does not hold.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import gymnasium as gym
from embedded import REFERENCE_S, yardstick

import agentgym
from agentgym.wrappers import perturb

BUDGET_MS = 0.1
STACK = "jitter+outage-before-commit:0.000001+pollution+injection+interruption"
ROUNDS = 24
REPEATS = 5


def steps(env: gym.Env[Any, Any], scenario: str, seed: int) -> list[float]:
    """Seconds of each step of a gold plan but the last."""
    observation, _ = env.reset(seed=seed, options={"scenario": scenario})
    base: Any = env.unwrapped
    runner = agentgym.GoldRunner(base.declared, 0)
    times: list[float] = []
    ended = False
    while not ended and (action := runner.next(observation)) is not None:
        start = time.perf_counter()
        observation, _, terminated, truncated, _ = env.step(action)
        times.append(time.perf_counter() - start)
        ended = terminated or truncated
    return times[:-1]


def main() -> int:
    """Measure, print, and say whether the budget holds."""
    scenario = "refund/partial-001"
    bare = gym.make("Refund-v0", split="test", disable_env_checker=True)
    wrapped = perturb(gym.make("Refund-v0", split="test", disable_env_checker=True), STACK)
    plain: list[float] = []
    stacked: list[float] = []
    scaled: list[float] = []
    for seed in range(ROUNDS):
        # Only episodes in which no value was polluted run to the end of the plan.
        try:
            rounds = [(steps(wrapped, scenario, seed), steps(bare, scenario, seed)) for _ in range(REPEATS)]
        except agentgym.AgentGymError:
            continue
        # The same step of the same episode, bare and stacked, each at its quickest: what interrupts is not ours.
        fast = [[min(times) for times in zip(*side, strict=True)] for side in zip(*rounds, strict=True)]
        stacked, plain = stacked + fast[0], plain + fast[1]
        factor = yardstick() / REFERENCE_S
        scaled += [(late - soon) * 1000 / factor for late, soon in zip(*fast, strict=True)]
    before, after = (statistics.fmean(times) * 1000 for times in (plain, stacked))
    added = statistics.fmean(scaled)
    print(f"steps: {len(plain)} of {ROUNDS} seeds, each the quickest of {REPEATS}")
    print(f"step, bare            {before:7.4f} ms")
    print(f"step, five stacked    {after:7.4f} ms")
    print(f"added                 {after - before:7.4f} ms, scaled {added:7.4f} ms, budget {BUDGET_MS} ms")
    return int(added > BUDGET_MS)


if __name__ == "__main__":
    sys.exit(main())
