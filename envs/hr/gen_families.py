"""The families of generated scenarios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentgym.envs.hr import (
    gen_corrections,
    gen_figures,
    gen_grades,
    gen_groups,
    gen_hiring,
    gen_joining,
    gen_leave,
    gen_rights,
)
from agentgym.envs.hr.gen_case import Case
from agentgym.envs.hr.gen_request import Request

HR = ("hr_admin", "hr_partner")
EVERYBODY = ("employee", "manager", "recruiter", "payroll_officer", *HR)


@dataclass(frozen=True)
class Family:
    """One family.

    Attributes:
        name: as in the scenario.
        make: adds a request to a case: (case, number of the request, hard); None if the case has nobody for it.
        roles: in which its caller may act.
        keys: keys of the answer that only one request of a case may have.
    """

    name: str
    make: Callable[[Case, int, bool], Request | None]
    roles: tuple[str, ...]
    keys: frozenset[str]


_FIGURE = frozenset({"currency"})

FAMILIES = (
    Family("overtime-mean", gen_figures.overtime_mean, ("manager", "manager", *HR), _FIGURE),
    Family("pay-query", gen_figures.pay_query, ("employee", "manager", "payroll_officer", *HR), _FIGURE),
    Family("leave-decision", gen_leave.leave_decision, ("manager", *HR), frozenset({"request_ids"})),
    Family("attendance-correction", gen_corrections.attendance_correction, ("manager", *HR), _FIGURE),
    Family("onboarding", gen_joining.onboarding, HR, frozenset({"employee_id"})),
    Family("bulk-change", gen_groups.bulk_change, HR, frozenset({"count"})),
    Family("access-rights", gen_rights.access_rights, HR, frozenset()),
    Family("recruiting-stage", gen_hiring.recruiting_stage, ("recruiter", *HR), frozenset()),
    Family("grade-change", gen_grades.grade_change, ("payroll_officer", *HR), _FIGURE),
    Family("department-figure", gen_groups.head_count, EVERYBODY, frozenset({"count"})),
)
