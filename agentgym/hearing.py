"""What the scripted user understands of a message: which of its facts are asked for.

A phrase of a fact's ``when`` is heard in any sentence. In a *question* or a *request* more is heard: the phrase's words
inflected, in another order or replaced by words that mean the same (`agentgym.lexicon`), and words of the fact itself.
A question for something that can be named (a phone number, a birthday) never gets a fact that is not about it, and what
need not be told is not asked for. Nothing is drawn and nothing learnt: the same message always means the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from agentgym.clauses import (
    LONGEST,
    Clause,
    Kind,
    aside,
    asks,
    closes,
    hears,
    members,
    spaced,
    stands,
    stems,
    understood,
)
from agentgym.lexicon import (
    ASKED,
    CHOICES,
    GENERAL,
    POINTED,
    SPECIFIC,
    THINGS,
    WEAK,
    WHAT_KIND,
    Terms,
    folded,
    sorted_out,
    terms,
)
from agentgym.scenario import Fact

__all__ = ["Clause", "Kind", "asked_for", "asks", "closes", "hears", "understood"]

_DATED: Final = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|yesterday|today|tomorrow|(?:days?|weeks?|months?) ago|last (?:week|month|year)|never"
    r"|not yet)\b"
    r"|[一二三四五六七八九十\d]月|月[底初中]|昨天|前天|上周|星期|\d号"
)
_CHOSEN: Final = CHOICES - {"@which", "@price"} | {"@send_back", "@broken", "@contents", "@buy", "want", "mean", "tak"}
"""What one does with the one of several that "which" asks for."""
_COUNTED: Final = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|both|all|each|every\w*|none|nothing|no"
    r"|pair|once|twice)\b"
    r"|\d|[一二两三四五六七八九十几都全]"
)
_ELLIPTIC: Final = re.compile(
    r"^\W*(?:so |and |now )?(?:would you be interested|are you interested|what do you (?:think|say)"
    r"|what would you say|do you agree"
    r"|how does (?:that|this) sound|(?:would|is|does|will) (?:that|this|it) (?:be |work|suit|help|sound|ok|fine"
    r"|all|accept|an option)"
    r"|您(?:看|觉得|同意|愿意|能?接受)|(?:可以|能)接受)"
)
_PRONOUN: Final = re.compile(r"\b(?:it|them|ones?|that|those|these|this)\b|[它这那]")
_PERSON: Final = re.compile(r"\b(?:dr|mr|mrs|ms|prof)\.? [a-z]")


class _Phrase(NamedTuple):
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
class _Heard:
    """A fact as the ear knows it: its phrases, and the terms of its phrases, of its name and of what it says.

    ``lacks``: what a question must not name; ``dated``, ``counted``: it can say when, how many; ``chooses``: it is what
    the user would rather have.
    """

    phrases: tuple[_Phrase, ...]
    known: frozenset[str]
    near: frozenset[str]
    lacks: frozenset[str]
    dated: bool
    counted: bool
    chooses: bool


class _Part(NamedTuple):
    """A part of a question: its terms, its words, and its words as stems."""

    terms: Terms
    spaced: str
    stems: str


Script = tuple[tuple[str, tuple[str, ...], str], ...]
"""Name, ``when`` and ``say`` of each fact."""


def asked_for(message: str, facts: Mapping[str, Fact]) -> list[str]:
    """Return the names of the facts that *message* asks for, in the order of the script."""
    return list(_asked_for(message[:LONGEST], tuple((name, tuple(f.when), f.say) for name, f in facts.items())))


@lru_cache(maxsize=256)
def _asked_for(message: str, script: Script) -> tuple[str, ...]:
    known = _compiled(script)
    asked: set[str] = set()
    spoken: set[str] = set()
    for clause in understood(message):
        if clause.instead and asked:
            continue
        (asked if clause.asks else spoken).update(_meant(clause, known))
    # What the agent says beside a question that can be answered is no question.
    told = asked or spoken
    return tuple(name for name in known if name in told)


def _meant(clause: Clause, known: Mapping[str, _Heard]) -> Iterable[str]:
    """The facts that one clause is about."""
    named = _named(clause, known)
    if not named and clause.before and _ELLIPTIC.search(clause.text):
        # "We can send a new one. Would you be interested?" asks about what was said before.
        return _meant(Clause(clause.before, Kind.CLOSED), known)
    if clause.asks and not named:
        return _chosen(clause, known) or _nearest(clause, known) or _meant_by_one(clause, known)
    if len(named) < 2:
        return named
    named = _exact(clause, named)
    # "Is the lamp broken?" asks about the lamp, not about what else is broken.
    things = {name for name, phrases in named.items() if any(phrase.names for phrase in phrases)}
    return [
        name
        for name, phrases in named.items()
        if not things or name in things or not all(phrase.general for phrase in phrases)
    ]


def _exact(clause: Clause, named: dict[str, list[_Phrase]]) -> dict[str, list[_Phrase]]:
    """Without the phrases that are there in other forms only, where another fact has them as they are."""
    text = spaced(clause.text)
    there = {phrase.literal for phrases in named.values() for phrase in phrases if stands(text, phrase.literal)}
    forms = {phrase.stems for phrases in named.values() for phrase in phrases if phrase.literal in there}
    kept = {
        name: [phrase for phrase in phrases if phrase.literal in there or phrase.stems not in forms]
        for name, phrases in named.items()
    }
    return {name: phrases for name, phrases in kept.items() if phrases}


def _meant_by_one(clause: Clause, known: Mapping[str, _Heard]) -> list[str]:
    """What "one" or "it" stands for: a phrase that is partly in the clause and for the rest in the one before it."""
    if not clause.before or not _PRONOUN.search(clause.text):
        return []
    own = terms(clause.text)
    found = sorted_out(own.all | terms(clause.before).all)
    first = [
        name
        for name, fact in known.items()
        if any(
            phrase.terms.content & own.content
            and _means(phrase, found, found, clause.kind)
            and not _elsewhere(phrase, own, fact)
            for phrase in fact.phrases
        )
    ]
    return first if len(first) == 1 else []


@lru_cache(maxsize=1024)
def _compiled(script: Script) -> dict[str, _Heard]:
    """The facts of a script as the ear knows them."""
    return {name: _heard(name, when, say) for name, when, say in script}


def _heard(name: str, when: tuple[str, ...], say: str) -> _Heard:
    phrases = tuple(_phrase(folded(text)) for text in when)
    near = frozenset().union(*(phrase.terms.all for phrase in phrases)) | terms(folded(name.replace("_", " "))).all
    told = folded(say)
    if near & {"@order_no", "@which_order"}:
        near |= {"@buy"}
    if "@pay_how" in near:
        near |= {"@pay"}
    known = near | terms(told).all | ({"@name"} if _PERSON.search(told) else set())
    chooses = "@prefer" in terms(folded(name)).all or bool(near & {"@prefer"} and near & {"@refund", "@replace"})
    return _Heard(
        phrases,
        known,
        near,
        lacks=SPECIFIC - known,
        dated=bool(_DATED.search(told)),
        counted=bool(_COUNTED.search(told)) or "@count" in near,
        chooses=chooses,
    )


def _phrase(text: str) -> _Phrase:
    found = terms(text)
    return _Phrase(
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


def _named(clause: Clause, known: Mapping[str, _Heard]) -> dict[str, list[_Phrase]]:
    """The facts that have phrases in the clause, and these."""
    if clause.kind is Kind.NEEDLESS:
        return {}
    named: dict[str, list[_Phrase]] = {}
    if not clause.asks:
        text = spaced(clause.text)
        for name, fact in known.items():
            if found := [phrase for phrase in fact.phrases if stands(text, phrase.literal)]:
                named[name] = found
        return named
    text = aside(clause.text)
    whole = terms(text)
    parts = [_Part(terms(part), spaced(part), stems(part)) for part in members(text)]
    for name, fact in known.items():
        found = []
        for part in parts:
            for phrase in fact.phrases:
                # Most phrases are not even near, which is seen soonest so.
                near = (
                    phrase.terms.content <= part.terms.all
                    or phrase.bare in part.spaced
                    or phrase.bare_stems in part.stems
                )
                if near and _heard_in(phrase, part, whole, clause, fact):
                    found.append(phrase)
        if found:
            named[name] = found
    return named


def _heard_in(phrase: _Phrase, part: _Part, whole: Terms, clause: Clause, fact: _Heard) -> bool:
    """Whether a phrase, as it stands or in other words, is in a part of a question and meant there."""
    found = part.terms
    literal = stands(part.spaced, phrase.literal) or stands(part.stems, phrase.stems)
    # "address" stands in "e-mail address" without being meant.
    literal = literal and phrase.specific <= found.all
    return (literal or _means(phrase, found, whole, clause.kind)) and not _elsewhere(phrase, found, fact)


def _means(phrase: _Phrase, found: Terms, whole: Terms, kind: Kind) -> bool:
    """Whether all that a phrase is about is in the question. "which" and "what" ask for more than yes or no."""
    content = phrase.terms.content
    if content and not content <= found.all:
        return False
    if phrase.which and (kind is Kind.CLOSED or ("@which" not in whole.weak and whole.weak & ASKED)):
        return False
    if not content:
        return bool(phrase.words & ASKED) and phrase.words <= found.all
    return phrase.words <= whole.all


def _elsewhere(phrase: _Phrase, found: Terms, fact: _Heard) -> bool:
    """Whether the question names something that the fact is not about."""
    if phrase.specific or phrase.coded:
        return False
    content = phrase.terms.content
    if phrase.one:
        return bool(found.all & POINTED - fact.known or not (_CHOSEN & found.all or found.content <= fact.near))
    if content:
        untold = ("@time" in found.all and not fact.dated and "@time" not in fact.near) or (
            "@count" in found.all and not fact.counted
        )
        if untold and not phrase.general:
            return True
        if content == {"@broken"} and "@box" in found.all and "@box" not in fact.known:
            return True
        return not found.all.isdisjoint(fact.lacks)
    named = found.all & POINTED - fact.known
    other = fact.known & {"@arrive", "@send_back"} or "@place" in phrase.terms.all
    bought = "@buy" in found.all and "@buy" not in fact.known and bool(other)
    return bool(named) or bought


def _chosen(clause: Clause, facts: Mapping[str, _Heard]) -> list[str]:
    """What the user would rather have, where a question speaks of a choice: "a new one or a refund"."""
    found = terms(clause.text).all
    offers = len(found & {"@refund", "@replace", "@credit"})
    either = offers and (" or " in clause.text or "还是" in clause.text)
    if not either and not ("@prefer" in found and found <= CHOICES):
        return []
    first = [name for name, fact in facts.items() if fact.chooses]
    return first if len(first) == 1 and not found & SPECIFIC else []


def _nearest(clause: Clause, facts: Mapping[str, _Heard]) -> list[str]:
    """The fact that shares two terms or more with a question, one with its phrases, and more than any other."""
    found = terms(clause.text)
    pointed = found.all & SPECIFIC
    if not found.all or (pointed and pointed - frozenset().union(*(fact.known for fact in facts.values()))):
        return []
    scores = {}
    for name, fact in facts.items():
        common = (found.all & fact.known) - WEAK
        if fact.dated and "@time" in found.all:
            common |= {"@time"}
        if found.all & WHAT_KIND - fact.near - common:
            continue
        close = (found.all & fact.near) - WEAK
        if len(common) >= 2 and close and pointed <= fact.known:
            scores[name] = len(common) + len(close)
    best = max(scores.values(), default=0)
    first = [name for name, score in scores.items() if score == best]
    return first if len(first) == 1 else []
