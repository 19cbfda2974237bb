"""Extract ratings and target prices: 「给予宁德时代“买入”评级，目标价300元」."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.sentence import Claim, EntityMention
from kg.ids import entity_id
from kg.model import Kind, Value
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.sentence import AnnotatedSentence

_RATINGS = (
    "强烈推荐|强力买入|强烈买入|优于大市|同步大市|弱于大市|跑赢行业|跑赢大市|谨慎推荐|谨慎增持|"
    "审慎增持|买入|增持|推荐|中性|持有|减持|卖出|回避|看好|领先大市"
)
_RATING = Prefiltered(
    rf"(?P<action>首次覆盖|首次|维持|给予|上调|下调|重申|调升|调降|予以|恢复)[^，。；]{{0,30}}?[“\"「‘]?(?P<rating>{_RATINGS})[”\"」’]?(?:的)?(?:投资)?评级"
)
_TARGET = re.compile(
    r"(?:目标价|目标价格|合理价值|对应目标价)(?:区间)?(?:为|至|到|上调至|下调至|调整至|约|是)*(?P<price>\d+(?:\.\d+)?)(?:-(?P<high>\d+(?:\.\d+)?))?(?P<unit>元|港元|美元|港币|HKD|USD)"
)
_BROKER = re.compile(r"证券$|国际$|中金公司|高盛|摩根|瑞银|花旗|汇丰|野村|大和|美银|里昂|麦格理|杰富瑞|伯恩斯坦")
_UNITS = {"港币": "港元", "HKD": "港元", "USD": "美元"}


def read(annotated: AnnotatedSentence, publisher: str) -> Iterator[Claim]:
    """Yield the ratings of one sentence; the rater is the institution named before, else the publisher."""
    for match in _RATING.finditer(annotated.text):
        object_ = _rated(annotated, match)
        subject = _rater(annotated, match.start(), publisher)
        if object_ is None or subject is None or subject.entity == object_.entity:
            continue
        target = _TARGET.search(annotated.text)
        yield Claim(
            relation="rates",
            subject=subject,
            object=object_,
            start=match.start(),
            end=max(match.end(), target.end() if target else 0),
            pattern="rating",
            value=_price(target),
            qualifiers=(("action", match["action"]), ("rating", match["rating"])),
            confidence=0.9 * object_.score,
        )


def _rated(annotated: AnnotatedSentence, match: re.Match[str]) -> EntityMention | None:
    inside = [ref for ref in annotated.between(match.start(), match.end()) if ref.kind in (Kind.COMPANY, Kind.INDUSTRY)]
    if inside:
        return inside[0]
    before = [ref for ref in annotated.between(0, match.start()) if ref.kind in (Kind.COMPANY, Kind.INDUSTRY)]
    if len({ref.entity for ref in before}) == 1:
        return before[0]
    return annotated.subject if not before else None


def _rater(annotated: AnnotatedSentence, before: int, publisher: str) -> EntityMention | None:
    named = [ref for ref in annotated.between(0, before) if ref.kind == Kind.INSTITUTION or _BROKER.search(ref.name)]
    if named:
        return named[-1]
    return EntityMention(entity_id(Kind.INSTITUTION, publisher), Kind.INSTITUTION, publisher) if publisher else None


def _price(match: re.Match[str] | None) -> Value | None:
    if match is None:
        return None
    unit = _UNITS.get(match["unit"], match["unit"])
    return Value(
        float(match["price"]), unit, basis="target_price", high=float(match["high"]) if match["high"] else None
    )
