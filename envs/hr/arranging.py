"""Where the endpoints of an API take their parameters, apart from what these are called and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agentgym.envs.hr.endpoints import BY_TOOL, Endpoint
from agentgym.envs.hr.style import Style


class Slot(NamedTuple):
    """Where a parameter of an endpoint stands; ``plain``: its name is that of the field and nothing else."""

    place: str
    name: str
    plain: bool
    required: bool
    text: str
    kind: str

    def shown(self, style: Style) -> str:
        """Its name in a style."""
        if self.kind == "version":
            return style.version_name
        if self.kind == "key":
            return style.key_name
        shown = style.names.fields[self.name]
        return shown if self.plain else style.filter_name(shown)


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Where an endpoint takes its parameters; few differ, whatever they are called, so that equal ones are one object.

    Attributes:
        endpoint: which one.
        slots: those in the path, in the query, in the body and in headers, in this order.
        version_place: ``header``, ``query`` or ``body``, "" where there is no version.
    """

    endpoint: Endpoint
    slots: tuple[Slot, ...]
    version_place: str


def arrangement(style: Style, tool: str) -> Arrangement:
    """How the parameters of *tool* stand in a style."""
    route = style.routes[tool]
    version = style.version_place
    if version == "body" and route.method == "DELETE":
        version = "query"
    return _arranged(tool, route.order, style.formats["money"] == "object", version, style.key_place)


@lru_cache(maxsize=2048)
def _arranged(tool: str, places: tuple[str, ...], joined: bool, version: str, key: str) -> Arrangement:
    """*joined*: an amount has its currency in it."""
    endpoint = BY_TOOL[tool]
    slots: dict[str, list[Slot]] = {"path": [], "query": [], "body": [], "header": []}
    joined = joined and any(parameter.field.kind == "money" for parameter in endpoint.parameters)
    for parameter, place in zip(endpoint.parameters, places, strict=True):
        field, needed = parameter.field, parameter.required
        if joined and field.name == "currency":
            continue
        plain = needed or parameter.place != "query"
        slots[place].append(Slot(place, field.name, plain, needed, field.text, field.kind))
    if endpoint.conditional:
        slots[version].append(Slot(version, "version", False, True, "the version that was read", "version"))
    if endpoint.keyed:
        slots[key].append(
            Slot(key, "idempotency_key", False, False, "makes repeating safe, good for one request only", "key")
        )
    version = version if endpoint.conditional else ""
    return Arrangement(endpoint, tuple(slot for found in slots.values() for slot in found), version)
