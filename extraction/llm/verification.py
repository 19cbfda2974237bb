"""Have a model judge stored facts against their quotes; verdicts are judgements that can be revoked."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.llm.prompt import render
from kg.errors import JudgementRefused
from kg.judgement import OF_FACTS, Judgement, Verdict
from kg.llm.dispatch import PendingRequest
from kg.llm.port import Request, request_key
from kg.query.session import QuerySession
from kg.query.wording import claim_text
from kg.relations import vocabulary
from kg.store.rules.identities import in_force

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date, datetime

    from kg.llm.replay import ReplyLog
    from kg.model import Evidence, Fact
    from kg.store.port import Store, View, Writer

VERSION = "verify-1"
_PER_REQUEST = 12  # facts
_REPLY_PER_FACT = 40  # tokens
_CONTEXT = 120  # characters on either side of a quote
_LINE = re.compile(
    r"^\W*(\d{1,3})\s*[|｜.:：、\t ]\s*\W*(right|loose|wrong|正确|对|相近|错误|错)\W*(.*)$", re.IGNORECASE
)
_WORDS = {"正确": "right", "对": "right", "相近": "loose", "错误": "wrong", "错": "wrong"}
_LOOSE = 0.5  # how much of a right fact a loose one is
_PRIOR = (8.0, 2.0)  # right and wrong facts that a reader starts with: 0.8
_BINS = (0.0, 0.35, 0.5, 0.65, 0.8, 0.9, 1.01)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which facts to judge: how many, of which reader, relation and least confidence, drawn with which seed."""

    count: int = 60
    reader: str = ""
    relation: str = ""
    min_confidence: float = 0.0
    seed: int = 7


class VerdictBatch(Struct, frozen=True):
    """Facts that one request asks about, with the evidence of each."""

    facts: tuple[tuple[Fact, Evidence], ...]
    request: Request


@dataclass(slots=True)
class ReaderRecord:
    """Verdicts on the facts of one reader, by bin of confidence: right, loose, wrong."""

    bins: defaultdict[int, Counter[Verdict]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def counts(self) -> Counter[Verdict]:
        """The verdicts of all bins."""
        return sum(self.bins.values(), Counter())

    @property
    def precision(self) -> float:
        """Share of right facts, a loose one counting half, with a weak prior at 0.8."""
        counts = self.counts
        right = counts[Verdict.RIGHT] + _LOOSE * counts[Verdict.LOOSE]
        return (_PRIOR[0] + right) / (sum(_PRIOR) + counts.total())


def batches(view: View, chosen: Selection, *, author: str) -> list[VerdictBatch]:
    """Draw facts that this author has not judged yet and return the requests about them."""
    judged = {item.subject for item in in_force(view.judgements()) if item.verdict in OF_FACTS and item.by == author}
    session = QuerySession(view)
    rows = sorted(
        ((fact, item) for fact in view.facts(relation=chosen.relation or None) for item in fact.evidence[:1]
         if fact.id not in judged and _is_chosen(fact, item, chosen)),
        key=lambda row: row[0].id,
    )  # fmt: skip
    drawn = random.Random(chosen.seed).sample(rows, min(chosen.count, len(rows)))  # noqa: S311 -- a repeatable sample
    return [
        VerdictBatch(tuple(part), _request(session, part))
        for at in range(0, len(drawn), _PER_REQUEST)
        for part in [drawn[at : at + _PER_REQUEST]]
    ]


def pending(batch: VerdictBatch, model: str) -> PendingRequest:
    """Return the request of a batch as it is sent."""
    request = batch.request
    reply = len(batch.facts) * _REPLY_PER_FACT / 2  # most reasons are shorter
    return PendingRequest(request_key(model, request), request, request.tokens, reply, tuple)


def record(
    store: Store, log: ReplyLog, asked: Iterable[VerdictBatch], *, model: str, author: str, at: tuple[date, datetime]
) -> tuple[Counter[Verdict], int]:
    """Write the verdicts of the stored replies as judgements; return their counts and how many facts have none."""
    counts: Counter[Verdict] = Counter()
    missing = 0
    with store.writer() as writer, writer.together():
        for batch in asked:
            stored = log.replies.get(request_key(model, batch.request))
            verdicts = dict(read_verdicts(stored.reply.text)) if stored else {}
            for number, (fact, item) in enumerate(batch.facts, start=1):
                if number not in verdicts:
                    missing += 1
                    continue
                verdict, why = verdicts[number]
                judgement = Judgement(
                    "", verdict, fact.id, at[0], at[1], name=item.extractor, by=author, why=why or verdict.value,
                    score=item.confidence,
                )  # fmt: skip
                counts[verdict] += _judged(writer, judgement)
    return counts, missing


def read_verdicts(reply: str) -> Iterator[tuple[int, tuple[Verdict, str]]]:
    """Yield the number, verdict and reason of each readable line of a reply."""
    for line in reply.splitlines():
        match = _LINE.match(line.strip())
        if match:
            word = match[2].lower()
            yield int(match[1]), (Verdict(_WORDS.get(word, word)), match[3].strip()[:120])


def records(view: View) -> dict[str, ReaderRecord]:
    """Return the verdicts in force by reader: `edges@…`, `llm/MODEL@TEMPLATE`, `patterns/2`."""
    found: dict[str, ReaderRecord] = defaultdict(ReaderRecord)
    for item in in_force(view.judgements()):
        if item.verdict in OF_FACTS and item.score is not None:
            reader = item.name.rpartition(":")[0].partition("+")[0] or item.name
            at = next(place for place in range(len(_BINS) - 1) if item.score < _BINS[place + 1])
            found[reader].bins[at][item.verdict] += 1
    return dict(sorted(found.items()))


def bin_text(at: int) -> str:
    """Return a bin of confidence as text."""
    return f"{_BINS[at]:.2f}–{min(_BINS[at + 1], 1.0):.2f}"


def _judged(writer: Writer, judgement: Judgement) -> bool:
    try:
        return writer.judge(judgement) is not None
    except JudgementRefused:  # the fact went away meanwhile
        return False


def _is_chosen(fact: Fact, item: Evidence, chosen: Selection) -> bool:
    return bool(
        vocabulary()[fact.relation].ask
        and item.extractor.startswith(chosen.reader)
        and fact.confidence >= chosen.min_confidence
    )


def _request(session: QuerySession, rows: Sequence[tuple[Fact, Evidence]]) -> Request:
    parts = []
    for number, (fact, item) in enumerate(rows, start=1):
        document = session.view.document(item.document)
        text = document.text if document else item.quote
        before = " ".join(text[max(0, item.start - _CONTEXT) : item.start].split())
        title = f"《{document.title}》" if document else ""
        quote = " ".join(item.quote.split())
        parts.append(f"{number} 陈述：{claim_text(session, fact)}\n  上文：{title}{before}\n  原文：{quote}")
    return Request((("system", render(VERSION, "zh")), ("user", "\n".join(parts))), len(rows) * _REPLY_PER_FACT + 40)
