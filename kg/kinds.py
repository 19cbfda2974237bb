"""What an id says of its entity."""

from __future__ import annotations

from kg.model import Kind

_OF_PREFIX = {"sec": Kind.COMPANY, "org": Kind.COMPANY, **{kind.value: kind for kind in Kind}}


def kind_of(entity_id: str) -> Kind:
    """Return the kind that an entity id speaks of."""
    return _OF_PREFIX[entity_id.split(":", 1)[0]]
