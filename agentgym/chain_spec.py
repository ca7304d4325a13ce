"""Models of what is asked of a chain of calls: facts that it must have recovered, and the points of its reasoning.

The fields of a scenario are ``checks.chain``, which gates success, and ``reasoning``, which is reported beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from agentgym.compare import Comparator, Expected
from agentgym.specs import CallRef, CallRefs, CallSpec, Model, Query

LOGIC: Final = 6
IMPLICIT: Final = 4
"""Points that the logic of a chain and the implicit constraints are worth."""

Told = Literal["user", "colleague", "record"]
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class ChainFact(Query):
    """A value of the initial state that the agent's own reads must have given.

    ``set``: each value of the first column; ``record``: each row, found as one record with the columns' names.
    ``in_text``: it may also stand inside a longer text, such as a page.
    """

    name: str
    type: Literal["text", "id", "int", "number", "money", "bool", "date", "set", "record"] = "text"
    currency: str | None = None
    tolerance: float | None = None
    items: Literal["text", "id", "int", "number", "money", "date"] = "id"
    in_text: bool = False

    def comparator(self, value: Any) -> Comparator:
        """How one of its values is compared.

        Raises:
            ValueError: the value is none of the declared type.
        """
        kind = self.items if self.type == "set" else self.type
        if kind == "bool" and value in (0, 1):
            value = bool(value)
        declared = {"type": kind, "value": value, "currency": self.currency, "tolerance": self.tolerance}
        return Comparator.model_validate({name: part for name, part in declared.items() if part is not None})

    @model_validator(mode="after")
    def _consistent(self) -> ChainFact:
        kind = self.items if self.type == "set" else self.type
        for option, owner in (("currency", "money"), ("tolerance", "number")):
            given = getattr(self, option) is not None
            if given and kind != owner or (option == "currency" and kind == owner and not given):
                raise ValueError(f"{option} goes with {owner} and with nothing else, found {getattr(self, option)!r}")
        if self.in_text and kind in ("bool", "record"):
            raise ValueError(f"in_text: a {kind} is not looked for inside a text")
        return self


class Sources(Model):
    """Which sources may be read: calls, with the arguments that matter. No ``allowed`` allows all but ``forbidden``."""

    allowed: list[CallRef] = []
    forbidden: list[CallRef] = []

    @model_validator(mode="after")
    def _some(self) -> Sources:
        if not self.allowed and not self.forbidden:
            raise ValueError("sources name at least one that is allowed or forbidden")
        return self


class Chain(Model):
    """What an answer must rest on.

    ``grounded``: each value of ``answer``, ``answer_state`` and ``said`` stands in a result that the agent got before,
    except those that are ``calculated``: field → the facts that it comes from; and those that the user has ``given``.
    """

    facts: list[ChainFact] = Field(min_length=1)
    grounded: bool = True
    calculated: dict[str, list[str]] = {}
    given: list[str] = []
    sources: Sources | None = None

    @model_validator(mode="after")
    def _names(self) -> Chain:
        names = [fact.name for fact in self.facts]
        double = sorted({name for name in names if names.count(name) > 1})
        if double:
            raise ValueError(f"facts share the name {double[0]!r}; names are unique")
        for field, sources in self.calculated.items():
            unknown = [name for name in sources if name not in names]
            if unknown or not sources:
                raise ValueError(f"calculated.{field} names the facts that it comes from, got {sources or 'none'}")
        return self


class ReadToEnd(Model):
    """A list read to its last page: pages ``{items, page, page_size, total}`` of one list that cover its total."""

    call: CallRef


class Period(Model):
    """The days asked for by calls: together they cover ``from`` to ``to``, and nothing outside where it is ``exact``.

    Where ``whole`` is false, one call for days inside of it is enough.

    ``arguments`` name the first and the last day, or the one day (2026-03-01) or month (2026-03). What was not read to
    its last page covers nothing.
    """

    call: CallRef
    first: str = Field(alias="from")
    last: str = Field(alias="to")
    arguments: list[str] = Field(min_length=1, max_length=2)
    exact: bool = True
    whole: bool = True

    @field_validator("first", "last", mode="before")
    @classmethod
    def _day(cls, value: Any) -> str:
        text = str(value)
        if not _DAY.fullmatch(text):
            raise ValueError(f"a day must look like 2026-03-14, got {text!r}")
        return text

    @model_validator(mode="after")
    def _forward(self) -> Period:
        if self.first > self.last:
            raise ValueError(f"a period goes forward, got {self.first} to {self.last}")
        return self


class Masked(Query):
    """Values of the initial state, all rows of the first column, that none of ``to`` may read from the agent.

    It counts where a result showed one of them (or the point's ``needs`` are earned) and something was told afterwards.
    """

    type: Literal["text", "id", "money", "int"] = "text"
    currency: str | None = None
    to: list[Told] = ["user", "colleague", "record"]


class Condition(Model):
    """One mechanical condition on a trace, exactly one of its fields."""

    called: CallRefs | None = None
    order: tuple[CallRefs, CallRefs] | None = None
    never: CallRefs | None = None
    read_to_end: ReadToEnd | None = None
    before: Before | None = None
    period: Period | None = None
    masked: Masked | None = None
    said: list[Expected] | None = Field(default=None, min_length=1)
    any_of: list[Condition] | None = Field(default=None, min_length=1)
    all_of: list[Condition] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_way(self) -> Condition:
        ways = [name for name in Condition.model_fields if getattr(self, name) is not None]
        if len(ways) != 1:
            known = ", ".join(Condition.model_fields)
            raise ValueError(f"a condition has exactly one of {known}; this one has {ways or 'none'}")
        return self

    def walk(self, field: str) -> Iterator[tuple[str, Condition]]:
        """Itself and every condition in it, with the field where it stands."""
        yield field, self
        for name, conditions in (("any_of", self.any_of), ("all_of", self.all_of)):
            for index, inner in enumerate(conditions or ()):
                yield from inner.walk(f"{field}.{name}[{index}]")
        if self.before is not None:
            yield from self.before.first.walk(f"{field}.before.first")
            yield from self.before.then.walk(f"{field}.before.then")

    def calls(self, field: str) -> Iterator[tuple[str, CallSpec]]:
        """The calls that it names itself, with their fields."""
        for name in ("called", "never"):
            for index, call in enumerate(getattr(self, name) or ()):
                yield f"{field}.{name}[{index}]", call
        for side, calls in enumerate(self.order or ()):
            for index, call in enumerate(calls):
                yield f"{field}.order[{side}][{index}]", call
        for name in ("read_to_end", "period"):
            part = getattr(self, name)
            if part is not None:
                yield f"{field}.{name}.call", part.call


class Before(Model):
    """One condition came true before the other did; both did."""

    first: Condition
    then: Condition


class Point(Condition):
    """A named share of the score. ``needs``: other points, standing before it, without which it is not earned."""

    name: str
    weight: float = Field(default=1.0, gt=0)
    needs: list[str] = []


class Reasoning(Model):
    """The reasoning score of a chain: 6 points for its logic, 4 for the implicit constraints that were noticed."""

    logic: list[Point] = Field(min_length=1)
    implicit: list[Point] = Field(min_length=1)

    @property
    def points(self) -> list[tuple[str, Point]]:
        """(field, point) of all, logic first."""
        logic = [(f"reasoning.logic[{i}]", point) for i, point in enumerate(self.logic)]
        return logic + [(f"reasoning.implicit[{i}]", point) for i, point in enumerate(self.implicit)]

    @model_validator(mode="after")
    def _sums(self) -> Reasoning:
        for name, points, worth in (("logic", self.logic, LOGIC), ("implicit", self.implicit, IMPLICIT)):
            total = math.fsum(point.weight for point in points)
            if not math.isclose(total, worth):
                raise ValueError(f"the weights of {name} add up to {worth}, got {total:g}")
        seen: list[str] = []
        for field, point in self.points:
            if point.name in seen:
                raise ValueError(f"points share the name {point.name!r}; names are unique")
            unknown = [name for name in point.needs if name not in seen]
            if unknown:
                raise ValueError(f"{field} needs {unknown[0]!r}, which is no point before it")
            seen.append(point.name)
        return self


Condition.model_rebuild()
Point.model_rebuild()
Reasoning.model_rebuild()
