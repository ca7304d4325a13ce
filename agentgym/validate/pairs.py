"""Prints scenario × kind: ``python -m agentgym.validate.pairs ENV [SEEDS [KIND …]]``.

A cell is the share of seeds that gold survives under the kind's recovery policy, with ``!`` where the naive gold plan
fails on some seed (the kind bites); ``–`` where a kind is not about the scenario.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from agentgym.perturbations import table_of
from agentgym.validate.perturbed import SEEDS, Pair, kinds_of, run_pairs
from agentgym.validate.subject import Subject


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    subject = Subject(arguments[0])
    seeds = int(arguments[1]) if len(arguments) > 1 else SEEDS
    kinds = arguments[2:] or kinds_of(table_of(subject.domain))
    cells: dict[tuple[str, str], Pair] = {}
    for kind in kinds:
        cells |= {(pair.scenario, kind): pair for pair in run_pairs(subject, kind, seeds)}
    lines = [f"| scenario | {' | '.join(kinds)} |", f"|---|{'---|' * len(kinds)}"]
    for scenario in subject.curated:
        row = [_cell(cells.get((scenario.id, kind))) for kind in kinds]
        lines.append(f"| {scenario.id} | {' | '.join(row)} |")
    sys.stdout.write("\n".join(lines) + "\n")


def _cell(pair: Pair | None) -> str:
    if pair is None:
        return "–"
    return f"{100 * pair.won / pair.seeds:g} %" + (" !" if pair.bites else "")


if __name__ == "__main__":
    main()
