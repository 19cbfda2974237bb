"""Bases of earlier schemas: what each step makes of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from kg.interop.dumping import dump
from kg.judgement import Judgement, Verdict
from kg.model import Community, Entity, Kind, Run, ValueClass
from kg.store.sqlite.schema import STEPS, VERSION_5, VERSION_6, VERSION_7, VERSION_10, VERSION_11, VERSION_12, migrate
from kg.store.sqlite.store import SqliteStore
from tests.contracts.readings import BYD, CATL, LITHIUM, READ, day, fact, reading
from tests.crash.works import BEFORE_8, BEFORE_9, BEFORE_11, BEFORE_13

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_of_the_first_schema_is_read_with_what_it_could_not_tell_left_empty(tmp_path: Path):
    path = tmp_path / "old.liantu"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, path, STEPS[:1])
        record = '["r1","2025-12-26",{},{"modularity":0.5},[["c1",0,"",["a","b"],null],["c2",0,"",["c"],null]]]'
        connection.execute("INSERT INTO run VALUES (1, 'r1', '2025-12-26', ?)", (record,))
    with closing(SqliteStore(path)) as store:
        (run,) = store.view().runs()
    assert run.communities == (Community("c1", 0, "", ("a", "b")), Community("c2", 0, "", ("c",)))
    assert run.events == ()


def test_a_passage_of_a_schema_without_classes_is_plain(tmp_path: Path):
    path = tmp_path / "old.liantu"
    with closing(SqliteStore(path, create=True)) as store, store.writer() as writer:
        writer.write(reading(1, 0))
        (first, second) = store.view().chunks("doc:1")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(BEFORE_11 + BEFORE_9 + BEFORE_8)
        connection.execute("UPDATE chunk SET record = json_remove(record, '$[9]')")
        connection.execute(f"PRAGMA user_version = {STEPS.index(VERSION_5)}")
    with closing(SqliteStore(path)) as store:
        kept = store.view().chunks("doc:1")
    assert [chunk.value_class for chunk in (first, second)] == [ValueClass.CAUSAL, ValueClass.REPEATED]
    assert kept == [replace(chunk, value_class=ValueClass.PLAIN) for chunk in (first, second)]


def test_facts_and_mentions_of_a_schema_that_indexed_each_by_itself_are_kept(tmp_path: Path):
    """The sixth schema's own tables, filled with what today's hold, take the last step."""
    path, now = tmp_path / "old.liantu", tmp_path / "now.liantu"
    with closing(SqliteStore(now, create=True)) as store, store.writer() as writer:
        for number in range(4):
            writer.write(reading(number, number))
        held = list(store.view().facts()), store.view().chunks_mentioning(CATL, 9)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, path, STEPS[: STEPS.index(VERSION_7)])
        connection.execute("ATTACH ? AS now", (str(now),))
        for table in (
            *("entity", "document", "body", "chunk", "mention", "profile", "profile_name", "fact"),
            *("evidence", "change"),
        ):
            connection.execute(f"INSERT INTO {table} SELECT * FROM now.{table}")  # noqa: S608 - ours
        connection.execute(
            "INSERT INTO appearance SELECT a.value, document FROM now.appearance, json_each(profiles) AS a"
        )
        connection.execute("UPDATE state SET revision = (SELECT revision FROM now.state)")
    with closing(SqliteStore(path)) as store:
        kept = list(store.view().facts()), store.view().chunks_mentioning(CATL, 9)
        breaches = {breach.invariant for breach in store.breaches()}
        with store.writer() as writer:
            assert not writer.write(reading(1, 1))
    assert kept == held
    assert breaches == {"index"}  # the word index was not copied
    with closing(sqlite3.connect(path)) as connection, closing(sqlite3.connect(now)) as other:
        tables = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'word%' ORDER BY name"
        assert connection.execute(tables).fetchall() == other.execute(tables).fetchall()


def test_heads_of_a_schema_where_only_bodies_had_pages_get_them_too(tmp_path: Path):
    path = tmp_path / "old.liantu"
    paged, plain = reading(1, 0), reading(2, 0)
    paged = replace(paged, document=replace(paged.document, title='报告"甲"', pages=(0, 7, 15)))
    with closing(SqliteStore(path, create=True)) as store, store.writer() as writer:
        for item in (paged, plain):
            writer.write(item)
        heads = list(store.view().documents())
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(BEFORE_11)
        connection.execute("UPDATE document SET head = json_remove(head, '$[8]')")
        connection.execute(f"PRAGMA user_version = {STEPS.index(VERSION_10)}")
    with closing(SqliteStore(path)) as store:
        assert list(store.view().documents()) == heads
        assert [head.pages for head in heads] == [(0, 7, 15), ()]
        assert store.view().document("doc:1") == paged.document
        assert not list(store.breaches())


def test_a_run_of_a_schema_without_instants_is_seen_by_every_view_and_the_next_one_from_its_own_on(tmp_path: Path):
    path = tmp_path / "old.liantu"
    first, second = Run("r1", day(1)), Run("r2", day(8), recorded_at=READ)
    with closing(SqliteStore(path, create=True)) as store, store.writer() as writer:
        writer.publish(replace(first, recorded_at=READ))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(BEFORE_11)
        connection.execute(f"PRAGMA user_version = {STEPS.index(VERSION_11)}")
    with closing(SqliteStore(path)) as store:
        with store.writer() as writer:
            writer.publish(second)
        assert list(store.view().runs()) == [first, second]
        assert list(store.view(known_at=READ - timedelta(days=9)).runs()) == [first]
        assert not list(store.breaches())


def test_names_of_a_schema_that_kept_traditional_characters_apart_are_folded_anew(tmp_path: Path):
    path = tmp_path / "old.liantu"
    with closing(SqliteStore(path, create=True)) as store, store.writer() as writer:
        writer.write(reading(1, 0))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(BEFORE_11 + BEFORE_9 + BEFORE_8)
        connection.execute("UPDATE profile_name SET folded = '寧德時代', name = '寧德時代' WHERE folded = '宁德时代'")
        connection.execute(f"PRAGMA user_version = {STEPS.index(VERSION_6)}")
    with closing(SqliteStore(path)) as store:
        assert [entity.id for entity in store.view().named("宁德时代")] == [CATL]


def test_entities_that_nothing_names_are_removed_from_a_base_of_an_earlier_schema(tmp_path: Path):
    """The owner of a used entity stays, as does what was judged; an owner of unused entities alone goes with them."""
    path, clean = tmp_path / "old.liantu", tmp_path / "clean.liantu"
    owner, owned = (
        Entity("region:青海", Kind.REGION, "青海"),
        Entity(LITHIUM, Kind.PRODUCT, "碳酸锂", about="region:青海"),
    )
    judged = Entity("product:废料", Kind.PRODUCT, "废料")
    merge = Judgement("", Verdict.MERGE, judged.id, day(9), READ, object=LITHIUM, by="读者", why="同一种")
    unused_owner = Entity("region:影响", Kind.REGION, "影响")
    unused = Entity("business:公司", Kind.BUSINESS, "公司", about="region:影响")
    claim, text = fact(BYD, "uses", LITHIUM), "比亚迪的碳酸锂用量下降。"
    for file, extra in ((path, (unused, unused_owner)), (clean, ())):
        with closing(SqliteStore(file, create=True)) as store, store.writer() as writer:
            writer.write(reading(1, 0))
            writer.write(reading(9, 6, claim, entities=(owned, owner, judged, *extra), text=text))
            writer.judge(merge)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (revision,) = connection.execute("SELECT revision FROM state").fetchone()
        connection.executescript(BEFORE_13)
        connection.execute(f"PRAGMA user_version = {STEPS.index(VERSION_12)}")
    with closing(SqliteStore(path)) as store, closing(SqliteStore(clean)) as other:
        assert not list(store.breaches())
        assert list(dump(store)) == list(dump(other))
        assert not store.view().named("影响")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT revision FROM state").fetchone() == (revision + 1,)  # compiled graphs follow
