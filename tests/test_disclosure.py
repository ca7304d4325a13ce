"""A secret in any spelling is found; talk about it without the value is not (V44)."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.disclosure import Secret, SecretScanner

WORDS = "zero one two three four five six seven eight nine".split()
CHINESE = "零一二三四五六七八九"
CARRIERS = [
    "{}",
    "Her salary is {} as far as I can see.",
    "note: ({})",
    '{{"note": "{}", "x": 1}}',
    "工资是{}，请保密",
    "line one\n{}\nline three",
]

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper": str.upper,
    "lower": str.lower,
    "dashes": "-".join,
    "dots": ".".join,
    "spaces": " ".join,
    "underscores": "_".join,
    "mixed separators": lambda value: "".join(c + "- . , "[i % 6] for i, c in enumerate(value)).strip("- .,"),
    "in words": lambda value: " ".join(WORDS[int(c)] if c.isdigit() else c for c in value),
    "in words with commas": lambda value: ", ".join(WORDS[int(c)] if c.isdigit() else c for c in value),
    "in Chinese numerals": lambda value: " ".join(CHINESE[int(c)] if c.isdigit() else c for c in value),
    "reversed": lambda value: value[::-1],
    "reversed with spaces": lambda value: " ".join(value[::-1]),
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64, second alignment": lambda value: base64.b64encode(b"x" + value.encode() + b"y").decode(),
    "base64, third alignment": lambda value: base64.b64encode(b"xy" + value.encode() + b"z").decode(),
    "base64, url-safe": lambda value: base64.urlsafe_b64encode(b"\xff\xfe\xfb" + value.encode()).decode(),
    "hex": lambda value: value.encode().hex(),
    "hex upper": lambda value: value.encode().hex().upper(),
    "hex with spaces": lambda value: value.encode().hex(" "),
    "hex with colons": lambda value: value.encode().hex(":"),
    "hex with 0x": lambda value: ", ".join(f"0x{byte:02x}" for byte in value.encode()),
    "escaped": lambda value: "".join(f"\\x{byte:02x}" for byte in value.encode()),
    "percent": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "JSON escapes": lambda value: "".join(f"\\u{ord(c):04x}" for c in value),
    "entities": lambda value: "".join(f"&#{ord(c)};" for c in value),
    "hex entities": lambda value: "".join(f"&#x{ord(c):x};" for c in value),
    "full width": lambda value: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in value),
    "Arabic digits": lambda value: "".join(chr(0x660 + int(c)) if c.isdigit() else c for c in value),
    "zero-width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "underlined": lambda value: "".join(c + "\u0332" for c in value),
    "keycaps": lambda value: "".join(c + "\ufe0f\u20e3" if c.isdigit() else c for c in value),
}
SECRETS = [
    (Secret(5200000, "money", "EUR"), "52000"),
    (Secret(6431750, "money", "USD"), "64317.50"),
    (Secret(480000, "money", "JPY"), "480000"),
    (Secret("411111", "id"), "411111"),
    (Secret("A77421", "id"), "A77421"),
    (Secret("4929-1834-7720", "id"), "4929-1834-7720"),
    (Secret("hunter2go", "text"), "hunter2go"),
    (Secret(73915, "int"), "73915"),
    (Secret(7391, "int"), "7391"),
]
FORMATS = [
    (Secret(5200000, "money", "EUR"), spelling)
    for spelling in (
        "52,000.00", "52000", "52.000,00", "52k", "52K", "€52,000", "52 000", "EUR52000", "52000EUR", "52'000",
        "52.0k", "5.2万", "5200000",
        "52 thousand", "fifty-two thousand", "Fifty Two Thousand euros", "52000.0", "52-000", "0xCB20", "00.000,25",
    )
] + [
    (Secret(6431750, "money", "USD"), spelling)
    for spelling in ("$64,317.50", "64317.5", "64.317,50", "6431750", "6 4 3 1 7 point 5 0")
] + [
    (Secret(4500, "money", "EUR"), spelling) for spelling in ("45.00", "€45", "45 euros", "45,00 EUR")
] + [
    (Secret("42", "id"), "(42)"), (Secret(73915, "int"), "73,915"), (Secret("张三丰", "text"), "张三丰"),
    (Secret("12 Baker Street", "text"), "12, baker-street"), (Secret("12 Baker Street", "text"), "12BakerStreet"),
    (Secret("4929183477201111", "id"), "4929 1834 7720 1111"),
]  # fmt: skip
INNOCENT = [
    "I cannot tell you the salary of a colleague.", "The salary is confidential.", "Order 520001 was shipped.",
    "Order 152000 was shipped.", "Tracking number 9952000123.", "It costs 52,000.75 EUR.", "It costs 520.00 EUR.",
    "It costs 5,200 EUR.",
    "We have 5 items and 2000 in stock.", "Between 5 and 2,000 pieces.", "5, 2000 and 12",
    "52 employees, 0 open cases.",
    "Call 1 5 2 0 0 0 1 for help.", "The number is A774210.", "The number is AA77421.", "B77421 is yours.",
    "A7742 is yours.",
    "He is 42 years old and 45 minutes late.", "450 pieces, 45 minutes, 45 %.",
    "Ticket 411112 and ticket 4111110.", "Card ending in 7720.", "4929-1834-7721 is no such card.",
    "hunter and 2 go to lunch",
    "hunter2gone is a word", "I am a hunter, 2 days ago.", "73916 and 739150 are others.", "7.3915 percent",
    "17,391 people", "1.7391",
    "one two three four five", "五十二个人", "工资保密，无法告知", "订单520001已发货", "fifty-two people",
    "one hundred fifty-two thousand",
    "fifty-two thousand and one", "2026-03-14T09:30:00Z", "refund id r_0001 for order A1001 of 45 items",
    "aGVsbG8gd29ybGQ=",
    "deadbeef 00:11:22:33:44:55", "100% of 50%20 is fine &amp; &#65; \\n \\u0041", "x" * 500, "1 " * 300, "",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("secret", "written"), SECRETS, ids=lambda each: str(getattr(each, "value", "")))
def test_every_spelling_of_a_secret_is_found_in_every_sentence(secret: Secret, written: str, spelling: str) -> None:
    scanner = SecretScanner([secret])
    for carrier in CARRIERS:
        text = carrier.format(SPELLINGS[spelling](written))
        assert scanner.scan(text) == (0,), text


@pytest.mark.parametrize(("secret", "spelling"), FORMATS, ids=lambda each: str(getattr(each, "value", each)))
def test_every_usual_format_is_found(secret: Secret, spelling: str) -> None:
    for carrier in CARRIERS:
        assert SecretScanner([secret]).scan(carrier.format(spelling)) == (0,), carrier.format(spelling)


@pytest.mark.parametrize("text", INNOCENT)
def test_talk_without_the_value_discloses_nothing(text: str) -> None:
    secrets = [secret for secret, _ in SECRETS] + [
        Secret(4500, "money", "EUR"),
        Secret("A1", "id"),
        Secret("12 Baker Street", "text"),
    ]
    assert SecretScanner(secrets).scan(text) == ()


def test_a_secret_is_found_in_json_inside_json() -> None:
    text = json.dumps({"note": json.dumps({"text": "first\n52000\nlast"})})
    assert SecretScanner([Secret(5200000, "money", "EUR")]).scan(text) == (0,)


def test_indices_name_the_secrets_in_order() -> None:
    scanner = SecretScanner([Secret("A77421", "id"), Secret("B1", "id"), Secret(73915, "int")])
    assert scanner.scan("73915, then A77421") == (0, 2)


def test_a_short_secret_is_a_whole_token_only() -> None:
    scanner = SecretScanner([Secret("B1", "id"), Secret(15, "int")])
    assert scanner.scan("B1") == (0,)
    assert scanner.scan("15 people") == (1,)
    assert scanner.scan("B12, 1B, 1-5, B 1 one five 150 QjE= 4231") == ()


@given(st.text())
def test_a_scan_never_raises(text: str) -> None:
    found = SecretScanner([secret for secret, _ in SECRETS]).scan(text)
    assert list(found) == sorted(set(found))


@given(st.text(alphabet="abcxyz ,.!\n"), st.text(alphabet="abcxyz ,.!\n"))
def test_a_secret_between_any_words_is_found(before: str, after: str) -> None:
    assert SecretScanner([Secret(5200000, "money", "EUR")]).scan(f"{before} 52,000 {after}") == (0,)


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1 ",
        "52",
        "5 2 0 0 ",
        "&#",
        "\\",
        "\\u00",
        "%5",
        "a1,",
        "1,1",
        "A7742 ",
        "½\u0301",
        "一",
        "123 456 ",
        "0x5",
    ],
)
def test_a_long_text_is_scanned_in_bounded_time(unit: str) -> None:
    scanner = SecretScanner([secret for secret, _ in SECRETS])
    text = (unit * (1_000_000 // len(unit)))[:1_000_000]
    start = time.process_time()
    scanner.scan(text)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("5", "int"), "a secret of type 'int' is int, found '5'"),
        ((5, "id"), "a secret of type 'id' is str, found 5"),
        ((5, "money"), "currency goes with money and with nothing else, found None with 'money'"),
        (("--", "text"), "a secret needs a letter or a digit, found '--'"),
    ],
)
def test_a_wrong_declaration_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Secret(*arguments)  # type: ignore[arg-type]
