"""Each refusal of the lint, by its exact text: one good scenario, changed in one place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from tiny_domain import TINY, generate, renewal

from agentgym.errors import ScenarioError
from agentgym.lint import lint
from agentgym.loading import build, load_curated
from agentgym.sqlcheck import QueryError, checker, tables_read
from agentgym.world import World

DUE = "SELECT due_on FROM loans WHERE loan_id = 'L101'"
NEW_NOTE = {"table": "notes", "op": "insert", "max": 1, "where": {"loan_id": "L101"}}
DATE = {"type": "date", "value": "2026-04-03"}
LATER = {"type": "date", "value": "2026-04-04"}
TOLD = "SELECT 1 WHERE 0"

Changes = dict[str, Any]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    opened = World(TINY.snapshot, TINY.toolset)
    yield opened
    opened.close()


def changed(changes: Changes) -> dict[str, Any]:
    """The good scenario with values set at dotted paths; a last ``+`` appends to a list."""
    data: dict[str, Any] = renewal("tiny/renew-001", 14)
    for path, value in changes.items():
        last = path.rpartition(".")[2]
        current: Any = data
        for head, after in itertools.pairwise(path.split(".")):
            fresh: Any = [] if after == "+" else {}
            current = current[int(head)] if isinstance(current, list) else current.setdefault(head, fresh)
        if last == "+":
            current.append(value)
        elif isinstance(current, list):
            current[int(last)] = value
        else:
            current[last] = value
    return data


def refusal(changes: Changes, world: World) -> str:
    scenario = build(changed(changes))
    with pytest.raises(ScenarioError) as caught:
        lint(scenario, TINY, world)
    return str(caught.value).removeprefix("tiny/renew-001: ")


def test_the_curated_and_generated_scenarios_pass_and_leave_the_world_as_it_was(world: World) -> None:
    for scenario in load_curated(TINY).values():
        lint(scenario, TINY)
    for seed in range(22):
        lint(generate(seed, None), TINY, world)
    lint(build(changed({"initial_state.patch.loans": {"L101": {"renewals": 1}}})), TINY, world)
    assert world.value("SELECT renewals FROM loans WHERE loan_id = 'L101'") == 0


NO_TOOL = "found the tool 'renew_lone'; expected a tool of tiny (did you mean \"renew_loan\"?)"


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("checkpoints.0.called", ["renew_lone"], "checkpoints[0].called"),
        ("checkpoints.0", {"name": "x", "confirmed": "renew_lone"}, "checkpoints[0].confirmed"),
        ("checks.process.required", ["renew_lone"], "checks.process.required[0]"),
        ("checks.process.forbidden", ["renew_lone"], "checks.process.forbidden[0]"),
        ("checks.process.order", [["find_member", "renew_lone"]], "checks.process.order[0][1]"),
        ("checks.process.confirm_before.+", "renew_lone", "checks.process.confirm_before[1]"),
        (
            "checks.process.deadline",
            [{"call": "renew_lone", "before": "2026-03-15"}],
            "checks.process.deadline[0].call",
        ),
        ("veto", [{"call": "renew_lone"}], "veto[0].call"),
        ("veto", [{"unconfirmed": "renew_lone"}], "veto[0].unconfirmed"),
        ("veto", [{"foreign": "renew_lone"}], "veto[0].foreign"),
        ("events", [{"name": "e", "after": {"call": "renew_lone"}, "notice": "x"}], "events[0].after.call"),
        (
            "events",
            [{"name": "e", "at": "2026-03-15", "user": {"wants": [{"tool": "renew_lone"}]}}],
            "events[0].user.wants[0]",
        ),
        ("user.wants", [{"tool": "renew_lone"}], "user.wants[0]"),
        ("attacks", [{"name": "a", "vector": "notes.body", "goal": "renew_lone"}], "attacks[0].goal"),
        ("plan.subgoals", [{"name": "g", "tools": ["renew_lone"]}], "plan.subgoals[0].tools[0]"),
        ("plan.forbidden", ["renew_lone"], "plan.forbidden[0]"),
        ("gold.0.actions.3.name", "renew_lone", "gold[0].actions[3]"),
        ("recovery", {"timeout": [{"name": "renew_lone"}]}, "recovery.timeout[0]"),
        ("gold.0.actions.2.arguments.tool", "renew_lone", "gold[0].actions[2].arguments"),
    ],
)
def test_a_tool_that_does_not_exist_is_refused_wherever_it_is_named(
    path: str, value: Any, field: str, world: World
) -> None:
    assert refusal({path: value}, world) == f"{field}: {NO_TOOL}"


NAMES: list[tuple[Changes, str]] = [
    (
        {"id": "shop/renew-001"},
        "shop/renew-001: id: found 'shop/renew-001'; expected an id that starts with 'tiny/', the domain",
    ),
    (
        {"domain": {"member": "M1"}},
        "domain.member: found the unknown key 'member'; expected one of member_id "
        '(did you mean "member_id"?) (and 1 more)',
    ),
    (
        {"user.wants.0.arguments": {"loan": "L101"}},
        "user.wants[0].arguments: found the parameter 'loan', which renew_loan does not have; "
        'expected one of loan_id, days (did you mean "loan_id"?)',
    ),
    (
        {"user.wants.0.arguments": {"days": {"any_of": [14, 90]}}},
        "user.wants[0].arguments.days: found 90; expected what renew_loan takes: days must be in 7..28, got 90",
    ),
    (
        {"gold.0.actions.3.arguments.days": 90},
        "gold[0].actions[3].arguments.days: found 90; expected what renew_loan takes: days must be in 7..28, got 90",
    ),
    (
        {"gold.0.actions.2.arguments.arguments": {"day": 14}},
        "gold[0].actions[2].arguments.arguments: found the parameter 'day', which renew_loan does not have; "
        'expected one of loan_id, days (did you mean "days"?)',
    ),
    (
        {"gold.0.actions.3.arguments": {"days": 14}},
        "gold[0].actions[3].arguments: found no 'loan_id'; expected every parameter that renew_loan requires",
    ),
    (
        {"checks.process.own": ["loan"]},
        "checks.process.own[0]: found 'loan'; expected an argument whose owner a tool declares "
        '(did you mean "loan_id"?)',
    ),
    (
        {"gold.0.actions.1.as": "member"},
        "gold[0].actions[1].as: found the label 'member' twice; expected labels that are unique in a plan",
    ),
    (
        {"gold.0.actions.0.arguments.email": {"from": "look"}},
        "gold[0].actions[0].arguments.email: found a binding to 'look'; expected the label (as) of an earlier action",
    ),
    (
        {"gold.0.actions.1.arguments.member_id": {"from": "member", "pth": "$.id"}},
        'gold[0].actions[1].arguments.member_id: found {"from": "member", "pth": "$.id"}; '
        'expected what list_loans takes: member_id must be a string, got {"from": "member", "pth": "$.id"}',
    ),
    (
        {"gold.0.actions.5.arguments.answer": {"from": "member", "pth": "$.id"}},
        "gold[0].actions[5].arguments.answer: found the key 'pth' in a binding; expected from and path only "
        '(did you mean "path"?)',
    ),
    (
        {"gold.0.actions.4.arguments.message": {"sql": "SELECT name FROM loans"}},
        "gold[0].actions[4].arguments.message.sql: found SQL that SQLite refuses (no such table: loans); "
        "expected one SELECT over the tables of the world (a calculation sees no table)",
    ),
    (
        {"gold.0.actions.4.arguments.message": {"sql": "SELECT :a", "b": 1}},
        "gold[0].actions[4].arguments.message.sql: found no value for the parameter :a; expected it under params "
        "(a calculation sees no table)",
    ),
    (
        {"gold.0.actions.5.arguments.outcome": "refused"},
        "gold[0].actions[5]: found finish refused; expected an end that checks.end takes: finish done",
    ),
    (
        {"plan": {"subgoals": [{"name": "look"}, {"name": "renew"}], "order": [["look", "renw"]]}},
        "plan.order[0]: found the subgoal 'renw'; expected the name of a subgoal (did you mean \"renew\"?)",
    ),
    (
        {"initial_state.patch": {"loan": []}},
        "initial_state.patch: found the table 'loan'; expected a table of tiny (did you mean \"loans\"?)",
    ),
    (
        {"initial_state.patch": {"books": {"B1": {"titel": "x"}}}},
        "initial_state.patch.books.B1: found the column 'titel'; expected a column of books: book_id, title, copies "
        '(did you mean "title"?)',
    ),
    (
        {"initial_state.patch": {"books": [{"title": "x"}]}},
        "initial_state.patch.books[0]: found no 'book_id'; expected the primary key of books: book_id",
    ),
    (
        {"initial_state.patch": {"books": 3}},
        "initial_state.patch.books: found 3; expected a list of rows, or a mapping of key to row (null deletes)",
    ),
    (
        {"initial_state.patch": {"books": {"B1": 3}}},
        "initial_state.patch.books.B1: found 3; expected a row: a mapping of the columns of books",
    ),
    (
        {"events": [{"name": "e", "at": "2026-03-15", "do": {"loan": {}}}]},
        "events[0].do: found the table 'loan'; expected a table of tiny (did you mean \"loans\"?)",
    ),
    (
        {"checks.may_change.0": "loan[loan_id='L101'].due_on"},
        "checks.may_change[0].table: found the table 'loan'; expected a table of tiny (did you mean \"loans\"?)",
    ),
    (
        {"checks.may_change.0": "books[book_id='B1'].copys"},
        "checks.may_change[0].columns: found the column 'copys'; expected a column of books: book_id, title, copies "
        '(did you mean "copies"?)',
    ),
    (
        {"checks.may_change.0": "books[book='B1'].copies"},
        "checks.may_change[0].where: found the column 'book'; expected a column of books: book_id, title, copies "
        '(did you mean "book_id"?)',
    ),
]


@pytest.mark.parametrize(("changes", "message"), NAMES)
def test_a_name_or_literal_that_does_not_fit_the_domain_is_refused(
    changes: Changes, message: str, world: World
) -> None:
    assert refusal(changes, world) == message


STATE: list[tuple[Changes, str]] = [
    (
        {"checks.final_state.0.sql": "SELEC due_on"},
        "checks.final_state[0].sql: found 'SELEC due_on'; expected a SELECT: a check only reads",
    ),
    (
        {"checks.final_state.0.sql": "SELECT due_on FROM loan"},
        "checks.final_state[0].sql: found SQL that SQLite refuses (no such table: loan); "
        'expected one SELECT over the tables of the world (did you mean "loans"?)',
    ),
    (
        {"checkpoints.1.sql": "SELECT due_on FROM loans WHERE loan_id = :loan"},
        "checkpoints[1].sql: found no value for the parameter :loan; expected it under params",
    ),
    (
        {"veto": [{"sql": "SELECT 0", "params": {"a": 1}}]},
        "veto[0].sql: found the unused parameter 'a'; expected :a in the query, or no such parameter",
    ),
    (
        {"secrets": [{"sql": "SELECT random()"}]},
        "secrets[0].sql: found a query that uses the function random(); "
        "expected one that only reads, deterministically",
    ),
    (
        {"events": [{"name": "e", "when": {"sql": "DELETE FROM loans"}, "notice": "x"}]},
        "events[0].when.sql: found 'DELETE FROM loans'; expected a SELECT: a check only reads",
    ),
    (
        {"checks.final_state.0.params": {"a": [1]}},
        "checks.final_state[0].params.a: found [1]; expected a text, a number, a boolean or null",
    ),
    (
        {"checks.final_state.0.sql": "SELECT json_extract('{', '$')"},
        "checks.final_state[0].sql: found an error of SQLite: malformed JSON; "
        "expected a query that runs on the initial state",
    ),
    (
        {"checks.final_state.0.expect": "2026-03-20"},
        "checks.final_state[0]: found a check that already holds ('2026-03-20'); "
        "expected one that is false at the start, or holds: always",
    ),
    (
        {"checks.final_state.+": {"sql": "SELECT title FROM books", "expect": "Dune", "holds": "always"}},
        "checks.final_state[1].holds: found always, but 'Emma' at the start; "
        "expected a check that holds at the start ('Dune')",
    ),
    (
        {
            "initial_state.patch": {"loans": {"L101": {"due_on": "2026-04-03"}}},
            "checks.final_state.0": {"sql": "SELECT renewals FROM loans", "expect": 1, "type": "int"},
        },
        "checkpoints[1]: found a checkpoint that already holds; expected one that is false at the start",
    ),
    (
        {"veto": [{"sql": "SELECT count(*) FROM loans"}]},
        "veto[0]: found a state that is there already (3); expected one that is false at the start",
    ),
    (
        {"secrets": [{"sql": "SELECT name FROM members WHERE 0"}]},
        "secrets[0].sql: found no row at the start; expected a query that gives at least one value to keep",
    ),
    (
        {"initial_state.patch": {"loans": {"L9": {"due_on": "2026-04-03"}}}},
        "initial_state.patch: found rows that SQLite refuses: NOT NULL constraint failed: loans.member_id; "
        "expected rows that fit the schema",
    ),
    (
        {"events": [{"name": "e", "at": "2026-03-15", "do": {"books": {"B1": {"copies": -1}}}}]},
        "events[0].do: found rows that SQLite refuses: CHECK constraint failed: copies >= 0; "
        "expected rows that fit the schema",
    ),
    (
        {"checks.final_state.+": {"sql": "SELECT status FROM loans WHERE loan_id = 'L104'", "expect": "open"}},
        "checks.final_state[1].sql: found 'L104', a key that does not exist yet; "
        "expected a key of the initial state, or a row described by other columns",
    ),
    (
        {"checks.process.required": [{"name": "add_note", "arguments": {"loan_id": "L110"}}]},
        "checks.process.required[0].arguments.loan_id: found 'L110', a key that does not exist yet; "
        "expected a key of the initial state, or a row described by other columns",
    ),
    (
        {"checks.may_change.0": "books[book_id='B9'].copies"},
        "checks.may_change[0].where: found no row of books with {'book_id': 'B9'}; "
        "expected a row that exists at the start",
    ),
]


@pytest.mark.parametrize(("changes", "message"), STATE)
def test_sql_and_state_that_cannot_mean_what_they_say_are_refused(changes: Changes, message: str, world: World) -> None:
    assert refusal(changes, world) == message


GATES = "a final_state that does not hold yet, an answer, a said or text with must, a chain, or a required call"
SENSE: list[tuple[Changes, str]] = [
    (
        {"checks.final_state": [], "checks.said": []},
        f"checks: found nothing that must be reached beyond the end; expected {GATES}",
    ),
    (
        {"checks.final_state.0": {"sql": DUE, "expect": "2026-03-20", "holds": "always"}, "checks.said": []},
        f"checks: found nothing that must be reached beyond the end; expected {GATES}",
    ),
    (
        {
            "checks.end": {"hand_off": ["x"]},
            "checks.answer": DATE,
            "gold.0.actions.5": {"name": "hand_off", "arguments": {"reason": "x", "summary": "y"}},
            "gold.1.actions.4": {"name": "hand_off", "arguments": {"reason": "x", "summary": "y"}},
        },
        "checks.answer: found an answer where no finish is accepted; "
        "expected an outcome in checks.end, as finish carries the answer",
    ),
    (
        {"checks.said.+": {"only": True}},
        "checks.said[1]: found neither must nor must_not; expected one of them: it gates nothing",
    ),
    (
        {"checks.text": [{"sql": "SELECT body FROM notes"}]},
        "checks.text[0]: found neither must nor must_not; expected one of them: it gates nothing",
    ),
    (
        {"checks.process.confirm_before.+": "list_loans"},
        "checks.process.confirm_before[1]: found list_loans, which only reads; "
        "expected a tool that writes: it gates nothing",
    ),
    (
        {"checks.process.order": [["list_loans", "list_loans"]]},
        "checks.process.order[0]: found list_loans before itself; expected two different calls",
    ),
    (
        {"veto": [{"unconfirmed": "list_loans"}]},
        "veto[0].unconfirmed: found list_loans, which only reads; expected a tool that writes",
    ),
    (
        {"veto": [{"foreign": "lend_book"}]},
        "veto[0].foreign: found lend_book, which names nothing owned; expected a tool with owners",
    ),
    (
        {"checks.may_change.+": "loans[loan_id='L101'].due_on"},
        "checks.may_change[2]: found the same as checks.may_change[0]; expected each entry once",
    ),
    (
        {"veto": [{"call": "lend_book"}, {"call": "lend_book", "name": "other"}]},
        "veto[1]: found the same as veto[0]; expected each entry once",
    ),
    (
        {"gold.1.actions": renewal("tiny/x", 14)["gold"][0]["actions"]},
        "gold[1]: found the same as gold[0]; expected each entry once",
    ),
    (
        {"checks.final_state.+": {"sql": f"{DUE} ", "expect": "2026-04-04", "type": "date"}},
        "checks.final_state[1].expect: found '2026-04-04' where checks.final_state[0] expects '2026-04-03'; "
        "expected one value for one query",
    ),
    (
        {"checks.said.+": {"must_not": [LATER, DATE]}},
        "checks.said[1].must_not[1]: found date '2026-04-03', which is also in must of checks.said[0]; "
        "expected a value in one of the two",
    ),
    (
        {"checks.text": [{"sql": "SELECT body FROM notes", "must": [DATE], "must_not": [DATE]}]},
        "checks.text[0].must_not[0]: found date '2026-04-03', which is also in must of checks.text[0]; "
        "expected a value in one of the two",
    ),
    (
        {
            "checks.process.required": [{"name": "lend_book", "arguments": {"book_id": "B1"}}],
            "checks.process.forbidden": ["lend_book"],
        },
        "checks.process.required[0]: found lend_book, which checks.process.forbidden[0] forbids; "
        "expected a call that is allowed",
    ),
    (
        {"checks.process.deadline": [{"call": "lend_book", "before": "2026-03-15"}], "veto": [{"call": "lend_book"}]},
        "checks.process.deadline[0].call: found lend_book, which veto[0] forbids; expected a call that is allowed",
    ),
    (
        {"events": [{"name": "e", "at": "2026-03-14T09:29:59Z", "notice": "x"}]},
        "events[0].at: found 2026-03-14T09:29:59Z; expected a time not before now, 2026-03-14T09:30:00Z",
    ),
    (
        {"checks.process.deadline": [{"call": "renew_loan", "before": "2026-03-14T09:30:00Z"}]},
        "checks.process.deadline[0].before: found 2026-03-14T09:30:00Z; "
        "expected a time after now, 2026-03-14T09:30:00Z",
    ),
    (
        {"checks.may_change.+": NEW_NOTE},
        "checks.may_change[2]: found the free text notes.body, which no check reads; "
        "expected an entry in checks.text whose sql reads notes",
    ),
    (
        {"gold.0.actions.3.arguments.loan_id": "L101"},
        "gold[0].actions[3].arguments.loan_id: found the literal 'L101', which nobody tells; "
        "expected a binding to where it is looked up, or it in given",
    ),
]


@pytest.mark.parametrize(("changes", "message"), SENSE)
def test_checks_that_gate_nothing_stand_twice_or_contradict_are_refused(
    changes: Changes, message: str, world: World
) -> None:
    assert refusal(changes, world) == message


@pytest.mark.parametrize(
    "changes",
    [
        {"checks.may_change.+": NEW_NOTE, "checks.text": [{"sql": "SELECT body FROM notes", "must_not": [LATER]}]},
        {"checks.may_change.+": {**NEW_NOTE, "where": {"loan_id": "L101", "body": "renewed"}}},
        {"gold.0.actions.3.arguments.loan_id": "L101", "given": ["L101"]},
        {"veto": [{"call": "renew_loan", "arguments": {"days": 28}}], "checks.process.required": ["renew_loan"]},
        {"checks.process.order": [["find_member", "renew_loan"]]},
        {
            "initial_state.patch": {"loans": [{"loan_id": "L110", "member_id": "M2", "book_id": "B1", "due_on": "x"}]},
            "veto": [{"call": "renew_loan", "arguments": {"loan_id": "L110"}}],
        },
        {"events": [{"name": "e", "at": "2026-03-15", "do": {"books": {"B9": {"title": "x", "copies": 1}}}}]},
        {"checks.final_state.+": {"sql": TOLD, "expect": None, "type": "null"}},
    ],
)
def test_what_makes_sense_is_not_refused(changes: Changes, world: World) -> None:
    lint(build(changed(changes)), TINY, world)


def test_the_tables_that_a_query_reads_are_found_through_joins_subqueries_and_names(world: World) -> None:
    query = (
        "WITH late AS (SELECT book_id FROM loans WHERE due_on < :day) SELECT count(*) FROM late, json_each('[1]') "
        "WHERE EXISTS (SELECT 1 FROM members) -- books"
    )
    assert tables_read(world.connection, query, {"day": "2026-03-17"}) == {"loans", "members"}
    assert tables_read(world.connection, "SELECT count(*) FROM books") == {"books"}
    assert checker(world.connection) is checker(world.connection)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT ?", "found a parameter without a name; expected :name instead of ?"),
        (
            "SELECT * FROM _changes",
            "found a query that uses the table _changes; expected one that only reads, deterministically",
        ),
        (
            "SELECT * FROM pragma_table_info('loans')",
            "found a query that uses a table function other than json_each and json_tree; "
            "expected one that only reads, deterministically",
        ),
        (
            "WITH x AS (SELECT 1) DELETE FROM loans",
            "found a query that uses delete loans; expected one that only reads, deterministically",
        ),
        ("SELECT date('now')", "found a query that reads the wall clock; expected the time as a parameter"),
        (
            "SELECT 1; SELECT 2",
            "found SQL that SQLite refuses (You can only execute one statement at a time.); "
            "expected one SELECT over the tables of the world",
        ),
        ("PRAGMA user_version", "found 'PRAGMA user_version'; expected a SELECT: a check only reads"),
    ],
)
def test_a_query_that_is_no_pure_select_is_refused(sql: str, message: str, world: World) -> None:
    with pytest.raises(QueryError) as caught:
        tables_read(world.connection, sql)
    assert str(caught.value) == message


def test_a_time_given_as_now_is_the_wall_clock(world: World) -> None:
    sql = "SELECT date(:day)"
    assert tables_read(world.connection, sql, {"day": "2026-03-14"}) == frozenset()
    with pytest.raises(
        QueryError, match=r"^found a query that reads the wall clock; expected the time as a parameter$"
    ):
        tables_read(world.connection, sql, {"day": " NOW "})


@pytest.mark.parametrize("opening", ["", " \n"])
def test_a_user_who_says_nothing_is_refused(world: World, opening: str) -> None:
    text = refusal({"user.opening": opening}, world)
    assert text == "user.opening: found no text; expected the user's first message: it is all that the agent is told"
