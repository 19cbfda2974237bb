"""Assign a period to a measured value: its own date expression, else the inherited one; filter doubtful periods."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.claims.measures.words import (
    EARNED,
    PERIOD_INDICATORS,
    POINT_IN_TIME_INDICATORS,
    SAME_TIME,
    STARTS_RANGE,
)
from extraction.text.sentences import behind_last
from kg.dating.reader import yearly
from kg.period import Precision, year
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from extraction.claims.measures.measurement import Figure
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention
    from kg.dating.reader import Dated
    from kg.period import Period


_NOW = re.compile("目前|当前|现阶段|如今")
CLOSING_INDICATORS, _WEEK = ("股价", "收盘价", "市值", "总市值"), timedelta(days=8)
_MONTH = timedelta(days=45)
_DATE_TO_NUMBER = re.compile("的?(?:约|近)?")
_SPAN = timedelta(days=366)  # a longer period dates only the first figure after it


def period_of(
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
    if dated is None and indicator.name in CLOSING_INDICATORS and annotated.period and _lasts(annotated.period, _WEEK):
        return None, None  # 「股价13.3元，2024年EPS1.4元」
    if dated is None:  # an inherited span of years dates only changes
        carried = annotated.period
        summed = carried and (_is_long(carried) or (_is_spot(annotated, indicator) and _is_span(carried)))
        return None, None if summed and not quantity.change else carried
    between = any(dated.end <= each.start < quantity.start for each in annotated.quantities)
    if between and not quantity.change and annotated.text.find("每年", dated.end, quantity.start) >= 0:
        return None, None  # 「2024年需求80万吨，预计每年增加5万吨」
    spot = indicator.name.endswith(("价格", "库存")) and dated.period.precision is Precision.YEAR
    if spot and between and "，" in annotated.text[dated.end : max(indicator.start, dated.end)]:
        return None, None  # 「2025年指标5.8万吨，钨精矿价格涨至…」: the year dates only the quota
    if not (_is_long(dated.period) and (between or "分位" in indicator.name)) or quantity.change:
        return dated, dated.period
    earlier = tuple(each for each in annotated.periods if each is not dated and not _is_long(each.period))
    shorter = _last(earlier, quantity.start)
    return shorter, shorter.period if shorter else None


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
    opened, closed = text.rfind("（", 0, dated.start), text.find("）", dated.end, quantity.start)
    if opened < 0 or closed < 0 or "）" in text[opened : dated.start]:
        return False
    return text[opened + 1 : closed] != text[dated.start : dated.end]


def is_range_start_date(annotated: AnnotatedSentence, dated: Dated, quantity: Quantity | None = None) -> bool:
    """Return whether a date only applies to the start value of a range, and `quantity` is not that value.

    「从2023年的10%升至12%，净利率5%」: neither 12 % nor 5 % is for 2023.
    """
    if dated.start == 0 or annotated.text[dated.start - 1] not in "从由自":
        return False
    first = next((each for each in annotated.quantities if each.start >= dated.end), None)
    is_start = first is not None and _DATE_TO_NUMBER.fullmatch(annotated.text, dated.end, first.start) is not None
    return is_start and first is not quantity


def last_year(period: Period | None) -> Period | None:
    """Return the last year of a span of years, any other period unchanged."""
    return year(period.end.year - 1) if period and period.end and _is_long(period) else period


def _is_spot(annotated: AnnotatedSentence, indicator: EntityMention) -> bool:
    """Return whether a figure is measured on a day: a price that is not an average, or an inventory."""
    written = annotated.text[max(indicator.start, 0) : max(indicator.end, 0)]
    return indicator.name.endswith(("价格", "价差", "库存", "存栏量")) and "均价" not in written


def _is_span(period: Period) -> bool:
    """Return whether a period covers several months over which output is summed: 1-4月."""
    return period.precision is Precision.RANGE and _lasts(period, _MONTH)


def _is_long(period: Period) -> bool:
    return _lasts(period, _SPAN)


def _lasts(period: Period, longer: timedelta) -> bool:
    return bool(period.start and period.end and period.end - period.start > longer)


def _last(periods: Iterable[Dated], before: int) -> Dated | None:
    stated = [dated for dated in periods if dated.end <= before and dated.role == "stated"]
    closed = [dated for dated in stated if dated.period.end is not None]  # 「2020年以来…，三季度营收」
    return closed[-1] if closed else stated[-1] if stated else None


_WRITTEN = re.compile(r"[\dQH]+[^同]*$")


def has_own_date(annotated: AnnotatedSentence, quantity: Quantity) -> bool:
    """Return whether the first number of a range has its own date: 「从2013年的5.63%提升至…」."""
    return any(
        _DATE_TO_NUMBER.fullmatch(annotated.text[dated.end : quantity.start]) is not None for dated in annotated.periods
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
    if any(first.end <= dated.start < quantity.start for dated in annotated.periods):
        return None  # the end value has its own date
    if steps := years_of(annotated, quantity):
        return steps[-1]
    stated = [dated for dated in annotated.periods if dated.end <= first.start and dated.role == "stated"]
    stated = [dated for dated in stated if not is_range_start_date(annotated, dated)]  # 「从上半年的7%收窄至6%」
    if stated:
        return stated[0].period
    return last_year(annotated.period)  # 「2015-2024年…。其中份额从21%增至29%」: 2024


def comparison_period(annotated: AnnotatedSentence, quantity: Quantity) -> Period | None:
    """Return the period of a base value: 2023 for 90亿元 in 「100亿元，较2023年的90亿元增长11%」."""
    if quantity.change or annotated.text.startswith("亏损", quantity.end):
        return None
    for dated in annotated.periods:
        is_base = dated.role == "comparison" and dated.period.precision is not Precision.RANGE
        # 去年同期 and 上月 refer to the figure before them.
        is_base = is_base and _WRITTEN.match(dated.text) is not None
        if is_base and _DATE_TO_NUMBER.fullmatch(annotated.text, dated.end, quantity.start):
            return dated.period
    return None


# Filters for figures whose period is doubtful; filters.py has those for other reasons.

_REPORT_INDICATORS = ("每股收益", "EPS", "现金流", "现金流净额", "净资产收益率", "ROE")
_FISCAL = re.compile(r"财年|财季|FY")
_EXPECTED_YEAR = re.compile(r"[EAF]$")
_CUMULATIVE = re.compile("累计|累积|总共|合计")
_STOCKS = re.compile("(?<!新增)装机|保有量|用户|门店|存栏|库存|产能|订单|规模")  # stocks at a date
_ONE_MONTH = re.compile("当月|单月|当季|单季")
_SAME_PERIOD = Prefiltered("(?<![年月周季])(?<!较)(?<!比)(?<!与)(?<!于)同期(?!相比|的?(?:水平|高|低))")
_FLOWS = (
    *("销量", "产量", "出货量", "交付量", "进口量", "出口量", "消费量", "发电量"),
    *("成交量", "成交额", "成交面积", "换手率", "下载量", "销售额"),
)
_LONGER_MOVE = re.compile(
    "(?<![一二三四五六七八九十\\d])[月季年]度?(?:累计)?(?:涨跌|涨|跌|升|降)幅|近[一1]?个?[月季年]|年初至今"
)
_SHORT_PRECISIONS = frozenset({Precision.MONTH, Precision.WEEK})


def _is_undated(figure: Figure) -> bool:
    """Revenue, flows and index moves need a period; revenue for a day or week is the report's date."""
    name, valid = figure.measurement.indicator.name, figure.valid
    moved = name.endswith(("指数", "涨幅", "跌幅")) and bool(figure.quantity.change)
    if moved and _is_cutoff_date(figure):
        return True  # 「截至11月25日，板块上涨5%」: the start is unstated
    if (
        _is_cutoff_date(figure)
        and name.endswith(_FLOWS)
        and "/" not in figure.quantity.unit
        and "周" not in figure.clause
    ):
        return True  # 「截至6月汽车产量1562万辆」: likewise
    if valid is None:
        return moved or name in PERIOD_INDICATORS or name.endswith(_FLOWS)
    short = bool(valid.start and valid.end and valid.end - valid.start <= _WEEK)
    return short and (name.endswith(_REPORT_INDICATORS) or (name in PERIOD_INDICATORS and name.endswith(EARNED)))


def _is_cutoff_date(figure: Figure) -> bool:
    return figure.dated is not None and figure.dated.text.startswith(("截至", "截止"))


def _is_fiscal_year(figure: Figure) -> bool:
    """A fiscal year may differ from the calendar year: Q1 of 2026 may lie in 2025."""
    return figure.dated is not None and _FISCAL.search(figure.dated.text) is not None


def _is_dated_by_multiple(figure: Figure) -> bool:
    """「2025E市盈率10.9倍，股息率4.6%」: the year belongs to the multiple."""
    dated, text = figure.dated, figure.annotated
    if (
        dated is None
        or figure.measurement.indicator.name not in POINT_IN_TIME_INDICATORS
        or not _EXPECTED_YEAR.search(dated.text)
    ):
        return False
    return any(dated.end <= each.start < figure.quantity.start for each in text.quantities)


def _covers_longer_period(figure: Figure) -> bool:
    """「月跌幅最大：某某（-5%）」 is not for the week of the heading."""
    valid = figure.valid
    if valid is None or not (valid.start and valid.end) or valid.end - valid.start > _WEEK or figure.dated is not None:
        return False
    return _LONGER_MOVE.search(figure.annotated.text, 0, figure.quantity.start) is not None


def _is_single_year_cagr(figure: Figure) -> bool:
    """A compound growth rate needs several years."""
    return figure.quantity.change == "cagr" and figure.valid is not None and figure.valid.precision is Precision.YEAR


def _is_end_of_inherited_month(figure: Figure) -> bool:
    """「5月…。月末收盘价64美元」 is the end of the inherited month, not of the report's."""
    inherited, dated = figure.annotated.period, figure.dated
    month = inherited is not None and inherited.precision is Precision.MONTH
    return month and dated is not None and dated.text in {"月末", "月底"}


def _is_cumulative(figure: Figure) -> bool:
    """「7月废铝累计进口117万吨」 and 「6月出口4万吨，累计同比下降5%」 cover January to that month."""
    if (
        figure.valid is None
        or figure.valid.precision not in _SHORT_PRECISIONS
        or _STOCKS.search(figure.measurement.indicator.name)
    ):
        return False
    text, at = figure.annotated.text, figure.quantity.start
    begin = behind_last("；。：，（", text, at)
    return _CUMULATIVE.search(text, begin, at) is not None


def _is_single_month_of_range(figure: Figure) -> bool:
    """「当月出口3万吨」 after 1-4月 is not for all four months."""
    valid = figure.valid
    return valid is not None and valid.precision is Precision.RANGE and _ONE_MONTH.search(figure.clause) is not None


def _refers_to_earlier_period(figure: Figure) -> bool:
    """「财产险公司同期…」 refers to the period of an earlier sentence."""
    return figure.dated is None and _SAME_PERIOD.search(figure.annotated.text, 0, figure.quantity.start) is not None


TIME_REASONS = (
    _is_undated,
    _is_fiscal_year,
    _is_dated_by_multiple,
    _covers_longer_period,
    _is_single_year_cagr,
    _is_end_of_inherited_month,
    _is_cumulative,
    _is_single_month_of_range,
    _refers_to_earlier_period,
)
