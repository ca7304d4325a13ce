"""What the documents show is run: `python` blocks print the `text` block after them, `pycon` blocks are doctests."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code in a document, with the text block that follows it at once, or None."""

    place: str
    kind: str
    code: str
    printed: str | None


def blocks() -> list[Block]:
    """The `python` and `pycon` blocks of all documents. A comment `<!-- not run -->` right before one leaves it out."""
    found = []
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        fences = list(FENCE.finditer(text))
        for number, fence in enumerate(fences):
            kind, code = fence.groups()
            if kind not in ("python", "pycon") or text[: fence.start()].rstrip().endswith("<!-- not run -->"):
                continue
            after = fences[number + 1] if number + 1 < len(fences) else None
            adjacent = after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip()
            line = text.count("\n", 0, fence.start()) + 1
            place = f"{path.relative_to(ROOT)}:{line}"
            found.append(Block(place, kind, code, after[2] if after is not None and adjacent else None))
    return found


def test_the_readme_shows_python_and_what_it_prints() -> None:
    shown = [block for block in blocks() if block.place.startswith("README.md")]
    assert any(block.kind == "pycon" or block.printed is not None for block in shown)


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.place)
def test_a_block_of_code_in_a_document_does_what_the_document_says(block: Block, tmp_path: Path) -> None:
    if block.kind == "pycon":
        example = doctest.DocTestParser().get_doctest(block.code, {}, block.place, block.place, 0)
        report: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
        assert not report, "".join(report)
        return
    # In a process of its own, from another folder, as a reader runs it.
    command = [sys.executable, "-W", "error", "-c", block.code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block.place}: {done.stderr}"
    if block.printed is not None:
        assert done.stdout == block.printed, block.place
