"""How like a question is to what is known of each fact of a script: its example questions, its phrases and its words.

Each fact is a list of texts. A question is compared with each of them word by word, by the vectors of the words
(`agentgym.vectors`): how much of the question is met by the text, and how much of the text by the question.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentgym.heard import Script
from agentgym.vectors import Ints, Words, direction, likeness, read

EXAMPLE: Final = 0
PHRASE: Final = 1
SAID: Final = 2
_NAME: Final = 3
SPAN_FEATURES: Final = 11
"""So many numbers `compare` has for each fact."""


class Texts(NamedTuple):
    """The texts of a script, fact by fact, and within a fact kind by kind.

    ``keys``: all different words, by their column; ``vectors`` and ``counts`` of these; ``columns``: the words of the
    texts, one text after the other, ``starts``: where each text begins in it; ``sums``: what each text counts;
    ``kinds``: what each text is; ``facts``: where the texts of each fact begin; ``directions`` of the texts, and
    ``middles``: those of the examples of each fact taken together.
    """

    keys: dict[str, int]
    vectors: NDArray[np.float32]
    counts: Ints
    columns: Ints
    starts: Ints
    sums: Ints
    kinds: Ints
    facts: Ints
    directions: NDArray[np.float32]
    middles: NDArray[np.float32]


@lru_cache(maxsize=256)
def texts_of(script: Script) -> Texts:
    """The texts of a script."""
    listed: list[tuple[str, int]] = []
    facts: list[int] = []
    for name, when, say, asked in script:
        facts.append(len(listed))
        listed += [(text, EXAMPLE) for text in asked]
        listed += [(text, PHRASE) for text in when]
        listed += [(say, SAID), (name.replace("_", " "), _NAME)]
    return _compiled([text for text, _ in listed], [kind for _, kind in listed], facts)


def _compiled(texts: list[str], kinds: list[int], facts: list[int]) -> Texts:
    keys: dict[str, int] = {}
    vectors: list[NDArray[np.float32]] = []
    counts: list[int] = []
    columns: list[int] = []
    starts: list[int] = []
    sums: list[Ints] = []
    for text in texts:
        words = read(text)
        starts.append(len(columns))
        for key, vector, count in zip(words.keys, words.vectors, words.counts, strict=True):
            if key not in keys:
                keys[key] = len(keys)
                vectors.append(vector)
                counts.append(int(count))
            columns.append(keys[key])
        if not words.keys:
            columns.append(_nothing(keys, vectors, counts))
        sums.append(words.counts @ words.vectors.astype(np.int64))
    every, kind, size = np.array(sums), np.array(kinds), np.array(counts)
    examples = np.where((kind == EXAMPLE)[:, None], every, 0)
    return Texts(
        keys,
        np.array(vectors),
        size,
        np.array(columns),
        np.array(starts),
        np.add.reduceat(size[columns], starts),
        kind,
        np.array(facts),
        direction(every),
        direction(np.add.reduceat(examples, facts, axis=0)),
    )


def _nothing(keys: dict[str, int], vectors: list[NDArray[np.float32]], counts: list[int]) -> int:
    """The column of a word that nothing is like, for a text without words."""
    if "" not in keys:
        keys[""] = len(keys)
        vectors.append(np.zeros_like(read("a b").vectors[:1].sum(axis=0)) if not vectors else np.zeros_like(vectors[0]))
        counts.append(1)
    return keys[""]


class Spans(NamedTuple):
    """Parts of a question: what each word of the question counts in each of them (parts × words), 0 if it is not in it.

    ``directions``: of each part.
    """

    words: Words
    counts: Ints
    directions: NDArray[np.float32]


def spans_of(words: Words, parts: list[list[int]]) -> Spans:
    """Parts of a question by the words in it, as their places in *words*."""
    counts = np.zeros((len(parts), len(words.keys)), dtype=np.int64)
    for at, part in enumerate(parts):
        counts[at, part] = words.counts[part]
    return Spans(words, counts, direction(counts @ words.vectors.astype(np.int64)))


def compare(spans: Spans, texts: Texts) -> Ints:
    """Compare parts of a question with the facts of a script.

    Returns:
        Parts × facts × `SPAN_FEATURES`, each 0–200: the example that is most like the part, how much of the part it
        meets, how much of it is met, the example that is next; how much of the part any text of the fact meets, the
        most important word that none meets; how much what the fact says meets; how much of a phrase of the fact is in
        the part, the same and how much of the part it meets; the cosine to the nearest example, and to all of them.
    """
    words = spans.words
    alike = likeness(words.vectors, texts.vectors)
    for at, key in enumerate(words.keys):
        if (column := texts.keys.get(key)) is not None:
            alike[at, column] = 100
    met = np.maximum.reduceat(alike[:, texts.columns], texts.starts, axis=1)
    total = np.maximum(spans.counts.sum(axis=1), 1)[:, None]
    asked = spans.counts @ met // total
    inside = np.array([alike[row > 0].max(axis=0, initial=0) for row in spans.counts])
    told = np.add.reduceat((inside * texts.counts)[:, texts.columns], texts.starts, axis=1) // texts.sums
    both = np.sqrt((asked * told).astype(np.float64)).astype(np.int64)
    by_fact = np.maximum.reduceat(met, texts.facts, axis=1)
    missing = (spans.counts[:, :, None] * (100 - by_fact)[None]).max(axis=1) // 100
    best, best_asked, best_told, second = _two_best(both, asked, told, texts)
    cosines = (spans.directions @ np.concatenate([texts.directions, texts.middles]).T).astype(np.int64) * 100 // 16129
    number = len(texts.kinds)
    columns = (
        best,
        best_asked,
        best_told,
        second,
        spans.counts @ by_fact // total,
        missing,
        _most(asked, texts, SAID),
        _most(told, texts, PHRASE),
        _most(asked + told, texts, PHRASE),
        _most(cosines[:, :number], texts, EXAMPLE),
        cosines[:, number:],
    )
    return np.stack(columns, axis=2)


def _most(values: Ints, texts: Texts, kind: int) -> Ints:
    """The highest value of each fact among its texts of a kind, at least 0."""
    most: Ints = np.maximum.reduceat(np.where(texts.kinds == kind, np.maximum(values, 0), 0), texts.facts, axis=1)
    return most


def _two_best(both: Ints, asked: Ints, told: Ints, texts: Texts) -> tuple[Ints, Ints, Ints, Ints]:
    """For each part and fact: the best example, how much it meets, how much of it is met, and the next best."""
    # One number for all of it, so that a plain maximum finds the best with what belongs to it.
    packed = np.where(texts.kinds == EXAMPLE, (both << 20) | (asked << 10) | told, 0)
    best = np.maximum.reduceat(packed, texts.facts, axis=1)
    sizes = np.diff(np.append(texts.facts, len(texts.kinds)))
    rest = np.where(packed == np.repeat(best, sizes, axis=1), 0, packed)
    second = np.maximum.reduceat(rest, texts.facts, axis=1)
    return best >> 20, (best >> 10) & 1023, best & 1023, second >> 20
