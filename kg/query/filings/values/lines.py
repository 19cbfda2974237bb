"""A question about filings in lines: with citations for `ask`, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.query.answers import AnswerLine, Citation
from kg.query.filings.values.answer import ANSWERED, NOT_FOUND, filing_value
from kg.query.filings.values.concepts import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kg.messages.words import Lang
    from kg.query.filings.pages import FoundPage
    from kg.query.filings.values.answer import FilingValueAnswer
    from kg.query.filings.values.company import ValueOperand
    from kg.query.session import QuerySession
    from kg.store.port import DocumentHead

_NAMED = {"company": "filing.no_company", "year": "filing.no_year"}  # the newest filing answers
_SAID = frozenset({"own_year", "filing", "missing", "definition", "sign", "currency"})


def filing_lines(session: QuerySession, question: str) -> tuple[str, list[AnswerLine], list[AnswerLine]]:
    """Return the status of the answer, its lines, and the passages beside it."""
    answer = filing_value(session, question)
    cited = {operand.document for operand in answer.operands} | {page.document for page in answer.pages}
    heads = {head.id: head for head in session.view.documents(cited)}
    if answer.status == ANSWERED:
        citations = tuple(dict.fromkeys(_citation(operand, heads) for operand in answer.operands))
        return "answered", [AnswerLine(answer.text, citations)], []
    if answer.status == NOT_FOUND or not answer.pages:
        return "not_found", [], []
    said = _NAMED.get(answer.reason) or (f"filing.refused_{answer.reason}" if answer.reason in _SAID else "")
    passages = [AnswerLine(word(said, session.lang))] if said else []
    passages += [AnswerLine(page.quote, (_citation(page, heads),), 1, source="text") for page in answer.pages]
    return "partial", [], passages


def _citation(place: FoundPage | ValueOperand, heads: Mapping[str, DocumentHead]) -> Citation:
    publisher = heads[place.document].publisher
    where = (place.document, place.title, publisher, publisher, place.published_on, place.page, place.start, place.end)
    return Citation("", *where, place.quote)


def value_text(session: QuerySession, answer: FilingValueAnswer) -> Iterator[str]:
    """Yield the answer, its formula and the row of each operand, or the best pages; then the steps if it has them."""
    lang = session.lang
    yield answer.text
    if answer.status == ANSWERED:
        yield word("filing.formula", lang, formula=in_words(answer.formula, lang))
    for operand in dict.fromkeys(answer.operands):
        again = word("filing.restated", lang, value=f"{operand.restated:,.0f}") if operand.restated is not None else ""
        fields = {
            "label": in_words(operand.concept, lang),
            "year": operand.fiscal_year,
            "value": f"{operand.value:,.10g}",
        }
        place = {"title": operand.title, "page": _page(operand.page, lang), "quote": " ".join(operand.quote.split())}
        yield "  " + word("filing.operand", lang, **fields, **place)
        if again:
            yield f"    {again}"
    for page in answer.pages:
        yield f"\n{page.title}{_page(page.page, lang)}"
        yield "\n".join(f"  {line}" for line in page.quote.split("\n"))
    if answer.trace:
        yield "\n" + "\n".join(answer.trace)


def _page(number: int | None, lang: Lang) -> str:
    return word("page", lang, page=number) if number else ""
