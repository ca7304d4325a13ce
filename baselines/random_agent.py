"""Draws its calls: any tool with arguments that suit its schema, in half of the episodes mostly values seen before.

In that half, where all that there is to call is an HTTP API, its documentation is read first and its operations drawn
like tools: paths and fields are what was read, values are what answers had.
"""

from __future__ import annotations

from typing import Any

from agentgym import ActionSpace, Stream
from agentgym.baselines._api_reader import TOOLS
from agentgym.baselines._policy import hand_off_codes, refusal_codes
from agentgym.baselines._view import BUDGET, Json, Scripted, View, main

_FROM_SEEN = 0.8
"""How often an argument is a value seen before, in the episodes that do so."""
_READING = 3
"""Steps that reading the documentation leaves nothing of."""


class RandomAgent(Scripted):
    """Acts at random until the episode ends. The same seed gives the same calls.

    Args:
        budget: steps at most; the last one finishes.
    """

    name = "random"

    def __init__(self, budget: int = BUDGET) -> None:
        super().__init__(budget)

    def play(self, view: View) -> None:
        """Draw and call."""
        stream = Stream(view.seed, "agent/random")
        drawn, informed = stream.integers(0, 1 << 32), stream.integers(0, 2) == 1
        own = set(view.tools)
        if informed and view.left > _READING:
            view.read_api()
        # What is known by its operations is not called by hand, nor read again.
        by_hand = TOOLS if set(view.tools) > own else frozenset()
        tools = {name: schema for name, schema in view.tools.items() if name not in by_hand}
        schemas = [{"function": {"name": name, "parameters": schema}} for name, schema in tools.items()]
        space = ActionSpace(schemas, seed=drawn)
        while view.left > 1:
            action: Json = space.sample()
            action = self._informed(action, view, stream, space) if informed else action
            view.call(action["name"], action["arguments"])
        view.finish(stream.choice(["done", "refused", "impossible"]))

    def _informed(self, action: Json, view: View, stream: Stream, space: ActionSpace) -> Json:
        """Put values that were seen into the arguments that they suit."""
        name, arguments = action["name"], dict(action["arguments"])
        if name == "confirm_with_user" and view.writes:
            inner = self._informed(space.sample(mask=view.writes), view, stream, space)
            tool, inside = view.sent(inner["name"], inner["arguments"])
            return {"name": name, "arguments": {"tool": tool, "arguments": inside}}
        properties = view.tools[name].get("properties", {})
        for parameter in arguments:
            options: list[Any] = view.known.suitable(parameter, properties[parameter])
            if name == "finish" and parameter == "answer":
                options = [{"reason": code} for code in refusal_codes(view)]
            elif name == "hand_off" and parameter == "reason":
                options = hand_off_codes(view)
            if options and stream.uniform() < _FROM_SEEN:
                arguments[parameter] = stream.choice(options)
        return {"name": name, "arguments": arguments}


if __name__ == "__main__":
    main(RandomAgent)
