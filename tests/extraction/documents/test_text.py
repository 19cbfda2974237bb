from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extraction.documents.text import heading_level, is_item
from kg.errors import DocumentError
from kg.model import BlockKind


def _blocks(document) -> list[tuple[object, ...]]:
    return [(b.kind, document.text[b.start : b.end]) for b in document.blocks]


def test_the_stored_text_is_the_input(read_one):
    text = "新能源车行业快评\r\n发布日期：2022-04-12\r\n\r\n　　疫情影响供应链。\r\n"
    document = read_one("x.txt", text)
    assert document.text == text.replace("\r\n", "\n")
    assert document.title == "新能源车行业快评"
    assert document.published_on == date(2022, 4, 12)


def test_headings_items_tables_and_removed_lines(read_one):
    text = "标题\n2025-01-02\n\n一、价格\n碳酸锂价格下跌。\n- 供给过剩\n公司 | 产能\n天齐 | 8\n资料来源：Wind\n"
    document = read_one("x.txt", text)
    assert _blocks(document)[2:] == [
        (BlockKind.HEADING, "一、价格"),
        (BlockKind.PARAGRAPH, "碳酸锂价格下跌。"),
        (BlockKind.ITEM, "- 供给过剩"),
        (BlockKind.TABLE, "公司 | 产能\n天齐 | 8"),
    ]
    assert [item.reason for item in document.removed] == ["source-line"]


def test_the_contents_of_a_flattened_report_are_apart(read_one):
    contents = "1、电池：收入+19.6%..........41.2、电机：收入+17.1%............12图1：电池收入........13"
    line = f"行业深度报告。{contents}电池收入增长。"
    document = read_one("x.txt", f"标题\n2025-01-02\n\n{line}\n")
    assert [text for _, text in _blocks(document)][2:] == ["行业深度报告。", "电池收入增长。"]
    assert [item.reason for item in document.removed] == ["contents"]


def test_lines_wrapped_to_a_width_are_one_paragraph(read_one):
    wrapped = "碳酸锂价格自高点回落以来，正极材料企业的毛利率先降后升\n，而上游锂矿企业的利润大幅下滑。"
    assert wrapped in [text for _, text in _blocks(read_one("2025-01-02.txt", f"点评\n\n{wrapped}\n\n下一段。"))]


def test_lines_of_their_own_stay_apart(read_one):
    document = read_one("2025-01-02.txt", "点评\n价格下跌。\n利润回升。")
    assert [text for _, text in _blocks(document)] == ["点评", "价格下跌。", "利润回升。"]


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("一、行业", 1),
        ("第三章 供给", 1),
        ("（二）需求", 2),
        ("2.1 锂电池", 2),
        ("3.2.1 国内", 3),
        ("2023年净利润增长", 0),
    ],
)
def test_heading_levels(line, level):
    assert heading_level(line) == level


def test_a_negative_number_is_no_item():
    assert is_item("- 供给")
    assert not is_item("-5%")


@pytest.mark.parametrize(
    ("head", "day"),
    [
        ("发布日期： 2023 年 02 月 13 日", date(2023, 2, 13)),
        ("报告日期：2023.2.3", date(2023, 2, 3)),
        ("证券研究报告/量化投资策略报告 2022 年 1 月 5 日", date(2022, 1, 5)),
        ("Published: March 5, 2024", date(2024, 3, 5)),
        ("行业动态报告●医药2021年03月05日[table_main]公司深度报告", date(2021, 3, 5)),
    ],
)
def test_dates_of_a_first_page(read_one, head, day):
    assert read_one("x.txt", f"标题\n{head}\n正文内容。").published_on == day


@pytest.mark.parametrize(
    "line", ["截至2021年11月30日，价格下跌。", "数据截止2021-11-30", "2021年11月30日-2021年12月3日"]
)
def test_a_date_in_a_sentence_is_no_publication_day(read, line):
    (found,) = read("x.txt", f"标题\n{'正文' * 200}\n{line}")
    assert isinstance(found, DocumentError)


@pytest.mark.parametrize("name", ["2025-09-21_x.txt", "x-20250921.txt", "示例证券-x-250921.txt"])
def test_the_file_name_is_the_last_to_be_asked(read_one, name):
    assert read_one(name, "标题\n正文内容。").published_on == date(2025, 9, 21)
    assert read_one(name, "标题\n发布日期：2025-09-20\n正文。").published_on == date(2025, 9, 20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("价格下跌，。\n 　|-一、1.#（）a\t\r\u2028…"), min_size=1, max_size=150))
def test_any_text_is_carved_whole(read, check, text):
    for found in read("2025-01-02.txt", text):
        if not isinstance(found, DocumentError):
            check(found)
