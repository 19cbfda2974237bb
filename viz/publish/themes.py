"""Publish a week's themes as static files: a page for each theme and company, their index, and a change report."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.query.plain import plain
from kg.query.themes.biography import biographies
from kg.query.themes.changes import changes, markdown
from kg.query.themes.listing import theme_of, themes
from viz.atlas import theme_entry, theme_page
from viz.publish.collection import companies_of, company_pages, folder_of, page_file, shared_files
from viz.wording import word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from kg.model import Entity
    from kg.query.session import QuerySession
    from viz.pages import IndexEntry


@dataclass(frozen=True, slots=True)
class Extent:
    """How much to publish: the themes' level, how many of them, and how many of their companies."""

    level: int = 0
    themes: int = 60
    companies: int = 100


def publication(
    session: QuerySession,
    extent: Extent,
    *,
    as_of: date | None = None,
    since: date | None = None,
    before: Sequence[IndexEntry] = (),
) -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of every file, the index last, so that it never links a missing page.

    Args:
        session: session on the view; sets the language.
        extent: how much to publish, largest themes first.
        as_of: the requested day; None is the latest.
        since: start of the change report; None omits the report.
        before: pages that the folder holds already.

    Raises:
        NoRun: if no weekly run has been published.
    """
    found = themes(session.view, level=extent.level)
    kept = found[: extent.themes]
    entries: list[IndexEntry] = []
    companies: dict[str, tuple[float, Entity]] = {}
    life_stories = biographies(session, [community.id for community in kept])
    for community in kept:
        answer = replace(theme_of(session, community), biography=life_stories[community.id])
        file = page_file("theme", community.id)
        yield file, theme_page(answer, as_of=as_of, lang=session.lang, folder=folder_of(file))
        entries.append(theme_entry(answer, file, session.lang))
        scores = {node.entity.id: node.score for node in answer.graph.nodes}
        for entity in companies_of(answer.graph):
            score = companies.get(entity.id, (0.0, entity))[0] + scores[entity.id]
            companies[entity.id] = (score, entity)
    strongest = [entity for _, entity in sorted(companies.values(), key=lambda item: (-item[0], item[1].id))]
    for entry, text in company_pages(session, strongest, most=extent.companies, as_of=as_of):
        entries.append(entry)
        yield entry.file, text
    if since:
        report = changes(session, since, level=extent.level)
        yield "changes.md", markdown(report)
        yield "changes.json", json.dumps(plain(report), ensure_ascii=False, indent=2) + "\n"
    listing = [plain(community) for community in found]
    yield "themes.json", json.dumps(listing, ensure_ascii=False, indent=2) + "\n"
    stamp = word("as_of", session.lang, day=as_of) if as_of else word("as_of_latest", session.lang)
    if len(found) > len(kept):
        stamp += " · " + word("index_cut", session.lang, kept=len(kept), left=len(found) - len(kept))
    yield from shared_files(entries, before, lang=session.lang, subtitle=stamp)
