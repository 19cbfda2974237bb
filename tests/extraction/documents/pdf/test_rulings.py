"""Ruled tables, drawn for each test: by lines, by painted cells, with bars, in a form, and drawings that are none."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pypdfium2
import pytest
from reportlab.lib.colors import lightgrey
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from extraction.documents.pdf.lines import Page, read_page
from extraction.documents.pdf.rulings import NO_RULINGS, ruled_tables
from extraction.documents.pdf.tables import ruled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS, ROWS = (60, 160, 260, 360), (700, 680, 660, 640)  # points from the lower left corner
NAMES = [["item", "2023A", "2024A"], ["cable", "65", "549"], ["tower", "21", "26"]]


@pytest.fixture
def drawn(tmp_path: Path):
    def draw(*parts: Callable[[Canvas], None]) -> Page:
        canvas = Canvas(str(tmp_path / "t.pdf"), pagesize=A4)
        canvas.setFont("Helvetica", 9)
        for part in parts:
            part(canvas)
        canvas.save()
        document = pypdfium2.PdfDocument(tmp_path / "t.pdf")
        page = read_page(document[0], 0, 100_000)
        document.close()
        assert page is not None
        return page

    return draw


def texts(page: Page) -> list[list[list[str]]]:
    tables = ruled_tables(page.rulings, page.lines)
    return [[[cell.text if cell else "" for cell in row] for row in rows] for _, rows in tables]


def words(canvas: Canvas) -> None:
    for top, row in zip(ROWS, NAMES, strict=False):
        for left, text in zip(COLUMNS, row, strict=False):
            canvas.drawString(left + 5, top - 13, text)


def lines(canvas: Canvas) -> None:
    canvas.grid(COLUMNS, ROWS)


def grounds(canvas: Canvas) -> None:
    canvas.setFillColor(lightgrey)
    for left, right in itertools.pairwise(COLUMNS):
        for top, bottom in itertools.pairwise(ROWS):
            canvas.rect(left, bottom, right - left, top - bottom, stroke=0, fill=1)
            canvas.rect(left + 4, bottom + 4, right - left - 8, 10, stroke=0, fill=1)  # of the line of text
    canvas.setFillColorRGB(0, 0, 0)


@pytest.mark.parametrize("cells", [lines, grounds])
def test_lines_and_painted_cells_are_tables(drawn, cells):
    assert texts(drawn(cells, words)) == [NAMES]


def test_the_last_row_is_kept_although_its_rule_is_well_below_its_words(drawn):
    page = drawn(lines, words)
    assert [[cell.text for cell in row if cell] for row in ruled(page, page.lines)] == NAMES


def test_cells_without_a_rule_between_them_are_one(drawn):
    def merged(canvas: Canvas) -> None:
        canvas.rect(60, 640, 300, 60)
        for height in (660, 680):
            canvas.line(160, height, 360, height)  # the first column spans all rows
        for left in (160, 260):
            canvas.line(left, 640, left, 680)  # the header spans two columns
        canvas.line(160, 680, 160, 700)

    (rows,) = texts(drawn(merged, words))
    assert [row[0] for row in rows] == ["item\ncable\ntower"] * 3
    assert rows[0][1] == rows[0][2] == "2023A 2024A"


def test_a_bar_in_a_cell_is_no_column(drawn):
    def bars(canvas: Canvas) -> None:
        grounds(canvas)
        for row, width in zip(ROWS[1:], (40, 70), strict=False):
            for shift in (0, width):  # the sides of its outline
                canvas.rect(162 + shift, row - 18, 0.6, 16, stroke=0, fill=1)

    assert texts(drawn(bars, words)) == [NAMES]


def test_numbers_that_no_rule_parts_are_left_to_the_gutters(drawn):
    def coarse(canvas: Canvas) -> None:
        canvas.grid((60, 160, 360), ROWS)

    page = drawn(coarse, words)
    assert [row[1] for row in texts(page)[0]] == ["2023A 2024A", "65 549", "21 26"]
    assert ruled(page, page.lines) == []


def test_a_table_in_a_form_is_where_the_form_is(drawn):
    def form(canvas: Canvas) -> None:
        canvas.beginForm("table")
        canvas.grid([each - 60 for each in COLUMNS], [each - 640 for each in ROWS])
        canvas.endForm()
        canvas.translate(60, 640)
        canvas.doForm("table")
        canvas.translate(-60, -640)

    assert texts(drawn(form, words)) == [NAMES]


def test_a_drawing_of_many_lines_has_no_rules(drawn):
    def drawing(canvas: Canvas) -> None:
        for number in range(10_001):
            canvas.line(number % 500, number % 700, number % 500 + 40, number % 700)

    assert drawn(drawing, words).rulings == NO_RULINGS


def test_a_rule_parts_words_that_are_close(drawn):
    def close(canvas: Canvas) -> None:
        canvas.line(100, 600, 100, 640)
        canvas.drawString(72, 615, "12.5%")
        canvas.drawString(102, 615, "capacity")

    assert [word.text for line in drawn(close).lines for word in line.words] == ["12.5%", "capacity"]
