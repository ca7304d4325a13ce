"""Noise: what carries the case stays letter by letter, the rest changes as the level says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.loading import load_curated
from agentgym.noise import LEVELS, NoiseLevel, keeps, noisy, protect, protected
from agentgym.noise_words import CLAIMS, COLLOQUIAL, OFF_TOPIC
from agentgym.random import Stream

OPENINGS = {s.id: (s.user.opening, s.language) for s in load_curated("refund").values()}
TEXT = "Please don't refund order A1010 on Monday, 3 March: EUR 12.50 is not what two shirts cost, says Anna with me."


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Refund A1010-1 and T6023.", ["A1010-1", "T6023"]),
        ("It was EUR 1,234.50, £5 or 20 euros, 15 %.", ["EUR 1,234.50", "£5", "20 euros", "15 %"]),
        ("On 2026-03-14, 14 March, on Monday or tomorrow", ["2026-03-14", "14", "March", "Monday", "tomorrow"]),
        ("I can't, won’t and never will; not without it.", ["can't", "won’t", "never", "not", "without"]),
        ("Mail ada.b@example.org or https://x.org/a?b=1 now", ["ada.b@example.org", "https://x.org/a?b=1"]),
        ("Hello, Ada Lovelace here", ["Ada", "Lovelace"]),
        ("订单 A1015 的两个壶不要了，上周退 43.40 欧元", ["A1015", "两个", "不", "上周", "43.40"]),
        ("", []),
    ],
)
def test_what_carries_the_case_is_protected(text: str, pieces: list[str]) -> None:
    assert protected(text) == pieces
    assert "".join(text[start:end] for start, end in protect(text)) == "".join(pieces)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", OPENINGS)
def test_noise_at_any_rate_changes_openings_but_nothing_that_is_protected(name: str, level: NoiseLevel) -> None:
    text, language = OPENINGS[name]
    for rate in (0.05, 0.3, 1.0):
        after = noisy(text, level, Stream(7, name), language, rate)
        assert keeps(text, after), after
        assert rate < 1 or after != text


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_stream_gives_the_same_text_and_rate_0_the_text_as_it_is(level: NoiseLevel) -> None:
    assert noisy(TEXT, level, Stream(3, "x")) == noisy(TEXT, level, Stream(3, "x"))
    assert len({noisy(TEXT, level, Stream(seed, "x")) for seed in range(20)}) > 5
    stream = Stream(3, "x")
    before = stream.get_state()
    assert noisy(TEXT, level, stream, rate=0) == TEXT and stream.get_state() == before


@given(st.text(max_size=200), st.integers(0, 50), st.sampled_from(LEVELS), st.sampled_from(["en", "zh"]))
def test_any_text_keeps_what_is_protected(text: str, seed: int, level: NoiseLevel, language: str) -> None:
    assert keeps(text, noisy(text, level, Stream(seed, "x"), language, 1.0))


def test_structure_adds_an_aside_and_knowledge_a_claim() -> None:
    assert any(aside in noisy(TEXT, "structure", Stream(1, "x")) for aside in OFF_TOPIC["en"])
    assert any(claim in noisy(TEXT, "knowledge", Stream(1, "x")) for claim in CLAIMS["en"])
    assert any(aside in noisy("你好。请退款。", "structure", Stream(1, "x"), "zh") for aside in OFF_TOPIC["zh"])


def test_no_sentence_is_joined_with_one_that_says_no() -> None:
    text = "Do not cancel it. Refund the shipping only. Write to me today."
    for seed in range(20):
        assert "cancel it, and" not in noisy(text, "structure", Stream(seed, "x"), rate=1.0)


def test_what_is_put_in_says_no_to_nothing_and_brings_no_id_amount_or_date() -> None:
    for language in ("en", "zh"):
        for sentence in (*OFF_TOPIC[language], *CLAIMS[language]):
            assert not any(letter.isdigit() for letter in sentence)
            assert keeps("A1", f"A1 {sentence}"), sentence
        for form, others in COLLOQUIAL[language].items():
            assert all(keeps("A1", f"A1 {text}") for text in (form, *others)), form


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"level": "loud"}, "expected the level to be one of wording, structure, knowledge, got 'loud'"),
        ({"level": "wording", "language": "fr"}, "expected the language to be one of en, zh, got 'fr'"),
        ({"level": "wording", "rate": 1.5}, "expected a rate in 0..1, got 1.5"),
    ],
)
def test_wrong_arguments_are_told(arguments: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        noisy(TEXT, stream=Stream(1, "x"), **arguments)  # type: ignore[arg-type]
