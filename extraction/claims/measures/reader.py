"""Measured facts: whose indicator, which number, for which period.

A number belongs to the last indicator before it when only words of measuring stand between (为, 达到, 同比增长 …); a
change behind a level belongs to the same indicator (营收 9.45 亿元，同比增长 34%). What does not fit is left alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.claims.measures.continuation import SHARE_OF, ContinuationResolver
from extraction.claims.measures.filters import is_doubtful
from extraction.claims.measures.lists import RowReader, RowSubjects
from extraction.claims.measures.measurement import DOUBTFUL, Figure, Measurement, PreviousMeasurement, doubted, named_of
from extraction.claims.measures.period import (
    AT_A_CLOSE,
    base_of,
    bases,
    begins,
    dated_start,
    ended,
    period_of,
    years_of,
)
from extraction.claims.measures.subject import SubjectFinder, clause_start, described, without
from extraction.claims.measures.words import (
    CHANGES,
    FILLER,
    LONGEST_SCOPE,
    MEASURE_HEADS,
    RATES,
    STARTS_RANGE,
    STEP,
    UNIT_KINDS,
    VAGUE,
)
from extraction.context.places import ABROAD, HOME, narrowed, places_in
from extraction.quantities.reader import basis_of
from extraction.sentence import Claim, nearest
from extraction.text.sentences import behind_last
from kg.ids import entity_id
from kg.model import Kind, Modality, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from extraction.names.gazetteer import Lexicon
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention
    from kg.period import Period

_ADJUSTED = {"净利润": "扣非归母净利润", "归母净利润": "扣非归母净利润", "ROE": "扣非ROE"}
_AT = re.compile(
    "(?:为|达到?|约|在|是|从|由|的|[至到]|已|仅|：|维持|稳定|报|高达|有望|预计|平均)*+"
    "(?:(?:上涨|下跌|上升|下降|涨|跌|升|降|提升|回落|攀升)[至到]约?)?"
)
_PER = re.compile(" ?[/每]")
_GREAT, _SUMS = frozenset({"万", "百万", "千万", "亿", "十亿", "百亿", "千亿", "万亿"}), {"currency", "count"}
_NARROWED = re.compile("^（(?=[^（）]*[一-鿿])[^（）\\d]{1,24}）")  # what the bracket behind an indicator says of it
_LATIN = re.compile("^（[A-Za-z]{1,12}）")  # （TTM）
_CONVERTED = re.compile("（(?:折合|约合|合)?(?:人民币)?约?")
_SHARED = re.compile("占比|的?比重")
_LEFT_OUT = re.compile(r"剔除|扣除(?!非经常)|不含(?!税)|不包括|不考虑|若不计|以外的|之外的")
# What is added to a stock in a period is another figure than the stock.
_ADDED, _STOCKS = (
    re.compile(r"新增[^，。；：、]{0,6}$"),
    (
        *("装机", "产能", "门店", "用户", "贷款", "投产"),
        *("产量", "需求", "销量", "供给", "供应"),
    ),
)
_COUNTED = {("新能源", "辆"): "新能源汽车"}
_WIDER, _AT_HOME = frozenset({"全球", "海外", "美国", "世界"}), re.compile("申万|SW|沪深|A股")
_TRADE = re.compile("[进出]口")
_OF_A_PLACE = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.BUSINESS})  # a firm's figure is the firm's
_VOLUMES = ("销量", "出货量", "交付量", "份额", "市占率", "占有率", "装机量", "渗透率")


class MetricReader:
    """Reads measured facts, sentence by sentence in the document's order: a sentence may speak of the one before."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._units: Mapping[str, tuple[str, ...]] = {
            term.entity: term.units for term in lexicon.terms.values() if term.kind == Kind.INDICATOR
        }
        self._basis = {term.entity: term.basis for term in lexicon.terms.values() if term.basis}
        self._heads = {**MEASURE_HEADS, **{head.name: head.units for head in lexicon.heads.values()}}
        self._units_of_name = lru_cache(maxsize=4096)(self._units_by_head)  # an ending is sought among hundreds
        self.subjects = SubjectFinder(lexicon)
        self._follower = ContinuationResolver(self.subjects, self._fits)
        self._before: PreviousMeasurement | None = None  # what the sentence before measured last
        self._place = ""  # where the paragraph's figures were measured last
        self._seen: set[str] = set()  # the places that the paragraph has named
        self._measured: set[str] = set()  # what it has measured
        self._traded = False  # whether imports or exports were measured last

    def begin(self) -> None:
        """Forget what was read: a new document begins."""
        self._before, self._place, self._traded = None, "", False
        self._seen, self._measured = set(), set()

    def read(self, annotated: AnnotatedSentence) -> Iterator[Claim]:
        """Yield the measured claims of one sentence."""
        if annotated.starts_block:
            self._place, self._seen, self._measured, self._traded = "", set(), set(), False
            self._before = doubted(self._before)  # the paragraph before may have spoken of something else
        said: PreviousMeasurement | None = None
        left_out = None
        if annotated.quantities:
            found = self.subjects.indicators(annotated)
            left_out = _LEFT_OUT.search(annotated.text)
            for claim, last in self._read(annotated, [ref for ref in found if ref.name not in CHANGES]):
                if left_out and left_out.start() < claim.end:
                    continue  # 「剔除甲公司后，营收…」 is of the others
                said = last
                if not last.reading.described:
                    self._measured.add(claim.subject.entity)
                yield claim
        if said is not None or annotated.quantities:
            self._before = said if not left_out else None
            if len(self._measured) > 1:  # the next sentence's bare figure could be any of theirs
                self._before = doubted(self._before)
        elif annotated.text.endswith("："):
            self._before = None  # a new item begins
        self._seen |= {name for _, name in places_in(annotated.text, annotated.refs)}

    def _read(
        self, annotated: AnnotatedSentence, indicators: list[EntityMention]
    ) -> Iterator[tuple[Claim, PreviousMeasurement]]:
        said: PreviousMeasurement | None = None
        resume = listed = 0
        begun: tuple[Measurement, Quantity] | None = None
        rows = RowReader(annotated, indicators, RowSubjects(self.subjects, self._before))
        for quantity in _spelled(annotated):
            if quantity.start < listed:
                continue
            quantity = _as_share(annotated, indicators, quantity)  # noqa: PLW2901
            if row := rows.at(quantity.start):
                for reading, item, period in rows.read(row, said=said):
                    if self._fits(reading.indicator, item):
                        yield (
                            self._claim(annotated, reading, item, period=period, listed=True),
                            PreviousMeasurement(reading, item),
                        )
                said, listed = None, row.end
                continue
            starts = STARTS_RANGE.match(annotated.text, quantity.end)
            steps = years_of(annotated, quantity)
            if starts and not (steps or dated_start(annotated, quantity)):
                resume = quantity.end  # the first of 「从5%升至8%」 was true before
                continue
            measured: Measurement | None
            if begun and begun[1].end == resume and len({begun[1].unit, quantity.unit} - {""}) < 2:  # noqa: PLR2004
                measured, period = begun[0], ended(annotated, begun[1], quantity)
                quantity = _of_one_kind(begun[1], quantity)  # noqa: PLW2901 - 「占比从42%升至52%」: both are shares
            else:
                measured = self._reading_for(annotated, indicators, quantity, said, resume)
                period = steps[0] if starts and steps else steps[-1] if resume and steps else None
                period = base_of(annotated, quantity) or period
            begun = None
            if measured is not None:
                measured = self._of_what_is_counted(measured, quantity)
                claim = self._claim(annotated, measured, quantity, period=period)
                if claim.confidence <= DOUBTFUL and quantity.unit:  # and so is what follows it
                    measured = replace(measured, confidence=DOUBTFUL)
                said = PreviousMeasurement(measured, quantity, said.named if said and measured.described else None)
                yield claim, said
                begun = (measured, quantity) if starts else None
                resume = quantity.end if starts else 0

    def _reading_for(
        self,
        annotated: AnnotatedSentence,
        indicators: list[EntityMention],
        quantity: Quantity,
        said: PreviousMeasurement | None,
        resume: int,
    ) -> Measurement | None:
        """Return whose indicator a number measures; `resume` is where a range's first number ended."""
        before = named_of(self._before)
        if quantity.change == "share" and (told := SHARE_OF.search(annotated.text, 0, quantity.start)):
            return self._follower.share(annotated, indicators, told, said=said, before=before)
        indicator = nearest(indicators, quantity.start)
        if said and (indicator is None or said.quantity.end > indicator.end):
            return self._follower.follows(annotated, said, quantity)
        if indicator is None:
            return self._follower.goes_on(annotated, self._before, quantity)
        if indicator.name.endswith(VAGUE):
            return None
        gap = without(annotated, max(indicator.end, resume), quantity.start)
        plain = _NARROWED.sub("", gap)
        fits = self._fits(indicator, quantity) or self._of_a_piece(annotated, indicator, quantity, plain)
        if not (fits and _leads(annotated, indicator, quantity, plain)):
            return None
        found = self.subjects.find(annotated, indicator, said=said, before=before)
        if found:
            return replace(found, confidence=DOUBTFUL) if len(plain) < len(gap) else found
        macro = indicator.entity in self.subjects.macro
        return described(annotated, indicator, said=said, before=self._before, macro=macro)

    def _of_what_is_counted(self, reading: Measurement, quantity: Quantity) -> Measurement:
        """Return the reading of what a short name stands for where it is counted so: 新能源 in 辆 are cars."""
        name = _COUNTED.get((reading.subject.name, quantity.unit))
        if name is None:
            return reading
        kind = reading.subject.kind
        told = self.subjects.of_names(
            replace(reading.subject, entity=entity_id(kind, name), name=name), reading.indicator, reading.scope
        )
        return replace(told, confidence=reading.confidence, described=reading.described)

    def _fits(self, indicator: EntityMention, quantity: Quantity) -> bool:
        """Whether the unit is one that this indicator is measured in; a change or share in percent fits any."""
        if quantity.unit in RATES and quantity.change:
            return True
        if not quantity.unit:  # 「营收52亿」, 「出货量3亿」
            return quantity.scale in _GREAT and set(self._units_of(indicator)) <= _SUMS
        if indicator.name.endswith(("市场规模", "市场空间", "规模", "需求")):
            return True  # in money or in pieces
        if indicator.name.endswith("指数") and quantity.unit == "个":
            return False  # 「在30个行业中」
        units = self._units_of(indicator)
        return not units or _unit_kind(quantity.unit) in units

    def _units_of(self, indicator: EntityMention) -> tuple[str, ...]:
        return self._units.get(indicator.entity) or self._units_of_name(indicator.name)

    def _units_by_head(self, name: str) -> tuple[str, ...]:
        return next((units for head, units in self._heads.items() if name.endswith(head)), ())

    def _of_a_piece(self, annotated: AnnotatedSentence, indicator: EntityMention, quantity: Quantity, gap: str) -> bool:
        """「面板价格从74美元跌至32美元」: a price of one piece, not a rise, a sum or of an unread unit."""
        priced = "price" in self._units_of(indicator) and _unit_kind(quantity.unit) == "currency"
        priced = priced and not _PER.match(annotated.text, quantity.end)
        return priced and not (quantity.change or quantity.scale) and _AT.fullmatch(gap) is not None

    def _claim(
        self,
        annotated: AnnotatedSentence,
        reading: Measurement,
        quantity: Quantity,
        *,
        period: Period | None = None,
        listed: bool = False,
    ) -> Claim:
        reading = self._placed(annotated, reading)
        subject = reading.subject
        start = subject.start if subject.start >= 0 else reading.indicator.start
        indicator = as_told(annotated, reading.indicator)
        value = Value(
            number=quantity.number,
            unit=quantity.unit,
            scale=quantity.scale,
            change=quantity.change,
            basis=self._basis.get(indicator.entity, ""),
            high=quantity.high,
        )
        dated, told = period_of(annotated, reading.indicator, quantity)
        valid = period or told
        doubtful = is_doubtful(Figure(annotated, reading, quantity, dated, valid, listed, self._traded, self._before))
        self._traded = _TRADE.search(indicator.name) is not None or (self._traded and doubtful)
        return Claim(
            relation="reports",
            subject=subject,
            object=indicator,
            start=max(0, min(start, reading.indicator.start, quantity.start)),
            end=quantity.end,
            pattern="metric",
            value=value,
            qualifiers=(("scope", reading.scope),) if reading.scope else (),
            valid=valid,
            confidence=min(reading.confidence, DOUBTFUL) if doubtful else reading.confidence,
            modality=Modality.ASSERTED if indicator.name in AT_A_CLOSE and valid is None else None,
        )

    def _placed(self, annotated: AnnotatedSentence, reading: Measurement) -> Measurement:
        """Give a figure that bears no place the one told before it: at home it holds on, abroad it may or may not.

        「6月全国冰箱产量904万台，冷柜产量241万台」 are both of the whole country; behind 「美国…」 nobody can say,
        unless the label or the heading says so. Of a firm's figures only volumes are of a place.
        """
        of_a_firm = reading.subject.kind not in _OF_A_PLACE
        head = max(reading.indicator.start, 0)
        begin = behind_last("；。", annotated.text, head)
        told = [name for _, name in places_in(annotated.text, annotated.refs, start=begin, end=head)] or [self._place]
        if any(name and name in reading.scope for name in told) or places_in(reading.scope, ()):
            if reading.confidence > DOUBTFUL:
                self._place = reading.scope
            return reading
        if of_a_firm and not reading.indicator.name.endswith(_VOLUMES):
            return reading
        if told == [""] or set(told) == {annotated.place}:
            if annotated.place in _WIDER and _is_share_index(annotated, reading.indicator, begin):
                return reading  # 「全球：…；申万钢铁下跌」
            unsure = bool(self._seen - {annotated.place} - HOME) or (annotated.place not in HOME and self._seen & HOME)
            if annotated.place and unsure and not of_a_firm:  # the heading's place, or one named since
                reading = replace(reading, confidence=min(reading.confidence, DOUBTFUL))
            return replace(reading, scope=narrowed(annotated.place, reading.scope, longest=LONGEST_SCOPE))
        if HOME.issuperset(told):
            name = annotated.text[min(head, max(reading.subject.start, 0) or head) : reading.indicator.end]
            return reading if of_a_firm or ABROAD.search(name) else replace(reading, scope=reading.scope or told[-1])
        return replace(reading, confidence=min(reading.confidence, DOUBTFUL))


def _is_share_index(annotated: AnnotatedSentence, indicator: EntityMention, begin: int) -> bool:
    """Whether an indicator is an index of shares at home, by the words of its clause."""
    return indicator.name.endswith("指数") and _AT_HOME.search(annotated.text, begin, indicator.end) is not None


def as_told(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention:
    """Return the indicator under the word before it that makes it another: 扣非后归母净利润, 新增装机容量."""
    text = annotated.text
    told = text[clause_start(annotated, indicator.start) : indicator.end]
    if not indicator.about and basis_of(told) == "扣非" and (name := _ADJUSTED.get(indicator.name)):
        return _renamed(indicator, name)
    head = indicator.name.removeprefix(indicator.owner) if indicator.about else indicator.name
    if _ADDED.search(told) and head.startswith(_STOCKS):
        return _renamed(indicator, indicator.name.removesuffix(head) + "新增" + head)
    return indicator


def _renamed(indicator: EntityMention, name: str) -> EntityMention:
    return replace(indicator, entity=entity_id(Kind.INDICATOR, name), name=name)


def _as_share(annotated: AnnotatedSentence, indicators: Sequence[EntityMention], quantity: Quantity) -> Quantity:
    """Return a percentage behind 「出货量占比逐步提升，由」 as the share that it is."""
    indicator = nearest(indicators, quantity.start)
    if quantity.unit != "%" or quantity.change or indicator is None or not _SHARED.match(annotated.text, indicator.end):
        return quantity
    between = any(indicator.end <= each.start < quantity.start for each in annotated.quantities)
    return quantity if between else replace(quantity, change="share")


def _of_one_kind(first: Quantity, second: Quantity) -> Quantity:
    """Return the end of a range told as its beginning is."""
    return replace(second, change="share") if first.change == "share" and not second.change else second


def _spelled(annotated: AnnotatedSentence) -> list[Quantity]:
    """Return the numbers with digits: 「总市值(百万元)」 names a unit, 「100亿日元（7亿美元）」 is said twice."""
    told: list[Quantity] = []
    for quantity in annotated.quantities:
        if any(map(str.isdigit, quantity.text)) and not (told and _is_converted(annotated, told[-1], quantity)):
            told.append(quantity)
    return told


def _is_converted(annotated: AnnotatedSentence, first: Quantity, quantity: Quantity) -> bool:
    """Whether a number alone in a bracket says the sum before it in another currency."""
    sums = {_unit_kind(first.unit), _unit_kind(quantity.unit)} == {"currency"} and first.unit != quantity.unit
    behind = sums and _CONVERTED.fullmatch(annotated.text, first.end, quantity.start)
    return bool(behind) and annotated.text.startswith("）", quantity.end)


def _leads(annotated: AnnotatedSentence, indicator: EntityMention, quantity: Quantity, gap: str) -> bool:
    """Whether the words between an indicator and a number lead from the one to the other."""
    compared = any(indicator.end <= dated.start < quantity.start for dated in bases(annotated))
    if (compared and base_of(annotated, quantity) is None) or _moved_to(annotated, quantity):
        return False  # 「较2019年增长57倍」 is no change of this year, 「降230万至4.17亿」 no range
    unsaid = gap.endswith(("从", "由")) and not begins(annotated, quantity)
    return not unsaid and FILLER.fullmatch(_LATIN.sub("", gap)) is not None


def _moved_to(annotated: AnnotatedSentence, quantity: Quantity) -> bool:
    before = annotated.text[max(0, quantity.start - 4) : quantity.start]
    stepped = STEP.search(before) is not None or quantity.text.startswith(("+", "-"))  # 「环比-0.4%至70.7%」
    return quantity.high is not None and "至" in quantity.text and stepped


def _unit_kind(unit: str) -> str:
    kind = UNIT_KINDS.get(unit.partition("/")[0], "count")
    return "price" if "/" in unit and kind == "currency" else kind  # 万片/月 are counted
