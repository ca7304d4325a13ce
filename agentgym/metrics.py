"""What a table of results says: pass@k, pass^k, intervals, completeness and cost, as pure functions.

A number is undefined (`ValueError`; a table shows "–") where its formula is: k above n, trials missing. It is never 0
or 1 for want of data, and no mean stands without its interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """A closed interval; of rates, both ends are in 0..1."""

    low: float
    high: float


def _counts(n: int, c: int, k: int) -> None:
    """Refuse what is no count: a bool, a fraction, c outside 0..n, k outside 1..n."""
    for name, value in (("n", n), ("c", c), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise ValueError(
                f"{name} must be a whole number, got {value!r}; count the successes with successes(rewards)"
            )
    if n < 1:
        raise ValueError(f"n, the number of trials, must be at least 1, got {n}")
    if not 0 <= c <= n:
        raise ValueError(f"c, the number of successes, must be in 0..{n}, got {c}")
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    if k > n:
        raise ValueError(
            f"undefined: k={k} is more than the n={n} trials; run at least {k} trials or ask for a smaller k"
        )


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k trials, drawn without replacement from n with c successes, is a success.

    1 − C(n−c, k) / C(n, k); Chen et al., "Evaluating Large Language Models Trained on Code" (2021), section 2.1.

    Args:
        n: trials of one scenario, at least 1.
        c: successes among them, 0..n.
        k: trials drawn, 1..n.

    Returns:
        A probability in 0..1, rounded once (the quotient is taken of whole numbers).

    Raises:
        ValueError: k is more than n (undefined), or an argument is no count.

    >>> pass_at_k(5, 3, 1), pass_at_k(5, 3, 3)
    (0.6, 1.0)
    """
    _counts(n, c, k)
    ways = math.comb(n, k)
    return (ways - math.comb(n - c, k)) / ways


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The chance that all of k trials, drawn without replacement from n with c successes, are successes.

    C(c, k) / C(n, k); Yao et al., "τ-bench" (2024), section 3.3.

    Args:
        n: trials of one scenario, at least 1.
        c: successes among them, 0..n.
        k: trials drawn, 1..n.

    Returns:
        A probability in 0..1.

    Raises:
        ValueError: k is more than n (undefined), or an argument is no count.

    >>> pass_hat_k(5, 3, 3)
    0.1
    """
    _counts(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def successes(rewards: Iterable[object]) -> int:
    """Count the successes among episode returns: exactly 1 (or True). 0, False and −1 (a veto) are none.

    A fractional return is partial progress under the shaped reward; rounding or adding such returns up would make a
    success of two halves, so they are refused.

    Raises:
        ValueError: a return is none of −1, 0, 1, False, True.

    >>> successes([1, 0, True, 1.0, -1])
    3
    >>> successes([0.5, 0.5])
    Traceback (most recent call last):
        ...
    ValueError: a return of 0.5 is neither success (1) nor failure (0, or -1 for a veto); count info["success"] instead
    """
    total = 0
    for reward in rewards:
        if not isinstance(reward, bool | int | float | np.integer | np.floating | np.bool_) or reward not in (-1, 0, 1):
            raise ValueError(
                f"a return of {reward!r} is neither success (1) nor failure (0, or -1 for a veto); "
                'count info["success"] instead'
            )
        total += reward == 1
    return int(total)


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean, summed exactly.

    Raises:
        ValueError: no values, or one that is not finite.

    >>> mean([0.1] * 10)
    0.1
    """
    numbers = list(values)
    if not numbers:
        raise ValueError("the mean of no values is undefined")
    if not all(math.isfinite(number) for number in numbers):
        raise ValueError(f"a mean needs finite values, got {[n for n in numbers if not math.isfinite(n)][0]}")
    return math.fsum(numbers) / len(numbers)


def mean_over_scenarios(measure: Callable[[int, int, int], float], counts: Iterable[tuple[int, int]], k: int) -> float:
    """The mean over scenarios of `pass_at_k` or `pass_hat_k`; scenarios weigh the same whatever their trials.

    Args:
        measure: ``measure(n, c, k)``.
        counts: (n, c) for each scenario.
        k: 1 up to the smallest n.

    Raises:
        ValueError: undefined for any of the scenarios, or there are none.

    >>> mean_over_scenarios(pass_hat_k, [(5, 3), (5, 5)], 3)
    0.55
    """
    return mean(measure(n, c, k) for n, c in counts)


def capability_score(single: tuple[int, int], multi: tuple[int, int] = (0, 0)) -> float:
    """The score of one capability, in which a task over several sources counts twice.

    (2·correct multi + correct single) / (2·all multi + all single); with one kind alone it is correct / all.

    Args:
        single: correct and all of the tasks with one source.
        multi: correct and all of those with several.

    Returns:
        A share in 0..1. A leaderboard takes the `mean` over capabilities.

    Raises:
        ValueError: there is no task, or more are correct than there are.

    >>> capability_score((1, 2), (3, 4))
    0.7
    >>> capability_score((1, 4))
    0.25
    """
    for name, (correct, total) in (("single", single), ("multi", multi)):
        if not 0 <= correct <= total:
            raise ValueError(f"{name}: correct must be in 0..{total}, got {correct}")
    total = 2 * multi[1] + single[1]
    if not total:
        raise ValueError("the score of no tasks is undefined")
    return (2 * multi[0] + single[0]) / total


def wilson_interval(c: int, n: int, confidence: float = 0.95) -> Interval:
    """The Wilson score interval of a success rate, for independent trials; Wilson (1927), from scipy.

    Args:
        c: successes, 0..n.
        n: trials, at least 1.
        confidence: coverage, between 0 and 1.

    Raises:
        ValueError: n is 0, c is outside 0..n, or the confidence is outside 0..1.

    >>> tuple(round(end, 3) for end in wilson_interval(0, 12))
    (0.0, 0.242)
    """
    _counts(n, c, 1)
    _confidence(confidence)
    # Half a second to import, and not needed to run an agent.
    from scipy.stats import binomtest

    found = binomtest(int(c), int(n)).proportion_ci(confidence_level=confidence, method="wilson")
    return Interval(float(found.low), float(found.high))


def clustered_interval(
    rates: Sequence[float],
    families: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """A bootstrap percentile interval of the mean rate that draws whole scenario families.

    Scenarios of one family succeed and fail together, so the family is the unit that is drawn again with replacement;
    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13; for clusters Cameron, Gelbach and
    Miller, "Bootstrap-Based Improvements for Inference with Clustered Errors" (2008).
    The draws are raw PCG64 words, so they are the same under every version of numpy.

    Args:
        rates: success rate of each scenario, in 0..1.
        families: the family of each scenario, same length.
        confidence: coverage, between 0 and 1.
        resamples: how many times to draw, at least 100.
        seed: of the draws; the same seed gives the same interval.

    Raises:
        ValueError: lengths differ, a rate is outside 0..1, or there are fewer than two families (undefined).

    >>> clustered_interval([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"])
    Interval(low=0.0, high=1.0)
    """
    if len(rates) != len(families):
        raise ValueError(f"rates and families must have the same length, got {len(rates)} and {len(families)}")
    if not all(0 <= rate <= 1 for rate in rates):
        raise ValueError(f"a rate must be in 0..1, got {[rate for rate in rates if not 0 <= rate <= 1][0]}")
    if resamples < 100:
        raise ValueError(f"resamples must be at least 100, got {resamples}")
    _confidence(confidence)
    names = sorted(set(families))
    if len(names) < 2:
        raise ValueError(f"undefined: an interval over families needs two of them, got {len(names)}")
    pairs = list(zip(rates, families, strict=True))
    sums = np.array([math.fsum(sorted(rate for rate, family in pairs if family == name)) for name in names])
    sizes = np.array([sum(family == name for family in families) for name in names])
    words = np.random.PCG64(np.random.SeedSequence(seed)).random_raw(resamples * len(names))
    # The upper half of a word times the number of families: uneven by less than one in 2**32 / families.
    drawn = ((words >> np.uint64(32)) * np.uint64(len(names)) >> np.uint64(32)).astype(np.int64)
    drawn = drawn.reshape(resamples, len(names))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(min(max(low, 0.0), 1.0)), float(min(max(high, 0.0), 1.0)))


def hull(*intervals: Interval) -> Interval:
    """The smallest interval that holds all of them.

    >>> hull(Interval(0.2, 0.5), Interval(0.0, 0.4))
    Interval(low=0.0, high=0.5)
    """
    if not intervals:
        raise ValueError("the hull of no intervals is undefined")
    return Interval(min(i.low for i in intervals), max(i.high for i in intervals))


def cost_per_success(cost: float, c: int) -> float | None:
    """What one successful task cost: the cost of *all* trials, the failed ones included, by the successes.

    Args:
        cost: of all trials, in any unit, at least 0.
        c: successes, at least 0.

    Returns:
        Cost per success in the same unit; None where there is no success.

    >>> cost_per_success(1.2, 4)
    0.3
    >>> cost_per_success(1.2, 0) is None
    True
    """
    if isinstance(c, bool) or int(c) != c or c < 0:
        raise ValueError(f"c must be a whole number of successes, at least 0, got {c!r}")
    if not (math.isfinite(cost) and cost >= 0):
        raise ValueError(f"cost must be finite and at least 0, got {cost}")
    return cost / int(c) if c else None


def _confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
