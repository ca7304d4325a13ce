"""V38: the estimators equal brute force, and what is undefined is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from agentgym.metrics import Interval, mean, mean_over_scenarios, pass_at_k, pass_hat_k, successes
from agentgym.trials import Measure, Trials
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject

_MOST = 10


@check("V38", "estimators")
def estimators(subject: Subject) -> Finding:
    """pass@k and pass^k are what counting every draw gives; k above n, gaps, fractions and repeats are refused."""
    counted, failures = compared(pass_at_k, pass_hat_k)
    refusals = list(_refusals())
    for what, attempt in refusals:
        try:
            failures.append(f"{what} gives {attempt()!r}, expected an error")
        except ValueError:
            continue
    failures += _tables()
    return Finding(f"{counted} triples (n, c, k) with n ≤ {_MOST}, {len(refusals)} refusals", failures)


def compared(at_least_one: Measure, all_of_them: Measure) -> tuple[int, list[str]]:
    """Hold two measures against counting, for every n, c and k up to ten: how many there are, and what differs."""
    counted, failures = 0, []
    for n in range(1, _MOST + 1):
        for c in range(n + 1):
            for k in range(1, n + 1):
                counted += 1
                any_, all_ = brute_force(n, c, k)
                for name, found, wanted in (
                    ("pass@k", at_least_one(n, c, k), any_),
                    ("pass^k", all_of_them(n, c, k), all_),
                ):
                    if not math.isclose(found, wanted, abs_tol=1e-12):
                        failures.append(f"{name} of n={n}, c={c}, k={k} is {found}, counting gives {wanted}")
    return counted, failures


def brute_force(n: int, c: int, k: int) -> tuple[float, float]:
    """The share of the draws of k of n trials, c of them successes, with any success, and with only successes."""
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    return sum(map(any, draws)) / len(draws), sum(map(all, draws)) / len(draws)


def _refusals() -> Iterator[tuple[str, Callable[[], Any]]]:
    for measure in (pass_at_k, pass_hat_k):
        name = measure.__name__
        for n, c, k in ((3, 1, 4), (0, 0, 1), (3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, -1)):
            yield f"{name}({n}, {c}, {k})", partial(measure, n, c, k)
        bad: Any
        for bad in (1.5, 0.5, True, math.nan, "1", None):
            yield f"{name}(3, {bad!r}, 1)", partial(measure, 3, bad, 1)
        short = partial(mean_over_scenarios, measure, [(5, 1), (2, 1)], 3)
        yield f"the mean of {name} with one scenario short of k", short
    rewards: list[Any]
    for rewards in ([0.5, 0.5], [1, 0.999], [math.nan], [2], ["1"], [None]):
        yield f"successes({rewards!r})", partial(successes, rewards)
    fraction: Any = 0.5
    yield "mean([])", lambda: mean([])
    yield "a fraction as a trial's success", lambda: _trials().add("a", 0, fraction)
    yield "a trial twice", lambda: _added(_trials(), 0, 0)
    yield "a trial twice, once as an error", lambda: _failed(_trials(), 0, 0)
    yield "one trial more than planned", lambda: _added(_trials(), 0, 1, 2, 3, 4)
    yield "a scenario that is not planned", lambda: _trials().add("b", 0, True)
    yield "a rate with trials missing", lambda: _added(_trials(), 0).rate()
    yield "pass^2 with trials missing", lambda: _added(_trials(), 0, 1).value(pass_hat_k, 2)
    yield "k above the planned trials", lambda: _added(_trials(), 0, 1, 2, 3).value(pass_at_k, 5)
    yield "bounds with k above the planned trials", lambda: _trials().bounds(pass_at_k, 5)
    yield "an interval of nothing", lambda: _trials().interval()


def _trials() -> Trials:
    return Trials({"a": 4})


def _added(trials: Trials, *ids: int) -> Trials:
    for number in ids:
        trials.add("a", number, True)
    return trials


def _failed(trials: Trials, trial: int, again: int) -> Trials:
    trials.add_error("a", trial)
    return _added(trials, again)


def _tables() -> Iterator[str]:
    """Three of four trials died and the fourth passed: nothing is known but bounds."""
    trials = _trials()
    for number in range(3):
        trials.add_error("a", number)
    trials.add("a", 3, True)
    if trials.bounds(pass_hat_k, 1) != Interval(0.25, 1.0):
        yield f"one success and three errors of four are bounded by {trials.bounds(pass_hat_k, 1)}, expected [0.25, 1]"
    if successes([0.0, -1.0, 1.0, True, False]) != 2:
        yield "a veto or a failure counts as a success"
    full = _added(_trials(), 0, 1, 2)
    full.add("a", 3, False)
    if not math.isclose(full.value(pass_hat_k, 2), brute_force(4, 3, 2)[1]):
        yield "pass^2 of a complete table is not what counting gives"
