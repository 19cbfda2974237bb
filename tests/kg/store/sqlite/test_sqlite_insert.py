"""Rows by columns, several by each statement."""

from __future__ import annotations

import sqlite3

import pytest

from kg.store.sqlite.bulk import ROWS_OF_A_STATEMENT, insert_columns


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.execute('CREATE TABLE row (key INTEGER PRIMARY KEY, "end" TEXT UNIQUE, kind TEXT)')
    return made


@pytest.mark.parametrize("count", [0, 1, ROWS_OF_A_STATEMENT - 1, ROWS_OF_A_STATEMENT, 3 * ROWS_OF_A_STATEMENT + 2])
def test_every_row_is_there_once_and_in_order(connection: sqlite3.Connection, count: int):
    columns = {"end": (f"n{number}" for number in range(count)), "key": range(5, 5 + count)}
    assert insert_columns(connection, "row", columns, count=count, shared={"kind": "a"}) == count
    rows = connection.execute("SELECT * FROM row").fetchall()
    assert rows == [(5 + number, f"n{number}", "a") for number in range(count)]


def test_what_is_there_is_passed_over_or_refused(connection: sqlite3.Connection):
    count = 2 * ROWS_OF_A_STATEMENT
    ends = [f"n{number}" for number in range(count)]
    insert_columns(connection, "row", {"end": ends[3:5]}, count=2)
    assert insert_columns(connection, "row", {"end": ends}, count=count, passing_over=True) == count - 2
    with pytest.raises(sqlite3.IntegrityError):
        insert_columns(connection, "row", {"end": ends}, count=count)
