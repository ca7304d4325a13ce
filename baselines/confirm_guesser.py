"""Finds out by `confirm_with_user` what the user would agree to, then does that."""

from __future__ import annotations

from agentgym.baselines._view import BUDGET, Json, Scripted, View, main


class ConfirmGuesser(Scripted):
    """Proposes calls over everything it has found; where one is agreed to, it bisects the numbers in it upwards; then it acts.

    Args:
        refusals: after so many noes it stops asking. Users bear three by default, then they leave.
        budget: steps at most.
    """

    name = "confirm-guesser"

    def __init__(self, refusals: int = 2, budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.refusals = refusals
        self._refused = 0

    def play(self, view: View) -> None:
        """Read, search for a yes, act, tell, finish."""
        self._refused = 0
        view.explore(keep=2 * self.budget // 3)
        told: list[str] = []
        for name, arguments in list(view.fresh(view.writes, text="as requested")):
            if not self._may_ask(view):
                break
            if self._ask(view, name, arguments):
                arguments = self._raised(view, name, arguments)
                told.append(str(view.call(name, arguments)["content"]))
        view.say("Done: " + "; ".join(told))
        view.finish("done")

    def _may_ask(self, view: View) -> bool:
        """Whether a proposal still leaves the steps to make the call, to tell and to finish."""
        return self._refused < self.refusals and view.left > 3

    def _ask(self, view: View, name: str, arguments: Json) -> bool:
        answer = view.confirmed(name, arguments)
        self._refused += answer is False
        return bool(answer)

    def _raised(self, view: View, name: str, arguments: Json) -> Json:
        """The call with each whole number in it as large as the user agrees to."""
        properties = view.tools[name].get("properties", {})
        for parameter in [key for key, value in arguments.items() if type(value) is int]:
            low, high = arguments[parameter], properties[parameter].get("maximum", 1 << 31)
            while low < high and self._may_ask(view):
                middle = (low + high + 1) // 2
                if self._ask(view, name, {**arguments, parameter: middle}):
                    low = middle
                else:
                    high = middle - 1
            arguments = {**arguments, parameter: low}
        return arguments


if __name__ == "__main__":
    main(ConfirmGuesser)
