"""Copy one store into another, resumably, and verify the copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.errors import StoreError
from kg.ids import digest
from kg.interop.dumping import document_lines, last_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.model import Reading
    from kg.store.port import Store


_COUNTED = ("documents", "chunks", "mentions", "entities", "facts", "evidence", "judgements")


class CopyDiffers(StoreError):
    """A copy that differs from its source."""

    def __init__(self, what: str) -> None:
        template = (
            "the copy differs: {what}; copy into a new knowledge base, or remove from it what is not in the source"
        )
        super().__init__(template, what=what)


@dataclass(slots=True)
class Copied:
    """Counts of documents written and of documents already present."""

    written: int = 0
    known: int = 0


def copy(source: Store, target: Store, *, progress: Callable[[int], None] = lambda _: None) -> Copied:
    """Copy documents, judgements and runs; documents already in the target are skipped.

    Args:
        source: read in one pass; run again to copy what was written in the meantime.
        target: empty, or the result of an earlier run.
        progress: called after each document with the number done.
    """
    done = Copied()
    view = source.view()
    with target.writer() as writer:
        for head in list(view.documents()):
            reading = None if target.has_document(head.id) else source.reading(head.id)
            if reading is None:
                done.known += 1
            else:
                done.written += writer.write(reading)
            progress(done.written + done.known)
        known = {judgement.id for judgement in target.view().judgements()}
        for judgement in view.judgements():
            if judgement.id not in known:
                writer.judge(judgement)
        published = list(target.view().runs())
        runs = list(view.runs())
        for run in runs if published != runs else ():
            writer.publish(run)
    return done


def verify(source: Store, target: Store) -> str:
    """Compare counts and the hashes of every document, judgement and run; return the overall hash.

    Raises:
        CopyDiffers: naming the first difference.
    """
    one, other = source.stats(), target.stats()
    for name in _COUNTED:
        if one[name] != other[name]:
            raise CopyDiffers(f"{one[name]} {name} in the source, {other[name]} in the copy")
    hashes = []
    for head in source.view().documents():
        made, kept = (_hash(store.reading(head.id)) for store in (source, target))
        if made != kept:
            raise CopyDiffers(f"document {head.id}")
        hashes.append(made)
    ends = [[*last_lines(store), *_published(store)] for store in (source, target)]
    if ends[0] != ends[1]:
        raise CopyDiffers("judgements or weekly runs")
    return digest([*hashes, *ends[0]])


def _published(store: Store) -> list[str]:
    """Return the publication times of weekly runs, which a dump omits and a copy keeps."""
    return [str(run.recorded_at) for run in store.view().runs()]


def _hash(reading: Reading | None) -> str:
    """Hash a document with its recording times, which a dump omits and a copy keeps."""
    if reading is None:
        return ""
    instants = [str(item.recorded_at) for fact in reading.facts for item in fact.evidence]
    return digest([*document_lines(reading), str(reading.recorded_at), *instants])
