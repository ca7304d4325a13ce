"""Reads everything that it can reach and changes nothing."""

from __future__ import annotations

from agentgym.baselines._view import BUDGET, Scripted, View, main


class ReadOnly(Scripted):
    """Calls every reading tool on every identifier, breadth first, then finishes.

    Args:
        outcome: with which it finishes.
        budget: steps at most.
    """

    def __init__(self, outcome: str = "done", budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.outcome = outcome
        self.name = "read-only" if outcome == "done" else f"read-only/{outcome}"

    def play(self, view: View) -> None:
        """Read, then finish."""
        view.explore(keep=1)
        view.finish(self.outcome)


if __name__ == "__main__":
    main(ReadOnly)
