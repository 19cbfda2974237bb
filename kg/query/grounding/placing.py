"""Whether the numbers of a clause are, in a statement, those of the same firm, measure and time.

归母净利润 beside 营收 of one statement does not get the number of 营收, nor a firm that of another one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from kg.query.grounding.claims import (
    allows,
    dates_near,
    directions,
    elsewhere,
    foreign_letters,
    has_date,
    has_word,
    named_in,
    opposite,
    run_of,
    strangers,
    stretch,
    subject_of,
    turned,
    uncovered,
    words_of,
)
from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kg.period import Period
    from kg.query.grounding.claims import ClauseClaim
    from kg.query.grounding.quantities import DateSpan, FigureSpan
    from kg.query.grounding.statements import FoundName, SourceStatement

_ITEM = re.compile(r"[、,，/]|和|及|与|以及")
_NUMBERED = re.compile(r"\([^()]*\d[^()]*\)")  # 24.8%(topcon 23.3%): the name belongs to the second number
_SHORTEST_WORD = 2


def fits(figure: FigureSpan, other: FigureSpan, statement: SourceStatement) -> bool:
    """Whether a number of a statement is that of a clause."""
    return figure.same(other, f"{statement.text} {statement.context}") and figure.agrees(other)


def wrong_figures(claim: ClauseClaim, statement: SourceStatement) -> list[str]:
    """Return the numbers of a clause that a statement does not have, or has moving the other way."""
    out = []
    for figure in claim.figures:
        same = [other for other in statement.figures if figure.same(other, f"{statement.text} {statement.context}")]
        if not same and not _in_title(claim, figure, statement):
            out.append(f"number {claim.text[figure.start : figure.end].strip()}")
        elif same and not any(figure.agrees(other) for other in same):
            out.append(f"direction of {claim.text[figure.start : figure.end].strip()}")
    return out


def _in_title(claim: ClauseClaim, figure: FigureSpan, statement: SourceStatement) -> bool:
    """Whether a bare number is one of what the statement inherits: 模型1.6的成本 below 模型1.6."""
    bare = not figure.unit and figure.factor == 1
    digits = re.escape(claim.text[figure.start : figure.end].strip())
    return bare and re.search(rf"(?<![\d.]){digits}(?!\d|\.\d)", f"{statement.context} {statement.subject}") is not None


def with_figures(claim: ClauseClaim, statement: SourceStatement) -> list[str]:
    """Return why the numbers of a clause belong to something else in the statement."""
    out: list[str] = []
    for figure in claim.figures:
        if not figure.unit and figure.factor == 1:
            continue
        fitting = [other for other in statement.figures if fits(figure, other, statement)]
        wrong = [_misplaced(_of_figure(claim, figure), statement, other) for other in fitting]
        least: list[str] = min(wrong, key=len, default=[])
        out += least
    whole = f"{statement.context} {statement.house} {statement.subject} {statement.text}"
    out += [] if "words" in claim.inherited else uncovered(claim, statement, f"{whole} {statement.before}", least=0)
    subject = subject_of(claim)
    names = [name for name in claim.names if name.group != "thing" or name.text == subject]
    out += [f"name {name.text}" for name in names if not named_in(whole, name, statement)]
    out += [f"date {date.period}" for date in claim.dates if not has_date(claim, statement, date)]
    out += foreign_letters(claim, whole)
    return list(dict.fromkeys([*out, *turned(claim, statement)]))


def _of_figure(claim: ClauseClaim, figure: FigureSpan) -> ClauseClaim:
    """Return a clause with several numbers and names as the part of it that one number belongs to."""
    alike = [each for each in claim.figures if each.unit == figure.unit]
    before = [name for name in claim.names if name.end <= figure.start]
    several = len(alike) > 1 and len(claim.names) > 1 and before and "names" not in claim.inherited
    return replace(claim, names=(before[-1],)) if several and "分别" not in claim.text else claim


def _misplaced(claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan) -> list[str]:
    """Return what a clause connects with a number that the statement connects with another number of its unit."""
    rivals = [each for each in statement.figures if each.unit == figure.unit and each is not figure and each.unit]
    if listed := _other_item(claim, statement, figure):
        return listed
    out = [fault for check in _CHECKS for fault in check(claim, statement, figure, rivals)]
    out += strangers(claim, statement, (statement.clause_at(figure.start)[0], figure.end))
    out += elsewhere(claim, statement, f"{statement.context} {statement.subject} {statement.text}")
    worded = len(set(directions(claim.text, claim.names))) == 1 and not figure.signed
    return out + (opposite(claim, _own(statement, figure), statement.names) if worded else [])


def _other_words(
    claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan, rivals: Sequence[FigureSpan]
) -> list[str]:
    """Return the words and names of a clause that belong to another number, and not to this one."""
    near, others = _near(statement, figure), [_own(statement, rival) for rival in rivals]
    words = [word for word in ("" if "words" in claim.inherited else claim.words) if not has_word(near, word)]
    names = [name for name in claim.names if not named_in(near, name, statement)]
    return [
        *(f"{word} of another number" for word in words if any(has_word(other, word) for other in others)),
        *(f"name {name.text}" for name in names if any(named_in(other, name, statement) for other in others)),
    ]


def _other_dates(
    claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan, rivals: Sequence[FigureSpan]
) -> list[str]:
    """Return the dates of a clause that are those of another number."""
    if len(claim.dates) > 1 and len(claim.figures) > 1:
        return []
    dated, out = dates_near(statement, figure), []
    for date in claim.dates:
        if date.base or (dated and allows(dated, date)):
            continue
        elsewhere = any(allows(dates_near(statement, rival, base=not dated), date) for rival in rivals)
        if elsewhere or (dated and "dates" not in claim.inherited):
            out.append(f"date {date.period}")
    return out


def _other_measure(
    claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan, _: Sequence[FigureSpan]
) -> list[str]:
    """Return a fault where a clause gives a measure the number that its source gives another measure."""
    own = _own(statement, figure)
    if "words" in claim.inherited and "占" in claim.text:  # a share is a measure of its own
        return []
    for spellings in claim_words().measures:
        said = [word for word in claim.words if word in spellings or (word.endswith("价") and "价格" in spellings)]
        english = (word for word in said if word.isascii())  # capacity is 产能 or 装机
        if said and not any(word in own for word in spellings) and not any(has_word(own, word) for word in english):
            others = (each for each in claim_words().measures if each != spellings)
            if any(word in own for other in others for word in other):
                return ["number of another measure"]
    return []


def _other_basis(
    claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan, _: Sequence[FigureSpan]
) -> list[str]:
    """Return a fault where a clause gives 同比 the number that its source gives 环比."""
    own = statement.text[stretch(statement, figure.start) : figure.end]
    groups = claim_words().basis
    said = [group for group in groups if any(word in claim.text for word in group)]
    stated = [group for group in groups if any(word in own for word in group)]
    return ["number of another basis"] if len(said) == 1 and stated and said[0] not in stated else []


def _near(statement: SourceStatement, figure: FigureSpan) -> str:
    """Return the text that a number belongs to: context, what comes before the first number, its own stretch."""
    measured = [each for each in statement.figures if each.unit or each.factor != 1] or [figure]
    before = [each.end for each in measured if each.unit == figure.unit and each.end <= figure.start]
    begin, end = statement.clause_at(figure.start)
    own = statement.text[min(begin, max(before, default=0)) : figure.end]
    own += _NUMBERED.sub("", statement.text[figure.end : max(end, figure.end)])
    return f"{statement.context} {statement.subject} {statement.text[: measured[0].start]} {own}"


def _other_party(
    claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan, _: Sequence[FigureSpan]
) -> list[str]:
    """Return a fault where the number is that of a party, and the clause of another one."""
    begin, end = statement.clause_at(figure.start)
    own = _own(statement, figure)
    there = [name for name in statement.parties if begin <= name.start < end and name.text in own]
    parties = [name for name in claim.names if name.party]
    before, after = statement.text[: figure.start], statement.text[figure.start :]
    if not there and not any(named_in(before, name, statement) for name in parties):
        ahead = [name for name in statement.parties if name.end <= figure.start]
        there = ahead[-1:] if any(named_in(after, name, statement) for name in parties) else []
    met = any(name.ids & other.ids or name.text in own for name in parties for other in there)
    return [f"name {parties[0].text}"] if there and parties and not met else []


def _own(statement: SourceStatement, figure: FigureSpan) -> str:
    """Return what a number belongs to in its clause, and the clause before where that is only 同比增长 or the like."""
    begin = stretch(statement, figure.start)
    text = statement.text[begin : figure.end]
    while begin and _says_nothing(statement, begin, figure.end):
        start = statement.clause_at(begin)[0]
        begin = start if start < begin else statement.clause_at(begin - 1)[0] if start == begin else 0
        text = statement.text[begin : figure.end]
    return text


def _says_nothing(statement: SourceStatement, begin: int, end: int) -> bool:
    """Whether a part of a statement before a number is only a direction or what it is compared with."""
    if any(begin <= name.start < end for name in statement.names):
        return False
    text = statement.text[begin:end]
    for group in claim_words().basis:
        for word in group:
            text = text.replace(word, " " * len(word))
    return not words_of(text, _inside(statement, begin, end))


def _inside(statement: SourceStatement, begin: int, end: int) -> list[FoundName | DateSpan | FigureSpan]:
    """Return names, dates and numbers of a part of a statement, placed in that part."""
    known: tuple[FoundName | DateSpan | FigureSpan, ...] = (*statement.names, *statement.dates, *statement.figures)
    return [
        replace(each, start=each.start - begin, end=each.end - begin)
        for each in known
        if begin <= each.start and each.end <= end
    ]


def _of_rival(
    claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan, rivals: Sequence[FigureSpan]
) -> list[str]:
    """Return a fault where the stretch of another number has all that a clause is about, and that of its own not."""
    measured = [each for each in statement.figures if each.unit or each.factor != 1] or [figure]
    opening, _ = statement.clause_at(measured[0].start)
    strict = f"{statement.context} {statement.subject} {statement.text[:opening]} {_own(statement, figure)}"
    words = [word for word in claim.words if has_word(statement.text, word)] if "words" not in claim.inherited else []
    names = [name for name in claim.names if named_in(statement.text, name, statement)]
    bare = [claim.text[each.start : each.end].strip() for each in claim.figures if not each.unit and each.factor == 1]
    alike = [each for each in claim.figures if each.unit == figure.unit]
    if len(alike) > 1 or len(run_of(statement, figure)) > 1 or (not words and not bare and "names" in claim.inherited):
        return []

    def has_all(text: str) -> bool:
        return (
            all(has_word(text, word) for word in words)
            and all(named_in(text, name, statement) for name in names)
            and all(digits in text for digits in bare)
        )

    if not (words or names or bare) or has_all(strict):
        return []
    return ["number of something else"] if any(has_all(_own(statement, rival)) for rival in rivals) else []


def _other_item(claim: ClauseClaim, statement: SourceStatement, figure: FigureSpan) -> list[str]:
    """Return the faults of 分别: the first of three names has the first of three numbers."""
    run = run_of(statement, figure)
    marked = statement.text.rfind("分别", 0, run[0].start) if len(run) > 1 else -1
    if marked < 0:
        return []
    position, same = run.index(figure), claim_words().same
    if years := _listed_dates(statement, marked, len(run)):
        wanted = [date.period for date in claim.dates]
        single = [each for each in wanted if each in years]
        return [f"date {single[0]}"] if single and years[position] not in wanted else []
    items = _items_before(statement.text[: statement.text.find("分别")], len(run))
    said = " ".join((claim.text, *(each for word in claim.words if word.isascii() for each in same.get(word, ()))))
    shared = [_shared(said, item) for item in items]
    best = max(shared, default=0)
    there = [number for number, item in enumerate(items) if shared[number] == len(item)]
    there = there or [number for number, count in enumerate(shared) if count == best >= _SHORTEST_WORD]
    return [f"{items[there[0]]} of another number"] if there and position not in there else []


def _listed_dates(statement: SourceStatement, end: int, count: int) -> Sequence[Period]:
    """Return the periods that a list of numbers goes through: 2024-2026年, or 一季度、二季度."""
    dates = [each for each in statement.dates if each.end <= end and not each.base]
    spans = [each.years for each in dates if len(each.years) == count]
    gaps = [statement.text[one.end : other.start] for one, other in pairwise(dates[-count:])]
    if len(gaps) == count - 1 and all(_ITEM.fullmatch(gap) for gap in gaps):
        return [each.period for each in dates[-count:]]
    return spans[-1] if spans else ()


def _items_before(text: str, count: int) -> list[str]:
    parts = [part.strip() for part in _ITEM.split(text) if part.strip()]
    return parts[-count:] if len(parts) >= count else []


def _shared(text: str, item: str) -> int:
    """Return how many characters in a row of an item of a list a text has; other words may surround the item."""
    return SequenceMatcher(None, text, item, autojunk=False).find_longest_match().size


_CHECKS: tuple[Callable[[ClauseClaim, SourceStatement, FigureSpan, Sequence[FigureSpan]], list[str]], ...] = (
    _other_words,
    _of_rival,
    _other_measure,
    _other_basis,
    _other_party,
    _other_dates,
)
