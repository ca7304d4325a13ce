"""Random streams whose values do not change with the version of numpy.

Each purpose (the world, the user, each wrapper) has its own `Stream`, spawned from the episode's seed by a stable name.
Draws are made from raw PCG64 words, since numpy promises stable words but not stable distributions.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import Any, TypeVar

import numpy as np

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
        self._bits: np.random.PCG64 | None = None

    def _word(self) -> int:
        if self._bits is None:
            digest = hashlib.sha256(f"{self._seed}/{self._name}".encode()).digest()
            self._bits = np.random.PCG64(int.from_bytes(digest[:16], "big"))
        return int(self._bits.random_raw())

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
        state: Any = None if self._bits is None else self._bits.state["state"]
        return {"seed": self._seed, "name": self._name, "state": state}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go to a position that `get_state` gave."""
        self._seed, self._name, self._bits = state["seed"], state["name"], None
        if state["state"] is not None:
            self._bits = np.random.PCG64(0)
            position = state["state"]
            self._bits.state = {
                "bit_generator": "PCG64",
                "state": {"state": int(position["state"]), "inc": int(position["inc"])},
                "has_uint32": 0,
                "uinteger": 0,
            }
