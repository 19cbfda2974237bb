"""Read a PDF page as positioned lines, from which columns, headers, headings and tables are detected."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium

from extraction.documents.pdf.rulings import NO_RULINGS, Rulings, read_rulings
from extraction.documents.table import raised

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COLUMN_GAP = 2.0  # in line heights: wider gaps separate columns
_WORD_GAP = 1.0  # in line heights: wider gaps separate table cells; justified Chinese lines stay below
_SMALL, _RAISED = 0.8, 0.12  # of the line's size: height of a mark of a note, and how far it is above the base line
_BOLD = 600
_INVISIBLE = (3, 7)  # render modes that paint nothing
_SMALLEST = 1.5  # points; nobody reads smaller print
_WHITE, _OPAQUE = 250, 16  # least red, green and blue of white, and least opacity of visible text, of 255
_CONTRAST, _MAX_PIXELS = 24, 2_000_000  # levels of grey between text and ground, and size of the picture looked at
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
    seen: bool = True

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
    """The rules and lines of a page in content-stream order, and apart the lines that a reader does not see."""

    number: int
    width: float
    height: float
    lines: tuple[PageLine, ...]
    unseen: tuple[PageLine, ...] = ()
    rulings: Rulings = NO_RULINGS


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
        seen = _Visibility(page, textpage.raw)
        rulings = read_rulings(page, origin=(left, upper))
        lines = tuple(_lines(textpage.raw, count, (seen, rulings), origin=(left, upper)))
    finally:
        textpage.close()
    shown = tuple(line for line in lines if line.seen)
    return Page(number, width, height, shown, tuple(line for line in lines if not line.seen), rulings)


def joined(lines: Sequence[PageLine]) -> PageLine:
    """Merge fragments that are side by side into one line."""
    words = tuple(sorted((word for line in lines for word in line.words), key=lambda word: word.x0))
    top, bottom = min(line.top for line in lines), max(line.bottom for line in lines)
    return PageLine(words, top, bottom, lines[0].size, all(line.bold for line in lines), lines[0].upright)


class _Visibility:
    """Whether a reader sees the characters of a page; each text object is looked at once."""

    def __init__(self, page: Any, raw: Any) -> None:
        self._page, self._raw = page, raw
        self._known: dict[int, bool] = {}
        self._pixels: Any = None

    def sees(self, index: int, box: Any) -> bool:
        """Return whether the character at an index, with its box in points from the lower left, is visible."""
        found = pdfium.FPDFText_GetTextObject(self._raw, index)
        if not found:
            return True
        key = ctypes.addressof(found.contents)
        if key not in self._known:
            self._known[key] = self._is_seen(found, index, box)
        return self._known[key]

    def _is_seen(self, found: Any, index: int, box: Any) -> bool:
        if pdfium.FPDFTextObj_GetTextRenderMode(found) in _INVISIBLE:
            return self._is_scan()  # the text layer of a scanned page is invisible over its picture
        if 0 < box.top - box.bottom < _SMALLEST:
            return False
        shades = [ctypes.c_uint() for _ in range(4)]
        if not pdfium.FPDFText_GetFillColor(self._raw, index, *map(ctypes.byref, shades)):
            return True
        red, green, blue, opacity = (shade.value for shade in shades)
        if opacity < _OPAQUE:
            return False
        return min(red, green, blue) < _WHITE or self._contrasts(box)

    def _contrasts(self, box: Any) -> bool:
        """Return whether white text stands out from what is painted behind it; the page is rendered on first use."""
        if self._pixels is None:
            width, height = self._page.get_size()
            scale = min(1.0, sqrt(_MAX_PIXELS / max(1.0, width * height)))
            self._pixels = np.asarray(self._page.render(scale=scale, grayscale=True).to_numpy())
        if self._page.get_rotation():
            return True
        left, _, right, upper = self._page.get_bbox()
        scale = self._pixels.shape[1] / max(1.0, right - left)
        rows = slice(max(0, int((upper - box.top) * scale)), int((upper - box.bottom) * scale) + 1)
        columns = slice(max(0, int((box.left - left) * scale)), int((box.right - left) * scale) + 1)
        area = self._pixels[rows, columns]
        return area.size == 0 or int(area.max()) - int(area.min()) > _CONTRAST or int(area.max()) < _WHITE

    def _is_scan(self) -> bool:
        width, height = self._page.get_size()
        pictures = self._page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE,), max_depth=3)
        return any(
            (right - left) * (top - bottom) > width * height / 2
            for left, bottom, right, top in (picture.get_bounds() for picture in pictures)
        )


def _lines(
    raw: Any, count: int, painted: tuple[_Visibility, Rulings], *, origin: tuple[float, float]
) -> Iterator[PageLine]:
    visibility, rulings = painted
    box = pdfium.FS_RECTF()
    run: list[_Char] = []
    first = 0
    seen = True
    for index in range(count):
        code = pdfium.FPDFText_GetUnicode(raw, index)
        if code in {0x0A, 0x0D}:
            yield from _close(raw, first, run, rulings, seen=seen)
            run = []
            continue
        text = "-" if code == _SOFT_HYPHEN else chr(code)
        if code < 0x20 or 0xD800 <= code < 0xE000 or not pdfium.FPDFText_GetLooseCharBox(raw, index, ctypes.byref(box)):  # noqa: PLR2004 - control characters and surrogates by their Unicode ranges
            continue
        char = _Char(text, box.left - origin[0], box.right - origin[0], origin[1] - box.top, origin[1] - box.bottom)
        shows = seen if text.isspace() else visibility.sees(index, box)
        if run and not text.isspace() and (shows != seen or _starts_new_line(run, char)):
            yield from _close(raw, first, run, rulings, seen=seen)
            run = []
        if not run:
            first = index
        seen = shows
        run.append(char)
    yield from _close(raw, first, run, rulings, seen=seen)


def _starts_new_line(run: Sequence[_Char], char: _Char) -> bool:
    """Return whether a character begins a new column or line although the stream has no break."""
    last = next((item for item in reversed(run) if not item.text.isspace()), None)
    if last is None:
        return False
    height = max(last.height, char.height, 1.0)
    moved = abs((last.top + last.bottom) - (char.top + char.bottom)) / 2
    return char.x0 - last.x1 > _COLUMN_GAP * height or char.x0 < last.x0 - height or moved > 0.7 * height


def _close(raw: Any, first: int, run: Sequence[_Char], rulings: Rulings, *, seen: bool) -> Iterator[PageLine]:
    inked = [char for char in run if not char.text.isspace()]
    if not inked:
        return
    size = max(char.height for char in inked)  # in mixed text the Chinese height, the font size
    words = tuple(word for word in _words(_with_raised_marks(run, inked, size), size, rulings) if word.text)
    if not words:
        return
    top, bottom = min(char.top for char in inked), max(char.bottom for char in inked)
    upright = _is_upright(raw, first)
    yield PageLine(words, top, bottom, size, _is_bold(raw, first), upright, seen)


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


def _words(run: Sequence[_Char], size: float, rulings: Rulings) -> Iterator[TextRun]:
    start = 0
    last = run[0]
    middle = (last.top + last.bottom) / 2
    for index, char in enumerate(run):
        if not char.text.isspace():
            gap = char.x0 - last.x1
            apart = gap > _WORD_GAP * size or (gap > _RAISED * size and rulings.separates(last.x1, char.x0, middle))
            if not last.text.isspace() and apart:
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
