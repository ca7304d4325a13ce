"""How a message to the scripted user is taken apart: its clauses, and what each of them does.

All patterns are constant and linear in the text; `docs/users.md` says in words what is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from agentgym.lexicon import folded, stemmed
from agentgym.patterns import alternatives

LONGEST: Final = 20_000
"""So many characters of a message are listened to."""


class _Signs:
    """A pattern whose alternatives are only tried where they may begin.

    Those that begin with a word border share one, those for the start of a text are tried there only, and the Chinese
    ones in Chinese text only: a plain alternation tries each of them at each letter.
    """

    def __init__(self, pattern: str) -> None:
        kinds: dict[str, list[str]] = {"words": [], "start": [], "han": []}
        for part in alternatives(pattern):
            if part.startswith("^"):
                kinds["start"].append(part)
            elif part.startswith(r"\b"):
                kinds["words"].append(part[2:])
            else:
                kinds["han"].append(part)
        self._words = re.compile(rf"\b(?:{'|'.join(kinds['words'])})") if kinds["words"] else None
        self._start = re.compile("|".join(kinds["start"])) if kinds["start"] else None
        self._han = re.compile("|".join(kinds["han"])) if kinds["han"] else None

    def stand_in(self, text: str) -> bool:
        """Whether one of the alternatives is found in a text."""
        return bool(
            (self._words and self._words.search(text))
            or (self._start and self._start.match(text))
            or (self._han and _CHINESE.search(text) and self._han.search(text))
        )


_END: Final = re.compile(r"(?<=[?!;。？！；\n])|(?<=\.)(?=\s|$)|(?<=\.[\"')\]])(?=\s)")
_ABBREVIATED: Final = re.compile(r"\b(no|nr|dr|mr|mrs|ms|st|e\.g|i\.e)\.(?=\s)")
_NEW_CLAUSE: Final = re.compile(
    r"[,，]?\s+(?:and|or|but|also)\s+(?=(?:what|which|when|where|who|why|how|whether|if|please|could|can|did|do|does"
    r"|is|was|are|were|has|have|had|will|would)\b)"
    r"|[,，]\s*(?=or else\b|otherwise\b|(?:or )?alternatively\b|failing that\b|不然|否则)"
    r"|[,，]\s*(?:but|so)\s+|[,，](?=[^,，]*(?:但|不过|只是|另外))|(?<=[,，])(?=请)"
)
_CONJUNCT: Final = re.compile(r"[,，、;和]|\b(?:and|as well as|plus|or)\b|以及|还有|或者")
_ASKED: Final = _Signs(
    r"^\W*(?:and |so |well |ok |but |now |then )*(?:what|which|when|where|who|whose|why|how|(?:at|on|in|under|by"
    r"|from|around|for|to|with)"
    r" (?:what|which|whom|whose))\b|什么|多少|哪|几[个件只次号天月]|谁|怎么|为何|为啥"
)
_INVERTED: Final = re.compile(
    r"^\W*(?:and |so |well |ok |but |now |then )*(?:(?:when|where|why|how|who) |(?:what|which|whose)(?: \w+){0,3} )"
    r"(?:is|are|was|were|did|do|does|can|could|would|will)\b"
)
_YES_NO: Final = _Signs(
    r"^\W*(?:and |so |well |ok |but |now |then )*(?:is|are|was|were|do|does|did|has|have|had|will|would|could"
    r"|can|may|shall|should)"
    r" (?:the|your|you|it|they|there|that|this|any|all|i|we|another|somebody|someone)\b|吗|是否|是不是|有没有"
    r"|会不会|要不要"
)
_REQUEST: Final = _Signs(
    r"\bbe so (?:kind|good)\b|\bplease (?!wait|hold|bear|note|do not|don't|rest|accept|find|be )\w+|\bkindly\b"
    r"|\b(?:can|could|would|will) you (?:please |kindly |perhaps |maybe |also )?(?:tell|give|send|provide"
    r"|confirm|describe|share"
    r"|let|state|specify|check|list|explain|name|double|find|look|show|help|remind|say|write|read|forward|be so)"
    r"|\b(?:i|we)(?: would|'d|'ll| will| do| still| also| really)* (?:need|require|miss|lack|want to know"
    r"|like to (?:know|have|ask|hear|note|learn|understand|find out|check|clarify|confirm|record|put down|see)"
    r"|appreciate|(?:must|have to|need to|ought to) (?:ask|know)|love to know)\b|\b(?:i am|i'm|we are"
    r"|we're) (?:missing|lacking|wondering"
    r"|looking for|curious)\b"
    r"|\b(?:tell|give|send|show) (?:me|us)\b|\blet (?:me|us) know\b|\b(?:may|can|might|could) (?:i"
    r"|we) (?:please |also )?"
    r"(?:ask|have|get|know|see|trouble)\b|\b(?:ask you|wonder|interested in|like to know)\b|^\W*(?:what|how) about\b"
    r"|^\W*(?:tell|give|send|provide|confirm|describe|share|state|specify|list|explain|name|enter|indicate)\b"
    r"|请(?!(?:您|你)?(?:再?稍?等|放心|耐心|谅解|理解|见谅|勿|不要|注意|继续))|麻烦(?!您了|你了)|告诉我|提供"
    r"|说明|描述|核对|说说|讲讲|需要(?:您|你)|想(?:问|知道|了解|确认|核实|跟|和|请)|需要(?:知道|确认|核实|了解)"
    r"|\b(?:would|do) you mind\b|\bany chance\b|\bit (?:is|'s) (?:unclear|not clear|not yet clear)\b"
    r"|\bpossible (?:for you )?to\b"
    r"|烦请|劳烦|拜托|告知|(?:确认|说|发|看)一下|方便(?:告诉|提供|说|发|透露)"
    r"|留个|给我|可否|能否|能不能|可以.{0,6}吗"
)
_INDIRECT: Final = _Signs(
    r"\b(?:tell|know|sure|remember|recall|say|see|wonder\w*|confirm|explain|describe|ask|idea|understand|learn"
    r"|hear)\b[^,?]{0,30}"
    r"\b(?:what|which|when|where|who|why|how)\b"
)
_NEEDLESS: Final = _Signs(
    r"\bno need\b|\bneed(?: not|n't)\b|\b(?:don't|do not) (?:need|have) (?:you )?to (?:tell|give|send|provide"
    r"|look|find|search|say"
    r"|explain|describe|share|answer|know|worry|show|name|confirm)|^\W*(?:please |but |and )*(?:do not|don't|never) "
    r"(?:tell|give|send|bother|look|worry|share|say|write|answer|post|provide|mention|search)"
    r"|\bnever mind\b|\bforget about\b|\bi(?: do not|'m not| am not| don't| won't| will not) (?:need(?! to)|ask"
    r"|asking|require|want to know)"
    r"|\bwithout (?:telling|giving|knowing)\b|\b(?:already|(?:i|we) have|'ve|has) (?:found|got|noted|looked up)\b"
    r"|\balready (?:have|know|see)\b"
    r"|\bisn't (?:needed|necessary|required)\b|\bis not (?:needed|necessary|required)\b"
    r"|不用|不必|无需|无须|(?<!需)不需要|没必要|用不着|别(?:再)?(?:告诉|提供|发|说|找|给|寄)|不要(?:告诉|提供|发|说|找"
    r"|给|寄)|已经(?:有|查到|知道|找到|记录)"
)
_CLOSING: Final = _Signs(
    r"\b(?:anything|something) (?:else|further|more)\b.{0,40}(?:help|do for|assist|you|\?)|\bany (?:other"
    r"|further|more) questions?\b"
    r"|\b(?:can|may|how can|how may|could|shall) i (?:be of )?(?:help|assist)|\bdo you understand\b"
    r"|\b(?:is|would|does) (?:that|this|it)(?: be| sound| work)? (?:ok|okay|all right|alright|fine|good|clear"
    r"|work|acceptable)"
    r"|还有(?:什么|其他|别的).{0,12}(?:帮|需要|问题)|可以帮您|明白吗|可以吗|好吗|行吗"
)
_COURTESY: Final = _Signs(
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
    r"\b(?:(?:before|after|while) (?:you |we |i )?\w+(?:ing|ed)\b[^,?]*"
    r"|(?:besides|apart from|other than|aside from|in addition to|except(?: for)?)\b[^,?.]*|of yours\b"
    r"|when(?<=[a-z] when)(?<!know when)(?<!remember when)(?<!recall when)(?<!me when)(?<!us when)(?<!of when)"
    r"(?<!and when)(?<!sure when)(?<!exactly when)(?<!roughly when)"
    r" (?:it|they|you|the \w+(?: \w+)?) (?:was |were |first |finally )?\w+(?:ed|ought|got|came)\b[^,?]*)"
    r"|^\W*if (?:you )?(?:can't|cannot|don't|do not) [^,，?]*[,，]"
    r"|(?:收到|送达|到货|寄回|下单|购买|退回)(?:时(?!间)|的时候)"
)
_BY_THE_WAY: Final = re.compile(
    "before|after|while|besides|apart|other than|aside|addition|except|of yours|when |if |时"
)
"""What `_ASIDE` begins with, found fast."""
_WHY_NOT: Final = re.compile(r"\W*(?:why )?(?:don't|do) (?:you|we)\b")
_WHETHER: Final = _Signs(r"\b(?:whether|if)\b|是否|是不是|有没有")
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


class Sentence(NamedTuple):
    """A sentence of a message, folded, and its clauses."""

    text: str
    clauses: tuple[Clause, ...]


def understood(message: str) -> tuple[Clause, ...]:
    """Split a message into clauses and say what each does. What follows a request goes on with it."""
    return _understood(message[:LONGEST])


def sentences(message: str) -> tuple[Sentence, ...]:
    """The same, sentence by sentence."""
    return _sentences(message[:LONGEST])


@lru_cache(maxsize=256)
def _understood(message: str) -> tuple[Clause, ...]:
    return tuple(clause for sentence in _sentences(message) for clause in sentence.clauses)


@lru_cache(maxsize=256)
def _sentences(message: str) -> tuple[Sentence, ...]:
    found: list[Sentence] = []
    last = ""
    text = folded(message)
    for sentence in _END.split(_ABBREVIATED.sub(r"\1", text) if ". " in text else text):
        clauses: list[Clause] = []
        before, instead = Kind.STATEMENT, False
        for part in [part.strip() for part in _NEW_CLAUSE.split(sentence)]:
            if _EDGE.sub("", part):
                kind = _kind(part, sentence, before)
                instead = instead or bool(_INSTEAD.search(part))
                clauses.append(Clause(part, kind, instead, last))
                before, last = kind, part
        if clauses:
            found.append(Sentence(sentence.strip(), tuple(clauses)))
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
    clauses = [spaced(clause.text) for clause in understood(message) if clause.kind is not Kind.NEEDLESS]
    return any(stands(clause, spaced(folded(phrase))) for clause in clauses for phrase in phrases)


def _kind(clause: str, sentence: str, before: Kind) -> Kind:
    if _NEEDLESS.stand_in(clause) and not _WHY_NOT.match(clause):
        return Kind.NEEDLESS
    if _PERMISSION.search(clause):
        return Kind.PERMISSION
    if _CLOSING.stand_in(clause) and not (_TAG.search(clause) and _REQUEST.stand_in(clause)):
        return Kind.COURTESY
    if _questions(clause, sentence):
        return Kind.OPEN
    if _WHETHER.stand_in(clause) and (_REQUEST.stand_in(sentence) or "?" in sentence):
        return Kind.CLOSED
    if _YES_NO.stand_in(clause) and not _REQUEST.stand_in(clause):
        return Kind.CLOSED
    if _REQUEST.stand_in(clause):
        return Kind.OPEN
    words = _EDGE.sub(" ", clause).split()
    short = len(words) <= 4 and len(clause) <= 40 and len(_CHINESE.findall(clause)) <= 6
    if sentence.rstrip().endswith(("?", "？")):
        return before if before in (Kind.OPEN, Kind.CLOSED) else Kind.OPEN if short else Kind.CLOSED
    if before is Kind.OPEN:
        return before
    return Kind.FRAGMENT if short and not _COURTESY.stand_in(clause) else Kind.STATEMENT


def _questions(clause: str, sentence: str) -> bool:
    """Whether a clause has a question word that asks: not so in "when it arrives, …" and "需要几天。"."""
    stated = sentence.rstrip().endswith((".", "。", "!", "！", ";", "；")) and not _REQUEST.stand_in(sentence)
    return bool(_INVERTED.search(clause) or (not stated and (_ASKED.stand_in(clause) or _INDIRECT.stand_in(clause))))


@lru_cache(maxsize=512)
def spaced(text: str) -> str:
    """Punctuation folded; blanks around each word, but none at the edges of Chinese text."""
    words = _EDGE.sub(" ", text).strip()
    return words if _CHINESE.search(words) else f" {words} "


@lru_cache(maxsize=512)
def stems(text: str) -> str:
    """The text as `spaced`, each English word as its stem."""
    blank = spaced(text)
    words = " ".join([stemmed(word) for word in blank.split()])
    return f" {words} " if blank.startswith(" ") else words


def stands(heard: str, phrase: str) -> bool:
    """Whether a phrase stands in the text, as whole words unless Chinese stands around it."""
    return phrase in heard or (not heard.startswith(" ") and phrase.strip() in heard)


@lru_cache(maxsize=512)
def aside(clause: str) -> str:
    """The clause without what is only said by the way: "after unpacking it", "apart from the delay"."""
    return _ASIDE.sub(" ", clause) if _BY_THE_WAY.search(clause) else clause


def members(clause: str) -> list[str]:
    """The members of an enumeration one by one, then the whole."""
    parts = [part for part in _CONJUNCT.split(clause) if part.strip()]
    return [*parts, clause] if len(parts) > 1 else [clause]
