"""Builds `agentgym/data/asked.npz`, what the scripted users of the curated scenarios are asked, from their examples.

`scenarios/DOMAIN/_asked.jsonl` holds one message a line: ``{"scenario": id, "facts": [names], "message": text, "by":
writer}``; ``facts`` are those that it asks for, none where the person cannot answer it or it asks nothing. Each becomes
a direction in the table of words (`agentgym.vectors`), so that nothing has to be read again when somebody is spoken to.

    python -m agentgym.shelving
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentgym.errors import ScenarioError
from agentgym.likeness import digest, parts_of
from agentgym.loading import load_scenario
from agentgym.vectors import direction, summed

NAME: Final = "_asked.jsonl"


class Example(NamedTuple):
    """A message to the user of a scenario, and the facts that it asks for."""

    scenario: str
    facts: tuple[str, ...]
    message: str
    by: str


def examples() -> list[Example]:
    """The examples of all curated scenarios, in the order of the files.

    Raises:
        ScenarioError: a line is none.
    """
    folders = sorted(files("agentgym.scenarios").iterdir(), key=lambda each: each.name)
    return [each for folder in folders if folder.is_dir() for each in _read(folder.joinpath(NAME))]


def _read(file: Traversable) -> Iterator[Example]:
    if not file.is_file():
        return
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            yield Example(entry["scenario"], tuple(entry["facts"]), str(entry["message"]), str(entry["by"]))
        except (ValueError, KeyError, TypeError) as error:
            expected = '{"scenario": id, "facts": [names], "message": text, "by": writer}'
            raise ScenarioError(f"{file}:{number}", "line", f"{type(error).__name__}: {error}", expected) from None


def built(listed: list[Example]) -> dict[str, NDArray[Any]]:
    """The arrays of `asked.npz`.

    Returns:
        ``facts``: the digest of each fact (`agentgym.likeness.digest`); ``homes``, ``bits``: its scenario by number,
        and its bit; ``starts``: where the examples of each scenario begin, and the end; ``labels``: the bits of what
        each example asks for; ``directions``: of each example.

    Raises:
        ScenarioError: a scenario has more than eight facts, or not the fact that an example asks for.
    """
    by: dict[str, list[Example]] = defaultdict(list)
    for each in listed:
        by[each.scenario].append(each)
    facts: list[tuple[int, int, int]] = []
    labels: list[int] = []
    starts = [0]
    rows: list[tuple[int, ...]] = []
    for home, (scenario, own) in enumerate(sorted(by.items())):
        known = load_scenario(scenario).user.facts
        if len(known) > 8:
            raise ScenarioError(scenario, "user.facts", f"{len(known)} facts", "eight at most where there are examples")
        bits = {name: bit for bit, name in enumerate(known)}
        facts += [(digest(name, fact.say), home, bits[name]) for name, fact in known.items()]
        for each in own:
            if missing := set(each.facts) - bits.keys():
                raise ScenarioError(scenario, NAME, f"the fact {min(missing)!r}", f"one of {', '.join(bits)}")
            labels.append(sum(1 << bits[name] for name in each.facts))
            rows.append(parts_of(each.message).asking)
        starts.append(len(labels))
    digests, homes, places = zip(*facts, strict=True)
    return {
        "facts": np.array(digests, dtype=np.uint64),
        "homes": np.array(homes, dtype=np.uint16),
        "bits": np.array(places, dtype=np.uint8),
        "starts": np.array(starts, dtype=np.uint32),
        "labels": np.array(labels, dtype=np.uint8),
        "directions": direction(summed(rows)).astype(np.int8),
    }


def main() -> int:
    """Write the file, whole or not at all: it may be read, or written by another one, meanwhile."""
    arrays: dict[str, Any] = built(examples())
    target = Path(__file__).with_name("data") / "asked.npz"
    with tempfile.TemporaryDirectory(dir=target.parent.parent, prefix=".shelving-") as folder:
        made = Path(folder) / target.name
        np.savez_compressed(made, **arrays)
        made.replace(target)
    sys.stdout.write(f"{target}: {len(arrays['labels'])} examples, {target.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
