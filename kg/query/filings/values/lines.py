"""A question about filings, answered in lines with citations for `ask`: the value, else the best pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.query.answers import AnswerLine, Citation
from kg.query.filings.values.answer import ANSWERED, NOT_FOUND, filing_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg.query.filings.pages import FoundPage
    from kg.query.filings.values.answer import ValueOperand
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
