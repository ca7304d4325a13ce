"""Speed of the docker backend against its budgets, scaled to this machine, beside the embedded one and the plain ways
to use a container.

Run it with ``python benchmarks/containers.py`` where an engine runs and the image is built (``agentgym images build
refund``). Every time is divided by how long 10,000 indexed selects take in the same run against 80 ms, the machine on
which the budgets were set. Exit status 1 when a budget does not hold.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
from embedded import ENV, REFERENCE_S, yardstick

import agentgym
from agentgym.backends.container import Container, Limits
from agentgym.backends.engine import client
from agentgym.backends.images import ready, spec


def median(action: Callable[[], Any], times: int) -> float:
    """Median seconds of *action*."""
    samples = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def steps(env: gym.Env[Any, Any], ids: list[str], rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of the steps of the gold plans that call the world, and of the last steps with the verdict."""
    taken, ends = [], []
    for name in ids * rounds:
        observation, _ = env.reset(seed=1, options={"scenario": name})
        runner = agentgym.GoldRunner(env.unwrapped.scenario, 0)
        while (action := runner.next(observation)) is not None:
            start = time.perf_counter()
            observation, _, terminated, truncated, _ = env.step(action)
            took = time.perf_counter() - start
            if terminated or truncated:
                ends.append(took)
                break
            if action["name"] not in ("respond", "confirm_with_user"):
                taken.append(took)
    return taken, ends


def main() -> int:
    """Measure, print and compare."""
    yardsticks = [yardstick()]
    ids = list(agentgym.scenario_ids("refund"))
    rows: list[tuple[str, float, float | None]] = []
    for backend in ("embedded", "docker"):
        env = gym.make(ENV, split="test", backend=backend)
        env.reset(seed=0, options={"scenario": ids[0]})
        world = env.unwrapped._world()
        look = {"email": "a@example.org", "name": None, "phone": None}
        docker = backend == "docker"
        patch = env.unwrapped.scenario.initial_state.patch

        def reset(env: gym.Env[Any, Any] = env) -> None:
            env.reset(seed=0, options={"scenario": ids[0]})

        def restored(world: Any = world, patch: Any = patch, look: Any = look) -> None:
            world.restore(patch)
            world.call("find_customer", look, 0)

        rows.append((f"{backend}: warm reset", median(reset, 300), 5e-3 if docker else None))
        rows.append((f"{backend}: restore and first call, waited for", median(restored, 300), 5e-3 if docker else None))
        taken, ends = steps(env, ids, 8)
        rows.append((f"{backend}: tool step (gold plans)", statistics.median(taken), 0.5e-3 if docker else None))
        rows.append((f"{backend}: last step with verdict", statistics.median(ends), None))
        env.close()
        yardsticks += [yardstick() for _ in range(3)]
    # The machine may be busy now and then: the middle one is what the medians met.
    scale = REFERENCE_S / statistics.median(yardsticks)
    env = gym.make(ENV, split="test", backend="docker", fresh_container=True)
    rows.append(
        (
            "docker: reset with a fresh container",
            median(lambda: env.reset(seed=0, options={"scenario": ids[0]}), 5),
            None,
        )
    )
    env.close()
    wanted = spec(env.unwrapped.domain)
    container = Container(ready(wanted), wanted.domain, Limits())

    def executed() -> None:
        made = client().exec_create(container.name, ["/bin/true"])
        client().exec_start(made["Id"])

    rows.append(("docker exec of /bin/true", median(executed, 15), None))
    container.close()
    print(
        f"10,000 indexed selects: {REFERENCE_S / scale * 1e3:.1f} ms here, "
        f"{REFERENCE_S * 1e3:.0f} ms on the reference machine"
    )
    print(f"{'what':<46}{'measured':>13}{'scaled':>13}{'budget':>13}")
    good = True
    for what, seconds, budget in rows:
        good &= budget is None or seconds * scale <= budget
        limit = "" if budget is None else f"{budget * 1e3:.3f} ms"
        print(f"{what:<46}{seconds * 1e3:>10.3f} ms{seconds * scale * 1e3:>10.3f} ms{limit:>13}")
    print("all budgets hold" if good else "a budget does NOT hold")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
