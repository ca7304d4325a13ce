"""All canonical tools of the company's API, and the pages of its documentation.

An operation does what is possible and refuses what the caller's role cannot do; what is possible but against the
policy is left to the agent, and judged.
"""

from __future__ import annotations

from agentgym.envs.hr import tools_contracts, tools_hiring, tools_leave, tools_pay, tools_people, tools_time
from agentgym.envs.hr.canonical import Json
from agentgym.envs.hr.docs import page as page_of
from agentgym.envs.hr.docs import sections
from agentgym.envs.hr.endpoints import ENDPOINTS
from agentgym.envs.hr.problems import refused, said
from agentgym.envs.hr.style import Style, style
from agentgym.tools import Tool, tool
from agentgym.world import World


def _style(world: World) -> Style:
    seed, level = world.connection.execute("SELECT seed, level FROM api_style WHERE id = 1").fetchall()[0]
    return style(seed, level)


@tool(latency_ms=60)
def list_docs(world: World) -> Json:
    """List the pages of the API's documentation."""
    return {"sections": sections(_style(world))}


@tool(latency_ms=100)
def read_docs(world: World, section: str) -> str:
    """Read a page of the API's documentation.

    Args:
        section: its name, as the list of pages gives it
    """
    try:
        return page_of(_style(world), section)
    except KeyError as error:
        raise refused("not_found", f"there is no page {said(section)} in the documentation") from error


_MODULES = (tools_people, tools_contracts, tools_time, tools_leave, tools_pay, tools_hiring)
_FOUND = {found.name: found for module in _MODULES for found in vars(module).values() if isinstance(found, Tool)}

TOOLS: tuple[Tool, ...] = (list_docs, read_docs, *(_FOUND[endpoint.tool] for endpoint in ENDPOINTS))
"""The documentation, then one tool for each endpoint, in the order of the table."""
