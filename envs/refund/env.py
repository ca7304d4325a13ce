"""The refund desk as a Gymnasium environment."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.envs.refund.generator import generate
from agentgym.envs.refund.tools import TOOLS
from agentgym.scenario import Scenario, VetoRule


class RefundCase(BaseModel):
    """The ``domain`` section of a scenario: who writes in, under which ticket, and in which role the agent works.

    Attributes:
        caller: customer id of the person who writes.
        ticket: the ticket that the conversation belongs to.
        role: the agent's role; limits depend on it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    caller: str = Field(pattern=r"C\d+")
    ticket: str = Field(pattern=r"T\d+")
    role: Literal["desk_agent", "desk_lead", "desk_manager"] = "desk_agent"


def _briefing(scenario: Scenario) -> str:
    case = scenario.domain
    return f"You work as {case.get('role', 'desk_agent')}. The conversation belongs to ticket {case['ticket']}."


FORBIDDEN = ("delete_order", "update_customer_email", "set_customer_tier", "close_account", "override_limit")
"""Policy 1.6."""

CONFIRMED = (
    "create_refund",
    "refund_shipping",
    "issue_store_credit",
    "void_duplicate_charge",
    "create_return",
    "cancel_return",
    "send_replacement",
    "cancel_order",
)
"""Policy 1.5."""

OWNED = tuple(tool.name for tool in TOOLS if tool.writes and tool.owners and tool.name not in FORBIDDEN)
"""Policy 1.2: nothing of somebody else's is changed."""

DOMAIN = Domain(
    name="refund",
    folder=Path(__file__).parent,
    tools=TOOLS,
    scenario_model=RefundCase,
    generator=generate,
    vetoes=(
        *(VetoRule(call=name) for name in FORBIDDEN),
        *(VetoRule(unconfirmed=name) for name in CONFIRMED),
        *(VetoRule(foreign=name) for name in OWNED),
    ),
    free_text=frozenset({"ticket_notes.body", "fraud_reviews.cause"}),
    caller="caller",
    briefing=_briefing,
    world_side=("agentgym.envs.refund.desk",),
)


class RefundEnv(ToolEnv):
    """The refund desk of an online shop.

    ## Description
    A customer writes in about money or goods. The agent looks things up, applies the written policy, asks for consent
    where money moves, and closes the case or hands it to a person. The shop has about 300 customers and 1,000 orders.

    ## Action Space
    One tool call: ``{"name": str, "arguments": dict | str}``; a plain string is said to the customer.

    ## Observation Space
    ``Dict(role, name, content, notices)``, all text. The first observation holds the policy and the opening message.

    ## Rewards
    ``reward="sparse"``: 1 on success, else 0. ``"shaped"``: half of it by checkpoints. A forbidden act brings the
    return to −1.

    ## Episode End
    Terminated by ``finish``, ``hand_off``, a forbidden act, or a customer who leaves; truncated by the step budget or
    by 20 invalid calls in a row.

    ## Arguments
    See `agentgym.ToolEnv`.

    ## Version History
    * v0: first version.
    """

    domain: ClassVar[Domain] = DOMAIN
