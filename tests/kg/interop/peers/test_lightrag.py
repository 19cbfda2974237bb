"""A real LightRAG takes the export, retrieves Liantu's edges with direction, sign and source, and is read back."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.stub_model import graph_replies, serving
from kg.interop.exports.content import plain
from kg.interop.imports.foreign import IndexImport
from kg.interop.imports.lightrag import read_lightrag
from tests.contracts.reference import MemoryStore
from tests.kg.interop.exports.sample import BYD, CATL, HOSTILE, MARGIN, PRICE, base, exported
from tests.kg.interop.peers.environment import HERE, documented, python_of, run

if TYPE_CHECKING:
    from pathlib import Path

_LATER = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Return the working folder of a LightRAG that holds the export, and what it retrieves in each mode."""
    python = python_of("lightrag")
    folder = tmp_path_factory.mktemp("lightrag")
    source = exported("lightrag", folder / "custom_kg.json")
    with serving(graph_replies([])) as stub:
        question = ("碳酸锂价格下跌对毛利率有什么影响？", '["碳酸锂价格"]', '["碳酸锂价格影响毛利率"]')
        command = [str(python), str(HERE / "lightrag_probe.py"), str(source), str(folder / "rag"), stub.url, *question]
        printed = run(command, folder=folder, environment={})
    return folder / "rag", json.loads(printed.strip().splitlines()[-1])


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix"])
def test_every_mode_retrieves_the_edge_with_its_source(store: tuple[Path, dict[str, Any]], mode: str):
    found = store[1][mode]
    (edge,) = [each for each in found["relationships"] if {each["src_id"], each["tgt_id"]} == {"碳酸锂价格", "毛利率"}]
    context = json.dumps(found, ensure_ascii=False, indent=1)
    sys.stdout.write(f"\n{mode}:\n{context}\n")  # with `pytest -s`
    for mode_shown in ("local", "global", "mix"):
        assert [text for text in documented("lightrag", mode_shown) if text not in context] == []
    assert any(each["file_path"] == edge["file_path"] for each in found["chunks"])


def test_hostile_names_stay_names(store: tuple[Path, dict[str, Any]]):
    source = json.loads((store[0].parent / "custom_kg.json").read_text(encoding="utf-8"))
    names = [entity["entity_name"] for entity in source["entities"]]
    assert len(names) == len(set(names))
    for name in HOSTILE:
        assert any(held.startswith(plain(name).strip()) for held in names)


def test_a_lightrag_store_is_read_back(store: tuple[Path, dict[str, Any]]):
    """Relation, direction, sign, certainty and days survive LightRAG; periods and values do not."""
    target = MemoryStore()
    done = IndexImport(store[0], recorded_at=_LATER, master=None).run(read_lightrag(store[0], None), target)
    assert (done.documents, done.known) == (3, 0)
    view = target.view()
    (cause,) = view.facts(relation="affects")
    assert (cause.subject, cause.object, cause.sign, cause.valid) == (PRICE, MARGIN, -1, None)
    assert cause.published_on.isoformat() == "2024-01-02"
    (supply,) = view.facts(relation="supplies")
    assert (view.entity(supply.subject).name, view.entity(supply.object).name) == ("宁德时代", "比亚迪")  # type: ignore[union-attr]
    certainties = {(fact.polarity.value, fact.modality.value) for fact in view.facts()}
    assert certainties == {("positive", "asserted"), ("positive", "planned"), ("negative", "asserted")}
    for fact in view.facts():
        for item in fact.evidence:
            document = view.document(item.document)
            assert document
            assert item.quote == document.text[item.start : item.end]
    again = IndexImport(store[0], recorded_at=_LATER, master=None).run(read_lightrag(store[0], None), target)
    assert (again.documents, again.known) == (0, 3)


def test_the_file_holds_the_same_as_the_store(store: tuple[Path, dict[str, Any]]):
    held = []
    for place in (store[0], store[0].parent / "custom_kg.json"):
        target = MemoryStore()
        IndexImport(place, recorded_at=_LATER, master=None).run(read_lightrag(place, None), target)
        held.append({(fact.relation, fact.sign, fact.polarity, fact.modality) for fact in target.view().facts()})
    assert held[0] == held[1]
    assert {fact.relation for fact in base().view().facts()} == {relation for relation, *_ in held[0]}
    assert {CATL, BYD} <= {entity.id for entity in base().view().entities()}
