"""Which facts a summary may print: the quote that is shown must name what the line names and say what the line says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from communities.evidence import COMPANIES
from kg.model import Modality
from kg.query.wording import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.model import Evidence, Fact
    from kg.query.session import QuerySession

EFFECTS = {"up": 1, "down": -1}
_HAPPENS = ("event:", "policy:")
_ENOUGH, _HALF = (
    0.6,
    0.5,
)  # share of a name's characters that its quote holds, and of what it measures: 钢价 names 钢材价格
_BESIDE = 14  # characters behind a name in which its own move is looked for
_STALE = 400  # days from the end of a figure's period to its publication
_LEAST_NAME = 3
_LIMITED = re.compile(
    "若|如果|假如|倘若|一旦|预期|缓慢|趋缓|放缓|收窄|脱敏|未随|尚未|未能|并未|没有|不会|难以|有限|对冲|抵消|维持|韧性|平稳|"
    "震荡|分化|波动|风险|可能|或[将会有]?|取决|担忧|争议|忽视|而非|不是|尽管|虽然?|但|不过|然而|反而|却|有望|预计|将"
)
_DOUBTFUL = re.compile("风险|若|不及|可能|一旦|尚未|未能|并未|但|不过|虽|或(?!达)")
_MOVES = re.compile(
    r"(?P<down>跌|降|减|下滑|下行|回落|走弱|走低|承压|亏|[-－−–]\s?\d)|(?P<up>涨|升|增|提高|上行|走高|走强|改善|扩大|受益|[+＋]\s?\d)"
)
_DRAGS, _LIFTS = ("成本", "费用", "库存", "压力", "减值", "损失"), ("需求", "订单", "销量", "景气度", "出货量")
_SUPPLY, _PRICES = ("供给", "供应", "产量", "产能", "开工率"), ("价格", "均价", "报价")
_EXPECTS = re.compile("预计|预期|有望|预测|将|料将|目标|规划|展望|指引|届时")
_ESTIMATE = re.compile(r"\dE")  # 2025E, of the number beside it alone
_YEAR = re.compile(r"(?<!\d)(20\d\d)(?!\d)")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_LEVEL = re.compile("(?:规模|产能|产量|销量|收入|价格|需求|出货量|装机量|容量|产值|金额|余额)$")
_NEW_CAPACITY = re.compile("新增|新建|扩产|拟建|在建|投产|增加")
BULLET = re.compile(  # what numbers a sentence: （一）, ①, 2.1, v.
    r"^[*\s-]*(?:[（(]?[一二三四五六七八九十\d]{1,2}[）)、]|[①-⑳•·◦]|[ivx]+\.|\d{1,2}(?:\.\d{1,2}){1,3}[.．]?\s*(?![万亿元吨个百千倍美辆台])(?=[一-龥]{2})|"
    r"\d{1,2}[.．、]\s*(?=[一-龥])|\d\s+(?![月日年万亿家个季周大项只款条台辆吨元倍成部名位种类])(?=[一-龥]))\s*"
)
_SENTENCE, _LISTED = range(14, 111), 4  # length of a sentence that is printed as it is, and commas of a list in it
_HAPPENING = re.compile(
    "[上下]涨|涨|跌|[上下]升|提[升高价振]|[增新]长|新增|增[加至]|减少|下[降滑行]|扩产|缩减|加速|放缓|提速|突破|承压|改善|回[暖落升]|复苏|释放|放量|"
    "拐点|催化|催生|迎来|紧平衡|偏[紧强弱]|过剩|短缺|出清|落地|修复|反弹|震荡|创.{0,4}新[高低]|出台|发布|推出|量产|投产(?!融)|获批|中标|签[订署约]"
)
_NO_STATEMENT = re.compile(
    r"风险|若|如果|建议|关注|相关(?:公司|标的|企业)|标的|看好|估值|股价|领[涨跌]|涨跌幅|[涨跌]幅(?:[居前后榜最靠：]|排)|周[涨跌]幅|走跌|多数[上下]|排名第|细分行业中|"
    r"板块(?:上|下|涨|跌)|表现最[好差]|指数|个股|市值|目标价|评级|SW|申万|中信一级|沪深|PE|[?？|]|"
    "图表|如下|以下|^(?:主要原因|主要因|[一二三四五]是|例如|如|这|其|该|此外|同时|因此|上述|但|而|并|持续|也|或|归母|营业?收|毛利|净利|扣非)|是一种|是指|[，来]公司"
)
_NO_LINK = re.compile("关注|观察|覆盖|风险|若|可能")
_UNMADE = re.compile("不再|终止|停产|退出|剥离|[涨跌]幅|估值|市盈率|PE|PB|重仓|持仓|[增减]持|派现|权益分派|溢价率")
_RATED = re.compile(  # a rate, a mean, a sample
    r"年均|[日周月]度|[日周]产量|(?<![\d ])月产|日均|月均|周均|每[日周月年]|单[日店台笔]|中位数|均值|样本|独立|\d家）"
)
_COMPOUND = re.compile("复合|CAGR|年均|年增", re.IGNORECASE)
_SINCE = re.compile(
    r"较[^，；。、]{0,8}?(?:\d\d\s?年|[年月][初末]|月\s?\d+\s?日|[高低]点|峰值|谷底)"
)  # a change, but not since a year ago
_OF_PRODUCTS = re.compile(
    "产能|产量|产销量|销量|出货量?|库存|储量|价格|均价|成本|利率|成交额|收盘价|运力|供给|供应|需求|订单"
)
_MOVER, _MOVERS = re.compile(r"（\s?[+＋\-－−]\s?\d"), 2  # a list of who rose and fell
_PLACES = {
    "国内": "国内|中国|我国|全国|大陆",
    "全国": "国内|中国|我国|全国",
    "中国": "国内|中国|我国|全国",
    "我国": "国内|中国|我国|全国",
}
_WEEK, _LATE = 8, 3  # days of a week's period, and from a note to the end of the week that it is about


def shown(fact: Fact) -> Evidence:
    """Return the place that pages quote first: the newest."""
    return min(fact.evidence, key=lambda item: (-item.published_on.toordinal(), item.document, item.start))


def names(session: QuerySession, entity_id: str, quote: str) -> bool:
    """Whether a quote names an entity; a firm needs its name, a measure most of its characters."""
    if _spells(session, entity_id, quote):
        return True
    name, known = session.name(entity_id), session.known(entity_id)
    if entity_id.startswith(COMPANIES) or len(name) < _LEAST_NAME:
        return False
    of = session.name(known.about) if known and known.about else name
    return all(
        sum(each in quote for each in part) >= least * len(part) for part, least in ((name, _ENOUGH), (of, _HALF))
    )


def _spells(session: QuerySession, entity_id: str, text: str) -> bool:
    """Whether a text has one of the names of an entity."""
    known = session.known(entity_id)
    return session.name(entity_id) in text or any(alias.name in text for alias in (known.aliases if known else ()))


def is_statement(session: QuerySession, fact: Fact, about: Iterable[str]) -> bool:
    """Whether a quote can stand for itself: a sentence that says what happens to one of some topics of late.

    A tip, a warning, a definition, or a sentence about one firm does not count.
    """
    item = shown(fact)
    quote, years = item.quote, [int(each) for each in _YEAR.findall(item.quote)]
    if len(quote) not in _SENTENCE or quote.count("、") > _LISTED or _NO_STATEMENT.search(quote):
        return False
    if (years and max(years) < item.published_on.year - 1) or _is_past(fact, item):
        return False
    if len(_MOVER.findall(quote)) >= _MOVERS:
        return False
    moves = fact.sign or (fact.value and fact.value.change not in ("", "share")) or _HAPPENING.search(quote)
    says = bool(moves) and any(name in quote for name in about)
    return says and not is_of_firm(session, quote)


def is_of_firm(session: QuerySession, text: str) -> bool:
    """Whether a sentence begins with the name of a company."""
    return _label(text) in session.kept(_firm_names)


def _label(quote: str) -> str:
    """Return what a sentence begins with, up to its first sign: whom it is about."""
    return re.split("[：（(，、]", BULLET.sub("", quote), maxsplit=1)[0].strip()


def is_link(quote: str, up: str, down: str) -> bool:
    """Whether a quote names what is up and what is down a chain, and is no advice or warning."""
    return up in quote and down in quote and not _NO_LINK.search(quote)


def makes_known(session: QuerySession, fact: Fact, section: str = "") -> bool:
    """Whether a quote names the firm, and it or the heading of its section what the firm makes.

    A list of shares, or of what has ended, does not count.
    """
    quote = shown(fact).quote
    both = _spells(session, fact.subject, quote) and _spells(session, fact.object, quote + section)
    return both and not _UNMADE.search(quote) and len(_MOVER.findall(quote)) < _MOVERS


def is_cause(session: QuerySession, fact: Fact) -> bool:
    """Whether a quote states a cause that happens or moves, and which way its effect goes, without a limit."""
    effect, item = EFFECTS.get(fact.qualifier("effect_direction") or "", 0), shown(fact)
    quote, years = item.quote, [int(each) for each in _YEAR.findall(item.quote)]
    moved = 1 if fact.subject.startswith(_HAPPENS) else EFFECTS.get(fact.qualifier("cause_direction") or "", 0)
    if not effect or not moved or fact.object.startswith(_HAPPENS) or _LIMITED.search(quote):
        return False
    if (years and max(years) < item.published_on.year - 1) or _is_past(fact, item):
        return False
    if session.name(fact.object) in session.name(fact.subject):  # a firm that gains by its own value
        return False
    if any(_is_bare(session, end) or not names(session, end, quote) for end in (fact.subject, fact.object)):
        return False
    ends = ((fact.subject, moved), (fact.object, effect))
    agree = all(_agrees(session.name(end), quote, sign) for end, sign in ends if not end.startswith(_HAPPENS))
    return agree and not _is_unlikely(session.name(fact.subject), fact.object, moved * effect)


def _is_past(fact: Fact, item: Evidence) -> bool:
    """Whether a fact is of a period long before its note."""
    end = fact.valid.end if fact.valid else None
    return end is not None and (item.published_on - end).days > _STALE


def _is_bare(session: QuerySession, entity_id: str) -> bool:
    """Whether a measure is of nothing, or of both sides: 营业收入, 终端需求, 甲醇供需面."""
    known = session.known(entity_id)
    return entity_id.startswith("indicator:") and (not (known and known.about) or "供需" in known.name)


def _agrees(name: str, quote: str, sign: int) -> bool:
    """Whether the first move said behind a name, up to the end of its clause, is the one expected or none.

    >>> _agrees("甲公司", "涨幅居前的有甲公司（+60.41%）", -1), _agrees("铜价", "铜价上涨推高成本", 1)
    (False, True)
    """
    behind = [re.split("[，。；、]", rest[:_BESIDE], maxsplit=1)[0] for rest in quote.split(name)[1:]]
    signs = {1 if found.lastgroup == "up" else -1 for each in behind if (found := _MOVES.search(each))}
    return not signs or sign in signs


def _is_unlikely(cause: str, effect: str, sign: int) -> bool:
    """Whether a sentence was likely misread: dearer by less demand, better by higher cost."""
    if effect.endswith((*_DRAGS, *_SUPPLY)):
        return False
    if cause.endswith(_SUPPLY):
        return sign > 0 and effect.endswith(_PRICES)
    return sign > 0 if cause.endswith(_DRAGS) else sign < 0 and cause.endswith(_LIFTS)


def is_figure(session: QuerySession, fact: Fact) -> bool:
    """Whether a quote holds the number and names what it measures, and of whom; a forecast must be called one."""
    item = shown(fact)
    place = _place(fact, item.quote)
    ends = (fact.subject, fact.object) if fact.subject.startswith(COMPANIES) else (fact.object,)
    if place < 0 or (len(ends) == 1 and _is_bare(session, fact.object)):
        return False
    if not all(names(session, end, item.quote) for end in ends):
        return False
    if "|" in item.quote or not _is_whole(session, fact, item.quote) or not _is_dated(fact, item, place):
        return False
    before, name = item.quote[:place], session.name(fact.object)
    before = re.split("[；。]", before)[-1]
    if name.endswith("产能") and "新增" not in name and _NEW_CAPACITY.search(before):
        return False
    if fact.value and fact.value.unit in ("%", "pct") and not fact.value.change and _LEVEL.search(name):
        return False
    if fact.modality is Modality.ASSERTED:
        return not _is_past(fact, item) and not _EXPECTS.search(before) and not _ESTIMATE.search(before)
    years = _YEAR.findall(before)
    start = fact.valid.start if fact.valid else None
    dated = not years or (start is not None and start.year == int(years[-1]))
    clause = before.rpartition("，")[2]
    of = session.name(fact.subject)  # where the clause names it anew, it expects anew
    expected = _EXPECTS.search(clause if of in clause else before) or _ESTIMATE.search(clause)
    return dated and bool(expected) and not re.search("分别|若|假设", item.quote)


def _is_whole(session: QuerySession, fact: Fact, quote: str) -> bool:
    """Whether a figure is of what its name says, not of a part: of the place, of one firm, of one product of a firm."""
    scope = fact.qualifier("scope")
    if scope and not re.search(_PLACES.get(scope, re.escape(scope)), quote):
        return False
    if fact.subject.startswith(COMPANIES):
        return not _OF_PRODUCTS.fullmatch(session.name(fact.object).removeprefix(session.name(fact.subject)))
    label = _label(quote)
    return label in session.name(fact.object) or label not in session.kept(_firm_names)


def _firm_names(session: QuerySession) -> frozenset[str]:
    return frozenset(name for name, entity_id in session.view.names() if entity_id.startswith(COMPANIES))


def _is_dated(fact: Fact, item: Evidence, place: int) -> bool:
    """Whether a number is of the period that the line gives, and its change is from the period before."""
    clause, change = re.split("[，；。]", item.quote[:place])[-1], fact.value.change if fact.value else ""
    start, end = (fact.valid.start, fact.valid.end) if fact.valid else (None, None)
    days = (end - start).days if start and end else 0
    if change == "cagr":
        return days > _STALE
    if days > _STALE or _COMPOUND.search(clause) or (_RATED.search(clause) and not 1 < days < _WEEK):
        return False
    if fact.modality is Modality.ASSERTED and end and (end - item.published_on).days > _LATE:  # not over yet
        return False
    return change != "change" or not _SINCE.search(item.quote)


def _place(fact: Fact, quote: str) -> int:
    """Return where a quote has the digits of a figure, −1 for nowhere."""
    digits = [_digits(each) for each in _NUMBER.findall(value_text(fact.value))]
    found = (hit.start() for hit in _NUMBER.finditer(quote) if digits and _digits(hit[0]) == digits[0])
    return next(found, -1)


def _digits(number: str) -> str:
    return re.sub("[,.]", "", number).strip("0")


def is_due(session: QuerySession, fact: Fact) -> bool:
    """Whether what is planned or expected is more than a warning, and moves somewhere if it is an effect."""
    quote = shown(fact).quote
    if fact.modality is Modality.CONDITIONAL or _DOUBTFUL.search(quote):
        return False
    ends = (fact.subject, fact.object)
    if any(_is_bare(session, end) or not names(session, end, quote) for end in ends):
        return False
    if fact.sign and fact.modality is Modality.PLANNED:  # an effect is expected, not planned
        return False
    return fact.sign == 0 or (
        EFFECTS.get(fact.qualifier("effect_direction") or "", 0) != 0
        and (fact.subject.startswith(_HAPPENS) or (fact.qualifier("cause_direction") or "") in EFFECTS)
    )


def disagree(session: QuerySession, one: Fact, other: Fact, *, within: int) -> bool:
    """Whether two sources state opposite directions of one measure for one time."""
    places = shown(one), shown(other)
    apart = abs((places[0].published_on - places[1].published_on).days)
    same = all(
        one.qualifier(name) == other.qualifier(name) for name in ("cause_direction", "cause_scope", "effect_scope")
    )
    return (
        same
        and apart <= within
        and one.valid == other.valid
        and places[0].document != places[1].document
        and is_cause(session, one)
        and is_cause(session, other)
    )
