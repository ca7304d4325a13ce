"""The user's consents: each is bound to one call and used up by one effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.compare import canonical
from agentgym.tools import Tool
from agentgym.trace import Call


class Consents:
    """Which calls the user has agreed to and that have not taken effect yet. An idempotency key is not part of the call."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._open: list[str] = []

    def key(self, call: Call) -> str:
        """The identity of a call that a consent is bound to."""
        skipped = self._tools[call.name].idempotency
        return canonical([call.name, {name: value for name, value in call.arguments.items() if name != skipped}])

    def covers(self, call: Call) -> bool:
        """Whether an unused consent to *call* is there."""
        return self.key(call) in self._open

    def grant(self, call: Call) -> None:
        """The user agreed. Agreeing again to what is granted and unused adds nothing."""
        if not self.covers(call):
            self._open.append(self.key(call))

    def use(self, call: Call) -> bool:
        """*call* took effect: use up its consent. False when there was none."""
        if not self.covers(call):
            return False
        self._open.remove(self.key(call))
        return True

    def get_state(self) -> list[Any]:
        """The open consents, JSON-able."""
        return list(self._open)

    def set_state(self, state: list[Any]) -> None:
        """Take up a state that `get_state` gave."""
        self._open = list(state)
