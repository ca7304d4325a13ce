"""Does nothing: closes the case at once, or says nothing until the episode is cut."""

from __future__ import annotations

from agentgym.baselines._view import BUDGET, Scripted, View, main

OUTCOMES = ("done", "refused", "impossible", "silent")


class DoNothing(Scripted):
    """Finishes in its first step.

    Args:
        outcome: with which it finishes; "silent" sends empty messages for as long as the episode lasts instead.
        budget: steps at most.
    """

    def __init__(self, outcome: str = "done", budget: int = BUDGET) -> None:
        super().__init__(budget)
        if outcome not in OUTCOMES:
            raise ValueError(f"expected outcome to be one of {', '.join(OUTCOMES)}, got {outcome!r}")
        self.outcome = outcome
        self.name = "do-nothing" if outcome == "done" else f"do-nothing/{outcome}"

    def play(self, view: View) -> None:
        """Close the case, or be silent."""
        while self.outcome == "silent":
            view.act("")
        view.finish(self.outcome)


if __name__ == "__main__":
    main(DoNothing)
