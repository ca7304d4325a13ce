"""The scenario: one start of an episode and everything it is judged by, as pydantic models.

Curated files (YAML) and generators give the same `Scenario`. The models check form; `agentgym.lint` checks a scenario
against its domain (names, SQL, vacuous checks).
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from agentgym.chain_spec import Chain, Reasoning
from agentgym.compare import Comparator, Expected
from agentgym.specs import CallRef as CallRef
from agentgym.specs import CallRefs
from agentgym.specs import CallSpec as CallSpec
from agentgym.specs import Model as _Model
from agentgym.specs import Query as Query
from agentgym.world import parse_iso

Level = Literal["L1", "L2", "L3", "L4", "L5"]
Effect = Literal["end", "flag", "block"]
Outcome = Literal["done", "refused", "impossible"]
Party = Literal["user", "colleague", "record"]
"""Who learns what the agent writes: the user (`respond`), a colleague (`hand_off`), the record (notes, `finish`)."""

Slice = Literal["goal_parsing", "planning", "tool_generalisation", "load", "value", ""]

_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_ALLOW = re.compile(r"(?P<table>\w+)\[(?P<where>[^\]]+)\](?:\.(?P<column>\w+))?")
_PAIR = re.compile(r"\s*(\w+)\s*=\s*(?:'((?:[^']|'')*)'|(-?\d+))\s*")


def _moment(value: object) -> int:
    """ISO time → milliseconds since 1970. YAML gives a datetime for an unquoted one."""
    if isinstance(value, bool):
        raise ValueError("a time must be ISO 8601 such as 2026-03-14T09:30:00Z, got a boolean")
    if isinstance(value, int):
        return value
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    try:
        return parse_iso(text)
    except ValueError:
        raise ValueError(f"a time must be ISO 8601 such as 2026-03-14T09:30:00Z, got {text!r}") from None


def _duration(value: object) -> int:
    """ISO 8601 duration of days, hours, minutes, seconds → milliseconds."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _DURATION.fullmatch(str(value))
    if not match or not any(match.groups()):
        raise ValueError(f"a duration must look like PT2M or P1DT4H, got {value!r}")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000


def _allow(value: object) -> object:
    """``"order_items[order_id='A1001'].status"`` → the long form."""
    if not isinstance(value, str):
        return value
    match = _ALLOW.fullmatch(value.strip())
    pairs = [_PAIR.fullmatch(part) for part in match["where"].split(",")] if match else []
    if not match or not all(pairs):
        raise ValueError(f"may_change must look like table[column='value'].column, got {value!r}")
    where = {p[1]: p[2].replace("''", "'") if p[2] is not None else int(p[3]) for p in pairs if p}
    if match["column"] is None:
        return {"table": match["table"], "where": where}
    return {"table": match["table"], "op": "update", "where": where, "columns": [match["column"]]}


Moment = Annotated[int, BeforeValidator(_moment)]
Duration = Annotated[int, BeforeValidator(_duration)]


class Expectation(Query):
    """A query and what it must give: the first column of the first row, or of all rows for a set, multiset or list."""

    expect: Any = None
    type: str = "text"
    currency: str | None = None
    tolerance: float | None = None
    items: dict[str, Any] | None = None
    any_of: list[Any] | None = None

    @model_validator(mode="after")
    def _comparable(self) -> Expectation:
        self.comparator()
        return self

    def comparator(self) -> Comparator:
        """The comparator of the value found."""
        declared: dict[str, Any] = {"type": self.type, "value": self.expect}
        for name in ("currency", "tolerance", "items"):
            if getattr(self, name) is not None:
                declared[name] = getattr(self, name)
        if self.any_of is not None:
            options = [{**{k: v for k, v in declared.items() if k != "value"}, "value": v} for v in self.any_of]
            return Comparator.model_validate({"type": "one_of", "any_of": options})
        return Comparator.model_validate(declared)


class StateCheck(Expectation):
    """What must hold in the final state. ``holds: always`` says that it holds at the start as well."""

    holds: Literal["always"] | None = None


class Checkpoint(_Model):
    """Named partial progress, credited once: a successful call, a query that comes true, a value told to the user."""

    name: str
    weight: float = Field(default=1.0, gt=0)
    called: CallRef | list[CallRef] | None = None
    confirmed: str | None = None
    sql: str | None = None
    params: dict[str, Any] = {}
    expect: Any = None
    type: str = "text"
    currency: str | None = None
    said: list[Expected] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Checkpoint:
        ways = [name for name in ("called", "confirmed", "sql", "said") if getattr(self, name) is not None]
        if len(ways) != 1:
            raise ValueError(
                f"a checkpoint has exactly one of called, confirmed, sql, said; this one has {ways or 'none'}"
            )
        return self

    @property
    def calls(self) -> list[CallSpec]:
        """The calls of which any one credits it."""
        return self.called if isinstance(self.called, list) else [self.called] if self.called else []

    def expectation(self) -> Expectation:
        """The query form, for ``sql``."""
        return Expectation(
            sql=self.sql or "", params=self.params, expect=self.expect, type=self.type, currency=self.currency
        )


class AllowedChange(_Model):
    """Rows that the agent may change: at most ``max``, by ``op``, with these column values, in these columns."""

    table: str
    op: Literal["insert", "update", "delete"] | None = None
    where: dict[str, Any] = {}
    columns: list[str] | None = None
    max: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _bounded(self) -> AllowedChange:
        if not self.where:
            raise ValueError(
                f"may_change never allows a bare table ({self.table}): give where, the rows that it is about"
            )
        if self.op == "insert" and self.max is None:
            raise ValueError(f"may_change of inserts into {self.table} needs max, the number of rows at most")
        return self


Allowed = Annotated[AllowedChange, BeforeValidator(_allow)]


class Said(_Model):
    """Typed values that a party must have been told, or must not have. ``only``: and no other value of their type."""

    to: Literal["user", "colleague"] = "user"
    must: list[Expected] = []
    must_not: list[Expected] = []
    only: bool = False


class TextCheck(Query):
    """Typed values in free text that the agent wrote into the world (all rows of the first column)."""

    must: list[Expected] = []
    must_not: list[Expected] = []


class Deadline(_Model):
    """A call that must have taken effect by a moment of the simulated clock."""

    call: CallRef
    before: Moment


class Process(_Model):
    """Real constraints on the way: what must be done, must not, must come first. There is never one right path.

    An entry of ``required`` is a call, or a list of calls of which any one will do.
    """

    required: list[CallRefs] = []
    forbidden: list[CallRef] = []
    order: list[tuple[CallRef, CallRef]] = []
    confirm_before: list[str] = []
    own: list[str] = []
    deadline: list[Deadline] = []
    max_steps: int = Field(default=40, ge=1)
    max_redundant: int | None = Field(default=None, ge=0)


class End(_Model):
    """How the episode may end: outcomes of ``finish``, or reason codes of ``hand_off``."""

    outcome: list[Outcome] = []
    hand_off: list[str] = []

    @model_validator(mode="after")
    def _some_end(self) -> End:
        if not self.outcome and not self.hand_off:
            raise ValueError("an end names at least one outcome of finish or one reason of hand_off")
        return self


class AnswerFrom(Query):
    """A field of the answer whose right value is born in the episode: what the query gives in the final state."""

    type: Literal["text", "id", "int", "money", "date"] = "id"
    currency: str | None = None


class Checks(_Model):
    """Everything that gates success."""

    end: End = End(outcome=["done"])
    final_state: list[StateCheck] = []
    may_change: list[Allowed] = []
    answer: Expected | None = None
    answer_state: dict[str, AnswerFrom] = {}
    said: list[Said] = []
    text: list[TextCheck] = []
    process: Process = Process()
    chain: Chain | None = None


class VetoRule(_Model):
    """A forbidden act: a call, a state (a true value), an ``unconfirmed`` tool, or a tool on what is ``foreign``."""

    name: str = ""
    call: str | None = None
    arguments: dict[str, Any] = {}
    sql: str | None = None
    params: dict[str, Any] = {}
    unconfirmed: str | None = None
    foreign: str | None = None
    effect: Effect = "end"
    attempts: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> VetoRule:
        kinds = [name for name in ("call", "sql", "unconfirmed", "foreign") if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise ValueError(
                f"a veto has exactly one of call, sql, unconfirmed, foreign; this one has {kinds or 'none'}"
            )
        if self.effect == "block" and self.sql is not None:
            raise ValueError("a veto by sql sees a state, so it cannot block a call; use effect end or flag")
        return self

    @cached_property
    def spec(self) -> CallSpec:
        """The call that it speaks of: the forbidden one, or the one that needs consent."""
        return CallSpec(name=self.call or self.unconfirmed or self.foreign or "", arguments=self.arguments)

    @property
    def tool(self) -> str | None:
        """The tool that it speaks of, None for a state."""
        return self.call or self.unconfirmed or self.foreign

    @property
    def label(self) -> str:
        """The name shown in ``veto_rule``."""
        if self.name:
            return self.name
        if self.unconfirmed is not None:
            return f"unconfirmed:{self.unconfirmed}" + "".join(f":{value}" for value in self.arguments.values())
        if self.foreign is not None:
            return f"foreign:{self.foreign}"
        return f"call:{self.call}" if self.call is not None else "state"


class SecretSpec(Query):
    """Values that nobody outside ``allowed_to`` may learn from the agent: the first column of all rows at the start."""

    type: Literal["text", "id", "money", "int"] = "text"
    currency: str | None = None
    allowed_to: list[Party] = []


class Fact(_Model):
    """What the user tells when asked; ``when`` are phrases that ask for it (`docs/users.md`: what else is understood).

    ``asked`` are questions that it answers, as examples: others that are like them are understood, too.

    The first ``after`` times that it is asked for, the user gives ``lie`` instead, or asks back what it is good for.
    A lie without ``after`` is given once: asked again, the user tells the truth.
    """

    when: list[str] = Field(min_length=1)
    say: str
    asked: list[str] = []
    lie: str = ""
    after: int | None = Field(default=None, ge=0)

    @property
    def held_back(self) -> int:
        """How many times it is asked for before it is told."""
        return (1 if self.lie else 0) if self.after is None else self.after


class Want(_Model):
    """A call that the user would agree to; arguments not named are free, ``{any_of: [...]}`` are alternatives."""

    tool: str
    arguments: dict[str, Any] = {}


class PressureStage(_Model):
    """Lines of pressure, one a message, from the moment on that the agent says one of ``when`` or refuses ``refused``.

    ``refused``: so many proposals of the agent were turned down. Without either, the stage opens when those before it
    are used up.
    """

    say: list[str] = Field(min_length=1)
    when: list[str] = []
    refused: int = Field(default=0, ge=0)


class UserSpec(_Model):
    """The simulated user: what they open with, know, wish, and how long they bear refused proposals.

    ``pressure`` are lines for messages that ask for nothing; ``stages`` come after them. ``bears``: so many messages in
    a row that bring nothing (no fact asked for, no call proposed) and the user leaves, after a warning. ``persona``
    tells a model that plays the user who it is; the scripted user does not read it.
    """

    opening: str
    facts: dict[str, Fact] = {}
    wants: list[Want] = []
    patience: int = Field(default=3, ge=1)
    pressure: list[str] = []
    stages: list[PressureStage] = []
    bears: int | None = Field(default=None, ge=2)
    persona: str = ""


class UserChange(_Model):
    """What an event changes about the user, and what they say by themselves."""

    say: str = ""
    wants: list[Want] | None = None
    facts: dict[str, Fact] = {}


class AfterCall(_Model):
    """The trigger of an event: the first successful call that matches."""

    call: CallRef


class Event(_Model):
    """A declared change of world or user: ``at`` a time, ``after`` a call, ``when`` a query is true; plus ``delay``."""

    name: str
    at: Moment | None = None
    after: AfterCall | None = None
    when: Query | None = None
    delay: Duration = 0
    do: dict[str, Any] = {}
    user: UserChange | None = None
    notice: str = ""

    @model_validator(mode="after")
    def _one_trigger(self) -> Event:
        triggers = [name for name in ("at", "after", "when") if getattr(self, name) is not None]
        if len(triggers) != 1:
            raise ValueError(f"an event has exactly one of at, after, when; this one has {triggers or 'none'}")
        if not self.do and self.user is None and not self.notice:
            raise ValueError("an event does something: do, user or notice")
        return self


class InitialState(_Model):
    """The snapshot and the rows that this scenario changes in it before the episode starts."""

    snapshot: str = ""
    patch: dict[str, Any] = {}


class Subgoal(_Model):
    """One thing that a good plan names; ``tools`` are the calls that would reach it, any of them."""

    name: str
    critical: bool = False
    weight: float = Field(default=1.0, gt=0)
    tools: list[str] = []


class PlanSpec(_Model):
    """What a stated plan is judged by."""

    subgoals: list[Subgoal] = []
    order: list[tuple[str, str]] = []
    forbidden: list[str] = []


class GoldAction(_Model):
    """One call of a gold plan. Arguments are literals, bindings ``{from, path}`` or calculations ``{sql, …}``."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    name: str
    label: str = Field(default="", alias="as")
    arguments: dict[str, Any] = {}


class GoldPlan(_Model):
    """A way that scores 1.0, in words (no literal that must be looked up) and in actions."""

    plan: list[str] = Field(min_length=1)
    actions: list[GoldAction] = Field(min_length=1)


class Attack(_Model):
    """An injected order: where it stands, what it wants, and calls that would obey it."""

    name: str
    vector: str
    goal: CallRef
    gold: list[GoldAction] = []


class Scenario(_Model):
    """One scenario. See ``docs/scenarios.md`` for each field with an example."""

    id: str = Field(pattern=r"[a-z0-9_-]+(/[a-z0-9_.-]+)+")
    revision: int = Field(default=1, ge=1)
    canary: str = ""
    family: str
    level: Level = "L1"
    language: Literal["en", "zh"] = "en"
    now: Moment
    instruction: str
    given: list[str | int] = []
    domain: dict[str, Any] = {}
    capability: str = ""
    sources: Literal["single", "multi"] | None = None
    impact: int = Field(default=3, ge=1, le=5)
    twin_of: str = ""
    tags: list[str] = []
    user: UserSpec
    initial_state: InitialState = InitialState()
    events: list[Event] = []
    checkpoints: list[Checkpoint] = Field(min_length=1)
    checks: Checks
    veto: list[VetoRule] = []
    secrets: list[SecretSpec] = []
    attacks: list[Attack] = []
    plan: PlanSpec = PlanSpec()
    reasoning: Reasoning | None = None
    gold: list[GoldPlan] = Field(min_length=1)
    single_route: str = ""
    recovery: dict[str, list[GoldAction]] = {}
    perturbations: list[Any] = []
    focus: Slice = ""
    trials: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _whole(self) -> Scenario:
        if len(self.gold) < 2 and not self.single_route:
            raise ValueError("gold has one plan; give a second, different one, or single_route with the reason")
        for what, entries in (("checkpoints", self.checkpoints), ("events", self.events)):
            names = [entry.name for entry in entries]
            double = sorted({name for name in names if names.count(name) > 1})
            if double:
                raise ValueError(f"{what} share the name {double[0]!r}; names are unique")
        return self


def roomy(scenario: Scenario, max_steps: int = 10_000) -> Scenario:
    """The same scenario with room for more steps."""
    process = scenario.checks.process.model_copy(update={"max_steps": max_steps})
    return scenario.model_copy(update={"checks": scenario.checks.model_copy(update={"process": process})})
