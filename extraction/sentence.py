"""Define annotated sentences and documents, claims, and the masked text that patterns match."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from extraction.text.clauses import IDENTIFYING
from extraction.text.lexicon import phrases
from kg.kinds import kind_of
from kg.model import Kind, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from extraction.models.units import TextLine
    from extraction.quantities.reader import Quantity
    from extraction.text.sentences import Sentence
    from kg.dating.reader import Dated
    from kg.filing import Filing
    from kg.model import Document, Modality, Polarity, Value
    from kg.period import Period


PATTERNS = "patterns/2"
CONTEXT = -1  # offset of a mention that is inferred from the context


class EntityMention(Struct, frozen=True):
    """A name in a sentence and its entity; `start` is CONTEXT if the name is inferred, not written.

    `about` anchors a compound indicator: 碳酸锂价格 is about product:碳酸锂, whose name is `owner` and ends at
    `owner_end`. `score` is the linker's confidence, 0 … 1.
    """

    entity: str
    kind: Kind
    name: str
    start: int = CONTEXT
    end: int = CONTEXT
    about: str = ""
    score: float = 1.0
    owner: str = ""
    owner_end: int = CONTEXT


class Claim(Struct, frozen=True):
    """A relation read from a sentence, which the pipeline turns into a fact; offsets are in the normalised sentence.

    `reader` is the reader's name and version, `pattern` the rule that matched. If `polarity` or `modality` is None, the
    certainty of the sentence decides. With `listing`, the subject is placed by a list (「隔膜：A、B」) and words of
    expectation do not apply; with `own_clause`, only a period in the claim's own clause dates it. `named` holds the
    document spans of ends that are not among the sentence's names.
    """

    relation: str
    subject: EntityMention
    object: EntityMention
    start: int
    end: int
    pattern: str
    sign: int = 0
    value: Value | None = None
    valid: Period | None = None
    qualifiers: tuple[tuple[str, str], ...] = ()
    confidence: float = 0.8
    polarity: Polarity | None = None
    modality: Modality | None = None
    listing: bool = False
    own_clause: bool = False
    signed: bool = False  # the directions are read from words, not guessed by a model
    named: tuple[tuple[int, int, EntityMention], ...] = ()
    reader: str = PATTERNS


class AnnotatedSentence(Struct, frozen=True):
    """A sentence, its names in order and without overlap, and its surroundings.

    `subject` is the default subject of a sentence that names none: the lead-in's, heading's or report's subject.
    `place` is the default place of its figures: the label's, title's or heading's. `company_scope`: a heading is about
    one company; `starts_block`: the sentence opens its paragraph or item; `estimated`: it inherits a period that was
    marked as estimated (2025E); `fiscal`: the document states when the fiscal year of its company ends.
    """

    sentence: Sentence
    refs: tuple[EntityMention, ...]
    periods: tuple[Dated, ...]
    quantities: tuple[Quantity, ...]
    subject: EntityMention | None = None
    region: EntityMention | None = None
    place: str = ""
    company_scope: bool = False
    starts_block: bool = False
    period: Period | None = None
    heading: tuple[str, ...] = ()
    risk: bool = False
    outlook: bool = False
    estimated: bool = False
    fiscal: bool = False
    date_problems: tuple[Problem, ...] = ()

    @property
    def text(self) -> str:
        """The normalised text that all offsets refer to."""
        return self.sentence.text

    def between(self, start: int, end: int) -> tuple[EntityMention, ...]:
        """Return the names that lie within text[start:end]."""
        return tuple(ref for ref in self.refs if start <= ref.start and ref.end <= end)


class Masked(Struct, frozen=True):
    """A sentence in which every name, or enumeration of names, is replaced by one letter for its kind.

    「恩捷股份向宁德时代、比亚迪供应隔膜」 becomes 「C向C供应P」, each letter a private-use character, so that a pattern
    matches *a company*, not its spelling. `groups` maps a letter's index to its names, `starts` gives each character's
    offset in the sentence. Periods and negations are removed: 「2024年并未收购」 becomes 「收购」.
    """

    text: str
    groups: dict[int, tuple[EntityMention, ...]]
    starts: tuple[int, ...]
    quantities: dict[int, Quantity]
    denials: tuple[int, ...] = ()

    def denied(self, start: int, end: int) -> bool:
        """Whether a negation was removed from text[start:end] of the sentence."""
        return any(start <= at < end for at in self.denials)

    def origin(self, index: int) -> int:
        """Return the offset of a masked character in the normalised sentence."""
        return self.starts[index]


_FIRST_LETTER = 0xE000
LETTER = {kind: chr(_FIRST_LETTER + index) for index, kind in enumerate(Kind)}
QUANTITY_LETTER = chr(_FIRST_LETTER + len(LETTER))
ANY_LETTER = f"{chr(_FIRST_LETTER)}-{QUANTITY_LETTER}"
_JOINER = re.compile(r"(?:（[^（）]{0,80}）(?=、))?(?:、|/|, )?(?:以及|和|及|与|或|and )?| and ")
# Negations are removed so that patterns match the plain verb; `Masked.denials` records them.
_PHRASES = phrases("pipeline/sentence")
_DENIAL = _PHRASES["denial"]
_DENIED = re.compile(f"(?={_DENIAL.pattern})")
_TAIL = re.compile(
    rf"(?:{IDENTIFYING.pattern}|（[A-Za-z0-9.:\-/ ]{{2,16}}）)?(?:等(?:公司|企业|厂商|龙头|产品|材料|环节|领域|客户)*)?"
)


def mask(annotated: AnnotatedSentence, *, pairs: bool = False, kinds: frozenset[Kind] | None = None) -> Masked:
    """Mask a sentence.

    Args:
        annotated: the sentence.
        pairs: two names joined by 和 or 与 stay separate (for 「A与B合作」).
        kinds: the only kinds to mask; by default all that patterns know.
    """
    return _Builder(annotated, pairs=pairs, kinds=kinds or _MASKED_KINDS).build()


class _Builder:
    """Builds the masked text and its offsets in one pass, left to right."""

    def __init__(self, annotated: AnnotatedSentence, *, pairs: bool, kinds: frozenset[Kind]) -> None:
        self.source, self.pairs = annotated.text, pairs
        seen = [anchor for ref in annotated.refs if ref.start >= 0 and (anchor := anchor_of(ref)) is not None]
        self.refs = [ref for ref in seen if ref.kind in kinds]
        self.skip = {dated.start: dated.end for dated in annotated.periods}
        self.quantity = {quantity.start: quantity for quantity in annotated.quantities}
        self.out: list[str] = []
        self.starts: list[int] = []
        self.groups: dict[int, tuple[EntityMention, ...]] = {}
        self.quantities: dict[int, Quantity] = {}
        self.denials: list[int] = []

    def build(self) -> Masked:
        position, upcoming = 0, 0
        marked = {ref.start for ref in self.refs} | self.skip.keys() | self.quantity.keys()
        marked |= {place.start() for place in _DENIED.finditer(self.source)}
        stops = sorted({*marked, len(self.source)})
        while position < len(self.source):
            while upcoming < len(self.refs) and self.refs[upcoming].start < position:
                upcoming += 1
            if upcoming < len(self.refs) and self.refs[upcoming].start == position:
                position, upcoming = self._group(upcoming)
            elif position in self.skip:
                position = max(self.skip[position], position + 1)
            elif position in self.quantity:
                position = self._quantity(position)
            elif denial := _DENIAL.match(self.source, position):
                self.denials.append(position)
                position = denial.end()
            else:
                stop = stops[bisect_right(stops, position)]
                self.out += self.source[position:stop]
                self.starts += range(position, stop)
                position = stop
        starts = (*self.starts, len(self.source))
        return Masked("".join(self.out), self.groups, starts, self.quantities, tuple(self.denials))

    def _emit(self, letter: str, origin: int) -> None:
        self.out.append(letter)
        self.starts.append(origin)

    def _quantity(self, position: int) -> int:
        quantity = self.quantity[position]
        self.quantities[len(self.out)] = quantity
        self._emit(QUANTITY_LETTER, position)
        return max(quantity.end, position + 1)

    def _group(self, index: int) -> tuple[int, int]:
        members: list[EntityMention] = [self.refs[index]]
        end = self._after(members[0].end)
        while (follower := self._joined(index + len(members), end, len(members))) is not None:
            members.append(follower)
            end = self._after(follower.end)
        self.groups[len(self.out)] = tuple(members)
        self._emit(LETTER[members[0].kind], members[0].start)
        return end, index + len(members)

    def _joined(self, index: int, end: int, size: int) -> EntityMention | None:
        if index >= len(self.refs):
            return None
        follower, first = self.refs[index], self.refs[index - size]
        gap = self.source[end : follower.start]
        if follower.kind != first.kind or not gap or not _JOINER.fullmatch(gap):
            return None
        if self.pairs and size == 1 and "、" not in gap:
            return None
        return follower

    def _after(self, end: int) -> int:
        match = _TAIL.match(self.source, end)
        return match.end() if match else end


_MASKED_KINDS = frozenset(Kind) - {Kind.INDICATOR, Kind.EVENT, Kind.POLICY}


def anchor_of(ref: EntityMention) -> EntityMention | None:
    """Return the name that patterns see: 碳酸锂 for 碳酸锂产能, None for trigger words such as 产能 and 收购."""
    if ref.kind in _MASKED_KINDS:
        return ref
    if ref.about and ref.owner_end > ref.start:
        return EntityMention(ref.about, kind_of(ref.about), ref.owner, ref.start, ref.owner_end, score=ref.score)
    return None


def nearest(refs: Sequence[EntityMention], before: int) -> EntityMention | None:
    """Return the last name that ends at or before an offset."""
    candidates = [ref for ref in refs if ref.end <= before]
    return max(candidates, key=lambda ref: ref.end) if candidates else None


class WholeFiling(NamedTuple):
    """A filing with all of its text."""

    record: Filing
    document: Document


class AnnotatedDocument(Struct, frozen=True):
    """A document split into lines with their names, and its sentences with their surroundings.

    `lines` are sentences, headings and table rows in order, `names` the names in each line; `sentences` are the lines
    that are neither headings nor rows, and `by_line` maps line numbers to them. `company` is the report's subject.
    `filing` is set for a filing that is read by its plain text: `document` then has its most informative prose only.
    """

    document: Document
    lines: Sequence[TextLine]
    names: Sequence[Sequence[EntityMention]]
    sentences: Sequence[AnnotatedSentence]
    by_line: Mapping[int, AnnotatedSentence]
    title: str = ""
    title_names: Sequence[EntityMention] = ()
    company: EntityMention | None = None
    filing: WholeFiling | None = None

    def text_of(self, line: int) -> str:
        """Return the text of a line; -1 is the document's title."""
        return self.lines[line].sentence.text if line >= 0 else self.title

    def sentence(self, line: int) -> AnnotatedSentence:
        """Return a line as a sentence; headings and table rows have no surroundings."""
        known = self.by_line.get(line)
        return (
            known
            if known is not None
            else AnnotatedSentence(self.lines[line].sentence, tuple(self.names[line]), (), ())
        )


ClaimRow = tuple[Claim, AnnotatedSentence]


class ClaimReader(Protocol):
    """Reads claims from an annotated document; keeps no state between documents."""

    def read(self, document: AnnotatedDocument) -> Iterable[ClaimRow | Problem]:
        """Yield the claims of a document, each with the sentence that states it, and problems with what is unclear."""
        ...


class Claims(NamedTuple):
    """What readers found in a document."""

    rows: list[ClaimRow]
    problems: list[Problem]

    @staticmethod
    def of(document: AnnotatedDocument, readers: Iterable[ClaimReader]) -> Claims:
        """Read a document with all readers, in their order."""
        found = [each for reader in readers for each in reader.read(document)]
        rows = [each for each in found if not isinstance(each, Problem)]
        return Claims(rows, [each for each in found if isinstance(each, Problem)])
