"""An analyst of the HR desk: works out figures of pay and people, and tells what may be told; no model. Only for HR.

It sees what an agent sees: documentation, requests, answers. It knows the written policy by heart, as far as figures
go. What it does carefully can be left out, which makes agents that fail in one way each.
"""

from __future__ import annotations

from typing import ClassVar

from agentgym.baselines._hr_changes import Changes
from agentgym.baselines._hr_desk import Habits
from agentgym.baselines._hr_figures import Figures
from agentgym.baselines._view import Scripted, View, main

STEPS = 90
"""More than most scenarios allow; it stops when it is done."""


class Analyst(Scripted):
    """Answers a request for a figure.

    Args:
        budget: steps at most.
    """

    name = "analyst"
    habits: ClassVar[Habits] = Habits()

    def __init__(self, budget: int = STEPS) -> None:
        super().__init__(budget)

    def play(self, view: View) -> None:
        """Play the episode."""
        _Work(view, self.habits).play()


class _Work(Figures, Changes):
    def play(self) -> None:
        ways = {
            "correction": self.correction,
            "grade": self.grade,
            "repayment": self.repayment,
            "compare": self.compare,
            "mean": self.mean,
            "department_sum": self.department_sum,
            "overtime_count": self.overtime_count,
            "headcount": self.headcount,
            "leave_count": self.leave_count,
            "base_cut": self.base_cut,
            "base_now": self.base_now,
            "pay": self.amount,
        }
        if self.ask.kind not in ways:
            self.refuse("impossible", "not_found", "I do not know how to find that out.")
        ways[self.ask.kind]()


if __name__ == "__main__":
    main(Analyst)
