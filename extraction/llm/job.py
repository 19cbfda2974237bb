"""Extract with a language model: plan what to ask, keep the replies, and read the documents again with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.llm.planning import correction, plan_document
from extraction.llm.prompt import VERSION, packs_of
from extraction.llm.reader import MODEL_PRECISION, MODEL_READER, PackReply
from extraction.llm.verification import records
from extraction.names.linker import Linker
from extraction.names.user_names import lexicon_with
from extraction.pipeline import Extractor
from extraction.workers import ordered_map
from kg.ids import digest
from kg.llm.batch import read_batch, write_batch
from kg.llm.dispatch import PendingRequest
from kg.llm.port import request_key
from kg.llm.replay import StoredReply, Unanswered
from kg.model import MentionStatus, Problem
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from kg.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from extraction.llm.planning import PackPlan
    from extraction.llm.prompt import Pack
    from kg.llm.replay import ReplyLog
    from kg.model import Document, Reading
    from kg.store.port import Store, Writer

_REFUSED = "model:"  # kind of the problem of a refused item
_STEP = 0.05  # of a model's precision
_MARK = "model:replies"  # kind of the record of which replies a document was read with


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How the local extractor reads; the same as for an ingest."""

    ner: bool = True
    master: Path | None = None
    names: Path | None = None
    edge_model: str = "shipped"
    min_confidence: float = Settings().min_confidence
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


@dataclass(slots=True)
class Status:
    """What models have contributed: replies and tokens by model, facts, open and failed requests, refused items."""

    models: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    facts: int = 0
    exported: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


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
    days = {head.id: (head.published_on, head.id) for head in store.view().documents()}
    found: list[PackPlan] = []
    for head in store.view().documents(documents):
        reading = store.reading(head.id)
        if reading is None or _is_scanned(reading):
            continue
        if any(days.get(copy, days[head.id]) < days[head.id] for copy in reading.copies):
            continue  # an earlier document has the same text
        found += plan_document(reading, finder.packs(reading.document))
    return found


def export_batch(path: Path, choice: Choice, log: ReplyLog, *, model: str, at: datetime) -> None:
    """Write the chosen requests to a batch file and note that they are under way."""
    write_batch(path, model, [(item.key, item.request) for item in choice.requests])
    log.note([(item.key, Unanswered(model, _iso(at))) for item in choice.requests])


@dataclass(frozen=True, slots=True)
class Choice:
    """The requests to send, most valuable first, and why the other packs are not sent."""

    requests: tuple[PendingRequest, ...]
    answered: int
    low_gain: int
    failed: int
    exported: int

    @property
    def tokens(self) -> tuple[float, float]:
        """Predicted tokens of prompts and replies."""
        return sum(item.prompt_tokens for item in self.requests), sum(item.reply_tokens for item in self.requests)


def choose(
    plans: Sequence[PackPlan], log: ReplyLog, *, model: str, min_gain: float, retry_failed: bool = False
) -> Choice:
    """Return what to ask a model: packs without its reply that promise enough new edges.

    Args:
        plans: all packs.
        log: stored replies and unanswered requests.
        model: the name of the model.
        min_gain: new edges that a pack must promise.
        retry_failed: whether to repeat requests that failed.
    """
    keys = {id(plan): request_key(model, plan.pack.request) for plan in plans}
    factors = correction(log, model, [(keys[id(plan)], plan.tokens) for plan in plans])
    counts = Counter[str]()
    chosen: dict[str, PendingRequest] = {}
    for plan in sorted(plans, key=lambda plan: plan.rank):
        key = keys[id(plan)]
        parts = [half for half in _parts(plan.pack, model, log) if request_key(model, half.request) not in log.replies]
        unanswered = log.unanswered.get(key)
        if not parts:
            counts["answered"] += 1
        elif plan.gain < min_gain:
            counts["low_gain"] += 1
        elif unanswered is not None and not unanswered.cause:
            counts["exported"] += 1
        elif unanswered is not None and not retry_failed:
            counts["failed"] += 1
        else:
            for part in parts:
                share = len(part.lines) / len(plan.pack.lines)
                item = _pending(part, model, (plan.tokens[0] * factors[0], plan.tokens[1] * factors[1] * share))
                chosen.setdefault(item.key, item)
    return Choice(tuple(chosen.values()), counts["answered"], counts["low_gain"], counts["failed"], counts["exported"])


def _parts(pack: Pack, model: str, log: ReplyLog) -> list[Pack]:
    """Return the pack, or those halves of it that were sent instead."""
    if request_key(model, pack.request) in log.replies:
        return [pack]
    halves = pack.halves() or ()
    sent = [half for half in halves if any(True for _ in _replies_to(half, model, log.replies))]
    return [part for half in halves for part in _parts(half, model, log)] if sent else [pack]


def _pending(pack: Pack, model: str, tokens: tuple[float, float]) -> PendingRequest:
    def split() -> list[PendingRequest]:
        return [_pending(half, model, (tokens[0] / 2, tokens[1] / 2)) for half in pack.halves() or ()]

    request = pack.request
    return PendingRequest(request_key(model, request), request, tokens[0], tokens[1], split)


def import_batch(path: Path, store: Store, log: ReplyLog, *, options: ReadingOptions, at: datetime) -> Imported:
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
    again: bool = False,
) -> Applied:
    """Read the documents again that have new replies, and replace what differs.

    Args:
        store: the base.
        log: the replies; documents with facts from replies that it lacks are read again without them.
        options: of the local extractor.
        documents: ids of the documents, None for all.
        again: whether to read documents whose replies are the same as before.
    """
    finder = PackFinder(options)
    outcome = Applied()
    # In steps, so that a few more verdicts do not have every document read again.
    precisions = {name: round(each.precision / _STEP) * _STEP for name, each in records(store.view()).items()}
    work: list[_Work] = []
    for head in store.view().documents(documents):
        reading = store.reading(head.id)
        if reading is None or _is_scanned(reading):
            continue
        replies = tuple(
            structs.replace(reply, precision=precisions.get(f"{MODEL_READER}{reply.model}@{VERSION}", MODEL_PRECISION))
            for reply in replies_to(finder.packs(reading.document), log)
        )
        mark = _mark(replies)
        if mark == _stored_mark(reading) and not (mark and again):
            outcome.unchanged += bool(mark)
            outcome.facts += _model_facts(reading)
            outcome.refused.update(_refused(reading))
            continue
        work.append(_Work(reading, replies, mark))
    results = ordered_map(iter(work), partial(_reader, options), _lost, workers=options.workers)
    with store.writer() as writer:
        for item, new in zip(work, results, strict=True):
            _replace(writer, item.reading, new, outcome)
    return outcome


def status(store: Store, log: ReplyLog) -> Status:
    """Return what models have contributed to a base."""
    found = Status()
    for stored in log.replies.values():
        if stored.model:
            count, prompt, reply = found.models.get(stored.model, (0, 0, 0))
            spent = stored.reply
            found.models[stored.model] = (count + 1, prompt + spent.prompt_tokens, reply + spent.reply_tokens)
    for row in log.unanswered.values():
        found.exported += not row.cause
        found.failed.update([row.cause] if row.cause else [])
    for head in store.view().documents():
        reading = store.reading(head.id)
        if reading is not None:
            found.facts += _model_facts(reading)
            found.refused.update(_refused(reading))
    return found


def replies_to(packs: Sequence[Pack], log: ReplyLog) -> Iterator[PackReply]:
    """Yield the stored replies of all models to some packs, or to the halves of packs that were too long."""
    models = sorted({stored.model for stored in log.replies.values() if stored.model})
    for pack in packs:
        for model in models:
            yield from _replies_to(pack, model, log.replies)


def _mark(replies: Sequence[PackReply]) -> str:
    """Return a digest of the replies that a reading is made with, "" for none."""
    parts = [
        part
        for reply in replies
        for part in (request_key(reply.model, reply.pack.request), reply.text, f"{reply.precision:.2f}")
    ]
    return digest((VERSION, *parts)) if parts else ""


def _stored_mark(reading: Reading) -> str:
    return next((problem.message for problem in reading.problems if problem.kind == _MARK), "")


def _model_facts(reading: Reading) -> int:
    return sum(any(item.extractor.startswith(MODEL_READER) for item in fact.evidence) for fact in reading.facts)


def _refused(reading: Reading) -> list[str]:
    """Return the reasons of the refused items."""
    kinds = [problem.kind for problem in reading.problems if problem.kind != _MARK]
    return [kind.removeprefix(_REFUSED) for kind in kinds if kind.startswith(_REFUSED)]


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
    mark: str


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
        reading = extractor.extract(work.reading.document, recorded_at=recorded_at, replies=work.replies)
        marks = (Problem(_MARK, work.mark),) if work.mark else ()
        return replace(reading, problems=(*reading.problems, *marks))

    return read


def _lost(_work: _Work, _cause: str) -> Reading | None:
    return None


def _replace(writer: Writer, old: Reading, new: Reading | None, outcome: Applied) -> None:
    if new is None:
        return
    outcome.facts += _model_facts(new)
    outcome.refused.update(_refused(new))
    if _content(old) == _content(new):
        outcome.unchanged += 1
        return
    with writer.together():
        writer.remove(old.document.id)
        writer.write(replace(new, copies=old.copies))
    outcome.documents += 1


def _content(reading: Reading) -> tuple[object, ...]:
    """Return the content of a reading, in an order that stores keep."""
    facts = sorted(
        (
            fact.id,
            tuple((item.start, item.end, item.confidence, item.extractor, item.recorded_at) for item in fact.evidence),
        )
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
