"""Who stands next to a factor on its chain: makers, upstream, downstream; by structure, not by a causal claim."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kg.model import Kind
from kg.query.answers import Exposure, Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.query.lens import Lens, Step

_EACH = 8
_ROLES = (
    ("maker", ("produces", "operates", "belongs_to"), "in"),
    ("upstream", ("upstream_of", "part_of"), "in"),
    ("downstream", ("upstream_of", "part_of"), "out"),
    ("user", ("uses",), "in"),
)


def exposures(lens: Lens, start: Sequence[int]) -> tuple[Exposure, ...]:
    """Return the neighbours on the chain of the products that rows of the snapshot are, or are about.

    Who makes a product is also looked for in its trade (碳酸锂 → 锂).
    Up to eight a role, strongest first, each with the link that says so.
    """
    kinds = lens.graph.kinds
    anchored = (lens.graph.about_target(row) for row in start if kinds[row] != Kind.PRODUCT)
    products = {row for row in (*start, *anchored) if row is not None and kinds[row] == Kind.PRODUCT}
    trades = {row for product in products if (row := lens.graph.about_target(product)) is not None}
    found: list[Exposure] = []
    for role, relations, direction in _ROLES:
        reached: dict[int, list[Step]] = defaultdict(list)
        rows = products | trades if role == "maker" else products
        for step in lens.expand(sorted(rows), relations, "in" if direction == "in" else "out", limit=_EACH):
            reached[step.source if direction == "in" else step.target].append(step)
        ranked = sorted(reached, key=lambda row: (-sum(step.weight for step in reached[row]), row))
        for row in [row for row in ranked if row not in products and (role != "maker" or kinds[row] == Kind.COMPANY)][
            :_EACH
        ]:
            weight = sum(step.weight for step in reached[row])
            found.append(Exposure(role, Node(lens.entity(row), 0, round(weight, 4)), tuple(lens.links(reached[row]))))
    return tuple(found)
