"""The tools of the refund desk: raw facts to read, writes that check what is physically possible and no policy."""

from agentgym.envs.refund import (
    read_orders,
    read_parcels,
    read_people,
    read_tickets,
    write_cases,
    write_goods,
    write_money,
    write_others,
)
from agentgym.tools import Tool

_MODULES = (
    read_people,
    read_orders,
    read_parcels,
    read_tickets,
    write_money,
    write_goods,
    write_cases,
    write_others,
)

TOOLS: tuple[Tool, ...] = tuple(
    value for module in _MODULES for value in vars(module).values() if isinstance(value, Tool)
)
"""All tools of the desk, in the order of these modules and as they are written there."""
