"""Turn a name that a model found into an entity: a linked name, a gazetteer entry or a new typed entity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from extraction.models.units import TITLE
from extraction.names.gazetteer import indicator_of
from extraction.sentence import CONTEXT, AnnotatedSentence, Claim, EntityMention
from kg.ids import entity_id, normal_name
from kg.model import Kind, Modality, Polarity
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import AnnotatedDocument
    from kg.securities.master import Master
    from kg.securities.records import Issuer

    KindsByName = Mapping[str, Mapping[Kind, float]]

_LONGEST, _SHORTEST = 30, 2  # characters of a name
_TRIMMED = " 、，。：；！？“”‘’\"'「」『』*·-—的/"
_OPENING = dict(zip("》）)】〉", "《（(【〈", strict=True))
_CLOSING = {opening: closing for closing, opening in _OPENING.items()}
_NO_NAME = re.compile(
    r"[，。；：！？▸|、]|^[\d.,%+\-~亿万元倍年月日季度\s]+$|^(?:其|该|此|这|那|它|本|我们|公司|上述|以上|以下|前者|后者)(?:们|公司|行业|产品|类|些|业务)?$"
    r"|^[（()）]+|[（(][^）)]*$|^[^（(]*[）)]"
    # 太阳能等电站 is cut out of a list; 对等关税, 高等教育, 低温等离子 are words
    r"|[一-鿿]{2}(?<![对高中初同平优均上下一二三四特])等(?!离子|静压|价物|[效级保额比位候待渗量])[一-鿿]"
)
_BRACKET = re.compile(r"[（(][^（()）]*[）)]$")
_INDUSTRY_SUFFIX = re.compile(r"(?:板块|行业|产业链|产业|赛道|概念股|概念|领域)+$")
_COMPANY_TAIL = re.compile(
    r"(?:等|公司|集团|股份|控股|科技|等公司|等企业|\s|-[A-Z]+|-?\s*[AH]股?|[（(][\w.:： ]+[）)])*"
)
_OWNER_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS, Kind.THEME, Kind.REGION, Kind.COMPANY})
_SHARED_NAMES = frozenset({"short", "english"})  # abbreviations of several organisations
_MAINLAND = (".SH", ".SZ", ".BJ")
_SIGN = {"up": 1, "down": -1, "none": 1}


Span = tuple[int, int]


class EdgeEnd(Struct, frozen=True):
    """One end of an edge: its entity, and the line and span that name it; `start` is CONTEXT where none does."""

    ref: EntityMention
    line: int
    start: int
    end: int


class Statement(Struct, frozen=True):
    """The statement of a model about two ends: relation, directions of a cause, certainty, and the reader."""

    relation: str
    cause: str = "none"
    effect: str = "none"
    modality: Modality | None = None
    negative: bool = False
    confidence: float = 0.8
    reader: str = ""


class NameLinker:
    """Links the names that a model found in a document.

    `kind_of` returns the kinds of a name, likeliest first, given those that its contexts propose with their weights.
    """

    def __init__(
        self, lexicon: Lexicon, master: Master, kind_of: Callable[[str, Mapping[Kind, float]], list[Kind]]
    ) -> None:
        self._lexicon, self._master, self._kind_of = lexicon, master, kind_of

    def link(
        self,
        document: AnnotatedDocument,
        line: int,
        span: Span,
        *,
        kinds: KindsByName,
        before: str = "",
    ) -> EntityMention | None:
        """Return the entity of a span of a line, or None if that is no name.

        Args:
            document: with its linked names.
            line: number of the line, or TITLE.
            span: start and end of the name, already trimmed.
            kinds: those that the model proposes for names in this document, with their weights.
            before: a first part of the name that is elsewhere.
        """
        start, end = span
        text = document.text_of(line)
        names = document.names[line] if line != TITLE else document.title_names
        if not before:
            known = self._known(text, names, start, end)
            if known is not None:
                return known
        inside = [ref for ref in names if ref.start >= start and ref.end <= end] if not before else []
        found = self._named(before + text[start:end], start, end, inside, kinds)
        if found is None:
            return None
        day = document.document.published_on
        if found.kind == Kind.COMPANY:
            return self._as_issuer(found, day, "" if before else text)
        owner = self._issuer(found.owner, day) if found.about.startswith("org:") else None
        return structs.replace(found, about=owner.id) if owner else found

    def link_name(self, name: str) -> EntityMention | None:
        """Return the entity of a name that is not written as such: the parts of 碳酸锂价格 may be apart."""
        term = self._term(name)
        if term is not None:
            return term
        return self._named(name, CONTEXT, CONTEXT, (), {})

    def measure_of(self, name: str) -> tuple[str, str] | None:
        """Return the owner and the measure of a compound indicator: 碳酸锂 and 价格."""
        return self._lexicon.measure_of(name)

    def allowed(
        self, relation: str, subject: EntityMention, object_: EntityMention
    ) -> tuple[EntityMention, EntityMention] | None:
        """Return the ends with kinds that the relation allows, or None if the kinds of linked names do not fit."""
        words = vocabulary()[relation]
        if words.allows(subject.kind, object_.kind):
            return subject, object_
        for left in self._kinds(subject):
            for right in self._kinds(object_):
                if words.allows(left, right):
                    return _as_kind(subject, left), _as_kind(object_, right)
        return None

    def _as_issuer(self, ref: EntityMention, day: date, text: str) -> EntityMention:
        """Return a company as the one issuer with its name: that a model reads a company in it settles 上海医药.

        The name may be cut off or have a character too many: 合盛硅 of 合盛硅业主营, 与中国铝业.
        """
        cuts = [(0, 0), (0, 1), (0, 2), (-1, 0), (-2, 0), (1, 0)] if text else []
        spans = [(ref.start + left, ref.end + right) for left, right in cuts]
        for name, start, end in [(ref.name, ref.start, ref.end), *((text[max(0, a) : b], a, b) for a, b in spans)]:
            if issuer := self._issuer(name, day):
                return EntityMention(issuer.id, Kind.COMPANY, name, start, end, score=ref.score)
        return ref

    def _issuer(self, name: str, day: date) -> Issuer | None:
        """Return the only issuer with a name, or the only one of mainland exchanges; None for shared abbreviations."""
        if self._master.word_kind(name) in _SHARED_NAMES:
            return None
        issuers = self._master.by_name(name, day)
        mainland = [issuer for issuer in issuers if issuer.code.endswith(_MAINLAND)]
        found = issuers if len(issuers) == 1 else mainland
        return found[0] if len(found) == 1 else None

    def _kinds(self, ref: EntityMention) -> list[Kind]:
        """Return the possible kinds of a name; listed companies and gazetteer names have one."""
        if ref.entity.startswith("sec:") or ref.about or ref.name in self._lexicon.terms:
            return [ref.kind]
        return [ref.kind, *(kind for kind in self._kind_of(ref.name, {}) if kind != ref.kind)]

    def _named(
        self, name: str, start: int, end: int, inside: Sequence[EntityMention], kinds: KindsByName
    ) -> EntityMention | None:
        if not _SHORTEST <= len(name) <= _LONGEST or _NO_NAME.search(name) or self._lexicon.is_bare(name):
            return None
        return self._new_entity(name, start, end, inside, kinds)

    def _known(self, text: str, names: Sequence[EntityMention], start: int, end: int) -> EntityMention | None:
        """Return the linked name of a span, ignoring a suffix such as 等 or 公司 or a code in brackets."""
        for ref in names:
            if ref.start == start and ref.end == end:
                return ref
            if ref.kind != Kind.COMPANY or ref.start != start:
                continue
            longer = ref.end <= end and _COMPANY_TAIL.fullmatch(text, ref.end, end)
            if longer or (end < ref.end and text[start:end] in ref.name):
                return ref
        return self._term(text[start:end], start, end)

    def _term(self, name: str, start: int = CONTEXT, end: int = CONTEXT) -> EntityMention | None:
        """Return the gazetteer entry of a name."""
        term = self._lexicon.terms.get(name) or self._lexicon.trade(without_trade(name))
        if term is None:
            return None
        return EntityMention(term.entity, term.kind, term.name, start, end, term.about, 0.9, term.owner)

    def _new_entity(
        self, name: str, start: int, end: int, inside: Sequence[EntityMention], kinds: KindsByName
    ) -> EntityMention:
        """Return a new entity for an unknown name; an indicator is anchored to its owner."""
        spelled = normal_spelling(name)
        name = without_trade(spelled)
        lead = next((ref for ref in inside if ref.start == start and ref.kind in _OWNER_KINDS), None)
        if (head := self._lexicon.measure_of(name)) is not None:
            if lead is None or normal_name(lead.name) != normal_name(head[0]):
                lead = self._owner(head[0], start, kinds)
            if lead is not None:
                return indicator_of(lead, head[1], start=start, end=end)
            name = "".join(head)
            return EntityMention(entity_id(Kind.INDICATOR, name), Kind.INDICATOR, name, start, end)
        chosen = self._kind_of(name, kinds.get(spelled, {}))[0]
        is_owned = lead is not None and lead.kind == Kind.COMPANY and chosen == Kind.INDICATOR
        about, owner = (lead.entity, lead.name) if lead and is_owned else ("", "")
        return EntityMention(entity_id(chosen, name), chosen, name, start, end, about=about, owner=owner, score=0.7)

    def _owner(self, name: str, start: int, kinds: KindsByName) -> EntityMention | None:
        """Return what an indicator measures, or None if that is no name."""
        if (term := self._lexicon.terms.get(name)) is not None:
            owner = EntityMention(term.entity, term.kind, term.name, start, start + len(name))
            return owner if term.kind in _OWNER_KINDS else None
        if len(name) < _SHORTEST or name in self._lexicon.never:
            return None
        likely = self._kind_of(name, kinds.get(name, {}))
        kind = next((each for each in likely if each in _OWNER_KINDS), Kind.PRODUCT)
        return EntityMention(entity_id(kind, name), kind, name, start, start + len(name))


def claim_of(
    stated: Statement, subject: EdgeEnd, object_: EdgeEnd, *, document: AnnotatedDocument, line: int
) -> tuple[Claim, AnnotatedSentence]:
    """Return an edge as a claim of a line; offsets cover the ends that the line names, else the whole line."""
    annotated = document.sentence(max(line, 0))
    ends = [each for each in (subject, object_) if each.line == line and each.start >= 0 and line != TITLE]
    causal = stated.relation == "affects"
    directions = (("cause_direction", stated.cause), ("effect_direction", stated.effect)) if causal else ()
    return Claim(
        relation=stated.relation,
        subject=_in_sentence(subject, line),
        object=_in_sentence(object_, line),
        start=min((each.start for each in ends), default=0),
        end=max((each.end for each in ends), default=0),
        pattern=stated.relation,
        sign=_SIGN[stated.cause] * _SIGN[stated.effect] if causal else 0,
        qualifiers=directions,
        confidence=stated.confidence,
        modality=stated.modality,
        polarity=Polarity.NEGATIVE if stated.negative else Polarity.POSITIVE,
        named=tuple(
            (*document.lines[each.line].sentence.span(each.start, each.end), each.ref)
            for each in (subject, object_)
            if each.line != TITLE and each.start >= 0
        ),
        reader=stated.reader,
    ), annotated


def _in_sentence(end: EdgeEnd, line: int) -> EntityMention:
    """Return the mention with its offsets in the sentence, or without offsets if it is in another line."""
    ref = end.ref
    start, stop = (end.start, end.end) if end.line == line and line != TITLE else (CONTEXT, CONTEXT)
    return EntityMention(ref.entity, ref.kind, ref.name, start, stop, ref.about, ref.score, ref.owner, CONTEXT)


def normal_spelling(name: str) -> str:
    """Return a name without quotes, a final bracket and spaces next to Chinese characters.

    >>> normal_spelling("“人形机器人” 概念（A股）")
    '人形机器人概念'
    """
    name = _BRACKET.sub("", re.sub(r"[“”‘’\"'「」『』*]", "", name)) or name
    return re.sub(r"(?<=[一-鿿])\s+|\s+(?=[一-鿿])", "", name).strip(_TRIMMED)


def without_trade(name: str) -> str:
    """Return a name without a suffix for an industry: 银行 for 银行板块, AI算力 for AI算力产业链.

    >>> without_trade("银行板块"), without_trade("行业")
    ('银行', '行业')
    """
    stem = _INDUSTRY_SUFFIX.sub("", name)
    return stem if len(stem) >= _SHORTEST else name


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without marks, spaces and halves of bracket pairs at its ends.

    >>> trimmed("《明克街13号、DDR4/", 0, 7), trimmed("》《异环》", 0, 5), trimmed("DDR4/", 0, 5)
    ((1, 7), (1, 5), (0, 4))
    """
    while start < end and (text[start] in _TRIMMED or _is_unpaired(text, start, start, end)):
        start += 1
    while end > start and (text[end - 1] in _TRIMMED or _is_unpaired(text, end - 1, start, end)):
        end -= 1
    return start, end


def _is_unpaired(text: str, at: int, start: int, end: int) -> bool:
    """Return whether text[at] is a bracket whose other half is not in text[start:end]."""
    opening, closing = _OPENING.get(text[at]), _CLOSING.get(text[at])
    return bool((opening and opening not in text[start:at]) or (closing and closing not in text[at:end]))


def _as_kind(ref: EntityMention, kind: Kind) -> EntityMention:
    if ref.kind == kind:
        return ref
    return EntityMention(entity_id(kind, ref.name), kind, ref.name, ref.start, ref.end, score=ref.score)
