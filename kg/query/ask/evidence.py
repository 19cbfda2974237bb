"""Sentences of the documents that answer a question: retrieved and ranked by words, then read by the answer model."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from itertools import pairwise
from math import log1p
from typing import TYPE_CHECKING

import rjieba

from kg.model import ChunkKind, Kind
from kg.query.answers import Citation
from kg.query.ask.answer_model import AnswerModel, SentenceInContext
from kg.query.ask.dated import AskedPeriod
from kg.query.ask.lexicon import lexicon
from kg.query.passages import WORTH
from kg.query.sentences.cutting import LONGEST, in_order, is_label, sentences
from kg.store.word_search import terms as index_terms
from kg.text.table_rows import headed_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kg.model import Chunk, Mention
    from kg.query.ask.understand import QuestionTerm, Understood
    from kg.query.session import QuerySession
    from kg.store.port import DocumentHead

_CHUNKS, _OF_A_TERM, _MENTIONING, _DOCUMENTS = 80, 20, 20, 8
_LOOKED_AT = 80  # sentences whose dates are read
_WORDS, _USUAL = 0.3, 0.9  # what the score by words counts beside the probability, and from where
_ONE_WORD = 0.6  # the score that counts where one word is all that is asked
_WHOLE = 0.1  # what it counts that a sentence has a value with all that is asked
_READ_AT_ONCE, _PLAIN = 6, 0.5  # sentences read at once, until one is plainly an answer
_DATED = 0.1  # what it counts that a sentence is of the period asked about
_NEAR_ENOUGH, _FUSED = 60, 20  # sentences near in meaning; the constant of reciprocal rank fusion (Cormack et al. 2009)
_NEAREST, _READ = 24, 12  # the best sentences by words, and how many of them the model reads that may answer
ANSWERS = 0.3  # the decision from which a sentence answers
_NUMBER = re.compile(r"\d")
_DAY = re.compile(r"\d{1,4}\s*[年月日/.-]|Q[1-4]|H[12]|季度|年底|年初|[上下]半年")
_PERCENT = re.compile(r"几成|占(?:多少|了多少|几)|占比|比例|份额|[率速]|同比|环比|幅|百分|percent|share")
_PRICE = re.compile(r"多少钱|卖多少|几块钱|什么价|多贵")
_NO_VALUE = re.compile(
    r"(?:19|20)\d\d(?!\s*[万亿元吨台家个只辆倍])\s*[年./-]?(?:\s*\d{1,2}\s*[月./-])?(?:\s*\d{1,2}\s*日)?|[1-4]?Q[1-4]|[12]H\d*|H[12]|\d{1,2}\s*[月日号]|\d+\s*个月|\d{6}(?:\.[A-Z]{2})?"
)
_LABELLED = re.compile(r"[^，。：:（(]{2,16}[：:]")
_UNIT = re.compile(
    r"(?:多少|几)个?(万亿|[万亿]?[吨元辆台套件家人次平米个只条片头部艘]|[GMT]W[Hh]?|倍|[点个]?(?:百分点|bps?|BP)|天|年|月|[万亿])",
    re.IGNORECASE,
)
_MODEL_NAME = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")  # V9, R134a
_LISTED, _PARTED = re.compile(r"[、，,和与及/\s]{0,3}"), re.compile(r"[，,；;。：:（()）\d]")  # between two names
_BLANK = re.compile(r"\s+")
_SIDES = ("上游", "中游", "下游")
# What a word counts that stands in the heading or title, a name in the sentences before, a word in those around.
_ABOVE, _BEFORE, _NEAR = 0.75, 0.75, 0.5
_NAME_WEIGHT = 1.6  # of a name, against a word as rare
_LABEL = 24
_BEFORE_READ = 4  # three sentences before one may date it
_OPENING = 12  # characters of a sentence in which its subject stands
_LIST_LINES = 8
_PAIR = 2
_TELLING = 3.0  # the weight from which a name tells things apart: 欧洲, and not 全球
_RAREST = 6.5  # the idf beyond which a word is not weighed higher: it may be misspelt
_NAME_TAGS = frozenset({"nr", "nrt", "ns", "nt", "nz"})
_GLUE = "的了是到向经名么吗呢些着"
_STALE = timedelta(days=10)  # before the day asked about: an older price is not the price of that day
_COMPOUND = 4  # characters from which a word may be taken apart


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence with its score by words and the probability that it answers.

    `dated` says whether it refers to the period asked about, `fits` whether it is of the thing asked about, `valued`
    whether it has a value where one is asked for, `whole` whether it has one with all that is asked; `words` is what
    the words count beside the probability.
    """

    chunk: Chunk
    document: DocumentHead
    start: int
    end: int
    text: str
    score: float
    whole: bool = False
    valued: bool = True
    dated: bool = True
    fits: bool = True
    words: float = 0.0
    probability: float = 0.0

    @property
    def place(self) -> tuple[str, int]:
        """Its passage and where it begins."""
        return self.chunk.id, self.start

    @property
    def may_answer(self) -> bool:
        """Whether it is of the period and the thing asked about."""
        return self.dated and self.fits

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return self.chunk.kind == ChunkKind.TABLE

    @property
    def decision(self) -> float:
        """The probability, more where the sentence and its headings hold the words of the question, else less."""
        return self.probability + self.words

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
            url=head.url,
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
        self._periods = [AskedPeriod(each, asked.wants_value) for each in asked.periods]
        self._measures = [term.measure for term in asked.terms]
        self._companies = {each.id for each in asked.entities if each.kind == Kind.COMPANY}
        self._mentioned: dict[str, list[Mention]] = {}
        self._named = len(asked.terms) > 1 and any(term.entity and not term.measure for term in asked.terms)
        self._unit = _unit(asked.question)
        self._sides = {side for side in _SIDES if side in asked.question}
        self._numbered = [word for spelled in self._spelled for word in spelled if _NUMBER.search(word)]

    @cached_property
    def weights(self) -> list[float]:
        """The weight of each term of the question: how rare it is in the base, names more."""
        passages, counts = self._session.view.frequency(
            {word for term in self._asked.terms for spelled in term.spellings for word in index_terms(spelled)}
        )
        return [
            (_NAME_WEIGHT if term.name else term.weight) * _rarity(term, passages, counts) for term in self._asked.terms
        ]

    def find(self) -> list[ScoredSentence]:
        """Return the sentences by how likely they answer, each text once; those not read have no probability."""
        ranked = self._ranked()
        near = ranked[:_NEAREST]
        most, at_once = (_NEAREST, _NEAREST) if self._asked.wants_list else (_READ, _READ_AT_ONCE)
        hopeful = [each for each in near if each.may_answer][:most]
        doubtful = [each for each in near if not each.may_answer][:_READ_AT_ONCE]
        read: list[ScoredSentence] = []
        while hopeful and not any(each.may_answer and each.decision >= _PLAIN for each in read):
            read += self._read(hopeful[:at_once])
            hopeful = hopeful[at_once:]
        if not any(each.may_answer and each.decision >= ANSWERS for each in read):
            read += self._read(doubtful)  # related at most
        places = {each.place for each in read}
        rest = [each for each in ranked if each.place not in places]
        return sorted([*read, *rest], key=lambda each: -each.decision)

    def _read(self, sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
        """Return sentences with the probability that they answer, and whether they are of the thing asked about."""
        values = AnswerModel.shipped().probabilities(self._asked.core, list(map(reading_of, sentences)))
        return [
            replace(each, probability=value, fits=each.fits and not self._is_of_another(each))
            for each, value in zip(sentences, values, strict=True)
        ]

    def best_by_words(self) -> list[ScoredSentence]:
        """Return the sentences that hold most of the question, each text once, best first."""
        return self._ranked()[:_NEAREST]

    def _ranked(self) -> list[ScoredSentence]:
        nearest = self._session.nearest_sentences(self._asked.core, _NEAR_ENOUGH)
        chunks = self._candidates(nearest)
        heads = {head.id: head for head in self._session.view.documents({each.document for each in chunks.values()})}
        found: list[ScoredSentence] = []
        for chunk in chunks.values():
            if head := heads.get(chunk.document):
                found += self._scored(chunk, head)
        once: dict[str, ScoredSentence] = {}
        for each in sorted(found, key=_rank):
            once.setdefault(_folded(each.text), each)
        near = {place: rank for rank, place in enumerate(nearest)}
        kept = [each for rank, each in enumerate(once.values()) if rank < _LOOKED_AT or each.place in near]
        by_words = sorted(map(self._dated, kept), key=_rank)
        ranks = {each.place: 1 / (_FUSED + at) for at, each in enumerate(by_words)}
        for place in near.keys() & ranks.keys():
            ranks[place] += 1 / (_FUSED + near[place])
        return sorted(by_words, key=lambda each: -ranks[each.place])

    def _dated(self, sentence: ScoredSentence) -> ScoredSentence:
        """Return a sentence with whether it is of the period asked about, which counts for its score."""
        day, published_on = self._asked.as_of, sentence.document.published_on
        stale = bool(day and self._asked.wants_value and published_on < day - _STALE)
        fits = not self._periods or self._is_of_the_period(sentence)
        dated = fits and not stale
        score = sentence.score + _DATED * dated
        scored = score if len(self._asked.terms) > 1 or self._periods else min(score, _ONE_WORD)
        words = _WORDS * (scored - _USUAL) + _WHOLE * (sentence.whole and dated) - _WHOLE * (not sentence.valued)
        return replace(sentence, dated=dated, score=score, words=words)

    def _is_of_the_period(self, sentence: ScoredSentence) -> bool:
        document, chunk = sentence.document, sentence.chunk
        before = [] if sentence.is_row else [text for start, _, text in sentences(chunk) if start < sentence.start]
        above = list(dict.fromkeys((label_of(sentence), *reversed(chunk.heading), document.title)))
        nearest = before[:-_BEFORE_READ:-1]
        return any(each.fits(sentence.text, nearest, document.published_on, above=above) for each in self._periods)

    def _candidates(self, nearest: Iterable[tuple[str, int]]) -> dict[str, Chunk]:
        asked = self._asked
        if not asked.terms:
            return {}
        known = map(self._session.view.chunk, dict.fromkeys(chunk for chunk, _ in nearest))
        alike = {chunk.id: chunk for chunk in known if chunk}
        query = " ".join(spelled for term in asked.terms for spelled in term.spellings[:6])
        search = self._session.view.search
        chunks = {chunk.id: chunk for chunk, _ in search(query, _CHUNKS)}
        for term in asked.terms:  # what one of many synonyms matches must not crowd out a rare word
            for chunk, _ in search(" ".join(term.spellings[:2]), _OF_A_TERM):
                chunks.setdefault(chunk.id, chunk)
        for term in asked.terms:
            if term.name and term.entity:
                for chunk in self._session.view.chunks_mentioning(term.entity, _MENTIONING):
                    chunks.setdefault(chunk.id, chunk)
        return alike | chunks | self._below_headings(chunks.values())

    def _below_headings(self, found: Iterable[Chunk]) -> dict[str, Chunk]:
        """Return the passages of the documents found that have a name of the question in a heading."""
        names = [
            spelled
            for term, spelled in zip(self._asked.terms, self._spelled, strict=True)
            if term.entity and not term.measure
        ]
        documents = dict.fromkeys(
            chunk.document
            for chunk in found
            for spelled in names
            if any(word in _folded(chunk.text) for word in spelled)
        )
        return {
            chunk.id: chunk
            for document in list(documents)[:_DOCUMENTS]
            for chunk in self._session.view.chunks(document)
            if any(word in _folded(" ".join(chunk.heading)) for spelled in names for word in spelled)
        }

    def _holds(self, place: int, text: str) -> bool:
        """Whether a text has a term in one of its spellings, whole or taken apart."""
        return any(word in text for word in self._spelled[place]) or any(
            all(part in text for part in parts) for parts in self._parts[place]
        )

    def _scored(self, chunk: Chunk, head: DocumentHead) -> Iterator[ScoredSentence]:
        pieces = list(sentences(chunk))
        above = _folded(" ".join((head.title, head.publisher, *chunk.heading, chunk.meta)))
        folded = [_folded(text) for _, _, text in pieces]
        weights = self.weights
        total = sum(weights) or 1.0
        label, under = "", 0  # what stands before a label is not said of what stands under it
        for number, (start, end, text) in enumerate(pieces):
            own = folded[number]
            reach = 0 if chunk.kind == ChunkKind.TABLE else 2  # the rows around a row are about something else
            first = max(under, number - reach)
            near = "".join(folded[first : number + max(reach, 1)])
            before = "".join(folded[first:number])
            met = [self._met(place, own, (before, near), above + label) for place in range(len(weights))]
            coverage = sum(weight * part for weight, part in zip(weights, met, strict=True)) / total
            stated = min(2, sum(word in own for word in self._states)) / 2 if self._states else 0.0
            valued = not self._asked.wants_value or (
                self._has_value(own)
                and all(part == 1.0 for part, measure in zip(met, self._measures, strict=True) if measure)
            )
            dayed = bool(_DAY.search(text)) if self._asked.wants_day else True
            own_part = sum(w for w, part in zip(weights, met, strict=True) if part == 1.0) / total
            score = coverage + 0.12 * stated + 0.15 * own_part
            score -= 0.25 * (not valued) + 0.15 * (not dayed)
            score *= 0.9 + 0.1 * WORTH[chunk.value_class]
            whole = self._asked.wants_value and valued and self._named and all(part == 1.0 for part in met)
            fits = self._fits(met, own)
            yield ScoredSentence(chunk, head, start, end, text, score, whole, valued=self._shows_value(own), fits=fits)
            if len(text) <= _LABEL and text.endswith(("：", ":")):
                label, under = own, number

    def _fits(self, met: Sequence[float], own: str) -> bool:
        """Whether a sentence has the names of the question near, and for a value one of its measures, in part."""
        sides = {side for side in _SIDES if side in own}
        if sides and self._sides and not sides & self._sides:  # 中游：… where the upstream is asked for
            return False
        terms = self._asked.terms
        needed = (
            (term.needed and weight >= _TELLING) or _MODEL_NAME.search(term.word)
            for term, weight in zip(terms, self.weights, strict=True)
        )
        if any(need and part == 0 for need, part in zip(needed, met, strict=True)):
            return False
        measures = [(part, term.word) for part, term in zip(met, terms, strict=True) if term.measure]
        if not measures or not self._asked.wants_value:
            return True
        return any(part or any(piece in own for piece in _parts(word)) for part, word in measures)

    def _shows_value(self, own: str) -> bool:
        return not self._asked.wants_value or self._has_value(own)

    def _has_value(self, own: str) -> bool:
        """Whether a sentence has a number, in the unit asked for, besides dates, codes and numbers of the question."""
        left = _NO_VALUE.sub("，", own)
        for word in self._numbered:
            left = left.replace(word, "，")
        return bool(self._unit.search(left))

    def _met(self, place: int, own: str, around: tuple[str, str], above: str) -> float:
        spelled = self._spelled[place]
        before, near = around
        if self._holds(place, own):
            return 1.0
        if any(word in above for word in spelled) or any(
            all(part in own or part in above for part in parts) for parts in self._parts[place]
        ):
            return _ABOVE
        if self._asked.terms[place].name:
            if _LABELLED.match(own):  # its own label says what it is about
                return 0.0
            if any(word in before for word in spelled):
                return _BEFORE
        return _NEAR if any(word in near for word in spelled) else 0.0

    def _is_of_another(self, sentence: ScoredSentence) -> bool:
        """Whether a sentence gives the measure or the value of a company that is not asked about.

        What stands behind a company's name is of that company, up to the next one in another clause.
        """
        if not (self._asked.wants_value and self._companies) or sentence.is_row:
            return False
        groups = list(_grouped(sentence, self._mentions(sentence)))
        own = [text for names, text in groups if self._companies & names]
        others = [text for names, text in groups if not self._companies & names]
        if not own:
            begins = groups and len(sentence.text) - sum(len(text) for _, text in groups) <= _OPENING
            return bool(begins)
        said = sentence.text[: len(sentence.text) - sum(len(text) for _, text in groups)] + " ".join(own)
        measures = [place for place, measure in enumerate(self._measures) if measure]
        lost = [place for place in measures if not self._holds(place, _folded(said))]
        return any(self._holds(place, _folded(" ".join(others))) for place in lost) or (
            not self._has_value(_folded(said)) and self._has_value(_folded(" ".join(others)))
        )

    def _mentions(self, sentence: ScoredSentence) -> list[Mention]:
        """Return the companies that a sentence names, in order."""
        document = sentence.document.id
        if document not in self._mentioned:
            found = (each for each in self._session.view.mentions(document) if each.kind == Kind.COMPANY)
            self._mentioned[document] = sorted(found, key=lambda each: (each.start, -each.end))
        named = (each for each in self._mentioned[document] if sentence.start <= each.start < sentence.end)
        return [each for each in named if each.entity in self._companies or each.text not in self._asked.question]


def _grouped(sentence: ScoredSentence, mentions: Sequence[Mention]) -> Iterator[tuple[set[str], str]]:
    """Yield the companies that one clause names together, and the text from the first of them to the next clause's."""
    groups: list[tuple[int, set[str]]] = []
    behind = sentence.start
    for each in mentions:
        between = sentence.text[behind - sentence.start : each.start - sentence.start]
        if groups and (_LISTED.fullmatch(between) or not _PARTED.search(between)):
            groups[-1][1].add(each.entity)
        else:
            groups.append((each.start - sentence.start, {each.entity}))
        behind = max(behind, each.end)
    for (start, names), (end, _) in pairwise([*groups, (len(sentence.text), set())]):
        yield names, sentence.text[start:end]


def passage(sentence: ScoredSentence, *, wide: bool) -> tuple[int, int, str]:
    """Return a sentence with what belongs to it as (start, end, text) of the document.

    A lead-in takes its list along; `wide` takes the sentences around it, as an explanation needs them.
    """
    pieces = list(sentences(sentence.chunk))
    if sentence.is_row:  # a row, or the table with its head
        chunk = sentence.chunk
        whole = wide and len(chunk.text) <= LONGEST
        start, end = (chunk.start, chunk.end) if whole else (sentence.start, sentence.end)
        return start, end, chunk.text[start - chunk.start : end - chunk.start]
    first = last = next(number for number, (start, _, _) in enumerate(pieces) if start == sentence.start)
    if sentence.text.rstrip().endswith(("：", ":")):
        last = min(len(pieces) - 1, first + _LIST_LINES)
    elif wide:
        first = max(0, first - 1)
        while last + 1 < len(pieces) and pieces[last + 1][1] - pieces[first][0] <= LONGEST:
            last += 1
    start, end = pieces[first][0], pieces[last][1]
    return start, end, sentence.chunk.text[start - sentence.chunk.start : end - sentence.chunk.start]


def _rank(sentence: ScoredSentence) -> tuple[float, int, str, int]:
    return -sentence.score, -sentence.document.published_on.toordinal(), sentence.document.id, sentence.start


def reading_of(sentence: ScoredSentence) -> SentenceInContext:
    """Return a sentence with its context, as the model reads it; a row of a table stands with its head."""
    above = (sentence.document.title, *sentence.chunk.heading)
    if sentence.is_row:
        return SentenceInContext(sentence.text, above, label_of(sentence))
    before = next((before for start, _, before in in_order(sentence.chunk) if start == sentence.start), "")
    return SentenceInContext(passage(sentence, wide=False)[2], above, label_of(sentence), before)


def label_of(sentence: ScoredSentence) -> str:
    """Return what stands above a sentence and says what it is about: its label or heading."""
    if sentence.is_row:
        above = headed_rows(sentence.chunk.text)[0]
    else:
        before = next((before for start, _, before in in_order(sentence.chunk) if start == sentence.start), "")
        above = before if is_label(before) else ""
    return (above or (sentence.chunk.heading[-1] if sentence.chunk.heading else "")).rstrip("：:").strip()


def _unit(question: str) -> re.Pattern[str]:
    """Return how a value in the unit that a question asks for is written; any number where it names none."""
    if found := _UNIT.search(question):
        unit = re.escape(found[1].lower())
        return re.compile(rf"\d\s*[万亿千百]*\s*{unit}", re.IGNORECASE)
    if _PERCENT.search(question):
        return re.compile(r"\d\s*(?:%|％|个?百分点|bps?|[:：]\s*\d)|[一二两三四五六七八九]成", re.IGNORECASE)
    return re.compile(r"\d\s*[万亿千百]*\s*(?:美|欧|港|日)?元|\d\s*[万亿]") if _PRICE.search(question) else _NUMBER


@lru_cache(maxsize=1 << 10)
def _parts(word: str) -> list[str]:
    """Return the words of a compound, which may stand apart: 重卡 and 内需 of 重卡内需."""
    return [part for part in rjieba.cut(word) if part.strip()]


def _is_glued(word: str) -> bool:
    """Whether a cut word is none: 经向 of 已经向, 最有 of 最有可能."""
    if any(letter in _GLUE for letter in word) or all(letter in lexicon().empty for letter in word):
        return True
    return not word.isascii() and len(rjieba.cut(word, hmm=False)) == _PAIR and rjieba.tag(word)[0][1] not in _NAME_TAGS


def _rarity(term: QuestionTerm, passages: int, counts: dict[str, int]) -> float:
    """Return the idf of a term: that of its rarest word in the spelling the question uses."""
    found = [
        min((counts.get(word, 0) for word in index_terms(word)), default=0) for word in (term.word, *term.spellings)
    ]
    rarest = found[0] or max(found)
    if not rarest and len(term.word) == _PAIR and _is_glued(term.word) and not term.name:
        return 0.0  # no word: 经向 of 已经向
    return min(_RAREST, log1p((passages - rarest + 0.5) / (rarest + 0.5)))


def _folded(text: str) -> str:
    return _BLANK.sub("", text).lower()
