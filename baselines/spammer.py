"""Does everything: every write on everything that it has found, every value told to the user, every answer given."""

from __future__ import annotations

import itertools

from agentgym.baselines._policy import refusal_codes
from agentgym.baselines._view import BUDGET, Json, Scripted, View, main


class Spammer(Scripted):
    """Reads for a third of its steps, then writes, then tells and answers with all that it knows.

    Args:
        outcome: with which it finishes.
        budget: steps at most.
    """

    name = "spammer"

    def __init__(self, outcome: str = "done", budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.outcome = outcome

    def play(self, view: View) -> None:
        """Read, write, tell, finish. A write shows new identifiers, so the calls are found anew until none is left."""
        view.explore(keep=2 * self.budget // 3)
        found = True
        while found and view.left > 2:
            found = False
            for name, arguments in itertools.islice(view.fresh(view.writes, text="as requested"), view.left - 2):
                found = True
                view.call(name, arguments)
        answers = self._answers(view)
        view.say("All values: " + "; ".join(f"{key} {', '.join(map(str, found))}" for key, found in answers.items()))
        view.finish(self.outcome, answers)

    def _answers(self, view: View) -> Json:
        """Every value known, by its key, and every reason."""
        known = {key or "number": list(found) for key, found in view.known.values.items()}
        return {**known, "id": list(view.known.ids), "reason": refusal_codes(view)}


if __name__ == "__main__":
    main(Spammer)
