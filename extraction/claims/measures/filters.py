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
    POINT_IN_TIME_INDICATORS,
    SHARES_OF_MARKET,
)
from extraction.context.places import LANDS, places_in
from extraction.context.surroundings import is_cut, is_part
from extraction.text.clauses import bracket_around, clause_start, statement_start
from extraction.text.lexicon import phrases
from kg.model import Kind
from kg.period import Precision
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from extraction.claims.measures.measurement import Figure


_JOINED = re.compile(r"(?P<before>.)(?:[、/]|和|与|及|以及)$")
_AMOUNT_END = re.compile(r"[\d%）)元吨辆台套只家个头]")
_PHRASES = phrases("measures/filters")
_COMPARISON = _PHRASES["comparison"]
_EARLIER_TIME = _PHRASES["earlier_time"]
_GUESSED_SCORE = 0.8  # linker score of a name missing from all lists
_CONDITION_END = re.compile("(?:以上|以下|左右)?(?:之?后|以后|时(?!间))(?!续|期|市)")
_BOUND = re.compile("[≥≤<>＜＞] ?$")
_RETURN = re.compile("收益率|净利率|净利润率|ROE|ROA")
_BUSINESS = re.compile(r"(?:的)?业务")
_EXCHANGE = _PHRASES["exchange"]
_EXCHANGE_INDICATORS = ("价格", "库存", "结算价", "收盘价", "期货价", "现货价")
_AMOUNTS = _PHRASES["amounts"]
_WHOLE_INDUSTRY = re.compile(r"行业|市场|全国|板块|产业")
_BARE_PRICE = re.compile("(?:平均)?(?:单价|均价|价格)")
_BARE_SHARE = re.compile("(?:(?:国内|全球)?市场)?(?:份额|占有率)|市占率")
_LABEL = re.compile("[^，。；：]{2,12}：")
_NATIONAL_COMPANY = _PHRASES["national_company"]
_INSIDE = re.compile("在[^，。；]{1,12}中的?(?:渗透率|份额|市占率|占有率)")
_DESCRIBED = _PHRASES["described"]
_INTRODUCED = _PHRASES["introduced"]
_PRICE_CHANGE = re.compile("(?:^|预期|预计|[年月周]|Q[1-4]|季度)[涨跌]幅")
_PRICED = ("价格", "价", "指数", "涨跌幅", "涨幅", "跌幅", "汇率", "运价")
_CONTRIBUTION = re.compile("带动|拉动|推动|驱动")
_REACHES = re.compile("[至达到为从由]")
_SEGMENT = _PHRASES["segment"]
_NARROW = re.compile("\\d|[高中低]端|线上|线下|[BCG]端|下沉|农村|城镇|县域")
_SHARED_QUANTITIES = ("需求", "消费量", "用量", "价值量", "成本")
_COUNT_UNITS = ("家", "个", "只", "名", "大", "")
_MEASURE = _PHRASES["measure"]
_HOME_OR_ABROAD = ("国内", "境内", "本土", "海外", "国外", "境外")
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME})


_REPORT_INDICATORS = ("每股收益", "EPS", "现金流", "现金流净额", "净资产收益率", "ROE")
_FISCAL = re.compile(r"财年|财季|FY")
_EXPECTED_YEAR = re.compile(r"[EAF]$")
_CUMULATIVE = re.compile("累计|累积|总共|合计")
_STOCK_LEVELS = re.compile("(?<!新增)装机|保有量|用户|门店|存栏|库存|产能|订单|规模")  # stocks at a date
_ONE_MONTH = re.compile("当月|单月|当季|单季")
_EARLIER_PERIOD = Prefiltered("(?<![年月周季])(?<!较)(?<!比)(?<!与)(?<!于)同期(?!相比|的?(?:水平|高|低))")
_FLOWS = (
    *("销量", "产量", "出货量", "交付量", "进口量", "出口量", "消费量", "发电量"),
    *("成交量", "成交额", "成交面积", "换手率", "下载量", "销售额"),
)
_LONGER_MOVE = _PHRASES["longer_move"]
_SHORT_PRECISIONS = frozenset({Precision.MONTH, Precision.WEEK})
_EIGHT_DAYS = timedelta(days=8)


def is_doubtful(figure: Figure) -> bool:
    """Return whether any filter applies to the figure."""
    return any(reason(figure) for reason in REASONS)


def _is_joint_subject(figure: Figure) -> bool:
    """「光伏、风电投资占比60%」 is for both together."""
    if figure.listed:
        return False
    measurement = figure.measurement
    start = measurement.subject.start if measurement.subject.start >= 0 else measurement.indicator.start
    joined = _JOINED.search(figure.annotated.text, 0, max(start, 0))
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
    """Product sales below a heading or label with a company may be the company's or the industry's."""
    measurement, annotated = figure.measurement, figure.annotated
    if (
        not annotated.company_scope
        or measurement.subject.kind == Kind.COMPANY
        or places_in(measurement.scope, annotated.refs)
    ):
        return False
    name = measurement.indicator.name
    is_company_figure = (measurement.indicator.about and name.endswith(COMPANY_HEADS)) or name in COMPANY_INDICATORS
    return is_company_figure and (name.endswith(EARNED) or not _WHOLE_INDUSTRY.search(figure.clause))


def _belongs_to_unnamed_company(figure: Figure) -> bool:
    """「储能业务营收」 belongs to a company that the line does not name."""
    subject, indicator = figure.measurement.subject, figure.measurement.indicator
    if subject.kind == Kind.COMPANY:
        return False
    behind = indicator.owner_end if indicator.owner_end > 0 else subject.end
    return behind > 0 and _BUSINESS.match(figure.annotated.text, behind) is not None


def _subject_is_unlisted(figure: Figure) -> bool:
    """「某某科技：储能收入3亿元」: a company figure belongs to that unlisted company."""
    subject, name = figure.measurement.subject, figure.measurement.indicator.name
    if not figure.annotated.is_unlisted_company or subject.kind == Kind.COMPANY:
        return False
    return name.endswith(COMPANY_HEADS) or name in COMPANY_INDICATORS


def _omits_segment(figure: Figure) -> bool:
    """「10-20万元轿车市场，渗透率30%」: the preceding clause restricts the figure, the extracted subject does not."""
    measurement, label = figure.measurement, _SEGMENT.match(figure.annotated.text)
    if label is None or label.end() > figure.quantity.start or not _NARROW.search(label["name"]):
        return False
    named = measurement.subject.name + measurement.scope + measurement.indicator.name
    written = figure.annotated.text[max(measurement.subject.start, 0) : max(measurement.subject.end, 0)]
    return label["name"] not in named and label["name"] != written


def _scope_is_enumeration(figure: Figure) -> bool:
    """A scope with 、 is an enumeration of names, not a restriction, unless all are places."""
    scope = figure.measurement.scope
    if "、" not in scope or scope.startswith("占"):
        return False
    places = {name for _, name in places_in(figure.annotated.text, figure.annotated.refs)}
    return "分别" in figure.clause or not places.issuperset(scope.split("、"))


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


def _follows_unread_figure(figure: Figure) -> bool:
    """「工程机械：升降平台售出10万台，出口6万台」 has the label as subject although an earlier figure was not read."""
    subject, annotated = figure.measurement.subject, figure.annotated
    first = next((each for each in annotated.quantities if each.unit not in _COUNT_UNITS), None)
    if subject.start >= 0 or subject.kind not in _THINGS or first is None:
        return False
    if first.end > figure.measurement.indicator.start or first.change:
        return False
    has_measure = _MEASURE.search(annotated.text, 0, first.start) or "面积" in annotated.text[: first.start]
    return not has_measure and not any(ref.kind == Kind.INDICATOR and ref.start < first.start for ref in annotated.refs)


def _is_trade_in_goods(figure: Figure) -> bool:
    """「非洲：出口金额15亿元」 below a product heading is not total trade."""
    subject, name = figure.measurement.subject, figure.measurement.indicator.name
    label = _LABEL.match(figure.annotated.text)
    labelled = label is not None and subject.start < label.end()
    if figure.quantity.unit == "批" and "批" not in name:
        return True  # approved lots, 「进口234批」
    goods = figure.before is not None and figure.before.measurement.subject.kind in _THINGS
    return subject.kind == Kind.REGION and name.startswith(("出口", "进口")) and (labelled or goods)


def _is_not_index_move(figure: Figure) -> bool:
    """「净利率变化：某某板块（+0.8pct）」 is not a move of an index."""
    if not figure.measurement.indicator.name.endswith("指数") or not figure.quantity.change:
        return False
    has_measure = _MEASURE.search(figure.annotated.text, 0, figure.quantity.start) is not None
    return figure.quantity.unit in ("pct", "bp") or (has_measure and "指数" not in figure.clause)


def _subject_changed_since_label(figure: Figure) -> bool:
    """「新能源：…。风电装机5GW；累计装机50GW」: the last sentence measured another subject than the label's."""
    subject, before = figure.measurement.subject, figure.before
    if before is None or figure.annotated.starts_block or subject.start >= 0 or subject.kind not in _THINGS:
        return False
    other = before.measurement.subject
    alike = other.entity == subject.entity or other.name in subject.name or subject.name in other.name
    return figure.annotated.subject == subject and other.start >= 0 and not alike


def _is_foreign_home_market(figure: Figure) -> bool:
    """「日本：…，海外订单占比40%」: 海外 is relative to Japan."""
    region = figure.annotated.region
    return region is not None and region.name in LANDS and figure.measurement.scope.startswith(_HOME_OR_ABROAD)


def _is_change_of_growth_rate(figure: Figure) -> bool:
    """「营收同比-2.5%，较2023年下降3.0个百分点」: the second is a change of the growth rate, not of revenue."""
    return figure.quantity.unit in ("pct", "bp") and _AMOUNTS.search(figure.measurement.indicator.name) is not None


def _is_level_or_fall(figure: Figure) -> bool:
    """「净资产收益率-1.4%」 may be a negative rate or its decrease."""
    rate = _RETURN.search(figure.measurement.indicator.name)
    return rate is not None and figure.quantity.change == "change" and figure.quantity.number < 0


def _is_named_in_bracket(figure: Figure) -> bool:
    """「大公司（市值百亿元）上涨75%」, 「前三家（甲、乙、丙）产能」: a name in brackets is not the later subject."""
    text, measurement = figure.annotated.text, figure.measurement
    named = min((each.start for each in (measurement.subject, measurement.indicator) if each.start >= 0), default=0)
    content = bracket_around(text, named, named, before=figure.quantity.start)
    return content is not None and content != text[named : measurement.subject.end]  # not 「APT（仲钨酸铵）价格」


def _exchange_is_unstated(figure: Figure) -> bool:
    """「LME铜价下跌1%，铝价下跌0.7%」: the second may be at the same exchange."""
    measurement, text = figure.measurement, figure.annotated.text
    if not measurement.indicator.name.endswith(_EXCHANGE_INDICATORS):
        return False
    start = min(
        each for each in (measurement.indicator.start, measurement.subject.start, figure.quantity.start) if each >= 0
    )
    begin = statement_start(text, start)
    exchanges = list(_EXCHANGE.finditer(text, begin, start))
    names_exchange = _EXCHANGE.search(measurement.scope + text[start : measurement.indicator.end])
    if not exchanges or names_exchange:
        return False
    return any(exchanges[-1].end() <= each.start and each.end <= start for each in figure.annotated.quantities)


def _is_trade_price(figure: Figure) -> bool:
    """「出口量250万台；均价69美元」 is the export price."""
    return figure.traded and _BARE_PRICE.match(figure.clause) is not None


def _share_holder_is_unstated(figure: Figure) -> bool:
    """A market share usually belongs to the current topic: 「某公司：干法设备市占率60%」."""
    measurement, text = figure.measurement, figure.annotated.text
    if measurement.subject.kind == Kind.COMPANY or not measurement.indicator.name.endswith(SHARES_OF_MARKET):
        return False
    label = _LABEL.match(text)
    above = (
        label is not None
        and label.end() <= figure.measurement.indicator.start
        and measurement.subject.name not in label[0]
    )
    return above or _BARE_SHARE.match(figure.clause) is not None


def _is_national_company(figure: Figure) -> bool:
    """「中国某某营收202亿元」 usually belongs to a company."""
    subject, head = (
        figure.measurement.subject,
        figure.measurement.indicator.name.removeprefix(figure.measurement.subject.name),
    )
    if subject.kind == Kind.COMPANY or head not in COMPANY_INDICATORS:
        return False
    return _NATIONAL_COMPANY.search(figure.annotated.text, 0, figure.quantity.start) is not None


def _belongs_to_component(figure: Figure) -> bool:
    """「某某芯片在AI手机中渗透率达20%」 belongs to the chip."""
    measurement, text = figure.measurement, figure.annotated.text
    if not measurement.indicator.name.endswith(("渗透率", *SHARES_OF_MARKET)):
        return False
    begin = clause_start(text, figure.quantity.start)
    return _INSIDE.search(text, begin, figure.quantity.start) is not None


def _belongs_to_described_subject(figure: Figure) -> bool:
    """「…某某为唯一的企业，产能3万吨」, 「某某为新品，收入3亿元」: the figure belongs to 某某."""
    measurement, text = figure.measurement, figure.annotated.text
    before = text[: figure.quantity.start - len(figure.clause)]
    if not measurement.indicator.name.endswith(COMPANY_HEADS) or measurement.subject.name in figure.clause:
        return False
    if measurement.subject.kind == Kind.COMPANY:  # named by the heading or label
        return measurement.subject.start < 0 and _INTRODUCED.search(before) is not None
    return _DESCRIBED.search(before) is not None


def _is_price_change(figure: Figure) -> bool:
    """「订单显著增加，预期涨幅8%」: only prices and indices have a 涨幅."""
    return _PRICE_CHANGE.search(figure.clause) is not None and not figure.measurement.indicator.name.endswith(_PRICED)


def _is_contribution(figure: Figure) -> bool:
    """「快充每多一成，带动石墨需求8万吨」 is an increment, 「拉动增速0.3个百分点」 a contribution."""
    contribution = _CONTRIBUTION.search(figure.clause)
    if contribution is None or figure.quantity.change in ("yoy", "qoq", "mom", "wow", "cagr"):
        return False
    if figure.quantity.change:
        return contribution[0] == "拉动" and (figure.quantity.unit != "%" or "增速" in figure.clause)
    return not _REACHES.search(figure.clause, contribution.end())


def _has_no_unit(figure: Figure) -> bool:
    """「营收52亿」 lacks a currency, 「出货量3亿」 a counted unit."""
    return not figure.quantity.unit


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
    short = bool(valid.start and valid.end and valid.end - valid.start <= _EIGHT_DAYS)
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
    if (
        valid is None
        or not (valid.start and valid.end)
        or valid.end - valid.start > _EIGHT_DAYS
        or figure.dated is not None
    ):
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


def _refers_to_earlier_period(figure: Figure) -> bool:
    """「财产险公司同期…」 refers to the period of an earlier sentence."""
    return figure.dated is None and _EARLIER_PERIOD.search(figure.annotated.text, 0, figure.quantity.start) is not None


REASONS = (
    _subject_is_guessed,  # first, as it applies to one figure in four
    _is_undated,
    _is_fiscal_year,
    _is_dated_by_multiple,
    _covers_longer_period,
    _is_single_year_cagr,
    _is_end_of_inherited_month,
    _is_cumulative,
    _is_single_month_of_range,
    _refers_to_earlier_period,
    _has_no_unit,
    _is_contribution,
    _belongs_to_component,
    _belongs_to_described_subject,
    _is_price_change,
    _is_trade_price,
    _share_holder_is_unstated,
    _is_national_company,
    _is_joint_subject,
    _compares_with_other_thing,
    _may_belong_to_heading_company,
    _belongs_to_unnamed_company,
    _is_level_or_fall,
    _is_named_in_bracket,
    _exchange_is_unstated,
    _subject_is_unlisted,
    _omits_segment,
    _scope_is_enumeration,
    _label_is_partial,
    _is_condition,
    _whole_is_unstated,
    _measured_thing_is_unstated,
    _subject_changed_since_label,
    _follows_unread_figure,
    _is_trade_in_goods,
    _is_not_index_move,
    _is_foreign_home_market,
    _is_change_of_growth_rate,
)
