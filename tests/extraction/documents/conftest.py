from __future__ import annotations

import io
from datetime import date
from typing import TYPE_CHECKING

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from extraction.documents.open_file import read_file
from kg.model import Document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kg.errors import DocumentError

TODAY = date(2026, 1, 1)
FONT = "STSong-Light"


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Document | DocumentError]]:
    """Write bytes under a name and read them."""

    def run(name: str, data: bytes | str, **options: object) -> list[Document | DocumentError]:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return list(read_file(path, today=TODAY, **options))  # type: ignore[arg-type]

    return run


@pytest.fixture
def read_one(read: Callable[..., list[Document | DocumentError]]) -> Callable[..., Document]:
    """The same for one document that must be read."""

    def run(name: str, data: bytes | str, **options: object) -> Document:
        (found,) = read(name, data, **options)
        assert isinstance(found, Document), found
        check_spans(found)
        return found

    return run


@pytest.fixture
def check() -> Callable[[Document], None]:
    """The properties that every document has."""
    return check_spans


def check_spans(document: Document) -> None:
    """Blocks and removed spans lie within the text, in order, apart, and cover all that is not blank."""
    blocks = [(block.start, block.end) for block in document.blocks]
    assert blocks == sorted(blocks)
    spans = sorted([*blocks, *((item.start, item.end) for item in document.removed)])
    end = 0
    for start, stop in spans:
        assert end <= start < stop <= len(document.text)
        assert not document.text[end:start].strip()
        end = stop
    assert not document.text[end:].strip()
    assert list(document.pages) == sorted(document.pages)
    assert all(0 <= page <= len(document.text) for page in document.pages)


def canvas(title: str = "", encrypt: str | None = None) -> tuple[Canvas, io.BytesIO]:
    pdfmetrics.registerFont(UnicodeCIDFont(FONT))
    buffer = io.BytesIO()
    drawing = Canvas(buffer, pagesize=A4, encrypt=encrypt)
    if title:
        drawing.setTitle(title)
    return drawing, buffer


def draw(drawing: Canvas, lines: list[tuple[float, float, str]], size: float = 11) -> None:
    drawing.setFont(FONT, size)
    for x, y, text in lines:
        drawing.drawString(x, y, text)


@pytest.fixture
def report_pdf() -> bytes:
    """Four pages: cover, contents, a paragraph that crosses a page, a ruled table, and a disclaimer."""
    drawing, buffer = canvas()
    _furniture(drawing, 1)
    draw(drawing, [(60, 740, "光伏产业链深度：出清进行时")], 20)
    draw(drawing, [(60, 700, "示例证券甲研究所 2024年11月18日"), (60, 680, "分析师：张三 电话：010-00000000")])
    draw(
        drawing,
        [(60, 640, "目录"), (60, 620, "一、价格见底" + "." * 60 + " 2"), (60, 600, "二、公司" + "." * 64 + " 3")],
    )
    drawing.showPage()
    _furniture(drawing, 2)
    draw(drawing, [(60, 740, "一、价格见底")], 16)
    rows = [
        "硅料价格下跌带动组件成本下降，组件企业的毛利率因此回升，而高成本的硅料产能开始停产检",
        "修，供给收缩将在两个季度之后体现。",
    ]
    draw(drawing, [(82, 700, rows[0][:39]), (60, 684, rows[0][39:] + rows[1])])
    draw(drawing, [(60, 110, "隆基绿能是全球最大的单晶硅片企业，公司的电池与组件业务由一体化布局带动，二零二四年组件")])
    drawing.showPage()
    _furniture(drawing, 3)
    draw(drawing, [(60, 740, "出货量居全球前列。")])
    draw(drawing, [(60, 700, "图表1：主要企业产能（GW）")])
    _ruled(drawing, 60, 680, [["公司", "2023", "2024"], ["隆基绿能", "120", "150"], ["通威股份", "75", "90"]])
    draw(drawing, [(60, 600, "资料来源：公司公告，示例证券甲")])
    draw(drawing, [(60, 560, "风险提示：需求不及预期。")])
    drawing.showPage()
    _furniture(drawing, 4)
    draw(drawing, [(60, 740, "免责声明")], 14)
    draw(drawing, [(60, 710, "本报告仅供示例证券甲的客户使用，不构成投资建议。"), (60, 690, "版权所有，违者必究。")])
    drawing.showPage()
    drawing.save()
    return buffer.getvalue()


def _furniture(drawing: Canvas, number: int) -> None:
    draw(
        drawing, [(60, 800, "示例证券甲·行业深度"), (60, 40, "请务必阅读正文之后的免责条款"), (520, 40, str(number))], 9
    )


def _ruled(drawing: Canvas, left: float, top: float, rows: list[list[str]]) -> None:
    wide, high = 110, 20
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            drawing.rect(left + c * wide, top - (r + 1) * high, wide, high)
            draw(drawing, [(left + c * wide + 6, top - (r + 1) * high + 6, cell)])
