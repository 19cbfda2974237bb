"""Build the inputs of the edge model: a few sentences with the title, headings and labels above them.

Half of the relations in research notes have an argument in a heading or a label, so a unit is one sequence
「title ▸ heading ▸ label ▸ sentences」, and a span may be in any part of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.text.sentences import normalise, split
from kg.model import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.text.sentences import Sentence
    from kg.model import Block, Document

JOINT = "▸"
TITLE = -1  # line number of the document's title, which is not a line of its text
_PACKED = 130  # characters of the sentences of one unit
_LONGEST = 220  # characters of a sentence; a longer one is cut at a comma
_LEAD_IN, _TITLE = 80, 24  # characters of a line that introduces others, and of a title
_CLAUSE_REACH = 50  # characters of the preceding clause that are context
_LABEL = re.compile(r"[^：。；，]{2,24}(?=：)")
_NUMBERING = re.compile(
    r"(?:第?[一二三四五六七八九十]+[、.章节部分]|[（(][一二三四五六七八九十\d]+[）)]|\d+(?:\.\d+)*[.、)）]?(?![\d年月%]))\s*"
)
_DATED = re.compile(r"^[\d.\-/年月日 ]+")
_CLAUSE = re.compile(r"[。！？；，]")
_CODES = re.compile(r"\b\d{4,6}\.[A-Z]{2}\b")  # a securities code is a name, no figure
_TABLE_NUMBERS = re.compile(r"[\d.,%+\-/ |元亿万倍年月日xX~()（）]+")


class TextLine(Struct, frozen=True):
    """A sentence, its block, and whether it is the first of the block."""

    sentence: Sentence
    block: Block
    first: bool


class UnitPiece(Struct, frozen=True):
    """A part of a unit: `unit.text[at : at + end - start]` is `text[start:end]` of a line or the title."""

    line: int
    start: int
    end: int
    at: int


class Unit(Struct, frozen=True):
    """One input of the model; `text[body:]` holds its own sentences, the rest is context."""

    text: str
    body: int
    pieces: tuple[UnitPiece, ...]

    def locate(self, start: int, end: int) -> tuple[int, int, int] | None:
        """Return (line, start, end) of a span, or None if it crosses lines."""
        for piece in self.pieces:
            if piece.at <= start and end <= piece.at + piece.end - piece.start:
                return piece.line, piece.start + start - piece.at, piece.start + end - piece.at
        return None


def lines_of(document: Document) -> list[TextLine]:
    """Split a document's blocks into sentences, in order; each table row is a line."""
    out: list[TextLine] = []
    for block in document.blocks:
        spans = _rows(document.text, block) if block.kind == BlockKind.TABLE else [(block.start, block.end)]
        for start, end in spans:
            for sentence in split(document.text, start, end):
                out.append(TextLine(sentence, block, not out or out[-1].block is not block))
    return out


def _rows(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield the header of a table and the rows that contain words."""
    start = block.start
    for number, row in enumerate(text[block.start : block.end].split("\n")):
        worded = _CODES.sub("", row)
        if number == 0 or len(_TABLE_NUMBERS.sub("", worded)) >= len(worded) * 0.5:
            yield start, start + len(row)
        start += len(row) + 1


def units_of(title: str, lines: Sequence[TextLine]) -> list[Unit]:
    """Pack the lines of a document into units; each line is in at least one, and headings are units too."""
    around = _Around(title)
    out: list[Unit] = []
    at = 0
    while at < len(lines):
        stop = at + 1
        while stop < len(lines) and not lines[stop].first:
            stop += 1
        block = lines[at].block
        if block.kind == BlockKind.TABLE:
            out += _table_units(lines, at, stop, around)
        else:
            out += _block_units(lines, at, stop, around)
            around.below(lines, at, stop)
        at = stop
    return out


class _Around:
    """The headings, list parents and lead-ins that apply at a position of a document."""

    def __init__(self, title: str) -> None:
        text = normalise(title)
        start = match.end() if (match := _DATED.match(text)) and match.end() < len(text) else 0
        self.texts = {TITLE: text}
        self.title: list[tuple[int, int, int]] = [(TITLE, start, min(len(text), start + 32))] if text[start:] else []
        self.headings: dict[int, tuple[int, int, int]] = {}
        self.parents: dict[int, tuple[int, int, int]] = {}
        self.lead_in: tuple[int, int, int] | None = None

    def context(self, block: Block) -> list[tuple[int, int, int]]:
        """Return the slices (line, start, end) that are the context of a block."""
        headings = [piece for level, piece in sorted(self.headings.items())]
        if block.kind == BlockKind.HEADING:
            return [*self.title, *[p for level, p in sorted(self.headings.items()) if level < block.level][-1:]]
        above = [*self.title, *headings[-2:]]
        if self.lead_in:
            above.append(self.lead_in)
        if block.kind == BlockKind.ITEM:
            above += [piece for level, piece in sorted(self.parents.items()) if level < block.level][-1:]
        return above

    def below(self, lines: Sequence[TextLine], at: int, stop: int) -> None:
        """Update the context with a block that may introduce those after it."""
        text, block = lines[at].sentence.text, lines[at].block
        self.texts[at] = text
        if block.kind == BlockKind.HEADING:
            self.headings = {level: piece for level, piece in self.headings.items() if level < block.level}
            self.headings[block.level] = (at, *_tidy(text, 44))
            self.parents, self.lead_in = {}, None
            return
        alone = stop - at == 1
        short = alone and len(text) <= _LEAD_IN and (text.endswith("：") or _is_title(text))
        if block.kind == BlockKind.ITEM:
            self.parents = {level: piece for level, piece in self.parents.items() if level < block.level}
            label = _LABEL.match(text)
            if short or label:
                start, end = _tidy(text, 60)
                self.parents[block.level] = (at, start, min(end, label.end()) if label and not short else end)
        else:
            self.parents = {}
            self.lead_in = (at, *_tidy(text, 60)) if short else None
        if short and block.kind == BlockKind.ITEM and text.endswith("："):
            self.lead_in = None


def _is_title(text: str) -> bool:
    return len(text) <= _TITLE and text[-1] not in "。；！？"


def _tidy(text: str, longest: int) -> tuple[int, int]:
    """Return the start of a heading after its numbering and its end before the colon."""
    match = _NUMBERING.match(text)
    start = match.end() if match and match.end() < len(text) else 0
    end = len(text.rstrip("：: "))
    return start, min(max(end, start), start + longest)


def _block_units(lines: Sequence[TextLine], at: int, stop: int, around: _Around) -> Iterator[Unit]:
    """Pack a block's sentences; from the second unit on, its label and the preceding clause are context too."""
    above = context = around.context(lines[at].block)
    label = _LABEL.match(lines[at].sentence.text)
    packed: list[tuple[int, int, int]] = []
    for line in range(at, stop):
        text = lines[line].sentence.text
        for start, end in _cut(text):
            if packed and sum(e - s for _, s, e in packed) + end - start > _PACKED:
                yield _unit(lines, around, above, packed)
                last, low, high = packed[-1]
                clause = last, _last_clause(lines[last].sentence.text, low, high), high
                above = [*context, *([(at, 0, label.end())] if label else []), clause]
                packed = []
            packed.append((line, start, end))
    if packed:
        yield _unit(lines, around, above, packed)


def _last_clause(text: str, start: int, end: int) -> int:
    """Return the start of the last clause of text[start:end], at most `_CLAUSE_REACH` back."""
    clauses = [match.end() for match in _CLAUSE.finditer(text, start, max(start, end - 1))]
    return max([start, end - _CLAUSE_REACH, *clauses[-1:]])


def _unit(
    lines: Sequence[TextLine],
    around: _Around,
    above: Sequence[tuple[int, int, int]],
    packed: Sequence[tuple[int, int, int]],
) -> Unit:
    parts: list[str] = []
    pieces: list[UnitPiece] = []
    size = 0
    for line, start, end in above:
        text = (around.texts.get(line) or lines[line].sentence.text)[start:end]
        pieces.append(UnitPiece(line, start, end, size))
        parts.append(text + JOINT)
        size += len(text) + 1
    body = size
    for line, start, end in packed:
        text = lines[line].sentence.text[start:end]
        pieces.append(UnitPiece(line, start, end, size))
        parts.append(text)
        size += len(text)
    return Unit("".join(parts), body, tuple(pieces))


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """Split a sentence that is too long at its commas."""
    start = 0
    while len(text) - start > _LONGEST:
        stop = (
            max(text.rfind(mark, start + _PACKED // 2, start + _LONGEST) for mark in "，；、）") + 1 or start + _LONGEST
        )
        yield start, stop
        start = stop
    if start < len(text):
        yield start, len(text)


def _table_units(lines: Sequence[TextLine], at: int, stop: int, around: _Around) -> Iterator[Unit]:
    """Yield one unit per row, with the table's header as context."""
    context = around.context(lines[at].block)
    head = (at, 0, min(60, len(lines[at].sentence.text)))
    for line in range(at + 1, stop):
        length = len(lines[line].sentence.text)
        yield _unit(lines, around, [*context, head], [(line, 0, min(length, _LONGEST))])
