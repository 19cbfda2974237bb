"""A folder of pages that lead to each other: its list of pages, its index, and a page for each company shown.

Pages do not hold links to other pages; they read them from `pages.js` beside them when opened. So every page links to
all that the folder holds by then, and pages that are drawn later need no rewriting of earlier ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from kg.errors import KgError
from kg.model import Kind
from kg.query.browse.profile import profile_of
from viz.atlas import page_of
from viz.network import Folder, library_script, page
from viz.pages import IndexEntry, as_json, index_page
from viz.scene import scene_of
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date
    from pathlib import Path

    from kg.model import Entity
    from kg.query.answers import Subgraph
    from kg.query.session import QuerySession
    from viz.scene import Answer, Scene

LIBRARY: Final = "vis-network.js"
MANIFEST: Final = "pages.js"

_ASSIGNMENT: Final = "window.liantuPages = "
_LONGEST_NAME = 60
_MARK = 6


class ManifestUnreadable(KgError):
    """A pages.js that does not list pages."""

    def __init__(self, path: Path) -> None:
        super().__init__("{path}: not a list of pages; remove it, or choose another folder", path=str(path))


def page_file(kind: str, *parts: str) -> str:
    """Return a safe file name for a page; ids and names are untrusted.

    >>> page_file("profile", "sec:300750.SZ")
    'profile-sec-300750-SZ.html'
    >>> page_file("theme", "theme:0a1b")
    'theme-0a1b.html'
    >>> page_file("chain", "../../x").startswith("chain-x-")
    True
    """
    name = "-".join(filter(None, parts)).removeprefix(f"{kind}:")
    safe = re.sub(r"\W+", "-", name).strip("-")[:_LONGEST_NAME]
    # names that differ only in what is replaced or cut stay apart
    mark = (
        ""
        if safe == re.sub(r"[:.]", "-", name)
        else "-" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_MARK]
    )
    return f"{kind}-{safe}{mark}.html"


def folder_of(file: str) -> Folder:
    """Return what a page needs to know about its folder."""
    return Folder(file, LIBRARY, MANIFEST)


def entry_of(scene: Scene, kind: str, file: str, *, name: str = "") -> IndexEntry:
    """Return a page's entry in the list of pages."""
    shown = tuple(dict.fromkeys(node.entity for node in scene.nodes))
    return IndexEntry(file, name or scene.title, scene.subtitle, kind=kind, about=scene.about, shows=shown)


def companies_of(graph: Subgraph) -> list[Entity]:
    """Return the companies of a graph, strongest first."""
    nodes = sorted(graph.nodes, key=lambda node: (-node.score, node.entity.id))
    return [node.entity for node in nodes if node.entity.kind is Kind.COMPANY]


def listed_before(folder: Path) -> tuple[IndexEntry, ...]:
    """Return the pages that a folder holds already.

    Raises:
        ManifestUnreadable: if its pages.js is not one that was written here.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return ()
    try:
        text = path.read_text(encoding="utf-8").removeprefix(_ASSIGNMENT).removesuffix(";\n")
        return tuple(_entry(**item) for item in json.loads(text) if (folder / item["file"]).is_file())
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ManifestUnreadable(path) from error


def _entry(*, about: list[str], shows: list[str], **texts: str) -> IndexEntry:
    if not all(isinstance(text, str) for text in (*about, *shows, *texts.values())):
        raise TypeError
    return IndexEntry(about=tuple(about), shows=tuple(shows), **texts)


def company_pages(
    session: QuerySession, companies: Iterable[Entity], *, most: int, as_of: date | None
) -> Iterator[tuple[IndexEntry, str]]:
    """Yield the entry and the text of the profile pages of the first `most` companies."""
    for entity in list(dict.fromkeys(companies))[:most]:
        scene = scene_of(profile_of(session, entity), as_of=as_of, lang=session.lang)
        file = page_file("profile", entity.id)
        code = f" {entity.codes[0]}" if entity.codes else ""
        entry = entry_of(scene, "profile", file, name=f"{entity.name}{code}")
        yield entry, page(scene, lang=session.lang, folder=folder_of(file))


def collected(
    session: QuerySession,
    answer: Answer,
    name: tuple[str, str],
    *,
    most: int,
    as_of: date | None,
    before: Iterable[IndexEntry],
) -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of an answer's page, of the pages of its companies, and of the folder's shared files.

    Args:
        session: session on the view; sets the language.
        answer: the answer.
        name: the kind of page, and what distinguishes two of that kind about the same, such as a direction.
        most: maximum number of companies with a page of their own.
        as_of: the requested day; None is the latest.
        before: pages that the folder holds already.
    """
    kind, variant = name
    scene = scene_of(answer, as_of=as_of, lang=session.lang)
    own = entry_of(scene, kind, page_file(kind, *scene.about, variant))
    yield own.file, page_of(answer, as_of=as_of, lang=session.lang, folder=folder_of(own.file))
    entries = [own]
    for entry, text in company_pages(session, companies_of(answer.graph), most=most, as_of=as_of):
        if entry.file != own.file:
            entries.append(entry)
            yield entry.file, text
    yield from shared_files(entries, before, lang=session.lang)


def shared_files(
    entries: Iterable[IndexEntry], before: Iterable[IndexEntry], *, lang: Lang, subtitle: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the drawing library, the list of pages and the index; the index comes last, so it links no missing page."""
    by_file = {entry.file: entry for entry in (*before, *entries)}
    listed = sorted(by_file.values(), key=lambda entry: (entry.kind, entry.name, entry.file))
    yield LIBRARY, library_script()
    yield MANIFEST, f"{_ASSIGNMENT}{as_json([asdict(entry) for entry in listed])};\n"
    yield "index.html", index_page(word("index_title", lang), listed, lang=lang, subtitle=subtitle)
