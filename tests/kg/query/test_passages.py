"""Passages are found by the securities code where the name finds them."""

from __future__ import annotations

import pytest

from kg.query.passages import passages
from tests.kg.query.world import claim, paper, seen


@pytest.fixture(scope="module")
def view():
    note = paper(1, "2024-01-01", ("通威股份的硅料产能居前。", claim("sec:600438.SH", "produces", "product:硅料")))
    other = paper(2, "2024-01-01", ("隆基绿能扩产。", claim("sec:601012.SH", "produces", "product:硅片")))
    return seen(note, other)


@pytest.mark.parametrize(
    "query", ["通威股份", "600438", "SH600438", "sh.600438", "600438.SH", "600438 CH", "600438 产能"]
)
def test_a_code_finds_what_the_name_finds(view, query):
    (first, *_) = passages(view, query)
    assert "通威股份" in first.chunk.text


@pytest.mark.parametrize("query", ["600000", "产量600438吨的火星", ""])
def test_a_number_that_is_no_code_of_the_base_finds_nothing_more(view, query):
    assert passages(view, query) == []
