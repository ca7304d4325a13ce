"""Where an API puts its endpoints: methods, paths, and where each parameter stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import quote

from agentgym.envs.hr.endpoints import BY_TOOL, ENDPOINTS, Endpoint
from agentgym.envs.hr.naming import Names, verb_of
from agentgym.envs.hr.words import Draw, cased

Place = Literal["path", "query", "body"]


@dataclass(frozen=True)
class Plan:
    """How paths are made.

    Attributes:
        base: what every path begins with, such as ``/api/v2``.
        kind: ``rest`` (ids in the path), ``keyed`` (ids in the query or body) or ``rpc`` (verbs in the path).
        update: method of a partial update.
        delete: ``DELETE``, or ``POST`` to a path that ends in the verb.
        action: ``noun`` (…/decision), ``colon`` (…:decide) or ``folder`` (…/actions/decide).
        act: method of an action.
        joint: what stands between resource and verb of an ``rpc`` path.
        item: last segment of a ``keyed`` path to one record.
        case: of verbs in paths.
    """

    base: str = ""
    kind: str = "rest"
    update: str = "PATCH"
    delete: str = "DELETE"
    action: str = "noun"
    act: str = "POST"
    joint: str = "/"
    item: str = "item"
    case: str = "kebab"


class Route(NamedTuple):
    """Method, path segments (a parameter as ``{canonical name}``, maybe with ``:verb`` behind) and places.

    ``order``: the places alone, in the order of the endpoint's parameters.
    """

    method: str
    segments: tuple[str, ...]
    places: Mapping[str, Place]
    order: tuple[Place, ...]

    def path(self, names: Mapping[str, str]) -> str:
        """The path with the parameters' shown names, such as ``/v1/people/{personNo}``."""
        text = "/" + "/".join(self.segments)
        if "{" in text:
            for part in self.segments:
                if part[0] == "{":
                    name = part[1 : part.index("}")]
                    text = text.replace(f"{{{name}}}", f"{{{names[name]}}}")
        return text

    def fill(self, values: Mapping[str, str]) -> str:
        """The path with values (as shown) in place of parameters."""
        quoted = {name: quote(value, safe="") for name, value in values.items()}
        return "/" + "/".join(part.format_map(quoted) if part[0] == "{" else part for part in self.segments)


def plan(draw: Draw, level: int, path_case: str) -> Plan:
    """Draw how paths are made; level 0 is plain REST."""
    if level == 0:
        return Plan(base="/api")
    version = draw.bits("base/version") % 9 + 1
    word = draw.pick(
        "base/word", ("api", "rest", "hr", "people", "services", "gateway", "backend", "core", "hcm", "svc")
    )
    base = draw.pick(
        "base/form", (f"/{word}/v{version}", f"/v{version}", f"/{word}", f"/v{version}/{word}", f"/{word}/{version}.0")
    )
    return Plan(
        base=base,
        kind=draw.pick("kind", ("rest", "rest", "rest", "keyed", "rpc")),
        update=draw.pick("update", ("PATCH", "PATCH", "PUT", "POST")),
        delete=draw.pick("delete", ("DELETE", "DELETE", "POST")),
        action=draw.pick("action", ("noun", "colon", "folder")),
        act=draw.pick("act", ("POST", "POST", "PUT")),
        joint=draw.pick("joint", ("/", ".")),
        item=draw.pick("item", ("item", "one", "single", "entry", "by-key")),
        case=path_case,
    )


class _Place(NamedTuple):
    """What is known of an endpoint's path in every style.

    Attributes:
        endpoint: which one.
        segments: of its canonical path.
        nouns: those of its segments that are resources, without what is done to them.
        action: it does something to a record.
    """

    endpoint: Endpoint
    segments: list[str]
    nouns: list[str]
    action: bool


_ACTIONS = ("decision", "stage", "grade-changes", "bulk")


def _place(endpoint: Endpoint) -> _Place:
    segments = endpoint.path.split("/")
    nouns = [part for part in segments if part[0] != "{" and part not in _ACTIONS]
    return _Place(endpoint, segments, nouns, segments[-1] in _ACTIONS)


_PLACES = [_place(endpoint) for endpoint in ENDPOINTS]
_VERBS = {endpoint.tool: verb_of(endpoint.tool) for endpoint in ENDPOINTS}
_TAILS = {
    place.segments[2]: f"flat/{place.segments[2]}" for place in _PLACES if len(place.segments) == 3 and not place.action
}
"""Last segment of a path to what belongs to a record → name of the choice whether it stands by itself."""


def lay_out(draw: Draw, level: int, plan_: Plan, names: Names) -> dict[str, Route]:
    """Tool → route, no two with the same method and shape."""
    flat = {tail: level > 0 and draw.chance(choice, 40) for tail, choice in _TAILS.items()}
    base = [part for part in plan_.base.split("/") if part]
    routes: dict[str, Route] = {}
    shapes: set[tuple[str, ...]] = set()
    for place in _PLACES:
        if plan_.kind == "rest":
            method, parts = _rest(place, plan_, names, flat)
        else:
            method, parts = _called(place, plan_, names)
        here: tuple[str, ...] = ()
        shape = parts
        if any(part[0] == "{" for part in parts):
            here = tuple([part[1 : part.index("}")] for part in parts if part[0] == "{"])
            shape = ["{}" + part.rpartition("}")[2] if part[0] == "{" else part for part in parts]
        shapes.add((method, *shape))
        tool = place.endpoint.tool
        places, order = _places(tool, here, "query" if method in ("GET", "DELETE") else "body")
        routes[tool] = Route(method, (*base, *parts), places, order)
    if len(shapes) != len(routes):
        raise ValueError(f"two routes are alike: {sorted(route.path(names.fields) for route in routes.values())}")
    return routes


def _verb(endpoint: Endpoint, plan_: Plan, names: Names) -> str:
    return cased(names.verbs[_VERBS[endpoint.tool]], plan_.case)


@lru_cache(maxsize=1024)
def _places(tool: str, here: tuple[str, ...], outside: Place) -> tuple[Mapping[str, Place], tuple[Place, ...]]:
    """Where the parameters stand when those *here* are in the path; those that are elsewhere are *outside* it."""
    places: dict[str, Place] = {
        parameter.field.name: "path" if parameter.field.name in here
        else outside if parameter.place == "path"
        else parameter.place
        for parameter in BY_TOOL[tool].parameters
    }  # fmt: skip
    return places, tuple(places.values())


def _rest(place: _Place, plan_: Plan, names: Names, flat: Mapping[str, bool]) -> tuple[str, list[str]]:
    endpoint, segments = place.endpoint, place.segments
    head = names.resources[segments[0]]
    if place.action:
        noun, verb = names.resources[segments[-1]], _verb(endpoint, plan_, names)
        own = [head, *segments[1:-1]]
        if segments[-1] == "bulk":
            # An update by POST and a batch by POST stand on different paths; by the same verb they would not.
            return "POST", [head, noun]
        if plan_.action == "colon":
            return plan_.act, [*own[:-1], f"{own[-1]}:{verb}"]
        return plan_.act, [*own, noun] if plan_.action == "noun" else [*own, "actions", verb]
    method = endpoint.method
    if len(segments) == 3:
        tail = names.resources[segments[2]]
        return method, [tail] if flat[segments[2]] else [head, segments[1], tail]
    if method == "PATCH":
        return plan_.update, [head, *segments[1:]]
    if method == "DELETE" and plan_.delete == "POST":
        return "POST", [head, *segments[1:], _verb(endpoint, plan_, names)]
    return method, [head, *segments[1:]]


def _called(place: _Place, plan_: Plan, names: Names) -> tuple[str, list[str]]:
    """Routes without ids in the path."""
    endpoint, segments = place.endpoint, place.segments
    words = [names.resources[part] for part in place.nouns]
    verb = _verb(endpoint, plan_, names)
    if plan_.kind == "rpc":
        parts = [words[-1], verb] if plan_.joint == "/" else [f"{words[-1]}.{verb}"]
        return "GET" if endpoint.method == "GET" else "POST", parts
    if place.action:
        return "POST", [words[-1], verb]
    one = "{" in segments[-1]
    method = {"PATCH": plan_.update, "DELETE": plan_.delete}.get(endpoint.method, endpoint.method)
    if method == "POST" and endpoint.method != "POST":
        return method, [words[-1], verb]
    return method, [words[-1], plan_.item] if one else [words[-1]]
