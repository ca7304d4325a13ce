"""The estimators against brute force, and what is undefined."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.metrics import (
    Interval,
    clustered_interval,
    cost_per_success,
    hull,
    mean,
    mean_over_scenarios,
    pass_at_k,
    pass_hat_k,
    successes,
    wilson_interval,
)
from agentgym.trials import Trials

ALL = [(n, c, k) for n in range(1, 11) for c in range(n + 1) for k in range(1, n + 1)]


def test_the_estimators_equal_brute_force_for_every_n_up_to_ten() -> None:
    for n, c, k in ALL:
        outcomes = [True] * c + [False] * (n - c)
        draws = list(itertools.combinations(outcomes, k))
        assert pass_at_k(n, c, k) == float(Fraction(sum(map(any, draws)), len(draws))), (n, c, k)
        assert pass_hat_k(n, c, k) == float(Fraction(sum(map(all, draws)), len(draws))), (n, c, k)


def test_five_trials_with_three_successes_give_the_figures_of_the_specification() -> None:
    assert (pass_at_k(5, 3, 1), pass_at_k(5, 3, 3), pass_hat_k(5, 3, 3)) == (0.6, 1.0, 0.1)


@given(st.integers(1, 60), st.data())
def test_all_of_k_is_never_more_likely_than_one_of_k(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert 0 <= pass_hat_k(n, c, k) <= c / n <= pass_at_k(n, c, k) <= 1


@pytest.mark.parametrize("measure", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize(
    ("n", "c", "k", "text"),
    [
        (3, 1, 4, r"undefined: k=4 is more than the n=3 trials"),
        (0, 0, 1, r"n, the number of trials, must be at least 1, got 0"),
        (3, 4, 1, r"c, the number of successes, must be in 0\.\.3, got 4"),
        (3, -1, 1, r"c, the number of successes, must be in 0\.\.3, got -1"),
        (3, 1, 0, r"k must be at least 1, got 0"),
        (3, 1.5, 1, r"c must be a whole number, got 1\.5"),
        (3, 1.0, 1, r"c must be a whole number, got 1\.0"),
        (3, True, 1, r"c must be a whole number, got True"),
        (3, 1, True, r"k must be a whole number, got True"),
        (math.nan, 1, 1, r"n must be a whole number, got nan"),
    ],
)
def test_what_is_no_count_or_undefined_is_refused(measure, n, c, k, text) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=text):
        measure(n, c, k)


def test_whole_numbers_of_numpy_are_counts() -> None:
    assert pass_at_k(np.int64(5), np.int64(3), np.int64(1)) == 0.6  # type: ignore[arg-type]


def test_only_exactly_one_counts_as_a_success() -> None:
    assert successes([1, True, 1.0, np.float64(1), np.True_, 0, False, 0.0, -1]) == 5
    assert successes([]) == 0


@pytest.mark.parametrize("reward", [0.5, 0.999999, 1.0000001, 2, -0.5, math.nan, "1", None])
def test_a_fractional_return_is_refused_and_never_summed_up_to_a_success(reward: object) -> None:
    with pytest.raises(ValueError, match=r"is neither success \(1\) nor failure"):
        successes([reward, reward])


def test_the_mean_over_scenarios_weighs_scenarios_not_trials() -> None:
    assert mean_over_scenarios(pass_hat_k, [(10, 10), (2, 0)], 1) == 0.5
    with pytest.raises(ValueError, match=r"undefined: k=3 is more than the n=2 trials"):
        mean_over_scenarios(pass_at_k, [(10, 10), (2, 0)], 3)
    with pytest.raises(ValueError, match="the mean of no values is undefined"):
        mean([])
    with pytest.raises(ValueError, match="a mean needs finite values, got nan"):
        mean([0.0, math.nan])


@pytest.mark.parametrize(("c", "n"), [(0, 12), (12, 12), (7, 20), (1, 1)])
def test_the_wilson_interval_equals_its_formula(c: int, n: int) -> None:
    z, p = 1.959963984540054, c / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    wanted = ((middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n))
    assert wilson_interval(c, n) == pytest.approx(wanted, abs=1e-9)


def test_the_wilson_interval_is_undefined_without_trials() -> None:
    with pytest.raises(ValueError, match=r"n, the number of trials, must be at least 1, got 0"):
        wilson_interval(0, 0)
    with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, got 95"):
        wilson_interval(1, 2, confidence=95)


def test_the_clustered_interval_is_the_same_every_time_and_does_not_depend_on_the_order() -> None:
    rates = [number * number % 17 / 17 for number in range(17)]
    families = [str(number // 2) for number in range(17)]
    first = clustered_interval(rates, families, seed=7)
    assert first == clustered_interval(rates[::-1], families[::-1], seed=7)
    assert first != clustered_interval(rates, families, seed=8)
    # Written down: a change of it makes old tables differ from new ones.
    assert first == pytest.approx(FIXED, abs=1e-12)


FIXED = (0.30252100840336127, 0.607871972318339)


def test_scenarios_that_agree_within_families_give_a_wider_interval_than_scenarios_on_their_own() -> None:
    rates = [1.0] * 10 + [0.0] * 10
    alone = clustered_interval(rates, [str(number) for number in range(20)])
    together = clustered_interval(rates, [str(number // 5) for number in range(20)])
    assert together.low < alone.low < 0.5 < alone.high < together.high


def test_the_clustered_interval_covers_the_true_rate_about_as_often_as_it_says() -> None:
    bits = np.random.default_rng(1)
    covered = 0
    for number in range(200):
        rates = np.repeat(bits.uniform(size=40), 3).tolist()
        low, high = clustered_interval(rates, [str(i // 3) for i in range(120)], resamples=400, seed=number)
        covered += low <= 0.5 <= high
    assert 180 <= covered <= 199


@pytest.mark.parametrize(
    ("rates", "families", "text"),
    [
        ([1.0], ["a"], "undefined: an interval over families needs two of them, got 1"),
        ([], [], "undefined: an interval over families needs two of them, got 0"),
        ([1.0, 0.5], ["a"], "rates and families must have the same length, got 2 and 1"),
        ([1.5, 0.5], ["a", "b"], r"a rate must be in 0\.\.1, got 1\.5"),
        ([math.nan, 0.5], ["a", "b"], r"a rate must be in 0\.\.1, got nan"),
    ],
)
def test_a_clustered_interval_without_two_families_or_with_wrong_rates_is_refused(
    rates: list[float], families: list[str], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        clustered_interval(rates, families)


def test_the_cost_of_failed_trials_is_in_the_cost_of_a_success() -> None:
    assert cost_per_success(1.5, 3) == 0.5
    assert cost_per_success(1.5, 0) is None
    with pytest.raises(ValueError, match="c must be a whole number of successes, at least 0, got True"):
        cost_per_success(1.5, True)
    with pytest.raises(ValueError, match="cost must be finite and at least 0, got nan"):
        cost_per_success(math.nan, 1)


def test_the_hull_holds_every_interval() -> None:
    assert hull(Interval(0.2, 0.4), Interval(0.3, 0.9)) == (0.2, 0.9)


def test_three_dead_trials_and_one_success_bound_the_rate_and_never_make_it_one() -> None:
    trials = Trials({"a": 4})
    for number in range(3):
        trials.add_error("a", number)
    trials.add("a", 3, True)
    assert trials.bounds(pass_hat_k, 1) == (0.25, 1.0)
    assert (trials.planned, trials.done, trials.errors, trials.missing, trials.completeness) == (4, 1, 3, 3, 0.25)
    with pytest.raises(ValueError, match="undefined: 3 of 4 trials are missing"):
        trials.rate()


def test_a_trial_that_has_not_run_is_missing_as_well() -> None:
    trials = Trials({"a": 2, "b": 2})
    trials.add("a", 0, True)
    trials.add("a", 1, True)
    trials.add("b", 0, False)
    assert trials.bounds(pass_hat_k, 1) == (0.5, 0.75)
    assert trials.bounds(pass_hat_k, 2) == (0.5, 0.5)
    trials.add("b", 1, True)
    assert trials.rate() == 0.75
    assert trials.bounds(pass_hat_k, 1) == (0.75, 0.75)
    with pytest.raises(ValueError, match="undefined: k=3 is more than the n=2 trials"):
        trials.value(pass_at_k, 3)


def test_a_trial_that_comes_twice_or_was_not_planned_is_refused() -> None:
    trials = Trials({"a": 2})
    trials.add("a", 0, True)
    with pytest.raises(ValueError, match="trial 0 of 'a' came twice"):
        trials.add("a", 0, True)
    with pytest.raises(ValueError, match="trial 0 of 'a' came twice"):
        trials.add_error("a", 0)
    with pytest.raises(ValueError, match="scenario 'b' is not planned; planned are a"):
        trials.add("b", 0, True)
    with pytest.raises(ValueError, match=r"success must be True or False, got 0\.5"):
        trials.add("a", 1, 0.5)  # type: ignore[arg-type]
    trials.add_error("a", 1)
    with pytest.raises(ValueError, match="'a' has its 2 planned trials; 2 is one more"):
        trials.add("a", 2, True)
    assert trials.successes == 1


@pytest.mark.parametrize("planned", [{}, {"a": 0}, {"a": True}, {"a": 1.5}])
def test_a_plan_without_trials_is_refused(planned: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"planned"):
        Trials(planned)


def test_the_interval_of_a_table_never_shrinks_to_a_point_and_grows_with_families() -> None:
    families = {str(number): str(number // 5) for number in range(20)}
    none, halves = Trials(dict.fromkeys(families, 1), families), Trials(dict.fromkeys(families, 1), families)
    for number in range(20):
        none.add(str(number), 0, False)
        halves.add(str(number), 0, number < 10)
    # Twenty trials, but four families: more trials of the same say nothing about others.
    assert none.interval() == wilson_interval(0, 4)
    assert halves.interval().low < wilson_interval(10, 20).low
    with pytest.raises(ValueError, match="undefined: no trial has come to its end"):
        Trials({"a": 1}).interval()
