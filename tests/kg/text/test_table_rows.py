from __future__ import annotations

from kg.text.table_rows import headed_rows


def test_cells_stand_with_the_heads_of_their_columns():
    text = "表1：出口\n地区 | 2024 | 2025E\n越南 | 27% | \n中国 | -1.2% | 3%"
    title, rows = headed_rows(text)
    assert title == "表1：出口"
    assert [said for _, _, said in rows] == ["地区：越南；2024：27%", "地区：中国；2024：-1.2%；2025E：3%"]
    assert [text[start:end].split(" | ", maxsplit=1)[0] for start, end, _ in rows] == ["越南", "中国"]


def test_a_first_row_of_figures_is_no_head():
    text = "营收 | 12.5 | 13.1\n利润 | 1.2 | 1.4"
    assert headed_rows(text) == ("", [(0, 16, "营收 | 12.5 | 13.1"), (17, 31, "利润 | 1.2 | 1.4")])


def test_a_row_longer_than_its_head_and_a_text_without_rows():
    assert headed_rows("甲 | 乙\n1 | 2 | 3")[1][0][2] == "甲：1；乙：2；3"
    assert headed_rows("没有表格") == ("没有表格", [])
    assert headed_rows("") == ("", [])
