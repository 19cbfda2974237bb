"""Measured facts and ratings as rows of a table; as arrows between nodes, numbers cannot be compared."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kg.model import Modality, Polarity
from kg.query.wording import scoped, value_text
from viz.claims import evidence_of
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kg.model import Fact
    from kg.query.answers import Link
    from viz.claims import SceneEvidence

FIGURE_RELATIONS: Final = frozenset({"reports", "rates"})
_RATING: Final = "rates"


@dataclass(frozen=True, slots=True)
class FigureRow:
    """How much, for which period, how certain, published when and by whom."""

    period: str
    value: str
    certainty: str
    day: str
    source: str
    evidence: tuple[SceneEvidence, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """All values of one measure of one entity, the newest period first."""

    entity: str
    owner: str
    measure: str
    rows: tuple[FigureRow, ...]


def figures_of(links: Iterable[Link], names: Mapping[str, str], lang: Lang) -> tuple[Figures, ...]:
    """Return the values of links by entity and measure; the same value from the same source is one row."""
    found: dict[tuple[str, str, str], dict[tuple[str, ...], FigureRow]] = defaultdict(dict)
    for link in links:
        evidence = evidence_of(link, names, lang)
        for fact in link.facts:
            row = _row(fact, tuple(item for item in evidence if item.fact == fact.id), names, lang)
            key = (row.period, row.day, row.value, row.certainty, row.source)
            rows = found[_measured(fact, names, lang)]
            before = rows[key].evidence if key in rows else ()
            rows[key] = replace(row, evidence=tuple(dict.fromkeys((*before, *row.evidence))))
    return tuple(
        Figures(entity, owner, measure, tuple(rows[key] for key in sorted(rows, reverse=True)))
        for (owner, entity, measure), rows in sorted(found.items())
    )


def _measured(fact: Fact, names: Mapping[str, str], lang: Lang) -> tuple[str, str, str]:
    """Return the name and id of whom a figure is about, and what it measures."""
    if fact.relation == _RATING:
        return names.get(fact.object, fact.object), fact.object, word("rating", lang)
    return (
        names.get(fact.subject, fact.subject),
        fact.subject,
        names.get(fact.object, fact.object) + scoped(fact, "scope"),
    )


def _row(fact: Fact, evidence: tuple[SceneEvidence, ...], names: Mapping[str, str], lang: Lang) -> FigureRow:
    value = value_text(fact.value, lang) if fact.value else ""
    notes = [] if fact.modality is Modality.ASSERTED else [word(fact.modality, lang)]
    if fact.polarity is Polarity.NEGATIVE:
        notes.append(word("negated", lang))
    publisher = next((item.publisher or item.speaker for item in evidence), "")
    return FigureRow(
        period=str(fact.valid or ""),
        value=" ".join(filter(None, (fact.qualifier("rating"), value))),
        certainty="、".join(notes) if lang == "zh" else ", ".join(notes),
        day=fact.last_published_on.isoformat(),
        source=names.get(fact.subject, fact.subject) if fact.relation == _RATING else publisher,
        evidence=evidence,
    )
