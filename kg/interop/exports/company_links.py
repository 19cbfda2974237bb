"""The links between the companies of a base, one row each: supply, stake, acquisition, rivalry, cooperation.

Point-in-time like every table of an export: a row has the days on which a link was first and last stated.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from kg.model import Kind, Polarity
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.interop.exports.content import ExportContent
    from kg.model import Evidence, Fact

LINK_COLUMNS = (
    "relation seller seller_code buyer buyer_code product share:number stage state since:day last_seen:day",
    "disclosed_by certainty confidence:number sources:whole sentence document day:day",
)
# Sales first; of the others seller and buyer are the subject and the object.
_LINKS = (relation for relation in vocabulary().relations.values() if relation.company_link)
RELATIONS = tuple(relation.name for relation in sorted(_LINKS, key=lambda relation: relation.role != "supply"))
_FIRMS = frozenset({Kind.COMPANY, Kind.INSTITUTION, Kind.PERSON})
_STATES = {Polarity.POSITIVE: "active", Polarity.NEGATIVE: "denied"}


def company_links(content: ExportContent, relations: Sequence[str] = RELATIONS) -> Iterator[tuple[Any, ...]]:
    """Yield the links of some relations, in the order of their names; a product has a row of its own."""
    groups: dict[tuple[int, str, str, str], list[Fact]] = defaultdict(list)
    for fact in content.facts():
        firms = all(content.entities[end].kind in _FIRMS for end in (fact.subject, fact.object))
        if fact.relation in relations and firms and not fact.superseded_by:
            order = relations.index(fact.relation)
            groups[order, fact.subject, fact.object, fact.qualifier("product") or ""].append(fact)
    titles = {head.id: head.title for head in content.documents()}
    for key, facts in sorted(groups.items(), key=lambda row: _order(content, row[0])):
        yield _row(content, key[3], facts, titles)


def _order(content: ExportContent, key: tuple[int, str, str, str]) -> tuple[Any, ...]:
    order, seller, buyer, product = key
    return order, content.entities[seller].name, content.entities[buyer].name, product, seller, buyer


def _row(content: ExportContent, product: str, facts: Sequence[Fact], titles: dict[str, str]) -> tuple[Any, ...]:
    """Return one link; what changes over time is taken from the newest fact that states it."""
    newest = sorted(facts, key=lambda fact: (-fact.last_published_on.toordinal(), -fact.confidence, fact.id))
    seller, buyer = content.entities[newest[0].subject], content.entities[newest[0].object]
    stage = _stated(newest, "stage")
    state = "ended" if stage == "ended" else _STATES[newest[0].polarity]
    evidence = max(newest[0].evidence, key=_recency)
    return (
        newest[0].relation,
        seller.name,
        seller.codes[0] if seller.codes else None,
        buyer.name,
        buyer.codes[0] if buyer.codes else None,
        product or None,
        _share(newest),
        stage,
        state,
        min(fact.valid.start if fact.valid and fact.valid.start else fact.published_on for fact in facts),
        newest[0].last_published_on,
        _stated(newest, "disclosed_by"),
        newest[0].modality.value,
        max(fact.confidence for fact in facts),
        len({item.witness or item.document for fact in facts for item in fact.evidence}),
        evidence.quote,
        titles.get(evidence.document),
        evidence.published_on,
    )


def _stated(newest: Sequence[Fact], qualifier: str) -> str | None:
    return next((value for fact in newest if (value := fact.qualifier(qualifier))), None)


def _share(newest: Sequence[Fact]) -> float | None:
    """Return the share of revenue, else of cost, else the stake, in percent."""
    share = _stated(newest, "revenue_share") or _stated(newest, "cost_share")
    if share:
        return float(share)
    return next((fact.value.number for fact in newest if fact.value and fact.value.unit == "%"), None)


def _recency(item: Evidence) -> tuple[int, str, int]:
    return item.published_on.toordinal(), item.document, -item.start
