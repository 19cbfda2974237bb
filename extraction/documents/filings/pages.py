"""Turn the plain text of a filing's pages into pieces: headings of sections, rows of tables, paragraphs.

A filing of hundreds of pages is read by its text alone, without the position of its characters, which takes forty
times as long. Pages keep their numbers: no piece crosses one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.documents.assembly import TextPiece, join_text
from extraction.documents.cleaning import PlacedLine, Reason, running_lines
from extraction.text.lexicon import phrases
from kg.model import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kg.filing import Filing
    from kg.model import Document

_PHRASES = phrases("filings/pages")
_NUMBER = _PHRASES["number"]
_CELL = re.compile(r"(?<![A-Za-z\d.,])\(?\$?\s?\d[\d,.]*\)?%?(?![A-Za-z])|(?<=\s)[—–-](?=\s|$)")
_GLUE = frozenset({"$", ")", "%", "—", "–", "-"})
_BULLET = re.compile(r"^\s*(?:[•●▪■◦○·\u2022\uf0b7]|[-–—]\s)")
_SENTENCE_END = re.compile(r"[.:;!?。；：！？][”\"’)）]*$")
_SPLIT_LETTER = re.compile(r"(?<=[a-z]{3}) (?=[a-z]\b\W*$)")  # 「Cash Flow s」: a letter that the PDF sets apart
_LONG = 30  # pages
_EDGE = 2  # lines at the top and the foot of a page that may be running ones
_LEADER = re.compile(r"[.…]{4,}")  # the dots between a label and its figures
_SHORT = 80
_MAX_HEADING = 100
_CONTENTS_ITEMS = 5  # a page with more Items is the table of contents
_TABLE_ROWS, _TABLE_GAP, _TABLE_HEAD = 2, 3, 4
_FULL = 0.8  # of the longest line of a page
_PROSE, _PROSE_SHARE = 120, 0.5  # characters of a paragraph that is prose; share of a page
_PAGE = 3_000  # characters of a page of a format without pages
# Sections whose prose describes what a company does and why its figures moved come first, risks and notes last.
_ORDER: Mapping[str, int] = {"7": 0, "1": 1, "2": 2, "7A": 3, "3": 3}
_LATE = 5


def pieces_of(pages: Sequence[str]) -> list[TextPiece]:
    """Return the pieces of all pages in reading order, running lines hidden."""
    lines = [[line for each in _plain(page).split("\n") if (line := each.strip())] for page in pages]
    placed = [[PlacedLine(line, _height(at, len(page))) for at, line in enumerate(page)] for page in lines]
    running = running_lines(placed)
    return [
        piece
        for number, (page, hidden) in enumerate(zip(lines, running, strict=True))
        for piece in _page_pieces(page, hidden, number)
    ]


def is_plain(filing: Filing | None, pages: int) -> bool:
    """Return whether a filing is read by its plain text; a short Chinese one is laid out, with its tables."""
    return filing is not None and (filing.currency != "CNY" or pages > _LONG)


def prose_of(document: Document, pages: int) -> tuple[Block, ...]:
    """Return the paragraphs that relations are read from: those of the `pages` most telling pages of prose.

    Headings, rows of tables and labels are left out; the management's discussion comes before the description of the
    business, and both before all other sections.
    """
    prose: dict[int, list[Block]] = {}
    section: dict[int, int] = {}
    length: dict[int, int] = {}
    item = ""
    for block in document.blocks:
        page = document.page_of(block.start) or block.start // _PAGE
        if block.kind is BlockKind.HEADING:
            found = _PHRASES["item"].match(document.text[block.start : block.end])
            item = found[1].upper() if found else item
        length[page] = length.get(page, 0) + block.end - block.start
        section.setdefault(page, _ORDER.get(item, _LATE))
        if block.kind is BlockKind.PARAGRAPH and block.end - block.start >= _PROSE:
            prose.setdefault(page, []).append(block)
    words = {page: sum(block.end - block.start for block in blocks) for page, blocks in prose.items()}
    full = [page for page in prose if words[page] >= _PROSE_SHARE * length[page]]
    chosen = sorted(sorted(full, key=lambda page: (section[page], page))[:pages])
    return tuple(block for page in chosen for block in prose[page])


def _page_pieces(page: Sequence[str], hidden: Mapping[int, Reason], number: int) -> Iterator[TextPiece]:
    body: list[str] = []
    foot: list[TextPiece] = []
    for index, line in enumerate(page):
        if index not in hidden:
            body += _rows(line)
            continue
        piece = TextPiece(line, reason=hidden[index], page=number)
        if body:
            foot.append(piece)
        else:
            yield piece
    yield from _body_pieces(body, number)
    yield from foot


def _body_pieces(lines: Sequence[str], number: int) -> Iterator[TextPiece]:
    contents = sum(bool(_PHRASES["item"].match(line)) for line in lines) > _CONTENTS_ITEMS
    longest = max(map(len, lines), default=0)
    tables = _tables(lines)
    paragraph = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        level = 0 if contents else heading_level(line)
        table = tables.get(at)
        if paragraph and (level or table or _BULLET.match(line)):
            yield TextPiece(paragraph, page=number)
            paragraph = ""
        if table:
            yield TextPiece("\n".join(lines[at:table]), BlockKind.TABLE, page=number)
            at = table
            continue
        at += 1
        if level:
            yield TextPiece(line, BlockKind.HEADING, level, page=number)
            continue
        paragraph = join_text(paragraph, line)
        if len(line) < _FULL * longest and (_SENTENCE_END.search(line) or len(line) < _SHORT):
            yield TextPiece(paragraph, page=number)
            paragraph = ""
    if paragraph:
        yield TextPiece(paragraph, page=number)


def heading_level(line: str) -> int:
    """Return the depth of a line that opens a section: 1 for an Item or 第三节, 2 for a note or a statement, else 0.

    >>> heading_level("Item 7. Management’s Discussion"), heading_level("NOTE 5. Supplemental Cash Flow Information")
    (1, 2)
    >>> heading_level("第三节 管理层讨论与分析"), heading_level("Net sales 1,234 1,100")
    (1, 0)
    """
    if len(line) > _MAX_HEADING or line.endswith((",", "，", ";", "；", "。")):
        return 0
    whole = _SPLIT_LETTER.sub("", line)
    if any(_PHRASES[name].match(whole) for name in ("item", "chapter")):
        return 1
    return 2 if any(_PHRASES[name].match(whole) for name in ("statement", "note", "chapter_part")) else 0


def is_row(line: str) -> bool:
    """Return whether a line is a row of a table: two amounts or dashes, and few words for them."""
    line = _LEADER.sub(" ", line)
    cells = _CELL.findall(line)
    return len(cells) >= 2 and len(line) < _MAX_HEADING + 12 * len(cells) and not _is_sentence(line, len(cells))  # noqa: PLR2004 - a label and two columns


def _is_sentence(line: str, cells: int) -> bool:
    words = len(re.findall(r"[A-Za-z]{2,}", line)) + len(re.findall(r"[\u4e00-\u9fff]{2}", line))
    return words > 3 * cells + 3


def _tables(lines: Sequence[str]) -> dict[int, int]:
    """Return the tables of a page as first line → end: rows, the labels between them, and the heads above."""
    rows = [is_row(line) for line in lines]
    label = [len(line) < _SHORT and not _SENTENCE_END.search(line) and not heading_level(line) for line in lines]
    found: dict[int, int] = {}
    at = done = 0
    while at < len(lines):
        if not rows[at]:
            at += 1
            continue
        end, count, after = at + 1, 1, at + 1
        while after < len(lines) and after - end <= _TABLE_GAP and (rows[after] or label[after]):
            if rows[after]:
                end, count = after + 1, count + 1
            after += 1
        if count >= _TABLE_ROWS:
            start = at
            while start > max(done, at - _TABLE_HEAD) and label[start - 1]:
                start -= 1
            found[start] = done = end
        at = end
    return found


def _rows(line: str) -> list[str]:
    """Cut a line into which the PDF glued several rows of a table: after two amounts, at the next label."""
    out: list[str] = []
    cells: list[str] = []
    run = 0
    for cell in line.split():
        if run >= 2 and re.match(r"\(?[A-Z][A-Za-z]", cell):  # noqa: PLR2004 - one amount may be part of a label
            out.append(" ".join(cells))
            cells = []
        run = run + 1 if _NUMBER.match(cell) or (run and cell in _GLUE) else 0
        cells.append(cell)
    return [*out, " ".join(cells)] if cells else out


def _height(index: int, count: int) -> float:
    """Return the position of a line on its page as a fraction, for lines without a position."""
    if index < _EDGE:
        return 0.02 * (index + 1)
    return 1 - 0.02 * (count - index) if count - index <= _EDGE else 0.5


def _plain(text: str) -> str:
    return text.replace("\r", "").replace("\xa0", " ").replace("\ufffe", "-").replace("\x00", "")
