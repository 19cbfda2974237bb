"""Whether one statement of a source supports one clause of a sentence: numbers, names, dates, words and certainty."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kg.model import Polarity
from kg.query.ask.answer_model import AnswerModel, SentenceInContext
from kg.query.grounding.claims import (
    allows,
    denies,
    directions,
    elsewhere,
    foreign_letters,
    has_date,
    has_word,
    named_in,
    opposite,
    same_language,
    strangers,
    stretch,
    subject_of,
    turned,
    uncovered,
)
from kg.query.grounding.placing import fits, with_figures, wrong_figures
from kg.query.grounding.statements import NO_DAY
from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.query.grounding.claims import ClauseClaim
    from kg.query.grounding.quantities import FigureSpan
    from kg.query.grounding.statements import SourceStatement

_OPENING = re.compile(r"(?:[\d.\s,，“]|近日|日前|其中|此前|同时)*")
_WORD_END = re.compile(r"[a-z]{3}")  # 3 of 3sbio
_CHARACTER = re.compile(r"[\u3400-\u9fff]")
_SHARED = 0.2  # of the characters of a reworded clause's words that its source has
_ABSENT = "not in the source"
_READ, _SAME_MEANING = 8, 0.13  # statements that the answer model reads, and what it must give one
_REACH = 4  # adjoining clauses that one clause may sum up
_HEDGED = frozenset(("planned", "forecast", "likely", "conditional", "rumoured", "refuted"))
_TO_COME = re.compile(r"将(?!近)|拟|有望|预计|预期(?=[超达])|看好|构想|计划|规划|力争|目标(?!价)|即将|在即|爬坡")
_DENIES = re.compile(r"否认|澄清")
_GOES_ON = re.compile(r"仍|继续|持续|依然|依旧|还在|维持|保持|延续|不断")
_DONE = re.compile(r"已(?!披露|进入)|[成完]了|建成(?!后)|\b(?:has|have|already|completed)\b")
_REALISED = re.compile(rf"{_DONE.pattern}|投产")
_HELD = {
    "rumoured": frozenset(("rumoured", "refuted")),
    "refuted": frozenset(("rumoured", "refuted")),
    "conditional": frozenset(("conditional", "forecast", "refuted")),
    "planned": _HEDGED,
    "forecast": _HEDGED,
    "likely": _HEDGED,
}
"""What a sentence must say, one of them, where its source is not certain."""


def best_support(
    claim: ClauseClaim, sentence: str, cited: Sequence[tuple[str, SourceStatement]]
) -> tuple[list[str], tuple[str, SourceStatement] | None]:
    """Return the least faults that a cited statement leaves, and the statement, if there are none, with its item."""
    best: list[str] | None = None
    reworded: list[tuple[str, SourceStatement]] = []
    for cite, statement in sorted(cited, key=lambda each: -_share(claim, each[1].text)):
        found = [*_faults(claim, sentence, statement), *_more_than(claim, statement)]
        if not found:
            return [], (cite, statement)
        if best is None or len(found) < len(best):
            best = found
        reworded += [(cite, statement)] if found == [_ABSENT] else []
    if source := _by_meaning(claim, sentence, reworded):
        return [], source
    return best or ["nothing that can be cited"], None


def _by_meaning(
    claim: ClauseClaim, sentence: str, statements: Sequence[tuple[str, SourceStatement]]
) -> tuple[str, SourceStatement] | None:
    """Return the statement that says a clause in other words, by the answer model, if there is one."""
    statements = [each for each in statements if not _of_another(claim, sentence, each[1])][:_READ]
    if not statements or not claim.chinese:
        return None
    named = "".join(name.text for name in claim.names) if "names" in claim.inherited else ""
    readings = [SentenceInContext(each.quote, (each.context,), each.subject) for _, each in statements]
    scores = AnswerModel.shipped().probabilities(named + claim.text, readings)
    best = max(range(len(scores)), key=scores.__getitem__)
    return statements[best] if scores[best] >= _SAME_MEANING else None


def _of_another(claim: ClauseClaim, sentence: str, statement: SourceStatement) -> bool:
    """Whether what a statement says near to a claim is about something else, is denied or not certain."""
    own = {claim.text[at : at + 2] for at in range(len(claim.text) - 1)}
    own -= {name.text[at : at + 2] for name in claim.names for at in range(len(name.text) - 1)}
    nearest = max(statement.clauses, key=lambda span: sum(pair in statement.text[slice(*span)] for pair in own))
    if strangers(claim, statement, nearest) or _held(claim, sentence, statement, nearest):
        return True
    if denies(claim.text) != denies(statement.text):
        return True
    if opposite(claim, statement.text[slice(*nearest)], statement.names):
        return True
    known = "".join(name.text for name in claim.names)
    written = [character for character in _CHARACTER.findall(claim.text) if character not in known]
    if sum(character in statement.text for character in written) < _SHARED * len(written):
        return True
    whole, subject = f"{statement.context} {statement.text}", subject_of(claim)
    if any(name.text == subject and not named_in(whole, name, statement) for name in claim.names) and any(
        name.party for name in statement.names
    ):
        return True
    around = f"{statement.context} {statement.subject} {statement.text}"
    words = [word for word in claim.words if not has_word(around, word)]
    return bool(claim.figures) and any(has_word(statement.beside, word) for word in words)


def _faults(claim: ClauseClaim, sentence: str, statement: SourceStatement) -> list[str]:
    """Return why a statement does not support a clause."""
    measured = [figure for figure in claim.figures if figure.unit or figure.factor != 1]
    if not measured:
        return _least(_by_windows(claim, sentence, statement)) or []
    if wrong := wrong_figures(claim, statement):
        return wrong
    return _least(_by_figures(claim, sentence, statement, measured)) or []


def _more_than(claim: ClauseClaim, statement: SourceStatement) -> list[str]:
    """Return the words by which a clause says more than a statement: all, the largest, certainly."""
    whole = f"{statement.context} {statement.subject} {statement.text}"
    pairs = [(each.search(claim.text), stated) for each, stated in claim_words().absolute]
    return [f"{found[0]} is not in the source" for found, stated in pairs if found and not stated.search(whole)]


def _least(found: Iterator[list[str]]) -> list[str]:
    """Return the first list without a fault, else the shortest."""
    best: list[str] = []
    for each in found:
        if not each:
            return []
        best = each if not best or len(each) < len(best) else best
    return list(dict.fromkeys(best)) or ["not in the source"]


def _by_figures(
    claim: ClauseClaim, sentence: str, statement: SourceStatement, measured: Sequence[FigureSpan]
) -> Iterator[list[str]]:
    """Yield the faults of a clause whose numbers a statement has, each where it fits best."""
    out = with_figures(claim, statement)
    for figure in measured:
        places = [(other.start, other.end) for other in statement.figures if fits(figure, other, statement)]
        held = [_held(claim, sentence, statement, place) for place in places]
        least: list[str] = min(held, key=len, default=[])
        out += least
    yield out


def _by_windows(claim: ClauseClaim, sentence: str, statement: SourceStatement) -> Iterator[list[str]]:
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
            own = statement.text[begin:end]
            contrary = opposite(claim, own, statement.names, whole=statement.text) + turned(claim, statement)
            dated = _dated(claim, statement, (begin, end))
            yield [*content, *dated, *contrary, *_held(claim, sentence, statement, (begin, until))]
            there = dated and any(allows(statement.dates, date, figure=False) for date in claim.dates)
            alike = alike or not (content or there)  # the date may be in another clause
        if alike:
            return


def _in_window(claim: ClauseClaim, statement: SourceStatement, window: tuple[int, int]) -> list[str]:
    """Return why some clauses of a statement do not support a clause without numbers."""
    text = statement.text[slice(*window)]
    owned = f"{statement.subject} {_head(statement, window)} {text}"
    around = f"{statement.context} {owned}"
    parties = f"{owned} {statement.house}" if statement.owner else f"{around} {statement.house}"
    wanted = [name for name in claim.names if name.party or "names" not in claim.inherited]
    out = []
    for name in wanted:
        if not named_in(parties if name.party else around, name, statement):
            known = name.group != "thing" or has_word(statement.beside, name.text)
            out.append(f"name {name.text}" if known else "not in the source")
    out += foreign_letters(claim, around)
    foreign = not same_language(claim, statement)
    out += [
        f"number {claim.text[each.start : each.end]}"
        for each in claim.figures
        if not (foreign and _WORD_END.match(claim.text, each.end)) and not _bare_in(around, claim, each, statement)
    ]
    out += elsewhere(claim, statement, around) + strangers(claim, statement, _core(claim, statement, window))
    if "words" in claim.inherited and claim.figures:  # 1-5月合计654个 is found by its number
        return out
    if claim.words and not (foreign or any(has_word(text, word) for word in claim.words)):
        out.append(_ABSENT)
    return [*out, *uncovered(claim, statement, around)]


def _core(claim: ClauseClaim, statement: SourceStatement, window: tuple[int, int]) -> tuple[int, int]:
    """Return the only clause of a window that has words of a clause, else the window."""
    spans = [span for span in statement.clauses if window[0] <= span[0] and span[1] <= window[1]]
    within = [span for span in spans if any(has_word(statement.text[slice(*span)], word) for word in claim.words)]
    return within[0] if len(within) == 1 else window


def _dated(claim: ClauseClaim, statement: SourceStatement, window: tuple[int, int]) -> list[str]:
    """Return the dates of a clause that its source does not have; those of the same clauses go first."""
    inside = [each for each in statement.dates if window[0] <= each.start < window[1]]
    before = [each for each in statement.dates if each.start < window[0] and not each.base]
    governing = inside or before[-1:]
    if governing and "dates" not in claim.inherited:
        return [f"date {date.period}" for date in claim.dates if not allows(governing, date, figure=False)]
    return [f"date {date.period}" for date in claim.dates if not has_date(claim, statement, date)]


def _bare_in(text: str, claim: ClauseClaim, figure: FigureSpan, statement: SourceStatement) -> bool:
    if any(other.factor != 1 and figure.same(other) for other in statement.figures):  # 197200 of 19.72万
        return True
    digits = claim.text[figure.start : figure.end].strip()
    return re.search(rf"(?<![\d.]){re.escape(digits)}(?![\d]|\.\d)", text) is not None


def _last_word(claim: ClauseClaim, statement: SourceStatement, window: tuple[int, int]) -> int:
    """Return the end of the last word of a clause in a window; what follows it does not qualify the clause."""
    text = statement.text[slice(*window)]
    ends = [
        text.find(word) + len(word) for word in (*claim.words, *(name.text for name in claim.names)) if word in text
    ]
    words = claim_words()
    if directions(claim.text):
        ends += [match.end() for pattern in (words.rises, words.falls) for match in pattern.finditer(text)]
    return window[0] + max(ends, default=len(text))


def _head(statement: SourceStatement, window: tuple[int, int]) -> str:
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


def _share(claim: ClauseClaim, text: str) -> float:
    shared = sum(has_word(text, word) for word in claim.words) + sum(name.text in text for name in claim.names)
    return shared + sum(claim.text[each.start : each.end] in text for each in claim.figures)


def _held(claim: ClauseClaim, sentence: str, statement: SourceStatement, place: tuple[int, int]) -> list[str]:
    """Return how a clause is more certain than its source, or turns a denial around."""
    patterns = claim_words().certainty
    said = {name for name, pattern in patterns.items() if pattern.search(claim.until)}
    said |= {name for name in ("rumoured", "refuted") if patterns[name].search(sentence)}
    said |= {"refuted"} if _DENIES.search(claim.until) else set()
    both_deny = denies(claim.text) and denies(statement.text[place[0] : place[1]])
    found = _certainty(statement, place)
    if claim.figures and any(date.period.start and date.period.start > statement.day > NO_DAY for date in claim.dates):
        found.add("forecast")  # a number of a time to come
    if _REALISED.search(claim.text) and _TO_COME.search(statement.text) and not _DONE.search(statement.text):
        found.add("planned")
    held = [name for name in sorted(found) if not (both_deny and name == "planned") and not said & _HELD[name]]
    out = [f"stated as certain, the source says {name}" for name in held]
    begin, _ = statement.clause_at(place[0])
    _, end = statement.clause_at(max(place[1] - 1, place[0]))
    denied = denies(statement.text[begin:end]) or statement.polarity == Polarity.NEGATIVE
    if denied and not denies(claim.text) and not said & {"refuted"}:
        out.append("affirmed, the source denies it")
    if "继续" in claim.text and not (claim.figures or _GOES_ON.search(statement.text)):
        out.append(_ABSENT)
    corrected = "refuted" in said and patterns["refuted"].search(statement.text)
    if denies(claim.text) and not denied and not corrected and not found & {"rumoured", "refuted"}:
        out.append("denied, the source affirms it")
    return out


def _certainty(statement: SourceStatement, place: tuple[int, int]) -> set[str]:
    """Return how a statement qualifies one of its clauses: by words before it, and by what its facts say."""
    patterns = claim_words().certainty
    begin, end = statement.clause_at(place[0])
    before, own = statement.text[:begin], statement.text[stretch(statement, place[0]) : place[1]]
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
    if "rumoured" in found and patterns["refuted"].search(statement.text, end):
        found.add("refuted")
    if statement.modality in _HELD:
        found.add(statement.modality)
    return found
