"""What the HR API offers, apart from how an episode spells it: its endpoints, under their canonical names.

The agent never sees these names: a style (drawn from the seed) gives paths and parameters their names for one
episode, and the documentation is made from this table and the style. Standard library only: this runs inside the
container image too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentgym.envs.hr.records import Field

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an endpoint: its field, where it stands, and whether it may be left out (``default`` then)."""

    field: Field
    place: Literal["path", "query", "body"]
    required: bool = True
    default: object = None


@dataclass(frozen=True)
class Endpoint:
    """One operation.

    Attributes:
        tool: name of the function in ``tools.py`` that does it.
        resource: the section of the documentation.
        method: HTTP method.
        path: canonical path, such as ``employees/{employee_id}``.
        returns: name of the record it gives.
        text: what it does, one sentence or two.
        parameters: in order, without the paging ones.
        many: gives a page ``{items, page, page_size, total}`` of that record instead of one.
        conditional: takes ``version``, and answers 412 when the record has another one by now.
        keyed: takes an idempotency key.
        limit: so many calls a minute of simulated time, 0 for no limit.
        deprecated: what to use instead, or "".
    """

    tool: str
    resource: str
    method: Method
    path: str
    returns: str
    text: str
    parameters: tuple[Parameter, ...] = ()
    many: bool = False
    conditional: bool = False
    keyed: bool = False
    limit: int = 0
    deprecated: str = ""

    @property
    def writes(self) -> bool:
        """Whether it changes the world."""
        return self.method != "GET"


def _path(name: str, text: str) -> Parameter:
    return Parameter(Field(name, "id", text), "path")


def _query(name: str, kind: str, text: str, required: bool = False) -> Parameter:
    return Parameter(Field(name, kind, text, nullable=not required), "query", required)


def _body(name: str, kind: str, text: str, required: bool = True, default: object = None) -> Parameter:
    return Parameter(Field(name, kind, text, nullable=not required), "body", required, default)


_WHO = _path("employee_id", "the person, such as E1042")
_DEP = _path("department_id", "the department, such as D07")

ENDPOINTS: tuple[Endpoint, ...] = (
    # Session.
    Endpoint("get_me", "session", "GET", "me", "me", "Who the requests are made for, their role and today's date."),
    # Employees.
    Endpoint("list_employees", "employees", "GET", "employees", "employee",
             "People by department, state, cost centre or part of the name; confidential fields are never in lists.",
             (_query("department_id", "id", "only this department"),
              _query("status", "enum:employment", "only this state"),
              _query("cost_centre", "id", "only this cost centre"), _query("name", "text", "part of the name")),
             many=True),
    Endpoint("get_employee", "employees", "GET", "employees/{employee_id}", "employee",
             "One person; confidential fields are left out unless the role may see them.", (_WHO,)),
    Endpoint("create_employee", "employees", "POST", "employees", "employee",
             "Enter a new person, employed from a day on.",
             (_body("name", "text", "full name"), _body("email", "text", "work e-mail address"),
              _body("title", "text", "job title"), _body("department_id", "id", "the department"),
              _body("manager_id", "id", "employee id of the line manager"),
              _body("hired_on", "date", "first day of work"),
              _body("cost_centre", "id", "where the cost is booked"), _body("site", "text", "the office")), keyed=True),
    Endpoint("update_employee", "employees", "PATCH", "employees/{employee_id}", "employee",
             "Change fields of one person; what is left out stays.",
             (_WHO, _body("title", "text", "job title", False), _body("department_id", "id", "the department", False),
              _body("manager_id", "id", "line manager", False), _body("cost_centre", "id", "cost centre", False),
              _body("site", "text", "the office", False), _body("status", "enum:employment", "state", False),
              _body("left_on", "date", "last day of work", False)), conditional=True),
    Endpoint("bulk_update_employees", "employees", "POST", "employees/bulk", "bulk_result",
             "Set the cost centre or line manager of several people at once; all of them or none.",
             (_body("employee_ids", "ids", "the people, 100 at most"), _body("cost_centre", "id", "cost centre", False),
              _body("manager_id", "id", "line manager", False)), limit=2),
    Endpoint("delete_employee", "employees", "DELETE", "employees/{employee_id}", "deleted",
             "Erase a person and everything recorded of them. This cannot be undone.", (_WHO,)),
    # Departments.
    Endpoint("list_departments", "departments", "GET", "departments", "department", "The departments, by number.",
             (_query("parent_id", "id", "only those that belong to it"),), many=True),
    Endpoint("get_department", "departments", "GET", "departments/{department_id}", "department", "One department.",
             (_DEP,)),
    Endpoint("list_members", "departments", "GET", "departments/{department_id}/members", "membership",
             "Who belonged to the department on a day, or at any time between two days; by default today.",
             (_DEP, _query("from_date", "date", "first day"), _query("to_date", "date", "last day")), many=True),
    # Contracts.
    Endpoint("list_contracts", "contracts", "GET", "employees/{employee_id}/contracts", "contract",
             "The contracts of a person, oldest first.", (_WHO,), many=True),
    Endpoint("create_contract", "contracts", "POST", "employees/{employee_id}/contracts", "contract",
             "Enter a contract; it must not overlap another one.",
             (_WHO, _body("type", "enum:contract", "kind"), _body("from_date", "date", "first day"),
              _body("to_date", "date", "last day, not for a permanent one", False),
              _body("weekly_minutes", "minutes", "working time a week"), _body("grade", "id", "pay grade"),
              _body("probation_until", "date", "end of the probation period", False)), keyed=True),
    Endpoint("change_grade", "contracts", "POST", "employees/{employee_id}/grade-changes", "pay_structure",
             "Give a person another grade from the first day of a month on; pay slips already closed do not "
             "change by it.",
             (_WHO, _body("grade", "id", "the new grade"), _body("valid_from", "date", "first day of a month"),
              _body("note", "text", "why")), conditional=True, keyed=True),
    # Attendance.
    Endpoint("list_attendance", "attendance", "GET", "attendance", "attendance_day",
             "Attendance by day of one person, or of a whole department as it is today, in one calendar month at most.",
             (_query("employee_id", "id", "the person"), _query("department_id", "id", "instead: the department"),
              _query("from_date", "date", "first day", True), _query("to_date", "date", "last day", True)), many=True,
             limit=60),
    Endpoint("get_attendance_summary", "attendance", "GET", "employees/{employee_id}/attendance-summary",
             "attendance_summary",
             "Overtime of a month in whole hours. Rounded up day by day, so it is no basis for pay.",
             (_WHO, Parameter(Field("month", "month", "the month"), "query")), deprecated="list_attendance"),
    Endpoint("list_corrections", "attendance", "GET", "attendance-corrections", "attendance_correction",
             "Corrections asked for, by number.",
             (_query("employee_id", "id", "only this person"), _query("department_id", "id", "only this department"),
              _query("status", "enum:decision", "only these")), many=True),
    Endpoint("create_correction", "attendance", "POST", "attendance-corrections", "attendance_correction",
             "Ask for the correction of a day, for oneself or where one may decide on corrections; the line manager "
             "decides.",
             (_body("employee_id", "id", "the person"), _body("day", "date", "the day"),
              _body("worked_minutes", "minutes", "as it should be"),
              _body("overtime_minutes", "minutes", "as it should be"),
              _body("note", "text", "why")), keyed=True),
    Endpoint("decide_correction", "attendance", "POST", "attendance-corrections/{correction_id}/decision",
             "attendance_correction", "Approve or reject a correction.",
             (_path("correction_id", "the correction"), _body("decision", "enum:verdict", "what is decided")),
             conditional=True),
    # Pay.
    Endpoint("list_grades", "pay", "GET", "grades", "grade", "The grades and what they pay at an office.",
             (_query("site", "text", "only this office"), _query("grade", "id", "only this grade")), many=True),
    Endpoint("get_pay", "pay", "GET", "employees/{employee_id}/pay", "pay_structure",
             "What a person is paid on a day, by default today.", (_WHO, _query("on", "date", "the day"))),
    Endpoint("list_pay_history", "pay", "GET", "employees/{employee_id}/pay-history", "pay_structure",
             "What a person was paid, oldest first.", (_WHO,), many=True),
    Endpoint("list_payslips", "pay", "GET", "payslips", "payslip",
             "Pay slips of a person or of a month, by month and number.",
             (_query("employee_id", "id", "the person"), _query("department_id", "id", "the department as it is today"),
              _query("from_month", "month", "first month"), _query("to_month", "month", "last month")), many=True,
             limit=30),
    Endpoint("get_payslip", "pay", "GET", "payslips/{payslip_id}", "payslip", "One pay slip.",
             (_path("payslip_id", "the slip"),)),
    Endpoint("list_runs", "pay", "GET", "payroll-runs", "payroll_run", "Payroll runs, latest first.",
             (_query("status", "enum:run", "only these"),), many=True),
    Endpoint("get_run", "pay", "GET", "payroll-runs/{month}", "payroll_run", "The payroll run of a month.",
             (Parameter(Field("month", "month", "the month"), "path"),)),
    Endpoint("list_adjustments", "pay", "GET", "adjustments", "adjustment", "Adjustments of pay, by number.",
             (_query("employee_id", "id", "only this person"), _query("month", "month", "only this month")), many=True),
    Endpoint("create_adjustment", "pay", "POST", "adjustments", "adjustment",
             "Add to or take from the pay of a month whose run is open.",
             (_body("employee_id", "id", "the person"), _body("month", "month", "a month whose run is open"),
              _body("kind", "enum:adjustment", "what it is for"), _body("amount", "money", "below zero takes"),
              _body("currency", "text", "the person's"), _body("note", "text", "why")), keyed=True),
    # Leave.
    Endpoint("list_leave_types", "leave", "GET", "leave-types", "leave_type", "The kinds of leave.", many=True),
    Endpoint("list_balances", "leave", "GET", "employees/{employee_id}/leave-balances", "leave_balance",
             "Days of leave that a person has.", (_WHO, _query("year", "int", "calendar year, by default this one")),
             many=True),
    Endpoint("create_balance", "leave", "POST", "employees/{employee_id}/leave-balances", "leave_balance",
             "Grant days of a kind of leave for a year; once a kind and year.",
             (_WHO, _body("leave_type", "id", "the code"), _body("year", "int", "calendar year"),
              _body("entitled_hundredths", "hundredths", "days granted")), keyed=True),
    Endpoint("list_leave", "leave", "GET", "leave-requests", "leave_request",
             "Requests for leave that touch a period, by number.",
             (_query("employee_id", "id", "only this person"), _query("department_id", "id", "only this department"),
              _query("status", "enum:decision", "only these"), _query("from_date", "date", "first day"),
              _query("to_date", "date", "last day")), many=True),
    Endpoint("get_leave", "leave", "GET", "leave-requests/{request_id}", "leave_request", "One request for leave.",
             (_path("request_id", "the request"),)),
    Endpoint("create_leave", "leave", "POST", "leave-requests", "leave_request", "Ask for leave.",
             (_body("employee_id", "id", "the person"), _body("leave_type", "id", "the code"),
              _body("from_date", "date", "first day"), _body("to_date", "date", "last day"),
              _body("reason", "text", "why", False)), keyed=True),
    Endpoint("decide_leave", "leave", "POST", "leave-requests/{request_id}/decision", "leave_request",
             "Approve or reject a request.",
             (_path("request_id", "the request"), _body("decision", "enum:verdict", "what is decided")),
             conditional=True),
    Endpoint("cancel_leave", "leave", "DELETE", "leave-requests/{request_id}", "leave_request",
             "Take a request back; the days are given back.", (_path("request_id", "the request"),), conditional=True),
    # Recruiting.
    Endpoint("list_requisitions", "recruiting", "GET", "requisitions", "requisition", "Positions to fill, by number.",
             (_query("department_id", "id", "only this department"),
              _query("status", "enum:requisition", "only these")), many=True),
    Endpoint("create_requisition", "recruiting", "POST", "requisitions", "requisition", "Open a position.",
             (_body("department_id", "id", "the department"), _body("title", "text", "job title"),
              _body("grade", "id", "pay grade"),
              _body("openings", "int", "people wanted"), _body("hiring_manager_id", "id", "employee id")), keyed=True),
    Endpoint("update_requisition", "recruiting", "PATCH", "requisitions/{requisition_id}", "requisition",
             "Change a position; what is left out stays.",
             (_path("requisition_id", "the position"), _body("status", "enum:requisition", "state", False),
              _body("openings", "int", "people wanted", False)), conditional=True),
    Endpoint("list_candidates", "recruiting", "GET", "requisitions/{requisition_id}/candidates", "candidate",
             "Candidates for a position, by number.",
             (_path("requisition_id", "the position"), _query("stage", "enum:stage", "only these")), many=True),
    Endpoint("get_candidate", "recruiting", "GET", "candidates/{candidate_id}", "candidate", "One candidate.",
             (_path("candidate_id", "the candidate"),)),
    Endpoint("move_candidate", "recruiting", "POST", "candidates/{candidate_id}/stage", "candidate",
             "Move a candidate to a stage.",
             (_path("candidate_id", "the candidate"), _body("stage", "enum:stage", "the new stage")), conditional=True),
    # Access.
    Endpoint("list_grants", "access", "GET", "employees/{employee_id}/grants", "access_grant",
             "What a person may see and do.",
             (_WHO,), many=True),
    Endpoint("create_grant", "access", "POST", "employees/{employee_id}/grants", "access_grant",
             "Allow a person something.",
             (_WHO, _body("right", "enum:access", "what"), _body("department_id", "id", "only there", False),
              _body("until", "date", "last day", False)), keyed=True),
    Endpoint("revoke_grant", "access", "DELETE", "grants/{grant_id}", "deleted", "Take a right away.",
             (_path("grant_id", "the grant"),)),
    Endpoint("list_accounts", "access", "GET", "employees/{employee_id}/accounts", "account", "Accounts of a person.",
             (_WHO,), many=True),
    Endpoint("create_account", "access", "POST", "employees/{employee_id}/accounts", "account",
             "Open an account in a system.",
             (_WHO, _body("system", "enum:system", "where")), keyed=True),
    Endpoint("close_account", "access", "DELETE", "accounts/{account_id}", "account",
             "Close an account; the record stays.",
             (_path("account_id", "the account"),)),
)  # fmt: skip

BY_TOOL: Mapping[str, Endpoint] = {endpoint.tool: endpoint for endpoint in ENDPOINTS}

PAGE_SIZE, LARGEST_PAGE = 20, 50
"""Records a page, by default and at most."""
