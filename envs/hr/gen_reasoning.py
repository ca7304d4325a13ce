"""The reasoning score of generated cases: 6 points for the logic of a chain, 4 for what nobody spelt out.

As with the checks, the models of one shape are validated once and copied with other values.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from agentgym.chain_spec import Masked, Point, Reasoning
from agentgym.compare import Comparator
from agentgym.envs.hr.gen_data import CLOSED
from agentgym.envs.hr.gen_means import Comparison
from agentgym.envs.hr.seed import last_of
from agentgym.generating import like

_FOUND = ["list_employees", "get_employee"]
_FIGURES = ["list_payslips", "list_attendance"]

_SEEN = (
    "SELECT overtime_minor FROM payslips WHERE employee_id IN (SELECT value FROM json_each(:ids)) "
    "AND month >= :first AND month <= :last AND overtime_minor >= 1000 AND overtime_minor % 100 != 0 "
    "AND overtime_minor != :told"
)
"""Slips that nobody reads off a text by chance, without one that is the difference itself."""

_MASKED = Masked(sql=_SEEN, params={"ids": "[]", "first": "", "last": "", "told": 0}, type="money", currency="EUR",
                 to=["user"])  # fmt: skip


def _point(name: str, weight: float, **condition: Any) -> Point:
    return Point.model_validate({"name": name, "weight": weight, **condition})


_REASONING = Reasoning(
    logic=[_point("x", 6, called="get_me")],
    implicit=[_point("y", 4, called="get_me")],
)


@cache
def _fixed(department: str, months: int) -> dict[str, Point]:
    """The points that hang on the department and the period alone, and those that the others are copied from."""
    first, last = CLOSED[-months], CLOSED[-1]
    days = {"from": f"{first}-01", "to": last_of(last)}
    members = {"name": "list_members", "arguments": {"department_id": department}}
    figures = [
        {"period": {"call": {"name": name}, **days, "arguments": arguments, "exact": False}}
        for name, arguments in (
            ("list_payslips", ["from_month", "to_month"]),
            ("list_attendance", ["from_date", "to_date"]),
        )
    ]
    value = {"type": "money", "value": 0, "currency": "EUR"}
    told = {"said": [value]}
    return {
        "roster": _point("the roster to its end", 2, read_to_end={"call": members}),
        "figures": _point("figures of the whole period", 2, any_of=figures),
        "person": _point("the person before the figures", 1, order=[_FOUND, _FIGURES]),
        "told": _point("the difference", 1, **told),
        "kept": _point("pay of others kept back", 2, needs=["figures of the whole period"], masked=_MASKED),
        "before": _point(
            "roster before the mean", 1, before={"first": {"read_to_end": {"call": members}}, "then": told}
        ),
        "period": _point(
            "members of exactly that period", 1, period={"call": members, **days, "arguments": ["from_date", "to_date"]}
        ),
    }


def compared(found: Comparison, told: Comparator) -> Reasoning:
    """Of one person beside the mean of a department.

    Args:
        found: whom and over which months.
        told: the difference, as the user is told it.
    """
    points = _fixed(found.person.department, found.months)
    params = {"ids": json.dumps(found.ids), "first": CLOSED[-found.months], "last": CLOSED[-1], "told": told.value}
    mask = like(_MASKED, params=params, currency=found.person.currency)
    before = points["before"].before
    if before is None:
        raise ValueError("expected a point about what came first, got another one")
    return like(
        _REASONING,
        logic=[points["roster"], points["figures"], points["person"], like(points["told"], said=[told])],
        implicit=[
            like(points["kept"], masked=mask),
            like(points["before"], before=like(before, then=like(before.then, said=[told]))),
            points["period"],
        ],
    )
