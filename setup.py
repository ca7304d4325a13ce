"""The one thing that pyproject.toml cannot say: a wheel carries each domain's snapshot, built from its `world.py`."""

from __future__ import annotations

import importlib
import shutil
import sys
import types
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PREFIX = "agentgym.envs."


def stub(name: str, folder: Path) -> None:
    """Put an empty package in the place of one whose `__init__` imports what an isolated build does not have."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package


def build_snapshot(domain: str, target: Path) -> None:
    """Build the snapshot of one domain and hold it against the hash that is committed beside its `world.py`."""
    folder = ROOT / "envs" / domain
    stub("agentgym", ROOT / "agentgym")
    stub("agentgym.envs", ROOT / "envs")
    stub(PREFIX + domain, folder)
    found = importlib.import_module("agentgym.snapshot").build_file(folder, target)
    committed = folder / "snapshot.sha256"
    expected = committed.read_text(encoding="utf-8").split()[0] if committed.is_file() else found
    if found != expected:
        raise SystemExit(
            f"envs/{domain}: the snapshot built from schema.sql and world.py has the hash {found}, "
            f"{committed.name} says {expected}; if that is intended, run: python -m agentgym.snapshot envs/{domain}"
        )
    # Written through a temporary file that only its owner can read; in a wheel it is for everyone.
    target.chmod(0o644)


class BuildWithSnapshots(build_py):
    """`build_py` that adds `snapshot.db` to every domain; an editable install builds it on first use instead."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        # What an earlier build left there would be packed again, deleted modules included.
        shutil.rmtree(Path(self.build_lib, "agentgym"), ignore_errors=True)
        super().run()
        for package in self.packages:
            domain = package.removeprefix(PREFIX)
            if package.startswith(PREFIX) and "." not in domain and (ROOT / "envs" / domain / "world.py").is_file():
                target = Path(self.build_lib, *package.split("."), "snapshot.db")
                target.unlink(missing_ok=True)
                build_snapshot(domain, target)


setup(cmdclass={"build_py": BuildWithSnapshots})
