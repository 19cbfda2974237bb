"""One store into another, whole, resumable, and compared afterwards."""

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
    """A copy that is not what it was made from."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the copy differs: {what}; copy into a new knowledge base, or remove what is not in the source"
        )


@dataclass(slots=True)
class Copied:
    """How many documents were written, and how many were there from before."""

    written: int = 0
    known: int = 0


def copy(source: Store, target: Store, *, progress: Callable[[int], None] = lambda _: None) -> Copied:
    """Copy documents, judgements and runs; a document that is there already is not written again.

    Args:
        source: read in one pass; when it is written to meanwhile, a second run takes what is new.
        target: empty, or left behind by an earlier run.
        progress: is told after each document how many are done.
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
        there = list(target.view().runs())
        runs = list(view.runs())
        for run in runs if there != runs else ():
            writer.publish(run)
    return done


def verify(source: Store, target: Store) -> str:
    """Compare counts, and hashes of every document, judgement and run; return the hash of it all.

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
    """Return the instants at which weekly runs were published, which a dump leaves out and a copy keeps."""
    return [str(run.recorded_at) for run in store.view().runs()]


def _hash(reading: Reading | None) -> str:
    """Hash a document with the instants of reading, which a dump leaves out and a copy keeps."""
    if reading is None:
        return ""
    instants = [str(item.recorded_at) for fact in reading.facts for item in fact.evidence]
    return digest([*document_lines(reading), str(reading.recorded_at), *instants])
