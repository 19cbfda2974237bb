"""Which facts a summary may print: the quote that is shown must name what the line names and say what the line says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from communities.evidence import COMPANIES
from kg.model import Modality
from kg.query.wording import value_text

if TYPE_CHECKING:
    from kg.model import Evidence, Fact
    from kg.query.session import QuerySession

EFFECTS = {"up": 1, "down": -1}
_HAPPENS = ("event:", "policy:")
_ENOUGH = 0.6  # share of a name's characters that its quote holds: 钢价 names 钢材价格
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
_EXPECTS = re.compile(r"预计|预期|有望|预测|将|料将|目标|规划|展望|指引|\dE|届时")
_YEAR = re.compile(r"(?<!\d)(20\d\d)(?!\d)")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_LEVEL = re.compile("(?:规模|产能|产量|销量|收入|价格|需求|出货量|装机量|容量|产值|金额|余额)$")
_NEW_CAPACITY = re.compile("新增|新建|扩产|拟建|在建|投产|增加")
_UNMADE = re.compile("不再|终止|停产|退出|剥离|[涨跌]幅|估值|市盈率|PE|PB|重仓|持仓|[增减]持")


def shown(fact: Fact) -> Evidence:
    """Return the place that pages quote first: the newest."""
    return min(fact.evidence, key=lambda item: (-item.published_on.toordinal(), item.document, item.start))


def names(session: QuerySession, entity_id: str, quote: str) -> bool:
    """Whether a quote names an entity; a firm needs its name, a measure most of its characters."""
    if _spells(session, entity_id, quote):
        return True
    name = session.name(entity_id)
    if entity_id.startswith(COMPANIES) or len(name) < _LEAST_NAME:
        return False
    return sum(each in quote for each in name) >= _ENOUGH * len(name)


def _spells(session: QuerySession, entity_id: str, text: str) -> bool:
    """Whether a text has one of the names of an entity."""
    known = session.known(entity_id)
    return session.name(entity_id) in text or any(alias.name in text for alias in (known.aliases if known else ()))


def makes_known(session: QuerySession, fact: Fact, section: str = "") -> bool:
    """Whether a quote names the firm, and it or the heading of its section what the firm makes.

    A list of shares, or of what has ended, does not count.
    """
    quote = shown(fact).quote
    both = _spells(session, fact.subject, quote) and _spells(session, fact.object, quote + section)
    return both and not _UNMADE.search(quote)


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
    before, name = item.quote[:place], session.name(fact.object)
    before = re.split("[；。]", before)[-1]
    if name.endswith("产能") and "新增" not in name and _NEW_CAPACITY.search(before):
        return False
    if fact.value and fact.value.unit in ("%", "pct") and not fact.value.change and _LEVEL.search(name):
        return False
    if fact.modality is Modality.ASSERTED:
        return not _is_past(fact, item) and not _EXPECTS.search(before)
    years = _YEAR.findall(before)
    start = fact.valid.start if fact.valid else None
    dated = not years or (start is not None and start.year == int(years[-1]))
    return dated and bool(_EXPECTS.search(before)) and "分别" not in item.quote and "若" not in item.quote


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
