"""yanbao: report texts flattened from PDF, with annotated indicators: value, name and time.

Only sentences with an annotated value are scored, because the annotation is nearly complete there. A found value is
right if

* value: its magnitude equals the annotated one in base units (9.45亿元 = 945百万元). Signs are not scored, as the
  annotation writes 同比下降12% either as 下降12% or as 12%;
* indicator: both names map to the same name (营收 = 营业收入, `_SYNONYMS` below), and the change type (同比 环比 占比
  年复合增长率) agrees; 增长9% without a stated base matches 同比, as in the annotation; a share of a market is 市占率;
* period: the annotated words, resolved against the publication day, denote the same days; if one range is annotated for
  a list of values, each value may have its own step. Without an annotated time, the period is not scored.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks.quality.score import Report, Score
from extraction.documents.publication_day import find_days
from extraction.documents.text import carve_plain
from extraction.pipeline import Extractor
from extraction.text.sentences import split
from kg.dating.reader import find_periods
from kg.model import Document
from kg.period import Period, Precision

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.quality.score import Options
    from kg.model import Fact

_READ_AT = datetime(2026, 1, 1, tzinfo=UTC)
_HEAD_CHARACTERS = 3000  # characters at the top searched for the publication day
_NUMBER = re.compile(
    r"(?P<sign>[-+−－])?(?P<n>\d[\d,]*(?:\.\d+)?)\s*(?:[-~～–—至到]\s*[-−]?(?P<high>\d[\d,]*(?:\.\d+)?))?"
    r"\s*(?P<scale>万亿|千亿|百亿|十亿|亿|千万|百万|万|千)?(?P<unit>.*)"
)
_SCALES = {
    "万亿": 1e12, "千亿": 1e11, "百亿": 1e10, "十亿": 1e9, "亿": 1e8, "千万": 1e7, "百万": 1e6, "万": 1e4, "千": 1e3,
}  # fmt: skip
_FALL = re.compile(r"下降|减少|下滑|下跌|降低|回落|跌|降|减")
_KINDS = (
    ("yoy", "同比(?:增长率|增速)?"),
    ("qoq", "环比(?:增长率|增速)?"),
    ("cagr", "年均?复合(?:年均?)?增(?:长率|速)为?|CAGR|复合增长率|复合增速"),
    ("share", "占比"),
    ("change", "增长率|增速|涨跌幅|涨幅|跌幅"),
)
_MIN_SUFFIX_LENGTH = 4
_CHANGE_ALIASES = {"mom": "qoq", "wow": "qoq"}  # the annotation has only one 环比
# Synonyms in the annotation; the first is canonical.
_SYNONYMS = """
营业收入 营收 收入 销售收入 主营业务收入 营业总收入 总收入 主营收入 业务收入 营收规模 收入规模 营业额 营收总额
营业收入 销售额 销售规模 销售金额 销售总额 药品销售额
市场规模 市场空间 规模 市场容量 行业规模 产业规模 市场总规模 市场
市占率 市场份额 份额 市场占有率 占有率
净利率 净利润率 销售净利率
利润率 营业收入利润率 营业利润率
毛利率 销售毛利率
归母净利润 归属母公司净利润 归属于母公司净利润 归属于上市公司股东的净利润 归母净利 归属净利润 归母利润
扣非归母净利润 扣非净利润 扣非净利 扣非归母净利 扣非后归母净利润 扣非后净利润
净利润 净利 利润
研发费用 研发投入 研发支出 研发费用支出 研发投入额
销量 销售量 总销量
出货量 出货 总出货量
出货金额 出货额
渗透率 市场渗透率
资本支出 资本开支 资本投入 CAPEX Capex 资本性支出
市盈率 P/E PE 动态市盈率 估值 PE估值 PE(TTM)
市净率 PB P/B
ROE 净资产收益率
产值 总产值 工业总产值
需求量 需求
投资金额 投资额 投资
价格 均价 平均价格 单价 售价 平均单价 报价 平均售价 ASP 合约价 现货价 现货价格
股票指数 指数 股价 涨跌幅 涨幅 跌幅 行业指数 累计涨幅
EPS 每股收益 EPS(摊薄)
增加值 工业增加值
经营活动现金流 经营性现金流 经营活动产生的现金流量净额 经营活动现金流净额 经营性现金流净额 经营现金流
进口额 进口金额 进口总额
出口额 出口金额 出口总额
市值 持仓市值 持股市值 总市值
"""
_SHARE_INDICATORS = ("市占率", "渗透率", "集中度", "占比")  # indicators that are shares by name


@dataclass(frozen=True, slots=True)
class _Item:
    """One annotated or extracted measurement in a sentence of a text."""

    text: str
    sentence: int
    indicators: frozenset[str]
    kind: str
    number: float
    unit: str
    periods: frozenset[Period] | None = None
    shown: str = ""

    def measures(self, other: _Item) -> bool:
        """Whether magnitude and unit agree."""
        same = abs(abs(self.number) - abs(other.number)) <= 1e-6 * max(abs(self.number), 1e-9)
        return same and (self.unit == other.unit or not (self.unit and other.unit))

    def names(self, other: _Item) -> bool:
        """Whether the indicators agree: same canonical name, or one ends with the other (药店数量, 零售药店数量)."""
        if not self.indicators & other.indicators:
            longer = [
                (a, b) for a in self.indicators for b in other.indicators if min(len(a), len(b)) >= _MIN_SUFFIX_LENGTH
            ]
            if not any(a.endswith(b) or b.endswith(a) for a, b in longer):
                return False
        # The annotation labels 增长9.2% without a base as 同比.
        return self.kind == other.kind or (other.kind == "change" and self.kind in ("yoy", "qoq"))


def measure(options: Options) -> Report:
    """Extract every text without NER and edge model, and score the annotated sentences."""
    by_value = Score("value")
    named = Score("value + indicator", at_least=0.65)
    dated = Score("value + indicator + period", at_least=0.55)
    report = Report((named, dated, by_value))
    extractor = Extractor.default(master=options.master, ner=False, edge_model="off")
    for path in _texts(options):
        record = json.loads(path.read_text(encoding="utf-8"))
        report.texts += 1
        document = _document(path, record["source_content"])
        starts = _sentence_starts(document)
        gold = list(_gold_items(record, document, starts))
        places = {item.sentence for item in gold}
        reading = extractor.extract(document, recorded_at=_READ_AT)
        names = {entity.id: (entity.name, entity.about) for entity in reading.entities}
        found = [item for fact in reading.facts for item in _found_items(fact, document, starts, names)]
        _count(report, gold, [item for item in found if item.sentence in places])
    report.notes.append("Without NER and edge model. Sentences without an annotated value are not scored.")
    return report


def _texts(options: Options) -> list[Path]:
    files = sorted(path for each in options.files for path in (each.rglob("*.json") if each.is_dir() else [each]))
    return files[:: max(1, len(files) // options.limit)] if options.limit else files


def _document(path: Path, text: str) -> Document:
    body = carve_plain(text)
    return Document(path.stem, path.stem, _published(text), body.text, blocks=body.blocks, removed=body.removed)


def _published(text: str) -> date:
    """Return the first full date at the top, else the latest in the text; the format has no date field."""
    top = [day for _, day in find_days(text[:_HEAD_CHARACTERS])]
    days = [day for _, day in find_days(text) if day <= _READ_AT.date()]
    return top[0] if top else max(days, default=_READ_AT.date())


def _sentence_starts(document: Document) -> list[int]:
    return [line.start for block in document.blocks for line in split(document.text, block.start, block.end)]


def _gold_items(record: dict[str, Any], document: Document, starts: list[int]) -> Iterator[_Item]:
    for clause in record["data"]:
        begin = int(clause["content_offset"][0])
        last = ""
        for annotated in reversed(clause["indicators"]):  # 526、654、755亿元: the last number carries the unit
            words, start, end = annotated["indicator_value"] or ("", "", "")
            words = words.replace("\n", "")
            value = _value(words + last if words and re.fullmatch(r"[\d.,]+", words) else words)
            if value is None:
                continue  # 仍将上涨: no number
            if tail := re.search(r"\d\s*([^\d\s.,].*)$", words):
                last = tail[1]
            name, kind = _split_change(annotated["indicator_name"])
            time = annotated["indicator_element"].get("时间")
            time_words = time[0] if time and isinstance(time[0], str) else ""
            there = start and document.text[int(start) : int(end)].replace("\n", "") == words
            yield _Item(
                document.id,
                bisect_right(starts, int(start) if there else begin),
                frozenset({name}),
                kind,
                *value,
                _periods(time_words, document) if time_words else None,
                f"{annotated['indicator_name']} {words} {time_words} ← {clause['content']}".replace("\n", ""),
            )


def _value(words: str) -> tuple[float, str] | None:
    match = _NUMBER.search(words.replace("\n", ""))
    if match is None:
        return None
    number = float(match["n"].replace(",", "")) * _SCALES.get(match["scale"] or "", 1.0)
    if match["sign"] in {"-", "−", "－"} or _FALL.search(words[: match.start("n")]):
        number = -number
    return number, _unit(match["unit"])


def _unit(words: str) -> str:
    """Normalise a unit: percent, percentage points, currency, or empty for counted items."""
    words = words.strip()
    if words.startswith(("%", "％", "个点")):
        return "%"
    if re.match("(?:个)?(?:百分点|pct|PCT|pp)", words):
        return "pct"
    return next(
        (name for name in ("美元", "美金", "港元", "欧元", "日元", "新台币", "元") if words.startswith(name)), ""
    )


def _split_change(name: str) -> tuple[str, str]:
    """Split off the change type: 归母净利润同比 gives 归母净利润, yoy."""
    name = re.sub(r"\s", "", name)
    for kind, words in _KINDS:
        if match := re.search(rf"(?:{words})$", name):
            return _canonical(_canonical_name(name[: match.start()] or name), kind)
    return _canonical(_canonical_name(name), "")


def _canonical(name: str, kind: str) -> tuple[str, str]:
    """Unify names: a share of a market is 市占率, and an index includes its changes."""
    if (name, kind) in {("市场规模", "share"), ("营业收入", "share")} or (
        name in _SHARE_INDICATORS and kind == "share"
    ):
        return ("市占率", "") if name not in _SHARE_INDICATORS else (name, "")
    return (name, "") if name == "股票指数" and kind in ("change", "yoy", "qoq", "ytd") else (name, kind)


@cache
def _synonyms() -> dict[str, str]:
    return {name: row.split()[0] for row in _SYNONYMS.strip().split("\n") for name in row.split()}


def _canonical_name(name: str) -> str:
    return _synonyms().get(name, name)


def _periods(words: str, document: Document) -> frozenset[Period]:
    """Return the possible periods of the annotated words; without a year, the publication year or the previous one."""
    days = [document.published_on]
    if not re.search(r"(?:19|20)\d\d|\d\d年|\d[QHE]|[QHE]\d", words):
        days.append(document.published_on.replace(year=document.published_on.year - 1, month=12, day=28))
    found = (find_periods(words.replace("\n", ""), day) for day in days)
    return frozenset(dated.period for each in found for dated in each)


def _found_items(
    fact: Fact, document: Document, starts: list[int], names: dict[str, tuple[str, str]]
) -> Iterator[_Item]:
    if fact.relation != "reports" or fact.value is None:
        return
    full, about = names[fact.object]
    head = full.removeprefix(names[about][0]) if about in names else full
    if fact.value.basis == "扣非":
        head = "扣非归母净利润"
    change = _CHANGE_ALIASES.get(fact.value.change, fact.value.change)
    canonical, own = _split_change(head)
    named, kind = _canonical(canonical, own if change in ("", "ytd") else change)
    for item in fact.evidence:
        yield _Item(
            document.id,
            bisect_right(starts, item.start),
            frozenset({named, full}),
            kind,
            fact.value.number,
            _unit({"美金": "美元"}.get(fact.value.unit, fact.value.unit)),
            frozenset({fact.valid} if fact.valid else ()),
            f"{full} {fact.value.number:g}{fact.value.unit} {change} {fact.valid} ← {item.quote[:160]}",
        )


def _count(report: Report, gold: list[_Item], found: list[_Item]) -> None:
    """Match items per sentence, preferring the right indicator, then the right period."""
    named, dated, by_value = report.scores
    for score in report.scores:
        score.gold += len(gold)
        score.found += len(found)
    left = list(found)
    for wanted in sorted(gold, key=lambda item: item.sentence):
        near = [item for item in left if item.sentence == wanted.sentence and wanted.measures(item)]
        if not near:
            report.fault("missed", wanted.shown)
            continue
        best = max(near, key=lambda item: (wanted.names(item), _agree(wanted, item)))
        left.remove(best)
        by_value.right += 1
        if not wanted.names(best):
            report.fault("wrong indicator", f"{wanted.shown} ✗ {best.shown}")
            continue
        named.right += 1
        if _agree(wanted, best):
            dated.right += 1
        else:
            report.fault("wrong date", f"{wanted.shown} ✗ {best.shown}")
    for item in left:
        report.fault("not annotated", item.shown)


def _agree(wanted: _Item, found: _Item) -> bool:
    """Whether the periods agree; a range annotated for a list of values covers the step of each value."""
    if wanted.periods is None or wanted.periods == found.periods:
        return True
    found_periods = found.periods or frozenset()
    if wanted.periods & found_periods:
        return True
    spans = [each for each in wanted.periods if each.precision == Precision.RANGE]
    return any(span.covers(one) and one.precision != Precision.RANGE for span in spans for one in found_periods)
