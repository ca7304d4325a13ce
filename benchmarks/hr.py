"""What a tool step of the HR API costs beside one of the refund desk, in one run.

Run it with ``python benchmarks/hr.py``. Gold plans of the curated scenarios of both environments are played in turns:
the HR API with its tools under their own names (``direct``), as typed tools and over HTTP. The refund desk's budget and
HR's, which is twice what the refund desk takes in this run, are printed. Exit status 1 when one does not hold.

The step that ends an episode has the verdict, with the chain of calls and the reasoning graded: its median is held
against the budget of a final verdict, and the dearest scenario's is printed.

Beside the budgets, the same plans on APIs that were not seen before, as in training: there each page of the
documentation is made while the step that reads it waits. What the resets took is printed as well, so that nobody takes
work for saved that is done there instead.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any, cast

import gymnasium as gym
from embedded import REFERENCE_S, yardstick

import agentgym

REFUND_MS, TWICE, VERDICT_MS = 0.2, 2.0, 2.0
PRESENTATIONS = ("direct", "typed", "http")
NEW = ", new APIs"
Times = dict[str, list[float]]


def steps(env: Any, scenario: str, **options: Any) -> list[float]:
    """Seconds of the reset and of each tool step of the first gold plan, but for the last one, with the verdict."""
    start = time.perf_counter()
    observation, _ = env.reset(seed=1, options={"scenario": scenario, **options})
    times = [time.perf_counter() - start]
    runner = agentgym.GoldRunner(env.scenario, 0, env.presentation)
    action = runner.next(observation)
    while action is not None:
        start = time.perf_counter()
        observation, _, terminated, truncated, _ = env.step(action)
        times.append(time.perf_counter() - start)
        action = None if terminated or truncated else runner.next(observation)
    return times[:-1]


def measured(rounds: int, new: bool) -> tuple[Times, Times]:
    """Seconds of each step and of each reset by what was played.

    Each environment's scenarios are played one after the other, once unmeasured.

    Args:
        rounds: how often each is measured.
        new: with an API for each episode alone, at every level of obfuscation, instead of the scenario's.
    """
    refund = cast("Any", gym.make("Refund-v0", split="test").unwrapped)
    desks = {tools: cast("Any", gym.make("HR-v0", split="test", tools=tools).unwrapped) for tools in PRESENTATIONS}
    shops, cases = agentgym.scenario_ids("refund"), agentgym.scenario_ids("hr")
    found: Times = {}
    resets: Times = {}
    for turn in range(rounds + 1):
        blocks = {"refund": [steps(refund, shop) for shop in shops]}
        for place, (tools, env) in enumerate(desks.items()):
            first = 1000 * (len(desks) * turn + place)
            blocks[f"hr {tools}{NEW if new else ''}"] = [
                steps(env, case, **({"obfuscate": number % 4, "api_seed": first + number} if new else {}))
                for number, case in enumerate(cases)
            ]
        for what, episodes in blocks.items() if turn else ():
            found.setdefault(what, []).extend(step for episode in episodes for step in episode[1:])
            resets.setdefault(what, []).extend(episode[0] for episode in episodes)
    for env in [refund, *desks.values()]:
        env.close()
    return found, resets


def show(found: Times, resets: Times, scale: float, budgeted: bool) -> bool:
    """Print a line for each and return whether what has a budget keeps it."""
    base = statistics.median(found["refund"]) * 1e3
    good = True
    for what, times in found.items():
        middle = statistics.median(times) * 1e3
        budget = REFUND_MS if what == "refund" else TWICE * base * scale
        good &= middle * scale <= budget or not budgeted
        allowed = f"{budget:.3f} ms" if budgeted else "–"
        print(
            f"{what:<20}{len(times):>8}{middle:>9.3f} ms{middle * scale:>9.3f} ms{allowed:>12}"
            f"{middle / base:>11.2f}×{statistics.fmean(times) * 1e3:>9.3f} ms"
            f"{statistics.median(resets[what]) * 1e3:>9.3f} ms"
        )
    return good


def verdicts(rounds: int) -> dict[str, float]:
    """Scenario → median seconds of the step with the verdict, of the first gold plan."""
    env = cast("Any", gym.make("HR-v0", split="test", tools="direct").unwrapped)
    found: dict[str, list[float]] = {}
    for turn in range(rounds + 1):
        for case in agentgym.scenario_ids("hr"):
            observation, _ = env.reset(seed=1, options={"scenario": case})
            runner = agentgym.GoldRunner(env.scenario, 0, env.presentation)
            took, action = 0.0, runner.next(observation)
            while action is not None:
                start = time.perf_counter()
                observation, _, terminated, truncated, _ = env.step(action)
                took = time.perf_counter() - start
                action = None if terminated or truncated else runner.next(observation)
            found.setdefault(case, []).extend([took] if turn else [])
    env.close()
    return {case: statistics.median(times) for case, times in found.items()}


def main() -> int:
    """Measure, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="times that each scenario is measured (default 3)")
    rounds = parser.parse_args().rounds
    before = yardstick()
    pinned = measured(rounds, new=False)
    ends = verdicts(rounds)
    scale = REFERENCE_S / statistics.median([before, yardstick()])
    here, there = REFERENCE_S / scale * 1e3, REFERENCE_S * 1e3
    print(f"10,000 indexed selects: {here:.1f} ms here, {there:.0f} ms on the reference machine")
    heads = ("median", "scaled", "budget", "of refund", "mean", "reset")
    print(f"{'tool step':<20}{'steps':>8}" + "".join(f"{head:>12}" for head in heads))
    good = show(*pinned, scale, budgeted=True)
    show(*measured(rounds, new=True), scale, budgeted=False)
    middle = statistics.median(ends.values()) * 1e3
    dearest = max(ends, key=lambda case: ends[case])
    good &= middle * scale <= VERDICT_MS
    print(f"last step with verdict: {middle:.3f} ms, scaled {middle * scale:.3f} ms, budget {VERDICT_MS:.3f} ms")
    print(f"the dearest, {dearest}: {ends[dearest] * 1e3:.3f} ms, scaled {ends[dearest] * 1e3 * scale:.3f} ms")
    print("all budgets hold" if good else "a budget does NOT hold")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
