"""Whose place a figure is."""

from __future__ import annotations

import pytest

from kg.settings import Settings
from tests.goldens.reports import facts_of


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("全球需求回暖，服务器市场规模592亿美元。", False),
        ("山西：焦煤价格965元/吨。", True),  # the place is the figure's scope
        ("焦煤价格965元/吨。", True),
        ("受海外需求拉动，宁德时代营业收入100亿元。", True),  # a firm's figure is the firm's
    ],
)
def test_a_place_before_a_figure_that_bears_none_makes_it_doubtful(text, stored):
    facts = [fact for fact in facts_of(text) if fact.relation == "reports" and not fact.value.change]
    assert facts
    assert all((fact.confidence >= Settings().least_confidence) == stored for fact in facts)
