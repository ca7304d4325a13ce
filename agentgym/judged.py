"""Which facts a message asks for, judged by trees from how like it is to the questions that each fact answers.

The trees were grown from questions that people wrote (`docs/users.md`). They see numbers only: how like the message and
its parts are to the texts of each fact (`agentgym.likeness`), how much liker than to the other facts and to what nobody
could answer, what kind of question it is, and what the rules of `agentgym.hearing` heard. All numbers are integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from agentgym.clauses import Clause, Kind, understood
from agentgym.heard import Heard, Script, compiled, values
from agentgym.lexicon import folded, terms
from agentgym.likeness import Spans, compare, spans_of, texts_of
from agentgym.paraphrase import focus, near, question
from agentgym.vectors import Ints, Words, read, table
from agentgym.weighing import other_event

_PART: Final = re.compile(
    r"[,;:，；：、—–()]+|\s-\s|\b(?:and|or|but|as well as|plus|whether|if)\b|以及|还有|或者|还是|和|是否|另外"
)
_SEVERAL: Final = re.compile(
    r"\b(?:two|both|couple of|second(?:ly)?|finally|also|as well|another|few)\b|两[点个件]|还有|以及|另外|同时|再"
)
_TWO: Final = re.compile(
    r"\b(?:two|couple of) (?:\w+ )?"
    r"(?:things?|questions?|points?|details?|checks?|facts?|fields?|matters?|borders?|entries)\b"
    r"|\bboth\?|两(?:点|个问题|项|件事|处)"
)
_DATA: Final = re.compile(r"\{[^{}]*\}")
"""Data in braces, which ask nothing."""
_WHEN: Final = re.compile(
    r"\W*(?:(?:and|so|but|also) )?(?:when|on (?:what|which) (?:day|date)|(?:what|which) (?:day|date))"
    r" (?:did|do|was|were|is|are|will|does|can)\b[^,;]*$"
)
"""A question for a time and for nothing else."""
_KINDS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bwhen\b|what (?:day|date|time)|which (?:day|date)|how long|什么时候|哪一?天|几号|日期|何时|多久",
        r"how many|how much|几[个件次只]|多少",
        r"\bwho\b|\bwhom\b|谁|哪位",
        r"\bwhere\b|哪里|哪儿|在哪",
        r"\bwhy\b|reason|为什么|原因",
        r"\bwhich\b|哪",
        r"\bnumber\b|digits|code|编号|号",
        r"\bor\b|还是",
        r"\bname\b|名字|姓名",
        r"e-?mail|phone|address|postcode|邮箱|电话|地址",
        r"photo|picture|照片",
        r"colou?r|size|model|brand|颜色|尺寸|型号|品牌",
    )
)
_NO_OR_YES: Final = re.compile(r"(?:yes|no|not|never|nobody|none|nothing)\b|没|不|是")
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_SECOND: Final = -2000
"""So near to being asked for, in thousandths of a logit, must be the second of two things."""
_DOUBT: Final = 1600
_NEVER: Final = -100_000
_LEAST: Final = 60
"""A part of a sentence whose words count less is none by itself."""
_LITTLE: Final = 160
"""A sentence whose words count less may ask about what was said before."""
_NOT_MUCH: Final = 300
_MOST_SENTENCES: Final = 8
_MOST_PARTS: Final = 16


class _Sentence(NamedTuple):
    """A sentence that asks, its places among the words of the message, and those of its parts, with their texts."""

    text: str
    places: list[int]
    kinds: frozenset[Kind]
    parts: list[tuple[str, list[int]]]


def judged(message: str, script: Script, heard: Sequence[str]) -> dict[str, bool]:
    """Whether each fact of a script is asked for; nothing where the message has nothing to judge.

    Args:
        message: What the agent says.
        script: The facts.
        heard: The facts that the rules hear in the message.
    """
    message = _DATA.sub(" ", message)
    rows = features(message, script, heard)
    if rows is None:
        return {}
    scores = _scores(rows)
    said = read(message).counts.sum()
    if said < _LITTLE or (said < _NOT_MUCH and not asks_surely(message)):
        # Where little is said, or it does not look like a question, it must be very like one.
        scores = [score - _DOUBT for score in scores]
    barred = _barred(message, script)
    scores = [_NEVER if never else score for score, never in zip(scores, barred, strict=True)]
    asked = [score > 0 for score in scores]
    if sum(asked) == 1 and len(scores) > 1 and _TWO.search(folded(message)):
        # Who says "two things" asks for a second one, too.
        second = sorted(scores)[-2]
        asked = [score > 0 or (score == second and score > _SECOND) for score in scores]
    return dict(zip((name for name, *_ in script), asked, strict=True))


def _barred(message: str, script: Script) -> list[bool]:
    """Whether a fact cannot be what a plain question for a number of something or for a time asks for."""
    facts = compiled(script).values()
    asking = [clause.text for clause in understood(message) if clause.asks]
    if len(asking) != 1:
        return [False] * len(facts)
    # "How many watts" is told by a fact that knows of watts, and "When did it come?" by one that says when.
    thing = focus(asking[0]) if "how many " in asking[0] else frozenset()
    when = bool(_WHEN.match(asking[0]))
    return [
        bool(thing and thing.isdisjoint(fact.about))
        or (when and not (fact.dated or fact.timed))
        or other_event(terms(asking[0]).all, fact)
        for fact in facts
    ]


def asks_surely(message: str) -> bool:
    """Whether a message has a question or a request in it, not only a few words without a verb."""
    return any(clause.asks and clause.kind is not Kind.FRAGMENT for clause in understood(message))


def features(message: str, script: Script, heard: Sequence[str]) -> Ints | None:
    """The numbers that a message is judged by, one row a fact; None where nothing in it can be compared."""
    words = read(message)
    sentences = _sentences(message, words)
    if not sentences:
        return None
    known = texts_of(script)
    places = [each.places for each in sentences]
    parts = [(text, at) for each in sentences for text, at in each.parts][:_MOST_PARTS]
    spans = spans_of(words, [*places, *(at for _, at in parts), list(range(len(words.keys)))])
    compared = _with_margins(compare(spans, known), spans)
    near_by = np.array([_near(each.text, script) for each in sentences])
    names = [name for name, *_ in script]
    against = [_against([each.text for each in sentences], found) for found in compiled(script).values()]
    first, rest, whole = np.split(compared, [len(sentences), len(compared) - 1])
    rows = [
        [
            *_of_sentences(first, near_by, sentences, at),
            *against[at],
            *_of_parts(rest if parts else first, [text for text, _ in parts] or [each.text for each in sentences], at),
            int(names[at] in heard),
            len(heard),
            int(bool(set(heard) - {names[at]})),
            len(sentences),
            len(names),
            *(int(whole[0, at, column]) for column in (0, 4, 11, 12)),
            int(bool(_SEVERAL.search(folded(message)))),
            int(bool(_TWO.search(folded(message)))),
            int(bool(_HAN.search(message))),
            *_flags(script)[at],
        ]
        for at in range(len(names))
    ]
    return np.array(rows, dtype=np.int64)


def _sentences(message: str, words: Words) -> list[_Sentence]:
    """What of a message asks, or its last words where nothing does."""
    clauses = [clause for clause in understood(message) if clause.kind is not Kind.NEEDLESS]
    # What is asked for only in place of something else waits until that could not be told.
    joined = _joined([clause for clause in clauses if not clause.instead]) or _joined(clauses)
    place = {key: at for at, key in enumerate(words.keys)}
    found = []
    asking = [at for at, each in enumerate(joined) if any(clause.asks for clause in each)] or [len(joined) - 1]
    for at in asking[:_MOST_SENTENCES] if joined else ():
        text = ", ".join(clause.text for clause in joined[at])
        if at and at - 1 not in asking and read(text).counts.sum() < _LITTLE:
            # "We could send a new one. Would that help?" asks about what was said before.
            text = ", ".join(clause.text for clause in (*joined[at - 1], *joined[at]))
        if own := _places(text, place):
            parts = [(part, _places(part, place)) for part in _PART.split(text) if part.strip()]
            parts = [(part, inside) for part, inside in parts if int(words.counts[inside].sum()) >= _LEAST]
            kinds = frozenset(clause.kind for clause in joined[at])
            found.append(_Sentence(text, own, kinds, parts if len(parts) > 1 else []))
    return found


def _joined(clauses: Sequence[Clause]) -> list[list[Clause]]:
    """Clauses by sentence: one that follows another directly belongs to the same."""
    found: list[list[Clause]] = []
    for clause in clauses:
        ended = (
            not found
            or clause.before != found[-1][-1].text
            or found[-1][-1].text.rstrip().endswith(tuple("?!.;？！。；"))
        )
        if ended:
            found.append([clause])
        else:
            found[-1].append(clause)
    return found


def _places(text: str, place: Mapping[str, int]) -> list[int]:
    return [place[key] for key in read(text).keys if key in place]


def _with_margins(compared: Ints, spans: Spans) -> Ints:
    """More numbers: by how much a fact is nearer than any other, and how near a part is to what nobody knows."""
    margins = [compared[:, :, column] - _others(compared[:, :, column]) for column in (0, 4, 10)]
    unknown = (spans.directions @ table().unknown.T).astype(np.int64) * 100 // 16129
    nearest = np.repeat(unknown.max(axis=1)[:, None], compared.shape[1], axis=1)
    return np.concatenate([compared, np.stack([*margins, nearest, compared[:, :, 9] - nearest], axis=2)], axis=2)


def _others(scores: Ints) -> Ints:
    """For each fact the highest score of the others, 0 where there is no other."""
    ranked = np.sort(scores, axis=1)
    highest = ranked[:, -1:]
    next_one = ranked[:, -2:-1] if scores.shape[1] > 1 else np.zeros_like(highest)
    others: Ints = np.where(scores == highest, next_one, highest)
    return others


def _near(text: str, script: Script) -> list[tuple[int, int]]:
    """How near a sentence is to each fact by its senses, and by how much nearer than to any other."""
    scores = near(question(text), values(script))
    found = np.array([[min(4000, scores.get(name, 0)) // 10 for name, *_ in script]])
    return list(zip(found[0].tolist(), (found - _others(found))[0].tolist(), strict=True))


@lru_cache(maxsize=512)
def _kinds(text: str) -> tuple[int, ...]:
    """What kinds of question a text may be."""
    return tuple(int(bool(pattern.search(text))) for pattern in _KINDS)


def _of_sentences(compared: Ints, near_by: Ints, sentences: Sequence[_Sentence], fact: int) -> list[int]:
    """What is known of the sentence that is most like a fact."""
    own = compared[:, fact]
    at = int(np.argmax(own[:, 0] * 2 + own[:, 4] + own[:, 8] // 2))
    chosen = sentences[at]
    return [
        *own[at].tolist(),
        *near_by[at, fact].tolist(),
        len(chosen.places),
        *_kinds(chosen.text),
        *(int(kind in chosen.kinds) for kind in (Kind.OPEN, Kind.CLOSED, Kind.STATEMENT)),
    ]


def _against(texts: Sequence[str], fact: Heard) -> list[int]:
    """What speaks against a fact in how many of the sentences, by the rules for what is weighed.

    It asks for a thing by name that the fact knows nothing of; for something that can be named; for a time or a number
    that the fact has not; for another event.
    """
    against = [0] * 5
    for text in texts:
        found, thing = terms(text).all, focus(text)
        against[0] += bool(thing) and thing.isdisjoint(fact.about)
        against[1] += bool(found & fact.lacks)
        against[2] += "@time" in found and not (fact.dated or fact.timed)
        against[3] += "@count" in found and not fact.counted
        against[4] += other_event(found, fact)
    return against


def _of_parts(compared: Ints, texts: Sequence[str], fact: int) -> list[int]:
    """What is known of the part of a sentence that is most like a fact, and in how many parts a fact is the nearest."""
    own = compared[:, fact]
    at = int(np.argmax(own[:, 0] * 2 + own[:, 4] + own[:, 8] // 2 + own[:, 11]))
    nearest = np.argmax(compared[:, :, 0] * 2 + compared[:, :, 4], axis=1)
    return [
        *own[at].tolist(),
        int(own[:, 11].max()),
        int(own[:, 12].max()),
        int((nearest == fact).sum()),
        len(set(nearest.tolist())),
        len(texts),
        *_kinds(texts[at])[:9],
    ]


@lru_cache(maxsize=1024)
def _flags(script: Script) -> list[tuple[int, ...]]:
    """What kind of thing each fact says."""
    found = compiled(script)
    return [
        (
            int(found[name].dated),
            int(found[name].counted),
            int(any(letter.isdigit() for letter in say)),
            int(bool(_NO_OR_YES.match(folded(say)))),
            len(say) // 10,
        )
        for name, _, say, _ in script
    ]


def _scores(rows: Ints) -> list[int]:
    """Add up what the trees say of each row."""
    trees = table().trees
    each = np.arange(len(rows))[:, None]
    at = np.repeat(trees["roots"][None], len(rows), axis=0)
    for _ in range(int(trees["depth"][0])):
        below = rows[each, trees["feature"][at]] <= trees["threshold"][at]
        at = np.where(below, trees["left"][at], trees["right"][at])
    scores: list[int] = trees["value"][at].sum(axis=1).tolist()
    return scores
