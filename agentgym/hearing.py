"""What the scripted user understands of a message: which of its facts are asked for.

A phrase of a fact's ``when`` is heard in any sentence. In a *question* or a *request* more is heard: the phrase's words
inflected, in another order or replaced by words that mean the same (`agentgym.lexicon`), and words of the fact itself.
Where that finds nothing, all words of the question are weighed (`agentgym.weighing`). A question for something that
can be named (a phone number, a birthday) never gets a fact that is not about it, and what need not be told is not asked
for. Where a fact has example questions, what was heard is judged anew by how like the message is to them
(`agentgym.judged`). Nothing is drawn and nothing learnt on the way: the same message always means the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
from agentgym.heard import Heard, Phrase, Script, compiled
from agentgym.lexicon import (
    ASKED,
    CHOICES,
    POINTED,
    SPECIFIC,
    WEAK,
    WHAT_KIND,
    Terms,
    sorted_out,
    terms,
)
from agentgym.paraphrase import focus
from agentgym.scenario import Fact
from agentgym.weighing import ELLIPTIC, EVENTS, PICTURED, PRONOUN, asks_when, other_event, paraphrased, settled

__all__ = ["Clause", "Kind", "asked_for", "asks", "closes", "hears", "understood"]

_WHEN: Final = re.compile(r"\bwhen\b|什么时候|何时")
_CHOSEN: Final = CHOICES - {"@which", "@price"} | {"@send_back", "@broken", "@contents", "@buy", "want", "mean", "tak"}
"""What one does with the one of several that "which" asks for."""


class _Part(NamedTuple):
    """A part of a question: its terms, its words, and its words as stems."""

    terms: Terms
    spaced: str
    stems: str


def asked_for(message: str, facts: Mapping[str, Fact]) -> list[str]:
    """Return the names of the facts that *message* asks for, in the order of the script."""
    script = tuple((name, tuple(fact.when), fact.say, tuple(fact.asked)) for name, fact in facts.items())
    return list(_judged(message[:LONGEST], script))


@lru_cache(maxsize=256)
def _judged(message: str, script: Script) -> tuple[str, ...]:
    """What the rules hear, judged anew for the facts that have example questions."""
    heard = _by_rules(message, script)
    # What is learnt is read only where somebody is spoken to.
    from agentgym.judged import judged

    asked = judged(message, script, heard)
    return tuple(name for name, *_ in script if asked.get(name, name in heard))


@lru_cache(maxsize=256)
def _by_rules(message: str, script: Script) -> tuple[str, ...]:
    known = compiled(script)
    asked: set[str] = set()
    spoken: set[str] = set()
    named = False
    for clause in understood(message):
        if clause.instead and asked:
            continue
        meant = list(_meant(clause, known))
        if clause.kind in (Kind.OPEN, Kind.CLOSED):
            named = named or bool(meant)
            meant = settled(meant, clause, script)
        (asked if clause.asks else spoken).update(meant)
    coded = {name for name in spoken if any(phrase.coded for phrase in known[name].phrases)}
    if coded and not named:
        asked = coded
    # What the agent says beside a question that can be answered is no question.
    told = asked or paraphrased(message, script) or spoken
    return tuple(name for name in known if name in told)


def _meant(clause: Clause, known: Mapping[str, Heard]) -> Iterable[str]:
    """The facts that one clause is about."""
    named = _named(clause, known)
    if not named and clause.before and ELLIPTIC.search(clause.text):
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


def _exact(clause: Clause, named: dict[str, list[Phrase]]) -> dict[str, list[Phrase]]:
    """Without the phrases that are there in other forms only, where another fact has them as they are."""
    text = spaced(clause.text)
    there = {phrase.literal for phrases in named.values() for phrase in phrases if stands(text, phrase.literal)}
    forms = {phrase.stems for phrases in named.values() for phrase in phrases if phrase.literal in there}
    kept = {
        name: [phrase for phrase in phrases if phrase.literal in there or phrase.stems not in forms]
        for name, phrases in named.items()
    }
    return {name: phrases for name, phrases in kept.items() if phrases}


def _meant_by_one(clause: Clause, known: Mapping[str, Heard]) -> list[str]:
    """What "one" or "it" stands for: a phrase that is partly in the clause and for the rest in the one before it."""
    if not clause.before or not PRONOUN.search(clause.text):
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


def _named(clause: Clause, known: Mapping[str, Heard]) -> dict[str, list[Phrase]]:
    """The facts that have phrases in the clause, and these."""
    if clause.kind is Kind.NEEDLESS:
        return {}
    named: dict[str, list[Phrase]] = {}
    if not clause.asks:
        text = spaced(clause.text)
        for name, fact in known.items():
            if found := [phrase for phrase in fact.phrases if stands(text, phrase.literal)]:
                named[name] = found
        return named
    text = aside(clause.text)
    whole = terms(text)
    timed = "@time" in whole.all
    parts = [_Part(terms(part), spaced(part), stems(part)) for part in members(text)]
    if timed and not asks_when(clause.kind, text, True):
        parts = [part._replace(terms=sorted_out(part.terms.all - {"@time"})) for part in parts]
    thing, pictured, when = focus(text), "@photo" in whole.all and PICTURED.search(text), timed and _WHEN.search(text)
    shown = pictured and any("@photo" in fact.near for fact in known.values())
    for name, fact in known.items():
        if (thing and thing.isdisjoint(fact.about)) or (
            pictured and "@photo" not in (fact.near if shown else fact.known)
        ):
            continue
        found = []
        for part in parts:
            for phrase in fact.phrases:
                # Most phrases are not even near, which is seen soonest so.
                near = (
                    phrase.terms.content <= part.terms.all
                    or phrase.bare in part.spaced
                    or phrase.bare_stems in part.stems
                )
                untimed = when and fact.which_of and not phrase.terms.content
                if near and not untimed and _heard_in(phrase, part, whole, clause, fact):
                    found.append(phrase)
        if found:
            named[name] = found
    return named


def _heard_in(phrase: Phrase, part: _Part, whole: Terms, clause: Clause, fact: Heard) -> bool:
    """Whether a phrase, as it stands or in other words, is in a part of a question and meant there."""
    found = part.terms
    literal = stands(part.spaced, phrase.literal) or stands(part.stems, phrase.stems)
    # "address" stands in "e-mail address" without being meant.
    literal = literal and phrase.specific <= found.all
    return (literal or _means(phrase, found, whole, clause.kind)) and not _elsewhere(phrase, found, fact)


def _means(phrase: Phrase, found: Terms, whole: Terms, kind: Kind) -> bool:
    """Whether all that a phrase is about is in the question. "which" and "what" ask for more than yes or no."""
    content = phrase.terms.content
    if content and not content <= found.all:
        return False
    if phrase.which and (kind is Kind.CLOSED or ("@which" not in whole.weak and whole.weak & ASKED)):
        return False
    if not content:
        return bool(phrase.words & ASKED) and phrase.words <= found.all
    return phrase.words <= whole.all


def _elsewhere(phrase: Phrase, found: Terms, fact: Heard) -> bool:
    """Whether the question names something that the fact is not about."""
    if phrase.specific or phrase.coded:
        return False
    content = phrase.terms.content
    if phrase.one:
        return bool(found.all & POINTED - fact.known or not (_CHOSEN & found.all or found.content <= fact.near))
    if content:
        if "@time" in found.all and not (fact.dated or "@time" in fact.near or content <= EVENTS):
            return True
        if "@count" in found.all and not (fact.counted or phrase.general):
            return True
        if content == {"@broken"} and "@box" in found.all and "@box" not in fact.known:
            return True
        return not found.all.isdisjoint(fact.lacks)
    named = found.all & POINTED - fact.known
    other = fact.known & {"@arrive", "@send_back"} or "@place" in phrase.terms.all
    bought = "@buy" in found.all and "@buy" not in fact.known and bool(other)
    return bool(named) or bought or ("@time" in phrase.words and other_event(found.all, fact))


def _chosen(clause: Clause, facts: Mapping[str, Heard]) -> list[str]:
    """What the user would rather have, where a question speaks of a choice: "a new one or a refund"."""
    found = terms(clause.text).all
    offers = len(found & {"@refund", "@replace", "@credit"})
    either = offers and (" or " in clause.text or "还是" in clause.text)
    if not either and not ("@prefer" in found and found <= CHOICES):
        return []
    first = [name for name, fact in facts.items() if fact.chooses]
    return first if len(first) == 1 and not found & SPECIFIC else []


def _nearest(clause: Clause, facts: Mapping[str, Heard]) -> list[str]:
    """The fact that shares two terms or more with a question, one with its phrases, and more than any other."""
    found = terms(clause.text)
    pointed = found.all & SPECIFIC
    thing = focus(clause.text)
    if not found.all or (pointed and pointed - frozenset().union(*(fact.known for fact in facts.values()))):
        return []
    scores = {}
    for name, fact in facts.items():
        common = (found.all & fact.known) - WEAK
        if fact.dated and "@time" in found.all:
            common |= {"@time"}
        if found.all & WHAT_KIND - fact.near - common or (thing and thing.isdisjoint(fact.about)):
            continue
        close = (found.all & fact.near) - WEAK
        if len(common) >= 2 and close and pointed <= fact.known:
            scores[name] = len(common) + len(close)
    best = max(scores.values(), default=0)
    first = [name for name, score in scores.items() if score == best]
    return first if len(first) == 1 else []
