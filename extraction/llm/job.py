"""Extract with a language model: plan what to ask, keep the replies, and read the documents again with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from extraction.llm.planning import PackPlan, plan_document
from extraction.llm.prompt import packs_of
from extraction.llm.reader import MODEL_READER, PackReply
from extraction.names.linker import Linker
from extraction.names.user_names import lexicon_with
from extraction.pipeline import Extractor
from extraction.workers import ordered_map
from kg.llm.batch import read_batch, write_batch
from kg.llm.port import request_key
from kg.llm.replay import StoredReply, Unanswered
from kg.model import MentionStatus
from kg.securities.master import Master
from kg.securities.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from extraction.llm.prompt import Pack
    from kg.llm.replay import ReplyLog
    from kg.model import Document, Reading
    from kg.store.port import Store, Writer

@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How the local extractor reads; the same as for an ingest."""

    ner: bool = True
    master: Path | None = None
    names: Path | None = None
    edge_model: str = "shipped"
    min_confidence: float = 0.0
    workers: int = 0


@dataclass(slots=True)
class Applied:
    """Counts of an application: documents read again, facts from models in them, refused items by reason."""

    documents: int = 0
    unchanged: int = 0
    facts: int = 0
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Imported:
    """Counts of a reply file, and its unusable lines with their causes."""

    replies: int = 0
    known: int = 0
    faults: list[str] = field(default_factory=list)
    applied: Applied = field(default_factory=Applied)


class PackFinder:
    """Finds the packs of documents with the names of one master."""

    def __init__(self, options: ReadingOptions) -> None:
        linker = Linker(Resolver(Master.load(options.master)), lexicon_with(options.names), None)
        self._names = linker.link

    def packs(self, document: Document) -> list[Pack]:
        """Return the packs of a document."""
        return packs_of(document, self._names)


def plan(store: Store, finder: PackFinder, documents: Collection[str] | None = None) -> list[PackPlan]:
    """Return the packs of a base, or of some of its documents, in order of day with their expected gain."""
    found: list[PackPlan] = []
    for head in store.view().documents(documents):
        reading = store.reading(head.id)
        if reading is not None and not _is_scanned(reading):
            found += plan_document(reading, finder.packs(reading.document))
    return found


def export_batch(
    path: Path, plans: Iterable[PackPlan], log: ReplyLog, *, model: str, at: datetime
) -> int:
    """Write the packs that have no reply of this model to a batch file and return their number."""
    wanted = [(request_key(model, plan.pack.request), plan.pack.request) for plan in plans]
    wanted = [(key, request) for key, request in dict(wanted).items() if key not in log.replies]
    count = write_batch(path, model, wanted)
    log.note([(key, Unanswered(model, _iso(at))) for key, _ in wanted])
    return count


def import_batch(
    path: Path, store: Store, log: ReplyLog, *, options: ReadingOptions, at: datetime
) -> Imported:
    """Store the replies of a file and read their documents again.

    Raises:
        ModelError: when the file cannot be read or the replies cannot be written.
    """
    outcome = Imported()
    for line in read_batch(path):
        asked = log.unanswered.get(line.key)
        if line.reply is None:
            outcome.faults.append(f"{path}:{line.number}: {line.cause}")
            if asked is not None:
                log.note([(line.key, replace(asked, cause=line.cause))])
        elif line.key in log.replies:
            outcome.known += 1
        elif asked is None:
            outcome.faults.append(f"{path}:{line.number}: a reply to nothing that was exported from this base")
        else:
            log.add(line.key, StoredReply(line.reply, asked.model, _iso(at)))
            outcome.replies += 1
    outcome.applied = apply(store, log, options=options)
    return outcome


def apply(
    store: Store,
    log: ReplyLog,
    *,
    options: ReadingOptions,
    documents: Collection[str] | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Applied:
    """Read the documents again that have replies, and replace what differs; the result depends on the replies alone."""
    finder = PackFinder(options)
    outcome = Applied()
    work: list[_Work] = []
    for head in store.view().documents(documents):
        reading = store.reading(head.id)
        if reading is None or _is_scanned(reading):
            continue
        replies = tuple(replies_to(finder.packs(reading.document), log))
        if replies or has_model_facts(reading):
            work.append(_Work(reading, replies))
    results = ordered_map(iter(work), partial(_reader, options), _lost, workers=options.workers)
    with store.writer() as writer:
        for done, (item, new) in enumerate(zip(work, results, strict=True), start=1):
            _replace(writer, item.reading, new, outcome)
            progress(done, len(work))
    return outcome


def replies_to(packs: Sequence[Pack], log: ReplyLog) -> Iterator[PackReply]:
    """Yield the stored replies of all models to some packs, or to the halves of packs that were too long."""
    models = sorted({stored.model for stored in log.replies.values() if stored.model})
    for pack in packs:
        for model in models:
            yield from _replies_to(pack, model, log.replies)


def has_model_facts(reading: Reading) -> bool:
    """Return whether a reading holds anything from a model."""
    return any(item.extractor.startswith(MODEL_READER) for fact in reading.facts for item in fact.evidence) or any(
        problem.kind.startswith("model:") for problem in reading.problems
    )


def _replies_to(pack: Pack, model: str, replies: Mapping[str, StoredReply]) -> Iterator[PackReply]:
    stored = replies.get(request_key(model, pack.request))
    if stored is not None:
        yield PackReply(pack, model, stored.reply.text, datetime.fromisoformat(stored.at), stored.reply.cut)
        return
    for half in pack.halves() or ():
        yield from _replies_to(half, model, replies)


@dataclass(frozen=True, slots=True)
class _Work:
    """A stored document and the replies about it."""

    reading: Reading
    replies: tuple[PackReply, ...]


def _reader(options: ReadingOptions) -> Callable[[_Work], Reading | None]:
    """Return the function that reads one document again; called once per process."""
    extractor = Extractor.default(
        master=options.master,
        ner=options.ner,
        edge_model=options.edge_model,
        names=options.names,
        min_confidence=options.min_confidence,
    )

    def read(work: _Work) -> Reading | None:
        recorded_at = work.reading.recorded_at
        assert recorded_at is not None  # plan leaves out documents of unknown time
        return extractor.extract(work.reading.document, recorded_at=recorded_at, replies=work.replies)

    return read


def _lost(_work: _Work, _cause: str) -> Reading | None:
    return None


def _replace(writer: Writer, old: Reading, new: Reading | None, outcome: Applied) -> None:
    if new is None:
        return
    outcome.facts += sum(any(item.extractor.startswith(MODEL_READER) for item in fact.evidence) for fact in new.facts)
    outcome.refused.update(
        problem.kind.partition(":")[2] for problem in new.problems if problem.kind.startswith("model:")
    )
    if _content(old) == _content(new):
        outcome.unchanged += 1
        return
    with writer.together():
        writer.remove(old.document.id)
        writer.write(replace(new, copies=old.copies))
    outcome.documents += 1


def _content(reading: Reading) -> tuple[object, ...]:
    """Return what a reading says, in an order that stores keep."""
    facts = sorted(
        (fact.id, tuple((item.start, item.end, item.confidence, item.extractor, item.recorded_at) for item in fact.evidence))
        for fact in reading.facts
    )
    mentions = sorted(
        (each.start, each.end, each.entity) for each in reading.mentions if each.status is MentionStatus.LINKED
    )
    problems = sorted((each.kind, each.message, each.start, each.end) for each in reading.problems)
    return facts, mentions, problems


def _is_scanned(reading: Reading) -> bool:
    """Return whether pages were read by OCR: their legibility is not stored, so they cannot be read again alike."""
    return reading.recorded_at is None or any(problem.kind == "ocr" for problem in reading.problems)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
