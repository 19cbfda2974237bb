from __future__ import annotations

import io
import os
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from extraction.documents.assembly import join_text
from kg.errors import DocumentError
from kg.model import BlockKind, Document

FONT = "STSong-Light"


def _kept(document: Document) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def _removed(document: Document) -> dict[str, str]:
    return {document.text[item.start : item.end]: item.reason for item in document.removed}


def test_metadata_comes_from_the_first_page(read_one, report_pdf):
    document = read_one("x.pdf", report_pdf)
    assert document.title == "光伏产业链深度：出清进行时"
    assert document.published_on == date(2024, 11, 18)
    assert document.publisher == "示例证券甲"
    assert document.authors == ("张三",)
    assert len(document.pages) == 4


def test_a_paragraph_is_whole_across_pages_and_counts_for_the_first(read_one, report_pdf):
    document = read_one("x.pdf", report_pdf)
    whole = next(text for text in _kept(document) if text.startswith("隆基绿能是"))
    assert whole.endswith("二零二四年组件出货量居全球前列。")
    assert document.page_of(document.text.index(whole)) == 2
    assert document.page_of(document.text.index("风险提示")) == 3


def test_wrapped_chinese_lines_join_without_a_space(read_one, report_pdf):
    assert any("硅料产能开始停产检修，供给" in text for text in _kept(read_one("x.pdf", report_pdf)))


def test_every_removed_line_has_its_reason(read_one, report_pdf):
    removed = _removed(read_one("x.pdf", report_pdf))
    assert removed["示例证券甲·行业深度"] == "running-header"
    assert removed["请务必阅读正文之后的免责条款"] == "running-footer"
    assert removed["1"] == "page-number"
    assert removed["目录"] == "contents"
    assert removed["资料来源：公司公告，示例证券甲"] == "source-line"
    assert removed["分析师：张三 电话：010-00000000"] == "contact"
    assert removed["免责声明"] == "disclaimer"
    assert any("版权所有" in text and reason == "disclaimer" for text, reason in removed.items())
    assert "风险提示：需求不及预期。" not in removed


def test_a_ruled_table_is_one_block_with_its_label_as_title(read_one, report_pdf):
    document = read_one("x.pdf", report_pdf)
    (table,) = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    text = document.text[table.start : table.end]
    assert text == "图表1：主要企业产能（GW）\n公司 | 2023 | 2024\n隆基绿能 | 120 | 150\n通威股份 | 75 | 90"
    assert "<caption>图表1：主要企业产能（GW）</caption>" in table.html
    assert document.page_of(table.start) == 3


def test_headings_are_ranked_by_size(read_one, report_pdf):
    document = read_one("x.pdf", report_pdf)
    headings = [document.text[b.start : b.end] for b in document.blocks if b.kind is BlockKind.HEADING]
    assert headings == ["光伏产业链深度：出清进行时", "一、价格见底"]


def _pdf(path: Path, *pages: list[tuple[float, float, str]], encrypt: str | None = None) -> bytes:
    """Helvetica pages; enough where the words do not matter."""
    drawing = Canvas(str(path), pagesize=A4, encrypt=encrypt)
    for lines in pages:
        for x, y, text in lines:
            drawing.drawString(x, y, text)
        drawing.showPage()
    drawing.save()
    return path.read_bytes()


def test_an_unruled_table_is_read_by_its_gutters(read_one, tmp_path):
    head = [(60, 800, "Published on: 2024-03-01"), (60, 700, "Table 1: capacity of producers in GW")]
    rows = [("Firm", "2022", "2023"), ("Longi", "85", "120"), ("Tongwei", "50", "75"), ("JA Solar", "50", "95")]
    cells = [(60 + 150 * c, 680 - 16 * r, cell) for r, row in enumerate(rows) for c, cell in enumerate(row)]
    document = read_one("x.pdf", _pdf(tmp_path / "t.pdf", [*head, *cells, (60, 600, "Source: company reports")]))
    assert "Firm | 2022 | 2023\nLongi | 85 | 120\nTongwei | 50 | 75\nJA Solar | 50 | 95" in document.text
    assert document.language == "en"


def test_scattered_numbers_below_a_figure_label_are_no_table(read_one, tmp_path):
    axis = [(60, 660 - 20 * step, str(100 - 10 * step)) for step in range(8)]
    marks = [(100 + 60 * step, 480, str(2015 + step)) for step in range(5)]
    text = [(60, 800, "Date: 2024-03-01"), (60, 700, "Figure 1: prices"), *axis, *marks, (60, 450, "Source: Wind")]
    document = read_one("x.pdf", _pdf(tmp_path / "t.pdf", [*text, (60, 400, "Prices fell after the harvest.")]))
    assert [b.kind for b in document.blocks if "|" in document.text[b.start : b.end]] == []
    assert "figure-text" in {item.reason for item in document.removed}
    assert "Prices fell after the harvest." in _kept(document)


def _fault(found: list[object]) -> DocumentError:
    (fault,) = found
    assert isinstance(fault, DocumentError)
    assert "\n" not in str(fault)
    return fault


def test_an_encrypted_pdf_says_so(read, tmp_path):
    data = _pdf(tmp_path / "e.pdf", [(60, 700, "secret words on a page")], encrypt="geheim")
    assert "encrypted" in _fault(read("x.pdf", data)).cause


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_truncated_pdf_is_one_fault_or_read(read, report_pdf, share):
    found = read("2024-01-01_x.pdf", report_pdf[: int(len(report_pdf) * share)])
    assert len(found) == 1
    if isinstance(found[0], DocumentError):
        assert "truncated" in found[0].cause or "damaged" in found[0].cause or "text layer" in found[0].cause


def test_a_pdf_of_pictures_points_to_ocr(read, tmp_path):
    drawing = Canvas(str(tmp_path / "p.pdf"), pagesize=A4)
    drawing.rect(100, 100, 200, 200, fill=1)
    drawing.showPage()
    drawing.save()
    assert "OCR" in _fault(read("x.pdf", (tmp_path / "p.pdf").read_bytes())).advice


def test_too_many_pages_are_refused(read, tmp_path, monkeypatch):
    monkeypatch.setattr("extraction.documents.pdf.reader.MAX_PAGES", 2)
    data = _pdf(tmp_path / "m.pdf", *[[(60, 700, "a line of text on a page")]] * 3)
    assert "3 pages" in _fault(read("x.pdf", data)).cause


def test_rubbish_behind_the_mark_is_damaged(read):
    assert "PDF" in _fault(read("x.pdf", b"%PDF-1.7\n" + os.urandom(3000) + b"%%EOF")).cause


def test_without_a_date_the_advice_is_to_give_one(read, tmp_path, monkeypatch):
    monkeypatch.setattr("extraction.documents.pdf.reader._created", lambda *_: None)
    fault = _fault(read("x.pdf", _pdf(tmp_path / "d.pdf", [(60, 700, "a line of text on a page")])))
    assert "--date" in fault.advice


def test_the_given_date_outranks_the_page(read_one, report_pdf):
    assert read_one("x.pdf", report_pdf, published_on=date(2023, 1, 2)).published_on == date(2023, 1, 2)


def test_a_creation_date_in_the_future_is_no_publication_day(read, tmp_path):
    """reportlab stamps today's real day, which lies after the fixed one of these tests or is accepted."""
    (found,) = read("x.pdf", _pdf(tmp_path / "d.pdf", [(60, 700, "a line of text on a page")]))
    assert isinstance(found, DocumentError) or found.published_on <= date(2026, 1, 1)


def test_lines_join_by_script():
    assert join_text("毛利", "率") == "毛利率"
    assert join_text("gross", "margin") == "gross margin"
    assert join_text("carbo-", "nate") == "carbonate"


REAL = Path(os.environ.get("LIANTU_DATA", "../shared/data")) / "broker_pdf"


@pytest.mark.extended
@pytest.mark.real_data
@pytest.mark.skipif(not REAL.is_dir(), reason="needs ../shared/data or LIANTU_DATA")
def test_real_reports_keep_most_of_their_text():
    from extraction.documents.open_file import read_file, walk  # noqa: PLC0415 - only where the data are

    for path in walk([REAL], Counter()):
        (document,) = read_file(path, today=date(2026, 1, 1))
        assert isinstance(document, Document)
        assert document.publisher.endswith("证券")
        assert document.authors
        assert date(2022, 1, 1) <= document.published_on <= date(2023, 12, 31)
        content = sum(b.end - b.start for b in document.blocks)
        noise = sum(r.end - r.start for r in document.removed if r.reason not in {"contents", "watermark"})
        assert content > noise


_LEFT = [
    "宁德时代在二零二四年实现营业收入三",
    "千六百二十亿元，同比下降百分之九。",
    "公司动力电池的全球份额连续第八年排",
    "名第一，海外基地陆续投产。",
]
_RIGHT = [
    "比亚迪在二零二四年实现营业收入七千",
    "七百七十一亿元，同比增长百分之二十",
    "九。公司向小米集团供应刀片电池，海",
    "外销量创出新高，出口持续增长。",
]


def _drawn(write) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.setFont(FONT, 12)
    canvas.drawString(60, 790, "2025年4月28日")
    write(canvas)
    canvas.save()
    return buffer.getvalue()


def test_columns_drawn_row_by_row_are_read_one_after_the_other(read_one):
    def write(canvas: Canvas) -> None:
        for row, (left, right) in enumerate(zip(_LEFT, _RIGHT, strict=True)):
            canvas.drawString(60, 740 - 16 * row, left)
            canvas.drawString(320, 740 - 16 * row, right)

    kept = _kept(read_one("x.pdf", _drawn(write)))
    assert "".join(_LEFT) in kept
    assert "".join(_RIGHT) in kept


def test_rows_of_short_cells_are_no_columns_of_text(read_one):
    rows = [("宁德时代", "动力电池"), ("比亚迪", "整车"), ("亿纬锂能", "圆柱电池"), ("天齐锂业", "碳酸锂")]

    def write(canvas: Canvas) -> None:
        for row, (left, right) in enumerate(rows):
            canvas.drawString(60, 740 - 16 * row, left)
            canvas.drawString(320, 740 - 16 * row, right)

    text = read_one("x.pdf", _drawn(write)).text
    assert [text.index(cell) for row in rows for cell in row] == sorted(
        text.index(cell) for row in rows for cell in row
    )


def _white(canvas: Canvas) -> None:
    canvas.setFillColorRGB(1, 1, 1)


def _tiny(canvas: Canvas) -> None:
    canvas.setFont(FONT, 1)


def _invisible(canvas: Canvas) -> None:
    canvas._code.append("3 Tr")


def _transparent(canvas: Canvas) -> None:
    canvas.setFillAlpha(0)


@pytest.mark.parametrize("hide", [_white, _tiny, _invisible, _transparent])
def test_text_that_a_reader_of_the_page_does_not_see_is_removed(read_one, hide):
    def write(canvas: Canvas) -> None:
        canvas.drawString(60, 740, "宁德时代二零二四年实现营业收入三千六百二十亿元。")
        hide(canvas)
        canvas.drawString(60, 700, "宁德时代向小米集团供应固态电池。")

    document = read_one("x.pdf", _drawn(write))
    assert _removed(document) == {"宁德时代向小米集团供应固态电池。": "unseen"}


def test_white_text_on_a_dark_band_is_read(read_one):
    def write(canvas: Canvas) -> None:
        canvas.setFillColorRGB(0, 0.2, 0.4)
        canvas.rect(50, 690, 400, 30, fill=1, stroke=0)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(60, 700, "宁德时代向小米集团供应固态电池。")

    assert "宁德时代向小米集团供应固态电池。" in _kept(read_one("x.pdf", _drawn(write)))


def test_the_invisible_text_of_a_scanned_page_is_read(read_one):
    def write(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(Image.new("RGB", (60, 80), "white")), 0, 0, *A4)
        canvas._code.append("3 Tr")
        canvas.drawString(60, 700, "宁德时代向小米集团供应固态电池，今年开始量产。")

    assert "宁德时代向小米集团供应固态电池，今年开始量产。" in _kept(read_one("x.pdf", _drawn(write)))
