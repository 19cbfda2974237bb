"""Validate facts with a list of checks, each Fact → Problem or None; a fact with a problem is not stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.ids import entity_id
from kg.model import Kind, Modality, Problem
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kg.model import Document, Fact

_MAX_STAKE = 100.0
_LEAST_REVENUE = 1e6
_REVENUES = frozenset(entity_id(Kind.INDICATOR, name) for name in ("营业收入", "营业总收入", "收入"))
_MONEY = frozenset({"元", "美元", "港元", "欧元", "日元", "英镑", "新台币"})
_MIN_YEAR, _MAX_YEARS_AHEAD = 1949, 40


def quote_is_stored_text(fact: Fact, document: Document, _: Mapping[str, Kind]) -> Problem | None:
    """Require each quote to equal the stored characters (DESIGN §1.6)."""
    for item in fact.evidence:
        if document.text[item.start : item.end] != item.quote or not item.quote:
            return Problem("quote", f"the quote of {fact.relation} differs from the stored text", item.start, item.end)
    return None


def ends_are_allowed(fact: Fact, _: Document, kinds: Mapping[str, Kind]) -> Problem | None:
    """Require the kinds at both ends to be allowed by the vocabulary."""
    relation = vocabulary()[fact.relation]
    if not relation.allows(kinds[fact.subject], kinds[fact.object]):
        return Problem("ends", f"{fact.relation} cannot connect {kinds[fact.subject]} and {kinds[fact.object]}")
    return None


def ends_differ(fact: Fact, _: Document, __: Mapping[str, Kind]) -> Problem | None:
    """Reject a relation of an entity to itself."""
    return (
        Problem("self", f"{fact.relation} connects {fact.subject} to itself") if fact.subject == fact.object else None
    )


def stake_is_a_share(fact: Fact, _: Document, __: Mapping[str, Kind]) -> Problem | None:
    """Require a stake above 0 and at most 100 percent."""
    value = fact.value
    if fact.relation == "holds_stake_in" and value and value.unit == "%" and not 0 < value.number <= _MAX_STAKE:
        return Problem("stake", f"a stake of {value.number:g} %")
    return None


def revenue_is_plausible(fact: Fact, _: Document, __: Mapping[str, Kind]) -> Problem | None:
    """Reject a listed firm's revenue below a million: its scale was lost."""
    value = fact.value
    revenue = fact.relation == "reports" and fact.object in _REVENUES and fact.subject.startswith("sec:")
    whole = value is not None and not value.change and not fact.qualifiers and value.unit in _MONEY
    if revenue and whole and value is not None and 0 < abs(value.number) < _LEAST_REVENUE:
        item = fact.evidence[0]
        return Problem("scale", f"a revenue of {value.number:g}{value.unit}", item.start, item.end)
    return None


def signed_where_causal(fact: Fact, _: Document, __: Mapping[str, Kind]) -> Problem | None:
    """Allow a sign on causal facts only; one whose text states no direction has none."""
    if fact.sign != 0 and not vocabulary()[fact.relation].signed:
        return Problem("sign", f"{fact.relation} with sign {fact.sign}")
    return None


def period_is_plausible(fact: Fact, document: Document, _: Mapping[str, Kind]) -> Problem | None:
    """Require a period to start between 1949 and 40 years after publication."""
    valid = fact.valid
    if valid and valid.start and not _MIN_YEAR <= valid.start.year <= document.published_on.year + _MAX_YEARS_AHEAD:
        return Problem("period", f"{fact.relation} for {valid}")
    return None


def asserted_has_started(fact: Fact, document: Document, _: Mapping[str, Kind]) -> Problem | None:
    """Reject an asserted fact whose period starts after publication."""
    start = fact.valid.start if fact.valid else None
    if fact.modality == Modality.ASSERTED and start and start > document.published_on:
        return Problem("period", f"{fact.relation} asserted for {fact.valid}, after its publication")
    return None


CHECKS: Sequence[Callable[[Fact, Document, Mapping[str, Kind]], Problem | None]] = (
    quote_is_stored_text,
    ends_differ,
    ends_are_allowed,
    stake_is_a_share,
    revenue_is_plausible,
    signed_where_causal,
    period_is_plausible,
    asserted_has_started,
)


def problem_of(fact: Fact, document: Document, kinds: Mapping[str, Kind]) -> Problem | None:
    """Return the first problem of a fact, or None."""
    return next((problem for check in CHECKS if (problem := check(fact, document, kinds))), None)
