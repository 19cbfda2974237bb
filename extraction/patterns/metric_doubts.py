"""Reasons to doubt a measured figure: it may be of another time, thing or firm than its reading says.

A doubtful reading is shown by `liantu extract` and not stored by `liantu ingest` (Settings.least_confidence).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.context import is_cut, is_part
from extraction.patterns.metric_words import AT_A_DAY, COMPANY_HEADS, OF_A_TIME, OF_FIRMS, SHARES_OF_MARKET
from extraction.places import places_in
from kg.model import Kind
from kg.period import Precision

if TYPE_CHECKING:
    from extraction.annotated import Annotated
    from extraction.dating import Dated
    from extraction.patterns.metric_reading import Measured
    from extraction.quantities import Quantity
    from kg.period import Period

_JOINED = re.compile(r"(?P<before>.)(?:[、/]|和|与|及|以及)$")
_AMOUNT_END = re.compile(r"[\d%）)元吨辆台套只家个头]")
_AGAINST = re.compile(
    r"(?:较|相较于?|相比于?|对比|高于|低于|(?<![同环占对相])比)(?P<what>[^，。；：（）]{0,16}?)"
    r"(?:的|相比)?(?:同比|环比|大幅|小幅|增|升|提|上|下|降|减|跌|涨|回|扩|收|高|低|多|少|改善|[+-]|$)"
)
_BEFORE = re.compile(
    r"去年|上年|前年|同期|同月|同比|环比|上周|上月|上季度?|上一?[周月季期年日]|前一?[周月季期年日]|前期|此前|之前|以前|[年月周季]?[初末底]|期初|节[前后]|"
    r"昨日?|前值|上一交易日|年度|单季度?|历史|均值|平均|高点|低点|水平|峰值|疫情|天|个|的|约|[周月季年日Q一二三四\d.\s-]"
)
_GUESSED = 0.8  # the linker's certainty of a name that no list holds
_AFTERWARDS = re.compile("(?:以上|以下|左右)?(?:之?后|以后|时(?!间))(?!续|期|市)")
_BOUND = re.compile("[≥≤<>＜＞] ?$")
_RETURN = re.compile("收益率|净利率|净利润率|ROE|ROA")
_EARNED = ("收入", "利润", "利润总额", "毛利率", "净利率", "费用率", "费用")
_FISCAL = re.compile(r"财年|财季|FY")
_EXPECTED_YEAR = re.compile(r"[EAF]$")
_BUSINESS = re.compile(r"(?:的)?业务")
_EXCHANGE = re.compile("LME|SHFE|COMEX|NYMEX|CBOT|ICE|上期所|广期所|郑商所|大商所|金交所")
_TRADED = ("价格", "库存", "结算价", "收盘价", "期货价", "现货价")
_AMOUNTS = re.compile(
    "(?:收入|营收|利润|产量|销量|出货量|[出进]口[量额]|规模|需求|投资|成交额|销售额|金额|装机量|上险量|交付量|保费|订单|价格|库存|销售面积)$"
)
_WHOLE_TRADE = re.compile(r"行业|市场|全国|板块|产业")
_SUMMED = re.compile("累计|累积|总共|合计")
_HELD = re.compile("(?<!新增)装机|保有量|用户|门店|存栏|库存|产能|订单|规模")  # what has added up by a day
_ONE_MONTH = re.compile("当月|单月|当季|单季")
_SAME_PERIOD = re.compile("(?<![年月周季])(?<!较)(?<!比)(?<!与)(?<!于)同期(?!相比|的?(?:水平|高|低))")
_BARE_PRICE = re.compile("(?:平均)?(?:单价|均价|价格)")
_BARE_SHARE = re.compile("(?:(?:国内|全球)?市场)?(?:份额|占有率)|市占率")
_LABEL = re.compile("[^，。；：]{2,12}：")
_NATIONAL_FIRM = re.compile(
    "(?:^|[，。；：])中国(?!市场|地区|区|大陆|境内|企业|公司|厂商)[一-鿿]{2,4}?"
    "(?<!行业)(?<!板块)(?<!市场)(?:实现)?(?:营业?收入?|收入|归母净利|净利润|总?市值|毛利率)"
)
_INSIDE = re.compile("在[^，。；]{1,12}中的?(?:渗透率|份额|市占率|占有率)")
_DESCRIBED = re.compile(
    "(?:[为是系][^，。；]{0,12}(?:企业|公司|厂商|龙头|供应商|生产商)|[^，。；]{2,8}(?:企业|公司|厂商)之一)，$"
)
_PRESENTED = re.compile("(?:^|[，。；：])(?!公司|其)[一-鿿]{2,6}(?:为|是)[^，。；]{2,16}，(?:20\\d\\d年|上半年|全年)?$")
_RISE = re.compile("(?:^|预期|预计|[年月周]|Q[1-4]|季度)[涨跌]幅")
_PRICED = ("价格", "价", "指数", "涨跌幅", "涨幅", "跌幅", "汇率", "运价")
_FLOWS = (
    *("销量", "产量", "出货量", "交付量", "进口量", "出口量", "消费量", "发电量"),
    *("成交量", "成交额", "成交面积", "换手率", "下载量", "销售额"),
)
_THRESHOLD = re.compile("[^，。；]{0,2}(?:是|为|即为|作为)[^，。；]{0,12}(?:拐点|门槛|前提|临界|分水岭|条件)")
_SEGMENT = re.compile(
    "(?:在|而|其中|对于)?(?P<name>[^，。；：（）]{2,16}?)(?:赛道|领域|市场|区间|价格带|口径)(?:方面|中|内|里|上)?，"
)
_NARROW = re.compile("\\d|[高中低]端|线上|线下|[BCG]端|下沉|农村|城镇|县域")
_LONGER_MOVE = re.compile(
    "(?<![一二三四五六七八九十\\d])[月季年]度?(?:累计)?(?:涨跌|涨|跌|升|降)幅|近[一1]?个?[月季年]|年初至今"
)
_WEEK = timedelta(days=8)
_HAD_OF_ANOTHER = ("需求", "消费量", "用量", "价值量", "成本")
_ONE_STEP = frozenset({Precision.MONTH, Precision.WEEK})


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its reading; `dated` is the expression that dates it, `listed` says that it stands in a row."""

    annotated: Annotated
    reading: Measured
    quantity: Quantity
    dated: Dated | None
    valid: Period | None
    listed: bool
    traded: bool = False  # the figure before was one of imports or exports
    clause: str = field(init=False)  # the words from the last mark up to the number

    def __post_init__(self) -> None:
        """Cut the clause once for all reasons that ask for it."""
        text, end = self.annotated.text, self.quantity.start
        object.__setattr__(self, "clause", text[max(text.rfind(mark, 0, end) for mark in "，。；：") + 1 : end])


def is_doubtful(figure: Figure) -> bool:
    """Whether any reason speaks against what was read."""
    return any(reason(figure) for reason in REASONS)


def _undated(figure: Figure) -> bool:
    """Revenue, a flow or an index's move of no time says nothing; revenue of a day or a week is the report's."""
    name, valid = figure.reading.indicator.name, figure.valid
    moved = name.endswith(("指数", "涨幅", "跌幅")) and bool(figure.quantity.change)
    if moved and figure.dated and figure.dated.text.startswith(("截至", "截止")):
        return True  # 「截至11月25日，板块上涨5%」: since when
    if valid is None:
        return moved or name in OF_A_TIME or name.endswith(_FLOWS)
    short = bool(valid.start and valid.end and valid.end - valid.start <= _WEEK)
    return short and name in OF_A_TIME and name.endswith(_EARNED)


def _of_several(figure: Figure) -> bool:
    """「光伏、风电投资占比60%」 is of both together."""
    if figure.listed:
        return False
    reading = figure.reading
    start = reading.subject.start if reading.subject.start >= 0 else reading.indicator.start
    joined = _JOINED.search(figure.annotated.text, 0, max(start, 0))
    return joined is not None and not _AMOUNT_END.match(joined["before"])


def _against_another(figure: Figure) -> bool:
    """「较HBM2E+80%」 is no change in time."""
    if not figure.quantity.change or figure.quantity.change == "share":
        return False
    clause = figure.clause
    for dated in figure.annotated.periods:
        clause = clause.replace(dated.text, "")
    told = list(_AGAINST.finditer(clause))
    return bool(told) and bool(_BEFORE.sub("", told[-1]["what"]))


def _of_a_fiscal_year(figure: Figure) -> bool:
    """A financial year need not be the calendar's: Q1 of 2026 may lie in 2025."""
    return figure.dated is not None and _FISCAL.search(figure.dated.text) is not None


def _behind_a_multiple(figure: Figure) -> bool:
    """「2025E市盈率10.9倍，股息率4.6%」: the year is the multiple's."""
    dated, text = figure.dated, figure.annotated
    if dated is None or figure.reading.indicator.name not in AT_A_DAY or not _EXPECTED_YEAR.search(dated.text):
        return False
    return any(dated.end <= each.start < figure.quantity.start for each in text.quantities)


def _of_the_heading_s_firm(figure: Figure) -> bool:
    """Below a heading or label that names a firm, sales of a product may be the firm's or the whole trade's."""
    reading, annotated = figure.reading, figure.annotated
    if not annotated.firm or reading.subject.kind == Kind.COMPANY or places_in(reading.scope, annotated.refs):
        return False
    name = reading.indicator.name
    of_firms = (reading.indicator.about and name.endswith(COMPANY_HEADS)) or name in OF_FIRMS
    return of_firms and (name.endswith(_EARNED) or not _WHOLE_TRADE.search(figure.clause))


def _of_a_business(figure: Figure) -> bool:
    """「储能业务营收」 is that of a firm which the line does not name."""
    subject, indicator = figure.reading.subject, figure.reading.indicator
    if subject.kind == Kind.COMPANY:
        return False
    behind = indicator.owner_end if indicator.owner_end > 0 else subject.end
    return behind > 0 and _BUSINESS.match(figure.annotated.text, behind) is not None


def _of_a_stranger(figure: Figure) -> bool:
    """「某某科技：储能收入3亿元」: what firms have is that firm's, which no list holds."""
    subject, name = figure.reading.subject, figure.reading.indicator.name
    if not figure.annotated.stranger or subject.kind == Kind.COMPANY:
        return False
    return name.endswith(COMPANY_HEADS) or name in OF_FIRMS


def _of_a_segment(figure: Figure) -> bool:
    """「10-20万元轿车市场，渗透率30%」: the clause in front narrows what the reading does not."""
    reading, label = figure.reading, _SEGMENT.match(figure.annotated.text)
    if label is None or label.end() > figure.quantity.start or not _NARROW.search(label["name"]):
        return False
    told = reading.subject.name + reading.scope + reading.indicator.name
    written = figure.annotated.text[max(reading.subject.start, 0) : max(reading.subject.end, 0)]
    return label["name"] not in told and label["name"] != written


def _of_another_step(figure: Figure) -> bool:
    """「月跌幅最大：某某（-5%）」 is not of the heading's week."""
    valid = figure.valid
    if valid is None or not (valid.start and valid.end) or valid.end - valid.start > _WEEK or figure.dated is not None:
        return False
    return _LONGER_MOVE.search(figure.annotated.text, 0, figure.quantity.start) is not None


def _of_a_row(figure: Figure) -> bool:
    """What stands before a name with 、 in it is a row of names, not what narrows it."""
    return "、" in figure.reading.scope and not figure.reading.scope.startswith("占")


def _of_a_cut_label(figure: Figure) -> bool:
    """「L3自动驾驶：渗透率15%」 is not of all of them."""
    subject, text = figure.reading.subject, figure.annotated.text
    colon = text.find("：", max(subject.end, 0))
    if subject.start < 0 or not 0 <= colon < figure.quantity.start or figure.reading.indicator.start < colon:
        return False
    return is_cut(text, subject, figure.annotated.refs) or is_part(text[: colon + 1], subject)


def _is_a_threshold(figure: Figure) -> bool:
    """「渗透率超过20%后，增速放缓」 and 「市值≥100亿元的公司」 measure nothing."""
    text, quantity = figure.annotated.text, figure.quantity
    return _AFTERWARDS.match(text, quantity.end) is not None or _BOUND.search(text[: quantity.start]) is not None


def _of_a_guessed_name(figure: Figure) -> bool:
    """A product that only the model of names knows is every second time a piece of another name."""
    subject = figure.reading.subject
    return subject.kind in (Kind.PRODUCT, Kind.INDUSTRY) and subject.score <= _GUESSED


def _of_a_whole_unsaid(figure: Figure) -> bool:
    """「军工：需求占比11%」 is what it has of the demand for another thing."""
    shared = figure.quantity.change == "share" and not figure.reading.scope.startswith("占")
    return shared and figure.reading.indicator.name.endswith(_HAD_OF_ANOTHER)


def _of_an_unsaid_thing(figure: Figure) -> bool:
    """「甲公司：获得订单，金额1亿元」: a sum of what."""
    return figure.reading.subject.kind == Kind.COMPANY and figure.reading.indicator.name in {"金额", "总额", "数量"}


def _of_one_year(figure: Figure) -> bool:
    """A compound rate is that of years."""
    return figure.quantity.change == "cagr" and figure.valid is not None and figure.valid.precision is Precision.YEAR


def _of_another_rate(figure: Figure) -> bool:
    """「营收同比-1.7%，较2024年下降1.8个百分点」: the second tells how the growth changed, not the revenue."""
    return figure.quantity.unit in ("pct", "bp") and _AMOUNTS.search(figure.reading.indicator.name) is not None


def _of_a_loss_or_a_fall(figure: Figure) -> bool:
    """「净资产收益率-1.4%」 may be the rate itself, below nothing, or by how much it fell."""
    rate = _RETURN.search(figure.reading.indicator.name)
    return rate is not None and figure.quantity.change == "change" and figure.quantity.number < 0


def _of_a_bracket(figure: Figure) -> bool:
    """「大公司（市值百亿元）上涨75%」, 「前三家（甲、乙、丙）产能」: what a bracket holds is not told of behind it."""
    text, reading = figure.annotated.text, figure.reading
    named = min((each.start for each in (reading.subject, reading.indicator) if each.start >= 0), default=0)
    opened = text.rfind("（", 0, named)
    closed = text.find("）", named, figure.quantity.start)
    alone = text[opened + 1 : closed] == text[named : figure.reading.subject.end]  # 「APT（仲钨酸铵）价格」
    return opened >= 0 and closed >= 0 and not alone and "）" not in text[opened:named]


def _of_an_exchange(figure: Figure) -> bool:
    """「LME铜价下跌1%，铝价下跌0.7%」: the second is of the same exchange, or of none."""
    reading, text = figure.reading, figure.annotated.text
    start = min(each for each in (reading.indicator.start, reading.subject.start, figure.quantity.start) if each >= 0)
    begin = max(text.rfind(mark, 0, start) for mark in "；。") + 1
    told = list(_EXCHANGE.finditer(text, begin, start))
    bears = _EXCHANGE.search(reading.scope + text[start : reading.indicator.end])
    if not told or bears or not reading.indicator.name.endswith(_TRADED):
        return False
    return any(told[-1].end() <= each.start and each.end <= start for each in figure.annotated.quantities)


def _of_a_sum(figure: Figure) -> bool:
    """「7月废铝累计进口117万吨」 is of January to July, 「6月出口4万吨，累计同比下降5%」 as well."""
    if figure.valid is None or figure.valid.precision not in _ONE_STEP or _HELD.search(figure.reading.indicator.name):
        return False
    text, at = figure.annotated.text, figure.quantity.start
    begin = max(text.rfind(mark, 0, at) for mark in "；。：，（") + 1
    return _SUMMED.search(text, begin, at) is not None


def _of_one_month(figure: Figure) -> bool:
    """「当月出口3万吨」 behind 1-4月 is not of all four."""
    valid = figure.valid
    return valid is not None and valid.precision is Precision.RANGE and _ONE_MONTH.search(figure.clause) is not None


def _of_the_same_period(figure: Figure) -> bool:
    """「财产险公司同期…」 is of the period of one of the sentences before."""
    return figure.dated is None and _SAME_PERIOD.search(figure.annotated.text, 0, figure.quantity.start) is not None


def _of_trade(figure: Figure) -> bool:
    """「出口量250万台；均价69美元」 is the price of what is exported."""
    return figure.traded and _BARE_PRICE.match(figure.clause) is not None


def _of_somebody(figure: Figure) -> bool:
    """A thing's share of the market is mostly that of whoever is spoken of: 「某公司：干法设备市占率60%」."""
    reading, text = figure.reading, figure.annotated.text
    if reading.subject.kind == Kind.COMPANY or not reading.indicator.name.endswith(SHARES_OF_MARKET):
        return False
    label = _LABEL.match(text)
    above = label is not None and label.end() <= figure.reading.indicator.start and reading.subject.name not in label[0]
    return above or _BARE_SHARE.match(figure.clause) is not None


def _of_a_national_firm(figure: Figure) -> bool:
    """「中国某某营收202亿元」 is mostly a firm's."""
    subject, head = figure.reading.subject, figure.reading.indicator.name.removeprefix(figure.reading.subject.name)
    if subject.kind == Kind.COMPANY or head not in OF_FIRMS:
        return False
    return _NATIONAL_FIRM.search(figure.annotated.text, 0, figure.quantity.start) is not None


def _of_another_in_it(figure: Figure) -> bool:
    """「某某芯片在AI手机中渗透率达20%」 is the chip's."""
    reading, text = figure.reading, figure.annotated.text
    if not reading.indicator.name.endswith(("渗透率", *SHARES_OF_MARKET)):
        return False
    begin = max(text.rfind(mark, 0, figure.quantity.start) for mark in "，。；：") + 1
    return _INSIDE.search(text, begin, figure.quantity.start) is not None


def _of_what_is_described(figure: Figure) -> bool:
    """「…某某为唯一的企业，产能3万吨」 and 「某某为新品，收入3亿元」: what follows is that one's."""
    reading, text = figure.reading, figure.annotated.text
    before = text[: figure.quantity.start - len(figure.clause)]
    if not reading.indicator.name.endswith(COMPANY_HEADS) or reading.subject.name in figure.clause:
        return False
    if reading.subject.kind == Kind.COMPANY:  # that the heading or label names
        return reading.subject.start < 0 and _PRESENTED.search(before) is not None
    return _DESCRIBED.search(before) is not None


def _of_a_price(figure: Figure) -> bool:
    """「订单显著增加，预期涨幅8%」: prices and indices have a 涨幅."""
    return _RISE.search(figure.clause) is not None and not figure.reading.indicator.name.endswith(_PRICED)


def _of_a_threshold(figure: Figure) -> bool:
    """「成本降至50万元/吨是产业化拐点」: nobody says that it is there."""
    return _THRESHOLD.match(figure.annotated.text, figure.quantity.end) is not None


REASONS = (
    _of_a_threshold,
    _of_another_in_it,
    _of_what_is_described,
    _of_a_price,
    _of_a_sum,
    _of_one_month,
    _of_the_same_period,
    _of_trade,
    _of_somebody,
    _of_a_national_firm,
    _undated,
    _of_several,
    _against_another,
    _of_a_fiscal_year,
    _behind_a_multiple,
    _of_the_heading_s_firm,
    _of_a_business,
    _of_a_loss_or_a_fall,
    _of_a_bracket,
    _of_an_exchange,
    _of_a_stranger,
    _of_a_segment,
    _of_another_step,
    _of_a_row,
    _of_a_cut_label,
    _is_a_threshold,
    _of_a_guessed_name,
    _of_a_whole_unsaid,
    _of_an_unsaid_thing,
    _of_one_year,
    _of_another_rate,
)
