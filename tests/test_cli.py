"""The command line as a person meets it: every test runs the real command in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import agentgym
from agentgym.loading import scenario_ids
from agentgym.registration import REGISTERED
from agentgym.store import Store

TINY = "rollout_parts:Tiny-v0"
SLOW = [
    "run",
    TINY,
    "--agent",
    "rollout_parts:Gold:pause=0.15",
    "--agent",
    "refuser",
    "--trials",
    "8",
    "--workers",
    "2",
]
ENVS = sorted(REGISTERED)


def start(*arguments: str | Path, cwd: Path | None = None, **options: Any) -> subprocess.Popen[str]:
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    return subprocess.Popen(
        [sys.executable, "-m", "agentgym.cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def agentgym_command(*arguments: str | Path, code: int = 0, cwd: Path | None = None, **options: Any) -> tuple[str, str]:
    """Run the command to its end, check its exit code, and return what it wrote on both outputs."""
    with start(*arguments, cwd=cwd, **options) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == code, f"exit code {process.returncode}\n{out}\n{err}"
    assert "Traceback" not in err
    return out, err


def refused(*arguments: str | Path, code: int = 2, **options: Any) -> str:
    """Run a command that fails; it must say why in one line, and nothing on standard output."""
    out, err = agentgym_command(*arguments, code=code, **options)
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("store: ")]
    assert len(lines) == 1 and lines[0].startswith("error: "), err
    return lines[0]


def without_times(results: dict[str, Any]) -> dict[str, Any]:
    agents = [{key: value for key, value in agent.items() if key != "wall_s"} for agent in results["agents"]]
    return {**results, "store": "", "agents": agents}


def test_the_version_and_the_commands_are_told() -> None:
    assert agentgym_command("--version")[0] == f"agentgym {agentgym.__version__}\n"
    for arguments in ([], ["--help"]):
        out, _ = agentgym_command(*arguments)
        assert all(
            f"\n  {name} " in out for name in ("list", "show", "play", "run", "results", "validate", "new", "doctor")
        )


def test_the_environments_are_listed_with_their_number_of_scenarios() -> None:
    found = json.loads(agentgym_command("list", "--json")[0])
    assert found == [
        {"id": name, "domain": domain, "scenarios": len(scenario_ids(domain))} for name, domain in REGISTERED.items()
    ]
    out, _ = agentgym_command("list")
    assert all(name in out for name in REGISTERED)


@pytest.mark.parametrize("env", ENVS)
def test_the_scenarios_of_an_environment_are_listed_with_family_and_level(env: str) -> None:
    found = json.loads(agentgym_command("list", env, "--json")[0])
    assert [entry["id"] for entry in found] == scenario_ids(REGISTERED[env])
    assert all(entry["family"] and re.fullmatch("L[1-5]", entry["level"]) for entry in found)
    out, _ = agentgym_command("list", env)
    assert all(entry["id"] in out for entry in found)


@pytest.mark.parametrize("env", ENVS)
def test_show_gives_what_the_agent_gets_and_the_rest_only_with_gold(env: str) -> None:
    name = scenario_ids(REGISTERED[env])[0]
    task = json.loads(agentgym_command("show", name, "--json")[0])
    assert task.keys() == {"id", "family", "level", "system_prompt", "opening", "tools"}
    out, _ = agentgym_command("show", name)
    assert task["system_prompt"] in out and task["opening"] in out
    assert f"## Tools ({len(task['tools'])})" in out
    scenario = agentgym.load_scenario(name)
    for hidden in (scenario.canary, "\ngold:", "final_state"):
        assert hidden not in out
    out, _ = agentgym_command("show", name, "--gold")
    for hidden in (scenario.canary, "\ngold:", "\nchecks:"):
        assert hidden in out
    assert json.loads(agentgym_command("show", name, "--gold", "--json")[0])["scenario"]["id"] == name


def test_a_run_prints_a_table_on_standard_output_and_nothing_else_there(tmp_path: Path) -> None:
    out, err = agentgym_command("run", TINY, "--agents", "all", "--store", tmp_path / "run.db", "--workers", "2")
    lines = out.splitlines()
    assert lines[0].split() == [
        *("agent", "success", "95%", "interval", "checkpoints", "vetoes"),
        *("tool", "calls", "trials", "errors", "$/success"),
    ]
    table = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert list(table) == [
        *("do-nothing", "talk-only", "random", "read-only", "spammer", "refuser", "hand-off", "confirmer"),
        *("confirm-guesser", "gold"),
    ]
    assert table["gold"][0] == "100%" and table["do-nothing"][0] == "0%"
    assert err == f"store: {tmp_path / 'run.db'}\n"
    assert agentgym_command("results", tmp_path / "run.db")[0] == out


def test_the_default_store_goes_on_while_it_is_incomplete_and_is_a_new_one_after_that(tmp_path: Path) -> None:
    command = ["run", TINY, "--agent", "gold", "--workers", "1"]
    first = agentgym_command(*command, cwd=tmp_path)[1].split()[1]
    assert re.fullmatch(r"runs/tiny-v0-[0-9a-f]{8}\.db", first)
    before = (tmp_path / first).read_bytes()
    assert agentgym_command(*command, cwd=tmp_path)[1].split()[1] == first.replace(".db", "-2.db")
    assert (tmp_path / first).read_bytes() == before
    dead = ["run", TINY, "--agent", "rollout_parts:Unreachable", "--workers", "1"]
    stores = {agentgym_command(*dead, code=3, cwd=tmp_path)[1].split()[1] for _ in range(2)}
    assert len(stores) == 1


def test_a_run_that_is_killed_finishes_when_it_is_run_again_with_nothing_twice_and_nothing_lost(
    tmp_path: Path,
) -> None:
    store = tmp_path / "run.db"
    with start(*SLOW, "--store", store, start_new_session=True) as process:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            time.sleep(0.05)
            if store.exists() and store.stat().st_size:
                with Store.read(store) as opened:
                    if opened.counts().get("done", 0) >= 4:
                        break
        assert process.poll() is None, "it ended before it was killed"
        process.kill()
    agentgym_command("results", store, "--export", "jsonl", tmp_path / "before.jsonl")
    before = [json.loads(line) for line in (tmp_path / "before.jsonl").read_text().splitlines()]
    done = [row for row in before if row["status"] == "done"]
    assert len(before) == 32 and 4 <= len(done) < 32
    out, _ = agentgym_command(*SLOW, "--store", store)
    agentgym_command("results", store, "--export", "jsonl", tmp_path / "after.jsonl")
    after = [json.loads(line) for line in (tmp_path / "after.jsonl").read_text().splitlines()]
    assert {row["status"] for row in after} == {"done"}
    # What was done is as it was, wall times included: it did not run again.
    assert [row for row in after if row["id"] in {row["id"] for row in done}] == done
    undisturbed, _ = agentgym_command(*SLOW, "--store", tmp_path / "undisturbed.db")
    assert out == undisturbed
    one, two = (
        json.loads(agentgym_command("results", path, "--json")[0]) for path in (store, tmp_path / "undisturbed.db")
    )
    assert without_times(one) == without_times(two)


def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    with start(*SLOW, "--store", store, start_new_session=True) as process:
        end = time.monotonic() + 60
        while time.monotonic() < end and not (store.exists() and b"finished" in store.read_bytes()):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert re.search(r"interrupted: \d+ of 32 trials done; the same command goes on with --store .*run\.db\n$", err), (
        err
    )
    assert "Traceback" not in err


def test_a_second_run_on_the_same_store_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    with start(*SLOW, "--store", store) as process:
        end = time.monotonic() + 60
        while time.monotonic() < end and not (store.exists() and store.stat().st_size):
            time.sleep(0.05)
        text = refused(*SLOW, "--store", store)
        assert f"another run (process {process.pid}) is writing to it; wait until it ends, or give another" in text
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "16/16" in out


def test_a_corrupt_store_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    agentgym_command("run", TINY, "--agent", "gold", "--store", store, "--workers", "1")
    with store.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 4096)
    before = store.read_bytes()
    for arguments in (["results", str(store)], ["run", TINY, "--agent", "gold", "--store", str(store)]):
        assert re.search(r"run\.db.*(damaged|malformed).*left as it is", refused(*arguments))
    assert store.read_bytes() == before
    notes = tmp_path / "notes.txt"
    notes.write_text("my notes, no database at all\n" * 100)
    assert "file is not a database" in refused("run", TINY, "--agent", "gold", "--store", notes)
    assert notes.read_text() == "my notes, no database at all\n" * 100


def test_a_full_disk_ends_the_run_with_a_clear_error_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    command = ["run", TINY, "--agent", "gold", "--trials", "30", "--store", str(store), "--workers", "1"]
    limited = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "from agentgym.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", limited, *command],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    error = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"error: .*run\.db: .*; free space there and run again: every result written so far is kept", error
    )
    kept = json.loads(agentgym_command("results", store, "--json")[0])["agents"][0]["done"]
    assert 0 < kept < 60
    out, _ = agentgym_command(*command)
    assert "60/60" in out and "100%" in out


def test_an_endpoint_that_is_down_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    agents = ["--agent", "rollout_parts:Unreachable", "--agent", "gold"]
    store = tmp_path / "run.db"
    out, err = agentgym_command("run", TINY, *agents, "--store", store, "--workers", "1", code=3)
    assert re.search(r"^rollout_parts:Unreachable +0%…100% ", out, re.MULTILINE)
    assert "Trials are missing: a range counts them as failures, and as successes; they are neither." in out
    assert "rollout_parts:Unreachable: 0% complete (2 infrastructure)" in out
    assert re.search(
        r"error: 2 trials are missing, the first by rollout_parts:Unreachable on tiny/refuse-001: infra", err
    )
    agent = json.loads(agentgym_command("results", store, "--json")[0])["agents"][0]
    assert (agent["success_rate"], agent["success_bounds"], agent["completeness"]) == (None, [0.0, 1.0], 0.0)


def test_results_give_pass_at_k_and_pass_hat_k_and_a_dash_where_they_are_undefined(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    agentgym_command("run", TINY, "--agent", "gold", "--trials", "3", "--store", store, "--workers", "1")
    agent = json.loads(agentgym_command("results", store, "--k", "1,3,4", "--json")[0])["agents"][0]
    assert agent["pass_hat"]["3"] == {"value": 1.0, "bounds": [1.0, 1.0]}
    assert agent["pass_at"]["4"] == {"value": None, "bounds": None}
    out, _ = agentgym_command("results", store, "--k", "1,3,4")
    assert [column for column in out.splitlines()[0].split() if "pass" in column] == [
        *("pass@3", "pass@4", "pass^3", "pass^4")
    ]
    assert re.search(r"100% +– +100% +–", out.splitlines()[2])
    assert "expected whole numbers from 1" in refused("results", store, "--k", "0,1")


def test_an_export_is_whole_or_not_at_all(tmp_path: Path) -> None:
    store, target = tmp_path / "run.db", tmp_path / "out.jsonl"
    agentgym_command("run", TINY, "--agent", "gold", "--store", store, "--workers", "1")
    agentgym_command("results", store, "--export", "jsonl", target)
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["scenario"] for row in rows] == ["tiny/refuse-001", "tiny/renew-001"]
    assert all(row["verdict"]["success"] and row["trace"] for row in rows)
    before = store.read_bytes()
    assert "is the store itself; export to another file" in refused("results", store, "--export", "jsonl", store)
    assert store.read_bytes() == before
    assert "No such file or directory; nothing was" in refused(
        "results", store, "--export", "jsonl", tmp_path / "no" / "x"
    )
    assert "'csv' is not one of" in refused("results", store, "--export", "csv", target)
    assert sorted(os.listdir(tmp_path)) == ["out.jsonl", "run.db"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["lst"],
            r'there is no command "lst" \(did you mean "list"\?\); '
            r"commands are doctor, draft, images, list, new, play, results, run, show, users, validate, variants",
        ),
        (["list", "Refund-v1"], r'there is no environment "Refund-v1" \(did you mean "Refund-v0"\?\)'),
        (["list", "--jsn"], r"No such option.*--jsn.*--json"),
        (["run", "Refnd-v0"], r'there is no environment "Refnd-v0" \(did you mean "Refund-v0"\?\)'),
        (["run"], r"Missing argument 'ENV'"),
        (["run", TINY, "--agent", "golf"], r'there is no agent "golf" \(did you mean "gold"\?\)'),
        (["run", TINY, "--agent", "gold", "--agent", "gold"], r"agent gold is given twice"),
        (["run", TINY, "--agent", "all,nope"], r'there is no agent "nope"'),
        (["run", TINY, "--perturb", "outage-before-commit,modes=700"], r"expected modes to be a text or .*, got 700"),
        (
            ["run", TINY, "--scenario", "tiny/renew-01"],
            r"there is no scenario .tiny/renew-01. \(did you mean .tiny/renew-001.",
        ),
        (["run", TINY, "--trials", "0"], r"expected trials to be at least 1, got 0"),
        (["run", TINY, "--trials", "x"], r"Invalid value for '--trials': 'x' is not a valid integer"),
        (["run", TINY, "--workers", "0", "--store", "run.db"], r"expected workers to be at least 1, got 0"),
        (["run", TINY, "--split", "private"], r"--folder names the files of --split private; give both or neither"),
        (["run", TINY, "--split", "private", "--folder", "no"], r"no: folder: found no such folder"),
        (["run", TINY, "--store", "no/run.db"], r"no/run\.db: No such file or directory"),
        (["run", "nowhere:Env-v0"], r"nowhere"),
        (["show", "refnd/x"], r'there is no scenario "refnd/x"'),
        (["show", "refund/no-such"], r"there is no scenario 'refund/no-such'"),
        (["results", "none.db"], r"none\.db: no such result store"),
        (["validate", "Refnd-v0"], r'there is no environment "Refnd-v0" \(did you mean "Refund-v0"\?\)'),
        (["validate", "--check", "V99"], r"there is no check 'V99'"),
    ],
)
def test_a_wrong_command_is_answered_in_one_line_with_the_way_out(
    tmp_path: Path, arguments: list[str], text: str
) -> None:
    assert re.search(text, refused(*arguments, cwd=tmp_path))


def test_debug_shows_where_an_error_comes_from() -> None:
    with start("--debug", "results", "none.db") as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Traceback" in err and err.endswith("makes one\n")


def test_a_reader_that_has_enough_ends_the_command_quietly() -> None:
    with start("run", "--help") as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() in (0, 141)


def _all_shown(controller: int) -> str:
    shown = b""
    while True:
        try:
            part = os.read(controller, 1 << 16)
        except OSError:
            # Linux's word for a terminal whose other side is closed.
            part = b""
        if not part:
            return shown.decode()
        shown += part


def test_live_rates_are_on_standard_error_where_that_is_a_terminal(tmp_path: Path) -> None:
    controller, terminal = os.openpty()
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    command = [
        "run",
        TINY,
        "--agent",
        "gold",
        "--agent",
        "refuser",
        "--store",
        str(tmp_path / "run.db"),
        "--workers",
        "1",
    ]
    with ThreadPoolExecutor(1) as pool:
        # A terminal holds little: what is shown is read while it comes, however long that takes.
        reading = pool.submit(_all_shown, controller)
        done = subprocess.run(
            [sys.executable, "-m", "agentgym.cli", *command],
            env={**os.environ, "PYTHONPATH": path, "TERM": "xterm"},
            stdout=subprocess.PIPE,
            stderr=terminal,
            check=True,
        )
        os.close(terminal)
        shown = reading.result()
    os.close(controller)
    assert "success 100%" in shown and "4/4" in shown
    assert b"\x1b" not in done.stdout and done.stdout.startswith(b"agent")


@pytest.mark.parametrize("env", ENVS)
def test_validate_tells_by_its_exit_code_whether_every_check_holds(env: str) -> None:
    with start("validate", env, "--check", "V01", "--json") as process:
        out, err = process.communicate(timeout=120)
    (result,) = json.loads(out)
    assert (result["id"], result["env"]) == ("V01", env)
    assert process.returncode == (0 if result["ok"] else 1), err


@pytest.mark.parametrize(
    ("options", "count"), [([], 20), (["--generated", "3"], 3), (["--generated", "0", "--full"], 0)]
)
def test_validate_checks_as_many_generated_scenarios_as_asked(options: list[str], count: int) -> None:
    out, _err = agentgym_command("validate", "Refund-v0", "--check", "V00", "--json", *options)
    curated = len(scenario_ids("refund"))
    assert json.loads(out)[0]["figure"] == f"{curated + count} scenarios"
