"""A fixed table of word vectors, and texts read by it. All numbers are integers: every machine computes the same.

The table is read when first needed. `agentgym/data/README.md` says where it is from and how it was built.
"""

from __future__ import annotations

import io
import re
import zipfile
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentgym.lexicon import folded, stemmed
from agentgym.senses import all_senses

Ints = NDArray[np.int64]

UNIT: Final = 127
"""The length of each vector."""
_UNKNOWN: Final = 40
"""What a word counts that the table does not have: it is met by the same word only."""
_SENSE: Final = 30
"""What a sense of `agentgym.senses` counts."""
_MOST_WORDS: Final = 400
_SENSES_IN: Final = 4000
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+|[\u4e00-\u9fff]+")


class Table(NamedTuple):
    """Row of each word, their vectors (n × dimensions, whole numbers as float32), and what each word counts (0–100).

    ``unknown``: the directions of questions that nobody could answer; ``trees``: what `agentgym.judged` judges by.
    """

    rows: dict[str, int]
    vectors: NDArray[np.float32]
    counts: Ints
    unknown: NDArray[np.float32]
    trees: dict[str, Ints]


@lru_cache(maxsize=1)
def table() -> Table:
    """Read the table."""
    data = (files("agentgym") / "data" / "words.npz").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in archive.namelist()
        }
    words = arrays.pop("words").tobytes().decode("utf-8").split("\n")
    # Sums of products of such numbers stay below 2**24, where float32 is exact in whatever order they are added.
    vectors = arrays.pop("vectors").astype(np.float32)
    rows = {word: at for at, word in enumerate(words)}
    counts = arrays.pop("counts").astype(np.int64)
    unknown = arrays.pop("unknown").astype(np.float32)
    return Table(rows, vectors, counts, unknown, {name: array.astype(np.int64) for name, array in arrays.items()})


class Words(NamedTuple):
    """The different words of a text that count, their vectors (n × dimensions), and what each of them counts."""

    keys: tuple[str, ...]
    vectors: NDArray[np.float32]
    counts: Ints


@lru_cache(maxsize=512)
def read(text: str) -> Words:
    """Read a text: a word with another ending is its stem, Chinese is cut into the longest words of the table.

    What the text may mean (`agentgym.senses`) stands beside its words.
    """
    known = table()
    keys: dict[str, tuple[int, int]] = {}
    for word in _split(folded(text), known.rows):
        if word not in keys:
            row = known.rows.get(word, -1)
            if row < 0 and word.isascii():
                row = known.rows.get(stemmed(word), -1)
            counts = int(known.counts[row]) if row >= 0 else _UNKNOWN
            if counts:
                keys[word] = (row, counts)
        if len(keys) == _MOST_WORDS:
            break
    for sense in sorted(all_senses(folded(text[:_SENSES_IN]))):
        keys[f"@{sense}"] = (-1, _SENSE)
    rows = np.array([row for row, _ in keys.values()], dtype=np.int64)
    vectors = known.vectors[rows]
    vectors[rows < 0] = 0
    return Words(tuple(keys), vectors, np.array([counts for _, counts in keys.values()], dtype=np.int64))


def _split(text: str, rows: dict[str, int]) -> list[str]:
    found = []
    for word in _WORD.findall(text):
        if word.isascii():
            found.append(word)
            continue
        at = 0
        while at < len(word):
            size = next(n for n in (4, 3, 2, 1) if n == 1 or (at + n <= len(word) and word[at : at + n] in rows))
            found.append(word[at : at + size])
            at += size
    return found


def direction(sums: Ints) -> NDArray[np.float32]:
    """Vectors (n × dimensions) brought to the length `UNIT`, as whole numbers; a vector of zeros stays one."""
    # Division and square root of float64 are exact to the last bit by IEEE 754, on each machine.
    lengths = np.sqrt((sums * sums).sum(axis=1).astype(np.float64))
    scaled: NDArray[np.float32] = np.rint(sums * (UNIT / np.maximum(lengths, 1.0))[:, None]).astype(np.float32)
    return scaled


def likeness(left: NDArray[np.float32], right: NDArray[np.float32]) -> Ints:
    """How alike the vectors of two lists are (n × m): 0–100, where 0 is a cosine of 0.3 or less."""
    dots = (left @ right.T).astype(np.int64)
    alike: Ints = np.clip((dots * 100 // (UNIT * UNIT) - 30) * 100 // 70, 0, 100)
    return alike
