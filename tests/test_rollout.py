"""Rollouts: what is planned is run, whatever agents, workers and endpoints do."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rollout_parts import ENV

from agentgym.errors import StoreError
from agentgym.rollout import Progress, Rollout, run_cells, trial_seed
from agentgym.runner_agents import BUILT_IN, make_agent, parse_spec
from agentgym.runner_pool import WorkersDiedError
from agentgym.store import Store
from agentgym.summary import summarise

TIMES = ("wall_s", "created_at", "attempts")
GOLD, IDLE = "rollout_parts:Gold", "rollout_parts:Idle"


def rollout(*agents: str, **settings: Any) -> Rollout:
    return Rollout(ENV, agents=agents, **settings)


def rows(path: Path) -> list[dict[str, Any]]:
    """What a store says, without times."""
    with Store.read(path) as store:
        return [{key: value for key, value in row.items() if key not in TIMES} for row in store.rows()]


def test_every_agent_plays_every_trial_of_every_scenario_with_the_seed_of_the_trial(tmp_path: Path) -> None:
    seen: list[Progress] = []
    with rollout(GOLD, IDLE, trials=2, seed=5).open(tmp_path / "run.db") as store:
        assert run_cells(store, workers=1, progress=seen.append) == {"done": 8}
        found = store.rows()
    assert [(p.done, p.total) for p in seen] == [(number, 8) for number in range(1, 9)]
    assert {(row["agent"], row["success"]) for row in found} == {(GOLD, True), (IDLE, False)}
    assert {(row["scenario"], row["trial"], row["seed"]) for row in found} == {
        (scenario, trial, trial_seed(5, scenario, trial))
        for scenario in ("tiny/refuse-001", "tiny/renew-001")
        for trial in range(2)
    }
    assert len({row["seed"] for row in found}) == 4
    gold = found[2]
    assert (gold["scenario"], gold["episode_return"], gold["end_reason"]) == ("tiny/renew-001", 1.0, "finished")
    assert gold["verdict"]["success"] is True
    assert gold["tool_calls"] == gold["steps"] == len(gold["trace"]) > 3
    assert gold["sim_time"] > 0
    assert len(gold["state_hash"]) == 64 and gold["state_hash"] != found[3]["state_hash"]


def test_one_process_and_three_give_the_same_bytes(tmp_path: Path) -> None:
    for workers in (1, 3):
        with rollout(GOLD, IDLE, trials=3).open(tmp_path / f"{workers}.db") as store:
            assert run_cells(store, workers=workers) == {"done": 12}
    assert rows(tmp_path / "1.db") == rows(tmp_path / "3.db")
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("agent", "kind", "text"),
    [
        ("Crasher", "agent-crash", "RuntimeError: half \\ud83d of a pair"),
        ("Leaver", "agent-crash", "SystemExit: 7"),
        ("Quitter", "agent-crash", "the agent returned before the episode ended, after 0 steps"),
        ("Unreachable:cost=0.25", "infrastructure", "EndpointError: no answer after 4 attempts"),
    ],
)
def test_an_agent_that_fails_is_an_error_in_the_store_and_the_batch_goes_on(
    tmp_path: Path, agent: str, kind: str, text: str, workers: int
) -> None:
    with rollout(f"rollout_parts:{agent}", GOLD).open(tmp_path / "run.db") as store:
        assert run_cells(store, workers=workers) == {"done": 2, "error": 2}
        found = [row for row in store.rows() if row["agent"] != GOLD]
    for row in found:
        assert (row["status"], row["error_kind"], row["success"]) == ("error", kind, None)
        assert row["error"].endswith(text), row["error"]
        assert row["lost_usd"] == (0.25 if "cost" in agent else 0.0)


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        (
            "Elsewhere:how=scenario",
            r"ValueError: expected reset\(seed=\d+, options={'scenario': 'tiny/refuse-001'}\), what ",
        ),
        ("Elsewhere:how=options", r"got seed=\d+, options={}; pass both on: env\.reset\(seed=seed, options=options\)$"),
        ("Elsewhere:how=seed", r"got seed=3, options={'scenario': 'tiny/refuse-001'}; pass both on"),
        ("Elsewhere:how=caught", r"^expected reset\(seed=\d+, .*, got seed=\d+, options=None; pass both on"),
        ("Elsewhere:how=past", r"got seed=\d+, options={'scenario': 'tiny/renew-001'}; pass both on"),
        ("Retrier", r"EpisodeError: expected one episode in a trial, got another reset after 1 steps; return from run"),
        ("Retrier:caught=true", r"^expected one episode in a trial, got another reset after 1 steps; return from run"),
        ("Absent", r"^the agent returned without an episode; call env\.reset\(seed=seed, options=options\)"),
        ("Returns:what=3", r"TypeError: expected Returns\.run to return an agentgym\.agent\.Usage .*, got 3$"),
    ],
)
def test_what_is_not_the_one_episode_of_its_trial_is_an_agents_error_that_says_what_to_do(
    tmp_path: Path, agent: str, text: str
) -> None:
    plan = rollout(GOLD, f"rollout_parts:{agent}", scenarios=("tiny/refuse-001",))
    with plan.open(tmp_path / "run.db") as store:
        assert run_cells(store, workers=1) == {"done": 1, "error": 1}
        row = store.rows()[1]
    assert (row["error_kind"], row["success"]) == ("agent-crash", None)
    assert re.search(text, row["error"], re.MULTILINE), row["error"]


def test_an_agent_that_returns_nothing_loses_neither_its_trial_nor_what_that_cost(tmp_path: Path) -> None:
    with rollout("rollout_parts:Returns").open(tmp_path / "run.db") as store:
        assert run_cells(store, workers=1) == {"done": 2}
        assert [(row["success"], row["cost_usd"]) for row in store.rows()] == [(True, 0.5)] * 2


def test_an_error_is_tried_again_by_the_same_run_and_what_is_done_is_not(tmp_path: Path) -> None:
    plan = rollout("rollout_parts:Unreachable", GOLD)
    attempts: dict[str, int] = {}
    for _ in range(2):
        with plan.open(tmp_path / "run.db") as store:
            run_cells(store, workers=1)
            attempts = {row["agent"]: row["attempts"] for row in store.rows()}
    assert attempts == {"rollout_parts:Unreachable": 2, GOLD: 1}


def test_the_cost_of_a_success_holds_what_failures_and_errors_cost(tmp_path: Path) -> None:
    agents = ("rollout_parts:Gold:cost=0.5", "rollout_parts:Unreachable:cost=0.25", IDLE)
    with rollout(*agents, trials=2).open(tmp_path / "run.db") as store:
        run_cells(store, workers=1)
    with rollout(*agents, trials=2).open(tmp_path / "run.db") as store:
        run_cells(store, workers=1)
        gold, dead, idle = summarise(store)
    assert (gold.cost_usd, gold.cost_per_success, gold.model_calls, gold.prompt_tokens) == (2.0, 0.5, 8, 400)
    # Four trials, tried twice.
    assert (dead.cost_usd, dead.cost_per_success, dead.errors, dead.interval) == (
        2.0,
        None,
        {"infrastructure": 4},
        None,
    )
    assert (idle.cost_usd, idle.cost_per_success, idle.success.value) == (0.0, None, 0.0)


def test_a_trial_that_takes_too_long_is_an_infrastructure_error_even_if_its_agent_catches_everything(
    tmp_path: Path,
) -> None:
    with rollout("rollout_parts:Sleeper", GOLD, scenarios=("tiny/renew-001",)).open(tmp_path / "run.db") as store:
        start = time.monotonic()
        assert run_cells(store, workers=1, timeout_s=0.5) == {"done": 1, "error": 1}
        assert time.monotonic() - start < 20
        assert store.rows()[0]["error"] == "no end within 0.5 s (wall time)"
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_a_killed_worker_costs_its_trial_and_nothing_else(tmp_path: Path) -> None:
    with rollout(GOLD, "rollout_parts:Killer", IDLE, trials=2).open(tmp_path / "run.db") as store:
        assert run_cells(store, workers=2) == {"done": 10, "error": 2}
        found = store.rows()
    for row in found:
        died = row["agent"] == "rollout_parts:Killer" and row["scenario"] == "tiny/refuse-001"
        assert row["status"] == ("error" if died else "done")
        if died:
            assert row["error_kind"] == "infrastructure"
            assert row["error"] == "its worker process died twice, the second time alone"


def test_workers_that_keep_dying_end_the_run_and_leave_the_rest_for_later(tmp_path: Path) -> None:
    plan = rollout("rollout_parts:Killer", scenarios=("tiny/refuse-001",), trials=9)
    with plan.open(tmp_path / "run.db") as store:
        with pytest.raises(WorkersDiedError, match=r"5 worker processes died in a row"):
            run_cells(store, workers=2)
        assert len(store.todo()) == 9
    assert multiprocessing.active_children() == []


def test_what_an_agent_prints_is_not_on_standard_output(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom agentgym.rollout import Rollout, run_cells\n"
        f"with Rollout({ENV!r}, agents=('rollout_parts:Chatty',)).open(sys.argv[1]) as store:\n"
        "    print(run_cells(store, workers=2))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run.db")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "{'done': 2}\n"
    assert done.stderr.count("I am an agent that prints") == 2


def start_slow_run(path: Path) -> subprocess.Popen[str]:
    """A run of 20 trials of 0.15 s in two processes, in a process of its own."""
    code = (
        "import sys\nfrom agentgym.rollout import Rollout, run_cells\n"
        f"with Rollout({ENV!r}, agents=('rollout_parts:Gold:pause=0.15',), trials=10).open(sys.argv[1]) as store:\n"
        "    run_cells(store, workers=2, progress=lambda p: print(p.done, flush=True))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def group_is_gone(group: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_no_process_and_goes_on_to_the_same_results(
    tmp_path: Path, how: signal.Signals
) -> None:
    with start_slow_run(tmp_path / "run.db") as process:
        assert process.stdout and process.stderr
        for _ in range(3):
            assert process.stdout.readline(), process.stderr.read()
        if how is signal.SIGINT:
            # As a terminal does it: to the workers as well.
            os.killpg(process.pid, how)
        else:
            os.kill(process.pid, how)
        assert process.wait(20) != 0
        errors = process.stderr.read()
    assert group_is_gone(process.pid, 20)
    assert errors.count("Traceback") == (1 if how is signal.SIGINT else 0), errors
    before = rows(tmp_path / "run.db")
    kept = [row for row in before if row["status"] == "done"]
    assert 3 <= len(kept) < 20
    plan = rollout("rollout_parts:Gold:pause=0.15", trials=10)
    ran: list[Progress] = []
    with plan.open(tmp_path / "run.db") as store:
        assert run_cells(store, workers=2, progress=ran.append) == {"done": 20}
    assert len(ran) == 20 - len(kept)
    after = rows(tmp_path / "run.db")
    assert [row for row in after if row["id"] in {row["id"] for row in kept}] == kept
    with plan.open(tmp_path / "undisturbed.db") as store:
        run_cells(store, workers=2)
    assert after == rows(tmp_path / "undisturbed.db")


def test_a_store_of_other_settings_or_of_changed_scenarios_is_refused(tmp_path: Path) -> None:
    plan = rollout(GOLD)
    plan.open(tmp_path / "run.db").close()
    with pytest.raises(StoreError, match=r"trials is 1 there and 2 now"):
        rollout(GOLD, trials=2).open(tmp_path / "run.db")
    changed = rollout(GOLD)
    changed.chosen[0] = changed.chosen[0].model_copy(update={"instruction": "another"})
    with pytest.raises(StoreError, match=r"scenario_hash is .* there and .* now; give another --store"):
        changed.open(tmp_path / "run.db")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"trials": 0}, r"expected trials to be at least 1, got 0"),
        ({"seed": -1}, r"expected seed to be at least 0, got -1"),
        ({"agents": ()}, r"no agent is given"),
        ({"agents": (GOLD, GOLD)}, r"agent rollout_parts:Gold is given twice; more runs of the same are trials"),
        ({"agents": ("golf",)}, r'there is no agent "golf" \(did you mean "gold"\?\); use one of do-nothing, '),
        ({"agents": ("nowhere:Agent",)}, r'agent "nowhere:Agent": cannot import nowhere: No module named'),
        ({"agents": ("rollout_parts:Gild",)}, r'agent "rollout_parts:Gild": rollout_parts has no Gild'),
        ({"agents": ("rollout_parts:Gold:speed=1",)}, r"unexpected keyword argument 'speed'"),
        ({"agents": ("rollout_parts:Gold:pause",)}, r'options look like name=value,name=value, got "pause"'),
        ({"agents": ("rollout_parts:TINY",)}, r'agent "rollout_parts:TINY"'),
        ({"agents": ("openai:model=m,api_key=sk-1",)}, r"would stand in the result store; put the secret into an env"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_runs(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Rollout(ENV, **{"agents": (GOLD,), **settings})


def test_a_scenario_that_does_not_exist_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match=r"there is no scenario 'tiny/renew-01' \(did you mean \"tiny/renew-001\"\?\)"):
        _ = rollout(GOLD, scenarios=("tiny/renew-01",)).chosen


def test_wrong_numbers_of_workers_and_seconds_are_refused(tmp_path: Path) -> None:
    with rollout(GOLD).open(tmp_path / "run.db") as store:
        with pytest.raises(ValueError, match=r"expected workers to be at least 1, got 0"):
            run_cells(store, workers=0)
        with pytest.raises(ValueError, match=r"expected timeout_s to be more than 0 seconds, got 0"):
            run_cells(store, workers=1, timeout_s=0)
        assert store.counts() == {"planned": 2}


def test_generated_scenarios_of_the_train_split_are_planned_by_the_seed_of_the_run(tmp_path: Path) -> None:
    plan = rollout(GOLD, split="train", count=3, seed=1)
    assert plan.cells == rollout(GOLD, split="train", count=3, seed=1).cells
    assert plan.cells != rollout(GOLD, split="train", count=3, seed=2).cells
    assert len({cell.scenario for cell in plan.cells}) == 3


def test_options_of_an_agent_are_read_as_what_they_look_like() -> None:
    place, options = parse_spec("a.b:C:x=1,y=0.5,z=true,s=some,text,u=http://h:1/v1,n=null,q=1e,l=[1]")
    assert place == "a.b:C"
    assert options == {
        "x": 1,
        "y": 0.5,
        "z": True,
        "s": "some,text",
        "u": "http://h:1/v1",
        "n": None,
        "q": "1e",
        "l": "[1]",
    }


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_agent_can_be_made(name: str) -> None:
    spec = f"{name}:model=m,base_url=http://127.0.0.1:9/v1" if name == "openai" else name
    assert callable(make_agent(spec).run)
