"""A lending desk of three tables: the smallest real domain, for the tests of the core."""

import importlib
import sqlite3
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

from agentgym.domain import Domain
from agentgym.loading import build as build_scenario
from agentgym.scenario import Scenario, VetoRule
from agentgym.snapshot import build_file, expected_hash
from agentgym.tools import Length, Pattern, Range, ToolError, tool
from agentgym.world import World

FOLDER = Path(__file__).parent / "tiny"
LoanId = Annotated[str, Pattern(r"L\d+", "L101")]
_OWNER = "SELECT member_id FROM loans WHERE loan_id = :value"


@tool(latency_ms=100)
def find_member(world: World, email: str) -> dict[str, Any]:
    """Find a member by e-mail address.

    Args:
        email: the address, e.g. "ada@example.org"
    """
    row = world.row("SELECT member_id, name, fines_minor FROM members WHERE email = ?", email)
    if row is None:
        raise ToolError(f"no member has the address {email!r}; ask for the one on the card")
    return row


@tool(latency_ms=200, owners={"member_id": "SELECT :value"})
def list_loans(world: World, member_id: str) -> dict[str, Any]:
    """List the open loans of a member.

    Args:
        member_id: the member, e.g. "M1"
    """
    return {"loans": _loans(world, "loans.member_id = ?", member_id)}


@tool(latency_ms=300)
def loans_by_email(world: World, email: str, title: str | None = None) -> dict[str, Any]:
    """List the open loans under an e-mail address.

    Args:
        email: the address, e.g. "ada@example.org"
        title: only of the book with this title
    """
    where = "member_id = (SELECT member_id FROM members WHERE email = ?) AND coalesce(title = ?, 1)"
    return {"loans": _loans(world, where, email, title)}


@tool(writes=True, latency_ms=400, owners={"loan_id": _OWNER})
def renew_loan(world: World, loan_id: LoanId, days: Annotated[int, Range(7, 28)]) -> dict[str, Any]:
    """Renew a loan.

    Args:
        loan_id: the loan, e.g. "L101"
        days: by how many days, 7 to 28
    """
    loan = world.row("SELECT due_on, status FROM loans WHERE loan_id = ?", loan_id)
    if loan is None or loan["status"] != "open":
        raise ToolError(f"{loan_id} is no open loan; see list_loans")
    world.execute(
        "UPDATE loans SET due_on = date(due_on, ?), renewals = renewals + 1, updated_at = ? WHERE loan_id = ?",
        f"+{days} days",
        world.now,
        loan_id,
    )
    return {"loan_id": loan_id, "due_on": world.value("SELECT due_on FROM loans WHERE loan_id = ?", loan_id)}


@tool(writes=True, latency_ms=400, idempotency="request_key")
def lend_book(world: World, member_id: str, book_id: str, request_key: str | None = None) -> dict[str, Any]:
    """Lend a book to a member for 28 days.

    Args:
        member_id: the member, e.g. "M1"
        book_id: the book, e.g. "B1"
        request_key: any text; a repeated key returns the first result
    """
    if not world.value("SELECT copies FROM books WHERE book_id = ?", book_id):
        raise ToolError(f"no copy of {book_id} is in; offer another book")
    loan_id = world.next_id("L")
    world.execute("UPDATE books SET copies = copies - 1 WHERE book_id = ?", book_id)
    due_on = world.value("SELECT date(?, '+28 days')", world.now[:10])
    world.insert("loans", {"loan_id": loan_id, "member_id": member_id, "book_id": book_id, "due_on": due_on})
    return {"loan_id": loan_id, "due_on": due_on}


@tool(writes=True, owners={"loan_id": _OWNER})
def add_note(world: World, loan_id: LoanId, body: Annotated[str, Length(1, 200)]) -> dict[str, Any]:
    """Write a note on a loan.

    Args:
        loan_id: the loan, e.g. "L101"
        body: the text, 1 to 200 characters
    """
    if world.value("SELECT 1 FROM loans WHERE loan_id = ?", loan_id) is None:
        raise ToolError(f"there is no loan {loan_id}; see list_loans")
    note_id = world.next_id("N")
    world.insert("notes", {"note_id": note_id, "loan_id": loan_id, "body": body})
    return {"note_id": note_id}


def _loans(world: World, where: str, *values: Any) -> list[dict[str, Any]]:
    return world.rows(
        "SELECT loan_id, title, due_on, renewals FROM loans JOIN books USING (book_id) "
        f"WHERE status = 'open' AND {where} ORDER BY loan_id",
        *values,
    )


def build(connection: sqlite3.Connection) -> None:
    """Fill the snapshot."""
    people = [("M1", "Ada Byron", "ada@example.org", 0), ("M2", "Bo Lind", "bo@example.org", 350)]
    books = [("B1", "Emma", 0), ("B2", "Dune", 2), ("B3", "Ivanhoe", 1)]
    loans = [
        ("L101", "M1", "B1", "2026-03-20", 0),
        ("L102", "M1", "B2", "2026-03-16", 2),
        ("L103", "M2", "B3", "2026-03-18", 1),
    ]
    connection.executemany("INSERT INTO members VALUES (?, ?, ?, ?)", people)
    connection.executemany("INSERT INTO books VALUES (?, ?, ?)", books)
    connection.executemany(
        "INSERT INTO loans (loan_id, member_id, book_id, due_on, renewals) VALUES (?, ?, ?, ?, ?)", loans
    )
    connection.executemany("INSERT INTO _counters VALUES (?, ?)", [("L", 103), ("N", 0)])


class Caller(BaseModel):
    """The ``domain`` section of a scenario."""

    model_config = ConfigDict(extra="forbid")
    member_id: str


def generate(seed: int, level: str | None) -> Scenario:
    """A renewal of L101 by 7 to 28 days, drawn from the seed."""
    return build_scenario(renewal(f"tiny/gen-{seed}", 7 + seed % 22) | {"level": level or "L1"})


def renewal(name: str, days: int) -> dict[str, Any]:
    """The data of a scenario in which Ada renews Emma (L101, due on 2026-03-20)."""
    due = "SELECT date('2026-03-20', '+' || :days || ' days')"
    with sqlite3.connect(":memory:") as connection:
        due_on = connection.execute(due, {"days": days}).fetchall()[0][0]
    connection.close()
    loan = {"from": "look", "path": "$.loans[0].loan_id"}
    rest = [
        {
            "name": "confirm_with_user",
            "arguments": {"tool": "renew_loan", "arguments": {"loan_id": loan, "days": days}},
        },
        {"name": "renew_loan", "as": "renewed", "arguments": {"loan_id": loan, "days": days}},
        {
            "name": "respond",
            "arguments": {
                "message": {"sql": "SELECT 'It is due on ' || :due", "due": {"from": "renewed", "path": "$.due_on"}}
            },
        },
        {"name": "finish", "arguments": {"outcome": "done"}},
    ]
    found = {"name": "find_member", "as": "member", "arguments": {"email": "ada@example.org"}}
    member = {"from": "member", "path": "$.member_id"}
    first = [found, {"name": "list_loans", "as": "look", "arguments": {"member_id": member}}]
    second = [{"name": "loans_by_email", "as": "look", "arguments": {"email": "ada@example.org", "title": "Emma"}}]
    return {
        "id": name,
        "family": "renewal",
        "now": "2026-03-14T09:30:00Z",
        "instruction": f"Renew Emma by {days} days.",
        "given": ["ada@example.org", "Emma", days],
        "domain": {"member_id": "M1"},
        "user": {
            "opening": f"Please renew Emma by {days} days. My address is ada@example.org.",
            "wants": [{"tool": "renew_loan", "arguments": {"loan_id": "L101", "days": days}}],
        },
        "checkpoints": [
            {"name": "looked_up", "called": [{"name": "list_loans"}, {"name": "loans_by_email"}]},
            {
                "name": "renewed",
                "sql": "SELECT due_on FROM loans WHERE loan_id = 'L101'",
                "expect": due_on,
                "type": "date",
            },
        ],
        "checks": {
            "final_state": [
                {"sql": "SELECT due_on FROM loans WHERE loan_id = 'L101'", "expect": due_on, "type": "date"},
            ],
            "may_change": ["loans[loan_id='L101'].due_on", "loans[loan_id='L101'].renewals"],
            "said": [{"must": [{"type": "date", "value": due_on}]}],
            "process": {"confirm_before": ["renew_loan"], "own": ["loan_id"]},
        },
        "gold": [
            {
                "plan": ["Find the member", "List the loans", "Confirm", "Renew", "Tell the date"],
                "actions": first + rest,
            },
            {"plan": ["Find the loan by address", "Confirm", "Renew", "Tell the date"], "actions": second + rest},
        ],
    }


class _Tiny(Domain):
    @cached_property
    def snapshot(self) -> Path:
        """Built into a temporary folder: the tests' folder is no package of the distribution."""
        target = Path(tempfile.gettempdir()) / f"agentgym-tiny-{expected_hash(self.folder)[:16]}.db"
        importlib.import_module("tiny_domain")
        build_file(self.folder, target, "tiny_domain")
        return target


TINY = _Tiny(
    name="tiny",
    folder=FOLDER,
    tools=(find_member, list_loans, loans_by_email, renew_loan, lend_book, add_note),
    scenario_model=Caller,
    generator=generate,
    vetoes=(
        VetoRule(name="unconfirmed_renewal", unconfirmed="renew_loan"),
        VetoRule(name="foreign_loan", foreign="renew_loan"),
    ),
    free_text=frozenset({"notes.body"}),
    volatile=frozenset({"loans.updated_at"}),
    caller="member_id",
    scenarios=FOLDER / "scenarios",
)
