"""Schema drift of an HTTP API: some endpoints have moved to a second version, and answer nowhere else.

An endpoint is known by its method and path as the documentation has them. The second version stands at the same path
behind `BASE`; the names of parameters and fields, the shape of the body and its lists follow a
`agentgym.wrappers.drift_rules.Drift`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentgym.hooks import Fault
from agentgym.presentation import Presentation
from agentgym.trace import Call
from agentgym.wrappers.drift_rules import EXPAND, Drift
from agentgym.wrappers.formats import edited

BASE = "/v2"
_ANSWER = {"status", "headers", "body"}
_PARAMETER = re.compile(r"\\\{[^{}/]*\\\}")


class HttpDrift:
    """Turns requests to second versions into those to first ones, and answers of first ones into those of second ones.

    Args:
        drifts: the domain's tool → how its endpoint differs.
        documented: the pages of the documentation say so.
    """

    def __init__(self, drifts: Mapping[str, Drift], documented: bool) -> None:
        self._drifts, self._documented = drifts, documented
        self._expand = False

    def before(self, api: Presentation, call: Call) -> tuple[Call | Fault, bool]:
        """The request as the first version takes it, or that there is no more; and whether a drift was met."""
        self._expand = False
        if call.name == "confirm_with_user":
            return self._confirmation(api, call), False
        drift, old = self._first(api, call)
        if drift is not None:
            self._expand = _flag(call.arguments.get("query"))
            return old, True
        gone = self._drifts.get(api.operation(call)) if _is_request(call) else None
        if gone is None:
            return call, False
        fault = Fault(f"this is no more. {gone.sentence}", 50, 404)
        return fault._replace(error=api.broken(call, call, fault)), True

    def _first(self, api: Presentation, call: Call) -> tuple[Drift | None, Call]:
        """How the endpoint of a request to a second version differs, and the request to the first one."""
        path = call.arguments.get("path")
        if not _is_request(call) or not isinstance(path, str) or not path.startswith(f"{BASE}/"):
            return None, call
        old = Call(call.name, {**call.arguments, "path": path.removeprefix(BASE)})
        drift = self._drifts.get(api.operation(old))
        return drift, call if drift is None else Call(call.name, renamed(old.arguments, drift, back=True))

    def _confirmation(self, api: Presentation, call: Call) -> Call:
        name, arguments = call.arguments.get("tool"), call.arguments.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return call
        drift, old = self._first(api, Call(name, arguments))
        return call if drift is None else Call(call.name, {**call.arguments, "arguments": old.arguments})

    def after(self, api: Presentation, call: Call, value: Any) -> Any:
        """The answer as the second version gives it; pages of the documentation with what has changed."""
        if not _is_request(call):
            return self._page(value) if self._documented and isinstance(value, str) else value
        drift, expand = self._drifts.get(api.operation(call)), self._expand
        if drift is None or not isinstance(value, dict) or value.keys() != _ANSWER:
            return value
        return {**value, "body": edited(value["body"], lambda body: drift.result(body, expand))}

    def _page(self, text: str) -> str:
        told = [drift.sentence for drift in self._drifts.values() if re.search(rf"{re.escape(drift.old)}\b", text)]
        return "\n".join([text, *told])


def renamed(arguments: Mapping[str, Any], drift: Drift, back: bool = False) -> dict[str, Any]:
    """The arguments of a request with its query and body as they are now, or *back* as they were."""
    found = dict(arguments)
    for part in ("query", "body"):
        given = found.get(part)
        if isinstance(given, dict):
            change = drift.back if back else drift.arguments
            names = {drift.original({name: None}).popitem()[0] if back else name: None for name in given}
            changed = change({k: v for k, v in given.items() if not (back and k == EXPAND)}, names)
            found[part] = {k: v for k, v in changed.items() if k != EXPAND}
    if drift.drop and not back:
        found["query"] = {**(found.get("query") or {}), EXPAND: True}
    return found


def moved(address: str) -> str:
    """Method and path of the second version.

    >>> moved("GET /people/{id}")
    'GET /v2/people/{id}'
    """
    method, _, path = address.partition(" ")
    return f"{method} {BASE}{path}"


def is_at(address: str, method: object, path: object) -> bool:
    """Whether a request goes to a method and path of the documentation, whose parameters stand in braces.

    >>> is_at("GET /people/{id}", "get", "/people/E7"), is_at("GET /people/{id}", "get", "/people")
    (True, False)
    """
    wanted, _, form = address.partition(" ")
    pattern = _PARAMETER.sub("[^/:?]+", re.escape(form))
    return str(method).upper() == wanted and re.fullmatch(pattern, str(path).partition("?")[0]) is not None


def _is_request(call: Call) -> bool:
    return "method" in call.arguments and "path" in call.arguments


def _flag(query: object) -> bool:
    return isinstance(query, dict) and str(query.get(EXPAND)).casefold() == "true"
