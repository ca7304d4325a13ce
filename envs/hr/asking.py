"""From a canonical call to the request that asks for it, in a style."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from agentgym.envs.hr.arranging import arrangement
from agentgym.envs.hr.endpoints import PAGE_SIZE
from agentgym.envs.hr.operations import api
from agentgym.envs.hr.paging import cursor_of
from agentgym.envs.hr.style import Style


class Request(NamedTuple):
    """A request as the agent makes it; ``query``, ``headers`` and ``body`` are None where there is none."""

    method: str
    path: str
    query: dict[str, Any] | None
    headers: dict[str, str] | None
    body: dict[str, Any] | None

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``http_request``, without those that are None."""
        out: dict[str, Any] = {"method": self.method, "path": self.path}
        if self.query is not None:
            out["query"] = self.query
        if self.headers is not None:
            out["headers"] = self.headers
        if self.body is not None:
            out["body"] = self.body
        return out


def request(style: Style, tool: str, arguments: Mapping[str, Any]) -> Request:
    """The request that asks for *tool*: the inverse of `agentgym.envs.hr.api.route`.

    Args:
        style: the API's spelling.
        tool: canonical name.
        arguments: canonical; None counts as left out.

    Raises:
        KeyError: there is no such tool.
        ValueError: a parameter in the path is missing.
    """
    made, route = api(style), style.routes[tool]
    arranged, given = arrangement(style, tool), arguments.get
    placed: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}, "header": {}}
    takes_body = False
    for slot in arranged.slots:
        place, value = slot.place, given(slot.name)
        takes_body = takes_body or place == "body"
        if value is None:
            if place == "path":
                raise ValueError(f"{tool} cannot be asked for without {slot.name}")
        elif place == "path":
            placed[place][slot.name] = str(made.codec(slot.kind).show(value))
        elif place == "header":
            entity = slot.kind == "version" and style.etag
            placed[place][slot.shown(style)] = f'"{value}"' if entity else str(value)
        elif place == "body" and slot.kind == "money":
            placed[place][slot.shown(style)] = made.money.encode(value, given("currency", ""))
        else:
            placed[place][slot.shown(style)] = made.codec(slot.kind).show(value)
    query = placed["query"]
    if arranged.endpoint.many:
        query.update(page_query(style, tool, given("page", 1), given("page_size", PAGE_SIZE)))
    body = placed["body"] if takes_body and route.method not in ("GET", "DELETE") else None
    return Request(route.method, route.fill(placed["path"]), query or None, placed["header"] or None, body)


def page_query(style: Style, tool: str, page: int, size: int, explicit: bool = False) -> dict[str, Any]:
    """The query parameters of a page; without *explicit*, what is so by default is left out."""
    paging = style.paging
    if paging.kind == "cursor" and page != 1:
        return {paging.place: cursor_of(style, tool, page, size)}
    out: dict[str, Any] = {}
    if page != 1 or explicit:
        out[paging.place] = (page - 1) * size if paging.kind == "offset" else page - 1 + paging.first
    if size != PAGE_SIZE or explicit:
        out[paging.size] = size
    return out


def links(style: Style, tool: str, arguments: Mapping[str, Any]) -> Callable[[int, int], str]:
    """What gives the address of a page (its number and size) of the list that *tool* gives with *arguments*."""
    asked = request(style, tool, {**arguments, "page": 1, "page_size": PAGE_SIZE})
    first = f"{asked.path}?{urlencode(asked.query)}&" if asked.query else f"{asked.path}?"
    return lambda page, size: first + urlencode(page_query(style, tool, page, size, explicit=True))
