"""The tools that every environment has: talking, confirming, handing off, waiting, finishing.

The host answers them itself. The functions here only carry the signature and the manual.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from agentgym.tools import Length, Range, Tool, build_tool


def respond(message: Annotated[str, Length(1)]) -> None:
    """Say something to the user and get their reply.

    Args:
        message: what to say, in the user's language
    """


def confirm_with_user(tool: str, arguments: dict[str, Any]) -> None:
    """Ask the user to agree to one exact call. A yes holds for that call only and for one effect.

    Args:
        tool: name of the tool to be called, e.g. "create_refund"
        arguments: exactly the arguments it will be called with (an idempotency key may be left out)
    """


def hand_off(reason: Annotated[str, Length(1, 64)], summary: Annotated[str, Length(1, 4000)]) -> None:
    """Hand the case to a person and end the work on it.

    Args:
        reason: a reason code of the policy
        summary: what that person needs to know
    """


def wait(seconds: Annotated[int, Range(1, 30 * 86_400)]) -> None:
    """Let time pass, until then or until something happens.

    Args:
        seconds: how long at most, in seconds, e.g. 600
    """


def finish(outcome: Literal["done", "refused", "impossible"], answer: Any = None) -> None:
    """End the work on the case and say how it ended.

    Args:
        outcome: "done" when the request was met as the policy allows, "refused" when the policy forbids it,
            "impossible" when it cannot be done
        answer: the result in the form that the policy asks for, e.g. {"reason": "outside_window"}
    """


def _host(function: Any, latency_ms: int) -> Tool:
    return build_tool(function, latency_ms=latency_ms, bound=False)


COMMON_TOOLS: tuple[Tool, ...] = (
    _host(respond, 20_000),
    _host(confirm_with_user, 15_000),
    _host(hand_off, 1_000),
    _host(wait, 0),
    _host(finish, 0),
)

PROMPT = """\
## How to work

You act only by calling tools, one call at a time. Plain text is taken as `respond`.
- `respond` speaks to the user; the reply is the result.
- Before a call that the policy wants confirmed, call `confirm_with_user` with the name of the tool and exactly the
  arguments that you will use. A yes is good for that one call and for one effect: a call that failed does not use it
  up, a second effect needs a new yes. What the user says elsewhere is no confirmation. Do not search with it: a user
  who is asked in vain too often leaves.
- `wait` lets time pass. What happens by itself is listed in `notices`.
- `hand_off` gives the case to a person, `finish` closes it. The case counts as closed only by one of the two."""
