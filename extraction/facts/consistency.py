"""Check that the figures of one document agree: a change with its two levels, parts with their whole.

Which facts are withheld:

* A change that contradicts two levels is withheld and the levels kept: it can be derived from them but not vice versa,
  and one of its words (同比, 环比, the period) is misread more often than a plain level.
* A part above its whole is withheld and the whole kept: a part has one more thing to misread, its name.
* Shares or parts that sum to more than the whole are all kept and reported as a Problem: any of them may be wrong.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from extraction.quantities.change import DIFFERENCES
from extraction.quantities.units import SCALES
from extraction.text.lexicon import phrases
from kg.model import Modality, Polarity, Problem
from kg.period import Precision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from kg.model import Fact, Value
    from kg.period import Period

_MONTHS_BACK = {
    ("yoy", None): 12,
    ("qoq", Precision.QUARTER): 3,
    ("mom", Precision.MONTH): 1,
}
_MEASURED = frozenset({Modality.ASSERTED, Modality.FORECAST})
_PHRASES = phrases("facts/consistency")
_ABOUT = _PHRASES["about"]
_ABOUT_SLACK = 0.05
# Stated on a different basis from the plain levels, so not comparable.
_OTHER_BASIS = _PHRASES["other_basis"]
# Purely additive figures: a part never exceeds the whole. Profit is not one, since another part may make a loss.
_ADDITIVE = ("收入", "营业成本", "销量", "产量", "出货量", "产能", "装机量", "订单", "员工人数")
_WIDER = _PHRASES["wider"]  # scopes that are not part of the company
_MIN_PARTS, _WHOLE = 2, 100.0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An inconsistency, and the ids of the facts withheld because of it."""

    problem: Problem
    withheld: frozenset[str] = frozenset()


def contradictions(facts: Sequence[Fact]) -> list[Contradiction]:
    """Return the inconsistencies among the measured facts of one document: changes, then parts, then shares."""
    measured = [
        fact
        for fact in facts
        if fact.relation == "reports"
        and fact.value is not None
        and fact.value.high is None
        and fact.valid is not None
        and fact.modality in _MEASURED
        and fact.polarity is Polarity.POSITIVE
    ]
    return [*_changes(measured), *_parts(measured), *_shares(measured)]


def _changes(facts: Sequence[Fact]) -> Iterator[Contradiction]:
    """Yield changes that no two levels of their periods imply, beyond what rounding explains."""
    levels = _by_level(fact for fact in facts if not _value(fact).change)
    for fact in facts:
        before = _period_before(fact)
        if before is None or _OTHER_BASIS.search(_quote(fact)):
            continue
        pairs = list(product(levels[_key(fact, fact.valid)], levels[_key(fact, before)]))
        implied = [_implied_span(now, then, fact) for now, then in pairs if _value(now).unit == _value(then).unit]
        spans = [span for span in implied if span is not None]
        if not spans or len(spans) < len(pairs):
            continue
        slack = 2 * rounding(_value(fact)) + 1e-9 + _tolerance(fact) * abs(_value(fact).number)
        if any(low - slack <= _value(fact).number <= high + slack for low, high in spans):
            continue
        low, high = spans[0]
        message = f"{_value(fact).number:g}{_value(fact).unit}与两期数值不符，应约为{(low + high) / 2:.1f}"
        yield Contradiction(_problem(fact, message), frozenset({fact.id}))


def _parts(facts: Sequence[Fact]) -> Iterator[Contradiction]:
    """Yield segment figures above the company's, and segments of one sentence whose sum is above it."""
    levels = [
        fact for fact in facts if not _value(fact).change and fact.object.endswith(_ADDITIVE) and _is_company(fact)
    ]
    wholes = _by_level(fact for fact in levels if not fact.qualifiers)
    groups: defaultdict[tuple[tuple[object, ...], int], list[Fact]] = defaultdict(list)
    for fact in levels:
        scope = dict(fact.qualifiers).get("scope", "")
        if not scope or _WIDER.search(scope):
            continue
        key = _key(fact, fact.valid, whole=True)
        most = max((_top(whole) for whole in wholes[key]), default=None)
        if most is None or {_value(whole).unit for whole in wholes[key]} != {_value(fact).unit}:
            continue
        if _bottom(fact) > most:
            yield Contradiction(_problem(fact, f"{scope}的数值高于整体"), frozenset({fact.id}))
        else:
            groups[key, fact.evidence[0].start].append(fact)
    for (key, _), parts in groups.items():
        most = max(_top(whole) for whole in wholes[key])
        if len(parts) >= _MIN_PARTS and sum(_bottom(part) for part in parts) > most:
            yield Contradiction(_problem(parts[0], "各部分之和高于整体"))


def _shares(facts: Sequence[Fact]) -> Iterator[Contradiction]:
    """Yield shares of one whole in one sentence that sum to more than 100 %."""
    groups: defaultdict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        scope = dict(fact.qualifiers).get("scope", "")
        if _value(fact).change == "share" and _value(fact).unit == "%" and scope and not _WIDER.search(scope):
            groups[fact.subject, fact.object, _days(fact.valid), fact.evidence[0].start].append(fact)
    for parts in groups.values():
        if len(parts) >= _MIN_PARTS and sum(_bottom(part) for part in parts) > _WHOLE:
            total = sum(_value(part).number for part in parts)
            yield Contradiction(_problem(parts[0], f"各部分占比之和为{total:g}%"))


def rounding(value: Value) -> float:
    """Return half of the last digit that the number can have been written with, in base units.

    Trailing zeros are lost in parsing (12.0亿元 becomes 12亿元), so the slack is rather too wide.
    """
    scale = SCALES.get(value.scale, 1.0)
    digits = f"{abs(value.number) / scale:.10g}"
    return 0.5 * 10.0 ** -len(digits.partition(".")[2]) * scale


def _implied_span(now: Fact, before: Fact, change: Fact) -> tuple[float, float] | None:
    """Return the minimum and maximum change that two levels imply, None if they are not comparable."""
    slack_now, slack_before = _slack(now), _slack(before)
    corners = [
        _implied(_value(now).number + i * slack_now, _value(before).number + j * slack_before, _value(change).unit)
        for i, j in product((-1, 1), repeat=2)
    ]
    known = [corner for corner in corners if corner is not None]
    return (min(known), max(known)) if len(known) == len(corners) else None


def _implied(now: float, before: float, unit: str) -> float | None:
    if unit in DIFFERENCES:
        return (now - before) * (100 if unit == "bp" else 1)
    if before <= 0:
        return None  # a growth rate from a loss has no agreed meaning
    return {"%": (now / before - 1) * 100, "倍": now / before - 1}.get(unit)


def _period_before(fact: Fact) -> Period | None:
    """Return the base period of a change in whole months; for days, the earlier level is never stated."""
    valid, change = fact.valid, _value(fact).change
    assert valid is not None
    back = _MONTHS_BACK.get((change, None)) or _MONTHS_BACK.get((change, valid.precision))
    if back is None or valid.start is None or valid.end is None or (valid.start.day, valid.end.day) != (1, 1):
        return None
    return type(valid)(_earlier(valid.start, back), _earlier(valid.end, back), valid.precision)


def _earlier(day: date, months: int) -> date:
    years, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return day.replace(year=years, month=month + 1)


def _by_level(facts: Iterable[Fact]) -> defaultdict[tuple[object, ...], list[Fact]]:
    found: defaultdict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        found[_key(fact, fact.valid)].append(fact)
    return found


def _key(fact: Fact, period: Period | None, *, whole: bool = False) -> tuple[object, ...]:
    """Return what two figures must share to be compared; with `whole`, the key of the company-wide figure."""
    return fact.subject, fact.object, _value(fact).basis, () if whole else fact.qualifiers, _days(period)


def _days(period: Period | None) -> tuple[date | None, date | None]:
    return (period.start, period.end) if period else (None, None)


def _value(fact: Fact) -> Value:
    assert fact.value is not None  # callers pass only measured facts
    return fact.value


def _quote(fact: Fact) -> str:
    return " ".join(item.quote for item in fact.evidence)


def _tolerance(fact: Fact) -> float:
    return _ABOUT_SLACK if _ABOUT.search(_quote(fact)) else 0.0


def _slack(fact: Fact) -> float:
    return rounding(_value(fact)) + _tolerance(fact) * abs(_value(fact).number)


def _top(fact: Fact) -> float:
    return _value(fact).number + _slack(fact)


def _bottom(fact: Fact) -> float:
    return _value(fact).number - _slack(fact)


def _is_company(fact: Fact) -> bool:
    return fact.subject.startswith(("sec:", "org:"))


def _problem(fact: Fact, message: str) -> Problem:
    item = fact.evidence[0]
    return Problem("arithmetic", f"{fact.object.partition(':')[2]}：{message}", item.start, item.end)
