from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.documents.cleaning import (
    CandidateLine,
    PlacedLine,
    Reason,
    clean,
    line_reason,
    running_lines,
    section_reason,
)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("一、产业链概况.......................... 12", Reason.CONTENTS),
        ("二、价格 . . . . . . . . . . . . 3", Reason.CONTENTS),
        ("- 12 -", Reason.PAGE_NUMBER),
        ("5/37", Reason.PAGE_NUMBER),
        ("第 3 页 共 20 页", Reason.PAGE_NUMBER),
        ("资料来源：前瞻经济学人", Reason.SOURCE_LINE),
        ("数据来源：Wind，示例证券", Reason.SOURCE_LINE),
        ("图表 12：碳酸锂价格走势（元/吨）", Reason.FIGURE_LABEL),
        ("执业证书编号：S0740520080003", Reason.CONTACT),
        ("邮箱：zhanghan@example.com", Reason.CONTACT),
        ("010-85130608", Reason.CONTACT),
        ("分析师：张三", Reason.CONTACT),
        ("请务必阅读正文之后的免责条款部分", Reason.DISCLAIMER),
        ("以上分析仅供参考，不构成任何投资建议。", Reason.DISCLAIMER),
        ("————", Reason.SYMBOLS),
    ],
)
def test_a_line_that_is_not_the_report(line, reason):
    assert line_reason(line) is reason


@pytest.mark.parametrize(
    "line",
    [
        "风险提示：需求不及预期，原材料价格波动。",
        "图1显示，碳酸锂价格自2022年11月起持续下跌。",
        "图 7：8 月服装与鞋类零售销售额 21400 亿日元，同比 + 2.6%。",
        "数据来源：遥控操作 + 传感手套采集人类动作数据，结合道路存量数据与仿真数据",
        "该合同为日常经营性合同，不构成关联交易。",
        "公司地址电力设备业务增长较快，联系人制度取消。",
        "2023年营业收入 12/31 截止",
        "评级：增持（维持）",
        "表决权股份占 12.5%，实控人未变。",
    ],
)
def test_content_is_kept(line):
    assert line_reason(line) is None


@pytest.mark.parametrize(
    ("heading", "reason"),
    [
        ("免责声明：", Reason.DISCLAIMER),
        ("法律声明及风险提示", Reason.DISCLAIMER),
        ("重要声明", Reason.DISCLAIMER),
        ("一般性声明", Reason.DISCLAIMER),
        ("分析师声明", Reason.CERTIFICATE),
        ("股票投资评级说明", Reason.RATING),
        ("正文目录", Reason.CONTENTS),
        ("风险提示", None),
        ("投资评级: 增持(首次)", None),
        ("声明中提及的品牌药品", None),
    ],
)
def test_which_headings_open_end_matter(heading, reason):
    assert section_reason(heading) is reason


def test_with_known_headings_a_section_ends_at_the_next_of_its_rank():
    lines = [
        CandidateLine("免责声明", 2),
        CandidateLine("本报告仅供客户。"),
        CandidateLine("小标题", 3),
        CandidateLine("文字"),
        CandidateLine("二、公司", 2),
        CandidateLine("内容"),
    ]
    assert [bool(reason) for reason in clean(lines, headings_known=True)] == [True, True, True, True, False, False]


def test_in_the_last_part_of_a_pdf_end_matter_runs_to_the_end():
    lines = [CandidateLine("内容") for _ in range(8)] + [
        CandidateLine("免责声明"),
        CandidateLine("文字"),
        CandidateLine("法律主体", 1),
        CandidateLine("文字"),
    ]
    assert clean(lines)[8:] == [Reason.DISCLAIMER] * 4


def test_a_contents_page_ends_where_its_entries_do():
    lines = [
        CandidateLine("目录"),
        CandidateLine("一、概况 3"),
        CandidateLine("二、公司…… 5"),
        CandidateLine("本周价格继续下跌。"),
    ]
    assert clean(lines) == [Reason.CONTENTS, Reason.CONTENTS, Reason.CONTENTS, None]


def test_running_lines_repeat_at_one_height_with_their_digits_masked():
    pages = [
        [
            PlacedLine("示例证券 深度", 0.05),
            PlacedLine(f"正文 {n}", 0.5),
            PlacedLine(f"第 {n} 页", 0.95),
            PlacedLine(str(n), 0.96),
        ]
        for n in range(4)
    ]
    for page in running_lines(pages):
        assert page == {0: Reason.RUNNING_HEADER, 2: Reason.PAGE_NUMBER, 3: Reason.PAGE_NUMBER}


def test_a_line_that_stands_once_at_the_top_is_kept():
    assert running_lines([[PlacedLine("标题", 0.05)], [PlacedLine("正文", 0.05)], [PlacedLine("其他", 0.05)]]) == [
        {},
        {},
        {},
    ]


def test_a_number_in_the_text_area_is_no_page_number():
    assert running_lines([[PlacedLine("2020", 0.11)]] * 3)[0] != {0: Reason.PAGE_NUMBER}


@given(st.lists(st.builds(CandidateLine, st.text(max_size=60), st.integers(0, 3)), max_size=30), st.booleans())
def test_every_line_gets_a_judgement(lines, known):
    assert len(clean(lines, headings_known=known)) == len(lines)


def test_a_report_without_line_ends_is_not_one_notice():
    assert line_reason("请务必阅读正文之后的免责声明" + "碳酸锂价格下跌，毛利率回升。" * 100) is None
