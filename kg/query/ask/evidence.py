"""Sentences of the documents that answer a question: retrieved by words, scored by what of the question they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from math import log1p
from typing import TYPE_CHECKING

import rjieba

from kg.model import ChunkKind
from kg.query.answers import Citation
from kg.query.ask.lexicon import lexicon
from kg.query.passages import WORTH
from kg.store.word_search import terms as index_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.model import Chunk
    from kg.query.ask.understand import Term, Understood
    from kg.query.session import QuerySession
    from kg.store.port import DocumentHead

_CHUNKS, _MENTIONING = 80, 20
_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")
_NUMBER = re.compile(r"\d")
_DAY = re.compile(r"\d{1,4}\s*[年月日/.-]|Q[1-4]|H[12]|季度|年底|年初|[上下]半年")
_BLANK = re.compile(r"\s+")
# What a word counts that stands in the heading or title, a name in the sentences before, a word in those around.
_ABOVE, _BEFORE, _NEAR = 0.75, 0.75, 0.5
_NAME_WEIGHT = 1.6  # of a name, against a word as rare
_STATES = 0.5  # weight of the words that answers of a kind use, of an average word's
_LABEL = 24
_LONGEST = 400  # characters of a sentence that are shown
_LIST_LINES = 8
_PAIR = 2
_COMPOUND = 4  # characters from which a word may be taken apart


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its score: `coverage` is the weighted share of the question's terms that it speaks of.

    `names` says whether all names are met, in the sentence or above it; `missing` are terms nowhere near.
    """

    chunk: Chunk
    document: DocumentHead
    start: int
    end: int
    text: str
    coverage: float
    names: bool
    own: float
    stated: bool
    dated: bool
    valued: bool
    score: float
    missing: tuple[str, ...]
    lost: float

    def citation(self, start: int, end: int, text: str) -> Citation:
        """Return a stretch of the passage as a citation."""
        head = self.document
        return Citation(
            fact="",
            document=head.id,
            title=head.title,
            publisher=head.publisher,
            speaker=head.publisher,
            published_on=head.published_on,
            page=self.chunk.page,
            start=start,
            end=end,
            quote=text,
        )


class Retriever:
    """Finds and scores the sentences for one question."""

    def __init__(self, session: QuerySession, asked: Understood) -> None:
        self._session, self._asked = session, asked
        self._spelled = [tuple(dict.fromkeys(map(_folded, term.spellings))) for term in asked.terms]
        self._parts = [
            [parts for word in spelled if len(word) >= _COMPOUND and len(parts := _parts(word)) > 1]
            for spelled in self._spelled
        ]
        self._states = tuple(map(_folded, asked.states))
        self._measures = [not term.name and term.word.lower() in lexicon().synonyms for term in asked.terms]

    @cached_property
    def weights(self) -> list[float]:
        """The weight of each term of the question: how rare it is in the base, names more."""
        passages, counts = self._session.view.frequency(
            {word for term in self._asked.terms for spelled in term.spellings for word in index_terms(spelled)}
        )
        return [(_NAME_WEIGHT if term.name else 1.0) * _rarity(term, passages, counts) for term in self._asked.terms]

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """The terms of the question that stand nowhere in the base."""
        words = {word for term in self._asked.terms for spelled in term.spellings for word in index_terms(spelled)}
        _, counts = self._session.view.frequency(words)
        return tuple(
            term.word
            for term in self._asked.terms
            if not any(all(counts.get(word, 0) for word in index_terms(spelled)) for spelled in term.spellings)
        )

    def find(self, limit: int) -> list[Sentence]:
        """Return the best sentences, each text once, best first."""
        asked = self._asked
        if not asked.terms:
            return []
        query = " ".join(spelled for term in asked.terms for spelled in term.spellings[:6])
        chunks = {chunk.id: chunk for chunk, _ in self._session.view.search(query, _CHUNKS)}
        for term in asked.terms:
            if term.name and term.entity:
                for chunk in self._session.view.chunks_mentioning(term.entity, _MENTIONING):
                    chunks.setdefault(chunk.id, chunk)
        heads = {head.id: head for head in self._session.view.documents({each.document for each in chunks.values()})}
        found: list[Sentence] = []
        for chunk in chunks.values():
            if head := heads.get(chunk.document):
                found += self._scored(chunk, head)
        found.sort(
            key=lambda each: (-each.score, -each.document.published_on.toordinal(), each.document.id, each.start)
        )
        seen: set[str] = set()
        kept = []
        for each in found:
            key = _folded(each.text)
            if key not in seen:
                seen.add(key)
                kept.append(each)
                if len(kept) == limit:
                    break
        return kept

    def _scored(self, chunk: Chunk, head: DocumentHead) -> Iterator[Sentence]:
        pieces = list(_sentences(chunk))
        above = _folded(" ".join((head.title, head.publisher, *chunk.heading, chunk.meta)))
        folded = [_folded(text) for _, _, text in pieces]
        weights = self.weights
        total = sum(weights) or 1.0
        years = _years(self._asked)
        for number, (start, end, text) in enumerate(pieces):
            own = folded[number]
            near = "".join(folded[max(0, number - 2) : number + 2])
            before = "".join(folded[max(0, number - 2) : number])
            met = [self._met(place, own, (before, near), above) for place in range(len(weights))]
            coverage = sum(weight * part for weight, part in zip(weights, met, strict=True)) / total
            stated = min(2, sum(word in own for word in self._states)) / 2 if self._states else 0.0
            dated = self._dated(own, near, head, years)
            valued = not self._asked.wants_value or (
                bool(_NUMBER.search(own))
                and all(part == 1.0 for part, measure in zip(met, self._measures, strict=True) if measure)
            )
            dayed = bool(_DAY.search(text)) if self._asked.wants_day else True
            own_part = sum(w for w, part in zip(weights, met, strict=True) if part == 1.0) / total
            score = coverage + 0.12 * stated + 0.15 * own_part
            score += 0.1 * dated - 0.25 * (not valued) - 0.15 * (not dayed)
            score *= 0.9 + 0.1 * WORTH[chunk.value_class]
            yield Sentence(
                chunk, head, start, end, text, coverage,
                names=all(part >= _NEAR for part, term in zip(met, self._asked.terms, strict=True) if term.name),
                own=own_part, stated=self._asked.wants_value or not self._states or stated > 0,
                dated=dated, valued=valued and dayed, score=score,
                missing=tuple(t.word for part, t in zip(met, self._asked.terms, strict=True) if not part),
                lost=sum(w for w, part in zip(weights, met, strict=True) if not part) / total,
            )  # fmt: skip

    def _met(self, place: int, own: str, around: tuple[str, str], above: str) -> float:
        spelled = self._spelled[place]
        before, near = around
        if any(word in own for word in spelled) or any(
            all(part in own for part in parts) for parts in self._parts[place]
        ):
            return 1.0
        if any(word in above for word in spelled):
            return _ABOVE
        if self._asked.terms[place].name and any(word in before for word in spelled):
            return _BEFORE
        return _NEAR if any(word in near for word in spelled) else 0.0

    def _dated(self, own: str, near: str, head: DocumentHead, years: Sequence[str]) -> bool:
        """Whether a sentence speaks of the period asked about, or was published in it."""
        period = self._asked.period
        if period is None:
            return True
        return any(year in own or year in near for year in years) or period.contains(head.published_on)


def passage(sentence: Sentence, *, wide: bool) -> tuple[int, int, str]:
    """Return a sentence with what belongs to it as (start, end, text) of the document.

    A lead-in takes its list along; `wide` takes the sentences around it, as an explanation needs them.
    """
    pieces = list(_sentences(sentence.chunk))
    first = last = next(number for number, (start, _, _) in enumerate(pieces) if start == sentence.start)
    if sentence.text.rstrip().endswith(("：", ":")):
        last = min(len(pieces) - 1, first + _LIST_LINES)
    elif wide:
        first = max(0, first - 1)
        while last + 1 < len(pieces) and pieces[last + 1][1] - pieces[first][0] <= _LONGEST:
            last += 1
    start, end = pieces[first][0], pieces[last][1]
    return start, end, sentence.chunk.text[start - sentence.chunk.start : end - sentence.chunk.start]


def label_of(sentence: Sentence) -> str:
    """Return what stands above a sentence and says what it is about: its label or heading."""
    above = ""
    for start, _, text in _sentences(sentence.chunk):
        if start >= sentence.start:
            break
        above = text if len(text) <= _LABEL and not text.endswith("。") else ""
    return (above or (sentence.chunk.heading[-1] if sentence.chunk.heading else "")).rstrip("：:").strip()


def _sentences(chunk: Chunk) -> Iterator[tuple[int, int, str]]:
    """Yield the sentences of a passage, or the lines of a table, as places and texts of the stored document."""
    pattern = re.compile(r"[^\n]+") if chunk.kind == ChunkKind.TABLE else _SENTENCE
    for match in pattern.finditer(chunk.text):
        text = match[0]
        blank = len(text) - len(text.lstrip())
        kept = text.strip()[:_LONGEST]
        if len(kept) > 1:
            start = chunk.start + match.start() + blank
            yield start, start + len(kept), kept


def _years(asked: Understood) -> tuple[str, ...]:
    """Return how the year, quarter or month asked about is written."""
    period = asked.period
    if period is None or period.start is None:
        return ()
    year = period.start.year
    last = year if period.end is None else max(year, period.end.year - (period.end.month == 1 and period.end.day == 1))
    out = []
    for each in range(year, min(last, year + 5) + 1):
        out += [str(each), f"{each % 100}年", f"{each % 100:02}h", f"{each % 100:02}q", f"{each % 100}e"]
    return tuple(out)


def _parts(word: str) -> list[str]:
    """Return the words of a compound, which may stand apart: 重卡 and 内需 of 重卡内需."""
    return [part for part in rjieba.cut(word) if part.strip()]


def _rarity(term: Term, passages: int, counts: dict[str, int]) -> float:
    """Return the idf of a term: that of its rarest word in the spelling the question uses."""
    found = [
        min((counts.get(word, 0) for word in index_terms(word)), default=0) for word in (term.word, *term.spellings)
    ]
    rarest = found[0] or max(found)
    if not rarest and len(term.word) == _PAIR and any(letter in lexicon().empty for letter in term.word):
        return 0.0  # no word: 经向 of 已经向
    return log1p((passages - rarest + 0.5) / (rarest + 0.5))


def _folded(text: str) -> str:
    return _BLANK.sub("", text).lower()
