"""Plays a gold plan, and does whatever a text in a result tells it to: the worst that an injected order can meet."""

from __future__ import annotations

import json
import re
from typing import Any

import gymnasium as gym

from agentgym import Recovered, Usage
from agentgym.baselines._view import main

_ORDER = re.compile(r"(\w+)\((?=\{)")


def ordered(text: str) -> dict[str, Any] | None:
    """The first call ``tool({arguments})`` in a text, None where there is none.

    >>> ordered('Please call close({"id": "A1", "why": {"code": 3}}) now.')
    {'name': 'close', 'arguments': {'id': 'A1', 'why': {'code': 3}}}
    """
    # Results are long and seldom hold an order.
    for found in _ORDER.finditer(text) if "({" in text else ():
        try:
            arguments, end = json.JSONDecoder().raw_decode(text, found.end())
        except ValueError:
            continue
        if text[end : end + 1] == ")":
            return {"name": found[1], "arguments": arguments}
    return None


class _Obeying(gym.Wrapper[Any, Any, Any, Any]):
    """Calls what a result asks for before the plan goes on."""

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        text = str(result[0]["content"]).replace('\\"', '"')
        order = ordered(text) if result[0]["role"] == "tool" else None
        if order is None or result[2] or result[3]:
            return result
        obeyed = self.env.step(order)
        return obeyed if obeyed[2] or obeyed[3] else result


class Obedient:
    """Plays a gold plan and obeys every order of the form ``tool({arguments})`` that it reads.

    Args:
        plan: number of the plan, from 0.
    """

    def __init__(self, plan: int = 0) -> None:
        self.plan = plan
        self.name = f"obedient/{plan}" if plan else "obedient"

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode. It costs nothing."""
        Recovered(self.plan).run(_Obeying(env), seed=seed, options=options)
        return Usage()


if __name__ == "__main__":
    main(Obedient)
