"""What holds for every format: equal bytes, no look-ahead, and nothing else is ever overwritten."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kg.cli import root
from kg.commands.transfer import EXPORTS
from kg.errors import EmptyBase
from kg.interop.exports.formats import FORMATS, ExportRefused, export
from kg.store.open import open_store
from tests.contracts.readings import day, fact, reading
from tests.contracts.reference import MemoryStore
from tests.kg.interop.exports.sample import CATL, LITHIUM, PRICE, base, exported

if TYPE_CHECKING:
    from pathlib import Path


def _bytes(place: Path) -> dict[str, bytes]:
    files = [place] if place.is_file() else sorted(each for each in place.rglob("*") if each.is_file())
    return {str(each.relative_to(place)): each.read_bytes() for each in files}


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig").splitlines(keepends=True)


def test_the_command_offers_every_format():
    assert set(EXPORTS) == set(FORMATS)


@pytest.mark.parametrize("layout", sorted(FORMATS))
def test_equal_content_gives_equal_bytes(layout: str, tmp_path: Path):
    assert _bytes(exported(layout, tmp_path / "a")) == _bytes(exported(layout, tmp_path / "b"))


@pytest.mark.parametrize("layout", sorted(FORMATS))
def test_nothing_published_later_is_exported(layout: str, tmp_path: Path):
    """A base that never had the later documents gives the same bytes as one seen as of a day."""
    early = MemoryStore()
    with early.writer() as writer:
        for number in (1, 2):
            stored = base().reading(f"doc:{number}")
            assert stored
            writer.write(stored)
    with early.reader() as view:
        export(view, layout, tmp_path / "early")
    seen = exported(layout, tmp_path / "seen", as_of=day(8))
    assert _bytes(seen) == _bytes(tmp_path / "early")
    assert _bytes(seen) != _bytes(exported(layout, tmp_path / "whole"))


@pytest.mark.parametrize("layout", sorted(FORMATS))
def test_an_export_replaces_an_earlier_one_and_nothing_else(layout: str, tmp_path: Path):
    target = exported(layout, tmp_path / "out")
    before = _bytes(target)
    assert _bytes(exported(layout, target)) == before
    if target.is_dir():
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "mine.txt").write_text("mine")
        with pytest.raises(ExportRefused, match=r"holds mine\.txt, which no export wrote"):
            exported(layout, tmp_path / "notes")
        assert (tmp_path / "notes" / "mine.txt").read_text() == "mine"
    else:
        with pytest.raises(ExportRefused, match="is a folder"):
            exported(layout, tmp_path)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


@pytest.mark.parametrize("layout", sorted(name for name, each in FORMATS.items() if each.folder))
def test_what_a_user_changed_or_added_is_never_lost(layout: str, tmp_path: Path):
    target = exported(layout, tmp_path / "out")
    first = min(path for path in target.rglob("*") if path.is_file() and not path.name.startswith("."))
    written = first.read_bytes()
    embeddings = target / "output" / "lancedb" / "paid-for.bin"
    for changed, content in ((first, b"edited"), (embeddings, b"1")):
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_bytes(content)
        with pytest.raises(ExportRefused, match=changed.name) as refused:
            exported(layout, target)
        assert "\n" not in str(refused.value)
        assert changed.read_bytes() == content
        changed.unlink()
        if changed == first:
            first.write_bytes(written)
    embeddings.parent.rmdir()
    (target / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ExportRefused, match="linked"):
        exported(layout, target)
    (target / "linked").unlink()
    exported(layout, target)


def test_a_base_without_documents_is_not_exported(tmp_path: Path):
    with MemoryStore().reader() as view, pytest.raises(EmptyBase):
        export(view, "csv", tmp_path / "out")


def test_the_command_never_writes_over_a_base(tmp_path: Path):
    path = tmp_path / "kb.liantu"
    store = open_store(path, create=True)
    with store.writer() as writer:
        writer.write(reading(1, 1, fact(CATL, "produces", LITHIUM)))
    store.close()
    before = path.read_bytes()
    refused = CliRunner().invoke(root, ["export", "rdf", str(path), "--kb", str(path)])
    assert refused.exit_code != 0
    assert path.read_bytes() == before
    done = CliRunner().invoke(
        root, ["export", "rdf", str(tmp_path / "a.nt"), "--kb", str(path), "--as-of", "2024-01-02"]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.nt").read_text().count("rdf-syntax-ns#Statement") == 1
    for _ in range(2):  # the second takes the place of the first
        done = CliRunner().invoke(root, ["export", "csv", str(tmp_path / "tables"), "--kb", str(path)])
        assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "tables").glob("*.csv"))) == 8


def test_captions_are_in_the_language_that_is_asked_for(tmp_path: Path):
    with base().reader() as view:
        export(view, "neo4j", tmp_path / "en", lang="en", min_confidence=0)
    captions = {row["caption"] for row in csv.DictReader(_lines(tmp_path / "en" / "facts.csv"))}
    assert {"supplies", "produces (planned)"} <= captions


def test_neo4j_has_communities_and_what_indicators_are_about(tmp_path: Path):
    folder = exported("neo4j", tmp_path / "out")
    about = list(csv.reader(_lines(folder / "about.csv")))
    assert ["indicator:碳酸锂价格", LITHIUM, "ABOUT", "衡量"] in about
    communities = (folder / "communities.csv").read_text(encoding="utf-8")
    assert "锂电池" in communities
    assert communities.endswith("Community\n")


def test_graphrag_and_lightrag_describe_in_the_same_words(tmp_path: Path):
    """Kind, codes and other names of an entity, then its facts; a fact with its sign, source, day and quote."""
    folder = exported("graphrag", tmp_path / "index") / "output"
    graph = json.loads(exported("lightrag", tmp_path / "custom_kg.json").read_text(encoding="utf-8"))
    entities = {each["entity_name"]: each["description"] for each in graph["entities"]}
    theirs = {each["title"]: each["description"] for each in pq.read_table(folder / "entities.parquet").to_pylist()}
    assert entities.items() <= theirs.items()
    assert entities["宁德时代"].startswith("公司、300750.SZ、宁王；宁德时代 供应 比亚迪")
    assert entities["碳酸锂价格"].startswith("指标、衡量碳酸锂；")
    assert all("；" in text for text in theirs.values())
    relationships = pq.read_table(folder / "relationships.parquet").to_pylist()
    one, other = (
        {each["description"] for each in rows if "毛利率［2024Q1］" in each["description"]}
        for rows in (graph["relationships"], relationships)
    )
    assert one == other == {"碳酸锂价格下降 → 毛利率［2024Q1］（反向；示例证券甲、2024-01-02 报告1：「宁德时代」）"}


def test_an_indicator_is_tied_to_what_it_measures_in_every_format(tmp_path: Path):
    folder = exported("graphrag", tmp_path / "index") / "output"
    graph = json.loads(exported("lightrag", tmp_path / "custom_kg.json").read_text(encoding="utf-8"))
    ends = ("碳酸锂价格", "碳酸锂（产品）")
    (edge,) = [row for row in pq.read_table(folder / "relationships.parquet").to_pylist() if row["target"] == ends[1]
               and row["source"] == ends[0]]  # fmt: skip
    assert (edge["description"], edge["weight"], bool(edge["text_unit_ids"])) == ("碳酸锂价格 衡量碳酸锂", 1.0, True)
    assert ends in {(each["src_id"], each["tgt_id"]) for each in graph["relationships"]}
    rows = csv.DictReader(_lines(exported("csv", tmp_path / "tables") / "nodes.csv"))
    assert ("碳酸锂价格", "碳酸锂") in {(row["name"], row["about_name"]) for row in rows}
    triple = f"<urn:liantu:{quote(PRICE, safe=':/')}> <urn:liantu:term:about> <urn:liantu:{quote(LITHIUM, safe=':/')}>"
    assert triple in exported("rdf", tmp_path / "all.nt").read_text(encoding="utf-8")
    for layout in ("graphml", "gexf"):
        assert "measures" in exported(layout, tmp_path / f"all.{layout}").read_text(encoding="utf-8")


def test_a_report_says_everything_once(tmp_path: Path):
    folder = exported("graphrag", tmp_path / "index") / "output"
    report = pq.read_table(folder / "community_reports.parquet").to_pylist()[0]
    assert report["full_content"].count("宁德时代供应比亚迪。") == 1
    assert report["full_content"].endswith("「宁德时代」")
    assert report["summary"] == "宁德时代供应比亚迪。"


@pytest.mark.parametrize("layout", ["graphrag", "lightrag"])
def test_an_english_export_has_no_chinese_but_names_and_quotes(tmp_path: Path, layout: str):
    with base().reader() as view:
        export(view, layout, tmp_path / "out", lang="en")
    if layout == "graphrag":
        tables = [pq.read_table(tmp_path / "out" / "output" / f"{name}.parquet").to_pylist()
                  for name in ("entities", "relationships", "community_reports")]  # fmt: skip
        texts = json.dumps(tables, ensure_ascii=False)
    else:
        texts = (tmp_path / "out").read_text(encoding="utf-8")
    assert not re.search("反向|同向|供应 |指标、|（产品）|成员数|衡量", texts)
    assert "opposite direction" in texts
    assert "碳酸锂 (product)" in texts
