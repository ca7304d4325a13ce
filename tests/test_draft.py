"""From service logs to drafts: what is read, what is guessed, and that no draft is ever played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentgym.cli import main
from agentgym.draft import Load, drafts, families_alike, family_weights, load_of
from agentgym.errors import ScenarioError
from agentgym.loading import load_curated, parse
from agentgym.service_log import Conversation, LogError, Turn, read_log

MIRROR = {
    "id": "Chat 17",
    "messages": [
        {"role": "assistant", "content": "Welcome!"},
        {"role": "user", "content": "Hello, the mirror from order A1004", "time": "2026-02-01T10:00:00Z"},
        {"role": "user", "content": "came broken. I want my money back."},
        {"role": "tool", "content": '{"order_id": "A1004"}'},
        {"role": "assistant", "content": "I am sorry. Do you still have the outer box?"},
        {"role": "user", "content": "No, it went into the bin."},
        {"role": "assistant", "content": "Thank you, one moment."},
        {"role": "user", "content": "If that takes long, write to a.b@example.org instead."},
    ],
    "meta": {"channel": "chat"},
}


def written(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_log_is_read_into_turns_of_the_two_sides(tmp_path: Path) -> None:
    (one,) = read_log(written(tmp_path / "log.jsonl", MIRROR, ""))
    assert one.opening == "Hello, the mirror from order A1004 came broken. I want my money back."
    assert [turn.customer for turn in one.turns] == [True, False, True, False, True]
    assert (one.id, one.at_ms, one.meta) == ("Chat 17", 1_769_940_000_000, {"channel": "chat"})


def test_a_draft_has_opening_facts_ids_and_guesses_and_the_rest_empty(tmp_path: Path) -> None:
    log = read_log(written(tmp_path / "log.jsonl", MIRROR))
    ((name, text),) = drafts(log, "refund", load_curated("refund"), ["caller", "ticket"]).items()
    found = yaml.safe_load(text)
    assert (name, found["id"], found["draft"]) == ("refund/draft-chat-17", name, True)
    assert found["level"] == "L2" and found["now"] == "2026-02-01T10:00:00Z"
    assert found["given"] == ["A1004"] and found["domain"] == {"caller": None, "ticket": None}
    assert found["user"]["facts"] == {"answer_1": {"when": ["outer", "box"], "say": "No, it went into the bin."}}
    assert (found["user"]["wants"], found["gold"], found["checkpoints"]) == ([], [], [])
    assert f"# Families alike: {found['family']}, " in text
    assert "# Load: 3 turns, 2 nested, 1 terms" in text


def test_the_same_log_gives_the_same_drafts_and_ids_that_fall_together_are_told_apart(tmp_path: Path) -> None:
    twin = {**MIRROR, "id": "chat/17"}
    log = read_log(written(tmp_path / "log.jsonl", MIRROR, twin))
    first, second = drafts(log, "refund", {}), drafts(log, "refund", {})
    assert first == second and len(first) == 2
    assert all(name.startswith("refund/draft-chat-17") for name in first)


@pytest.mark.parametrize("missing", ["checkpoints, gold to be written, then ", ""])
def test_a_draft_is_never_a_scenario(tmp_path: Path, missing: str) -> None:
    ((_, text),) = drafts(read_log(written(tmp_path / "log.jsonl", MIRROR)), "refund", {}).items()
    if not missing:
        text = text.replace("checkpoints: []", "checkpoints: [{}]").replace("gold: []", "gold: [{}]")
    with pytest.raises(ScenarioError, match=f"draft: found a draft; expected {missing}this line to be taken away"):
        parse(text, "draft.yaml")
    with pytest.raises(ScenarioError, match="checkpoints"):
        parse(text.replace("draft: true\n", "").replace("checkpoints: [{}]", "checkpoints: []"), "draft.yaml")


@pytest.mark.parametrize(
    ("load", "level"),
    [(Load(1, 0, 1), "L1"), (Load(4, 1, 1), "L2"), (Load(4, 3, 3), "L3"), (Load(6, 6, 6), "L4"), (Load(9, 9, 9), "L5")],
)
def test_the_level_rises_with_turns_nesting_and_terms(load: Load, level: str) -> None:
    assert load.level == level


def test_load_counts_what_the_customer_says_and_not_what_the_agent_does() -> None:
    turns = [
        Turn(True, "Refund A1 and A2, if possible."),
        Turn(False, "If not A3, then A4?"),
        Turn(True, "A1, else wait."),
    ]
    assert load_of(Conversation("x", turns)) == Load(2, 1, 2)
    plain = [Turn(True, "如果不能退，请先告诉我 A1 的情况。")]
    assert load_of(Conversation("x", plain)) == Load(1, 2, 1)


def test_a_family_is_guessed_from_what_openings_share_and_none_where_nothing_is_alike() -> None:
    families = {"late": {"@arrive": 1.0, "wait": 2.0}, "broken": {"@broken": 2.0}}
    assert families_alike("It came broken, all cracked.", families) == ["broken"]
    assert families_alike("Did it arrive broken?", families) == ["broken", "late"]
    assert families_alike("What is the weather?", families) == []


def test_the_family_of_a_held_out_scenario_is_among_the_three_guessed_in_half_of_the_cases() -> None:
    curated = load_curated("refund")
    found = []
    for name, scenario in curated.items():
        weights = family_weights({other: each for other, each in curated.items() if other != name})
        if scenario.family in weights:
            found.append((scenario.family, families_alike(scenario.user.opening, weights)))
    assert sum(family in alike for family, alike in found) >= 0.5 * len(found)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "log.jsonl:1: found no JSON"),
        ("[]", "log.jsonl:1: found no messages"),
        ({"id": None, "messages": []}, "log.jsonl:1: found the id None"),
        ({"id": "a", "messages": []}, "log.jsonl:1: found no word of the customer"),
        ({"id": "a", "messages": ["hi"]}, r"messages\[0\]: found str; expected an object"),
        ({"id": "a", "messages": [{"role": "user", "content": [1]}]}, r"messages\[0\].content: found list"),
        ({"id": "a", "messages": [{"role": "user", "content": "x", "time": "noon"}]}, r"time: found 'noon'"),
        ("", "log.jsonl: found no conversation"),
    ],
)
def test_a_log_that_is_wrong_is_refused_with_file_and_line(tmp_path: Path, line: Any, told: str) -> None:
    with pytest.raises(LogError, match=told):
        read_log(written(tmp_path / "log.jsonl", line))


def test_an_id_twice_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="log.jsonl:2: found the id 'Chat 17' twice"):
        read_log(written(tmp_path / "log.jsonl", MIRROR, MIRROR))
    with pytest.raises(LogError, match=r"cannot be read .*; expected JSON lines in UTF-8"):
        read_log(tmp_path / "none.jsonl")


def test_the_command_writes_drafts_that_validate_refuses_and_never_over_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path / "log.jsonl", MIRROR)
    arguments = ["draft", str(log), "--domain", "refund", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{tmp_path}/out/refund/draft-chat-17.yaml\n"
    assert main(["validate", "Refund-v0", "--folder", str(tmp_path / "out"), "--check", "V08"]) == 1
    assert "draft: found a draft" in capsys.readouterr().err
    assert main(arguments) == 2
    assert "is there already and was left as it was" in capsys.readouterr().err
    assert main(["draft", str(log), "--domain", "refunds", "--out", str(tmp_path)]) == 2
    assert 'there is no domain "refunds" (did you mean "refund"?)' in capsys.readouterr().err
