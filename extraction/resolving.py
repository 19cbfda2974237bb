"""`liantu resolve`: a stream of dated texts to names with the entities they stand for, and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from extraction.linking import Linker
from extraction.mentions import shipped_lexicon
from extraction.ner import load_ner
from extraction.own_names import lexicon_with
from extraction.readers.jsonl import text_of
from extraction.sentences import split
from kg.errors import DocumentError
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from kg.securities.shipped import parse_day
from kg.securities.similar import NearNames

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from extraction.annotated import Ref
    from extraction.mentions import Lexicon
    from extraction.sentences import Sentence
    from extraction.streaming import Record, Work
    from kg.securities.resolver import Candidate, Resolution

_MOST_PROPOSED = 5
_PLACES = 4  # digits of a score


@dataclass(frozen=True, slots=True)
class Resolving:
    """How texts are read: with the NER model or without, against which master, with each feature's share or not."""

    ner: bool = True
    master: Path | None = None
    names: Path | None = None
    explain: bool = False

    def build(self) -> Work:
        """Make the function that answers one record."""
        return partial(_answer, NameReader.default(master=self.master, ner=self.ner, names=self.names), self.explain)


class NameReader:
    """Finds the names of a text and says whom they stand for, as of a day."""

    def __init__(self, master: Master, *, ner: bool = True, lexicon: Lexicon | None = None) -> None:
        self._lexicon = lexicon or shipped_lexicon()
        self._linker = Linker(Resolver(master), self._lexicon, load_ner() if ner else None)
        self._near = NearNames(master)

    @classmethod
    def default(cls, *, master: Path | None = None, ner: bool = True, names: Path | None = None) -> NameReader:
        """Build it on the shipped securities master, or on the user's, with the user's own names."""
        return cls(Master.load(master), ner=ner, lexicon=lexicon_with(names))

    def read(
        self, text: str, day: date, *, codes: tuple[str, ...] = (), explain: bool = False, propose: bool = True
    ) -> list[dict[str, Any]]:
        """Return the mentions of a text in order of place, as `liantu resolve` writes them.

        Args:
            text: the document; offsets are code points of it.
            day: names are read as they were borne on it.
            codes: of the issuers the document is about, where known.
            explain: whether each candidate shows what its score is made of.
            propose: whether an unlisted company's candidates are sought among the near names.
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
            candidates += self._proposed(found.text, day, {each["entity"] for each in candidates}, explain=explain)
        return {
            "start": found.start,
            "end": found.end,
            "text": found.text,
            "status": found.status,
            "entity": found.entity_id,
            "code": found.code,
            "kind": "company",
            "score": round(found.score, _PLACES),
            "candidates": candidates,
        }

    def _proposed(self, text: str, day: date, known: set[str], *, explain: bool) -> list[dict[str, Any]]:
        """Issuers whose name is near an unlisted company's: for a person to judge, never linked."""
        return [
            {
                "entity": near.issuer.id,
                "code": near.issuer.code,
                "name": near.issuer.name_on(day),
                "score": near.score,
                **({"features": {near.reason: near.score}} if explain else {}),
            }
            for near in self._near.related(text, day, limit=_MOST_PROPOSED)
            if near.issuer.id not in known
        ]

    def _other(self, text: str, sentence: Sentence, ref: Ref) -> dict[str, Any] | None:
        """A name of another kind: in the gazetteer it is linked, a compound of one too, a guess is unknown."""
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
            "score": round(ref.score, _PLACES),
            "candidates": [],
        }


def _candidate(candidate: Candidate, *, explain: bool) -> dict[str, Any]:
    return {
        "entity": candidate.entity_id,
        "code": candidate.code,
        "name": candidate.name,
        "score": round(candidate.score, _PLACES),
        **({"features": candidate.features} if explain else {}),
    }


def _answer(reader: NameReader, explain: bool, record: Record, where: str) -> dict[str, Any]:
    if "id" not in record:
        raise DocumentError(where, 'no "id"', "give each line one, so that its answer can be told")
    codes = record.get("codes", ())
    if not isinstance(codes, (list, tuple)) or not all(isinstance(code, str) for code in codes):
        raise DocumentError(where, '"codes" is no list of codes', 'write "codes": ["600519.SH"] or leave it out')
    mentions = reader.read(text_of(record), _day(record, where), codes=tuple(codes), explain=explain)
    return {"id": record["id"], "mentions": mentions}


def _day(record: Record, where: str) -> date:
    stated = record.get("date")
    try:
        day = parse_day(stated) if isinstance(stated, str) else None
    except ValueError as fault:
        raise DocumentError(where, f"{stated!r} is no day ({fault})", 'write "date": "2025-06-30"') from fault
    if day is None:
        raise DocumentError(where, 'no "date"', 'names are read as of a day: write "date": "2025-06-30"')
    return day
