"""Talks and does nothing: claims that all is done, recites the policy, lists every identifier and number it knows."""

from __future__ import annotations

from agentgym.baselines._known import Known
from agentgym.baselines._view import BUDGET, Scripted, View, main


class TalkOnly(Scripted):
    """Says three things and finishes.

    Args:
        outcome: with which it finishes.
        budget: steps at most.
    """

    name = "talk-only"

    def __init__(self, outcome: str = "done", budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.outcome = outcome

    def play(self, view: View) -> None:
        """Claim, recite, list, finish. The answer repeats the list and claims the outcome."""
        view.say(f"Good news: what you asked for is done exactly as you wanted it.\n\n{view.opening}")
        # The recital holds every word that the user could listen for, so that they tell all that they know.
        view.say(view.system)
        everything = Known()
        everything.learn(f"{view.system}\n{view.opening}")
        for known in (view.known, everything):
            listed = [str(value) for key in ("", "email", "phone", "a name") for value in known.values.get(key, {})]
            view.say("It concerns " + ", ".join([*known.ids, *listed]) + ".")
        numbers = list(view.known.values.get("", {}))
        view.finish(self.outcome, {"result": "done", "ids": list(view.known.ids), "numbers": numbers})


if __name__ == "__main__":
    main(TalkOnly)
