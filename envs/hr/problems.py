"""Problems: what an operation answers instead of a result, as JSON text.

A message names fields by placeholders such as ``{to_date}`` and values by ``{date:2026-03-14}``, ``{month:2026-02}``,
``{minutes:460}``, ``{hundredths:150}``, ``{money:EUR:1050}`` or ``{enum:run:closed}``, which the style of an episode
fills in: a problem never speaks of things by names that the agent has not been told. Standard library only.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from agentgym.tools import ToolError, shown

Code = Literal[
    "bad_request",
    "forbidden",
    "not_found",
    "conflict",
    "version_conflict",
    "unprocessable",
    "rate_limited",
    "unavailable",
]

STATUS: dict[Code, int] = {
    "bad_request": 400,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "version_conflict": 412,
    "unprocessable": 422,
    "rate_limited": 429,
    "unavailable": 503,
}
"""Code → HTTP status."""


def problem(status: int, code: str, message: str, **details: Any) -> str:
    """A problem as JSON text.

    >>> problem(404, "not_found", "there is no {employee_id} E1")
    '{"status": 404, "code": "not_found", "message": "there is no {employee_id} E1", "details": {}}'
    """
    found = {"status": status, "code": code, "message": message, "details": details}
    return json.dumps(found, ensure_ascii=False)


def refused(code: Code, message: str, **details: Any) -> ToolError:
    """The error of that problem, to be raised."""
    return ToolError(problem(STATUS[code], code, message, **details))


def said(value: object) -> str:
    """A value that the caller sent, short, and without braces, which would read as a placeholder."""
    return shown(value).replace("{", "(").replace("}", ")")


def absent(name: str, value: object) -> ToolError:
    """What was asked for does not exist."""
    return refused("not_found", f"there is no {{{name}}} {said(value)}")


def unknown(name: str, value: object) -> ToolError:
    """What is to be entered names something that does not exist."""
    return refused("unprocessable", f"{{{name}}} names nothing that exists: {said(value)}")
