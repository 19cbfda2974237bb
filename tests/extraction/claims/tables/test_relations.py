"""Relations that tables tell: customers, suppliers, makers and stages; every quote is its row."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from extraction.documents.open_file import read_file
from kg.model import Document
from tests.goldens.reports import names_of, read, report

if TYPE_CHECKING:
    from pathlib import Path

    from kg.model import Reading

CATL = ("300750.SZ",)


def shown(reading: Reading) -> set[tuple[str, str, str]]:
    names = names_of(reading)
    stated = [fact for fact in reading.facts if ":table." in fact.evidence[0].extractor]
    for item in (item for fact in stated for item in fact.evidence):
        assert reading.document.text[item.start : item.end] == item.quote
        assert "\n" not in item.quote
    return {(names[fact.subject], fact.relation, names[fact.object]) for fact in stated}


def qualifiers(reading: Reading) -> list[dict[str, str]]:
    return [dict(fact.qualifiers) for fact in reading.facts if ":table." in fact.evidence[0].extractor]


def table(*rows: str, codes: tuple[str, ...] = ()) -> Reading:
    return read(report("| " + "\n".join(rows), codes=codes))


def test_a_list_of_customers_is_who_the_company_supplies():
    reading = table(
        "表3：公司2024年前五大客户",
        "序号 | 客户名称 | 销售内容 | 占营业收入比例",
        "1 | 特斯拉 | 磷酸铁锂电池 | 17.5%",
        "2 | 比亚迪 | - | 9.2%",
        "3 | 客户三 | - | 5.0%",
        "合计 | | | 31.7%",
        codes=CATL,
    )
    assert shown(reading) == {("宁德时代", "supplies", "特斯拉"), ("宁德时代", "supplies", "比亚迪")}
    assert qualifiers(reading)[0] == {
        "rank": "第一大",
        "revenue_share": "17.5",
        "product": "磷酸铁锂电池",
        "disclosed_by": "supplier",
    }
    assert {str(fact.valid) for fact in reading.facts if fact.relation == "supplies"} == {"2024"}


def test_a_list_of_suppliers_is_who_supplies_the_company():
    reading = table(
        "公司主要供应商",
        "排名 | 名称 | 占采购总额比例（%）",
        "1 | 天齐锂业 | 12.4",
        "2 | 恩捷股份 | 8.1",
        codes=CATL,
    )
    assert shown(reading) == {("天齐锂业", "supplies", "宁德时代"), ("恩捷股份", "supplies", "宁德时代")}
    assert qualifiers(reading)[0] == {"rank": "第一大", "cost_share": "12.4", "disclosed_by": "customer"}


def test_each_row_may_have_its_own_company_and_several_customers():
    reading = table("公司 | 产品 | 主要客户", "恩捷股份 | 隔膜 | 宁德时代、比亚迪等", "天赐材料 | 电解液 | 宁德时代")
    assert shown(reading) == {
        ("恩捷股份", "supplies", "宁德时代"),
        ("恩捷股份", "supplies", "比亚迪"),
        ("天赐材料", "supplies", "宁德时代"),
        ("恩捷股份", "produces", "隔膜"),
        ("天赐材料", "produces", "电解液"),
    }


def test_customers_of_several_makers_buy_the_product_and_make_nothing():
    reading = table("环节 | 代表公司 | 产品 | 主要下游客户", "隔膜 | 恩捷股份、星源材质 | 隔膜 | 宁德时代、比亚迪")
    assert shown(reading) == {
        ("恩捷股份", "produces", "隔膜"),
        ("星源材质", "produces", "隔膜"),
        ("宁德时代", "uses", "隔膜"),
        ("比亚迪", "uses", "隔膜"),
    }


def test_without_a_company_a_list_of_customers_is_nobodys():
    assert shown(table("序号 | 客户名称 | 占比", "1 | 特斯拉 | 17.5%", "2 | 比亚迪 | 9.2%")) == set()


def test_makers_stand_beside_what_they_make():
    reading = table("环节 | 代表公司", "隔膜 | 恩捷股份、星源材质", "电解液 | 天赐材料", "未知环节甲 | 宁德时代")
    assert shown(reading) == {
        ("恩捷股份", "produces", "隔膜"),
        ("星源材质", "produces", "隔膜"),
        ("天赐材料", "produces", "电解液"),
    }


def test_who_of_several_makes_which_of_several_is_not_guessed():
    assert (
        shown(table("产品 | 主要企业", "隔膜、电解液 | 恩捷股份、天赐材料", "隔膜、电解液 | 恩捷股份、天赐材料"))
        == set()
    )


def test_stages_along_the_top_belong_to_the_trade_of_the_title():
    reading = table("表1：锂电池产业链", "上游 | 中游 | 下游", "正极材料、隔膜 | 锂电池 | 新能源汽车")
    assert shown(reading) == {
        ("正极材料", "upstream_of", "锂电池"),
        ("隔膜", "upstream_of", "锂电池"),
        ("锂电池", "upstream_of", "新能源汽车"),
    }
    assert shown(table("上游 | 中游 | 下游", "正极材料 | 隔膜、锂电池 | 新能源汽车")) == set()  # of which of the two?


def test_stages_down_the_side_bring_their_makers():
    reading = table(
        "锂电池产业链",
        "产业链 | 产品 | 主要企业",
        "上游 | 隔膜 | 恩捷股份",
        "上游 | 电解液 | 天赐材料",
        "下游 | 新能源汽车 | 比亚迪",
    )
    assert shown(reading) >= {
        ("隔膜", "upstream_of", "锂电池"),
        ("电解液", "upstream_of", "锂电池"),
        ("锂电池", "upstream_of", "新能源汽车"),
        ("恩捷股份", "produces", "隔膜"),
        ("天赐材料", "produces", "电解液"),
    }


def test_a_table_of_html_is_read_like_any_other(tmp_path: Path):
    page = """<html><head><title>电池材料点评</title></head><body><article><h1>电池材料点评</h1>
<p>发布日期：2025-08-20</p><p>材料环节的竞争格局如下表，各家公司各有所长，值得继续跟踪。</p>
<table><caption>主要客户</caption><tr><th>公司</th><th>主要客户</th></tr>
<tr><td>恩捷股份</td><td>宁德时代、<b>比亚迪</b></td></tr></table></article></body></html>"""
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    (document,) = read_file(path, today=date(2025, 9, 1), published_on=date(2025, 8, 20))
    assert isinstance(document, Document)
    assert shown(read(document)) == {("恩捷股份", "supplies", "宁德时代"), ("恩捷股份", "supplies", "比亚迪")}
