"""Takes the first page of a list for the whole. Only for HR."""

from __future__ import annotations

from typing import ClassVar

from agentgym.baselines._hr_desk import Habits
from agentgym.baselines._view import main
from agentgym.baselines.analyst import Analyst


class PageOne(Analyst):
    """An analyst that reads no list to its end."""

    name = "page-one"
    habits: ClassVar[Habits] = Habits(all_pages=False)


if __name__ == "__main__":
    main(PageOne)
