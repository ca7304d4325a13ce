"""Takes means over the rows that came, whoever was a member of the department or not. Only for HR."""

from __future__ import annotations

from typing import ClassVar

from agentgym.baselines._hr_desk import Habits
from agentgym.baselines._view import main
from agentgym.baselines.analyst import Analyst


class Rosterless(Analyst):
    """An analyst that looks at no roster."""

    name = "rosterless"
    habits: ClassVar[Habits] = Habits(roster=False)


if __name__ == "__main__":
    main(Rosterless)
