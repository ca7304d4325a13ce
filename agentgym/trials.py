"""The trials of one agent: what was planned, what came back, and what may be said about it.

An infrastructure error is neither success nor failure: the trial is missing. While any is missing a headline is
undefined and only its bounds are known, with the missing trials counted as failures and as successes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentgym.metrics import (
    Interval,
    clustered_interval,
    hull,
    mean,
    mean_over_scenarios,
    pass_hat_k,
    wilson_interval,
)

Measure = Callable[[int, int, int], float]
"""`pass_at_k` or `pass_hat_k`."""


class Trials:
    """Counts trials by scenario and knows which are missing.

    Args:
        planned: number of planned trials of each scenario, at least 1.
        families: family of each scenario, the unit of clustering; a scenario that is not named is its own family.

    Three of four trials died of infrastructure and the fourth passed:

    >>> from agentgym.metrics import pass_hat_k
    >>> trials = Trials({"refund/partial-001": 4})
    >>> for number in range(3):
    ...     trials.add_error("refund/partial-001", number)
    >>> trials.add("refund/partial-001", 3, success=True)
    >>> trials.completeness, trials.bounds(pass_hat_k, 1)
    (0.25, Interval(low=0.25, high=1.0))
    """

    def __init__(self, planned: Mapping[str, int], families: Mapping[str, str] | None = None) -> None:
        for scenario, count in planned.items():
            if isinstance(count, bool) or int(count) != count or count < 1:
                raise ValueError(f"planned trials of {scenario!r} must be a whole number, at least 1, got {count!r}")
        if not planned:
            raise ValueError("no scenario is planned; give at least one")
        self._planned = dict(planned)
        self._families = {scenario: (families or {}).get(scenario, scenario) for scenario in planned}
        self._done: dict[str, dict[object, bool]] = {scenario: {} for scenario in planned}
        self._errors: dict[str, set[object]] = {scenario: set() for scenario in planned}

    def add(self, scenario: str, trial: int | str, success: bool) -> None:
        """Record a trial that came to its end.

        Args:
            scenario: one of the planned ones.
            trial: its id, unique within the scenario.
            success: a bool, or exactly 0 or 1.

        Raises:
            ValueError: the id came before, the scenario is not planned or has all its trials, or success is fractional.
        """
        if success not in (0, 1):
            raise ValueError(f"success must be True or False, got {success!r}: partial progress is no success")
        self._new(scenario, trial)
        self._done[scenario][trial] = bool(success)

    def add_error(self, scenario: str, trial: int | str) -> None:
        """Record a trial that infrastructure or a bug ended: it stays missing.

        Raises:
            ValueError: as for `add`.
        """
        self._new(scenario, trial)
        self._errors[scenario].add(trial)

    def _new(self, scenario: str, trial: int | str) -> None:
        if scenario not in self._planned:
            raise ValueError(f"scenario {scenario!r} is not planned; planned are {', '.join(self._planned)}")
        if trial in self._done[scenario] or trial in self._errors[scenario]:
            raise ValueError(f"trial {trial!r} of {scenario!r} came twice; each trial counts once")
        if len(self._done[scenario]) + len(self._errors[scenario]) == self._planned[scenario]:
            raise ValueError(f"{scenario!r} has its {self._planned[scenario]} planned trials; {trial!r} is one more")

    @property
    def planned(self) -> int:
        """Number of planned trials."""
        return sum(self._planned.values())

    @property
    def done(self) -> int:
        """Number of trials that came to their end."""
        return sum(map(len, self._done.values()))

    @property
    def errors(self) -> int:
        """Number of trials that ended in an error and are missing."""
        return sum(map(len, self._errors.values()))

    @property
    def missing(self) -> int:
        """Number of planned trials without an outcome: errors and those that have not run."""
        return self.planned - self.done

    @property
    def successes(self) -> int:
        """Number of trials that succeeded."""
        return sum(sum(outcomes.values()) for outcomes in self._done.values())

    @property
    def completeness(self) -> float:
        """Share of the planned trials that have an outcome, 0..1."""
        return self.done / self.planned

    def value(self, measure: Measure, k: int = 1) -> float:
        """The mean of a measure over scenarios.

        Raises:
            ValueError: undefined: trials are missing, or k is more than a scenario's trials.
        """
        if self.missing:
            raise ValueError(
                f"undefined: {self.missing} of {self.planned} trials are missing; run them, or ask for the bounds"
            )
        return mean_over_scenarios(measure, self._counts(missing_succeed=False), k)

    def bounds(self, measure: Measure, k: int = 1) -> Interval:
        """The measure with the missing trials counted as failures, and as successes; equal ends where none is missing.

        Raises:
            ValueError: k is more than a scenario's planned trials.
        """
        low, high = (mean_over_scenarios(measure, self._counts(missing_succeed=which), k) for which in (False, True))
        return Interval(low, high)

    def interval(self, confidence: float = 0.95, seed: int = 0) -> Interval:
        """An interval of the success rate over the trials that came to their end.

        It holds both the Wilson interval of the trials and the bootstrap clustered by family: the first takes trials of
        a scenario for independent, the second needs two families and shrinks to a point where all trials agree. Where
        they do, it is the Wilson interval with a family for a trial: repeating them teaches nothing about others.

        Args:
            confidence: coverage, between 0 and 1.
            seed: of the bootstrap.

        Raises:
            ValueError: no trial has come to its end.
        """
        if not self.done:
            raise ValueError("undefined: no trial has come to its end")
        rates = {name: mean(map(float, outcomes.values())) for name, outcomes in self._done.items() if outcomes}
        families = [self._families[name] for name in rates]
        units = len(set(families))
        if self.successes in (0, self.done):
            return wilson_interval(units if self.successes else 0, units, confidence)
        wilson = wilson_interval(self.successes, self.done, confidence)
        if units < 2:
            return wilson
        return hull(wilson, clustered_interval(list(rates.values()), families, confidence=confidence, seed=seed))

    def rate(self) -> float:
        """The success rate, which is pass^1.

        Raises:
            ValueError: undefined: trials are missing.
        """
        return self.value(pass_hat_k, 1)

    def _counts(self, *, missing_succeed: bool) -> list[tuple[int, int]]:
        """(planned, successes) of each scenario, its missing trials taken for successes or for failures."""
        return [
            (n, sum(self._done[name].values()) + (n - len(self._done[name]) if missing_succeed else 0))
            for name, n in self._planned.items()
        ]
