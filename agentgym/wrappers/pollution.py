"""Feedback pollution: a plausible result that contradicts the truth and that another source refutes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple, Unpack

import gymnasium as gym

from agentgym.env import Observation
from agentgym.hooks import Context, Hook
from agentgym.perturbations import Fact, FieldKind, Source, table_of
from agentgym.random import Stream
from agentgym.trace import Call
from agentgym.world import CallResult
from agentgym.wrappers.base import Perturbation, Plan
from agentgym.wrappers.formats import edited, read
from agentgym.wrappers.schedule import Schedule, ScheduledHook

_ANYWHERE = 8
"""In one episode of so many it does not aim; then it fires in one of the first so many calls."""


class Pollution(Perturbation):
    """One value of a result is not true, but could be.

    What the agent sees: a result in which one value that another tool (or another way to ask) also tells is a plausible
    other one; asked again, the same call tells the truth. What the world does: the same; the true state is untouched.
    Which values there are is in the domain's ``perturbations.yaml``, and which of them decide: whose something is, how
    many, how much, by which day. It aims at these where a result has any, and waits for one when it fires once; in one
    episode of eight it does not aim, so that no value is safe.

    Args:
        env: an environment of this suite whose domain has such facts.
        rate: probability at each result that has such a value, 0–1; by default it fires once an episode.
        facts: what two sources tell, in place of the domain's; a third party's environment has none of its own.
        intensity: 0–4: never, once (default), or rates of 0.1 and 0.25 for 3 and 4.
        plan: at, when, tools, as for `Perturbation`.

    Raises:
        TypeError: *env* is no environment that it can be over.
        ValueError: an argument is out of its range, or the domain has no such facts.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import Pollution
    >>> env = Pollution(gymnasium.make("Refund-v0", split="test"), at=1)
    >>> _ = env.reset(seed=7, options={"scenario": "refund/partial-001"})
    >>> env.step({"name": "get_order", "arguments": {"order_id": "A1010"}})[4]["perturbation"]
    'pollution'
    """

    kind: ClassVar[str] = "pollution"
    rates: ClassVar[tuple[float, float, float, float, float]] = (0.0, 0.05, 0.05, 0.1, 0.25)
    once: ClassVar[tuple[int, ...]] = (1, 2)
    within: ClassVar[int] = 3

    def __init__(
        self,
        env: gym.Env[Observation, Any],
        rate: float | None = None,
        *,
        facts: Iterable[Fact] | None = None,
        **plan: Unpack[Plan],
    ) -> None:
        super().__init__(env, rate, **plan)
        own = table_of(self._own.domain).facts if self._own else []
        wanted: Any = own if facts is None else facts
        given: list[Any] = list(wanted) if isinstance(wanted, Iterable) else [wanted]
        self.facts: list[Fact] = [fact for fact in given if isinstance(fact, Fact)]
        if len(self.facts) < len(given):
            raise ValueError(f"expected facts to be a list of agentgym.perturbations.Fact, got {facts!r:.200}")
        if not self.facts and self.schedule.rate != 0:
            if self._own is None:
                raise ValueError("of a third party's environment give the facts= that two sources tell")
            name = self._own.domain.name
            raise ValueError(f"the domain {name} names no facts that two sources tell; give it a perturbations.yaml")

    def hook(self) -> Hook:
        """The hook of one episode."""
        return PollutionHook(self.schedule, self.facts)


class Spot(NamedTuple):
    """A value that may be polluted: of which fact, in which row, in which field."""

    fact: Fact
    source: Source
    row: int
    key: Any
    field: str


class PollutionHook(ScheduledHook):
    """Puts a plausible other value into a result, and watches whether it is checked."""

    beneath = True

    def __init__(self, schedule: Schedule, facts: list[Fact]) -> None:
        super().__init__(Pollution.kind, schedule)
        self._sources: dict[str, list[tuple[Fact, Source]]] = {}
        for fact in facts:
            for source in fact.sources:
                self._sources.setdefault(source.tool, []).append((fact, source))
        self._decided = self._aims = any(source.decides for fact in facts for source in fact.sources)
        self._told: list[dict[str, Any]] = []

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Forget."""
        self._told = []
        task = super().on_task(system, opening, tools, ctx)
        self._aims = self._decided and self.stream.integers(0, _ANYWHERE) > 0
        if self._decided and self.schedule.once and not self._aims:
            self._due = [1 + self.stream.integers(0, _ANYWHERE)]
        return task

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        """Pollute what is due, and note what refutes an earlier pollution."""
        if not result.ok or call.name not in self._sources or self.schedule.never:
            return result
        value = result.value
        payload = read(value)
        self._check(call, payload)
        if not self.due(call, ctx, lambda: bool(self._aimed(call, payload))):
            return result
        stream = self.draws(ctx)
        spot = stream.choice(self._aimed(call, payload))
        old = spot.source.raw(payload)[spot.row][spot.field]
        new = plausible(old, spot.fact.fields[spot.field], stream)
        ctx.fire(self.name)
        asked = {name: entry for name, entry in call.arguments.items() if entry is not None}
        self._told.append(
            {
                "key": [spot.fact.key, spot.key],
                "field": spot.field,
                "true": old,
                "told": new,
                "by": [call.name, asked],
                "checked": False,
            }
        )

        def change(found: Any) -> Any:
            return _put(found, spot, new)

        return result._replace(value=edited(value, change))

    def _spots(self, call: Call, payload: Any) -> Iterable[Spot]:
        for fact, source in self._sources.get(call.name, ()):
            for number, row in enumerate(source.raw(payload)):
                for field, kind in fact.fields.items():
                    if fact.key in row and field in row and _able(row[field], kind):
                        yield Spot(fact, source, number, row[fact.key], field)

    def _aimed(self, call: Call, payload: Any) -> list[Spot]:
        """The spots that decide; where there are none, any, unless it fires once and can wait for one."""
        spots = list(self._spots(call, payload))
        if not self._aims:
            return spots
        deciding = [spot for spot in spots if _decides(spot, payload)]
        return deciding if deciding or self.schedule.once else spots

    def _check(self, call: Call, payload: Any) -> None:
        if not self._told:
            return
        asked = {name: entry for name, entry in call.arguments.items() if entry is not None}
        for told in self._told:
            if told["checked"] or told["by"] == [call.name, asked]:
                continue
            name, key = told["key"]
            for source in (source for fact, source in self._sources[call.name] if fact.key == name):
                if any(row.get(name) == key and told["field"] in row for row in source.found(payload)):
                    told["checked"] = True

    def report(self) -> dict[str, Any]:
        """What was told instead of the truth, and whether a second source was asked afterwards."""
        return {"polluted": len(self._told), "checked": sum(told["checked"] for told in self._told)}

    def get_state(self) -> dict[str, Any]:
        """The counters and what was told."""
        return {**super().get_state(), "aims": self._aims, "told": [dict(told) for told in self._told]}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take them up."""
        super().set_state(state)
        self._aims, self._told = state["aims"], [dict(told) for told in state["told"]]


def _put(payload: Any, spot: Spot, value: Any) -> Any:
    """A copy of the payload with another value at the spot."""
    rows = [dict(row) for row in spot.source.raw(payload)]
    rows[spot.row][spot.field] = value
    return {**payload, spot.source.rows: rows} if spot.source.rows else rows[0]


def _decides(spot: Spot, payload: Any) -> bool:
    return spot.field in spot.source.decides and (not spot.source.several or len(spot.source.raw(payload)) > 1)


def _able(value: Any, kind: FieldKind) -> bool:
    if isinstance(kind, list):
        return value in kind and len(kind) > 1
    if kind in ("amount", "count"):
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "moment":
        return isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value) is not None
    return isinstance(value, str) and bool(value)


def plausible(value: Any, kind: FieldKind, stream: Stream) -> Any:
    """Another value of the same kind.

    >>> plausible("2026-03-14T09:30:00Z", "moment", Stream(1, "x"))[10:]
    'T09:30:00Z'
    """
    if isinstance(kind, list):
        return stream.choice([option for option in kind if option != value])
    if kind == "amount":
        return value + max(1, abs(value) * stream.integers(5, 31) // 100) * stream.choice(
            (1, -1) if value > 9 else (1,)
        )
    if kind == "count":
        return value + 1 if value < 2 or stream.integers(0, 2) else value - 1
    if kind == "moment":
        days = stream.integers(3, 41) * stream.choice((1, -1))
        return (datetime.fromisoformat(value[:10]) + timedelta(days=days)).strftime("%Y-%m-%d") + value[10:]
    # The last figure or letter: the form stays.
    at = next((n for n in range(len(value) - 1, -1, -1) if value[n].isalnum()), len(value) - 1)
    pool = "0123456789" if value[at].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    return value[:at] + stream.choice([c for c in pool if c != value[at]]) + value[at + 1 :]
