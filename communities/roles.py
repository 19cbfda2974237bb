"""Assign each member its role in a theme: upstream, midstream, downstream, driver, affected."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kg.model import Modality

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kg.model import Fact

ROLES: Mapping[str, str] = {
    "upstream": "上游",
    "midstream": "中游",
    "downstream": "下游",
    "maker": "参与公司",
    "driver": "驱动因素",
    "affected": "受影响",
    "related": "相关",
}
_FLOWS = {"upstream_of": 1, "part_of": 1, "supplies": 1, "uses": -1}  # +1: the object is downstream of the subject
_MAKES = frozenset({"produces", "operates", "belongs_to"})
_COMPANY_PREFIXES = frozenset({"sec", "org"})
_FIRM_MODALITIES = frozenset({Modality.ASSERTED, Modality.PLANNED})  # forecasts, conditions and rumours assign no role


def roles_of(facts: Sequence[Fact]) -> dict[str, tuple[str, str]]:
    """Return each entity's role and the id of the fact that assigns it.

    A supply-chain role takes precedence over a causal one; a company without one gets the stage of its product.

    Args:
        facts: live facts of one community, the strongest first.
    """
    placed: dict[str, tuple[str, str]] = {}
    firm = [fact for fact in facts if fact.modality in _FIRM_MODALITIES]
    _place_by_direction(
        placed, (fact for fact in firm if fact.relation in _FLOWS), ("upstream", "midstream", "downstream")
    )
    for fact in firm:
        if fact.relation in _MAKES and fact.subject.split(":", 1)[0] in _COMPANY_PREFIXES:
            stage = placed.get(fact.object, ("maker", ""))[0]
            placed.setdefault(fact.subject, (stage if stage in ROLES else "maker", fact.id))
    _place_by_direction(
        placed, (fact for fact in facts if fact.relation == "affects"), ("driver", "driver", "affected")
    )
    for fact in firm:
        for end in (fact.subject, fact.object):
            placed.setdefault(end, ("related", fact.id))
    return placed


def _place_by_direction(placed: dict[str, tuple[str, str]], facts: Iterable[Fact], names: tuple[str, str, str]) -> None:
    """Assign roles to entities with only outgoing, both, or only incoming facts, citing the strongest fact."""
    strongest: dict[str, str] = {}
    sides: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        forward = _FLOWS.get(fact.relation, 1) > 0
        for end, side in ((fact.subject, 0 if forward else 1), (fact.object, 1 if forward else 0)):
            strongest.setdefault(end, fact.id)
            sides[end].add(side)
    for end, fact_id in strongest.items():
        name = names[1] if len(sides[end]) > 1 else names[0] if 0 in sides[end] else names[2]
        placed.setdefault(end, (name, fact_id))
