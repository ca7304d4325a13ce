"""Reason codes as they stand in a policy's text, for agents that guess with them."""

from __future__ import annotations

import re
from collections import Counter

from agentgym.baselines._view import View

_CODE = r"[`\"]([a-z][a-z0-9]*(?:_[a-z0-9]+)*)[`\"]"
_REFUSED = re.compile(rf"refus\w*:?\s+{_CODE}|[`\"]?reason[`\"]?\s*:\s*{_CODE}")
_LISTED = re.compile(r"codes? (?:is|are):?\s*([^\n]*)", re.IGNORECASE)
_ROW = re.compile(rf"^\s*[|*-]\s*{_CODE}", re.MULTILINE)
_QUOTED = re.compile(_CODE)
_OUTCOMES = ("done", "refused", "impossible")


def refusal_codes(view: View) -> list[str]:
    """The codes after "refuse", after "reason" and after "codes are" in the policy, frequent ones first."""
    found = Counter(one or two for one, two in _REFUSED.findall(view.system))
    for line in _LISTED.findall(view.system):
        found.update(_QUOTED.findall(line))
    return [code for code, _ in found.most_common() if code not in view.tools and code not in _OUTCOMES]


def hand_off_codes(view: View) -> list[str]:
    """The reasons for a hand-off: codes that begin a row in the sections that name the tool, else all codes there."""
    sections = [part for part in re.split(r"^#+ ", view.system, flags=re.MULTILINE) if "`hand_off`" in part]
    # The last section is the manual of the common tools.
    for pattern in (_ROW, _QUOTED):
        found = [code for part in sections[:-1] for code in pattern.findall(part) if code not in view.tools]
        if found:
            return list(dict.fromkeys(found))
    return ["other"]
