"""Filters for doubtful figures, which may belong to another subject or period than extracted.

Doubtful figures are not stored (Settings.min_confidence); `liantu extract --min-confidence 0` shows them.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.claims.measures.words import (
    COMPANY_HEADS,
    COMPANY_INDICATORS,
    EARNED,
    PERIOD_INDICATORS,
    SHARES_OF_MARKET,
    home_currency,
)
from extraction.context.places import places_in
from extraction.context.surroundings import is_cut, is_part
from extraction.quantities.units import ONLY_OF
from extraction.text.clauses import bracket_around, clause_start
from extraction.text.lexicon import phrases
from kg.model import Kind
from kg.period import Precision

if TYPE_CHECKING:
    from extraction.claims.measures.measurement import Figure


_JOINED = re.compile(r"(?P<before>.)(?:[、/]|和|与|及|以及)$")
_AMOUNT_END = re.compile(r"[\d%）)元吨辆台套只家个头]")
_PHRASES = phrases("measures/filters")
_COMPARISON = _PHRASES["comparison"]
_EARLIER_TIME = _PHRASES["earlier_time"]
_GUESSED_SCORE = 0.8  # linker score of a name missing from all lists
_CONDITION_END = re.compile(
    "(?:以上|以下|左右)?(?:(?:之?后|以后|时(?!间))(?!续|期|市)"
    "|的(?:包括|(?:国家|地区|省份|城市|企业|公司|个股|厂商|品牌|标的|基金|产品|品种)(?:有|共|占|数量|达|为)))"
)
_UNREAD_DATE = re.compile(r"(?<![.A-Za-z-])(?<!-\d)\d{1,3}M ?'?\d\d(?![\dA-Za-z.])")
_ACTING_FIRM = re.compile("(?:^|[，；：。年月日季度期间])(?:公司|集团)(?:在|于|实现|累计|共|全年|合计|主要)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"20\d\d年\d{1,2}月\d{1,2}日")
_OF_SOME = re.compile("[%成]的$")
_POWER = re.compile(r"10*(?![\d.])")
_CHART = re.compile(r"(?:-?\d+\.\d+%){3}")  # the labels of a chart in flattened text
_GROWTH = re.compile("增速|[增降涨跌]幅")
_GOES_ON = re.compile("，?再[^，。；\\d]{0,4}[至到]")
_BOUND = re.compile("[≥≤<>＜＞] ?$")
_AMOUNTS = _PHRASES["amounts"]
_PLANNED, _EXAMPLE = re.compile("计划|拟|投资|项目|投产"), re.compile("以[^，。；]{2,20}为例")
_WITHIN = re.compile("在(?:整个|全球|国内|我国|中国|全国|海外)*$")
_BUSINESS = re.compile(r"(?:的|自营|自有|其他|核心|主营|产品)?业务")
_OF_COMPANY = re.compile("(?:(?:公司|集团|旗下|自身)(?:的|主要|核心|主力)?|占比最[大高]的)$")
_MARKET_SIZE = re.compile("市场(?:总体|整体|总)?(?:规模|空间|容量)$")
_WHOLE_INDUSTRY = re.compile(r"行业|市场|全国|板块|产业")
_BARE_PRICE = re.compile("(?:平均)?(?:单价|均价|价格)")
_BARE_SHARE = re.compile("(?:(?:国内|全球)?市场)?(?:份额|占有率)|市占率")
_LABEL = re.compile("[^，。；：]{2,12}：")
_SHARED_QUANTITIES = ("需求", "消费量", "用量", "价值量", "成本", "投资", "投入")
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME})


_REPORT_INDICATORS = ("每股收益", "EPS", "现金流", "现金流净额", "净资产收益率", "ROE")
_FISCAL = re.compile(r"财政?年|财务年|财季|FY")
_ONE_MONTH = re.compile("当月|单月|当季|单季")
_CONTRIBUTION = re.compile("带动|拉动|推动|驱动")
_REACHES = re.compile("[至达到为从由]")
_MEASURE = re.compile("营收|收入|利润|利率|费用|净利|毛利|订单|销量|产量")
_CUMULATIVE = re.compile("累计|累积|总共|合计")
_STOCK_LEVELS = re.compile("(?<!新增)装机|保有量|用户|门店|存栏|库存|产能|订单|规模")  # stocks at a date
_FLOWS = (
    *("销量", "产量", "出货量", "交付量", "进口量", "出口量", "消费量", "发电量"),
    *("成交量", "成交额", "成交面积", "换手率", "下载量", "销售额"),
)
_SHORT_PRECISIONS = frozenset({Precision.MONTH, Precision.WEEK})
_EIGHT_DAYS, _A_YEAR = timedelta(days=8), timedelta(days=366)


def is_doubtful(figure: Figure) -> bool:
    """Return whether any filter applies to the figure."""
    return any(reason(figure) for reason in REASONS)


def _is_joint_subject(figure: Figure) -> bool:
    """「光伏、风电投资占比60%」 is for both together."""
    if figure.listed:
        return False
    measurement = figure.measurement
    start = measurement.subject.start if measurement.subject.start >= 0 else measurement.indicator.start
    text = figure.annotated.text
    if text[start - 1 : start] == "（":  # 「甲、乙（丙）合计…」: 丙 is another name of 乙
        start = max(map(text[: start - 1].rfind, "、与和及")) + 1 or start
    joined = _JOINED.search(text, 0, max(start, 0))
    return joined is not None and not _AMOUNT_END.match(joined["before"])


def _compares_with_other_thing(figure: Figure) -> bool:
    """「较HBM2E+80%」 is not a change over time."""
    if not figure.quantity.change or figure.quantity.change == "share":
        return False
    clause = figure.clause
    for dated in figure.annotated.periods:
        clause = clause.replace(dated.text, "")
    comparisons = list(_COMPARISON.finditer(clause))
    return bool(comparisons) and bool(_EARLIER_TIME.sub("", comparisons[-1]["what"]))


def _may_belong_to_heading_company(figure: Figure) -> bool:
    """Product sales below a company's heading or label, or behind its figures, may be its own or the industry's."""
    measurement, annotated = figure.measurement, figure.annotated
    before = figure.before if figure.joined else None
    continues = before is not None and before.measurement.subject.kind == Kind.COMPANY
    under = annotated.subject is not None and annotated.subject.kind == Kind.COMPANY
    own_place = measurement.scope in annotated.text and places_in(measurement.scope, annotated.refs)
    if not (annotated.company_scope or continues or under) or measurement.subject.kind == Kind.COMPANY or own_place:
        return False
    name = measurement.indicator.name
    is_company_figure = (measurement.indicator.about and name.endswith(COMPANY_HEADS)) or name in COMPANY_INDICATORS
    return is_company_figure and (name.endswith(EARNED) or not _WHOLE_INDUSTRY.search(figure.clause))


def _belongs_to_unnamed_company(figure: Figure) -> bool:
    """「储能业务营收」 and 「公司软镜产品市占率」 belong to a company that the line does not name."""
    subject, indicator, text = figure.measurement.subject, figure.measurement.indicator, figure.annotated.text
    if subject.kind == Kind.COMPANY:
        return False
    behind = indicator.owner_end if indicator.owner_end > 0 else subject.end
    if behind > 0 and _BUSINESS.match(text, behind) is not None:
        return True
    if _ACTING_FIRM.search(text[clause_start(text, max(subject.start, 0)) : max(subject.start, 0)]):
        return True  # 「公司在国内实现乘用车销量181万辆」
    if figure.segments and indicator.name.endswith(EARNED):
        return True
    opening = next((ref for ref in figure.annotated.refs if ref.start == 0), None)
    if opening and opening.kind == Kind.COMPANY and text.startswith("方面，", opening.end) and subject.start > 0:
        return True  # 「甲公司方面，2024年代工均价增速…」
    planned = (
        indicator.name.endswith("产能")
        and "新增产能" in text
        and _PLANNED.search(text)
        and not _WHOLE_INDUSTRY.search(figure.clause)
    )
    if planned or _EXAMPLE.search(text, 0, figure.quantity.start):
        return True  # 「以中国移动为例，5G用户占比…」
    owned = subject.start > 0 and _OF_COMPANY.search(text, 0, subject.start) is not None
    name = text[indicator.start : indicator.owner_end] if indicator.owner_end > 0 else subject.name
    return owned or f"的{name}业务" in text[: max(indicator.start, 0)]


def _is_no_figure_of_a_firm(figure: Figure) -> bool:
    """「某某研究院整理，全球靶材市场规模163亿美元」: no firm has the size of a market."""
    measurement = figure.measurement
    if measurement.subject.kind != Kind.COMPANY:
        return False
    written = figure.annotated.text[: max(measurement.indicator.end, 0)]
    return _MARKET_SIZE.search(measurement.indicator.name) is not None or _MARKET_SIZE.search(written) is not None


def _label_is_partial(figure: Figure) -> bool:
    """「L3自动驾驶：渗透率15%」 is not for 自动驾驶 as a whole."""
    subject, text = figure.measurement.subject, figure.annotated.text
    colon = text.find("：", max(subject.end, 0))
    if subject.start < 0 or not 0 <= colon < figure.quantity.start or figure.measurement.indicator.start < colon:
        return False
    return is_cut(text, subject, figure.annotated.refs) or is_part(text[: colon + 1], subject)


def _is_condition(figure: Figure) -> bool:
    """「渗透率超过20%后，增速放缓」 and 「市值≥100亿元的公司」 state conditions, not measurements."""
    text, quantity = figure.annotated.text, figure.quantity
    return _CONDITION_END.match(text, quantity.end) is not None or _BOUND.search(text[: quantity.start]) is not None


def _is_midway(figure: Figure) -> bool:
    """「2025-2027年渗透率从10%提升至50%，再到80%」: 50% is of none of the named years."""
    return _GOES_ON.match(figure.annotated.text, figure.quantity.end) is not None


def _subject_is_guessed(figure: Figure) -> bool:
    """Half of the products known only to the name model are fragments of other names."""
    subject = figure.measurement.subject
    return subject.kind in (Kind.PRODUCT, Kind.INDUSTRY) and subject.score <= _GUESSED_SCORE


def _whole_is_unstated(figure: Figure) -> bool:
    """「军工：需求占比11%」 is a share in the demand for something else."""
    shared = figure.quantity.change == "share" and not figure.measurement.scope.startswith("占")
    return shared and figure.measurement.indicator.name.endswith(_SHARED_QUANTITIES)


def _measured_thing_is_unstated(figure: Figure) -> bool:
    """「甲公司：获得订单，金额1亿元」, 「CPU性能提升2倍」: the measured thing is unstated."""
    name = figure.measurement.indicator.name
    return name.endswith(("性能", "能效")) or (
        figure.measurement.subject.kind == Kind.COMPANY and name in {"金额", "总额", "数量"}
    )


def _is_named_in_bracket(figure: Figure) -> bool:
    """「大公司（市值百亿元）上涨75%」, 「前三家（甲、乙、丙）产能」: a name in brackets is not the later subject."""
    text, measurement = figure.annotated.text, figure.measurement
    named = min((each.start for each in (measurement.subject, measurement.indicator) if each.start >= 0), default=0)
    content = bracket_around(text, named, named, before=figure.quantity.start)
    return content is not None and content != text[named : measurement.subject.end]  # not 「APT（仲钨酸铵）价格」


def _is_trade_price(figure: Figure) -> bool:
    """「出口量250万台；均价69美元」 is the export price, and a month's exports date no other price."""
    other = figure.dated is None and figure.measurement.indicator.name.endswith("价格")
    return figure.traded and (other or _BARE_PRICE.match(figure.clause) is not None)


def _share_holder_is_unstated(figure: Figure) -> bool:
    """A market share usually belongs to the current topic: 「某公司：干法设备市占率60%」."""
    measurement, text = figure.measurement, figure.annotated.text
    if measurement.subject.kind == Kind.COMPANY or not measurement.indicator.name.endswith(SHARES_OF_MARKET):
        return False
    if measurement.subject.start > 0 and _WITHIN.search(text, 0, measurement.subject.start):
        return True  # 「扫地机在整个清洁电器市场的份额」
    label = _LABEL.match(text)
    above = (
        label is not None
        and label.end() <= figure.measurement.indicator.start
        and measurement.subject.name not in label[0]
    )
    return above or _BARE_SHARE.match(figure.clause) is not None


def _counts_something_else(figure: Figure) -> bool:
    """「生猪出栏量42亿羽」 counts poultry."""
    things, indicator = ONLY_OF.get(figure.quantity.unit), figure.measurement.indicator
    return things is not None and not things.search(
        f"{indicator.owner or figure.measurement.subject.name}{indicator.name}"
    )


def _is_running_head(figure: Figure) -> bool:
    """「某某证券2021年5月12日公司2020年收入…」: a broker and a day are the running head of a flattened page."""
    subject, text = figure.measurement.subject, figure.annotated.text
    if _CHART.search(text):
        return True
    return subject.name.endswith("证券") and subject.end > 0 and _DAY.match(text, subject.end) is not None


def _is_unit_of_chart(figure: Figure) -> bool:
    """「图7：全球空调市场规模（10亿美元）」: a power of ten alone in brackets is a unit."""
    text, quantity = figure.annotated.text, figure.quantity
    alone = text[quantity.start - 1 : quantity.end + 1] == f"（{quantity.text}）"
    return alone and _POWER.match(quantity.text) is not None


def _is_of_a_sample(figure: Figure) -> bool:
    """「样本医院销售额3.84亿元」 are sales of a drug in these hospitals."""
    measurement, text = figure.measurement, figure.annotated.text
    if measurement.subject.start > 0 and _OF_SOME.search(text, 0, measurement.subject.start):
        return True  # 「14%的药店销售额下降25%」
    sold = measurement.indicator.name.endswith(("销售额", "销售规模", "销售金额", "用药金额"))
    return sold and measurement.subject.start > 0 and text.endswith("样本", 0, measurement.subject.start)


def _has_no_unit(figure: Figure) -> bool:
    """「营收52亿」 lacks a currency, 「出货量3亿」 a counted unit."""
    return not figure.quantity.unit


def _is_undated(figure: Figure) -> bool:
    """Revenue, flows and index moves need a period; revenue for a day or week is the report's date."""
    name, valid = figure.measurement.indicator.name, figure.valid
    moved = name.endswith(("指数", "涨幅", "跌幅")) and bool(figure.quantity.change)
    if moved and figure.dated is None and valid and valid.start and valid.end and valid.end - valid.start > _A_YEAR:
        return True
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
    short = bool(valid.start and valid.end and valid.end - valid.start <= _EIGHT_DAYS)
    earned = name.endswith(EARNED) and (name in PERIOD_INDICATORS or figure.dated is None)
    return short and (name.endswith(_REPORT_INDICATORS) or earned)


def _period_is_unread(figure: Figure) -> bool:
    """「11M20出货量」: November 2020 or the months until then."""
    if _YEAR.search(figure.measurement.scope):
        return True  # 「2025全球汽车芯片市场」
    found = _UNREAD_DATE.search(figure.annotated.text, 0, figure.quantity.start)
    if found is None or (figure.dated and figure.dated.start >= found.end()):
        return False
    return not any(each.start < found.end() and found.start() < each.end for each in figure.annotated.periods)


def _is_cutoff_date(figure: Figure) -> bool:
    return figure.dated is not None and figure.dated.text.startswith(("截至", "截止"))


def _is_fiscal_year(figure: Figure) -> bool:
    """A fiscal year may differ from the calendar year, except on the mainland: Q1 of 2026 may lie in 2025."""
    if figure.annotated.fiscal or home_currency(figure.measurement.subject.entity):
        return False
    return figure.dated is not None and _FISCAL.search(figure.dated.text) is not None


def _is_single_year_cagr(figure: Figure) -> bool:
    """A compound growth rate needs several years."""
    span = figure.valid.precision if figure.valid else Precision.RANGE
    return figure.quantity.change == "cagr" and span is not Precision.RANGE


def _is_cumulative(figure: Figure) -> bool:
    """「7月废铝累计进口117万吨」 and 「6月出口4万吨，累计同比下降5%」 cover January to that month."""
    if (
        figure.valid is None
        or figure.valid.precision not in _SHORT_PRECISIONS
        or _STOCK_LEVELS.search(figure.measurement.indicator.name)
    ):
        return False
    text, at = figure.annotated.text, figure.quantity.start
    begin = max(clause_start(text, at), text.rfind("（", 0, at) + 1)
    return _CUMULATIVE.search(text, begin, at) is not None


def _is_single_month_of_range(figure: Figure) -> bool:
    """「当月出口3万吨」 after 1-4月 is not for all four months."""
    valid = figure.valid
    return valid is not None and valid.precision is Precision.RANGE and _ONE_MONTH.search(figure.clause) is not None


def _is_contribution(figure: Figure) -> bool:
    """「快充每多一成，带动石墨需求8万吨」 is an increment, 「拉动增速0.3个百分点」 a contribution."""
    contribution = _CONTRIBUTION.search(figure.clause)
    if contribution is None or figure.quantity.change in ("yoy", "qoq", "mom", "wow", "cagr"):
        return False
    if figure.quantity.change:
        return contribution[0] == "拉动" and (figure.quantity.unit != "%" or "增速" in figure.clause)
    return not _REACHES.search(figure.clause, contribution.end())


def _is_not_index_move(figure: Figure) -> bool:
    """「净利率变化：某某板块（+0.8pct）」 is not a move of an index."""
    if not figure.measurement.indicator.name.endswith("指数") or not figure.quantity.change:
        return False
    has_measure = _MEASURE.search(figure.annotated.text, 0, figure.quantity.start) is not None
    return figure.quantity.unit in ("pct", "bp") or (has_measure and "指数" not in figure.clause)


def _is_trade_in_goods(figure: Figure) -> bool:
    """「非洲：出口金额15亿元」 below a product heading is not total trade."""
    subject, name = figure.measurement.subject, figure.measurement.indicator.name
    label = _LABEL.match(figure.annotated.text)
    labelled = label is not None and subject.start < label.end()
    if figure.quantity.unit == "批" and "批" not in name:
        return True  # approved lots, 「进口234批」
    goods = figure.before is not None and figure.before.measurement.subject.kind in _THINGS
    return subject.kind == Kind.REGION and name.startswith(("出口", "进口")) and (labelled or goods)


def _is_change_of_growth_rate(figure: Figure) -> bool:
    """「营收同比-2.5%，较2023年下降3.0个百分点」, 「余额同比-0.8%，降幅收窄0.5个百分点」: growth changed."""
    if figure.quantity.unit not in {"pct", "bp"}:
        return False
    indicator, text = figure.measurement.indicator, figure.annotated.text
    begin = max(indicator.end, clause_start(text, figure.quantity.start))
    return bool(_AMOUNTS.search(indicator.name) or _GROWTH.search(text, begin, figure.quantity.start))


REASONS = (
    _subject_is_guessed,  # first, as it applies to one figure in four
    _is_undated,
    _period_is_unread,
    _is_fiscal_year,
    _is_single_year_cagr,
    _is_cumulative,
    _is_single_month_of_range,
    _has_no_unit,
    _counts_something_else,
    _is_running_head,
    _is_unit_of_chart,
    _is_of_a_sample,
    _is_contribution,
    _is_trade_price,
    _share_holder_is_unstated,
    _is_joint_subject,
    _compares_with_other_thing,
    _may_belong_to_heading_company,
    _belongs_to_unnamed_company,
    _is_no_figure_of_a_firm,
    _is_named_in_bracket,
    _label_is_partial,
    _is_condition,
    _is_midway,
    _whole_is_unstated,
    _measured_thing_is_unstated,
    _is_trade_in_goods,
    _is_not_index_move,
    _is_change_of_growth_rate,
)
