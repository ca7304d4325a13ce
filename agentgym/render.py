"""The conversation of an episode as a person reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentgym.text import dumps
from agentgym.trace import Step
from agentgym.verdict import Verdict

_WIDTH = 600


def transcript(opening: str, trace: Iterable[Step], end_reason: str, verdict: Verdict | None) -> str:
    """Return the whole conversation so far, one block a step, ending in the verdict once there is one."""
    lines = [f"user    {opening}"]
    for step in trace:
        if step.thought:
            lines.append(f"thought {_cut(step.thought)}")
        lines.append(f"agent   {_call(step)}")
        lines.append(f"{step.role:<7} {_cut(step.shown)}")
        if step.notices != "[]":
            lines.append(f"notice  {_cut(step.notices)}")
    if verdict is not None:
        lines.append(f"end     {end_reason}: {'success' if verdict.success else 'no success'}{_why(verdict)}")
    return "\n".join(lines)


def _call(step: Step) -> str:
    call = step.ran or step.sent
    if call is None:
        return "(no call)"
    return f"{call.name}({', '.join(f'{name}={_cut(dumps(value))}' for name, value in call.arguments.items())})"


def _why(verdict: Verdict) -> str:
    if verdict.veto:
        return f", veto {verdict.veto_rule}"
    failed: Sequence[str] = [name for names in verdict.attribution.values() for name in names]
    return f", failed: {', '.join(failed)}" if failed else ""


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
