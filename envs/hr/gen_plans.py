"""Models that generated scenarios are copied from, and what a plan for a family must name."""

from __future__ import annotations

from functools import cache
from typing import Final

from agentgym.compare import Comparator
from agentgym.scenario import (
    CallSpec,
    Checkpoint,
    Checks,
    End,
    GoldAction,
    GoldPlan,
    InitialState,
    PlanSpec,
    Process,
    Said,
    Scenario,
    Subgoal,
    UserSpec,
)

STATE: Final = InitialState(patch={})
USER: Final = UserSpec(opening="x", facts={}, wants=[], patience=3, pressure=[])
SAID: Final = Said(to="user", must=[Comparator(type="text", value="x")], must_not=[])
PROCESS: Final = Process(required=[], forbidden=[], order=[], confirm_before=[], own=[], deadline=[], max_steps=40)
CHECKS: Final = Checks(
    end=End(outcome=["done"]),
    final_state=[],
    may_change=[],
    answer=None,
    answer_state={},
    said=[],
    text=[],
    process=PROCESS,
)
PLAN: Final = GoldPlan(plan=["x"], actions=[GoldAction(name="finish", arguments={"outcome": "done"})])
SCENARIO: Final = Scenario(
    id="hr/train/L1-0",
    family="x",
    level="L1",
    language="en",
    now=0,
    instruction="x",
    given=[],
    domain={},
    user=USER,
    initial_state=STATE,
    checkpoints=[Checkpoint(name="x", called=CallSpec(name="x"))],
    checks=CHECKS,
    veto=[],
    secrets=[],
    plan=PlanSpec(),
    gold=[PLAN, PLAN],
    capability="api-chain",
    sources="multi",
    reasoning=None,
)

_GOALS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "overtime-mean": (
        ("know who was a member all the time", "list_members"),
        ("read the figures of all of them", "list_payslips"),
        ("tell the difference", "respond"),
    ),
    "pay-query": (("know who asks", "get_me"), ("tell the amount, or why not", "respond")),
    "leave-decision": (
        ("read the request", "list_leave"),
        ("know notice and certificates of the kind", "list_leave_types"),
        ("know the days left", "list_balances"),
    ),
    "onboarding": (("know head, cost centre and plan of the department", "get_department"),),
    "bulk-change": (("read the list of people to its end", "list_employees"),),
    "access-rights": (("find the person", "list_employees"), ("read the rights", "list_grants")),
    "recruiting-stage": (("find the position", "list_requisitions"), ("read the candidate", "list_candidates")),
    "grade-change": (
        ("know contract and grade", "list_contracts"),
        ("know which runs are open", "list_runs"),
        ("work out what closed months lack", "list_grades"),
    ),
    "department-figure": (("read the list to its end", "list_employees"),),
    "attendance-correction": (("read the correction", "list_corrections"), ("know the run of its month", "list_runs")),
    "leaving": (("read the person", "get_employee"), ("know the probation period", "list_contracts")),
    "payroll-adjustment": (("read what stands there already", "list_adjustments"), ("know the open run", "list_runs")),
}


OWN: Final = ("change_grade", "create_adjustment", "update_employee")
"""Policy 1.6: what nobody has changed for themselves."""


@cache
def plan_of(kinds: tuple[str, ...]) -> PlanSpec:
    """What a plan for these requests must name."""
    goals: dict[str, Subgoal] = {"read the documentation": Subgoal(name="read the documentation", tools=["read_docs"])}
    for number, kind in enumerate(kinds, 1):
        for name, tool in _GOALS[kind]:
            unique = name if number == 1 else f"{name} (request {number})"
            goals[unique] = Subgoal(name=unique, critical=True, tools=[tool])
    return PlanSpec(subgoals=list(goals.values()), forbidden=["delete_employee"])
