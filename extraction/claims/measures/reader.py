"""Extract measured facts: indicator, subject, number and period.

A number belongs to the last indicator before it if only measuring words stand between (为, 达到, 同比增长 …); a change
after a level belongs to the same indicator (营收 9.45 亿元，同比增长 34%). Anything else is skipped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.claims.measures.continuation import SHARE_OF, ContinuationResolver
from extraction.claims.measures.described import measure_described
from extraction.claims.measures.filters import is_doubtful
from extraction.claims.measures.lists import RowReader, RowSubjects
from extraction.claims.measures.measurement import (
    DOUBTFUL,
    Figure,
    Measurement,
    PreviousMeasurement,
    last_named,
    mark_doubtful,
)
from extraction.claims.measures.subject import INHERITED_CONFIDENCE, SubjectFinder, without
from extraction.claims.measures.words import (
    CHANGES,
    FILLER,
    LONGEST_SCOPE,
    MEASURE_HEADS,
    RATES,
    RESULTS,
    STEP,
    VAGUE,
    home_currency,
    is_loss,
    unit_kind,
)
from extraction.context.places import ABROAD, HOME, narrowed, places_in
from extraction.dating.policy import (
    STARTS_RANGE,
    comparison_dates,
    comparison_period,
    figure_period,
    has_own_date,
    range_end,
    starts_dated_range,
    years_of,
)
from extraction.names.gazetteer import COMPOUND_KINDS
from extraction.quantities.reader import basis_of, bound_of
from extraction.sentence import Claim, nearest
from extraction.text.clauses import clause_start, statement_start
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from extraction.names.gazetteer import Lexicon
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention
    from kg.period import Period

_ADJUSTED = {"净利润": "扣非归母净利润", "归母净利润": "扣非归母净利润", "ROE": "扣非ROE"}
_PHRASES = phrases("measures/reader")
_REACHED = _PHRASES["reached"]
_STATES = re.compile("(?:为|是|：|约|约为|实现|录得)?")  # between a result and its bracket
_GROWTH_IN_BRACKETS = re.compile("(?:同比|环比)（$")
_LOST = re.compile("亏[^，。；]{0,6}$")
_SPELLED, _PART = re.compile("[一二两三四五六七八九]"), re.compile("(?<!百)分之|半(?!$)|^一半|过半")
_STEPS = re.compile("[增减升降涨跌][^，。；]{0,3}\\d[^，。；]{1,24}、$")
_PER = re.compile(" ?[/每]")
_GREAT, _SUMS = frozenset({"万", "百万", "千万", "亿", "十亿", "百亿", "千亿", "万亿"}), {"currency", "count"}
_NARROWED = re.compile("^（(?=[^（）]*[一-鿿])[^（）\\d]{1,24}）")  # a restriction in brackets
_LATIN = re.compile("^（[A-Za-z]{1,12}）")  # （TTM）
_SHARED = re.compile("占比|的?比重")
_EXCLUDED = re.compile(r"剔除|扣除(?!非经常)|不含(?!税)|不包括|不考虑|若不计|以外的|之外的")
# Additions in a period are not the stock itself.
_NEWLY_ADDED, _STOCKS = (
    re.compile(r"新增[^，。；：、]{0,6}$"),
    (
        *("装机", "产能", "门店", "用户", "贷款", "投产"),
        *("产量", "需求", "销量", "供给", "供应"),
    ),
)
_TRADE = re.compile("[进出]口")
_PLACE_REACH = 300  # characters after which a place named once, or 分产品, no longer applies
_BY_SEGMENT = re.compile("分(?:产品|业务|板块|品类|应用)(?:类型)?(?:来?看|[，：])")
# Of company figures, only these have a place; the others cover all.
_VOLUMES = ("销量", "出货量", "交付量", "份额", "市占率", "占有率", "装机量", "渗透率")


class MetricReader:
    """Reads measured facts sentence by sentence in document order, as sentences may continue previous ones."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._units: Mapping[str, tuple[str, ...]] = {
            term.entity: term.units for term in lexicon.terms.values() if term.kind == Kind.INDICATOR
        }
        self._basis = {term.entity: term.basis for term in lexicon.terms.values() if term.basis}
        self._heads = {**MEASURE_HEADS, **{head.name: head.units for head in lexicon.heads.values()}}
        self._units_of_name = lru_cache(maxsize=4096)(self._units_by_head)  # searches hundreds of heads
        self.subjects = SubjectFinder(lexicon)
        self._continuation = ContinuationResolver(self.subjects, self._fits)
        self._before: PreviousMeasurement | None = None  # last measurement of the previous sentence
        self._place, self._placed_at = "", 0  # last place of the paragraph's figures, and where it was named
        self._seen: set[str] = set()  # places named in the paragraph
        self._measured: set[str] = set()  # subjects measured in the paragraph
        self._traded = False  # the last figure measured imports or exports
        self._segments_at = -_PLACE_REACH  # where the segments of a firm were announced
        self._joined = False  # the previous sentence ended in a semicolon

    def begin(self) -> None:
        """Reset the state for a new document."""
        self._before, self._place, self._traded = None, "", False
        self._segments_at = -_PLACE_REACH
        self._seen, self._measured = set(), set()

    def read(self, annotated: AnnotatedSentence) -> Iterator[Claim]:
        """Yield the measured claims of one sentence."""
        self._go_on(annotated)
        previous: PreviousMeasurement | None = None
        excluded = None
        if annotated.quantities:
            found = self.subjects.indicators(annotated)
            excluded = _EXCLUDED.search(annotated.text)
            for claim, last in self._read(annotated, [ref for ref in found if ref.name not in CHANGES]):
                if excluded and excluded.start() < claim.end:
                    continue  # 「剔除甲公司后，营收…」 excludes the subject
                previous = last
                if not last.measurement.described:
                    self._measured.add(claim.subject.entity)
                yield claim
        if previous is not None or annotated.quantities:
            self._before = previous if not excluded else None
            if len(self._measured) > 1:  # ambiguous for the next sentence
                self._before = mark_doubtful(self._before)
        elif annotated.text.endswith("："):
            self._before = None  # a new list item starts
        self._joined = annotated.text.endswith("；")
        self._segments_at = annotated.sentence.start if _BY_SEGMENT.search(annotated.text) else self._segments_at
        self._seen |= {name for _, name in places_in(annotated.text, annotated.refs)}

    def _go_on(self, annotated: AnnotatedSentence) -> None:
        """Forget what the previous paragraph, or a page of flattened text before, was about."""
        if annotated.starts_block:
            self._place, self._seen, self._measured, self._traded = "", set(), set(), False
            self._joined = False
            self._before = mark_doubtful(self._before)  # the previous paragraph may have another topic
        if annotated.sentence.start - self._placed_at > _PLACE_REACH:
            self._place = ""

    def _read(
        self, annotated: AnnotatedSentence, indicators: list[EntityMention]
    ) -> Iterator[tuple[Claim, PreviousMeasurement]]:
        previous: PreviousMeasurement | None = None
        resume = listed = 0
        begun: tuple[Measurement, Quantity] | None = None
        rows = RowReader(annotated, indicators, RowSubjects(self.subjects, self._before))
        for quantity in filter(_is_figure, annotated.quantities):
            if quantity.start < listed:
                continue
            quantity = _as_loss(annotated, indicators, _as_share(annotated, indicators, quantity))  # noqa: PLW2901
            if row := rows.at(quantity.start):
                for measurement, item, period in rows.read(row, previous=previous):
                    if self._fits(measurement.indicator, item):
                        yield (
                            self._claim(annotated, measurement, item, period=period, listed=True),
                            PreviousMeasurement(measurement, item),
                        )
                previous, listed = None, row.end
                continue
            starts = STARTS_RANGE.match(annotated.text, quantity.end)
            steps = years_of(annotated, quantity)
            if starts and not (steps or has_own_date(annotated, quantity)):
                resume = quantity.end  # 5% in 「从5%升至8%」 is the old value
                continue
            measured: Measurement | None
            if begun and begun[1].end == resume and len({begun[1].unit, quantity.unit} - {""}) < 2:  # noqa: PLR2004
                measured, period = begun[0], range_end(annotated, begun[1], quantity)
                quantity = _match_change(begun[1], quantity)  # noqa: PLW2901 - 「占比从42%升至52%」: both are shares
            else:
                measured = self._measurement_for(annotated, indicators, quantity, previous, resume)
                measured = self._as_sure_as_before(measured)
                period = steps[0] if starts and steps else steps[-1] if resume and steps else None
                period = comparison_period(annotated, quantity) or period
            begun = None
            if measured is not None:
                claim = self._claim(annotated, measured, quantity, period=period)
                if claim.confidence <= DOUBTFUL and quantity.unit:  # later figures inherit the doubt
                    measured = replace(measured, confidence=DOUBTFUL)
                previous = PreviousMeasurement(
                    measured, quantity, previous.named if previous and measured.described else None
                )
                yield claim, previous
                begun = (measured, quantity) if starts else None
                resume = quantity.end if starts else 0

    def _as_sure_as_before(self, measured: Measurement | None) -> Measurement | None:
        """Return a figure whose subject is the one before a semicolon, as surely as that: 「…847亿元；净利140亿元」."""
        before = last_named(self._before)
        if measured is None or before is None or not self._joined or measured.confidence != INHERITED_CONFIDENCE:
            return measured
        same = measured.subject.entity == before.subject.entity
        return replace(measured, confidence=max(measured.confidence, before.confidence)) if same else measured

    def _measurement_for(
        self,
        annotated: AnnotatedSentence,
        indicators: list[EntityMention],
        quantity: Quantity,
        previous: PreviousMeasurement | None,
        resume: int,
    ) -> Measurement | None:
        """Return what a number measures; `resume` is the end offset of a range's first number."""
        before = last_named(self._before)
        if quantity.change == "share" and (share_match := SHARE_OF.search(annotated.text, 0, quantity.start)):
            return self._continuation.share(annotated, indicators, share_match, previous=previous, before=before)
        indicator = nearest(indicators, quantity.start)
        if previous and (indicator is None or previous.quantity.end > indicator.end):
            # 「亏损70亿元，同比扩大20%」: the loss grows, not the profit
            enlarged = quantity.change and _LOST.search(annotated.text, 0, previous.quantity.start)
            return None if enlarged else self._continuation.from_previous(annotated, previous, quantity)
        if indicator is None:
            return self._continuation.from_previous_sentence(annotated, self._before, quantity)
        gap = without(annotated, max(indicator.end, resume), quantity.start)
        lost = "亏" in gap or is_loss(annotated.text, indicator)  # 「亏损收窄50%」, 「亏损收窄至20亿元」
        lost = lost or _GROWTH_IN_BRACKETS.search(annotated.text, 0, quantity.start) is not None  # a fall, or an aside
        if indicator.name.endswith(VAGUE) or (lost and (quantity.change or quantity.number > 0)):
            return None
        plain = _NARROWED.sub("", gap)
        fits = self._fits(indicator, quantity) or self._is_unit_price(annotated, indicator, quantity, plain)
        if not (fits and _connects(annotated, indicator, quantity, plain)):
            return None
        found = self.subjects.find(annotated, indicator, previous=previous, before=before)
        if found:
            return replace(found, confidence=DOUBTFUL) if len(plain) < len(gap) else found
        macro = indicator.entity in self.subjects.macro
        return measure_described(annotated, indicator, previous=previous, before=self._before, macro=macro)

    def _fits(self, indicator: EntityMention, quantity: Quantity) -> bool:
        """Return whether an indicator can have this unit; a percentage change or share suits any indicator."""
        if quantity.unit in RATES and quantity.change:
            return True
        if not quantity.unit:  # 「营收52亿」, 「出货量3亿」
            return quantity.scale in _GREAT and set(self._units_of(indicator)) <= _SUMS
        if indicator.name.endswith(("市场规模", "市场空间", "规模", "需求")):
            return True  # an amount of money or a count
        if indicator.name.endswith("指数") and quantity.unit == "个":
            return False  # 「在30个行业中」
        units = self._units_of(indicator)
        return not units or unit_kind(quantity.unit) in units

    def _units_of(self, indicator: EntityMention) -> tuple[str, ...]:
        return self._units.get(indicator.entity) or self._units_of_name(indicator.name)

    def _units_by_head(self, name: str) -> tuple[str, ...]:
        return next((units for head, units in self._heads.items() if name.endswith(head)), ())

    def _is_unit_price(
        self, annotated: AnnotatedSentence, indicator: EntityMention, quantity: Quantity, gap: str
    ) -> bool:
        """Return whether a number is the price of one piece: 「面板价格从74美元跌至32美元」."""
        priced = "price" in self._units_of(indicator) and unit_kind(quantity.unit) == "currency"
        priced = priced and not _PER.match(annotated.text, quantity.end)
        return priced and not (quantity.change or quantity.scale) and _REACHED.fullmatch(gap) is not None

    def _claim(
        self,
        annotated: AnnotatedSentence,
        measurement: Measurement,
        quantity: Quantity,
        *,
        period: Period | None = None,
        listed: bool = False,
    ) -> Claim:
        measurement = self._with_place(annotated, measurement)
        subject = measurement.subject
        if not quantity.unit and set(self._units_of(measurement.indicator)) == {"currency"}:
            quantity = replace(quantity, unit=home_currency(subject.entity))
        start = subject.start if subject.start >= 0 else measurement.indicator.start
        indicator = qualified_indicator(annotated, measurement.indicator)
        value = Value(
            number=quantity.number,
            unit=quantity.unit,
            scale=quantity.scale,
            change=quantity.change,
            basis=self._basis.get(indicator.entity, ""),
            high=quantity.high,
        )
        dated, stated = figure_period(annotated, measurement.indicator, quantity)
        valid = period or stated
        segments = annotated.sentence.start - self._segments_at < _PLACE_REACH or _BY_SEGMENT.search(annotated.text)
        doubtful = is_doubtful(
            Figure(
                *(annotated, measurement, quantity, dated, valid, listed),
                traded=self._traded,
                before=self._before,
                joined=self._joined,
                segments=bool(segments),
            )
        )
        self._traded = _TRADE.search(indicator.name) is not None or (self._traded and doubtful)
        return Claim(
            relation="reports",
            subject=subject,
            object=indicator,
            start=max(0, min(start, measurement.indicator.start, quantity.start)),
            end=quantity.end,
            pattern="metric",
            value=value,
            qualifiers=_qualifiers(annotated, quantity, measurement.scope),
            valid=valid,
            confidence=min(measurement.confidence, DOUBTFUL) if doubtful else measurement.confidence,
        )

    def _with_place(self, annotated: AnnotatedSentence, measurement: Measurement) -> Measurement:
        """Set the place of a figure that names none: domestic places carry over, foreign ones make it doubtful.

        「6月全国冰箱产量904万台，冷柜产量241万台」 are both national; after 「美国…」 the place is unclear unless the
        label or heading states it. Of company figures only volumes get a place.
        """
        is_company = measurement.subject.kind not in COMPOUND_KINDS
        head = max(measurement.indicator.start, 0)
        begin = statement_start(annotated.text, head)
        places = [name for _, name in places_in(annotated.text, annotated.refs, start=begin, end=head)] or [self._place]
        if any(name and name in measurement.scope for name in places) or places_in(measurement.scope, ()):
            if measurement.confidence > DOUBTFUL:
                self._place, self._placed_at = measurement.scope, annotated.sentence.start
            return measurement
        if is_company and not measurement.indicator.name.endswith(_VOLUMES):
            return measurement
        if places == [""] or set(places) == {annotated.place}:
            unsure = bool(self._seen - {annotated.place} - HOME) or (annotated.place not in HOME and self._seen & HOME)
            if annotated.place and unsure and not is_company:  # the heading's place or a later one
                measurement = replace(measurement, confidence=min(measurement.confidence, DOUBTFUL))
            return replace(measurement, scope=narrowed(annotated.place, measurement.scope, longest=LONGEST_SCOPE))
        if HOME.issuperset(places):
            name = annotated.text[min(head, max(measurement.subject.start, 0) or head) : measurement.indicator.end]
            return (
                measurement
                if is_company or ABROAD.search(name)
                else replace(measurement, scope=measurement.scope or places[-1])
            )
        return replace(measurement, confidence=min(measurement.confidence, DOUBTFUL))


def _qualifiers(annotated: AnnotatedSentence, quantity: Quantity, scope: str) -> tuple[tuple[str, str], ...]:
    """Return what restricts a figure: that it is a bound (≥500亿元), and its scope."""
    stated = (("bound", bound_of(annotated.text, quantity)), ("scope", scope))
    return tuple((name, value) for name, value in stated if value)


def qualified_indicator(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention:
    """Return the indicator including a qualifier that changes it: 扣非后归母净利润, 新增装机容量."""
    text = annotated.text
    phrase = text[clause_start(annotated.text, indicator.start) : indicator.end]
    if not indicator.about and basis_of(phrase) == "扣非" and (name := _ADJUSTED.get(indicator.name)):
        return _renamed(indicator, name)
    head = indicator.name.removeprefix(indicator.owner) if indicator.about else indicator.name
    if _NEWLY_ADDED.search(phrase) and head.startswith(_STOCKS):
        return _renamed(indicator, indicator.name.removesuffix(head) + "新增" + head)
    return indicator


def _renamed(indicator: EntityMention, name: str) -> EntityMention:
    return replace(indicator, entity=entity_id(Kind.INDICATOR, name), name=name)


def _as_share(annotated: AnnotatedSentence, indicators: Sequence[EntityMention], quantity: Quantity) -> Quantity:
    """Mark a percentage after 「出货量占比逐步提升，由」 as a share."""
    indicator = nearest(indicators, quantity.start)
    if quantity.unit != "%" or quantity.change or indicator is None or not _SHARED.match(annotated.text, indicator.end):
        return quantity
    between = any(indicator.end <= each.start < quantity.start for each in annotated.quantities)
    return quantity if between else replace(quantity, change="share")


def _match_change(first: Quantity, second: Quantity) -> Quantity:
    """Mark the end of a range as a share if its start is one."""
    return replace(second, change="share") if first.change == "share" and not second.change else second


def _is_figure(quantity: Quantity) -> bool:
    """Return whether a number is a figure: in digits, or an amount or percentage in characters (三成, 百分之五).

    A unit is none (总市值(百万元)), nor is a count or a part in characters (三家, 三分之一, 一半).
    """
    if any(map(str.isdigit, quantity.text)):
        return True
    spelled = _SPELLED.search(quantity.text) is not None and unit_kind(quantity.unit) in {"currency", "percent"}
    return spelled and not _PART.search(quantity.text)


def _as_loss(annotated: AnnotatedSentence, indicators: Sequence[EntityMention], quantity: Quantity) -> Quantity:
    """Make an amount negative that stands alone in brackets behind a result: 「归母净利润（70.4亿元）。」.

    Where the statement goes on (「净利润（507亿元）创新高」) the brackets hold an aside.
    """
    text, indicator = annotated.text, nearest(indicators, quantity.start)
    alone = text[quantity.start - 1 : quantity.start] == "（" and text[quantity.end : quantity.end + 1] == "）"
    if not alone or quantity.number < 0 or quantity.change or unit_kind(quantity.unit) != "currency":
        return quantity
    ends = text[quantity.end + 1 : quantity.end + 2] in {"", *"，。；"}
    if indicator is None or not indicator.name.endswith(RESULTS) or not ends:
        return quantity
    if _STATES.fullmatch(text, indicator.end, quantity.start - 1) is None:
        return quantity
    return replace(quantity, number=-quantity.number)


def _connects(annotated: AnnotatedSentence, indicator: EntityMention, quantity: Quantity, gap: str) -> bool:
    """Return whether the words between an indicator and a number connect them."""
    compared = any(indicator.end <= dated.start < quantity.start for dated in comparison_dates(annotated))
    if (compared and comparison_period(annotated, quantity) is None) or _is_moved_range(annotated, quantity):
        return False  # 「较2019年增长57倍」 is not a change of this year, 「降230万至4.17亿」 not a range
    if annotated.text[indicator.start : indicator.end] == "市场" and gap.startswith("占"):
        return False  # 「国内市场占44-45GW」
    undated_range = gap.endswith(("从", "由")) and not starts_dated_range(annotated, quantity)
    return not undated_range and FILLER.fullmatch(_LATIN.sub("", gap)) is not None


def _is_moved_range(annotated: AnnotatedSentence, quantity: Quantity) -> bool:
    before = annotated.text[max(0, quantity.start - 4) : quantity.start]
    stepped = STEP.search(before) is not None or quantity.text.startswith(("+", "-"))  # 「环比-0.4%至70.7%」
    # 「增加30万桶、20万桶至1539万桶、746万桶」
    stepped = stepped or _STEPS.search(annotated.text, 0, quantity.start) is not None
    return quantity.high is not None and "至" in quantity.text and stepped
