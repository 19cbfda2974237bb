"""Reasons to doubt a measured figure: it may be of another thing or firm than its reading says, or of another time.

A doubtful reading is not stored (Settings.min_confidence); `liantu extract --min-confidence 0` shows it.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.claims.measures.words import AT_A_DAY, COMPANY_HEADS, EARNED, OF_A_TIME, OF_FIRMS, SHARES_OF_MARKET
from extraction.context.places import LANDS, places_in
from extraction.context.surroundings import is_cut, is_part
from extraction.text.regex_prefilter import Prefiltered
from extraction.text.sentences import behind_last
from kg.model import Kind
from kg.period import Precision

if TYPE_CHECKING:
    from extraction.claims.measures.measurement import Figure


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
_BUSINESS = re.compile(r"(?:的)?业务")
_EXCHANGE = re.compile("LME|SHFE|COMEX|NYMEX|CBOT|ICE|上期所|广期所|郑商所|大商所|金交所")
_TRADED = ("价格", "库存", "结算价", "收盘价", "期货价", "现货价")
_AMOUNTS = re.compile(
    "(?:收入|营收|利润|产量|销量|出货量|[出进]口[量额]|规模|需求|投资|成交额|销售额|金额|装机量|上险量|交付量|保费|订单|价格|库存|销售面积)$"
)
_WHOLE_TRADE = re.compile(r"行业|市场|全国|板块|产业")
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
_PUSH = re.compile("带动|拉动|推动|驱动")
_REACHES = re.compile("[至达到为从由]")
_THRESHOLD = re.compile("[^，。；]{0,2}(?:是|为|即为|作为)[^，。；]{0,12}(?:拐点|门槛|前提|临界|分水岭|条件)")
_SEGMENT = re.compile(
    "(?:在|而|其中|对于)?(?P<name>[^，。；：（）]{2,16}?)(?:赛道|领域|市场|区间|价格带|口径)(?:方面|中|内|里|上)?，"
)
_NARROW = re.compile("\\d|[高中低]端|线上|线下|[BCG]端|下沉|农村|城镇|县域")
_HAD_OF_ANOTHER = ("需求", "消费量", "用量", "价值量", "成本")
_OF_FIRMS_COUNTED = ("家", "个", "只", "名", "大", "")
_MEASURE = re.compile("营收|收入|利润|利率|费用|净利|毛利|订单|销量|产量")
_HOMES = ("国内", "境内", "本土", "海外", "国外", "境外")
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME})
_GRADED = re.compile("(?P<name>[^，。；：（）]{2,16}?) ?（[^（）]*，[^（）]*）：")


def is_doubtful(figure: Figure) -> bool:
    """Whether any reason speaks against what was read."""
    return any(reason(figure) for reason in REASONS)


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


def _of_the_heading_s_firm(figure: Figure) -> bool:
    """Below a heading or label that names a firm, sales of a product may be the firm's or the whole trade's."""
    reading, annotated = figure.reading, figure.annotated
    if not annotated.company_scope or reading.subject.kind == Kind.COMPANY or places_in(reading.scope, annotated.refs):
        return False
    name = reading.indicator.name
    of_firms = (reading.indicator.about and name.endswith(COMPANY_HEADS)) or name in OF_FIRMS
    return of_firms and (name.endswith(EARNED) or not _WHOLE_TRADE.search(figure.clause))


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
    if not figure.annotated.is_unlisted_company or subject.kind == Kind.COMPANY:
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


def _of_a_row(figure: Figure) -> bool:
    """What stands before a name with 、 in it is a row of names, not what narrows it, unless it is one of places."""
    scope = figure.reading.scope
    if "、" not in scope or scope.startswith("占"):
        return False
    told = {name for _, name in places_in(figure.annotated.text, figure.annotated.refs)}
    return "分别" in figure.clause or not told.issuperset(scope.split("、"))


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
    """「甲公司：获得订单，金额1亿元」: a sum of what; 「CPU性能提升2倍」: of which one."""
    name = figure.reading.indicator.name
    return name.endswith(("性能", "能效")) or (
        figure.reading.subject.kind == Kind.COMPANY and name in {"金额", "总额", "数量"}
    )


def _of_an_unread_thing(figure: Figure) -> bool:
    """「工程机械：升降平台售出10万台，出口6万台」: the label's, where another figure of the sentence is not."""
    subject, annotated = figure.reading.subject, figure.annotated
    first = next((each for each in annotated.quantities if each.unit not in _OF_FIRMS_COUNTED), None)
    if subject.start >= 0 or subject.kind not in _THINGS or first is None:
        return False
    if first.end > figure.reading.indicator.start or first.change:
        return False
    told = _MEASURE.search(annotated.text, 0, first.start) or "面积" in annotated.text[: first.start]
    return not told and not any(ref.kind == Kind.INDICATOR and ref.start < first.start for ref in annotated.refs)


def _of_a_goods_trade(figure: Figure) -> bool:
    """「非洲：出口金额15亿元」 below a product's heading is not of all that is traded."""
    subject, name = figure.reading.subject, figure.reading.indicator.name
    label = _LABEL.match(figure.annotated.text)
    labelled = label is not None and subject.start < label.end()
    if figure.quantity.unit == "批" and "批" not in name:
        return True  # lots that are released, 「进口234批」
    goods = figure.before is not None and figure.before.reading.subject.kind in _THINGS
    return subject.kind == Kind.REGION and name.startswith(("出口", "进口")) and (labelled or goods)


def _of_a_measure(figure: Figure) -> bool:
    """「净利率变化：某某板块（+0.8pct）」 is no move of an index."""
    if not figure.reading.indicator.name.endswith("指数") or not figure.quantity.change:
        return False
    told = _MEASURE.search(figure.annotated.text, 0, figure.quantity.start) is not None
    return figure.quantity.unit in ("pct", "bp") or (told and "指数" not in figure.clause)


def _of_who_was_named_since(figure: Figure) -> bool:
    """「新能源：…。风电装机5GW；累计装机50GW」: the label's subject, when the sentence before measured another's."""
    subject, before = figure.reading.subject, figure.before
    if before is None or figure.annotated.starts_block or subject.start >= 0 or subject.kind not in _THINGS:
        return False
    other = before.reading.subject
    alike = other.entity == subject.entity or other.name in subject.name or subject.name in other.name
    return figure.annotated.subject == subject and other.start >= 0 and not alike


def _of_another_home(figure: Figure) -> bool:
    """「日本：…，海外订单占比40%」 is abroad for Japan."""
    region = figure.annotated.region
    return region is not None and region.name in LANDS and figure.reading.scope.startswith(_HOMES)


def _of_another_rate(figure: Figure) -> bool:
    """「营收同比-2.5%，较2023年下降3.0个百分点」: the second tells how the growth changed, not the revenue."""
    return figure.quantity.unit in ("pct", "bp") and _AMOUNTS.search(figure.reading.indicator.name) is not None


def _of_a_loss_or_a_fall(figure: Figure) -> bool:
    """「净资产收益率-1.4%」 may be the rate itself, below nothing, or by how much it fell."""
    rate = _RETURN.search(figure.reading.indicator.name)
    return rate is not None and figure.quantity.change == "change" and figure.quantity.number < 0


def _of_a_bracket(figure: Figure) -> bool:
    """「大公司（市值百亿元）上涨75%」, 「前三家（甲、乙、丙）产能」: what a bracket holds is not told of behind it."""
    text, reading = figure.annotated.text, figure.reading
    named = min((each.start for each in (reading.subject, reading.indicator) if each.start >= 0), default=0)
    opened, closed = text.rfind("（", 0, named), text.find("）", named, figure.quantity.start)
    if opened < 0 or closed < 0:
        return False
    alone = text[opened + 1 : closed] == text[named : figure.reading.subject.end]  # 「APT（仲钨酸铵）价格」
    return not alone and "）" not in text[opened:named]


def _of_an_exchange(figure: Figure) -> bool:
    """「LME铜价下跌1%，铝价下跌0.7%」: the second is of the same exchange, or of none."""
    reading, text = figure.reading, figure.annotated.text
    if not reading.indicator.name.endswith(_TRADED):
        return False
    start = min(each for each in (reading.indicator.start, reading.subject.start, figure.quantity.start) if each >= 0)
    begin = behind_last("；。", text, start)
    told = list(_EXCHANGE.finditer(text, begin, start))
    bears = _EXCHANGE.search(reading.scope + text[start : reading.indicator.end])
    if not told or bears:
        return False
    return any(told[-1].end() <= each.start and each.end <= start for each in figure.annotated.quantities)


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
    begin = behind_last("，。；：", text, figure.quantity.start)
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


def _of_a_grade(figure: Figure) -> bool:
    """「烟酸（99%，国产）：价格31元」 is of what the label names, which a heading above it only comprises."""
    text, reading = figure.annotated.text, figure.reading
    label = _GRADED.match(text)
    if label is None or reading.subject.kind == Kind.COMPANY or label.end() > figure.quantity.start:
        return False
    return text[max(reading.subject.start, 0) : max(reading.subject.end, 0)] != label["name"]


def _of_a_push(figure: Figure) -> bool:
    """「快充每多一成，带动石墨需求8万吨」 is what comes on top, 「拉动增速0.3个百分点」 a part of it."""
    push = _PUSH.search(figure.clause)
    if push is None or figure.quantity.change in ("yoy", "qoq", "mom", "wow", "cagr"):
        return False
    if figure.quantity.change:
        return push[0] == "拉动" and (figure.quantity.unit != "%" or "增速" in figure.clause)
    return not _REACHES.search(figure.clause, push.end())


def _of_no_unit(figure: Figure) -> bool:
    """「营收52亿」 is of a currency, 「出货量3亿」 of pieces that nobody names."""
    return not figure.quantity.unit


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


REASONS = (
    _of_a_guessed_name,  # as every fourth figure is: no other reason needs to be asked
    *OF_ANOTHER_TIME,
    _of_a_grade,
    _of_no_unit,
    _of_a_push,
    _of_a_threshold,
    _of_another_in_it,
    _of_what_is_described,
    _of_a_price,
    _of_trade,
    _of_somebody,
    _of_a_national_firm,
    _of_several,
    _against_another,
    _of_the_heading_s_firm,
    _of_a_business,
    _of_a_loss_or_a_fall,
    _of_a_bracket,
    _of_an_exchange,
    _of_a_stranger,
    _of_a_segment,
    _of_a_row,
    _of_a_cut_label,
    _is_a_threshold,
    _of_a_whole_unsaid,
    _of_an_unsaid_thing,
    _of_who_was_named_since,
    _of_an_unread_thing,
    _of_a_goods_trade,
    _of_a_measure,
    _of_another_home,
    _of_another_rate,
)
