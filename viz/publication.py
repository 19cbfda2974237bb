"""Publish a week's themes as static files: an index, one page per theme, and a change report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kg.query.plain import plain
from kg.query.themes.biography import biographies
from kg.query.themes.changes import changes, markdown
from kg.query.themes.listing import theme_of, themes
from viz.atlas import theme_entry, theme_file, theme_page
from viz.network import library_script
from viz.pages import IndexEntry, index_page
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from kg.query.session import QuerySession

LIBRARY: Final = "vis-network.js"


def publication(
    session: QuerySession, *, level: int, most: int, as_of: date | None, since: date | None
) -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of every file, the index last, so that it never links a missing page.

    Args:
        session: session on the view; sets the language.
        level: level of the published themes.
        most: maximum number of pages, largest themes first.
        as_of: the requested day; None is the latest.
        since: start of the change report; None omits the report.

    Raises:
        NoRun: if no weekly run has been published.
    """
    found = themes(session.view, level=level)
    yield LIBRARY, library_script()
    entries = []
    life_stories = biographies(session, [community.id for community in found[:most]])
    for community in found[:most]:
        answer = replace(theme_of(session, community), biography=life_stories[community.id])
        yield theme_file(community.id), theme_page(answer, as_of=as_of, lang=session.lang, library=LIBRARY)
        entries.append(theme_entry(answer, session.lang))
    if since:
        report = changes(session, since, level=level)
        yield "changes.md", markdown(report)
        yield "changes.json", json.dumps(plain(report), ensure_ascii=False, indent=2) + "\n"
    listing = [plain(community) for community in found]
    yield "themes.json", json.dumps(listing, ensure_ascii=False, indent=2) + "\n"
    yield "index.html", _index(entries, len(found) - len(entries), as_of, session.lang)


def _index(entries: list[IndexEntry], left: int, as_of: date | None, lang: Lang) -> str:
    stamp = word("as_of", lang, day=as_of) if as_of else word("as_of_latest", lang)
    if left > 0:
        stamp += " · " + word("index_cut", lang, kept=len(entries), left=left)
    return index_page(word("index_title", lang), entries, lang=lang, subtitle=stamp)
