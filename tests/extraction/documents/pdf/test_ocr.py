"""Pages without a text layer are read by OCR; a page is made here by rendering text to an image."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pypdfium2
import pytest
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from extraction.documents.open_file import read_file
from extraction.documents.pdf import reader
from extraction.documents.pdf.ocr import installed
from kg.model import Document
from tests.goldens import reports

if TYPE_CHECKING:
    from pathlib import Path

    from kg.errors import DocumentError
    from kg.model import Reading

LINES = (
    "2025-08-20 Lithium weekly",
    "BYD sells cars to dealers in Shenzhen.",
    "Prices of lithium carbonate fell again.",
)


def text_pdf() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5)
    canvas.setFont("Helvetica", 14)
    for number, line in enumerate(LINES):
        canvas.drawString(40, 500 - 30 * number, line)
    canvas.save()
    return buffer.getvalue()


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scan") / "2025-08-20.pdf"
    image = pypdfium2.PdfDocument(text_pdf())[0].render(scale=2.5).to_pil().convert("RGB")
    image.save(path, resolution=180)
    return path


def read(path: Path) -> Document | DocumentError:
    (found,) = read_file(path, today=date(2025, 9, 1))
    return found


def test_without_the_extra_the_advice_names_it(scan: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "installed", lambda: False)
    assert "pip install 'liantu[ocr]'" in str(read(scan))


@pytest.mark.skipif(not installed(), reason="the extra `ocr` is not installed")
def test_a_scan_is_read_with_its_confidence(scan: Path):
    document = read(scan)
    assert isinstance(document, Document), document
    for line in LINES:
        assert "".join(line.split()) in "".join(document.text.split())
    assert 0.8 < document.legibility_at(5) < 1


def test_a_page_with_text_is_not_read_by_ocr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader.OcrReader, "read", None)
    (tmp_path / "2025-08-20.pdf").write_bytes(text_pdf())
    document = read(tmp_path / "2025-08-20.pdf")
    assert isinstance(document, Document)
    assert document.legibility == ()


def test_facts_of_a_scan_are_as_sure_as_its_characters(tmp_path: Path):
    path = tmp_path / "2025-08-20.md"
    path.write_text("# 点评\n\n宁德时代向特斯拉供应磷酸铁锂电池。\n", encoding="utf-8")
    document = read(path)
    assert isinstance(document, Document)

    def extracted(legibility: tuple[float, ...]) -> Reading:
        page = replace(document, pages=(0,), legibility=legibility)
        return reports.extractor().extract(page, recorded_at=datetime(2025, 9, 1, tzinfo=UTC))

    plain, scanned = extracted(()), extracted((0.9,))
    assert plain.facts
    assert [fact.confidence for fact in scanned.facts] == [
        pytest.approx(0.9 * fact.confidence, abs=0.001) for fact in plain.facts
    ]
    assert "1 of 1 pages read by OCR, confidence 0.90" in [problem.message for problem in scanned.problems]
    assert scanned.document.legibility == ()
