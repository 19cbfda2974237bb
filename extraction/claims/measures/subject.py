"""Who an indicator is measured of: a known name, a phrase that names something new, or who was spoken of before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import daachorse
from msgspec.structs import replace

from extraction.claims.measures.measurement import DOUBTFUL, Measurement
from extraction.claims.measures.owner import read_owner
from extraction.claims.measures.words import (
    AFTER_LEVEL,
    AS_TRADE,
    ASIDE,
    CODE,
    COMPANY_HEADS,
    CONCENTRATION,
    INDEX_MOVES,
    INNER_SCOPE,
    LONGEST_SCOPE,
    MACRO_KINDS,
    MEASURE_HEADS,
    MEASURED_KINDS,
    NARROWS,
    NO_NAMES,
    NOISE,
    OF_FIRMS,
    ON_THE_MARKET,
    OPENING,
    SCOPE_WORDS,
    SHARES_OF_MARKET,
    SUBJECT_KINDS,
    SUPPOSED,
    TAILS,
    VERBAL,
    WHOLLY,
)
from extraction.context.places import places_in
from extraction.names.gazetteer import indicator_of
from extraction.sentence import CONTEXT, EntityMention
from extraction.text.sentences import behind_last
from kg.ids import entity_id
from kg.kinds import kind_of
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.claims.measures.measurement import PreviousMeasurement
    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import AnnotatedSentence


# How sure a way of finding the subject is, by what was right of it in samples read by hand (docs/quality.md).
_OPEN, TAKEN_OVER, _UNDERSTOOD_FIRM = 0.65, 0.6, 0.84  # a phrase, the last sentence's subject, a heading's firm
_TOPIC = 0.45  # what another clause of the sentence has named: two of three are right
SHARE = 0.4  # what another thing has of a whole told before: every third one is right
_COMPOUND_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.BUSINESS})
_PART = re.compile(
    r"[，、；](?:其中|而)?[，：]?(?P<name>[^，、；。：的]{1,12}?)(?=为|约|达|分别|同比|环比|增|降|下|[-+\d.]|$)"
)
_NEXT = ("、", "/", "）、")
_PLAIN_GAP = re.compile(
    r"(?:[，、：（）/]|的|在|于|年|期间|内|公司|行业|板块|实现|预计|其|整体|单季|单季度|全年|合计|累计|我们|和|及|与|报告期|共|方面|业务)*"
)


class SubjectFinder:
    """Finds subjects; needs the gazetteer to tell an economy's indicators and the heads of compound ones."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.macro = {term.entity for term in lexicon.terms.values() if term.macro}
        own = {name: name for name in MEASURE_HEADS} | {"市场": "市场规模"}
        self._heads = own | {name: head.name for name, head in lexicon.heads.items()}
        self._bare = [name for name in self._heads if len(name) > 1 and name not in VERBAL]
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(self._bare, daachorse.MATCH_KIND_LEFTMOST_LONGEST)

    def indicators(self, annotated: AnnotatedSentence) -> list[EntityMention]:
        """Return the indicators of a sentence, those whose owner nobody knows among them."""
        known = [ref for ref in annotated.refs if ref.kind == Kind.INDICATOR and ref.start >= 0]
        out = [_owned(ref, annotated.text[ref.start : max(ref.owner_end, ref.start)]) for ref in known]
        for start, end, index in self._automaton.find(annotated.text):
            if not any(ref.start < end and start < ref.end for ref in annotated.refs):
                name = self._heads[self._bare[index]]
                out.append(EntityMention(entity_id(Kind.INDICATOR, name), Kind.INDICATOR, name, start, end))
        out += _index_moves(annotated)
        ends = {ref.end for ref in out}
        # 销售总额 and 市场规模: the second word only widens the first
        return sorted(
            (ref for ref in out if not (ref.start in ends and ref.name in TAILS)), key=lambda ref: (ref.start, ref.end)
        )

    def find(
        self,
        annotated: AnnotatedSentence,
        indicator: EntityMention,
        *,
        said: PreviousMeasurement | None = None,
        before: Measurement | None = None,
    ) -> Measurement | None:
        """Return the indicator with its subject, or None where nobody can be meant.

        Args:
            annotated: the sentence.
            indicator: one of `indicators`.
            said: what this sentence measured last.
            before: what the sentence right before measured last.
        """
        said = said.named if said else None
        known = self._carried(annotated, indicator, said) or self._with_subject(annotated, indicator)
        if known is not None and (scope := scope_of(annotated, known)) is not None:
            return replace(known, scope="" if known.subject.name in scope else scope)
        if indicator.entity in self.macro:
            return None
        opened = self._open(annotated, indicator, said, before)
        # 「液冷服务器市场规模」 where only 服务器 is known, and the words before it name nothing
        return opened or (replace(known, confidence=DOUBTFUL) if known else None)

    def share(
        self, annotated: AnnotatedSentence, at: int, *, said: PreviousMeasurement | None, before: Measurement | None
    ) -> Measurement | None:
        """「其中LCDTV占比约25%」 behind a market's size: what the thing named before `at` has of that."""
        last = said.reading if said else before
        owner = read_owner(annotated, at)
        if last is None or not owner.told or owner.doubt or owner.ref is None or owner.ref.kind not in _COMPOUND_KINDS:
            return None
        return self._named(owner.ref, last.indicator, min(SHARE, last.confidence) if said else DOUBTFUL, owner.scope)

    def of_names(self, subject: EntityMention, indicator: EntityMention, scope: str = "") -> Measurement:
        """Return the indicator of one of several names told in a row."""
        return self._named(subject, indicator, _OPEN * subject.score, scope)

    def _open(
        self,
        annotated: AnnotatedSentence,
        indicator: EntityMention,
        said: PreviousMeasurement | None,
        before: Measurement | None,
    ) -> Measurement | None:
        owned = indicator.about and indicator.owner_end > indicator.start
        owner = read_owner(annotated, indicator.owner_end if owned else indicator.start)
        if not owner.told or (owned and owner.ref is None):
            return None
        if indicator.name.endswith(SHARES_OF_MARKET) and CONCENTRATION.search(annotated.text, 0, indicator.start):
            return None  # the share of the first five together
        if owner.inside and indicator.name.endswith(SHARES_OF_MARKET):
            return None  # somebody's share of the market that is named
        if owner.ref is not None:
            doubt = owner.doubt or _shadowed(annotated, indicator, owner.ref)
            sure = DOUBTFUL if doubt else _OPEN * owner.ref.score
            return self._named(owner.ref, indicator, sure, owner.scope)
        meant = self._meant(annotated, indicator, said, before)
        if meant is None or annotated.text[indicator.start : indicator.end] == "市场":
            return None
        subject, sure, scope = meant
        if subject.kind == Kind.COMPANY and owner.scope:
            return None  # 「全球出货量」 is not the firm's
        lost = owner.scope and scope and not is_place(annotated, scope)  # 「DPP类颜料价格…，国内自给率」
        return self._named(subject, indicator, DOUBTFUL if owner.doubt or lost else sure, owner.scope or scope)

    def _meant(
        self,
        annotated: AnnotatedSentence,
        indicator: EntityMention,
        said: PreviousMeasurement | None,
        before: Measurement | None,
    ) -> tuple[EntityMention, float, str] | None:
        """Return whom a clause without a name speaks of: the sentence's, the heading's, the last sentence's subject."""
        topics = _topics(annotated, indicator.start)
        if said is not None:
            others = any(ref.start >= said.quantity.end for ref in topics) or _of_another(said.reading, indicator)
            others = others or _unread_between(annotated, said, indicator)
            return said.reading.subject, DOUBTFUL if others else said.reading.confidence, _lasting(said.reading)
        understood = annotated.subject
        if understood and understood.kind == Kind.COMPANY and {ref.entity for ref in topics} <= {understood.entity}:
            return understood, 0.6 * understood.score, ""
        if topics:  # one of several: nobody can say which
            single = len({ref.entity for ref in topics}) == 1
            another = indicator.name in OF_FIRMS and _of_a_firm(annotated, topics[-1])
            return (topics[-1], DOUBTFUL if another else _TOPIC * topics[-1].score, "") if single else None
        if before is not None:
            subject = replace(before.subject, start=CONTEXT, end=CONTEXT)
            plain = OPENING.fullmatch(without(annotated, 0, indicator.start))  # else of something that nobody knows
            return subject, min(TAKEN_OVER if plain else DOUBTFUL, before.confidence), _lasting(before)
        return (understood, 0.6 * understood.score, "") if understood is not None else None

    def part(
        self, annotated: AnnotatedSentence, said: PreviousMeasurement, *, start: int, end: int
    ) -> Measurement | None:
        """「…4.23亿部，其中印度1.30亿部」: the same indicator of a place or a thing that text[start:end] names."""
        words = _PART.match(annotated.text, start, end)
        if words is None or not AFTER_LEVEL.fullmatch(without(annotated, words.end(), end)):
            return None
        owner = read_owner(annotated, words.end(), since=words.start("name"))
        if not owner.told or owner.doubt or (owner.ref is None and not owner.scope):
            return None
        if owner.ref is None:
            return replace(said.reading, scope=owner.scope[:LONGEST_SCOPE])
        if owner.ref.kind not in _COMPOUND_KINDS:
            return None
        return self._named(
            owner.ref, said.reading.indicator, _OPEN * owner.ref.score, owner.scope or said.reading.scope
        )

    def _named(self, subject: EntityMention, indicator: EntityMention, confidence: float, scope: str) -> Measurement:
        """Join subject and head: 手机 and 出货量 are 手机出货量; a company's or a country's stays 出货量."""
        head = indicator.name.removeprefix(indicator.owner) if indicator.about else indicator.name
        if subject.kind in _COMPOUND_KINDS and head in self._heads:
            named = indicator_of(subject, self._heads[head], start=indicator.start, end=indicator.end)
        elif indicator.about:
            named = EntityMention(entity_id(Kind.INDICATOR, head), Kind.INDICATOR, head, indicator.start, indicator.end)
        else:
            named = indicator
        return Measurement(named, subject, confidence, scope[: 2 * LONGEST_SCOPE])

    def _carried(
        self, annotated: AnnotatedSentence, indicator: EntityMention, said: PreviousMeasurement | None
    ) -> Measurement | None:
        """「宁德时代营收3620亿元，归母净利润507亿元」: the second indicator is the first one's subject's."""
        if said is None or indicator.about or indicator.entity in self.macro:
            return None
        end, reading = said.quantity.end, said.reading
        between = [ref for ref in annotated.between(end, indicator.start) if ref.kind in MEASURED_KINDS]
        if between or not OPENING.fullmatch(without(annotated, end, indicator.start)):
            return None
        if reading.indicator.about == reading.subject.entity:
            return None
        # 「甲公司挖掘机收入…，毛利率35%」 is the product's or the firm's
        sure = DOUBTFUL if reading.indicator.about and indicator.name in OF_FIRMS - WHOLLY else reading.confidence
        sure = DOUBTFUL if _of_another(reading, indicator) else sure
        return replace(reading, indicator=indicator, scope="", confidence=sure)

    def _with_subject(self, annotated: AnnotatedSentence, indicator: EntityMention) -> Measurement | None:
        begin = behind_last("；。！？", annotated.text, max(indicator.start, 0))
        if indicator.about:
            product = of_product(indicator)
            if _shadowed(annotated, indicator, product.subject):
                product = replace(product, confidence=DOUBTFUL)
            return self._of_company(annotated, indicator, begin) or product
        allowed = MACRO_KINDS if indicator.entity in self.macro else SUBJECT_KINDS
        subjects = [
            ref
            for ref in annotated.between(begin, indicator.start)
            if ref.kind in MEASURED_KINDS and ref.name not in NO_NAMES
        ]
        if subjects and subjects[-1].kind not in allowed:
            return None
        own = _own_figure(annotated, indicator, subjects)
        if subjects and not own:
            subject = subjects[-1]
            gap = without(annotated, subject.end, indicator.start)
            aside = (
                subject.kind != Kind.COMPANY and "，" in gap and clause_start(annotated, subject.start) != subject.start
            )
            owner = annotated.subject if aside or (subject.kind == Kind.PRODUCT and "，" in gap) else subject
            if not _PLAIN_GAP.fullmatch(gap) or owner is None or (owner is not subject and owner.kind != Kind.COMPANY):
                return None
            return Measurement(indicator, owner, 0.85 * owner.score)
        understood = annotated.region if indicator.entity in self.macro else annotated.subject
        opening = without(annotated, clause_start(annotated, indicator.start), indicator.start)
        if understood is None or not OPENING.fullmatch(opening):
            return None
        if not own and any(
            ref.kind == Kind.INDICATOR and ref.about for ref in annotated.between(begin, indicator.start)
        ):
            return None  # 「全球汽车销量…，预计增速3%」 is not the heading's growth
        traded = indicator.name.startswith(("出口", "进口"))  # of what, a heading's region does not say
        sure = _UNDERSTOOD_FIRM if understood.kind == Kind.COMPANY else 0.7
        return Measurement(indicator, understood, DOUBTFUL if traded else sure * understood.score)

    def _of_company(self, annotated: AnnotatedSentence, indicator: EntityMention, begin: int) -> Measurement | None:
        """A company's own 煤炭产量: it stands right before, or the bullet or section is the company's."""
        if kind_of(indicator.about) == Kind.COMPANY or not indicator.name.endswith(COMPANY_HEADS):
            return None
        before = [ref for ref in annotated.between(begin, indicator.start) if ref.kind == Kind.COMPANY]
        subject = annotated.subject
        if before and (subject is None or before[-1].entity != subject.entity):
            gap = without(annotated, before[-1].end, indicator.start)
            return Measurement(indicator, before[-1], 0.8 * before[-1].score) if OPENING.fullmatch(gap) else None
        return (
            Measurement(indicator, subject, 0.7 * subject.score) if subject and subject.kind == Kind.COMPANY else None
        )


def _index_moves(annotated: AnnotatedSentence) -> list[EntityMention]:
    """「医药生物板块上涨1.7%，跑赢沪深300」: where shares are spoken of, what a trade gains is its index's."""
    if not ON_THE_MARKET.search(annotated.text):
        return []
    trades = [ref for ref in annotated.refs if ref.kind == Kind.INDUSTRY and ref.start >= 0]
    moved = [(ref, INDEX_MOVES.match(annotated.text, ref.end)) for ref in trades]
    return [indicator_of(ref, "指数", start=ref.start, end=move.end("name")) for ref, move in moved if move]


def _owned(indicator: EntityMention, written: str) -> EntityMention:
    """Return 进口价格 as an indicator of whatever is imported: 进口 owns nothing."""
    if not NO_NAMES & {indicator.owner, written}:
        return indicator
    name = (written or indicator.owner) + indicator.name.removeprefix(indicator.owner)
    return replace(indicator, entity=entity_id(Kind.INDICATOR, name), name=name, about="", owner="", owner_end=-1)


def _unread_between(annotated: AnnotatedSentence, said: PreviousMeasurement, indicator: EntityMention) -> bool:
    """Whether a figure stands between that is somebody's who is not known: 「某某归母净利润18亿元（PE24倍）」."""
    end = max((each.start for each in annotated.quantities if each.start < indicator.start), default=0)
    between = [ref for ref in annotated.between(said.quantity.end, end) if ref.kind == Kind.INDICATOR]
    return any(not OPENING.fullmatch(without(annotated, said.quantity.end, ref.start)) for ref in between)


def _of_a_firm(annotated: AnnotatedSentence, topic: EntityMention) -> bool:
    """Whether profits told behind a product or a trade may be those of a firm that nobody knows, not the trade's."""
    if topic.kind == Kind.COMPANY:
        return False
    return topic.kind != Kind.INDUSTRY or not AS_TRADE.match(annotated.text, topic.end)


def _own_figure(annotated: AnnotatedSentence, indicator: EntityMention, subjects: Sequence[EntityMention]) -> bool:
    """Whether a figure can only be the labelled firm's: 「甲公司：绿电装机38GW，股息率6%」."""
    firm = annotated.subject
    if firm is None or firm.kind != Kind.COMPANY or indicator.name not in WHOLLY:
        return False
    return {ref.entity for ref in subjects} == {firm.entity}


def _of_another(said: Measurement, indicator: EntityMention) -> bool:
    """「海运费下降15%，毛利率提升」: what a firm earns is not the thing's whose price was told."""
    thing = said.subject.kind == Kind.PRODUCT
    return thing and indicator.name in OF_FIRMS and not said.indicator.name.endswith(tuple(OF_FIRMS))


def _shadowed(annotated: AnnotatedSentence, indicator: EntityMention, owner: EntityMention) -> bool:
    """Whether a firm named before a product's figure may own it: 「甲公司（储能系统毛利率36.7%）」."""
    if owner.kind == Kind.COMPANY or not indicator.name.endswith(COMPANY_HEADS):
        return False
    return any(ref.kind == Kind.COMPANY and 0 <= ref.start < indicator.start for ref in annotated.refs)


def _lasting(reading: Measurement) -> str:
    """Return what narrows the next indicator as well: a place does, the whole of a share does not."""
    return "" if reading.subject.kind == Kind.COMPANY or reading.scope.startswith("占") else reading.scope


def is_place(annotated: AnnotatedSentence, scope: str) -> bool:
    """Whether what narrows a figure is where it is measured."""
    return bool(places_in(scope, ())) or any(ref.kind in MACRO_KINDS and ref.name in scope for ref in annotated.refs)


def _topics(annotated: AnnotatedSentence, before: int) -> list[EntityMention]:
    """Return what a sentence has named so far, the owners of its compound indicators among it."""
    named = [ref for ref in annotated.refs if ref.start >= 0 and ref.end <= before]
    owners = [of_product(ref).subject if ref.about and ref.kind == Kind.INDICATOR else ref for ref in named]
    return [ref for ref in owners if ref.kind in SUBJECT_KINDS and ref.name not in NO_NAMES]


def of_product(indicator: EntityMention) -> Measurement:
    """Return a compound indicator as measured of its owner: 碳酸锂价格 of 碳酸锂."""
    about = EntityMention(
        indicator.about,
        kind_of(indicator.about),
        indicator.owner,
        indicator.start,
        indicator.end,
        score=indicator.score,
    )
    return Measurement(indicator, about, 0.85 * indicator.score)


def scope_of(annotated: AnnotatedSentence, reading: Measurement) -> str | None:
    """Return what narrows the indicator, as the source words it right before the name: a region, a venue, a grade.

    None when the words before it are more than that: then the name is only the end of some other thing's (保险 in
    阳光保险).
    """
    indicator, subject = reading.indicator, reading.subject
    first, last = clause_start(annotated, indicator.start), indicator.start
    within = INNER_SCOPE.search(annotated.text, max(indicator.owner_end, indicator.start), indicator.end)
    written = first <= subject.start < indicator.start
    if written and subject.kind == Kind.COMPANY:
        first = subject.end
    elif written and subject.kind not in MACRO_KINDS:
        last = subject.start  # 中国大陆智能手机5月出货量
    # behind 「收入10亿元、」 and 「42家」 the words begin anew
    opened = annotated.text.rfind("（", 0, max(last - 1, 0))
    first = max(first, opened + 1 if "）" not in annotated.text[opened:last] else 0)  # 「降幅收窄（3月房价」
    told = [each for each in annotated.quantities if each.end < last]
    told = [each for each in told if annotated.text.startswith(_NEXT, each.end) or each.text.endswith("家")]
    first = max([first, *(each.end for each in told)])
    words = NOISE.sub("", ASIDE.sub("", without(annotated, first, last))).strip("，、/：（）()的 ")
    if not words or not any(map(str.isalpha, words)):
        return within[0] if within else ""
    known = any(words.startswith(ref.name) or words.endswith(ref.name) for ref in annotated.refs if ref.kind in NARROWS)
    if not (known or SCOPE_WORDS.fullmatch(words)) or words.endswith(("及", "和", "与", "、", "以及", "-")):
        return None
    words += within[0] if within else ""
    return words if len(words) <= LONGEST_SCOPE and not SUPPOSED.search(words) else None


def clause_start(annotated: AnnotatedSentence, before: int) -> int:
    """Return where the clause begins that an offset stands in."""
    return behind_last("，。；：！？", annotated.text, before)


def without(annotated: AnnotatedSentence, start: int, end: int) -> str:
    """Return text[start:end] with the periods and the securities codes in brackets taken out."""
    kept, position = [], start
    for dated in annotated.periods:
        if start <= dated.start and dated.end <= end:
            kept.append(annotated.text[position : dated.start])
            position = dated.end
    kept.append(annotated.text[position:end])
    return CODE.sub("", "".join(kept))


_SHORTEST, _LONGEST = 2, 20
_WALL = re.compile("[，。；：！？（）]")
_MARK, _ASIDE, _JOIN = re.compile("[，。；：！？]"), re.compile("（[^（）]*）"), re.compile("[、/]|以及|[和与及]")
_NUMBERED = re.compile(r"\d+(?P<rest>\D.*)")
_DIGIT = re.compile(r"\d")
_AROUND = re.compile(
    "^(?:其中|此外|同时|另外|而|但|且|并|则|预计|预测|我们|目前|当前|截至|截止|其|该|的|在|到|至|约|将|中"
    "|[年月日末底初、/ -])++"
    "|(?:的|整体|合计|累计|实现|平均|综合|销售|将|在|中|[年月日末底初、/ -])++$"
)


def described(
    annotated: AnnotatedSentence,
    indicator: EntityMention,
    *,
    said: PreviousMeasurement | None,
    before: PreviousMeasurement | None,
    macro: bool = False,
) -> Measurement | None:
    """Return an indicator under what describes its owner: the words before it, else who was spoken of last.

    Args:
        annotated: the sentence.
        indicator: one of `SubjectFinder.indicators` for which no subject was found.
        said: what this sentence measured last.
        before: what the sentence right before measured last.
        macro: whether it is an economy's, so that no firm or thing spoken of can have it.
    """
    subject = _named(annotated, indicator) or _worded(annotated, indicator)
    if subject is None and not macro:
        subject = _spoken_of(annotated, said=said, before=before)
    return Measurement(indicator, subject, DOUBTFUL, described=True) if subject else None


def described_row(annotated: AnnotatedSentence, indicator: EntityMention, count: int) -> list[Measurement]:
    """Return an indicator under each of `count` words joined before it; empty where they are not as many.

    「32/55/65寸面板价格」 is of 32寸面板, 55寸面板 and 65寸面板.
    """
    start = indicator.owner_end if indicator.about and indicator.owner_end > indicator.start else indicator.start
    begin = max((found.end() for found in _MARK.finditer(annotated.text, 0, start)), default=0)
    words = _ASIDE.sub("", _AROUND.sub("", without(annotated, begin, start).strip()))
    names = [name.strip() for name in _JOIN.split(words)]
    if len(names) != count or not all(names):
        return []
    tail = _NUMBERED.fullmatch(names[-1])
    names = [name + tail["rest"] if tail and name.isdecimal() else name for name in names]
    if not all(_SHORTEST <= len(name) <= _LONGEST for name in names):
        return []
    refs = [EntityMention(entity_id(Kind.BUSINESS, name), Kind.BUSINESS, name, begin, start) for name in names]
    return [Measurement(indicator, ref, DOUBTFUL, described=True) for ref in refs]


def _named(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention | None:
    """Return the name that makes the indicator a compound one."""
    if not indicator.about:
        return None
    return next((ref for ref in annotated.refs if ref.entity == indicator.about), None)


def _worded(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention | None:
    """Return the words between the last mark or figure and the indicator as a name of their own."""
    marks = [found.end() for found in _WALL.finditer(annotated.text, 0, indicator.start)]
    figures = [each.end for each in annotated.quantities if each.end <= indicator.start and _DIGIT.search(each.text)]
    begin = max((*marks, *figures), default=0)
    words = _AROUND.sub("", without(annotated, begin, indicator.start).strip())[-_LONGEST:]
    if len(words) < _SHORTEST:
        return None
    return EntityMention(entity_id(Kind.BUSINESS, words), Kind.BUSINESS, words, begin, indicator.start)


def _spoken_of(
    annotated: AnnotatedSentence, *, said: PreviousMeasurement | None, before: PreviousMeasurement | None
) -> EntityMention | None:
    if said is not None:
        return said.reading.subject
    named = [ref for ref in annotated.refs if ref.kind in SUBJECT_KINDS and ref.start >= 0]
    if named or annotated.subject:
        return named[0] if named else annotated.subject
    if before is not None:
        return before.reading.subject
    words = annotated.heading[-1].strip()[:_LONGEST] if annotated.heading else ""
    if len(words) < _SHORTEST:
        return None
    return EntityMention(entity_id(Kind.BUSINESS, words), Kind.BUSINESS, words, CONTEXT, CONTEXT)
