"""Perturbations in rollouts, result stores and on the command line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agentgym.cli import main
from agentgym.cli.perturbed import print_perturbed
from agentgym.metrics import Interval
from agentgym.rollout import Rollout, run_cells
from agentgym.store import Store
from agentgym.summary_perturbed import Line, cliff, summarise_perturbed
from agentgym.wrappers import read_specs
from agentgym.wrappers.catalogue import COMPOSITIONS, read_file, sweep_specs

RUN = ["run", "Refund-v0", "--scenario", "refund/partial-001", "--workers", "1"]


def line(**changed: Any) -> Line:
    """A line with little in it."""
    names: dict[str, Any] = {name: None for name in Line.__dataclass_fields__}
    names |= {"agent": "a", "perturbation": "x", "planned": 1, "done": 1, "doubled_writes": 0}
    return Line(**names | changed)


def test_a_store_has_each_trial_beside_its_undisturbed_twin_of_the_same_seed(tmp_path: Path) -> None:
    rollout = Rollout(
        "Refund-v0",
        ("naive", "verifying"),
        ("refund/partial-001", "refund/safety-001"),
        trials=2,
        perturbations=(("busy", "outage-before-commit:0.3+jitter"), ("drift", "schema-drift")),
    )
    with rollout.open(tmp_path / "a.db") as store:
        assert run_cells(store, workers=1) == {"done": 24}
        rows = store.rows(traces=False)
        seeds = {(row["scenario"], row["trial"]): row["seed"] for row in rows}
        assert len(seeds) == 4 and all(row["seed"] == seeds[row["scenario"], row["trial"]] for row in rows)
        assert all(bool(row["measures"]) == bool(row["perturbation"]) for row in rows)
        lines = {(found.agent, found.perturbation): found for found in summarise_perturbed(store)}
    assert lines["naive", ""].success == lines["verifying", ""].success == 1
    assert lines["verifying", "busy"].fall == 0 and lines["verifying", "busy"].recovered == 1
    assert lines["naive", "drift"].fall and lines["naive", "drift"].success == 0
    assert lines["naive", ""].fall is None and lines["naive", "busy"].recovered == 0
    with Store.read(tmp_path / "a.db") as store:
        assert store.config["perturbations"]["drift"] == "schema-drift"


def test_while_trials_are_missing_success_and_fall_are_ranges_and_no_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = ("refund/partial-001", "refund/partial-002")
    sweep = "jitter,intensity=1"
    with Rollout("Refund-v0", ("naive",), scenarios, perturbations=((sweep, sweep),)).open(tmp_path / "e.db") as store:
        run_cells(store, workers=1)
        found = summarise_perturbed(store)[1]
        assert (found.success, found.success_bounds, found.fall, found.fall_bounds) == (1, (1, 1), 0, (0, 0))
        number = [row["id"] for row in store.rows(traces=False) if row["perturbation"]][0]
    with sqlite3.connect(tmp_path / "e.db") as raw:
        raw.execute("UPDATE cells SET status = 'error', error_kind = 'agent-crash' WHERE id = ?", [number])
    raw.close()
    with Store.read(tmp_path / "e.db") as store:
        twin, found = summarise_perturbed(store)
        print_perturbed(store, [sweep])
    assert (found.success, found.success_bounds, found.fall, found.fall_bounds) == (None, (0.5, 1), None, (0, 0.5))
    assert (twin.success, found.errors, found.to_json()["fall"]) == (1, {"agent-crash": 1}, None)
    shown = capsys.readouterr().out
    assert "50%…100%" in shown and "0%…50%" in shown and "1/2" in shown
    assert f"naive under {sweep}: 50% complete (1 agent-crash)" in shown
    assert "cliff unknown: trials are missing" in shown


def test_a_wrong_perturbation_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="there is no perturbation 'jiter'"):
        Rollout("Refund-v0", ("naive",), perturbations=(("a", "jiter"),))
    with pytest.raises(ValueError, match="expected perturbations with names that differ"):
        Rollout("Refund-v0", ("naive",), perturbations=(("a", "jitter"), ("a", "pollution")))
    with pytest.raises(ValueError, match="expected modes to be a text or a list of texts, of '503', .*, got 700"):
        Rollout("Refund-v0", ("naive",), perturbations=(("a", "jitter+outage-before-commit,at=1,modes=700"),))


def test_the_command_prints_the_table_by_perturbation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "b.db")
    specs = ["--perturb", "outage-before-commit:0.3", "--perturb", "untrusted"]
    assert main([*RUN, "--agent", "naive", "--agent", "verifying", *specs, "--store", store]) == 0
    shown = capsys.readouterr().out
    assert "outage-before-commit:0.3" in shown and "(none)" in shown and "doubled writes" in shown
    assert main(["results", store, "--by", "perturbation"]) == 0
    assert "untrusted" in capsys.readouterr().out
    assert main(["results", store, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [entry["success_rate"] for entry in found["agents"]] == [1.0, 1.0]
    assert len(found["by_perturbation"]) == 6


def test_perturbations_come_from_a_file_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("slow: jitter,intensity=4\nboth: [jitter, 'pollution:0.1']\n", encoding="utf-8")
    assert read_file(file) == {"slow": "jitter,intensity=4", "both": "jitter+pollution:0.1"}
    store = str(tmp_path / "c.db")
    assert main([*RUN, "--agent", "naive", "--perturb-file", str(file), "--store", store]) == 0
    assert "slow" in capsys.readouterr().out
    file.write_text("- jitter\n", encoding="utf-8")
    assert main([*RUN, "--agent", "naive", "--perturb-file", str(file)]) == 2
    assert "expected a mapping from names to perturbations" in capsys.readouterr().err


def test_a_sweep_draws_success_against_intensity_and_finds_the_cliff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ["--sweep", "outage-before-commit=0..4", "--workers", "1", "--store", str(tmp_path / "d.db")]
    assert main(["run", "Refund-v0", "--agent", "naive", "--agent", "retrying", *sweep]) == 0
    shown = capsys.readouterr().out
    assert "naive: success against intensity" in shown and "cliff at outage-before-commit,intensity=" in shown
    retrying = shown.partition("retrying: success against intensity")[2]
    assert "no cliff" in retrying or "cliff at outage-before-commit,intensity=4" in retrying


def test_the_cliff_is_the_first_level_below_the_undisturbed_interval() -> None:
    levels = [line(interval=Interval(*ends)) for ends in ((0.7, 1.0), (0.6, 0.9), (0.1, 0.6), (0.0, 0.3))]
    assert cliff(levels) is levels[2]
    assert cliff(levels[:2]) is None and cliff([]) is None


@pytest.mark.parametrize("text", ["jitter", "jitter=4..0", "jitter=0..5", "untrusted=0..4", "jitter=x..2"])
def test_a_sweep_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"sweep|there is no perturbation"):
        sweep_specs(text)


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions_are_specs(name: str) -> None:
    assert len(read_specs(name)) >= 2
