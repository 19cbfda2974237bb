"""A week's themes as static files: an index, a page a theme, and the change report; one folder, no network."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kg.commands.options import plain
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
    """Yield (file name, text) of every file, the index last, so that it never links what is not there.

    Args:
        session: of the view; its language is the pages'.
        level: of the themes that get a page.
        most: pages at most, from the largest theme on.
        as_of: the day asked for; None is the latest.
        since: when the reader last read; None leaves the change report out.

    Raises:
        NoRun: before the first weekly run.
    """
    found = themes(session.view, level=level)
    yield LIBRARY, library_script()
    entries = []
    lives = biographies(session, [community.id for community in found[:most]])
    for community in found[:most]:
        answer = replace(theme_of(session, community), biography=lives[community.id])
        yield theme_file(community.id), theme_page(answer, as_of=as_of, lang=session.lang, library=LIBRARY)
        entries.append(theme_entry(answer, session.lang))
    if since:
        told = changes(session, since, level=level)
        yield "changes.md", markdown(told)
        yield "changes.json", json.dumps(plain(told), ensure_ascii=False, indent=2) + "\n"
    listed = [plain(community) for community in found]
    yield "themes.json", json.dumps(listed, ensure_ascii=False, indent=2) + "\n"
    yield "index.html", _index(entries, len(found) - len(entries), as_of, session.lang)


def _index(entries: list[IndexEntry], left: int, as_of: date | None, lang: Lang) -> str:
    stamp = word("as_of", lang, day=as_of) if as_of else word("as_of_latest", lang)
    if left > 0:
        stamp += " · " + word("index_cut", lang, kept=len(entries), left=left)
    return index_page(word("index_title", lang), entries, lang=lang, subtitle=stamp)
