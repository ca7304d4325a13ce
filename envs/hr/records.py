"""What the HR API speaks of: the fields of its records and its enumerations, under their canonical names.

The agent never sees these names: a style (drawn from the seed) gives fields, values and formats their names for one
episode, and the documentation is made from this table and the style. Standard library only: this runs inside the
container image too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """A field of a record, or a parameter of an endpoint.

    Attributes:
        name: canonical.
        kind: ``id`` ``text`` ``int`` ``bool`` ``date`` (2026-03-14) ``month`` (2026-03) ``moment``
            (2026-03-14T09:30:00Z)
            ``money`` (integer of the minor unit of the ``currency`` beside it) ``minutes`` ``hundredths`` (1.5 is 150)
            ``enum:NAME`` ``record:NAME`` ``list:NAME`` (of records) ``ids`` (list of ids) ``enums:NAME`` (list).
        text: what the documentation says of it.
        nullable: may be null.
        confidential: only some roles are shown it; left out for the others.
        documented: False for the field that no page of the documentation mentions.
    """

    name: str
    kind: str
    text: str
    nullable: bool = False
    confidential: bool = False
    documented: bool = True


ENUMS: Mapping[str, tuple[str, ...]] = {
    "employment": ("active", "on_leave", "notice_given", "left"),
    "role": ("employee", "manager", "hr_partner", "payroll_officer", "recruiter", "hr_admin"),
    "contract": ("permanent", "fixed_term", "working_student", "intern"),
    "day": ("worked", "weekend", "public_holiday", "vacation", "sick", "unpaid", "absent"),
    "decision": ("pending", "approved", "rejected", "cancelled"),
    "verdict": ("approved", "rejected"),
    "run": ("open", "cut_off", "closed"),
    "adjustment": ("grade_change", "overtime", "correction", "bonus", "repayment"),
    "requisition": ("draft", "open", "on_hold", "filled", "closed"),
    "stage": ("applied", "screening", "interview", "offer", "hired", "withdrawn", "turned_down"),
    "source": ("referral", "job_board", "agency", "careers_page"),
    "system": ("mail", "time_clock", "expenses", "vpn", "code_host", "crm"),
    "access": ("view_directory", "view_attendance", "view_pay", "change_pay", "decide_leave", "recruit", "administer"),
}

_EMPLOYEE = Field("employee_id", "id", "the person, such as E1042")
_DEPARTMENT = Field("department_id", "id", "the department, such as D07")
_CURRENCY = Field("currency", "text", "ISO 4217 code of every amount in this record")
_VERSION = Field("version", "int", "rises with every change of the record; an update names the version that it read")
_FROM = Field("from_date", "date", "first day, included")
_TO = Field("to_date", "date", "last day, included")
_NOTE = Field("note", "text", "why, in words")
_CREATED = Field("created_at", "moment", "when it was entered")

RECORDS: Mapping[str, tuple[Field, ...]] = {
    "me": (
        _EMPLOYEE,
        Field("name", "text", "full name"),
        Field("role", "enum:role", "the role in which requests are made"),
        _DEPARTMENT,
        Field("manages", "ids", "departments that the person manages"),
        Field("partner_of", "ids", "departments that the person is HR partner of"),
        Field("today", "date", "the current day"),
    ),
    "employee": (
        _EMPLOYEE,
        Field("name", "text", "full name"),
        Field("email", "text", "work e-mail address"),
        Field("title", "text", "job title"),
        _DEPARTMENT,
        Field("manager_id", "id", "employee id of the line manager", nullable=True),
        Field("status", "enum:employment", "state of the employment"),
        Field("hired_on", "date", "first day of work"),
        Field("left_on", "date", "last day of work", nullable=True),
        Field("cost_centre", "id", "where the cost is booked"),
        Field("site", "text", "the office"),
        Field("grade", "id", "pay grade, such as G5", nullable=True, confidential=True),
        Field("birth_date", "date", "date of birth", nullable=True, confidential=True),
        Field("national_id", "text", "tax or social security number", nullable=True, confidential=True),
        Field("bank_account", "text", "account that pay goes to", nullable=True, confidential=True),
        _VERSION,
        Field("legacy_ref", "text", "number in the old system", documented=False),
    ),
    "department": (
        _DEPARTMENT,
        Field("name", "text", "its name"),
        Field("parent_id", "id", "the department that it belongs to", nullable=True),
        Field("manager_id", "id", "employee id of its manager"),
        Field("partner_id", "id", "employee id of its HR partner"),
        Field("cost_centre", "id", "where its cost is booked by default"),
        Field("headcount", "int", "people employed in it today, the manager included"),
        Field("headcount_plan", "int", "people planned for it"),
    ),
    "membership": (
        _EMPLOYEE,
        Field("name", "text", "full name"),
        _DEPARTMENT,
        Field("from_date", "date", "first day in the department"),
        Field("to_date", "date", "last day in it", nullable=True),
    ),
    "contract": (
        Field("contract_id", "id", "the contract, such as K2001"),
        _EMPLOYEE,
        Field("type", "enum:contract", "kind of contract"),
        Field("from_date", "date", "first day"),
        Field("to_date", "date", "last day, none if it is permanent", nullable=True),
        Field("weekly_minutes", "minutes", "working time a week"),
        Field("grade", "id", "pay grade", confidential=True),
        Field("probation_until", "date", "end of the probation period", nullable=True),
        _VERSION,
    ),
    "grade": (
        Field("grade", "id", "the grade, such as G5"),
        Field("site", "text", "the office that the amounts are for"),
        Field("monthly_base", "money", "base pay a month"),
        Field("overtime_percent", "int", "an hour of overtime costs so many hundredths of a normal hour"),
        Field("hourly_rate", "money", "pay of a normal hour"),
        _CURRENCY,
        Field("valid_from", "date", "first day on which the amounts hold"),
    ),
    "pay_structure": (
        _EMPLOYEE,
        Field("grade", "id", "pay grade"),
        Field("monthly_base", "money", "base pay a month", confidential=True),
        Field("hourly_rate", "money", "pay of a normal hour", confidential=True),
        Field("overtime_percent", "int", "an hour of overtime costs so many hundredths of a normal hour"),
        _CURRENCY,
        Field("valid_from", "date", "first day on which it holds"),
        Field("valid_to", "date", "last day, none if it still holds", nullable=True),
    ),
    "attendance_day": (
        _EMPLOYEE,
        Field("day", "date", "the day"),
        Field("kind", "enum:day", "what the day was"),
        Field("worked_minutes", "minutes", "time worked, overtime included"),
        Field("overtime_minutes", "minutes", "time beyond the contract that was approved"),
        Field("corrected", "bool", "an approved correction is in these figures"),
    ),
    "attendance_summary": (
        _EMPLOYEE,
        Field("month", "month", "the month"),
        Field("overtime_hours", "int", "overtime, whole hours, each day rounded up"),
    ),
    "attendance_correction": (
        Field("correction_id", "id", "the correction, such as AC3001"),
        _EMPLOYEE,
        Field("day", "date", "the day"),
        Field("worked_minutes", "minutes", "time worked, as it should be"),
        Field("overtime_minutes", "minutes", "overtime, as it should be"),
        Field("status", "enum:decision", "where it stands"),
        _NOTE,
        Field("requested_by", "id", "employee id of who asked"),
        Field("decided_by", "id", "employee id of who decided", nullable=True),
        _VERSION,
    ),
    "payslip": (
        Field("payslip_id", "id", "the slip, such as P10042-2026-02"),
        _EMPLOYEE,
        Field("month", "month", "the month paid"),
        Field("base", "money", "base pay"),
        Field("overtime", "money", "pay for overtime"),
        Field("adjustments", "money", "what adjustments added or took"),
        Field("gross", "money", "the sum of the three"),
        Field("deductions", "money", "tax and social security"),
        Field("net", "money", "gross less deductions"),
        _CURRENCY,
        Field("run_id", "id", "the payroll run"),
    ),
    "payroll_run": (
        Field("run_id", "id", "the run, such as PR2026-03"),
        Field("month", "month", "the month paid"),
        Field("cut_off", "date", "what is entered after this day counts for the next month"),
        Field("pay_day", "date", "when it is paid"),
        Field("status", "enum:run", "where it stands"),
    ),
    "adjustment": (
        Field("adjustment_id", "id", "the adjustment, such as AJ4001"),
        _EMPLOYEE,
        Field("month", "month", "the month whose pay it changes"),
        Field("kind", "enum:adjustment", "what it is for"),
        Field("amount", "money", "added to pay; below zero takes"),
        _CURRENCY,
        _NOTE,
        Field("entered_by", "id", "employee id of who entered it"),
        _CREATED,
    ),
    "leave_type": (
        Field("leave_type", "id", "the code, such as ANNUAL"),
        Field("name", "text", "what it is called"),
        Field("paid", "bool", "whether pay goes on"),
        Field("needs_certificate_after_days", "int", "so many days in a row without a certificate", nullable=True),
        Field("notice_days", "int", "calendar days before the first day by which it must be asked for"),
    ),
    "leave_balance": (
        _EMPLOYEE,
        Field("leave_type", "id", "the code"),
        Field("year", "int", "calendar year"),
        Field("entitled_hundredths", "hundredths", "days granted"),
        Field("taken_hundredths", "hundredths", "days used, approved ones included"),
        Field("left_hundredths", "hundredths", "days that are left"),
        Field("carried_until", "date", "carried days expire after it", nullable=True),
    ),
    "leave_request": (
        Field("request_id", "id", "the request, such as LR50012"),
        _EMPLOYEE,
        Field("leave_type", "id", "the code"),
        _FROM,
        _TO,
        Field("days_hundredths", "hundredths", "working days that it takes"),
        Field("status", "enum:decision", "where it stands"),
        Field("reason", "text", "why", nullable=True, confidential=True),
        Field("decided_by", "id", "employee id of who decided", nullable=True),
        _CREATED,
        _VERSION,
    ),
    "requisition": (
        Field("requisition_id", "id", "the position to fill, such as RQ601"),
        _DEPARTMENT,
        Field("title", "text", "job title"),
        Field("grade", "id", "pay grade"),
        Field("status", "enum:requisition", "where it stands"),
        Field("openings", "int", "people wanted"),
        Field("filled", "int", "people hired so far"),
        Field("hiring_manager_id", "id", "employee id"),
        Field("opened_on", "date", "since when it is open"),
        _VERSION,
    ),
    "candidate": (
        Field("candidate_id", "id", "the candidate, such as CA7001"),
        Field("requisition_id", "id", "the position"),
        Field("name", "text", "full name"),
        Field("email", "text", "e-mail address"),
        Field("stage", "enum:stage", "where they stand"),
        Field("score_hundredths", "hundredths", "mean of the interviews, 1 to 5", nullable=True),
        Field("source", "enum:source", "where they came from"),
        Field("applied_on", "date", "when"),
        Field("expected_pay", "money", "what they asked for a month", nullable=True, confidential=True),
        _CURRENCY,
        Field("background_note", "text", "result of the background check", nullable=True, confidential=True),
        _VERSION,
    ),
    "access_grant": (
        Field("grant_id", "id", "the grant, such as AG8001"),
        _EMPLOYEE,
        Field("right", "enum:access", "what it allows"),
        Field("department_id", "id", "only there; none for everywhere", nullable=True),
        Field("until", "date", "last day", nullable=True),
        Field("granted_by", "id", "employee id of who gave it"),
    ),
    "account": (
        Field("account_id", "id", "the account, such as AT9001"),
        _EMPLOYEE,
        Field("system", "enum:system", "where"),
        Field("active", "bool", "whether it can be used"),
    ),
    "bulk_result": (
        Field("updated", "ids", "employees that were changed"),
        Field("unchanged", "ids", "employees that had the value already"),
    ),
    "deleted": (Field("id", "id", "what is gone"),),
}
