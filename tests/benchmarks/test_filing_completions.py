"""Replies of several files answer one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner

from benchmarks.filings import completions
from kg.llm.batch import BatchLine
from kg.llm.port import Reply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest


def test_replies_of_several_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []

    def read_batch(path: Path) -> Iterator[BatchLine]:
        read.append(path.name)
        yield BatchLine(1, path.name, Reply("{}"), "")

    class Stop(Exception):
        pass

    def model(replies: dict[str, Reply]) -> None:
        raise Stop(*replies)

    monkeypatch.setattr(completions, "read_batch", read_batch)
    monkeypatch.setattr(completions, "BatchModel", model)
    files = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for file in files:
        file.touch()
    options = [word for file in files for word in ("--replies", str(file))]
    base = ["--kb", str(tmp_path), "--out", str(tmp_path / "out.jsonl")]
    result = CliRunner().invoke(completions.main, [str(tmp_path), *base, *options])
    assert isinstance(result.exception, Stop)
    assert (read, result.exception.args) == (["a.jsonl", "b.jsonl"], ("a.jsonl", "b.jsonl"))
