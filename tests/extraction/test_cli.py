from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from extraction import ingest as ingesting
from extraction.cli import ingest, read
from kg.store.open import open_store
from tests.goldens import reports

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """---
title: 隔膜周报
publishedAt: 2025-08-20
source: 示例证券甲
authors: [张三]
---
# 恩捷股份

公司主营锂电池隔膜。

免责声明：本报告仅供客户使用，不构成投资建议。
"""


@pytest.fixture(autouse=True)
def one_extractor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ready = reports.extractor()
    monkeypatch.setattr(ingesting.Extractor, "default", lambda **_: ready)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "reports"
    root.mkdir()
    (root / "good.md").write_text(GOOD, encoding="utf-8")
    return root


def call(*arguments: object) -> Result:
    return CliRunner().invoke(ingest, [*map(str, arguments), "--workers", "1", "--no-ner"])


def test_ingest_says_what_it_did(folder, tmp_path):
    result = call(folder, "--kb", tmp_path / "kb.liantu")
    assert result.exit_code == 0, result.output
    assert "1 篇新写入" in result.stdout
    assert "0 篇未能读取" in result.stdout
    assert str(tmp_path / "kb.liantu") in result.stdout


def test_a_second_run_says_that_all_is_there(folder, tmp_path):
    call(folder, "--kb", tmp_path / "kb.liantu")
    result = call(folder, "--kb", tmp_path / "kb.liantu")
    assert result.exit_code == 0
    assert "0 篇新写入，1 篇已在库中" in result.stdout


def test_refused_input_is_exit_code_3_and_a_line_each(folder, tmp_path):
    (folder / "empty.md").write_bytes(b"")
    (folder / "undated.txt").write_text("没有日期的文字。", encoding="utf-8")
    result = call(folder, "--kb", tmp_path / "kb.liantu")
    assert result.exit_code == 3
    lines = [line for line in result.stderr.splitlines() if line.startswith("未处理：")]
    assert [name for name in ("empty.md", "undated.txt") if any(name in line for line in lines)] == [
        "empty.md",
        "undated.txt",
    ]
    assert len(lines) == 2
    assert "1 篇新写入" in result.stdout
    store = open_store(tmp_path / "kb.liantu")
    assert store.stats()["documents"] == 1
    store.close()


def test_the_given_day_dates_what_has_none(tmp_path):
    path = tmp_path / "undated.txt"
    path.write_text("恩捷股份主营锂电池隔膜。", encoding="utf-8")
    assert call(path, "--kb", tmp_path / "kb.liantu").exit_code == 3
    assert call(path, "--kb", tmp_path / "kb.liantu", "--date", "2025-03-04").exit_code == 0


@pytest.mark.parametrize("day", ["2025-13-01", "昨天", "20250304x"])
def test_a_day_that_is_none_is_wrong_usage(folder, tmp_path, day):
    result = call(folder, "--kb", tmp_path / "kb.liantu", "--date", day)
    assert result.exit_code == 2
    assert "2025-12-31" in result.stderr


def test_no_path_is_wrong_usage():
    assert CliRunner().invoke(ingest, []).exit_code == 2


def test_a_master_that_does_not_exist_is_wrong_usage(folder, tmp_path):
    assert call(folder, "--kb", tmp_path / "kb.liantu", "--master", tmp_path / "none.csv").exit_code == 2


def test_the_store_is_closed_when_the_run_fails(folder, tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(ingesting, "ingest", fail)
    assert isinstance(call(folder, "--kb", tmp_path / "kb.liantu").exception, RuntimeError)
    monkeypatch.undo()
    store = open_store(tmp_path / "kb.liantu")
    with store.writer():
        pass
    store.close()


def test_read_shows_what_was_read(folder):
    result = CliRunner().invoke(read, [str(folder / "good.md")])
    assert result.exit_code == 0, result.output
    assert "# 隔膜周报" in result.stdout
    assert "2025-08-20" in result.stdout
    assert "示例证券甲" in result.stdout
    assert "公司主营锂电池隔膜。" in result.stdout
    assert "免责声明" not in result.stdout


def test_read_shows_what_was_removed_and_why(folder):
    result = CliRunner().invoke(read, [str(folder / "good.md"), "--show-removed"])
    assert result.exit_code == 0
    (line,) = [line for line in result.stdout.splitlines() if "免责声明" in line]
    assert line.startswith("[")
    assert "]" in line
    assert "公司主营" not in result.stdout


def test_read_refuses_with_exit_code_3(folder):
    (folder / "empty.md").write_bytes(b"")
    result = CliRunner().invoke(read, [str(folder / "empty.md")])
    assert result.exit_code == 3
    assert result.stderr.startswith("未处理：")


def test_read_takes_a_day(folder):
    (folder / "undated.txt").write_text("恩捷股份主营锂电池隔膜。", encoding="utf-8")
    result = CliRunner().invoke(read, [str(folder / "undated.txt"), "--date", "2025-03-04"])
    assert result.exit_code == 0
    assert "2025-03-04" in result.stdout
