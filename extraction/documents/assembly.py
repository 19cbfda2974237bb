"""From pieces in reading order to the stored text, its kept blocks and its removed spans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from extraction.documents.cleaning import CandidateLine, clean, is_table_label
from extraction.documents.tables import table_from_text
from kg.model import Block, BlockKind, Removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SEPARATOR = "\n"
_LABELS = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch on its way into the stored text; a `reason` means that it is stored but hidden."""

    text: str
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    html: str = ""
    reason: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Body:
    """A document's stored text with everything that points into it."""

    text: str
    blocks: tuple[Block, ...] = ()
    removed: tuple[Removed, ...] = ()
    pages: tuple[int, ...] = ()


def assemble(pieces: Iterable[TextPiece], *, page_count: int = 0) -> Body:
    """Lay pieces one after another; each non-blank piece becomes exactly one block or one removed span.

    Args:
        pieces: in reading order; pages must not go back.
        page_count: how many pages there are, so that blank ones have an offset too; 0 where there are no pages.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    removed: list[Removed] = []
    pages: list[int] = []
    offset = 0
    for piece in pieces:
        text = piece.text.strip("\n ")
        if not text.strip():
            continue
        pages += [offset] * (piece.page + 1 - len(pages)) if page_count else []
        end = offset + len(text)
        if piece.reason:
            removed.append(Removed(offset, end, piece.reason))
        else:
            blocks.append(Block(offset, end, piece.kind, piece.level, piece.html))
        parts.append(text)
        offset = end + len(_SEPARATOR)
    text = _SEPARATOR.join(parts)
    pages += [len(text)] * (page_count - len(pages))
    return Body(text, tuple(blocks), tuple(removed), tuple(pages))


def judge(pieces: Sequence[TextPiece], *, headings_known: bool = False) -> list[TextPiece]:
    """Let the cleaning rules hide pieces; a table is judged only by the section that it stands in."""
    lines = [
        CandidateLine("表格。" if piece.kind is BlockKind.TABLE else piece.text, _depth(piece)) for piece in pieces
    ]
    reasons = clean(lines, headings_known=headings_known)
    return [
        replace(piece, reason=reason) if reason and not piece.reason else piece
        for piece, reason in zip(pieces, reasons, strict=True)
    ]


def title_tables(pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """Give a table the label that stands just above it (表 3：…) as its title."""
    label: TextPiece | None = None
    for found in pieces:
        piece = found
        if label and piece.kind is BlockKind.TABLE and (table := table_from_text(piece.text)) and not table.title:
            titled = replace(table, title=label.text)
            piece = replace(piece, text=titled.to_text(), html=titled.to_html())
        elif label:
            yield label
        label = piece if piece.kind in _LABELS and is_table_label(piece.text) else None
        if not label:
            yield piece
    if label:
        yield label


def carve(text: str, pieces: Iterable[TextPiece]) -> Body:
    """Find pieces in a text that is stored verbatim; they stand in it in this order, so the search goes forward."""
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
