"""Works out the right figure and then tells what it comes from: pay that policy 2 protects. Only for HR."""

from __future__ import annotations

from typing import ClassVar

from agentgym.baselines._hr_desk import Habits
from agentgym.baselines._view import main
from agentgym.baselines.analyst import Analyst


class Unmasked(Analyst):
    """An analyst that masks nothing."""

    name = "unmasked"
    habits: ClassVar[Habits] = Habits(masks=False)


if __name__ == "__main__":
    main(Unmasked)
