"""Random streams whose values do not change with the version of numpy.

Each purpose (the world, the user, each wrapper) has its own `Stream`, spawned from the episode's seed by a stable name.
Draws are made from raw PCG64 words, since numpy promises stable words but not stable distributions.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import Any, TypeVar

from agentgym.pcg64 import advanced, seeded

T = TypeVar("T")
_WORD = 1 << 64


def derive(seed: int, name: str) -> int:
    """Return the child seed of *seed* for *name*, in 0 … 2⁶³ − 1.

    >>> derive(7, "scenario") == derive(7, "scenario") != derive(8, "scenario")
    True
    """
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:8], "big") >> 1


class Stream:
    """One stream of draws.

    Args:
        seed: the episode's seed, 0 … 2⁶³ − 1.
        name: what the stream is for, such as "user" or "hook/jitter".
    """

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        self._state, self._increment = 0, 0

    def _word(self) -> int:
        if not self._increment:
            digest = hashlib.sha256(f"{self._seed}/{self._name}".encode()).digest()
            self._state, self._increment = seeded(int.from_bytes(digest[:16], "big"))
        self._state, word = advanced(self._state, self._increment)
        return word

    def integers(self, low: int, high: int) -> int:
        """An integer in low … high − 1, each as likely.

        Raises:
            ValueError: the range is empty or wider than 2⁶⁴.
        """
        span = high - low
        if not 0 < span <= _WORD:
            raise ValueError(f"expected low < high with at most 2**64 values, got low={low}, high={high}")
        limit = _WORD - _WORD % span
        while (word := self._word()) >= limit:
            pass
        return low + word % span

    def uniform(self) -> float:
        """A float in [0, 1) with 53 random bits."""
        return (self._word() >> 11) / float(1 << 53)

    def choice(self, options: Sequence[T]) -> T:
        """One of *options*, each as likely.

        Raises:
            ValueError: there are none.
        """
        if not options:
            raise ValueError("expected at least one option to choose from, got none")
        return options[self.integers(0, len(options))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Shuffle *items* in place (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.integers(0, last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return *count* different ones of *options*, in random order.

        Raises:
            ValueError: there are fewer.
        """
        if not 0 <= count <= len(options):
            raise ValueError(f"expected a count in 0..{len(options)}, got {count}")
        pool = list(options)
        self.shuffle(pool)
        return pool[:count]

    def get_state(self) -> dict[str, Any]:
        """The stream's position, JSON-able."""
        position = {"state": self._state, "inc": self._increment} if self._increment else None
        return {"seed": self._seed, "name": self._name, "state": position}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go to a position that `get_state` gave."""
        self._seed, self._name, position = state["seed"], state["name"], state["state"]
        self._state, self._increment = (int(position["state"]), int(position["inc"])) if position else (0, 0)
