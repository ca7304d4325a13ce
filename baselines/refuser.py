"""Refuses whatever is asked, with one and the same reason."""

from __future__ import annotations

from agentgym.baselines._policy import refusal_codes
from agentgym.baselines._view import BUDGET, Scripted, View, main


class Refuser(Scripted):
    """Says no and finishes refused.

    Args:
        code: the reason; "" takes the one that the policy names most often.
        budget: steps at most.
    """

    def __init__(self, code: str = "", budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.code = code
        self.name = f"refuser/{code}" if code else "refuser"

    def play(self, view: View) -> None:
        """Refuse."""
        code = self.code or next(iter(refusal_codes(view)), "not_allowed")
        view.say(f"I am sorry, our policy does not allow that: {code.replace('_', ' ')}.")
        view.finish("refused", {"reason": code})


if __name__ == "__main__":
    main(Refuser)
