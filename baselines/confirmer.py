"""Agrees with the user and asks them to agree, but does nothing."""

from __future__ import annotations

from agentgym.baselines._view import BUDGET, Scripted, View, main


class Confirmer(Scripted):
    """Says yes, has likely calls confirmed without making them, and finishes.

    Args:
        refusals: after so many noes it stops asking, before the user has had enough.
        budget: steps at most.
    """

    name = "confirmer"

    def __init__(self, refusals: int = 2, budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.refusals = refusals

    def play(self, view: View) -> None:
        """Say yes, ask for yes, say yes again, finish."""
        view.say("Yes, of course. I confirm that, it will be done.")
        view.explore(keep=2 * self.budget // 3)
        refused = 0
        for name, arguments in view.fresh(view.writes, text="as requested"):
            if refused >= self.refusals or view.left <= 2:
                break
            refused += view.confirmed(name, arguments) is False
        view.say("Yes, that is confirmed and done.")
        view.finish("done")


if __name__ == "__main__":
    main(Confirmer)
