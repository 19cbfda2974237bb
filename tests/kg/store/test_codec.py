"""Records as stores keep them."""

from __future__ import annotations

import pytest

from kg.ids import fact_ids
from kg.store import codec
from kg.store.rules.validated import bare_entity, bare_name


@pytest.mark.parametrize(
    "identity", ["product:碳酸锂", 'org:甲"乙\\丙\n\x01\x7f\u2028', "sec:600519.SH", "theme:", "event:a:b"]
)
def test_what_an_id_tells_is_encoded_like_any_entity(identity: str):
    assert codec.bare_out(*bare_name(identity)) == codec.entity_out(bare_entity(identity))


def test_an_id_without_a_kind_tells_nothing():
    with pytest.raises(ValueError, match="nothing"):
        bare_name("nothing:x")


def test_joined_digests_are_ids_in_their_order():
    digests = [bytes([number]) * 16 for number in range(3)]
    assert fact_ids(b"".join(digests)) == [f"fact:{digest.hex()}" for digest in digests]
    assert fact_ids(b"") == []
