"""Answers as text for a terminal; every claim with the sentence it was read from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from kg.messages.words import listed, word
from kg.query.browse.profile import group_of
from kg.query.wording import (
    ROLES,
    behind,
    claim_text,
    coded,
    direction_text,
    flow,
    group_text,
    party_text,
    path_citations,
    path_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg.messages.words import Lang
    from kg.model import Community, SummaryLine
    from kg.query.answers import (
        AskAnswer,
        ChainAnswer,
        Citation,
        ImpactAnswer,
        Link,
        Node,
        Party,
        Passage,
        Path,
        ProfileAnswer,
        RelateAnswer,
        ThemeAnswer,
    )
    from kg.query.browse.stats import BaseStats
    from kg.query.filings.outline import OutlineAnswer
    from kg.query.filings.pages import FilingPagesAnswer
    from kg.query.session import QuerySession
    from kg.query.themes.biography import Biography

_QUOTE = 120
_LINKS = 24
_PATHS = 12
_AFFECTED = 20
_AGAINST = 3


def print_chain(session: QuerySession, answer: ChainAnswer) -> None:
    """Print the layers, then the links with their evidence."""
    lang = session.lang
    click.echo(word("print.chain", lang, topic=coded(answer.topic, lang)))
    if not answer.layers:
        click.echo(word("print.no_chain", lang))
    for layer in answer.layers:
        _head(session, layer.name)
        for stage in layer.stages:
            names = listed((coded(node.entity, lang) + _weak(session, node) for node in stage.companies), lang)
            click.echo(f"  {stage.node.entity.name}{word('colon', lang) if names else ''}{names}")
    _print_links(session, answer.graph.links)


def print_impact(session: QuerySession, answer: ImpactAnswer) -> None:
    """Print the paths, the affected and the counter-evidence."""
    lang = session.lang
    moved = behind(answer.topic.name, direction_text(answer.direction, answer.topic.kind, lang), lang)
    click.echo(word("print.effects" if answer.forward else "print.causes", lang, factor=moved))
    _print_parties(session, answer.parties)
    if not answer.paths and not answer.parties:
        click.echo(word("print.no_paths", lang))
    for path in answer.paths[:_PATHS]:
        first = answer.direction if answer.forward else answer.direction * path.sign
        click.echo(f"\n  {path_text(session, path, first)}{word('print.strength', lang, weight=f'{path.weight:.2f}')}")
        _print_citations(session, path_citations(path, first))
    if answer.exposed:
        _head(session, word("print.exposed", lang), word("print.exposed_note", lang))
    for role in ROLES:
        for exposure in [each for each in answer.exposed if each.role == role]:
            named = word("role." + role, lang) + word("colon", lang)
            click.echo(f"  {named}{coded(exposure.node.entity, lang)}")
            _print_citations(session, exposure.links[0].citations[:1])
    if answer.counter:
        _head(session, word("print.opposite", lang))
        for link in answer.counter:
            _print_link(session, link)
    if answer.paths:
        click.echo("\n" + word("print.strength_means", lang))


def _print_parties(session: QuerySession, parties: Sequence[Party]) -> None:
    """Print who gains, then who pays: stated before inferred, each with the reason and a sentence."""
    lang = session.lang
    for sign, name in ((1, "gains"), (-1, "loses")):
        some = [party for party in parties if party.sign == sign][:_AFFECTED]
        if some:
            _head(session, word(f"exposure.{name}", lang))
        for party in some:
            click.echo(f"  {party_text(party, lang)}")
            _print_citations(session, party.citations[:1])
            if party.contested:
                click.echo("      ↔")
                _print_citations(session, party.against[:1], indent=8)


def print_relate(session: QuerySession, answer: RelateAnswer) -> None:
    """Print the paths between two entities."""
    lang = session.lang
    click.echo(word("print.relate", lang, first=coded(answer.first, lang), second=coded(answer.second, lang)))
    if not answer.paths:
        click.echo(word("print.no_relation", lang))
    _print_paths(session, answer.paths)
    if answer.paths:
        click.echo("\n" + word("print.strength_means", lang))


def print_profile(session: QuerySession, answer: ProfileAnswer) -> None:
    """Print names, codes and facts by relation."""
    entity, lang = answer.entity, session.lang
    click.echo(f"{coded(entity, lang)}  [{session.words.kinds[entity.kind][lang]}]")
    names = [alias.name for alias in entity.aliases]
    if names:
        click.echo(word("print.names", lang, names=listed(names, lang)))
    if len(entity.codes) > 1:
        click.echo(word("print.codes", lang, codes=listed(entity.codes, lang)))
    for (_, incoming), links in groupby(answer.links, key=lambda link: group_of(session, entity.id, link)):
        group = list(links)
        _head(session, group_text(session, group[0].relation, incoming=incoming))
        for link in group:
            _print_link(session, link)


def print_themes(session: QuerySession, communities: Sequence[Community]) -> None:
    """Print one line a theme."""
    for community in communities:
        title = community.summary.title if community.summary else ""
        row = {"id": community.id[:14], "title": title, "size": len(community.members)}
        click.echo(word("print.theme_row", session.lang, **row))


def print_theme(session: QuerySession, answer: ThemeAnswer) -> None:
    """Print the summary of a theme, each line with its first quote."""
    community, summary = answer.community, answer.community.summary
    if summary is None:
        return
    row = {"id": community.id, "title": summary.title, "size": len(community.members), "period": summary.period or ""}
    click.echo(word("print.theme", session.lang, **row))
    for line in summary.lines:
        facts = list(session.view.facts(ids=line.facts[:2]))
        click.echo(f"\n  {_summary_text(session, line)}")
        _print_citations(session, session.citations(facts, 2))
    if community.changes:
        _head(session, word("print.new", session.lang))
    for line in community.changes:
        click.echo(f"  {_summary_text(session, line)}")
    if answer.biography:
        _print_biography(session, answer.biography)


def _print_biography(session: QuerySession, life: Biography) -> None:
    lang = session.lang
    _head(session, word("print.biography", lang))
    for episode in life.episodes:
        click.echo(f"  {episode.as_of}  {episode.text}")
        for claim in episode.claims:
            click.echo(f"              {claim}")
        _print_citations(session, episode.citations[:1], indent=14)
    _head(session, word("print.theme_names", lang))
    for day, name in life.names:
        click.echo(f"  {day}  {name}")
    _head(session, word("print.sizes", lang))
    click.echo("  " + word("comma", lang).join(f"{day} {size}" for day, size in life.sizes))


def print_passages(session: QuerySession, found: Sequence[Passage]) -> None:
    """Print passages with their documents."""
    lang = session.lang
    if not found:
        click.echo(word("nothing", lang))
    for passage in found:
        publisher = passage.publisher or word("print.no_publisher", lang)
        row = {"publisher": publisher, "day": passage.published_on, "page": _page(session, passage.chunk.page)}
        click.echo("\n" + word("print.passage", lang, title=passage.title, score=f"{passage.score:.2f}", **row))
        click.echo(
            f"  {' › '.join(passage.chunk.heading)}" if passage.chunk.heading else "", nl=bool(passage.chunk.heading)
        )
        click.echo(f"  {passage.chunk.text}")


def print_filing_pages(session: QuerySession, answer: FilingPagesAnswer) -> None:
    """Print what was understood, the filings that fit, and the pages with the lines that answer."""
    lang = session.lang
    years = [f"FY{year}" for year in answer.fiscal_years] + [f"Q{quarter}" for quarter in answer.quarters]
    understood = [*answer.companies, *([answer.form] if answer.form else []), *years]
    if understood:
        click.echo(word("ask.understood", lang) + " · ".join(understood))
    for name in answer.missing:
        click.echo(word(f"filing.no_{name}", lang))
    if not answer.pages:
        click.echo(word("nothing", lang))
    for page in answer.pages:
        row = {"title": page.title, "day": page.published_on, "score": f"{page.score:.2f}"}
        click.echo("\n" + word("filing.page", lang, page=_page(session, page.page), **row))
        if page.section:
            click.echo(f"  {' · '.join(page.section)}")
        click.echo("\n".join(f"  {line}" for line in page.quote.split("\n")))


def print_outline(answer: OutlineAnswer, lang: Lang) -> None:
    """Print the sections of a document, one a line, with their pages."""
    click.echo(f"{answer.title}{word('filing.pages', lang, count=answer.pages) if answer.pages else ''}")
    if not answer.sections:
        click.echo(word("filing.no_sections", lang))
    for section in answer.sections:
        pages = f"{section.page}–{section.last_page}" if section.page != section.last_page else section.page or ""
        click.echo(f"{'  ' * section.level}{section.title}  {pages}".rstrip())


def print_ask(session: QuerySession, answer: AskAnswer) -> None:
    """Print an answer with what was understood and its citations; or what the base has instead."""
    asked, lang = answer.understood, session.lang
    said = [*(coded(entity, lang) for entity in asked.entities), *([str(asked.period)] if asked.period else [])]
    if asked.as_of:
        said.append(word("ask.as_of", lang, day=asked.as_of))
    said += [word("ask.corrected", lang, written=written, meant=meant) for written, meant in asked.corrections]
    click.echo(word("ask.question", lang) + answer.question)
    if said:
        click.echo(word("ask.understood", lang) + " · ".join(said))
    click.echo(word(f"ask.{answer.status}", lang))
    printed: set[str] = set()  # a quote is printed once
    for line in (*answer.lines, *answer.passages):
        own = line.source == "text" and bool(line.citations)  # the line is the sentence itself
        if not own or line.text != line.citations[0].quote:
            click.echo(f"{'  ' * line.indent}{' '.join(line.text.split())}")
        quotes = {citation.quote for citation in line.citations}
        repeated = own or printed.issuperset(quotes)
        printed |= quotes
        shown = "first" if not repeated else "quote" if own and line.text == line.citations[0].quote else "place"
        _print_citations(session, line.citations, indent=2 * line.indent + 4, shown=shown)
    if answer.near:
        click.echo(word("ask.near", lang, names=listed(answer.near, lang)))
    if answer.covered:
        click.echo(word("ask.covered", lang, first=answer.covered[0], last=answer.covered[1]))


def print_stats(session: QuerySession, found: BaseStats) -> None:
    """Print what a base holds."""
    lang = session.lang
    wording = {relation: session.words[relation].wording[lang] for relation, _ in found.facts}
    days = word("stats.days", lang, first=found.first, last=found.last) if found.first else ""
    counts = listed((f"{wording[relation]} {count}" for relation, count in found.facts), lang)
    publishers = listed((f"{name} {count}" for name, count in found.publishers), lang)
    click.echo(word("stats.documents", lang, count=found.documents) + days)
    click.echo(word("stats.publishers", lang, names=publishers))
    click.echo(word("stats.facts", lang, counts=counts))
    click.echo(word("stats.below", lang, count=found.below))
    click.echo(word("stats.names", lang, names=listed((coded(entity, lang) for entity in found.names), lang)))
    click.echo(word("stats.questions", lang, questions=flow(found.questions, lang)))


def _head(session: QuerySession, text: str, note: str = "") -> None:
    click.echo(f"\n{word('heading', session.lang, text=text)}{note}")


def _summary_text(session: QuerySession, line: SummaryLine) -> str:
    """Return a line of a stored summary; it is stored in Chinese, so in English its facts are worded anew."""
    if session.lang == "zh":
        return line.text
    facts = sorted(session.view.facts(ids=line.facts[:2]), key=lambda fact: line.facts.index(fact.id))
    return flow((claim_text(session, fact) for fact in facts), session.lang)


def _print_paths(session: QuerySession, paths: Sequence[Path]) -> None:
    for path in paths[:_PATHS]:
        steps = flow((claim_text(session, link.facts[0]) for link in path.links), session.lang)
        click.echo(f"\n  {steps}{word('print.strength', session.lang, weight=f'{path.weight:.2f}')}")
        for link in path.links:
            _print_citations(session, link.citations[:1])
            _print_against(session, link)


def _print_links(session: QuerySession, links: Iterable[Link]) -> None:
    ranked = sorted(links, key=lambda link: (-link.weight, link.source, link.target))[:_LINKS]
    if ranked:
        _head(session, word("print.evidence", session.lang))
    for link in ranked:
        _print_link(session, link)


def _print_link(session: QuerySession, link: Link) -> None:
    witnesses = max(fact.witnesses for fact in link.facts)
    many = word("print.independent", session.lang, count=witnesses) if witnesses > 1 else ""
    contested = word("print.contested", session.lang) if link.contested else ""
    click.echo(f"  {claim_text(session, link.facts[0])}{many}{contested}{_weak(session, link)}")
    _print_citations(session, link.citations[:1])
    _print_against(session, link)


def _print_against(session: QuerySession, link: Link) -> None:
    """Print what cannot hold together with a link, each with its newest sentence."""
    if not link.contested:
        return
    against = {other.id: other for fact in link.facts for other in session.opposing(fact)}
    for _, fact in sorted(against.items())[:_AGAINST]:
        click.echo(f"      ↔ {claim_text(session, fact)}")
        _print_citations(session, session.citations([fact], 1), indent=8)


def _weak(session: QuerySession, shown: Link | Node) -> str:
    return word("print.weak", session.lang) if shown.weak else ""


def _page(session: QuerySession, page: int | None) -> str:
    return word("page", session.lang, page=page) if page else ""


def _print_citations(
    session: QuerySession, citations: Iterable[Citation], indent: int = 6, *, shown: str = "first"
) -> None:
    """Print citations with the `first` characters of their quotes, the whole `quote`, or the `place` alone."""
    for citation in citations:
        quote = citation.quote.replace("\n", " ")
        quote = quote if len(quote) <= _QUOTE or shown != "first" else f"{quote[:_QUOTE]}…"
        where = {"title": citation.title, "speaker": citation.speaker or citation.publisher}
        where |= {"day": str(citation.published_on), "page": _page(session, citation.page)}
        name = "source.place" if shown == "place" else "source"
        click.echo(" " * indent + word(name, session.lang, quote=quote, **where))
