"""Numbers that an agent is shown anyway, so that no figure to find out is one of them."""

from __future__ import annotations

import json
import re
from functools import lru_cache

_RUN = re.compile(r"\d+(?:[\W_]{1,6}\d+)*")


def spelt_numbers(text: str) -> set[int]:
    """Numbers that a text spells: single ones, as whole units of money, several joined, all of these backwards too."""
    found: set[int] = set()
    for run in _RUN.findall(text):
        parts = re.findall(r"\d+", run)
        for start in range(len(parts)):
            for end in range(start + 1, min(start + 6, len(parts)) + 1):
                joined = "".join(parts[start:end])
                found |= {int(joined), int(joined[::-1]), int(joined) * 100, int(joined) * 10}
    return found


@lru_cache(maxsize=1)
def shown_numbers() -> frozenset[int]:
    """Numbers in the policy or the manuals, as they are and as minor units: no amount to find out may be one."""
    from agentgym.envs.hr.env import DOMAIN  # the environment imports the generator

    texts = (DOMAIN.system_prompt, json.dumps(DOMAIN.schemas))
    return frozenset(set(range(1000)).union(*map(spelt_numbers, texts)))


@lru_cache(maxsize=1)
def stated_numbers() -> frozenset[int]:
    """Numbers that stand in the policy or the manuals as they are."""
    from agentgym.envs.hr.env import DOMAIN  # the environment imports the generator

    return frozenset(map(int, re.findall(r"\d+", DOMAIN.system_prompt + json.dumps(DOMAIN.schemas))))
