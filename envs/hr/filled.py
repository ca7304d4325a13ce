"""A mapping that makes each value when it is first asked for, since an episode needs few of many."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeVar

V = TypeVar("V")


class Filled(Mapping[str, V]):
    """*keys* and what *make* makes of each, once.

    Args:
        keys: all that there are, in order.
        make: gives the value of a key; of what is no key it raises KeyError.
    """

    def __init__(self, keys: Collection[str], make: Callable[[str], V]) -> None:
        self._keys, self._make = keys, make
        self._made: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(key)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return repr(dict(self))
