"""The generator PCG64 as numpy seeds and runs it, word for word, in plain Python.

A stream is begun at each reset, often for a single draw. ``numpy.random.PCG64(seed)`` takes longer for its first word
than these two functions for fifty.
"""

from __future__ import annotations

from typing import Final

_M32: Final = (1 << 32) - 1
_M64: Final = (1 << 64) - 1
_M128: Final = (1 << 128) - 1
_STEP: Final = 0x2360ED051FC65DA44385DF649FCCF645
_MIX: Final = (0xCA01F9DD, 0x4973F715)
_POOL: Final = 4


def _chain(start: int, factor: int, count: int) -> tuple[tuple[int, int], ...]:
    """The constants of *count* hashes in a row: what a word is combined with, and what it is multiplied by."""
    found = []
    for _ in range(count):
        following = start * factor & _M32
        found.append((start, following))
        start = following
    return tuple(found)


_FIRST: Final = _chain(0x43B0D7E5, 0x931E8875, _POOL * _POOL)
_FILL, _CROSS = _FIRST[:_POOL], _FIRST[_POOL:]
_PAIRS: Final = tuple((source, target) for source in range(_POOL) for target in range(_POOL) if source != target)
_ROUNDS: Final = tuple((*pair, *constants) for pair, constants in zip(_PAIRS, _CROSS, strict=True))
_OUT: Final = tuple((n % _POOL, *constants) for n, constants in enumerate(_chain(0x8B51F9DD, 0x58F38DED, 2 * _POOL)))


def seeded(seed: int) -> tuple[int, int]:
    """State and increment of ``numpy.random.PCG64(seed)``.

    Args:
        seed: 0 … 2¹²⁸ − 1.

    >>> seeded(7)[0] >> 100
    164671180
    """
    left, right = _MIX
    pool = []
    for n, (flip, factor) in enumerate(_FILL):
        word = ((seed >> 32 * n & _M32) ^ flip) * factor & _M32
        pool.append(word ^ word >> 16)
    for source, target, flip, factor in _ROUNDS:
        word = (pool[source] ^ flip) * factor & _M32
        word = left * pool[target] - right * (word ^ word >> 16) & _M32
        pool[target] = word ^ word >> 16
    words = []
    for place, flip, factor in _OUT:
        word = (pool[place] ^ flip) * factor & _M32
        words.append(word ^ word >> 16)
    a, b, c, d, e, f, g, h = words
    increment = (f << 97 | e << 65 | h << 33 | g << 1 | 1) & _M128
    return ((increment + (b << 96 | a << 64 | d << 32 | c)) * _STEP + increment) & _M128, increment


def advanced(state: int, increment: int) -> tuple[int, int]:
    """The next state and the 64-bit word that belongs to it."""
    state = (state * _STEP + increment) & _M128
    word = (state >> 64 ^ state) & _M64
    turn = state >> 122
    return state, (word >> turn | word << 64 - turn) & _M64
