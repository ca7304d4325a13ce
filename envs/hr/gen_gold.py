"""Pieces of gold plans: bindings and calculations. Labels carry the number of the request."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from agentgym.envs.hr.endpoints import BY_TOOL
from agentgym.generating import like
from agentgym.scenario import GoldAction

Value = Any

_ACTION = GoldAction.model_validate({"name": "x", "as": "x", "arguments": {}})

RESOURCES = "overview session employees departments contracts attendance pay leave recruiting access".split()
"""Sections of the documentation, in its order."""


SECTION_NAMES = (
    "overview introduction basics session caller employee employees emp empl worker associate colleague "
    "person department departments dep dept unit division team section branch contract contracts contr "
    "agreement engagement terms attendance att attend presence clocking pay compensation salary "
    "remuneration wage leave absence away holiday recruiting hiring access rights clearance permissions "
).split()
"""Words that a style may name a section by and that may stand in the policy: the list of sections tells them anyway."""


def act(name: str, label: str = "", /, **arguments: Value) -> GoldAction:
    """One action of gold."""
    return like(_ACTION, name=name, label=label, arguments=arguments)


def of(label: str, path: str = "$") -> dict[str, str]:
    """A binding."""
    return {"from": label, "path": path}


def confirmed(name: str, label: str, arguments: dict[str, Value]) -> list[GoldAction]:
    """Ask, then act."""
    return [act("confirm_with_user", tool=name, arguments=arguments), act(name, label, **arguments)]


ME = act("get_me", "me")
TODAY = of("me", "$.today")
DOCS = act("list_docs", "docs")


@cache
def _page(number: int) -> GoldAction:
    return act("read_docs", f"docs{number}", section=of("docs", f"$.sections[{number}].section"))


@cache
def _docs(resources: frozenset[str]) -> tuple[GoldAction, ...]:
    numbers = [n for n, name in enumerate(RESOURCES) if n == 0 or name in resources]
    return (DOCS, *(_page(n) for n in numbers))


def documented(actions: Iterable[GoldAction]) -> tuple[GoldAction, ...]:
    """Reads of the documentation of everything that these actions use."""
    return _docs(frozenset(BY_TOOL[action.name].resource for action in actions if action.name in BY_TOOL))


@cache
def say(message: str) -> GoldAction:
    """A message without values to look up."""
    return act("respond", message=message)


def who(i: int, name: str) -> GoldAction:
    """Find a person by their name."""
    return act("list_employees", f"who{i}", name=name)


@cache
def who_id(i: int) -> dict[str, str]:
    """The id of the person found."""
    return of(f"who{i}", "$.items[0].employee_id")


@cache
def whole(i: int) -> GoldAction:
    """Read the record of the person found."""
    return act("get_employee", f"person{i}", employee_id=who_id(i))


DEPARTMENTS = act("list_departments", "departments", page=1, page_size=50)


def department_id(name: str) -> dict[str, Value]:
    """The number of a department by its name."""
    sql = "SELECT value ->> 'department_id' FROM json_each(:list) WHERE value ->> 'name' = :name"
    return {"sql": sql, "list": of("departments", "$.items"), "name": name}


def department(i: int, name: str) -> GoldAction:
    """Read a department by its name."""
    return act("get_department", f"department{i}", department_id=department_id(name))


MONEY = (
    "CASE WHEN :currency IN ('JPY') THEN :currency || ' ' || (:amount) "
    "ELSE :currency || ' ' || printf('%d.%02d', (:amount) / 100, (:amount) % 100) END"
)
"""An amount as people write it, of ``:amount`` and ``:currency``."""


def tell(before: str, after: str, amount: Value, currency: Value) -> GoldAction:
    """Tell an amount, between two pieces of text."""
    sql = f"SELECT '{_quoted(before)} ' || ({MONEY.replace(':amount', 'abs(:a)')}) || '{_quoted(after)}'"
    return act("respond", message={"sql": sql, "currency": currency, "a": amount})


def _quoted(value: str) -> str:
    return value.replace("'", "''")


@cache
def month_start(back: int) -> dict[str, Value]:
    """First day of the month so many months back."""
    return {"sql": f"SELECT date(:today, 'start of month', '-{back} month')", "today": TODAY}


@cache
def month_end(back: int) -> dict[str, Value]:
    """Last day of the month so many months back."""
    return {"sql": f"SELECT date(:today, 'start of month', '-{back} month', '+1 month', '-1 day')", "today": TODAY}


@cache
def month(back: int) -> dict[str, Value]:
    """The month so many months back."""
    return {"sql": f"SELECT substr(date(:today, 'start of month', '-{back} month'), 1, 7)", "today": TODAY}


def finish(answer: dict[str, Value], codes: tuple[str, ...], done: bool) -> GoldAction:
    """The end by policy 10; *done*: not everything is refused."""
    if not done:
        return act("finish", outcome="refused", answer={"reason": codes[0]})
    if codes:
        answer = {**answer, "refused": list(codes)}
    return act("finish", outcome="done", answer=answer) if answer else act("finish", outcome="done")
