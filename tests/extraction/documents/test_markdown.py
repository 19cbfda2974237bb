from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import DocumentError
from kg.model import BlockKind

NOTE = """---
title: "锂电行业点评：价格见底"
publishedAt: "2025-05-13T00:00:00+08:00"
source: "示例证券甲"
authors: [张三, 李四]
codes: ["002466.SZ", 300750]
tags: [锂电, 储能]
summary:
  - "这一句只在摘要里。"
---
# 锂电行业点评

碳酸锂**价格**下跌，
毛利率回升。

- **格局：**宁德时代份额提升
- 供给
  - 盐湖

表1：主要企业产能

| 公司 | 产能 |
| --- | --- |
| 天齐锂业 | 8.1 |

资料来源：Wind，示例证券

## 免责声明

不构成投资建议。

## 风险提示

需求不及预期。
"""


def _blocks(document) -> list[tuple[object, ...]]:
    return [(b.kind, b.level, document.text[b.start : b.end]) for b in document.blocks]


def test_front_matter(read_one):
    document = read_one("x.md", NOTE)
    assert document.title == "锂电行业点评：价格见底"
    assert document.published_on == date(2025, 5, 13)
    assert document.publisher == "示例证券甲"
    assert document.authors == ("张三", "李四")
    assert document.codes == ("002466.SZ", "300750.SZ")
    assert document.tags == ("锂电", "储能")
    assert "只在摘要里" not in document.text


def test_blocks_are_plain_text(read_one):
    assert _blocks(read_one("x.md", NOTE)) == [
        (BlockKind.HEADING, 1, "锂电行业点评"),
        (BlockKind.PARAGRAPH, 0, "碳酸锂价格下跌，毛利率回升。"),
        (BlockKind.ITEM, 1, "格局：宁德时代份额提升"),
        (BlockKind.ITEM, 1, "供给"),
        (BlockKind.ITEM, 2, "盐湖"),
        (BlockKind.TABLE, 0, "表1：主要企业产能\n公司 | 产能\n天齐锂业 | 8.1"),
        (BlockKind.HEADING, 2, "风险提示"),
        (BlockKind.PARAGRAPH, 0, "需求不及预期。"),
    ]


def test_removed_lines_stay_in_the_text(read_one):
    document = read_one("x.md", NOTE)
    removed = [(document.text[item.start : item.end], item.reason) for item in document.removed]
    assert removed == [
        ("资料来源：Wind，示例证券", "source-line"),
        ("免责声明", "disclaimer"),
        ("不构成投资建议。", "disclaimer"),
    ]


def test_a_stray_colon_in_front_matter_costs_nothing(read_one):
    document = read_one("x.md", "---\ntitle: 宁德时代: 业绩点评\ndate: 2025-03-17\n---\n利润增长。")
    assert document.title == "宁德时代: 业绩点评"
    assert document.published_on == date(2025, 3, 17)
    assert document.text == "利润增长。"


@pytest.mark.parametrize(
    "line",
    [
        'x: !!python/object/apply:os.system ["touch liantu-was-here"]',
        "x: " + "[" * 5000,
        "x: &a [*a]",
        "date2: 2025-13-45",
        "- x",
        "\tx: 1",
    ],
)
def test_hostile_front_matter_is_harmless(read, line):
    (found,) = read("2025-01-02_x.md", f"---\ntitle: 标题\n{line}\n---\n正文一句。")
    assert isinstance(found, DocumentError) or found.published_on == date(2025, 1, 2)


def test_an_unclosed_front_matter_is_text(read_one):
    assert "title" in read_one("2025-01-02.md", "---\ntitle: 标题\n\n正文一句。").text


def test_a_date_in_the_future_is_not_believed(read):
    (found,) = read("x.md", "---\ndate: 2031-01-01\n---\n正文一句。")
    assert isinstance(found, DocumentError)
    assert "--date" in found.advice


def test_scripts_in_markdown_are_dropped(read_one):
    document = read_one("2025-01-02.md", "甲<script>alert(1)</script>乙\n\n<script>alert(2)</script>\n\n丙")
    assert "alert(2)" not in document.text
    assert "<script>" not in document.text


def test_deep_nesting_ends(read):
    assert read("2025-01-02.md", "> " * 5000 + "正文") is not None
    assert read("2025-01-02.md", "".join("  " * n + "- 项\n" for n in range(300))) is not None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("#*-|> \n`[]()<>价格，。1a:&~_\\"), min_size=1, max_size=120))
def test_any_markdown_is_carved_whole(read, check, text):
    for found in read("2025-01-02.md", text):
        if not isinstance(found, DocumentError):
            check(found)


@pytest.mark.parametrize(
    "front",
    [
        "title: 电池周报\ncreated: 2025-04-28 10:20\nupdated: 2025-09-01 08:00",
        "title: 电池周报\ndate: 2025-04-28\ncreated: 2025-09-01",
        "title: 电池周报\npublish_date: 2025-04-28\nlastmod: 2025-09-01",
        "title: 电池周报\npublish-date: 20250428",
        "title: 电池周报\nPublishDate: 2025/04/28",
        "title: 电池周报\npublication date: 2025年4月28日",
        "title: 电池周报\ndate published: 2025-04-28T09:00:00+08:00",
        "title: 电池周报\npublish_time: 2025-04-28 09:00",
        "title: 电池周报\npubDate: Mon, 28 Apr 2025 09:00:00 +0800",
        "标题: 电池周报\n发布时间: 2025-04-28 09:00",
        "标题：电池周报\n发布日期：2025-04-28",
        "title：电池周报\ndate：2025-04-28",
        "title:电池周报\ndate:2025-04-28",
        "title : 电池周报\ndate : 2025-04-28",
        "title: 电池周报\ndate: '2025-04-28'",
        "title: 电池周报\ndate: 2025-04-28\ndate: 2025-04-28",
    ],
)
@pytest.mark.parametrize("above", ["", "\n\n", "\ufeff", "  \n"])
def test_spellings_of_front_matter(read_one, front, above):
    document = read_one("x.md", f"{above}---\n{front}\n---\n宁德时代2024年实现营业收入3620亿元。")
    assert (document.title, document.published_on) == ("电池周报", date(2025, 4, 28))
    assert document.text == "宁德时代2024年实现营业收入3620亿元。"


@pytest.mark.parametrize(
    ("front", "named"),
    [
        ("date: 2025-04-28\ndate: 2024-01-01", "date: 2025-04-28, 2024-01-01"),
        ("date: 2031-01-01", "date: 2031-01-01"),
        ("date: 2025-02-30", "date: 2025-02-30"),
        ("date: 待定", "date: 待定"),
        ("date: 1890-01-01", "date: 1890-01-01"),
        ("published_on: soon\ncreated: 2025-04-28", "published_on: soon"),
        ("发布日期：二月", "发布日期: 二月"),
        ("date: 2025-04-01/2025-04-28", "date: 2025-04-01/2025-04-28"),
        ("date: 0", "date: 0"),
        ("date: false", "date: False"),
    ],
)
def test_nothing_is_guessed_over_a_declared_date(read, front, named):
    (found,) = read("20250301.md", f"---\ntitle: 甲\n{front}\n---\n2025年4月1日\n\n正文一句。")
    assert isinstance(found, DocumentError)
    assert named in found.cause
    (stated,) = read("20250301.md", f"---\ntitle: 甲\n{front}\n---\n正文一句。", published_on=date(2025, 4, 2))
    assert stated.published_on == date(2025, 4, 2)


def test_a_rule_at_the_top_is_no_front_matter(read_one):
    document = read_one("x_20250428.md", "---\n\n宁德时代扩产\n\n---\n\n比亚迪减产。")
    assert document.text == "宁德时代扩产\n比亚迪减产。"
