"""What `dump` writes can be read back, however long a document is."""

from __future__ import annotations

import codecs
import csv
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import main
from kg.commands import transfer
from kg.commands.transfer import links
from kg.interop.imports.files import whole_lines
from kg.store.open import open_store
from tests.contracts.readings import BYD, CATL, LITHIUM, day, fact, reading, reported

if TYPE_CHECKING:
    from pathlib import Path


def liantu(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(each) for each in arguments])
    assert isinstance(left.value.code, int)
    return left.value.code


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A base with a document of 1.5 million characters."""
    base = tmp_path / "long.liantu"
    with closing(open_store(base, create=True)) as store, store.writer() as writer:
        writer.write(reading(1, 1, reported(20), text="宁德时代营业收入二十亿元。" * 120_000))
        writer.write(reading(2, 2, reported(21)))
    return base


def test_a_long_document_survives_dump_and_import(long: Path, tmp_path: Path):
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    assert liantu("dump", "--kb", long, "-o", first) == 0
    assert liantu("import", first, "--kb", tmp_path / "again.liantu") == 0
    assert liantu("dump", "--kb", tmp_path / "again.liantu", "-o", second) == 0
    assert first.read_bytes() == second.read_bytes()
    assert max(map(len, first.read_text(encoding="utf-8").splitlines())) > 1_500_000


def test_a_dump_that_cannot_be_read_back_is_not_written(capsys, long: Path, tmp_path: Path, monkeypatch):
    real = transfer.dumped
    monkeypatch.setattr(transfer, "dumped", lambda store: (line[:1_000_000].rstrip() + "\n" for line in real(store)))
    assert liantu("dump", "--kb", long, "-o", tmp_path / "cut.jsonl") == 4
    assert "not a line of a dump" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.liantu"]


def test_whole_lines_have_any_length(tmp_path: Path):
    (tmp_path / "a.txt").write_text(f"a\n\n{'x' * 2_000_000}\nb", encoding="utf-8")
    assert list(whole_lines(tmp_path / "a.txt")) == [(1, "a"), (3, "x" * 2_000_000), (4, "b")]


def test_links_between_companies_are_a_table_that_looks_back_only(tmp_path: Path):
    base, now, then = tmp_path / "kb.liantu", tmp_path / "now.csv", tmp_path / "then.csv"
    terms = (("product", "电池"), ("revenue_share", "35"), ("stage", "volume"))
    sold = replace(fact(CATL, "supplies", BYD), qualifiers=terms)
    with closing(open_store(base, create=True)) as store, store.writer() as writer:
        writer.write(reading(1, 1, fact(BYD, "competes_with", CATL), fact(CATL, "produces", LITHIUM)))
        writer.write(reading(2, 5, sold))
    assert CliRunner().invoke(links, ["--kb", str(base), "-o", str(now), "--min-confidence", "0"]).exit_code == 0
    late = ["--kb", str(base), "-o", str(then), "--as-of", str(day(1)), "--min-confidence", "0"]
    assert CliRunner().invoke(links, late).exit_code == 0
    rows = list(csv.DictReader(now.read_text(encoding="utf-8-sig").splitlines()))
    assert [row["relation"] for row in rows] == ["supplies", "competes_with"]
    wanted = {"product": "电池", "share": "35.0", "stage": "volume", "state": "active", "since": str(day(5))}
    assert wanted.items() <= rows[0].items()
    assert rows[0]["sentence"]
    assert now.read_bytes().startswith(codecs.BOM_UTF8)
    printed = CliRunner().invoke(links, ["--kb", str(base), "--min-confidence", "0"]).stdout
    assert printed.startswith("relation,seller")
    assert [row["relation"] for row in csv.DictReader(then.read_text(encoding="utf-8-sig").splitlines())] == [
        "competes_with"
    ]
