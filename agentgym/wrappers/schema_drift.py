"""Schema drift: tools have another version than the agent may know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, cast, get_args

import gymnasium as gym

from agentgym.env import Observation
from agentgym.hooks import Context, Fault, Hook
from agentgym.presentation import Presentation
from agentgym.random import Stream
from agentgym.tools import Tool, ToolError
from agentgym.trace import Call
from agentgym.world import CallResult
from agentgym.wrappers.base import Perturbation
from agentgym.wrappers.drift_rules import EXPAND, Drift
from agentgym.wrappers.formats import edited
from agentgym.wrappers.http_drift import HttpDrift, moved
from agentgym.wrappers.schedule import HOST, Schedule, ScheduledHook, words

Docs = Literal["updated", "stale"]
Part = Literal["rename_tool", "rename", "retype", "nest", "drop"]

_VERBS = {
    "get": ("fetch", "read", "load"),
    "find": ("search", "query", "look_up"),
    "list": ("enumerate", "query", "show"),
    "create": ("make", "add", "post"),
    "update": ("change", "put", "modify"),
    "add": ("append", "post", "attach"),
}


class SchemaDrift(Perturbation):
    """Tools have a second version: other names, other types, another shape.

    What the agent sees: with ``docs="updated"`` the new names and arguments in the schemas, with a line in the manual
    of each tool that says what changed; with ``docs="stale"`` the old schemas, and an error with that line from a tool
    that is called by its old name. Results come in the new shape. Of an HTTP API it is endpoints that have moved, and
    pages of the documentation that say so. What the world does: the same.

    Args:
        env: an environment of this suite.
        rate: probability for each tool to have drifted, 0–1.
        intensity: 0–4: rates of 0, 0.25, 0.6 (default), 0.85, 1.
        docs: "updated" or "stale"; by default drawn.
        parts: what may change, each with probability ½: of "rename_tool", "rename" (arguments and fields to
            camelCase), "retype" (amounts to text), "nest" (results into "data"), "drop" (lists, unless "expand" is
            true).
        tools: as for `Perturbation`.

    Raises:
        TypeError: *env* is no environment of this suite.
        ValueError: an argument is out of its range.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import SchemaDrift
    >>> env = SchemaDrift(gymnasium.make("Refund-v0", split="test"), rate=1, docs="updated", parts="nest")
    >>> _ = env.reset(seed=7)
    >>> env.step({"name": "list_holidays", "arguments": {"country": "XX"}})[0]["content"]
    '{"version": 2, "data": {"country": "XX", "holidays": []}}'
    """

    kind: ClassVar[str] = "schema-drift"
    inside: ClassVar[str] = "the schemas of a third party's tools are not known"
    rates: ClassVar[tuple[float, float, float, float, float]] = (0.0, 0.25, 0.6, 0.85, 1.0)

    def __init__(
        self,
        env: gym.Env[Observation, Any],
        rate: float | None = None,
        *,
        intensity: int = 2,
        docs: Docs | None = None,
        parts: Part | Iterable[Part] | None = None,
        tools: str | Iterable[str] | None = None,
    ) -> None:
        super().__init__(env, rate, intensity=intensity, tools=tools)
        if docs is not None and docs not in get_args(Docs):
            raise ValueError(f"expected docs to be updated or stale, got {docs!r}")
        known: tuple[Part, ...] = get_args(Part)
        given = known if parts is None else words("parts", parts, ", ".join(known))
        self.parts = cast("tuple[Part, ...]", given)
        for part in self.parts or ("none",):
            if part not in known:
                raise ValueError(f"expected parts to be of {', '.join(known)}, got {part!r}")
        self.docs: Docs | None = docs

    def hook(self) -> Hook:
        """The hook of one episode."""
        return SchemaDriftHook(self.schedule, self.docs, self.parts, self._base.domain.toolset)


class SchemaDriftHook(ScheduledHook):
    """Shows the new schemas and turns new calls into old ones and old results into new ones."""

    def __init__(
        self, schedule: Schedule, docs: Docs | None, parts: tuple[Part, ...], toolset: Mapping[str, Tool]
    ) -> None:
        super().__init__(SchemaDrift.kind, schedule)
        self._docs, self._parts, self._toolset = docs, parts, toolset
        self._stale = False
        self._drifts: dict[str, Drift] = {}
        self._expand = False
        self._http: HttpDrift | None = None

    def on_task(
        self, system: str, opening: str, tools: list[dict[str, Any]], ctx: Context
    ) -> tuple[str, str, list[dict[str, Any]]]:
        """Draw which tools have drifted and how, and show them."""
        system, opening, tools = super().on_task(system, opening, tools, ctx)
        self._drifts, self._expand, self.hidden, self._http = {}, False, (), None
        if self.schedule.never:
            return system, opening, tools
        stream = self.stream
        self._stale = (self._docs or stream.choice(("updated", "stale"))) == "stale"
        if self.presentation is not None and self.presentation.http:
            self._drift_endpoints(self.presentation, stream)
            return system, opening, tools
        taken = {schema["function"]["name"] for schema in tools}
        shown: list[dict[str, Any]] = []
        hidden: list[dict[str, Any]] = []
        for schema in tools:
            drift = self._version_of(schema["function"]["name"], taken, stream)
            if drift is None:
                shown.append(schema)
                continue
            self._drifts[drift.new] = drift
            function = drift.schema(self._plain(schema["function"]))
            manual = f"{function['description']}\n{drift.sentence}"
            new = {**schema, "function": {**function, "description": manual}}
            shown.append(schema if self._stale else new)
            hidden += [new] * self._stale
        self.hidden = hidden
        if not self._stale:
            system = self._renamed(system)
        return system, opening, shown

    def _drift_endpoints(self, api: Presentation, stream: Stream) -> None:
        """Draw which endpoints of an HTTP API have drifted and how."""
        for name in self._toolset:
            old = api.address(name)
            if old and name not in HOST and self.concerns(Call(name, {})):
                hit, kept = self._drawn(stream)
                if hit:
                    flags = {part: part in kept for part in ("rename", "nest", "drop")}
                    self._drifts[name] = Drift(old, moved(old), prefix=True, **flags)
        self._http = HttpDrift(self._drifts, documented=not self._stale)

    def _drawn(self, stream: Stream) -> tuple[bool, list[Part]]:
        """Whether one has drifted, and which parts then. It takes as many draws, whatever they come to."""
        hit = stream.uniform() < (self.schedule.rate or 0)
        return hit, [part for part in self._parts if stream.integers(0, 2)] or [stream.choice(self._parts)]

    @property
    def _shown(self) -> Mapping[str, Tool]:
        """The tools that are shown where nothing has drifted."""
        return self._toolset if self.presentation is None else self.presentation.toolset

    def _version_of(self, name: str, taken: set[str], stream: Stream) -> Drift | None:
        """How a tool has drifted, None when it has not."""
        own = name if self.presentation is None else self.presentation.operation(Call(name, {}))
        concerned = name not in HOST and own in self._toolset and self.concerns(Call(own, {}))
        if not concerned:
            return None
        hit, kept = self._drawn(stream)
        verb, _, rest = name.partition("_")
        new = f"{stream.choice(_VERBS[verb])}_{rest}" if verb in _VERBS else f"{name}_v2"
        if not hit:
            return None
        if not (self._stale or "rename_tool" in kept):
            new = name
        while new != name and new in taken:
            new += "_v2"
        taken.add(new)
        flags = {part: part in kept for part in ("rename", "retype", "nest", "drop")}
        if self.presentation is None:
            return Drift(name, new, **flags)
        # By their names nobody can tell which fields of a drawn interface are amounts.
        return Drift(name, new, prefix=True, **{**flags, "retype": False})

    def _plain(self, function: Mapping[str, Any]) -> Mapping[str, Any]:
        """A schema without defaults that the tool does not fill in itself, so that its new version does not either."""
        tool, parameters = self._shown[function["name"]], function["parameters"]
        properties = {
            name: {k: v for k, v in entry.items() if k != "default" or tool.defaults.get(name) is not None}
            for name, entry in parameters["properties"].items()
        }
        return {**function, "parameters": {**parameters, "properties": properties}}

    def _renamed(self, text: str) -> str:
        """A text with the new names of the tools."""
        names = {drift.old: drift.new for drift in self._drifts.values() if drift.old != drift.new}
        if not names:
            return text
        return re.sub(rf"\b(?:{'|'.join(names)})\b", lambda found: names[found[0]], text)

    def before_call(self, call: Call, ctx: Context) -> Call | Fault:
        """Turn a call of a new version into the old one; a stale name is told what became of it."""
        self._expand = False
        if self._http is not None and self.presentation is not None:
            seen, met = self._http.before(self.presentation, call)
            if met:
                self._fire(ctx)
            return seen
        if call.name == "confirm_with_user":
            return self._confirmation(call)
        drift = self._drifts.get(call.name)
        if drift is None:
            gone = next((d for d in self._drifts.values() if self._stale and d.old == call.name), None)
            if gone is None:
                return call
            self._fire(ctx)
            return Fault(f"410 Gone: {gone.sentence}", 50)
        self._fire(ctx)
        self._expand = bool(call.arguments.get(EXPAND))
        tool = self._shown[drift.old]
        try:
            return Call(drift.old, tool.validate(drift.back(call.arguments, tool.checks)))
        except ToolError as error:
            # The old bounds still hold; what breaks them is the agent's mistake and no bug.
            return Fault(str(error))

    def _fire(self, ctx: Context) -> None:
        # Which of the drifted tools are called is the agent's affair: none of them is planned.
        self.scheduled += 1
        ctx.fire(self.name)

    def _confirmation(self, call: Call) -> Call:
        arguments = call.arguments.get("arguments")
        drift = self._drifts.get(str(call.arguments.get("tool")))
        if drift is None or not isinstance(arguments, dict):
            return call
        old = drift.back(arguments, self._shown[drift.old].checks)
        return Call(call.name, {**call.arguments, "tool": drift.old, "arguments": old})

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        """Show the result in the new shape."""
        if self._http is not None and self.presentation is not None:
            return (
                result._replace(value=self._http.after(self.presentation, call, result.value)) if result.ok else result
            )
        drift = next((d for d in self._drifts.values() if d.old == call.name), None)
        if drift is None:
            return result
        if not result.ok:
            return result._replace(error=self._renamed(result.error))
        expand = self._expand
        return result._replace(value=edited(result.value, lambda value: drift.result(value, expand)))

    def on_observe(self, observation: dict[str, str], ctx: Context) -> dict[str, str]:
        """Show the new name."""
        if not self._drifts or self._http is not None:
            return observation
        return {**observation, "name": self._renamed(observation["name"])}

    def report(self) -> dict[str, Any]:
        """How many tools have drifted, and whether the documentation says so."""
        return {"drifted": len(self._drifts), "stale": self._stale}
