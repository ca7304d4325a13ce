"""The user's consents: each is bound to one call and used up by one effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym.compare import canonical
from agentgym.scenario import Want
from agentgym.tools import Tool
from agentgym.trace import Call
from agentgym.users import agrees


class Consents:
    """The calls that the user has agreed to and that have not taken effect; an idempotency key is no part of a call."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._open: dict[str, Call] = {}

    def key(self, call: Call) -> str:
        """The identity of a call that a consent is bound to."""
        skipped = self._tools[call.name].idempotency
        return canonical([call.name, {name: value for name, value in call.arguments.items() if name != skipped}])

    def covers(self, call: Call) -> bool:
        """Whether an unused consent to *call* is there."""
        return self.key(call) in self._open

    def grant(self, call: Call) -> None:
        """The user agreed. Agreeing again to what is granted and unused adds nothing."""
        self._open.setdefault(self.key(call), call)

    def use(self, call: Call) -> bool:
        """*call* took effect: use up its consent. False when there was none."""
        return self._open.pop(self.key(call), None) is not None

    def keep(self, wants: Sequence[Want]) -> None:
        """The user changed their mind: a consent to what they no longer want is withdrawn."""
        self._open = {
            key: call
            for key, call in self._open.items()
            if any(want.tool == call.name and agrees(want.arguments, call.arguments) for want in wants)
        }

    def get_state(self) -> list[Any]:
        """The open consents, JSON-able."""
        return [list(call) for call in self._open.values()]

    def set_state(self, state: list[Any]) -> None:
        """Take up a state that `get_state` gave."""
        calls = [Call(name, arguments) for name, arguments in state]
        self._open = {self.key(call): call for call in calls}
