"""Pages with text: a theme with its summary and members, an answer with its citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.model import Kind
from kg.query.answers import AskAnswer, ThemeAnswer
from viz.claims import citation_evidence, evidence_of
from viz.network import page
from viz.pages import IndexEntry, Prose, ProseLine
from viz.scene import scene_of
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from kg.query.themes.biography import ThemeChapter
    from viz.claims import SceneEvidence
    from viz.network import Folder
    from viz.scene import Answer

_DESCRIPTION_LINES = 2


def theme_page(
    answer: ThemeAnswer, *, as_of: date | None = None, lang: Lang = "zh", folder: Folder | None = None
) -> str:
    """Return a theme's page: summary with quotes, changes, biography, members and graph."""
    summary = answer.community.summary
    evidence = _evidence_by_fact(answer, lang)
    lines = tuple(
        ProseLine(line.text, tuple(item for fact in line.facts for item in evidence.get(fact, ())))
        for line in (summary.lines if summary else ())
    )
    note = str(summary.period) if summary and summary.period else ""
    prose = Prose(word("summary", lang), lines, note, _members(answer, lang), tuple(_sections(answer, evidence, lang)))
    return page(scene_of(answer, as_of=as_of, lang=lang), lang=lang, prose=prose, folder=folder)


def _sections(
    answer: ThemeAnswer, evidence: Mapping[str, tuple[SceneEvidence, ...]], lang: Lang
) -> Iterator[tuple[str, tuple[ProseLine, ...]]]:
    changes = answer.community.changes
    if changes:
        # The first line holds the count; its facts are listed below it.
        details = [ProseLine(line.text, tuple(_cited(line.facts, evidence)), 1) for line in changes[1:]]
        yield word("changes", lang), (ProseLine(changes[0].text), *details)
    biography = answer.biography
    if biography:
        yield word("biography", lang), tuple(line for chapter in biography.episodes for line in _chapter_lines(chapter))
        yield word("names", lang), tuple(ProseLine(f"{day}　{name}") for day, name in biography.names)
        yield word("sizes", lang), (ProseLine(" · ".join(f"{day} {size}" for day, size in biography.sizes)),)


def _chapter_lines(chapter: ThemeChapter) -> Iterator[ProseLine]:
    yield ProseLine(
        f"{chapter.as_of}　{chapter.text}", tuple(citation_evidence(citation) for citation in chapter.citations)
    )
    yield from (ProseLine(claim, (), 1) for claim in chapter.claims)


def _cited(facts: Sequence[str], evidence: Mapping[str, tuple[SceneEvidence, ...]]) -> Iterator[SceneEvidence]:
    return (item for fact in facts for item in evidence.get(fact, ()))


def answer_page(answer: AskAnswer, *, as_of: date | None = None, lang: Lang = "zh") -> str:
    """Return an answer's page, with a notice if nothing was found."""
    lines = tuple(
        ProseLine(line.text, tuple(citation_evidence(item) for item in line.citations), line.indent)
        for line in (*answer.lines, *answer.passages)
    )
    prose = Prose(
        heading=word("answer", lang),
        lines=lines or (ProseLine(word("no_answer", lang)),),
        note=word(f"status_{answer.status}", lang),
    )
    return page(scene_of(answer, as_of=as_of, lang=lang), lang=lang, prose=prose)


def page_of(answer: Answer, *, as_of: date | None = None, lang: Lang = "zh", folder: Folder | None = None) -> str:
    """Return the page of any answer."""
    match answer:
        case ThemeAnswer():
            return theme_page(answer, as_of=as_of, lang=lang, folder=folder)
        case AskAnswer():
            return answer_page(answer, as_of=as_of, lang=lang)
        case _:
            return page(scene_of(answer, as_of=as_of, lang=lang), lang=lang, folder=folder)


def theme_entry(answer: ThemeAnswer, file: str, lang: Lang = "zh") -> IndexEntry:
    """Return a theme's entry in the index, with its page's file name."""
    community, summary = answer.community, answer.community.summary
    return IndexEntry(
        file=file,
        name=summary.title if summary else word("theme_unnamed", lang),
        description=" ".join(line.text for line in summary.lines[:_DESCRIPTION_LINES]) if summary else "",
        note=word("members_count", lang, n=len(community.members)),
        kind="theme",
        about=(community.id,),
        shows=tuple(community.members),
    )


def _evidence_by_fact(answer: ThemeAnswer, lang: Lang) -> dict[str, tuple[SceneEvidence, ...]]:
    names = {node.entity.id: node.entity.name for node in answer.graph.nodes}
    found: dict[str, tuple[SceneEvidence, ...]] = {}
    for link in answer.graph.links:
        for fact in link.facts:
            cited = tuple(item for item in link.citations if item.fact == fact.id)
            if cited:
                found[fact.id] = tuple(citation_evidence(item) for item in cited)
            else:
                found.setdefault(fact.id, evidence_of(link, names, lang))
    return found


def _members(answer: ThemeAnswer, lang: Lang) -> tuple[tuple[str, tuple[str, ...]], ...]:
    by_kind: dict[Kind, list[str]] = {}
    for node in sorted(answer.graph.nodes, key=lambda node: (-node.score, node.entity.name)):
        code = f" {node.entity.codes[0]}" if node.entity.codes else ""
        by_kind.setdefault(node.entity.kind, []).append(node.entity.name + code)
    return tuple((word(kind, lang), tuple(by_kind[kind])) for kind in Kind if kind in by_kind)
