"""Skeletons of scenarios, and the tutorial of CONTRIBUTING done word for word."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym.errors import ScenarioError
from agentgym.loading import load_folder, load_scenario
from agentgym.registration import REGISTERED
from agentgym.skeleton import copied, skeleton
from agentgym.validate import CHECKS, Subject
from agentgym.validate.registry import load_checks

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def agentgym_command(*arguments: str, cwd: Path, code: int = 0) -> tuple[str, str]:
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-m", "agentgym.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def tutorial() -> list[tuple[str, str]]:
    """The blocks of the section "A scenario": (kind, text)."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text[text.index("## A scenario") : text.index("## A tool")]
    return [(kind, body) for kind, body in FENCE.findall(section) if kind in ("sh", "yaml")]


def filled(text: str, block: str) -> str:
    """The file with the fields of a block in place of its own."""
    for field in re.findall(r"^(\w+):", block, re.MULTILINE):
        own = re.compile(rf"^{field}:.*\n(?:[ ].*\n)*", re.MULTILINE)
        new, old = own.search(block), own.search(text)
        assert new is not None and old is not None, f"the skeleton has no field {field}"
        text = text[: old.start()] + new[0] + text[old.end() :]
    return text


QUICK = ("V00", "V01", "V08", "V11", "V12", "V13", "V16", "V17", "V41")
"""Those that look at the scenario itself."""


@pytest.mark.parametrize("checks", [QUICK, pytest.param((), marks=pytest.mark.slow)], ids=["quick", "all"])
def test_the_tutorial_followed_to_the_letter_gives_a_scenario_that_passes(
    tmp_path: Path, checks: tuple[str, ...]
) -> None:
    file = tmp_path / "my-scenarios" / "refund" / "mirror-001.yaml"
    blocks = tutorial()
    assert [kind for kind, _ in blocks] == ["sh", "yaml", "yaml", "yaml", "yaml", "sh"]
    outputs = []
    for kind, body in blocks:
        if kind == "yaml":
            file.write_text(filled(file.read_text(encoding="utf-8"), body), encoding="utf-8")
            continue
        for line in body.strip().splitlines():
            program, *arguments = shlex.split(line)
            assert program == "agentgym"
            if arguments[0] == "validate":
                arguments += [part for name in checks for part in ("--check", name)]
            outputs.append(agentgym_command(*arguments, cwd=tmp_path))
    created, validated, ran = outputs
    assert created[0].strip() == str(file.relative_to(tmp_path))
    assert "FAILED" not in validated[0] and "V08" in validated[0] and "V41" in validated[0]
    assert re.search(r"^gold +100% ", ran[0], re.MULTILINE) and re.search(r"^do-nothing +0% ", ran[0], re.MULTILINE)


def test_a_scenario_in_a_folder_that_is_wrong_fails_validate_there_and_nowhere_else(tmp_path: Path) -> None:
    agentgym_command(
        "new", "scenario", "refund/copy-001", "--from", "refund/defective-001", "--folder", ".", cwd=tmp_path
    )
    file = tmp_path / "refund" / "copy-001.yaml"
    agentgym_command("validate", "Refund-v0", "--folder", ".", "--check", "V08", cwd=tmp_path)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("status: solved", "status: pending", 1), encoding="utf-8")
    out, err = agentgym_command("validate", "Refund-v0", "--folder", ".", "--check", "V08", cwd=tmp_path, code=1)
    assert re.search(r"V08 +gold = 1.0 +FAILED", out) and "refund/copy-001 gold[" in err
    assert "refund/defective-001" not in err


def test_a_scenario_in_a_folder_may_be_the_twin_of_a_curated_one_and_of_no_other(tmp_path: Path) -> None:
    agentgym_command(
        "new", "scenario", "refund/copy-001", "--from", "refund/defective-001", "--folder", ".", cwd=tmp_path
    )
    load_checks()
    file = tmp_path / "refund" / "copy-001.yaml"
    text = file.read_text(encoding="utf-8")
    for twin, failures in (("refund/partial-002", 0), ("refund/partial-999", 1)):
        changed, count = re.subn(r"^twin_of: .*$", f"twin_of: {twin}", text, flags=re.MULTILINE)
        file.write_text(changed if count else f"{text}\ntwin_of: {twin}\n", encoding="utf-8")
        finding = CHECKS["V00"].function(Subject("Refund-v0", folder=tmp_path))
        assert len(finding.failures) == failures, finding


def test_a_folder_without_scenarios_of_the_environment_is_refused(tmp_path: Path) -> None:
    every = " or ".join(f"{name}/NAME.yaml" for name in REGISTERED.values())
    for arguments, files in ((["Refund-v0"], "refund/NAME.yaml"), ([], every)):
        _, err = agentgym_command("validate", *arguments, "--folder", str(tmp_path), cwd=tmp_path, code=2)
        assert f"folder: found no scenario; expected a file {files} in it" in err


def test_a_skeleton_is_yaml_and_says_field_by_field_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "refund" / "my-001.yaml"
    file.parent.mkdir()
    file.write_text(skeleton("refund/my-001"), encoding="utf-8")
    fields = []
    text = file.read_text(encoding="utf-8")
    fills = {
        "family": "family: mine",
        "instruction": "instruction: Something.",
        "user.opening": "  opening: Hello.",
        "checkpoints": "checkpoints: [{name: a, called: get_order}]",
        "gold": "gold: [{plan: [a], actions: [{name: finish, arguments: {outcome: done}}]}]\nsingle_route: none",
    }
    for _ in range(len(fills)):
        with pytest.raises(ScenarioError) as error:
            load_scenario(file)
        field = error.value.field
        fields.append(field)
        line = re.search(rf"^ *{field.rpartition('.')[2]}:.*$", text, re.MULTILINE)
        assert line is not None
        text = text[: line.start()] + fills[field] + text[line.end() :]
        file.write_text(text, encoding="utf-8")
    assert sorted(fields) == sorted(fills)
    assert load_scenario(file).id == "refund/my-001"
    _, err = agentgym_command("validate", "Refund-v0", "--folder", ".", "--check", "V00", cwd=tmp_path, code=1)
    assert "refund/my-001: domain" in err


def test_every_field_of_the_skeleton_is_explained(tmp_path: Path) -> None:
    lines = skeleton("refund/my-001").splitlines()
    for field in (
        "caller",
        "ticket",
        "role",
        "opening",
        "final_state",
        "may_change",
        "gold",
        "secrets",
        "canary",
        "given",
    ):
        number = next(n for n, line in enumerate(lines) if line.strip().startswith(f"{field}:"))
        assert "#" in lines[number] or "#" in lines[number - 1], field
    assert re.search(r"^canary: agentgym:[0-9a-f]{32} ", skeleton("refund/my-001"), re.MULTILINE)
    assert skeleton("refund/my-001") != skeleton("refund/my-001")


def test_a_copy_differs_in_id_and_canary_and_begins_at_revision_1(tmp_path: Path) -> None:
    (tmp_path / "refund").mkdir()
    (tmp_path / "refund" / "copy-001.yaml").write_text(
        copied("refund/copy-001", "refund/partial-001"), encoding="utf-8"
    )
    copy, source = load_folder(tmp_path)["refund/copy-001"], load_scenario("refund/partial-001")
    assert copy.canary != source.canary
    same = {"id": source.id, "canary": source.canary, "revision": source.revision}
    assert copy.model_copy(update=same) == source and copy.revision == 1


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    agentgym_command("new", "scenario", "refund/my-001", "--folder", "mine", cwd=tmp_path)
    file = tmp_path / "mine" / "refund" / "my-001.yaml"
    file.write_text("my work", encoding="utf-8")
    out, err = agentgym_command("new", "scenario", "refund/my-001", "--folder", "mine", cwd=tmp_path, code=2)
    assert out == "" and "my-001.yaml is there already and was left as it is" in err
    assert file.read_text(encoding="utf-8") == "my work"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["refund/my-001"],
            r"there is no folder scenarios/refund here; run it in a checkout, or name one with --folder",
        ),
        (["refnd/x", "--folder", "."], r'found the domain \'refnd\'; expected one of .*did you mean "refund"'),
        (["refund", "--folder", "."], r"expected DOMAIN/NAME of small letters"),
        (["refund/../../x", "--folder", "."], r"expected DOMAIN/NAME of small letters"),
        (["refund/Big", "--folder", "."], r"expected DOMAIN/NAME of small letters"),
        (["refund/partial-001", "--folder", "."], r"found a curated scenario of this id; expected a name of its own"),
        (
            ["refund/x", "--from", "refund/partal-001", "--folder", "."],
            r'no such scenario.*did you mean "refund/partial-001"',
        ),
        (
            ["refund/x", "--from", "tiny/renew-001", "--folder", "."],
            r"found a scenario of tiny; expected one of refund",
        ),
    ],
)
def test_a_wrong_request_for_a_skeleton_writes_nothing(tmp_path: Path, arguments: list[str], text: str) -> None:
    out, err = agentgym_command("new", "scenario", *arguments, cwd=tmp_path, code=2)
    assert out == "" and re.search(text, err), err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_given_to_validate_replaces_the_curated_and_generated_scenarios(tmp_path: Path) -> None:
    agentgym_command(
        "new", "scenario", "refund/copy-001", "--from", "refund/defective-001", "--folder", ".", cwd=tmp_path
    )
    out, _ = agentgym_command("validate", "--folder", ".", "--check", "V00", "--json", cwd=tmp_path)
    (result,) = json.loads(out)
    assert (result["env"], result["figure"]) == ("Refund-v0", "1 scenarios")
