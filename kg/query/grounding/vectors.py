"""Vectors of passages in files beside a base, and the passages of a view that are nearest to a question.

The folder `KB-vectors` holds memory-mapped files (kg/graph/arrays.py) of a batch of passages each: half-precision
vectors of length 1, with the ids of passages and documents. A run of `update` adds files, and at its end rewrites all
into one if passages were removed or the files are many; a run that is killed keeps its batches. The folder can be
deleted and made again. What a question may see is decided by its view: a row whose document or passage the view does
not know is passed over, so a later document neither appears nor changes what does.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kg.errors import QuestionError, StoreUnusable
from kg.graph import arrays
from kg.ids import digest
from kg.store.lock import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from kg.llm.embeddings import Encoder, Vectors
    from kg.model import Chunk
    from kg.store.port import DocumentHead, Store, View

_FORMAT = 1
_BATCH = 128  # passages; a run that is killed loses the vectors of at most one batch
_MOST_FILES = 16
_BLOCK = 16_384  # rows that are compared at once, so that no full-precision copy of all is made
_LONGEST, _TITLE, _HEADING = 300, 40, 30  # characters that are encoded, of them the most of title and heading
_SUFFIX = ".npv"
_DECIMALS = 5  # of a score; beyond them it depends on how a processor adds


class NoVectors(QuestionError):
    """A base without an index of vectors."""

    def __init__(self) -> None:
        super().__init__("no index of vectors beside this base; `liantu index --kb KB` makes one (not for `memory:`)")


class OtherModel(QuestionError):
    """An index made by another model than the one that is set."""

    def __init__(self, folder: Path, made: str, asked: str) -> None:
        template = (
            "{folder}: made with {made}, not with {asked}; set embed_url and embed_model as they were, or run "
            "`liantu index --anew`"
        )
        super().__init__(template, folder=folder.name, made=made, asked=asked)


@dataclass(frozen=True, slots=True)
class VectorTable:
    """All rows of an index: ids of passages and documents, keys of what was encoded, and the vectors of each file."""

    model: str
    dimension: int
    chunks: NDArray[np.bytes_]
    documents: NDArray[np.bytes_]
    keys: NDArray[np.bytes_]
    vectors: tuple[NDArray[np.float16], ...]

    @property
    def made_with(self) -> str:
        """The model and its dimension, as messages name them."""
        return f"{self.model} ({self.dimension} dimensions)"

    def scores(self, question: Vectors) -> NDArray[np.float64]:
        """Return the cosine of a question with each row."""
        blocks = (part[at : at + _BLOCK] for part in self.vectors for at in range(0, len(part), _BLOCK))
        found = [block.astype(np.float32) @ question for block in blocks]
        scores: NDArray[np.float64] = np.concatenate(found).astype(np.float64).round(_DECIMALS)
        return scores


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did: passages encoded, rows removed, rows in the index."""

    encoded: int
    removed: int
    rows: int


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A passage to encode; the key differs whenever its text does."""

    key: str
    chunk: str
    document: str
    text: str


class VectorIndex:
    """The index of one base; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._read: tuple[list[Path], VectorTable | None] = ([], None)

    @property
    def state(self) -> str:
        """What changes whenever the index does; "" without one."""
        names = [path.name for path in self._files()]
        return digest(names)[:8] if names else ""

    def table(self) -> VectorTable | None:
        """Return all rows, None without an index."""
        with self._guard:
            files = self._files()
            if self._read[0] != files:
                self._read = files, _table(files)
            return self._read[1]

    def update(
        self, store: Store, encoder: Encoder, *, anew: bool = False, show: Callable[[int, int], None] | None = None
    ) -> IndexReport:
        """Encode the passages that are new or changed and drop those that are gone.

        Args:
            store: the base.
            encoder: must be the one that the index was made with, unless it is made anew.
            anew: drop what there is first.
            show: is given the number of passages done and to do, after each batch.

        Raises:
            OtherModel: when another model made the index.
            StoreLocked: when another run is under way.
            StoreUnusable: when the folder cannot be written.
        """
        with writing(self.folder):
            if anew:
                _drop(self._files())
            table = self.table()
            if table and table.model != encoder.name:
                raise OtherModel(self.folder, table.made_with, encoder.name)
            known = set(table.keys.tolist()) if table else set()
            wanted = {passage.key.encode(): passage for passage in _passages(store.view())}
            missing = [passage for key, passage in wanted.items() if key not in known]
            for at in range(0, len(missing), _BATCH):
                self._add(missing[at : at + _BATCH], encoder)
                if show:
                    show(min(at + _BATCH, len(missing)), len(missing))
            lost = len(known.difference(wanted))
            if lost or len(self._files()) > _MOST_FILES:
                self._rewrite(wanted.keys())
            made = self.table()
            return IndexReport(len(missing), lost, len(made.keys) if made else 0)

    def nearest(self, view: View, question: str, encoder: Encoder, *, limit: int) -> list[tuple[Chunk, float]]:
        """Return the passages of a view that are nearest to a question, best first, ties by id.

        Raises:
            NoVectors: without an index.
            OtherModel: when another model, or one of another dimension, made it.
        """
        table = self.table()
        if table is None:
            raise NoVectors
        if table.model != encoder.name:
            raise OtherModel(self.folder, table.made_with, encoder.name)
        asked = encoder.question(question)
        if len(asked) != table.dimension:
            raise OtherModel(self.folder, table.made_with, f"{encoder.name} ({len(asked)} dimensions)")
        found: dict[str, tuple[Chunk, float]] = {}
        for chunk, score in _visible(view, table, table.scores(asked), limit):
            if len(found) >= limit:
                break
            found.setdefault(chunk.id, (chunk, score))
        return list(found.values())

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.iterdir() if path.suffix == _SUFFIX)
        except OSError:
            return []

    def _add(self, passages: Sequence[_Encoded], encoder: Encoder) -> None:
        vectors = encoder.passages([passage.text for passage in passages]).astype(np.float16)
        table = self.table()
        if table and vectors.shape[1] != table.dimension:
            raise OtherModel(self.folder, table.made_with, f"{encoder.name} ({vectors.shape[1]} dimensions)")
        columns = [
            np.array([text.encode() for text in column])
            for column in (
                [passage.chunk for passage in passages],
                [passage.document for passage in passages],
                [passage.key for passage in passages],
            )
        ]
        self._save(VectorTable(encoder.name, vectors.shape[1], columns[0], columns[1], columns[2], (vectors,)))

    def _save(self, table: VectorTable) -> Path:
        """Write rows as one more file; its name holds what is in it, so that an equal name means equal rows."""
        files = self._files()
        number = int(files[-1].name.partition("-")[0]) + 1 if files else 1
        content = digest((table.made_with, *(key.decode() for key in table.keys.tolist())))[:16]
        path = self.folder / f"{number:06}-{content}{_SUFFIX}"
        columns = {"chunks": table.chunks, "documents": table.documents, "keys": table.keys}
        rows = {**columns, "vectors": np.concatenate(table.vectors).reshape(-1)}
        key = {"format": _FORMAT, "model": table.model, "dimension": table.dimension}
        if not arrays.save(path, key, rows):
            raise StoreUnusable(self.folder, "cannot be written (read-only, or the disk is full)")
        return path

    def _rewrite(self, wanted: Collection[bytes]) -> None:
        """Replace all files by one with the wanted rows; a run killed in between leaves harmless duplicates."""
        files, table = self._files(), self.table()
        if table is None:
            _drop(files)
            return
        _, first = np.unique(table.keys, return_index=True)
        rows = np.array([row for row in sorted(first.tolist()) if table.keys[row] in wanted], dtype=np.int64)
        if len(rows):
            vectors = np.concatenate(table.vectors)[rows]
            columns = (table.chunks[rows], table.documents[rows], table.keys[rows])
            self._save(VectorTable(table.model, table.dimension, *columns, (vectors,)))
        _drop(files)


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """An index and the encoder that its questions are encoded with."""

    index: VectorIndex
    encoder: Encoder

    def nearest(self, view: View, question: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the passages of a view that are nearest to a question, best first."""
        return self.index.nearest(view, question, self.encoder, limit=limit)


def index_beside(url: str | Path) -> VectorIndex | None:
    """Return the index that belongs to a base; of one on a server, in the working folder; of one in memory, None.

    >>> str(index_beside("kb.liantu").folder), str(index_beside("neo4j://host:7687").folder)
    ('kb.liantu-vectors', 'neo4j-host-7687-vectors')
    """
    path = str(url).removeprefix("sqlite:")
    scheme, _, server = path.replace(":/", "://", 1).partition("://")  # a Path has dropped a slash
    if path == "memory:":
        return None
    if server and "/" not in scheme:
        path = "-".join((scheme, *"".join(char if char.isalnum() else " " for char in server).split()))
    return VectorIndex(Path(f"{path}-vectors"))


def _table(files: Sequence[Path]) -> VectorTable | None:
    """Return the rows of all files of the first one's model; a damaged file counts as missing."""
    model, dimension = "", 0
    parts = []
    for path in files:
        key = arrays.key_of(path)
        found = arrays.load(path, key) if key and key.get("format") == _FORMAT else None
        if key is None or found is None:
            continue
        model, dimension = model or str(key["model"]), dimension or int(key["dimension"])
        if (key["model"], key["dimension"]) == (model, dimension):
            parts.append(found)
    if not parts:
        return None
    chunks, documents, keys = (
        np.concatenate([part[name] for part in parts]) for name in ("chunks", "documents", "keys")
    )
    vectors = tuple(part["vectors"].reshape(-1, dimension) for part in parts)
    return VectorTable(model, dimension, chunks, documents, keys, vectors)


def _visible(view: View, table: VectorTable, scores: NDArray[np.float64], limit: int) -> Iterator[tuple[Chunk, float]]:
    """Yield the rows that a view knows, best first, ties by id of the passage."""
    order = np.lexsort((table.chunks, -scores))
    at, size = 0, 2 * max(limit, 1)
    while at < len(order):
        rows = order[at : at + size].tolist()
        documents = {table.documents[row].decode() for row in rows}
        known = {head.id for head in view.documents(documents)}
        for row in rows:
            chunk = view.chunk(table.chunks[row].decode()) if table.documents[row].decode() in known else None
            if chunk is not None:
                yield chunk, float(scores[row])
        at, size = at + size, 2 * size


def _passages(view: View) -> Iterator[_Encoded]:
    for head in view.documents():
        for chunk in view.chunks(head.id):
            text = _encoded_text(chunk, head)
            yield _Encoded(digest((chunk.id, text)), chunk.id, head.id, text)


def _encoded_text(chunk: Chunk, head: DocumentHead) -> str:
    """Return what is encoded of a passage: the title, the last heading, and as much of the text as counts."""
    above = " ".join((head.title[:_TITLE], *(heading[:_HEADING] for heading in chunk.heading[-1:])))
    return f"{above} {chunk.search_text or chunk.text}"[:_LONGEST]


def _drop(files: Sequence[Path]) -> None:
    for path in files:
        path.unlink(missing_ok=True)
