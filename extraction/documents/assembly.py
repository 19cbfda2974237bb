"""Assemble pieces in reading order into the stored text, its blocks and its removed spans."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from extraction.documents.cleaning import CandidateLine, clean, is_table_label
from extraction.documents.encoding import normalise
from extraction.documents.table import Table, table_from_text
from kg.model import Block, BlockKind, Removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SEPARATOR = "\n"
_CJK = re.compile(r"[\u2018-\u201d\u2026\u3000-\u9fff\uff00-\uffef]")
_LABELS = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the stored text; a `reason` means that it is stored but hidden."""

    text: str
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    html: str = ""
    reason: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Body:
    """A document's stored text with its blocks, removed spans, page offsets and, if pages were scans, legibility."""

    text: str
    blocks: tuple[Block, ...] = ()
    removed: tuple[Removed, ...] = ()
    pages: tuple[int, ...] = ()
    legibility: tuple[float, ...] = ()


def assemble(pieces: Iterable[TextPiece], *, page_count: int = 0) -> Body:
    """Concatenate pieces; each non-blank piece becomes one block or one removed span.

    Args:
        pieces: in reading order; page numbers must not decrease.
        page_count: number of pages, so that blank ones get an offset too; 0 for formats without pages.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    removed: list[Removed] = []
    pages: list[int] = []
    offset = 0
    for piece in pieces:
        text = normalise(piece.text).strip("\n ")
        if not text.strip():
            continue
        pages += [offset] * (piece.page + 1 - len(pages)) if page_count else []
        end = offset + len(text)
        if piece.reason:
            removed.append(Removed(offset, end, piece.reason))
        else:
            blocks.append(Block(offset, end, piece.kind, piece.level, normalise(piece.html)))
        parts.append(text)
        offset = end + len(_SEPARATOR)
    text = _SEPARATOR.join(parts)
    pages += [len(text)] * (page_count - len(pages))
    return Body(text, tuple(blocks), tuple(removed), tuple(pages))


def join_text(upper: str, lower: str) -> str:
    """Join two lines: Chinese without a space, Latin words with one, hyphenated words without the hyphen.

    >>> join_text("碳酸锂价格", "下跌"), join_text("lithium carbo-", "nate prices"), join_text("gross", "margin")
    ('碳酸锂价格下跌', 'lithium carbonate prices', 'gross margin')
    """
    if not upper or not lower:
        return upper + lower
    if re.search(r"[a-z]{2}-$", upper[-3:]) and re.match(r"[a-z]{2}", lower):
        return upper[:-1] + lower
    glue = "" if _CJK.match(upper[-1]) or _CJK.match(lower[0]) or upper.endswith(("-", "/")) else " "
    return f"{upper}{glue}{lower}"


def table_piece(table: Table, *, page: int = 0, reason: str = "") -> TextPiece:
    """Return a table as a piece."""
    return TextPiece(table.to_text(), BlockKind.TABLE, html=table.to_html(), reason=reason, page=page)


def judge(pieces: Sequence[TextPiece], *, headings_known: bool = False) -> list[TextPiece]:
    """Apply the cleaning rules to pieces; a table is hidden only by the section that contains it."""
    lines = [
        CandidateLine("表格。" if piece.kind is BlockKind.TABLE else piece.text, _depth(piece)) for piece in pieces
    ]
    reasons = clean(lines, headings_known=headings_known)
    return [
        replace(piece, reason=reason) if reason and not piece.reason else piece
        for piece, reason in zip(pieces, reasons, strict=True)
    ]


def title_tables(pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """Use the label directly above a table (表 3：…) as its title."""
    label: TextPiece | None = None
    for found in pieces:
        piece = found
        if label and piece.kind is BlockKind.TABLE and (table := table_from_text(piece.text)) and not table.title:
            piece = table_piece(replace(table, title=label.text), page=piece.page, reason=piece.reason)
        elif label:
            yield label
        label = piece if piece.kind in _LABELS and is_table_label(piece.text) else None
        if not label:
            yield piece
    if label:
        yield label


def carve(text: str, pieces: Iterable[TextPiece]) -> Body:
    """Locate pieces in text that is stored verbatim; they must be given in text order."""
    blocks: list[Block] = []
    removed: list[Removed] = []
    offset = 0
    for piece in pieces:
        start = text.index(piece.text, offset)
        offset = start + len(piece.text)
        if piece.reason:
            removed.append(Removed(start, offset, piece.reason))
        else:
            blocks.append(Block(start, offset, piece.kind, piece.level, piece.html))
    return Body(text, tuple(blocks), tuple(removed))


def _depth(piece: TextPiece) -> int:
    return piece.level if piece.kind is BlockKind.HEADING else 0
