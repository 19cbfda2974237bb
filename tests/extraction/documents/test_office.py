from __future__ import annotations

import io
import zipfile
from datetime import date

import pytest

from extraction.documents import office
from kg.errors import DocumentError
from kg.model import BlockKind

docx = pytest.importorskip("docx")
pptx = pytest.importorskip("pptx")
openpyxl = pytest.importorskip("openpyxl")


def _saved(opened) -> bytes:
    buffer = io.BytesIO()
    opened.save(buffer)
    return buffer.getvalue()


def _word() -> bytes:
    report = docx.Document()
    report.core_properties.title = "宁德时代(300750)点评"
    report.add_heading("储能电池点评", level=1)
    report.add_paragraph("示例证券 2025年8月20日")
    report.add_paragraph("碳酸锂价格下跌，电芯企业毛利率回升。")
    report.add_paragraph("隔膜", style="List Bullet")
    table = report.add_table(rows=2, cols=2)
    for place, text in enumerate(("公司", "产能（GWh）", "宁德时代", "600")):
        table.cell(place // 2, place % 2).text = text
    report.add_paragraph("风险：需求不及预期。")
    return _saved(report)


def _blocks(document) -> list[tuple[object, ...]]:
    return [(b.kind, b.level, document.text[b.start : b.end]) for b in document.blocks]


def test_word_keeps_headings_lists_and_tables_in_place(read_one):
    document = read_one("x.docx", _word())
    assert (document.title, document.published_on, document.codes) == (
        "储能电池点评",
        date(2025, 8, 20),
        ("300750.SZ",),
    )
    assert _blocks(document)[0] == (BlockKind.HEADING, 1, "储能电池点评")
    assert (BlockKind.ITEM, 1, "隔膜") in _blocks(document)
    assert (BlockKind.TABLE, 0, "公司 | 产能（GWh）\n宁德时代 | 600") in _blocks(document)


def test_slides_are_pages(read_one):
    deck = pptx.Presentation()
    for title, text in (("光伏：出清", "硅料减产。"), ("需求", "装机增长。")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
        slide.notes_slide.notes_text_frame.text = f"{title}的备注。"
    document = read_one("2025-03-01 光伏.pptx", _saved(deck))
    assert document.text == "光伏：出清\n硅料减产。\n光伏：出清的备注。\n需求\n装机增长。\n需求的备注。"
    assert document.pages == (0, document.text.index("\n需求") + 1)


def test_cells_read_as_they_are_shown(read_one):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "盈利预测"
    sheet.append(["指标", "2024", "2025E"])
    sheet.append(["毛利率", 0.253, 0.2705])
    sheet.append(["营业收入（亿元）", 3620.1, 4100])
    for cell in sheet[2][1:]:
        cell.number_format = "0.0%"
    sheet.append(["日期", date(2024, 12, 31), None])
    document = read_one("2025-03-01 x.xlsx", _saved(book))
    assert _blocks(document) == [
        (BlockKind.HEADING, 2, "盈利预测"),
        (
            BlockKind.TABLE,
            0,
            "指标 | 2024 | 2025E\n毛利率 | 25.3% | 27.05%\n营业收入（亿元） | 3620.1 | 4100\n日期 | 2024-12-31 |",
        ),
    ]


@pytest.mark.parametrize("ending", ["docx", "pptx", "xlsx"])
def test_a_zip_that_is_no_office_file_is_a_fault(read, ending):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.xml", "<a/>")
    (fault,) = read(f"2025-01-01.{ending}", packed.getvalue())
    assert isinstance(fault, DocumentError)
    assert f"not a readable {ending} file" in str(fault)


def test_a_bomb_is_refused_before_it_is_unpacked(read, monkeypatch):
    monkeypatch.setattr(office, "_MOST_UNPACKED", 1000)
    (fault,) = read("2025-01-01.docx", _word())
    assert "unpacks to" in str(fault)


def test_an_entity_of_another_file_is_not_read(read, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_word())) as old, zipfile.ZipFile(packed, "w") as new:
        for item in old.infolist():
            data = old.read(item)
            if item.filename == "word/document.xml":
                text = data.decode().replace("风险：", "&leak;")
                _, body = text.split("?>", 1)
                data = f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY leak SYSTEM "file://{secret}">]>{body}'.encode()
            new.writestr(item, data)
    found = read("2025-01-01.docx", packed.getvalue())
    assert all("SECRET" not in getattr(each, "text", "") for each in found)


def test_without_the_extra_the_file_is_refused_with_advice(read, monkeypatch):
    monkeypatch.setattr(office, "find_spec", lambda _: None)
    (fault,) = read("2025-01-01.docx", _word())
    assert "pip install 'liantu[office]'" in str(fault)
