"""What the scripted user understands of a message: which of its facts are asked for.

A phrase of a fact's ``when`` is heard in any sentence. In a *question* or a *request* more is heard: the phrase's words
inflected, in another order or replaced by words that mean the same (`agentgym.lexicon`), and words of the fact itself.
A question for something that can be named (a phone number, a birthday) never gets a fact that is not about it, and what
need not be told is not asked for. Nothing is drawn and nothing learnt: the same message always means the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from agentgym.lexicon import (
    ASKED,
    CHOICES,
    GENERAL,
    POINTED,
    SPECIFIC,
    THINGS,
    WHAT_KIND,
    WEAK,
    Terms,
    folded,
    stemmed,
    terms,
)
from agentgym.scenario import Fact

LONGEST: Final = 20_000
"""So many characters of a message are listened to."""

_END: Final = re.compile(r"(?<=[?!;。？！；\n])|(?<=\.)(?=\s|$)")
_ABBREVIATED: Final = re.compile(r"\b(no|nr|dr|mr|mrs|ms|st|e\.g|i\.e)\.(?=\s)")
_NEW_CLAUSE: Final = re.compile(
    r"[,，]?\s+(?:and|or|but|also)\s+(?=(?:what|which|when|where|who|why|how|whether|if|please|could|can|did|do|does"
    r"|is|was|are|were|has|have|had|will|would)\b)"
    r"|[,，]\s*(?=or else\b|otherwise\b|(?:or )?alternatively\b|failing that\b|不然|否则)"
    r"|[,，]\s*(?:but|so)\s+|[,，](?=[^,，]*(?:但|不过|只是|另外))|(?<=[,，])(?=请)"
)
_CONJUNCT: Final = re.compile(r",|，|、|;|\band\b|\bas well as\b|\bplus\b|\bor\b|以及|和|还有|或者")
_ASKED: Final = re.compile(
    r"^\W*(?:and |so |well |ok |but |now |then )*(?:what|which|when|where|who|whose|why|how|(?:at|on|in|under|by"
    r"|from|around|for|to|with)"
    r" (?:what|which|whom|whose))\b|什么|多少|哪|几[个件只次号天月]|谁|怎么|为何|为啥"
)
_INVERTED: Final = re.compile(
    r"^\W*(?:and |so |well |ok |but |now |then )*(?:(?:when|where|why|how|who) |(?:what|which|whose)(?: \w+){0,3} )"
    r"(?:is|are|was|were|did|do|does|can|could|would|will)\b"
)
_YES_NO: Final = re.compile(
    r"^\W*(?:and |so |well |ok |but |now |then )*(?:is|are|was|were|do|does|did|has|have|had|will|would|could"
    r"|can|may|shall|should)"
    r" (?:the|your|you|it|they|there|that|this|any|all|i|we|another|somebody|someone)\b|吗|是否|是不是|有没有"
    r"|会不会|要不要"
)
_REQUEST: Final = re.compile(
    r"\bbe so (?:kind|good)\b|\bplease (?!wait|hold|bear|note|do not|don't|rest|accept|find|be )\w+|\bkindly\b"
    r"|\b(?:can|could|would|will) you (?:please |kindly |perhaps |maybe |also )?(?:tell|give|send|provide"
    r"|confirm|describe|share"
    r"|let|state|specify|check|list|explain|name|double|find|look|show|help|remind|say|write|read|forward|be so)"
    r"|\b(?:i|we)(?: would|'d|'ll| will| do| still| also| really)* (?:need|require|miss|lack|want to know"
    r"|like to (?:know|have|ask|hear)"
    r"|appreciate|(?:must|have to|need to|ought to) (?:ask|know)|love to know)\b|\b(?:i am|i'm|we are|we're) (?:missing|lacking|wondering"
    r"|looking for|curious)\b"
    r"|\b(?:tell|give|send|show) (?:me|us)\b|\blet (?:me|us) know\b|\b(?:may|can|might|could) (?:i"
    r"|we) (?:please |also )?"
    r"(?:ask|have|get|know|see|trouble)\b|\b(?:ask you|wonder|interested in|like to know)\b|^\W*(?:what|how) about\b"
    r"|^\W*(?:tell|give|send|provide|confirm|describe|share|state|specify|list|explain|name|enter|indicate)\b"
    r"|请(?!(?:您|你)?(?:再?稍?等|放心|耐心|谅解|理解|见谅|勿|不要|注意|继续))|麻烦(?!您了|你了)|告诉我|提供"
    r"|说明|描述|核对|说说|讲讲|需要(?:您|你)|想(?:问|知道|了解|跟|和|请)"
    r"|\b(?:would|do) you mind\b|\bany chance\b|\bit (?:is|'s) (?:unclear|not clear|not yet clear)\b|\bpossible (?:for you )?to\b"
    r"|烦请|劳烦|拜托|告知|(?:确认|说|发|看)一下|方便(?:告诉|提供|说|发|透露)"
    r"|留个|给我|可否|能否|能不能|可以.{0,6}吗"
)
_INDIRECT: Final = re.compile(
    r"\b(?:tell|know|sure|remember|recall|say|see|wonder\w*|confirm|explain|describe|ask|idea|understand|learn"
    r"|hear)\b[^,?]{0,30}"
    r"\b(?:what|which|when|where|who|why|how)\b"
)
_NEEDLESS: Final = re.compile(
    r"\bno need\b|\bneed(?: not|n't)\b|\b(?:don't|do not) (?:need|have) (?:you )?to (?:tell|give|send|provide"
    r"|look|find|search|say"
    r"|explain|describe|share|answer|know|worry|show|name|confirm)|^\W*(?:please |but |and )*(?:do not|don't|never) "
    r"(?:tell|give|send|bother|look|worry|share|say|write|answer|post|provide|mention|search)"
    r"|\bnever mind\b|\bforget about\b|\bi(?: do not|'m not| am not| don't| won't| will not) (?:need(?! to)|ask"
    r"|asking|require|want to know)"
    r"|\bwithout (?:telling|giving|knowing)\b|\b(?:already|have|'ve|has) (?:found|got|noted|looked up)\b"
    r"|\balready (?:have|know|see)\b"
    r"|\bisn't (?:needed|necessary|required)\b|\bis not (?:needed|necessary|required)\b"
    r"|不用|不必|无需|无须|不需要|没必要|用不着|别(?:再)?(?:告诉|提供|发|说|找|给|寄)|不要(?:告诉|提供|发|说|找"
    r"|给|寄)|已经(?:有|查到|知道|找到|记录)"
)
_CLOSING: Final = re.compile(
    r"\b(?:anything|something) (?:else|further|more)\b.{0,40}(?:help|do for|assist|you|\?)|\bany (?:other"
    r"|further|more) questions?\b"
    r"|\b(?:can|may|how can|how may|could|shall) i (?:be of )?(?:help|assist)|\bdo you understand\b"
    r"|\b(?:is|would|does) (?:that|this|it)(?: be| sound| work)? (?:ok|okay|all right|alright|fine|good|clear"
    r"|work|acceptable)"
    r"|还有(?:什么|其他|别的).{0,12}(?:帮|需要|问题)|可以帮您|明白吗|可以吗|好吗|行吗"
)
_COURTESY: Final = re.compile(
    r"\b(?:thanks?|thank you|ok|okay|yes|no|sorry|hello|hi|welcome|done|sure|noted|bye|goodbye|understood|i|we"
    r"|is|was|are|will)\b"
    r"|谢谢|好的|不客气|抱歉|您好|你好|再见|收到"
)
_PERMISSION: Final = re.compile(r"\b(?:ok|okay|all right|alright|fine|acceptable)\b.{0,20}\b(?:if|that|to|when)\b")
_TAG: Final = re.compile(r"(?:可以|好|行|明白)吗\W*$")
_INSTEAD: Final = re.compile(
    r"^\W*(?:or else|otherwise|(?:or )?alternatively|failing that|if (?:you )?(?:not|can't|cannot|don't|do not)\b"
    r"|without (?:it|that)\b|如果(?:没有|找不到|不记得|记不清)|不然|否则)"
)
_ASIDE: Final = re.compile(
    r"\b(?:before|after|while) (?:you |we |i )?\w+(?:ing|ed)\b[^,?]*"
    r"|\b(?:besides|apart from|other than|aside from|in addition to|except(?: for)?)\b[^,?.]*"
    r"|(?<=[a-z] )(?<!know )(?<!remember )(?<!recall )(?<!me )(?<!us )(?<!of )(?<!and )(?<!sure )(?<!exactly )(?<!roughly )"
    r"when (?:it|they|you|the \w+(?: \w+)?) (?:was |were |first |finally )?\w+(?:ed|ought|got|came)\b[^,?]*"
    r"|\bof yours\b"
    r"|(?:收到|送达|到货|寄回|下单|购买|退回)(?:时(?!间)|的时候)"
)
_DATED: Final = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|yesterday|today|tomorrow|(?:days?|weeks?|months?) ago|last (?:week|month|year)|never|not yet)\b"
    r"|[一二三四五六七八九十\d]月|月[底初中]|昨天|前天|上周|星期|\d号"
)
_CHOSEN: Final = CHOICES - {"@which", "@price"} | {"@send_back", "@broken", "@contents", "@buy", "want", "mean", "tak"}
"""What one does with the one of several that "which" asks for."""
_COUNTED: Final = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|both|all|each|every\w*|none|nothing|no|pair|once|twice)\b"
    r"|\d|[一二两三四五六七八九十几都全]"
)
_ELLIPTIC: Final = re.compile(
    r"^\W*(?:so |and |now )?(?:would you be interested|are you interested|what do you (?:think|say)|what would you say|do you agree"
    r"|how does (?:that|this) sound|(?:would|is|does|will) (?:that|this|it) (?:be |work|suit|help|sound|ok|fine|all|accept|an option)"
    r"|您(?:看|觉得|同意|愿意|能?接受)|(?:可以|能)接受)"
)
_PRONOUN: Final = re.compile(r"\b(?:it|them|ones?|that|those|these|this)\b|[它这那]")
_PERSON: Final = re.compile(r"\b(?:dr|mr|mrs|ms|prof)\.? [a-z]")
_EDGE: Final = re.compile(r"[\W_]+")
_CHINESE: Final = re.compile("[\u4e00-\u9fff]")


class Kind(Enum):
    """What a clause does."""

    OPEN = "a question with a question word, or a request"
    CLOSED = "a question to be answered by yes or no"
    FRAGMENT = "a few words without a verb that could ask or tell"
    COURTESY = "an offer or a closing question"
    PERMISSION = "a question whether something is all right"
    STATEMENT = "no question"
    NEEDLESS = "what need not be told"


@dataclass(frozen=True)
class Clause:
    """One clause of a message, folded, and what it does.

    ``instead``: only if nothing before it can be answered; ``before``: the clause before it.
    """

    text: str
    kind: Kind
    instead: bool = False
    before: str = ""

    @property
    def asks(self) -> bool:
        """It may want to be told something."""
        return self.kind in (Kind.OPEN, Kind.CLOSED, Kind.FRAGMENT, Kind.PERMISSION)


@dataclass(frozen=True)
class _Phrase:
    """A phrase of ``when``: as it stands, with its words as stems, and its terms."""

    literal: str
    stems: str
    terms: Terms

    @property
    def names(self) -> bool:
        """It names a thing, such as a lamp, and not only what may be true of any."""
        return any(term in THINGS or not term.startswith("@") for term in self.terms.all)


    @property
    def coded(self) -> bool:
        """It is an id, which cannot be meant otherwise."""
        return any(letter.isdigit() for letter in self.literal)


@dataclass(frozen=True)
class _Heard:
    """A fact as the ear knows it: its phrases, and the terms of its phrases, of its name and of what it says.

    ``dated``: it says when; ``counted``: it says how many; ``chooses``: it is what the user would rather have.
    """

    phrases: tuple[_Phrase, ...]
    known: frozenset[str]
    near: frozenset[str]
    dated: bool
    counted: bool
    chooses: bool


def asked_for(message: str, facts: Mapping[str, Fact]) -> list[str]:
    """Return the names of the facts that *message* asks for, in the order of the script."""
    return list(_asked_for(message[:LONGEST], tuple((name, tuple(f.when), f.say) for name, f in facts.items())))


@lru_cache(maxsize=256)
def _asked_for(message: str, facts: tuple[tuple[str, tuple[str, ...], str], ...]) -> tuple[str, ...]:
    known = {name: _heard(name, when, say) for name, when, say in facts}
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
    named = {name: phrases for name, fact in known.items() if (phrases := _named(clause, fact))}
    if not named and clause.before and _ELLIPTIC.search(clause.text):
        # "We can send a new one. Would you be interested?" asks about what was said before.
        return _meant(Clause(clause.before, Kind.CLOSED), known)
    if clause.asks and not named:
        return _chosen(clause, known) or _nearest(clause, known) or _meant_by_one(clause, known)
    named = _exact(clause, named)
    # "Is the lamp broken?" asks about the lamp, not about what else is broken.
    things = {name for name, phrases in named.items() if any(phrase.names for phrase in phrases)}
    return [name for name, phrases in named.items() if not things or not _general(phrases, name in things)]


def _exact(clause: Clause, named: dict[str, list[_Phrase]]) -> dict[str, list[_Phrase]]:
    """Without the phrases that are there in other forms only, where another fact has them as they are."""
    if len(named) < 2:
        return named
    spaced = _spaced(clause.text)
    there = {phrase.literal for phrases in named.values() for phrase in phrases if _stands(spaced, phrase.literal)}
    stems = {phrase.stems for phrases in named.values() for phrase in phrases if phrase.literal in there}
    kept = {
        name: [phrase for phrase in phrases if phrase.literal in there or phrase.stems not in stems]
        for name, phrases in named.items()
    }
    return {name: phrases for name, phrases in kept.items() if phrases}


def _meant_by_one(clause: Clause, known: Mapping[str, _Heard]) -> list[str]:
    """What "one" or "it" stands for: a phrase that is partly in the clause and for the rest in the one before it."""
    if not clause.before or not _PRONOUN.search(clause.text):
        return []
    own = terms(clause.text)
    found = Terms(own.all | terms(clause.before).all)
    first = [
        name
        for name, fact in known.items()
        if any(
            phrase.terms.content & own.content
            and _means(phrase.terms, found, found, clause.kind)
            and not _elsewhere(phrase, own, fact)
            for phrase in fact.phrases
        )
    ]
    return first if len(first) == 1 else []


def understood(message: str) -> tuple[Clause, ...]:
    """Split a message into clauses and say what each does. What follows a request goes on with it."""
    return _understood(message[:LONGEST])


@lru_cache(maxsize=256)
def _understood(message: str) -> tuple[Clause, ...]:
    found: list[Clause] = []
    for sentence in _END.split(_ABBREVIATED.sub(r"\1", folded(message))):
        parts = [part.strip() for part in _NEW_CLAUSE.split(sentence)]
        before, instead = Kind.STATEMENT, False
        for part in parts:
            if _EDGE.sub("", part):
                kind = _kind(part, sentence, before)
                instead = instead or bool(_INSTEAD.search(part))
                found.append(Clause(part, kind, instead, found[-1].text if found else ""))
                before = kind
    return tuple(found)


def asks(message: str) -> bool:
    """Whether a message wants to be told something; offers and closing questions do not."""
    if any(mark in message for mark in "?？") and not _EDGE.sub("", message):
        return True
    return any(clause.kind in (Kind.OPEN, Kind.CLOSED) for clause in understood(message))


def closes(message: str) -> bool:
    """Whether a message asks if there is anything else."""
    return any(clause.kind is Kind.COURTESY for clause in understood(message))


def hears(message: str, phrases: Iterable[str]) -> bool:
    """Whether one of the phrases stands in the message as it is, outside of what need not be told."""
    clauses = [_spaced(clause.text) for clause in understood(message) if clause.kind is not Kind.NEEDLESS]
    return any(_stands(clause, _spaced(folded(phrase))) for clause in clauses for phrase in phrases)


def _kind(clause: str, sentence: str, before: Kind) -> Kind:
    if _NEEDLESS.search(clause) and not re.match(r"\W*(?:why )?(?:don't|do) (?:you|we)\b", clause):
        return Kind.NEEDLESS
    if _PERMISSION.search(clause):
        return Kind.PERMISSION
    if _CLOSING.search(clause) and not (_TAG.search(clause) and _REQUEST.search(clause)):
        return Kind.COURTESY
    if _questions(clause, sentence):
        return Kind.OPEN
    if re.search(r"\b(?:whether|if)\b|是否|是不是|有没有", clause) and (_REQUEST.search(sentence) or "?" in sentence):
        return Kind.CLOSED
    if _YES_NO.search(clause) and not _REQUEST.search(clause):
        return Kind.CLOSED
    if _REQUEST.search(clause):
        return Kind.OPEN
    words = _EDGE.sub(" ", clause).split()
    short = len(words) <= 4 and len(clause) <= 40 and len(_CHINESE.findall(clause)) <= 6
    if sentence.rstrip().endswith(("?", "？")):
        return before if before in (Kind.OPEN, Kind.CLOSED) else Kind.OPEN if short else Kind.CLOSED
    if before is Kind.OPEN:
        return before
    return Kind.FRAGMENT if short and not _COURTESY.search(clause) else Kind.STATEMENT


def _questions(clause: str, sentence: str) -> bool:
    """Whether a clause has a question word that asks: not so in "when it arrives, …" and "需要几天。"."""
    stated = sentence.rstrip().endswith((".", "。", "!", "！", ";", "；")) and not _REQUEST.search(sentence)
    return bool(_INVERTED.search(clause) or (not stated and (_ASKED.search(clause) or _INDIRECT.search(clause))))


@lru_cache(maxsize=4096)
def _heard(name: str, when: tuple[str, ...], say: str) -> _Heard:
    phrases = tuple(_Phrase(_spaced(folded(p)), _stems(folded(p)), terms(folded(p))) for p in when)
    near = frozenset().union(*(phrase.terms.all for phrase in phrases)) | terms(folded(name.replace("_", " "))).all
    told = folded(say)
    if near & {"@order_no", "@which_order"}:
        near |= {"@buy"}
    if "@pay_how" in near:
        near |= {"@pay"}
    known = near | terms(told).all | ({"@name"} if _PERSON.search(told) else set())
    chooses = "@prefer" in terms(folded(name)).all or bool(near & {"@prefer"} and near & {"@refund", "@replace"})
    return _Heard(phrases, known, near, bool(_DATED.search(told)), bool(_COUNTED.search(told)), chooses)


def _general(phrases: list[_Phrase], thing: bool) -> bool:
    """Whether phrases say only what may be true of any thing."""
    return not thing and all(phrase.terms.content and phrase.terms.content <= GENERAL for phrase in phrases)


def _named(clause: Clause, fact: _Heard) -> list[_Phrase]:
    """The fact's phrases that are in the clause."""
    if clause.kind is Kind.NEEDLESS:
        return []
    if not clause.asks:
        spaced = _spaced(clause.text)
        return [phrase for phrase in fact.phrases if _stands(spaced, phrase.literal)]
    text = _ASIDE.sub(" ", clause.text)
    whole = terms(text)
    found: list[_Phrase] = []
    for part in _parts(text):
        here, spaced, stems = terms(part), _spaced(part), _stems(part)
        for phrase in fact.phrases:
            literal = _stands(spaced, phrase.literal) or _stands(stems, phrase.stems)
            # "address" stands in "e-mail address" without being meant.
            literal = literal and phrase.terms.all & SPECIFIC <= here.all
            if (literal or _means(phrase.terms, here, whole, clause.kind)) and not _elsewhere(phrase, here, fact):
                found.append(phrase)
    return found


def _parts(clause: str) -> Iterator[str]:
    """The members of an enumeration one by one, then the whole."""
    parts = [part for part in _CONJUNCT.split(clause) if part.strip()]
    if len(parts) > 1:
        yield from parts
    yield clause


def _means(phrase: Terms, found: Terms, whole: Terms, kind: Kind) -> bool:
    """Whether all that a phrase is about is in the question. "which" and "what" ask for more than yes or no."""
    words = phrase.weak - {"@which"}
    if "@which" in phrase.weak and (kind is Kind.CLOSED or (whole.weak & ASKED and "@which" not in whole.weak)):
        return False
    if not phrase.content:
        return bool(words & ASKED) and words <= found.all
    return phrase.content <= found.all and words <= whole.all


def _elsewhere(phrase: _Phrase, found: Terms, fact: _Heard) -> bool:
    """Whether the question names something that the fact is not about."""
    if phrase.terms.all & SPECIFIC or phrase.coded:
        return False
    if phrase.terms.all == {"@which"}:
        return bool(found.all & POINTED - fact.known or not (_CHOSEN & found.all or found.content <= fact.near))
    if phrase.terms.content - GENERAL and (
        ("@time" in found.all and not fact.dated and "@time" not in fact.near)
        or ("@count" in found.all and not fact.counted and "@count" not in fact.near)
    ):
        return True
    if phrase.terms.content == {"@broken"} and found.all & {"@box"} - fact.known:
        return True
    if phrase.terms.content:
        return bool(found.all & SPECIFIC - fact.known)
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
    if not found.all or found.all & SPECIFIC - frozenset().union(*(fact.known for fact in facts.values())):
        return []
    scores = {}
    for name, fact in facts.items():
        common = (found.all & fact.known) - WEAK
        if fact.dated and "@time" in found.all:
            common |= {"@time"}
        if found.all & WHAT_KIND - fact.near - common:
            continue
        close = (found.all & fact.near) - WEAK
        if len(common) >= 2 and close and not found.all & SPECIFIC - fact.known:
            scores[name] = len(common) + len(close)
    best = max(scores.values(), default=0)
    first = [name for name, score in scores.items() if score == best]
    return first if len(first) == 1 else []


@lru_cache(maxsize=512)
def _spaced(text: str) -> str:
    """Punctuation folded; blanks around each word, but none at the edges of Chinese text."""
    words = _EDGE.sub(" ", text).strip()
    return words if _CHINESE.search(words) else f" {words} "


@lru_cache(maxsize=512)
def _stems(text: str) -> str:
    """The text as `_spaced`, each English word as its stem."""
    spaced = _spaced(text)
    words = " ".join(stemmed(word) for word in spaced.split())
    return f" {words} " if spaced.startswith(" ") else words


def _stands(heard: str, phrase: str) -> bool:
    """Whether a phrase stands in the text, as whole words unless Chinese stands around it."""
    return phrase in heard or (not heard.startswith(" ") and phrase.strip() in heard)
