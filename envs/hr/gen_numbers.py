"""Numbers that an agent is shown anyway, so that no figure to find out is one of them."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from agentgym.generating import spelt_numbers


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
