"""Cut passages into sentences and rows of tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kg.model import ChunkKind
from kg.text.table_rows import headed_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.model import Chunk

LONGEST = 400  # characters of a sentence that are shown
_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")
_LABEL = 24


def sentences(chunk: Chunk) -> Iterator[tuple[int, int, str]]:
    """Yield the sentences of a passage, or the rows of a table with their heads, as places and texts."""
    if chunk.kind == ChunkKind.TABLE:
        for start, end, text in headed_rows(chunk.text)[1]:
            yield chunk.start + start, chunk.start + end, text
        return
    for match in _SENTENCE.finditer(chunk.text):
        text = match[0]
        blank = len(text) - len(text.lstrip())
        kept = text.strip()[:LONGEST]
        if len(kept) > 1:
            start = chunk.start + match.start() + blank
            yield start, start + len(kept), kept


def in_order(chunk: Chunk) -> Iterator[tuple[int, str, str]]:
    """Yield the place of each sentence, the sentence, and the one before it; rows of a table stand alone."""
    before = ""
    for start, _, text in sentences(chunk):
        yield start, text, before
        before = "" if chunk.kind == ChunkKind.TABLE else text


def is_label(text: str) -> bool:
    """Whether a sentence is the label of what stands below it."""
    return 0 < len(text) <= _LABEL and not text.endswith("。")
