"""Which part each member plays in a theme: up, mid or down the chain, what drives it and what it moves."""

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
_FLOWS = {"upstream_of": 1, "part_of": 1, "supplies": 1, "uses": -1}  # +1: the object stands downstream of the subject
_MAKES = frozenset({"produces", "operates", "belongs_to"})
_FIRM = frozenset({"sec", "org"})
_REAL = frozenset({Modality.ASSERTED, Modality.PLANNED})  # what may come, under conditions or by rumour, gives no part


def roles_of(facts: Sequence[Fact]) -> dict[str, tuple[str, str]]:
    """Return for each entity its role and the id of the fact that gives it.

    A place on the chain goes before a part in a cause; a company without one takes the stage of what it makes.

    Args:
        facts: live facts of one community, the strongest first.
    """
    placed: dict[str, tuple[str, str]] = {}
    real = [fact for fact in facts if fact.modality in _REAL]
    _two_sided(placed, (fact for fact in real if fact.relation in _FLOWS), ("upstream", "midstream", "downstream"))
    for fact in real:
        if fact.relation in _MAKES and fact.subject.split(":", 1)[0] in _FIRM:
            stage = placed.get(fact.object, ("maker", ""))[0]
            placed.setdefault(fact.subject, (stage if stage in ROLES else "maker", fact.id))
    _two_sided(placed, (fact for fact in facts if fact.relation == "affects"), ("driver", "driver", "affected"))
    for fact in real:
        for end in (fact.subject, fact.object):
            placed.setdefault(end, ("related", fact.id))
    return placed


def _two_sided(placed: dict[str, tuple[str, str]], facts: Iterable[Fact], names: tuple[str, str, str]) -> None:
    """Place what has only outgoing facts, both, or only incoming ones, each by its strongest fact."""
    gives: dict[str, str] = {}
    sides: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        forward = _FLOWS.get(fact.relation, 1) > 0
        for end, side in ((fact.subject, 0 if forward else 1), (fact.object, 1 if forward else 0)):
            gives.setdefault(end, fact.id)
            sides[end].add(side)
    for end, fact_id in gives.items():
        name = names[1] if len(sides[end]) > 1 else names[0] if 0 in sides[end] else names[2]
        placed.setdefault(end, (name, fact_id))
