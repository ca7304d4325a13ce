"""Hands every case to a person, with one and the same reason."""

from __future__ import annotations

from agentgym.baselines._policy import hand_off_codes
from agentgym.baselines._view import BUDGET, Scripted, View, main


class HandOff(Scripted):
    """Hands off in its first step.

    Args:
        code: the reason; "" takes the first that the policy gives.
        budget: steps at most.
    """

    def __init__(self, code: str = "", budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.code = code
        self.name = f"hand-off/{code}" if code else "hand-off"

    def play(self, view: View) -> None:
        """Hand off, with the user's own words as the summary."""
        code = self.code or hand_off_codes(view)[0]
        view.call("hand_off", {"reason": code, "summary": view.opening[:4000]})


if __name__ == "__main__":
    main(HandOff)
