"""The trace: one row a step, with what was sent, what ran and what was shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentgym.changes import Change


class Call(NamedTuple):
    """A tool call with checked and normalised arguments."""

    name: str
    arguments: dict[str, Any]


@dataclass
class Step:
    """One step of an episode.

    Attributes:
        index: 1 for the first step.
        sent: the call as the agent sent it (arguments as parsed), None when it could not be parsed.
        raw: the arguments of a call that could not be parsed, as text.
        ran: the call that took place, None when none did.
        ok: a call took place and gave a result.
        error: the error shown, or "".
        value: the tool's result before hooks changed it (JSON-able).
        role: role of the observation.
        shown: content of the observation.
        writes: the tool that ran is a writing one.
        replayed: an idempotency key repeated; nothing took effect.
        granted: the user's answer to ``confirm_with_user``, else None.
        changes: rows that the call changed.
        fault: name of the perturbation that broke the call, or "".
        blocked: name of the veto rule that refused the call, or "".
        at_ms: simulated time when the call started, milliseconds since 1970.
        thought: what the agent thought aloud; nothing judges it.
        notices: JSON list shown with the observation.
        user_faults: kinds of faults of the simulated user in this step, see `agentgym.user_faults`.
        owned: argument → True when the call's argument belongs to the caller, for calls that write.
        fired: names of the perturbations that fired in this step, innermost first.
    """

    index: int
    sent: Call | None
    at_ms: int
    thought: str = ""
    raw: str = ""
    ran: Call | None = None
    ok: bool = False
    error: str = ""
    value: Any = None
    role: str = "tool"
    shown: str = ""
    writes: bool = False
    replayed: bool = False
    granted: bool | None = None
    changes: list[Change] = field(default_factory=list)
    fault: str = ""
    blocked: str = ""
    notices: str = "[]"
    user_faults: list[str] = field(default_factory=list)
    owned: dict[str, bool] = field(default_factory=dict)
    fired: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The row as JSON-able data."""
        row = {name: getattr(self, name) for name in self.__dataclass_fields__}
        row["changes"] = [change.to_json() for change in self.changes]
        for name in ("sent", "ran"):
            row[name] = row[name]._asdict() if row[name] is not None else None
        return row

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Step:
        """The inverse of `to_json`."""
        parts = dict(row)
        parts["changes"] = [Change.from_json(change) for change in row["changes"]]
        for name in ("sent", "ran"):
            parts[name] = Call(**row[name]) if row[name] is not None else None
        return cls(**parts)
