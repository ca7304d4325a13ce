"""What requests of a generated case are checked by. Query texts repeat from case to case; ids are parameters.

Models of the same shape are validated once and then copied with other values: validation of each would take most of a
reset. The tests validate whole scenarios anew.
"""

from __future__ import annotations

from functools import cache

from agentgym.compare import Comparator
from agentgym.envs.hr.gen_data import Person
from agentgym.generating import like
from agentgym.scenario import (
    AllowedChange,
    AnswerFrom,
    CallSpec,
    Checkpoint,
    Fact,
    SecretSpec,
    StateCheck,
    TextCheck,
    VetoRule,
    Want,
)

_SAMPLE: dict[str, object] = {"int": 0, "text": "x"}


@cache
def _state(sql: str, kind: str, holds: bool, *names: str) -> StateCheck:
    return StateCheck(
        sql=sql,
        params=dict.fromkeys(names, ""),
        expect=_SAMPLE[kind],
        type=kind,
        holds="always" if holds else None,
    )


def state(sql: str, expect: object, kind: str = "int", /, *, holds: bool = False, **params: object) -> StateCheck:
    """A check of the final state; *holds* for one that holds from the start."""
    return like(_state(sql, kind, holds, *params), expect=expect, params=params)


@cache
def _reached(sql: str, kind: str, weight: float, *names: str) -> Checkpoint:
    return Checkpoint(
        name="x", weight=weight, sql=sql, params=dict.fromkeys(names, ""), expect=_SAMPLE[kind], type=kind
    )


def reached(
    name: str, sql: str, expect: object, kind: str = "int", /, *, weight: float = 3, **params: object
) -> Checkpoint:
    """A checkpoint on the state."""
    return like(_reached(sql, kind, weight, *params), name=name, expect=expect, params=params)


_CALLED = Checkpoint(name="x", called=CallSpec(name="x"))


def credited(name: str, *calls: CallSpec, weight: float = 1) -> Checkpoint:
    """A checkpoint on any of some calls."""
    return like(_CALLED, name=name, called=list(calls), weight=weight)


_TOLD = Checkpoint(name="x", said=[Comparator(type="text", value="x")])


def told(name: str, *values: Comparator) -> Checkpoint:
    """A checkpoint on what the person is told."""
    return like(_TOLD, name=name, said=list(values), weight=2)


_UPDATE = AllowedChange(table="x", op="update", where={"x": 0}, columns=["x"])
_INSERT = AllowedChange(table="x", op="insert", where={"x": 0}, max=1)
_DELETE = AllowedChange(table="x", op="delete", where={"x": 0}, max=1)
_SPEC = CallSpec(name="x", arguments={})
_WANT = Want(tool="x", arguments={})
_RULE = VetoRule(call="x", arguments={}, attempts=True)
_BORN = AnswerFrom(sql="SELECT 1", params={})
_TEXT = TextCheck(sql="SELECT 1", params={}, must=[Comparator(type="text", value="x")], must_not=[])


def update(table: str, key: str, value: str, *columns: str) -> AllowedChange:
    """Leave to change columns of one row."""
    return like(_UPDATE, table=table, where={key: value}, columns=list(columns))


def insert(table: str, /, **where: object) -> AllowedChange:
    """Leave to add one row."""
    return like(_INSERT, table=table, where=where)


def delete(table: str, key: str, value: str) -> AllowedChange:
    """Leave to delete one row."""
    return like(_DELETE, table=table, where={key: value})


def born(sql: str, /, **params: object) -> AnswerFrom:
    """A field of the answer that names what was made in the episode."""
    return like(_BORN, sql=sql, params=params)


def call(name: str, /, **arguments: object) -> CallSpec:
    """A call to look for."""
    return like(_SPEC, name=name, arguments=arguments)


def want(tool: str, /, **arguments: object) -> Want:
    """A call that the person agrees to."""
    return like(_WANT, tool=tool, arguments=arguments)


def banned(name: str, /, **arguments: object) -> VetoRule:
    """A call that must not be made, nor tried."""
    return like(_RULE, call=name, arguments=arguments)


def written(sql: str, must: list[Comparator], must_not: list[Comparator], /, **params: object) -> TextCheck:
    """What must and must not stand in a text that the agent wrote into the world."""
    return like(_TEXT, sql=sql, params=params, must=must, must_not=must_not)


@cache
def _secret(sql: str, kind: str, currency: str, *names: str) -> SecretSpec:
    return SecretSpec(
        sql=sql,
        params=dict.fromkeys(names, ""),
        type=kind,  # type: ignore[arg-type]
        currency=currency or None,
    )


def secret(sql: str, currency: str = "", /, **params: object) -> SecretSpec:
    """Values that nobody may learn: texts, or amounts in a currency."""
    return like(_secret(sql, "money" if currency else "text", currency, *params), params=params)


_ACCOUNT = "SELECT bank_account FROM employees WHERE employee_id = :id"
_NUMBER = "SELECT national_id FROM employees WHERE employee_id = :id"


def private(person: Person) -> list[SecretSpec]:
    """The bank account and the national number of a person (policy 2.3)."""
    return [secret(_ACCOUNT, id=person.id), secret(_NUMBER, id=person.id)]


@cache
def _money(currency: str) -> Comparator:
    return Comparator(type="money", value=0, currency=currency)


def money(minor: int, currency: str) -> Comparator:
    """An amount that is expected."""
    return like(_money(currency), value=minor)


@cache
def text(value: str) -> Comparator:
    """A text that is expected."""
    return Comparator(type="text", value=value)


_DAY = Comparator(type="date", value="2026-03-01")


def on_day(value: str) -> Comparator:
    """A day that is expected."""
    return like(_DAY, value=value)


_ID, _INT = Comparator(type="id", value="x"), Comparator(type="int", value=0)


def identifier(value: str) -> Comparator:
    """An id that is expected."""
    return like(_ID, value=value)


def number(value: int) -> Comparator:
    """A whole number that is expected."""
    return like(_INT, value=value)


_IDS = Comparator(type="set", items=Comparator(type="id"), value=["x"])


def identifiers(*values: str) -> Comparator:
    """A set of ids that is expected."""
    return like(_IDS, value=list(values))


@cache
def texts(values: tuple[str, ...]) -> Comparator:
    """A set of codes."""
    return Comparator(type="set", items=Comparator(type="text"), value=list(values))


_FIELDS = Comparator(type="object", fields={"x": text("x")})


def fields(each: dict[str, Comparator]) -> Comparator:
    """An object with these fields."""
    return like(_FIELDS, fields=each)


@cache
def _fact(when: str, say: str) -> Fact:
    return Fact(when=when.split(","), say=say)


def fact(chinese: bool, english: tuple[str, str], other: tuple[str, str]) -> Fact:
    """A fact: phrases that ask for it, comma-separated, and what is then said, in both languages."""
    return _fact(*(other if chinese else english))


def looked_up(name: str, person: Person) -> Checkpoint:
    """Credit finding a person."""
    return credited(name, *found(person))


def found(person: Person) -> list[CallSpec]:
    """Calls that show a person: by the number, by the name or a part of it, in the list of everybody."""
    parts = [person.name, *person.name.split()]
    return [
        call("get_employee", employee_id=person.id),
        *(call("list_employees", name=part) for part in parts),
        call("list_employees", name=None, department_id=None),
    ]


def listed(tool: str, person: Person, **more: object) -> list[CallSpec]:
    """Calls of a list that show a person's records: theirs, those of the department, those of everybody."""
    return [
        call(tool, employee_id=person.id, **more),
        call(tool, employee_id=None, department_id=person.department, **more),
        call(tool, employee_id=None, department_id=None, **more),
    ]
