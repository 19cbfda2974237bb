"""Lines of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.errors import DocumentError
from kg.interop.imports.files import numbered_lines

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_are_those_of_a_text_file(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeff一\r\n\r\n二\r三\n\n 四\u2028四\n\r五".encode())
    with path.open(encoding="utf-8-sig") as file:
        expected = [(number, line.rstrip("\n")) for number, line in enumerate(file, start=1) if line != "\n"]
    assert [line for _, line in expected] == ["一", "二", "三", " 四\u2028四", "五"]
    assert list(numbered_lines(path)) == expected


def test_a_line_too_long_for_a_row_is_cut(tmp_path: Path):
    (tmp_path / "a.txt").write_text(f"a\n{'x' * 100}\nb\n{'y' * 6}")
    assert list(numbered_lines(tmp_path / "a.txt", longest=5)) == [(1, "a"), (2, "xxxxx"), (3, "b"), (4, "yyyyy")]


def test_every_line_before_what_is_no_text_is_handed_on(tmp_path: Path):
    (tmp_path / "a.txt").write_bytes("一\n二\n三".encode() + b"\xff\n\xe4\xb8\x80\n")
    lines = numbered_lines(tmp_path / "a.txt")
    assert [next(lines), next(lines)] == [(1, "一"), (2, "二")]
    with pytest.raises(DocumentError, match="not UTF-8"):
        next(lines)
