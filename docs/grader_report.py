"""Writes ``docs/grader-report.md``, the mutants of each curated scenario (V15): ``python docs/grader_report.py``."""

from __future__ import annotations

import sys
from pathlib import Path

from agentgym.validate import mutation
from agentgym.validate.subject import Subject

_HEAD = """# Mutants of the curated scenarios

Written by `docs/grader_report.py`; see V15 in [checks](checks.md). *Near*: gold's end state with one thing in the world
another. *Calls*: gold's calls with one thing another. *Equal*: mutants that are as good as gold, by rule, and not
counted in the kill rate.

| scenario | near | calls | killed | equal | survived |
| --- | ---: | ---: | ---: | ---: | ---: |
"""


def main() -> None:
    """Play every mutant and write the table."""
    subject = Subject(sys.argv[1] if len(sys.argv) > 1 else "Refund-v0", generated=0, full=True)
    lines: list[str] = []
    killed = total = equal = 0
    for tally in mutation.tallied(subject):
        same = tally.equivalents.total()
        lines.append(
            f"| {tally.scenario} | {tally.near} | {tally.actions} | {tally.killed}/{tally.total} | {same} "
            f"| {len(tally.survivors)} |"
        )
        killed, total, equal = killed + tally.killed, total + tally.total, equal + same
    lines.append(f"| all | | | {killed}/{total} ({100 * killed / max(total, 1):.2f} %) | {equal} | {total - killed} |")
    Path(__file__).with_name("grader-report.md").write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
