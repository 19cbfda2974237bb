"""A clause of a sentence, and what of a statement it has: words, names, dates, directions.

What a clause is about must be in one part of a statement: a statement may be about several firms, measures and times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rjieba

from kg.query.ask.lexicon import lexicon
from kg.query.grounding.quantities import dates_agree, dates_of
from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg.query.grounding.quantities import DateSpan, FigureSpan
    from kg.query.grounding.statements import FoundName, SourceStatement

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_TURN = re.compile(
    r"(?:由|从)(.{1,20}?)(?:变更|转变|转|[上下]调|提[高升]|上升|下降|降低|增加|减少|回[升落]|[升降改减])[为至到]?“?(.{1,16})"
)
_ACTS = re.compile(
    r"收购|并购|入股|增持|减持|控股|供应|供货|采购|起诉|\b(?:acquir(?:e[sd]?|ing)|b(?:uy(?:s|ing)?|ought)|sued?)\b"
)
_PASSIVE = re.compile(r"[被遭由向]|\bby\b")
_MOVED = re.compile(r"(?:由|从|from )[^，,。]{0,6}\d[^，,。]{0,16}(?:至|到|为| to )")
_FROM_TO = re.compile(r"^[^,，、(（]{0,8}[至到为]$")
_LEAD_IN = re.compile(r"(?:此前|其中|同时|而|但|此外|随后|另外|目前|例如|如|以及|的|日|“| )*")
_LETTERS = re.compile(r"[a-z][a-z0-9+]*")
_LATIN = re.compile(r"[a-z0-9 .-]{4,}")  # NovaLake of NovaLake处理器
_LEAST = 0.4  # share of a clause's words that its source has
_FEWEST_FOREIGN = 2
_LEAST_FOREIGN = 0.6  # of the words that have an equal in the other language
_WIDE = frozenset(("china", "chinese", "domestic", "global", "world", "sector", "industry"))
_CLOSE = ".{0,4}"
_BESIDE = 4  # characters between a date and its number


@dataclass(frozen=True)
class ClauseClaim:
    """A clause of a sentence; `until` is the sentence up to its end, `inherited` what an earlier clause gave it."""

    text: str
    until: str
    names: tuple[FoundName, ...]
    dates: tuple[DateSpan, ...]
    figures: tuple[FigureSpan, ...]
    words: tuple[str, ...]
    inherited: frozenset[str]
    chinese: bool


def words_of(clause: str, known: Sequence[FoundName | DateSpan | FigureSpan]) -> tuple[str, ...]:
    """Return the words of a folded clause that say what it is about, without names, dates, numbers and directions."""
    words, blanked = claim_words(), list(clause)
    for span in known:
        blanked[span.start : span.end] = " " * (span.end - span.start)
    plain = words.passed.sub(" ", "".join(blanked))
    for pattern in (*words.certainty.values(), words.rises, words.falls):
        plain = pattern.sub(" ", plain)
    empty = lexicon().empty
    found: dict[str, None] = dict.fromkeys(match["word"] for match in words.english.finditer(plain))
    plain = words.english.sub(" ", plain)
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


def directions(text: str, names: Iterable[FoundName] = ()) -> list[int]:
    """Return which way what a text names moves, +1 or −1, in order; 升 of a party's name 奥升德 is no direction."""
    words = claim_words()
    for name in names:
        text = text.replace(name.text, "□") if name.party else text
    found = [(match.start(), 1) for match in words.rises.finditer(text)]
    found += [(match.start(), -1) for match in words.falls.finditer(text)]
    return [direction for _, direction in sorted(found)]


def opposite(claim: ClauseClaim, text: str, names: Iterable[FoundName] = (), *, whole: str = "") -> list[str]:
    """Return a fault where what a clause says rises, falls in its source, one by one if both say as many.

    With a `whole` text, of which `text` is a part, nothing that moves in it is a fault too.
    """
    said, stated = directions(claim.text, claim.names), directions(text, names)
    if whole and said and not stated:
        return ["not in the source" if set(said) <= set(directions(whole, names)) else "direction"]
    if len(said) == len(stated):
        return ["direction"] if said != stated else []
    missing = set(said) - set(stated)
    return ["direction"] if stated and missing and {-each for each in missing} <= set(stated) else []


def turned(claim: ClauseClaim, statement: SourceStatement) -> list[str]:
    """Return a fault where 由甲变更为乙 has become 由乙变更为甲, or 甲收购乙 has become 乙收购甲."""
    if exchanged := _other_buyer(claim, statement):
        return exchanged
    if _MOVED.search(claim.text) and len(claim.figures) > 1:
        places = [next((each.start for each in statement.figures if own.same(each)), -1) for own in claim.figures[:2]]
        if min(places) >= 0 and places[0] > places[1]:
            return ["from and to"]
    said, stated = _TURN.search(claim.text), [match.groups() for match in _TURN.finditer(statement.text)]
    if not said or not stated:
        return []
    first = said[1].strip("“”")
    turned = any(first in end and first not in begin for begin, end in stated)
    return ["from and to"] if turned and not any(first in begin for begin, _ in stated) else []


def _other_buyer(claim: ClauseClaim, statement: SourceStatement) -> list[str]:
    """Return a fault where who acts on whom has become the other way round."""
    said, stated = _ACTS.search(claim.text), _ACTS.search(statement.text)
    if not said or not stated or _PASSIVE.search(claim.text) or _PASSIVE.search(statement.text):
        return []
    actors = [name for name in claim.names if name.party and name.end <= said.start()]
    others = [name for name in claim.names if name.party and name.start >= said.end()]
    if not actors or not others:
        return []

    def places(name: FoundName) -> list[int]:
        return [each.start for each in statement.names if each.ids & name.ids or each.text == name.text]

    actor, other = places(actors[-1]), places(others[0])
    exchanged = actor and other and min(actor) > stated.start() > max(other)
    return [f"name {actors[-1].text}"] if exchanged else []


def same_language(claim: ClauseClaim, statement: SourceStatement) -> bool:
    """Whether a clause and its source are both Chinese or both not."""
    return claim.chinese == bool(_CHINESE.search(statement.text))


def has_word(text: str, word: str) -> bool:
    """Whether a text has a word or one that means the same."""
    return any(each in text for each in claim_words().same.get(word, (word,))) or word in text


def _spread(text: str, word: str) -> bool:
    """Whether a text has the characters of a Chinese word close together: 创新 of 再创新高 in 再创阶段性新高."""
    return not word.isascii() and re.search(_CLOSE.join(map(re.escape, word)), text) is not None


def named_in(text: str, name: FoundName, statement: SourceStatement) -> bool:
    """Whether a part of a statement has a name, an alias or a code of what it names."""
    latin = _LATIN.match(name.text)
    if has_word(text, name.text) or (latin and latin[0].strip() in text):
        return True
    known = (*statement.names, *statement.context_names)
    if any(other.ids & name.ids and other.text in text for other in known):
        return True
    parts = [other.text for other in known if not name.party and other.text in name.text]
    return any(f"{part}({name.text.replace(part, '')})" in text for part in parts)  # 电池级碳酸锂 of 碳酸锂(电池级)


def has_date(claim: ClauseClaim, statement: SourceStatement, date: DateSpan) -> bool:
    """Whether a statement, its context or its day has a date; one taken over from another clause needs no date."""
    stated = (*statement.dates, *statement.context_dates)
    undated = not statement.dates and not dates_of(statement.subject, statement.day)
    if undated and ("dates" in claim.inherited or date.period.contains(statement.day)):
        return True
    return allows(stated, date, figure=False)


def allows(stated: Iterable[DateSpan], date: DateSpan, *, figure: bool = True) -> bool:
    """Whether one of these dates is that of a clause."""
    return any(dates_agree(date, each, figure=figure) for each in stated)


def dates_near(statement: SourceStatement, figure: FigureSpan, *, base: bool = False) -> list[DateSpan]:
    """Return the dates of a number: the last one before it, and those of its clause; with `base` also 较2024年."""
    dates = [each for each in statement.dates if base or not each.base]
    before = [each for each in dates if each.end <= figure.start]
    begin, end = statement.clause_at(figure.start)
    if before and figure.start - before[-1].end <= _BESIDE:
        return before[-1:]
    near = [each for each in statement.dates if each.base and 0 <= figure.start - each.end <= _BESIDE]
    return [*before[-1:], *near, *(each for each in dates if begin <= each.start < end and each not in before[-1:])]


def uncovered(claim: ClauseClaim, statement: SourceStatement, around: str, *, least: float = _LEAST) -> list[str]:
    """Return a fault where too few words of a clause are in its source; those that the item has elsewhere count twice.

    With `least` 0 words that the item has nowhere do not count: another wording, beside numbers that agree.
    """
    words, same = (
        [word for word in claim.words if not any(word in group for group in claim_words().basis)],
        claim_words().same,
    )
    foreign = not same_language(claim, statement)
    words = [word for word in words if word in same and not word.isdecimal()] if foreign else words
    missing = [word for word in words if not (has_word(around, word) or _spread(around, word))]
    if foreign and least:
        whole = f"{around} {statement.text}"
        missing = [word for word in missing if not has_word(whole, word)]
        few = len(words) - len(missing) < max(
            _LEAST_FOREIGN * len(words), _FEWEST_FOREIGN - len(claim.names) - len(claim.figures)
        )
        return ["not in the source"] if few else []
    there = sum(map(len, words)) - sum(map(len, missing))
    other = sum(len(word) for word in missing if has_word(statement.beside, word))
    if foreign:
        return ["not in the source"] if other and not there else []
    few = there < least * (sum(map(len, words)) + other) if least else 0 < other >= there
    return ["not in the source"] if few else []


def subject_of(claim: ClauseClaim) -> str:
    """Return the first name or word of a clause of its own."""
    names = () if "names" in claim.inherited else tuple(name.text for name in claim.names)
    words = () if "words" in claim.inherited else claim.words
    basis = claim_words().basis
    terms = [each for each in (*names, *words) if each in claim.text and not any(each in group for group in basis)]
    return min(terms, key=lambda term: (claim.text.index(term), -len(term)), default="")


def elsewhere(claim: ClauseClaim, statement: SourceStatement, around: str) -> list[str]:
    """Return a fault where what a clause is about is in other sentences of the item, but not in this one."""
    subject = subject_of(claim)
    foreign = not same_language(claim, statement) and (subject not in claim_words().same or subject in _WIDE)
    if not subject or foreign or has_word(around, subject) or _spread(around, subject):
        return []
    named = [name for name in claim.names if name.text == subject]
    if any(named_in(around, name, statement) for name in named) or not has_word(statement.beside, subject):
        return []
    if not same_language(claim, statement):
        return [f"name {subject}"]
    own = any(_LEAD_IN.fullmatch(_before(statement, name)) for name in statement.names)
    return [f"name {subject}"] if own or named else []


def foreign_letters(claim: ClauseClaim, around: str) -> list[str]:
    """Return the Latin words, models and rounds of a Chinese clause that its source does not have: B++轮."""
    if not claim.chinese:
        return []
    blanked = list(claim.text)
    spans: tuple[DateSpan | FigureSpan, ...] = (*claim.dates, *claim.figures)
    for span in spans:
        if claim.text[span.start : span.end]:
            blanked[span.start : span.end] = " " * (min(span.end, len(blanked)) - span.start)
    plain = "".join(blanked)
    return [f"name {word}" for word in dict.fromkeys(_LETTERS.findall(plain)) if not has_word(around, word)]


def strangers(claim: ClauseClaim, statement: SourceStatement, window: tuple[int, int]) -> list[str]:
    """Return a fault where a part of a statement is about something, and a clause about another of its kind."""
    return _other_thing(claim, statement, window) or _other_actor(claim, statement, window)


def _other_thing(claim: ClauseClaim, statement: SourceStatement, window: tuple[int, int]) -> list[str]:
    subject, text = subject_of(claim), statement.text[slice(*window)]
    if statement.text.startswith("其中") and has_word(statement.context, subject):
        return []  # a part of what the heading names
    for name in claim.names:
        if name.text != subject or named_in(text, name, statement):
            continue
        for other in statement.names:
            leads = window[0] <= other.start < window[1] and _LEAD_IN.fullmatch(_before(statement, other))
            alike = name.text in other.text or any(own.ids & other.ids or other.text in own.text for own in claim.names)
            if leads and not alike and (other.group == name.group or (name.text + other.text).isascii()):
                return [f"name {name.text}"]
    return []


def _other_actor(claim: ClauseClaim, statement: SourceStatement, window: tuple[int, int]) -> list[str]:
    parties = [name for name in claim.names if name.party]
    if not parties or any(named_in(statement.text[slice(*window)], name, statement) for name in parties):
        return []
    leading = [
        other
        for other in statement.names
        if other.party and (parties[0].text.isascii() or not other.text.isascii())
        if other.start < window[1] and _LEAD_IN.fullmatch(_before(statement, other))
    ]
    own = [other for other in leading if window[0] <= other.start]
    if not own and not any(named_in(statement.text, name, statement) for name in parties):
        own = leading or list(statement.owner)
    met = any(name.ids & other.ids or name.text in other.text for name in parties for other in own)
    house = any(name.text in statement.house for name in parties)
    return [f"name {parties[0].text}"] if own and not met and not house else []


def _before(statement: SourceStatement, name: FoundName) -> str:
    """Return what a clause has before a name, without dates."""
    begin, _ = statement.clause_at(name.start)
    dates = [each for each in statement.dates if begin <= each.start < name.start]
    return statement.text[max((each.end for each in dates), default=begin) : name.start]


def stretch(statement: SourceStatement, place: int) -> int:
    """Return where in its clause a number's own words begin: after a number of its unit that is not listed with it."""
    begin, _ = statement.clause_at(place)
    figure = next((each for each in statement.figures if each.start == place), None)
    if figure is None:
        return begin
    first = run_of(statement, figure)[0]
    ends = [
        each.end
        for each in statement.figures
        if each.unit == figure.unit and begin <= each.start and each.end <= first.start
    ]
    joined = ends and _FROM_TO.search(statement.text[ends[-1] : first.start])
    return begin if not ends or joined else ends[-1]


def run_of(statement: SourceStatement, figure: FigureSpan) -> list[FigureSpan]:
    """Return the numbers of one unit that a number is listed with."""
    run: list[FigureSpan] = []
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
