"""Re-reading: what has drifted is used as the documentation, or an error, says that it is now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentgym.recovery import HTTP, Act, Action, Observation, Recovery, parsed
from agentgym.text import dumps
from agentgym.wrappers.drift_rules import EXPAND, Drift, read_drifts
from agentgym.wrappers.http_drift import BASE, is_at, renamed

_REQUEST = {"method", "path"}


class Reread(Recovery):
    """Re-read documentation: calls are made as the manual or an error says that they now are; results read likewise."""

    def __init__(self) -> None:
        self._drifts: dict[str, Drift] = {}
        self._names: dict[str, frozenset[str]] = {}

    def begin(self, observation: Observation, tools: Sequence[Mapping[str, Any]]) -> None:
        """Read the manuals."""
        for tool in tools:
            function = tool["function"]
            self._names[function["name"]] = frozenset(function["parameters"].get("properties", {}))
            self._drifts |= read_drifts(function["description"])

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Act in the new way; where only an error tells of it, in that way then."""
        if action["name"] == "confirm_with_user":
            return act(self._confirmation(action))
        before = self._of(action)
        seen = act(self._now(action))
        if seen["role"] == "error":
            self._drifts |= read_drifts("\n".join(_texts(parsed(seen["content"]))))
            if self._of(action) != before:
                seen = act(self._now(action))
        drift = self._of(action)
        if drift is None or seen["role"] == "error":
            return seen
        found = parsed(seen["content"])
        if isinstance(found, dict) and found.keys() == HTTP:
            return {**seen, "content": dumps({**found, "body": drift.original(found["body"])})}
        return {**seen, "content": dumps(drift.original(found))}

    def hear(self, seen: Observation) -> None:
        """Pages of documentation tell of changes, too."""
        if seen["role"] == "tool":
            self._drifts |= read_drifts(seen["content"])

    def _of(self, action: Action) -> Drift | None:
        """How what a call is for has changed: a tool, or an endpoint by its method and path."""
        asked = action["arguments"]
        if not _REQUEST <= asked.keys():
            return self._drifts.get(action["name"])
        found = [drift for old, drift in self._drifts.items() if is_at(old, asked["method"], asked["path"])]
        return min(found, key=lambda drift: drift.old.count("{"), default=None)

    def _now(self, action: Action) -> Action:
        drift, asked = self._of(action), action["arguments"]
        if drift is None:
            return action
        if _REQUEST <= asked.keys():
            return {**action, "arguments": {**renamed(asked, drift), "path": BASE + asked["path"]}}
        return {"name": drift.new, "arguments": drift.arguments(asked, asked)}

    def _confirmation(self, action: Action) -> Action:
        asked = action["arguments"]
        inner: Action = {"name": asked.get("tool", ""), "arguments": asked.get("arguments")}
        if not isinstance(inner["arguments"], dict):
            return action
        now = self._now(inner)
        for part in (now["arguments"], now["arguments"].get("query")):
            if isinstance(part, dict) and now is not inner:
                part.pop(EXPAND, None)
        return {**action, "arguments": {**asked, "tool": now["name"], "arguments": now["arguments"]}}


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _texts(entry)
