"""CCKS 2021 financial causality: pairs of event types, such as 供给减少 → 市场价格提升.

A stored causal fact yields a pair if both ends map to types of the set; effects on anything else map to 正向影响 or
负向影响. Occurrences (猪瘟, 台风 …) are matched by name.
"""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from benchmarks.quality.reading import TextReader
from benchmarks.quality.score import Options, Report, Score

if TYPE_CHECKING:
    from pathlib import Path

    from kg.model import Fact, Reading

Pair = tuple[str, str]

DAY = date(2020, 6, 30)  # the texts are undated
# Suffix of a factor's name → the set's types for a rise and a fall.
_MEASURES = (
    (("价格", "价", "行情", "指数"), ("市场价格提升", "市场价格下降")),
    (("供给", "供应", "产量", "产能", "存栏", "开工率", "库存"), ("供给增加", "供给减少")),
    (("需求", "消费", "备货", "采购"), ("需求增加", "需求减少")),
    (("销量", "销售", "消费量"), ("销量（消费）增加", "销量（消费）减少")),
    (("成本", "费用"), ("运营成本提升", "运营成本下降")),
    (("利润", "盈利", "毛利", "业绩"), ("产品利润增加", "产品利润下降")),
    (("进口", "进口量"), ("进口增加", "进口下降")),
    (("出口", "出口量"), ("出口增加", "出口下降")),
)
_OCCURRENCES = (*("限产", "猪瘟", "猪口蹄疫", "禽流感", "干旱", "洪涝", "台风", "地震", "寒潮", "霜冻", "冰雹"),)
_OTHER_EFFECTS = ("正向影响", "负向影响")


def measure(options: Options) -> Report:
    """Score the pairs of every text."""
    texts = [text for path in options.files for text in load(path)][: options.limit or None]
    pairs = Score("cause type, effect type", at_least=0.42)
    report = Report([pairs], texts=len(texts))
    reader = TextReader(DAY, options.master)
    for text, gold in texts:
        read = pairs_of(reader.read(text))
        pairs.add(gold, read)
        for pair in sorted(gold - read):
            swapped = (pair[1], pair[0]) in read
            report.fault("wrong direction" if swapped else "missed", f"{text[:160]} | {pair} | {sorted(read)}")
        for pair in sorted(read - gold):
            report.fault("not in the set", f"{text[:160]} | {pair} | {sorted(gold)}")
    return report


def load(path: Path) -> list[tuple[str, set[Pair]]]:
    """Load the texts of a file with their gold pairs."""
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [(row["raw_text"], {(each["reason_type"], each["result_type"]) for each in row["result"]}) for row in rows]


def pairs_of(reading: Reading) -> set[Pair]:
    """Return the type pairs of a text's causal facts."""
    names = {entity.id: entity.name for entity in reading.entities}
    found = set()
    for fact in reading.facts:
        if fact.relation == "affects":
            cause, effect = _type(fact, names[fact.subject], "cause"), _type(fact, names[fact.object], "effect")
            if cause and effect:
                found.add((cause, effect))
    return found


def _type(fact: Fact, name: str, side: str) -> str:
    fall = fact.qualifier(f"{side}_direction") == "down"
    if occurrence := next((each for each in _OCCURRENCES if each in name), ""):
        return occurrence
    types = next((types for ends, types in _MEASURES if name.endswith(ends)), None)
    if types is None:
        return _OTHER_EFFECTS[fall] if side == "effect" else ""
    return types[fall]
