"""One command each for what a developer, a newcomer and CI do in a checkout: `python3 dev.py demo`, `test`, `check`.

Needs Python 3.11 or newer and nothing else: it makes `.venv` (or uses the one that is there), installs the versions of
`requirements.lock` with uv where there is one and with pip where there is none, and the second time skips all of that.

    python3 dev.py demo  [ARGS]   set up, then run all reference agents over the Refund test split and print the table
    python3 dev.py test  [ARGS]   set up, then lint, types, import rules and all tests; --full adds the slow tests;
                                  other ARGS go to pytest
    python3 dev.py check [--fix]  set up, then lint, types and import rules only; --fix repairs what ruff can
    python3 dev.py lock           write requirements.lock anew (needs uv)

The file itself parses from Python 3.7 on, so that an old one is told what is missing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "requirements.lock"
OLDEST = (3, 11)
# Only what the lock pins: ray and rl bring torch, whose builds differ from machine to machine.
LOCKED_EXTRAS = ("dev", "report")
FORMAT = ["ruff", "format", "."]
LINT = ["ruff", "check", "."]


class SetupError(Exception):
    """The checkout cannot be set up; the text says what was found and what to do."""


def run(command: list[str], **environment: str) -> int:
    """Run a command in the root of the checkout, shown before it runs, and return its exit status."""
    shown = [os.path.relpath(part, ROOT) if part.startswith(str(ROOT) + os.sep) else part for part in command]
    print("$ " + " ".join(shown), flush=True)
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


def must(command: list[str], advice: str) -> None:
    """Run a command; if it fails, raise `SetupError` with the advice."""
    status = run(command)
    if status != 0:
        raise SetupError(f"`{' '.join(command[:4])}` ended with status {status}: {advice}")


def venv_version() -> tuple[int, int]:
    """The version of the Python in `.venv`, (0, 0) if it does not run."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([str(PYTHON), "-c", code], capture_output=True, text=True, check=False)
        major, minor = done.stdout.split()
    except (OSError, ValueError):
        return (0, 0)
    return (int(major), int(minor))


def check_running_python() -> None:
    """Raise `SetupError` where this Python is too old to make a `.venv` from, naming a newer one if there is one."""
    if sys.version_info[:2] >= OLDEST:
        return
    newer = [name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)]
    way_out = f"run `{newer[0]} dev.py ...`" if newer else "install a newer one and run dev.py with it"
    found = f"{sys.version_info[0]}.{sys.version_info[1]} ({sys.executable})"
    raise SetupError(f"Python 3.11 or newer is needed, this is {found}: {way_out}")


def make_venv(uv: str | None) -> None:
    """Make `.venv` unless one that works is there."""
    if VENV.exists():
        version = venv_version()
        if version < OLDEST:
            found = f"Python {version[0]}.{version[1]}" if version > (0, 0) else "no Python that runs"
            raise SetupError(f".venv has {found}, 3.11 or newer is needed: remove it (rm -r .venv) and run this again")
        return
    check_running_python()
    advice = "on Debian and Ubuntu `apt install python3-venv` brings the missing module, then run this again"
    try:
        if uv:
            must([uv, "venv", "--quiet", "--python", sys.executable, str(VENV)], "see the message above")
        else:
            must([sys.executable, "-m", "venv", str(VENV)], advice)
    except (SetupError, KeyboardInterrupt):
        # A half-made folder would be taken for a working one the next time.
        shutil.rmtree(VENV, ignore_errors=True)
        raise


def installer(uv: str | None) -> list[str]:
    """The command that installs into `.venv`."""
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", str(PYTHON)]
    if subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
        advice = "it has no pip: remove .venv (rm -r .venv) and run this again, or install uv"
        must([str(PYTHON), "-m", "ensurepip", "--upgrade"], advice)
    return [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def set_up(extras: tuple[str, ...]) -> None:
    """Make `.venv` and install the package in it, editable, with these extras; do nothing where that is done."""
    uv = shutil.which("uv")
    make_venv(uv)
    digest = hashlib.sha256(str((ROOT, venv_version())).encode())
    for name in ("pyproject.toml", "setup.py", LOCK.name):
        digest.update((ROOT / name).read_bytes())
    state = digest.hexdigest()
    stamp = VENV / "agentgym-setup"
    done = stamp.read_text(encoding="utf-8").split() if stamp.is_file() else []
    if done[:1] == [state] and set(extras) <= set(done[1:]):
        return
    stamp.unlink(missing_ok=True)
    print("Installing into .venv from requirements.lock; the first time takes a minute or two.", flush=True)
    wanted = sorted(set(extras) | (set(done[1:]) if done[:1] == [state] else set()))
    target = "." + ("[" + ",".join(wanted) + "]" if wanted else "")
    must([*installer(uv), "-c", str(LOCK), "-e", target], "see the message above; the package index must be reachable")
    stamp.write_text(" ".join([state, *wanted]) + "\n", encoding="utf-8")


def tool(name: str, *arguments: str) -> list[str]:
    """The command line of a program in `.venv`."""
    return [str(VENV / "bin" / name), *arguments]


def check(fix: bool = False) -> list[str]:
    """Run linters, type checkers and the import rules; return the commands that failed."""
    if fix:
        run(tool(*LINT, "--fix"))
        run(tool(*FORMAT))
    commands = [
        tool(*LINT),
        tool(*FORMAT, "--check"),
        tool("mypy"),
        tool("pyright"),
        tool("lint-imports", "--no-cache"),
    ]
    return [" ".join([Path(command[0]).name, *command[1:2]]) for command in commands if run(command) != 0]


def test(arguments: list[str]) -> list[str]:
    """Run `check` and the tests; return the commands that failed."""
    failed = check()
    full = "--full" in arguments
    rest = [argument for argument in arguments if argument != "--full"]
    marks = [] if full else ["-m", "not slow"]
    if run(tool("pytest", "-n", "2", *marks, *rest)) != 0:
        failed.append("pytest")
    return failed


def lock() -> None:
    """Write the lock: every version, for every supported Python and system, without the address of any index."""
    uv = shutil.which("uv")
    if uv is None:
        raise SetupError("`uv` is not on the PATH: only it can resolve for all versions of Python at once; install uv")
    extras = [part for extra in LOCKED_EXTRAS for part in ("--extra", extra)]
    quiet = ["--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url"]
    output = ["--upgrade", "--quiet", "--output-file", str(LOCK), "pyproject.toml"]
    must([uv, "pip", "compile", *quiet, *extras, *output], "see the message above")
    if re.search("://", LOCK.read_text(encoding="utf-8")):
        raise SetupError("requirements.lock names an address: no index may be committed")


def main(arguments: list[str]) -> int:
    """Run one subcommand and return the exit status."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    failed: list[str] = []
    if command == "demo":
        set_up(())
        return run(tool("agentgym", "run", "Refund-v0", "--agents", "all", *rest))
    if command == "test":
        set_up(("dev",))
        failed = test(rest)
    elif command == "check" and rest in ([], ["--fix"]):
        set_up(("dev",))
        failed = check(fix=bool(rest))
    elif command == "lock" and not rest:
        lock()
    else:
        print(__doc__)
        return 0 if command in ("help", "-h", "--help") else 2
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as error:
        sys.exit("dev.py: " + str(error))
    except KeyboardInterrupt:
        sys.exit(130)
