"""What a domain says for perturbations: ``perturbations.yaml`` in its folder.

Which facts can be read in two places, what may change by itself, where texts of others stand, what an injected order
wants; and, for each kind, the curated scenarios that it does not bite. One file a domain keeps it out of thirty-five
scenarios. A domain without the file has the kinds that need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentgym.domain import Domain
from agentgym.errors import DomainError
from agentgym.loading import read_yaml
from agentgym.scenario import CallSpec, End, Scenario

FILE = "perturbations.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Model):
    """A tool that gives rows of a fact, asked by one argument: at the key ``rows`` of its result, "" for itself.

    ``given`` are other arguments to ask with, such as a large page.

    ``decides`` are fields on which later calls and amounts rest when they are read here; with ``several`` only in a
    result of two rows or more, which are told apart by them.
    """

    tool: str
    ask: str
    rows: str = ""
    given: dict[str, Any] = {}
    decides: list[str] = []
    several: bool = False

    def raw(self, payload: Any) -> list[dict[str, Any]]:
        """The rows in a result, as they stand there."""
        rows = payload.get(self.rows, []) if isinstance(payload, dict) and self.rows else [payload]
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def found(self, payload: Any) -> list[dict[str, Any]]:
        """The rows in a result, each with the scalars that stand above them."""
        above = (
            {k: v for k, v in payload.items() if not isinstance(v, dict | list)} if isinstance(payload, dict) else {}
        )
        return [{**above, **row} for row in self.raw(payload)]


FieldKind = Literal["amount", "count", "moment", "id"] | list[str]
"""How to make a plausible other value; a list has all values."""


class Fact(_Model):
    """Rows of one kind that two or more sources tell of alike, known by ``key``."""

    key: str
    sources: list[Source] = Field(min_length=2)
    fields: dict[str, FieldKind] = Field(min_length=1)


class Change(_Model):
    """A legal change of the world for a while, or for good. ``{ticket}`` and the like stand for the case's own ids."""

    do: dict[str, Any]
    undo: dict[str, Any] = {}
    notice: str
    end: End | None = None


class Turn(_Model):
    """The user changes their mind in mid-task, and with it what is right. Texts may name the scenario's values.

    Attributes:
        name: what they want now, in a word.
        say: what the user says by themselves, by language.
        wants: the calls that they agree to from then on.
        facts: what they answer from then on, besides.
        allows: tools whose calls the scenario's vetoes forbid and that are right now.
        instead: tool of the old wish → tool in its place, in the constraints on the way; empty where nothing is done.
        checks: what must hold in the end, without ``process``.
        checkpoints: in place of the scenario's.
        then: what a plan does once it has read what it reads; ``{of: TOOL, at: a.b}`` takes what the plan's first call
            of that tool has there, bindings may name what the plan reads.
        scenarios: id → values that templates name, beside the case's own.
    """

    name: str
    say: dict[str, str]
    wants: list[Any] = []
    facts: dict[str, Any] = {}
    allows: list[str] = []
    instead: dict[str, str] = {}
    checks: dict[str, Any]
    checkpoints: list[Any] = Field(min_length=1)
    then: list[Any] = Field(min_length=1)
    scenarios: dict[str, dict[str, Any]] = Field(min_length=1)


class Goal(_Model):
    """What an injected order wants; ``where`` names values of the case, of which each must have one of a list."""

    name: str
    goal: CallSpec
    where: dict[str, list[Any]] = {}

    def fits(self, scenario: Scenario) -> bool:
        """Whether the goal can be reached in a scenario."""
        return all(scenario.domain.get(name) in values for name, values in self.where.items())


class Injection(_Model):
    """Where texts of other people stand, and what the orders want.

    Attributes:
        fields: names of fields of results.
        pages: tools whose whole result is such a text.
        goals: what the orders want.
    """

    fields: list[str] = []
    pages: list[str] = []
    goals: list[Goal] = []


class Table(_Model):
    """Everything that a domain says for perturbations.

    Attributes:
        facts: what can be read in two places.
        dynamic_state: changes that pass.
        shutdown: changes that do not, with the right end.
        turns: changes of the user's mind, by scenario.
        attacks: where orders are injected, and what they want.
        asks: what the user is asked for to get a literal, by the form of the literal (a regular expression).
        unbitten: kind → scenario → why that kind changes nothing that matters there.
        unsurvivable: kind → scenario → why no plan reaches the goal, beyond the kinds that never leave one.
    """

    facts: list[Fact] = []
    dynamic_state: list[Change] = []
    shutdown: list[Change] = []
    turns: list[Turn] = []
    attacks: Injection = Injection()
    asks: dict[str, str] = {}
    unbitten: dict[str, dict[str, str]] = {}
    unsurvivable: dict[str, dict[str, str]] = {}


def table_of(domain: Domain) -> Table:
    """The table of a domain; an empty one where it has none.

    Raises:
        DomainError: the file is wrong.
    """
    return _load(domain.folder / FILE)


@lru_cache(maxsize=32)
def _load(path: Path) -> Table:
    if not path.is_file():
        return Table()
    try:
        return Table.model_validate(read_yaml(path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DomainError(f"{path}: {place}: {first['msg']}") from None


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """*template* with each ``{name}`` in its texts and keys replaced; a text that is no more keeps the value's type.

    >>> filled({"tickets": {"{ticket}": {"status": "closed"}}}, {"ticket": "T1"})
    {'tickets': {'T1': {'status': 'closed'}}}
    """
    if isinstance(template, str):
        if template[:1] == "{" and template[1:-1] in values and template[-1:] == "}":
            return values[template[1:-1]]
        for name, value in values.items():
            template = template.replace("{" + name + "}", str(value))
        return template
    if isinstance(template, Mapping):
        return {str(filled(key, values)): filled(value, values) for key, value in template.items()}
    return [filled(entry, values) for entry in template] if isinstance(template, list) else template


def names_of(scenario: Scenario) -> dict[str, Any]:
    """What templates may name: the case's own section."""
    return dict(scenario.domain)
