"""Companies found by their form, and words that only look like one."""

from __future__ import annotations

import pytest

from extraction.names.company_forms import find_firms, has_form, is_proper
from extraction.names.ner import Span


def spans(text: str, *names: str) -> list[Span]:
    return [Span(text.index(name), text.index(name) + len(name), name, "ORG") for name in names]


def firms(text: str, *named: str) -> list[str]:
    return [text[each.start : each.end] for each in find_firms(text, spans(text, *named))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("公司收购了浙江甲乙新材料股份有限公司51%的股权", ["浙江甲乙新材料股份有限公司"]),
        ("与精工（绍兴）复合材料有限公司签约", ["精工（绍兴）复合材料有限公司"]),
        ("设立上海甲乙投资合伙企业（有限合伙）", ["上海甲乙投资合伙企业（有限合伙）"]),
        ("*ST甲乙收到通知，ST丙丁停牌", ["*ST甲乙", "ST丙丁"]),
        ("客户有BLUE STAR SHIPPING PTE. LTD.、GREEN ORE AG等", ["BLUE STAR SHIPPING PTE. LTD.", "GREEN ORE AG"]),
        ("注册，IIIa甲乙药业股份有限公司", ["甲乙药业股份有限公司"]),
        ("有限公司是一种形式，子公司也是", []),
        ("EST甲乙", []),
    ],
)
def test_a_form_tells_a_company_without_any_model(text, found):
    assert firms(text) == found


@pytest.mark.parametrize(
    ("text", "named", "found"),
    [
        ("赤甲瑞乙主要产品为醇", "赤甲瑞乙", ["赤甲瑞乙"]),
        ("甲乙环保子公司中标", "甲乙环保子公司", ["甲乙环保"]),
        ("龙头企业扩产", "龙头企业", []),
        ("高新技术企业", "高新技术企业", []),
        ("污水处理厂", "污水处理厂", []),
        ("IDC需求增长", "IDC", []),
        ("LME 铜上涨", "LME 铜", []),
    ],
)
def test_the_model_is_believed_only_where_a_part_is_a_name(text, named, found):
    assert firms(text, named) == found


def test_facts_are_read_of_names_with_a_form():
    assert has_form("甲乙化工")
    assert not has_form("赤甲瑞乙")
    assert not is_proper("房地产公司")
    assert not any(map(is_proper, ["申万钢铁", "SW医药生物", "港股医药上市公司", "Q1IVD公司", "疫苗公司"]))
    assert is_proper("申万宏源")


def test_a_long_line_without_names_is_read_in_no_time():
    assert firms("A" * 20_000 + " " + "a.b " * 5_000) == []
