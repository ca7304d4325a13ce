"""Which fact a question is nearest to, and which facts it cannot be about however near they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Final

from agentgym.clauses import Clause, Kind, aside, spaced, stands, understood
from agentgym.heard import Heard, Script, compiled, values
from agentgym.lexicon import terms
from agentgym.paraphrase import ENOUGH, ITEMS, MARGIN, bare, near, question, unexplained

EVENTS: Final = frozenset(("@buy", "@arrive", "@send_back", "@cancel", "@active"))
"""What happens at a time: when something was sent is not when it was bought."""
ELLIPTIC: Final = re.compile(
    r"^\W*(?:so |and |now )?(?:would you be interested|are you interested|what do you (?:think|say)"
    r"|what would you say|do you agree"
    r"|how does (?:that|this) sound|(?:would|is|does|will) (?:that|this|it) (?:be |work|suit|help|sound|ok|fine"
    r"|all|accept|an option)"
    r"|您(?:看|觉得|同意|愿意|能?接受)|(?:可以|能)接受)"
)
PRONOUN: Final = re.compile(r"\b(?:it|them|they|ones?|that|those|these|this)\b|\b(?:any|some|so)\W*$|[它这那]")
PICTURED: Final = re.compile(
    r"\b(?:send|sent|share|upload|attach|provide|take|took|forward|show|need|have|get|mail)\b[^,?;:]{0,30}"
    r"\b(?:photo|photograph|picture|image|snapshot|screenshot|scan)s?\b|(?:发|拍|传|提供|补).{0,6}(?:照片|图片|相片|照)"
)
_DATE_ASKED: Final = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|time|month|week|year)|\bhow long\b"
    r"|时候|何时|哪.?[天年月日]|几[号月]|日期|多久"
)


def settled(meant: list[str], clause: Clause, script: Script) -> list[str]:
    """What a clause means: the facts whose phrases were heard in it, unless all words together speak against them."""
    text, known = spaced(clause.text), compiled(script)
    sure = [name for name in meant if _literal(text, known[name])]
    if meant and len(sure) == len(meant):
        return meant
    scores = _weighed(clause, script, meant=meant)
    return [name for name in meant if name in sure or scores.get(name)] or _first(scores) or meant


def _literal(text: str, fact: Heard) -> bool:
    """Whether a phrase of a fact stands in the text as it is, other than "which"."""
    return any(
        stands(text, phrase.literal) and not (phrase.one and phrase.literal.startswith(" ")) for phrase in fact.phrases
    )


def paraphrased(message: str, script: Script) -> set[str]:
    """The facts that the clauses of a message are nearest to, by themselves or else with what was said before."""
    clauses = understood(message)
    found: set[str] = set()
    for clause in clauses:
        # Questions were weighed when they were heard.
        if clause.kind in (Kind.FRAGMENT, Kind.PERMISSION):
            found.update(_first(_weighed(clause, script)))
    if found:
        return found
    for at, clause in enumerate(clauses):
        # What was asked before stands for itself.
        said = [each.text for each in takewhile(lambda each: not each.asks, reversed(clauses[max(0, at - 2) : at]))]
        if said and (clause.asks or clause.kind is Kind.COURTESY):
            found.update(_first(_weighed(clause, script, " . ".join(reversed(said)))))
    return found


def _first(scores: Mapping[str, int]) -> list[str]:
    """The fact that is near enough and by far the nearest, if there is one."""
    best = sorted(scores.values(), reverse=True)[:2]
    if not best or best[0] < ENOUGH or best[0] - sum(best[1:]) < MARGIN:
        return []
    return [name for name, score in scores.items() if score == best[0]]


def _weighed(clause: Clause, script: Script, before: str = "", meant: Iterable[str] = ()) -> dict[str, int]:
    """How near a clause is to each fact; those that cannot be meant are left out.

    Nothing where no fact is near enough, unless it is to be known how near those are that are *meant*.
    """
    known = compiled(script)
    text = bare(aside(clause.text))
    found = terms(text).all
    refers = bool(before) and bool(ELLIPTIC.search(text) or PRONOUN.search(text))
    asked = question(text, before, refers, "@time" in found)
    scores = near(asked, values(script))
    if not meant and max(scores.values(), default=0) < ENOUGH:
        return {}
    when = asks_when(clause.kind, text, "@time" in found or "when" in asked.senses)
    pictured = "@photo" in found and PICTURED.search(text)
    return {
        name: score
        for name, score in scores.items()
        if not (
            (asked.focus and asked.focus.isdisjoint(known[name].about))
            or (when and not known[name].dated and not known[name].timed)
            or (pictured and "@photo" not in known[name].known)
            or _barred(found, asked.senses, known[name])
            or (found & known[name].lacks and terms(unexplained(asked, known[name].about)).all & known[name].lacks)
        )
    }


def _barred(found: frozenset[str], senses: frozenset[str], fact: Heard) -> bool:
    """Whether a question is for another thing, for the time of another event, or for a number that the fact has not."""
    return (
        any(sense not in fact.about for sense in senses & ITEMS)
        or other_event(found, fact)
        or ("@count" in found and not fact.counted)
    )


def asks_when(kind: Kind, text: str, timed: bool) -> bool:
    """Whether a question that speaks of a time asks for it: not so in "does he agree to the date?"."""
    return timed and (kind is not Kind.CLOSED or bool(_DATE_ASKED.search(text)))


def other_event(found: frozenset[str], fact: Heard) -> bool:
    """Whether a question for the time is for that of something else than the fact is about."""
    told, known = found & EVENTS, fact.near & EVENTS
    return "@time" in found and bool(told and known) and told.isdisjoint(known)
