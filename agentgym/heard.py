"""The facts of a script as the scripted user's ear knows them: what a question is compared with, worked out once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from agentgym.clauses import spaced, stems
from agentgym.lexicon import GENERAL, SPECIFIC, THINGS, Terms, folded, terms
from agentgym.paraphrase import NAME, Values, profile, valued

Script = tuple[tuple[str, tuple[str, ...], str, tuple[str, ...]], ...]
"""Name, ``when``, ``say`` and ``asked`` of each fact."""


_DATED: Final = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|yesterday|today|tomorrow|(?:days?|weeks?|months?) ago|last (?:week|month|year)|never"
    r"|not yet)\b"
    r"|[一二三四五六七八九十\d]月|月[底初中]|昨天|前天|上周|星期|\d号"
)
_COUNTED: Final = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|both|all|each|every\w*|none|nothing|no"
    r"|pair|once|twice)\b"
    r"|\d|[一二两三四五六七八九十几都全]"
)
_PERSON: Final = re.compile(r"\b(?:dr|mr|mrs|ms|prof)\.? [a-z]")


class Phrase(NamedTuple):
    """A phrase of ``when``, with all that is needed of it worked out once.

    As it stands, with its words as stems, both without blanks at the edges, its terms, and those of its question words
    that must be in the question. ``names``: it names a thing, such as a lamp; ``general``: it says only what may be
    true of any thing; ``coded``: it is an id, which cannot be meant otherwise; ``one``: "which" and nothing else.
    """

    literal: str
    stems: str
    bare: str
    bare_stems: str
    terms: Terms
    words: frozenset[str]
    which: bool
    specific: frozenset[str]
    names: bool
    general: bool
    coded: bool
    one: bool


@dataclass(frozen=True, eq=False)
class Heard:
    """A fact as the ear knows it: its phrases, and the terms of its phrases, of its name and of what it says.

    ``about``: the same more widely (`agentgym.paraphrase`); ``lacks``: what a question must not name; ``dated``,
    ``counted``: it can say when, how many; ``chooses``: it is what the user would rather have; ``timed``: it is asked
    for by a time; ``which_of``: it tells which year or month is meant, not when something is.
    """

    phrases: tuple[Phrase, ...]
    known: frozenset[str]
    near: frozenset[str]
    about: Mapping[str, int]
    lacks: frozenset[str]
    dated: bool
    counted: bool
    chooses: bool
    timed: bool
    which_of: bool


@lru_cache(maxsize=1024)
def compiled(script: Script) -> dict[str, Heard]:
    """The facts of a script as the ear knows them."""
    return {name: _heard(name, when, say) for name, when, say, _ in script}


@lru_cache(maxsize=1024)
def values(script: Script) -> Values:
    """What each sense is worth for the facts of a script."""
    return valued({name: fact.about for name, fact in compiled(script).items()})


def _heard(name: str, when: tuple[str, ...], say: str) -> Heard:
    phrases = tuple(_phrase(folded(text)) for text in when)
    near = frozenset().union(*(phrase.terms.all for phrase in phrases)) | terms(folded(name.replace("_", " "))).all
    told = folded(say)
    if near & {"@order_no", "@which_order"}:
        near |= {"@buy"}
    if "@pay_how" in near:
        near |= {"@pay"}
    known = near | terms(told).all | ({"@name"} if _PERSON.search(told) else set())
    chooses = "@prefer" in terms(folded(name)).all or bool(near & {"@prefer"} and near & {"@refund", "@replace"})
    about = profile(name, when, say)
    return Heard(
        phrases,
        known,
        near,
        about,
        lacks=SPECIFIC - known,
        dated=bool(_DATED.search(told)),
        counted=bool(_COUNTED.search(told)) or "@count" in near,
        chooses=chooses,
        timed=any(about.get(sense, 0) >= NAME for sense in ("when", "period", "howlong", "since")),
        which_of=about.get("period", 0) >= NAME > about.get("when", 0),
    )


def _phrase(text: str) -> Phrase:
    found = terms(text)
    return Phrase(
        spaced(text),
        stems(text),
        spaced(text).strip(),
        stems(text).strip(),
        found,
        words=found.weak - {"@which"},
        which="@which" in found.weak,
        specific=found.all & SPECIFIC,
        names=any(term in THINGS or not term.startswith("@") for term in found.all),
        general=bool(found.content) and found.content <= GENERAL,
        coded=any(letter.isdigit() for letter in text),
        one=found.all == {"@which"},
    )
