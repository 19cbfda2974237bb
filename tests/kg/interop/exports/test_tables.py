"""CSV and Parquet: every column of a fact comes back with its type, and no cell is a formula."""

from __future__ import annotations

import codecs
import csv
import json
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from kg.interop.exports.content import plain
from kg.interop.exports.formats import export
from kg.interop.exports.tables import TABLES
from kg.relations import vocabulary
from tests.contracts.readings import READ, fact, reading
from tests.contracts.reference import MemoryStore
from tests.kg.interop.exports.sample import BYD, CATL, HOSTILE, LITHIUM, MARGIN, PRICE, base, exported

if TYPE_CHECKING:
    from pathlib import Path


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _records(folder: Path, name: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return records


def test_parquet_keeps_every_part_of_a_fact(tmp_path: Path):
    folder = exported("parquet", tmp_path / "out")
    facts = {row["id"]: row for row in _records(folder, "facts")}
    assert len(facts) == base().stats()["facts"]
    cause = next(row for row in facts.values() if row["relation"] == "affects")
    assert (cause["subject"], cause["object"], cause["sign"]) == (PRICE, MARGIN, -1)
    assert (cause["valid_from"], cause["valid_to"]) == (date(2024, 1, 1), date(2024, 4, 1))
    assert cause["qualifiers"] == ["cause_direction=down"]
    assert (cause["published_on"], cause["known_from"]) == (date(2024, 1, 2), READ)
    measure = next(row for row in facts.values() if row["relation"] == "reports")
    assert (measure["value"], measure["high"], measure["unit"]) == (22.5, 23.0, "%")
    assert {row["modality"] for row in facts.values()} == {"asserted", "planned"}
    assert {row["polarity"] for row in facts.values()} == {"positive", "negative"}
    supply = next(row for row in facts.values() if row["relation"] == "supplies")
    assert (supply["published_on"], supply["last_published_on"]) == (date(2024, 1, 2), date(2024, 1, 4))
    quotes = {row["fact"]: row for row in _records(folder, "evidence")}
    assert set(quotes) == set(facts)
    texts = {head.id: base().view().document(head.id) for head in base().view().documents()}
    for row in quotes.values():
        document = texts[row["document"]]
        assert document
        assert row["quote"] == document.text[row["start"] : row["end"]]


def test_an_edge_adds_up_its_facts(tmp_path: Path):
    edges = _records(exported("parquet", tmp_path / "out"), "edges")
    supply = next(row for row in edges if row["relation"] == "supplies")
    assert (supply["subject"], supply["object"]) == (CATL, BYD)
    assert (supply["facts"], supply["live_facts"], supply["sources"]) == (1, 1, 2)
    assert (supply["valid_from"], supply["valid_to"]) == (None, None)
    denial = next(row for row in edges if row["polarity"] == "negative")
    assert denial["relation"] == "produces"


def test_a_panel_of_themes_says_when_each_week_was_known(tmp_path: Path):
    themes = _records(exported("parquet", tmp_path / "out"), "themes")
    assert [(row["id"], row["level"], row["parent"]) for row in themes] == [
        ("theme:1", 0, None),
        ("theme:2", 1, "theme:1"),
    ]
    assert themes[0]["published_on"] == date(2024, 1, 11)
    assert themes[0]["members"] == [BYD, CATL, LITHIUM, PRICE]


def test_csv_and_parquet_hold_the_same(tmp_path: Path):
    sheets, columns = exported("csv", tmp_path / "csv"), exported("parquet", tmp_path / "parquet")
    for table in TABLES:
        rows, records = _rows(sheets, table.name), _records(columns, table.name)
        assert len(rows) == len(records)
        for row, record in zip(rows, records, strict=True):
            for name, kind in table.columns.items():
                if kind == "texts":
                    joined = plain("；".join(record[name] or ()))
                    assert row[name].removeprefix("'") == joined
                elif kind == "whole":
                    assert row[name] == ("" if record[name] is None else str(record[name]))


def test_names_stand_beside_ids(tmp_path: Path):
    folder = exported("parquet", tmp_path / "out")
    names = {row["id"]: row["name"] for row in _records(folder, "nodes")}
    for table in ("edges", "facts"):
        for row in _records(folder, table):
            assert (row["subject_name"], row["object_name"]) == (names[row["subject"]], names[row["object"]])
    for theme in _records(folder, "themes"):
        assert theme["member_names"] == [names[member] for member in theme["members"]]


def test_excel_on_a_chinese_windows_takes_a_file_for_utf_8(tmp_path: Path):
    """Without the mark at its beginning it is read as GBK; plain files are for programs."""
    folder = exported("csv", tmp_path / "out")
    assert all(path.read_bytes().startswith(codecs.BOM_UTF8 + b'"') for path in folder.glob("*.csv"))  # quoted cells
    with base().reader() as view:
        export(view, "csv", tmp_path / "plain", plain_csv=True)
    assert not any(path.read_bytes().startswith(codecs.BOM_UTF8) for path in (tmp_path / "plain").glob("*.csv"))
    (first, *_) = _rows(tmp_path / "plain", "themes")
    assert json.loads(first["members"]) == [BYD, CATL, LITHIUM, PRICE]


def test_an_export_shows_what_answers_show(tmp_path: Path):
    """Facts below the threshold are left out with the entities that only they have; two sources add up."""
    weak, twice = (fact(CATL, "produces", f"product:{name}") for name in ("甲", "乙"))
    store, below = MemoryStore(), 0.8 * vocabulary().relations["produces"].cut
    with store.writer() as writer:
        for each in (reading(1, 1, weak, twice), reading(2, 2, twice)):
            unsure = [replace(item, evidence=(replace(item.evidence[0], confidence=below),)) for item in each.facts]
            writer.write(replace(each, facts=tuple(unsure)))
    with store.reader() as view:
        export(view, "parquet", tmp_path / "shown")
        export(view, "parquet", tmp_path / "whole", min_confidence=0)
    assert [row["object"] for row in _records(tmp_path / "shown", "facts")] == ["product:乙"]
    assert {row["id"] for row in _records(tmp_path / "shown", "nodes")} == {CATL, "product:乙"}
    assert len(_records(tmp_path / "whole", "facts")) == 2


def test_no_cell_is_a_formula(tmp_path: Path):
    nodes = _rows(exported("csv", tmp_path / "out"), "nodes")
    names = {row["name"] for row in nodes}
    assert not any(name.startswith(("=", "+", "-", "@", "\t", "\r")) for name in names)
    for name in HOSTILE:
        cleaned = plain(name)
        assert (f"'{cleaned}" if cleaned[0] in "=@" else cleaned) in names
