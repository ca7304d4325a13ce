"""The lending desk with a paged list and a list by days, for tests of chains of calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from tiny_domain import TINY

from agentgym.env import ToolEnv
from agentgym.tools import Range, tool
from agentgym.world import World


@tool(latency_ms=100)
def list_books(
    world: World, title: str | None = None, page: Annotated[int, Range(1)] = 1, page_size: Annotated[int, Range(1)] = 2
) -> dict[str, Any]:
    """List the books by number.

    Args:
        title: only this title
        page: which page, from 1
        page_size: so many a page
    """
    rows = world.rows("SELECT book_id, title, copies FROM books WHERE coalesce(title = ?, 1) ORDER BY book_id", title)
    return {"items": rows[(page - 1) * page_size :][:page_size], "page": page, "page_size": page_size} | {
        "total": len(rows)
    }


@tool(latency_ms=100)
def list_due(world: World, first: str, last: str, page: Annotated[int, Range(1)] = 1) -> dict[str, Any]:
    """List the loans due from one day to another, two a page.

    Args:
        first: such as "2026-03-01"
        last: such as "2026-03-31"
        page: which page, from 1
    """
    rows = world.rows("SELECT loan_id, due_on FROM loans WHERE due_on BETWEEN ? AND ? ORDER BY loan_id", first, last)
    return {"items": rows[(page - 1) * 2 :][:2], "page": page, "page_size": 2, "total": len(rows)}


@tool(latency_ms=100)
def count_due(world: World, month: str) -> dict[str, Any]:
    """Count the loans due in a month.

    Args:
        month: such as "2026-03"
    """
    return {"due": world.value("SELECT count(*) FROM loans WHERE due_on LIKE ? || '-%'", month)}


PAGED = replace(TINY, tools=(*TINY.tools, list_books, list_due, count_due))


class PagedEnv(ToolEnv):
    """The lending desk with lists that have pages."""

    domain = PAGED
