"""How near a question is to each fact when it is put in other words: weighed, not matched.

Where `agentgym.lexicon` recognises no phrase of a fact, the senses of the question (`agentgym.senses`) are compared
with those of the fact's phrases, of its name and of what it says. What only one fact is about counts most. A question
for a thing by name ("what colour", "which exam") is near no fact that knows nothing of it. All weights are integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from agentgym.lexicon import STOP, folded, stemmed
from agentgym.senses import Span, all_senses, spans

ENOUGH: Final = 900
"""A question that is as near as this may mean a fact: about one sense that no other fact has."""
MARGIN: Final = 300
"""By so much the nearest fact must be nearer than the next."""

WHAT: Final = frozenset(
    ("which", "reason", "when", "count", "where", "who", "purpose", "ambiguous", "howlong", "period", "amount")
)
"""What kind of answer is asked for."""

_PHRASE: Final = 10
NAME: Final = 6
_SAID: Final = 3
_PART: Final = 7
_MEANT_BY: Final[dict[str, tuple[str, ...]]] = {
    "purpose": ("reason",),
    "reason": ("purpose",),
    "ambiguous": ("which",),
    "period": ("when",),
    "when": ("period", "howlong"),
}
"""Senses of a question that may be meant for others of a fact."""
_SURE: Final = {"purpose": 9, "reason": 9, "ambiguous": 10, "period": 6, "when": 6}
_ASKED_AS: Final = {
    target: tuple((sense, _SURE[sense]) for sense, targets in _MEANT_BY.items() if target in targets)
    for target in sorted({target for targets in _MEANT_BY.values() for target in targets})
}
"""How surely, in tenths."""

_FOCUS: Final = re.compile(
    r"\b(?:what|which)(?:(?:'s| is| are| was| were)"
    r"(?: (?:the|your|his|her|their|its|an?|this|that|present|exact|current|own|[a-z]+'s))*| [a-z]+'s)?"
    r" ([a-z0-9][a-z0-9'-]*)(?! of\b)"
)
_HAN_FOCUS: Final = re.compile(r"(?<![为用])什么([\u4e00-\u9fff]{2})|([\u4e00-\u9fff]{2})是(?:什么|多少)[呢呀啊]?\W*$")
ITEMS: Final = frozenset(
    ("box", "photo", "giftcard", "label", "sicknote", "slip", "lawyer", "key", "track", "neighbour")
)
"""Things by themselves: what is asked of one of them is not told of anything else."""

_NO_THING: Final = frozenset(
    "do does did is are was were be been should shall would will can could may might must have has had you i we it they"
    " he she of to about made makes led else one ones exactly happened kind sort type day date time way by in on at for"
    " from with prompted caused item items article articles thing things product products goods pieces person people"
    " employee employees".split()
)
_HAN_NO_THING: Final = frozenset(
    "时候 样子 问题 情况 办法 方式 商品 东西 地方 意思 分别 到底 您说 说的 指的 究竟 具体 要求".split()
)
_WHAT_FOR: Final = re.compile(r"\bwhat\b[^?,]{0,60}\bfor\W*$")


_UNIT: Final = re.compile(
    r"\bhow many (?:kilo|milli|centi)?(watt|volt|gram|met[er]+|lit[er]+|inch|mile|hour|day|week|month|year|minute|page"
    r"|people|person|pixel|pound|euro|decibel|degree|employee)\w*"
)
_WHY_ASKED: Final = re.compile(
    r"\b(?:(?:so(?: that)?|(?<=^)that) (?:i|we|our|it|the|you)|in order (?:to|that)|because"
    r"|(?:just )?to (?:be|make) (?:sure|certain|safe)"
    r"|for (?:my|our|the) (?:records?|notes?|files?|reports?|protocol)"
    r"|(?:^|(?<=, ))(?:to|before) (?:\w+ ){1,8}\w+(?=,))\b[^,?]*|(?:为了|以便|便于|好让|方便我们?)[^,，?？]*"
)
"""Why the agent wants to know, which is not what it wants to know."""


_SIGNS: Final = tuple(
    "so i|so we|so that|that i |that we |in order|because|to be |to make |for my|for our|for the |, to |, before "
    "|为|便|好让".split("|")
)
"""What `_WHY_ASKED` finds has one of these in it or begins with "to" or "before": seen much faster."""


def bare(text: str) -> str:
    """A clause without the reason why it is asked."""
    if text.startswith(("to ", "before ", "so ", "that ")) or any(sign in text for sign in _SIGNS):
        return _WHY_ASKED.sub(" ", text)
    return text


class Question(NamedTuple):
    """A question: its spans, each with the percentage that it counts, and the senses or stem of what it asks for."""

    text: str
    spans: tuple[tuple[Span, int], ...]
    senses: frozenset[str]
    focus: frozenset[str]


def question(text: str, before: str = "", refers: bool = False, timed: bool = True) -> Question:
    """Read a question.

    Args:
        text: A clause, folded.
        before: What was said before it, which counts half, or fully where the clause itself says nothing.
        refers: The clause refers to what was said before: "would you like that?"
        timed: It asks when something is: not so in "what shall I do when it arrives?".
    """
    own = [span for span in spans(text) if timed or span.stems != "when"]
    counted = [(span, 100) for span in own]
    if "what" in text and _WHAT_FOR.search(text):
        counted.append((Span(len(text), len(text), "for", frozenset(("purpose",)), ("purpose",)), 100))
    senses = frozenset().union(*(span.senses for span, _ in counted))
    if before:
        percent = 100 if refers or (senses <= WHAT and all(span.senses for span in own)) else 50
        counted += [(span._replace(start=len(text), end=len(text)), percent) for span in spans(before)]
    return Question(text, tuple(counted), senses, focus(text))


@lru_cache(maxsize=512)
def focus(text: str) -> frozenset[str]:
    """The senses, or the stem, of the thing that "what" or "which" asks for, if it asks for one by name."""
    if "how many" in text and (unit := _UNIT.search(text)):
        return frozenset((f"~{stemmed(unit[0].split()[-1])}", f"~{unit[1]}"))
    if "是" in text or "什么" in text:
        return _han_focus(text)
    match = _FOCUS.search(text) if "what" in text or "which" in text else None
    if not match or match[1] in _NO_THING or match[1] in STOP or _WHAT_FOR.search(text):
        return frozenset()
    found = [span for span in spans(text) if span.start < match.end(1) and match.start(1) < span.end]
    senses = frozenset().union(*(span.senses for span in found))
    if senses & WHAT:
        return frozenset()
    return senses | {f"~{span.stems}" for span in found} | {f"~{stemmed(part)}" for part in match[1].split("-")}


def _han_focus(text: str) -> frozenset[str]:
    match = _HAN_FOCUS.search(text)
    if not match:
        return frozenset()
    word = match[1] or match[2]
    senses = all_senses(word)
    return frozenset() if senses & WHAT or word in _HAN_NO_THING else senses | {f"~{word}"}


def profile(name: str, when: tuple[str, ...], say: str) -> dict[str, int]:
    """What a fact is about: each sense and stem, and how much it is about it, in tenths."""
    about: dict[str, int] = {}
    for phrase in when:
        _note(about, _phrase(folded(phrase)))
    for text, weight in ((name.replace("_", " "), NAME), (say, _SAID)):
        plain = folded(text)
        _note(about, dict.fromkeys(all_senses(plain) | _stems(plain), weight))
    return about


def _note(about: dict[str, int], found: Mapping[str, int]) -> None:
    for sense in sorted(found):
        about[sense] = max(about.get(sense, 0), found[sense])


def _phrase(text: str) -> dict[str, int]:
    """What a phrase of ``when`` is about."""
    found = spans(text)
    senses = frozenset().union(*(span.senses for span in found))
    # All parts of "keep the lamp" must be asked for; the date of "other dates" is only what kind of answer it is.
    whole = _PART if sum(not span.senses <= WHAT or not span.senses for span in found) > 1 else _PHRASE
    about = dict.fromkeys(all_senses(text), NAME)
    for sense in senses:
        kind = (sense in WHAT and not senses <= WHAT) or (sense == "which" and len(senses) > 1)
        about[sense] = NAME if kind else whole
    # The name in "which Thijs" only says that there are two of that name.
    named = "which" in senses and senses <= WHAT
    return {**about, **dict.fromkeys(_stems(text), _SAID if named else whole)}


def _stems(text: str) -> frozenset[str]:
    """The stems of a text, and each two Chinese letters side by side, marked as such."""
    return frozenset((*(f"~{span.stems}" for span in spans(text)), *(f"~{text[at : at + 2]}" for at in _han(text))))


def _han(text: str) -> list[int]:
    """Where two Chinese letters stand side by side."""
    return [
        at for at in range(len(text) - 1) if "\u4e00" <= text[at] <= "\u9fff" and "\u4e00" <= text[at + 1] <= "\u9fff"
    ]


Values = dict[str, tuple[tuple[str, str, int], ...]]
"""For each sense or stem of a question: the facts that are about it, the sense that they are about, its worth."""


def valued(profiles: Mapping[str, Mapping[str, int]]) -> Values:
    """What each sense is worth for each fact, in thousandths: less if several facts are about it."""
    shared: dict[str, int] = {}
    for about in profiles.values():
        for sense, weight in about.items():
            if weight >= NAME:
                shared[sense] = shared.get(sense, 0) + weight
    found: dict[str, list[tuple[str, str, int]]] = {}
    for name, about in profiles.items():
        for sense, weight in about.items():
            worth = 1000 * weight // max(10, shared.get(sense, 0))
            for asked, sure in ((sense, 10), *_ASKED_AS.get(sense, ())):
                found.setdefault(asked, []).append((name, sense, worth * sure // 10))
    return {sense: tuple(facts) for sense, facts in found.items()}


def near(asked: Question, values: Values) -> dict[str, int]:
    """How near each fact is to a question, those that are not near at all left out."""
    best: dict[tuple[str, str], int] = {}
    for span, share in asked.spans:
        hits = [hit for key in span.keys if key in values for hit in values[key]]
        # The best sense of each word counts for a fact: sorted, it is the last one.
        for name, target, value in {hit[0]: hit for hit in sorted(hits, key=_by_worth)}.values():
            best[name, target] = max(best.get((name, target), 0), value * share // 100)
    scores: dict[str, int] = {}
    for (name, _), value in best.items():
        scores[name] = scores.get(name, 0) + value
    return scores


def _by_worth(hit: tuple[str, str, int]) -> tuple[int, str]:
    return hit[2], hit[1]


def unexplained(asked: Question, about: Mapping[str, int]) -> str:
    """The question without the longer phrases that a fact is about.

    "number" is part of "phone number", which is another thing, but "how much time" is no price.
    """
    rest, end = [], 0
    for span, share in asked.spans:
        long = " " in span.stems or (not span.stems.isascii() and len(span.stems) > 3)
        known = any(name in about for sense in span.senses for name in (sense, *_MEANT_BY.get(sense, ())))
        if share == 100 and long and known and span.start >= end and span.end > span.start:
            rest.append(asked.text[end : span.start])
            end = span.end
    return " ".join([*rest, asked.text[end:]])
