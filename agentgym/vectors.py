"""A fixed table of word vectors, and texts read by it. All numbers are whole: every machine computes the same.

The table is read when first needed. `agentgym/data/README.md` says where it is from and how it was built.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentgym.lexicon import stemmed

Whole = NDArray[np.float32]
"""Whole numbers, as float32 because these are multiplied fast. All sums of products stay below 2**24, where they are
exact in whatever order they are added."""

UNIT: Final = 127
"""The length of the vector of a text."""
_LEARNT: Final = (
    "weights",
    "powers",
    "thresholds",
    "share",
    "kinds",
    "mix",
    "one",
    "prior",
    "line",
    "unknown",
)
_SUMMED: Final = frozenset({"weights", "powers", "thresholds"})
"""What is summed up as whole numbers below 2**53, in float64 because these are multiplied fast."""
_MOST_WORDS: Final = 400
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|[a-z]*\d[\w.:-]*|[\u4e00-\u9fff]+|[?？]")


class Table(NamedTuple):
    """Row of each word and each pair of neighbours, their vectors (n × dimensions), and what is learnt beside them."""

    rows: dict[str, int]
    vectors: Whole
    arrays: dict[str, NDArray[Any]]


@lru_cache(maxsize=1)
def table() -> Table:
    """Read the table."""
    arrays = packed("words.npz")
    words = arrays["words"].tobytes().decode("utf-8").split("\n")
    learnt = {name: arrays[name].astype(np.float64 if name in _SUMMED else np.int64) for name in _LEARNT}
    return Table({word: at for at, word in enumerate(words)}, arrays["vectors"].astype(np.float32), learnt)


def packed(name: str) -> Mapping[str, NDArray[Any]]:
    """The arrays of a file of `agentgym/data`; each is unpacked when it is asked for."""
    found: Mapping[str, NDArray[Any]] = np.load(
        io.BytesIO((files("agentgym") / "data" / name).read_bytes()), allow_pickle=False
    )
    return found


def tokens(text: str) -> list[str]:
    """The words of a folded text and all pairs of neighbours; Chinese by the letter, numbers and ids all alike."""
    words: list[str] = []
    for word in _WORD.findall(text):
        if word in "?？":
            words.append("?")
        elif word[0] >= "\u4e00":
            words += word
        elif word.isalpha() or "'" in word:
            words.append(word)
        else:
            words.append("#" if word[0].isdigit() else "#id")
    del words[_MOST_WORDS:]
    return [*words, *(f"{left} {right}" for left, right in zip(("^", *words), words, strict=False))]


@lru_cache(maxsize=1024)
def rows_of(text: str) -> tuple[int, ...]:
    """The rows of what the table has of a folded text: a word with another ending is its stem."""
    known = table().rows
    found = []
    for token in tokens(text):
        row = known.get(token)
        if row is None and " " not in token and token.isascii():
            row = known.get(stemmed(token))
        if row is not None:
            found.append(row)
    return tuple(found)


def summed(texts: Sequence[tuple[int, ...]]) -> Whole:
    """The sum of the vectors of each text (n × dimensions), zeros where it has none."""
    vectors = table().vectors
    sums = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
    full = [at for at, rows in enumerate(texts) if rows]
    if full:
        sizes = np.array([len(texts[at]) for at in full])
        every = vectors[[row for at in full for row in texts[at]]]
        sums[full] = np.add.reduceat(every, np.cumsum(sizes) - sizes, axis=0)
    return sums


def direction(sums: Whole) -> Whole:
    """Vectors (n × dimensions) brought to the length `UNIT`, as whole numbers; a vector of zeros stays one."""
    # Squares and roots of float64 are exact to the last bit by IEEE 754, on each machine.
    exact = sums.astype(np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1))
    scaled: Whole = np.rint(exact * (UNIT / np.maximum(lengths, 1.0))[:, None]).astype(np.float32)
    return scaled
