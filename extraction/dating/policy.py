"""Decide which period applies: to a text below a heading or in a list, to a figure, to a relation, to a table's column.

This is the only place that decides it; `kg.dating` reads the expressions. A period is stated (its own date expression),
else inherited: from the sentence before, the introduction of the list, the title, the heading, the caption.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.text.clauses import bracket_around, in_brackets, looks_ahead
from extraction.text.lexicon import phrases
from kg.dating.reader import Dated, find_periods, read_dates, yearly
from kg.dating.reference import stated_year_end
from kg.kinds import kind_of
from kg.model import Kind
from kg.period import Precision, year
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date

    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, Claim, EntityMention
    from kg.model import Problem
    from kg.period import Period

_DAY, _WEEK, _RECENT = timedelta(days=1), timedelta(days=7), timedelta(days=10)
_AS_OF = re.compile("截至|截止")
_SHORTEST_WEEK, _LONGEST_WEEK = 3, 8
_EARLY_IN_WEEK = 2  # Wednesday, Monday being 0
_SINCE_NEW_YEAR = re.compile("年初|YTD|今年|20\\d\\d ?年")
_THIS_WEEK = re.compile(r"(?:截至|截止|在)?(?:本周|当周|周内|本星期|这周)")
_BEGAN = re.compile(r"(?:由[^，。；]{0,12})?(?:成立|创立|创办|创建|设立|上市|挂牌)(?!以来)")
_BEGAN_IN = re.compile(r"(?:成立|创立|创办|创建|始建|设立|上市|挂牌)[于在]$")
# the year of 「源于去年高基数」 is not inherited
_BASE = re.compile("(?:的|同期)?(?:[高低]?基数|[^，。；]{0,10}[高低]基数)")
_SUMMED = re.compile(r"[，、]?(?:合计|累计|总计|累积)")
_HEADING_DAYS = re.compile(r"[（(](\d{1,2})\.(\d{1,2}) ?[-~—–] ?(\d{1,2})\.(\d{1,2})[)）]")

REPORTING_PERIODS = frozenset({Precision.QUARTER, Precision.HALF, Precision.YEAR})
CLOSING_INDICATORS = ("股价", "收盘价", "市值", "总市值")  # without a period, as of the publication day
_ON_A_DAY = (*CLOSING_INDICATORS, "PB")
STARTS_RANGE = phrases("dating/policy")["starts_range"]
SAME_TIME = re.compile(r"同期|上年|去年|前年|上月|上周|上季|年初|上一")
_FISCAL = re.compile("财政?年|财务年|财季|FY")
_TITLED = re.compile("《[^》]*》")  # last week's note
_ALREADY = re.compile("已[^，。；：]*$")
_PER_PIECE = ("用量", "需求", "需求量", "价值量")
_NOW = re.compile("目前|当前|现阶段|如今|现在")
_DATE_TO_NUMBER = re.compile("的?(?:约|近)?")
_COMPARED_WITH = re.compile("(?:较|相较于?|比|相比|对比|于|超|超过|同比|是|为)$")
_SAME_LEVEL = re.compile("的?(?:为|是|仅为?|达|达到|实现|盈利|亏损|：)?(?:约|近)?")
_WRITTEN = re.compile(r"[\dQH]+[^同]*$")
_CLOSING_SPAN, _MONTHS, _YEARS = timedelta(days=8), timedelta(days=45), timedelta(days=366)

_DATA_RELEASE = re.compile(r"(?:份)?[^，。；]{2,12}?(?:数据|会议纪要)")  # 「8月非农就业数据…」 dates these data only
_SHORT = frozenset({Precision.DAY, Precision.WEEK, Precision.MONTH})  # these mostly belong to an adjacent figure
_OPENING = re.compile(r"(?:[^，。；：]{0,16}：)?[^，。；：\d]{0,4}")
_FOUNDING = frozenset({"founds", "lists_through"})
_TIMELESS = frozenset(name for name, relation in vocabulary().relations.items() if relation.timeless)
_SPANS = {"日": (1, 1), "周": (3, 8), "月": (27, 31), "季": (89, 92), "季度": (89, 92), "年": (365, 366)}
_SPOT_COLUMN = re.compile("股价|收盘价|目标价|市值")  # measured on a day, not over a caption's year or quarter


def read_periods(
    text: str,
    published_on: date,
    inherited: Period | None,
    *,
    fiscal_year_end: int,
    week: Callable[[], Period | None],
) -> tuple[list[Dated], list[Problem]]:
    """Return the dates of a sentence, moved to the reported week and as-of date, and its impossible dates."""
    past = inherited if inherited and inherited.start and inherited.start <= published_on else None
    dates, impossible = read_dates(text, published_on, context=past, fiscal_year_end=fiscal_year_end)
    return as_of(shift_to_reported_week(dates, published_on, week), published_on, week), impossible


def stated_dates(text: str, published_on: date, *, fiscal_year_end: int = 12) -> list[Dated]:
    """Return the date expressions of a heading, title or label, without bases of comparison."""
    found = find_periods(text, published_on, fiscal_year_end=fiscal_year_end)
    return [each for each in found if each.role == "stated"]


class FiscalYears:
    """The ends of fiscal years that a document states, by the company that each sentence about them names."""

    def __init__(self, base: EntityMention | None, lines: Iterable[tuple[str, Sequence[EntityMention]]]) -> None:
        """Read the lines of a document; one that names no company is about the company of the report, `base`."""
        self._ends: dict[str, int] = {}
        own = base.entity if base else ""
        for text, names in lines:
            month = stated_year_end(text)
            companies = {ref.entity for ref in names if ref.kind == Kind.COMPANY}
            if month is not None and len(companies) <= 1:
                self._ends.setdefault(companies.pop() if companies else own, month)

    def of(self, names: Sequence[EntityMention], subject: EntityMention | None) -> int | None:
        """Return the month in which the fiscal year of a sentence ends, None if none is stated for its company."""
        companies = {ref.entity for ref in names if ref.kind == Kind.COMPANY} or {subject.entity if subject else ""}
        found = {self._ends.get(company) for company in companies}
        return found.pop() if len(found) == 1 else None


def heading_period(text: str, published_on: date, week: Callable[[], Period | None] = lambda: None) -> Period | None:
    """Return the last period that a heading states, if it has begun; （6.9-6.13） is a range of days."""
    spelled = _HEADING_DAYS.sub(r"（\1月\2日-\3月\4日）", text)
    dates = shift_to_reported_week(stated_dates(spelled, published_on), published_on, week)
    stated = [each.period for each in dates if not _FISCAL.search(each.text)]
    return stated[-1] if stated and stated[-1].start and stated[-1].start <= published_on else None


def title_period(text: str, published_on: date, week: Callable[[], Period | None] = lambda: None) -> Period | None:
    """Return the one period that a title states; a longer one precedes a day: 「中报（截至7月11日）」."""
    dates = shift_to_reported_week(stated_dates(text, published_on), published_on, week)
    stated = [each.period for each in dates if not _FISCAL.search(each.text)]
    longer = [each for each in stated if each.precision is not Precision.DAY] or stated
    return longer[0] if len(longer) == 1 else None


def block_period(introduction: Period | None, *, title: Period | None, heading: Period | None) -> Period | None:
    """Return the period that a block inherits: of its list's introduction, else of the title, else of the heading.

    A day in the introduction of results is their publication day: the heading's quarter or year applies.
    """
    above = title or heading
    of_results = above is not None and above.precision in REPORTING_PERIODS
    return above if introduction is None or (of_results and introduction.precision is Precision.DAY) else introduction


def reported_week(texts: Iterable[str], published_on: date) -> Period | None:
    """Return the week that the opening texts of a note name."""
    plain = (_TITLED.sub("", text) for text in texts)
    return named_week([dated for text in plain for dated in find_periods(text, published_on)], published_on)


def shift_to_reported_week(
    periods: list[Dated], published_on: date, named: Callable[[], Period | None] = lambda: None
) -> list[Dated]:
    """Move 「本周」 to the week that the note covers: the one it names, else, early in a week, the previous one.

    Weekly reports are written over the weekend and dated Monday to Wednesday; in real notes, three of four of their
    「本周」 refer to the days before. `named` returns the week that the note names, and is called only if needed.
    """
    if not any(_THIS_WEEK.match(dated.text) for dated in periods):
        return periods
    week = named()
    if week is None and published_on.weekday() > _EARLY_IN_WEEK:
        return periods
    covered = week.start if week and week.start else published_on - _WEEK
    step = timedelta(days=7 * round((_monday(published_on) - _monday(covered)) / _WEEK))
    return [
        structs.replace(dated, period=_earlier(dated.period, step)) if _THIS_WEEK.match(dated.text) else dated
        for dated in periods
    ]


def named_week(periods: Sequence[Dated], published_on: date) -> Period | None:
    """Return the week that a note names at its top (9月8日-9月12日), if it ended shortly before publication.

    If it names none, return the last as-of day at the top (截至9月12日).
    """
    for dated in periods:
        start, end = dated.period.start, dated.period.end
        if start and end and _SHORTEST_WEEK <= (end - start).days <= _LONGEST_WEEK and end <= published_on + _DAY:
            return dated.period if published_on - end <= 2 * _WEEK else None
    days = [dated.period for dated in periods if _AS_OF.match(dated.text) and dated.period.precision is Precision.DAY]
    past = [day for day in days if day.start and published_on - day.start <= _RECENT and day.start <= published_on]
    return max(past, key=lambda day: day.start or published_on, default=None)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _earlier(period: Period, step: timedelta) -> Period:
    return replace(period, start=period.start and period.start - step, end=period.end and period.end - step)


def as_of(periods: list[Dated], published_on: date, week: Callable[[], Period | None] = lambda: None) -> list[Dated]:
    """End periods that last until today (年初至今, 近一年) on the as-of day of the sentence: 截至6月10日.

    Without such a day, end them with the week that the sentence states (本周), else with the note's own `week`.
    """
    tomorrow = published_on + _DAY
    lasting = any(dated.period.end == tomorrow for dated in periods)
    end = _data_end(periods, published_on, week) if lasting else None
    if end is None:
        return periods
    return [
        structs.replace(
            dated, period=_ending(dated.period, end, year_to_date=_SINCE_NEW_YEAR.search(dated.text) is not None)
        )
        if dated.period.end == tomorrow and dated.period.start and dated.period.start < end - _WEEK
        else dated
        for dated in periods
    ]


def _data_end(periods: list[Dated], published_on: date, week: Callable[[], Period | None]) -> date | None:
    days = [dated.period for dated in periods if _AS_OF.match(dated.text) and dated.period.precision is Precision.DAY]
    if days:
        return days[0].end if len(days) == 1 and days[0].end and days[0].end <= published_on else None
    weeks = [dated.period for dated in periods if dated.role == "stated" and _is_week(dated.period)]
    last = weeks[-1] if weeks else week()
    if last is None or last.end is None or not published_on - _RECENT <= last.end <= published_on:
        return None
    return last.end


def _is_week(period: Period) -> bool:
    length = period.end - period.start if period.start and period.end else timedelta()
    return _SHORTEST_WEEK <= length.days <= _LONGEST_WEEK


def _ending(period: Period, end: date, *, year_to_date: bool) -> Period:
    assert period.start is not None  # as_of checks both
    assert period.end is not None
    return replace(period, start=period.start if year_to_date else period.start - (period.end - end), end=end)


def carry_period(text: str, periods: Sequence[Dated], before: Period | None, *, fiscal: bool = False) -> Period | None:
    """Return the period that the next sentence inherits: the last stated one, except in brackets and before totals.

    After 「6月出口87吨，上半年合计出口4651吨」, the next item is about June; 「预计Q3持平」 dates only itself. A fiscal
    year whose end is not known (`fiscal`) dates nothing that does not name it.
    """
    stated = [each for each in periods if each.role == "stated" and not _BASE.match(text, each.end)]
    stated = [each for each in stated if not (in_brackets(text, each.start) or looks_ahead(text, each.start, each.end))]
    single = [dated for at, dated in enumerate(stated) if not (at and _SUMMED.match(text, dated.end))]
    if single and not fiscal and _FISCAL.search(single[-1].text):
        return None
    return single[-1].period if single else before


def is_estimate(periods: Sequence[Dated], before: bool) -> bool:
    """Whether the inherited period is marked as estimated: 「25H1E收入…。净利润…」."""
    stated = [dated for dated in periods if dated.role == "stated"]
    return stated[-1].text.endswith("E") if stated else before


def figure_period(
    annotated: AnnotatedSentence, indicator: EntityMention, quantity: Quantity
) -> tuple[Dated | None, Period | None]:
    """Return the date expression and the period of a figure: the last stated one, else the inherited one.

    目前 after that date, or alone, means the publication day (no period). A span of years dates only the first figure
    after it (「近三年分红超600亿元，股息率3.4%」) and never a percentile.
    """
    behind = _bracketed(annotated, quantity.end)
    if behind is not None:
        return behind, behind.period
    candidates = (each for each in annotated.periods if not _is_parenthetical(annotated.text, each, quantity))
    candidates = (each for each in candidates if not is_range_start_date(annotated, each, quantity))
    dated = _last(candidates, quantity.start)
    if _NOW.search(annotated.text, dated.end if dated else 0, quantity.start):
        return None, None
    level = quantity.change in {"", "share"}
    if dated is None:
        return None, _inherited_period(annotated, indicator, quantity, level=level)
    between = any(dated.end <= each.start < quantity.start for each in annotated.quantities)
    if between and not quantity.change and annotated.text.find("每年", dated.end, quantity.start) >= 0:
        return None, None  # 「2024年需求80万吨，预计每年增加5万吨」
    spot = indicator.name.endswith(("价格", "库存")) and dated.period.precision is Precision.YEAR
    spot = spot and "，" in annotated.text[dated.end : max(indicator.start, dated.end)]
    if between and (spot or (indicator.name in _ON_A_DAY and dated.period.precision in REPORTING_PERIODS)):
        return None, None  # 「2025年指标5.8万吨，钨精矿价格涨至…」, 「2025Q1营收增长3%，PB 0.7倍」
    if not (_lasts_years(dated.period) and (between or "分位" in indicator.name)) or not level:
        return dated, dated.period
    earlier = tuple(each for each in annotated.periods if each is not dated and not _lasts_years(each.period))
    shorter = _last(earlier, quantity.start)
    return shorter, shorter.period if shorter else None


def _inherited_period(
    annotated: AnnotatedSentence, indicator: EntityMention, quantity: Quantity, *, level: bool
) -> Period | None:
    """Return the period that a figure takes from the text before; a span of years dates only changes."""
    carried = annotated.period
    if carried is None or (indicator.name in CLOSING_INDICATORS and _lasts(carried, _CLOSING_SPAN)):
        return None  # 「股价13.3元，2024年EPS1.4元」
    if not level:
        return carried
    # 「4G手机PMIC用量4颗」 is of no period, 「份额已超过90%」 of now
    timeless = not quantity.scale and indicator.name.endswith(_PER_PIECE)
    timeless |= _lasts_years(carried) or (_is_spot(annotated, indicator) and _sums_months(carried))
    return None if timeless or _ALREADY.search(annotated.text, 0, quantity.start) else carried


def years_of(annotated: AnnotatedSentence, quantity: Quantity) -> list[Period]:
    """Return the years of a preceding span: 「2015-2024年规模从4797亿元增至1.11万亿元」 gives 2015 … 2024."""
    dated = _last(annotated.periods, quantity.start)
    years = yearly(dated) if dated else []
    return years if len(years) > 1 else []


def _bracketed(annotated: AnnotatedSentence, end: int) -> Dated | None:
    """Return the date alone in brackets right after a figure: 「市占率71%（2024年）」."""
    text = annotated.text
    for dated in annotated.periods:
        if dated.role == "stated" and text[end : dated.start] == "（" and text[dated.end : dated.end + 1] == "）":
            return dated
    return None


def _is_parenthetical(text: str, dated: Dated, quantity: Quantity) -> bool:
    """Return whether a date belongs to other words in brackets: 「配额（5-7月首批）推动价格涨至1904元」."""
    content = bracket_around(text, dated.start, dated.end, before=quantity.start)
    return content is not None and content != text[dated.start : dated.end]


def is_range_start_date(annotated: AnnotatedSentence, dated: Dated, quantity: Quantity | None = None) -> bool:
    """Return whether a date only applies to the start value of a range, and `quantity` is not that value.

    「从2023年的10%升至12%，净利率5%」: neither 12 % nor 5 % is for 2023.
    """
    if dated.start == 0 or annotated.text[dated.start - 1] not in "从由自":
        return False
    first = next((each for each in annotated.quantities if each.start >= dated.end), None)
    is_start = first is not None and _DATE_TO_NUMBER.fullmatch(annotated.text, dated.end, first.start) is not None
    return is_start and first is not quantity


def _is_spot(annotated: AnnotatedSentence, indicator: EntityMention) -> bool:
    """Return whether a figure is measured on a day: a price that is not an average, or an inventory."""
    written = annotated.text[max(indicator.start, 0) : max(indicator.end, 0)]
    return indicator.name.endswith(("价格", "价差", "库存", "存栏量")) and "均价" not in written


def _last(periods: Iterable[Dated], before: int) -> Dated | None:
    stated = [dated for dated in periods if dated.end <= before and dated.role == "stated"]
    closed = [dated for dated in stated if dated.period.end is not None]  # 「2020年以来…，三季度营收」
    return closed[-1] if closed else stated[-1] if stated else None


def has_own_date(annotated: AnnotatedSentence, quantity: Quantity) -> bool:
    """Return whether the first number of a range has its own date: 「从2013年的5.63%提升至…」."""
    return any(
        dated.end <= quantity.start and _DATE_TO_NUMBER.fullmatch(annotated.text, dated.end, quantity.start)
        for dated in annotated.periods
    )


def starts_dated_range(annotated: AnnotatedSentence, quantity: Quantity) -> bool:
    """Return whether a number starts a dated range: it has its own date, or follows a span of years."""
    if has_own_date(annotated, quantity):
        return True
    return bool(STARTS_RANGE.match(annotated.text, quantity.end) and years_of(annotated, quantity))


def comparison_dates(annotated: AnnotatedSentence) -> list[Dated]:
    """Return the base dates of comparisons, except 去年同期 and similar."""
    return [dated for dated in annotated.periods if dated.role == "comparison" and not SAME_TIME.search(dated.text)]


def range_end(annotated: AnnotatedSentence, first: Quantity, quantity: Quantity) -> Period | None:
    """Return the period of a range's end value: 2020 in 「2020年出货量将从2019年的13.63亿部下降至11.52亿部」."""
    dated_end = any(first.end <= dated.start < quantity.start for dated in annotated.periods)
    if dated_end or _NOW.search(annotated.text, first.end, quantity.start):
        return None  # the end value has its own date
    if steps := years_of(annotated, quantity):
        return steps[-1]
    stated = [dated for dated in annotated.periods if dated.end <= first.start and dated.role == "stated"]
    stated = [dated for dated in stated if not is_range_start_date(annotated, dated)]  # 「从上半年的7%收窄至6%」
    if stated:
        return stated[0].period
    span = annotated.period  # 「2015-2024年…。其中份额从21%增至29%」: 2024
    return year(span.end.year - 1) if span and span.end and _lasts_years(span) else span


def comparison_period(annotated: AnnotatedSentence, quantity: Quantity) -> Period | None:
    """Return the period of a base value: 2023 for 90亿元 in 「100亿元，较2023年的90亿元增长11%」."""
    if quantity.change or annotated.text.startswith("亏损", quantity.end):
        return None
    for dated in annotated.periods:
        if _is_last_years(annotated.text, dated, quantity):
            return dated.period
        is_base = dated.role == "comparison" and dated.period.precision is not Precision.RANGE
        # 去年同期 and 上月 refer to the figure before them.
        is_base = is_base and _WRITTEN.match(dated.text) is not None
        if is_base and _DATE_TO_NUMBER.fullmatch(annotated.text, dated.end, quantity.start):
            return dated.period
    return None


def _is_last_years(text: str, dated: Dated, quantity: Quantity) -> bool:
    """Return whether a level is that of 去年同期: 「净利润-70亿元，去年同期为136亿元」, not 「较去年同期-5%」."""
    if "同期" not in dated.text or quantity.unit == "倍" or _COMPARED_WITH.search(text, 0, dated.start):
        return False
    return _SAME_LEVEL.fullmatch(text, dated.end, quantity.start) is not None


def _sums_months(period: Period) -> bool:
    """Whether a period covers several months over which output is summed: 1-4月."""
    return period.precision is Precision.RANGE and _lasts(period, _MONTHS)


def _lasts_years(period: Period) -> bool:
    """Whether a period is longer than a year, so that it dates only the first figure after it."""
    return _lasts(period, _YEARS)


def _lasts(period: Period, longer: timedelta) -> bool:
    return bool(period.start and period.end and period.end - period.start > longer)


def relation_period(claim: Claim, annotated: AnnotatedSentence) -> Period | None:
    """Return a claim's period: for a cause its own or the sentence's first, else the last one before its end."""
    if claim.relation in _TIMELESS or claim.pattern == "metric":  # the measure reader dates each figure itself
        return None
    stated = [dated for dated in _of_claims(claim, annotated) if dated.start < claim.end]
    if claim.relation == "affects" or claim.own_clause:
        # 「2025年二季度净利润大增，主要受去年低基数拉动」: the period of the effect comes first; one inside another
        # clause (「表需偏弱，8月降幅扩大，需求支撑…」) belongs to that clause
        text = annotated.text
        stated = [
            each
            for each in stated
            if each.start >= claim.start
            or _opens_sentence(text, each.start, each.end, before=claim.start)
            or (each.end <= claim.start and "，" not in text[each.end : claim.start])
        ]
        stated = stated[:1]
    if not stated:
        stated = _period_of_other_clause(claim, annotated)
    if (
        not stated
        and claim.relation == "affects"
        and kind_of(claim.object.about or claim.object.entity) == Kind.COMPANY
    ):
        return annotated.period  # a company's figures inherit the period of the text
    return stated[-1].period if stated else None


def _of_claims(claim: Claim, annotated: AnnotatedSentence) -> list[Dated]:
    """Return the dates that a claim may take: none of them is the year in which a company was founded or listed."""
    stated = [each for each in annotated.periods if each.role == "stated"]
    if claim.relation in _FOUNDING:
        return stated
    text = annotated.text
    return [each for each in stated if not (_BEGAN.match(text, each.end) or _BEGAN_IN.search(text, 0, each.start))]


def _period_of_other_clause(claim: Claim, annotated: AnnotatedSentence) -> list[Dated]:
    """Return the period of another clause if it is unambiguous: the sentence's only one, or its opening one.

    「2025Q1净利润增长32%，成本下降拉动毛利率提升」; 「甲与乙合作：9月19日，…」.
    """
    stated = _of_claims(claim, annotated)
    if claim.relation == "affects":
        before = [each for each in stated if each.end <= claim.start and each.period.precision not in _SHORT]
        return before if len({each.period for each in stated}) == 1 else []
    return [each for each in stated[:1] if _opens_sentence(annotated.text, each.start, each.end, before=claim.start)]


def _opens_sentence(text: str, start: int, end: int, *, before: int) -> bool:
    """Return whether a period opens its sentence, after at most a lead-in, and no figure in its clause uses it."""
    if _OPENING.fullmatch(text, 0, start) is None:
        return False
    if _DATA_RELEASE.match(text, end):
        return False
    comma = text.find("，", end, before)
    return comma < 0 or not any(letter.isdigit() for letter in text[end:comma])


def column_period(
    caption: Sequence[Period], own: Period | None, *, span: str, indicator: str, forecast: bool
) -> Period | None:
    """Return the period of a column of figures: its own, else the single one of the caption, at most a year.

    Args:
        caption: the periods that the caption states.
        own: the period that the head states.
        span: the span of a change that the head states (周 of 周涨幅), which the caption's period must have.
        indicator: the name of the column's indicator; a price needs a day.
        forecast: whether the caption marks forecasts.
    """
    if own is not None:
        return own
    period = caption[0] if len(set(caption)) == 1 and not forecast else None
    if period is None or not period.start or not period.end or _lasts(period, _YEARS):
        return None
    if not _matches_span(period, span) or (_SPOT_COLUMN.search(indicator) and period.precision != Precision.DAY):
        return None
    return period


def _matches_span(period: Period | None, span: str) -> bool:
    """Return whether a period is as long as a label says (周涨幅: a week); always True without such a word."""
    if not span or period is None or period.start is None or period.end is None:
        return not span
    least, most = _SPANS[span]
    return least <= (period.end - period.start).days <= most
