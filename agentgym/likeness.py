"""How like a message is to the questions that each fact of a script answers, and to those that it does not answer.

A message is compared part by part: as a whole, each sentence, each member of a sentence that asks. Each part is a
direction (`agentgym.vectors`), compared with the directions of all examples: those that ask for the fact, and those
that ask for something else or for what nobody in the script knows.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentgym.clauses import Kind, sentences
from agentgym.heard import Script
from agentgym.vectors import UNIT, Whole, direction, packed, rows_of, summed, table

Ints = NDArray[np.int64]

ASKING: Final = 0
"""A sentence that asks; then a member of one, another sentence, the whole message."""
MEMBER: Final = 1
OTHER: Final = 2
WHOLE: Final = 3

_PART: Final = re.compile(
    r"[,;:，；：、—–()]+|\s-\s|\b(?:and|or|but|as well as|plus|whether|if)\b|以及|还有|或者|还是|和|是否|另外"
)
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_EDGE: Final = re.compile(r"[\W_]+")
_MOST: Final = 12
_MOST_MEMBERS: Final = 6


class Parts(NamedTuple):
    """The parts of a message: their rows in the table, what each is, and the rows of all that asks in it."""

    rows: list[tuple[int, ...]]
    kinds: list[int]
    asking: tuple[int, ...]
    asks: bool


@lru_cache(maxsize=256)
def parts_of(message: str) -> Parts:
    """Take a message apart. Without anything that asks, its last sentence stands for that."""
    asking: list[tuple[tuple[int, ...], int]] = []
    others: list[tuple[tuple[int, ...], int]] = []
    every: list[tuple[int, ...]] = []
    asked: tuple[int, ...] = ()
    for text, clauses in sentences(message):
        kept = [clause for clause in clauses if clause.kind is not Kind.NEEDLESS]
        if not kept:
            continue
        if len(kept) < len(clauses):
            text = ", ".join(clause.text for clause in kept)
        rows = rows_of(text)
        every.append(rows)
        if any(clause.asks for clause in kept):
            asked += rows
            asking.append((rows, ASKING))
            if len(asking) < _MOST:
                asking += [(rows_of(part), MEMBER) for part in _members(text)]
        else:
            others.append((rows, OTHER))
    found = [*asking[:_MOST], *others[: _MOST - len(asking)]]
    if len(every) + len(asking) > 2 - (not asking):
        found.insert(0, (tuple(row for rows in every for row in rows), WHOLE))
    return Parts([rows for rows, _ in found], [kind for _, kind in found], asked or (every or [()])[-1], bool(asking))


def _members(text: str) -> list[str]:
    least = 2 if _HAN.search(text) else 6
    members = [part for part in _PART.split(text) if len(_EDGE.sub("", part)) >= least]
    return members[:_MOST_MEMBERS] if len(members) > 1 else []


class Examples(NamedTuple):
    """The examples of a script: their directions (dimensions × n), and what they ask for (n × judged facts).

    ``asked`` has a last column of ones, to add them all up. ``judged``: the facts that have any examples, by their
    place in the script; ``few``: whether each of these has none but the script's own.
    """

    directions: Whole
    asked: NDArray[np.float64]
    judged: tuple[int, ...]
    few: tuple[bool, ...]


def digest(name: str, say: str) -> int:
    """What a fact is known by, so that its examples are found wherever it stands."""
    return int.from_bytes(hashlib.sha256(f"{name}\n{say}".encode()).digest()[:8], "big")


@lru_cache(maxsize=1)
def _shelf() -> tuple[dict[int, tuple[int, int]], dict[str, NDArray[Any]]]:
    """The examples of all curated scenarios: where each fact is (scenario, bit), and the arrays."""
    arrays = dict(packed("asked.npz"))
    places = zip(arrays["homes"].tolist(), arrays["bits"].tolist(), strict=True)
    return dict(zip(arrays["facts"].tolist(), places, strict=True)), arrays


@lru_cache(maxsize=256)
def examples_of(script: Script) -> Examples:
    """The examples of a script: those of the scenario that its facts are from, and its own (``asked``)."""
    facts, arrays = _shelf()
    places = [facts.get(digest(name, say)) for name, _, say, _ in script]
    homes = Counter(place[0] for place in places if place)
    home = max(homes, key=lambda each: (homes[each], -each), default=-1)
    bits = [place[1] if place and place[0] == home else -1 for place in places]
    start, end = (int(arrays["starts"][home + at]) for at in (0, 1)) if home >= 0 else (0, 0)
    labels = arrays["labels"][start:end]
    directions = [arrays["directions"][start:end].astype(np.float32)]
    asked = [np.zeros((len(labels), len(script)), dtype=np.bool_)]
    for at, bit in enumerate(bits):
        if bit >= 0:
            asked[0][:, at] = (labels >> bit) & 1
    own = [(at, text) for at, (*_, texts) in enumerate(script) for text in texts]
    if own:
        directions.append(direction(summed([parts_of(text).asking for _, text in own])))
        asked.append(np.array([[at == each for each in range(len(script))] for at, _ in own]))
    if own and home < 0:
        # Who has written examples of what is asked for and none of what is not gets those that nobody could answer.
        unknown = table().arrays["unknown"].astype(np.float32)
        directions.append(unknown)
        asked.append(np.zeros((len(unknown), len(script)), dtype=np.bool_))
    known = tuple(at for at, (*_, texts) in enumerate(script) if texts or bits[at] >= 0)
    every = np.concatenate(asked)[:, list(known)].astype(np.float64)
    every = np.concatenate([every, np.ones((len(every), 1))], axis=1)
    few = tuple(bits[at] < 0 for at in known)
    return Examples(np.ascontiguousarray(np.concatenate(directions).T), every, known, few)


def nearness(parts: Parts, examples: Examples) -> tuple[Ints, Ints]:
    """How near a message is to each judged fact (facts), against all else that is asked for, and by itself.

    Each part is compared with all examples; those that ask for a fact speak for it and all others against it. Both are
    logarithms: 64 to the doubling of the odds.
    """
    learnt = table().arrays
    own = direction(summed([*parts.rows, parts.asking]))
    mixed = direction(own[:-1] * np.float32(learnt["mix"][0]) + own[-1] * np.float32(learnt["mix"][1]))
    cosines = np.minimum(np.maximum(mixed @ examples.directions, 0), UNIT * UNIT).astype(np.int64)
    sums = learnt["weights"][cosines] @ examples.asked
    for_it = sums[:, :-1]
    near, far = _logarithm(for_it), _logarithm(sums[:, -1:] - for_it)
    scores = (learnt["share"][0] * near - learnt["share"][1] * far) // 1000 + learnt["kinds"][parts.kinds][:, None]
    highest = scores.max(axis=0)
    added = learnt["powers"][np.minimum(highest - scores, len(learnt["powers"]) - 1)].sum(axis=0)
    return highest + _logarithm(added) - int(learnt["one"][0]), near.max(axis=0)


def _logarithm(values: NDArray[np.float64]) -> Ints:
    # Looked up, because a logarithm is not the same to the last bit on each machine.
    found: Ints = np.searchsorted(table().arrays["thresholds"], values, side="right")
    return found
