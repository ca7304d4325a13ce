"""Result stores as JSON lines or Parquet, a line or row for each planned trial."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from agentgym.errors import StoreError
from agentgym.store import Store

Format = Literal["jsonl", "parquet"]


def export(store: Store, form: Format, target: str | Path) -> int:
    """Write a store to *target*, which is replaced as a whole or left as it is; return the number of trials.

    JSON lines have everything, verdicts and traces as JSON; in Parquet these two are JSON text.

    Args:
        store: any result store.
        form: "jsonl", or "parquet" where pyarrow is installed.
        target: the file.

    Raises:
        ValueError: the format is neither, or the target is the store.
        StoreError: pyarrow is missing, or the file cannot be written.
    """
    writers: dict[str, Callable[[list[dict[str, Any]], Path], None]] = {"jsonl": _jsonl, "parquet": _parquet}
    if form not in writers:
        raise ValueError(f"expected the format to be one of {', '.join(writers)}, got {form!r}")
    target = Path(target)
    if target.exists() and store.path.exists() and os.path.samefile(target, store.path):
        raise ValueError(f"{target} is the store itself; export to another file")
    rows = store.rows()
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=target.absolute().parent, prefix=f".{target.name}-")
        os.close(handle)
        temporary = Path(name)
        writers[form](rows, temporary)
        temporary.chmod(0o644)
        os.replace(temporary, target)
    except OSError as error:
        raise StoreError(f"{target}: {error.strerror}; nothing was exported") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return len(rows)


def _jsonl(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", encoding="ascii") as file:
        for row in rows:
            file.write(json.dumps(row, allow_nan=False) + "\n")


def _parquet(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        pyarrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise StoreError("Parquet needs pyarrow, which is not installed: install it, or export jsonl") from error
    flat = [{**row, **{name: json.dumps(row[name]) for name in ("verdict", "trace")}} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(flat), path)
