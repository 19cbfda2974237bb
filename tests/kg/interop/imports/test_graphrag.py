"""GraphRAG indexes: Liantu's own come back fact by fact; a foreign one gives links whose gaps stay unknown."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from extraction.ingest import Job, ingest
from kg.cli import root
from kg.errors import DocumentError
from kg.interop.exports.formats import export
from kg.interop.imports.foreign import IndexImport
from kg.interop.imports.graphrag import read_graphrag
from kg.securities.master import Master
from kg.store.open import open_store
from tests.contracts.reference import MemoryStore
from tests.kg.interop.exports.sample import base, exported
from tests.neo4j.bases import DEMO, READ

if TYPE_CHECKING:
    from pathlib import Path

    from kg.store.port import Store, View

_LATER = datetime(2026, 6, 1, tzinfo=UTC)
_TEXT = "宁德时代向特斯拉供应电池。两家公司合作多年。"


def _brought(
    folder: Path, day: date | None = None, *, master: Master | None = None, store: Store | None = None
) -> tuple[View, Any]:
    store = store or MemoryStore()
    done = IndexImport(folder, recorded_at=_LATER, day=day, master=master).run(read_graphrag(folder, day), store)
    return store.view(), done


def test_an_own_index_comes_back_fact_by_fact(tmp_path: Path):
    view, done = _brought(exported("graphrag", tmp_path / "index"))
    _same_claims(base().view(), view)
    assert done.documents == len(list(view.documents()))


def test_reports_come_back_fact_by_fact(tmp_path: Path):
    names = ("held.liantu", "brought.liantu")
    with contextlib.ExitStack() as stack:
        held, target = (
            stack.enter_context(contextlib.closing(open_store(tmp_path / name, create=True))) for name in names
        )
        ingest(held, Job(tuple(sorted(DEMO.glob("*光伏*.md"))[:3]), READ, None, 1, ner=False))
        view = stack.enter_context(held.reader())
        export(view, "graphrag", tmp_path / "index", min_confidence=0)
        brought, done = _brought(tmp_path / "index", store=target)
        assert done.documents == held.stats()["documents"]
        _same_claims(view, brought)


def _same_claims(one: View, other: View) -> None:
    """Compare everything but the evidence, of which an index holds the surest of each fact."""
    claims = [{fact.id: replace(fact, evidence=(), superseded_by="") for fact in view.facts()} for view in (one, other)]
    assert claims[0] == claims[1]
    days = [{fact.id: fact.confidence for fact in view.facts()} for view in (one, other)]
    assert days[0] == days[1]
    texts = {head.id: other.document(head.id) for head in other.documents()}
    for fact in other.facts():
        for item in fact.evidence:
            document = texts[item.document]
            assert document
            assert item.quote == document.text[item.start : item.end]


def _foreign(folder: Path, **changes: list[dict[str, Any]]) -> Path:
    """Write an index as GraphRAG itself makes one: no codes, signs, relations or publication days."""
    tables: dict[str, list[dict[str, Any]]] = {
        "documents": [{"id": "d1", "title": "note.txt", "text": _TEXT, "creation_date": "2024-05-27 08:00:00 +0800"}],
        "text_units": [{"id": "u1", "text": _TEXT, "document_id": "d1"}],
        "entities": [
            {"title": "宁德时代", "type": "ORGANIZATION"},
            {"title": "特斯拉", "type": "ORGANIZATION"},
            {"title": "龙", "type": "CREATURE"},
        ],
        "relationships": [
            {"source": "宁德时代", "target": "特斯拉", "text_unit_ids": ["u1"]},
            {"source": "宁德时代", "target": "龙", "text_unit_ids": ["u1"]},
            {"source": "宁德时代", "target": "特斯拉", "text_unit_ids": ["gone"]},
        ],
    } | changes
    folder.mkdir()
    for name, records in tables.items():
        pq.write_table(pa.Table.from_pylist(records), folder / f"{name}.parquet")
    return folder


def test_what_a_foreign_index_does_not_say_stays_unknown(tmp_path: Path):
    view, done = _brought(_foreign(tmp_path / "output"), master=Master.load())
    (link,) = view.facts()
    assert (link.relation, link.sign, link.valid, link.value) == ("related_to", 0, None, None)
    assert "sec:300750.SZ" in {link.subject, link.object}
    assert link.evidence[0].quote == "宁德时代向特斯拉供应电池。"
    assert link.published_on == date(2024, 5, 27)
    assert dict(done.left_out) == {"unknown kind or unfit ends": 1, "no passage": 1}
    assert [chunk.text for head in view.documents() for chunk in view.chunks(head.id)] == [_TEXT]


def test_a_claim_of_graphrag_keeps_its_days_and_status(tmp_path: Path):
    claim = {
        "subject_id": "宁德时代",
        "object_id": "特斯拉",
        "type": "SUPPLIES",
        "status": "FALSE",
        "start_date": "2024-01-01T00:00:00",
        "end_date": "2024-07-01T00:00:00",
        "source_text": "两家公司合作多年。",
        "text_unit_id": "u1",
    }
    single = claim | {"subject_id": "特斯拉", "object_id": "宁德时代", "end_date": "2024-01-01"}
    odd = claim | {"type": "CORRUPTION", "start_date": "2024-07-01", "end_date": "2024-01-01"}
    view, _ = _brought(_foreign(tmp_path / "output", relationships=[], covariates=[claim, single, odd]))
    unknown, one_day, stated = sorted(view.facts(), key=lambda fact: (fact.relation, str(fact.valid)))
    assert (str(one_day.valid), one_day.subject) == ("2024-01-01", stated.object)
    assert (stated.relation, stated.polarity, str(stated.valid)) == ("supplies", "negative", "2024-01-01…2024-07-01")
    assert stated.evidence[0].quote == "两家公司合作多年。"
    assert (unknown.relation, unknown.valid) == ("related_to", None)


@pytest.mark.parametrize(
    ("title", "given", "expected"),
    [
        ("2023-03-01_光伏.txt", None, date(2023, 3, 1)),
        ("2023-03-01_光伏.txt", date(2020, 1, 1), date(2023, 3, 1)),
        ("note.txt", date(2020, 1, 1), date(2020, 1, 1)),
        ("note.txt", None, date(2024, 5, 27)),
    ],
)
def test_a_document_has_the_best_day_there_is(tmp_path: Path, title: str, given: date | None, expected: date):
    document = {"id": "d1", "title": title, "text": _TEXT, "creation_date": "2024-05-27 08:00:00 +0800"}
    view, _ = _brought(_foreign(tmp_path / "output", documents=[document]), given)
    assert [head.published_on for head in view.documents()] == [expected]


def test_a_folder_that_is_no_index_is_one_line(tmp_path: Path):
    with pytest.raises(DocumentError, match="name the root or the output folder"):
        read_graphrag(tmp_path, None)
    undated = _foreign(
        tmp_path / "output", documents=[{"id": "d1", "title": "n", "text": _TEXT, "creation_date": None}]
    )
    with pytest.raises(DocumentError, match="--date"):
        _brought(undated)
    command = [
        "import",
        "--format",
        "graphrag",
        str(undated),
        "--kb",
        str(tmp_path / "kb.liantu"),
        "--date",
        "2024-05-27",
    ]
    done = CliRunner().invoke(root, command)
    assert done.exit_code == 0, done.output
    assert "事实 1" in done.output
