"""Cursors: opaque texts that say which page of which list comes next."""

from __future__ import annotations

import zlib
from functools import lru_cache

from agentgym.envs.hr.endpoints import LARGEST_PAGE
from agentgym.envs.hr.operations import LARGEST_PAGE_NUMBER
from agentgym.envs.hr.style import Style

_PRIME, _DIGITS = 1_000_003, "0123456789abcdefghijkmnpqrstvwxyz"


@lru_cache(maxsize=4096)
def _salt(seed: int, level: int, tool: str) -> int:
    return zlib.crc32(f"{seed}/{level}/{tool}".encode()) % _PRIME


def cursor_of(style: Style, tool: str, page: int, size: int) -> str:
    """The cursor of a page of the list that *tool* gives."""
    number = (page * 64 + size) * _PRIME + _salt(style.seed, style.level, tool)
    out = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        out = _DIGITS[digit] + out
    return out


def page_of(style: Style, tool: str, cursor: object) -> tuple[int, int] | None:
    """Page and size that a cursor says, None where it is none of this list."""
    if not isinstance(cursor, str) or not 1 <= len(cursor) <= 16:
        return None
    number = 0
    for letter in cursor:
        digit = _DIGITS.find(letter)
        if digit < 0:
            return None
        number = number * len(_DIGITS) + digit
    packed, salt = divmod(number, _PRIME)
    page, size = divmod(packed, 64)
    fits = 1 <= page <= LARGEST_PAGE_NUMBER and 1 <= size <= LARGEST_PAGE
    return (page, size) if fits and salt == _salt(style.seed, style.level, tool) else None
