"""Which facts a message asks for, judged by how near it is to the questions that each fact answers.

A line through a few numbers decides: how near the fact is (`agentgym.likeness`), how much the words of the message
sound like a question that can be answered, and what the rules of `agentgym.hearing` heard. Its weights were learnt from
what people wrote (`docs/users.md`). All numbers are whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from agentgym.clauses import Kind, understood
from agentgym.heard import Script
from agentgym.lexicon import folded
from agentgym.likeness import Ints, examples_of, nearness, parts_of
from agentgym.vectors import table

_TWO: Final = re.compile(
    r"\b(?:two|couple of) (?:\w+ )?(?:things?|questions?|points?|details?|checks?|facts?|fields?|matters?|items?"
    r"|formalities|borders?|entries)\b|\bboth\?|\bthese two\b(?=\W*$|\?)|两(?:点|个问题|项|件事|处)"
)
_DATA: Final = re.compile(r"\{[^{}]*\}")
"""Data in braces, which ask nothing."""
_FAR: Final = -1500
"""As far as a fact may be."""
_DOUBT: Final = 150_000
"""In hundred thousandths of a logit, as the weights of the line."""
NUMBERS: Final = 8
"""So many numbers are weighed for each fact."""


def judged(message: str, script: Script, heard: Sequence[str]) -> dict[str, bool]:
    """Whether each fact that has examples is asked for; nothing where the message says nothing.

    A fact that has no examples but those that its script gives is also asked for where the rules hear it.

    Args:
        message: What the agent says.
        script: The facts.
        heard: The facts that the rules hear in the message.
    """
    examples = examples_of(script)
    names = [script[at][0] for at in examples.judged]
    if not names:
        return {}
    rows = numbers(message, script, heard)
    line = table().arrays["line"]
    scores = rows @ line[:-1] + line[-1]
    if not any(clause.asks and clause.kind is not Kind.FRAGMENT for clause in understood(message)):
        # What does not look like a question must be very like one.
        scores -= _DOUBT * (1 - rows[:, 3])
    asked = dict(zip(names, (scores > 0).tolist(), strict=False))
    for at, few in zip(examples.judged, examples.few, strict=True):
        name, _, _, texts = script[at]
        # A few examples of one's own add to what the rules hear; they do not outweigh it.
        if few and name in asked:
            asked[name] = asked[name] or name in heard or folded(message) in map(folded, texts)
    return asked


def numbers(message: str, script: Script, heard: Sequence[str]) -> Ints:
    """The numbers that a message is judged by, one row for each fact that has examples; no row if it says nothing.

    Returns:
        How near the fact is, the same if nothing in the message asks, how the words sound (`prior` of the table),
        whether the rules hear the fact, whether they hear another one, whether it is the second of two things asked
        for, how near it is by itself, and whether something asks.
    """
    message = _DATA.sub(" ", message)
    examples, parts = examples_of(script), parts_of(message)
    rows = np.zeros((len(examples.judged) if parts.rows else 0, NUMBERS), dtype=np.int64)
    if not len(rows):
        return rows
    near, closest = nearness(parts, examples)
    near = np.maximum(near, _FAR)
    rows[:, 0] = near
    rows[:, 1] = 0 if parts.asks else near
    rows[:, 2] = table().arrays["prior"][list({row for part in parts.rows for row in part})].sum()
    names = [script[at][0] for at in examples.judged]
    rows[:, 3] = [name in heard for name in names]
    rows[:, 4] = [any(other != name for other in heard) for name in names]
    if len(near) > 1 and _TWO.search(folded(message)):
        rows[np.argsort(-near, kind="stable")[1], 5] = 1
    rows[:, 6], rows[:, 7] = closest, parts.asks
    return rows
