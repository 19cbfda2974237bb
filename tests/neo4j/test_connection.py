"""A line that drops in mid-write leaves whole documents, a second run completes them; passwords are never stated."""

from __future__ import annotations

import json
import tempfile
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kg.errors import SettingsError, StoreLocked, StoreMissing, StoreUnusable
from kg.judgement import Judgement, Verdict
from kg.model import Run
from kg.service.base import KnowledgeBase
from kg.settings import load
from kg.store.neo4j import connection as neo4j_connection
from kg.store.neo4j.connection import Moment
from kg.store.neo4j.schema import VERSION
from kg.store.neo4j.statements import RUNS_OF, WRITTEN
from kg.store.open import open_store
from tests.contracts.readings import CATL, LITHIUM, READ, day, fact, reading, reported
from tests.contracts.reference import MemoryStore
from tests.neo4j.proxy import Proxy
from tests.neo4j.server import PASSWORD, emptied

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.store.port import Store, View
    from tests.neo4j.server import Server

pytestmark = pytest.mark.neo4j

READINGS = tuple(
    reading(number, number, reported(number), fact(CATL, "uses", LITHIUM), fact(CATL, "uses", f"product:料{number}"))
    for number in range(12)
)
MERGED = Judgement("", Verdict.MERGE, "product:料0", day(1), READ, object="product:料1", by="a", why="b")


@pytest.fixture
def store(neo4j_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(neo4j_connection, "RETRY_SECONDS", 1.0)
    yield from emptied(neo4j_server, monkeypatch)


def stated(view: View) -> list[object]:
    heads = list(view.documents())
    texts = [(view.document(head.id), view.chunks(head.id), view.mentions(head.id)) for head in heads]
    return [heads, texts, list(view.facts()), list(view.entities()), list(view.names()), view.search("碳酸锂", 9)]


def write_all(url: str) -> None:
    with closing(open_store(url)) as store, store.writer() as writer:
        for item in READINGS:
            writer.write(item)


def reference(ids: set[str]) -> MemoryStore:
    store = MemoryStore()
    with store.writer() as writer:
        for item in READINGS:
            if item.document.id in ids:
                writer.write(item)
    return store


@pytest.mark.parametrize("allowed", [4_000, 9_000, 17_000, 26_000, 31_000, 47_000])
def test_a_line_cut_in_mid_write_leaves_whole_documents(neo4j_server: Server, store: Store, allowed: int):
    with Proxy(neo4j_server.port, allowed, once=False) as proxy:
        url = f"bolt://127.0.0.1:{proxy.port}"
        with pytest.raises(StoreUnusable, match="no answer, or the line dropped"):
            write_all(url)
        assert proxy.was_cut
    written = {head.id for head in store.view().documents()}
    assert len(written) < len(READINGS)
    assert stated(store.view()) == stated(reference(written).view())
    with store.writer() as writer:
        for item in READINGS:
            assert writer.write(item) is (item.document.id not in written)
    whole = reference({item.document.id for item in READINGS})
    assert stated(store.view()) == stated(whole.view())
    assert store.stats() == whole.stats()


def test_a_line_that_comes_back_is_used_again(neo4j_server: Server, store: Store):
    with (
        Proxy(neo4j_server.port, 30_000, once=True) as proxy,
        closing(open_store(f"bolt://127.0.0.1:{proxy.port}")) as shaky,
        shaky.writer() as writer,
    ):
        assert [writer.write(item) for item in READINGS] == [True] * len(READINGS)
        assert proxy.was_cut
    whole = reference({item.document.id for item in READINGS})
    assert stated(store.view()) == stated(whole.view())
    assert store.stats() == whole.stats()


def test_a_removal_cut_in_the_middle_removes_all_or_nothing(neo4j_server: Server, store: Store):
    with store.writer() as writer:
        for item in READINGS:
            writer.write(item)
    with (
        Proxy(neo4j_server.port, 9_000, once=False) as proxy,
        suppress(StoreUnusable),
        closing(open_store(f"bolt://127.0.0.1:{proxy.port}")) as cut,
        cut.writer() as writer,
    ):
        for item in READINGS:
            writer.remove(item.document.id)
    left = {head.id for head in store.view().documents()}
    assert stated(store.view()) == stated(reference(left).view())
    with store.writer():
        pass  # the next writer deletes what was hidden only
    assert store.stats() == reference(left).stats()
    assert neo4j_server.run("MATCH (d:Document) RETURN count(d)") == [[len(left)]]


def test_what_a_reader_still_sees_is_deleted_once_it_is_gone(neo4j_server: Server, store: Store):
    with store.writer() as writer:
        for item in READINGS[:3]:
            writer.write(item)
        with store.reader() as view, store._connection.pinned():  # type: ignore[attr-defined]
            before = stated(view)
            writer.remove("doc:1")
            assert stated(view) == before
            assert neo4j_server.run("MATCH (d:Document) RETURN count(d)") == [[3]]
        writer.remove("doc:2")
    assert neo4j_server.run("MATCH (d:Document) RETURN count(d)") == [[1]]
    assert stated(store.view()) == stated(reference({"doc:0"}).view())


def test_a_password_is_never_reported(
    store: Store, neo4j_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    assert PASSWORD not in repr(load(folder=tmp_path))
    assert PASSWORD not in repr(vars(store))
    with pytest.raises(SettingsError, match="KG_NEO4J_PASSWORD") as refused:
        open_store("neo4j://neo4j:secret@127.0.0.1:1")
    assert "secret" not in str(refused.value)
    monkeypatch.setenv("KG_NEO4J_PASSWORD", "wrong-one")
    with pytest.raises(StoreUnusable, match="user or password refused") as refused_by_server:
        open_store(neo4j_server.url)
    assert "wrong-one" not in str(refused_by_server.value)


@pytest.mark.usefixtures("store")
def test_a_base_that_is_not_there_or_not_ours_is_reported(neo4j_server: Server):
    neo4j_server.clear()
    with pytest.raises(StoreMissing):
        open_store(neo4j_server.url)
    neo4j_server.run("CREATE (:Film {title: 'another program'})")
    with pytest.raises(StoreUnusable, match="something else"):
        open_store(neo4j_server.url, create=True)
    with pytest.raises(StoreUnusable, match="no answer"):
        open_store("bolt://127.0.0.1:1")
    with pytest.raises(SettingsError, match="neo4j://HOST"):
        open_store("neo4j://")
    neo4j_server.clear()


def test_a_base_of_the_first_version_tells_pages_in_heads_too(store: Store, neo4j_server: Server):
    paged = replace(READINGS[0], document=replace(READINGS[0].document, pages=(0, 7)))
    with store.writer() as writer:
        for item in (paged, *READINGS[1:]):
            writer.write(item)
    heads = list(store.view().documents())
    (rows,) = neo4j_server.run("MATCH (d:Document) RETURN collect([d.id, d.head])")[0]
    older = [[identity, json.dumps(json.loads(head)[:-1])] for identity, head in rows]
    neo4j_server.run("CREATE (:Name {folded: 'left by version 2'})")
    neo4j_server.run("UNWIND $rows AS row MATCH (d:Document {id: row[0]}) SET d.head = row[1]", rows=older)
    neo4j_server.run("MATCH (b:Base) SET b.version = 1")
    with store.writer(), pytest.raises(StoreLocked):
        open_store(neo4j_server.url)
    for _ in range(2):  # the second finds nothing left to do
        with closing(open_store(neo4j_server.url)) as same:
            assert list(same.view().documents()) == heads
    assert (heads[0].pages, heads[1].pages) == ((0, 7), ())
    assert neo4j_server.run("MATCH (b:Base) RETURN b.version") == [[VERSION]]
    assert neo4j_server.run("MATCH (n:Name) RETURN n") == []


def test_another_base_in_its_place_is_followed(store: Store, neo4j_server: Server):
    with store.writer() as writer:
        for item in READINGS[:2]:
            writer.write(item)
        writer.publish(Run("run:one", day(3)))
        assert writer.judge(MERGED)
    assert (store.view().run(), len(store.view().judgements())) == (Run("run:one", day(3)), 1)
    neo4j_server.clear()
    with closing(open_store(neo4j_server.url, create=True)) as other, other.writer() as writer:
        for item in READINGS[1:3]:
            writer.write(item)
    assert stated(store.view()) == stated(reference({"doc:1", "doc:2"}).view())
    assert (store.view().run(), store.view().judgements()) == (None, [])


def test_a_warm_question_asks_the_server_for_its_state_only(store: Store, monkeypatch: pytest.MonkeyPatch):
    with store.writer() as writer:
        for item in READINGS:
            writer.write(item)
    kb = KnowledgeBase(store)
    first = kb.profile(CATL)
    asked: list[str] = []
    run = Moment.rows
    monkeypatch.setattr(
        Moment, "rows", lambda self, *given, **more: asked.append(given[0]) or run(self, *given, **more)
    )
    assert (kb.profile(CATL), asked) == (first, [])
    with store.writer() as writer:
        writer.remove("doc:3")
    asked.clear()
    assert "product:料3" not in {fact.object for fact in store.view().facts()}
    with store.writer() as writer:
        assert writer.judge(MERGED)
    assert len(list(store.view().facts())) < 3 * len(READINGS)
    assert [each for each in asked if each in {WRITTEN, RUNS_OF}] == []


def test_the_local_copy_goes_with_the_store(
    neo4j_server: Server, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with store.writer() as writer:
        writer.write(READINGS[0])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with closing(open_store(neo4j_server.url)) as other:
        assert len(list(other.view().facts())) == 3
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_a_url_that_went_through_a_path_still_opens(store: Store, neo4j_server: Server):
    with store.writer() as writer:
        writer.write(READINGS[0])
    with closing(open_store(neo4j_server.url.replace("//", "/"))) as same:
        assert same.has_document("doc:0")
        assert next(same.view(as_of=day(0)).documents()).id == "doc:0"
