"""Answers as lines of a terminal: the pieces that the texts of several questions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.query.wording import claim_text, flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kg.model import SummaryLine
    from kg.query.answers import Citation, Link, Node, Path
    from kg.query.browse.neighbours import NeighbourEdge
    from kg.query.session import QuerySession

MOST_PATHS = 12
_QUOTE, _LINKS, _AGAINST = 120, 24, 3


def head(session: QuerySession, text: str, note: str = "") -> str:
    """Return a heading with an empty line before it."""
    return f"\n{word('heading', session.lang, text=text)}{note}"


def weak_mark(session: QuerySession, shown: Link | Node | NeighbourEdge) -> str:
    """Return the mark of what weak facts say."""
    return word("print.weak", session.lang) if shown.weak else ""


def page_text(session: QuerySession, page: int | None) -> str:
    """Return a page number as it follows a title."""
    return word("page", session.lang, page=page) if page else ""


def summary_text(session: QuerySession, line: SummaryLine) -> str:
    """Return a line of a stored summary; it is stored in Chinese, so in English its facts are worded anew."""
    if session.lang == "zh":
        return line.text
    facts = sorted(session.view.facts(ids=line.facts[:2]), key=lambda fact: line.facts.index(fact.id))
    return flow((claim_text(session, fact) for fact in facts), session.lang)


def path_lines(session: QuerySession, paths: Sequence[Path]) -> Iterator[str]:
    """Yield paths, each with a sentence for every link."""
    for path in paths[:MOST_PATHS]:
        steps = flow((claim_text(session, link.facts[0]) for link in path.links), session.lang)
        yield f"\n  {steps}{word('print.strength', session.lang, weight=f'{path.weight:.2f}')}"
        for link in path.links:
            yield from citation_lines(session, link.citations[:1])
            yield from _against(session, link)


def evidence_lines(session: QuerySession, links: Iterable[Link]) -> Iterator[str]:
    """Yield the strongest links below a heading."""
    ranked = sorted(links, key=lambda link: (-link.weight, link.source, link.target))[:_LINKS]
    if ranked:
        yield head(session, word("print.evidence", session.lang))
    for link in ranked:
        yield from link_lines(session, link)


def link_lines(session: QuerySession, link: Link) -> Iterator[str]:
    """Yield what a link says, its newest sentence, and what contradicts it."""
    witnesses = max(fact.witnesses for fact in link.facts)
    many = word("print.independent", session.lang, count=witnesses) if witnesses > 1 else ""
    contested = word("print.contested", session.lang) if link.contested else ""
    yield f"  {claim_text(session, link.facts[0])}{many}{contested}{weak_mark(session, link)}"
    yield from citation_lines(session, link.citations[:1])
    yield from _against(session, link)


def _against(session: QuerySession, link: Link) -> Iterator[str]:
    """Yield what cannot hold together with a link, each with its newest sentence."""
    if not link.contested:
        return
    for fact in session.against(link.facts)[:_AGAINST]:
        yield f"      ↔ {claim_text(session, fact)}"
        yield from citation_lines(session, session.citations([fact], 1), indent=8)


def citation_lines(
    session: QuerySession, citations: Iterable[Citation], indent: int = 6, *, shown: str = "first"
) -> Iterator[str]:
    """Yield citations with the `first` characters of their quotes, the whole `quote`, or the `place` alone."""
    for citation in citations:
        quote = citation.quote.replace("\n", " ")
        quote = quote if len(quote) <= _QUOTE or shown != "first" else f"{quote[:_QUOTE]}…"
        where = {"title": citation.title, "speaker": citation.speaker or citation.publisher}
        where |= {"day": str(citation.published_on), "page": page_text(session, citation.page)}
        name = "source.place" if shown == "place" else "source"
        yield " " * indent + word(name, session.lang, quote=quote, **where)
