"""Knows each case by three words of its opening, and reads no further: what noise does to such a reader."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentgym import Recovered, Scenario, ToolEnv, Usage, load_scenario, scenario_ids
from agentgym.baselines._view import main

_WORDS = 3
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")


class KeywordReader:
    """Looks for the three rarest words of each known opening in the first two sentences.

    It plays the gold plan of the case that it takes it for, if the identifiers stand there too, and else gives up.

    Args:
        plan: number of the plan, from 0.
    """

    def __init__(self, plan: int = 0) -> None:
        self.plan = plan
        self.name = f"keyword-reader/{plan}" if plan else "keyword-reader"
        self.scenarios: Sequence[Scenario] | None = None

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode. It costs nothing."""
        base = env.unwrapped
        if not isinstance(base, ToolEnv):
            raise TypeError(f"expected an environment of agentgym, got {type(base).__name__}")
        if self.scenarios is None:
            self.scenarios = [load_scenario(name, base.domain) for name in scenario_ids(base.domain)]
        _, info = env.reset(seed=seed, options=options)
        info = info if "task" in info else json.loads(info["detail"])
        opening = str(json.loads(info["task"])["opening"])
        known = self._recognised(opening)
        if known is not None and known.id == base.declared.id:
            Recovered(self.plan).run(env, seed=int(info["seed"] if "seed" in info else seed or 0), options=options)
        else:
            env.step({"name": "finish", "arguments": {"outcome": "impossible"}})
        return Usage()

    def _recognised(self, opening: str) -> Scenario | None:
        scenarios = self.scenarios or []
        heads = [_words(_head(scenario.user.opening)) for scenario in scenarios]
        counts = Counter(word for words in heads for word in set(words))
        heard = set(_words(_head(opening)))
        for scenario, words in zip(scenarios, heads, strict=True):
            keys = sorted(dict.fromkeys(words), key=lambda word: counts[word])[:_WORDS]
            literals = [str(n) for n in scenario.given if str(n) in scenario.user.opening]
            if heard.issuperset(keys) and all(literal in opening for literal in literals):
                return scenario
        return None


def _head(text: str) -> str:
    return " ".join(_SENTENCE.split(text.strip())[:2])


def _words(text: str) -> list[str]:
    """Words of four letters and more; of Chinese, which has no blanks, pairs of signs."""
    chinese = re.findall(r"[\u4e00-\u9fff]+", text)
    pairs = [run[n : n + 2] for run in chinese for n in range(len(run) - 1)]
    return [word.casefold() for word in re.findall(r"[^\W\d_]{4,}", re.sub(r"[\u4e00-\u9fff]+", " ", text))] + pairs


if __name__ == "__main__":
    main(KeywordReader)
