"""Noise in what a customer writes, at three levels, with the meaning kept.

*wording*: slips of the pen, colloquial and dialect forms. *structure*: asides that have nothing to do with the case,
and sentences that run into each other. *knowledge*: claims that are not so, vague hints, identifiers left out.

What carries the case is *protected* and stays as it is, letter by letter and in its order, with nothing like it put in:
ids, numbers, amounts, dates, addresses, negations, quantities, names. All functions are pure; draws come from the given
`agentgym.random.Stream`. Variants of scenarios and the wrapper `agentgym.wrappers.Noise` both use them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, get_args

from agentgym.noise_words import CLAIMS, COLLOQUIAL, KEYS, OFF_TOPIC
from agentgym.random import Stream

NoiseLevel = Literal["wording", "structure", "knowledge"]
LEVELS: Final[tuple[NoiseLevel, ...]] = get_args(NoiseLevel)

_CHINESE: Final = re.compile("[\u3400-\u9fff]")
_COUNTED: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half|both|all|every|each"
    "|only|once|twice|first|second|third|last|next|other|another|rest|whole|per ?cent"
)
_DATED: Final = (
    "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october"
    "|november|december|today|tomorrow|yesterday|tonight|weeks?|months?|years?|mornings?|evenings?|noon|ago"
)
_NEGATIONS: Final = (
    r"not|no|never|none|nothing|nobody|nowhere|neither|nor|without|cannot|unless|except|instead|but|if|\w{1,12}n['’]t"
)
_CURRENCY: Final = "euros?|dollars?|pounds?|pence|cents?|yen|won|francs?|EUR|USD|GBP|JPY|KRW|CNY|CHF"
_PROTECTED: Final = re.compile(
    r"https?://\S+"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}"
    r"|(?:[€$£¥₩]|\b(?:EUR|USD|GBP|JPY|KRW|CNY|CHF)) ?\d[\d.,]*"
    rf"|[A-Za-z0-9_#/-]*\d(?:[A-Za-z0-9_%]|[.,:/-](?=[A-Za-z0-9]))*(?: ?(?:[€$£¥₩%]|(?:{_CURRENCY})\b)|[年月日号元块])?"
    rf"|\b(?:{_DATED}|{_COUNTED}|{_NEGATIONS}|{_CURRENCY})\b"
    r"|[不没無无未别勿莫]|非(?!常)|除非|如果|要是|但是?|只要?|仅|都|全部?|另外?|其[他它余]"
    r"|[一二三四五六七八九十百千万两几半双俩][\u3400-\u9fff]?"
    r"|今天|明天|昨天|前天|后天|上周|下周|周[一二三四五六日天]|星期[一二三四五六日天]"
    r"|[\"“«「][^\"”»」]{1,80}[\"”»」]",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[^\W\d_] )[A-ZÀ-Þ][\w'’-]+|(?<=, )[A-ZÀ-Þ][\w'’-]+")
_STARTS: Final = "The|It|This|That|There|They|We|My|You|Your|Please|When|So|Then|What|How|Could|Can|Would|Also|After"
_PAUSE: Final = re.compile(r"(?<=[.!?])\s+(?=[^\s])|(?<=[。！？])\s*(?=[^\s])")
_PERIOD: Final = re.compile(rf"(?<=[a-z]{{3}})\. (?:(?:{_STARTS})(?= )|(?=I ))")


def _spots(language: str) -> re.Pattern[str]:
    """Where wording may change: plain forms with colloquial ones, longest first, and words of four letters or more."""
    forms = "|".join(map(re.escape, sorted(COLLOQUIAL[language], key=lambda form: (-len(form), form))))
    # A capital may begin a name, so only small letters slip.
    word = r"(?<!\w)[a-z]{4,}(?!\w)"
    return re.compile(rf"\b(?i:{forms})\b|{word}" if language == "en" else f"{forms}|{word}")


_SPOTS: Final = {language: _spots(language) for language in COLLOQUIAL}


def protect(text: str) -> list[tuple[int, int]]:
    """Return the spans (start, end) of *text* that must stay as they are, in their order and apart from each other.

    >>> text = "Please don't refund A1010, EUR 12.50 is not right."
    >>> [text[start:end] for start, end in protect(text)]
    ["don't", 'A1010', 'EUR 12.50', 'not']
    """
    spans = [match.span() for match in _PROTECTED.finditer(text)]
    spans += [match.span() for match in _NAME.finditer(text)]
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        while text[end - 1] in ".,:-/" and end - 1 > start:
            end -= 1
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def protected(text: str) -> list[str]:
    """The protected pieces of *text*, in their order."""
    return [text[start:end] for start, end in protect(text)]


def keeps(before: str, after: str) -> bool:
    """Whether all that is protected in *before* stands in *after*, in its order, and nothing like it came in.

    >>> keeps("not A1, please", "not A1, plz"), keeps("not A1", "not A2"), keeps("A1", "not A1")
    (True, False, False)
    """
    return protected(before) == protected(after)


def noisy(text: str, level: NoiseLevel, stream: Stream, language: str = "en", rate: float = 0.25) -> str:
    """Return *text* with noise of a level.

    Args:
        text: what a customer wrote.
        level: "wording", "structure" or "knowledge".
        stream: where draws come from.
        language: "en" or "zh".
        rate: how much, 0 (the text as it is) to 1 (wherever it can be done). Of *wording* the share of words. Of the
            other levels one sentence is put in, and another with this probability.

    Raises:
        ValueError: the level or the language is unknown, or the rate is not in 0..1.
    """
    if level not in LEVELS:
        raise ValueError(f"expected the level to be one of {', '.join(LEVELS)}, got {level!r}")
    if language not in OFF_TOPIC:
        raise ValueError(f"expected the language to be one of {', '.join(OFF_TOPIC)}, got {language!r}")
    if not 0 <= rate <= 1:
        raise ValueError(f"expected a rate in 0..1, got {rate}")
    if rate == 0 or not text:
        return text
    if level == "wording":
        return wording(text, rate, stream, language)
    count = 1 + (stream.uniform() < rate)
    if level == "structure":
        return structure(text, count, stream, language, joined=min(1.0, 2 * rate))
    return claims(text, count, stream, language)


def wording(text: str, share: float, stream: Stream, language: str = "en") -> str:
    """Colloquial forms and slips of the pen in a *share* (0–1) of the words that are not protected."""
    table = COLLOQUIAL[language]

    def change(match: re.Match[str]) -> str:
        word = match[0]
        if stream.uniform() >= share:
            return word
        forms, slips = table.get(word.lower(), ()), re.fullmatch("[a-z]{4,}", word) is not None
        if forms and not (slips and stream.integers(0, 2)):
            return _cased(stream.choice(forms), word)
        return _slip(word, stream)

    parts = [_SPOTS[language].sub(change, piece) if free else piece for piece, free in _pieces(text)]
    after = "".join(parts)
    return after if keeps(text, after) else _piecewise(text, parts)


def structure(text: str, count: int, stream: Stream, language: str = "en", joined: float = 0.0) -> str:
    """*count* asides before, between or after the sentences; of these a share (*joined*, 0–1) run into each other."""
    return _interrupted(_run_on(text, stream, joined), OFF_TOPIC[language], count, stream)


def claims(text: str, count: int, stream: Stream, language: str = "en") -> str:
    """*count* claims that are not so, before, between or after the sentences."""
    return _interrupted(text, CLAIMS[language], count, stream)


def vague(text: str, literals: Sequence[str], language: str = "en") -> str:
    """The message without these literals: what stands for them names nothing.

    >>> vague("Refund A1010, not A10101.", ["A1010"])
    'Refund the one from a while ago, not A10101.'
    """
    for literal in literals:
        address = "@" in literal
        if language == "zh":
            other = "我平时用的邮箱" if address else "我之前的那个"
        else:
            other = "my usual address" if address else "the one from a while ago"
        text = re.sub(rf"(?<!\w){re.escape(literal)}(?!\w)", other, text, flags=re.ASCII)
    return text


def _negations(text: str) -> list[str]:
    return re.findall(rf"\b(?:{_NEGATIONS})\b|[不没无未别勿]", text, re.IGNORECASE)


def _piecewise(text: str, parts: list[str]) -> str:
    """The changed pieces one by one, those left out after which something protected would be lost or come in."""
    pieces = [piece for piece, _ in _pieces(text)]
    for number, part in enumerate(parts):
        tried = [*pieces[:number], part, *pieces[number + 1 :]]
        if keeps(text, "".join(tried)):
            pieces = tried
    return "".join(pieces)


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it may be changed."""
    found, at = [], 0
    for start, end in protect(text):
        found += [(text[at:start], True), (text[start:end], False)]
        at = end
    return [*found, (text[at:], True)]


def _cased(form: str, like: str) -> str:
    return form[0].upper() + form[1:] if like[0].isupper() else form


def _slip(word: str, stream: Stream) -> str:
    """One letter inside the word changes places, is left out, doubled or mistyped; first and last stay."""
    at = stream.integers(1, len(word) - 2)
    kind = stream.integers(0, 4)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[:at] + word[at + 1 :]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    return word[:at] + stream.choice(KEYS[word[at]]) + word[at + 1 :]


def _run_on(text: str, stream: Stream, share: float) -> str:
    """Join sentences by a comma where neither says no."""

    def joined(match: re.Match[str]) -> str:
        left = re.split(r"[.!?]", text[: match.start()])[-1]
        right = re.split(r"[.!?]", text[match.end() :])[0]
        if _negations(left) or _negations(right) or stream.uniform() >= share:
            return match[0]
        # A capital inside a sentence would read as a name.
        return f", and {match[0][2:].lower()}"

    after = _PERIOD.sub(joined, text)
    return after if keeps(text, after) else text


def _interrupted(text: str, sentences: tuple[str, ...], count: int, stream: Stream) -> str:
    """Put so many of the sentences before, between or after those of the text."""
    for sentence in stream.sample(sentences, min(count, len(sentences))):
        spans = protect(text)
        pauses = [at.start() for at in _PAUSE.finditer(text) if not any(a < at.start() < b for a, b in spans)]
        at = stream.choice([0, *pauses, len(text)])
        gap = "" if _CHINESE.search(sentence) else " "
        before, after = text[:at], text[at:]
        if at and before[-1].isalnum():
            before += "。" if _CHINESE.search(before[-1]) else "."
        made = before + (gap if at else "") + sentence + (gap if after and not after[0].isspace() else "") + after
        text = made if keeps(text, made) else text
    return text
