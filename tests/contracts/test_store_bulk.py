"""Many rows at once: every store ends up as if each sheet had been written by itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from kg.ids import fact_id
from kg.model import Document, Entity, Fact, Kind, Polarity, Value
from kg.period import quarter
from kg.store import codec
from kg.store.bulk.row_batch import ClaimRow, RowBatch, RowColumns, load
from kg.store.memory import MemoryStore
from kg.store.open import open_store
from kg.store.sqlite import bulk as sqlite_bulk
from kg.store.sqlite import schema
from kg.store.sqlite.store import SqliteStore
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, READ, day, fact, reading, reported

if TYPE_CHECKING:
    from pathlib import Path

    from kg.store.port import Store


def sheet(number: int, published: int, *claims: Fact, entities: tuple[Entity, ...] = ()) -> RowBatch:
    lines = [f"{claim.subject} {claim.relation} {claim.object} {number}" for claim in claims]
    rows, start = [], 0
    for line, claim in zip(lines, claims, strict=True):
        negative = claim.polarity is Polarity.NEGATIVE
        ends = (claim.subject, claim.relation, claim.object)
        rows.append(
            ClaimRow(
                fact_id(claim), *ends, negative, codec.claim_out(claim), start, start + len(line), f"源{number}", 0.5
            )
        )
        start += len(line) + 1
    document = Document(f"doc:{number}", f"表{number}", day(published), "\n".join(lines), kind="graph")
    return RowBatch(document, entities, RowColumns.of(rows), READ, "t/1")


SHEETS = (
    sheet(1, 0, reported(20), fact(CATL, "uses", LITHIUM), reported(20)),
    sheet(2, 3, reported(22), fact(BYD, "uses", LITHIUM, polarity=Polarity.NEGATIVE), entities=(
        Entity(BYD, Kind.COMPANY, "比亚迪", codes=("002594.SZ",)),
        Entity("indicator:碳酸锂价格", Kind.INDICATOR, "碳酸锂价格", about=LITHIUM),
    )),
    sheet(3, 1, fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="亿")),
          fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="万")), reported(22, valid=quarter(2024, 1))),
    sheet(4, 1, fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="万"))),
)  # fmt: skip


def seen(store: Store) -> dict[str, object]:
    view = store.view()
    return {
        "facts": list(view.facts()),
        "early": list(store.view(as_of=day(1)).facts()),
        "entities": list(view.entities()),
        "names": list(view.names()),
        "named": view.named("比亚迪"),
        "documents": [view.document(head.id) for head in view.documents()],
        "stats": store.stats(),
    }


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_sheets_loaded_are_sheets_written(store: Store, monkeypatch: pytest.MonkeyPatch, at_once: int):
    monkeypatch.setattr(sqlite_bulk, "ROWS_AT_ONCE", at_once)
    reference = MemoryStore()
    with reference.writer() as writer:
        assert all(writer.write(item.reading()) for item in SHEETS)
    with store.writer() as writer:
        assert list(load(writer, SHEETS)) == [(item, True) for item in SHEETS]
    assert seen(store) == seen(reference)
    with store.writer() as writer:
        assert list(load(writer, SHEETS)) == [(item, False) for item in SHEETS]
    assert seen(store) == seen(reference)


def test_a_transaction_that_states_nothing_new_is_followed_by_others(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_bulk, "ROWS_AT_ONCE", 1)
    sheets = (SHEETS[0], sheet(7, 1, reported(20), fact(CATL, "uses", LITHIUM)), sheet(8, 2), *SHEETS[1:])
    reference = MemoryStore()
    with reference.writer() as writer:
        assert all(writer.write(item.reading()) for item in sheets)
    with store.writer() as writer:
        assert list(load(writer, sheets)) == [(item, True) for item in sheets]
    assert seen(store) == seen(reference)


def test_loading_beside_what_is_there_and_removing_again(store: Store):
    with store.writer() as writer:
        writer.write(reading(9, 2, reported(20), fact(CATL, "uses", LITHIUM)))
    before = seen(store)
    with store.writer() as writer:
        list(load(writer, SHEETS))
        for item in SHEETS:
            assert writer.remove(item.document.id)
    assert seen(store) == before


def test_an_empty_base_gets_its_indexes_back(tmp_path: object):
    for name, sheets in (("a", SHEETS), ("b", ())):
        store = open_store(f"{tmp_path}/{name}.liantu", create=True)
        with store.writer() as writer:
            list(load(writer, sheets))
            names = {row[0] for row in writer._connection.execute("SELECT name FROM sqlite_schema WHERE type='index'")}  # type: ignore[attr-defined]
        store.close()
        assert names >= set(schema.INDEXES)
        assert len(schema.INDEXES) >= 4


@pytest.mark.extended
def test_an_entity_of_a_hundred_thousand_facts_is_asked_whole_and_beside_others(tmp_path: Path):
    """What is asked of it with another end, or of that end alone, reads few of its facts (counted in SQLite steps)."""
    claims = [fact(CATL, "uses", f"product:料{number}") for number in range(100_000)]
    papers = [sheet(number, number, *claims[number * 10_000 : (number + 1) * 10_000]) for number in range(10)]
    with closing(SqliteStore(tmp_path / "kb.liantu", create=True)) as store:
        with store.writer() as writer:
            list(load(writer, papers))
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


def test_a_writer_builds_what_a_killed_load_left_out(tmp_path: Path):
    path = tmp_path / "killed.liantu"
    with closing(open_store(path, create=True)) as store, store.writer() as writer:
        list(load(writer, SHEETS[:2]))
    with closing(sqlite3.connect(path)) as connection:
        for name in schema.INDEXES:
            connection.execute(f"DROP INDEX {name}")
    with closing(open_store(path)) as store, store.writer() as writer:
        for item in SHEETS:
            writer.write(item.reading())
        reference = MemoryStore()
        with reference.writer() as other:
            assert all(other.write(item.reading()) for item in SHEETS)
        assert seen(store) == seen(reference)
    with closing(sqlite3.connect(path)) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type='index'")}
    assert names >= set(schema.INDEXES)


def test_what_is_written_between_two_loads_of_one_run_is_known(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_bulk, "ROWS_AT_ONCE", 1)
    between = reading(9, 2, reported(22, valid=quarter(2024, 1)), fact(CATL, "uses", LITHIUM))
    reference = MemoryStore()
    for each in (store, reference):
        with each.writer() as writer:
            for number, _ in enumerate(load(writer, SHEETS)):
                if number == 1:
                    writer.write(between)
    assert seen(store) == seen(reference)
