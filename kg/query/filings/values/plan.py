"""Read from a question which value it asks for: a formula, its years, what is done with it, and in which unit.

A question that asks for a part of a company, an adjusted figure or a quarter gets no plan: the statements of the year
do not answer it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from kg.query.filings.lexicon import lexicon
from kg.query.filings.task import LONGEST
from kg.query.filings.values.concepts import concepts, named_concepts
from kg.query.filings.values.concepts import question_patterns as _words
from kg.query.filings.values.concepts import question_words as _vocabulary
from kg.query.filings.values.formula import FormulaError, FormulaOperation, Line, ingredients, read_formula

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import date

    from kg.query.filings.task import FilingTask
    from kg.query.filings.values.concepts import NamedConcept
    from kg.query.filings.values.formula import FormulaPart

VALUE, GROWTH, CAGR, AVERAGE, CHANGE, LIST = "value", "growth", "cagr", "average", "change", "list"
ROSE, FELL, MOVED, POSITIVE, EXTREME = "rose", "fell", "moved", "positive", "extreme"
PERCENT, POINTS = "percent", "points"
_CHINESE = re.compile("[\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9][\w&'’.-]*[\w]|[A-Za-z]")
_PROPER = re.compile(r"(?<![.:?!,] )(?<![(\w'-])(?<!^)[A-Z][a-z]{2,}")  # within a sentence
_EXPENSE_RATES = frozenset({"销售费用", "管理费用", "销售及管理费用", "研发费用", "财务费用"})  # of revenue
_LONGEST_TERM = 6  # words
_LONGEST_BETWEEN = 40  # characters between a part and what it is a share of
_SIGNS = {"-": "between_minus", "+": "between_plus", "/": "between_over"}
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "两": 2, "三": 3, "四": 4, "五": 5}
_MOST_YEARS = 10
_KINDS = ("segment", "region", "product")
QUARTER, _HALF_MONTHS, _NINE_MONTHS = 3, 6, 9  # months


@dataclass(frozen=True, slots=True)
class Interim:
    """A part of a fiscal year: the quarter that it ends with (0: the question says its last day), and its months."""

    quarter: int
    months: int


@dataclass(frozen=True, slots=True)
class CompanyPart:
    """A part of the company that a line is asked for.

    `words` name it (intelligent cloud); where they are empty, all parts of a `kind` (segment, region, product) are
    meant. `share` asks for its share of the whole.
    """

    words: tuple[str, ...]
    kind: str = ""
    share: bool = False


@dataclass(frozen=True, slots=True)
class ValuePlan:
    """What to compute.

    Attributes:
        operation: what is done with the value of each formula.
        parts: the formulas with what each is called; several only where they are compared or listed.
        years: the fiscal years in order; two for a change, all for a list or an average.
        unit: of the answer: amount, percent, points (of a percentage), times, days, share, count.
        scale: the unit of the money that the question asks for, 0 where it names none.
        basis: whether the parent's own statements are meant.
        interim: the part of the year, None for the whole year.
        day: the last day of the period, where the question says it.
        part: the part of the company, None for the whole company.
    """

    operation: str
    parts: tuple[tuple[str, FormulaPart], ...]
    years: tuple[int, ...]
    unit: str
    scale: float
    basis: str
    interim: Interim | None = None
    day: date | None = None
    part: CompanyPart | None = None

    @property
    def first(self) -> int:
        """The first fiscal year."""
        return self.years[0]

    @property
    def last(self) -> int:
        """The last fiscal year."""
        return self.years[-1]


def is_by(text: str, kind: str) -> bool:
    """Return whether the lines above a breakdown say that it is by segment, region or product, and by nothing else."""
    return [name for name in _KINDS if _words()[f"kind_{name}"].search(text)] == [kind]


def is_member(label: str) -> bool:
    """Return whether a row of a breakdown names a part, not what is left over."""
    return not _words()["no_member"].search(label)


def is_part(name: str) -> bool:
    """Return whether the name of a row is one that the company gives a segment, region or product, no words for a sum.

    >>> is_part("Pet"), is_part("reportable segments"), is_part("Full Year 2018 GAAP"), is_part("external customers")
    (True, False, False, False)
    """
    return is_member(name) and len(name) > 1 and not _words()["no_part"].search(name)


def is_choice(question: str) -> bool:
    """Return whether a question asks which part has the most, not for all of them."""
    return bool(_words()["which"].search(question) and _words()["best"].search(question))


def wants_least(question: str) -> bool:
    """Return whether a question asks for the smallest value."""
    return bool(_words()["least"].search(question))


class NoPlan(LookupError):
    """A question that the statements do not answer; its argument is the reason: metric, part, quarter, period …"""


def read_plan(task: FilingTask, years: Sequence[int], names: Collection[str] = (), *, companies: int = 1) -> ValuePlan:
    """Read a question.

    Args:
        task: the question as it is read for pages.
        years: the fiscal years that it names, in order, at least one.
        names: words of the company's name.
        companies: how many companies it names.

    Raises:
        NoPlan: when no rule reads a value from it.
    """
    words = _words()
    text = words["caveat"].sub(" ", re.sub("[“”]", '"', " ".join(task.question[:LONGEST].split())))
    defined = words["defined"].search(text)
    asked = text[: defined.start()] if defined else text
    if words["part"].search(asked) or words["no_rule"].search(text):
        raise NoPlan("part")
    interim = _interim(text, task, years)
    basis = "parent" if words["parent"].search(text) else "consolidated"
    plain = _without_statements(asked)
    lines, unit = _defined(text, defined, asked) if defined else _named(plain)
    rest = _unread_names(plain, names) if defined else _rest(plain, names)
    part = _part(asked, rest)
    run = _run(text, years)
    operation = _operation(asked, run, several=len(lines) > 1, defined=bool(defined), companies=companies)
    span = _span(text, run, operation)
    if _other_month(text, task, interim) or (not defined and _other_year(text, years, span, operation, interim)):
        raise NoPlan("period")
    averaged = operation == AVERAGE or bool(defined) or unit != "amount"
    doubts = (
        operation == LIST and len(lines) > 1 and not _is_list(plain),  # a second line that is not one of a list
        len(lines) > 1 and operation not in {EXTREME, LIST},  # or that nothing is done with
        len(span) > _MOST_YEARS,
        not averaged and words["average"].search(asked),
        part and (len(lines) > 1 or operation in {CAGR, AVERAGE, MOVED, POSITIVE}),
        words["flow"].search(asked) and any(_is_balance(node) for _, node in lines),
        words["per_share"].search(plain) and unit not in {"share", "count"} and not defined,
        _scale(text) and unit not in {"amount", "count"} and not (part and part.share),  # a ratio is no money
    )
    if any(doubts):
        raise NoPlan("part")
    unit = PERCENT if part and part.share else unit
    day = None if words["year_end"].search(text) else task.day
    return ValuePlan(
        operation, tuple(lines), span, _unit(operation, unit, text), _scale(text), basis, interim, day, part
    )


def _span(text: str, run: tuple[int, ...], operation: str) -> tuple[int, ...]:
    """Return the fiscal years that an operation needs."""
    if operation in {VALUE, EXTREME, POSITIVE}:
        return run[-1:]
    if operation in {LIST, AVERAGE}:
        return tuple(range(run[0], run[-1] + 1)) if len(run) > 1 and _is_range(text, run) else run
    return (run[0], run[-1]) if len(run) > 1 else (run[-1] - 1, run[-1])


def unread(question: str) -> str:
    """Return the words of a question that name neither line nor period: the company, where the base has none of it.

    >>> unread("What was the total revenue of Blue Tractor in FY2022?"), unread("What were total assets in 2021?")
    ('Blue Tractor', '')
    """
    text = " ".join(question[:LONGEST].split())
    found = re.search(r"\W+".join(map(re.escape, _rest(_without_statements(text), ()))), text, re.IGNORECASE)
    return found[0] if found else ""


def _interim(text: str, task: FilingTask, years: Sequence[int]) -> Interim | None:
    """Return the part of a fiscal year that a question asks for; one quarter only, of the same number in each year."""
    words = _words()
    if not words["quarter"].search(text):
        return None
    span = words["span"].search(text)
    months = QUARTER if not span else _HALF_MONTHS if span["m6"] else _NINE_MONTHS
    quarters = set(task.quarters) - ({2} if span and span["m6"] and len(task.quarters) > 1 else set())
    if span:
        quarters = quarters or {months // 3}
    unclear = len(quarters) != 1 or words["second_half"].search(text)
    if not task.day and (unclear or (span and quarters != {months // 3})):
        raise NoPlan("quarter")
    named = len(re.findall(r"[1-4]Q|Q[1-4]|quarter|季|half|半年|months", text, re.IGNORECASE))
    if len(years) > 1 and not task.day and named < len(years) and not words["growth"].search(text):
        raise NoPlan("quarter")
    return Interim(0 if task.day else next(iter(quarters)), months)


def _other_month(text: str, task: FilingTask, interim: Interim | None) -> bool:
    """Return whether a question names a month or a day that is neither its own day nor the end of the year."""
    words = _words()
    own = {(12, 31)} | ({(task.day.month, task.day.day)} if task.day else set()) - {(1, 1)}
    named = words["month"].findall(words["whole_year"].sub(" ", text))
    other = any((int(month), int(day or 0)) not in own for month, day in named)
    return other or (not interim and bool(words["month_of"].search(text)))


def _other_year(text: str, years: Sequence[int], span: Sequence[int], operation: str, interim: Interim | None) -> bool:
    """Return whether a question means the year before, or its opening balance, other than to compare with."""
    compares = operation in {GROWTH, CHANGE, ROSE, FELL, MOVED} and span[-1] - span[0] == 1
    return any(
        not (compares and each["against"]) or (each["opening"] and (interim or len(years) > 1))
        for each in _words()["before"].finditer(text)
    )


def _run(text: str, years: Sequence[int]) -> tuple[int, ...]:
    """Return the years of a question: those of its last three years where it names one year only."""
    match = _words()["run"].search(text)
    if match and len(years) == 1:
        count = match["n"] or match["zh"]
        number = _COUNTS.get(count.lower()) or int(count)
        return tuple(range(years[0] - number + 1, years[0] + 1))
    return tuple(years)


def _is_range(text: str, years: Sequence[int]) -> bool:
    """Return whether the years between the first and the last are meant as well: from 2019 to 2021."""
    first, last = (f"(?:20)?{year % 100:02}" for year in (years[0], years[-1]))
    return bool(
        re.search(
            rf"{first}\s*年?(?:度|末)?\s*(?:to|through|until|and|[-–—~至到])\s*(?:FY|fiscal|year|the|\s)*{last}",
            text,
            re.IGNORECASE,
        )
    )


def _rest(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the words of a question that name neither company, line, period nor what is done: Intelligent Cloud."""
    words = _words()
    pieces = words["asking"].split(words["bracket"].sub(" ", text)) if not _CHINESE.search(text) else [_unsigned(text)]
    kept = [each for each in pieces if named_concepts(each)] or pieces
    found = [name for each in pieces if each not in kept for name in _unread_names(each, names)]
    for piece in kept:
        own = re.sub(r"\(net\)", " ", piece)
        for named in reversed(named_concepts(piece)):
            own = own[: named.start] + " " + own[named.end :]
        for name in sorted(names, key=len, reverse=True) if _CHINESE.search(text) else ():
            edge = r"(?<![A-Za-z\d])", r"(?![A-Za-z\d])"
            own = re.sub((re.escape(name)).join(edge if name.isascii() else ("", "")), " ", own, flags=re.IGNORECASE)
        if _CHINESE.search(text):
            spelled = re.search(r"[（(]([A-Za-z][A-Za-z&' ]+)[）)]", own)
            own = re.sub(r"(?<![A-Za-z])(?:FY)?\d[\d.]*\s*[月日]?|[（(][^）)]*[）)]", " ", own)
            left = [each for each in re.split(r"[\s，。、·？?！!：:；;“”\"]+", words["filler"].sub(" ", own)) if each]
            found += spelled[1].split() if spelled and left else left
        else:
            found += _unread_words(own, names)
    return tuple(found)


def _unsigned(text: str) -> str:
    """Return a question without what makes one line less, plus or by another; before an amount it stays unread.

    >>> _unsigned("营业收入减去营业成本"), _unsigned("营业收入减去3亿元")
    ('营业收入 营业成本', '营业收入减去3亿元')
    """
    named = named_concepts(text)
    if len(named) == 2 and any(  # noqa: PLR2004
        _words()[name].fullmatch(text, named[0].end, named[1].start) for name in _SIGNS.values()
    ):
        return f"{text[: named[0].end]} {text[named[1].start :]}"
    return text


def _unread_words(text: str, names: Collection[str]) -> list[str]:
    """Return the words that say nothing of what is asked; a plain word that begins a name belongs to it."""
    plain, found = _vocabulary("plain"), list[str]()
    tokens = [re.sub(r"['’]s?$", "", token) for token in _WORD.findall(text)]
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place]
        key = token.casefold().strip(".")
        if key in names or not key or re.fullmatch(r"(?:(?:fy|q)?[\d.,]+(?:q\d*)?[-–]?)+", key):
            continue
        begins = place and found and token[0].isupper() and tokens[place + 1] == found[-1] and found[-1][0].isupper()
        if key not in plain or begins:
            found.append(token)
    return [token.casefold() for token in reversed(found)]


def _unread_names(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Return proper names beside company and lines, for a question that defines its term itself."""
    for named in reversed(named_concepts(text)):
        text = text[: named.start] + " " + text[named.end :]
    proper = (match[0].casefold() for match in _PROPER.finditer(text))
    return tuple(word for word in proper if word not in names and word not in _vocabulary("plain"))


def _part(text: str, rest: tuple[str, ...]) -> CompanyPart | None:
    """Return the part of the company that a question asks for."""
    words, kinds = _words(), _vocabulary("kinds")
    kind = next((name for name in _KINDS if words[f"kind_{name}"].search(text)), "")
    core = tuple(word for word in rest if word not in kinds)
    if not core and kind and (words["which"].search(text) or words["every"].search(text)):
        return CompanyPart((), kind)
    left = core or tuple(
        word for word in rest if not words["kind_segment"].fullmatch(word) and not words["kind_region"].fullmatch(word)
    )
    if not left and (rest or (kind and _CHINESE.search(text))):
        raise NoPlan("part")
    return CompanyPart(left, kind, share=bool(words["share_of_all"].search(text))) if left else None


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
    if not term and (named := named_concepts(own)):  # the whole question, up to its definition
        own = named[-1].concept.name if len(own.split()) > _LONGEST_TERM else own
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
    if computed := _computed(text, named):
        return computed
    if len(named) == 1 and text[named[0].end :].startswith(
        "率"
    ):  # 研发费用率; of another line a rate is something else
        if named[0].concept.label not in _EXPENSE_RATES:
            raise NoPlan("metric")
        node = FormulaOperation("/", Line(named[0].concept), Line(concepts()["Revenues"]))
        return [(node.text(), node)], PERCENT
    best = max(named, key=lambda each: (bool(each.concept.formula and not each.concept.rows), each.end - each.start))
    if not best.concept.formula and words["of_revenue"].match(_tail(text, best)):
        return [(best.concept.name, FormulaOperation("/", Line(best.concept), Line(concepts()["Revenues"])))], PERCENT
    used = ingredients(best.concept) if not best.concept.rows else {best.concept.name}
    if into := words["into"].search(text):
        ends = [each for each in named if each.start >= into.end() and each.concept is not named[0].concept]
        if len(named) == 2 and ends and into.start() <= named[0].start:  # noqa: PLR2004 - the whole and its share
            node = FormulaOperation("/", Line(ends[0].concept), Line(named[0].concept))
            return [(node.text(), node)], PERCENT
    parts: dict[str, FormulaPart] = {
        each.concept.name: Line(each.concept) for each in named if each is best or each.concept.name not in used
    }
    return list(parts.items()), best.concept.unit


def _computed(text: str, named: Sequence[NamedConcept]) -> tuple[list[tuple[str, FormulaPart]], str] | None:
    """Return what a question computes of two lines: X less Y, the ratio of X to Y."""
    if len(named) != 2:  # noqa: PLR2004
        return None
    words, (one, other) = _words(), named
    between = text[one.end : other.start]
    sign = next((sign for sign, name in _SIGNS.items() if words[name].fullmatch(between)), "")
    for name, wording, computed in (("between_to", "ratio_of", "/"), ("between_and", "sum_of", "+")):
        if not sign and words[name].fullmatch(between) and words[wording].search(text[: one.start]):
            sign = computed
    if not sign:
        return None
    node = FormulaOperation(sign, Line(one.concept), Line(other.concept))
    return [(node.text(), node)], "times" if sign == "/" else one.concept.unit


def _is_balance(node: FormulaPart) -> bool:
    return isinstance(node, Line) and node.concept.statement == "balance"


def _is_list(text: str) -> bool:
    """Return whether the lines that a question names are joined: R&D and SG&A."""
    return all(
        one.concept is other.concept or _words()["joined"].fullmatch(text[one.end : other.start])
        for one, other in pairwise(named_concepts(text))
    )


def _tail(text: str, named: NamedConcept) -> str:
    return re.sub(r"^\s*\([^)]*\)", "", text[named.end : named.end + 70])


def _operation(text: str, years: Sequence[int], *, several: bool, defined: bool, companies: int) -> str:
    words, spans = _words(), len(years) > 1
    compares = companies > 1 or (several and words["extreme"].search(text)) or words["which"].search(text)
    if words["yes_no"].search(text) and not compares:
        return _decision(text)
    moves = words["change"].search(text) and companies == 1
    rules = (
        (CAGR, spans and words["cagr"].search(text)),
        (AVERAGE, spans and words["average"].search(text)),
        (EXTREME, several and words["extreme"].search(text)),
        (LIST, words["each"].search(text) and (spans or several) and not defined),
        (GROWTH, words["growth"].search(text) or (words["which"].search(text) and words["fastest"].search(text))),
        (GROWTH, moves and words["percent"].search(text) and not words["ratio"].search(words["percent"].sub("", text))),
        (CHANGE, moves),
        (LIST, (spans or several) and not defined),
    )
    found = next((name for name, holds in rules if holds), VALUE)
    if found == VALUE and words["cagr"].search(text):
        raise NoPlan("part")
    return found


def _decision(text: str) -> str:
    """Return what a yes-or-no question asks of a value."""
    words = _words()
    if words["amount"].search(text):  # more than 9 billion is no rise
        raise NoPlan("part")
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
