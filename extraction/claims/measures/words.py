"""Word lists and patterns for the text between an indicator, its owner and its number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.text.lexicon import phrases, table
from kg.model import Kind

if TYPE_CHECKING:
    from extraction.sentence import EntityMention


def _any_of(words: str, *more: str) -> re.Pattern[str]:
    """Match a run of words, longest first; the possessive quantifier rules out backtracking."""
    ordered = sorted(words.split(), key=len, reverse=True)
    return re.compile("(?:" + "|".join((*more, *map(re.escape, ordered), r"\s")) + ")*+")


_TABLE = table("measuring")
FILLER, CONTINUES = _any_of(_TABLE["filler"]), _any_of(_TABLE["continues"])
AFTER_LEVEL = _any_of(_TABLE["after_level"], r"较[^，。；]{0,8}?(?=同比|环比|增|升|提|上|下|降|减|跌|涨|回|扩|收|$)")
OWNER_FILLER, GENERIC, TRADE, PLACES, NOUNISH, INNER, VERBAL, TAILS, VERBS = (
    frozenset(_TABLE[name].split())
    for name in ("owner_filler", "generic", "trade", "region", "nounish", "inner", "verbal", "tails", "verbs")
)
NO_NAMES, OPENS, NARROWING = (frozenset(_TABLE[name].split()) for name in ("no_names", "opens", "narrowing"))
# Head words that form an indicator with the name before them, with their unit kinds.
MEASURE_HEADS: dict[str, tuple[str, ...]] = {
    word: (group["unit"],) if isinstance(group["unit"], str) else tuple(group["unit"])
    for group in _TABLE["heads"]
    for word in group["words"].split()
}
SUBJECT_KINDS = frozenset({Kind.COMPANY, Kind.BUSINESS, Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME})
MACRO_KINDS = frozenset({Kind.REGION, Kind.INSTITUTION})
MEASURED_KINDS = SUBJECT_KINDS | MACRO_KINDS
# Words for a change of the previous level, not indicators.
CHANGES = frozenset(_TABLE["changes"].split())
SHARES_OF_MARKET = ("市占率", "市场份额", "份额", "占有率", "市场占有率")
RATES = ("%", "pct", "bp")
VAGUE = ("占比", "比重", "持股比例")  # shares of an unstated whole
COMPANY_HEADS = tuple(_TABLE["company_heads"].split())
# Indicators of companies and industries, not of products.
COMPANY_INDICATORS = frozenset(_TABLE["of_firms"].split())
POINT_IN_TIME_INDICATORS = frozenset(_TABLE["at_a_day"].split())
# Company indicators that no product or business segment has.
COMPANY_ONLY_INDICATORS = frozenset(_TABLE["wholly"].split())
EARNED = ("收入", "利润", "利润总额", "毛利率", "净利率", "费用率", "费用")
PERIOD_INDICATORS = COMPANY_INDICATORS - POINT_IN_TIME_INDICATORS  # meaningless without a period
LOSSES: dict[str, str] = {word: name for name, words in _TABLE["losses"].items() for word in words.split()}
_PHRASES = phrases("measures/words")
CONCENTRATION = re.compile(r"CR\d|前[二三四五六七八九十\d]+")
OPENING = _PHRASES["opening"]
BEFORE_LOSS = phrases("measures/reader")["before_loss"]
# Results that may be negative, so that accounts write a loss in brackets.
RESULTS = ("利润", "净利", "利润总额", "现金流", "现金流净额", "每股收益", "EPS", "EBITDA", "EBIT")
NOISE = _PHRASES["noise"]  # a driver or a source, 「补库带动」, 「某机构统计」, is not part of the scope
STEP = re.compile(r"[降增升涨跌减][至到低加幅了约少]*$")
HYPOTHETICAL = re.compile(r"对应|假设|测算|若|假如|投产|需$|^第\d")
ASIDE = re.compile("（[^（）]*）?$|（[^（）]*）")
NARROWS = frozenset({Kind.REGION, Kind.PRODUCT, Kind.INDUSTRY, Kind.INSTITUTION})
SCOPE_WORDS = _PHRASES["scope_words"]
ON_THE_MARKET = _PHRASES["on_the_market"]
INDEX_MOVES = _PHRASES["index_moves"]
INNER_SCOPE = re.compile("社会|厂内|厂家|港口|贸易商|下游|交易所|期货")
CODE = re.compile(r"（[A-Z]{0,4}[.:]?[0-9]{3,6}(?:[.:][A-Z]{1,4})?）")
LONGEST_SCOPE = 10
_MAINLAND = (".SH", ".SZ", ".BJ")
UNIT_KINDS = {unit: kind for kind, units in _TABLE["unit_kinds"].items() for unit in units.split()}


def is_loss(text: str, ref: EntityMention) -> bool:
    """Return whether an indicator is written as a loss, which makes its figures negative: 净亏损 of 净利润."""
    return text[max(ref.start, 0) : max(ref.end, 0)] in LOSSES


def unit_kind(unit: str) -> str:
    """Return the kind of a unit: percent, ratio, currency, price or count."""
    kind = UNIT_KINDS.get(unit.partition("/")[0], "count")
    return "price" if "/" in unit and kind == "currency" else kind  # 万片/月 is a count


def home_currency(entity: str) -> str:
    """Return the currency of amounts without one: 元 for an issuer that is listed on the mainland, else ""."""
    return "元" if entity.startswith("sec:") and entity.endswith(_MAINLAND) else ""
