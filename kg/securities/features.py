"""Named features that score whether a mention refers to an issuer.

The score is the sum of the feature values, clipped to [0, 1]. Weights were set by hand on dated research notes, not
learned. A mention is linked from a score of LINKED if no other issuer comes within MARGIN.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from kg.securities.records import name_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from kg.securities.context import Bracket, ScannedText
    from kg.securities.records import Issuer, Name

LINKED = 0.6
CONSIDERED = 0.35
MARGIN = 0.1


class Case(Struct, frozen=True):
    """A mention paired with a candidate issuer."""

    document: ScannedText
    start: int
    end: int
    issuer: Issuer
    name: Name | None  # None when only a following code or a short form defined in the document suggests the issuer
    day: date
    word_kind: str | None
    bracket: Bracket | None
    taught: bool
    elsewhere: bool
    company_neighbours: int
    shared_with_mainland: bool  # another issuer of the same name is listed on the mainland

    @property
    def surface(self) -> str:
        """The text of the mention."""
        return self.document.text[self.start : self.end]

    @property
    def code_fits(self) -> bool:
        """Whether the following bracket holds a code of the issuer, including bare tickers and numbers."""
        if self.bracket is None:
            return False
        codes = {str(code) for code in self.bracket.codes}
        return any(
            listing.code in codes or listing.code.rpartition(".")[0] in self.bracket.bare
            for listing in self.issuer.listings
        )


_DROPPED = 0.62
_HISTORY_GAP = 0.6
_NOT_YET = 0.2
_LONG_NAME = 4
_NAME_WEIGHTS = {"short": 0.75, "full": 0.8, "english": 0.75, "former": _DROPPED, "colloquial": 0.7}
_WORD_WEIGHTS = {"word": -0.5, "place": -0.5, "phrase": -0.25, "short": -0.35, "english": -0.35, "mild": -0.1}
_OWN_FORM = re.compile(r"(?:[(（][一-鿿]{2,6}[)）])?(?:[一-鿿]{0,8}股份)?有限(?:责任)?公司")
_OTHER_FORM = re.compile(
    r"(?:(?![与和及或向受让股拟将为对的在等由以被是收购签持增减出于从给把])[一-鿿]){1,10}有限(?:责任)?公司|控股(?:集团)?有限(?:责任)?公司"
    r"|[(（][一-鿿]{2,4}[)）][一-鿿]{0,10}有限(?:责任)?公司|集团(?!军)"
)
_BUSINESS = re.compile(
    r"\s?华星|\s?智家|环保|氢能|创业|石化|锂电|柏瑞|晋信|通用|大众|工程(?!机械)|南方|东方|京城|汽车|银行|证券|保险|基金|期货|信托|资管|资产管理|科技|电子|半导体|微电|新材|材料|能源|新能|电力|生物|医药|药业|医疗|健康"
    r"|物流|云(?!端)|地产|置业|物业|资本|控股(?!子公司|股东)|实业|国际|金服|数科|智能|软件|通信|传媒|文化|矿业|化学|化工|环境|重工|商城|股份|电气|电器"
    r"|集团|人寿|财险|产险|租赁|航空|机场|水泥|钢铁|锂业|食品|乳业|酒业|影业|影视|音乐|游戏|教育|大学|学院|医院|研究院|研究所|协会"
)
_BRANCH = re.compile(  # 华天江苏 and 广发香港 are separate companies; 比亚迪深圳工厂 is not
    r"(?:北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|陕西|甘肃|内蒙古|广西|宁夏|新疆"
    r"|香港|澳门|深圳|广州|厦门|杭州|宁波|南京|苏州|无锡|昆山|合肥|青岛|大连|武汉|长沙|成都|西安)(?!工厂|基地|地区|市场|项目|园区|生产)"
)
_TENOR = re.compile(r"\d{1,2}[DWMY]")
_TENOR_BEFORE = re.compile(r"\d{1,2}[DWMY][\s*|/、,，-]{1,8}$")
_TENOR_AFTER = re.compile(r"[\s*|/、,，-]{1,8}\d{1,2}[DWMY](?![A-Za-z0-9])")
_CUES_AFTER = re.compile(
    r"[*”\"』」]*(?:发布|公告|董事|董秘|高管|管理层|股价|股票|涨停|跌停|停牌|复牌|控股股东|实控人|实际控制人|披露|年报|中报|季报|预计|拟"
    r"|宣布|中标|签订|签署|收购|回购|增持|减持|[(（]?(?:买入|增持|推荐)|\s?[（(:：]\s?\**\s?[+-]?\d+(?:\.\d+)?%)"
)
_CUES_BEFORE = re.compile(r"(?:[“\"『「]|推荐|关注|标的[:：]?|龙头|公司[:：]?|客户|供应商|厂商|股东)[*\s]*$")
_DISCLOSES = re.compile(
    r"[*”\"』」]*[（(]?(?:晚间|今日|昨日|盘后|\d{1,2}日)?(?:发布)?(?:公告|披露|(?:20\d\d年)?(?:半?年度?报告?|中报|[一三]季度?报告?)"
    r"|业绩(?:预告|快报)|预计(?:20\d\d年)?(?:H[12]|Q[1-4]|[上下]半年|前三季度|[一二三四]季度)?(?:实现)?(?:归母|归属|扣非|净利|营业收入|营收|亏损|盈利|扭亏)"
    r"|收到.{0,12}(?:函|决定书|通知书)|董事长|董事会|控股股东|实际控制人|实控人|持股\d|[\d.]+[万亿]?股(?!价)|[（(]?\d连板)"
)
_MAINLAND = frozenset({"SH", "SZ", "BJ"})
_HONG_KONG = re.compile(r"港股|H股|香港|HK|港交所")
_MARKET_WORD = re.compile(r"(?:概念|板块|产业|行业|赛道|主题|指数|领域|市场|业务|产品|技术|ETF)")


def name_by_day(case: Case) -> float:
    """Score the name by its period: full while in use, lower after it was dropped, near zero before it existed."""
    if case.name is None:
        return 0.0
    if case.name.is_future(case.day):
        # A former name cannot be from the future; a late start of its history is a gap in the master.
        return _HISTORY_GAP if case.name.kind == "former" else _NOT_YET
    if not case.name.is_live(case.day):
        return _DROPPED
    if case.name.kind == "former" and case.name.end is not None:  # dropped later, but in use on the day
        return _NAME_WEIGHTS["short"]
    return _NAME_WEIGHTS[case.name.kind]


def spelled_otherwise(case: Case) -> float:
    """Penalise a mention that lacks the share class or mark of the name: 白云山 is 600332 rather than 白云山A."""
    return -0.11 if case.name and name_key(case.name.text) != name_key(case.surface) else 0.0


def abroad_only(case: Case) -> float:
    """Prefer the mainland issuer of a shared Chinese name, unless Hong Kong is mentioned nearby."""
    if not case.shared_with_mainland or any(listing.exchange in _MAINLAND for listing in case.issuer.listings):
        return 0.0
    around = case.document.text[max(0, case.start - 8) : case.end + 8]
    return 0.11 if _HONG_KONG.search(around) else -0.11


def code_behind(case: Case) -> float:
    """Decide by the code in the following bracket: the issuer's own or another's."""
    if case.code_fits:
        return 1.0
    return -1.0 if case.bracket and case.bracket.codes else 0.0


def taught_by_document(case: Case) -> float:
    """The document defines this short form for the issuer."""
    return 0.7 if case.taught else 0.0


def document_subject(case: Case) -> float:
    """The document is about this issuer."""
    return 0.3 if case.issuer.id in case.document.subjects else 0.0


def named_elsewhere(case: Case) -> float:
    """The issuer is clearly named elsewhere in the document; weak evidence when the name is also a common word."""
    if not case.elsewhere:
        return 0.0
    return 0.1 if case.word_kind in ("word", "place") else 0.3


def company_enumeration(case: Case) -> float:
    """The mention is in a list of companies (绿的谐波、机器人、汇川技术)."""
    return (0.0, 0.25, 0.4)[case.company_neighbours]


def company_cue(case: Case) -> float:
    """Adjacent words that are specific to companies: 公告, 董事会, 股价, 推荐."""
    text = case.document.text
    if _CUES_AFTER.match(text, case.end) or _CUES_BEFORE.search(text[max(0, case.start - 6) : case.start]):
        return 0.15
    return 0.0


def opens_document(case: Case) -> float:
    """The mention starts the text, and so is likely its subject."""
    return 0.15 if case.start == 0 and case.word_kind in (None, "mild", "phrase") else 0.0


def discloses(case: Case) -> float:
    """The mention does what only listed companies do: publish a report, receive an inquiry letter."""
    return 0.35 if _DISCLOSES.match(case.document.text, case.end) else 0.0


def common_word(case: Case) -> float:
    """The name is also a word, a place, or an abbreviation of several organisations."""
    return _WORD_WEIGHTS.get(case.word_kind or "", 0.0)


def market_word_behind(case: Case) -> float:
    """A following market word makes the name a common noun (机器人板块, 太阳能产业)."""
    if case.word_kind is None or case.code_fits:
        return 0.0
    return -0.3 if _MARKET_WORD.match(case.document.text, case.end) else 0.0


def cuts_longer_word(case: Case) -> float:
    """The mention starts or ends inside a longer word (国新能源 in 中国新能源)."""
    if case.code_fits or case.surface.isascii() or _OWN_FORM.match(case.document.text, case.end):
        return 0.0
    if not case.document.cuts_word(case.start, case.end):
        return 0.0
    if case.end - case.start >= _LONG_NAME and not case.document.starts_inside_word(case.start):
        # A segmenter often merges the last character of a long name into the next word: 法拉电|子公|告.
        return -0.25
    return -0.5


def inside_longer_name(case: Case) -> float:
    """Part of another company's name: a subsidiary (X上海有限公司), the parent (X集团), another business (小米汽车)."""
    text = case.document.text
    if case.code_fits or _OWN_FORM.match(text, case.end):
        return 0.0
    colloquial = case.name is None or case.name.kind == "colloquial" or case.word_kind == "phrase"
    if other := _OTHER_FORM.match(text, case.end):
        return -0.7 if colloquial or other[0].endswith("公司") else -0.2
    return -0.7 if colloquial and (_BUSINESS.match(text, case.end) or _BRANCH.match(text, case.end)) else 0.0


def row_of_tenors(case: Case) -> float:
    """The mention is in a list of tenors (1M/3M/6M), where 3M is three months."""
    if not _TENOR.fullmatch(case.surface):
        return 0.0
    before, after = case.document.text[max(0, case.start - 12) : case.start], case.document.text[case.end :]
    return -1.0 if _TENOR_BEFORE.search(before) or _TENOR_AFTER.match(after[:12]) else 0.0


FEATURES: tuple[Callable[[Case], float], ...] = (
    name_by_day,
    spelled_otherwise,
    abroad_only,
    code_behind,
    taught_by_document,
    document_subject,
    named_elsewhere,
    company_enumeration,
    company_cue,
    opens_document,
    discloses,
    common_word,
    market_word_behind,
    cuts_longer_word,
    inside_longer_name,
    row_of_tenors,
)


def weigh(case: Case) -> tuple[float, dict[str, float]]:
    """Return the score and the non-zero feature values."""
    values = {feature.__name__: value for feature in FEATURES if (value := feature(case))}
    return round(min(1.0, max(0.0, sum(values.values()))), 3), values
