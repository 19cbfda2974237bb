"""Find the figures and tables of a page: from a label (图表 3：…) down to its source line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from extraction.documents.assembly import TextPiece, table_piece
from extraction.documents.cleaning import Reason, is_figure_label, is_source_line, is_table_label
from extraction.documents.pdf.lines import joined
from extraction.documents.pdf.rulings import ruled_tables
from extraction.documents.pdf.tables import by_row, grid, is_grid, is_numeric, ruled, within
from extraction.documents.table import is_note, table_from_grid, table_from_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.documents.pdf.lines import Page, PageLine
    from extraction.documents.table import Grid

_SENTENCE = re.compile(r"[，。；]")
_PROSE_LENGTH = 24
_PROSE_WIDTH = 0.55  # fraction of the page's text width
_MIN_PROSE_LINES = 3
_MIN_COLUMNS, _MIN_ROWS = 3, 2  # of lines that make it worth looking for rulings
_MAX_LABELS = 40  # more than this is a list of figures


@dataclass(frozen=True, slots=True)
class Region:
    """A figure or table: the indices of its lines on the page, and the resulting pieces."""

    lines: tuple[int, ...]
    pieces: tuple[TextPiece, ...]
    open_label: str = ""  # label of a region that continues on the next page


@dataclass(slots=True)
class RegionFinder:
    """Find regions page by page, remembering one that was cut off by a page break."""

    body_size: float
    open_label: str = field(default="")

    def find(self, page: Page, free: Sequence[int]) -> list[Region]:
        """Return the regions of a page.

        Args:
            page: the page.
            free: indices of the lines that are neither running nor rotated.
        """
        labels = sorted((i for i in free if is_figure_label(page.lines[i].text)), key=lambda i: page.lines[i].middle)
        labels = labels[:_MAX_LABELS]
        taken: set[int] = set()
        regions: list[Region] = []
        if self.open_label and (region := self._continued(page, free, labels)):
            regions.append(region)
            taken.update(region.lines)
        self.open_label = ""
        for label in labels:
            lines = self._below(page, [i for i in free if i not in taken], label, labels)
            regions.append(self._read(page, label, lines))
            taken.update(regions[-1].lines)
        regions += self._ruled(page, [i for i in free if i not in taken])
        self.open_label = next((region.open_label for region in reversed(regions) if region.open_label), "")
        return regions

    def _ruled(self, page: Page, free: Sequence[int]) -> Iterator[Region]:
        """Yield the tables that only their rulings show; looked for where several lines of words are side by side."""
        rows = by_row(sorted((page.lines[i] for i in free), key=lambda line: line.middle))
        wide = [row for row in rows if sum(len(line.words) for line in row) >= _MIN_COLUMNS]
        if sum(not is_numeric(row[0].words[0].text) for row in wide) < _MIN_ROWS:
            return
        for box, cells in ruled_tables(page.rulings, page.lines):
            inside = tuple(i for i in free if within(page.lines[i], box))
            table = table_from_grid(cells) if inside and _is_ruled_grid(cells, labelled=False) else None
            if table is not None:
                yield Region(inside, (table_piece(table),))

    def is_prose(self, page: Page, line: PageLine) -> bool:
        """Return whether a line is running text: long, one column wide, in body size, with a comma or a stop."""
        text_width = page.width * 0.82
        return (
            len(line.text) >= _PROSE_LENGTH
            and line.x1 - line.x0 >= _PROSE_WIDTH * text_width
            and abs(line.size - self.body_size) < 0.1 * self.body_size
            and bool(_SENTENCE.search(line.text))
        )

    def _below(self, page: Page, free: Sequence[int], label: int, labels: Sequence[int]) -> list[int]:
        """Return the lines from a label to its source line, the next label, or the start of prose."""
        head = page.lines[label]
        rights = [page.lines[i].x0 for i in labels if page.lines[i].beside(head) and page.lines[i].x0 > head.x1]
        lefts = [page.lines[i].x1 for i in labels if page.lines[i].beside(head) and page.lines[i].x1 < head.x0]
        low, high = (head.x0 - 6 if lefts else 0.0), min(rights, default=page.width + 6) - 6
        end = min((page.lines[i].top for i in labels if page.lines[i].top > head.bottom), default=page.height)
        column = [i for i in free if i != label and low <= _centre(page.lines[i]) < high]
        under = [i for i in column if head.middle + 1 < page.lines[i].middle < end and i not in labels]
        under.sort(key=lambda i: page.lines[i].middle)
        source = next((at for at, i in enumerate(under) if is_source_line(page.lines[i].text, below_figure=True)), None)
        if source is not None:
            return self._until_source(page, under, source)
        first = next((at for at, i in enumerate(under) if self.is_prose(page, page.lines[i])), len(under))
        return under[:first]

    def _until_source(self, page: Page, under: Sequence[int], source: int) -> list[int]:
        prose = [at for at, i in enumerate(under[:source]) if self.is_prose(page, page.lines[i])]
        if len(prose) >= _MIN_PROSE_LINES:
            return list(under[: prose[0]])
        last = page.lines[under[source]]
        kept = list(under[: source + 1])
        for i in under[source + 1 :]:
            line = page.lines[i]
            wraps = line.top - last.bottom < 0.6 * last.size and abs(line.x0 - last.x0) < 0.5 * last.size
            wraps = wraps and abs(line.size - last.size) < 0.1 * last.size
            if not (line.beside(last) or is_note(line.text) or (wraps and not self.is_prose(page, line))):
                break
            kept.append(i)
            last = line
        return kept

    def _continued(self, page: Page, free: Sequence[int], labels: Sequence[int]) -> Region | None:
        """Return the rest of a region cut off by a page break: all down to a source line, if no prose comes first."""
        end = min((page.lines[i].top for i in labels), default=page.height)
        above = sorted((i for i in free if page.lines[i].top < end), key=lambda i: page.lines[i].middle)
        source = next((at for at, i in enumerate(above) if is_source_line(page.lines[i].text, below_figure=True)), None)
        if source is None or any(self.is_prose(page, page.lines[i]) for i in above[:source]):
            return None
        lines = [i for i in above if page.lines[i].middle <= page.lines[above[source]].middle + 2]
        return replace(self._read(page, None, lines), open_label="")

    def _read(self, page: Page, label: int | None, lines: Sequence[int]) -> Region:
        title = self.open_label if label is None else page.lines[label].text
        sources = [i for i in lines if is_source_line(page.lines[i].text, below_figure=True)]
        after = min((page.lines[i].top for i in sources), default=page.height)
        notes = [page.lines[i].text for i in lines if is_note(page.lines[i].text)]
        inner = [i for i in lines if page.lines[i].top < after - 1 and not is_note(page.lines[i].text)]
        tail = [i for i in lines if i not in inner and not is_note(page.lines[i].text)]
        own = () if label is None else (label,)
        content = [page.lines[i] for i in inner]
        rest = [_hidden([page.lines[i] for i in tail], Reason.SOURCE_LINE)]
        labelled = content and is_table_label(title)
        table = read_table(page, content, title=title, notes=notes) if labelled else None
        if table:
            pieces = [table]
        else:
            shown = [] if label is None else [TextPiece(title, reason=Reason.FIGURE_LABEL)]
            pieces = [*shown, _hidden(content, Reason.FIGURE_TEXT), *(TextPiece(note) for note in notes)]
        return Region((*own, *lines), (*pieces, *rest), "" if sources else title)


def read_table(
    page: Page, lines: Sequence[PageLine], *, title: str = "", notes: Sequence[str] = ()
) -> TextPiece | None:
    """Read lines as a table: by its rulings, else by its gutters; unlabelled ones must look more like a table."""
    labelled = title.lstrip().startswith(("表", "Table"))
    cells = ruled(page, lines)
    if _is_ruled_grid(cells, labelled=labelled):
        table = table_from_grid(cells, title=title, notes=notes)
    else:
        rows = grid(lines)
        table = table_from_rows(rows, title=title, notes=notes) if is_grid(rows, labelled=labelled) else None
    return table_piece(table) if table else None


def _is_ruled_grid(cells: Grid, *, labelled: bool) -> bool:
    return is_grid([[cell.text if cell else "" for cell in row] for row in cells], labelled=labelled)


def _hidden(lines: Sequence[PageLine], reason: Reason) -> TextPiece:
    return TextPiece("\n".join(joined(row).text for row in by_row(lines)), reason=reason)


def _centre(line: PageLine) -> float:
    return (line.x0 + line.x1) / 2
