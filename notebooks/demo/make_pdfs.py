"""Set the plain sources under ``sources/`` as broker-report PDFs under ``reports/``.

Run it from anywhere: ``python notebooks/demo/make_pdfs.py``. It needs reportlab (in the ``dev`` extra) and the Debian
packages ``fonts-wqy-microhei`` and ``fonts-wqy-zenhei``: their outlines are TrueType, so reportlab embeds a subset with
a Unicode map and the text can be read back. The output depends on the sources and the fonts alone: no clock, no
random document id.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from reportlab import rl_config
from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.shapes import Drawing
from reportlab.lib import textsplit
from reportlab.lib.colors import Color, HexColor, white
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    HRFlowable,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
    paragraph,
)
from reportlab.platypus.tableofcontents import TableOfContents

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
REPORTS = HERE / "reports"
FONTS = {
    "Body": Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"),
    "Head": Path("/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"),
}
MARGIN = 22 * mm
WIDTH = A4[0] - 2 * MARGIN
INK: dict[str, Color] = {
    "示例证券甲": HexColor("#9c1f2e"),
    "示例证券乙": HexColor("#1f4e9c"),
    "示例证券丙": HexColor("#1f6b4a"),
}
GREY = HexColor("#666666")


@dataclass(frozen=True, slots=True)
class Source:
    """One report before typesetting: its front matter, its body and the name of the file it becomes."""

    name: str
    meta: dict[str, Any]
    body: str

    @property
    def running_head(self) -> str:
        """The line printed at the top of every page."""
        return f"{self.meta['publisher']} | {self.meta['kind']} | {self.meta['sector']}"


class ReportTemplate(BaseDocTemplate):
    """A4 pages with a running head and a page number; headings announce themselves to the table of contents."""

    def __init__(self, path: Path, source: Source) -> None:
        super().__init__(
            str(path),
            pagesize=A4,
            leftMargin=MARGIN,
            rightMargin=MARGIN,
            topMargin=26 * mm,
            bottomMargin=source.meta["foot_mm"] * mm,
            title=f"{source.meta['title']}：{source.meta['subtitle']}",
            author=source.meta["publisher"],
            invariant=1,
        )
        self.source = source
        frame = Frame(MARGIN, self.bottomMargin, self.width, self.height, leftPadding=0, rightPadding=0)
        self.addPageTemplates([PageTemplate(id="report", frames=[frame], onPage=self.furnish)])

    def furnish(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        """Draw the running head and the footer of one page."""
        ink = INK[self.source.meta["publisher"]]
        canvas.saveState()
        canvas.setFont("Head", 9)
        canvas.setFillColor(ink)
        canvas.drawString(MARGIN, A4[1] - 16 * mm, self.source.running_head)
        canvas.drawRightString(A4[0] - MARGIN, A4[1] - 16 * mm, "证券研究报告")
        canvas.setStrokeColor(ink)
        canvas.line(MARGIN, A4[1] - 18 * mm, A4[0] - MARGIN, A4[1] - 18 * mm)
        canvas.setFont("Body", 8)
        canvas.setFillColor(GREY)
        canvas.drawString(MARGIN, 13 * mm, "敬请参阅最后一页特别声明")
        canvas.drawRightString(A4[0] - MARGIN, 13 * mm, str(canvas.getPageNumber()))
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - the hook's name is reportlab's
        """Tell the table of contents about each heading."""
        level = getattr(flowable, "toc_level", None)
        if level is not None:
            self.notify("TOCEntry", (level, flowable.getPlainText(), self.page))


def style(name: str, size: float, **more: Any) -> ParagraphStyle:
    """A paragraph style that wraps between Chinese characters."""
    settings: dict[str, Any] = {"fontName": "Body", "leading": size * 1.65, "wordWrap": "CJK", **more}
    return ParagraphStyle(name, fontSize=size, **settings)


BODY = style("body", 11, allowWidows=1, allowOrphans=1, firstLineIndent=22, spaceAfter=6)
LEAD = style("lead", 11, spaceAfter=6, leftIndent=12, bulletIndent=0)
CELL = style("cell", 8.5, leading=12)
NOTE = style("note", 8, textColor=GREY, spaceAfter=9)
CAPTION = style("caption", 9.5, fontName="Head", spaceBefore=7, spaceAfter=3, keepWithNext=1)
TITLE = style("title", 21, fontName="Head", leading=28)
SUBTITLE = style("subtitle", 13, fontName="Head", textColor=GREY, spaceAfter=8)
HEADS = (
    style("head0", 14, fontName="Head", spaceBefore=9, spaceAfter=5),
    style("head1", 11.5, fontName="Head", spaceBefore=6, spaceAfter=4),
)
CONTENTS = (style("contents0", 10.5), style("contents1", 9.5, leftIndent=14))


def read(path: Path) -> Source:
    """Split a source file into front matter and body."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return Source(path.stem, yaml.safe_load(front), body)


def inline(text: str, ink: Color) -> str:
    """Turn ``**bold**`` into a coloured heading face."""
    return re.sub(r"\*\*(.+?)\*\*", rf'<font name="Head" color="{ink.hexval().replace("0x", "#")}">\1</font>', text)


def heading(text: str, level: int) -> Paragraph:
    """A heading that the table of contents will list."""
    made = Paragraph(text, HEADS[level])
    made.toc_level = level
    return made


def ruled(lines: list[str], ink: Color) -> Table:
    """A full-width table with rules and a filled head row; column widths follow the longest cell of each column."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    weights = [max(len(row[i]) for row in rows) + 2 for i in range(len(rows[0]))]
    head = ParagraphStyle("cellhead", parent=CELL, textColor=white, fontName="Head")
    table = Table(
        [[Paragraph(cell, CELL if number else head) for cell in row] for number, row in enumerate(rows)],
        colWidths=[WIDTH * weight / sum(weights) for weight in weights],
        repeatRows=1,
    )
    table.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, GREY),
                ("BACKGROUND", (0, 0), (-1, 0), ink),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
                ("TOPPADDING", (0, 0), (-1, -1), 2),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
            ]
        )
    )
    return table


def bars(lines: list[str], ink: Color) -> Drawing:
    """A bar chart with one value per label, as drawn under a figure caption."""
    labels, values = zip(*(line.split(":") for line in lines), strict=True)
    chart = VerticalBarChart()
    chart.x, chart.y, chart.width, chart.height = 36, 20, WIDTH - 60, 92
    chart.data = [[float(value) for value in values]]
    chart.categoryAxis.categoryNames = list(labels)
    chart.valueAxis.valueMin = 0
    chart.bars[0].fillColor = ink
    chart.barLabelFormat = "%s"
    chart.barLabels.nudge = 7
    for part in (chart.categoryAxis.labels, chart.valueAxis.labels, chart.barLabels):
        part.fontName, part.fontSize = "Body", 8
    drawing = Drawing(WIDTH, 125)
    drawing.add(chart)
    return drawing


def blocks(body: str) -> Iterator[list[str]]:
    """Group the lines of a body: a table's rows or a chart's lines together, every other line alone."""
    table: list[str] = []
    chart: list[str] | None = None
    for line in [*body.splitlines(), ""]:
        if chart is not None and line == "```":
            yield ["```chart", *chart]
            chart = None
        elif chart is not None:
            chart.append(line)
        elif line.startswith("|"):
            table.append(line)
        else:
            if table:
                yield table
                table = []
            if line.startswith("```chart"):
                chart = []
            elif line.strip():
                yield [line]


def flow(body: str, ink: Color) -> Iterator[Flowable]:
    """Typeset the body, block by block."""
    for block in blocks(body):
        first = block[0]
        if first == "```chart":
            yield bars(block[1:], ink)
        elif first.startswith("|"):
            yield ruled(block, ink)
        elif mark := re.match(r"(#{1,2}) ", first):
            yield CondPageBreak(20 * mm)  # keepWithNext would also keep the whole next paragraph from breaking
            yield heading(first[mark.end() :], len(mark[1]) - 1)
        elif first.startswith("图表"):
            yield Paragraph(first, CAPTION)
        elif first.startswith("资料来源"):
            yield Paragraph(first, NOTE)
        elif first.startswith("- "):
            yield Paragraph(inline(first[2:], ink), LEAD, bulletText="•")
        else:
            yield Paragraph(inline(first, ink), BODY)


def contents() -> list[Flowable]:
    """The table of contents with dotted leaders."""
    table = TableOfContents(levelStyles=list(CONTENTS), dotsMinLevel=0)
    table.tableStyle = TableStyle([("LEFTPADDING", (0, 0), (-1, -1), 0), ("RIGHTPADDING", (0, 0), (-1, -1), 0)])
    return [Paragraph("目录", HEADS[0]), table]


def cover(source: Source, ink: Color) -> Iterator[Flowable]:
    """The first page: date, title, rating, key points and who to ring."""
    meta = source.meta
    yield Paragraph(f"{meta['publisher']}研究所　{meta['date']:%Y年%m月%d日}", NOTE)
    yield Paragraph(meta["title"], ParagraphStyle("coloured", parent=TITLE, textColor=ink))
    yield Paragraph(f"——{meta['subtitle']}", SUBTITLE)
    yield HRFlowable(width="100%", thickness=1.2, color=ink, spaceAfter=8)
    yield Paragraph(meta["rating"], CAPTION)
    yield Paragraph("核心观点", HEADS[1])
    yield from (Paragraph(inline(point, ink), LEAD, bulletText="•") for point in meta["summary"])
    yield Spacer(1, 8)
    for name, phone, mail in meta["analysts"]:
        yield Paragraph(f"分析师：{name}　电话：{phone}　邮箱：{mail}", NOTE)


def story(source: Source) -> Iterator[Flowable]:
    """Everything a report consists of, in reading order."""
    ink = INK[source.meta["publisher"]]
    yield from cover(source, ink)
    if source.meta["contents_page"]:
        yield PageBreak()
    yield from contents()
    yield PageBreak() if source.meta["contents_page"] else Spacer(1, 10)
    yield from flow(source.body, ink)
    yield PageBreak()
    text = (SOURCES / "disclaimer.md").read_text(encoding="utf-8")
    yield from flow(text.format(publisher=source.meta["publisher"]), ink)


def make(source: Source) -> Path:
    """Write one PDF; the document is built twice over so that the contents page knows its page numbers."""
    path = REPORTS / f"{source.name}.pdf"
    ReportTemplate(path, source).multiBuild(list(story(source)))
    return path


def main() -> None:
    """Make every PDF of the demo corpus."""
    rl_config.invariant = 1
    for splitter in (paragraph, textsplit):  # their list is Japanese and leaves these Chinese marks out
        splitter.ALL_CANNOT_START += "，；：？！”"
    for name, path in FONTS.items():
        pdfmetrics.registerFont(TTFont(name, str(path), subfontIndex=0))
        pdfmetrics.registerFontFamily(name, normal=name, bold=name, italic=name, boldItalic=name)
    for path in sorted(SOURCES.glob("20*.md")):
        made = make(read(path))
        print(f"{made.name}: {made.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
