"""Turns and moves the vectors of words so that messages which ask for the same are near each other.

    python benchmarks/hearing/train.py WORDS.npz OUT.npz [WRITER …]

Without the messages of the writers named. For each message of a scenario, its parts are compared with the messages of
all other writers; those that ask for a fact speak for it, all others against it, and the nearest part decides.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agentgym.lexicon import folded
from agentgym.likeness import parts_of
from agentgym.loading import load_scenario
from agentgym.shelving import Example, examples

DIMENSIONS, EPOCHS, RATE, DROPPED, DECAY = 96, 4, 0.003, 0.4, 1e-3
AUTHOR = "author"
AUTHORS_WEIGHT = 0.3
"""Short examples without context, by one who knew the rules: they count less."""
Params = dict[str, Any]


def packed(own: list[Example], writers: dict[str, int], most_facts: int) -> dict[str, Any]:
    """One scenario: the words of each message's question and parts, whose part each is, and what is asked for."""
    names = list(load_scenario(own[0].scenario).user.facts)
    rows: list[int] = []
    segments: list[int] = []
    kinds: list[int] = []
    owners: list[int] = []
    for at, each in enumerate(own):
        parts = parts_of(each.message)
        rows += parts.asking
        segments += [at] * len(parts.asking)
        for part, kind in zip(parts.rows, parts.kinds, strict=True):
            rows += part
            segments += [len(own) + len(kinds)] * len(part)
            kinds.append(kind)
            owners.append(at)
    asked = np.zeros((len(own), most_facts), np.float32)
    for at, each in enumerate(own):
        asked[at, [names.index(name) for name in each.facts]] = 1
    by = np.array([writers[each.by] for each in own])
    weight = np.array([AUTHORS_WEIGHT if each.by == AUTHOR else 1.0 for each in own], np.float32)
    arrays = {"rows": rows, "segments": segments, "kinds": kinds, "owners": owners}
    arrays["used"] = sorted(set(rows))
    held = {name: np.array(array, np.int32) for name, array in arrays.items()}
    return {**held, "asked": asked, "by": by, "weight": weight, "facts": np.arange(most_facts) < len(names)}


def padded(scenario: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """All scenarios in arrays of one size, so that one compiled step serves them all."""
    messages, parts = sizes["asked"], sizes["kinds"]
    number = len(scenario["asked"])
    segments = scenario["segments"]
    scenario = {**scenario, "segments": np.where(segments < number, segments, segments - number + messages)}
    fills = {"segments": messages + parts, "owners": messages, "by": -1}
    out = {"facts": scenario["facts"]}
    for name, size in sizes.items():
        array = scenario[name]
        rest = np.full((size - len(array), *array.shape[1:]), fills.get(name, 0), array.dtype)
        out[name] = jnp.asarray(np.concatenate([array, rest]))
    return out


def unit(vectors: Any) -> Any:
    return vectors / jnp.sqrt((vectors * vectors).sum(-1, keepdims=True) + 1e-6)


def nearness(params: Params, start: Any, s: dict[str, Any], kept: Any) -> Any:
    """The logit of each fact for each message (messages × facts), as `agentgym.likeness.nearness` has it."""
    messages, parts = s["asked"].shape[0], s["kinds"].shape[0]
    words = (start[s["rows"]] @ params["turn"] + params["move"][s["rows"]]) * kept[:, None]
    sums = jax.ops.segment_sum(words, s["segments"], num_segments=messages + parts + 1)[:-1]
    asking, owners = unit(sums[:messages]), jnp.minimum(s["owners"], messages - 1)
    mixed = unit(unit(sums[messages:]) + params["mix"] * asking[owners])
    sharp = jnp.exp(params["sharp"])
    other = (s["by"][:, None] != s["by"][None]) & (s["by"][None] >= 0)
    alike = jnp.where(other[owners], sharp * (mixed @ asking.T), -1e9)

    def pooled(mask: Any) -> Any:
        chosen = jnp.where(mask.T[None] > 0, alike[:, None, :], -1e9)
        least = jnp.full((*chosen.shape[:2], 1), -sharp)
        return jax.nn.logsumexp(jnp.concatenate([chosen, least], -1), -1)

    scores = params["for"] * pooled(s["asked"]) - params["against"] * pooled(1 - s["asked"])
    scores += params["kinds"][s["kinds"]][:, None]
    highest = jax.lax.stop_gradient(jax.ops.segment_max(scores, s["owners"], num_segments=messages + 1)[:messages])
    added = jnp.exp(jnp.clip(scores - highest[owners], -30, 0))
    added = jax.ops.segment_sum(added, s["owners"], num_segments=messages + 1)[:messages]
    return jnp.where(s["by"][:, None] >= 0, jnp.log(added + 1e-9) + highest, 0.0)


def loss(params: Params, start: Any, s: dict[str, Any], key: Any) -> Any:
    kept = (jax.random.uniform(key, s["rows"].shape) > DROPPED).astype(jnp.float32)
    logits = nearness(params, start, s, kept)
    each = jnp.maximum(logits, 0) - logits * s["asked"] + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    used = params["move"][s["used"]]
    wrong = (each * s["facts"][None] * s["weight"][:, None]).sum() / 100
    return wrong + DECAY * (used**2).sum()


@jax.jit
def step(state: tuple[Params, ...], start: Any, s: dict[str, Any], key: Any, t: Any, rate: Any) -> Any:
    """One step of Adam, and the running mean of the parameters that is kept in the end."""
    params, first, second, mean = state
    wrong, slope = jax.value_and_grad(loss)(params, start, s, key)
    first = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, first, slope)
    second = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, second, slope)
    moved = {}
    for name, value in params.items():
        speed = rate * {"move": 1.0, "turn": 0.3}.get(name, 3.0)
        change = first[name] / (1 - 0.9**t) / (jnp.sqrt(second[name] / (1 - 0.99**t)) + 1e-8)
        moved[name] = value - speed * change
    share = jnp.minimum(0.99, t / (t + 10.0))
    mean = jax.tree.map(lambda a, b: share * a + (1 - share) * b, mean, moved)
    return (moved, first, second, mean), wrong


def trained(start: np.ndarray[Any, Any], listed: list[Example]) -> Params:
    """The parameters learnt from these messages."""
    by: dict[str, list[Example]] = defaultdict(list)
    for each in listed:
        by[each.scenario].append(each)
    writers = {name: at for at, name in enumerate(sorted({each.by for each in listed}))}
    most = max(len(load_scenario(name).user.facts) for name in by)
    scenarios = [packed(own, writers, most) for _, own in sorted(by.items())]
    names = ("rows", "used", "segments", "kinds", "owners", "asked", "by", "weight")
    sizes = {name: max(len(each[name]) for each in scenarios) for name in names}
    ready = [padded(each, sizes) for each in scenarios]
    params: Params = {
        "turn": jnp.eye(start.shape[1], DIMENSIONS),
        "move": jnp.zeros((len(start), DIMENSIONS)),
        "sharp": jnp.asarray(np.log(12.0), jnp.float32),
        "mix": jnp.asarray(0.3),
        "for": jnp.asarray(1.0),
        "against": jnp.asarray(1.0),
        "kinds": jnp.zeros(4) - 1.0,
    }
    nothing = jax.tree.map(jnp.zeros_like, params)
    state: Any = (params, nothing, nothing, params)
    order, key, t = np.random.default_rng(0), jax.random.PRNGKey(0), 0
    vectors = jnp.asarray(start)
    for epoch in range(EPOCHS):
        total = 0.0
        for at in order.permutation(len(ready)):
            t += 1
            key, own = jax.random.split(key)
            rate = RATE * min(1.0, t / 100) * max(0.05, 1 - t / len(ready) / EPOCHS)
            state, wrong = step(state, vectors, ready[at], own, float(t), rate)
            total += float(wrong)
        print(f"epoch {epoch + 1}: {total:.2f}", flush=True)
    return dict(state[3])


def main() -> None:
    source, out, left = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
    data = np.load(source)
    words = data["words"].tobytes().decode().split("\n")
    # Messages are taken apart by the words of the table that is to be made.
    from agentgym import likeness, vectors

    found = vectors.Table({word: at for at, word in enumerate(words)}, data["vectors"], {})
    vectors.table = likeness.table = lambda: found  # type: ignore[assignment]
    params = trained(data["vectors"], [each for each in examples() if each.by not in left and folded(each.message)])
    learnt = {name: np.asarray(value) for name, value in params.items() if name not in ("turn", "move")}
    turned = data["vectors"] @ np.asarray(params["turn"]) + np.asarray(params["move"])
    np.savez(out, words=data["words"], vectors=turned, **learnt)


if __name__ == "__main__":
    main()
