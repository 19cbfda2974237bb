"""Read from a question which value it asks for: a formula, its years, what is done with it, and in which unit.

A question that asks for a part of a company, an adjusted figure or a quarter gets no plan: the statements of the year
do not answer it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

from kg.query.filings.lexicon import lexicon
from kg.query.filings.task import LONGEST
from kg.query.filings.values.concepts import concepts, named_concepts
from kg.query.filings.values.formula import FormulaError, FormulaOperation, Line, ingredients, read_formula
from kg.text.lexicon import read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kg.query.filings.task import FilingTask
    from kg.query.filings.values.concepts import NamedConcept
    from kg.query.filings.values.formula import FormulaPart

VALUE, GROWTH, CAGR, AVERAGE, CHANGE = "value", "growth", "cagr", "average", "change"
ROSE, FELL, MOVED, POSITIVE, EXTREME = "rose", "fell", "moved", "positive", "extreme"
PERCENT, POINTS = "percent", "points"
_CHINESE = re.compile("[\u4e00-\u9fff]")
_PROPER = re.compile(r"(?<![.:?!,] )(?<![(\w'-])(?<!^)[A-Z][a-z]{2,}")  # within a sentence
_PLAIN_PROPER = frozenset(
    "company corporation inc corp limited plc group holdings formerly year fiscal usd here the what".split()  # noqa: SIM905 -- words read best as words
)
_LONGEST_BETWEEN = 40  # characters between a part and what it is a share of


@dataclass(frozen=True, slots=True)
class ValuePlan:
    """What to compute.

    Attributes:
        operation: what is done with the value of each formula.
        parts: the formulas with what each is called; several only where they are compared with each other.
        first: the first fiscal year.
        last: the last one, the same for a value of one year.
        unit: of the answer: amount, percent, points (of a percentage), times, days, share, count.
        scale: the unit of the money that the question asks for, 0 where it names none.
        basis: whether the parent's own statements are meant.
    """

    operation: str
    parts: tuple[tuple[str, FormulaPart], ...]
    first: int
    last: int
    unit: str
    scale: float
    basis: str


class NoPlan(LookupError):
    """A question that the statements do not answer; its argument is the reason: metric, part, quarter, definition."""


@cache
def _words() -> dict[str, re.Pattern[str]]:
    table = read_table(resources.files(__package__).joinpath("questions.yaml"))
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table.items()}


def read_plan(task: FilingTask, years: Sequence[int], names: Collection[str] = ()) -> ValuePlan:
    """Read a question.

    Args:
        task: the question as it is read for pages.
        years: the fiscal years that it names, in order, at least one.
        names: words of the company's name.

    Raises:
        NoPlan: when no rule reads a value from it.
    """
    words = _words()
    text = words["caveat"].sub(" ", re.sub("[“”]", '"', " ".join(task.question[:LONGEST].split())))
    if task.quarters or words["quarter"].search(text):
        raise NoPlan("quarter")
    defined = words["defined"].search(text)
    asked = text[: defined.start()] if defined else text
    if words["part"].search(asked) or words["no_rule"].search(text) or _is_of_a_part(asked, names):
        raise NoPlan("part")
    basis = "parent" if words["parent"].search(text) else "consolidated"
    parts, unit = _defined(text, defined, asked) if defined else _named(_without_statements(asked))
    first, last = years[0], years[-1]
    operation = _operation(asked, years, several=len(parts) > 1 or bool(defined))
    if operation == VALUE:
        first = last
    if operation in {GROWTH, CHANGE, ROSE, FELL, MOVED} and first == last:
        first = last - 1
    if len(parts) > 1 and operation != EXTREME:  # a second line that nothing is done with was not understood
        raise NoPlan("part")
    return ValuePlan(operation, tuple(parts), first, last, _unit(operation, unit, text), _scale(text), basis)


def _is_of_a_part(text: str, names: Collection[str]) -> bool:
    """Return whether a question names something beside company, year and line: Greater China, 水泵业务."""
    rest = plain = _without_statements(text)
    for named in reversed(named_concepts(rest)):
        rest = rest[: named.start] + " " + rest[named.end :]
    for name in sorted((name for name in names if not name.isascii()), key=len, reverse=True):
        rest = rest.replace(name, " ")
    if _CHINESE.search(text):
        return bool(_CHINESE.search(_words()["filler"].sub("", rest)))
    if any(_is_another_line(plain, named, names) for named in named_concepts(plain)):
        return True
    proper = (match[0].casefold() for match in _PROPER.finditer(rest))
    return any(word not in names and word not in _PLAIN_PROPER for word in proper)


def _is_another_line(text: str, named: NamedConcept, names: Collection[str]) -> bool:
    """Return whether the word behind or before a line belongs to it: goodwill impairment, service revenue."""
    words = _words()
    behind = re.sub(r"^\s*\([^)]*\)", "", text[named.end :])
    before = re.sub(r"['’]s\s*$", "", text[: named.start])
    own = re.search(r"(\w+)\W*$", before)
    fits = words["before"].search(before) or (own and own[1].casefold() in names)
    return not (words["behind"].match(behind) and fits)


def _without_statements(text: str) -> str:
    for statement in lexicon().statements:
        text = statement.asks.sub(" ", text)
    return text


def _defined(text: str, match: re.Match[str], asked: str) -> tuple[list[tuple[str, FormulaPart]], str]:
    """Read the definition that a question gives, and what the question does with the term it defines."""
    words = _words()
    sentences = [part.strip(" .") for part in re.split(r"\.\s+(?=[A-Z])|\.$", text[match.end() :])]
    formula = (
        words["cut"]
        .split(re.sub(r'\[[^\]]*\]|\((?:from|as|in|shown|per|using)\b[^)]*\)|"', "", sentences[0]))[0]
        .strip(" .,")
    )
    if formula.startswith("(") and formula.endswith(")") and "(" not in formula[1:]:
        formula = formula[1:-1]
    terms = dict(re.findall(r"\b([A-Z]{2,5}) (?:is|are) defined as:?\s*(.+?)(?:\.\s|\.$)", text))
    try:
        node = read_formula(formula, terms)
    except FormulaError as error:
        raise NoPlan("definition") from error
    term = (match["term"] or "").strip()
    own = term or re.split(r"[.?!:]\s+", asked.strip())[-1].strip()
    unit = "times" if "/" in node.text() else "amount"
    if re.search(r"\bdays\b|\bDPO\b|\bDIO\b|\bDSO\b|cycle", asked + term, re.IGNORECASE):
        unit = "days"
    if term and not words["ratio"].search(term):  # a defined amount inside a larger expression
        place = asked.lower().rfind(term.lower().split()[-1])
        tail = asked[place + len(term.split()[-1]) :][:60] if place >= 0 else ""
        if words["of_revenue"].match(tail):
            return [(term, FormulaOperation("/", node, Line(concepts()["Revenues"])))], PERCENT
        if less := words["less"].match(tail):
            others = named_concepts(tail[less.end() :])
            if others and others[0].start < 2:  # noqa: PLR2004 - it follows at once
                return [(term, FormulaOperation("-", node, Line(others[0].concept)))], "amount"
    return [(own or formula, node)], PERCENT if words["percent"].search(asked) and unit == "times" else unit


def _named(text: str) -> tuple[list[tuple[str, FormulaPart]], str]:
    """Return the lines and ratios that a question names, and the unit of the first."""
    words = _words()
    named = named_concepts(text)
    if not named:
        raise NoPlan("metric")
    for one, other in pairwise(named):
        between = text[one.end : other.start]
        if len(between) <= _LONGEST_BETWEEN and words["share_of"].fullmatch(between):
            node = FormulaOperation("/", Line(one.concept), Line(other.concept))
            return [(node.text(), node)], PERCENT
    best = max(named, key=lambda each: (bool(each.concept.formula and not each.concept.rows), each.end - each.start))
    if not best.concept.formula and words["of_revenue"].match(_tail(text, best)):
        return [(best.concept.name, FormulaOperation("/", Line(best.concept), Line(concepts()["Revenues"])))], PERCENT
    used = ingredients(best.concept)
    others = {each.concept.name: Line(each.concept) for each in named if each.concept.name not in used}
    parts: dict[str, FormulaPart] = {best.concept.name: Line(best.concept), **others}
    return list(parts.items()), best.concept.unit


def _tail(text: str, named: NamedConcept) -> str:
    return re.sub(r"^\s*\([^)]*\)", "", text[named.end : named.end + 70])


def _operation(text: str, years: Sequence[int], *, several: bool) -> str:
    words, spans = _words(), len(years) > 1
    if words["yes_no"].search(text) and not (several and words["extreme"].search(text)):
        return _decision(text)
    rules = (
        (CAGR, spans and words["cagr"].search(text)),
        (AVERAGE, spans and words["average"].search(text)),
        (EXTREME, several and words["extreme"].search(text)),
        (GROWTH, words["growth"].search(text)),
        (GROWTH, words["change"].search(text) and words["percent"].search(text) and not words["ratio"].search(text)),
        (CHANGE, words["change"].search(text)),
    )
    found = next((name for name, holds in rules if holds), VALUE)
    if found == VALUE and spans and not several:
        raise NoPlan("part")
    return found


def _decision(text: str) -> str:
    """Return what a yes-or-no question asks of a value."""
    words = _words()
    rises, falls = bool(words["rises"].search(text)), bool(words["falls"].search(text))
    if rises or falls:
        return MOVED if rises and falls else ROSE if rises else FELL
    if words["positive"].search(text):
        return POSITIVE
    raise NoPlan("part")


def _unit(operation: str, unit: str, text: str) -> str:
    if operation in {GROWTH, CAGR}:
        return PERCENT
    if unit == "times" and _words()["percent"].search(text):
        unit = PERCENT
    return POINTS if operation == CHANGE and unit == PERCENT else unit


def _scale(text: str) -> float:
    """Return the unit of money that a question asks for."""
    match = _words()["money"].search(text)
    if not match:
        return 0.0
    word = next(each for each in match.groups() if each).lower()
    return {"million": 1e6, "billion": 1e9, "thousand": 1e3, "亿": 1e8, "万": 1e4, "百万": 1e6, "千": 1e3, "元": 1.0}[
        word
    ]
