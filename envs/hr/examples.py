"""Example records and arguments for the documentation: canonical, the same for every style, of nobody in particular."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.envs.hr.endpoints import Endpoint
from agentgym.envs.hr.records import ENUMS, RECORDS, Field

_TEXTS: Mapping[str, Any] = {
    "account_id": "AT9900",
    "adjustment_id": "AJ4900",
    "candidate_id": "CA7900",
    "contract_id": "K2900",
    "correction_id": "AC3900",
    "cost_centre": "C990",
    "currency": "EUR",
    "department_id": "D90",
    "email": "alex.example@example.com",
    "grade": "G9",
    "grant_id": "AG8900",
    "id": "AG8900",
    "leave_type": "ANNUAL",
    "legacy_ref": "0",
    "month": "2025-11",
    "name": "Alex Example",
    "note": "as agreed",
    "overtime_percent": 125,
    "parent_id": "D91",
    "payslip_id": "P19900-2025-11",
    "reason": "family",
    "request_id": "LR5900",
    "requisition_id": "RQ690",
    "run_id": "PR2025-11",
    "site": "Example",
    "title": "Example clerk",
    "version": 3,
    "year": 2025,
}
_KINDS: Mapping[str, Any] = {
    "id": "E1900",
    "text": "text",
    "int": 2,
    "bool": True,
    "date": "2025-11-28",
    "month": "2025-11",
    "moment": "2025-11-28T09:30:00Z",
    "money": 123450,
    "minutes": 465,
    "hundredths": 1250,
    "ids": ["E1900", "E1901"],
}


def value_of(field: Field) -> Any:
    """A canonical value of a field."""
    if field.kind.startswith("enum:"):
        return ENUMS[field.kind.removeprefix("enum:")][0]
    if field.kind == "ids" and field.name != "employee_ids" and field.name not in ("updated", "unchanged"):
        return ["D90"]
    return _TEXTS.get(field.name, _KINDS[field.kind])


def record_of(name: str, documented_only: bool = False) -> dict[str, Any]:
    """An example of a record; without confidential fields, and with nothing undocumented if so wanted."""
    return {
        field.name: value_of(field)
        for field in RECORDS[name]
        if not field.confidential and (field.documented or not documented_only)
    }


def arguments_of(endpoint: Endpoint) -> dict[str, Any]:
    """Canonical arguments with the required parameters, a version and a key where there are such."""
    out = {parameter.field.name: value_of(parameter.field) for parameter in endpoint.parameters if parameter.required}
    if endpoint.conditional:
        out["version"] = 3
    if endpoint.keyed:
        out["idempotency_key"] = "example-1"
    return out
