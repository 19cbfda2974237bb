"""Every invariant of `liantu check` is broken by hand, and the check says which."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from kg.judgement import Judgement, Verdict
from kg.model import Community, Entity, Kind, Run
from kg.store.checks import Checkable
from kg.store.open import open_store
from kg.store.sqlite.store import SqliteStore
from tests.contracts.readings import BYD, CATL, LITHIUM, READ, day, denied, fact, reading, reported

if TYPE_CHECKING:
    from pathlib import Path


_STRAY = '["company","x",[],[],""]'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a base with some of everything."""
    base = tmp_path / "kb.liantu"
    other = Entity(BYD, Kind.COMPANY, "比亚迪")
    with closing(open_store(base, create=True)) as store, store.writer() as writer:
        writer.write(reading(1, 0, reported(20), fact(CATL, "uses", LITHIUM)))
        writer.write(reading(2, 3, reported(22), denied(fact(CATL, "uses", LITHIUM)), copies=(1,)))
        writer.write(reading(3, 4, fact(BYD, "uses", LITHIUM), entities=(other,), text="比亚迪的碳酸锂用量增长。"))
        writer.write(reading(4, 4, text="。"))
        writer.publish(Run("r1", day(5), communities=(Community("c1", 0, "", (CATL,)),)))
        merge = Judgement("", Verdict.MERGE, BYD, day(1), READ, CATL, by="张三", why="试")
        kept = writer.judge(merge)
        assert kept is not None
        later = READ + timedelta(days=1)
        writer.judge(replace(merge, verdict=Verdict.REVOKE, subject=kept.id, object="", recorded_at=later))
    return base


def broken(path: Path) -> set[str]:
    with closing(SqliteStore(path)) as store:
        return {breach.invariant for breach in store.breaches()}


def test_a_base_as_it_is_written_breaks_nothing(path: Path):
    assert broken(path) == set()
    with closing(SqliteStore(path)) as store:
        assert isinstance(store, Checkable)
        every = store.invariants()
        assert len({item.name for item in every}) == len(every) >= 15
        assert all(item.meaning.endswith(".") and "\n" not in item.meaning for item in every)
        with store.writer() as writer:
            for number in (1, 2, 3, 4):
                writer.remove(f"doc:{number}")
    assert broken(path) == set()


@pytest.mark.parametrize(
    ("invariant", "damage"),
    [
        ("references", "DELETE FROM document WHERE id = 'doc:1'"),
        ("references", "UPDATE fact SET object = 999"),
        ("revision", "UPDATE state SET revision = revision + 1"),
        ("revision", "INSERT INTO state VALUES (1, '')"),
        ("heads", "UPDATE document SET head = json_replace(head, '$[8]', json('[0, 9]'))"),
        ("passages", "UPDATE chunk SET record = replace(record, '碳酸锂', '锂')"),
        ("passages", "UPDATE chunk SET record = 'x' WHERE key = (SELECT min(key) FROM chunk)"),
        ("passages", "UPDATE chunk SET id = 'chunk:0' WHERE key = (SELECT min(key) FROM chunk)"),
        ("passages", "DELETE FROM body WHERE document = (SELECT min(key) FROM document)"),
        ("passage words", "DELETE FROM chunk WHERE key = (SELECT min(key) + 1 FROM chunk)"),
        ("passage words", "UPDATE chunk SET words = words + 1"),
        ("quotes", "UPDATE evidence SET quote = '别的话' WHERE place = 0"),
        ("quotes", "UPDATE evidence SET start = start + 1"),
        ("mentions", "UPDATE mention SET record = replace(record, '宁德时代', '宁德时候')"),
        ("mentions", "UPDATE mention SET entity = NULL"),
        ("mentions", "UPDATE mention SET chunk = (SELECT max(key) FROM chunk)"),
        ("uses", "UPDATE appearance SET profiles = '[]' WHERE document = (SELECT min(key) FROM document)"),
        ("fact ids", "UPDATE fact SET id = 'fact:0' WHERE key = (SELECT min(key) FROM fact)"),
        ("fact ids", "UPDATE fact SET negative = NOT negative"),
        ("fact ids", "INSERT INTO fact SELECT key + 99, id, subject, relation, object, negative, claim FROM fact"),
        ("fact ids", "UPDATE fact SET claim = replace(claim, '[20.0,', '[21.0,')"),
        ("fact ids", "UPDATE fact SET claim = '[]'"),
        ("ends", "INSERT INTO fact_end (rowid, ends) VALUES (99, '1 o2')"),
        ("ends", "INSERT INTO fact_end (fact_end) VALUES ('delete-all')"),
        ("ends", "INSERT INTO fact_end (fact_end, rowid, ends) SELECT 'delete', key, subject FROM fact LIMIT 1"),
        ("ends", "UPDATE fact SET subject = object, object = subject WHERE key = 1"),
        ("said", "DELETE FROM evidence WHERE fact = (SELECT min(fact) FROM evidence)"),
        ("described", "INSERT INTO entity (id) VALUES ('product:无')"),
        ("described", f"INSERT INTO profile (entity, implied, record) SELECT key, 1, '{_STRAY}' FROM entity"),  # noqa: S608
        ("described", "INSERT INTO appearing (rowid, profiles) VALUES (7, '1')"),
        ("described", "INSERT INTO appearing (appearing) VALUES ('delete-all')"),
        ("names", "DELETE FROM profile_name WHERE name = '宁德时代'"),
        ("names", "INSERT INTO profile_name VALUES ('x', (SELECT min(key) FROM profile), 'X', 0)"),
        ("index", "INSERT INTO word (rowid, terms) VALUES (7, 'stray')"),
        ("index", "INSERT INTO word (word) VALUES ('delete-all')"),
        ("judgements", "UPDATE judgement SET day = day + 1"),
        ("judgements", "UPDATE judgement SET record = replace(record, '张三', '李四')"),
        ("judgements", "DELETE FROM judgement WHERE record LIKE '%merge%'"),
        ("weeks", "UPDATE run SET as_of = '2020-01-01'"),
        ("weeks", "UPDATE run SET record = replace(record, 'sec:300750.SZ', '')"),
        ("weeks", "UPDATE run SET record = '{'"),
    ],
)  # fmt: skip
def test_what_is_broken_is_reported(path: Path, invariant: str, damage: str):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    if damage.endswith("'')"):  # a community whose one member has no name is still one member
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE run SET record = replace(record, '[\"\"]', '[]')")
            connection.commit()
    assert invariant in broken(path)


def test_words_that_changed_places_are_reported(path: Path):
    """As many words as before, but others."""
    with closing(sqlite3.connect(path)) as connection:
        (terms,) = connection.execute("SELECT terms FROM body ORDER BY document").fetchone()
        other = zlib.decompress(terms).decode().replace("碳酸", "石墨").encode()
        connection.execute(
            "UPDATE body SET terms = ? WHERE document = (SELECT min(key) FROM document)", (zlib.compress(other),)
        )
        connection.commit()
    assert broken(path) == {"index"}


@pytest.mark.parametrize("table", ["evidence", "chunk", "fact_id", "judgement"])
def test_a_damaged_page_is_reported_and_nothing_else_is_looked_at(path: Path, table: str):
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size + 8 : root * size] = b"\xa5" * (size - 8)
    path.write_bytes(content)
    assert {"pages"} <= broken(path) <= {"pages", "references"}


def test_a_check_tells_of_a_hundred_at_most(path: Path):
    with closing(open_store(path)) as store, store.writer() as writer:
        for number in range(10, 130):
            writer.write(reading(number, 5, reported(number)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE evidence SET quote = '别的话'")
        connection.commit()
    with closing(SqliteStore(path)) as store:
        assert [breach.invariant for breach in store.breaches()].count("quotes") == 100


def test_an_entity_that_nothing_names_is_reported(path: Path):
    with closing(open_store(path)) as store, store.writer() as writer:
        orphan = Entity("business:影响", Kind.BUSINESS, "影响")
        writer.write(reading(9, 6, fact(BYD, "uses", LITHIUM), entities=(orphan,), text="比亚迪的碳酸锂用量下降。"))
    assert broken(path) == {"used"}
