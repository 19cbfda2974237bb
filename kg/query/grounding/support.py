"""Whether one statement of a source supports one clause of a sentence.

Numbers, names, dates and words must be together in the statement: 归母净利润 beside 营收 of the same statement does not get
the number of 营收, and a company does not get what the statement says of another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import rjieba

from kg.model import Modality, Polarity
from kg.query.ask.lexicon import lexicon
from kg.query.grounding.quantities import dates_agree
from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kg.query.grounding.quantities import Figure, Stated
    from kg.query.grounding.statements import Named, Statement

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_TURN = re.compile(
    r"(?:由|从)(.{1,20}?)(?:变更|转变|转|[上下]调|提[高升]|上升|下降|降低|增加|减少|回[升落]|[升降改减])[为至到]?“?(.{1,16})"
)
_OPENING = re.compile(r"(?:[\d.\s,，“]|近日|日前|其中|此前|同时)*")
_FROM_TO = re.compile(r"^[^,，、(（]{0,8}[至到为]$")
_LEAD_IN = re.compile(r"(?:此前的?|其中|同时|而|但|此外|随后|另外|目前|例如|如|以及|的|日|“| )*")
_LATIN = re.compile(r"[a-z0-9 .-]{4,}")  # NovaLake of NovaLake处理器
_ITEM = re.compile(r"[、,，]|和|及|与|以及")
_REACH = 4  # adjoining clauses that one clause may sum up
_LEAST = 0.5  # share of a clause's words that its source has
_SHORTEST_WORD = 2
_BESIDE = 4  # characters between a date and its number
_HEDGED = frozenset(("planned", "forecast", "likely", "conditional", "rumoured"))
_HELD = {
    "rumoured": frozenset(("rumoured", "refuted")),
    "refuted": frozenset(("rumoured", "refuted")),
    "conditional": frozenset(("conditional",)),
    "planned": _HEDGED,
    "forecast": _HEDGED,
    "likely": _HEDGED,
}
"""What a sentence must say, one of them, where its source is not certain."""


@dataclass(frozen=True)
class Claim:
    """A clause of a sentence; `until` is the sentence up to its end, `inherited` what an earlier clause gave it."""

    text: str
    until: str
    names: tuple[Named, ...]
    dates: tuple[Stated, ...]
    figures: tuple[Figure, ...]
    words: tuple[str, ...]
    inherited: frozenset[str]
    chinese: bool


def best_support(
    claim: Claim, sentence: str, cited: Sequence[tuple[str, Statement]]
) -> tuple[list[str], tuple[str, Statement] | None]:
    """Return the least faults that a cited statement leaves, and the statement, if there are none, with its item."""
    best: list[str] | None = None
    for cite, statement in sorted(cited, key=lambda each: -_share(claim, each[1].text)):
        found = _faults(claim, sentence, statement)
        if not found:
            return [], (cite, statement)
        if best is None or len(found) < len(best):
            best = found
    return best or ["nothing that can be cited"], None


def words_of(clause: str, known: Sequence[Named | Stated | Figure]) -> tuple[str, ...]:
    """Return the words of a folded clause that say what it is about, without names, dates, numbers and directions."""
    words, blanked = claim_words(), list(clause)
    for span in known:
        blanked[span.start : span.end] = " " * (span.end - span.start)
    plain = words.passed.sub(" ", "".join(blanked))
    for pattern in (*words.certainty.values(), words.rises, words.falls):
        plain = pattern.sub(" ", plain)
    empty = lexicon().empty
    found: dict[str, None] = {}
    for part in re.split(r"[^\u3400-\u9fffa-z]+", plain):
        lone = ""
        for word in (*rjieba.cut(part), ""):
            if len(word) == 1 and word not in empty:
                lone += word  # 沪 and 深 of 沪深300
                continue
            found |= dict.fromkeys((lone, word))
            lone = ""
    return tuple(word for word in found if len(word) > word.isascii() + 1 and word not in empty)


def denies(text: str) -> bool:
    """Whether a folded clause denies something."""
    words = claim_words()
    return bool(words.denies.search(words.denied_not.sub(" ", text)))


def _faults(claim: Claim, sentence: str, statement: Statement) -> list[str]:
    """Return why a statement does not support a clause."""
    measured = [figure for figure in claim.figures if figure.unit or figure.factor != 1]
    if not measured:
        return _least(_by_windows(claim, sentence, statement)) or []
    if wrong := _wrong_figures(claim, statement):
        return wrong
    return _least(_by_figures(claim, sentence, statement, measured)) or []


def _least(found: Iterator[list[str]]) -> list[str]:
    """Return the first list without a fault, else the shortest."""
    best: list[str] = []
    for each in found:
        if not each:
            return []
        best = each if not best or len(each) < len(best) else best
    return list(dict.fromkeys(best)) or ["not in the source"]


def _by_figures(claim: Claim, sentence: str, statement: Statement, measured: Sequence[Figure]) -> Iterator[list[str]]:
    """Yield the faults of a clause whose numbers a statement has, each where it fits best."""
    out = _with_figures(claim, statement)
    for figure in measured:
        places = [(other.start, other.end) for other in statement.figures if _fits(figure, other, statement)]
        out += min((_held(claim, sentence, statement, place) for place in places), key=len)
    yield out


def _by_windows(claim: Claim, sentence: str, statement: Statement) -> Iterator[list[str]]:
    """Yield the faults for each run of clauses, short ones first, until runs of a length are about the same."""
    spans = statement.clauses or ((0, len(statement.text)),)
    strangers = [
        name.start for name in statement.names if name.party and not any(name.ids & own.ids for own in claim.names)
    ]
    for size in range(1, min(_REACH, len(spans)) + 1):
        alike = False
        for first in range(len(spans) - size + 1):
            begin, end = spans[first][0], spans[first + size - 1][1]
            if size > 1 and any(begin <= place < end for place in strangers):
                continue
            content = _in_window(claim, statement, (begin, end))
            until = _last_word(claim, statement, (begin, end))
            contrary = [*_opposite(claim, statement.text[begin:end], moves=True), *_turned(claim, statement)]
            dated = _dated(claim, statement, (begin, end))
            yield [*content, *dated, *contrary, *_held(claim, sentence, statement, (begin, until))]
            alike = alike or not content
        if alike:
            return


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fits(figure: Figure, other: Figure, statement: Statement) -> bool:
    return figure.same(other, f"{statement.text} {statement.context}") and figure.agrees(other)


def _wrong_figures(claim: Claim, statement: Statement) -> list[str]:
    out = []
    for figure in claim.figures:
        same = [other for other in statement.figures if figure.same(other, f"{statement.text} {statement.context}")]
        if not same:
            out.append(f"number {claim.text[figure.start : figure.end].strip()}")
        elif not any(figure.agrees(other) for other in same):
            out.append(f"direction of {claim.text[figure.start : figure.end].strip()}")
    return out


def _with_figures(claim: Claim, statement: Statement) -> list[str]:
    """Return why the numbers of a clause belong to something else in the statement."""
    out: list[str] = []
    for figure in claim.figures:
        if not figure.unit and figure.factor == 1:
            continue
        fitting = [other for other in statement.figures if _fits(figure, other, statement)]
        out += min((_misplaced(_of_figure(claim, figure), statement, other) for other in fitting), key=len)
    whole = f"{statement.context} {statement.house} {statement.subject} {statement.text}"
    out += [] if "words" in claim.inherited else _uncovered(claim, statement, whole, least=0)
    out += [f"name {name.text}" for name in claim.names if not _named_in(whole, name, statement)]
    out += [f"date {date.period}" for date in claim.dates if not _has_date(statement, date)]
    if claim.chinese:
        out += [f"name {word}" for word in claim.words if word.isascii() and not _has_word(whole, word)]
    return list(dict.fromkeys([*out, *_turned(claim, statement)]))


def _of_figure(claim: Claim, figure: Figure) -> Claim:
    """Return a clause with several numbers and names as the part of it that one number belongs to."""
    alike = [each for each in claim.figures if each.unit == figure.unit]
    before = [name for name in claim.names if name.end <= figure.start]
    several = len(alike) > 1 and len(claim.names) > 1 and before and "names" not in claim.inherited
    return replace(claim, names=(before[-1],)) if several and "分别" not in claim.text else claim


def _misplaced(claim: Claim, statement: Statement, figure: Figure) -> list[str]:
    """Return what a clause connects with a number that the statement connects with another number of its unit."""
    near = _near(statement, figure)
    rivals = [each for each in statement.figures if each.unit == figure.unit and each is not figure and each.unit]
    if listed := _other_item(claim, statement, figure, rivals):
        return listed
    out = []
    for word in () if "words" in claim.inherited else claim.words:
        if not _has_word(near, word) and any(_has_word(_own(statement, rival), word) for rival in rivals):
            out.append(f"{word} of another number")
    for name in claim.names:
        if not _named_in(near, name, statement) and any(
            _named_in(_own(statement, each), name, statement) for each in rivals
        ):
            out.append(f"name {name.text}")
    out += _of_rival(claim, statement, figure, rivals)
    out += _other_measure(claim, statement, figure) + _other_basis(claim, statement, figure)
    out += _strangers(claim, statement, (statement.clause_at(figure.start)[0], figure.end))
    out += _opposite(claim, _own(statement, figure)) if len(set(_directions(claim.text))) == 1 else []
    out += _other_party(claim, statement, figure)
    dated = _dates_near(statement, figure)
    several = len(claim.dates) > 1 and len(claim.figures) > 1
    for date in () if several else (each for each in claim.dates if not each.base):
        if dated and not _allows(dated, date):
            elsewhere = any(_allows(_dates_near(statement, rival), date) for rival in rivals)
            if elsewhere or "dates" not in claim.inherited:
                out.append(f"date {date.period}")
        elif not dated and any(_allows(_dates_near(statement, rival, base=True), date) for rival in rivals):
            out.append(f"date {date.period}")
    return out


def _other_measure(claim: Claim, statement: Statement, figure: Figure) -> list[str]:
    """Return a fault where a clause gives a measure the number that its source gives another measure."""
    own = _own(statement, figure)
    for spellings in claim_words().measures:
        said = any(word in spellings for word in claim.words)
        if said and not any(word in own for word in spellings):
            others = (each for each in claim_words().measures if each != spellings)
            if any(word in own for other in others for word in other):
                return ["number of another measure"]
    return []


def _other_basis(claim: Claim, statement: Statement, figure: Figure) -> list[str]:
    """Return a fault where a clause gives 同比 the number that its source gives 环比."""
    own = statement.text[_stretch(statement, figure.start) : figure.end]
    groups = claim_words().basis
    said = [group for group in groups if any(word in claim.text for word in group)]
    stated = [group for group in groups if any(word in own for word in group)]
    return ["number of another basis"] if len(said) == 1 and stated and said[0] not in stated else []


def _near(statement: Statement, figure: Figure) -> str:
    """Return the text that a number belongs to: context, what comes before the first number, its own stretch."""
    measured = [each for each in statement.figures if each.unit or each.factor != 1] or [figure]
    before = [each.end for each in measured if each.unit == figure.unit and each.end <= figure.start]
    begin, end = statement.clause_at(figure.start)
    own = statement.text[min(begin, max(before, default=0)) : max(end, figure.end)]
    return f"{statement.context} {statement.subject} {statement.text[: measured[0].start]} {own}"


def _strangers(claim: Claim, statement: Statement, window: tuple[int, int]) -> list[str]:
    """Return a fault where a part of a statement is about a party, and a clause about another one that is not there."""
    parties = [name for name in claim.names if name.party]
    if not parties or any(_named_in(statement.text[slice(*window)], name, statement) for name in parties):
        return []
    leading = [
        other
        for other in statement.names
        if other.party
        and not other.text.isascii()
        and other.start < window[1]
        and _LEAD_IN.fullmatch(_before(statement, other))
    ]
    own = [other for other in leading if window[0] <= other.start]
    if not own and not any(_named_in(statement.text, name, statement) for name in parties):
        own = leading or list(statement.owner)
    met = any(name.ids & other.ids or name.text in other.text for name in parties for other in own)
    house = any(name.text in statement.house for name in parties)
    return [f"name {parties[0].text}"] if own and not met and not house else []


def _other_party(claim: Claim, statement: Statement, figure: Figure) -> list[str]:
    """Return a fault where the stretch of a number names parties, and none of the clause."""
    begin, end = statement.clause_at(figure.start)
    own = _own(statement, figure)
    there = [name for name in statement.names if name.party and begin <= name.start < end and name.text in own]
    there = [name for name in there if not name.text.isascii()]
    before = [name for name in statement.names if name.party and not name.text.isascii() and name.end <= figure.start]
    if (
        not there
        and before
        and not any(_named_in(statement.text[: figure.start], n, statement) for n in claim.names if n.party)
    ):
        later = any(_named_in(statement.text[figure.start :], name, statement) for name in claim.names if name.party)
        there = before[-1:] if later else []
    parties = [name for name in claim.names if name.party]
    met = any(name.ids & other.ids or name.text in own for name in parties for other in there)
    return [f"name {parties[0].text}"] if there and parties and not met else []


def _before(statement: Statement, name: Named) -> str:
    """Return what a clause has before a name, without dates."""
    begin, _ = statement.clause_at(name.start)
    dates = [each for each in statement.dates if begin <= each.start < name.start]
    return statement.text[max((each.end for each in dates), default=begin) : name.start]


def _own(statement: Statement, figure: Figure) -> str:
    """Return what a number belongs to in its clause, and the clause before where that is only 同比增长 or the like."""
    begin = _stretch(statement, figure.start)
    text = statement.text[begin : figure.end]
    while begin and _says_nothing(statement, begin, figure.end):
        start = statement.clause_at(begin)[0]
        begin = start if start < begin else statement.clause_at(begin - 1)[0] if start == begin else 0
        text = statement.text[begin : figure.end]
    return text


def _says_nothing(statement: Statement, begin: int, end: int) -> bool:
    """Whether a part of a statement before a number is only a direction or what it is compared with."""
    if any(begin <= name.start < end for name in statement.names):
        return False
    text = statement.text[begin:end]
    for group in claim_words().basis:
        for word in group:
            text = text.replace(word, " " * len(word))
    return not words_of(text, _inside(statement, begin, end))


def _inside(statement: Statement, begin: int, end: int) -> list[Named | Stated | Figure]:
    """Return names, dates and numbers of a part of a statement, placed in that part."""
    known = (*statement.names, *statement.dates, *statement.figures)
    return [
        replace(each, start=each.start - begin, end=each.end - begin)
        for each in known
        if begin <= each.start and each.end <= end
    ]


def _of_rival(claim: Claim, statement: Statement, figure: Figure, rivals: Sequence[Figure]) -> list[str]:
    """Return a fault where the stretch of another number has all that a clause is about, and that of its own not."""
    measured = [each for each in statement.figures if each.unit or each.factor != 1]
    opening, _ = statement.clause_at(measured[0].start)
    strict = f"{statement.context} {statement.subject} {statement.text[:opening]} {_own(statement, figure)}"
    words = [word for word in claim.words if _has_word(statement.text, word)] if "words" not in claim.inherited else []
    names = [name for name in claim.names if _named_in(statement.text, name, statement)]
    bare = [claim.text[each.start : each.end].strip() for each in claim.figures if not each.unit and each.factor == 1]
    alike = [each for each in claim.figures if each.unit == figure.unit]
    if len(alike) > 1 or len(_run(statement, figure)) > 1 or (not words and not bare and "names" in claim.inherited):
        return []

    def has_all(text: str) -> bool:
        return (
            all(_has_word(text, word) for word in words)
            and all(_named_in(text, name, statement) for name in names)
            and all(digits in text for digits in bare)
        )

    if not (words or names or bare) or has_all(strict):
        return []
    return ["number of something else"] if any(has_all(_own(statement, rival)) for rival in rivals) else []


def _other_item(claim: Claim, statement: Statement, figure: Figure, rivals: Sequence[Figure]) -> list[str]:
    """Return the faults of 分别: the first of three names has the first of three numbers."""
    run = _run(statement, figure)
    marked = statement.text.rfind("分别", 0, run[0].start) if len(run) > 1 else -1
    if marked < 0:
        return []
    years = [each.years for each in statement.dates if len(each.years) == len(run) and each.end <= marked]
    listed = [each for each in statement.dates if each.end <= marked and not each.base][-len(run) :]
    gaps = [statement.text[one.end : other.start] for one, other in pairwise(listed)]
    if len(listed) == len(run) and all(_ITEM.fullmatch(gap) for gap in gaps):
        years.append(tuple(each.period for each in listed))
    position = run.index(figure)
    if years:
        wanted = [date.period for date in claim.dates]
        single = [each for each in wanted if each in years[-1]]
        return [f"date {single[0]}"] if single and years[-1][position] not in wanted else []
    items = _items_before(statement.text[: statement.text.find("分别")], len(run))
    there = [number for number, item in enumerate(items) if _has_item(claim.until, item, number, len(items))]
    return [f"{items[there[0]]} of another number"] if there and position not in there else []


def _run(statement: Statement, figure: Figure) -> list[Figure]:
    """Return the numbers of one unit that a number is listed with."""
    run: list[Figure] = []
    for each in statement.figures:
        joined = (
            run
            and each.unit == run[-1].unit
            and re.fullmatch(r" ?[、/和及与,，] ?[-+]?", statement.text[run[-1].end : each.start])
        )
        if not joined:
            if figure in run:
                return run
            run = []
        run.append(each)
    return run if figure in run else [figure]


def _items_before(text: str, count: int) -> list[str]:
    parts = [part.strip() for part in _ITEM.split(text) if part.strip()]
    return parts[-count:] if len(parts) >= count else []


def _has_item(text: str, item: str, number: int, count: int) -> bool:
    """Whether a text names an item of a list; the first may follow other words, the last be followed by some."""
    if item in text:
        return True
    if number == 0:
        return any(item[-size:] in text for size in range(_SHORTEST_WORD, len(item)))
    return number == count - 1 and any(item[:size] in text for size in range(_SHORTEST_WORD, len(item)))


# ── names, dates, words ─────────────────────────────────────────────────────────────────────────────────────────────


def _in_window(claim: Claim, statement: Statement, window: tuple[int, int]) -> list[str]:
    """Return why some clauses of a statement do not support a clause without numbers."""
    text = statement.text[slice(*window)]
    owned = f"{statement.subject} {_head(statement, window)} {text}"
    around = f"{statement.context} {owned}"
    parties = f"{owned} {statement.house}" if statement.owner else f"{around} {statement.house}"
    wanted = [name for name in claim.names if name.party or "names" not in claim.inherited]
    out = [f"name {n.text}" for n in wanted if not _named_in(parties if n.party else around, n, statement)]
    out += [
        f"number {claim.text[each.start : each.end]}" for each in claim.figures if not _bare_in(around, claim, each)
    ]
    if claim.words and not any(_has_word(text, word) for word in claim.words) and _same_language(claim, statement):
        out.append("not in the source")
    return [*out, *_uncovered(claim, statement, around), *_strangers(claim, statement, window)]


def _uncovered(claim: Claim, statement: Statement, around: str, *, least: float = _LEAST) -> list[str]:
    """Return a fault where too few words of a clause are in its source; those that the item has elsewhere count twice.

    With `least` 0 words that the item has nowhere do not count: another wording, beside numbers that agree.
    """
    words, same = (
        [word for word in claim.words if not any(word in group for group in claim_words().basis)],
        claim_words().same,
    )
    foreign = not _same_language(claim, statement)
    words = [word for word in words if word in same] if foreign else words
    there = sum(len(word) for word in words if _has_word(around, word))
    other = sum(len(word) for word in words if not _has_word(around, word) and _has_word(statement.beside, word))
    if foreign:
        return ["not in the source"] if other and not there else []
    few = there < least * (sum(map(len, words)) + other) if least else 0 < other >= there
    return ["not in the source"] if few else []


def _dated(claim: Claim, statement: Statement, window: tuple[int, int]) -> list[str]:
    """Return the dates of a clause that its source does not have; those of the same clauses go first."""
    inside = [each for each in statement.dates if window[0] <= each.start < window[1]]
    if inside and "dates" not in claim.inherited:
        return [f"date {date.period}" for date in claim.dates if not _allows(inside, date, figure=False)]
    return [f"date {date.period}" for date in claim.dates if not _has_date(statement, date)]


def _bare_in(text: str, claim: Claim, figure: Figure) -> bool:
    digits = claim.text[figure.start : figure.end].strip()
    return re.search(rf"(?<![\d.]){re.escape(digits)}(?![\d]|\.\d)", text) is not None


def _last_word(claim: Claim, statement: Statement, window: tuple[int, int]) -> int:
    """Return the end of the last word of a clause in a window; what follows it does not qualify the clause."""
    text = statement.text[slice(*window)]
    ends = [
        text.find(word) + len(word) for word in (*claim.words, *(name.text for name in claim.names)) if word in text
    ]
    words = claim_words()
    if _directions(claim.text):
        ends += [match.end() for pattern in (words.rises, words.falls) for match in pattern.finditer(text)]
    return window[0] + max(ends, default=len(text))


def _head(statement: Statement, window: tuple[int, int]) -> str:
    """Return the name that a statement begins with, as the subject of its later clauses."""
    first = statement.names[0] if statement.names else None
    if first is None or not window[0]:
        return ""
    before = list(statement.text[: first.start])
    for date in statement.dates:
        before[date.start : date.end] = (
            " " * (min(date.end, len(before)) - date.start) if date.start < len(before) else ""
        )
    return first.text if _OPENING.fullmatch("".join(before)) else ""


def _share(claim: Claim, text: str) -> float:
    shared = sum(_has_word(text, word) for word in claim.words) + sum(name.text in text for name in claim.names)
    return shared + sum(claim.text[each.start : each.end] in text for each in claim.figures)


def _has_word(text: str, word: str) -> bool:
    return any(each in text for each in claim_words().same.get(word, (word,))) or word in text


def _named_in(text: str, name: Named, statement: Statement) -> bool:
    """Whether a part of a statement has a name, an alias or a code of what it names."""
    latin = _LATIN.match(name.text)
    if _has_word(text, name.text) or (latin and latin[0].strip() in text):
        return True
    known = (*statement.names, *statement.context_names)
    return any(other.ids & name.ids and other.text in text for other in known)


def _has_date(statement: Statement, date: Stated) -> bool:
    stated = (*statement.dates, *statement.context_dates)
    return _allows(stated, date, figure=False) or (not statement.dates and date.period.contains(statement.day))


def _allows(stated: Iterable[Stated], date: Stated, *, figure: bool = True) -> bool:
    return any(dates_agree(date, each, figure=figure) for each in stated)


def _dates_near(statement: Statement, figure: Figure, *, base: bool = False) -> list[Stated]:
    """Return the dates of a number: the last one before it, and those of its clause; with `base` also 较2024年."""
    dates = [each for each in statement.dates if base or not each.base]
    before = [each for each in dates if each.end <= figure.start]
    begin, end = statement.clause_at(figure.start)
    if before and figure.start - before[-1].end <= _BESIDE:
        return before[-1:]
    near = [each for each in statement.dates if each.base and 0 <= figure.start - each.end <= _BESIDE]
    return [*before[-1:], *near, *(each for each in dates if begin <= each.start < end and each not in before[-1:])]


# ── certainty, denial, direction ────────────────────────────────────────────────────────────────────────────────────


def _held(claim: Claim, sentence: str, statement: Statement, place: tuple[int, int]) -> list[str]:
    """Return how a clause is more certain than its source, or turns a denial around."""
    patterns = claim_words().certainty
    said = {name for name, pattern in patterns.items() if pattern.search(claim.until)}
    said |= {name for name in ("rumoured", "refuted") if patterns[name].search(sentence)}
    out = []
    both_deny = denies(claim.text) and denies(statement.text[place[0] : place[1]])
    found = _certainty(statement, place)
    if claim.figures and any(date.period.start and date.period.start > statement.day for date in claim.dates):
        found.add("forecast")  # a number of a time to come
    for name in sorted(found):
        if not (both_deny and name == "planned") and not said & _HELD[name]:
            out.append(f"stated as certain, the source says {name}")
    begin, _ = statement.clause_at(place[0])
    _, end = statement.clause_at(max(place[1] - 1, place[0]))
    denied = denies(statement.text[begin:end]) or statement.polarity == Polarity.NEGATIVE
    if denied and not denies(claim.text) and not said & {"refuted"}:
        out.append("affirmed, the source denies it")
    if denies(claim.text) and not denied and not found & {"rumoured", "refuted"}:
        out.append("denied, the source affirms it")
    return out


def _certainty(statement: Statement, place: tuple[int, int]) -> set[str]:
    """Return how a statement qualifies one of its clauses: by words before it, and by what its facts say."""
    patterns = claim_words().certainty
    begin, end = statement.clause_at(place[0])
    before, own = statement.text[:begin], statement.text[_stretch(statement, place[0]) : place[1]]
    settled = [match.end() for match in claim_words().settled.finditer(before)]
    before = before[settled[-1] :] if settled else before
    measured = any(each.start == place[0] for each in statement.figures)
    reaching = ("rumoured", "conditional", "forecast") if measured else ("rumoured", "conditional")
    found = {name for name in reaching if patterns[name].search(before)}
    if not claim_words().settled.search(own):
        found |= {name for name in ("planned", "forecast", "likely", "conditional") if patterns[name].search(own)}
    if not measured and claim_words().held_after.search(statement.text[begin:end].strip()):
        found.add("planned")
    whole = statement.text[begin : max(end, place[1])]  # 减产传闻 has the word behind
    found |= {name for name in ("rumoured", "refuted") if patterns[name].search(whole)}
    if statement.modality in _HELD:
        found.add(statement.modality)
    return found


def _stretch(statement: Statement, place: int) -> int:
    """Return where what a number belongs to begins in its clause: after the number of its unit that is not listed with it."""
    begin, _ = statement.clause_at(place)
    figure = next((each for each in statement.figures if each.start == place), None)
    if figure is None:
        return begin
    first = _run(statement, figure)[0]
    ends = [
        each.end
        for each in statement.figures
        if each.unit == figure.unit and begin <= each.start and each.end <= first.start
    ]
    joined = ends and _FROM_TO.search(statement.text[ends[-1] : first.start])
    return begin if not ends or joined else ends[-1]


def _opposite(claim: Claim, text: str, *, moves: bool = False) -> list[str]:
    """Return a fault where what a clause says rises, falls in its source, one by one if both say as many.

    With `moves` a source in which nothing moves is one too.
    """
    said, stated = _directions(claim.text), _directions(text)
    if moves and said and not stated:
        return ["direction"]
    if len(said) == len(stated):
        return ["direction"] if said != stated else []
    missing = set(said) - set(stated)
    return ["direction"] if stated and missing and {-each for each in missing} <= set(stated) else []


def _directions(text: str) -> list[int]:
    words = claim_words()
    found = [(match.start(), 1) for match in words.rises.finditer(text)]
    found += [(match.start(), -1) for match in words.falls.finditer(text)]
    return [direction for _, direction in sorted(found)]


def _turned(claim: Claim, statement: Statement) -> list[str]:
    """Return a fault where 由甲变更为乙 has become 由乙变更为甲."""
    said, stated = _TURN.search(claim.text), [match.groups() for match in _TURN.finditer(statement.text)]
    if not said or not stated:
        return []
    first = said[1].strip("“”")
    turned = any(first in end and first not in begin for begin, end in stated)
    return ["from and to"] if turned and not any(first in begin for begin, _ in stated) else []


def _same_language(claim: Claim, statement: Statement) -> bool:
    return claim.chinese == bool(_CHINESE.search(statement.text))
