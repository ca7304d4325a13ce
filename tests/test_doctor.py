"""``agentgym doctor`` in a process of its own, in environments that are whole and in some that are not."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentgym.doctor import examine

SECRET = "sk-never-shown-4711"


def doctor(*arguments: str, code: int = 0, **environment: str) -> tuple[str, str]:
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-m", "agentgym.cli", "doctor", *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def findings(**environment: str) -> dict[str, dict[str, Any]]:
    shown, _ = doctor("--json", code=0, **environment)
    return {found["name"]: found for found in json.loads(shown)["findings"]}


def test_what_is_installed_is_listed_with_its_version() -> None:
    found = findings()
    assert found["python"]["found"] == platform.python_version()
    assert found["sqlite"]["found"].startswith(sqlite3.sqlite_version)
    for name in ("agentgym-suite", "gymnasium", "pydantic", "sqlite-utils", "openai", "docker", "google-re2"):
        assert found[name]["state"] == "ok" and found[name]["found"][0].isdigit(), name
    for extra in ("dev", "ray", "report", "rl"):
        entry = found[f"extra {extra}"]
        assert entry["state"] == "ok" or f'pip install "agentgym-suite[{extra}]"' in entry["advice"]


def test_the_table_says_how_to_get_what_is_missing_and_the_exit_code_is_0_while_nothing_needed_is() -> None:
    out, _ = doctor(DOCKER_HOST="unix:///nowhere/docker.sock", OPENAI_API_KEY="")
    assert "optional   docker engine" in out and "not reached" in out
    assert 'docker engine: only backend="docker" needs it: start the engine, or install one' in out
    assert "OPENAI_API_KEY: only the agent openai needs it" in out


def test_secrets_are_told_by_name_only() -> None:
    address = "http://user:sk-in-the-address@127.0.0.1:8000/v1"
    for arguments in ([], ["--json"]):
        out, err = doctor(*arguments, OPENAI_API_KEY=SECRET, OPENAI_BASE_URL=address)
        assert SECRET not in out + err and "sk-in-the-address" not in out + err
    found = findings(OPENAI_API_KEY=SECRET)
    assert (found["OPENAI_API_KEY"]["state"], found["OPENAI_API_KEY"]["found"]) == ("ok", "set")


def test_the_seed_data_are_found_or_will_be_built(tmp_path: Path) -> None:
    empty = findings(AGENTGYM_CACHE=str(tmp_path / "cache"))["Refund-v0 data"]
    assert empty["state"] == "ok"
    # A wheel brings them; a checkout builds them on first use.
    assert "not built yet; the first reset builds them in" in empty["found"] or empty["found"].endswith("snapshot.db")
    assert not (tmp_path / "cache").exists()


def test_something_needed_that_is_missing_is_exit_code_1_with_the_way_out(tmp_path: Path) -> None:
    # A file where the cache's folder should be: even root cannot write into it.
    blocked = tmp_path / "cache"
    blocked.write_text("a file", encoding="utf-8")
    data = next(found for found in examine() if found.name == "Refund-v0 data")
    if data.found.endswith("snapshot.db"):
        pytest.skip("this installation brings its snapshot")
    out, err = doctor(code=1, AGENTGYM_CACHE=str(blocked))
    assert "missing" in out and "cannot be written" in out
    assert "Refund-v0 data: set AGENTGYM_CACHE to a folder that can be written" in err
    assert json.loads(doctor("--json", code=1, AGENTGYM_CACHE=str(blocked))[0])["ok"] is False
