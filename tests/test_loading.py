"""Scenario files: what is read, and the exact text of each refusal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tiny_domain import FOLDER, TINY

from agentgym.errors import ScenarioError
from agentgym.loading import load_curated, load_folder, load_scenario, parse, scenario_ids

GOOD = (FOLDER / "scenarios" / "renew-001.yaml").read_text(encoding="utf-8")

KEYS = (
    "id, revision, canary, family, level, language, now, instruction, given, domain, capability, sources, impact, "
    "twin_of, tags, user, initial_state, events, checkpoints, checks, veto, secrets, attacks, plan, reasoning, gold, "
    "single_route, recovery, perturbations, focus, trials"
)


def refused(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(text, "x.yaml")
    return str(caught.value)


def swapped(old: str, new: str) -> str:
    assert old in GOOD
    return refused(GOOD.replace(old, new, 1))


def test_a_curated_scenario_is_found_by_its_id_or_its_file() -> None:
    assert scenario_ids(TINY) == ["tiny/refuse-001", "tiny/renew-001"]
    by_id = load_scenario("tiny/renew-001", TINY)
    assert list(load_curated(TINY)) == scenario_ids(TINY)
    assert load_curated(TINY)["tiny/renew-001"] is by_id
    assert load_scenario(FOLDER / "scenarios" / "renew-001.yaml") == by_id
    assert by_id.checkpoints[2].expect == "2026-04-03"
    assert load_folder(FOLDER / "scenarios", "tiny") == load_curated(TINY)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "family: renewal",
            "familly: renewal",
            "familly: found the unknown key 'familly'; expected one of "
            + KEYS
            + ' (did you mean "family"?) (and 1 more)',
        ),
        (
            "family: renewal",
            "family: renewal\nfamilly: x",
            "familly: found the unknown key 'familly'; expected one of " + KEYS + ' (did you mean "family"?)',
        ),
        (
            "expect: 1, type: int}",
            "expct: 1}",
            "checks.final_state[1].expct: found the unknown key 'expct'; expected one of sql, params, expect, type, "
            'currency, tolerance, items, any_of, holds (did you mean "expect"?)',
        ),
        (
            "{name: looked_up, called: [{name: list_loans}",
            "{name: looked_up, called: [{nme: list_loans}",
            "checkpoints[0].called[0].nme: found the unknown key 'nme'; expected one of name, arguments "
            '(did you mean "name"?) (and 2 more)',
        ),
        (
            "as: look, arguments: {member_id",
            "az: look, arguments: {member_id",
            "gold[0].actions[1].az: found the unknown key 'az'; expected one of name, as, arguments",
        ),
        ("level: L2", "level: L9", "level: found \"L9\"; expected 'L1', 'L2', 'L3', 'L4' or 'L5'"),
        (
            "now: 2026-03-14T09:30:00Z",
            "now: tomorrow",
            "now: found \"tomorrow\"; expected a time must be ISO 8601 such as 2026-03-14T09:30:00Z, got 'tomorrow'",
        ),
        (
            "\"loans[loan_id='L101'].renewals\"",
            "{table: loans}",
            'checks.may_change[1]: found {"table": "loans"}; expected may_change never allows a bare table (loans): '
            "give where, the rows that it is about",
        ),
        (
            "confirmed: renew_loan}",
            "confirmed: renew_loan, called: renew_loan}",
            "checkpoints[1]: found ['called', 'confirmed']; "
            "expected a checkpoint has exactly one of called, confirmed, sql, said",
        ),
    ],
)
def test_a_misfit_is_told_with_file_field_found_and_expected(old: str, new: str, message: str) -> None:
    assert swapped(old, new) == f"x.yaml: {message}"


def test_a_single_gold_plan_is_refused() -> None:
    text = GOOD[: GOOD.index("  - plan: [Find the loan by")]
    assert refused(text) == (
        "x.yaml: scenario: found gold has one plan; expected a second, different one, or single_route with the reason"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id: [",
            "line 2, column 1: found did not find expected node content; expected YAML in which each key is text",
        ),
        ("id: a/b\nid: a/c\n", "line 2, column 1: found the key 'id' twice; expected YAML in which each key is text"),
        ("true: 1", "line 1, column 1: found the key True; expected YAML in which each key is text and stands once"),
        ("- 1", "file: found a list; expected a mapping with id, family, now, …"),
        ("", "file: found a NoneType; expected a mapping with id, family, now, …"),
        ("id: !!python/object:os.system x", "line 1, column 5: found could not determine a constructor for the tag"),
        ("id: \x07", "file: found "),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(text: str, message: str) -> None:
    assert refused(text).startswith(f"x.yaml: {message}")


def test_only_true_and_false_are_booleans_and_times_and_octals_stay_as_written() -> None:
    given = "[no, on, Yes, 010, 12:30, 2026-03-14, 7, 1_000, 0x1F]"
    scenario = parse(GOOD.replace("given: [ada@example.org, Emma, 14]", f"given: {given}"), "x.yaml")
    assert scenario.given == ["no", "on", "Yes", "010", "12:30", "2026-03-14", 7, "1_000", "0x1F"]
    values: list[Any] = [True, False, None, None, -3, 1.5, 1e3, "True"]
    listed = GOOD.replace(
        "family: renewal", "family: renewal\nperturbations: [true, false, null, ~, -3, 1.5, 1e3, True]"
    )
    assert parse(listed, "x.yaml").perturbations == values


def folder_with(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_an_id_is_the_path_of_the_file(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, {"tiny/renew-002.yaml": GOOD})
    file = tmp_path / "tiny" / "renew-002.yaml"
    with pytest.raises(ScenarioError) as caught:
        load_folder(folder)
    assert str(caught.value) == f"{file}: id: found 'tiny/renew-001'; expected 'tiny/renew-002', the path of the file"
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file)
    assert str(caught.value) == (
        f"{file}: id: found 'tiny/renew-001'; expected an id that ends in 'renew-002', the name of the file"
    )


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, {"tiny/renew-001.yaml": GOOD})
    assert load_folder(folder)["tiny/renew-001"].level == "L2"
    folder_with(
        tmp_path, {"tiny/renew-001.yaml": GOOD.replace("level: L2", "level: L3").replace("revision: 1", "revision: 10")}
    )
    assert load_folder(folder)["tiny/renew-001"].level == "L3"


def test_a_canary_is_there_and_unique(tmp_path: Path) -> None:
    twin = GOOD.replace("id: tiny/renew-001", "id: tiny/renew-002")
    folder = folder_with(tmp_path, {"tiny/renew-001.yaml": GOOD, "tiny/renew-002.yaml": twin})
    with pytest.raises(ScenarioError) as caught:
        load_folder(folder)
    assert str(caught.value) == (
        "tiny/renew-002: canary: found the canary of tiny/renew-001; "
        "expected a canary of its own: agentgym: and 32 hex digits"
    )
    bare = re.sub(r"canary: .*\n", "", GOOD)
    file = folder_with(tmp_path, {"tiny/renew-001.yaml": bare}) / "tiny" / "renew-001.yaml"
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file)
    assert str(caught.value) == (
        f"{file}: canary: found ''; expected agentgym: and 32 hex digits, made once for this file"
    )


def test_what_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    cases: list[tuple[str | Path, str]] = [
        (
            "tiny/renew-01",
            "tiny/renew-01: id: found no such scenario; expected one of the 2 scenarios of tiny "
            '(did you mean "tiny/renew-001"?)',
        ),
        ("zz", "zz: id: found no such scenario; expected one of the 2 scenarios of tiny such as tiny/refuse-001"),
        (tmp_path / "no.yaml", f"{tmp_path / 'no.yaml'}: file: found no such file; expected a scenario as a YAML file"),
    ]
    for asked, message in cases:
        with pytest.raises(ScenarioError) as caught:
            load_scenario(asked, TINY)
        assert str(caught.value) == message
    with pytest.raises(
        ScenarioError, match="folder: found no such folder; expected a folder of scenarios as YAML files$"
    ):
        load_folder(tmp_path / "none")


def test_a_file_of_another_domain_or_encoding_is_refused(tmp_path: Path) -> None:
    file = folder_with(tmp_path, {"renew-001.yaml": GOOD.replace("id: tiny/", "id: shop/")}) / "renew-001.yaml"
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file, TINY)
    assert str(caught.value) == f"{file}: id: found 'shop/renew-001'; expected a scenario of the domain 'tiny'"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(
        ScenarioError, match=r"file: found bytes that are not UTF-8 \(invalid start byte\); expected UTF-8 text$"
    ):
        load_scenario(file)


@pytest.mark.parametrize("name", [None, 3])
def test_what_is_neither_a_path_nor_an_id_is_refused(name: Any) -> None:
    with pytest.raises(TypeError, match=rf"expected a path or an id such as 'refund/partial-001', got {name}$"):
        load_scenario(name)
