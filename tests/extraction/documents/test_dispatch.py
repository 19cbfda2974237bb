from __future__ import annotations

import os
import zipfile
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extraction.documents.open_file import MAX_BYTES, read_file, walk
from kg.errors import DocumentError
from kg.model import Document

TODAY = date(2026, 1, 1)


def _fault(found: list[object]) -> DocumentError:
    (fault,) = found
    assert isinstance(fault, DocumentError)
    assert "\n" not in str(fault)
    assert fault.advice
    return fault


def test_walking_is_recursive_sorted_and_counts_the_rest(tmp_path):
    passed = Counter[str]()
    others = ("c.doc", "sub/g.DOC", "h.rtf", "Makefile", "kb.liantu", "kb.liantu-wal")
    for name in ("b.md", "a.pdf", ".hidden.md", "sub/d.HTML", "sub/e.jsonl", ".git/f.md", *others):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    names = [str(path.relative_to(tmp_path)) for path in walk([tmp_path, tmp_path / "b.md"], passed)]
    assert names == ["a.pdf", "b.md", "sub/d.HTML", "sub/e.jsonl"]
    assert passed == {".doc": 2, ".rtf": 1, "": 1}


def test_a_named_file_is_yielded_whatever_it_is(tmp_path):
    assert list(walk([tmp_path / "absent.pdf", tmp_path / "c.doc"], Counter())) == [
        tmp_path / "absent.pdf",
        tmp_path / "c.doc",
    ]


def test_a_missing_file_is_a_fault(tmp_path):
    assert "No such file" in _fault(list(read_file(tmp_path / "absent.pdf", today=TODAY))).cause


def test_a_folder_with_an_ending_is_a_fault(tmp_path):
    (tmp_path / "x.md").mkdir()
    assert "regular file" in _fault(list(read_file(tmp_path / "x.md", today=TODAY))).cause


@pytest.mark.parametrize("name", ["x.doc", "x", "x.png"])
def test_an_unknown_ending_is_a_fault_when_named(read, name):
    assert "unknown extension" in _fault(read(name, b"x")).cause


@pytest.mark.parametrize("name", ["x.pdf", "x.md", "x.txt", "x.html", "x.jsonl", "x.docx", "x.pptx", "x.xlsx"])
def test_no_bytes(read, name):
    assert "0 bytes" in _fault(read(name, b"")).cause


@pytest.mark.parametrize("name", ["x.md", "x.txt", "x.html", "x.jsonl"])
def test_only_blanks(read, name):
    assert "empty" in _fault(read(name, b" \n\n ")).cause


def test_a_zip_that_calls_itself_pdf(read, tmp_path):
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    assert "ZIP" in _fault(read("x.pdf", (tmp_path / "z").read_bytes())).cause


def test_a_pdf_that_calls_itself_text(read):
    assert "a PDF" in _fault(read("x.txt", b"%PDF-1.7 ...")).cause


def test_a_huge_file_is_refused_unread(tmp_path):
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1024 * 1024)
    assert "201 MB" in _fault(list(read_file(path, today=TODAY))).cause


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_right_encodings(read_one, encoding):
    text = "锂电行业点评\n2025-04-24\n碳酸锂价格下跌，正极材料企业的毛利率回升。\n" * 3
    document = read_one("x.txt", text.encode(encoding))
    assert document.text == text
    assert document.published_on == date(2025, 4, 24)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe\x00",
        "碳酸锂".encode() + b"\xff\xfe\xfd" + "价格下跌，毛利率回升".encode(),
        "碳酸鋰價格下跌，正極材料企業的毛利率回升。".encode("big5") * 5,
        bytes(range(128, 256)) * 20,
    ],
)
def test_wrong_encodings(read, data):
    assert "undecodable" in _fault(read("2025-01-01.txt", data)).cause


def test_nul_bytes_are_no_text(read):
    assert "NUL" in _fault(read("2025-01-01.txt", b"abc\0def")).cause


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(min_size=1, max_size=400),
    ending=st.sampled_from(["pdf", "md", "txt", "html", "jsonl", "docx", "xlsx"]),
)
def test_no_bytes_make_a_traceback(tmp_path, data, ending):
    path = tmp_path / f"2025-01-01.{ending}"
    path.write_bytes(data)
    for found in read_file(path, today=TODAY):
        assert isinstance(found, Document | DocumentError)


REAL = Path(os.environ.get("LIANTU_DATA", "../shared/data")) / "gator"


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.is_dir(), reason="needs ../shared/data or LIANTU_DATA")
def test_every_real_note_is_read():
    found = [item for path in walk([REAL], Counter()) for item in read_file(path, today=TODAY)]
    assert len(found) == 699
    documents = [item for item in found if isinstance(item, Document)]
    assert len(documents) == 699
    assert all(date(2025, 5, 1) <= item.published_on <= date(2025, 12, 31) for item in documents)
    hidden = sum(span.end - span.start for item in documents for span in item.removed)
    assert hidden < 0.01 * sum(len(item.text) for item in documents)
