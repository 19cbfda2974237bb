"""Which place a heading, a label or a sentence gives to figures."""

from __future__ import annotations

import pytest

from extraction.context.places import heading_place, label_place, places_in
from extraction.sentence import EntityMention
from kg.ids import entity_id
from kg.model import Kind

REGIONS = ("美国", "欧洲", "山东", "印度")


def refs(text: str) -> list[EntityMention]:
    return [
        EntityMention(entity_id(Kind.REGION, name), Kind.REGION, name, text.index(name), text.index(name) + len(name))
        for name in REGIONS
        if name in text
    ]


@pytest.mark.parametrize(
    ("heading", "place"),
    [
        ("（一）中国市场", "中国"),
        ("2.1 全球需求分布", "全球"),
        ("三、美国：经济降温", "美国"),
        ("手机的海外市场", "海外"),
        ("全球及国内产能", ""),  # of two: none holds
        ("某某园区：", ""),  # nobody knows where that is
        # what a country does, a whole headline, nothing at all
        ("美国加征关税", None),
        ("四、美国大选后的市场", None),
        ("全球装机有望增长，新兴市场起量", None),
        ("鸡苗：海外引种短缺", None),
        ("价格走势", None),
    ],
)
def test_the_place_that_a_heading_is_about(heading, place):
    assert heading_place(heading, refs(heading)) == place


@pytest.mark.parametrize(("label", "place"), [("美国：", "美国"), ("美国和欧洲：", ""), ("成本：", None)])
def test_the_place_that_a_label_names(label, place):
    assert label_place(label, refs(label)) == place


def test_a_place_within_a_name_is_none():
    text = "中国神华与国内煤企"
    firm = EntityMention("sec:601088.SH", Kind.COMPANY, "中国神华", 0, 4)
    assert [name for _, name in places_in(text, [firm])] == ["国内"]
