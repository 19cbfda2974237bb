"""The sentences of a base that are nearest to a question in meaning, whatever words they use.

A text is the sum of trained vectors of its word pieces: a static encoder, as Model2Vec (Tulkens and van Dongen 2024),
trained contrastively on questions and the sentences that answer them; docs/answer-model.md has its card. All products
are of integers below 2^24, so that every processor ranks alike. The rows of documents are kept in a file beside the
base; the id of a document is that of its text, so they stay valid, and the file may be deleted.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg.graph import arrays
from kg.query.sentences.cutting import in_order, is_label
from kg.text.word_pieces import WordPieces

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from kg.model import Chunk
    from kg.store.port import DocumentHead, View

_KEY = {"format": 1, "encoder": 1}
_FILE = "sentences.npv"
_WORTH_A_FILE, _SHARE = 1_000, 20  # rows that are not in the file yet: so many, and one in so many of all
_LONGEST, _ABOVE, _BEFORE = 200, 48, 24  # pieces
_BEFORE_CHARACTERS, _HEADINGS = 60, 2
_SCALE, _MOST = 400, 127  # of the components of a vector of length 1 as bytes
_BLOCK = 1 << 14


class SentenceParts(NamedTuple):
    """A sentence, where it begins, what stands above it and the sentence before."""

    start: int
    text: str
    above: str
    before: str

    def pieces(self) -> tuple[list[int], list[int], list[int]]:
        """Return the numbers of the pieces of the sentence, of what stands above and of what stands before it."""
        cut = WordPieces.shipped().numbers
        return cut(self.text, _LONGEST), cut(self.above, _ABOVE), cut(self.before[-_BEFORE_CHARACTERS:], _BEFORE)


def parts_of(chunk: Chunk, head: DocumentHead) -> Iterator[SentenceParts]:
    """Yield the sentences of a passage with what the encoder reads beside them."""
    for start, text, before in in_order(chunk):
        label = before if is_label(before) else ""
        above = " ".join(dict.fromkeys((head.title, *chunk.heading[-_HEADINGS:], label)))
        yield SentenceParts(start, text, above, before)


class SentenceEncoder:
    """Turns questions and sentences into vectors of bytes; thread-safe."""

    def __init__(self) -> None:
        with np.load(resources.files(__package__) / "data" / "nearest.npz") as stored:  # type: ignore[arg-type]
            self._pieces: NDArray[np.int8] = stored["pieces"]
            self._question, self._sentence = (stored[name].astype(np.int64) for name in ("question", "sentence"))
            self._above, self._before = stored["context"].tolist()

    @staticmethod
    @cache
    def shipped() -> SentenceEncoder:
        """Return the encoder in `kg/query/sentences/data`."""
        return SentenceEncoder()

    @property
    def width(self) -> int:
        """The number of components."""
        return int(self._pieces.shape[1])

    def question(self, text: str) -> NDArray[np.int8]:
        """Return the vector of a question, shape (width,)."""
        return _bytes_of(self._direction(WordPieces.shipped().numbers(text, _LONGEST), self._question))

    def passage(self, chunk: Chunk, head: DocumentHead) -> tuple[list[int], NDArray[np.int8]]:
        """Return where each sentence of a passage begins, and their vectors, shape (sentences, width)."""
        starts, rows = [], []
        known: dict[str, NDArray[np.float64]] = {}
        for each in parts_of(chunk, head):
            text, above, before = each.pieces()
            if each.above not in known:
                known[each.above] = self._above * self._direction(above, self._sentence)
            own = self._direction(text, self._sentence)
            starts.append(each.start)
            rows.append(_bytes_of(own + known[each.above] + self._before * self._direction(before, self._sentence)))
        return starts, np.array(rows, dtype=np.int8).reshape(-1, self.width)

    def _direction(self, numbers: list[int], weights: NDArray[np.int64]) -> NDArray[np.float64]:
        total = (self._pieces[numbers] * weights[numbers, None]).sum(axis=0).astype(np.float64)
        direction: NDArray[np.float64] = total / (np.sqrt((total * total).sum()) or 1.0)
        return direction


class _Rows(NamedTuple):
    """Sentences of several documents, in columns."""

    documents: NDArray[np.bytes_]
    chunks: NDArray[np.bytes_]
    starts: NDArray[np.int32]
    vectors: NDArray[np.int8]

    def joined(self, more: _Rows) -> _Rows:
        return _Rows(
            np.concatenate((self.documents, more.documents)),
            np.concatenate((self.chunks, more.chunks)),
            np.concatenate((self.starts, more.starts)),
            np.concatenate((self.vectors, more.vectors)),
        )


class SentenceIndex:
    """The vectors of the sentences of one base; thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._rows: _Rows | None = None
        self._known: set[str] = set()
        self._saved = 0

    def nearest(self, view: View, question: str, limit: int) -> list[tuple[str, int]]:
        """Return passage and place of the sentences of a view that are nearest to a question, best first."""
        heads = {head.id: head for head in view.documents()}
        found = self._found(view, heads, question, limit)
        if stale := {document for document, chunk, _ in found if view.chunk(chunk) is None}:  # read anew since
            with self._guard:
                self._drop(stale)
            found = self._found(view, heads, question, limit)
        return [(chunk, start) for _, chunk, start in found]

    def _found(
        self, view: View, heads: dict[str, DocumentHead], question: str, limit: int
    ) -> list[tuple[str, str, int]]:
        with self._guard:
            rows = self._covering(view, heads)
        asked = SentenceEncoder.shipped().question(question).astype(np.float32)
        blocks = (rows.vectors[at : at + _BLOCK] for at in range(0, len(rows.starts), _BLOCK))
        scores = np.concatenate([block.astype(np.float32) @ asked for block in blocks] or [np.zeros(0)])
        if self._known.difference(heads):  # what the view does not know takes no place
            scores[~np.isin(rows.documents, [each.encode() for each in heads])] = -np.inf
        least = np.partition(scores, -limit)[-limit] if len(scores) > limit else -np.inf
        best = np.flatnonzero((scores >= least) & (scores > -np.inf))
        order = best[np.lexsort((rows.starts[best], rows.chunks[best], -scores[best]))][:limit]
        return [(rows.documents[at].decode(), rows.chunks[at].decode(), int(rows.starts[at])) for at in order.tolist()]

    def _drop(self, documents: set[str]) -> None:
        if self._rows is not None:
            rows, kept = self._rows, ~np.isin(self._rows.documents, [each.encode() for each in documents])
            self._rows = _Rows(rows.documents[kept], rows.chunks[kept], rows.starts[kept], rows.vectors[kept])
            self._known -= documents
            self._saved = 0

    def _covering(self, view: View, heads: dict[str, DocumentHead]) -> _Rows:
        """Return the rows of all documents of a view, reading and writing the file where there is one."""
        source = getattr(view, "source", None)
        file = Path(f"{source.path}-snapshot") / _FILE if source else None
        if self._rows is None:
            self._rows = (file and _load(file)) or _made(view, ())
            self._known = {each.decode() for each in np.unique(self._rows.documents).tolist()}
            self._saved = len(self._rows.starts)
        if missing := [head for document, head in heads.items() if document not in self._known]:
            self._rows = self._rows.joined(_made(view, missing))
            self._known.update(head.id for head in missing)
            rows = len(self._rows.starts)
            if file and rows - self._saved >= max(_WORTH_A_FILE, rows // _SHARE):
                _save(file, self._rows)
                self._saved = rows
        return self._rows


def _made(view: View, heads: Collection[DocumentHead]) -> _Rows:
    encoder = SentenceEncoder.shipped()
    documents: list[bytes] = []
    chunks: list[bytes] = []
    starts: list[int] = []
    vectors = [np.zeros((0, encoder.width), dtype=np.int8)]
    for head, chunk in _passages(view, heads):
        places, rows = encoder.passage(chunk, head)
        documents += [head.id.encode()] * len(places)
        chunks += [chunk.id.encode()] * len(places)
        starts += places
        vectors.append(rows)
    return _Rows(
        np.array(documents, dtype=np.bytes_),
        np.array(chunks, dtype=np.bytes_),
        np.array(starts, dtype=np.int32),
        np.concatenate(vectors),
    )


def _passages(view: View, heads: Collection[DocumentHead]) -> Iterator[tuple[DocumentHead, Chunk]]:
    for head in heads:
        for chunk in view.chunks(head.id):
            yield head, chunk


def _load(file: Path) -> _Rows | None:
    found = arrays.load(file, _KEY)
    if found is None:
        return None
    vectors = found["vectors"].reshape(len(found["starts"]), -1)
    return _Rows(found["documents"], found["chunks"], found["starts"], vectors)


def _save(file: Path, rows: _Rows) -> None:
    arrays.save(file, _KEY, rows._replace(vectors=rows.vectors.reshape(-1))._asdict())


def _bytes_of(direction: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return a vector at length 1 as bytes."""
    length = np.sqrt((direction * direction).sum()) or 1.0
    whole: NDArray[np.int8] = np.clip(np.rint(direction / length * _SCALE), -_MOST, _MOST).astype(np.int8)
    return whole
