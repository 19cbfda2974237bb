"""Entity kinds from id prefixes."""

from __future__ import annotations

from kg.model import Kind

_OF_PREFIX = {"sec": Kind.COMPANY, "org": Kind.COMPANY, **{kind.value: kind for kind in Kind}}


def kind_of(entity_id: str) -> Kind:
    """Return the kind of an entity from its id."""
    return _OF_PREFIX[entity_id.split(":", 1)[0]]
