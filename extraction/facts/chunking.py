"""Split documents into passages of one topic each, with `text == document.text[start:end]`.

Headings, tables and removed spans are boundaries. Between two boundaries, sentences are grouped by the order-preserving
maximal-clique method: similar sentences of a window form a graph, its maximal cliques (Bron & Kerbosch 1973, in igraph)
show which of them belong together, and only consecutive ones are joined, so that a passage is readable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import igraph
import numpy as np
from msgspec import Struct

from extraction.documents.table import skeleton_of
from extraction.text.sentences import normalise, split
from extraction.text.similarity import vectorise
from kg.ids import chunk_id
from kg.model import Block, BlockKind, Chunk, ChunkKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from extraction.text.similarity import SentenceVectors
    from kg.model import Document

_CLAUSE_ENDS = "，、；,;：: "
_LABEL = 12  # characters; a shorter sentence (单位：万元) means nothing alone
_LONGEST_TITLE = 30
# Comparable with cosines, which seldom exceed 0.5.
_LEAD_IN_BOND, _LABEL_BOND, _RUN_BOND, _PARAGRAPH_BOND = 2.0, 1.0, 0.3, 0.05
_RESULTS_PER_SENTENCE = 64


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Parameters of passage splitting.

    Attributes:
        window: number of sentences compared with one another, 20 … 80.
        likeness: minimum cosine for an edge between two sentences.
        neighbours: an edge must be among this many strongest of both its ends. It bounds a sentence's cliques by
            3^(neighbours / 3) (Moon & Moser 1965); ties can exceed that, so the cliques of a window are limited too.
            No text can make the search explode.
        gap: maximum number of sentences outside the clique between two members that are joined.
        shortest: a passage with fewer characters takes in its next sentence.
        longest: a passage with more characters is cut at its weakest joint.
    """

    window: int = 40
    likeness: float = 0.08
    neighbours: int = 8
    gap: int = 2
    shortest: int = 120
    longest: int = 600


class _Unit(Struct, frozen=True):
    """A sentence to chunk: its span, its text, and properties of its block."""

    start: int
    end: int
    text: str
    kind: BlockKind
    opens: bool
    lead_in: bool


@dataclass(frozen=True, slots=True)
class _Section:
    """Content between two boundaries: sentences, or one table."""

    heading: tuple[str, ...]
    units: tuple[_Unit, ...] = ()
    table: Block | None = None


def chunk_document(document: Document, options: ChunkOptions | None = None) -> list[Chunk]:
    """Split a document into passages and tables, in order, without overlap.

    Every sentence outside headings and removed spans is in exactly one chunk; a heading with nothing below it is a
    chunk of its own, so that its claim (黄金：金价驱动利润高增) is not lost.

    Args:
        document: without blocks, it is read as one paragraph.
        options: sizes and thresholds.
    """
    options = options or ChunkOptions()
    sections = list(_sections(document, options))
    vectors = cache(lambda: vectorise([unit.text for section in sections for unit in section.units]))  # seldom needed
    chunks: list[Chunk] = []
    first = 0
    for section in sections:
        if section.table is not None:
            chunks.append(_table_chunk(document, section.heading, section.table))
            continue
        if not section.units:  # a blank heading
            continue
        bonds = np.array([_form_bond(before, after) for before, after in pairwise(section.units)], dtype=np.float64)
        if not _is_whole(section.units, bonds, options):
            bonds += _likeness(section.units, vectors(), first, options)
        first += len(section.units)
        for start, stop in _group(section.units, bonds, options):
            chunks.append(
                _text_chunk(document, section.heading, section.units[start].start, section.units[stop - 1].end)
            )
    return chunks


def chunk_pages(document: Document, longest: int = 1_000) -> list[Chunk]:
    """Split a filing into passages that never cross a page or a heading: paragraphs together, each table whole.

    A filing's paragraphs follow its sections, so that their likeness, which takes most of the time of
    `chunk_document`, adds nothing.
    """
    chunks: list[Chunk] = []
    path: dict[int, str] = {}
    group: list[Block] = []

    def flush() -> None:
        if group:
            heading = tuple(path[level] for level in sorted(path))
            chunks.append(_text_chunk(document, heading, group[0].start, group[-1].end))
            group.clear()

    page: int | None = None
    for block in document.blocks:
        on = document.page_of(block.start)
        full = bool(group) and block.end - group[0].start > longest
        if full or on != page or block.kind in (BlockKind.HEADING, BlockKind.TABLE):
            flush()
        page = on
        if block.kind is BlockKind.HEADING:
            path = {level: title for level, title in path.items() if level < block.level}
            path[block.level] = normalise(document.text[block.start : block.end])
        elif block.kind is BlockKind.TABLE:
            chunks.append(_table_chunk(document, tuple(path[level] for level in sorted(path)), block))
        else:
            group.append(block)
    flush()
    return chunks


def _sections(document: Document, options: ChunkOptions) -> Iterator[_Section]:
    """Yield the sections between boundaries."""
    path: dict[int, str] = {}
    units: list[_Unit] = []
    lone_heading: Block | None = None
    for block in (*_kept_blocks(document), None):
        heading = tuple(path[level] for level in sorted(path))
        if units and (block is None or block.kind in (BlockKind.HEADING, BlockKind.TABLE)):
            yield _Section(heading, tuple(units))
            units = []
        if block is None:
            continue
        if block.kind is BlockKind.HEADING:
            if lone_heading is not None and lone_heading.level >= block.level:
                yield _Section(heading[:-1], _units(document, lone_heading, options))
            path = {level: title for level, title in path.items() if level < block.level}
            path[block.level] = normalise(document.text[block.start : block.end]).strip("# ")
            lone_heading = block
            continue
        lone_heading = None
        if block.kind is BlockKind.TABLE:
            yield _Section(heading, table=block)
        else:
            units += _units(document, block, options)
    if lone_heading is not None:
        yield _Section(tuple(path[level] for level in sorted(path))[:-1], _units(document, lone_heading, options))


def _kept_blocks(document: Document) -> Iterator[Block | None]:
    """Yield the blocks without removed spans, and None for each removed span, which is a boundary."""
    blocks = document.blocks or (Block(0, len(document.text), BlockKind.PARAGRAPH),)
    removed_spans = sorted((removed.start, removed.end) for removed in document.removed)
    at = 0
    for block in blocks:
        begin = block.start
        while at < len(removed_spans) and removed_spans[at][0] < block.end:
            if removed_spans[at][0] > begin:
                yield replace(block, start=begin, end=removed_spans[at][0])
            yield None
            begin = max(begin, removed_spans[at][1])
            if removed_spans[at][1] > block.end:
                break
            at += 1
        if begin < block.end:
            yield replace(block, start=begin) if begin > block.start else block


def _units(document: Document, block: Block, options: ChunkOptions) -> tuple[_Unit, ...]:
    units: list[_Unit] = []
    sentences = split(document.text, block.start, block.end)
    alone = block.kind is BlockKind.PARAGRAPH and len(sentences) == 1
    for sentence in sentences:
        announces = sentence.text.endswith(("：", ":")) or (alone and _is_title(sentence.text))
        for start, end in _parts(document.text, sentence.start, sentence.end, options.longest):
            lead_in = announces and end == sentence.end
            units.append(_Unit(start, end, sentence.text, block.kind, not units, lead_in))
    return tuple(units)


def _is_title(text: str) -> bool:
    """Return whether a paragraph looks like a heading that was only set in bold: short, without an end mark."""
    return len(text) <= _LONGEST_TITLE and text[-1] not in "。！？；，.!?;,…|"


def _parts(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """Split a sentence that is too long for a passage, after a clause if possible."""
    while end - start > longest:
        cut = max((text.rfind(mark, start + longest // 2, start + longest) for mark in _CLAUSE_ENDS), default=-1) + 1
        cut = cut or start + longest
        yield start, start + len(text[start:cut].rstrip())
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    yield start, end


def _is_whole(units: Sequence[_Unit], bonds: NDArray[np.float64], options: ChunkOptions) -> bool:
    """Return whether a section is one passage regardless of topic: it is short, or its form joins it."""
    first = units[0].start
    return units[-1].end - first <= options.longest and all(
        unit.end - first < options.shortest or (bond >= options.likeness and unit.end - first <= options.longest // 2)
        for unit, bond in zip(units, bonds.tolist(), strict=False)  # no joint follows the last one
    )


def _likeness(
    units: Sequence[_Unit], vectors: SentenceVectors, first: int, options: ChunkOptions
) -> NDArray[np.float64]:
    """Return the similarity of each sentence to the next, from the cliques that span the joint."""
    likeness = np.zeros(len(units) - 1)
    step = max(options.window // 2, 1)
    for start in range(0, max(len(units) - step, 1) if len(units) > 1 else 0, step):
        stop = min(start + options.window, len(units))
        cosine = vectors.cosine(first + start, first + stop)
        for clique in _cliques(cosine, options):
            for run in _runs(clique, options.gap):
                strength = (float(cosine[np.ix_(run, run)].sum()) - float(cosine[run, run].sum())) / (
                    len(run) * (len(run) - 1)
                )
                joints = likeness[start + run[0] : start + run[-1]]
                np.maximum(joints, strength, out=joints)
    return likeness


def _form_bond(before: _Unit, after: _Unit) -> float:
    listed = after.kind is BlockKind.ITEM
    if before.lead_in:
        return _LEAD_IN_BOND
    # a label (单位：万元) is joined across paragraphs; a short sentence that is complete is not
    needs = [unit for unit in (before, after) if len(unit.text) < _LABEL and not unit.lead_in]
    if any(not (after.opens and unit.text.endswith("。")) for unit in needs):
        return _LABEL_BOND
    if listed and before.kind is BlockKind.ITEM:
        return _RUN_BOND
    return 0.0 if after.opens else _PARAGRAPH_BOND


def _cliques(cosine: NDArray[np.float32], options: ChunkOptions) -> list[list[int]]:
    """Return the maximal cliques of the similarity graph, members in text order."""
    near = cosine.copy()
    np.fill_diagonal(near, 0)
    if len(near) > options.neighbours:
        kept = np.partition(near, -options.neighbours, axis=1)[:, -options.neighbours]
        near = np.where((near >= kept[:, None]) & (near >= kept[None, :]), near, 0)
    edges = np.argwhere(np.triu(near >= options.likeness))
    if not edges.size:
        return []
    graph = igraph.Graph(len(near), edges.tolist())
    found = graph.maximal_cliques(min=2, max_results=_RESULTS_PER_SENTENCE * len(near))
    return sorted(sorted(clique) for clique in found)


def _runs(clique: Sequence[int], gap: int) -> Iterator[list[int]]:
    """Split a clique where its members are too far apart for one passage."""
    run = [clique[0]]
    for before, after in pairwise(clique):
        if after - before - 1 > gap:
            if len(run) > 1:
                yield run
            run = []
        run.append(after)
    if len(run) > 1:
        yield run


def _group(units: Sequence[_Unit], bonds: NDArray[np.float64], options: ChunkOptions) -> Iterator[tuple[int, int]]:
    """Yield the passages of a section as sentence ranges."""
    groups: list[tuple[int, int]] = []
    start = 0
    for at in range(1, len(units)):
        while start < at and units[at].end - units[start].start > options.longest:
            cut = _weakest(units, bonds, (start, at), options)
            groups.append((start, cut))
            start = cut
        if start < at and not _joins_previous(bonds, at, units[at - 1].end - units[start].start, options):
            groups.append((start, at))
            start = at
    if groups and _is_scrap(units, groups[-1][0], start, options):
        start = groups.pop()[0]
    yield from groups
    yield start, len(units)


def _is_scrap(units: Sequence[_Unit], before: int, start: int, options: ChunkOptions) -> bool:
    """Return whether the last passage is too short for a passage and fits into the one before."""
    end = units[-1].end
    return end - units[start].start < options.shortest and end - units[before].start <= options.longest


def _joins_previous(bonds: NDArray[np.float64], at: int, length: int, options: ChunkOptions) -> bool:
    """Return whether sentence `at` joins the passage of `length` characters before it.

    A sentence bonded to both sides joins the earlier passage while that is short.
    """
    bond = bonds[at - 1]
    if length < options.shortest:
        return True
    if bond < options.likeness:
        return False
    bonded_ahead = at < len(bonds) and bonds[at] > bond
    return length <= options.longest // 2 or not bonded_ahead


def _weakest(units: Sequence[_Unit], bonds: NDArray[np.float64], span: tuple[int, int], options: ChunkOptions) -> int:
    """Return where to cut sentences [start, at] in two: the weakest joint that leaves no scrap, the last if tied."""
    start, at = span
    cuts = [cut for cut in range(start + 1, at + 1) if units[cut - 1].end - units[start].start >= options.shortest]
    return min(cuts or [at], key=lambda cut: (bonds[cut - 1], -cut))


def _text_chunk(document: Document, heading: tuple[str, ...], start: int, end: int) -> Chunk:
    text = document.text[start:end]
    return Chunk(
        id=chunk_id(document.id, start, end),
        document=document.id,
        start=start,
        end=end,
        text=text,
        heading=heading,
        page=document.page_of(start),
        meta=_meta(document, heading),
        search_text="\n".join((*heading, text)),
    )


def _table_chunk(document: Document, heading: tuple[str, ...], block: Block) -> Chunk:
    chunk = _text_chunk(document, heading, block.start, block.end)
    words = "\n".join((*heading, skeleton_of(chunk.text)))
    # digits in a title (2025Q1, ①) would let every query with a number match
    words = "".join(char for char in words if not char.isdigit())
    return replace(chunk, kind=ChunkKind.TABLE, search_text=words, html=block.html)


def _meta(document: Document, heading: tuple[str, ...]) -> str:
    return " · ".join((document.title, document.published_on.isoformat(), *([" › ".join(heading)] if heading else [])))
