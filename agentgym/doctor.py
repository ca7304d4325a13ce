"""Looks at the installation: what is there, what is missing, how to get it. Nothing is changed.

Each part is a function that gives findings and never raises.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentgym.errors import SnapshotError
from agentgym.registration import REGISTERED
from agentgym.snapshot import cache_folder, cached_file

DISTRIBUTION = "agentgym-suite"
OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 38, 0)
"""STRICT tables need 3.37, the operator ``->>`` 3.38."""

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENTGYM_BACKEND", "AGENTGYM_CACHE")
_REQUIREMENT = re.compile(r"\s*([\w.-]+)\s*(?:\[[^\]]*\])?\s*\(?([^;()]*)\)?\s*(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_DOCKER_TIMEOUT_S = 3

State = Literal["ok", "missing", "optional"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at: *missing* is needed and not there or too old, *optional* is not there and may stay so."""

    state: State
    name: str
    found: str
    advice: str = ""


def examine() -> list[Finding]:
    """Look at everything."""
    return [*_python(), *_sqlite(), *_packages(), *_snapshots(), *_docker(), *_terminal(), *_variables()]


def _python() -> Iterator[Finding]:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding("missing", "python", found, "3.11 or newer is needed")
    else:
        yield Finding("ok", "python", found)


def _sqlite() -> Iterator[Finding]:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield Finding(
            "missing",
            "sqlite",
            version,
            f"{'.'.join(map(str, OLDEST_SQLITE))} or newer is needed; install a newer Python",
        )
        return
    connection = sqlite3.connect(":memory:")
    lacking = []
    try:
        for feature, statement in (
            ("STRICT tables", "CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT, WITHOUT ROWID"),
            ("JSON", "SELECT '{\"a\": 1}' ->> 'a'"),
            ("window functions", "SELECT row_number() OVER ()"),
        ):
            try:
                connection.execute(statement).fetchall()
            except sqlite3.Error:
                lacking.append(feature)
        if not hasattr(connection, "serialize"):
            lacking.append("serialize()")
    finally:
        connection.close()
    if lacking:
        yield Finding(
            "missing", "sqlite", f"{version} without {', '.join(lacking)}", "install a Python whose SQLite has them"
        )
    else:
        yield Finding("ok", "sqlite", f"{version} with STRICT tables, JSON, window functions, serialize()")


def _packages() -> Iterator[Finding]:
    """The distribution, its dependencies, and for each extra what is missing of it."""
    try:
        own = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        yield Finding(
            "missing", DISTRIBUTION, "not installed", f"pip install {DISTRIBUTION}, or pip install -e . in a checkout"
        )
        return
    yield Finding("ok", DISTRIBUTION, own.version)
    extras: dict[str, list[str]] = {}
    for line in own.requires or []:
        match = _REQUIREMENT.fullmatch(line)
        if match is None:
            continue
        name, wanted, marker = match[1], match[2].strip(), match[3] or ""
        extra = _EXTRA.search(marker)
        found, fits = _installed(name, wanted)
        if extra:
            extras.setdefault(extra[1], []).extend([] if fits else [f"{name} {wanted}".strip()])
        elif fits:
            yield Finding("ok", name, found)
        else:
            yield Finding("missing", name, found, f'pip install "{name}{wanted}"')
    for name, lacking in sorted(extras.items()):
        if lacking:
            yield Finding(
                "optional", f"extra {name}", f"without {', '.join(lacking)}", f'pip install "{DISTRIBUTION}[{name}]"'
            )
        else:
            yield Finding("ok", f"extra {name}", "all there")


def _installed(name: str, wanted: str) -> tuple[str, bool]:
    """The installed version, and whether it is at least the one wanted."""
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed", False
    least = re.search(r">=\s*([\d.]+)", wanted)
    if least and _numbers(version) < _numbers(least[1]):
        return f"{version}, {wanted} is needed", False
    return version, True


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, without zeros at the end.

    >>> _numbers("2.10.0rc1") == _numbers("2.10"), _numbers("0.0.3") < _numbers("0.0.12")
    (True, True)
    """
    match = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _snapshots() -> Iterator[Finding]:
    """For each environment whether its seed data are at hand, and whether they can be kept where they are not."""
    for env, domain in REGISTERED.items():
        spec = importlib.util.find_spec(f"agentgym.envs.{domain}")
        places = list(spec.submodule_search_locations or []) if spec else []
        if not places:
            yield Finding("missing", f"{env} data", "the domain is not installed", f"reinstall {DISTRIBUTION}")
            continue
        try:
            file = cached_file(Path(places[0]))
        except SnapshotError as error:
            yield Finding("missing", f"{env} data", str(error), f"reinstall {DISTRIBUTION}")
            continue
        if file is not None:
            yield Finding("ok", f"{env} data", str(file))
        elif _writable(cache_folder()):
            yield Finding("ok", f"{env} data", f"not built yet; the first reset builds them in {cache_folder()}")
        else:
            yield Finding(
                "missing",
                f"{env} data",
                f"not built, and {cache_folder()} cannot be written",
                "set AGENTGYM_CACHE to a folder that can be written",
            )


def _writable(folder: Path) -> bool:
    """Whether a file can be made in a folder, or in the nearest one above that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _docker() -> Iterator[Finding]:
    advice = (
        'only backend="docker" needs it: start the engine, or install one (https://docs.docker.com/engine/install/)'
    )
    try:
        import docker

        client = docker.from_env(timeout=_DOCKER_TIMEOUT_S)
        try:
            version = client.version().get("Version", "unknown version")
        finally:
            client.close()
    except ImportError:
        yield Finding("optional", "docker engine", "the package docker is not installed", 'pip install "docker"')
    except Exception as error:  # noqa: BLE001 - the client lets through whatever its transports raise
        yield Finding("optional", "docker engine", f"not reached: {' '.join(str(error).split())[:120]}", advice)
    else:
        yield Finding("ok", "docker engine", str(version))


def _terminal() -> Iterator[Finding]:
    if importlib.util.find_spec("readline") is None:
        yield Finding(
            "optional", "readline", "not in this Python", "agentgym play works without, but completes nothing"
        )
    else:
        yield Finding("ok", "readline", "completes lines in agentgym play")


def _variables() -> Iterator[Finding]:
    for name in VARIABLES:
        if os.environ.get(name):
            yield Finding("ok", name, "set")
        elif name == "OPENAI_API_KEY":
            yield Finding("optional", name, "not set", "only the agent openai needs it: export OPENAI_API_KEY=...")
        else:
            yield Finding("optional", name, "not set")
