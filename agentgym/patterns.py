"""Patterns of a lexicon sorted by what they begin with, so that few are tried at each word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

ANY_HAN: Final = re.compile("[\u3400-\u9fff]")
"""A Chinese letter."""


def alternatives(pattern: str) -> list[str]:
    """Return the top-level alternatives of a pattern."""
    parts, depth, start, inside = [], 0, 0, False
    for at, letter in enumerate(pattern):
        inside = letter == "[" or (inside and letter != "]")
        depth += 0 if inside else (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0 and not inside:
            parts.append(pattern[start:at])
            start = at + 1
    return [*parts, pattern[start:]]


def _closing(pattern: str) -> int:
    """Where the group that a pattern begins with is closed."""
    depth = 0
    for at, letter in enumerate(pattern):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return at
    raise ValueError(f"no end of the group in {pattern!r}")


def _heads(pattern: str, size: int) -> set[str]:
    """The first *size* letters of what a pattern finds, fewer where they are not certain.

    Raises:
        ValueError: it begins with something else than letters, groups and sets of letters.
    """
    if pattern.startswith(("(?<", "(?=", "(?!")):
        return _heads(pattern[_closing(pattern) + 1 :], size)
    if pattern.startswith("(?:"):
        end = _closing(pattern)
        inside, rest = alternatives(pattern[3:end]), pattern[end + 1 :]
    elif pattern.startswith("["):
        end = pattern.index("]")
        inside, rest = list(pattern[1:end]), pattern[end + 1 :]
    elif pattern and pattern[0] not in ".\\^$*+?{|)":
        inside, rest = [pattern[0]], pattern[1:]
    else:
        raise ValueError(f"a pattern of the lexicon must begin with letters, got {pattern!r}")
    skipped = _heads(rest[1:], size) if rest.startswith("?") else set()
    if len(inside) > 1 or len(inside[0]) > 1:
        return skipped.union(*(_heads(part + rest.removeprefix("?"), size) for part in inside))
    if size == 1 or rest.startswith(("*", "+", "{")):
        return skipped | {inside[0]}
    try:
        return skipped | {inside[0] + second for second in _heads(rest.removeprefix("?"), size - 1)}
    except ValueError:
        return skipped | {inside[0]}


def by_head(tables: Iterable[Mapping[str, str]], han: bool) -> dict[str, re.Pattern[str]]:
    """For each two first letters, or the first one, the concepts whose words may begin so, English or Chinese ones.

    One pattern of all of them would try each concept at each word.
    """
    heads = [
        (name, part, _heads(part, 1 if han else 2))
        for name, pattern in (pair for table in tables for pair in table.items())
        for part in alternatives(pattern)
        if bool(ANY_HAN.search(part)) is han
    ]
    keys = {key for _, _, found in heads for key in found} | {key[0] for _, _, found in heads for key in found}
    edge = "" if han else "(?![a-z0-9])"
    concepts = {}
    for key in sorted(keys):
        names: dict[str, list[str]] = {}
        for name, part, found in heads:
            if key in found or key[0] in found:
                names.setdefault(name, []).append(part)
        if names:
            each = "|".join(f"(?P<{name}>{'|'.join(parts)})" for name, parts in names.items())
            concepts[key] = re.compile(f"(?:{each}){edge}")
    return concepts
