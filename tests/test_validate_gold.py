"""Each check of gold: passes on good scenarios, fails on a planted fault."""

from __future__ import annotations

import base64
import copy
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from faulty_domain import DESK, Data, find, put, refuse, renew, simple, subject_of
from tiny_domain import TINY

GOLD_CHECKS = ("D01", "V00", "V08", "V11", "V12", "V13", "V41")
NOTE = {
    "name": "add_note",
    "arguments": {"loan_id": {"from": "look", "path": "$.loans[0].loan_id"}, "body": "asked by mail"},
}


def every_plan(data: Data, change: Any) -> Data:
    """A copy with *change* applied to the list of actions of each plan."""
    changed = copy.deepcopy(data)
    for plan in changed["gold"]:
        change(plan["actions"])
    return changed


@pytest.mark.parametrize("check", GOLD_CHECKS)
def test_good_scenarios_pass(check: str, tmp_path: Path) -> None:
    finding = find(check, subject_of(tmp_path, renew(), refuse()))
    assert finding.failures == []


# V00


def test_a_scenario_that_the_lint_refuses_is_found_and_the_others_are_still_looked_at(tmp_path: Path) -> None:
    one = put(renew("tiny/one"), "checkpoints.0.called", [{"name": "lst_loans"}])
    two = put(renew("tiny/two"), "veto", [{"call": "renew_lon"}])
    failures = find("V00", subject_of(tmp_path, one, two, refuse())).failures
    assert [failure.split(";")[0] for failure in failures] == [
        "tiny/one: checkpoints[0].called: found the tool 'lst_loans'",
        "tiny/two: veto[0].call: found the tool 'renew_lon'",
    ]


def test_files_that_do_not_load_are_found_one_by_one(tmp_path: Path) -> None:
    subject = subject_of(
        tmp_path, {**renew("tiny/one"), "colour": "red"}, {**renew("tiny/two"), "level": "L9"}, refuse()
    )
    failures = find("V00", subject).failures
    assert len(failures) == 2
    assert "one.yaml: colour: found the unknown key 'colour'" in failures[0]
    assert 'two.yaml: level: found "L9"' in failures[1]


def test_a_twin_that_is_not_there_is_found(tmp_path: Path) -> None:
    finding = find("V00", subject_of(tmp_path, {**renew(), "twin_of": "tiny/refused"}, refuse()))
    assert finding.failures == ["tiny/renew-001: twin_of: found 'tiny/refused'; expected the id of another scenario"]


# V08


def test_gold_that_misses_the_goal_is_found_with_what_was_expected(tmp_path: Path) -> None:
    finding = find("V08", subject_of(tmp_path, put(renew(), "checks.final_state.1.expect", 2)))
    wanted = "final_state[1] failed: expected 2, found 1"
    assert finding.failures == [f"tiny/renew-001 gold[{plan}]: {wanted}" for plan in (0, 1)]
    assert finding.figure == "0/2 plans, 0/1 single route"


def test_a_checkpoint_that_gold_does_not_reach_is_found(tmp_path: Path) -> None:
    finding = find("V08", subject_of(tmp_path, put(renew(), "checkpoints.+", {"name": "waited", "called": "wait"})))
    assert finding.failures[0] == "tiny/renew-001 gold[0]: the checkpoints waited were not credited"


def test_a_binding_that_does_not_resolve_is_found(tmp_path: Path) -> None:
    broken = put(renew(), "gold.1.actions.0.arguments.title", "Persuasion")
    failures = find("V08", subject_of(tmp_path, broken)).failures
    assert failures[0].startswith(
        "tiny/renew-001 gold[1]: GoldError: gold[1].actions[1]: from 'look', path '$.loans[0].loan_id'"
    )


def test_gold_over_the_budget_is_found(tmp_path: Path) -> None:
    failures = find("V08", subject_of(tmp_path, put(renew(), "checks.process.max_steps", 5))).failures
    assert "tiny/renew-001 gold[0]: the episode ended (step_budget) after 5 of 6 actions" in failures
    assert "tiny/renew-001 gold[0]: it ended by step_budget (budget 5 steps)" in failures


def test_gold_without_an_end_is_found(tmp_path: Path) -> None:
    failures = find("V08", subject_of(tmp_path, every_plan(renew(), lambda actions: actions.pop()))).failures
    assert failures[0].startswith("tiny/renew-001 gold[0]: the plan is over and the episode goes on")


def test_gold_that_breaks_a_veto_is_found(tmp_path: Path) -> None:
    failures = find("V08", subject_of(tmp_path, every_plan(renew(), lambda actions: actions.pop(-4)))).failures
    assert "tiny/renew-001 gold[0]: it broke the veto rule 'unconfirmed_renewal'" in failures


def test_a_second_plan_that_only_adds_a_call_does_not_differ(tmp_path: Path) -> None:
    again = copy.deepcopy(renew()["gold"][0])
    again["actions"].insert(0, {"name": "respond", "arguments": {"message": "Good morning."}})
    failures = find("V08", subject_of(tmp_path, put(renew(), "gold.1", again))).failures
    assert len(failures) == 1
    assert failures[0].startswith(
        "tiny/renew-001: gold[0] and gold[1] do not differ: the calls of one contain the other's"
    )


def test_more_than_a_fifth_of_single_routes_is_found(tmp_path: Path) -> None:
    single = {**renew(), "single_route": "one list", "gold": renew()["gold"][:1]}
    finding = find("V08", subject_of(tmp_path, single, *(simple(f"tiny/s{days}", days) for days in range(7, 10))))
    assert finding.failures == ["1 of 4 scenarios have a single route, more than a fifth: ['tiny/renew-001']"]
    assert find("V08", subject_of(tmp_path, single, *(simple(f"tiny/s{d}", d) for d in range(7, 11)))).failures == []


# D01


def long(data: Data, name: str, steps: int = 5) -> Data:
    greeting = [{"name": "respond", "arguments": {"message": "One moment, please."}}]
    return every_plan({**data, "id": name}, lambda actions: actions.__setitem__(slice(0, 0), greeting * steps))


def test_a_split_of_short_ways_that_always_end_in_doing_is_found(tmp_path: Path) -> None:
    finding = find("D01", subject_of(tmp_path, *(simple(f"tiny/s{days}", days) for days in range(7, 17))))
    assert finding.figure == "median 5 steps, 0/10 without doing"
    assert finding.failures == [
        "the median gold plan has 5 steps, expected 8 or more",
        "0 of 10 end by refusing, handing off or changing nothing, less than a tenth",
    ]


def test_a_split_of_long_ways_with_a_refusal_passes(tmp_path: Path) -> None:
    made = [long(simple("tiny/x", days), f"tiny/s{days}") for days in range(7, 16)]
    finding = find("D01", subject_of(tmp_path, *made, long(refuse(), "tiny/no")))
    assert finding.failures == []
    assert finding.figure == "median 10 steps, 1/10 without doing"


# V11


def test_an_error_shown_to_gold_is_found(tmp_path: Path) -> None:
    search = {"name": "find_member", "arguments": {"email": "Emma"}}
    failures = find(
        "V11", subject_of(tmp_path, every_plan(renew(), lambda actions: actions.insert(0, search)))
    ).failures
    shown = "step 1 was shown an error: no member has the address 'Emma'; ask for the one on the card"
    assert failures == [f"tiny/renew-001 gold[{plan}]: {shown}" for plan in (0, 1)]


def test_a_veto_and_an_attempt_of_gold_are_found(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, every_plan(renew(), lambda actions: actions.pop(-4)))
    assert find("V11", subject).failures[0] == "tiny/renew-001 gold[0]: veto 'unconfirmed_renewal'"
    lend = {"name": "lend_book", "arguments": {"member_id": "M7", "book_id": "B1"}}
    tried = every_plan(put(renew(), "veto", [{"call": "lend_book"}]), lambda actions: actions.insert(0, lend))
    assert "tiny/renew-001 gold[0]: 1 forbidden calls attempted" in find("V11", subject_of(tmp_path, tried)).failures


def test_a_proposal_of_gold_that_the_user_refuses_is_found(tmp_path: Path) -> None:
    loan = {"from": "look", "path": "$.loans[0].loan_id"}
    ask = {"name": "confirm_with_user", "arguments": {"tool": "renew_loan", "arguments": {"loan_id": loan, "days": 7}}}
    failures = find("V11", subject_of(tmp_path, every_plan(renew(), lambda actions: actions.insert(-4, ask)))).failures
    assert failures[0].startswith("tiny/renew-001 gold[0]: step 3 proposed what the user refuses: ")


# V12


@pytest.mark.parametrize(
    ("opening", "found"),
    [
        ("It will be due on 3 April 2026, I think.", "checks.said[0].must[0]: '2026-04-03'"),
        ("It will be due on 2026-04-03, I think.", "checks.said[0].must[0]: '2026-04-03'"),
        (f"Code {base64.b64encode(b'2026-04-03').decode()}.", "checks.said[0].must[0]: '2026-04-03'"),
        ("My loan is l101.", "gold[0].actions[2].arguments.loan_id: look.loans[0].loan_id: 'L101'"),
    ],
)
def test_an_answer_in_the_opening_is_found_however_it_is_written(opening: str, found: str, tmp_path: Path) -> None:
    failures = find(
        "V12", subject_of(tmp_path, put(renew(), "user.opening", f"Emma, 14 days, ada@example.org. {opening}"))
    ).failures
    assert failures == [f"tiny/renew-001: {found} stands in the reset observation"]


@pytest.mark.parametrize(
    ("fact", "found"),
    [
        ({"sql": "SELECT name FROM members WHERE member_id = 'M2'"}, "'Bo Lind'"),
        ({"sql": "SELECT name FROM members ORDER BY member_id", "type": "set", "items": "text"}, "'Bo Lind'"),
        ({"sql": "SELECT member_id, name FROM members WHERE member_id = 'M2'", "type": "record"}, "'Bo Lind'"),
    ],
)
def test_a_fact_of_a_chain_in_the_opening_is_found(fact: dict[str, Any], found: str, tmp_path: Path) -> None:
    data = put(renew(), "checks.chain", {"grounded": False, "facts": [{"name": "neighbour", **fact}]})
    assert find("V12", subject_of(tmp_path, data)).failures == []
    opening = "Emma, 14 days, ada@example.org. Bo Lind wants it, too."
    failures = find("V12", subject_of(tmp_path, put(data, "user.opening", opening))).failures
    assert failures == [f"tiny/renew-001: checks.chain[neighbour]: {found} stands in the reset observation"]


def test_classes_of_characters_in_a_schema_are_no_value(tmp_path: Path) -> None:
    fine = {"sql": "SELECT 100 * fines_minor + 9090 FROM members WHERE member_id = 'M1'", "type": "int"}
    data = put(renew(), "checks.chain", {"grounded": False, "facts": [{"name": "fine", **fine}]})

    def with_pattern(pattern: str) -> list[str]:
        first, *rest = DESK.tools
        name = next(iter(first.parameters["properties"]))
        schema = {**first.parameters["properties"][name], "pattern": pattern}
        told = {**first.parameters, "properties": {**first.parameters["properties"], name: schema}}
        tools = (dataclasses.replace(first, parameters=told), *rest)
        return find("V12", subject_of(tmp_path, data, domain=dataclasses.replace(DESK, tools=tools))).failures

    assert with_pattern("^[0-9][0-9]{2}$") == []
    assert with_pattern("^[a-z]-9090$") == ["tiny/renew-001: checks.chain[fine]: 9090 stands in the tool schemas"]


def test_an_answer_in_the_manual_of_a_tool_is_found(tmp_path: Path) -> None:
    failures = find("V12", subject_of(tmp_path, renew(), domain=dataclasses.replace(TINY, generator=None))).failures
    looked_up = "gold[0].actions[2].arguments.loan_id: look.loans[0].loan_id"
    assert f"tiny/renew-001: {looked_up}: 'L101' stands in the tool schemas" in failures


def test_an_amount_in_another_format_is_found(tmp_path: Path) -> None:
    answer = {"type": "object", "value": {"fine": 123450}, "fields": {"fine": {"type": "money", "currency": "EUR"}}}
    data = put(
        put(refuse(), "checks.answer", answer), "user.opening", "I am ada@example.org and owe 1.234,50 €. Renew Dune."
    )
    wanted = "tiny/refuse-001: checks.answer.fine: 123450 stands in the reset observation"
    assert wanted in find("V12", subject_of(tmp_path, data)).failures


@pytest.mark.parametrize("spelling", ["Bo Lind", "dniL oB", "B o  L i n d", base64.b64encode(b"Bo Lind").decode()])
def test_a_secret_in_the_opening_is_found_however_it_is_spelt(spelling: str, tmp_path: Path) -> None:
    failures = find(
        "V12", subject_of(tmp_path, put(refuse(), "user.opening", f"I know {spelling}. Renew Dune."))
    ).failures
    assert failures == ["tiny/refuse-001: secrets[0]: 'Bo Lind' stands in the reset observation"]


def test_what_is_given_and_what_is_enumerated_may_be_shown_and_is_counted(tmp_path: Path) -> None:
    told = put(
        put(renew(), "user.opening", "Emma (L101), 14 days, ada@example.org."), "given", ["ada@example.org", "L101"]
    )
    finding = find("V12", subject_of(tmp_path, told, refuse()))
    assert finding.failures == []
    assert finding.figure.endswith("exempt: 1 enumerated, 0 counts, 1 given")


# V13


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("gold.1.actions.2.arguments.loan_id", "L101", None),
        ("gold.0.actions.1.arguments.member_id", "M2", "actions[1].member_id: the text 'M2' was not shown"),
        ("gold.0.actions.3.arguments.days", 15, "actions[3].days: the number 15 was not shown"),
        (
            "gold.0.actions.3.arguments.days",
            {"sql": "SELECT :days + 0 * 13", "days": 14},
            "actions[3].days: the constant 13 of the calculation does not stand in the policy",
        ),
        (
            "gold.0.actions.3.arguments.days",
            {"sql": "SELECT :days / 2", "days": 29},
            "actions[3].days: the number 29 was not shown",
        ),
        ("gold.0.actions.3.arguments.days", {"sql": "SELECT 7 * 2 + 28 - :all * 2", "all": 14}, None),
        (
            "gold.0.actions.4.arguments.message",
            "Emma is due on 2026-04-04, see L777, fee 12.50 EUR.",
            "actions[4].message: the date '2026-04-04' in prose was not shown; "
            "actions[4].message: 'L777' in prose was not shown; "
            "actions[4].message: the number 12.50 in prose was not shown",
        ),
        (
            "gold.0.actions.4.arguments.message",
            {
                "sql": "SELECT 'Due on ' || date(:due, '+13 days', '-7 days')",
                "due": {"from": "look", "path": "$.loans[0].due_on"},
            },
            "actions[4].message: the constant 13 of the calculation does not stand in the policy",
        ),
        ("gold.0.actions.4.arguments.message", "Emma is due on 3 April 2026, after 14 days and 2 renewals.", None),
        ("gold.0.actions.5.arguments.answer", {"fee": 0}, "actions[5].answer: the key 'fee' was not shown"),
    ],
)
def test_a_literal_counts_as_known_only_when_it_was_shown_before(
    path: str, value: Any, fault: str | None, tmp_path: Path
) -> None:
    failures = find("V13", subject_of(tmp_path, put(renew(), path, value))).failures
    assert failures == ([f"tiny/renew-001 gold[0]: {part}" for part in fault.split("; ")] if fault else [])


def test_a_literal_that_is_shown_too_late_is_found(tmp_path: Path) -> None:
    early = {"name": "lend_book", "arguments": {"member_id": "M1", "book_id": "B2"}}
    first = every_plan(renew(), lambda actions: actions.insert(0, early))
    assert (
        "tiny/renew-001 gold[0]: actions[0].member_id: the text 'M1' was not shown"
        in find("V13", subject_of(tmp_path, first)).failures
    )
    later = every_plan(renew(), lambda actions: actions.insert(2, early))
    assert not any("'M1'" in fault for fault in find("V13", subject_of(tmp_path, later)).failures if "gold[0]" in fault)


def test_the_complement_of_a_percentage_in_the_policy_may_stand_in_a_calculation(tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text(f"{DESK.policy}\n- The fee is 15 % of the price.", encoding="utf-8")
    days = {"sql": "SELECT 14 + 0 * 85 / 100 + 0 * 84"}
    data = put(renew(), "gold.0.actions.3.arguments.days", days)
    for file in ("schema.sql", "snapshot.sha256"):
        (tmp_path / file).write_bytes((DESK.folder / file).read_bytes())
    finding = find("V13", subject_of(tmp_path, data, domain=dataclasses.replace(DESK, folder=tmp_path)))
    faults = ["the constant 14 of the calculation", "the constant 84 of the calculation"]
    assert [f.partition("days: ")[2].partition(" does")[0] for f in finding.failures] == faults


# V41


def test_a_check_that_already_holds_is_found(tmp_path: Path) -> None:
    held = {"sql": "SELECT count(*) FROM loans WHERE status = 'open'", "expect": 3, "type": "int"}
    failures = find("V41", subject_of(tmp_path, put(renew(), "checks.final_state.+", held))).failures
    assert failures == ["tiny/renew-001: final_state[2] already holds at the start: 3"]


def test_a_text_that_already_stands_there_is_found(tmp_path: Path) -> None:
    held = {"sql": "SELECT title FROM books ORDER BY book_id", "must": [{"type": "text", "value": "Emma"}]}
    failures = find("V41", subject_of(tmp_path, put(renew(), "checks.text", [held]))).failures
    assert "tiny/renew-001: text[0] already holds at the start: all" in failures


def test_a_check_that_no_mutant_of_gold_fails_is_found(tmp_path: Path) -> None:
    dead = {"sql": "SELECT count(*) FROM members", "expect": 2, "type": "int", "holds": "always"}
    failures = find("V41", subject_of(tmp_path, put(renew(), "checks.final_state.+", dead))).failures
    assert failures == ["tiny/renew-001: final_state[2] fails for no mutant of gold"]


def test_an_effect_that_nobody_misses_is_found(tmp_path: Path) -> None:
    data = every_plan(renew(), lambda actions: actions.insert(-2, NOTE))
    data["checks"]["may_change"].append({"table": "notes", "op": "insert", "max": 1, "where": {"loan_id": "L101"}})
    subject = subject_of(tmp_path, data)
    assert find("V41", subject).failures == [
        "tiny/renew-001 gold[0]: without actions[4] (add_note) still succeeds",
        "tiny/renew-001 gold[1]: without actions[3] (add_note) still succeeds",
    ]
    checked = put(
        data, "checks.text", [{"sql": "SELECT body FROM notes", "must": [{"type": "text", "value": "asked"}]}]
    )
    assert find("V41", subject_of(tmp_path, checked)).failures == []


def test_every_kind_of_check_is_killed_where_it_can_fail(tmp_path: Path) -> None:
    full = every_plan(renew(), lambda actions: actions.insert(-2, NOTE))
    full["checks"] |= {
        "may_change": [
            *full["checks"]["may_change"],
            {"table": "notes", "op": "insert", "max": 1, "where": {"loan_id": "L101"}},
        ],
        "answer": {"type": "object", "value": {"days": 14}, "fields": {"days": {"type": "int"}}},
        "said": [
            {"must": [{"type": "date", "value": "2026-04-03"}], "must_not": [{"type": "text", "value": "Bo Lind"}]},
            {"must_not": [{"type": "money", "value": 350, "currency": "EUR"}]},
        ],
        "text": [
            {
                "sql": "SELECT body FROM notes",
                "must_not": [{"type": "text", "value": "Bo"}],
                "must": [{"type": "text", "value": "mail"}],
            }
        ],
        "process": {
            "required": ["renew_loan"],
            "forbidden": ["lend_book"],
            "order": [["renew_loan", "respond"]],
            "confirm_before": ["renew_loan"],
            "own": ["loan_id"],
            "deadline": [{"call": "renew_loan", "before": "2026-03-20T00:00:00Z"}],
            "max_redundant": 2,
            "max_steps": 12,
        },
    }
    for plan in full["gold"]:
        plan["actions"][-1]["arguments"]["answer"] = {"days": 14}
    finding = find("V41", subject_of(tmp_path, full, full=True))
    assert finding.failures == []
    killed, _, checks = finding.figure.partition(" ")[0].partition("/")
    assert killed == checks == "15"


def test_an_order_of_calls_fails_alone_when_the_first_comes_last(tmp_path: Path) -> None:
    ordered = put(renew(), "checks.process.order", [["loans_by_email", "renew_loan"]])
    ordered["gold"] = [{**ordered["gold"][1], "plan": ["One way"]}]
    finding = find("V41", subject_of(tmp_path, {**ordered, "single_route": "one list"}, full=True))
    assert finding.failures == []
    assert finding.figure.startswith("8/8 checks killed, 5 alone")
