"""Noise in what a customer writes, at three levels, with the meaning kept.

*wording*: slips of the pen, colloquial and dialect forms. *structure*: asides that have nothing to do with the case,
and sentences that run into each other. *knowledge*: claims that are not so, and vague hints instead of help.

What carries the case is *protected* and stays as it is, letter by letter and in its order: ids, numbers, amounts,
dates, addresses, negations, quantities, names. All functions are pure; draws come from the given
`agentgym.random.Stream`.
"""

from __future__ import annotations

import re
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
    r"|[不没無无未别勿非莫]|除非|如果|要是|但是?|只要?|仅|都|全部?|另外?|其[他它余]"
    r"|[一二三四五六七八九十百千万两几半双俩][\u3400-\u9fff]?"
    r"|今天|明天|昨天|前天|后天|上周|下周|周[一二三四五六日天]|星期[一二三四五六日天]"
    r"|[\"“«「][^\"”»」]{1,80}[\"”»」]",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[^\W\d_] )[A-ZÀ-Þ][\w'’-]+|(?<=, )[A-ZÀ-Þ][\w'’-]+")
_WORD: Final = re.compile(r"\b[a-z]{4,}\b")
_PAUSE: Final = re.compile(r"(?<=[.!?])\s+(?=[^\s])|(?<=[。！？])\s*(?=[^\s])")
_PERIOD: Final = re.compile(r"(?<=[a-z]{3})\. (?=[A-Z][a-z]+ )")


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


def noisy(text: str, level: NoiseLevel, stream: Stream, language: str = "en", rate: float = 0.15) -> str:
    """Return *text* with noise.

    Args:
        text: what a customer wrote.
        level: "wording", "structure" or "knowledge".
        stream: where draws come from.
        language: "en" or "zh".
        rate: how much, 0 (the text as it is) to 1 (wherever it can be done): of *wording* the share of words that get a
            slip; colloquial forms and sentences joined are four times as likely. Of the other levels one sentence is
            put in, and another with this probability.

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
        return _reworded(text, stream, language, rate)
    if level == "structure":
        return _interrupted(_run_on(text, stream, rate), OFF_TOPIC[language], stream, rate)
    return _interrupted(text, CLAIMS[language], stream, rate)


def keeps(before: str, after: str) -> bool:
    """Whether all that is protected in *before* stands in *after*, in its order, and no negation came in.

    >>> keeps("not A1, please", "not A1, plz"), keeps("not A1", "not A2"), keeps("A1", "not A1")
    (True, False, False)
    """
    rest = iter(protected(after))
    if not all(piece in rest for piece in protected(before)):
        return False
    return len(_negations(before)) == len(_negations(after))


def _negations(text: str) -> list[str]:
    return re.findall(rf"\b(?:{_NEGATIONS})\b|[不没无未别勿]", text, re.IGNORECASE)


def _reworded(text: str, stream: Stream, language: str, rate: float) -> str:
    """Colloquial forms and slips of the pen, outside of what is protected."""
    table = COLLOQUIAL[language]
    forms = sorted(table, key=lambda form: (-len(form), form))
    border = (r"\b(?:", r")\b") if language == "en" else ("(?:", ")")
    pattern = re.compile(border[0] + "|".join(map(re.escape, forms)) + border[1], re.IGNORECASE)

    def colloquial(match: re.Match[str]) -> str:
        if stream.uniform() >= min(1.0, 4 * rate):
            return match[0]
        return _cased(stream.choice(table[match[0].lower()]), match[0])

    def slip(match: re.Match[str]) -> str:
        return match[0] if stream.uniform() >= rate else _slip(match[0], stream)

    parts = []
    for piece, free in _pieces(text):
        if free:
            piece = pattern.sub(colloquial, piece)
            piece = _WORD.sub(slip, piece)
        parts.append(piece)
    after = "".join(parts)
    return after if keeps(text, after) else _piecewise(text, parts)


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


def _run_on(text: str, stream: Stream, rate: float) -> str:
    """Join sentences by a comma where neither says no."""

    def joined(match: re.Match[str]) -> str:
        left = re.split(r"[.!?]", text[: match.start()])[-1]
        right = re.split(r"[.!?]", text[match.end() :])[0]
        if _negations(left) or _negations(right) or stream.uniform() >= min(1.0, 4 * rate):
            return match[0]
        return ", and "

    after = _PERIOD.sub(joined, text)
    return after if keeps(text, after) else text


def _interrupted(text: str, sentences: tuple[str, ...], stream: Stream, rate: float) -> str:
    """Put one or two of the sentences between those of the text, or after them."""
    count = 1 + (stream.uniform() < rate)
    for sentence in stream.sample(sentences, min(count, len(sentences))):
        spans = protect(text)
        pauses = [at.start() for at in _PAUSE.finditer(text) if not any(a < at.start() < b for a, b in spans)]
        at = stream.choice([*pauses, len(text)])
        gap = "" if _CHINESE.search(sentence) else " "
        after = text[:at] + gap + sentence + (gap if at < len(text) and not text[at].isspace() else "") + text[at:]
        text = after if keeps(text, after) else text
    return text
