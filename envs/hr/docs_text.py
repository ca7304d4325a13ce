"""Sentences of the documentation that no table of endpoints says: what values mean, and who may do what.

``{field}`` and ``{enum:role:manager}`` stand for what a style calls that field or value.
"""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "overview": "How requests, lists, formats and errors work",
    "session": "Who the requests are made for",
    "employees": "People who work here, and those who left",
    "departments": "Departments and who belongs to them",
    "contracts": "Contracts of employment and changes of grade",
    "attendance": "Working time by day, overtime, corrections",
    "pay": "Pay, grades, pay slips, payroll runs, adjustments",
    "leave": "Kinds of leave, days left, requests for leave",
    "recruiting": "Positions to fill and candidates",
    "access": "What people may see and do, and their accounts",
    "rules": "Which role may see and change what",
    "changelog": "Changes and what is deprecated",
    "openapi": "The OpenAPI document (JSON, long)",
}

VALUES: Mapping[str, Mapping[str, str]] = {
    "employment": {
        "active": "is employed and works",
        "on_leave": "is employed and on a long leave",
        "notice_given": "is employed, the employment has been ended and runs out",
        "left": "is not employed any more",
    },
    "role": {
        "employee": "everybody, for themselves",
        "manager": "leads departments",
        "hr_partner": "HR partner of departments",
        "payroll_officer": "runs payroll",
        "recruiter": "fills positions",
        "hr_admin": "administers people and rights",
    },
    "contract": {
        "permanent": "without an end",
        "fixed_term": "until a day",
        "working_student": "part time beside studies",
        "intern": "for training",
    },
    "day": {
        "worked": "a working day",
        "weekend": "Saturday or Sunday",
        "public_holiday": "a holiday at the office",
        "vacation": "paid leave",
        "sick": "ill",
        "unpaid": "leave without pay",
        "absent": "did not come, without leave",
    },
    "decision": {
        "pending": "nobody has decided yet",
        "approved": "agreed to",
        "rejected": "not agreed to",
        "cancelled": "taken back",
    },
    "verdict": {"approved": "agree", "rejected": "do not agree"},
    "run": {
        "open": "entries count for this month",
        "cut_off": "no entries any more, not paid yet",
        "closed": "paid",
    },
    "adjustment": {
        "grade_change": "difference of pay after a change of grade",
        "overtime": "pay for overtime",
        "correction": "an error put right",
        "bonus": "a reward",
        "repayment": "taken back from the person",
    },
    "requisition": {
        "draft": "being written",
        "open": "candidates are sought",
        "on_hold": "paused",
        "filled": "everybody has been hired",
        "closed": "given up",
    },
    "stage": {
        "applied": "the application has come in",
        "screening": "the papers are looked at",
        "interview": "interviews take place",
        "offer": "a contract has been offered",
        "hired": "has signed",
        "withdrawn": "does not want the position any more",
        "turned_down": "was not chosen",
    },
    "source": {
        "referral": "by somebody who works here",
        "job_board": "by an advertisement",
        "agency": "by an agency",
        "careers_page": "by the company's own site",
    },
    "system": {
        "mail": "e-mail",
        "time_clock": "recording of working time",
        "expenses": "expense claims",
        "vpn": "access from outside",
        "code_host": "source code",
        "crm": "customers",
    },
    "access": {
        "view_directory": "see people and departments",
        "view_attendance": "see working time",
        "view_pay": "see pay",
        "change_pay": "enter adjustments and grades",
        "decide_leave": "decide on leave and corrections of attendance, and ask for them for others",
        "recruit": "see and move candidates",
        "administer": "everything",
    },
}
"""Enumeration → value → what it means."""

RULES: tuple[tuple[str, str], ...] = (
    ("employee", "Sees the directory (people without confidential fields, departments and their members) and all of "
     "their own records; asks for leave and corrections of attendance for themselves."),
    ("manager", "Besides: sees attendance, leave and pay of the people in the departments that they manage and in "
     "those below; of attendance and leave also those of everybody who reports to them. Decides on this leave and "
     "these corrections, and asks for them for these people. Sees the positions and candidates of these "
     "departments. Does not read why somebody is ill."),
    ("hr_partner", "Besides: sees and changes people, contracts, grades, pay, attendance, leave, positions, "
     "candidates, rights and accounts in the departments whose HR partner they are."),
    ("payroll_officer", "Besides: sees attendance and pay of everybody, tax numbers and bank accounts included; "
     "changes grades and enters adjustments."),
    ("recruiter", "Besides: sees and changes all positions and candidates, checks of their background included."),
    ("hr_admin", "Sees and changes everything. Only this role erases a person, or gives and takes the rights "
     "{enum:access:view_pay}, {enum:access:change_pay} and {enum:access:administer}."),
)  # fmt: skip
"""Role → what it may do."""

CONFIDENTIAL = (
    "Fields marked *confidential* are left out of an answer when the role may not see them; that they are missing says "
    "nothing about their value. Lists of people never have them. What a role may not do at all is answered by "
    "an error. A "
    "right given to one person ({right}) adds to what their role may do, in one department or everywhere, until "
    "the day "
    "named. Whoever sees confidential data must not pass it on to somebody who may not."
)
