"""Map JSON lines to JSON lines, in order and in parallel; a bad line yields an error with its line number."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extraction.documents.encoding import kept_places, normalise
from extraction.documents.jsonl import read_record, text_of, with_line_ends
from extraction.documents.metadata import SourceFile
from extraction.names.gazetteer import shipped_lexicon
from extraction.names.linker import Linker
from extraction.names.ner import load_ner
from extraction.names.user_names import lexicon_with
from extraction.pipeline import Extractor
from extraction.text.sentences import split
from extraction.workers import ordered_map
from kg.errors import DocumentError
from kg.kinds import kind_of
from kg.securities.lists.shipped import parse_day
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from kg.securities.similar import NearNames
from kg.settings import Settings, market_day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kg.model import Entity, Fact, Mention, Problem, Reading, Value
    from kg.period import Period

    Record = dict[str, Any]
    Work = Callable[[Record, str], Record]
    from datetime import date, datetime

    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import EntityMention
    from extraction.text.sentences import Sentence
    from kg.securities.resolver import Resolution, ScoredIssuer


def reading_on_wire(name: str, reading: Reading, *, explain: bool = False) -> dict[str, Any]:
    """Return a document's mentions, facts and problems; `explain` adds patterns and features of candidates."""
    entities = {entity.id: entity for entity in reading.entities}
    return {
        "id": name,
        "mentions": [mention_on_wire(mention, entities) for mention in reading.mentions],
        "facts": [_fact(fact, entities, explain=explain) for fact in reading.facts],
        "problems": [_problem(problem) for problem in reading.problems],
    }


def mention_on_wire(mention: Mention, entities: Mapping[str, Entity]) -> dict[str, Any]:
    """Return a mention with its status."""
    entity = entities.get(mention.entity)
    return {
        "start": mention.start,
        "end": mention.end,
        "text": mention.text,
        "status": mention.status.value,
        "entity": mention.entity or None,
        "code": entity.codes[0] if entity and entity.codes else None,
        "kind": mention.kind.value,
        "score": round(mention.score, 4),
    }


def _fact(fact: Fact, entities: Mapping[str, Entity], *, explain: bool) -> dict[str, Any]:
    evidence = fact.evidence[0]
    written = {
        "subject": _end(fact.subject, entities),
        "relation": fact.relation,
        "object": _end(fact.object, entities),
        "sign": fact.sign,
        "polarity": fact.polarity.value,
        "modality": fact.modality.value,
        "valid": _period(fact.valid),
        "value": _value(fact.value),
        "qualifiers": dict(fact.qualifiers),
        "speaker": evidence.speaker,
        "confidence": fact.confidence,
        "evidence": {"start": evidence.start, "end": evidence.end, "quote": evidence.quote},
    }
    if explain:
        written["explanation"] = {"id": fact.id, "pattern": evidence.extractor, "places": len(fact.evidence)}
    return written


def _end(identity: str, entities: Mapping[str, Entity]) -> dict[str, Any]:
    entity = entities.get(identity)
    name = entity.name if entity else identity.partition(":")[2]
    code = {"code": entity.codes[0]} if entity and entity.codes else {}
    about = {"about": entity.about} if entity and entity.about else {}
    return {"id": identity, "name": name, "kind": (entity.kind if entity else kind_of(identity)).value, **code, **about}


def _period(period: Period | None) -> dict[str, Any] | None:
    if period is None:
        return None
    start, end = (day.isoformat() if day else None for day in (period.start, period.end))
    return {"start": start, "end": end, "precision": period.precision.value}


def _value(value: Value | None) -> dict[str, Any] | None:
    if value is None:
        return None
    stated = {"scale": value.scale, "change": value.change, "basis": value.basis, "high": value.high}
    return {"number": value.number, "unit": value.unit, **{key: item for key, item in stated.items() if item}}


def _problem(problem: Problem) -> dict[str, Any]:
    return {"kind": problem.kind, "message": problem.message, "start": problem.start, "end": problem.end}


_BATCH = 8  # lines sent to a worker at once: a single news item is too little work


@dataclass(frozen=True, slots=True)
class LineResult:
    """The result of a line as JSON, or the error message if `refused`."""

    text: str
    refused: bool = False


def transform(
    lines: Iterable[bytes], build: Callable[[], Work], *, source: str, workers: int = 0
) -> Iterator[LineResult]:
    """Process each line, skipping blank ones.

    Args:
        lines: UTF-8, one JSON object each.
        build: returns the function (record, location) → result, which may raise DocumentError; called once per process.
        source: name of the input, for error messages.
        workers: number of processes; 0 uses one per processor.
    """
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    function = partial(_line_function, build, source)
    return ordered_map(numbered, function, partial(_lost_line, source), workers=workers, size=_BATCH)


def _lost_line(source: str, numbered: tuple[int, bytes], cause: str) -> LineResult:
    error = DocumentError(f"{source}:{numbered[0]}", cause, "split it into shorter texts")
    return LineResult(str(error), refused=True)


def _line_function(build: Callable[[], Work], source: str) -> Callable[[tuple[int, bytes]], LineResult]:
    return partial(_process_line, build(), source)


def _process_line(work: Work, source: str, numbered: tuple[int, bytes]) -> LineResult:
    number, line = numbered
    where = f"{source}:{number}"
    try:
        return LineResult(json.dumps(work(_record(where, line), where), ensure_ascii=False))
    except DocumentError as fault:
        return LineResult(str(fault), refused=True)


def _record(where: str, line: bytes) -> Record:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise DocumentError(where, f"not JSON in UTF-8 ({fault})"[:200], "fix or remove the line") from fault
    if not isinstance(record, dict):
        raise DocumentError(where, "not a JSON object", 'write {"id": …, "text": …, "date": …}')
    return record


@dataclass(frozen=True, slots=True)
class Extraction:
    """Options of `liantu extract`; `read_at` is the recording time and the upper bound of publication days."""

    read_at: datetime
    ner: bool = True
    master: Path | None = None
    names: Path | None = None
    edge_model: str = "shipped"
    explain: bool = False
    min_confidence: float = Settings().min_confidence  # facts below it are dropped

    def build(self) -> Work:
        """Return the function that extracts one record."""
        extractor = Extractor.default(
            master=self.master,
            ner=self.ner,
            edge_model=self.edge_model,
            names=self.names,
            min_confidence=self.min_confidence,
        )
        return partial(_extract, extractor, self)


def _extract(extractor: Extractor, options: Extraction, record: Record, where: str) -> dict[str, Any]:
    if "id" not in record:
        raise DocumentError(where, 'missing "id"', "add one to match results to inputs")
    document = read_record(record, SourceFile(Path(where), b"", market_day(options.read_at)))
    original = text_of(record)
    reading = extractor.extract(document, recorded_at=options.read_at)
    written = reading_on_wire(record["id"], reading, explain=options.explain)
    evidence = [fact["evidence"] for fact in written["facts"]]
    _to_input(original, [*written["mentions"], *written["problems"], *evidence])
    for each in evidence:  # the document has normalised characters; quotes use the input's own
        each["quote"] = original[each["start"] : each["end"]]
    return written


def _to_input(original: str, spans: Iterable[Record]) -> None:
    """Move spans of the normalised text to the input that it was made from."""
    places = kept_places(with_line_ends(original))
    for span in spans:
        start, end = span["start"], span["end"]
        if start >= 0:
            span["start"] = places[start]
            span["end"] = places[end - 1] + 1 if end > start else places[start]
            span.update({"text": original[span["start"] : span["end"]]} if "text" in span else {})


_MAX_PROPOSED = 5
_SCORE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Resolving:
    """Options of `liantu resolve`."""

    ner: bool = True
    master: Path | None = None
    names: Path | None = None
    explain: bool = False

    def build(self) -> Work:
        """Return the function that resolves one record."""
        return partial(
            _resolve_line, NameReader.default(master=self.master, ner=self.ner, names=self.names), self.explain
        )


class NameReader:
    """Finds the names in a text and links them to entities as of a day."""

    def __init__(self, master: Master, *, ner: bool = True, lexicon: Lexicon | None = None) -> None:
        self._lexicon = lexicon or shipped_lexicon()
        self._linker = Linker(Resolver(master), self._lexicon, load_ner() if ner else None)
        self._near = NearNames(master)

    @classmethod
    def default(cls, *, master: Path | None = None, ner: bool = True, names: Path | None = None) -> NameReader:
        """Build a reader on the shipped securities master or the user's, with the user's own names."""
        return cls(Master.load(master), ner=ner, lexicon=lexicon_with(names))

    def read(
        self, text: str, day: date, *, codes: tuple[str, ...] = (), explain: bool = False, propose: bool = True
    ) -> list[dict[str, Any]]:
        """Return the mentions of a text in order, as `liantu resolve` writes them.

        Args:
            text: the document; offsets are in code points.
            day: names are resolved as of this day.
            codes: codes of the issuers that the document is about, if known.
            explain: whether to include the features of each candidate's score.
            propose: whether to propose similarly named issuers for an unlisted company.
        """
        sentences = split(text, 0, len(text))
        resolutions, refs = self._linker.read(text, day, sentences, codes=codes)
        companies = [
            self._company(each, day if propose else None, explain=explain)
            for each in resolutions
            if each.status != "unknown" or each.entity_id or each.code
        ]
        taken = [(each["start"], each["end"]) for each in companies]
        others = [
            mention
            for sentence, found in zip(sentences, refs, strict=True)
            for ref in found
            if (mention := self._other(text, sentence, ref)) is not None
            and not any(mention["start"] < end and start < mention["end"] for start, end in taken)
        ]
        return sorted([*companies, *others], key=lambda each: (each["start"], each["end"]))

    def _company(self, found: Resolution, day: date | None, *, explain: bool) -> dict[str, Any]:
        candidates = [_candidate(each, explain=explain) for each in found.candidates]
        if day is not None and found.status == "unknown" and found.entity_id:
            candidates += self._similar_issuers(
                found.text, day, {each["entity"] for each in candidates}, explain=explain
            )
        return {
            "start": found.start,
            "end": found.end,
            "text": found.text,
            "status": found.status,
            "entity": found.entity_id,
            "code": found.code,
            "kind": "company",
            "score": round(found.score, _SCORE_DIGITS),
            "candidates": candidates,
        }

    def _similar_issuers(self, text: str, day: date, known: set[str], *, explain: bool) -> list[dict[str, Any]]:
        """Return issuers with a name similar to an unlisted company's: for manual review, never linked."""
        return [
            {
                "entity": near.issuer.id,
                "code": near.issuer.code,
                "name": near.issuer.name_on(day),
                "score": near.score,
                **({"features": {near.reason: near.score}} if explain else {}),
            }
            for near in self._near.related(text, day, limit=_MAX_PROPOSED)
            if near.issuer.id not in known
        ]

    def _other(self, text: str, sentence: Sentence, ref: EntityMention) -> dict[str, Any] | None:
        """Return the mention of another kind of name: linked if it or its owner is in the gazetteer, else unknown."""
        start, end = sentence.span(ref.start, ref.end)
        if ref.entity.startswith("sec:"):
            return None
        listed = ref.entity in self._lexicon.anchors or bool(ref.about)
        return {
            "start": start,
            "end": end,
            "text": text[start:end],
            "status": "linked" if listed else "unknown",
            "entity": ref.entity,
            "code": None,
            "kind": ref.kind.value,
            "score": round(ref.score, _SCORE_DIGITS),
            "candidates": [],
        }


def _candidate(candidate: ScoredIssuer, *, explain: bool) -> dict[str, Any]:
    return {
        "entity": candidate.entity_id,
        "code": candidate.code,
        "name": candidate.name,
        "score": round(candidate.score, _SCORE_DIGITS),
        **({"features": candidate.features} if explain else {}),
    }


def _resolve_line(reader: NameReader, explain: bool, record: Record, where: str) -> dict[str, Any]:
    if "id" not in record:
        raise DocumentError(where, 'missing "id"', "add one to match results to inputs")
    codes = record.get("codes", ())
    if not isinstance(codes, (list, tuple)) or not all(isinstance(code, str) for code in codes):
        raise DocumentError(where, '"codes" is not a list of codes', 'write "codes": ["600519.SH"] or leave it out')
    original = text_of(record)
    text = normalise(with_line_ends(original))
    mentions = reader.read(text, _day(record, where), codes=tuple(codes), explain=explain)
    _to_input(original, mentions)
    return {"id": record["id"], "mentions": mentions}


def _day(record: Record, where: str) -> date:
    stated = record.get("date")
    try:
        day = parse_day(stated) if isinstance(stated, str) else None
    except ValueError as fault:
        raise DocumentError(where, f"{stated!r} is not a date ({fault})", 'write "date": "2025-06-30"') from fault
    if day is None:
        raise DocumentError(where, 'missing "date"', 'names are resolved as of a day: write "date": "2025-06-30"')
    return day
