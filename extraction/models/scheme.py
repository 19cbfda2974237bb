"""Labels of the edge model in the order of its outputs, shared by training and inference."""

from __future__ import annotations

ROLES = ("subject", "object", "scope")
GROUPS = {
    "cause": ("affects",),
    "membership": ("produces", "operates", "belongs_to"),
    "chain": ("upstream_of", "part_of", "uses"),
    "deals": ("subsidiary_of", "holds_stake_in", "acquires", "invests_in", "partners_with", "founds", "merges_with"),
    "place": ("located_in",),
    "rivalry": ("substitutes_for", "competes_with"),
    "supply": ("supplies",),
}
GROUP_NAMES = tuple(GROUPS)
GROUP_OF = {relation: group for group, relations in GROUPS.items() for relation in relations}
RELATIONS = tuple(GROUP_OF)
LINKS = ("edge", "scope")  # links between two spans: an edge of any group, or from a name's scope to its core
DIRECTIONS = ("up", "down", "none")
MODALITIES = ("asserted", "forecast", "planned", "conditional", "rumoured")
KINDS = (
    "company", "institution", "person", "product", "business", "industry",
    "theme", "indicator", "event", "policy", "region",
)  # fmt: skip

#: Slices of the attribute head's output, which classifies a pair of spans.
ATTRIBUTES: dict[str, tuple[int, int]] = {}
_at = 0
for _name, _size in (
    ("group", len(GROUP_NAMES) + 1),  # the last: no edge
    ("relation", len(RELATIONS)),
    ("cause", len(DIRECTIONS)),
    ("effect", len(DIRECTIONS)),
    ("modality", len(MODALITIES)),
    ("negative", 2),
    ("subject_kind", len(KINDS)),
    ("object_kind", len(KINDS)),
):
    ATTRIBUTES[_name] = (_at, _at + _size)
    _at += _size
WIDTH = _at
