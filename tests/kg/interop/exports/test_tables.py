"""CSV and Parquet: every column of a fact comes back with its type, and no cell is a formula."""

from __future__ import annotations

import csv
import json
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from kg.interop.exports.content import plain
from kg.interop.exports.tables import TABLES
from tests.contracts.readings import READ
from tests.kg.interop.exports.sample import BYD, CATL, HOSTILE, LITHIUM, MARGIN, PRICE, base, exported

if TYPE_CHECKING:
    from pathlib import Path


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
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
                    assert json.loads(row[name] or "[]") == [plain(text) for text in record[name] or ()]
                elif kind == "whole":
                    assert row[name] == ("" if record[name] is None else str(record[name]))


def test_no_cell_is_a_formula(tmp_path: Path):
    nodes = _rows(exported("csv", tmp_path / "out"), "nodes")
    names = {row["name"] for row in nodes}
    assert not any(name.startswith(("=", "+", "-", "@", "\t", "\r")) for name in names)
    for name in HOSTILE:
        cleaned = plain(name)
        assert (f"'{cleaned}" if cleaned[0] in "=@" else cleaned) in names
