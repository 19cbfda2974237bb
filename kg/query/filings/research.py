"""Let a language model answer a question about filings: search, read, refine, answer; every number is checked.

What the rules find is the first material: the filings, the rows of their statements, the best pages. The model answers
or asks for more, three replies at most. An answer counts only where its operands and numbers are on the pages that it
names, its quotes are word for word, and its value is what its formula gives.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from kg.filing import CURRENT
from kg.llm.port import Request, tokens
from kg.messages.words import word
from kg.query.filings.documents import ScoredFiling, rank_filings
from kg.query.filings.pages import content_scores, rank_pages
from kg.query.filings.task import read_task
from kg.query.filings.values.answer import ANSWERED, NOT_FOUND, REFUSED, filing_value
from kg.query.filings.values.concepts import concepts
from kg.query.filings.values.statements import PRIMARY
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kg.llm.port import Model
    from kg.query.filings.documents import ListedFiling
    from kg.query.filings.task import FilingTask
    from kg.query.session import QuerySession

ROUNDS = 3
MOST_TOKENS = 24_000  # of prompts and replies, estimated before
_REPLY_TOKENS = 900
_FILINGS, _STATEMENTS, _PAGES, _MORE_PAGES = 12, 2, 4, 3
_PAGE_TOKENS, _REST_TOKENS, _ROWS = 1_000, 3_000, 60  # of a page, of what is read on of it
_ITEMS = 40  # operands or quotes of an answer
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<![\w.])\.\d+")
_OPENED = re.compile(r"[(（]\s*(?:[A-Z]{0,3}[$¥€£])?\s*$")
_CLOSED = re.compile(r"\s*[%％]?\s*[)）]")
_MINUS = re.compile(r"(?<![\w.)])[-–−－](?:[A-Z]{0,3}[$¥€£])?\s*$")
_NEAR = 12  # characters before a number that say its sign or currency
_CURRENCY = re.compile(r"(?:[$¥€£]|\b(?:USD|CNY|RMB|EUR|GBP|HKD))\s*$", re.IGNORECASE)
_MEASURED = re.compile(  # what follows a number that is an amount, not a day or a count
    r"(?:\s*(?:[-–—~至到]|to\b)\s*\d[\d,.]*)?\s*-?(?:[%％]|个?百分|[百千万亿元倍]|美元|港元"
    r"|(?:percent\w*|pct|points?|pp|bps|basis|hundred|thousand|million|billion|trillion|[mb]n|times|x|cents?"
    r"|dollars?|euros?|yuan|usd|cny|rmb|eur|gbp|hkd|shares|employees|staff|people)\b)",
    re.IGNORECASE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_HUGE = re.compile(r"\d(?:,?\d){24}")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_QUOTE_WORDS, _QUOTE_CHARACTERS = 4, 8
_FENCE = re.compile(r"\{.*\}", re.DOTALL)
_SMALL = 31  # a day, a count of years
_CONSTANTS = frozenset({100, 360, 365, 366, 1_000, 10_000, 1_000_000})
_YEARS = range(1990, 2100)
_UNITS = (1.0, 100.0, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
_LONGEST = 300  # characters of a formula
_OPERATORS: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: lambda base, power: base**power if abs(power) <= 10 else math.nan,  # noqa: PLR2004 - years of a growth rate
}


@dataclass(frozen=True, slots=True)
class ResearchSource(Answer):
    """What an answer rests on: a number of a page with the name that the formula gives it, or a quote."""

    document: str
    title: str
    page: int | None
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ResearchAnswer(Answer):
    """A model's answer that was checked against the pages, or `faults`, for which it is refused.

    `budget` is the most that prompts and replies were to cost, in tokens; `spent` is what they did, as estimated.
    """

    question: str
    model: str
    status: str
    text: str
    value: float | None = None
    unit: str = ""
    formula: str = ""
    sources: tuple[ResearchSource, ...] = ()
    faults: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    budget: int = MOST_TOKENS
    spent: int = 0


def research(session: QuerySession, question: str, model: Model, *, most_tokens: int = MOST_TOKENS) -> ResearchAnswer:
    """Answer a question with a model.

    Args:
        session: reads the filings.
        question: of any kind.
        model: answers prompts; it is asked three times at most.
        most_tokens: of all prompts and replies; the model is not asked again where they would be more.

    Raises:
        ModelError: when the model does not answer.
    """
    desk = _Desk(session, question)
    messages = [("system", word("filing.research_rules", session.lang)), ("user", desk.opening())]
    spent = 0
    faults: tuple[str, ...] = ("budget",)
    for _ in range(ROUNDS):
        request = Request(tuple(messages), most_tokens=_REPLY_TOKENS)
        if spent + request.tokens + _REPLY_TOKENS > most_tokens:
            desk.trace.append(f"budget: {spent} tokens spent, {request.tokens} more are too many")
            break
        reply = _SURROGATE.sub("\ufffd", model.complete(request).text)
        spent += request.tokens + tokens(reply)
        step = _step(reply)
        wanted = {key: step[key] for key in ("search", "read") if step.get(key)}
        if wanted:
            messages += [("assistant", reply), ("user", desk.fetch(wanted))]
            faults = ("unanswered",)
            continue
        if "none" in step:
            desk.trace.append(f"none: {step['none']}")
            faults = ()
            break
        answer, faults = desk.checked(step)
        desk.trace.append(f"answer: {answer.text}; faults: {', '.join(faults) or 'none'}")
        if not faults:
            return _closed(desk, answer, model.name, most_tokens, spent)
        messages += [
            ("assistant", reply),
            ("user", word("filing.research_faults", session.lang, faults="; ".join(faults))),
        ]
    status = REFUSED if faults else NOT_FOUND
    text = word("filing.not_found" if not faults else "filing.refused_missing", session.lang)
    return _closed(
        desk, ResearchAnswer(question, "", status, text, faults=tuple(faults)), model.name, most_tokens, spent
    )


def _closed(desk: _Desk, answer: ResearchAnswer, model: str, budget: int, spent: int) -> ResearchAnswer:
    plain = {name: getattr(answer, name) for name in ("question", "status", "text", "value", "unit", "formula")}
    return ResearchAnswer(
        **plain,
        model=model,
        sources=answer.sources,
        faults=answer.faults,
        trace=tuple(desk.trace),
        budget=budget,
        spent=spent,
    )


@dataclass(slots=True)
class _Desk:
    """What the model was shown: filings by handle (F1), and the pages of each."""

    session: QuerySession
    question: str
    trace: list[str] = field(default_factory=list)
    handles: dict[str, ListedFiling] = field(default_factory=dict)
    shown: dict[tuple[str, int], str] = field(default_factory=dict)
    read_to: dict[tuple[str, int], int] = field(default_factory=dict)  # characters of a page that were shown

    def opening(self) -> str:
        """Return the first material: what was understood, filings, statements, what the rules computed, pages."""
        index, task = self.session.filings, read_task(self.question)
        companies = index.companies(self.question)
        ranked = rank_filings(
            index,
            task,
            companies=companies,
            content=content_scores(self.session.view, index, task, companies=companies),
        )
        own = [each for each in ranked if not companies or each.filing.group in companies]
        best = own[:_FILINGS] if companies else ranked[:_FILINGS]
        self.handles = {f"F{number}": each.filing for number, each in enumerate(best, start=1)}
        parts = [word("filing.research_question", self.session.lang, question=self.question), "Filings:"]
        parts += [f"{handle} {each.title}, {each.published_on}" for handle, each in self.handles.items()]
        for handle in list(self.handles)[: 0 if task.form in CURRENT else _STATEMENTS]:
            parts += self._statements(handle)
        computed = filing_value(self.session, self.question)
        if computed.status == ANSWERED:
            parts.append(f"Computed by rules: {computed.text} ({computed.formula})")
        self.trace.append(f"plan: {len(self.handles)} filings; rules: {computed.status} {computed.reason}")
        names = index.words_of(companies)
        for each in rank_pages(self.session, task, best[:3], names=names)[:_PAGES]:
            handle = next(key for key, listed in self.handles.items() if listed == each.filing.filing)
            parts.append(self._page(handle, each.page + 1))
        return "\n".join(parts)

    def fetch(self, wanted: Mapping[str, Any]) -> str:
        """Return the pages that the model asks for by words or number."""
        parts: list[str] = []
        search = wanted.get("search")
        for each in (search if isinstance(search, list) else [search] if search else [])[:_MORE_PAGES]:
            handle, words = (
                (str(each.get(key, "")) for key in ("filing", "words")) if isinstance(each, dict) else ("", "")
            )
            if listed := self.handles.get(handle):
                task: FilingTask = read_task(words)
                names = self.session.filings.words_of([listed.group])
                found = rank_pages(self.session, task, [ScoredFiling(listed, 1.0)], names=names)[:_MORE_PAGES]
                parts += [self._page(handle, page.page + 1) for page in found]
        read = wanted.get("read")
        for each in (read if isinstance(read, list) else [read] if read else [])[:_MORE_PAGES]:
            if isinstance(each, dict) and isinstance(each.get("page"), int):
                parts.append(self._page(str(each.get("filing", "")), each["page"], read=True))
        self.trace.append(f"asked: {json.dumps(wanted, ensure_ascii=False)[:200]}; {len(parts)} pages")
        return "\n".join(filter(None, parts)) or word("nothing", self.session.lang)

    def _page(self, handle: str, page: int, *, read: bool = False) -> str:
        """Return a page of a filing, cut at its budget; of a page that was shown, a read returns the rest."""
        table = self.session.page_table(self.handles[handle].document) if handle in self.handles else None
        key = (handle, page)
        if table is None or not 1 <= page <= len(table) or (key in self.shown and not read):
            return ""
        start, end = (int(each) for each in table.spans[page - 1])
        since = self.read_to.get(key, 0)
        text = _cut(table.text[start + since : end], _REST_TOKENS if since else _PAGE_TOKENS)
        self.shown[key] = table.text[start:end]
        self.read_to[key] = since + len(text)
        if not text.strip():
            return ""
        rest = f"\n[cut: read page {page} of {handle} again for the rest]" if start + since + len(text) < end else ""
        head = f"\n[{handle} page {page}{', continued' if since else ''}]"
        return f"{head} {' · '.join(table.sections[page - 1][-2:])}\n{text.strip()}{rest}"

    def _statements(self, handle: str) -> Iterator[str]:
        """Yield the rows of the primary statements that the vocabulary knows, as they are printed."""
        listed = self.handles[handle]
        statements, table = self.session.statements(listed), self.session.page_table(listed.document)
        if statements is None or table is None:
            return
        seen: set[str] = set()
        known = [concept for concept in concepts().values() if concept.rows]
        for part in statements.tables:
            if part.statement in seen or part.statement not in PRIMARY:
                continue
            seen.add(part.statement)
            years = ", ".join(f"FY{year}" if year else "-" for year in part.years)
            page = part.page + 1
            unit = f"{listed.filing.currency} × {part.scale:,.0f}"
            yield f"\n[{handle} page {page}] {part.statement}, {unit}; columns {years}"
            start, end = (int(each) for each in table.spans[part.page])
            self.shown.setdefault((handle, page), table.text[start:end])
            rows = [row for row in part.rows if any(each.fits(row.label, row.head) is not None for each in known)]
            yield from (table.text[row.start : row.end] for row in rows[:_ROWS])

    def checked(self, step: Mapping[str, Any]) -> tuple[ResearchAnswer, tuple[str, ...]]:
        """Return the answer of a reply and what is wrong with it."""
        if not step:
            return ResearchAnswer(self.question, "", REFUSED, ""), ("invalid reply",)
        faults: list[str] = []
        operands: dict[str, float] = {}
        sources: list[ResearchSource] = []
        pages: list[str] = []
        for name, each in _items(step.get("operands")):
            if source := self._source(each, name, faults):
                number = _read(str(each.get("number", "")))
                page = self.shown[str(each["filing"]), each["page"]]
                if number is None or number not in _numbers(page):
                    faults.append(f"{each.get('number')} is not on page {each['page']} of {each['filing']}")
                    continue
                operands[name] = number
                sources.append(source)
                pages.append(page)
        for _, each in _items(step.get("quotes")):
            if source := self._source(each, "", faults):
                page = self.shown[str(each["filing"]), each["page"]]
                if fault := _misquoted(source.text, page):
                    faults.append(f"{fault} page {each['page']}: {source.text[:60]}")
                    continue
                sources.append(source)
                pages.append(page)
        formula, text = str(step.get("formula") or ""), " ".join(str(step.get("answer") or "").split())
        value = _computed(formula, operands, faults)
        faults += [] if sources else ["no source"]
        faults += [] if text else ["no answer"]
        allowed = set().union(*map(_numbers, [*pages, self.question]))
        faults += [
            f"{said} is neither on a page that is named nor computed" for said in _unfounded(text, allowed, value)
        ]
        answer = ResearchAnswer(
            self.question, "", ANSWERED, text, value, str(step.get("unit") or ""), formula, tuple(sources)
        )
        return answer, tuple(dict.fromkeys(faults))

    def _source(self, each: Mapping[str, Any], name: str, faults: list[str]) -> ResearchSource | None:
        handle, page = str(each.get("filing", "")), each.get("page")
        if not isinstance(page, int) or (handle, page) not in self.shown:
            faults.append(f"page {page} of {handle} was not shown")
            return None
        listed = self.handles[handle]
        text = str(each.get("quote") or each.get("number") or "")
        return ResearchSource(listed.document, listed.title, page, name, text)


def _step(reply: str) -> dict[str, Any]:
    """Return the JSON object of a reply, {} where it has none or one with broken characters or huge numbers."""
    found = _FENCE.search(reply)
    try:
        step = json.loads(found[0]) if found else {}
        written = json.dumps(step, ensure_ascii=False)
    except (ValueError, RecursionError):
        return {}
    broken = _SURROGATE.search(written) or _HUGE.search(written)
    return step if isinstance(step, dict) and not broken else {}


def _items(given: object) -> list[tuple[str, Mapping[str, Any]]]:
    """Return objects of a reply with their names, whether it has them by name or as a list."""
    pairs = given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ()
    items = ((str(each.get("name") or name), each) for name, each in pairs if isinstance(each, dict))
    return list(islice(items, _ITEMS))


def _computed(formula: str, operands: Mapping[str, float], faults: list[str]) -> float | None:
    """Return the value of a formula over named operands; None, with the fault, where it has none."""
    if not formula:
        return None
    try:
        value = _evaluated(ast.parse(formula[:_LONGEST], mode="eval").body, operands)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, LookupError):
        faults.append(f"formula {formula[:_LONGEST]} cannot be computed")
        return None
    if not isinstance(value, float) or not math.isfinite(value):
        faults.append("formula has no value")
        return None
    return value


def _evaluated(node: ast.expr, operands: Mapping[str, float]) -> float:
    """Evaluate sums, differences, products, quotients and powers of operands and numbers; nothing else is read.

    >>> _evaluated(ast.parse("(a - b) / b * 100", mode="eval").body, {"a": 110.0, "b": 100.0})
    10.0
    """
    if isinstance(node, ast.Name):
        return operands[node.id]
    if (
        isinstance(node, ast.Constant)
        and type(node.value) is int
        and (node.value <= _SMALL or node.value in _CONSTANTS)
    ):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand, operands)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluated(node.left, operands), _evaluated(node.right, operands))
    raise LookupError(type(node).__name__)


def _read(text: str) -> float | None:
    """Read a number as printed; brackets and a minus make it negative.

    >>> _read("(1,234.5)"), _read("$ 12"), _read("none")
    (-1234.5, 12.0, None)
    """
    return next((number for number, _ in _signed(text)), None)


def _signed(text: str) -> Iterator[tuple[float, re.Match[str]]]:
    """Yield the numbers of a text with their sign as printed.

    >>> [number for number, _ in _signed("2021-2022: $ (1,234) of -5 (7 in all), 20–25")]
    [2021.0, 2022.0, -1234.0, -5.0, 7.0, 20.0, 25.0]
    """
    for match in _NUMBER.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        bracketed = _OPENED.search(before) and _CLOSED.match(text, match.end())
        negative = bracketed or _MINUS.search(before)
        yield (-1 if negative else 1) * float(match[0].replace(",", "")), match


def _numbers(text: str) -> set[float]:
    return {number for number, _ in _signed(text)}


def _unfounded(text: str, allowed: set[float], value: float | None) -> list[str]:
    """Return the numbers of an answer that no page and no formula has.

    A negative number needs a negative one; words may say the sign of a positive one (a loss of 12).
    """
    found = []
    for number, match in _signed(text):
        close = 0.51 * 10.0 ** -len(match[0].partition(".")[2])
        fits = any(
            abs(abs(each) * unit - abs(number)) <= close * unit and (number >= 0 or each < 0)
            for each in allowed
            for unit in _UNITS
        )
        computed = value is not None and (number >= 0 or value < 0)
        computed = computed and any(abs(abs(value or 0) * unit - abs(number)) <= close for unit in _UNITS)
        if not (fits or computed or _is_plain(text, match)):
            found.append(match[0])
    return found


def _is_plain(text: str, match: re.Match[str]) -> bool:
    """Return whether a number is a day, a small count or a year, not an amount.

    >>> [_is_plain(said, _NUMBER.search(said)) for said in ("31 March", "in 2050", "2,050 staff", "25%", "$ 12")]
    [True, True, False, False, False]
    """
    digits = match[0]
    if not digits.isdecimal() or (int(digits) > _SMALL and not (len(digits) == 4 and int(digits) in _YEARS)):  # noqa: PLR2004
        return False
    before = text[max(0, match.start() - _NEAR) : match.start()]
    return not _CURRENCY.search(before) and not _MEASURED.match(text, match.end())


def _misquoted(quote: str, page: str) -> str:
    """Return what is wrong with a quote."""
    flat = _flat(quote)
    if flat not in _flat(page):
        return "no such words on"
    if len(flat.split()) < _QUOTE_WORDS and len(_CHINESE.findall(flat)) < _QUOTE_CHARACTERS:
        return "too few words are quoted of"
    return ""


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text, up to a space, that has no more tokens."""
    whole = text
    while tokens(text) > most:
        text = text[: len(text) * most // tokens(text)]
    place = max(text.rfind(" "), text.rfind("\n"))
    return text if text == whole or place < len(text) // 2 else text[:place]


def _flat(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()
