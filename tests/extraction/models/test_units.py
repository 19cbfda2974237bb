from __future__ import annotations

from extraction.models.units import TITLE, lines_of, units_of
from tests.goldens.reports import report


def units(*lines: str, title: str = "2025.6.20光伏行业观察") -> list[str]:
    document = report(*lines, title=title)
    return [unit.text for unit in units_of(document.title, lines_of(document))]


def test_a_sentence_stands_below_its_title_and_headings():
    assert (
        units("# 一、需求", "## （二）出口：回暖", "组件出口增长。")[-1]
        == "光伏行业观察▸需求▸出口：回暖▸组件出口增长。"
    )


def test_an_item_stands_below_the_line_that_introduces_it():
    assert units("建议关注：", "- 隔膜：恩捷股份、星源材质。")[-1] == "光伏行业观察▸建议关注▸隔膜：恩捷股份、星源材质。"


def test_a_long_block_repeats_its_label_and_the_clause_before():
    sentence = "碳酸锂价格下跌，电池企业成本因此下降，毛利率回升，行业盈利能力有所改善。"
    found = units("- 电池：" + sentence * 5, title="周报")
    assert len(found) > 1
    assert found[1].startswith("周报▸电池▸行业盈利能力有所改善。▸")


def test_a_row_of_words_stands_below_the_head_of_its_table():
    found = units("| 环节 | 公司", title="周报")
    assert found == []  # a head alone says nothing


def test_a_span_is_found_in_its_line_and_not_across_two():
    document = report("# 隔膜", "恩捷股份扩产。星源材质扩产。", title="周报")
    lines = lines_of(document)
    unit = units_of(document.title, lines)[-1]
    for name in ("隔膜", "恩捷股份", "星源材质"):
        start = unit.text.index(name)
        line, low, high = unit.locate(start, start + len(name)) or (None, 0, 0)
        assert line is not None
        assert lines[line].sentence.text[low:high] == name
    assert unit.locate(0, 2) == (TITLE, 0, 2)
    assert unit.locate(0, len(unit.text)) is None


def test_no_text_of_a_document_is_left_unread():
    text = "甲公司供应铜箔，" * 300 + "乙公司采购铜箔。"
    document = report(text, title="周报")
    lines = lines_of(document)
    own = "".join(unit.text[unit.body :] for unit in units_of(document.title, lines))
    assert own == "".join(line.sentence.text for line in lines)
