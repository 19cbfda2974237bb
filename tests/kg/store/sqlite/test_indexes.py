"""Facts are found by their ends through an index, in bases of any age."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from kg.ids import fact_id
from kg.store.open import open_store
from kg.store.sqlite import schema
from kg.store.sqlite.store import SqliteStore
from tests.contracts.readings import BYD, CATL, LITHIUM, fact, reading, reported
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.extended
def test_an_entity_of_a_hundred_thousand_facts_is_asked_whole_and_beside_others(tmp_path: Path):
    """What is asked of it with another end, or of that end alone, reads few of its facts (counted in SQLite steps)."""
    claims = [fact(CATL, "uses", f"product:料{number}") for number in range(100_000)]
    with closing(SqliteStore(tmp_path / "kb.liantu", create=True)) as store:
        with store.writer() as writer:
            for number in range(10):
                writer.write(reading(number, number, *claims[number * 10_000 : (number + 1) * 10_000]))
            writer.write(reading(99, 5, fact(BYD, "subsidiary_of", CATL), fact(CATL, "subsidiary_of", BYD)))
        view, connection, steps = store.view(), store._connections.reader(), [0]

        def spent(**wanted: Any) -> tuple[set[str], int]:
            steps[0] = 0
            return {found.id for found in view.facts(**wanted)}, steps[0]

        def count() -> None:
            steps[0] += 100

        connection.set_progress_handler(count, 100)
        parent, one = fact_id(fact(CATL, "subsidiary_of", BYD)), fact_id(claims[70_007])
        found, whole = spent(subject=CATL)
        assert found == {*map(fact_id, claims), parent}
        for wanted, expected in (
            ({"subject": CATL, "object": claims[70_007].object}, one),
            ({"object": claims[70_007].object}, one),
            ({"ids": [one]}, one),
            ({"subject": BYD}, fact_id(fact(BYD, "subsidiary_of", CATL))),
        ):
            found, few = spent(**wanted)
            assert found == {expected}
            assert few < whole / 1000
        with store.writer() as writer:
            writer.remove("doc:7")
        assert len(spent(subject=CATL)[0]) == 90_001
        assert spent(object=claims[70_007].object)[0] == set()


def test_a_writer_builds_indexes_that_an_earlier_version_left_out(tmp_path: Path):
    path = tmp_path / "killed.liantu"
    papers = [reading(1, 0, reported(20), fact(CATL, "uses", LITHIUM)), reading(2, 3, reported(22))]
    with closing(open_store(path, create=True)) as store, store.writer() as writer:
        writer.write(papers[0])
    with closing(sqlite3.connect(path)) as connection:
        for name in schema.INDEXES:
            connection.execute(f"DROP INDEX {name}")
    reference = MemoryStore()
    with closing(open_store(path)) as store:
        for each in (store, reference):
            with each.writer() as writer:
                for paper in papers:
                    writer.write(paper)
        assert list(store.view().facts()) == list(reference.view().facts())
        assert store.stats() == reference.stats()
    with closing(sqlite3.connect(path)) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type='index'")}
    assert names >= set(schema.INDEXES)
