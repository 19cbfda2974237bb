"""Read a PDF page as positioned lines, from which columns, headers, headings and tables are detected."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as pdfium

from extraction.documents.table import raised

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COLUMN_GAP = 2.0  # in line heights: wider gaps separate columns
_WORD_GAP = 1.0  # in line heights: wider gaps separate table cells; justified Chinese lines stay below
_SMALL, _RAISED = 0.8, 0.12  # of the line's size: height of a mark of a note, and how far it is above the base line
_BOLD = 600
_STROKED = 2  # Microsoft Word writes bold Chinese as filled and stroked outlines
_MAX_SKEW = 0.1
_SOFT_HYPHEN = 0xFFFE
_TEMPLATE_MARK = re.compile(r"\[?\s*Table_\w*\s*\]?|\[[\u4e00-\u9fff]* ?Table_\w+\]")  # white text in report templates


@dataclass(frozen=True, slots=True)
class TextRun:
    """A run of characters without a wide gap; `x0` and `x1` are in points from the left."""

    x0: float
    x1: float
    text: str


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of one column; coordinates are in points, `top` and `bottom` from the page's upper edge."""

    words: tuple[TextRun, ...]
    top: float
    bottom: float
    size: float
    bold: bool = False
    upright: bool = True

    @property
    def text(self) -> str:
        """Text of the line."""
        return " ".join(word.text for word in self.words)

    @property
    def x0(self) -> float:
        """Left edge."""
        return self.words[0].x0

    @property
    def x1(self) -> float:
        """Right edge."""
        return self.words[-1].x1

    @property
    def middle(self) -> float:
        """Vertical centre."""
        return (self.top + self.bottom) / 2

    def beside(self, other: PageLine) -> bool:
        """Return whether both lines are at the same height."""
        return abs(self.middle - other.middle) < 0.5 * min(self.size, other.size)

    def overlaps(self, other: PageLine) -> bool:
        """Return whether the lines overlap horizontally."""
        return self.x0 < other.x1 and other.x0 < self.x1


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page in content-stream order."""

    number: int
    width: float
    height: float
    lines: tuple[PageLine, ...]


@dataclass(frozen=True, slots=True)
class _Char:
    text: str
    x0: float
    x1: float
    top: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top


def read_page(page: Any, number: int, most: int) -> Page | None:
    """Group the characters of a page into lines; None if there are too many.

    Args:
        page: a pypdfium2 page.
        number: page index from 0.
        most: characters.
    """
    width, height = page.get_size()
    textpage = page.get_textpage()
    left, _, _, upper = page.get_bbox()
    try:
        count = textpage.count_chars()
        if count > most:
            return None
        lines = tuple(_lines(textpage.raw, count, origin=(left, upper)))
    finally:
        textpage.close()
    return Page(number, width, height, lines)


def joined(lines: Sequence[PageLine]) -> PageLine:
    """Merge fragments that are side by side into one line."""
    words = tuple(sorted((word for line in lines for word in line.words), key=lambda word: word.x0))
    top, bottom = min(line.top for line in lines), max(line.bottom for line in lines)
    return PageLine(words, top, bottom, lines[0].size, all(line.bold for line in lines), lines[0].upright)


def _lines(raw: Any, count: int, *, origin: tuple[float, float]) -> Iterator[PageLine]:
    box = pdfium.FS_RECTF()
    run: list[_Char] = []
    first = 0
    for index in range(count):
        code = pdfium.FPDFText_GetUnicode(raw, index)
        if code in {0x0A, 0x0D}:
            yield from _close(raw, first, run)
            run = []
            continue
        text = "-" if code == _SOFT_HYPHEN else chr(code)
        if code < 0x20 or 0xD800 <= code < 0xE000 or not pdfium.FPDFText_GetLooseCharBox(raw, index, ctypes.byref(box)):  # noqa: PLR2004 - control characters and surrogates by their Unicode ranges
            continue
        char = _Char(text, box.left - origin[0], box.right - origin[0], origin[1] - box.top, origin[1] - box.bottom)
        if run and not text.isspace() and _starts_new_line(run, char):
            yield from _close(raw, first, run)
            run = []
        if not run:
            first = index
        run.append(char)
    yield from _close(raw, first, run)


def _starts_new_line(run: Sequence[_Char], char: _Char) -> bool:
    """Return whether a character begins a new column or line although the stream has no break."""
    last = next((item for item in reversed(run) if not item.text.isspace()), None)
    if last is None:
        return False
    height = max(last.height, char.height, 1.0)
    moved = abs((last.top + last.bottom) - (char.top + char.bottom)) / 2
    return char.x0 - last.x1 > _COLUMN_GAP * height or char.x0 < last.x0 - height or moved > 0.7 * height


def _close(raw: Any, first: int, run: Sequence[_Char]) -> Iterator[PageLine]:
    inked = [char for char in run if not char.text.isspace()]
    if not inked:
        return
    size = max(char.height for char in inked)  # in mixed text the Chinese height, the font size
    words = tuple(word for word in _words(_with_raised_marks(run, inked, size), size) if word.text)
    if not words:
        return
    top, bottom = min(char.top for char in inked), max(char.bottom for char in inked)
    upright = _is_upright(raw, first)
    yield PageLine(words, top, bottom, size, _is_bold(raw, first), upright)


def _with_raised_marks(run: Sequence[_Char], inked: Sequence[_Char], size: float) -> Sequence[_Char]:
    """Return a run whose small raised digits are superscripts: the mark of a note does not join a number (3620¹亿)."""
    if min(char.height for char in inked) > _SMALL * size:
        return run
    base = max(char.bottom for char in inked if char.height > _SMALL * size)
    return [
        replace(char, text=raised(char.text))
        if char.height <= _SMALL * size and char.bottom < base - _RAISED * size
        else char
        for char in run
    ]


def _words(run: Sequence[_Char], size: float) -> Iterator[TextRun]:
    start = 0
    last = run[0]
    for index, char in enumerate(run):
        if not char.text.isspace():
            if not last.text.isspace() and char.x0 - last.x1 > _WORD_GAP * size:
                yield _word(run[start:index])
                start = index
            last = char
    yield _word(run[start:])


def _word(run: Sequence[_Char]) -> TextRun:
    inked = [char for char in run if not char.text.isspace()] or list(run)
    text = _TEMPLATE_MARK.sub("", "".join(char.text for char in run))
    return TextRun(inked[0].x0, inked[-1].x1, " ".join(text.split()))


def _is_upright(raw: Any, index: int) -> bool:
    """Return whether the text is not rotated; pdfium's own angle mistakes skewed synthetic italics for rotated."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(raw, index, ctypes.byref(matrix)):
        return True
    return bool(matrix.a > 0 and abs(matrix.b) < _MAX_SKEW * matrix.a)


def _is_bold(raw: Any, index: int) -> bool:
    found = pdfium.FPDFText_GetTextObject(raw, index)
    stroked = bool(found) and pdfium.FPDFTextObj_GetTextRenderMode(found) == _STROKED
    return stroked or int(pdfium.FPDFText_GetFontWeight(raw, index)) >= _BOLD
