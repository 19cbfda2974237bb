from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kg.ids import chunk_id, community_id, digest, document_id, entity_id, fact_id, normal_name
from kg.model import Evidence, Fact, Kind, Modality, Polarity, Value
from kg.period import Period, Precision, month, year

FACT = Fact("", "sec:1", "reports", "indicator:毛利率", value=Value(18.3, "%"), valid=year(2024))
_PARTS = st.lists(st.text(max_size=4), max_size=4).map(tuple)


@given(one=_PARTS, other=_PARTS)
def test_other_parts_are_another_digest(one: tuple[str, ...], other: tuple[str, ...]):
    assert (digest(one) == digest(other)) == (one == other)
    assert len(digest(one)) == 32


def test_the_same_bytes_are_the_same_document_everywhere():
    assert document_id(b"") == "doc:cae66941d9efbd404e4d88758ea67670"
    assert document_id(b"a") != document_id(b"b")
    assert chunk_id("doc:1", 1, 23) != chunk_id("doc:1", 12, 3)


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (Kind.COMPANY, "ＡＢＣ 公司", "org:abc公司"),
        (Kind.PRODUCT, "碳酸锂", "product:碳酸锂"),
        (Kind.INDICATOR, " GDP\t增速 ", "indicator:gdp增速"),
        (Kind.INDUSTRY, "ﬁ", "industry:fi"),
    ],
)
def test_a_name_is_folded_into_its_id(kind: Kind, name: str, expected: str):
    assert entity_id(kind, name) == expected


@given(name=st.text(max_size=20))
def test_a_folded_name_has_no_spaces_and_equal_names_fold_alike(name: str):
    folded = normal_name(name)
    assert not any(letter.isspace() for letter in folded)
    assert normal_name(f" {name}\u3000") == folded


def test_a_fact_is_what_it_claims_not_who_says_it_nor_how_it_was_worded():
    evidence = Evidence("doc:1", 0, 1, "x", date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC), speaker="甲")
    ranged = Period(date(2024, 1, 1), date(2025, 1, 1), Precision.RANGE)
    for same in (
        replace(FACT, evidence=(evidence,)),
        replace(FACT, superseded_by="fact:1"),
        replace(FACT, id="fact:old"),
        replace(FACT, valid=ranged),
        replace(FACT, value=Value(18.3, "%", scale="万")),
        replace(FACT, value=Value(18.3 + 1e-12, "%")),
    ):
        assert fact_id(same) == fact_id(FACT)


def test_whatever_else_is_claimed_is_another_fact():
    other = [
        replace(FACT, subject="sec:2"),
        replace(FACT, relation="rates"),
        replace(FACT, object="indicator:净利率"),
        replace(FACT, sign=1),
        replace(FACT, sign=-1),
        replace(FACT, polarity=Polarity.NEGATIVE),
        *(replace(FACT, modality=modality) for modality in Modality if modality is not Modality.ASSERTED),
        replace(FACT, valid=None),
        replace(FACT, valid=month(2024, 1)),
        replace(FACT, valid=Period(date(2024, 1, 1), None)),
        replace(FACT, value=None),
        replace(FACT, value=Value(18.4, "%")),
        replace(FACT, value=Value(18.3, "元")),
        replace(FACT, value=Value(18.3, "%", change="yoy")),
        replace(FACT, value=Value(18.3, "%", basis="TTM")),
        replace(FACT, value=Value(18.3, "%", high=19)),
        replace(FACT, qualifiers=(("product", "电池"),)),
        replace(FACT, qualifiers=(("scope", "电池"),)),
    ]
    assert len({fact_id(fact) for fact in [FACT, *other]}) == len(other) + 1


def test_a_community_is_its_members_in_any_order():
    assert community_id(0, ["b", "a"]) == community_id(0, ["a", "b"])
    assert len({community_id(0, "ab"), community_id(1, "ab"), community_id(0, "abc"), community_id(0, ["ab"])}) == 4
