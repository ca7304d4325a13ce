"""Seed data of the company: about 420 people at three offices over three years, the same bytes wherever it is built."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from agentgym.envs.hr import seed_hiring, seed_pay, seed_people, seed_time
from agentgym.envs.hr.seed import NOW, TABLES, Row, Seed

__all__ = ["NOW", "build"]


def build(connection: sqlite3.Connection) -> None:
    """Fill the tables of an empty database with the domain's schema and start the series of ids."""
    seed = Seed()
    seed_people.places(seed)
    people = seed_people.people(seed)
    seed_people.contracts(seed, people)
    seed_people.rights(seed, people)
    calendar = seed_time.Calendar(seed)
    seed_time.leave(seed, people, calendar)
    seed_time.corrections(seed, people, calendar)
    seed_time.attendance(seed, people, calendar)
    seed_pay.runs(seed)
    seed_pay.adjustments(seed, people)
    seed_hiring.hiring(seed, people)
    # A caller that every scenario replaces: the first person who leads nobody.
    leads = {row["manager_id"] for row in seed.rows["employees"]}
    nobody = next(p for p in people if p.id not in leads and p.row["status"] == "active")
    seed.add("session", id=1, employee_id=nobody.id, role="employee")
    seed.add("api_style", id=1, seed=0, level=0)
    seed.add("maintenance", id=1, ends=None)
    for table in TABLES:
        _write(connection, table, seed.rows[table])
    seed_pay.slips(connection)
    connection.executemany("INSERT INTO _counters VALUES (?, ?)", sorted(seed.last.items()))


def _write(connection: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    for row in rows:
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" for _ in row)
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))
