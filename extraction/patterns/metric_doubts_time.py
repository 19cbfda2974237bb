"""Reasons to doubt a measured figure's time: it may be of another month, sum or year than its reading says."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.first_letters import Prefiltered
from extraction.patterns.metric_words import AT_A_DAY, EARNED, OF_A_TIME
from extraction.sentences import behind_last
from kg.period import Precision

if TYPE_CHECKING:
    from extraction.patterns.metric_figure import Figure

_OF_A_REPORT = ("每股收益", "EPS", "现金流", "现金流净额", "净资产收益率", "ROE")
_FISCAL = re.compile(r"财年|财季|FY")
_EXPECTED_YEAR = re.compile(r"[EAF]$")
_SUMMED = re.compile("累计|累积|总共|合计")
_HELD = re.compile("(?<!新增)装机|保有量|用户|门店|存栏|库存|产能|订单|规模")  # what has added up by a day
_ONE_MONTH = re.compile("当月|单月|当季|单季")
_SAME_PERIOD = Prefiltered("(?<![年月周季])(?<!较)(?<!比)(?<!与)(?<!于)同期(?!相比|的?(?:水平|高|低))")
_FLOWS = (
    *("销量", "产量", "出货量", "交付量", "进口量", "出口量", "消费量", "发电量"),
    *("成交量", "成交额", "成交面积", "换手率", "下载量", "销售额"),
)
_LONGER_MOVE = re.compile(
    "(?<![一二三四五六七八九十\\d])[月季年]度?(?:累计)?(?:涨跌|涨|跌|升|降)幅|近[一1]?个?[月季年]|年初至今"
)
_WEEK = timedelta(days=8)
_ONE_STEP = frozenset({Precision.MONTH, Precision.WEEK})


def _undated(figure: Figure) -> bool:
    """Revenue, a flow or an index's move of no time says nothing; revenue of a day or a week is the report's."""
    name, valid = figure.reading.indicator.name, figure.valid
    moved = name.endswith(("指数", "涨幅", "跌幅")) and bool(figure.quantity.change)
    if moved and _until(figure):
        return True  # 「截至11月25日，板块上涨5%」: since when
    if _until(figure) and name.endswith(_FLOWS) and "/" not in figure.quantity.unit and "周" not in figure.clause:
        return True  # 「截至6月汽车产量1562万辆」: so are sums
    if valid is None:
        return moved or name in OF_A_TIME or name.endswith(_FLOWS)
    short = bool(valid.start and valid.end and valid.end - valid.start <= _WEEK)
    return short and (name.endswith(_OF_A_REPORT) or (name in OF_A_TIME and name.endswith(EARNED)))


def _until(figure: Figure) -> bool:
    return figure.dated is not None and figure.dated.text.startswith(("截至", "截止"))


def _of_a_fiscal_year(figure: Figure) -> bool:
    """A financial year need not be the calendar's: Q1 of 2026 may lie in 2025."""
    return figure.dated is not None and _FISCAL.search(figure.dated.text) is not None


def _behind_a_multiple(figure: Figure) -> bool:
    """「2025E市盈率10.9倍，股息率4.6%」: the year is the multiple's."""
    dated, text = figure.dated, figure.annotated
    if dated is None or figure.reading.indicator.name not in AT_A_DAY or not _EXPECTED_YEAR.search(dated.text):
        return False
    return any(dated.end <= each.start < figure.quantity.start for each in text.quantities)


def _of_another_step(figure: Figure) -> bool:
    """「月跌幅最大：某某（-5%）」 is not of the heading's week."""
    valid = figure.valid
    if valid is None or not (valid.start and valid.end) or valid.end - valid.start > _WEEK or figure.dated is not None:
        return False
    return _LONGER_MOVE.search(figure.annotated.text, 0, figure.quantity.start) is not None


def _of_one_year(figure: Figure) -> bool:
    """A compound rate is that of years."""
    return figure.quantity.change == "cagr" and figure.valid is not None and figure.valid.precision is Precision.YEAR


def _at_an_unsaid_end(figure: Figure) -> bool:
    """「5月…。月末收盘价64美元」 is of the month spoken of, not of the note's."""
    told, dated = figure.annotated.period, figure.dated
    month = told is not None and told.precision is Precision.MONTH
    return month and dated is not None and dated.text in {"月末", "月底"}


def _of_a_sum(figure: Figure) -> bool:
    """「7月废铝累计进口117万吨」 is of January to July, 「6月出口4万吨，累计同比下降5%」 as well."""
    if figure.valid is None or figure.valid.precision not in _ONE_STEP or _HELD.search(figure.reading.indicator.name):
        return False
    text, at = figure.annotated.text, figure.quantity.start
    begin = behind_last("；。：，（", text, at)
    return _SUMMED.search(text, begin, at) is not None


def _of_one_month(figure: Figure) -> bool:
    """「当月出口3万吨」 behind 1-4月 is not of all four."""
    valid = figure.valid
    return valid is not None and valid.precision is Precision.RANGE and _ONE_MONTH.search(figure.clause) is not None


def _of_the_same_period(figure: Figure) -> bool:
    """「财产险公司同期…」 is of the period of one of the sentences before."""
    return figure.dated is None and _SAME_PERIOD.search(figure.annotated.text, 0, figure.quantity.start) is not None


OF_ANOTHER_TIME = (
    _undated,
    _of_a_fiscal_year,
    _behind_a_multiple,
    _of_another_step,
    _of_one_year,
    _at_an_unsaid_end,
    _of_a_sum,
    _of_one_month,
    _of_the_same_period,
)
