"""Typed values in free text: does a message mention 45.00 EUR, order A1001, 14 March 2026?

The text is an agent's. It is only ever read by constant patterns in which no unbounded repeat is followed by
something that can fail, so that the time is linear in the text; numbers of more than 40 characters are no numbers.

Amounts in a text are read as people write them, which is stricter for bare numbers than `compare`: without a currency
beside it, a number is an amount only when it has exactly the currency's decimals ("45.00"; "4500" for JPY), so that
neither "45 minutes" nor the minor units 4500 count as 45.00 EUR. Signs are not read: a refund is shown as "-45.00" by
some.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from agentgym.days import days

if TYPE_CHECKING:
    from agentgym.compare import Comparator

__all__ = [
    "CURRENCIES", "Amount", "amounts", "distinct_amounts", "distinct_ids", "distinct_numbers", "exponent", "fold",
    "mentions", "number_tokens",
    "read_money", "read_number", "stands_alone",
]  # fmt: skip

_NO_MINOR: Final = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split())
_THREE: Final = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
CURRENCIES: Final = (
    _NO_MINOR
    | _THREE
    | frozenset(
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL "
        "HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP "
        "MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD "
        "SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS "
        "VES WST XCD YER ZAR ZMW ZWL".split()
    )
)
"""ISO 4217 codes; minor units are hundredths except where ISO says otherwise."""

_MARKS: Final[dict[str, frozenset[str]]] = {
    mark: frozenset(codes.split("/"))
    for codes, *marks in map(
        str.split,
        """USD/AUD/CAD/NZD/HKD/SGD/TWD/MXN $ dollar dollars buck bucks
        USD us$ usd 美元 美金\nAUD a$ au$ aud\nCAD c$ ca$ cad\nHKD hk$ hkd\nNZD nz$ nzd\nSGD s$ sgd\nTWD nt$
        EUR € eur euro euros 欧元\nGBP £ gbp pound pounds quid 英镑\nCHF chf fr sfr francs\nJPY jpy jp¥ yen 円 日元
        CNY cny cn¥ yuan rmb 人民币 块\nJPY/CNY ¥\nCNY/TWD/HKD 元\nKRW krw ₩ won 韩元\nVND ₫ dong\nTHB ฿ baht
        INR inr ₹\nINR/PKR/LKR/NPR rs rupee rupees\nRUB ₽\nTRY ₺\nILS ₪\nPLN pln zł\nCZK czk\nKWD kwd\nBHD bhd
        SEK sek\nNOK nok\nDKK dkk\nSEK/NOK/DKK/ISK kr\nKWD/BHD/JOD/TND dinar dinars""".splitlines(),
    )
    for mark in marks
}
_CENTS: Final = _MARKS["$"] | {"EUR"}
_MINOR_MARKS: Final = {
    **dict.fromkeys(("cent", "cents", "ct", "¢"), _CENTS),
    **dict.fromkeys(("pence", "penny"), frozenset({"GBP"})),
}

_NUMBER: Final = re.compile(r"[0-9]+(?:[.,'’][0-9]+| [0-9]{3}(?![0-9]))*")
_SYMBOL: Final = r"[A-Za-z]{0,2}[€$£¥₩₹₫฿₽₺₪¢]|[A-Za-zł]{1,8}(?![A-Za-zł])|人民币|[日欧美韩]元|美金|英镑|[元円块]"
_BEFORE: Final = re.compile(rf"(?<![A-Za-zł])({_SYMBOL})\.?[ \n]?[-−+]?$")
_AFTER: Final = re.compile(rf"(?:[.,][-–—]{{1,2}})? ?({_SYMBOL})")
_CENTS_WORD: Final = re.compile(r"[0-9] ?(?:c(?:en)?t|pence|penny|¢)", re.IGNORECASE)
_JOINS: Final = frozenset({" ", " and ", ", ", ", and ", " und ", " & "})
_TEN: Final[tuple[int, ...]] = tuple(10**power for power in range(64))


class Amount(NamedTuple):
    """An amount in major units, and the currencies it can be in (None: no currency stands beside it)."""

    value: Decimal
    currencies: frozenset[str] | None


class _Found(NamedTuple):
    digits: int
    scale: int
    currencies: frozenset[str] | None
    start: int
    end: int

    def minor(self, currency: str) -> int | None:
        """Minor units of `currency`; None when another currency is stated or it is no whole number of them."""
        if self.currencies is not None and currency not in self.currencies:
            return None
        return _rescale(self.digits, self.scale, exponent(currency))


def exponent(currency: str) -> int:
    """Decimals of a currency: 0, 2 or 3.

    >>> exponent("EUR"), exponent("JPY"), exponent("KWD")
    (2, 0, 3)
    """
    return 0 if currency in _NO_MINOR else 3 if currency in _THREE else 2


def fold(text: str) -> str:
    """NFKC, so that full-width digits and odd spaces read as their plain forms.

    >>> fold("４５．００\u00a0€")
    '45.00 €'
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _rescale(digits: int, scale: int, wanted: int) -> int | None:
    if scale <= wanted:
        return digits * _TEN[wanted - scale]
    quotient, rest = divmod(digits, _TEN[scale - wanted])
    return None if rest else quotient


@lru_cache(maxsize=8192)
def read_number(lexeme: str, decimals: int = 2) -> tuple[int, int] | None:
    """Read a number with any usual grouping; returns (digits, scale), its value being digits / 10**scale, or None.

    A lone separator before exactly three digits groups thousands ("1.234" is 1234), except "." where `decimals` is 3.

    >>> read_number("1.234,50"), read_number("1,234"), read_number("1.234", 3), read_number("1.2.3")
    ((123450, 2), (1234, 0), (1234, 3), None)
    """
    if len(lexeme) > 40:
        return None
    if lexeme.isdigit():
        return int(lexeme), 0
    groups = re.split(r"[.,'’ ]", lexeme)
    separators = [char for char in lexeme if not "0" <= char <= "9"]
    last, tail = separators[-1], groups[-1]
    if last not in ".,":
        fraction = False
    elif len(separators) == 1:
        fraction = len(tail) != 3 or len(groups[0]) > 3 or groups[0][0] == "0" or (decimals == 3 and last == ".")
    else:
        fraction = last != separators[-2]
    whole, marks = (groups[:-1], separators[:-1]) if fraction else (groups, separators)
    if marks and not _grouped(whole, marks):
        return None
    return int("".join(groups)), len(tail) if fraction else 0


def _grouped(groups: list[str], marks: list[str]) -> bool:
    """Thousands, or the Indian way ("12,34,567"), with one kind of separator."""
    if len(set(marks)) != 1 or not 1 <= len(groups[0]) <= 3 or len(groups[-1]) != 3:
        return False
    middle = {len(group) for group in groups[1:-1]}
    return middle <= {3} or (marks[0] == "," and middle == {2} and len(groups[0]) <= 2)


def number_tokens(text: str, decimals: int = 2) -> Iterator[tuple[int, int, int, int]]:
    """Each readable number in folded text as (digits, scale, start, end), whatever stands beside it."""
    for match in _NUMBER.finditer(text):
        lexeme, start = match[0], match.start()
        number = read_number(lexeme, decimals) if len(lexeme) <= 40 else None
        if number is not None:
            yield *number, start, start + len(lexeme)
            continue
        # "45,60,75" is a list, "2026 100" two numbers: read the parts, unless they are parts of a date or a version.
        for part in re.finditer(r"[^ ,]+", lexeme):
            number = read_number(part[0], decimals)
            if number is not None:
                yield *number, start + part.start(), start + part.end()


def _wordy(char: str) -> bool:
    """Whether a character joins words; scripts written without spaces do not."""
    return char == "_" or (char.isalnum() and char < "\u2e80")


def _glued(text: str, start: int, end: int) -> bool:
    """Whether a bare integer is a part of a date, a time, an id, a fraction."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return before[-1:] in "#№" and bool(before) or (
        len(before) == 2 and before[1] in "-/:.," and _wordy(before[0])
    ) or (len(after) == 2 and after[0] in "-/:" and _wordy(after[1]))  # fmt: skip


@lru_cache(maxsize=8192)
def _mark_before(text: str) -> frozenset[str] | None:
    """The currencies that the mark at the end of a text stands for."""
    match = _BEFORE.search(text)
    return _meaning(match[1])[0] if match else None


@lru_cache(maxsize=8192)
def _mark_after(text: str) -> tuple[frozenset[str] | None, bool, int, bool]:
    """The mark at the start of a text: its currencies, if it is of minor units, its length, if a number follows."""
    match = _AFTER.match(text)
    if match is None:
        return None, False, 0, False
    return *_meaning(match[1]), match.end(), text[match.end() : match.end() + 2].strip()[:1].isdigit()


def _meaning(word: str) -> tuple[frozenset[str] | None, bool]:
    # Codes that are words too (ALL, TRY, TOP) are codes in capitals only.
    if word in CURRENCIES:
        return frozenset({word}), False
    word = word.lower()
    return (_MINOR_MARKS[word], True) if word in _MINOR_MARKS else (_MARKS.get(word), False)


def _amounts(text: str, currency: str | None) -> list[_Found]:
    """All amounts in folded text; `currency` says how many decimals a bare amount has."""
    found: list[_Found] = []
    wanted, taken = exponent(currency) if currency else 2, 0
    for digits, scale, start, end in number_tokens(text, wanted):
        pre = _mark_before(text[max(taken, start - 12) : start]) if start > taken else None
        post, minor, length, followed = _mark_after(text[end : end + 16])
        if pre is not None and followed:
            post = None  # "EUR 45 USD 60": the second mark belongs to the second number.
        if (pre is None and start and _wordy(text[start - 1])) or (post is None and _wordy(text[end : end + 1])):
            continue
        if text[end : end + 2].lstrip()[:1] == "%":
            continue
        if pre is None and post is None:
            if scale == wanted and not (scale == 0 and _glued(text, start, end)):
                found.append(_Found(digits, scale, None, start, end))
            continue
        if pre is None:
            taken = end + length
            if minor and scale == 0:
                scale = 2
                if found and digits < 100 and found[-1].scale == 0 and text[found[-1].end : start] in _JOINS:
                    whole = found.pop()
                    found.append(_Found(whole.digits * 100 + digits, 2, whole.currencies, whole.start, taken))
                    continue
            end = taken
        both = pre & post if pre is not None and post is not None else None
        found.append(_Found(digits, scale, both or pre or post, start, end))
    return found


def _may_have(text: str, minor: int, currency: str) -> bool:
    """Whether any number of a text is the amount, before looking at what stands beside it (three times faster)."""
    wanted = exponent(currency)
    for digits, scale, _, _ in number_tokens(text, wanted):
        if _rescale(digits, scale, wanted) == minor:
            return True
    return _CENTS_WORD.search(text) is not None


def amounts(text: str, currency: str | None = None) -> list[Amount]:
    """All amounts of money in a text, in order, in major units.

    Args:
        text: What somebody wrote.
        currency: ISO code whose decimals a number without a currency must have (two when None).

    >>> [str(a.value) for a in amounts("€45, 1,234.50 and 12,5 EUR; not 4500, 45 days or A45.00")]
    ['45', '1234.50', '12.5']
    """
    return [
        Amount(Decimal(each.digits).scaleb(-each.scale), each.currencies) for each in _amounts(fold(text), currency)
    ]


def distinct_amounts(text: str, currency: str) -> set[int]:
    """The different amounts that a text mentions in `currency` (or in none stated), in minor units.

    >>> sorted(distinct_amounts("45.00, €45 or 60 euros, but not $70", "EUR"))
    [4500, 6000]
    """
    minors = (each.minor(currency) for each in _amounts(fold(text), currency))
    return {minor for minor in minors if minor is not None}


def distinct_ids(text: str, like: str) -> set[str]:
    """The different tokens, in capitals, of the shape of `like`: letters where it has letters, digits where digits.

    >>> sorted(distinct_ids("A1001, a1002 or (A1003), not B20", like="A1001"))
    ['A1001', 'A1002', 'A1003']
    """
    shape = _shape(like)
    return {
        token.upper()
        for token in re.findall(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*", fold(text))
        if len(token) == len(like) and _shape(token) == shape
    }


def distinct_numbers(text: str) -> set[Decimal]:
    """The different plain numbers that a text mentions: no parts of dates, times and ids, no amounts, no percentages.

    >>> sorted(map(str, distinct_numbers("5 or -6.5 of 20 days, on 2026-03-16 at 9:30, A1001, EUR 45, 12 %")))
    ['-6.5', '20', '5']
    """
    text = fold(text)
    spans = [(each.start, each.end) for each in _amounts(text, None) if each.currencies is not None]
    found = set()
    for digits, scale, start, end in number_tokens(text):
        before = text[start - 1 : start]
        if (before and _wordy(before)) or _wordy(text[end : end + 1]) or _glued(text, start, end):
            continue
        if text[end : end + 2].lstrip()[:1] == "%" or any(first <= start < last for first, last in spans):
            continue
        found.add(Decimal(digits).scaleb(-scale) * (-1 if before in ("-", "−") else 1))
    return found


def _shape(token: str) -> str:
    return "".join("9" if char.isdigit() else "A" if char.isalpha() else char for char in token)


_BARE_MONEY: Final = re.compile(
    rf"([-−+]?) ?(?:({_SYMBOL})\.? ?)?([-−+]?)([0-9][0-9.,'’ ]{{0,39}})(?:[.,][-–—]{{1,2}})? ?({_SYMBOL})?\.?"
)


def read_money(text: str, currency: str) -> int | None:
    """Read a text that is one amount in major units and nothing else; minor units of `currency`, or None.

    >>> read_money("$0.00", "USD"), read_money("1.234,50 €", "EUR"), read_money("45 USD", "EUR")
    (0, 123450, None)
    """
    if len(text) > 80:
        return None
    match = _BARE_MONEY.fullmatch(fold(text).strip())
    if match is None or (match[1] and match[3]):
        return None
    number = read_number(match[4].rstrip(), exponent(currency)) if _NUMBER.fullmatch(match[4].rstrip()) else None
    for mark in (match[2], match[5]):
        if mark and currency not in ({mark} if mark in CURRENCIES else _MARKS.get(mark.lower(), ())):
            return None
    minor = None if number is None else _rescale(*number, exponent(currency))
    return minor if minor is None or "+" in (sign := match[1] or match[3] or "+") or not sign else -minor


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] is a whole token: A1001 in "(A1001)", but neither in "A10011" nor in "A1001-2"."""
    if start and _wordy(text[start]) and _wordy(text[start - 1]):
        return False
    if end < len(text) and _wordy(text[end - 1]) and _wordy(text[end]):
        return False
    before = text[max(0, start - 2) : start]
    if len(before) == 2 and (
        (before[1] == "-" and _wordy(before[0]))
        or (before[1] in ".," and before[0].isdigit() and text[start].isdigit())
    ):
        return False
    after = text[end : end + 3]
    if len(after) < 2 or after[0] not in "-.," or not _wordy(after[1]):
        return True
    if after[0] == "-":
        return not (after[1].isdigit() or len(after) == 2 or not _wordy(after[2]))
    return not (after[1].isdigit() and text[end - 1].isdigit())


def _phrase(text: str, phrase: str, token: bool) -> bool:
    """Find `phrase` in `text`, both folded: as a whole token, or between word boundaries only."""
    start = text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        if token:
            if stands_alone(text, start, end):
                return True
        elif not (start and _wordy(text[start - 1]) and _wordy(phrase[0])) and not (
            end < len(text) and _wordy(text[end]) and _wordy(phrase[-1])
        ):
            return True
        start = text.find(phrase, start + 1)
    return False


_WORDS: Final = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split()))


def _has_number(text: str, expected: int | float, tolerance: float | None) -> bool:
    wanted, margin = Decimal(repr(expected)), Decimal(repr(tolerance or 0))
    if isinstance(expected, int) and expected in _WORDS and _phrase(text.casefold(), _WORDS[expected], token=True):
        return True
    for digits, scale, start, end in number_tokens(text):
        before = text[max(0, start - 2) : start]
        if (before and _wordy(before[-1])) or _wordy(text[end : end + 1]):
            continue
        if before[-1:] in ("-", "−") and len(before) == 2 and _wordy(before[0]):
            continue
        value = Decimal(digits).scaleb(-scale) * (-1 if before[-1:] in ("-", "−") else 1)
        if abs(value - wanted) <= margin:
            return True
    return False


def mentions(text: str, spec: Comparator) -> bool:
    """Whether a text mentions the value of a comparator of type money, id, text, int, number, date or one_of.

    Money and numbers are read in any usual format, ids are whole tokens in any case, texts are phrases between word
    boundaries with case and white space folded, a date is a day (a year left out after a month's name is taken as
    meant).

    Args:
        text: What the agent wrote.
        spec: The declaration; it must carry a value.

    Raises:
        ValueError: If the type cannot be mentioned or there is no value (the author's mistake).
    """
    if spec.type == "one_of":
        return any(mentions(text, each) for each in spec.any_of)
    if not spec.has_value:
        raise ValueError(f"a mentioned {spec.type} needs a value, found none; expected a value in the declaration")
    if spec.type == "money":
        currency = spec.currency or ""
        wanted = abs(spec.value)
        text = fold(text)
        return _may_have(text, wanted, currency) and any(
            each.minor(currency) == wanted for each in _amounts(text, currency)
        )
    if spec.type == "id":
        return _phrase(fold(text).casefold(), fold(spec.value).casefold(), token=True)
    if spec.type == "text":
        return _phrase(
            " ".join(fold(text).casefold().split()), " ".join(fold(spec.value).casefold().split()), token=False
        )
    if spec.type in ("int", "number"):
        return _has_number(fold(text), spec.value, spec.tolerance)
    if spec.type == "date":
        year, month, day = int(spec.value[:4]), int(spec.value[5:7]), int(spec.value[8:10])
        folded = " ".join(fold(text).casefold().split())
        return any(found in ((year, month, day), (0, month, day)) for found in days(folded))
    raise ValueError(
        f"a text cannot be searched for type {spec.type!r}; expected money, id, text, int, number, date or one_of"
    )
