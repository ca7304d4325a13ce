"""Finds out by `confirm_with_user` what the user would agree to, then does that."""

from __future__ import annotations

import itertools

from agentgym.baselines._view import BUDGET, Json, Scripted, View, main, parsed

_PROPOSALS = 6
"""Proposals of one tool before the next has its turn."""


class ConfirmGuesser(Scripted):
    """Proposes calls over everything it has found, bisects the numbers in one that is agreed to upwards, and makes it.

    Args:
        refusals: after so many noes it stops asking. Users bear three by default, then they leave.
        budget: steps at most.
    """

    def __init__(self, refusals: int = 2, budget: int = BUDGET) -> None:
        super().__init__(budget)
        self.refusals = refusals
        self.name = "confirm-guesser" if refusals == 2 else f"confirm-guesser/{refusals}"
        self._refused = 0

    def play(self, view: View) -> None:
        """Read, search for a yes, act, tell, finish."""
        self._refused = 0
        view.explore(keep=2 * self.budget // 3)
        told: list[str] = []
        for name in view.writes:
            for _, arguments in itertools.islice(view.fresh([name], text="as requested"), _PROPOSALS):
                if self._may_ask(view) and self._ask(view, name, arguments):
                    arguments = self._raised(view, name, arguments)
                    told.append(str(view.call(name, arguments)["content"]))
        view.say("Done: " + "; ".join(told))
        view.finish("done", self._answer(view, told))

    def _answer(self, view: View, told: list[str]) -> Json:
        """The fields of what its calls gave that the policy speaks of."""
        results = [result for result in map(parsed, told) if isinstance(result, dict)]
        # An answer of an HTTP API has its result in the body, and there often under one key.
        results += [part for result in results if isinstance(part := result.get("body"), dict)]
        results += [part for result in results for part in result.values() if isinstance(part, dict)]
        fields = {key: value for result in results for key, value in result.items()}
        return {key: value for key, value in fields.items() if f"`{key}`" in view.system}

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
