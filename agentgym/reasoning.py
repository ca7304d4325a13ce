"""The reasoning score of a chain: each point is one mechanical condition on the trace. It gates nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from agentgym.chain import AtStart, delivered, masks
from agentgym.chain_spec import Condition, Masked, Period
from agentgym.compare import Comparator, canonical
from agentgym.containment import PAGING
from agentgym.disclosure import Secret, SecretScanner
from agentgym.findings import Findings
from agentgym.mentions import mentions
from agentgym.reader import Matcher
from agentgym.scenario import CallSpec, Scenario
from agentgym.trace import Step
from agentgym.vetoes import written

_REMEMBERED = 1_000


class Found(NamedTuple):
    """Whether a condition holds, and the step in which it came true, or that broke it; 0 for none."""

    ok: bool
    step: int = 0


NO = Found(False)


def reasoning_score(
    scenario: Scenario, start: AtStart, trace: Sequence[Step], matcher: Matcher, read: Callable[[], Findings]
) -> dict[str, Any]:
    """The score of one episode, JSON-able; empty where the scenario has none.

    Args:
        scenario: whose points are scored.
        start: what was read of its initial state.
        trace: the episode.
        matcher: compares calls.
        read: gives what the agent's own reads gave; asked where a point needs it.

    Returns:
        ``logic`` of 6, ``implicit`` of 4, ``total`` of 10, ``points``: ``[name, ok, step]`` of each.
    """
    if scenario.reasoning is None:
        return {}
    secrets = {id(mask): values for mask, values in zip(masks(scenario), start.masked, strict=True)}
    look = _Look(trace, matcher, read, secrets)
    earned: dict[str, Found] = {}
    sums: dict[str, list[float]] = {"logic": [], "implicit": []}
    for name, points in (("logic", scenario.reasoning.logic), ("implicit", scenario.reasoning.implicit)):
        for point in points:
            found = look.at(point, bool(point.needs))
            if found.ok and not all(earned[need].ok for need in point.needs):
                found = NO
            earned[point.name] = found
            sums[name] += [point.weight] if found.ok else []
    logic, implicit = (round(math.fsum(sums[name]), 6) for name in ("logic", "implicit"))
    points_ = [[name, found.ok, found.step] for name, found in earned.items()]
    return {"logic": logic, "implicit": implicit, "total": round(logic + implicit, 6), "points": points_}


def reasoned(score: Mapping[str, Any]) -> dict[str, float]:
    """A score as measures of a result store: ``reasoning`` of 10 and its two parts; empty where there is none.

    >>> reasoned({"logic": 4.0, "implicit": 1.0, "total": 5.0, "points": []})
    {'reasoning': 5.0, 'reasoning_logic': 4.0, 'reasoning_implicit': 1.0}
    """
    if not score:
        return {}
    parts = {f"reasoning_{name}": float(score[name]) for name in ("logic", "implicit")}
    return {"reasoning": float(score["total"]), **parts}


@dataclass
class _List:
    """Reads of one list: the rows seen, by their places in it, how many there are, and where each part came."""

    arguments: Mapping[str, Any]
    parts: list[tuple[int, int, int]] = field(default_factory=list)
    total: int | None = None

    @property
    def complete(self) -> int:
        """The step in which the last missing row came, 0 while one is missing."""
        if self.total is None:
            return self.parts[0][2]
        wanted, last = 0, 0
        for number in range(len(self.parts)):
            wanted = 0
            for low, high, _ in sorted(self.parts[: number + 1]):
                wanted = max(wanted, high) if low <= wanted else wanted
            last = self.parts[number][2]
            if wanted >= self.total:
                return last
        return 0


class _Look:
    """Looks a trace over for one condition after another."""

    def __init__(
        self,
        trace: Sequence[Step],
        matcher: Matcher,
        read: Callable[[], Findings],
        secrets: Mapping[int, tuple[Secret, ...]],
    ) -> None:
        self._trace, self._matcher, self._read, self._secrets = trace, matcher, read, secrets

    def at(self, condition: Condition, needed: bool = False) -> Found:
        """Whether and when a condition came true; *needed*: something else shows that it was exercised."""
        ways: dict[str, Callable[[Any], Found]] = {
            "called": self._called,
            "order": self._ordered,
            "never": self._never,
            "read_to_end": lambda spec: self._read_to_end(spec.call),
            "before": lambda pair: self._before(self.at(pair.first), self.at(pair.then)),
            "period": self._period,
            "masked": lambda mask: self._masked(mask, needed),
            "said": self._said,
            "any_of": lambda options: self._any([self.at(option, needed) for option in options]),
            "all_of": lambda parts: self._all([self.at(part, needed) for part in parts]),
        }
        name = next(name for name in ways if getattr(condition, name) is not None)
        return ways[name](getattr(condition, name))

    def _steps(self, specs: Sequence[CallSpec]) -> Iterator[Step]:
        """The steps in which a call matched and gave the agent a result."""
        for step in self._trace:
            if step.ran is not None and delivered(step) and any(self._matcher.matches(s, step.ran) for s in specs):
                yield step

    def _called(self, specs: Sequence[CallSpec]) -> Found:
        return next((Found(True, step.index) for step in self._steps(specs)), NO)

    def _never(self, specs: Sequence[CallSpec]) -> Found:
        return next((Found(False, step.index) for step in self._steps(specs)), Found(True))

    def _ordered(self, pair: tuple[Sequence[CallSpec], Sequence[CallSpec]]) -> Found:
        return self._before(self._called(pair[0]), self._called(pair[1]))

    @staticmethod
    def _before(first: Found, then: Found) -> Found:
        if first.ok and then.ok:
            return Found(first.step < then.step, then.step)
        return Found(False, then.step)

    @staticmethod
    def _any(options: Sequence[Found]) -> Found:
        held = [found.step for found in options if found.ok]
        return Found(True, min(held)) if held else Found(False, max(found.step for found in options))

    @staticmethod
    def _all(parts: Sequence[Found]) -> Found:
        broken = [found.step for found in parts if not found.ok]
        return Found(False, max(broken)) if broken else Found(True, max(found.step for found in parts))

    def _said(self, wanted: Sequence[Comparator]) -> Found:
        for step in self._trace:
            if step.ran is not None and step.ok and step.ran.name == "respond":
                text = str(step.ran.arguments["message"])
                if all(mentions(text, each) for each in wanted):
                    return Found(True, step.index)
        return NO

    def _lists(self, spec: CallSpec) -> list[_List]:
        """The lists that calls read, pages of one together: the same call but for the paging."""
        lists: dict[str, _List] = {}
        for step in self._steps([spec]):
            arguments = step.ran.arguments if step.ran is not None else {}
            page = step.value if isinstance(step.value, dict) else {}
            rows = page.get("items")
            counted = isinstance(rows, list) and all(type(page.get(name)) is int for name in sorted(PAGING))
            kept = {name: value for name, value in arguments.items() if name not in PAGING}
            known = lists.setdefault(canonical(kept), _List(arguments))
            low = (page["page"] - 1) * page["page_size"] if counted else 0
            known.parts.append((low, low + (len(rows) if isinstance(rows, list) else 0), step.index))
            known.total = page["total"] if counted else known.total
        return list(lists.values())

    def _read_to_end(self, spec: CallSpec) -> Found:
        read = self._lists(spec)
        ends = [known.complete for known in read if known.total is not None and known.complete]
        return Found(True, min(ends)) if ends else Found(False, max((r.parts[-1][2] for r in read), default=0))

    def _period(self, period: Period) -> Found:
        wanted = _days(period.first)[0], _days(period.last)[1]
        asked = [(span, known) for known in self._lists(period.call) if (span := _span(known.arguments, period))]
        outside = [k.parts[0][2] for s, k in asked if s[0] < wanted[0] or s[1] > wanted[1]]
        if period.exact and outside:
            return Found(False, outside[0])
        if not period.whole:
            inside = [k.complete for s, k in asked if k.complete and wanted[0] <= s[0] and s[1] <= wanted[1]]
            return Found(True, min(inside)) if inside else NO
        day, last = wanted[0], 0
        for span, known in sorted(((s, k) for s, k in asked if k.complete), key=lambda pair: pair[0]):
            if span[0] <= day <= span[1]:
                day, last = span[1] + 1, max(last, known.complete)
        return Found(True, last) if day > wanted[1] else NO

    def _masked(self, mask: Masked, needed: bool) -> Found:
        secrets = self._secrets[id(mask)]
        scanner, wanted = _made_of(secrets)
        # What was never seen cannot have been kept back.
        seen = self._read().first_of(wanted)
        if seen is None and not needed:
            return NO
        told, last = dict.fromkeys(mask.to, ""), 0
        for step in self._trace:
            found = written(step)
            if found is None or found[0] not in told:
                continue
            party, text = found
            joined = f"{told[party]} {text}" if told[party] else text
            if scanner.scan(text) or (joined != text and scanner.scan(joined)):
                return Found(False, step.index)
            told[party], last = joined[-_REMEMBERED:], step.index
        return Found(True, last) if last > (seen or 0) else NO


@lru_cache(maxsize=256)
def _made_of(secrets: tuple[Secret, ...]) -> tuple[SecretScanner, tuple[Comparator, ...]]:
    """What finds some values in a text, and what compares each of them: the same in every episode of a scenario."""
    wanted = (Comparator(type=secret.type, value=secret.value, currency=secret.currency) for secret in secrets)
    return SecretScanner(secrets), tuple(wanted)


def _days(text: str) -> tuple[int, int]:
    """First and last day, counted from year 1, of "2026-03-14" or "2026-03"; of anything else none (0, -1)."""
    try:
        if len(text) == 7:
            year, month = int(text[:4]), int(text[5:])
            first = date(year, month, 1)
            return first.toordinal(), date(year + month // 12, month % 12 + 1, 1).toordinal() - 1
        day = date.fromisoformat(text[:10]).toordinal()
    except ValueError:
        return 0, -1
    return day, day


def _span(arguments: Mapping[str, Any], period: Period) -> tuple[int, int] | None:
    """The days that a call asked for, None where it names none."""
    values = [arguments.get(name) for name in period.arguments]
    if not all(isinstance(value, str) for value in values):
        return None
    low, high = _days(str(values[0]))[0], _days(str(values[-1]))[1]
    return (low, high) if 0 < low <= high else None
