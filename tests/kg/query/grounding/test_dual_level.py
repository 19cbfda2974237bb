"""Passages by names and by relations: each level finds what the other cannot, and nothing comes from a later day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from kg.query.grounding.dual_level import MODES, dual_level, keywords_of
from kg.query.grounding.vectors import NoVectors, VectorIndex, VectorSearch
from kg.query.session import QuerySession
from kg.service.base import KnowledgeBase
from kg.store.open import open_store
from tests.contracts.readings import BYD, CATL, day, fact, reading
from tests.contracts.reference import MemoryStore
from tests.kg.query.encoders import PairEncoder

if TYPE_CHECKING:
    from pathlib import Path

    from kg.query.grounding.dual_level import Mode
    from kg.store.port import Store

PRICE, MARGIN, HOG = "indicator:碳酸锂价格", "indicator:电池毛利率", "indicator:生猪价格"
_SUPPLY = "宁德时代为比亚迪提供动力电池。双方签约。"
_CAUSE = "碳酸锂降价以后，电池环节的盈利改善。"
_OTHER = "生猪养殖行业亏损，产能去化。"


def _filled(store: Store) -> Store:
    with store.writer() as writer:
        writer.write(reading(1, 1, fact(CATL, "supplies", BYD), text=_SUPPLY))
        writer.write(reading(2, 3, fact(PRICE, "affects", MARGIN, sign=-1), text=_CAUSE))
        writer.write(reading(3, 5, fact(HOG, "affects", "event:产能去化", sign=-1), text=_OTHER))
    return store


def _texts(query: str, mode: Mode, as_of: int = 9) -> list[str]:
    session = QuerySession(_filled(MemoryStore()).view(as_of=day(as_of)))
    return [passage.chunk.text for passage in dual_level(session, query, mode=mode)]


def test_a_query_is_split_into_names_words_and_relations():
    keywords = keywords_of(QuerySession(_filled(MemoryStore()).view()), "宁德时代供应给谁，影响毛利率吗")
    assert [entity.id for entity in keywords.entities] == [CATL]
    assert keywords.relations == ("supplies", "affects")
    assert "毛利率" in keywords.words
    assert "吗" not in keywords.words


def test_the_entity_level_finds_the_edges_of_what_is_named():
    """A code stands for the names of its company, for words as for edges."""
    assert _texts("300750.SZ", "words") == _texts("宁德时代", "words") != []
    assert _texts("300750.SZ", "local") == [_SUPPLY[: len(_SUPPLY) // 2]]
    assert _texts("300750.SZ", "global") == []


def test_the_relation_level_finds_edges_far_from_any_name():
    """毛利率 names no entity and stands in no passage; one end of an edge is called by it."""
    assert _texts("哪些因素影响毛利率", "words") == []
    assert _texts("哪些因素影响毛利率", "local") == []
    assert _texts("哪些因素影响毛利率", "global") == [_CAUSE[: len(_CAUSE) // 2]]


@pytest.mark.parametrize("mode", sorted({*MODES} - {"vectors"}))  # those: tests/kg/query/test_vectors.py
def test_nothing_comes_from_a_later_day(mode: Mode):
    for query in ("碳酸锂价格影响毛利率", "300750.SZ 影响 毛利率", "产能去化"):
        early = MemoryStore()
        with early.writer() as writer:
            writer.write(reading(1, 1, fact(CATL, "supplies", BYD), text=_SUPPLY))
        known = [passage.chunk.text for passage in dual_level(QuerySession(early.view()), query, mode=mode)]
        assert _texts(query, mode, as_of=2) == known


def test_mix_holds_what_each_level_finds():
    query = "宁德时代 碳酸锂价格 影响 生猪"
    found = set(_texts(query, "mix"))
    for mode in ("words", "local", "global", "hybrid"):
        assert set(_texts(query, mode)) <= found


def test_vectors_find_other_words_and_are_fused_with_words(tmp_path: Path):
    store = _filled(MemoryStore())
    search = VectorSearch(VectorIndex(tmp_path / "v"), PairEncoder())
    search.index.update(store, search.encoder)
    kb = KnowledgeBase(store, vectors=search)
    assert kb.passages("养殖产能", mode="vectors", limit=1)[0].chunk.text in _OTHER
    both = [passage.chunk.text for passage in kb.passages("养殖产能", mode="fused")]
    assert {passage.chunk.text for passage in kb.passages("养殖产能", mode="words")} <= set(both)
    with pytest.raises(NoVectors, match="liantu index"):
        KnowledgeBase(store).passages("养殖产能", mode="vectors")


def test_without_an_index_fused_is_by_words_and_the_graph():
    assert _texts("生猪", "fused") == _texts("生猪", "words") != []


def test_a_limit_and_a_hostile_query_are_kept():
    session = QuerySession(_filled(MemoryStore()).view())
    assert dual_level(session, "碳酸锂价格", mode="mix", limit=0) == []
    for query in ("", "的", "'; DROP TABLE facts --", "\x00" * 5, "锂" * 5000):
        assert len(dual_level(session, query, mode="hybrid", limit=2)) <= 2


def test_the_command_takes_a_mode(tmp_path: Path):
    _filled(open_store(tmp_path / "kb.liantu", create=True)).close()
    command = ["passages", "哪些因素影响毛利率", "--mode", "global", "--kb", str(tmp_path / "kb.liantu")]
    done = CliRunner().invoke(root, command)
    assert done.exit_code == 0, done.output
    assert _CAUSE[: len(_CAUSE) // 2] in done.output
