"""How often the simulated user of a run was at fault, from the traces in a result store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentgym.metrics import Interval, wilson_interval

_TALK = ("respond", "confirm_with_user")


@dataclass
class UserReport:
    """The simulator's own errors in a set of episodes.

    Attributes:
        episodes: episodes looked at.
        replies: answers of the user, to messages and to proposals.
        faulty: answers with at least one fault.
        faulty_episodes: episodes with at least one fault.
        faults: kind → how often.
    """

    episodes: int = 0
    replies: int = 0
    faulty: int = 0
    faulty_episodes: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, trace: Iterable[Mapping[str, Any]]) -> None:
        """Count one episode, by the rows of its trace."""
        kinds: list[list[str]] = []
        for row in trace:
            if row.get("ran") and row["ran"]["name"] in _TALK and row.get("role") == "user":
                kinds.append(list(row.get("user_faults") or ()))
        self.episodes += 1
        self.replies += len(kinds)
        self.faulty += sum(bool(each) for each in kinds)
        self.faulty_episodes += any(kinds)
        self.faults.update(kind for each in kinds for kind in each)

    @property
    def rate(self) -> float:
        """Share of the answers that were at fault, faulty / replies.

        Raises:
            ValueError: there was no answer.
        """
        if not self.replies:
            raise ValueError("undefined: the user gave no answer")
        return self.faulty / self.replies

    def interval(self, confidence: float = 0.95) -> Interval:
        """Wilson interval of the rate.

        Raises:
            ValueError: there was no answer.
        """
        if not self.replies:
            raise ValueError("undefined: the user gave no answer")
        return wilson_interval(self.faulty, self.replies, confidence)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON-able data; rate and interval are null where undefined."""
        return {
            "episodes": self.episodes,
            "replies": self.replies,
            "faulty": self.faulty,
            "faulty_episodes": self.faulty_episodes,
            "faults": dict(sorted(self.faults.items())),
            "rate": self.rate if self.replies else None,
            "interval": list(self.interval()) if self.replies else None,
        }


def report(rows: Iterable[Mapping[str, Any]]) -> dict[str, UserReport]:
    """Agent → the report of the user that it talked to, from the rows of a result store (`Store.rows`)."""
    found: dict[str, UserReport] = {}
    for row in rows:
        if row["trace"] is not None:
            found.setdefault(row["agent"], UserReport()).add(row["trace"])
    return found
