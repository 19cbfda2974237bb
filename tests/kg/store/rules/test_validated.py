"""Entities that documents use without describing them."""

from __future__ import annotations

import pytest

from kg.model import Entity, Kind
from kg.store.rules.validated import bare_entity


@pytest.mark.parametrize(
    ("identity", "kind", "name"),
    [
        ("product:碳酸锂", Kind.PRODUCT, "碳酸锂"),
        ("sec:600519.SH", Kind.COMPANY, "600519.SH"),
        ("theme:", Kind.THEME, "theme:"),
        ("event:a:b", Kind.EVENT, "a:b"),
    ],
)
def test_an_id_gives_kind_and_name(identity: str, kind: Kind, name: str):
    assert bare_entity(identity) == Entity(identity, kind, name)


def test_an_id_without_a_kind_is_refused():
    with pytest.raises(ValueError, match="nothing"):
        bare_entity("nothing:x")
