"""Vectors of passages: made bit by bit, never twice, and never of a later day."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import StoreLocked, StoreUnusable
from kg.model import ChunkKind
from kg.query.grounding import vectors
from kg.query.grounding.vectors import IndexReport, NoVectors, OtherModel, VectorIndex, VectorSearch, index_beside
from kg.service.base import KnowledgeBase
from kg.store.lock import writing
from kg.store.open import open_store
from tests.contracts.readings import CATL, day, fact, reading
from tests.contracts.reference import MemoryStore
from tests.kg.query.encoders import PairEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kg.model import Reading
    from kg.store.port import Store, View

TEXTS = ("碳酸锂价格继续下跌。供给过剩。", "动力电池装机增长。需求旺盛。", "生猪养殖亏损。产能去化。")


def _reading(number: int, published: int, text: str) -> Reading:
    return reading(number, published, fact(CATL, "produces", f"product:动力电池{number}"), text=text)


def _store(texts: Sequence[str] = TEXTS) -> Store:
    store = MemoryStore()
    with store.writer() as writer:
        for number, text in enumerate(texts, start=1):
            writer.write(_reading(number, number, text))
    return store


def _found(index: VectorIndex, view: View, question: str, limit: int = 9) -> list[str]:
    return [chunk.text for chunk, _ in index.nearest(view, question, PairEncoder(), limit=limit)]


@contextmanager
def _batches_of(size: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "_BATCH", size)
        yield


def test_the_nearest_passage_comes_first(tmp_path: Path):
    store, index = _store(), VectorIndex(tmp_path / "v")
    passages = sum(len(store.view().chunks(head.id)) for head in store.view().documents())
    assert index.update(store, PairEncoder()) == IndexReport(passages, 0, passages)
    assert [text[:4] for text in _found(index, store.view(), "动力电池的装机", 1)] == ["动力电池"]
    scores = [score for _, score in index.nearest(store.view(), "动力电池", PairEncoder(), limit=9)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == passages


def test_only_what_is_new_or_changed_is_encoded(tmp_path: Path):
    store, index, encoder = _store(), VectorIndex(tmp_path / "v"), PairEncoder()
    first = index.update(store, encoder)
    assert index.update(store, encoder) == IndexReport(0, 0, first.rows)
    state = index.state
    with store.writer() as writer:
        writer.write(_reading(9, 9, "光伏组件报价企稳。"))
        writer.remove("doc:1")
    report = index.update(store, encoder)
    assert report.encoded == len(store.view().chunks("doc:9"))
    assert report.removed == first.rows + report.encoded - report.rows > 0
    assert encoder.encoded == first.encoded + report.encoded
    assert index.state != state
    assert len(list(index.folder.iterdir())) == 1
    with store.writer() as writer:  # the same places, another title: another text to encode
        changed = _reading(9, 9, "光伏组件报价企稳。")
        writer.remove("doc:9")
        writer.write(replace(changed, document=replace(changed.document, title="改过的标题")))
    assert index.update(store, encoder) == IndexReport(report.encoded, report.encoded, report.rows)


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path):
    store, index = _store(), VectorIndex(tmp_path / "v")
    with _batches_of(1):
        with pytest.raises(KeyboardInterrupt):
            index.update(store, PairEncoder(breaks_after=2))
        kept = index.table()
        assert kept is not None
        assert len(kept.keys) == 2
        encoder = PairEncoder()
        report = index.update(store, encoder)
    assert encoder.encoded == report.encoded == report.rows - 2
    whole = VectorIndex(tmp_path / "w")
    whole.update(store, PairEncoder())
    assert _found(index, store.view(), "需求") == _found(whole, store.view(), "需求")


def test_rows_that_a_killed_rewrite_left_twice_count_once(tmp_path: Path):
    store, index = _store(), VectorIndex(tmp_path / "v")
    index.update(store, PairEncoder())
    (file,) = index.folder.iterdir()
    (index.folder / f"000002-{'0' * 16}{file.suffix}").write_bytes(file.read_bytes())
    texts = _found(index, store.view(), "需求")
    assert len(texts) == len(set(texts)) == len(_rows(store))


def _rows(store: Store) -> list[str]:
    view = store.view()
    return [chunk.id for head in view.documents() for chunk in view.chunks(head.id)]


def test_many_files_become_one(tmp_path: Path):
    store, index = _store([f"第{number}篇。" for number in range(1, 13)]), VectorIndex(tmp_path / "v")
    with _batches_of(1):
        index.update(store, PairEncoder())
    assert len(list(index.folder.iterdir())) == 1
    assert sorted(_found(index, store.view(), "第", 99)) == sorted(
        chunk.text for head in store.view().documents() for chunk in store.view().chunks(head.id)
    )


def test_a_damaged_file_is_made_again(tmp_path: Path):
    store, index = _store(), VectorIndex(tmp_path / "v")
    rows = index.update(store, PairEncoder()).rows
    (file,) = index.folder.iterdir()
    file.write_bytes(file.read_bytes()[:-3])
    index = VectorIndex(index.folder)
    with pytest.raises(NoVectors):
        index.nearest(store.view(), "需求", PairEncoder(), limit=3)
    assert index.update(store, PairEncoder()) == IndexReport(rows, 0, rows)


def test_another_model_or_dimension_is_refused_in_one_line(tmp_path: Path):
    store, index = _store(), VectorIndex(tmp_path / "v")
    index.update(store, PairEncoder())
    for other in (PairEncoder(name="other"), PairEncoder(32)):
        with pytest.raises(OtherModel) as refused:
            index.nearest(store.view(), "需求", other, limit=3)
        assert "pairs (64 dimensions)" in str(refused.value)
        assert "--anew" in str(refused.value)
        assert "\n" not in str(refused.value)
    with pytest.raises(OtherModel):
        index.update(store, PairEncoder(name="other"))
    with store.writer() as writer:
        writer.write(_reading(9, 9, "光伏。"))
    with pytest.raises(OtherModel):
        index.update(store, PairEncoder(32))
    assert index.update(store, PairEncoder(32), anew=True).encoded == len(_rows(store))


def test_one_run_at_a_time_and_only_where_files_can_be_written(tmp_path: Path):
    store, index = _store(), VectorIndex(tmp_path / "v")
    with writing(index.folder), pytest.raises(StoreLocked):
        index.update(store, PairEncoder())
    with pytest.raises(StoreUnusable):
        VectorIndex(tmp_path / "none" / "v").update(store, PairEncoder())


def test_a_removed_document_is_not_found_even_before_the_next_run(tmp_path: Path):
    store, index = _store(), VectorIndex(tmp_path / "v")
    index.update(store, PairEncoder())
    with store.writer() as writer:
        writer.remove("doc:2")
    assert not any("动力电池" in text for text in _found(index, store.view(), "动力电池的装机"))


def test_a_hit_inside_a_table_is_the_whole_table(tmp_path: Path):
    rows = "\n".join(f"第{number}行|{number}" for number in range(200))
    given = _reading(1, 1, rows)
    chunk = replace(given.chunks[0], end=len(rows), text=rows, kind=ChunkKind.TABLE, search_text="第150行|150")
    store = MemoryStore()
    with store.writer() as writer:
        writer.write(replace(given, chunks=(chunk,), mentions=()))
    index = VectorIndex(tmp_path / "v")
    index.update(store, PairEncoder())
    assert _found(index, store.view(), "第150行") == [rows]


_TEXT = st.text(alphabet="碳酸锂价格下跌电池。", min_size=2, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_texts=st.lists(_TEXT, min_size=1, max_size=6), as_of=st.integers(1, 6), question=_TEXT)
def test_later_documents_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, given_texts: list[str], as_of: int, question: str
):
    """By day and by hour: the index holds everything, the answer is that of a base which ends there."""
    folder = tmp_path_factory.mktemp("vectors")
    read = datetime(2026, 1, 1, tzinfo=UTC)
    readings = [
        replace(_reading(number, number, text), recorded_at=read + timedelta(days=number))
        for number, text in enumerate(given_texts, start=1)
    ]
    whole, ended = MemoryStore(), MemoryStore()
    for store, kept in ((whole, readings), (ended, readings[:as_of])):
        with store.writer() as writer:
            for each in kept:
                writer.write(each)
    everything, part = VectorIndex(folder / "all"), VectorIndex(folder / "part")
    everything.update(whole, PairEncoder())
    part.update(ended, PairEncoder())
    expected = part.nearest(ended.view(), question, PairEncoder(), limit=3)
    by_day = everything.nearest(whole.view(as_of=day(as_of)), question, PairEncoder(), limit=3)
    by_hour = everything.nearest(whole.view(known_at=read + timedelta(days=as_of)), question, PairEncoder(), limit=3)
    assert by_day == by_hour == expected
    searches = [
        KnowledgeBase(store, vectors=VectorSearch(index, PairEncoder()))
        for store, index in ((whole, everything), (ended, part))
    ]
    assert searches[0].passages(question, mode="fused", as_of=day(as_of)) == searches[1].passages(
        question, mode="fused"
    )


def test_the_stores_agree(tmp_path: Path):
    base, memory = tmp_path / "kb.liantu", _store()
    index = index_beside(base)
    assert index is not None
    with closing(open_store(base, create=True)) as store:
        with store.writer() as writer:
            for number, text in enumerate(TEXTS, start=1):
                writer.write(_reading(number, number, text))
        index.update(store, PairEncoder())
        asked = ("生猪养殖", PairEncoder())
        with store.reader(as_of=day(2)) as view:
            found = index.nearest(view, *asked, limit=3)
        assert found == index.nearest(memory.view(as_of=day(2)), *asked, limit=3)
        assert found != index.nearest(store.view(), *asked, limit=3)


def test_an_index_has_its_place():
    assert index_beside("memory:") is None
    kept = index_beside("sqlite:kb.liantu")
    assert kept is not None
    assert str(kept.folder) == "kb.liantu-vectors"
