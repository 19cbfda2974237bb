from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kg.query.sentences.nearest import SentenceEncoder, SentenceIndex
from kg.store.open import open_store
from tests.kg.query.world import MODULE, TONGWEI, claim, filled, paper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.store.port import Store, View

QUESTION = "医保谈判砍价幅度多大"
TOLD = (
    "本轮国家医保药品目录谈判平均降价六成以上。",
    "港口动力煤库存环比回落，电厂日耗季节性走高。",
    "光伏组件排产环比下滑，胶膜报价持平。",
)

_FACT = claim(TONGWEI, "produces", MODULE)


@pytest.fixture(params=["memory:", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store("memory:" if request.param == "memory:" else tmp_path / "kb", create=True)
    papers = [paper(number, f"2025-01-0{number}", (text, _FACT)) for number, text in enumerate(TOLD, 1)]
    yield filled(papers, opened)
    opened.close()


def first(view: View, index: SentenceIndex) -> str:
    chunk_id, start = index.nearest(view, QUESTION, 2)[0]
    chunk = view.chunk(chunk_id)
    assert chunk is not None
    return chunk.text[start - chunk.start :]


def test_other_words_for_the_same_are_near(store: Store):
    assert first(store.view(), SentenceIndex()).startswith(TOLD[0])


def test_what_a_view_does_not_know_takes_no_place(store: Store):
    index = SentenceIndex()
    assert len(index.nearest(store.view(), QUESTION, 10)) >= len(TOLD)
    early = store.view(as_of=date(2025, 1, 2))
    known = {chunk.id for head in early.documents() for chunk in early.chunks(head.id)}
    assert {chunk for chunk, _ in index.nearest(early, QUESTION, 10)} <= known
    assert index.nearest(early, QUESTION, 10) == SentenceIndex().nearest(early, QUESTION, 10)
    assert index.nearest(store.view(as_of=date(2024, 1, 1)), QUESTION, 10) == []


def test_rows_are_kept_beside_the_base_and_may_be_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kg.query.sentences.nearest._WORTH_A_FILE", 1)
    kept = tmp_path / "kb-snapshot" / "sentences.npv"
    opened = open_store(tmp_path / "kb", create=True)
    filled([paper(1, "2025-01-01", (TOLD[1], _FACT))], opened)
    SentenceIndex().nearest(opened.view(), QUESTION, 3)
    first_bytes = kept.read_bytes()
    filled([paper(2, "2025-01-02", (TOLD[0], _FACT))], opened)
    found = SentenceIndex().nearest(opened.view(), QUESTION, 3)
    assert kept.read_bytes() != first_bytes
    kept.write_bytes(first_bytes[:200])  # damaged
    assert SentenceIndex().nearest(opened.view(), QUESTION, 3) == found
    kept.unlink()
    assert SentenceIndex().nearest(opened.view(), QUESTION, 3) == found
    opened.close()


def test_a_document_that_was_cut_anew_is_made_anew(store: Store):
    index = SentenceIndex()
    found = index.nearest(store.view(), QUESTION, 10)
    rows = index._rows
    assert rows is not None
    index._rows = rows._replace(chunks=np.array([b"chunk:gone" for _ in rows.chunks]))
    assert index.nearest(store.view(), QUESTION, 10) == found


def test_scores_are_exact_in_single_precision():
    encoder = SentenceEncoder.shipped()
    vectors = np.array([encoder.question(text) for text in (*TOLD, QUESTION, "", "🙂")])
    assert vectors.dtype == np.int8
    exact = vectors.astype(np.int64) @ vectors.T.astype(np.int64)
    assert (np.abs(exact) < 1 << 24).all()
    assert (vectors.astype(np.float32) @ vectors.T.astype(np.float32) == exact).all()
