"""Speed and memory of the embedded backend against the budgets, scaled to this machine.

Run it with ``python benchmarks/embedded.py``. Every time is divided by how long 10,000 indexed selects take in the same
run against 80 ms, the machine on which the budgets were set; the raw time, the scaled one and the ratio to the bare
SQLite statements are printed. Exit status 1 when a budget does not hold.
"""

from __future__ import annotations

import argparse
import gc
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import gymnasium as gym

import agentgym
from agentgym.selection import Selection

ENV = "Refund-v0"
REFERENCE_S = 0.080
MIB = 1 << 20


def yardstick() -> float:
    """Median seconds that 10,000 indexed selects take here: whole rows of the shop's orders, as its tools read them."""
    domain = cast("Any", gym.make(ENV, split="test").unwrapped).domain
    connection = sqlite3.connect(":memory:")
    source = sqlite3.connect(f"{domain.snapshot.as_uri()}?mode=ro", uri=True)
    source.backup(connection)
    source.close()
    ids = [row[0] for row in connection.execute("SELECT order_id FROM orders ORDER BY order_id").fetchall()]

    def selects(_: int) -> None:
        for n in range(10_000):
            connection.execute("SELECT * FROM orders WHERE order_id = ?", (ids[n * 7 % len(ids)],)).fetchall()

    return median(selects, 5)


def median(action: Callable[[int], Any], times: int) -> float:
    """Median seconds of *action*."""
    samples = []
    for n in range(times):
        start = time.perf_counter()
        action(n)
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def golden(env: gym.Env[Any, Any], scenario: str, plan: int) -> tuple[list[float], float, list[list[str]]]:
    """Seconds of each tool step, of the last one with the verdict, and the SQL that each step ran."""
    statements: list[list[str]] = []
    times: list[float] = []
    for traced in (False, True):
        observation, _ = env.reset(seed=1, options={"scenario": scenario})
        runner = agentgym.GoldRunner(env.unwrapped.scenario, plan)
        connection = env.unwrapped._world().reading()
        action = runner.next(observation)
        while action is not None:
            ran: list[str] = []
            if traced:
                connection.set_trace_callback(ran.append)
            start = time.perf_counter()
            observation, _, terminated, truncated, _ = env.step(action)
            took = time.perf_counter() - start
            connection.set_trace_callback(None)
            if traced:
                statements.append([sql for sql in ran if not sql.startswith("--")])
            else:
                times.append(took)
            action = None if terminated or truncated else runner.next(observation)
    return times[:-1], times[-1], statements[:-1]


def last_step(env: gym.Env[Any, Any], seed: int) -> float:
    """Seconds of the last step with the verdict, of gold on a training scenario that was not played before.

    Gold comes from a second copy of the scenario: what the environment makes late, it has to make in this step.
    """
    observation, info = env.reset(seed=seed)
    copy = Selection("train").named(env.unwrapped.domain, info["scenario_id"])
    runner = agentgym.GoldRunner(copy, 0)
    action, took = runner.next(observation), 0.0
    while action is not None:
        start = time.perf_counter()
        observation, _, terminated, truncated, _ = env.step(action)
        took = time.perf_counter() - start
        action = None if terminated or truncated else runner.next(observation)
    return took


def raw_cost(env: gym.Env[Any, Any], scenario: str, statements: list[list[str]]) -> list[float]:
    """Seconds that the same statements take on a bare connection, each prepared before."""
    env.reset(seed=1, options={"scenario": scenario})
    bare = sqlite3.connect(":memory:", isolation_level=None, cached_statements=4096)
    source = sqlite3.connect(f"{env.unwrapped.domain.snapshot.as_uri()}?mode=ro", uri=True)
    source.backup(bare)
    source.close()
    bare.execute("PRAGMA recursive_triggers = ON")
    totals = []
    for group in statements:
        reads = [sql for sql in group if sql.lstrip().upper().startswith(("SELECT", "WITH"))]
        for sql in reads:
            bare.execute(sql).fetchall()
        start = time.perf_counter()
        for sql in reads:
            bare.execute(sql).fetchall()
        totals.append(time.perf_counter() - start)
    bare.close()
    return totals


def resident() -> int:
    """Proportional memory of this process, bytes (Linux)."""
    text = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return int(text.split("\nPss:")[1].split()[0]) * 1024


def memory_per_env(count: int) -> tuple[float, float]:
    """MiB that one more environment takes, and the MiB allowed: the snapshot and one."""
    first = gym.make(ENV, split="test")
    first.reset(seed=0)
    gc.collect()
    before = resident()
    envs = [gym.make(ENV, split="test") for _ in range(count)]
    for n, env in enumerate(envs):
        env.reset(seed=n)
        env.step({"name": "wait", "arguments": {"seconds": 1}})
    gc.collect()
    each = (resident() - before) / count / MIB
    allowed = first.unwrapped.domain.snapshot.stat().st_size / MIB + 1
    for env in [*envs, first]:
        env.close()
    return each, allowed


def import_ratio(rounds: int = 7) -> float:
    """How long ``import agentgym`` takes against ``import gymnasium, pydantic``, best of several fresh processes."""

    def best(line: str) -> float:
        took = []
        for _ in range(rounds):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", line], check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
            took.append(time.perf_counter() - start)
        return min(took)

    return best("import agentgym") / best("import gymnasium, pydantic")


def main() -> int:
    """Measure, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=400, help="samples of each reset (default 400)")
    rounds = parser.parse_args().rounds
    before = yardstick()
    env = gym.make(ENV, split="test")
    ids = agentgym.scenario_ids("refund")
    env.reset(seed=0)
    repeated = median(lambda n: env.reset(seed=n, options={"scenario": ids[0]}), rounds)
    train = gym.make(ENV)
    train.reset(seed=0)
    fresh = median(lambda n: train.reset(seed=n + 1), rounds)
    steps, ends, ratios = [], [], []
    for name in ids:
        golden(env, name, 0)
        times, end, statements = golden(env, name, 0)
        steps += times
        ends.append(end)
        raw = raw_cost(env, name, statements)
        ratios += [took / bare for took, bare in zip(times, raw, strict=True) if bare > 0]
    fresh_ends = [last_step(train, 10**6 + n) for n in range(100)]
    scale = REFERENCE_S / statistics.median([before, yardstick()])
    each, allowed = memory_per_env(16)
    rows = [
        ("reset, repeated scenario", repeated * 1e3, 0.5, "ms"),
        ("reset, fresh train seeds", fresh * 1e3, 1.0, "ms"),
        ("tool step (gold plans)", statistics.median(steps) * 1e3, 0.2, "ms"),
        ("last step with verdict", statistics.median(ends) * 1e3, 2.0, "ms"),
        ("the same, fresh train seeds", statistics.median(fresh_ends) * 1e3, 2.0, "ms"),
    ]
    print(
        f"10,000 indexed selects: {REFERENCE_S / scale * 1e3:.1f} ms here, "
        f"{REFERENCE_S * 1e3:.0f} ms on the reference machine"
    )
    print(f"{'what':<28}{'measured':>12}{'scaled':>12}{'budget':>12}")
    good = True
    for what, value, budget, unit in rows:
        good &= value * scale <= budget
        print(f"{what:<28}{value:>9.3f} {unit}{value * scale:>9.3f} {unit}{budget:>9.3f} {unit}")
    ratio = import_ratio()
    for what, value, budget, unit in (
        ("memory of one more env", each, allowed, "MiB"),
        ("import / gymnasium+pydantic", ratio, 1.3, "×"),
    ):
        good &= value <= budget
        print(f"{what:<28}{value:>9.2f} {unit:<3}{'':>9}{budget:>13.2f} {unit}")
    print(f"tool step against the bare reads of it: median ×{statistics.median(ratios):.1f} (best ×{min(ratios):.1f})")
    print(f"steps a second on one core: {1 / statistics.fmean(steps):,.0f}")
    print("all budgets hold" if good else "a budget does NOT hold")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
